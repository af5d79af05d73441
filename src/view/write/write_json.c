/* Results as JSON: facts become members, tables become arrays, and findings and notes become objects of one shape. */
#include "view/write/table.h"
#include "view/write/write.h"

static void put_line(const struct tdm_line *line, const char **before, struct tdm_json *json)
{
	for (size_t i = 0; i < line->count; i++) {
		if (line->values[i].key[0] == '_')
			continue;
		tdm_nested_key(json, before, line->values[i].key);
		tdm_value_json(&line->values[i].value, json);
	}
}

static void put_list(const struct tdm_block *list, struct tdm_json *json)
{
	tdm_json_array(json);
	for (const struct tdm_block *block = list->first; block != NULL; block = block->next)
		if (!block->is_text_only)
			tdm_write_json(block, json);
	tdm_json_array_end(json);
}

/* Writes the notes of a group, including those of subgroups that are not objects of their own. */
static size_t put_notes(const struct tdm_block *group, size_t count, struct tdm_json *json)
{
	for (const struct tdm_block *block = group->first; block != NULL; block = block->next) {
		if (block->type == TDM_BLOCK_GROUP && block->key == NULL)
			count = put_notes(block, count, json);
		if (block->type != TDM_BLOCK_NOTE || block->is_text_only)
			continue;
		if (count++ == 0)
			tdm_json_put_array(json, "notes");
		const char *before = "";
		struct tdm_buf text = { 0 };
		tdm_sentence_put(&text, block->line.pattern, block->line.values, block->line.count);
		tdm_json_object(json);
		tdm_json_put_text(json, "what", block->key);
		tdm_json_key(json, "text");
		tdm_json_str(json, tdm_buf_str(&text));
		put_line(&block->line, &before, json);
		tdm_nested_key(json, &before, "");
		tdm_json_object_end(json);
		tdm_buf_done(&text);
	}
	return count;
}

static void put_members(const struct tdm_block *group, const char **before, struct tdm_json *json)
{
	for (const struct tdm_block *block = group->first; block != NULL; block = block->next) {
		if (block->is_text_only || block->type == TDM_BLOCK_NOTE)
			continue;
		if (block->type == TDM_BLOCK_LINE) {
			put_line(&block->line, before, json);
			continue;
		}
		if (block->type == TDM_BLOCK_WRITTEN) {
			tdm_nested_key(json, before, "");
			tdm_json_paste(json, block->written);
			continue;
		}
		if (block->key == NULL) {
			if (block->type == TDM_BLOCK_GROUP)
				put_members(block, before, json);
			continue;
		}
		tdm_nested_key(json, before, block->key);
		if (block->type == TDM_BLOCK_GROUP)
			tdm_write_json(block, json);
		else if (block->type == TDM_BLOCK_LIST)
			put_list(block, json);
		else if (block->type == TDM_BLOCK_FINDINGS) {
			tdm_json_array(json);
			for (size_t i = 0; i < block->findings.list.count; i++) {
				tdm_finding_put_json(&block->findings.list, &block->findings.list.list[i], json);
				tdm_buf_pass(json->out);
			}
			tdm_json_array_end(json);
		} else
			tdm_table_json(&block->table, json);
	}
}

void tdm_write_members(const struct tdm_block *top, struct tdm_json *json)
{
	const char *before = "";
	put_members(top, &before, json);
	tdm_nested_key(json, &before, "");
	if (put_notes(top, 0, json) != 0)
		tdm_json_array_end(json);
}

void tdm_write_json(const struct tdm_block *top, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_write_members(top, json);
	tdm_json_object_end(json);
}

/* ---- documents ---- */

/* Nesting depth of the members of a part or finding: envelope, document, list, object. */
enum { MEMBERS_DEPTH = 4 };

static void put_part(const struct tdm_block *part, const char *name, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_json json;
	(void)term;
	tdm_json_init_keys(&json, out, MEMBERS_DEPTH, true);
	tdm_json_key(&json, name);
	tdm_write_json(part, &json);
}

static void put_finding(
	const struct tdm_findings *all, const struct tdm_finding *finding, const char *text, struct tdm_buf *out)
{
	struct tdm_json json;
	tdm_json_init_keys(&json, out, MEMBERS_DEPTH, true);
	tdm_finding_put_members(all, finding, text, &json);
}

static void put_document(const struct tdm_block *top, const struct tdm_term *term, struct tdm_json *json)
{
	(void)term;
	tdm_write_json(top, json);
}

const struct tdm_form tdm_form_json = { "json", ".json", 0, put_part, put_finding, put_document };
