// Uses everything of tidemark.hpp; see all_calls.c.
#include "tidemark.hpp"
#include "tidemark_metal.hpp"

#include <cstdio>

namespace mut = ttml::utils::MemoryUsageTracker;
using tidemark::Buffer;
using tidemark::Kind;

static int report()
{
	tidemark::Device device;
	device.regions = { { Kind::Dram, 12, 0, 1u << 20, 32 } };
	const Buffer buffer = Buffer(Kind::Dram, 1, 4096)
				      .device(0)
				      .address(32)
				      .bytes_per_bank(512)
				      .banks(8, 8)
				      .page_size(512)
				      .cores(0)
				      .ranges({ { 0, 0, 1, 1 } })
				      .view(false)
				      .shared(false)
				      .name("weights")
				      .name(std::string("weights"))
				      .name(TIDEMARK_SITE());
	tidemark::ScopedBuffer scoped(buffer);
	tidemark::ScopedProgram program("matmul");
	tidemark::metal::watch watching;
	tidemark::metal::release_all();
	tidemark::metal::uninstall();
	int sum = tidemark::enable() + tidemark::describe(device) + tidemark::alloc(buffer) + tidemark::adopt(buffer);
	sum += tidemark::free(0, Kind::Dram, 1) + static_cast<int>(tidemark::free_all(0, Kind::Dram));
	sum += tidemark::out_of_memory(0, Kind::Dram, 1) + tidemark::phase("forward") +
	       tidemark::phase(std::string("back"));
	sum += tidemark::report_kernel(0, 1) + tidemark::report_cb(0, 1, 2, tidemark::CoreRange{ 0, 0, 1, 1 });
	sum += tidemark::report_cb_free(0, 2) + tidemark::is_enabled() + tidemark::disable();
	sum += tidemark::metal::install() + tidemark::metal::is_preloaded();
	sum += static_cast<int>(tidemark::free_matching(0, Kind::CircularBuffer, 0, 0)) +
	       tidemark::report_clash(tidemark_clash TIDEMARK_CLASH_INIT);
	sum += tidemark::report_statistics(0, Kind::Dram, 1, 2, 2) +
	       tidemark::report_core_use(0, Kind::CircularBuffer, 1, 2);
	sum += tidemark::step(0, tidemark::Step::TraceEnded, 7) + tidemark::count(tidemark::counter("hook"));
	sum += tidemark::remark("sees everything");
	return sum + scoped.is_live() + tidemark::usage(0, Kind::Dram).has_value() +
	       static_cast<int>(*to_string(Kind::L1));
}

static long long capture()
{
	ttnn::ScopeGuard guard = mut::begin_capture(tt::tt_metal::IGraphProcessor::RunMode::NO_DISPATCH);
	mut::snapshot("one");
	mut::end_capture();
	mut::print_memory_usage();
	long long sum = mut::get_dram_usage("one").peak + static_cast<long long>(mut::get_l1_usage("one").peak_total);
	sum += static_cast<long long>(mut::get_dram_usage_all().size() + mut::get_l1_usage_all().size() +
				      mut::get_trace_names().size() + mut::format_memory_usage().size());
	mut::clear();
	return sum;
}

int main()
{
	std::printf("%s\n", report() == 0 && capture() == 0 ? "nothing" : "something");
}
