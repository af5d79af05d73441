/* The runtime's messages about memory: every generation of each, in every wrapping in which they occur. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/explain/failure_finding.h"
#include "analyze/explain/failure_finding.h"
#include "input/capture/core_ranges.h"
#include "input/log/error_text.h"

#define U TDM_BYTES_UNKNOWN
#define OOM                                                                                                            \
	"Out of Memory: Not enough space to allocate 268435456 B L1 buffer across 72 banks, where each bank needs to " \
	"store 3729408 B"
#define DEP                                                                                                           \
	"Out of Memory: Not enough space after considering dependencies to allocate 8192 B L1_SMALL across 64 banks " \
	"(128 B per bank)"
#define TAIL " (allocated: 96256 B, free: 1264448 B, largest free block: 640 B)"

static struct tdm_failure parse(const char *text)
{
	struct tdm_failure f;
	size_t end = 0;
	if (!tdm_error_text_find(tdm_str_of(text), 0, &f, &end))
		fail_msg("nothing found in: %s", text);
	assert_true(end <= strlen(text));
	return f;
}

/* Whether the text of the failure's finding has these words. */
static bool says(const struct tdm_failure *f, const char *words)
{
	struct tdm_buf text = { 0 };
	tdm_failure_put(f, &text);
	bool found = text.len != 0 && strstr(text.data, words) != NULL;
	tdm_buf_done(&text);
	return found;
}

static void assert_banks(const struct tdm_failure *f, const uint64_t wanted[7])
{
	const uint64_t have[7] = { f->asked, f->banks, f->bytes_per_bank, f->bank_size, f->allocated, f->free,
		f->largest_free };
	for (size_t i = 0; i < 7; i++)
		if (have[i] != wanted[i])
			fail_msg("figure %zu is %llu", i, (unsigned long long)have[i]);
}

static void out_of_memory_in_its_three_generations(void **state)
{
	struct tdm_failure f = parse(OOM ", but bank size is 1360704 B" TAIL);
	(void)state;
	assert_int_equal(f.type, TDM_FAILURE_OUT_OF_MEMORY);
	assert_int_equal(f.kind, TDM_KIND_L1);
	assert_banks(&f, (uint64_t[]){ 268435456, 72, 3729408, 1360704, 96256, 1264448, 640 });
	f = parse(OOM ", but bank size is only 1360704 B");
	assert_int_equal(f.type, TDM_FAILURE_OUT_OF_MEMORY);
	assert_banks(&f, (uint64_t[]){ 268435456, 72, 3729408, 1360704, U, U, U });
	f = parse(OOM ", but bank size is 1360704 B (allocated");
	assert_banks(&f, (uint64_t[]){ 268435456, 72, 3729408, 1360704, U, U, U });
	f = parse(OOM);
	assert_banks(&f, (uint64_t[]){ 268435456, 72, 3729408, U, U, U, U });
	f = parse("Out of Memory: Not enough space to allocate 12 B TRACE buf"); /* cut off */
	assert_int_equal(f.kind, TDM_KIND_TRACE);
	assert_banks(&f, (uint64_t[]){ 12, U, U, U, U, U, U });
}

static void dependencies_in_their_three_generations(void **state)
{
	struct tdm_failure f = parse(
		DEP ", bank size is 32768 B" TAIL ". After subtracting 1 dependency range(s) and 0 additional occupied "
		    "range(s), 192 B remained placeable across 2 window(s), largest 96 B (assert.hpp:104)");
	(void)state;
	assert_int_equal(f.type, TDM_FAILURE_DEPENDENCIES);
	assert_banks(&f, (uint64_t[]){ 8192, 64, 128, 32768, 96256, 1264448, 640 });
	assert_true(f.placeable == 192 && f.largest_placeable == 96);
	assert_int_equal(tdm_failure_cause(&f), TDM_CAUSE_FRAGMENTED);
	assert_true(says(&f, "; with its dependencies 192 B, in one piece 96 B;"));
	struct tdm_failure other = f;
	other.largest_placeable = 64;
	assert_false(tdm_failure_is_same(&f, &other));
	other.placeable = 127;
	assert_int_equal(tdm_failure_cause(&other), TDM_CAUSE_EXHAUSTED);
	f = parse(DEP ", bank size is 32768 B" TAIL);
	assert_int_equal(f.type, TDM_FAILURE_DEPENDENCIES);
	assert_int_equal(f.kind, TDM_KIND_L1_SMALL);
	assert_banks(&f, (uint64_t[]){ 8192, 64, 128, 32768, 96256, 1264448, 640 });
	assert_true(f.placeable == U && f.largest_placeable == U);
	f = parse(DEP);
	assert_int_equal(f.type, TDM_FAILURE_DEPENDENCIES);
	assert_banks(&f, (uint64_t[]){ 8192, 64, 128, U, U, U, U });
}

static void below_a_limit_and_unknown_words(void **state)
{
	struct tdm_failure f = parse("Out of Memory: Cannot allocate at an address below 105664. Allocation at 96");
	(void)state;
	assert_int_equal(f.type, TDM_FAILURE_BELOW_LIMIT);
	assert_int_equal(f.limit, 105664);
	assert_int_equal(f.address, 96);
	f = parse("Out of Memory: the moon is full");
	assert_int_equal(f.type, TDM_FAILURE_OTHER);
	assert_true(f.asked == U && f.kind == TDM_KIND_COUNT);
}

static void static_buffers(void **state)
{
	static const char *const ranges[] = { "[0-1 - 7-6]", "[(x=0,y=1) - (x=7,y=6)]" };
	static const char *const types[] = { "circular", "dataflow" };
	(void)state;
	for (size_t r = 0; r < 2; r++)
		for (size_t s = 0; s < 2; s++) {
			char text[512];
			snprintf(text, sizeof text,
				"Statically allocated %s buffers on core range %s grow to 1948864 B which is beyond "
				"max L1 size "
				"of 1499136 B",
				types[s], ranges[r]);
			struct tdm_failure f = parse(text);
			assert_int_equal(f.type, TDM_FAILURE_BEYOND_L1);
			assert_int_equal(f.is_dataflow, s == 1);
			assert_int_equal(f.region_end, 1948864);
			assert_int_equal(f.limit, 1499136);
			assert_true(f.has_range && f.range.x0 == 0 && f.range.y0 == 1 && f.range.x1 == 7 &&
				    f.range.y1 == 6);
			snprintf(text, sizeof text,
				"Statically allocated %s buffers in program 42 clash with L1 buffers on core range %s. "
				"L1 buffer "
				"allocated at 150000 and static %s buffer region ends at 171200",
				types[s], ranges[r], types[s]);
			f = parse(text);
			assert_int_equal(f.type, TDM_FAILURE_CLASH);
			assert_int_equal(f.is_dataflow, s == 1);
			assert_int_equal(f.program, 42);
			assert_int_equal(f.address, 150000);
			assert_int_equal(f.region_end, 171200);
			assert_true(f.has_range && f.range.y1 == 6);
		}
	struct tdm_failure f =
		parse("Circular buffers on service-core range [1-1 - 1-1] in program 3 clash with "
		      "ServiceCoreManager-allocated L1 (lowest service allocation at 500, CB region ends at 700)");
	assert_int_equal(f.type, TDM_FAILURE_SERVICE_CLASH);
	assert_true(f.program == 3 && f.address == 500 && f.region_end == 700 && f.range.x0 == 1);
}

static void the_other_sentences(void **state)
{
	struct tdm_failure f = parse("Program size (80000) too large for kernel config buffer (70656) on TENSIX");
	(void)state;
	assert_int_equal(f.type, TDM_FAILURE_PROGRAM_SIZE);
	assert_true(f.asked == 80000 && f.limit == 70656 && tdm_str_is(f.name, "TENSIX"));
	f = parse("Program size (80001) too large for kernel config buffer (70656) (assert.hpp:104)");
	assert_int_equal(f.type, TDM_FAILURE_PROGRAM_SIZE);
	assert_true(f.asked == 80001 && f.limit == 70656 && f.name.len == 0);
	f = parse(
		"Creating trace buffers of size 4096B on MeshDevice 1, but only 1024B is allocated for trace region.");
	assert_int_equal(f.type, TDM_FAILURE_TRACE_REGION);
	assert_true(f.asked == 4096 && f.limit == 1024);
	f = parse("Creating trace buffers of size 4097B on device 0, but only 0B is allocated for trace region.");
	assert_int_equal(f.type, TDM_FAILURE_TRACE_REGION);
	assert_true(f.asked == 4097 && f.limit == 0 && tdm_str_is(f.name, "0"));
	f = parse("Trace buffer at address 1073651712 overlaps with DRAM buffer");
	assert_int_equal(f.type, TDM_FAILURE_TRACE_OVERLAP);
	assert_true(f.address == 1073651712 && tdm_str_is(f.name, "DRAM"));
	f = parse("Worker L1 size 1500000 is larger than max size 1464128");
	assert_int_equal(f.type, TDM_FAILURE_WORKER_L1);
	assert_true(f.asked == 1500000 && f.limit == 1464128);
	f = parse("TT_THROW: /c/k/brisc.elf: segment[2] [0x8000,+0x2000) overflows region:.data limit of 0x1000 bytes, "
		  "reduce "
		  "the size of data");
	assert_int_equal(f.type, TDM_FAILURE_SEGMENT);
	assert_true(f.address == 0x8000 && f.asked == 0x2000 && f.limit == 0x1000);
	assert_true(tdm_str_is(f.name, "/c/k/brisc.elf"));
	f = parse("Cannot set circular buffer size to 8192. This is larger than the associated dynamically allocated "
		  "L1 buffer "
		  "bank size of 4096 B");
	assert_int_equal(f.type, TDM_FAILURE_CB_RESIZE);
	assert_true(f.asked == 8192 && f.limit == 4096);
	f = parse("Allocating device buffers is potentially unsafe due to the existence of an active trace. These "
		  "buffers may be "
		  "corrupted once a trace is executed.");
	assert_int_equal(f.type, TDM_FAILURE_UNSAFE_TRACE);
	assert_true(tdm_failure_is_warning(&f));
}

/* Sentences of other releases and of neighbours of the runtime. */
static void sentences_of_other_times(void **state)
{
	static const struct {
		const char *text;
		uint8_t type;
		uint64_t asked, limit, address, region_end;
	} said[] = {
		{ "Cannot set to globally allocated buffer. Circular buffer size 28672 B exceeds allocated L1 buffer "
		  "bank size of 4096 B",
			TDM_FAILURE_CB_RESIZE, 28672, 4096, U, U },
		{ "Cannot set to globally allocated buffer. Circular buffer size 28673 B exceeds allocated L1 buffer "
		  "size of 4096 B",
			TDM_FAILURE_CB_RESIZE, 28673, 4096, U, U },
		{ "Circular buffer size 12 B exceeds allocated L1 buffer bank size of 8 B. This may allow",
			TDM_FAILURE_CB_RESIZE, 12, 8, U, U },
		{ "/k/trisc2.elf: phdr[1] [4096,+9000) overflows limit of 2048 bytes, reduce", TDM_FAILURE_SEGMENT,
			9000, 2048, 4096, U },
		{ "/bin/ld: region `LOCAL_DATA' overflowed by 96 bytes", TDM_FAILURE_SEGMENT, U, U, U, U },
		{ "Allocating device buffers is unsafe due to the existence of an active trace",
			TDM_FAILURE_UNSAFE_TRACE, U, U, U, U },
		{ "Not enough space to allocate 64 B L1 buffer across 2 banks", TDM_FAILURE_OUT_OF_MEMORY, 64, U, U,
			U },
		{ "Not enough space to interleave 77 B", TDM_FAILURE_OUT_OF_MEMORY, 77, U, U, U },
		{ "Out of Memory: Cannot allocate at an address below 512. Tried to allocate at 96",
			TDM_FAILURE_BELOW_LIMIT, U, 512, 96, U },
		{ "Circular buffers in program 3 clash with L1 buffers on core (x=1,y=2). L1 buffer allocated at 500 "
		  "and "
		  "local buffers end at 700",
			TDM_FAILURE_CLASH, U, U, 500, 700 },
		{ "Circular buffers in program 3 clash: local buffers end at 701", TDM_FAILURE_CLASH, U, U, U, 701 },
		{ "Local buffers on core (x=0,y=0) grow to 1234567 B", TDM_FAILURE_BEYOND_L1, U, U, U, 1234567 },
		{ "Watcher detected stack overflow on Device 0 Core (x=1,y=1): trisc1! Kernel a/b.cpp uses 256/250 of "
		  "the stack.",
			TDM_FAILURE_STACK, 256, 250, U, U },
		{ "Watcher detected stack overflow on Device 0 Core (x=1,y=1): trisc1! Kernel a/b.cpp uses (at least) "
		  "all of the stack.",
			TDM_FAILURE_STACK, U, U, U, U },
		{ "L1[0x01d280] (NOC transaction overflows a circular buffer).", TDM_FAILURE_CB_OVERFLOW, U, U, U, U },
		{ "required L1 memory usage 2000 exceeds memory capacity 1000", TDM_FAILURE_L1_CAPACITY, 2000, 1000, U,
			U },
		{ "Circular buffers exceed L1 size (30 B > 20 B)", TDM_FAILURE_L1_CAPACITY, 30, 20, U, U },
		{ "RM reshape dest staging does not fit in L1: need at least 5 B dest + 6 B source, have 7 B",
			TDM_FAILURE_L1_CAPACITY, U, 7, U, U },
		{ "Workload of Tiles 9 at Tile Size 2048 (times 2 for output) exceeds L1 capacity 8",
			TDM_FAILURE_L1_CAPACITY, U, 8, U, U },
	};
	(void)state;
	for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
		struct tdm_failure f = parse(said[i].text);
		if (f.type != said[i].type || f.asked != said[i].asked || f.limit != said[i].limit ||
			f.address != said[i].address || f.region_end != said[i].region_end)
			fail_msg("%s", said[i].text);
	}
	struct tdm_failure f = parse(said[4].text);
	assert_true(f.excess == 96 && says(&f, "too large by 96 B: LOCAL_DATA"));
	f = parse(said[12].text);
	assert_true(tdm_str_is(f.name, "a/b.cpp") && f.range.x0 == 1);
	f = parse(said[14].text);
	assert_true(says(&f, "a transfer beyond the end of a circular buffer"));
}

/* They are failures, each with its own words. */
static void unknown_words_are_shown_whole(void **state)
{
	static const char *const texts[] = { "TT_FATAL: ttnn.concat: the output of 4 tensors exceeds L1 capacity",
		"E       RuntimeError: circular buffers of op 3 do not fit in L1, sorry", "the device is out of memory",
		"ERROR: not enough DRAM for the cache", "std::bad_alloc" };
	static const char *const others[] = { "everything fits in L1", "the cache exceeds 3 entries, failed",
		"a warning that L1 use may exceed the limit", " --- tt::fail::L1_overflow(error)", "" };
	struct tdm_failure f, g;
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_true(tdm_error_text_other(tdm_str_of(texts[i]), TDM_ERROR_OPEN, &f));
		assert_int_equal(f.type, TDM_FAILURE_OTHER);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_false(tdm_error_text_other(tdm_str_of(others[i]), TDM_ERROR_OPEN, &f));
	assert_true(tdm_error_text_other(tdm_str_of(others[2]), TDM_ERROR_SURE, &f));
	assert_false(tdm_error_text_other(tdm_str_of(texts[3]), TDM_ERROR_NOT, &f));
	assert_true(tdm_error_text_other(tdm_str_of(texts[0]), TDM_ERROR_SURE, &f));
	assert_true(says(&f, "in words that are not known: ttnn.concat: the output of 4 tensors exceeds L1 capacity"));
	assert_true(tdm_error_text_other(
		tdm_str_of("x\\ninfo:\\nttnn.concat: the output of 4 tensors exceeds L1 capacity\\nbacktrace:"),
		TDM_ERROR_SURE, &g));
	assert_true(tdm_failure_is_same(&f, &g));
	g = parse("Out of Memory: the moon is full (of cheese)");
	assert_false(tdm_failure_is_same(&f, &g));
	assert_true(says(&g, "Out of Memory: the moon is full (of cheese)"));
}

/* Names of tests, lines of code in a traceback and counts of no errors have the words, but report nothing. */
static void test_runs_are_no_errors(void **state)
{
	static const char *const normal[] = { "tests/test_memory_overflow.py::test_buffer_overlap_fails PASSED [ 10%]",
		"PASSED tests/test_memory_overflow.py::test_error_exceeds",
		"[       OK ] L1Allocator.OverflowFails (0 ms)", "[ RUN      ] Buffer.overflow_fail",
		"0 failures, memory did not exceed the limit", "memory check: no overflow, 0 errors",
		"errors: 0, overflows: 0, buffers: 12", "No errors: all buffers fit, none too large",
		"    raise RuntimeError('buffer too large for L1')",
		">       assert not exceeds_memory(buffer), 'fail'",
		"  File \"/x/memory_overflow.py\", line 12, in fail_if_exceeds",
		"skipping a test: not enough memory on device, error ignored", "test out of memory handling PASSED",
		"FAILED tests/test_memory.py::test_overflow - AssertionError: PCC too low" };
	static const char *const failed[] = { "FAILED tests/a.py::test_b - RuntimeError: the buffer does not fit in L1",
		"RuntimeError: None of the L1 buffers fit, they are too large", "error 0: L1 overflow in core 3",
		"Error: 0 bytes of DRAM left, not enough" };
	struct tdm_failure f;
	(void)state;
	for (size_t i = 0; i < sizeof normal / sizeof *normal; i++)
		if (tdm_error_text_other(tdm_str_of(normal[i]), TDM_ERROR_OPEN, &f))
			fail_msg("an error: %s", normal[i]);
	for (size_t i = 0; i < sizeof failed / sizeof *failed; i++)
		if (!tdm_error_text_other(tdm_str_of(failed[i]), TDM_ERROR_OPEN, &f))
			fail_msg("no error: %s", failed[i]);
}

/* Lines of normal runs that have the words, and lines of failures that have other ones. */
static void words_are_not_enough(void **state)
{
	static const char *const normal[] = { "out of memory: 0 events", "Out of memory errors: 0", "Out of Memory: 0",
		"0 out of memory errors", "out of memory = none", "never ran out of memory",
		"it did not run out of memory", "a smaller batch to avoid out of memory",
		"finished without out of memory", "bad_alloc count: 0", "SKIPPED [1] test.py:3: runs out of memory",
		"Peak memory did not exceed the L1 capacity" };
	static const char *const failed[] = { "device 0 out of memory", "out of memory: 0x40 bytes",
		"out of memory: 05 MB", "could not go on: out of memory", "0 errors before, now out of memory",
		"no errors; then out of memory", "ttnn.concat: the output exceeds L1 capacity",
		"Cannot allocate memory", "ValueError: No available memory for the cache blocks" };
	static const char *const sure[] = { "Buffer OVERLAY_BLOB is using more l1 memory than reserved (66196 > 65408)",
		"a shard would take more L1 than is left", "failed to reserve DRAM for the cache" };
	struct tdm_failure f, g;
	size_t end;
	(void)state;
	for (size_t i = 0; i < sizeof normal / sizeof *normal; i++) {
		assert_false(tdm_error_text_find(tdm_str_of(normal[i]), 0, &f, &end));
		assert_false(tdm_error_text_other(tdm_str_of(normal[i]), TDM_ERROR_OPEN, &f));
	}
	for (size_t i = 0; i < sizeof failed / sizeof *failed; i++)
		assert_true(tdm_error_text_other(tdm_str_of(failed[i]), TDM_ERROR_OPEN, &f));
	for (size_t i = 0; i < sizeof sure / sizeof *sure; i++)
		assert_true(tdm_error_text_other(tdm_str_of(sure[i]), TDM_ERROR_SURE, &f));
	assert_true(tdm_error_text_other(
		tdm_str_of("terminate called after throwing an instance of 'std::bad_alloc'"), TDM_ERROR_OPEN, &f));
	assert_true(tdm_error_text_other(tdm_str_of("  what():  std::bad_alloc"), TDM_ERROR_OPEN, &g));
	assert_true(tdm_failure_is_same(&f, &g));
}

static void wrapped_in_anything(void **state)
{
	static const char *const before[] = { "", "2026-11-15 07:36:20.269 | critical |          Always | TT_FATAL: ",
		"E       RuntimeError: TT_FATAL @ /m/bank_manager.cpp:451: false\nE       info:\nE       ",
		"\033[31mRuntimeError\033[0m: \033[37m", "FAILED test.py::t - ", "\"error\": \"info:\\n",
		"\xff\xfe\0 junk " };
	static const char *const behind[] = { "", " (assert.hpp:104)", "\nbacktrace:\n --- tt::x", "\033[0m", "\"}",
		"\r\n" };
	(void)state;
	for (size_t i = 0; i < sizeof before / sizeof *before; i++)
		for (size_t j = 0; j < sizeof behind / sizeof *behind; j++) {
			char text[1024];
			snprintf(text, sizeof text, "%s" OOM ", but bank size is 1360704 B" TAIL "%s", before[i],
				behind[j]);
			struct tdm_failure f = parse(text);
			assert_banks(&f, (uint64_t[]){ 268435456, 72, 3729408, 1360704, 96256, 1264448, 640 });
			assert_int_equal(f.text.len, strlen(OOM ", but bank size is 1360704 B" TAIL));
		}
	struct tdm_failure f =
		parse("Out of Memory: Not enough space\n to allocate 5 B DRAM buffer across\r\n 12 banks, where each "
		      "bank needs to store 1 B");
	assert_banks(&f, (uint64_t[]){ 5, 12, 1, U, U, U, U });
}

static void several_in_one_text(void **state)
{
	const char *text = "x " OOM "; then " DEP " and Out of Memory: " DEP;
	static const uint8_t types[] = { TDM_FAILURE_OUT_OF_MEMORY, TDM_FAILURE_DEPENDENCIES, TDM_FAILURE_OTHER,
		TDM_FAILURE_DEPENDENCIES };
	struct tdm_failure f;
	size_t at = 0;
	(void)state;
	for (size_t i = 0; i < sizeof types; i++) {
		assert_true(tdm_error_text_find(tdm_str_of(text), at, &f, &at));
		assert_int_equal(f.type, types[i]);
	}
	assert_false(tdm_error_text_find(tdm_str_of(text), at, &f, &at));
	assert_false(tdm_error_text_find((struct tdm_str){ NULL, 0 }, 0, &f, &at));
}

static void numbers_beyond_64_bits_are_unknown(void **state)
{
	struct tdm_failure f = parse("Out of Memory: Not enough space to allocate 99999999999999999999 B DRAM buffer "
				     "across 12 banks, where each "
				     "bank needs to store 18446744073709551615 B");
	(void)state;
	assert_banks(&f, (uint64_t[]){ U, 12, U, U, U, U, U });
	assert_int_equal(f.refused, 2);
	assert_int_equal(f.kind, TDM_KIND_DRAM);
	f = parse("Statically allocated circular buffers on core range [0-0 - 99999-1] grow to 5 B which is beyond max "
		  "L1 size of 4 "
		  "B");
	assert_false(f.has_range);
	assert_int_equal(f.region_end, 5);
	f = parse("Statically allocated circular buffers on core range [7-7 - 0-0] grow to 5 B which is beyond max L1 "
		  "size of 4 B");
	assert_false(f.has_range);
}

static void core_ranges(void **state)
{
	struct tdm_core_range r;
	(void)state;
	assert_int_equal(tdm_core_ranges_find(tdm_str_of("{[0-0 - 3-0], [0-1 - 3-1]}"), &r), 2);
	assert_true(r.x0 == 0 && r.x1 == 3 && r.y1 == 0);
	assert_int_equal(tdm_core_ranges_find(tdm_str_of("(x=4,y=5)"), &r), 1);
	assert_true(r.x0 == 4 && r.y0 == 5 && r.x1 == 4 && r.y1 == 5);
	assert_int_equal(tdm_core_ranges_find(tdm_str_of(""), &r), 0);
	assert_int_equal(tdm_core_ranges_find(tdm_str_of("[0-0 - "), &r), 0);
	assert_int_equal(tdm_core_ranges_find(tdm_str_of("[0-0 - 1-1"), &r), 0);
	assert_int_equal(tdm_core_ranges_find(tdm_str_of("everywhere"), &r), 0);
	struct tdm_failure f =
		parse("Statically allocated circular buffers on core range {[0-0 - 3-0], [0-1 - 3-1]} grow "
		      "to 5 B which is beyond max L1 size of 4 B");
	assert_true(says(&f, ": circular buffers on cores 0-0 to 3-0 and 1 more range end at 5, L1 ends at 4"));
}

static void causes(void **state)
{
	struct tdm_failure f = parse(OOM ", but bank size is 1360704 B" TAIL);
	(void)state;
	assert_int_equal(tdm_failure_cause(&f), TDM_CAUSE_TOO_LARGE);
	f.bytes_per_bank = 1300000;
	assert_int_equal(tdm_failure_cause(&f), TDM_CAUSE_EXHAUSTED);
	f.bytes_per_bank = 641;
	assert_int_equal(tdm_failure_cause(&f), TDM_CAUSE_FRAGMENTED);
	f.bytes_per_bank = 640;
	assert_int_equal(tdm_failure_cause(&f), TDM_CAUSE_UNKNOWN);
	f = parse(OOM);
	assert_int_equal(tdm_failure_cause(&f), TDM_CAUSE_UNKNOWN);
	assert_null(tdm_cause_name(tdm_failure_cause(&f)));
}

static void a_failure_in_two_forms_is_one(void **state)
{
	struct tdm_failure_recent recent = { .next = 0 };
	struct tdm_failure f = parse(OOM), other = parse(DEP);
	(void)state;
	assert_true(tdm_failure_is_new(&recent, &f, -1, 10, true));
	assert_false(tdm_failure_is_new(&recent, &f, -1, 11, false));
	assert_false(tdm_failure_is_new(&recent, &f, -1, 12, false)); /* the test's summary says it again */
	assert_true(tdm_failure_is_new(&recent, &f, -1, 13, true));   /* tried again, failed again */
	assert_false(tdm_failure_is_new(&recent, &f, -1, 14, false));
	assert_true(tdm_failure_is_new(&recent, &other, -1, 15, false));
	assert_false(tdm_failure_is_new(&recent, &other, -1, 16, true)); /* the exception's text stands first */
	assert_true(tdm_failure_is_new(&recent, &other, 1, 17, false));  /* another rank */
	assert_true(tdm_failure_is_new(&recent, &f, -1, 14 + TDM_FAILURE_DISTANCE + 1, false));
	assert_false(tdm_failure_is_new(&recent, &f, -1, 14 + 2 * TDM_FAILURE_DISTANCE + 1, false));
}

/* A letter that two fields of a sentence had would give the figure of one to the other. */
static void every_figure_has_a_letter_of_its_own(void **state)
{
	(void)state;
	for (size_t i = 0; i < TDM_FAILURE_FIGURE_COUNT; i++) {
		assert_null(strchr("kcnd-", tdm_failure_letters[i]));
		assert_null(memchr(tdm_failure_letters, tdm_failure_letters[i], i));
	}
}

static void every_type_has_a_name_and_a_text(void **state)
{
	struct tdm_failure f = parse(OOM);
	(void)state;
	for (int type = 0; type < TDM_FAILURE_COUNT; type++) {
		assert_string_not_equal(tdm_failure_name((enum tdm_failure_type)type), "unknown");
		assert_string_not_equal(tdm_failure_title((enum tdm_failure_type)type), "unknown");
		f.type = (uint8_t)type;
		assert_true(says(&f, tdm_failure_title((enum tdm_failure_type)type)));
	}
	assert_string_equal(tdm_failure_name(TDM_FAILURE_COUNT), "unknown");
}

static void the_beginning_of_a_sentence_is_enough(void **state)
{
	(void)state;
	static const char *const begun[] = { "TT_FATAL: Out of Memory: something", "x Statically allocated circular",
		"Program size (", "Worker L1 si", "  segment[3] [0x1", "Creating trace buffers of size 12 B" };
	static const char *const others[] = { "", "Out o", "Out of memory: small", "Statistically allocated circular",
		"the Program size is 3", "segments[" };
	for (size_t i = 0; i < sizeof begun / sizeof *begun; i++)
		assert_true(tdm_error_text_begins(tdm_str_of(begun[i])));
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_false(tdm_error_text_begins(tdm_str_of(others[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_of_memory_in_its_three_generations),
		cmocka_unit_test(dependencies_in_their_three_generations),
		cmocka_unit_test(below_a_limit_and_unknown_words),
		cmocka_unit_test(static_buffers),
		cmocka_unit_test(the_other_sentences),
		cmocka_unit_test(sentences_of_other_times),
		cmocka_unit_test(unknown_words_are_shown_whole),
		cmocka_unit_test(words_are_not_enough),
		cmocka_unit_test(test_runs_are_no_errors),
		cmocka_unit_test(wrapped_in_anything),
		cmocka_unit_test(several_in_one_text),
		cmocka_unit_test(numbers_beyond_64_bits_are_unknown),
		cmocka_unit_test(core_ranges),
		cmocka_unit_test(causes),
		cmocka_unit_test(a_failure_in_two_forms_is_one),
		cmocka_unit_test(every_figure_has_a_letter_of_its_own),
		cmocka_unit_test(every_type_has_a_name_and_a_text),
		cmocka_unit_test(the_beginning_of_a_sentence_is_enough),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
