/*
 * Compares a canvas with the one on the screen and passes only the differences to ncurses, which finds the cheapest way
 * to send them.
 *
 * Signals that end, stop or continue the program, or report a new size, are recorded and wake up poll(). After a crash,
 * after a second request to end, or when memory runs out, the terminal is restored at once, from bytes and settings
 * prepared earlier. Signal handlers get no context, so a process has one terminal.
 */
#include "tui/draw/terminal.h"
#include "base/file.h" /* must precede term.h, which defines common words as macros */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

#include "base/memory.h"
#include "base/term.h"

enum {
	IN = STDIN_FILENO,
	OUT = STDOUT_FILENO,
	ESCAPE_DELAY_MS = 25,
	MOUSE_REST_MS = 100, /* wait for the rest of a mouse report */
	MOUSE_CODE = KEY_MAX + 1,
	RICH_COLOURS = 256,
	LEAVE_CAP = 256,
	CRASH_STACK = 64 * 1024,
	GROUPS = 4,
	GROUP_MAX = 11,
};

/*
 * Mouse reports: presses and the wheel, in the form of xterm's mode 1006. Every terminal with a mouse supports this
 * mode, and it has no column limit. Turning off a mode that is not on is harmless.
 */
static const char mouse_on[] = "\033[?1000h\033[?1006h", mouse_off[] = "\033[?1006l\033[?1000l",
		  mouse_prefix[] = "\033[<";

/* ---- signals ---- */

/* Handlers use only the first half; `settings` and `leave` are written only while `armed` is not set. */
static struct {
	volatile sig_atomic_t end, resized, stop, continued, armed;
	int pipe[2];
	struct termios settings;
	char leave[LEAVE_CAP]; /* bytes that undo the modes set by ncurses */
	size_t leave_len;
	struct sigaction before[GROUPS][GROUP_MAX];
	void *stack;
	SCREEN *screen;
	bool colour;                 /* colours are wanted and available */
	bool has_tried, has_palette; /* setting up colours was tried; it succeeded */
	bool can_mouse, has_mouse;   /* terminfo knows a mouse; reports are on */
	struct tdm_canvas shown;     /* content of the screen */
	bool is_blank;               /* nothing has been drawn on the screen yet */
} terminal = { .pipe = { -1, -1 } };

static void wake(void)
{
	ssize_t written = write(terminal.pipe[1], "", 1);
	(void)written; /* a full pipe also wakes the loop */
}

/* Async-signal-safe. Drops unsent output first: the terminal may have stopped accepting it. */
static void give_back(void)
{
	if (!terminal.armed)
		return;
	terminal.armed = 0;
	tcflow(OUT, TCOON);
	tcflush(OUT, TCOFLUSH);
	ssize_t written = write(OUT, terminal.leave, terminal.leave_len);
	(void)written;
	tcsetattr(OUT, TCSANOW, &terminal.settings);
}

static void die_of(int signal_number)
{
	give_back();
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t set;
	sigaction(signal_number, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signal_number);
}

static void on_end(int signal_number)
{
	int kept = errno;
	if (terminal.end != 0 && signal_number != SIGHUP)
		die_of(signal_number);
	if (terminal.armed) /* Ctrl-S may have blocked the loop in the middle of a frame */
		tcflow(OUT, TCOON);
	terminal.end = signal_number;
	wake();
	errno = kept;
}

static void on_news(int signal_number)
{
	int kept = errno;
	*(signal_number == SIGWINCH        ? &terminal.resized
		: signal_number == SIGTSTP ? &terminal.stop
					   : &terminal.continued) = 1;
	wake();
	errno = kept;
}

/* Takes over the signals, or restores them. Ignored signals stay ignored, except those of a crash. */
static void guard_signals(bool on)
{
	static void (*const handlers[GROUPS])(int) = { die_of, on_end, on_news, die_of };
	static const int signals[GROUPS][GROUP_MAX] = {
		{ SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT },
		{ SIGTERM, SIGINT, SIGHUP, SIGQUIT },
		{ SIGWINCH, SIGTSTP, SIGCONT },
		/* Nobody sends these on purpose, but without a handler they end the program. */
		{ SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ, SIGIO, SIGPWR, SIGSYS, SIGTRAP },
	};
	for (size_t g = 0; g < GROUPS; g++)
		for (size_t i = 0; i < GROUP_MAX && signals[g][i] != 0; i++) {
			struct sigaction action = { .sa_handler = handlers[g],
				.sa_flags = g == 0 ? (int)SA_RESETHAND | SA_NODEFER | SA_ONSTACK : SA_RESTART };
			struct sigaction *before = &terminal.before[g][i];
			if (on)
				sigaction(signals[g][i], &action, before);
			bool is_ignored = (before->sa_flags & SA_SIGINFO) == 0 && before->sa_handler == SIG_IGN;
			if (!on || (g != 0 && is_ignored))
				sigaction(signals[g][i], before, NULL);
		}
}

/* ---- inks ---- */

/* -1: the terminal's own colour. The first two are for 8 basic colours, the next two for 256; then come the attributes,
 * with and without colours. */
enum { FG, BG, RICH_FG, RICH_BG, ATTRS, MONO, LOOKS };

static const int looks[TDM_INK_COUNT][LOOKS] = {
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

static void set_colours(void)
{
	terminal.has_tried = true;
	terminal.has_palette =
		has_colors() && start_color() == OK && use_default_colors() == OK && COLOR_PAIRS > TDM_INK_COUNT;
	for (short ink = 0; terminal.has_palette && ink < TDM_INK_COUNT; ink++) {
		const int *look = looks[ink];
		bool rich = COLORS >= RICH_COLOURS;
		if (look[RICH_FG] != -1 || look[RICH_BG] != -1)
			init_pair((short)(ink + 1), (short)look[rich ? RICH_FG : FG], (short)look[rich ? RICH_BG : BG]);
	}
}

static void end_guard(void)
{
	guard_signals(false);
	tdm_before_out_of_memory(NULL);
	terminal.armed = 0;
	sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
	free(terminal.stack);
	close(terminal.pipe[0]);
	close(terminal.pipe[1]);
}

/* A global buffer is needed because the callback of tputs() gets no context. */
static int collect(int ch)
{
	if (terminal.leave_len < sizeof terminal.leave)
		terminal.leave[terminal.leave_len++] = (char)ch;
	return ch;
}

/* Detects problems before ncurses does, for better messages. */
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

/* Done here because ncurses waits for a second press before it reports the first, and takes the protocol
 * from terminfo. */
static void send_mouse_mode(bool on)
{
	tdm_file_write_all(OUT, on ? mouse_on : mouse_off, (on ? sizeof mouse_on : sizeof mouse_off) - 1);
}

static void use_mouse(bool wanted)
{
	wanted = wanted && terminal.can_mouse;
	if (terminal.has_mouse != wanted)
		send_mouse_mode(wanted);
	terminal.has_mouse = wanted;
}

int tdm_terminal_open(struct tdm_canvas *canvas, struct tdm_diag *diag)
{
	if (pipe2(terminal.pipe, O_CLOEXEC | O_NONBLOCK) != 0)
		return tdm_diag_set(diag, -errno, 0, 0, "signals cannot be watched");
	terminal.end = terminal.resized = terminal.stop = terminal.continued = terminal.armed = 0;
	terminal.stack = tdm_alloc(CRASH_STACK);
	sigaltstack(&(stack_t){ .ss_sp = terminal.stack, .ss_size = CRASH_STACK }, NULL);
	guard_signals(true);
	tdm_before_out_of_memory(give_back);
	int err = check_terminal(diag);
	use_tioctl(TRUE); /* use the terminal's size and ignore LINES and COLUMNS */
	SCREEN *screen = err == 0 && tcgetattr(OUT, &terminal.settings) == 0 ? newterm(NULL, stdout, stdin) : NULL;
	if (screen == NULL) {
		end_guard();
		return err != 0 ? err : tdm_diag_set(diag, -EIO, 0, 0, "the terminal cannot be set up");
	}
	terminal.screen = screen;
	terminal.is_blank = true;
	/* ncurses writes every cursor move at once until it has left the screen and come back. Do this now, because
	 * later, with colours set up, it would change the palette. */
	endwin();
	refresh();
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	if (getenv("ESCDELAY") == NULL) /* users who set ESCDELAY know how slow their link is */
		set_escdelay(ESCAPE_DELAY_MS);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	terminal.can_mouse = key_mouse != NULL && key_mouse != (char *)-1 && key_mouse[0] == '\033' &&
			     define_key(mouse_prefix, MOUSE_CODE) == OK;
	char *const leave[] = { exit_attribute_mode, keypad_local, cursor_normal, exit_ca_mode };
	terminal.leave_len = 0;
	for (size_t i = 0; terminal.can_mouse && mouse_off[i] != '\0'; i++)
		collect(mouse_off[i]);
	for (size_t i = 0; i < sizeof leave / sizeof leave[0]; i++)
		if (leave[i] != NULL)
			tputs(leave[i], 1, collect);
	terminal.armed = 1;
	tdm_canvas_resize(canvas, LINES, COLS);
	return 0;
}

static bool can_write(void)
{
	struct pollfd out = { .fd = OUT, .events = POLLOUT };
	return poll(&out, 1, 0) > 0 && (out.revents & POLLOUT) != 0;
}

void tdm_terminal_close(void)
{
	terminal.armed = 0;
	if (!can_write())
		tcflow(OUT, TCOON); /* Ctrl-S must not block the output that restores the terminal */
	use_mouse(false);
	endwin();
	tcsetattr(OUT, TCSANOW, &terminal.settings);
	delscreen(terminal.screen);
	tdm_canvas_done(&terminal.shown);
	end_guard();
}

void tdm_terminal_redraw(void)
{
	clearok(stdscr, TRUE);
	terminal.is_blank = true;
}

/* Restores the terminal and stops, as with the shell's Ctrl-Z; returns when continued. */
static void stop(void)
{
	/* Unlike SIGSTOP, SIGTSTP is ignored by the system if nobody could continue the process. */
	struct sigaction action = { .sa_handler = SIG_DFL }, before;
	terminal.armed = 0;
	if (terminal.has_mouse)
		send_mouse_mode(false);
	endwin();
	tcsetattr(OUT, TCSANOW, &terminal.settings);
	sigaction(SIGTSTP, &action, &before);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &before, NULL);
	tcgetattr(OUT, &terminal.settings); /* the shell may have changed the settings in the meantime */
}

bool tdm_terminal_signals(struct tdm_canvas *canvas)
{
	char drained[64];
	struct winsize size;
	while (read(terminal.pipe[0], drained, sizeof drained) > 0)
		;
	bool has_stopped = terminal.stop != 0;
	terminal.stop = 0;
	if (has_stopped)
		stop();
	bool is_back = has_stopped || terminal.continued != 0, is_resized = terminal.resized != 0;
	terminal.continued = terminal.resized = 0;
	if (is_back) {
		reset_prog_mode();
		refresh();
		terminal.armed = 1;
		if (terminal.has_mouse)
			send_mouse_mode(true);
	}
	if (is_back || is_resized) {
		if (ioctl(OUT, TIOCGWINSZ, &size) == 0 && size.ws_row != 0 && size.ws_col != 0)
			resizeterm(size.ws_row, size.ws_col);
		tdm_terminal_redraw();
		tdm_canvas_resize(canvas, LINES, COLS);
	}
	return terminal.end == 0;
}

/* Draws a run of cells with the same ink. */
static int put_run(const struct tdm_canvas *canvas, int row, int col, int end)
{
	wchar_t text[TDM_CANVAS_COLS_MAX];
	const struct tdm_cell *cells = &canvas->cells[(size_t)row * (size_t)canvas->cols];
	uint32_t ink = cells[col].ink;
	int count = 0, at = col;
	for (; at < end && cells[at].ink == ink; at++)
		if (cells[at].ch != 0)
			text[count++] = (wchar_t)cells[at].ch;
	const int *look = looks[ink < TDM_INK_COUNT ? ink : TDM_INK_PLAIN];
	bool paired = terminal.colour && (look[RICH_FG] != -1 || look[RICH_BG] != -1);
	/* The basic 8 colours have no grey. */
	bool is_plain = !terminal.colour || (COLORS < RICH_COLOURS && look[FG] == -1 && look[BG] == -1);
	attr_set((attr_t)look[is_plain ? MONO : ATTRS], paired ? (short)(ink + 1) : 0, NULL);
	mvaddnwstr(row, col, text, count);
	return at;
}

/* Draws only the differences and never splits a wide character. */
static void show_row(const struct tdm_canvas *canvas, int row)
{
	size_t first = (size_t)row * (size_t)canvas->cols;
	const struct tdm_cell *now = &canvas->cells[first], *then = &terminal.shown.cells[first];
	if (!terminal.is_blank && memcmp(now, then, (size_t)canvas->cols * sizeof *now) == 0)
		return;
	int from = 0, to = canvas->cols;
	while (!terminal.is_blank && from < to && memcmp(&now[from], &then[from], sizeof *now) == 0)
		from++;
	while (!terminal.is_blank && to > from && memcmp(&now[to - 1], &then[to - 1], sizeof *now) == 0)
		to--;
	while (from > 0 && (now[from].ch == 0 || then[from].ch == 0))
		from--;
	while (to < canvas->cols && (now[to].ch == 0 || then[to].ch == 0))
		to++;
	for (int col = from; col < to;)
		col = put_run(canvas, row, col, to);
}

bool tdm_terminal_show(const struct tdm_canvas *canvas, bool colour, bool mouse)
{
	struct tdm_canvas *shown = &terminal.shown;
	if (colour && !terminal.has_tried)
		set_colours();
	if (terminal.colour != (colour && terminal.has_palette)) {
		terminal.colour = !terminal.colour;
		if (!terminal.is_blank)
			tdm_terminal_redraw();
	}
	use_mouse(mouse);
	if (!can_write())
		return false;
	if (shown->rows != canvas->rows || shown->cols != canvas->cols) {
		tdm_canvas_resize(shown, canvas->rows, canvas->cols);
		terminal.is_blank = true;
	}
	for (int row = 0; row < canvas->rows; row++)
		show_row(canvas, row);
	memcpy(shown->cells, canvas->cells, (size_t)canvas->rows * (size_t)canvas->cols * sizeof *shown->cells);
	terminal.is_blank = false;
	refresh();
	return true;
}

bool tdm_terminal_wait(int timeout_ms)
{
	struct pollfd fds[] = { { .fd = IN, .events = POLLIN }, { .fd = terminal.pipe[0], .events = POLLIN } };
	if (poll(fds, 2, timeout_ms) < 0)
		return errno == EINTR || errno == EAGAIN;
	return (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}

/* The next byte of a mouse report; 0 if none comes soon. */
static int mouse_byte(void)
{
	struct pollfd in = { .fd = IN, .events = POLLIN };
	wint_t ch;
	int kind = get_wch(&ch);
	if (kind == ERR && poll(&in, 1, MOUSE_REST_MS) > 0)
		kind = get_wch(&ch);
	return kind == OK && ch > 0 && ch < 0x80 ? (int)ch : 0;
}

/* Discards the button, column and row of a report in xterm's original form, sent by terminals without mode 1006.
 * Otherwise these bytes would be read as keys. */
static int skip_old_report(void)
{
	for (int i = 0; i < 3 && mouse_byte() != 0; i++)
		;
	return TDM_KEY_OTHER;
}

/*
 * Handles the input after an escape: discards the rest of a sequence that terminfo does not know. Anything else is a
 * key, either pressed with Alt or delivered by a slow link together with the escape.
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
	static const wint_t codes[] = { KEY_UP, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_PPAGE, KEY_NPAGE, KEY_HOME, KEY_END,
		KEY_BACKSPACE, KEY_DC, KEY_BTAB }; /* in the order of enum tdm_key */
	for (int i = 0; i < (int)(sizeof codes / sizeof *codes); i++)
		if (codes[i] == code)
			return TDM_KEY_FIRST + i;
	if (code == KEY_ENTER)
		return TDM_KEY_ENTER;
	if (code > KEY_F0 && code <= KEY_F(12))
		return TDM_KEY_F0 + (int)(code - KEY_F0);
	return TDM_KEY_OTHER;
}

/* Whether input is readable but empty: end of file, or an error. */
static bool is_gone(void)
{
	struct pollfd in = { .fd = IN, .events = POLLIN };
	int bytes = 0;
	if (poll(&in, 1, 0) <= 0)
		return false;
	return (in.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 || ioctl(IN, FIONREAD, &bytes) != 0 || bytes == 0;
}

/* Reads "BUTTON;COLUMN;ROW", counted from 1, and M for a press or m for a release. Anything else up to the letter is
 * also part of the report: some terminals send negative numbers for places outside their window. */
static int read_mouse(struct tdm_mouse *mouse)
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
	if (ch != 'M' || at != 2 || !is_known || !terminal.has_mouse || numbers[1] == 0 || numbers[2] == 0)
		return TDM_KEY_OTHER;
	*mouse = (struct tdm_mouse){ .wheel = numbers[0] == WHEEL_UP ? -1 : numbers[0] == WHEEL_DOWN,
		.row = numbers[2] - 1,
		.col = numbers[1] - 1 };
	return TDM_KEY_MOUSE;
}

int tdm_terminal_key(struct tdm_mouse *mouse)
{
	wint_t ch;
	int kind = get_wch(&ch);
	if (kind == ERR)
		return is_gone() ? TDM_KEY_GONE : TDM_KEY_NONE;
	if (kind == KEY_CODE_YES && ch == MOUSE_CODE)
		return read_mouse(mouse);
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
