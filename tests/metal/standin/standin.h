/*
 * What test programs call: the same for every release of the stand-in, from C, C++ and Python. Functions throw
 * std::runtime_error where the runtime does.
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { STANDIN_DRAM, STANDIN_L1, STANDIN_SYSTEM_MEMORY, STANDIN_L1_SMALL, STANDIN_TRACE };

struct standin_mesh;
struct standin_buffer;
struct standin_program;
struct standin_pinned;

/* A range of cores: from and to, both included. */
struct standin_cores {
	unsigned x0, y0, x1, y1;
};

/* What the accessors of a buffer say, and what the allocator took of each bank for it. */
struct standin_facts {
	uint64_t address, size, page_size, taken;
	uint32_t type, banks, cores; /* cores: 0 if it has no shards */
};

/* The release: 57, 64, 66, or 100. */
int standin_release_number(void);

/* A mesh of chips of a card: "n150", "n300" or "p150". */
struct standin_mesh *standin_open(
	const char *card, unsigned rows, unsigned columns, size_t l1_small, size_t trace_region);
struct standin_mesh *standin_submesh(struct standin_mesh *mesh, unsigned rows, unsigned columns);
void standin_close(struct standin_mesh *mesh);
void standin_drop_mesh(struct standin_mesh *mesh); /* gives it up, closed or not */

struct standin_buffer *standin_allocate(
	struct standin_mesh *mesh, int type, uint64_t size, uint64_t page_size, const struct standin_cores *shards);
struct standin_buffer *standin_allocate_bare(
	struct standin_mesh *mesh, unsigned chip, int type, uint64_t size, uint64_t page_size);
void standin_release(struct standin_buffer *buffer);
void standin_look(const struct standin_buffer *buffer, struct standin_facts *facts);
/* Per bank: all, allocated, free, the largest free block; of the mesh's own allocator. */
void standin_statistics(struct standin_mesh *mesh, int type, uint64_t figures[4]);
/* Called with each allocator that is asked for its statistics; NULL: nothing is. */
void standin_when_asked(void (*call)(const void *allocator));

/* `operation` may be NULL. */
struct standin_program *standin_new_program(struct standin_mesh *mesh, const char *operation);
void standin_add_cb(struct standin_program *program, const struct standin_cores *cores, uint64_t size,
	const struct standin_buffer *global);
void standin_resize_cb(struct standin_program *program, unsigned index, uint64_t size);
uint64_t standin_cb_address(const struct standin_program *program, unsigned index);
void standin_add_dfb(
	struct standin_program *program, const struct standin_cores *cores, uint32_t entry_bytes, uint32_t entries);
void standin_add_scratchpad(struct standin_program *program, uint64_t size);
void standin_add_kernel(struct standin_program *program, const char *name, uint32_t packed);
void standin_prepare(struct standin_program *program); /* what the first enqueue does, before it is added to the mesh */
void standin_prepare_on(struct standin_program *program, struct standin_mesh *mesh); /* another one */
void standin_enqueue(struct standin_program *program);
uint64_t standin_program_id(const struct standin_program *program);
void standin_drop_program(struct standin_program *program);

uint32_t standin_begin_trace(struct standin_mesh *mesh);
void standin_end_trace(struct standin_mesh *mesh, uint32_t id);
void standin_replay_trace(struct standin_mesh *mesh, uint32_t id);
void standin_release_trace(struct standin_mesh *mesh, uint32_t id);

/* NULL in releases that cannot pin. */
struct standin_pinned *standin_pin(struct standin_mesh *mesh, void *host, size_t size);
void standin_unpin(struct standin_pinned *pin);
/* Moves it to another object; the first one goes. */
struct standin_pinned *standin_move_pin(struct standin_pinned *pin);
/* Moves `other` to `pin`, which gives up its own memory; the other object goes. */
void standin_replace_pin(struct standin_pinned *pin, struct standin_pinned *other);

/* Says how far a program is, for a log of calls; it does nothing. */
void standin_mark(const char *name);

/* Faults. Calls the tracker with a pointer that no buffer is at. */
void standin_track_wild(const void *buffer);
/* The buffer's object is unmapped while the calls about it are still under way. */
void standin_allocate_and_vanish(struct standin_mesh *mesh);

#ifdef __cplusplus
}
#endif

#endif
