/* All live buffers of a device in one list, for tests that check each. */
#ifndef TDM_TESTS_LEDGER_BUFFERS_H
#define TDM_TESTS_LEDGER_BUFFERS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ledger/read/reader.h"

struct ledger_buffers {
	struct tdm_ledger_buffer *list;
	size_t count, cap;
};

static inline void ledger_buffers_add(
	void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	struct ledger_buffers *all = context;
	tdm_grow(&all->list, &all->cap, all->count + count, sizeof *all->list);
	for (size_t i = 0; i < count; i++)
		all->list[all->count++] = tdm_ledger_buffer_of(&slots[i], &mores[i]);
}

static inline void ledger_buffers_again(void *context)
{
	((struct ledger_buffers *)context)->count = 0;
}

/* What tdm_ledger_walk says; *buffers is owned by the caller. */
static inline int ledger_buffers(
	struct tdm_ledger *ledger, size_t device, struct tdm_ledger_buffer **buffers, size_t *count, bool *exact)
{
	struct ledger_buffers all = { 0 };
	const struct tdm_ledger_walk walk = {
		.each = ledger_buffers_add, .again = ledger_buffers_again, .context = &all, .with_more = true
	};
	int err = tdm_ledger_walk(ledger, device, &walk, exact);
	*buffers = NULL;
	*count = err == 0 ? all.count : 0;
	if (err == 0)
		*buffers = all.list;
	else
		free(all.list);
	return err;
}

#endif
