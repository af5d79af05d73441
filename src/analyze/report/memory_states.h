/* Analyses a report written by the runtime's memory reporter. Groups the report's regions and blocks into memory
 * states, and checks them against the totals. Shows when each kind of memory was fullest, how fragmented that kind is,
 * and which blocks split its free space. */
#ifndef TDM_ANALYZE_MEMORY_STATES_H
#define TDM_ANALYZE_MEMORY_STATES_H

#include "analyze/live/region_map.h"
#include "input/door/format.h"

struct tdm_memory_state {
	bool has_program;
	uint64_t program, line;
	size_t first_region, region_count;
	/* Set at the end: the two main kinds; NULL if the state lacks the kind. */
	const struct tdm_memory_region *dram, *l1;
};

/* The blocks between two holes, without which there would be a single hole. */
struct tdm_memory_wall {
	uint64_t address, bytes; /* start and size of these blocks */
	uint64_t joined;         /* size of the hole that would exist without these blocks */
	uint64_t blocks;
};

/* The map of a region's blocks: holes sorted largest first, walls sorted by the size that they would join. */
struct tdm_memory_map {
	struct tdm_region_map blocks;
	struct tdm_memory_wall *walls;
	size_t wall_count;
};

struct tdm_memory_states {
	/* Set by the caller. Files of the same run are searched for in the folder of `reading`'s file. */
	struct tdm_record_sink sink;      /* receives contradictions found at the end; may be empty */
	const struct tdm_intake *reading; /* NULL if there is no file */

	struct tdm_memory_region head;
	bool by_program;  /* each state belongs to a program */
	bool rounded;     /* figures are up to 1023 bytes too low */
	char *banks_from; /* file that provided the number of banks; NULL if there is none */
	uint64_t refused; /* number of unusable or contradictory records */
	size_t state_count, region_count, block_count;
	struct tdm_memory_state *states;
	struct tdm_memory_region *regions;
	struct tdm_memory_block *blocks; /* in file order */
	struct tdm_memory_map *maps;     /* set at the end: one per region; empty if the region has no blocks */
	size_t state_cap, region_cap, block_cap;
};

/* These take a struct tdm_memory_states, which is empty if zeroed. The end computes the figures that follow from the
 * blocks, and the totals of all banks. Totals that do not add up, and truncated states, go to the sink as refusals. */
int tdm_memory_states_take(void *states, const struct tdm_record *record);
void tdm_memory_states_end(void *states);
void tdm_memory_states_done(void *states);

/* A kind's region in a state; NULL if there is none. */
const struct tdm_memory_region *tdm_memory_states_find(
	const struct tdm_memory_states *states, size_t state, enum tdm_kind kind);

/* Copies missing bank counts from another report of the same run, if both reports contain equal figures for the same
 * state. Returns whether any were found. */
bool tdm_memory_states_take_banks(struct tdm_memory_states *states, const struct tdm_memory_states *beside);

#endif
