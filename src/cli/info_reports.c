/* The runtime's reports, the inspector's files and compiled kernels for `tidemark info`. */
#include "base/err.h"
#include "cli/info_view.h"
#include "device/card.h"
#include "report/report_files.h"
#include "sources/kernel_cache.h"

#include <limits.h>

int tdm_info_perf(const struct tdm_info_request *request)
{
	struct tdm_findings found = { 0 };
	struct tdm_perf_waits waits;
	struct tdm_info_reading r = { .request = request, .take = tdm_perf_waits_take, .to = &waits };
	if (tdm_perf_waits_init(&waits) != 0)
		return tdm_info_refuse(request, "out of memory");
	tdm_info_read(&r);
	tdm_perf_waits_end(&waits);
	if (request->json != NULL)
		tdm_perf_json(&waits, &r.file, request->json);
	else
		tdm_perf_text(&waits, &r.file, request->out);
	if (request->digest != NULL) {
		tdm_perf_waits_find(&waits, &found);
		tdm_info_found(request, &found);
	}
	tdm_perf_waits_done(&waits);
	return tdm_info_end(&r);
}

int tdm_info_cores(const struct tdm_info_request *request)
{
	struct tdm_core_dumps dumps;
	struct tdm_info_reading r = { .request = request, .take = tdm_core_dumps_take, .to = &dumps };
	if (tdm_core_dumps_init(&dumps) != 0)
		return tdm_info_refuse(request, "out of memory");
	tdm_info_read(&r);
	tdm_core_dumps_end(&dumps);
	if (request->json != NULL)
		tdm_cores_json(&dumps, &r.file, request->json);
	else
		tdm_cores_text(&dumps, &r.file, request->out);
	tdm_core_dumps_done(&dumps);
	return tdm_info_end(&r);
}

int tdm_info_mesh_buffers(const struct tdm_info_request *request)
{
	struct tdm_findings found = { 0 };
	struct tdm_buffer_history history;
	struct tdm_info_reading r = { .request = request, .take = tdm_buffer_history_take, .to = &history };
	if (tdm_buffer_history_init(&history) != 0)
		return tdm_info_refuse(request, "out of memory");
	tdm_info_read(&r);
	tdm_buffer_history_end(&history);
	if (request->json != NULL)
		tdm_mesh_json(&history, &r.file, request->json);
	else
		tdm_mesh_text(&history, &r.file, request->out);
	if (request->digest != NULL) {
		tdm_buffer_history_find(&history, &found);
		tdm_info_found(request, &found);
	}
	tdm_buffer_history_done(&history);
	return tdm_info_end(&r);
}

/* The default kernel-config ring of Wormhole and Blackhole cards, since no file names its card; TDM_BYTES_UNKNOWN when
 * their tables differ. */
static uint64_t ring_bytes(void)
{
	struct tdm_card wormhole, blackhole;
	if (tdm_card_init(&wormhole, tdm_str_of("n150"), NULL, NULL) != 0 ||
		tdm_card_init(&blackhole, tdm_str_of("p150"), NULL, NULL) != 0)
		return TDM_BYTES_UNKNOWN;
	uint64_t bytes = tdm_card_get(&wormhole, TDM_CARD_KERNEL_CONFIG);
	return bytes == tdm_card_get(&blackhole, TDM_CARD_KERNEL_CONFIG) ? bytes : TDM_BYTES_UNKNOWN;
}

int tdm_info_programs(const struct tdm_info_request *request)
{
	struct tdm_kernel_programs programs;
	struct tdm_info_reading r = { .request = request, .take = tdm_kernel_programs_take, .to = &programs };
	if (tdm_kernel_programs_init(&programs) != 0)
		return tdm_info_refuse(request, "out of memory");
	/* The paths are valid if this machine compiled the kernels: they lead into its cache. */
	programs.code_of = tdm_kernel_cache_bytes_of;
	tdm_info_read(&r);
	int err = tdm_kernel_programs_end(&programs, ring_bytes());
	if (request->json != NULL)
		tdm_programs_json(&programs, &r.file, request->json);
	else
		tdm_programs_text(&programs, &r.file, request->out);
	request->out->failed |= err != 0;
	tdm_kernel_programs_done(&programs);
	return tdm_info_end(&r);
}

int tdm_info_kernels(const struct tdm_info_request *request)
{
	struct tdm_findings found = { 0 };
	struct tdm_kernel_sizes sizes = { 0 };
	struct tdm_info_reading r = { .request = request, .take = tdm_kernel_sizes_take, .to = &sizes };
	tdm_info_read(&r);
	int err = tdm_kernel_sizes_end(&sizes, ring_bytes());
	if (r.err == 0 && sizes.count == 0 && r.refused == 0)
		r.err = tdm_diag_set(
			&r.diag, TDM_ENOTFOUND, 0, 0, "no file in this folder is of a kind that is known here");
	if (request->json != NULL)
		tdm_kernels_json(&sizes, request->json);
	else if (sizes.count != 0)
		tdm_kernels_text(&sizes, &r.file, request->out);
	if (sizes.count == 0)
		tdm_info_nothing(request);
	if (request->digest != NULL) {
		tdm_kernel_sizes_find(&sizes, &found);
		tdm_info_found(request, &found);
	}
	request->out->failed |= err != 0;
	tdm_kernel_sizes_done(&sizes);
	return tdm_info_end(&r);
}

/* The path of another file of the same run; empty if the name does not tell. */
static void path_beside(const char *path, const char *ending, const char *wanted, char dst[PATH_MAX])
{
	size_t len = strlen(path), cut = strlen(ending);
	dst[0] = '\0';
	if (len < cut || strcmp(path + len - cut, ending) != 0 || len - cut + strlen(wanted) >= PATH_MAX)
		return;
	memcpy(dst, path, len - cut);
	strcpy(dst + len - cut, wanted);
}

/*
 * A summary does not say how many banks there are, but the blocks or the L1 summary of the same run do. Errors in that
 * file are not reported, because the user did not ask for it. Returns whether there is one.
 */
static bool read_beside(const struct tdm_info_request *request, struct tdm_memory_states *beside, char path[PATH_MAX])
{
	static const char *const others[] = { "detailed_memory_usage.csv", "l1_usage_summary.csv" };
	const struct tdm_record_sink sink = { beside, tdm_memory_states_take };
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct tdm_input *input;
		struct tdm_diag diag = { 0 };
		path_beside(tdm_input_name(request->input), "memory_usage_summary.csv", others[i], path);
		if (path[0] == '\0' || tdm_input_open(path, &input) != 0)
			continue;
		bool is_good = tdm_format_of(input) == request->format &&
			       request->format->records(input, &sink, &diag) == 0 &&
			       tdm_memory_states_end(beside, NULL) == 0 && beside->state_count != 0;
		tdm_input_close(input);
		if (is_good)
			return true;
		tdm_memory_states_done(beside);
	}
	return false;
}

int tdm_info_memory(const struct tdm_info_request *request)
{
	struct tdm_memory_states states = { 0 }, beside = { 0 };
	struct tdm_info_reading r = { .request = request, .take = tdm_memory_states_take, .to = &states };
	char path[PATH_MAX];
	tdm_info_read(&r);
	tdm_memory_states_end(&states, &(struct tdm_record_sink){ &r, tdm_info_take });
	if (states.head.form == TDM_MEMORY_SUMMARY && read_beside(request, &beside, path) &&
		tdm_memory_states_take_banks(&states, &beside))
		states.banks_from = path;
	if (request->json != NULL)
		tdm_memory_json(&states, &r.file, request->json);
	else
		tdm_memory_text(&states, &r.file, request->out);
	tdm_memory_states_done(&beside);
	tdm_memory_states_done(&states);
	return tdm_info_end(&r);
}
