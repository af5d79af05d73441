/* Data formats and the sizes of their tiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/card/data_format.h"

static uint64_t bytes_of(const char *name, uint32_t height, uint32_t width)
{
	const struct tdm_data_format *format = tdm_data_format_find(tdm_str_of(name));
	assert_non_null(format);
	return tdm_data_format_tile_bytes(format, height, width);
}

static void the_table_agrees_with_the_formula(void **state)
{
	(void)state;
	for (size_t i = 0; i < tdm_data_format_count; i++) {
		const struct tdm_data_format *format = &tdm_data_formats[i];
		uint64_t bytes = tdm_data_format_tile_bytes(format, 32, 32);
		if (format->tile_bytes == 0)
			assert_true(bytes == TDM_BYTES_UNKNOWN);
		else
			assert_int_equal(bytes, format->tile_bytes);
		assert_ptr_equal(tdm_data_format_find(tdm_str_of(format->name)), format);
		if (format->alias != NULL)
			assert_ptr_equal(tdm_data_format_find(tdm_str_of(format->alias)), format);
		assert_true(i == 0 || tdm_data_formats[i - 1].number < format->number);
	}
}

static void formats_are_found_by_what_users_write(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int number;
		uint64_t bytes;
	} expected[] = {
		{ "bf16", 5, 2048 },
		{ "BFLOAT16", 5, 2048 },
		{ "fp32", 0, 4096 },
		{ "float32", 0, 4096 },
		{ "bfloat8_b", 6, 1088 },
		{ "Bfp4_b", 7, 576 },
		{ "bfp2", 11, 320 },
		{ "int32", 8, 4096 },
		{ "uint16", 9, 2048 },
		{ "Fp8_e4m3", 26, 1024 },
		{ "mxfp4", 22, 544 },
		{ "MxFp6P", 21, 1056 },
		{ "MxInt2", 17, 288 },
		{ "uint8", 30, 1024 },
		{ "RawUInt32", 242, 4096 },
	};
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		const struct tdm_data_format *format = tdm_data_format_find(tdm_str_of(expected[i].name));
		assert_non_null(format);
		assert_int_equal(format->number, expected[i].number);
		assert_int_equal(format->tile_bytes, expected[i].bytes);
	}
	assert_null(tdm_data_format_find(tdm_str_of("float")));
	assert_null(tdm_data_format_find((struct tdm_str){ NULL, 0 }));
}

static void smaller_tiles_round_their_exponents_up(void **state)
{
	(void)state;
	assert_int_equal(bytes_of("bf16", 16, 32), 1024);
	assert_int_equal(bytes_of("bf16", 1, 16), 32);
	assert_int_equal(bytes_of("fp32", 32, 16), 2048);
	assert_int_equal(bytes_of("bfp8_b", 16, 32), 512 + 32);
	assert_int_equal(bytes_of("bfp8_b", 16, 16), 256 + 16);
	assert_int_equal(bytes_of("bfp8_b", 8, 32), 256 + 16);
	assert_int_equal(bytes_of("bfp8_b", 1, 16), 16 + 16);
	assert_int_equal(bytes_of("bfp4_b", 2, 32), 32 + 16);
	assert_int_equal(bytes_of("bfp2_b", 1, 16), 4 + 16);
	assert_int_equal(bytes_of("MxFp8R", 16, 32), 512 + 16);
	assert_int_equal(bytes_of("MxInt4", 4, 16), 32 + 16);
}

static void other_shapes_are_not_tiles(void **state)
{
	(void)state;
	static const uint32_t shapes[][2] = { { 0, 32 }, { 32, 0 }, { 3, 32 }, { 64, 32 }, { 32, 64 }, { 32, 8 },
		{ 24, 16 } };
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		assert_true(bytes_of("bf16", shapes[i][0], shapes[i][1]) == TDM_BYTES_UNKNOWN);
	/* Half a block of an MX format. */
	assert_true(bytes_of("MxFp4", 1, 16) == TDM_BYTES_UNKNOWN);
	assert_true(bytes_of("Tf32", 32, 32) == TDM_BYTES_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_agrees_with_the_formula),
		cmocka_unit_test(formats_are_found_by_what_users_write),
		cmocka_unit_test(smaller_tiles_round_their_exponents_up),
		cmocka_unit_test(other_shapes_are_not_tiles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
