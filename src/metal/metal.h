/*
 * The internals of the preload, libtidemark-metal.so. It defines functions of tt-metal (listed in metal/hook_list.h),
 * so calls inside an unmodified runtime reach the preload first. Each hook calls the next definition, the runtime's
 * own, and reports to libtidemark.
 *
 * A hook is the C function tdm_hook_ID, which this header declares with the mangled name as its symbol. It begins with
 * TDM_METAL_ENTER(ID), and passes the call on with TDM_METAL_NEXT(ID)(arguments). The runtime's exceptions pass through
 * the hook's frame: a hook that must notice an exception uses __attribute__((cleanup)), and its cleanup calls nothing
 * that may throw. A hook reports only if tdm_metal_is_on(runtime).
 *
 * Threads: hooks run on all threads of the program. Their shared data is guarded by tdm_metal_lock(), which is never
 * held during calls into the runtime. In a forked child the lock is free.
 *
 * The runtime's pointers are followed with tdm_metal_copy(), unless their targets were proven to be valid (trust.c).
 */
#ifndef TDM_METAL_METAL_H
#define TDM_METAL_METAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metal/hook_list.h"
#include "tidemark.h"

/*
 * ---- which answers of a runtime to trust (trust.c) ----
 *
 * Functions are found by name, so their answers are only checked for nonsense. However, no function returns certain
 * fields in the runtime's objects, and the locations of those fields differ between releases. A place is used only
 * after its value has agreed several times with functions' answers about the same objects, and never again after one
 * disagreement.
 */

enum {
	TDM_METAL_ENOUGH = 3, /* number of agreements before a place is used */
	TDM_METAL_TYPES = 5,  /* number of BufferTypes: DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE */
	TDM_METAL_TYPE_L1 = 1,
	TDM_METAL_TYPE_L1_SMALL = 3,
	TDM_METAL_TYPE_TRACE = 4,
	TDM_METAL_BANKS_MAX = 4096,
};
#define TDM_METAL_BYTES_MAX (UINT64_C(1) << 48)

/* Threads may judge at the same time: an agreement may get lost, but a disagreement cannot. A thread that sees a
 * place proven also sees the place itself. */
struct tdm_metal_judgement {
	uint8_t agreed;
	bool is_wrong;
};

static inline bool tdm_metal_is_proven(const struct tdm_metal_judgement *judgement)
{
	return __atomic_load_n(&judgement->agreed, __ATOMIC_ACQUIRE) >= TDM_METAL_ENOUGH &&
	       !__atomic_load_n(&judgement->is_wrong, __ATOMIC_RELAXED);
}

/* Records an agreement or a disagreement. */
void tdm_metal_judge(struct tdm_metal_judgement *judgement, bool agrees);

/* The runtime functions' answers about a buffer. */
struct tdm_metal_answers {
	bool is_l1, is_dram, is_trace, is_sharded;
	uint64_t page_size;    /* 0 if there is no answer, as for the other members */
	uint64_t aligned_page; /* bytes of a page, including its padding */
	uint64_t aligned_size; /* size of all pages, including shard padding */
	uint32_t pages;
};

/*
 * The step in which an allocator allocates memory: some power of two from `low` to `high`. Each measured buffer narrows
 * this range.
 */
struct tdm_metal_step {
	uint32_t low, high; /* low > high: no step can explain the measurements */
};
#define TDM_METAL_STEP_INIT \
	{                   \
		1, 512      \
	}

/* The current range of a step, which another thread may be narrowing. */
static inline struct tdm_metal_step tdm_metal_step_now(const struct tdm_metal_step *step)
{
	return (struct tdm_metal_step){ __atomic_load_n(&step->low, __ATOMIC_RELAXED),
		__atomic_load_n(&step->high, __ATOMIC_RELAXED) };
}

/* Whether more than one step is possible. */
static inline bool tdm_metal_step_is_open(const struct tdm_metal_step *step)
{
	struct tdm_metal_step now = tdm_metal_step_now(step);
	return now.low < now.high;
}

static inline uint64_t tdm_metal_round_up(uint64_t bytes, uint32_t step)
{
	return ((bytes != 0 ? bytes : 1) + step - 1) & ~((uint64_t)step - 1);
}

/* The bytes that an allocator takes for a request; 0 if unknown, because the possible steps yield different results. */
static inline uint64_t tdm_metal_step_apply(const struct tdm_metal_step *step, uint64_t bytes)
{
	struct tdm_metal_step now = tdm_metal_step_now(step);
	uint64_t least = tdm_metal_round_up(bytes, now.low);
	return now.low <= now.high && least == tdm_metal_round_up(bytes, now.high) ? least : 0;
}

/* Records that an allocator took `taken` bytes for a request of `bytes`. One thread at a time. */
void tdm_metal_step_judge(struct tdm_metal_step *step, uint64_t bytes, uint64_t taken);

/* Whether a size, and a type, that were read from a buffer agree with the answers about the buffer. If the answers
 * lack the page size or the number of pages, the size must agree with the size of all pages. */
bool tdm_metal_size_agrees(uint64_t size, const struct tdm_metal_answers *answers);
bool tdm_metal_type_agrees(uint32_t type, const struct tdm_metal_answers *answers);

/* The kind (enum tidemark_kind) of a type; UINT32_MAX if it is not device memory. */
uint32_t tdm_metal_kind_of(uint32_t type);

/* ---- the runtime and its hooks ---- */

enum tdm_metal_hook {
#define X(id, ...) TDM_HOOK_##id,
	TDM_METAL_HOOKS(X, X)
#undef X
		TDM_METAL_HOOK_COUNT
};

/* The hooks, and the types of the functions that they call next. */
#define X(id, result, arguments, ...) typedef result tdm_next_##id arguments;
#define Y(id, same, ...)              typedef tdm_next_##same tdm_next_##id;
TDM_METAL_HOOKS(X, Y)
#undef X
#undef Y
#define X(id, result, arguments, since, until, topic, is_needed, name, sees, symbol) Y(id, , , , symbol)
#define Y(id, same, since, until, symbol) \
	__attribute__((visibility("default"))) tdm_next_##id tdm_hook_##id __asm__(symbol);
TDM_METAL_HOOKS(X, Y)
#undef X
#undef Y

/* The runtime's functions that the preload calls; NULL if the runtime lacks one. */
struct tdm_metal_ask {
#define X(field, result, arguments, ...) result(*field) arguments;
	TDM_METAL_QUESTIONS(X)
#undef X
};

/* Functions for querying an allocator. */
struct tdm_metal_allocator_ask {
	uint32_t (*num_banks)(const void *allocator, const void *kind);
	uint64_t (*bank_size)(const void *allocator, const void *kind);
	struct tdm_metal_answer (*statistics)(const void *allocator, const void *kind);
	uint64_t (*base_address)(const void *allocator, const void *memory);
	uint32_t (*alignment)(const void *allocator, uint32_t kind);
};

/* Places in the runtime's objects, each used only once it is proven: see above. */
struct tdm_metal_places {
	struct tdm_metal_judgement device, size, type[TDM_METAL_TYPES];
	uint32_t device_at; /* offset of the device pointer within a buffer; the size and type follow the pointer */
	bool has_device;    /* whether device_at is known */
};

/* One of the runtimes in this process. Once found, a runtime is never unloaded or freed, because we keep a handle. */
struct tdm_metal_runtime {
	uintptr_t low, high; /* its address range, from its first to its last segment */
	void *next[TDM_METAL_HOOK_COUNT];
	struct tdm_metal_ask ask;
	/* functions of class Allocator, which users see even if another class allocates */
	struct tdm_metal_allocator_ask view;
	struct tdm_metal_places places;
	void *(*exceptions)(void); /* the calling thread's exception globals; NULL if unknown */
	void *handle;              /* for dlsym() */
	/* the runtime returned nonsense: calls are passed on, and nothing is queried or reported */
	bool is_distrusted;
	bool has_allocations; /* allocate_buffer() has been called */
	/* the end of an allocator has been seen; a symbol alone does not prove that it is called */
	bool has_ends;
	bool has_lives; /* the beginning or end of a program has been seen */
	/* buffers are reported by track_allocate(), because this runtime's allocate_buffer() cannot be hooked */
	bool is_by_tracker;
	bool is_explained; /* the runtime's missing functions have been noted in remarks */
};

/* The runtime that `caller` (a return address) belongs to or calls: the runtime in the caller's own library, else
 * one among that library's dependencies, else the one that this thread used last, else any that has the function.
 * NULL if no library of this process has it. Preserves errno. */
struct tdm_metal_runtime *tdm_metal_runtime_slow(enum tdm_metal_hook hook, const void *caller);

extern struct tdm_metal_runtime *tdm_metal_main; /* the first runtime found; NULL if none yet */

static inline struct tdm_metal_runtime *tdm_metal_runtime_of(enum tdm_metal_hook hook, const void *caller)
{
	struct tdm_metal_runtime *main_one = __atomic_load_n(&tdm_metal_main, __ATOMIC_ACQUIRE);
	if (__builtin_expect(main_one != NULL && (uintptr_t)caller - main_one->low < main_one->high - main_one->low &&
				     main_one->next[hook] != NULL,
		    1))
		return main_one;
	return tdm_metal_runtime_slow(hook, caller);
}

/* Whether tracking is on and the runtime is trusted. */
static inline bool tdm_metal_is_on(const struct tdm_metal_runtime *runtime)
{
	return tidemark_is_enabled() && !__atomic_load_n(&runtime->is_distrusted, __ATOMIC_RELAXED);
}

static inline bool tdm_metal_is_by_tracker(const struct tdm_metal_runtime *runtime)
{
	return __atomic_load_n(&runtime->is_by_tracker, __ATOMIC_RELAXED);
}

/* Defines `runtime`, the runtime of this call. If there is none, a hook that has no result returns: see
 * tdm_metal_without(). */
#define TDM_METAL_ENTER(id, ...)                                                                              \
	struct tdm_metal_runtime *runtime = tdm_metal_runtime_of(TDM_HOOK_##id, __builtin_return_address(0)); \
	if (__builtin_expect(runtime == NULL, 0)) {                                                           \
		if (sizeof #__VA_ARGS__ > 1) /* the hook has a result */                                      \
			tdm_metal_without(TDM_HOOK_##id);                                                     \
		return __VA_ARGS__;                                                                           \
	}

/* The runtime's own function of a hook. */
#define TDM_METAL_NEXT(id) ((tdm_next_##id *)runtime->next[TDM_HOOK_##id])

/*
 * A hook was called, but no library has the function. Without the preload, the loader would have ended the program with
 * "undefined symbol", at this call or at its start, unless the reference was weak. If the function has no result, its
 * call is skipped. A result must not be made up, so the program ends as it would have without the preload.
 */
__attribute__((noreturn)) void tdm_metal_without(enum tdm_metal_hook hook);

/* Counts a call to a hook while tracking is on. */
void tdm_metal_count(enum tdm_metal_hook hook);

/* Whether to report a call of a hook; if so, counts it. */
static inline bool tdm_metal_sees(const struct tdm_metal_runtime *runtime, enum tdm_metal_hook hook)
{
	bool is_on = tdm_metal_is_on(runtime);
	if (is_on)
		tdm_metal_count(hook);
	return is_on;
}

/* Leaves a remark for readers, once per process; `text` is a constant. */
void tdm_metal_remark_once(const char *text);

/* Leaves remarks, once per runtime, about topics that are invisible because the runtime lacks functions. */
void tdm_metal_explain(struct tdm_metal_runtime *runtime);

/* Marks the runtime as not trusted, with a remark that gives the reason. */
void tdm_metal_distrust(struct tdm_metal_runtime *runtime, const char *why);

/* Reads this process's memory; returns false instead of crashing if it is not mapped. Costs a system call. Not to be
 * called under the lock. */
bool tdm_metal_copy(void *to, const void *from, size_t size);

/* For the C++ adapter: 1 if this process has a runtime whose buffers the hooks see; then the adapter does nothing. */
__attribute__((visibility("default"))) int tidemark_metal_is_loaded(void);

/* The lock for all data that hooks share. No runtime function is called under this lock. */
void tdm_metal_lock(void);
void tdm_metal_unlock(void);

/* Whether the lock can be taken now. False if it is held, perhaps by this thread: abort() may be called anywhere. */
bool tdm_metal_lock_is_free(void);

/*
 * For abort(): the calling thread's pending requests. The hooks' frames still exist, because an uncaught exception
 * unwinds nothing. Reports refused requests without calling the runtime; `is_exception`: an exception is certainly the
 * reason.
 */
bool tdm_metal_buffers_are_attempted(void);
void tdm_metal_buffers_aborted(bool is_exception);
bool tdm_programs_are_validated(void);
void tdm_programs_aborted(bool is_exception);

/* The core ranges of a sharded buffer, for which num_cores() returned `cores`. Returns the number of ranges; 0 if
 * none were found. */
enum { TDM_METAL_RANGES_MAX = 64 };
uint32_t tdm_metal_buffer_cores(const struct tdm_metal_runtime *runtime, const void *buffer, uint64_t cores,
	struct tidemark_core_range ranges[TDM_METAL_RANGES_MAX]);

/* The logical numbers of an IDevice's chips, at most `cap`: a Device's own, or those of a MeshDevice's chips on this
 * host. Returns their count; 0 if unknown. May call the runtime, once for each device. */
size_t tdm_metal_chips(struct tdm_metal_runtime *runtime, const void *device, uint32_t *chips, size_t cap);

/* Maximum number of chips on one host; a ledger has room for fewer. The limit is low because lists of chips are on
 * the stack, and a program's threads may have stacks of 16 KiB. */
enum { TDM_METAL_CHIPS_MAX = 256 };

/*
 * ---- allocators and chips (allocators.c) ----
 *
 * The runtime's allocators and the chips whose memory each of them manages: a mesh has one allocator for all its chips,
 * and so has each submesh and each single device. An allocator has a number, which is part of its buffers' ids, because
 * several allocators on one chip may use the same addresses.
 *
 * A chip is described to readers when one of its allocators is first used, with that allocator's answers.
 */

enum {
	TDM_METAL_KINDS = 4,   /* DRAM, L1, L1_SMALL, TRACE: the first of enum tidemark_kind */
	TDM_METAL_ID_BITS = 48 /* bits of an id that hold the address */
};

/* Whether an allocator is due to be asked for its statistics. */
enum tdm_metal_asking {
	TDM_METAL_ASKED, /* asked since it was last used */
	TDM_METAL_USED,  /* used by this process since it was last asked */
	/*
	 * inherited through a fork: a thread in the parent may have held the allocator's lock, which stays locked here,
	 * so the allocator must not be asked before this process has used it
	 */
	TDM_METAL_INHERITED,
};

struct tdm_metal_allocator {
	const void *allocator, *device;
	const void *asked; /* the object to query; NULL if unknown */
	struct tdm_metal_allocator_ask ask;
	struct tdm_metal_runtime *runtime;
	uint64_t number;
	size_t chip_count; /* 0 if unknown; nothing is reported then */
	uint32_t *chips;
	uint32_t banks[TDM_METAL_KINDS];
	struct tdm_metal_step steps[TDM_METAL_KINDS];
	bool has_banks;                     /* `banks` is from the allocator; otherwise from the chip */
	struct tdm_metal_judgement formula; /* whether our formula yields a buffer's real size */
	uint32_t said_step;                 /* the step reported by a function; 0 if there is none */
	uint32_t measured;                  /* attempts to measure buffers */
	uint64_t l1_end, dram_end; /* end addresses of L1 and DRAM, above which L1_SMALL and traces are; 0 if unknown */
	uint32_t epoch;            /* epoch of the ledger in which its chips are described */
	bool is_live;              /* if false, the allocator was destroyed, and its position may be reused */
	uint8_t asking;            /* enum tdm_metal_asking */
	bool has_statistics;
	uint64_t asked_ns; /* when it was last asked */
	struct tdm_metal_statistics said[TDM_METAL_KINDS];
};

struct tdm_metal_allocator_cache { /* the allocator that this thread used last */
	struct tdm_metal_allocator *found;
	const void *allocator, *device;
	uint32_t generation;
};
extern _Thread_local struct tdm_metal_allocator_cache tdm_metal_used_last __attribute__((tls_model("initial-exec")));
extern uint32_t tdm_metal_generation; /* changes when an allocator or a device ends, which invalidates the caches */

struct tdm_metal_allocator *tdm_metal_allocator_slow(
	struct tdm_metal_runtime *runtime, const void *allocator, const void *device);

/* Whether the allocator's chips are described in this ledger. */
static inline bool tdm_metal_is_described(const struct tdm_metal_allocator *allocator)
{
	return __atomic_load_n(&allocator->epoch, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&tidemark_epoch_, __ATOMIC_RELAXED);
}

/* The record of an IDevice's allocator at this address (or, if that is unknown, at the IDevice's address). If new,
 * the record is made and described by calling the runtime. NULL if memory or numbers have run out. */
static inline struct tdm_metal_allocator *tdm_metal_allocator_of(
	struct tdm_metal_runtime *runtime, const void *allocator, const void *device)
{
	const struct tdm_metal_allocator_cache *last = &tdm_metal_used_last;
	if (__builtin_expect(last->allocator == allocator && last->device == device && last->found != NULL &&
				     last->generation == __atomic_load_n(&tdm_metal_generation, __ATOMIC_RELAXED) &&
				     tdm_metal_is_described(last->found),
		    1))
		return last->found;
	return tdm_metal_allocator_slow(runtime, allocator, device);
}

/* The allocator at this address or, if that is NULL, the IDevice's first allocator. NULL if it has not been used
 * yet. */
struct tdm_metal_allocator *tdm_metal_allocator_find(const void *allocator, const void *device);

/* Releases all of an allocator's buffers, before the runtime does so. */
void tdm_metal_allocator_empty(const void *allocator);

/* Records that the allocator is ending, even if it was never used. The allocator is not queried any more. */
void tdm_metal_allocator_end(const void *allocator);

/*
 * Counts allocator uses in progress. During a use the runtime and the ledger may differ, because a buffer may be
 * allocated but not yet reported. So a thread asks for statistics only when its use is the only one, and reports them
 * only if no other use has begun meanwhile. Uses that begin during the report wait for it.
 */
#define TDM_METAL_USE_BEGINS (UINT64_C(1) << 32 | 1) /* upper half: uses begun; lower half: uses in progress */
#define TDM_METAL_REPORTING  (UINT64_C(1) << 31)
extern uint64_t tdm_metal_uses; /* in a forked child, only the forking thread's uses are in progress */
extern _Thread_local uint32_t tdm_metal_own_uses __attribute__((tls_model("initial-exec")));

/* Waits for a report in progress, but not forever. */
void tdm_metal_wait_for_report(void);

/* The live allocator that a report is querying, or NULL; a thread that wants to end this allocator waits. Set under
 * the lock. */
extern const struct tdm_metal_allocator *tdm_metal_asked_in_turn;

static inline bool tdm_metal_use_begins(void)
{
	tdm_metal_own_uses++;
	if (__builtin_expect((__atomic_fetch_add(&tdm_metal_uses, TDM_METAL_USE_BEGINS, __ATOMIC_ACQ_REL) &
				     TDM_METAL_REPORTING) != 0,
		    0))
		tdm_metal_wait_for_report();
	return true;
}

static inline void tdm_metal_use_ends(const bool *use)
{
	(void)use;
	tdm_metal_own_uses--;
	__atomic_fetch_sub(&tdm_metal_uses, 1, __ATOMIC_RELEASE);
}

/* Whether this thread's use is the only one; if so, `uses` receives tdm_metal_uses. */
static inline bool tdm_metal_is_alone(uint64_t *uses)
{
	*uses = __atomic_load_n(&tdm_metal_uses, __ATOMIC_ACQUIRE);
	return (uint32_t)*uses == tdm_metal_own_uses && tdm_metal_own_uses != 0;
}

/* Queries an allocator about one bank of a kind; false if there is no answer. The allocator must not be locked. */
bool tdm_metal_allocator_says(struct tdm_metal_allocator *allocator, uint32_t kind, struct tdm_metal_statistics *said);

/* In a forked child, where no other thread runs. */
void tdm_metal_allocators_inherit(void);

/* Asks an allocator for its statistics if due, and reports them. Called at the end of a use, when the allocator is not
 * locked. */
void tdm_metal_allocator_used(struct tdm_metal_allocator *allocator);
/* Like tdm_metal_allocator_used(), whether or not statistics are due. */
void tdm_metal_allocator_report(struct tdm_metal_allocator *allocator);

/* A chip was closed: ends its traces, and the host memory still pinned for it. */
void tdm_metal_pinned_leave(uint32_t chip);
void tdm_metal_traces_leave(uint32_t chip);

/* Whether the pointer points to one of the runtime's Devices or MeshDevices. */
bool tdm_metal_is_device(const struct tdm_metal_runtime *runtime, const void *device);

#endif
