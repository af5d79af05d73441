#include "cmocka.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum verdict { PASSED, FAILED, SKIPPED, VERDICTS };

static jmp_buf end_of_test; /* valid while a test, its set-up or its tear-down runs */

void tdm_tests_fail(const char *file, int line, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	printf("%s:%d: ", file, line);
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	longjmp(end_of_test, FAILED);
}

void tdm_tests_skip(void)
{
	longjmp(end_of_test, SKIPPED);
}

void tdm_tests_check(bool holds, const char *text, const char *file, int line)
{
	if (!holds)
		tdm_tests_fail(file, line, "%s", text);
}

void tdm_tests_same(uintmax_t a, uintmax_t b, bool wanted, const char *file, int line)
{
	if ((a == b) != wanted)
		tdm_tests_fail(file, line, "%#" PRIxMAX " %s %#" PRIxMAX, a, wanted ? "!=" : "==", b);
}

void tdm_tests_range(uintmax_t x, uintmax_t low, uintmax_t high, const char *file, int line)
{
	if (x < low || x > high)
		tdm_tests_fail(file, line, "%" PRIuMAX " is not in %" PRIuMAX " to %" PRIuMAX, x, low, high);
}

void tdm_tests_text(const char *a, const char *b, bool wanted, const char *file, int line)
{
	if ((strcmp(a, b) == 0) != wanted)
		tdm_tests_fail(file, line, "\"%s\" %s \"%s\"", a, wanted ? "!=" : "==", b);
}

void tdm_tests_bytes(const void *a, const void *b, size_t bytes, const char *file, int line)
{
	const unsigned char *left = a, *right = b;
	for (size_t i = 0; i < bytes; i++)
		if (left[i] != right[i])
			tdm_tests_fail(file, line, "byte %zu of %zu: %#x != %#x", i, bytes, left[i], right[i]);
}

/* Runs one of the three parts of a test; a part that is not there passes. */
static enum verdict run_part(void (*run)(void **state), int (*other)(void **state), void **state)
{
	enum verdict verdict = (enum verdict)setjmp(end_of_test);
	if (verdict != PASSED)
		return verdict;
	if (run != NULL)
		run(state);
	return other != NULL && other(state) != 0 ? FAILED : PASSED;
}

/* `state` is what the set-up of the group left there. */
static enum verdict run_test(const struct CMUnitTest *test, void *state)
{
	enum verdict verdict = run_part(NULL, test->set_up, &state);
	if (verdict == PASSED)
		verdict = run_part(test->run, NULL, &state);
	enum verdict end = run_part(NULL, test->tear_down, &state);
	return verdict == PASSED ? end : verdict;
}

int tdm_tests_run(const char *group, const struct CMUnitTest *tests, size_t count, int (*set_up)(void **state),
	int (*tear_down)(void **state))
{
	static const char *const words[VERDICTS] = { "      OK", " FAILED ", " SKIPPED" };
	unsigned counts[VERDICTS] = { 0 };
	void *state = NULL;
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* a test that crashes leaves its name */
	printf("[==========] %s: Running %zu test(s).\n", group, count);
	bool ready = run_part(NULL, set_up, &state) == PASSED;
	for (size_t i = 0; i < count; i++) {
		printf("[ RUN      ] %s\n", tests[i].name);
		enum verdict verdict = ready ? run_test(&tests[i], state) : FAILED;
		counts[verdict]++;
		printf("[ %s ] %s\n", words[verdict], tests[i].name);
	}
	if (run_part(NULL, tear_down, &state) != PASSED)
		counts[FAILED]++;
	printf("[==========] %zu test(s) run.\n[  PASSED  ] %u test(s).\n", count, counts[PASSED]);
	if (counts[SKIPPED] != 0)
		printf("[  SKIPPED ] %u test(s).\n", counts[SKIPPED]);
	if (counts[FAILED] != 0)
		printf("[  FAILED  ] %u test(s).\n", counts[FAILED]);
	return (int)counts[FAILED];
}
