/* The allocator: for each kind a list of holes, the same in every bank. */
#include "standin.h"
#include "runtime.hpp"

#include <stdexcept>

namespace tt::tt_metal
{
static const char *const TYPE_NAMES[BUFFER_TYPES] = { "DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE" };

static Address round_up(Address n, Address step)
{
	return (n + step - 1) / step * step;
}

Banks::Banks(BufferType of, uint32_t count, Address start, Address room, uint32_t step)
    : type(of), banks(count), alignment(step), base(start), size(room)
{
	if (size > 0)
		holes[base] = size;
}

Address Banks::largest_hole() const
{
	Address largest = 0;
	for (const auto &hole : holes)
		largest = std::max(largest, hole.second);
	return largest;
}

Address Banks::take(Address asked, Address per_bank, uint32_t shares, bool is_bottom_up)
{
	Address need = round_up(std::max<Address>(per_bank, alignment), alignment);
	auto fits = holes.end();
	for (auto it = holes.begin(); it != holes.end(); ++it)
		if (it->second >= need) {
			fits = it;
			if (is_bottom_up)
				break;
		}
	if (fits == holes.end()) {
		auto text = [](Address n) { return std::to_string(n) + " B"; };
		throw std::runtime_error(
			"Out of Memory: Not enough space to allocate " + text(asked) + " " + TYPE_NAMES[(int)type] +
			" buffer across " + std::to_string(shares) + " banks, where each bank needs to store " +
			text(per_bank) + ", but bank size is " + text(size) + " (allocated: " + text(allocated) +
			", free: " + text(size - allocated) + ", largest free block: " + text(largest_hole()) + ")");
	}
	Address start = fits->first, room = fits->second, address = is_bottom_up ? start : start + room - need;
	holes.erase(fits);
	if (room > need)
		holes[is_bottom_up ? start + need : start] = room - need;
	blocks[address] = need;
	allocated += need;
	return address;
}

void Banks::give(Address address)
{
	auto block = blocks.find(address);
	if (block == blocks.end())
		return;
	Address start = address, end = address + block->second;
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

void Banks::give_all()
{
	blocks.clear();
	holes.clear();
	allocated = 0;
	if (size > 0)
		holes[base] = size;
}

AllocatorImpl::AllocatorImpl(const AllocatorConfig &config) : card_(config)
{
	const AllocatorConfig &c = card_;
	Address trace = c.trace_region == 0 ? 0 : round_up((c.trace_region + c.dram_banks - 1) / c.dram_banks, 8192);
	Address l1_end = c.l1_size - c.l1_small;
	uint32_t cores = (uint32_t)(c.grid.x * c.grid.y);
	auto make = [&](BufferType type, uint32_t banks, Address base, Address end) {
		banks_[(int)type] = std::make_unique<Banks>(type, banks, base, end - base, c.alignment);
	};
	make(BufferType::DRAM, c.dram_banks, c.dram_base, c.dram_size - trace);
	make(BufferType::L1, cores, c.l1_base, l1_end);
	make(BufferType::L1_SMALL, c.l1_small > 0 ? cores : 0, l1_end, c.l1_size);
	make(BufferType::TRACE, c.dram_banks, c.dram_size - trace, c.dram_size);
#if SINCE(66)
	seen_ = std::make_unique<Allocator>(this);
#endif
}

OwnAllocator::OwnAllocator(const AllocatorConfig &config) : AllocatorImpl(config)
{
}

AllocatorImpl::~AllocatorImpl()
{
}

Address AllocatorImpl::allocate_buffer(Buffer *buffer)
{
	std::lock_guard lock(mutex_);
	Banks *to = banks_of(buffer->kind_);
	if (!to)
		throw std::runtime_error("Unsupported buffer type!");
	if (buffer->kind_ == BufferType::L1_SMALL && !buffer->num_cores())
		throw std::runtime_error("L1_SMALL buffers have to be sharded");
	Address address = to->take(buffer->bytes_, buffer->true_per_bank(), buffer->cores(), buffer->is_low_first_);
	known_.insert(buffer);
	return address;
}

void AllocatorImpl::deallocate_buffer(Buffer *buffer)
{
	std::lock_guard lock(mutex_);
	if (Banks *from = banks_of(buffer->kind_))
		from->give(buffer->place_);
	known_.erase(buffer);
}

void AllocatorImpl::deallocate_buffers()
{
	std::lock_guard lock(mutex_);
	for (auto &banks_of : banks_)
		if (banks_of)
			banks_of->give_all();
}

void AllocatorImpl::clear()
{
	std::lock_guard lock(mutex_);
	known_.clear();
}

uint32_t AllocatorImpl::get_num_banks(const BufferType &type) const
{
	std::lock_guard lock(mutex_);
	Banks *of = banks_of(type);
	return SAID(uint32_t, of ? of->banks : 0);
}

Address AllocatorImpl::get_bank_size(const BufferType &type) const
{
	std::lock_guard lock(mutex_);
	Banks *of = banks_of(type);
	return SAID(Address, of ? of->size : 0);
}

Address AllocatorImpl::get_base_allocator_addr(const HalMemType &type) const
{
	return SAID(Address, type == HalMemType::DRAM ? card_.dram_base : card_.l1_base);
}

uint32_t AllocatorImpl::get_alignment(BufferType type) const
{
	bool is_l1 = type == BufferType::L1 || type == BufferType::L1_SMALL;
	return SAID(uint32_t, is_l1 ? 16 : card_.alignment);
}

static void (*when_asked)(const void *allocator);

Statistics AllocatorImpl::get_statistics(const BufferType &type) const
{
	if (when_asked != nullptr)
		when_asked(this);
	std::lock_guard lock(mutex_);
	Statistics said;
	if (Banks *of = banks_of(type)) {
		said.total = SAID(size_t, of->size);
		said.allocated = SAID(size_t, of->allocated);
		said.free = SAID(size_t, of->size - of->allocated);
		said.largest = SAID(size_t, of->largest_hole());
#if !SINCE(100)
		for (const auto &[address, room] : of->holes)
			if (room == of->largest_hole())
				said.places.push_back((uint32_t)(address - of->base));
#endif
	}
	return said;
}

std::optional<Address> AllocatorImpl::lowest_l1() const
{
	std::lock_guard lock(mutex_);
	const Banks *l1 = banks_of(BufferType::L1);
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

Address Allocator::get_bank_size(const BufferType &type) const
{
	return impl->get_bank_size(type);
}

Address Allocator::get_base_allocator_addr(const HalMemType &type) const
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

void standin_when_asked(void (*call)(const void *allocator))
{
	tt::tt_metal::when_asked = call;
}
