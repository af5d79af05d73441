/*
 * What `doctor --metal` judges a library, a program or a running process by, read once and without running anything:
 * which of its files have functions that the preload hooks, and how often those were called.
 */
#ifndef TDM_STATE_METAL_SETUP_H
#define TDM_STATE_METAL_SETUP_H

#include "base/diag.h"
#include "sources/elf_objects.h"
#include "sources/elf_symbols.h"
#include "sources/program_file.h"
#include "state/state.h"

enum tdm_metal_target { TDM_METAL_TARGET_LIBRARY, TDM_METAL_TARGET_PROGRAM, TDM_METAL_TARGET_PROCESS };

/* A function of tt-metal under one of its names: a row of the preload's table, as plain data. */
struct tdm_metal_function {
	const char *name, *symbol, *since, *until, *sees; /* sees: NULL: nothing by itself */
	const char *topic;
	bool is_hook, is_needed;
};

/* A file with some of the functions. */
struct tdm_metal_file {
	const char *path;
	uint8_t *has;                           /* of each function, enum tdm_elf_has */
	size_t defined, hidden, imported;       /* hooked functions, each once */
	bool is_symbolic, is_bound, is_deleted; /* is_bound: as tdm_elf_object_find() says */
};

struct tdm_metal_setup {
	const struct tdm_metal_function *functions; /* borrowed; those that are hooked come first */
	size_t function_count;
	const char *target; /* as the user named it */
	enum tdm_metal_target type;
	int err; /* why it cannot be looked at, with a text in diag */
	struct tdm_diag diag;
	struct tdm_program_file program; /* if it is one */
	struct tdm_objects objects;
	struct tdm_metal_file *files; /* of the objects those that have any; the definers first */
	size_t file_count, file_cap, definer_count;
	size_t unread; /* objects that could not be read */
	/* Of a process: */
	int32_t pid;
	bool has_preload;      /* it is mapped */
	bool has_ledger;       /* and its counters could be read */
	int tracking;          /* whether its environment has TIDEMARK=1: 1, 0, or a negative code */
	uint64_t *calls;       /* of each function's name; unknown: nobody counts it */
	uint64_t called_count; /* functions that were called */
};

/* Where to look; NULL: the usual places. */
struct tdm_metal_places {
	const char *ledgers, *proc, *preload; /* preload: the name of its file */
};

/* 0 or -ENOMEM; release it in either case. A target that cannot be read is `err`. */
int tdm_metal_setup_read(struct tdm_metal_setup *setup, const char *target, const struct tdm_metal_function *functions,
	size_t count, const struct tdm_metal_places *places);
void tdm_metal_setup_done(struct tdm_metal_setup *setup);

#endif
