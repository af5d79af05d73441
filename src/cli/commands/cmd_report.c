/*
 * `tidemark report`: one document with everything known about the arguments.
 *
 * Each part is a row in the table below. Each part shows the same content as the command named in its row, uses the
 * same functions, and passes its findings to the digest.
 */
#include "analyze/budget/scan_budget.h"
#include "analyze/leaks/leaks.h"
#include "analyze/phases/phases.h"
#include "analyze/pressure/cb_pattern.h"
#include "analyze/pressure/pressure.h"
#include "analyze/replay/replay.h"
#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/commands/cmd_list.h"
#include "cli/inputs/examination.h"
#include "cli/inputs/info.h"
#include "cli/inputs/ledgers.h"
#include "cli/options/options.h"
#include "input/door/format.h"
#include "input/ledger/ledger_phases.h"
#include "live/join/state.h"
#include "scan/scan.h"
#include "view/chart/result_charts.h"
#include "view/rows/status_result.h"
#include "view/write/digest.h"
#include "view/write/write.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT_DEFAULT = 10 };

/* The kinds of items that a report can cover. */
enum of {
	OF_FILE = 1,    /* any file not listed below */
	OF_TRACE = 2,   /* a text trace */
	OF_LEDGERS = 4, /* all ledgers, as one item */
	OF_MACHINE = 8, /* devices and programs of this machine */
	OF_WORKLOAD = 16,
	OF_SOURCES = 32, /* source files, and folders that contain some, as one item */
	OF_PATTERN = 64, /* a pattern file, recognised by its ending */
};

/* An item that the user named. */
struct item {
	unsigned of;                     /* an enum of value */
	const char *source;              /* name in headings */
	bool is_found;                   /* found in a folder, so it is not an error if there is nothing to show */
	struct tdm_input *input;         /* the opened file or trace */
	const struct tdm_format *format; /* format of the input; NULL if not recognised */
	const char *const *paths;        /* paths of the ledgers, sources or pattern; ends with NULL */
	uint64_t a_tiles, b_tiles;       /* tiles of the workload; 0 for workloads of several sizes */
};

struct request {
	const struct tdm_cmd *cmd;
	struct tdm_digest digest;
	struct tdm_term term; /* terminal for the text of parts */
	struct tdm_card card; /* for workloads and sources */
	size_t rows;          /* rows of each table; SIZE_MAX for all */
	bool is_piped;        /* output goes to a program or a file */
	/* Options: */
	unsigned form; /* position of the --format word in `forms`, counted from 1; 0 if not given */
	const char *card_name;
	bool multi, json, machine, fail, fail_warning, ascii, no_colour;
	uint64_t limit;
	const char *output; /* output file; NULL for standard output */
	const char *dir;    /* directory of ledgers; NULL for the default */
	uint64_t watch_ns;  /* how long to watch this machine for leaks; 0 to look only once */
	uint64_t tiles[2];  /* tiles of A and B in the workload */
	size_t tile_count;  /* number of tile counts given; 0 if there is no workload */
	char *const *named; /* files, folders and ledgers */
	size_t named_count;
	/* Derived from the options: */
	struct tdm_info_paths paths;
	struct stat *seen; /* files already reported, to avoid reporting a file twice */
	size_t seen_count, seen_cap;
	struct names {
		const char **list; /* ends with NULL */
		size_t count, cap;
	} ledgers, sources; /* one item for all ledgers, and one for all sources */
};

static void hear(void *part, const struct tdm_diag *diag)
{
	char text[TDM_DIAG_TEXT_CAP * 2];
	tdm_digest_say(part, tdm_str_of(tdm_diag_format(diag, text, sizeof text)));
}

/* Moves a result into its part, and releases the result. */
static void put(struct request *r, struct tdm_result *result)
{
	tdm_digest_result(&r->digest, &result->top, &r->term);
	tdm_result_free(result);
}

/* ---- files ---- */

static void report_info(struct request *r, const struct item *item, struct tdm_digest_part *part)
{
	struct tdm_result *result = tdm_result_new();
	struct tdm_info info = { .cmd = r->cmd, .limit = r->rows, .say = hear, .hearer = part };
	part->is_incomplete |= tdm_info_read(&info, item->input, &result->top);
	part->is_empty = info.is_empty;
	part->is_unrelated = info.is_unrelated;
	put(r, result);
}

static void report_simulate(struct request *r, const struct item *item, struct tdm_digest_part *part)
{
	const struct tdm_replay_options options = { 0 };
	struct tdm_replay_feed feed = { .replay = tdm_replay_new(&options), .is_trace = true, .is_own_card = true };
	struct tdm_intake reading = { .input = item->input,
		.format = item->format,
		.what = "replaying",
		.noun = "lines",
		.to = &feed,
		.event = tdm_replay_take,
		.say = hear,
		.hearer = part };
	struct tdm_result *result = tdm_result_new();
	feed.stop = &reading.stop;
	tdm_intake_run(&reading);
	tdm_intake_end(&reading);
	part->is_empty = feed.replay->space_count == 0;
	if (!part->is_empty) {
		tdm_replay_show(&result->top, &feed, &reading);
		tdm_digest_result(&r->digest, &result->top, &r->term);
	} else if (reading.refused == 0 && reading.err == 0) {
		tdm_digest_say(part, tdm_str_of("no 'region' or 'device' line describes the memory"));
	}
	tdm_result_free(result);
	tdm_replay_free(feed.replay);
}

/* ---- workloads and sources ---- */

static void draw_pressure(const void *report, const struct tdm_term *term, size_t indent, struct tdm_buf *out)
{
	struct tdm_diag diag = { 0 };
	(void)indent;
	tdm_buf_putc(out, '\n');
	if (tdm_pressure_draw(report, &(struct tdm_plot_picture){ .term = term }, out, &diag) != 0)
		tdm_buf_printf(out, "%s\n", diag.text);
}

static void report_pressure(struct request *r, const struct item *item, struct tdm_digest_part *part)
{
	const struct tdm_data_format *format = tdm_data_format_find(tdm_str_of(TDM_PRESSURE_FORMAT));
	struct tdm_pressure_report *report = tdm_zalloc(1, sizeof *report);
	struct tdm_core_speed speed;
	struct tdm_cb_pattern pattern = { 0 };
	struct tdm_diag diag = { 0 };
	struct tdm_result *result = tdm_result_new();
	tdm_core_speed_init(&speed, r->card.arch);
	*report = (struct tdm_pressure_report){ .format = format->name,
		.sizes = { { item->a_tiles, item->b_tiles } },
		.size_count = 1,
		.setup = { .mesh_rows = TDM_PRESSURE_MESH_ROWS,
			.mesh_columns = TDM_PRESSURE_MESH_COLUMNS,
			.tile_bytes = format->tile_bytes,
			.card = &r->card,
			.speed = &speed } };
	if (item->of == OF_PATTERN) {
		report->pattern_path = item->paths[0];
		report->setup.pattern = &pattern;
		part->is_empty = tdm_pattern_load(item->paths[0], &pattern, &speed, &diag) != 0;
	} else if (item->a_tiles == 0) {
		report->is_multi = true;
		report->size_count = 0;
	}
	if (part->is_empty) {
		hear(part, &diag);
	} else {
		tdm_pressure_run(report);
		tdm_pressure_show(&result->top, report);
	}
	if (!part->is_empty && report->is_multi)
		tdm_add_drawing(&result->top, draw_pressure, report);
	put(r, result);
	tdm_pressure_report_done(report);
	tdm_pattern_done(&pattern);
	free(report);
}

static void report_scan(struct request *r, const struct item *item, struct tdm_digest_part *part)
{
	struct tdm_scan_report report = {
		.paths = item->paths, .card = &r->card, .limit = (double)NAN, .rows = r->rows != SIZE_MAX ? r->rows : 0
	};
	struct tdm_diag diag = { 0 };
	if (tdm_scan_report_make(&report, &diag) == 0) {
		struct tdm_result *result = tdm_result_new();
		tdm_scan_show(&result->top, &report);
		tdm_digest_result(&r->digest, &result->top, &r->term);
		part->is_incomplete |= report.scan.refusal_count != 0; /* the part lists the refusals */
		for (size_t i = 0; i < report.scan.file_count; i++)
			part->is_incomplete |= report.scan.files[i].state == TDM_FILE_REFUSED;
		tdm_result_free(result);
	} else {
		tdm_digest_say(part, tdm_str_of(diag.text));
		part->is_empty = true;
	}
	tdm_scan_report_done(&report);
}

/* ---- this machine, and ledgers: pictures of one moment ---- */

static void report_status(struct request *r, const struct item *item, struct tdm_digest_part *part)
{
	const struct tdm_state_options options = { .ledger_dir = r->dir, .once = true };
	struct tdm_state *state = tdm_state_new(&options);
	struct tdm_result *result = tdm_result_new();
	struct tdm_machine machine;
	(void)item;
	(void)part;
	tdm_machine_read(&machine, NULL);
	const struct tdm_status_report report = { .picture = tdm_state_look(state, NULL),
		.host = tdm_state_host(state),
		.machine = &machine,
		.term = r->term,
		.is_piped = r->is_piped };
	tdm_status_show(&result->top, &report);
	put(r, result);
	tdm_state_free(state);
}

static void report_doctor(struct request *r, const struct item *item, struct tdm_digest_part *part)
{
	struct tdm_examination *look = tdm_alloc(sizeof *look);
	struct tdm_result *result = tdm_result_new();
	(void)item;
	(void)part;
	tdm_examine(look, r->dir);
	tdm_doctor_show(&result->top, &look->doctor.findings, NULL);
	put(r, result);
	tdm_examination_done(look);
	free(look);
}

/* Lists the live buffers in ledgers, as `dump` does, or only those that are probably leaks. If a named ledger cannot be
 * read, the part is incomplete. */
static void report_held(struct request *r, const struct item *item, bool is_leaks, struct tdm_digest_part *part)
{
	const struct tdm_state_options options = { .ledger_dir = r->dir, .paths = item->paths, .keeps_gone = true };
	uint64_t watch_ns = is_leaks && item->paths == NULL ? r->watch_ns : 0;
	struct tdm_ledgers ledgers = { 0 };
	struct tdm_leaks *leaks = tdm_leaks_new(watch_ns);
	uint64_t interval_ns = tdm_leak_interval(watch_ns);
	struct tdm_live_report live = { 0 };
	struct tdm_findings found = { 0 };
	struct tdm_leaks_result judged;
	struct tdm_result *result = tdm_result_new();
	int code = tdm_ledgers_open(r->cmd, options, &ledgers);
	if (code == 0)
		code = is_leaks ? tdm_leak_pictures(r->cmd, leaks, &ledgers, watch_ns, interval_ns)
				: tdm_ledgers_look(r->cmd, &ledgers, 0);
	part->is_empty = code != 0;
	if (code != 0) { /* a message on standard error explained why */
		char text[256];
		snprintf(text, sizeof text, "cannot list %s: %s", tdm_state_ledger_dir(ledgers.state),
			tdm_err_text(ledgers.picture->ledgers_err));
		tdm_digest_say(part, tdm_str_of(text));
	}
	if (code == 0) {
		tdm_ledgers_report(&ledgers, false, &live);
		live.term = r->term;
		live.limit = !is_leaks && r->rows != SIZE_MAX ? r->rows : 0;
		part->is_incomplete |= item->paths != NULL && tdm_live_unread_count(&live) != 0;
	}
	if (code == 0 && is_leaks) {
		live.findings = &found;
		live.leaks = &judged;
		live.interval_ns = watch_ns != 0 ? interval_ns : 0;
		tdm_leaks_judge(leaks, live.picture, &found, &judged);
		tdm_leaks_show(&result->top, &live);
		part->is_incomplete |= tdm_leaks_damaged(&live) != 0;
		if (watch_ns != 0 && live.picture->process_count == 0) /* as for `leaks --fail` */
			tdm_digest_say(
				part, tdm_str_of("no tracked program was seen, so nothing can be said about leaks"));
	} else if (code == 0) {
		tdm_dump_show(&result->top, &live);
	}
	put(r, result);
	tdm_findings_done(&found);
	tdm_leaks_free(leaks);
	tdm_ledgers_done(&ledgers);
}

static void report_leaks(struct request *r, const struct item *item, struct tdm_digest_part *part)
{
	report_held(r, item, true, part);
}

static void report_dump(struct request *r, const struct item *item, struct tdm_digest_part *part)
{
	report_held(r, item, false, part);
}

static void report_phases(struct request *r, const struct item *item, struct tdm_digest_part *part)
{
	size_t count = 0, runs = 0;
	while (item->paths[count] != NULL)
		count++;
	struct tdm_phases_input *inputs = tdm_zalloc(count, sizeof *inputs);
	for (size_t i = 0; i < count; i++) {
		struct tdm_diag diag = { .file = item->paths[i] };
		inputs[i].source = "ledger";
		inputs[i].path = item->paths[i];
		if (tdm_ledger_phases_read(item->paths[i], &inputs[i].runs, &diag) != 0)
			hear(part, &diag);
		tdm_phases_end(&inputs[i], NULL);
		runs += inputs[i].runs.count;
	}
	if (runs != 0) {
		struct tdm_result *result = tdm_result_new();
		tdm_phases_show(&result->top, inputs, count);
		put(r, result);
	} else if (part->message_count == 0)
		tdm_digest_gap(&r->digest, item->source, "phases: none were recorded", false);
	part->is_empty = runs == 0;
	for (size_t i = 0; i < count; i++)
		tdm_phases_input_done(&inputs[i]);
	free(inputs);
}

/* The parts, in the order in which they are shown for an item. */
static const struct {
	const char *name; /* name of the command that shows the same */
	unsigned of;      /* the `enum of` values to which the part applies, as a set */
	void (*fill)(struct request *r, const struct item *item, struct tdm_digest_part *part);
} parts[] = {
	{ "pressure", OF_WORKLOAD | OF_PATTERN, report_pressure },
	{ "scan", OF_SOURCES, report_scan },
	{ "info", OF_FILE, report_info },
	{ "simulate", OF_TRACE, report_simulate },
	{ "dump", OF_LEDGERS, report_dump },
	{ "phases", OF_LEDGERS, report_phases },
	{ "status", OF_MACHINE, report_status },
	{ "leaks", OF_MACHINE | OF_LEDGERS, report_leaks },
	{ "doctor", OF_MACHINE, report_doctor },
};

static void report_item(struct request *r, const struct item *item)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if ((parts[i].of & item->of) == 0)
			continue;
		struct tdm_digest_part *part = tdm_digest_begin(&r->digest, parts[i].name, item->source);
		parts[i].fill(r, item, part);
		if (part->is_empty)
			tdm_digest_drop(&r->digest, !(part->is_unrelated && item->is_found));
	}
}

/* ---- the arguments, without duplicate files ---- */

/* Whether the file was seen before, under any name; records it as seen. */
static bool is_seen(struct request *r, const char *path)
{
	struct stat st;
	if ((strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0)
		return false; /* opening the file will report the reason */
	for (size_t i = 0; i < r->seen_count; i++)
		if (r->seen[i].st_dev == st.st_dev && r->seen[i].st_ino == st.st_ino)
			return true;
	tdm_grow(&r->seen, &r->seen_cap, r->seen_count + 1, sizeof *r->seen);
	r->seen[r->seen_count++] = st;
	return false;
}

static void add_name(struct names *names, const char *path)
{
	tdm_grow(&names->list, &names->cap, names->count + 2, sizeof *names->list);
	names->list[names->count++] = path;
	names->list[names->count] = NULL;
}

static bool is_named(const struct request *r, const char *path)
{
	for (size_t i = 0; i < r->named_count; i++)
		if (strcmp(r->named[i], path) == 0)
			return true;
	return false;
}

static void report_input(struct request *r, struct tdm_input *input, const char *path)
{
	const struct tdm_format *format = tdm_format_of(input);
	const char *name = format != NULL ? format->name : "";
	if (strcmp(name, "ledger") == 0 && strcmp(path, "-") != 0 && tdm_input_packing(input) == NULL) {
		add_name(&r->ledgers, path);
		return;
	}
	const struct item item = { .of = strcmp(name, "text_trace") == 0 ? OF_TRACE : OF_FILE,
		.source = tdm_input_name(input),
		.is_found = !is_named(r, path),
		.input = input,
		.format = format };
	report_item(r, &item);
}

static void report_path(struct request *r, const char *path)
{
	struct tdm_input *input = NULL;
	char why[256];
	if (is_seen(r, path)) {
		tdm_digest_gap(&r->digest, path, "the same file was named before; it is reported once", false);
		return;
	}
	int err = tdm_input_open(path, &input);
	if (err == 0 && tdm_pattern_is_file(path) && !tdm_input_is_folder(input)) {
		const char *const paths[] = { path, NULL };
		report_item(r, &(struct item){ .of = OF_PATTERN, .source = path, .paths = paths });
	} else if (err == 0 && tdm_scan_is_source(path) && !tdm_input_is_folder(input)) {
		add_name(&r->sources, path);
	} else if (err == 0) {
		report_input(r, input, path);
	} else {
		snprintf(why, sizeof why, "cannot be read: %s", tdm_err_text(err));
		tdm_digest_gap(&r->digest, path, why, true);
	}
	tdm_input_close(input);
}

/* Reports how many files in a folder are left out, unless the whole folder is refused. */
static void skip_others(struct request *r, const char *folder)
{
	const struct tdm_info_paths *paths = &r->paths;
	char why[96];
	if (paths->other == 0 || (paths->count != 0 && strcmp(paths->at[paths->count - 1], folder) == 0))
		return;
	snprintf(why, sizeof why, "%" PRIu64 " %s of another kind, or %s", paths->other,
		paths->other == 1 ? "file in it is" : "files in it are", paths->other == 1 ? "a link" : "links");
	tdm_digest_gap(&r->digest, folder, why, false);
}

static int stop_at_source(void *to, int folder, const char *name, const char *path, const struct tdm_diag *refused)
{
	bool *found = to;
	(void)folder, (void)path;
	*found |= refused == NULL && tdm_scan_is_source(name);
	return *found ? -ECANCELED : 0;
}

static bool has_sources(const char *path)
{
	bool found = false;
	struct tdm_walk_rest rest = { 0 };
	struct stat st;
	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		tdm_folder_walk(path, &rest, stop_at_source, &found);
	return found;
}

/* Adds a file, or the files in a folder. If some of these are sources, the folder also becomes a source item. A source
 * tree may be too large or too deep to visit completely; neither is an error. */
static void add_path(struct request *r, const char *name)
{
	struct tdm_buf why = { 0 };
	r->paths.may_be_empty = has_sources(name);
	if (r->paths.may_be_empty)
		add_name(&r->sources, name);
	tdm_info_paths_add(&r->paths, name, &why);
	if (why.len != 0) /* skip the name at the beginning of the sentence */
		tdm_digest_gap(&r->digest, name, why.data + strlen(name) + strlen(": "), !r->paths.may_be_empty);
	skip_others(r, name);
	tdm_buf_done(&why);
}

/* Reports the named files and the files in the named folders. */
static void report_paths(struct request *r)
{
	struct tdm_info_paths *paths = &r->paths;
	struct tdm_progress progress;
	for (size_t i = 0; i < r->named_count; i++)
		add_path(r, r->named[i]);
	tdm_progress_begin(&progress, "reporting", paths->count);
	for (size_t i = 0; i < paths->count; i++) {
		report_path(r, paths->at[i]);
		tdm_progress_update(&progress, i + 1);
	}
	tdm_progress_end(&progress);
}

/* Reports paths that together form one item. `noun`: the plural used for several paths. */
static void report_together(struct request *r, unsigned of, const struct names *names, const char *noun)
{
	char source[64];
	snprintf(source, sizeof source, "%zu %s", names->count, noun);
	const struct item item = {
		.of = of, .source = names->count == 1 ? names->list[0] : source, .paths = names->list
	};
	if (names->count != 0)
		report_item(r, &item);
}

/* ---- the command ---- */

/* The forms, in the order of the --format words. */
static const struct tdm_form *const forms[] = { &tdm_form_text, &tdm_form_json, &tdm_form_markdown };

/* Chooses the form by the file's ending, unless the user specified it. NULL if the ending belongs to another kind of
 * file. */
static const struct tdm_form *form_of_name(const char *path)
{
	static const struct {
		const char *ending;
		const struct tdm_form *form;
	} others[] = { { ".text", &tdm_form_text }, { ".log", &tdm_form_text }, { ".markdown", &tdm_form_markdown } };
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;
	const char *name = slash != NULL ? slash + 1 : path, *end = name != NULL ? strrchr(name, '.') : NULL;
	if (end == NULL || end == name)
		return &tdm_form_text;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (strcmp(end, forms[i]->ending) == 0)
			return forms[i];
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strcmp(end, others[i].ending) == 0)
			return others[i].form;
	return NULL;
}

static void set_term(struct request *r)
{
	bool is_for_terminals = r->digest.form->width == 0;
	r->term = tdm_cmd_term(r->ascii, r->no_colour);
	r->term.folds = true;
	r->is_piped = !is_for_terminals || r->output != NULL || isatty(STDOUT_FILENO) != 1;
	r->term.colour &= is_for_terminals && r->output == NULL;
	if (is_for_terminals)
		return;
	r->term.utf8 = !r->ascii;
	r->term.width = r->digest.form->width;
}

/* Removes numbers from the arguments; the numbers are a workload's tile counts. */
static int take_tiles(struct tdm_args *args, struct request *r)
{
	int names = 0;
	for (int i = 0; i < args->positional_count; i++) {
		char *word = args->positional[i];
		uint64_t tiles = 0;
		if (word[0] == '\0' || word[strspn(word, "0123456789")] != '\0') {
			args->positional[names++] = word;
			continue;
		}
		if (r->tile_count == 2 || tdm_str_parse_u64(tdm_str_of(word), &tiles) != 0 || tiles == 0 ||
			tiles > TDM_PRESSURE_TILES_MAX)
			return tdm_cmd_usage_error(args->cmd,
				"'%s': a workload is two numbers of tiles, A and B, from 1 to %" PRIu64
				"; a file of that name is ./%s",
				word, TDM_PRESSURE_TILES_MAX, word);
		r->tiles[r->tile_count++] = tiles;
	}
	args->positional_count = names;
	return r->tile_count == 1
		       ? tdm_cmd_usage_error(args->cmd,
				 "a workload is two numbers of tiles, A and B, as in 'tidemark report 16 16'")
		       : 0;
}

static int read_options(struct tdm_args *args, struct request *r)
{
	struct tdm_diag diag = { 0 };
	int code = tdm_args_read(args, r);
	code = code != 0 ? code : take_tiles(args, r);
	if (code != 0)
		return code;
	const struct tdm_form *form = r->form != 0 ? forms[r->form - 1] : NULL;
	if (r->json && form != NULL && form != &tdm_form_json)
		return tdm_cmd_usage_error(args->cmd, "--json and --format of another form cannot be combined");
	if (r->output != NULL && strcmp(r->output, "-") == 0)
		r->output = NULL;
	if (form == NULL)
		form = r->json ? &tdm_form_json : form_of_name(r->output);
	if (form == NULL)
		return tdm_cmd_usage_error(args->cmd,
			"--output %s: a report is text (.txt), JSON (.json) or Markdown (.md): name the file so, "
			"or say which with --format",
			r->output);
	tdm_digest_init(&r->digest, form);
	if (tdm_card_init(&r->card, tdm_str_of(r->card_name != NULL ? r->card_name : TDM_CARD_DEFAULT), NULL, &diag) !=
		0)
		return tdm_cmd_usage_error(args->cmd, "--card: %s", diag.text);
	r->cmd = args->cmd;
	r->machine |= r->watch_ns != 0 || (args->positional_count == 0 && r->tile_count == 0 && !r->multi);
	r->rows = r->limit != 0 && r->limit < SIZE_MAX ? (size_t)r->limit : SIZE_MAX;
	set_term(r);
	return 0;
}

static void report_workloads(struct request *r)
{
	char source[64];
	snprintf(source, sizeof source, "%" PRIu64 " %" PRIu64, r->tiles[0], r->tiles[1]);
	if (r->tile_count != 0)
		report_item(r,
			&(struct item){
				.of = OF_WORKLOAD, .source = source, .a_tiles = r->tiles[0], .b_tiles = r->tiles[1] });
	if (r->multi)
		report_item(r, &(struct item){ .of = OF_WORKLOAD, .source = "--multi" });
}

static int exit_code(const struct request *r)
{
	const struct tdm_digest *digest = &r->digest;
	uint64_t count = digest->counts[TDM_FINDING_BROKEN];
	if (tdm_digest_has_failures(digest))
		return tdm_cmd_error(r->cmd, "not everything could be read: the report says what and why");
	count += r->fail_warning ? digest->counts[TDM_FINDING_WARNING] : 0;
	return count != 0 && (r->fail || r->fail_warning) ? TDM_EXIT_FINDING : TDM_EXIT_OK;
}

static int print_report(struct request *r)
{
	struct tdm_answer answer;
	tdm_answer_begin(&answer, r->cmd, r->digest.form == &tdm_form_json);
	r->digest.form->document(tdm_digest_show(&r->digest), &r->term, &answer.json);
	if (r->output == NULL)
		return tdm_answer_end(&answer, 0);
	tdm_answer_close(&answer);
	int err = tdm_file_replace(r->output, tdm_buf_str(&answer.out).ptr, answer.out.len);
	tdm_buf_done(&answer.out);
	return err != 0 ? tdm_cmd_error(r->cmd, "cannot write '%s': %s", r->output, tdm_err_text(err)) : 0;
}

static int cmd_report_run(struct tdm_args *args)
{
	struct request r = { .limit = LIMIT_DEFAULT, .paths.with_all = true };
	int code = read_options(args, &r);
	if (code != 0) {
		tdm_digest_done(&r.digest);
		return code;
	}
	report_workloads(&r);
	r.named = args->positional;
	r.named_count = (size_t)args->positional_count;
	report_paths(&r);
	report_together(&r, OF_LEDGERS, &r.ledgers, "ledgers");
	report_together(&r, OF_SOURCES, &r.sources, "paths of sources");
	if (r.machine)
		report_item(&r, &(struct item){ .of = OF_MACHINE, .source = "this machine" });
	code = print_report(&r);
	code = code != 0 ? code : exit_code(&r);
	tdm_digest_done(&r.digest);
	tdm_info_paths_done(&r.paths);
	free(r.seen);
	free(r.ledgers.list);
	free(r.sources.list);
	return code;
}

static const struct tdm_opt report_opts[] = {
	{ "format", 'f', "text|json|markdown",
		"report format (default: by the extension of --output, .json or .md, else text)",
		TDM_TAKE_CHOICE(struct request, form) },
	{ TDM_OPT_JSON(struct request, json) },
	{ "output", 'o', "FILE", "write the report to FILE, replacing it atomically; '-' is standard output",
		TDM_TAKE_TEXT(struct request, output) },
	{ "limit", 'n', "N", "show at most N rows of each table; 0 shows all (default: 10)",
		TDM_TAKE_NUMBER(struct request, limit, 0, 0) },
	{ "multi", 0, NULL, "report workloads of several sizes, and the size at which circular buffers become critical",
		TDM_TAKE_FLAG(struct request, multi) },
	{ "card", 'c', "CARD", "the card for workloads and sources (default: n150)",
		TDM_TAKE_TEXT(struct request, card_name) },
	{ "machine", 'm', NULL, "also report this machine, which is the default if nothing is named",
		TDM_TAKE_FLAG(struct request, machine) },
	{ "for", 0, "TIME", "report this machine after watching it for leaks for this long, such as 30s",
		TDM_TAKE_DURATION(struct request, watch_ns) },
	{ TDM_OPT_DIR(struct request, dir) },
	{ "fail", 0, NULL, "exit with 1 if a finding is an error", TDM_TAKE_FLAG(struct request, fail) },
	{ "fail-warning", 0, NULL, "exit with 1 if a finding is an error or a warning",
		TDM_TAKE_FLAG(struct request, fail_warning) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ TDM_OPT_NO_COLOR(struct request, no_colour) },
	{ 0 },
};

static const struct tdm_help_row report_examples[] = {
	{ "tidemark report 16 16 debug.log", "a workload, and the log of a run with that workload" },
	{ "tidemark report", "the devices and programs on this machine, and their problems" },
	{ "tidemark report --for 30s --fail", "the same, after watching for half a minute; fail if something leaks" },
	{ "tidemark report debug.log capture.json",
		"a log and a graph capture, with the findings of both in one list" },
	{ "tidemark report --format markdown results/ >> \"$GITHUB_STEP_SUMMARY\"",
		"everything in a folder, as the summary of a CI job" },
	{ "tidemark report --fail -o report.json results/", "fail the job if a finding is an error" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_report = {
	.name = "report",
	.summary = "write one report about workloads, sources, files and this machine, findings first",
	.usage = "[--format text|json|markdown] [-o FILE] [--limit N] [--machine] [--for TIME] [--dir DIR] [--fail | "
		 "--fail-warning] "
		 "[--multi] [--card CARD] [A B] [FILE|FOLDER|LEDGER]...",
	.description = "Runs the appropriate commands for each argument and writes one document. The document begins "
		       "with the findings of all parts in one list, the worst first, each with its part number. "
		       "Every part follows, as shown by the command of that name. The document ends with the omitted "
		       "inputs and the reasons.\n\n A B, --multi: a workload in tiles        pressure\n pattern "
		       "files, *.cb                      pressure\n C++ and Python sources                   scan\n "
		       "graph captures, reports, logs, kernels   info\n text traces                              "
		       "simulate\n ledgers                                  dump, phases, leaks\n this machine         "
		       "                    "
		       "status, leaks, doctor\n\nTwo numbers are the tiles of a workload, as for 'tidemark "
		       "pressure'; other words are file names. Without arguments, this machine is reported. '-' is "
		       "standard input. Every recognised file in a folder is reported. By default, a machine is read "
		       "once, which cannot show growth; --for watches the machine for leaks.\n\nAn error is a fault "
		       "or a failure, a warning needs attention, and a note explains a figure. If something could "
		       "not be read, the rest is reported and the exit code is 2, regardless of the findings.",
	.opts = report_opts,
	.examples = report_examples,
	.run = cmd_report_run,
};
