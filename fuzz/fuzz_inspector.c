/*
 * Fuzz the readers of the inspector's files, each input as both of them. Exercises: sources/inspector_log.c,
 * sources/kernel_list.c, analyze/buffer_history.c, report/report_inspector.c.
 *
 * Properties: a refusal has a text and a line; every event is valid; the history agrees with its live buffers; kernels
 * belong to programs; the reports can be written.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "fuzz_check.h"
#include "base/err.h"
#include "report/report_inspector.h"
#include "sources/inspector_log.h"

static void warn(void *context, const struct tdm_diag *diag)
{
	uint64_t *count = context;
	check(diag->text[0] != '\0' && diag->line != 0);
	++*count;
}

static void as_mesh_buffers(struct tdm_str text, const struct tdm_file_report *file)
{
	struct tdm_source *source = tdm_mesh_buffers_memory(text.ptr, text.len);
	struct tdm_buffer_history history;
	struct tdm_event event;
	struct tdm_diag diag = { 0 };
	struct tdm_buf out;
	struct tdm_json json;
	uint64_t refused = 0;
	int got;
	check(source != NULL && tdm_buffer_history_init(&history) == 0);
	while ((got = tdm_source_next(source, &event, &diag)) != 0) {
		if (got < 0) {
			check(got == TDM_ESYNTAX);
			warn(&refused, &diag);
			continue;
		}
		check(tdm_event_is_valid(&event));
		check(tdm_buffer_history_apply(&history, &event, tdm_mesh_buffers_mesh_bytes(source)) == 0);
	}
	check(refused == source->refused);
	tdm_buffer_history_sort(&history);
	check(tdm_buffer_history_is_valid(&history));
	struct tdm_mesh_view view = { .file = *file, .history = &history, .refused = refused };
	tdm_buf_init(&out);
	tdm_mesh_view_text(&view, &out);
	tdm_json_init(&json, &out);
	tdm_json_object(&json);
	tdm_mesh_view_json(&view, &json);
	tdm_json_object_end(&json);
	check(!tdm_buf_failed(&out));
	tdm_buf_done(&out);
	tdm_source_close(source);
	tdm_buffer_history_done(&history);
}

static void as_kernels(struct tdm_str text, const struct tdm_file_report *file)
{
	struct tdm_kernel_list list;
	struct tdm_diag diag = { 0 };
	struct tdm_buf out;
	struct tdm_json json;
	uint64_t warned = 0, kernels = 0;
	check(tdm_kernel_list_parse(&list, text, warn, &warned, &diag) == 0);
	check(warned == list.refused);
	for (size_t i = 0; i < list.program_count; i++)
		kernels += list.programs[i].kernels;
	check(kernels == list.kernel_count);
	uint64_t *code = calloc(list.kernel_count + 1, sizeof *code);
	check(code != NULL);
	for (size_t i = 0; i < list.kernel_count; i++) {
		check(list.kernels[i].program < list.program_count);
		code[i] = i % 3 == 0 ? TDM_BYTES_UNKNOWN : i;
	}
	struct tdm_programs_view view = { .file = *file, .list = &list, .code_bytes = code, .ring_bytes = 70656 };
	tdm_buf_init(&out);
	tdm_programs_view_text(&view, &out);
	tdm_json_init(&json, &out);
	tdm_json_object(&json);
	tdm_programs_view_json(&view, &json);
	tdm_json_object_end(&json);
	check(!tdm_buf_failed(&out));
	tdm_buf_done(&out);
	free(code);
	tdm_kernel_list_done(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_file_report file = { "fuzz", false, 5, { false, true, 80 } };
	struct tdm_str text = { (const char *)data, size };
	tdm_inspector_detect(text.ptr, text.len);
	as_mesh_buffers(text, &file);
	as_kernels(text, &file);
	return 0;
}
