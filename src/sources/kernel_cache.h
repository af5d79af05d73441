/*
 * The runtime's cache of compiled kernels, or any part of it:
 *
 *     …/BUILD/kernels/NAME/HASH/TARGET/TARGET.elf
 *     …/BUILD/firmware/TARGET/TARGET.elf
 *
 * Folders are walked to a bounded depth and number of entries; links are not followed, so that there are no loops.
 */
#ifndef TDM_SOURCES_KERNEL_CACHE_H
#define TDM_SOURCES_KERNEL_CACHE_H

#include "base/buf.h"
#include "base/diag.h"
#include "sources/kernel_elf.h"

enum { TDM_KERNEL_CACHE_DEPTH = 8, TDM_KERNEL_CACHE_ENTRIES = 1 << 20, TDM_KERNEL_ALIGN = 16 };

/* A binary. Texts are offsets, see tdm_kernel_cache_text. */
struct tdm_kernel_binary {
	size_t build;  /* number of the build; empty: unknown */
	size_t name;   /* of the kernel; empty for firmware, or when the path does not tell */
	size_t hash;   /* of its arguments and defines */
	size_t target; /* the processor: "brisc", … */
	size_t path;
	uint8_t order; /* of the processor among the known ones */
	bool firmware;
	uint64_t packed_bytes, text_bytes, zeroed_bytes;
	uint32_t over_limit;
};

struct tdm_kernel_cache {
	size_t count, cap;
	struct tdm_kernel_binary *binaries; /* sorted: kernels by build, name and hash, then firmware */
	struct tdm_buf texts;
	uint64_t refused;   /* files and folders that could not be used */
	uint64_t links;     /* that were not followed */
	uint64_t entries;   /* looked at */
	uint64_t unvisited; /* folders below the depth, or beyond the number of entries */
};

typedef void (*tdm_kernel_cache_warn)(void *context, const struct tdm_diag *diag);

void tdm_kernel_cache_init(struct tdm_kernel_cache *cache);
void tdm_kernel_cache_done(struct tdm_kernel_cache *cache);

/* Adds one file. 0, or a code with diag set. */
int tdm_kernel_cache_add(
	struct tdm_kernel_cache *cache, int fd, uint64_t size, const char *path, struct tdm_diag *diag);

/* Adds everything below a folder. What cannot be used is named and counted. 0 or -ENOMEM. */
int tdm_kernel_cache_walk(struct tdm_kernel_cache *cache, const char *path, tdm_kernel_cache_warn warn, void *context);

/*
 * Bytes that the binaries of one kernel take in the kernel-config ring, each rounded up to TDM_KERNEL_ALIGN, where
 * `path` is the folder of the kernel (…/NAME/HASH). Only the files of known processors are looked for.
 * TDM_BYTES_UNKNOWN when there is none, or one that cannot be used.
 */
uint64_t tdm_kernel_cache_bytes_of(const char *path);

/* Puts the binaries in order; call it behind the last addition. */
void tdm_kernel_cache_sort(struct tdm_kernel_cache *cache);

static inline const char *tdm_kernel_cache_text(const struct tdm_kernel_cache *cache, size_t offset)
{
	return offset < cache->texts.len ? cache->texts.data + offset : "";
}

/* What a binary takes in the ring. */
static inline uint64_t tdm_kernel_ring_bytes(uint64_t packed_bytes)
{
	return (packed_bytes + TDM_KERNEL_ALIGN - 1) / TDM_KERNEL_ALIGN * TDM_KERNEL_ALIGN;
}

/* Whether two binaries, neither of them firmware, are of one kernel. */
bool tdm_kernel_cache_is_same(const struct tdm_kernel_cache *cache, size_t a, size_t b);

#endif
