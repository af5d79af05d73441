/*
 * Parses messages that a program prints about its circular buffers and kernels. Their wording differs between programs,
 * so a message is split into words, numbers and signs, and searched for a circular buffer ("CB1", "CB[1]", "cb 1",
 * "circular buffer 1", "c_1"), a verb (reserve, push, wait, pop, allocate), and figures with a name ("tiles=2") or a
 * unit ("2 tiles"). docs/formats/logs.md shows the forms.
 */
#include "base/pattern.h"
#include "input/capture/core_ranges.h"
#include "input/log/log_reader.h"

#include <ctype.h>
#include <strings.h>

enum { TOKENS_MAX = 160, REFS_MAX = TDM_LOG_CBS, RANGE_MAX = 256 /* RANGE_MAX is in bytes */ };

enum token_type { WORD, NUMBER, SIGN };

struct token {
	uint8_t type; /* enum token_type */
	struct tdm_str text;
};

struct tokens {
	struct token at[TOKENS_MAX];
	size_t count;
};

/* A circular buffer named in the message: its token, its index, and the figure after ':' or '='. */
struct cb_ref {
	size_t token; /* index of its last token */
	uint32_t cb;
	uint64_t figure; /* the figure, or TDM_LOG_UNKNOWN */
	bool joined;     /* joined to the previous one by '+', so the figure applies to both */
};

struct figures {
	uint64_t tiles, bytes, cores, duration_ns, total_tiles;
	uint64_t limit; /* the second figure in "(48KB/120KB)" */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Splits a message: "4KB" is a number and a word; "cb_1" is one word; bytes outside ASCII are skipped. */
static void cut_tokens(struct tdm_str s, struct tokens *t)
{
	t->count = 0;
	for (size_t i = 0; i < s.len && t->count < TOKENS_MAX;) {
		size_t from = i;
		unsigned char c = (unsigned char)s.ptr[i];
		if (isspace(c) || c >= 128 || c < 32) {
			i++;
			continue;
		}
		uint8_t type = SIGN;
		if (isdigit(c)) {
			bool hex = c == '0' && i + 1 < s.len && (s.ptr[i + 1] == 'x' || s.ptr[i + 1] == 'X');
			type = NUMBER;
			i += hex ? 2 : 1;
			while (i < s.len &&
				(hex ? isxdigit((unsigned char)s.ptr[i]) : isdigit((unsigned char)s.ptr[i])))
				i++;
			if (!hex && i + 1 < s.len && s.ptr[i] == '.' && isdigit((unsigned char)s.ptr[i + 1]))
				for (i++; i < s.len && isdigit((unsigned char)s.ptr[i]);)
					i++;
		} else if (is_word((char)c)) {
			type = WORD;
			while (i < s.len && is_word(s.ptr[i]))
				i++;
		} else {
			i++;
		}
		t->at[t->count++] = (struct token){ type, { s.ptr + from, i - from } };
	}
}

/* Whether a word is one of `words`, which are separated by blanks; with `begins`, whether the word begins with one
 * of them. */
static bool word_among(const struct tokens *t, size_t i, const char *words, bool begins)
{
	for (const char *end; i < t->count && t->at[i].type == WORD && *words != '\0'; words = end + (*end == ' ')) {
		end = strchrnul(words, ' ');
		size_t len = (size_t)(end - words);
		struct tdm_str text = t->at[i].text;
		if ((begins ? text.len >= len : text.len == len) && strncasecmp(text.ptr, words, len) == 0)
			return true;
	}
	return false;
}

static bool word_is(const struct tokens *t, size_t i, const char *word)
{
	return word_among(t, i, word, false);
}

static bool word_begins(const struct tokens *t, size_t i, const char *with)
{
	return word_among(t, i, with, true);
}

static bool sign_is(const struct tokens *t, size_t i, const char *signs)
{
	return i < t->count && t->at[i].type == SIGN && strchr(signs, *t->at[i].text.ptr) != NULL;
}

static bool is_number(const struct tokens *t, size_t i)
{
	return i < t->count && t->at[i].type == NUMBER;
}

static bool cb_index(struct tdm_str digits, uint32_t *cb)
{
	uint64_t value;
	if (tdm_str_parse_u64(digits, &value) != 0 || value >= TDM_LOG_CBS)
		return false;
	*cb = (uint32_t)value;
	return true;
}

/* How many tokens, starting at i, name a circular buffer; 0 if they do not. */
static size_t ref_at(const struct tokens *t, size_t i, uint32_t *cb)
{
	if (i >= t->count || t->at[i].type != WORD)
		return 0;
	struct tdm_str text = t->at[i].text;
	size_t prefix = word_begins(t, i, "cb_ c_") ? text.len : 0;
	if (prefix != 0)
		prefix = (size_t)((const char *)memchr(text.ptr, '_', text.len) - text.ptr) + 1;
	else if (word_begins(t, i, "cb"))
		prefix = 2;
	if (prefix != 0 && prefix < text.len && cb_index((struct tdm_str){ text.ptr + prefix, text.len - prefix }, cb))
		return 1;
	bool spelled = word_is(t, i, "circular") && word_is(t, i + 1, "buffer buffers");
	if (!spelled && !word_is(t, i, "cb cb_id cb_index cb_idx cbindex circularbuffer"))
		return 0;
	size_t at = i + (spelled ? 2 : 1);
	if (word_is(t, at, "index id"))
		at++;
	if (sign_is(t, at, "[#=:("))
		at++;
	if (!is_number(t, at) || !cb_index(t->at[at].text, cb))
		return 0;
	if (sign_is(t, at + 1, "])"))
		at++;
	return at + 1 - i;
}

static size_t find_refs(const struct tokens *t, struct cb_ref refs[REFS_MAX])
{
	size_t count = 0;
	for (size_t i = 0; i < t->count && count < REFS_MAX;) {
		uint32_t cb = 0;
		size_t taken = ref_at(t, i, &cb);
		if (taken == 0) {
			i++;
			continue;
		}
		size_t last = i + taken - 1;
		struct cb_ref *ref = &refs[count++];
		*ref = (struct cb_ref){ last, cb, TDM_LOG_UNKNOWN, i != 0 && sign_is(t, i - 1, "+") && count > 1 };
		if (sign_is(t, last + 1, ":=") && is_number(t, last + 2)) {
			ref->figure = tdm_log_number(t->at[last + 2].text);
			last += 2;
		}
		i = last + 1;
	}
	return count;
}

/* The verb in a message about a circular buffer; TDM_LOG_TYPE_COUNT if there is none. */
static enum tdm_log_type find_verb(const struct tokens *t, size_t *where)
{
	static const enum tdm_log_type types[] = { TDM_LOG_CB_RESERVE, TDM_LOG_CB_PUSH, TDM_LOG_CB_POP, TDM_LOG_CB_WAIT,
		TDM_LOG_CB_ALLOC };
	static const char *const verbs[][3] = { { "cb_reserve", "reserv", NULL }, { "cb_push", "push", NULL },
		{ "cb_pop", "pop", NULL }, { "cb_wait", "wait", NULL }, { "alloc", "creat", "config" } };
	for (size_t v = 0; v < 3 * sizeof verbs / sizeof *verbs; v++)
		for (size_t i = 0; i < t->count && verbs[v / 3][v % 3] != NULL; i++)
			if (word_begins(t, i, verbs[v / 3][v % 3])) {
				*where = i;
				return types[v / 3];
			}
	return TDM_LOG_TYPE_COUNT;
}

/* The word that labels the number at i: "tiles=4", "size: 4". */
static size_t key_of(const struct tokens *t, size_t i)
{
	return i >= 2 && sign_is(t, i - 1, "=:") && t->at[i - 2].type == WORD ? i - 2 : TOKENS_MAX;
}

static void take_figure(const struct tokens *t, size_t i, struct figures *f)
{
	static const char tiles[] = "tile tiles page pages num_tiles n_tiles num_pages n";
	static const char cores[] = "cores core_count num_cores";
	size_t key = key_of(t, i);
	struct tdm_str number = t->at[i].text, unit = i + 1 < t->count && t->at[i + 1].type == WORD
							      ? t->at[i + 1].text
							      : (struct tdm_str){ "", 0 };
	uint64_t ns = unit.len != 0 ? tdm_log_duration(number, unit) : TDM_LOG_UNKNOWN;
	uint64_t bytes = unit.len != 0 ? tdm_log_bytes(number, unit) : TDM_BYTES_UNKNOWN;
	if (ns != TDM_LOG_UNKNOWN) {
		f->duration_ns = ns;
	} else if (word_is(t, key, "total") && word_is(t, i + 1, tiles)) {
		f->total_tiles = tdm_log_number(number);
	} else if (word_is(t, i + 1, tiles) || word_is(t, key, tiles)) {
		f->tiles = tdm_log_number(number);
	} else if (bytes != TDM_BYTES_UNKNOWN) {
		if (f->bytes == TDM_BYTES_UNKNOWN) /* in "(48KB/120KB)", the first figure is the amount in use */
			f->bytes = bytes;
		else if (i != 0 && sign_is(t, i - 1, "/"))
			f->limit = bytes;
	} else if (word_is(t, i + 1, cores) || word_is(t, key, cores)) {
		f->cores = tdm_log_number(number);
	} else if (word_is(t, key, "size bytes total_size size_bytes total")) {
		f->bytes = tdm_log_number(number);
	}
}

/* The number of cores in a grid that the message names ("core grid: 8x8", "8 x 8", "(8, 8)"), or TDM_LOG_UNKNOWN. */
static uint64_t grid_cores(const struct tokens *t)
{
	enum { SIDE_MAX = 255 };
	bool is_named = false;
	for (size_t i = 0; i < t->count && !is_named; i++)
		is_named = word_begins(t, i, "core") || word_is(t, i, "grid compute_grid");
	for (size_t i = 0; is_named && i < t->count; i++) {
		uint64_t columns, rows;
		bool is_pair = i != 0 && sign_is(t, i - 1, "(") && sign_is(t, i + 1, ",") && sign_is(t, i + 3, ")");
		struct tdm_str second = { "", 0 };
		if ((is_pair || word_is(t, i + 1, "x")) && is_number(t, i + 2))
			second = t->at[i + 2].text;
		else if (word_begins(t, i + 1, "x"))
			second = tdm_str_from(t->at[i + 1].text, 1);
		if (is_number(t, i) && tdm_str_parse_u64(t->at[i].text, &columns) == 0 && columns <= SIDE_MAX &&
			tdm_str_parse_u64(second, &rows) == 0 && rows <= SIDE_MAX && columns * rows != 0)
			return columns * rows;
	}
	return TDM_LOG_UNKNOWN;
}

static struct figures find_figures(const struct tokens *t)
{
	struct figures f = { TDM_LOG_UNKNOWN, TDM_BYTES_UNKNOWN, TDM_LOG_UNKNOWN, TDM_LOG_UNKNOWN, TDM_LOG_UNKNOWN,
		TDM_LOG_UNKNOWN };
	for (size_t i = 0; i < t->count; i++)
		if (is_number(t, i))
			take_figure(t, i, &f);
	if (f.cores == TDM_LOG_UNKNOWN)
		f.cores = grid_cores(t);
	return f;
}

/* Parses a range of cores in square brackets. */
static void take_range(struct tdm_str message, struct tdm_log_record *r)
{
	for (size_t i = 0; i < message.len; i++) {
		if (message.ptr[i] != '[')
			continue;
		size_t len = message.len - i;
		struct tdm_str rest = { message.ptr + i, len < RANGE_MAX ? len : RANGE_MAX };
		if (tdm_core_ranges_find(rest, &r->range) != 0) {
			r->has_range = true;
			if (r->cores == TDM_LOG_UNKNOWN)
				r->cores = (uint64_t)(r->range.x1 - r->range.x0 + 1) *
					   (uint64_t)(r->range.y1 - r->range.y0 + 1);
			return;
		}
	}
}

/*
 * Parses the arguments of a call such as "cb_reserve_back(1, 4)". The first argument may be a circular buffer's name
 * instead of its index.
 */
static void take_call(const struct tokens *t, size_t verb, struct cb_ref *ref, size_t *ref_count, struct figures *f)
{
	size_t at = verb + 1;
	if (!word_begins(t, verb, "cb_") || !sign_is(t, at, "("))
		return;
	for (at++; at < t->count && !sign_is(t, at, ",)"); at++) {
		uint32_t cb;
		if (*ref_count == 0 && is_number(t, at) && cb_index(t->at[at].text, &cb)) {
			*ref = (struct cb_ref){ at, cb, TDM_LOG_UNKNOWN, false };
			*ref_count = 1;
		}
	}
	if (sign_is(t, at, ",") && is_number(t, at + 1))
		f->tiles = tdm_log_number(t->at[at + 1].text);
}

/* "CB0:4, CB1:4, CB2+CB16:4 tiles. Total:12 tiles (48KB/48KB)": adds one record each; a joined pair is one record
 * with both names. */
static void take_list(struct tdm_str message, const struct tokens *t, const struct cb_ref *refs, size_t count,
	const struct figures *f, struct tdm_log_found *found)
{
	uint64_t tile_bytes = f->total_tiles != TDM_LOG_UNKNOWN && f->total_tiles != 0 &&
					      f->bytes != TDM_BYTES_UNKNOWN && f->bytes % f->total_tiles == 0
				      ? f->bytes / f->total_tiles
				      : TDM_BYTES_UNKNOWN;
	for (size_t i = 0; i < count; i++) {
		size_t first = i;
		while (i + 1 < count && refs[i + 1].joined)
			i++;
		if (refs[i].figure == TDM_LOG_UNKNOWN)
			continue;
		struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_CB_ALLOC, TDM_LOG_BY_WORKLOAD);
		struct tdm_str from = t->at[refs[first].token].text, to = t->at[refs[i].token].text;
		r->cb = refs[first].cb;
		r->tiles = refs[i].figure;
		r->cores = f->cores;
		r->all_bytes = f->bytes;
		r->limit = f->limit;
		if (first != i)
			r->name = (struct tdm_str){ from.ptr, (size_t)(to.ptr + to.len - from.ptr) };
		if (tile_bytes != TDM_BYTES_UNKNOWN && __builtin_mul_overflow(tile_bytes, r->tiles, &r->bytes))
			r->bytes = TDM_BYTES_UNKNOWN;
		take_range(message, r);
	}
}

static bool parse_cb(struct tdm_str message, const struct tokens *t, struct tdm_log_found *found)
{
	struct cb_ref refs[REFS_MAX];
	size_t verb = 0, before = found->count, count = find_refs(t, refs);
	enum tdm_log_type type = find_verb(t, &verb);
	if (type == TDM_LOG_TYPE_COUNT)
		return false;
	struct figures f = find_figures(t);
	take_call(t, verb, refs, &count, &f);
	if (count == 0)
		return false;
	bool is_list = refs[count - 1].figure != TDM_LOG_UNKNOWN;
	if (type == TDM_LOG_CB_ALLOC && is_list) {
		take_list(message, t, refs, count, &f, found);
		return found->count != before;
	}
	if (type == TDM_LOG_CB_ALLOC && f.tiles == TDM_LOG_UNKNOWN && f.bytes == TDM_BYTES_UNKNOWN)
		return false;
	struct tdm_log_record *r = tdm_log_found_add(found, type, TDM_LOG_BY_WORKLOAD);
	r->cb = refs[0].cb;
	r->tiles = f.tiles;
	r->bytes = f.bytes;
	r->cores = f.cores;
	r->duration_ns = f.duration_ns;
	take_range(message, r);
	return true;
}

/* A name without surrounding quotes, brackets and punctuation. */
static struct tdm_str bare(struct tdm_str s)
{
	while (s.len != 0 && strchr(" \t'\"`:,.(<[", *s.ptr) != NULL)
		s = tdm_str_from(s, 1);
	while (s.len != 0 && strchr(" \t'\"`:,.)>]", s.ptr[s.len - 1]) != NULL)
		s.len--;
	return s;
}

/* Parses "reader kernel started", "Kernel 'reader' finished in 12 us", "Launching kernel reader". */
static bool parse_kernel(struct tdm_str message, const struct tokens *t, struct tdm_log_found *found)
{
	static const char starts[] = "start launch begin execut runn", ends[] = "complete finish exited";
	for (size_t k = 0; k < t->count; k++) {
		if (!word_is(t, k, "kernel"))
			continue;
		size_t said = k + 1;
		while (said < t->count && !word_begins(t, said, starts) && !word_begins(t, said, ends) &&
			!word_is(t, said, "done end ended"))
			said++;
		const char *from = t->at[k].text.ptr + t->at[k].text.len;
		bool before = said == t->count;
		const char *to = before ? message.ptr + message.len : t->at[said].text.ptr;
		said = before ? k - 1 : said;
		if (before && (k == 0 || !(word_begins(t, said, starts) || word_begins(t, said, ends) ||
						 word_is(t, said, "done end ended"))))
			continue;
		struct tdm_str name = bare((struct tdm_str){ from, (size_t)(to - from) });
		if (before && name.len != 0) { /* only the first word is the name */
			const char *blank = memchr(name.ptr, ' ', name.len);
			name = bare(blank != NULL ? (struct tdm_str){ name.ptr, (size_t)(blank - name.ptr) } : name);
		}
		if (name.len == 0 && k != 0 && t->at[k - 1].type == WORD)
			name = t->at[k - 1].text;
		bool is_start = word_begins(t, said, starts);
		struct tdm_log_record *r = tdm_log_found_add(
			found, is_start ? TDM_LOG_KERNEL_START : TDM_LOG_KERNEL_END, TDM_LOG_BY_WORKLOAD);
		struct figures f = find_figures(t);
		r->name = name;
		r->duration_ns = f.duration_ns;
		r->cores = f.cores;
		r->bytes = f.bytes;
		take_range(message, r);
		return true;
	}
	return false;
}

/* The number after a key, anywhere in the message. */
static uint64_t value_of(const struct tokens *t, const char *key)
{
	for (size_t i = 2; i < t->count; i++)
		if (is_number(t, i) && word_is(t, key_of(t, i), key))
			return tdm_log_number(t->at[i].text);
	return TDM_LOG_UNKNOWN;
}

/*
 * "A tiles (distributed): 64" sets *all. "8 A tiles", with the number first, gives the tiles of a shard, which are
 * returned.
 */
static uint64_t operand_tiles(const struct tokens *t, const char *operand, uint64_t *all)
{
	*all = TDM_LOG_UNKNOWN;
	for (size_t i = 0; i + 1 < t->count; i++) {
		if (!word_is(t, i, operand) || !word_is(t, i + 1, "tiles"))
			continue;
		if (i != 0 && is_number(t, i - 1))
			return tdm_log_number(t->at[i - 1].text);
		size_t at = i + 2;
		while (at < t->count && !sign_is(t, at, ":="))
			at++;
		if (is_number(t, at + 1))
			*all = tdm_log_number(t->at[at + 1].text);
		return TDM_LOG_UNKNOWN;
	}
	return TDM_LOG_UNKNOWN;
}

/* `is_logger`: the line is the runtime's; grids in such lines are not the program's. */
static void parse_workload(const struct tokens *t, bool is_logger, struct tdm_log_found *found)
{
	uint64_t a_all, b_all, a = operand_tiles(t, "A", &a_all), b = operand_tiles(t, "B", &b_all);
	struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_TILES, TDM_LOG_BY_WORKLOAD);
	r->a_tiles = value_of(t, "num_tiles") != TDM_LOG_UNKNOWN ? value_of(t, "num_tiles") : a_all;
	r->b_tiles = value_of(t, "r_tiles");
	if (r->b_tiles == TDM_LOG_UNKNOWN)
		r->b_tiles = b_all != TDM_LOG_UNKNOWN ? b_all : b;
	r->shard_tiles = value_of(t, "tiles_per_shard");
	if (r->shard_tiles == TDM_LOG_UNKNOWN)
		r->shard_tiles = a;
	r->devices = value_of(t, "mesh_devices");
	r->tiles = value_of(t, "n_tiles");
	r->cores = !is_logger ? grid_cores(t) : TDM_LOG_UNKNOWN;
	/* TDM_LOG_UNKNOWN has all bits set, so the AND is TDM_LOG_UNKNOWN only if no figure is known: in that case
	 * the record is dropped. */
	found->count -= (r->a_tiles & r->b_tiles & r->shard_tiles & r->tiles & r->cores) == TDM_LOG_UNKNOWN;
}

/* Adds a record about results that differ from the expected ones; `wrong` is the number of wrong values, or
 * TDM_LOG_UNKNOWN. */
static bool add_mismatch(struct tdm_str message, uint64_t wrong, struct tdm_log_found *found)
{
	struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_FAILURE, TDM_LOG_BY_WORKLOAD);
	tdm_failure_init(&r->failure, TDM_FAILURE_MISMATCH, tdm_str_trim(message));
	r->failure.wrong = wrong;
	return true;
}

/* The index of the first word that begins with `with`, ignoring case; or TOKENS_MAX. */
static size_t find_word(const struct tokens *t, const char *with)
{
	size_t i = 0;
	while (i < t->count && !word_begins(t, i, with))
		i++;
	return i < t->count ? i : TOKENS_MAX;
}

/* Parses "verification: 14343 / 16384 passed" or "verification failed with 2041 failures". */
static bool parse_verification(struct tdm_str message, const struct tokens *t, struct tdm_log_found *found)
{
	size_t at = find_word(t, "verification"), number = at + 2;
	uint64_t wrong = TDM_LOG_UNKNOWN;
	if (at == TOKENS_MAX)
		return false;
	if (sign_is(t, at + 1, ":") && is_number(t, number) && sign_is(t, number + 1, "/") &&
		is_number(t, number + 2)) {
		struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_VERIFICATION, TDM_LOG_BY_WORKLOAD);
		r->tiles = tdm_log_number(t->at[number].text);
		r->count = tdm_log_number(t->at[number + 2].text);
		if (r->count != TDM_LOG_UNKNOWN && r->tiles < r->count)
			add_mismatch(message, r->count - r->tiles, found);
		return true;
	}
	for (size_t i = 1; i < t->count; i++)
		if (is_number(t, i - 1) && word_begins(t, i, "fail mismatch"))
			wrong = tdm_log_number(t->at[i - 1].text);
	return find_word(t, "fail") != TOKENS_MAX && wrong != 0 && add_mismatch(message, wrong, found);
}

/* Parses "Mismatch at index 5: expected 1, got 2". Mismatches of versions, shapes and the like are ignored. */
static bool parse_mismatch(struct tdm_str message, const struct tokens *t, struct tdm_log_found *found)
{
	size_t at = find_word(t, "mismatch");
	bool is_none = at != 0 && at != TOKENS_MAX && (word_is(t, at - 1, "no") || tdm_str_is(t->at[at - 1].text, "0"));
	if (at == TOKENS_MAX || is_none ||
		(sign_is(t, at + 1, ":=") && is_number(t, at + 2) && tdm_str_is(t->at[at + 2].text, "0")))
		return false;
	for (size_t i = 0; i < t->count; i++)
		if (word_is(t, i, "got golden actual index values value elements element results result"))
			return add_mismatch(message, TDM_LOG_UNKNOWN, found);
	return false;
}

bool tdm_log_workload_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found)
{
	struct tdm_str message = prefix->message;
	struct tokens t;
	size_t before = found->count;
	if (message.len == 0)
		return false;
	cut_tokens(message, &t);
	if (!parse_verification(message, &t, found) && !parse_mismatch(message, &t, found) &&
		!parse_cb(message, &t, found)) {
		parse_kernel(message, &t, found);
		parse_workload(&t, prefix->is_logger, found);
	}
	return found->count != before;
}
