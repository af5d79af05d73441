/* The inspector's files: mesh buffers as events and as a history; kernels and programs; every refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/inspector_memory.h"
#include "base/err.h"
#include "history_valid.h"
#include "warnings.h"

#define ALLOC(id, address, size, local, type, time)                                           \
	"- mesh_buffer_allocated:\n    id: " id "\n    address: " address "\n    size: " size \
	"\n    device_local_size: " local "\n    buffer_type: " type "\n    timestamp_ns: " time "\n"
#define FREE(id, address, time) \
	"- mesh_buffer_deallocated:\n    id: " id "\n    address: " address "\n    timestamp_ns: " time "\n"

static int take(void *history, const struct tdm_record *record)
{
	int err = tdm_buffer_history_take(history, record);
	assert_true(record->type != TDM_RECORD_MESH_BUFFER || tdm_event_is_valid(&record->mesh->event));
	assert_true(history_is_valid(history));
	return err;
}

/* All records into a history; and the same events come from the source. */
static void fold(const char *text, struct tdm_buffer_history *history, struct warnings *warnings)
{
	struct tdm_diag diag = { 0 };
	struct tdm_event event;
	uint64_t events = 0;
	int got;
	*history = (struct tdm_buffer_history){ 0 };
	assert_int_equal(read_as("mesh_buffers", tdm_str_of(text), warnings, take, history, &diag), 0);
	assert_int_equal(history->refused, warnings->count);
	tdm_buffer_history_end(history);
	struct tdm_input *input = tdm_input_memory("test", text, strlen(text));
	struct tdm_source *source = tdm_format_find("mesh_buffers")->events(input);
	while ((got = tdm_source_next(source, &event, &diag)) != 0)
		events += got == 1 && event.op == TDM_OP_ALLOC;
	assert_int_equal(source->refused, warnings->count);
	for (int i = 0; i < TDM_KIND_COUNT; i++)
		events -= history->kinds[i].allocs;
	assert_int_equal(events, history->overflows);
	tdm_source_close(source);
	tdm_input_close(input);
}

static void buffers_live_until_they_are_released(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_buffer_history h;
	fold(ALLOC("1", "100", "800", "100", "DRAM", "5") ALLOC("2", "200", "1600", "200", "DRAM", "6")
			ALLOC("3", "300", "80", "10", "L1", "7") FREE("1", "100", "8")
				ALLOC("1", "100", "400", "50", "L1_SMALL", "9"),
		&h, &w);
	assert_string_equal(w.text, "");
	assert_true(h.kinds[TDM_KIND_DRAM].live.bytes == 200 && h.kinds[TDM_KIND_DRAM].live.peak_bytes == 300);
	assert_true(h.kinds[TDM_KIND_DRAM].live.peak_at == 6 && h.kinds[TDM_KIND_DRAM].live.peak_buffers == 2);
	assert_true(h.kinds[TDM_KIND_L1_SMALL].live.bytes == 50);
	assert_true(h.mesh.bytes == 1600 + 80 + 400 && h.mesh.peak_bytes == 2480);
	assert_int_equal(h.live_count, 3);
	assert_true(h.live[0].event.id == 2 && h.live[2].event.id == 3);
	assert_true(h.first_ns == 5 && h.last_ns == 9);
	tdm_buffer_history_done(&h);
}

static void faults_are_counted_and_change_no_sum_twice(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_buffer_history h;
	fold(FREE("1", "100", "1") ALLOC("1", "1", "1", "10", "L1", "2") ALLOC("1", "1", "1", "20", "TRACE", "3")
			FREE("1", "1", "4") FREE("1", "1", "5") ALLOC("2", "1", "18446744073709551615", "7",
				"SYSTEM_MEMORY", "6") ALLOC("3", "1", "1", "7", "SYSTEM_MEMORY", "7"),
		&h, &w);
	assert_string_equal(w.text, "");
	assert_int_equal(h.unknown_frees, 2);
	assert_int_equal(h.rereports, 1);
	assert_int_equal(h.overflows, 1);
	assert_int_equal(h.live_count, 1);
	assert_true(h.kinds[TDM_KIND_SYSTEM].live.bytes == 7 && h.kinds[TDM_KIND_L1].live.bytes == 0);
	tdm_buffer_history_done(&h);
}

static void a_damaged_record_costs_itself_only(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_buffer_history h;
	fold("nonsense\n\n# a comment\n" ALLOC("x", "1", "1", "1", "L1", "1") ALLOC("1", "-1", "1", "1", "L1",
		     "1") ALLOC("1", "1", "1", "18446744073709551616", "L1", "1") ALLOC("1", "1", "1", "1", "FLASH",
		     "1") "- mesh_buffer_allocated:\n    id: 1\n    id: 2\n"
			  "- mesh_buffer_allocated:\n    id: 1\n  - [0, 1]\n"
			  "- something_else:\n    id: 1\n" ALLOC("5", "1", "1", "18446744073709551615", "L1", "1")
				  ALLOC("9", "1", "1", "1", "L1", "1") "- mesh_buffer_allocated:\n    id: 3\n    addr",
		&h, &w);
	assert_string_equal(w.text, "1: not a line of an inspector's record: 'nonsense'\n"
				    "4: id: expected a number: 'x'\n"
				    "11: address: expected a number: '-1'\n"
				    "18: device_local_size: a number that is too large: '18446744073709551616'\n"
				    "25: not a kind of memory: 'FLASH'\n"
				    "34: not a line of an inspector's record: 'id: 2'\n"
				    "37: not a line of an inspector's record: '- [0, 1]'\n"
				    "38: not a record of mesh buffers: 'something_else'\n"
				    "40: a number that is too large\n"
				    "56: not a line of an inspector's record: 'addr'\n");
	assert_int_equal(h.live_count, 1);
	assert_true(h.live[0].event.id == 9);
	tdm_buffer_history_done(&h);
}

static void kernels_belong_to_programs_and_sources_may_have_lines(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_kernel_programs p = { 0 };
	struct tdm_diag diag = { 0 };
	static const char text[] =
		"- kernel:\r\n    watcher_kernel_id: 1\r\n    name: reader\r\n    path: /c/kernels/reader/5/\r\n"
		"    source: a.cpp\r\n    program_id: 3\r\n"
		"- kernel:\n    watcher_kernel_id: 2\n    name: compute\n    path: /c/kernels/compute/6/\n"
		"    source: #include <x>\nvoid main() {\n    label: return;\n}\n    program_id: 3\n"
		"- kernel:\n    watcher_kernel_id: 2\n    path: /x\n    program_id: 4\n"
		"- kernel:\n    watcher_kernel_id: 2\n    name: y\n"
		"- mesh_device_created:\n    mesh_id: 1\n";
	assert_true(is_recognised("programs", text));
	assert_int_equal(read_as("programs", tdm_str_of(text), &w, tdm_kernel_programs_take, &p, &diag), 0);
	tdm_kernel_programs_end(&p);
	assert_string_equal(w.text,
		"16: no name\n20: no program_id\n23: not a record of programs or kernels: 'mesh_device_created'\n");
	assert_int_equal(p.kernel_count, 2);
	assert_int_equal(p.program_count, 1);
	assert_true(p.programs[0].id == 3 && p.programs[0].kernels == 2);
	assert_string_equal(p.kernels[1].name.ptr, "compute");
	assert_string_equal(p.kernels[0].path.ptr, "/c/kernels/reader/5/");
	tdm_kernel_programs_done(&p);
}

static void an_id_is_used_again_after_its_program(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_kernel_programs p = { 0 };
	struct tdm_diag diag = { 0 };
	static const char text[] =
		"- program_created:\n    id: 1\n    timestamp_ns: 1\n"
		"- program_compile_finished:\n    id: 1\n    duration_ns: 77\n"
		"- program_destroyed:\n    id: 1\n"
		"- program_kernel_compile_finished:\n    id: 1\n    watcher_kernel_id: 4\n    name: k\n"
		"- program_compile_finished:\n    id: 1\n";
	assert_int_equal(read_as("programs", tdm_str_of(text), &w, tdm_kernel_programs_take, &p, &diag), 0);
	tdm_kernel_programs_end(&p);
	assert_int_equal(p.refused, 1); /* no duration */
	assert_int_equal(p.program_count, 2);
	assert_true(p.programs[0].destroyed && p.programs[0].compile_ns == 77 && p.programs[0].kernels == 0);
	assert_true(!p.programs[1].destroyed && p.programs[1].compile_ns == TDM_BYTES_UNKNOWN);
	assert_true(p.kernels[0].program == 1 && p.programs[1].kernels == 1 && p.programs[1].unknown == 1);
	tdm_kernel_programs_done(&p);
}

static void only_such_files_are_taken(void **state)
{
	(void)state;
	static const char mesh[] = "\n- mesh_buffer_deallocated:\n";
	assert_true(is_recognised("mesh_buffers", mesh));
	static const char *const bad[] = { "", "-", "- ", "- :\n", "- mesh_device_created:\n", "- item\n",
		"key: value\n", "text\n- kernel:\n", "- program:\n" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(is_recognised("mesh_buffers", bad[i]) || is_recognised("programs", bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_live_until_they_are_released),
		cmocka_unit_test(faults_are_counted_and_change_no_sum_twice),
		cmocka_unit_test(a_damaged_record_costs_itself_only),
		cmocka_unit_test(kernels_belong_to_programs_and_sources_may_have_lines),
		cmocka_unit_test(an_id_is_used_again_after_its_program),
		cmocka_unit_test(only_such_files_are_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
