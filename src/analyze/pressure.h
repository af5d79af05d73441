/*
 * The pressure on the circular buffers of one core, for several ways to choose their sizes, from sizes and the model.
 *
 * The workload is a distributed addition: the A tiles are spread over a mesh of devices, every device has all B tiles,
 * and each A tile is added to all of them. CB0 has A, CB1 has B, CB2 the sum so far, CB16 the result. A pattern of the
 * user's own takes the place of this workload; figures that are only defined for A and B are unknown then.
 */
#ifndef TDM_ANALYZE_PRESSURE_H
#define TDM_ANALYZE_PRESSURE_H

#include "analyze/cb_advice.h"
#include "analyze/pressure_metric.h"
#include "device/card.h"

#define TDM_PRESSURE_TILES_MAX UINT64_C(1000000)

enum tdm_sizing_name {
	TDM_SIZING_CONSTANT,         /* four tiles each, whatever the workload */
	TDM_SIZING_ADAPTIVE_GUIDE,   /* the rule as the guide prints it */
	TDM_SIZING_ADAPTIVE_PROGRAM, /* the rule as the program computes it: with a target of 48 KiB */
	TDM_SIZING_GIVEN,            /* the sizes of a pattern file */
	TDM_SIZING_ADVISED,          /* by search on the model */
	TDM_SIZINGS
};

struct tdm_pressure_setup {
	uint64_t a_tiles, b_tiles;
	uint32_t mesh_rows, mesh_columns;
	uint64_t tile_bytes;
	const struct tdm_card *card;
	const struct tdm_core_speed *speed;
	const struct tdm_cb_pattern *pattern; /* of a file; NULL: the workload */
	uint64_t l1_used;                     /* bytes of L1 buffers on each core */
	struct tdm_progress *progress;        /* of the search for advice; NULL: none is shown */
};

struct tdm_sizing {
	uint8_t name; /* enum tdm_sizing_name */
	const struct tdm_cb_pattern *pattern;
	uint32_t *depths; /* in pages, in the order of the pattern; borrowed from the result */
	uint64_t bytes;   /* of all buffers, as they are placed */
	double metrics[TDM_PRESSURE_COUNT];
	double memory_efficiency; /* tiles that are both needed and there, of those that are either */
	double map_share;         /* of the whole L1: firmware, kernels, circular buffers and L1 buffers */
	bool fits;
	struct tdm_model_result model;
};

struct tdm_pressure_result {
	struct tdm_pressure_setup setup;
	struct tdm_cb_pattern pattern;
	uint64_t tiles_per_shard;
	uint64_t *needs;                       /* tiles that the workload has for each buffer */
	uint32_t *depths;                      /* of all strategies */
	uint64_t l1_usable, l1_left;           /* for circular buffers; TDM_BYTES_UNKNOWN */
	uint64_t firmware_bytes, kernel_bytes; /* the latter: what all kernels of a program may take */
	uint64_t card_buffers;                 /* circular buffers of a core; TDM_BYTES_UNKNOWN */
	size_t beyond_card;                    /* buffers of the pattern with an index that the card does not have */
	const char *workload;                  /* its class; NULL: unknown */
	const char *behaviour;                 /* what the guide expects of the class */
	struct tdm_sizing strategies[TDM_SIZINGS];
	size_t strategy_count;
	struct tdm_cb_advice advice;
};

/* What a workload takes if nobody says. */
#define TDM_PRESSURE_CARD   "n150"
#define TDM_PRESSURE_FORMAT "fp32"
enum { TDM_PRESSURE_MESH_ROWS = 1, TDM_PRESSURE_MESH_COLUMNS = 2 };

/* The sizes that --multi takes. */
extern const uint64_t tdm_pressure_sizes[];
extern const size_t tdm_pressure_size_count;

const char *tdm_sizing_title(enum tdm_sizing_name name); /* "adaptive_guide" */

/* Tiles of CB0, CB1, CB2 and CB16 by one of the first three strategies. */
void tdm_sizing_tiles(enum tdm_sizing_name name, uint64_t tiles_per_shard, uint64_t b_tiles, uint32_t tiles[4]);

/* Measures every strategy and runs the model with each. Strategies point into *result, which must not move. 0 or
 * -ENOMEM; give it back with tdm_pressure_done() in either case. */
int tdm_pressure_analyze(const struct tdm_pressure_setup *setup, struct tdm_pressure_result *result);
void tdm_pressure_done(struct tdm_pressure_result *result);

/* The strategy with this name; NULL: the result has none. */
const struct tdm_sizing *tdm_pressure_sizing(const struct tdm_pressure_result *result, enum tdm_sizing_name name);

#endif
