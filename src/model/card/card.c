/*
 * A card is rebuilt from scratch each time: all fields unknown, then the tables, the variant, and the derived fields. A
 * field that the user set keeps its value and its source throughout, and derived fields are computed from it.
 */
#include "model/card/card.h"
#include "base/err.h"
#include "base/file.h"
#include "base/names.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

enum { FILE_MAX = 64 * 1024 };

static const struct {
	const char *name, *summary;
	char unit;
} fields[TDM_CARD_FIELD_COUNT] = {
#define X(id, name_text, unit_char, summary_text) [TDM_CARD_##id] = { name_text, summary_text, unit_char },
	TDM_CARD_FIELD_LIST(X)
#undef X
};

static void put(struct tdm_card *card, enum tdm_card_field field, uint64_t value, const char *source)
{
	if (card->is_set[field])
		return;
	card->value[field] = value;
	card->source[field] = source;
}

static void put_tables(struct tdm_card *card, const struct tdm_card_board *board)
{
	const struct tdm_card_arch *arch = board->arch;
	for (int i = 0; i < TDM_CARD_FIELD_COUNT; i++)
		put(card, (enum tdm_card_field)i, TDM_BYTES_UNKNOWN, arch->unknown);
	for (size_t i = 0; i < arch->fact_count; i++)
		put(card, arch->facts[i].field, arch->facts[i].value, arch->facts[i].source);
	put(card, TDM_CARD_CHIPS, board->chips, board->source);
	if (board->dram_banks != 0)
		put(card, TDM_CARD_DRAM_BANKS, board->dram_banks, board->source);
	put(card, TDM_CARD_L1_SMALL, 0, TDM_CARD_COMMIT "common_values.hpp: DEFAULT_L1_SMALL_SIZE");
	put(card, TDM_CARD_TRACE_REGION, 0, TDM_CARD_COMMIT "common_values.hpp: DEFAULT_TRACE_REGION_SIZE");
}

static int put_harvested(struct tdm_card *card, const struct tdm_card_board *board, struct tdm_diag *diag)
{
	const struct tdm_card_variant *variant = &card->variant;
	uint64_t harvested = board->harvested;
	const char *source = board->source;
	if (variant->harvested >= 0) {
		harvested = (uint64_t)variant->harvested;
		source = "set by the user";
	} else if (variant->old_firmware) {
		harvested = board->harvested_old;
	}
	put(card, TDM_CARD_HARVESTED, harvested, source);
	if (card->value[TDM_CARD_HARVESTED] > board->arch->harvested_max)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
			"harvested=%" PRIu64 ": the runtime knows %s chips with at most %" PRIu32 " %s fused off",
			card->value[TDM_CARD_HARVESTED], board->arch->name, board->arch->harvested_max,
			board->arch->harvest_unit);
	return 0;
}

static const struct tdm_card_grid *find_grid(
	const struct tdm_card *card, const struct tdm_card_arch *arch, enum tdm_dispatch dispatch)
{
	for (size_t i = 0; i < arch->grid_count; i++) {
		const struct tdm_card_grid *grid = &arch->grids[i];
		if (grid->dispatch == dispatch && grid->harvested == card->value[TDM_CARD_HARVESTED] &&
			grid->fabric_mux == card->variant.fabric_mux)
			return grid;
	}
	return NULL;
}

static int no_grid(const struct tdm_card *card, const struct tdm_card_arch *arch, struct tdm_diag *diag)
{
	static const enum tdm_dispatch choices[] = { TDM_DISPATCH_TENSIX_ROW, TDM_DISPATCH_TENSIX_COL,
		TDM_DISPATCH_ETH };
	char known[64] = "";
	size_t len = 0;
	for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
		if (find_grid(card, arch, choices[i]) != NULL)
			len += (size_t)snprintf(known + len, sizeof known - len, "%s, ", tdm_dispatch_name(choices[i]));
	return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
		"the runtime has no %s core descriptor for dispatch=%s with fabric_mux=%d and harvested=%" PRIu64
		"; for these it has dispatch=%snone",
		arch->name, tdm_dispatch_name(tdm_card_dispatch(card)), card->variant.fabric_mux,
		card->value[TDM_CARD_HARVESTED], known);
}

/* If there are no dispatch cores, every core that is not fused off computes. */
static void put_full_grid(struct tdm_card *card, const struct tdm_card_arch *arch)
{
	static const char source[] = "derived: all Tensix cores that are not fused off; none is used for dispatch";
	uint64_t x = card->value[TDM_CARD_WORKERS_X], y = card->value[TDM_CARD_WORKERS_Y];
	uint64_t harvested = card->value[TDM_CARD_HARVESTED];
	uint64_t *axis = arch->harvests_columns ? &x : &y;
	*axis = *axis > harvested ? *axis - harvested : 0;
	put(card, TDM_CARD_GRID_X, x, source);
	put(card, TDM_CARD_GRID_Y, y, source);
}

static int put_grid(struct tdm_card *card, const struct tdm_card_arch *arch, struct tdm_diag *diag)
{
	enum tdm_dispatch dispatch = tdm_card_dispatch(card);
	if (card->is_set[TDM_CARD_GRID_X] && card->is_set[TDM_CARD_GRID_Y])
		return 0;
	if (dispatch == TDM_DISPATCH_NONE) {
		put_full_grid(card, arch);
		return 0;
	}
	const struct tdm_card_grid *grid = find_grid(card, arch, dispatch);
	if (grid == NULL)
		return no_grid(card, arch, diag);
	put(card, TDM_CARD_GRID_X, grid->x, grid->source);
	put(card, TDM_CARD_GRID_Y, grid->y, grid->source);
	return 0;
}

static bool all_known(const struct tdm_card *card, const enum tdm_card_field *needed, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (card->value[needed[i]] == TDM_BYTES_UNKNOWN)
			return false;
	return true;
}

static void put_l1_base(struct tdm_card *card)
{
	static const enum tdm_card_field needed[] = { TDM_CARD_MAP_END, TDM_CARD_KERNEL_CONFIG, TDM_CARD_DRAM_ALIGN };
	const uint64_t *value = card->value;
	uint64_t end, base;
	if (!all_known(card, needed, sizeof needed / sizeof *needed))
		put(card, TDM_CARD_L1_BASE, TDM_BYTES_UNKNOWN, "needs map_end, kernel_config and dram_align");
	else if (__builtin_add_overflow(value[TDM_CARD_MAP_END], value[TDM_CARD_KERNEL_CONFIG], &end) ||
		 !tdm_align_up(end, value[TDM_CARD_DRAM_ALIGN], &base))
		put(card, TDM_CARD_L1_BASE, TDM_BYTES_UNKNOWN,
			"map_end + kernel_config cannot be aligned to dram_align");
	else
		put(card, TDM_CARD_L1_BASE, base, "derived: map_end + kernel_config, aligned to dram_align");
}

static void put_l1_banks(struct tdm_card *card, const struct tdm_card_arch *arch)
{
	static const enum tdm_card_field needed[] = { TDM_CARD_GRID_X, TDM_CARD_GRID_Y };
	uint64_t banks;
	if (arch->no_l1_banks != NULL)
		put(card, TDM_CARD_L1_BANKS, TDM_BYTES_UNKNOWN, arch->no_l1_banks);
	else if (!all_known(card, needed, sizeof needed / sizeof *needed) ||
		 __builtin_mul_overflow(card->value[TDM_CARD_GRID_X], card->value[TDM_CARD_GRID_Y], &banks))
		put(card, TDM_CARD_L1_BANKS, TDM_BYTES_UNKNOWN, "needs grid_x and grid_y");
	else
		put(card, TDM_CARD_L1_BANKS, banks, "derived: grid_x x grid_y, one bank for each compute core");
}

static void put_dram_base(struct tdm_card *card, const struct tdm_card_dram_reserve *dram)
{
	const char *source = card->variant.tracy ? dram->tracy_source : dram->source;
	uint64_t align = card->value[TDM_CARD_DRAM_ALIGN], profiler = 0, base = TDM_BYTES_UNKNOWN;
	bool known = dram->print_bytes != TDM_BYTES_UNKNOWN && align != TDM_BYTES_UNKNOWN;
	if (card->variant.tracy)
		known = known && dram->profiler_bytes != TDM_BYTES_UNKNOWN &&
			tdm_align_up(dram->profiler_bytes, align, &profiler);
	/* The barrier is one word and takes one alignment unit, as do the pointers of the print ring. */
	if (known && align < UINT64_MAX / 4)
		base = align + profiler + align + dram->print_bytes;
	else if (dram->print_bytes != TDM_BYTES_UNKNOWN &&
		 (!card->variant.tracy || dram->profiler_bytes != TDM_BYTES_UNKNOWN))
		source = "nothing can be aligned to dram_align";
	put(card, TDM_CARD_DRAM_BASE, base, source);
}

/* The firmware's map is valid only with its own end: a different map_end means different firmware. */
static void put_parts(struct tdm_card *card, const struct tdm_card_arch *arch)
{
	const struct tdm_l1_part *last = &arch->parts[arch->part_count - 1];
	assert(arch->part_count <= TDM_L1_PARTS_MAX);
	card->part_count = 0;
	if (last->address + last->size != card->value[TDM_CARD_MAP_END])
		return;
	for (size_t i = 0; i < arch->part_count; i++)
		card->parts[card->part_count++] = arch->parts[i];
}

int tdm_card_derive(struct tdm_card *card, struct tdm_diag *diag)
{
	const struct tdm_card_board *board = tdm_card_board_find(tdm_str_of(card->name));
	struct tdm_card built = *card;
	if (board == NULL)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "the card has not been initialised");
	put_tables(&built, board);
	int err = put_harvested(&built, board, diag);
	if (err == 0)
		err = put_grid(&built, board->arch, diag);
	if (err != 0)
		return err;
	put_l1_base(&built);
	put_l1_banks(&built, board->arch);
	put_dram_base(&built, &board->arch->dram);
	put_parts(&built, board->arch);
	*card = built;
	return 0;
}

static int unknown_card(struct tdm_str name, struct tdm_diag *diag)
{
	char shown[TDM_CARD_SHOWN_CAP], known[160] = "";
	size_t len = 0;
	for (const char *const *at = tdm_card_names; *at != NULL && len < sizeof known; at++)
		len += (size_t)snprintf(known + len, sizeof known - len, "%s%s", len == 0 ? "" : ", ", *at);
	return tdm_diag_set(diag, TDM_ECARD, 0, 0, "unknown card '%s'; the known cards are %s",
		tdm_str_shown(name, shown, sizeof shown), known);
}

int tdm_card_init(
	struct tdm_card *card, struct tdm_str name, const struct tdm_card_variant *variant, struct tdm_diag *diag)
{
	const struct tdm_card_board *board = tdm_card_board_find(name);
	if (board == NULL)
		return unknown_card(name, diag);
	struct tdm_card built = {
		.name = board->name,
		.full_name = board->full_name,
		.arch = board->arch->arch,
		.variant = variant != NULL ? *variant : tdm_card_variant_default(),
	};
	int err = tdm_card_derive(&built, diag);
	if (err == 0)
		*card = built;
	return err;
}

struct tdm_card_variant tdm_card_variant_default(void)
{
	return (struct tdm_card_variant){ .dispatch = TDM_DISPATCH_DEFAULT, .harvested = -1 };
}

enum tdm_dispatch tdm_card_dispatch(const struct tdm_card *card)
{
	const struct tdm_card_board *board = tdm_card_board_find(tdm_str_of(card->name));
	enum tdm_dispatch dispatch = card->variant.dispatch;
	if (board == NULL)
		return dispatch;
	if (dispatch == TDM_DISPATCH_DEFAULT)
		dispatch = board->arch->usual;
	if (dispatch == TDM_DISPATCH_TENSIX)
		dispatch = card->variant.fabric_mux ? board->arch->tensix_mux : board->arch->tensix;
	return dispatch;
}

const char *tdm_card_field_name(enum tdm_card_field field)
{
	return fields[field].name;
}

const char *tdm_card_field_summary(enum tdm_card_field field)
{
	return fields[field].summary;
}

char tdm_card_field_unit(enum tdm_card_field field)
{
	return fields[field].unit;
}

const char *tdm_arch_name(enum tdm_arch arch)
{
	switch (arch) {
	case TDM_ARCH_GRAYSKULL:
		return tdm_card_arch_grayskull.name;
	case TDM_ARCH_WORMHOLE:
		return tdm_card_arch_wormhole.name;
	case TDM_ARCH_BLACKHOLE:
		return tdm_card_arch_blackhole.name;
	case TDM_ARCH_QUASAR:
		return tdm_card_arch_quasar.name;
	}
	return "unknown";
}

/* ---- settings by name ---- */

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

int tdm_card_setting_find(struct tdm_str name)
{
	for (int i = 0; i < TDM_SETTING_COUNT; i++)
		if (tdm_str_is_word(name, setting_name(i)))
			return i;
	return -1;
}

static int unknown_setting(struct tdm_str name, uint64_t column, struct tdm_diag *diag)
{
	char shown[TDM_CARD_SHOWN_CAP];
	struct tdm_suggest suggest;
	tdm_suggest_init(&suggest, name);
	for (int i = 0; i < TDM_SETTING_COUNT; i++)
		tdm_suggest_offer(&suggest, setting_name(i));
	return tdm_diag_set(diag, TDM_EFIELD, 0, column, "unknown card field '%s'%s%s%s",
		tdm_str_shown(name, shown, sizeof shown), suggest.best != NULL ? ": did you mean " : "",
		suggest.best != NULL ? suggest.best : "", suggest.best != NULL ? "?" : "");
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

/* Reads a size in bytes or a count; on an error *bad is the offset of the offending byte. */
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
	/* Harvesting determines the grid, so it is also part of the variant. */
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
	while (word->text != NULL && !tdm_str_is_word(value, word->text))
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
			tdm_str_shown(name, shown, sizeof shown));
	int setting = tdm_card_setting_find(name);
	if (setting < 0)
		return unknown_setting(name, name_column, diag);
	uint64_t value_column = (uint64_t)(value.ptr - assignment.ptr) + 1;
	if (setting < TDM_CARD_FIELD_COUNT)
		return assign_field(card, (enum tdm_card_field)setting, value, source, value_column, diag);
	return assign_variant(card, setting, value, value_column, diag);
}

/* Derives the changed card and, if that succeeds, copies it to `card`. */
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

/*
 * ---- the card file ----
 *
 * One "field = value" per line; '#' starts a comment. All lines are stored first and derived together, so their order
 * does not matter, except that "card" must come first. The caller's card changes only if the whole file is valid.
 */

struct loader {
	struct tdm_card card;
	uint64_t first_line[TDM_SETTING_COUNT]; /* line of each setting; 0 if it was not given */
	uint64_t card_line;                     /* line of "card" */
	uint64_t setting_line;                  /* line of the first setting */
	uint64_t variant_line;                  /* the last line that affects the grid */
	struct tdm_diag *diag;
};

static int load_card(struct loader *ld, struct tdm_str line, struct tdm_str value, uint64_t number)
{
	uint64_t column = (uint64_t)(value.ptr - line.ptr) + 1;
	if (ld->card_line != 0)
		return tdm_diag_set(
			ld->diag, TDM_ESYNTAX, number, 1, "the card was already given in line %" PRIu64, ld->card_line);
	if (ld->setting_line != 0)
		return tdm_diag_set(ld->diag, TDM_ESYNTAX, number, 1,
			"'card' must come before every other field; line %" PRIu64 " is before it", ld->setting_line);
	ld->card_line = number;
	int err = tdm_card_init(&ld->card, value, NULL, ld->diag);
	if (err != 0 && ld->diag != NULL) {
		ld->diag->line = number;
		ld->diag->column = column;
	}
	return err;
}

static int load_setting(struct loader *ld, struct tdm_str line, struct tdm_str name, uint64_t number)
{
	int setting = tdm_card_setting_find(name);
	if (ld->card.name == NULL)
		return tdm_diag_set(ld->diag, TDM_ECARD, number, 1, "expected 'card = NAME' first: no card was given");
	if (setting >= 0 && ld->first_line[setting] != 0)
		return tdm_diag_set(ld->diag, TDM_ESYNTAX, number, (uint64_t)(name.ptr - line.ptr) + 1,
			"the field was already given in line %" PRIu64, ld->first_line[setting]);
	int err = tdm_card_assign(&ld->card, line, "card file", ld->diag);
	if (err != 0) {
		if (ld->diag != NULL)
			ld->diag->line = number;
		return err;
	}
	ld->first_line[setting] = number;
	if (ld->setting_line == 0)
		ld->setting_line = number;
	if (setting >= TDM_CARD_FIELD_COUNT || setting == TDM_CARD_HARVESTED)
		ld->variant_line = number;
	return 0;
}

static int load_line(struct loader *ld, struct tdm_str line, uint64_t number)
{
	struct tdm_str name, value;
	const char *comment = line.len != 0 ? memchr(line.ptr, '#', line.len) : NULL;
	if (comment != NULL)
		line.len = (size_t)(comment - line.ptr);
	if (tdm_str_trim(line).len == 0)
		return 0;
	bool has_value = tdm_card_assignment_split(line, &name, &value);
	if (has_value && tdm_str_is(name, "card"))
		return load_card(ld, line, value, number);
	return load_setting(ld, line, name, number);
}

static int load_lines(struct loader *ld, struct tdm_str text)
{
	struct tdm_lines lines;
	struct tdm_str line;
	int err;
	tdm_lines_memory(&lines, text.ptr, text.len);
	while ((err = tdm_lines_next(&lines, &line)) > 0) {
		err = load_line(ld, line, lines.line);
		if (err != 0)
			break;
	}
	tdm_lines_done(&lines);
	return err;
}

int tdm_card_load_text(struct tdm_card *card, struct tdm_str text, struct tdm_diag *diag)
{
	struct loader ld = { .card = *card, .diag = diag };
	if (text.len > FILE_MAX)
		return tdm_diag_set(diag, -EFBIG, 0, 0, "a card file has at most %d bytes", FILE_MAX);
	int err = load_lines(&ld, text);
	if (err != 0)
		return err;
	if (ld.card.name == NULL)
		return tdm_diag_set(diag, TDM_ECARD, 0, 0, "expected 'card = NAME': no card was given");
	err = tdm_card_derive(&ld.card, diag);
	if (err != 0) {
		if (diag != NULL)
			diag->line = ld.variant_line;
		return err;
	}
	*card = ld.card;
	return 0;
}

int tdm_card_load(struct tdm_card *card, const char *path, struct tdm_diag *diag)
{
	struct tdm_buf text = { 0 };
	int err = tdm_file_load(path, FILE_MAX, "card file", &text, diag);
	if (err == 0)
		err = tdm_card_load_text(card, tdm_buf_str(&text), diag);
	tdm_buf_done(&text);
	return err;
}
