/* The fold: events into processes, holdings, buffers and their sums; faults and limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fold_steps.h"

static void an_empty_one(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	assert_int_equal(fold.count, 0);
	assert_null(tdm_fold_find(&fold, 0));
	assert_true(fold_is_valid(&fold));
	apply(&fold, event_of(TDM_OP_FORGET, 5, 0)); /* of nobody */
	tdm_fold_done(&fold);
}

static void sums_and_peaks(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	describe_process(&fold, 5, who(42));
	struct tdm_event event = alloc_of(5, 0, TDM_KIND_DRAM, 1, 1000);
	event.bytes_per_bank = 96;
	event.banks = 12;
	event.holding = 11;
	event.time_ns = 77;
	event.name = tdm_str_of("weights");
	struct tdm_frame frames[] = { { .address = 0x1000 }, { .text = tdm_str_of("model.py:3") } };
	event.frames = frames;
	event.frame_count = 2;
	apply(&fold, event);
	event.id = 2;
	apply(&fold, event);
	release(&fold, 5, 0, TDM_KIND_DRAM, 1);
	const struct tdm_fold_kind *dram = kind_of(&fold, 5, 0, TDM_KIND_DRAM);
	assert_int_equal(dram->reserved, 96 * 12);
	assert_int_equal(dram->occupied, 96 * 11);
	assert_int_equal(dram->asked, 1000);
	assert_false(dram->has_counter); /* counted here, then */
	assert_int_equal(dram->counter.reserved, 96 * 12);
	assert_int_equal(dram->counter.asked, 1000);
	assert_int_equal(dram->counter.peak, 2 * 96 * 12);
	assert_int_equal(dram->counter.peak_asked, 2000);
	assert_int_equal(dram->counter.peak_ns, 77);
	assert_int_equal(dram->counter.buffers, 1);
	assert_int_equal(dram->counter.peak_buffers, 2);
	assert_int_equal(dram->counter.allocs, 2);
	assert_int_equal(dram->count, 1);
	assert_int_equal(dram->buffers[0].born_ns, 77);
	const struct tdm_picture picture = { .texts = &fold.texts };
	assert_string_equal(tdm_picture_text(&picture, dram->buffers[0].name), "weights");
	assert_string_equal(tdm_picture_text(&picture, 0), "");
	assert_string_equal(tdm_picture_text(&picture, 99), "");
	uint32_t count;
	const struct tdm_kept_frame *kept = tdm_picture_stack(&picture, dram->buffers[0].stack, &count);
	assert_int_equal(count, 2);
	assert_int_equal(kept[0].address, 0x1000);
	assert_string_equal(tdm_picture_text(&picture, kept[1].text), "model.py:3");
	assert_int_equal(fold.texts.stacks.count, 2); /* both allocations have the same one */
	assert_int_equal(tdm_fold_find(&fold, 5)->who.pid, 42);
	tdm_fold_done(&fold);
}

static void core_ranges_are_kept_once(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	static const struct tdm_core_range grid[] = { { 0, 0, 7, 7 }, { 1, 2, 3, 4 } };
	struct tdm_event event = alloc_of(0, 0, TDM_KIND_CB, 1, 100);
	event.ranges = grid;
	for (uint32_t id = 0; id < 6; id++) {
		event.id = id;
		event.range_count = id % 3;
		apply(&fold, event);
	}
	const struct tdm_fold_kind *cb = kind_of(&fold, 0, 0, TDM_KIND_CB);
	const struct tdm_picture picture = { .texts = &fold.texts };
	assert_int_equal(cb->count, 6);
	assert_int_equal(fold.texts.ranges.count, 3);
	for (size_t i = 0; i < cb->count; i++) {
		uint32_t count;
		const struct tdm_core_range *ranges = tdm_picture_ranges(&picture, cb->buffers[i].ranges, &count);
		assert_int_equal(count, cb->buffers[i].id % 3);
		assert_true((ranges != NULL) == (count != 0));
		if (count != 0)
			assert_memory_equal(ranges, grid, count * sizeof *grid);
	}
	uint32_t count = 7;
	assert_null(tdm_picture_ranges(&picture, 3, &count)); /* there is no such list */
	assert_int_equal(count, 0);
	tdm_fold_done(&fold);
}

static void a_view_has_no_bytes(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	struct tdm_event event = alloc_of(0, 0, TDM_KIND_CB, 1, 4096);
	event.flags = TDM_EVENT_VIEW;
	event.bytes_per_bank = 4096;
	event.banks = 64;
	apply(&fold, event);
	const struct tdm_fold_kind *cb = kind_of(&fold, 0, 0, TDM_KIND_CB);
	assert_int_equal(cb->reserved + cb->occupied + cb->asked, 0);
	assert_int_equal(cb->counter.reserved + cb->counter.asked, 0);
	assert_int_equal(cb->counter.buffers, 1);
	assert_int_equal(cb->buffers[0].asked_bytes, 4096);
	assert_false(tdm_fold_find(&fold, 0)->has_who); /* nobody has said whose it is */
	tdm_fold_done(&fold);
}

static void faults_are_counted(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	alloc(&fold, 0, 0, TDM_KIND_L1, 1, 100);
	alloc(&fold, 0, 0, TDM_KIND_L1, 1, 300); /* again, while it lives: the old one is gone */
	release(&fold, 0, 0, TDM_KIND_L1, 1);
	release(&fold, 0, 0, TDM_KIND_L1, 1);
	release(&fold, 0, 0, TDM_KIND_L1, 99);
	release(&fold, 0, 0, TDM_KIND_DRAM, 1); /* the id of another kind is another buffer */
	struct tdm_event oom = alloc_of(0, 0, TDM_KIND_L1, 0, 555);
	oom.op = TDM_OP_OOM;
	apply(&fold, oom);
	const struct tdm_fold_kind *l1 = kind_of(&fold, 0, 0, TDM_KIND_L1);
	assert_int_equal(l1->counter.reserved, 0);
	assert_int_equal(l1->counter.peak, 300);
	assert_int_equal(l1->counter.rereports, 1);
	assert_int_equal(l1->counter.unknown_frees, 2);
	assert_int_equal(l1->counter.out_of_memory, 1);
	assert_int_equal(l1->counter.oom_bytes, 555);
	assert_int_equal(kind_of(&fold, 0, 0, TDM_KIND_DRAM)->counter.unknown_frees, 1);
	tdm_fold_done(&fold);
}

static void absurd_sizes_are_refused(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	struct tdm_event event = alloc_of(0, 0, TDM_KIND_DRAM, 1, UINT64_MAX - 1);
	assert_int_equal(apply_refused(&fold, event), -EOVERFLOW);
	event.size = 1;
	event.bytes_per_bank = UINT64_MAX / 2;
	event.banks = 3;
	assert_int_equal(apply_refused(&fold, event), -EINVAL); /* the product does not fit */
	event.banks = 2;
	assert_int_equal(apply_refused(&fold, event), -EOVERFLOW);
	for (uint64_t i = 0; i < 4; i++) {
		event.id = 10 + i;
		event.bytes_per_bank = TDM_FOLD_BYTES_MAX / 4;
		event.banks = 1;
		apply(&fold, event);
	}
	event.id = 20;
	assert_int_equal(apply_refused(&fold, event), -EOVERFLOW);
	event.kind = TDM_KIND_COUNT;
	assert_int_equal(apply_refused(&fold, event), -EINVAL);
	assert_int_equal(fold.refused, 5);
	assert_int_equal(tdm_fold_find(&fold, 0)->refused, 3);
	assert_int_equal(kind_of(&fold, 0, 0, TDM_KIND_DRAM)->count, 4);
	tdm_fold_done(&fold);
}

/* A new report that cannot be leaves the buffer as it was. */
static void an_absurd_report_of_a_live_buffer(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	alloc(&fold, 0, 0, TDM_KIND_DRAM, 1, 100);
	alloc(&fold, 0, 0, TDM_KIND_DRAM, 2, 50);
	uint64_t version = fold.version;
	assert_int_equal(apply_refused(&fold, alloc_of(0, 0, TDM_KIND_DRAM, 1, TDM_FOLD_BYTES_MAX - 49)), -EOVERFLOW);
	const struct tdm_fold_kind *dram = kind_of(&fold, 0, 0, TDM_KIND_DRAM);
	assert_int_equal(dram->count, 2);
	assert_int_equal(dram->reserved, 150);
	assert_int_equal(dram->counter.reserved, 150);
	assert_int_equal(dram->counter.rereports, 0);
	assert_int_equal(fold.version, version);
	/* What it held itself is room for it. */
	alloc(&fold, 0, 0, TDM_KIND_DRAM, 1, TDM_FOLD_BYTES_MAX - 50);
	assert_int_equal(dram->reserved, TDM_FOLD_BYTES_MAX);
	release(&fold, 0, 0, TDM_KIND_DRAM, 2);
	release(&fold, 0, 0, TDM_KIND_DRAM, 1);
	assert_int_equal(dram->reserved + dram->asked + dram->counter.reserved, 0);
	tdm_fold_done(&fold);
}

static void processes_and_devices_are_apart(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	for (uint64_t p = 0; p < 4; p++) {
		describe_process(&fold, p, who((int32_t)p + 1));
		for (uint32_t d = 0; d < 3; d++)
			alloc(&fold, p, d == 2 ? TDM_DEVICE_VIRTUAL_BIT : d, TDM_KIND_DRAM, 1, 100 * (p + 1) + d);
	}
	for (uint64_t p = 0; p < 4; p++) {
		assert_int_equal(tdm_fold_find(&fold, p)->holding_count, 3);
		assert_int_equal(kind_of(&fold, p, 1, TDM_KIND_DRAM)->reserved, 100 * (p + 1) + 1);
		assert_int_equal(kind_of(&fold, p, TDM_DEVICE_VIRTUAL_BIT, TDM_KIND_DRAM)->reserved, 100 * (p + 1) + 2);
	}
	/* One goes, and the others are where they were. */
	apply(&fold, event_of(TDM_OP_FORGET, 1, 0));
	assert_null(tdm_fold_find(&fold, 1));
	assert_int_equal(fold.count, 3);
	assert_int_equal(kind_of(&fold, 3, 1, TDM_KIND_DRAM)->reserved, 401);
	assert_int_equal(tdm_fold_find(&fold, 3)->who.pid, 4);
	apply(&fold, event_of(TDM_OP_FORGET, 3, 0));
	apply(&fold, event_of(TDM_OP_FORGET, 3, 0));
	assert_int_equal(fold.count, 2);
	assert_true(fold_is_valid(&fold));
	tdm_fold_done(&fold);
}

static void a_process_is_described_again(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	alloc(&fold, 3, 0, TDM_KIND_DRAM, 1, 100);
	struct tdm_process identity = who(1);
	struct tdm_event event = event_of(TDM_OP_PROCESS, 3, 0);
	event.who = &identity;
	event.name = tdm_str_of("/dev/shm/tidemark.1.7.0");
	apply(&fold, event);
	const struct tdm_fold_process *process = tdm_fold_find(&fold, 3);
	assert_true(process->has_who && tdm_fold_runs(process));
	assert_string_equal(process->place, "/dev/shm/tidemark.1.7.0");
	identity.life = TDM_LIFE_ENDED;
	event.name = tdm_str_of("/kept/tidemark.1.7.0");
	apply(&fold, event);
	assert_false(tdm_fold_runs(process));
	assert_string_equal(process->place, "/kept/tidemark.1.7.0");
	event.name = (struct tdm_str){ 0 }; /* it does not say */
	apply(&fold, event);
	assert_string_equal(process->place, "/kept/tidemark.1.7.0");
	assert_int_equal(kind_of(&fold, 3, 0, TDM_KIND_DRAM)->reserved, 100); /* what it holds is not touched */
	tdm_fold_done(&fold);
}

static void a_device_is_described_again(void **state)
{
	(void)state;
	struct tdm_fold fold;
	struct tdm_device_info info = { .card = "n150", .region_count = 1 };
	struct tdm_event event = event_of(TDM_OP_DEVICE, 0, 4);
	fold_init(&fold);
	event.about = &info;
	apply(&fold, event);
	const struct tdm_fold_holding *holding = tdm_fold_holding_find(tdm_fold_find(&fold, 0), 4);
	assert_string_equal(holding->info.card, "n150");
	struct tdm_device_info less = { .has_chip_id = true, .chip_id = 5 };
	event.about = &less;
	apply(&fold, event);
	assert_string_equal(holding->info.card, "n150"); /* one that says less replaces nothing */
	struct tdm_device_info other = { .card = "p150a" };
	event.about = &other;
	apply(&fold, event);
	assert_string_equal(holding->info.card, "p150a");
	assert_int_equal(holding->info.region_count, 0);
	tdm_fold_done(&fold);
}

static void the_producer_counts_itself(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	describe_process(&fold, 0, who(1));
	alloc(&fold, 0, 0, TDM_KIND_DRAM, 1, 100);
	release(&fold, 0, 0, TDM_KIND_DRAM, 9); /* the producer counts that one, too */
	struct tdm_counter usage = { .reserved = 100,
		.peak = 7000,
		.buffers = 1,
		.peak_buffers = 12,
		.allocs = 500,
		.unknown_frees = 1,
		.peak_ns = 5 };
	struct tdm_event event = event_of(TDM_OP_USAGE, 0, 0);
	event.counter = &usage;
	apply(&fold, event);
	const struct tdm_fold_kind *dram = kind_of(&fold, 0, 0, TDM_KIND_DRAM);
	assert_true(dram->has_counter);
	assert_memory_equal(&dram->counter, &usage, sizeof usage);
	/* From here on only it does. */
	release(&fold, 0, 0, TDM_KIND_DRAM, 8);
	alloc(&fold, 0, 0, TDM_KIND_DRAM, 1, 70);
	alloc(&fold, 0, 0, TDM_KIND_DRAM, 2, 7);
	struct tdm_event oom = alloc_of(0, 0, TDM_KIND_DRAM, 0, 555);
	oom.op = TDM_OP_OOM;
	apply(&fold, oom);
	assert_memory_equal(&dram->counter, &usage, sizeof usage);
	assert_int_equal(dram->reserved, 77); /* the buffers are kept all the same */
	tdm_fold_done(&fold);
}

/* An account begins with all buffers gone; its buffers are not looked for among the others. */
static void an_account(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	describe_process(&fold, 0, who(1));
	for (uint64_t i = 0; i < 5; i++) {
		alloc(&fold, 0, 0, TDM_KIND_DRAM, i, 10);
		alloc(&fold, 0, 1, TDM_KIND_DRAM, i, 10);
	}
	struct tdm_event clear = event_of(TDM_OP_CLEAR, 0, 0), listed = alloc_of(0, 0, TDM_KIND_DRAM, 3, 25);
	uint64_t version = fold.version;
	clear.size = 2;
	apply(&fold, clear);
	const struct tdm_fold_kind *dram = kind_of(&fold, 0, 0, TDM_KIND_DRAM);
	assert_int_equal(dram->count + dram->reserved + dram->asked + dram->occupied, 0);
	assert_int_equal(dram->counter.reserved + dram->counter.buffers, 0); /* counted here */
	assert_int_equal(dram->counter.peak_buffers, 5);
	assert_int_equal(kind_of(&fold, 0, 1, TDM_KIND_DRAM)->count, 5);
	assert_true(fold.version != version);
	listed.flags = TDM_EVENT_LISTED;
	apply(&fold, listed);
	listed.id = 4;
	apply(&fold, listed);
	assert_true(tdm_fold_holding_find(tdm_fold_find(&fold, 0), 0)->has_buffers);
	assert_false(tdm_fold_holding_find(tdm_fold_find(&fold, 0), 1)->has_buffers);
	assert_int_equal(dram->reserved, 50);
	assert_int_equal(dram->buffers[0].flags, 0); /* how it was told of is nothing of its own */
	/* Then what happens: a release, a new one, a new report of one. */
	release(&fold, 0, 0, TDM_KIND_DRAM, 3);
	alloc(&fold, 0, 0, TDM_KIND_DRAM, 5, 1);
	alloc(&fold, 0, 0, TDM_KIND_DRAM, 4, 2);
	assert_int_equal(dram->count, 2);
	assert_int_equal(dram->reserved, 3);
	/* An account of a damaged ledger may name one twice: each can go. */
	apply(&fold, clear);
	for (int i = 0; i < 3; i++)
		apply(&fold, listed);
	assert_int_equal(dram->count, 3);
	for (int i = 0; i < 3; i++) {
		release(&fold, 0, 0, TDM_KIND_DRAM, 4);
		assert_true(fold_is_valid(&fold));
	}
	assert_true(dram->count < 3);
	/* Nobody asks for them any more. */
	clear.size = TDM_SIZE_UNKNOWN;
	apply(&fold, clear);
	assert_int_equal(dram->count, 0);
	assert_false(tdm_fold_holding_find(tdm_fold_find(&fold, 0), 0)->has_buffers);
	tdm_fold_done(&fold);
}

static void the_past_changes_nothing(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	alloc(&fold, 0, 0, TDM_KIND_DRAM, 1, 100);
	uint64_t version = fold.version;
	struct tdm_event event = alloc_of(0, 0, TDM_KIND_DRAM, 2, 10);
	event.flags = TDM_EVENT_PAST;
	apply(&fold, event);
	event.op = TDM_OP_FREE;
	event.id = 1;
	apply(&fold, event);
	event.process = 77; /* nor does it make anybody known */
	apply(&fold, event);
	assert_int_equal(fold.count, 1);
	assert_int_equal(kind_of(&fold, 0, 0, TDM_KIND_DRAM)->count, 1);
	assert_int_equal(kind_of(&fold, 0, 0, TDM_KIND_DRAM)->counter.unknown_frees, 0);
	assert_int_equal(fold.version, version);
	tdm_fold_done(&fold);
}

/* A release says what its buffer was, for whoever shows it. */
static void a_release_is_described(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	struct tdm_event event = alloc_of(0, 0, TDM_KIND_DRAM, 1, 1000);
	event.bytes_per_bank = 96;
	event.banks = 12;
	event.address = 4096;
	event.time_ns = 77;
	event.name = tdm_str_of("weights");
	apply(&fold, event);
	event.id = 2;
	apply(&fold, event);
	event = alloc_of(0, 0, TDM_KIND_DRAM, 1, 0);
	event.op = TDM_OP_FREE;
	assert_int_equal(tdm_fold_apply(&fold, &event), 0);
	assert_true(tdm_str_is(event.name, "weights"));
	assert_int_equal(event.size, 1000);
	assert_int_equal(event.bytes_per_bank * event.banks, 96 * 12);
	assert_int_equal(event.address, 4096);
	assert_int_equal(event.born_ns, 77);
	/* What the source says itself stays. */
	event = alloc_of(0, 0, TDM_KIND_DRAM, 2, 999);
	event.op = TDM_OP_FREE;
	event.banks = 3;
	event.bytes_per_bank = 1;
	event.born_ns = 5;
	event.name = tdm_str_of("other");
	assert_int_equal(tdm_fold_apply(&fold, &event), 0);
	assert_true(tdm_str_is(event.name, "other"));
	assert_int_equal(event.size, 999);
	assert_int_equal(event.born_ns, 5);
	tdm_fold_done(&fold);
}

static void phases_modules_and_the_rest(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	describe_process(&fold, 0, who(1));
	struct tdm_event event = event_of(TDM_OP_PHASE, 0, 0);
	event.name = tdm_str_of("forward");
	apply(&fold, event);
	const struct tdm_fold_process *process = tdm_fold_find(&fold, 0);
	assert_string_equal(fold.texts.texts[process->phase], "forward");
	event.name = tdm_str_of("");
	apply(&fold, event);
	assert_int_equal(process->phase, 0);
	event = event_of(TDM_OP_MODULE, 0, 0);
	event.name = tdm_str_of("/bin/model");
	event.address = 0x1000;
	event.size = 0x100;
	apply(&fold, event);
	event.size = 0x200;
	apply(&fold, event); /* the same again, grown */
	assert_int_equal(process->module_count, 1);
	assert_string_equal(process->modules[0].path, "/bin/model");
	assert_int_equal(process->modules[0].size, 0x200);
	event.address = 0x9000;
	apply(&fold, event);
	assert_int_equal(process->module_count, 2);
	assert_int_equal(process->holding_count, 0);
	/* What is not for the fold. */
	static const enum tdm_op others[] = { TDM_OP_QUERY, TDM_OP_SHRINK, TDM_OP_PROGRAM, TDM_OP_LOST };
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		apply(&fold, event_of(others[i], 0, 0));
	assert_true(fold_is_valid(&fold));
	tdm_fold_done(&fold);
}

static void limits(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	for (uint64_t p = 0; p < TDM_FOLD_PROCESSES_MAX; p++)
		describe_process(&fold, p * 3, who(1 + (int32_t)p));
	struct tdm_process identity = who(7);
	struct tdm_event event = event_of(TDM_OP_PROCESS, 1, 0);
	event.who = &identity;
	assert_int_equal(apply_refused(&fold, event), -EOVERFLOW);
	apply(&fold, event_of(TDM_OP_FORGET, 3, 0));
	apply(&fold, event);
	for (uint32_t d = 0; d < TDM_FOLD_HOLDINGS_MAX; d++)
		alloc(&fold, 0, d, TDM_KIND_DRAM, 1, 10);
	assert_int_equal(apply_refused(&fold, alloc_of(0, TDM_FOLD_HOLDINGS_MAX, TDM_KIND_DRAM, 1, 10)), -EOVERFLOW);
	assert_int_equal(tdm_fold_find(&fold, 0)->refused, 1);
	event = event_of(TDM_OP_MODULE, 0, 0);
	event.name = tdm_str_of("x.so");
	for (uint64_t i = 0; i < TDM_FOLD_MODULES_MAX; i++) {
		event.address = i * 4096;
		apply(&fold, event);
	}
	event.address = 5;
	assert_int_equal(apply_refused(&fold, event), -EOVERFLOW);
	assert_int_equal(tdm_fold_find(&fold, 0)->refused, 2);
	assert_int_equal(fold.refused, 3);
	assert_true(fold_is_valid(&fold));
	tdm_fold_done(&fold);
}

static void many_buffers(void **state)
{
	enum { MANY = 200000 };
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	for (uint64_t i = 0; i < MANY; i++)
		alloc(&fold, 0, 0, TDM_KIND_DRAM, i * 4096, 10);
	for (uint64_t i = 0; i < MANY; i += 2)
		release(&fold, 0, 0, TDM_KIND_DRAM, i * 4096);
	const struct tdm_fold_kind *dram = kind_of(&fold, 0, 0, TDM_KIND_DRAM);
	assert_int_equal(dram->reserved, 10 * MANY / 2);
	assert_int_equal(dram->counter.peak_buffers, MANY);
	assert_int_equal(dram->count, MANY / 2);
	tdm_fold_done(&fold);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_one),
		cmocka_unit_test(sums_and_peaks),
		cmocka_unit_test(core_ranges_are_kept_once),
		cmocka_unit_test(a_view_has_no_bytes),
		cmocka_unit_test(faults_are_counted),
		cmocka_unit_test(absurd_sizes_are_refused),
		cmocka_unit_test(an_absurd_report_of_a_live_buffer),
		cmocka_unit_test(processes_and_devices_are_apart),
		cmocka_unit_test(a_process_is_described_again),
		cmocka_unit_test(a_device_is_described_again),
		cmocka_unit_test(the_producer_counts_itself),
		cmocka_unit_test(an_account),
		cmocka_unit_test(the_past_changes_nothing),
		cmocka_unit_test(a_release_is_described),
		cmocka_unit_test(phases_modules_and_the_rest),
		cmocka_unit_test(limits),
		cmocka_unit_test(many_buffers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
