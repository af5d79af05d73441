/* Buffers, and the buffers of a mesh. */
#include "runtime.hpp"

#include <cassert>

namespace tt::tt_metal
{
static bool is_bottom_up(BufferType type)
{
	return type == BufferType::DRAM || type == BufferType::TRACE;
}

Buffer::Buffer(IDevice *device, DeviceAddr size, DeviceAddr page_size, BufferType type, const CoreRangeSet *shards,
	bool owns_data)
    : device_(device), size_(size), buffer_type_(type),
      buffer_layout_(shards ? TensorMemoryLayout::HEIGHT_SHARDED : TensorMemoryLayout::INTERLEAVED),
      bottom_up_(is_bottom_up(type)), owns_data_(owns_data), allocator_(device->real_allocator()), page_size_(page_size)
{
	if (shards)
		shard_spec_ = ShardSpecBuffer{ { *shards, { 32, 32 }, 0 }, { 32, 32 }, { 1, 1 } };
}

Buffer::~Buffer()
{
	if (owns_data_ && status_ != DEALLOCATED)
		deallocate_impl();
}

std::shared_ptr<Buffer> Buffer::create(
	IDevice *device, DeviceAddr size, DeviceAddr page_size, BufferType type, const CoreRangeSet *shards)
{
	auto buffer = std::make_shared<Buffer>(device, size, page_size, type, shards, true);
	buffer->allocate_impl();
	return buffer;
}

std::shared_ptr<Buffer> Buffer::create(const Buffer &backing, IDevice *device)
{
	const CoreRangeSet *shards = backing.shard_spec_ ? &backing.shard_spec_->tensor_shard_spec.grid : nullptr;
	auto buffer = std::make_shared<Buffer>(
		device, backing.size_, backing.page_size_, backing.buffer_type_, shards, false);
	buffer->address_ = backing.address_;
	buffer->status_ = ALLOCATED;
	return buffer;
}

void Buffer::allocate_impl()
{
	GraphTracker &tracker = GraphTracker::instance();
	if (tracker.hook_allocate(this))
		return;
	address_ = allocator_->allocate_buffer(this);
	status_ = ALLOCATED;
	tracker.track_allocate(this);
}

void Buffer::deallocate_impl()
{
	if (status_ != ALLOCATED || !device_->is_initialized()) /* its allocator is gone, and took all with it */
		return;
	GraphTracker::instance().track_deallocate(this);
	allocator_->deallocate_buffer(this);
	status_ = DEALLOCATED;
}

void Buffer::mark_as_deallocated()
{
	status_ = DEALLOCATED;
}

DeviceAddr Buffer::true_page() const
{
	DeviceAddr step = is_bottom_up(buffer_type_) ? allocator_->config().alignment : 16;
	return (page_size_ + step - 1) / step * step;
}

uint32_t Buffer::cores() const
{
	if (shard_spec_) {
		uint32_t sum = 0;
		for (const CoreRange &range : shard_spec_->tensor_shard_spec.grid.ranges_)
			sum += (uint32_t)((range.end_coord.x - range.start_coord.x + 1) *
					  (range.end_coord.y - range.start_coord.y + 1));
		return sum;
	}
	const BankManager *in = allocator_->manager(buffer_type_);
	return in && in->banks > 0 ? in->banks : 1;
}

DeviceAddr Buffer::true_per_bank() const
{
	DeviceAddr pages = page_size_ == 0 ? 0 : size_ / page_size_, shares = cores();
	return (pages + shares - 1) / shares * true_page();
}

uint32_t Buffer::address() const
{
	return SAID(uint32_t, (uint32_t)address_);
}

DeviceAddr Buffer::page_size() const
{
	return SAID(DeviceAddr, page_size_);
}

uint32_t Buffer::num_pages() const
{
	return SAID(uint32_t, (uint32_t)(page_size_ == 0 ? 0 : size_ / page_size_));
}

DeviceAddr Buffer::aligned_page_size() const
{
	return SAID(DeviceAddr, true_page());
}

DeviceAddr Buffer::aligned_size() const
{
	return SAID(DeviceAddr, (page_size_ == 0 ? 0 : size_ / page_size_) * true_page());
}

DeviceAddr Buffer::aligned_size_per_bank() const
{
	return SAID(DeviceAddr, true_per_bank());
}

bool Buffer::is_l1() const
{
	return buffer_type_ == BufferType::L1 || buffer_type_ == BufferType::L1_SMALL;
}

bool Buffer::is_dram() const
{
	return is_bottom_up(buffer_type_);
}

bool Buffer::is_trace() const
{
	return buffer_type_ == BufferType::TRACE;
}

std::optional<uint32_t> Buffer::num_cores() const
{
	if (!shard_spec_)
		return std::nullopt;
	return SAID(uint32_t, cores());
}

ShardSpecBuffer Buffer::shard_spec() const
{
	ShardSpecBuffer spec = shard_spec_.value();
	(void)SAID_OF(spec.tensor_shard_spec.grid.ranges_);
	return spec;
}

#if SINCE(66)
Allocator *Buffer::allocator() const
{
	return SAID_AT(Allocator *, allocator_->view().get());
}
#endif

namespace distributed
{
MeshBuffer::MeshBuffer(
	MeshDevice *on, DeviceAddr size, DeviceAddr page_size, BufferType type, const CoreRangeSet *shards)
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
