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

/* Of each thread, or of all in older releases, which do not lock it. */
#if SINCE(100)
thread_local
#else
static
#endif
	std::vector<std::shared_ptr<IGraphProcessor>>
		listeners;

void GraphTracker::push_processor(const std::shared_ptr<IGraphProcessor> &processor)
{
	listeners.push_back(processor);
}

void GraphTracker::pop_processor()
{
	listeners.pop_back();
}

const std::vector<std::shared_ptr<IGraphProcessor>> &GraphTracker::get_processors() const
{
	return listeners;
}

const std::shared_ptr<IGraphHooks> &GraphTracker::get_hook() const
{
	static const std::shared_ptr<IGraphHooks> none;
	return none;
}

bool GraphTracker::hook_allocate(const Buffer *)
{
	tell();
	return false;
}

void GraphTracker::track_allocate(const Buffer *buffer)
{
	tell();
	for (const auto &listener : listeners)
		listener->track_allocate(buffer);
#if SINCE(100)
	for (Device *chip : buffer->device()->chips())
		if (chip->shm)
			chip->shm->record_allocation(
				OWN_PID, buffer->size(), (ShmBufferType)buffer->buffer_type(), (uint32_t)chip->id());
#endif
}

void GraphTracker::track_deallocate(Buffer *buffer)
{
	tell();
	for (const auto &listener : listeners)
		listener->track_deallocate(buffer);
#if SINCE(100)
	for (Device *chip : buffer->device()->chips())
		if (chip->shm)
			chip->shm->record_deallocation(
				OWN_PID, buffer->size(), (ShmBufferType)buffer->buffer_type(), (uint32_t)chip->id());
#endif
}

void GraphTracker::track_allocate_cb(
	const CoreRangeSet &cores, uint64_t address, uint64_t size, bool is_view, const IDevice *device)
{
	tell();
	for (const auto &listener : listeners)
		listener->track_allocate_cb(cores, address, size, is_view, device);
}

#if SINCE(100)
void GraphTracker::track_allocate_dataflow_buffer(
	const CoreRangeSet &cores, uint64_t address, uint64_t size, bool is_view, const IDevice *device)
{
	tell();
	for (const auto &listener : listeners)
		listener->track_allocate_dataflow_buffer(cores, address, size, is_view, device);
}

void GraphTracker::track_allocate_scratchpad(
	const CoreRangeSet &cores, uint64_t address, uint64_t size, const IDevice *device)
{
	tell();
	for (const auto &listener : listeners)
		listener->track_allocate_scratchpad(cores, address, size, device);
}
#endif

void GraphTracker::track_deallocate_cb(const IDevice *device)
{
	tell();
	for (const auto &listener : listeners)
		listener->track_deallocate_cb(device);
}

void GraphTracker::track_program(Program *program, const IDevice *device)
{
	tell();
	for (const auto &listener : listeners)
		listener->track_program(program, device);
}

#if SINCE(100)
SharedMemoryStatsProvider::SharedMemoryStatsProvider(uint64_t unique, int number, bool, bool)
    : unique_(unique), number_(number)
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

void Inspector::release_trace(distributed::TraceId) noexcept
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
