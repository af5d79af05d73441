/* ttnn's reports: every generation of the tables, rows that make no sense, tables that must not be read, and what the
 * buffers after each operation add up to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/result/finding.h"
#include "analyze/report/operation_memory.h"
#include "analyze/live/region_map.h"
#include "base/err.h"
#include "model/event/phase_run.h"
#include "sqlite_make.h"
#include "warnings.h"

/* Reads a database into `m`. Returns the code of the reader. */
static int read_bytes(const unsigned char *bytes, size_t size, struct tdm_operation_memory *m, struct warnings *w)
{
	struct tdm_diag diag = { 0 };
	tdm_operation_memory_init(m);
	int err = read_as(
		"ttnn_report", (struct tdm_str){ (const char *)bytes, size }, w, tdm_operation_memory_take, m, &diag);
	assert_true(err == 0 || diag.text[0] != '\0');
	tdm_operation_memory_end(m);
	return err;
}

static int read_sql(const char *sql, struct tdm_operation_memory *m, struct warnings *w)
{
	size_t size;
	unsigned char *bytes = sqlite_make(sql, &size);
	assert_non_null(bytes);
	int err = read_bytes(bytes, size, m, w);
	sqlite3_free(bytes);
	return err;
}

static const struct tdm_operation_unit *unit(const struct tdm_operation_memory *m, uint32_t rank, enum tdm_kind kind)
{
	for (size_t i = 0; i < m->unit_count; i++)
		if (m->units[i].rank == rank && m->units[i].kind == kind)
			return &m->units[i];
	fail_msg("no such unit");
	return NULL;
}

static bool begins(const struct warnings *w, const char *text)
{
	return strncmp(w->text, text, strlen(text)) == 0;
}

static void the_peak_is_of_the_sum_after_an_operation(void **state)
{
	struct tdm_operation_memory m;
	struct warnings w;
	(void)state;
	assert_int_equal(read_sql(MADE_DEVICES MADE_OPERATIONS MADE_BUFFERS
				 "INSERT INTO operations VALUES (1, 'a', 0.5), (2, 'b', NULL), (3, 'c', 1);"
				 "INSERT INTO buffers VALUES (1, 0, 100, 10, 0), (1, 0, 200, 20, 0), (1, 0, 300, 7, 1),"
				 "(2, 0, 200, 20, 0), (2, 0, 400, 15, 0), (3, 0, 200, 20, 0);",
				 &m, &w),
		0);
	assert_int_equal(w.count, 0);
	assert_int_equal(m.operation_count, 3);
	assert_int_equal(m.operations[0].duration_ns, 500000000);
	assert_true(m.operations[1].duration_ns == TDM_BYTES_UNKNOWN);
	assert_string_equal(tdm_operation_name(&m, 2), "c");
	const struct tdm_operation_unit *dram = unit(&m, 0, TDM_KIND_DRAM), *l1 = unit(&m, 0, TDM_KIND_L1);
	assert_int_equal(dram->peak_bytes, 35);
	assert_int_equal(dram->peak_operation, 1);
	assert_int_equal(dram->peak.count, 2);
	assert_int_equal(dram->peak.at[0].address, 200);
	assert_int_equal(dram->peak.at[0].since, 0);
	assert_int_equal(dram->peak.at[1].since, 1);
	assert_int_equal(dram->end_bytes, 20);
	assert_int_equal(l1->peak_bytes, 7);
	assert_int_equal(l1->end.count, 0);
	assert_int_equal(l1->banks, 64);
	assert_int_equal(l1->bank_size, 1370112);
	/* The report does not say it, but every card with this L1 has 12 banks of DRAM. */
	assert_int_equal(dram->banks, 12);
	assert_true(dram->by_card);
	assert_int_equal(m.operations[1].bytes[TDM_KIND_DRAM], 35);
	assert_int_equal(m.operations[1].bytes[TDM_KIND_L1], 0);
	assert_true(m.operations[1].cb_bytes == TDM_BYTES_UNKNOWN);
	tdm_operation_memory_done(&m);
}

static void a_missing_column_is_unknown_and_a_missing_table_too(void **state)
{
	struct tdm_operation_memory m;
	struct warnings w;
	(void)state;
	assert_int_equal(read_sql("CREATE TABLE operations (operation_id int);"
				  "INSERT INTO operations VALUES (4), (5);",
				 &m, &w),
		0);
	assert_int_equal(w.count, 0);
	assert_int_equal(m.operation_count, 2);
	assert_string_equal(tdm_operation_name(&m, 0), "");
	assert_true(m.operations[0].duration_ns == TDM_BYTES_UNKNOWN);
	assert_true(m.operations[0].bytes[TDM_KIND_DRAM] == TDM_BYTES_UNKNOWN);
	assert_true(m.operations[0].buffers == TDM_BYTES_UNKNOWN);
	tdm_operation_memory_done(&m);
	/* Buffers without operations: they have no names. */
	assert_int_equal(read_sql(MADE_BUFFERS "INSERT INTO buffers VALUES (7, 0, 1, 2, 0);", &m, &w), 0);
	assert_int_equal(m.operation_count, 1);
	assert_int_equal(m.operations[0].id, 7);
	assert_int_equal(unit(&m, 0, TDM_KIND_DRAM)->banks, 0);
	tdm_operation_memory_done(&m);
}

static void rows_that_make_no_sense_are_refused_with_their_number(void **state)
{
	struct tdm_operation_memory m;
	struct warnings w;
	(void)state;
	assert_int_equal(read_sql(MADE_OPERATIONS MADE_BUFFERS
				 "INSERT INTO operations VALUES (1, 'a', -3), (-2, 'b', 1), (NULL, 'c', 1);"
				 "INSERT INTO buffers VALUES (1, 0, -1, 10, 0), (1, 0, 8, -10, 0), (1, 0, 8, 10, 5), "
				 "(1, -1, 8, 10, 0),"
				 "(1, 0, 8, 9223372036854775807, 0), (1, 0, 'x', 10, 0), (1, 0, x'01', 10, 0), (1, 0, "
				 "8, NULL, 0),"
				 "(1, 0, '16', 10, 0), (1, 0, 16, 10, 0);",
				 &m, &w),
		0);
	assert_int_equal(w.count, 10);
	assert_true(begins(&w, "0: row 3 of operations: operation_id is missing\n"));
	assert_int_equal(m.refused, 10);
	assert_int_equal(m.duplicates, 1);
	assert_int_equal(unit(&m, 0, TDM_KIND_DRAM)->peak_bytes, 10);
	assert_true(m.operations[0].duration_ns == TDM_BYTES_UNKNOWN);
	tdm_operation_memory_done(&m);
}

static void rows_in_any_order_give_the_same_figures(void **state)
{
	struct tdm_operation_memory m;
	struct warnings w;
	(void)state;
	assert_int_equal(
		read_sql(MADE_OPERATIONS MADE_BUFFERS
			"INSERT INTO operations VALUES (3, 'c', 1), (1, 'a', 1), (2, 'b', 1);"
			"INSERT INTO buffers VALUES (2, 0, 400, 15, 0), (1, 0, 100, 10, 0), (3, 0, 200, 20, 0), "
			"(1, 0, 200, 20, 0), (2, 0, 200, 20, 0);",
			&m, &w),
		0);
	assert_int_equal(w.count, 0);
	assert_string_equal(tdm_operation_name(&m, 0), "a");
	assert_int_equal(unit(&m, 0, TDM_KIND_DRAM)->peak_bytes, 35);
	assert_int_equal(unit(&m, 0, TDM_KIND_DRAM)->peak.at[0].since, 0);
	tdm_operation_memory_done(&m);
}

static void ranks_are_kept_apart(void **state)
{
	struct tdm_operation_memory m;
	struct warnings w;
	(void)state;
	assert_int_equal(
		read_sql("CREATE TABLE operations (operation_id int, name text, duration float, rank int);"
			 "CREATE TABLE buffers (operation_id int, device_id int, address int, max_size_per_bank int, "
			 "buffer_type int, buffer_layout int, rank int NOT NULL DEFAULT 0);"
			 "INSERT INTO operations VALUES (1, 'a', 1, 0), (2, 'b', 1, 0), (1, 'c', 1, 1);"
			 "INSERT INTO buffers VALUES (1, 0, 8, 5, 0, 0, 0), (2, 0, 8, 5, 0, 0, 0), (1, 0, 8, 7, 0, 0, "
			 "1);",
			&m, &w),
		0);
	assert_int_equal(m.operation_count, 3);
	assert_int_equal(m.unit_count, 2);
	assert_int_equal(unit(&m, 0, TDM_KIND_DRAM)->peak_bytes, 5);
	assert_int_equal(unit(&m, 0, TDM_KIND_DRAM)->end.count, 1);
	assert_int_equal(unit(&m, 1, TDM_KIND_DRAM)->peak_bytes, 7);
	assert_int_equal(unit(&m, 1, TDM_KIND_DRAM)->end_bytes, 7);
	tdm_operation_memory_done(&m);
}

static void a_buffer_has_the_tensor_that_was_made_last_at_its_address(void **state)
{
	struct tdm_operation_memory m;
	struct warnings w;
	(void)state;
	assert_int_equal(read_sql(MADE_OPERATIONS MADE_BUFFERS MADE_TENSORS
				 "CREATE TABLE device_tensors (tensor_id int, device_id int, address int);"
				 "INSERT INTO operations VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 1), (4, 'd', 1);"
				 "INSERT INTO buffers VALUES (1, 0, 8, 5, 1), (2, 0, 8, 9, 1), (2, 1, 80, 3, 0), (4, "
				 "0, 8, 1, 1);"
				 "INSERT INTO tensors VALUES (10, 'Shape([1, 32])', 'DataType.BFLOAT16', "
				 "'Layout.TILE', '', 0, 8, 1),"
				 "(11, '[64]', 'f', 'r', '', 0, 8, 1), (12, 'late', '', '', '', 0, 8, 1), (13, 'host', "
				 "'', '', NULL, NULL, NULL, NULL);"
				 "INSERT INTO device_tensors VALUES (11, 1, 80);"
				 "INSERT INTO output_tensors VALUES (1, 0, 10), (2, 0, 11), (3, 0, 12);"
				 "INSERT INTO input_tensors VALUES (2, 0, 10), (3, 0, 11), (4, 0, 11);",
				 &m, &w),
		0);
	assert_int_equal(w.count, 0);
	const struct tdm_operation_unit *l1 = unit(&m, 0, TDM_KIND_L1), *dram = unit(&m, 0, TDM_KIND_DRAM);
	const struct tdm_operation_tensor *at_peak = l1->peak.at[0].tensor;
	assert_int_equal(at_peak->id, 11);
	assert_int_equal(at_peak->producer, 1);
	assert_int_equal(at_peak->last_use, 3);
	assert_string_equal(at_peak->text, "[64] f r");
	assert_int_equal(l1->end.at[0].tensor->id, 12);
	assert_int_equal(dram->peak.at[0].tensor->id, 11); /* its other place */
	tdm_operation_memory_done(&m);
}

static void circular_buffers_come_from_the_captured_graph(void **state)
{
	struct tdm_operation_memory m;
	struct warnings w;
	(void)state;
	assert_int_equal(read_sql(MADE_OPERATIONS MADE_BUFFERS
				 "CREATE TABLE captured_graph (operation_id int, captured_graph text);"
				 "INSERT INTO operations VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 1);"
				 "INSERT INTO captured_graph VALUES (2, "
				 "'[{\"counter\":0,\"node_type\":\"circular_buffer_allocate\",\"params\":"
				 "{\"size\":\"4096\",\"address\":\"102400\",\"globally_allocated\":\"0\",\"core_range_"
				 "set\":\"{[(x=0,y=0) - (x=1,y=0)]}\"},"
				 "\"connections\":[]}]'), (3, '[{'), (9, '[]');",
				 &m, &w),
		0);
	assert_int_equal(w.count, 1);
	assert_true(begins(&w, "0: captured graph of operation 3: "));
	assert_true(m.operations[0].cb_bytes == TDM_BYTES_UNKNOWN);
	assert_int_equal(m.operations[1].cb_bytes, 4096);
	tdm_operation_memory_done(&m);
}

static void what_the_file_would_compute_is_not_read(void **state)
{
	struct tdm_operation_memory m;
	struct warnings w;
	(void)state;
	assert_int_equal(
		read_sql(MADE_OPERATIONS
			"INSERT INTO operations VALUES (1, 'a', 1);"
			"CREATE VIEW buffers AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
			"SELECT x AS operation_id, 0 AS device_id, 1 AS address, 1 AS max_size_per_bank, 0 AS "
			"buffer_type FROM c;",
			&m, &w),
		0);
	assert_int_equal(w.count, 1);
	assert_true(begins(&w, "0: buffers is not a table but computed by the file: it is not read\n"));
	assert_int_equal(m.operation_count, 1);
	assert_int_equal(m.unit_count, 0);
	tdm_operation_memory_done(&m);
	/* A computed column is as good as missing. */
	assert_int_equal(read_sql("CREATE TABLE operations (operation_id int, name text AS (hex(zeroblob(50000000))), "
				  "duration float);"
				  "INSERT INTO operations VALUES (1, 1);",
				 &m, &w),
		0);
	assert_int_equal(w.count, 0);
	assert_string_equal(tdm_operation_name(&m, 0), "");
	tdm_operation_memory_done(&m);
	/* An index is not used, since it may contradict its table or compute something. */
	assert_int_equal(read_sql(MADE_OPERATIONS "CREATE INDEX i ON operations (operation_id, abs(duration));"
						  "INSERT INTO operations VALUES (2, 'b', 1), (1, 'a', 1);",
				 &m, &w),
		0);
	assert_int_equal(m.operation_count, 2);
	tdm_operation_memory_done(&m);
}

static void other_databases_are_refused(void **state)
{
	struct tdm_operation_memory m;
	struct warnings w;
	(void)state;
	assert_int_equal(read_sql("CREATE TABLE a (b);", &m, &w), TDM_ENOTFOUND);
	assert_false(m.has_head);
	tdm_operation_memory_done(&m);
}

static void a_cut_file_gives_the_tables_that_are_whole(void **state)
{
	struct tdm_operation_memory m;
	struct warnings w;
	size_t size;
	(void)state;
	unsigned char *bytes = sqlite_make(
		"PRAGMA page_size = 512;" MADE_OPERATIONS MADE_BUFFERS "INSERT INTO operations VALUES (1, 'a', 1);"
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 200) "
		"INSERT INTO buffers SELECT 1, 0, x * 64, 10, 0 FROM c;",
		&size);
	assert_non_null(bytes);
	assert_int_equal(read_bytes(bytes, size - 1024, &m, &w), 0);
	assert_true(w.count >= 2); /* the table, and the file */
	assert_int_equal(m.operation_count, 1);
	assert_true(unit(&m, 0, TDM_KIND_DRAM)->peak_bytes < 2000);
	tdm_operation_memory_done(&m);
	/* No length of it ends the program. */
	for (size_t len = 16; len < size; len += 97) {
		read_bytes(bytes, len, &m, &w);
		tdm_operation_memory_done(&m);
	}
	sqlite3_free(bytes);
}

static bool finds(const struct tdm_operation_memory *m, const char *what)
{
	struct tdm_findings found = { 0 };
	bool any = false;
	tdm_operation_memory_find(m, &found);
	for (size_t i = 0; i < found.count; i++)
		any |= strcmp(found.list[i].what, what) == 0;
	tdm_findings_done(&found);
	return any;
}

static void buffers_that_one_operation_leaves_again_and_again_are_a_finding(void **state)
{
	struct tdm_operation_memory m;
	struct warnings w;
	(void)state;
	const char *leak = MADE_OPERATIONS MADE_BUFFERS
		"INSERT INTO operations VALUES (1, 'load', 1), (2, 'op', 1), (3, 'op', 1), (4, 'op', 1);"
		"INSERT INTO buffers VALUES (1, 0, 0, 9, 0), (2, 0, 0, 9, 0), (2, 0, 100, 8, 0), (3, 0, 0, 9, 0), (3, "
		"0, 100, 8, 0), "
		"(3, 0, 200, 8, 0), (4, 0, 0, 9, 0), (4, 0, 100, 8, 0), (4, 0, 200, 8, 0), (4, 0, 300, 8, 0);";
	assert_int_equal(read_sql(leak, &m, &w), 0);
	assert_true(finds(&m, "never_released"));
	tdm_operation_memory_done(&m);
	/* The same address with another size is another buffer: nothing piles up. */
	assert_int_equal(
		read_sql(MADE_OPERATIONS MADE_BUFFERS
			"INSERT INTO operations VALUES (1, 'load', 1), (2, 'op', 1), (3, 'op', 1), (4, 'op', 1);"
			"INSERT INTO buffers VALUES (1, 0, 0, 9, 0), (2, 0, 100, 8, 0), (3, 0, 100, 7, 0), (4, 0, 100, "
			"6, 0);",
			&m, &w),
		0);
	assert_false(finds(&m, "never_released"));
	assert_int_equal(unit(&m, 0, TDM_KIND_DRAM)->end.at[0].since, 3);
	tdm_operation_memory_done(&m);
}

static void free_space_is_known_where_the_region_is(void **state)
{
	struct tdm_operation_memory m;
	struct warnings w;
	(void)state;
	assert_int_equal(read_sql(MADE_DEVICES MADE_BUFFERS "INSERT INTO buffers VALUES (1, 0, 200000, 1000, 1), (1, "
							    "0, 300000, 1000, 1), (1, 0, 50, 10, 0);",
				 &m, &w),
		0);
	const struct tdm_operation_unit *l1 = unit(&m, 0, TDM_KIND_L1), *dram = unit(&m, 0, TDM_KIND_DRAM);
	assert_int_equal(l1->map.free_bytes, 1370112 - 2000);
	assert_int_equal(l1->map.largest_free, 102400 + 1370112 - 301000);
	assert_int_equal(l1->map.gap_count, 3);
	assert_true(dram->map.free_bytes == TDM_BYTES_UNKNOWN);
	tdm_operation_memory_done(&m);
}

static void operations_are_phases_where_the_banks_are_known(void **state)
{
	struct tdm_operation_memory m;
	struct tdm_phase_runs runs = { 0 };
	struct tdm_diag diag = { 0 };
	struct warnings w;
	(void)state;
	const char *rows =
		MADE_OPERATIONS MADE_BUFFERS "INSERT INTO operations VALUES (1, 'a', 1), (2, 'b', 1);"
					     "INSERT INTO buffers VALUES (1, 0, 8, 30, 0), (2, 0, 8, 10, 0);";
	assert_int_equal(read_sql(rows, &m, &w), 0);
	assert_int_equal(tdm_operation_memory_runs(&m, &runs, &diag), TDM_EUNKNOWN);
	assert_int_equal(runs.count, 0);
	tdm_operation_memory_done(&m);
	char sql[2048];
	snprintf(sql, sizeof sql, "%s%s", MADE_DEVICES, rows);
	assert_int_equal(read_sql(sql, &m, &w), 0);
	assert_int_equal(tdm_operation_memory_runs(&m, &runs, &diag), 0);
	assert_int_equal(runs.count, 1);
	assert_int_equal(runs.runs[0].phase_count, 2);
	assert_string_equal(runs.runs[0].phases[1].name, "2 b");
	assert_int_equal(runs.runs[0].overall_peak, 360);
	assert_int_equal(runs.runs[0].phases[1].figures.dram_change, -240);
	assert_int_equal(runs.runs[0].final_current, 120);
	assert_true(runs.runs[0].phases[0].figures.dram_peak == TDM_PHASE_UNKNOWN);
	tdm_phase_runs_done(&runs);
	tdm_operation_memory_done(&m);
}

static void cores_are_those_at_the_peak(void **state)
{
	struct tdm_operation_memory m;
	struct warnings w;
	(void)state;
	assert_int_equal(read_sql(MADE_BUFFERS "INSERT INTO buffers VALUES (1, 0, 8, 30, 1), (2, 0, 8, 10, 1);"
					       "CREATE TABLE buffer_pages (operation_id int, device_id int, address "
					       "int, core_y int, core_x int, "
					       "page_size int, buffer_type int);"
					       "INSERT INTO buffer_pages VALUES (1, 0, 8, 1, 2, 20, 1), (1, 0, 8, 1, "
					       "2, 10, 1), (2, 0, 8, 0, 0, 10, 1), "
					       "(1, 0, 8, 40, 0, 10, 1);",
				 &m, &w),
		0);
	assert_int_equal(w.count, 1);
	assert_true(m.has_cores);
	assert_int_equal(m.core_bytes[1][2], 30);
	assert_int_equal(m.core_bytes[0][0], 0);
	assert_int_equal(m.grid_x, 3);
	assert_int_equal(m.grid_y, 2);
	tdm_operation_memory_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_peak_is_of_the_sum_after_an_operation),
		cmocka_unit_test(a_missing_column_is_unknown_and_a_missing_table_too),
		cmocka_unit_test(rows_that_make_no_sense_are_refused_with_their_number),
		cmocka_unit_test(rows_in_any_order_give_the_same_figures),
		cmocka_unit_test(ranks_are_kept_apart),
		cmocka_unit_test(a_buffer_has_the_tensor_that_was_made_last_at_its_address),
		cmocka_unit_test(circular_buffers_come_from_the_captured_graph),
		cmocka_unit_test(what_the_file_would_compute_is_not_read),
		cmocka_unit_test(other_databases_are_refused),
		cmocka_unit_test(a_cut_file_gives_the_tables_that_are_whole),
		cmocka_unit_test(buffers_that_one_operation_leaves_again_and_again_are_a_finding),
		cmocka_unit_test(free_space_is_known_where_the_region_is),
		cmocka_unit_test(operations_are_phases_where_the_banks_are_known),
		cmocka_unit_test(cores_are_those_at_the_peak),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
