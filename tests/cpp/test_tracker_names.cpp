// Code that was written for tt-train's tracker, with the include changed and nothing else. It is compiled three times:
// alone, with the runtime's own guard and modes in reach, and beside the real tracker's names.
#ifdef TEST_BESIDE_THE_REAL_ONE
namespace ttml::utils
{
namespace MemoryUsageTracker
{
inline int begin_capture()
{
	return 1;
}
} // namespace MemoryUsageTracker
} // namespace ttml::utils
#define TIDEMARK_NO_TTML_NAMES
#endif

#include <tidemark.hpp>

#include "check.hpp"

#ifndef TEST_BESIDE_THE_REAL_ONE

namespace tracker = ttml::utils::MemoryUsageTracker;

static void guard_ends_the_capture()
{
	{
		ttnn::ScopeGuard guard = ttml::utils::MemoryUsageTracker::begin_capture();
		ttml::utils::MemoryUsageTracker::snapshot("MODEL_CREATION");
		CHECK(tidemark_capture_is_active() == 1);
		CHECK(tracker::get_trace_names().size() == 1);
	}
	CHECK(tidemark_capture_is_active() == 0);
	CHECK(tracker::get_trace_names().empty());
}

static void released_guard_leaves_it()
{
	{
		ttnn::ScopeGuard guard = tracker::begin_capture(tt::tt_metal::IGraphProcessor::RunMode::NO_DISPATCH);
		tidemark::ScopedBuffer weights(tidemark::Buffer(tidemark::Kind::Dram, 1, 4096));
		CHECK(!tidemark::usage(0, tidemark::Kind::Dram) ||
			tidemark::usage(0, tidemark::Kind::Dram)->bytes == 0);
		tracker::end_capture("ITERATION_COMPLETE");
		weights.release();
		guard.release();
	}
	const ttml::utils::DRAMUsage dram = tracker::get_dram_usage("ITERATION_COMPLETE");
	const ttml::utils::L1UsagePerCore l1 = tracker::get_l1_usage("ITERATION_COMPLETE");
	CHECK(dram.peak == 4096 && dram.total_allocations == 4096 && dram.total_deallocations == 0);
	CHECK(l1.peak_total == 0);
	tracker::clear();
}

static void modes_of_the_runtime()
{
	using RunMode = tt::tt_metal::IGraphProcessor::RunMode;
	ttnn::ScopeGuard guard = tracker::begin_capture(RunMode::NORMAL);
	CHECK(thrown_by([] { auto second = tracker::begin_capture(RunMode::NORMAL); }) ==
		"MemoryUsageTracker: Capture already active");
	CHECK(tidemark_capture_is_active() == 1);
}

int main()
{
	return run_tests({ { "guard_ends_the_capture", guard_ends_the_capture },
		{ "released_guard_leaves_it", released_guard_leaves_it },
		{ "modes_of_the_runtime", modes_of_the_runtime } });
}

#else

static void both_names_are_there()
{
	CHECK(ttml::utils::MemoryUsageTracker::begin_capture() == 1);
	CHECK(tidemark_capture_is_active() == 0);
	auto guard = tidemark::MemoryUsageTracker::begin_capture(tidemark::RunMode::NORMAL);
	CHECK(tidemark_capture_is_active() == 1);
}

int main()
{
	return run_tests({ { "both_names_are_there", both_names_are_there } });
}

#endif
