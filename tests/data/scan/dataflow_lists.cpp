// Shape 5: DataflowBufferSpec, pushed and in lists.
ProgramArtifacts create(const Params &params)
{
	uint32_t entry_bytes = 2048;
	Group<DataflowBufferSpec> dataflow_buffers = {
		DataflowBufferSpec{ .unique_id = DFBSpecName{ "src" },
			.entry_size = entry_bytes,
			.num_entries = 2,
			.data_format_metadata = tt::DataFormat::Float16_b },
		DataflowBufferSpec{ .unique_id = "dst",
			.entry_size = entry_bytes,
			.num_entries = params.depth,
			.data_format_metadata = tt::DataFormat::Float16_b },
	};
	if (params.needs_padding) {
		dataflow_buffers.push_back(DataflowBufferSpec{ .unique_id = PAD,
			.entry_size = 32,
			.num_entries = 1,
			.data_format_metadata = tt::DataFormat::UInt8 });
	} else {
		dataflow_buffers.push_back(m2::DataflowBufferSpec{
			.unique_id = PLAIN, .entry_size = 64, .num_entries = 1, .data_format_metadata = std::nullopt });
	}
	ProgramSpec spec{
		.name = "lists",
		.dataflow_buffers = { DataflowBufferSpec{ .unique_id = "inner", .entry_size = 16, .num_entries = 4 } },
	};
	return { .spec = spec };
}
