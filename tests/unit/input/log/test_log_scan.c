/* Finding relevant lines: the same ones with and without vector instructions, in blocks of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "open_input.h"
#include "input/log/log_reader.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

/* One line for each marker, and lines that only look like one. */
static const char *const hot[] = { "| SHM record_allocation: pid=1", "x Out of Memory: y", "two circular buffers on",
	"dataflow buffers on", "Program size (5) too", "Creating trace buffers of size 5B", "Trace buffer at address 5",
	"Worker L1 size 5", "overflows region:x", "is potentially unsafe due", "Configured partition params: w",
	"Begin op: a", "RISC=0, name=k", "COMPUTE KERNEL START", "the kernel ends", "Device L1 memory state: M",
	"✓ [PID 5] Allocated", "[KERNEL_LOAD] x", "║ REMAINING ALLOCATED BUFFERS ║", "tiles_per_shard=8", "num_tiles=8",
	"add verification: 5 / 5", "8 A tiles", "9 B tiles", "Program Config Buffer: 5 bytes", "cb0:4", "CB 1 x",
	"CB[3]", "cb_push_back(1, 1)", "CB1", "two trace buffers of size 5", "it is not enough", "L1 EXCEEDED",
	"a stack overflow", "does not fit", "it doesn't fit", "too large by far", "TOO BIG", "insufficient L1",
	"buffers clash with", "Larger Than it", "beyond the end", "cannot allocate", "failed to allocate",
	"std::bad_alloc", "local buffers on", "a mismatch of", "Using core grid 8x7", "highest stack usage: 1",
	"Dump #1 at", "no memory: OUT OF MEMORY", "is not within region `a'", "space is EXHAUSTED", "ran out of L1",
	"ran out of DRAM", "No space left", "Allocation failed", "could not be allocated", "does not have enough",
	"more than available", "regions overlap", "too small for" };
static const char *const cold[] = { "", "SHMx", "Out of time", "xcb1", "0xcb12", "abcb_", "channel 5", "kernels",
	"option", "RISC-V", "a tiles", "regular buf", "memory stat", "[PIDs", "cba", "c b 1", "circularbuf" };

enum { HOT = sizeof hot / sizeof *hot, COLD = sizeof cold / sizeof *cold };

/* What the scans of a test read, until the next one. */
static struct tdm_input *input;

static void open_scan(struct tdm_log_scan *scan, struct tdm_input *fresh)
{
	tdm_input_close(input);
	input = fresh;
	tdm_log_scan_open(scan, tdm_input_reader(input));
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void every_marker_is_found_and_nothing_else(void **state)
{
	(void)state;
	for (int portable = 0; portable < 2; portable++)
		for (size_t i = 0; i < HOT + COLD; i++) {
			struct tdm_log_scan scan;
			struct tdm_log_line line;
			const char *text = i < HOT ? hot[i] : cold[i - HOT];
			open_scan(&scan, input_of_text(text, strlen(text)));
			if (portable)
				tdm_log_scan_portable(&scan);
			int got = tdm_log_scan_next(&scan, false, &line);
			if (got != (i < HOT))
				fail_msg("'%s' with %s: %d", text, portable ? "the portable search" : "the best search",
					got);
			if (got == 1) {
				assert_true(tdm_str_is(line.text, text));
				assert_int_equal(line.number, 1);
				assert_int_equal(tdm_log_scan_next(&scan, false, &line), 0);
			}
			tdm_log_scan_done(&scan);
		}
}

/* A writer that gives a pipe pieces of any length. */
struct feed {
	const char *data;
	size_t len;
	int fd;
};

static void *feed_pipe(void *arg)
{
	struct feed *f = arg;
	uint64_t seed = 99;
	for (size_t at = 0; at < f->len;) {
		size_t piece = 1 + random_next(&seed) % 5000;
		piece = piece < f->len - at ? piece : f->len - at;
		ssize_t put = write(f->fd, f->data + at, piece);
		if (put < 0)
			break;
		at += (size_t)put;
	}
	close(f->fd);
	return NULL;
}

/* Lines of many lengths, some of them hot, at every alignment; the numbers and texts must be right. */
static void random_lines_from_memory_and_from_a_pipe(void **state)
{
	enum { LINES = 20000 };
	static uint8_t which[LINES];
	static size_t begins[LINES + 1];
	struct tdm_buf text;
	uint64_t seed = 4711;
	(void)state;
	tdm_buf_init(&text);
	for (size_t i = 0; i < LINES; i++) {
		uint64_t r = random_next(&seed);
		begins[i] = text.len;
		which[i] = r % 10 == 0 ? (uint8_t)(r / 10 % HOT + 1) : 0;
		tdm_buf_fill(&text, (char)('!' + r % 3), r / 7 % 90);
		tdm_buf_putc(&text, ' ');
		tdm_buf_puts(&text, which[i] != 0 ? hot[which[i] - 1] : cold[r / 10 % COLD]);
		tdm_buf_puts(&text, r % 5 == 0 ? "\r\n" : "\n");
	}
	begins[LINES] = text.len;
	for (int way = 0; way < 4; way++) {
		struct tdm_log_scan scan;
		struct tdm_log_line line;
		struct feed feed = { text.data, text.len, -1 };
		pthread_t thread;
		int ends[2] = { -1, -1 };
		if (way < 2) {
			open_scan(&scan, input_of_text(text.data, text.len));
		} else {
			assert_int_equal(pipe(ends), 0);
			feed.fd = ends[1];
			assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
			open_scan(&scan, input_of_fd(ends[0]));
		}
		if (way % 2 == 1)
			tdm_log_scan_portable(&scan);
		for (size_t i = 0; i < LINES; i++) {
			if (which[i] == 0)
				continue;
			assert_int_equal(tdm_log_scan_next(&scan, false, &line), 1);
			assert_int_equal(line.number, i + 1);
			size_t len = strlen(hot[which[i] - 1]);
			assert_true(line.text.len > len);
			assert_memory_equal(line.text.ptr + line.text.len - len, hot[which[i] - 1], len);
			/* What stands around it, a kilobyte at least where there is as much. */
			size_t behind = text.len - begins[i + 1], before = begins[i];
			assert_true(line.before.len >= (before < 1024 ? before : 1024) && line.before.len <= before);
			assert_true(line.after.len >= (behind < 1024 ? behind : 1024) && line.after.len <= behind);
			assert_true(
				memcmp(line.before.ptr, text.data + before - line.before.len, line.before.len) == 0);
			assert_true(memcmp(line.after.ptr, text.data + begins[i + 1], line.after.len) == 0);
		}
		assert_int_equal(tdm_log_scan_next(&scan, false, &line), 0);
		assert_int_equal(scan.lines, LINES);
		assert_int_equal(tdm_log_scan_offset(&scan), text.len);
		tdm_log_scan_done(&scan);
		if (way >= 2) {
			pthread_join(thread, NULL);
			close(ends[0]);
		}
	}
	tdm_buf_done(&text);
}

static void every_line_on_request(void **state)
{
	static const char text[] = "one\ntwo CB1\n\nfour";
	struct tdm_log_scan scan;
	struct tdm_log_line line;
	(void)state;
	open_scan(&scan, input_of_text(text, sizeof text - 1));
	assert_int_equal(tdm_log_scan_next(&scan, true, &line), 1);
	assert_true(tdm_str_is(line.text, "one") && line.number == 1);
	assert_int_equal(tdm_log_scan_next(&scan, false, &line), 1);
	assert_true(tdm_str_is(line.text, "two CB1") && line.number == 2);
	assert_true(tdm_str_is(line.before, "one\n"));
	assert_int_equal(tdm_log_scan_next(&scan, true, &line), 1);
	assert_true(line.text.len == 0 && line.number == 3);
	assert_int_equal(tdm_log_scan_next(&scan, true, &line), 1);
	assert_true(tdm_str_is(line.text, "four") && line.number == 4);
	assert_int_equal(tdm_log_scan_next(&scan, true, &line), 0);
	tdm_log_scan_done(&scan);
}

static void lines_at_the_limit(void **state)
{
	(void)state;
	for (int over = 0; over < 2; over++) {
		struct tdm_log_scan scan;
		struct tdm_log_line line;
		size_t len = TDM_LOG_LINE_MAX + (size_t)over;
		char *text = malloc(len + 16);
		assert_non_null(text);
		memset(text, 'x', len);
		memcpy(text + len - 5, " CB1 ", 5);
		memcpy(text + len, "\nCB2\n", 5);
		open_scan(&scan, input_of_text(text, len + 5));
		assert_int_equal(tdm_log_scan_next(&scan, false, &line), over ? -EMSGSIZE : 1);
		assert_int_equal(line.number, 1);
		assert_int_equal(line.text.len, TDM_LOG_LINE_MAX);
		assert_int_equal(tdm_log_scan_next(&scan, false, &line), 1);
		assert_int_equal(line.number, 2);
		assert_true(tdm_str_is(line.text, "CB2"));
		assert_int_equal(scan.cut_lines, over);
		tdm_log_scan_done(&scan);
		free(text);
	}
}

static void *feed_long_line(void *arg)
{
	enum { PIECES = 1024, PIECE = 65536 };
	int fd = *(int *)arg;
	static char piece[PIECE];
	memset(piece, 'y', sizeof piece);
	memcpy(piece, " CB7 ", 5);
	for (int i = 0; i < PIECES; i++)
		if (write(fd, piece, sizeof piece) < 0)
			break;
	if (write(fd, "\nlast CB3 line", 14) < 0)
		perror("write");
	close(fd);
	return NULL;
}

/* 64 MiB without a newline: one report, bounded memory, and the next line has the right number. */
static void a_line_of_64_mib(void **state)
{
	struct tdm_log_scan scan;
	struct tdm_log_line line;
	struct rusage before, after;
	pthread_t thread;
	int ends[2];
	(void)state;
	assert_int_equal(pipe(ends), 0);
	getrusage(RUSAGE_SELF, &before);
	assert_int_equal(pthread_create(&thread, NULL, feed_long_line, &ends[1]), 0);
	open_scan(&scan, input_of_fd(ends[0]));
	assert_int_equal(tdm_log_scan_next(&scan, false, &line), -EMSGSIZE);
	assert_int_equal(line.number, 1);
	assert_int_equal(tdm_log_scan_next(&scan, false, &line), 1);
	assert_int_equal(line.number, 2);
	assert_true(tdm_str_is(line.text, "last CB3 line"));
	assert_int_equal(tdm_log_scan_next(&scan, false, &line), 0);
	assert_int_equal(tdm_log_scan_offset(&scan), (64 << 20) + 14);
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 16 << 10); /* KiB */
	tdm_log_scan_done(&scan);
	pthread_join(thread, NULL);
	close(ends[0]);
}

static void junk_does_no_harm(void **state)
{
	char text[4096];
	uint64_t seed = 1;
	(void)state;
	for (int round = 0; round < 200; round++) {
		struct tdm_log_scan scan;
		struct tdm_log_line line;
		uint64_t lines = 0;
		for (size_t i = 0; i < sizeof text; i++)
			text[i] = (char)random_next(&seed);
		memcpy(text + 1000, "\n\0 CB1 \xff\n", 10);
		for (size_t i = 0; i < sizeof text; i++)
			lines += text[i] == '\n';
		open_scan(&scan, input_of_text(text, sizeof text));
		bool found = false;
		while (tdm_log_scan_next(&scan, false, &line) == 1)
			found |= line.text.len == 7 && memcmp(line.text.ptr, "\0 CB1 \xff", 7) == 0;
		assert_true(found);
		assert_int_equal(scan.lines, lines);
		tdm_log_scan_done(&scan);
	}
}

/* A text, and then an error. */
static ssize_t read_or_fail(void *from, char *dst, size_t cap)
{
	const char **text = from;
	size_t len = strnlen(*text, cap);
	memcpy(dst, *text, len);
	*text += len;
	return len != 0 ? (ssize_t)len : -EIO;
}

static void a_failed_read_is_said_once(void **state)
{
	struct tdm_log_scan scan;
	struct tdm_log_line line;
	(void)state;
	tdm_log_scan_open(&scan, (struct tdm_reader){ read_or_fail, &(const char *){ "" } });
	assert_int_equal(tdm_log_scan_next(&scan, false, &line), -EIO);
	assert_int_equal(tdm_log_scan_next(&scan, false, &line), 0);
	tdm_log_scan_done(&scan);
	/* What came before it is not lost. */
	tdm_log_scan_open(&scan, (struct tdm_reader){ read_or_fail, &(const char *){ "CB1 x\nhalf" } });
	tdm_log_scan_peek(&scan);
	assert_int_equal(tdm_log_scan_next(&scan, false, &line), 1);
	assert_true(tdm_str_is(line.text, "CB1 x") && line.number == 1);
	assert_int_equal(tdm_log_scan_next(&scan, false, &line), -EIO);
	assert_int_equal(tdm_log_scan_next(&scan, false, &line), 0);
	tdm_log_scan_done(&scan);
}

static ssize_t read_zeros(void *from, char *dst, size_t cap)
{
	(void)from;
	(void)dst; /* whatever it has */
	return (ssize_t)cap;
}

static void an_input_without_line_ends_is_given_up(void **state)
{
	struct tdm_log_scan scan;
	struct tdm_log_line line;
	(void)state;
	tdm_log_scan_open(&scan, (struct tdm_reader){ read_zeros, NULL });
	memset(scan.data, 'x', scan.cap);
	assert_int_equal(tdm_log_scan_next(&scan, false, &line), -EMSGSIZE);
	assert_int_equal(tdm_log_scan_next(&scan, false, &line), TDM_EENDLESS);
	assert_int_equal(tdm_log_scan_next(&scan, false, &line), 0);
	tdm_log_scan_done(&scan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_marker_is_found_and_nothing_else),
		cmocka_unit_test(random_lines_from_memory_and_from_a_pipe),
		cmocka_unit_test(every_line_on_request),
		cmocka_unit_test(lines_at_the_limit),
		cmocka_unit_test(a_line_of_64_mib),
		cmocka_unit_test(junk_does_no_harm),
		cmocka_unit_test(a_failed_read_is_said_once),
		cmocka_unit_test(an_input_without_line_ends_is_given_up),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tdm_input_close(input);
	return failed;
}
