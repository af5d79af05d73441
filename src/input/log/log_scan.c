/*
 * Finds the lines of a log that may be about memory, without examining each line. Every relevant line contains one of a
 * small set of markers ("SHM ", "CB0", "Out of Memory"). The input is searched in blocks, for four bytes of each marker
 * and for all markers at once, using vector instructions if available. The ends of a line are searched for only around
 * a hit. Newlines are counted in the same pass. docs/decisions/log.md gives the reasons.
 *
 * Memory is bounded: only the beginning of a line longer than TDM_LOG_LINE_MAX is kept, and the line is reported as
 * truncated.
 */
#include "input/log/log_reader.h"
#include "base/err.h"
#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
	READ_BYTES = 1 << 18, /* bytes per read; fits in the processor's cache */
	PIECE = 4,            /* bytes of a marker to search for */
	HASHES = 1024,
	PAD = 64, /* how far the search may read past the window's end */
	BEFORE_MAX = 4096,
	AFTER_MAX = 2048,
	PEEK_BYTES = 1 << 16,
	WINDOW = TDM_LOG_LINE_MAX + READ_BYTES,
};

/* A marker: a string contained in all lines of one type. '?' matches anything that may follow the letters CB: a
 * digit or one of " [_:#(="; '.' matches any byte. The search looks for the PIECE bytes at offset `at`, chosen
 * because they are rare. */
struct marker {
	const char *text;
	uint8_t at;
	uint8_t bucket;
	bool any_case;
	bool word; /* must not be preceded by a letter or digit */
};

static const struct marker markers[];

/* For each position in a piece, and for each lower and upper half of a byte: the buckets of markers that allow such
 * a byte there. An offset in the input is a candidate if the four bytes starting there have a bucket in common. */
struct tdm_log_tables {
	_Alignas(16) uint8_t low[PIECE][16], high[PIECE][16];
	uint8_t byte[PIECE][256]; /* both halves together, for processors without AVX2 */
	/* Sets of markers (one bit each) by the hash of the first three bytes of their pieces. The half-byte test
	 * lets many false candidates through, but this set is empty for nearly all of them. */
	uint64_t by_hash[HASHES];
};

static bool follows_cb(unsigned char c)
{
	return isdigit(c) || (c != '\0' && strchr(" [_:#(=", c) != NULL);
}

static bool fits(char wanted, bool any_case, unsigned char c)
{
	if (wanted == '.')
		return true;
	if (wanted == '?')
		return follows_cb(c);
	return (unsigned char)wanted == c || (any_case && tolower((unsigned char)wanted) == tolower(c));
}

static void allow(struct tdm_log_tables *t, size_t place, unsigned char c, uint8_t bucket)
{
	t->low[place][c & 15] |= bucket;
	t->high[place][c >> 4] |= bucket;
	t->byte[place][c] |= bucket;
}

/* Hash of three bytes, ignoring case. */
static inline size_t hash_of(const char *piece)
{
	uint32_t bytes;
	memcpy(&bytes, piece, sizeof bytes);
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		bytes = __builtin_bswap32(bytes);
	return (bytes << 8 | 0x20202000U) * UINT32_C(0x9e3779b1) >> 22; /* a hash of ten bits */
}

static void hash_marker(struct tdm_log_tables *t, const struct marker *m)
{
	char piece[PIECE];
	memcpy(piece, m->text + m->at, PIECE);
	for (unsigned c = 0; c < 256; c++)
		if (fits(m->text[m->at + 2], m->any_case, (unsigned char)c)) {
			piece[2] = (char)c;
			t->by_hash[hash_of(piece)] |= UINT64_C(1) << (m - markers);
		}
}

static void make_tables(struct tdm_log_tables *t)
{
	memset(t, 0, sizeof *t);
	for (const struct marker *m = markers; m->text != NULL; m++) {
		hash_marker(t, m);
		for (size_t place = 0; place < PIECE; place++) {
			unsigned char wanted = (unsigned char)m->text[m->at + place];
			uint8_t bucket = (uint8_t)(1U << m->bucket);
			if (wanted == '?' || wanted == '.') {
				for (unsigned c = 0; c < 256; c++)
					if (fits((char)wanted, m->any_case, (unsigned char)c))
						allow(t, place, (unsigned char)c, bucket);
				continue;
			}
			allow(t, place, wanted, bucket);
			if (m->any_case) {
				allow(t, place, (unsigned char)tolower(wanted), bucket);
				allow(t, place, (unsigned char)toupper(wanted), bucket);
			}
		}
	}
}

static size_t find_portable(
	const struct tdm_log_tables *t, const char *data, size_t from, size_t to, uint64_t *newlines)
{
	const unsigned char *p = (const unsigned char *)data;
	uint64_t count = 0;
	size_t at = from;
	for (; at < to; at++) {
		unsigned both = t->byte[0][p[at]] & t->byte[1][p[at + 1]];
		if (both != 0 && (both & t->byte[2][p[at + 2]] & t->byte[3][p[at + 3]]) != 0 &&
			t->by_hash[hash_of(data + at)] != 0)
			break;
		count += p[at] == '\n';
	}
	*newlines += count;
	return at;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static inline __m256i look_up(
	const uint8_t low[16], const uint8_t high[16], __m256i bytes)
{
	const __m256i half = _mm256_set1_epi8(15);
	__m256i by_low = _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)low));
	__m256i by_high = _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)high));
	__m256i lower = _mm256_and_si256(bytes, half);
	__m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
	return _mm256_and_si256(_mm256_shuffle_epi8(by_low, lower), _mm256_shuffle_epi8(by_high, upper));
}

__attribute__((target("avx2"))) static size_t find_avx2(
	const struct tdm_log_tables *t, const char *data, size_t from, size_t to, uint64_t *newlines)
{
	enum { WIDTH = 32 };
	const __m256i newline = _mm256_set1_epi8('\n');
	uint64_t count = 0;
	size_t at = from;
	for (; at < to; at += WIDTH) {
		__m256i first = _mm256_loadu_si256((const __m256i *)(const void *)(data + at));
		__m256i buckets = look_up(t->low[0], t->high[0], first);
		for (size_t place = 1; place < PIECE; place++) {
			__m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(data + at + place));
			buckets = _mm256_and_si256(buckets, look_up(t->low[place], t->high[place], bytes));
		}
		unsigned none = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(buckets, _mm256_setzero_si256()));
		unsigned ends = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(first, newline));
		unsigned inside = to - at >= WIDTH ? ~0U : (1U << (to - at)) - 1;
		for (unsigned hits = ~none & inside; hits != 0; hits &= hits - 1) {
			unsigned hit = (unsigned)__builtin_ctz(hits);
			if (t->by_hash[hash_of(data + at + hit)] == 0)
				continue;
			count += (unsigned)__builtin_popcount(ends & ((1U << hit) - 1));
			*newlines += count;
			return at + hit;
		}
		count += (unsigned)__builtin_popcount(ends & inside);
	}
	*newlines += count;
	return to;
}
#endif

void tdm_log_scan_open(struct tdm_log_scan *scan, struct tdm_reader reader)
{
	*scan = (struct tdm_log_scan){ .reader = reader, .cap = WINDOW, .find = find_portable };
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		scan->find = find_avx2;
#endif
	scan->data = tdm_alloc(WINDOW + PAD);
	scan->tables = aligned_alloc(_Alignof(struct tdm_log_tables), sizeof *scan->tables);
	if (scan->tables == NULL)
		tdm_out_of_memory();
	memset(scan->data + WINDOW, 0, PAD);
	make_tables(scan->tables);
}

void tdm_log_scan_done(struct tdm_log_scan *scan)
{
	free(scan->data);
	free(scan->tables);
	*scan = (struct tdm_log_scan){ .eof = true };
}

void tdm_log_scan_restart(struct tdm_log_scan *scan, struct tdm_reader reader)
{
	scan->reader = reader;
	scan->at = scan->complete = scan->end = 0;
	scan->lines = scan->bytes = 0;
	scan->eof = scan->skipping = false;
	scan->skipped = 0;
	scan->failed = 0;
}

uint64_t tdm_log_scan_lines(const struct tdm_log_scan *scan)
{
	bool partial = scan->skipping || (scan->at != 0 && scan->data[scan->at - 1] != '\n');
	return scan->lines + partial;
}

void tdm_log_scan_portable(struct tdm_log_scan *scan)
{
	scan->find = find_portable;
}

/* Moves the unread bytes to the front, keeping some bytes before them, and reads more. Returns whether more arrived. */
static bool refill(struct tdm_log_scan *scan)
{
	size_t kept = scan->at < BEFORE_MAX ? scan->at : BEFORE_MAX, gone = scan->at - kept, left = scan->end - gone;
	if (gone != 0)
		memmove(scan->data, scan->data + gone, left);
	scan->bytes += gone;
	scan->at = kept;
	scan->complete -= gone;
	scan->end = left;
	size_t room = scan->cap - left < READ_BYTES ? scan->cap - left : READ_BYTES;
	ssize_t got = scan->skipped > TDM_ZEROS_MAX ? TDM_EENDLESS
						    : scan->reader.read(scan->reader.from, scan->data + left, room);
	if (got > 0 && tdm_is_endless_noise(&scan->noise, scan->data + left, (size_t)got))
		got = TDM_EENDLESS;
	if (got < 0) {
		scan->eof = true;
		scan->follow = false;
		scan->end = scan->complete;
		scan->failed = (int)got; /* the error is reported after the lines already read */
		return false;
	}
	scan->end += (size_t)got;
	if (got == 0 && !scan->follow) {
		scan->eof = true;
		scan->complete = scan->end;
		return false;
	}
	const char *newline = got > 0 ? memrchr(scan->data + left, '\n', (size_t)got) : NULL;
	if (newline != NULL)
		scan->complete = (size_t)(newline - scan->data) + 1;
	return got > 0;
}

/* Skips the rest of a truncated line. Returns whether the line's end was in the window. */
static bool skip_rest(struct tdm_log_scan *scan)
{
	const char *newline = memchr(scan->data + scan->at, '\n', scan->end - scan->at);
	scan->skipped += newline == NULL ? tdm_endless_cost(scan->data + scan->at, scan->end - scan->at) : 0;
	if (newline == NULL) {
		scan->at = scan->complete = scan->end;
		return false;
	}
	scan->skipped = 0;
	scan->at = (size_t)(newline - scan->data) + 1;
	scan->complete = scan->complete > scan->at ? scan->complete : scan->at;
	scan->lines++;
	scan->skipping = false;
	return true;
}

static void set_line(struct tdm_log_scan *scan, size_t begin, size_t end, struct tdm_log_line *line)
{
	size_t before = begin < BEFORE_MAX ? begin : BEFORE_MAX;
	line->text = tdm_str_line(scan->data + begin, end - begin);
	line->before = (struct tdm_str){ scan->data + begin - before, before };
	line->after = (struct tdm_str){ "", 0 };
	line->number = scan->lines + 1;
}

/* Returns the line around `hit` and moves past the line. `floor`, at or before `hit`, is the beginning of some line. */
static int give_line(struct tdm_log_scan *scan, size_t floor, size_t hit, struct tdm_log_line *line)
{
	const char *before = memrchr(scan->data + floor, '\n', hit - floor);
	size_t begin = before != NULL ? (size_t)(before - scan->data) + 1 : floor;
	const char *newline = memchr(scan->data + hit, '\n', scan->complete - hit);
	size_t end = newline != NULL ? (size_t)(newline - scan->data) : scan->complete;
	if (end - begin > TDM_LOG_LINE_MAX) {
		set_line(scan, begin, begin + TDM_LOG_LINE_MAX, line);
		scan->cut_lines++;
	} else {
		set_line(scan, begin, end, line);
	}
	scan->at = newline != NULL ? end + 1 : end;
	scan->lines += newline != NULL;
	size_t after = scan->complete - scan->at;
	line->after = (struct tdm_str){ scan->data + scan->at, after < AFTER_MAX ? after : AFTER_MAX };
	return end - begin > TDM_LOG_LINE_MAX ? -EMSGSIZE : 1;
}

/* Whether the bytes at `at` belong to a marker. */
static bool has_marker(const struct tdm_log_scan *scan, size_t floor, size_t at)
{
	for (uint64_t set = scan->tables->by_hash[hash_of(scan->data + at)]; set != 0; set &= set - 1) {
		const struct marker *m = &markers[__builtin_ctzll(set)];
		size_t i = 0;
		if (at - floor < m->at)
			continue;
		const char *begin = scan->data + at - m->at;
		while (m->text[i] != '\0' && begin + i < scan->data + scan->complete &&
			fits(m->text[i], m->any_case, (unsigned char)begin[i]))
			i++;
		if (m->text[i] != '\0' && m->text[i] != '.')
			continue;
		if (!m->word || begin == scan->data + floor || !isalnum((unsigned char)begin[-1]))
			return true;
	}
	return false;
}

/* Whether the window has too few bytes after the line around `hit` although more can be read. If so, goes back to
 * the beginning of the line, so that the line is found again. */
static bool wait_for_more(struct tdm_log_scan *scan, size_t floor, size_t hit)
{
	if (scan->eof || scan->follow || scan->prompt || scan->complete - hit >= AFTER_MAX)
		return false;
	const char *newline = memrchr(scan->data + floor, '\n', hit - floor);
	size_t begin = newline != NULL ? (size_t)(newline - scan->data) + 1 : floor;
	if (scan->end - begin > TDM_LOG_LINE_MAX / 2)
		return false;
	scan->at = begin;
	return true;
}

/* The next complete line in the window. */
static int next_whole(struct tdm_log_scan *scan, bool every, struct tdm_log_line *line)
{
	size_t floor = scan->at;
	if (every && scan->at < scan->complete)
		return give_line(scan, floor, scan->at, line);
	while (scan->at < scan->complete) {
		size_t hit = scan->find(scan->tables, scan->data, scan->at, scan->complete, &scan->lines);
		if (hit != scan->complete && has_marker(scan, floor, hit))
			return wait_for_more(scan, floor, hit) ? 0 : give_line(scan, floor, hit, line);
		scan->at = hit;
		if (hit != scan->complete) {
			scan->lines += scan->data[hit] == '\n';
			scan->at++;
		}
	}
	return 0;
}

/* Returns the beginning of a line that fills the window without ending in it. */
static int cut_line(struct tdm_log_scan *scan, struct tdm_log_line *line)
{
	set_line(scan, scan->at, scan->at + TDM_LOG_LINE_MAX, line);
	scan->at = scan->complete = scan->end;
	scan->skipping = true;
	scan->cut_lines++;
	return -EMSGSIZE;
}

int tdm_log_scan_next(struct tdm_log_scan *scan, bool every, struct tdm_log_line *line)
{
	for (;;) {
		if (scan->skipping && scan->at < scan->end)
			skip_rest(scan);
		int got = next_whole(scan, every, line);
		if (got != 0)
			return got;
		if (scan->eof) {
			got = scan->failed;
			scan->failed = 0;
			return got;
		}
		if (!scan->skipping && scan->end - scan->at > TDM_LOG_LINE_MAX)
			return cut_line(scan, line);
		if (!refill(scan) && scan->follow)
			return 0;
	}
}

struct tdm_str tdm_log_scan_peek(struct tdm_log_scan *scan)
{
	ssize_t got = 1;
	while (scan->end < scan->cap && scan->end < PEEK_BYTES && got > 0) {
		size_t room = scan->cap - scan->end;
		got = scan->reader.read(
			scan->reader.from, scan->data + scan->end, room < READ_BYTES ? room : READ_BYTES);
		scan->end += got > 0 ? (size_t)got : 0; /* the next read will report the same end or error again */
	}
	const char *newline = memrchr(scan->data, '\n', scan->end);
	scan->complete = newline != NULL ? (size_t)(newline - scan->data) + 1 : 0;
	return (struct tdm_str){ scan->data, scan->end };
}

/* Of the many pieces and buckets tried, these produced the fewest candidates in logs and other texts about memory:
 * rare pieces, each in a bucket with pieces that have the same half bytes. */
static const struct marker markers[] = {
	{ "cb?.", 0, 0, true, true },
	{ "ernel ", 2, 6, true, false },
	{ "SHM ", 0, 6, false, false },
	{ "orker L1 size", 1, 1, false, false },
	{ "[PID ", 0, 2, false, false },
	{ "from PID ", 2, 3, false, false },
	{ "REMAINING ALLOCATED", 2, 2, false, false },
	{ "ut of mem", 3, 4, true, false },
	{ "race buffer at addr", 2, 3, false, false },
	{ "RISC=", 1, 7, false, false },
	{ "ircular buf", 4, 4, false, false },
	{ "unsafe due", 3, 4, false, false },
	{ "ot enough", 5, 3, true, false },
	{ "xceed", 0, 7, true, false },
	{ "verflow", 3, 2, true, false },
	{ "not fit", 1, 3, true, false },
	{ "n't fit", 1, 3, true, false },
	{ "oo large", 1, 6, true, false },
	{ "oo big", 0, 3, true, false },
	{ "nsufficient", 3, 6, true, false },
	{ " clash", 2, 4, true, false },
	{ "arger than", 1, 1, true, false },
	{ "beyond", 2, 7, true, false },
	{ "ot allocate", 1, 5, true, false },
	{ "to allocate", 1, 5, true, false },
	{ "bad_alloc", 0, 2, false, false },
	{ "ocal buffers", 5, 3, false, false },
	{ "tiles_per_shard", 1, 2, false, false },
	{ "flow buf", 2, 3, false, false },
	{ "emory state", 0, 1, false, false },
	{ "num_tiles=", 1, 1, false, false },
	{ "erification", 2, 6, true, false },
	{ "ismatch", 1, 7, true, false },
	{ "core grid", 3, 1, true, false },
	{ "stack usage", 4, 1, false, false },
	{ "Dump #", 2, 0, false, false },
	{ "rogram size (", 5, 5, false, false },
	{ "partition params:", 12, 1, false, false },
	{ "[KERNEL_", 0, 1, false, false },
	{ "race buffers of size", 2, 3, false, false },
	{ " op: ", 1, 5, false, false },
	{ "A tiles", 3, 2, false, false },
	{ "B tiles", 3, 2, false, false },
	{ "rogram Config", 5, 5, false, false },
	{ "within region", 9, 4, false, false },
	{ "xhausted", 0, 2, true, false },
	{ "out of L1", 5, 6, true, false },
	{ "out of DRAM", 4, 4, true, false },
	{ "no space", 1, 5, true, false },
	{ "location fail", 6, 3, true, false },
	{ "not be allocated", 1, 3, true, false },
	{ "have enough", 7, 3, true, false },
	{ "than available", 9, 4, true, false },
	{ "verlap", 2, 2, true, false },
	{ "oo small", 1, 5, true, false },
	{ "no available", 1, 5, true, false },
	{ "than reserved", 5, 2, true, false },
	{ "to reserve", 3, 2, true, false },
	{ "more L1", 3, 6, true, false },
	{ "more DRAM than", 3, 4, true, false },
	{ "more memory than", 10, 1, true, false },
	{ NULL, 0, 0, false, false },
};
_Static_assert(sizeof markers / sizeof *markers <= 65, "a set of markers is 64 bits");
