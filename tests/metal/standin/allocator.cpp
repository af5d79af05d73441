/* The allocator: for each kind a list of holes, the same in every bank. */
#include "runtime.hpp"

#include <stdexcept>

namespace tt::tt_metal
{
static const char *const TYPE_NAMES[BUFFER_TYPES] = { "DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE" };

static DeviceAddr round_up(DeviceAddr n, DeviceAddr step)
{
	return (n + step - 1) / step * step;
}

BankManager::BankManager(BufferType of, uint32_t count, DeviceAddr start, DeviceAddr room, uint32_t step)
    : type(of), banks(count), alignment(step), base(start), size(room)
{
	if (size > 0)
		holes[base] = size;
}

DeviceAddr BankManager::largest_hole() const
{
	DeviceAddr largest = 0;
	for (const auto &hole : holes)
		largest = std::max(largest, hole.second);
	return largest;
}

DeviceAddr BankManager::allocate_buffer(DeviceAddr asked, DeviceAddr per_bank, uint32_t shares, bool is_bottom_up)
{
	DeviceAddr need = round_up(std::max<DeviceAddr>(per_bank, alignment), alignment);
	auto fits = holes.end();
	for (auto it = holes.begin(); it != holes.end(); ++it)
		if (it->second >= need) {
			fits = it;
			if (is_bottom_up)
				break;
		}
	if (fits == holes.end()) {
		auto text = [](DeviceAddr n) { return std::to_string(n) + " B"; };
		throw std::runtime_error(
			"Out of Memory: Not enough space to allocate " + text(asked) + " " + TYPE_NAMES[(int)type] +
			" buffer across " + std::to_string(shares) + " banks, where each bank needs to store " +
			text(per_bank) + ", but bank size is " + text(size) + " (allocated: " + text(allocated) +
			", free: " + text(size - allocated) + ", largest free block: " + text(largest_hole()) + ")");
	}
	DeviceAddr start = fits->first, room = fits->second, address = is_bottom_up ? start : start + room - need;
	holes.erase(fits);
	if (room > need)
		holes[is_bottom_up ? start + need : start] = room - need;
	blocks[address] = need;
	allocated += need;
	return address;
}

void BankManager::deallocate_buffer(DeviceAddr address)
{
	auto block = blocks.find(address);
	if (block == blocks.end())
		return;
	DeviceAddr start = address, end = address + block->second;
	allocated -= block->second;
	blocks.erase(block);
	auto next = holes.lower_bound(start);
	if (next != holes.begin() && std::prev(next)->first + std::prev(next)->second == start) {
		start = std::prev(next)->first;
		holes.erase(std::prev(next));
	}
	if (next != holes.end() && next->first == end) {
		end += next->second;
		holes.erase(next);
	}
	holes[start] = end - start;
}

void BankManager::deallocate_all()
{
	blocks.clear();
	holes.clear();
	allocated = 0;
	if (size > 0)
		holes[base] = size;
}

AllocatorImpl::AllocatorImpl(const AllocatorConfig &config) : config_(config)
{
	const AllocatorConfig &c = config_;
	DeviceAddr trace = c.trace_region == 0 ? 0 : round_up((c.trace_region + c.dram_banks - 1) / c.dram_banks, 8192);
	DeviceAddr l1_end = c.l1_size - c.l1_small;
	uint32_t cores = (uint32_t)(c.grid.x * c.grid.y);
	auto make = [&](BufferType type, uint32_t banks, DeviceAddr base, DeviceAddr end) {
		managers_[(int)type] = std::make_unique<BankManager>(type, banks, base, end - base, c.alignment);
	};
	make(BufferType::DRAM, c.dram_banks, c.dram_base, c.dram_size - trace);
	make(BufferType::L1, cores, c.l1_base, l1_end);
	make(BufferType::L1_SMALL, c.l1_small > 0 ? cores : 0, l1_end, c.l1_size);
	make(BufferType::TRACE, c.dram_banks, c.dram_size - trace, c.dram_size);
#if SINCE(66)
	view_ = std::make_unique<Allocator>(this);
#endif
}

L1BankingAllocator::L1BankingAllocator(const AllocatorConfig &config) : AllocatorImpl(config)
{
}

AllocatorImpl::~AllocatorImpl()
{
}

DeviceAddr AllocatorImpl::allocate_buffer(Buffer *buffer)
{
	std::lock_guard lock(mutex_);
	BankManager *to = manager(buffer->buffer_type_);
	if (!to)
		throw std::runtime_error("Unsupported buffer type!");
	DeviceAddr address =
		to->allocate_buffer(buffer->size_, buffer->true_per_bank(), buffer->cores(), buffer->bottom_up_);
	buffers_.insert(buffer);
	return address;
}

void AllocatorImpl::deallocate_buffer(Buffer *buffer)
{
	std::lock_guard lock(mutex_);
	if (BankManager *from = manager(buffer->buffer_type_))
		from->deallocate_buffer(buffer->address_);
	buffers_.erase(buffer);
}

void AllocatorImpl::deallocate_buffers()
{
	std::lock_guard lock(mutex_);
	for (auto &manager : managers_)
		if (manager)
			manager->deallocate_all();
}

void AllocatorImpl::clear()
{
	std::lock_guard lock(mutex_);
	buffers_.clear();
}

uint32_t AllocatorImpl::get_num_banks(const BufferType &type) const
{
	std::lock_guard lock(mutex_);
	BankManager *of = manager(type);
	return SAID(uint32_t, of ? of->banks : 0);
}

DeviceAddr AllocatorImpl::get_bank_size(const BufferType &type) const
{
	std::lock_guard lock(mutex_);
	BankManager *of = manager(type);
	return SAID(DeviceAddr, of ? of->size : 0);
}

DeviceAddr AllocatorImpl::get_base_allocator_addr(const HalMemType &type) const
{
	return SAID(DeviceAddr, type == HalMemType::DRAM ? config_.dram_base : config_.l1_base);
}

uint32_t AllocatorImpl::get_alignment(BufferType type) const
{
	bool is_l1 = type == BufferType::L1 || type == BufferType::L1_SMALL;
	return SAID(uint32_t, is_l1 ? 16 : config_.alignment);
}

Statistics AllocatorImpl::get_statistics(const BufferType &type) const
{
	std::lock_guard lock(mutex_);
	Statistics said;
	if (BankManager *of = manager(type)) {
		said.total_allocatable_size_bytes = SAID(size_t, of->size);
		said.total_allocated_bytes = SAID(size_t, of->allocated);
		said.total_free_bytes = SAID(size_t, of->size - of->allocated);
		said.largest_free_block_bytes = SAID(size_t, of->largest_hole());
#if !SINCE(100)
		for (const auto &[address, room] : of->holes)
			if (room == of->largest_hole())
				said.largest_free_block_addrs.push_back((uint32_t)(address - of->base));
#endif
	}
	return said;
}

std::optional<DeviceAddr> AllocatorImpl::lowest_l1() const
{
	std::lock_guard lock(mutex_);
	const BankManager *l1 = manager(BufferType::L1);
	if (l1->blocks.empty())
		return std::nullopt;
	return l1->blocks.begin()->first;
}

#if SINCE(100)
void AllocatorImpl::register_active_trace(uint32_t)
{
	std::lock_guard lock(mutex_);
	traces_++;
}

void AllocatorImpl::unregister_active_trace(uint32_t)
{
	std::lock_guard lock(mutex_);
	traces_--;
}
#else
void AllocatorImpl::mark_allocations_unsafe()
{
	std::lock_guard lock(mutex_);
	traces_ = 1;
}

void AllocatorImpl::mark_allocations_safe()
{
	std::lock_guard lock(mutex_);
	traces_ = 0;
}
#endif

#if SINCE(66)
Allocator::Allocator(AllocatorImpl *of) : impl(of)
{
}

uint32_t Allocator::get_num_banks(const BufferType &type) const
{
	return impl->get_num_banks(type);
}

DeviceAddr Allocator::get_bank_size(const BufferType &type) const
{
	return impl->get_bank_size(type);
}

DeviceAddr Allocator::get_base_allocator_addr(const HalMemType &type) const
{
	return impl->get_base_allocator_addr(type);
}

uint32_t Allocator::get_alignment(BufferType type) const
{
	return impl->get_alignment(type);
}

Statistics Allocator::get_statistics(const BufferType &type) const
{
	return impl->get_statistics(type);
}

void Allocator::deallocate_buffers()
{
	impl->deallocate_buffers();
}
#endif
} // namespace tt::tt_metal
