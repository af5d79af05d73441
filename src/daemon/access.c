#include "daemon/access.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Letters, digits and the few signs that such tokens have. */
static bool is_token(struct tdm_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] <= ' ' || text.ptr[i] >= 0x7f)
			return false;
	return text.len >= TDM_TOKEN_MIN && text.len <= TDM_TOKEN_MAX;
}

static int read_token(struct tdm_access *access, const char *path, struct tdm_diag *diag)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	int err = tdm_file_read(path, 4096, &text);
	struct tdm_str token = tdm_buf_str(&text);
	while (token.len != 0 && isspace((unsigned char)token.ptr[token.len - 1]))
		token.len--;
	if (err != 0) {
		tdm_diag_set(diag, err, 0, 0, "cannot read the token from '%s': %s", path, tdm_err_text(err));
	} else if (!is_token(token)) {
		err = tdm_diag_set(diag, TDM_ESYNTAX, 0, 0,
			"'%s' has no token: one line of %d to %d printable characters without blanks", path,
			TDM_TOKEN_MIN, TDM_TOKEN_MAX);
	} else {
		memcpy(access->token, token.ptr, token.len);
		access->token[token.len] = '\0';
	}
	tdm_buf_done(&text);
	return err;
}

/* Whoever has the token sees everything. */
static void warn_if_open(const char *path)
{
	struct stat st;
	if (stat(path, &st) == 0 && (st.st_mode & S_IROTH) != 0)
		fprintf(stderr, "tidemarkd: warning: others can read the token: chmod o-r '%s'\n", path);
}

static int add_host(struct tdm_access *access, struct tdm_str name)
{
	size_t len = strlen(access->hosts);
	if (name.len == 0)
		return 0;
	if (name.len + 1 >= sizeof access->hosts - len)
		return -E2BIG;
	memcpy(access->hosts + len, name.ptr, name.len);
	memcpy(access->hosts + len + name.len, ",", 2);
	return 0;
}

int tdm_access_init(struct tdm_access *access, const char *token_file, const char *hosts, struct tdm_diag *diag)
{
	char own[256] = "";
	*access = (struct tdm_access){ .uid = (uint32_t)geteuid() };
	gethostname(own, sizeof own - 1);
	int err = add_host(access, tdm_str_of("localhost"));
	if (err == 0)
		err = add_host(access, tdm_str_of(own));
	while (hosts != NULL && *hosts != '\0' && err == 0) {
		size_t len = strcspn(hosts, ",");
		err = add_host(access, tdm_str_trim((struct tdm_str){ hosts, len }));
		hosts += len + (hosts[len] == ',');
	}
	if (err != 0)
		return tdm_diag_set(diag, err, 0, 0, "the list of host names is too long");
	if (token_file == NULL)
		return 0;
	warn_if_open(token_file);
	return read_token(access, token_file, diag);
}

/* Takes the same time however much of it is right. */
static bool is_same_token(const char *token, const char *given)
{
	size_t len = strlen(token), given_len = strlen(given);
	unsigned differs = len != given_len;
	for (size_t i = 0; i < len; i++)
		differs |= (unsigned char)token[i] ^ (unsigned char)(given_len != 0 ? given[i % given_len] : 0);
	return differs == 0;
}

/* The token of "Bearer TOKEN"; NULL: another scheme. */
static const char *bearer_of(const char *authorization)
{
	static const char scheme[] = "Bearer";
	size_t len = sizeof scheme - 1;
	if (strncasecmp(authorization, scheme, len) != 0 || authorization[len] != ' ')
		return NULL;
	while (authorization[len] == ' ')
		len++;
	return authorization + len;
}

enum tdm_right tdm_access_right(const struct tdm_access *access, const struct tdm_caller *caller)
{
	if (caller->authorization != NULL && access->token[0] != '\0') {
		const char *given = bearer_of(caller->authorization);
		return given != NULL && is_same_token(access->token, given) ? TDM_RIGHT_ALL : TDM_RIGHT_NONE;
	}
	if (caller->is_unix && caller->uid != UINT32_MAX)
		return caller->uid == 0 || caller->uid == access->uid ? TDM_RIGHT_ALL : TDM_RIGHT_OWN;
	if (caller->is_unix || caller->is_local || access->token[0] == '\0')
		return TDM_RIGHT_TOTALS;
	return TDM_RIGHT_NONE;
}

/* Cuts a port off; 0 if there is something else after the name. */
static size_t name_length(const char *host)
{
	size_t len = host[0] == '[' ? strcspn(host, "]") : strcspn(host, ":");
	len += host[0] == '[' && host[len] == ']';
	const char *port = host + len;
	if (*port == '\0')
		return len;
	return *port == ':' && port[1 + strspn(port + 1, "0123456789")] == '\0' ? len : 0;
}

static bool is_address(const char *name, size_t len)
{
	char text[64];
	unsigned char address[16];
	bool is_six = name[0] == '[';
	if (len >= sizeof text || len < 2 || (is_six && name[len - 1] != ']'))
		return false;
	memcpy(text, name + is_six, len - 2 * (size_t)is_six);
	text[len - 2 * (size_t)is_six] = '\0';
	return inet_pton(is_six ? AF_INET6 : AF_INET, text, address) == 1;
}

bool tdm_access_takes_host(const struct tdm_access *access, const char *host)
{
	size_t len = name_length(host);
	if (len == 0)
		return false;
	for (const char *at = access->hosts; *at != '\0'; at += strcspn(at, ",") + 1)
		if (strcspn(at, ",") == len && strncasecmp(at, host, len) == 0)
			return true;
	return is_address(host, len);
}
