// Has a helper of its own with the name of another file's.
static void store_buffer(
	Program &program, uint32_t index, uint32_t bytes, const CoreRangeSet &cores, uint32_t a, uint32_t b)
{
	CreateCircularBuffer(program, cores,
		CircularBufferConfig(bytes, { { index, tt::DataFormat::Float32 } }).set_page_size(index, 4));
}

void second(Program &program, const CoreRangeSet &cores)
{
	store_buffer(program, 1, 40, cores, 0, 0);
}
