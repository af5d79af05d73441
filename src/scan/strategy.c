/*
 * The rules, the first that applies:
 *   1. no size: unknown;
 *   2. nothing in it is unknown but data formats, and nothing is chosen: fixed;
 *   3. it has an upper bound whatever the unknowns are, or each of them is limited by a min(): adaptive;
 *   4. otherwise it grows with its unknowns: data-dependent.
 * Settings of the user do not make a size fixed: they say what it is in one case.
 */
#include "scan/strategy.h"

enum { NAMES_SHOWN = 3 };

/* What is in an expression. */
struct contents {
	struct tdm_str names[NAMES_SHOWN]; /* unknowns, apart */
	uint32_t name_count;
	uint32_t free_count;        /* of those, how often they stand outside of every min() */
	bool has_format;            /* a format that is not known */
	const struct tdm_expr *min; /* a choice of the smaller, or NULL */
	const struct tdm_expr *choice;
};

static void add_name(struct contents *contents, struct tdm_str name)
{
	for (uint32_t i = 0; i < contents->name_count && i < NAMES_SHOWN; i++)
		if (tdm_str_eq(contents->names[i], name))
			return;
	if (contents->name_count < NAMES_SHOWN)
		contents->names[contents->name_count] = name;
	contents->name_count++;
}

static void look(const struct tdm_expr *expr, struct contents *contents, bool is_limited)
{
	if (expr->op == TDM_EXPR_NAME || expr->op == TDM_EXPR_CALL) {
		add_name(contents, expr->text);
		contents->free_count += !is_limited;
		return;
	}
	if (expr->op == TDM_EXPR_TILE_SIZE || expr->op == TDM_EXPR_DATUM_SIZE) {
		contents->has_format |= tdm_expr_has_unknown(expr);
		return;
	}
	if (expr->op == TDM_EXPR_MIN && contents->min == NULL)
		contents->min = expr;
	if (expr->op == TDM_EXPR_CHOOSE && contents->choice == NULL && tdm_expr_has_unknown(expr->args[0]))
		contents->choice = expr;
	/* A condition chooses; the size does not grow with it. */
	for (uint32_t i = expr->op == TDM_EXPR_CHOOSE; i < expr->arg_count; i++)
		look(expr->args[i], contents, is_limited || expr->op == TDM_EXPR_MIN);
}

static const char *taken(struct tdm_buf *buf, struct tdm_arena *arena)
{
	const char *text = tdm_buf_failed(buf) ? NULL : tdm_arena_text(arena, tdm_buf_str(buf));
	tdm_buf_done(buf);
	return text != NULL ? text : "";
}

static const char *say_growth(const struct contents *contents, struct tdm_arena *arena)
{
	struct tdm_buf buf;
	tdm_buf_init(&buf);
	tdm_buf_puts(&buf, "it grows with ");
	for (uint32_t i = 0; i < contents->name_count && i < NAMES_SHOWN; i++)
		tdm_buf_printf(&buf, "%s%.*s", i == 0 ? "" : ", ", TDM_STR_ARG(contents->names[i]));
	if (contents->name_count > NAMES_SHOWN)
		tdm_buf_puts(&buf, " and more");
	return taken(&buf, arena);
}

static const char *say_limit(const struct contents *contents, struct tdm_bounds bounds, struct tdm_arena *arena)
{
	struct tdm_buf buf;
	char bytes[TDM_BYTES_CAP];
	bool is_bounded = bounds.max != INT64_MAX && bounds.max >= 0;
	tdm_buf_init(&buf);
	if (is_bounded)
		tdm_buf_printf(
			&buf, "it is at most %s", tdm_format_bytes_short(bytes, sizeof bytes, (uint64_t)bounds.max));
	if (!is_bounded && contents->min != NULL) {
		tdm_buf_puts(&buf, "it is limited by ");
		tdm_expr_print(contents->min, &buf);
	} else if (contents->choice != NULL) {
		tdm_buf_puts(&buf, is_bounded ? ", chosen by " : "it is chosen by ");
		tdm_expr_print(contents->choice->args[0], &buf);
	} else if (!is_bounded) {
		tdm_buf_puts(&buf, "it does not grow with anything that is known");
	}
	return taken(&buf, arena);
}

enum tdm_strategy tdm_strategy_judge(const struct tdm_expr *total, struct tdm_arena *arena, const char **reason)
{
	struct contents contents = { 0 };
	if (total == NULL || total->op == TDM_EXPR_NOTHING) {
		*reason = "the source does not say its size";
		return TDM_STRATEGY_UNKNOWN;
	}
	look(total, &contents, false);
	struct tdm_bounds bounds = tdm_expr_eval(total, NULL);
	if ((contents.name_count == 0 && contents.choice == NULL) || bounds.reason == NULL) {
		*reason = contents.has_format ? "only the data format is open" : "its size is a constant";
		return TDM_STRATEGY_FIXED;
	}
	if ((bounds.max != INT64_MAX && bounds.max >= 0) || contents.free_count == 0) {
		*reason = say_limit(&contents, bounds, arena);
		return TDM_STRATEGY_ADAPTIVE;
	}
	*reason = say_growth(&contents, arena);
	return TDM_STRATEGY_DATA_DEPENDENT;
}
