#include "metal/failures.h"

static void report(const struct tdm_metal_failure *failure)
{
	const struct tdm_metal_allocator *allocator = failure->allocator;
	for (size_t i = 0; i < allocator->chip_count; i++)
		tidemark_out_of_memory(allocator->chips[i], failure->kind, failure->bytes, failure->each);
}

/* Whether memory was the reason: there was no free block that is large enough. */
static bool is_out_of_memory(const struct tdm_metal_failure *failure)
{
	struct tdm_metal_statistics said;
	return !failure->is_form && (failure->each == 0 || failure->has_limit ||
					    !tdm_metal_allocator_says(failure->allocator, failure->kind, &said) ||
					    failure->each > said.largest);
}

void tdm_metal_failure_note(const struct tdm_metal_failure *failure)
{
	if (!tdm_metal_is_on(failure->allocator->runtime))
		return;
	if (!is_out_of_memory(failure)) {
		tdm_metal_remark_once("metal: the runtime refused a buffer for another reason than lack of memory");
		return;
	}
	report(failure);
	tdm_metal_allocator_report(failure->allocator);
}

/* What the allocator said last is exact if nothing has changed since. */
static bool was_out_of_memory(const struct tdm_metal_failure *failure, bool is_exception)
{
	const struct tdm_metal_allocator *allocator = failure->allocator;
	bool has_said = allocator->has_statistics && failure->kind < TDM_METAL_KINDS && failure->each != 0;
	bool is_large = has_said && failure->each > allocator->said[failure->kind].largest;
	bool fits = has_said && !is_large && __atomic_load_n(&allocator->asking, __ATOMIC_RELAXED) == TDM_METAL_ASKED;
	return !failure->is_form && (is_exception ? failure->has_limit || !fits : is_large);
}

void tdm_metal_failure_note_locked(const struct tdm_metal_failure *failure, bool is_exception)
{
	if (tdm_metal_is_on(failure->allocator->runtime) && was_out_of_memory(failure, is_exception))
		report(failure);
}
