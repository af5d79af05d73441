/*
 * Writes findings as a SARIF 2.1.0 log (Static Analysis Results Interchange Format), which code review tools show
 * alongside the source. Paths are relative to the current folder or, for files outside it, to the path given.
 */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "tidemark_version.h"
#include "view/write/write.h"

static void put_message(struct tdm_json *json, const char *key, struct tdm_str text)
{
	tdm_json_put_object(json, key);
	tdm_json_put_str(json, "text", text);
	tdm_json_object_end(json);
}

/* The index of a kind of finding among the rules; `count` if not found. */
static size_t rule_of(const char *const *rules, size_t count, const char *what)
{
	size_t i = 0;
	while (i < count && strcmp(rules[i], what) != 0)
		i++;
	return i;
}

/* The part of a path below `folder`; NULL if it is elsewhere. */
static const char *below(const char *path, const char *folder)
{
	size_t len = strlen(folder);
	while (len > 1 && folder[len - 1] == '/')
		len--;
	return len != 0 && strncmp(path, folder, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

/* Writes a relative path as a URI, with everything but letters, digits and a few marks escaped. */
static void put_uri(const char *path, const char *working, const char *const *roots, struct tdm_json *json)
{
	struct tdm_buf uri = { 0 };
	const char *rest = below(path, working);
	for (size_t i = 0; rest == NULL && path[0] == '/' && roots[i] != NULL; i++)
		rest = below(path, roots[i]);
	rest = rest != NULL ? rest : path;
	while (rest[0] == '.' && rest[1] == '/')
		rest += 2;
	for (rest += strspn(rest, "/"); *rest != '\0'; rest++)
		if (isalnum((unsigned char)*rest) || strchr("/-._~", *rest) != NULL)
			tdm_buf_putc(&uri, *rest);
		else
			tdm_buf_printf(&uri, "%%%02X", (unsigned)(unsigned char)*rest);
	tdm_json_put_text(json, "uri", tdm_buf_str(&uri).ptr);
	tdm_buf_done(&uri);
}

static void put_place(
	const char *file, uint64_t line, const char *working, const char *const *roots, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_json_put_object(json, "physicalLocation");
	tdm_json_put_object(json, "artifactLocation");
	put_uri(file, working, roots, json);
	tdm_json_put_text(json, "uriBaseId", "%SRCROOT%");
	tdm_json_object_end(json);
	tdm_json_put_object(json, "region");
	tdm_json_put_u64(json, "startLine", tdm_is_some(line) ? line : 1);
	tdm_json_object_end(json);
	tdm_json_object_end(json);
	tdm_json_object_end(json);
}

/* Writes the members before the results: the tool, with a rule for each kind of finding. */
static void put_tool(const char *const *rules, size_t count, struct tdm_json *json)
{
	tdm_json_put_object(json, "tool");
	tdm_json_put_object(json, "driver");
	tdm_json_put_text(json, "name", "tidemark");
	tdm_json_put_text(json, "version", TDM_VERSION_STRING);
	tdm_json_put_array(json, "rules");
	for (size_t i = 0; i < count; i++) {
		char *summary = tdm_strdup(rules[i]); /* such as "budget grew" */
		for (char *at = summary; (at = strchr(at, '_')) != NULL;)
			*at = ' ';
		tdm_json_object(json);
		tdm_json_put_text(json, "id", rules[i]);
		put_message(json, "shortDescription", tdm_str_of(summary));
		tdm_json_object_end(json);
		free(summary);
	}
	tdm_json_array_end(json);
	tdm_json_object_end(json);
	tdm_json_object_end(json);
}

void tdm_write_sarif(const struct tdm_findings *all, const char *const *roots, struct tdm_buf *out)
{
	struct tdm_json json;
	char working[PATH_MAX];
	const char **rules = tdm_zalloc(all->count, sizeof *rules);
	size_t rule_count = 0;
	if (getcwd(working, sizeof working) == NULL)
		working[0] = '\0';
	for (size_t i = 0; i < all->count; i++)
		if (rule_of(rules, rule_count, all->list[i].what) == rule_count)
			rules[rule_count++] = all->list[i].what;
	tdm_json_init(&json, out);
	tdm_json_object(&json);
	tdm_json_put_text(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	tdm_json_put_text(&json, "version", "2.1.0");
	tdm_json_put_array(&json, "runs");
	tdm_json_object(&json);
	put_tool(rules, rule_count, &json);
	tdm_json_put_array(&json, "results");
	for (size_t i = 0; i < all->count; i++) {
		const struct tdm_finding *finding = &all->list[i];
		const char *file = tdm_finding_word(all, finding, "file");
		struct tdm_buf text = { 0 };
		if (finding->severity == TDM_FINDING_OK)
			continue;
		if (finding->about.name != NULL && !finding->names_itself)
			tdm_buf_printf(&text, "%s: ", finding->about.name);
		tdm_finding_sentence_put(all, finding, &text);
		if (finding->advice_count != 0)
			tdm_buf_printf(&text, ". %s", all->advice[finding->first_advice].text);
		tdm_json_object(&json);
		tdm_json_put_text(&json, "ruleId", finding->what);
		tdm_json_put_u64(&json, "ruleIndex", rule_of(rules, rule_count, finding->what));
		tdm_json_put_text(&json, "level", tdm_severity_name((enum tdm_severity)finding->severity));
		put_message(&json, "message", tdm_buf_str(&text));
		tdm_json_put_array(&json, "locations");
		if (file != NULL)
			put_place(file, tdm_finding_number(all, finding, "line"), working, roots, &json);
		tdm_json_array_end(&json);
		tdm_json_object_end(&json);
		tdm_buf_done(&text);
	}
	tdm_json_array_end(&json);
	tdm_json_object_end(&json);
	tdm_json_array_end(&json);
	tdm_json_object_end(&json);
	tdm_buf_putc(out, '\n');
	free(rules);
}
