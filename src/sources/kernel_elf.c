#include "sources/kernel_elf.h"
#include "base/err.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD = 4, NAME_CAP = 16, TRIPLE = 3, TRIPLES_MAX = TDM_KERNEL_SEGMENTS_MAX };

/* The file; everything is copied out of it before it is checked. */
struct input {
	int fd;
	uint64_t size;
};

/* The needed fields of the header, the same for 32 and 64 bits. */
struct header {
	bool is_64;
	uint16_t type, machine;
	uint16_t phentsize, phnum, shentsize, shnum, shstrndx;
	uint64_t entry, phoff, shoff;
};

struct section {
	uint32_t name, type;
	uint64_t flags, offset, size;
};

static int bad(struct tdm_diag *diag, const char *text)
{
	return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0, "%s", text);
}

static int read_at(const struct input *in, uint64_t offset, void *dst, size_t len, struct tdm_diag *diag)
{
	char *at = dst;
	if (offset > in->size || len > in->size - offset)
		return bad(diag, "the file is shorter than its headers say");
	while (len != 0) {
		ssize_t got = pread(in->fd, at, len, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tdm_diag_set(diag, -errno, 0, 0, "cannot be read: %s", tdm_err_text(-errno));
		if (got == 0)
			return bad(diag, "the file became shorter while it was read");
		at += got;
		offset += (uint64_t)got;
		len -= (size_t)got;
	}
	return 0;
}

bool tdm_kernel_elf_detect(const char *head, size_t len)
{
	return len >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0;
}

static int read_header(const struct input *in, struct header *h, struct tdm_diag *diag)
{
	unsigned char ident[EI_NIDENT];
	int err = read_at(in, 0, ident, sizeof ident, diag);
	if (err != 0)
		return err;
	if (!tdm_kernel_elf_detect((const char *)ident, sizeof ident))
		return bad(diag, "not an ELF file");
	h->is_64 = ident[EI_CLASS] == ELFCLASS64;
	if ((!h->is_64 && ident[EI_CLASS] != ELFCLASS32) || ident[EI_DATA] != ELFDATA2LSB ||
		ident[EI_VERSION] != EV_CURRENT)
		return bad(diag, "not a little-endian ELF file of 32 or 64 bits");
#define COPY(raw)                                                                                     \
	do {                                                                                          \
		h->type = (raw).e_type, h->machine = (raw).e_machine, h->entry = (raw).e_entry;       \
		h->phoff = (raw).e_phoff, h->phnum = (raw).e_phnum, h->phentsize = (raw).e_phentsize; \
		h->shoff = (raw).e_shoff, h->shnum = (raw).e_shnum, h->shentsize = (raw).e_shentsize; \
		h->shstrndx = (raw).e_shstrndx;                                                       \
	} while (0)
	if (h->is_64) {
		Elf64_Ehdr raw;
		if ((err = read_at(in, 0, &raw, sizeof raw, diag)) != 0)
			return err;
		COPY(raw);
	} else {
		Elf32_Ehdr raw;
		if ((err = read_at(in, 0, &raw, sizeof raw, diag)) != 0)
			return err;
		COPY(raw);
	}
#undef COPY
	if (h->machine != EM_RISCV)
		return bad(diag, "not a RISC-V program, so not a kernel of the runtime");
	if (h->type != ET_EXEC)
		return bad(diag, "not an executable file: object files have no segments");
	if (h->phnum == 0 || h->phentsize != (h->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return bad(diag, "no program headers");
	return 0;
}

static int add_segment(struct tdm_kernel_elf *elf, const struct input *in, const Elf64_Phdr *p, struct tdm_diag *diag)
{
	if (p->p_offset > in->size || p->p_filesz > in->size - p->p_offset)
		return bad(diag, "a segment reaches beyond the end of the file");
	if (((p->p_offset | p->p_vaddr | p->p_paddr) & (WORD - 1)) != 0)
		return bad(diag, "a segment that is not aligned to words");
	if (p->p_memsz < p->p_filesz || p->p_memsz > UINT32_MAX)
		return bad(diag, "a segment with impossible sizes");
	if (elf->segment_count == TDM_KERNEL_SEGMENTS_MAX)
		return bad(diag, "more segments than a kernel has");
	elf->segments[elf->segment_count++] = (struct tdm_kernel_segment){
		.address = p->p_vaddr,
		.file_bytes = p->p_filesz,
		.packed_bytes = (p->p_filesz + WORD - 1) / WORD * WORD,
		.memory_bytes = (p->p_memsz + WORD - 1) / WORD * WORD,
		.limit = UINT64_MAX,
		.executable = (p->p_flags & PF_X) != 0,
	};
	return 0;
}

static int read_segments(
	struct tdm_kernel_elf *elf, const struct input *in, const struct header *h, struct tdm_diag *diag)
{
	for (uint64_t i = 0; i < h->phnum; i++) {
		Elf64_Phdr p;
		Elf32_Phdr small;
		uint64_t at = i * h->phentsize;
		if (h->phoff > UINT64_MAX - at)
			return bad(diag, "program headers beyond the end of the file");
		int err = h->is_64 ? read_at(in, h->phoff + at, &p, sizeof p, diag)
				   : read_at(in, h->phoff + at, &small, sizeof small, diag);
		if (err != 0)
			return err;
		if (!h->is_64)
			p = (Elf64_Phdr){ small.p_type, small.p_flags, small.p_offset, small.p_vaddr, small.p_paddr,
				small.p_filesz, small.p_memsz, small.p_align };
		if (p.p_type != PT_LOAD)
			continue;
		if ((err = add_segment(elf, in, &p, diag)) != 0)
			return err;
	}
	return elf->segment_count != 0 ? 0 : bad(diag, "no loadable segments");
}

static int read_section(
	const struct input *in, const struct header *h, uint64_t index, struct section *s, struct tdm_diag *diag)
{
	uint64_t at = index * h->shentsize;
	int err;
	if (h->shoff > UINT64_MAX - at)
		return bad(diag, "section headers beyond the end of the file");
	if (h->is_64) {
		Elf64_Shdr raw;
		err = read_at(in, h->shoff + at, &raw, sizeof raw, diag);
		if (err == 0)
			*s = (struct section){ raw.sh_name, raw.sh_type, raw.sh_flags, raw.sh_offset, raw.sh_size };
	} else {
		Elf32_Shdr raw;
		err = read_at(in, h->shoff + at, &raw, sizeof raw, diag);
		if (err == 0)
			*s = (struct section){ raw.sh_name, raw.sh_type, raw.sh_flags, raw.sh_offset, raw.sh_size };
	}
	return err;
}

/*
 * One triple of .segments is an address, a bound and a limit: the segment at the address loses everything below the
 * bound, and should not be larger than the limit. An empty segment is dropped, as in the runtime.
 */
static int trim(struct tdm_kernel_elf *elf, const uint32_t triple[TRIPLE], struct tdm_diag *diag)
{
	for (uint32_t i = elf->segment_count; i-- > 0;) {
		struct tdm_kernel_segment *s = &elf->segments[i];
		if (s->address != triple[0])
			continue;
		uint32_t cut = triple[1] - triple[0];
		if (cut > s->packed_bytes || cut > s->memory_bytes || (cut & (WORD - 1)) != 0)
			return bad(diag, ".segments cuts more than a segment has");
		s->packed_bytes -= cut;
		s->memory_bytes -= cut;
		s->address += cut;
		s->limit = triple[2];
		if (s->memory_bytes == 0) {
			elf->segment_count--;
			memmove(s, s + 1, (elf->segment_count - i) * sizeof *s);
		}
		return 0;
	}
	return bad(diag, ".segments names a segment that does not exist");
}

/* From the last triple to the first, as in the runtime. */
static int trim_all(struct tdm_kernel_elf *elf, const struct input *in, const struct section *s, struct tdm_diag *diag)
{
	uint64_t count = s->size / (TRIPLE * sizeof(uint32_t));
	if (count > TRIPLES_MAX)
		return bad(diag, ".segments is too long");
	while (count-- > 0) {
		uint32_t triple[TRIPLE];
		uint64_t at = count * sizeof triple;
		if (s->offset > UINT64_MAX - at)
			return bad(diag, ".segments is beyond the end of the file");
		int err = read_at(in, s->offset + at, triple, sizeof triple, diag);
		if (err == 0)
			err = trim(elf, triple, diag);
		if (err != 0)
			return err;
	}
	return 0;
}

static int read_trims(struct tdm_kernel_elf *elf, const struct input *in, const struct header *h, struct tdm_diag *diag)
{
	static const char wanted[] = ".segments";
	struct section names, s;
	/* A file without sections has nothing to cut. */
	if (h->shnum == 0 || h->shoff == 0)
		return 0;
	if (h->shentsize != (h->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) || h->shstrndx >= h->shnum)
		return bad(diag, "damaged section headers");
	int err = read_section(in, h, h->shstrndx, &names, diag);
	for (uint64_t i = 0; err == 0 && i < h->shnum; i++) {
		char name[NAME_CAP];
		if ((err = read_section(in, h, i, &s, diag)) != 0)
			break;
		if ((s.flags & SHF_ALLOC) != 0 || s.type != SHT_PROGBITS)
			continue;
		if (names.size < sizeof wanted || s.name > names.size - sizeof wanted ||
			names.offset > UINT64_MAX - s.name)
			continue; /* there is no room for the wanted name after s.name */
		if ((err = read_at(in, names.offset + s.name, name, sizeof wanted, diag)) != 0)
			break;
		if (memcmp(name, wanted, sizeof wanted) == 0)
			return trim_all(elf, in, &s, diag);
	}
	return err;
}

int tdm_kernel_elf_read(struct tdm_kernel_elf *elf, int fd, uint64_t size, struct tdm_diag *diag)
{
	const struct input file = { fd, size }, *in = &file;
	struct header h = { 0 };
	*elf = (struct tdm_kernel_elf){ 0 };
	int err = read_header(in, &h, diag);
	if (err == 0)
		err = read_segments(elf, in, &h, diag);
	if (err == 0)
		err = read_trims(elf, in, &h, diag);
	if (err != 0) {
		*elf = (struct tdm_kernel_elf){ 0 };
		return err;
	}
	elf->entry = h.entry;
	/* No sum overflows: there are at most TDM_KERNEL_SEGMENTS_MAX sizes of 32 bits. */
	for (uint32_t i = 0; i < elf->segment_count; i++) {
		const struct tdm_kernel_segment *s = &elf->segments[i];
		elf->packed_bytes += s->packed_bytes;
		elf->text_bytes += s->executable ? s->packed_bytes : 0;
		elf->zeroed_bytes += s->memory_bytes - s->packed_bytes;
		elf->over_limit += s->memory_bytes > s->limit;
	}
	return 0;
}
