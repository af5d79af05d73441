#include "baseline_counters.h"

#include <assert.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CHIPS = 16, PROCESSES = 64 };
#define CHIP_UNUSED UINT32_MAX

enum total { TOTAL_DRAM, TOTAL_L1, TOTAL_L1_SMALL, TOTAL_TRACE, TOTAL_CB, TOTALS };

struct chip {
	_Atomic uint32_t chip, is_remote;
	_Atomic uint64_t totals[TOTALS];
};

struct process {
	_Atomic int32_t pid;
	_Atomic uint64_t totals[TOTALS];
	_Atomic uint64_t updated_ns;
	char name[64];
};

struct region {
	alignas(64) uint32_t version;
	uint32_t processes_active;
	_Atomic uint64_t updated_ns;
	_Atomic uint32_t references;
	uint64_t board_serial, asic_id;
	uint32_t device;
	_Atomic uint64_t totals[TOTALS];
	struct chip chips[CHIPS];
	struct process processes[PROCESSES];
};
static_assert(offsetof(struct region, totals) == 48, "the runtime's layout");
static_assert(offsetof(struct region, chips) == 88, "the runtime's layout");
static_assert(offsetof(struct region, processes) == 856, "the runtime's layout");
static_assert(sizeof(struct region) == 8576, "the runtime's layout");

struct baseline_counters {
	struct region *region;
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct chip *find_chip(struct region *r, uint32_t chip)
{
	for (size_t i = 0; i < CHIPS; i++)
		if (atomic_load_explicit(&r->chips[i].chip, memory_order_relaxed) == chip)
			return &r->chips[i];
	for (size_t i = 0; i < CHIPS; i++) {
		uint32_t expected = CHIP_UNUSED;
		if (atomic_compare_exchange_strong(&r->chips[i].chip, &expected, chip) || expected == chip)
			return &r->chips[i];
	}
	return NULL;
}

static struct process *find_process(struct region *r, pid_t pid)
{
	for (size_t i = 0; i < PROCESSES; i++)
		if (atomic_load(&r->processes[i].pid) == pid)
			return &r->processes[i];
	for (size_t i = 0; i < PROCESSES; i++) {
		int32_t expected = 0;
		if (atomic_compare_exchange_strong(&r->processes[i].pid, &expected, pid)) {
			r->processes_active++;
			return &r->processes[i];
		}
	}
	return NULL;
}

static void add(_Atomic uint64_t totals[TOTALS], enum baseline_type type, uint64_t bytes)
{
	switch (type) {
	case BASELINE_DRAM:
		atomic_fetch_add_explicit(&totals[TOTAL_DRAM], bytes, memory_order_relaxed);
		break;
	case BASELINE_L1:
		atomic_fetch_add_explicit(&totals[TOTAL_L1], bytes, memory_order_relaxed);
		break;
	case BASELINE_L1_SMALL:
		atomic_fetch_add_explicit(&totals[TOTAL_L1_SMALL], bytes, memory_order_relaxed);
		break;
	case BASELINE_TRACE:
		atomic_fetch_add_explicit(&totals[TOTAL_TRACE], bytes, memory_order_relaxed);
		break;
	case BASELINE_CB:
		atomic_fetch_add_explicit(&totals[TOTAL_CB], bytes, memory_order_relaxed);
		break;
	case BASELINE_SYSTEM:
		break;
	}
}

/* Stops at 0 instead of wrapping. */
static void subtract_from(_Atomic uint64_t *total, uint64_t bytes)
{
	uint64_t old = atomic_load_explicit(total, memory_order_relaxed), new;
	do
		new = old < bytes ? 0 : old - bytes;
	while (!atomic_compare_exchange_weak_explicit(total, &old, new, memory_order_relaxed, memory_order_relaxed));
}

static void subtract(_Atomic uint64_t totals[TOTALS], enum baseline_type type, uint64_t bytes)
{
	switch (type) {
	case BASELINE_DRAM:
		subtract_from(&totals[TOTAL_DRAM], bytes);
		break;
	case BASELINE_L1:
		subtract_from(&totals[TOTAL_L1], bytes);
		break;
	case BASELINE_L1_SMALL:
		subtract_from(&totals[TOTAL_L1_SMALL], bytes);
		break;
	case BASELINE_TRACE:
		subtract_from(&totals[TOTAL_TRACE], bytes);
		break;
	case BASELINE_CB:
		subtract_from(&totals[TOTAL_CB], bytes);
		break;
	case BASELINE_SYSTEM:
		break;
	}
}

void baseline_counters_alloc(
	struct baseline_counters *c, pid_t pid, uint64_t bytes, enum baseline_type type, uint32_t chip_number)
{
	struct region *r = c->region;
	if (r == NULL)
		return;
	add(r->totals, type, bytes);
	struct chip *chip = find_chip(r, chip_number);
	if (chip != NULL)
		add(chip->totals, type, bytes);
	atomic_store_explicit(&r->updated_ns, now_ns(), memory_order_relaxed);
	struct process *process = find_process(r, pid);
	if (process != NULL) {
		add(process->totals, type, bytes);
		atomic_store_explicit(&process->updated_ns, now_ns(), memory_order_relaxed);
	}
}

void baseline_counters_release(
	struct baseline_counters *c, pid_t pid, uint64_t bytes, enum baseline_type type, uint32_t chip_number)
{
	struct region *r = c->region;
	if (r == NULL)
		return;
	subtract(r->totals, type, bytes);
	struct chip *chip = find_chip(r, chip_number);
	if (chip != NULL)
		subtract(chip->totals, type, bytes);
	atomic_store_explicit(&r->updated_ns, now_ns(), memory_order_relaxed);
	struct process *process = find_process(r, pid);
	if (process != NULL) {
		subtract(process->totals, type, bytes);
		atomic_store_explicit(&process->updated_ns, now_ns(), memory_order_relaxed);
	}
}

uint64_t baseline_counters_l1(const struct baseline_counters *c)
{
	return atomic_load(&c->region->totals[TOTAL_L1]);
}

static struct region *map_region(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	void *map = MAP_FAILED;
	if (ftruncate(fd, sizeof(struct region)) == 0)
		map = mmap(NULL, sizeof(struct region), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

struct baseline_counters *baseline_counters_open(const char *path, uint32_t device)
{
	struct baseline_counters *c = malloc(sizeof *c);
	struct region *r = c == NULL ? NULL : map_region(path);
	if (r == NULL) {
		free(c);
		return NULL;
	}
	r->version = 3;
	r->references = 1;
	r->device = device;
	for (size_t i = 0; i < CHIPS; i++)
		atomic_store(&r->chips[i].chip, i == 0 ? device : CHIP_UNUSED);
	c->region = r;
	return c;
}

void baseline_counters_close(struct baseline_counters *c)
{
	if (c == NULL)
		return;
	munmap(c->region, sizeof *c->region);
	free(c);
}
