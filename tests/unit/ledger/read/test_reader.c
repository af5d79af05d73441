/* The reader of ledgers: everything in a valid ledger, and its owner. */
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
#include "ledger/layout/ledger_file.h"
#include "ledger/read/ledger_list.h"
#include "ledger/archive/archive.h"
#include "ledger/read/reader.h"
#include "ledger_buffers.h"
#include "ledger_builder.h"
#include "ledger_place.h"
#include "ledger_walk.h"

#include <inttypes.h>

static void identity_and_counters(void **state)
{
	struct builder b;
	(void)state;
	builder_sample(&b);
	struct tdm_ledger *ledger = open_good(&b);
	const struct tdm_ledger_header *who = tdm_ledger_header(ledger);
	assert_int_equal(who->pid, BUILDER_PID);
	assert_int_equal(who->start_time, 12345);
	assert_int_equal(who->uid, 1000);
	assert_string_equal(who->command, "model --layers 12");
	assert_int_equal(tdm_ledger_header(ledger)->state, TDM_LEDGER_OPEN);
	assert_int_equal(tdm_ledger_liveness(ledger), TDM_DEAD);
	assert_int_equal(tdm_ledger_device_count(ledger), 2);
	assert_null(tdm_ledger_device(ledger, 2));

	const struct tdm_ledger_view *view = tdm_ledger_device(ledger, 0);
	assert_int_equal(view->seq, 10);
	assert_string_equal(view->info.card, "n150");
	assert_int_equal(view->info.region_count, 1);
	assert_int_equal(view->counts[TDM_KIND_DRAM].double_frees, 2);
	/* 1, 3, 5 and 7 KiB a bank were allocated, the second of them freed. */
	assert_int_equal(view->counts[TDM_KIND_DRAM].buffers, 3);
	assert_int_equal(view->counts[TDM_KIND_DRAM].reserved, 12 * 1024 * (1 + 5 + 7));
	assert_int_equal(view->counts[TDM_KIND_DRAM].peak, 12 * 1024 * (1 + 3 + 5 + 7));
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
	assert_int_equal(ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
	assert_true(exact);
	assert_int_equal(count, 6);
	for (size_t i = 0; i < count; i++) {
		uint64_t n = buffers[i].slot.id - 100;
		assert_true(n < 8 && n != 2 && n != 5);
		assert_int_equal(buffers[i].reserved_bytes, 12 * 1024 * (n + 1));
		assert_int_equal(buffers[i].occupied_bytes, 3 * 1024 * (n + 1));
		assert_int_equal(buffers[i].more.thread, 4243);
		struct tdm_str name = tdm_ledger_text(ledger, buffers[i].slot.name);
		assert_true(tdm_str_is(name, "weights"));
		assert_ptr_equal(tdm_ledger_text(ledger, buffers[i].slot.name).ptr, name.ptr);
	}
	free(buffers);
	assert_int_equal(ledger_buffers(ledger, 1, &buffers, &count, &exact), 0);
	assert_true(exact);
	assert_int_equal(count, 1);
	assert_int_equal(buffers[0].reserved_bytes, 0);
	free(buffers);
	assert_int_equal(ledger_buffers(ledger, 2, &buffers, &count, &exact), -ENODEV);
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
	assert_int_equal(ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
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
	assert_int_equal(ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
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
	builder_write(&b, place_file);
	assert_int_equal(ledger_walk(place_file), 0);
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
	/* The two records that the next call may overwrite are not trusted. */
	assert_int_equal(got, TDM_LEDGER_RING - 2);
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
	uint32_t stack = builder_slot(&b, builder_header(&b)->device_offset[0], 3)->stack;
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
	assert_false(tdm_ledger_monotonic(ledger, UINT64_MAX, &ns));
	assert_int_equal(tdm_ledger_header(ledger)->first.monotonic_ns, TDM_NS_PER_S);
	tdm_ledger_close(ledger);

	/* One reading only, of another boot: nothing can be said. */
	builder_header(&b)->last = builder_header(&b)->first;
	ledger = open_good(&b);
	assert_false(tdm_ledger_monotonic(ledger, BUILDER_TICKS, &ns));
	tdm_ledger_close(ledger);
	builder_header(&b)->last =
		(struct tdm_ledger_clock){ BUILDER_TICKS + TDM_NS_PER_S, 3 * TDM_NS_PER_S, TDM_NS_PER_S };
	ledger = open_good(&b);
	assert_true(tdm_ledger_monotonic(ledger, BUILDER_TICKS + TDM_NS_PER_S, &ns));
	assert_int_equal(ns, 3 * TDM_NS_PER_S);
	/* While it is being written the second reading is not used. */
	builder_header(&b)->last_seq = 3;
	tdm_ledger_close(ledger);
	ledger = open_good(&b);
	assert_false(tdm_ledger_monotonic(ledger, BUILDER_TICKS, &ns));
	tdm_ledger_close(ledger);
	builder_done(&b);
}

/* What is read of the clashes in the sample after a change. Returns how much was refused. */
static uint64_t read_clashes(struct builder *b, void (*change)(struct builder *, struct tdm_ledger_runtime *),
	struct tdm_ledger_clash *clashes)
{
	static struct tdm_ledger_runtime told;
	const struct tdm_ledger_runtime_head nothing = { 0 };
	builder_sample(b);
	struct tdm_ledger_device *device = builder_device(b, builder_header(b)->device_offset[0]);
	change(b, builder_at(b, device->runtime_offset));
	struct tdm_ledger *ledger = open_good(b);
	/* What is left of an earlier ledger must not be taken for this one's. */
	memset(&told, 0xff, sizeof told);
	for (size_t i = 0; i < TDM_CLASH_TYPES; i++)
		told.clashes[i] = (struct tdm_ledger_clash){ .count = 9, .end = 9, .limit = 8 };
	assert_int_equal(tdm_ledger_told(ledger, 0, &nothing, &told), 1);
	memcpy(clashes, told.clashes, sizeof told.clashes);
	uint64_t refused = tdm_ledger_refused(ledger);
	tdm_ledger_close(ledger);
	builder_done(b);
	return refused;
}

static void as_it_is(struct builder *b, struct tdm_ledger_runtime *told)
{
	(void)b, (void)told;
}

static void of_minor_4(struct builder *b, struct tdm_ledger_runtime *told)
{
	builder_header(b)->minor = 4;
	told->head.clash_types = 0; /* was reserved */
}

static void lying_of_minor_4(struct builder *b, struct tdm_ledger_runtime *told)
{
	(void)told;
	builder_header(b)->minor = 4;
}

static void with_nonsense(struct builder *b, struct tdm_ledger_runtime *told)
{
	(void)b;
	told->head.clash_types = 0xffff;
	told->clashes[TDM_CLASH_L1].kind = TDM_KIND_COUNT;
	told->clashes[TDM_CLASH_BEYOND].limit = told->clashes[TDM_CLASH_BEYOND].end; /* nothing is in excess */
	told->clashes[TDM_CLASH_UNKNOWN] = (struct tdm_ledger_clash){ .count = 1, .range = { 4, 0, 3, 0 } };
}

static void with_absurd_ends(struct builder *b, struct tdm_ledger_runtime *told)
{
	(void)b;
	told->clashes[TDM_CLASH_L1].end = UINT64_MAX;
	told->clashes[TDM_CLASH_BEYOND].begin = told->clashes[TDM_CLASH_BEYOND].end + 1;
}

/* What is impossible is left out and counted; an older ledger has no room for clashes, whatever is there. */
static void clashes_are_checked(void **state)
{
	static const struct {
		void (*change)(struct builder *, struct tdm_ledger_runtime *);
		uint64_t refused;
		bool is_kept;
	} cases[] = { { as_it_is, 0, true }, { of_minor_4, 0, false }, { lying_of_minor_4, 2, false },
		{ with_nonsense, 4, false }, { with_absurd_ends, 2, false } };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct builder b;
		struct tdm_ledger_clash clashes[TDM_CLASH_TYPES];
		assert_int_equal(read_clashes(&b, cases[i].change, clashes), cases[i].refused);
		assert_int_equal(clashes[TDM_CLASH_L1].count, cases[i].is_kept ? 2 : 0);
		assert_int_equal(clashes[TDM_CLASH_BEYOND].count, cases[i].is_kept ? 3 : 0);
		assert_int_equal(clashes[TDM_CLASH_UNKNOWN].count, 0);
	}
}

static void touch(const char *name)
{
	char file[PATH_MAX + 128];
	snprintf(file, sizeof file, "%s/%s", place_dir, name);
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

/* The lock of its writer says whether it lives; only dead ones are removed. */
static void liveness_and_reaping(void **state)
{
	struct builder b;
	int tell[2];
	char c;
	(void)state;
	builder_sample(&b);
	builder_write(&b, place_file);
	assert_int_equal(pipe(tell), 0);
	pid_t child = fork();
	if (child == 0) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
		int fd = open(place_file, O_RDWR | O_CLOEXEC);
		if (fcntl(fd, F_SETLK, &lock) != 0 || write(tell[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(tell[0], &c, 1), 1);
	struct tdm_ledger *ledger;
	assert_int_equal(tdm_ledger_open(place_file, &ledger, NULL), 0);
	assert_int_equal(tdm_ledger_liveness(ledger), TDM_ALIVE);
	assert_int_equal(tdm_ledger_reap(place_file), -EBUSY);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(tdm_ledger_liveness(ledger), TDM_DEAD);
	tdm_ledger_close(ledger);
	assert_int_equal(tdm_ledger_reap("/etc/passwd"), -EINVAL);
	/* Neither a link to a dead ledger nor a pipe that nobody writes is one. */
	char other[PATH_MAX + 128];
	snprintf(other, sizeof other, "%s/tidemark.1.2.4", place_dir);
	assert_int_equal(symlink(place_file, other), 0);
	assert_int_equal(tdm_ledger_reap(other), -ELOOP);
	unlink(other);
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_true(tdm_ledger_reap(other) < 0);
	unlink(other);
	assert_int_equal(tdm_ledger_reap(place_file), 0);
	assert_int_equal(access(place_file, F_OK), -1);
	/* One without a length yet is being made, a moment ago. */
	touch("tidemark.1.2.3");
	char file[PATH_MAX + 128];
	snprintf(file, sizeof file, "%s/tidemark.1.2.3", place_dir);
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
	/* A process in another namespace may have the same pid: nobody holds the lock of its ledger, so it has ended.
	 */
	snprintf(own, sizeof own, "%s/tidemark.%d.1.0", place_dir, (int)getpid());
	builder_write(&b, own);
	struct tdm_ledger *other;
	assert_int_equal(tdm_ledger_open(own, &other, NULL), 0);
	assert_int_equal(tdm_ledger_liveness(other), TDM_DEAD);
	tdm_ledger_close(other);
	assert_int_equal(tdm_ledger_reap(own), 0);
	snprintf(own, sizeof own, "%s/tidemark.%d.%" PRIu64 ".0", place_dir, (int)getpid(), tdm_ledger_start_of(0));
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
		cmocka_unit_test(clashes_are_checked),
		cmocka_unit_test(liveness_and_reaping),
		cmocka_unit_test(ones_own_ledger_stays_locked),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
