// A reader, a compute kernel and a writer; every buffer is created, pushed and awaited. Indices come as compile-time
// arguments, by place and by name, and as constants.
#include <tt-metalium/host_api.hpp>

using namespace tt::tt_metal;

constexpr uint32_t input_index = tt::CBIndex::c_0;
constexpr uint32_t output_index = tt::CBIndex::c_16;
constexpr uint32_t page_bytes = 2048;

void create_by_function(Program &program, const CoreRangeSet &cores, uint32_t tiles)
{
	CircularBufferConfig input_config =
		CircularBufferConfig(4 * page_bytes, { { input_index, tt::DataFormat::Float16_b } })
			.set_page_size(input_index, page_bytes);
	CreateCircularBuffer(program, cores, input_config);
	CircularBufferConfig output_config =
		CircularBufferConfig(2 * page_bytes, { { output_index, tt::DataFormat::Float16_b } })
			.set_page_size(output_index, page_bytes);
	CreateCircularBuffer(program, cores, output_config);

	std::vector<uint32_t> reader_args = { tiles, input_index };
	CreateKernel(program, "scan/kernels/by_function/reader.cpp", cores, ReaderDataMovementConfig(reader_args));
	CreateKernel(program, "scan/kernels/by_function/compute.cpp", cores,
		ComputeConfig{ .compile_args = { tiles, input_index, output_index, 2 } });
	CreateKernel(
		program, "scan/kernels/by_function/writer.cpp", cores, DataMovementConfig{ .compile_args = { tiles } });
}
