/*
 * The table of all tt-metal functions that the preload hooks or calls, with each function's symbols in all releases and
 * the information it provides. The preload looks up each function when a program loads the runtime; `tidemark doctor`
 * looks them up in a library without running it.
 *
 * A function with several symbols has one row for each, with the same name. The rows are listed in metal/hook_list.h.
 */
#ifndef TDM_METAL_HOOK_TABLE_H
#define TDM_METAL_HOOK_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* The topics about which hooks provide information. tdm_metal_missing() tests whether a library has the functions
 * for a topic. */
enum tdm_metal_topic {
	TDM_METAL_BUFFERS,
	TDM_METAL_DEVICES,
	TDM_METAL_OUT_OF_MEMORY,
	TDM_METAL_CBS,
	TDM_METAL_CLASHES,
	TDM_METAL_DFBS,
	TDM_METAL_SCRATCHPADS,
	TDM_METAL_CODE,
	TDM_METAL_TRACES,
	TDM_METAL_PINNED,
	TDM_METAL_NAMES,
	TDM_METAL_STATISTICS,
	TDM_METAL_TOPICS
};

struct tdm_metal_symbol {
	/* such as "AllocatorImpl::allocate_buffer"; a hook's counter is named "metal:" followed by this name */
	const char *name;
	const char *symbol; /* mangled name */
	/* the first and last releases that contain the function; NULL: unknown, or still present */
	const char *since, *until;
	enum tdm_metal_topic topic;
	bool is_hook; /* the function is hooked; otherwise it is only called */
	/* if no symbol with this name exists, the whole topic is invisible; if this is false, only `sees` is */
	bool is_needed;
	const char *sees;
};

extern const struct tdm_metal_symbol tdm_metal_symbols[];
extern const size_t tdm_metal_symbol_count;

/*
 * The name of a function whose absence makes a topic invisible; NULL if the topic is visible. present[i]: whether the
 * library has the symbol of row i.
 */
const char *tdm_metal_missing(enum tdm_metal_topic topic, const bool *present);

/* The topic's name for tables and sentences, such as "buffers" or "circular buffers". */
const char *tdm_metal_topic_name(enum tdm_metal_topic topic);

#endif
