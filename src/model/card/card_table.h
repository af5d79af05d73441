/*
 * The tables of the cards: the fields of a card, the boards, and each architecture's constants, firmware map and
 * compute grids, all with their sources. Nothing is computed here: card.c does that. Each architecture has its own
 * file; card_table.c lists the boards.
 *
 * A source names a file in the runtime (tenstorrent/tt-metal, at the commit in TDM_CARD_COMMIT unless the source says
 * otherwise) and the macro or key in that file.
 */
#ifndef TDM_MODEL_CARD_TABLE_H
#define TDM_MODEL_CARD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/units.h"

/* id, name in files and JSON, unit (B bytes, N count), description */
#define TDM_CARD_FIELD_LIST(X)                                                                                       \
	X(CHIPS, "chips", 'N', "chips on the card")                                                                  \
	X(L1_SIZE, "l1_size", 'B', "L1 of one Tensix core")                                                          \
	X(ETH_L1_SIZE, "eth_l1_size", 'B', "L1 of one Ethernet core")                                                \
	X(NOC_X, "noc_x", 'N', "columns of the network on chip")                                                     \
	X(NOC_Y, "noc_y", 'N', "rows of the network on chip")                                                        \
	X(WORKERS_X, "workers_x", 'N', "columns of Tensix cores before harvesting")                                  \
	X(WORKERS_Y, "workers_y", 'N', "rows of Tensix cores before harvesting")                                     \
	X(HARVESTED, "harvested", 'N', "rows (Wormhole) or columns (Blackhole) of Tensix cores fused off")           \
	X(GRID_X, "grid_x", 'N', "columns of the compute grid")                                                      \
	X(GRID_Y, "grid_y", 'N', "rows of the compute grid")                                                         \
	X(L1_BANKS, "l1_banks", 'N', "L1 banks: one for each core of the compute grid")                              \
	X(L1_ALIGN, "l1_align", 'B', "alignment of a page in L1")                                                    \
	X(DRAM_ALIGN, "dram_align", 'B', "alignment of a page in DRAM, of circular buffers and of every allocation") \
	X(PCIE_ALIGN, "pcie_align", 'B', "alignment for the host link")                                              \
	X(MAP_END, "map_end", 'B', "end of the firmware's part of L1, start of the kernel-config ring")              \
	X(KERNEL_CONFIG, "kernel_config", 'B', "size of the kernel-config ring")                                     \
	X(L1_BASE, "l1_base", 'B', "first L1 address for circular buffers and L1 buffers")                           \
	X(L1_SMALL, "l1_small", 'B', "L1_SMALL region at the top of L1")                                             \
	X(DRAM_BANKS, "dram_banks", 'N', "DRAM banks")                                                               \
	X(DRAM_BANK_SIZE, "dram_bank_size", 'B', "size of one DRAM bank")                                            \
	X(DRAM_BASE, "dram_base", 'B', "first DRAM address for buffers in each bank")                                \
	X(TRACE_REGION, "trace_region", 'B', "trace region, total over the DRAM banks")                              \
	X(CB_COUNT, "cb_count", 'N', "circular buffers of one core")                                                 \
	X(CB_MAX_PAGES, "cb_max_pages", 'N', "most pages of one circular buffer")

enum tdm_card_field {
#define X(id, name, unit, summary) TDM_CARD_##id,
	TDM_CARD_FIELD_LIST(X)
#undef X
		TDM_CARD_FIELD_COUNT
};

enum tdm_arch { TDM_ARCH_GRAYSKULL = 1, TDM_ARCH_WORMHOLE = 2, TDM_ARCH_BLACKHOLE = 3, TDM_ARCH_QUASAR = 4 };

enum tdm_dispatch {
	TDM_DISPATCH_DEFAULT,    /* the runtime's choice for this architecture */
	TDM_DISPATCH_TENSIX_ROW, /* a row of Tensix cores */
	TDM_DISPATCH_TENSIX_COL, /* a column of Tensix cores */
	TDM_DISPATCH_ETH,        /* Ethernet cores */
	TDM_DISPATCH_NONE,       /* no dispatch cores: every unharvested core computes (mock devices, slow dispatch) */
	TDM_DISPATCH_TENSIX,     /* a row or a column of Tensix cores, whichever the runtime uses */
};

/* A part of the firmware's L1. Parts are in address order without gaps; "unnamed" parts fill the space between named
 * ones. */
struct tdm_l1_part {
	const char *name;
	uint64_t address, size;
	const char *source;
};
enum { TDM_L1_PARTS_MAX = 32 };

/* The runtime commit from which the constants were read; used as a prefix of the sources. */
#define TDM_CARD_COMMIT "tt-metal e4f9f0bb8de "

struct tdm_card_fact {
	enum tdm_card_field field;
	uint64_t value; /* TDM_BYTES_UNKNOWN: `source` is the reason */
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
	uint64_t profiler_bytes; /* with Tracy, placed after the barrier */
	const char *source, *tracy_source;
};

struct tdm_card_arch {
	enum tdm_arch arch;
	const char *name;
	const char *unknown; /* the reason shown for fields that no table has */
	const struct tdm_card_fact *facts;
	size_t fact_count;
	const struct tdm_l1_part *parts;
	size_t part_count;
	const struct tdm_card_grid *grids;
	size_t grid_count;
	const char *harvest_unit; /* "rows" or "columns" */
	uint32_t harvested_max;
	bool harvests_columns;
	enum tdm_dispatch usual;      /* meaning of DEFAULT: TENSIX or NONE */
	enum tdm_dispatch tensix;     /* meaning of TENSIX: a row or a column */
	enum tdm_dispatch tensix_mux; /* meaning of TENSIX with a fabric mux */
	const char *no_l1_banks;      /* the reason why L1 banks are not simply the compute cores; NULL if they are */
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
	uint32_t harvested, harvested_old; /* the usual number, with current and with old firmware */
	uint32_t dram_banks;               /* 0: the architecture's number */
	const char *source;
};

/* The names of all cards, NULL-terminated, in the order of `tidemark device list`. */
extern const char *const tdm_card_names[];

/* By name or alias, ignoring case; NULL when unknown. */
const struct tdm_card_board *tdm_card_board_find(struct tdm_str name);

#endif
