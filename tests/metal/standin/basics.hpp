/* What all parts of the stand-in use: releases, what accessors say, cores, and the names of all classes. */
#ifndef STANDIN_BASICS_HPP
#define STANDIN_BASICS_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unordered_set>
#include <vector>

#ifndef STANDIN
#define STANDIN 100
#endif
#define SINCE(release) (STANDIN >= (release))

/* What an accessor says: the truth, or what a library says that was built otherwise than we think. */
#ifdef STANDIN_NONSENSE
uint64_t standin_nonsense(uint64_t truth);
void *standin_nonsense_pointer(const void *truth);
bool standin_nonsense_vector(void *vector); /* true: it has put something else there */
#define SAID(type, truth)    ((type)standin_nonsense((uint64_t)(truth)))
#define SAID_AT(type, truth) ((type)standin_nonsense_pointer(truth))
#define SAID_OF(vector)      standin_nonsense_vector(&(vector))
#else
#define SAID(type, truth)    (truth)
#define SAID_AT(type, truth) (truth)
#define SAID_OF(vector)      false
#endif

#if !SINCE(66)
#define AllocatorImpl Allocator /* one class, before it was split */
#endif
#if !SINCE(64)
#define ProgramImpl Program_
#endif
#if !SINCE(66)
#define CircularBufferImpl CircularBuffer
#endif

struct CoreCoord {
	size_t x, y;
};

#if SINCE(65)
namespace tt::tt_metal
{
#endif

class CoreRange
{
      public:
	CoreCoord start_coord, end_coord;
	CoreRange(const CoreCoord &start, const CoreCoord &end);
	bool intersects(const CoreRange &other) const;
	size_t size() const;
	std::string str() const;
};

class CoreRangeSet
{
      public:
	CoreRangeSet() = default;
	CoreRangeSet(const CoreRange &range);
	const std::vector<CoreRange> &ranges() const;
	uint32_t num_cores() const;

	std::vector<CoreRange> list;
};

#if SINCE(65)
}
#endif

#if SINCE(64)
#define STRONG ttsl
#else
#define STRONG tt::stl
#endif
namespace STRONG
{
template <typename T, typename Tag> class StrongType
{
      public:
	explicit StrongType(T value) : value_(value)
	{
	}
	const T &operator*() const
	{
		return value_;
	}

      private:
	T value_;
};
} // namespace STRONG

namespace ll_api
{
class memory
{
      public:
	uint32_t packed;
};
} // namespace ll_api

namespace tt::tt_metal
{
enum class Arch { WORMHOLE = 2, BLACKHOLE = 3 };
using Address = uint64_t;
enum class BufferType { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };
enum Layout { INTERLEAVED = 0, SHARDED = 2 };
enum class HalMemType : uint8_t { L1 = 0, DRAM = 1 };
constexpr int BUFFER_TYPES = 5;

class Buffer;
class Device;
class IDevice;
class Kernel;
class Program;
class JitBuildOptions;
namespace detail
{
class ProgramImpl;
}
namespace distributed
{
class MeshBuffer;
class MeshCommandQueue;
class MeshCoordinateRange;
class MeshDevice;
class MeshDeviceImpl;
class MeshWorkload;
class MeshWorkloadImpl;
struct MeshTraceIdTag;
using TraceId = STRONG::StrongType<uint32_t, MeshTraceIdTag>;
#if SINCE(66)
using InspectedMesh = MeshDeviceImpl;
#else
using InspectedMesh = MeshDevice;
#endif
} // namespace distributed
struct SubDeviceIdTag;
using SubDevice = STRONG::StrongType<uint8_t, SubDeviceIdTag>;
} // namespace tt::tt_metal

#endif
