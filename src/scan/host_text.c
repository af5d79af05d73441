/* Names and texts of nodes, and which nodes matter. */
#include "scan/host_parts.h"

static const struct tdm_str no_text = { "", 0 };

struct tdm_str host_squeezed(struct host *host, struct tdm_str text)
{
	char *copy = tdm_arena_take(host->arena, text.len + 1), *out = copy;
	if (copy == NULL)
		return no_text;
	for (size_t i = 0; i < text.len; i++) {
		bool is_comment = text.ptr[i] == '/' && i + 1 < text.len && text.ptr[i + 1] == '*';
		bool is_line_comment = text.ptr[i] == '/' && i + 1 < text.len && text.ptr[i + 1] == '/';
		if (is_comment) {
			const char *end = memmem(text.ptr + i + 2, text.len - i - 2, "*/", 2);
			i = end != NULL ? (size_t)(end - text.ptr) + 1 : text.len;
		} else if (is_line_comment) {
			const char *end = memchr(text.ptr + i, '\n', text.len - i);
			i = end != NULL ? (size_t)(end - text.ptr) : text.len;
		} else if (text.ptr[i] == ' ' || text.ptr[i] == '\n' || text.ptr[i] == '\t' || text.ptr[i] == '\r') {
			bool is_needed = out != copy && out[-1] != ' ' && out[-1] != '(';
			if (is_needed)
				*out++ = ' ';
		} else {
			bool is_tight = out != copy && out[-1] == ' ' && (text.ptr[i] == ')' || text.ptr[i] == '.');
			out -= is_tight;
			*out++ = text.ptr[i];
		}
	}
	*out = '\0';
	return tdm_str_trim((struct tdm_str){ copy, (size_t)(out - copy) });
}

const struct tdm_expr *host_named(struct host *host, struct tdm_str text)
{
	const char *copy = tdm_arena_text(host->arena, text);
	return copy != NULL ? tdm_expr_name(host->arena, (struct tdm_str){ copy, text.len }) : &tdm_expr_nothing;
}

/* A helper's own variable as its caller would write it. False when there is nothing to write. */
static bool add_value(const struct tdm_expr *value, bool is_alone, struct tdm_buf *out)
{
	bool is_scalar = value->op >= TDM_EXPR_ADD;
	if (value->op == TDM_EXPR_NUMBER && value->text.len != 0)
		tdm_buf_add(out, value->text.ptr, value->text.len);
	else if (value->op == TDM_EXPR_NUMBER || value->op == TDM_EXPR_NAME || value->op == TDM_EXPR_FORMAT ||
		 is_scalar) {
		tdm_buf_puts(out, is_scalar && !is_alone ? "(" : "");
		tdm_expr_print(value, out);
		tdm_buf_puts(out, is_scalar && !is_alone ? ")" : "");
	} else {
		return false;
	}
	return true;
}

/* Whether a piece of a text stands by itself between brackets and commas, so that it needs no brackets of its own. */
static bool is_alone(struct tdm_str text, size_t start, size_t end)
{
	while (start > 0 && strchr(" \t\n", text.ptr[start - 1]) != NULL)
		start--;
	while (end < text.len && strchr(" \t\n", text.ptr[end]) != NULL)
		end++;
	return (start == 0 || strchr("(,", text.ptr[start - 1]) != NULL) &&
	       (end == text.len || strchr("),", text.ptr[end]) != NULL);
}

/* The text of a node of a helper, with the values of the helper's own variables in their place. */
static struct tdm_str in_callers_terms(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	const char *text = syntax->text.ptr;
	struct tdm_str whole = tdm_node_text(syntax, node);
	uint32_t whole_start = syntax->nodes[node].start, at = whole_start, end = syntax->nodes[node].end;
	struct tdm_buf out;
	tdm_buf_init(&out);
	for (uint32_t i = node; i < syntax->nodes[node].next && out.len < HOST_TEXT_MAX; i++) {
		const struct tdm_node *n = &syntax->nodes[i];
		if (tdm_node_kind(syntax, i) != TDM_SYN_identifier || n->start < at || n->role == TDM_ROLE_function)
			continue;
		const struct tdm_expr *value = host_helpers_value(frame, tdm_node_text(syntax, i));
		size_t before = out.len;
		if (value == NULL)
			continue;
		tdm_buf_add(&out, text + at, n->start - at);
		if (add_value(value, is_alone(whole, n->start - whole_start, n->end - whole_start), &out))
			at = n->end;
		else
			out.len = before;
	}
	tdm_buf_add(&out, text + at, end - at);
	struct tdm_str result = host_squeezed(frame->host, tdm_buf_str(&out));
	tdm_buf_done(&out);
	return result;
}

const struct tdm_expr *host_unknown(struct host_frame *frame, uint32_t node)
{
	struct tdm_str text = frame->site != NULL && frame->depth < HOST_DEPTH_MAX
				      ? in_callers_terms(frame, node)
				      : host_squeezed(frame->host, tdm_node_text(frame->source->syntax, node));
	return text.len != 0 ? tdm_expr_name(frame->host->arena, text) : &tdm_expr_nothing;
}

bool host_is_hot(const struct host_source *source, uint32_t node)
{
	const struct tdm_node *n = &source->syntax->nodes[node];
	size_t low = 0, high = source->hot_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (source->hot[middle] < n->start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < source->hot_count && source->hot[low] < n->end;
}

bool host_has_effects(const struct host_source *source, uint32_t node)
{
	struct tdm_str text = tdm_node_text(source->syntax, node);
	return host_is_hot(source, node) || memmem(text.ptr, text.len, "++", 2) != NULL ||
	       memmem(text.ptr, text.len, "--", 2) != NULL;
}

struct tdm_str host_last_name(const struct host_source *source, uint32_t node)
{
	const struct tdm_syntax *syntax = source->syntax;
	for (int depth = 0; depth < HOST_DEPTH_MAX && node != TDM_NODE_NONE; depth++) {
		uint32_t inner = TDM_NODE_NONE;
		switch (tdm_node_kind(syntax, node)) {
		case TDM_SYN_qualified_identifier:
		case TDM_SYN_template_function:
		case TDM_SYN_template_method:
		case TDM_SYN_template_type:
			inner = tdm_node_with_role(syntax, node, TDM_ROLE_name);
			break;
		case TDM_SYN_field_expression:
			inner = tdm_node_with_role(syntax, node, TDM_ROLE_field);
			break;
		default:
			return tdm_node_text(syntax, node);
		}
		node = inner;
	}
	return no_text;
}
