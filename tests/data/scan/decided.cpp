// Branches of helpers: those that the arguments decide are none; the others are shown in the caller's names.
static void push_cb_if_nonzero(ProgramDescriptor &desc, uint32_t tiles, uint32_t index, Buffer *buffer)
{
	if (tiles > 0) {
		if (buffer != nullptr) {
			desc.cbs.push_back(CBDescriptor{ .total_size = tiles * 64,
				.core_ranges = cores,
				.format_descriptors = { { CBFormatDescriptor{
					.buffer_index = index, .data_format = tt::DataFormat::UInt8, .page_size = 64 } } },
				.buffer = buffer });
		} else {
			desc.cbs.push_back(CBDescriptor{ .total_size = tiles * 32,
				.core_ranges = cores,
				.format_descriptors = { { CBFormatDescriptor{
					.buffer_index = index, .data_format = tt::DataFormat::UInt8, .page_size = 32 } } } });
		}
	}
}

ProgramDescriptor create(const Tensor &input, bool has_bias)
{
	ProgramDescriptor desc;
	const auto format{ tt::DataFormat::Float16_b };
	const auto page_bytes{ tile_size(format) };
	push_cb_if_nonzero(desc, 2, 0, nullptr);
	push_cb_if_nonzero(desc, 3, 1, input.buffer());
	push_cb_if_nonzero(desc, 0, 2, nullptr);
	push_cb_if_nonzero(desc, has_bias ? 4 : 0, 3, nullptr);
	desc.cbs.push_back(CBDescriptor{ .total_size = page_bytes,
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{
			.buffer_index = 4, .data_format = format, .page_size = page_bytes } } } });
	return desc;
}
