/* `tidemark top`: the live monitor, full-screen or as plain frames. */
#include "base/clock.h"
#include "base/err.h"
#include "cli/commands/cmd_list.h"
#include "cli/inputs/ledgers.h"
#include "cli/options/options.h"
#include "cli/commands/ticker.h"
#include "view/rows/stack_rows.h"
#include "view/rows/status_result.h"
#include "view/write/write.h"
#include "tui/app/app.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct request {
	const struct tdm_cmd *cmd;
	struct tdm_tui_options options;
	struct tdm_pids pids;
	bool once, no_config;
	struct tdm_connect connect;
	struct tdm_ledgers seen;
};

static void provide_place(void *names, const struct tdm_picture *picture, uint32_t process, uint32_t stack,
	bool with_callers, char *dst, size_t cap)
{
	struct tdm_symbolizer *symbols = tdm_stack_symbols_get(names, picture, process);
	struct tdm_buf text = { 0 };
	(with_callers ? tdm_stack_trail : tdm_stack_site)(picture, symbols, stack, false, &text);
	snprintf(dst, cap, "%s", tdm_buf_str(&text).ptr);
	tdm_buf_done(&text);
}

static int run_screens(const struct request *request)
{
	struct tdm_stack_symbols names = { 0 };
	struct tdm_provider provider = request->seen.provider;
	provider.names = &names;
	provider.place = provide_place;
	struct tdm_diag diag = { 0 };
	const struct tdm_pick *pick = &request->options.pick;
	const struct tdm_picture *first =
		pick->device != NULL || pick->pid_count != 0
			? provider.look(provider.state, &(struct tdm_wish){ .no_largest = true })
			: NULL;
	int code = first != NULL ? tdm_check_pick(request->cmd, pick, first) : 0;
	if (code != 0)
		return code;
	struct tdm_tui_options options = request->options;
	char *settings = request->no_config ? NULL : tdm_tui_settings_path();
	options.settings = settings;
	int err = tdm_tui_run(&provider, &options, &diag);
	char remark[PATH_MAX + TDM_DIAG_TEXT_CAP];
	if (err == 0 && diag.text[0] != '\0')
		tdm_cmd_say("tidemark top: %s", tdm_diag_format(&diag, remark, sizeof remark));
	free(settings);
	tdm_stack_symbols_done(&names);
	if (err == 0)
		return TDM_EXIT_OK;
	return tdm_cmd_error(request->cmd, "%s", diag.text[0] != '\0' ? diag.text : tdm_err_text(err));
}

static int make_frame(void *context, bool is_first, struct tdm_buf *out)
{
	const struct request *request = context;
	const struct tdm_picture *picture = request->seen.provider.look(request->seen.provider.state, NULL);
	/* Only the first picture is checked: a process or device that vanishes later may come back. */
	int code = is_first ? tdm_check_pick(request->cmd, &request->options.pick, picture) : 0;
	if (code != 0)
		return code;
	const struct tdm_status_report report = { .picture = picture,
		.pick = request->options.pick,
		.term = tdm_cmd_term(request->options.ascii, request->options.no_colour),
		.interval_ms = request->once ? 0 : request->options.interval_ms };
	struct tdm_result *result = tdm_result_new();
	tdm_frame_show(&result->top, &report);
	tdm_write_text(&result->top, &report.term, out);
	tdm_buf_putc(out, '\n');
	tdm_result_free(result);
	return 0;
}

static int cmd_top_run(struct tdm_args *args)
{
	const char *refused = getenv("NO_COLOR");
	struct request request = { .cmd = args->cmd,
		.options = { .no_colour = refused != NULL && refused[0] != '\0' } };
	int code = tdm_args_read(args, &request);
	if (code != 0)
		return code;
	request.options.pick.pids = request.pids.list;
	request.options.pick.pid_count = request.pids.count;
	bool is_full = !request.once && isatty(STDOUT_FILENO) == 1;
	const struct tdm_state_options options = { .once = request.once, .with_crashed = is_full };
	code = tdm_pictures_open(args->cmd, &request.connect, options, &request.seen);
	if (code != 0)
		return code;
	request.options.read_only |= request.seen.fleet != NULL; /* the pids belong to other machines */
	if (is_full)
		code = run_screens(&request);
	else {
		if (request.options.interval_ms == 0)
			request.options.interval_ms = TDM_REFRESH_DEFAULT_MS;
		code = tdm_ticker_run(args->cmd, request.options.interval_ms * TDM_NS_PER_MS,
			request.once ? 1 : request.options.frames, make_frame, &request);
	}
	tdm_ledgers_done(&request.seen);
	return code;
}

static const struct tdm_opt top_opts[] = {
	{ "refresh", 'r', "MS", "refresh every MS milliseconds, at least 100 (default: 1000, or the saved setting)",
		TDM_TAKE_U32(struct request, options.interval_ms, TDM_REFRESH_MIN_MS, TDM_REFRESH_MAX_MS) },
	{ TDM_OPT_DEVICE(struct request, options.pick.device) },
	{ TDM_OPT_PID(struct request, pids) },
	{ "frames", 'n', "N", "exit after N refreshes", TDM_TAKE_U32(struct request, options.frames, 1, 0) },
	{ "once", '1', NULL, "print one plain frame and exit, even on a terminal",
		TDM_TAKE_FLAG(struct request, once) },
	{ TDM_OPT_ASCII(struct request, options.ascii) },
	{ TDM_OPT_NO_COLOR(struct request, options.no_colour) },
	{ "no-mouse", 0, NULL, "leave the mouse to the terminal", TDM_TAKE_FLAG(struct request, options.no_mouse) },
	{ "no-config", 0, NULL,
		"neither read nor write the settings file, tidemark/top.conf in $XDG_CONFIG_HOME or ~/.config",
		TDM_TAKE_FLAG(struct request, no_config) },
	{ TDM_OPT_CONNECT(struct request, connect) },
	{ TDM_OPT_TOKEN_FILE(struct request, connect) },
	{ TDM_OPT_TIMEOUT(struct request, connect) },
	{ "read-only", 0, NULL, "never send a signal to a process", TDM_TAKE_FLAG(struct request, options.read_only) },
	{ 0 },
};

static const struct tdm_help_row top_examples[] = {
	{ "tidemark top", "watch all devices, full-screen" },
	{ "tidemark top -r 500 | tee memory.log", "plain frames, also to a file" },
	{ "tidemark top -r 500 | grep -A 5 \"Allocated.*[89][0-9]%\"", "regions that are at least 80 % full" },
	{ "tidemark top --once", "a single plain frame" },
	{ "tidemark top --connect lab-1,lab-2:9741", "watch two other machines through their daemons" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_top = {
	.name = "top",
	.summary = "watch the memory of all devices and the processes that hold it, live",
	.usage = "[-r MS] [-d DEV] [-p PID]... [-n N] [--once] [--ascii] [--no-color] [--no-mouse] "
		 "[--no-config] [--read-only] [--connect HOST[:PORT],...]",
	.description = "Shows the memory of every device by kind, and the processes that hold it. The figures come "
		       "from programs that use libtidemark, from tt-metal's shared memory, and from the driver. You "
		       "do not have to start anything first, and no program is disturbed.\n\nOn a terminal, the "
		       "command uses the whole screen; '?' lists the keys, and your settings are saved. Otherwise, "
		       "it prints a plain frame for each refresh until its reader closes the pipe or you interrupt "
		       "it. In a frame, the share of every region appears after its name and after 'Allocated', "
		       "rounded down and limited to '99.9%+' and '99%+'. A search for two digits that begin with 8 "
		       "or 9 therefore finds exactly the regions that are at least 80 % full.\n\nFigures without a "
		       "source are shown as unknown, with the reason.\n\nThe exit code is 2 if a named device or "
		       "process does not exist at the start. A device or process that disappears later may come "
		       "back; until then, the frames say so. On the full screen, a process that was killed or has "
		       "crashed remains in the list for as long as its ledger exists; Enter shows its post-mortem.",
	.opts = top_opts,
	.only_options = true,
	.examples = top_examples,
	.run = cmd_top_run,
};
