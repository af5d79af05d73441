#include "cli/demo_pace.h"
#include "base/clock.h"

#include <stddef.h>

enum { FIRST_FRAME_MS = 1000, TOO_LATE_MS = 250 };

void tdm_demo_pace_init(struct tdm_demo_pace *pace, uint64_t seconds, uint64_t rounds)
{
	*pace = (struct tdm_demo_pace){ .deadline_ns = TDM_DEMO_NO_LIMIT, .rounds = rounds };
	pace->hurried = rounds != TDM_DEMO_NO_LIMIT;
	if (seconds != TDM_DEMO_NO_LIMIT)
		pace->deadline_ns = tdm_clock_ns() + seconds * TDM_NS_PER_S;
	sigemptyset(&pace->signals);
	sigaddset(&pace->signals, SIGINT);
	sigaddset(&pace->signals, SIGTERM);
	sigaddset(&pace->signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &pace->signals, NULL);
}

void tdm_demo_plan_frames(uint64_t now_ns, uint64_t seconds, uint64_t *first_ns, uint64_t *end_ns)
{
	*first_ns = now_ns + (seconds == 1 ? FIRST_FRAME_MS / 2 : FIRST_FRAME_MS) * TDM_NS_PER_MS;
	*end_ns = UINT64_MAX;
	if (seconds != TDM_DEMO_NO_LIMIT)
		*end_ns = now_ns + (seconds != 0 ? seconds * TDM_NS_PER_S - TOO_LATE_MS * TDM_NS_PER_MS : 0);
}

bool tdm_demo_pause(struct tdm_demo_pace *pace, unsigned ms)
{
	uint64_t now = tdm_clock_ns(), wait = pace->hurried ? 0 : ms * TDM_NS_PER_MS;
	if (pace->stopped)
		return false;
	if (pace->deadline_ns != TDM_DEMO_NO_LIMIT) {
		uint64_t left = pace->deadline_ns > now ? pace->deadline_ns - now : 0;
		wait = wait < left ? wait : left;
	}
	const struct timespec timeout = { (time_t)(wait / TDM_NS_PER_S), (long)(wait % TDM_NS_PER_S) };
	bool got = sigtimedwait(&pace->signals, NULL, &timeout) > 0;
	pace->stopped = got || tdm_clock_ns() >= pace->deadline_ns;
	return !pace->stopped;
}

bool tdm_demo_round(struct tdm_demo_pace *pace)
{
	if (pace->rounds != TDM_DEMO_NO_LIMIT && pace->rounds > 0)
		pace->rounds--;
	pace->stopped |= pace->rounds == 0;
	return !pace->stopped;
}
