/* The reader of text traces: every form of line, and every refusal with its line, column and text. */
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
#include "base/names.h"
#include "open_input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define REGION "region base=0 size=4096 align=32 min=32 policy=first\n"
#define DEVICE "device n150 l1_banks=64\n"

/* The trace that is being read; closing its source leaves the input to the next one. */
static struct tdm_input *input;

static struct tdm_source *source_of_new(struct tdm_input *fresh)
{
	tdm_input_close(input);
	input = fresh;
	return source_of_input("text_trace", input).source;
}

static struct tdm_source *source_of(const char *text)
{
	return source_of_new(input_of_text(text, strlen(text)));
}

static struct tdm_event next(struct tdm_source *source)
{
	struct tdm_event event;
	struct tdm_diag diag = { 0 };
	int got = tdm_source_next(source, &event, &diag);
	if (got != 1)
		fail_msg("no event but %d: %d:%d: %s", got, (int)diag.line, (int)diag.column, diag.text);
	assert_true(tdm_event_is_valid(&event));
	return event;
}

static void assert_end(struct tdm_source *source)
{
	struct tdm_event event;
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_source_next(source, &event, &diag), 0);
	assert_int_equal(tdm_source_next(source, &event, &diag), 0);
}

static void assert_next_refused(struct tdm_source *source, int err, uint64_t line, uint64_t column, const char *text)
{
	struct tdm_event event;
	struct tdm_diag diag = { .file = "kept" };
	uint64_t before = source->refused;
	assert_int_equal(tdm_source_next(source, &event, &diag), err);
	assert_string_equal(diag.text, text);
	assert_int_equal(diag.line, line);
	assert_int_equal(diag.column, column);
	assert_string_equal(diag.file, "kept");
	assert_int_equal(source->refused, before + 1);
}

/* The line behind this description is refused, at this column with this text, and the reader goes on behind it. */
static void assert_refused(const char *description, const char *line, int err, uint64_t column, const char *text)
{
	char trace[4096];
	snprintf(trace, sizeof trace, "%s%s\nstats\n", description, line);
	struct tdm_source *source = source_of(trace);
	next(source);
	assert_next_refused(source, err, 2, column, text);
	assert_int_equal(next(source).op, TDM_OP_QUERY);
	assert_end(source);
	tdm_source_close(source);
}

static void every_line_of_a_region_trace_is_read(void **state)
{
	(void)state;
	struct tdm_source *source = source_of("region base=0 size=4096\n"
					      "alloc a 100 bottom\n"
					      "alloc b 0 top\n"
					      "place c 64 18446744073709551615\n"
					      "free a\n"
					      "stats\n"
					      "shrink 32\n"
					      "reset\n");
	struct tdm_event event = next(source);
	assert_int_equal(event.op, TDM_OP_DEVICE);
	assert_true(tdm_str_is(event.text, "region base=0 size=4096"));
	assert_int_equal(event.position, 1);
	assert_int_equal(event.column, 1);

	event = next(source);
	uint64_t a = event.id;
	assert_int_equal(event.op, TDM_OP_ALLOC);
	assert_int_equal(event.size, 100);
	assert_int_equal(event.flags, TDM_EVENT_BOTTOM_UP);
	assert_true(event.address == TDM_ADDRESS_UNKNOWN && event.bytes_per_bank == TDM_SIZE_UNKNOWN);
	assert_true(tdm_str_is(event.name, "a"));
	assert_int_equal(event.position, 2);
	assert_int_equal(event.column, 7);

	event = next(source);
	assert_int_equal(event.size, 0);
	assert_int_equal(event.flags, TDM_EVENT_TOP_DOWN);
	assert_int_not_equal(event.id, a);

	event = next(source);
	assert_int_equal(event.op, TDM_OP_ALLOC);
	assert_int_equal(event.flags, TDM_EVENT_FIXED);
	assert_int_equal(event.address, 64);
	assert_true(event.size == UINT64_MAX);

	event = next(source);
	assert_int_equal(event.op, TDM_OP_FREE);
	assert_int_equal(event.id, a);
	assert_true(tdm_str_is(event.name, "a"));

	assert_int_equal(next(source).op, TDM_OP_QUERY);
	event = next(source);
	assert_int_equal(event.op, TDM_OP_SHRINK);
	assert_int_equal(event.size, 32);
	event = next(source);
	assert_int_equal(event.op, TDM_OP_SHRINK);
	assert_int_equal(event.size, 0);
	assert_end(source);
	assert_int_equal(source->refused, 0);
	tdm_source_close(source);
}

static void every_line_of_a_device_trace_is_read(void **state)
{
	(void)state;
	struct tdm_source *source = source_of("device n150 l1_banks=64 l1_small=0 trace_region=0\n"
					      "buffer a dram size=4096 page=2048\n"
					      "buffer b l1 page=32 cores=8 size=256\n"
					      "buffer c L1_SMALL size=64 cores=4294967295 bottom\n"
					      "buffer d trace size=0 top\n"
					      "free a\n"
					      "stats\n");
	struct tdm_event event = next(source);
	assert_int_equal(event.op, TDM_OP_DEVICE);
	assert_true(tdm_str_is(event.text, "device n150 l1_banks=64 l1_small=0 trace_region=0"));
	event = next(source);
	assert_int_equal(event.op, TDM_OP_ALLOC);
	assert_int_equal(event.kind, TDM_KIND_DRAM);
	assert_int_equal(event.size, 4096);
	assert_int_equal(event.page_size, 2048);
	assert_int_equal(event.cores, 0);
	assert_int_equal(event.flags, 0); /* the kind decides the direction */
	event = next(source);
	assert_int_equal(event.kind, TDM_KIND_L1);
	assert_int_equal(event.size, 256);
	assert_int_equal(event.page_size, 32);
	assert_int_equal(event.cores, 8);
	event = next(source);
	assert_int_equal(event.kind, TDM_KIND_L1_SMALL);
	assert_int_equal(event.page_size, 64); /* one page, when none is given */
	assert_true(event.cores == UINT32_MAX);
	assert_int_equal(event.flags, TDM_EVENT_BOTTOM_UP);
	event = next(source);
	assert_int_equal(event.kind, TDM_KIND_TRACE);
	assert_int_equal(event.size, 0);
	assert_int_equal(event.flags, TDM_EVENT_TOP_DOWN);
	assert_int_equal(next(source).op, TDM_OP_FREE);
	assert_int_equal(next(source).op, TDM_OP_QUERY);
	assert_end(source);
	tdm_source_close(source);
}

static void comments_blanks_and_returns_are_passed_over(void **state)
{
	(void)state;
	struct tdm_source *source = source_of("# head\r\n"
					      "\r\n"
					      " \t \n"
					      "\t region \tsize=4096 align=32   # the whole of it\r\n"
					      "  alloc  a\t100 bottom#not a comment\n"
					      "alloc a#1 100 bottom # a comment\r\n"
					      "  # stats\n"
					      "free a#1#\n"
					      "free a#1");
	struct tdm_event event = next(source);
	assert_true(tdm_str_is(event.text, "region \tsize=4096 align=32"));
	assert_int_equal(event.position, 4);
	assert_int_equal(event.column, 3);
	assert_next_refused(source, TDM_ESYNTAX, 5, 16, "expected 'bottom' or 'top', got 'bottom#not'");
	event = next(source);
	assert_true(tdm_str_is(event.name, "a#1")); /* a comment begins where a word could */
	assert_next_refused(source, TDM_ESYNTAX, 8, 6,
		"expected the name of a live buffer (this one was never allocated, or is freed already), got 'a#1#'");
	assert_int_equal(next(source).op, TDM_OP_FREE); /* without a newline at the end */
	assert_end(source);
	tdm_source_close(source);
}

static void a_mark_inside_a_word_of_the_description_is_no_comment(void **state)
{
	(void)state;
	struct tdm_source *source = source_of("device n150 l1_small=1#2 #3\n");
	assert_true(tdm_str_is(next(source).text, "device n150 l1_small=1#2"));
	tdm_source_close(source);
}

static void a_name_has_one_id_until_it_is_freed(void **state)
{
	(void)state;
	struct tdm_source *source = source_of(REGION "alloc a 1 top\n"
						     "alloc a 2 top\n"
						     "free a\n"
						     "alloc a 3 top\n");
	next(source);
	uint64_t first = next(source).id;
	assert_int_equal(next(source).id, first); /* whether a retry is in order is for the replay to say */
	assert_int_equal(next(source).id, first);
	assert_int_not_equal(next(source).id, first);
	tdm_source_close(source);
}

static void frees_of_unknown_and_freed_names_are_refused(void **state)
{
	(void)state;
	static const char text[] =
		"expected the name of a live buffer (this one was never allocated, or is freed already), got 'a'";
	struct tdm_source *source = source_of(REGION "free a\nalloc a 1 top\nfree a\nfree a\nalloc a 1 top\nfree a\n");
	next(source);
	assert_next_refused(source, TDM_ESYNTAX, 2, 6, text);
	next(source);
	next(source);
	assert_next_refused(source, TDM_ESYNTAX, 5, 6, text);
	next(source);
	next(source);
	assert_end(source);
	tdm_source_close(source);
}

static void a_malformed_line_does_not_introduce_its_name(void **state)
{
	(void)state;
	static const char *const lines[] = { "alloc a 1 sideways", "alloc a", "alloc a x top", "place a 5",
		"alloc a 1 top more" };
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		char trace[256];
		struct tdm_event event;
		struct tdm_diag diag;
		snprintf(trace, sizeof trace, REGION "%s\nfree a\nalloc a 1 top\n%s\nfree a\n", lines[i], lines[i]);
		struct tdm_source *source = source_of(trace);
		next(source);
		assert_int_equal(tdm_source_next(source, &event, &diag), TDM_ESYNTAX);
		assert_int_equal(tdm_source_next(source, &event, &diag), TDM_ESYNTAX); /* there is no a to free */
		uint64_t id = next(source).id;
		assert_int_equal(tdm_source_next(source, &event, &diag), TDM_ESYNTAX);
		event = next(source); /* an a that was there before stays */
		assert_int_equal(event.op, TDM_OP_FREE);
		assert_int_equal(event.id, id);
		tdm_source_close(source);
	}
}

static void a_line_says_what_it_lacks_and_where(void **state)
{
	(void)state;
	assert_refused(REGION, "alloc", TDM_ESYNTAX, 6,
		"expected a name of at most 255 bytes for the buffer, but the line ends here");
	assert_refused(REGION, "alloc a", TDM_ESYNTAX, 8, "expected a size in bytes, but the line ends here");
	assert_refused(REGION, "alloc a # 5", TDM_ESYNTAX, 9, "expected a size in bytes, but the line ends here");
	assert_refused(REGION, "alloc a 5", TDM_ESYNTAX, 10, "expected 'bottom' or 'top', but the line ends here");
	assert_refused(REGION, "place a", TDM_ESYNTAX, 8, "expected an address, but the line ends here");
	assert_refused(REGION, "place a 5", TDM_ESYNTAX, 10, "expected a size in bytes, but the line ends here");
	assert_refused(REGION, "free", TDM_ESYNTAX, 5, "expected the name of a buffer, but the line ends here");
	assert_refused(
		REGION, "shrink", TDM_ESYNTAX, 7, "expected a number of bytes from 1 on, but the line ends here");
	assert_refused(DEVICE, "buffer", TDM_ESYNTAX, 7,
		"expected a name of at most 255 bytes for the buffer, but the line ends here");
	assert_refused(
		DEVICE, "buffer a", TDM_ESYNTAX, 9, "expected dram, l1, l1_small or trace, but the line ends here");
	assert_refused(DEVICE, "buffer a l1", TDM_ESYNTAX, 12, "expected size=BYTES, but the line ends here");
	assert_refused(DEVICE, "buffer a l1 page=32", TDM_ESYNTAX, 20, "expected size=BYTES, but the line ends here");
	assert_refused(
		DEVICE, "buffer a l1 size=", TDM_ESYNTAX, 18, "expected a number after '=', but the line ends here");
	assert_refused(DEVICE, "buffer a l1 size= page=5", TDM_ESYNTAX, 18, "expected a number after '=', got ''");
}

static void a_line_says_what_is_wrong_and_where(void **state)
{
	(void)state;
	assert_refused(REGION, "alloc a 5K top", TDM_ESYNTAX, 9, "expected a size in bytes, got '5K'");
	assert_refused(REGION, "alloc a -5 top", TDM_ESYNTAX, 9, "expected a size in bytes, got '-5'");
	assert_refused(REGION, "alloc a 5 up", TDM_ESYNTAX, 11, "expected 'bottom' or 'top', got 'up'");
	assert_refused(REGION, "alloc a 5 top 6", TDM_ESYNTAX, 15, "expected the end of the line, got '6'");
	assert_refused(REGION, "place a 0x10 5", TDM_ESYNTAX, 9, "expected an address, got '0x10'");
	assert_refused(REGION, "place a 10 5 top", TDM_ESYNTAX, 14, "expected the end of the line, got 'top'");
	assert_refused(REGION, "free a b", TDM_ESYNTAX, 8, "expected the end of the line, got 'b'");
	assert_refused(REGION, "stats now", TDM_ESYNTAX, 7, "expected the end of the line, got 'now'");
	assert_refused(REGION, "reset all", TDM_ESYNTAX, 7, "expected the end of the line, got 'all'");
	assert_refused(REGION, "shrink 0", TDM_ESYNTAX, 8, "expected a number of bytes from 1 on, got '0'");
	assert_refused(REGION, "shrink 5 6", TDM_ESYNTAX, 10, "expected the end of the line, got '6'");
	assert_refused(REGION, "  Alloc a 5 top", TDM_ESYNTAX, 3,
		"expected 'alloc', 'place', 'free', 'stats', 'shrink' or 'reset', got 'Alloc'");
	assert_refused(REGION, "buffer a l1 size=5", TDM_ESYNTAX, 1,
		"expected 'alloc', 'place', 'free', 'stats', 'shrink' or 'reset', got 'buffer'");
	assert_refused(DEVICE, "alloc a 5 top", TDM_ESYNTAX, 1, "expected 'buffer', 'free' or 'stats', got 'alloc'");
	assert_refused(DEVICE, "shrink 5", TDM_ESYNTAX, 1, "expected 'buffer', 'free' or 'stats', got 'shrink'");
	assert_refused(DEVICE, "buffer a cb size=5", TDM_ESYNTAX, 10, "expected dram, l1, l1_small or trace, got 'cb'");
	assert_refused(
		DEVICE, "buffer a l1 5", TDM_ESYNTAX, 13, "expected size=, page=, cores=, 'bottom' or 'top', got '5'");
	assert_refused(DEVICE, "buffer a l1 Size=5", TDM_ESYNTAX, 13,
		"expected size=, page=, cores=, 'bottom' or 'top', got 'Size=5'");
	assert_refused(DEVICE, "buffer a l1 size=5x", TDM_ESYNTAX, 18, "expected a number after '=', got '5x'");
	assert_refused(DEVICE, "buffer a l1 size=5 cores=0", TDM_ESYNTAX, 20,
		"expected a number of cores from 1 on, got 'cores=0'");
	assert_refused(DEVICE, "buffer a l1 size=5 cores=4294967296", TDM_ESYNTAX, 20,
		"expected a number of cores from 1 on, got 'cores=4294967296'");
	assert_refused(DEVICE, "buffer a l1 size=5 size=5", TDM_ESYNTAX, 20,
		"expected size=, page= and cores= once each, got 'size=5'");
	assert_refused(DEVICE, "buffer a l1 top size=5", TDM_ESYNTAX, 13, "expected size=BYTES, got 'top'");
	assert_refused(
		DEVICE, "buffer a l1 size=5 top page=5", TDM_ESYNTAX, 24, "expected the end of the line, got 'page=5'");
}

static void numbers_above_64_bits_are_refused(void **state)
{
	(void)state;
	assert_refused(REGION, "alloc a 18446744073709551616 top", -ERANGE, 9,
		"expected a size in bytes: this number does not fit 64 bits");
	assert_refused(REGION, "place a 18446744073709551616 1", -ERANGE, 9,
		"expected an address: this number does not fit 64 bits");
	assert_refused(REGION, "place a 18446744073709551615 1", -ERANGE, 9, "expected an address below 2^64 - 1");
	assert_refused(DEVICE, "buffer a l1 size=99999999999999999999 page=5", -ERANGE, 18,
		"expected a number after '=': this number does not fit 64 bits");
}

static void a_trace_begins_with_one_description(void **state)
{
	(void)state;
	struct tdm_source *source = source_of("\nstats\nfree a\n" REGION "device n150\nregion size=1\nstats\n");
	assert_next_refused(source, TDM_ESYNTAX, 2, 1, "expected a 'region' or 'device' line first, got 'stats'");
	assert_next_refused(source, TDM_ESYNTAX, 3, 1, "expected a 'region' or 'device' line first, got 'free'");
	assert_int_equal(next(source).op, TDM_OP_DEVICE);
	assert_next_refused(
		source, TDM_ESYNTAX, 5, 1, "expected only one 'region' or 'device' line in a trace, got 'device'");
	assert_next_refused(
		source, TDM_ESYNTAX, 6, 1, "expected only one 'region' or 'device' line in a trace, got 'region'");
	assert_int_equal(next(source).op, TDM_OP_QUERY);
	assert_int_equal(source->refused, 4);
	tdm_source_close(source);
}

static void a_name_may_have_255_bytes_and_no_more(void **state)
{
	(void)state;
	char name[TDM_NAME_MAX + 2], line[1024];
	memset(name, 'n', sizeof name);
	name[TDM_NAME_MAX + 1] = '\0';
	snprintf(line, sizeof line, "alloc %s 1 top", name);
	assert_refused(REGION, line, TDM_ESYNTAX, 7,
		"expected a name of at most 255 bytes for the buffer, got "
		"'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...'");
	snprintf(line, sizeof line, "free %s", name);
	assert_refused(REGION, line, TDM_ESYNTAX, 6,
		"expected the name of a live buffer (this one was never allocated, or is freed already), got "
		"'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...'");
	snprintf(line, sizeof line, REGION "alloc %s 1 top\nfree %s\n", name + 1, name + 1);
	struct tdm_source *source = source_of(line);
	next(source);
	assert_int_equal(next(source).name.len, TDM_NAME_MAX);
	assert_int_equal(next(source).op, TDM_OP_FREE);
	tdm_source_close(source);
}

static void bytes_that_upset_a_terminal_are_not_repeated(void **state)
{
	(void)state;
	static const char trace[] = REGION "\033[2J\xff\0x\n";
	struct tdm_source *source = source_of_new(input_of_text(trace, sizeof trace - 1));
	next(source);
	assert_next_refused(source, TDM_ESYNTAX, 2, 1,
		"expected 'alloc', 'place', 'free', 'stats', 'shrink' or 'reset', got '?[2J??x'");
	assert_end(source);
	tdm_source_close(source);
}

static void an_empty_trace_has_no_events(void **state)
{
	(void)state;
	static const char *const empty[] = { "", "\n", "# nothing\n", " \t\r\n\n" };
	for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
		struct tdm_source *source = source_of(empty[i]);
		assert_end(source);
		assert_int_equal(source->refused, 0);
		tdm_source_close(source);
	}
	tdm_source_close(NULL);
}

static void a_descriptor_gives_what_memory_gives(void **state)
{
	(void)state;
	static const char trace[] = REGION "alloc a 5 top\nalloc ! x\nfree a\n";
	int fd = memfd_create("trace", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(tdm_file_write_all(fd, trace, sizeof trace - 1), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	struct tdm_source *source = source_of_new(input_of_fd(fd));
	next(source);
	assert_int_equal(next(source).size, 5);
	assert_next_refused(source, TDM_ESYNTAX, 3, 9, "expected a size in bytes, got 'x'");
	assert_int_equal(next(source).op, TDM_OP_FREE);
	assert_end(source);
	tdm_source_close(source);
	close(fd);
}

static void a_line_of_more_than_a_mebibyte_is_refused_once(void **state)
{
	(void)state;
	enum { MEBIBYTE = 1 << 20 };
	char *data = malloc(3 * MEBIBYTE);
	int fd = memfd_create("trace", MFD_CLOEXEC);
	assert_true(fd >= 0 && data != NULL);
	memset(data, ' ', 3 * MEBIBYTE);
	memcpy(data, REGION, strlen(REGION));
	memcpy(data + 3 * MEBIBYTE - 7, "\nstats\n", 7);
	assert_int_equal(tdm_file_write_all(fd, data, 3 * MEBIBYTE), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	struct tdm_source *source = source_of_new(input_of_fd(fd));
	next(source);
	assert_next_refused(source, TDM_ESYNTAX, 2, MEBIBYTE + 1, "expected a line of at most 1 MiB");
	assert_int_equal(next(source).position, 3);
	assert_end(source);
	tdm_source_close(source);
	close(fd);
	free(data);
}

static void a_descriptor_that_cannot_be_read_ends_the_trace(void **state)
{
	(void)state;
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	struct tdm_source *source = source_of_new(input_of_fd(fd));
	assert_next_refused(source, -EISDIR, 1, 0, "cannot read on: Is a directory");
	assert_end(source); /* a reader that keeps going must come to an end */
	tdm_source_close(source);
	close(fd);
}

static void traces_are_told_from_other_texts(void **state)
{
	(void)state;
	static const char *const good[] = { "region size=4096\n", "# why\n\n  device n150 l1_banks=64 # all\nx\n",
		"device n15", "alloc a 1 top\n", "buffer a l1 size=1\n" };
	static const char *const bad[] = { "", "# only this\n", "device 0 was opened\n", "region: east\n",
		"2026-11-15 07:36:20.265 | device n150\n", "free memory: 5\n" };
	const struct tdm_format *format = tdm_format_find("text_trace");
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(format->recognise(tdm_str_of(good[i]), "x"));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(format->recognise(tdm_str_of(bad[i]), "x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_of_a_region_trace_is_read),
		cmocka_unit_test(every_line_of_a_device_trace_is_read),
		cmocka_unit_test(comments_blanks_and_returns_are_passed_over),
		cmocka_unit_test(a_mark_inside_a_word_of_the_description_is_no_comment),
		cmocka_unit_test(a_name_has_one_id_until_it_is_freed),
		cmocka_unit_test(frees_of_unknown_and_freed_names_are_refused),
		cmocka_unit_test(a_malformed_line_does_not_introduce_its_name),
		cmocka_unit_test(a_line_says_what_it_lacks_and_where),
		cmocka_unit_test(a_line_says_what_is_wrong_and_where),
		cmocka_unit_test(numbers_above_64_bits_are_refused),
		cmocka_unit_test(a_trace_begins_with_one_description),
		cmocka_unit_test(a_name_may_have_255_bytes_and_no_more),
		cmocka_unit_test(bytes_that_upset_a_terminal_are_not_repeated),
		cmocka_unit_test(an_empty_trace_has_no_events),
		cmocka_unit_test(a_descriptor_gives_what_memory_gives),
		cmocka_unit_test(a_line_of_more_than_a_mebibyte_is_refused_once),
		cmocka_unit_test(a_descriptor_that_cannot_be_read_ends_the_trace),
		cmocka_unit_test(traces_are_told_from_other_texts),
	};
	int failed = cmocka_run_group_tests_name("text_trace", tests, NULL, NULL);
	tdm_input_close(input);
	return failed;
}
