/*
 * The runtime's programs: the circular buffers, dataflow buffers and code of each, by chip, as reported to libtidemark,
 * and the L1 that all of them take together.
 *
 * A program is identified by the address of its ProgramImpl, from its first report until its end. Programs share
 * addresses, so a core's figure is the union of the ranges of all resident programs (base/core_union.h). Any thread may
 * call these functions; each takes tdm_metal_lock() itself and calls no runtime function.
 */
#ifndef TDM_METAL_PROGRAMS_H
#define TDM_METAL_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tidemark.h"

enum {
	TDM_PROGRAM_NAME_MAX = 127,
	TDM_PROGRAM_OWN_NAME = 32,
	TDM_PROGRAM_KERNELS_MAX = 64,
	TDM_PROGRAM_ITEMS_MAX = 1 << 16
};
#define TDM_PROGRAM_ANY_CHIP UINT32_MAX
#define TDM_PROGRAM_ANY_KIND UINT32_MAX

/* An item of a program on a chip. It occupies the same bytes in each core of its ranges. */
struct tdm_program_item {
	uint32_t chip, kind;                /* enum tidemark_kind */
	uint32_t flags;                     /* flags of struct tidemark_buffer */
	uint32_t index;                     /* index in the program, on this chip */
	uint64_t address, size;             /* address and size in a core, in bytes */
	uint32_t range_count;               /* 0 if its cores are unknown */
	bool is_counted;                    /* included in the union */
	struct tidemark_core_range *ranges; /* owned */
};

struct tdm_program_items { /* starts zeroed */
	struct tdm_program_item *list;
	size_t count, cap;
};

/* Adds an item with a copy of its ranges. False if there is no memory, or there are too many items. */
bool tdm_program_items_add(struct tdm_program_items *items, const struct tdm_program_item *item);
void tdm_program_items_done(struct tdm_program_items *items);

/*
 * The items, all of one kind, become the program's items on their chips, and its earlier items of that kind on these
 * chips end. This takes two steps, because the runtime checks a layout after making it, and may refuse it. A refused
 * layout stays in the program and is checked again at the next launch. So the items wait until their layout is accepted
 * or replaced, or the program ends; meanwhile they are not reported, and the earlier items stay. Takes ownership of the
 * items. `number`: the runtime's number for the program; `name` may be "".
 */
void tdm_programs_propose(const void *program, uint64_t number, uint32_t kind, struct tdm_program_items *items);
void tdm_programs_accept(const void *program, const char *name, uint32_t kind);
/* Whether any items are waiting. */
bool tdm_programs_are_waiting(void);

/* Copies a program's items of one kind from one of its chips, for use on other chips. */
void tdm_programs_copy_items(const void *program, uint32_t kind, struct tdm_program_items *items);

/* Ends a program's items of one kind on one chip; kind and chip may be "any". If `program` is NULL, ends the items of
 * all programs. */
void tdm_programs_end_items(const void *program, uint32_t kind, uint32_t chip);

/* Ends all of a program's items, and forgets the program. */
void tdm_programs_end(const void *program);

/* Whether no program is known, so that there is nothing to end. */
bool tdm_programs_is_empty(void);

/* Adds a compiled kernel to a program. `name` is that of the kernel's source. */
void tdm_programs_add_kernel(const void *program, const void *kernel, const char *name);
size_t tdm_programs_kernels(const void *program, const void *kernels[TDM_PROGRAM_KERNELS_MAX]);
/* Joins the names of the program's kernels: "reader + writer"; "" if none is known. */
void tdm_programs_kernel_names(const void *program, char name[TDM_PROGRAM_NAME_MAX + 1]);

/* The part of L1 taken by a program's items of a kind: its waiting items if it has any, else its accepted items. */
struct tdm_program_extent {
	uint64_t begin, end; /* lowest and highest address */
	uint32_t range_count;
	struct tidemark_core_range range; /* the first range of the item with the highest end */
};

/* Sets the chips of those items, and returns their number; 0 if there are none. Safe while an exception is in
 * flight. */
size_t tdm_programs_extent(
	const void *program, uint32_t kind, struct tdm_program_extent *extent, uint32_t *chips, size_t cap);

/* The name under which a program's buffers are reported if the program has no other name: "program 7"; "" if the
 * program is unknown. */
void tdm_programs_own_name(const void *program, char name[TDM_PROGRAM_OWN_NAME]);

#endif
