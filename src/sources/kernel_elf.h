/*
 * Finds out how many bytes the runtime copies into L1 for a compiled kernel. The runtime packs the loadable segments of
 * the file, each rounded up to whole words, after the cuts that the section .segments asks for; zeroed data is not
 * copied.
 *
 * This uses the layouts of <elf.h> and no library: there are only three tables, every offset has to be checked against
 * the file anyway, and the packing rule is the runtime's own.
 */
#ifndef TDM_SOURCES_KERNEL_ELF_H
#define TDM_SOURCES_KERNEL_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

enum { TDM_KERNEL_SEGMENTS_MAX = 64 };

struct tdm_kernel_segment {
	uint64_t address;
	uint64_t file_bytes;   /* in the file */
	uint64_t packed_bytes; /* bytes that the runtime copies */
	uint64_t memory_bytes; /* including zeroed data, in whole words */
	uint64_t limit;        /* UINT64_MAX: none */
	bool executable;
};

struct tdm_kernel_elf {
	uint64_t entry;
	uint64_t packed_bytes; /* sum over the segments */
	uint64_t text_bytes;   /* of those, bytes in executable segments */
	uint64_t zeroed_bytes; /* memory without bytes in the file, which is not copied */
	uint32_t segment_count;
	uint32_t over_limit; /* segments that are larger than the linker script allows */
	struct tdm_kernel_segment segments[TDM_KERNEL_SEGMENTS_MAX];
};

/* Reads a file of `size` bytes; its position does not matter. 0, -errno, or TDM_ECORRUPT with a text in diag. */
int tdm_kernel_elf_read(struct tdm_kernel_elf *elf, int fd, uint64_t size, struct tdm_diag *diag);

#endif
