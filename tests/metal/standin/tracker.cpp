/* What others are told: the graph tracker, the inspector (which is off), and the totals in shared memory (none). */
#include "runtime.hpp"

#include <unistd.h>

namespace tt::tt_metal
{
/* A call that does something, so that it is made. */
static std::atomic<uint64_t> told;

static void tell()
{
	told.fetch_add(1, std::memory_order_relaxed);
}

/* It is only passed on: a system call each time would be the most costly part. */
#if SINCE(100)
static const pid_t OWN_PID = getpid();
#endif

GraphTracker &GraphTracker::instance()
{
	static GraphTracker tracker;
	return tracker;
}

bool GraphTracker::hook_allocate(const Buffer *)
{
	tell();
	return false;
}

void GraphTracker::track_allocate(const Buffer *buffer)
{
	tell();
#if SINCE(100)
	for (Device *chip : buffer->device()->chips())
		if (chip->shm)
			chip->shm->record_allocation(
				OWN_PID, buffer->size(), (ShmBufferType)buffer->buffer_type(), (uint32_t)chip->id());
#else
	(void)buffer;
#endif
}

void GraphTracker::track_deallocate(Buffer *buffer)
{
	tell();
#if SINCE(100)
	for (Device *chip : buffer->device()->chips())
		if (chip->shm)
			chip->shm->record_deallocation(
				OWN_PID, buffer->size(), (ShmBufferType)buffer->buffer_type(), (uint32_t)chip->id());
#else
	(void)buffer;
#endif
}

void GraphTracker::track_allocate_cb(const CoreRangeSet &, uint64_t, uint64_t, bool, const IDevice *)
{
	tell();
}

#if SINCE(100)
void GraphTracker::track_allocate_dataflow_buffer(const CoreRangeSet &, uint64_t, uint64_t, bool, const IDevice *)
{
	tell();
}

void GraphTracker::track_allocate_scratchpad(const CoreRangeSet &, uint64_t, uint64_t, const IDevice *)
{
	tell();
}
#endif

void GraphTracker::track_deallocate_cb(const IDevice *)
{
	tell();
}

void GraphTracker::track_program(Program *, const IDevice *)
{
	tell();
}

#if SINCE(100)
SharedMemoryStatsProvider::SharedMemoryStatsProvider(uint64_t asic_id, int device_id, bool, bool)
    : asic_id_(asic_id), device_id_(device_id)
{
	tell();
}

SharedMemoryStatsProvider::~SharedMemoryStatsProvider()
{
	tell();
}

void SharedMemoryStatsProvider::record_allocation(pid_t, uint64_t, ShmBufferType, uint32_t)
{
	tell();
}

void SharedMemoryStatsProvider::record_deallocation(pid_t, uint64_t, ShmBufferType, uint32_t)
{
	tell();
}

void SharedMemoryStatsProvider::update_from_allocator(const Device *, pid_t)
{
	tell();
}
#endif

#if SINCE(64)
void Inspector::program_created(const detail::ProgramImpl *) noexcept
{
	tell();
}

void Inspector::program_destroyed(const detail::ProgramImpl *) noexcept
{
	tell();
}

void Inspector::program_compile_started(const detail::ProgramImpl *, const IDevice *, BuildKey) noexcept
{
	tell();
}

void Inspector::program_compile_already_exists(const detail::ProgramImpl *, const IDevice *, BuildKey) noexcept
{
	tell();
}

void Inspector::program_kernel_compile_finished(
	const detail::ProgramImpl *, const IDevice *, const std::shared_ptr<Kernel> &, const JitBuildOptions &
#if SINCE(100)
	,
	const std::string &
#endif
	) noexcept
{
	tell();
}

void Inspector::program_compile_finished(const detail::ProgramImpl *, const IDevice *, BuildKey) noexcept
{
	tell();
}

void Inspector::mesh_device_created(const distributed::InspectedMesh *, std::optional<int>) noexcept
{
	tell();
}

void Inspector::mesh_device_destroyed(const distributed::InspectedMesh *) noexcept
{
	tell();
}

void Inspector::mesh_device_initialized(const distributed::InspectedMesh *) noexcept
{
	tell();
}

#if SINCE(100)
void Inspector::mesh_buffer_allocated(const distributed::MeshBuffer *) noexcept
{
	tell();
}

void Inspector::mesh_buffer_deallocated(const distributed::MeshBuffer *) noexcept
{
	tell();
}

void Inspector::release_trace(distributed::MeshTraceId) noexcept
{
	tell();
}

void Inspector::emit_debug_entry(const distributed::MeshWorkloadImpl *, uint64_t, std::string_view,
	std::vector<TensorSpec>, std::optional<distributed::MeshTraceId>) noexcept
{
	tell();
}
#elif SINCE(66)
void Inspector::mesh_workload_set_operation_name_and_parameters(
	const distributed::MeshWorkloadImpl *, std::string_view, std::string_view) noexcept
{
	tell();
}
#endif

void Inspector::mesh_workload_created(const distributed::MeshWorkloadImpl *) noexcept
{
	tell();
}

void Inspector::mesh_workload_destroyed(const distributed::MeshWorkloadImpl *) noexcept
{
	tell();
}

void Inspector::mesh_workload_add_program(
	const distributed::MeshWorkloadImpl *, const distributed::MeshCoordinateRange &, size_t) noexcept
{
	tell();
}
#endif
} // namespace tt::tt_metal
