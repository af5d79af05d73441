// tidemark.hpp: buffers, devices, programs, and the phase tracker.
#include <tidemark.hpp>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <thread>
#include <type_traits>

#include "check.hpp"

using namespace tidemark;

static_assert(!std::is_copy_constructible_v<ScopedBuffer> && std::is_nothrow_move_constructible_v<ScopedBuffer>);
static_assert(!std::is_copy_constructible_v<ScopeGuard> && std::is_nothrow_move_constructible_v<ScopeGuard>);
static_assert(!std::is_move_constructible_v<ScopedProgram>);
static_assert(std::is_same_v<decltype(DRAMUsage::peak), long long>);
static_assert(std::is_same_v<decltype(L1UsagePerCore::peak_cb), std::size_t>);

static bool is_in_ledger(const std::string &text)
{
	std::ifstream file(tidemark_ledger_path(), std::ios::binary);
	const std::string content{ std::istreambuf_iterator<char>(file), {} };
	return content.find(text) != std::string::npos;
}

static void buffers_are_reported()
{
	const std::uint32_t device = 1;
	CHECK(enable() == 0 && is_enabled());
	CHECK(std::string(to_string(Kind::CircularBuffer)) == "cb");
	Buffer weights(Kind::Dram, 0x1000, 12 * 4096);
	weights.device(device).address(0x1000).bytes_per_bank(4096).banks(12).page_size(4096).name("weights of hpp");
	CHECK(alloc(weights) == 0);
	CHECK(alloc(Buffer(Kind::L1, core_id(5, 3, 0x20000), 2048)
			      .device(device)
			      .cores(1)
			      .ranges({ { 5, 3, 5, 3 } })
			      .name(TIDEMARK_SITE())) == 0);
	CHECK(alloc(Buffer(Kind::CircularBuffer, 7, 4096).device(device).view()) == 0);
	CHECK(usage(device, Kind::Dram)->bytes == 49152);
	CHECK(usage(device, Kind::L1)->buffers == 1);
	CHECK(usage(device, Kind::CircularBuffer)->bytes == 0);
	CHECK(is_in_ledger("weights of hpp") && is_in_ledger("test_tidemark_hpp.cpp:"));
	CHECK(tidemark::free(device, Kind::Dram, 0x1000) == 0);
	CHECK(tidemark::free(device, Kind::Dram, 0x1000) < 0);
	CHECK(free_all(device, Kind::L1) == 1 && free_all(device, Kind::CircularBuffer) == 1);
	CHECK(out_of_memory(device, Kind::L1, 1 << 20) == 0 && usage(device, Kind::L1)->out_of_memory == 1);
	CHECK(!usage(63000, Kind::Dram));
}

static void older_buffers_are_adopted()
{
	const std::uint32_t device = 4;
	const Buffer older = Buffer(Kind::Dram, 1, 4096).device(device).banks(2);
	CHECK(adopt(older) == 0 && adopt(older) == -EEXIST);
	CHECK(usage(device, Kind::Dram)->bytes == 4096 && usage(device, Kind::Dram)->peak_bytes == 4096);
	CHECK(usage(device, Kind::Dram)->allocs == 0 && usage(device, Kind::Dram)->adopted == 1);
	CHECK(tidemark::free(device, Kind::Dram, 1) == 0);
}

static void circular_buffers_have_cores()
{
	const std::uint32_t device = 5;
	const CoreRange left{ 0, 0, 0, 3 }, right{ 1, 0, 1, 3 };
	CHECK(report_cb(device, 100, 0, left) == 0 && report_cb(device, 200, 0, right) == 0);
	CHECK(usage(device, Kind::CircularBuffer)->bytes == 1200);
	CHECK(report_cb(device, 50, 0, left) == 0);
	CHECK(usage(device, Kind::CircularBuffer)->bytes == 1000);
	CHECK(report_cb_free(device, 0, right) == 0 && report_cb_free(device, 0, right) == -ENOENT);
	CHECK(report_cb(device, 7, 0) == 0 && report_cb_free(device, 0) == 0);
	CHECK(usage(device, Kind::CircularBuffer)->buffers == 0);
	CHECK(report_kernel(device, 100) == 0 && free_all(device, Kind::Kernel) == 1);
}

static void raw_buffer_is_complete()
{
	const Buffer buffer = Buffer(Kind::Scratchpad, 9, 100)
				      .device(2)
				      .address(64)
				      .banks(4, 3)
				      .page_size(32)
				      .cores(5)
				      .ranges({ { 0, 1, 2, 3 } })
				      .view()
				      .view(false)
				      .shared()
				      .shared(false);
	const tidemark_buffer raw = buffer.raw();
	CHECK(raw.size == sizeof(raw) && raw.kind == TIDEMARK_SCRATCHPAD && raw.id == 9 && raw.bytes == 100);
	CHECK(raw.device == 2 && raw.address == 64 && raw.flags == 0 && raw.banks == 4 && raw.holding == 3);
	CHECK(raw.page_size == 32 && raw.cores == 5 && raw.range_count == 1 && raw.ranges[0].y1 == 3);
	CHECK(Buffer(Kind::L1, 1, 1).raw().flags == TIDEMARK_NO_ADDRESS);
}

static void devices_are_described()
{
	const std::uint32_t number = 3;
	Device device;
	device.number = number;
	device.card = "n150-hpp";
	device.chip_id = 0;
	device.grid_x = device.grid_y = 8;
	device.regions = { { Kind::Dram, 12, 0, 1u << 30, 32 }, { Kind::L1, 64, 0, 1499136, 16 } };
	CHECK(describe(device) == 0);
	ScopedBuffer held(Buffer(Kind::Dram, 1, 12 << 20).device(number));
	CHECK(usage(number, Kind::Dram)->bank_bytes == 1 << 20);
	CHECK(is_in_ledger("n150-hpp"));
}

static void scoped_buffers_end()
{
	const std::uint32_t device = 4;
	{
		ScopedBuffer first(Buffer(Kind::L1, 1, 100).device(device));
		ScopedBuffer second(std::move(first));
		CHECK(!first.is_live() && second.is_live());
		CHECK(usage(device, Kind::L1)->buffers == 1);
		ScopedBuffer third(Buffer(Kind::L1, 2, 100).device(device));
		third = std::move(second);
		CHECK(usage(device, Kind::L1)->buffers == 1);
		third.reset();
		third.reset();
		CHECK(usage(device, Kind::L1)->buffers == 0);
		ScopedBuffer given(Buffer(Kind::L1, 3, 100).device(device));
		given.release();
	}
	CHECK(usage(device, Kind::L1)->buffers == 1);
	CHECK(usage(device, Kind::L1)->unknown_frees + usage(device, Kind::L1)->double_frees == 0);
	CHECK(free_all(device, Kind::L1) == 1);
}

static void nothing_is_freed_that_was_not_seen()
{
	const std::uint32_t device = 5;
	CHECK(disable() == 0 && !is_enabled());
	{
		ScopedBuffer unseen(Buffer(Kind::Dram, 1, 100).device(device));
		CHECK(!unseen.is_live());
		CHECK(enable() == 0);
	}
	CHECK(!usage(device, Kind::Dram) || usage(device, Kind::Dram)->unknown_frees == 0);
}

static void programs_and_phases_have_names()
{
	CHECK(phase("PHASE_OF_HPP") == 0 && phase(std::string("SECOND_OF_HPP")) == 0);
	tidemark_program("first_of_hpp");
	{
		ScopedProgram outer("outer_of_hpp");
		{
			ScopedProgram inner("inner_of_hpp");
			ScopedBuffer held(Buffer(Kind::L1, 1, 64).device(6));
		}
		std::thread([] { ScopedProgram other("thread_of_hpp"); }).join();
	}
	CHECK(tidemark_swap_program(0) == tidemark_name("first_of_hpp"));
	for (const char *text : { "PHASE_OF_HPP", "SECOND_OF_HPP", "outer_of_hpp", "inner_of_hpp", "thread_of_hpp" })
		CHECK(is_in_ledger(text));
}

static void tracker_measures()
{
	namespace tracker = MemoryUsageTracker;
	auto guard = tracker::begin_capture();
	ScopedBuffer weights(Buffer(Kind::Dram, 1, 4 << 20));
	tracker::snapshot("MODEL_CREATION");
	{
		ScopedBuffer activation(Buffer(Kind::Dram, 2, 1 << 20));
		ScopedBuffer cb(Buffer(Kind::CircularBuffer, 3, 4096).bytes_per_bank(4096));
		ScopedBuffer dfb(Buffer(Kind::DataflowBuffer, 3, 512).bytes_per_bank(512));
		ScopedBuffer pad(Buffer(Kind::Scratchpad, 3, 256).bytes_per_bank(256));
		ScopedBuffer l1(Buffer(Kind::L1, 3, 64 * 2048).bytes_per_bank(2048).banks(64));
	}
	tracker::snapshot("FORWARD_PASS");
	tracker::end_capture();
	tracker::end_capture("ignored");

	CHECK((tracker::get_trace_names() ==
		std::vector<std::string>{ "MODEL_CREATION", "FORWARD_PASS", "END_TRACE" }));
	CHECK(tracker::get_dram_usage("MODEL_CREATION").peak == 4 << 20);
	const auto forward = tracker::get_dram_usage_all().at(1);
	CHECK(forward.first == "FORWARD_PASS" && forward.second.peak == 1 << 20);
	CHECK(forward.second.total_allocations == 1 << 20 && forward.second.total_deallocations == 1 << 20);
	const auto l1 = tracker::get_l1_usage("FORWARD_PASS");
	CHECK(l1.peak_cb == 4096 && l1.peak_l1 == 2048 && l1.peak_dataflow_buffer == 512 && l1.peak_scratchpad == 256);
	CHECK(l1.peak_total == 4096 + 2048 + 512 + 256);
	CHECK(tracker::get_l1_usage_all().size() == 3 && tracker::get_dram_usage().peak == 0);
	const std::string text = tracker::format_memory_usage();
	CHECK(text.rfind("=== Memory Usage Summary ===\n\n--- MODEL_CREATION ---\n  DRAM: Segment Peak 4.00 MB, ", 0) ==
		0);
	CHECK(text.size() == tidemark_capture_format(nullptr, 0));
}

static void tracker_refuses()
{
	namespace tracker = MemoryUsageTracker;
	CHECK(thrown_by([] { tracker::snapshot("X"); }) ==
		"MemoryUsageTracker: Cannot snapshot - capture is not active");
	auto guard = tracker::begin_capture(RunMode::NO_DISPATCH);
	CHECK(thrown_by([] { auto other = tracker::begin_capture(); }) == "MemoryUsageTracker: Capture already active");
	tracker::snapshot("repeated");
	tracker::snapshot("repeated");
	tracker::snapshot("repeated");
	CHECK(thrown_by([] { tracker::get_dram_usage("repeated"); }) ==
		"MemoryUsageTracker: Trace 'repeated' is ambiguous (3 segments share this name); "
		"use get_dram_usage_all()/get_l1_usage_all() instead");
	CHECK(thrown_by([] { tracker::get_l1_usage("none"); }) == "MemoryUsageTracker: Trace 'none' not found");
	CHECK(thrown_by([] { tracker::get_dram_usage(); }) == "MemoryUsageTracker: Trace 'END_TRACE' not found");
	tracker::clear();
	CHECK(tidemark_capture_is_active() == 0);
	CHECK(tracker::format_memory_usage() == "WARNING: No traces captured\n");
}

static void guards_move()
{
	namespace tracker = MemoryUsageTracker;
	ScopeGuard outer;
	{
		ScopeGuard inner = tracker::begin_capture();
		outer = std::move(inner);
	}
	CHECK(tidemark_capture_is_active() == 1);
	outer = ScopeGuard();
	CHECK(tidemark_capture_is_active() == 0);
	tracker::begin_capture().release();
	CHECK(tidemark_capture_is_active() == 1);
	tracker::clear();
}

int main()
{
	return run_tests({ { "buffers_are_reported", buffers_are_reported },
		{ "older_buffers_are_adopted", older_buffers_are_adopted },
		{ "circular_buffers_have_cores", circular_buffers_have_cores },
		{ "raw_buffer_is_complete", raw_buffer_is_complete },
		{ "devices_are_described", devices_are_described }, { "scoped_buffers_end", scoped_buffers_end },
		{ "nothing_is_freed_that_was_not_seen", nothing_is_freed_that_was_not_seen },
		{ "programs_and_phases_have_names", programs_and_phases_have_names },
		{ "tracker_measures", tracker_measures }, { "tracker_refuses", tracker_refuses },
		{ "guards_move", guards_move } });
}
