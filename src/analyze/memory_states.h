/* The memory states in a report of the runtime's memory reporter. Regions and blocks are grouped and checked against
 * their totals. Answers when a kind was fullest, how fragmented it is, and what splits its free space. */
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
	bool by_program;        /* the states are those of programs */
	bool rounded;           /* figures are up to 1023 bytes too low */
	const char *banks_from; /* set by the caller: the report that the number of banks was taken from, or NULL */
	uint64_t refused;       /* records that could not be used or contradict each other */
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

/* After the last record: computes the figures that follow from the blocks, and those of all banks. Totals that do not
 * add up and truncated states go to the sink as refusals; it may be NULL. 0, or the sink's code. */
int tdm_memory_states_end(struct tdm_memory_states *states, const struct tdm_record_sink *sink);

/* The region of a kind in a state; NULL: none. */
const struct tdm_memory_region *tdm_memory_states_find(
	const struct tdm_memory_states *states, size_t state, enum tdm_kind kind);

/* Takes unknown numbers of banks from another report of the same run with the same figures for the same state. Returns
 * whether it found any. */
bool tdm_memory_states_take_banks(struct tdm_memory_states *states, const struct tdm_memory_states *beside);

/* Each kind in the first state in which it was fullest, ordered by kind. Returns how many there are. */
size_t tdm_memory_states_fullest(
	const struct tdm_memory_states *states, const struct tdm_memory_region *regions[TDM_KIND_COUNT]);

/* A state with the two main kinds; NULL: it does not have the kind. */
struct tdm_memory_row {
	size_t state;
	const struct tdm_memory_region *dram, *l1;
};

/* All states, the one with the fullest L1 first. Owned by the caller; NULL when out of memory. */
struct tdm_memory_row *tdm_memory_states_order(const struct tdm_memory_states *states);

double tdm_memory_region_fragmentation(const struct tdm_memory_region *region); /* NAN: unknown; NULL is allowed */

/* The blocks between two holes: without them the holes would be one. */
struct tdm_memory_wall {
	uint64_t address, bytes; /* of the blocks between */
	uint64_t joined;         /* size of the hole there would be without them */
	size_t blocks;
};

/* The blocks of a region: the walls that would join most first, the largest holes first. */
struct tdm_memory_map {
	struct tdm_region_map blocks;
	struct tdm_memory_wall *walls;
	size_t wall_count;
};

/* 0 or -ENOMEM; call done in both cases. */
int tdm_memory_map_init(
	struct tdm_memory_map *map, const struct tdm_memory_states *states, const struct tdm_memory_region *region);
void tdm_memory_map_done(struct tdm_memory_map *map);

#endif
