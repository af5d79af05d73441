/* When memory runs out: one line on standard error, exit code 2, and the terminal restored before that. */
#include "base/memory.h"
#include "base/buf.h"
#include "base/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FAR = 1 << 30, LIMIT_MB = 64, NO_LIMIT = 4 }; /* NO_LIMIT: an exit code */

/* A sanitizer has its own way of running out of memory, and needs all the address space that there is. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#elif defined(__has_feature)
enum { IS_SANITIZED = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) };
#else
enum { IS_SANITIZED = 0 };
#endif

static void take_too_much(void)
{
	tdm_alloc(SIZE_MAX / 2);
}

static void zero_too_much(void)
{
	tdm_zalloc(SIZE_MAX / 2, 4); /* the product does not fit */
}

static void grow_too_much(void)
{
	size_t cap = 0;
	uint64_t *list = NULL;
	tdm_grow(&list, &cap, SIZE_MAX / 4, sizeof *list);
}

static void print_too_much(void)
{
	struct tdm_buf buf = { 0 };
	tdm_buf_fill(&buf, 'x', SIZE_MAX - 2);
}

/* Nothing asks for too much at once, but the system gives no more. An emulator may ignore the limit. */
static void limit_memory(void)
{
	const struct rlimit limit = { (rlim_t)LIMIT_MB << 20, (rlim_t)LIMIT_MB << 20 };
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		_exit(3);
	void *probe = malloc((size_t)LIMIT_MB << 21);
	if (probe != NULL)
		_exit(NO_LIMIT);
}

static void fill_a_map(void)
{
	struct tdm_map map = { 0 };
	limit_memory();
	for (uint32_t i = 0; i < FAR; i++)
		tdm_map_set(&map, i, i);
}

static void fill_names(void)
{
	struct tdm_names names = { 0 };
	uint32_t slot;
	char name[32];
	limit_memory();
	for (uint32_t i = 0; i < FAR; i++)
		tdm_names_add(&names, (struct tdm_str){ name, (size_t)snprintf(name, sizeof name, "%u", i) }, &slot);
}

static void fill_a_text(void)
{
	struct tdm_buf buf = { 0 };
	limit_memory();
	for (uint32_t i = 0; i < FAR; i++)
		tdm_buf_printf(&buf, "%u\n", i);
}

static void restore(void)
{
	if (write(STDERR_FILENO, "restored\n", 9) != 9)
		_exit(3);
}

static void restore_then_end(void)
{
	tdm_before_out_of_memory(restore);
	take_too_much();
}

static void do_not_restore(void)
{
	tdm_before_out_of_memory(restore);
	tdm_before_out_of_memory(NULL);
	take_too_much();
}

/* What a child says on standard error, and how it ends. */
static int run(void (*body)(void), char said[256])
{
	int ends[2], status;
	size_t len = 0;
	ssize_t got;
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		body();
		_exit(0);
	}
	close(ends[1]);
	while ((got = read(ends[0], said + len, 255 - len)) > 0)
		len += (size_t)got;
	close(ends[0]);
	said[len] = '\0';
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void one_line_and_exit_code_2(void **state)
{
	static void (*const bodies[])(void) = { take_too_much, zero_too_much, grow_too_much, print_too_much, fill_a_map,
		fill_names, fill_a_text, do_not_restore };
	(void)state;
	if (IS_SANITIZED)
		skip();
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
		char said[256];
		int code = run(bodies[i], said);
		if (code == NO_LIMIT)
			continue;
		assert_int_equal(code, 2);
		assert_string_equal(said, "test_memory: out of memory\n");
	}
}

static void the_terminal_comes_first(void **state)
{
	char said[256];
	(void)state;
	if (IS_SANITIZED)
		skip();
	assert_int_equal(run(restore_then_end, said), 2);
	assert_string_equal(said, "restored\ntest_memory: out of memory\n");
}

static void memory_of_no_bytes_is_there(void **state)
{
	(void)state;
	void *none[] = { tdm_alloc(0), tdm_zalloc(0, 8), tdm_zalloc(8, 0), tdm_realloc(NULL, 0, 8),
		tdm_copy_of("", 0) };
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		assert_non_null(none[i]);
		free(none[i]);
	}
	assert_null(tdm_strdup(NULL));
}

static void copies_and_printed_texts(void **state)
{
	(void)state;
	char *texts[] = { tdm_strdup("abc"), tdm_strndup("abcdef", 3), tdm_printed("%s%c", "ab", 'c'),
		tdm_copy_of("abc", sizeof "abc") };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_string_equal(texts[i], "abc");
		free(texts[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_line_and_exit_code_2),
		cmocka_unit_test(the_terminal_comes_first),
		cmocka_unit_test(memory_of_no_bytes_is_there),
		cmocka_unit_test(copies_and_printed_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
