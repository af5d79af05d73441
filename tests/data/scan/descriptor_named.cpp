// Shape 9: a CBDescriptor with a name, filled field by field.
ProgramDescriptor create(const Tensor &input, const CoreRangeSet &cores, Buffer *dst_buffer)
{
	ProgramDescriptor desc;
	uint32_t stick_bytes = 128;
	uint32_t rows = input.padded_shape()[-2];
	{
		CBDescriptor cb_in;
		cb_in.total_size = rows * stick_bytes;
		cb_in.core_ranges = cores;
		cb_in.format_descriptors.push_back(CBFormatDescriptor{ .buffer_index = static_cast<uint8_t>(0),
			.data_format = tt::DataFormat::Float16_b,
			.page_size = stick_bytes });
		desc.cbs.push_back(std::move(cb_in));
	}
	{
		CBDescriptor cb_out;
		cb_out.total_size = 16 * stick_bytes;
		cb_out.core_ranges = cores;
		cb_out.format_descriptors = { { CBFormatDescriptor{ 16, tt::DataFormat::Float32, stick_bytes } } };
		cb_out.buffer = dst_buffer;
		desc.cbs.push_back(cb_out);
	}
	CBDescriptor cb_alias{
		.total_size = 2048,
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{ .buffer_index = tt::CBIndex::c_4,
			.data_format = tt::DataFormat::Float16_b,
			.page_size = 1024 } } },
	};
	if (input.is_sharded()) {
		cb_alias.format_descriptors.push_back(CBFormatDescriptor{ .buffer_index = tt::CBIndex::c_5,
			.data_format = tt::DataFormat::Float16_b,
			.page_size = 1024 });
	}
	cb_alias.format_descriptors[0].page_size = 2048;
	desc.cbs.push_back(cb_alias);
	return desc;
}
