/*
 * Compiled kernels: how many bytes the runtime copies into L1 for one of them. It packs the loadable segments of the
 * file, each rounded up to whole words, after cutting what the section .segments says; zeroed data is not among them.
 *
 * The files are read with the layouts of <elf.h> and not with a library: it is three tables, every offset of them must
 * be checked against the file either way, and the rule for packing is the runtime's own.
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
	uint64_t file_bytes;   /* as in the file */
	uint64_t packed_bytes; /* that the runtime copies */
	uint64_t memory_bytes; /* with zeroed data, in whole words */
	uint64_t limit;        /* UINT64_MAX: none */
	bool executable;
};

struct tdm_kernel_elf {
	uint64_t entry;
	uint64_t packed_bytes; /* sum over the segments */
	uint64_t text_bytes;   /* of those, the ones in executable segments */
	uint64_t zeroed_bytes; /* memory that has no bytes in the file: not copied */
	uint32_t segment_count;
	uint32_t over_limit; /* segments that are larger than the linker script allows */
	struct tdm_kernel_segment segments[TDM_KERNEL_SEGMENTS_MAX];
};

bool tdm_kernel_elf_detect(const char *head, size_t len);

/* Reads a descriptor of `size` bytes at any position. 0, -errno, or TDM_ECORRUPT with a text in diag. */
int tdm_kernel_elf_read(struct tdm_kernel_elf *elf, int fd, uint64_t size, struct tdm_diag *diag);

#endif
