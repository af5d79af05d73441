/* Reads budgets from JSON in one pass, keeping track of which enclosing objects and arrays matter. */
#include "analyze/budget/budget.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_walk.h"
#include "base/memory.h"
#include "base/number.h"

enum { FILE_MAX = 256 << 20 };

/* Position in the JSON: an object or array that matters, or any other. */
enum place { TOP, COMMAND, LIST, ROW, TERMS, OTHER };

struct walk {
	struct tdm_budgets *budgets;
	const char *command;
	struct tdm_diag *diag;
	uint8_t places[TDM_JSON_WALK_DEPTH + 1];
	size_t depth;
	bool found; /* the list of budgets was found */
	char key[TDM_BUDGET_NAME_CAP];
	/* The current row, which is complete as soon as it has a name and bytes. */
	bool has_name, has_bytes, has_expression, has_terms;
	char name[TDM_BUDGET_NAME_CAP], expression[TDM_BUDGET_NAME_CAP];
	uint64_t bytes;
	struct tdm_terms terms;
};

static int wrong(struct walk *w, const char *what)
{
	return tdm_diag_set(w->diag, TDM_ESYNTAX, 0, 0, "budget %zu %s; save the file again with --save",
		w->budgets->count + 1, what);
}

static int take_begin(struct walk *w, enum place in, bool is_array)
{
	enum place next = w->depth == 0 ? TOP : OTHER;
	if (in == LIST && is_array)
		return wrong(w, "is not an object");
	if (in == TERMS)
		return wrong(w, "has a term that is not a whole number");
	if (in == TOP && strcmp(w->key, w->command) == 0)
		next = COMMAND;
	if (in == COMMAND && is_array && strcmp(w->key, "budgets") == 0) {
		next = LIST;
		w->found = true;
	}
	if (in == LIST) {
		next = ROW;
		w->has_name = w->has_bytes = w->has_expression = w->has_terms = false;
	}
	if (in == ROW && strcmp(w->key, "terms") == 0) {
		next = TERMS;
		w->has_terms = true;
		if (is_array)
			return wrong(w, "has terms that are not an object");
	}
	w->places[w->depth++] = (uint8_t)next;
	return 0;
}

static int end_row(struct walk *w)
{
	if (!w->has_name || !w->has_bytes)
		return wrong(w, "lacks its name or its bytes");
	tdm_budgets_add(w->budgets, tdm_str_of(w->name), w->bytes);
	w->terms.failed |= !w->has_terms;
	if (w->has_expression)
		tdm_budgets_explain(w->budgets, tdm_str_of(w->expression), &w->terms);
	tdm_terms_done(&w->terms);
	return 0;
}

static int take_term(struct walk *w, const struct tdm_json_token *token)
{
	struct tdm_str text = token->text;
	bool is_negative = text.len != 0 && text.ptr[0] == '-';
	uint64_t size;
	if (token->part != TDM_JSON_PART_NUMBER || tdm_str_parse_u64(tdm_str_from(text, is_negative), &size) != 0 ||
		size > INT64_MAX)
		return wrong(w, "has a term that is not a whole number");
	tdm_terms_add(&w->terms, tdm_str_of(w->key), is_negative ? -(int64_t)size : (int64_t)size);
	return 0;
}

/* Stores a value from a row. */
static int take_cell(struct walk *w, const struct tdm_json_token *token)
{
	bool is_null = token->part == TDM_JSON_PART_NULL, is_text = token->part == TDM_JSON_PART_STRING;
	if (strcmp(w->key, "name") == 0) {
		tdm_str_shown(token->text, w->name, sizeof w->name);
		w->has_name = is_text;
		return is_text ? 0 : wrong(w, "has a name that is not a text");
	}
	if (strcmp(w->key, "expression") == 0 && !is_null) {
		tdm_str_shown(token->text, w->expression, sizeof w->expression);
		w->has_expression = is_text;
		return is_text ? 0 : wrong(w, "has an expression that is not a text");
	}
	if (strcmp(w->key, "terms") == 0 && !is_null)
		return wrong(w, "has terms that are not an object");
	if (strcmp(w->key, "bytes") != 0)
		return 0;
	w->bytes = TDM_BYTES_UNKNOWN;
	w->has_bytes =
		is_null || (token->part == TDM_JSON_PART_NUMBER && tdm_str_parse_u64(token->text, &w->bytes) == 0 &&
				   w->bytes != TDM_BYTES_UNKNOWN);
	return w->has_bytes ? 0 : wrong(w, "has bytes that are not a number of bytes");
}

static int take_version(struct walk *w, const struct tdm_json_token *token)
{
	uint64_t version = 0;
	char shown[32];
	if (token->part == TDM_JSON_PART_NUMBER && tdm_str_parse_u64(token->text, &version) == 0 &&
		version == TDM_JSON_VERSION)
		return 0;
	return tdm_diag_set(w->diag, TDM_EVERSION, 0, 0,
		"has version %s, and this Tidemark reads version %d: save it again with --save, or take the Tidemark "
		"that wrote it",
		tdm_str_shown(token->text, shown, sizeof shown), TDM_JSON_VERSION);
}

static int take(void *to, const struct tdm_json_token *token)
{
	struct walk *w = to;
	enum place in = w->depth != 0 ? (enum place)w->places[w->depth - 1] : OTHER;
	switch (token->part) {
	case TDM_JSON_PART_BEGIN:
		return take_begin(w, in, token->is_array);
	case TDM_JSON_PART_END:
		w->depth--;
		return in == ROW ? end_row(w) : 0;
	case TDM_JSON_PART_KEY:
		tdm_str_shown(token->text, w->key, sizeof w->key);
		return 0;
	default:
		return in == LIST                                    ? wrong(w, "is not an object")
		       : in == ROW                                   ? take_cell(w, token)
		       : in == TERMS                                 ? take_term(w, token)
		       : in == TOP && strcmp(w->key, "version") == 0 ? take_version(w, token)
								     : 0;
	}
}

int tdm_budgets_parse(struct tdm_str text, const char *command, struct tdm_budgets *budgets, struct tdm_diag *diag)
{
	struct walk w = { .budgets = budgets, .command = command, .diag = diag };
	int err = tdm_json_walk(text, take, &w, diag);
	if (err == 0 && !w.found)
		err = tdm_diag_set(diag, TDM_ESYNTAX, 0, 0,
			"has no budgets of 'tidemark %s'; make it with 'tidemark %s ... --save FILE'", command,
			command);
	tdm_terms_done(&w.terms);
	if (err != 0)
		tdm_budgets_done(budgets);
	return err;
}

int tdm_budgets_load(const char *path, const char *command, struct tdm_budgets *budgets, struct tdm_diag *diag)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	int err = tdm_file_load(path, FILE_MAX, "baseline", &text, diag);
	if (err == 0)
		err = tdm_budgets_parse(tdm_buf_str(&text), command, budgets, diag);
	tdm_buf_done(&text);
	return err;
}
