#include "sources/kernel_elf.h"
#include "sources/elf_file.h"

#include <string.h>

enum { WORD = 4, NAME_CAP = 16, TRIPLE = 3, TRIPLES_MAX = TDM_KERNEL_SEGMENTS_MAX };

static int read_header(struct tdm_elf *file, int fd, uint64_t size, struct tdm_diag *diag)
{
	int err = tdm_elf_begin(file, fd, size, diag);
	if (err != 0)
		return err;
	if (file->machine != EM_RISCV)
		return tdm_elf_bad(diag, "not a RISC-V program, so not a kernel of the runtime");
	if (file->type != ET_EXEC)
		return tdm_elf_bad(diag, "not an executable file: object files have no segments");
	return tdm_elf_has_segments(file) ? 0 : tdm_elf_bad(diag, "no program headers");
}

static int add_segment(struct tdm_kernel_elf *elf, const struct tdm_elf *in, const Elf64_Phdr *p, struct tdm_diag *diag)
{
	if (p->p_offset > in->size || p->p_filesz > in->size - p->p_offset)
		return tdm_elf_bad(diag, "a segment reaches beyond the end of the file");
	if (((p->p_offset | p->p_vaddr | p->p_paddr) & (WORD - 1)) != 0)
		return tdm_elf_bad(diag, "a segment that is not aligned to words");
	if (p->p_memsz < p->p_filesz || p->p_memsz > UINT32_MAX)
		return tdm_elf_bad(diag, "a segment with impossible sizes");
	if (elf->segment_count == TDM_KERNEL_SEGMENTS_MAX)
		return tdm_elf_bad(diag, "more segments than a kernel has");
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

static int read_segments(struct tdm_kernel_elf *elf, const struct tdm_elf *in, struct tdm_diag *diag)
{
	for (uint64_t i = 0; i < in->phnum; i++) {
		Elf64_Phdr p;
		int err = tdm_elf_segment(in, i, &p, diag);
		if (err == 0 && p.p_type == PT_LOAD)
			err = add_segment(elf, in, &p, diag);
		if (err != 0)
			return err;
	}
	return elf->segment_count != 0 ? 0 : tdm_elf_bad(diag, "no loadable segments");
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
			return tdm_elf_bad(diag, ".segments cuts more than a segment has");
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
	return tdm_elf_bad(diag, ".segments names a segment that does not exist");
}

/* From the last triple to the first, as in the runtime. */
static int trim_all(struct tdm_kernel_elf *elf, const struct tdm_elf *in, const Elf64_Shdr *s, struct tdm_diag *diag)
{
	uint64_t count = s->sh_size / (TRIPLE * sizeof(uint32_t));
	if (count > TRIPLES_MAX)
		return tdm_elf_bad(diag, ".segments is too long");
	while (count-- > 0) {
		uint32_t triple[TRIPLE];
		uint64_t at = count * sizeof triple;
		if (s->sh_offset > UINT64_MAX - at)
			return tdm_elf_bad(diag, ".segments is beyond the end of the file");
		int err = tdm_elf_read_at(in, s->sh_offset + at, triple, sizeof triple, diag);
		if (err == 0)
			err = trim(elf, triple, diag);
		if (err != 0)
			return err;
	}
	return 0;
}

static int read_trims(struct tdm_kernel_elf *elf, const struct tdm_elf *in, struct tdm_diag *diag)
{
	static const char wanted[] = ".segments";
	Elf64_Shdr names, s;
	/* A file without sections has nothing to cut. */
	if (in->shnum == 0 || in->shoff == 0)
		return 0;
	if (!tdm_elf_has_sections(in) || in->shstrndx >= in->shnum)
		return tdm_elf_bad(diag, "damaged section headers");
	int err = tdm_elf_section(in, in->shstrndx, &names, diag);
	for (uint64_t i = 0; err == 0 && i < in->shnum; i++) {
		char name[NAME_CAP];
		if ((err = tdm_elf_section(in, i, &s, diag)) != 0)
			break;
		if ((s.sh_flags & SHF_ALLOC) != 0 || s.sh_type != SHT_PROGBITS)
			continue;
		if (names.sh_size < sizeof wanted || s.sh_name > names.sh_size - sizeof wanted ||
			names.sh_offset > UINT64_MAX - s.sh_name)
			continue; /* there is no room for the wanted name after s.sh_name */
		if ((err = tdm_elf_read_at(in, names.sh_offset + s.sh_name, name, sizeof wanted, diag)) != 0)
			break;
		if (memcmp(name, wanted, sizeof wanted) == 0)
			return trim_all(elf, in, &s, diag);
	}
	return err;
}

int tdm_kernel_elf_read(struct tdm_kernel_elf *elf, int fd, uint64_t size, struct tdm_diag *diag)
{
	struct tdm_elf file;
	*elf = (struct tdm_kernel_elf){ 0 };
	int err = read_header(&file, fd, size, diag);
	if (err == 0)
		err = read_segments(elf, &file, diag);
	if (err == 0)
		err = read_trims(elf, &file, diag);
	if (err != 0) {
		*elf = (struct tdm_kernel_elf){ 0 };
		return err;
	}
	elf->entry = file.entry;
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
