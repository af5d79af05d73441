/*
 * Findings in words. The sentence of a finding comes from the analyser, or is made here from its figures. Each family
 * has a layout around it: the list of doctor with advice, the sites of leaks with what they hold, the first failure of
 * a replay with the holes, the indicators of pressure line by line.
 */
#include "report/finding_report.h"
#include "analyze/failure_finding.h"
#include "analyze/leaks.h"
#include "analyze/log_pressure.h"
#include "base/clock.h"
#include "base/units.h"
#include "base/wrap.h"
#include "report/cell.h"
#include "report/report_put.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DOCTOR_INDENT = 11, LEAK_INDENT = 2 };

#define YEAR_S (365.0 * 24 * 3600)

static const char *const styles[TDM_SEVERITIES] = { TDM_STYLE_GREEN, TDM_STYLE_CYAN, TDM_STYLE_YELLOW, TDM_STYLE_RED };

/* A finding that is being put into words. */
struct words {
	struct tdm_finding_view *view;
	const struct tdm_finding *finding;
	struct tdm_buf *out;
};

static uint64_t number(const struct words *w, const char *key)
{
	return tdm_finding_number(w->view->findings, w->finding, key);
}

static double real(const struct words *w, const char *key)
{
	return tdm_finding_real(w->view->findings, w->finding, key);
}

/* NULL: it is not about a kind of memory. */
static const char *kind_of(const struct words *w)
{
	uint8_t kind = w->finding->about.kind;
	return kind < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)kind) : NULL;
}

static void put(const struct words *w, const char *text)
{
	tdm_buf_puts(w->out, text);
}

/* Sentences with fields. */

/* "0-0 to 7-7 and 2 more ranges" */
static void put_cores(const struct words *w, const struct tdm_core_range *range)
{
	uint64_t more = number(w, "core_ranges") - 1;
	if (!tdm_core_range_is_valid(range))
		return;
	tdm_buf_printf(w->out, "%u-%u to %u-%u", range->x0, range->y0, range->x1, range->y1);
	if (more != 0)
		tdm_buf_printf(w->out, " and %" PRIu64 " more range%s", more, tdm_plural(more));
}

/* A figure in the format of its unit, or in a given style; nothing when it is unknown. */
static void put_figure(const struct words *w, const struct tdm_figure *figure, char style)
{
	static const char *const why[] = { [TDM_CAUSE_UNKNOWN] = "",
		[TDM_CAUSE_TOO_LARGE] = "it would not fit an empty bank",
		[TDM_CAUSE_EXHAUSTED] = "less than that is free",
		[TDM_CAUSE_FRAGMENTED] = "enough is free, but in pieces" };
	char text[64];
	if (style == '#')
		tdm_buf_printf(w->out, "%" PRIu64, figure->number);
	else if (style == ',')
		put(w, TDM_COUNT_TEXT(figure->number));
	else if (figure->unit == TDM_UNIT_WORD)
		put(w, tdm_str_shown(tdm_str_of(figure->word), text, sizeof text));
	else if (figure->unit == TDM_UNIT_CORES)
		put_cores(w, &figure->cores);
	else if (figure->unit == TDM_UNIT_CAUSE)
		put(w, why[figure->number]);
	else if (figure->unit == TDM_UNIT_NS)
		put(w, TDM_TIME_TEXT(figure->number));
	else if (figure->unit == TDM_UNIT_BYTES)
		put(w, TDM_SIZE_TEXT(figure->number));
	else if (figure->real >= 1) /* growth that began lately has no rate yet */
		put(w, TDM_SIZE_TEXT((uint64_t)(figure->real + 0.5)));
}

/* "35 buffers of 3.4 MiB" or, when sizes differ, "35 buffers, 119 MiB". */
static void put_buffers(const struct words *w, const char *count_key, const char *bytes_key)
{
	uint64_t count = number(w, count_key), bytes = number(w, bytes_key);
	bool even = count != 0 && bytes % count == 0;
	tdm_put_count(w->out, count, "buffer", "buffers");
	tdm_buf_printf(w->out, "%s%s", even ? " of " : ", ", TDM_SIZE_TEXT(even ? bytes / count : bytes));
}

static void put_lived(const struct words *w)
{
	uint64_t lived = number(w, "freed_lived_ns"), most = number(w, "freed_lived_most_ns");
	if (lived != TDM_BYTES_UNKNOWN && lived >= most / 2)
		put(w, TDM_TIME_TEXT(lived));
	else if (lived != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(w->out, "at most %s", TDM_TIME_TEXT(most));
}

/* Fields that are not figures. */
static void put_special(const struct words *w, const char *key)
{
	const struct tdm_about *about = &w->finding->about;
	bool is_binary = about->kind == TDM_KIND_DRAM || about->kind == TDM_KIND_L1;
	if (strcmp(key, "setting") == 0 && about->kind == TDM_KIND_TRACE)
		put(w, "trace_region");
	else if ((strcmp(key, "kind") == 0 || strcmp(key, "setting") == 0) && about->kind < TDM_KIND_COUNT)
		put(w, kind_of(w));
	else if (strcmp(key, "held") == 0)
		put_buffers(w, "buffers", "reserved_bytes");
	else if (strcmp(key, "grown") == 0)
		put_buffers(w, "grown_buffers", "grown_bytes");
	else if (strcmp(key, "lived") == 0)
		put_lived(w);
	else if (strcmp(key, "killed") == 0 && w->view->picture->processes[about->process].life == TDM_LIFE_ENDED)
		put(w, " until the program was killed");
	else if (strcmp(key, "end") == 0)
		put(w, w->view->picture->processes[about->process].replaced ? "replaced by exec" : "killed or crashed");
	else if (strcmp(key, "cached") == 0)
		put(w, is_binary ? "each came with kernels: new programs are compiled and cached"
				 : "memory of programs grows as long as new ones are compiled and cached, or traces "
				   "are recorded");
}

/* Expands a field, the text between braces. */
static void put_field(const struct words *w, char *field)
{
	char style = strchr("#,=", field[0]) != NULL ? *field++ : '\0';
	char *key = strsep(&field, "/"), *one = strsep(&field, "/"), *many = strsep(&field, "/");
	const struct tdm_figure *figure = tdm_finding_figure(w->view->findings, w->finding, key);
	if (figure == NULL)
		put_special(w, key);
	else if (figure->unit <= TDM_UNIT_FLAG && figure->number == TDM_BYTES_UNKNOWN)
		return;
	else if (one == NULL)
		put_figure(w, figure, style);
	else if (style == '=')
		put(w, figure->number == 1 ? one : many);
	else if (figure->number == 0 && field != NULL)
		put(w, field);
	else
		tdm_put_count(w->out, figure->number, one, many);
}

/*
 * A sentence made of pieces separated by '|'. A piece has at most one field, and is left out when that is unknown:
 *   {key}            a figure in the format of its unit, or a word of put_special()
 *   {#key}           as a number or an address; {,key}: with commas
 *   {key/one/many}   a count with its noun; {key/one/many/none}: other words for 0; {=key/one/many}: the noun alone
 */
static void put_pieces(const struct words *w, const char *at)
{
	while (*at != '\0') {
		size_t piece = strcspn(at, "|"), before = strcspn(at, "{|"), start = w->out->len;
		const char *rest = at + before;
		tdm_buf_add(w->out, at, before);
		if (before != piece) {
			char field[96];
			size_t len = strcspn(rest, "}"), filled = w->out->len;
			snprintf(field, sizeof field, "%.*s", (int)len - 1, rest + 1);
			put_field(w, field);
			rest += len + 1;
			if (w->out->len == filled) {
				w->out->len = start;
				rest = at + piece;
			}
		}
		tdm_buf_add(w->out, rest, (size_t)(at + piece - rest));
		at += piece + (at[piece] == '|');
	}
}

/* Leaks. */

#define GROWTH                                                                                                      \
	"grew |by {bytes_per_second} a second |over {watched_ns}: |{grown} came and stayed"                         \
	"|, under {names/name/names}|, {freed_old/old one was freed/old ones were freed/and none that was old has " \
	"been freed}"
#define LIVES "|; freed ones of this site lived {lived}|; the oldest here is {oldest_ns} old"
#define REPLACEMENT                                                       \
	"grew |by {bytes_per_second} a second |over {watched_ns}: |each " \
	"buffer that is freed has been replaced by a larger one|; {freed/was/were} seen to be freed"
static const char *const leak_sentences[TDM_LEAK_WHY_COUNT] = {
	[TDM_LEAK_GROWS] = GROWTH LIVES,
	[TDM_LEAK_REPLACED] = REPLACEMENT,
	[TDM_LEAK_AT_EXIT] = "{held}| {=buffers/was/were} never freed: the program ended by itself",
	[TDM_LEAK_LEFT] = "{held}| {=buffers/was/were} left by a client of the daemon, which has ended; how it ended "
			  "is not known",
	[TDM_LEAK_UNSURE] = GROWTH LIVES "|; too little to be sure: watch longer",
	[TDM_LEAK_OUTGROWN] = REPLACEMENT "|; too little to be sure: watch longer",
	[TDM_LEAK_SLOWS] = GROWTH "|; but slower and slower: a cache that fills, or a warm-up",
	[TDM_LEAK_LATE] = GROWTH "|; it began while it was watched: watch again",
	[TDM_LEAK_LOADING] = GROWTH "|; but the program may still be loading: watch again when it works",
	[TDM_LEAK_PROGRAMS] = GROWTH "|; {cached}",
	[TDM_LEAK_MANY] = GROWTH "|; one or two at each of many sites: names that differ every time, or loading",
	[TDM_LEAK_SPREAD] = "{held} live|, with births spread evenly over {watched_ns}|{killed}" LIVES,
	[TDM_LEAK_CONSTANT] = "{held}, constant" LIVES,
	[TDM_LEAK_TURNS_OVER] = "{held}, come and go|: {freed/was/were} seen to be freed",
	[TDM_LEAK_YOUNG] = "{held}, grows, but freed ones became as old" LIVES,
	[TDM_LEAK_LEVELLED] = "{held}|: grew by {grown_buffers/buffer/buffers} and has levelled off",
	[TDM_LEAK_KILLED] = "{held}|, left by a program that was {end}: no leak",
	[TDM_LEAK_RUNTIME] = "{held}, which the runtime leaves on the card",
	[TDM_LEAK_UNWATCHED] = "{held}" LIVES,
};

void tdm_finding_site(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	const struct tdm_about *about = &finding->about;
	uint32_t depth;
	tdm_picture_stack(view->picture, about->stack, &depth);
	if (about->name != NULL && about->name[0] != '\0')
		tdm_cell_text(out, about->name, view->term.utf8);
	else if (depth != 0)
		tdm_stack_site(view->picture, tdm_stack_symbols_get(&view->symbols, view->picture, about->process),
			about->stack, true, out);
	else
		tdm_buf_puts(out, tdm_finding_number(view->findings, finding, "many_sites") == 1
					  ? "(many sites)"
					  : "(no name, no stack)");
}

static void put_leak_head(const struct words *w)
{
	static const char *const heads[TDM_SEVERITIES] = { "steady", "steady", "SUSPECT", "LEAK" };
	const struct tdm_about *about = &w->finding->about;
	uint8_t severity = w->finding->severity;
	tdm_put_styled(w->out, &w->view->term, styles[severity], heads[severity]);
	put(w, "  ");
	tdm_finding_site(w->view, w->finding, w->out);
	const struct tdm_picture_host *host = w->view->picture->processes[about->process].host;
	tdm_buf_printf(w->out, "  (%s, %s%sdevice %" PRId64 "%s, process %" PRId32 " ", kind_of(w),
		host != NULL ? host->name : "", host != NULL ? ", " : "", about->device,
		about->is_virtual ? " virtual" : "", about->pid);
	tdm_cell_text(w->out, about->comm, w->view->term.utf8);
	put(w, ")\n");
}

static void put_forecast(const struct words *w)
{
	double full_s = real(w, "full_in_seconds");
	if (w->finding->code == TDM_LEAK_AT_EXIT || w->finding->code == TDM_LEAK_LEFT)
		return;
	put_pieces(w, "  holds {reserved_bytes}| in {buffers/buffer/buffers}");
	if (full_s < YEAR_S) {
		put(w, "; ");
		for (const char *c = kind_of(w); *c != '\0'; c++)
			tdm_buf_putc(w->out, (char)toupper((unsigned char)*c));
		put(w, full_s > 0 ? " full in about " : " is full already");
		if (full_s > 0)
			put(w, TDM_TIME_TEXT((uint64_t)(full_s * (double)TDM_NS_PER_S)));
	}
	put(w, "\n");
}

/* A wrapped paragraph; the label before it on the first line takes up the indent. */
static void put_wrapped(const struct words *w, const char *label, struct tdm_str text, size_t indent)
{
	struct tdm_buf line;
	tdm_buf_init(&line);
	tdm_buf_puts(&line, label);
	tdm_buf_add(&line, text.ptr, text.len);
	tdm_wrap(w->out, tdm_buf_str(&line),
		(struct tdm_wrap){ .at = indent, .indent = indent, .width = w->view->term.width });
	w->out->failed |= line.failed;
	tdm_buf_done(&line);
}

/* A call stack after a label: its frames line by line if the view shows whole ones, else the innermost in one line. */
static void put_stack(const struct words *w, const char *label, uint32_t stack, size_t indent)
{
	const struct tdm_picture *picture = w->view->picture;
	struct tdm_buf trail;
	uint32_t depth;
	tdm_picture_stack(picture, stack, &depth);
	if (depth == 0)
		return;
	struct tdm_symbolizer *sym = tdm_stack_symbols_get(&w->view->symbols, picture, w->finding->about.process);
	bool is_labelled = w->finding->family != TDM_FAMILY_LEAK; /* the stack of a leak can only be one */
	if (w->view->stacks && is_labelled) {
		tdm_buf_fill(w->out, ' ', indent);
		tdm_buf_printf(w->out, "%.*s:\n", (int)strlen(label) - 1, label);
	}
	if (w->view->stacks) {
		tdm_stack_text(picture, sym, stack, indent + LEAK_INDENT, w->out);
		return;
	}
	tdm_buf_init(&trail);
	tdm_stack_trail(picture, sym, stack, w->view->term.utf8, &trail);
	tdm_buf_fill(w->out, ' ', indent);
	put_wrapped(w, label, tdm_buf_str(&trail), indent);
	w->out->failed |= trail.failed;
	tdm_buf_done(&trail);
}

static void leak_text(const struct words *w)
{
	struct tdm_buf reason;
	tdm_buf_init(&reason);
	tdm_finding_sentence(w->view, w->finding, &reason);
	put_leak_head(w);
	tdm_buf_fill(w->out, ' ', LEAK_INDENT);
	put_wrapped(w, "", tdm_buf_str(&reason), LEAK_INDENT);
	w->out->failed |= reason.failed;
	tdm_buf_done(&reason);
	if (w->finding->severity == TDM_FINDING_OK)
		return;
	put_forecast(w);
	put_stack(w, "at ", w->finding->about.stack, LEAK_INDENT);
	put_pieces(w, "  hint: this process also has {double_frees/double free/double frees/} of this kind\n"
		      "|  hint: this process also has {unknown_frees/unknown free/unknown frees/} of this kind\n");
	put(w, "\n");
}

/* Doctor. */

/* These sentences contain text of unknown origin: paths, names of processes, values of variables. */
static void put_paragraph(const struct words *w, const char *label, const char *text)
{
	struct tdm_buf clean;
	tdm_buf_init(&clean);
	tdm_cell_text(&clean, text, w->view->term.utf8);
	tdm_buf_fill(w->out, ' ', label[0] != '\0' ? DOCTOR_INDENT : 0);
	put_wrapped(w, label, tdm_buf_str(&clean), DOCTOR_INDENT);
	w->out->failed |= clean.failed;
	tdm_buf_done(&clean);
}

/* A command is not wrapped, so that it can be copied. */
static void put_command(const struct words *w, const char *command)
{
	tdm_buf_fill(w->out, ' ', DOCTOR_INDENT);
	tdm_buf_printf(w->out, "%s$ ", tdm_term_style(&w->view->term, TDM_STYLE_BOLD));
	tdm_cell_text(w->out, command, w->view->term.utf8);
	tdm_buf_printf(w->out, "%s\n", tdm_term_style(&w->view->term, TDM_STYLE_OFF));
}

static void put_advice(const struct words *w)
{
	for (size_t i = 0; i < w->finding->advice.count; i++) {
		const struct tdm_advice *advice = &w->view->findings->advice[w->finding->advice.first + i];
		put_paragraph(w, "-> ", advice->text);
		if (advice->command != NULL)
			put_command(w, advice->command);
	}
}

/* "  warning  sentence" */
static void put_judgement(const struct words *w)
{
	const struct tdm_finding *finding = w->finding;
	const char *name = tdm_finding_severity_name(
		(enum tdm_finding_family)finding->family, (enum tdm_severity)finding->severity);
	put(w, "  ");
	tdm_put_styled(w->out, &w->view->term, styles[finding->severity], name);
	tdm_buf_fill(w->out, ' ', DOCTOR_INDENT - 2 - strlen(name));
	put_paragraph(w, "", finding->text != NULL ? finding->text : "");
}

static void doctor_text(const struct words *w)
{
	put_judgement(w);
	if (w->finding->severity >= TDM_FINDING_WARNING)
		put_paragraph(w, "looked at ", tdm_finding_word(w->view->findings, w->finding, "looked_at"));
	put_advice(w);
}

/* Runs. */

/* Advice is the same for all findings of a sort, so only the first has it. */
static void run_text(const struct words *w)
{
	const struct tdm_finding *before = w->view->findings->list;
	put_judgement(w);
	put_stack(w, "allocated in ", w->finding->about.stack, DOCTOR_INDENT);
	put_stack(w, "replayed in ", w->finding->about.replay_stack, DOCTOR_INDENT);
	while (before != w->finding && before->what != w->finding->what)
		before++;
	if (before == w->finding)
		put_advice(w);
}

/* Failures in logs. */

#define OF_BANKS                                                                                                  \
	"{asked_bytes}| of {kind}|, {bytes_per_bank} in each| of {#banks} banks| of {bank_size}|; free {free}|, " \
	"in one piece {largest_free}|; with its dependencies {placeable}|, in one piece {largest_placeable}|; {cause}"
#define CLASH                                                                                                  \
	"{=dataflow/dataflow buffers/circular buffers}| of program {#program}| on cores {core_range}| end at " \
	"{#region_end}|, the lowest L1 buffer "                                                                \
	"is at {#address}"
static const char *const failures[TDM_FAILURE_COUNT] = {
	[TDM_FAILURE_OUT_OF_MEMORY] = OF_BANKS,
	[TDM_FAILURE_DEPENDENCIES] = OF_BANKS,
	[TDM_FAILURE_BELOW_LIMIT] = "the only place is at {#address}|, below the limit {#limit}",
	[TDM_FAILURE_BEYOND_L1] = "{=dataflow/dataflow buffers/circular buffers}| on cores {core_range}| end at "
				  "{#region_end}|, L1 ends at {#limit}",
	[TDM_FAILURE_CLASH] = CLASH,
	[TDM_FAILURE_SERVICE_CLASH] = CLASH,
	[TDM_FAILURE_PROGRAM_SIZE] = "the program has {asked_bytes}|, the buffer {limit}| on {name}",
	[TDM_FAILURE_TRACE_REGION] = "the trace needs {asked_bytes}|, the region has {limit}",
	[TDM_FAILURE_TRACE_OVERLAP] = "at address {#address}| with {name}",
	[TDM_FAILURE_WORKER_L1] = "{asked_bytes}|, at most {limit}",
	[TDM_FAILURE_SEGMENT] =
		"{asked_bytes}| at {#address}|, the region has {limit}|too large by {excess_bytes}|: {name}",
	[TDM_FAILURE_CB_RESIZE] = "{asked_bytes}|, at most {limit}",
	[TDM_FAILURE_UNSAFE_TRACE] = "what is allocated now may be overwritten when the trace runs",
	[TDM_FAILURE_L1_CAPACITY] = "{asked_bytes}|, at most {limit}",
	[TDM_FAILURE_STACK] = "{asked_bytes} used| of {limit}| on cores {core_range}|: {name}",
	[TDM_FAILURE_CB_OVERFLOW] = "",
	[TDM_FAILURE_L1_ACCESS] = "{asked_bytes}| at {#address}",
	[TDM_FAILURE_MISMATCH] = "{,wrong_values} values are not the expected ones",
	[TDM_FAILURE_OTHER] = "",
};

static void failure_text(const struct words *w)
{
	tdm_buf_printf(w->out, "%s: ", tdm_finding_title(w->finding));
	size_t head = w->out->len;
	put_pieces(w, failures[w->finding->code]);
	/* What joins a piece to the one before it, if that is not known. */
	size_t lead = w->out->len > head ? strspn(w->out->data + head, " ,:") : 0;
	if (lead != 0)
		memmove(w->out->data + head, w->out->data + head + lead, w->out->len - head - lead + 1);
	w->out->len -= lead;
	bool is_plain = w->finding->code == TDM_FAILURE_OTHER || w->finding->code == TDM_FAILURE_MISMATCH;
	const char *text = is_plain ? tdm_finding_word(w->view->findings, w->finding, "text") : NULL;
	if (text != NULL && w->out->len == head) /* whole: there is no better description */
		tdm_cell_put(w->out, tdm_str_of(text), 0, true);
	if (w->out->len == head && head >= 2) /* it has no figures */
		w->out->len -= 2;
}

/* Replays. */

#define NEEDED "it needs {,needed_per_bank} B in one piece"
static const char *const causes[] = {
	[TDM_CAUSE_UNKNOWN] = "",
	[TDM_CAUSE_TOO_LARGE] = "too large: " NEEDED "|, and the whole region has {,total} B",
	[TDM_CAUSE_EXHAUSTED] = "exhausted: " NEEDED "|, and only {,free} B are free",
	[TDM_CAUSE_FRAGMENTED] = "fragmented: " NEEDED "|; {,free} B are free|, the largest block is {,largest_free} B",
	[TDM_CAUSE_OCCUPIED] = "occupied: {,needed_per_bank} B| at address {#address} are not all free",
	[TDM_CAUSE_OUTSIDE] = "outside: {,needed_per_bank} B| at address {#address} are not in the region",
	[TDM_CAUSE_NO_REGION] = "no region|: this device was set up without {kind} memory| ({setting}=0)",
};

static void replay_text(const struct words *w)
{
	const char *name = w->finding->about.name;
	const struct tdm_table holes = tdm_finding_holes(w->view->findings, w->finding);
	const char *message = tdm_finding_word(w->view->findings, w->finding, "runtime_message");
	uint64_t cores = number(w, "cores"), banks = number(w, "banks");
	tdm_put_label(w->out, "First failure");
	tdm_buf_printf(
		w->out, "%s %" PRIu64 ": %s%s", w->view->place, number(w, "line"), name, name[0] != '\0' ? ", " : "");
	put_pieces(w, "{,size} B| of {kind}");
	if (cores != 0)
		tdm_buf_printf(w->out, " sharded over %" PRIu64 " cores", cores);
	else if (banks > 1 && banks != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(w->out, " over %" PRIu64 " banks", banks);
	put(w, "\nCause          ");
	put_pieces(w, causes[w->finding->code]);
	put(w, "\n");
	if (message != NULL)
		tdm_buf_printf(w->out, "Runtime says   %s\n", message);
	if (w->finding->advice.count != 0)
		tdm_buf_printf(w->out, "Advice         %s\n", w->view->findings->advice[w->finding->advice.first].text);
	if (holes.count != 0)
		put(w, "\nLargest holes at the first failure\n");
	tdm_table_text(&holes, &w->view->term, w->out);
}

/* Pressure. */

/* The title of an indicator, the source of its figure, and what is missing when it is unknown. */
static const struct {
	const char *title, *source, *lacks;
} indicators[TDM_PRESSURE_COUNT] = {
	[TDM_PRESSURE_MISS] = { "CB1 miss rate", "from sizes, not observed", "needs the tiles of B and of CB1" },
	[TDM_PRESSURE_UTILIZATION] = { "CB utilization", "observed: the fullest moment of each",
		"needs lines that push, and sizes in tiles" },
	[TDM_PRESSURE_STALLS] = { "stalls", "observed: reserves and waits that had to wait",
		"needs reserves or waits that say how long they waited" },
	[TDM_PRESSURE_L1] = { "share of L1", "circular buffers of a core, of the L1 for buffers",
		"needs sizes in bytes and the runtime's debug lines about L1" },
	[TDM_PRESSURE_SCORE] = { "pressure score", "heuristic: the largest of miss rate, stalls and share of L1", "" },
};

static void pressure_text(const struct words *w)
{
	const char *band = tdm_finding_severity_name(TDM_FAMILY_PRESSURE, (enum tdm_severity)w->finding->severity);
	bool is_score = w->finding->code == TDM_PRESSURE_SCORE;
	double value = real(w, w->finding->what);
	tdm_buf_printf(w->out, "%-16s ", tdm_finding_title(w->finding));
	if (isnan(value))
		tdm_buf_printf(w->out, "%-18s%s", "unknown", indicators[w->finding->code].lacks);
	else
		tdm_buf_printf(w->out, is_score ? "%5.0f    %-7s  %s" : "%5.1f %%  %-7s  %s",
			is_score ? value : 100 * value, band != NULL ? band : "", indicators[w->finding->code].source);
	if (number(w, "b_tiles_assumed") == 1)
		put(w, "; as many B tiles as A tiles were assumed");
	tdm_cell_trim(w->out);
	put(w, "\n");
	put_pieces(w, "circular buffers {cb_bytes_per_core} in each core|, of {cb_limit_bytes} that the program allows "
		      "itself");
	if (number(w, "cb_bytes_per_core") != TDM_BYTES_UNKNOWN)
		put(w, "\n");
	if (is_score)
		tdm_buf_printf(w->out, "%-16s %s\n", "thrashing risk", band != NULL ? band : "unknown");
}

/* Captures and reports. */

/* A table row for a finding about a figure; else a line with a label, or a sentence. */
static void capture_text(const struct words *w)
{
	const struct tdm_figure *bytes = tdm_finding_figure(w->view->findings, w->finding, "bytes");
	const char *name = w->finding->about.name, *style = "", *off = "";
	bool is_warning = w->finding->severity >= TDM_FINDING_WARNING;
	if (bytes != NULL && bytes->unit == TDM_UNIT_CHANGE) {
		bool is_less = (int64_t)bytes->number < 0;
		const char *count = TDM_COUNT_TEXT(is_less ? 0 - bytes->number : bytes->number);
		tdm_buf_printf(w->out, "  %-20s %*c%s  ", name, 15 - (int)strlen(count), is_less ? '-' : '+', count);
	} else if (bytes != NULL) {
		tdm_buf_printf(w->out, "  %-20s %15s  ", name, is_warning ? "unknown" : "");
	} else if (is_warning) {
		style = tdm_term_style(&w->view->term, TDM_STYLE_YELLOW);
		off = tdm_term_style(&w->view->term, TDM_STYLE_OFF);
	}
	put(w, style);
	if (bytes == NULL && name != NULL)
		tdm_put_label(w->out, name);
	tdm_finding_sentence(w->view, w->finding, w->out);
	tdm_buf_printf(w->out, "%s%s\n", name == NULL ? "." : "", off);
}

static const struct {
	void (*text)(const struct words *w); /* NULL: tdm_finding_source_text() */
	const char *const *sentences;        /* by code; NULL: the analyser writes them */
} families[TDM_FAMILIES] = {
	[TDM_FAMILY_DOCTOR] = { doctor_text, NULL },
	[TDM_FAMILY_LEAK] = { leak_text, leak_sentences },
	[TDM_FAMILY_REPLAY] = { replay_text, causes },
	[TDM_FAMILY_CAPTURE] = { capture_text, NULL },
	[TDM_FAMILY_FAILURE] = { failure_text, failures },
	[TDM_FAMILY_PRESSURE] = { pressure_text, NULL },
	[TDM_FAMILY_RUN] = { run_text, NULL },
};

const char *tdm_finding_title(const struct tdm_finding *finding)
{
	return finding->family == TDM_FAMILY_FAILURE    ? tdm_failure_title((enum tdm_failure_type)finding->code)
	       : finding->family == TDM_FAMILY_PRESSURE ? indicators[finding->code].title
							: finding->what;
}

void tdm_finding_sentence(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	const struct words w = { view, finding, out };
	if (finding->text != NULL)
		tdm_buf_puts(out, finding->text);
	else if (families[finding->family].sentences != NULL)
		put_pieces(&w, families[finding->family].sentences[finding->code]);
}

void tdm_finding_text(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	if (families[finding->family].text != NULL)
		families[finding->family].text(&(struct words){ view, finding, out });
	else
		tdm_finding_source_text(view, finding, out);
}

void tdm_findings_text(struct tdm_findings *found, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_finding_view view = { .findings = found, .term = *term };
	for (size_t i = 0; i < found->count; i++)
		tdm_finding_text(&view, &found->list[i], out);
	out->failed |= tdm_findings_done(found);
}

void tdm_failure_text(const struct tdm_failure *failure, struct tdm_buf *out)
{
	struct tdm_findings found = { 0 };
	tdm_failure_find(failure, &found);
	tdm_findings_text(&found, &(struct tdm_term){ 0 }, out);
}
