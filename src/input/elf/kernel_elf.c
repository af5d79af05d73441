/*
 * Computes how many bytes the runtime copies into L1 for a compiled kernel. The runtime packs the loadable segments of
 * the file, each rounded up to whole words, after making the cuts specified in the section .segments. Zeroed data is
 * not copied.
 *
 * Uses the layouts of <elf.h> and no library: there are only three tables, every offset must be checked against the
 * file anyway, and the packing rule is specific to the runtime.
 */
#include "input/elf/elf_file.h"
#include "base/err.h"
#include "base/number.h"
#include "input/door/format.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORD = 4, TRIPLE = 3, TRIPLES_MAX = TDM_KERNEL_SEGMENTS_MAX };

static void add_segment(struct tdm_kernel_elf *elf, struct tdm_elf *in, const Elf64_Phdr *p)
{
	if (p->p_offset > in->size || p->p_filesz > in->size - p->p_offset)
		tdm_elf_bad(in, "a segment reaches beyond the end of the file");
	else if (((p->p_offset | p->p_vaddr | p->p_paddr) & (WORD - 1)) != 0)
		tdm_elf_bad(in, "a segment that is not aligned to words");
	else if (p->p_memsz < p->p_filesz || p->p_memsz > UINT32_MAX)
		tdm_elf_bad(in, "a segment with impossible sizes");
	else if (elf->segment_count == TDM_KERNEL_SEGMENTS_MAX)
		tdm_elf_bad(in, "more segments than a kernel has");
	if (in->err != 0)
		return;
	elf->segments[elf->segment_count++] = (struct tdm_kernel_segment){
		.address = p->p_vaddr,
		.file_bytes = p->p_filesz,
		.packed_bytes = (p->p_filesz + WORD - 1) / WORD * WORD,
		.memory_bytes = (p->p_memsz + WORD - 1) / WORD * WORD,
		.limit = UINT64_MAX,
		.executable = (p->p_flags & PF_X) != 0,
	};
}

/* Each triple in .segments is an address, a bound and a limit: everything below the bound is cut off the segment at the
 * address, and the segment should not exceed the limit. An empty segment is dropped, as in the runtime. */
static void trim(struct tdm_kernel_elf *elf, struct tdm_elf *in, const uint32_t triple[TRIPLE])
{
	for (uint32_t i = elf->segment_count; i-- > 0;) {
		struct tdm_kernel_segment *s = &elf->segments[i];
		if (s->address != triple[0])
			continue;
		uint32_t cut = triple[1] - triple[0];
		if (cut > s->packed_bytes || cut > s->memory_bytes || (cut & (WORD - 1)) != 0) {
			tdm_elf_bad(in, ".segments cuts more than a segment has");
			return;
		}
		s->packed_bytes -= cut;
		s->memory_bytes -= cut;
		s->address += cut;
		s->limit = triple[2];
		if (s->memory_bytes == 0) {
			elf->segment_count--;
			memmove(s, s + 1, (elf->segment_count - i) * sizeof *s);
		}
		return;
	}
	tdm_elf_bad(in, ".segments names a segment that does not exist");
}

/* Makes the cuts from last to first, as in the runtime. A file without sections needs none. */
static void read_trims(struct tdm_kernel_elf *elf, struct tdm_elf *in)
{
	static const char wanted[] = ".segments";
	Elf64_Shdr names, s;
	uint32_t triple[TRIPLE];
	if (in->err != 0 || in->shnum == 0 || in->shoff == 0)
		return;
	if (!tdm_elf_has_sections(in) || in->shstrndx >= in->shnum) {
		tdm_elf_bad(in, "damaged section headers");
		return;
	}
	tdm_elf_section(in, in->shstrndx, &names);
	for (uint64_t i = 0; i < in->shnum && tdm_elf_section(in, i, &s); i++) {
		char name[sizeof wanted];
		if ((s.sh_flags & SHF_ALLOC) != 0 || s.sh_type != SHT_PROGBITS)
			continue;
		if (names.sh_size < sizeof wanted || s.sh_name > names.sh_size - sizeof wanted ||
			names.sh_offset > UINT64_MAX - s.sh_name)
			continue; /* there is no room for the wanted name after s.sh_name */
		if (!tdm_elf_read(in, names.sh_offset + s.sh_name, name, sizeof name) ||
			memcmp(name, wanted, sizeof wanted) != 0)
			continue;
		uint64_t count = s.sh_size / sizeof triple;
		if (count > TRIPLES_MAX)
			tdm_elf_bad(in, ".segments is too long");
		while (in->err == 0 && count-- > 0)
			if (tdm_elf_read(in, tdm_plus(s.sh_offset, count * sizeof triple), triple, sizeof triple))
				trim(elf, in, triple);
		return;
	}
}

int tdm_kernel_elf_read(struct tdm_kernel_elf *elf, int fd, uint64_t size, struct tdm_diag *diag)
{
	struct tdm_elf file;
	Elf64_Phdr p;
	*elf = (struct tdm_kernel_elf){ 0 };
	tdm_elf_begin(&file, fd, size, diag);
	if (file.machine != EM_RISCV)
		tdm_elf_bad(&file, "not a RISC-V program, so not a kernel of the runtime");
	else if (file.type != ET_EXEC)
		tdm_elf_bad(&file, "not an executable file: object files have no segments");
	else if (!tdm_elf_has_segments(&file))
		tdm_elf_bad(&file, "no program headers");
	for (uint64_t i = 0; file.err == 0 && i < file.phnum && tdm_elf_segment(&file, i, &p); i++)
		if (p.p_type == PT_LOAD)
			add_segment(elf, &file, &p);
	if (elf->segment_count == 0)
		tdm_elf_bad(&file, "no loadable segments");
	read_trims(elf, &file);
	/* The sum cannot overflow, because there are at most TDM_KERNEL_SEGMENTS_MAX 32-bit sizes. */
	for (uint32_t i = 0; i < elf->segment_count; i++) {
		const struct tdm_kernel_segment *s = &elf->segments[i];
		elf->packed_bytes += s->packed_bytes;
		elf->text_bytes += s->executable ? s->packed_bytes : 0;
		elf->zeroed_bytes += s->memory_bytes - s->packed_bytes;
		elf->over_limit += s->memory_bytes > s->limit;
	}
	if (file.err != 0)
		*elf = (struct tdm_kernel_elf){ 0 };
	return file.err;
}

/* ---- the cache ---- */

enum { PARTS = 6 };

/* The processors, in the order shown in tables. */
static const char *const targets[] = { "brisc", "ncrisc", "trisc0", "trisc1", "trisc2", "erisc", "active_erisc",
	"subordinate_active_erisc", "idle_erisc", "subordinate_idle_erisc", "drisc" };

/* The last parts of a path, starting with the last one; missing parts are empty. */
static void split(const char *path, struct tdm_str parts[PARTS])
{
	size_t end = strlen(path);
	for (int i = 0; i < PARTS; i++) {
		while (end > 0 && path[end - 1] == '/')
			end--;
		size_t from = end;
		while (from > 0 && path[from - 1] != '/')
			from--;
		parts[i] = (struct tdm_str){ path + from, end - from };
		end = from;
	}
}

/* The digits at the end of a name; the build may directly follow the cache's name, without a slash. */
static struct tdm_str digits_of(struct tdm_str text)
{
	size_t from = text.len;
	while (from > 0 && text.ptr[from - 1] >= '0' && text.ptr[from - 1] <= '9')
		from--;
	return tdm_str_from(text, from);
}

/* Pushes a binary, with names taken from its path. Read from its end, the path is TARGET.elf, TARGET, HASH, NAME,
 * "kernels" and BUILD; or TARGET.elf, TARGET, "firmware" and BUILD. */
static int push_binary(const struct tdm_kernel_elf *elf, const char *path, const struct tdm_record_sink *sink)
{
	struct tdm_str parts[PARTS], file, build = { "", 0 }, name = build, hash = build;
	char texts[4][NAME_MAX + 1];
	split(path, parts);
	file = parts[0];
	file.len -= tdm_str_ends(file, ".elf") && file.len > 4 ? 4 : 0;
	bool is_in_place = tdm_str_eq(file, parts[1]), is_firmware = is_in_place && tdm_str_is(parts[2], "firmware");
	if (is_firmware) {
		build = digits_of(parts[3]);
	} else if (is_in_place && parts[2].len != 0 && digits_of(parts[2]).len == parts[2].len) {
		hash = parts[2];
		name = parts[3];
		if (tdm_str_is(parts[4], "kernels"))
			build = digits_of(parts[5]);
	}
	const struct tdm_str kept[] = { file, name, hash, build };
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		snprintf(texts[i], sizeof texts[i], "%.*s", TDM_STR_ARG(kept[i]));
	uint8_t order = 0;
	while (order < sizeof targets / sizeof *targets && !tdm_str_is(file, targets[order]))
		order++;
	struct tdm_kernel_binary b = {
		.path = path,
		.target = texts[0],
		.name = texts[1],
		.hash = texts[2],
		.build = texts[3],
		.order = order,
		.firmware = is_firmware,
		.packed_bytes = elf->packed_bytes,
		.text_bytes = elf->text_bytes,
		.zeroed_bytes = elf->zeroed_bytes,
		.over_limit = elf->over_limit,
	};
	return sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_BINARY, .binary = &b });
}

/* Reads one file and pushes it. 0, the sink's code, or another code with diag set. */
static int take_file(int fd, uint64_t size, const char *path, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_kernel_elf elf;
	int err = tdm_kernel_elf_read(&elf, fd, size, diag);
	return err != 0 ? err : push_binary(&elf, path, sink);
}

static int visit(void *to, int folder, const char *name, const char *path, const struct tdm_diag *refused)
{
	const struct tdm_record_sink *sink = to;
	struct tdm_diag diag = { .file = path };
	struct stat st;
	struct tdm_str parts[PARTS];
	if (refused != NULL)
		return tdm_record_refuse(sink, refused, false);
	/* A binary is named after its folder, as in TARGET/TARGET.elf. Objects, dependencies and copies are ignored. */
	split(path, parts);
	if (!tdm_str_ends(parts[0], ".elf") || parts[0].len != parts[1].len + 4 ||
		!tdm_str_eq((struct tdm_str){ parts[0].ptr, parts[1].len }, parts[1]))
		return 0;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), err;
	if (fd < 0 || fstat(fd, &st) != 0)
		err = tdm_diag_set(&diag, -errno, 0, 0, "cannot be read: %s", tdm_err_text(-errno));
	else
		err = take_file(fd, (uint64_t)st.st_size, path, sink, &diag);
	if (fd >= 0)
		close(fd);
	return err != 0 ? tdm_record_refuse(sink, &diag, false) : 0;
}

static bool kernels_recognise(struct tdm_str head, const char *path)
{
	(void)path;
	return tdm_elf_detect(head.ptr, head.len);
}

static int kernels_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_record_sink to = *sink;
	struct tdm_walk_rest rest;
	/* Names come from the whole path, including the part above the given folder. */
	char *absolute = realpath(tdm_input_name(input), NULL);
	const char *path = absolute != NULL ? absolute : tdm_input_name(input);
	int err;
	if (tdm_input_is_folder(input)) {
		err = tdm_folder_walk(path, &rest, visit, &to);
		if (err == 0)
			err = sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_WALK_END, .walk = &rest });
	} else {
		uint64_t bytes;
		int fd = tdm_input_file(input, &bytes, diag);
		err = fd < 0 ? fd : take_file(fd, bytes, path, sink, diag);
	}
	free(absolute);
	return err;
}

uint64_t tdm_kernel_cache_bytes_of(const char *path)
{
	uint64_t bytes = 0;
	size_t found = 0;
	int folder = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	if (folder < 0)
		return TDM_BYTES_UNKNOWN;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct tdm_kernel_elf elf;
		struct stat st;
		char file[128];
		snprintf(file, sizeof file, "%s/%s.elf", targets[i], targets[i]);
		int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0)
			continue;
		bool is_good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
			       tdm_kernel_elf_read(&elf, fd, (uint64_t)st.st_size, NULL) == 0;
		close(fd);
		if (!is_good) {
			found = 0;
			break;
		}
		bytes += tdm_kernel_ring_bytes(elf.packed_bytes);
		found++;
	}
	close(folder);
	return found != 0 ? bytes : TDM_BYTES_UNKNOWN;
}

const struct tdm_format tdm_format_kernels = {
	.name = "kernels",
	.summary = "compiled kernel",
	.takes_folders = true,
	.recognise = kernels_recognise,
	.records = kernels_records,
};
