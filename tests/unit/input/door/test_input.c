/*
 * Inputs: files, pipes and memory, compressed in every known way, also nested, whole, cut or damaged; read in pieces of
 * every size; rewound, copied and searched.
 */
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

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { TEXT_LEN = 300000, PACKED_CAP = 1 << 20 };

struct bytes {
	char *data;
	size_t len, cap;
};

static void add(struct bytes *to, const void *data, size_t len)
{
	if (to->len + len >= to->cap) {
		to->cap = 2 * (to->len + len) + 1;
		to->data = realloc(to->data, to->cap);
	}
	assert_non_null(to->data);
	memcpy(to->data + to->len, data, len);
	to->len += len;
}

/* Text that does not pack too well. */
static struct bytes make_text(size_t len)
{
	struct bytes text = { 0 };
	uint32_t seed = 1;
	while (text.len < len) {
		char line[64];
		seed = seed * 1103515245 + 12345;
		add(&text, line, (size_t)snprintf(line, sizeof line, "line %zu says %u\n", text.len, seed >> 8));
	}
	text.len = len;
	return text;
}

static struct bytes gzip(const void *data, size_t len)
{
	struct bytes out = { malloc(PACKED_CAP), 0, PACKED_CAP };
	z_stream z = { 0 };
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)len;
	z.next_out = (Bytef *)out.data;
	z.avail_out = PACKED_CAP;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out.len = z.total_out;
	deflateEnd(&z);
	return out;
}

static struct bytes xz(const void *data, size_t len)
{
	struct bytes out = { malloc(PACKED_CAP), 0, PACKED_CAP };
	assert_int_equal(lzma_easy_buffer_encode(
				 6, LZMA_CHECK_CRC64, NULL, data, len, (uint8_t *)out.data, &out.len, PACKED_CAP),
		LZMA_OK);
	return out;
}

static struct bytes zstd(const void *data, size_t len)
{
	struct bytes out = { malloc(PACKED_CAP), 0, PACKED_CAP };
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	out.len = ZSTD_compress2(context, out.data, PACKED_CAP, data, len);
	assert_false(ZSTD_isError(out.len));
	ZSTD_freeCCtx(context);
	return out;
}

typedef struct bytes (*packer)(const void *data, size_t len);
static const packer packers[] = { gzip, xz, zstd };
static const char *const packer_names[] = { "gzip", "xz", "zstd" };

/* Everything in pieces of `cap` bytes; the code that ended it. */
static int read_all(struct tdm_input *in, size_t cap, struct bytes *out)
{
	char *piece = malloc(cap);
	ssize_t got;
	assert_non_null(piece);
	*out = (struct bytes){ 0 };
	add(out, "", 0);
	while ((got = tdm_input_read(in, piece, cap)) > 0)
		add(out, piece, (size_t)got);
	assert_int_equal(tdm_input_read(in, piece, cap), got); /* the end, or the error, stays */
	free(piece);
	return (int)got;
}

static void assert_reads(const char *data, size_t len, size_t cap, const char *expected, size_t expected_len)
{
	struct tdm_input *in = tdm_input_memory("memory", data, len);
	struct bytes out;
	assert_non_null(in);
	assert_int_equal(read_all(in, cap, &out), 0);
	assert_int_equal(out.len, expected_len);
	assert_memory_equal(out.data, expected, expected_len);
	free(out.data);
	tdm_input_close(in);
}

static void plain_bytes_come_as_they_are(void **state)
{
	(void)state;
	struct bytes text = make_text(TEXT_LEN);
	static const size_t caps[] = { 1, 7, 4096, 65536, 1 << 20 };
	for (size_t i = 0; i < sizeof caps / sizeof *caps; i++)
		assert_reads(text.data, text.len, caps[i], text.data, text.len);
	assert_reads("", 0, 16, "", 0);
	assert_reads("x", 1, 16, "x", 1);
	free(text.data);
}

static void every_packing_is_taken_off(void **state)
{
	(void)state;
	struct bytes text = make_text(TEXT_LEN);
	static const size_t caps[] = { 3, 4096, 1 << 20 };
	for (size_t i = 0; i < 3; i++) {
		struct bytes packed = packers[i](text.data, text.len), none = packers[i]("", 0);
		struct tdm_input *in = tdm_input_memory("memory", packed.data, packed.len);
		assert_string_equal(tdm_input_packing(in), packer_names[i]);
		tdm_input_close(in);
		for (size_t k = 0; k < sizeof caps / sizeof *caps; k++)
			assert_reads(packed.data, packed.len, caps[k], text.data, text.len);
		assert_reads(none.data, none.len, 16, "", 0);
		for (size_t k = 0; k < 3; k++) { /* in each other */
			struct bytes twice = packers[k](packed.data, packed.len);
			assert_reads(twice.data, twice.len, 4096, text.data, text.len);
			free(twice.data);
		}
		add(&none, packed.data, packed.len); /* one after the other */
		add(&none, packed.data, packed.len);
		struct bytes both = { 0 };
		add(&both, text.data, text.len);
		add(&both, text.data, text.len);
		assert_reads(none.data, none.len, 4096, both.data, both.len);
		free(both.data);
		free(none.data);
		free(packed.data);
	}
	free(text.data);
}

static void zeros_after_gzip_are_none_of_it(void **state)
{
	(void)state;
	struct bytes packed = gzip("text", 4);
	add(&packed, "\0\0\0\0\0", 5);
	assert_reads(packed.data, packed.len, 64, "text", 4);
	free(packed.data);
}

/* What came before is given, and the reason names the byte. */
static void assert_fails(struct bytes packed, const char *text, const char *why)
{
	struct tdm_input *in = tdm_input_memory("memory", packed.data, packed.len);
	struct bytes out;
	struct tdm_diag diag = { 0 };
	int err = read_all(in, 4096, &out);
	assert_true(err < 0);
	assert_memory_equal(out.data, text, out.len < TEXT_LEN / 3 ? out.len : TEXT_LEN / 3);
	if (strstr(tdm_input_why(in), why) == NULL)
		fail_msg("'%s' is not in '%s'", why, tdm_input_why(in));
	assert_int_equal(tdm_input_failed(in, err, 0, &diag), err);
	assert_memory_equal(diag.text, "cannot read on: the ", 20);
	free(out.data);
	tdm_input_close(in);
}

static void cut_and_damaged_data_is_used_up_to_there(void **state)
{
	(void)state;
	struct bytes text = make_text(TEXT_LEN);
	for (size_t i = 0; i < 3; i++) {
		struct bytes packed = packers[i](text.data, text.len);
		char why[80];
		size_t lens[] = { 20, packed.len / 2, packed.len - 1 };
		for (size_t k = 0; k < 3; k++) {
			snprintf(why, sizeof why, "the %s data ends too early, at byte %zu", packer_names[i], lens[k]);
			if (k < 2 || i != 1) /* of xz the last byte is part of an index */
				assert_fails((struct bytes){ packed.data, lens[k], 0 }, text.data, why);
		}
		memset(packed.data + packed.len / 2, '?', 64);
		snprintf(why, sizeof why, "the %s data is damaged, at byte ", packer_names[i]);
		assert_fails(packed, text.data, why);
		free(packed.data);
	}
	struct bytes packed = gzip(text.data, 1000);
	add(&packed, "rubbish after it", 16);
	assert_fails(packed, text.data, "the gzip data is damaged");
	free(packed.data);
	free(text.data);
}

static void what_needs_too_much_memory_is_refused(void **state)
{
	(void)state;
	struct bytes out = { malloc(PACKED_CAP), 0, PACKED_CAP };
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
	ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 28);
	ZSTD_outBuffer to = { out.data, PACKED_CAP, 0 };
	ZSTD_inBuffer from = { "text", 4, 0 };
	assert_false(
		ZSTD_isError(ZSTD_compressStream2(context, &to, &from, ZSTD_e_flush))); /* the size is not known yet */
	assert_int_equal(ZSTD_compressStream2(context, &to, &from, ZSTD_e_end), 0);
	out.len = to.pos;
	assert_fails(out, "", "the zstd data needs more than 128 MiB of memory to be unpacked, at byte ");
	ZSTD_freeCCtx(context);
	free(out.data);
}

/* A gigabyte of zeros in a few kilobytes, packed again: memory does not grow. */
static void a_bomb_costs_no_memory(void **state)
{
	(void)state;
	enum { MIB = 1 << 20, COUNT = 256 };
	struct bytes bomb = { 0 }, zeros = { calloc(1, MIB), MIB, MIB };
	for (int i = 0; i < COUNT; i++) {
		struct bytes piece = gzip(zeros.data, zeros.len);
		add(&bomb, piece.data, piece.len);
		free(piece.data);
	}
	struct bytes twice = zstd(bomb.data, bomb.len);
	struct tdm_input *in = tdm_input_memory("bomb", twice.data, twice.len);
	struct rusage before, after;
	uint64_t all = 0;
	ssize_t got;
	getrusage(RUSAGE_SELF, &before);
	while ((got = tdm_input_read(in, zeros.data, zeros.len)) > 0)
		all += (uint64_t)got;
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(got, 0);
	assert_int_equal(all, (uint64_t)MIB * COUNT);
	assert_true(after.ru_maxrss - before.ru_maxrss < 32 << 10);
	tdm_input_close(in);
	free(twice.data);
	free(bomb.data);
	free(zeros.data);
}

/* One that holds itself, and so on: only so many levels are unpacked, and then it is an error. */
static void levels_are_bounded(void **state)
{
	(void)state;
	struct bytes packed = gzip("text", 4);
	for (int i = 0; i < 10; i++) {
		struct bytes more = gzip(packed.data, packed.len);
		free(packed.data);
		packed = more;
	}
	struct tdm_input *in = tdm_input_memory("memory", packed.data, packed.len);
	char byte;
	assert_int_equal(tdm_input_head(in).len, 0);
	assert_int_equal(tdm_input_read(in, &byte, 1), TDM_ECORRUPT);
	assert_string_equal(tdm_input_why(in), "it is packed too many times");
	tdm_input_close(in);
	free(packed.data);
}

static struct bytes utf16(const uint16_t *units, size_t count, bool big)
{
	struct bytes out = { 0 };
	for (size_t i = 0; i < count; i++) {
		char pair[] = { (char)(units[i] & 0xff), (char)(units[i] >> 8), (char)(units[i] & 0xff) };
		add(&out, big ? pair + 1 : pair, 2);
	}
	return out;
}

static void utf16_becomes_utf8(void **state)
{
	(void)state;
	static const uint16_t units[] = { 0xfeff, '[', 'P', 'I', 'D', ' ', '4', '2', ']', ' ', 0x2713, ' ', 0xe9,
		0xd83d, 0xde00, '!', 0xfeff, '\r', '\n', 'a', 'b', 'c', 'd', 'e', 'f' };
	static const char text[] = "[PID 42] \u2713 \u00e9\U0001f600!\ufeff\r\nabcdef";
	size_t count = sizeof units / sizeof *units;
	for (int big = 0; big < 2; big++)
		for (int mark = 0; mark < 2; mark++) {
			struct bytes wide = utf16(units + !mark, count - !mark, big),
				     packed = gzip(wide.data, wide.len);
			assert_reads(wide.data, wide.len, 4096, text, sizeof text - 1);
			assert_reads(wide.data, wide.len, 1, text, sizeof text - 1);
			assert_reads(packed.data, packed.len, 5, text, sizeof text - 1);
			struct tdm_input *in = tdm_input_memory("memory", wide.data, wide.len);
			assert_null(tdm_input_packing(in)); /* it may grow */
			tdm_input_close(in);
			free(wide.data);
			free(packed.data);
		}
	static const uint16_t mark[] = { 0xfeff };
	struct bytes none = utf16(mark, 1, false);
	assert_reads(none.data, none.len, 64, "", 0);
	free(none.data);
}

static void half_pairs_are_replaced(void **state)
{
	(void)state;
	static const uint16_t units[] = { 0xfeff, 0xd83d, 'a', 0xde00, 0xd83d, 0xd83d, 0xde00 };
	static const char text[] = "\ufffda\ufffd\ufffd\U0001f600";
	struct bytes wide = utf16(units, sizeof units / sizeof *units, true);
	assert_reads(wide.data, wide.len, 4096, text, sizeof text - 1);
	assert_reads(wide.data, wide.len, 2, text, sizeof text - 1);
	struct tdm_input *in = tdm_input_memory("memory", wide.data, wide.len - 1);
	struct bytes out;
	assert_int_equal(read_all(in, 100, &out), TDM_ECORRUPT);
	assert_string_equal(tdm_input_why(in), "the UTF-16 data ends too early, at byte 12");
	free(out.data);
	tdm_input_close(in);
	free(wide.data);
}

/* A file of the test's own. */
static void write_file(char *path, struct bytes bytes)
{
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(tdm_file_write_all(fd, bytes.data, bytes.len), 0);
	close(fd);
}

/* Whoever writes into the pipe; the descriptor to read from. */
static int pipe_of(struct bytes bytes, pid_t *writer)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	*writer = fork();
	if (*writer == 0) {
		close(ends[0]);
		_exit(tdm_file_write_all(ends[1], bytes.data, bytes.len) != 0);
	}
	close(ends[1]);
	return ends[0];
}

static struct tdm_input *open_fd(int fd)
{
	struct tdm_input *in = input_of_fd(fd);
	close(fd);
	return in;
}

static void a_packed_file_is_rewound_and_searched(void **state)
{
	(void)state;
	char path[] = "/tmp/tidemark-test-XXXXXX";
	struct bytes text = make_text(TEXT_LEN), packed = xz(text.data, text.len), out;
	struct tdm_input *in;
	struct tdm_progress progress;
	write_file(path, packed);
	assert_int_equal(tdm_input_open(path, &in), 0);
	tdm_progress_begin(&progress, "reading", 0);
	tdm_input_progress(in, &progress);
	assert_int_equal(tdm_input_keep(in, NULL), 0);
	assert_true(tdm_input_find(in, "line 299"));
	assert_int_equal(tdm_input_rewind(in), 0);
	assert_false(tdm_input_find(in, "no such text"));
	assert_int_equal(tdm_input_rewind(in), 0);
	assert_int_equal(read_all(in, 1000, &out), 0);
	assert_int_equal(out.len, text.len);
	assert_memory_equal(out.data, text.data, text.len);
	assert_int_equal(progress.done, packed.len); /* of the file, not of what is in it */
	assert_int_equal(progress.total, packed.len);
	free(out.data);
	tdm_input_close(in);
	unlink(path);
	free(packed.data);
	free(text.data);
}

static void a_pipe_is_rewound_from_its_copy(void **state)
{
	(void)state;
	struct bytes text = make_text(TEXT_LEN), packed = gzip(text.data, text.len), out;
	const struct bytes both[] = { text, packed };
	for (int i = 0; i < 2; i++)
		for (int whole = 0; whole < 2; whole++) { /* the first time only a part of it is read */
			pid_t writer;
			struct tdm_input *in = open_fd(pipe_of(both[i], &writer));
			assert_true(tdm_input_head(in).len == TDM_INPUT_HEAD);
			assert_int_equal(tdm_input_keep(in, NULL), 0);
			assert_int_equal(tdm_input_find(in, whole ? "no such text" : "line 1999"), !whole);
			assert_int_equal(tdm_input_rewind(in), 0);
			assert_int_equal(read_all(in, 12345, &out), 0);
			assert_int_equal(out.len, text.len);
			assert_memory_equal(out.data, text.data, text.len);
			free(out.data);
			tdm_input_close(in);
			assert_int_equal(waitpid(writer, NULL, 0), writer);
		}
	pid_t writer;
	struct tdm_diag diag = { 0 };
	char piece[100];
	struct tdm_input *in = open_fd(pipe_of(text, &writer));
	for (int i = 0; i < 1000; i++)
		assert_true(tdm_input_read(in, piece, sizeof piece) > 0);
	assert_int_equal(tdm_input_keep(in, &diag), -ESPIPE); /* too late */
	assert_int_equal(tdm_input_rewind(in), -ESPIPE);
	tdm_input_close(in);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	free(packed.data);
	free(text.data);
}

static void assert_file(struct tdm_input *in, struct bytes text)
{
	char byte;
	uint64_t len;
	int fd = tdm_input_file(in, &len, NULL);
	assert_true(fd >= 0);
	assert_int_equal(len, text.len);
	for (size_t at = text.len; at-- > 0; at -= at % 1000) {
		assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
		assert_int_equal(byte, text.data[at]);
	}
	tdm_input_close(in);
}

static void all_bytes_can_be_read_anywhere(void **state)
{
	(void)state;
	char path[] = "/tmp/tidemark-test-XXXXXX";
	struct bytes text = make_text(TEXT_LEN), packed = zstd(text.data, text.len);
	struct tdm_input *in;
	pid_t writer;
	write_file(path, text);
	assert_int_equal(tdm_input_open(path, &in), 0);
	assert_file(in, text);
	unlink(path);
	assert_file(tdm_input_memory("memory", packed.data, packed.len), text);
	assert_file(open_fd(pipe_of(packed, &writer)), text);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	struct tdm_diag diag = { 0 };
	uint64_t len;
	in = tdm_input_memory("memory", packed.data, packed.len / 2);
	assert_int_equal(tdm_input_file(in, &len, &diag), TDM_ECORRUPT);
	assert_non_null(strstr(diag.text, "the zstd data ends too early, at byte "));
	tdm_input_close(in);
	free(packed.data);
	free(text.data);
}

static void a_fifo_gives_pieces_of_any_size(void **state)
{
	(void)state;
	char folder[] = "/tmp/tidemark-test-XXXXXX", path[64];
	struct bytes text = make_text(TEXT_LEN), packed = xz(text.data, text.len), out;
	struct tdm_input *in;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	pid_t writer = fork();
	if (writer == 0) {
		int fd = open(path, O_WRONLY);
		for (size_t at = 0; at < packed.len; at += 777)
			tdm_file_write_all(fd, packed.data + at, packed.len - at < 777 ? packed.len - at : 777);
		_exit(0);
	}
	assert_int_equal(tdm_input_open(path, &in), 0);
	assert_int_equal(read_all(in, 4096, &out), 0);
	assert_int_equal(out.len, text.len);
	assert_memory_equal(out.data, text.data, text.len);
	free(out.data);
	tdm_input_close(in);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	unlink(path);
	rmdir(folder);
	free(packed.data);
	free(text.data);
}

static void a_file_may_grow_or_be_replaced(void **state)
{
	(void)state;
	char path[] = "/tmp/tidemark-test-XXXXXX", piece[64];
	struct tdm_input *in;
	write_file(path, (struct bytes){ NULL, 0, 0 });
	assert_int_equal(tdm_input_open(path, &in), 0);
	assert_int_equal(tdm_input_read(in, piece, sizeof piece), 0);
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tdm_file_write_all(fd, "more\n", 5), 0);
		assert_int_equal(tdm_input_read(in, piece, sizeof piece), 5);
		assert_int_equal(tdm_input_read(in, piece, sizeof piece), 0);
	}
	assert_false(tdm_input_has_changed(in));
	assert_int_equal(ftruncate(fd, 3), 0);
	assert_true(tdm_input_has_changed(in));
	close(fd);
	unlink(path);
	assert_false(tdm_input_has_changed(in)); /* it may come again */
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(tdm_input_has_changed(in));
	close(fd);
	unlink(path);
	tdm_input_close(in);
}

static void folders_and_what_is_not_there(void **state)
{
	(void)state;
	struct tdm_input *in, *again;
	char piece[64];
	assert_int_equal(tdm_input_open("/tmp/no/such/file", &in), -ENOENT);
	assert_null(in);
	assert_int_equal(tdm_input_open("/tmp", &in), 0);
	assert_int_equal(tdm_input_open("/tmp/.", &again), 0);
	assert_true(tdm_input_is_folder(in) && tdm_input_is_same(in, again));
	assert_int_equal(tdm_input_read(in, piece, sizeof piece), -EISDIR);
	assert_string_equal(tdm_input_why(in), "Is a directory");
	assert_int_equal(tdm_input_head(in).len, 0);
	tdm_input_close(in);
	tdm_input_close(again);
	tdm_input_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_bytes_come_as_they_are),
		cmocka_unit_test(every_packing_is_taken_off),
		cmocka_unit_test(zeros_after_gzip_are_none_of_it),
		cmocka_unit_test(cut_and_damaged_data_is_used_up_to_there),
		cmocka_unit_test(what_needs_too_much_memory_is_refused),
		cmocka_unit_test(a_bomb_costs_no_memory),
		cmocka_unit_test(levels_are_bounded),
		cmocka_unit_test(utf16_becomes_utf8),
		cmocka_unit_test(half_pairs_are_replaced),
		cmocka_unit_test(a_packed_file_is_rewound_and_searched),
		cmocka_unit_test(a_pipe_is_rewound_from_its_copy),
		cmocka_unit_test(all_bytes_can_be_read_anywhere),
		cmocka_unit_test(a_fifo_gives_pieces_of_any_size),
		cmocka_unit_test(a_file_may_grow_or_be_replaced),
		cmocka_unit_test(folders_and_what_is_not_there),
	};
	return cmocka_run_group_tests_name("input", tests, NULL, NULL);
}
