/*
 * Fuzz the readers of the inspector's files; each input goes to both. Exercises: input/report/inspector.c,
 * analyze/report/inspector_memory.c.
 *
 * Properties: a refusal has a text and a line; every event is valid; the history agrees with its live buffers; kernels
 * belong to programs; the reports can be written.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../tests/unit/history_valid.h"
#include "fuzz_report.h"

static int take_buffer(void *history, const struct tdm_record *record)
{
	check(record->type != TDM_RECORD_MESH_BUFFER || tdm_event_is_valid(&record->mesh->event));
	return tdm_buffer_history_take(history, record);
}

static void as_mesh_buffers(const uint8_t *data, size_t size)
{
	struct tdm_buffer_history history = { .live_count = 0 };
	struct fuzz_reading r = { take_buffer, &history, true, 0 };
	fuzz_read("mesh_buffers", data, size, &r);
	check(r.refused == history.refused);
	check(history_is_valid(&history));
	tdm_buffer_history_end(&history);
	fuzz_show(&tdm_mesh_report, &history);
	tdm_buffer_history_done(&history);
}

/* Finds some of the kernels, with various sizes of code. */
static uint64_t code_of(const char *path)
{
	size_t len = strlen(path);
	return len % 3 == 0 ? TDM_BYTES_UNKNOWN : len;
}

static void as_kernels(const uint8_t *data, size_t size)
{
	struct tdm_kernel_programs programs = { .code_of = code_of };
	struct fuzz_reading r = { tdm_kernel_programs_take, &programs, true, 0 };
	uint64_t kernels = 0;
	fuzz_read("programs", data, size, &r);
	check(r.refused == programs.refused);
	tdm_kernel_programs_end(&programs);
	for (size_t i = 0; i < programs.program_count; i++) {
		kernels += programs.programs[i].kernels;
		check(programs.programs[i].known + programs.programs[i].unknown == programs.programs[i].kernels);
	}
	check(kernels == programs.kernel_count && programs.name_count <= kernels);
	fuzz_show(&tdm_program_report, &programs);
	tdm_kernel_programs_done(&programs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	as_mesh_buffers(data, size);
	as_kernels(data, size);
	return 0;
}
