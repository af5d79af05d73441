/* Chips, meshes of them, and the traces that are captured on a mesh. */
#include "runtime.hpp"

#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace tt::tt_metal
{
Device::Device(ChipId id, const AllocatorConfig &config) : id_(id), config_(config)
{
	chips_.push_back(this);
}

Device::~Device()
{
}

ARCH Device::arch() const
{
	return SAID(ARCH, config_.arch);
}

int Device::num_dram_channels() const
{
	return SAID(int, (int)config_.dram_banks);
}

uint32_t Device::l1_size_per_core() const
{
	return SAID(uint32_t, (uint32_t)config_.l1_size);
}

uint32_t Device::dram_size_per_channel() const
{
	return SAID(uint32_t, (uint32_t)config_.dram_size);
}

CoreCoord Device::grid_size() const
{
	return { SAID(size_t, config_.grid.x + 2), SAID(size_t, config_.grid.y + 2) };
}

CoreCoord Device::logical_grid_size() const
{
	return { SAID(size_t, config_.grid.x), SAID(size_t, config_.grid.y) };
}

CoreCoord Device::dram_grid_size() const
{
	return { SAID(size_t, config_.dram_banks), SAID(size_t, (size_t)1) };
}

std::optional<DeviceAddr> Device::lowest_occupied_compute_l1_address(std::span<const SubDeviceId>) const
{
	return real_allocator()->lowest_l1();
}

CoreCoord Device::compute_with_storage_grid_size() const
{
	return { SAID(size_t, config_.grid.x), SAID(size_t, config_.grid.y) };
}

#if SINCE(66)
const std::unique_ptr<Allocator> &Device::allocator() const
{
	return allocator_->view();
}

const std::unique_ptr<AllocatorImpl> &Device::allocator_impl() const
{
	return allocator_;
}
#else
const std::unique_ptr<Allocator> &Device::allocator() const
{
	return allocator_;
}
#endif

bool Device::initialize(
	uint8_t, size_t l1_small_size, size_t trace_region_size, size_t, std::span<const uint32_t>, bool)
{
	config_.l1_small = l1_small_size;
	config_.trace_region = trace_region_size;
	allocator_ = std::make_unique<L1BankingAllocator>(config_);
#if SINCE(100)
	shm = std::make_unique<SharedMemoryStatsProvider>((uint64_t)id_ << 32, id_, false, false);
#endif
	return true;
}

bool Device::close()
{
	if (!allocator_)
		return false;
	allocator_.reset();
#if SINCE(100)
	shm.reset();
#endif
	return true;
}

#if SINCE(100)
void Device::register_program(detail::ProgramImpl *)
{
	if (shm)
		shm->update_from_allocator(this, getpid());
}

void Device::unregister_program(detail::ProgramImpl *)
{
	if (shm)
		shm->update_from_allocator(this, getpid());
}
#endif

namespace hal
{
uint32_t get_l1_size()
{
	return 1499136;
}

uint32_t get_max_worker_l1_unreserved_size()
{
	return 1499136 - 105664;
}
} // namespace hal

namespace distributed
{
#if SINCE(66)
#define INSPECTED(mesh) ((mesh)->pimpl_.get())
#else
#define INSPECTED(mesh) (mesh)
#endif

static std::atomic<int> next_mesh_id{ 1 };

MeshDevice::MeshDevice() : pimpl_(std::make_unique<MeshDeviceImpl>()), id_(next_mesh_id++)
{
	pimpl_->mesh = this;
}

MeshDevice::~MeshDevice()
{
#if SINCE(64)
	Inspector::mesh_device_destroyed(INSPECTED(this));
#endif
	pimpl_->close_impl(this);
}

/* Also tries the firmware of each chip on threads of its own, with an allocator that lives for a moment. */
static void try_chips(const AllocatorConfig &config, size_t count)
{
	std::vector<std::thread> threads;
	for (size_t i = 0; i < count; i++)
		threads.emplace_back([&config] { L1BankingAllocator for_a_moment(config); });
	for (std::thread &thread : threads)
		thread.join();
}

static void begin(MeshDevice *mesh, const AllocatorConfig &config, std::optional<int> parent)
{
#if SINCE(64)
	Inspector::mesh_device_created(INSPECTED(mesh), parent);
#else
	(void)parent;
#endif
	mesh->know_chips();
	mesh->pimpl_->allocator = std::make_unique<L1BankingAllocator>(config);
#if SINCE(64)
	Inspector::mesh_device_initialized(INSPECTED(mesh));
#endif
}

std::shared_ptr<MeshDevice> MeshDevice::create(unsigned rows, unsigned columns, const AllocatorConfig &config)
{
	try_chips(config, (size_t)rows * columns);
	auto mesh = std::make_shared<MeshDevice>();
	mesh->pimpl_->rows = rows;
	mesh->pimpl_->columns = columns;
	for (unsigned i = 0; i < rows * columns; i++) {
		auto chip = std::make_shared<Device>((int)i, config);
		chip->initialize(1, config.l1_small, config.trace_region, 0, {}, false);
		mesh->pimpl_->devices.push_back(chip);
	}
	begin(mesh.get(), config, std::nullopt);
	return mesh;
}

std::shared_ptr<MeshDevice> MeshDevice::create_submesh(unsigned rows, unsigned columns)
{
	if (rows > pimpl_->rows || columns > pimpl_->columns)
		throw std::runtime_error("Submesh shape is larger than the mesh");
	auto mesh = std::make_shared<MeshDevice>();
	mesh->pimpl_->rows = rows;
	mesh->pimpl_->columns = columns;
	mesh->pimpl_->parent = shared_from_this();
	for (unsigned row = 0; row < rows; row++)
		for (unsigned column = 0; column < columns; column++)
			mesh->pimpl_->devices.push_back(pimpl_->devices[row * pimpl_->columns + column]);
	begin(mesh.get(), pimpl_->allocator->config(), id_);
	return mesh;
}

bool MeshDeviceImpl::close_impl(MeshDevice *)
{
	traces.clear();
	if (!allocator)
		return false;
	allocator->deallocate_buffers();
	allocator->clear();
	allocator.reset();
	if (!parent)
		for (size_t i = devices.size(); i-- > 0;)
			devices[i]->close();
	return true;
}

bool MeshDevice::close()
{
	return pimpl_->close_impl(this);
}

AllocatorImpl *MeshDevice::real_allocator() const
{
	return pimpl_->allocator.get();
}

void MeshDevice::know_chips()
{
	for (const auto &device : pimpl_->devices)
		chips_.push_back(device.get());
}

ARCH MeshDevice::arch() const
{
	return pimpl_->devices.front()->arch();
}

int MeshDevice::id() const
{
	return SAID(int, id_);
}

ChipId MeshDevice::build_id() const
{
	return pimpl_->devices.front()->build_id();
}

uint8_t MeshDevice::num_hw_cqs() const
{
	return 1;
}

bool MeshDevice::is_initialized() const
{
	return pimpl_->allocator != nullptr;
}

int MeshDevice::num_dram_channels() const
{
	return (int)num_devices() * pimpl_->devices.front()->num_dram_channels();
}

uint32_t MeshDevice::l1_size_per_core() const
{
	return pimpl_->devices.front()->l1_size_per_core();
}

uint32_t MeshDevice::dram_size_per_channel() const
{
	return pimpl_->devices.front()->dram_size_per_channel();
}

CoreCoord MeshDevice::grid_size() const
{
	return pimpl_->devices.front()->grid_size();
}

CoreCoord MeshDevice::logical_grid_size() const
{
	return pimpl_->devices.front()->logical_grid_size();
}

CoreCoord MeshDevice::dram_grid_size() const
{
	return pimpl_->devices.front()->dram_grid_size();
}

std::optional<DeviceAddr> MeshDevice::lowest_occupied_compute_l1_address(std::span<const SubDeviceId>) const
{
	return real_allocator()->lowest_l1();
}

CoreCoord MeshDevice::compute_with_storage_grid_size() const
{
	return pimpl_->devices.front()->compute_with_storage_grid_size();
}

#if SINCE(66)
const std::unique_ptr<Allocator> &MeshDevice::allocator() const
{
	return pimpl_->allocator->view();
}

const std::unique_ptr<AllocatorImpl> &MeshDevice::allocator_impl() const
{
	return pimpl_->allocator;
}
#else
const std::unique_ptr<Allocator> &MeshDevice::allocator() const
{
	return pimpl_->allocator;
}
#endif

std::vector<IDevice *> MeshDevice::get_devices() const
{
	std::vector<IDevice *> devices;
	for (const auto &device : pimpl_->devices)
		devices.push_back(device.get());
	(void)SAID_OF(devices);
	return devices;
}

std::vector<int> MeshDevice::get_device_ids() const
{
	std::vector<int> ids;
	for (const auto &device : pimpl_->devices)
		ids.push_back(device->id());
	(void)SAID_OF(ids);
	return ids;
}

size_t MeshDevice::num_devices() const
{
	return SAID(size_t, pimpl_->devices.size());
}

size_t MeshDevice::num_rows() const
{
	return SAID(size_t, (size_t)pimpl_->rows);
}

size_t MeshDevice::num_cols() const
{
	return SAID(size_t, (size_t)pimpl_->columns);
}

MeshTraceId MeshTrace::next_id()
{
	static std::atomic<uint32_t> next{ 0 };
	return MeshTraceId(next++);
}

/* What was captured goes into a buffer of the trace region. */
static std::shared_ptr<MeshBuffer> keep_trace(MeshDevice *mesh)
{
	return std::make_shared<MeshBuffer>(mesh, 1024, 1024, BufferType::TRACE, nullptr);
}

#if SINCE(100)
void MeshDeviceImpl::begin_mesh_trace(uint8_t, const MeshTraceId &id)
{
	traces[*id] = nullptr;
}

void MeshDeviceImpl::end_mesh_trace(uint8_t, const MeshTraceId &id)
{
	traces[*id] = keep_trace(mesh);
	allocator->register_active_trace(*id);
}

void MeshDeviceImpl::release_mesh_trace(const MeshTraceId &id)
{
	traces.erase(*id);
	Inspector::release_trace(id);
	allocator->unregister_active_trace(*id);
}

MeshTraceId MeshDevice::begin_mesh_trace(MeshCommandQueue &queue)
{
	MeshTraceId id = MeshTrace::next_id();
	pimpl_->begin_mesh_trace((uint8_t)queue.number, id);
	return id;
}

void MeshDevice::end_mesh_trace(MeshCommandQueue &queue, const MeshTraceId &id)
{
	pimpl_->end_mesh_trace((uint8_t)queue.number, id);
}

void MeshDevice::replay_mesh_trace(MeshCommandQueue &, const MeshTraceId &id, bool)
{
	pimpl_->traces.at(*id);
}

void MeshDevice::release_mesh_trace(const MeshTraceId &id)
{
	pimpl_->release_mesh_trace(id);
}
#else
#if SINCE(64)
MeshTraceId MeshDevice::begin_mesh_trace(uint8_t queue)
{
	MeshTraceId id = MeshTrace::next_id();
	begin_mesh_trace(queue, id);
	return id;
}
#endif

void MeshDevice::begin_mesh_trace(uint8_t, const MeshTraceId &id)
{
	pimpl_->traces[*id] = nullptr;
	pimpl_->allocator->mark_allocations_safe();
}

void MeshDevice::end_mesh_trace(uint8_t, const MeshTraceId &id)
{
	pimpl_->traces[*id] = keep_trace(this);
	pimpl_->allocator->mark_allocations_unsafe();
}

void MeshDevice::replay_mesh_trace(uint8_t, const MeshTraceId &id, bool)
{
	pimpl_->traces.at(*id);
}

void MeshDevice::release_mesh_trace(const MeshTraceId &id)
{
	pimpl_->traces.erase(*id);
	if (pimpl_->traces.empty())
		pimpl_->allocator->mark_allocations_safe();
}
#endif
} // namespace distributed

#if SINCE(100)
namespace experimental
{
PinnedMemory::PinnedMemory(const std::vector<IDevice *> &, void *host, size_t, bool) : impl(host)
{
}

PinnedMemory::~PinnedMemory()
{
	impl = nullptr;
}
} // namespace experimental
#endif
} // namespace tt::tt_metal
