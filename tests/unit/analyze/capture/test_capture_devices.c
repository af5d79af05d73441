/* Devices, meshes and chips of captures: what belongs to which, and that nothing is wrongly added up. */
#include "capture_run.h"

#define MESH_TENSOR                                                                                         \
	NODE(1, "tensor", "",                                                                               \
		"{\"device_tensors\":\"[{\\\"address\\\":1,\\\"device_id\\\":0,\\\"mesh_device_id\\\":9},{" \
		"\\\"address\\\":1,\\\"device_id\\\":1,"                                                    \
		"\\\"mesh_device_id\\\":9}]\",\"shape\":\"Shape([1])\"}")

/* Each chip of a mesh reports each circular buffer, and buffers go by the number of the mesh. */
static void a_mesh_does_not_multiply(void **state)
{
	(void)state;
	struct capture_run *run = capture_read("[" NODE(0, "capture_start", "", "null") "," MESH_TENSOR "," NODE(
		2, "buffer", "", "{\"device_id\":9,\"size\":64,\"type\":\"L1\"}") "," NODE(3, "buffer_allocate", "2",
		"{\"device_id\":9,\"size\":64,\"type\":\"L1\",\"max_size_per_bank\":32}") "," NODE(4,
		"circular_buffer_allocate", "", CB_PARAMS(0, 1000, "{[0-0 - 1-0]}", 100)) "," NODE(5,
		"circular_buffer_allocate", "", CB_PARAMS(1, 1000, "{[0-0 - 1-0]}", 100)) "," NODE(6,
		"circular_buffer_deallocate_all", "", "{\"device_id\":9}") "," NODE(7, "circular_buffer_allocate", "",
		CB_PARAMS(1, 1000, "{[0-0 - 0-0]}", 50)) "]");
	assert_int_equal(run->summary.exact.unit_count, 1);
	assert_int_equal(run->summary.exact.units[0].id, 9);
	assert_int_equal(run->summary.exact.chips[0].mapping, TDM_EXACT_MAP_SAID);
	assert_right(run, TDM_STOCK_CORE_PEAK_CB, 100);
	assert_right(run, TDM_STOCK_CORE_PEAK_TOTAL, 132);
	assert_right(run, TDM_STOCK_L1_PEAK, 64 + 200);
	assert_figure(run, TDM_STOCK_CORE_PEAK_CB, 200);
	assert_int_equal(reason_of(run, TDM_STOCK_CORE_PEAK_CB, TDM_REASON_DEVICES), 100);
	capture_done(run);
}

/* The chips of a mesh may run different programs: the fullest core is of one chip, the most in all cores of another. */
static void the_fullest_chip_of_a_mesh_counts_for_each_figure(void **state)
{
	(void)state;
	struct capture_run *run = capture_read("[" NODE(0, "capture_start", "", "null") "," MESH_TENSOR "," NODE(
		2, "buffer", "", "{\"device_id\":9,\"size\":64,\"type\":\"L1\"}") "," NODE(3, "buffer_allocate", "2",
		"{\"device_id\":9,\"size\":64,\"type\":\"L1\",\"max_size_per_bank\":32}") "," NODE(4,
		"circular_buffer_allocate", "", CB_PARAMS(0, 1000, "{[0-0 - 0-0]}", 100)) "," NODE(5,
		"circular_buffer_allocate", "", CB_PARAMS(1, 1000, "{[0-0 - 3-0]}", 50)) "]");
	assert_int_equal(run->summary.exact.unit_count, 1);
	assert_right(run, TDM_STOCK_CORE_PEAK_TOTAL, 132);
	assert_right(run, TDM_STOCK_L1_PEAK, 64 + 4 * 50);
	assert_figure(run, TDM_STOCK_L1_PEAK, 64 + 100 + 50);
	assert_int_equal(reason_of(run, TDM_STOCK_L1_PEAK, TDM_REASON_DEVICES), 100);
	assert_int_equal(reason_of(run, TDM_STOCK_L1_PEAK, TDM_REASON_EACH_CORE), -3 * 50);
	assert_int_equal(reason_of(run, TDM_STOCK_L1_PEAK, TDM_REASON_REST), 0);
	capture_done(run);
}

/* Without a word about meshes: where all buffers are of one device, all chips are its. */
static void a_chip_belongs_to_the_only_device_with_buffers(void **state)
{
	(void)state;
	struct capture_run *run = capture_read("[" NODE(
		0, "buffer", "", "{\"device_id\":1,\"size\":64,\"type\":\"L1\"}") "," NODE(1, "buffer_allocate", "0",
		"{\"device_id\":1,\"size\":64,\"type\":\"L1\",\"max_size_per_bank\":32}") "," NODE(2,
		"circular_buffer_allocate", "", CB_PARAMS(0, 1000, "{[0-0 - 1-0]}", 100)) "," NODE(3,
		"circular_buffer_deallocate_all", "", "{\"device_id\":1}") "," NODE(4, "circular_buffer_allocate", "",
		CB_PARAMS(0, 1000, "{[0-0 - 1-0]}", 60)) "]");
	assert_int_equal(run->summary.exact.unit_count, 1);
	assert_int_equal(run->summary.exact.chips[0].mapping, TDM_EXACT_MAP_ONLY);
	assert_right(run, TDM_STOCK_CORE_PEAK_TOTAL, 132);
	capture_done(run);
}

/* A peak that is reached again keeps its first node. */
static void a_peak_is_where_it_was_first(void **state)
{
	(void)state;
	static const char params[] = "{\"device_id\":0,\"size\":64,\"type\":\"DRAM\",\"max_size_per_bank\":32}";
	char text[2048];
	snprintf(text, sizeof text,
		"[" NODE(0, "buffer", "", "%s") "," NODE(1, "buffer_allocate", "0", "%s") "," NODE(
			2, "buffer_deallocate", "0", "%s") "," NODE(3, "buffer_allocate", "0", "%s") "]",
		params, params, params, params);
	struct capture_run *run = capture_read(text);
	const struct tdm_exact_unit *unit = &run->summary.exact.units[0];
	assert_int_equal(unit->dram.bytes, 64);
	assert_int_equal(unit->dram.at, 1);
	assert_int_equal(unit->kinds[TDM_KIND_DRAM].asked.at, 1);
	assert_int_equal(unit->kinds[TDM_KIND_DRAM].bank.at, 1);
	capture_done(run);
}

/* Cores that differ do not add; the same addresses on one core count once. */
static void only_what_shares_a_core_adds(void **state)
{
	(void)state;
	struct capture_run *run = capture_read(
		"[" NODE(0, "circular_buffer_allocate", "", CB_PARAMS(0, 1000, "{[0-0 - 3-0]}", 100)) "," NODE(
			1, "circular_buffer_allocate", "", CB_PARAMS(0, 1000, "{[4-0 - 7-0]}", 80)) "," NODE(2,
			"circular_buffer_allocate", "", CB_PARAMS(0, 1050, "{[3-0 - 4-0]}", 100)) "]");
	assert_figure(run, TDM_STOCK_CORE_PEAK_CB, 280);
	assert_right(run, TDM_STOCK_CORE_PEAK_CB, 150);
	const struct tdm_exact_unit *unit = &run->summary.exact.units[0];
	assert_true(unit->has_peak_core && unit->peak_x == 3 && unit->peak_y == 0);
	assert_int_equal(reason_of(run, TDM_STOCK_CORE_PEAK_CB, TDM_REASON_CORES), 80);
	assert_int_equal(reason_of(run, TDM_STOCK_CORE_PEAK_CB, TDM_REASON_ADDRESSES), 50);
	assert_int_equal(reason_of(run, TDM_STOCK_CORE_PEAK_CB, TDM_REASON_REST), 0);
	capture_done(run);
}

#define L1_ON(device, bank) "{\"device_id\":" #device ",\"size\":64,\"type\":\"L1\",\"max_size_per_bank\":" #bank "}"

/* What was there before is known when it is released, and may make another device the fullest while a function ran. */
static void the_peak_of_a_function_is_that_of_its_fullest_device(void **state)
{
	(void)state;
	struct capture_run *run = capture_read("[" NODE(0, "buffer", "", L1_ON(0, 0)) "," NODE(
		1, "function_start", "", "{\"inputs\":\"0\",\"name\":\"f\"}") "," NODE(2, "buffer", "",
		L1_ON(1, 0)) "," NODE(3, "buffer_allocate", "2", L1_ON(1, 300)) "," NODE(4, "buffer", "",
		L1_ON(0, 0)) "," NODE(5, "buffer_allocate", "4", L1_ON(0, 50)) "," NODE(6, "buffer_deallocate", "0",
		L1_ON(0, 1000)) "," NODE(7, "function_end", "", "{\"name\":\"f\"}") "]");
	const struct tdm_capture_paths *paths = &run->summary.exact.paths;
	assert_int_equal(run->refusals, 0);
	assert_int_equal(paths->count, 2);
	assert_int_equal(paths->paths[1].core_peak, 1050);
	for (size_t i = 0; i < paths->peak_count; i++)
		assert_true(paths->peaks[i].bytes < 1050 || run->summary.exact.units[paths->peaks[i].unit].id == 0);
	assert_right(run, TDM_STOCK_CORE_PEAK_TOTAL, 1050);
	capture_done(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mesh_does_not_multiply),
		cmocka_unit_test(the_fullest_chip_of_a_mesh_counts_for_each_figure),
		cmocka_unit_test(a_chip_belongs_to_the_only_device_with_buffers),
		cmocka_unit_test(only_what_shares_a_core_adds),
		cmocka_unit_test(a_peak_is_where_it_was_first),
		cmocka_unit_test(the_peak_of_a_function_is_that_of_its_fullest_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
