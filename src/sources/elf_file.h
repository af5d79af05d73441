/*
 * The headers and tables of an ELF file, by the layouts of <elf.h> and without a library. The file may be hostile:
 * every piece is checked against its size and copied out before it is looked at. Tables of 32 bits come out in the form
 * of those of 64.
 */
#ifndef TDM_SOURCES_ELF_FILE_H
#define TDM_SOURCES_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct tdm_elf {
	int fd; /* borrowed; its position does not matter */
	uint64_t size;
	bool is_64;
	uint16_t type, machine;
	uint16_t phentsize, phnum, shentsize, shnum, shstrndx;
	uint64_t entry, phoff, shoff;
};

/* Whether a file begins like one. */
bool tdm_elf_detect(const char *head, size_t len);

/* Reads the header. All of these return 0, -errno, or TDM_ECORRUPT with a text in diag. */
int tdm_elf_begin(struct tdm_elf *elf, int fd, uint64_t size, struct tdm_diag *diag);
int tdm_elf_bad(struct tdm_diag *diag, const char *text);
int tdm_elf_read_at(const struct tdm_elf *elf, uint64_t offset, void *dst, size_t len, struct tdm_diag *diag);

/* Where a row of a table goes: one of 64 bits, or one of 32, which the caller then converts. */
struct tdm_elf_form {
	void *row, *row_32;
	size_t size, size_32;
};
#define TDM_ELF_FORM(row, row_32) ((struct tdm_elf_form){ (row), (row_32), sizeof *(row), sizeof *(row_32) })
int tdm_elf_row(
	const struct tdm_elf *elf, uint64_t table, uint64_t index, struct tdm_elf_form form, struct tdm_diag *diag);

/* Whether there are program headers, or section headers, of the right size. */
bool tdm_elf_has_segments(const struct tdm_elf *elf);
bool tdm_elf_has_sections(const struct tdm_elf *elf);
int tdm_elf_segment(const struct tdm_elf *elf, uint64_t index, Elf64_Phdr *segment, struct tdm_diag *diag);
int tdm_elf_section(const struct tdm_elf *elf, uint64_t index, Elf64_Shdr *section, struct tdm_diag *diag);

#endif
