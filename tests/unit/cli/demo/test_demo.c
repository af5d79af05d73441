/*
 * The workloads of `tidemark demo`, checked in their ledgers: the documented figures, that only the leak grows, and
 * that buffers are where the device model places them. With arguments this program is a workload itself:
 *
 *     test_demo WORKLOAD CARD CHIPS ROUNDS MODE
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands/cmd_list.h"
#include "cli/demo/demo.h"
#include "ledger/archive/archive.h"
#include "ledger/read/reader.h"
#include "ledger_buffers.h"

enum { FIRST_DEVICE = 5, KILLS = 12, PHASES_MAX = 64 };

static char dir[PATH_MAX];

struct job {
	const char *workload, *card, *chips, *rounds, *mode;
};

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "%s/tidemark-demo.XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	return mkdtemp(dir) == NULL || setenv("TIDEMARK_DIR", dir, 1) != 0 || setenv("TIDEMARK_STACKS", "4", 1) != 0
		       ? -1
		       : 0;
}

static int tear_down(void **state)
{
	(void)state;
	return tdm_ledger_reap_run(dir);
}

static pid_t start(const struct job *job, bool keep)
{
	char *words[] = { strdup("test_demo"), strdup(job->workload), strdup(job->card), strdup(job->chips),
		strdup(job->rounds), strdup(job->mode), NULL };
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		setenv("TIDEMARK_KEEP", keep ? "1" : "0", 1);
		execv("/proc/self/exe", words);
		_exit(99);
	}
	for (size_t i = 0; words[i] != NULL; i++)
		free(words[i]);
	assert_true(child > 0);
	return child;
}

static size_t ledgers_left(void)
{
	char pattern[PATH_MAX + 16];
	glob_t found;
	snprintf(pattern, sizeof pattern, "%s/*/*", dir);
	size_t count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
	globfree(&found);
	return count;
}

/* Until the program has set its ledger up: one that is killed before leaves a file that nothing can be read from. */
static void await_ledger(void)
{
	char pattern[PATH_MAX + 16];
	int err = -ENOENT;
	snprintf(pattern, sizeof pattern, "%s/tidemark-*/*", dir);
	while (err == -ENOENT || err == -EAGAIN) {
		struct tdm_ledger *ledger = NULL;
		struct tdm_diag diag = { 0 };
		glob_t found;
		usleep(100);
		if (glob(pattern, 0, NULL, &found) == 0)
			err = tdm_ledger_open(found.gl_pathv[0], &ledger, &diag);
		globfree(&found);
		tdm_ledger_close(ledger);
	}
	assert_int_equal(err, 0);
}

/* The only ledger there is; its file is gone afterwards. */
static struct tdm_ledger *take_ledger(void)
{
	char pattern[PATH_MAX + 16];
	struct tdm_ledger *ledger = NULL;
	struct tdm_diag diag = { 0 };
	glob_t found;
	snprintf(pattern, sizeof pattern, "%s/tidemark-*/*", dir);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	assert_int_equal(tdm_ledger_open(found.gl_pathv[0], &ledger, &diag), 0);
	assert_int_equal(unlink(found.gl_pathv[0]), 0);
	globfree(&found);
	return ledger;
}

static struct tdm_ledger *run_kept(const struct job *job)
{
	int status = 0;
	pid_t child = start(job, true);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return take_ledger();
}

static void check_no_faults(struct tdm_ledger *ledger, uint64_t clashes)
{
	for (int loss = 0; loss < TDM_LOSS_COUNT; loss++)
		assert_int_equal(tdm_ledger_header(ledger)->lost[loss], 0);
	for (size_t i = 0; i < tdm_ledger_device_count(ledger); i++)
		for (int kind = 0; kind < TDM_KIND_COUNT; kind++) {
			const struct tdm_counter *faults = &tdm_ledger_device(ledger, i)->counts[kind];
			assert_int_equal(faults->double_frees, 0);
			assert_int_equal(faults->unknown_frees, 0);
			assert_int_equal(faults->rereports, 0);
			assert_int_equal(faults->out_of_memory, 0);
		}
	for (size_t i = 0; i < tdm_ledger_device_count(ledger); i++) {
		static struct tdm_ledger_runtime told;
		const struct tdm_ledger_runtime_head nothing = { 0 };
		bool has_told = tdm_ledger_told(ledger, i, &nothing, &told) == 1;
		assert_int_equal(has_told ? told.clashes[TDM_CLASH_L1].count : 0, clashes);
	}
}

/* Hundredths of a MB, rounded as the table rounds them. */
static int64_t hundredths(int64_t bytes)
{
	int64_t scaled = bytes * 100, half = 1 << 19;
	return scaled >= 0 ? (scaled + half) >> 20 : -((-scaled + half) >> 20);
}

/* A row as the documents have it, in hundredths of a MB; 0: they do not say. */
struct row {
	const char *name;
	int64_t peak, change, cumulative_peak, cumulative_current;
};

static void check_rows(const struct job *job, const struct row *rows, size_t row_count)
{
	struct tdm_ledger *ledger = run_kept(job);
	struct tdm_ledger_phase phases[PHASES_MAX];
	int64_t count = tdm_ledger_phases(ledger, 0, phases, PHASES_MAX), peak = 0, current = 0;
	size_t row = 0;
	assert_true(count > 0 && count < PHASES_MAX);
	for (int64_t i = 0; i < count && row < row_count; i++) {
		if ((phases[i].flags & TDM_PHASE_MARK) != 0)
			continue;
		const struct row *r = &rows[row++];
		int64_t change = phases[i].dram_allocated - phases[i].dram_freed;
		assert_true(tdm_str_is(tdm_ledger_text(ledger, phases[i].name), r->name));
		peak = current + phases[i].dram_peak > peak ? current + phases[i].dram_peak : peak;
		current += change;
		if (r->peak != 0)
			assert_int_equal(hundredths(phases[i].dram_peak), r->peak);
		if (r->change != 0)
			assert_int_equal(hundredths(change), r->change);
		if (r->cumulative_peak != 0)
			assert_int_equal(hundredths(peak), r->cumulative_peak);
		if (r->cumulative_current != 0)
			assert_int_equal(hundredths(current), r->cumulative_current);
	}
	assert_int_equal(row, row_count);
	tdm_ledger_close(ledger);
}

static void test_efficient_figures(void **state)
{
	static const struct row rows[] = {
		{ "MODEL_CREATION", 0, 186325, 0, 186325 },
		{ "OPTIMIZER_CREATION", 0, 370876, 0, 557201 },
		{ "FORWARD_PASS", 99635, 19295, 656836, 576496 },
		{ "BACKWARD_PASS", 251369, 166307, 827865, 742804 },
		{ "FIRST_ITERATION_COMPLETE", 0, 0, 827865, 557201 },
	};
	(void)state;
	check_rows(&(struct job){ "training", "n150", "1", "1", "efficient" }, rows, sizeof rows / sizeof *rows);
	/* The table is that of one copy of the model. */
	check_rows(&(struct job){ "training", "n150", "2", "2", "efficient" }, rows, sizeof rows / sizeof *rows);
}

static void test_default_figures(void **state)
{
	static const struct row rows[] = {
		{ "MODEL_CREATION", 0, 0, 0, 0 },
		{ "OPTIMIZER_CREATION", 0, 0, 0, 0 },
		{ "FORWARD_PASS", 1001939, 963602, 1559127, 1520789 },
		{ "BACKWARD_PASS", 45875, -778087, 1566665, 0 },
		{ "FIRST_ITERATION_COMPLETE", 0, 0, 1566665, 0 },
	};
	(void)state;
	check_rows(&(struct job){ "training", "n150", "1", "1", "default" }, rows, sizeof rows / sizeof *rows);
}

/* What did not fit was not placed: the device itself holds nothing. On a card with more DRAM it goes on. */
static void test_default_is_placed_where_it_fits(void **state)
{
	static const struct {
		const char *card;
		bool placed;
	} cases[] = { { "n150", false }, { "p150", true } };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tdm_ledger *ledger = run_kept(&(struct job){ "training", cases[i].card, "1", "2", "default" });
		uint64_t peak = 0;
		for (size_t d = 0; d < tdm_ledger_device_count(ledger); d++)
			if (!tdm_ledger_device(ledger, d)->info.is_virtual)
				peak += tdm_ledger_device(ledger, d)->counts[TDM_KIND_DRAM].peak_asked;
		assert_int_equal(hundredths((int64_t)peak), cases[i].placed ? 1566665 : 0);
		check_no_faults(ledger, 0);
		tdm_ledger_close(ledger);
	}
}

static void test_nothing_grows_but_the_leak(void **state)
{
	static const struct {
		const char *workload, *rounds, *more_rounds;
		uint64_t left, more_left; /* buffers at the end */
		uint64_t clashes, more_clashes;
		bool has_level; /* the same peak after both */
	} cases[] = {
		{ "training", "2", "7", 0, 0, 0, 0, true },
		{ "inference", "50", "1000", 0, 0, 0, 0, false },
		{ "leak", "1", "40", 1, 40, 0, 0, false },
		{ "clash", "30", "130", 0, 0, 2, 10, true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct job job = { cases[i].workload, "n150", "1", cases[i].rounds, "efficient" };
		struct tdm_ledger *ledger = run_kept(&job);
		job.rounds = cases[i].more_rounds;
		struct tdm_ledger *longer = run_kept(&job);
		const struct tdm_ledger_view *a = tdm_ledger_device(ledger, 0), *b = tdm_ledger_device(longer, 0);
		check_no_faults(ledger, cases[i].clashes);
		check_no_faults(longer, cases[i].more_clashes);
		for (int kind = 0; kind < TDM_KIND_COUNT; kind++) {
			bool leaks = kind == TDM_KIND_DRAM;
			assert_int_equal(a->counts[kind].buffers, leaks ? cases[i].left : 0);
			assert_int_equal(b->counts[kind].buffers, leaks ? cases[i].more_left : 0);
			if (cases[i].has_level)
				assert_int_equal(a->counts[kind].peak, b->counts[kind].peak);
		}
		assert_true(b->counts[TDM_KIND_CB].allocs > a->counts[TDM_KIND_CB].allocs);
		tdm_ledger_close(ledger);
		tdm_ledger_close(longer);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct tdm_ledger_slot *x = &((const struct tdm_ledger_buffer *)a)->slot,
				     *y = &((const struct tdm_ledger_buffer *)b)->slot;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void check_inside(const struct tdm_ledger_view *view, const struct tdm_ledger_slot *slot)
{
	for (uint32_t r = 0; r < view->info.region_count; r++) {
		const struct tdm_region *region = &view->info.regions[r];
		if (region->kind != slot->kind)
			continue;
		assert_true(slot->address >= region->base);
		assert_true(slot->address - region->base <= region->bank_size - slot->bank_bytes);
		assert_int_equal(slot->banks, region->banks);
		return;
	}
	fail_msg("a buffer of kind %d, of which the device has no region", slot->kind);
}

/* No two buffers of a kind share an address, and circular buffers end below the lowest L1 buffer. */
static void check_places(struct tdm_ledger *ledger, size_t device)
{
	const struct tdm_ledger_view *view = tdm_ledger_device(ledger, device);
	struct tdm_ledger_buffer *buffers = NULL;
	size_t count = 0;
	bool exact = false;
	uint64_t cb_end = 0, l1_lowest = UINT64_MAX, frames[TDM_LEDGER_STACK_MAX];
	assert_int_equal(ledger_buffers(ledger, device, &buffers, &count, &exact), 0);
	assert_true(exact);
	if (count != 0)
		qsort(buffers, count, sizeof *buffers, by_place);
	for (size_t i = 0; i < count; i++) {
		const struct tdm_ledger_slot *slot = &buffers[i].slot;
		if (slot->kind == TDM_KIND_KERNEL)
			continue;
		assert_true(tdm_ledger_text(ledger, buffers[i].slot.name).len != 0);
		assert_true(tdm_ledger_stack(ledger, buffers[i].slot.stack, frames) != 0);
		if (slot->kind == TDM_KIND_CB && slot->address + slot->bank_bytes > cb_end)
			cb_end = slot->address + slot->bank_bytes;
		else if (slot->kind != TDM_KIND_CB)
			check_inside(view, slot);
		if (slot->kind == TDM_KIND_L1 && slot->address < l1_lowest)
			l1_lowest = slot->address;
		if (i > 0 && buffers[i - 1].slot.kind == slot->kind)
			assert_true(buffers[i - 1].slot.bank_bytes <= slot->address - buffers[i - 1].slot.address);
	}
	assert_true(cb_end <= l1_lowest);
	free(buffers);
}

/* Killed at any moment, a workload leaves a picture that can be. */
static void test_places_at_any_moment(void **state)
{
	static const char *const names[] = { "training", "inference", "leak", "clash" };
	(void)state;
	for (unsigned i = 0; i < KILLS; i++) {
		struct job job = { names[i % 4], i % 3 == 0 ? "p150" : "n150", i % 5 == 0 ? "2" : "1", "1000000",
			"efficient" };
		pid_t child = start(&job, false);
		await_ledger();
		usleep(2000 + i * 1500);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		struct tdm_ledger *ledger = take_ledger();
		for (size_t d = 0; d < tdm_ledger_device_count(ledger); d++)
			check_places(ledger, d);
		tdm_ledger_close(ledger);
	}
}

static void test_chips_are_apart(void **state)
{
	static const char *const names[] = { "training", "inference", "leak", "clash" };
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct tdm_ledger *ledger =
			run_kept(&(struct job){ names[i], "n300", "3", i == 0 ? "3" : "60", "efficient" });
		assert_int_equal(tdm_ledger_device_count(ledger), 3);
		const struct tdm_ledger_view *first = tdm_ledger_device(ledger, 0);
		for (uint32_t d = 0; d < 3; d++) {
			const struct tdm_ledger_view *view = tdm_ledger_device(ledger, d);
			assert_int_equal(view->number, FIRST_DEVICE + d);
			assert_int_equal(view->info.chip_id, first->info.chip_id + d);
			assert_string_equal(view->info.card, "n300");
			assert_true(view->counts[TDM_KIND_CB].allocs != 0);
			/* All copies do the same, but requests are each server's own. */
			if (strcmp(names[i], "inference") != 0)
				for (int kind = 0; kind < TDM_KIND_COUNT; kind++)
					assert_int_equal(view->counts[kind].peak, first->counts[kind].peak);
		}
		tdm_ledger_close(ledger);
	}
}

/* Whatever ends it, a workload takes its ledger away. */
static void test_nothing_is_left(void **state)
{
	static const int signals[] = { 0, SIGINT, SIGTERM, SIGHUP };
	static const char *const names[] = { "training", "inference", "leak", "clash" };
	(void)state;
	for (size_t i = 0; i < 16; i++) {
		int signal = signals[i / 4], status = 0;
		struct job job = { names[i % 4], "n150", "1", signal != 0 ? "1000000" : "3", "efficient" };
		pid_t child = start(&job, false);
		if (signal != 0) {
			await_ledger();
			usleep(3000);
			kill(child, signal);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		assert_int_equal(ledgers_left(), 0);
	}
}

/* A card that is too small: it is said and noted, and the program ends in order. */
static void test_out_of_memory(void **state)
{
	(void)state;
	struct tdm_ledger *ledger = run_kept(&(struct job){ "training", "quasar", "1", "5", "efficient" });
	const struct tdm_ledger_view *view = tdm_ledger_device(ledger, 0);
	assert_int_equal(view->counts[TDM_KIND_DRAM].out_of_memory, 1);
	for (int kind = 0; kind < TDM_KIND_COUNT; kind++)
		assert_int_equal(view->counts[kind].buffers, 0);
	tdm_ledger_close(ledger);
}

static void test_no_frame_meets_the_end(void **state)
{
	(void)state;
	const uint64_t now = 1000, second = UINT64_C(1000000000);
	uint64_t first, end;
	for (uint64_t seconds = 1; seconds < 20; seconds++) {
		tdm_demo_plan_frames(now, seconds, &first, &end);
		assert_true(first < end);
		assert_true(end < now + seconds * second);
	}
	tdm_demo_plan_frames(now, 0, &first, &end);
	assert_true(end <= now);
	tdm_demo_plan_frames(now, TDM_DEMO_NO_LIMIT, &first, &end);
	assert_true(first < end && end == UINT64_MAX);
}

static int run_job(char **argv)
{
	const struct tdm_demo_options options = {
		.card = argv[2],
		.chips = (uint32_t)atoi(argv[3]),
		.first_device = FIRST_DEVICE,
		.seconds = TDM_DEMO_NO_LIMIT,
		.rounds = (uint64_t)atoll(argv[4]),
		.recompute = strcmp(argv[5], "efficient") == 0,
	};
	return tdm_demo_run(&tdm_cmd_demo, tdm_demo_find(argv[1]), &options);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_efficient_figures),
		cmocka_unit_test(test_default_figures),
		cmocka_unit_test(test_default_is_placed_where_it_fits),
		cmocka_unit_test(test_nothing_grows_but_the_leak),
		cmocka_unit_test(test_places_at_any_moment),
		cmocka_unit_test(test_chips_are_apart),
		cmocka_unit_test(test_nothing_is_left),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_no_frame_meets_the_end),
	};
	if (argc == 6)
		return run_job(argv);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
