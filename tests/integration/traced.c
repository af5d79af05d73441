/*
 * A program that does what a runtime in it would report about traces and its own allocator, for tests of the views. Its
 * first argument says what it does:
 *
 *   traces      captures a trace, allocates, frees and replays; the statistics agree
 *   mesh        the same buffer on four devices
 *   many        more places that allocate while a trace exists than there is room for
 *   differs     the runtime's allocator counts more than was reported
 *   dynamic     captures a trace on a device without a trace region
 *   clash       circular buffers grow into L1 buffers
 *   shared      three programs have their circular buffers at the same addresses
 *   wait        like traces, then prints "ready" and waits until its standard input ends
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tidemark.h"

enum { DEVICES = 4, PLACES = 600 };

static void describe(uint32_t number, uint32_t region_count)
{
	const struct tidemark_region regions[] = {
		{ .kind = TIDEMARK_DRAM, .banks = 12, .base = 32, .bank_size = UINT64_C(1) << 30, .align = 32 },
		{ .kind = TIDEMARK_L1, .banks = 64, .base = 100000, .bank_size = 1 << 20, .align = 16 },
		{ .kind = TIDEMARK_L1_SMALL, .banks = 64, .base = 1148576, .bank_size = 32768, .align = 32 },
		{ .kind = TIDEMARK_TRACE, .banks = 12, .base = UINT64_C(1) << 30, .bank_size = 1990656, .align = 32 },
	};
	struct tidemark_device device = TIDEMARK_DEVICE_INIT;
	device.number = number;
	device.card = "n150";
	device.chip_id = 0x1000 + number;
	device.has_chip_id = 1;
	device.grid_x = device.grid_y = 8;
	device.region_count = region_count;
	device.regions = regions;
	tidemark_describe_device(&device);
	tidemark_step(number, TIDEMARK_DEVICE_OPENED, 0);
}

__attribute__((noinline)) static void allocate(
	uint32_t device, uint32_t kind, uint64_t id, uint64_t per_bank, const char *name)
{
	struct tidemark_buffer buffer = TIDEMARK_BUFFER_INIT;
	buffer.device = device;
	buffer.kind = kind;
	buffer.id = id;
	buffer.address = id;
	buffer.bytes_per_bank = per_bank;
	buffer.bytes = per_bank * (kind == TIDEMARK_DRAM || kind == TIDEMARK_TRACE ? 12 : 64);
	buffer.name = tidemark_name(name);
	tidemark_alloc(&buffer);
}

static void capture(uint32_t device, uint64_t trace)
{
	tidemark_step(device, TIDEMARK_TRACE_BEGAN, trace);
	tidemark_step(device, TIDEMARK_TRACE_ENDED, trace);
}

/* weights from before the trace; kv_cache live at the replay, prompt freed before it, scratch after it */
__attribute__((noinline)) static void traces(uint32_t device)
{
	allocate(device, TIDEMARK_DRAM, 0x1000, 4096, "weights");
	allocate(device, TIDEMARK_L1_SMALL, 0x110000, 2048, "halo");
	capture(device, 7);
	allocate(device, TIDEMARK_TRACE, UINT64_C(1) << 30, 16384, "trace 7");
	tidemark_program("ttnn::add");
	for (uint64_t i = 0; i < 3; i++)
		allocate(device, TIDEMARK_DRAM, 0x4000 + 0x1000 * i, 4096, "kv_cache");
	tidemark_program(NULL);
	allocate(device, TIDEMARK_DRAM, 0x8000, 4096, "prompt");
	tidemark_free(device, TIDEMARK_DRAM, 0x8000);
	tidemark_step(device, TIDEMARK_TRACE_REPLAYED, 7);
	tidemark_step(device, TIDEMARK_TRACE_REPLAYED, 7);
	allocate(device, TIDEMARK_DRAM, 0x9000, 4096, "scratch");
	tidemark_report_statistics(device, TIDEMARK_DRAM, 5 * 4096, 1 << 20, 1 << 20);
	tidemark_report_statistics(device, TIDEMARK_L1_SMALL, 2048, 30720, 30720);
}

static void many(void)
{
	char name[32];
	capture(0, 1);
	for (uint64_t i = 0; i < PLACES; i++) {
		snprintf(name, sizeof name, "place %d", (int)i);
		allocate(0, TIDEMARK_DRAM, 0x1000 * (i + 1), 4096, name);
	}
	tidemark_step(0, TIDEMARK_TRACE_REPLAYED, 1);
}

static void shared(void)
{
	const struct tidemark_core_range all = { 0, 0, 7, 7 }, some = { 0, 0, 3, 7 };
	for (uint64_t program = 0; program < 3; program++) {
		struct tidemark_buffer buffer = TIDEMARK_BUFFER_INIT;
		buffer.kind = TIDEMARK_CB;
		buffer.flags = TIDEMARK_SHARED;
		buffer.id = program << 16;
		buffer.address = 100000;
		buffer.bytes_per_bank = 65536 >> program;
		buffer.bytes = buffer.bytes_per_bank * (program == 0 ? 32 : 64);
		buffer.range_count = 1;
		buffer.ranges = program == 0 ? &some : &all;
		buffer.name = tidemark_name("matmul");
		tidemark_alloc(&buffer);
		tidemark_report_core_use(0, TIDEMARK_CB, 65536, 65536 * 32 + (program != 0 ? 32768 * 32 : 0));
	}
}

/* One with L1 buffers, one beyond the end of L1, one that says nothing. */
static void clash(void)
{
	struct tidemark_clash clash = TIDEMARK_CLASH_INIT;
	tidemark_report_clash(&clash);
	clash.program = tidemark_name("matmul");
	clash.begin = 0x19000;
	clash.end = 0x5a000;
	clash.l1_lowest = 0x58000;
	clash.l1_size = 0x16e000;
	clash.cores.x1 = clash.cores.y1 = 1;
	clash.range_count = 1;
	tidemark_report_clash(&clash);
	clash.end = 0x17e000;
	tidemark_report_clash(&clash);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "traces";
	uint32_t devices = strcmp(what, "mesh") == 0 ? DEVICES : 1;
	for (uint32_t i = 0; i < devices; i++)
		describe(i, strcmp(what, "dynamic") == 0 ? 2 : 4);
	for (uint32_t i = 0; i < devices; i++) {
		if (strcmp(what, "traces") == 0 || strcmp(what, "mesh") == 0 || strcmp(what, "wait") == 0)
			traces(i);
	}
	if (strcmp(what, "many") == 0)
		many();
	if (strcmp(what, "differs") == 0) {
		allocate(0, TIDEMARK_DRAM, 0x1000, 4096, "weights");
		tidemark_report_statistics(0, TIDEMARK_DRAM, 12288, 1 << 20, 1 << 20);
	}
	if (strcmp(what, "dynamic") == 0)
		capture(0, 1);
	if (strcmp(what, "clash") == 0)
		clash();
	if (strcmp(what, "shared") == 0)
		shared();
	if (strcmp(what, "wait") == 0) {
		char c;
		puts("ready");
		fflush(stdout);
		return read(0, &c, 1) == 0 ? 0 : 1;
	}
	return 0;
}
