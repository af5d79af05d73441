#include "state/fleet.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/number.h"
#include "base/reserve.h"
#include "state/pick.h"
#include "state/remote_picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A picture with all its buffers may be large, one without cannot. */
enum { WAIT_MS = 150, FRESH_MS = 5000, APART_MS = 60000, BYTES_MAX = 32 << 20, BUFFERS_BYTES_MAX = 256 << 20 };

/* Machines may have run for longer than this one, so the clock of the joined picture is ahead of ours: what happened on
 * them before this one started must not be before the beginning of time. */
#define AHEAD_NS (UINT64_C(1) << 60)

struct member {
	struct tdm_remote_picture remote; /* the last one that could be read */
	uint64_t answers;                 /* of the host, when the last answer was read */
	uint64_t read_ns;                 /* when the picture came, by our clock; 0: there is none */
	uint64_t time_ns;                 /* when it was taken, by its own clock */
	int64_t shift_ns, real_shift_ns;  /* from its clocks to those of the joined picture */
	char reason[TDM_DIAG_TEXT_CAP];   /* why its last answer cannot be read */
};

struct tdm_fleet {
	struct tdm_fleet_options options;
	struct tdm_remote *remote;
	size_t count;
	struct member *members;
	struct tdm_picture_host *hosts;
	struct tdm_intern texts;
	bool has_looked;
	uint64_t since_ns, version;
	struct tdm_picture picture;
	size_t device_cap, process_cap, holding_cap, problem_cap;
	uint32_t *device_of; /* devices of the current member to those of the picture */
	size_t device_of_cap;
};

int tdm_fleet_new(const struct tdm_fleet_options *options, struct tdm_fleet **out, struct tdm_diag *diag)
{
	struct tdm_fleet *fleet = calloc(1, sizeof *fleet);
	*out = NULL;
	if (fleet == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	fleet->options = *options;
	int err = tdm_remote_new(&options->remote, &fleet->remote, diag);
	if (err == 0) {
		fleet->count = tdm_remote_count(fleet->remote);
		fleet->members = calloc(fleet->count, sizeof *fleet->members);
		fleet->hosts = calloc(fleet->count, sizeof *fleet->hosts);
		if (fleet->members == NULL || fleet->hosts == NULL || tdm_intern_init(&fleet->texts) != 0)
			err = tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	}
	if (err != 0) {
		tdm_fleet_free(fleet);
		return err;
	}
	*out = fleet;
	return 0;
}

void tdm_fleet_free(struct tdm_fleet *fleet)
{
	if (fleet == NULL)
		return;
	for (size_t i = 0; i < fleet->count && fleet->members != NULL; i++)
		tdm_remote_picture_done(&fleet->members[i].remote);
	tdm_remote_free(fleet->remote);
	tdm_picture_done(&fleet->picture);
	tdm_intern_done(&fleet->texts);
	free(fleet->members);
	free(fleet->hosts);
	free(fleet->device_of);
	free(fleet);
}

/* ---- answers ---- */

static uint64_t shifted(uint64_t ns, int64_t shift_ns)
{
	return ns != 0 ? ns + (uint64_t)shift_ns : 0;
}

static void shift_told(struct tdm_holding *holding, int64_t shift_ns)
{
	struct tdm_trace *traces = (struct tdm_trace *)(uintptr_t)holding->traces;
	struct tdm_picture_hazard *hazards = (struct tdm_picture_hazard *)(uintptr_t)holding->hazards;
	struct tdm_picture_clash *clashes = (struct tdm_picture_clash *)(uintptr_t)holding->clashes;
	for (size_t i = 0; i < holding->trace_count; i++) {
		traces[i].began_ns = shifted(traces[i].began_ns, shift_ns);
		traces[i].ended_ns = shifted(traces[i].ended_ns, shift_ns);
		traces[i].replayed_ns = shifted(traces[i].replayed_ns, shift_ns);
		traces[i].released_ns = shifted(traces[i].released_ns, shift_ns);
	}
	for (size_t i = 0; i < holding->hazard_count; i++) {
		hazards[i].time_ns = shifted(hazards[i].time_ns, shift_ns);
		hazards[i].replayed_ns = shifted(hazards[i].replayed_ns, shift_ns);
	}
	for (size_t i = 0; i < holding->clash_count; i++)
		clashes[i].time_ns = shifted(clashes[i].time_ns, shift_ns);
}

static void shift_holding(struct tdm_holding *holding, int64_t shift_ns)
{
	shift_told(holding, shift_ns);
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		struct tdm_buffer *list;
		memcpy(&list, &holding->buffers[k].list, sizeof list);
		holding->kinds[k].peak_ns = shifted(holding->kinds[k].peak_ns, shift_ns);
		holding->statistics[k].time_ns = shifted(holding->statistics[k].time_ns, shift_ns);
		for (size_t i = 0; i < holding->buffers[k].count; i++)
			list[i].born_ns = shifted(list[i].born_ns, shift_ns);
	}
}

/* Moves the times of a picture to the clocks of the joined one. */
static void shift_picture(struct tdm_picture *picture, int64_t shift_ns, int64_t real_shift_ns)
{
	picture->time_ns = shifted(picture->time_ns, shift_ns);
	for (size_t i = 0; i < picture->device_count; i++) {
		struct tdm_picture_device *device = &picture->devices[i];
		device->space_ns = shifted(device->space_ns, shift_ns);
		device->updated_ns = shifted(device->updated_ns, real_shift_ns);
	}
	for (size_t i = 0; i < picture->process_count; i++) {
		struct tdm_picture_process *process = &picture->processes[i];
		struct tdm_process *who;
		memcpy(&who, &process->who, sizeof who);
		process->started_ns = shifted(process->started_ns, real_shift_ns);
		process->as_of_ns = shifted(process->as_of_ns, shift_ns);
		if (who == NULL)
			continue;
		who->started_ns = shifted(who->started_ns, shift_ns);
		who->as_of_ns = shifted(who->as_of_ns, shift_ns);
	}
	for (size_t i = 0; i < picture->holding_count; i++)
		shift_holding(&picture->holdings[i], shift_ns);
}

/* Whether the machine has started anew, or its clock is so far ahead that it would make all others look old. */
static bool clock_has_moved(const struct member *member, uint64_t time_ns, uint64_t answered_ns)
{
	uint64_t ours_ns = answered_ns + AHEAD_NS, its_ns = shifted(time_ns, member->shift_ns);
	return member->time_ns == 0 || time_ns < member->time_ns ||
	       (its_ns > ours_ns && its_ns - ours_ns > APART_MS * TDM_NS_PER_MS);
}

/* The distance of the clocks is kept: answers take now more time, now less. */
static void take_clocks(struct member *member, struct tdm_picture *picture, uint64_t answered_ns)
{
	if (clock_has_moved(member, picture->time_ns, answered_ns)) {
		member->shift_ns = (int64_t)(answered_ns + AHEAD_NS - picture->time_ns);
		member->real_shift_ns = picture->real_ns != 0 ? (int64_t)(tdm_clock_real_ns() - picture->real_ns) : 0;
	}
	member->time_ns = picture->time_ns;
	shift_picture(picture, member->shift_ns, member->real_shift_ns);
}

/* Reads a new answer. The last picture stays if it cannot be read. */
static int read_answer(struct tdm_fleet *fleet, struct member *member, const struct tdm_remote_host *host)
{
	struct tdm_remote_picture remote;
	struct tdm_diag diag = { 0 };
	if (host->answers == member->answers)
		return 0;
	member->answers = host->answers;
	int err = tdm_remote_picture_read(tdm_buf_str(&host->answer), &fleet->texts, &remote, &diag);
	if (err == -ENOMEM)
		return err;
	snprintf(member->reason, sizeof member->reason, "%s", diag.text);
	if (err != 0)
		return 0;
	take_clocks(member, &remote.picture, host->answered_ns);
	tdm_remote_picture_done(&member->remote);
	member->remote = remote;
	member->read_ns = host->answered_ns;
	fleet->version++;
	return 0;
}

/* ---- joining ---- */

/* Unique for a host and something of it; never 0. */
static uint64_t own_key(size_t host, uint64_t key)
{
	uint64_t mixed = tdm_hash_u64(key ^ tdm_hash_u64(host + 1));
	return mixed != 0 ? mixed : 1;
}

static bool is_listed(const struct tdm_fleet *fleet, const struct tdm_picture_process *process)
{
	const struct tdm_fleet_options *options = &fleet->options;
	bool is_wanted =
		process->life != TDM_LIFE_ENDED || options->with_ended || (options->with_crashed && process->crashed);
	const struct tdm_pick pick = { .pids = options->pids, .pid_count = options->pid_count };
	return is_wanted && (process->who != NULL || !options->only_tracked) && tdm_pick_names(&pick, process);
}

/* Makes room for everything that the members have. */
static int reserve_all(struct tdm_fleet *fleet)
{
	struct tdm_picture *picture = &fleet->picture;
	size_t devices = 0, processes = 0, holdings = 0, problems = 2 * fleet->count;
	for (size_t i = 0; i < fleet->count; i++) {
		const struct tdm_picture *of = &fleet->members[i].remote.picture;
		devices += of->device_count;
		processes += of->process_count;
		holdings += of->holding_count;
		problems += of->problem_count;
	}
	if (tdm_reserve(&picture->devices, &fleet->device_cap, devices, sizeof *picture->devices) != 0 ||
		tdm_reserve(&picture->processes, &fleet->process_cap, processes, sizeof *picture->processes) != 0 ||
		tdm_reserve(&picture->holdings, &fleet->holding_cap, holdings, sizeof *picture->holdings) != 0 ||
		tdm_reserve(&picture->problems, &fleet->problem_cap, problems, sizeof *picture->problems) != 0 ||
		tdm_reserve(&fleet->device_of, &fleet->device_of_cap, devices, sizeof *fleet->device_of) != 0)
		return -ENOMEM;
	picture->device_count = picture->process_count = picture->holding_count = picture->problem_count = 0;
	picture->board_count = 0;
	return 0;
}

/* Boards come after all devices, so there are two passes. `first` is the number of the member's first device. */
static void join_devices(struct tdm_fleet *fleet, size_t host, bool boards, size_t first)
{
	struct tdm_picture *picture = &fleet->picture;
	const struct tdm_picture *of = &fleet->members[host].remote.picture;
	for (size_t i = 0; i < of->device_count; i++) {
		if (of->devices[i].is_board != boards)
			continue;
		struct tdm_picture_device *device = &picture->devices[picture->device_count];
		*device = of->devices[i];
		device->key = own_key(host, device->key);
		device->place = (uint32_t)(first + i); /* each place once, however many boards there are */
		device->host = &fleet->hosts[host];
		fleet->device_of[first + i] = (uint32_t)picture->device_count++;
		picture->board_count += boards;
	}
}

static void join_holding(
	struct tdm_fleet *fleet, const struct tdm_holding *holding, bool is_shown, bool counts, size_t first)
{
	struct tdm_picture *picture = &fleet->picture;
	uint32_t device = fleet->device_of[first + holding->device];
	if (is_shown) {
		struct tdm_holding *joined = &picture->holdings[picture->holding_count++];
		*joined = *holding;
		joined->device = device;
		joined->process = (uint32_t)picture->process_count - 1;
		return;
	}
	for (size_t k = 0; k < TDM_KIND_COUNT && counts; k++) {
		struct tdm_picture_kind *kind = &picture->devices[device].kinds[k];
		if (kind->used != TDM_BYTES_UNKNOWN && holding->kinds[k].used != TDM_BYTES_UNKNOWN)
			kind->unattributed += holding->kinds[k].used;
	}
}

static void join_processes(struct tdm_fleet *fleet, size_t host, size_t first)
{
	struct tdm_picture *picture = &fleet->picture;
	const struct tdm_picture *of = &fleet->members[host].remote.picture;
	for (size_t i = 0; i < of->process_count; i++) {
		const struct tdm_picture_process *process = &of->processes[i];
		bool is_shown = is_listed(fleet, process);
		if (is_shown) {
			struct tdm_picture_process *joined = &picture->processes[picture->process_count++];
			*joined = *process;
			joined->handle = own_key(host, process->handle);
			joined->host = &fleet->hosts[host];
			joined->first_holding = (uint32_t)picture->holding_count;
		}
		for (size_t h = 0; h < process->holding_count; h++)
			join_holding(fleet, &of->holdings[process->first_holding + h], is_shown,
				tdm_picture_counts(process), first);
	}
}

/* A machine that does not answer, or whose answer cannot be read, is a problem of the picture. */
static void join_host(struct tdm_fleet *fleet, size_t i, uint64_t now_ns)
{
	const struct tdm_remote_host *asked = tdm_remote_host(fleet->remote, i);
	const struct member *member = &fleet->members[i];
	struct tdm_picture_host *host = &fleet->hosts[i];
	char age[TDM_DURATION_CAP];
	host->name = asked->name;
	host->age_ns = member->read_ns != 0 ? now_ns - tdm_min(now_ns, member->read_ns) : TDM_BYTES_UNKNOWN;
	host->reason = asked->reason[0] != '\0'                  ? asked->reason
		       : member->reason[0] != '\0'               ? member->reason
		       : asked->answers == 0                     ? "it has not answered yet"
		       : host->age_ns > FRESH_MS * TDM_NS_PER_MS ? "it is slow to answer"
								 : NULL;
	if (host->reason == NULL)
		return;
	struct tdm_picture_problem *problem = &fleet->picture.problems[fleet->picture.problem_count++];
	*problem = (struct tdm_picture_problem){ .from = TDM_FROM_NONE, .err = -EHOSTUNREACH, .is_unread = true };
	snprintf(problem->place, sizeof problem->place, "%s", host->name);
	if (member->read_ns == 0)
		snprintf(problem->text, sizeof problem->text, "%.200s; none of its figures are known", host->reason);
	else
		snprintf(problem->text, sizeof problem->text, "%.200s; its figures are %s old", host->reason,
			tdm_format_duration(age, sizeof age, host->age_ns));
}

/* Without its token a daemon shows sums, and how many processes there are. */
static bool hides_processes(const struct tdm_picture *picture)
{
	for (size_t i = 0; i < picture->device_count && picture->process_count == 0; i++)
		if (picture->devices[i].process_count != 0)
			return true;
	return false;
}

static void join_problems(struct tdm_fleet *fleet, size_t host)
{
	const struct tdm_picture *of = &fleet->members[host].remote.picture;
	if (hides_processes(of)) {
		struct tdm_picture_problem *hidden = &fleet->picture.problems[fleet->picture.problem_count++];
		*hidden = (struct tdm_picture_problem){ .from = TDM_FROM_NONE, .err = -ENOKEY };
		snprintf(hidden->place, sizeof hidden->place, "%s", fleet->hosts[host].name);
		snprintf(hidden->text, sizeof hidden->text,
			"its processes are hidden: it shows them to the bearer of its token (--token-file)");
	}
	for (size_t i = 0; i < of->problem_count; i++) {
		struct tdm_picture_problem *problem = &fleet->picture.problems[fleet->picture.problem_count++];
		*problem = of->problems[i];
		snprintf(problem->place, sizeof problem->place, "%s%s%.150s", fleet->hosts[host].name,
			of->problems[i].place[0] != '\0' ? ": " : "", of->problems[i].place);
	}
}

static int join(struct tdm_fleet *fleet)
{
	struct tdm_picture *picture = &fleet->picture;
	uint64_t now_ns = tdm_clock_ns(), since_ns = now_ns + AHEAD_NS;
	size_t first = 0;
	if (reserve_all(fleet) != 0)
		return -ENOMEM;
	picture->time_ns = 0;
	picture->others = 0;
	for (size_t i = 0; i < fleet->count; i++)
		join_host(fleet, i, now_ns);
	for (int boards = 0; boards < 2; boards++) {
		first = 0;
		for (size_t i = 0; i < fleet->count; first += fleet->members[i++].remote.picture.device_count)
			join_devices(fleet, i, boards != 0, first);
	}
	first = 0;
	for (size_t i = 0; i < fleet->count; first += fleet->members[i++].remote.picture.device_count) {
		const struct tdm_picture *of = &fleet->members[i].remote.picture;
		join_processes(fleet, i, first);
		join_problems(fleet, i);
		picture->others = tdm_plus(picture->others, of->others);
		picture->time_ns = tdm_max(picture->time_ns, of->time_ns);
		if (fleet->hosts[i].reason == NULL)
			since_ns = tdm_min(since_ns, of->time_ns);
	}
	picture->time_ns = picture->time_ns != 0 ? picture->time_ns : now_ns + AHEAD_NS;
	picture->real_ns = tdm_clock_real_ns();
	picture->buffers_version = fleet->version;
	picture->texts = &fleet->texts;
	picture->hosts = fleet->hosts;
	picture->host_count = fleet->count;
	fleet->since_ns = tdm_max(fleet->since_ns, since_ns);
	return 0;
}

const struct tdm_picture *tdm_fleet_look(struct tdm_fleet *fleet, const struct tdm_wish *wish)
{
	bool buffers = wish != NULL && (wish->parts & TDM_WISH_BUFFERS) != 0;
	bool ended = fleet->options.with_ended || fleet->options.with_crashed;
	unsigned timeout_ms = fleet->options.remote.timeout_ms;
	static const char picture_path[] = "/api/v1/picture";
	char path[64];
	snprintf(path, sizeof path, "%s%s%s%s", picture_path, buffers || ended ? "?" : "", buffers ? "buffers=1&" : "",
		ended ? "ended=1" : "");
	timeout_ms = timeout_ms != 0 ? timeout_ms : TDM_REMOTE_TIMEOUT_MS;
	/* Strangers get the sums, which are of no use to those who want only ledgers. */
	const char *simpler = fleet->options.only_tracked ? NULL : picture_path;
	if (tdm_remote_ask(fleet->remote, path, simpler, buffers ? BUFFERS_BYTES_MAX : BYTES_MAX,
		    fleet->has_looked ? WAIT_MS : timeout_ms + WAIT_MS) != 0)
		return NULL;
	fleet->has_looked = true;
	for (size_t i = 0; i < fleet->count; i++)
		if (read_answer(fleet, &fleet->members[i], tdm_remote_host(fleet->remote, i)) != 0)
			return NULL;
	return join(fleet) == 0 ? &fleet->picture : NULL;
}

uint64_t tdm_fleet_since(const struct tdm_fleet *fleet)
{
	return fleet->since_ns;
}

static const struct tdm_picture *look(void *fleet, const struct tdm_wish *wish)
{
	return tdm_fleet_look(fleet, wish);
}

struct tdm_provider tdm_fleet_provider(struct tdm_fleet *fleet)
{
	return (struct tdm_provider){ .state = fleet, .look = look };
}
