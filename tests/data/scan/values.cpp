// What can be computed: constants, enums, operators, known functions.
#define PAGE_BYTES 0x100

enum Slots : uint32_t { slot_in, slot_out = 4, slot_tmp };
enum class Mode { narrow = 1, wide = 3 };

static constexpr uint32_t kRows = 1'024u;

ProgramDescriptor create(const Attributes &attributes, uint32_t num_tiles)
{
	ProgramDescriptor desc;
	constexpr bool is_wide = true;
	const uint32_t arr[] = { 3, 5, 7 };
	auto push_cb = [&](uint32_t index, uint32_t total) {
		desc.cbs.push_back(CBDescriptor{
			.total_size = total,
			.core_ranges = all_cores,
			.format_descriptors = { { CBFormatDescriptor{ .buffer_index = static_cast<uint8_t>(index),
				.data_format = tt::DataFormat::UInt8,
				.page_size = 1 } } },
		});
	};
	push_cb(slot_in, PAGE_BYTES * 2);
	push_cb(slot_out, kRows / 3);
	push_cb(slot_tmp, (1 << 10) | 1);
	push_cb(6, std::max(64u, std::min<uint32_t>(48, kRows)));
	push_cb(7, is_wide ? 10 : 20);
	push_cb(8, tt::div_up(100, 32) + tt::round_up(33, 32) + tt::align(5, 16));
	push_cb(9, sizeof(uint32_t) * arr[1] + sizeof(bfloat16));
	push_cb(10, tt::tile_size(tt::DataFormat::Bfp8_b) + tt::datum_size(tt::DataFormat::Float32));
	push_cb(11, static_cast<uint32_t>(Mode::wide) * 100 % 7);
	push_cb(12, uint32_t{ 40 } - 8);
	push_cb(13, ~0u & 255);
	push_cb(14, tt::constants::TILE_HW * (kRows > 5 && !is_wide ? 2 : 3));
	push_cb(15, num_tiles * 2048);
	push_cb(16, std::min(num_tiles, 8u) * 2048);
	push_cb(17, attributes.depth + 1);
	push_cb(18, attributes.is_fast ? 2048 : 4096);
	push_cb(tt::CB::c_in3, 1);
	push_cb(tt::CB::c_out0, 2);
	push_cb(tt::CB::c_intermed1, 3);
	return desc;
}
