// Shape 3: create_circular_buffer, which another project defines.
tt::tt_metal::Program Factory::create(const tensor_return_value_t &output)
{
	tt::tt_metal::Program program{};
	constexpr auto kInputIndex = tt::CBIndex::c_0;
	const uint32_t tile_bytes = tt::tile_size(tt::DataFormat::Float16_b);
	const uint32_t block = std::min(8U, tiles_per_core);
	[[maybe_unused]] auto in = create_circular_buffer(
		program, all_cores, kInputIndex, tt::DataFormat::Float16_b, tile_bytes, 2 * block);
	create_circular_buffer(program, all_cores, tt::CBIndex::c_16, tt::DataFormat::Float32, 4096, 3);
	auto [index, handle] = create_cb(tt::CBIndex::c_5, program, all_cores, 512, 4, tt::DataFormat::UInt32);
	create_cb(index + 1, program, all_cores, 512, 4, tt::DataFormat::UInt32, output.buffer());
	return program;
}
