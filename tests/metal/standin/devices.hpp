/* Chips, meshes of them with their buffers, and pinned memory. */
#ifndef STANDIN_DEVICES_HPP
#define STANDIN_DEVICES_HPP

#include "memory.hpp"

namespace tt::tt_metal
{
class IDevice
{
      public:
	virtual ~IDevice() = default;
	virtual std::optional<Address> lowest_occupied_compute_l1_address(std::span<const SubDevice> on) const = 0;
	virtual Arch arch() const = 0;
	virtual int id() const = 0;
	virtual bool is_open() const = 0;
	virtual int num_dram_channels() const = 0;
	virtual uint32_t l1_size_per_core() const = 0;
	virtual CoreCoord compute_with_storage_grid_size() const = 0;
	virtual const std::unique_ptr<Allocator> &allocator() const = 0;
	virtual bool close() = 0;

	/* Ours. */
	virtual AllocatorImpl *real_allocator() const = 0;
	const std::vector<Device *> &chips() const
	{
		return chips_;
	}

      protected:
	std::vector<Device *> chips_;
};

#if SINCE(100)
enum class ShmBufferType : uint8_t {};
class SharedMemoryStatsProvider
{
      public:
	SharedMemoryStatsProvider(uint64_t unique, int number, bool is_disabled, bool is_verbose);
	~SharedMemoryStatsProvider();
	void record_allocation(pid_t pid, uint64_t size, ShmBufferType type, uint32_t chip);
	void record_deallocation(pid_t pid, uint64_t size, ShmBufferType type, uint32_t chip);
	void update_from_allocator(const Device *device, pid_t pid);

      private:
	[[maybe_unused]] uint64_t unique_;
	[[maybe_unused]] int number_;
};
#endif

class Device : public IDevice
{
      public:
	Device(int id, const AllocatorConfig &config);
	~Device() override;
	std::optional<Address> lowest_occupied_compute_l1_address(std::span<const SubDevice> on) const override;
	Arch arch() const override;
	int id() const override
	{
		return id_;
	}
	bool is_open() const override
	{
		return memory_ != nullptr;
	}
	int num_dram_channels() const override;
	uint32_t l1_size_per_core() const override;
	CoreCoord compute_with_storage_grid_size() const override;
	const std::unique_ptr<Allocator> &allocator() const override;
	bool initialize(uint8_t queues, size_t l1_small, size_t traces, size_t l1, std::span<const uint32_t> remap,
		bool is_minimal);
	bool close() override;
#if SINCE(100)
	void register_program(detail::ProgramImpl *program);
	void unregister_program(detail::ProgramImpl *program);
	std::unique_ptr<SharedMemoryStatsProvider> shm;
#endif
	AllocatorImpl *real_allocator() const override
	{
		return memory_.get();
	}

      private:
	int id_;
	AllocatorConfig card_;
	std::unique_ptr<AllocatorImpl> memory_;
};

namespace distributed
{
class MeshCommandQueue
{
      public:
	int number = 0;
};

class MeshCoordinateRange
{
};

TraceId next_trace();

class MeshDeviceImpl
{
      public:
#if SINCE(66)
	virtual ~MeshDeviceImpl();
	virtual const std::unique_ptr<Allocator> &allocator() const;
	std::vector<IDevice *> get_devices() const;
	std::vector<int> get_device_ids() const;
#endif
#if SINCE(100)
	void begin_mesh_trace(uint8_t cq, const TraceId &id);
	void end_mesh_trace(uint8_t cq, const TraceId &id);
	void release_mesh_trace(const TraceId &id);
#endif
	bool close_impl(MeshDevice *mesh);

	MeshDevice *mesh;
	unsigned rows, columns;
	std::vector<std::shared_ptr<Device>> devices;
	std::unique_ptr<AllocatorImpl> own_allocator;
	MeshCommandQueue queue;
	std::map<uint32_t, std::shared_ptr<MeshBuffer>> traces;
	std::shared_ptr<MeshDevice> parent;
};

class MeshDevice : public IDevice, public std::enable_shared_from_this<MeshDevice>
{
      public:
	MeshDevice();
	~MeshDevice() override;
	std::optional<Address> lowest_occupied_compute_l1_address(std::span<const SubDevice> on) const override;
	Arch arch() const override;
	int id() const override;
	bool is_open() const override;
	int num_dram_channels() const override;
	uint32_t l1_size_per_core() const override;
	CoreCoord compute_with_storage_grid_size() const override;
	const std::unique_ptr<Allocator> &allocator() const override;
	bool close() override;
	std::vector<IDevice *> get_devices() const;
	std::vector<int> get_device_ids() const;
#if SINCE(100)
	TraceId begin_mesh_trace(MeshCommandQueue &queue);
	void end_mesh_trace(MeshCommandQueue &queue, const TraceId &id);
	void replay_mesh_trace(MeshCommandQueue &queue, const TraceId &id, bool is_blocking);
#else
#if SINCE(64)
	TraceId begin_mesh_trace(uint8_t queue);
#endif
	void begin_mesh_trace(uint8_t queue, const TraceId &id);
	void end_mesh_trace(uint8_t queue, const TraceId &id);
	void replay_mesh_trace(uint8_t queue, const TraceId &id, bool is_blocking);
#endif
	void release_mesh_trace(const TraceId &id);

	static std::shared_ptr<MeshDevice> create(unsigned rows, unsigned columns, const AllocatorConfig &config);
	std::shared_ptr<MeshDevice> submesh(unsigned rows, unsigned columns);
	AllocatorImpl *real_allocator() const override;
	void know_chips(); /* after its devices were found */
	std::unique_ptr<MeshDeviceImpl> inner;

      private:
	int id_;
};

class MeshBuffer
{
      public:
	MeshBuffer(MeshDevice *on, Address size, Address page_size, BufferType type, const CoreRangeSet *shards);
	~MeshBuffer();
	void deallocate();

	std::weak_ptr<MeshDevice> mesh;
	std::shared_ptr<Buffer> backing;
	std::vector<std::shared_ptr<Buffer>> buffers; /* of each chip, at the address of the backing buffer */
};
} // namespace distributed

#if SINCE(100)
namespace experimental
{
class PinnedMemoryImpl
{
      public:
	void *host;
	size_t size;
};

class PinnedMemory
{
      public:
	PinnedMemory(const std::vector<IDevice *> &devices, void *host, size_t size, bool is_mapped);
	PinnedMemory(PinnedMemory &&other) noexcept;
	PinnedMemory &operator=(PinnedMemory &&other) noexcept;
	~PinnedMemory();

      private:
	std::unique_ptr<PinnedMemoryImpl> impl;
};
} // namespace experimental
#endif
} // namespace tt::tt_metal

#endif
