#include "cli/connect.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>

enum { TOKEN_MAX = 4096, TIMEOUT_MAX_MS = 3600000 };

/* A token goes into a header: it has no blanks and no control characters. */
static bool is_token(struct tdm_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
			return false;
	return text.len != 0;
}

/* Appends the token, if there is one. */
static int read_token(const struct tdm_cmd *cmd, const struct tdm_connect *connect, struct tdm_buf *out)
{
	const char *variable = getenv("TIDEMARK_TOKEN");
	struct tdm_buf file;
	int code = 0;
	tdm_buf_init(&file);
	int err = connect->token_file != NULL ? tdm_file_read(connect->token_file, TOKEN_MAX, &file) : 0;
	struct tdm_str token = tdm_str_of(variable);
	if (connect->token_file != NULL)
		token = tdm_buf_str(&file);
	while (token.len != 0 && (token.ptr[token.len - 1] == '\n' || token.ptr[token.len - 1] == '\r'))
		token.len--;
	if (err != 0)
		code = tdm_cmd_error(cmd, "cannot read '%s': %s", connect->token_file, tdm_err_text(err));
	else if (connect->token_file != NULL && !is_token(token))
		code = tdm_cmd_error(cmd, "'%s' holds no token: one word is expected", connect->token_file);
	else if (token.len != 0 && !is_token(token))
		code = tdm_cmd_error(cmd, "TIDEMARK_TOKEN holds no token: one word is expected");
	else
		tdm_buf_add(out, token.ptr, token.len);
	tdm_buf_done(&file);
	return code;
}

int tdm_connect_open(const struct tdm_cmd *cmd, const struct tdm_connect *connect, struct tdm_fleet_options options,
	struct tdm_fleet **fleet)
{
	struct tdm_diag diag = { 0 };
	struct tdm_buf token;
	tdm_buf_init(&token);
	int code = read_token(cmd, connect, &token);
	if (code == 0) {
		uint64_t timeout_ms = connect->timeout_ns / TDM_NS_PER_MS;
		options.remote = (struct tdm_remote_options){ .hosts = connect->hosts,
			.token = token.len != 0 ? token.data : NULL,
			.timeout_ms = (unsigned)tdm_min(timeout_ms, TIMEOUT_MAX_MS) };
		if (tdm_fleet_new(&options, fleet, &diag) != 0)
			code = tdm_cmd_usage_error(cmd, "--connect: %s", diag.text);
	}
	tdm_buf_done(&token);
	return code;
}
