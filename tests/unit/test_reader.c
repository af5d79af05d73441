/* The reader of ledgers: good ones, damaged ones in every way, and ones that change while they are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/err.h"
#include "ledger/ledger_list.h"
#include "ledger/reader.h"
#include "ledger_builder.h"
#include "ledger_walk.h"

static char dir[PATH_MAX];
static char path[PATH_MAX + 64];

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");
	(void)state;
	snprintf(dir, sizeof dir, "%s/tidemark-reader.XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(path, sizeof path, "%s/tidemark.%d.12345.0", dir, BUILDER_PID);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

static struct tdm_ledger *open_good(struct builder *b)
{
	struct tdm_ledger *ledger;
	struct tdm_diag diag = { 0 };
	builder_write(b, path);
	assert_int_equal(tdm_ledger_open(path, &ledger, &diag), 0);
	assert_int_equal(tdm_ledger_refused(ledger), 0);
	return ledger;
}

static void expect_refused(int err, const char *text)
{
	struct tdm_ledger *ledger;
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_ledger_open(path, &ledger, &diag), err);
	assert_null(ledger);
	if (strstr(diag.text, text) == NULL)
		fail_msg("'%s' does not say '%s'", diag.text, text);
}

static void identity_and_counters(void **state)
{
	struct builder b;
	(void)state;
	builder_sample(&b);
	struct tdm_ledger *ledger = open_good(&b);
	const struct tdm_ledger_who *who = tdm_ledger_who(ledger);
	assert_int_equal(who->pid, BUILDER_PID);
	assert_int_equal(who->start_time, 12345);
	assert_int_equal(who->uid, 1000);
	assert_string_equal(who->command, "model --layers 12");
	assert_string_equal(tdm_ledger_path(ledger), path);
	assert_int_equal(tdm_ledger_state(ledger), TDM_LEDGER_OPEN);
	assert_int_equal(tdm_ledger_liveness(ledger), TDM_DEAD);
	assert_int_equal(tdm_ledger_device_count(ledger), 2);
	assert_null(tdm_ledger_device(ledger, 2));

	const struct tdm_ledger_view *view = tdm_ledger_device(ledger, 0);
	assert_int_equal(view->seq, 10);
	assert_string_equal(view->card, "n150");
	assert_int_equal(view->region_count, 1);
	assert_int_equal(view->faults[TDM_KIND_DRAM].double_frees, 2);
	/* 1, 3, 5 and 7 KiB a bank were allocated, the second of them freed. */
	assert_int_equal(view->counts[TDM_KIND_DRAM].buffers, 3);
	assert_int_equal(view->counts[TDM_KIND_DRAM].bytes, 12 * 1024 * (1 + 5 + 7));
	assert_int_equal(view->counts[TDM_KIND_DRAM].peak_bytes, 12 * 1024 * (1 + 3 + 5 + 7));
	assert_int_equal(view->counts[TDM_KIND_DRAM].peak_buffers, 4);
	assert_int_equal(view->counts[TDM_KIND_DRAM].allocs, 4);
	assert_int_equal(view->counts[TDM_KIND_TRACE].seq, 0);
	tdm_ledger_close(ledger);
	tdm_ledger_close(NULL);
	builder_done(&b);
}

static void live_buffers_are_those_of_the_counters(void **state)
{
	struct builder b;
	struct tdm_ledger_buffer *buffers;
	size_t count;
	bool exact;
	(void)state;
	builder_sample(&b);
	struct tdm_ledger *ledger = open_good(&b);
	assert_int_equal(tdm_ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
	assert_true(exact);
	assert_int_equal(count, 6);
	for (size_t i = 0; i < count; i++) {
		uint64_t n = buffers[i].slot.id - 100;
		assert_true(n < 8 && n != 2 && n != 5);
		assert_int_equal(buffers[i].reserved_bytes, 12 * 1024 * (n + 1));
		assert_int_equal(buffers[i].occupied_bytes, 3 * 1024 * (n + 1));
		assert_int_equal(buffers[i].more.thread, 4243);
		struct tdm_str name = tdm_ledger_text(ledger, buffers[i].more.name);
		assert_true(tdm_str_is(name, "weights"));
		assert_ptr_equal(tdm_ledger_text(ledger, buffers[i].more.name).ptr, name.ptr);
	}
	free(buffers);
	assert_int_equal(tdm_ledger_buffers(ledger, 1, &buffers, &count, &exact), 0);
	assert_true(exact);
	assert_int_equal(count, 1);
	assert_int_equal(buffers[0].reserved_bytes, 0);
	free(buffers);
	assert_int_equal(tdm_ledger_buffers(ledger, 2, &buffers, &count, &exact), -ENODEV);
	tdm_ledger_close(ledger);
	builder_done(&b);
}

static void many_segments(void **state)
{
	enum { MANY = 5000 };
	struct builder b;
	struct tdm_ledger_buffer *buffers;
	size_t count;
	bool exact;
	(void)state;
	builder_init(&b);
	uint64_t device = builder_add_device(&b, 0);
	for (uint64_t i = 0; i < MANY; i++)
		builder_alloc(&b, device,
			(struct tdm_ledger_slot){
				.id = i, .asked = 64, .bank_bytes = 64, .banks = 1, .kind = TDM_KIND_DRAM },
			(struct tdm_ledger_more){ .thread = (uint32_t)i });
	for (uint32_t i = 0; i < MANY; i += 3)
		builder_free(&b, device, i);
	struct tdm_ledger *ledger = open_good(&b);
	assert_int_equal(tdm_ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
	assert_true(exact);
	assert_int_equal(count, MANY - (MANY + 2) / 3);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(buffers[i].more.thread, buffers[i].slot.id);
	free(buffers);
	tdm_ledger_close(ledger);
	builder_done(&b);
}

/* Whatever a call has written before its commit is not believed. */
static void an_unfinished_call_is_not_seen(void **state)
{
	struct builder b;
	struct tdm_ledger_buffer *buffers;
	struct tdm_ledger_record records[64];
	uint64_t missed;
	size_t count;
	bool exact;
	(void)state;
	builder_sample(&b);
	uint64_t device = builder_header(&b)->device_offset[0];
	uint64_t seq = builder_device(&b, device)->seq;
	builder_alloc(&b, device,
		(struct tdm_ledger_slot){ .id = 999, .asked = 1, .bank_bytes = 32, .banks = 12, .kind = TDM_KIND_DRAM },
		(struct tdm_ledger_more){ 0 });
	builder_device(&b, device)->seq = seq;
	struct tdm_ledger *ledger = open_good(&b);
	assert_int_equal(tdm_ledger_device(ledger, 0)->counts[TDM_KIND_DRAM].buffers, 3);
	assert_int_equal(tdm_ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
	assert_true(exact);
	assert_int_equal(count, 6);
	free(buffers);
	assert_int_equal(tdm_ledger_events(ledger, 0, 0, records, 64, &missed), seq);
	tdm_ledger_close(ledger);

	/* The same for a release, and for a slot and counters that are half written. */
	builder_free(&b, device, 0);
	builder_device(&b, device)->seq = seq;
	builder_slot(&b, device, 8)->birth = TDM_LEDGER_SEQ_BUSY;
	for (int copy = 0; copy < 2; copy++)
		if (builder_device(&b, device)->now[TDM_KIND_DRAM][copy].seq > seq)
			builder_device(&b, device)->now[TDM_KIND_DRAM][copy].seq = TDM_LEDGER_SEQ_BUSY;
	builder_write(&b, path);
	assert_int_equal(ledger_walk(path), 0);
	builder_done(&b);
}

static void events_in_order_and_counted_when_gone(void **state)
{
	enum { MANY = TDM_LEDGER_RING + 100 };
	static struct tdm_ledger_record records[TDM_LEDGER_RING];
	struct builder b;
	uint64_t missed;
	(void)state;
	builder_init(&b);
	uint64_t device = builder_add_device(&b, 0);
	for (uint64_t i = 0; i < MANY; i++)
		builder_alloc(&b, device,
			(struct tdm_ledger_slot){
				.id = i, .asked = 64, .bank_bytes = 64, .banks = 1, .kind = TDM_KIND_DRAM },
			(struct tdm_ledger_more){ 0 });
	struct tdm_ledger *ledger = open_good(&b);
	int64_t got = tdm_ledger_events(ledger, 0, 0, records, TDM_LEDGER_RING, &missed);
	/* The record that the next call would overwrite is not trusted. */
	assert_int_equal(got, TDM_LEDGER_RING - 1);
	assert_int_equal(missed, MANY - got);
	for (int64_t i = 0; i < got; i++)
		assert_int_equal(records[i].seq, MANY - got + i + 1);
	assert_int_equal(tdm_ledger_events(ledger, 0, MANY - 10, records, TDM_LEDGER_RING, &missed), 10);
	assert_int_equal(missed, 0);
	assert_int_equal(records[0].id, MANY - 10);
	assert_int_equal(tdm_ledger_events(ledger, 0, MANY - 10, records, 3, &missed), 3);
	assert_int_equal(records[2].seq, MANY - 7);
	assert_int_equal(tdm_ledger_events(ledger, 0, MANY, records, 3, &missed), 0);
	assert_int_equal(tdm_ledger_events(ledger, 0, UINT64_MAX, records, 3, &missed), 0);
	assert_int_equal(missed, 0);
	tdm_ledger_close(ledger);
	builder_done(&b);
}

static void texts_stacks_modules_and_phases(void **state)
{
	struct builder b;
	uint64_t frames[TDM_LEDGER_STACK_MAX], base, size;
	struct tdm_str module;
	struct tdm_ledger_phase phases[4];
	(void)state;
	builder_sample(&b);
	struct tdm_ledger *ledger = open_good(&b);
	uint32_t stack = builder_more(&b, builder_header(&b)->device_offset[0], 3)->stack;
	assert_int_equal(tdm_ledger_stack(ledger, stack, frames), 3);
	assert_int_equal(frames[0], 0x401234);
	assert_true(tdm_str_is(tdm_ledger_text(ledger, (uint32_t)frames[2]), "model.py:12 (forward)"));
	assert_int_equal(tdm_ledger_module(ledger, 0, &base, &size, &module), 1);
	assert_int_equal(base, 0x400000);
	assert_true(tdm_str_is(module, "/usr/bin/model"));
	assert_int_equal(tdm_ledger_module(ledger, 1, &base, &size, &module), 1);
	assert_int_equal(size, 0x200000);
	assert_int_equal(tdm_ledger_module(ledger, 2, &base, &size, &module), 0);
	assert_int_equal(tdm_ledger_phases(ledger, 0, phases, 4), 2);
	assert_true(tdm_str_is(tdm_ledger_text(ledger, phases[1].name), "BACKWARD"));
	assert_int_equal(tdm_ledger_phases(ledger, 1, phases, 4), 1);
	assert_int_equal(tdm_ledger_phases(ledger, 2, phases, 4), 0);
	assert_int_equal(tdm_ledger_phases(ledger, SIZE_MAX, phases, 4), 0);
	/* Numbers that are none, or of another kind. */
	assert_int_equal(tdm_ledger_text(ledger, 0).len, 0);
	assert_int_equal(tdm_ledger_refused(ledger), 0);
	assert_int_equal(tdm_ledger_text(ledger, stack).len, 0);
	assert_int_equal(tdm_ledger_text(ledger, 1).len, 0);
	assert_int_equal(tdm_ledger_text(ledger, UINT32_MAX).len, 0);
	assert_int_equal(tdm_ledger_stack(ledger, 2, frames), 0);
	assert_int_equal(tdm_ledger_refused(ledger), 4);
	tdm_ledger_close(ledger);
	builder_done(&b);
}

static void blobs_over_several_segments(void **state)
{
	enum { TEXTS = 2000 };
	struct builder b;
	static uint32_t numbers[TEXTS];
	char text[TDM_LEDGER_TEXT_MAX + 1];
	uint64_t base, size;
	struct tdm_str module;
	(void)state;
	builder_init(&b);
	for (int i = 0; i < TEXTS; i++) {
		snprintf(text, sizeof text, "text %d %0*d", i, i % 200 + 1, 0);
		numbers[i] = builder_text(&b, text);
		if (i % 500 == 499)
			builder_module(&b, (uint64_t)i, 1, "/m");
	}
	struct tdm_ledger *ledger = open_good(&b);
	assert_true(builder_header(&b)->blob_segments >= 3);
	for (int i = 0; i < TEXTS; i++) {
		snprintf(text, sizeof text, "text %d %0*d", i, i % 200 + 1, 0);
		assert_true(tdm_str_is(tdm_ledger_text(ledger, numbers[i]), text));
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(tdm_ledger_module(ledger, i, &base, &size, &module), 1);
		assert_int_equal(base, 500 * i + 499);
	}
	assert_int_equal(tdm_ledger_module(ledger, 4, &base, &size, &module), 0);
	tdm_ledger_close(ledger);
	builder_done(&b);
}

static void clocks(void **state)
{
	struct builder b;
	uint64_t ns;
	(void)state;
	builder_sample(&b);
	struct tdm_ledger *ledger = open_good(&b);
	assert_true(tdm_ledger_monotonic(ledger, BUILDER_TICKS, &ns));
	assert_int_equal(ns, TDM_NS_PER_S);
	assert_true(tdm_ledger_monotonic(ledger, BUILDER_TICKS + 500, &ns));
	assert_int_equal(ns, TDM_NS_PER_S + 500 * BUILDER_NS_PER_TICK);
	assert_true(tdm_ledger_monotonic(ledger, BUILDER_TICKS - 500, &ns));
	assert_int_equal(ns, TDM_NS_PER_S - 500 * BUILDER_NS_PER_TICK);
	assert_true(tdm_ledger_realtime(ledger, BUILDER_TICKS + 500, &ns));
	assert_int_equal(ns, 100 * TDM_NS_PER_S + 500 * BUILDER_NS_PER_TICK);
	assert_false(tdm_ledger_monotonic(ledger, UINT64_MAX, &ns));
	assert_int_equal(tdm_ledger_started(ledger), TDM_NS_PER_S);
	tdm_ledger_close(ledger);

	/* One reading only, of another boot: nothing can be said. A step of the clock between two readings: the newer
	 * one counts. */
	builder_header(&b)->last = builder_header(&b)->first;
	ledger = open_good(&b);
	assert_false(tdm_ledger_monotonic(ledger, BUILDER_TICKS, &ns));
	tdm_ledger_close(ledger);
	builder_header(&b)->last =
		(struct tdm_ledger_clock){ BUILDER_TICKS + TDM_NS_PER_S, 3 * TDM_NS_PER_S, TDM_NS_PER_S };
	ledger = open_good(&b);
	assert_true(tdm_ledger_realtime(ledger, BUILDER_TICKS + TDM_NS_PER_S, &ns));
	assert_int_equal(ns, TDM_NS_PER_S);
	assert_false(tdm_ledger_realtime(ledger, BUILDER_TICKS, &ns)); /* before that clock's beginning */
	/* While it is being written the second reading is not used. */
	builder_header(&b)->last_seq = 3;
	tdm_ledger_close(ledger);
	ledger = open_good(&b);
	assert_false(tdm_ledger_monotonic(ledger, BUILDER_TICKS, &ns));
	tdm_ledger_close(ledger);
	builder_done(&b);
}

static void refusals_say_why(void **state)
{
	struct builder b;
	(void)state;
	unlink(path);
	expect_refused(-ENOENT, "No such file");
	assert_int_equal(symlink("/etc/passwd", path), 0);
	expect_refused(-ELOOP, "symbolic link");
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_refused(TDM_ECORRUPT, "regular");
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	expect_refused(TDM_ECORRUPT, "regular");
	rmdir(path);

	builder_init(&b);
	struct tdm_ledger_header good = *builder_header(&b);
	builder_write(&b, path);
	assert_int_equal(ledger_walk(path), 0); /* without devices it is a ledger, too */
	builder_header(&b)->major = 2;
	builder_write(&b, path);
	expect_refused(TDM_EVERSION, "version 2.0");
	*builder_header(&b) = good;
	builder_header(&b)->state = TDM_LEDGER_NEW;
	builder_write(&b, path);
	expect_refused(-EAGAIN, "setting it up");
	*builder_header(&b) = good;
	builder_header(&b)->magic = 1;
	builder_write(&b, path);
	expect_refused(TDM_ECORRUPT, "not a ledger");
	*builder_header(&b) = good;
	builder_header(&b)->device_count = TDM_LEDGER_DEVICES + 1;
	builder_write(&b, path);
	expect_refused(TDM_ECORRUPT, "65 devices");
	*builder_header(&b) = good;
	builder_header(&b)->pid = -1;
	builder_write(&b, path);
	expect_refused(TDM_ECORRUPT, "pid -1");
	*builder_header(&b) = good;
	builder_header(&b)->header_size = 16;
	builder_write(&b, path);
	expect_refused(TDM_ECORRUPT, "16 bytes");
	assert_int_equal(truncate(path, 0), 0);
	expect_refused(-EAGAIN, "setting it up");
	assert_int_equal(truncate(path, 100), 0);
	expect_refused(TDM_ECORRUPT, "100 bytes");
	builder_done(&b);
}

/* Offsets and counts that reach outside, wrap around, or make areas overlap: that device is refused, the rest is read.
 */
static void directories_that_cannot_be(void **state)
{
	static const uint64_t offsets[] = { 0, 1, 100, TDM_LEDGER_PAGE - 8, UINT64_MAX, UINT64_MAX - 4543,
		UINT64_C(1) << 63, INT64_MAX, (UINT64_C(1) << 63) - 4096 };
	struct builder b, sample;
	(void)state;
	builder_sample(&sample);
	for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
		for (int what = 0; what < 8; what++) {
			builder_sample(&b);
			uint64_t device = builder_header(&b)->device_offset[0];
			struct tdm_ledger_device *page = builder_device(&b, device);
			uint64_t *words[] = { &builder_header(&b)->device_offset[0], &page->slot_offset[0],
				&page->ring_offset, &page->ring_records, &builder_header(&b)->blob_offset[0],
				&builder_header(&b)->phase_offset[0], &builder_header(&b)->file_size,
				&builder_header(&b)->blob_used };
			*words[what] = offsets[i];
			builder_write(&b, path);
			assert_int_equal(ledger_walk(path), 0);
			builder_done(&b);
		}
	/* Areas that share bytes. */
	builder_sample(&b);
	uint64_t first = builder_header(&b)->device_offset[0], second = builder_header(&b)->device_offset[1];
	builder_device(&b, second)->slot_offset[0] = builder_device(&b, first)->slot_offset[0];
	builder_write(&b, path);
	struct tdm_ledger *ledger;
	assert_int_equal(tdm_ledger_open(path, &ledger, NULL), 0);
	assert_int_equal(tdm_ledger_device_count(ledger), 1);
	assert_int_equal(tdm_ledger_device(ledger, 0)->number, 0);
	assert_int_equal(tdm_ledger_refused(ledger), 1);
	tdm_ledger_close(ledger);
	builder_done(&b);
	builder_done(&sample);
}

static void counts_that_cannot_be(void **state)
{
	struct builder b;
	struct tdm_ledger *ledger;
	struct tdm_ledger_buffer *buffers;
	size_t count;
	bool exact;
	(void)state;
	builder_sample(&b);
	uint64_t device = builder_header(&b)->device_offset[0];
	/* A counter above its own peak is not believed; the buffers still are read. */
	builder_device(&b, device)->now[TDM_KIND_DRAM][0].bytes = UINT64_MAX;
	builder_device(&b, device)->now[TDM_KIND_DRAM][1].bytes = UINT64_MAX;
	builder_device(&b, device)->slot_high = UINT32_MAX;
	builder_header(&b)->phase_count = UINT32_MAX;
	builder_write(&b, path);
	assert_int_equal(tdm_ledger_open(path, &ledger, NULL), 0);
	assert_int_equal(tdm_ledger_refused(ledger), 1);
	assert_int_equal(tdm_ledger_device(ledger, 0)->counts[TDM_KIND_DRAM].seq, 0);
	assert_int_equal(tdm_ledger_device(ledger, 0)->counts[TDM_KIND_L1].buffers, 3);
	assert_int_equal(tdm_ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
	assert_int_equal(count, 6);
	assert_false(exact);
	free(buffers);
	tdm_ledger_close(ledger);
	/* A slot with a product that does not fit. */
	builder_slot(&b, device, 0)->bank_bytes = UINT64_MAX;
	builder_slot(&b, device, 1)->kind = TDM_KIND_COUNT;
	builder_write(&b, path);
	assert_int_equal(tdm_ledger_open(path, &ledger, NULL), 0);
	assert_int_equal(tdm_ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
	assert_int_equal(count, 4);
	assert_int_equal(tdm_ledger_refused(ledger), 3);
	free(buffers);
	tdm_ledger_close(ledger);
	assert_int_equal(ledger_walk(path), 0);
	builder_done(&b);
}

/* A file of exabytes without content must not take time or memory. */
static void a_sparse_giant(void **state)
{
	struct builder b;
	(void)state;
	builder_init(&b);
	uint64_t device = builder_add_device(&b, 0);
	struct tdm_ledger_device *page = builder_device(&b, device);
	uint64_t at = b.size;
	for (uint32_t k = 1; k < TDM_LEDGER_SEGMENTS - 4; k++) {
		page->slot_offset[k] = at;
		at += ((uint64_t)TDM_LEDGER_FIRST_SLOTS << k) *
		      (sizeof(struct tdm_ledger_slot) + sizeof(struct tdm_ledger_more));
		page->slot_segments = k + 1;
	}
	page->slot_high = UINT32_MAX;
	builder_header(&b)->file_size = at;
	builder_write(&b, path);
	if (truncate(path, (off_t)at) == 0)
		assert_int_equal(ledger_walk(path), 0);
	builder_done(&b);
}

static void write_byte(int fd, uint64_t offset, uint8_t byte)
{
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
}

/* Every bit of what directs the reader, and one of each byte of the rest that is used. */
static void every_flipped_bit(void **state)
{
	struct builder b;
	(void)state;
	builder_sample(&b);
	builder_write(&b, path);
	uint64_t device = builder_header(&b)->device_offset[0];
	const struct {
		uint64_t offset, bytes;
		int bits;
	} parts[] = {
		{ 0, 48, 8 },
		{ 48, offsetof(struct tdm_ledger_header, first) - 48, 1 },
		{ offsetof(struct tdm_ledger_header, first), 72, 2 },
		{ offsetof(struct tdm_ledger_header, device_count), 32, 8 },
		{ offsetof(struct tdm_ledger_header, blob_offset), 8, 8 },
		{ offsetof(struct tdm_ledger_header, phase_count), 24, 8 },
		{ offsetof(struct tdm_ledger_header, device_offset), 24, 8 },
		{ device, 8, 8 },
		{ device + 64, 96, 4 },
		{ device + offsetof(struct tdm_ledger_device, slot_segments), 24, 8 },
		{ device + offsetof(struct tdm_ledger_device, ring_offset), 16, 8 },
		{ device + offsetof(struct tdm_ledger_device, now), 4 * 64, 2 },
		{ device + offsetof(struct tdm_ledger_device, peak), 4 * 64, 2 },
		{ builder_device(&b, device)->slot_offset[0], 4 * 64, 2 },
		{ builder_device(&b, device)->slot_offset[0] + 512 * 64, 2 * 32, 4 },
		{ builder_device(&b, device)->ring_offset, 3 * 64, 2 },
		{ builder_header(&b)->blob_offset[0] + 16, 160, 3 },
		{ builder_header(&b)->phase_offset[0], 64, 1 },
	};
	int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
		for (uint64_t at = parts[p].offset; at < parts[p].offset + parts[p].bytes; at++)
			for (int bit = 0; bit < parts[p].bits; bit++) {
				write_byte(fd, at, b.bytes[at] ^ (uint8_t)(1 << (bit * 8 / parts[p].bits)));
				ledger_walk(path);
				write_byte(fd, at, b.bytes[at]);
			}
	assert_int_equal(ledger_walk(path), 0);
	close(fd);
	builder_done(&b);
}

static void every_truncation(void **state)
{
	struct builder b;
	(void)state;
	builder_sample(&b);
	builder_write(&b, path);
	/* Cutting from the end on, so that the file need not be written again. */
	for (uint64_t len = b.size; len > 0;) {
		assert_int_equal(truncate(path, (off_t)len), 0);
		ledger_walk(path);
		uint64_t step = len > 16384                              ? 4099
				: len > TDM_LEDGER_PAGE + 64             ? 61
				: len > sizeof(struct tdm_ledger_header) ? 7
									 : 1;
		len = len > step ? len - step : 0;
	}
	builder_done(&b);
}

/* Somebody cuts and scribbles on the ledger while it is open. */
static void it_changes_under_the_reader(void **state)
{
	struct builder b;
	struct tdm_ledger *ledger;
	struct tdm_ledger_buffer *buffers;
	struct tdm_ledger_record records[16];
	struct tdm_diag diag = { 0 };
	uint64_t missed;
	size_t count;
	bool exact;
	(void)state;
	builder_sample(&b);
	ledger = open_good(&b);
	/* It grows: a new picture shows that. */
	uint64_t device = builder_header(&b)->device_offset[0];
	for (uint64_t i = 0; i < 1000; i++)
		builder_alloc(&b, device,
			(struct tdm_ledger_slot){
				.id = 5000 + i, .asked = 1, .bank_bytes = 32, .banks = 1, .kind = TDM_KIND_L1 },
			(struct tdm_ledger_more){ .name = builder_text(&b, "later") });
	builder_write(&b, path);
	assert_int_equal(tdm_ledger_device(ledger, 0)->seq, 10);
	assert_int_equal(tdm_ledger_refresh(ledger, &diag), 0);
	assert_int_equal(tdm_ledger_device(ledger, 0)->seq, 1010);
	assert_int_equal(tdm_ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
	assert_true(exact);
	assert_int_equal(count, 1006);
	assert_true(tdm_str_is(tdm_ledger_text(ledger, buffers[count - 1].more.name), "later"));
	free(buffers);
	/* It is cut: errors, and the last picture stays. */
	assert_int_equal(truncate(path, TDM_LEDGER_PAGE), 0);
	assert_int_equal(tdm_ledger_buffers(ledger, 0, &buffers, &count, &exact), TDM_ECORRUPT);
	assert_int_equal(tdm_ledger_events(ledger, 0, 0, records, 16, &missed), TDM_ECORRUPT);
	assert_int_equal(truncate(path, 10), 0);
	assert_int_equal(tdm_ledger_refresh(ledger, &diag), TDM_ECORRUPT);
	assert_int_equal(tdm_ledger_device_count(ledger), 2);
	assert_int_equal(tdm_ledger_device(ledger, 0)->seq, 1010);
	tdm_ledger_close(ledger);
	builder_done(&b);
}

/* A child corrupts the file at random while it is read over and over. */
static void a_vandal_works_on_it(void **state)
{
	struct builder b;
	(void)state;
	builder_sample(&b);
	builder_write(&b, path);
	pid_t child = fork();
	if (child == 0) {
		int fd = open(path, O_RDWR | O_CLOEXEC);
		for (uint64_t i = 0;; i++) {
			uint64_t r = tdm_hash_u64(i), at = r % (i % 4 == 0 ? b.size : (uint64_t)TDM_LEDGER_PAGE * 3);
			uint64_t word = i % 3 == 0 ? r : i % 3 == 1 ? UINT64_MAX : (uint64_t)b.bytes[at];
			ssize_t put = pwrite(fd, &word, 8, (off_t)(at / 8 * 8));
			if (i % 64 == 63) /* whole again, mostly */
				put = pwrite(fd, b.bytes, b.size, 0);
			if (i % 1024 == 1023 && ftruncate(fd, (off_t)(r % b.size)) != 0)
				_exit(1);
			(void)put;
		}
	}
	assert_true(child > 0);
	for (int i = 0; i < 2000; i++)
		ledger_walk(path);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	builder_done(&b);
}

struct seen {
	char names[16][128];
	size_t count;
};

static void note_path(void *context, const char *found)
{
	struct seen *seen = context;
	assert_true(seen->count < 16);
	snprintf(seen->names[seen->count++], sizeof seen->names[0], "%s", found + strlen(dir));
}

static void touch(const char *name)
{
	char file[PATH_MAX + 128];
	snprintf(file, sizeof file, "%s/%s", dir, name);
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void names_and_listing(void **state)
{
	static const char *const ledgers[] = { "tidemark.1.2.0", "tidemark.99999999.1.3" };
	static const char *const others[] = { "tidemark", "tidemark.", "tidemark.1", "tidemark.1.2", "tidemark.1.2.3.4",
		"tidemark.a.2.3", "tidemark.1..3", "tidemark.1.2.3x", "xtidemark.1.2.3", "tidemark.-1.2.3",
		"tidemark.run.txt" };
	struct seen seen = { 0 };
	char file[PATH_MAX + 128];
	(void)state;
	unlink(path);
	for (size_t i = 0; i < 2; i++) {
		assert_true(tdm_ledger_is_name(ledgers[i]));
		touch(ledgers[i]);
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		assert_false(tdm_ledger_is_name(others[i]));
		touch(others[i]);
	}
	snprintf(file, sizeof file, "%s/tidemark.run.77.abc", dir);
	assert_int_equal(mkdir(file, 0700), 0);
	touch("tidemark.run.77.abc/tidemark.5.6.0");
	assert_int_equal(tdm_ledger_list(dir, note_path, &seen), 0);
	assert_int_equal(seen.count, 3);
	assert_string_equal(seen.names[0], "/tidemark.1.2.0");
	assert_string_equal(seen.names[1], "/tidemark.99999999.1.3");
	assert_string_equal(seen.names[2], "/tidemark.run.77.abc/tidemark.5.6.0");
	snprintf(file, sizeof file, "%s/none", dir);
	assert_int_equal(tdm_ledger_list(file, note_path, &seen), -ENOENT);
	setenv("TIDEMARK_DIR", dir, 1);
	seen.count = 0;
	assert_int_equal(tdm_ledger_list(NULL, note_path, &seen), 0);
	assert_int_equal(seen.count, 3);
	unsetenv("TIDEMARK_DIR");

	char command[PATH_MAX + 64];
	snprintf(command, sizeof command, "rm -r '%s'/*", dir);
	assert_int_equal(system(command), 0);
}

/* The lock of its writer says whether it lives; only dead ones are removed. */
static void liveness_and_reaping(void **state)
{
	struct builder b;
	int tell[2];
	char c;
	(void)state;
	builder_sample(&b);
	builder_write(&b, path);
	assert_int_equal(pipe(tell), 0);
	pid_t child = fork();
	if (child == 0) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
		int fd = open(path, O_RDWR | O_CLOEXEC);
		if (fcntl(fd, F_SETLK, &lock) != 0 || write(tell[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(tell[0], &c, 1), 1);
	struct tdm_ledger *ledger;
	assert_int_equal(tdm_ledger_open(path, &ledger, NULL), 0);
	assert_int_equal(tdm_ledger_liveness(ledger), TDM_ALIVE);
	assert_int_equal(tdm_ledger_reap(path), -EBUSY);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(tdm_ledger_liveness(ledger), TDM_DEAD);
	tdm_ledger_close(ledger);
	assert_int_equal(tdm_ledger_reap("/etc/passwd"), -EINVAL);
	assert_int_equal(tdm_ledger_reap(path), 0);
	assert_int_equal(access(path, F_OK), -1);
	/* One without a length yet is being made, a moment ago. */
	touch("tidemark.1.2.3");
	char file[PATH_MAX + 128];
	snprintf(file, sizeof file, "%s/tidemark.1.2.3", dir);
	assert_int_equal(tdm_ledger_reap(file), -EBUSY);
	unlink(file);
	close(tell[0]);
	close(tell[1]);
	builder_done(&b);
}

/* Reading one's own ledger, and closing it, must not take away the lock that says that one lives. */
static void ones_own_ledger_stays_locked(void **state)
{
	struct builder b;
	char own[PATH_MAX + 64];
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	(void)state;
	builder_sample(&b);
	builder_header(&b)->pid = getpid();
	snprintf(own, sizeof own, "%s/tidemark.%d.1.0", dir, (int)getpid());
	builder_write(&b, own);
	int fd = open(own, O_RDWR | O_CLOEXEC);
	assert_int_equal(fcntl(fd, F_SETLK, &lock), 0);
	for (int i = 0; i < 3; i++) {
		struct tdm_ledger *ledger;
		assert_int_equal(tdm_ledger_open(own, &ledger, NULL), 0);
		assert_int_equal(tdm_ledger_liveness(ledger), TDM_ALIVE);
		tdm_ledger_close(ledger);
	}
	assert_int_equal(tdm_ledger_reap(own), -EBUSY);
	pid_t child = fork();
	if (child == 0) {
		struct tdm_ledger *ledger;
		_exit(tdm_ledger_open(own, &ledger, NULL) == 0 && tdm_ledger_liveness(ledger) == TDM_ALIVE ? 0 : 1);
	}
	int status;
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	close(fd);
	unlink(own);
	builder_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identity_and_counters),
		cmocka_unit_test(live_buffers_are_those_of_the_counters),
		cmocka_unit_test(many_segments),
		cmocka_unit_test(an_unfinished_call_is_not_seen),
		cmocka_unit_test(events_in_order_and_counted_when_gone),
		cmocka_unit_test(texts_stacks_modules_and_phases),
		cmocka_unit_test(blobs_over_several_segments),
		cmocka_unit_test(clocks),
		cmocka_unit_test(refusals_say_why),
		cmocka_unit_test(directories_that_cannot_be),
		cmocka_unit_test(counts_that_cannot_be),
		cmocka_unit_test(a_sparse_giant),
		cmocka_unit_test(every_flipped_bit),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(it_changes_under_the_reader),
		cmocka_unit_test(a_vandal_works_on_it),
		cmocka_unit_test(names_and_listing),
		cmocka_unit_test(liveness_and_reaping),
		cmocka_unit_test(ones_own_ledger_stays_locked),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
