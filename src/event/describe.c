#include "event/describe.h"

bool tdm_process_is_same(const struct tdm_process *a, const struct tdm_process *b)
{
	return a->pid == b->pid && a->start_time == b->start_time && a->generation == b->generation &&
	       a->pid_namespace == b->pid_namespace && memcmp(a->boot_id, b->boot_id, sizeof a->boot_id) == 0;
}

uint64_t tdm_process_hash(const struct tdm_process *process)
{
	uint64_t hash = tdm_hash_u64(process->start_time ^ (uint64_t)process->pid << 32 ^ process->generation);
	return tdm_hash_u64(hash ^ process->pid_namespace) ^
	       tdm_str_hash((struct tdm_str){ (const char *)process->boot_id, sizeof process->boot_id });
}
