// Loops and conditions around what creates buffers.
ProgramDescriptor Branchy::create(const Attributes &attributes, const Tensor &input)
{
	ProgramDescriptor desc;
	uint32_t pages = 1;
	if (attributes.is_double) {
		pages = 2;
	}
	uint32_t bytes;
	if (input.is_sharded()) {
		bytes = 512;
	} else {
		bytes = 1024;
	}
	auto add_cb = [&](uint32_t index, uint32_t total) {
		desc.cbs.push_back(CBDescriptor{
			.total_size = total,
			.core_ranges = all_cores,
			.format_descriptors = { { CBFormatDescriptor{ .buffer_index = static_cast<uint8_t>(index),
				.data_format = tt::DataFormat::UInt8,
				.page_size = 1 } } },
		});
	};
	add_cb(0, pages * 2048);
	add_cb(1, bytes);
	if (input.is_sharded()) {
		add_cb(2, bytes);
	} else if (attributes.is_double) {
		add_cb(3, bytes * pages);
	}
	for (uint32_t i = 0; i < 4; ++i) {
		add_cb(4 + i, 64);
	}
	uint32_t counter = 8;
	while (attributes.more(counter)) {
		counter++;
	}
	add_cb(counter, 128);
	switch (attributes.mode) {
	case 1:
		add_cb(9, 256);
		break;
	default:
		add_cb(10, 512);
		break;
	}
	if (attributes.is_empty) {
		return desc;
	}
	uint32_t index = 11;
	add_cb(index++, 1);
	add_cb(index++, 2);
	index += 3;
	add_cb(index, 3);
	return desc;
}
