/*
 * The reader and the follower with the real library: a child reports without a pause, and everything read from its
 * ledger, while it runs or after it was killed at any moment, must be what it had finished by then.
 *
 * The child's calls are fixed: call number n decides what lives after it. So a picture with number n can be checked
 * buffer by buffer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "own_folder.h"
#include "ledger/archive/archive.h"
#include "ledger/read/reader.h"
#include "../unit/follow.h"
#include "../unit/ledger_buffers.h"
#include "tidemark.h"

enum { WINDOW = 300, KILLS = 200, PICTURES = 400 };

/* What the child tells: how many calls it has begun and finished. */
struct told {
	_Atomic uint64_t begun, finished;
	char path[PATH_MAX];
};

static struct told *told;

static int set_up(void **state)
{
	(void)state;
	told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return told != MAP_FAILED ? own_folder_make() : -1;
}

/* Buffer i: its sizes follow from its number. */
static struct tidemark_buffer buffer_of(uint64_t i)
{
	return (struct tidemark_buffer){ .size = sizeof(struct tidemark_buffer),
		.device = 3,
		.kind = i % 3 == 0 ? TIDEMARK_L1 : TIDEMARK_DRAM,
		.id = i,
		.address = i * 64,
		.bytes = i % 1000 + 1,
		.bytes_per_bank = 32 * (i % 10 + 1),
		.banks = 8,
		.holding = 5 };
}

/* WINDOW allocations; from then on an allocation and the release of the oldest, in turn. */
static void report_for_ever(void)
{
	for (uint64_t i = 0;; i++) {
		struct tidemark_buffer buffer = buffer_of(i);
		told->begun++;
		tidemark_alloc(&buffer);
		told->finished++;
		if (i < WINDOW)
			continue;
		buffer = buffer_of(i - WINDOW);
		told->begun++;
		tidemark_free(buffer.device, buffer.kind, buffer.id);
		told->finished++;
	}
}

/* The buffers that live after call `seq`: [*first, *end). */
static void expected_after(uint64_t seq, uint64_t *first, uint64_t *end)
{
	uint64_t pairs = seq > WINDOW ? (seq - WINDOW) : 0;
	*end = seq <= WINDOW ? seq : WINDOW + (pairs + 1) / 2;
	*first = pairs / 2;
}

static pid_t start_child(void)
{
	told->begun = told->finished = 0;
	told->path[0] = '\0';
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive a test that failed */
		tidemark_enable();
		tidemark_name("first"); /* makes the ledger */
		snprintf(told->path, sizeof told->path, "%s", tidemark_ledger_path());
		report_for_ever();
	}
	assert_true(child > 0);
	while (told->finished < 2 * WINDOW)
		usleep(100);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void check_buffers(const struct tdm_ledger_view *view, const struct tdm_ledger_buffer *buffers, size_t count)
{
	uint64_t first, end, bytes = 0;
	static uint8_t seen[WINDOW + 2];
	expected_after(view->seq, &first, &end);
	assert_int_equal(count, end - first);
	memset(seen, 0, sizeof seen);
	for (size_t i = 0; i < count; i++) {
		struct tidemark_buffer b = buffer_of(buffers[i].slot.id);
		assert_true(b.id >= first && b.id < end);
		assert_int_equal(seen[b.id - first]++, 0);
		assert_int_equal(buffers[i].slot.kind, b.kind);
		assert_int_equal(buffers[i].slot.asked, b.bytes);
		assert_int_equal(buffers[i].slot.address, b.address);
		assert_int_equal(buffers[i].reserved_bytes, b.bytes_per_bank * 8);
		assert_int_equal(buffers[i].occupied_bytes, b.bytes_per_bank * 5);
		bytes += buffers[i].reserved_bytes;
	}
	assert_int_equal(view->counts[TDM_KIND_DRAM].reserved + view->counts[TDM_KIND_L1].reserved, bytes);
	assert_int_equal(view->counts[TDM_KIND_DRAM].allocs + view->counts[TDM_KIND_L1].allocs, end);
	assert_int_equal(view->counts[TDM_LEDGER_L1_ALL].reserved, view->counts[TDM_KIND_L1].reserved);
}

static void while_it_reports(void **state)
{
	struct tdm_ledger *ledger;
	struct tdm_diag diag = { 0 };
	uint64_t exact_count = 0, last = 0;
	(void)state;
	pid_t child = start_child();
	assert_int_equal(tdm_ledger_open(told->path, &ledger, &diag), 0);
	for (int i = 0; i < PICTURES; i++) {
		struct tdm_ledger_buffer *buffers;
		size_t count;
		bool exact;
		assert_int_equal(tdm_ledger_refresh(ledger, &diag), 0);
		assert_int_equal(tdm_ledger_device_count(ledger), 1);
		assert_int_equal(ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
		const struct tdm_ledger_view *view = tdm_ledger_device(ledger, 0);
		assert_true(view->seq >= last);
		last = view->seq;
		if (exact)
			check_buffers(view, buffers, count);
		exact_count += exact;
		free(buffers);
		if (i % 8 == 0) /* a program that works between its allocations gives moments to look at */
			kill(child, SIGSTOP);
		if (i % 8 == 4)
			kill(child, SIGCONT);
	}
	assert_int_equal(tdm_ledger_liveness(ledger), TDM_ALIVE);
	assert_true(exact_count >= PICTURES / 4);
	assert_int_equal(tdm_ledger_refused(ledger), 0);
	tdm_ledger_close(ledger);
	end_child(child);
	assert_int_equal(tdm_ledger_reap(told->path), 0);
}

static void events_are_followed(void **state)
{
	static struct tdm_ledger_record records[TDM_LEDGER_RING];
	struct tdm_ledger *ledger;
	uint64_t after = 0, given = 0, missed_all = 0;
	(void)state;
	pid_t child = start_child();
	assert_int_equal(tdm_ledger_open(told->path, &ledger, NULL), 0);
	for (int i = 0; i < PICTURES; i++) {
		uint64_t missed;
		int64_t got = tdm_ledger_events(ledger, 0, after, records, TDM_LEDGER_RING, &missed);
		assert_true(got >= 0);
		for (int64_t r = 0; r < got; r++) {
			uint64_t n = records[r].seq;
			bool is_free = n > WINDOW && (n - WINDOW) % 2 == 0;
			assert_int_equal(records[r].op, is_free ? TDM_LEDGER_FREE : TDM_LEDGER_ALLOC);
			uint64_t first, end;
			expected_after(n, &first, &end);
			assert_int_equal(records[r].id, is_free ? first - 1 : end - 1);
			assert_int_equal(records[r].bank_bytes, buffer_of(records[r].id).bytes_per_bank);
			assert_true(n > after);
			after = n;
		}
		given += (uint64_t)got;
		missed_all += missed;
	}
	assert_true(given > 0);
	assert_true(given + missed_all >= after);
	tdm_ledger_close(ledger);
	end_child(child);
	assert_int_equal(tdm_ledger_reap(told->path), 0);
}

static void killed_at_any_moment(void **state)
{
	(void)state;
	for (int i = 0; i < KILLS; i++) {
		struct tdm_ledger *ledger;
		struct tdm_diag diag = { 0 };
		struct tdm_ledger_buffer *buffers;
		size_t count;
		bool exact;
		pid_t child = start_child();
		for (volatile int wait = i * 37 % 2000; wait > 0; wait--)
			;
		end_child(child);
		assert_int_equal(tdm_ledger_open(told->path, &ledger, &diag), 0);
		assert_int_equal(tdm_ledger_liveness(ledger), TDM_DEAD);
		assert_int_equal(tdm_ledger_header(ledger)->state, TDM_LEDGER_OPEN);
		assert_int_equal(ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
		const struct tdm_ledger_view *view = tdm_ledger_device(ledger, 0);
		assert_true(exact);
		assert_true(view->seq >= told->finished && view->seq <= told->begun);
		check_buffers(view, buffers, count);
		assert_int_equal(tdm_ledger_refused(ledger), 0);
		free(buffers);
		tdm_ledger_close(ledger);
		assert_int_equal(tdm_ledger_reap(told->path), 0);
	}
}

/* Through follower and fold, while it works: all sums agree at any time, and at the end all is right. */
static void a_fold_follows_it(void **state)
{
	static struct follow f;
	(void)state;
	follow_init(&f, (struct tdm_follow_options){ .dir = own_folder }, TDM_FOLLOW_BUFFERS | TDM_FOLLOW_EVENTS);
	pid_t child = start_child();
	uint64_t exact = 0;
	for (int i = 0; i < PICTURES / 4; i++) {
		follow_look(&f);
		const struct tdm_fold_holding *holding = f.fold.processes[0]->holdings[0];
		uint64_t counted =
			holding->kinds[TDM_KIND_DRAM].counter.buffers + holding->kinds[TDM_KIND_L1].counter.buffers;
		exact += fold_buffers(holding) == counted;
		if (i % 8 == 0)
			kill(child, SIGSTOP);
		if (i % 8 == 4)
			kill(child, SIGCONT);
	}
	assert_true(exact >= PICTURES / 4 / 4);
	end_child(child);
	follow_look(&f);
	assert_int_equal(f.fold.count, 1);
	assert_int_equal(f.fold.processes[0]->who.life, TDM_LIFE_ENDED);
	assert_int_equal(f.fold.processes[0]->holding_count, 1);
	const struct tdm_fold_holding *holding = f.fold.processes[0]->holdings[0];
	assert_int_equal(holding->number, 3);
	assert_in_range(fold_buffers(holding), WINDOW, WINDOW + 1);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		const struct tdm_fold_kind *kind = &holding->kinds[k];
		assert_int_equal(kind->counter.buffers, kind->count);
		assert_int_equal(kind->counter.reserved, kind->reserved);
		assert_int_equal(kind->counter.asked, kind->asked);
		assert_int_equal(kind->counter.double_frees + kind->counter.unknown_frees + kind->counter.rereports, 0);
		for (size_t i = 0; i < kind->count; i++) {
			struct tidemark_buffer b = buffer_of(kind->buffers[i].id);
			assert_int_equal(b.kind, k);
			assert_int_equal(kind->buffers[i].asked_bytes, b.bytes);
			assert_int_equal(kind->buffers[i].holding_banks, 5); /* which the ring does not say */
		}
	}
	follow_done(&f);
	assert_int_equal(tdm_ledger_reap(told->path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(while_it_reports),
		cmocka_unit_test(events_are_followed),
		cmocka_unit_test(killed_at_any_moment),
		cmocka_unit_test(a_fold_follows_it),
	};
	return cmocka_run_group_tests(tests, set_up, own_folder_remove);
}
