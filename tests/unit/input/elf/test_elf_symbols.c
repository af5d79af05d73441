/* What a shared library defines, uses and needs: one that is built byte by byte, whole and damaged, and this program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "input/elf/elf_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SYMBOLS = 5, BASE = 0x10000 };

/* A library as the linker writes it: the loader's tables in one segment, then a table of all symbols. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Dyn dynamic[10];
	Elf64_Sym symbols[SYMBOLS];
	uint32_t hash[2];
	struct {
		uint32_t head[4];
		uint64_t bloom[1];
		uint32_t buckets[2];
		uint32_t chain[3];
	} gnu;
	char strings[96];
	Elf64_Sym all[2];
	Elf64_Shdr sections[4];
};

#define AT(member) (BASE + offsetof(struct image, member))

static const char texts[] = "\0defined\0used\0bound\0libneeded.so\0$ORIGIN/../lib\0libself.so\0kept\0second";
enum { DEFINED = 1, USED = 9, BOUND = 14, NEEDED = 20, RUNPATH = 33, SONAME = 48, KEPT = 59, SECOND = 64 };

static Elf64_Sym symbol(uint32_t name, unsigned bind, unsigned visibility, uint16_t section)
{
	return (Elf64_Sym){ .st_name = name,
		.st_info = ELF64_ST_INFO(bind, STT_FUNC),
		.st_other = (unsigned char)visibility,
		.st_shndx = section };
}

static struct image image_new(void)
{
	struct image f = {
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct image, segments),
			.e_shoff = offsetof(struct image, sections),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 2,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 4,
		},
		.segments = {
			{ .p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = sizeof f, .p_memsz = sizeof f },
			{ .p_type = PT_DYNAMIC, .p_offset = offsetof(struct image, dynamic), .p_filesz = sizeof f.dynamic },
		},
		.dynamic = {
			{ DT_NEEDED, { NEEDED } }, { DT_SONAME, { SONAME } }, { DT_RUNPATH, { RUNPATH } },
			{ DT_STRTAB, { AT(strings) } }, { DT_STRSZ, { sizeof texts } }, { DT_SYMTAB, { AT(symbols) } },
			{ DT_GNU_HASH, { AT(gnu) } }, { DT_NULL, { 0 } },
		},
		.symbols = {
			{ 0 }, symbol(USED, STB_GLOBAL, STV_DEFAULT, SHN_UNDEF), symbol(DEFINED, STB_GLOBAL, STV_DEFAULT, 1),
			symbol(BOUND, STB_GLOBAL, STV_PROTECTED, 1), symbol(SECOND, STB_WEAK, STV_DEFAULT, 1),
		},
		.hash = { 1, SYMBOLS },
		.gnu = { .head = { 2, 2, 1, 0 }, .buckets = { 2, 3 }, .chain = { 1, 2, 3 } },
		.all = { { 0 }, symbol(KEPT, STB_LOCAL, STV_DEFAULT, 1) },
		.sections = {
			{ 0 },
			{ .sh_type = SHT_SYMTAB, .sh_offset = offsetof(struct image, all), .sh_size = sizeof f.all, .sh_link = 2 },
			{ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, strings), .sh_size = sizeof f.strings },
			{ .sh_type = SHT_DYNSYM, .sh_offset = offsetof(struct image, symbols), .sh_size = sizeof f.symbols },
		},
	};
	memcpy(f.strings, texts, sizeof texts);
	return f;
}

static const char *const names[] = { "defined", "used", "bound", "second", "kept", "nowhere", "define", "definedx" };
enum { NAMES = sizeof names / sizeof names[0] };

static int parse(
	struct tdm_elf_object *object, const void *data, size_t size, uint8_t has[NAMES], struct tdm_diag *diag)
{
	int fd = memfd_create("test_elf_symbols", MFD_CLOEXEC);
	assert_true(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	int err = tdm_elf_object_read(object, fd, size, diag);
	if (err == 0)
		err = tdm_elf_object_find(object, names, NAMES, has, diag);
	close(fd);
	return err;
}

static struct tdm_elf_object good(const struct image *image, uint8_t has[NAMES])
{
	struct tdm_elf_object object;
	struct tdm_diag diag = { 0 };
	if (parse(&object, image, sizeof *image, has, &diag) != 0)
		fail_msg("refused: %s", diag.text);
	return object;
}

static void refused(const struct image *image, size_t size, const char *text)
{
	struct tdm_elf_object object;
	struct tdm_diag diag = { 0 };
	uint8_t has[NAMES];
	assert_int_equal(parse(&object, image, size, has, &diag), TDM_ECORRUPT);
	assert_string_equal(diag.text, text);
	tdm_elf_object_done(&object);
}

static void check_has(const uint8_t has[NAMES])
{
	static const uint8_t expected[NAMES] = { TDM_ELF_DEFINED, TDM_ELF_IMPORTED, TDM_ELF_HIDDEN, TDM_ELF_DEFINED,
		TDM_ELF_HIDDEN, TDM_ELF_ABSENT, TDM_ELF_ABSENT, TDM_ELF_ABSENT };
	for (size_t i = 0; i < NAMES; i++)
		if (has[i] != expected[i])
			fail_msg("%s: %d instead of %d", names[i], has[i], expected[i]);
}

static void a_symbol_is_defined_used_hidden_or_not_there(void **state)
{
	(void)state;
	struct image f = image_new();
	uint8_t has[NAMES];
	struct tdm_elf_object object = good(&f, has);
	check_has(has);
	assert_true(object.is_dynamic && !object.has_interpreter && !object.is_symbolic);
	assert_int_equal(object.symbol_count, SYMBOLS);
	assert_int_equal(object.needed_count, 1);
	assert_string_equal(object.needed[0], "libneeded.so");
	assert_string_equal(object.runpath, "$ORIGIN/../lib");
	assert_null(object.rpath);
	tdm_elf_object_done(&object);
}

static void the_old_hash_table_counts_symbols_too(void **state)
{
	(void)state;
	struct image f = image_new();
	uint8_t has[NAMES];
	f.dynamic[6] = (Elf64_Dyn){ DT_HASH, { AT(hash) } };
	struct tdm_elf_object object = good(&f, has);
	check_has(has);
	tdm_elf_object_done(&object);
}

/* Linkers write such a table for programs that only use functions of others: it counts one symbol. */
static void an_empty_hash_table_hides_no_imports(void **state)
{
	(void)state;
	for (int variant = 0; variant < 5; variant++) {
		struct image f = image_new();
		uint8_t has[NAMES];
		for (size_t i = 1; i < SYMBOLS; i++)
			f.symbols[i].st_shndx = SHN_UNDEF;
		f.gnu.head[0] = f.gnu.head[1] = 1;
		f.gnu.buckets[0] = 0;
		/* Section headers that are missing, or say what cannot be: the next table of the loader ends this one.
		 */
		f.header.e_shnum = variant == 1 ? 0 : f.header.e_shnum;
		f.sections[3].sh_size = variant == 2 ? UINT64_MAX : f.sections[3].sh_size;
		f.sections[3].sh_offset -= variant == 3;
		f.sections[1].sh_offset = variant == 4 ? UINT64_MAX - 3 : f.sections[1].sh_offset;
		struct tdm_elf_object object = good(&f, has);
		assert_int_equal(object.symbol_count, SYMBOLS);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(has[i], TDM_ELF_IMPORTED);
		tdm_elf_object_done(&object);
	}
}

static void without_section_headers_only_hidden_symbols_are_missed(void **state)
{
	(void)state;
	struct image f = image_new();
	uint8_t has[NAMES];
	f.header.e_shnum = 0;
	struct tdm_elf_object object = good(&f, has);
	assert_int_equal(has[0], TDM_ELF_DEFINED);
	assert_int_equal(has[1], TDM_ELF_IMPORTED);
	assert_int_equal(has[4], TDM_ELF_ABSENT);
	tdm_elf_object_done(&object);
	/* Damaged ones do no harm either: the loader does not read them. */
	f = image_new();
	f.sections[1].sh_offset = f.sections[2].sh_offset = UINT64_MAX - 3;
	object = good(&f, has);
	assert_int_equal(has[0], TDM_ELF_DEFINED);
	assert_int_equal(has[4], TDM_ELF_ABSENT);
	tdm_elf_object_done(&object);
	/* Nor does an entry without a meaning. */
	f = image_new();
	f.header.e_shnum = 0;
	f.dynamic[7] = (Elf64_Dyn){ DT_NUM, { 1 } };
	object = good(&f, has);
	assert_int_equal(has[0], TDM_ELF_DEFINED);
	tdm_elf_object_done(&object);
}

/* Calls of a symbolic library never leave it. A static program that is loaded anywhere names no loader, as a library.
 */
static void flags_tell_symbolic_libraries_and_static_programs(void **state)
{
	(void)state;
	static const Elf64_Dyn flags[] = { { DT_FLAGS, { DF_SYMBOLIC } }, { DT_SYMBOLIC, { 0 } },
		{ DT_FLAGS_1, { DF_1_PIE | DF_1_NOW } } };
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		struct image f = image_new();
		uint8_t has[NAMES];
		f.dynamic[7] = flags[i];
		struct tdm_elf_object object = good(&f, has);
		assert_int_equal(object.is_symbolic, flags[i].d_tag != DT_FLAGS_1);
		assert_int_equal(object.is_pie, flags[i].d_tag == DT_FLAGS_1);
		assert_false(object.has_interpreter);
		tdm_elf_object_done(&object);
	}
}

static void a_static_program_has_nothing_for_the_loader(void **state)
{
	(void)state;
	struct image f = image_new();
	uint8_t has[NAMES];
	f.header.e_type = ET_EXEC;
	f.segments[1].p_type = PT_NOTE;
	struct tdm_elf_object object = good(&f, has);
	assert_true(!object.is_dynamic && object.needed_count == 0 && object.symbol_count == 0);
	assert_int_equal(has[0], TDM_ELF_ABSENT);
	tdm_elf_object_done(&object);
}

static void damage_is_refused_with_a_reason(void **state)
{
	(void)state;
	struct image f = image_new();
	refused(&f, 10, "the file is shorter than its headers say");
	refused(&f, sizeof f.header + 4, "the file is shorter than its headers say");
	f.header.e_ident[0] = 'x';
	refused(&f, sizeof f, "not an ELF file");
	f = image_new(), f.header.e_type = ET_REL;
	refused(&f, sizeof f, "neither a program nor a shared library");
	f = image_new(), f.header.e_phnum = 0;
	refused(&f, sizeof f, "no program headers");
	f = image_new(), f.header.e_phoff = UINT64_MAX - 8;
	refused(&f, sizeof f, "the file is shorter than its headers say");
	f = image_new(), f.dynamic[3].d_un.d_ptr = 0x99;
	refused(&f, sizeof f, "a table of the loader is in no segment");
	f = image_new(), f.dynamic[4].d_un.d_val = UINT64_MAX;
	refused(&f, sizeof f, "the names of symbols reach beyond the end of the file");
	f = image_new(), f.dynamic[0].d_un.d_val = sizeof texts + 7;
	refused(&f, sizeof f, "the name of a needed library is missing");
	f = image_new(), f.dynamic[6] = (Elf64_Dyn){ DT_HASH, { AT(hash) } }, f.hash[1] = UINT32_MAX,
	f.header.e_shnum = 0;
	refused(&f, sizeof f, "more symbols than can be read");
	f = image_new(), f.gnu.head[2] = UINT32_MAX, f.header.e_shnum = 0;
	refused(&f, sizeof f, "the file is shorter than its headers say");
	f = image_new(), f.gnu.buckets[1] = UINT32_MAX, f.header.e_shnum = 0;
	refused(&f, sizeof f, "the file is shorter than its headers say");
	f = image_new(), f.segments[1].p_filesz = UINT64_MAX;
	refused(&f, sizeof f, "the loader's section is too long");
}

/* Every byte of it is changed in turn: nothing is read outside of the file (the sanitizers see that). */
static void any_damage_is_survived(void **state)
{
	(void)state;
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	for (size_t i = 0; i < sizeof(struct image); i++)
		for (size_t v = 0; v < sizeof values; v++) {
			struct image f = image_new();
			struct tdm_elf_object object;
			struct tdm_diag diag = { 0 };
			uint8_t has[NAMES];
			((unsigned char *)&f)[i] = values[v];
			int err = parse(&object, &f, sizeof f, has, &diag);
			assert_true(err == 0 || diag.text[0] != '\0');
			tdm_elf_object_done(&object);
		}
}

static void a_real_program_names_its_libraries(void **state)
{
	(void)state;
	static const char *const own[] = { "close", "tdm_nowhere" };
	struct tdm_elf_object object;
	struct tdm_diag diag = { 0 };
	struct stat st;
	uint8_t has[2];
	bool needs_libc = false;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	assert_int_equal(tdm_elf_object_read(&object, fd, (uint64_t)st.st_size, &diag), 0);
	assert_int_equal(tdm_elf_object_find(&object, own, 2, has, &diag), 0);
	assert_true(object.is_dynamic && object.has_interpreter);
	for (size_t i = 0; i < object.needed_count; i++)
		needs_libc |= strcmp(object.needed[i], "libc.so.6") == 0;
	assert_true(needs_libc);
	assert_true(has[0] != TDM_ELF_ABSENT); /* a sanitizer defines it */
	assert_int_equal(has[1], TDM_ELF_ABSENT);
	tdm_elf_object_done(&object);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_symbol_is_defined_used_hidden_or_not_there),
		cmocka_unit_test(the_old_hash_table_counts_symbols_too),
		cmocka_unit_test(an_empty_hash_table_hides_no_imports),
		cmocka_unit_test(without_section_headers_only_hidden_symbols_are_missed),
		cmocka_unit_test(flags_tell_symbolic_libraries_and_static_programs),
		cmocka_unit_test(a_static_program_has_nothing_for_the_loader),
		cmocka_unit_test(damage_is_refused_with_a_reason),
		cmocka_unit_test(any_damage_is_survived),
		cmocka_unit_test(a_real_program_names_its_libraries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
