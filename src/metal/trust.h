/*
 * What may be believed of a runtime. Its functions have names, so their answers are only checked for nonsense. But some
 * fields of its objects have no function, and their places differ between releases: a place is used only after it has
 * agreed several times with what functions say about the same objects, and never again after it has disagreed once.
 */
#ifndef TDM_METAL_TRUST_H
#define TDM_METAL_TRUST_H

#include <stdbool.h>
#include <stdint.h>

enum {
	TDM_METAL_ENOUGH = 3, /* agreements before a place is used */
	TDM_METAL_TYPES = 5,  /* BufferType: DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE */
	TDM_METAL_TYPE_L1 = 1,
	TDM_METAL_TYPE_L1_SMALL = 3,
	TDM_METAL_TYPE_TRACE = 4,
	TDM_METAL_BANKS_MAX = 4096,
};
#define TDM_METAL_BYTES_MAX (UINT64_C(1) << 48)

/* Threads may judge at the same time: an agreement may be lost, a disagreement is not. */
struct tdm_metal_judgement {
	uint8_t agreed;
	bool is_wrong;
};

static inline bool tdm_metal_is_proven(const struct tdm_metal_judgement *judgement)
{
	return __atomic_load_n(&judgement->agreed, __ATOMIC_RELAXED) >= TDM_METAL_ENOUGH &&
	       !__atomic_load_n(&judgement->is_wrong, __ATOMIC_RELAXED);
}

/* Notes an agreement or a disagreement. */
void tdm_metal_judge(struct tdm_metal_judgement *judgement, bool agrees);

/* What the runtime's functions say about a buffer. */
struct tdm_metal_answers {
	bool is_l1, is_dram, is_trace;
	uint64_t page_size;
	uint32_t pages;
};

/* Whether a size and a type that were read in a buffer agree with the answers about it. */
bool tdm_metal_size_agrees(uint64_t size, const struct tdm_metal_answers *answers);
bool tdm_metal_type_agrees(uint32_t type, const struct tdm_metal_answers *answers);

/* The kind (enum tidemark_kind) of a type; UINT32_MAX: it has no memory of a device. */
uint32_t tdm_metal_kind_of(uint32_t type);

#endif
