// Sizes that no program could use: they stay unknown, with the reason.
ProgramDescriptor create(uint32_t count)
{
	ProgramDescriptor desc;
	constexpr uint64_t huge = 0x7fffffffffffffff;
	auto add_cb = [&](uint32_t index, uint64_t total) {
		desc.cbs.push_back(CBDescriptor{
			.total_size = total,
			.core_ranges = all_cores,
			.format_descriptors = { { CBFormatDescriptor{ .buffer_index = static_cast<uint8_t>(index),
				.data_format = tt::DataFormat::UInt8,
				.page_size = 1 } } },
		});
	};
	add_cb(0, 4096 / (8 - 8));
	add_cb(1, 4096 % 0);
	add_cb(2, huge * 2);
	add_cb(3, huge + 1);
	add_cb(4, 1 << 70);
	add_cb(5, 4 - 8);
	add_cb(6, 4096 / count);
	add_cb(7, round_up(huge, 4096));
	return desc;
}
