/*
 * The states of memory in a report of the runtime's memory reporter: regions and blocks put together, checked against
 * their totals, and what a reader wants to know of them: when a kind was fullest, how fragmented it is, what splits its
 * free space.
 */
#ifndef TDM_ANALYZE_MEMORY_STATES_H
#define TDM_ANALYZE_MEMORY_STATES_H

#include "analyze/region_map.h"
#include "event/record.h"

struct tdm_memory_state {
	bool has_program;
	uint64_t program, line;
	size_t first_region, region_count;
};

struct tdm_memory_states {
	struct tdm_memory_head head;
	bool by_program;  /* the states are those of programs */
	bool rounded;     /* figures are up to 1023 bytes too low */
	uint64_t refused; /* records that could not be used, and what does not fit together */
	size_t state_count, region_count, block_count;
	struct tdm_memory_state *states;
	struct tdm_memory_region *regions;
	struct tdm_memory_block *blocks; /* in the order of the file */
	size_t state_cap, region_cap, block_cap;
};

/* A zeroed one is empty. */
void tdm_memory_states_done(struct tdm_memory_states *states);

/* For a sink. 0 or -ENOMEM. */
int tdm_memory_states_take(void *states, const struct tdm_record *record);

/* After the last record: figures that follow from the blocks. What does not add up, and states that are cut short, are
 * refused into the sink, which may be NULL. 0, or the sink's code. */
int tdm_memory_states_end(struct tdm_memory_states *states, const struct tdm_record_sink *sink);

/* The region of a kind in a state; NULL: none. */
const struct tdm_memory_region *tdm_memory_states_find(
	const struct tdm_memory_states *states, size_t state, enum tdm_kind kind);

/*
 * Banks of a region, from the report itself or from another one of the same run (`beside`, may be NULL), where that has
 * the same figures for the same state; 0: unknown.
 */
uint32_t tdm_memory_states_banks(const struct tdm_memory_states *states, const struct tdm_memory_states *beside,
	size_t state, const struct tdm_memory_region *region);
/* Whether the other one is of any use. */
bool tdm_memory_states_uses(const struct tdm_memory_states *states, const struct tdm_memory_states *beside);

/* The first state in which a kind of memory was fullest; SIZE_MAX: no state has it. */
size_t tdm_memory_states_fullest(const struct tdm_memory_states *states, enum tdm_kind kind);

/* The states, those first in which L1 was fullest: indices. Owned by the caller; NULL when out of memory. */
size_t *tdm_memory_states_order(const struct tdm_memory_states *states);

/* Size, allocated, free and largest free block of all banks, as far as they are known. */
enum { TDM_MEMORY_FIGURES = 4 };
void tdm_memory_region_all_banks(
	const struct tdm_memory_region *region, uint32_t banks, uint64_t figures[TDM_MEMORY_FIGURES]);
double tdm_memory_region_fragmentation(const struct tdm_memory_region *region); /* NAN: unknown */
double tdm_memory_region_share(const struct tdm_memory_region *region);         /* that is allocated; NAN */

/* The blocks between two holes: without them the holes would be one. */
struct tdm_memory_wall {
	uint64_t address, bytes; /* of the blocks between */
	uint64_t joined;         /* size of the hole that would be there */
	size_t blocks;
};

/* The blocks of a region: the walls that would join most first, the largest holes first. */
struct tdm_memory_map {
	struct tdm_region_map blocks;
	struct tdm_memory_wall *walls;
	size_t wall_count;
};

/* 0 or -ENOMEM; done either way. */
int tdm_memory_map_init(
	struct tdm_memory_map *map, const struct tdm_memory_states *states, const struct tdm_memory_region *region);
void tdm_memory_map_done(struct tdm_memory_map *map);

#endif
