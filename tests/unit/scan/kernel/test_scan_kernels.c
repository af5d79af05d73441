/*
 * Kernels: what they do with buffers, by functions, methods and bound names, with the host's arguments put in; sizes
 * and complexity; hostile texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "scan/scan.h"

#define FOLDER TDM_TEST_DATA "/scan/kernels/"

static void scan_folder(struct tdm_scan *scan, const char *name)
{
	char path[512];
	const char *paths[] = { path };
	struct tdm_scan_options options = { .threads = 1 };
	struct tdm_diag diag = { 0 };
	snprintf(path, sizeof path, FOLDER "%s", name);
	assert_int_equal(tdm_scan_run(scan, paths, 1, &options, &diag), 0);
	tdm_kernels_join(scan, NULL);
}

static void scan_text(struct tdm_scan *scan, const char *text)
{
	struct tdm_scan_options options = { .threads = 1 };
	tdm_scan_text(scan, "kernel.cpp", tdm_str_of(text), &options);
	tdm_kernels_join(scan, NULL);
}

/* The file of the scan whose path ends in `name`. */
static const struct tdm_scan_file *file_of(const struct tdm_scan *scan, const char *name)
{
	for (size_t i = 0; i < scan->file_count; i++) {
		const struct tdm_scan_file *file = &scan->files[i];
		size_t len = strlen(file->path), tail = strlen(name);
		if (len >= tail && strcmp(file->path + len - tail, name) == 0)
			return file;
	}
	fail_msg("%s was not scanned", name);
	return NULL;
}

/* "wait_front 0 x2; " for each use: its buffer, pages, and '?' where it is conditional, '*' where it is in a loop. */
static const char *uses_text(const struct tdm_scan_kernel *kernel, char *text, size_t cap)
{
	struct tdm_buf out = { 0 };
	for (size_t i = 0; i < kernel->use_count; i++) {
		const struct tdm_kernel_use *use = &kernel->uses[i];
		tdm_buf_printf(&out, "%s%s ", i != 0 ? "; " : "", tdm_kernel_action_names[use->action]);
		if (use->index >= 0)
			tdm_buf_printf(&out, "%d", use->index);
		else if (use->name[0] != '\0')
			tdm_buf_puts(&out, use->name);
		else
			tdm_expr_print(use->buffer, &out);
		tdm_buf_puts(&out, " x");
		tdm_expr_print(use->pages, &out);
		tdm_buf_printf(&out, "%s%s", use->is_conditional ? "?" : "", use->in_loop ? "*" : "");
	}
	snprintf(text, cap, "%s", out.len != 0 ? out.data : "");
	tdm_buf_done(&out);
	return text;
}

static void expect_uses(const struct tdm_scan *scan, size_t kernel, const char *expected)
{
	char text[1000];
	const struct tdm_scan_file *host = file_of(scan, "host.cpp");
	assert_true(kernel < host->kernel_count);
	assert_string_equal(uses_text(&host->kernels[kernel], text, sizeof text), expected);
}

static void functions_with_arguments_of_the_host(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_folder(&scan, "by_function");
	const struct tdm_scan_file *host = file_of(&scan, "host.cpp");
	assert_int_equal(host->kernel_count, 3);
	expect_uses(&scan, 0, "reserve_back 0 x1*; push_back 0 x1*");
	expect_uses(&scan, 1, "wait_front 0 x2*; reserve_back 16 x2*; push_back 16 x2*; pop_front 0 x2*");
	expect_uses(&scan, 2, "wait_front 16 x1*; pop_front 16 x1*");
	for (size_t i = 0; i < 3; i++) {
		const struct tdm_scan_kernel *kernel = &host->kernels[i];
		assert_true(kernel->source_file != 0);
		assert_ptr_equal(kernel->code, scan.files[kernel->source_file - 1].code);
	}
	tdm_scan_done(&scan);
}

static void size_and_complexity(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_folder(&scan, "by_function");
	const struct tdm_kernel_code *code = file_of(&scan, "compute.cpp")->code;
	assert_non_null(code);
	assert_true(code->has_main);
	assert_int_equal(code->complexity, 5); /* one function, two loops, an if, an && */
	assert_int_equal(code->max_complexity, 5);
	assert_int_equal(code->lines, 25);
	assert_int_equal(code->code_lines, 24);
	assert_null(file_of(&scan, "host.cpp")->code);
	tdm_scan_done(&scan);
}

static void methods_of_objects(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_folder(&scan, "by_method");
	expect_uses(&scan, 0, "reserve_back 1 x1; push_back 1 x1");
	expect_uses(&scan, 1, "wait_front 1 x2; pop_front 1 x2");
	tdm_scan_done(&scan);
}

static void names_that_the_host_binds(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_folder(&scan, "by_dfb");
	expect_uses(&scan, 0, "reserve_back input_buffer x3; push_back input_buffer x3");
	expect_uses(&scan, 1, "wait_front input_buffer x1; pop_front input_buffer x1");
	tdm_scan_done(&scan);
}

/* A lambda with a name is followed; calls of functions are not. */
static void lambdas_are_followed_and_functions_are_not(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_folder(&scan, "helpers");
	expect_uses(&scan, 0, "push_back 3 x1; push_back 2 x1");
	tdm_scan_done(&scan);
}

/* A kernel whose source is not known, or not among the files, has no operations. */
static void what_is_not_found_is_not_listed(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_folder(&scan, "unresolved");
	const struct tdm_scan_file *host = file_of(&scan, "host.cpp");
	assert_int_equal(host->kernel_count, 4);
	expect_uses(&scan, 0, "wait_front 0 x1");
	assert_null(host->kernels[1].uses);
	assert_null(host->kernels[2].uses);
	expect_uses(&scan, 3,
		"push_back get_arg_val(0) x1; push_back get_arg_val(1) x1; wait_front 0 x1; wait_front 5 x1?");
	tdm_scan_done(&scan);
}

static void names_that_are_not_bound_stay_as_they_are(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_folder(&scan, "not_bound");
	expect_uses(&scan, 0, "push_back tiles x1; push_back dfb::scales x1?; push_back dfb::other x1?");
	tdm_scan_done(&scan);
}

/* A branch whose condition is false with the host's arguments is left out; where the condition is not known, the
 * operation may never happen. */
static void branches_are_judged_by_their_conditions(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_folder(&scan, "conditions");
	expect_uses(&scan, 0,
		"push_back 0 x1; push_back 1 x1; push_back 2 x1?; push_back 3 x1?*; push_back 4 x1?; push_back 5 x1?; "
		"push_back 5 x2?; push_back 6 x2?; push_back 6 x3?; push_back 6 x1?");
	tdm_scan_done(&scan);
}

/* Functions other than the main one may be called or not; their parameters are not known. */
static void other_functions_may_be_called(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_folder(&scan, "never_called");
	expect_uses(&scan, 0,
		"wait_front from xstep?; push_back to xstep?; reserve_back to x9?; push_back to x2?; push_back 0 x1");
	tdm_scan_done(&scan);
}

/* Each source has the arguments that the host gives it. */
static void sources_and_arguments_go_together(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_folder(&scan, "paired");
	expect_uses(&scan, 0, "push_back 0 x1; push_back 1 x4; push_back 2 x4");
	expect_uses(&scan, 1, "push_back 3 x1; push_back 3 x1; push_back 4 x1");
	expect_uses(&scan, 2, "push_back 4 x1?; push_back 5 x1?; push_back 4 x1?; push_back 5 x1?; push_back 3 x1");
	expect_uses(&scan, 3, "push_back 13 x7; push_back 12 x6; push_back 11 x8");
	expect_uses(&scan, 4, "push_back 11 x3");
	assert_string_equal(file_of(&scan, "host.cpp")->kernels[4].name, "late");
	tdm_scan_done(&scan);
}

static void paths_are_put_together(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_folder(&scan, "sources");
	const struct tdm_scan_file *host = file_of(&scan, "host.cpp");
	assert_int_equal(host->kernel_count, 4);
	expect_uses(&scan, 0, "push_back 0 x1");
	expect_uses(&scan, 1, "reserve_back 0 x1");
	expect_uses(&scan, 2, "wait_front 0 x2; wait_front 0 x1");
	expect_uses(&scan, 3, "wait_front 0 x1");
	assert_int_equal(host->kernels[2].source_count, 2);
	assert_int_equal(host->kernels[2].source_file, 0);
	tdm_scan_done(&scan);
}

/* A variable that is assigned to in a branch is one of its values, as is one that is declared in an #if and in its
 * #else; one that a function got by reference is unknown. */
static void variables_are_one_of_several(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_folder(&scan, "choices");
	expect_uses(&scan, 0,
		"push_back to x4?; push_back 3 x1?; push_back 2 x1?; push_back 2 x1?; push_back 3 x1?; wait_front 0 "
		"x2; push_back given x3");
	tdm_scan_done(&scan);
}

static void bindings_of_all_forms(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_folder(&scan, "bindings");
	expect_uses(&scan, 0, "wait_front in_tiles x4; push_back out_tiles x4 * 32; wait_front bias_tiles x1?");
	tdm_scan_done(&scan);
}

/* A variable is not the constant of the same name outside. */
static void variables_hide_constants(void **state)
{
	static const char text[] = "constexpr uint32_t cb = 5;\n"
				   "void create(Program &program) {\n"
				   "  CreateKernel(program, \"kernel.cpp\", cores, ComputeConfig{});\n"
				   "}\n"
				   "void kernel_main() {\n"
				   "  cb_push_back(cb, 1);\n"
				   "  uint32_t cb = 3;\n"
				   "  cb++;\n"
				   "  cb_push_back(cb, 1);\n"
				   "}\n";
	struct tdm_scan scan;
	char uses[200];
	(void)state;
	scan_text(&scan, text);
	assert_int_equal(scan.files[0].kernel_count, 1);
	assert_string_equal(uses_text(&scan.files[0].kernels[0], uses, sizeof uses), "push_back 5 x1; push_back 4 x1");
	tdm_scan_done(&scan);
}

/* A loop that begins in each branch of an #if only parses with one of them. */
static void branches_of_the_preprocessor_are_read_apart(void **state)
{
	static const char text[] = "void kernel_main() {\n"
				   "  DataflowBuffer cb(3);\n"
				   "  cb.reserve_back(1);\n"
				   "#ifdef BACKWARDS\n"
				   "  for (int i = 9; i > 0; i--) {\n"
				   "#else\n"
				   "  cb.push_back(2);\n"
				   "  for (int i = 0; i < 9; i++) {\n"
				   "#endif\n"
				   "    cb.push_back(1);\n"
				   "  }\n"
				   "}\n";
	struct tdm_scan scan;
	(void)state;
	scan_text(&scan, text);
	const struct tdm_kernel_code *code = scan.files[0].code;
	assert_non_null(code);
	assert_true(code->has_main);
	size_t counts[2] = { 0, 0 }; /* certain and conditional operations */
	for (size_t i = 0; i < code->use_count; i++)
		counts[code->uses[i].is_conditional]++;
	assert_int_equal(counts[0], 2);
	assert_int_equal(counts[1], 1);
	assert_int_equal(code->complexity, 2);
	tdm_scan_done(&scan);
}

/* A kernel may leave all of its operations to functions of other files. */
static void a_main_function_is_enough(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_text(&scan, "void kernel_main() { elsewhere::tilize<1>(2); }\n");
	assert_non_null(scan.files[0].code);
	tdm_scan_done(&scan);
}

/* std::vector has a push_back() too. */
static void other_containers_are_no_buffers(void **state)
{
	struct tdm_scan scan;
	(void)state;
	scan_text(&scan, "void f(std::vector<int> &list, CircularBuffer *unused) { list.push_back(1); }\n");
	assert_null(scan.files[0].code);
	tdm_scan_done(&scan);
}

static char *repeated(const char *head, const char *piece, size_t count, const char *tail)
{
	size_t piece_len = strlen(piece);
	char *text = malloc(strlen(head) + count * piece_len + strlen(tail) + 1), *at = stpcpy(text, head);
	for (size_t i = 0; i < count; i++, at += piece_len)
		memcpy(at, piece, piece_len);
	memcpy(at, tail, strlen(tail) + 1);
	return text;
}

static void hostile_texts_are_survived(void **state)
{
	static const struct {
		const char *head, *piece, *tail;
		size_t count;
	} cases[] = {
		{ "void kernel_main() { cb_wait_front(", "(", "0, 1); }", 20000 },
		{ "void kernel_main() { cb_wait_front(0, ", "f(", "1); }", 5000 },
		{ "void kernel_main() ", "{ if (x) ", " cb_push_back(0, 1);", 5000 },
		{ "void kernel_main() {", "cb_wait_front(0, 1);", "}", 20000 },
		{ "", "constexpr uint32_t a = a + a;\n", "void kernel_main() { cb_wait_front(a, a); }", 2000 },
		{ "", "#if A\n", "void kernel_main() { cb_push_back(0, 1); }\n", 5000 },
		{ "void kernel_main() { f(); }\n", "void f() { f(); f(); cb_push_back(0, 1); }\n", "", 500 },
		{ "", "enum { A = B, B = A };\n", "void kernel_main() { cb_wait_front(A, B); }", 100 },
		{ "", "}}} cb_push_back(((;\n", "", 2000 },
		{ "void kernel_main() { uint32_t a = 1;", "if (x) { return; } a = a + 1;", "cb_push_back(a, 1); }",
			3000 },
		{ "void kernel_main() { ", "uint32_t a = 1; a = 2; { ", "cb_push_back(a, 1);", 2000 },
		{ "void kernel_main() { cb_push_back(0, 18446744073709551615u * ", "9 * ", "1 / 0); }", 500 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = repeated(cases[i].head, cases[i].piece, cases[i].count, cases[i].tail);
		struct tdm_scan scan;
		scan_text(&scan, text);
		tdm_scan_done(&scan);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_with_arguments_of_the_host),
		cmocka_unit_test(size_and_complexity),
		cmocka_unit_test(methods_of_objects),
		cmocka_unit_test(names_that_the_host_binds),
		cmocka_unit_test(lambdas_are_followed_and_functions_are_not),
		cmocka_unit_test(what_is_not_found_is_not_listed),
		cmocka_unit_test(names_that_are_not_bound_stay_as_they_are),
		cmocka_unit_test(branches_are_judged_by_their_conditions),
		cmocka_unit_test(other_functions_may_be_called),
		cmocka_unit_test(sources_and_arguments_go_together),
		cmocka_unit_test(paths_are_put_together),
		cmocka_unit_test(variables_are_one_of_several),
		cmocka_unit_test(bindings_of_all_forms),
		cmocka_unit_test(variables_hide_constants),
		cmocka_unit_test(branches_of_the_preprocessor_are_read_apart),
		cmocka_unit_test(a_main_function_is_enough),
		cmocka_unit_test(other_containers_are_no_buffers),
		cmocka_unit_test(hostile_texts_are_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
