#include "buffer_helpers.hpp"
#include "project_constants.hpp"

void first(Program &program, const CoreRangeSet &cores, uint32_t loaves)
{
	auto [index, handle] =
		pantry::store_buffer(static_cast<uint32_t>(Shelf::bread), program, cores, 64, 2, tt::DataFormat::UInt8);
	pantry::store_buffer(index + 1, program, cores, 128, loaves, tt::DataFormat::UInt16);
	pantry::add_cb_again(program, 20, 64);
}
