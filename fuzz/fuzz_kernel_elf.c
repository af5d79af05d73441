/*
 * Fuzz the reader of compiled kernels. Exercises: input/elf/kernel_elf.c (headers of both sizes, segments, sections,
 * trims).
 *
 * Properties: a refusal has a text and leaves no result; sums agree with the segments; nothing is larger than the file
 * allows.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_check.h"
#include "input/elf/elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct tdm_kernel_elf elf;
	struct tdm_diag diag = { 0 };
	if (fd < 0)
		fd = memfd_create("fuzz_kernel_elf", MFD_CLOEXEC);
	check(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	int err = tdm_kernel_elf_read(&elf, fd, size, &diag);
	if (err != 0) {
		check(diag.text[0] != '\0' && elf.segment_count == 0 && elf.packed_bytes == 0);
		return 0;
	}
	uint64_t packed = 0, zeroed = 0;
	check(elf.segment_count <= TDM_KERNEL_SEGMENTS_MAX);
	for (uint32_t i = 0; i < elf.segment_count; i++) {
		const struct tdm_kernel_segment *s = &elf.segments[i];
		check(s->file_bytes <= size && s->packed_bytes <= s->file_bytes + 3);
		check(s->memory_bytes >= s->packed_bytes && s->packed_bytes % 4 == 0);
		packed += s->packed_bytes;
		zeroed += s->memory_bytes - s->packed_bytes;
	}
	check(packed == elf.packed_bytes && zeroed == elf.zeroed_bytes && elf.text_bytes <= packed);
	return 0;
}
