#include "cli/inputs/ledgers.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/number.h"
#include "base/term.h"
#include "ledger/read/ledger_list.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

int tdm_ledgers_open(const struct tdm_cmd *cmd, struct tdm_state_options options, struct tdm_ledgers *ledgers)
{
	options.only_ledgers = options.with_ended = true;
	return tdm_pictures_open(cmd, NULL, options, ledgers);
}

int tdm_ledgers_connect(const struct tdm_cmd *cmd, const struct tdm_connect *connect, const struct tdm_pids *pids,
	struct tdm_ledgers *ledgers)
{
	const struct tdm_state_options options = {
		.only_ledgers = true, .with_ended = true, .pids = pids->list, .pid_count = pids->count
	};
	return tdm_pictures_open(cmd, connect, options, ledgers);
}

/* The location of the ledgers, for use in messages. */
static const char *place_of(const struct tdm_ledgers *ledgers)
{
	return ledgers->state != NULL ? tdm_state_ledger_dir(ledgers->state) : "what these machines show";
}

int tdm_ledgers_look(const struct tdm_cmd *cmd, struct tdm_ledgers *ledgers, unsigned more_parts)
{
	const struct tdm_wish wish = { .parts = TDM_WISH_BUFFERS | more_parts, .no_largest = true };
	ledgers->picture = ledgers->provider.look(ledgers->provider.state, &wish);
	int err = ledgers->picture->ledgers_err;
	if (err != 0 && err != -EOVERFLOW)
		return tdm_cmd_error(cmd, "cannot list %s: %s", place_of(ledgers), tdm_err_text(err));
	return 0;
}

int tdm_ledgers_check(const struct tdm_cmd *cmd, const struct tdm_ledgers *ledgers, const struct tdm_pids *pids,
	const struct tdm_buffer_filter *filter)
{
	const struct tdm_picture *picture = ledgers->picture;
	const struct tdm_pick pick = { .pids = pids->list, .pid_count = pids->count };
	int32_t missing = tdm_pick_missing(&pick, picture);
	if (missing != 0)
		return tdm_cmd_error(
			cmd, "no ledger of process %" PRId32 " can be read in %s", missing, place_of(ledgers));
	for (size_t i = 0; filter->has_device && i < picture->holding_count; i++)
		if (picture->holdings[i].number == filter->device)
			return 0;
	if (filter->has_device)
		return tdm_cmd_error(cmd, "no process that can be read uses device %" PRIu32, filter->device);
	return 0;
}

void tdm_ledgers_report(const struct tdm_ledgers *ledgers, bool ascii, struct tdm_live_report *report)
{
	report->dir = place_of(ledgers);
	report->picture = ledgers->picture;
	report->term = tdm_cmd_term(ascii, false);
}

void tdm_ledgers_done(struct tdm_ledgers *ledgers)
{
	tdm_state_free(ledgers->state);
	tdm_fleet_free(ledgers->fleet);
	*ledgers = (struct tdm_ledgers){ 0 };
}

/* ---- other machines ---- */

enum { TOKEN_MAX = 4096, TIMEOUT_MAX_MS = 3600000 };

int tdm_pictures_open(const struct tdm_cmd *cmd, const struct tdm_connect *connect, struct tdm_state_options options,
	struct tdm_ledgers *pictures)
{
	*pictures = (struct tdm_ledgers){ 0 };
	if (connect == NULL || connect->hosts == NULL) {
		pictures->state = tdm_state_new(&options);
		pictures->provider = tdm_state_provider(pictures->state);
		return 0;
	}
	struct tdm_diag diag = { 0 };
	struct tdm_buf token = { 0 };
	int code = 0, err = 0;
	const char *path = connect->token_file, *variable = getenv("TIDEMARK_TOKEN");
	if (path != NULL)
		err = tdm_file_read(path, TOKEN_MAX, &token);
	else
		tdm_buf_puts(&token, variable != NULL ? variable : "");
	while (token.len != 0 && (token.data[token.len - 1] == '\n' || token.data[token.len - 1] == '\r'))
		token.data[--token.len] = '\0';
	/* The token becomes part of a header, so it must not contain blanks or control characters. */
	bool is_word = token.len != 0 || path == NULL;
	for (size_t i = 0; i < token.len; i++)
		is_word &= token.data[i] > ' ' && token.data[i] <= '~';
	if (err != 0)
		code = tdm_cmd_error(cmd, "cannot read '%s': %s", path, tdm_err_text(err));
	else if (!is_word && path != NULL)
		code = tdm_cmd_error(cmd, "'%s' holds no token: one word is expected", path);
	else if (!is_word)
		code = tdm_cmd_error(cmd, "TIDEMARK_TOKEN holds no token: one word is expected");
	const struct tdm_fleet_options fleet = { .only_tracked = options.only_ledgers,
		.with_ended = options.with_ended,
		.with_crashed = options.with_crashed,
		.pids = options.pids,
		.pid_count = options.pid_count,
		.hosts = connect->hosts,
		.token = token.len != 0 ? token.data : NULL,
		.timeout_ms = (unsigned)tdm_min(connect->timeout_ns / TDM_NS_PER_MS, TIMEOUT_MAX_MS) };
	if (code == 0 && tdm_fleet_new(&fleet, &pictures->fleet, &diag) != 0)
		code = tdm_cmd_usage_error(cmd, "--connect: %s", diag.text);
	if (code == 0)
		pictures->provider = tdm_fleet_provider(pictures->fleet);
	tdm_buf_done(&token);
	return code;
}

/* ---- pictures for the leak analyser ---- */

enum { INTERVAL_MS = 200, PICTURES_MIN = 32 };

uint64_t tdm_leak_interval(uint64_t watch_ns)
{
	return tdm_min(INTERVAL_MS * TDM_NS_PER_MS, watch_ns / PICTURES_MIN);
}

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	interrupted = signal;
}

/* Takes a picture, and passes it to the analyser together with the time just before it was taken. */
static int take_picture(const struct tdm_cmd *cmd, struct tdm_leaks *leaks, struct tdm_ledgers *ledgers)
{
	uint64_t before_ns = tdm_clock_ns();
	int code = tdm_ledgers_look(cmd, ledgers, TDM_WISH_EVENTS);
	if (ledgers->fleet != NULL) /* other machines took their pictures before the answer arrived */
		before_ns = tdm_fleet_since(ledgers->fleet);
	if (code == 0)
		tdm_leaks_sample(leaks, ledgers->picture, before_ns);
	return code;
}

int tdm_leak_pictures(const struct tdm_cmd *cmd, struct tdm_leaks *leaks, struct tdm_ledgers *ledgers,
	uint64_t watch_ns, uint64_t interval_ns)
{
	struct tdm_progress progress;
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND }, before;
	uint64_t begin = tdm_clock_ns(), end = tdm_plus(begin, watch_ns), next = begin;
	int code = 0;
	if (watch_ns == 0)
		return take_picture(cmd, leaks, ledgers);
	/* An interrupt ends the watch, keeping the pictures taken so far. */
	sigaction(SIGINT, &action, &before);
	tdm_progress_begin(&progress, "watching", watch_ns);
	for (;;) {
		uint64_t start = tdm_clock_ns();
		code = take_picture(cmd, leaks, ledgers);
		uint64_t now = tdm_clock_ns();
		tdm_progress_update(&progress, now - begin);
		if (code != 0 || start >= end || interrupted != 0)
			break;
		/* Taking pictures uses at most half of the time. */
		next = tdm_max(next + interval_ns, now + (now - start));
		uint64_t until = tdm_min(next, end);
		const struct timespec at = { .tv_sec = (time_t)(until / TDM_NS_PER_S),
			.tv_nsec = (long)(until % TDM_NS_PER_S) };
		while (interrupted == 0 && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
			;
	}
	tdm_progress_end(&progress);
	sigaction(SIGINT, &before, NULL);
	return code;
}
