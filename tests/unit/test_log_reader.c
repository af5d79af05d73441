/*
 * Records of logs: prefixes, every form of line, golden logs, and what is not a line about memory.
 *
 * Long: each form has its case, and all of them are read by the same few lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/file.h"
#include "sources/log_reader.h"
#include "open_input.h"
#include "sources/log_sample.h"

#define U TDM_LOG_UNKNOWN

/* The records of a text; texts of theirs are only good for the last line. */
struct records {
	struct tdm_log_record at[64];
	size_t count, repeats, refused;
};

static struct tdm_log_reader reader;
static struct tdm_input *input; /* that it reads */

static struct records read_text(const char *text, size_t len)
{
	struct records r = { .count = 0 };
	struct tdm_diag diag = { 0 };
	int got;
	tdm_input_close(input);
	input = input_of_text(text, len);
	assert_int_equal(tdm_log_reader_open(&reader, input), 0);
	tdm_log_reader_sample(&reader);
	while ((got = tdm_log_reader_next(&reader, &r.at[r.count < 63 ? r.count : 63], &diag)) != 0) {
		if (got < 0) {
			r.refused++;
			assert_true(diag.line != 0 && diag.text[0] != '\0');
			continue;
		}
		assert_true(tdm_log_record_is_valid(&r.at[r.count]));
		r.repeats += r.at[r.count].is_repeat;
		assert_true(r.count++ < 63);
	}
	return r;
}

/* The one record of a line. */
static struct tdm_log_record one(const char *line)
{
	static char kept[1024];
	tdm_log_reader_done(&reader);
	snprintf(kept, sizeof kept, "%s", line);
	struct records r = read_text(kept, strlen(kept));
	if (r.count != 1)
		fail_msg("%zu records in: %s", r.count, line);
	return r.at[0];
}

static int tear_down(void **state)
{
	(void)state;
	tdm_log_reader_done(&reader);
	return 0;
}

static void prefixes(void **state)
{
	struct tdm_log_prefix p;
	(void)state;
	tdm_log_prefix_parse(
		tdm_str_of("2026-11-15 07:36:20.265 | critical |          Always | TT_FATAL: x (y) (assert.hpp:104)"),
		&p);
	assert_true(p.is_logger && p.level == TDM_LOG_LEVEL_CRITICAL && tdm_str_is(p.name, "Always"));
	assert_true(tdm_str_is(p.message, "TT_FATAL: x (y)") && tdm_str_is(p.location, "assert.hpp:104"));
	assert_true(p.time_ns == UINT64_C(1794728180265) * 1000000);
	tdm_log_prefix_parse(tdm_str_of("[1,3]<stdout>:                 Always |     INFO | text (no place)"), &p);
	assert_true(p.is_logger && p.level == TDM_LOG_LEVEL_INFO && p.rank == 3 && p.time_ns == 0);
	assert_true(tdm_str_is(p.message, "text (no place)") && p.location.len == 0);
	tdm_log_prefix_parse(tdm_str_of("2026-01-31T12:00:00.1234567Z 2024-02-29 23:59:59.999 | warn | Metal | m"), &p);
	assert_true(p.level == TDM_LOG_LEVEL_WARNING && p.time_ns == UINT64_C(1709251199999) * 1000000);
	tdm_log_prefix_parse(tdm_str_of("2026-01-31T12:00:00.1234567Z plain text"), &p);
	assert_true(!p.is_logger && p.time_ns == UINT64_C(1769860800123456700) && tdm_str_is(p.message, "plain text"));
	tdm_log_prefix_parse(tdm_str_of("0:(x=1,y=2):TR0: COMPUTE KERNEL COMPLETE"), &p);
	assert_true(p.has_core && p.device == 0 && p.core.x0 == 1 && p.core.y1 == 2 && tdm_str_is(p.name, "TR0"));
	assert_true(tdm_str_is(p.message, "COMPUTE KERNEL COMPLETE"));
	/* Behind what a journal, a container or a script puts before each line. */
	tdm_log_prefix_parse(
		tdm_str_of("Nov 15 07:36:20 host python3[42]: 2026-11-15 07:36:20.265 | info     |           Metal | "
			   "m (x.cpp:1)"),
		&p);
	assert_true(p.is_logger && p.level == TDM_LOG_LEVEL_INFO && tdm_str_is(p.name, "Metal"));
	assert_true(tdm_str_is(p.message, "m") && p.time_ns == UINT64_C(1794728180265) * 1000000);
	tdm_log_prefix_parse(tdm_str_of("[1,3]<stdout>:worker-1  | 2026-11-15 07:36:20.265 | info | Metal | text"), &p);
	assert_true(p.is_logger && p.rank == 3 && tdm_str_is(p.message, "text"));
	tdm_log_prefix_parse(tdm_str_of("since 2026-11-15 07:36:20.265 | nothing | was said |"), &p);
	assert_true(!p.is_logger && p.time_ns == 0);
	static const char *const none[] = { "", " ", "2026-13-01 00:00:00", "2026-01-01 24:00:00",
		"1969-01-01 00:00:00", "a | b | c", "2026-11-15" };
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		tdm_log_prefix_parse(tdm_str_of(none[i]), &p);
		assert_true(p.time_ns == 0 && !p.is_logger && tdm_str_is(p.message, none[i]));
	}
}

static void colours(void **state)
{
	char text[] = "\033[90m2026\033[0m\033[1;31mx\033[?25ly\033";
	size_t len = tdm_log_strip_colour(text, sizeof text - 1);
	(void)state;
	assert_true(tdm_str_is((struct tdm_str){ text, len }, "2026xy\033"));
	struct tdm_log_record r = one(
		"\033[90m2026-11-15 07:37:02.392\033[0m | \033[32minfo    \033[0m | \033[35m          Metal\033[0m | "
		"\033[37mSHM record_allocation: pid=7, type=DRAM, size=64 B (0 KB), chip_id=0, device_id=3, "
		"asic_id=0x0\033[0m \033[90m(memory_stats_shm.cpp:315)\033[0m\r\n");
	assert_int_equal(r.type, TDM_LOG_ALLOC);
	assert_true(r.pid == 7 && r.device == 3 && r.bytes == 64 && r.level == TDM_LOG_LEVEL_INFO && r.time_ns != 0);
}

/* What the runtime calls a kind, and what it is. */
static void mislabelled_kinds(void **state)
{
	static const struct {
		const char *label;
		uint8_t kind;
	} kinds[] = { { "DRAM", TDM_KIND_DRAM }, { "L1", TDM_KIND_L1 }, { "L1_SMALL", TDM_KIND_SYSTEM },
		{ "TRACE", TDM_KIND_L1_SMALL }, { "CB", TDM_KIND_TRACE }, { "UNKNOWN", TDM_KIND_CB } };
	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char line[256];
		snprintf(line, sizeof line,
			"SHM record_deallocation: pid=1, type=%s, size=4096 B (4 KB), chip_id=0, device_id=0, "
			"asic_id=0x0",
			kinds[i].label);
		struct tdm_log_record r = one(line);
		assert_int_equal(r.type, TDM_LOG_FREE);
		assert_int_equal(r.kind, kinds[i].kind);
	}
}

static void runtime_forms(void **state)
{
	struct tdm_log_record r = one("Configured partition params: worker_l1_size:0x16E000, "
				      "l1_unreserved_base:0x19CC0, l1_small_size:0x8000, "
				      "disable_interleaved:false, l1_alignment:16, dram_alignment:32");
	(void)state;
	assert_int_equal(r.type, TDM_LOG_GEOMETRY);
	assert_true(r.geometry.worker_l1_size == 1499136 && r.geometry.l1_base == 105664 &&
		    r.geometry.l1_small_size == 32768);
	assert_true(r.geometry.l1_bank_size == U && r.geometry.dram_alignment == 32);
	r = one("Derived partition params: l1_bank_size:0x154340, interleaved_address_limit:0x19CC0, "
		"allocatable_l1_size:0x14C340");
	assert_true(r.geometry.l1_bank_size == 1393472 && r.geometry.allocatable_l1_size == 1360704 &&
		    r.geometry.l1_base == U);
	r = one("Begin op: ttnn::add with blanks");
	assert_true(r.type == TDM_LOG_OP_BEGIN && tdm_str_is(r.name, "ttnn::add with blanks"));
	r = one("End op: ttnn::add (duration: 1234 ns)");
	assert_true(r.type == TDM_LOG_OP_END && tdm_str_is(r.name, "ttnn::add") && r.duration_ns == 1234);
	r = one("RISC=0, name=reader_unary, size=2048 (bytes)");
	assert_true(r.type == TDM_LOG_KERNEL_SIZE && tdm_str_is(r.name, "reader_unary") && r.bytes == 2048);
	r = one("Kernel Binary (MCAST): core 1-1, L1_addr=0x9000, size=512 bytes");
	assert_true(r.type == TDM_LOG_KERNEL_SIZE && r.id == 0x9000 && r.bytes == 512);
	r = one("Program Config Buffer:    4096 bytes");
	assert_true(r.type == TDM_LOG_PROGRAM_SIZE && tdm_str_is(r.name, "Config Buffer") && r.bytes == 4096);
}

/* What older releases say about L1. */
static void older_lines_about_l1(void **state)
{
	struct tdm_log_record r = one("Configured partition params: mem_mailbox_base:0x10, storage_core_bank_size:0x0, "
				      "worker_l1_size:0x16E000, l1_unreserved_base:0x19CC0, l1_small_size:0x8000, "
				      "disable_interleaved:false, l1_alignment:16");
	(void)state;
	assert_int_equal(r.type, TDM_LOG_GEOMETRY);
	assert_true(r.geometry.worker_l1_size == 1499136 && r.geometry.l1_base == 105664);
	assert_true(r.geometry.l1_small_size == 32768 && r.geometry.l1_alignment == 16);
	assert_true(r.geometry.dram_alignment == TDM_BYTES_UNKNOWN);
	r = one("Configured partition params: worker_l1_size:0x16E000, l1_unreserved_base:0x19CC0, "
		"l1_small_size:0x8000, disable_interleaved:false, l1_alignment:16");
	assert_true(r.geometry.worker_l1_size == 1499136 && r.geometry.l1_alignment == 16);
	assert_true(r.geometry.dram_alignment == TDM_BYTES_UNKNOWN);
	r = one("Derived partition params: storage_core_unreserved_base:0x0, l1_bank_size:0x14C340, "
		"interleaved_address_limit:0x1, allocatable_l1_size:0x14C341, "
		"small_interleaved_address_limit:0x166000, "
		"small_alloc_offset:0x166000");
	assert_int_equal(r.type, TDM_LOG_GEOMETRY);
	assert_true(r.geometry.l1_bank_size == 0x14C340 && r.geometry.allocatable_l1_size == 0x14C341);
}

static void server_forms(void **state)
{
	struct tdm_log_record r =
		one("✓ [PID 12] Allocated 4096 bytes of L1_SMALL on device 3 (buffer_id=0x1a0000, ref_count=2)");
	(void)state;
	assert_true(r.type == TDM_LOG_ALLOC && r.dialect == TDM_LOG_BY_SERVER && r.pid == 12 && r.device == 3);
	assert_true(r.kind == TDM_KIND_L1_SMALL && r.bytes == 4096 && r.id == 0x1a0000 && r.count == 2);
	r = one("✓ [PID 12] Allocated 4096 bytes of DRAM on device 3 (buffer_id=1073741824)");
	assert_true(r.id == 1073741824 && r.count == 1);
	r = one("\xe2\x9c\x97 [PID 12] Freed buffer 0x50003000a0000 on device 0 (24576 bytes, ref_count=1 remaining)");
	assert_true(r.type == TDM_LOG_FREE && r.id == 0x50003000a0000 && r.bytes == 24576 && r.count == 1);
	r = one("? [PID 12] Freed buffer 0x5 on device 0 (24576 bytes, FINAL)"); /* the mark got lost in a conversion */
	assert_true(r.type == TDM_LOG_FREE && r.count == 0);
	r = one("✗ [PID 12] Freed buffer 1a on device 0 (24576 bytes)");
	assert_true(r.id == 0x1a && r.count == 0);
	r = one("⚠ [PID 12] Deallocation for unknown buffer 0x77 on device 1 (allocated before tracking started)");
	assert_true(r.type == TDM_LOG_UNKNOWN_FREE && r.id == 0x77 && r.device == 1);
	r = one("⚠ [PID 12] Deallocation for ALREADY FREED buffer 0x78 on device 1 (allocs=1 frees=2)");
	assert_true(r.type == TDM_LOG_UNKNOWN_FREE && r.id == 0x78);
	r = one("✓ [CB_ALLOC] Device 2: +1.5 MB (Total: 3 MB)");
	assert_true(
		r.type == TDM_LOG_ALLOC && r.kind == TDM_KIND_CB && r.bytes == 1572864 && r.device == 2 && r.pid == 0);
	r = one("✗ [KERNEL_UNLOAD] Fabric kernel on Device 1: -0.25 MB (Total: 0 MB)");
	assert_true(r.type == TDM_LOG_FREE && r.kind == TDM_KIND_KERNEL && r.bytes == 262144);
	r = one("   ✓ Removed 3 buffers (1.5 MB) from PID 12");
	assert_true(r.type == TDM_LOG_PROCESS_GONE && r.dialect == TDM_LOG_BY_SERVER && r.pid == 12);
	assert_true(r.count == 3 && r.bytes == 1572864);
}

/* The family of forms that programs print about circular buffers and kernels. */
static void workload_forms(void **state)
{
	static const struct {
		const char *line;
		uint8_t type;
		uint32_t cb;
		uint64_t tiles, bytes, cores, ns;
	} forms[] = {
		{ "DEBUG: CB1 allocated: 4 tiles, size=16384 bytes, cores=64", TDM_LOG_CB_ALLOC, 1, 4, 16384, 64, U },
		{ "Creating circular buffer 16 with 2 tiles (8KB)", TDM_LOG_CB_ALLOC, 16, 2, 8192, U, U },
		{ "CB[3] config: size=4096", TDM_LOG_CB_ALLOC, 3, U, 4096, U, U },
		{ "CB index 5 created on [0-0 - 7-7], 8 pages", TDM_LOG_CB_ALLOC, 5, 8, U, 64, U },
		{ "cb_reserve_back(1, 4)", TDM_LOG_CB_RESERVE, 1, 4, U, U, U },
		{ "cb_reserve_back(CB1, 4) waited 41 us", TDM_LOG_CB_RESERVE, 1, 4, U, U, 41000 },
		{ "cb_push_back(tt::CBIndex::c_16, 1)", TDM_LOG_CB_PUSH, 16, 1, U, U, U },
		{ "0:(x=1,y=1):NC: READER cb1 push 2 tiles", TDM_LOG_CB_PUSH, 1, 2, U, 1, U },
		{ "cb_wait_front: cb=0 n=2 wait=1.5ms", TDM_LOG_CB_WAIT, 0, 2, U, U, 1500000 },
		{ "CB 2: pop_front 3 tiles", TDM_LOG_CB_POP, 2, 3, U, U, U },
	};
	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct tdm_log_record r = one(forms[i].line);
		if (r.type != forms[i].type || r.cb != forms[i].cb || r.tiles != forms[i].tiles ||
			r.bytes != forms[i].bytes || r.cores != forms[i].cores || r.duration_ns != forms[i].ns)
			fail_msg("%s: type %d cb %u tiles %lld bytes %lld cores %lld ns %lld", forms[i].line, r.type,
				r.cb, (long long)r.tiles, (long long)r.bytes, (long long)r.cores,
				(long long)r.duration_ns);
		assert_int_equal(r.dialect, TDM_LOG_BY_WORKLOAD);
	}
}

static void a_list_of_circular_buffers(void **state)
{
	static const char line[] =
		"DEBUG: Scalable CB allocation - CB0:4, CB1:4, CB2+CB16:4 tiles. Total:12 tiles (48KB/48KB)";
	struct records r = read_text(line, sizeof line - 1);
	(void)state;
	assert_int_equal(r.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(r.at[i].type == TDM_LOG_CB_ALLOC && r.at[i].cb == i && r.at[i].tiles == 4 &&
			    r.at[i].bytes == 16384);
	assert_true(r.at[1].name.len == 0 && tdm_str_is(r.at[2].name, "CB2+CB16"));
	tdm_log_reader_done(&reader);
	static const char other[] = "  CB allocation per core: CB0=5, CB1=4 tiles (52KB/120KB)";
	r = read_text(other, sizeof other - 1);
	assert_int_equal(r.count, 2); /* the tiles behind 52 KB are not said: no size is made up */
	assert_true(r.at[0].tiles == 5 && r.at[0].bytes == U && r.at[1].tiles == 4);
}

static void kernels_and_workloads(void **state)
{
	struct tdm_log_record r = one("Kernel 'reader_unary.cpp' finished in 12.5 us");
	(void)state;
	assert_true(r.type == TDM_LOG_KERNEL_END && tdm_str_is(r.name, "reader_unary.cpp") && r.duration_ns == 12500);
	r = one("Reader kernel complete.");
	assert_true(r.type == TDM_LOG_KERNEL_END && tdm_str_is(r.name, "Reader"));
	r = one("Launching kernel writer on 64 cores");
	assert_true(r.type == TDM_LOG_KERNEL_START && tdm_str_is(r.name, "writer") && r.cores == 64);
	tdm_log_reader_done(&reader);
	static const char start[] = "0:(x=1,y=1):TR0: COMPUTE KERNEL START: n_tiles=16, r_tiles=12";
	struct records both = read_text(start, sizeof start - 1);
	assert_int_equal(both.count, 2);
	assert_true(both.at[0].type == TDM_LOG_KERNEL_START && tdm_str_is(both.at[0].name, "COMPUTE"));
	assert_true(both.at[1].type == TDM_LOG_TILES && both.at[1].tiles == 16 && both.at[1].b_tiles == 12 &&
		    both.at[1].a_tiles == U);
	r = one("DEBUG: num_tiles=16, mesh_devices=2, tiles_per_shard=8");
	assert_true(
		r.type == TDM_LOG_TILES && r.a_tiles == 16 && r.devices == 2 && r.shard_tiles == 8 && r.b_tiles == U);
	r = one("B tiles (replicated): 20");
	assert_true(r.b_tiles == 20 && r.a_tiles == U);
	r = one("INFO: Large workload detected (18 A tiles, 36 B tiles) - using streaming mode");
	assert_true(r.shard_tiles == 18 && r.b_tiles == 36 && r.a_tiles == U);
	r = one("Distributed elementwise add verification: 16384 / 16384 passed");
	assert_true(r.type == TDM_LOG_VERIFICATION && r.tiles == 16384 && r.count == 16384);
	tdm_log_reader_done(&reader);
	static const char wrong[] = "Distributed elementwise add verification: 14343 / 16384 passed";
	both = read_text(wrong, sizeof wrong - 1);
	assert_int_equal(both.count, 2);
	assert_true(both.at[0].type == TDM_LOG_VERIFICATION && both.at[0].tiles == 14343);
	assert_true(both.at[1].type == TDM_LOG_FAILURE && both.at[1].failure.wrong == 2041);
}

/* What could not be noted in shared memory was allocated all the same; its kind is a number there. */
static void buffers_that_shared_memory_missed(void **state)
{
	static const uint8_t kinds[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_SYSTEM, TDM_KIND_L1_SMALL, TDM_KIND_TRACE,
		TDM_KIND_CB };
	(void)state;
	for (size_t i = 0; i < sizeof kinds; i++) {
		char line[256];
		snprintf(line, sizeof line,
			"SHM record_%s SKIPPED: region_ is nullptr (pid=7, size=64 B, type=%zu, chip_id=3)",
			i % 2 == 0 ? "allocation" : "deallocation", i);
		struct tdm_log_record r = one(line);
		assert_int_equal(r.type, i % 2 == 0 ? TDM_LOG_ALLOC : TDM_LOG_FREE);
		assert_true(r.kind == kinds[i] && r.pid == 7 && r.bytes == 64 && r.device == 3);
	}
}

static void lines_that_say_nothing(void **state)
{
	static const char announced[] = "ShmTrackingProcessor::track_allocate: Calling SHM record_allocation "
					"(device_id=0, type=1, size=64 B, pid=7)";
	static const char *const lines[] = { "cb 3 x 8192 B", "the kernel is warm", "CB99 allocated: 4 tiles",
		"cb_reserve_back()", "SHM Provider initialized: device_id=0", "Worker L1 size: 1393472 Max: 1464128",
		"channel CB allocated", "Device DRAM memory state: unknown", "verification: all / 5 passed",
		"tiles_per_shard of A", "Removed 3 buffers (1.5 MB) from PID 0",
		"Removed 3 buffers (1.5 MB) from PID 99999999999", "a message from PID 12", announced };
	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct records r = read_text(lines[i], strlen(lines[i]));
		if (r.count != 0)
			fail_msg("a record (%s) in: %s", tdm_log_type_name((enum tdm_log_type)r.at[0].type), lines[i]);
		if (r.refused != 0)
			fail_msg("refused: %s", lines[i]);
		tdm_log_reader_done(&reader);
	}
}

/* A line that begins as one about amounts and cannot be used is not passed over in silence. */
static void bad_amounts_cost_a_warning_each(void **state)
{
	static const char *const lines[] = {
		"SHM record_allocation: pid=1, type=MOON, size=1 B (0 KB), chip_id=0, device_id=0",
		"SHM record_allocation: pid=1, type=L1, size=99999999999999999999 B (0 KB), chip_id=0, device_id=0",
		"SHM record_deallocation: pid=1, type=L1, size=-4096 B (4 KB), chip_id=0, device_id=0",
		"SHM record_alloc",
		"SHM record_allocation SKIPPED: region_ is nullptr (pid=7, size=64 B, type=6, chip_id=0)",
		"✓ [PID 1] Allocated 99999999999999999999 bytes of L1 on device 0 (buffer_id=1)",
		"✓ [PID 1] Allocated many bytes of L1 on device 0 (buffer_id=1)",
		"✗ [PID 1] Freed buffer 12 on device 0 (-5 bytes)",
		"[CB_ALLOC] Device 0: +x MB",
		"Device DRAM memory state: MemoryView{numBanks: 12, totalBytesPerBank: 99999999999999999999.000 MB, "
		"totalBytesAllocatedPerBank: 0.008 MB, totalBytesFreePerBank: 1 MB, largestContiguousBytesFreePerBank: "
		"1 MB}",
		"Device DRAM memory state: MemoryView{numBanks: 12, totalBytesPer",
	};
	static const char good[] = "\n2026-11-15 07:36:20.265 | info | Metal | SHM record_allocation: pid=1, type=L1, "
				   "size=64 B (0 KB), chip_id=0, device_id=0, asic_id=0x0 (a.cpp:1)\n";
	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		char text[1024];
		snprintf(text, sizeof text, "%s%s", lines[i], good);
		struct records r = read_text(text, strlen(text));
		if (r.refused != 1 || r.count != 1 || r.at[0].line != 2 || reader.counts.refused_lines != 1)
			fail_msg("%zu refused, %zu records: %s", r.refused, r.count, lines[i]);
		tdm_log_reader_done(&reader);
	}
}

/* A launcher's name before a line does not hide it. */
static void words_before_a_line_of_shared_memory(void **state)
{
	struct tdm_log_record r = one("worker 3: SHM record_allocation: pid=9, type=DRAM, size=64 B (0 KB), "
				      "chip_id=0, device_id=2, asic_id=0x0");
	(void)state;
	assert_true(r.type == TDM_LOG_ALLOC && r.pid == 9 && r.device == 2 && r.bytes == 64);
}

/* Folds a text after so many bytes, anywhere or at the last blank before. */
static void fold(const char *text, size_t width, bool at_blank, char *dst, size_t cap)
{
	size_t put = 0, len = strlen(text);
	while (len > width) {
		size_t cut = width;
		while (at_blank && cut > 1 && text[cut] != ' ')
			cut--;
		assert_true(put + cut + 1 < cap);
		memcpy(dst + put, text, cut);
		put += cut;
		dst[put++] = '\n';
		cut += at_blank;
		text += cut;
		len -= cut;
	}
	assert_true((size_t)snprintf(dst + put, cap - put, "%s\n", text) < cap - put);
}

static void folded_sentences(void **state)
{
	static const struct {
		const char *text;
		uint8_t type;
		uint64_t asked, free, end;
	} said[] = {
		{ "Out of Memory: Not enough space to allocate 1048576 B L1 buffer across 64 banks, where each bank "
		  "needs to store 16384 B, but bank size is 1393472 B (allocated: 1000 B, free: 2000 B, largest free "
		  "block: 1500 B)",
			TDM_FAILURE_OUT_OF_MEMORY, 1048576, 2000, U },
		{ "Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-0 - 7-7]. "
		  "L1 buffer allocated at 491520 and static circular buffer region ends at 778240",
			TDM_FAILURE_CLASH, U, U, 778240 },
		{ "Program size (80000) too large for kernel config buffer (70656) on TENSIX", TDM_FAILURE_PROGRAM_SIZE,
			80000, U, U },
	};
	(void)state;
	for (size_t i = 0; i < sizeof said / sizeof *said; i++)
		for (int at_blank = 0; at_blank < 2; at_blank++) {
			char line[1024], text[2048];
			snprintf(line, sizeof line,
				"2026-11-15 07:36:20.265 | critical |          Always | TT_FATAL: %s (assert.hpp:104)",
				said[i].text);
			fold(line, 80, at_blank, text, sizeof text);
			strcat(text, "2026-11-15 07:36:20.265 | info     |          Always | on\n");
			struct records r = read_text(text, strlen(text));
			const struct tdm_failure *f = &r.at[0].failure;
			if (r.count - r.repeats != 1 || f->type != said[i].type || f->asked != said[i].asked ||
				f->free != said[i].free || f->region_end != said[i].end || r.at[0].time_ns == 0)
				fail_msg("%zu of %zu: %s", r.count - r.repeats, r.count, text);
			tdm_log_reader_done(&reader);
		}
}

/* Every figure counts when two readings of a sentence are compared: the longer one says the placeable bytes as well. */
static void a_folded_sentence_keeps_all_figures(void **state)
{
	static const char text[] =
		"Out of Memory: Not enough space after considering dependencies to allocate 4096 B L1 across 64 banks "
		"(64 B per bank), bank size is 9999 B (allocated: 7 B, free: 300 B, largest free block: 200 B). After\n"
		"subtracting 1 dependency range(s) and 2 additional occupied range(s), 192 B remained placeable across "
		"3 window(s), largest 96 B\n";
	struct records r = read_text(text, sizeof text - 1);
	(void)state;
	assert_int_equal(r.count - r.repeats, 1);
	assert_true(r.at[0].failure.type == TDM_FAILURE_DEPENDENCIES && r.at[0].failure.largest_free == 200);
	assert_true(r.at[0].failure.placeable == 192 && r.at[0].failure.largest_placeable == 96);
}

/* What stands in the next line is not taken for the rest of a sentence that is whole. */
static void whole_sentences_are_not_joined(void **state)
{
	static const char text[] = "Out of Memory: Not enough space to allocate 4096 B L1 buffer across 64 banks, "
				   "where each bank needs to "
				   "store 64 B\n12 tests failed\n"
				   "Worker L1 size 1500000 is larger than max size 149\n9136 of them\n"
				   "Worker L1 size 1500000 is larger than max size 5\n14 A tiles, 15 B tiles\n";
	struct records r = read_text(text, sizeof text - 1);
	(void)state;
	assert_int_equal(r.count, 4);
	assert_true(r.at[2].failure.limit == 5 && r.at[3].type == TDM_LOG_TILES && r.at[3].b_tiles == 15);
	assert_true(r.at[0].failure.bytes_per_bank == 64 && r.at[0].failure.bank_size == U);
	assert_true(r.at[1].failure.limit == 149);
}

#define CLASH_BEGIN "clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer\n"
#define CLASH_END   "allocated at 491520 and static circular buffer region ends at 778240\n"

/* Found where it begins, and once, whichever of its lines have words that are looked for. */
static void a_folded_sentence_is_one_record(void **state)
{
	static const char *const texts[] = {
		"Statically allocated circular buffers in program 1 " CLASH_BEGIN CLASH_END,
		"Statically allocated circular\nbuffers in program 1 " CLASH_BEGIN CLASH_END,
		"[1,0]<stderr>:Statically allocated circular buffers in program 1 " CLASH_BEGIN CLASH_END,
		"[1,0]<stderr>:Statically allocated circular buffers in program 1 " CLASH_BEGIN
		"[1,0]<stderr>:" CLASH_END,
		"[1,0]<stderr>:Statically allocated\ncircular buffers in program 1 " CLASH_BEGIN CLASH_END,
	};
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct records r = read_text(texts[i], strlen(texts[i]));
		if (r.count != 1 || r.at[0].failure.type != TDM_FAILURE_CLASH || r.at[0].failure.region_end != 778240 ||
			r.at[0].rank != (i < 2 ? TDM_LOG_NO_RANK : 0))
			fail_msg("%zu records: %s", r.count, texts[i]);
		tdm_log_reader_done(&reader);
	}
}

/* Ranks print in turns: what another one says is not the rest of a sentence; nor is what follows a long line. */
static void lines_of_others_are_not_joined(void **state)
{
	static const char text[] =
		"[1,0]<stderr>:Out of Memory: Not enough space to allocate 4096 B L1 buffer across 64 banks, where "
		"each bank needs to store 64 B\n[1,1]<stderr>:, but bank size is 99 B\n"
		"[1,1]<stderr>:Statically allocated circular buffers in program 1 " CLASH_BEGIN
		"[1,2]<stderr>:" CLASH_END;
	struct records r = read_text(text, sizeof text - 1);
	(void)state;
	assert_int_equal(r.count, 1);
	assert_true(r.at[0].rank == 0 && r.at[0].failure.bytes_per_bank == 64 && r.at[0].failure.bank_size == U);
	tdm_log_reader_done(&reader);
	static const char begin[] = "Out of Memory: Not enough space to allocate ", end[] = "4096 B L1 buffer\n";
	struct tdm_buf wide;
	tdm_buf_init(&wide);
	tdm_buf_fill(&wide, '.', 512 - (sizeof begin - 1)); /* as if it ended where it is cut */
	tdm_buf_puts(&wide, begin);
	tdm_buf_puts(&wide, "no more\n");
	tdm_buf_puts(&wide, end);
	r = read_text(wide.data, wide.len);
	assert_true(r.count == 1 && r.at[0].failure.type == TDM_FAILURE_OTHER);
	tdm_buf_done(&wide);
}

/* The name in the summary of a test, where line breaks are written out. */
static void a_segment_in_the_summary_of_a_test(void **state)
{
	static const char text[] =
		"2026-11-15 07:36:20.265 | critical |          Always | TT_FATAL: /c/brisc.elf: segment[0] "
		"[0x1000,+0x2000) overflows region:3 limit of 0x1c00 bytes, reduce the size of code (a.hpp:1)\n"
		"FAILED test.py::t - RuntimeError: TT_FATAL @ a.cpp:1: false\\ninfo:\\n/c/brisc.elf: segment[0] "
		"[0x1000,+0x2000) overflows region:3 limit of 0x1c00 bytes, reduce the size of code\\nbacktrace:\n";
	struct records r = read_text(text, sizeof text - 1);
	(void)state;
	assert_int_equal(r.count, 2);
	assert_int_equal(r.repeats, 1);
	assert_true(tdm_str_is(r.at[1].failure.name, "/c/brisc.elf"));
}

static struct records read_golden(const char *name, struct tdm_buf *text)
{
	char path[512];
	snprintf(path, sizeof path, TDM_TEST_DATA "/logs/%s", name);
	tdm_buf_init(text);
	assert_int_equal(tdm_file_read(path, 1 << 20, text), 0);
	return read_text(text->data, text->len);
}

/* Each failure stands in these logs twice. */
static void golden_logs(void **state)
{
	static const uint8_t types[] = { TDM_FAILURE_OUT_OF_MEMORY, TDM_FAILURE_OUT_OF_MEMORY, TDM_FAILURE_BEYOND_L1 };
	static const uint64_t lines[] = { 31, 33, 35 };
	struct tdm_buf text;
	struct records r = read_golden("demo.log", &text);
	(void)state;
	assert_int_equal(r.count, 6);
	assert_int_equal(r.repeats, 3);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(r.at[i].failure.type, types[i / 2]);
		assert_int_equal(r.at[i].line, lines[i / 2] + i % 2);
		assert_int_equal(r.at[i].is_repeat, i % 2);
		assert_int_equal(r.at[i].time_is_near, i % 2);
	}
	assert_true(r.at[1].time_ns == r.at[0].time_ns && r.at[0].time_ns != 0);
	assert_true(
		reader.counts.sample_lines == 50 && reader.counts.logger_lines == 28 && reader.counts.debug_lines == 0);
	tdm_log_reader_done(&reader);
	tdm_buf_done(&text);
	r = read_golden("debug.log", &text);
	size_t allocs = 0, frees = 0, failures = 0, geometries = 0;
	for (size_t i = 0; i < r.count; i++) {
		allocs += r.at[i].type == TDM_LOG_ALLOC;
		frees += r.at[i].type == TDM_LOG_FREE;
		failures += r.at[i].type == TDM_LOG_FAILURE && !r.at[i].is_repeat;
		geometries += r.at[i].type == TDM_LOG_GEOMETRY;
	}
	assert_true(allocs == 2 && frees == 2 && failures == 1 && geometries == 6 && r.count == 12);
	assert_true(reader.counts.debug_lines > 20);
	tdm_buf_done(&text);
}

static void a_server_log_with_its_list(void **state)
{
	struct tdm_buf text;
	struct records r = read_golden("server.log", &text);
	(void)state;
	assert_int_equal(r.count, 8);
	assert_int_equal(r.at[7].type, TDM_LOG_REMAINING);
	assert_true(
		r.at[7].device == 1 && r.at[7].kind == TDM_KIND_DRAM && r.at[7].count == 1 && r.at[7].bytes == 12288);
	assert_false(reader.dump.inside);
	tdm_buf_done(&text);
}

/* A list that never ends must not make the reader look at every line for ever. */
static void a_list_without_an_end(void **state)
{
	struct tdm_buf text;
	(void)state;
	tdm_buf_init(&text);
	tdm_buf_puts(&text, "REMAINING ALLOCATED BUFFERS\nDevice 0:\n  L1: 2 buffers, 1.5 MB total\n");
	for (int i = 0; i < 20; i++)
		tdm_buf_puts(&text, "something else\n");
	struct records r = read_text(text.data, text.len);
	assert_int_equal(r.count, 1);
	assert_false(reader.dump.inside);
	tdm_buf_done(&text);
}

static void memory_states(void **state)
{
	struct tdm_buf text;
	struct records r = read_golden("states.log", &text);
	(void)state;
	assert_int_equal(r.count, 3);
	assert_true(r.at[0].type == TDM_LOG_OP_BEGIN && r.at[0].rank == 0);
	assert_true(r.at[1].type == TDM_LOG_MEMORY_STATE && r.at[1].kind == TDM_KIND_DRAM && r.at[1].view.banks == 12);
	assert_true(r.at[1].view.allocated == 13107200 && r.at[1].view.total == 1072619848);
	assert_true(r.at[2].kind == TDM_KIND_L1_SMALL && r.at[2].view.total == 32768 && r.at[2].view.allocated == 0);
	tdm_buf_done(&text);
}

static void a_long_line_is_one_warning(void **state)
{
	size_t len = 3 * (size_t)TDM_LOG_LINE_MAX;
	char *text = malloc(len + 64);
	(void)state;
	assert_non_null(text);
	memset(text, 'z', len);
	memcpy(text, "Out of Memory: Cannot allocate at an address below 7. Allocation at 5 ", 70);
	memcpy(text + len, "\ncb_push_back(1, 1)\n", 20);
	struct records r = read_text(text, len + 20);
	assert_int_equal(r.refused, 1);
	assert_int_equal(r.count, 2); /* the beginning of it counts */
	assert_true(r.at[0].failure.type == TDM_FAILURE_BELOW_LIMIT && r.at[1].cb == 1 && r.at[1].line == 2);
	free(text);
}

/* After a restart nothing of the file before counts. */
static void another_file_from_its_beginning(void **state)
{
	static const char said[] = "Worker L1 size 5 is larger than max size 4\n";
	char both[256];
	struct tdm_log_record r;
	struct tdm_diag diag = { 0 };
	(void)state;
	snprintf(both, sizeof both, "2026-11-15 07:36:20.265 | critical | Always | TT_FATAL: %s%s", said, said);
	struct tdm_input *first = input_of_text(both, strlen(both)), *second = input_of_text(said, strlen(said));
	assert_int_equal(tdm_log_reader_open(&reader, first), 0);
	assert_int_equal(tdm_log_reader_next(&reader, &r, &diag), 1);
	assert_true(!r.is_repeat && r.time_ns != 0);
	assert_int_equal(tdm_log_reader_next(&reader, &r, &diag), 1);
	assert_true(r.is_repeat);
	tdm_log_reader_restart(&reader, second);
	assert_int_equal(tdm_log_reader_next(&reader, &r, &diag), 1);
	assert_true(!r.is_repeat && r.time_ns == 0 && r.line == 1);
	tdm_input_close(first);
	tdm_input_close(second);
}

static void the_sample_has_everything(void **state)
{
	struct tdm_str text = tdm_log_sample_text();
	struct records r = read_text(text.ptr, text.len);
	unsigned seen = 0;
	(void)state;
	for (size_t i = 0; i < r.count; i++)
		seen |= 1U << r.at[i].type;
	static const uint8_t wanted[] = { TDM_LOG_FAILURE, TDM_LOG_ALLOC, TDM_LOG_GEOMETRY, TDM_LOG_KERNEL_START,
		TDM_LOG_KERNEL_END, TDM_LOG_CB_ALLOC, TDM_LOG_CB_RESERVE, TDM_LOG_CB_PUSH, TDM_LOG_CB_WAIT,
		TDM_LOG_CB_POP, TDM_LOG_TILES, TDM_LOG_VERIFICATION };
	for (size_t i = 0; i < sizeof wanted; i++)
		assert_true((seen & 1U << wanted[i]) != 0);
	assert_int_equal(r.repeats, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes),
		cmocka_unit_test_teardown(colours, tear_down),
		cmocka_unit_test_teardown(mislabelled_kinds, tear_down),
		cmocka_unit_test_teardown(runtime_forms, tear_down),
		cmocka_unit_test_teardown(older_lines_about_l1, tear_down),
		cmocka_unit_test_teardown(server_forms, tear_down),
		cmocka_unit_test_teardown(workload_forms, tear_down),
		cmocka_unit_test_teardown(a_list_of_circular_buffers, tear_down),
		cmocka_unit_test_teardown(kernels_and_workloads, tear_down),
		cmocka_unit_test_teardown(buffers_that_shared_memory_missed, tear_down),
		cmocka_unit_test(lines_that_say_nothing),
		cmocka_unit_test(bad_amounts_cost_a_warning_each),
		cmocka_unit_test_teardown(words_before_a_line_of_shared_memory, tear_down),
		cmocka_unit_test(folded_sentences),
		cmocka_unit_test_teardown(a_folded_sentence_keeps_all_figures, tear_down),
		cmocka_unit_test_teardown(whole_sentences_are_not_joined, tear_down),
		cmocka_unit_test(a_folded_sentence_is_one_record),
		cmocka_unit_test_teardown(lines_of_others_are_not_joined, tear_down),
		cmocka_unit_test_teardown(a_segment_in_the_summary_of_a_test, tear_down),
		cmocka_unit_test_teardown(golden_logs, tear_down),
		cmocka_unit_test_teardown(a_server_log_with_its_list, tear_down),
		cmocka_unit_test_teardown(a_list_without_an_end, tear_down),
		cmocka_unit_test_teardown(memory_states, tear_down),
		cmocka_unit_test_teardown(a_long_line_is_one_warning, tear_down),
		cmocka_unit_test_teardown(another_file_from_its_beginning, tear_down),
		cmocka_unit_test_teardown(the_sample_has_everything, tear_down),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tdm_input_close(input);
	return failed;
}
