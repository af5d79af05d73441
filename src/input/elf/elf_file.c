/*
 * Every access goes through tdm_elf_read(), which checks the range against the file's size and copies the bytes out.
 * The header is read first. For a program or library, the tables that the dynamic loader uses come next (dynamic
 * section, strings, symbols, relocations). They are found through the program headers, because section headers may be
 * stripped. Searches compare symbol names in chunks, so memory does not grow with the symbol table.
 */
#include "input/elf/elf_file.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Real tables are far smaller; a larger one means that the file is damaged or not worth the memory. */
enum { SYMBOLS_MAX = 1 << 24, DYNAMIC_MAX = 1 << 16, CHAIN_MAX = 1 << 20, PIECE = 2048, LENGTHS = 512 };
#define STRINGS_MAX (UINT64_C(1) << 28)

/* ---- headers and tables ---- */

int tdm_elf_bad(struct tdm_elf *elf, const char *text)
{
	if (elf->err == 0)
		elf->err = tdm_diag_set(elf->diag, TDM_ECORRUPT, 0, 0, "%s", text);
	return elf->err;
}

bool tdm_elf_read(struct tdm_elf *elf, uint64_t offset, void *dst, size_t len)
{
	char *at = dst;
	if (offset > elf->size || len > elf->size - offset)
		tdm_elf_bad(elf, "the file is shorter than its headers say");
	for (size_t left = len; elf->err == 0 && left != 0;) {
		ssize_t got = pread(elf->fd, at, left, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			elf->err = tdm_diag_set(elf->diag, -errno, 0, 0, "cannot be read: %s", tdm_err_text(-errno));
		else if (got == 0)
			tdm_elf_bad(elf, "the file became shorter while it was read");
		else
			at += got, offset += (uint64_t)got, left -= (size_t)got;
	}
	if (elf->err != 0)
		memset(dst, 0, len);
	return elf->err == 0;
}

/* Reads a table row in its 64-bit or 32-bit form; the caller then converts it. */
#define READ_ROW(elf, table, index, large, small)                                                        \
	tdm_elf_read(elf, tdm_plus(table, (index) * ((elf)->is_64 ? sizeof *(large) : sizeof *(small))), \
		(elf)->is_64 ? (void *)(large) : (void *)(small), (elf)->is_64 ? sizeof *(large) : sizeof *(small))

bool tdm_elf_detect(const char *head, size_t len)
{
	return len >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0;
}

int tdm_elf_begin(struct tdm_elf *elf, int fd, uint64_t size, struct tdm_diag *diag)
{
	char ident[EI_NIDENT];
	size_t magic = size < SELFMAG ? (size_t)size : SELFMAG;
	*elf = (struct tdm_elf){ .fd = fd, .size = size, .diag = diag };
	if (tdm_elf_read(elf, 0, ident, magic) && !tdm_elf_detect(ident, magic))
		tdm_elf_bad(elf, "not an ELF file");
	if (!tdm_elf_read(elf, 0, ident, sizeof ident))
		return elf->err;
	elf->is_64 = ident[EI_CLASS] == ELFCLASS64;
	if ((!elf->is_64 && ident[EI_CLASS] != ELFCLASS32) || ident[EI_DATA] != ELFDATA2LSB ||
		ident[EI_VERSION] != EV_CURRENT)
		return tdm_elf_bad(elf, "not a little-endian ELF file of 32 or 64 bits");
#define COPY(raw)                                                                                           \
	do {                                                                                                \
		elf->type = (raw).e_type, elf->machine = (raw).e_machine;                                   \
		elf->phoff = (raw).e_phoff, elf->phnum = (raw).e_phnum, elf->phentsize = (raw).e_phentsize; \
		elf->shoff = (raw).e_shoff, elf->shnum = (raw).e_shnum, elf->shentsize = (raw).e_shentsize; \
		elf->shstrndx = (raw).e_shstrndx;                                                           \
	} while (0)
	Elf64_Ehdr large;
	Elf32_Ehdr small;
	READ_ROW(elf, 0, 0, &large, &small);
	if (elf->is_64)
		COPY(large);
	else
		COPY(small);
#undef COPY
	return elf->err;
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

bool tdm_elf_segment(struct tdm_elf *elf, uint64_t index, Elf64_Phdr *p)
{
	Elf32_Phdr raw;
	bool is_good = READ_ROW(elf, elf->phoff, index, p, &raw);
	if (!elf->is_64)
		*p = (Elf64_Phdr){ raw.p_type, raw.p_flags, raw.p_offset, raw.p_vaddr, raw.p_paddr, raw.p_filesz,
			raw.p_memsz, raw.p_align };
	return is_good;
}

bool tdm_elf_section(struct tdm_elf *elf, uint64_t index, Elf64_Shdr *s)
{
	Elf32_Shdr raw;
	bool is_good = READ_ROW(elf, elf->shoff, index, s, &raw);
	if (!elf->is_64)
		*s = (Elf64_Shdr){ raw.sh_name, raw.sh_type, raw.sh_flags, raw.sh_addr, raw.sh_offset, raw.sh_size,
			raw.sh_link, raw.sh_info, raw.sh_addralign, raw.sh_entsize };
	return is_good;
}

/* A copy without a diag but with its own error state, for reads whose failure does not matter. */
static struct tdm_elf forgiving(const struct tdm_elf *file)
{
	struct tdm_elf copy = *file;
	copy.err = 0;
	copy.diag = NULL;
	return copy;
}

/* ---- tables used by the loader ---- */

/* The values of the dynamic section by tag: tags below DT_NUM, and two others. */
enum { GNU_HASH = DT_NUM, VERSIONS, VALUES };

static size_t symbol_size(const struct tdm_elf *file)
{
	return file->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

/* Converts an address to a file offset; 0 after an error. */
static uint64_t offset_of(struct tdm_elf *file, uint64_t address)
{
	Elf64_Phdr p;
	for (uint64_t i = 0; i < file->phnum && tdm_elf_segment(file, i, &p); i++)
		if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz &&
			p.p_offset <= UINT64_MAX - (address - p.p_vaddr))
			return p.p_offset + (address - p.p_vaddr);
	tdm_elf_bad(file, "a table of the loader is in no segment");
	return 0;
}

/* Returns a copy of a string table with a NUL after it; NULL after an error. */
static char *copy_strings(struct tdm_elf *file, uint64_t offset, uint64_t bytes)
{
	if (offset > file->size || bytes > file->size - offset)
		tdm_elf_bad(file, "the names of symbols reach beyond the end of the file");
	if (bytes > STRINGS_MAX)
		tdm_elf_bad(file, "more names of symbols than can be read");
	char *strings = file->err == 0 ? malloc(bytes + 1) : NULL;
	if (file->err == 0 && strings == NULL)
		file->err = tdm_diag_set(file->diag, -ENOMEM, 0, 0, "out of memory");
	if (file->err != 0)
		return NULL;
	strings[bytes] = '\0';
	tdm_elf_read(file, offset, strings, bytes);
	return strings;
}

/* A string from the loader's string table; NULL if the offset is out of range. */
static const char *text_at(const struct tdm_elf_object *object, uint64_t offset)
{
	return offset < object->string_bytes ? object->strings + offset : NULL;
}

/*
 * The GNU hash table has no count, and omits imported symbols, which come first in the symbol table. So the last symbol
 * is at the end of the highest bucket's chain. A program that exports nothing has no chains; the count is then `room`.
 */
static uint64_t count_of_gnu_hash(struct tdm_elf *file, uint64_t address, uint64_t room)
{
	uint32_t head[4], piece[PIECE], last = 0;
	uint64_t at = offset_of(file, address);
	tdm_elf_read(file, at, head, sizeof head);
	at = tdm_plus(at, sizeof head + (uint64_t)head[2] * (file->is_64 ? sizeof(uint64_t) : sizeof(uint32_t)));
	for (uint64_t done = 0, now; file->err == 0 && done < head[0]; done += now, at += now * sizeof *piece) {
		now = tdm_min(head[0] - done, PIECE);
		tdm_elf_read(file, at, piece, now * sizeof *piece);
		for (uint64_t i = 0; i < now; i++)
			last = piece[i] > last ? piece[i] : last;
	}
	if (file->err != 0 || last < head[1] || last == 0)
		return room;
	for (uint64_t i = 0; i < CHAIN_MAX; i++) {
		uint32_t hash;
		if (!tdm_elf_read(file, at + (last - head[1] + i) * sizeof hash, &hash, sizeof hash) || (hash & 1) != 0)
			return last + i + 1;
	}
	tdm_elf_bad(file, "a chain of the loader's hash table has no end");
	return 0;
}

/*
 * The number of symbols. Section headers are the best source if they describe the loader's table, but may be stripped.
 * The old hash table has an entry for each symbol. Otherwise the count is the number of symbols that fit before the
 * loader's next table or the end of the file.
 */
static uint64_t count_symbols(struct tdm_elf_object *object, const uint64_t values[VALUES])
{
	struct tdm_elf *file = &object->file, sections = forgiving(file);
	const uint64_t others[] = { values[DT_STRTAB], values[DT_HASH], values[GNU_HASH], values[VERSIONS] };
	uint64_t at = object->symbols_offset, end = UINT64_MAX, size = symbol_size(file);
	Elf64_Shdr s;
	uint32_t head[2];
	if (at > file->size)
		tdm_elf_bad(file, "the symbols are beyond the end of the file");
	if (file->err != 0)
		return 0;
	for (uint64_t i = 0; tdm_elf_has_sections(file) && i < file->shnum && tdm_elf_section(&sections, i, &s); i++)
		if (s.sh_type == SHT_DYNSYM && s.sh_offset == at && s.sh_size <= file->size - at && s.sh_size >= size)
			return s.sh_size / size;
	if (values[DT_HASH] != 0) {
		tdm_elf_read(file, offset_of(file, values[DT_HASH]), head, sizeof head);
		return head[1];
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (others[i] > values[DT_SYMTAB])
			end = tdm_min(end, others[i]);
	uint64_t room = tdm_min(end - values[DT_SYMTAB], file->size - at) / size;
	return values[GNU_HASH] != 0 ? count_of_gnu_hash(file, values[GNU_HASH], room) : room;
}

static bool read_entry(struct tdm_elf *file, uint64_t offset, uint64_t index, Elf64_Dyn *entry)
{
	Elf32_Dyn raw;
	bool is_good = READ_ROW(file, offset, index, entry, &raw);
	if (!file->is_64)
		*entry = (Elf64_Dyn){ raw.d_tag, { raw.d_un.d_val } };
	return is_good;
}

static void read_dynamic(struct tdm_elf_object *object, const Elf64_Phdr *p)
{
	struct tdm_elf *file = &object->file;
	uint64_t values[VALUES] = { [DT_RPATH] = UINT64_MAX, [DT_RUNPATH] = UINT64_MAX };
	uint64_t count = p->p_filesz / (file->is_64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn)), i;
	Elf64_Dyn entry = { .d_tag = DT_NULL + 1 };
	if (count > DYNAMIC_MAX)
		tdm_elf_bad(file, "the loader's section is too long");
	for (i = 0; file->err == 0 && i < count && entry.d_tag != DT_NULL; i++) {
		if (!read_entry(file, p->p_offset, i, &entry))
			break;
		int64_t tag = entry.d_tag;
		uint64_t value = entry.d_un.d_val;
		if (tag >= 0 && tag < DT_NUM)
			values[tag] = value;
		else if (tag == DT_GNU_HASH)
			values[GNU_HASH] = value;
		else if (tag == DT_VERSYM)
			values[VERSIONS] = value;
		object->is_symbolic |= tag == DT_SYMBOLIC || (tag == DT_FLAGS && (value & DF_SYMBOLIC) != 0);
		object->is_pie |= tag == DT_FLAGS_1 && (value & DF_1_PIE) != 0;
	}
	object->relocations[0] = values[DT_JMPREL];
	object->relocation_bytes[0] = values[DT_PLTRELSZ];
	object->relocations[1] = values[DT_RELA];
	object->relocation_bytes[1] = values[DT_RELASZ];
	if (file->err == 0 && values[DT_STRTAB] != 0)
		object->strings = copy_strings(file, offset_of(file, values[DT_STRTAB]), values[DT_STRSZ]);
	if (object->strings != NULL) {
		object->string_bytes = values[DT_STRSZ];
		object->rpath = text_at(object, values[DT_RPATH]);
		object->runpath = text_at(object, values[DT_RUNPATH]);
		if (values[DT_SYMTAB] != 0) {
			object->symbols_offset = offset_of(file, values[DT_SYMTAB]);
			object->symbol_count = count_symbols(object, values);
		}
		if (object->symbol_count > SYMBOLS_MAX)
			tdm_elf_bad(file, "more symbols than can be read");
	}
	/* The names of needed libraries are offsets into the string table, which may come later in the section. */
	count = i;
	for (i = 0; i < count && file->err == 0 && read_entry(file, p->p_offset, i, &entry); i++) {
		const char *name = text_at(object, entry.d_un.d_val);
		if (entry.d_tag != DT_NEEDED)
			continue;
		if (name == NULL || name[0] == '\0')
			tdm_elf_bad(file, "the name of a needed library is missing");
		else if (object->needed_count == TDM_ELF_NEEDED_MAX)
			tdm_elf_bad(file, "more needed libraries than can be read");
		if (file->err != 0)
			return;
		tdm_grow(&object->needed, &object->needed_cap, object->needed_count + 1, sizeof *object->needed);
		object->needed[object->needed_count++] = name;
	}
}

int tdm_elf_object_read(struct tdm_elf_object *object, int fd, uint64_t size, struct tdm_diag *diag)
{
	*object = (struct tdm_elf_object){ 0 };
	struct tdm_elf *file = &object->file;
	Elf64_Phdr p;
	tdm_elf_begin(file, fd, size, diag);
	if (file->type != ET_DYN && file->type != ET_EXEC)
		tdm_elf_bad(file, "neither a program nor a shared library");
	if (!tdm_elf_has_segments(file))
		tdm_elf_bad(file, "no program headers");
	for (uint64_t i = 0; file->err == 0 && i < file->phnum && tdm_elf_segment(file, i, &p); i++) {
		object->has_interpreter |= p.p_type == PT_INTERP;
		if (p.p_type != PT_DYNAMIC || object->is_dynamic)
			continue;
		object->is_dynamic = true;
		read_dynamic(object, &p);
	}
	file->diag = NULL;
	return file->err;
}

void tdm_elf_object_done(struct tdm_elf_object *object)
{
	free(object->needed);
	free(object->strings);
	*object = (struct tdm_elf_object){ 0 };
}

/* ---- symbols ---- */

/* A search for names in a symbol table. */
struct search {
	struct tdm_elf file;
	uint64_t offset, symbol_count; /* position and size of the symbol table */
	const char *strings;           /* the table's strings */
	uint64_t string_bytes;
	bool is_whole; /* the table is the full one with local symbols, which the loader ignores */
	const char *const *names;
	size_t count;
	uint8_t *has;
	/* one bit per symbol in the loader's table, set if it defines one of the names; or NULL */
	uint8_t *numbers;
	bool lengths[LENGTHS]; /* lengths of the names, modulo LENGTHS, to rule out most symbols quickly */
};

static void compare(const struct search *search, const Elf64_Sym *s, uint64_t number)
{
	unsigned bind = ELF64_ST_BIND(s->st_info);
	bool is_global = bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE;
	bool is_seen = is_global && !search->is_whole && ELF64_ST_VISIBILITY(s->st_other) == STV_DEFAULT;
	uint8_t has = s->st_shndx != SHN_UNDEF ? is_seen ? TDM_ELF_DEFINED : TDM_ELF_HIDDEN
		      : search->is_whole       ? TDM_ELF_ABSENT
					       : TDM_ELF_IMPORTED;
	if (s->st_name == 0 || s->st_name >= search->string_bytes ||
		!search->lengths[strlen(search->strings + s->st_name) % LENGTHS])
		return;
	for (size_t i = 0; i < search->count; i++)
		if (strcmp(search->strings + s->st_name, search->names[i]) == 0) {
			search->has[i] = has > search->has[i] ? has : search->has[i];
			if (has == TDM_ELF_DEFINED && search->numbers != NULL)
				search->numbers[number / 8] |= (uint8_t)(1U << number % 8);
		}
}

static void find_all(struct search *search)
{
	union {
		Elf64_Sym large[PIECE];
		Elf32_Sym small[PIECE];
	} piece;
	size_t size = symbol_size(&search->file);
	for (uint64_t done = 0, now; done < search->symbol_count; done += now) {
		now = tdm_min(search->symbol_count - done, PIECE);
		if (!tdm_elf_read(&search->file, tdm_plus(search->offset, done * size), &piece, now * size))
			return;
		for (uint64_t i = 0; i < now; i++) {
			const Elf32_Sym *s = &piece.small[i];
			Elf64_Sym symbol = search->file.is_64 ? piece.large[i]
							      : (Elf64_Sym){ s->st_name, s->st_info, s->st_other,
									s->st_shndx, s->st_value, s->st_size };
			compare(search, &symbol, done + i);
		}
	}
}

/* Searches the loader's table. `numbers` may be NULL. */
static struct search find_seen(const struct tdm_elf_object *object, const char *const *names, size_t count,
	uint8_t *has, uint8_t *numbers, struct tdm_diag *diag)
{
	struct search search = { .file = object->file,
		.offset = object->symbols_offset,
		.symbol_count = object->symbol_count,
		.strings = object->strings,
		.string_bytes = object->string_bytes,
		.names = names,
		.count = count,
		.has = has,
		.numbers = numbers };
	search.file.diag = diag;
	memset(has, TDM_ELF_ABSENT, count);
	for (size_t i = 0; i < count; i++)
		search.lengths[strlen(names[i]) % LENGTHS] = true;
	find_all(&search);
	return search;
}

/*
 * Searches the table of all symbols, if the file was not stripped. Errors in that table do not matter, because the
 * loader ignores it.
 */
static void find_hidden(struct search *search)
{
	struct tdm_elf *file = &search->file;
	Elf64_Shdr s, names;
	*file = forgiving(file);
	for (uint64_t i = 0; tdm_elf_has_sections(file) && i < file->shnum && tdm_elf_section(file, i, &s); i++) {
		search->symbol_count = s.sh_size / symbol_size(file);
		if (s.sh_type != SHT_SYMTAB || s.sh_link >= file->shnum || search->symbol_count > SYMBOLS_MAX)
			continue;
		char *strings = tdm_elf_section(file, s.sh_link, &names)
					? copy_strings(file, names.sh_offset, names.sh_size)
					: NULL;
		search->offset = s.sh_offset;
		search->strings = strings;
		search->string_bytes = names.sh_size;
		search->is_whole = true;
		if (file->err == 0)
			find_all(search);
		free(strings);
		return; /* a file has only one such table */
	}
}

int tdm_elf_object_find(const struct tdm_elf_object *object, const char *const *names, size_t count, uint8_t *has,
	struct tdm_diag *diag)
{
	struct search search = find_seen(object, names, count, has, NULL, diag);
	int err = search.file.err;
	if (err == 0)
		find_hidden(&search);
	return err;
}

/* Whether relocations refer to one of the symbols. */
static bool names_any(const struct tdm_elf_object *object, size_t which, const uint8_t *numbers)
{
	struct tdm_elf file = forgiving(&object->file);
	Elf64_Rela piece[PIECE];
	uint64_t count = object->relocation_bytes[which] / sizeof *piece;
	if (object->relocations[which] == 0 || object->relocation_bytes[which] > file.size)
		return false;
	uint64_t at = offset_of(&file, object->relocations[which]);
	if (file.err != 0)
		return false;
	for (uint64_t done = 0, now; done < count; done += now) {
		now = tdm_min(count - done, PIECE);
		if (!tdm_elf_read(&file, at + done * sizeof *piece, piece, now * sizeof *piece))
			return true; /* unknown */
		for (uint64_t i = 0; i < now; i++) {
			uint64_t number = ELF64_R_SYM(piece[i].r_info);
			if (number < object->symbol_count && (numbers[number / 8] >> number % 8 & 1) != 0)
				return true;
		}
	}
	return false;
}

int tdm_elf_object_is_bound(const struct tdm_elf_object *object, const char *const *names, size_t count, bool *is_bound,
	struct tdm_diag *diag)
{
	uint8_t *has = tdm_zalloc(count + 1, 1), *numbers = tdm_zalloc(object->symbol_count / 8 + 1, 1);
	bool can_tell = object->file.is_64 && (object->relocations[0] != 0 || object->relocations[1] != 0);
	int err = find_seen(object, names, count, has, numbers, diag).file.err;
	bool has_any = err == 0 && memchr(has, TDM_ELF_DEFINED, count) != NULL;
	*is_bound = has_any && can_tell && !names_any(object, 0, numbers) && !names_any(object, 1, numbers);
	free(has);
	free(numbers);
	return err;
}
