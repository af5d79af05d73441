// Lambdas that are handed to a function which calls them: what they assign is not known afterwards.
ProgramDescriptor create_visited(const Attributes& attributes, const Tensor& table)
{
	ProgramDescriptor desc;
	bool uses_table = false;
	uint32_t pages = 1, depth = 2, table_bytes = 0;
	std::visit([&](const auto& config) { uses_table = config.uses_table; }, attributes.config);
	auto found = std::any_of(list.begin(), list.end(), [&](auto& one) { pages += one; return one > 3; });
	auto later = [&] { depth = 3; }; // nobody calls it
	if (uses_table) {
		table_bytes = table.buffer()->aligned_size_per_bank();
	}
	desc.cbs.push_back(CBDescriptor{
		.total_size = pages * 2048,
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{
			.buffer_index = 0, .data_format = tt::DataFormat::Float16_b, .page_size = 2048 } } },
	});
	desc.cbs.push_back(CBDescriptor{
		.total_size = depth * 2048,
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{
			.buffer_index = 1, .data_format = tt::DataFormat::Float16_b, .page_size = 2048 } } },
	});
	if (uses_table) {
		desc.cbs.push_back(CBDescriptor{
			.total_size = table_bytes,
			.core_ranges = cores,
			.format_descriptors = { { CBFormatDescriptor{
				.buffer_index = 25, .data_format = tt::DataFormat::Float32, .page_size = table_bytes } } },
			.buffer = table.buffer(),
		});
	}
	return desc;
}
