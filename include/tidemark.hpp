/*
 * libtidemark for C++17: typed versions of the calls in tidemark.h, and objects that report the end of a buffer or
 * program when they go out of scope. Header-only; link with libtidemark.
 *
 * Only the phase tracker, namespace tidemark::MemoryUsageTracker, throws; it uses the names, texts and errors of
 * tt-train's tracker. To switch, include this header instead of tt-train's: it provides
 * ttml::utils::MemoryUsageTracker, ttnn::ScopeGuard and tt::tt_metal::IGraphProcessor::RunMode, the latter two from the
 * runtime's own headers if present. If the real tracker is also included, define TIDEMARK_NO_TTML_NAMES first; ours is
 * then available only in namespace tidemark.
 *
 * With TIDEMARK_DISABLE, defined before the #include, every call does nothing and no library is needed, as in
 * tidemark.h. The tracker then never throws, its figures are 0, and its lists are empty.
 */
#ifndef TIDEMARK_HPP
#define TIDEMARK_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tidemark.h"

#ifndef TIDEMARK_NO_TTML_NAMES
#if __has_include(<ttnn/common/guard.hpp>) && __has_include(<tt-metalium/graph_tracking.hpp>)
#define TIDEMARK_HAS_GUARD_      1
#define TIDEMARK_HAS_PROCESSORS_ 1
#else
#define TIDEMARK_HAS_GUARD_ 0
#if __has_include(<tt-metalium/graph_tracking.hpp>) && __cplusplus >= 202002L // the runtime's header needs C++20
#define TIDEMARK_HAS_PROCESSORS_ 1
#else
#define TIDEMARK_HAS_PROCESSORS_ 0
#endif
#endif
#if TIDEMARK_HAS_PROCESSORS_
#include <tt-metalium/graph_tracking.hpp>
#endif
#if TIDEMARK_HAS_GUARD_
#include <ttnn/common/guard.hpp>
#endif
#endif

namespace tidemark
{
#ifdef TIDEMARK_DISABLE
// Gives these functions different linker names from those in files compiled without TIDEMARK_DISABLE.
inline namespace disabled
{
#endif

enum class Kind : std::uint32_t {
	Dram = TIDEMARK_DRAM,
	L1 = TIDEMARK_L1,
	L1Small = TIDEMARK_L1_SMALL,
	Trace = TIDEMARK_TRACE,
	CircularBuffer = TIDEMARK_CB,
	DataflowBuffer = TIDEMARK_DFB,
	Scratchpad = TIDEMARK_SCRATCHPAD,
	Kernel = TIDEMARK_KERNEL,
	Firmware = TIDEMARK_FIRMWARE,
	System = TIDEMARK_SYSTEM,
	Config = TIDEMARK_CONFIG,
};

inline const char *to_string(Kind kind) noexcept
{
	return tidemark_kind_name(static_cast<int>(kind));
}

inline bool is_enabled() noexcept
{
	return tidemark_is_enabled() != 0;
}

inline int enable() noexcept
{
	return tidemark_enable();
}

inline int disable() noexcept
{
	return tidemark_disable();
}

/*
 * Devices.
 */

struct Region {
	Kind kind = Kind::Dram;
	std::uint32_t banks = 0; // banks or cores in lockstep
	std::uint64_t base = 0;
	std::uint64_t bank_size = 0;
	std::uint32_t align = 0; // alignment of allocations; 0: unknown
};

struct Device {
	std::uint32_t number = 0; // the runtime's logical device number
	std::string card;         // "n150"; empty: unknown
	std::optional<std::uint64_t> chip_id;
	std::uint32_t grid_x = 0, grid_y = 0;
	std::vector<Region> regions;
};

// Describes a device; a later call replaces the description.
inline int describe(const Device &device)
{
	std::vector<tidemark_region> regions;
	regions.reserve(device.regions.size());
	for (const Region &r : device.regions)
		regions.push_back({ static_cast<std::uint32_t>(r.kind), r.banks, r.base, r.bank_size, r.align, 0 });
	tidemark_device raw = TIDEMARK_DEVICE_INIT;
	raw.number = device.number;
	raw.card = device.card.empty() ? nullptr : device.card.c_str();
	raw.chip_id = device.chip_id.value_or(0);
	raw.has_chip_id = device.chip_id.has_value() ? 1 : 0;
	raw.grid_x = device.grid_x;
	raw.grid_y = device.grid_y;
	raw.region_count = static_cast<std::uint32_t>(regions.size());
	raw.regions = regions.data();
	return tidemark_describe_device(&raw);
}

/*
 * Buffers.
 */

using CoreRange = tidemark_core_range;

// An id for an item in the L1 of one core.
inline std::uint64_t core_id(std::uint32_t x, std::uint32_t y, std::uint64_t address) noexcept
{
	return tidemark_core_id(x, y, address);
}

// Describes a buffer, one call per fact: Buffer(Kind::L1, id, bytes).device(1).bytes_per_bank(2048).
class Buffer
{
      public:
	Buffer(Kind kind, std::uint64_t id, std::uint64_t bytes) noexcept
	{
		raw_.kind = static_cast<std::uint32_t>(kind);
		raw_.id = id;
		raw_.bytes = bytes;
		raw_.flags = TIDEMARK_NO_ADDRESS;
	}

	Buffer &device(std::uint32_t number) noexcept
	{
		raw_.device = number;
		return *this;
	}
	Buffer &address(std::uint64_t address) noexcept
	{
		raw_.address = address;
		raw_.flags &= ~static_cast<std::uint32_t>(TIDEMARK_NO_ADDRESS);
		return *this;
	}
	Buffer &bytes_per_bank(std::uint64_t bytes) noexcept
	{
		raw_.bytes_per_bank = bytes;
		return *this;
	}
	// The number of banks in lockstep, and how many of those hold a page (0: all).
	Buffer &banks(std::uint32_t count, std::uint32_t holding = 0) noexcept
	{
		raw_.banks = count;
		raw_.holding = holding;
		return *this;
	}
	Buffer &page_size(std::uint32_t bytes) noexcept
	{
		raw_.page_size = bytes;
		return *this;
	}
	// The number of cores that the buffer is sharded over.
	Buffer &cores(std::uint32_t count) noexcept
	{
		raw_.cores = count;
		return *this;
	}
	// The buffer's cores, for items in the L1 of particular cores.
	Buffer &ranges(std::vector<CoreRange> ranges) noexcept
	{
		ranges_ = std::move(ranges);
		return *this;
	}
	// Marks the memory as globally allocated or borrowed: its bytes are not counted.
	Buffer &view(bool is_view = true) noexcept
	{
		const std::uint32_t flag = TIDEMARK_VIEW;
		raw_.flags = is_view ? raw_.flags | flag : raw_.flags & ~flag;
		return *this;
	}
	// Other buffers of the kind may occupy the same bytes; report_core_use() reports their total.
	Buffer &shared(bool is_shared = true) noexcept
	{
		const std::uint32_t flag = TIDEMARK_SHARED;
		raw_.flags = is_shared ? raw_.flags | flag : raw_.flags & ~flag;
		return *this;
	}
	Buffer &name(const char *text) noexcept
	{
		raw_.name = tidemark_name(text);
		return *this;
	}
	Buffer &name(const std::string &text) noexcept
	{
		return name(text.c_str());
	}
	// A number from TIDEMARK_SITE() or tidemark_name().
	Buffer &name(std::uint32_t number) noexcept
	{
		raw_.name = number;
		return *this;
	}

	// The structure for the C functions; valid until this object is changed, moved or destroyed.
	tidemark_buffer raw() const noexcept
	{
		tidemark_buffer copy = raw_;
		copy.range_count = static_cast<std::uint32_t>(ranges_.size());
		copy.ranges = ranges_.empty() ? nullptr : ranges_.data();
		return copy;
	}

      private:
	tidemark_buffer raw_ = TIDEMARK_BUFFER_INIT;
	std::vector<CoreRange> ranges_;
};

inline int alloc(const Buffer &buffer) noexcept
{
	const tidemark_buffer raw = buffer.raw();
	return tidemark_alloc(&raw);
}

// Reports a buffer allocated before tracking was turned on; returns -EEXIST if the buffer is already known.
inline int adopt(const Buffer &buffer) noexcept
{
	const tidemark_buffer raw = buffer.raw();
	return tidemark_adopt(&raw);
}

inline int free(std::uint32_t device, Kind kind, std::uint64_t id) noexcept
{
	return tidemark_free(device, static_cast<std::uint32_t>(kind), id);
}

inline std::int64_t free_all(std::uint32_t device, Kind kind) noexcept
{
	return tidemark_free_all(device, static_cast<std::uint32_t>(kind));
}

inline int out_of_memory(
	std::uint32_t device, Kind kind, std::uint64_t bytes, std::uint64_t bytes_per_bank = 0) noexcept
{
	return tidemark_out_of_memory(device, static_cast<std::uint32_t>(kind), bytes, bytes_per_bank);
}

// Releases the buffers for which (id & mask) == value.
inline std::int64_t free_matching(std::uint32_t device, Kind kind, std::uint64_t mask, std::uint64_t value) noexcept
{
	return tidemark_free_matching(device, static_cast<std::uint32_t>(kind), mask, value);
}

// Reports that a program's circular buffers were refused: they grew into L1 buffers or beyond the end of L1.
inline int report_clash(const tidemark_clash &clash) noexcept
{
	return tidemark_report_clash(&clash);
}

// The memory that this process holds; empty if nothing was ever reported for that device.
inline std::optional<tidemark_usage> usage(std::uint32_t device, Kind kind) noexcept
{
	tidemark_usage figures = TIDEMARK_USAGE_INIT;
	if (tidemark_get_usage(device, static_cast<std::uint32_t>(kind), &figures) != 0)
		return std::nullopt;
	return figures;
}

// For runtimes, and for hooks in them.
inline int report_statistics(
	std::uint32_t device, Kind kind, std::uint64_t allocated, std::uint64_t free, std::uint64_t largest) noexcept
{
	return tidemark_report_statistics(device, static_cast<std::uint32_t>(kind), allocated, free, largest);
}

inline int report_core_use(std::uint32_t device, Kind kind, std::uint64_t fullest, std::uint64_t all) noexcept
{
	return tidemark_report_core_use(device, static_cast<std::uint32_t>(kind), fullest, all);
}

enum class Step : std::uint32_t {
	DeviceOpened = TIDEMARK_DEVICE_OPENED,
	DeviceClosed = TIDEMARK_DEVICE_CLOSED,
	TraceBegan = TIDEMARK_TRACE_BEGAN,
	TraceEnded = TIDEMARK_TRACE_ENDED,
	TraceReplayed = TIDEMARK_TRACE_REPLAYED,
	TraceReleased = TIDEMARK_TRACE_RELEASED,
};

inline int step(std::uint32_t device, Step step, std::uint64_t trace = 0) noexcept
{
	return tidemark_step(device, static_cast<std::uint32_t>(step), trace);
}

inline std::uint32_t counter(const char *name) noexcept
{
	return tidemark_counter(name);
}

inline int count(std::uint32_t counter, std::uint64_t more = 1) noexcept
{
	return tidemark_count(counter, more);
}

inline int remark(const char *text) noexcept
{
	return tidemark_remark(text);
}

// The short interface: kernels and circular buffers by number. Without cores, the cores are unknown, and a release
// applies to all circular buffers with the number.
inline int report_kernel(std::uint32_t device, std::uint64_t bytes, std::uint32_t core_type = 0) noexcept
{
	return tidemark_report_kernel(device, bytes, core_type);
}

inline int report_cb(std::uint32_t device, std::uint64_t bytes, std::uint32_t buffer_index,
	const std::optional<CoreRange> &cores = std::nullopt) noexcept
{
	return tidemark_report_cb(device, bytes, buffer_index, cores ? &*cores : nullptr);
}

inline int report_cb_free(
	std::uint32_t device, std::uint32_t buffer_index, const std::optional<CoreRange> &cores = std::nullopt) noexcept
{
	return tidemark_report_cb_free(device, 0, buffer_index, cores ? &*cores : nullptr);
}

// A buffer that stays allocated while this object lives.
class [[nodiscard]] ScopedBuffer
{
      public:
	explicit ScopedBuffer(const Buffer &buffer) noexcept
	{
		const tidemark_buffer raw = buffer.raw();
		device_ = raw.device;
		kind_ = raw.kind;
		id_ = raw.id;
		live_ = tidemark::is_enabled() && tidemark_alloc(&raw) == 0;
	}
	ScopedBuffer(ScopedBuffer &&other) noexcept
	    : device_(other.device_), kind_(other.kind_), id_(other.id_), live_(std::exchange(other.live_, false))
	{
	}
	ScopedBuffer &operator=(ScopedBuffer &&other) noexcept
	{
		if (this != &other) {
			reset();
			device_ = other.device_;
			kind_ = other.kind_;
			id_ = other.id_;
			live_ = std::exchange(other.live_, false);
		}
		return *this;
	}
	~ScopedBuffer()
	{
		reset();
	}

	// Reports the release immediately.
	void reset() noexcept
	{
		if (std::exchange(live_, false))
			tidemark_free(device_, kind_, id_);
	}
	// Gives up the buffer: its release will be reported elsewhere.
	void release() noexcept
	{
		live_ = false;
	}
	bool is_live() const noexcept
	{
		return live_;
	}

      private:
	std::uint32_t device_ = 0, kind_ = 0;
	std::uint64_t id_ = 0;
	bool live_ = false;
};

/*
 * Programs and phases.
 */

// Names the program or operation of this thread while this object lives, then restores the previous name.
class [[nodiscard]] ScopedProgram
{
      public:
	explicit ScopedProgram(const std::string &name) : before_(tidemark_swap_program(0))
	{
		tidemark_program(name.c_str());
	}
	~ScopedProgram()
	{
		tidemark_swap_program(before_);
	}
	ScopedProgram(const ScopedProgram &) = delete;
	ScopedProgram &operator=(const ScopedProgram &) = delete;

      private:
	std::uint32_t before_;
};

// Marks the beginning of a phase on the time line.
inline int phase(const char *name) noexcept
{
	return tidemark_phase(name);
}

inline int phase(const std::string &name) noexcept
{
	return tidemark_phase(name.c_str());
}

/*
 * The phase tracker.
 */

// NO_DISPATCH: reports are only added up and nothing is placed, so a model larger than the card can be measured.
enum class RunMode { NORMAL, NO_DISPATCH };

// Bytes relative to the start of the segment.
struct DRAMUsage {
	long long peak = 0;
	long long total_allocations = 0;
	long long total_deallocations = 0;
};

// Bytes in one core.
struct L1UsagePerCore {
	std::size_t peak_cb = 0;
	std::size_t peak_l1 = 0;
	std::size_t peak_dataflow_buffer = 0;
	std::size_t peak_scratchpad = 0;
	std::size_t peak_total = 0;
};

// When the object goes out of scope, ends the capture and clears the segments, unless the object was released.
class [[nodiscard]] ScopeGuard
{
      public:
	ScopeGuard() noexcept = default;
	explicit ScopeGuard(bool is_armed) noexcept : armed_(is_armed)
	{
	}
	ScopeGuard(ScopeGuard &&other) noexcept : armed_(std::exchange(other.armed_, false))
	{
	}
	ScopeGuard &operator=(ScopeGuard &&other) noexcept
	{
		if (this != &other) {
			close();
			armed_ = std::exchange(other.armed_, false);
		}
		return *this;
	}
	~ScopeGuard()
	{
		close();
	}

	void release() noexcept
	{
		armed_ = false;
	}

	// Lets the runtime's own ttnn::ScopeGuard be initialised with the result of begin_capture().
	template <template <typename> class Guard> operator Guard<std::function<void()>>() &&
	{
		const bool is_armed = std::exchange(armed_, false);
		return Guard<std::function<void()>>(
			is_armed ? std::function<void()>(&ScopeGuard::finish) : std::function<void()>());
	}

      private:
	static void finish() noexcept
	{
		tidemark_capture_end(nullptr);
		tidemark_capture_clear();
	}
	void close() noexcept
	{
		if (std::exchange(armed_, false))
			finish();
	}

	bool armed_ = false;
};

namespace detail
{

inline void check(int code)
{
	if (code == TIDEMARK_ECAPTURE_ACTIVE || code == TIDEMARK_ECAPTURE_INACTIVE)
		throw std::runtime_error(tidemark_strerror(code));
	if (code < 0)
		throw std::runtime_error(std::string("MemoryUsageTracker: ") + tidemark_strerror(code));
}

inline DRAMUsage dram_usage(const tidemark_segment &segment)
{
	return { segment.dram_peak, segment.dram_allocations, segment.dram_deallocations };
}

inline L1UsagePerCore l1_usage(const tidemark_segment &segment)
{
	return { static_cast<std::size_t>(segment.l1_peak_cb), static_cast<std::size_t>(segment.l1_peak_buffer),
		static_cast<std::size_t>(segment.l1_peak_dfb), static_cast<std::size_t>(segment.l1_peak_scratchpad),
		static_cast<std::size_t>(segment.l1_peak_total) };
}

// Each segment's name, with the result of calling `read` on the segment.
template <typename Read> auto all_segments(Read read)
{
	std::vector<std::pair<std::string, std::invoke_result_t<Read, const tidemark_segment &>>> result;
	tidemark_segment segment = TIDEMARK_SEGMENT_INIT;
	for (std::size_t i = 0; tidemark_capture_get(i, &segment) == 0; i++)
		result.emplace_back(segment.name, read(segment));
	return result;
}

template <typename Read> auto only_segment(const std::string &name, Read read)
{
	std::size_t count = 0;
	tidemark_segment segment = TIDEMARK_SEGMENT_INIT, match = segment;
	for (std::size_t i = 0; tidemark_capture_get(i, &segment) == 0; i++) {
		if (name == segment.name) {
			match = segment;
			count++;
		}
	}
#ifndef TIDEMARK_DISABLE
	if (count == 0)
		throw std::runtime_error("MemoryUsageTracker: Trace '" + name + "' not found");
#endif
	if (count > 1)
		throw std::runtime_error(
			"MemoryUsageTracker: Trace '" + name + "' is ambiguous (" + std::to_string(count) +
			" segments share this name); use get_dram_usage_all()/get_l1_usage_all() instead");
	return read(match);
}

// Any other enumeration with a member NO_DISPATCH.
template <typename Mode, typename = void> struct is_run_mode : std::false_type {
};
template <typename Mode>
struct is_run_mode<Mode, std::void_t<decltype(Mode::NO_DISPATCH)>>
    : std::bool_constant<std::is_enum_v<Mode> && !std::is_same_v<Mode, RunMode>> {
};

} // namespace detail

namespace MemoryUsageTracker
{

inline constexpr const char *kDefaultTraceName = "END_TRACE";

// Begins a capture and turns tracking on if it is off. Throws when a capture is active.
inline ScopeGuard begin_capture(RunMode mode = RunMode::NORMAL)
{
	detail::check(tidemark_capture_begin(
		mode == RunMode::NO_DISPATCH ? TIDEMARK_CAPTURE_NO_DISPATCH : TIDEMARK_CAPTURE_NORMAL));
	return ScopeGuard(true);
}

// Like begin_capture() above, with the runtime's own RunMode.
template <typename Mode, typename = std::enable_if_t<detail::is_run_mode<Mode>::value>>
inline ScopeGuard begin_capture(Mode mode)
{
	return begin_capture(mode == Mode::NO_DISPATCH ? RunMode::NO_DISPATCH : RunMode::NORMAL);
}

// Ends the capture; the last segment gets this name. Does nothing without a capture.
inline void end_capture(const std::string &name = kDefaultTraceName)
{
	detail::check(tidemark_capture_end(name.c_str()));
}

// Ends the current segment under this name and begins the next. Throws without a capture.
inline void snapshot(const std::string &name)
{
	detail::check(tidemark_capture_snapshot(name.c_str()));
}

// The figures of the only segment with this name. Throws when there is none or more than one.
inline DRAMUsage get_dram_usage(const std::string &name = kDefaultTraceName)
{
	return detail::only_segment(name, detail::dram_usage);
}

inline L1UsagePerCore get_l1_usage(const std::string &name = kDefaultTraceName)
{
	return detail::only_segment(name, detail::l1_usage);
}

// The figures of all segments, in the order they ended.
inline std::vector<std::pair<std::string, DRAMUsage>> get_dram_usage_all()
{
	return detail::all_segments(detail::dram_usage);
}

inline std::vector<std::pair<std::string, L1UsagePerCore>> get_l1_usage_all()
{
	return detail::all_segments(detail::l1_usage);
}

inline std::vector<std::string> get_trace_names()
{
	std::vector<std::string> names;
	tidemark_segment segment = TIDEMARK_SEGMENT_INIT;
	for (std::size_t i = 0; tidemark_capture_get(i, &segment) == 0; i++)
		names.emplace_back(segment.name);
	return names;
}

// Prints the summary of all segments on standard output.
inline void print_memory_usage()
{
	tidemark_capture_print();
}

// Returns the text that print_memory_usage() prints.
inline std::string format_memory_usage()
{
	std::string text(tidemark_capture_format(nullptr, 0) + 1, '\0');
	text.resize(std::min(tidemark_capture_format(text.data(), text.size()), text.size() - 1));
	return text;
}

// Removes all segments and ends the capture if one is active.
inline void clear() noexcept
{
	tidemark_capture_clear();
}

} // namespace MemoryUsageTracker

#ifdef TIDEMARK_DISABLE
} // namespace disabled
#endif
} // namespace tidemark

#ifndef TIDEMARK_NO_TTML_NAMES

namespace ttml::utils
{
using DRAMUsage = ::tidemark::DRAMUsage;
using L1UsagePerCore = ::tidemark::L1UsagePerCore;
namespace MemoryUsageTracker = ::tidemark::MemoryUsageTracker;
} // namespace ttml::utils

#if !TIDEMARK_HAS_GUARD_
namespace ttnn
{
using ScopeGuard = ::tidemark::ScopeGuard;
}
#endif
#if !TIDEMARK_HAS_PROCESSORS_
namespace tt::tt_metal
{
class IGraphProcessor
{
      public:
	using RunMode = ::tidemark::RunMode;
};
} // namespace tt::tt_metal
#endif
#undef TIDEMARK_HAS_GUARD_
#undef TIDEMARK_HAS_PROCESSORS_

#endif

#endif
