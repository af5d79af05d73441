#include "sources/elf_file.h"
#include "base/err.h"
#include "base/number.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int tdm_elf_bad(struct tdm_diag *diag, const char *text)
{
	return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0, "%s", text);
}

int tdm_elf_read_at(const struct tdm_elf *elf, uint64_t offset, void *dst, size_t len, struct tdm_diag *diag)
{
	char *at = dst;
	if (offset > elf->size || len > elf->size - offset)
		return tdm_elf_bad(diag, "the file is shorter than its headers say");
	while (len != 0) {
		ssize_t got = pread(elf->fd, at, len, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tdm_diag_set(diag, -errno, 0, 0, "cannot be read: %s", tdm_err_text(-errno));
		if (got == 0)
			return tdm_elf_bad(diag, "the file became shorter while it was read");
		at += got;
		offset += (uint64_t)got;
		len -= (size_t)got;
	}
	return 0;
}

bool tdm_elf_detect(const char *head, size_t len)
{
	return len >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0;
}

int tdm_elf_begin(struct tdm_elf *elf, int fd, uint64_t size, struct tdm_diag *diag)
{
	unsigned char ident[EI_NIDENT];
	*elf = (struct tdm_elf){ .fd = fd, .size = size };
	int err = tdm_elf_read_at(elf, 0, ident, size < SELFMAG ? (size_t)size : SELFMAG, diag);
	if (err != 0)
		return err;
	if (!tdm_elf_detect((const char *)ident, size < SELFMAG ? (size_t)size : SELFMAG))
		return tdm_elf_bad(diag, "not an ELF file");
	if ((err = tdm_elf_read_at(elf, 0, ident, sizeof ident, diag)) != 0)
		return err;
	elf->is_64 = ident[EI_CLASS] == ELFCLASS64;
	if ((!elf->is_64 && ident[EI_CLASS] != ELFCLASS32) || ident[EI_DATA] != ELFDATA2LSB ||
		ident[EI_VERSION] != EV_CURRENT)
		return tdm_elf_bad(diag, "not a little-endian ELF file of 32 or 64 bits");
#define COPY(raw)                                                                                           \
	do {                                                                                                \
		elf->type = (raw).e_type, elf->machine = (raw).e_machine, elf->entry = (raw).e_entry;       \
		elf->phoff = (raw).e_phoff, elf->phnum = (raw).e_phnum, elf->phentsize = (raw).e_phentsize; \
		elf->shoff = (raw).e_shoff, elf->shnum = (raw).e_shnum, elf->shentsize = (raw).e_shentsize; \
		elf->shstrndx = (raw).e_shstrndx;                                                           \
	} while (0)
	Elf64_Ehdr large;
	Elf32_Ehdr small;
	if ((err = tdm_elf_row(elf, 0, 0, TDM_ELF_FORM(&large, &small), diag)) != 0)
		return err;
	if (elf->is_64)
		COPY(large);
	else
		COPY(small);
#undef COPY
	return 0;
}

bool tdm_elf_has_segments(const struct tdm_elf *elf)
{
	return elf->phnum != 0 && elf->phentsize == (elf->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
}

bool tdm_elf_has_sections(const struct tdm_elf *elf)
{
	return elf->shnum != 0 && elf->shoff != 0 &&
	       elf->shentsize == (elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
}

int tdm_elf_row(
	const struct tdm_elf *elf, uint64_t table, uint64_t index, struct tdm_elf_form form, struct tdm_diag *diag)
{
	size_t size = elf->is_64 ? form.size : form.size_32;
	return tdm_elf_read_at(elf, tdm_plus(table, index * size), elf->is_64 ? form.row : form.row_32, size, diag);
}

int tdm_elf_segment(const struct tdm_elf *elf, uint64_t index, Elf64_Phdr *p, struct tdm_diag *diag)
{
	Elf32_Phdr raw;
	int err = tdm_elf_row(elf, elf->phoff, index, TDM_ELF_FORM(p, &raw), diag);
	if (err == 0 && !elf->is_64)
		*p = (Elf64_Phdr){ raw.p_type, raw.p_flags, raw.p_offset, raw.p_vaddr, raw.p_paddr, raw.p_filesz,
			raw.p_memsz, raw.p_align };
	return err;
}

int tdm_elf_section(const struct tdm_elf *elf, uint64_t index, Elf64_Shdr *s, struct tdm_diag *diag)
{
	Elf32_Shdr raw;
	int err = tdm_elf_row(elf, elf->shoff, index, TDM_ELF_FORM(s, &raw), diag);
	if (err == 0 && !elf->is_64)
		*s = (Elf64_Shdr){ raw.sh_name, raw.sh_type, raw.sh_flags, raw.sh_addr, raw.sh_offset, raw.sh_size,
			raw.sh_link, raw.sh_info, raw.sh_addralign, raw.sh_entsize };
	return err;
}
