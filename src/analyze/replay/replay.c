/*
 * The first event must describe the memory. It creates the spaces, each with a free list (model/alloc/freelist.h) that
 * determines the addresses. Each subsequent request is applied immediately: an allocation is converted to the bytes in
 * one bank, placed, and kept by id until it is freed. The space's figures are updated with each request, and samples
 * are taken at a growing stride. The first failure in a space becomes a finding that includes the holes at that moment,
 * because later requests change the holes. The last part of this file feeds events from any file into a replay.
 */
#include "analyze/replay/replay.h"
#include "base/err.h"
#include "base/memory.h"
#include "model/card/card.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A buffer in the trace that has not been freed. */
struct tdm_replay_live {
	uint64_t address;
	uint8_t space;
	bool placed; /* false if the allocation failed, if the buffer occupies no bytes, or if the slot is spare */
	bool failed;
	struct tdm_short_name name;
};

double tdm_replay_frag(uint64_t free, uint64_t largest)
{
	return free != 0 ? 1.0 - (double)largest / (double)free : 0;
}

struct tdm_replay *tdm_replay_new(const struct tdm_replay_options *options)
{
	struct tdm_replay *replay = tdm_zalloc(1, sizeof *replay);
	if (options != NULL)
		replay->options = *options;
	replay->stride = 1;
	return replay;
}

void tdm_replay_free(struct tdm_replay *replay)
{
	if (replay == NULL)
		return;
	for (size_t i = 0; i < replay->space_count; i++)
		tdm_freelist_free(replay->spaces[i].list);
	tdm_findings_done(&replay->findings);
	tdm_live_set_done(&replay->set);
	free(replay->live);
	free(replay);
}

/* ---- names ---- */

/* Replaces bytes in a name that would disturb a terminal or end the string. */
static void clean(char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
			name[i] = '?';
}

static struct tdm_short_name short_name(struct tdm_str name)
{
	struct tdm_short_name out;
	static const char mark[] = "...";
	size_t len = name.len;
	if (len >= sizeof out.text) {
		len = sizeof out.text - sizeof mark;
		while (len != 0 && ((unsigned char)name.ptr[len] & 0xc0) == 0x80)
			len--; /* must not split a UTF-8 character */
		memcpy(out.text + len, mark, sizeof mark);
	} else {
		out.text[len] = '\0';
	}
	if (len != 0)
		memcpy(out.text, name.ptr, len);
	clean(out.text, len);
	return out;
}

/* ---- the first line of a trace, which describes the memory ---- */

enum { SHOWN_CAP = 44 };

struct words {
	const struct tdm_event *event;
	struct tdm_str left;
	struct tdm_diag *diag;
};

static uint64_t column_of(const struct words *w, const char *at)
{
	return w->event->column + (uint64_t)(at - w->event->text.ptr);
}

static int wrong(const struct words *w, int err, struct tdm_str word, const char *expected)
{
	char shown[SHOWN_CAP];
	uint64_t column = column_of(w, word.ptr);
	if (word.ptr == w->event->text.ptr + w->event->text.len)
		return tdm_diag_set(
			w->diag, err, w->event->position, column, "expected %s, but the line ends here", expected);
	return tdm_diag_set(w->diag, err, w->event->position, column, "expected %s, got '%s'", expected,
		tdm_str_shown(word, shown, sizeof shown));
}

/* Fields of a region; `seen` has a bit for each field. */
enum { FIELD_BASE, FIELD_SIZE, FIELD_ALIGN, FIELD_MIN, FIELD_POLICY, FIELD_COUNT };
static const char *const field_names[FIELD_COUNT] = { "base", "size", "align", "min", "policy" };

static int set_region_field(const struct words *w, struct tdm_str word, struct tdm_replay *replay, unsigned *seen)
{
	static const char expected[] = "base=, size=, align=, min= or policy=, once each";
	struct tdm_bank_range *range = &replay->spaces[0].range;
	uint64_t *const numbers[] = { &range->base, &range->size, &range->block_align, &replay->spaces[0].min_alloc };
	struct tdm_str key, value;
	unsigned field = 0;
	if (!tdm_card_assignment_split(word, &key, &value))
		return wrong(w, TDM_ESYNTAX, word, expected);
	while (field < FIELD_COUNT && !tdm_str_is(key, field_names[field]))
		field++;
	if (field == FIELD_COUNT || (*seen >> field & 1) != 0)
		return wrong(w, TDM_ESYNTAX, word, expected);
	*seen |= 1u << field;
	if (field == FIELD_POLICY)
		return tdm_fit_parse(value, &replay->fit) == 0 ? 0 : wrong(w, TDM_ESYNTAX, value, "'first' or 'best'");
	int err = tdm_str_parse_u64(value, numbers[field]);
	if (err != 0)
		return wrong(w, err, value, "a whole number that fits 64 bits");
	return field == FIELD_ALIGN && range->block_align == 0 ? wrong(w, TDM_ESYNTAX, value, "1 or more") : 0;
}

static int setup_region(struct words *w, struct tdm_replay *replay)
{
	const struct tdm_replay_options *options = &replay->options;
	struct tdm_bank_range *range = &replay->spaces[0].range;
	unsigned seen = 0;
	int err = 0;
	if (options->card != NULL || options->card_file != NULL ||
		(options->settings != NULL && options->settings[0] != NULL))
		return tdm_diag_set(w->diag, TDM_EREFUSED, 0, 0,
			"this is a trace of one region: another card or changed figures do not apply");
	*range = (struct tdm_bank_range){ .banks = 1, .block_align = 1, .page_align = 1, .bottom_up = true };
	for (struct tdm_str word; err == 0 && (word = tdm_str_take_word(&w->left)).len != 0;)
		err = set_region_field(w, word, replay, &seen);
	if (err == 0 && (seen >> FIELD_SIZE & 1) == 0)
		err = wrong(w, TDM_ESYNTAX, w->left, "size=BYTES of the region");
	if (err == 0 && range->size > UINT64_MAX - range->base)
		err = tdm_diag_set(w->diag, -ERANGE, w->event->position, w->event->column,
			"expected a region that ends below 2^64: base + size does not fit");
	return err;
}

/*
 * Parses the rest of the device line. If the card is not the trace's own, the program's choices (region sizes) still
 * apply unless a card file sets them. The description of the trace's card (cores, banks, addresses) does not apply, but
 * must be well formed.
 */
static int set_card_fields(struct words *w, bool other_card, struct tdm_card *card)
{
	for (struct tdm_str word; (word = tdm_str_take_word(&w->left)).len != 0;) {
		struct tdm_str key = { 0 }, value;
		struct tdm_diag inner = { 0 };
		struct tdm_card unused = *card;
		bool is_used = !other_card || !tdm_card_assignment_split(word, &key, &value) ||
			       (tdm_str_is(key, "l1_small") && !card->is_set[TDM_CARD_L1_SMALL]) ||
			       (tdm_str_is(key, "trace_region") && !card->is_set[TDM_CARD_TRACE_REGION]);
		int err = tdm_card_set(is_used ? card : &unused, word, &inner);
		if (err != 0 && (is_used || err != TDM_EREFUSED))
			return tdm_diag_set(w->diag, err, w->event->position,
				column_of(w, word.ptr) + (inner.column != 0 ? inner.column - 1 : 0), "%s", inner.text);
	}
	return 0;
}

/* Reads the card file, which must be for the card named by the user, if any. */
static int load_card_file(struct words *w, const struct tdm_replay_options *options, struct tdm_card *card)
{
	const char *asked = options->card != NULL ? card->name : NULL;
	struct tdm_diag inner = { .file = options->card_file };
	int err = tdm_card_load(card, options->card_file, &inner);
	if (err == 0 && asked != NULL && strcmp(asked, card->name) != 0)
		err = tdm_diag_set(
			&inner, TDM_ECARD, 0, 0, "describes card '%s', but '%s' was asked for", card->name, asked);
	if (err != 0)
		*w->diag = inner;
	return err;
}

/* Applies card overrides: those in the trace, those in a file, then the user's. If only the file names the card, the
 * file is read first. */
static int setup_card(struct words *w, const struct tdm_replay_options *options, struct tdm_card *card)
{
	struct tdm_card_variant variant = tdm_card_variant_default();
	struct tdm_diag inner = { 0 };
	struct tdm_str name = tdm_str_take_word(&w->left);
	if (name.len == 0)
		return wrong(w, TDM_ECARD, name, "the name of a card");
	bool is_asked = options->card != NULL, is_unnamed = !is_asked && tdm_str_is(name, "-");
	if (is_unnamed && options->card_file == NULL)
		return tdm_diag_set(w->diag, TDM_ECARD, 0, 0,
			"it does not say which card it is from: name one with --card (tidemark device list shows "
			"them)");
	int err = is_unnamed ? load_card_file(w, options, card)
			     : tdm_card_init(card, is_asked ? tdm_str_of(options->card) : name, &variant, &inner);
	if (err != 0 && !is_unnamed)
		tdm_diag_set(w->diag, err, is_asked ? 0 : w->event->position, column_of(w, name.ptr), "%s", inner.text);
	if (err == 0)
		err = set_card_fields(w, is_asked || is_unnamed, card);
	if (err == 0 && !is_unnamed && options->card_file != NULL)
		err = load_card_file(w, options, card);
	if (err != 0)
		return err;
	const char *wrong_one;
	err = tdm_card_set_all(card, options->settings, &wrong_one, &inner);
	return err != 0 ? tdm_diag_set(w->diag, err, 0, 0, "--set %s: %s", wrong_one, inner.text) : 0;
}

static int setup_device(struct words *w, struct tdm_replay *replay)
{
	struct tdm_diag inner = { 0 };
	int err = setup_card(w, &replay->options, &replay->card);
	if (err != 0)
		return err;
	replay->is_device = true;
	err = tdm_card_check(&replay->card, &inner);
	for (unsigned kind = 0; err == 0 && kind < TDM_REPLAY_SPACES; kind++) {
		struct tdm_replay_space *space = &replay->spaces[kind];
		err = tdm_bank_range(&replay->card, (enum tdm_kind)kind, &space->range, &inner);
		space->min_alloc = space->range.block_align;
	}
	return err != 0 ? tdm_diag_set(w->diag, err, w->event->position, w->event->column, "%s", inner.text) : 0;
}

/* Parses "region …" or "device …" from the event's text, and creates the spaces. */
static int apply_device(struct tdm_replay *replay, const struct tdm_event *event, struct tdm_diag *diag)
{
	struct words w = { event, event->text, diag };
	if (replay->space_count != 0)
		return tdm_diag_set(
			diag, TDM_EREFUSED, event->position, event->column, "expected one device or region only");
	if (event->text.len == 0)
		return tdm_diag_set(diag, TDM_EREFUSED, event->position, event->column,
			"expected a device or region that is described in words");
	struct tdm_str verb = tdm_str_take_word(&w.left);
	replay->is_device = false;
	replay->fit = TDM_FIT_FIRST;
	memset(replay->spaces, 0, sizeof replay->spaces);
	int err = tdm_str_is(verb, "device")   ? setup_device(&w, replay)
		  : tdm_str_is(verb, "region") ? setup_region(&w, replay)
					       : wrong(&w, TDM_ESYNTAX, verb, "'region' or 'device'");
	if (err != 0)
		return err;
	if (replay->options.has_fit)
		replay->fit = replay->options.fit;
	size_t count = replay->is_device ? TDM_REPLAY_SPACES : 1;
	for (size_t i = 0; i < count; i++) {
		struct tdm_replay_space *space = &replay->spaces[i];
		const struct tdm_bank_range *range = &space->range;
		const struct tdm_freelist_config config = { range->base, range->size, range->block_align,
			space->min_alloc, replay->fit };
		space->name = replay->is_device ? tdm_kind_name((enum tdm_kind)i) : "region";
		space->kind = (enum tdm_kind)i;
		space->tightest = range->size;
		space->worst_free = 1;
		err = tdm_freelist_new(&config, &space->list);
		if (err != 0) {
			while (i-- != 0)
				tdm_freelist_free(replay->spaces[i].list);
			return tdm_diag_set(diag, err, event->position, event->column, "cannot model %s: %s",
				space->name, tdm_err_text(err));
		}
	}
	replay->space_count = count;
	return 0;
}

/* ---- statistics over time ---- */

/* Samples every space once per `stride` requests. When the samples are full, drops every second sample and doubles the
 * stride. */
static void take_samples(struct tdm_replay *replay)
{
	if (replay->spaces[0].sample_count == TDM_REPLAY_SAMPLES) {
		for (size_t i = 0; i < replay->space_count; i++) {
			struct tdm_replay_space *space = &replay->spaces[i];
			space->sample_count /= 2;
			for (size_t k = 0; k < space->sample_count; k++)
				space->samples[k] = space->samples[k * 2 + 1]; /* keep multiples of the new stride */
		}
		replay->stride *= 2;
		if (replay->ops % replay->stride != 0)
			return;
	}
	for (size_t i = 0; i < replay->space_count; i++) {
		struct tdm_replay_space *space = &replay->spaces[i];
		struct tdm_freelist_stats s = tdm_freelist_stats(space->list);
		space->samples[space->sample_count++] =
			(struct tdm_replay_sample){ replay->ops, s.allocated, s.free, s.largest_free };
	}
}

static void note_state(struct tdm_replay *replay, struct tdm_replay_space *space, uint64_t line)
{
	struct tdm_freelist_stats s = tdm_freelist_stats(space->list);
	if (s.allocated > space->peak) {
		space->peak = s.allocated;
		space->peak_op = replay->ops;
		space->peak_line = line;
		space->peak_buffers = s.used_blocks;
	}
	if (s.largest_free < space->tightest) {
		space->tightest = s.largest_free;
		space->tightest_op = replay->ops;
		space->tightest_line = line;
	}
	/* Compares products, which is exact; a division per request would cost more than the request itself. */
	uint64_t outside = s.free - s.largest_free;
	if ((unsigned __int128)outside * space->worst_free > (unsigned __int128)space->worst_outside * s.free) {
		space->worst_free = s.free;
		space->worst_outside = outside;
		space->worst_frag = tdm_replay_frag(s.free, s.largest_free);
		space->worst_frag_op = replay->ops;
		space->worst_frag_line = line;
	}
}

/* ---- holes ---- */

/* Finds the buffers on both sides of each hole, in one pass over the live buffers. */
static void name_bounds(const struct tdm_replay *replay, size_t space, struct tdm_hole *holes, size_t count)
{
	for (uint32_t i = 0; i < replay->set.used; i++) {
		const struct tdm_replay_live *live = &replay->live[i];
		if (!live->placed || live->space != space)
			continue;
		uint64_t size = tdm_freelist_size_at(replay->spaces[space].list, live->address);
		for (size_t h = 0; h < count; h++) {
			if (live->address + size == holes[h].address)
				holes[h].below = (struct tdm_hole_bound){ true, live->name, size };
			if (live->address == holes[h].address + holes[h].size)
				holes[h].above = (struct tdm_hole_bound){ true, live->name, size };
		}
	}
}

size_t tdm_replay_holes(const struct tdm_replay *replay, size_t space, struct tdm_hole holes[TDM_REPLAY_HOLES])
{
	struct tdm_freelist_walk walk;
	struct tdm_free_block block;
	size_t count = 0;
	tdm_freelist_walk(replay->spaces[space].list, &walk);
	while (tdm_freelist_walk_next(&walk, &block)) {
		size_t at = count, last = tdm_min(count, TDM_REPLAY_HOLES - 1);
		while (at > 0 && holes[at - 1].size < block.size)
			at--;
		if (block.used || at == TDM_REPLAY_HOLES)
			continue;
		memmove(holes + at + 1, holes + at, (last - at) * sizeof *holes);
		holes[at] = (struct tdm_hole){ .address = block.address, .size = block.size };
		count = last + 1;
	}
	name_bounds(replay, space, holes, count);
	return count;
}

/* ---- allocating ---- */

/* An allocation, from the point of view of one bank. */
struct request {
	uint64_t bytes_per_bank, aligned_size;
	enum tdm_grow grow;
	bool empty; /* a buffer of 0 bytes, to which the runtime assigns address 0 without allocating anything */
};

static int make_request(struct tdm_replay *replay, const struct tdm_replay_space *space, const struct tdm_event *event,
	struct request *request, struct tdm_diag *diag)
{
	bool bottom_up = space->range.bottom_up;
	if ((event->flags & (TDM_EVENT_BOTTOM_UP | TDM_EVENT_TOP_DOWN)) != 0)
		bottom_up = (event->flags & TDM_EVENT_BOTTOM_UP) != 0;
	*request = (struct request){ event->size, event->size, bottom_up ? TDM_BOTTOM_UP : TDM_TOP_DOWN, false };
	if (!replay->is_device)
		return 0;
	if (event->size == 0) {
		request->empty = true;
		return 0;
	}
	if (event->bytes_per_bank != TDM_SIZE_UNKNOWN) {
		request->bytes_per_bank = event->bytes_per_bank;
		return 0;
	}
	if (space->kind == TDM_KIND_L1_SMALL && event->cores == 0)
		return tdm_diag_set(diag, TDM_EREFUSED, event->position, event->column,
			"expected cores=N: the runtime refuses interleaved L1_SMALL buffers");
	struct tdm_bank_spread spread;
	struct tdm_buffer_shape shape = { event->size, event->page_size, event->cores };
	struct tdm_diag inner = { 0 };
	/* A region of size 0 has no banks. The failure is reported later, with the figures of one bank. */
	struct tdm_bank_range range = space->range;
	if (range.banks == 0)
		range.banks = event->cores != 0 ? event->cores : 1;
	int err = tdm_bank_spread(&range, &shape, &spread, &inner);
	if (err != 0)
		return tdm_diag_set(diag, err, event->position, event->column, "%s",
			inner.text[0] != '\0' ? inner.text : tdm_err_text(err));
	request->bytes_per_bank = spread.bytes_per_bank;
	request->aligned_size = spread.aligned_size;
	return 0;
}

static enum tdm_cause cause_of(
	const struct tdm_replay_space *space, const struct tdm_event *event, uint64_t need, int err)
{
	struct tdm_freelist_stats s = tdm_freelist_stats(space->list);
	uint64_t base = space->range.base, size = space->range.size;
	if (size == 0)
		return TDM_CAUSE_NO_REGION;
	if (err == TDM_EOCCUPIED)
		return event->address < base || need > size || event->address - base > size - need ? TDM_CAUSE_OUTSIDE
												   : TDM_CAUSE_OCCUPIED;
	enum tdm_cause cause = tdm_cause_of(need, s.total, s.free, s.largest_free);
	return cause != TDM_CAUSE_UNKNOWN ? cause : TDM_CAUSE_FRAGMENTED;
}

/* Adds the message that the runtime would print; none for fixed addresses, which the runtime lacks. */
static void put_message(struct tdm_findings *out, const struct tdm_replay_space *space, const struct tdm_event *event,
	const struct request *request)
{
	static const char *const types[TDM_REPLAY_SPACES] = { "DRAM", "L1", "L1_SMALL", "TRACE" };
	struct tdm_freelist_stats s = tdm_freelist_stats(space->list);
	char text[512];
	int len = snprintf(text, sizeof text,
		"Out of Memory: Not enough space to allocate %" PRIu64 " B %s buffer across %" PRIu32
		" banks, where each bank needs to store %" PRIu64 " B, but bank size is %" PRIu64
		" B (allocated: %" PRIu64 " B, free: %" PRIu64 " B, largest free block: %" PRIu64 " B)",
		request->aligned_size, types[space->kind], event->cores != 0 ? event->cores : space->range.banks,
		request->bytes_per_bank, s.total, s.allocated, s.free, s.largest_free);
	bool is_printed = space->range.banks != 0 && (event->flags & TDM_EVENT_FIXED) == 0;
	tdm_findings_place(out, "runtime_message", (struct tdm_str){ text, is_printed ? (size_t)len : 0 });
	tdm_findings_label(out, "the runtime says");
}

/* If memory is fragmented, advises moving a buffer: the smallest one whose removal would join two holes into one that
 * is large enough. */
static void advise(struct tdm_findings *out, enum tdm_cause cause, uint64_t need, uint64_t free,
	const struct tdm_hole *holes, size_t count)
{
	const struct tdm_hole_bound *best = NULL;
	uint64_t joined = 0;
	char size[TDM_BYTES_CAP], block[TDM_BYTES_CAP];
	if (cause == TDM_CAUSE_EXHAUSTED) {
		tdm_findings_advise(out, NULL, "free at least %s B more per bank before it",
			tdm_format_count(block, sizeof block, need - free));
		tdm_findings_change(out, "free", TDM_UNIT_BYTES, need);
	}
	for (size_t i = 0; cause == TDM_CAUSE_FRAGMENTED && i < count * count; i++) {
		const struct tdm_hole *low = &holes[i / count], *high = &holes[i % count];
		uint64_t between = low->above.bytes, bytes = low->size + between + high->size;
		if (!low->above.is_buffer || low->address + low->size + between != high->address || bytes < need ||
			(best != NULL && between >= best->bytes))
			continue;
		best = &low->above;
		joined = bytes;
	}
	if (best == NULL)
		return;
	tdm_findings_advise(out, NULL,
		"allocate %s (%s) at another time, or free it first: without it the largest block would be %s B",
		best->name.text, tdm_format_bytes_short(size, sizeof size, best->bytes),
		tdm_format_count(block, sizeof block, joined));
	tdm_findings_change(out, "largest_free", TDM_UNIT_BYTES, joined);
}

#define ASKED  "{name}, |{,size} B| of {kind}| sharded over {_shards} cores| over {_spread} banks"
#define NEEDED "it needs {,needed_per_bank} B in one piece"
static const char *const failure_patterns[] = {
	[TDM_CAUSE_UNKNOWN] = ASKED,
	[TDM_CAUSE_TOO_LARGE] = ASKED "|: too large: " NEEDED ", and the whole region has {,total} B",
	[TDM_CAUSE_EXHAUSTED] = ASKED "|: exhausted: " NEEDED ", and only {,free} B are free",
	[TDM_CAUSE_FRAGMENTED] =
		ASKED "|: fragmented: " NEEDED "; {,free} B are free, the largest block is {,largest_free} B",
	[TDM_CAUSE_OCCUPIED] = ASKED "|: occupied: {,needed_per_bank} B at address {#address} are not all free",
	[TDM_CAUSE_OUTSIDE] = ASKED "|: outside: {,needed_per_bank} B at address {#address} are not in the region",
	[TDM_CAUSE_NO_REGION] = ASKED "|: no region: this device was set up without {kind} memory ({_setting}=0)",
};

/* Makes a finding from the first failure in a space. */
static void note_failure(struct tdm_replay *replay, struct tdm_replay_space *space, const struct tdm_event *event,
	const struct request *request, int err)
{
	struct tdm_findings *out = &replay->findings;
	struct tdm_hole holes[TDM_REPLAY_HOLES];
	struct tdm_freelist_stats s = tdm_freelist_stats(space->list);
	bool is_device = replay->is_device;
	uint64_t need = request->bytes_per_bank;
	if (space->failures++ != 0)
		return;
	tdm_freelist_round(space->list, request->bytes_per_bank, &need);
	enum tdm_cause cause = cause_of(space, event, need, err);
	space->first_failure = out->count;
	space->failed = short_name(event->name);
	struct tdm_finding *finding =
		tdm_findings_add(out, TDM_FAMILY_REPLAY, tdm_cause_name(cause), TDM_FINDING_BROKEN);
	finding->code = (uint8_t)cause;
	finding->pattern = failure_patterns[cause];
	finding->names_itself = true;
	finding->about.name = space->failed.text;
	finding->about.kind = is_device ? (uint8_t)space->kind : TDM_KIND_COUNT;
	tdm_findings_position(out, "line", TDM_UNIT_COUNT, event->position);
	tdm_findings_position(out, "request", TDM_UNIT_COUNT, replay->ops);
	if ((event->flags & TDM_EVENT_FIXED) != 0)
		tdm_findings_position(out, "address", TDM_UNIT_ADDRESS, event->address);
	tdm_findings_figure(out, "size", TDM_UNIT_BYTES, event->size); /* requested, over all banks */
	tdm_findings_figure(out, "cores", TDM_UNIT_COUNT, event->cores);
	tdm_findings_figure(out, "bytes_per_bank", TDM_UNIT_BYTES, request->bytes_per_bank);
	tdm_findings_figure(out, "needed_per_bank", TDM_UNIT_BYTES, need); /* contiguous */
	tdm_findings_figure(out, "total", TDM_UNIT_BYTES, s.total);
	tdm_findings_figure(out, "allocated", TDM_UNIT_BYTES, s.allocated);
	tdm_findings_figure(out, "free", TDM_UNIT_BYTES, s.free);
	tdm_findings_figure(out, "largest_free", TDM_UNIT_BYTES, s.largest_free);
	tdm_findings_real(out, "fragmentation", TDM_UNIT_SHARE, tdm_replay_frag(s.free, s.largest_free));
	if (is_device) {
		bool is_spread = event->cores == 0 && space->range.banks > 1;
		tdm_findings_figure(out, "banks", TDM_UNIT_COUNT, space->range.banks);
		/* Used only in the sentence: */
		tdm_findings_figure(
			out, "_shards", TDM_UNIT_COUNT, event->cores != 0 ? event->cores : TDM_BYTES_UNKNOWN);
		tdm_findings_figure(out, "_spread", TDM_UNIT_COUNT, is_spread ? space->range.banks : TDM_BYTES_UNKNOWN);
		tdm_findings_word(
			out, "_setting", space->kind == TDM_KIND_TRACE ? "trace_region" : tdm_kind_name(space->kind));
		put_message(out, space, event, request);
	}
	size_t count = tdm_replay_holes(replay, (size_t)(space - replay->spaces), holes);
	tdm_findings_holes(out, holes, count);
	advise(out, cause, need, s.free, holes, count);
}

static void put_result(const struct tdm_replay *replay, const struct tdm_event *event, const struct request *request,
	bool placed, uint64_t address, struct tdm_buf *results)
{
	if (results == NULL)
		return;
	tdm_buf_add(results, event->name.ptr, event->name.len);
	clean(results->data + results->len - event->name.len, event->name.len);
	if (!placed)
		tdm_buf_puts(results, " none\n");
	else if (replay->is_device)
		tdm_buf_printf(results, " %" PRIu64 " %" PRIu64 "\n", address, request->bytes_per_bank);
	else
		tdm_buf_printf(results, " %" PRIu64 "\n", address);
}

static int apply_alloc(
	struct tdm_replay *replay, const struct tdm_event *event, struct tdm_buf *results, struct tdm_diag *diag)
{
	size_t at = replay->is_device ? event->kind : 0;
	struct request request;
	if (at >= replay->space_count)
		return tdm_diag_set(diag, TDM_EREFUSED, event->position, event->column,
			"expected a buffer in dram, l1, l1_small or trace, got one in %s",
			tdm_kind_name((enum tdm_kind)event->kind));
	/* The buffer's entry: either a new entry, or that of an earlier failed attempt with the same name. */
	uint32_t slot = tdm_live_set_find(&replay->set, event->id);
	if (slot != TDM_MAP_NONE && !replay->live[slot].failed)
		return tdm_diag_set(diag, TDM_EREFUSED, event->position, event->column,
			"expected a new name: '%s' is still allocated", replay->live[slot].name.text);
	if (slot == TDM_MAP_NONE) {
		slot = tdm_live_set_add(&replay->set, event->id);
		tdm_grow(&replay->live, &replay->live_cap, replay->set.used, sizeof *replay->live);
	}
	struct tdm_replay_live *live = &replay->live[slot];
	struct tdm_replay_space *space = &replay->spaces[at];
	*live = (struct tdm_replay_live){ .space = (uint8_t)at, .failed = true, .name = short_name(event->name) };
	int err = make_request(replay, space, event, &request, diag);
	if (err != 0)
		return err;
	if (request.empty)
		live->address = 0;
	else if ((event->flags & TDM_EVENT_FIXED) == 0)
		err = tdm_freelist_alloc(space->list, request.bytes_per_bank, request.grow, 0, &live->address);
	else
		err = tdm_freelist_place(space->list, live->address = event->address, request.bytes_per_bank);
	if (err == -ERANGE)
		return tdm_diag_set(diag, err, event->position, event->column,
			"expected a size that still fits 64 bits when it is rounded up");
	live->failed = err != 0;
	live->placed = err == 0 && !request.empty;
	put_result(replay, event, &request, err == 0, live->address, results);
	if (err != 0) {
		note_failure(replay, space, event, &request, err);
		return 0;
	}
	space->allocs++;
	replay->live_count++;
	note_state(replay, space, event->position);
	return 0;
}

static int apply_free(struct tdm_replay *replay, const struct tdm_event *event, struct tdm_diag *diag)
{
	uint32_t slot = tdm_live_set_take(&replay->set, event->id);
	if (slot == TDM_MAP_NONE)
		return tdm_diag_set(diag, TDM_ENOTFOUND, event->position, event->column,
			"expected the name of a live buffer, got '%s'", short_name(event->name).text);
	struct tdm_replay_live *live = &replay->live[slot];
	struct tdm_replay_space *space = &replay->spaces[live->space];
	if (live->placed)
		tdm_freelist_release(space->list, live->address, NULL);
	if (!live->failed) {
		space->frees++;
		replay->live_count--;
		note_state(replay, space, event->position);
	}
	live->placed = false;
	return 0;
}

static void apply_shrink(struct tdm_replay *replay, const struct tdm_event *event, struct tdm_buf *results)
{
	struct tdm_freelist *list = replay->spaces[0].list;
	const char *verb = event->size != 0 ? "shrink" : "reset";
	int err = event->size != 0 ? tdm_freelist_shrink(list, event->size) : 0;
	if (event->size == 0)
		tdm_freelist_reset(list);
	if (results != NULL && err != 0)
		tdm_buf_printf(results, "%s none\n", verb);
	else if (results != NULL)
		tdm_buf_printf(results, "%s total=%" PRIu64 "\n", verb, tdm_freelist_stats(list).total);
	note_state(replay, &replay->spaces[0], event->position);
}

int tdm_replay_apply(
	struct tdm_replay *replay, const struct tdm_event *event, struct tdm_buf *results, struct tdm_diag *diag)
{
	int err = 0;
	if (event->op == TDM_OP_DEVICE)
		return apply_device(replay, event, diag);
	if (replay->space_count == 0)
		return tdm_diag_set(diag, TDM_EREFUSED, event->position, event->column,
			"expected a 'region' or 'device' line that could be used before this");
	replay->ops++;
	switch (event->op) {
	case TDM_OP_ALLOC:
		err = apply_alloc(replay, event, results, diag);
		break;
	case TDM_OP_FREE:
		err = apply_free(replay, event, diag);
		break;
	case TDM_OP_QUERY:
		for (size_t i = 0; results != NULL && i < replay->space_count; i++) {
			struct tdm_freelist_stats s = tdm_freelist_stats(replay->spaces[i].list);
			tdm_buf_printf(results,
				"stats %s%stotal=%" PRIu64 " allocated=%" PRIu64 " free=%" PRIu64 " largest=%" PRIu64
				"\n",
				replay->is_device ? replay->spaces[i].name : "", replay->is_device ? " " : "", s.total,
				s.allocated, s.free, s.largest_free);
		}
		break;
	case TDM_OP_SHRINK:
		apply_shrink(replay, event, results);
		break;
	default:
		break; /* phases and programs do not change memory */
	}
	if (replay->ops % replay->stride == 0)
		take_samples(replay);
	return err;
}

const struct tdm_card *tdm_replay_card(const struct tdm_replay *replay)
{
	return replay->is_device ? &replay->card : NULL;
}

/* ---- events from any kind of file ---- */

/* Whether the event is about the replayed device. */
static bool is_wanted(struct tdm_replay_feed *f, uint32_t device)
{
	if (!f->has_device) {
		f->has_device = true;
		f->device = device;
	}
	if (device == f->device)
		return true;
	f->other_device = device;
	return false;
}

static int apply(struct tdm_replay_feed *f, const struct tdm_event *event, struct tdm_diag *diag)
{
	enum { TILE_BYTES = 2048, LEAST_BYTES = 32 };
	/* The file does not describe the device, so only the user can name the card. */
	const struct tdm_event unknown = { .op = TDM_OP_DEVICE, .text = tdm_str_of("device -") };
	struct tdm_event request = *event;
	uint64_t size = event->size;
	int err = f->replay->space_count == 0 ? tdm_replay_apply(f->replay, &unknown, NULL, diag) : 0;
	if (err != 0)
		return err;
	if (event->op == TDM_OP_ALLOC && !f->is_own_card)
		request.bytes_per_bank = TDM_SIZE_UNKNOWN;
	if (event->op == TDM_OP_ALLOC && request.bytes_per_bank == TDM_SIZE_UNKNOWN && event->page_size == 0) {
		/* Only the size is known: assume pages of one tile of 16-bit numbers or, if these do not fit, a page
		 * size that divides the size. */
		request.page_size = size % TILE_BYTES == 0 ? TILE_BYTES : size % LEAST_BYTES == 0 ? LEAST_BYTES : size;
		f->assumed++;
	}
	return tdm_replay_apply(f->replay, &request, f->results, diag);
}

static int apply_any(struct tdm_replay_feed *f, const struct tdm_event *event, struct tdm_diag *diag)
{
	enum tdm_left_out left_out;
	if (f->is_trace)
		return tdm_replay_apply(f->replay, event, f->results, diag);
	switch (event->op) {
	case TDM_OP_DEVICE:
		/* A description after the first buffers comes too late. */
		return is_wanted(f, event->device) && f->replay->space_count == 0
			       ? tdm_replay_apply(f->replay, event, f->results, diag)
			       : 0;
	case TDM_OP_ALLOC:
	case TDM_OP_FREE:
		if (event->kind >= TDM_REPLAY_SPACES) {
			left_out = tdm_kind_is_per_core((enum tdm_kind)event->kind) ? TDM_LEFT_OUT_PROGRAM
										    : TDM_LEFT_OUT_OTHER_KINDS;
			f->left_out[left_out] += event->op == TDM_OP_ALLOC; /* its release must not be counted again */
			return 0;
		}
		if (is_wanted(f, event->device) &&
			(event->op == TDM_OP_ALLOC || tdm_live_set_find(&f->replay->set, event->id) != TDM_MAP_NONE))
			return apply(f, event, diag);
		f->left_out[event->device != f->device ? TDM_LEFT_OUT_OTHER_DEVICES : TDM_LEFT_OUT_UNKNOWN_FREES]++;
		return 0;
	case TDM_OP_OOM:
		f->left_out[TDM_LEFT_OUT_ERRORS]++;
		return 0;
	default:
		return 0; /* programs, phases and processes are not requests */
	}
}

int tdm_replay_take(void *feed, const struct tdm_event *event, struct tdm_diag *diag)
{
	struct tdm_replay_feed *f = feed;
	int err = apply_any(f, event, diag);
	if (f->results != NULL)
		tdm_buf_pass(f->results);
	if (f->stop != NULL)
		*f->stop |= err < 0 && f->replay->space_count == 0;
	return err;
}

const char *tdm_replay_place(const struct tdm_format *format)
{
	return strcmp(format->name, "graph_capture") == 0 ? "byte" : "line";
}
