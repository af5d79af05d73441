/*
 * The tables of the cards: each architecture's constants, firmware map and compute grids, all with their sources, and
 * the boards. Nothing is computed here: card.c does that. There is one file per architecture; card_table.c has the
 * boards.
 *
 * A source names a file of the runtime (tenstorrent/tt-metal, at the commit in TDM_CARD_COMMIT unless it says
 * otherwise) and the macro or key in it.
 */
#ifndef TDM_DEVICE_CARD_TABLE_H
#define TDM_DEVICE_CARD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "device/card.h"

/* The commit of the runtime that the constants were read from; a prefix of the sources. */
#define TDM_CARD_COMMIT "tt-metal e4f9f0bb8de "

struct tdm_card_fact {
	enum tdm_card_field field;
	uint64_t value; /* TDM_BYTES_UNKNOWN: the source says why */
	const char *source;
};

/* One compute grid of the runtime's core descriptors. */
struct tdm_card_grid {
	uint32_t harvested;
	enum tdm_dispatch dispatch; /* TENSIX_ROW, TENSIX_COL or ETH */
	bool fabric_mux;
	uint32_t x, y;
	const char *source;
};

/*
 * The runtime's own part at the bottom of every DRAM bank: a barrier and the pointers of a print ring, one alignment
 * unit each, and the print ring.
 */
struct tdm_card_dram_reserve {
	uint64_t print_bytes;    /* the print ring */
	uint64_t profiler_bytes; /* with Tracy, after the barrier */
	const char *source, *tracy_source;
};

struct tdm_card_arch {
	enum tdm_arch arch;
	const char *name;
	const char *unknown; /* the reason given for a field that no table has */
	const struct tdm_card_fact *facts;
	size_t fact_count;
	const struct tdm_l1_part *parts;
	size_t part_count;
	const struct tdm_card_grid *grids;
	size_t grid_count;
	const char *harvest_unit; /* "rows" or "columns" */
	uint32_t harvested_max;
	bool harvests_columns;
	enum tdm_dispatch usual;      /* the meaning of DEFAULT: TENSIX or NONE */
	enum tdm_dispatch tensix;     /* the meaning of TENSIX: a row or a column */
	enum tdm_dispatch tensix_mux; /* the same, with a fabric mux */
	const char *no_l1_banks;      /* not NULL: why L1 banks are not simply the compute cores */
	struct tdm_card_dram_reserve dram;
};

extern const struct tdm_card_arch tdm_card_arch_grayskull;
extern const struct tdm_card_arch tdm_card_arch_wormhole;
extern const struct tdm_card_arch tdm_card_arch_blackhole;
extern const struct tdm_card_arch tdm_card_arch_quasar;

struct tdm_card_board {
	const char *name, *full_name;
	const struct tdm_card_arch *arch;
	uint32_t chips;
	uint32_t harvested, harvested_old; /* the usual number, today and with old firmware */
	uint32_t dram_banks;               /* 0: as many as the architecture has */
	const char *source;
};

/* By name or alias, ignoring case; NULL when unknown. */
const struct tdm_card_board *tdm_card_board_find(struct tdm_str name);

#endif
