/* Threads that leave a report in the middle: a signal handler jumps out of it, or another thread cancels them. */
#include "itest.h"
#include "tidemark.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>

enum { LIVE = 64, JUMPS = 3000, CANCELS = 300, CANCELS_EACH = 10, OTHERS = 1000000 };
enum { BURST = 9000, STRIDE = 7919, BURST_DEVICES = 60, BURST_ROUNDS = 4, JUMP_WITHIN_US = 150 };
enum { KEPT_MAX = 5000, CHURN = 300, DELETIONS = 3 };

static sigjmp_buf back;
static volatile sig_atomic_t may_jump;

static void jump_out(int signal_number)
{
	(void)signal_number;
	if (may_jump)
		siglongjmp(back, 1);
}

/* The ledger is what its counters say, and can be used. */
static void check_device(uint32_t kind)
{
	size_t count;
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	CHECK(tidemark_get_usage(0, kind, &usage) == 0);
	CHECK_EQ(usage.allocs - usage.frees, usage.buffers);
	CHECK(usage.bytes <= usage.window_peak_bytes && usage.window_peak_bytes <= usage.peak_bytes);
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 0, &count);
	uint64_t of_kind = 0, bytes = 0;
	for (size_t i = 0; i < count; i++)
		if (buffers[i].slot.kind == kind) {
			of_kind++;
			bytes += buffers[i].slot.bank_bytes * buffers[i].slot.banks;
		}
	CHECK_EQ(of_kind, usage.buffers);
	CHECK_EQ(bytes, usage.bytes);
	for (size_t i = 0; i < count; i++) /* each one is found */
		if (buffers[i].slot.kind == kind)
			CHECK(tidemark_free(0, kind, buffers[i].slot.id) == 0);
	CHECK_EQ(itest_live(0, kind), 0);
	free(buffers);
	tdm_ledger_close(ledger);
}

static void work(uint64_t *seed)
{
	char name[32];
	for (;;) {
		uint64_t random = itest_random(seed);
		uint32_t kind = (uint32_t)(random >> 32) % 2;
		if (random % 64 == 0) {
			snprintf(name, sizeof name, "name %u", (unsigned)(random >> 40));
			tidemark_name(name);
		}
		if (random % 3 != 0)
			itest_alloc(0, kind, random % LIVE, 64 + random % 1024, 1 + random % 3);
		else
			tidemark_free(0, kind, random % LIVE);
		if (random % 1021 == 0)
			tidemark_phase("a phase");
		if (random % 509 == 0)
			tidemark_reset_peak(0, kind, NULL);
	}
}

__attribute__((noinline)) static int deeper(int depth)
{
	volatile char room[200];
	room[0] = (char)depth;
	int err = depth == 0 ? itest_alloc(0, TIDEMARK_CB, 1, 64, 1) : deeper(depth - 1);
	return err + room[0] - room[0];
}

/* After each jump the very next report is recorded, from the same depth of the stack or from a deeper one. */
static int jumps_role(void)
{
	static uint64_t seed = 1;
	static volatile unsigned jumps, busy;
	static const struct itimerval never;
	struct sigaction action = { .sa_handler = jump_out };
	CHECK(sigaction(SIGALRM, &action, NULL) == 0);
	sigsetjmp(back, 1);
	may_jump = 0;
	setitimer(ITIMER_REAL, &never, NULL);
	if (jumps++ != 0) {
		int err = jumps % 2 != 0 ? itest_alloc(0, TIDEMARK_CB, 1, 64, 1) : deeper((int)(jumps % 16));
		CHECK(err == 0 || err == -EBUSY);
		busy = busy + (err != 0);
		err = itest_alloc(0, TIDEMARK_CB, 2, 64, 1);
		CHECK(err == 0);
		CHECK(itest_live(0, TIDEMARK_CB) >= 1);
	}
	if (jumps % 100 == 0) {
		check_device(0);
		check_device(1);
	}
	if (jumps < itest_scale(JUMPS)) {
		struct itimerval soon = { .it_value = { 0, 30 + (long)(jumps % 97) } };
		may_jump = 1;
		setitimer(ITIMER_REAL, &soon, NULL);
		work(&seed);
	}
	CHECK(busy < jumps / 20); /* a deep stack can still have the registers of the jump on it */
	CHECK(tidemark_lost() < jumps + busy);
	check_device(0);
	return 0;
}

static void jumps(void)
{
	if (itest_sanitized())
		itest_skip("sanitizers make frames so large that old registers on the stack are found again");
	static const char *const settings[] = { "TIDEMARK_STACKS=", "TIDEMARK_STACKS=4" };
	for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++) {
		const char *environment[] = { settings[i], "TIDEMARK_UNWIND=fp", NULL };
		CHECK(itest_exited(itest_spawn("jumps_role", environment)));
	}
}

/* Any report, on ids that are not kept. */
static int churn(uint64_t *seed)
{
	uint64_t random = itest_random(seed), id = KEPT_MAX + (random >> 8) % CHURN;
	uint32_t kind = (uint32_t)(random >> 40) % 2, number = (uint32_t)(random >> 8) % CHURN;
	struct tidemark_buffer b = { .size = sizeof b, .kind = kind, .id = id, .bytes = 64 };
	switch (random % 16) {
	case 0:
		return tidemark_adopt(&b);
	case 1:
		return tidemark_report_cb(0, 64 + random % 64, number, NULL);
	case 2:
		return tidemark_report_cb_free(0, 64, number, NULL);
	case 3:
		b.flags = TIDEMARK_VIEW;
		return tidemark_alloc(&b);
	default:
		return random % 2 != 0 ? tidemark_free(0, kind, id)
				       : itest_alloc(0, kind, id, 64 + random % 1024, 1 + random % 3);
	}
}

/* The counters are those of the buffers, and the buffers that nobody touched are there. */
static void check_kept(uint64_t expected)
{
	size_t count, kept = 0;
	uint64_t of_kind[TIDEMARK_KIND_COUNT] = { 0 };
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 0, &count);
	for (size_t i = 0; i < count; i++) {
		of_kind[buffers[i].slot.kind]++;
		kept += buffers[i].slot.kind == TIDEMARK_DRAM && buffers[i].slot.id < KEPT_MAX;
	}
	for (uint32_t kind = 0; kind < TIDEMARK_KIND_COUNT; kind++)
		CHECK_EQ(of_kind[kind], itest_live(0, kind));
	CHECK_EQ(kept, expected);
	free(buffers);
	tdm_ledger_close(ledger);
}

/* The next report of a burst that comes and goes, after which the ledger gives back its pages. */
static int burst(void)
{
	static volatile uint64_t next;
	uint64_t at = next % (2 * BURST), first = KEPT_MAX + CHURN;
	next = next + 1;
	return at < BURST ? itest_alloc(0, TIDEMARK_DRAM, first + at, 64, 1)
			  : tidemark_free(0, TIDEMARK_DRAM, first + at * STRIDE % BURST);
}

struct fast {
	uint64_t seed;
	uint64_t kept;      /* buffers that nobody touches */
	uint64_t within_us; /* until the next jump */
	unsigned jumps;
	bool has_bursts;
};

static volatile unsigned recorded_fast;

static void report_until_jump(struct fast *fast)
{
	struct itimerval soon = { .it_value = { 0, 1 + (long)(itest_random(&fast->seed) % fast->within_us) } };
	may_jump = 1;
	setitimer(ITIMER_REAL, &soon, NULL);
	for (;;) {
		bool is_burst = fast->has_bursts && itest_random(&fast->seed) % 8 != 0;
		int err = is_burst ? burst() : churn(&fast->seed);
		recorded_fast = recorded_fast + (err == 0);
	}
}

/* Jumps that follow each other so fast that they also leave what the library does about the one before. Now and then
 * somebody deletes the ledger. */
static void jump_fast(void *context)
{
	static volatile unsigned i;
	static const struct itimerval never;
	struct fast *fast = context;
	struct sigaction action = { .sa_handler = jump_out };
	unsigned jumps = itest_scale(fast->jumps), often = jumps / 40;
	CHECK(sigaction(SIGALRM, &action, NULL) == 0);
	for (uint64_t id = 0; id < fast->kept; id++)
		CHECK(itest_alloc(0, TIDEMARK_DRAM, id, 64, 1) == 0);
	for (i = 1; i <= jumps; i++) {
		if (sigsetjmp(back, 1) == 0)
			report_until_jump(fast);
		may_jump = 0;
		setitimer(ITIMER_REAL, &never, NULL);
		int state;
		CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state) == 0);
		CHECK_EQ(state, PTHREAD_CANCEL_ENABLE);
		if (i % often == 0 && access(tidemark_ledger_path(), F_OK) == 0)
			check_kept(fast->kept);
		if (i % (jumps / (DELETIONS + 1)) == 0)
			unlink(tidemark_ledger_path());
	}
	CHECK(itest_sanitized() || itest_emulated() || recorded_fast > jumps / 10); /* the device was not lost */
	while (access(tidemark_ledger_path(), F_OK) != 0)
		churn(&fast->seed);
	check_kept(fast->kept);
}

static void jumps_with_few_buffers(void)
{
	struct fast fast = { .seed = 9, .kept = 20, .within_us = 100, .jumps = 20000 };
	CHECK(itest_exited(itest_fork(jump_fast, &fast)));
}

static void jumps_with_many_buffers(void)
{
	struct fast fast = { .seed = 10, .kept = KEPT_MAX, .within_us = 160, .jumps = 4000 };
	CHECK(itest_exited(itest_fork(jump_fast, &fast)));
}

static void jumps_while_shrinking(void)
{
	struct fast fast = { .seed = 11, .kept = 20, .within_us = 500, .jumps = 4000, .has_bursts = true };
	CHECK(itest_exited(itest_fork(jump_fast, &fast)));
}

/* Frees the rest of a burst until a signal ends it somewhere: this is when the ledger gives back its pages. */
static void free_until_jump(uint32_t device, uint64_t first, long wait_us)
{
	struct itimerval soon = { .it_value = { 0, wait_us } };
	may_jump = 1;
	setitimer(ITIMER_REAL, &soon, NULL);
	for (uint64_t i = first; i < BURST; i++)
		tidemark_free(device, 0, i * STRIDE % BURST);
}

/* The device is what its counters say, and each of its buffers is found. */
static void check_and_empty(uint32_t device)
{
	size_t count, at = 0;
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	while (tdm_ledger_device(ledger, at)->number != device)
		at++;
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, at, &count);
	CHECK_EQ(count, itest_live(device, 0));
	for (size_t i = 0; i < count; i++)
		CHECK(tidemark_free(device, 0, buffers[i].slot.id) == 0);
	CHECK_EQ(itest_live(device, 0), 0);
	free(buffers);
	tdm_ledger_close(ledger);
}

/* A device of its own for each burst, because the second one soon after keeps its pages. */
static void jump_out_of_bursts(void *context)
{
	static volatile uint32_t device;
	static const struct itimerval never;
	uint64_t *seed = context;
	struct sigaction action = { .sa_handler = jump_out };
	CHECK(sigaction(SIGALRM, &action, NULL) == 0);
	for (device = 0; device < BURST_DEVICES; device++) {
		uint64_t first = BURST - BURST / 8 + 1;
		for (uint64_t i = 0; i < BURST; i++)
			itest_alloc(device, 0, i, 64, 1);
		for (uint64_t i = 0; i < first; i++)
			tidemark_free(device, 0, i * STRIDE % BURST);
		if (sigsetjmp(back, 1) == 0)
			free_until_jump(device, first, 1 + (long)(itest_random(seed) % JUMP_WITHIN_US));
		may_jump = 0;
		setitimer(ITIMER_REAL, &never, NULL);
		for (uint64_t i = 0; i < LIVE; i++) /* the first one may be refused */
			itest_alloc(device, 0, BURST + i, 64, 1);
		check_and_empty(device);
	}
}

static void jumps_in_bursts(void)
{
	uint64_t seed = 6;
	for (unsigned i = 0; i < itest_scale(BURST_ROUNDS); i++) {
		itest_random(&seed);
		CHECK(itest_exited(itest_fork(jump_out_of_bursts, &seed)));
	}
}

static void *work_until_cancelled(void *context)
{
	CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
	work(context);
	return NULL;
}

static void cancel_rounds(bool is_shared)
{
	uint64_t seed = 5;
	for (unsigned i = 0; i < itest_scale(CANCELS); i++) {
		pthread_t id;
		CHECK(pthread_create(&id, NULL, work_until_cancelled, &seed) == 0);
		if (is_shared) /* now it shares the device with us and takes its lock */
			for (unsigned n = 0; n < 200; n++)
				itest_alloc(0, TIDEMARK_CB, n, 64, 1);
		else
			usleep(100 + i % 50);
		CHECK(pthread_cancel(id) == 0 && pthread_join(id, NULL) == 0);
		CHECK(itest_alloc(0, TIDEMARK_CB, 1, 64, 1) == 0);
	}
	check_device(0);
	check_device(1);
	CHECK(tidemark_lost() <= itest_scale(CANCELS));
}

static void cancels(void)
{
	cancel_rounds(false);
}

static void cancels_shared(void)
{
	cancel_rounds(true);
}

static void *churn_until_cancelled(void *seed)
{
	CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
	for (;;)
		churn(seed);
}

/* Threads that take the device from each other, and are cancelled. Only a new ledger has owners again and again. */
static void cancel_fast(void *context)
{
	uint64_t *seed = context;
	for (uint64_t id = 0; id < LIVE; id++)
		CHECK(itest_alloc(0, TIDEMARK_DRAM, id, 64, 1) == 0);
	for (unsigned i = 0; i < CANCELS_EACH; i++) {
		uint64_t seeds[2] = { itest_random(seed), itest_random(seed) };
		pthread_t ids[2];
		for (unsigned k = 0; k < 2; k++)
			CHECK(pthread_create(&ids[k], NULL, churn_until_cancelled, &seeds[k]) == 0);
		for (unsigned k = 0; k < 2; k++) {
			usleep((useconds_t)(itest_random(seed) % 100));
			CHECK(pthread_cancel(ids[k]) == 0 && pthread_join(ids[k], NULL) == 0);
		}
		check_kept(LIVE);
	}
}

static void cancels_fast(void)
{
	uint64_t seed = 12;
	for (unsigned i = 0; i < itest_scale(CANCELS) / CANCELS_EACH; i++) {
		itest_random(&seed);
		CHECK(itest_exited(itest_fork(cancel_fast, &seed)));
	}
}

/* A handler that interrupted a report is still refused, with a stack of its own and without one. */
static volatile sig_atomic_t refused, recorded;

static void report_in_handler(int signal_number)
{
	uint64_t id = (UINT64_C(1) << 40) + (uint64_t)(refused + recorded);
	(void)signal_number;
	int err = deeper(refused % 8) != 0 ? -EBUSY : itest_alloc(0, TIDEMARK_SYSTEM, id, 64, 1);
	if (err == 0)
		recorded = recorded + 1;
	else
		refused = refused + 1;
}

static void handlers(void)
{
	static char own_stack[1 << 16];
	stack_t alternate = { .ss_sp = own_stack, .ss_size = sizeof own_stack };
	struct sigaction action = { .sa_handler = report_in_handler, .sa_flags = SA_RESTART };
	int period_us = itest_sanitized() || itest_emulated() ? 1000 : 50; /* the handler itself must be faster */
	struct itimerval often = { { 0, period_us }, { 0, period_us } }, never = { 0 };
	CHECK(sigaltstack(&alternate, NULL) == 0);
	for (int round = 0; round < 2; round++) {
		action.sa_flags |= round == 1 ? SA_ONSTACK : 0;
		CHECK(sigaction(SIGALRM, &action, NULL) == 0);
		CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
		uint64_t many = itest_scale(OTHERS);
		for (uint64_t i = 0; i < many; i++) {
			CHECK(itest_alloc(0, TIDEMARK_L1, i, 64, 1) == 0);
			CHECK(tidemark_free(0, TIDEMARK_L1, i) == 0);
		}
		CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
	}
	CHECK_EQ(itest_live(0, TIDEMARK_L1), 0);
	CHECK_EQ(itest_live(0, TIDEMARK_SYSTEM), recorded);
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "jumps", jumps, NULL },
		{ "jumps_with_many_buffers", jumps_with_many_buffers, NULL },
		{ "jumps_while_shrinking", jumps_while_shrinking, NULL },
		{ "jumps_with_few_buffers", jumps_with_few_buffers, NULL },
		{ "jumps_in_bursts", jumps_in_bursts, NULL },
		{ "cancels", cancels, NULL },
		{ "cancels_shared", cancels_shared, NULL },
		{ "cancels_fast", cancels_fast, NULL },
		{ "handlers", handlers, NULL },
		{ "jumps_role", NULL, jumps_role },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
