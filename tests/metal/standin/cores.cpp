/* Ranges of cores. */
#include "runtime.hpp"

#if SINCE(65)
namespace tt::tt_metal
{
#endif

CoreRange::CoreRange(const CoreCoord &start, const CoreCoord &end) : start_coord(start), end_coord(end)
{
}

bool CoreRange::intersects(const CoreRange &other) const
{
	return start_coord.x <= other.end_coord.x && other.start_coord.x <= end_coord.x &&
	       start_coord.y <= other.end_coord.y && other.start_coord.y <= end_coord.y;
}

size_t CoreRange::size() const
{
	return (end_coord.x - start_coord.x + 1) * (end_coord.y - start_coord.y + 1);
}

std::string CoreRange::str() const
{
	auto text = [](const CoreCoord &core) {
		return "(x=" + std::to_string(core.x) + ",y=" + std::to_string(core.y) + ")";
	};
	return "[" + text(start_coord) + " - " + text(end_coord) + "]";
}

CoreRangeSet::CoreRangeSet(const CoreRange &range) : list{ range }
{
}

const std::vector<CoreRange> &CoreRangeSet::ranges() const
{
	return *SAID_AT(const std::vector<CoreRange> *, &list);
}

uint32_t CoreRangeSet::num_cores() const
{
	size_t sum = 0;
	for (const CoreRange &range : list)
		sum += range.size();
	return SAID(uint32_t, (uint32_t)sum);
}

#if SINCE(65)
}
#endif
