// Shape 2: CircularBufferConfig, named and inline.
void build(Program &program, const CoreRangeSet &all_cores, const CoreRangeSet &edge_cores, const Tensor &a)
{
	constexpr uint32_t tile_bytes = 2 * 32 * 32;
	uint32_t in0_index = tt::CBIndex::c_0;
	tt::tt_metal::CircularBufferConfig in0_config = tt::tt_metal::CircularBufferConfig(2 * tile_bytes,
		{ { in0_index, tt::DataFormat::Float16_b } }).set_page_size(in0_index, tile_bytes);
	auto in0 = tt::tt_metal::CreateCircularBuffer(program, all_cores, in0_config);

	CircularBufferConfig shared_config = CircularBufferConfig(4096, { { CBIndex::c_1, tt::DataFormat::Float32 } })
						     .set_page_size(CBIndex::c_1, 4096)
						     .set_globally_allocated_address(*a.buffer());
	CreateCircularBuffer(program, all_cores, shared_config);

	CircularBufferConfig sometimes_config(8192, { { 2, tt::DataFormat::Float16_b } });
	sometimes_config.set_page_size(2, 2048);
	if (a.is_sharded()) {
		sometimes_config.set_globally_allocated_address(*a.buffer());
	}
	CreateCircularBuffer(program, all_cores, sometimes_config);

	// One config, two buffers.
	auto twice = CircularBufferConfig(1024, { { 3, tt::DataFormat::UInt16 } }).set_page_size(3, 512);
	CreateCircularBuffer(program, all_cores, twice);
	CreateCircularBuffer(program, edge_cores, twice);

	CreateCircularBuffer(
		program, all_cores, CircularBufferConfig(640, { { 4, tt::DataFormat::UInt8 } }).set_page_size(4, 64));

	// Two indexes, the second through a map with a name.
	std::map<uint8_t, tt::DataFormat> formats{ { 5, tt::DataFormat::Float16_b }, { 6, tt::DataFormat::Float16_b } };
	auto both_config =
		CircularBufferConfig(3 * tile_bytes, formats).set_page_size(5, tile_bytes).set_page_size(6, tile_bytes);
	CreateCircularBuffer(program, all_cores, both_config);

	// Replaced before it is used.
	CircularBufferConfig chosen_config = CircularBufferConfig(0, { { 7, tt::DataFormat::Float16_b } });
	if (a.is_sharded()) {
		chosen_config = CircularBufferConfig(2 * tile_bytes, { { 7, tt::DataFormat::Float16_b } })
					.set_page_size(7, tile_bytes);
	} else {
		chosen_config = CircularBufferConfig(4 * tile_bytes, { { 7, tt::DataFormat::Float16_b } })
					.set_page_size(7, tile_bytes);
	}
	CreateCircularBuffer(program, all_cores, chosen_config);

	CircularBufferConfig resized_config =
		CircularBufferConfig(16, { { 8, tt::DataFormat::UInt32 } }).set_page_size(8, 16);
	resized_config.set_total_size(64);
	CreateCircularBuffer(program, all_cores, resized_config);

	CircularBufferConfig remote_config(2 * tile_bytes);
	remote_config.remote_index(31).set_page_size(tile_bytes).set_data_format(tt::DataFormat::Float16_b);
	experimental::CreateCircularBuffer(program, all_cores, remote_config, global_buffer);
}
