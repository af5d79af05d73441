/* What the files of the operations' account share: operation_memory.c has operations and buffers, operation_tensors.c
 * finds the tensors in them, operation_findings.c says what they mean. */
#ifndef TDM_ANALYZE_OPERATION_PARTS_H
#define TDM_ANALYZE_OPERATION_PARTS_H

#include "analyze/operation_memory.h"

enum { TDM_OPERATION_LIMIT = 1 << 22 }; /* of operations, live buffers and tensors */

/* Keys of the maps. Ranks, devices, kinds, ids and addresses are limited (event/report_record.h), so they are exact. */
static inline uint64_t tdm_operation_unit_key(uint32_t rank, uint32_t device, uint8_t kind)
{
	return ((uint64_t)rank << 32 | device) << 8 | kind;
}

static inline uint64_t tdm_operation_rank_key(uint32_t rank, uint64_t id)
{
	return (uint64_t)rank << 46 | id;
}

static inline uint64_t tdm_operation_place_key(uint32_t unit, uint64_t address)
{
	return (uint64_t)unit << 46 | address;
}

/* TDM_OPERATION_NONE: there is none. */
uint32_t tdm_operation_find(const struct tdm_operation_memory *memory, uint32_t rank, uint64_t id);
uint32_t tdm_operation_find_unit(
	const struct tdm_operation_memory *memory, uint32_t rank, uint32_t device, uint8_t kind);

/* 0 or -ENOMEM. */
int tdm_operation_take_tensor(struct tdm_operation_memory *memory, const struct tdm_record *record);
/* After the last operation: which places matter. */
int tdm_operation_want_places(struct tdm_operation_memory *memory);
/* After the last record. */
void tdm_operation_join_tensors(struct tdm_operation_memory *memory);
void tdm_operation_find_banks(struct tdm_operation_memory *memory);

#endif
