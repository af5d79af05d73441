/*
 * A preload that writes down the calls which the runtime makes, in the form of the logs in tests/data/metal: `>` and
 * `<` are entry and return. It goes to the file that STANDIN_LOG names.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define P "_ZN2tt8tt_metal"
#define K "_ZNK2tt8tt_metal"

static void *next_of(const char *symbol)
{
	void *next = dlsym(RTLD_NEXT, symbol);
	if (next == NULL)
		abort();
	return next;
}

/* Asks an object with a function that has no other argument. */
static uint64_t ask(const char *symbol, const void *object)
{
	uint64_t (*function)(const void *);
	*(void **)&function = next_of(symbol);
	return function(object);
}

__attribute__((format(printf, 1, 2))) static void write_down(const char *format, ...)
{
	static int file = -1;
	char line[512];
	va_list arguments;
	int length = snprintf(line, sizeof line, "[%ld] ", syscall(SYS_gettid));
	va_start(arguments, format);
	length += vsnprintf(line + length, sizeof line - (size_t)length - 1, format, arguments);
	va_end(arguments);
	line[length++] = '\n';
	if (file < 0)
		file = open(getenv("STANDIN_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (write(file, line, (size_t)length) != length)
		abort();
}

#define WORDS     uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f
#define ARGUMENTS a, b, c, d, e, f
#define NEXT(symbol)                    \
	static uint64_t (*next)(WORDS); \
	if (next == NULL)               \
	*(void **)&next = next_of(symbol)

/* A function of the runtime, whose arguments are words. Its code begins with NEXT. */
#define FUNCTION(name, symbol)                \
	uint64_t name(WORDS) __asm__(symbol); \
	uint64_t name(WORDS)

/* A function that is only named. */
#define PLAIN(number, text, symbol)      \
	FUNCTION(plain_##number, symbol) \
	{                                \
		NEXT(symbol);            \
		write_down("%s", text);  \
		return next(ARGUMENTS);  \
	}

PLAIN(1, "AllocatorImpl::ctor C2", P "13AllocatorImplC2ERKNS0_15AllocatorConfigE")
PLAIN(2, "AllocatorImpl::~ D2", P "13AllocatorImplD2Ev")
PLAIN(3, "AllocatorImpl::deallocate_buffers", P "13AllocatorImpl18deallocate_buffersEv")
PLAIN(4, "AllocatorImpl::clear", P "13AllocatorImpl5clearEv")
PLAIN(5, "AllocatorImpl::register_active_trace(al,id)", P "13AllocatorImpl21register_active_traceEj")
PLAIN(6, "AllocatorImpl::unregister_active_trace(al,id)", P "13AllocatorImpl23unregister_active_traceEj")
PLAIN(7, "Buffer::allocate_impl", P "6Buffer13allocate_implEv")
PLAIN(8, "Buffer::deallocate_impl", P "6Buffer15deallocate_implEv")
PLAIN(9, "Buffer::~ D1", P "6BufferD1Ev")
PLAIN(10, "Buffer::mark_as_deallocated", P "6Buffer19mark_as_deallocatedEv")
PLAIN(11, "GraphTracker::hook_allocate", P "12GraphTracker13hook_allocateEPKNS0_6BufferE")
PLAIN(12, "GraphTracker::track_deallocate_cb(trk,dev)", P "12GraphTracker19track_deallocate_cbEPKNS0_7IDeviceE")
PLAIN(13, "Device::register_program(dev,prog)", P "6Device16register_programEPNS0_6detail11ProgramImplE")
PLAIN(14, "Device::unregister_program(dev,prog)", P "6Device18unregister_programEPNS0_6detail11ProgramImplE")
PLAIN(15, "Device::close", P "6Device5closeEv")
PLAIN(16, "MeshDevice::close", P "11distributed10MeshDevice5closeEv")
PLAIN(17, "MeshDeviceImpl::close_impl", P "11distributed14MeshDeviceImpl10close_implEPNS1_10MeshDeviceE")
PLAIN(18, "MeshDevice::begin_mesh_trace(cq)", P "11distributed10MeshDevice16begin_mesh_traceERNS1_16MeshCommandQueueE")
PLAIN(19, "MeshDevice::end_mesh_trace(cq,id)",
	P "11distributed10MeshDevice14end_mesh_traceERNS1_16MeshCommandQueueERKN4ttsl10StrongTypeIjNS1_"
	  "14MeshTraceIdTagEEE")
PLAIN(20, "MeshDevice::release_mesh_trace",
	P "11distributed10MeshDevice18release_mesh_traceERKN4ttsl10StrongTypeIjNS1_14MeshTraceIdTagEEE")
PLAIN(21, "MeshBuffer::~ D1", P "11distributed10MeshBufferD1Ev")
PLAIN(22, "MeshBuffer::deallocate", P "11distributed10MeshBuffer10deallocateEv")
PLAIN(23, "Inspector::mesh_device_created",
	P "9Inspector19mesh_device_createdEPKNS0_11distributed14MeshDeviceImplESt8optionalIiE")
PLAIN(24, "Inspector::mesh_device_initialized",
	P "9Inspector23mesh_device_initializedEPKNS0_11distributed14MeshDeviceImplE")
PLAIN(25, "Inspector::mesh_device_destroyed",
	P "9Inspector21mesh_device_destroyedEPKNS0_11distributed14MeshDeviceImplE")
PLAIN(26, "Inspector::mesh_buffer_allocated", P "9Inspector21mesh_buffer_allocatedEPKNS0_11distributed10MeshBufferE")
PLAIN(27, "Inspector::mesh_buffer_deallocated",
	P "9Inspector23mesh_buffer_deallocatedEPKNS0_11distributed10MeshBufferE")
PLAIN(28, "Inspector::mesh_workload_created",
	P "9Inspector21mesh_workload_createdEPKNS0_11distributed16MeshWorkloadImplE")
PLAIN(29, "Inspector::mesh_workload_destroyed",
	P "9Inspector23mesh_workload_destroyedEPKNS0_11distributed16MeshWorkloadImplE")
PLAIN(30, "Inspector::mesh_workload_add_program(wl,range,progid)",
	P "9Inspector25mesh_workload_add_programEPKNS0_11distributed16MeshWorkloadImplERKNS2_19MeshCoordinateRangeEm")
PLAIN(34, "Inspector::release_trace",
	P "9Inspector13release_traceEN4ttsl10StrongTypeIjNS0_11distributed14MeshTraceIdTagEEE")
PLAIN(35, "ProgramImpl::invalidate_circular_buffer_allocation",
	P "6detail11ProgramImpl37invalidate_circular_buffer_allocationEv")
PLAIN(36, "SharedMemoryStatsProvider::ctor C1(this,asic,dev,dis,verb)", P "25SharedMemoryStatsProviderC1Emibb")
PLAIN(37, "SharedMemoryStatsProvider::~ D1", P "25SharedMemoryStatsProviderD1Ev")
PLAIN(38, "SharedMemoryStatsProvider::record_allocation(this,pid,size,type,chip)",
	P "25SharedMemoryStatsProvider17record_allocationEimNS0_13ShmBufferTypeEj")
PLAIN(39, "SharedMemoryStatsProvider::record_deallocation",
	P "25SharedMemoryStatsProvider19record_deallocationEimNS0_13ShmBufferTypeEj")
PLAIN(40, "SharedMemoryStatsProvider::update_from_allocator(this,dev,pid)",
	P "25SharedMemoryStatsProvider21update_from_allocatorEPKNS0_6DeviceEi")
PLAIN(41, "PinnedMemory C1(this,vec,host,size,noc)",
	P "12experimental12PinnedMemoryC1ERKSt6vectorIPNS0_7IDeviceESaIS5_EEPvmb")
PLAIN(42, "PinnedMemory ~D1", P "12experimental12PinnedMemoryD1Ev")
PLAIN(43, "MeshWorkloadImpl::compile", P "11distributed16MeshWorkloadImpl7compileEPNS1_10MeshDeviceE")
PLAIN(44, "MeshWorkloadImpl::load_binaries",
	P "11distributed16MeshWorkloadImpl13load_binariesERNS1_16MeshCommandQueueE")
PLAIN(45, "kernel_compile_finished",
	P "9Inspector31program_kernel_compile_finishedEPKNS0_6detail11ProgramImplEPKNS0_7IDeviceERKSt10shared_ptrINS0_"
	  "6KernelEERKNS0_15JitBuildOptionsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE")

static uint64_t id_of(uint64_t program)
{
	return ask(K "6detail11ProgramImpl6get_idEv", (const void *)program);
}

/* A function of a program that is named with the program's id. */
#define OF_PROGRAM(number, text, symbol)                                                                         \
	FUNCTION(of_program_##number, symbol)                                                                    \
	{                                                                                                        \
		NEXT(symbol);                                                                                    \
		write_down("%s prog=0x%llx id=%llu", text, (unsigned long long)a, (unsigned long long)id_of(a)); \
		return next(ARGUMENTS);                                                                          \
	}

OF_PROGRAM(1, "Inspector::program_created", P "9Inspector15program_createdEPKNS0_6detail11ProgramImplE")
OF_PROGRAM(2, "Inspector::program_destroyed", P "9Inspector17program_destroyedEPKNS0_6detail11ProgramImplE")
OF_PROGRAM(3, "~ProgramImpl D1", P "6detail11ProgramImplD1Ev")
OF_PROGRAM(31, "Inspector::program_compile_started",
	P "9Inspector23program_compile_startedEPKNS0_6detail11ProgramImplEPKNS0_7IDeviceEm")
OF_PROGRAM(32, "Inspector::program_compile_already_exists",
	P "9Inspector30program_compile_already_existsEPKNS0_6detail11ProgramImplEPKNS0_7IDeviceEm")
OF_PROGRAM(33, "Inspector::program_compile_finished",
	P "9Inspector24program_compile_finishedEPKNS0_6detail11ProgramImplEPKNS0_7IDeviceEm")

struct span {
	const char *name;
	bool is_over;
};

static void end_span(struct span *span)
{
	if (!span->is_over)
		write_down("!!! exception through %s", span->name);
}

/* A function with others inside it. */
#define SPAN(number, text, symbol)                                                                                 \
	FUNCTION(span_##number, symbol)                                                                            \
	{                                                                                                          \
		NEXT(symbol);                                                                                      \
		write_down("%s > prog=0x%llx id=%llu", text, (unsigned long long)a, (unsigned long long)id_of(a)); \
		__attribute__((cleanup(end_span))) struct span span = { text, false };                             \
		uint64_t result = next(ARGUMENTS);                                                                 \
		span.is_over = true;                                                                               \
		write_down("%s <", text);                                                                          \
		return result;                                                                                     \
	}

SPAN(1, "ProgramImpl::compile_and_allocate", P "6detail11ProgramImpl20compile_and_allocateEPNS0_7IDeviceEb")
SPAN(2, "ProgramImpl::compile", P "6detail11ProgramImpl7compileEPNS0_7IDeviceEb")
SPAN(3, "ProgramImpl::allocate_circular_buffers", P "6detail11ProgramImpl25allocate_circular_buffersEPKNS0_7IDeviceE")
SPAN(4, "ProgramImpl::validate_circular_buffer_region",
	P "6detail11ProgramImpl31validate_circular_buffer_regionEPKNS0_7IDeviceE")
SPAN(5, "ProgramImpl::allocate_dataflow_buffers", P "6detail11ProgramImpl25allocate_dataflow_buffersEPKNS0_7IDeviceE")
SPAN(6, "ProgramImpl::allocate_scratchpads", P "6detail11ProgramImpl20allocate_scratchpadsEPKNS0_7IDeviceE")
SPAN(7, "ProgramImpl::validate_dataflow_buffer_region",
	P "6detail11ProgramImpl31validate_dataflow_buffer_regionEPKNS0_7IDeviceE")
SPAN(8, "ProgramImpl::deallocate_circular_buffers", P "6detail11ProgramImpl27deallocate_circular_buffersEv")

#define ALLOCATE   P "13AllocatorImpl15allocate_bufferEPNS0_6BufferE"
#define DEALLOCATE P "13AllocatorImpl17deallocate_bufferEPNS0_6BufferE"
#define TRACK      P "12GraphTracker14track_allocateEPKNS0_6BufferE"
#define UNTRACK    P "12GraphTracker16track_deallocateEPNS0_6BufferE"
#define TRACK_CB   P "12GraphTracker17track_allocate_cbERKNS0_12CoreRangeSetEmmbPKNS0_7IDeviceE"
#define INITIALIZE P "6Device10initializeEhmmmSt4spanIKjLm18446744073709551615EEb"
#define ADDRESS    K "6Buffer7addressEv"

FUNCTION(allocate, ALLOCATE)
{
	NEXT(ALLOCATE);
	__attribute__((cleanup(end_span))) struct span span = { "allocate_buffer", false };
	uint64_t address = next(ARGUMENTS);
	span.is_over = true;
	write_down("AllocatorImpl::allocate_buffer -> %llu", (unsigned long long)address);
	return address;
}

FUNCTION(deallocate, DEALLOCATE)
{
	NEXT(DEALLOCATE);
	write_down("AllocatorImpl::deallocate_buffer addr=%u", (uint32_t)ask(ADDRESS, (const void *)b));
	return next(ARGUMENTS);
}

FUNCTION(track, TRACK)
{
	NEXT(TRACK);
	const void *buffer = (const void *)b;
	uint64_t size;
	uint32_t type, layout;
	memcpy(&size, (const char *)buffer + 24, sizeof size);
	memcpy(&type, (const char *)buffer + 32, sizeof type);
	memcpy(&layout, (const char *)buffer + 36, sizeof layout);
	write_down("track_allocate addr=%u", (uint32_t)ask(ADDRESS, buffer));
	write_down(
		"track_allocate buf=0 dev@16=0 size@24=%llu type@32=%u layout@36=%u page=%llu npages=%u perbank=%llu "
		"aligned=%llu l1=%u dram=%u trace=%u numcores=%llx",
		(unsigned long long)size, type, layout, (unsigned long long)ask(K "6Buffer9page_sizeEv", buffer),
		(uint32_t)ask(K "6Buffer9num_pagesEv", buffer),
		(unsigned long long)ask(K "6Buffer21aligned_size_per_bankEv", buffer),
		(unsigned long long)ask(K "6Buffer12aligned_sizeEv", buffer), (uint8_t)ask(K "6Buffer5is_l1Ev", buffer),
		(uint8_t)ask(K "6Buffer7is_dramEv", buffer), (uint8_t)ask(K "6Buffer8is_traceEv", buffer),
		(unsigned long long)ask(K "6Buffer9num_coresEv", buffer));
	return next(ARGUMENTS);
}

FUNCTION(untrack, UNTRACK)
{
	NEXT(UNTRACK);
	write_down("track_deallocate buf=0 addr=%u", (uint32_t)ask(ADDRESS, (const void *)b));
	return next(ARGUMENTS);
}

FUNCTION(track_cb, TRACK_CB)
{
	NEXT(TRACK_CB);
	const uint64_t *const *ranges = (const uint64_t *const *)ask(K "12CoreRangeSet6rangesEv", (const void *)b);
	const uint64_t *first = ranges[0];
	write_down("track_allocate_cb (%llu,%llu)-(%llu,%llu) addr=%llu size=%llu glob=%u",
		(unsigned long long)first[0], (unsigned long long)first[1], (unsigned long long)first[2],
		(unsigned long long)first[3], (unsigned long long)c, (unsigned long long)d, (uint8_t)e);
	return next(ARGUMENTS);
}

struct words {
	void *begin;
	uint64_t count;
};
bool initialize(void *device, uint8_t queues, size_t l1_small, size_t trace, size_t worker_l1, struct words remap,
	bool is_minimal) __asm__(INITIALIZE);
bool initialize(void *device, uint8_t queues, size_t l1_small, size_t trace, size_t worker_l1, struct words remap,
	bool is_minimal)
{
	static bool (*next)(void *, uint8_t, size_t, size_t, size_t, struct words, bool);
	if (next == NULL)
		*(void **)&next = next_of(INITIALIZE);
	write_down("Device::initialize cqs=%u l1small=%zu trace=%zu workerl1=%zu", queues, l1_small, trace, worker_l1);
	return next(device, queues, l1_small, trace, worker_l1, remap, is_minimal);
}

void standin_mark(const char *name);
void standin_mark(const char *name)
{
	write_down("=== MARK %s", name);
}
