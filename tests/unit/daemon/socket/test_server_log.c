/* The daemon's output: numbers in lines, and lines that nobody reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/socket/socket_server.h"

static void numbers_are_those_of_printf(void **state)
{
	(void)state;
	for (unsigned shift = 0; shift < 65; shift++)
		for (int delta = -1; delta <= 1; delta++) {
			uint64_t number = (shift < 64 ? UINT64_C(1) << shift : 0) + (uint64_t)(int64_t)delta;
			char ours[64], theirs[64];
			char *end = tdm_put_hex(TDM_PUT(tdm_put_decimal(ours, number), " "), number);
			*end = '\0';
			snprintf(theirs, sizeof theirs, "%llu 0x%llx", (unsigned long long)number,
				(unsigned long long)number);
			assert_string_equal(ours, theirs);
		}
}

/* Takes everything from a socket. Returns the number of lines, and the last one. */
static unsigned read_lines(int fd, char *last, size_t cap)
{
	static char text[1 << 16];
	unsigned lines = 0;
	size_t at = 0;
	for (ssize_t got; (got = recv(fd, text, sizeof text, MSG_DONTWAIT)) > 0;)
		for (ssize_t i = 0; i < got; i++) {
			if (at + 1 < cap)
				last[at++] = text[i];
			if (text[i] == '\n') {
				last[at] = '\0';
				lines++;
				at = 0;
			}
		}
	return lines;
}

static void a_slow_reader_loses_lines_and_is_told(void **state)
{
	(void)state;
	enum { LINES = 200000 };
	struct tdm_loop loop;
	struct tdm_server_log log;
	int ends[2];
	char last[TDM_SERVER_LOG_LINE];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(tdm_loop_init(&loop), 0);
	tdm_server_log_init(&log, &loop, ends[0]);
	for (unsigned i = 0; i < LINES; i++)
		tdm_server_log_line(&log, "line %u, which nobody reads\n", i);
	uint64_t lost = log.lost;
	assert_true(lost > 0 && lost < LINES);
	unsigned lines = 0;
	while (log.said != lost) {
		lines += read_lines(ends[1], last, sizeof last);
		log.watch.ready(&log.watch);
	}
	log.flush.ready(&log.flush);
	lines += read_lines(ends[1], last, sizeof last);
	assert_int_equal(lines, LINES - lost + 1);
	char expected[TDM_SERVER_LOG_LINE];
	snprintf(expected, sizeof expected, "⚠ %llu lines were lost, because the output was not read fast enough\n",
		(unsigned long long)lost);
	assert_string_equal(last, expected);
	tdm_server_log_done(&log);
	tdm_loop_done(&loop);
	close(ends[0]);
	close(ends[1]);
}

static void a_long_line_is_cut_and_still_a_line(void **state)
{
	(void)state;
	struct tdm_loop loop;
	struct tdm_server_log log;
	int ends[2];
	char last[2 * TDM_SERVER_LOG_LINE], word[2 * TDM_SERVER_LOG_LINE];
	memset(word, 'x', sizeof word);
	word[sizeof word - 1] = '\0';
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(tdm_loop_init(&loop), 0);
	tdm_server_log_init(&log, &loop, ends[0]);
	tdm_server_log_line(&log, "%s\n", word);
	tdm_server_log_done(&log);
	assert_int_equal(read_lines(ends[1], last, sizeof last), 1);
	assert_int_equal(strlen(last), TDM_SERVER_LOG_LINE - 1);
	tdm_loop_done(&loop);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_printf),
		cmocka_unit_test(a_slow_reader_loses_lines_and_is_told),
		cmocka_unit_test(a_long_line_is_cut_and_still_a_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
