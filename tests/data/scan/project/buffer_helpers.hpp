#pragma once
#include "project_constants.hpp"

namespace pantry
{

inline std::tuple<uint32_t, CBHandle> store_buffer(uint32_t index, Program &program, const CoreRangeSet &cores,
	uint32_t page_bytes, uint32_t pages, tt::DataFormat format)
{
	auto config = CircularBufferConfig(pages * page_bytes * kShelves, { { index, format } })
			      .set_page_size(index, page_bytes);
	return std::make_tuple(index, CreateCircularBuffer(program, cores, config));
}

// Calls itself: followed once.
inline void add_cb_again(Program &program, uint32_t index, uint32_t bytes)
{
	CreateCircularBuffer(program, all_cores,
		CircularBufferConfig(bytes, { { index, tt::DataFormat::UInt8 } }).set_page_size(index, bytes));
	if (bytes > 32) {
		add_cb_again(program, index + 1, bytes / 2);
	}
}

} // namespace pantry
