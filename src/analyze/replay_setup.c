#include "analyze/replay_setup.h"
#include "base/err.h"
#include "device/card_set.h"

#include <errno.h>

enum { SHOWN_CAP = 44 };

struct words {
	const struct tdm_event *event;
	struct tdm_str left;
	struct tdm_diag *diag;
};

static struct tdm_str next_word(struct words *w)
{
	w->left = tdm_str_trim(w->left);
	size_t len = 0;
	while (len < w->left.len && w->left.ptr[len] != ' ' && w->left.ptr[len] != '\t')
		len++;
	struct tdm_str word = { w->left.ptr, len };
	w->left = (struct tdm_str){ w->left.ptr + len, w->left.len - len };
	return word;
}

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

/* Splits "key=value". */
static bool split_pair(struct tdm_str word, struct tdm_str *key, struct tdm_str *value)
{
	const char *equals = memchr(word.ptr, '=', word.len);
	if (equals == NULL)
		return false;
	*key = (struct tdm_str){ word.ptr, (size_t)(equals - word.ptr) };
	*value = (struct tdm_str){ equals + 1, word.len - key->len - 1 };
	return true;
}

/* The fields of a region; `seen` gets a bit for each. */
enum { FIELD_BASE, FIELD_SIZE, FIELD_ALIGN, FIELD_MIN, FIELD_POLICY, FIELD_COUNT };
static const char *const field_names[FIELD_COUNT] = { "base", "size", "align", "min", "policy" };

static int set_region_field(const struct words *w, struct tdm_str word, struct tdm_replay_setup *setup, unsigned *seen)
{
	static const char expected[] = "base=, size=, align=, min= or policy=, once each";
	struct tdm_bank_range *range = &setup->range[0];
	uint64_t *const numbers[] = { &range->base, &range->size, &range->block_align, &setup->min_alloc[0] };
	struct tdm_str key, value;
	unsigned field = 0;
	if (!split_pair(word, &key, &value))
		return wrong(w, TDM_ESYNTAX, word, expected);
	while (field < FIELD_COUNT && !tdm_str_is(key, field_names[field]))
		field++;
	if (field == FIELD_COUNT || (*seen >> field & 1) != 0)
		return wrong(w, TDM_ESYNTAX, word, expected);
	*seen |= 1u << field;
	if (field == FIELD_POLICY)
		return tdm_fit_parse(value, &setup->fit) == 0 ? 0 : wrong(w, TDM_ESYNTAX, value, "'first' or 'best'");
	int err = tdm_str_parse_u64(value, numbers[field]);
	if (err != 0)
		return wrong(w, err, value, "a whole number that fits 64 bits");
	return field == FIELD_ALIGN && range->block_align == 0 ? wrong(w, TDM_ESYNTAX, value, "1 or more") : 0;
}

static int setup_region(struct words *w, const struct tdm_replay_options *options, struct tdm_replay_setup *setup)
{
	unsigned seen = 0;
	struct tdm_bank_range *range = &setup->range[0];
	if (options->card != NULL || options->card_file != NULL ||
		(options->settings != NULL && options->settings[0] != NULL))
		return tdm_diag_set(w->diag, TDM_EREFUSED, 0, 0,
			"this is a trace of one region: another card or changed figures do not apply");
	*range = (struct tdm_bank_range){ .banks = 1, .block_align = 1, .page_align = 1, .bottom_up = true };
	for (struct tdm_str word; (word = next_word(w)).len != 0;) {
		int err = set_region_field(w, word, setup, &seen);
		if (err != 0)
			return err;
	}
	if ((seen >> FIELD_SIZE & 1) == 0)
		return wrong(w, TDM_ESYNTAX, w->left, "size=BYTES of the region");
	if (range->size > UINT64_MAX - range->base)
		return tdm_diag_set(w->diag, -ERANGE, w->event->position, w->event->column,
			"expected a region that ends below 2^64: base + size does not fit");
	return 0;
}

/* One word of the device line. On a card other than the trace's own, the program's choices (sizes of regions) still
 * apply unless a card file has set them; the description of the trace's card (cores, banks, addresses) does not, and
 * only has to be well formed. */
static int set_card_field(struct tdm_card *card, struct tdm_str word, bool other_card, struct tdm_diag *diag)
{
	struct tdm_str key = { 0 }, value;
	if (!other_card || !split_pair(word, &key, &value) ||
		(tdm_str_is(key, "l1_small") && !card->is_set[TDM_CARD_L1_SMALL]) ||
		(tdm_str_is(key, "trace_region") && !card->is_set[TDM_CARD_TRACE_REGION]))
		return tdm_card_set(card, word, diag);
	struct tdm_card unused = *card;
	int err = tdm_card_set(&unused, word, diag);
	return err == TDM_EREFUSED ? 0 : err;
}

static int set_card_fields(struct words *w, bool other_card, struct tdm_card *card)
{
	struct tdm_diag inner = { 0 };
	for (struct tdm_str word; (word = next_word(w)).len != 0;) {
		int err = set_card_field(card, word, other_card, &inner);
		if (err != 0)
			return tdm_diag_set(w->diag, err, w->event->position,
				column_of(w, word.ptr) + (inner.column != 0 ? inner.column - 1 : 0), "%s", inner.text);
	}
	return 0;
}

/* Reads the card file. It must be for the card that the user named, if any. */
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

/* Overrides of the card: the trace's own, a file's, then the user's. If only the file names the card, it comes first.
 */
static int setup_card(struct words *w, const struct tdm_replay_options *options, struct tdm_card *card)
{
	struct tdm_card_variant variant = tdm_card_variant_default();
	struct tdm_diag inner = { 0 };
	struct tdm_str name = next_word(w);
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

static int setup_device(struct words *w, const struct tdm_replay_options *options, struct tdm_replay_setup *setup)
{
	struct tdm_diag inner = { 0 };
	int err = setup_card(w, options, &setup->card);
	if (err != 0)
		return err;
	setup->is_device = true;
	err = tdm_card_check(&setup->card, &inner);
	for (unsigned kind = 0; err == 0 && kind < TDM_REPLAY_SPACES; kind++) {
		err = tdm_bank_range(&setup->card, (enum tdm_kind)kind, &setup->range[kind], &inner);
		setup->min_alloc[kind] = setup->range[kind].block_align;
	}
	if (err != 0)
		return tdm_diag_set(w->diag, err, w->event->position, w->event->column, "%s", inner.text);
	return 0;
}

int tdm_replay_setup(const struct tdm_event *event, const struct tdm_replay_options *options,
	struct tdm_replay_setup *setup, struct tdm_diag *diag)
{
	struct words w = { event, event->text, diag };
	memset(setup, 0, sizeof *setup);
	if (event->text.len == 0)
		return tdm_diag_set(diag, TDM_EREFUSED, event->position, event->column,
			"expected a device or region that is described in words");
	struct tdm_str verb = next_word(&w);
	int err;
	if (tdm_str_is(verb, "device"))
		err = setup_device(&w, options, setup);
	else if (tdm_str_is(verb, "region"))
		err = setup_region(&w, options, setup);
	else
		err = wrong(&w, TDM_ESYNTAX, verb, "'region' or 'device'");
	if (err == 0 && options->has_fit)
		setup->fit = options->fit;
	return err;
}
