/* Allocators and buffers. */
#ifndef STANDIN_MEMORY_HPP
#define STANDIN_MEMORY_HPP

#include "basics.hpp"

namespace tt::tt_metal
{
/* What a kind of card has; `chips` on a mesh all have the same. */
struct AllocatorConfig {
	Arch arch;
	CoreCoord grid;
	uint32_t dram_banks, alignment;
	Address dram_base, dram_size; /* of one bank */
	Address l1_base, l1_size;
	Address l1_small, trace_region;
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
class Banks
{
      public:
	Banks(BufferType of, uint32_t count, Address start, Address room, uint32_t step);
	Address take(Address asked, Address per_bank, uint32_t shares, bool is_low_first);
	void give(Address address);
	void give_all();

	BufferType type;
	uint32_t banks, alignment;
	Address base, size, allocated = 0;
	std::map<Address, Address> holes, blocks; /* address to size */
	Address largest_hole() const;
};

class AllocatorImpl;

#if SINCE(66)
class Allocator
{
      public:
	explicit Allocator(AllocatorImpl *of);
	uint32_t get_num_banks(const BufferType &type) const;
	Address get_bank_size(const BufferType &type) const;
	Address get_base_allocator_addr(const HalMemType &type) const;
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
	Address allocate_buffer(Buffer *buffer);
	void deallocate_buffer(Buffer *buffer);
	void deallocate_buffers();
	void clear();
	uint32_t get_num_banks(const BufferType &type) const;
	Address get_bank_size(const BufferType &type) const;
	Address get_base_allocator_addr(const HalMemType &type) const;
	uint32_t get_alignment(BufferType type) const;
	Statistics get_statistics(const BufferType &type) const;
#if SINCE(100)
	void register_active_trace(uint32_t trace);
	void unregister_active_trace(uint32_t trace);
#else
	void mark_allocations_unsafe();
	void mark_allocations_safe();
#endif
	/* Ours, for the stand-in itself: they say the truth in every build. */
	std::optional<Address> lowest_l1() const;
	const AllocatorConfig &config() const
	{
		return card_;
	}
	Banks *banks_of(BufferType type) const
	{
		return banks_[(int)type].get();
	}
#if SINCE(66)
	const std::unique_ptr<Allocator> &view() const
	{
		return seen_;
	}
#endif

      private:
	mutable std::mutex mutex_;
	AllocatorConfig card_;
	std::unique_ptr<Banks> banks_[BUFFER_TYPES];
	std::unordered_set<Buffer *> known_;
	uint32_t traces_ = 0;
#if SINCE(66)
	std::unique_ptr<Allocator> seen_;
#endif
};

class OwnAllocator : public AllocatorImpl
{
      public:
	explicit OwnAllocator(const AllocatorConfig &config);
};

struct ShardSpec {
	CoreRangeSet grid;
	std::array<uint32_t, 2> shape;
	int orientation;
};
struct ShardSpecBuffer {
	ShardSpec shards;
	std::array<uint32_t, 2> of_page, in_pages;
	CoreRangeSet grid() const
	{
		return shards.grid;
	}
};

/* The other kind of distribution; no buffer of the stand-in has it. */
struct BufferDistributionSpec {
	std::vector<uint32_t> of_tensor, of_shard;
	std::vector<CoreCoord> cores;
	CoreRangeSet with_data;
	size_t more[8];
};

class Buffer final
#if SINCE(64)
    : public std::enable_shared_from_this<Buffer>
#endif
{
      public:
	Buffer(IDevice *device, Address size, Address page_size, BufferType type, const CoreRangeSet *shards,
		bool is_owner);
	~Buffer();
	static std::shared_ptr<Buffer> create(
		IDevice *device, Address size, Address page_size, BufferType type, const CoreRangeSet *shards);
	static std::shared_ptr<Buffer> create(const Buffer &backing, IDevice *device); /* at the same address */

	uint32_t address() const;
	Address page_size() const;
	uint32_t num_pages() const;
	Address aligned_page_size() const;
	Address aligned_size() const;
	Address aligned_size_per_bank() const;
	bool is_l1() const;
	bool is_dram() const;
	bool is_trace() const;
	std::optional<uint32_t> num_cores() const;
	ShardSpecBuffer shard_spec() const;
#if SINCE(64)
	const std::optional<BufferDistributionSpec> &buffer_distribution_spec() const;
#endif
#if SINCE(100)
	bool has_shard_spec() const
	{
		return shards_.has_value();
	}
#endif
#if SINCE(66)
	Allocator *allocator() const;
#else
	Allocator *allocator() const
	{
		return memory_;
	}
#endif
	Address taken() const; /* ours: of each bank, by its allocator */
	Address size() const
	{
		return bytes_;
	}
	BufferType buffer_type() const
	{
		return kind_;
	}
	IDevice *device() const
	{
		return on_;
	}
	void mark_as_deallocated();

      private:
	friend class AllocatorImpl;
	void allocate_impl();
	void deallocate_impl();
	Address true_page() const;
	Address true_per_bank() const;
	uint32_t cores() const; /* of its shards, or the banks */

	IDevice *const on_;
	const Address bytes_;
	const BufferType kind_;
	const Layout layout_;
	const bool is_low_first_;
	const bool is_owner_;
	AllocatorImpl *memory_;
	enum { REQUESTED, ALLOCATED, DEALLOCATED } status_ = REQUESTED;
	Address place_ = 0;
	Address page_bytes_;
	std::optional<ShardSpecBuffer> shards_;
#if SINCE(64)
	std::optional<BufferDistributionSpec> distribution_;
#endif
};
} // namespace tt::tt_metal

#endif
