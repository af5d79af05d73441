/*
 * Fuzz the reader of programs and libraries. Exercises: input/elf/elf_file.c (the loader's section, both hash
 * tables, symbols of both sizes, names), input/elf/elf_file.c.
 *
 * Properties: a refusal has a text; needed libraries have names within the strings; a symbol that is found is one of
 * those that the tables have.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_check.h"
#include "input/elf/elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "defined", "used", "a", "" };
	static int fd = -1;
	struct tdm_elf_object object;
	struct tdm_diag diag = { 0 };
	uint8_t has[sizeof names / sizeof names[0]];
	bool is_bound;
	if (fd < 0)
		fd = memfd_create("fuzz_elf_symbols", MFD_CLOEXEC);
	check(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	int err = tdm_elf_object_read(&object, fd, size, &diag);
	check(err == 0 || diag.text[0] != '\0');
	for (size_t i = 0; i < object.needed_count; i++)
		check(object.needed[i] >= object.strings && object.needed[i] < object.strings + object.string_bytes &&
			object.needed[i][0] != '\0');
	check(object.string_bytes <= size);
	if (err == 0) {
		err = tdm_elf_object_find(&object, names, sizeof has, has, &diag);
		check(err == 0 || diag.text[0] != '\0');
		check(tdm_elf_object_is_bound(&object, names, sizeof has, &is_bound, &diag) == 0 || !is_bound);
		for (size_t i = 0; err == 0 && i < sizeof has; i++)
			check(has[i] <= TDM_ELF_DEFINED && (object.is_dynamic || has[i] <= TDM_ELF_HIDDEN));
	}
	tdm_elf_object_done(&object);
	return 0;
}
