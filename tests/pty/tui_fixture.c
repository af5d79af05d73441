/*
 * Runs the full-screen monitor with a provider that makes everything up, always the same way, for tests on a terminal.
 * Options are NAME=NUMBER, in any order:
 *
 *     devices=1 processes=3 buffers=12   how many
 *     interval=100 frames=0              milliseconds; number of pictures until it ends
 *     ascii no_colour no_mouse read_only =1 to switch on
 *     pid=0                              only this process
 *     device=TEXT                        only this device
 *     settings=FILE                      keeps what the user sets there
 *     unknown=1                          only the existence of the devices is known
 *     nocard=1                           the driver knows none of the devices
 *     virtual=1                          the last device is virtual
 *     seen=1                             no peaks are recorded
 *     hostile=1                          names with control characters, broken UTF-8, wide characters; very long names
 *     failing=1                          no ledger can be read
 *     hungry=N                           memory runs out at picture N
 *     limits=0                           =1: the driver gives limits; more: the temperature in percent of its limit
 *     growing=0                          =1: process 0 grows, and 5 seconds pass from picture to picture
 *     few=1                              devices have no L1_SMALL and no TRACE
 *     boards=0                           the last devices are cards, and nobody knows which chips are on them
 *     gap=500000                         bytes between circular buffers and L1 buffers; below 0: they clash
 *     problems=0                         number of sources that could not be read
 *     target=PID                         process 0 is this one
 *     start=TICKS                        its start time; 0: its real one
 *     moving=0                           =1: figures change from picture to picture
 *     hazards=0                          =1: traces may have overwritten buffers of process 0, and the runtime counts
 *                                        otherwise
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

#include "../unit/picture_valid.h"
#include "base/clock.h"
#include "base/memory.h"
#include "tui/app/app.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

enum { FIRST_PID = 1000, EVENTS_AT_ONCE = 3 };
#define REAL_NS (UINT64_C(1700000000) * TDM_NS_PER_S)
#define LEDGER  "/dev/shm/tidemark-1000/1000.1.0"

static struct settings {
	long devices, processes, buffers, interval, frames, ascii, no_colour, no_mouse, read_only, pid, unknown, nocard,
		virtual, hazards, seen, estimated, boards, hostile, failing, hungry, few, limits, growing, gap,
		problems, target, start, moving, crash, cost;
	const char *device, *settings;
} set = { .devices = 1, .processes = 3, .buffers = 12, .interval = 100, .gap = 500000 };

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
	{ "no_mouse", &set.no_mouse },
	{ "read_only", &set.read_only },
	{ "pid", &set.pid },
	{ "unknown", &set.unknown },
	{ "nocard", &set.nocard },
	{ "virtual", &set.virtual },
	{ "seen", &set.seen },
	{ "estimated", &set.estimated },
	{ "boards", &set.boards },
	{ "hostile", &set.hostile },
	{ "failing", &set.failing },
	{ "hungry", &set.hungry },
	{ "few", &set.few },
	{ "limits", &set.limits },
	{ "growing", &set.growing },
	{ "gap", &set.gap },
	{ "problems", &set.problems },
	{ "target", &set.target },
	{ "start", &set.start },
	{ "moving", &set.moving },
	{ "hazards", &set.hazards },
	{ "crash", &set.crash },
	{ "cost", &set.cost },
};

enum { TEXTS = 8 };
static const char *const sites[TEXTS] = { "", "weights.q_proj", "weights.k_proj", "activations", "kv_cache",
	"model.py:120", "optimizer.state", "matmul_program" };

struct fixture {
	struct tdm_picture picture;
	struct tdm_process *ledgers; /* of the processes */
	struct tdm_device_info info; /* of every device */
	struct tdm_hazard hazards[2];
	struct tdm_intern texts;
	uint32_t sites[TEXTS]; /* numbers of texts */
	uint32_t ranges;       /* of circular buffers */
	uint64_t pictures, event_count;
	struct tdm_event events[EVENTS_AT_ONCE];
	/* the live buffers of one holding */
	struct tdm_buffer *buffers[TDM_KIND_COUNT];
	size_t counts[TDM_KIND_COUNT];
	uint64_t process, device; /* that they were asked for */
};

static const char *const hostile_names[] = { "\033[31mred\033[0m\a\b\r\n\ttail", "\xff\xfe\x80 broken \xc3",
	"漢字の名前 wide", "a\xcc\x81 combining \xe2\x80\xae override", "" };
enum { HOSTILE = sizeof hostile_names / sizeof hostile_names[0] };

static const char *const programs[] = { "python train.py --layers 24", "./resnet50 --batch 20",
	"vllm serve llama-3.1-8b", "ttnn_bench matmul", "pytest tests/ttnn/unit" };
static const char *const users[] = { "anna", "bert", "carla" };

static void set_kind(struct tdm_picture_kind *kind, uint64_t total, unsigned percent, uint32_t banks)
{
	kind->used_from = TDM_FROM_LEDGER;
	kind->total_from = set.boards != 0 ? TDM_FROM_CARD_TYPE : TDM_FROM_MODEL;
	kind->total = total;
	kind->used = (total * percent + 99) / 100;
	kind->free = total - kind->used;
	kind->largest_free = kind->free / 2;
	kind->peak = kind->used + kind->free / 4;
	kind->peak_is_seen = set.seen != 0;
	kind->is_estimated = set.estimated != 0;
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

static void make_device(
	struct tdm_picture_device *device, unsigned d, uint64_t step, const struct tdm_device_info *info)
{
	unsigned wave = set.moving ? (unsigned)(step * 3 % 40) : 0;
	tdm_picture_device_init(device);
	device->key = d + 1;
	device->number = (int32_t)d;
	device->info = info;
	device->is_virtual = set.virtual != 0 && d + 1 == (unsigned)set.devices;
	device->node = set.nocard || device->is_virtual ? -1 : (int32_t)d;
	device->is_board = d + (unsigned)set.boards >= (unsigned)set.devices;
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
	device->card_from = set.boards != 0 && !device->is_board ? TDM_FROM_CARD_TYPE : TDM_FROM_DRIVER;
	device->l1_core = 1464 * 1024;
	device->l1_lowest = (uint64_t)(400000 + set.gap);
	device->cb_highest = 400000;
	if (!set.nocard) {
		set_reading(&device->telemetry.temp, 48500 + d * 100);
		set_reading(&device->telemetry.power, 36000000);
		set_reading(&device->telemetry.clock, 1000);
		if (set.limits) {
			set_reading(&device->telemetry.temp_max, set.limits > 1 ? 4850000 / set.limits : 75000);
			set_reading(&device->telemetry.power_max, 85000000);
		}
	}
	set_kind(&device->kinds[TDM_KIND_DRAM], 12 * GIB, (62 + d * 7 + wave) % 100, 12);
	set_kind(&device->kinds[TDM_KIND_L1], 85 * MIB, (78 + d * 11 + wave) % 100, 64);
	set_kind(&device->kinds[TDM_KIND_L1_SMALL], set.few ? 0 : 2 * MIB, 5, 64);
	set_kind(&device->kinds[TDM_KIND_TRACE], set.few ? 0 : 256 * MIB, 40, 12);
	set_kind(&device->kinds[TDM_KIND_CB], 85 * MIB, 92, 64);
	device->kinds[TDM_KIND_DRAM].stale = 512 * MIB;
	device->kinds[TDM_KIND_L1].rival_from = TDM_FROM_METAL_SHM;
	device->kinds[TDM_KIND_L1].rival_used = 33 * MIB;
	device->kinds[TDM_KIND_L1].rival_processes = 2;
	device->kinds[TDM_KIND_L1].rival_bytes = MIB;
}

/* Every process has the same part of what its devices say is used; the rest is unattributed. */
static void make_holding(
	struct tdm_holding *holding, uint32_t p, uint32_t d, struct tdm_picture_device *device, uint64_t step)
{
	tdm_holding_init(holding, p, d);
	holding->number = holding->own_number = d;
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		struct tdm_picture_kind *kind = &device->kinds[k];
		if (kind->used == TDM_BYTES_UNKNOWN)
			continue;
		uint64_t part = kind->used / (uint64_t)(set.processes + 1) / (p + 1);
		if (set.growing && p == 0 && k == TDM_KIND_DRAM)
			part += step % 100 * MIB;
		holding->kinds[k].reserved = part;
		holding->kinds[k].peak = part * 2;
		holding->kinds[k].is_estimated = kind->is_estimated;
		holding->kinds[k].buffers = (uint64_t)set.buffers;
		holding->kinds[k].from = kind->used_from;
		kind->unattributed -= part;
	}
}

static void make_process(struct tdm_picture_process *process, uint32_t p, struct tdm_process *ledger)
{
	*process = (struct tdm_picture_process){ .handle = p + 1,
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
	*ledger = (struct tdm_process){ .pid = process->pid, .life = TDM_LIFE_RUNS, .is_stuck = set.failing != 0 };
	process->who = ledger;
	process->ledger = LEDGER;
}

static void make_problem(struct tdm_picture_problem *problem, long i)
{
	*problem = (struct tdm_picture_problem){ .from = TDM_FROM_METAL_SHM, .err = -13 };
	snprintf(problem->place, sizeof problem->place, "/dev/shm/tt_device_%ld_memory", i);
	snprintf(problem->text, sizeof problem->text, "permission denied: it belongs to another user");
}

static void *make(size_t count, size_t size)
{
	void *list = calloc(count + 1, size);
	if (list == NULL)
		abort();
	return list;
}

static uint32_t keep_text(struct fixture *fixture, const char *text)
{
	return tdm_intern_text(&fixture->texts, tdm_str_of(text));
}

/* Three in four are in DRAM, from below, with holes; the others in L1, one after the other from above; a few are
 * circular buffers at the bottom of some cores. */
static void make_buffer(struct fixture *fixture, size_t i, uint64_t now_ns)
{
	enum { CB_AT = 5, CBS = 3 };
	bool is_cb = i >= CB_AT && i < CB_AT + CBS, in_l1 = !is_cb && i % 4 == 3;
	const struct tdm_region *dram = &fixture->info.regions[0], *l1 = &fixture->info.regions[1];
	uint64_t size = is_cb ? (set.gap < 0 ? 450 : 100) * 1024 : in_l1 ? 8192 : (i % 7 + 1) * MIB, slot = 8 * MIB;
	uint32_t banks = is_cb ? 32 : in_l1 ? l1->banks : dram->banks;
	enum tdm_kind kind = is_cb ? TDM_KIND_CB : in_l1 ? TDM_KIND_L1 : TDM_KIND_DRAM;
	fixture->buffers[kind][fixture->counts[kind]++] = (struct tdm_buffer){ .id = i + 1,
		.address = is_cb   ? l1->base + (i - CB_AT) * size
			   : in_l1 ? l1->base + l1->bank_size - (i / 4 % 80 + 1) * size
				   : dram->base + i * slot % (dram->bank_size - slot),
		.asked_bytes = size * banks - 100,
		.bank_bytes = size,
		.page_size = 2048,
		.born_ns = now_ns > (i + 1) * TDM_NS_PER_S ? now_ns - (i + 1) * TDM_NS_PER_S : 1,
		.banks = banks,
		.holding_banks = banks,
		.cores = is_cb ? banks : 0,
		.ranges = is_cb ? fixture->ranges : 0,
		.name = fixture->sites[i % 7],
		.program = i % 5 == 0 ? fixture->sites[7] : 0,
		.kind = (uint8_t)kind };
}

/* As a state does, lists that nobody asks for are gone. */
static void drop_buffers(struct fixture *fixture)
{
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		free(fixture->buffers[k]);
		fixture->buffers[k] = NULL;
		fixture->counts[k] = 0;
	}
	fixture->process = fixture->device = 0;
	fixture->picture.buffers_version++;
}

/* The buffers of the process that is asked for are on its first device, those of a device are the first process's. They
 * are made anew when others are asked for, or when figures move. */
static void make_buffers(struct fixture *fixture, const struct tdm_wish *wish)
{
	struct tdm_picture *picture = &fixture->picture;
	bool is_asked = wish != NULL && (wish->parts & TDM_WISH_BUFFERS) != 0 && !set.failing;
	bool is_same = is_asked && fixture->process == wish->process && fixture->device == wish->device;
	if (!is_same || (set.moving && !wish->hold))
		drop_buffers(fixture);
	if (!is_asked)
		return;
	if (fixture->process == 0 && fixture->device == 0) {
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			fixture->buffers[k] = make((size_t)set.buffers, sizeof *fixture->buffers[k]);
		for (size_t i = 0; i < (size_t)set.buffers; i++)
			make_buffer(fixture, i, picture->time_ns);
		fixture->process = wish->process;
		fixture->device = wish->device;
	}
	for (size_t h = 0; h < picture->holding_count; h++) {
		struct tdm_holding *holding = &picture->holdings[h];
		if ((wish->process != 0 && picture->processes[holding->process].handle != wish->process) ||
			(wish->device != 0 && picture->devices[holding->device].key != wish->device))
			continue;
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			holding->buffers[k] = (struct tdm_buffer_list){ fixture->buffers[k], fixture->counts[k] };
		return;
	}
}

static void make_events(struct fixture *fixture, const struct tdm_wish *wish)
{
	static const uint8_t ops[] = { TDM_OP_ALLOC, TDM_OP_ALLOC, TDM_OP_FREE, TDM_OP_PHASE, TDM_OP_OOM, TDM_OP_LOST };
	struct tdm_picture *picture = &fixture->picture;
	picture->events = fixture->events;
	picture->event_count = wish != NULL && (wish->parts & TDM_WISH_EVENTS) != 0 ? EVENTS_AT_ONCE : 0;
	for (size_t i = 0; i < picture->event_count; i++) {
		uint64_t n = fixture->event_count++;
		char name[48];
		snprintf(name, sizeof name, "%.20s-%" PRIu64, sites[n % 6 + 1], n);
		uint32_t kept = keep_text(fixture, name); /* may move the texts */
		fixture->events[i] = (struct tdm_event){ .time_ns = picture->time_ns - TDM_NS_PER_S + i * TDM_NS_PER_MS,
			.process = n % (uint64_t)(set.processes + 1) + 1, /* one of them is not listed */
			.pid = FIRST_PID + (int32_t)(n % (uint64_t)(set.processes + 1)),
			.op = ops[n % 6],
			.kind = n % 2 == 0 ? TDM_KIND_DRAM : TDM_KIND_L1,
			.flags = n % 30 == 2 ? TDM_EVENT_FAULT : 0,
			.address = 0x1000 * n,
			.size = ops[n % 6] == TDM_OP_LOST ? 5 : 4096 * (n % 9 + 1),
			.bytes_per_bank = 4096,
			.banks = (uint32_t)(n % 9 + 1),
			.name = tdm_str_of(fixture->texts.texts[kept]) };
	}
}

/* On all devices of the first process; the runtime's statistics are about the first device. */
static void make_hazards(struct fixture *fixture)
{
	struct tdm_picture *picture = &fixture->picture;
	const struct tdm_frame frames[] = { { .text = tdm_str_of("model.py:10 forward") },
		{ .text = tdm_str_of("model.py:90 generate") } };
	fixture->hazards[0] = (struct tdm_hazard){ .trace = 7,
		.state = TDM_HAZARD_LIVE,
		.kind = TDM_KIND_DRAM,
		.count = 3,
		.address = 0x4000,
		.asked = 4 * MIB,
		.name = fixture->sites[4] };
	fixture->hazards[0].stack = tdm_intern_stack(&fixture->texts, &frames[0], 1);
	fixture->hazards[0].replay_stack = tdm_intern_stack(&fixture->texts, &frames[1], 1);
	fixture->hazards[1] = fixture->hazards[0];
	fixture->hazards[1].state = TDM_HAZARD_WAITS;
	fixture->hazards[1].replay_stack = 0;
	fixture->hazards[1].name = fixture->sites[3];
	for (uint32_t i = 0; i < picture->processes[0].holding_count; i++) {
		picture->holdings[i].told.hazards = fixture->hazards;
		picture->holdings[i].told.hazard_count = 2;
	}
	picture->holdings[0].told.statistics[TDM_KIND_DRAM] =
		(struct tdm_statistics){ .reports = 5, .allocated = 4096, .ours = 1024, .differing = 2 };
}

static const struct tdm_picture *look(void *context, const struct tdm_wish *wish)
{
	struct fixture *fixture = context;
	struct tdm_picture *p = &fixture->picture;
	uint64_t step = fixture->pictures++;
	if (set.crash != 0 && fixture->pictures == (uint64_t)set.crash)
		raise(SIGSEGV);
	if (set.hungry != 0 && fixture->pictures == (uint64_t)set.hungry)
		tdm_out_of_memory();
	p->time_ns = tdm_clock_ns() + (set.growing ? step * 5 * TDM_NS_PER_S : 0);
	p->real_ns = REAL_NS + step * (uint64_t)set.interval * TDM_NS_PER_MS;
	for (size_t d = 0; d < p->device_count; d++)
		make_device(&p->devices[d], (unsigned)d, step, &fixture->info);
	p->holding_count = 0;
	for (size_t i = 0; i < p->process_count; i++) {
		make_process(&p->processes[i], (uint32_t)i, &fixture->ledgers[i]);
		p->processes[i].first_holding = (uint32_t)p->holding_count;
		/* the first one uses every device, the others one each */
		for (size_t d = 0; d < p->device_count; d++)
			if (i == 0 || i % p->device_count == d)
				make_holding(&p->holdings[p->holding_count++], (uint32_t)i, (uint32_t)d, &p->devices[d],
					step);
		p->processes[i].holding_count = (uint32_t)p->holding_count - p->processes[i].first_holding;
	}
	if (set.hazards && p->process_count != 0)
		make_hazards(fixture);
	make_buffers(fixture, wish);
	make_events(fixture, wish);
	if (!picture_is_valid(p))
		abort();
	return p;
}

/* A tenth of a core for each process and one more. */
static int use(void *context, const struct tdm_picture_process *process, struct tdm_proc_use *use)
{
	(void)context;
	uint64_t p = process->handle - 1;
	*use = (struct tdm_proc_use){ .state = "RSDT"[p % 4],
		.start_time = process->start_time,
		.cpu_ns = tdm_clock_ns() / 10 * (p + 1),
		.resident_bytes = (p + 1) * 100 * MIB };
	return p == 2 ? -1 : 0;
}

static void init_device(struct tdm_device_info *info)
{
	info->has_chip_id = true;
	info->chip_id = 0x1a2b3c4d5e00;
	snprintf(info->card, sizeof info->card, "n150");
	info->grid_x = info->grid_y = 8;
	info->region_count = 2;
	info->regions[0] = (struct tdm_region){ TDM_KIND_DRAM, 12, 32, GIB - 32, 32 };
	info->regions[1] = (struct tdm_region){ TDM_KIND_L1, 64, 105664, 1393472, 16 };
}

static void init_texts(struct fixture *fixture)
{
	const struct tdm_core_range range = { 0, 0, 3, 7 };
	tdm_intern_init(&fixture->texts);
	fixture->ranges = tdm_intern_ranges(&fixture->texts, &range, 1);
	for (size_t i = 0; i < TEXTS; i++)
		fixture->sites[i] = keep_text(fixture, set.hostile && i != 0 ? hostile_names[i % HOSTILE] : sites[i]);
}

static void init(struct fixture *fixture)
{
	struct tdm_picture *p = &fixture->picture;
	p->device_count = (size_t)set.devices;
	p->board_count = (size_t)set.boards;
	p->process_count = (size_t)set.processes;
	p->problem_count = (size_t)set.problems;
	p->devices = make(p->device_count, sizeof *p->devices);
	p->processes = make(p->process_count, sizeof *p->processes);
	p->holdings = make(p->device_count + p->process_count, sizeof *p->holdings);
	p->problems = make(p->problem_count + 1, sizeof *p->problems);
	p->texts = &fixture->texts;
	fixture->ledgers = make(p->process_count, sizeof *fixture->ledgers);
	for (long i = 0; i < set.problems; i++)
		make_problem(&p->problems[i], i);
	if (set.failing) {
		struct tdm_picture_problem *problem = &p->problems[p->problem_count++];
		*problem = (struct tdm_picture_problem){ .from = TDM_FROM_LEDGER, .err = -2 };
		snprintf(problem->place, sizeof problem->place, "%s", LEDGER);
		snprintf(problem->text, sizeof problem->text, "the process has no readable ledger");
	}
	init_device(&fixture->info);
	init_texts(fixture);
}

static void done(struct fixture *fixture)
{
	drop_buffers(fixture);
	free(fixture->ledgers);
	tdm_picture_done(&fixture->picture);
	tdm_intern_done(&fixture->texts);
}

static void parse(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		size_t len = value != NULL ? (size_t)(value - argv[i]) : 0;
		bool is_device = len == strlen("device") && strncmp(argv[i], "device", len) == 0;
		bool is_file = len == strlen("settings") && strncmp(argv[i], "settings", len) == 0;
		bool known = is_device || is_file;
		if (known)
			*(is_device ? &set.device : &set.settings) = value + 1;
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
	const struct tdm_provider provider = { .state = &fixture, .look = look, .use = use };
	const struct tdm_tui_options options = { .interval_ms = (unsigned)set.interval,
		.pick = { .device = set.device, .pids = &(int32_t){ (int32_t)set.pid }, .pid_count = set.pid != 0 },
		.ascii = set.ascii != 0,
		.no_colour = set.no_colour != 0,
		.no_mouse = set.no_mouse != 0,
		.settings = set.settings,
		.read_only = set.read_only != 0,
		.frames = (unsigned)set.frames };
	int err = tdm_tui_run(&provider, &options, &diag);
	done(&fixture);
	if (err != 0)
		fprintf(stderr, "tui_fixture: %s\n", diag.text);
	else if (set.cost)
		print_cost(&fixture);
	else
		printf("ended well %s\n", diag.text);
	return err != 0 ? 2 : 0;
}
