#include "metal/allocators.h"
#include "base/clock.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
	ALLOCATORS_MAX = 4096,
	USES_PER_LOOK = 16, /* uses of allocators by a thread between two looks at the clock */
	LIST_MAX = 1 << 24, /* bytes of a list that is believed */
	STEP_MAX = 4096,
};
#define STATISTICS_NS (250 * TDM_NS_PER_MS)
#define TRY_AGAIN_NS  (10 * TDM_NS_PER_MS)
#define END_WAIT_NS   (2 * TDM_NS_PER_S)

_Thread_local struct tdm_metal_allocator_cache tdm_metal_used_last __attribute__((tls_model("initial-exec")));
uint32_t tdm_metal_generation = 1;

/* Under tdm_metal_lock(). The place of an allocator is its number; it is used again after the allocator's end, so that
 * a device that is opened again has the same ids. */
static struct tdm_metal_allocator *allocators[ALLOCATORS_MAX];
static size_t allocator_count;

/* BufferType of each kind. */
static const uint64_t types[TDM_METAL_KINDS] = { 0, TDM_METAL_TYPE_L1, TDM_METAL_TYPE_L1_SMALL, TDM_METAL_TYPE_TRACE };

static struct tdm_metal_allocator *find(const void *allocator)
{
	for (size_t i = 0; i < allocator_count; i++)
		if (allocators[i]->is_live && allocators[i]->allocator == allocator)
			return allocators[i];
	return NULL;
}

struct tdm_metal_allocator *tdm_metal_allocator_find(const void *allocator)
{
	tdm_metal_lock();
	struct tdm_metal_allocator *found = find(allocator);
	tdm_metal_unlock();
	return found;
}

struct tdm_metal_allocator *tdm_metal_allocator_find_by_device(const void *device)
{
	struct tdm_metal_allocator *found = NULL;
	tdm_metal_lock();
	for (size_t i = 0; i < allocator_count && found == NULL; i++)
		if (allocators[i]->is_live && allocators[i]->device == device)
			found = allocators[i];
	tdm_metal_unlock();
	return found;
}

/* A place for a new allocator; under the lock. Places are never freed: other threads may look at one that has ended. */
static struct tdm_metal_allocator *take_place(void)
{
	for (size_t i = 0; i < allocator_count; i++)
		if (!allocators[i]->is_live)
			return allocators[i];
	if (allocator_count == ALLOCATORS_MAX)
		return NULL;
	struct tdm_metal_allocator *place = calloc(1, sizeof *place);
	if (place != NULL) {
		place->number = allocator_count;
		allocators[allocator_count++] = place;
	}
	return place;
}

/* Whom to ask: the allocator itself, or the object that its users see. */
static void choose_questions(struct tdm_metal_allocator *new)
{
	const struct tdm_metal_ask *ask = &new->runtime->ask;
	new->asked = new->allocator;
	new->ask = (struct tdm_metal_allocator_ask){ ask->num_banks, ask->bank_size, ask->statistics, ask->base_address,
		ask->alignment };
	if (new->allocator == new->device || new->allocator == NULL || ask->num_banks == NULL ||
		ask->bank_size == NULL) {
		new->asked = tdm_metal_view_of(new->runtime, new->device);
		new->ask = new->asked != NULL ? new->runtime->view : (struct tdm_metal_allocator_ask){ 0 };
	}
}

/* What the allocator says about itself; false: nonsense. */
static bool ask_banks(struct tdm_metal_allocator *new)
{
	const struct tdm_metal_allocator_ask *ask = &new->ask;
	new->has_banks = ask->num_banks != NULL;
	for (uint32_t i = 0; i < TDM_METAL_KINDS; i++) {
		new->banks[i] = ask->num_banks != NULL ? ask->num_banks(new->asked, &types[i])
				: new->chip_count != 0 ? tdm_metal_chip_banks(new->chips[0], i)
						       : 0;
		if (new->banks[i] > TDM_METAL_BANKS_MAX)
			return false;
	}
	/* All kinds are given in steps of DRAM's alignment, so that they can be copied to it. */
	uint32_t step = ask->alignment != NULL ? ask->alignment(new->asked, (uint32_t)types[TIDEMARK_DRAM]) : 0;
	new->said_step = step <= STEP_MAX && (step & (step - 1)) == 0 ? step : 0;
	if (ask->bank_size == NULL || ask->base_address == NULL)
		return true;
	const uint64_t l1 = 0, dram = 1;
	new->l1_end = ask->base_address(new->asked, &l1) + ask->bank_size(new->asked, &types[TIDEMARK_L1]);
	new->dram_end = ask->base_address(new->asked, &dram) + ask->bank_size(new->asked, &types[TIDEMARK_DRAM]);
	return new->l1_end <= TDM_METAL_BYTES_MAX &&new->dram_end <= TDM_METAL_BYTES_MAX;
}

static struct tdm_metal_allocator *add(struct tdm_metal_allocator *new)
{
	tdm_metal_lock();
	struct tdm_metal_allocator *place = find(new->allocator);
	if (place == NULL && (place = take_place()) != NULL) {
		new->number = place->number;
		free(place->chips);
		*place = *new;
		new->chips = NULL;
	}
	tdm_metal_unlock();
	free(new->chips);
	return place;
}

/* Learns all about a new allocator. False: no memory, or nonsense. */
static bool learn(struct tdm_metal_allocator *new)
{
	uint32_t chips[TDM_METAL_CHIPS_MAX];
	new->chip_count = tdm_metal_chips(new->runtime, new->device, chips, TDM_METAL_CHIPS_MAX);
	if (new->chip_count != 0 && (new->chips = malloc(new->chip_count * sizeof *new->chips)) == NULL)
		return false;
	if (new->chip_count != 0)
		memcpy(new->chips, chips, new->chip_count * sizeof *new->chips);
	for (size_t i = 0; i < TDM_METAL_KINDS; i++)
		new->steps[i] = (struct tdm_metal_step)TDM_METAL_STEP_INIT;
	choose_questions(new);
	if (ask_banks(new))
		return true;
	free(new->chips);
	tdm_metal_distrust(
		new->runtime, "metal: the runtime's allocator gives impossible figures, so nothing of it is reported");
	return false;
}

static struct tdm_metal_allocator *make(struct tdm_metal_runtime *runtime, const void *allocator, const void *device)
{
	struct tdm_metal_allocator new = {
		.allocator = allocator, .device = device, .runtime = runtime, .is_live = true, .asking = TDM_METAL_USED
	};
	if (!learn(&new))
		return NULL;
	if (!new.has_banks)
		tdm_metal_remark_once("metal: the number of banks is not known, and so not what buffers take: this "
				      "runtime has no get_num_banks");
	if (new.chip_count == 0)
		tdm_metal_remark_once("metal: buffers of a device whose chips are not known are not shown");
	return add(&new);
}

void tdm_metal_device_opened(struct tdm_metal_runtime *runtime, const void *mesh)
{
	struct tdm_metal_allocator new = { .device = mesh, .runtime = runtime };
	int caller_errno = errno;
	/* One without chips has no allocator that could be asked: all of it is on other hosts. */
	if (tdm_metal_chips(runtime, mesh, (uint32_t[1]){ 0 }, 1) != 0 && learn(&new)) {
		tdm_metal_explain(runtime);
		tdm_metal_chips_describe(&new);
		free(new.chips);
	}
	errno = caller_errno;
}

static bool tells_of_ends(const struct tdm_metal_runtime *runtime)
{
	return __atomic_load_n(&runtime->has_ends, __ATOMIC_RELAXED);
}

struct tdm_metal_allocator *tdm_metal_allocator_slow(
	struct tdm_metal_runtime *runtime, const void *allocator, const void *device)
{
	int caller_errno = errno;
	uint32_t generation = __atomic_load_n(&tdm_metal_generation, __ATOMIC_ACQUIRE);
	struct tdm_metal_allocator *found = tdm_metal_allocator_find(allocator);
	if (found != NULL && found->device != device && !tells_of_ends(runtime)) {
		tdm_metal_allocator_empty(allocator); /* it ended unseen, and another one has its address */
		tdm_metal_allocator_end(allocator);
		found = NULL;
	}
	if (found == NULL)
		found = make(runtime, allocator, device);
	tdm_metal_explain(runtime);
	if (found != NULL && !tdm_metal_is_described(found)) {
		tdm_metal_chips_describe(found);
		/* changed by the first report of a process */
		uint32_t epoch = __atomic_load_n(&tidemark_epoch_, __ATOMIC_RELAXED);
		__atomic_store_n(&found->epoch, epoch, __ATOMIC_RELAXED);
	}
	if (found != NULL)
		tdm_metal_used_last = (struct tdm_metal_allocator_cache){ found, allocator, device, generation };
	errno = caller_errno;
	return found;
}

static void empty_chip(const struct tdm_metal_allocator *allocator, uint32_t chip)
{
	for (uint32_t kind = 0; kind < TDM_METAL_KINDS; kind++) {
		int64_t left = tidemark_free_matching(
			chip, kind, UINT64_MAX << TDM_METAL_ID_BITS, allocator->number << TDM_METAL_ID_BITS);
		if (left > 0)
			tdm_metal_chip_left(chip, (uint64_t)left);
	}
}

void tdm_metal_allocator_empty(const void *allocator)
{
	struct tdm_metal_allocator *found = tdm_metal_allocator_find(allocator);
	if (found == NULL || !tidemark_is_enabled())
		return;
	__atomic_store_n(&found->asking, TDM_METAL_USED, __ATOMIC_RELAXED);
	for (size_t i = 0; i < found->chip_count; i++)
		empty_chip(found, found->chips[i]);
}

/* Under the lock. */
static bool is_live_on(const struct tdm_metal_allocator *allocator, uint32_t chip)
{
	for (size_t i = 0; i < allocator->chip_count && allocator->is_live; i++)
		if (allocator->chips[i] == chip)
			return true;
	return false;
}

/* Whether a chip has an allocator; under the lock. */
static bool is_used(uint32_t chip)
{
	for (size_t i = 0; i < allocator_count; i++)
		if (is_live_on(allocators[i], chip))
			return true;
	return false;
}

void tdm_metal_allocators_leave(uint32_t chip)
{
	if (!tidemark_is_enabled())
		return;
	tdm_metal_lock();
	for (size_t i = 0; i < allocator_count; i++)
		if (allocators[i]->allocator == allocators[i]->device && is_live_on(allocators[i], chip))
			empty_chip(allocators[i], chip);
	tdm_metal_unlock();
}

static _Thread_local bool is_reporter __attribute__((tls_model("initial-exec")));

/* The question is short; a thread that has not come back from it after so long was cancelled, or has left by a jump.
 * One that asks itself is in a signal handler. */
static void wait_until_not_asked(const struct tdm_metal_allocator *ended)
{
	uint64_t begin = 0, now;
	while (ended != NULL && !is_reporter && __atomic_load_n(&tdm_metal_asked_in_turn, __ATOMIC_ACQUIRE) == ended) {
		now = tdm_clock_read(CLOCK_MONOTONIC);
		begin = begin != 0 ? begin : now;
		if (now - begin > END_WAIT_NS)
			return;
		sched_yield();
	}
}

void tdm_metal_allocator_end(const void *allocator)
{
	uint32_t closed[TDM_METAL_CHIPS_MAX];
	size_t closed_count = 0;
	tdm_metal_lock();
	struct tdm_metal_allocator *found = find(allocator);
	if (found != NULL) {
		const struct tdm_metal_runtime *runtime = found->runtime;
		found->is_live = false;
		bool is_told =
			runtime->next[TDM_HOOK_device_close] != NULL || runtime->next[TDM_HOOK_device_close_55] != NULL;
		for (size_t i = 0; i < found->chip_count && !is_told; i++)
			if (!is_used(found->chips[i]))
				closed[closed_count++] = found->chips[i];
	}
	tdm_metal_unlock();
	__atomic_fetch_add(&tdm_metal_generation, 1, __ATOMIC_RELEASE);
	wait_until_not_asked(found);
	for (size_t i = 0; i < closed_count; i++)
		tdm_metal_chip_closed(closed[i]);
}

/*
 * Statistics. An allocator that is in use now may be asked: it lives. So may the others of the same chips, while uses
 * that begin wait, because the end of an allocator is such a use. Where that end is not seen, they count with what they
 * said last, as long as they have not been used since; else the sum would not belong together, and is not reported.
 */

struct sum {
	uint64_t allocated, free, largest;
};

static enum tdm_metal_asking asking_of(const struct tdm_metal_allocator *allocator)
{
	return (enum tdm_metal_asking)__atomic_load_n(&allocator->asking, __ATOMIC_RELAXED);
}

/* Under the lock. */
static bool add_up(uint32_t chip, uint32_t kind, struct sum *sum)
{
	*sum = (struct sum){ 0, UINT64_MAX, UINT64_MAX }; /* each believes that all the rest is free */
	for (size_t i = 0; i < allocator_count; i++) {
		const struct tdm_metal_allocator *each = allocators[i];
		for (size_t k = 0; k < each->chip_count && each->is_live; k++) {
			if (each->chips[k] != chip)
				continue;
			if (!each->has_statistics || asking_of(each) != TDM_METAL_ASKED)
				return false;
			const struct tdm_metal_statistics *said = &each->said[kind];
			sum->allocated += said->allocated;
			sum->free = said->free < sum->free ? said->free : sum->free;
			sum->largest = said->largest < sum->largest ? said->largest : sum->largest;
		}
	}
	return true;
}

static bool is_sane(const struct tdm_metal_statistics *said)
{
	return said->allocated <= TDM_METAL_BYTES_MAX && said->free <= TDM_METAL_BYTES_MAX &&
	       said->largest <= said->free;
}

typedef struct tdm_metal_answer statistics_function(const void *allocator, const void *kind);

/* The function, which another thread may have found to give nonsense; NULL: there is none. */
static statistics_function *statistics_of(const struct tdm_metal_allocator *allocator)
{
	return __atomic_load_n(&allocator->ask.statistics, __ATOMIC_RELAXED);
}

/* Older runtimes add a list, which is the caller's to release. To know whether there is one, it has to be empty before:
 * the place of a result that is too large for registers is the first argument here. Elsewhere the list is lost. */
static struct tdm_metal_statistics ask_kind(
	const struct tdm_metal_allocator *allocator, statistics_function *ask, const uint64_t *type)
{
#if defined(__x86_64__)
	void (*operator_delete)(void *) = allocator->runtime->ask.operator_delete;
	struct tdm_metal_answer said = { .places = { NULL, NULL, NULL } };
	void *(*function)(struct tdm_metal_answer *, const void *, const void *);
	memcpy(&function, &ask, sizeof function);
	function(&said, allocator->asked, type);
	size_t length = (size_t)(said.places.limit - said.places.begin);
	if (said.places.begin != NULL && length <= LIST_MAX && length % sizeof(uint32_t) == 0 &&
		operator_delete != NULL)
		operator_delete(said.places.begin);
#else
	struct tdm_metal_answer said = ask(allocator->asked, type);
#endif
	return said.figures;
}

bool tdm_metal_allocator_says(struct tdm_metal_allocator *allocator, uint32_t kind, struct tdm_metal_statistics *said)
{
	statistics_function *ask = kind < TDM_METAL_KINDS ? statistics_of(allocator) : NULL;
	if (ask == NULL)
		return false;
	*said = ask_kind(allocator, ask, &types[kind]);
	if (is_sane(said))
		return true;
	__atomic_store_n(&allocator->ask.statistics, NULL, __ATOMIC_RELAXED); /* it is not asked again */
	tdm_metal_remark_once("metal: the runtime's own statistics are impossible, so they are not shown");
	return false;
}

/* What an allocator says about all its memories, while nobody uses it. */
static void ask_all(struct tdm_metal_allocator *allocator)
{
	struct tdm_metal_statistics said[TDM_METAL_KINDS];
	for (uint32_t i = 0; i < TDM_METAL_KINDS; i++)
		if (!tdm_metal_allocator_says(allocator, i, &said[i]))
			return;
	memcpy(allocator->said, said, sizeof said);
	allocator->has_statistics = true;
	__atomic_store_n(&allocator->asking, TDM_METAL_ASKED, __ATOMIC_RELAXED);
}

/* Under the lock. */
static void report_statistics(const struct tdm_metal_allocator *allocator)
{
	struct sum sum;
	for (size_t i = 0; i < allocator->chip_count; i++)
		for (uint32_t kind = 0; kind < TDM_METAL_KINDS; kind++)
			if (add_up(allocator->chips[i], kind, &sum))
				tidemark_report_statistics(
					allocator->chips[i], kind, sum.allocated, sum.free, sum.largest);
}

void tdm_metal_allocators_inherit(void)
{
	for (size_t i = 0; i < allocator_count; i++)
		allocators[i]->asking = TDM_METAL_INHERITED;
}

static bool has_not_waited; /* for the report that is under way */
/* Asks an allocator that another thread may end meanwhile. That thread waits until it is no longer asked. */
static void ask_in_turn(struct tdm_metal_allocator *other)
{
	tdm_metal_lock();
	bool is_live = other->is_live;
	if (is_live)
		__atomic_store_n(&tdm_metal_asked_in_turn, other, __ATOMIC_RELAXED);
	tdm_metal_unlock();
	if (is_live)
		ask_all(other);
	__atomic_store_n(&tdm_metal_asked_in_turn, NULL, __ATOMIC_RELEASE);
}

/* Asks all allocators that share a chip with this one, and have been used since they were asked last. */
static void ask_others(const struct tdm_metal_allocator *allocator)
{
	static struct tdm_metal_allocator *others[ALLOCATORS_MAX]; /* of the one thread that reports */
	size_t count = 0;
	tdm_metal_lock();
	for (size_t i = 0; i < allocator_count; i++) {
		struct tdm_metal_allocator *other = allocators[i];
		bool is_due = other != allocator && asking_of(other) == TDM_METAL_USED && tells_of_ends(other->runtime);
		for (size_t k = 0; k < allocator->chip_count && is_due; k++)
			if (is_live_on(other, allocator->chips[k])) {
				others[count++] = other;
				break;
			}
	}
	tdm_metal_unlock();
	for (size_t i = 0; i < count && !__atomic_load_n(&has_not_waited, __ATOMIC_RELAXED); i++)
		ask_in_turn(others[i]);
}

/* False: another thread has used an allocator meanwhile, so that the answers are of no use. `uses` is tdm_metal_uses
 * from before the question. */
static bool ask_statistics(struct tdm_metal_allocator *allocator, uint64_t uses)
{
	if (!__atomic_compare_exchange_n(
		    &tdm_metal_uses, &uses, uses | TDM_METAL_REPORTING, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&has_not_waited, false, __ATOMIC_RELAXED);
	is_reporter = true;
	ask_all(allocator);
	ask_others(allocator);
	tdm_metal_lock();
	bool is_alone = !__atomic_load_n(&has_not_waited, __ATOMIC_ACQUIRE);
	if (is_alone)
		report_statistics(allocator);
	tdm_metal_unlock();
	is_reporter = false;
	__atomic_fetch_and(&tdm_metal_uses, ~TDM_METAL_REPORTING, __ATOMIC_RELEASE);
	return is_alone;
}

/* Not for ever: a comparison that is not made is better than a program that does not go on. The thread that reports may
 * have been cancelled, or have left by a jump; if it is only slow, its use is still under way, and nobody else begins a
 * report before that has ended. */
void tdm_metal_wait_for_report(void)
{
	enum { ROUNDS_MAX = 10000 };
	int rounds = 0;
	while ((__atomic_load_n(&tdm_metal_uses, __ATOMIC_ACQUIRE) & TDM_METAL_REPORTING) != 0) {
		if (is_reporter || rounds++ == ROUNDS_MAX) { /* itself: in a signal handler, or after a jump */
			__atomic_store_n(&has_not_waited, true, __ATOMIC_RELEASE);
			__atomic_fetch_and(&tdm_metal_uses, ~TDM_METAL_REPORTING, __ATOMIC_RELEASE);
		} else {
			sched_yield();
		}
	}
}

static __attribute__((cold, noinline)) void look_at_clock(struct tdm_metal_allocator *allocator)
{
	uint64_t uses;
	if (statistics_of(allocator) == NULL || !tdm_metal_is_alone(&uses))
		return;
	uint64_t now = tdm_clock_read(CLOCK_MONOTONIC_COARSE);
	uint64_t before = __atomic_load_n(&allocator->asked_ns, __ATOMIC_RELAXED);
	if (before != 0 && now - before < STATISTICS_NS)
		return;
	bool is_done = ask_statistics(allocator, uses);
	__atomic_store_n(&allocator->asked_ns, is_done ? now : now - STATISTICS_NS + TRY_AGAIN_NS, __ATOMIC_RELAXED);
}

void tdm_metal_allocator_report(struct tdm_metal_allocator *allocator)
{
	__atomic_store_n(&allocator->asked_ns, 0, __ATOMIC_RELAXED);
	tdm_metal_allocator_used(allocator);
}

void tdm_metal_allocator_used(struct tdm_metal_allocator *allocator)
{
	static _Thread_local uint32_t uses __attribute__((tls_model("initial-exec")));
	if (asking_of(allocator) != TDM_METAL_USED)
		__atomic_store_n(&allocator->asking, TDM_METAL_USED, __ATOMIC_RELAXED);
	if (__builtin_expect(
		    ++uses % USES_PER_LOOK == 0 || __atomic_load_n(&allocator->asked_ns, __ATOMIC_RELAXED) == 0, 0))
		look_at_clock(allocator);
}
