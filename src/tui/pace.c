#include "tui/pace.h"

#include "base/clock.h"
#include "base/duration.h"
#include "base/map.h"

bool tdm_pace_is_due(const struct tdm_pace *pace)
{
	return pace->buffers <= TDM_PACE_FREE || tdm_clock_ns() - pace->ended_ns >= pace->cost_ns * TDM_PACE_SHARE;
}

static bool is_in(const struct tdm_holding *holding, struct tdm_pace_scope scope)
{
	return (scope.process == TDM_INDEX_NONE || holding->process == scope.process) &&
	       (scope.device == TDM_INDEX_NONE || holding->device == scope.device);
}

/* Differs when buffers have come or gone. */
static uint64_t stamp_of(const struct tdm_picture *picture, struct tdm_pace_scope scope)
{
	uint64_t stamp = 0;
	for (size_t i = 0; i < picture->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[i];
		if (!is_in(holding, scope))
			continue;
		stamp = tdm_hash_u64(stamp ^ picture->processes[holding->process].handle);
		for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_picture_amount *amount = &holding->kinds[k];
			if (amount->allocs != 0)
				stamp = tdm_hash_u64(
					stamp ^ amount->allocs ^ amount->used << 20 ^ amount->buffers << 40);
		}
	}
	return stamp;
}

/* Whether buffers changed while they were listed, so that they do not match their counters. */
static bool is_inexact(const struct tdm_picture *picture, struct tdm_pace_scope scope)
{
	for (size_t i = 0; i < picture->holding_count; i++)
		for (size_t k = 0; k < TDM_KIND_COUNT && is_in(&picture->holdings[i], scope); k++)
			if (picture->holdings[i].kinds[k].is_inexact)
				return true;
	return false;
}

void tdm_pace_took(struct tdm_pace *pace, uint64_t begun_ns, size_t items)
{
	pace->ended_ns = tdm_clock_ns();
	pace->cost_ns = pace->ended_ns - begun_ns;
	pace->buffers = items;
}

void tdm_pace_done(struct tdm_pace *pace, const struct tdm_picture *picture, struct tdm_pace_scope scope)
{
	size_t buffers = 0;
	for (size_t i = 0; i < picture->holding_count; i++)
		if (is_in(&picture->holdings[i], scope))
			buffers += tdm_holding_buffer_count(&picture->holdings[i]);
	pace->taken_ns = picture->time_ns;
	pace->stamp = stamp_of(picture, scope);
	tdm_pace_took(pace, picture->time_ns, buffers);
}

uint64_t tdm_pace_age(const struct tdm_pace *pace, const struct tdm_picture *picture, struct tdm_pace_scope scope)
{
	if (stamp_of(picture, scope) == pace->stamp && !is_inexact(picture, scope))
		return 0;
	return picture->time_ns > pace->taken_ns ? picture->time_ns - pace->taken_ns : 1;
}

char *tdm_pace_format_age(char *dst, size_t cap, uint64_t age_ns)
{
	const uint64_t tenth = TDM_NS_PER_S / 10;
	return tdm_format_duration(dst, cap, (age_ns + tenth - 1) / tenth * tenth);
}
