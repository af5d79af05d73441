// tidemark_metal.hpp with a stand-in for tt-metalium: what the runtime announces is in the ledger, once.
#include <tidemark_metal.hpp>
#if __cplusplus >= 202002L // both headers in one file
#include <tidemark.hpp>
#endif

#include <cerrno>
#include <fstream>
#include <iterator>
#include <thread>

#include "check.hpp"

using namespace tt::tt_metal;
namespace metal = tidemark::metal;

// As the preload has it.
static int preload_is_loaded;
extern "C" int tidemark_metal_is_loaded(void);
extern "C" __attribute__((visibility("default"))) int tidemark_metal_is_loaded(void)
{
	return preload_is_loaded;
}

class Chip : public IDevice
{
      public:
	explicit Chip(int number) : number_(number)
	{
	}
	int id() const override
	{
		return number_;
	}

      private:
	int number_;
};

// A capture of somebody else.
class Capture : public IGraphProcessor
{
      public:
	int allocations = 0, names = 0;
	void track_allocate(const Buffer *) override
	{
		allocations++;
	}
	void track_function_start(std::string_view, fake_span<TrackedArgument>) override
	{
		names++;
	}
};

static std::uint32_t next_chip = 10; // each test has chips of its own
static Allocator allocator;

static tidemark_usage usage(const IDevice &chip, std::uint32_t kind)
{
	tidemark_usage figures = TIDEMARK_USAGE_INIT;
	tidemark_get_usage(static_cast<std::uint32_t>(chip.id()), kind, &figures);
	return figures;
}

static Buffer make(IDevice &device, BufferType type, std::uint32_t address, std::uint64_t bytes, std::uint64_t per_bank)
{
	Buffer buffer;
	buffer.on = &device, buffer.from = &allocator, buffer.type = type;
	buffer.at = address, buffer.bytes = bytes, buffer.per_bank = per_bank;
	return buffer;
}

static void allocate(const Buffer &buffer)
{
	GraphTracker::instance().each([&](IGraphProcessor &p) { p.track_allocate(&buffer); });
}

static void release(Buffer &buffer)
{
	GraphTracker::instance().each([&](IGraphProcessor &p) { p.track_deallocate(&buffer); });
}

static void start(const char *name)
{
	GraphTracker::instance().each([&](IGraphProcessor &p) { p.track_function_start(name, {}); });
}

static void circular(
	std::vector<CoreRange> cores, std::uint64_t address, std::uint64_t size, bool is_global, IDevice &device)
{
	const CoreRangeSet set(std::move(cores));
	GraphTracker::instance().each(
		[&](IGraphProcessor &p) { p.track_allocate_cb(set, address, size, is_global, &device); });
}

static void end_program(IDevice &device)
{
	GraphTracker::instance().each([&](IGraphProcessor &p) { p.track_deallocate_cb(&device); });
}

static bool is_in_ledger(const std::string &text)
{
	std::ifstream file(tidemark_ledger_path(), std::ios::binary);
	const std::string content{ std::istreambuf_iterator<char>(file), {} };
	return content.find(text) != std::string::npos;
}

static std::size_t processors()
{
	return GraphTracker::instance().get_processors().size();
}

static void buffers()
{
	Chip chip(static_cast<int>(next_chip++));
	CHECK(tidemark_enable() == 0);
	Buffer before = make(chip, BufferType::DRAM, 64, 100, 100),
	       weights = make(chip, BufferType::DRAM, 4096, 49000, 4096),
	       small = make(chip, BufferType::L1_SMALL, 4096, 64 * 32, 32),
	       trace = make(chip, BufferType::TRACE, 8192, 12, 64), l1 = make(chip, BufferType::L1, 4096, 1000, 512),
	       empty = make(chip, BufferType::L1, 0, 0, 0);
	l1.shards = ShardSpecBuffer{ CoreRangeSet(std::vector<CoreRange>{ { { 1, 2 }, { 1, 3 } } }) };
	allocate(before);
	{
		metal::watch watching;
		CHECK(processors() == 1);
		for (Buffer *buffer : { &weights, &small, &trace, &l1, &empty })
			allocate(*buffer);
		CHECK(usage(chip, TIDEMARK_DRAM).bytes == 12 * 4096 && usage(chip, TIDEMARK_DRAM).asked_bytes == 49000);
		CHECK(usage(chip, TIDEMARK_DRAM).bank_bytes == 4096 && usage(chip, TIDEMARK_DRAM).buffers == 1);
		CHECK(usage(chip, TIDEMARK_L1_SMALL).bytes == 64 * 32 && usage(chip, TIDEMARK_TRACE).bank_bytes == 64);
		CHECK(usage(chip, TIDEMARK_L1).bytes == 64 * 512);
		for (Buffer *buffer : { &before, &weights, &small, &trace, &l1, &empty })
			release(*buffer);
		release(weights); // announced twice
		for (std::uint32_t kind : { TIDEMARK_DRAM, TIDEMARK_L1, TIDEMARK_L1_SMALL, TIDEMARK_TRACE }) {
			CHECK(usage(chip, kind).buffers == 0 && usage(chip, kind).bytes == 0);
			CHECK(usage(chip, kind).unknown_frees + usage(chip, kind).double_frees == 0);
		}
	}
	CHECK(processors() == 0);
	allocate(weights);
	CHECK(usage(chip, TIDEMARK_DRAM).buffers == 0);
}

// Each chip of a mesh has the buffer once; allocators give the same addresses.
static void meshes()
{
	Chip one(static_cast<int>(next_chip++)), two(static_cast<int>(next_chip++));
	distributed::MeshDevice mesh, submesh;
	mesh.devices = { &one, &two, &one };
	submesh.devices = { &two };
	Allocator of_submesh;
	metal::watch watching;
	Buffer on_both = make(mesh, BufferType::DRAM, 4096, 12000, 1024),
	       on_two = make(submesh, BufferType::DRAM, 4096, 120, 64);
	on_two.from = &of_submesh;
	allocate(on_both);
	allocate(on_two);
	CHECK(usage(one, TIDEMARK_DRAM).bytes == 12 * 1024 && usage(one, TIDEMARK_DRAM).buffers == 1);
	CHECK(usage(two, TIDEMARK_DRAM).bytes == 12 * (1024 + 64) && usage(two, TIDEMARK_DRAM).buffers == 2);
	CHECK(usage(one, TIDEMARK_DRAM).rereports + usage(two, TIDEMARK_DRAM).rereports == 0);
	CHECK(usage(mesh, TIDEMARK_DRAM).buffers == 0);
	release(on_both);
	CHECK(usage(one, TIDEMARK_DRAM).buffers == 0 && usage(two, TIDEMARK_DRAM).buffers == 1);
	release(on_two);
}

// Programs share addresses: a core has the union. A new layout replaces the old one.
static void circular_buffers()
{
	Chip chip(static_cast<int>(next_chip++));
	metal::watch watching;
	start("ttnn::matmul");
	circular({ { { 0, 0 }, { 1, 0 } } }, 1000, 400, false, chip);
	circular({ { { 1, 0 }, { 2, 0 } } }, 1200, 400, false, chip);
	CHECK(usage(chip, TIDEMARK_CB).buffers == 2);
	CHECK(usage(chip, TIDEMARK_CB).bank_bytes == 600 && usage(chip, TIDEMARK_CB).bytes == 400 + 600 + 400);
	circular({ { { 0, 0 }, { 1, 0 } } }, 1000, 400, false, chip); // the same program again
	CHECK(usage(chip, TIDEMARK_CB).buffers == 2 && usage(chip, TIDEMARK_CB).bank_bytes == 600);
	circular({ { { 0, 0 }, { 1, 0 } } }, 1000, 100, false, chip); // smaller now
	CHECK(usage(chip, TIDEMARK_CB).buffers == 2 && usage(chip, TIDEMARK_CB).bank_bytes == 500);
	circular({ { { 0, 0 }, { 7, 7 } } }, 50000, 4096, true, chip); // in a tensor's memory
	CHECK(usage(chip, TIDEMARK_CB).buffers == 3 && usage(chip, TIDEMARK_CB).bank_bytes == 500);
	CHECK(is_in_ledger("ttnn::matmul"));
	end_program(chip);
	CHECK(usage(chip, TIDEMARK_CB).buffers == 0 && usage(chip, TIDEMARK_CB).bytes == 0);
	CHECK(usage(chip, TIDEMARK_CB).peak_bank_bytes == 600 && usage(chip, TIDEMARK_CB).rereports == 0);
	end_program(chip);
	GraphTracker::instance().each([&](IGraphProcessor &p) { p.track_function_end(); });
}

#ifndef FAKE_METAL_OLD
static void newer_kinds()
{
	Chip chip(static_cast<int>(next_chip++));
	const CoreRangeSet cores(std::vector<CoreRange>{ { { 0, 0 }, { 0, 1 } } });
	metal::watch watching;
	CHECK(!GraphTracker::instance().get_processors()[0]->is_capture_processor());
	GraphTracker::instance().each([&](IGraphProcessor &p) {
		p.track_allocate_dataflow_buffer(cores, 2000, 64, false, &chip);
		p.track_allocate_dataflow_buffer(cores, 3000, 640, true, &chip);
		p.track_allocate_scratchpad(cores, 4000, 32, &chip);
	});
	CHECK(usage(chip, TIDEMARK_DFB).bank_bytes == 64 && usage(chip, TIDEMARK_DFB).buffers == 2);
	CHECK(usage(chip, TIDEMARK_SCRATCHPAD).bytes == 64);
	end_program(chip);
	CHECK(usage(chip, TIDEMARK_DFB).buffers == 0 && usage(chip, TIDEMARK_SCRATCHPAD).bytes == 0);
}
#endif

static void without_dispatch()
{
	Chip chip(static_cast<int>(next_chip++));
	metal::watch watching;
	Buffer imagined = make(chip, BufferType::DRAM, 0, 1000, 1000),
	       real = make(chip, BufferType::DRAM, 4096, 1000, 1000);
	GraphTracker::hook() = std::make_shared<IGraphHooks>();
	allocate(imagined);
	circular({ { { 0, 0 }, { 0, 0 } } }, 0, 64, false, chip);
	release(imagined);
	CHECK(usage(chip, TIDEMARK_DRAM).allocs == 0 && usage(chip, TIDEMARK_CB).allocs == 0);
	allocate(real); // a capture that dispatches has a hook, too
	CHECK(usage(chip, TIDEMARK_DRAM).buffers == 1);
	release(real);
	GraphTracker::hook() = nullptr;
	using Mode = IGraphProcessor::RunMode;
	for (Mode mode : { Mode::NO_DISPATCH, Mode::NORMAL }) {
		GraphTracker::instance().each([&](IGraphProcessor &p) { p.begin_capture(mode); });
		allocate(real);
		CHECK(usage(chip, TIDEMARK_DRAM).buffers == (mode == Mode::NORMAL));
	}
	release(real);
	CHECK(usage(chip, TIDEMARK_DRAM).unknown_frees == 0);
}

// A capture is the last processor and takes itself out: ours is always before it.
static void captures()
{
	Chip chip(static_cast<int>(next_chip++));
	const auto capture = std::make_shared<Capture>();
	Buffer buffer = make(chip, BufferType::DRAM, 4096, 1000, 1000);
	GraphTracker::instance().push_processor(capture);
	{
		metal::watch watching;
		CHECK(processors() == 2 && GraphTracker::instance().get_processors().back() == capture);
		allocate(buffer);
		start("op");
		CHECK(capture->allocations == 1 && capture->names == 1 && usage(chip, TIDEMARK_DRAM).buffers == 1);
		metal::watch nested;
		CHECK(processors() == 2);
		GraphTracker::instance().pop_processor();
		release(buffer);
		CHECK(usage(chip, TIDEMARK_DRAM).buffers == 0);
		GraphTracker::instance().each([](IGraphProcessor &p) { p.track_function_end(std::any()); });
		GraphTracker::instance().each([](IGraphProcessor &p) { p.track_function_end(); }); // began before
		GraphTracker::instance().push_processor(capture);
	}
	CHECK(processors() == 1 && GraphTracker::instance().get_processors().back() == capture);
	GraphTracker::instance().pop_processor();
}

// Operations nest; the name goes with what is allocated meanwhile, and what the user has named comes back.
static void operations()
{
	const auto program = [] {
		const std::uint32_t name = tidemark_swap_program(0);
		tidemark_swap_program(name);
		return name;
	};
	const auto end = [] { GraphTracker::instance().each([](IGraphProcessor &p) { p.track_function_end(); }); };
	metal::watch watching;
	tidemark_program("of the user");
	start("outer operation");
	start("inner operation");
	CHECK(program() == tidemark_name("inner operation") && is_in_ledger("inner operation"));
	end();
	CHECK(program() == tidemark_name("outer operation"));
	tidemark_program("of the user, inside");
	start("inner operation");
	end();
	CHECK(program() == tidemark_name("of the user, inside"));
	end();
	CHECK(program() == tidemark_name("of the user"));
	end(); // began before
	CHECK(program() == tidemark_name("of the user"));
	tidemark_program(nullptr);
}

static void threads()
{
	Chip chip(static_cast<int>(next_chip++));
	metal::watch watching;
	Buffer unwatched = make(chip, BufferType::DRAM, 4096, 1000, 1000),
	       watched = make(chip, BufferType::DRAM, 8192, 1000, 1000);
	std::thread([&] { allocate(unwatched); }).join();
#ifdef FAKE_METAL_OLD
	CHECK(usage(chip, TIDEMARK_DRAM).buffers == 1); // one list for all
	release(unwatched);
#else
	CHECK(usage(chip, TIDEMARK_DRAM).buffers == 0);
#endif
	std::thread([&] {
		metal::watch here;
		CHECK(processors() == 1);
		allocate(watched);
	}).join();
	CHECK(usage(chip, TIDEMARK_DRAM).buffers == 1);
	CHECK(processors() == 1); // the end of the other watch is not the end of this one
	release(watched);         // here, not there
	CHECK(usage(chip, TIDEMARK_DRAM).buffers == 0);
}

static void many_threads()
{
	enum { THREADS = 8, EACH = 500 };
	Chip chip(static_cast<int>(next_chip++));
	metal::watch watching;
	std::vector<std::thread> all;
	for (std::uint32_t t = 0; t < THREADS; t++)
		all.emplace_back([&chip, t] {
#ifndef FAKE_METAL_OLD
			metal::watch here;
#endif
			std::vector<Buffer> mine(EACH);
			for (std::uint32_t i = 0; i < EACH; i++) {
				mine[i] = make(chip, BufferType::L1, (t * EACH + i + 1) * 64, 64, 64);
				allocate(mine[i]);
				if (i % 2 == 0)
					release(mine[i]);
			}
			for (std::uint32_t i = 1; i < EACH; i += 2)
				release(mine[i]);
		});
	for (std::thread &thread : all)
		thread.join();
	CHECK(usage(chip, TIDEMARK_L1).allocs == THREADS * EACH && usage(chip, TIDEMARK_L1).buffers == 0);
	CHECK(usage(chip, TIDEMARK_L1).unknown_frees == 0 && usage(chip, TIDEMARK_L1).rereports == 0);
}

// Buffers that are still there when a device is closed are not announced.
static void closed_devices()
{
	Chip chip(static_cast<int>(next_chip++));
	metal::watch watching;
	Buffer buffer = make(chip, BufferType::DRAM, 4096, 1000, 1000);
	allocate(buffer);
	circular({ { { 0, 0 }, { 0, 0 } } }, 1024, 64, false, chip);
	allocate(buffer); // another object at the same place
	CHECK(usage(chip, TIDEMARK_DRAM).buffers == 1 && usage(chip, TIDEMARK_DRAM).rereports == 0);
	metal::release_all();
	CHECK(usage(chip, TIDEMARK_DRAM).buffers == 0 && usage(chip, TIDEMARK_CB).bytes == 0);
}

static void faults()
{
	Chip chip(static_cast<int>(next_chip++));
	metal::watch watching;
	Buffer broken = make(chip, BufferType::DRAM, 4096, 1000, 1000),
	       homeless = make(chip, BufferType::DRAM, 8192, 1000, 1000);
	broken.is_broken = true;
	homeless.on = nullptr, homeless.from = nullptr;
	allocate(broken); // nothing is thrown
	allocate(homeless);
	CHECK(usage(chip, TIDEMARK_DRAM).buffers == 0);
	CHECK(is_in_ledger("the adapter could not read a buffer"));
	release(broken);
	release(homeless);
	tidemark_disable();
	Buffer off = make(chip, BufferType::DRAM, 4096, 1000, 1000);
	allocate(off);
	CHECK(tidemark_enable() == 0);
	release(off);
	CHECK(usage(chip, TIDEMARK_DRAM).allocs == 0 && usage(chip, TIDEMARK_DRAM).unknown_frees == 0);
}

static void beside_the_preload()
{
	preload_is_loaded = 1;
	CHECK(metal::is_preloaded() && !metal::install());
	{
		metal::watch watching;
		CHECK(processors() == 0);
	}
	metal::uninstall(); // nothing to end
	preload_is_loaded = 0;
	CHECK(!metal::is_preloaded() && metal::install() && processors() == 1);
	metal::uninstall();
	CHECK(processors() == 0);
}

int main()
{
	return run_tests({
		{ "buffers", buffers },
		{ "meshes", meshes },
		{ "circular_buffers", circular_buffers },
#ifndef FAKE_METAL_OLD
		{ "newer_kinds", newer_kinds },
#endif
		{ "without_dispatch", without_dispatch },
		{ "captures", captures },
		{ "operations", operations },
		{ "threads", threads },
		{ "many_threads", many_threads },
		{ "closed_devices", closed_devices },
		{ "faults", faults },
		{ "beside_the_preload", beside_the_preload },
	});
}
