// Shapes 7 and 8: functions of the same file that create buffers for their callers.
namespace
{

void add_cb(ProgramDescriptor &desc, const CoreRangeSet &cores, uint32_t cb_id, tt::DataFormat format,
	uint32_t page_count, uint32_t page_bytes, Buffer *buffer = nullptr)
{
	desc.cbs.push_back(CBDescriptor{
		.total_size = page_count * page_bytes,
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{ .buffer_index = static_cast<uint8_t>(cb_id),
			.data_format = format,
			.page_size = page_bytes } } },
		.buffer = buffer,
	});
}

CBHandle create_cb(Program &program, const CoreRangeSet &cores, uint32_t index, uint32_t bytes, Buffer *buffer)
{
	auto config =
		CircularBufferConfig(bytes, { { index, tt::DataFormat::Float16_b } }).set_page_size(index, bytes / 2);
	if (buffer != nullptr) {
		config.set_globally_allocated_address(*buffer);
	}
	return CreateCircularBuffer(program, cores, config);
}

void next_cb(ProgramDescriptor &desc, uint32_t &index, uint32_t bytes)
{
	desc.cbs.push_back(CBDescriptor{
		.total_size = bytes,
		.core_ranges = all_cores,
		.format_descriptors = { { CBFormatDescriptor{ .buffer_index = static_cast<uint8_t>(index),
			.data_format = tt::DataFormat::UInt8,
			.page_size = bytes } } },
	});
	index++;
}

} // namespace

ProgramDescriptor create(const Tensor &input, Program &program)
{
	ProgramDescriptor desc;
	const auto format = datatype_to_dataformat_converter(DataType::BFLOAT16);
	const uint32_t rows = input.padded_shape()[-2];
	add_cb(desc, all_cores, tt::CBIndex::c_0, format, 2, tt::tile_size(format));
	add_cb(desc, all_cores, tt::CBIndex::c_1, format, rows, 64, input.buffer());
	create_cb(program, all_cores, 2, 8192, nullptr);
	create_cb(program, all_cores, 3, 4096, input.buffer());
	uint32_t index = 10;
	next_cb(desc, index, 16);
	next_cb(desc, index, 32);
	return desc;
}
