#include "report/budget_json.h"
#include "base/err.h"
#include "base/file.h"
#include "report/table.h"
#include "sources/json_walk.h"

#include <errno.h>

enum { FILE_MAX = 256 << 20, KEY_DEPTH = 1, LIST_DEPTH = 3, ROW_DEPTH = 4, TERMS_DEPTH = 5, NAME_CAP = 4096 };

#define BUDGET(field) TDM_MEMBER(struct tdm_budget, field)

static void put_terms(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_budget *budget = field->row;
	if (budget->expression == NULL || budget->terms.failed) {
		tdm_json_null(json);
		return;
	}
	tdm_json_object(json);
	for (size_t i = 0; i < budget->terms.count; i++) {
		tdm_json_key(json, budget->terms.list[i].of);
		tdm_json_i64(json, budget->terms.list[i].times);
	}
	tdm_json_object_end(json);
}

static const struct tdm_column columns[] = {
	{ NULL, "name", BUDGET(name) },
	{ NULL, "bytes", BUDGET(bytes) },
	{ NULL, "expression", BUDGET(expression) },
	{ NULL, "terms", .json = put_terms },
};

/* Expressions are written where there are any. */
void tdm_budgets_json(const struct tdm_budgets *budgets, struct tdm_json *json)
{
	struct tdm_table table = TDM_TABLE_OF(columns, budgets->list, budgets->count);
	bool has_expressions = false;
	for (size_t i = 0; i < budgets->count; i++)
		has_expressions |= budgets->list[i].expression != NULL;
	table.column_count = has_expressions ? table.column_count : 2;
	tdm_json_put_table(json, "budgets", &table);
}

/* The walk is inside the list of budgets while `in_list`; a row is complete when it has a name and bytes. */
struct walk {
	struct tdm_budgets *budgets;
	const char *command;
	struct tdm_diag *diag;
	int depth;
	bool in_command, in_list, at_list, in_terms, has_name, has_bytes, has_expression, has_terms, found;
	enum { OTHER, VERSION, NAME, BYTES, EXPRESSION, TERMS } key;
	char name[NAME_CAP], expression[NAME_CAP], term[NAME_CAP];
	uint64_t bytes;
	struct tdm_terms terms;
};

static const struct {
	const char *key;
	int meaning;
} row_keys[] = { { "name", NAME }, { "bytes", BYTES }, { "expression", EXPRESSION }, { "terms", TERMS } };

static void take_key(struct walk *w, struct tdm_str key)
{
	if (w->depth == KEY_DEPTH)
		w->in_command = tdm_str_is(key, w->command);
	w->at_list = w->depth == KEY_DEPTH + 1 && w->in_command && tdm_str_is(key, "budgets");
	w->key = OTHER;
	if (w->depth == KEY_DEPTH && tdm_str_is(key, "version"))
		w->key = VERSION;
	for (size_t i = 0; w->depth == ROW_DEPTH && i < sizeof row_keys / sizeof *row_keys; i++)
		if (tdm_str_is(key, row_keys[i].key))
			w->key = row_keys[i].meaning;
	if (w->in_terms && w->depth == TERMS_DEPTH)
		tdm_str_shown(key, w->term, sizeof w->term);
}

static int wrong(struct walk *w, const char *what)
{
	return tdm_diag_set(w->diag, TDM_ESYNTAX, 0, 0, "budget %zu %s; save the file again with --save",
		w->budgets->count + 1, what);
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

static int take_term(struct walk *w, const struct tdm_json_token *token)
{
	struct tdm_str text = token->text;
	bool is_negative = text.len != 0 && text.ptr[0] == '-';
	uint64_t size;
	if (token->part != TDM_JSON_PART_NUMBER ||
		tdm_str_parse_u64((struct tdm_str){ text.ptr + is_negative, text.len - is_negative }, &size) != 0 ||
		size > INT64_MAX)
		return wrong(w, "has a term that is not a whole number");
	tdm_terms_add(&w->terms, tdm_str_of(w->term), is_negative ? -(int64_t)size : (int64_t)size);
	return 0;
}

static int take_expression(struct walk *w, const struct tdm_json_token *token)
{
	if (token->part == TDM_JSON_PART_NULL)
		return 0;
	if (token->part != TDM_JSON_PART_STRING)
		return wrong(w, "has an expression that is not a text");
	tdm_str_shown(token->text, w->expression, sizeof w->expression);
	w->has_expression = true;
	return 0;
}

static int take_value(struct walk *w, const struct tdm_json_token *token)
{
	if (w->depth == KEY_DEPTH && w->key == VERSION)
		return take_version(w, token);
	if (w->in_terms && w->depth == TERMS_DEPTH)
		return take_term(w, token);
	if (!w->in_list || w->depth != ROW_DEPTH || w->key == OTHER)
		return 0;
	if (w->key == NAME) {
		if (token->part != TDM_JSON_PART_STRING)
			return wrong(w, "has a name that is not a text");
		tdm_str_shown(token->text, w->name, sizeof w->name);
		w->has_name = true;
		return 0;
	}
	bool is_null = token->part == TDM_JSON_PART_NULL;
	if (w->key == EXPRESSION)
		return take_expression(w, token);
	if (w->key == TERMS)
		return is_null ? 0 : wrong(w, "has terms that are not an object");
	w->bytes = TDM_BYTES_UNKNOWN;
	w->has_bytes =
		is_null || (token->part == TDM_JSON_PART_NUMBER && tdm_str_parse_u64(token->text, &w->bytes) == 0 &&
				   w->bytes != TDM_BYTES_UNKNOWN);
	return w->has_bytes ? 0 : wrong(w, "has bytes that are not a number of bytes");
}

static int take_end(struct walk *w)
{
	bool is_row = w->in_list && w->depth == ROW_DEPTH;
	w->in_terms &= w->depth > TERMS_DEPTH;
	w->in_list &= w->depth > LIST_DEPTH;
	w->depth--;
	if (!is_row)
		return 0;
	if (!w->has_name || !w->has_bytes)
		return wrong(w, "lacks its name or its bytes");
	int err = tdm_budgets_add(w->budgets, tdm_str_of(w->name), w->bytes);
	w->terms.failed |= !w->has_terms;
	if (err == 0 && w->has_expression)
		err = tdm_budgets_explain(w->budgets, tdm_str_of(w->expression), &w->terms);
	tdm_terms_done(&w->terms);
	return err != 0 ? tdm_diag_set(w->diag, err, 0, 0, "budgets: %s", tdm_err_text(err)) : 0;
}

static int take(void *to, const struct tdm_json_token *token)
{
	struct walk *w = to;
	switch (token->part) {
	case TDM_JSON_PART_BEGIN:
		if (w->in_list && w->depth == LIST_DEPTH && token->is_array)
			return wrong(w, "is not an object");
		if (w->in_terms && w->depth == TERMS_DEPTH)
			return wrong(w, "has a term that is not a whole number");
		if (w->in_list && w->depth == ROW_DEPTH && w->key == TERMS) {
			if (token->is_array)
				return wrong(w, "has terms that are not an object");
			w->in_terms = w->has_terms = true;
		}
		w->depth++;
		w->in_list |= w->at_list && token->is_array;
		w->found |= w->in_list;
		w->at_list = false;
		if (w->depth == ROW_DEPTH)
			w->has_name = w->has_bytes = w->has_expression = w->has_terms = false;
		return 0;
	case TDM_JSON_PART_END:
		return take_end(w);
	case TDM_JSON_PART_KEY:
		take_key(w, token->text);
		return 0;
	default:
		w->at_list = false;
		if (w->in_list && w->depth == LIST_DEPTH)
			return wrong(w, "is not an object");
		return take_value(w, token);
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
