#include "device/card_set.h"
#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <strings.h>

/* The number of suggestions for an unknown name. */
enum { CLOSE_NAMES = 3 };

static const char by_user[] = "set by the user";

struct word {
	const char *text;
	int value;
};

static const struct word dispatch_words[] = {
	{ "default", TDM_DISPATCH_DEFAULT },
	{ "tensix-row", TDM_DISPATCH_TENSIX_ROW },
	{ "tensix-col", TDM_DISPATCH_TENSIX_COL },
	{ "tensix", TDM_DISPATCH_TENSIX },
	{ "eth", TDM_DISPATCH_ETH },
	{ "none", TDM_DISPATCH_NONE },
	{ NULL, 0 },
};
static const struct word switch_words[] = { { "0", 0 }, { "1", 1 }, { NULL, 0 } };
static const struct word firmware_words[] = { { "new", 0 }, { "old", 1 }, { NULL, 0 } };

/* The variants, in the order of enum tdm_card_setting. */
static const struct {
	const char *name;
	const struct word *words;
	const char *expected;
} variants[] = {
	{ "dispatch", dispatch_words, "default, tensix-row, tensix-col, tensix, eth or none" },
	{ "tracy", switch_words, "0 or 1" },
	{ "firmware", firmware_words, "new or old" },
	{ "fabric_mux", switch_words, "0 or 1" },
};

static const char *setting_name(int setting)
{
	return setting < TDM_CARD_FIELD_COUNT ? tdm_card_field_name((enum tdm_card_field)setting)
					      : variants[setting - TDM_CARD_FIELD_COUNT].name;
}

static bool same_word(struct tdm_str asked, const char *word)
{
	return asked.len == strlen(word) && strncasecmp(asked.ptr, word, asked.len) == 0;
}

int tdm_card_setting_find(struct tdm_str name)
{
	for (int i = 0; i < TDM_SETTING_COUNT; i++)
		if (same_word(name, setting_name(i)))
			return i;
	return -1;
}

char *tdm_card_shown(struct tdm_str text, char dst[TDM_CARD_SHOWN_CAP])
{
	size_t len = text.len < TDM_CARD_SHOWN_CAP ? text.len : TDM_CARD_SHOWN_CAP - 1;
	for (size_t i = 0; i < len; i++)
		dst[i] = text.ptr[i] >= ' ' && text.ptr[i] <= '~' ? text.ptr[i] : '?';
	dst[len] = '\0';
	return dst;
}

/* The number of letters to insert, remove or replace to turn one text into the other; keeps one row of the table. */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned row[TDM_CARD_SHOWN_CAP + 1];
	size_t b_len = strlen(b);
	for (size_t j = 0; j <= b_len; j++)
		row[j] = (unsigned)j;
	for (size_t i = 0; a[i] != '\0'; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i + 1;
		for (size_t j = 0; j < b_len; j++) {
			unsigned replaced = diagonal + (a[i] != b[j]);
			unsigned least = row[j] < row[j + 1] ? row[j] + 1 : row[j + 1] + 1;
			diagonal = row[j + 1];
			row[j + 1] = replaced < least ? replaced : least;
		}
	}
	return row[b_len];
}

/* The settings whose names are nearest to `name`, nearest first. */
static void find_close(const char *name, int close[CLOSE_NAMES])
{
	unsigned best[CLOSE_NAMES];
	for (int i = 0; i < CLOSE_NAMES; i++)
		best[i] = UINT_MAX;
	for (int setting = 0; setting < TDM_SETTING_COUNT; setting++) {
		unsigned distance = edit_distance(name, setting_name(setting));
		int at = CLOSE_NAMES;
		for (; at > 0 && distance < best[at - 1]; at--)
			if (at < CLOSE_NAMES) {
				best[at] = best[at - 1];
				close[at] = close[at - 1];
			}
		if (at < CLOSE_NAMES) {
			best[at] = distance;
			close[at] = setting;
		}
	}
}

static int unknown_setting(struct tdm_str name, uint64_t column, struct tdm_diag *diag)
{
	char shown[TDM_CARD_SHOWN_CAP];
	int close[CLOSE_NAMES];
	find_close(tdm_card_shown(name, shown), close);
	return tdm_diag_set(diag, TDM_EFIELD, 0, column, "unknown card field '%s'; the closest are %s, %s and %s",
		shown, setting_name(close[0]), setting_name(close[1]), setting_name(close[2]));
}

bool tdm_card_assignment_split(struct tdm_str assignment, struct tdm_str *name, struct tdm_str *value)
{
	const char *equals = assignment.len != 0 ? memchr(assignment.ptr, '=', assignment.len) : NULL;
	size_t at = equals != NULL ? (size_t)(equals - assignment.ptr) : assignment.len;
	*name = tdm_str_trim((struct tdm_str){ assignment.ptr, at });
	if (equals == NULL)
		return false;
	*value = tdm_str_trim((struct tdm_str){ equals + 1, assignment.len - at - 1 });
	return true;
}

/* Reads a size in bytes or a count; *bad is the offset of the byte that is wrong. */
static int parse_number(struct tdm_str value, char unit, uint64_t *number, size_t *bad)
{
	if (unit == 'B')
		return tdm_parse_bytes(value, number, bad);
	for (*bad = 0; *bad < value.len && value.ptr[*bad] >= '0' && value.ptr[*bad] <= '9';)
		++*bad;
	int err = tdm_str_parse_u64(value, number);
	return err == 0 && *number > UINT32_MAX ? -ERANGE : err;
}

static int assign_field(struct tdm_card *card, enum tdm_card_field field, struct tdm_str value, const char *source,
	uint64_t column, struct tdm_diag *diag)
{
	const char *name = tdm_card_field_name(field);
	char unit = tdm_card_field_unit(field);
	uint64_t number = 0;
	size_t bad = 0;
	int err = parse_number(value, unit, &number, &bad);
	if (err == 0 && number == TDM_BYTES_UNKNOWN)
		err = -ERANGE;
	if (err == -ERANGE)
		return tdm_diag_set(diag, err, 0, column, "the value of %s is too large", name);
	if (err != 0)
		return tdm_diag_set(diag, err, 0, column + bad, "expected %s as the value of %s",
			unit == 'B' ? "a size in bytes, like 4096, 64K or 1.5MiB," : "a whole number", name);
	/* Harvesting determines the grid, so it is part of the variant, too. */
	if (field == TDM_CARD_HARVESTED)
		card->variant.harvested = number > INT_MAX ? INT_MAX : (int)number;
	card->value[field] = number;
	card->source[field] = source;
	card->is_set[field] = true;
	return 0;
}

static int assign_variant(
	struct tdm_card *card, int setting, struct tdm_str value, uint64_t column, struct tdm_diag *diag)
{
	int variant = setting - TDM_CARD_FIELD_COUNT;
	const struct word *word = variants[variant].words;
	while (word->text != NULL && !same_word(value, word->text))
		word++;
	if (word->text == NULL)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, column, "expected %s as the value of %s",
			variants[variant].expected, variants[variant].name);
	switch (setting) {
	case TDM_SETTING_DISPATCH:
		card->variant.dispatch = (enum tdm_dispatch)word->value;
		break;
	case TDM_SETTING_TRACY:
		card->variant.tracy = word->value != 0;
		break;
	case TDM_SETTING_FIRMWARE:
		card->variant.old_firmware = word->value != 0;
		break;
	default:
		card->variant.fabric_mux = word->value != 0;
		break;
	}
	return 0;
}

int tdm_card_assign(struct tdm_card *card, struct tdm_str assignment, const char *source, struct tdm_diag *diag)
{
	struct tdm_str name, value = { NULL, 0 };
	char shown[TDM_CARD_SHOWN_CAP];
	bool has_value = tdm_card_assignment_split(assignment, &name, &value);
	uint64_t name_column = name.len != 0 ? (uint64_t)(name.ptr - assignment.ptr) + 1 : 1;
	if (name.len == 0)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, name_column, "expected a field name, as in l1_small=32K");
	if (!has_value)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, name_column + name.len, "expected '=' and a value after '%s'",
			tdm_card_shown(name, shown));
	int setting = tdm_card_setting_find(name);
	if (setting < 0)
		return unknown_setting(name, name_column, diag);
	uint64_t value_column = (uint64_t)(value.ptr - assignment.ptr) + 1;
	if (setting < TDM_CARD_FIELD_COUNT)
		return assign_field(card, (enum tdm_card_field)setting, value, source, value_column, diag);
	return assign_variant(card, setting, value, value_column, diag);
}

/* Derives the changed card and takes it over if that succeeds. */
static int derive_changed(struct tdm_card *card, struct tdm_card *changed, struct tdm_diag *diag)
{
	int err = tdm_card_derive(changed, diag);
	if (err == 0)
		*card = *changed;
	else if (diag != NULL)
		diag->column = 1;
	return err;
}

int tdm_card_set(struct tdm_card *card, struct tdm_str assignment, struct tdm_diag *diag)
{
	struct tdm_card changed = *card;
	int err = tdm_card_assign(&changed, assignment, by_user, diag);
	return err != 0 ? err : derive_changed(card, &changed, diag);
}

int tdm_card_set_all(struct tdm_card *card, const char *const *assignments, const char **wrong, struct tdm_diag *diag)
{
	struct tdm_card changed = *card;
	if (assignments == NULL || assignments[0] == NULL)
		return 0;
	for (size_t i = 0; assignments[i] != NULL; i++) {
		*wrong = assignments[i];
		int err = tdm_card_assign(&changed, tdm_str_of(assignments[i]), by_user, diag);
		if (err != 0)
			return err;
	}
	return derive_changed(card, &changed, diag);
}

const char *tdm_dispatch_name(enum tdm_dispatch dispatch)
{
	for (const struct word *word = dispatch_words; word->text != NULL; word++)
		if (word->value == (int)dispatch)
			return word->text;
	return "unknown";
}
