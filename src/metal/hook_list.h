/*
 * The list of what the preload takes from tt-metal, once: metal/metal.h makes the declarations of the hooks from it,
 * metal/hook_table.c the table.
 *
 * HOOKS:     X(id, result, arguments, symbol, name, since, until, topic, is_needed, sees)
 * QUESTIONS: X(field, result, arguments, symbol, name, since, until, topic, is_needed, sees)
 * OLD_QUESTIONS: X(field, symbol, name, since, until, topic, is_needed, sees), the names that the same functions had in
 * other releases; the first one found is asked.
 *
 * Symbols were made from the declarations in each release by a compiler. In v0.55 and v0.56, some classes are in an
 * inline namespace v0; to v0.64, CoreRangeSet is outside of any; to v0.59.0, StrongType is in tt::stl (in
 * later ones tt::stl only means ttsl, which is what the symbols have).
 *
 * C views: `this` is the first argument, references are pointers. A class with a destructor that is returned comes, as
 * a large C structure does, through a pointer that the caller gives. Enumerations by reference point to a cell of 8
 * zeroed bytes with the value in front.
 */
#ifndef TDM_METAL_HOOK_LIST_H
#define TDM_METAL_HOOK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Results that are structures. */
struct tdm_metal_vector { /* std::vector */
	char *begin, *end, *limit;
};
struct tdm_metal_span {
	const void *first;
	size_t count;
};
struct tdm_metal_statistics { /* bytes of one bank */
	size_t total, allocated, free, largest;
};
struct tdm_metal_answer { /* with what follows it in some releases: today's has nothing there */
	struct tdm_metal_statistics figures;
	struct tdm_metal_vector places; /* of the largest free blocks */
	size_t room[8];
};
struct tdm_metal_maybe { /* std::optional of a number, in two registers */
	uint64_t value;
	uint64_t has_value; /* in the lowest byte; the others are anything */
};
struct tdm_metal_core { /* CoreCoord */
	size_t x, y;
};

#define TDM_P   "_ZN2tt8tt_metal"
#define TDM_K   "_ZNK2tt8tt_metal"
#define TDM_M   TDM_P "11distributed10MeshDevice"
#define TDM_ID  "RKN4ttsl10StrongTypeIjNS1_14MeshTraceIdTagEEE"
#define TDM_OID "RKNS_3stl10StrongTypeIjNS1_14MeshTraceIdTagEEE"
#define TDM_PI  TDM_P "6detail11ProgramImpl"
#define TDM_PO  TDM_P "6detail8Program_"
#define TDM_IN  TDM_P "9Inspector"
#define TDM_OFP "EPKNS0_6detail11ProgramImplE"
#define TDM_LOW "34lowest_occupied_compute_l1_addressESt4spanIK"
#define TDM_SUB "10StrongTypeIhNS0_14SubDeviceIdTagEEELm18446744073709551615EE"

/* clang-format off */
#define TDM_METAL_HOOKS(X) \
	/* buffers */ \
	X(allocate_buffer, uint64_t, (void *allocator, void *buffer), TDM_P "13AllocatorImpl15allocate_bufferEPNS0_6BufferE", \
		"AllocatorImpl::allocate_buffer", "v0.66", NULL, TDM_METAL_BUFFERS, true, "each buffer when it is allocated") \
	X(allocate_buffer_57, uint64_t, (void *allocator, void *buffer), TDM_P "9Allocator15allocate_bufferEPNS0_6BufferE", \
		"AllocatorImpl::allocate_buffer", "v0.57", "v0.65", TDM_METAL_BUFFERS, true, "each buffer when it is allocated") \
	X(allocate_buffer_56, uint64_t, (void *allocator, void *buffer), TDM_P "9Allocator15allocate_bufferEPNS0_2v06BufferE", \
		"AllocatorImpl::allocate_buffer", "v0.56", "v0.56", TDM_METAL_BUFFERS, true, "each buffer when it is allocated") \
	X(allocate_buffer_55, uint64_t, (void *allocator, void *buffer), \
		TDM_P "9allocator15allocate_bufferERNS0_9AllocatorEPNS0_2v06BufferE", \
		"AllocatorImpl::allocate_buffer", "v0.55", "v0.55", TDM_METAL_BUFFERS, true, "each buffer when it is allocated") \
	X(deallocate_buffer, void, (void *allocator, void *buffer), TDM_P "13AllocatorImpl17deallocate_bufferEPNS0_6BufferE", \
		"AllocatorImpl::deallocate_buffer", "v0.66", NULL, TDM_METAL_BUFFERS, true, "each buffer when it is released") \
	X(deallocate_buffer_57, void, (void *allocator, void *buffer), TDM_P "9Allocator17deallocate_bufferEPNS0_6BufferE", \
		"AllocatorImpl::deallocate_buffer", "v0.57", "v0.65", TDM_METAL_BUFFERS, true, "each buffer when it is released") \
	X(deallocate_buffer_56, void, (void *allocator, void *buffer), TDM_P "9Allocator17deallocate_bufferEPNS0_2v06BufferE", \
		"AllocatorImpl::deallocate_buffer", "v0.56", "v0.56", TDM_METAL_BUFFERS, true, "each buffer when it is released") \
	X(deallocate_buffer_55, void, (void *allocator, void *buffer), \
		TDM_P "9allocator17deallocate_bufferERNS0_9AllocatorEPNS0_2v06BufferE", \
		"AllocatorImpl::deallocate_buffer", "v0.55", "v0.55", TDM_METAL_BUFFERS, true, "each buffer when it is released") \
	X(track_allocate, void, (void *tracker, const void *buffer), TDM_P "12GraphTracker14track_allocateEPKNS0_6BufferE", \
		"GraphTracker::track_allocate", "v0.57", NULL, TDM_METAL_BUFFERS, false, \
		"each buffer when it is allocated, if the allocator itself cannot be hooked") \
	X(track_allocate_55, void, (void *tracker, const void *buffer), TDM_P "12GraphTracker14track_allocateEPKNS0_2v06BufferE", \
		"GraphTracker::track_allocate", "v0.55", "v0.56", TDM_METAL_BUFFERS, false, \
		"each buffer when it is allocated, if the allocator itself cannot be hooked") \
	X(track_deallocate, void, (void *tracker, void *buffer), TDM_P "12GraphTracker16track_deallocateEPNS0_6BufferE", \
		"GraphTracker::track_deallocate", "v0.57", NULL, TDM_METAL_BUFFERS, false, \
		"each buffer when it is released, if the allocator itself cannot be hooked") \
	X(track_deallocate_55, void, (void *tracker, void *buffer), TDM_P "12GraphTracker16track_deallocateEPNS0_2v06BufferE", \
		"GraphTracker::track_deallocate", "v0.55", "v0.56", TDM_METAL_BUFFERS, false, \
		"each buffer when it is released, if the allocator itself cannot be hooked") \
	/* the end of allocators and devices */ \
	X(deallocate_buffers, void, (void *allocator), TDM_P "13AllocatorImpl18deallocate_buffersEv", \
		"AllocatorImpl::deallocate_buffers", "v0.66", NULL, TDM_METAL_DEVICES, false, "that a device releases all it has") \
	X(deallocate_buffers_56, void, (void *allocator), TDM_P "9Allocator18deallocate_buffersEv", \
		"AllocatorImpl::deallocate_buffers", "v0.56", NULL, TDM_METAL_DEVICES, false, "that a device releases all it has") \
	X(deallocate_buffers_55, void, (void *allocator), TDM_P "9allocator18deallocate_buffersERNS0_9AllocatorE", \
		"AllocatorImpl::deallocate_buffers", "v0.55", "v0.55", TDM_METAL_DEVICES, false, "that a device releases all it has") \
	X(allocator_end, void, (void *allocator), TDM_P "13AllocatorImplD2Ev", \
		"AllocatorImpl::~AllocatorImpl", "v0.66", NULL, TDM_METAL_DEVICES, true, "what a closed device still had") \
	X(allocator_end_1, void, (void *allocator), TDM_P "13AllocatorImplD1Ev", \
		"AllocatorImpl::~AllocatorImpl", "v0.66", NULL, TDM_METAL_DEVICES, true, "what a closed device still had") \
	X(allocator_end_55, void, (void *allocator), TDM_P "9AllocatorD2Ev", \
		"AllocatorImpl::~AllocatorImpl", "v0.55", "v0.65", TDM_METAL_DEVICES, true, "what a closed device still had") \
	X(allocator_end_55_1, void, (void *allocator), TDM_P "9AllocatorD1Ev", \
		"AllocatorImpl::~AllocatorImpl", "v0.55", "v0.65", TDM_METAL_DEVICES, true, "what a closed device still had") \
	X(mesh_opened, void, (const void *mesh), TDM_IN "23mesh_device_initializedEPKNS0_11distributed14MeshDeviceImplE", \
		"Inspector::mesh_device_initialized", "v0.66", NULL, TDM_METAL_DEVICES, false, "when a device is opened") \
	X(mesh_opened_61, void, (const void *mesh), TDM_IN "23mesh_device_initializedEPKNS0_11distributed10MeshDeviceE", \
		"Inspector::mesh_device_initialized", "v0.61", "v0.65", TDM_METAL_DEVICES, false, "when a device is opened") \
	X(device_close, bool, (void *device), TDM_P "6Device5closeEv", \
		"Device::close", "v0.57", NULL, TDM_METAL_DEVICES, false, "when a device is closed") \
	X(device_close_55, bool, (void *device), TDM_P "2v06Device5closeEv", \
		"Device::close", "v0.55", "v0.56", TDM_METAL_DEVICES, false, "when a device is closed") \
	X(stats_provider, void, (void *provider, uint64_t chip_id, int device, bool is_off, bool is_verbose), \
		TDM_P "25SharedMemoryStatsProviderC1Emibb", \
		"SharedMemoryStatsProvider::SharedMemoryStatsProvider", "v0.70", NULL, TDM_METAL_DEVICES, false, \
		"the unique id of each chip") \
	/* traces */ \
	X(begin_trace_cq, uint32_t, (void *mesh, void *queue), TDM_M "16begin_mesh_traceERNS1_16MeshCommandQueueE", \
		"MeshDevice::begin_mesh_trace", "v0.77", NULL, TDM_METAL_TRACES, false, "when the capture of a trace begins") \
	X(begin_trace_cq_id, void, (void *mesh, void *queue, const uint32_t *id), \
		TDM_M "16begin_mesh_traceERNS1_16MeshCommandQueueE" TDM_ID, \
		"MeshDevice::begin_mesh_trace", "v0.77", NULL, TDM_METAL_TRACES, false, "when the capture of a trace begins") \
	X(begin_trace, uint32_t, (void *mesh, uint8_t queue), TDM_M "16begin_mesh_traceEh", \
		"MeshDevice::begin_mesh_trace", "v0.64", NULL, TDM_METAL_TRACES, false, "when the capture of a trace begins") \
	X(begin_trace_id, void, (void *mesh, uint8_t queue, const uint32_t *id), TDM_M "16begin_mesh_traceEh" TDM_ID, \
		"MeshDevice::begin_mesh_trace", "v0.59", NULL, TDM_METAL_TRACES, false, "when the capture of a trace begins") \
	X(begin_trace_id_56, void, (void *mesh, uint8_t queue, const uint32_t *id), TDM_M "16begin_mesh_traceEh" TDM_OID, \
		"MeshDevice::begin_mesh_trace", "v0.56", "v0.59", TDM_METAL_TRACES, false, "when the capture of a trace begins") \
	X(end_trace_cq, void, (void *mesh, void *queue, const uint32_t *id), \
		TDM_M "14end_mesh_traceERNS1_16MeshCommandQueueE" TDM_ID, \
		"MeshDevice::end_mesh_trace", "v0.77", NULL, TDM_METAL_TRACES, true, "traces, from the end of their capture") \
	X(end_trace, void, (void *mesh, uint8_t queue, const uint32_t *id), TDM_M "14end_mesh_traceEh" TDM_ID, \
		"MeshDevice::end_mesh_trace", "v0.59", NULL, TDM_METAL_TRACES, true, "traces, from the end of their capture") \
	X(end_trace_56, void, (void *mesh, uint8_t queue, const uint32_t *id), TDM_M "14end_mesh_traceEh" TDM_OID, \
		"MeshDevice::end_mesh_trace", "v0.56", "v0.59", TDM_METAL_TRACES, true, "traces, from the end of their capture") \
	X(replay_trace_cq, void, (void *mesh, void *queue, const uint32_t *id, bool is_blocking), \
		TDM_M "17replay_mesh_traceERNS1_16MeshCommandQueueE" TDM_ID "b", \
		"MeshDevice::replay_mesh_trace", "v0.77", NULL, TDM_METAL_TRACES, true, "each replay of a trace") \
	X(replay_trace, void, (void *mesh, uint8_t queue, const uint32_t *id, bool is_blocking), \
		TDM_M "17replay_mesh_traceEh" TDM_ID "b", \
		"MeshDevice::replay_mesh_trace", "v0.59", NULL, TDM_METAL_TRACES, true, "each replay of a trace") \
	X(replay_trace_56, void, (void *mesh, uint8_t queue, const uint32_t *id, bool is_blocking), \
		TDM_M "17replay_mesh_traceEh" TDM_OID "b", \
		"MeshDevice::replay_mesh_trace", "v0.56", "v0.59", TDM_METAL_TRACES, true, "each replay of a trace") \
	X(release_trace, void, (void *mesh, const uint32_t *id), TDM_M "18release_mesh_traceE" TDM_ID, \
		"MeshDevice::release_mesh_trace", "v0.59", NULL, TDM_METAL_TRACES, true, "when a trace is released") \
	X(release_trace_56, void, (void *mesh, const uint32_t *id), TDM_M "18release_mesh_traceE" TDM_OID, \
		"MeshDevice::release_mesh_trace", "v0.56", "v0.59", TDM_METAL_TRACES, true, "when a trace is released") \
	X(device_begin_trace, void, (void *device, uint8_t queue, uint32_t id), TDM_P "6Device11begin_traceEhj", \
		"Device::begin_trace", "v0.57", "v0.61", TDM_METAL_TRACES, false, "traces of single devices") \
	X(device_end_trace, void, (void *device, uint8_t queue, uint32_t id), TDM_P "6Device9end_traceEhj", \
		"Device::end_trace", "v0.57", "v0.61", TDM_METAL_TRACES, false, "traces of single devices") \
	X(device_replay_trace, void, (void *device, uint8_t queue, uint32_t id, bool a, bool b), \
		TDM_P "6Device12replay_traceEhjbb", \
		"Device::replay_trace", "v0.57", "v0.61", TDM_METAL_TRACES, false, "traces of single devices") \
	X(device_release_trace, void, (void *device, uint32_t id), TDM_P "6Device13release_traceEj", \
		"Device::release_trace", "v0.57", "v0.61", TDM_METAL_TRACES, false, "traces of single devices") \
	X(device_begin_trace_55, void, (void *device, uint8_t queue, uint32_t id), TDM_P "2v06Device11begin_traceEhj", \
		"Device::begin_trace", "v0.55", "v0.56", TDM_METAL_TRACES, false, "traces of single devices") \
	X(device_end_trace_55, void, (void *device, uint8_t queue, uint32_t id), TDM_P "2v06Device9end_traceEhj", \
		"Device::end_trace", "v0.55", "v0.56", TDM_METAL_TRACES, false, "traces of single devices") \
	X(device_replay_trace_56, void, (void *device, uint8_t queue, uint32_t id, bool a, bool b), \
		TDM_P "2v06Device12replay_traceEhjbb", \
		"Device::replay_trace", "v0.56", "v0.56", TDM_METAL_TRACES, false, "traces of single devices") \
	X(device_replay_trace_55, void, (void *device, uint8_t queue, uint32_t id, bool a), \
		TDM_P "2v06Device12replay_traceEhjb", \
		"Device::replay_trace", "v0.55", "v0.55", TDM_METAL_TRACES, false, "traces of single devices") \
	X(device_release_trace_55, void, (void *device, uint32_t id), TDM_P "2v06Device13release_traceEj", \
		"Device::release_trace", "v0.55", "v0.56", TDM_METAL_TRACES, false, "traces of single devices") \
	X(register_trace, void, (void *allocator, uint32_t id), TDM_P "13AllocatorImpl21register_active_traceEj", \
		"AllocatorImpl::register_active_trace", "v0.78", NULL, TDM_METAL_TRACES, false, \
		"traces, if the mesh's own functions cannot be hooked") \
	X(unregister_trace, void, (void *allocator, uint32_t id), TDM_P "13AllocatorImpl23unregister_active_traceEj", \
		"AllocatorImpl::unregister_active_trace", "v0.78", NULL, TDM_METAL_TRACES, false, \
		"traces, if the mesh's own functions cannot be hooked") \
	/* pinned host memory */ \
	X(pinned_begin, void, (void *pinned, const struct tdm_metal_vector *devices, void *host, size_t size, bool to_noc), \
		TDM_P "12experimental12PinnedMemoryC1ERKSt6vectorIPNS0_7IDeviceESaIS5_EEPvmb", \
		"PinnedMemory::PinnedMemory", "v0.65", NULL, TDM_METAL_PINNED, true, "host memory when it is pinned") \
	X(pinned_end, void, (void *pinned), TDM_P "12experimental12PinnedMemoryD1Ev", \
		"PinnedMemory::~PinnedMemory", "v0.65", NULL, TDM_METAL_PINNED, true, "host memory when it is released") \
	X(pinned_assign, void *, (void *pinned, void *other), TDM_P "12experimental12PinnedMemoryaSEOS2_", \
		"PinnedMemory::operator=", "v0.65", NULL, TDM_METAL_PINNED, false, "host memory that gives way to other one") \
	/* circular buffers */ \
	X(track_allocate_cb, void, \
		(void *tracker, const void *ranges, uint64_t address, uint64_t size, bool is_view, const void *device), \
		TDM_P "12GraphTracker17track_allocate_cbERKNS0_12CoreRangeSetEmmbPKNS0_7IDeviceE", \
		"GraphTracker::track_allocate_cb", "v0.65", NULL, TDM_METAL_CBS, true, "each circular buffer, with its cores") \
	X(track_allocate_cb_57, void, \
		(void *tracker, const void *ranges, uint64_t address, uint64_t size, bool is_view, const void *device), \
		TDM_P "12GraphTracker17track_allocate_cbERK12CoreRangeSetmmbPKNS0_7IDeviceE", \
		"GraphTracker::track_allocate_cb", "v0.57", "v0.64", TDM_METAL_CBS, true, "each circular buffer, with its cores") \
	X(track_allocate_cb_55, void, \
		(void *tracker, const void *ranges, uint64_t address, uint64_t size, bool is_view, const void *device), \
		TDM_P "12GraphTracker17track_allocate_cbERK12CoreRangeSetmmbPKNS0_2v07IDeviceE", \
		"GraphTracker::track_allocate_cb", "v0.55", "v0.56", TDM_METAL_CBS, true, "each circular buffer, with its cores") \
	X(track_deallocate_cb, void, (void *tracker, const void *device), \
		TDM_P "12GraphTracker19track_deallocate_cbEPKNS0_7IDeviceE", \
		"GraphTracker::track_deallocate_cb", "v0.57", NULL, TDM_METAL_CBS, false, "that a device has no circular buffers") \
	X(track_deallocate_cb_55, void, (void *tracker, const void *device), \
		TDM_P "12GraphTracker19track_deallocate_cbEPKNS0_2v07IDeviceE", \
		"GraphTracker::track_deallocate_cb", "v0.55", "v0.56", TDM_METAL_CBS, false, "that a device has no circular buffers") \
	X(allocate_cbs, void, (void *program, const void *device), TDM_PI "25allocate_circular_buffersEPKNS0_7IDeviceE", \
		"ProgramImpl::allocate_circular_buffers", "v0.58", NULL, TDM_METAL_CBS, true, "whose circular buffers they are") \
	X(allocate_cbs_57, void, (void *program, const void *device), TDM_PO "25allocate_circular_buffersEPKNS0_7IDeviceE", \
		"ProgramImpl::allocate_circular_buffers", "v0.57", "v0.57", TDM_METAL_CBS, true, "whose circular buffers they are") \
	X(allocate_cbs_55, void, (void *program, const void *device), TDM_PO "25allocate_circular_buffersEPKNS0_2v07IDeviceE", \
		"ProgramImpl::allocate_circular_buffers", "v0.55", "v0.56", TDM_METAL_CBS, true, "whose circular buffers they are") \
	X(deallocate_cbs, void, (void *program), TDM_PI "27deallocate_circular_buffersEv", \
		"ProgramImpl::deallocate_circular_buffers", "v0.70", NULL, TDM_METAL_CBS, false, "the end of a program") \
	X(invalidate_cbs, void, (void *program), TDM_PI "37invalidate_circular_buffer_allocationEv", \
		"ProgramImpl::invalidate_circular_buffer_allocation", "v0.58", NULL, TDM_METAL_CBS, false, \
		"that a program's circular buffers get another layout") \
	X(program_end, void, (void *program), TDM_PI "D1Ev", \
		"ProgramImpl::~ProgramImpl", "v0.59", NULL, TDM_METAL_CBS, false, "the end of a program") \
	X(program_end_2, void, (void *program), TDM_PI "D2Ev", \
		"ProgramImpl::~ProgramImpl", "v0.59", NULL, TDM_METAL_CBS, false, "the end of a program") \
	X(compile_and_allocate, void, (void *program, void *device, bool is_slow), TDM_PI "20compile_and_allocateEPNS0_7IDeviceEb", \
		"ProgramImpl::compile_and_allocate", "v0.76", NULL, TDM_METAL_CBS, false, "each launch of a program") \
	X(register_program, void, (void *device, void *program), TDM_P "6Device16register_programEPNS0_6detail11ProgramImplE", \
		"Device::register_program", "v0.70", NULL, TDM_METAL_CBS, false, "which programs a device holds") \
	X(unregister_program, void, (void *device, void *program), \
		TDM_P "6Device18unregister_programEPNS0_6detail11ProgramImplE", \
		"Device::unregister_program", "v0.70", NULL, TDM_METAL_CBS, false, "when a device no longer holds a program") \
	X(program_created, void, (const void *program), TDM_IN "15program_created" TDM_OFP, \
		"Inspector::program_created", "v0.59", NULL, TDM_METAL_CBS, false, "the beginning of a program") \
	X(program_destroyed, void, (const void *program), TDM_IN "17program_destroyed" TDM_OFP, \
		"Inspector::program_destroyed", "v0.59", NULL, TDM_METAL_CBS, false, "the end of a program") \
	X(validate_cbs, void, (void *program, const void *device), TDM_PI "31validate_circular_buffer_regionEPKNS0_7IDeviceE", \
		"ProgramImpl::validate_circular_buffer_region", "v0.58", NULL, TDM_METAL_CLASHES, true, \
		"circular buffers that grow into L1 buffers") \
	X(validate_cbs_57, void, (void *program, const void *device), TDM_PO "31validate_circular_buffer_regionEPKNS0_7IDeviceE", \
		"ProgramImpl::validate_circular_buffer_region", "v0.57", "v0.57", TDM_METAL_CLASHES, true, \
		"circular buffers that grow into L1 buffers") \
	X(validate_cbs_55, void, (void *program, const void *device), \
		TDM_PO "31validate_circular_buffer_regionEPKNS0_2v07IDeviceE", \
		"ProgramImpl::validate_circular_buffer_region", "v0.55", "v0.56", TDM_METAL_CLASHES, true, \
		"circular buffers that grow into L1 buffers") \
	X(validate_dfbs, void, (void *program, const void *device), TDM_PI "31validate_dataflow_buffer_regionEPKNS0_7IDeviceE", \
		"ProgramImpl::validate_dataflow_buffer_region", "v0.67", NULL, TDM_METAL_CLASHES, false, \
		"dataflow buffers that grow into L1 buffers") \
	X(lowest_l1_mesh, struct tdm_metal_maybe, (const void *mesh, const void *first, size_t count), \
		TDM_K "11distributed10MeshDevice" TDM_LOW "N4ttsl" TDM_SUB, \
		"MeshDevice::lowest_occupied_compute_l1_address", "v0.59", NULL, TDM_METAL_CLASHES, false, \
		"which L1 buffer circular buffers grow into") \
	X(lowest_l1_device, struct tdm_metal_maybe, (const void *device, const void *first, size_t count), \
		TDM_K "6Device" TDM_LOW "N4ttsl" TDM_SUB, \
		"Device::lowest_occupied_compute_l1_address", "v0.59", NULL, TDM_METAL_CLASHES, false, \
		"which L1 buffer circular buffers grow into") \
	X(lowest_l1_mesh_57, struct tdm_metal_maybe, (const void *mesh, const void *first, size_t count), \
		TDM_K "11distributed10MeshDevice" TDM_LOW "NS_3stl" TDM_SUB, \
		"MeshDevice::lowest_occupied_compute_l1_address", "v0.57", "v0.59", TDM_METAL_CLASHES, false, \
		"which L1 buffer circular buffers grow into") \
	X(lowest_l1_device_57, struct tdm_metal_maybe, (const void *device, const void *first, size_t count), \
		TDM_K "6Device" TDM_LOW "NS_3stl" TDM_SUB, \
		"Device::lowest_occupied_compute_l1_address", "v0.57", "v0.59", TDM_METAL_CLASHES, false, \
		"which L1 buffer circular buffers grow into") \
	X(l1_size_mesh, uint32_t, (const void *mesh), TDM_K "11distributed10MeshDevice16l1_size_per_coreEv", \
		"MeshDevice::l1_size_per_core", "v0.57", NULL, TDM_METAL_CLASHES, false, \
		"whether circular buffers grow beyond the end of L1") \
	X(l1_size_device, uint32_t, (const void *device), TDM_K "6Device16l1_size_per_coreEv", \
		"Device::l1_size_per_core", "v0.57", NULL, TDM_METAL_CLASHES, false, \
		"whether circular buffers grow beyond the end of L1") \
	/* dataflow buffers and scratchpads */ \
	X(mark_address, void, (void *place, uint64_t address, uint64_t size, uint64_t base), \
		TDM_PI "23CircularBufferAllocator12mark_addressEmmm", \
		"ProgramImpl::CircularBufferAllocator::mark_address", "v0.58", NULL, TDM_METAL_DFBS, true, \
		"where dataflow buffers are") \
	X(allocate_dfbs, void, (void *program, const void *device), TDM_PI "25allocate_dataflow_buffersEPKNS0_7IDeviceE", \
		"ProgramImpl::allocate_dataflow_buffers", "v0.67", NULL, TDM_METAL_DFBS, true, "dataflow buffers") \
	X(allocate_scratchpads, void, (void *program, const void *device), TDM_PI "20allocate_scratchpadsEPKNS0_7IDeviceE", \
		"ProgramImpl::allocate_scratchpads", "v0.75", NULL, TDM_METAL_SCRATCHPADS, true, "that a program has scratchpads") \
	X(track_allocate_dfb, void, \
		(void *tracker, const void *ranges, uint64_t address, uint64_t size, bool is_view, const void *device), \
		TDM_P "12GraphTracker30track_allocate_dataflow_bufferERKNS0_12CoreRangeSetEmmbPKNS0_7IDeviceE", \
		"GraphTracker::track_allocate_dataflow_buffer", "v0.77", NULL, TDM_METAL_DFBS, false, \
		"dataflow buffers of captures without dispatch") \
	X(track_allocate_scratchpad, void, \
		(void *tracker, const void *ranges, uint64_t address, uint64_t size, const void *device), \
		TDM_P "12GraphTracker25track_allocate_scratchpadERKNS0_12CoreRangeSetEmmPKNS0_7IDeviceE", \
		"GraphTracker::track_allocate_scratchpad", "v0.77", NULL, TDM_METAL_SCRATCHPADS, false, \
		"scratchpads of captures without dispatch") \
	/* code, and names */ \
	X(kernel_compiled, void, (const void *program, const void *device, const void *kernel, const void *options, \
		const void *root), \
		TDM_IN "31program_kernel_compile_finished" TDM_OFP "PKNS0_7IDeviceERKSt10shared_ptrINS0_6KernelEERKNS0_15JitBuildOptionsE" \
		"RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", \
		"Inspector::program_kernel_compile_finished", "v0.73", NULL, TDM_METAL_CODE, true, "which kernels a program has") \
	X(kernel_compiled_59, void, (const void *program, const void *device, const void *kernel, const void *options), \
		TDM_IN "31program_kernel_compile_finished" TDM_OFP "PKNS0_7IDeviceERKSt10shared_ptrINS0_6KernelEERKNS0_15JitBuildOptionsE", \
		"Inspector::program_kernel_compile_finished", "v0.59", "v0.72", TDM_METAL_CODE, true, "which kernels a program has") \
	X(program_compiled, void, (const void *program, const void *device, uint64_t build_key), \
		TDM_IN "24program_compile_finished" TDM_OFP "PKNS0_7IDeviceEm", \
		"Inspector::program_compile_finished", "v0.64", NULL, TDM_METAL_CODE, true, "the size of a program's code") \
	X(program_compiled_59, void, (const void *program, const void *device, uint32_t build_key), \
		TDM_IN "24program_compile_finished" TDM_OFP "PKNS0_7IDeviceEj", \
		"Inspector::program_compile_finished", "v0.59", "v0.64", TDM_METAL_CODE, true, "the size of a program's code") \
	X(emit_operation, void, (void *workload, uint64_t runtime_id, size_t length, const char *name, void *specs, uint64_t trace), \
		TDM_P "12experimental9inspector26EmitMeshWorkloadDebugEntryERNS0_11distributed12MeshWorkloadEm" \
		"St17basic_string_viewIcSt11char_traitsIcEESt6vectorINS0_10TensorSpecESaISB_EE" \
		"St8optionalIN4ttsl10StrongTypeIjNS3_14MeshTraceIdTagEEEE", \
		"inspector::EmitMeshWorkloadDebugEntry", "v0.68", NULL, TDM_METAL_NAMES, true, \
		"which operation of ttnn a program belongs to, while the inspector is on") \
	X(emit_operation_66, void, (void *workload, size_t length, const char *name, size_t more_length, const char *more), \
		TDM_P "12experimental9inspector26EmitMeshWorkloadAnnotationERNS0_11distributed12MeshWorkloadE" \
		"St17basic_string_viewIcSt11char_traitsIcEES9_", \
		"inspector::EmitMeshWorkloadDebugEntry", "v0.66", "v0.67", TDM_METAL_NAMES, true, \
		"which operation of ttnn a program belongs to, while the inspector is on") \
	X(enqueue_workload, void, (void *queue, void *workload, bool is_blocking), \
		TDM_P "11distributed19EnqueueMeshWorkloadERNS1_16MeshCommandQueueERNS1_12MeshWorkloadEb", \
		"EnqueueMeshWorkload", "v0.57", NULL, TDM_METAL_NAMES, true, "the beginning and the end of an operation") \
	X(track_program, void, (void *tracker, void *program, const void *device), \
		TDM_P "12GraphTracker13track_programEPNS0_7ProgramEPKNS0_7IDeviceE", \
		"GraphTracker::track_program", "v0.57", NULL, TDM_METAL_NAMES, false, "the program of an operation of ttnn") \
	X(track_program_55, void, (void *tracker, void *program, const void *device), \
		TDM_P "12GraphTracker13track_programEPNS0_2v07ProgramEPKNS2_7IDeviceE", \
		"GraphTracker::track_program", "v0.55", "v0.56", TDM_METAL_NAMES, false, "the program of an operation of ttnn")

#define TDM_METAL_QUESTIONS(X) \
	X(buffer_address, uint32_t, (const void *buffer), TDM_K "6Buffer7addressEv", \
		"Buffer::address", "v0.57", NULL, TDM_METAL_BUFFERS, true, "which buffer is released") \
	X(buffer_page_size, uint64_t, (const void *buffer), TDM_K "6Buffer9page_sizeEv", \
		"Buffer::page_size", "v0.57", NULL, TDM_METAL_BUFFERS, false, "page sizes") \
	X(buffer_num_pages, uint32_t, (const void *buffer), TDM_K "6Buffer9num_pagesEv", \
		"Buffer::num_pages", "v0.57", NULL, TDM_METAL_BUFFERS, false, "sizes, where objects differ from those we know") \
	X(buffer_aligned_size, uint64_t, (const void *buffer), TDM_K "6Buffer12aligned_sizeEv", \
		"Buffer::aligned_size", "v0.57", NULL, TDM_METAL_BUFFERS, false, "what a failed request would have taken") \
	X(buffer_aligned_page, uint64_t, (const void *buffer), TDM_K "6Buffer17aligned_page_sizeEv", \
		"Buffer::aligned_page_size", "v0.57", NULL, TDM_METAL_OUT_OF_MEMORY, false, "what a failed request would have taken") \
	X(buffer_per_bank, uint64_t, (const void *buffer), TDM_K "6Buffer21aligned_size_per_bankEv", \
		"Buffer::aligned_size_per_bank", "v0.57", NULL, TDM_METAL_BUFFERS, true, "what a buffer takes of each bank") \
	X(buffer_is_l1, bool, (const void *buffer), TDM_K "6Buffer5is_l1Ev", \
		"Buffer::is_l1", "v0.57", NULL, TDM_METAL_BUFFERS, true, "which memory a buffer is in") \
	X(buffer_is_dram, bool, (const void *buffer), TDM_K "6Buffer7is_dramEv", \
		"Buffer::is_dram", "v0.57", NULL, TDM_METAL_BUFFERS, true, "which memory a buffer is in") \
	X(buffer_is_trace, bool, (const void *buffer), TDM_K "6Buffer8is_traceEv", \
		"Buffer::is_trace", "v0.57", NULL, TDM_METAL_BUFFERS, false, "which buffers hold traces") \
	X(buffer_num_cores, uint64_t, (const void *buffer), TDM_K "6Buffer9num_coresEv", /* bit 32: there is a number */ \
		"Buffer::num_cores", "v0.57", NULL, TDM_METAL_BUFFERS, false, "over how many cores a buffer is sharded") \
	X(buffer_distribution, const void *, (const void *buffer), TDM_K "6Buffer24buffer_distribution_specEv", \
		"Buffer::buffer_distribution_spec", "v0.59", NULL, TDM_METAL_BUFFERS, false, "which cores a buffer is on, certainly") \
	X(num_banks, uint32_t, (const void *allocator, const void *kind), TDM_K "13AllocatorImpl13get_num_banksERKNS0_10BufferTypeE", \
		"AllocatorImpl::get_num_banks", "v0.66", NULL, TDM_METAL_DEVICES, true, "banks") \
	X(bank_size, uint64_t, (const void *allocator, const void *kind), TDM_K "13AllocatorImpl13get_bank_sizeERKNS0_10BufferTypeE", \
		"AllocatorImpl::get_bank_size", "v0.66", NULL, TDM_METAL_DEVICES, true, "capacities") \
	X(alignment, uint32_t, (const void *allocator, uint32_t kind), TDM_K "13AllocatorImpl13get_alignmentENS0_10BufferTypeE", \
		"AllocatorImpl::get_alignment", "v0.66", NULL, TDM_METAL_BUFFERS, false, \
		"what small buffers take, while several threads allocate") \
	X(statistics, struct tdm_metal_answer, (const void *allocator, const void *kind), \
		TDM_K "13AllocatorImpl14get_statisticsERKNS0_10BufferTypeE", \
		"AllocatorImpl::get_statistics", "v0.66", NULL, TDM_METAL_STATISTICS, true, "what the allocator itself says") \
	X(base_address, uint64_t, (const void *allocator, const void *memory), /* 0 L1, 1 DRAM */ \
		TDM_K "13AllocatorImpl23get_base_allocator_addrERKNS0_10HalMemTypeE", \
		"AllocatorImpl::get_base_allocator_addr", "v0.66", NULL, TDM_METAL_DEVICES, false, "the first address of each memory") \
	X(mesh_devices, struct tdm_metal_vector, (const void *mesh), TDM_K "11distributed10MeshDevice11get_devicesEv", \
		"MeshDevice::get_devices", "v0.56", NULL, TDM_METAL_DEVICES, false, "the grids of a mesh's chips") \
	X(mesh_device_ids, struct tdm_metal_vector, (const void *mesh), TDM_K "11distributed10MeshDevice14get_device_idsEv", \
		"MeshDevice::get_device_ids", "v0.55", NULL, TDM_METAL_DEVICES, true, "the chips of a mesh") \
	X(impl_devices, struct tdm_metal_vector, (const void *mesh), TDM_K "11distributed14MeshDeviceImpl11get_devicesEv", \
		"MeshDeviceImpl::get_devices", "v0.66", NULL, TDM_METAL_DEVICES, false, "the grids of chips that are opened") \
	X(impl_device_ids, struct tdm_metal_vector, (const void *mesh), TDM_K "11distributed14MeshDeviceImpl14get_device_idsEv", \
		"MeshDeviceImpl::get_device_ids", "v0.66", NULL, TDM_METAL_DEVICES, false, "which chips are opened") \
	X(impl_allocator, const void *const *, (const void *mesh), TDM_K "11distributed14MeshDeviceImpl9allocatorEv", \
		"MeshDeviceImpl::allocator", "v0.66", NULL, TDM_METAL_DEVICES, false, "capacities, when a device is opened") \
	X(device_id, int, (const void *device), TDM_K "6Device2idEv", \
		"Device::id", "v0.57", NULL, TDM_METAL_DEVICES, false, "the chip of a device that is in no mesh and has no totals in shared memory") \
	X(device_arch, int, (const void *device), TDM_K "6Device4archEv", \
		"Device::arch", "v0.57", NULL, TDM_METAL_DEVICES, false, "the architecture") \
	X(device_grid, struct tdm_metal_core, (const void *device), TDM_K "6Device30compute_with_storage_grid_sizeEv", \
		"Device::compute_with_storage_grid_size", "v0.57", NULL, TDM_METAL_DEVICES, false, "the grid of compute cores") \
	X(device_channels, int, (const void *device), TDM_K "6Device17num_dram_channelsEv", \
		"Device::num_dram_channels", "v0.57", NULL, TDM_METAL_DEVICES, false, "banks, where the allocator does not say") \
	X(device_allocator, const void *const *, (const void *device), TDM_K "6Device9allocatorEv", \
		"Device::allocator", NULL, NULL, TDM_METAL_DEVICES, false, "banks, where the allocator cannot be hooked") \
	X(mesh_allocator, const void *const *, (const void *mesh), TDM_K "11distributed10MeshDevice9allocatorEv", \
		"MeshDevice::allocator", NULL, NULL, TDM_METAL_DEVICES, false, "banks, where the allocator cannot be hooked") \
	X(ranges, const struct tdm_metal_vector *, (const void *core_range_set), TDM_K "12CoreRangeSet6rangesEv", \
		"CoreRangeSet::ranges", "v0.65", NULL, TDM_METAL_CBS, true, "the cores of circular buffers") \
	X(ranges_cores, uint32_t, (const void *core_range_set), TDM_K "12CoreRangeSet9num_coresEv", \
		"CoreRangeSet::num_cores", "v0.65", NULL, TDM_METAL_CBS, false, "a check of the cores of circular buffers") \
	X(program_id, uint64_t, (const void *program), TDM_K "6detail11ProgramImpl6get_idEv", \
		"ProgramImpl::get_id", "v0.58", NULL, TDM_METAL_CBS, false, "the numbers of programs") \
	X(program_cbs, struct tdm_metal_span, (const void *program), TDM_K "6detail11ProgramImpl16circular_buffersEv", \
		"ProgramImpl::circular_buffers", "v0.62", NULL, TDM_METAL_CBS, false, "a check of circular buffers") \
	X(program_dfbs, const struct tdm_metal_vector *, (const void *program), TDM_K "6detail11ProgramImpl16dataflow_buffersEv", \
		"ProgramImpl::dataflow_buffers", "v0.68", NULL, TDM_METAL_DFBS, true, "dataflow buffers") \
	X(cb_address, uint32_t, (const void *cb), TDM_K "18CircularBufferImpl7addressEv", \
		"CircularBufferImpl::address", "v0.66", NULL, TDM_METAL_CBS, false, "a check of circular buffers") \
	X(kernel_binaries, const struct tdm_metal_vector *, (const void *kernel, uint64_t build_key), TDM_K "6Kernel8binariesEm", \
		"Kernel::binaries", "v0.65", NULL, TDM_METAL_CODE, true, "the size of a program's code") \
	X(kernel_size, uint32_t, (const void *kernel, void *device, int binary), \
		TDM_K "6Kernel22get_binary_packed_sizeEPNS0_7IDeviceEi", \
		"Kernel::get_binary_packed_size", "v0.65", NULL, TDM_METAL_CODE, true, "the size of a program's code") \
	X(kernel_name, const void *, (const void *kernel), TDM_K "6Kernel20get_full_kernel_nameB5cxx11Ev", \
		"Kernel::get_full_kernel_name", NULL, NULL, TDM_METAL_NAMES, false, "the names of kernels") \
	X(kernel_scratchpads, void, (const void *kernel, void *function), \
		TDM_K "6Kernel34process_scratchpad_binding_handlesESt8functionIFvRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEjjEE", \
		"Kernel::process_scratchpad_binding_handles", "v0.75", NULL, TDM_METAL_SCRATCHPADS, true, \
		"that a program has scratchpads") \
	X(operator_delete, void, (void *memory), "_ZdlPv", \
		"operator delete", NULL, NULL, TDM_METAL_DEVICES, false, "nothing; answers are released with it") \
	X(mesh_vtable, char, (void), "_ZTVN2tt8tt_metal11distributed10MeshDeviceE", /* an object; not called */ \
		"vtable of MeshDevice", NULL, NULL, TDM_METAL_DEVICES, true, "which devices are meshes") \
	X(impl_vtable, char, (void), "_ZTVN2tt8tt_metal11distributed14MeshDeviceImplE", /* an object; not called */ \
		"vtable of MeshDeviceImpl", "v0.66", NULL, TDM_METAL_DEVICES, false, "when a device is opened") \
	X(device_vtable, char, (void), "_ZTVN2tt8tt_metal6DeviceE", /* an object; not called */ \
		"vtable of Device", "v0.57", NULL, TDM_METAL_DEVICES, false, "which devices are single chips")

#define TDM_METAL_OLD_QUESTIONS(X) \
	X(buffer_address, TDM_K "2v06Buffer7addressEv", \
		"Buffer::address", "v0.55", "v0.56", TDM_METAL_BUFFERS, true, "which buffer is released") \
	X(buffer_page_size, TDM_K "2v06Buffer9page_sizeEv", \
		"Buffer::page_size", "v0.55", "v0.56", TDM_METAL_BUFFERS, false, "page sizes") \
	X(buffer_num_pages, TDM_K "2v06Buffer9num_pagesEv", \
		"Buffer::num_pages", "v0.55", "v0.56", TDM_METAL_BUFFERS, false, "sizes, where objects differ from those we know") \
	X(buffer_aligned_size, TDM_K "2v06Buffer12aligned_sizeEv", \
		"Buffer::aligned_size", "v0.55", "v0.56", TDM_METAL_BUFFERS, false, "what a failed request would have taken") \
	X(buffer_aligned_page, TDM_K "2v06Buffer17aligned_page_sizeEv", \
		"Buffer::aligned_page_size", "v0.55", "v0.56", TDM_METAL_OUT_OF_MEMORY, false, "what a failed request would have taken") \
	X(buffer_per_bank, TDM_K "2v06Buffer21aligned_size_per_bankEv", \
		"Buffer::aligned_size_per_bank", "v0.55", "v0.56", TDM_METAL_BUFFERS, true, "what a buffer takes of each bank") \
	X(buffer_is_l1, TDM_K "2v06Buffer5is_l1Ev", \
		"Buffer::is_l1", "v0.55", "v0.56", TDM_METAL_BUFFERS, true, "which memory a buffer is in") \
	X(buffer_is_dram, TDM_K "2v06Buffer7is_dramEv", \
		"Buffer::is_dram", "v0.55", "v0.56", TDM_METAL_BUFFERS, true, "which memory a buffer is in") \
	X(buffer_is_trace, TDM_K "2v06Buffer8is_traceEv", \
		"Buffer::is_trace", "v0.55", "v0.56", TDM_METAL_BUFFERS, false, "which buffers hold traces") \
	X(buffer_num_cores, TDM_K "2v06Buffer9num_coresEv", \
		"Buffer::num_cores", "v0.55", "v0.56", TDM_METAL_BUFFERS, false, "over how many cores a buffer is sharded") \
	X(num_banks, TDM_K "9Allocator13get_num_banksERKNS0_10BufferTypeE", \
		"AllocatorImpl::get_num_banks", "v0.56", "v0.65", TDM_METAL_DEVICES, true, "banks") \
	X(num_banks, TDM_P "9allocator9num_banksERKNS0_9AllocatorERKNS0_10BufferTypeE", \
		"AllocatorImpl::get_num_banks", "v0.55", "v0.55", TDM_METAL_DEVICES, true, "banks") \
	X(bank_size, TDM_K "9Allocator13get_bank_sizeERKNS0_10BufferTypeE", \
		"AllocatorImpl::get_bank_size", "v0.56", "v0.65", TDM_METAL_DEVICES, true, "capacities") \
	X(bank_size, TDM_P "9allocator9bank_sizeERKNS0_9AllocatorERKNS0_10BufferTypeE", \
		"AllocatorImpl::get_bank_size", "v0.55", "v0.55", TDM_METAL_DEVICES, true, "capacities") \
	X(alignment, TDM_K "9Allocator13get_alignmentENS0_10BufferTypeE", \
		"AllocatorImpl::get_alignment", "v0.57", "v0.65", TDM_METAL_BUFFERS, false, \
		"what small buffers take, while several threads allocate") \
	X(statistics, TDM_K "9Allocator14get_statisticsERKNS0_10BufferTypeE", \
		"AllocatorImpl::get_statistics", "v0.56", "v0.65", TDM_METAL_STATISTICS, true, "what the allocator itself says") \
	X(statistics, TDM_P "9allocator14get_statisticsERKNS0_9AllocatorERKNS0_10BufferTypeE", \
		"AllocatorImpl::get_statistics", "v0.55", "v0.55", TDM_METAL_STATISTICS, true, "what the allocator itself says") \
	X(base_address, TDM_K "9Allocator23get_base_allocator_addrERKNS0_10HalMemTypeE", \
		"AllocatorImpl::get_base_allocator_addr", "v0.56", "v0.65", TDM_METAL_DEVICES, false, "the first address of each memory") \
	X(device_id, TDM_K "2v06Device2idEv", \
		"Device::id", "v0.55", "v0.56", TDM_METAL_DEVICES, false, "the chip of a device that is in no mesh and has no totals in shared memory") \
	X(device_arch, TDM_K "2v06Device4archEv", \
		"Device::arch", "v0.55", "v0.56", TDM_METAL_DEVICES, false, "the architecture") \
	X(device_grid, TDM_K "2v06Device30compute_with_storage_grid_sizeEv", \
		"Device::compute_with_storage_grid_size", "v0.55", "v0.56", TDM_METAL_DEVICES, false, "the grid of compute cores") \
	X(device_vtable, "_ZTVN2tt8tt_metal2v06DeviceE", \
		"vtable of Device", "v0.55", "v0.56", TDM_METAL_DEVICES, false, "which devices are single chips") \
	X(ranges, "_ZNK12CoreRangeSet6rangesEv", \
		"CoreRangeSet::ranges", "v0.55", "v0.64", TDM_METAL_CBS, true, "the cores of circular buffers") \
	X(ranges_cores, "_ZNK12CoreRangeSet9num_coresEv", \
		"CoreRangeSet::num_cores", "v0.55", "v0.64", TDM_METAL_CBS, false, "a check of the cores of circular buffers") \
	X(program_id, TDM_K "6detail8Program_6get_idEv", \
		"ProgramImpl::get_id", "v0.55", "v0.57", TDM_METAL_CBS, false, "the numbers of programs")
/* clang-format on */

#endif
