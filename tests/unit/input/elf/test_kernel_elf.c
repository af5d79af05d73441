/* Compiled kernels, built byte by byte: packed, cut and damaged ones, and the walk through a cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/kernel_sizes.h"
#include "base/err.h"
#include "fake_tree.h"
#include "input/elf/elf_file.h"
#include "warnings.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SEGMENTS = 3 };

/* A small file of the kind that the linker writes: header, program headers, contents, .segments, names, sections. */
struct image {
	Elf32_Ehdr header;
	Elf32_Phdr segments[SEGMENTS];
	char contents[64];
	uint32_t trims[2][3];
	char names[24];
	Elf32_Shdr sections[3];
};

static struct image image_new(void)
{
	struct image f = {
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_RISCV,
			.e_version = EV_CURRENT,
			.e_entry = 0x1000,
			.e_phoff = offsetof(struct image, segments),
			.e_shoff = offsetof(struct image, sections),
			.e_phentsize = sizeof(Elf32_Phdr),
			.e_phnum = SEGMENTS,
			.e_shentsize = sizeof(Elf32_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 1,
		},
		.segments = {
			{ PT_LOAD, offsetof(struct image, contents), 0x1000, 0x1000, 41, 41, PF_R | PF_X, 4 },
			{ PT_LOAD, offsetof(struct image, contents) + 44, 0x8000, 0x1100, 8, 30, PF_R | PF_W, 4 },
			{ PT_NOTE, 0, 0, 0, 0, 0, 0, 0 },
		},
		.trims = { { 0x1000, 0x1000, 1000 }, { 0x8000, 0x8000, 1000 } },
		.names = "\0.shstrtab\0.segments",
		.sections = {
			{ 0 },
			{ .sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, names), .sh_size = 21 },
			{ .sh_name = 11, .sh_type = SHT_PROGBITS, .sh_offset = offsetof(struct image, trims), .sh_size = 24 },
		},
	};
	return f;
}

static int parse(struct tdm_kernel_elf *elf, const void *data, size_t size, struct tdm_diag *diag)
{
	int fd = memfd_create("test_kernel_elf", MFD_CLOEXEC);
	assert_true(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	int err = tdm_kernel_elf_read(elf, fd, size, diag);
	close(fd);
	return err;
}

static struct tdm_kernel_elf good(const struct image *image)
{
	struct tdm_kernel_elf elf;
	struct tdm_diag diag = { 0 };
	int err = parse(&elf, image, sizeof *image, &diag);
	if (err != 0)
		fail_msg("refused: %s", diag.text);
	return elf;
}

static void refused(const struct image *image, size_t size, const char *text)
{
	struct tdm_kernel_elf elf;
	struct tdm_diag diag = { 0 };
	assert_int_equal(parse(&elf, image, size, &diag), TDM_ECORRUPT);
	assert_string_equal(diag.text, text);
	assert_int_equal(elf.segment_count, 0);
}

static void segments_are_packed_in_whole_words_without_zeroed_data(void **state)
{
	(void)state;
	struct image f = image_new();
	struct tdm_kernel_elf elf = good(&f);
	assert_int_equal(elf.segment_count, 2);
	assert_true(elf.packed_bytes == 44 + 8);
	assert_true(elf.text_bytes == 44);
	assert_true(elf.zeroed_bytes == 32 - 8);
	assert_true(elf.segments[1].limit == 1000);
	assert_int_equal(elf.over_limit, 0);
}

static void trims_cut_the_beginning_and_limits_are_checked(void **state)
{
	(void)state;
	struct image f = image_new();
	f.trims[0][1] = 0x1010;
	f.trims[1][2] = 31;
	struct tdm_kernel_elf elf = good(&f);
	assert_true(elf.packed_bytes == 28 + 8);
	assert_true(elf.segments[0].address == 0x1010);
	assert_int_equal(elf.over_limit, 1);
	/* Cut to nothing, a segment is gone. */
	f.segments[1].p_memsz = 8;
	f.trims[1][1] = 0x8008;
	elf = good(&f);
	assert_int_equal(elf.segment_count, 1);
	assert_true(elf.packed_bytes == 28);
}

static void a_file_without_sections_has_nothing_to_cut(void **state)
{
	(void)state;
	struct image f = image_new();
	f.trims[0][1] = 0x1010;
	f.header.e_shnum = 0;
	f.header.e_shoff = 0;
	assert_true(good(&f).packed_bytes == 44 + 8);
	/* A section of this name that is loaded is another one. */
	f = image_new();
	f.trims[0][1] = 0x1010;
	f.sections[2].sh_flags = SHF_ALLOC;
	assert_true(good(&f).packed_bytes == 44 + 8);
}

static void every_damage_is_refused(void **state)
{
	(void)state;
	const struct image whole = image_new();
	struct image f;
#define WITH(change, text)                     \
	do {                                   \
		f = whole;                     \
		change;                        \
		refused(&f, sizeof f, (text)); \
	} while (0)
	WITH(f.header.e_ident[0] = 'x', "not an ELF file");
	WITH(f.header.e_ident[EI_CLASS] = 7, "not a little-endian ELF file of 32 or 64 bits");
	WITH(f.header.e_ident[EI_DATA] = ELFDATA2MSB, "not a little-endian ELF file of 32 or 64 bits");
	WITH(f.header.e_machine = EM_X86_64, "not a RISC-V program, so not a kernel of the runtime");
	WITH(f.header.e_type = ET_REL, "not an executable file: object files have no segments");
	WITH(f.header.e_phnum = 0, "no program headers");
	WITH(f.header.e_phentsize = 31, "no program headers");
	WITH(f.header.e_phoff = UINT32_MAX - 3, "the file is shorter than its headers say");
	WITH(f.header.e_phnum = UINT16_MAX, "the file is shorter than its headers say");
	WITH(f.header.e_shoff = UINT32_MAX - 3, "the file is shorter than its headers say");
	WITH(f.header.e_shstrndx = 3, "damaged section headers");
	WITH(f.header.e_shentsize = 1, "damaged section headers");
	WITH(f.segments[0].p_filesz = UINT32_MAX, "a segment reaches beyond the end of the file");
	WITH(f.segments[0].p_offset = UINT32_MAX - 3, "a segment reaches beyond the end of the file");
	WITH(f.segments[0].p_vaddr = 0x1001, "a segment that is not aligned to words");
	WITH(f.segments[0].p_memsz = 40, "a segment with impossible sizes");
	WITH(f.segments[0].p_type = f.segments[1].p_type = PT_NOTE, "no loadable segments");
	WITH(f.trims[0][0] = 0x2000, ".segments names a segment that does not exist");
	WITH(f.trims[0][1] = 0x1000 + 48, ".segments cuts more than a segment has");
	WITH(f.trims[0][1] = 0x0ff0, ".segments cuts more than a segment has");
	WITH(f.trims[0][1] = 0x1001, ".segments cuts more than a segment has");
	WITH(f.sections[2].sh_size = UINT32_MAX, ".segments is too long");
	WITH(f.sections[2].sh_offset = UINT32_MAX, "the file is shorter than its headers say");
	WITH(f.sections[1].sh_offset = UINT32_MAX, "the file is shorter than its headers say");
#undef WITH
	/* Wherever it is cut: never more than a refusal. */
	for (size_t size = 0; size < sizeof whole; size++) {
		struct tdm_kernel_elf elf;
		struct tdm_diag diag = { 0 };
		char *copy = malloc(size != 0 ? size : 1);
		memcpy(copy, &whole, size);
		assert_int_equal(parse(&elf, copy, size, &diag), TDM_ECORRUPT);
		free(copy);
	}
}

static void put_image(struct tree *tree, const char *path, const struct image *image)
{
	tree_parents(tree, path);
	FILE *file = fopen(tree_path(tree, path), "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(image, sizeof *image, 1, file), 1);
	fclose(file);
}

/* What is below a path. */
static void read_path(const char *path, struct tdm_kernel_sizes *sizes, struct warnings *w)
{
	struct tdm_input *input;
	struct tdm_diag diag = { 0 };
	*sizes = (struct tdm_kernel_sizes){ 0 };
	*w = (struct warnings){ .take = tdm_kernel_sizes_take, .to = sizes };
	assert_int_equal(tdm_input_open(path, &input), 0);
	assert_int_equal(
		tdm_format_find("kernels")->records(input, &(struct tdm_record_sink){ w, warnings_take }, &diag), 0);
	tdm_kernel_sizes_end(sizes);
	tdm_input_close(input);
}

static void a_cache_is_walked_and_named_by_its_folders(void **state)
{
	(void)state;
	struct tree tree;
	struct image f = image_new();
	struct tdm_kernel_sizes sizes;
	struct warnings w;
	tree_init(&tree);
	put_image(&tree, "tt-metal-cache77/kernels/reader/11/brisc/brisc.elf", &f);
	put_image(&tree, "tt-metal-cache77/kernels/reader/11/brisc/brisc.elf.xip.elf", &f);
	put_image(&tree, "tt-metal-cache77/kernels/reader/9/brisc/brisc.elf", &f);
	put_image(&tree, "tt-metal-cache77/kernels/compute/11/trisc1/trisc1.elf", &f);
	put_image(&tree, "tt-metal-cache77/kernels/compute/11/trisc0/trisc0.elf", &f);
	put_image(&tree, "tt-metal-cache77/firmware/erisc/erisc.elf", &f);
	put_image(&tree, "a/b/c/d/e/f/g/h/i/brisc/brisc.elf", &f);
	f.header.e_machine = 0;
	put_image(&tree, "tt-metal-cache77/kernels/bad/1/brisc/brisc.elf", &f);
	assert_int_equal(symlink("..", tree_path(&tree, "tt-metal-cache77/kernels/loop")), 0);
	read_path(tree.root, &sizes, &w);
	assert_int_equal(sizes.count, 5);
	assert_int_equal(sizes.firmware, 1);
	assert_int_equal(sizes.refused, 1);
	assert_int_equal(sizes.rest.links, 1);
	assert_int_equal(sizes.rest.unvisited, 1);
	assert_string_equal(w.text, "0: not a RISC-V program, so not a kernel of the runtime\n");
	static const char *const expected[][4] = { { "77", "compute", "11", "trisc0" },
		{ "77", "compute", "11", "trisc1" }, { "77", "reader", "11", "brisc" },
		{ "77", "reader", "9", "brisc" }, { "77", "", "", "erisc" } };
	for (size_t i = 0; i < 5; i++) {
		const struct tdm_kernel_binary *b = &sizes.binaries[i];
		assert_string_equal(b->build, expected[i][0]);
		assert_string_equal(b->name, expected[i][1]);
		assert_string_equal(b->hash, expected[i][2]);
		assert_string_equal(b->target, expected[i][3]);
		assert_true(b->packed_bytes == 52);
		assert_int_equal(b->firmware, i == 4);
	}
	assert_int_equal(sizes.kernel_count, 3); /* compute has two binaries; 52 bytes take 64 in the ring */
	assert_true(sizes.kernels[0].first == sizes.binaries && sizes.kernels[0].count == 2 &&
		    sizes.kernels[0].ring_bytes == 128);
	tdm_kernel_sizes_done(&sizes);
	assert_true(tdm_kernel_cache_bytes_of(tree_path(&tree, "tt-metal-cache77/kernels/compute/11")) == 128);
	assert_true(tdm_kernel_cache_bytes_of(tree_path(&tree, "tt-metal-cache77/kernels/bad/1")) == TDM_BYTES_UNKNOWN);
	assert_true(tdm_kernel_cache_bytes_of(tree_path(&tree, "absent")) == TDM_BYTES_UNKNOWN);
	/* The inside of a kernel's folder is named by what is above it, and so is a file. */
	static const char *const paths[] = { "tt-metal-cache77/kernels/reader/9",
		"tt-metal-cache77/kernels/reader/9/brisc/brisc.elf" };
	for (int i = 0; i < 2; i++) {
		read_path(tree_path(&tree, paths[i]), &sizes, &w);
		assert_int_equal(sizes.count, 1);
		assert_string_equal(sizes.binaries[0].name, "reader");
		tdm_kernel_sizes_done(&sizes);
	}
	tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_are_packed_in_whole_words_without_zeroed_data),
		cmocka_unit_test(trims_cut_the_beginning_and_limits_are_checked),
		cmocka_unit_test(a_file_without_sections_has_nothing_to_cut),
		cmocka_unit_test(every_damage_is_refused),
		cmocka_unit_test(a_cache_is_walked_and_named_by_its_folders),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
