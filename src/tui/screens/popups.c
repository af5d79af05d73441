/*
 * The boxes over the screens: help, settings, order, signal, problems and findings. A box is a list of lines, which
 * either scrolls or has one selected line.
 */
#include "tui/app/app.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analyze/live/run_findings.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/number.h"
#include "base/term.h"
#include "view/write/write.h"

enum { ROWS_MAX = 100, CLOSING = 3, PLACE_CAP = 320 };

struct box {
	const char *title;
	int cols;            /* columns; 0 for the whole width */
	bool scrolls;        /* the box scrolls; false: it has a selected line */
	int closes[CLOSING]; /* keys that close the box besides Esc, q, F10 and, if it scrolls, Enter and Space */
	size_t count;        /* number of lines; 0 if it varies */
	void (*line)(struct tdm_app *app, struct tdm_pen *pen, size_t index);
	bool (*use)(struct tdm_app *app, int key); /* gets a key before the list does; may be NULL */
	const char *empty, *foot;                  /* text shown if there are no lines; text shown below the lines */
};

/* A line of a box. `number` is an ink, an offset or a signal. */
struct entry {
	int number;
	const char *text, *name;
	char letter;
};

/* ---- help: all keys, from the key table, and the meaning of colours and words ---- */

enum { NAMES_COLUMNS = 20 };

static const struct entry legend[] = {
	{ TDM_INK_PLAIN, "", NULL, 0 },
	{ TDM_INK_BOLD, "Colours", NULL, 0 },
	{ TDM_INK_GREEN, "less than 75 % used", NULL, 0 },
	{ TDM_INK_YELLOW, "75 % or more", NULL, 0 },
	{ TDM_INK_RED, "90 % or more", NULL, 0 },
	{ TDM_INK_DIM, "unknown, or -: never shown as 0", NULL, 0 },
	{ TDM_INK_PLAIN, "", NULL, 0 },
	{ TDM_INK_BOLD, "Mouse", NULL, 0 },
	{ TDM_INK_PLAIN, "click         choose; a title: sort, again: reverse; a tab or key: use it", NULL, 0 },
	{ TDM_INK_PLAIN, "double click  open; wheel: scroll; Shift and drag: select text", NULL, 0 },
	{ TDM_INK_PLAIN, "", NULL, 0 },
	{ TDM_INK_BOLD, "Words", NULL, 0 },
	{ TDM_INK_PLAIN, "L1, CB        buffers and circular buffers (CBs) in the L1 of the cores;", NULL, 0 },
	{ TDM_INK_PLAIN, "              they share it, so the same bytes are free for both", NULL, 0 },
	{ TDM_INK_PLAIN, "largest       the largest contiguous free block of a bank, times the banks", NULL, 0 },
	{ TDM_INK_PLAIN, "*             measured before this frame: the last line says how long ago", NULL, 0 },
	{ TDM_INK_PLAIN, "room          free between buffers and CBs, fullest core: programs whose CBs", NULL, 0 },
	{ TDM_INK_PLAIN, "              need more are refused; over: they overlap by so much", NULL, 0 },
	{ TDM_INK_PLAIN, "peak          the most that was ever used; <= before it: a sum over devices", NULL, 0 },
	{ TDM_INK_PLAIN, "highest seen  the most that this monitor saw, where no peak is recorded", NULL, 0 },
	{ TDM_INK_PLAIN, "~             card or capacity: only known from the type of all cards", NULL, 0 },
	{ TDM_INK_PLAIN, "              bytes in use: an estimate; some buffers count with what they", NULL, 0 },
	{ TDM_INK_PLAIN, "              asked for, because what they take is not known", NULL, 0 },
	{ TDM_INK_PLAIN, "unattributed  used, but not by a listed process", NULL, 0 },
	{ TDM_INK_PLAIN, "stale         still recorded for ended processes; no longer on the device", NULL, 0 },
	{ TDM_INK_PLAIN, "device        0: number in programs; /0: the driver's; 0v: virtual", NULL, 0 },
	{ TDM_INK_PLAIN, "48 / 75 C     a reading and its limit: yellow from 90 % of it, red at it", NULL, 0 },
	{ TDM_INK_PLAIN, "GROWTH/MIN    how the lowest use in each 5 s changed over the last minute", NULL, 0 },
	{ TDM_INK_PLAIN, "[leak?]       it rose steadily; 'tidemark leaks' can tell whether it leaks", NULL, 0 },
	{ TDM_INK_PLAIN, "[trace]       a trace may have overwritten buffers of it; w says which", NULL, 0 },
	{ TDM_INK_PLAIN, "S             R runs, S sleeps, D waits, T stopped, Z ended, X dead", NULL, 0 },
	{ TDM_INK_PLAIN, "CPU%          of one core of the host; HOST MEM: its resident memory there", NULL, 0 },
	{ TDM_INK_PLAIN, "ledger        file in which a program with libtidemark records its memory", NULL, 0 },
	{ TDM_INK_PLAIN, "source        L ledger: bytes reserved; of tidemarkd's clients: requested", NULL, 0 },
	{ TDM_INK_PLAIN, "              S metal_shm: tt-metal's own statistics, bytes requested;", NULL, 0 },
	{ TDM_INK_PLAIN, "                allocations of other threads may be missing, and the", NULL, 0 },
	{ TDM_INK_PLAIN, "                CB total may be the last writer's alone", NULL, 0 },
	{ TDM_INK_PLAIN, "              D driver; M model of the card", NULL, 0 },
};
enum { LEGEND = sizeof legend / sizeof legend[0] };

static void help_line(struct tdm_app *app, struct tdm_pen *pen, size_t index)
{
	(void)app;
	if (index >= tdm_binding_count) {
		tdm_pen_text(pen, (enum tdm_ink)legend[index - tdm_binding_count].number,
			legend[index - tdm_binding_count].text);
		return;
	}
	const struct tdm_binding *binding = &tdm_bindings[index];
	char screens[TDM_SCREEN_COUNT + 1] = "";
	size_t len = 0;
	for (int i = 0; i < TDM_SCREEN_COUNT && binding->screens != (1U << TDM_SCREEN_COUNT) - 1; i++)
		if ((binding->screens & 1U << i) != 0)
			screens[len++] = (char)('1' + i);
	tdm_pen_field(pen, NAMES_COLUMNS, TDM_INK_KEY, binding->names);
	tdm_pen_field(pen, 5, TDM_INK_DIM, screens);
	tdm_pen_text(pen, TDM_INK_PLAIN, binding->help);
}

/* ---- settings: interval, colours, characters, vi keys and the columns of the process table ---- */

void tdm_format_interval(unsigned ms, char *dst, size_t cap)
{
	if (ms % 100 != 0)
		snprintf(dst, cap, "%u ms", ms);
	else if (ms < 10000 || ms % 1000 != 0)
		snprintf(dst, cap, "%u.%u s", ms / 1000, ms / 100 % 10);
	else
		snprintf(dst, cap, "%u s", ms / 1000);
}

static const struct entry switches[] = {
	{ offsetof(struct tdm_app, set.colour), "colours", NULL, 0 },
	{ offsetof(struct tdm_app, set.ascii), "ASCII characters only", NULL, 0 },
	{ offsetof(struct tdm_app, set.vi_keys), "h j k l move (F9 signals, ? helps)", NULL, 0 },
	{ offsetof(struct tdm_app, set.mouse), "mouse (Shift selects text)", NULL, 0 },
};
/* Lines: the interval, the switches, the columns. */
enum { FIRST_COLUMN = 1 + sizeof switches / sizeof *switches, ENTRIES = FIRST_COLUMN + TDM_PROC_COMMAND };

static bool *switch_at(struct tdm_app *app, size_t index)
{
	return index < FIRST_COLUMN ? (bool *)((char *)app + switches[index - 1].number)
				    : &app->set.hidden[index - FIRST_COLUMN];
}

static void setup_line(struct tdm_app *app, struct tdm_pen *pen, size_t index)
{
	char interval[24];
	tdm_format_interval(app->set.interval_ms, interval, sizeof interval);
	if (index == 0)
		tdm_pen_printf(pen, TDM_INK_PLAIN, " interval            < %s >", interval);
	else if (index < FIRST_COLUMN)
		tdm_pen_printf(
			pen, TDM_INK_PLAIN, " [%c] %s", *switch_at(app, index) ? 'x' : ' ', switches[index - 1].text);
	else
		tdm_pen_printf(pen, TDM_INK_PLAIN, " [%c] column %s", *switch_at(app, index) ? ' ' : 'x',
			tdm_proc_columns[index - FIRST_COLUMN].title);
}

static bool use_setup(struct tdm_app *app, int key)
{
	static const unsigned intervals_ms[] = { 100, 200, 500, 1000, 2000, 5000, 10000 };
	size_t chosen = app->popup_list.chosen, last = sizeof intervals_ms / sizeof *intervals_ms - 1, at = 0;
	bool up = key == ' ' || key == TDM_KEY_ENTER || key == TDM_KEY_RIGHT || key == '+';
	if (!up && key != TDM_KEY_LEFT && key != '-')
		return false;
	if (chosen != 0) {
		*switch_at(app, chosen) = !*switch_at(app, chosen);
		return true;
	}
	while (at < last && intervals_ms[at] < app->set.interval_ms)
		at++;
	if (up && intervals_ms[at] <= app->set.interval_ms && at < last)
		at++;
	else if (!up && at > 0)
		at--;
	app->set.interval_ms = intervals_ms[at];
	return true;
}

/* ---- order: the sort column of the process table ---- */

static void sort_line(struct tdm_app *app, struct tdm_pen *pen, size_t index)
{
	char letter = tdm_proc_letter((enum tdm_proc_column)index);
	tdm_pen_printf(pen, TDM_INK_PLAIN, " %s", tdm_proc_columns[index].title);
	if (letter != 0)
		tdm_canvas_set(&app->canvas, pen->row, pen->end - 2, TDM_INK_KEY, (uint32_t)letter);
}

static bool use_sort(struct tdm_app *app, int key)
{
	for (size_t c = 0; c < TDM_PROC_COLUMN_COUNT; c++)
		if (tdm_proc_letter((enum tdm_proc_column)c) == key && key != 0) {
			app->popup_list.chosen = c;
			key = TDM_KEY_ENTER;
		}
	if (key != TDM_KEY_ENTER)
		return false;
	app->set.sort = (uint32_t)app->popup_list.chosen;
	app->set.reversed = false;
	tdm_app_update_rows(app);
	app->popup = TDM_POPUP_NONE;
	return true;
}

/* ---- signal: choose a signal for the target processes; no other process gets it ---- */

uint64_t tdm_signal_start_time(int32_t pid)
{
	struct tdm_proc_root root;
	struct tdm_proc_use use;
	tdm_proc_root_init(&root, "/proc");
	int err = tdm_proc_use_read(&root, pid, &use);
	tdm_proc_root_done(&root);
	return err == 0 ? use.start_time : 0;
}

static void add_target(struct tdm_app *app, const struct tdm_picture_process *process)
{
	if (process == NULL || process->pid <= 1 || process->life == TDM_LIFE_ENDED || process->is_claimed)
		return;
	size_t at = app->target_count++;
	app->targets[at] = process->pid;
	/* If the start time is unknown, target the process that has the pid now. */
	app->target_starts[at] = process->start_time != 0 ? process->start_time : tdm_signal_start_time(process->pid);
	snprintf(app->target_name, sizeof app->target_name, "%s", process->comm);
}

/* Targets the tagged processes, or else the selected one. */
static void aim(struct tdm_app *app)
{
	const struct tdm_proc_row *row = app->devices_have_keys ? NULL : tdm_app_chosen_row(app);
	app->target_count = 0;
	for (size_t i = 0; i < app->tag_count; i++)
		add_target(app, tdm_app_find_process(app, app->tags[i]));
	if (app->tag_count == 0 && app->screen == TDM_SCREEN_PROCESS)
		add_target(app, tdm_app_chosen_process(app));
	else if (app->tag_count == 0 && row != NULL)
		add_target(app, tdm_app_find_process(app, row->handle));
}

int tdm_signal_send(int32_t pid, uint64_t start_time, int signal_number)
{
	if (pid <= 1)
		return -EINVAL;
	int fd = (int)syscall(SYS_pidfd_open, pid, 0U), err = 0;
	bool has_pidfds = fd >= 0 || errno != ENOSYS; /* older kernels lack pidfds */
	if (fd < 0 && has_pidfds)
		return -errno;
	if (start_time == 0 || tdm_signal_start_time(pid) != start_time)
		err = -ESRCH;
	else if ((has_pidfds ? (int)syscall(SYS_pidfd_send_signal, fd, signal_number, NULL, 0U)
			     : kill(pid, signal_number)) != 0)
		err = -errno;
	if (has_pidfds)
		close(fd);
	return err;
}

static const struct entry signals[] = {
	{ SIGTERM, "asks it to exit", "SIGTERM", 'T' },
	{ SIGINT, "like Ctrl-C", "SIGINT", 'I' },
	{ SIGKILL, "kills it at once", "SIGKILL", 'K' },
	{ SIGHUP, "hang up", "SIGHUP", 'H' },
	{ SIGQUIT, "ends it with a core dump", "SIGQUIT", 'Q' },
	{ SIGUSR1, "", "SIGUSR1", '1' },
	{ SIGUSR2, "", "SIGUSR2", '2' },
	{ SIGSTOP, "stops it", "SIGSTOP", 'S' },
	{ SIGCONT, "continues it", "SIGCONT", 'C' },
};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static void signal_line(struct tdm_app *app, struct tdm_pen *pen, size_t index)
{
	(void)app;
	tdm_pen_printf(pen, TDM_INK_KEY, " %c  ", signals[index].letter);
	tdm_pen_printf(pen, TDM_INK_PLAIN, "%-9s", signals[index].name);
	tdm_pen_text(pen, TDM_INK_DIM, signals[index].text);
}

static void send_all(struct tdm_app *app, size_t chosen)
{
	size_t sent = 0;
	int32_t failed_pid = 0;
	int failure = 0;
	for (size_t i = 0; i < app->target_count; i++) {
		int err = tdm_signal_send(app->targets[i], app->target_starts[i], signals[chosen].number);
		if (err == 0)
			sent++;
		else {
			failure = err;
			failed_pid = app->targets[i];
		}
	}
	if (failure != 0)
		tdm_app_say(app, "%s was not sent to %" PRId32 ": %s", signals[chosen].name, failed_pid,
			failure == -ESRCH ? "it has ended, or its pid was reused" : tdm_err_text(failure));
	else if (sent == 1)
		tdm_app_say(app, "%s was sent to %" PRId32, signals[chosen].name, app->targets[0]);
	else
		tdm_app_say(app, "%s was sent to %zu processes", signals[chosen].name, sent);
	app->refresh_now = true;
}

/* A letter selects a signal; only Enter sends it. */
static bool use_signal(struct tdm_app *app, int key)
{
	size_t i = 0;
	while (i < SIGNALS && key != signals[i].letter)
		i++;
	if (i < SIGNALS)
		app->popup_list.chosen = i;
	else if (key == TDM_KEY_ENTER) {
		send_all(app, app->popup_list.chosen);
		app->popup = TDM_POPUP_NONE;
	}
	return i < SIGNALS || key == TDM_KEY_ENTER;
}

/* ---- problems: unreadable sources, and why ---- */

enum { LINES_EACH = 2 };

/* Draws the place, with the problem in the line below: both can be long. */
static void problem_line(struct tdm_app *app, struct tdm_pen *pen, size_t index)
{
	const struct tdm_picture_problem *problem = &app->picture->problems[index / LINES_EACH];
	if (index % LINES_EACH == 0) {
		tdm_pen_printf(pen, TDM_INK_PLAIN, "%s  ", problem->place);
		if (problem->from != TDM_FROM_NONE) /* a machine that does not answer is not a source */
			tdm_pen_text(pen, TDM_INK_DIM, tdm_from_name((enum tdm_from)problem->from));
	} else
		tdm_pen_printf(pen, TDM_INK_YELLOW, "  %s", problem->text);
}

/* ---- findings about the selected process, or about all processes: buffers that a trace may have overwritten, and
 * figures that differ from the runtime's own. The text is made when the box is opened, and again when the findings or
 * the width of the box have changed. ---- */

static void finding_line(struct tdm_app *app, struct tdm_pen *pen, size_t index)
{
	struct tdm_str text = tdm_buf_str(&app->findings), line = { 0 };
	for (size_t i = 0; i <= index; i++)
		line = tdm_str_take_line(&text);
	tdm_pen_styled(pen, line);
}

/* Adds the function found for a call stack to the subject of a finding. */
static void name_stack(struct tdm_app *app, struct tdm_result *result, uint32_t process, uint32_t stack,
	const struct tdm_table **frames, struct tdm_value_list *trail)
{
	static const struct tdm_table one = { .count = 1 };
	char place[PLACE_CAP];
	if (stack == 0)
		return;
	struct tdm_value *value = tdm_result_alloc(result, 1, sizeof *value);
	*value = tdm_value_text(
		tdm_result_printed(result, "%s", tdm_app_place(app, "", process, stack, place, sizeof place)));
	*trail = (struct tdm_value_list){ value, 1 };
	*frames = &one;
}

static void make_findings(struct tdm_app *app, size_t cols)
{
	const struct tdm_picture *picture = app->picture;
	bool is_one = app->screen == TDM_SCREEN_PROCESS;
	const struct tdm_picture_process *only = is_one ? tdm_app_chosen_process(app) : NULL;
	const struct tdm_term term = { .colour = true, .utf8 = app->canvas.utf8, .width = cols, .folds = true };
	struct tdm_buf *text = &app->findings;
	uint64_t version = is_one ? app->process_handle << 32 : 0;
	for (size_t i = 0; i < picture->process_count; i++)
		version += tdm_run_findings_version(picture, &picture->processes[i]);
	if (app->findings_made && app->findings_version == version && app->findings_cols == cols)
		return;
	app->findings_version = version;
	app->findings_cols = cols;
	struct tdm_result *result = tdm_result_new();
	for (uint32_t i = 0; i < picture->process_count; i++) {
		const struct tdm_picture_process *process = &picture->processes[i];
		const char *host = process->host != NULL ? process->host->name : "";
		struct tdm_findings found = { 0 };
		if (only != NULL && only != process)
			continue;
		tdm_run_findings(picture, i, &found);
		for (size_t f = 0; f < found.count; f++) {
			struct tdm_about *about = &found.list[f].about;
			name_stack(app, result, about->process, about->stack, &about->frames, &about->trail);
			name_stack(app, result, about->process, about->replay_stack, &about->replay_frames,
				&about->replay_trail);
			about->pid = 0; /* the box title already names the process */
		}
		if (found.count != 0)
			tdm_add_findings(&result->top, NULL,
				tdm_result_printed(result, "%s%s%" PRId32 " %s", host, host[0] != '\0' ? ": " : "",
					process->pid, process->comm),
				&found);
	}
	if (result->top.first == NULL)
		tdm_say(&result->top,
			"There is nothing to say: no buffer was allocated while a captured trace existed, and the "
			"runtime reported no statistics.",
			NULL);
	tdm_buf_clear(text);
	tdm_write_text(&result->top, &term, text);
	tdm_result_free(result);
	app->finding_lines = 0;
	for (size_t i = 0; i < text->len; i++)
		app->finding_lines += text->data[i] == '\n';
	/* Functions that could not be looked up in time are looked up for the next frame. */
	app->findings_made = tdm_clock_ns() < app->places_until_ns;
}

/* ---- all boxes ---- */

static const struct box boxes[TDM_POPUP_COUNT] = {
	[TDM_POPUP_HELP] = { "Keys (and the screens that have them)", 92, true, { 'h', '?', TDM_KEY_F0 + 1 },
		.line = help_line },
	[TDM_POPUP_SETUP] = { "Setup: change with Space or arrows", 46, false, { TDM_KEY_F0 + 2 }, .count = ENTRIES,
		.line = setup_line, .use = use_setup },
	[TDM_POPUP_SORT] = { "Sort by", 20, false, { TDM_KEY_F0 + 6 }, .count = TDM_PROC_COLUMN_COUNT,
		.line = sort_line, .use = use_sort },
	[TDM_POPUP_SIGNAL] = { NULL, 44, false, { 0 }, .count = SIGNALS, .line = signal_line, .use = use_signal,
		.foot = " Enter sends it, Esc cancels" },
	[TDM_POPUP_PROBLEMS] = { "Could not be read", 0, true, { '!' }, .line = problem_line,
		.empty = "No read errors." },
	[TDM_POPUP_FINDINGS] = { "Findings", 0, true, { 'w' }, .line = finding_line },
};

static size_t lines_of(const struct tdm_app *app, enum tdm_popup_id popup)
{
	return popup == TDM_POPUP_PROBLEMS   ? LINES_EACH * app->picture->problem_count
	       : popup == TDM_POPUP_FINDINGS ? app->finding_lines
	       : popup == TDM_POPUP_HELP     ? tdm_binding_count + LEGEND
					     : boxes[popup].count;
}

void tdm_popup_open(struct tdm_app *app, enum tdm_popup_id popup)
{
	const char *where = app->picture->hosts != NULL ? "the processes are on other machines"
							: "the monitor was started read-only";
	if (popup == TDM_POPUP_SIGNAL && app->options.read_only) {
		tdm_app_say(app, "signals are off: %s", where);
		return;
	}
	if (popup == TDM_POPUP_SIGNAL)
		aim(app);
	if (popup == TDM_POPUP_SIGNAL && app->target_count == 0) {
		tdm_app_say(app, "no process to signal: choose or tag a running one");
		return;
	}
	app->popup = popup;
	app->findings_made = false; /* the text may be from another screen */
	app->popup_list = (struct tdm_list){ .count = lines_of(app, popup) };
	if (popup == TDM_POPUP_SORT)
		app->popup_list.chosen = (size_t)app->set.sort;
}

void tdm_popup_key(struct tdm_app *app, int key)
{
	const struct box *box = &boxes[app->popup];
	if ((box->use != NULL && box->use(app, key)) ||
		(box->scrolls ? tdm_list_scroll : tdm_list_key)(&app->popup_list, key))
		return;
	bool closes = key == TDM_KEY_ESCAPE || key == 'q' || key == TDM_KEY_F0 + 10 ||
		      (box->scrolls && (key == TDM_KEY_ENTER || key == ' '));
	for (size_t i = 0; i < CLOSING && box->closes[i] != 0; i++)
		closes |= key == box->closes[i];
	if (closes)
		app->popup = TDM_POPUP_NONE;
}

void tdm_popup_draw(struct tdm_app *app, struct tdm_area area)
{
	const struct box *box = &boxes[app->popup];
	char target[96];
	if (app->popup == TDM_POPUP_FINDINGS)
		make_findings(app, area.cols > 8 ? (size_t)area.cols - 4 : 4);
	if (app->target_count == 1)
		snprintf(target, sizeof target, "Signal to %" PRId32 " %s?", app->targets[0], app->target_name);
	else
		snprintf(target, sizeof target, "Signal to %zu processes?", app->target_count);
	size_t count = lines_of(app, app->popup), shown = tdm_max(tdm_min(count, ROWS_MAX), 1) + (box->foot != NULL);
	/* A centred box, or one as large as fits. */
	int rows = (int)tdm_min(shown + 2, (uint64_t)area.rows), cols = box->cols != 0 ? box->cols + 4 : area.cols;
	cols = cols < area.cols ? cols : area.cols;
	struct tdm_area frame = { area.row + (area.rows - rows) / 2, area.col + (area.cols - cols) / 2, rows, cols };
	tdm_app_zone(app, frame, TDM_ZONE_KEY, TDM_KEY_OTHER);
	struct tdm_area inner = tdm_canvas_box(&app->canvas, frame, box->title != NULL ? box->title : target);
	struct tdm_list *list = &app->popup_list;
	if (box->scrolls)
		list->chosen = list->top;
	if (box->foot != NULL && inner.rows > 1) {
		struct tdm_pen pen = tdm_pen_at(&app->canvas, inner, --inner.rows);
		pen.end = inner.col + inner.cols;
		tdm_pen_text(&pen, TDM_INK_DIM, box->foot);
	}
	if (count == 0) {
		struct tdm_pen pen = tdm_pen_at(&app->canvas, inner, 0);
		tdm_pen_text(&pen, TDM_INK_PLAIN, box->empty);
		return;
	}
	tdm_list_fit(list, count, inner.rows);
	tdm_app_zone(app, inner, TDM_ZONE_BOX, list->top);
	for (int i = 0; i < inner.rows && list->top + (size_t)i < count; i++) {
		struct tdm_pen pen = tdm_pen_at(&app->canvas, inner, i);
		box->line(app, &pen, list->top + (size_t)i);
		if (!box->scrolls && list->top + (size_t)i == list->chosen)
			tdm_canvas_shade(&app->canvas, inner.row + i, inner.col, inner.cols, TDM_INK_CURSOR);
	}
	if (list->top + (size_t)inner.rows < count) /* written on the border of the box */
		tdm_canvas_put(
			&app->canvas, inner.row + inner.rows, inner.col, inner.cols, TDM_INK_DIM, " PgDn: more ");
}
