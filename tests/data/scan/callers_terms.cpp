// What a helper does not know is written in the caller's names: two calls have different unknowns.
void create_tensor_cb(ProgramDescriptor &desc, const Tensor &tensor, uint32_t pages, CBIndex index)
{
	auto page_bytes = get_aligned_page_size(tensor);
	auto format = datatype_to_dataformat_converter(tensor.dtype());
	const uint32_t total = pages * page_bytes;
	desc.cbs.push_back(CBDescriptor{
		.total_size = total,
		.core_ranges = all_cores,
		.format_descriptors = { { CBFormatDescriptor{
			.buffer_index = index, .data_format = format, .page_size = page_bytes } } },
	});
}

ProgramDescriptor create(const Inputs &inputs, const Attributes &attributes)
{
	ProgramDescriptor desc;
	const auto &counts = inputs.counts;
	create_tensor_cb(desc, counts, 2, CBIndex::c_3);
	create_tensor_cb(desc, inputs.offsets, get_num_pages(counts), CBIndex::c_4);

	// A variable of the function itself keeps its name in a lambda.
	const uint32_t row_bytes = attributes.row_bytes();
	auto info_of = [&](Buffer name) { return find_info(infos, name); };
	auto make_dfb = [&](const char *name, DataType dtype, Buffer which) {
		const Info &info = info_of(which);
		return DataflowBufferSpec{ .unique_id = name,
			.entry_size = info.page_size,
			.num_entries = info.pages * row_bytes,
			.data_format_metadata = datatype_to_dataformat_converter(dtype) };
	};
	Group<DataflowBufferSpec> buffers{
		make_dfb("weights", inputs.weights.dtype(), Buffer::WEIGHTS),
		make_dfb("out", DataType::BFLOAT16, Buffer::OUT),
	};
	return desc;
}
