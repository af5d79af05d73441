/*
 * Runs the full-screen monitor with a provider that makes everything up, always the same way, for the tests with a real
 * terminal. Options are NAME=NUMBER, in any order:
 *
 *     devices=1 processes=3 buffers=12   how many
 *     interval=100 frames=0              milliseconds; how many pictures before it ends
 *     ascii no_colour read_only          =1 to switch on
 *     pid=0                              only this process
 *     device=TEXT                        only this device
 *     unknown=1                          nothing is known of the devices but that they are there
 *     nocard=1                           the driver knows none of the devices
 *     virtual=1                          the last device is on no card
 *     seen=1                             nobody keeps the peaks
 *     hostile=1                          names with control characters, broken UTF-8, wide characters, great length
 *     failing=1                          every second picture fails, and there are no buffers
 *     problems=0                         sources that could not be read
 *     target=PID                         process 0 is this one; start=TICKS its start time, 0: its real one
 *     moving=0                           =1: figures change from picture to picture
 *     crash=N                            crashes at picture N
 *     cost=1                             prints what a picture costs when it ends
 */
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "tui/send_signal.h"
#include "tui/tui.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

enum { FIRST_PID = 1000, EVENTS_AT_ONCE = 3 };
#define REAL_NS (UINT64_C(1700000000) * TDM_NS_PER_S)

static struct settings {
	long devices, processes, buffers, interval, frames, ascii, no_colour, read_only, pid, unknown, nocard, virtual,
		seen, hostile, failing, problems, target, start, moving, crash, cost;
	const char *device;
} set = { .devices = 1, .processes = 3, .buffers = 12, .interval = 100 };

static const struct {
	const char *name;
	long *value;
} names[] = {
	{ "devices", &set.devices },
	{ "processes", &set.processes },
	{ "buffers", &set.buffers },
	{ "interval", &set.interval },
	{ "frames", &set.frames },
	{ "ascii", &set.ascii },
	{ "no_colour", &set.no_colour },
	{ "read_only", &set.read_only },
	{ "pid", &set.pid },
	{ "unknown", &set.unknown },
	{ "nocard", &set.nocard },
	{ "virtual", &set.virtual },
	{ "seen", &set.seen },
	{ "hostile", &set.hostile },
	{ "failing", &set.failing },
	{ "problems", &set.problems },
	{ "target", &set.target },
	{ "start", &set.start },
	{ "moving", &set.moving },
	{ "crash", &set.crash },
	{ "cost", &set.cost },
};

struct fixture {
	struct tdm_overview overview;
	uint64_t pictures, events;
};

static const char *const hostile_names[] = { "\033[31mred\033[0m\a\b\r\n\ttail", "\xff\xfe\x80 broken \xc3",
	"漢字の名前 wide", "a\xcc\x81 combining \xe2\x80\xae override", "" };
enum { HOSTILE = sizeof hostile_names / sizeof hostile_names[0] };

static const char *const programs[] = { "python train.py --layers 24", "./resnet50 --batch 20",
	"vllm serve llama-3.1-8b", "ttnn_bench matmul", "pytest tests/ttnn/unit" };
static const char *const users[] = { "anna", "bert", "carla" };

static void set_kind(struct tdm_overview_kind *kind, uint64_t total, unsigned percent, uint32_t banks)
{
	kind->used_from = TDM_FROM_LEDGER;
	kind->total_from = TDM_FROM_MODEL;
	kind->total = total;
	kind->used = (total * percent + 99) / 100;
	kind->free = total - kind->used;
	kind->largest_free = kind->free / 2;
	kind->peak = kind->used + kind->free / 4;
	kind->peak_is_seen = set.seen != 0;
	kind->asked = kind->used;
	kind->buffers = (uint64_t)set.buffers;
	kind->unattributed = kind->used; /* until processes take their part */
	kind->banks = banks;
	kind->bank_bytes = total / banks;
	kind->allocs = 100;
	kind->out_of_memory = 0;
}

static void set_reading(struct tdm_reading *reading, int64_t value)
{
	*reading = (struct tdm_reading){ .is_known = true, .value = value };
}

static void make_device(struct tdm_overview_device *device, unsigned d, uint64_t step)
{
	unsigned wave = set.moving ? (unsigned)(step * 3 % 40) : 0;
	tdm_overview_device_init(device);
	device->number = (int32_t)d;
	device->is_virtual = set.virtual != 0 && d + 1 == (unsigned)set.devices;
	device->node = set.nocard || device->is_virtual ? -1 : (int32_t)d;
	device->process_count = (uint32_t)set.processes;
	if (set.unknown)
		return;
	device->has_chip_id = true;
	device->chip_id = 0x1a2b3c4d5e00 + d;
	snprintf(device->pci, sizeof device->pci, "0000:%02x:00.0", (d + 1) & 0xff);
	snprintf(device->card, sizeof device->card, d % 2 == 0 ? "n150" : "p150");
	snprintf(device->arch, sizeof device->arch, d % 2 == 0 ? "Wormhole" : "Blackhole");
	device->grid_x = device->grid_y = 8;
	device->sources = 1U << TDM_FROM_LEDGER | 1U << TDM_FROM_DRIVER;
	device->l1_core = 1464 * 1024;
	device->l1_lowest = 900000;
	device->cb_highest = 400000;
	if (!set.nocard) {
		set_reading(&device->telemetry.temp, 48500 + d * 100);
		set_reading(&device->telemetry.power, 36000000);
		set_reading(&device->telemetry.clock, 1000);
	}
	set_kind(&device->kinds[TDM_KIND_DRAM], 12 * GIB, (62 + d * 7 + wave) % 100, 12);
	set_kind(&device->kinds[TDM_KIND_L1], 85 * MIB, (78 + d * 11 + wave) % 100, 64);
	set_kind(&device->kinds[TDM_KIND_L1_SMALL], 2 * MIB, 5, 64);
	set_kind(&device->kinds[TDM_KIND_TRACE], 256 * MIB, 40, 12);
	set_kind(&device->kinds[TDM_KIND_CB], 85 * MIB, 92, 64);
	device->kinds[TDM_KIND_DRAM].stale = 512 * MIB;
	device->kinds[TDM_KIND_L1].rival_from = TDM_FROM_METAL_SHM;
	device->kinds[TDM_KIND_L1].rival_used = 33 * MIB;
	device->kinds[TDM_KIND_L1].rival_processes = 2;
	device->kinds[TDM_KIND_L1].rival_bytes = MIB;
}

/* Every process has the same part of what its devices say is used; the rest is unattributed. */
static void make_holding(
	struct tdm_overview_holding *holding, uint32_t p, uint32_t d, struct tdm_overview_device *device)
{
	tdm_overview_holding_init(holding, p, d);
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		struct tdm_overview_kind *kind = &device->kinds[k];
		if (kind->used == TDM_BYTES_UNKNOWN)
			continue;
		uint64_t part = kind->used / (uint64_t)(set.processes + 1) / (p + 1);
		holding->kinds[k] = (struct tdm_overview_amount){
			.used = part, .peak = part * 2, .buffers = (uint64_t)set.buffers, .from = kind->used_from
		};
		kind->unattributed -= part;
	}
}

static void make_process(struct tdm_overview_process *process, uint32_t p)
{
	*process = (struct tdm_overview_process){ .handle = p + 1,
		.pid = FIRST_PID + (int32_t)p,
		.start_time = 1,
		.uid = 1000 + p % 3,
		.life = TDM_LIFE_RUNS,
		.started_ns = REAL_NS - (p + 1) * 61 * TDM_NS_PER_S,
		.sources = 1U << TDM_FROM_LEDGER };
	if (p == 0 && set.target != 0) {
		process->pid = (int32_t)set.target;
		process->start_time = set.start != 0 ? (uint64_t)set.start : tdm_signal_start_time(process->pid);
	}
	const char *program = programs[p % 5], *hostile = hostile_names[p % HOSTILE];
	snprintf(process->user, sizeof process->user, "%s", users[p % 3]);
	snprintf(process->comm, sizeof process->comm, "prog%" PRIu32, p);
	snprintf(process->command, sizeof process->command, "%s", set.hostile ? hostile : program);
	if (set.hostile && p == HOSTILE - 1)
		memset(process->command, 'x', sizeof process->command - 1);
	snprintf(process->phase, sizeof process->phase, "%s", set.hostile ? hostile : p % 2 == 0 ? "forward" : "");
}

static void make_problem(struct tdm_overview_problem *problem, long i)
{
	*problem = (struct tdm_overview_problem){ .from = TDM_FROM_METAL_SHM, .err = -13 };
	snprintf(problem->place, sizeof problem->place, "/dev/shm/tt_device_%ld_memory", i);
	snprintf(problem->text, sizeof problem->text, "permission denied: it belongs to another user");
}

static const struct tdm_overview *make_overview(void *context)
{
	struct fixture *fixture = context;
	struct tdm_overview *o = &fixture->overview;
	uint64_t step = fixture->pictures++;
	if (set.crash != 0 && fixture->pictures == (uint64_t)set.crash)
		raise(SIGSEGV);
	if (set.failing && step % 2 == 1)
		return NULL;
	o->time_ns = tdm_clock_ns();
	o->real_ns = REAL_NS + step * (uint64_t)set.interval * TDM_NS_PER_MS;
	for (size_t d = 0; d < o->device_count; d++)
		make_device(&o->devices[d], (unsigned)d, step);
	o->holding_count = 0;
	for (size_t p = 0; p < o->process_count; p++) {
		make_process(&o->processes[p], (uint32_t)p);
		o->processes[p].first_holding = (uint32_t)o->holding_count;
		/* the first one uses every device, the others one each */
		for (size_t d = 0; d < o->device_count; d++)
			if (p == 0 || p % o->device_count == d)
				make_holding(
					&o->holdings[o->holding_count++], (uint32_t)p, (uint32_t)d, &o->devices[d]);
		o->processes[p].holding_count = (uint32_t)o->holding_count - o->processes[p].first_holding;
	}
	return o;
}

static void *make(size_t count, size_t size)
{
	void *list = calloc(count + 1, size);
	if (list == NULL)
		abort();
	return list;
}

static void init(struct fixture *fixture)
{
	struct tdm_overview *o = &fixture->overview;
	o->device_count = (size_t)set.devices;
	o->process_count = (size_t)set.processes;
	o->problem_count = (size_t)set.problems;
	o->devices = make(o->device_count, sizeof *o->devices);
	o->processes = make(o->process_count, sizeof *o->processes);
	o->holdings = make(o->device_count + o->process_count, sizeof *o->holdings);
	o->problems = make(o->problem_count, sizeof *o->problems);
	for (long i = 0; i < set.problems; i++)
		make_problem(&o->problems[i], i);
}

enum { TEXTS = 8 };
static const char *const sites[TEXTS] = { "", "weights.q_proj", "weights.k_proj", "activations", "kv_cache",
	"model.py:120", "optimizer.state", "matmul_program" };

/* Three in four lie in DRAM, from below, with holes; the others in L1, one after the other from above; a few are
 * circular buffers at the bottom of some cores. */
static void make_buffer(struct tdm_buffer *buffer, size_t i, uint64_t now_ns, const struct tdm_snapshot_device *device)
{
	enum { CB_AT = 5, CBS = 3 };
	bool is_cb = i >= CB_AT && i < CB_AT + CBS, in_l1 = !is_cb && i % 4 == 3;
	const struct tdm_region *dram = &device->info.regions[0], *l1 = &device->info.regions[1];
	uint64_t size = is_cb ? 100 * 1024 : in_l1 ? 8192 : (i % 7 + 1) * MIB, slot = 8 * MIB;
	uint32_t banks = is_cb ? 32 : in_l1 ? l1->banks : dram->banks;
	*buffer = (struct tdm_buffer){ .id = i + 1,
		.address = is_cb   ? l1->base + (i - CB_AT) * size
			   : in_l1 ? l1->base + l1->bank_size - (i / 4 % 80 + 1) * size
				   : dram->base + i * slot % (dram->bank_size - slot),
		.asked_bytes = size * banks - 100,
		.bank_bytes = size,
		.reserved_bytes = size * banks,
		.occupied_bytes = size * banks,
		.page_size = 2048,
		.born_ns = now_ns > (i + 1) * TDM_NS_PER_S ? now_ns - (i + 1) * TDM_NS_PER_S : 1,
		.banks = banks,
		.holding_banks = banks,
		.cores = is_cb ? banks : 0,
		.ranges = is_cb ? 1 : 0,
		.name = (uint32_t)(i % 7),
		.program = i % 5 == 0 ? 7 : 0,
		.kind = is_cb   ? TDM_KIND_CB
			: in_l1 ? TDM_KIND_L1
				: TDM_KIND_DRAM };
}

static void fill_device(struct tdm_snapshot_device *device)
{
	struct tdm_device_info *info = &device->info;
	device->has_info = true;
	info->has_chip_id = true;
	info->chip_id = 0x1a2b3c4d5e00;
	snprintf(info->card, sizeof info->card, "n150");
	info->grid_x = info->grid_y = 8;
	info->region_count = 2;
	info->regions[0] = (struct tdm_region){ TDM_KIND_DRAM, 12, 32, GIB - 32, 32 };
	info->regions[1] = (struct tdm_region){ TDM_KIND_L1, 64, 105664, 1393472, 16 };
}

static void fill_snapshot(struct tdm_snapshot *s, uint64_t handle)
{
	s->time_ns = tdm_clock_ns();
	s->process_count = s->device_count = s->holding_count = 1;
	s->buffer_count = (size_t)set.buffers;
	s->processes = make(1, sizeof *s->processes);
	s->devices = make(1, sizeof *s->devices);
	s->holdings = make(1, sizeof *s->holdings);
	s->buffers = make(s->buffer_count, sizeof *s->buffers);
	s->texts = make(TEXTS, sizeof *s->texts);
	s->text_count = TEXTS;
	for (size_t i = 0; i < TEXTS; i++)
		s->texts[i] = strdup(set.hostile && i != 0 ? hostile_names[i % HOSTILE] : sites[i]);
	s->range_lists = make(2, sizeof *s->range_lists);
	s->range_list_count = 2;
	s->range_lists[1] = (struct tdm_kept_ranges){ .first = 0, .count = 1 };
	s->ranges = make(1, sizeof *s->ranges);
	s->ranges[0] = (struct tdm_core_range){ 0, 0, 3, 7 };
	s->processes[0].has_who = true;
	s->processes[0].who.pid = FIRST_PID + (int32_t)handle - 1;
	s->processes[0].who.life = TDM_LIFE_RUNS;
	s->processes[0].holding_count = 1;
	fill_device(&s->devices[0]);
	for (size_t i = 0; i < s->buffer_count; i++)
		make_buffer(&s->buffers[i], i, s->time_ns, &s->devices[0]);
	s->holdings[0].buffer_count = s->buffer_count;
}

static struct tdm_snapshot *make_snapshot(uint64_t handle, struct tdm_diag *diag)
{
	struct tdm_snapshot *s = set.failing ? NULL : calloc(1, sizeof *s);
	if (s == NULL)
		tdm_diag_set(diag, -2, 0, 0, "process %" PRIu64 " has no readable ledger", handle);
	else
		fill_snapshot(s, handle);
	return s;
}

static struct tdm_snapshot *process_snapshot(void *context, uint64_t handle, struct tdm_diag *diag)
{
	(void)context;
	return make_snapshot(handle, diag);
}

static struct tdm_snapshot *device_snapshot(void *context, size_t device, struct tdm_diag *diag)
{
	(void)context;
	struct tdm_snapshot *snapshot = make_snapshot(1, diag);
	if (snapshot != NULL) {
		snapshot->devices[0].info.chip_id += device;
		snapshot->devices[0].number = (uint32_t)device;
	}
	return snapshot;
}

static size_t make_events(void *context, struct tdm_overview_event *events, size_t cap)
{
	static const uint8_t ops[] = { TDM_OP_ALLOC, TDM_OP_ALLOC, TDM_OP_FREE, TDM_OP_PHASE, TDM_OP_OOM, TDM_OP_LOST };
	struct fixture *fixture = context;
	size_t count = EVENTS_AT_ONCE < cap ? EVENTS_AT_ONCE : cap;
	for (size_t i = 0; i < count; i++) {
		uint64_t n = fixture->events++;
		events[i] = (struct tdm_overview_event){ .time_ns = REAL_NS + n * TDM_NS_PER_MS,
			.handle = n % (uint64_t)(set.processes + 1) + 1,
			.pid = FIRST_PID + (int32_t)(n % (uint64_t)(set.processes + 1)),
			.number = 0,
			.op = ops[n % 6],
			.kind = n % 2 == 0 ? TDM_KIND_DRAM : TDM_KIND_L1,
			.is_fault = n % 30 == 2,
			.address = 0x1000 * n,
			.asked = ops[n % 6] == TDM_OP_LOST ? 5 : 4096 * (n % 9 + 1),
			.reserved = 4096 * (n % 9 + 1) };
		snprintf(events[i].name, sizeof events[i].name, "%.20s-%" PRIu64, sites[n % 6 + 1], n);
	}
	return count;
}

static void parse(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		size_t len = value != NULL ? (size_t)(value - argv[i]) : 0;
		bool known = len == strlen("device") && strncmp(argv[i], "device", len) == 0;
		if (known)
			set.device = value + 1;
		for (size_t n = 0; n < sizeof names / sizeof names[0] && len != 0 && !known; n++)
			if (strlen(names[n].name) == len && strncmp(argv[i], names[n].name, len) == 0) {
				*names[n].value = strtol(value + 1, NULL, 10);
				known = true;
			}
		if (!known) {
			fprintf(stderr, "tui_fixture: what is \"%s\"?\n", argv[i]);
			exit(2);
		}
	}
}

static void print_cost(const struct fixture *fixture)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	long us = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
		  usage.ru_stime.tv_usec;
	printf("%" PRIu64 " pictures, %ld us each, %ld KiB at most\n", fixture->pictures,
		us / (long)(fixture->pictures != 0 ? fixture->pictures : 1), usage.ru_maxrss);
}

int main(int argc, char **argv)
{
	struct fixture fixture = { 0 };
	struct tdm_diag diag = { 0 };
	setlocale(LC_ALL, "");
	parse(argc, argv);
	init(&fixture);
	const struct tdm_tui_provider provider = { .context = &fixture,
		.refresh = make_overview,
		.process = process_snapshot,
		.device = device_snapshot,
		.events = make_events };
	const struct tdm_tui_options options = { .interval_ms = (unsigned)set.interval,
		.device = set.device,
		.pid = (int32_t)set.pid,
		.ascii = set.ascii != 0,
		.no_colour = set.no_colour != 0,
		.read_only = set.read_only != 0,
		.frames = (unsigned)set.frames };
	int err = tdm_tui_run(&provider, &options, &diag);
	tdm_overview_done(&fixture.overview);
	if (err != 0)
		fprintf(stderr, "tui_fixture: %s\n", diag.text);
	else if (set.cost)
		print_cost(&fixture);
	else
		printf("ended well\n");
	return err != 0 ? 2 : 0;
}
