#include "daemon/glance.h"
#include "base/clock.h"

static uint64_t count_buffers(const struct tdm_picture *picture)
{
	uint64_t count = 0;
	for (size_t i = 0; i < picture->holding_count; i++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			if (picture->holdings[i].kinds[k].buffers != TDM_BYTES_UNKNOWN)
				count += picture->holdings[i].kinds[k].buffers;
	return count;
}

bool tdm_glance_take(struct tdm_glance *glance, uint64_t now_ns, bool with_events)
{
	/* The first one only tells how many buffers there are. */
	if (glance->number > 1 && now_ns - glance->taken_ns < TDM_GLANCE_MS * TDM_NS_PER_MS)
		return false;
	const struct tdm_wish wish = { .parts = with_events ? TDM_WISH_EVENTS : 0,
		.latest_events = TDM_GLANCE_EVENTS,
		.no_largest = glance->number == 0 || glance->buffers > TDM_GLANCE_BUFFERS };
	uint64_t begun_ns = tdm_clock_ns();
	glance->picture = tdm_state_look(glance->state, &wish);
	glance->taken_ns = now_ns;
	glance->took_ns = tdm_clock_ns() - begun_ns;
	glance->number++;
	glance->has_events = with_events;
	glance->buffers = glance->picture != NULL ? count_buffers(glance->picture) : 0;
	return true;
}
