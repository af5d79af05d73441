/* Reading files: whole ones, and line by line over memory, files and pipes, with lines of every length around the
 * capacity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* A descriptor that reads this text. */
static int fd_of(const char *data, size_t len)
{
	int fd = memfd_create("lines", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(tdm_file_write_all(fd, data, len), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Reads `data` from memory and from a descriptor with this capacity, and expects the same lines (ended by NULL) of
 * both. */
static void assert_lines(const char *data, size_t len, size_t cap, const char *const *expected)
{
	for (int over_fd = 0; over_fd < 2; over_fd++) {
		struct tdm_lines lines;
		struct tdm_str line;
		size_t i = 0;
		int fd = over_fd ? fd_of(data, len) : -1, got;
		if (over_fd)
			tdm_lines_open(&lines, fd, cap);
		else
			tdm_lines_memory(&lines, data, len);
		while ((got = tdm_lines_next(&lines, &line)) > 0) {
			assert_non_null(expected[i]);
			assert_true(tdm_str_is(line, expected[i]));
			assert_int_equal(lines.line, ++i);
		}
		assert_int_equal(got, 0);
		assert_null(expected[i]);
		assert_int_equal(lines.offset, len);
		assert_int_equal(tdm_lines_next(&lines, &line), 0); /* the end stays the end */
		tdm_lines_done(&lines);
		if (fd >= 0)
			assert_int_equal(close(fd), 0); /* it stayed the caller's */
	}
}

#define ASSERT_LINES(data, ...) assert_lines(data, strlen(data), 64, (const char *const[]){ __VA_ARGS__, NULL })

static void lines_end_at_newlines_with_or_without_a_return(void **state)
{
	(void)state;
	ASSERT_LINES("a\nb\n", "a", "b");
	ASSERT_LINES("a\r\nb\r\n", "a", "b");
	ASSERT_LINES("a\n\r\n\nb", "a", "", "", "b");
	ASSERT_LINES("a\r", "a");
	ASSERT_LINES("a\rb\n", "a\rb"); /* a return inside a line is text, */
	ASSERT_LINES("a\r\r\n", "a\r"); /* and one of two as well */
	ASSERT_LINES("no newline", "no newline");
	ASSERT_LINES("\xef\xbb\xbf"
		     "a\n\xef\xbb\xbf"
		     "b\n",
		"a",
		"\xef\xbb\xbf"
		"b"); /* a mark of UTF-8, at the beginning only */
	ASSERT_LINES("\n", "");
	assert_lines("", 0, 64, (const char *const[]){ NULL });
}

static void a_line_may_hold_nul_bytes(void **state)
{
	(void)state;
	struct tdm_lines lines;
	struct tdm_str line;
	tdm_lines_memory(&lines, "a\0b\n\0\n", 6);
	assert_int_equal(tdm_lines_next(&lines, &line), 1);
	assert_true(tdm_str_eq(line, (struct tdm_str){ "a\0b", 3 }));
	assert_int_equal(tdm_lines_next(&lines, &line), 1);
	assert_true(tdm_str_eq(line, (struct tdm_str){ "\0", 1 }));
	assert_int_equal(tdm_lines_next(&lines, &line), 0);
	tdm_lines_done(&lines);
}

static void no_memory_at_all_is_an_empty_input(void **state)
{
	(void)state;
	struct tdm_lines lines;
	struct tdm_str line;
	tdm_lines_memory(&lines, NULL, 0);
	assert_int_equal(tdm_lines_next(&lines, &line), 0);
	tdm_lines_done(&lines);
}

/* A line of `len` bytes between two short ones, with and without a newline at the end of the input. */
static void around_the_capacity(size_t cap, size_t len)
{
	for (int ended = 0; ended < 2; ended++) {
		char *data = malloc(len + 16);
		size_t total = 0;
		struct tdm_lines lines;
		struct tdm_str line;
		assert_non_null(data);
		memcpy(data, "a\n", 2);
		memset(data + 2, 'x', len);
		memcpy(data + 2 + len, "\nb\n", 3);
		total = len + (ended ? 5 : 2);
		int fd = fd_of(data, total);
		tdm_lines_open(&lines, fd, cap);
		assert_int_equal(tdm_lines_next(&lines, &line), 1);
		assert_true(tdm_str_is(line, "a"));
		int got = tdm_lines_next(&lines, &line);
		if (len == 0 && !ended) {
			assert_int_equal(got, 0); /* no line follows the last newline */
		} else if (len <= cap) {
			assert_int_equal(got, 1);
			assert_int_equal(line.len, len);
			assert_true(line.len == 0 || line.ptr[len - 1] == 'x');
		} else {
			assert_int_equal(got, -EMSGSIZE);
			assert_true(line.len > 0 && line.len <= len && line.ptr[0] == 'x');
			assert_int_equal(lines.line, 2);
		}
		if (ended) {
			assert_int_equal(tdm_lines_next(&lines, &line), 1); /* cut once; the rest goes on */
			assert_true(tdm_str_is(line, "b"));
			assert_int_equal(lines.line, 3);
		}
		assert_int_equal(tdm_lines_next(&lines, &line), 0);
		assert_int_equal(lines.offset, total);
		tdm_lines_done(&lines);
		close(fd);
		free(data);
	}
}

static void a_line_is_cut_only_above_the_capacity(void **state)
{
	(void)state;
	static const size_t caps[] = { 1, 2, 3, 8, 63, 64, 65, 200 };
	for (size_t c = 0; c < sizeof caps / sizeof *caps; c++)
		for (size_t len = 0; len < 3 * caps[c] + 5; len++)
			around_the_capacity(caps[c], len);
}

static void memory_has_no_capacity(void **state)
{
	(void)state;
	enum { LEN = 3 << 20 };
	char *data = malloc(LEN);
	struct tdm_lines lines;
	struct tdm_str line;
	assert_non_null(data);
	memset(data, 'x', LEN);
	data[LEN - 2] = '\n';
	tdm_lines_memory(&lines, data, LEN);
	assert_int_equal(tdm_lines_next(&lines, &line), 1);
	assert_int_equal(line.len, LEN - 2);
	assert_int_equal(tdm_lines_next(&lines, &line), 1);
	assert_int_equal(line.len, 1);
	assert_int_equal(tdm_lines_next(&lines, &line), 0);
	tdm_lines_done(&lines);
	free(data);
}

/* Every way of cutting the input into two reads, and single bytes. */
static void a_pipe_may_give_any_piece_at_a_time(void **state)
{
	(void)state;
	static const char data[] = "one\r\n\ntwo\n\r\nthree";
	static const char *const expected[] = { "one", "", "two", "", "three" };
	enum { LEN = sizeof data - 1 };
	for (size_t cut = 0; cut <= LEN; cut++) {
		int ends[2];
		struct tdm_lines lines;
		struct tdm_str line;
		size_t put = 0, seen = 0;
		assert_int_equal(pipe(ends), 0);
		assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
		tdm_lines_open(&lines, ends[0], 32);
		for (;;) {
			int got = tdm_lines_next(&lines, &line);
			if (got == 0)
				break;
			if (got == -EAGAIN) { /* nothing there yet: asking again goes on where it stopped */
				size_t piece = cut == 0 ? 1 : put == 0 ? cut : LEN - put;
				if (put < LEN)
					assert_int_equal(write(ends[1], data + put, piece), piece);
				else
					close(ends[1]);
				put += piece;
				continue;
			}
			assert_int_equal(got, 1);
			assert_true(seen < 5 && tdm_str_is(line, expected[seen]));
			seen++;
		}
		assert_int_equal(seen, 5);
		assert_int_equal(lines.offset, LEN);
		tdm_lines_done(&lines);
		close(ends[0]);
	}
}

static void a_descriptor_that_cannot_be_read_is_an_error(void **state)
{
	(void)state;
	struct tdm_lines lines;
	struct tdm_str line;
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	tdm_lines_open(&lines, fd, 64);
	assert_int_equal(tdm_lines_next(&lines, &line), -EISDIR);
	assert_int_equal(tdm_lines_next(&lines, &line), -EISDIR);
	tdm_lines_done(&lines);
	tdm_lines_done(&lines); /* twice does no harm */
	close(fd);
}

static ssize_t read_text(void *from, char *dst, size_t cap)
{
	(void)from;
	memset(dst, 'y', cap);
	return (ssize_t)cap;
}

/* Zeros may be many, at the beginning of a log that was truncated; a text ends sooner. */
static void an_input_without_line_ends_is_given_up(void **state)
{
	(void)state;
	enum { CAP = 1 << 20 };
	struct tdm_lines lines;
	struct tdm_str line;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	tdm_lines_open(&lines, fd, CAP);
	assert_int_equal(tdm_lines_next(&lines, &line), TDM_EENDLESS);
	assert_in_range(lines.offset, TDM_ZEROS_MAX, TDM_ZEROS_MAX + 2 * CAP);
	assert_int_equal(tdm_lines_next(&lines, &line), 0);
	tdm_lines_done(&lines);
	close(fd);
	tdm_lines_from(&lines, (struct tdm_reader){ read_text, NULL }, CAP);
	assert_int_equal(tdm_lines_next(&lines, &line), TDM_EENDLESS);
	assert_in_range(lines.offset, UINT64_C(1) << 28, (UINT64_C(1) << 28) + 2 * CAP);
	tdm_lines_done(&lines);
}

static void a_whole_file_is_read_up_to_a_limit(void **state)
{
	(void)state;
	char path[] = "/tmp/tidemark-test-XXXXXX";
	enum { LEN = 200000 };
	char *data = malloc(LEN);
	struct tdm_buf out;
	int fd = mkstemp(path);
	assert_true(fd >= 0 && data != NULL);
	for (int i = 0; i < LEN; i++)
		data[i] = (char)(i % 251);
	assert_int_equal(tdm_file_write_all(fd, data, LEN), 0);
	close(fd);
	tdm_buf_init(&out);
	assert_int_equal(tdm_file_read(path, LEN, &out), 0);
	assert_int_equal(out.len, LEN);
	assert_memory_equal(out.data, data, LEN);
	tdm_buf_clear(&out);
	assert_int_equal(tdm_file_read(path, LEN - 1, &out), -EFBIG);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(tdm_file_read(path, LEN, &out), -ENOENT);
	assert_int_equal(tdm_file_read("/", LEN, &out), -EISDIR);
	tdm_buf_done(&out);
	free(data);
}

static void writing_where_nothing_fits_is_an_error(void **state)
{
	(void)state;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		skip();
	assert_int_equal(tdm_file_write_all(fd, "x", 1), -ENOSPC);
	assert_int_equal(tdm_file_write_all(fd, "", 0), 0);
	close(fd);
	assert_int_equal(tdm_file_write_all(-1, "x", 1), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_end_at_newlines_with_or_without_a_return),
		cmocka_unit_test(a_line_may_hold_nul_bytes),
		cmocka_unit_test(no_memory_at_all_is_an_empty_input),
		cmocka_unit_test(a_line_is_cut_only_above_the_capacity),
		cmocka_unit_test(memory_has_no_capacity),
		cmocka_unit_test(a_pipe_may_give_any_piece_at_a_time),
		cmocka_unit_test(a_descriptor_that_cannot_be_read_is_an_error),
		cmocka_unit_test(an_input_without_line_ends_is_given_up),
		cmocka_unit_test(a_whole_file_is_read_up_to_a_limit),
		cmocka_unit_test(writing_where_nothing_fits_is_an_error),
	};
	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
