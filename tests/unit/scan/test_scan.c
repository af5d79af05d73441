/*
 * Buffers in sources. Every file and folder of tests/data/scan that has a table of the same name with the ending
 * .expected is scanned by itself, and the result must be that table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"
#include "scan_table.h"

#include <dirent.h>

#define SCAN_DATA TDM_TEST_DATA "/scan"

static struct tdm_scan scan_path(const char *path, const struct tdm_scan_options *options)
{
	struct tdm_scan scan;
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_scan_run(&scan, &path, 1, options, &diag), 0);
	return scan;
}

static struct tdm_scan scan_cpp(const char *text, const struct tdm_settings *settings)
{
	struct tdm_scan scan;
	struct tdm_scan_options options = { .settings = settings };
	tdm_scan_text(&scan, "program.cpp", tdm_str_of(text), &options);
	return scan;
}

static bool is_as_expected(const char *name)
{
	struct tdm_buf table, expected;
	char path[512], expected_path[512];
	snprintf(path, sizeof path, "%s/%.*s", SCAN_DATA, (int)(strlen(name) - strlen(".expected")), name);
	snprintf(expected_path, sizeof expected_path, "%s/%s", SCAN_DATA, name);
	tdm_buf_init(&table);
	tdm_buf_init(&expected);
	struct tdm_scan scan = scan_path(path, &(struct tdm_scan_options){ 0 });
	scan_table(&table, &scan);
	assert_int_equal(tdm_file_read(expected_path, 1 << 20, &expected), 0);
	bool is_same = tdm_str_eq(tdm_buf_str(&table), tdm_buf_str(&expected));
	if (!is_same)
		print_error("%s gives:\n%s", path, tdm_buf_str(&table).ptr);
	tdm_scan_done(&scan);
	tdm_buf_done(&table);
	tdm_buf_done(&expected);
	return is_same;
}

static void every_shape_gives_its_table(void **state)
{
	(void)state;
	size_t tables = 0, wrong = 0;
	DIR *folder = opendir(SCAN_DATA);
	assert_non_null(folder);
	for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
		const char *ending = strstr(entry->d_name, ".expected");
		if (ending == NULL || ending[strlen(".expected")] != '\0')
			continue;
		tables++;
		wrong += !is_as_expected(entry->d_name);
	}
	closedir(folder);
	assert_true(tables >= 14);
	assert_int_equal(wrong, 0);
}

static const char one_parameter[] = "void f(Program& program, uint32_t num_tiles) {\n"
				    "  uint32_t limited = std::min(num_tiles, 100u);\n"
				    "  CreateCircularBuffer(program, cores, CircularBufferConfig(limited * 2048,\n"
				    "    {{0, tt::DataFormat::Float16_b}}).set_page_size(0, 2048));\n"
				    "}\n";

static void settings_give_values_and_ranges(void **state)
{
	(void)state;
	struct tdm_settings settings = { 0 };
	assert_int_equal(tdm_settings_add(&settings, "num_tiles=16", NULL), 0);
	struct tdm_scan scan = scan_cpp(one_parameter, &settings);
	assert_int_equal(scan.files[0].buffers[0].total.bytes, 16 * 2048);
	assert_string_equal(scan.files[0].buffers[0].total.text, "min(num_tiles, 100) * 2048");
	assert_int_equal(
		scan.files[0].buffers[0].strategy, TDM_STRATEGY_ADAPTIVE); /* in other cases it is another size */
	tdm_scan_done(&scan);
	assert_int_equal(tdm_settings_add(&settings, "num_tiles=4..64", NULL), 0);
	scan = scan_cpp(one_parameter, &settings);
	assert_int_equal(scan.files[0].buffers[0].total.bytes, TDM_BYTES_UNKNOWN);
	assert_int_equal(scan.files[0].buffers[0].total.min, 4 * 2048);
	assert_int_equal(scan.files[0].buffers[0].total.max, 64 * 2048);
	tdm_scan_done(&scan);
	/* A setting for a variable that has an expression takes its place. */
	assert_int_equal(tdm_settings_add(&settings, "limited=3", NULL), 0);
	scan = scan_cpp(one_parameter, &settings);
	assert_int_equal(scan.files[0].buffers[0].total.bytes, 3 * 2048);
	tdm_scan_done(&scan);
	tdm_settings_done(&settings);
}

/* Whether two buffers never exist together: they are in different branches of one `if`. */
static bool are_either_or(const struct tdm_scan_branch *a, const struct tdm_scan_branch *b)
{
	for (; a != NULL; a = a->outer)
		for (const struct tdm_scan_branch *other = b; other != NULL; other = other->outer)
			if (a->id == other->id && a->way != other->way)
				return true;
	return false;
}

static void branches_exclude_each_other(void **state)
{
	(void)state;
	struct tdm_scan scan = scan_path(SCAN_DATA "/branches.cpp", &(struct tdm_scan_options){ 0 });
	const struct tdm_scan_buffer *list = scan.files[0].buffers;
	assert_null(list[0].branch);
	assert_true(are_either_or(list[2].branch, list[3].branch));
	assert_false(are_either_or(list[1].branch, list[3].branch));
	assert_string_equal(list[2].branch->condition, "input.is_sharded()");
	assert_int_equal(list[3].branch->way, 0);
	assert_int_equal(list[3].branch->outer->way, 1);
	assert_true(are_either_or(list[6].branch, list[7].branch)); /* cases of a switch */
	tdm_scan_done(&scan);
}

static void buffers_know_their_program_helper_and_cores(void **state)
{
	(void)state;
	struct tdm_scan scan = scan_path(SCAN_DATA "/config_named.cpp", &(struct tdm_scan_options){ 0 });
	const struct tdm_scan_file *file = &scan.files[0];
	assert_int_equal(file->program_count, 1);
	assert_string_equal(file->programs[0].name, "build");
	assert_int_equal(file->programs[0].line, 2);
	assert_string_equal(file->buffers[3].cores, "all_cores");
	assert_string_equal(file->buffers[4].cores, "edge_cores");
	assert_true(file->buffers[3].line != file->buffers[4].line);
	assert_int_equal(file->buffers[3].defined_line, file->buffers[4].defined_line);
	assert_string_equal(file->buffers[1].view_of, "a.buffer()");
	assert_int_equal(tdm_scan_own_bytes(&file->buffers[1]), 0);
	assert_int_equal(tdm_scan_own_bytes(&file->buffers[0]), 4096);
	assert_string_equal(file->buffers[0].name, "in0_config");
	tdm_scan_done(&scan);
	scan = scan_path(SCAN_DATA "/add_cb.cpp", &(struct tdm_scan_options){ 0 });
	assert_string_equal(scan.files[0].buffers[0].helper, "add_cb");
	assert_int_equal(scan.files[0].buffers[0].shape, TDM_SHAPE_HELPER);
	tdm_scan_done(&scan);
}

static void places_are_counted_apart_from_the_tree(void **state)
{
	(void)state;
	struct tdm_scan scan = scan_path(SCAN_DATA "/add_cb.cpp", &(struct tdm_scan_options){ 0 });
	size_t bodies = 0, calls = 0;
	for (size_t i = 0; i < scan.files[0].place_count; i++) {
		assert_int_equal(scan.files[0].places[i].grasp, TDM_GRASP_WHOLLY);
		assert_true(scan.files[0].places[i].line > 0);
		bodies += scan.files[0].places[i].is_helper_body;
		calls += scan.files[0].places[i].shape == TDM_SHAPE_HELPER;
	}
	assert_int_equal(bodies, 3);
	assert_int_equal(calls, 4); /* next_cb() has no name that would tell */
	tdm_scan_done(&scan);
	scan = scan_path(SCAN_DATA "/hidden.cpp", &(struct tdm_scan_options){ 0 });
	assert_int_equal(scan.files[0].place_count, 0);
	tdm_scan_done(&scan);
	/* A helper that is defined nowhere is listed as not understood. */
	scan = scan_cpp("void f(D& desc) { add_cb(desc, 1, 2); }\n", NULL);
	assert_int_equal(scan.files[0].place_count, 1);
	assert_int_equal(scan.files[0].places[0].grasp, TDM_GRASP_NOT);
	assert_string_not_equal(scan.files[0].places[0].why, "");
	tdm_scan_done(&scan);
}

static void kernels_are_kept_with_their_objects(void **state)
{
	(void)state;
	struct tdm_scan scan =
		scan_cpp("void f(Program& program) {\n"
			 "  const std::string folder = \"kernels/\";\n"
			 "  CreateKernel(program, folder + \"reader.cpp\", cores, Config{.processor = 1});\n"
			 "  KernelDescriptor writer;\n"
			 "  writer.kernel_source = \"kernels/\" \"writer.cpp\";\n"
			 "  writer.core_ranges = cores;\n"
			 "  desc.kernels.push_back(std::move(writer));\n"
			 "  KernelSpec compute{.unique_id = KernelSpecName{\"compute\"}, .source = \"c.cpp\",\n"
			 "    .dfb_bindings = {DFBBinding{.dfb_spec_name = IN, .accessor_name = \"in\"}}};\n"
			 "}\n",
			NULL);
	const struct tdm_scan_file *file = &scan.files[0];
	assert_int_equal(file->kernel_count, 3);
	assert_string_equal(file->kernels[0].source, "kernels/reader.cpp");
	assert_string_equal(file->kernels[1].source, "kernels/writer.cpp");
	assert_string_equal(file->kernels[1].cores, "cores");
	assert_string_equal(file->kernels[2].name, "compute");
	const struct tdm_expr *bindings = tdm_expr_field(file->kernels[2].object, "dfb_bindings");
	assert_int_equal(bindings->arg_count, 1);
	assert_true(tdm_str_is(tdm_expr_field(bindings->args[0], "accessor_name")->text, "in"));
	tdm_scan_done(&scan);
}

/* The order of the files and of what is in them does not depend on the threads. */
static void threads_change_nothing(void **state)
{
	(void)state;
	struct tdm_buf one, many;
	tdm_buf_init(&one);
	tdm_buf_init(&many);
	struct tdm_scan scan = scan_path(SCAN_DATA, &(struct tdm_scan_options){ .threads = 1 });
	scan_table(&one, &scan);
	tdm_scan_done(&scan);
	for (unsigned threads = 2; threads <= 8; threads *= 2) {
		scan = scan_path(SCAN_DATA, &(struct tdm_scan_options){ .threads = threads, .no_skip = true });
		tdm_buf_clear(&many);
		scan_table(&many, &scan);
		tdm_scan_done(&scan);
	}
	scan = scan_path(SCAN_DATA, &(struct tdm_scan_options){ .threads = 4 });
	tdm_buf_clear(&many);
	scan_table(&many, &scan);
	tdm_scan_done(&scan);
	assert_string_equal(tdm_buf_str(&one).ptr, tdm_buf_str(&many).ptr);
	tdm_buf_done(&one);
	tdm_buf_done(&many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape_gives_its_table),
		cmocka_unit_test(settings_give_values_and_ranges),
		cmocka_unit_test(branches_exclude_each_other),
		cmocka_unit_test(buffers_know_their_program_helper_and_cores),
		cmocka_unit_test(places_are_counted_apart_from_the_tree),
		cmocka_unit_test(kernels_are_kept_with_their_objects),
		cmocka_unit_test(threads_change_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
