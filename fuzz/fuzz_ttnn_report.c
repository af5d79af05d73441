/*
 * Fuzz the reader of ttnn's reports. Exercises: input/report/ttnn_report.c and SQLite under it,
 * analyze/report/operation_memory.c and operation_result.c.
 *
 * Random bytes are never a database. So an input is a list of changes to a good one, which is made from SQL: three
 * bytes each, a place and a new value. An odd rest of one byte cuts the file to that many 256ths.
 *
 * Properties: a refusal has a text; sums agree with the buffers; the report can be written.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/unit/sqlite_make.h"
#include "model/event/phase_run.h"
#include "analyze/report/operation_memory.h"
#include "fuzz_report.h"

static const char good[] =
	"PRAGMA page_size = 512;" MADE_DEVICES MADE_OPERATIONS MADE_BUFFERS MADE_TENSORS
	"CREATE TABLE captured_graph (operation_id int, captured_graph text);"
	"CREATE TABLE errors (operation_id int, operation_name text, error_message text);"
	"CREATE TABLE buffer_pages (operation_id int, device_id int, core_x int, core_y int, page_size int, "
	"buffer_type int);"
	"INSERT INTO operations VALUES (1, 'a', 0.5), (2, 'b', 1), (3, 'b', NULL), (4, 'b', 2);"
	"INSERT INTO buffers VALUES (1, 0, 64, 32, 0), (2, 0, 64, 32, 0), (2, 0, 200000, 32, 1), (2, 0, 128, 16, 0),"
	"(3, 0, 128, 16, 0), (3, 0, 256, 16, 0), (4, 0, 128, 16, 0), (4, 0, 256, 16, 0), (4, 0, 512, 16, 0), (4, 1, 8, "
	"9, 4);"
	"INSERT INTO tensors VALUES (1, 'Shape([1])', 'DataType.A', 'Layout.B', '', 0, 64, 0), (2, 's', 'd', 'l', '', "
	"0, 128, 0);"
	"INSERT INTO input_tensors VALUES (2, 0, 1);"
	"INSERT INTO output_tensors VALUES (1, 0, 1), (2, 0, 2);"
	"INSERT INTO captured_graph VALUES (2, '[{\"counter\":0,\"node_type\":\"circular_buffer_allocate\",\"params\":"
	"{\"size\":\"64\",\"core_range_set\":\"{[(x=0,y=0) - (x=1,y=0)]}\"},\"connections\":[]}]');"
	"INSERT INTO errors VALUES (3, 'b', 'Out of Memory: Not enough space to allocate 64 B DRAM buffer across 2 "
	"banks, "
	"where each bank needs to store 32 B');"
	"INSERT INTO buffer_pages VALUES (2, 0, 1, 1, 32, 1);";

static void check_sums(const struct tdm_operation_memory *m)
{
	for (size_t i = 0; i < m->unit_count; i++) {
		uint64_t peak = 0, end = 0;
		for (size_t k = 0; k < m->units[i].peak.count; k++)
			peak = tdm_plus(peak, m->units[i].peak.at[k].bytes);
		for (size_t k = 0; k < m->units[i].end.count; k++)
			end = tdm_plus(end, m->units[i].end.at[k].bytes);
		check(peak == m->units[i].peak_bytes && end == m->units[i].end_bytes && end <= peak);
	}
}

static void check_runs(const struct tdm_operation_memory *m)
{
	struct tdm_phase_runs runs = { 0 };
	struct tdm_diag diag = { 0 };
	check(tdm_operation_memory_runs(m, &runs, &diag) == 0 || diag.text[0] != '\0');
	tdm_phase_runs_done(&runs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char *base;
	static size_t base_size;
	if (base == NULL)
		base = sqlite_make(good, &base_size);
	check(base != NULL);
	uint8_t *bytes = malloc(base_size);
	check(bytes != NULL);
	memcpy(bytes, base, base_size);
	for (size_t i = 0; i + 3 <= size; i += 3)
		bytes[(data[i] << 8 | data[i + 1]) % base_size] = data[i + 2];
	size_t len = size % 3 == 1 ? base_size * data[size - 1] / 256 : base_size;
	struct tdm_operation_memory m;
	struct fuzz_reading reading = { .take = tdm_operation_memory_take, .to = &m };
	tdm_operation_memory_init(&m);
	fuzz_read("ttnn_report", bytes, len, &reading);
	tdm_operation_memory_end(&m);
	check_sums(&m);
	fuzz_show(&tdm_operation_report, &m);
	check_runs(&m);
	tdm_operation_memory_done(&m);
	free(bytes);
	return 0;
}
