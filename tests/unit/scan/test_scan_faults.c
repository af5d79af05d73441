/* Sources that are not as they should be: unreadable, endless, binary, deep, huge, linked in circles, half written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"
#include "scan/scan.h"
#include "scan/front/syntax.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static const char one_buffer[] = "void f(Program& p) { CreateCircularBuffer(p, cores, CircularBufferConfig(64, {{3, "
				 "tt::DataFormat::UInt8}}).set_page_size(3, 64)); }\n";

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/tidemark-scan-XXXXXX");
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	char command[256];
	snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -rf %s", folder, folder);
	return system(command);
}

static const char *in_folder(const char *name)
{
	static char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *data, size_t len)
{
	assert_int_equal(tdm_file_replace(in_folder(name), data, len), 0);
}

static struct tdm_scan scan_folder(const struct tdm_scan_options *options)
{
	struct tdm_scan scan;
	struct tdm_diag diag = { 0 };
	const char *path = folder;
	assert_int_equal(tdm_scan_run(&scan, &path, 1, options, &diag), 0);
	return scan;
}

static struct tdm_scan scan_cpp(const char *text, size_t len)
{
	struct tdm_scan scan;
	struct tdm_scan_options options = { .parse_micros = UINT64_C(600000000) }; /* no machine is too slow */
	tdm_scan_text(&scan, "program.cpp", (struct tdm_str){ text, len }, &options);
	return scan;
}

static void links_in_circles_end(void **state)
{
	(void)state;
	write_file("a.cpp", one_buffer, strlen(one_buffer));
	assert_int_equal(mkdir(in_folder("sub"), 0755), 0);
	assert_int_equal(symlink("..", in_folder("sub/up")), 0);
	assert_int_equal(symlink(".", in_folder("self")), 0);
	assert_int_equal(symlink("a.cpp", in_folder("b.cpp")), 0); /* the same file */
	assert_int_equal(symlink("nothing", in_folder("c.cpp")), 0);
	struct tdm_scan scan = scan_folder(&(struct tdm_scan_options){ 0 });
	assert_int_equal(scan.file_count, 1);
	assert_int_equal(scan.files[0].buffer_count, 1);
	assert_int_equal(scan.refusal_count, 1); /* the link that leads nowhere */
	tdm_scan_done(&scan);
}

static void what_cannot_be_read_is_listed_and_the_rest_goes_on(void **state)
{
	(void)state;
	const uid_t somebody = 65534; /* root can read everything */
	uid_t self = geteuid();
	write_file("a.cpp", one_buffer, strlen(one_buffer));
	write_file("b.cpp", one_buffer, strlen(one_buffer));
	assert_int_equal(chmod(in_folder("a.cpp"), 0644), 0);
	assert_int_equal(chmod(in_folder("b.cpp"), 0), 0);
	assert_int_equal(mkdir(in_folder("closed"), 0), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	if (self == 0)
		assert_int_equal(seteuid(somebody), 0);
	struct tdm_scan scan = scan_folder(&(struct tdm_scan_options){ 0 });
	assert_int_equal(seteuid(self), 0);
	assert_int_equal(scan.file_count, 2);
	assert_int_equal(scan.files[0].buffer_count, 1);
	assert_int_equal(scan.files[1].state, TDM_FILE_REFUSED);
	assert_true(scan.files[1].why[0] != '\0');
	assert_int_equal(scan.refusal_count, 1);
	tdm_scan_done(&scan);
	static const char *const named[] = { "b.cpp", "closed" };
	for (int i = 0; i < 2; i++) { /* what the user names must be readable */
		struct tdm_diag diag = { 0 };
		const char *path = in_folder(named[i]);
		if (self == 0)
			assert_int_equal(seteuid(somebody), 0);
		assert_int_equal(tdm_scan_run(&scan, &path, 1, &(struct tdm_scan_options){ 0 }, &diag), -EACCES);
		assert_int_equal(seteuid(self), 0);
		assert_non_null(strstr(diag.text, named[i]));
	}
}

static void a_path_that_does_not_exist_is_an_error(void **state)
{
	(void)state;
	struct tdm_scan scan;
	struct tdm_diag diag = { 0 };
	const char *path = in_folder("nothing");
	assert_true(tdm_scan_run(&scan, &path, 1, &(struct tdm_scan_options){ 0 }, &diag) < 0);
	assert_non_null(strstr(diag.text, "nothing"));
}

static void binary_and_large_files_are_refused_with_the_reason(void **state)
{
	(void)state;
	char binary[4096] = "CBDescriptor{";
	write_file("a.cpp", binary, sizeof binary);
	char *large = malloc(1 << 20);
	memset(large, ' ', 1 << 20);
	write_file("b.cpp", large, 1 << 20);
	write_file("c.cpp", one_buffer, strlen(one_buffer));
	write_file("d.cpp", "", 0);
	struct tdm_scan scan = scan_folder(&(struct tdm_scan_options){ .file_max = 1 << 19 });
	assert_int_equal(scan.file_count, 4);
	assert_int_equal(scan.files[0].state, TDM_FILE_REFUSED);
	assert_string_equal(scan.files[0].why, "is not text");
	assert_int_equal(scan.files[1].state, TDM_FILE_REFUSED);
	assert_string_equal(scan.files[1].why, "is larger than 512 KiB");
	assert_int_equal(scan.files[2].buffer_count, 1);
	assert_int_equal(scan.files[3].state, TDM_FILE_SKIPPED);
	tdm_scan_done(&scan);
	free(large);
}

/* A piece of text, repeated between a beginning and an end. */
static struct tdm_buf repeat(const char *before, const char *piece, size_t times, const char *after)
{
	struct tdm_buf text = { 0 };
	tdm_buf_puts(&text, before);
	for (size_t i = 0; i < times; i++)
		tdm_buf_puts(&text, piece);
	tdm_buf_puts(&text, after);
	return text;
}

static struct tdm_scan scan_repeated(const char *before, const char *piece, size_t times, const char *after)
{
	struct tdm_buf text = repeat(before, piece, times, after);
	struct tdm_scan scan = scan_cpp(text.data, text.len);
	tdm_buf_done(&text);
	return scan;
}

/* All places of a refused file are counted, each with its line and with the reason of the file. */
static void assert_counted(const struct tdm_scan_file *file, size_t places, const char *why)
{
	assert_int_equal(file->state, TDM_FILE_REFUSED);
	assert_int_equal(file->buffer_count, 0);
	assert_int_equal(file->place_count, places);
	for (size_t i = 0; i < places; i++) {
		assert_int_equal(file->places[i].grasp, TDM_GRASP_NOT);
		assert_int_equal(file->places[i].line, i + 1);
		assert_string_equal(file->places[i].why, why);
	}
}

static void places_of_refused_files_are_counted(void **state)
{
	(void)state;
	enum { PLACES = 50 };
	struct tdm_buf cpp =
		repeat("void f() { ", "desc.cbs.push_back(CBDescriptor{.total_size = 64});\n", PLACES, "}");
	struct tdm_buf py = repeat("", "a = ttnn.CBDescriptor(total_size = 64)\n", PLACES, "");
	write_file("large.cpp", cpp.data, cpp.len);
	write_file("large.py", py.data, py.len);
	struct tdm_scan scan = scan_folder(&(struct tdm_scan_options){ .file_max = 1024 });
	assert_int_equal(scan.file_count, 2);
	for (size_t i = 0; i < scan.file_count; i++)
		assert_counted(&scan.files[i], PLACES, "the file is larger than 1 KiB");
	tdm_scan_done(&scan);

	scan = scan_folder(&(struct tdm_scan_options){ .parse_micros = 1 });
	for (size_t i = 0; i < scan.file_count; i++)
		assert_counted(&scan.files[i], PLACES, "the file takes too long to parse");
	tdm_scan_done(&scan);

	tdm_buf_add(&cpp, "\0", 1);
	tdm_buf_add(&py, "\0", 1);
	write_file("large.cpp", cpp.data, cpp.len);
	write_file("large.py", py.data, py.len);
	scan = scan_folder(&(struct tdm_scan_options){ 0 });
	for (size_t i = 0; i < scan.file_count; i++)
		assert_counted(&scan.files[i], PLACES, "the file is not text");
	tdm_scan_done(&scan);
	tdm_buf_done(&cpp);
	tdm_buf_done(&py);
}

/* Of a file of which nothing is read, not even the places are known. */
static void a_file_that_is_far_too_large_is_not_read(void **state)
{
	(void)state;
	write_file("a.cpp", "CBDescriptor{}", 14);
	assert_int_equal(truncate(in_folder("a.cpp"), (off_t)TDM_SCAN_COUNT_MAX + 1), 0);
	struct tdm_scan scan = scan_folder(&(struct tdm_scan_options){ 0 });
	assert_counted(&scan.files[0], 0, "");
	assert_string_equal(scan.files[0].why, "is larger than 64 MiB");
	tdm_scan_done(&scan);
}

/* The parser gives up the whole text, and its tree is as deep as the text is long. */
static void text_that_is_one_error_is_walked(void **state)
{
	(void)state;
	struct tdm_scan scan = scan_repeated("CBDescriptor d;\n", "x y ", 100000, "");
	assert_int_equal(scan.files[0].state, TDM_FILE_PARTIAL);
	assert_string_equal(scan.files[0].why, "parts of it do not parse");
	tdm_scan_done(&scan);
}

static void *write_source(void *path)
{
	FILE *file = fopen(path, "w");
	if (file != NULL) {
		fputs(one_buffer, file);
		fclose(file);
	}
	return NULL;
}

static void pipes_are_read_where_the_user_names_them(void **state)
{
	(void)state;
	struct tdm_scan scan;
	struct tdm_diag diag = { 0 };
	pthread_t writer;
	assert_int_equal(mkfifo(in_folder("pipe.cpp"), 0600), 0);
	const char *path = in_folder("pipe.cpp");
	assert_int_equal(pthread_create(&writer, NULL, write_source, (void *)(uintptr_t)path), 0);
	assert_int_equal(tdm_scan_run(&scan, &path, 1, &(struct tdm_scan_options){ 0 }, &diag), 0);
	pthread_join(writer, NULL);
	assert_int_equal(scan.file_count, 1);
	assert_int_equal(scan.files[0].buffer_count, 1);
	tdm_scan_done(&scan);

	scan = scan_folder(&(struct tdm_scan_options){ 0 }); /* nobody writes: opening it would wait for ever */
	assert_int_equal(scan.file_count, 0);
	assert_int_equal(scan.refusal_count, 1);
	assert_string_equal(scan.refusals[0].why, "is not a regular file");
	tdm_scan_done(&scan);
}

static void endless_input_is_an_error(void **state)
{
	(void)state;
	struct tdm_scan scan;
	struct tdm_diag diag = { 0 };
	const char *path = "/dev/zero";
	assert_true(tdm_scan_run(&scan, &path, 1, &(struct tdm_scan_options){ 0 }, &diag) < 0);
	assert_string_equal(diag.text, "/dev/zero: has more than 64 MiB, the most that a scan reads");
}

static void deep_nesting_ends(void **state)
{
	(void)state;
	static const char *const pieces[] = { "(", "{", "if (x) {", "a(", "[&]() {",
		"CBDescriptor{.total_size = ", "x ? y : ", "-", "!", "a.b(", "f<", "x[", "namespace n {", "for (;;) {",
		"push_cb(" };
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		struct tdm_scan scan =
			scan_repeated("void f() { desc.cbs.push_back(CBDescriptor{}); x = ", pieces[i], 5000, "1; }");
		assert_int_equal(scan.file_count, 1);
		tdm_scan_done(&scan);
	}
	/* "x ?: y" has no node for what is left out. */
	struct tdm_scan scan = scan_repeated("void f() { CBDescriptor d = ", "x ?: ", 3, "CBDescriptor{}; }");
	assert_int_equal(scan.file_count, 1);
	tdm_scan_done(&scan);
}

/* Of the leak check; there are none without it. */
__attribute__((weak)) void __lsan_disable(void);
__attribute__((weak)) void __lsan_enable(void);

/* More open brackets than the parser can count as children of one node. It loses what it does not count
 * (scan/front/syntax.c), so the leak check does not look. */
static void brackets_that_never_close_end(void **state)
{
	(void)state;
	static const char *const pieces[] = { "{", "(" };
	if (__lsan_disable != NULL)
		__lsan_disable();
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		struct tdm_scan scan = scan_repeated("CircularBufferConfig ", pieces[i], 140000, "");
		assert_int_equal(scan.file_count, 1);
		assert_int_equal(scan.files[0].state, TDM_FILE_PARTIAL);
		tdm_scan_done(&scan);
	}
	if (__lsan_enable != NULL)
		__lsan_enable();
}

static void long_chains_end(void **state)
{
	(void)state;
	static const char *const pieces[] = { "x = x + x;", "if (a) { x = y; } else { y = x; }",
		"auto l = [&](int i) { return l(i); }; l(1);", "desc.cbs.push_back(CBDescriptor{.total_size = x++});",
		"config.set_page_size(x, y).set_page_size(y, x);", "for (auto i : list) { list.push_back(i); }",
		"a.push_back(a);", "x.y = x;" };
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		struct tdm_scan scan = scan_repeated("void f() { uint32_t x = 1; std::vector<int> a; CBDescriptor d;\n",
			pieces[i], 2000, "desc.cbs.push_back(CBDescriptor{.total_size = x, .core_ranges = a}); }");
		assert_true(scan.files[0].buffer_count >= 1);
		tdm_scan_done(&scan);
	}
}

/* Beyond the limit of a function, places are counted, and the reason is not that nobody calls it. */
static void a_function_with_too_many_buffers_says_so(void **state)
{
	(void)state;
	enum { BUFFERS = 20100 };
	struct tdm_scan scan =
		scan_repeated("void f() {\n", "desc.cbs.push_back(CBDescriptor{.total_size = 64});\n", BUFFERS, "}");
	const struct tdm_scan_file *file = &scan.files[0];
	assert_int_equal(file->place_count, BUFFERS);
	assert_true(file->buffer_count < BUFFERS && file->buffer_count > BUFFERS / 2);
	assert_int_equal(file->places[BUFFERS - 1].grasp, TDM_GRASP_NOT);
	assert_non_null(strstr(file->places[BUFFERS - 1].why, "too large to be followed"));
	tdm_scan_done(&scan);
}

/* Each call finds its own overload, or none, in a time that does not grow with the square of their number. */
static void many_functions_of_one_name_end(void **state)
{
	(void)state;
	struct tdm_scan scan = scan_repeated("",
		"void add_cb(D& d, uint32_t i) { d.cbs.push_back(CBDescriptor{.total_size = i}); }\n"
		"void f(D& d) { add_cb(d, 1); }\n",
		3000, "");
	assert_int_equal(scan.file_count, 1);
	assert_true(scan.files[0].place_count >= 3000);
	tdm_scan_done(&scan);
}

static void helpers_that_call_each_other_end(void **state)
{
	(void)state;
	static const char text[] =
		"void add_cb(D& d, uint32_t i) { d.cbs.push_back(CBDescriptor{.total_size = 8, .format_descriptors =\n"
		"{{CBFormatDescriptor{.buffer_index = i, .data_format = tt::DataFormat::UInt8, .page_size = 8}}}}); "
		"push_cb(d, i); }\n"
		"void push_cb(D& d, uint32_t i) { add_cb(d, i + 1); }\n"
		"void f(D& d) { add_cb(d, 1); auto loop = [&](uint32_t n) { loop(n); add_cb(d, n); }; loop(5); }\n";
	struct tdm_scan scan = scan_cpp(text, strlen(text));
	bool is_named = false;
	for (size_t i = 0; i < scan.files[0].buffer_count; i++)
		is_named |= strstr(scan.files[0].buffers[i].missing, "calls itself") != NULL;
	assert_true(scan.files[0].buffer_count >= 2 && scan.files[0].buffer_count < 100);
	assert_int_equal(scan.files[0].buffers[0].index, 1);
	assert_true(is_named);
	tdm_scan_done(&scan);
}

static void what_does_not_parse_is_named_by_its_line(void **state)
{
	(void)state;
	struct tdm_buf text = { 0 };
	tdm_buf_puts(&text, one_buffer);
	tdm_buf_puts(&text, "\n\nvoid g( { ] ; )) class\n");
	struct tdm_scan scan = scan_cpp(text.data, text.len);
	assert_int_equal(scan.files[0].state, TDM_FILE_PARTIAL);
	assert_true(scan.files[0].error_line >= 1);
	assert_true(scan.files[0].why[0] != '\0');
	assert_int_equal(scan.files[0].buffer_count, 1);
	assert_int_equal(scan.files[0].buffers[0].index, 3);
	tdm_scan_done(&scan);
	tdm_buf_done(&text);
}

static void trees_have_children_in_order(void **state)
{
	(void)state;
	struct tdm_parser *parser = tdm_parser_new(TDM_LANGUAGE_CPP, 0);
	struct tdm_syntax syntax = { 0 };
	assert_int_equal(tdm_syntax_parse(&syntax, parser, tdm_str_of("int f() { return a /* b */ + c; }")), 0);
	uint32_t last_start = 0;
	for (uint32_t i = 0; i < syntax.count; i++) {
		assert_true(syntax.nodes[i].next > i && syntax.nodes[i].next <= syntax.count);
		assert_true(syntax.nodes[i].start >= last_start && syntax.nodes[i].end <= syntax.text.len);
		last_start = syntax.nodes[i].start;
		if (tdm_node_kind(&syntax, i) != TDM_SYN_binary_expression)
			continue;
		assert_int_equal(tdm_node_child_count(&syntax, i), 3); /* no comment */
		assert_true(tdm_str_is(tdm_node_text(&syntax, tdm_node_part(&syntax, i, TDM_ROLE_left)), "a"));
		assert_true(tdm_str_is(tdm_node_text(&syntax, tdm_node_part(&syntax, i, TDM_ROLE_operator)), "+"));
		assert_true(tdm_str_is(tdm_node_text(&syntax, tdm_node_child(&syntax, i, 2)), "c"));
		assert_int_equal(tdm_node_child(&syntax, i, 3), TDM_NODE_NONE);
	}
	assert_int_equal(syntax.error_count, 0);
	tdm_syntax_done(&syntax);
	tdm_parser_free(parser);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(links_in_circles_end, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
			what_cannot_be_read_is_listed_and_the_rest_goes_on, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_path_that_does_not_exist_is_an_error, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
			binary_and_large_files_are_refused_with_the_reason, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(places_of_refused_files_are_counted, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_file_that_is_far_too_large_is_not_read, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(pipes_are_read_where_the_user_names_them, make_folder, remove_folder),
		cmocka_unit_test(endless_input_is_an_error),
		cmocka_unit_test(text_that_is_one_error_is_walked),
		cmocka_unit_test(deep_nesting_ends),
		cmocka_unit_test(brackets_that_never_close_end),
		cmocka_unit_test(long_chains_end),
		cmocka_unit_test(a_function_with_too_many_buffers_says_so),
		cmocka_unit_test(many_functions_of_one_name_end),
		cmocka_unit_test(helpers_that_call_each_other_end),
		cmocka_unit_test(what_does_not_parse_is_named_by_its_line),
		cmocka_unit_test(trees_have_children_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
