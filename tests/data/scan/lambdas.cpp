// Shape 4: lambdas that create buffers.
ProgramArtifacts create(const Tensor &input)
{
	const tt::DataFormat format = datatype_to_dataformat_converter(input.dtype());
	const uint32_t tile_bytes = tile_size(format);
	ProgramDescriptor desc;

	auto make_dfb = [](const DFBSpecName &name, tt::DataFormat data_format, uint32_t page_bytes) {
		return DataflowBufferSpec{ .unique_id = name,
			.entry_size = page_bytes,
			.num_entries = 1,
			.data_format_metadata = data_format };
	};
	Group<DataflowBufferSpec> dataflow_buffers{
		make_dfb(DFBSpecName{ "input" }, format, tile_bytes),
		make_dfb(DFBSpecName{ "index" }, tt::DataFormat::UInt32, 256),
	};
	dataflow_buffers.push_back(make_dfb(DFBSpecName{ "output" }, format, 2 * tile_bytes));

	// The index counts up in the lambda.
	uint32_t next_index = 0;
	const auto push_cb = [&](uint32_t pages, uint32_t page_bytes,
				     tt::DataFormat f = tt::DataFormat::Float16_b) -> uint32_t {
		if (pages == 0) {
			return 32;
		}
		const uint32_t index = next_index++;
		desc.cbs.push_back(CBDescriptor{
			.total_size = pages * page_bytes,
			.core_ranges = all_cores,
			.format_descriptors = { { CBFormatDescriptor{ .buffer_index = static_cast<uint8_t>(index),
				.data_format = f,
				.page_size = page_bytes } } },
		});
		return index;
	};
	const uint32_t first = push_cb(2, 2048);
	const uint32_t second = push_cb(1, 4096, tt::DataFormat::Float32);
	// A lambda that calls another.
	auto push_pair = [&](uint32_t pages) { push_cb(pages, 64, tt::DataFormat::UInt8); };
	push_pair(first + second + 3);
	uint32_t last = next_index++;
	auto cb = [&](uint32_t index) {
		CBDescriptor described;
		described.total_size = 32;
		described.core_ranges = all_cores;
		described.format_descriptors = { { CBFormatDescriptor{ .buffer_index = static_cast<uint8_t>(index),
			.data_format = tt::DataFormat::UInt8,
			.page_size = 32 } } };
		return described;
	};
	desc.cbs.push_back(cb(last));
	return desc;
}
