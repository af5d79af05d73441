/*
 * Reports of runtimes, and of hooks in them: statistics, steps of devices and traces, counters and remarks.
 */
#include "client/client.h"

#include <errno.h>

int64_t tidemark_free_matching(uint32_t device, uint32_t kind, uint64_t mask, uint64_t value)
{
	return tidemark_active_ ? tdm_client_free_matching(device, kind, mask, value) : 0;
}

int tidemark_clash(uint32_t device, uint64_t cb_end, uint64_t l1_lowest)
{
	(void)device, (void)cb_end, (void)l1_lowest;
	return tidemark_active_ ? -ENOSYS : 0;
}

int tidemark_report_statistics(uint32_t device, uint32_t kind, uint64_t allocated, uint64_t free, uint64_t largest)
{
	(void)device, (void)kind, (void)allocated, (void)free, (void)largest;
	return tidemark_active_ ? -ENOSYS : 0;
}

int tidemark_report_core_use(uint32_t device, uint32_t kind, uint64_t fullest, uint64_t all)
{
	(void)device, (void)kind, (void)fullest, (void)all;
	return tidemark_active_ ? -ENOSYS : 0;
}

int tidemark_step(uint32_t device, uint32_t step, uint64_t number)
{
	(void)device, (void)step, (void)number;
	return tidemark_active_ ? -ENOSYS : 0;
}

uint32_t tidemark_counter(const char *name)
{
	(void)name;
	return 0;
}

int tidemark_count(uint32_t counter, uint64_t more)
{
	(void)counter, (void)more;
	return tidemark_active_ ? -ENOSYS : 0;
}

int tidemark_remark(const char *text)
{
	(void)text;
	return tidemark_active_ ? -ENOSYS : 0;
}
