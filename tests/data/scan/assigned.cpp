// Ways to assign to a variable other than "=".
ProgramDescriptor create(const Tensor &input)
{
	ProgramDescriptor desc;
	auto add_cb = [&](uint32_t index, uint32_t bytes) {
		desc.cbs.push_back(CBDescriptor{ .total_size = bytes,
			.core_ranges = cores,
			.format_descriptors = { { CBFormatDescriptor{
				.buffer_index = index, .data_format = tt::DataFormat::UInt8, .page_size = bytes } } } });
	};
	uint32_t first = 0, second = 0, third = 32, fourth = 64, fifth = 96, sixth = 128;
	std::tie(first, second) = split(input);
	std::swap(third, fourth);
	read_bytes(&fifth, input);
	add_cb(0, first);
	add_cb(1, second);
	add_cb(2, third);
	add_cb(3, fourth);
	add_cb(4, fifth);
	add_cb(5, sixth);
	std::tie(first, second) = std::make_tuple(16, 48);
	add_cb(6, first);
	add_cb(7, second);
	return desc;
}
