/*
 * A machine made up by a test, with a state that reads it: cards, processes, tt-metal's regions, and ledgers of running
 * writers, each locked by a child of the test.
 */
#ifndef TESTS_UNIT_STATE_WORLD_H
#define TESTS_UNIT_STATE_WORLD_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "picture_valid.h"
#include "base/err.h"
#include "live/join/state.h"

#include "fake_tree.h"
#include "ledger_builder.h"
#include "metal_bytes.h"

enum { WORLD_HOLDERS = 512, WORLD_BASE = 4096, WORLD_BANK = 1 << 20 };
#define WORLD_BOOTED 1787270000
#define WORLD_START  4711 /* clock ticks: before METAL_TIME */
#define WORLD_CHIP   UINT64_C(0x100011804321)

struct world {
	struct tree tree;
	char ledgers[96], shm[96], sysfs[96], proc[96];
	pid_t holders[WORLD_HOLDERS];
	size_t holder_count;
	uint64_t pid_namespace;
	struct tdm_state *state;
	struct tdm_state_options options;
};

static inline void world_init(struct world *w)
{
	struct stat ns;
	char text[64];
	memset(w, 0, sizeof *w);
	tree_init(&w->tree);
	tree_dir(&w->tree, "ledgers");
	tree_dir(&w->tree, "shm");
	tree_dir(&w->tree, "sys");
	snprintf(text, sizeof text, "cpu  1 2 3\nbtime %d\nprocesses 5\n", WORLD_BOOTED);
	tree_text(&w->tree, "proc/stat", text);
	snprintf(w->ledgers, sizeof w->ledgers, "%s/ledgers", w->tree.root);
	snprintf(w->shm, sizeof w->shm, "%s/shm", w->tree.root);
	snprintf(w->sysfs, sizeof w->sysfs, "%s/sys", w->tree.root);
	snprintf(w->proc, sizeof w->proc, "%s/proc", w->tree.root);
	if (stat("/proc/self/ns/pid", &ns) != 0)
		tree_fail("/proc/self/ns/pid");
	w->pid_namespace = ns.st_ino;
	w->options = (struct tdm_state_options){
		.ledger_dir = w->ledgers, .shm_dir = w->shm, .sysfs = w->sysfs, .proc = w->proc, .once = true
	};
}

static inline void world_end_holder(struct world *w, size_t i)
{
	if (w->holders[i] == 0)
		return;
	kill(w->holders[i], SIGKILL);
	waitpid(w->holders[i], NULL, 0);
	w->holders[i] = 0;
}

static inline void world_done(struct world *w)
{
	tdm_state_free(w->state);
	for (size_t i = 0; i < w->holder_count; i++)
		world_end_holder(w, i);
	tree_done(&w->tree);
}

/* The next picture of one state; its sums are right, whatever it shows. */
static inline const struct tdm_picture *world_look_for(struct world *w, const struct tdm_wish *wish)
{
	if (w->state == NULL)
		w->state = tdm_state_new(&w->options);
	const struct tdm_picture *picture = tdm_state_look(w->state, wish);
	if (picture == NULL || !picture_is_valid(picture))
		abort();
	return picture;
}

static inline const struct tdm_picture *world_look(struct world *w)
{
	return world_look_for(w, NULL);
}

/* The first picture of a new state. */
static inline const struct tdm_picture *world_look_anew(struct world *w)
{
	tdm_state_free(w->state);
	w->state = NULL;
	return world_look(w);
}

/* Ledgers. */

/* Borrowed until the next call. */
static inline const char *world_ledger_path(struct world *w, int pid)
{
	static char path[160];
	snprintf(path, sizeof path, "%s/tidemark.%d.%d.0", w->ledgers, pid, WORLD_START);
	return path;
}

/* A process that holds the lock of a ledger as its writer would; its pid. `of` is whose ledger it is, 0: its own. */
static inline pid_t world_hold(struct world *w, int of)
{
	int ready[2];
	char said;
	if (pipe2(ready, O_CLOEXEC) != 0)
		tree_fail("pipe");
	pid_t pid = fork();
	if (pid == 0) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		int fd = open(world_ledger_path(w, of != 0 ? of : (int)getpid()), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || fcntl(fd, F_SETLK, &lock) != 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (pid < 0 || read(ready[0], &said, 1) != 1)
		tree_fail("holder");
	close(ready[0]);
	return pid;
}

/* A ledger with one device, of the chip if that is not 0; for builder_alloc. */
static inline uint64_t world_begin_ledger(struct builder *b, uint32_t number, uint64_t chip)
{
	builder_init(b);
	uint64_t device = builder_add_device_with(b, number, SAMPLE_RING);
	if (chip != 0) {
		builder_device(b, device)->flags = TDM_DEVICE_HAS_CHIP_ID;
		builder_device(b, device)->chip_id = chip;
	}
	return device;
}

/* The same with DRAM in two banks of WORLD_BANK bytes, from WORLD_BASE on. */
static inline uint64_t world_begin_dram(struct builder *b)
{
	uint64_t device = world_begin_ledger(b, 0, WORLD_CHIP);
	builder_device(b, device)->region_count = 1;
	builder_device(b, device)->regions[0] = (struct tdm_ledger_region){
		.kind = TDM_KIND_DRAM, .banks = 2, .base = WORLD_BASE, .bank_size = WORLD_BANK
	};
	return device;
}

static inline uint32_t world_alloc(
	struct builder *b, uint64_t device, enum tdm_kind kind, uint64_t id, uint64_t address, uint64_t bank_bytes)
{
	return builder_alloc(b, device,
		(struct tdm_ledger_slot){ .id = id,
			.address = address,
			.asked = bank_bytes * 2 - 1,
			.bank_bytes = bank_bytes,
			.banks = 2,
			.kind = (uint8_t)kind },
		(struct tdm_ledger_more){ 0 });
}

/* Writes what was built over the ledger of holder `i`, as its writer would: the file stays, and its lock. */
static inline void world_rewrite(struct world *w, size_t i, struct builder *b)
{
	const char *path = world_ledger_path(w, w->holders[i]);
	builder_header(b)->pid = w->holders[i];
	builder_header(b)->start_time = WORLD_START;
	if (builder_header(b)->pid_namespace == 77) /* as builder_init leaves it */
		builder_header(b)->pid_namespace = w->pid_namespace;
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || pwrite(fd, b->bytes, b->size, 0) != (ssize_t)b->size || ftruncate(fd, (off_t)b->size) != 0)
		tree_fail(path);
	close(fd);
}

/* The ledger of a process that runs: the index of its holder. The builder stays the caller's. */
static inline size_t world_ledger(struct world *w, struct builder *b)
{
	w->holders[w->holder_count] = world_hold(w, 0);
	world_rewrite(w, w->holder_count, b);
	return w->holder_count++;
}

/* The ledger of a process that has ended; `pid` may be any number. */
static inline void world_dead_ledger(struct world *w, struct builder *b, int pid, bool closed)
{
	builder_header(b)->pid = pid;
	builder_header(b)->start_time = WORLD_START;
	builder_header(b)->pid_namespace = w->pid_namespace;
	builder_header(b)->state = closed ? TDM_LEDGER_CLOSED : TDM_LEDGER_OPEN;
	builder_write(b, world_ledger_path(w, pid));
}

/* Processes and cards. */

static inline void world_process(struct world *w, int pid, unsigned long long start, int uid)
{
	tree_process(
		&w->tree, "proc", (struct tree_process){ .pid = pid, .uid = uid, .start = start, .comm = "train" });
}

static inline void world_set(struct world *w, int card, const char *file, const char *text)
{
	char path[256];
	snprintf(path, sizeof path, "sys/class/tenstorrent/tenstorrent!%d/%s", card, file);
	tree_text(&w->tree, path, text);
}

static inline void world_card(struct world *w, int card, const char *type, uint64_t serial)
{
	char text[64];
	snprintf(text, sizeof text, "%s\n", type);
	world_set(w, card, "tt_card_type", text);
	snprintf(text, sizeof text, "%016llX\n", (unsigned long long)serial);
	world_set(w, card, "tt_serial", text);
	world_set(w, card, "device/hwmon/hwmon0/temp1_input", "47250\n");
	world_set(w, card, "device/hwmon/hwmon0/name", type[0] == 'p' ? "blackhole\n" : "wormhole\n");
}

static inline void world_opens(struct world *w, int card, const char *pids)
{
	char path[128];
	snprintf(path, sizeof path, "proc/driver/tenstorrent/%d/pids", card);
	tree_text(&w->tree, path, pids);
}

/* Regions: of the chip, with nobody in it. */
static inline void world_begin_region(struct metal_bytes *m, uint64_t chip)
{
	metal_init(m, 4, &metal_common);
	metal_u64(m, 32, chip);
}

static inline void world_region(struct world *w, struct metal_bytes *m, uint64_t chip)
{
	char path[128];
	snprintf(path, sizeof path, "shm/tt_device_%llu_memory", (unsigned long long)chip);
	tree_bytes(&w->tree, path, m->data, TDM_METAL_SIZE);
}

/* Looking at a picture. */

static inline void assert_u64(uint64_t got, uint64_t want, const char *what)
{
	if (got != want)
		fail_msg("%s: %llu instead of %llu", what, (unsigned long long)got, (unsigned long long)want);
}
#define ASSERT_U64(got, want) assert_u64((got), (want), #got)

static inline const struct tdm_picture_process *find_pid(const struct tdm_picture *pic, int pid)
{
	for (size_t i = 0; i < pic->process_count; i++)
		if (pic->processes[i].pid == pid)
			return &pic->processes[i];
	fail_msg("no process %d", pid);
	return NULL;
}

static inline const struct tdm_holding *find_holding(const struct tdm_picture *pic, int pid, size_t device)
{
	const struct tdm_picture_process *p = find_pid(pic, pid);
	for (uint32_t i = 0; i < p->holding_count; i++)
		if (pic->holdings[p->first_holding + i].device == device)
			return &pic->holdings[p->first_holding + i];
	fail_msg("process %d has nothing on device %zu", pid, device);
	return NULL;
}

static inline const struct tdm_picture_problem *find_problem(const struct tdm_picture *pic, const char *part)
{
	for (size_t i = 0; i < pic->problem_count; i++)
		if (strstr(pic->problems[i].text, part) != NULL || strstr(pic->problems[i].place, part) != NULL)
			return &pic->problems[i];
	return NULL;
}

static inline uint32_t source_bit(enum tdm_from from)
{
	return UINT32_C(1) << from;
}

#endif
