/*
 * Compares a canvas with the one on the screen and gives only the differences to ncurses, which finds the cheapest way
 * to send them.
 */
#include "tui/terminal.h"
#include "base/file.h" /* before term.h, which defines common words as macros */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

#include "base/term.h"
#include "tui/guard.h"

enum {
	IN = STDIN_FILENO,
	OUT = STDOUT_FILENO,
	ESCAPE_DELAY_MS = 25,
	MOUSE_REST_MS = 100, /* for the rest of a report of the mouse */
	MOUSE_CODE = KEY_MAX + 1,
	RICH_COLOURS = 256,
	LEAVE_CAP = TDM_GUARD_BYTES_MAX
};

/*
 * Reports of the mouse: presses and the wheel, in the form of xterm's mode 1006, which every terminal with a mouse has
 * and which has no limit of columns. Turning off what is not on does no harm.
 */
static const char mouse_on[] = "\033[?1000h\033[?1006h", mouse_off[] = "\033[?1006l\033[?1000l",
		  mouse_prefix[] = "\033[<";

/* -1: the terminal's own colour. `rich` is for 256 colours, the others for the basic 8. */
struct look {
	short fg, bg, rich_fg, rich_bg;
	attr_t attrs, mono;
};

struct tdm_terminal {
	SCREEN *screen;
	bool utf8;
	bool colour;                 /* wanted and available */
	bool has_tried, has_palette; /* to set up colours; the colours are set up */
	bool is_suspended;
	bool can_mouse, has_mouse; /* terminfo knows a mouse; it is reported */
	struct tdm_mouse mouse;    /* its last report */
	struct termios settings;   /* from before */
	char leave[LEAVE_CAP];     /* bytes that leave the modes set by ncurses */
	size_t leave_len;
	struct tdm_canvas shown; /* what is on the screen */
	bool is_blank;           /* the screen shows nothing yet */
};

static const struct look looks[TDM_INK_COUNT] = {
	[TDM_INK_PLAIN] = { -1, -1, -1, -1, 0, 0 },
	[TDM_INK_DIM] = { -1, -1, 244, -1, 0, A_DIM },
	[TDM_INK_BOLD] = { -1, -1, -1, -1, A_BOLD, A_BOLD },
	[TDM_INK_LABEL] = { COLOR_CYAN, -1, 109, -1, 0, 0 },
	[TDM_INK_GREEN] = { COLOR_GREEN, -1, 71, -1, 0, 0 },
	[TDM_INK_YELLOW] = { COLOR_YELLOW, -1, 178, -1, 0, A_BOLD },
	[TDM_INK_RED] = { COLOR_RED, -1, 167, -1, A_BOLD, A_BOLD },
	[TDM_INK_BLUE] = { COLOR_BLUE, -1, 74, -1, 0, 0 },
	[TDM_INK_CYAN] = { COLOR_CYAN, -1, 80, -1, 0, 0 },
	[TDM_INK_MAGENTA] = { COLOR_MAGENTA, -1, 139, -1, 0, 0 },
	[TDM_INK_TRACK] = { -1, -1, 238, -1, 0, A_DIM },
	[TDM_INK_BAR] = { -1, -1, 250, 236, 0, 0 },
	[TDM_INK_TAB] = { COLOR_BLACK, COLOR_CYAN, 231, 24, A_BOLD, A_REVERSE },
	[TDM_INK_HEAD] = { COLOR_BLACK, COLOR_GREEN, 252, 238, 0, A_UNDERLINE },
	[TDM_INK_SORTED] = { COLOR_BLACK, COLOR_CYAN, 231, 24, A_BOLD, A_UNDERLINE | A_BOLD },
	[TDM_INK_CURSOR] = { COLOR_BLACK, COLOR_CYAN, 231, 25, 0, A_REVERSE },
	[TDM_INK_CHOSEN] = { -1, -1, 231, 237, A_BOLD, A_BOLD },
	[TDM_INK_KEY] = { -1, -1, 231, -1, A_BOLD, A_BOLD },
	[TDM_INK_FRAME] = { COLOR_BLUE, -1, 67, -1, 0, 0 },
	[TDM_INK_ALERT] = { COLOR_WHITE, COLOR_RED, 231, 124, A_BOLD, A_REVERSE | A_BOLD },
	[TDM_INK_ON_GREEN] = { COLOR_BLACK, COLOR_GREEN, 231, 22, 0, 0 },
	[TDM_INK_ON_YELLOW] = { COLOR_BLACK, COLOR_YELLOW, 231, 94, 0, A_BOLD },
	[TDM_INK_ON_RED] = { COLOR_WHITE, COLOR_RED, 231, 124, A_BOLD, A_REVERSE },
};

static void set_colours(struct tdm_terminal *terminal)
{
	terminal->has_tried = true;
	terminal->has_palette =
		has_colors() && start_color() == OK && use_default_colors() == OK && COLOR_PAIRS > TDM_INK_COUNT;
	for (short ink = 0; terminal->has_palette && ink < TDM_INK_COUNT; ink++) {
		const struct look *look = &looks[ink];
		bool rich = COLORS >= RICH_COLOURS;
		if (look->rich_fg != -1 || look->rich_bg != -1)
			init_pair((short)(ink + 1), rich ? look->rich_fg : look->fg, rich ? look->rich_bg : look->bg);
	}
}

static void set_ink(const struct tdm_terminal *terminal, uint32_t ink)
{
	const struct look *look = &looks[ink < TDM_INK_COUNT ? ink : TDM_INK_PLAIN];
	bool paired = terminal->colour && (look->rich_fg != -1 || look->rich_bg != -1);
	attr_t attrs = terminal->colour ? look->attrs : look->mono;
	if (terminal->colour && COLORS < RICH_COLOURS && look->fg == -1 && look->bg == -1)
		attrs = look->mono; /* the basic 8 colours have no grey */
	attr_set(attrs, paired ? (short)(ink + 1) : 0, NULL);
}

/* For collect(), since tputs() has no context. Used only while a terminal is being opened. */
static struct tdm_terminal *collecting;

static int collect(int ch)
{
	if (collecting->leave_len < sizeof collecting->leave)
		collecting->leave[collecting->leave_len++] = (char)ch;
	return ch;
}

static void collect_leave(struct tdm_terminal *terminal)
{
	char *const leave[] = { exit_attribute_mode, keypad_local, cursor_normal, exit_ca_mode };
	collecting = terminal;
	for (size_t i = 0; terminal->can_mouse && mouse_off[i] != '\0'; i++)
		collect(mouse_off[i]);
	for (size_t i = 0; i < sizeof leave / sizeof leave[0]; i++)
		if (leave[i] != NULL)
			tputs(leave[i], 1, collect);
	collecting = NULL;
}

/* Finds problems before ncurses does, for better messages. */
static int check_terminal(struct tdm_diag *diag)
{
	if (isatty(IN) != 1 || isatty(OUT) != 1)
		return tdm_diag_set(diag, -ENOTTY, 0, 0,
			"the full-screen monitor needs a terminal for input and output; `tidemark status` needs "
			"none");
	const char *type = getenv("TERM");
	char shown[64];
	if (type == NULL || type[0] == '\0')
		return tdm_diag_set(diag, -ENOTTY, 0, 0,
			"TERM is not set, so the terminal's abilities are unknown; try TERM=xterm-256color");
	tdm_str_shown(tdm_str_of(type), shown, sizeof shown);
	int state = 0;
	if (setupterm(NULL, OUT, &state) != OK)
		return tdm_diag_set(diag, -ENOTTY, 0, 0,
			state == -1
				? "there is no terminfo database for TERM=%s; install ncurses-base (Debian), or set "
				  "TERMINFO to its folder"
				: "terminfo does not know TERM=%s, or not enough of it; try TERM=xterm-256color",
			shown);
	bool usable = cursor_address != NULL && clear_screen != NULL;
	del_curterm(cur_term);
	if (!usable)
		return tdm_diag_set(diag, -ENOTTY, 0, 0,
			"a terminal of type \"%s\" cannot place text on its screen; try TERM=xterm-256color, or "
			"`tidemark status`",
			shown);
	return 0;
}

/* By hand, since ncurses waits for a second press before it reports the first, and takes the form from terminfo. */
static void send_mouse_mode(bool on)
{
	tdm_file_write_all(OUT, on ? mouse_on : mouse_off, (on ? sizeof mouse_on : sizeof mouse_off) - 1);
}

void tdm_terminal_use_mouse(struct tdm_terminal *terminal, bool wanted)
{
	wanted = wanted && terminal->can_mouse;
	if (terminal->has_mouse == wanted)
		return;
	terminal->has_mouse = wanted;
	send_mouse_mode(wanted);
}

static void start_modes(struct tdm_terminal *terminal, bool no_colour)
{
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	if (getenv("ESCDELAY") == NULL) /* a user who sets it knows the link */
		set_escdelay(ESCAPE_DELAY_MS);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	if (!no_colour)
		set_colours(terminal);
	terminal->colour = terminal->has_palette;
	terminal->can_mouse = key_mouse != NULL && key_mouse != (char *)-1 && key_mouse[0] == '\033' &&
			      define_key(mouse_prefix, MOUSE_CODE) == OK;
}

int tdm_terminal_open(struct tdm_terminal **terminal, const struct tdm_terminal_options *options, struct tdm_diag *diag)
{
	int err = check_terminal(diag);
	if (err != 0)
		return err;
	struct tdm_terminal *t = calloc(1, sizeof *t);
	if (t == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	if (tcgetattr(OUT, &t->settings) != 0)
		goto fail;
	t->utf8 = tdm_term_is_utf8() && !options->ascii;
	use_tioctl(TRUE); /* ask the terminal for its size and ignore LINES and COLUMNS */
	t->screen = newterm(NULL, stdout, stdin);
	if (t->screen == NULL)
		goto fail;
	/* ncurses writes every cursor move at once until it has left the screen and come back. Do it now: with colours
	 * set up it would change the palette. */
	endwin();
	refresh();
	start_modes(t, options->no_colour);
	collect_leave(t);
	tdm_guard_restores(OUT, &t->settings, t->leave, t->leave_len);
	tdm_terminal_use_mouse(t, options->mouse);
	t->is_blank = true;
	*terminal = t;
	return 0;
fail:
	free(t);
	return tdm_diag_set(diag, -EIO, 0, 0, "the terminal cannot be set up");
}

static bool can_write(void)
{
	struct pollfd out = { .fd = OUT, .events = POLLOUT };
	return poll(&out, 1, 0) > 0 && (out.revents & POLLOUT) != 0;
}

void tdm_terminal_close(struct tdm_terminal *terminal)
{
	if (terminal == NULL)
		return;
	tdm_guard_restores(OUT, NULL, NULL, 0);
	if (!can_write())
		tcflow(OUT, TCOON); /* Ctrl-S must not block the output that restores the terminal */
	tdm_terminal_use_mouse(terminal, false);
	endwin();
	tcsetattr(OUT, TCSANOW, &terminal->settings);
	delscreen(terminal->screen);
	tdm_canvas_done(&terminal->shown);
	free(terminal);
}

bool tdm_terminal_is_utf8(const struct tdm_terminal *terminal)
{
	return terminal->utf8;
}

void tdm_terminal_colour(struct tdm_terminal *terminal, bool wanted)
{
	if (wanted && !terminal->has_tried)
		set_colours(terminal);
	if (terminal->colour == (wanted && terminal->has_palette))
		return;
	terminal->colour = !terminal->colour;
	tdm_terminal_redraw(terminal);
}

void tdm_terminal_size(const struct tdm_terminal *terminal, int *rows, int *cols)
{
	(void)terminal;
	*rows = LINES;
	*cols = COLS;
}

void tdm_terminal_resized(struct tdm_terminal *terminal)
{
	struct winsize size;
	if (ioctl(OUT, TIOCGWINSZ, &size) == 0 && size.ws_row != 0 && size.ws_col != 0)
		resizeterm(size.ws_row, size.ws_col);
	tdm_terminal_redraw(terminal);
}

void tdm_terminal_suspend(struct tdm_terminal *terminal)
{
	tdm_guard_restores(OUT, NULL, NULL, 0);
	if (terminal->has_mouse)
		send_mouse_mode(false);
	endwin();
	tcsetattr(OUT, TCSANOW, &terminal->settings);
	terminal->is_suspended = true;
}

void tdm_terminal_resume(struct tdm_terminal *terminal)
{
	if (terminal->is_suspended) /* the settings are not ours then, and the shell may have changed them */
		tcgetattr(OUT, &terminal->settings);
	terminal->is_suspended = false;
	reset_prog_mode();
	refresh();
	tdm_guard_restores(OUT, &terminal->settings, terminal->leave, terminal->leave_len);
	if (terminal->has_mouse)
		send_mouse_mode(true);
	tdm_terminal_resized(terminal);
}

void tdm_terminal_redraw(struct tdm_terminal *terminal)
{
	clearok(stdscr, TRUE);
	terminal->is_blank = true;
}

/* Draws a run of cells with the same ink. */
static int put_run(struct tdm_terminal *terminal, const struct tdm_canvas *canvas, int row, int col, int end)
{
	wchar_t text[TDM_CANVAS_COLS_MAX];
	const struct tdm_cell *cells = &canvas->cells[(size_t)row * (size_t)canvas->cols];
	uint32_t ink = cells[col].ink;
	int count = 0, at = col;
	for (; at < end && cells[at].ink == ink; at++)
		if (cells[at].ch != 0)
			text[count++] = (wchar_t)cells[at].ch;
	set_ink(terminal, ink);
	mvaddnwstr(row, col, text, count);
	return at;
}

/* Draws only the differences and never splits a wide character. */
static void show_row(struct tdm_terminal *terminal, const struct tdm_canvas *canvas, int row)
{
	size_t first = (size_t)row * (size_t)canvas->cols;
	const struct tdm_cell *now = &canvas->cells[first], *then = &terminal->shown.cells[first];
	if (!terminal->is_blank && memcmp(now, then, (size_t)canvas->cols * sizeof *now) == 0)
		return;
	int from = 0, to = canvas->cols;
	while (!terminal->is_blank && from < to && memcmp(&now[from], &then[from], sizeof *now) == 0)
		from++;
	while (!terminal->is_blank && to > from && memcmp(&now[to - 1], &then[to - 1], sizeof *now) == 0)
		to--;
	while (from > 0 && (now[from].ch == 0 || then[from].ch == 0))
		from--;
	while (to < canvas->cols && (now[to].ch == 0 || then[to].ch == 0))
		to++;
	for (int col = from; col < to;)
		col = put_run(terminal, canvas, row, col, to);
}

bool tdm_terminal_show(struct tdm_terminal *terminal, const struct tdm_canvas *canvas)
{
	struct tdm_canvas *shown = &terminal->shown;
	if (!can_write())
		return false;
	if (shown->rows != canvas->rows || shown->cols != canvas->cols) {
		if (tdm_canvas_resize(shown, canvas->rows, canvas->cols) != 0)
			return false;
		terminal->is_blank = true;
	}
	for (int row = 0; row < canvas->rows; row++)
		show_row(terminal, canvas, row);
	memcpy(shown->cells, canvas->cells, (size_t)canvas->rows * (size_t)canvas->cols * sizeof *shown->cells);
	terminal->is_blank = false;
	refresh();
	return true;
}

bool tdm_terminal_wait(struct tdm_terminal *terminal, int fd, int timeout_ms)
{
	(void)terminal;
	struct pollfd fds[] = { { .fd = IN, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
	if (poll(fds, 2, timeout_ms) < 0)
		return errno == EINTR || errno == EAGAIN;
	return (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}

/* The next byte of a report; 0 if none comes soon. */
static int mouse_byte(void)
{
	struct pollfd in = { .fd = IN, .events = POLLIN };
	wint_t ch;
	int kind = get_wch(&ch);
	if (kind == ERR && poll(&in, 1, MOUSE_REST_MS) > 0)
		kind = get_wch(&ch);
	return kind == OK && ch > 0 && ch < 0x80 ? (int)ch : 0;
}

/* Discards the button, the column and the row of a report in xterm's first form, from a terminal without mode 1006:
 * they are bytes that would be taken for keys. */
static int skip_old_report(void)
{
	for (int i = 0; i < 3 && mouse_byte() != 0; i++)
		;
	return TDM_KEY_OTHER;
}

/*
 * After an escape: discards the rest of a sequence that terminfo does not know. Anything else is a key, either pressed
 * with Alt or delivered by a slow link together with the escape.
 */
static int after_escape(void)
{
	wint_t ch;
	int kind = get_wch(&ch);
	if (kind == ERR)
		return TDM_KEY_ESCAPE;
	if (kind == OK && (ch == '[' || ch == 'O')) {
		bool is_first = ch == '[';
		while (get_wch(&ch) == OK && !(ch >= 0x40 && ch <= 0x7e))
			is_first = false;
		return is_first && ch == 'M' ? skip_old_report() : TDM_KEY_OTHER;
	}
	if (kind == KEY_CODE_YES)
		ungetch((int)ch);
	else
		unget_wch((wchar_t)ch);
	return TDM_KEY_ESCAPE;
}

static int function_key(wint_t code)
{
	static const struct {
		wint_t code;
		int key;
	} keys[] = {
		{ KEY_UP, TDM_KEY_UP },
		{ KEY_DOWN, TDM_KEY_DOWN },
		{ KEY_LEFT, TDM_KEY_LEFT },
		{ KEY_RIGHT, TDM_KEY_RIGHT },
		{ KEY_PPAGE, TDM_KEY_PAGE_UP },
		{ KEY_NPAGE, TDM_KEY_PAGE_DOWN },
		{ KEY_HOME, TDM_KEY_HOME },
		{ KEY_END, TDM_KEY_END },
		{ KEY_BACKSPACE, TDM_KEY_BACKSPACE },
		{ KEY_DC, TDM_KEY_DELETE },
		{ KEY_BTAB, TDM_KEY_BACK_TAB },
		{ KEY_ENTER, TDM_KEY_ENTER },
	};
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (keys[i].code == code)
			return keys[i].key;
	if (code > KEY_F0 && code <= KEY_F(12))
		return TDM_KEY_F0 + (int)(code - KEY_F0);
	return TDM_KEY_OTHER;
}

/* Readable but without data: end of file, or an error. */
static bool is_gone(void)
{
	struct pollfd in = { .fd = IN, .events = POLLIN };
	int bytes = 0;
	if (poll(&in, 1, 0) <= 0)
		return false;
	return (in.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 || ioctl(IN, FIONREAD, &bytes) != 0 || bytes == 0;
}

/* "BUTTON;COLUMN;ROW" and M for a press, m for a release, from 1. Anything else up to the letter is part of the report,
 * too: some terminals send numbers below 0 for places outside their window. */
static int read_mouse(struct tdm_terminal *terminal)
{
	enum { LEFT = 0, WHEEL_UP = 64, WHEEL_DOWN = 65, LARGEST = 100000 };
	int numbers[3] = { 0 }, at = 0, ch;
	while ((ch = mouse_byte()) >= ' ' && ch < '@') {
		if (ch == ';')
			at++;
		else if (ch < '0' || ch > '9')
			at = 3;
		else if (at < 3 && numbers[at] < LARGEST)
			numbers[at] = numbers[at] * 10 + ch - '0';
	}
	bool is_known = numbers[0] == LEFT || numbers[0] == WHEEL_UP || numbers[0] == WHEEL_DOWN;
	if (ch != 'M' || at != 2 || !is_known || !terminal->has_mouse || numbers[1] == 0 || numbers[2] == 0)
		return TDM_KEY_OTHER;
	terminal->mouse = (struct tdm_mouse){ .act = numbers[0] == WHEEL_UP     ? TDM_MOUSE_WHEEL_UP
						     : numbers[0] == WHEEL_DOWN ? TDM_MOUSE_WHEEL_DOWN
										: TDM_MOUSE_PRESS,
		.row = numbers[2] - 1,
		.col = numbers[1] - 1 };
	return TDM_KEY_MOUSE;
}

struct tdm_mouse tdm_terminal_mouse(const struct tdm_terminal *terminal)
{
	return terminal->mouse;
}

int tdm_terminal_key(struct tdm_terminal *terminal)
{
	wint_t ch;
	int kind = get_wch(&ch);
	if (kind == ERR)
		return is_gone() ? TDM_KEY_GONE : TDM_KEY_NONE;
	if (kind == KEY_CODE_YES && ch == MOUSE_CODE)
		return read_mouse(terminal);
	if (kind == KEY_CODE_YES && ch == KEY_MOUSE)
		return skip_old_report();
	if (kind == KEY_CODE_YES)
		return function_key(ch);
	if (ch == TDM_KEY_ESCAPE)
		return after_escape();
	if (ch == '\r')
		return TDM_KEY_ENTER;
	if (ch == 127 || ch == 8)
		return TDM_KEY_BACKSPACE;
	return ch != 0 && ch < TDM_KEY_FIRST ? (int)ch : TDM_KEY_OTHER;
}
