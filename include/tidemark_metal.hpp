/*
 * Reports tt-metal's allocations, through its public graph-tracking interface: for programs that are built against
 * tt-metalium. Header-only; link with libtidemark. Includes tt-metal's own headers, and copies nothing from them.
 *
 *     tidemark::metal::watch watching;   // in main, and in each thread that allocates
 *
 * A `watch` sees the buffers on each chip, the running operation, which becomes the program's name, and the circular
 * buffers, dataflow buffers and scratchpads that the runtime announces. A capture without dispatch uses no memory, so
 * it is left out. Works with releases since v0.57. Since v0.72 each thread has its own list of processors, so each
 * thread that allocates or releases needs its own `watch`; in earlier releases one `watch` serves all threads, and a
 * second one does no harm.
 *
 * If libtidemark-metal.so is preloaded and sees the buffers itself, this does nothing, so nothing is counted twice.
 */
#ifndef TIDEMARK_METAL_HPP
#define TIDEMARK_METAL_HPP

#include "tidemark.h"

#if defined(TIDEMARK_DISABLE)

namespace tidemark::metal
{
inline namespace disabled
{
inline bool is_preloaded() noexcept
{
	return false;
}
inline bool install()
{
	return false;
}
inline void uninstall() noexcept
{
}
inline void release_all() noexcept
{
}
struct watch {
	watch()
	{
	}
	~watch()
	{
	}
	watch(const watch &) = delete;
	watch &operator=(const watch &) = delete;
};
} // namespace disabled
} // namespace tidemark::metal

#else

#include <algorithm>
#include <any>
#include <atomic>
#include <cstdint>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tt-metalium/allocator.hpp>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/mesh_device.hpp>

namespace tidemark::metal
{

// Whether libtidemark-metal.so is in the process and reports the buffers.
inline bool is_preloaded() noexcept
{
	using answer = int (*)();
	void *symbol = dlsym(RTLD_DEFAULT, "tidemark_metal_is_loaded");
	return symbol != nullptr && reinterpret_cast<answer>(symbol)() != 0;
}

namespace detail
{

using Processor = tt::tt_metal::IGraphProcessor;
using Tracker = tt::tt_metal::GraphTracker;
using Chips = std::vector<std::uint32_t>;

// Types that differ between releases, deduced from the interface.
template <class Function> struct arguments;
template <class Class, class Second> struct arguments<void (Class::*)(std::string_view, Second)> {
	using parameters = Second;
};
template <class Class, class Set, class Device>
struct arguments<void (Class::*)(Set, std::uint64_t, std::uint64_t, bool, Device)> {
	using ranges = Set;
};
using Parameters = arguments<decltype(&Processor::track_function_start)>::parameters;
using Ranges = arguments<decltype(&Processor::track_allocate_cb)>::ranges;

// A device's chips, without duplicates.
inline Chips chips_of(const tt::tt_metal::IDevice *device)
{
	Chips chips;
	if (device == nullptr)
		return chips;
	if (const auto *mesh = dynamic_cast<const tt::tt_metal::distributed::MeshDevice *>(device)) {
		for (const tt::tt_metal::IDevice *chip : mesh->get_devices())
			chips.push_back(static_cast<std::uint32_t>(chip->id()));
		std::sort(chips.begin(), chips.end());
		chips.erase(std::unique(chips.begin(), chips.end()), chips.end());
	} else {
		chips.push_back(static_cast<std::uint32_t>(device->id()));
	}
	return chips;
}

inline std::uint32_t kind_of(tt::tt_metal::BufferType type)
{
	using Type = tt::tt_metal::BufferType;
	switch (type) {
	case Type::L1:
		return TIDEMARK_L1;
	case Type::L1_SMALL:
		return TIDEMARK_L1_SMALL;
	case Type::TRACE:
		return TIDEMARK_TRACE;
	case Type::SYSTEM_MEMORY:
		return TIDEMARK_SYSTEM;
	default:
		return TIDEMARK_DRAM;
	}
}

template <class Set> std::vector<tidemark_core_range> ranges_of(const Set &set)
{
	std::vector<tidemark_core_range> ranges;
	for (const auto &range : set.ranges())
		ranges.push_back({ static_cast<std::uint16_t>(range.start_coord.x),
			static_cast<std::uint16_t>(range.start_coord.y), static_cast<std::uint16_t>(range.end_coord.x),
			static_cast<std::uint16_t>(range.end_coord.y) });
	return ranges;
}

// The cores of a sharded buffer; empty in releases whose buffers do not reveal a shard spec.
template <class Buffer, class = void> struct shards {
	static std::vector<tidemark_core_range> of(const Buffer &)
	{
		return {};
	}
};
template <class Buffer> struct shards<Buffer, std::void_t<decltype(std::declval<const Buffer &>().has_shard_spec())>> {
	static std::vector<tidemark_core_range> of(const Buffer &buffer)
	{
		if (!buffer.has_shard_spec())
			return {};
		return ranges_of(buffer.shard_spec().grid());
	}
};

// The bytes used in each core by items that may overlap: programs that are not resident together share addresses.
class core_union
{
      public:
	void add(const std::vector<tidemark_core_range> &ranges, std::uint64_t begin, std::uint64_t size)
	{
		for (const tidemark_core_range &range : ranges)
			for (std::uint32_t x = range.x0; x <= range.x1; x++)
				for (std::uint32_t y = range.y0; y <= range.y1; y++)
					add(cores_[{ x, y }], begin, begin + size);
	}

	std::uint64_t fullest() const
	{
		return fullest_;
	}

	std::uint64_t all() const
	{
		return all_;
	}

      private:
	struct core {
		std::map<std::uint64_t, std::uint64_t> spans; // begin and end; spans neither overlap nor touch
		std::uint64_t bytes = 0;
	};

	void add(core &at, std::uint64_t begin, std::uint64_t end)
	{
		const std::uint64_t before = at.bytes;
		auto next = at.spans.upper_bound(begin);
		if (next != at.spans.begin() && std::prev(next)->second >= begin)
			--next;
		while (next != at.spans.end() && next->first <= end) {
			begin = std::min(begin, next->first);
			end = std::max(end, next->second);
			at.bytes -= next->second - next->first;
			next = at.spans.erase(next);
		}
		at.spans.emplace(begin, end);
		at.bytes += end - begin;
		all_ += at.bytes - before;
		fullest_ = std::max(fullest_, at.bytes);
	}

	std::map<std::pair<std::uint32_t, std::uint32_t>, core> cores_;
	std::uint64_t fullest_ = 0, all_ = 0;
};

// An operation, and the program name that its thread had before the operation.
struct operation {
	std::string name;
	std::uint32_t before;
};

// The operations this thread is executing, innermost last.
inline std::vector<operation> &operations()
{
	thread_local std::vector<operation> all;
	return all;
}

// Functions that exist only in newer releases, so they cannot be marked as overrides.
class newer_calls : public Processor
{
      public:
	// Captures ignore this processor.
	bool is_capture_processor() const
	{
		return false;
	}

	void track_allocate_dataflow_buffer(Ranges ranges, std::uint64_t address, std::uint64_t size,
		bool borrows_memory, const tt::tt_metal::IDevice *device)
	{
		allocate_in_cores(TIDEMARK_DFB, ranges, address, size, borrows_memory, device);
	}

	void track_allocate_scratchpad(
		Ranges ranges, std::uint64_t address, std::uint64_t size, const tt::tt_metal::IDevice *device)
	{
		allocate_in_cores(TIDEMARK_SCRATCHPAD, ranges, address, size, false, device);
	}

      protected:
	virtual void allocate_in_cores(std::uint32_t kind, Ranges ranges, std::uint64_t address, std::uint64_t size,
		bool is_view, const tt::tt_metal::IDevice *device) = 0;
};

/*
 * One object for all threads. `mutex_` guards its records; no runtime function is called while the mutex is held. No
 * exception escapes: unreadable facts are left out, with a remark for readers.
 */
class processor final : public newer_calls
{
      public:
	void track_allocate(const tt::tt_metal::Buffer *buffer) override
	{
		if (is_off() || is_imagined(buffer->address()) || buffer->size() == 0)
			return;
		guarded([&] { allocate(*buffer); });
	}

	void track_deallocate(tt::tt_metal::Buffer *buffer) override
	{
		std::lock_guard<std::mutex> lock(mutex_);
		const auto at = buffers_.find(buffer);
		if (at == buffers_.end())
			return; // allocated before the watch began, or without dispatch
		for (std::uint32_t chip : at->second.chips)
			tidemark_free(chip, at->second.kind, at->second.id);
		buffers_.erase(at);
	}

	void track_allocate_cb(Ranges ranges, std::uint64_t address, std::uint64_t size, bool is_globally_allocated,
		const tt::tt_metal::IDevice *device) override
	{
		allocate_in_cores(TIDEMARK_CB, ranges, address, size, is_globally_allocated, device);
	}

	// The call does not name the program. Like the runtime's own graph processor, we treat the call as the end of
	// all items on the device.
	void track_deallocate_cb(const tt::tt_metal::IDevice *device) override
	{
		guarded([&] {
			const Chips chips = chips_of(device);
			std::lock_guard<std::mutex> lock(mutex_);
			for (std::uint32_t chip : chips)
				for (std::uint32_t kind : { TIDEMARK_CB, TIDEMARK_DFB, TIDEMARK_SCRATCHPAD })
					free_in_cores(chip, kind);
		});
	}

	void track_function_start(std::string_view name, Parameters) override
	{
		guarded([&] {
			operations().push_back({ std::string(name), tidemark_swap_program(0) });
			tidemark_program(operations().back().name.c_str());
		});
	}

	void track_function_end() override
	{
		end_function();
	}

	void track_function_end(const std::any &) override
	{
		end_function();
	}

	void begin_capture(RunMode mode) override
	{
		is_without_dispatch_ = mode == RunMode::NO_DISPATCH;
	}

	void release_all() noexcept
	{
		std::lock_guard<std::mutex> lock(mutex_);
		for (const auto &[buffer, what] : buffers_)
			for (std::uint32_t chip : what.chips)
				tidemark_free(chip, what.kind, what.id);
		buffers_.clear();
		while (!in_cores_.empty())
			free_in_cores(in_cores_.begin()->first.first, in_cores_.begin()->first.second);
	}

	std::atomic<int> users{ 0 };

      protected:
	void allocate_in_cores(std::uint32_t kind, Ranges set, std::uint64_t address, std::uint64_t size, bool is_view,
		const tt::tt_metal::IDevice *device) override
	{
		if (is_off() || is_imagined(address) || size == 0)
			return;
		guarded([&] {
			const Chips chips = chips_of(device);
			const std::vector<tidemark_core_range> ranges = ranges_of(set);
			std::lock_guard<std::mutex> lock(mutex_);
			for (std::uint32_t chip : chips)
				put_in_cores(chip, kind, { 0, address, size, is_view, ranges });
		});
	}

      private:
	struct reported {
		Chips chips;
		std::uint32_t kind;
		std::uint64_t id;
	};

	struct item {
		std::uint64_t id, address, size; // size: bytes in each core
		bool is_view;
		std::vector<tidemark_core_range> ranges;

		bool is_at(const item &other) const
		{
			return address == other.address && is_view == other.is_view &&
			       std::equal(ranges.begin(), ranges.end(), other.ranges.begin(), other.ranges.end(),
				       [](const tidemark_core_range &a, const tidemark_core_range &b) {
					       return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1;
				       });
		}
	};

	struct kind_in_cores {
		std::vector<item> items;
		core_union use;
	};

	bool is_off() const
	{
		return !tidemark_is_enabled() || is_without_dispatch_ || users == 0;
	}

	// In a capture without dispatch, a hook intercepts each request and the address is 0.
	static bool is_imagined(std::uint64_t address)
	{
		return address == 0 && Tracker::instance().get_hook() != nullptr;
	}

	template <class Work> static void guarded(Work work) noexcept
	{
		try {
			work();
		} catch (...) {
			tidemark_remark("metal: the adapter could not read a buffer, and left it out");
		}
	}

	static void end_function() noexcept
	{
		if (operations().empty())
			return; // the operation began before the watch did
		tidemark_swap_program(operations().back().before);
		operations().pop_back();
	}

	void allocate(const tt::tt_metal::Buffer &buffer)
	{
		const std::vector<tidemark_core_range> ranges = shards<tt::tt_metal::Buffer>::of(buffer);
		const auto *allocator = buffer.allocator();
		tidemark_buffer report = TIDEMARK_BUFFER_INIT;
		report.kind = kind_of(buffer.buffer_type());
		report.address = buffer.address();
		report.bytes = buffer.size();
		report.bytes_per_bank = buffer.aligned_size_per_bank();
		report.banks = allocator != nullptr ? allocator->get_num_banks(buffer.buffer_type()) : 0;
		report.page_size = static_cast<std::uint32_t>(buffer.page_size());
		report.cores = buffer.num_cores().value_or(0);
		report.ranges = ranges.empty() ? nullptr : ranges.data();
		report.range_count = static_cast<std::uint32_t>(ranges.size());
		reported what{ chips_of(buffer.device()), report.kind, 0 };
		if (allocator != nullptr)
			describe(what.chips, *buffer.device(), *allocator);

		std::lock_guard<std::mutex> lock(mutex_);
		// Devices, meshes and submeshes have their own allocators, which may return equal addresses.
		const std::uint64_t number = allocators_.emplace(allocator, allocators_.size()).first->second;
		report.id = what.id = number << 48 | report.address;
		const auto old = buffers_.find(&buffer);
		if (old != buffers_.end()) // an earlier object at this address was released after its device was closed
			for (std::uint32_t chip : old->second.chips)
				tidemark_free(chip, old->second.kind, old->second.id);
		for (std::uint32_t chip : what.chips) {
			report.device = chip;
			tidemark_alloc(&report);
		}
		buffers_.insert_or_assign(&buffer, std::move(what));
	}

	// Describes DRAM and L1 the first time a chip is seen.
	template <class Allocator>
	void describe(const Chips &chips, const tt::tt_metal::IDevice &device, const Allocator &allocator)
	{
		using Type = tt::tt_metal::BufferType;
		using Memory = tt::tt_metal::HalMemType;
		Chips unknown;
		{
			std::lock_guard<std::mutex> lock(mutex_);
			for (std::uint32_t chip : chips)
				if (described_.insert(chip).second)
					unknown.push_back(chip);
		}
		if (unknown.empty())
			return;
		const auto grid = device.compute_with_storage_grid_size();
		const tidemark_region regions[] = {
			{ TIDEMARK_DRAM, allocator.get_num_banks(Type::DRAM),
				allocator.get_base_allocator_addr(Memory::DRAM), allocator.get_bank_size(Type::DRAM), 0,
				0 },
			{ TIDEMARK_L1, allocator.get_num_banks(Type::L1), allocator.get_base_allocator_addr(Memory::L1),
				allocator.get_bank_size(Type::L1), 0, 0 },
		};
		tidemark_device description = TIDEMARK_DEVICE_INIT;
		description.grid_x = static_cast<std::uint32_t>(grid.x);
		description.grid_y = static_cast<std::uint32_t>(grid.y);
		description.region_count = 2;
		description.regions = regions;
		for (std::uint32_t chip : unknown) {
			description.number = chip;
			tidemark_describe_device(&description);
		}
	}

	// A program announced again has the same items, or items of different sizes at the same addresses.
	void put_in_cores(std::uint32_t chip, std::uint32_t kind, item added)
	{
		kind_in_cores &there = in_cores_[{ chip, kind }];
		auto same = std::find_if(
			there.items.begin(), there.items.end(), [&](const item &other) { return other.is_at(added); });
		if (same != there.items.end() && same->size == added.size)
			return;
		if (same != there.items.end()) {
			tidemark_free(chip, kind, same->id);
			there.items.erase(same);
			there.use = core_union();
			for (const item &other : there.items)
				if (!other.is_view)
					there.use.add(other.ranges, other.address, other.size);
		}
		added.id = ++last_id_;
		std::uint64_t cores = 0;
		for (const tidemark_core_range &r : added.ranges)
			cores += std::uint64_t{ 1 } * (r.x1 - r.x0 + 1) * (r.y1 - r.y0 + 1);
		tidemark_buffer report = TIDEMARK_BUFFER_INIT;
		report.device = chip;
		report.kind = kind;
		report.flags = added.is_view ? TIDEMARK_VIEW : TIDEMARK_SHARED;
		report.id = added.id;
		report.address = added.address;
		report.bytes = added.size * cores;
		report.bytes_per_bank = added.size;
		report.name = operations().empty() ? 0 : tidemark_name(operations().back().name.c_str());
		report.ranges = added.ranges.data();
		report.range_count = static_cast<std::uint32_t>(added.ranges.size());
		tidemark_alloc(&report);
		if (!added.is_view)
			there.use.add(added.ranges, added.address, added.size);
		there.items.push_back(std::move(added));
		tidemark_report_core_use(chip, kind, there.use.fullest(), there.use.all());
	}

	void free_in_cores(std::uint32_t chip, std::uint32_t kind)
	{
		const auto at = in_cores_.find({ chip, kind });
		if (at == in_cores_.end())
			return;
		for (const item &each : at->second.items)
			tidemark_free(chip, kind, each.id);
		in_cores_.erase(at);
		tidemark_report_core_use(chip, kind, 0, 0);
	}

	std::mutex mutex_;
	std::unordered_map<const tt::tt_metal::Buffer *, reported> buffers_;
	std::unordered_map<const void *, std::uint64_t> allocators_; // allocator numbers, in the order of first use
	std::map<std::pair<std::uint32_t, std::uint32_t>, kind_in_cores> in_cores_; // by chip and kind
	std::set<std::uint32_t> described_;
	std::uint64_t last_id_ = 0;
	std::atomic<bool> is_without_dispatch_{ false };
};

inline const std::shared_ptr<processor> &shared_processor()
{
	static const std::shared_ptr<processor> only = std::make_shared<processor>();
	return only;
}

/*
 * Puts our processor first in this thread's list, or removes it. A capture is the last entry of the list and ends with
 * pop_processor(), so our processor must never follow a capture. Returns false if there was nothing to do.
 */
inline bool arrange(bool is_wanted)
{
	Tracker &tracker = Tracker::instance();
	const std::shared_ptr<Processor> ours = shared_processor();
	const std::vector<std::shared_ptr<Processor>> others = tracker.get_processors();
	const bool is_there = std::find(others.begin(), others.end(), ours) != others.end();
	if (is_there == is_wanted)
		return false;
	for (std::size_t i = 0; i < others.size(); i++)
		tracker.pop_processor();
	if (is_wanted)
		tracker.push_processor(ours);
	for (const std::shared_ptr<Processor> &other : others)
		if (other != ours)
			tracker.push_processor(other);
	return true;
}

// Set when a second thread has not found our processor, which proves that each thread has its own list.
inline std::atomic<bool> &has_lists_per_thread()
{
	static std::atomic<bool> has{ false };
	return has;
}

inline int &uses_of_thread()
{
	thread_local int uses = 0;
	return uses;
}

} // namespace detail

/*
 * Starts reporting this thread's allocations and releases (before v0.72: those of all threads). False, with nothing
 * changed, if the preload reports them already. Do not call it while other threads use a release before v0.72: all
 * threads share one list there, which the runtime does not lock.
 */
inline bool install()
{
	if (is_preloaded())
		return false;
	if (detail::arrange(true) && detail::uses_of_thread() == 0 && detail::shared_processor()->users != 0)
		detail::has_lists_per_thread() = true;
	detail::uses_of_thread()++;
	detail::shared_processor()->users++;
	return true;
}

// Undoes one of this thread's install() calls. Reported buffers stay in the ledger.
inline void uninstall() noexcept
{
	if (detail::uses_of_thread() == 0)
		return;
	const bool is_last = --detail::shared_processor()->users == 0;
	try {
		if (--detail::uses_of_thread() == 0 && (is_last || detail::has_lists_per_thread()))
			detail::arrange(false);
	} catch (...) { // out of memory: the processor stays in the list but does nothing while it has no users
	}
}

// Call this after the devices were closed: the runtime does not announce the release of remaining buffers.
inline void release_all() noexcept
{
	detail::shared_processor()->release_all();
}

// Reports for as long as the object exists. Belongs to the thread that created it.
class watch
{
      public:
	watch() : is_installed_(install())
	{
	}
	~watch()
	{
		if (is_installed_)
			uninstall();
	}
	watch(const watch &) = delete;
	watch &operator=(const watch &) = delete;

      private:
	bool is_installed_;
};

} // namespace tidemark::metal

#endif
#endif
