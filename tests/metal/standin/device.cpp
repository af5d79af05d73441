/* Chips, meshes of them, and the traces that are captured on a mesh. */
#include "runtime.hpp"

#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace tt::tt_metal
{
Device::Device(int id, const AllocatorConfig &config) : id_(id), card_(config)
{
	chips_.push_back(this);
}

Device::~Device()
{
}

Arch Device::arch() const
{
	return SAID(Arch, card_.arch);
}

int Device::num_dram_channels() const
{
	return SAID(int, (int)card_.dram_banks);
}

uint32_t Device::l1_size_per_core() const
{
	return SAID(uint32_t, (uint32_t)card_.l1_size);
}

std::optional<Address> Device::lowest_occupied_compute_l1_address(std::span<const SubDevice>) const
{
	return real_allocator()->lowest_l1();
}

CoreCoord Device::compute_with_storage_grid_size() const
{
	return { SAID(size_t, card_.grid.x), SAID(size_t, card_.grid.y) };
}

#if SINCE(66)
const std::unique_ptr<Allocator> &Device::allocator() const
{
	return memory_->view();
}

#else
const std::unique_ptr<Allocator> &Device::allocator() const
{
	return memory_;
}
#endif

bool Device::initialize(uint8_t, size_t l1_small, size_t traces, size_t, std::span<const uint32_t>, bool)
{
	card_.l1_small = l1_small;
	card_.trace_region = traces;
	memory_ = std::make_unique<OwnAllocator>(card_);
#if SINCE(100)
	shm = std::make_unique<SharedMemoryStatsProvider>((uint64_t)id_ << 32, id_, false, false);
#endif
	return true;
}

bool Device::close()
{
	if (!memory_)
		return false;
	memory_.reset();
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

namespace distributed
{
#if SINCE(66)
#define INSPECTED(mesh) ((mesh)->inner.get())
#else
#define INSPECTED(mesh) (mesh)
#endif

static std::atomic<int> next_mesh{ 1 };

MeshDevice::MeshDevice() : inner(std::make_unique<MeshDeviceImpl>()), id_(next_mesh++)
{
	inner->mesh = this;
}

MeshDevice::~MeshDevice()
{
#if SINCE(64)
	Inspector::mesh_device_destroyed(INSPECTED(this));
#endif
	inner->close_impl(this);
}

/* Also tries the firmware of each chip on threads of its own, with an allocator that lives for a moment. */
static void try_chips(const AllocatorConfig &config, size_t count)
{
	std::vector<std::thread> threads;
	for (size_t i = 0; i < count; i++)
		threads.emplace_back([&config] { OwnAllocator for_a_moment(config); });
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
	mesh->inner->own_allocator = std::make_unique<OwnAllocator>(config);
#if SINCE(64)
	Inspector::mesh_device_initialized(INSPECTED(mesh));
#endif
}

std::shared_ptr<MeshDevice> MeshDevice::create(unsigned rows, unsigned columns, const AllocatorConfig &config)
{
	try_chips(config, (size_t)rows * columns);
	auto mesh = std::make_shared<MeshDevice>();
	mesh->inner->rows = rows;
	mesh->inner->columns = columns;
	for (unsigned i = 0; i < rows * columns; i++) {
		auto chip = std::make_shared<Device>((int)i, config);
		chip->initialize(1, config.l1_small, config.trace_region, 0, {}, false);
		mesh->inner->devices.push_back(chip);
	}
	begin(mesh.get(), config, std::nullopt);
	return mesh;
}

std::shared_ptr<MeshDevice> MeshDevice::submesh(unsigned rows, unsigned columns)
{
	if (rows > inner->rows || columns > inner->columns)
		throw std::runtime_error("Submesh shape is larger than the mesh");
	auto mesh = std::make_shared<MeshDevice>();
	mesh->inner->rows = rows;
	mesh->inner->columns = columns;
	mesh->inner->parent = shared_from_this();
	for (unsigned row = 0; row < rows; row++)
		for (unsigned column = 0; column < columns; column++)
			mesh->inner->devices.push_back(inner->devices[row * inner->columns + column]);
	begin(mesh.get(), inner->own_allocator->config(), id_);
	return mesh;
}

bool MeshDeviceImpl::close_impl(MeshDevice *)
{
	traces.clear();
	if (!own_allocator)
		return false;
	own_allocator->deallocate_buffers();
	own_allocator->clear();
	own_allocator.reset();
	if (!parent)
		for (size_t i = devices.size(); i-- > 0;)
			devices[i]->close();
	return true;
}

bool MeshDevice::close()
{
	return inner->close_impl(this);
}

AllocatorImpl *MeshDevice::real_allocator() const
{
	return inner->own_allocator.get();
}

void MeshDevice::know_chips()
{
	for (const auto &device : inner->devices)
		chips_.push_back(device.get());
}

Arch MeshDevice::arch() const
{
	return inner->devices.front()->arch();
}

int MeshDevice::id() const
{
	return SAID(int, id_);
}

bool MeshDevice::is_open() const
{
	return inner->own_allocator != nullptr;
}

int MeshDevice::num_dram_channels() const
{
	return (int)inner->devices.size() * inner->devices.front()->num_dram_channels();
}

uint32_t MeshDevice::l1_size_per_core() const
{
	return inner->devices.front()->l1_size_per_core();
}

std::optional<Address> MeshDevice::lowest_occupied_compute_l1_address(std::span<const SubDevice>) const
{
	return real_allocator()->lowest_l1();
}

CoreCoord MeshDevice::compute_with_storage_grid_size() const
{
	return inner->devices.front()->compute_with_storage_grid_size();
}

#if SINCE(66)
const std::unique_ptr<Allocator> &MeshDevice::allocator() const
{
	return inner->own_allocator->view();
}

#else
const std::unique_ptr<Allocator> &MeshDevice::allocator() const
{
	return inner->own_allocator;
}
#endif

static std::vector<IDevice *> devices_of(const MeshDeviceImpl &mesh)
{
	std::vector<IDevice *> devices;
	for (const auto &device : mesh.devices)
		devices.push_back(device.get());
	(void)SAID_OF(devices);
	return devices;
}

static std::vector<int> ids_of(const MeshDeviceImpl &mesh)
{
	std::vector<int> ids;
	for (const auto &device : mesh.devices)
		ids.push_back(device->id());
	(void)SAID_OF(ids);
	return ids;
}

std::vector<IDevice *> MeshDevice::get_devices() const
{
	return devices_of(*inner);
}

std::vector<int> MeshDevice::get_device_ids() const
{
	return ids_of(*inner);
}

#if SINCE(66)
MeshDeviceImpl::~MeshDeviceImpl() = default;

const std::unique_ptr<Allocator> &MeshDeviceImpl::allocator() const
{
	return own_allocator->view();
}

std::vector<IDevice *> MeshDeviceImpl::get_devices() const
{
	return devices_of(*this);
}

std::vector<int> MeshDeviceImpl::get_device_ids() const
{
	return ids_of(*this);
}
#endif

TraceId next_trace()
{
	static std::atomic<uint32_t> next{ 0 };
	return TraceId(next++);
}

/* What was captured goes into a buffer of the trace region. */
static std::shared_ptr<MeshBuffer> keep_trace(MeshDevice *mesh)
{
	return std::make_shared<MeshBuffer>(mesh, 1024, 1024, BufferType::TRACE, nullptr);
}

#if SINCE(100)
void MeshDeviceImpl::begin_mesh_trace(uint8_t, const TraceId &id)
{
	traces[*id] = nullptr;
}

void MeshDeviceImpl::end_mesh_trace(uint8_t, const TraceId &id)
{
	traces[*id] = keep_trace(mesh);
	own_allocator->register_active_trace(*id);
}

void MeshDeviceImpl::release_mesh_trace(const TraceId &id)
{
	traces.erase(*id);
	Inspector::release_trace(id);
	own_allocator->unregister_active_trace(*id);
}

TraceId MeshDevice::begin_mesh_trace(MeshCommandQueue &queue)
{
	TraceId id = next_trace();
	inner->begin_mesh_trace((uint8_t)queue.number, id);
	return id;
}

void MeshDevice::end_mesh_trace(MeshCommandQueue &queue, const TraceId &id)
{
	inner->end_mesh_trace((uint8_t)queue.number, id);
}

void MeshDevice::replay_mesh_trace(MeshCommandQueue &, const TraceId &id, bool)
{
	inner->traces.at(*id);
}

void MeshDevice::release_mesh_trace(const TraceId &id)
{
	inner->release_mesh_trace(id);
}
#else
#if SINCE(64)
TraceId MeshDevice::begin_mesh_trace(uint8_t queue)
{
	TraceId id = next_trace();
	begin_mesh_trace(queue, id);
	return id;
}
#endif

void MeshDevice::begin_mesh_trace(uint8_t, const TraceId &id)
{
	inner->traces[*id] = nullptr;
	inner->own_allocator->mark_allocations_safe();
}

void MeshDevice::end_mesh_trace(uint8_t, const TraceId &id)
{
	inner->traces[*id] = keep_trace(this);
	inner->own_allocator->mark_allocations_unsafe();
}

void MeshDevice::replay_mesh_trace(uint8_t, const TraceId &id, bool)
{
	inner->traces.at(*id);
}

void MeshDevice::release_mesh_trace(const TraceId &id)
{
	inner->traces.erase(*id);
	if (inner->traces.empty())
		inner->own_allocator->mark_allocations_safe();
}
#endif
} // namespace distributed

#if SINCE(100)
namespace experimental
{
PinnedMemory::PinnedMemory(const std::vector<IDevice *> &, void *host, size_t size, bool)
    : impl(std::make_unique<PinnedMemoryImpl>(PinnedMemoryImpl{ host, size }))
{
}

PinnedMemory::PinnedMemory(PinnedMemory &&) noexcept = default;
PinnedMemory &PinnedMemory::operator=(PinnedMemory &&) noexcept = default;
PinnedMemory::~PinnedMemory() = default;
} // namespace experimental
#endif
} // namespace tt::tt_metal
