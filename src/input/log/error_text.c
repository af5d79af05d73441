#include "input/log/error_text.h"
#include "base/number.h"
#include "base/pattern.h"
#include "input/capture/core_ranges.h"

#include <ctype.h>
#include <strings.h>

/*
 * One sentence. `fields` contains a letter for each field of the pattern: a figure in TDM_FAILURE_FIGURE_LIST, or
 *   k kind      c cores      n name      d "circular" or "dataflow"      - ignored
 */
struct sentence {
	uint8_t type;
	const char *pattern;
	const char *fields;
};

#define OOM_WORDS "Out of Memory:"

static const struct sentence sentences[];

/* The possible first two bytes of a sentence: for each first byte, the set of second bytes, by their low five bits. */
#define SECOND(byte) (UINT32_C(1) << ((byte)&31))
static const uint32_t seconds[256] = { ['A'] = SECOND('l'),
	['C'] = SECOND('a') | SECOND('i') | SECOND('r'),
	['L'] = SECOND('o'),
	['N'] = SECOND('o') | SECOND('O'),
	['O'] = SECOND('u'),
	['P'] = SECOND('r'),
	['R'] = SECOND('M'),
	['S'] = SECOND('t'),
	['T'] = SECOND('r'),
	['W'] = SECOND('o') | SECOND('a'),
	['a'] = SECOND('d'),
	['c'] = SECOND('o'),
	['p'] = SECOND('h'),
	['r'] = SECOND('e'),
	['s'] = SECOND('e') };

/* Whether a sentence can begin with the bytes at `at`: a quick test before the patterns are tried. */
static bool may_begin(struct tdm_str text, size_t at)
{
	return at + 1 < text.len && (seconds[(unsigned char)text.ptr[at]] & SECOND(text.ptr[at + 1])) != 0;
}

static void put_field(struct tdm_failure *f, char letter, struct tdm_str text)
{
	const char *figure = memchr(tdm_failure_letters, letter, sizeof tdm_failure_letters);
	enum tdm_kind kind;
	if (figure != NULL) {
		uint64_t value;
		if (tdm_pattern_number(text, &value) && value != TDM_BYTES_UNKNOWN)
			f->figures[figure - tdm_failure_letters] = value;
		else
			f->refused++;
		return;
	}
	switch (letter) {
	case 'k':
		if (tdm_kind_parse(text, &kind) == 0)
			f->kind = (uint8_t)kind;
		break;
	case 'c':
		f->range_count = tdm_core_ranges_find(text, &f->range);
		f->has_range = f->range_count != 0;
		break;
	case 'd':
		f->is_dataflow = tdm_str_is(text, "dataflow");
		break;
	case 'n':
		f->name = tdm_str_trim(text);
		break;
	default:
		break;
	}
}

/* A sentence about a segment is preceded by the file's name and a colon. */
static void name_before(struct tdm_str text, size_t at, struct tdm_failure *f)
{
	if (at < 2 || text.ptr[at - 1] != ' ' || text.ptr[at - 2] != ':')
		return;
	size_t end = at - 2, begin = end;
	while (begin != 0 && !isspace((unsigned char)text.ptr[begin - 1]) && end - begin < TDM_PATTERN_SPAN) {
		if (begin > 1 && text.ptr[begin - 1] == 'n' && text.ptr[begin - 2] == '\\')
			break; /* an escaped newline, as in pytest's summary */
		begin--;
	}
	f->name = (struct tdm_str){ text.ptr + begin, end - begin };
}

/* The offset of the words in the text, searching from `from` and ignoring case; text.len if they do not occur. */
static size_t find_words(struct tdm_str text, size_t from, const char *words)
{
	size_t len = strlen(words);
	int first = tolower((unsigned char)*words);
	for (size_t at = from; at + len <= text.len; at++)
		if (tolower((unsigned char)text.ptr[at]) == first && strncasecmp(text.ptr + at, words, len) == 0)
			return at;
	return text.len;
}

static bool says(struct tdm_str text, const char *words)
{
	return find_words(text, 0, words) != text.len;
}

static bool says_one_of(struct tdm_str text, const char *const *words)
{
	while (*words != NULL && !says(text, *words))
		words++;
	return *words != NULL;
}

static bool begins_with_one_of(struct tdm_str text, const char *const *words)
{
	while (*words != NULL && (text.len < strlen(*words) || strncasecmp(text.ptr, *words, strlen(*words)) != 0))
		words++;
	return *words != NULL;
}

static bool is_one_of(struct tdm_str word, const char *const *words)
{
	while (*words != NULL && !tdm_str_is_word(word, *words))
		words++;
	return *words != NULL;
}

/* Cuts the last word off the text. */
static struct tdm_str last_word(struct tdm_str *text)
{
	*text = tdm_str_trim(*text);
	size_t len = 0;
	while (len < text->len && !isspace((unsigned char)text->ptr[text->len - len - 1]))
		len++;
	text->len -= len;
	return (struct tdm_str){ text->ptr + text->len, len };
}

static const char *const counted[] = { "event", "error", "fail", "time", "occur", "case", NULL };

/* Whether the text after the words is a zero count: " errors: 0", ": 0 events", " = none". */
static bool is_none(struct tdm_str text)
{
	enum { NAME_MAX_BYTES = 16 };
	size_t at = 0;
	while (at < text.len && at < NAME_MAX_BYTES && (isalpha((unsigned char)text.ptr[at]) || text.ptr[at] == ' '))
		at++;
	if (at == text.len || (text.ptr[at] != ':' && text.ptr[at] != '='))
		return false;
	text = tdm_str_trim(tdm_str_from(text, at + 1));
	size_t len = begins_with_one_of(text, (const char *const[]){ "none", NULL }) ? strlen("none") : 1;
	if (text.len == 0 || (len == 1 && *text.ptr != '0'))
		return false;
	bool ends = text.len == len || strchr(",;)]}\n", text.ptr[len]) != NULL;
	return ends || begins_with_one_of(tdm_str_trim(tdm_str_from(text, len)), counted);
}

/* Whether the text denies the words at [at, end): "never ran out of memory". */
static bool is_denied(struct tdm_str text, size_t at, size_t end)
{
	static const char *const no[] = { "no", "not", "never", "zero", "without", "avoid", "avoids", "avoiding",
		"prevent", "prevents", "didn't", "won't", NULL };
	static const char *const run[] = { "ran", "run", "runs", "running", "go", "going", "an", "any", NULL };
	struct tdm_str before = { text.ptr, at }, after = tdm_str_from(text, end);
	struct tdm_str word = last_word(&before), itself = tdm_str_from(text, at);
	bool is_zero = tdm_str_is(word, "0") &&
		       (begins_with_one_of(itself, counted) || begins_with_one_of(tdm_str_trim(after), counted));
	if (is_one_of(word, run))
		word = last_word(&before);
	return is_zero || is_one_of(word, no) || is_none(after);
}

/* Truncates a text with unfamiliar wording at the end of the line that contains the text's first `known` bytes. */
static struct tdm_str other_text(struct tdm_str text, size_t known)
{
	static const char *const ends[] = { "\\nbacktrace:", "\nbacktrace:", "\n", NULL };
	for (const char *const *end = ends; *end != NULL && text.len > known; end++) {
		const char *at = tdm_str_find(tdm_str_from(text, known), *end);
		text.len = at != NULL ? (size_t)(at - text.ptr) : text.len;
	}
	return text;
}

/* Stores the text, trimmed of blanks; its hash identifies the failure. */
static void make_other(struct tdm_failure *f, struct tdm_str text)
{
	text = tdm_str_trim(text);
	tdm_failure_init(f, TDM_FAILURE_OTHER, text);
	f->words = tdm_str_hash(text);
}

static bool match_at(struct tdm_str text, size_t at, struct tdm_failure *f, size_t *end)
{
	struct tdm_str rest = tdm_str_from(text, at);
	struct tdm_pattern_match m;
	size_t skip = tdm_pattern_match(OOM_WORDS "%_", rest, &m) ? m.len : 0;
	for (;; skip = 0) { /* first try with the words before the sentence, then without them */
		struct tdm_str words = tdm_str_from(rest, skip);
		for (const struct sentence *s = sentences; s->pattern != NULL; s++) {
			if (words.len < 2 || memcmp(s->pattern, words.ptr, 2) != 0 ||
				!tdm_pattern_match(s->pattern, words, &m))
				continue;
			*end = at + skip + m.len;
			if (s->type == TDM_FAILURE_OTHER) {
				rest = other_text(rest, skip + m.len);
				make_other(f, rest);
				text.len = at + rest.len;
				return !is_denied(text, at, *end - 1); /* exclude the colon */
			}
			tdm_failure_init(f, (enum tdm_failure_type)s->type, (struct tdm_str){ rest.ptr, skip + m.len });
			for (size_t i = 0; i < m.count && s->fields[i] != '\0'; i++)
				put_field(f, s->fields[i], m.fields[i]);
			if (s->type == TDM_FAILURE_SEGMENT && strchr(s->pattern, '`') == NULL)
				name_before(text, at, f); /* sentences from the linker begin with the region's name */
			return true;
		}
		if (skip == 0)
			return false;
	}
}

bool tdm_error_text_begins(struct tdm_str text)
{
	enum { LEAST = 8 };
	for (size_t at = 0; at + LEAST <= text.len; at++)
		for (const struct sentence *s = sentences; may_begin(text, at) && s->pattern != NULL; s++) {
			if (memcmp(s->pattern, text.ptr + at, 2) != 0)
				continue;
			size_t words = strcspn(s->pattern, "%"), left = text.len - at;
			if (memcmp(text.ptr + at, s->pattern, words < left ? words : left) == 0)
				return true;
		}
	return false;
}

bool tdm_error_text_find(struct tdm_str text, size_t from, struct tdm_failure *failure, size_t *end)
{
	for (size_t at = from; at < text.len; at++)
		if (may_begin(text, at) && match_at(text, at, failure, end))
			return true;
	return false;
}

/* The message without the prefixes added by the runtime, Python and pytest, so that all copies are equal. */
static struct tdm_str bare_message(struct tdm_str text)
{
	static const char *const before[] = { "info:\\n",
		"TT_FATAL: ", "TT_THROW: ", "TT_ASSERT: ", "RuntimeError: ", NULL };
	text = tdm_str_trim(text);
	if (tdm_str_begins(text, "E ")) /* added by pytest */
		text = tdm_str_trim(tdm_str_from(text, 1));
	if (begins_with_one_of(text, (const char *const[]){ "FAILED ", NULL })) { /* pytest adds the name of a test */
		const char *at = tdm_str_find(text, " - ");
		text = at != NULL ? tdm_str_rest(text, at + 3) : text;
	}
	for (const char *const *word = before; *word != NULL; word++) {
		const char *at = tdm_str_find(text, *word);
		text = at != NULL ? tdm_str_rest(text, at + strlen(*word)) : text;
	}
	return text;
}

/* Whether the text contains one of the words without denying it. */
static bool claims_one_of(struct tdm_str text, const char *const *words)
{
	for (; *words != NULL; words++)
		for (size_t at = 0, end; (at = find_words(text, at, *words)) != text.len; at = end) {
			end = at + strlen(*words);
			if (!is_denied(text, at, end))
				return true;
		}
	return false;
}

/* Whether a line never reports a failure: it is about a test that did not fail, or part of a traceback, which names
 * functions and shows code. */
static bool is_about_code(struct tdm_str text)
{
	static const char *const begins[] = { "skip", "xfail", "passed ", "[ RUN ", "[       OK ", "File \"", "> ",
		"raise ", "if ", NULL };
	static const char *const ends[] = { " PASSED", " SKIPPED", " XFAIL", NULL };
	for (const char *const *end = ends; *end != NULL; end++) {
		const char *at = tdm_str_find(text, *end);
		struct tdm_str rest = at != NULL ? tdm_str_rest(text, at + strlen(*end)) : text;
		if (at != NULL && (rest.len == 0 || tdm_str_begins(rest, " [")))
			return true;
	}
	return begins_with_one_of(text, begins);
}

bool tdm_error_text_other(struct tdm_str text, enum tdm_error_weight weight, struct tdm_failure *failure)
{
	static const char *const short_of[] = { "not enough", "exceed", "overflow", "not fit", "n't fit", "too large",
		"too big", "insufficient", "clash", "larger than", "beyond", "not allocate", "to allocate", "exhausted",
		"out of L1", "out of DRAM", "no space", "allocation fail", "not be allocated", "have enough",
		"than available", "overlap", "too small", "no available", "than reserved", "to reserve", "more L1 than",
		"more DRAM than", "more memory than", NULL };
	static const char *const memory[] = { "L1", "DRAM", "memory", "buffer", "bank ", "banks", "stack", NULL };
	static const char *const error[] = { "error", "fatal", "TT_THROW", "TT_ASSERT", "exception", "fail",
		"exceeds L1", "cannot allocate", NULL };
	static const char *const plain[] = { "out of memory", "bad_alloc", NULL };
	bool is_error = weight == TDM_ERROR_SURE || (weight == TDM_ERROR_OPEN && claims_one_of(text, error));
	text = bare_message(text);
	if (begins_with_one_of(text, (const char *const[]){ "--- ", NULL })) /* a backtrace line */
		return false;
	if (weight != TDM_ERROR_SURE && is_about_code(text))
		return false;
	if (!claims_one_of(text, plain) && !(is_error && says_one_of(text, short_of) && says_one_of(text, memory)))
		return false;
	make_other(failure, other_text(text, 0));
	if (says(text, "std::bad_alloc")) /* the C++ library prints two lines for one exception */
		failure->words = tdm_str_hash(tdm_str_of("std::bad_alloc"));
	return true;
}

bool tdm_failure_is_new(
	struct tdm_failure_recent *recent, const struct tdm_failure *failure, int32_t rank, uint64_t line, bool logged)
{
	struct tdm_failure_seen new = {
		.failure = *failure, .rank = rank, .line = line, .used = true, .logged = logged
	};
	size_t len = failure->name.len < sizeof new.name ? failure->name.len : sizeof new.name;
	if (len != 0)
		memcpy(new.name, failure->name.ptr, len);
	new.failure.name = (struct tdm_str){ new.name, len };
	for (size_t back = 1; back <= TDM_FAILURE_RECENT; back++) { /* newest first */
		struct tdm_failure_seen *seen =
			&recent->seen[(recent->next + TDM_FAILURE_RECENT - back) % TDM_FAILURE_RECENT];
		if (!seen->used || seen->rank != rank || line - seen->line > TDM_FAILURE_DISTANCE ||
			!tdm_failure_is_same(&seen->failure, &new.failure) || (logged && seen->logged))
			continue;
		seen->logged |= logged;
		seen->line = line;
		return false;
	}
	struct tdm_failure_seen *oldest = &recent->seen[recent->next];
	recent->next = (recent->next + 1) % TDM_FAILURE_RECENT;
	*oldest = new;
	oldest->failure.name.ptr = oldest->name;
	oldest->failure.text = (struct tdm_str){ NULL, 0 };
	return true;
}

/* The first pattern that matches wins, so a longer form comes before its prefix. Sentences about
 * allocation may follow OOM_WORDS. */
static const struct sentence sentences[] = {
	{ TDM_FAILURE_OUT_OF_MEMORY,
		"Not enough space to allocate %d B %i buffer across %d banks, where each bank needs to "
		"store %d B, but bank size is %d B (allocated: %d B, free: %d B, largest free block: %d B)",
		"akbpzufl" },
	{ TDM_FAILURE_OUT_OF_MEMORY,
		"Not enough space to allocate %d B %i buffer across %d banks, where each bank needs to "
		"store %d B, but bank size is only %d B",
		"akbpz" },
	{ TDM_FAILURE_OUT_OF_MEMORY,
		"Not enough space to allocate %d B %i buffer across %d banks, where each bank needs to "
		"store %d B, but bank size is %d B",
		"akbpz" },
	{ TDM_FAILURE_OUT_OF_MEMORY,
		"Not enough space to allocate %d B %i buffer across %d banks, where each bank needs to "
		"store %d B",
		"akbp" },
	{ TDM_FAILURE_OUT_OF_MEMORY, "Not enough space to allocate %d B %i", "ak" },
	{ TDM_FAILURE_DEPENDENCIES,
		"Not enough space after considering dependencies to allocate %d B %i across %d banks "
		"(%d B per bank), bank size is %d B (allocated: %d B, free: %d B, largest free block: %d B). After "
		"subtracting %d dependency range(s) and %d additional occupied range(s), %d B remained placeable "
		"across %d window(s), largest %d B",
		"akbpzufl--r-t" },
	{ TDM_FAILURE_DEPENDENCIES,
		"Not enough space after considering dependencies to allocate %d B %i across %d banks "
		"(%d B per bank), bank size is %d B (allocated: %d B, free: %d B, largest free block: %d B)",
		"akbpzufl" },
	{ TDM_FAILURE_DEPENDENCIES,
		"Not enough space after considering dependencies to allocate %d B %i across %d banks "
		"(%d B per bank)",
		"akbp" },
	{ TDM_FAILURE_DEPENDENCIES, "Not enough space after considering dependencies to allocate %d B %i", "ak" },
	{ TDM_FAILURE_BELOW_LIMIT, "Cannot allocate at an address below %x. Allocation at %x", "ms" },
	{ TDM_FAILURE_BELOW_LIMIT, "Cannot allocate at an address below %x. Tried to allocate at %x", "ms" },
	{ TDM_FAILURE_OUT_OF_MEMORY, "Not enough space to interleave %d", "a" },
	{ TDM_FAILURE_OUT_OF_MEMORY, "Not enough space to interleave", "" },
	{ TDM_FAILURE_OTHER, OOM_WORDS, "" },
	{ TDM_FAILURE_BEYOND_L1,
		"Statically allocated %i buffers on core range %* grow to %d B which is beyond max L1 size of %d B",
		"dcem" },
	{ TDM_FAILURE_BEYOND_L1, "Local buffers on core %* grow to %d", "ce" },
	{ TDM_FAILURE_CLASH,
		"Circular buffers in program %d clash with L1 buffers on core %*. L1 buffer allocated at %x and local "
		"buffers end at %x",
		"gcse" },
	{ TDM_FAILURE_CLASH, "Circular buffers in program %d clash%*local buffers end at %x", "g-e" },
	{ TDM_FAILURE_CLASH,
		"Statically allocated %i buffers in program %d clash with L1 buffers on core range %*. L1 buffer "
		"allocated at %x and static %i buffer region ends at %x",
		"dgcs-e" },
	{ TDM_FAILURE_SERVICE_CLASH,
		"Circular buffers on service-core range %* in program %d clash with ServiceCoreManager-allocated L1 "
		"(lowest service allocation at %x, CB region ends at %x)",
		"cgse" },
	{ TDM_FAILURE_PROGRAM_SIZE, "Program size (%d) too large for kernel config buffer (%d) on %i", "amn" },
	{ TDM_FAILURE_PROGRAM_SIZE, "Program size (%d) too large for kernel config buffer (%d)", "am" },
	{ TDM_FAILURE_TRACE_REGION,
		"Creating trace buffers of size %d%_B on %i %d, but only %d%_B is allocated for trace region", "a-nm" },
	{ TDM_FAILURE_TRACE_OVERLAP, "Trace buffer at address %x overlaps with %w", "sn" },
	{ TDM_FAILURE_WORKER_L1, "Worker L1 size %d is larger than max size %d", "am" },
	{ TDM_FAILURE_SEGMENT, "segment[%d] [%x,+%x) overflows region:%w limit of %x bytes, reduce the size of %i",
		"-sanm-" },
	{ TDM_FAILURE_SEGMENT, "phdr[%d] [%x,+%x) overflows limit of %x bytes", "-sam" },
	{ TDM_FAILURE_SEGMENT, "region `%*' overflowed by %d bytes", "nx" },
	{ TDM_FAILURE_SEGMENT, "address %x of %w section `%*' is not within region `%*'", "s--n" },
	{ TDM_FAILURE_SEGMENT, "section `%*' will not fit in region `%*'", "-n" },
	{ TDM_FAILURE_CB_RESIZE,
		"Cannot set to globally allocated buffer. Circular buffer size %d B exceeds allocated L1 buffer %*size "
		"of %d B",
		"a-m" },
	{ TDM_FAILURE_CB_RESIZE, "Circular buffer size %d B exceeds allocated L1 buffer %*size of %d B", "a-m" },
	{ TDM_FAILURE_CB_RESIZE,
		"Cannot set circular buffer size to %d. This is larger than the associated dynamically allocated L1 "
		"buffer bank size of %d B",
		"am" },
	{ TDM_FAILURE_UNSAFE_TRACE,
		"Allocating device buffers is potentially unsafe due to the existence of an active trace", "" },
	{ TDM_FAILURE_UNSAFE_TRACE, "Allocating device buffers is unsafe due to the existence of an active trace", "" },
	{ TDM_FAILURE_STACK,
		"Watcher detected stack overflow on Device %d Core %*: %i! Kernel %w uses %d/%d of the stack",
		"-c-nam" },
	{ TDM_FAILURE_STACK, "Watcher detected stack overflow on Device %d Core %*: %i! Kernel %w", "-c-n" },
	{ TDM_FAILURE_STACK, "Watcher detected stack overflow", "" },
	{ TDM_FAILURE_CB_OVERFLOW, "NOC transaction overflows a circular buffer", "" },
	{ TDM_FAILURE_L1_ACCESS, "core overflowed L1 with access to %x of length %d", "sa" },
	{ TDM_FAILURE_L1_CAPACITY, "required L1 memory usage %d exceeds memory capacity %d", "am" },
	{ TDM_FAILURE_L1_CAPACITY, "Circular buffers exceed L1 size (%d B > %d B)", "am" },
	{ TDM_FAILURE_L1_CAPACITY,
		"RM reshape dest staging does not fit in L1: need at least %d B dest + %d B source, have %d B", "--m" },
	{ TDM_FAILURE_L1_CAPACITY, "Workload of Tiles %d at Tile Size %d (times 2 for output) exceeds L1 capacity %d",
		"--m" },
	{ 0, NULL, NULL },
};
