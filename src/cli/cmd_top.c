/* `tidemark top`: the live monitor, full-screen or as plain frames. */
#include "base/clock.h"
#include "base/err.h"
#include "cli/cmd_list.h"
#include "cli/connect.h"
#include "cli/options.h"
#include "cli/ticker.h"
#include "state/state.h"
#include "report/stack_report.h"
#include "report/top_frame.h"
#include "tui/settings.h"
#include "tui/tui.h"

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
	struct tdm_state *state; /* of this machine; NULL: others are shown */
	struct tdm_fleet *fleet;
	struct tdm_provider provider;
};

enum { NAMED_MAX = 8 };

/* The functions of the processes that were looked at last. */
struct names {
	struct named {
		struct tdm_symbolizer *symbols;
		uint64_t handle; /* of their process */
		size_t module_count;
	} of[NAMED_MAX];
	size_t next; /* the next one to replace */
};

/* A process is in many pictures; its symbols are loaded again only when it has more modules. */
static struct tdm_symbolizer *symbols_of(struct names *names, const struct tdm_picture *picture, uint32_t index)
{
	const struct tdm_picture_process *process = &picture->processes[index];
	size_t at = 0;
	while (at < NAMED_MAX && names->of[at].handle != process->handle)
		at++;
	if (at == NAMED_MAX)
		at = names->next++ % NAMED_MAX;
	struct named *named = &names->of[at];
	if (named->symbols != NULL && named->handle == process->handle && named->module_count == process->module_count)
		return named->symbols;
	tdm_symbolizer_free(named->symbols);
	*named = (struct named){ tdm_stack_symbolizer(picture, index), process->handle, process->module_count };
	return named->symbols;
}

static void provide_place(void *names, const struct tdm_picture *picture, uint32_t process, uint32_t stack,
	bool with_callers, char *dst, size_t cap)
{
	struct tdm_symbolizer *symbols = symbols_of(names, picture, process);
	struct tdm_buf text;
	tdm_buf_init(&text);
	if (with_callers)
		tdm_stack_trail(picture, symbols, stack, false, &text);
	else
		tdm_stack_site(picture, symbols, stack, false, &text);
	if (!tdm_buf_failed(&text))
		snprintf(dst, cap, "%.*s", TDM_STR_ARG(tdm_buf_str(&text)));
	tdm_buf_done(&text);
}

static int run_screens(const struct request *request)
{
	struct names names = { 0 };
	struct tdm_provider provider = request->provider;
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
	char *settings = request->no_config ? NULL : tdm_settings_path();
	options.settings = settings;
	int err = tdm_tui_run(&provider, &options, &diag);
	char remark[PATH_MAX + TDM_DIAG_TEXT_CAP];
	if (err == 0 && diag.text[0] != '\0')
		tdm_cmd_say("tidemark top: %s", tdm_diag_format(&diag, remark, sizeof remark));
	free(settings);
	for (size_t i = 0; i < NAMED_MAX; i++)
		tdm_symbolizer_free(names.of[i].symbols);
	if (err == 0)
		return TDM_EXIT_OK;
	return tdm_cmd_error(request->cmd, "%s", diag.text[0] != '\0' ? diag.text : tdm_err_text(err));
}

static int make_frame(void *context, bool is_first, struct tdm_buf *out)
{
	const struct request *request = context;
	const struct tdm_picture *picture = request->provider.look(request->provider.state, NULL);
	if (picture == NULL)
		return tdm_cmd_error(request->cmd, "out of memory");
	/* One that vanishes later may come back. */
	int code = is_first ? tdm_check_pick(request->cmd, &request->options.pick, picture) : 0;
	if (code != 0)
		return code;
	const struct tdm_top_frame frame = { .picture = picture,
		.pick = request->options.pick,
		.term = tdm_cmd_term(request->options.ascii, request->options.no_colour),
		.interval_ms = request->once ? 0 : request->options.interval_ms };
	tdm_top_frame(&frame, out);
	return 0;
}

/* 0, or the exit code after a message. */
static int open_pictures(struct request *request, bool is_full)
{
	const struct tdm_state_options options = { .once = request->once, .with_crashed = is_full };
	const struct tdm_fleet_options fleet = { .with_crashed = is_full };
	if (request->connect.hosts != NULL) {
		int code = tdm_connect_open(request->cmd, &request->connect, fleet, &request->fleet);
		if (code == 0)
			request->provider = tdm_fleet_provider(request->fleet);
		request->options.read_only = true; /* its pids are those of other machines */
		return code;
	}
	request->state = tdm_state_new(&options);
	if (request->state == NULL)
		return tdm_cmd_error(request->cmd, "out of memory");
	request->provider = tdm_state_provider(request->state);
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
	code = open_pictures(&request, is_full);
	if (code != 0)
		return code;
	if (is_full)
		code = run_screens(&request);
	else {
		if (request.options.interval_ms == 0)
			request.options.interval_ms = TDM_REFRESH_DEFAULT_MS;
		code = tdm_ticker_run(args->cmd, request.options.interval_ms * TDM_NS_PER_MS,
			request.once ? 1 : request.options.frames, make_frame, &request);
	}
	tdm_state_free(request.state);
	tdm_fleet_free(request.fleet);
	return code;
}

static const struct tdm_opt top_opts[] = {
	{ "refresh", 'r', "MS",
		"refresh every MS milliseconds, at least 100 (default: 1000, or what was set in the full screen)",
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
		"neither read nor write the file of settings, tidemark/top.conf in $XDG_CONFIG_HOME or ~/.config",
		TDM_TAKE_FLAG(struct request, no_config) },
	{ TDM_OPT_CONNECT(struct request, connect) },
	{ TDM_OPT_TOKEN_FILE(struct request, connect) },
	{ TDM_OPT_TIMEOUT(struct request, connect) },
	{ "read-only", 0, NULL, "never send a signal to a process", TDM_TAKE_FLAG(struct request, options.read_only) },
	{ 0 },
};

static const struct tdm_example top_examples[] = {
	{ "tidemark top", "watch all devices, full-screen" },
	{ "tidemark top -r 500 | tee memory.log", "plain frames, also to a file" },
	{ "tidemark top -r 500 | grep -A 5 \"Allocated.*[89][0-9]%\"", "regions that are at least 80 % full" },
	{ "tidemark top --once", "a single plain frame" },
	{ "tidemark top --connect lab-1,lab-2:9741", "watch two other machines, whose daemons listen there" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_top = {
	.name = "top",
	.summary = "watch the memory of all devices and who holds it, live",
	.usage = "[-r MS] [-d DEV] [-p PID]... [-n N] [--once] [--ascii] [--no-color] [--no-mouse] "
		 "[--no-config] [--read-only] [--connect HOST[:PORT],...]",
	.description =
		"Shows the memory of every device by kind, and the processes that hold it, from the reports of "
		"programs with libtidemark, from tt-metal's shared memory, and from the driver. Nothing has to be "
		"started first, and no program is disturbed.\n"
		"\n"
		"On a terminal it takes the whole screen; '?' lists the keys, and what you set there is kept for the "
		"next time. Otherwise it prints a plain frame for "
		"each refresh, until its reader leaves or it is interrupted. In a frame every region has its share "
		"after its name and after 'Allocated', rounded down and limited to '99.9%+' and '99%+'. So a search "
		"for two digits that begin with 8 or 9 finds exactly the regions that are at least 80 % full.\n"
		"\n"
		"Figures that no source knows are shown as unknown, with the reason.\n"
		"\n"
		"Exits with 2 if a device or a process was named that is not there at the start. One that vanishes "
		"later is waited for, and the frames say so. On the full screen, a process that was killed or has "
		"crashed stays in the list for as long as its ledger does; Enter shows what it left.",
	.opts = top_opts,
	.only_options = true,
	.examples = top_examples,
	.run = cmd_top_run,
};
