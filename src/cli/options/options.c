#include "cli/options/options.h"
#include "analyze/live/live_buffers.h"
#include "base/clock.h"
#include "base/units.h"
#include "view/chart/plot.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int refuse(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, const char *expected)
{
	return tdm_cmd_usage_error(cmd, "--%s '%s': expected %s", opt->name, value, expected);
}

int tdm_take_flag(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	(void)cmd, (void)opt, (void)value;
	*(bool *)to = true;
	return 0;
}

int tdm_take_text(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	(void)cmd, (void)opt;
	*(const char **)to = value;
	return 0;
}

static int refuse_more(const struct tdm_cmd *cmd, const struct tdm_opt *opt)
{
	return tdm_cmd_usage_error(cmd, "at most %d --%s options", TDM_LIST_MAX, opt->name);
}

int tdm_take_texts(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	struct tdm_texts *texts = to;
	if (texts->count == TDM_LIST_MAX)
		return refuse_more(cmd, opt);
	texts->list[texts->count++] = value;
	return 0;
}

/* Refuses a number with a message such as "a number of rows from 1 to 9"; "rows" is the value's name in the help. */
static int refuse_number(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value)
{
	char noun[32] = "", range[64] = "";
	for (size_t i = 0; strlen(opt->arg) > 1 && opt->arg[i] != '\0' && i + 1 < sizeof noun; i++)
		noun[i] = (char)tolower((unsigned char)opt->arg[i]);
	if (opt->max != 0)
		snprintf(range, sizeof range, " from %" PRIu64 " to %" PRIu64, opt->min, opt->max);
	else if (opt->min != 0)
		snprintf(range, sizeof range, ", %" PRIu64 " or more", opt->min);
	if (strcmp(noun, "port") == 0)
		return tdm_cmd_usage_error(cmd, "--%s '%s': expected a port%s", opt->name, value, range);
	return tdm_cmd_usage_error(cmd, "--%s '%s': expected a number%s%s%s", opt->name, value,
		noun[0] != '\0' ? " of " : "", strcmp(noun, "ms") == 0 ? "milliseconds" : noun, range);
}

int tdm_take_number(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	uint64_t *number = to;
	bool is_good = tdm_str_parse_u64(tdm_str_of(value), number) == 0 && *number >= opt->min &&
		       (opt->max == 0 || *number <= opt->max);
	return is_good ? 0 : refuse_number(cmd, opt, value);
}

int tdm_take_u32(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	uint64_t number = 0;
	int code = tdm_take_number(cmd, opt, value, &number);
	if (code == 0 && number > UINT32_MAX)
		code = refuse_number(cmd, opt, value);
	*(uint32_t *)to = (uint32_t)number;
	return code;
}

/* Takes a size, or a number of bytes as programs print it: 1.2e10, 1938739200.0. */
int tdm_take_bytes(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	char *end;
	if (tdm_parse_bytes(tdm_str_of(value), to, NULL) == 0)
		return 0;
	double number = strtod(value, &end);
	if (end == value || *end != '\0' || !(number >= 0) || number >= 0x1p63)
		return refuse(cmd, opt, value, "a size such as 4096, 64K or 1.5GiB");
	*(uint64_t *)to = (uint64_t)llround(number);
	return 0;
}

int tdm_take_duration(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	uint64_t *ns = to;
	if (tdm_parse_duration(tdm_str_of(value), ns) != 0 || *ns < TDM_NS_PER_MS)
		return refuse(cmd, opt, value, "a time of at least 1ms, such as 30s, 200ms or 5m");
	return 0;
}

/* Adds a word to "this, that or another". */
static void add_word(struct tdm_buf *words, struct tdm_str word, bool is_last)
{
	tdm_buf_printf(words, "%s%.*s", words->len == 0 ? "" : is_last ? " or " : ", ", TDM_STR_ARG(word));
}

static int refuse_words(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, struct tdm_buf *words)
{
	int code = refuse(cmd, opt, value, tdm_buf_str(words).ptr);
	tdm_buf_done(words);
	return code;
}

int tdm_take_choice(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	struct tdm_buf words = { 0 };
	unsigned place = 1;
	for (const char *at = opt->arg; *at != '\0'; place++) {
		struct tdm_str word = { at, strcspn(at, "|") };
		at += word.len + (at[word.len] == '|');
		add_word(&words, word, *at == '\0');
		if (!tdm_str_is(word, value))
			continue;
		*(unsigned *)to = place;
		tdm_buf_done(&words);
		return 0;
	}
	return refuse_words(cmd, opt, value, &words);
}

int tdm_take_pid(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	uint64_t number;
	if (tdm_str_parse_u64(tdm_str_of(value), &number) != 0 || number == 0 || number > INT32_MAX)
		return refuse(cmd, opt, value, "a process id");
	*(int32_t *)to = (int32_t)number;
	return 0;
}

int tdm_take_pids(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	struct tdm_pids *pids = to;
	if (pids->count == TDM_LIST_MAX)
		return refuse_more(cmd, opt);
	int code = tdm_take_pid(cmd, opt, value, &pids->list[pids->count]);
	pids->count += code == 0;
	return code;
}

int tdm_take_device(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	if (!tdm_pick_name_is_valid(value))
		return refuse(cmd, opt, value,
			"a number, /dev/tenstorrent/N, a PCI address, a chip id (0x...) or a '#N' of the list");
	*(const char **)to = value;
	return 0;
}

int tdm_take_device_number(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	struct tdm_buffer_filter *filter = to;
	uint64_t number;
	if (tdm_str_parse_u64(tdm_str_of(value), &number) != 0 || number > INT32_MAX)
		return refuse(cmd, opt, value, "a device number");
	filter->has_device = true;
	filter->device = (uint32_t)number;
	return 0;
}

int tdm_take_kind(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	struct tdm_buffer_filter *filter = to;
	struct tdm_buf words = { 0 };
	filter->has_kind = true;
	if (tdm_kind_parse(tdm_str_of(value), &filter->kind) == 0)
		return 0;
	for (int kind = 0; kind < TDM_KIND_COUNT; kind++)
		add_word(&words, tdm_str_of(tdm_kind_name((enum tdm_kind)kind)), kind + 1 == TDM_KIND_COUNT);
	return refuse_words(cmd, opt, value, &words);
}

/* Refuses an unknown file extension before any work is done. */
int tdm_take_chart_path(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	enum tdm_plot_format format;
	struct tdm_diag diag = { 0 };
	*(const char **)to = value;
	if (tdm_plot_format_of(value, &format, &diag) != 0)
		return tdm_cmd_usage_error(cmd, "--%s %s", opt->name, diag.text);
	return 0;
}

int tdm_take_chart_size(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	struct tdm_plot_options *options = to;
	char *end;
	options->width = strtod(value, &end);
	options->height = *end == 'x' ? strtod(end + 1, &end) : 0;
	if (*end != '\0' || !tdm_plot_is_side(options->width) || !tdm_plot_is_side(options->height))
		return tdm_cmd_usage_error(cmd, "--%s '%s': expected WIDTHxHEIGHT, each from %d to %d", opt->name,
			value, TDM_PLOT_SIDE_MIN, TDM_PLOT_SIDE_MAX);
	return 0;
}

int tdm_take_chart_scale(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	struct tdm_plot_options *options = to;
	char *end;
	options->scale = strtod(value, &end);
	if (*end != '\0' || !(options->scale >= 0.25 && options->scale <= 8))
		return refuse(cmd, opt, value, "a number from 0.25 to 8");
	return 0;
}

static bool has_device(const struct tdm_picture *picture, const char *name)
{
	for (size_t i = 0; i < picture->device_count; i++)
		if (tdm_pick_is(&picture->devices[i], name))
			return true;
	return false;
}

int tdm_check_pick(const struct tdm_cmd *cmd, const struct tdm_pick *pick, const struct tdm_picture *picture)
{
	int32_t pid = tdm_pick_missing(pick, picture);
	if (pick->device != NULL && picture->device_count == 0)
		return tdm_cmd_error(cmd,
			"no device '%s': no card and no tracked process is visible; see 'tidemark doctor'",
			pick->device);
	if (pick->device != NULL && !has_device(picture, pick->device))
		return tdm_cmd_error(cmd, "no device '%s' among the %zu that are visible; 'tidemark status' lists them",
			pick->device, picture->device_count - picture->board_count);
	if (pid != 0)
		return tdm_cmd_error(cmd,
			"no process %" PRId32 " is known to use a device; 'tidemark status' lists those that do", pid);
	return 0;
}

void tdm_chart_said(const struct tdm_cmd *cmd, const char *path)
{
	const char *fonts = tdm_plot_missing_fonts();
	if (fonts != NULL)
		tdm_cmd_say("tidemark %s: %s", cmd->name, fonts);
	tdm_cmd_say("tidemark %s: the chart is in %s", cmd->name, path);
}
