/*
 * A tile in memory consists of its shared exponents, rounded up to EXPONENT_ALIGN, and its packed data. Block formats
 * share one exponent byte per row of a face, MX formats one per longer block; the others have no shared exponents.
 * Numbers and sizes are from the runtime's tt_backend_api_types.hpp and tile.cpp.
 */
#include "model/card/data_format.h"
#include "base/number.h"

enum { EXPONENT_ALIGN = 16, BLOCK = 16, MX_BLOCK = 32 };

const struct tdm_data_format tdm_data_formats[] = {
	{ "Float32", "fp32", 0, 32, 0, 4096 },
	{ "Float16", "fp16", 1, 16, 0, 2048 },
	{ "Bfp8", NULL, 2, 8, BLOCK, 1088 },
	{ "Bfp4", NULL, 3, 4, BLOCK, 576 },
	{ "Tf32", NULL, 4, 0, 0, 0 },
	{ "Float16_b", "bf16", 5, 16, 0, 2048 },
	{ "Bfp8_b", "bfloat8_b", 6, 8, BLOCK, 1088 },
	{ "Bfp4_b", "bfloat4_b", 7, 4, BLOCK, 576 },
	{ "Int32", NULL, 8, 32, 0, 4096 },
	{ "UInt16", NULL, 9, 16, 0, 2048 },
	{ "Lf8", NULL, 10, 8, 0, 1024 },
	{ "Bfp2", NULL, 11, 2, BLOCK, 320 },
	{ "MxInt8", NULL, 12, 8, MX_BLOCK, 1056 },
	{ "Int16", NULL, 13, 16, 0, 2048 },
	{ "Int8", NULL, 14, 8, 0, 1024 },
	{ "Bfp2_b", "bfloat2_b", 15, 2, BLOCK, 320 },
	{ "MxInt4", NULL, 16, 4, MX_BLOCK, 544 },
	{ "MxInt2", NULL, 17, 2, MX_BLOCK, 288 },
	{ "MxFp8R", NULL, 18, 8, MX_BLOCK, 1056 },
	{ "MxFp6R", NULL, 19, 8, MX_BLOCK, 1056 },
	{ "MxFp8P", NULL, 20, 8, MX_BLOCK, 1056 },
	{ "MxFp6P", NULL, 21, 8, MX_BLOCK, 1056 },
	{ "MxFp4", NULL, 22, 4, MX_BLOCK, 544 },
	{ "UInt32", NULL, 24, 32, 0, 4096 },
	{ "Fp8_e4m3", "fp8", 26, 8, 0, 1024 },
	{ "MxFp4_2x_A", NULL, 27, 0, 0, 0 },
	{ "MxFp4_2x_B", NULL, 29, 0, 0, 0 },
	{ "UInt8", NULL, 30, 8, 0, 1024 },
	{ "RawUInt8", NULL, 240, 8, 0, 1024 },
	{ "RawUInt16", NULL, 241, 16, 0, 2048 },
	{ "RawUInt32", NULL, 242, 32, 0, 4096 },
};

const size_t tdm_data_format_count = sizeof tdm_data_formats / sizeof *tdm_data_formats;

const struct tdm_data_format *tdm_data_format_find(struct tdm_str name)
{
	/* The Python interface's name for the most common format. */
	if (tdm_str_is_word(name, "bfloat16"))
		name = tdm_str_of("Float16_b");
	for (size_t i = 0; i < tdm_data_format_count; i++)
		if (tdm_str_is_word(name, tdm_data_formats[i].name) || tdm_str_is_word(name, tdm_data_formats[i].alias))
			return &tdm_data_formats[i];
	return NULL;
}

/* A tile is one or two faces wide; its height is a power of two of at most two faces. */
static bool is_tile_shape(uint32_t height, uint32_t width)
{
	if (width != 16 && width != 32)
		return false;
	return height != 0 && height <= 32 && (height & (height - 1)) == 0;
}

uint64_t tdm_data_format_tile_bytes(const struct tdm_data_format *format, uint32_t height, uint32_t width)
{
	if (!is_tile_shape(height, width) || format->datum_bits == 0)
		return TDM_BYTES_UNKNOWN;
	uint32_t data = height * width;
	uint64_t exponents = 0;
	if (format->shares_exponent != 0) {
		if (data % format->shares_exponent != 0)
			return TDM_BYTES_UNKNOWN;
		tdm_align_up(data / format->shares_exponent, EXPONENT_ALIGN, &exponents);
	}
	return data * format->datum_bits / 8 + exponents;
}
