/*
 * The programs of the runtime: what each has on which chip (circular buffers, dataflow buffers, code), as reported to
 * libtidemark, and how much of L1 all of them take together.
 *
 * A program is known by the address of its ProgramImpl, from its first report until its end. Programs share addresses:
 * a core's figure is the union of the ranges of all resident programs (core_union.h). Any thread may call; each
 * function takes tdm_metal_lock() itself and calls nothing of the runtime.
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

/* Something that a program has on a chip: the same bytes in each core of its ranges. */
struct tdm_program_item {
	uint32_t chip, kind;                /* enum tidemark_kind */
	uint32_t flags;                     /* of struct tidemark_buffer */
	uint32_t index;                     /* in the program, on this chip */
	uint64_t address, size;             /* bytes in a core */
	uint32_t range_count;               /* 0: its cores are not known */
	bool is_counted;                    /* in the union */
	struct tidemark_core_range *ranges; /* owned */
};

struct tdm_program_items { /* starts zeroed */
	struct tdm_program_item *list;
	size_t count, cap;
};

/* Adds an item with a copy of its ranges. False if there is no memory or there are too many. */
bool tdm_program_items_add(struct tdm_program_items *items, const struct tdm_program_item *item);
void tdm_program_items_done(struct tdm_program_items *items);

/* The items, all of one kind, become those of the program on the chips that they are on, and earlier ones of that kind
 * end there. Takes the items. `number`: the runtime's number of the program; `name` may be "". */
void tdm_programs_replace(
	const void *program, uint64_t number, const char *name, uint32_t kind, struct tdm_program_items *items);

/*
 * The same in two steps, because the runtime checks a layout after it was made, and may refuse it. It stays in the
 * program then, and the next launch checks it again: so the items wait until it is accepted, or the program has another
 * layout, or ends. They are not reported meanwhile, and those before them stay.
 */
void tdm_programs_propose(const void *program, uint64_t number, uint32_t kind, struct tdm_program_items *items);
void tdm_programs_accept(const void *program, const char *name, uint32_t kind);
/* Whether any items wait. */
bool tdm_programs_are_waiting(void);

/* Copies of what a program has of a kind on one of its chips, for other chips. */
void tdm_programs_copy_items(const void *program, uint32_t kind, struct tdm_program_items *items);

/* Ends what a program has of a kind on a chip; each may be any. Without `program`, of all programs. */
void tdm_programs_end_items(const void *program, uint32_t kind, uint32_t chip);

/* Ends all that a program has, and forgets it. */
void tdm_programs_end(const void *program);

/* Whether no program is known: then there is nothing to end. */
bool tdm_programs_is_empty(void);

/* The kernels of a program that were compiled. The name is that of the kernel's source. */
void tdm_programs_add_kernel(const void *program, const void *kernel, const char *name);
size_t tdm_programs_kernels(const void *program, const void *kernels[TDM_PROGRAM_KERNELS_MAX]);
/* "reader + writer"; "" if none is known. */
void tdm_programs_kernel_names(const void *program, char name[TDM_PROGRAM_NAME_MAX + 1]);

/* Where a program's items of a kind are in L1: those that wait, else the others. */
struct tdm_program_extent {
	uint64_t begin, end; /* the lowest and the highest address */
	uint32_t range_count;
	struct tidemark_core_range range; /* the first one of the item with the highest end */
};

/* The chips that they are on, and how many; 0: there are none. Safe while an exception is on its way. */
size_t tdm_programs_extent(
	const void *program, uint32_t kind, struct tdm_program_extent *extent, uint32_t *chips, size_t cap);

/* The name of a program that nothing else names, as its buffers have it: "program 7"; "" if it is not known. */
void tdm_programs_own_name(const void *program, char name[TDM_PROGRAM_OWN_NAME]);

#endif
