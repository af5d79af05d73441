// Shape 1: CBDescriptor with designated initialisers, pushed.
#include <program.hpp>

namespace shop
{

constexpr uint32_t kDepth = 2;

ProgramDescriptor TillFactory::create_descriptor(const Params &params, const Inputs &inputs, Tensor &output)
{
	const tt::DataFormat in_format = tt::tt_metal::datatype_to_dataformat_converter(inputs.coins.dtype());
	const uint32_t in_tile_bytes = tt::tile_size(in_format);
	const uint32_t width_tiles = inputs.coins.padded_shape()[-1] / tt::constants::TILE_WIDTH;
	uint32_t coin_index = tt::CBIndex::c_0;
	ProgramDescriptor desc;

	desc.cbs.push_back(CBDescriptor{
		.total_size = kDepth * tt::tile_size(tt::DataFormat::Float16_b),
		.core_ranges = all_cores,
		.format_descriptors = { { CBFormatDescriptor{
			.buffer_index = static_cast<uint8_t>(coin_index),
			.data_format = tt::DataFormat::Float16_b,
			.page_size = tt::tile_size(tt::DataFormat::Float16_b),
		} } },
	});
	desc.cbs.push_back(tt::tt_metal::CBDescriptor{
		.total_size = 2 * width_tiles * in_tile_bytes,
		.core_ranges = all_cores,
		.format_descriptors = { { tt::tt_metal::CBFormatDescriptor{
			.buffer_index = tt::CBIndex::c_1, .data_format = in_format, .page_size = in_tile_bytes } } },
	});
	// A view of a tensor's memory.
	desc.cbs.push_back(CBDescriptor{
		.total_size = 8 * 1024,
		.core_ranges = all_cores,
		.format_descriptors = { { CBFormatDescriptor{ .buffer_index = tt::CBIndex::c_16,
			.data_format = tt::DataFormat::Bfp8_b,
			.page_size = 1088 } } },
		.buffer = output.buffer(),
	});
	// A view in one case only.
	desc.cbs.push_back(CBDescriptor{
		.total_size = 4096,
		.core_ranges = all_cores,
		.format_descriptors = { { CBFormatDescriptor{ .buffer_index = tt::CBIndex::c_2,
			.data_format = tt::DataFormat::Float32,
			.page_size = 4096 } } },
		.buffer = params.is_sharded ? inputs.coins.buffer() : nullptr,
	});
	desc.cbs.push_back(CBDescriptor{
		.total_size = 64,
		.core_ranges = all_cores,
		.format_descriptors = { { CBFormatDescriptor{
			.buffer_index = tt::CBIndex::c_3, .data_format = tt::DataFormat::UInt32, .page_size = 64 } } },
		.buffer = nullptr,
	});
	// Two indexes on one piece of memory.
	desc.cbs.push_back(CBDescriptor{
		.total_size = 4 * 2048,
		.core_ranges = all_cores,
		.format_descriptors = { { CBFormatDescriptor{ .buffer_index = tt::CBIndex::c_24,
						  .data_format = tt::DataFormat::Float16_b,
						  .page_size = 2048 },
			CBFormatDescriptor{ .buffer_index = tt::CBIndex::c_25,
				.data_format = tt::DataFormat::Float16_b,
				.page_size = 2048 } } },
	});
	desc.cbs.push_back({
		.total_size = 96,
		.core_ranges = all_cores,
		.format_descriptors = { { { .buffer_index = 30,
			.data_format = tt::DataFormat::UInt8,
			.page_size = 32 } } },
	});
	return desc;
}

} // namespace shop
