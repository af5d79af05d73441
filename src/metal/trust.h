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

/* Threads may judge at the same time: an agreement may be lost, a disagreement is not. Who sees that a place is proven
 * sees the place, too. */
struct tdm_metal_judgement {
	uint8_t agreed;
	bool is_wrong;
};

static inline bool tdm_metal_is_proven(const struct tdm_metal_judgement *judgement)
{
	return __atomic_load_n(&judgement->agreed, __ATOMIC_ACQUIRE) >= TDM_METAL_ENOUGH &&
	       !__atomic_load_n(&judgement->is_wrong, __ATOMIC_RELAXED);
}

/* Notes an agreement or a disagreement. */
void tdm_metal_judge(struct tdm_metal_judgement *judgement, bool agrees);

/* What the runtime's functions say about a buffer. */
struct tdm_metal_answers {
	bool is_l1, is_dram, is_trace, is_sharded;
	uint64_t page_size;    /* 0: not said, as with the others */
	uint64_t aligned_page; /* what a page takes */
	uint64_t aligned_size; /* what all pages take, with those that only fill up shards */
	uint32_t pages;
};

/*
 * The step in which an allocator gives memory: a power of two from `low` to `high`, as far as is known. What it took
 * for some buffers leaves fewer and fewer of them.
 */
struct tdm_metal_step {
	uint32_t low, high; /* low > high: no step explains what was seen */
};
#define TDM_METAL_STEP_INIT \
	{                   \
		1, 512      \
	}

/* What is known of a step; another thread may learn more meanwhile. */
static inline struct tdm_metal_step tdm_metal_step_now(const struct tdm_metal_step *step)
{
	return (struct tdm_metal_step){ __atomic_load_n(&step->low, __ATOMIC_RELAXED),
		__atomic_load_n(&step->high, __ATOMIC_RELAXED) };
}

/* Whether several are possible. */
static inline bool tdm_metal_step_is_open(const struct tdm_metal_step *step)
{
	struct tdm_metal_step now = tdm_metal_step_now(step);
	return now.low < now.high;
}

static inline uint64_t tdm_metal_round_up(uint64_t bytes, uint32_t step)
{
	return ((bytes != 0 ? bytes : 1) + step - 1) & ~((uint64_t)step - 1);
}

/* What an allocator takes for so many bytes; 0: unknown, because steps that are still possible differ in it. */
static inline uint64_t tdm_metal_step_apply(const struct tdm_metal_step *step, uint64_t bytes)
{
	struct tdm_metal_step now = tdm_metal_step_now(step);
	uint64_t least = tdm_metal_round_up(bytes, now.low);
	return now.low <= now.high && least == tdm_metal_round_up(bytes, now.high) ? least : 0;
}

/* Notes that an allocator took so much. One thread at a time. */
void tdm_metal_step_judge(struct tdm_metal_step *step, uint64_t bytes, uint64_t taken);

/* Whether a size and a type that were read in a buffer agree with the answers about it. Without the size or the number
 * of pages, a size has to agree with what its pages take. */
bool tdm_metal_size_agrees(uint64_t size, const struct tdm_metal_answers *answers);
bool tdm_metal_type_agrees(uint32_t type, const struct tdm_metal_answers *answers);

/* The kind (enum tidemark_kind) of a type; UINT32_MAX: it has no memory of a device. */
uint32_t tdm_metal_kind_of(uint32_t type);

#endif
