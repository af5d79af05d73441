/* Programs, their circular buffers and kernels, and how they are enqueued. */
#ifndef STANDIN_WORKLOADS_HPP
#define STANDIN_WORKLOADS_HPP

#include "devices.hpp"

namespace tt::tt_metal
{
#if SINCE(66)
using BuildKey = uint64_t;
#else
using BuildKey = uint32_t;
#endif

class TensorSpec
{
	[[maybe_unused]] int content = 0;
};

class Kernel
{
      public:
	Kernel(std::string name, uint32_t packed);
	virtual ~Kernel() = default;
	virtual const std::string &get_full_kernel_name() const;
	const std::vector<const ll_api::memory *> &binaries(BuildKey key) const;
	uint32_t get_binary_packed_size(IDevice *device, int index) const;
#if SINCE(100)
	void process_scratchpad_binding_handles(
		std::function<void(const std::string &name, uint32_t size, uint32_t word)> callback) const;
	uint32_t scratchpad = 0;
#endif

      private:
	std::string name_;
	ll_api::memory only_;
	std::vector<const ll_api::memory *> all_;
};

class CircularBufferImpl
{
      public:
	uint32_t address() const;

	uintptr_t id;
	CoreRangeSet cores;
	uint64_t size;
	std::shared_ptr<Buffer> global; /* the buffer whose memory it uses, or none */
	uint64_t true_address = 0;
};

namespace experimental::dfb::detail
{
struct DataflowBufferImpl {
	uint32_t id;
	int context;
	uint32_t slot;
	CoreRangeSet cores;
	uint32_t entry_bytes, entries;
	uint64_t true_address = 0;
};
} // namespace experimental::dfb::detail

namespace detail
{
class ProgramImpl : public std::enable_shared_from_this<ProgramImpl>
{
      public:
	ProgramImpl();
#if SINCE(64)
	~ProgramImpl() noexcept;
#endif
	uint64_t get_id() const;
#if SINCE(64)
	std::span<const std::shared_ptr<CircularBufferImpl>> circular_buffers() const;
#else
	const std::vector<std::shared_ptr<CircularBufferImpl>> &circular_buffers() const;
#endif
#if SINCE(100)
	const std::vector<std::shared_ptr<experimental::dfb::detail::DataflowBufferImpl>> &dataflow_buffers() const;
	void compile_and_allocate(IDevice *device, bool is_slow);
	void deallocate_circular_buffers();
	void allocate_dataflow_buffers(const IDevice *device);
	void allocate_scratchpads(const IDevice *device);
	void validate_dataflow_buffer_region(const IDevice *device);
#endif
	void compile(IDevice *device, bool is_slow);
	void allocate_circular_buffers(const IDevice *device);
	void validate_circular_buffer_region(const IDevice *device);
	void invalidate_circular_buffer_allocation();
	struct CircularBufferAllocator {
		CoreRange cores;
		std::vector<std::pair<uint64_t, uint64_t>> taken;
		void mark_address(uint64_t address, uint64_t size, uint64_t base);
	};
	/* Ours: what an enqueue does with a program. */
	void prepare(IDevice *device);

	std::vector<std::shared_ptr<CircularBufferImpl>> cbs;
	std::vector<std::shared_ptr<experimental::dfb::detail::DataflowBufferImpl>> dfbs;
	std::vector<std::shared_ptr<Kernel>> kernels;
	uint64_t scratchpad = 0;

      private:
	uint64_t place(const CoreRangeSet &cores, uint64_t size, uint64_t base);

	uint64_t id_;
	bool is_compiled_ = false, are_cbs_placed_ = false, are_dfbs_placed_ = false;
	const IDevice *prepared_on_ = nullptr;
	std::vector<Device *> told_chips_;
	std::vector<std::pair<CoreRange, uint64_t>> ends_; /* how far each range of cores is taken */
};
} // namespace detail

class Program
{
      public:
	Program();
	uint64_t get_id() const;
#if !SINCE(64)
	void allocate_circular_buffers(const IDevice *device);
	void invalidate_circular_buffer_allocation();
#endif
	std::shared_ptr<detail::ProgramImpl> impl;
};

namespace distributed
{
class MeshWorkloadImpl
{
      public:
	explicit MeshWorkloadImpl(std::shared_ptr<MeshDevice> on);
	~MeshWorkloadImpl();
	void join_program();
	void compile(MeshDevice *mesh);
	void load_binaries(MeshCommandQueue &queue);

	std::shared_ptr<MeshDevice> mesh;
	std::optional<Program> program;
	std::string operation;
	bool is_added = false;
};

class MeshWorkload
{
      public:
	MeshWorkloadImpl *impl;
};

void EnqueueMeshWorkload(MeshCommandQueue &queue, MeshWorkload &workload, bool is_blocking);
} // namespace distributed

namespace experimental::inspector
{
#if SINCE(100)
void EmitMeshWorkloadDebugEntry(distributed::MeshWorkload &workload, uint64_t run, std::string_view operation,
	std::vector<TensorSpec> tensors, std::optional<distributed::TraceId> trace);
#elif SINCE(66)
void EmitMeshWorkloadAnnotation(
	distributed::MeshWorkload &workload, std::string_view operation, std::string_view parameters);
#endif
} // namespace experimental::inspector
} // namespace tt::tt_metal

#endif
