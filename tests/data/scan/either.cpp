// One variable, two buffers: what is set after the branches is set in both.
ProgramSpec create(const Tensor &output, bool is_tilized)
{
	ProgramSpec spec;
	DataflowBufferSpec buffer;
	if (is_tilized) {
		buffer = DataflowBufferSpec{ .unique_id = DFBSpecName{ "tilized" }, .entry_size = 64, .num_entries = 2 };
	} else {
		buffer = DataflowBufferSpec{ .unique_id = DFBSpecName{ "plain" }, .entry_size = 32, .num_entries = 4 };
	}
	buffer.data_format_metadata = tt::DataFormat::UInt8;
	buffer.borrowed_from = TensorParamName{ "output" };
	spec.dataflow_buffers.push_back(std::move(buffer));
	return spec;
}

// Both ways come to the same.
ProgramSpec same(const Tensor &output, bool is_tilized)
{
	ProgramSpec spec;
	uint32_t tiles = output.tiles();
	uint32_t bytes = 2 * tiles;
	if (is_tilized) {
		bytes = 2 * tiles;
	}
	spec.dataflow_buffers.push_back(
		DataflowBufferSpec{ .unique_id = DFBSpecName{ "same" }, .entry_size = bytes, .num_entries = 2 });
	return spec;
}
