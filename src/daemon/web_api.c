#include "daemon/web_api.h"
#include "base/err.h"
#include "base/file.h"
#include "report/live_report.h"
#include "report/picture_json.h"
#include "report/status_report.h"
#include "state/state.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { LIMIT_USUAL = 1000, LIMIT_MOST = 100000, NOBODY = 65534 };

/* Whether a word is in a text with blanks between words. */
static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);
	for (const char *at = words; len != 0 && (at = strstr(at, word)) != NULL; at += len)
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return true;
	return false;
}

static int parse_number(
	const struct tdm_argument *argument, uint64_t least, uint64_t most, uint64_t *value, struct tdm_diag *diag)
{
	if (tdm_str_parse_u64(tdm_str_of(argument->value), value) == 0 && *value >= least && *value <= most)
		return 0;
	if (most == 1)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "%s is 0 or 1", argument->name);
	return tdm_diag_set(
		diag, TDM_ESYNTAX, 0, 0, "%s is a number from %" PRIu64 " to %" PRIu64, argument->name, least, most);
}

static int parse_kind(const char *value, struct tdm_api_wish *wish, struct tdm_diag *diag)
{
	char names[160] = "";
	wish->filter.has_kind = true;
	if (tdm_kind_parse(tdm_str_of(value), &wish->filter.kind) == 0)
		return 0;
	for (int i = 0; i < TDM_KIND_COUNT; i++) {
		size_t len = strlen(names);
		snprintf(names + len, sizeof names - len, "%s%s", i != 0 ? ", " : "", tdm_kind_name((enum tdm_kind)i));
	}
	return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "kind is one of: %s", names);
}

static int parse_sort(const char *value, struct tdm_api_wish *wish, struct tdm_diag *diag)
{
	static const char *const words[TDM_SORT_COUNT] = { "size", "age", "site", "address" };
	for (int i = 0; i < TDM_SORT_COUNT; i++)
		if (strcmp(value, words[i]) == 0) {
			wish->sort = (enum tdm_buffer_sort)i;
			return 0;
		}
	return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "sort is size, age, site or address");
}

static int parse_device(const char *value, const char *allowed, struct tdm_api_wish *wish, struct tdm_diag *diag)
{
	uint64_t number = 0;
	/* Buffers are chosen by the number in their program. */
	bool by_number = has_word(allowed, "kind");
	if (by_number ? tdm_str_parse_u64(tdm_str_of(value), &number) != 0 || number > UINT32_MAX
		      : !tdm_pick_name_is_valid(value))
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "device is %s",
			by_number ? "the number of a device in its program, such as device=0"
				  : "a number, a PCI address or a chip id, such as device=0");
	wish->device = value;
	wish->filter.has_device = true;
	wish->filter.device = (uint32_t)number;
	return 0;
}

static int parse_argument(
	const struct tdm_argument *argument, const char *allowed, struct tdm_api_wish *wish, struct tdm_diag *diag)
{
	const char *name = argument->name;
	uint64_t number = 0;
	int err = 0;
	if (!has_word(allowed, name))
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "this document takes the arguments: %s",
			allowed[0] != '\0' ? allowed : "none");
	if (strcmp(name, "device") == 0)
		return parse_device(argument->value, allowed, wish, diag);
	if (strcmp(name, "sort") == 0)
		return parse_sort(argument->value, wish, diag);
	if (strcmp(name, "kind") == 0)
		return parse_kind(argument->value, wish, diag);
	if (strcmp(name, "buffers") == 0 || strcmp(name, "ended") == 0) {
		err = parse_number(argument, 0, 1, &number, diag);
		*(name[0] == 'b' ? &wish->with_buffers : &wish->with_ended) = number == 1;
	} else if (strcmp(name, "pid") == 0) {
		err = parse_number(argument, 1, INT32_MAX, &number, diag);
		wish->pid = (int32_t)number;
	} else if (strcmp(name, "limit") == 0) {
		err = parse_number(argument, 1, LIMIT_MOST, &wish->limit, diag);
	} else {
		err = parse_number(argument, 0, UINT64_MAX - 1, &wish->skip, diag);
	}
	return err;
}

int tdm_api_parse(
	const struct tdm_api_request *request, const char *allowed, struct tdm_api_wish *wish, struct tdm_diag *diag)
{
	int err = 0;
	*wish = (struct tdm_api_wish){ .limit = LIMIT_USUAL };
	for (size_t i = 0; i < request->argument_count && err == 0; i++) {
		const struct tdm_argument *argument = &request->arguments[i];
		for (size_t k = 0; k < i && err == 0; k++)
			if (strcmp(argument->name, request->arguments[k].name) == 0)
				err = tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "an argument is given once, not twice");
		if (err == 0)
			err = parse_argument(argument, allowed, wish, diag);
	}
	return err;
}

static struct tdm_status_report report_of(const struct tdm_api_request *request, const struct tdm_api_wish *wish)
{
	struct tdm_status_report report = { .picture = request->picture,
		.host = request->host,
		.machine = request->machine,
		.pick = { .device = wish->device } };
	if (wish->pid != 0) {
		report.pick.pids = &wish->pid;
		report.pick.pid_count = 1;
	}
	report.pick.by_user = request->right != TDM_RIGHT_ALL;
	report.pick.uid = request->right == TDM_RIGHT_OWN ? request->uid : TDM_UID_UNKNOWN;
	return report;
}

void tdm_api_status(const struct tdm_api_request *request, const struct tdm_api_wish *wish, struct tdm_buf *out)
{
	const struct tdm_status_report report = report_of(request, wish);
	struct tdm_json json;
	tdm_json_init(&json, out);
	json.compact = true;
	tdm_status_json(&report, &json);
}

void tdm_api_devices(const struct tdm_api_request *request, const struct tdm_api_wish *wish, struct tdm_buf *out)
{
	const struct tdm_status_report report = report_of(request, wish);
	struct tdm_json json;
	tdm_json_init(&json, out);
	json.compact = true;
	tdm_json_envelope(&json, "tidemark.devices");
	tdm_json_put_array(&json, "devices");
	for (size_t i = 0; i < request->picture->device_count; i++)
		if (tdm_pick_takes_device(&report.pick, request->picture, i))
			tdm_status_json_device(&report, i, &json);
	tdm_json_array_end(&json);
	tdm_json_object_end(&json);
}

void tdm_api_processes(const struct tdm_api_request *request, const struct tdm_api_wish *wish, struct tdm_buf *out)
{
	const struct tdm_status_report report = report_of(request, wish);
	struct tdm_json json;
	tdm_json_init(&json, out);
	json.compact = true;
	tdm_json_envelope(&json, "tidemark.processes");
	tdm_status_json_processes(&report, &json);
	tdm_json_object_end(&json);
}

static struct tdm_picture_json picture_of(enum tdm_right right, uint32_t uid)
{
	return (struct tdm_picture_json){
		.with_processes = right != TDM_RIGHT_TOTALS, .only_user = right == TDM_RIGHT_OWN, .uid = uid
	};
}

void tdm_api_picture(const struct tdm_api_request *request, struct tdm_buf *out)
{
	struct tdm_picture_json json = picture_of(request->right, request->uid);
	json.picture = request->picture;
	tdm_picture_json(&json, out);
}

void tdm_api_error(unsigned status, const char *reason, struct tdm_buf *out)
{
	struct tdm_json json;
	tdm_json_init(&json, out);
	json.compact = true;
	tdm_json_envelope(&json, "tidemark.error");
	tdm_json_put_object(&json, "error");
	tdm_json_put_u64(&json, "status", status);
	tdm_json_put_text(&json, "reason", reason);
	tdm_json_object_end(&json);
	tdm_json_object_end(&json);
}

/* In a process of its own. */

void tdm_api_drop_rights(bool by_user, uint32_t uid)
{
	uint32_t to = by_user ? uid : NOBODY;
	if (geteuid() != 0 || to == 0)
		return;
	if (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(to, to, to) != 0)
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of the user clears it */
}

/* The descriptor of the process, for the outlet. */
static int outlet_fd;

static int to_pipe(const char *data, size_t len)
{
	return tdm_file_write_all(outlet_fd, data, len);
}

static void begin_output(struct tdm_buf *out, int fd)
{
	tdm_buf_init(out);
	outlet_fd = fd;
	out->outlet = to_pipe;
}

/* The last part; the newline at its end says that it is whole. */
static void end_output(struct tdm_buf *out)
{
	if (!tdm_buf_failed(out) && out->outlet_err == 0)
		to_pipe(out->data, out->len);
}

/* A picture of the machine. NULL if there is no memory. Memory is given back at the end of the process. */
static const struct tdm_picture *look(const struct tdm_api_job *asked, bool only_ledgers, bool with_ended,
	const struct tdm_wish *wish, struct tdm_state **state)
{
	const struct tdm_state_options options = { .ledger_dir = asked->dir,
		.only_ledgers = only_ledgers,
		.with_ended = with_ended,
		.once = true,
		.pids = asked->wish.pid != 0 ? &asked->wish.pid : NULL,
		.pid_count = asked->wish.pid != 0 };
	*state = tdm_state_new(&options);
	const struct tdm_picture *picture = *state != NULL ? tdm_state_look(*state, wish) : NULL;
	tdm_api_drop_rights(asked->by_user, asked->uid);
	return picture;
}

void tdm_api_buffers(void *request, int fd)
{
	const struct tdm_api_job *asked = request;
	const struct tdm_wish wish = { .parts = TDM_WISH_BUFFERS, .no_largest = true };
	struct tdm_state *state;
	const struct tdm_picture *picture = look(asked, true, true, &wish, &state);
	if (picture == NULL)
		return;
	const struct tdm_live_report report = { .picture = picture,
		.dir = tdm_state_ledger_dir(state),
		.filter = asked->wish.filter,
		.sort = asked->wish.sort,
		.limit = asked->wish.limit,
		.skip = asked->wish.skip,
		.by_user = asked->by_user,
		.uid = asked->uid };
	struct tdm_buf out;
	struct tdm_json json;
	begin_output(&out, fd);
	tdm_json_init(&json, &out);
	json.compact = true;
	tdm_json_envelope(&json, "tidemark.dump");
	tdm_json_key(&json, "dump");
	tdm_dump_json(&report, &json);
	tdm_json_object_end(&json);
	end_output(&out);
}

void tdm_api_whole_picture(void *request, int fd)
{
	const struct tdm_api_job *asked = request;
	const struct tdm_wish wish = { .parts = asked->wish.with_buffers ? TDM_WISH_BUFFERS : 0 };
	struct tdm_picture_json json = picture_of(asked->by_user ? TDM_RIGHT_OWN : TDM_RIGHT_ALL, asked->uid);
	struct tdm_state *state;
	struct tdm_buf out;
	json.picture = look(asked, false, asked->wish.with_ended, &wish, &state);
	json.with_buffers = json.with_functions = asked->wish.with_buffers;
	if (json.picture == NULL)
		return;
	begin_output(&out, fd);
	tdm_picture_json(&json, &out);
	end_output(&out);
}
