/*
 * Findings of a scan as a SARIF log, which code review tools show beside the sources. Paths are relative to the folder
 * in which the command runs, or to the scanned path where that is elsewhere.
 */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/finding_report.h"
#include "report/scan_report.h"
#include "tidemark_version.h"

static const struct {
	const char *id, *summary;
} rules[] = {
	{ "does_not_fit", "The buffers of a program take more L1 than a core has for them" },
	{ "over_limit", "The buffers of a program take more of the L1 than the limit" },
	{ "budget_grew", "The L1 that a program takes grew" },
	{ "budget_unknown", "The L1 that a program takes can no longer be computed" },
	{ "budget_known", "The L1 that a program takes can now be computed" },
	{ "budget_shrank", "The L1 that a program takes shrank" },
	{ "budget_changed", "The L1 that a program takes changed, and may have grown" },
	{ "budget_unexplained", "The baseline has no expressions, so growth of unknown sizes is not seen" },
	{ "budget_new", "A program is new" },
	{ "budget_gone", "A program is gone" },
	{ "nobody_pushes", "A kernel waits on a buffer that no kernel of its program pushes" },
	{ "not_created", "A kernel uses a buffer that the program does not create" },
	{ "not_bound", "A kernel uses a name of a buffer that the host does not bind" },
	{ "too_many_pages", "A kernel handles more pages at once than the buffer has" },
};

enum { RULES = sizeof rules / sizeof *rules };

static const char *level_of(const struct tdm_finding *finding)
{
	return finding->severity == TDM_FINDING_BROKEN    ? "error"
	       : finding->severity == TDM_FINDING_WARNING ? "warning"
							  : "note";
}

static void put_message(struct tdm_json *json, const char *key, const char *text)
{
	tdm_json_put_object(json, key);
	tdm_json_put_text(json, "text", text);
	tdm_json_object_end(json);
}

static void put_rules(struct tdm_json *json)
{
	tdm_json_put_array(json, "rules");
	for (size_t i = 0; i < RULES; i++) {
		tdm_json_object(json);
		tdm_json_put_text(json, "id", rules[i].id);
		put_message(json, "shortDescription", rules[i].summary);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_tool(struct tdm_json *json)
{
	tdm_json_put_object(json, "tool");
	tdm_json_put_object(json, "driver");
	tdm_json_put_text(json, "name", "tidemark");
	tdm_json_put_text(json, "version", TDM_VERSION_STRING);
	put_rules(json);
	tdm_json_object_end(json);
	tdm_json_object_end(json);
}

/* The path without `folder` and its slash; NULL when it is not below it. */
static const char *below(const char *path, const char *folder)
{
	size_t len = strlen(folder);
	while (len > 1 && folder[len - 1] == '/')
		len--;
	return strncmp(path, folder, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

static const char *relative(const struct tdm_scan_report *report, const char *path, const char *working)
{
	const char *rest = working[0] != '\0' ? below(path, working) : NULL;
	for (size_t i = 0; rest == NULL && path[0] == '/' && report->paths[i] != NULL; i++)
		rest = below(path, report->paths[i]);
	rest = rest != NULL ? rest : path;
	while (rest[0] == '.' && rest[1] == '/')
		rest += 2;
	while (rest[0] == '/')
		rest++;
	return rest;
}

/* A path as a URI: everything but letters, digits and a few marks is escaped. */
static void put_uri(const char *path, struct tdm_json *json)
{
	struct tdm_buf uri;
	tdm_buf_init(&uri);
	for (const char *at = path; *at != '\0'; at++)
		if (isalnum((unsigned char)*at) || strchr("/-._~", *at) != NULL)
			tdm_buf_putc(&uri, *at);
		else
			tdm_buf_printf(&uri, "%%%02X", (unsigned)(unsigned char)*at);
	tdm_json_put_text(json, "uri", tdm_buf_str(&uri).ptr);
	json->out->failed |= uri.failed;
	tdm_buf_done(&uri);
}

static void put_location(const char *path, uint64_t line, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_json_put_object(json, "physicalLocation");
	tdm_json_put_object(json, "artifactLocation");
	put_uri(path, json);
	tdm_json_put_text(json, "uriBaseId", "%SRCROOT%");
	tdm_json_object_end(json);
	tdm_json_put_object(json, "region");
	tdm_json_put_u64(json, "startLine", line != 0 && line != TDM_BYTES_UNKNOWN ? line : 1);
	tdm_json_object_end(json);
	tdm_json_object_end(json);
	tdm_json_object_end(json);
}

/* Whether a budget's name is that of a program, or of the part of it that is known. */
static bool is_name_of(const char *name, const char *program)
{
	char shown[4096];
	tdm_str_shown(tdm_str_of(program), shown, sizeof shown); /* as names of budgets are kept */
	size_t len = strlen(shown);
	return strncmp(name, shown, len) == 0 && (name[len] == '\0' || strcmp(name + len, " (at least)") == 0);
}

/* The program that a budget's name is about; NULL when it is gone. */
static const struct tdm_scan_budget *budget_named(const struct tdm_scan_report *report, const char *name)
{
	for (size_t i = 0; name != NULL && i < report->verdict->budgets.count; i++)
		if (is_name_of(name, report->verdict->budgets.list[i].name))
			return &report->verdict->budgets.list[i];
	return NULL;
}

static void put_locations(const struct tdm_scan_report *report, const struct tdm_finding *finding, const char *working,
	struct tdm_json *json)
{
	const struct tdm_figure *file = tdm_finding_figure(&report->verdict->findings, finding, "file");
	const struct tdm_scan_budget *budget = file == NULL ? budget_named(report, finding->about.name) : NULL;
	tdm_json_put_array(json, "locations");
	if (file != NULL)
		put_location(relative(report, file->owned, working),
			tdm_finding_number(&report->verdict->findings, finding, "line"), json);
	else if (budget != NULL)
		put_location(relative(report, budget->file->path, working), budget->program->line, json);
	tdm_json_array_end(json);
}

static void put_result(const struct tdm_scan_report *report, const struct tdm_finding *finding, const char *working,
	struct tdm_json *json)
{
	struct tdm_finding_view view = { .findings = &report->verdict->findings };
	struct tdm_buf text;
	tdm_buf_init(&text);
	if (finding->about.name != NULL)
		tdm_buf_printf(&text, "%s%s", finding->about.name, finding->family == TDM_FAMILY_BUDGET ? " " : ": ");
	tdm_finding_sentence(&view, finding, &text);
	if (finding->advice.count != 0)
		tdm_buf_printf(&text, ". %s", report->verdict->findings.advice[finding->advice.first].text);
	tdm_json_object(json);
	tdm_json_put_text(json, "ruleId", finding->what);
	for (size_t i = 0; i < RULES; i++)
		if (strcmp(rules[i].id, finding->what) == 0)
			tdm_json_put_u64(json, "ruleIndex", i);
	tdm_json_put_text(json, "level", level_of(finding));
	put_message(json, "message", tdm_buf_str(&text).ptr);
	put_locations(report, finding, working, json);
	tdm_json_object_end(json);
	json->out->failed |= text.failed;
	tdm_buf_done(&text);
}

void tdm_scan_report_sarif(const struct tdm_scan_report *report, struct tdm_buf *out)
{
	struct tdm_json json;
	char working[PATH_MAX] = "";
	if (getcwd(working, sizeof working) == NULL)
		working[0] = '\0';
	tdm_json_init(&json, out);
	tdm_json_object(&json);
	tdm_json_put_text(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	tdm_json_put_text(&json, "version", "2.1.0");
	tdm_json_put_array(&json, "runs");
	tdm_json_object(&json);
	put_tool(&json);
	tdm_json_put_array(&json, "results");
	for (size_t i = 0; i < report->verdict->findings.count; i++)
		if (report->verdict->findings.list[i].severity != TDM_FINDING_OK)
			put_result(report, &report->verdict->findings.list[i], working, &json);
	tdm_json_array_end(&json);
	tdm_json_object_end(&json);
	tdm_json_array_end(&json);
	tdm_json_object_end(&json);
	tdm_buf_putc(out, '\n');
}
