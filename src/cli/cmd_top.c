/* `tidemark top`: the live monitor, on the whole screen or as plain frames. */
#include "base/clock.h"
#include "base/err.h"
#include "cli/cmd_list.h"
#include "cli/live_options.h"
#include "cli/ticker.h"
#include "state/state.h"
#include "report/stack_report.h"
#include "report/top_frame.h"
#include "tui/tui.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum option {
	OPT_REFRESH,
	OPT_DEVICE,
	OPT_PID,
	OPT_FRAMES,
	OPT_ONCE,
	OPT_ASCII,
	OPT_NO_COLOR,
	OPT_READ_ONLY,
};

struct request {
	const struct tdm_cmd *cmd;
	struct tdm_tui_options options;
	bool once;
};

static int take_option(void *context, int option, const char *value)
{
	struct request *request = context;
	struct tdm_tui_options *options = &request->options;
	switch ((enum option)option) {
	case OPT_REFRESH:
		return tdm_take_refresh(request->cmd, value, &options->interval_ms);
	case OPT_DEVICE:
		return tdm_take_device(request->cmd, value, &options->device);
	case OPT_PID:
		return tdm_take_pid(request->cmd, value, &options->pid);
	case OPT_FRAMES:
		return tdm_take_turns(request->cmd, "frames", value, &options->frames);
	case OPT_ONCE:
		request->once = true;
		return 0;
	case OPT_ASCII:
		options->ascii = true;
		return 0;
	case OPT_NO_COLOR:
		options->no_colour = true;
		return 0;
	case OPT_READ_ONLY:
		options->read_only = true;
		return 0;
	}
	return TDM_EXIT_USAGE;
}

static int read_options(struct tdm_args *args, struct request *request)
{
	const char *refused = getenv("NO_COLOR");
	request->options.no_colour = refused != NULL && refused[0] != '\0';
	return tdm_args_only_options(args, take_option, request);
}

/* The provider of the screens: the live view, and the names of functions in the process that was looked at last. */
struct views {
	struct tdm_state *state;
	struct tdm_symbolizer *symbols;
	uint64_t handle; /* of the process that they are of */
	size_t module_count;
};

static const struct tdm_picture *provide(void *context, const struct tdm_wish *wish)
{
	struct views *views = context;
	return tdm_state_look(views->state, wish);
}

/* One process has many pictures; its modules are opened again only when there are more of them. */
static void follow_process(struct views *views, const struct tdm_picture *picture, uint32_t index)
{
	const struct tdm_picture_process *process = &picture->processes[index];
	if (views->symbols != NULL && process->handle == views->handle && process->module_count == views->module_count)
		return;
	tdm_symbolizer_free(views->symbols);
	views->symbols = tdm_stack_symbolizer(picture, index);
	views->handle = process->handle;
	views->module_count = process->module_count;
}

static void provide_place(void *context, const struct tdm_picture *picture, uint32_t process, uint32_t stack,
	bool with_callers, char *dst, size_t cap)
{
	struct views *views = context;
	struct tdm_buf text;
	follow_process(views, picture, process);
	tdm_buf_init(&text);
	if (with_callers)
		tdm_stack_trail(picture, views->symbols, stack, false, &text);
	else
		tdm_stack_site(picture, views->symbols, stack, false, &text);
	if (!tdm_buf_failed(&text))
		snprintf(dst, cap, "%.*s", TDM_STR_ARG(tdm_buf_str(&text)));
	tdm_buf_done(&text);
}

static int run_screens(const struct request *request, struct tdm_state *state)
{
	struct views views = { .state = state };
	const struct tdm_provider provider = { &views, provide, provide_place };
	struct tdm_diag diag = { 0 };
	int err = tdm_tui_run(&provider, &request->options, &diag);
	tdm_symbolizer_free(views.symbols);
	if (err == 0)
		return TDM_EXIT_OK;
	return tdm_cmd_error(request->cmd, "%s", diag.text[0] != '\0' ? diag.text : tdm_err_text(err));
}

/* One frame into `out`; false when memory ran out. */
static bool make_frame(const struct request *request, struct tdm_state *state, struct tdm_buf *out)
{
	const struct tdm_picture *picture = tdm_state_look(state, NULL);
	if (picture == NULL)
		return false;
	struct tdm_top_frame frame = { .picture = picture,
		.pick = { .device = request->options.device, .pid = request->options.pid },
		.term = tdm_term_detect(STDOUT_FILENO),
		.interval_ms = request->once ? 0 : request->options.interval_ms };
	frame.term.utf8 &= !request->options.ascii;
	frame.term.colour &= !request->options.no_colour;
	tdm_buf_clear(out);
	tdm_top_frame(&frame, out);
	return !tdm_buf_failed(out);
}

static int run_frames(const struct request *request, struct tdm_state *state)
{
	struct tdm_ticker ticker;
	struct tdm_buf out;
	bool made;
	int err = tdm_ticker_open(
		&ticker, request->options.interval_ms * TDM_NS_PER_MS, request->once ? 1 : request->options.frames);
	if (err != 0)
		return tdm_cmd_error(request->cmd, "%s", tdm_err_text(err));
	tdm_buf_init(&out);
	do
		made = make_frame(request, state, &out);
	while (made && tdm_ticker_write(&ticker, out.data, out.len) && tdm_ticker_wait(&ticker));
	tdm_buf_done(&out);
	tdm_ticker_close(&ticker);
	if (!made)
		return tdm_cmd_error(request->cmd, "out of memory");
	if (ticker.err != 0)
		return tdm_cmd_error(request->cmd, "cannot write to standard output: %s", tdm_err_text(ticker.err));
	return TDM_EXIT_OK;
}

static int cmd_top_run(struct tdm_args *args)
{
	struct request request = { .cmd = args->cmd, .options = { .interval_ms = TDM_REFRESH_DEFAULT_MS } };
	int code = read_options(args, &request);
	if (code != 0)
		return code;
	const struct tdm_state_options options = { .once = request.once };
	struct tdm_state *state = tdm_state_new(&options);
	if (state == NULL)
		return tdm_cmd_error(args->cmd, "out of memory");
	bool on_screen = !request.once && isatty(STDOUT_FILENO) == 1;
	code = on_screen ? run_screens(&request, state) : run_frames(&request, state);
	tdm_state_free(state);
	return code;
}

static const struct tdm_opt top_opts[] = {
	[OPT_REFRESH] = { "refresh", 'r', "MS", "refresh every MS milliseconds, at least 100 (default: 1000)" },
	[OPT_DEVICE] = { "device", 'd', "DEV",
		"only this device: its number, /dev/tenstorrent/N, PCI address, chip id, or #N of the list" },
	[OPT_PID] = { "pid", 'p', "PID", "only this process and the devices that it uses" },
	[OPT_FRAMES] = { "frames", 'n', "N", "end after N refreshes" },
	[OPT_ONCE] = { "once", '1', NULL, "print one plain frame and end, also on a terminal" },
	[OPT_ASCII] = { "ascii", 0, NULL, "draw with plain characters" },
	[OPT_NO_COLOR] = { "no-color", 'C', NULL, "no colour, as with NO_COLOR in the environment" },
	[OPT_READ_ONLY] = { "read-only", 0, NULL, "never send a signal to a process" },
	{ NULL, 0, NULL, NULL },
};

static const struct tdm_example top_examples[] = {
	{ "tidemark top", "watch all devices on the whole screen" },
	{ "tidemark top -r 500 | tee memory.log", "plain frames, to a file as well" },
	{ "tidemark top -r 500 | grep -A 5 \"Allocated.*[89][0-9]%\"", "regions that are full to 80 % or more" },
	{ "tidemark top --once", "a single plain frame" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_top = {
	.name = "top",
	.summary = "watch the memory of all devices and who holds it, live",
	.usage = "[-r MS] [-d DEV] [-p PID] [-n N] [--once] [--ascii] [--no-color] [--read-only]",
	.description =
		"Shows the memory of every device by kind, and the processes that hold it, from what programs with "
		"libtidemark report, from what tt-metal publishes in shared memory, and from the driver. Nothing has "
		"to be started before, and no program is disturbed.\n"
		"\n"
		"On a terminal it takes the whole screen; '?' there lists the keys. Elsewhere it prints a plain frame "
		"for each refresh, until its reader leaves or it is interrupted. In a frame every region has its share "
		"behind its name and behind 'Allocated', rounded down and cut at '99.9%+' and '99%+', so that a search "
		"for two digits that begin with 8 or 9 finds what is full to 80 % or more, and nothing else.\n"
		"\n"
		"What no source knows is called unknown, with the reason.",
	.opts = top_opts,
	.examples = top_examples,
	.run = cmd_top_run,
};
