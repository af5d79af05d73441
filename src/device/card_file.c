/*
 * The card file: one "field = value" per line; '#' starts a comment. All lines are stored first and derived together,
 * so their order does not matter, except that "card" comes first. The caller's card changes only if the whole file is
 * right.
 */
#include "base/err.h"
#include "base/file.h"
#include "device/card.h"
#include "device/card_set.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { FILE_MAX = 64 * 1024 };

struct loader {
	struct tdm_card card;
	uint64_t first_line[TDM_SETTING_COUNT]; /* where each setting was given; 0: nowhere */
	uint64_t card_line;                     /* where "card" was given */
	uint64_t setting_line;                  /* where the first setting was given */
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
	struct tdm_buf text;
	tdm_buf_init(&text);
	int err = tdm_file_load(path, FILE_MAX, "card file", &text, diag);
	if (err == 0)
		err = tdm_card_load_text(card, tdm_buf_str(&text), diag);
	tdm_buf_done(&text);
	return err;
}
