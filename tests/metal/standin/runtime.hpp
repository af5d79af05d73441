/*
 * A stand-in for tt-metal's host library, for tests: classes whose members have the same mangled names, the same
 * layout where a hook may look, and the same order of calls, over a simple allocator that really gives addresses. No
 * device is needed, and nothing is computed. Names and arguments are those of tt-metal's declarations, because the
 * symbols come from them; the code is our own.
 *
 * STANDIN is the release that it looks like: 57, 64, 66, or 100 for today's. What differs is in this file.
 */
#ifndef STANDIN_RUNTIME_HPP
#define STANDIN_RUNTIME_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unordered_set>
#include <vector>

#ifndef STANDIN
#define STANDIN 100
#endif
#define SINCE(release) (STANDIN >= (release))

/* What an accessor says: the truth, or what a library says that was built otherwise than we think. */
#ifdef STANDIN_NONSENSE
uint64_t standin_nonsense(uint64_t truth);
void *standin_nonsense_pointer(const void *truth);
bool standin_nonsense_vector(void *vector); /* true: it has put something else there */
#define SAID(type, truth)    ((type)standin_nonsense((uint64_t)(truth)))
#define SAID_AT(type, truth) ((type)standin_nonsense_pointer(truth))
#define SAID_OF(vector)      standin_nonsense_vector(&(vector))
#else
#define SAID(type, truth)    (truth)
#define SAID_AT(type, truth) (truth)
#define SAID_OF(vector)      false
#endif

#if !SINCE(66)
#define AllocatorImpl Allocator /* one class, before it was split */
#endif
#if !SINCE(64)
#define ProgramImpl Program_
#endif
#if !SINCE(66)
#define CircularBufferImpl CircularBuffer
#endif

struct CoreCoord {
	size_t x, y;
};

#if SINCE(65)
namespace tt::tt_metal
{
#endif

class CoreRange
{
      public:
	CoreCoord start_coord, end_coord;
	CoreRange(const CoreCoord &start, const CoreCoord &end);
	bool intersects(const CoreRange &other) const;
	size_t size() const;
	std::string str() const;
};

class CoreRangeSet
{
      public:
	CoreRangeSet() = default;
	CoreRangeSet(const CoreRange &range);
	const std::vector<CoreRange> &ranges() const;
	uint32_t num_cores() const;

	std::vector<CoreRange> ranges_;
};

#if SINCE(65)
}
#endif

#if SINCE(64)
namespace ttsl
#else
namespace tt::stl
#endif
{
template <typename T, typename Tag> class StrongType
{
      public:
	explicit StrongType(T value) : value_(value)
	{
	}
	const T &operator*() const
	{
		return value_;
	}

      private:
	T value_;
};
}

namespace ll_api
{
class memory
{
      public:
	uint32_t packed, text;
};
} // namespace ll_api

namespace tt
{
enum class ARCH { Invalid = 0, GRAYSKULL = 1, WORMHOLE_B0 = 2, BLACKHOLE = 3, QUASAR = 4 };

namespace tt_metal
{
using DeviceAddr = uint64_t;
using ChipId = int;
enum class BufferType { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };
enum class TensorMemoryLayout { INTERLEAVED = 0, HEIGHT_SHARDED = 2 };
enum class HalMemType : uint8_t { L1 = 0, DRAM = 1 };
constexpr int BUFFER_TYPES = 5;

class Buffer;
class Device;
class IDevice;
class Kernel;
class Program;
class JitBuildOptions;
namespace detail
{
class ProgramImpl;
}
namespace distributed
{
class MeshBuffer;
class MeshCommandQueue;
class MeshCoordinateRange;
class MeshDevice;
class MeshDeviceImpl;
class MeshWorkload;
class MeshWorkloadImpl;
struct MeshTraceIdTag;
#if SINCE(64)
using MeshTraceId = ttsl::StrongType<uint32_t, MeshTraceIdTag>;
#else
using MeshTraceId = tt::stl::StrongType<uint32_t, MeshTraceIdTag>;
#endif
#if SINCE(66)
using InspectedMesh = MeshDeviceImpl;
#else
using InspectedMesh = MeshDevice;
#endif
} // namespace distributed

/* What a kind of card has; `chips` on a mesh all have the same. */
struct AllocatorConfig {
	ARCH arch;
	CoreCoord grid;
	uint32_t dram_banks, alignment;
	DeviceAddr dram_base, dram_size; /* of one bank */
	DeviceAddr l1_base, l1_size;
	DeviceAddr l1_small, trace_region;
};

struct Statistics {
	size_t total = 0;
	size_t allocated = 0;
	size_t free = 0;
	size_t largest = 0;
#if !SINCE(100)
	std::vector<uint32_t> places;
#endif
};

/* One kind of memory: the same range of addresses in every bank. */
class BankManager
{
      public:
	BankManager(BufferType of, uint32_t count, DeviceAddr start, DeviceAddr room, uint32_t step);
	DeviceAddr allocate_buffer(DeviceAddr size, DeviceAddr per_bank, uint32_t banks_needed, bool is_bottom_up);
	void deallocate_buffer(DeviceAddr address);
	void deallocate_all();

	BufferType type;
	uint32_t banks, alignment;
	DeviceAddr base, size, allocated = 0;
	std::map<DeviceAddr, DeviceAddr> holes, blocks; /* address to size */
	DeviceAddr largest_hole() const;
};

class AllocatorImpl;

#if SINCE(66)
class Allocator
{
      public:
	explicit Allocator(AllocatorImpl *of);
	uint32_t get_num_banks(const BufferType &type) const;
	DeviceAddr get_bank_size(const BufferType &type) const;
	DeviceAddr get_base_allocator_addr(const HalMemType &type) const;
	uint32_t get_alignment(BufferType type) const;
	Statistics get_statistics(const BufferType &type) const;
	void deallocate_buffers();

      private:
	AllocatorImpl *impl;
};
#endif

class AllocatorImpl
{
      public:
	explicit AllocatorImpl(const AllocatorConfig &config);
	virtual ~AllocatorImpl();
	DeviceAddr allocate_buffer(Buffer *buffer);
	void deallocate_buffer(Buffer *buffer);
	void deallocate_buffers();
	void clear();
	uint32_t get_num_banks(const BufferType &type) const;
	DeviceAddr get_bank_size(const BufferType &type) const;
	DeviceAddr get_base_allocator_addr(const HalMemType &type) const;
	uint32_t get_alignment(BufferType type) const;
	Statistics get_statistics(const BufferType &type) const;
#if SINCE(100)
	void register_active_trace(uint32_t trace_id);
	void unregister_active_trace(uint32_t trace_id);
#else
	void mark_allocations_unsafe();
	void mark_allocations_safe();
#endif
	/* Ours, for the stand-in itself: they say the truth in every build. */
	std::optional<DeviceAddr> lowest_l1() const;
	const AllocatorConfig &config() const
	{
		return config_;
	}
	BankManager *manager(BufferType type) const
	{
		return managers_[(int)type].get();
	}
#if SINCE(66)
	const std::unique_ptr<Allocator> &view() const
	{
		return view_;
	}
#endif

      private:
	mutable std::mutex mutex_;
	AllocatorConfig config_;
	std::unique_ptr<BankManager> managers_[BUFFER_TYPES];
	std::unordered_set<Buffer *> buffers_;
	uint32_t traces_ = 0;
#if SINCE(66)
	std::unique_ptr<Allocator> view_;
#endif
};

class L1BankingAllocator : public AllocatorImpl
{
      public:
	explicit L1BankingAllocator(const AllocatorConfig &config);
};

struct ShardSpec {
	CoreRangeSet grid;
	std::array<uint32_t, 2> shape;
	int orientation;
};
struct ShardSpecBuffer {
	ShardSpec shards;
	std::array<uint32_t, 2> of_page, in_pages;
};

class Buffer final
#if SINCE(64)
    : public std::enable_shared_from_this<Buffer>
#endif
{
      public:
	Buffer(IDevice *device, DeviceAddr size, DeviceAddr page_size, BufferType type, const CoreRangeSet *shards,
		bool owns_data);
	~Buffer();
	static std::shared_ptr<Buffer> create(
		IDevice *device, DeviceAddr size, DeviceAddr page_size, BufferType type, const CoreRangeSet *shards);
	static std::shared_ptr<Buffer> create(const Buffer &backing, IDevice *device); /* at the same address */

	uint32_t address() const;
	DeviceAddr page_size() const;
	uint32_t num_pages() const;
	DeviceAddr aligned_page_size() const;
	DeviceAddr aligned_size() const;
	DeviceAddr aligned_size_per_bank() const;
	bool is_l1() const;
	bool is_dram() const;
	bool is_trace() const;
	std::optional<uint32_t> num_cores() const;
	ShardSpecBuffer shard_spec() const;
#if SINCE(66)
	Allocator *allocator() const;
#else
	Allocator *allocator() const
	{
		return allocator_;
	}
#endif
	DeviceAddr size() const
	{
		return size_;
	}
	BufferType buffer_type() const
	{
		return buffer_type_;
	}
	IDevice *device() const
	{
		return device_;
	}
	void mark_as_deallocated();

      private:
	friend class AllocatorImpl;
	void allocate_impl();
	void deallocate_impl();
	DeviceAddr true_page() const;
	DeviceAddr true_per_bank() const;
	uint32_t cores() const; /* of its shards, or the banks */

	IDevice *const device_;
	const DeviceAddr size_;
	const BufferType buffer_type_;
	const TensorMemoryLayout buffer_layout_;
	const bool bottom_up_;
	const bool owns_data_;
	AllocatorImpl *allocator_;
	enum { REQUESTED, ALLOCATED, DEALLOCATED } status_ = REQUESTED;
	DeviceAddr address_ = 0;
	DeviceAddr page_size_;
	std::optional<ShardSpecBuffer> shard_spec_;
};

struct SubDeviceIdTag;
#if SINCE(64)
using SubDeviceId = ttsl::StrongType<uint8_t, SubDeviceIdTag>;
#else
using SubDeviceId = tt::stl::StrongType<uint8_t, SubDeviceIdTag>;
#endif

class IDevice
{
      public:
	virtual ~IDevice() = default;
	virtual std::optional<DeviceAddr> lowest_occupied_compute_l1_address(
		std::span<const SubDeviceId> sub_devices) const = 0;
	virtual ARCH arch() const = 0;
	virtual ChipId id() const = 0;
	virtual ChipId build_id() const = 0;
	virtual uint8_t num_hw_cqs() const = 0;
	virtual bool is_initialized() const = 0;
	virtual int num_dram_channels() const = 0;
	virtual uint32_t l1_size_per_core() const = 0;
	virtual uint32_t dram_size_per_channel() const = 0;
	virtual CoreCoord grid_size() const = 0;
	virtual CoreCoord logical_grid_size() const = 0;
	virtual CoreCoord dram_grid_size() const = 0;
	virtual CoreCoord compute_with_storage_grid_size() const = 0;
	virtual const std::unique_ptr<Allocator> &allocator() const = 0;
#if SINCE(66)
	virtual const std::unique_ptr<AllocatorImpl> &allocator_impl() const = 0;
#endif
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
enum class ShmBufferType : uint8_t { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE, CB };
class SharedMemoryStatsProvider
{
      public:
	SharedMemoryStatsProvider(uint64_t asic_id, int device_id, bool is_disabled, bool is_verbose);
	~SharedMemoryStatsProvider();
	void record_allocation(pid_t pid, uint64_t size, ShmBufferType type, uint32_t chip_id);
	void record_deallocation(pid_t pid, uint64_t size, ShmBufferType type, uint32_t chip_id);
	void update_from_allocator(const Device *device, pid_t pid);

      private:
	[[maybe_unused]] uint64_t asic_id_;
	[[maybe_unused]] int device_id_;
};
#endif

class Device : public IDevice
{
      public:
	Device(ChipId id, const AllocatorConfig &config);
	~Device() override;
	std::optional<DeviceAddr> lowest_occupied_compute_l1_address(
		std::span<const SubDeviceId> sub_devices) const override;
	ARCH arch() const override;
	ChipId id() const override
	{
		return id_;
	}
	ChipId build_id() const override
	{
		return id_;
	}
	uint8_t num_hw_cqs() const override
	{
		return 1;
	}
	bool is_initialized() const override
	{
		return allocator_ != nullptr;
	}
	int num_dram_channels() const override;
	uint32_t l1_size_per_core() const override;
	uint32_t dram_size_per_channel() const override;
	CoreCoord grid_size() const override;
	CoreCoord logical_grid_size() const override;
	CoreCoord dram_grid_size() const override;
	CoreCoord compute_with_storage_grid_size() const override;
	const std::unique_ptr<Allocator> &allocator() const override;
#if SINCE(66)
	const std::unique_ptr<AllocatorImpl> &allocator_impl() const override;
#endif
	bool initialize(uint8_t num_hw_cqs, size_t l1_small_size, size_t trace_region_size, size_t worker_l1_size,
		std::span<const uint32_t> l1_bank_remap, bool minimal);
	bool close() override;
#if SINCE(100)
	void register_program(detail::ProgramImpl *program);
	void unregister_program(detail::ProgramImpl *program);
	std::unique_ptr<SharedMemoryStatsProvider> shm;
#endif
	AllocatorImpl *real_allocator() const override
	{
		return allocator_.get();
	}

      private:
	ChipId id_;
	AllocatorConfig config_;
	std::unique_ptr<AllocatorImpl> allocator_;
};

class GraphTracker
{
      public:
	static GraphTracker &instance();
	bool hook_allocate(const Buffer *buffer);
	void track_allocate(const Buffer *buffer);
	void track_deallocate(Buffer *buffer);
	void track_allocate_cb(const CoreRangeSet &cores, uint64_t address, uint64_t size, bool is_globally_allocated,
		const IDevice *device);
#if SINCE(100)
	void track_allocate_dataflow_buffer(
		const CoreRangeSet &cores, uint64_t address, uint64_t size, bool borrows_memory, const IDevice *device);
	void track_allocate_scratchpad(
		const CoreRangeSet &cores, uint64_t address, uint64_t size, const IDevice *device);
#endif
	void track_deallocate_cb(const IDevice *device);
	void track_program(Program *program, const IDevice *device);
};

class TensorSpec
{
	[[maybe_unused]] int content = 0;
};

#if SINCE(66)
using BuildKey = uint64_t;
#else
using BuildKey = uint32_t;
#endif

#if SINCE(64)
class Inspector
{
      public:
	static void program_created(const detail::ProgramImpl *program) noexcept;
	static void program_destroyed(const detail::ProgramImpl *program) noexcept;
	static void program_compile_started(
		const detail::ProgramImpl *program, const IDevice *device, BuildKey build_key) noexcept;
	static void program_compile_already_exists(
		const detail::ProgramImpl *program, const IDevice *device, BuildKey build_key) noexcept;
#if SINCE(100)
	static void program_kernel_compile_finished(const detail::ProgramImpl *program, const IDevice *device,
		const std::shared_ptr<Kernel> &kernel, const JitBuildOptions &options,
		const std::string &binary_root) noexcept;
#else
	static void program_kernel_compile_finished(const detail::ProgramImpl *program, const IDevice *device,
		const std::shared_ptr<Kernel> &kernel, const JitBuildOptions &options) noexcept;
#endif
	static void program_compile_finished(
		const detail::ProgramImpl *program, const IDevice *device, BuildKey build_key) noexcept;
	static void mesh_device_created(const distributed::InspectedMesh *mesh, std::optional<int> parent) noexcept;
	static void mesh_device_destroyed(const distributed::InspectedMesh *mesh) noexcept;
	static void mesh_device_initialized(const distributed::InspectedMesh *mesh) noexcept;
#if SINCE(100)
	static void mesh_buffer_allocated(const distributed::MeshBuffer *buffer) noexcept;
	static void mesh_buffer_deallocated(const distributed::MeshBuffer *buffer) noexcept;
	static void release_trace(distributed::MeshTraceId trace_id) noexcept;
	static void emit_debug_entry(const distributed::MeshWorkloadImpl *workload, uint64_t runtime_id,
		std::string_view operation, std::vector<TensorSpec> tensors,
		std::optional<distributed::MeshTraceId> trace_id) noexcept;
#elif SINCE(66)
	static void mesh_workload_set_operation_name_and_parameters(const distributed::MeshWorkloadImpl *workload,
		std::string_view operation, std::string_view parameters) noexcept;
#endif
	static void mesh_workload_created(const distributed::MeshWorkloadImpl *workload) noexcept;
	static void mesh_workload_destroyed(const distributed::MeshWorkloadImpl *workload) noexcept;
	static void mesh_workload_add_program(const distributed::MeshWorkloadImpl *workload,
		const distributed::MeshCoordinateRange &range, size_t program_id) noexcept;
};
#endif

class Kernel
{
      public:
	Kernel(std::string name, uint32_t packed);
	virtual ~Kernel() = default;
	virtual const std::string &get_full_kernel_name() const;
	const std::vector<const ll_api::memory *> &binaries(uint64_t build_key) const;
	uint32_t get_binary_packed_size(IDevice *device, int index) const;
	uint32_t get_binary_text_size(IDevice *device, int index) const;
#if SINCE(100)
	void process_scratchpad_binding_handles(
		std::function<void(const std::string &name, uint32_t size, uint32_t word)> callback) const;
	uint32_t scratchpad = 0;
#endif

      private:
	std::string name_;
	ll_api::memory binary_;
	std::vector<const ll_api::memory *> binaries_;
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
	uint32_t entry_size, num_entries;
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
		CoreRange core_range;
		std::vector<std::pair<uint64_t, uint64_t>> l1_regions;
		void mark_address(uint64_t address, uint64_t size, uint64_t base_address);
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
	std::vector<Device *> cb_devices_;
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
class MeshCommandQueue
{
      public:
	int number = 0;
};

class MeshCoordinateRange
{
};

class MeshTrace
{
      public:
	static MeshTraceId next_id();
};

class MeshDeviceImpl
{
      public:
#if SINCE(100)
	void begin_mesh_trace(uint8_t cq, const MeshTraceId &id);
	void end_mesh_trace(uint8_t cq, const MeshTraceId &id);
	void release_mesh_trace(const MeshTraceId &id);
#endif
	bool close_impl(MeshDevice *mesh);

	MeshDevice *mesh;
	unsigned rows, columns;
	std::vector<std::shared_ptr<Device>> devices;
	std::unique_ptr<AllocatorImpl> allocator;
	MeshCommandQueue queue;
	std::map<uint32_t, std::shared_ptr<MeshBuffer>> traces;
	std::shared_ptr<MeshDevice> parent;
};

class MeshDevice : public IDevice, public std::enable_shared_from_this<MeshDevice>
{
      public:
	MeshDevice();
	~MeshDevice() override;
	std::optional<DeviceAddr> lowest_occupied_compute_l1_address(
		std::span<const SubDeviceId> sub_devices) const override;
	ARCH arch() const override;
	int id() const override;
	ChipId build_id() const override;
	uint8_t num_hw_cqs() const override;
	bool is_initialized() const override;
	int num_dram_channels() const override;
	uint32_t l1_size_per_core() const override;
	uint32_t dram_size_per_channel() const override;
	CoreCoord grid_size() const override;
	CoreCoord logical_grid_size() const override;
	CoreCoord dram_grid_size() const override;
	CoreCoord compute_with_storage_grid_size() const override;
	const std::unique_ptr<Allocator> &allocator() const override;
#if SINCE(66)
	const std::unique_ptr<AllocatorImpl> &allocator_impl() const override;
#endif
	bool close() override;
	std::vector<IDevice *> get_devices() const;
	std::vector<int> get_device_ids() const;
	size_t num_devices() const;
	size_t num_rows() const;
	size_t num_cols() const;
#if SINCE(100)
	MeshTraceId begin_mesh_trace(MeshCommandQueue &queue);
	void end_mesh_trace(MeshCommandQueue &queue, const MeshTraceId &id);
	void replay_mesh_trace(MeshCommandQueue &queue, const MeshTraceId &id, bool is_blocking);
#else
#if SINCE(64)
	MeshTraceId begin_mesh_trace(uint8_t queue);
#endif
	void begin_mesh_trace(uint8_t queue, const MeshTraceId &id);
	void end_mesh_trace(uint8_t queue, const MeshTraceId &id);
	void replay_mesh_trace(uint8_t queue, const MeshTraceId &id, bool is_blocking);
#endif
	void release_mesh_trace(const MeshTraceId &id);

	static std::shared_ptr<MeshDevice> create(unsigned rows, unsigned columns, const AllocatorConfig &config);
	std::shared_ptr<MeshDevice> create_submesh(unsigned rows, unsigned columns);
	AllocatorImpl *real_allocator() const override;
	void know_chips(); /* after its devices were found */
	std::unique_ptr<MeshDeviceImpl> pimpl_;

      private:
	int id_;
};

class MeshBuffer
{
      public:
	MeshBuffer(MeshDevice *on, DeviceAddr size, DeviceAddr page_size, BufferType type, const CoreRangeSet *shards);
	~MeshBuffer();
	void deallocate();

	std::weak_ptr<MeshDevice> mesh;
	std::shared_ptr<Buffer> backing;
	std::vector<std::shared_ptr<Buffer>> buffers; /* of each chip, at the address of the backing buffer */
};

class MeshWorkloadImpl
{
      public:
	explicit MeshWorkloadImpl(std::shared_ptr<MeshDevice> on);
	~MeshWorkloadImpl();
	void add_program();
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

#if SINCE(100)
namespace experimental
{
class PinnedMemory
{
      public:
	PinnedMemory(const std::vector<IDevice *> &devices, void *host, size_t size, bool map_to_noc);
	~PinnedMemory();

      private:
	void *impl;
};
} // namespace experimental
#endif

namespace experimental::inspector
{
#if SINCE(100)
void EmitMeshWorkloadDebugEntry(distributed::MeshWorkload &workload, uint64_t runtime_id, std::string_view operation,
	std::vector<TensorSpec> tensors, std::optional<distributed::MeshTraceId> trace_id);
#elif SINCE(66)
void EmitMeshWorkloadAnnotation(
	distributed::MeshWorkload &workload, std::string_view operation, std::string_view parameters);
#endif
} // namespace experimental::inspector

namespace hal
{
uint32_t get_l1_size();
uint32_t get_max_worker_l1_unreserved_size();
} // namespace hal
} // namespace tt_metal
} // namespace tt

#endif
