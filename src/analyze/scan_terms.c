#include "analyze/scan_terms.h"

/* Without the blanks around '*', which separate the factors of a term. */
void tdm_scan_terms_unknown(struct tdm_terms *terms, struct tdm_str text)
{
	struct tdm_buf tight;
	tdm_buf_init(&tight);
	for (size_t i = 0; i < text.len; i++) {
		bool is_mark = text.len - i >= 3 && memcmp(text.ptr + i, " * ", 3) == 0;
		tdm_buf_putc(&tight, text.ptr[is_mark ? i + 1 : i]);
		i += is_mark ? 2 : 0;
	}
	terms->failed |= tight.failed || tight.len == 0;
	if (!terms->failed)
		tdm_terms_add(terms, tdm_buf_str(&tight), 1);
	tdm_buf_done(&tight);
}

static void add_unknown(struct tdm_terms *terms, const struct tdm_expr *expr)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_expr_print(expr, &text);
	terms->failed |= text.failed || expr->op == TDM_EXPR_NOTHING || tdm_expr_eval(expr, NULL).min < 0;
	if (!terms->failed)
		tdm_scan_terms_unknown(terms, tdm_buf_str(&text));
	tdm_buf_done(&text);
}

static void add_product(struct tdm_terms *terms, const struct tdm_expr *expr)
{
	struct tdm_terms factors[2] = { 0 }, product = { 0 };
	for (int i = 0; i < 2; i++)
		tdm_scan_terms_add(&factors[i], expr->args[i]);
	tdm_terms_multiply(&factors[0], &factors[1], &product);
	tdm_terms_add_all(terms, &product, 1);
	for (int i = 0; i < 2; i++)
		tdm_terms_done(&factors[i]);
	tdm_terms_done(&product);
}

void tdm_scan_terms_add(struct tdm_terms *terms, const struct tdm_expr *expr)
{
	int64_t number;
	struct tdm_terms right = { 0 };
	if (terms->failed)
		return;
	if (tdm_expr_value(expr, NULL, &number) == 0) {
		tdm_terms_add(terms, tdm_str_of(""), number);
		return;
	}
	switch (expr->op) {
	case TDM_EXPR_ADD:
	case TDM_EXPR_SUBTRACT:
		tdm_scan_terms_add(terms, expr->args[0]);
		tdm_scan_terms_add(&right, expr->args[1]);
		tdm_terms_add_all(terms, &right, expr->op == TDM_EXPR_ADD ? 1 : -1);
		tdm_terms_done(&right);
		break;
	case TDM_EXPR_MULTIPLY:
		add_product(terms, expr);
		break;
	default:
		add_unknown(terms, expr);
		break;
	}
}
