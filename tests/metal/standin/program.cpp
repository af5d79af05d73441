/* Programs: their circular buffers, dataflow buffers and kernels. Nothing is compiled. */
#include "runtime.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

namespace tt::tt_metal
{
class JitBuildOptions
{
};

Kernel::Kernel(std::string name, uint32_t packed) : name_(std::move(name)), only_{ packed }
{
	all_.push_back(&only_);
}

const std::string &Kernel::get_full_kernel_name() const
{
	return *SAID_AT(const std::string *, &name_);
}

const std::vector<const ll_api::memory *> &Kernel::binaries(BuildKey) const
{
	return *SAID_AT(const std::vector<const ll_api::memory *> *, &all_);
}

uint32_t Kernel::get_binary_packed_size(IDevice *, int index) const
{
	return SAID(uint32_t, all_.at((size_t)index)->packed);
}

#if SINCE(100)
void Kernel::process_scratchpad_binding_handles(
	std::function<void(const std::string &name, uint32_t size, uint32_t word)> callback) const
{
	if (scratchpad != 0)
		callback("scratch", scratchpad, 0);
}
#endif

uint32_t CircularBufferImpl::address() const
{
	return SAID(uint32_t, (uint32_t)true_address);
}

namespace detail
{
static std::atomic<uint64_t> next_program_id{ 0 };

ProgramImpl::ProgramImpl() : id_(next_program_id++)
{
#if SINCE(64)
	Inspector::program_created(this);
#endif
}

#if SINCE(64)
ProgramImpl::~ProgramImpl() noexcept
{
#if SINCE(100)
	deallocate_circular_buffers();
#endif
	Inspector::program_destroyed(this);
}
#endif

uint64_t ProgramImpl::get_id() const
{
	return SAID(uint64_t, id_);
}

#if SINCE(64)
std::span<const std::shared_ptr<CircularBufferImpl>> ProgramImpl::circular_buffers() const
{
	return { SAID_AT(const std::shared_ptr<CircularBufferImpl> *, cbs.data()), SAID(size_t, cbs.size()) };
}
#else
const std::vector<std::shared_ptr<CircularBufferImpl>> &ProgramImpl::circular_buffers() const
{
	return cbs;
}
#endif

void ProgramImpl::compile(IDevice *device, bool)
{
#if SINCE(64)
	static const JitBuildOptions options;
	if (is_compiled_) {
		Inspector::program_compile_already_exists(this, device, 7);
		return;
	}
	Inspector::program_compile_started(this, device, 7);
	auto finish = [&](const std::shared_ptr<Kernel> &kernel) {
#if SINCE(100)
		static const std::string root = "/tmp/kernels";
		Inspector::program_kernel_compile_finished(this, device, kernel, options, root);
#else
		Inspector::program_kernel_compile_finished(this, device, kernel, options);
#endif
	};
	std::vector<std::thread> threads;
	for (const auto &kernel : kernels)
		threads.emplace_back(finish, kernel);
	for (std::thread &thread : threads)
		thread.join();
	Inspector::program_compile_finished(this, device, 7);
#else
	(void)device;
#endif
	is_compiled_ = true;
}

/* The first address that is above everything of this program on these cores. */
uint64_t ProgramImpl::place(const CoreRangeSet &cores, uint64_t size, uint64_t base)
{
	uint64_t address = base;
	for (const CoreRange &range : cores.list)
		for (const auto &[taken, end] : ends_)
			if (taken.intersects(range))
				address = std::max(address, end);
	for (const CoreRange &range : cores.list)
		ends_.emplace_back(range, address + size);
	return address;
}

void ProgramImpl::allocate_circular_buffers(const IDevice *device)
{
	if (are_cbs_placed_)
		return;
	ends_.clear();
	[[maybe_unused]] const std::vector<Device *> &chips = device->chips();
	for (const auto &cb : cbs) {
		cb->true_address = cb->global ? cb->global->address()
					      : place(cb->cores, cb->size, device->real_allocator()->config().l1_base);
#if SINCE(100)
		for (Device *chip : chips)
			GraphTracker::instance().track_allocate_cb(
				cb->cores, cb->true_address, cb->size, cb->global != nullptr, chip);
#else
		GraphTracker::instance().track_allocate_cb(
			cb->cores, cb->true_address, cb->size, cb->global != nullptr, device);
#endif
	}
#if SINCE(100)
	if (!cbs.empty() && told_chips_.empty())
		for (Device *chip : chips) {
			told_chips_.push_back(chip);
			chip->register_program(this);
		}
#endif
	are_cbs_placed_ = true;
}

void ProgramImpl::validate_circular_buffer_region(const IDevice *device)
{
	std::optional<Address> lowest = device->lowest_occupied_compute_l1_address({});
	Address l1_size = device->l1_size_per_core();
	auto last = std::max_element(
		ends_.begin(), ends_.end(), [](const auto &a, const auto &b) { return a.second < b.second; });
	if (last == ends_.end())
		return;
	const auto &[cores, end] = *last;
	if (end > l1_size)
		throw std::runtime_error("Statically allocated circular buffers on core range " + cores.str() +
					 " grow to " + std::to_string(end) + " B which is beyond max L1 size of " +
					 std::to_string(l1_size) + " B");
	if (lowest && *lowest < end)
		throw std::runtime_error("Statically allocated circular buffers in program " + std::to_string(id_) +
					 " clash with L1 buffers on core range " + cores.str() +
					 ". L1 buffer allocated at " + std::to_string(*lowest) +
					 " and static circular buffer region ends at " + std::to_string(end));
}

void ProgramImpl::CircularBufferAllocator::mark_address(uint64_t address, uint64_t size, uint64_t)
{
	taken.emplace_back(address, address + size);
}

void ProgramImpl::invalidate_circular_buffer_allocation()
{
	are_cbs_placed_ = false;
	are_dfbs_placed_ = false;
}

#if SINCE(100)
const std::vector<std::shared_ptr<experimental::dfb::detail::DataflowBufferImpl>> &ProgramImpl::dataflow_buffers() const
{
	return *SAID_AT(const std::vector<std::shared_ptr<experimental::dfb::detail::DataflowBufferImpl>> *, &dfbs);
}

void ProgramImpl::deallocate_circular_buffers()
{
	for (size_t i = told_chips_.size(); i-- > 0;)
		GraphTracker::instance().track_deallocate_cb(told_chips_[i]);
	for (size_t i = told_chips_.size(); i-- > 0;)
		told_chips_[i]->unregister_program(this);
	told_chips_.clear();
}

void ProgramImpl::allocate_dataflow_buffers(const IDevice *device)
{
	uint64_t base = device->real_allocator()->config().l1_base;
	if (are_dfbs_placed_)
		return;
	for (const auto &dfb : dfbs) {
		uint64_t size = (uint64_t)dfb->entry_bytes * dfb->entries;
		dfb->true_address = place(dfb->cores, size, base);
		for (const CoreRange &range : dfb->cores.list)
			CircularBufferAllocator{ range, {} }.mark_address(dfb->true_address, size, base);
	}
	are_dfbs_placed_ = true;
}

void ProgramImpl::allocate_scratchpads(const IDevice *device)
{
	if (scratchpad > 0 && !dfbs.empty() && prepared_on_ == nullptr)
		place(dfbs.front()->cores, scratchpad, device->real_allocator()->config().l1_base);
}

void ProgramImpl::validate_dataflow_buffer_region(const IDevice *)
{
}

void ProgramImpl::compile_and_allocate(IDevice *device, bool is_slow)
{
	if (!is_compiled_ || !are_cbs_placed_)
		compile(device, is_slow);
	if (!are_cbs_placed_)
		allocate_circular_buffers(device);
	validate_circular_buffer_region(device);
	if (!are_dfbs_placed_ || prepared_on_ != device) {
		allocate_dataflow_buffers(device);
		allocate_scratchpads(device);
		prepared_on_ = device;
	}
	validate_dataflow_buffer_region(device);
}
#endif

void ProgramImpl::prepare(IDevice *device)
{
#if SINCE(100)
	compile_and_allocate(device, false);
#else
	compile(device, false);
	allocate_circular_buffers(device);
	validate_circular_buffer_region(device);
#endif
}
} // namespace detail

Program::Program() : impl(std::make_shared<detail::ProgramImpl>())
{
}

uint64_t Program::get_id() const
{
	return impl->get_id();
}

#if !SINCE(64)
void Program::allocate_circular_buffers(const IDevice *device)
{
	impl->allocate_circular_buffers(device);
}

void Program::invalidate_circular_buffer_allocation()
{
	impl->invalidate_circular_buffer_allocation();
}
#endif

namespace distributed
{
MeshWorkloadImpl::MeshWorkloadImpl(std::shared_ptr<MeshDevice> on) : mesh(std::move(on))
{
#if SINCE(64)
	Inspector::mesh_workload_created(this);
#endif
}

MeshWorkloadImpl::~MeshWorkloadImpl()
{
#if SINCE(64)
	Inspector::mesh_workload_destroyed(this);
#endif
}

void MeshWorkloadImpl::join_program()
{
#if SINCE(64)
	Inspector::mesh_workload_add_program(this, MeshCoordinateRange{}, program->get_id());
#endif
	Program moved_from; /* moving a program makes another that uses up an id */
	is_added = true;
}

void MeshWorkloadImpl::compile(MeshDevice *on)
{
	program->impl->prepare(on);
}

void MeshWorkloadImpl::load_binaries(MeshCommandQueue &queue)
{
	queue.number = 0;
}

void EnqueueMeshWorkload(MeshCommandQueue &queue, MeshWorkload &workload, bool)
{
	workload.impl->compile(workload.impl->mesh.get());
	workload.impl->load_binaries(queue);
}
} // namespace distributed

namespace experimental::inspector
{
#if SINCE(100)
void EmitMeshWorkloadDebugEntry(distributed::MeshWorkload &workload, uint64_t run, std::string_view operation,
	std::vector<TensorSpec> tensors, std::optional<distributed::TraceId> trace)
{
	(void)workload, (void)run, (void)operation, (void)tensors, (void)trace;
}
#elif SINCE(66)
void EmitMeshWorkloadAnnotation(
	distributed::MeshWorkload &workload, std::string_view operation, std::string_view parameters)
{
	(void)workload, (void)operation, (void)parameters;
}
#endif
} // namespace experimental::inspector
} // namespace tt::tt_metal
