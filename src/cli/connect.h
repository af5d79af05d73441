/* --connect: pictures of other machines instead of this one's, for `top`, `status` and `leaks`. */
#ifndef TDM_CLI_CONNECT_H
#define TDM_CLI_CONNECT_H

#include "cli/options.h"
#include "state/fleet.h"

struct tdm_connect {
	const char *hosts; /* NULL: this machine */
	const char *token_file;
	uint64_t timeout_ns;
};

#define TDM_OPT_CONNECT(type, member)                                                                         \
	"connect", 'c', "HOST[:PORT],...",                                                                    \
		"show these machines, as their tidemarkd sees them, instead of this one; also URLs, such as " \
		"https://HOST/PATH for one after a proxy, and unix:PATH",                                     \
		TDM_TAKE_TEXT(type, member.hosts)
#define TDM_OPT_TOKEN_FILE(type, member)                                                                     \
	"token-file", 0, "FILE", "connect: the token for all of them (default: $TIDEMARK_TOKEN, else none)", \
		TDM_TAKE_TEXT(type, member.token_file)
#define TDM_OPT_TIMEOUT(type, member)                                                     \
	"timeout", 0, "TIME", "connect: give up a request after this time (default: 5s)", \
		TDM_TAKE_DURATION(type, member.timeout_ns)

/* Opens the machines that were named; `options` says what of them is shown. 0, or the exit code after a message. */
int tdm_connect_open(const struct tdm_cmd *cmd, const struct tdm_connect *connect, struct tdm_fleet_options options,
	struct tdm_fleet **fleet);

#endif
