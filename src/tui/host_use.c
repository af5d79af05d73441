#include "tui/host_use.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/reserve.h"

enum { AGAIN_MS = 950 /* before the next picture of a second */, AT_ONCE = 256, KEPT_S = 60, KEPT_MIN = 256 };

/* Forgets processes that nobody has looked at for a while. */
static void forget_old(struct tdm_host_uses *uses, uint64_t now_ns)
{
	size_t kept = 0;
	tdm_map_clear(&uses->by_handle);
	for (size_t i = 0; i < uses->count; i++)
		if (now_ns - uses->list[i].read_ns < KEPT_S * TDM_NS_PER_S &&
			tdm_map_put(&uses->by_handle, uses->list[i].handle, (uint32_t)kept) == 0)
			uses->list[kept++] = uses->list[i];
	uses->count = kept;
}

static struct tdm_host_use *use_of(struct tdm_host_uses *uses, uint64_t handle, uint64_t now_ns)
{
	uint32_t at = tdm_map_find(&uses->by_handle, handle);
	if (at != TDM_MAP_NONE)
		return &uses->list[at];
	if (uses->count == uses->cap && uses->count >= KEPT_MIN)
		forget_old(uses, now_ns);
	if (tdm_reserve(&uses->list, &uses->cap, uses->count + 1, sizeof *uses->list) != 0 ||
		tdm_map_put(&uses->by_handle, handle, (uint32_t)uses->count) != 0)
		return NULL;
	struct tdm_host_use *use = &uses->list[uses->count++];
	*use = (struct tdm_host_use){ .handle = handle, .cpu_permille = TDM_BYTES_UNKNOWN };
	return use;
}

static void read_one(struct tdm_host_use *use, const struct tdm_provider *provider,
	const struct tdm_picture_process *process, uint64_t now_ns)
{
	struct tdm_proc_use before = use->use;
	uint64_t passed = now_ns - use->read_ns;
	bool was_known = use->is_known;
	use->is_known = provider->use(provider->state, process, &use->use) == 0;
	use->read_ns = now_ns;
	use->cpu_permille = TDM_BYTES_UNKNOWN;
	if (was_known && use->is_known && use->use.cpu_ns >= before.cpu_ns)
		use->cpu_permille = (uint64_t)((double)(use->use.cpu_ns - before.cpu_ns) / (double)passed * 1000);
}

void tdm_host_uses_read(struct tdm_host_uses *uses, const struct tdm_provider *provider,
	const struct tdm_picture *picture, const struct tdm_proc_row *rows, size_t count, uint64_t now_ns)
{
	uint64_t begun_ns = tdm_clock_ns();
	size_t reads = 0;
	if (provider->use == NULL || count == 0 || !tdm_pace_is_due(&uses->pace) ||
		(uses->by_handle.keys == NULL && tdm_map_init(&uses->by_handle) != 0))
		return;
	for (size_t i = 0; i < count && reads < AT_ONCE; i++) {
		const struct tdm_proc_row *row = &rows[(uses->turn + i) % count];
		struct tdm_host_use *use = row->handle != 0 ? use_of(uses, row->handle, now_ns) : NULL;
		if (use == NULL || (use->read_ns != 0 && now_ns - use->read_ns < AGAIN_MS * TDM_NS_PER_MS))
			continue;
		read_one(use, provider, &picture->processes[row->process], now_ns);
		reads++;
	}
	uses->turn = reads == AT_ONCE ? uses->turn + AT_ONCE : 0;
	if (reads != 0)
		tdm_pace_took(&uses->pace, begun_ns, SIZE_MAX); /* reading a file is never free */
}

const struct tdm_host_use *tdm_host_uses_find(const struct tdm_host_uses *uses, uint64_t handle)
{
	uint32_t at = uses->by_handle.keys != NULL ? tdm_map_find(&uses->by_handle, handle) : TDM_MAP_NONE;
	return at != TDM_MAP_NONE && uses->list[at].is_known ? &uses->list[at] : NULL;
}

void tdm_host_uses_done(struct tdm_host_uses *uses)
{
	free(uses->list);
	if (uses->by_handle.keys != NULL)
		tdm_map_done(&uses->by_handle);
	*uses = (struct tdm_host_uses){ 0 };
}
