/* Buffers, and the buffers of a mesh. */
#include "runtime.hpp"

#include <cassert>

namespace tt::tt_metal
{
static bool is_bottom_up(BufferType type)
{
	return type == BufferType::DRAM || type == BufferType::TRACE;
}

Buffer::Buffer(
	IDevice *device, Address size, Address page_size, BufferType type, const CoreRangeSet *shards, bool is_owner)
    : on_(device), bytes_(size), kind_(type), layout_(shards ? SHARDED : INTERLEAVED),
      is_low_first_(is_bottom_up(type)), is_owner_(is_owner), memory_(device->real_allocator()), page_bytes_(page_size)
{
	if (shards)
		shards_ = ShardSpecBuffer{ { *shards, { 32, 32 }, 0 }, { 32, 32 }, { 1, 1 } };
}

Buffer::~Buffer()
{
	if (is_owner_ && status_ != DEALLOCATED)
		deallocate_impl();
}

std::shared_ptr<Buffer> Buffer::create(
	IDevice *device, Address size, Address page_size, BufferType type, const CoreRangeSet *shards)
{
	auto buffer = std::make_shared<Buffer>(device, size, page_size, type, shards, true);
	buffer->allocate_impl();
	return buffer;
}

std::shared_ptr<Buffer> Buffer::create(const Buffer &backing, IDevice *device)
{
	const CoreRangeSet *shards = backing.shards_ ? &backing.shards_->shards.grid : nullptr;
	auto buffer =
		std::make_shared<Buffer>(device, backing.bytes_, backing.page_bytes_, backing.kind_, shards, false);
	buffer->place_ = backing.place_;
	buffer->status_ = ALLOCATED;
	return buffer;
}

void Buffer::allocate_impl()
{
	GraphTracker &tracker = GraphTracker::instance();
	if (tracker.hook_allocate(this))
		return;
	place_ = memory_->allocate_buffer(this);
	status_ = ALLOCATED;
	tracker.track_allocate(this);
}

void Buffer::deallocate_impl()
{
	if (status_ != ALLOCATED || !on_->is_open()) /* its allocator is gone, and took all with it */
		return;
	GraphTracker::instance().track_deallocate(this);
	memory_->deallocate_buffer(this);
	status_ = DEALLOCATED;
}

void Buffer::mark_as_deallocated()
{
	status_ = DEALLOCATED;
}

Address Buffer::true_page() const
{
	Address step = is_bottom_up(kind_) ? memory_->config().alignment : 16;
	return (page_bytes_ + step - 1) / step * step;
}

uint32_t Buffer::cores() const
{
	if (shards_) {
		uint32_t sum = 0;
		for (const CoreRange &range : shards_->shards.grid.list)
			sum += (uint32_t)((range.end_coord.x - range.start_coord.x + 1) *
					  (range.end_coord.y - range.start_coord.y + 1));
		return sum;
	}
	const Banks *in = memory_->banks_of(kind_);
	return in && in->banks > 0 ? in->banks : 1;
}

Address Buffer::true_per_bank() const
{
	Address pages = page_bytes_ == 0 ? 0 : bytes_ / page_bytes_, shares = cores();
	return (pages + shares - 1) / shares * true_page();
}

Address Buffer::taken() const
{
	const Banks *in = memory_->banks_of(kind_);
	auto block = in->blocks.find(place_);
	return block != in->blocks.end() ? block->second : 0;
}

uint32_t Buffer::address() const
{
	return SAID(uint32_t, (uint32_t)place_);
}

Address Buffer::page_size() const
{
	return SAID(Address, page_bytes_);
}

uint32_t Buffer::num_pages() const
{
	return SAID(uint32_t, (uint32_t)(page_bytes_ == 0 ? 0 : bytes_ / page_bytes_));
}

Address Buffer::aligned_page_size() const
{
	return SAID(Address, true_page());
}

Address Buffer::aligned_size() const
{
	return SAID(Address, (page_bytes_ == 0 ? 0 : bytes_ / page_bytes_) * true_page());
}

Address Buffer::aligned_size_per_bank() const
{
	return SAID(Address, true_per_bank());
}

bool Buffer::is_l1() const
{
	return kind_ == BufferType::L1 || kind_ == BufferType::L1_SMALL;
}

bool Buffer::is_dram() const
{
	return is_bottom_up(kind_);
}

bool Buffer::is_trace() const
{
	return kind_ == BufferType::TRACE;
}

std::optional<uint32_t> Buffer::num_cores() const
{
	if (!shards_)
		return std::nullopt;
	return SAID(uint32_t, cores());
}

ShardSpecBuffer Buffer::shard_spec() const
{
	ShardSpecBuffer spec = shards_.value();
	(void)SAID_OF(spec.shards.grid.list);
	return spec;
}

#if SINCE(64)
const std::optional<BufferDistributionSpec> &Buffer::buffer_distribution_spec() const
{
	return distribution_;
}
#endif

#if SINCE(66)
Allocator *Buffer::allocator() const
{
	return SAID_AT(Allocator *, memory_->view().get());
}
#endif

namespace distributed
{
MeshBuffer::MeshBuffer(MeshDevice *on, Address size, Address page_size, BufferType type, const CoreRangeSet *shards)
    : mesh(on->weak_from_this()), backing(Buffer::create(on, size, page_size, type, shards))
{
	for (Device *chip : on->chips())
		buffers.push_back(Buffer::create(*backing, chip));
#if SINCE(100)
	Inspector::mesh_buffer_allocated(this);
#endif
}

MeshBuffer::~MeshBuffer()
{
	deallocate();
}

void MeshBuffer::deallocate()
{
#if SINCE(100)
	Inspector::mesh_buffer_deallocated(this);
#endif
	if (backing && mesh.expired())
		backing->mark_as_deallocated();
	backing.reset();
	buffers.clear();
}
} // namespace distributed
} // namespace tt::tt_metal
