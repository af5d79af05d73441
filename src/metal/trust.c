/* Judges which answers of a runtime to trust (metal.h). */
#include "metal/metal.h"

void tdm_metal_judge(struct tdm_metal_judgement *judgement, bool agrees)
{
	uint8_t agreed = __atomic_load_n(&judgement->agreed, __ATOMIC_RELAXED);
	if (!agrees)
		__atomic_store_n(&judgement->is_wrong, true, __ATOMIC_RELAXED);
	else if (agreed < TDM_METAL_ENOUGH)
		__atomic_store_n(&judgement->agreed, agreed + 1, __ATOMIC_RELEASE);
}

void tdm_metal_step_judge(struct tdm_metal_step *step, uint64_t bytes, uint64_t taken)
{
	uint32_t low = step->low, high = step->high;
	while (low <= high && tdm_metal_round_up(bytes, low) < taken)
		low *= 2;
	while (high >= low && tdm_metal_round_up(bytes, high) > taken)
		high /= 2;
	bool is_explained = low <= high && tdm_metal_round_up(bytes, low) == taken;
	__atomic_store_n(&step->low, is_explained ? low : 1, __ATOMIC_RELAXED);
	__atomic_store_n(&step->high, is_explained ? high : 0, __ATOMIC_RELAXED);
}

/* No page has a larger alignment than this. */
enum { PAGE_STEP_MAX = 64 };

bool tdm_metal_size_agrees(uint64_t size, const struct tdm_metal_answers *answers)
{
	if (answers->pages == 0 || answers->page_size == 0) {
		uint64_t pages = answers->pages;
		if (size == 0 || answers->aligned_page == 0 || answers->aligned_size % answers->aligned_page != 0)
			return false;
		if (pages == 0 && answers->page_size != 0)
			pages = size % answers->page_size == 0 ? size / answers->page_size : 0;
		if (pages == 0 || size % pages != 0)
			return false;
		uint64_t page = size / pages, taken = answers->aligned_size / answers->aligned_page;
		return page <= answers->aligned_page && answers->aligned_page - page < PAGE_STEP_MAX &&
		       (answers->is_sharded ? pages <= taken : pages == taken);
	}
	if (answers->page_size > TDM_METAL_BYTES_MAX / answers->pages)
		return false;
	uint64_t whole = answers->page_size * answers->pages; /* the last page may be partial */
	return size >= whole && size - whole < answers->page_size;
}

bool tdm_metal_type_agrees(uint32_t type, const struct tdm_metal_answers *answers)
{
	return type < TDM_METAL_TYPES &&
	       answers->is_l1 == (type == TDM_METAL_TYPE_L1 || type == TDM_METAL_TYPE_L1_SMALL) &&
	       answers->is_dram == (type == 0 || type == TDM_METAL_TYPE_TRACE) &&
	       answers->is_trace == (type == TDM_METAL_TYPE_TRACE);
}

uint32_t tdm_metal_kind_of(uint32_t type)
{
	static const uint32_t kinds[TDM_METAL_TYPES] = { TIDEMARK_DRAM, TIDEMARK_L1, UINT32_MAX, TIDEMARK_L1_SMALL,
		TIDEMARK_TRACE };
	return type < TDM_METAL_TYPES ? kinds[type] : UINT32_MAX;
}
