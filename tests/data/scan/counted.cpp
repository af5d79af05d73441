// Indices that count up where not every path counts.
ProgramDescriptor create(const Params &params, bool shares, bool has_mask)
{
	ProgramDescriptor desc;
	uint32_t next_index = 0;
	const auto allocate = [&](uint32_t pages, uint32_t page_bytes) -> uint32_t {
		const uint32_t index = next_index++;
		desc.cbs.push_back(CBDescriptor{
			.total_size = pages * page_bytes,
			.core_ranges = all_cores,
			.format_descriptors = { { CBFormatDescriptor{ .buffer_index = static_cast<uint8_t>(index),
				.data_format = tt::DataFormat::Float16_b,
				.page_size = page_bytes } } },
		});
		return index;
	};
	const uint32_t q = allocate(2, 2048);
	// Only one of the two arms counts.
	const uint32_t k = shares ? q : allocate(4, 2048);
	// It is 1 or 2.
	const uint32_t scale = allocate(1, 2048);
	// A lambda that may return before it counts.
	const uint32_t mask = [&]() {
		if (!has_mask) {
			return q;
		}
		return allocate(3, 2048);
	}();
	// It is 2, 3 or 4.
	const uint32_t last = allocate(5, 2048);
	return desc;
}

ProgramDescriptor guarded(const Params &params, bool has_bias)
{
	ProgramDescriptor desc;
	uint32_t next_index = 0;
	auto add_cb = [&](uint32_t pages) {
		if (pages == 0) {
			return;
		}
		desc.cbs.push_back(CBDescriptor{
			.total_size = pages * 64,
			.core_ranges = all_cores,
			.format_descriptors = { { CBFormatDescriptor{ .buffer_index = static_cast<uint8_t>(next_index),
				.data_format = tt::DataFormat::UInt8,
				.page_size = 64 } } },
		});
		next_index++;
	};
	add_cb(2);
	// With a number the guard is decided.
	add_cb(3);
	// Here it is not, and the next index is 2 or 3.
	add_cb(has_bias ? 1 : 0);
	add_cb(4);
	return desc;
}

// Arms with a condition that is known: the other one does not count.
ProgramDescriptor decided()
{
	constexpr bool is_wide = true;
	uint32_t next_index = 8;
	CircularBufferConfig first(64, { { is_wide ? next_index++ : (next_index += 5), tt::DataFormat::UInt8 } });
	CircularBufferConfig second(64, { { next_index++, tt::DataFormat::UInt8 } });
	CreateCircularBuffer(program, cores, first.set_page_size(8, 64));
	CreateCircularBuffer(program, cores, second.set_page_size(9, 64));
}
