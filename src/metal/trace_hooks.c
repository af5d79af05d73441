/*
 * Hooks for traces, which are captured command sequences that can be replayed. Each step is reported once for each
 * chip, although several functions of the runtime take part: a mesh's function calls others of the mesh, of its
 * allocators (register_active_trace) or, in older releases, of its single devices. Only the outermost function reports,
 * and the end or release of a trace is reported once.
 */
#include "metal/metal.h"

#include <string.h>

enum { TRACES_MAX = 4096 };

/* The existing traces: captured and not yet released. Guarded by tdm_metal_lock(). */
static uint64_t traces[TRACES_MAX]; /* upper half: the chip; lower half: the trace's id */
static size_t trace_count;

void tdm_metal_traces_leave(uint32_t chip)
{
	tdm_metal_lock();
	for (size_t i = trace_count; i-- > 0;)
		if (traces[i] >> 32 == chip)
			traces[i] = traces[--trace_count];
	tdm_metal_unlock();
}

static _Thread_local unsigned depth __attribute__((tls_model("initial-exec"))); /* depth of nested trace functions */

/* Whether this step is new: not a second end or a second release of the same trace. */
static bool change(uint32_t chip, enum tidemark_step step, uint32_t id)
{
	const uint64_t trace = (uint64_t)chip << 32 | id;
	bool is_news = true;
	tdm_metal_lock();
	size_t i = 0;
	while (i < trace_count && traces[i] != trace)
		i++;
	if (step == TIDEMARK_TRACE_ENDED) {
		is_news = i == trace_count;
		if (is_news && trace_count < TRACES_MAX)
			traces[trace_count++] = trace;
	} else if (step == TIDEMARK_TRACE_RELEASED) {
		/* if the table is full, it may not contain the trace */
		is_news = i < trace_count || trace_count == TRACES_MAX;
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

/* For TELL: `depth` counts the running functions that report traces, and stays correct even if an exception ends a
 * function. If an exception ends a function, nothing is reported. */
static void end_telling(const bool *is_on)
{
	depth -= *is_on;
}

#define TELL(id)                                                                                   \
	bool is_on __attribute__((cleanup(end_telling))) = tdm_metal_sees(runtime, TDM_HOOK_##id); \
	depth += is_on;

#define BEGIN(hook, queue_type)                                                 \
	uint32_t tdm_hook_##hook(void *mesh, queue_type queue)                  \
	{                                                                       \
		TDM_METAL_ENTER(hook, 0)                                        \
		TELL(hook)                                                      \
		uint32_t id = TDM_METAL_NEXT(hook)(mesh, queue);                \
		if (is_on && depth == 1)                                        \
			report_device(runtime, mesh, TIDEMARK_TRACE_BEGAN, id); \
		return id;                                                      \
	}
BEGIN(begin_trace, uint8_t)
BEGIN(begin_trace_cq, void *)

/* A replay is reported when it begins, because it may take a long time and overwrites memory meanwhile. A reference to
 * the id may be invalid after the call. */
#define STEP(hook, step, device, id, parameters, arguments)                \
	void tdm_hook_##hook parameters                                    \
	{                                                                  \
		TDM_METAL_ENTER(hook)                                      \
		TELL(hook)                                                 \
		const enum tidemark_step now = TIDEMARK_TRACE_##step;      \
		const uint32_t number = id;                                \
		if (now == TIDEMARK_TRACE_REPLAYED && is_on && depth == 1) \
			report_device(runtime, device, now, number);       \
		TDM_METAL_NEXT(hook) arguments;                            \
		if (now != TIDEMARK_TRACE_REPLAYED && is_on && depth == 1) \
			report_device(runtime, device, now, number);       \
	}
#define OF_MESH(hook, step, queue_type) \
	STEP(hook, step, mesh, *id, (void *mesh, queue_type queue, const uint32_t *id), (mesh, queue, id))
OF_MESH(begin_trace_id, BEGAN, uint8_t)
OF_MESH(begin_trace_id_56, BEGAN, uint8_t)
OF_MESH(begin_trace_cq_id, BEGAN, void *)
OF_MESH(end_trace, ENDED, uint8_t)
OF_MESH(end_trace_56, ENDED, uint8_t)
OF_MESH(end_trace_cq, ENDED, void *)
#define REPLAY(hook, queue_type)                                                                       \
	STEP(hook, REPLAYED, mesh, *id, (void *mesh, queue_type queue, const uint32_t *id, bool wait), \
		(mesh, queue, id, wait))
REPLAY(replay_trace, uint8_t)
REPLAY(replay_trace_56, uint8_t)
REPLAY(replay_trace_cq, void *)
STEP(release_trace, RELEASED, mesh, *id, (void *mesh, const uint32_t *id), (mesh, id))
STEP(release_trace_56, RELEASED, mesh, *id, (void *mesh, const uint32_t *id), (mesh, id))

/* Traces of single devices, up to v0.61. */
#define OF_DEVICE(hook, step) \
	STEP(hook, step, device, id, (void *device, uint8_t queue, uint32_t id), (device, queue, id))
OF_DEVICE(device_begin_trace, BEGAN)
OF_DEVICE(device_begin_trace_55, BEGAN)
OF_DEVICE(device_end_trace, ENDED)
OF_DEVICE(device_end_trace_55, ENDED)
#define REPLAY_OF_DEVICE(hook)                                                                       \
	STEP(hook, REPLAYED, device, id, (void *device, uint8_t queue, uint32_t id, bool a, bool b), \
		(device, queue, id, a, b))
REPLAY_OF_DEVICE(device_replay_trace)
REPLAY_OF_DEVICE(device_replay_trace_56)
STEP(device_replay_trace_55, REPLAYED, device, id, (void *device, uint8_t queue, uint32_t id, bool a),
	(device, queue, id, a))
STEP(device_release_trace, RELEASED, device, id, (void *device, uint32_t id), (device, id))
STEP(device_release_trace_55, RELEASED, device, id, (void *device, uint32_t id), (device, id))

/* The runtime notifies an allocator when a trace begins or ceases to exist, even if the capture fails, so this is
 * reported at any depth. */
#define OF_ALLOCATOR(hook, step)                                                                                     \
	void tdm_hook_##hook(void *allocator, uint32_t id)                                                           \
	{                                                                                                            \
		TDM_METAL_ENTER(hook)                                                                                \
		TDM_METAL_NEXT(hook)(allocator, id);                                                                 \
		const struct tdm_metal_allocator *known =                                                            \
			tdm_metal_sees(runtime, TDM_HOOK_##hook) ? tdm_metal_allocator_find(allocator, NULL) : NULL; \
		if (known != NULL)                                                                                   \
			report(known->chips, known->chip_count, step, id);                                           \
	}
OF_ALLOCATOR(register_trace, TIDEMARK_TRACE_ENDED)
OF_ALLOCATOR(unregister_trace, TIDEMARK_TRACE_RELEASED)
