/* Programs that report nonsense, far too much, or from places where they must not. */
#include "itest.h"
#include "tidemark.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

enum { MILLION = 1000000, NAMES = 40000, STACKS = 20000 };

static struct tdm_ledger *own_ledger(void)
{
	return itest_open(tidemark_ledger_path());
}

static struct tidemark_usage usage_of(uint32_t device, uint32_t kind)
{
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	CHECK(tidemark_get_usage(device, kind, &usage) == 0);
	return usage;
}

static void bad_frees(void)
{
	CHECK(tidemark_free(0, 0, 1) == -ENOENT); /* on a device that nobody has heard of */
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	CHECK(tidemark_free(0, 0, 1) == 0);
	CHECK(tidemark_free(0, 0, 1) == -ENOENT);
	CHECK(tidemark_free(0, 0, 1) == -ENOENT);
	CHECK(tidemark_free(0, 0, 2) == -ENOENT);
	CHECK(tidemark_free(0, 1, 1) == -ENOENT); /* another kind: another buffer */
	CHECK_EQ(usage_of(0, 0).double_frees, 2);
	CHECK_EQ(usage_of(0, 0).unknown_frees, 2);
	CHECK_EQ(usage_of(0, 1).unknown_frees, 1);
	CHECK_EQ(usage_of(0, 0).buffers, 0);
	for (uint64_t i = 0; i < 100; i++)
		CHECK(itest_alloc(0, 0, 5, 64 + i, 1) == 0);
	CHECK_EQ(usage_of(0, 0).rereports, 99);
	CHECK_EQ(usage_of(0, 0).buffers, 1);
	CHECK_EQ(usage_of(0, 0).bytes, 163);
	CHECK_EQ(usage_of(0, 0).allocs, 101);
	CHECK_EQ(usage_of(0, 0).frees, 100);
	CHECK_EQ(tidemark_lost(), 0);
}

static void absurd_sizes(void)
{
	static const uint64_t sizes[] = { UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 60, (UINT64_C(1) << 56) };
	uint64_t refused = 0;
	for (uint64_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct tidemark_buffer b = { .size = sizeof b, .id = i, .bytes = sizes[i] };
		CHECK(tidemark_alloc(&b) == -EINVAL);
		b.bytes = 64;
		b.bytes_per_bank = sizes[i];
		CHECK(tidemark_alloc(&b) == -EINVAL);
		b.banks = UINT32_MAX;
		CHECK(tidemark_alloc(&b) == -EINVAL);
		b.bytes_per_bank = sizes[i] / 2 + 1;
		CHECK(tidemark_alloc(&b) == -EINVAL);
		refused += 4;
		CHECK(tidemark_out_of_memory(0, 0, sizes[i], sizes[i]) == 0);
	}
	CHECK_EQ(tidemark_lost(), refused);
	struct tidemark_buffer many = {
		.size = sizeof many, .id = 100, .bytes = 1, .bytes_per_bank = 1 << 20, .banks = UINT32_MAX
	};
	CHECK(tidemark_alloc(&many) == 0); /* a lot, and it can be counted */
	CHECK_EQ(usage_of(0, 0).bytes, (uint64_t)UINT32_MAX << 20);
	struct tidemark_buffer nothing = { .size = sizeof nothing, .id = 101 };
	CHECK(tidemark_alloc(&nothing) == 0);
	struct tdm_ledger *ledger = own_ledger();
	size_t count;
	free(itest_buffers(ledger, 0, &count));
	CHECK_EQ(count, 2);
	CHECK_EQ(tdm_ledger_header(ledger)->lost[TDM_LOSS_INVALID], refused);
	tdm_ledger_close(ledger);
}

/* Sums since the start reach their limit in a program that runs for years; what lives now goes on. */
static void totals_at_their_limit(void)
{
	const uint64_t large = UINT64_C(1) << 55;
	for (uint64_t i = 0; i < 200; i++) {
		CHECK(itest_alloc(0, 0, i, large, 1) == 0);
		CHECK(tidemark_free(0, 0, i) == 0);
	}
	CHECK(itest_alloc(0, 0, 1000, 64, 1) == 0);
	CHECK_EQ(usage_of(0, 0).bytes, 64);
	CHECK_EQ(usage_of(0, 0).allocs, 201);
	CHECK_EQ(usage_of(0, 0).peak_bytes, large);
	CHECK_EQ(tidemark_lost(), 0);
	struct tdm_ledger *ledger = own_ledger();
	size_t count;
	free(itest_buffers(ledger, 0, &count));
	CHECK_EQ(count, 1);
	tdm_ledger_close(ledger);
	uint64_t good = 0; /* too much at one time is refused, and still frees */
	for (uint64_t i = 0; i < 100; i++)
		good += itest_alloc(0, 1, i, large, 1) == 0;
	CHECK_EQ(good, 31);
	CHECK_EQ(tidemark_free_all(0, 1), 31);
	CHECK_EQ(usage_of(0, 1).bytes, 0);
}

static void bad_arguments(void)
{
	struct tidemark_buffer b = { .size = sizeof b, .bytes = 64, .bytes_per_bank = 64, .banks = 1 };
	struct tidemark_device d = { .size = sizeof d };
	uint64_t lost = 0;
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	CHECK(tidemark_alloc(NULL) == -EINVAL && ++lost);
	static const uint32_t kinds[] = { TIDEMARK_KIND_COUNT, 31, 32, 255, 256, 1u << 31, UINT32_MAX };
	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		b.kind = kinds[i];
		CHECK(tidemark_alloc(&b) == -EINVAL && ++lost);
		CHECK(tidemark_free(0, kinds[i], 1) == -EINVAL && ++lost);
		CHECK(tidemark_free_all(0, kinds[i]) == -EINVAL && ++lost);
		CHECK(tidemark_out_of_memory(0, kinds[i], 1, 1) == -EINVAL && ++lost);
		CHECK(strcmp(tidemark_kind_name((int)kinds[i]), "unknown") == 0);
	}
	static const struct tidemark_clash clashes[] = { { .size = 8, .kind = TIDEMARK_CB },
		{ .size = sizeof *clashes, .kind = TIDEMARK_DRAM },
		{ .size = sizeof *clashes, .kind = TIDEMARK_KIND_COUNT },
		{ .size = sizeof *clashes, .kind = TIDEMARK_CB, .begin = 2, .end = 1 },
		{ .size = sizeof *clashes, .kind = TIDEMARK_CB, .end = UINT64_MAX },
		{ .size = sizeof *clashes, .kind = TIDEMARK_CB, .cores = { 1, 0, 0, 0 } },
		{ .size = sizeof *clashes, .kind = TIDEMARK_CB, .cores = { 0, 1, 0, 0 } } };
	for (size_t i = 0; i < sizeof clashes / sizeof *clashes; i++)
		CHECK(tidemark_report_clash(&clashes[i]) == -EINVAL && ++lost);
	CHECK(tidemark_report_clash(NULL) == -EINVAL && ++lost);
	CHECK(tidemark_describe_device(NULL) == -EINVAL && ++lost);
	d.region_count = 5;
	CHECK(tidemark_describe_device(&d) == -EINVAL && ++lost);
	CHECK_EQ(tidemark_lost(), lost);
	CHECK(tidemark_name(NULL) == 0 && tidemark_name("") == 0);
	CHECK(tidemark_phase(NULL) == -EINVAL && tidemark_phase("") == -EINVAL);
	CHECK(tidemark_program(NULL) == 0);
	uint32_t inner = tidemark_name("inner");
	CHECK(tidemark_program("outer") == 0 && tidemark_swap_program(inner) == tidemark_name("outer"));
	CHECK(tidemark_swap_program(UINT32_MAX) == inner); /* no name: none */
	CHECK(tidemark_swap_program(0) == 0);
	CHECK(tidemark_get_usage(0, 0, NULL) == -EINVAL);
	b.kind = 0;
	b.range_count = 3; /* nothing behind it */
	b.frame_count = 3;
	b.id = 2;
	CHECK(tidemark_alloc(&b) == 0);
	struct tidemark_core_range wrong = { 5, 5, 1, 1 };
	struct tidemark_core_range large = { 0, 0, 256, 0 }, good = { 0, 0, 255, 255 };
	lost = tidemark_lost();
	CHECK(tidemark_report_cb(0, 64, 1, &wrong) == -EINVAL && ++lost);
	CHECK(tidemark_report_cb(0, 64, 1, &large) == -EINVAL && ++lost);
	CHECK(tidemark_report_cb(0, UINT64_MAX, 1, &good) == -EINVAL && ++lost);
	CHECK(tidemark_report_cb(0, 64, 1u << 31, NULL) == -EINVAL && ++lost);
	CHECK(tidemark_report_cb_free(0, 0, 1, &wrong) == -EINVAL && ++lost);
	CHECK(tidemark_report_cb_free(0, 0, 1u << 31, NULL) == -EINVAL && ++lost);
	CHECK_EQ(tidemark_lost(), lost);
	CHECK(tidemark_report_cb(0, 64, 1, &good) == 0 && tidemark_report_cb_free(0, 0, 1, &good) == 0);
	CHECK(tidemark_report_cb_free(0, 0, 1, &good) == -ENOENT);
}

/* Refused, and nothing is recorded. */
static void refused_arguments(void)
{
	const struct tidemark_core_range twice[] = { { 0, 0, 3, 3 }, { 5, 5, 6, 6 }, { 3, 3, 4, 4 } };
	struct tidemark_buffer b = { .size = sizeof b, .kind = TIDEMARK_CB, .id = 1, .bytes = 64, .ranges = twice };
	struct tidemark_segment segment = TIDEMARK_SEGMENT_INIT;
	b.range_count = 3;
	CHECK(tidemark_alloc(&b) == -EINVAL);
	const struct tidemark_core_range wrong[] = { { 5, 5, 5, 4 }, { 5, 5, 4, 5 } }; /* the corners of no rectangle */
	b.range_count = 1;
	for (unsigned i = 0; i < 2; i++) {
		b.ranges = &wrong[i];
		CHECK(tidemark_alloc(&b) == -EINVAL);
	}
	b.ranges = twice;
	b.range_count = 2; /* neighbours, but no core twice */
	CHECK(tidemark_alloc(&b) == 0);
	for (unsigned bit = 2; bit < 32; bit++) {
		struct tidemark_buffer flagged = { .size = sizeof flagged, .id = 2, .bytes = 64, .bytes_per_bank = 64 };
		flagged.banks = 1;
		flagged.flags = 1u << bit;
		if (flagged.flags == TIDEMARK_ESTIMATED)
			continue;
		CHECK(tidemark_alloc(&flagged) == -EINVAL);
	}
	CHECK_EQ(itest_live(0, TIDEMARK_DRAM), 0);
	CHECK_EQ(tidemark_lost(), 32);
	CHECK(tidemark_capture_begin(TIDEMARK_CAPTURE_NORMAL) == 0 && tidemark_capture_end("end") == 0);
	CHECK(tidemark_capture_get(0, NULL) == -EINVAL);
	CHECK(tidemark_capture_find("end", NULL) == -EINVAL);
	CHECK(tidemark_capture_find(NULL, &segment) == -EINVAL);
	CHECK(tidemark_capture_format(NULL, 100) == tidemark_capture_format(NULL, 0));
}

static void many_devices(void)
{
	static const uint32_t numbers[] = { 0, 127, 128, 129, 1u << 31, UINT32_MAX };
	for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
		CHECK(itest_alloc(numbers[i], 0, 1, 64, 1) == 0);
	for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
		CHECK_EQ(usage_of(numbers[i], 0).buffers, 1);
	uint64_t good = 0, refused = 0;
	for (uint32_t i = 1000; i < 1100; i++)
		for (int again = 0; again < 3; again++) {
			int err = itest_alloc(i, 0, 1, 64, 1);
			good += err == 0;
			refused += err == -ENOSPC;
		}
	CHECK_EQ(good, 3 * (TDM_LEDGER_DEVICES - sizeof numbers / sizeof *numbers));
	CHECK_EQ(good + refused, 300);
	CHECK_EQ(tidemark_lost(), refused);
	CHECK(tidemark_free(2000, 0, 1) == -ENOSPC);
	struct tdm_ledger *ledger = own_ledger();
	CHECK_EQ(tdm_ledger_device_count(ledger), TDM_LEDGER_DEVICES);
	CHECK_EQ(tdm_ledger_header(ledger)->lost[TDM_LOSS_DEVICE], refused + 1);
	tdm_ledger_close(ledger);
}

static void million_buffers(void)
{
	uint64_t many = itest_scale(MILLION);
	for (uint64_t i = 0; i < many; i++)
		CHECK(itest_alloc(0, i % 3, i << 12, 4096, 2) == 0);
	struct tdm_ledger *ledger = own_ledger();
	size_t count;
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 0, &count);
	CHECK_EQ(count, many);
	free(buffers);
	for (uint64_t i = 0; i < many; i += 2)
		CHECK(tidemark_free(0, i % 3, i << 12) == 0);
	CHECK(tdm_ledger_refresh(ledger, NULL) == 0);
	buffers = itest_buffers(ledger, 0, &count);
	CHECK_EQ(count, many / 2);
	for (size_t i = 0; i < count; i++)
		CHECK((buffers[i].slot.id >> 12) % 2 == 1);
	free(buffers);
	tdm_ledger_close(ledger);
	CHECK_EQ(tidemark_free_all(0, 0) + tidemark_free_all(0, 1) + tidemark_free_all(0, 2), many / 2);
	CHECK_EQ(tidemark_lost(), 0);
}

/* Every length and every byte; the same text is the same number. */
static void names(void)
{
	char text[400];
	uint32_t numbers[400];
	struct tdm_ledger *ledger = NULL;
	for (size_t len = 1; len < sizeof text; len++) {
		for (size_t i = 0; i < len; i++)
			text[i] = (char)(1 + (i * 7 + len) % 255);
		text[len] = '\0';
		numbers[len] = tidemark_name(text);
		CHECK(numbers[len] != 0 && tidemark_name(text) == numbers[len]);
		if (ledger == NULL)
			ledger = own_ledger();
		CHECK(tdm_ledger_refresh(ledger, NULL) == 0);
		struct tdm_str kept = tdm_ledger_text(ledger, numbers[len]);
		CHECK_EQ(kept.len, len < TDM_LEDGER_TEXT_MAX ? len : TDM_LEDGER_TEXT_MAX);
		CHECK(memcmp(kept.ptr, text, kept.len) == 0);
		if (len == sizeof text - 1)
			break;
	}
	static uint32_t many[NAMES];
	for (unsigned i = 0; i < itest_scale(NAMES); i++) {
		snprintf(text, sizeof text, "the %u-th name of very many", i);
		many[i] = tidemark_name(text);
		CHECK(many[i] != 0);
	}
	CHECK(tdm_ledger_refresh(ledger, NULL) == 0);
	for (unsigned i = 0; i < itest_scale(NAMES); i++) {
		snprintf(text, sizeof text, "the %u-th name of very many", i);
		CHECK_EQ(tidemark_name(text), many[i]);
		if (i % 17 == 0)
			CHECK(tdm_str_is(tdm_ledger_text(ledger, many[i]), text));
	}
	tdm_ledger_close(ledger);
	CHECK_EQ(tidemark_lost(), 0);
}

static void stacks(void)
{
	uint64_t frames[100];
	uint64_t many = itest_scale(STACKS);
	for (uint64_t i = 0; i < many; i++) {
		struct tidemark_buffer b = { .size = sizeof b, .id = i, .bytes = 64, .banks = 1, .frames = frames };
		b.frame_count = 1 + i % 99;
		for (unsigned f = 0; f < b.frame_count; f++)
			frames[f] = i * 1000 + f;
		CHECK(tidemark_alloc(&b) == 0);
	}
	CHECK_EQ(tidemark_lost(), 0);
	struct tdm_ledger *ledger = own_ledger();
	size_t count;
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 0, &count);
	CHECK_EQ(count, many);
	for (size_t i = 0; i < count; i++) {
		uint64_t kept[TDM_LEDGER_STACK_MAX], id = buffers[i].slot.id;
		size_t got = tdm_ledger_stack(ledger, buffers[i].slot.stack, kept);
		CHECK_EQ(got, 1 + id % 99 < TDM_LEDGER_STACK_MAX ? 1 + id % 99 : TDM_LEDGER_STACK_MAX);
		for (size_t f = 0; f < got; f++)
			CHECK_EQ(kept[f], id * 1000 + f);
	}
	free(buffers);
	tdm_ledger_close(ledger);
}

/* Stacks that the library takes itself are those of the program: each function notes where it returns to. */
static void *returns_to[2];

__attribute__((noinline)) static void report_here(void)
{
	returns_to[0] = __builtin_return_address(0);
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
}

__attribute__((noinline)) static void call_reporter(void)
{
	returns_to[1] = __builtin_return_address(0);
	report_here();
}

static int own_stack_role(void)
{
	uint64_t frames[TDM_LEDGER_STACK_MAX];
	size_t count, at = 0;
	call_reporter();
	struct tdm_ledger *ledger = own_ledger();
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 0, &count);
	CHECK_EQ(count, 1);
	size_t depth = tdm_ledger_stack(ledger, buffers[0].slot.stack, frames);
	while (at < depth && frames[at] != (uintptr_t)returns_to[0])
		at++;
	CHECK(at + 1 < depth && frames[at + 1] == (uintptr_t)returns_to[1]);
	free(buffers);
	tdm_ledger_close(ledger);
	return 0;
}

static void own_stack(void)
{
	static const char *const environment[] = { "TIDEMARK_STACKS=8", "TIDEMARK_UNWIND=fp", NULL };
	CHECK(itest_exited(itest_spawn("own_stack_role", environment)));
}

/* One named buffer, with a stack. */
static void alloc_named(uint64_t id, const char *name)
{
	const uint64_t frames[] = { id * 10, id * 10 + 1 };
	struct tidemark_buffer b = { .size = sizeof b, .id = id, .bytes = 64 * id, .banks = 1, .frames = frames };
	b.frame_count = 2;
	b.name = tidemark_name(name);
	CHECK(tidemark_alloc(&b) == 0);
}

/* The record of event n of device 0 is of this kind, and about this buffer. */
static struct tdm_ledger_record check_record(
	struct tdm_ledger *ledger, uint64_t n, enum tdm_ledger_op op, uint64_t id, const char *name)
{
	struct tdm_ledger_record record;
	uint64_t missed;
	CHECK_EQ(tdm_ledger_events(ledger, 0, n - 1, &record, 1, &missed), 1);
	CHECK_EQ(record.op, op);
	CHECK_EQ(record.id, id);
	CHECK(tdm_str_is(tdm_ledger_text(ledger, record.name), name));
	return record;
}

static void check_release(struct tdm_ledger *ledger, uint64_t n, uint64_t id, const char *name)
{
	struct tdm_ledger_record record = check_record(ledger, n, TDM_LEDGER_FREE, id, name);
	uint64_t frames[TDM_LEDGER_STACK_MAX];
	CHECK_EQ(tdm_ledger_stack(ledger, record.stack, frames), 2);
	CHECK_EQ(frames[1], id * 10 + 1);
	CHECK_EQ(record.asked, 64 * id);
}

/* Every release says what went: by the program, by another report, with all others, and once more. */
static void releases_have_names(void)
{
	struct tdm_ledger_buffer buffer;
	alloc_named(1, "one");
	alloc_named(2, "two");
	alloc_named(3, "three");
	CHECK(tidemark_free(0, 0, 2) == 0);
	struct tdm_ledger *ledger = own_ledger();
	struct tdm_ledger_record second = check_record(ledger, 2, TDM_LEDGER_ALLOC, 2, "two");
	CHECK(tdm_ledger_record_buffer(ledger, 0, &second, &buffer) == 0); /* freed, but not used again yet */
	CHECK(buffer.slot.death == 4 && buffer.slot.stack != 0 && buffer.more.thread == (uint32_t)gettid());
	CHECK(tidemark_free(0, 0, 2) == -ENOENT);
	CHECK(tidemark_free(0, 0, 77) == -ENOENT);
	alloc_named(1, "one again");
	CHECK_EQ(tidemark_free_all(0, 0), 2);
	check_release(ledger, 4, 2, "two");
	check_record(ledger, 5, TDM_LEDGER_BAD_FREE, 2, "two");
	check_record(ledger, 6, TDM_LEDGER_BAD_FREE, 77, "");
	check_release(ledger, 7, 1, "one");
	struct tdm_ledger_record again = check_record(ledger, 8, TDM_LEDGER_ALLOC, 1, "one again");
	CHECK(tdm_ledger_record_buffer(ledger, 0, &again, &buffer) == 0);
	CHECK_EQ(buffer.slot.id, 1);
	struct tdm_ledger_record first = check_record(ledger, 1, TDM_LEDGER_ALLOC, 1, "one");
	CHECK(tdm_ledger_record_buffer(ledger, 0, &first, &buffer) == -ESTALE || first.slot != again.slot);
	check_release(ledger, 9, 3, "three"); /* from the last slot to the first */
	check_release(ledger, 10, 1, "one again");
	tdm_ledger_close(ledger);
}

/* A signal handler that reports, hammered by a timer while the program reports, grows the ledger and takes names. */
static volatile sig_atomic_t handler_runs, handler_refused, handler_good;

static void report_in_handler(int signal_number)
{
	uint64_t id = (UINT64_C(1) << 40) + (uint64_t)handler_runs;
	int before = errno;
	(void)signal_number;
	handler_runs++;
	int err = itest_alloc(0, TIDEMARK_SYSTEM, id, 64, 1);
	if (err == -EBUSY) {
		handler_refused++;
	} else if (err == 0) {
		handler_good++;
		CHECK(tidemark_free(0, TIDEMARK_SYSTEM, id) == 0);
	} else {
		CHECK(err == 0);
	}
	errno = before;
}

static void signals(void)
{
	struct sigaction action = { .sa_handler = report_in_handler, .sa_flags = SA_RESTART };
	int period_us = itest_sanitized() || itest_emulated() ? 1000 : 50; /* the handler itself must be faster */
	struct itimerval often = { { 0, period_us }, { 0, period_us } }, never = { 0 };
	char name[32];
	uint64_t allocs = 0;
	CHECK(sigaction(SIGALRM, &action, NULL) == 0);
	CHECK(tidemark_name("a ledger to count in") != 0);
	CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
	for (uint64_t round = 0; round < 3 || handler_runs < (int)itest_scale(8000); round++) {
		uint64_t first = round * 4000;
		for (uint64_t i = first; i < first + 4000; i++, allocs++)
			CHECK(itest_alloc((uint32_t)(round % 3), TIDEMARK_L1, i, 64, 1) == 0);
		snprintf(name, sizeof name, "round %u", (unsigned)round);
		CHECK(tidemark_name(name) != 0);
		CHECK(tidemark_phase(name) == 0);
		for (uint64_t i = first; i < first + (round < 40 ? 2000 : 4000); i++)
			CHECK(tidemark_free((uint32_t)(round % 3), TIDEMARK_L1, i) == 0);
	}
	CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
	CHECK_EQ(tidemark_lost(), handler_refused);
	CHECK_EQ(usage_of(0, TIDEMARK_SYSTEM).allocs, handler_good);
	CHECK_EQ(usage_of(0, TIDEMARK_SYSTEM).buffers, 0);
	uint64_t all = 0;
	for (uint32_t d = 0; d < 3; d++)
		all += usage_of(d, TIDEMARK_L1).allocs;
	CHECK_EQ(all, allocs);
	struct tdm_ledger *ledger = own_ledger();
	CHECK_EQ(tdm_ledger_header(ledger)->lost[TDM_LOSS_NESTED], handler_refused);
	for (size_t d = 0; d < 3; d++) {
		size_t count;
		free(itest_buffers(ledger, d, &count));
		CHECK_EQ(count, usage_of((uint32_t)d, TIDEMARK_L1).buffers);
	}
	tdm_ledger_close(ledger);
}

/* Both clocks are in the header, so that a reader tells a step of one from the passing of time. */
static void clocks(void)
{
	struct tdm_ledger_header header;
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	CHECK(tidemark_phase("phase") == 0);
	int fd = open(tidemark_ledger_path(), O_RDONLY | O_CLOEXEC);
	CHECK(pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header);
	CHECK(header.first.tsc != 0 && header.first.monotonic_ns != 0 && header.first.realtime_ns != 0);
	CHECK(header.last.tsc >= header.first.tsc && header.last.monotonic_ns >= header.first.monotonic_ns);
	CHECK(header.last.realtime_ns != 0 && header.last_seq % 2 == 0);
	_exit(0); /* without closing it: the lock would go with the descriptor */
}

/* A runtime that reports in the middle of its own work finds errno as it was. */
static void report_and_look(const char *name)
{
	enum { OWN = 12345 };
	struct tidemark_device device = { .size = sizeof device };
	errno = OWN;
	for (uint64_t i = 0; i < 5000; i++) {
		itest_alloc(0, 0, i, 64, 1);
		CHECK(errno == OWN);
	}
	tidemark_name(name);
	tidemark_phase(name);
	tidemark_program(name);
	tidemark_describe_device(&device);
	tidemark_free(0, 0, UINT64_MAX);
	tidemark_free(0, 99, 0);
	tidemark_free_all(0, 0);
	tidemark_capture_begin(TIDEMARK_CAPTURE_NORMAL);
	tidemark_capture_end(name);
	CHECK(errno == OWN);
}

static int errno_role(void)
{
	report_and_look("name");
	return 0;
}

static void errno_stays(void)
{
	static const char *const settings[] = { "TIDEMARK=1", "TIDEMARK_STACKS=8", "TIDEMARK_DIR=/nowhere",
		"TIDEMARK=auto", "TIDEMARK=0" };
	for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++) {
		const char *environment[] = { settings[i], "TIDEMARK_SOCKET=/nowhere/at/all", NULL };
		CHECK(itest_exited(itest_spawn("errno_role", environment)));
	}
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "bad_frees", bad_frees, NULL },
		{ "absurd_sizes", absurd_sizes, NULL },
		{ "totals_at_their_limit", totals_at_their_limit, NULL },
		{ "bad_arguments", bad_arguments, NULL },
		{ "refused_arguments", refused_arguments, NULL },
		{ "many_devices", many_devices, NULL },
		{ "million_buffers", million_buffers, NULL },
		{ "names", names, NULL },
		{ "stacks", stacks, NULL },
		{ "own_stack", own_stack, NULL },
		{ "releases_have_names", releases_have_names, NULL },
		{ "signals", signals, NULL },
		{ "clocks", clocks, NULL },
		{ "errno_stays", errno_stays, NULL },
		{ "own_stack_role", NULL, own_stack_role },
		{ "errno_role", NULL, errno_role },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
