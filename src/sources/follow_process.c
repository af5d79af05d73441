#include "sources/follow_process.h"
#include "base/clock.h"
#include "ledger/ledger_file.h"
#include "sources/proc_facts.h"

#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long an answer of /proc about a client is good for. */
#define LIFE_NS (TDM_NS_PER_S * 4 / 10)

void tdm_follow_self_init(struct tdm_follow_self *self)
{
	struct stat ns;
	*self = (struct tdm_follow_self){ .pid_namespace = stat("/proc/self/ns/pid", &ns) == 0 ? ns.st_ino : 0 };
	if (!tdm_ledger_boot_id(self->boot_id))
		memset(self->boot_id, 0, sizeof self->boot_id);
}

static bool is_on_behalf(const struct tdm_ledger *ledger)
{
	return (tdm_ledger_flags(ledger) & TDM_LEDGER_ON_BEHALF) != 0;
}

static bool is_here(const struct tdm_follow_self *self, uint64_t pid_namespace)
{
	return self->pid_namespace != 0 && pid_namespace == self->pid_namespace;
}

/* Whether the machine was booted since. */
static bool is_of_earlier_boot(const struct tdm_follow_self *self, const uint8_t boot_id[16])
{
	static const uint8_t unknown[16];
	return memcmp(self->boot_id, unknown, sizeof unknown) != 0 && memcmp(self->boot_id, boot_id, 16) != 0;
}

/* Whether the process that a ledger was written for lives. `lock`: whether its writer does. */
static enum tdm_liveness client_liveness(const struct tdm_follow_self *self, struct tdm_follow_judged *judged,
	const struct tdm_ledger *ledger, uint64_t now_ns, enum tdm_liveness lock)
{
	const struct tdm_ledger_who *who = tdm_ledger_who(ledger);
	if (tdm_ledger_state(ledger) == TDM_LEDGER_CLOSED || (tdm_ledger_flags(ledger) & TDM_LEDGER_MOVED) != 0 ||
		is_of_earlier_boot(self, who->boot_id))
		return TDM_DEAD;
	if (!is_here(self, who->pid_namespace)) /* its pid says nothing here, but a writer notices its end */
		return lock == TDM_ALIVE ? TDM_ALIVE : TDM_ALIVE_UNKNOWN;
	if (judged->life_ns == 0 || now_ns - judged->life_ns >= LIFE_NS) {
		static const enum tdm_liveness lives[] = {
			[TDM_LIFE_UNKNOWN] = TDM_ALIVE_UNKNOWN, [TDM_LIFE_RUNS] = TDM_ALIVE, [TDM_LIFE_ENDED] = TDM_DEAD
		};
		judged->life = lives[tdm_proc_life_of(who->pid, who->start_time)];
		judged->life_ns = now_ns;
	}
	return judged->life;
}

enum tdm_liveness tdm_follow_liveness(const struct tdm_follow_self *self, struct tdm_follow_judged *judged,
	const struct tdm_ledger *ledger, uint64_t now_ns, int32_t *holder)
{
	enum tdm_liveness lock = tdm_ledger_holder(ledger, holder);
	judged->has_no_writer = lock == TDM_DEAD;
	if (!is_on_behalf(ledger))
		return lock;
	*holder = 0; /* it is the daemon */
	return client_liveness(self, judged, ledger, now_ns, lock);
}

/* The user who runs the daemon; UINT32_MAX: there is none. It is looked up once. */
static uint32_t daemon_user(void)
{
	static bool is_known;
	static uint32_t uid;
	char room[4096];
	struct passwd entry, *found = NULL;
	if (!is_known) {
		bool is_there = getpwnam_r(TDM_DAEMON_USER, &entry, room, sizeof room, &found) == 0 && found != NULL;
		uid = is_there ? (uint32_t)found->pw_uid : UINT32_MAX;
		is_known = true;
	}
	return uid;
}

static bool is_trusted(uint32_t owner)
{
	return owner == 0 || owner == geteuid() || (owner != UINT32_MAX && owner == daemon_user());
}

/* The lock's holder may be unknown, and so may the users of a process that this one cannot see. */
static bool is_claim(struct tdm_follow_judged *judged, const struct tdm_process *who, int32_t holder)
{
	if (who->life == TDM_LIFE_ENDED || (judged->is_judged && judged->holder == holder))
		return judged->is_claimed;
	int has_user = holder == 0 || holder == who->pid ? tdm_proc_has_user(who->pid, who->uid) : 0;
	judged->is_judged = true;
	judged->holder = holder;
	judged->is_claimed = has_user == 0 || (has_user < 0 && holder == 0);
	return judged->is_claimed;
}

/* A ledger on behalf of a process. Its figures have an age while nobody writes them. */
static void place_client(const struct tdm_follow_self *self, const struct tdm_follow_judged *judged,
	const struct tdm_ledger *ledger, struct tdm_process *who)
{
	who->is_claimed = !is_trusted(who->uid);
	if (!who->is_claimed)
		who->uid = tdm_ledger_who(ledger)->uid;
	who->seen_pid = !who->is_claimed && is_here(self, who->pid_namespace) ? who->pid : 0;
	who->as_of_ns =
		judged->has_no_writer && who->life != TDM_LIFE_ENDED ? tdm_ledger_noted(ledger).monotonic_ns : 0;
}

/* A process in a container has another pid here than the one it knows itself. */
void tdm_follow_place(const struct tdm_follow_self *self, struct tdm_follow_judged *judged,
	const struct tdm_ledger *ledger, struct tdm_process *who, int32_t holder, int32_t last_seen)
{
	if (who->is_on_behalf) {
		place_client(self, judged, ledger, who);
		return;
	}
	bool same = is_here(self, who->pid_namespace);
	who->is_claimed = same && is_claim(judged, who, holder);
	if (same)
		who->seen_pid = who->is_claimed && holder != who->pid ? 0 : who->pid;
	else
		who->seen_pid = holder != 0 ? holder : last_seen;
	who->is_held = holder != 0 && holder == who->seen_pid;
}
