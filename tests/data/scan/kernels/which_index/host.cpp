// The second buffer may have the index of the first, so nobody knows how many pages that index has.
#include <tt-metalium/host_api.hpp>

using namespace tt::tt_metal;

void create_which_index(Program &program, const CoreRangeSet &cores)
{
	const bool has_padding = needs_padding();
	uint32_t index = 2;
	if (!has_padding) {
		index = 1;
	}
	CreateCircularBuffer(program, cores,
		CircularBufferConfig(2048, { { 1, tt::DataFormat::Float16_b } }).set_page_size(1, 2048));
	CreateCircularBuffer(program, cores,
		CircularBufferConfig(4 * 2048, { { index, tt::DataFormat::Float16_b } }).set_page_size(index, 2048));
	CreateKernel(program, "scan/kernels/which_index/kernel.cpp", cores, ReaderDataMovementConfig{});
}
