// Helpers whose names have no underscores, one of which only calls the other.
CBHandle MakeCircularBuffer(Program &program, const CoreSpec &core, CBIndex index, uint32_t size, uint32_t page_bytes,
	tt::DataFormat format)
{
	return CreateCircularBuffer(
		program, core, CircularBufferConfig(size, { { index, format } }).set_page_size(index, page_bytes));
}

CBHandle MakeCircularBufferBFP16(Program &program, const CoreSpec &core, CBIndex index, uint32_t tiles)
{
	constexpr uint32_t tile_bytes = sizeof(bfloat16) * TILE_WIDTH * TILE_HEIGHT;
	return MakeCircularBuffer(program, core, index, tiles * tile_bytes, tile_bytes, tt::DataFormat::Float16_b);
}

void create(Program &program)
{
	MakeCircularBufferBFP16(program, core, CBIndex::c_2, 4);
	MakeCircularBuffer(program, core, CBIndex::c_3, 128, 64, tt::DataFormat::UInt8);
}
