#include "event/describe.h"

bool tdm_process_is_same(const struct tdm_process *a, const struct tdm_process *b)
{
	return a->pid == b->pid && a->start_time == b->start_time && a->generation == b->generation &&
	       a->pid_namespace == b->pid_namespace && memcmp(a->boot_id, b->boot_id, sizeof a->boot_id) == 0;
}
