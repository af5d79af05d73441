#include "base/err.h"
#include "base/file.h"
#include "base/progress.h"
#include "cli/cmd.h"
#include "cli/cmd_list.h"
#include "cli/info_format.h"
#include "cli/picture.h"
#include "sources/ledger_phases.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPT_JSON, OPT_LIMIT, OPT_CHART, OPT_OUTPUT, OPT_TITLE, OPT_SIZE, OPT_SCALE, OPT_ASCII };

enum { LIMIT_DEFAULT = 10 };

struct info {
	bool json, ascii;
	size_t limit;
	struct tdm_info_picture picture;
};

static int take_picture(const struct tdm_cmd *cmd, int option, const char *value, struct tdm_info_picture *picture)
{
	switch (option) {
	case OPT_CHART:
		return tdm_info_chart_parse(value, &picture->chart) != 0
			       ? tdm_cmd_usage_error(cmd, "--chart '%s': expected dram, l1 or cores", value)
			       : 0;
	case OPT_OUTPUT:
		picture->path = value;
		return tdm_picture_check_path(cmd, value);
	case OPT_TITLE:
		picture->title = value;
		return 0;
	case OPT_SIZE:
		return tdm_picture_take_size(cmd, value, &picture->size);
	default:
		return tdm_picture_take_scale(cmd, value, &picture->size);
	}
}

/* Options that only make sense together. */
static int check_picture(const struct tdm_args *args, const struct info *info)
{
	const struct tdm_info_picture *picture = &info->picture;
	if (picture->chart == TDM_INFO_CHART_NONE)
		return picture->path != NULL ? tdm_cmd_usage_error(args->cmd,
						       "--output is for a chart: which? --chart dram, l1 or cores")
					     : 0;
	if (picture->path != NULL && args->positional_count > 1)
		return tdm_cmd_usage_error(args->cmd, "--output takes the chart of one file");
	if (picture->path == NULL && info->json)
		return tdm_cmd_usage_error(args->cmd, "--chart with --json needs --output FILE");
	return 0;
}

static int read_options(struct tdm_args *args, struct info *info)
{
	const char *value = NULL;
	int option;
	uint64_t limit;
	while ((option = tdm_args_next(args, &value)) >= 0) {
		switch (option) {
		case OPT_JSON:
			info->json = true;
			break;
		case OPT_ASCII:
			info->ascii = true;
			break;
		case OPT_LIMIT:
			if (tdm_str_parse_u64(tdm_str_of(value), &limit) != 0 || limit > SIZE_MAX)
				return tdm_cmd_usage_error(args->cmd, "--limit: expected a number, got '%s'", value);
			info->limit = limit != 0 ? (size_t)limit : SIZE_MAX;
			break;
		default: {
			int err = take_picture(args->cmd, option, value, &info->picture);
			if (err != 0)
				return err;
			break;
		}
		}
	}
	if (option == TDM_ARGS_ERROR)
		return TDM_EXIT_USAGE;
	if (args->positional_count == 0)
		return tdm_cmd_usage_error(args->cmd, "which file? - is standard input");
	return check_picture(args, info);
}

/* The bytes at the beginning of a file, or -errno. */
static ssize_t look(int fd, char *head)
{
	size_t len = 0;
	ssize_t got = 0;
	while (len < TDM_INFO_HEAD && (got = read(fd, head + len, TDM_INFO_HEAD - len)) > 0)
		len += (size_t)got;
	return got < 0 ? -errno : (ssize_t)len;
}

/* An open file without a name in the user's folder for such files, or -errno. */
static int open_unnamed(const char *folder)
{
	char name[PATH_MAX];
	int len = snprintf(name, sizeof name, "%s/tidemark-XXXXXX", folder);
	if (len < 0 || (size_t)len >= sizeof name)
		return -ENAMETOOLONG;
	int fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}

/* All of a pipe, `head` before what it still has, into a file. Gives the bytes, or -errno. */
static int64_t copy_pipe(int pipe, const char *head, size_t len, int file)
{
	char piece[1 << 16];
	struct tdm_progress progress;
	uint64_t bytes = len;
	ssize_t got = 0;
	int err = tdm_file_write_all(file, head, len);
	tdm_progress_begin(&progress, "copying", 0);
	while (err == 0 && (got = read(pipe, piece, sizeof piece)) > 0) {
		err = tdm_file_write_all(file, piece, (size_t)got);
		bytes += (uint64_t)got;
		tdm_progress_update(&progress, bytes);
	}
	if (err == 0 && (got < 0 || lseek(file, 0, SEEK_SET) != 0))
		err = -errno;
	tdm_progress_end(&progress);
	return err != 0 ? err : (int64_t)bytes;
}

/*
 * Back to the beginning, behind which `head` was read. A pipe cannot go back: it is copied into a temporary file, so
 * that every format can read it as it likes. 0, or a negative code with *reason set; *fd may be another one then, which
 * is the caller's.
 */
static int go_back(int *fd, const char *head, size_t len, char *reason, size_t cap)
{
	const char *folder = getenv("TMPDIR");
	if (lseek(*fd, 0, SEEK_SET) == 0)
		return 0;
	if (folder == NULL || folder[0] == '\0')
		folder = "/tmp";
	int copy = open_unnamed(folder);
	int64_t bytes = copy < 0 ? copy : copy_pipe(*fd, head, len, copy);
	if (bytes < 0) {
		snprintf(reason, cap, "a pipe, which cannot be copied to %.100s: %s; save it in a file first", folder,
			tdm_err_text((int)bytes));
		if (copy >= 0)
			close(copy);
		return (int)bytes;
	}
	*fd = copy;
	return 0;
}

/* By the first bytes; a mark of UTF-8 before them says nothing. */
static const struct tdm_info_format *detect(const char *head, size_t len, const char *path)
{
	static const char mark[] = "\xef\xbb\xbf";
	if (len >= sizeof mark - 1 && memcmp(head, mark, sizeof mark - 1) == 0) {
		head += sizeof mark - 1;
		len -= sizeof mark - 1;
	}
	for (size_t i = 0; tdm_info_formats[i] != NULL; i++)
		if (tdm_info_formats[i]->detect(head, len, path))
			return tdm_info_formats[i];
	return NULL;
}

static void put_known(struct tdm_buf *out)
{
	for (size_t i = 0; tdm_info_formats[i] != NULL; i++)
		tdm_buf_printf(out, "%s%s", i == 0 ? "" : ", ", tdm_info_formats[i]->summary);
}

/* Says why a file cannot be shown. */
static int refuse(const struct tdm_info_request *request, const char *reason)
{
	fprintf(stderr, "%s: %s\n", request->path, reason);
	if (request->json != NULL) {
		tdm_json_put_text(request->json, "format", NULL);
		tdm_json_put_text(request->json, "error", reason);
	}
	return 1;
}

static int show_as(struct tdm_info_request *request, const struct tdm_info_format *format)
{
	if (request->json != NULL)
		tdm_json_put_text(request->json, "format", format->name);
	if (request->picture.chart != TDM_INFO_CHART_NONE && !format->has_charts) {
		fprintf(stderr, "%s: charts are drawn of graph captures, this is a %s\n", request->path,
			format->summary);
		return 1;
	}
	return format->run(request);
}

static int show_folder(struct tdm_info_request *request)
{
	for (size_t i = 0; tdm_info_formats[i] != NULL; i++)
		if (tdm_info_formats[i]->takes_folders)
			return show_as(request, tdm_info_formats[i]);
	return refuse(request, "a folder");
}

static int show_fd(struct tdm_info_request *request)
{
	char head[TDM_INFO_HEAD], reason[256];
	struct stat st;
	if (fstat(request->fd, &st) == 0 && S_ISDIR(st.st_mode))
		return show_folder(request);
	ssize_t len = look(request->fd, head);
	if (len < 0) {
		snprintf(reason, sizeof reason, "cannot be read: %s", tdm_err_text((int)len));
		return refuse(request, reason);
	}
	if (len == 0)
		return refuse(request, "the file is empty");
	if (tdm_str_is_utf16((struct tdm_str){ head, (size_t)len }))
		return refuse(request, "UTF-16, which is not read; convert it first: iconv -f UTF-16 -t UTF-8");
	const struct tdm_info_format *format = detect(head, (size_t)len, request->path);
	if (format == NULL && tdm_ledger_phases_is_ledger(request->path))
		return refuse(request, "a ledger: tidemark dump, status and phases read it");
	if (format == NULL) {
		struct tdm_buf text;
		tdm_buf_init(&text);
		tdm_buf_puts(&text, "not a kind of file that is known here (");
		put_known(&text);
		tdm_buf_putc(&text, ')');
		refuse(request, tdm_buf_failed(&text) ? "not a kind of file that is known here" : text.data);
		tdm_buf_done(&text);
		return 1;
	}
	/* only now: what is not known may have no end */
	if (go_back(&request->fd, head, (size_t)len, reason, sizeof reason) != 0)
		return refuse(request, reason);
	if (fstat(request->fd, &st) == 0 && S_ISREG(st.st_mode))
		request->bytes = (uint64_t)st.st_size;
	return show_as(request, format);
}

static int show_file(struct tdm_info_request *request, const char *path)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int failed;
	request->path = is_stdin ? "standard input" : path;
	request->fd = fd;
	request->bytes = 0;
	if (request->json != NULL) {
		tdm_json_object(request->json);
		tdm_json_put_text(request->json, "file", request->path);
	}
	if (fd < 0) {
		char reason[256];
		snprintf(reason, sizeof reason, "cannot be read: %s", tdm_err_text(-errno));
		failed = refuse(request, reason);
	} else {
		failed = show_fd(request);
	}
	if (request->json != NULL)
		tdm_json_object_end(request->json);
	if (request->fd >= 0 && request->fd != fd)
		close(request->fd);
	if (fd >= 0 && !is_stdin)
		close(fd);
	return failed;
}

static int cmd_info_run(struct tdm_args *args)
{
	struct info info = { .limit = LIMIT_DEFAULT };
	struct tdm_buf out;
	struct tdm_json json;
	bool failed = false;
	int err = read_options(args, &info);
	if (err != 0)
		return err;
	tdm_buf_init(&out);
	tdm_json_init(&json, &out);
	struct tdm_info_request request = {
		.cmd = args->cmd,
		.limit = info.limit,
		.term = tdm_term_detect(STDOUT_FILENO),
		.json = info.json ? &json : NULL,
		.out = &out,
		.picture = info.picture,
	};
	request.term.utf8 = request.term.utf8 && !info.ascii;
	if (info.json) {
		tdm_json_envelope(&json, "tidemark.info");
		tdm_json_put_array(&json, "info");
	}
	for (int i = 0; i < args->positional_count; i++) {
		failed = show_file(&request, args->positional[i]) != 0 || failed;
		if (info.json || out.len == 0)
			continue;
		if (i + 1 < args->positional_count)
			tdm_buf_putc(&out, '\n');
		failed = tdm_cmd_print(args->cmd, &out, 0) != 0 || failed;
		fflush(stdout); /* what the next file has to say on standard error comes behind it */
		tdm_buf_clear(&out);
	}
	if (info.json) {
		tdm_json_array_end(&json);
		tdm_json_object_end(&json);
	}
	int code = tdm_cmd_print(args->cmd, &out, failed ? TDM_EXIT_USAGE : TDM_EXIT_OK);
	tdm_buf_done(&out);
	return code;
}

static const struct tdm_opt info_opts[] = {
	[OPT_JSON] = { "json", 'j', NULL, "print as JSON, sizes in bytes" },
	[OPT_LIMIT] = { "limit", 'n', "N", "rows of each table; 0 shows all, 10 are shown without it" },
	[OPT_CHART] = { "chart", 0, "dram|l1|cores",
		"of a graph capture draw DRAM or L1 of a core over its nodes, or L1 core by core at the peak" },
	[OPT_OUTPUT] = { "output", 'o', "FILE", "file for the chart; its name ends in .png, .svg or .pdf" },
	[OPT_TITLE] = { "title", 't', "TEXT", "title of the chart" },
	[OPT_SIZE] = { "size", 0, "WIDTHxHEIGHT", "size of the chart in pixels, 1200x675 by default" },
	[OPT_SCALE] = { "scale", 0, "NUMBER", "scale of the chart: 2 for screens of twice the resolution" },
	[OPT_ASCII] = { "ascii", 0, NULL, "draw with ASCII characters only" },
	{ NULL, 0, NULL, NULL },
};

static const struct tdm_example info_examples[] = {
	{ "tidemark info capture.json", "peaks, what was alive at them, and which operations used most" },
	{ "tidemark info --chart cores -o cores.png capture.json", "a picture of L1 core by core at its peak" },
	{ "tidemark info --json *.json", "the same of several files, for scripts" },
	{ "tidemark info generated/reports/*.csv", "regions, fragmentation and what splits free space" },
	{ "tidemark info ~/.cache/tt-metal-cache", "code size by processor and kernel" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_info = {
	.name = "info",
	.summary = "what a file says about memory: captures, reports, logs, kernels",
	.usage = "[--json] [--limit N] FILE...\n"
		 "--chart dram|l1|cores [-o FILE] CAPTURE...",
	.description =
		"Finds out what a file is and sums it up. Known are graph captures of the runtime (ttnn graph "
		"tracing), of every generation; the three files of its memory reporter; performance reports of "
		"operations (ops_perf_results), for what circular buffers cost; the inspector's log of mesh buffers "
		"and its list of kernels; compiled kernels, a file or a folder of the runtime's cache; lines such as "
		"'Core (0,1): CB0=1024KB' in any log; and logs, those of training runs by phase as 'tidemark phases' "
		"shows them, others as 'tidemark log' does.\n"
		"\n"
		"Of a graph capture it shows two sets of figures: those that the runtime's own functions compute, "
		"to the byte, and those that are right: for each device on its own, the most of any one core, views "
		"without bytes of their own, peaks of the sum at one moment. Where they differ it says why, in "
		"bytes.\n"
		"\n"
		"What cannot be used is named on standard error, with node and byte; the rest goes on. The exit code "
		"is 2 when there was anything of that kind.",
	.opts = info_opts,
	.examples = info_examples,
	.run = cmd_info_run,
};
