/*
 * Kernels: what they do with buffers, by functions, methods and bound names; the host's arguments put in; mismatches of
 * each kind, and what is not judged; hostile texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/scan_kernels.h"
#include "scan/kernel_code.h"

#define FOLDER TDM_TEST_DATA "/scan/kernels/"

struct world {
	struct tdm_scan scan;
	struct tdm_mismatches mismatches;
};

static void join(struct world *world)
{
	assert_int_equal(tdm_kernels_join(&world->scan, NULL), 0);
	assert_int_equal(tdm_kernels_match(&world->scan, &world->mismatches), 0);
}

static void scan_folder(struct world *world, const char *name)
{
	char path[512];
	const char *paths[] = { path };
	struct tdm_scan_options options = { .threads = 1 };
	struct tdm_diag diag = { 0 };
	snprintf(path, sizeof path, FOLDER "%s", name);
	*world = (struct world){ 0 };
	assert_int_equal(tdm_scan_run(&world->scan, paths, 1, &options, &diag), 0);
	join(world);
}

static void scan_text(struct world *world, const char *text)
{
	struct tdm_scan_options options = { .threads = 1 };
	*world = (struct world){ 0 };
	assert_int_equal(tdm_scan_text(&world->scan, "kernel.cpp", tdm_str_of(text), &options), 0);
	join(world);
}

static void done(struct world *world)
{
	tdm_mismatches_done(&world->mismatches);
	tdm_scan_done(&world->scan);
}

/* The file of the scan whose path ends in `name`. */
static const struct tdm_scan_file *file_of(const struct world *world, const char *name)
{
	for (size_t i = 0; i < world->scan.file_count; i++) {
		const struct tdm_scan_file *file = &world->scan.files[i];
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
	size_t len = 0;
	text[0] = '\0';
	for (size_t i = 0; i < kernel->uses->count && len < cap; i++) {
		const struct tdm_kernel_use *use = &kernel->uses->list[i];
		char index[16];
		snprintf(index, sizeof index, "%d", use->index);
		len += (size_t)snprintf(text + len, cap - len, "%s%s %s x%s%s%s", i != 0 ? "; " : "",
			tdm_kernel_action_name((enum tdm_kernel_action)use->action),
			use->index >= 0        ? index
			: use->name[0] != '\0' ? use->name
					       : use->buffer,
			use->pages, use->is_conditional ? "?" : "", use->in_loop ? "*" : "");
	}
	return text;
}

static void expect_uses(const struct world *world, size_t kernel, const char *expected)
{
	char text[1000];
	const struct tdm_scan_file *host = file_of(world, "host.cpp");
	assert_true(kernel < host->kernel_count);
	assert_non_null(host->kernels[kernel].uses);
	assert_string_equal(uses_text(&host->kernels[kernel], text, sizeof text), expected);
}

static void functions_with_arguments_of_the_host(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "by_function");
	const struct tdm_scan_file *host = file_of(&world, "host.cpp");
	assert_int_equal(host->kernel_count, 3);
	expect_uses(&world, 0, "reserve_back 0 x1*; push_back 0 x1*");
	expect_uses(&world, 1, "wait_front 0 x2*; reserve_back 16 x2*; push_back 16 x2*; pop_front 0 x2*");
	expect_uses(&world, 2, "wait_front 16 x1*; pop_front 16 x1*");
	for (size_t i = 0; i < 3; i++) {
		const struct tdm_scan_kernel *kernel = &host->kernels[i];
		assert_int_equal(kernel->uses->gaps, 0);
		assert_true(kernel->source_file != 0);
		assert_ptr_equal(kernel->code, world.scan.files[kernel->source_file - 1].code);
	}
	assert_int_equal(world.mismatches.count, 0);
	assert_int_equal(world.mismatches.judged[TDM_MISMATCH_NOBODY_PUSHES], 2);
	assert_int_equal(world.mismatches.judged[TDM_MISMATCH_NOT_CREATED], 8);
	done(&world);
}

static void size_and_complexity(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "by_function");
	const struct tdm_kernel_code *code = file_of(&world, "compute.cpp")->code;
	assert_non_null(code);
	assert_true(code->has_main && code->is_whole);
	assert_int_equal(code->function_count, 1);
	assert_int_equal(code->complexity, 5); /* one function, two loops, an if, an && */
	assert_int_equal(code->max_complexity, 5);
	assert_int_equal(code->lines, 25);
	assert_int_equal(code->code_lines, 24);
	assert_int_equal(code->op_count[TDM_KERNEL_WAIT][TDM_KERNEL_BY_FUNCTION], 1);
	assert_int_equal(tdm_kernel_op_count(code, TDM_KERNEL_PUSH), 1);
	assert_null(file_of(&world, "host.cpp")->code);
	done(&world);
}

static void methods_of_objects(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "by_method");
	expect_uses(&world, 0, "reserve_back 1 x1; push_back 1 x1");
	expect_uses(&world, 1, "wait_front 1 x2; pop_front 1 x2");
	assert_int_equal(file_of(&world, "reader.cpp")->code->op_count[TDM_KERNEL_PUSH][TDM_KERNEL_BY_METHOD], 1);
	assert_int_equal(world.mismatches.count, 0);
	assert_int_equal(world.mismatches.judged[TDM_MISMATCH_TOO_MANY_PAGES], 3);
	done(&world);
}

static void names_that_the_host_binds(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "by_dfb");
	expect_uses(&world, 0, "reserve_back input_buffer x3; push_back input_buffer x3");
	expect_uses(&world, 1, "wait_front input_buffer x1; pop_front input_buffer x1");
	assert_int_equal(world.mismatches.count, 0);
	assert_int_equal(world.mismatches.judged[TDM_MISMATCH_NOBODY_PUSHES], 1);
	done(&world);
}

static void helpers_templates_and_lambdas(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "helpers");
	expect_uses(&world, 0,
		"reserve_back 2 x4; push_back 2 x4; wait_front 2 x2; pop_front 2 x2; push_back 3 x1; push_back 2 x1; "
		"wait_front 3 x1; pop_front 3 x1; push_back 4 x1; wait_front 4 x3?; pop_front 4 x3?");
	assert_int_equal(file_of(&world, "host.cpp")->kernels[0].uses->gaps, 0);
	assert_int_equal(world.mismatches.count, 0);
	done(&world);
}

/* The only mismatch of a folder, and its finding. */
static void expect_mismatch(const char *folder, enum tdm_mismatch_kind kind, uint32_t line, const char *sentence)
{
	struct world world;
	struct tdm_findings found = { 0 };
	scan_folder(&world, folder);
	assert_int_equal(world.mismatches.count, 1);
	assert_int_equal(world.mismatches.list[0].kind, kind);
	assert_int_equal(world.mismatches.list[0].use->line, line);
	tdm_scan_kernels_judge(&world.scan, &world.mismatches, &found);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.list[0].what, tdm_mismatch_name(kind));
	assert_string_equal(found.list[0].what, folder);
	assert_string_equal(found.list[0].text, sentence);
	assert_int_equal(found.list[0].severity, TDM_FINDING_BROKEN);
	assert_int_equal(tdm_finding_number(&found, &found.list[0], "line"), line);
	assert_false(tdm_findings_done(&found));
	done(&world);
}

static void mismatches_of_each_kind(void **state)
{
	(void)state;
	expect_mismatch("nobody_pushes", TDM_MISMATCH_NOBODY_PUSHES, 5,
		"the kernel waits on circular buffer 0, which no kernel of the program pushes");
	expect_mismatch("not_created", TDM_MISMATCH_NOT_CREATED, 6,
		"the kernel uses circular buffer 7 (push_back), which the program does not create");
	expect_mismatch("not_bound", TDM_MISMATCH_NOT_BOUND, 13,
		"the kernel uses dfb::other (push_back), and the host binds no buffer to that name");
	expect_mismatch("too_many_pages", TDM_MISMATCH_TOO_MANY_PAGES, 6,
		"wait_front(2 + 1) needs 3 pages of circular buffer 0, which has 2");
}

static void what_cannot_be_judged_is_counted(void **state)
{
	static const enum tdm_unjudged reasons[] = { TDM_UNJUDGED_UNKNOWN_CALL, TDM_UNJUDGED_NO_FILE,
		TDM_UNJUDGED_NO_PATH, TDM_UNJUDGED_NO_BUFFER };
	struct world world;
	(void)state;
	scan_folder(&world, "unresolved");
	const struct tdm_scan_file *host = file_of(&world, "host.cpp");
	assert_int_equal(host->kernel_count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(host->kernels[i].uses->gaps, 1u << reasons[i]);
	assert_non_null(strstr(host->kernels[0].uses->gap_text, "fill_from_elsewhere at "));
	expect_uses(&world, 3,
		"push_back get_arg_val(0) x1; push_back get_arg_val(1) x1?; push_back 0 x1?; wait_front 0 x1; "
		"wait_front 5 x1?");
	assert_int_equal(world.mismatches.count, 0);
	assert_int_equal(world.mismatches.unjudged[TDM_MISMATCH_NOBODY_PUSHES][TDM_UNJUDGED_UNKNOWN_CALL], 1);
	assert_int_equal(world.mismatches.unjudged[TDM_MISMATCH_NOT_CREATED][TDM_UNJUDGED_CONDITIONAL], 1);
	done(&world);
}

static void functions_that_create_more_are_no_mismatch(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "beside");
	assert_int_equal(world.mismatches.count, 0);
	assert_int_equal(world.mismatches.unjudged[TDM_MISMATCH_NOT_CREATED][TDM_UNJUDGED_HOST_BUFFERS], 2);
	assert_int_equal(world.mismatches.unjudged[TDM_MISMATCH_NOBODY_PUSHES][TDM_UNJUDGED_HOST_KERNELS], 1);
	done(&world);
}

/* What is decided when the kernel is compiled is computed; what depends on run time happens on some core or in some
 * round; the rest may never happen. */
static void branches_are_judged_by_their_conditions(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "conditions");
	expect_uses(&world, 0,
		"push_back 0 x1; push_back 1 x1; push_back 2 x1; push_back 3 x1*; push_back 4 x1?; push_back 5 x1?; "
		"push_back 5 x2?; push_back 6 x2?; push_back 6 x3?; push_back 6 x1");
	assert_int_equal(world.mismatches.count, 0);
	done(&world);
}

/* After a branch that leaves, what comes next has the opposite condition, to the end of the loop or the function. */
static void early_exits_are_conditions(void **state)
{
	static const char text[] =
		"void create(Program &program) { CreateKernel(program, \"kernel.cpp\", cores, ComputeConfig{}); }\n"
		"void kernel_main() {\n"
		"  cb_wait_front(1, 1);\n"
		"  for (int i = 0; i < 4; i++) { if (i == 2) { continue; } cb_wait_front(2, 1); }\n"
		"  for (int i = 0; i < 4; i++) { if (flag) { break; } cb_wait_front(3, 1); }\n"
		"  cb_wait_front(4, 1);\n"
		"  if (flag) { return; } else { cb_wait_front(5, 1); }\n"
		"  cb_wait_front(6, 1);\n"
		"  if (true) { return; }\n"
		"  cb_wait_front(7, 1);\n"
		"}\n";
	struct world world;
	char uses[300];
	(void)state;
	scan_text(&world, text);
	assert_int_equal(world.scan.files[0].kernel_count, 1);
	assert_string_equal(uses_text(&world.scan.files[0].kernels[0], uses, sizeof uses),
		"wait_front 1 x1; wait_front 2 x1*; wait_front 3 x1?*; wait_front 4 x1; wait_front 5 x1?; wait_front 6 "
		"x1?");
	done(&world);
}

/* A function that is only called where a condition is false is not called at all; one that nobody calls may be. */
static void calls_that_are_never_made(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "never_called");
	expect_uses(&world, 0, "push_back 0 x1; push_back to x2?");
	done(&world);
}

/* Each source has the arguments that the host gives it. */
static void sources_and_arguments_go_together(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "paired");
	expect_uses(&world, 0, "push_back 0 x1; push_back 1 x4; push_back 2 x4");
	expect_uses(&world, 1, "push_back 3 x1; push_back 3 x1; push_back 4 x1");
	expect_uses(&world, 2, "push_back 4 x1?; push_back 5 x1?; push_back 4 x1?; push_back 5 x1?; push_back 3 x1");
	expect_uses(&world, 3, "push_back 13 x7; push_back 12 x6; push_back 11 x8");
	expect_uses(&world, 4, "push_back 11 x3");
	assert_string_equal(file_of(&world, "host.cpp")->kernels[4].name, "late");
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(file_of(&world, "host.cpp")->kernels[i].uses->gaps, 0);
	done(&world);
}

static void paths_are_put_together(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "sources");
	const struct tdm_scan_file *host = file_of(&world, "host.cpp");
	assert_int_equal(host->kernel_count, 4);
	expect_uses(&world, 0, "push_back 0 x1");
	expect_uses(&world, 1, "reserve_back 0 x1");
	expect_uses(&world, 2, "wait_front 0 x2; wait_front 0 x1");
	expect_uses(&world, 3, "wait_front 0 x1");
	assert_int_equal(host->kernels[2].source_count, 2);
	assert_int_equal(host->kernels[2].source_file, 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(host->kernels[i].uses->gaps, 0);
	done(&world);
}

/* A variable that is assigned to is one of its values; one that a function got by reference is unknown; a call means
 * the function that takes so many arguments. */
static void variables_are_one_of_several(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "choices");
	expect_uses(&world, 0,
		"push_back 3 x1?; push_back 2 x1?; push_back 3 x1?; push_back 2 x1?; wait_front 1 x2?; wait_front 0 "
		"x2?; "
		"push_back given x3; push_back 1 x4");
	done(&world);
}

static void bindings_of_all_forms(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "bindings");
	expect_uses(&world, 0, "wait_front in_tiles x4; push_back out_tiles x4 * 32; wait_front bias_tiles x1?");
	done(&world);
}

static void an_unknown_index_may_be_any(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "which_index");
	expect_uses(&world, 0, "reserve_back 1 x4");
	assert_int_equal(world.mismatches.count, 0);
	assert_int_equal(world.mismatches.unjudged[TDM_MISMATCH_TOO_MANY_PAGES][TDM_UNJUDGED_HOST_BUFFERS], 1);
	done(&world);
}

static void every_kernel_has_a_verdict(void **state)
{
	struct world world;
	(void)state;
	scan_folder(&world, "unresolved");
	assert_int_equal(world.mismatches.verdict_count, 4);
	assert_int_equal(world.mismatches.verdicts[1].judged, 0);
	assert_int_equal(world.mismatches.verdicts[1].reasons, 1u << TDM_UNJUDGED_NO_FILE);
	assert_true(world.mismatches.verdicts[3].unjudged != 0);
	assert_true((world.mismatches.verdicts[3].reasons & 1u << TDM_UNJUDGED_NO_BUFFER) != 0);
	done(&world);
}

/* A variable that changes is not the constant of the same name outside. */
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
	struct world world;
	char uses[200];
	(void)state;
	scan_text(&world, text);
	assert_int_equal(world.scan.files[0].kernel_count, 1);
	assert_string_equal(
		uses_text(&world.scan.files[0].kernels[0], uses, sizeof uses), "push_back 5 x1; push_back cb x1");
	done(&world);
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
	struct world world;
	(void)state;
	scan_text(&world, text);
	const struct tdm_kernel_code *code = world.scan.files[0].code;
	assert_non_null(code);
	assert_true(code->has_main && code->is_whole);
	size_t counts[2] = { 0, 0 }; /* certain and conditional operations */
	for (size_t i = 0; i < code->function_count; i++)
		for (size_t k = 0; k < code->functions[i].step_count; k++)
			counts[code->functions[i].steps[k].is_conditional] += !code->functions[i].steps[k].is_call;
	assert_int_equal(code->function_count, 2);
	assert_int_equal(counts[0], 4);
	assert_int_equal(counts[1], 1);
	assert_int_equal(code->op_count[TDM_KERNEL_PUSH][TDM_KERNEL_BY_METHOD], 2);
	assert_int_equal(code->complexity, 2);
	done(&world);
}

/* A kernel may leave all of its operations to functions of other files. */
static void a_main_function_is_enough(void **state)
{
	struct world world;
	(void)state;
	scan_text(&world, "void kernel_main() { elsewhere::tilize<1>(2); }\n");
	assert_non_null(world.scan.files[0].code);
	done(&world);
}

/* std::vector has a push_back() too. */
static void other_containers_are_no_buffers(void **state)
{
	struct world world;
	(void)state;
	scan_text(&world, "void f(std::vector<int> &list, CircularBuffer *unused) { list.push_back(1); }\n");
	assert_null(world.scan.files[0].code);
	done(&world);
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
		struct world world;
		scan_text(&world, text);
		done(&world);
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
		cmocka_unit_test(helpers_templates_and_lambdas),
		cmocka_unit_test(mismatches_of_each_kind),
		cmocka_unit_test(what_cannot_be_judged_is_counted),
		cmocka_unit_test(functions_that_create_more_are_no_mismatch),
		cmocka_unit_test(branches_are_judged_by_their_conditions),
		cmocka_unit_test(early_exits_are_conditions),
		cmocka_unit_test(calls_that_are_never_made),
		cmocka_unit_test(sources_and_arguments_go_together),
		cmocka_unit_test(paths_are_put_together),
		cmocka_unit_test(variables_are_one_of_several),
		cmocka_unit_test(bindings_of_all_forms),
		cmocka_unit_test(an_unknown_index_may_be_any),
		cmocka_unit_test(every_kernel_has_a_verdict),
		cmocka_unit_test(variables_hide_constants),
		cmocka_unit_test(branches_of_the_preprocessor_are_read_apart),
		cmocka_unit_test(a_main_function_is_enough),
		cmocka_unit_test(other_containers_are_no_buffers),
		cmocka_unit_test(hostile_texts_are_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
