// Shape 6: a DataflowBufferSpec with a name; memory of its own, or borrowed, or another one's.
const DFBSpecName FILL{ "fill_value" };

ProgramArtifacts create(const Tensor &output)
{
	const auto data_format = tt::tt_metal::datatype_to_dataformat_converter(output.dtype());
	m2::DataflowBufferSpec fill_value_dfb{
		.unique_id = FILL,
		.entry_size = static_cast<uint32_t>(output.buffer()->page_size()),
		.num_entries = 1,
		.data_format_metadata = data_format,
	};
	DataflowBufferSpec borrowed{
		.unique_id = DFBSpecName{ "borrowed" },
		.entry_size = 2048,
		.num_entries = 8,
		.data_format_metadata = tt::DataFormat::Float16_b,
		.borrowed_from = OUTPUT_TENSOR,
	};
	DataflowBufferSpec alias{
		.unique_id = "alias",
		.entry_size = 1024,
		.num_entries = 4,
		.data_format_metadata = tt::DataFormat::Float16_b,
		.advanced_options = { .alias_with = { FILL } },
	};
	DataflowBufferSpec later;
	later.unique_id = "later";
	later.entry_size = 512;
	later.num_entries = 3;
	later.data_format_metadata = tt::DataFormat::UInt16;
	DataflowBufferSpec sometimes{ .unique_id = "sometimes", .entry_size = 256, .num_entries = 2 };
	if (output.is_sharded()) {
		sometimes.borrowed_from = OUTPUT_TENSOR;
	}
	ProgramSpec spec{ .dataflow_buffers = { fill_value_dfb, borrowed, alias, later, sometimes } };
	return { .spec = spec };
}
