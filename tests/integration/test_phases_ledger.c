/* Phases that a program captures with the library and that are read from its ledger have the same text and figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "ledger/read/ledger_list.h"
#include "ledger/archive/archive.h"
#include "ledger/read/reader.h"
#include "input/door/format.h"
#include "input/ledger/ledger_phases.h"
#include "tidemark.h"

enum { MB = 1 << 20 };

static bool is_ledger(const char *path)
{
	struct tdm_input *input;
	assert_int_equal(tdm_input_open(path, &input), 0);
	bool is = tdm_format_of(input) == tdm_format_find("ledger");
	tdm_input_close(input);
	return is;
}

static void alloc_dram(uint64_t id, uint64_t bytes)
{
	tidemark_alloc(&(struct tidemark_buffer){ .size = sizeof(struct tidemark_buffer),
		.kind = TIDEMARK_DRAM,
		.id = id,
		.address = id,
		.bytes = bytes,
		.bytes_per_bank = bytes / 12,
		.banks = 12 });
}

/* The tracked program: two captures, marks between them; its own text goes into a file. */
static void run_program(const char *dir)
{
	char path[128], text[8192];
	setenv("TIDEMARK_DIR", dir, 1);
	setenv("TIDEMARK", "1", 1);
	struct tidemark_region dram = { .kind = TIDEMARK_DRAM, .banks = 12, .bank_size = UINT64_C(1) << 30 };
	struct tidemark_device device = { .size = sizeof device, .card = "n150", .region_count = 1, .regions = &dram };
	tidemark_enable();
	tidemark_describe_device(&device);
	tidemark_capture_begin(TIDEMARK_CAPTURE_NORMAL);
	alloc_dram(1, 12 * MB);
	tidemark_capture_snapshot("MODEL_CREATION");
	tidemark_phase("between");
	alloc_dram(2, 24 * MB);
	alloc_dram(3, 36 * MB);
	tidemark_free(0, TIDEMARK_DRAM, 2);
	tidemark_capture_snapshot("FORWARD_PASS");
	tidemark_capture_end("DONE");
	size_t length = tidemark_capture_format(text, sizeof text);
	snprintf(path, sizeof path, "%s/text", dir);
	tdm_file_replace(path, text, length);
	tidemark_capture_clear();
	tidemark_phase("later");
	tidemark_capture_begin(TIDEMARK_CAPTURE_NO_DISPATCH);
	tidemark_capture_end("SECOND");
	_exit(0); /* its ledger stays */
}

static void found(void *context, const struct tdm_ledger_entry *entry)
{
	snprintf(context, 256, "%s", entry->path);
}

static void find_ledger(const char *dir, char path[256])
{
	struct tdm_ledger_search search = { .dir = dir, .each = found, .context = path };
	assert_int_equal(tdm_ledger_list(&search), 0);
}

static void the_ledger_has_what_the_program_printed(void **state)
{
	(void)state;
	char dir[] = "/tmp/tidemark-phases-XXXXXX", path[256] = "", text_path[300];
	assert_non_null(mkdtemp(dir));
	pid_t pid = fork();
	if (pid == 0)
		run_program(dir);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	find_ledger(dir, path);
	assert_true(is_ledger(path));
	snprintf(text_path, sizeof text_path, "%s/text", dir);
	assert_false(is_ledger(text_path));

	struct tdm_phase_runs runs = { 0 };
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_ledger_phases_read(path, &runs, &diag), 0);
	assert_int_equal(runs.count, 3); /* two captures, then the marks */
	struct tdm_buf own, read;
	tdm_buf_init(&own);
	tdm_buf_init(&read);
	assert_int_equal(tdm_file_read(text_path, 1 << 20, &own), 0);
	tdm_phase_run_print(&runs.runs[0], &read);
	assert_string_equal(read.data, own.data);
	assert_non_null(strstr(read.data, "--- FORWARD_PASS ---\n  DRAM: Segment Peak 60.00 MB"));
	assert_int_equal(runs.runs[0].device_memory_bytes, UINT64_C(12) << 30);
	assert_true(tdm_phase_run_is_measured(&runs.runs[0]));
	assert_false(runs.runs[0].no_dispatch);
	assert_true(runs.runs[1].no_dispatch);
	assert_string_equal(runs.runs[1].phases[0].name, "SECOND");

	const struct tdm_phase_run *marks = &runs.runs[2];
	assert_non_null(strstr(marks->name, "marks"));
	assert_false(tdm_phase_run_is_measured(marks));
	assert_int_equal(marks->phase_count, 2);
	assert_string_equal(marks->phases[0].name, "between");
	assert_int_equal(marks->phases[0].figures.dram_change, 36 * MB);
	assert_int_equal(marks->phases[0].figures.dram_peak, TDM_PHASE_UNKNOWN);
	assert_int_equal(marks->phases[1].figures.dram_cumulative_current, 48 * MB);
	assert_int_equal(marks->overall_peak, 72 * MB);
	assert_true(marks->last_open && !marks->incomplete);
	assert_false(runs.runs[0].last_open);
	tdm_phase_runs_done(&runs);
	tdm_buf_done(&own);
	tdm_buf_done(&read);
	unlink(path);
	unlink(text_path);
	assert_int_equal(tdm_ledger_reap_run(dir), 0);
}

/* Marks of a run of weeks: as many as are shown are kept, and the rest is said to be missing. */
static void run_for_long(const char *dir)
{
	setenv("TIDEMARK_DIR", dir, 1);
	setenv("TIDEMARK", "1", 1);
	tidemark_enable();
	alloc_dram(1, 12 * MB);
	for (int i = 0; i < TDM_PHASES_MAX; i++)
		tidemark_phase("FORWARD_PASS");
	alloc_dram(2, 24 * MB);
	tidemark_phase("BACKWARD_PASS");
	alloc_dram(3, 36 * MB);
	_exit(0);
}

static void more_marks_than_are_kept(void **state)
{
	(void)state;
	char dir[] = "/tmp/tidemark-phases-XXXXXX", path[256] = "";
	assert_non_null(mkdtemp(dir));
	pid_t pid = fork();
	if (pid == 0)
		run_for_long(dir);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	find_ledger(dir, path);
	struct tdm_phase_runs runs = { 0 };
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_ledger_phases_read(path, &runs, &diag), 0);
	assert_int_equal(runs.count, 1);
	assert_int_equal(runs.runs[0].phase_count, TDM_PHASES_MAX);
	assert_true(runs.runs[0].incomplete && !runs.runs[0].last_open);
	assert_int_equal(runs.runs[0].phases[TDM_PHASES_MAX - 1].figures.dram_cumulative_current, 36 * MB);
	assert_int_equal(runs.runs[0].final_current, 72 * MB);
	assert_int_equal(runs.runs[0].overall_peak, 72 * MB);
	tdm_phase_runs_done(&runs);
	unlink(path);
	assert_int_equal(tdm_ledger_reap_run(dir), 0);
}

static void what_is_no_ledger_is_refused(void **state)
{
	(void)state;
	struct tdm_phase_runs runs = { 0 };
	struct tdm_diag diag = { 0 };
	assert_true(tdm_ledger_phases_read("/dev/null", &runs, &diag) < 0);
	assert_true(diag.text[0] != '\0');
	assert_int_equal(runs.count, 0);
	tdm_phase_runs_done(&runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ledger_has_what_the_program_printed),
		cmocka_unit_test(more_marks_than_are_kept),
		cmocka_unit_test(what_is_no_ledger_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
