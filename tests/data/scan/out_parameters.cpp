// What a function of the file takes by reference is unknown after the call, unless the function is followed.
static uint32_t compute_geometry(const Tensor &input, std::vector<uint32_t> &arguments, uint32_t &aligned_bytes)
{
	aligned_bytes = align(input.row_bytes(), 32);
	return input.page_bytes();
}

// Declarations of functions are no buffers.
CircularBufferConfig describe(const Program &program, uint32_t index);
const CircularBufferConfig &get_config(Program &program, CBHandle handle);

ProgramDescriptor create(const Tensor &input, bool is_wide)
{
	ProgramDescriptor desc;
	uint32_t aligned_bytes = 0, kept = 64;
	std::vector<uint32_t> arguments;
	const uint32_t page_bytes = compute_geometry(input, arguments, aligned_bytes);
	desc.cbs.push_back(CBDescriptor{ .total_size = 2 * aligned_bytes,
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{
			.buffer_index = 0, .data_format = tt::DataFormat::UInt8, .page_size = aligned_bytes } } } });
	desc.cbs.push_back(CBDescriptor{ .total_size = 2 * kept,
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{
			.buffer_index = 1, .data_format = tt::DataFormat::UInt8, .page_size = page_bytes } } } });
	return desc;
}

// A config of no bytes that a loop replaces.
void placeholder(Program &program, const std::vector<Buffer *> &outputs, bool is_wide)
{
	uint32_t index = 5;
	CircularBufferConfig config = CircularBufferConfig(0, { { index, tt::DataFormat::UInt8 } });
	if ((outputs.size() > 1) || (is_wide && (outputs.size() > 0))) {
		for (uint32_t i = 0; i < outputs.size(); ++i) {
			index += i;
			config = CircularBufferConfig(96, { { index, tt::DataFormat::UInt8 } }).set_page_size(index, 96);
			CreateCircularBuffer(program, cores, config);
		}
	}
}
