// Braces that do not match, and a macro in the middle: what can be read is read.
void broken(ProgramDescriptor &desc)
{
    if (desc.is_odd( {
		desc.cbs.push_back(CBDescriptor{
			.total_size = 4096,
			.core_ranges = all_cores,
			.format_descriptors = { { CBFormatDescriptor{
				.buffer_index = 3, .data_format = tt::DataFormat::Float32, .page_size = 4096 } } },
		});
}

SOME_MACRO(void, whole)(ProgramDescriptor& desc) {
		DECLARE_THINGS
		desc.cbs.push_back(CBDescriptor{
			.total_size = 2048,
			.core_ranges = all_cores,
			.format_descriptors = { { CBFormatDescriptor{
				.buffer_index = 4, .data_format = tt::DataFormat::Float16_b, .page_size = 2048 } } },
		});
}
