/*
 * The one list of tt-metal's functions that the preload uses: metal/metal.h makes the declarations of hooks from it,
 * and metal/hook_table.c the table.
 *
 * HOOKS: X(id, result, arguments, since, until, topic, is_needed, name, sees, symbol), and
 *     Y(id, same, since, until, symbol) for a symbol of the function `same` in other releases
 * QUESTIONS: X(field, result, arguments, since, until, topic, is_needed, name, sees, symbol)
 * OLD_QUESTIONS: Y(field, since, until, symbol), for the symbols in other releases; the first symbol found is used.
 *
 * A compiler made the symbols from the declarations in each release. In v0.55 and v0.56, some classes are in an inline
 * namespace v0; until v0.64, CoreRangeSet is in no namespace; until v0.59.0, StrongType is in tt::stl (later tt::stl is
 * an alias of ttsl, which the symbols contain).
 *
 * How C sees the calls: `this` is the first argument, and references are pointers. A returned class with a destructor
 * is written through a pointer from the caller, like a large C structure. An enumeration by reference is a pointer to 8
 * zeroed bytes that begin with the value.
 */
#ifndef TDM_METAL_HOOK_LIST_H
#define TDM_METAL_HOOK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Results that are structures: */
struct tdm_metal_vector { /* std::vector */
	char *begin, *end, *limit;
};
struct tdm_metal_statistics { /* bytes in one bank */
	size_t total, allocated, free, largest;
};
struct tdm_metal_answer { /* some older releases return more after the statistics */
	struct tdm_metal_statistics figures;
	struct tdm_metal_vector places; /* addresses of the largest free blocks */
	size_t room[8];
};
struct tdm_metal_maybe { /* std::optional of a number, returned in two registers */
	uint64_t value;
	uint64_t has_value; /* only the lowest byte counts; the other bytes are undefined */
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
#define TDM_METAL_HOOKS(X, Y) \
	/* buffers */ \
	X(allocate_buffer, uint64_t, (void *allocator, void *buffer), "v0.66", NULL, BUFFERS, true, \
		"AllocatorImpl::allocate_buffer", "each buffer when it is allocated", \
		TDM_P "13AllocatorImpl15allocate_bufferEPNS0_6BufferE") \
	Y(allocate_buffer_57, allocate_buffer, "v0.57", "v0.65", TDM_P "9Allocator15allocate_bufferEPNS0_6BufferE") \
	Y(allocate_buffer_56, allocate_buffer, "v0.56", "v0.56", TDM_P "9Allocator15allocate_bufferEPNS0_2v06BufferE") \
	Y(allocate_buffer_55, allocate_buffer, "v0.55", "v0.55", \
		TDM_P "9allocator15allocate_bufferERNS0_9AllocatorEPNS0_2v06BufferE") \
	X(deallocate_buffer, void, (void *allocator, void *buffer), "v0.66", NULL, BUFFERS, true, \
		"AllocatorImpl::deallocate_buffer", "each buffer when it is released", \
		TDM_P "13AllocatorImpl17deallocate_bufferEPNS0_6BufferE") \
	Y(deallocate_buffer_57, deallocate_buffer, "v0.57", "v0.65", TDM_P "9Allocator17deallocate_bufferEPNS0_6BufferE") \
	Y(deallocate_buffer_56, deallocate_buffer, "v0.56", "v0.56", TDM_P "9Allocator17deallocate_bufferEPNS0_2v06BufferE") \
	Y(deallocate_buffer_55, deallocate_buffer, "v0.55", "v0.55", \
		TDM_P "9allocator17deallocate_bufferERNS0_9AllocatorEPNS0_2v06BufferE") \
	X(track_allocate, void, (void *tracker, const void *buffer), "v0.57", NULL, BUFFERS, false, \
		"GraphTracker::track_allocate", "each buffer when it is allocated, if the allocator itself cannot be hooked", \
		TDM_P "12GraphTracker14track_allocateEPKNS0_6BufferE") \
	Y(track_allocate_55, track_allocate, "v0.55", "v0.56", TDM_P "12GraphTracker14track_allocateEPKNS0_2v06BufferE") \
	X(track_deallocate, void, (void *tracker, void *buffer), "v0.57", NULL, BUFFERS, false, \
		"GraphTracker::track_deallocate", "each buffer when it is released, if the allocator itself cannot be hooked", \
		TDM_P "12GraphTracker16track_deallocateEPNS0_6BufferE") \
	Y(track_deallocate_55, track_deallocate, "v0.55", "v0.56", TDM_P "12GraphTracker16track_deallocateEPNS0_2v06BufferE") \
	/* the end of allocators and devices */ \
	X(deallocate_buffers, void, (void *allocator), "v0.66", NULL, DEVICES, false, "AllocatorImpl::deallocate_buffers", \
		"that a device releases all it has", TDM_P "13AllocatorImpl18deallocate_buffersEv") \
	Y(deallocate_buffers_56, deallocate_buffers, "v0.56", NULL, TDM_P "9Allocator18deallocate_buffersEv") \
	Y(deallocate_buffers_55, deallocate_buffers, "v0.55", "v0.55", \
		TDM_P "9allocator18deallocate_buffersERNS0_9AllocatorE") \
	X(allocator_end, void, (void *allocator), "v0.66", NULL, DEVICES, true, "AllocatorImpl::~AllocatorImpl", \
		"what a closed device still had", TDM_P "13AllocatorImplD2Ev") \
	Y(allocator_end_1, allocator_end, "v0.66", NULL, TDM_P "13AllocatorImplD1Ev") \
	Y(allocator_end_55, allocator_end, "v0.55", "v0.65", TDM_P "9AllocatorD2Ev") \
	Y(allocator_end_55_1, allocator_end, "v0.55", "v0.65", TDM_P "9AllocatorD1Ev") \
	X(mesh_opened, void, (const void *mesh), "v0.66", NULL, DEVICES, false, "Inspector::mesh_device_initialized", \
		"when a device is opened", TDM_IN "23mesh_device_initializedEPKNS0_11distributed14MeshDeviceImplE") \
	Y(mesh_opened_61, mesh_opened, "v0.61", "v0.65", TDM_IN "23mesh_device_initializedEPKNS0_11distributed10MeshDeviceE") \
	X(device_close, bool, (void *device), "v0.57", NULL, DEVICES, false, "Device::close", "when a device is closed", \
		TDM_P "6Device5closeEv") \
	Y(device_close_55, device_close, "v0.55", "v0.56", TDM_P "2v06Device5closeEv") \
	X(stats_provider, void, (void *provider, uint64_t chip_id, int device, bool is_off, bool is_verbose), "v0.70", NULL, \
		DEVICES, false, "SharedMemoryStatsProvider::SharedMemoryStatsProvider", "the unique id of each chip", \
		TDM_P "25SharedMemoryStatsProviderC1Emibb") \
	/* traces */ \
	X(begin_trace_cq, uint32_t, (void *mesh, void *queue), "v0.77", NULL, TRACES, false, "MeshDevice::begin_mesh_trace", \
		"when the capture of a trace begins", TDM_M "16begin_mesh_traceERNS1_16MeshCommandQueueE") \
	X(begin_trace_cq_id, void, (void *mesh, void *queue, const uint32_t *id), "v0.77", NULL, TRACES, false, \
		"MeshDevice::begin_mesh_trace", "when the capture of a trace begins", \
		TDM_M "16begin_mesh_traceERNS1_16MeshCommandQueueE" TDM_ID) \
	X(begin_trace, uint32_t, (void *mesh, uint8_t queue), "v0.64", NULL, TRACES, false, "MeshDevice::begin_mesh_trace", \
		"when the capture of a trace begins", TDM_M "16begin_mesh_traceEh") \
	X(begin_trace_id, void, (void *mesh, uint8_t queue, const uint32_t *id), "v0.59", NULL, TRACES, false, \
		"MeshDevice::begin_mesh_trace", "when the capture of a trace begins", TDM_M "16begin_mesh_traceEh" TDM_ID) \
	Y(begin_trace_id_56, begin_trace_id, "v0.56", "v0.59", TDM_M "16begin_mesh_traceEh" TDM_OID) \
	X(end_trace_cq, void, (void *mesh, void *queue, const uint32_t *id), "v0.77", NULL, TRACES, true, \
		"MeshDevice::end_mesh_trace", "traces, from the end of their capture", \
		TDM_M "14end_mesh_traceERNS1_16MeshCommandQueueE" TDM_ID) \
	X(end_trace, void, (void *mesh, uint8_t queue, const uint32_t *id), "v0.59", NULL, TRACES, true, \
		"MeshDevice::end_mesh_trace", "traces, from the end of their capture", TDM_M "14end_mesh_traceEh" TDM_ID) \
	Y(end_trace_56, end_trace, "v0.56", "v0.59", TDM_M "14end_mesh_traceEh" TDM_OID) \
	X(replay_trace_cq, void, (void *mesh, void *queue, const uint32_t *id, bool is_blocking), "v0.77", NULL, TRACES, true, \
		"MeshDevice::replay_mesh_trace", "each replay of a trace", \
		TDM_M "17replay_mesh_traceERNS1_16MeshCommandQueueE" TDM_ID "b") \
	X(replay_trace, void, (void *mesh, uint8_t queue, const uint32_t *id, bool is_blocking), "v0.59", NULL, TRACES, true, \
		"MeshDevice::replay_mesh_trace", "each replay of a trace", TDM_M "17replay_mesh_traceEh" TDM_ID "b") \
	Y(replay_trace_56, replay_trace, "v0.56", "v0.59", TDM_M "17replay_mesh_traceEh" TDM_OID "b") \
	X(release_trace, void, (void *mesh, const uint32_t *id), "v0.59", NULL, TRACES, true, \
		"MeshDevice::release_mesh_trace", "when a trace is released", TDM_M "18release_mesh_traceE" TDM_ID) \
	Y(release_trace_56, release_trace, "v0.56", "v0.59", TDM_M "18release_mesh_traceE" TDM_OID) \
	X(device_begin_trace, void, (void *device, uint8_t queue, uint32_t id), "v0.57", "v0.61", TRACES, false, \
		"Device::begin_trace", "traces of single devices", TDM_P "6Device11begin_traceEhj") \
	X(device_end_trace, void, (void *device, uint8_t queue, uint32_t id), "v0.57", "v0.61", TRACES, false, \
		"Device::end_trace", "traces of single devices", TDM_P "6Device9end_traceEhj") \
	X(device_replay_trace, void, (void *device, uint8_t queue, uint32_t id, bool a, bool b), "v0.57", "v0.61", TRACES, \
		false, "Device::replay_trace", "traces of single devices", TDM_P "6Device12replay_traceEhjbb") \
	X(device_release_trace, void, (void *device, uint32_t id), "v0.57", "v0.61", TRACES, false, "Device::release_trace", \
		"traces of single devices", TDM_P "6Device13release_traceEj") \
	Y(device_begin_trace_55, device_begin_trace, "v0.55", "v0.56", TDM_P "2v06Device11begin_traceEhj") \
	Y(device_end_trace_55, device_end_trace, "v0.55", "v0.56", TDM_P "2v06Device9end_traceEhj") \
	Y(device_replay_trace_56, device_replay_trace, "v0.56", "v0.56", TDM_P "2v06Device12replay_traceEhjbb") \
	X(device_replay_trace_55, void, (void *device, uint8_t queue, uint32_t id, bool a), "v0.55", "v0.55", TRACES, false, \
		"Device::replay_trace", "traces of single devices", TDM_P "2v06Device12replay_traceEhjb") \
	Y(device_release_trace_55, device_release_trace, "v0.55", "v0.56", TDM_P "2v06Device13release_traceEj") \
	X(register_trace, void, (void *allocator, uint32_t id), "v0.78", NULL, TRACES, false, \
		"AllocatorImpl::register_active_trace", "traces, if the mesh's own functions cannot be hooked", \
		TDM_P "13AllocatorImpl21register_active_traceEj") \
	X(unregister_trace, void, (void *allocator, uint32_t id), "v0.78", NULL, TRACES, false, \
		"AllocatorImpl::unregister_active_trace", "traces, if the mesh's own functions cannot be hooked", \
		TDM_P "13AllocatorImpl23unregister_active_traceEj") \
	/* pinned host memory */ \
	X(pinned_begin, void, (void *pinned, const struct tdm_metal_vector *devices, void *host, size_t size, bool to_noc), \
		"v0.65", NULL, PINNED, true, "PinnedMemory::PinnedMemory", "host memory when it is pinned", \
		TDM_P "12experimental12PinnedMemoryC1ERKSt6vectorIPNS0_7IDeviceESaIS5_EEPvmb") \
	X(pinned_end, void, (void *pinned), "v0.65", NULL, PINNED, true, "PinnedMemory::~PinnedMemory", \
		"host memory when it is released", TDM_P "12experimental12PinnedMemoryD1Ev") \
	X(pinned_assign, void *, (void *pinned, void *other), "v0.65", NULL, PINNED, false, "PinnedMemory::operator=", \
		"host memory that gives way to other one", TDM_P "12experimental12PinnedMemoryaSEOS2_") \
	/* circular buffers */ \
	X(track_allocate_cb, void, \
		(void *tracker, const void *ranges, uint64_t address, uint64_t size, bool is_view, const void *device), \
		"v0.65", NULL, CBS, true, "GraphTracker::track_allocate_cb", "each circular buffer, with its cores", \
		TDM_P "12GraphTracker17track_allocate_cbERKNS0_12CoreRangeSetEmmbPKNS0_7IDeviceE") \
	Y(track_allocate_cb_57, track_allocate_cb, "v0.57", "v0.64", \
		TDM_P "12GraphTracker17track_allocate_cbERK12CoreRangeSetmmbPKNS0_7IDeviceE") \
	Y(track_allocate_cb_55, track_allocate_cb, "v0.55", "v0.56", \
		TDM_P "12GraphTracker17track_allocate_cbERK12CoreRangeSetmmbPKNS0_2v07IDeviceE") \
	X(track_deallocate_cb, void, (void *tracker, const void *device), "v0.57", NULL, CBS, false, \
		"GraphTracker::track_deallocate_cb", "that a device has no circular buffers", \
		TDM_P "12GraphTracker19track_deallocate_cbEPKNS0_7IDeviceE") \
	Y(track_deallocate_cb_55, track_deallocate_cb, "v0.55", "v0.56", \
		TDM_P "12GraphTracker19track_deallocate_cbEPKNS0_2v07IDeviceE") \
	X(allocate_cbs, void, (void *program, const void *device), "v0.58", NULL, CBS, true, \
		"ProgramImpl::allocate_circular_buffers", "whose circular buffers they are", \
		TDM_PI "25allocate_circular_buffersEPKNS0_7IDeviceE") \
	Y(allocate_cbs_57, allocate_cbs, "v0.57", "v0.57", TDM_PO "25allocate_circular_buffersEPKNS0_7IDeviceE") \
	Y(allocate_cbs_55, allocate_cbs, "v0.55", "v0.56", TDM_PO "25allocate_circular_buffersEPKNS0_2v07IDeviceE") \
	X(deallocate_cbs, void, (void *program), "v0.70", NULL, CBS, false, "ProgramImpl::deallocate_circular_buffers", \
		"the end of a program", TDM_PI "27deallocate_circular_buffersEv") \
	X(invalidate_cbs, void, (void *program), "v0.58", NULL, CBS, false, \
		"ProgramImpl::invalidate_circular_buffer_allocation", "that a program's circular buffers get another layout", \
		TDM_PI "37invalidate_circular_buffer_allocationEv") \
	X(program_end, void, (void *program), "v0.59", NULL, CBS, false, "ProgramImpl::~ProgramImpl", "the end of a program", \
		TDM_PI "D1Ev") \
	Y(program_end_2, program_end, "v0.59", NULL, TDM_PI "D2Ev") \
	X(compile_and_allocate, void, (void *program, void *device, bool is_slow), "v0.76", NULL, CBS, false, \
		"ProgramImpl::compile_and_allocate", "each launch of a program", \
		TDM_PI "20compile_and_allocateEPNS0_7IDeviceEb") \
	X(register_program, void, (void *device, void *program), "v0.70", NULL, CBS, false, "Device::register_program", \
		"which programs a device holds", TDM_P "6Device16register_programEPNS0_6detail11ProgramImplE") \
	X(unregister_program, void, (void *device, void *program), "v0.70", NULL, CBS, false, "Device::unregister_program", \
		"when a device no longer holds a program", TDM_P "6Device18unregister_programEPNS0_6detail11ProgramImplE") \
	X(program_created, void, (const void *program), "v0.59", NULL, CBS, false, "Inspector::program_created", \
		"the beginning of a program", TDM_IN "15program_created" TDM_OFP) \
	X(program_destroyed, void, (const void *program), "v0.59", NULL, CBS, false, "Inspector::program_destroyed", \
		"the end of a program", TDM_IN "17program_destroyed" TDM_OFP) \
	X(validate_cbs, void, (void *program, const void *device), "v0.58", NULL, CLASHES, true, \
		"ProgramImpl::validate_circular_buffer_region", "circular buffers that grow into L1 buffers", \
		TDM_PI "31validate_circular_buffer_regionEPKNS0_7IDeviceE") \
	Y(validate_cbs_57, validate_cbs, "v0.57", "v0.57", TDM_PO "31validate_circular_buffer_regionEPKNS0_7IDeviceE") \
	Y(validate_cbs_55, validate_cbs, "v0.55", "v0.56", TDM_PO "31validate_circular_buffer_regionEPKNS0_2v07IDeviceE") \
	X(validate_dfbs, void, (void *program, const void *device), "v0.67", NULL, CLASHES, false, \
		"ProgramImpl::validate_dataflow_buffer_region", "dataflow buffers that grow into L1 buffers", \
		TDM_PI "31validate_dataflow_buffer_regionEPKNS0_7IDeviceE") \
	X(lowest_l1_mesh, struct tdm_metal_maybe, (const void *mesh, const void *first, size_t count), "v0.59", NULL, CLASHES, \
		false, "MeshDevice::lowest_occupied_compute_l1_address", "which L1 buffer circular buffers grow into", \
		TDM_K "11distributed10MeshDevice" TDM_LOW "N4ttsl" TDM_SUB) \
	X(lowest_l1_device, struct tdm_metal_maybe, (const void *device, const void *first, size_t count), "v0.59", NULL, \
		CLASHES, false, "Device::lowest_occupied_compute_l1_address", "which L1 buffer circular buffers grow into", \
		TDM_K "6Device" TDM_LOW "N4ttsl" TDM_SUB) \
	Y(lowest_l1_mesh_57, lowest_l1_mesh, "v0.57", "v0.59", TDM_K "11distributed10MeshDevice" TDM_LOW "NS_3stl" TDM_SUB) \
	Y(lowest_l1_device_57, lowest_l1_device, "v0.57", "v0.59", TDM_K "6Device" TDM_LOW "NS_3stl" TDM_SUB) \
	X(l1_size_mesh, uint32_t, (const void *mesh), "v0.57", NULL, CLASHES, false, "MeshDevice::l1_size_per_core", \
		"whether circular buffers grow beyond the end of L1", TDM_K "11distributed10MeshDevice16l1_size_per_coreEv") \
	X(l1_size_device, uint32_t, (const void *device), "v0.57", NULL, CLASHES, false, "Device::l1_size_per_core", \
		"whether circular buffers grow beyond the end of L1", TDM_K "6Device16l1_size_per_coreEv") \
	/* dataflow buffers and scratchpads */ \
	X(mark_address, void, (void *place, uint64_t address, uint64_t size, uint64_t base), "v0.58", NULL, DFBS, true, \
		"ProgramImpl::CircularBufferAllocator::mark_address", "where dataflow buffers are", \
		TDM_PI "23CircularBufferAllocator12mark_addressEmmm") \
	X(allocate_dfbs, void, (void *program, const void *device), "v0.67", NULL, DFBS, true, \
		"ProgramImpl::allocate_dataflow_buffers", "dataflow buffers", \
		TDM_PI "25allocate_dataflow_buffersEPKNS0_7IDeviceE") \
	X(allocate_scratchpads, void, (void *program, const void *device), "v0.75", NULL, SCRATCHPADS, true, \
		"ProgramImpl::allocate_scratchpads", "that a program has scratchpads", \
		TDM_PI "20allocate_scratchpadsEPKNS0_7IDeviceE") \
	X(track_allocate_dfb, void, \
		(void *tracker, const void *ranges, uint64_t address, uint64_t size, bool is_view, const void *device), \
		"v0.77", NULL, DFBS, false, "GraphTracker::track_allocate_dataflow_buffer", \
		"dataflow buffers of captures without dispatch", \
		TDM_P "12GraphTracker30track_allocate_dataflow_bufferERKNS0_12CoreRangeSetEmmbPKNS0_7IDeviceE") \
	X(track_allocate_scratchpad, void, \
		(void *tracker, const void *ranges, uint64_t address, uint64_t size, const void *device), "v0.77", NULL, \
		SCRATCHPADS, false, "GraphTracker::track_allocate_scratchpad", "scratchpads of captures without dispatch", \
		TDM_P "12GraphTracker25track_allocate_scratchpadERKNS0_12CoreRangeSetEmmPKNS0_7IDeviceE") \
	/* code, and names */ \
	X(kernel_compiled, void, \
		(const void *program, const void *device, const void *kernel, const void *options, const void *root), "v0.73", \
		NULL, CODE, true, "Inspector::program_kernel_compile_finished", "which kernels a program has", \
		TDM_IN "31program_kernel_compile_finished" TDM_OFP \
		"PKNS0_7IDeviceERKSt10shared_ptrINS0_6KernelEERKNS0_15JitBuildOptionsE" \
		"RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE") \
	X(kernel_compiled_59, void, (const void *program, const void *device, const void *kernel, const void *options), \
		"v0.59", "v0.72", CODE, true, "Inspector::program_kernel_compile_finished", "which kernels a program has", \
		TDM_IN "31program_kernel_compile_finished" TDM_OFP \
		"PKNS0_7IDeviceERKSt10shared_ptrINS0_6KernelEERKNS0_15JitBuildOptionsE") \
	X(program_compiled, void, (const void *program, const void *device, uint64_t build_key), "v0.64", NULL, CODE, true, \
		"Inspector::program_compile_finished", "the size of a program's code", \
		TDM_IN "24program_compile_finished" TDM_OFP "PKNS0_7IDeviceEm") \
	X(program_compiled_59, void, (const void *program, const void *device, uint32_t build_key), "v0.59", "v0.64", CODE, \
		true, "Inspector::program_compile_finished", "the size of a program's code", \
		TDM_IN "24program_compile_finished" TDM_OFP "PKNS0_7IDeviceEj") \
	X(emit_operation, void, \
		(void *workload, uint64_t runtime_id, size_t length, const char *name, void *specs, uint64_t trace), "v0.68", \
		NULL, NAMES, true, "inspector::EmitMeshWorkloadDebugEntry", \
		"which operation of ttnn a program belongs to, while the inspector is on", \
		TDM_P "12experimental9inspector26EmitMeshWorkloadDebugEntryERNS0_11distributed12MeshWorkloadEm" \
		"St17basic_string_viewIcSt11char_traitsIcEESt6vectorINS0_10TensorSpecESaISB_EE" \
		"St8optionalIN4ttsl10StrongTypeIjNS3_14MeshTraceIdTagEEEE") \
	X(emit_operation_66, void, (void *workload, size_t length, const char *name, size_t more_length, const char *more), \
		"v0.66", "v0.67", NAMES, true, "inspector::EmitMeshWorkloadDebugEntry", \
		"which operation of ttnn a program belongs to, while the inspector is on", \
		TDM_P "12experimental9inspector26EmitMeshWorkloadAnnotationERNS0_11distributed12MeshWorkloadE" \
		"St17basic_string_viewIcSt11char_traitsIcEES9_") \
	X(enqueue_workload, void, (void *queue, void *workload, bool is_blocking), "v0.57", NULL, NAMES, true, \
		"EnqueueMeshWorkload", "the beginning and the end of an operation", \
		TDM_P "11distributed19EnqueueMeshWorkloadERNS1_16MeshCommandQueueERNS1_12MeshWorkloadEb") \
	X(track_program, void, (void *tracker, void *program, const void *device), "v0.57", NULL, NAMES, false, \
		"GraphTracker::track_program", "the program of an operation of ttnn", \
		TDM_P "12GraphTracker13track_programEPNS0_7ProgramEPKNS0_7IDeviceE") \
	Y(track_program_55, track_program, "v0.55", "v0.56", \
		TDM_P "12GraphTracker13track_programEPNS0_2v07ProgramEPKNS2_7IDeviceE")

#define TDM_METAL_QUESTIONS(X) \
	X(buffer_address, uint32_t, (const void *buffer), "v0.57", NULL, BUFFERS, true, "Buffer::address", \
		"which buffer is released", TDM_K "6Buffer7addressEv") \
	X(buffer_page_size, uint64_t, (const void *buffer), "v0.57", NULL, BUFFERS, false, "Buffer::page_size", "page sizes", \
		TDM_K "6Buffer9page_sizeEv") \
	X(buffer_num_pages, uint32_t, (const void *buffer), "v0.57", NULL, BUFFERS, false, "Buffer::num_pages", \
		"sizes, where objects differ from those we know", TDM_K "6Buffer9num_pagesEv") \
	X(buffer_aligned_size, uint64_t, (const void *buffer), "v0.57", NULL, BUFFERS, false, "Buffer::aligned_size", \
		"what a failed request would have taken", TDM_K "6Buffer12aligned_sizeEv") \
	X(buffer_aligned_page, uint64_t, (const void *buffer), "v0.57", NULL, OUT_OF_MEMORY, false, \
		"Buffer::aligned_page_size", "what a failed request would have taken", TDM_K "6Buffer17aligned_page_sizeEv") \
	X(buffer_per_bank, uint64_t, (const void *buffer), "v0.57", NULL, BUFFERS, true, "Buffer::aligned_size_per_bank", \
		"what a buffer takes of each bank", TDM_K "6Buffer21aligned_size_per_bankEv") \
	X(buffer_is_l1, bool, (const void *buffer), "v0.57", NULL, BUFFERS, true, "Buffer::is_l1", \
		"which memory a buffer is in", TDM_K "6Buffer5is_l1Ev") \
	X(buffer_is_dram, bool, (const void *buffer), "v0.57", NULL, BUFFERS, true, "Buffer::is_dram", \
		"which memory a buffer is in", TDM_K "6Buffer7is_dramEv") \
	X(buffer_is_trace, bool, (const void *buffer), "v0.57", NULL, BUFFERS, false, "Buffer::is_trace", \
		"which buffers hold traces", TDM_K "6Buffer8is_traceEv") \
	/* bit 32: there is a number */ \
	X(buffer_num_cores, uint64_t, (const void *buffer), "v0.57", NULL, BUFFERS, false, "Buffer::num_cores", \
		"over how many cores a buffer is sharded", TDM_K "6Buffer9num_coresEv") \
	X(buffer_distribution, const void *, (const void *buffer), "v0.59", NULL, BUFFERS, false, \
		"Buffer::buffer_distribution_spec", "which cores a buffer is on, certainly", \
		TDM_K "6Buffer24buffer_distribution_specEv") \
	X(num_banks, uint32_t, (const void *allocator, const void *kind), "v0.66", NULL, DEVICES, true, \
		"AllocatorImpl::get_num_banks", "banks", TDM_K "13AllocatorImpl13get_num_banksERKNS0_10BufferTypeE") \
	X(bank_size, uint64_t, (const void *allocator, const void *kind), "v0.66", NULL, DEVICES, true, \
		"AllocatorImpl::get_bank_size", "capacities", TDM_K "13AllocatorImpl13get_bank_sizeERKNS0_10BufferTypeE") \
	X(alignment, uint32_t, (const void *allocator, uint32_t kind), "v0.66", NULL, BUFFERS, false, \
		"AllocatorImpl::get_alignment", "what small buffers take, while several threads allocate", \
		TDM_K "13AllocatorImpl13get_alignmentENS0_10BufferTypeE") \
	X(statistics, struct tdm_metal_answer, (const void *allocator, const void *kind), "v0.66", NULL, STATISTICS, true, \
		"AllocatorImpl::get_statistics", "what the allocator itself says", \
		TDM_K "13AllocatorImpl14get_statisticsERKNS0_10BufferTypeE") \
	/* 0 L1, 1 DRAM */ \
	X(base_address, uint64_t, (const void *allocator, const void *memory), "v0.66", NULL, DEVICES, false, \
		"AllocatorImpl::get_base_allocator_addr", "the first address of each memory", \
		TDM_K "13AllocatorImpl23get_base_allocator_addrERKNS0_10HalMemTypeE") \
	X(mesh_devices, struct tdm_metal_vector, (const void *mesh), "v0.56", NULL, DEVICES, false, "MeshDevice::get_devices", \
		"the grids of a mesh's chips", TDM_K "11distributed10MeshDevice11get_devicesEv") \
	X(mesh_device_ids, struct tdm_metal_vector, (const void *mesh), "v0.55", NULL, DEVICES, true, \
		"MeshDevice::get_device_ids", "the chips of a mesh", TDM_K "11distributed10MeshDevice14get_device_idsEv") \
	X(impl_devices, struct tdm_metal_vector, (const void *mesh), "v0.66", NULL, DEVICES, false, \
		"MeshDeviceImpl::get_devices", "the grids of chips that are opened", \
		TDM_K "11distributed14MeshDeviceImpl11get_devicesEv") \
	X(impl_device_ids, struct tdm_metal_vector, (const void *mesh), "v0.66", NULL, DEVICES, false, \
		"MeshDeviceImpl::get_device_ids", "which chips are opened", \
		TDM_K "11distributed14MeshDeviceImpl14get_device_idsEv") \
	X(impl_allocator, const void *const *, (const void *mesh), "v0.66", NULL, DEVICES, false, "MeshDeviceImpl::allocator", \
		"capacities, when a device is opened", TDM_K "11distributed14MeshDeviceImpl9allocatorEv") \
	X(device_id, int, (const void *device), "v0.57", NULL, DEVICES, false, "Device::id", \
		"the chip of a device that is in no mesh and has no totals in shared memory", TDM_K "6Device2idEv") \
	X(device_arch, int, (const void *device), "v0.57", NULL, DEVICES, false, "Device::arch", "the architecture", \
		TDM_K "6Device4archEv") \
	X(device_grid, struct tdm_metal_core, (const void *device), "v0.57", NULL, DEVICES, false, \
		"Device::compute_with_storage_grid_size", "the grid of compute cores", \
		TDM_K "6Device30compute_with_storage_grid_sizeEv") \
	X(device_channels, int, (const void *device), "v0.57", NULL, DEVICES, false, "Device::num_dram_channels", \
		"banks, where the allocator does not say", TDM_K "6Device17num_dram_channelsEv") \
	X(device_allocator, const void *const *, (const void *device), NULL, NULL, DEVICES, false, "Device::allocator", \
		"banks, where the allocator cannot be hooked", TDM_K "6Device9allocatorEv") \
	X(mesh_allocator, const void *const *, (const void *mesh), NULL, NULL, DEVICES, false, "MeshDevice::allocator", \
		"banks, where the allocator cannot be hooked", TDM_K "11distributed10MeshDevice9allocatorEv") \
	X(ranges, const struct tdm_metal_vector *, (const void *core_range_set), "v0.65", NULL, CBS, true, \
		"CoreRangeSet::ranges", "the cores of circular buffers", TDM_K "12CoreRangeSet6rangesEv") \
	X(ranges_cores, uint32_t, (const void *core_range_set), "v0.65", NULL, CBS, false, "CoreRangeSet::num_cores", \
		"a check of the cores of circular buffers", TDM_K "12CoreRangeSet9num_coresEv") \
	X(program_id, uint64_t, (const void *program), "v0.58", NULL, CBS, false, "ProgramImpl::get_id", \
		"the numbers of programs", TDM_K "6detail11ProgramImpl6get_idEv") \
	X(program_cbs, void, (const void *program), "v0.62", NULL, CBS, false, \
		"ProgramImpl::circular_buffers", "a check of circular buffers", \
		TDM_K "6detail11ProgramImpl16circular_buffersEv") \
	X(program_dfbs, const struct tdm_metal_vector *, (const void *program), "v0.68", NULL, DFBS, true, \
		"ProgramImpl::dataflow_buffers", "dataflow buffers", TDM_K "6detail11ProgramImpl16dataflow_buffersEv") \
	X(cb_address, uint32_t, (const void *cb), "v0.66", NULL, CBS, false, "CircularBufferImpl::address", \
		"a check of circular buffers", TDM_K "18CircularBufferImpl7addressEv") \
	X(kernel_binaries, const struct tdm_metal_vector *, (const void *kernel, uint64_t build_key), "v0.65", NULL, CODE, \
		true, "Kernel::binaries", "the size of a program's code", TDM_K "6Kernel8binariesEm") \
	X(kernel_size, uint32_t, (const void *kernel, void *device, int binary), "v0.65", NULL, CODE, true, \
		"Kernel::get_binary_packed_size", "the size of a program's code", \
		TDM_K "6Kernel22get_binary_packed_sizeEPNS0_7IDeviceEi") \
	X(kernel_name, const void *, (const void *kernel), NULL, NULL, NAMES, false, "Kernel::get_full_kernel_name", \
		"the names of kernels", TDM_K "6Kernel20get_full_kernel_nameB5cxx11Ev") \
	X(kernel_scratchpads, void, (const void *kernel, void *function), "v0.75", NULL, SCRATCHPADS, true, \
		"Kernel::process_scratchpad_binding_handles", "that a program has scratchpads", \
		TDM_K \
		"6Kernel34process_scratchpad_binding_handlesESt8functionIFvRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEjjEE") \
	X(operator_delete, void, (void *memory), NULL, NULL, DEVICES, false, "operator delete", \
		"nothing; answers are released with it", "_ZdlPv") \
	/* an object; not called */ \
	X(mesh_vtable, char, (void), NULL, NULL, DEVICES, true, "vtable of MeshDevice", "which devices are meshes", \
		"_ZTVN2tt8tt_metal11distributed10MeshDeviceE") \
	/* an object; not called */ \
	X(impl_vtable, char, (void), "v0.66", NULL, DEVICES, false, "vtable of MeshDeviceImpl", "when a device is opened", \
		"_ZTVN2tt8tt_metal11distributed14MeshDeviceImplE") \
	/* an object; not called */ \
	X(device_vtable, char, (void), "v0.57", NULL, DEVICES, false, "vtable of Device", "which devices are single chips", \
		"_ZTVN2tt8tt_metal6DeviceE")

#define TDM_METAL_OLD_QUESTIONS(Y) \
	Y(buffer_address, "v0.55", "v0.56", TDM_K "2v06Buffer7addressEv") \
	Y(buffer_page_size, "v0.55", "v0.56", TDM_K "2v06Buffer9page_sizeEv") \
	Y(buffer_num_pages, "v0.55", "v0.56", TDM_K "2v06Buffer9num_pagesEv") \
	Y(buffer_aligned_size, "v0.55", "v0.56", TDM_K "2v06Buffer12aligned_sizeEv") \
	Y(buffer_aligned_page, "v0.55", "v0.56", TDM_K "2v06Buffer17aligned_page_sizeEv") \
	Y(buffer_per_bank, "v0.55", "v0.56", TDM_K "2v06Buffer21aligned_size_per_bankEv") \
	Y(buffer_is_l1, "v0.55", "v0.56", TDM_K "2v06Buffer5is_l1Ev") \
	Y(buffer_is_dram, "v0.55", "v0.56", TDM_K "2v06Buffer7is_dramEv") \
	Y(buffer_is_trace, "v0.55", "v0.56", TDM_K "2v06Buffer8is_traceEv") \
	Y(buffer_num_cores, "v0.55", "v0.56", TDM_K "2v06Buffer9num_coresEv") \
	Y(num_banks, "v0.56", "v0.65", TDM_K "9Allocator13get_num_banksERKNS0_10BufferTypeE") \
	Y(num_banks, "v0.55", "v0.55", TDM_P "9allocator9num_banksERKNS0_9AllocatorERKNS0_10BufferTypeE") \
	Y(bank_size, "v0.56", "v0.65", TDM_K "9Allocator13get_bank_sizeERKNS0_10BufferTypeE") \
	Y(bank_size, "v0.55", "v0.55", TDM_P "9allocator9bank_sizeERKNS0_9AllocatorERKNS0_10BufferTypeE") \
	Y(alignment, "v0.57", "v0.65", TDM_K "9Allocator13get_alignmentENS0_10BufferTypeE") \
	Y(statistics, "v0.56", "v0.65", TDM_K "9Allocator14get_statisticsERKNS0_10BufferTypeE") \
	Y(statistics, "v0.55", "v0.55", TDM_P "9allocator14get_statisticsERKNS0_9AllocatorERKNS0_10BufferTypeE") \
	Y(base_address, "v0.56", "v0.65", TDM_K "9Allocator23get_base_allocator_addrERKNS0_10HalMemTypeE") \
	Y(device_id, "v0.55", "v0.56", TDM_K "2v06Device2idEv") \
	Y(device_arch, "v0.55", "v0.56", TDM_K "2v06Device4archEv") \
	Y(device_grid, "v0.55", "v0.56", TDM_K "2v06Device30compute_with_storage_grid_sizeEv") \
	Y(device_vtable, "v0.55", "v0.56", "_ZTVN2tt8tt_metal2v06DeviceE") \
	Y(ranges, "v0.55", "v0.64", "_ZNK12CoreRangeSet6rangesEv") \
	Y(ranges_cores, "v0.55", "v0.64", "_ZNK12CoreRangeSet9num_coresEv") \
	Y(program_id, "v0.55", "v0.57", TDM_K "6detail8Program_6get_idEv")
/* clang-format on */

#endif
