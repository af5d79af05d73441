/*
 * The part of tt-metalium's interface that tidemark_metal.hpp uses, written from what is known about it, over objects
 * that a test fills in. Two generations: with FAKE_METAL_OLD that before v0.72 (one list of processors for all threads,
 * CoreRangeSet outside of the namespace, no dataflow buffers, arguments as std::any), else that of today.
 */
#pragma once

#ifdef STANDIN // with a runtime of that release that really allocates
#include "../../metal/standin/runtime.hpp"
#else

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#ifndef FAKE_METAL_OLD
namespace tt::tt_metal
{
#endif
struct CoreCoord {
	std::size_t x = 0, y = 0;
};
struct CoreRange {
	CoreCoord start_coord, end_coord;
};
class CoreRangeSet
{
      public:
	CoreRangeSet(std::vector<CoreRange> ranges) : ranges_(std::move(ranges))
	{
	}
	const std::vector<CoreRange> &ranges() const
	{
		return ranges_;
	}

      private:
	std::vector<CoreRange> ranges_;
};
#ifndef FAKE_METAL_OLD
} // namespace tt::tt_metal
#endif

namespace tt::tt_metal
{

enum class BufferType { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };
enum class HalMemType { L1, DRAM };

class Allocator
{
      public:
	std::uint32_t get_num_banks(const BufferType &type) const
	{
		return type == BufferType::DRAM || type == BufferType::TRACE ? 12 : 64;
	}
	std::uint64_t get_bank_size(const BufferType &type) const
	{
		return type == BufferType::DRAM ? 1 << 30 : 1 << 20;
	}
	std::uint64_t get_base_allocator_addr(const HalMemType &) const
	{
		return 1024;
	}
};

class IDevice
{
      public:
	virtual ~IDevice() = default;
	virtual int id() const = 0;
	virtual CoreCoord compute_with_storage_grid_size() const
	{
		return { 8, 8 };
	}
};

namespace distributed
{
class MeshDevice : public IDevice
{
      public:
	std::vector<IDevice *> devices;
	int id() const override
	{
		return 1000; // of the mesh, not of a chip
	}
	std::vector<IDevice *> get_devices() const
	{
		return devices;
	}
};
} // namespace distributed

struct ShardSpecBuffer {
	CoreRangeSet cores;
	CoreRangeSet grid() const
	{
		return cores;
	}
};

class Buffer
{
      public:
	IDevice *on = nullptr;
	Allocator *from = nullptr;
	BufferType type = BufferType::DRAM;
	std::uint64_t bytes = 0, per_bank = 0;
	std::uint32_t at = 0;
	bool is_broken = false;
	std::optional<ShardSpecBuffer> shards;

	IDevice *device() const
	{
		return on;
	}
	Allocator *allocator() const
	{
		return from;
	}
	std::uint64_t size() const
	{
		return bytes;
	}
	std::uint32_t address() const
	{
		return at;
	}
	BufferType buffer_type() const
	{
		return type;
	}
	std::uint64_t page_size() const
	{
		return 2048;
	}
	std::uint64_t aligned_size_per_bank() const
	{
		if (is_broken)
			throw std::runtime_error("not supported");
		return per_bank;
	}
	std::optional<std::uint32_t> num_cores() const
	{
		return shards ? std::optional<std::uint32_t>(2) : std::nullopt;
	}
#ifndef FAKE_METAL_OLD
	bool has_shard_spec() const
	{
		return shards.has_value();
	}
#endif
	ShardSpecBuffer shard_spec() const
	{
		return *shards;
	}
};

class Program
{
};
} // namespace tt::tt_metal

#include "graph_processor.hpp"

namespace tt::tt_metal
{

class GraphTracker
{
      public:
	static GraphTracker &instance()
	{
		static GraphTracker tracker;
		return tracker;
	}
	void push_processor(const std::shared_ptr<IGraphProcessor> &processor)
	{
		list().push_back(processor);
	}
	void pop_processor()
	{
		list().pop_back();
	}
	const std::vector<std::shared_ptr<IGraphProcessor>> &get_processors() const
	{
		return list();
	}
	const std::shared_ptr<IGraphHooks> &get_hook() const
	{
		return hook();
	}
	static std::shared_ptr<IGraphHooks> &hook()
	{
#ifndef FAKE_METAL_OLD
		thread_local
#else
		static
#endif
			std::shared_ptr<IGraphHooks>
				hook;
		return hook;
	}
	// What the runtime calls: `call` is given each processor of this thread.
	template <class Call> void each(Call call)
	{
		for (const auto &processor : list())
			call(*processor);
	}

      private:
	static std::vector<std::shared_ptr<IGraphProcessor>> &list()
	{
#ifndef FAKE_METAL_OLD
		thread_local
#else
		static
#endif
			std::vector<std::shared_ptr<IGraphProcessor>>
				processors;
		return processors;
	}
};

} // namespace tt::tt_metal

#endif
