/*
 * Who listens to the graph tracker, as the adapter knows it, for tests: of the generation before v0.72 with
 * FAKE_METAL_OLD, else of today's. Whoever includes this has declared cores, buffers, devices and programs.
 */
#pragma once

#include <any>
#include <cstdint>
#include <string_view>

#if __cplusplus >= 202002L
#include <span>
template <class T> using fake_span = std::span<T>;
#else // the interface needs C++20; the adapter itself does not
template <class T> class fake_span
{
};
#endif

namespace tt::tt_metal
{

#ifdef FAKE_METAL_OLD
using TrackedArgument = std::any;
#else
struct TrackedArgument {
	std::any value;
};
#endif

class IGraphProcessor
{
      public:
	enum class RunMode { NORMAL, NO_DISPATCH };
	virtual ~IGraphProcessor() = default;
#ifndef FAKE_METAL_OLD
	virtual bool is_capture_processor() const
	{
		return true;
	}
	virtual void track_allocate_dataflow_buffer(
		const CoreRangeSet &, std::uint64_t, std::uint64_t, bool, const IDevice *)
	{
	}
	virtual void track_allocate_scratchpad(const CoreRangeSet &, std::uint64_t, std::uint64_t, const IDevice *)
	{
	}
#endif
	virtual void track_allocate(const Buffer *)
	{
	}
	virtual void track_deallocate(Buffer *)
	{
	}
	virtual void track_allocate_cb(const CoreRangeSet &, std::uint64_t, std::uint64_t, bool, const IDevice *)
	{
	}
	virtual void track_deallocate_cb(const IDevice *)
	{
	}
	virtual void track_program(Program *, const IDevice *)
	{
	}
	virtual void track_function_start(std::string_view, fake_span<TrackedArgument>)
	{
	}
	virtual void track_function_end()
	{
	}
	virtual void track_function_end(const std::any &)
	{
	}
	virtual void begin_capture(RunMode)
	{
	}
	virtual int end_capture()
	{
		return 0;
	}
};

class IGraphHooks
{
      public:
	virtual ~IGraphHooks() = default;
};

} // namespace tt::tt_metal
