/* Records of logs: every form of line, and lines that look like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "log_records.h"

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
	assert_int_equal(one("[PID 12] Allocated 4096 bytes of DRAM on device 3 (buffer_id=none)").count, 1);
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
	assert_int_equal(r.count, 2); /* nobody says which tiles the 52 KB are: no size is made up */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tdm_input_close(input);
	return failed;
}
