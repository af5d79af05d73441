#include "metal/trust.h"
#include "tidemark.h"

void tdm_metal_judge(struct tdm_metal_judgement *judgement, bool agrees)
{
	uint8_t agreed = __atomic_load_n(&judgement->agreed, __ATOMIC_RELAXED);
	if (!agrees)
		__atomic_store_n(&judgement->is_wrong, true, __ATOMIC_RELAXED);
	else if (agreed < TDM_METAL_ENOUGH)
		__atomic_store_n(&judgement->agreed, agreed + 1, __ATOMIC_RELAXED);
}

bool tdm_metal_size_agrees(uint64_t size, const struct tdm_metal_answers *answers)
{
	if (answers->pages == 0 || answers->page_size == 0 || answers->page_size > TDM_METAL_BYTES_MAX / answers->pages)
		return false;
	uint64_t whole = answers->page_size * answers->pages; /* its last page may be a part of one */
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
