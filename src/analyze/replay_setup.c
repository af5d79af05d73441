#include "analyze/replay_setup.h"
#include "base/err.h"

#include <errno.h>

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

static int wrong(const struct words *w, int err, const char *at, struct tdm_str word, const char *expected)
{
	return tdm_diag_set(w->diag, err, w->event->position, column_of(w, at), "expected %s, got '%.*s'", expected,
		word.len < 40 ? (int)word.len : 40, word.ptr);
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

static int set_region_field(const struct words *w, struct tdm_str word, struct tdm_replay_setup *setup, unsigned *seen)
{
	static const char expected[] = "base=, size=, align=, min= or policy=first|best";
	struct tdm_str key, value;
	struct tdm_bank_range *range = &setup->range[0];
	const struct {
		const char *name;
		uint64_t *to;
	} fields[] = {
		{ "base", &range->base },
		{ "size", &range->size },
		{ "align", &range->block_align },
		{ "min", &setup->min_alloc[0] },
	};
	if (!split_pair(word, &key, &value))
		return wrong(w, TDM_ESYNTAX, word.ptr, word, expected);
	if (tdm_str_is(key, "policy"))
		return tdm_fit_parse(value, &setup->fit) == 0
			       ? 0
			       : wrong(w, TDM_ESYNTAX, value.ptr, value, "'first' or 'best'");
	for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
		if (!tdm_str_is(key, fields[i].name))
			continue;
		*seen |= 1u << i;
		int err = tdm_str_parse_u64(value, fields[i].to);
		return err == 0 ? 0 : wrong(w, err, value.ptr, value, "a whole number that fits 64 bits");
	}
	return wrong(w, TDM_ESYNTAX, word.ptr, word, expected);
}

static int setup_region(struct words *w, struct tdm_replay_setup *setup)
{
	unsigned seen = 0;
	struct tdm_bank_range *range = &setup->range[0];
	*range = (struct tdm_bank_range){ .banks = 1, .block_align = 1, .page_align = 1, .bottom_up = true };
	for (struct tdm_str word; (word = next_word(w)).len != 0;) {
		int err = set_region_field(w, word, setup, &seen);
		if (err != 0)
			return err;
	}
	struct tdm_str end = { w->left.ptr, 0 };
	if ((seen & 2) == 0)
		return wrong(w, TDM_ESYNTAX, end.ptr, end, "size=BYTES of the region");
	if (range->block_align == 0)
		return tdm_diag_set(
			w->diag, TDM_ESYNTAX, w->event->position, w->event->column, "expected an align= of at least 1");
	if (range->size > UINT64_MAX - range->base)
		return tdm_diag_set(w->diag, -ERANGE, w->event->position, w->event->column,
			"expected a region that ends below 2^64: base + size does not fit");
	return 0;
}

/* Overrides of the card: the trace's own, a file's, then the user's. */
static int setup_card(struct words *w, const struct tdm_replay_options *options, struct tdm_card *card)
{
	struct tdm_card_variant variant = tdm_card_variant_default();
	struct tdm_diag inner = { 0 };
	struct tdm_str name = next_word(w);
	if (name.len == 0)
		return wrong(w, TDM_ECARD, name.ptr, name, "the name of a card");
	struct tdm_str used = options->card != NULL ? tdm_str_of(options->card) : name;
	int err = tdm_card_init(card, used, &variant, &inner);
	if (err != 0)
		return tdm_diag_set(w->diag, err, options->card != NULL ? 0 : w->event->position,
			column_of(w, name.ptr), "%s", inner.text);
	for (struct tdm_str word; (word = next_word(w)).len != 0;) {
		err = tdm_card_set(card, word, &inner);
		if (err != 0)
			return tdm_diag_set(w->diag, err, w->event->position,
				column_of(w, word.ptr) + (inner.column != 0 ? inner.column - 1 : 0), "%s", inner.text);
	}
	if (options->card_file != NULL) {
		inner.file = options->card_file;
		err = tdm_card_load(card, options->card_file, &inner);
		if (err != 0) {
			*w->diag = inner;
			return err;
		}
	}
	for (size_t i = 0; options->settings != NULL && options->settings[i] != NULL; i++) {
		err = tdm_card_set(card, tdm_str_of(options->settings[i]), &inner);
		if (err != 0)
			return tdm_diag_set(w->diag, err, 0, 0, "--set %s: %s", options->settings[i], inner.text);
	}
	return 0;
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
	struct tdm_str verb = next_word(&w);
	int err;
	if (tdm_str_is(verb, "device"))
		err = setup_device(&w, options, setup);
	else if (tdm_str_is(verb, "region"))
		err = setup_region(&w, setup);
	else
		err = wrong(&w, TDM_ESYNTAX, verb.ptr, verb, "'region' or 'device'");
	if (err == 0 && options->has_fit)
		setup->fit = options->fit;
	return err;
}
