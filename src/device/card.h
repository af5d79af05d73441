/*
 * What is known about a card: every constant and its source.
 *
 * A card is built in layers: the architecture's constants, the board's, the variant asked for (dispatch cores,
 * harvesting, firmware, profiler build), then the user's overrides. Each layer sets fields; a field that no layer sets
 * is unknown, never 0. Derived fields (L1 base, bank counts) are computed last from the other fields, unless they were
 * set themselves. Constants change between releases of the runtime, so each field can be overridden: tdm_card_set,
 * tdm_card_load.
 *
 * All figures are for one chip; `chips` says how many the card has.
 */
#ifndef TDM_DEVICE_CARD_H
#define TDM_DEVICE_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/str.h"
#include "base/units.h"

/* id, name in files and JSON, unit (B bytes, N count), what it is */
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

/* A part of the firmware's L1. Parts are in address order without gaps; gaps between named ones are "unnamed" parts. */
struct tdm_l1_part {
	const char *name;
	uint64_t address, size;
	const char *source;
};
enum { TDM_L1_PARTS_MAX = 32 };

/*
 * The variant of a card. tdm_card_variant_default is the card as sold, with today's runtime and firmware and without
 * Tracy; all zero is the same without harvesting.
 */
struct tdm_card_variant {
	enum tdm_dispatch dispatch;
	bool tracy;        /* the runtime was built with the Tracy profiler, which takes DRAM */
	bool old_firmware; /* before the firmware that changed harvesting (p150: 19.5) */
	bool fabric_mux;   /* a row or column of cores serves the fabric */
	int harvested;     /* rows or columns fused off; -1: the board's usual number */
};

struct tdm_card {
	const char *name;      /* "n150" */
	const char *full_name; /* "Wormhole n150" */
	enum tdm_arch arch;
	struct tdm_card_variant variant;
	uint64_t value[TDM_CARD_FIELD_COUNT];     /* TDM_BYTES_UNKNOWN when unknown */
	const char *source[TDM_CARD_FIELD_COUNT]; /* where it comes from, or why it is unknown; a constant string, never
						     NULL */
	bool is_set[TDM_CARD_FIELD_COUNT];        /* overridden by the user */
	struct tdm_l1_part parts[TDM_L1_PARTS_MAX];
	size_t part_count; /* 0: the firmware's map is unknown, e.g. because map_end was overridden */
};

static inline uint64_t tdm_card_get(const struct tdm_card *card, enum tdm_card_field field)
{
	return card->value[field];
}

/* A variant with the board's usual harvesting. */
struct tdm_card_variant tdm_card_variant_default(void);

/* The names of all cards, NULL-terminated, in the order of `tidemark device list`. */
extern const char *const tdm_card_names[];

/*
 * Builds a card. The name's case does not matter; the driver's names in tt_card_type ("p150a", "galaxy-wormhole") work,
 * too. A NULL variant is the default one. 0, TDM_ECARD with a list of the names in diag, or TDM_EREFUSED when the
 * runtime does not have the variant.
 */
int tdm_card_init(
	struct tdm_card *card, struct tdm_str name, const struct tdm_card_variant *variant, struct tdm_diag *diag);

/*
 * Overrides one field or variant, then derives the others again. `assignment` is "field=value", e.g. "l1_small=32K",
 * "dispatch=eth", "tracy=1", "harvested=0", "firmware=old", "fabric_mux=1". 0, TDM_EFIELD, TDM_ESYNTAX, -ERANGE, or
 * TDM_EREFUSED when the runtime does not have the variant; on an error the card is unchanged. In diag, the line is 0
 * and the column points into the assignment.
 */
int tdm_card_set(struct tdm_card *card, struct tdm_str assignment, struct tdm_diag *diag);

/*
 * Computes everything that was not overridden, from the tables and the variant. Needed only after changing `variant`
 * directly or calling tdm_card_assign; the other functions do it themselves. 0, or TDM_EREFUSED with the card
 * unchanged.
 */
int tdm_card_derive(struct tdm_card *card, struct tdm_diag *diag);

/*
 * Reads a card from a small file: lines of "field = value", '#' comments, and optionally first "card = n150". When the
 * file names no card, `card` must be initialised already (a zeroed one is refused). 0 or an error with file, line and
 * column in diag; on an error the card is unchanged. The result is not checked: see tdm_card_check.
 */
int tdm_card_load(struct tdm_card *card, const char *path, struct tdm_diag *diag);
int tdm_card_load_text(struct tdm_card *card, struct tdm_str text, struct tdm_diag *diag);

/*
 * The invariants of a usable card: grid inside workers, bases inside sizes, alignments powers of two. Unknown fields
 * violate none of them. 0 or TDM_EREFUSED; diag says what is wrong.
 */
int tdm_card_check(const struct tdm_card *card, struct tdm_diag *diag);

const char *tdm_card_field_name(enum tdm_card_field field);
const char *tdm_card_field_summary(enum tdm_card_field field);
char tdm_card_field_unit(enum tdm_card_field field);
const char *tdm_arch_name(enum tdm_arch arch);             /* "Wormhole" */
const char *tdm_dispatch_name(enum tdm_dispatch dispatch); /* "tensix-row", … */
/* The dispatch of this card, with DEFAULT and TENSIX resolved. */
enum tdm_dispatch tdm_card_dispatch(const struct tdm_card *card);

#endif
