/* Pictures of ledgers and other machines, including buffers, for commands that list buffers. */
#ifndef TDM_CLI_LEDGERS_H
#define TDM_CLI_LEDGERS_H

#include "cli/options/cmd.h"
#include "analyze/leaks/leaks.h"
#include "cli/options/options.h"
#include "view/rows/live_result.h"
#include "live/join/state.h"
#include "live/remote/fleet.h"

/* ---- --connect: other machines, for `top`, `status` and `leaks` ---- */

struct tdm_connect {
	const char *hosts; /* NULL for this machine */
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

/* ---- where pictures come from ---- */

struct tdm_ledgers {
	struct tdm_state *state; /* NULL: the ledgers are on other machines */
	struct tdm_fleet *fleet;
	struct tdm_provider provider;
	const struct tdm_picture *picture; /* the latest picture */
};

/* Opens this machine or the named machines; `connect` may be NULL. 0, or the exit code after a message. */
int tdm_pictures_open(const struct tdm_cmd *cmd, const struct tdm_connect *connect, struct tdm_state_options options,
	struct tdm_ledgers *pictures);

/* Opens the ledgers chosen by the options: those in a directory (NULL for the default) or at the given paths,
 * restricted to certain processes if requested. Everything that the options point to must outlive `ledgers`. 0, or the
 * exit code after a message. */
int tdm_ledgers_open(const struct tdm_cmd *cmd, struct tdm_state_options options, struct tdm_ledgers *ledgers);

/* Opens ledgers on other machines. */
int tdm_ledgers_connect(const struct tdm_cmd *cmd, const struct tdm_connect *connect, const struct tdm_pids *pids,
	struct tdm_ledgers *ledgers);

/* Takes a new picture. 0, or the exit code after a message. */
int tdm_ledgers_look(const struct tdm_cmd *cmd, struct tdm_ledgers *ledgers, unsigned more_parts);

/* 0, or the exit code after a message: a process named by the user has no readable ledger in the latest picture, or no
 * process uses the named device. */
int tdm_ledgers_check(const struct tdm_cmd *cmd, const struct tdm_ledgers *ledgers, const struct tdm_pids *pids,
	const struct tdm_buffer_filter *filter);

/* Fills in the members that every report on ledgers needs: place, picture and terminal, which is ASCII only if
 * requested. */
void tdm_ledgers_report(const struct tdm_ledgers *ledgers, bool ascii, struct tdm_live_report *report);
void tdm_ledgers_done(struct tdm_ledgers *ledgers);

/* ---- pictures for the leak analyser: one, or one per interval while watching ---- */

/* The default interval. Short watches use a shorter one, to get enough pictures. */
uint64_t tdm_leak_interval(uint64_t watch_ns);

/* Takes one picture, or one per interval while watching. Afterwards, `ledgers` contains the last picture. 0, or the
 * exit code after a message. */
int tdm_leak_pictures(const struct tdm_cmd *cmd, struct tdm_leaks *leaks, struct tdm_ledgers *ledgers,
	uint64_t watch_ns, uint64_t interval_ns);

#endif
