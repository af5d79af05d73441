/* Who is told what happens: the graph tracker with its processors, and the inspector. */
#ifndef STANDIN_TOLD_HPP
#define STANDIN_TOLD_HPP

#include "devices.hpp"

#if !SINCE(100)
#define FAKE_METAL_OLD
#endif
#include "../../cpp/metalium/graph_processor.hpp"

namespace tt::tt_metal
{
class GraphTracker
{
      public:
	static GraphTracker &instance();
	void push_processor(const std::shared_ptr<IGraphProcessor> &processor);
	void pop_processor();
	const std::vector<std::shared_ptr<IGraphProcessor>> &get_processors() const;
	const std::shared_ptr<IGraphHooks> &get_hook() const;
	bool hook_allocate(const Buffer *buffer);
	void track_allocate(const Buffer *buffer);
	void track_deallocate(Buffer *buffer);
	void track_allocate_cb(
		const CoreRangeSet &cores, uint64_t address, uint64_t size, bool is_view, const IDevice *device);
#if SINCE(100)
	void track_allocate_dataflow_buffer(
		const CoreRangeSet &cores, uint64_t address, uint64_t size, bool is_view, const IDevice *device);
	void track_allocate_scratchpad(
		const CoreRangeSet &cores, uint64_t address, uint64_t size, const IDevice *device);
#endif
	void track_deallocate_cb(const IDevice *device);
	void track_program(Program *program, const IDevice *device);
};

#if SINCE(64)
class Inspector
{
      public:
	static void program_created(const detail::ProgramImpl *program) noexcept;
	static void program_destroyed(const detail::ProgramImpl *program) noexcept;
	static void program_compile_started(
		const detail::ProgramImpl *program, const IDevice *device, BuildKey key) noexcept;
	static void program_compile_already_exists(
		const detail::ProgramImpl *program, const IDevice *device, BuildKey key) noexcept;
#if SINCE(100)
	static void program_kernel_compile_finished(const detail::ProgramImpl *program, const IDevice *device,
		const std::shared_ptr<Kernel> &kernel, const JitBuildOptions &options,
		const std::string &root) noexcept;
#else
	static void program_kernel_compile_finished(const detail::ProgramImpl *program, const IDevice *device,
		const std::shared_ptr<Kernel> &kernel, const JitBuildOptions &options) noexcept;
#endif
	static void program_compile_finished(
		const detail::ProgramImpl *program, const IDevice *device, BuildKey key) noexcept;
	static void mesh_device_created(const distributed::InspectedMesh *mesh, std::optional<int> parent) noexcept;
	static void mesh_device_destroyed(const distributed::InspectedMesh *mesh) noexcept;
	static void mesh_device_initialized(const distributed::InspectedMesh *mesh) noexcept;
#if SINCE(100)
	static void mesh_buffer_allocated(const distributed::MeshBuffer *buffer) noexcept;
	static void mesh_buffer_deallocated(const distributed::MeshBuffer *buffer) noexcept;
	static void release_trace(distributed::TraceId trace) noexcept;
#endif
	static void mesh_workload_created(const distributed::MeshWorkloadImpl *workload) noexcept;
	static void mesh_workload_destroyed(const distributed::MeshWorkloadImpl *workload) noexcept;
	static void mesh_workload_add_program(const distributed::MeshWorkloadImpl *workload,
		const distributed::MeshCoordinateRange &range, size_t program) noexcept;
};
#endif
} // namespace tt::tt_metal

#endif
