#include "sources/elf_symbols.h"
#include "base/number.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Real tables are far smaller; a file that claims more is damaged, or not worth the memory. */
enum { SYMBOLS_MAX = 1 << 24, DYNAMIC_MAX = 1 << 16, CHAIN_MAX = 1 << 20, PIECE = 2048, LENGTHS = 512 };
#define STRINGS_MAX (UINT64_C(1) << 28)

/* The addresses that the dynamic section names; 0: it does not. */
struct tables {
	uint64_t strings, string_bytes, symbols, hash, gnu_hash, versions;
	uint64_t soname, rpath, runpath; /* offsets in the strings, plus 1; 0: none */
};

/* A table of symbols in the file, with its names. */
struct symbols {
	const struct tdm_elf *file;
	uint64_t offset, count;
	const char *strings;
	uint64_t string_bytes;
	bool is_whole; /* it has local symbols, too, and says nothing about what the loader sees */
};

struct wanted {
	const char *const *names;
	size_t count;
	uint8_t *has;
	uint8_t *numbers; /* a bit for each symbol of the loader's table: whether it is one of the names, defined; or
			     NULL */
	bool lengths[LENGTHS]; /* that any of them has, modulo LENGTHS: most symbols are of no other interest */
};

static size_t symbol_size(const struct tdm_elf *file)
{
	return file->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

/* The position in the file of an address. */
static int find_offset(const struct tdm_elf *file, uint64_t address, uint64_t *offset, struct tdm_diag *diag)
{
	for (uint64_t i = 0; i < file->phnum; i++) {
		Elf64_Phdr p;
		int err = tdm_elf_segment(file, i, &p, diag);
		if (err != 0)
			return err;
		if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz ||
			p.p_offset > UINT64_MAX - (address - p.p_vaddr))
			continue;
		*offset = p.p_offset + (address - p.p_vaddr);
		return 0;
	}
	return tdm_elf_bad(diag, "a table of the loader is in no segment");
}

static int copy_strings(
	const struct tdm_elf *file, uint64_t offset, uint64_t bytes, char **strings, struct tdm_diag *diag)
{
	if (offset > file->size || bytes > file->size - offset)
		return tdm_elf_bad(diag, "the names of symbols reach beyond the end of the file");
	if (bytes > STRINGS_MAX)
		return tdm_elf_bad(diag, "more names of symbols than can be read");
	*strings = malloc(bytes + 1);
	if (*strings == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	(*strings)[bytes] = '\0';
	return tdm_elf_read_at(file, offset, *strings, bytes, diag);
}

static int read_entry(
	const struct tdm_elf *file, uint64_t offset, uint64_t index, Elf64_Dyn *entry, struct tdm_diag *diag)
{
	Elf32_Dyn raw;
	int err = tdm_elf_row(file, offset, index, TDM_ELF_FORM(entry, &raw), diag);
	if (err == 0 && !file->is_64)
		*entry = (Elf64_Dyn){ raw.d_tag, { raw.d_un.d_val } };
	return err;
}

/* A text of the loader's strings; NULL if the offset is wrong. */
static const char *text_at(const struct tdm_elf_object *object, uint64_t offset)
{
	return offset < object->string_bytes ? object->strings + offset : NULL;
}

static int add_needed(struct tdm_elf_object *object, uint64_t offset, struct tdm_diag *diag)
{
	const char *name = text_at(object, offset);
	if (name == NULL || name[0] == '\0')
		return tdm_elf_bad(diag, "the name of a needed library is missing");
	if (object->needed_count == TDM_ELF_NEEDED_MAX)
		return tdm_elf_bad(diag, "more needed libraries than can be read");
	if (tdm_reserve(&object->needed, &object->needed_cap, object->needed_count + 1, sizeof *object->needed) != 0)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	object->needed[object->needed_count++] = name;
	return 0;
}

static void take_entry(struct tdm_elf_object *object, struct tables *tables, const Elf64_Dyn *entry)
{
	switch (entry->d_tag) {
	case DT_STRTAB:
		tables->strings = entry->d_un.d_ptr;
		break;
	case DT_STRSZ:
		tables->string_bytes = entry->d_un.d_val;
		break;
	case DT_SYMTAB:
		tables->symbols = entry->d_un.d_ptr;
		break;
	case DT_HASH:
		tables->hash = entry->d_un.d_ptr;
		break;
	case DT_GNU_HASH:
		tables->gnu_hash = entry->d_un.d_ptr;
		break;
	case DT_VERSYM:
		tables->versions = entry->d_un.d_ptr;
		break;
	case DT_SONAME:
		tables->soname = tdm_plus(entry->d_un.d_val, 1);
		break;
	case DT_RPATH:
		tables->rpath = tdm_plus(entry->d_un.d_val, 1);
		break;
	case DT_RUNPATH:
		tables->runpath = tdm_plus(entry->d_un.d_val, 1);
		break;
	case DT_JMPREL:
		object->calls.address = entry->d_un.d_ptr;
		break;
	case DT_PLTRELSZ:
		object->calls.bytes = entry->d_un.d_val;
		break;
	case DT_RELA:
		object->others.address = entry->d_un.d_ptr;
		break;
	case DT_RELASZ:
		object->others.bytes = entry->d_un.d_val;
		break;
	case DT_SYMBOLIC:
		object->is_symbolic = true;
		break;
	case DT_FLAGS:
		object->is_symbolic |= (entry->d_un.d_val & DF_SYMBOLIC) != 0;
		break;
	case DT_FLAGS_1:
		object->is_pie |= (entry->d_un.d_val & DF_1_PIE) != 0;
		break;
	default:
		break;
	}
}

/* What the section headers say, if there are any and they are about the loader's table; 0: they do not. */
static uint64_t count_of_section(const struct tdm_elf *file, uint64_t symbols_offset)
{
	struct tdm_diag ignored;
	Elf64_Shdr s;
	for (uint64_t i = 0; tdm_elf_has_sections(file) && i < file->shnum; i++) {
		if (tdm_elf_section(file, i, &s, &ignored) != 0)
			break;
		if (s.sh_type == SHT_DYNSYM && s.sh_offset == symbols_offset &&
			s.sh_size <= file->size - symbols_offset)
			return s.sh_size / symbol_size(file);
	}
	return 0;
}

/* As many as there is room for before the next table of the loader, or the end of the file. */
static uint64_t count_room(const struct tdm_elf *file, const struct tables *tables, uint64_t symbols_offset)
{
	const uint64_t others[] = { tables->strings, tables->hash, tables->gnu_hash, tables->versions };
	uint64_t end = UINT64_MAX;
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (others[i] > tables->symbols)
			end = tdm_min(end, others[i]);
	return tdm_min(end - tables->symbols, file->size - symbols_offset) / symbol_size(file);
}

/*
 * The GNU table leaves out the symbols that are only used, which come first, and says no count: the last symbol is the
 * end of the chain of the highest bucket. In one without any chain, which a program has that defines nothing for
 * others, there is none: *count stays as it is.
 */
static int count_of_gnu_hash(
	const struct tdm_elf *file, const struct tables *tables, uint64_t *count, struct tdm_diag *diag)
{
	uint32_t head[4], piece[PIECE], last = 0;
	uint64_t at;
	int err = find_offset(file, tables->gnu_hash, &at, diag);
	if (err == 0)
		err = tdm_elf_read_at(file, at, head, sizeof head, diag);
	if (err != 0)
		return err;
	at = tdm_plus(at, sizeof head + (uint64_t)head[2] * (file->is_64 ? sizeof(uint64_t) : sizeof(uint32_t)));
	for (uint64_t done = 0, now; done < head[0]; done += now, at += now * sizeof *piece) {
		now = tdm_min(head[0] - done, PIECE);
		if ((err = tdm_elf_read_at(file, at, piece, now * sizeof *piece, diag)) != 0)
			return err;
		for (uint64_t i = 0; i < now; i++)
			last = piece[i] > last ? piece[i] : last;
	}
	if (last < head[1] || last == 0)
		return 0;
	for (uint64_t i = 0; i < CHAIN_MAX; i++) {
		uint32_t hash;
		err = tdm_elf_read_at(file, at + (last - head[1] + i) * sizeof hash, &hash, sizeof hash, diag);
		*count = last + i + 1;
		if (err != 0 || (hash & 1) != 0)
			return err;
	}
	return tdm_elf_bad(diag, "a chain of the loader's hash table has no end");
}

/* The section headers know best, but may be stripped. The old hash table has an entry for each symbol. */
static int count_symbols(
	const struct tdm_elf_object *object, const struct tables *tables, uint64_t *count, struct tdm_diag *diag)
{
	const struct tdm_elf *file = &object->file;
	uint32_t head[2];
	uint64_t at;
	if (object->symbols_offset > file->size)
		return tdm_elf_bad(diag, "the symbols are beyond the end of the file");
	*count = count_of_section(file, object->symbols_offset);
	if (*count != 0)
		return 0;
	*count = count_room(file, tables, object->symbols_offset);
	if (tables->hash == 0)
		return tables->gnu_hash != 0 ? count_of_gnu_hash(file, tables, count, diag) : 0;
	int err = find_offset(file, tables->hash, &at, diag);
	if (err == 0)
		err = tdm_elf_read_at(file, at, head, sizeof head, diag);
	if (err == 0)
		*count = head[1];
	return err;
}

static int read_tables(struct tdm_elf_object *object, const struct tables *tables, struct tdm_diag *diag)
{
	const struct tdm_elf *file = &object->file;
	uint64_t offset;
	int err = find_offset(file, tables->strings, &offset, diag);
	if (err == 0)
		err = copy_strings(file, offset, tables->string_bytes, &object->strings, diag);
	if (err != 0)
		return err;
	object->string_bytes = tables->string_bytes;
	object->soname = text_at(object, tables->soname - 1);
	object->rpath = text_at(object, tables->rpath - 1);
	object->runpath = text_at(object, tables->runpath - 1);
	if (tables->symbols == 0)
		return 0;
	err = find_offset(file, tables->symbols, &object->symbols_offset, diag);
	if (err == 0)
		err = count_symbols(object, tables, &object->symbol_count, diag);
	if (err == 0 && object->symbol_count > SYMBOLS_MAX)
		err = tdm_elf_bad(diag, "more symbols than can be read");
	return err;
}

static int read_dynamic(struct tdm_elf_object *object, const Elf64_Phdr *p, struct tdm_diag *diag)
{
	const struct tdm_elf *file = &object->file;
	struct tables tables = { 0 };
	uint64_t count = p->p_filesz / (file->is_64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn)), i;
	Elf64_Dyn entry = { .d_tag = DT_NULL + 1 };
	int err = count <= DYNAMIC_MAX ? 0 : tdm_elf_bad(diag, "the loader's section is too long");
	for (i = 0; err == 0 && i < count && entry.d_tag != DT_NULL; i++)
		if ((err = read_entry(file, p->p_offset, i, &entry, diag)) == 0)
			take_entry(object, &tables, &entry);
	if (err == 0 && tables.strings != 0)
		err = read_tables(object, &tables, diag);
	/* The names of needed libraries are in the strings, which may be named after them. */
	count = i;
	for (i = 0; err == 0 && i < count; i++)
		if ((err = read_entry(file, p->p_offset, i, &entry, diag)) == 0 && entry.d_tag == DT_NEEDED)
			err = add_needed(object, entry.d_un.d_val, diag);
	return err;
}

int tdm_elf_object_read(struct tdm_elf_object *object, int fd, uint64_t size, struct tdm_diag *diag)
{
	*object = (struct tdm_elf_object){ 0 };
	struct tdm_elf *file = &object->file;
	int err = tdm_elf_begin(file, fd, size, diag);
	if (err == 0 && file->type != ET_DYN && file->type != ET_EXEC)
		err = tdm_elf_bad(diag, "neither a program nor a shared library");
	if (err == 0 && !tdm_elf_has_segments(file))
		err = tdm_elf_bad(diag, "no program headers");
	for (uint64_t i = 0; err == 0 && i < file->phnum; i++) {
		Elf64_Phdr p;
		if ((err = tdm_elf_segment(file, i, &p, diag)) != 0)
			break;
		object->has_interpreter |= p.p_type == PT_INTERP;
		if (p.p_type != PT_DYNAMIC || object->is_dynamic)
			continue;
		object->is_dynamic = true;
		err = read_dynamic(object, &p, diag);
	}
	return err;
}

void tdm_elf_object_done(struct tdm_elf_object *object)
{
	free(object->needed);
	free(object->strings);
	*object = (struct tdm_elf_object){ 0 };
}

static enum tdm_elf_has judge(const struct symbols *of, const Elf64_Sym *s)
{
	unsigned bind = ELF64_ST_BIND(s->st_info), visibility = ELF64_ST_VISIBILITY(s->st_other);
	if (s->st_shndx == SHN_UNDEF)
		return of->is_whole ? TDM_ELF_ABSENT : TDM_ELF_IMPORTED;
	if (of->is_whole || visibility != STV_DEFAULT ||
		(bind != STB_GLOBAL && bind != STB_WEAK && bind != STB_GNU_UNIQUE))
		return TDM_ELF_HIDDEN;
	return TDM_ELF_DEFINED;
}

static void compare(const struct symbols *of, const Elf64_Sym *s, uint64_t number, const struct wanted *wanted)
{
	if (s->st_name == 0 || s->st_name >= of->string_bytes ||
		!wanted->lengths[strlen(of->strings + s->st_name) % LENGTHS])
		return;
	for (size_t i = 0; i < wanted->count; i++)
		if (strcmp(of->strings + s->st_name, wanted->names[i]) == 0) {
			enum tdm_elf_has has = judge(of, s);
			wanted->has[i] = has > wanted->has[i] ? (uint8_t)has : wanted->has[i];
			if (has == TDM_ELF_DEFINED && wanted->numbers != NULL)
				wanted->numbers[number / 8] |= (uint8_t)(1U << number % 8);
		}
}

static int find_in(const struct symbols *of, const struct wanted *wanted, struct tdm_diag *diag)
{
	union {
		Elf64_Sym large[PIECE];
		Elf32_Sym small[PIECE];
	} piece;
	size_t size = symbol_size(of->file);
	for (uint64_t done = 0, now; done < of->count; done += now) {
		now = tdm_min(of->count - done, PIECE);
		int err = tdm_elf_read_at(of->file, tdm_plus(of->offset, done * size), &piece, now * size, diag);
		if (err != 0)
			return err;
		for (uint64_t i = 0; i < now; i++) {
			const Elf32_Sym *s = &piece.small[i];
			Elf64_Sym symbol = of->file->is_64 ? piece.large[i]
							   : (Elf64_Sym){ s->st_name, s->st_info, s->st_other,
								     s->st_shndx, s->st_value, s->st_size };
			compare(of, &symbol, done + i, wanted);
		}
	}
	return 0;
}

/* The table of all symbols, if the file was not stripped. What is wrong with it is no harm: the loader ignores it. */
static int find_hidden(const struct tdm_elf *file, const struct wanted *wanted)
{
	struct tdm_diag ignored;
	int err = 0;
	for (uint64_t i = 0; err == 0 && tdm_elf_has_sections(file) && i < file->shnum; i++) {
		Elf64_Shdr s, names;
		char *strings = NULL;
		if (tdm_elf_section(file, i, &s, &ignored) != 0)
			return 0;
		if (s.sh_type != SHT_SYMTAB || s.sh_link >= file->shnum || s.sh_size / symbol_size(file) > SYMBOLS_MAX)
			continue;
		if (tdm_elf_section(file, s.sh_link, &names, &ignored) == 0 &&
			(err = copy_strings(file, names.sh_offset, names.sh_size, &strings, &ignored)) == 0)
			find_in(&(struct symbols){ file, s.sh_offset, s.sh_size / symbol_size(file), strings,
					names.sh_size, true },
				wanted, &ignored);
		free(strings);
		err = err == -ENOMEM ? err : 0;
		break; /* a file has one */
	}
	return err;
}

/* Whether relocations name one of the symbols. */
static bool names_any(const struct tdm_elf_object *object, const struct tdm_elf_part *part, const uint8_t *numbers)
{
	Elf64_Rela piece[PIECE];
	struct tdm_diag ignored;
	uint64_t at, count = part->bytes / sizeof *piece;
	if (part->address == 0 || part->bytes > object->file.size ||
		find_offset(&object->file, part->address, &at, &ignored) != 0)
		return false;
	for (uint64_t done = 0, now; done < count; done += now) {
		now = tdm_min(count - done, PIECE);
		if (tdm_elf_read_at(&object->file, at + done * sizeof *piece, piece, now * sizeof *piece, &ignored) !=
			0)
			return true; /* not known */
		for (uint64_t i = 0; i < now; i++) {
			uint64_t number = ELF64_R_SYM(piece[i].r_info);
			if (number < object->symbol_count && (numbers[number / 8] >> number % 8 & 1) != 0)
				return true;
		}
	}
	return false;
}

static int find_in_loaders(const struct tdm_elf_object *object, struct wanted *wanted, struct tdm_diag *diag)
{
	for (size_t i = 0; i < wanted->count; i++)
		wanted->lengths[strlen(wanted->names[i]) % LENGTHS] = true;
	return find_in(&(struct symbols){ &object->file, object->symbols_offset, object->symbol_count, object->strings,
			       object->string_bytes, false },
		wanted, diag);
}

int tdm_elf_object_is_bound(const struct tdm_elf_object *object, const char *const *names, size_t count, bool *is_bound,
	struct tdm_diag *diag)
{
	struct wanted wanted = { names, count, calloc(count + 1, 1), calloc(object->symbol_count / 8 + 1, 1),
		{ false } };
	bool can_tell = object->file.is_64 && (object->calls.address != 0 || object->others.address != 0);
	bool has_any = false;
	int err = -ENOMEM;
	if (wanted.has != NULL && wanted.numbers != NULL)
		err = find_in_loaders(object, &wanted, diag);
	for (size_t i = 0; err == 0 && i < count; i++)
		has_any |= wanted.has[i] == TDM_ELF_DEFINED;
	*is_bound = has_any && can_tell && !names_any(object, &object->calls, wanted.numbers) &&
		    !names_any(object, &object->others, wanted.numbers);
	free(wanted.has);
	free(wanted.numbers);
	return err == -ENOMEM ? tdm_diag_set(diag, err, 0, 0, "out of memory") : err;
}

int tdm_elf_object_find(const struct tdm_elf_object *object, const char *const *names, size_t count, uint8_t *has,
	struct tdm_diag *diag)
{
	struct wanted wanted = { names, count, has, NULL, { false } };
	memset(has, TDM_ELF_ABSENT, count);
	int err = find_in_loaders(object, &wanted, diag);
	if (err == 0 && find_hidden(&object->file, &wanted) != 0)
		err = tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	return err;
}
