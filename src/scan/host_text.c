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

const struct tdm_expr *host_unknown(struct host_frame *frame, uint32_t node)
{
	struct tdm_str text = host_squeezed(frame->host, tdm_node_text(frame->source->syntax, node));
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
