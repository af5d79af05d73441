/*
 * The inside of the preload, libtidemark-metal.so. It defines functions of tt-metal (metal/hook_list.h says which), so
 * that calls inside an unmodified runtime come here first; each hook calls the next definition, the runtime's own, and
 * reports to libtidemark what it saw.
 *
 * A hook is the C function tdm_hook_ID, which this header declares with the mangled name as its symbol. It begins with
 * TDM_METAL_ENTER(ID), and passes the call on with TDM_METAL_NEXT(ID)(arguments). Exceptions of the runtime pass
 * through its frame: a hook that has to know about them uses __attribute__((cleanup)), and calls nothing there that may
 * throw. A hook reports only if tdm_metal_is_on(runtime).
 *
 * Threads: hooks run on all threads of the program. What they share is guarded by tdm_metal_lock(), which is never held
 * while something of the runtime is called. A forked child finds it free.
 *
 * Pointers of the runtime are followed with tdm_metal_copy(), unless what they point to was proven (metal/trust.h).
 */
#ifndef TDM_METAL_METAL_H
#define TDM_METAL_METAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metal/hook_list.h"
#include "metal/trust.h"
#include "tidemark.h"

enum tdm_metal_hook {
#define X(id, ...) TDM_HOOK_##id,
	TDM_METAL_HOOKS(X)
#undef X
		TDM_METAL_HOOK_COUNT
};

/* The hooks, and the types of what they call next. */
#define X(id, result, arguments, symbol, ...)                                                  \
	__attribute__((visibility("default"))) result tdm_hook_##id arguments __asm__(symbol); \
	typedef result tdm_next_##id arguments;
TDM_METAL_HOOKS(X)
#undef X

/* Functions of the runtime that are asked; NULL where it has none. */
struct tdm_metal_ask {
#define X(field, result, arguments, ...) result(*field) arguments;
	TDM_METAL_QUESTIONS(X)
#undef X
};

/* Questions to an allocator. */
struct tdm_metal_allocator_ask {
	uint32_t (*num_banks)(const void *allocator, const void *kind);
	uint64_t (*bank_size)(const void *allocator, const void *kind);
	struct tdm_metal_answer (*statistics)(const void *allocator, const void *kind);
	uint64_t (*base_address)(const void *allocator, const void *memory);
	uint32_t (*alignment)(const void *allocator, uint32_t kind);
};

/* Places in objects of the runtime, each used only as far as it was proven: see metal/trust.h. */
struct tdm_metal_places {
	struct tdm_metal_judgement device, size, type[TDM_METAL_TYPES];
	uint32_t device_at; /* in a buffer; its size and type follow */
	bool has_device;    /* device_at is known */
	uint32_t shards_at; /* where the cores of a sharded buffer were found last; 0: nowhere yet */
};

/* A copy of the runtime in this process. Never unloaded or freed once found: we keep a handle. */
struct tdm_metal_runtime {
	uintptr_t low, high; /* its addresses, from its first to its last segment */
	void *next[TDM_METAL_HOOK_COUNT];
	struct tdm_metal_ask ask;
	struct tdm_metal_allocator_ask view; /* of class Allocator, which users see, also where another one allocates */
	struct tdm_metal_places places;
	void *(*exceptions)(void); /* those of the calling thread; NULL: not known */
	void *handle;              /* for dlsym() */
	bool is_distrusted;        /* it gave nonsense: calls are passed on, and nothing is asked or reported */
	bool has_allocations;      /* allocate_buffer() was called */
	bool has_ends;             /* the end of an allocator was seen: a name alone is no proof that it is called */
	bool has_lives;            /* so was the beginning or the end of a program */
	bool is_by_tracker; /* buffers are reported by track_allocate(), because allocate_buffer() cannot be hooked */
	bool is_explained;  /* what is not seen of it was said */
};

/* The runtime that `caller` (a return address) belongs to, or whose function it calls: the one in its own library, else
 * among that library's dependencies, else the one that this thread used last, else any that has the function. NULL: no
 * library of this process has it. Leaves errno as it is. */
struct tdm_metal_runtime *tdm_metal_runtime_slow(enum tdm_metal_hook hook, const void *caller);

extern struct tdm_metal_runtime *tdm_metal_main; /* the first one found; NULL: none yet */

static inline struct tdm_metal_runtime *tdm_metal_runtime_of(enum tdm_metal_hook hook, const void *caller)
{
	struct tdm_metal_runtime *main_one = __atomic_load_n(&tdm_metal_main, __ATOMIC_ACQUIRE);
	if (__builtin_expect(main_one != NULL && (uintptr_t)caller - main_one->low < main_one->high - main_one->low &&
				     main_one->next[hook] != NULL,
		    1))
		return main_one;
	return tdm_metal_runtime_slow(hook, caller);
}

/* Tracking is on, and the runtime is believed. */
static inline bool tdm_metal_is_on(const struct tdm_metal_runtime *runtime)
{
	return tidemark_is_enabled() && !__atomic_load_n(&runtime->is_distrusted, __ATOMIC_RELAXED);
}

static inline bool tdm_metal_is_by_tracker(const struct tdm_metal_runtime *runtime)
{
	return __atomic_load_n(&runtime->is_by_tracker, __ATOMIC_RELAXED);
}

/* The runtime of this call, in `runtime`. Without one, the hook returns 0: see tdm_metal_without(). */
#define TDM_METAL_ENTER(id, ...)                                                                              \
	struct tdm_metal_runtime *runtime = tdm_metal_runtime_of(TDM_HOOK_##id, __builtin_return_address(0)); \
	if (__builtin_expect(runtime == NULL, 0)) {                                                           \
		tdm_metal_without(TDM_HOOK_##id);                                                             \
		return __VA_ARGS__;                                                                           \
	}

/* The runtime's own function of a hook. */
#define TDM_METAL_NEXT(id) ((tdm_next_##id *)runtime->next[TDM_HOOK_##id])

/*
 * A hook was called, and no library has the function. Without the preload, the loader would have ended the program with
 * "undefined symbol" at this call, or at its start, unless the reference was a weak one. A function without a result
 * may be left out. One with a result must not be made up: then the program ends as it would have ended.
 */
void tdm_metal_without(enum tdm_metal_hook hook);

/* Counts a call of a hook, while tracking is on. */
void tdm_metal_count(enum tdm_metal_hook hook);

/* Tells readers something, once in the life of a process; `text` is a constant. */
void tdm_metal_remark_once(const char *text);

/* Says once what cannot be seen of a runtime, because it lacks functions. */
void tdm_metal_explain(struct tdm_metal_runtime *runtime);

/* Marks the runtime as not to be believed, with a remark that says why. */
void tdm_metal_distrust(struct tdm_metal_runtime *runtime, const char *why);

/* Reads this process's memory: false instead of a crash where there is none. Costs a system call. Not under the lock.
 */
bool tdm_metal_copy(void *to, const void *from, size_t size);

/* For the C++ adapter, which does nothing then: 1 if this process has a runtime whose buffers the hooks see. */
__attribute__((visibility("default"))) int tidemark_metal_is_loaded(void);

/* The lock of everything that hooks share. Nothing of the runtime is called under it. */
void tdm_metal_lock(void);
void tdm_metal_unlock(void);

/* Whether the lock can be taken now. False: it is held, perhaps by this very thread, which abort() may find anywhere.
 */
bool tdm_metal_lock_is_free(void);

/*
 * What the calling thread has asked the runtime for and has no answer to, in abort(): the frames of the hooks are still
 * there, because nobody catches the exception, so that nothing is unwound. Notes what the runtime refused, as far as it
 * is known without asking it; `is_exception`: it is certain that an exception is the reason.
 */
bool tdm_metal_buffers_are_attempted(void);
void tdm_metal_buffers_aborted(bool is_exception);
bool tdm_programs_are_validated(void);
void tdm_programs_aborted(bool is_exception);

/* The cores of a sharded buffer, of which num_cores() says `cores`; their number, 0: not found. */
enum { TDM_METAL_RANGES_MAX = 64 };
uint32_t tdm_metal_buffer_cores(struct tdm_metal_runtime *runtime, const void *buffer, uint64_t cores,
	struct tidemark_core_range ranges[TDM_METAL_RANGES_MAX]);

/* The logical numbers of the chips of an IDevice: of a Device, or of those of a MeshDevice that are on this host. At
 * most `cap` of them; their number, 0: not known. May call the runtime, once for each device. */
size_t tdm_metal_chips(struct tdm_metal_runtime *runtime, const void *device, uint32_t *chips, size_t cap);

/* Of one host; a ledger has room for fewer. Lists of them are on the stack, which may be small: a program's threads may
 * have one of 16 KiB. */
enum { TDM_METAL_CHIPS_MAX = 256 };

#endif
