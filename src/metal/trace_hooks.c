/*
 * Traces: captured sequences of commands that are replayed. Their steps are reported once for each chip, whichever
 * functions of the runtime tell of them: one of a mesh calls others of the mesh, of its allocators
 * (register_active_trace) or, in older releases, of its single devices. The outermost function reports, and a trace
 * that has ended, or that was released, is not reported so again.
 */
#include "metal/allocators.h"

#include <string.h>

enum { TRACES_MAX = 4096 };

/* Traces that exist: captured, and not released. Under tdm_metal_lock(). */
static struct {
	uint32_t chip, id;
} traces[TRACES_MAX];
static size_t trace_count;

void tdm_metal_traces_leave(uint32_t chip)
{
	tdm_metal_lock();
	for (size_t i = trace_count; i-- > 0;)
		if (traces[i].chip == chip)
			traces[i] = traces[--trace_count];
	tdm_metal_unlock();
}

static _Thread_local unsigned depth __attribute__((tls_model("initial-exec"))); /* of functions that tell of traces */

/* Whether this changes anything: not the end of a trace that has ended, or the release of one that was released. */
static bool change(uint32_t chip, enum tidemark_step step, uint32_t id)
{
	bool is_news = true;
	tdm_metal_lock();
	size_t i = 0;
	while (i < trace_count && (traces[i].chip != chip || traces[i].id != id))
		i++;
	if (step == TIDEMARK_TRACE_ENDED) {
		is_news = i == trace_count;
		if (is_news && trace_count < TRACES_MAX) {
			traces[trace_count].chip = chip;
			traces[trace_count++].id = id;
		}
	} else if (step == TIDEMARK_TRACE_RELEASED) {
		is_news = i < trace_count || trace_count == TRACES_MAX; /* then it may have had no place */
		if (i < trace_count)
			traces[i] = traces[--trace_count];
	}
	tdm_metal_unlock();
	return is_news;
}

static void report(const uint32_t *chips, size_t count, enum tidemark_step step, uint32_t id)
{
	for (size_t i = 0; i < count; i++)
		if (change(chips[i], step, id))
			tidemark_step(chips[i], step, id);
}

static void report_device(struct tdm_metal_runtime *runtime, const void *device, enum tidemark_step step, uint32_t id)
{
	uint32_t chips[TDM_METAL_CHIPS_MAX];
	report(chips, tdm_metal_chips(runtime, device, chips, TDM_METAL_CHIPS_MAX), step, id);
}

/* A function that tells of a trace. If an exception ends it, it is not reported. */
struct telling {
	bool is_on;
};

static void end_telling(struct telling *telling)
{
	depth -= telling->is_on;
}

static inline struct telling begin_telling(struct tdm_metal_runtime *runtime, enum tdm_metal_hook hook)
{
	bool is_on = tdm_metal_is_on(runtime);
	if (is_on)
		tdm_metal_count(hook);
	depth += is_on;
	return (struct telling){ is_on };
}

#define TELL(id)     struct telling telling __attribute__((cleanup(end_telling))) = begin_telling(runtime, TDM_HOOK_##id)
#define IS_OUTERMOST (telling.is_on && depth == 1)

#define BEGIN(hook, queue_type)                                                 \
	uint32_t tdm_hook_##hook(void *mesh, queue_type queue)                  \
	{                                                                       \
		TDM_METAL_ENTER(hook, 0)                                        \
		TELL(hook);                                                     \
		uint32_t id = TDM_METAL_NEXT(hook)(mesh, queue);                \
		if (IS_OUTERMOST)                                               \
			report_device(runtime, mesh, TIDEMARK_TRACE_BEGAN, id); \
		return id;                                                      \
	}
BEGIN(begin_trace, uint8_t)
BEGIN(begin_trace_cq, void *)

/* A reference to the id may be to something that ends with the call. */
#define WITH_ID(hook, queue_type, step)                                        \
	void tdm_hook_##hook(void *mesh, queue_type queue, const uint32_t *id) \
	{                                                                      \
		TDM_METAL_ENTER(hook)                                          \
		TELL(hook);                                                    \
		uint32_t number = *id;                                         \
		TDM_METAL_NEXT(hook)(mesh, queue, id);                         \
		if (IS_OUTERMOST)                                              \
			report_device(runtime, mesh, step, number);            \
	}
WITH_ID(begin_trace_id, uint8_t, TIDEMARK_TRACE_BEGAN)
WITH_ID(begin_trace_id_56, uint8_t, TIDEMARK_TRACE_BEGAN)
WITH_ID(begin_trace_cq_id, void *, TIDEMARK_TRACE_BEGAN)
WITH_ID(end_trace, uint8_t, TIDEMARK_TRACE_ENDED)
WITH_ID(end_trace_56, uint8_t, TIDEMARK_TRACE_ENDED)
WITH_ID(end_trace_cq, void *, TIDEMARK_TRACE_ENDED)

/* A replay is reported when it begins: it may take long, and overwrites memory meanwhile. */
#define REPLAY(hook, queue_type)                                                                 \
	void tdm_hook_##hook(void *mesh, queue_type queue, const uint32_t *id, bool is_blocking) \
	{                                                                                        \
		TDM_METAL_ENTER(hook)                                                            \
		TELL(hook);                                                                      \
		if (IS_OUTERMOST)                                                                \
			report_device(runtime, mesh, TIDEMARK_TRACE_REPLAYED, *id);              \
		TDM_METAL_NEXT(hook)(mesh, queue, id, is_blocking);                              \
	}
REPLAY(replay_trace, uint8_t)
REPLAY(replay_trace_56, uint8_t)
REPLAY(replay_trace_cq, void *)

#define RELEASE(hook)                                                                  \
	void tdm_hook_##hook(void *mesh, const uint32_t *id)                           \
	{                                                                              \
		TDM_METAL_ENTER(hook)                                                  \
		TELL(hook);                                                            \
		uint32_t number = *id;                                                 \
		TDM_METAL_NEXT(hook)(mesh, id);                                        \
		if (IS_OUTERMOST)                                                      \
			report_device(runtime, mesh, TIDEMARK_TRACE_RELEASED, number); \
	}
RELEASE(release_trace)
RELEASE(release_trace_56)

/* Traces of single devices, to v0.61. */
#define OF_DEVICE(hook, step)                                          \
	void tdm_hook_##hook(void *device, uint8_t queue, uint32_t id) \
	{                                                              \
		TDM_METAL_ENTER(hook)                                  \
		TELL(hook);                                            \
		TDM_METAL_NEXT(hook)(device, queue, id);               \
		if (IS_OUTERMOST)                                      \
			report_device(runtime, device, step, id);      \
	}
OF_DEVICE(device_begin_trace, TIDEMARK_TRACE_BEGAN)
OF_DEVICE(device_begin_trace_55, TIDEMARK_TRACE_BEGAN)
OF_DEVICE(device_end_trace, TIDEMARK_TRACE_ENDED)
OF_DEVICE(device_end_trace_55, TIDEMARK_TRACE_ENDED)

#define REPLAY_OF_DEVICE(hook)                                                         \
	void tdm_hook_##hook(void *device, uint8_t queue, uint32_t id, bool a, bool b) \
	{                                                                              \
		TDM_METAL_ENTER(hook)                                                  \
		TELL(hook);                                                            \
		if (IS_OUTERMOST)                                                      \
			report_device(runtime, device, TIDEMARK_TRACE_REPLAYED, id);   \
		TDM_METAL_NEXT(hook)(device, queue, id, a, b);                         \
	}
REPLAY_OF_DEVICE(device_replay_trace)
REPLAY_OF_DEVICE(device_replay_trace_56)

void tdm_hook_device_replay_trace_55(void *device, uint8_t queue, uint32_t id, bool a)
{
	TDM_METAL_ENTER(device_replay_trace_55)
	TELL(device_replay_trace_55);
	if (IS_OUTERMOST)
		report_device(runtime, device, TIDEMARK_TRACE_REPLAYED, id);
	TDM_METAL_NEXT(device_replay_trace_55)(device, queue, id, a);
}

#define RELEASE_OF_DEVICE(hook)                                                      \
	void tdm_hook_##hook(void *device, uint32_t id)                              \
	{                                                                            \
		TDM_METAL_ENTER(hook)                                                \
		TELL(hook);                                                          \
		TDM_METAL_NEXT(hook)(device, id);                                    \
		if (IS_OUTERMOST)                                                    \
			report_device(runtime, device, TIDEMARK_TRACE_RELEASED, id); \
	}
RELEASE_OF_DEVICE(device_release_trace)
RELEASE_OF_DEVICE(device_release_trace_55)

/* An allocator learns that a trace exists, or no longer. The runtime does so even if the capture fails, so it is
 * reported in any depth. */
#define OF_ALLOCATOR(hook, step)                                                               \
	void tdm_hook_##hook(void *allocator, uint32_t id)                                     \
	{                                                                                      \
		TDM_METAL_ENTER(hook)                                                          \
		TDM_METAL_NEXT(hook)(allocator, id);                                           \
		if (!tdm_metal_is_on(runtime))                                                 \
			return;                                                                \
		tdm_metal_count(TDM_HOOK_##hook);                                              \
		const struct tdm_metal_allocator *known = tdm_metal_allocator_find(allocator); \
		if (known != NULL)                                                             \
			report(known->chips, known->chip_count, step, id);                     \
	}
OF_ALLOCATOR(register_trace, TIDEMARK_TRACE_ENDED)
OF_ALLOCATOR(unregister_trace, TIDEMARK_TRACE_RELEASED)
