/*
 * The functions of tt-metal that the preload hooks, and those that it asks, in one table: what each is called in which
 * release, and what is seen with it. The preload looks each one up when a program loads the runtime; `tidemark doctor`
 * looks them up in a library without running it.
 *
 * A function that has had several symbols has one row for each, with the same name. The list is metal/hook_list.h.
 */
#ifndef TDM_METAL_HOOK_TABLE_H
#define TDM_METAL_HOOK_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* What is seen with a hook. tdm_metal_missing() says whether a library has what it takes. */
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
	const char *name;          /* "AllocatorImpl::allocate_buffer"; a hook's counter is "metal:" and this name */
	const char *symbol;        /* mangled */
	const char *since, *until; /* the first and the last release that has it; NULL: not known, still there */
	enum tdm_metal_topic topic;
	bool is_hook;   /* else it is only asked */
	bool is_needed; /* without any row of this name, the topic is not seen; else only what `sees` says is missing */
	const char *sees;
};

extern const struct tdm_metal_symbol tdm_metal_symbols[];
extern const size_t tdm_metal_symbol_count;

/*
 * The name of a function without which nothing is seen of a topic; NULL: the topic is seen. `present` says for each row
 * whether the library has the symbol.
 */
const char *tdm_metal_missing(enum tdm_metal_topic topic, const bool *present);

/* "buffers", "circular buffers": for tables and sentences. */
const char *tdm_metal_topic_name(enum tdm_metal_topic topic);

#endif
