#include "report/budget_json.h"
#include "base/err.h"
#include "base/file.h"
#include "report/table.h"
#include "sources/json_walk.h"

#include <errno.h>

enum { FILE_MAX = 256 << 20, KEY_DEPTH = 1, LIST_DEPTH = 3, ROW_DEPTH = 4, NAME_CAP = 4096 };

#define BUDGET(field) TDM_MEMBER(struct tdm_budget, field)
static const struct tdm_column columns[] = {
	{ NULL, "name", BUDGET(name) },
	{ NULL, "bytes", BUDGET(bytes) },
};

void tdm_budgets_json(const struct tdm_budgets *budgets, struct tdm_json *json)
{
	tdm_json_put_table(json, "budgets", &TDM_TABLE_OF(columns, budgets->list, budgets->count));
}

/* The walk is inside the list of budgets while `in_list`; a row is complete when it has a name and bytes. */
struct walk {
	struct tdm_budgets *budgets;
	const char *command;
	struct tdm_diag *diag;
	int depth;
	bool in_command, in_list, at_list, has_name, has_bytes, found;
	enum { OTHER, VERSION, NAME, BYTES } key;
	char name[NAME_CAP];
	uint64_t bytes;
};

static void take_key(struct walk *w, struct tdm_str key)
{
	if (w->depth == KEY_DEPTH)
		w->in_command = tdm_str_is(key, w->command);
	w->at_list = w->depth == KEY_DEPTH + 1 && w->in_command && tdm_str_is(key, "budgets");
	w->key = OTHER;
	if (w->depth == KEY_DEPTH && tdm_str_is(key, "version"))
		w->key = VERSION;
	else if (w->depth == ROW_DEPTH)
		w->key = tdm_str_is(key, "name") ? NAME : tdm_str_is(key, "bytes") ? BYTES : OTHER;
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

static int take_value(struct walk *w, const struct tdm_json_token *token)
{
	if (w->depth == KEY_DEPTH && w->key == VERSION)
		return take_version(w, token);
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
	w->bytes = TDM_BYTES_UNKNOWN;
	w->has_bytes =
		is_null || (token->part == TDM_JSON_PART_NUMBER && tdm_str_parse_u64(token->text, &w->bytes) == 0 &&
				   w->bytes != TDM_BYTES_UNKNOWN);
	return w->has_bytes ? 0 : wrong(w, "has bytes that are not a number of bytes");
}

static int take_end(struct walk *w)
{
	bool is_row = w->in_list && w->depth == ROW_DEPTH;
	w->in_list &= w->depth > LIST_DEPTH;
	w->depth--;
	if (!is_row)
		return 0;
	if (!w->has_name || !w->has_bytes)
		return wrong(w, "lacks its name or its bytes");
	int err = tdm_budgets_add(w->budgets, tdm_str_of(w->name), w->bytes);
	return err != 0 ? tdm_diag_set(w->diag, err, 0, 0, "budgets: %s", tdm_err_text(err)) : 0;
}

static int take(void *to, const struct tdm_json_token *token)
{
	struct walk *w = to;
	switch (token->part) {
	case TDM_JSON_PART_BEGIN:
		if (w->in_list && w->depth == LIST_DEPTH && token->is_array)
			return wrong(w, "is not an object");
		w->depth++;
		w->in_list |= w->at_list && token->is_array;
		w->found |= w->in_list;
		w->at_list = false;
		if (w->depth == ROW_DEPTH)
			w->has_name = w->has_bytes = false;
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
