/*
 * Compares docs/formats/ledger.md with layout.h: every offset, size and constant of the page, and that none is missing.
 * A structure is a heading "### `struct NAME`: N bytes" and a table "| offset | size | type | `field` | ..."; a
 * constant is a row "| `NAME` | value | ...".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "ledger/layout/layout.h"

enum { PAGE_MAX = 1 << 20, NAME_CAP = 64 };

/* A structure (field NULL), a field, or a constant (structure NULL). */
struct item {
	const char *structure, *field;
	uint64_t offset, value; /* value: size, or the constant's */
};

/* clang-format off */
#define STRUCT(s)   { #s, NULL, 0, sizeof(struct s) }
#define FIELD(s, f) { #s, #f, offsetof(struct s, f), sizeof(((struct s *)0)->f) }
#define CONSTANT(c) { NULL, #c, 0, (uint64_t)(c) }

static const struct item items[] = {
	STRUCT(tdm_ledger_clock),
	FIELD(tdm_ledger_clock, tsc),
	FIELD(tdm_ledger_clock, monotonic_ns),
	FIELD(tdm_ledger_clock, realtime_ns),
	STRUCT(tdm_ledger_header),
	FIELD(tdm_ledger_header, magic),
	FIELD(tdm_ledger_header, major),
	FIELD(tdm_ledger_header, minor),
	FIELD(tdm_ledger_header, state),
	FIELD(tdm_ledger_header, header_size),
	FIELD(tdm_ledger_header, file_size),
	FIELD(tdm_ledger_header, boot_id),
	FIELD(tdm_ledger_header, pid_namespace),
	FIELD(tdm_ledger_header, start_time),
	FIELD(tdm_ledger_header, pid),
	FIELD(tdm_ledger_header, generation),
	FIELD(tdm_ledger_header, uid),
	FIELD(tdm_ledger_header, flags),
	FIELD(tdm_ledger_header, comm),
	FIELD(tdm_ledger_header, command),
	FIELD(tdm_ledger_header, first),
	FIELD(tdm_ledger_header, last),
	FIELD(tdm_ledger_header, last_seq),
	FIELD(tdm_ledger_header, closed_tsc),
	FIELD(tdm_ledger_header, frees_inherited),
	FIELD(tdm_ledger_header, lost),
	FIELD(tdm_ledger_header, notes_offset),
	FIELD(tdm_ledger_header, reserved1),
	FIELD(tdm_ledger_header, device_count),
	FIELD(tdm_ledger_header, blob_segments),
	FIELD(tdm_ledger_header, blob_used),
	FIELD(tdm_ledger_header, blob_offset),
	FIELD(tdm_ledger_header, phase_count),
	FIELD(tdm_ledger_header, phase_segments),
	FIELD(tdm_ledger_header, phase_offset),
	FIELD(tdm_ledger_header, module_count_reserved),
	FIELD(tdm_ledger_header, device_offset),
	STRUCT(tdm_ledger_now),
	FIELD(tdm_ledger_now, seq),
	FIELD(tdm_ledger_now, bytes),
	FIELD(tdm_ledger_now, buffers),
	FIELD(tdm_ledger_now, bank_bytes),
	FIELD(tdm_ledger_now, asked_bytes),
	FIELD(tdm_ledger_now, allocs),
	FIELD(tdm_ledger_now, alloc_bytes),
	FIELD(tdm_ledger_now, alloc_asked),
	STRUCT(tdm_ledger_peak),
	FIELD(tdm_ledger_peak, seq),
	FIELD(tdm_ledger_peak, bytes),
	FIELD(tdm_ledger_peak, buffers),
	FIELD(tdm_ledger_peak, bank_bytes),
	FIELD(tdm_ledger_peak, asked_bytes),
	FIELD(tdm_ledger_peak, tsc),
	FIELD(tdm_ledger_peak, adopted),
	FIELD(tdm_ledger_peak, adopted_bytes),
	STRUCT(tdm_ledger_faults),
	FIELD(tdm_ledger_faults, out_of_memory),
	FIELD(tdm_ledger_faults, double_frees),
	FIELD(tdm_ledger_faults, unknown_frees),
	FIELD(tdm_ledger_faults, rereports),
	FIELD(tdm_ledger_faults, views),
	FIELD(tdm_ledger_faults, oom_bytes),
	FIELD(tdm_ledger_faults, oom_tsc),
	FIELD(tdm_ledger_faults, estimated),
	STRUCT(tdm_ledger_region),
	FIELD(tdm_ledger_region, kind),
	FIELD(tdm_ledger_region, banks),
	FIELD(tdm_ledger_region, base),
	FIELD(tdm_ledger_region, bank_size),
	FIELD(tdm_ledger_region, align),
	FIELD(tdm_ledger_region, flags),
	STRUCT(tdm_ledger_device),
	FIELD(tdm_ledger_device, seq),
	FIELD(tdm_ledger_device, reserved0),
	FIELD(tdm_ledger_device, number),
	FIELD(tdm_ledger_device, flags),
	FIELD(tdm_ledger_device, described),
	FIELD(tdm_ledger_device, chip_id),
	FIELD(tdm_ledger_device, card),
	FIELD(tdm_ledger_device, region_count),
	FIELD(tdm_ledger_device, grid_x),
	FIELD(tdm_ledger_device, grid_y),
	FIELD(tdm_ledger_device, shared_kinds),
	FIELD(tdm_ledger_device, regions),
	FIELD(tdm_ledger_device, reserved2),
	FIELD(tdm_ledger_device, slot_segments),
	FIELD(tdm_ledger_device, slot_high),
	FIELD(tdm_ledger_device, slot_offset),
	FIELD(tdm_ledger_device, ring_offset),
	FIELD(tdm_ledger_device, ring_records),
	FIELD(tdm_ledger_device, runtime_offset),
	FIELD(tdm_ledger_device, reserved3),
	FIELD(tdm_ledger_device, faults),
	FIELD(tdm_ledger_device, reserved4),
	FIELD(tdm_ledger_device, now),
	FIELD(tdm_ledger_device, peak),
	STRUCT(tdm_ledger_slot),
	FIELD(tdm_ledger_slot, birth),
	FIELD(tdm_ledger_slot, death),
	FIELD(tdm_ledger_slot, id),
	FIELD(tdm_ledger_slot, address),
	FIELD(tdm_ledger_slot, asked),
	FIELD(tdm_ledger_slot, bank_bytes),
	FIELD(tdm_ledger_slot, name),
	FIELD(tdm_ledger_slot, stack),
	FIELD(tdm_ledger_slot, banks),
	FIELD(tdm_ledger_slot, kind),
	FIELD(tdm_ledger_slot, flags),
	FIELD(tdm_ledger_slot, reserved),
	STRUCT(tdm_ledger_more),
	FIELD(tdm_ledger_more, holding),
	FIELD(tdm_ledger_more, page_size),
	FIELD(tdm_ledger_more, cores),
	FIELD(tdm_ledger_more, thread),
	FIELD(tdm_ledger_more, tsc),
	FIELD(tdm_ledger_more, program),
	FIELD(tdm_ledger_more, ranges),
	STRUCT(tdm_ledger_record),
	FIELD(tdm_ledger_record, seq),
	FIELD(tdm_ledger_record, tsc),
	FIELD(tdm_ledger_record, id),
	FIELD(tdm_ledger_record, address),
	FIELD(tdm_ledger_record, asked),
	FIELD(tdm_ledger_record, bank_bytes),
	FIELD(tdm_ledger_record, name),
	FIELD(tdm_ledger_record, slot),
	FIELD(tdm_ledger_record, banks),
	FIELD(tdm_ledger_record, op),
	FIELD(tdm_ledger_record, kind),
	FIELD(tdm_ledger_record, flags),
	STRUCT(tdm_ledger_phase),
	FIELD(tdm_ledger_phase, name),
	FIELD(tdm_ledger_phase, flags),
	FIELD(tdm_ledger_phase, begin_tsc),
	FIELD(tdm_ledger_phase, end_tsc),
	FIELD(tdm_ledger_phase, session),
	FIELD(tdm_ledger_phase, dram_peak),
	FIELD(tdm_ledger_phase, dram_allocated),
	FIELD(tdm_ledger_phase, dram_freed),
	FIELD(tdm_ledger_phase, l1_peak_cb),
	FIELD(tdm_ledger_phase, l1_peak_buffer),
	FIELD(tdm_ledger_phase, l1_peak_total),
	FIELD(tdm_ledger_phase, dram_now),
	FIELD(tdm_ledger_phase, reserved),
	STRUCT(tdm_ledger_blob),
	FIELD(tdm_ledger_blob, kind),
	FIELD(tdm_ledger_blob, bytes),
	FIELD(tdm_ledger_blob, hash),
	STRUCT(tdm_ledger_note),
	FIELD(tdm_ledger_note, value),
	FIELD(tdm_ledger_note, text),
	FIELD(tdm_ledger_note, reserved),
	STRUCT(tdm_ledger_notes),
	FIELD(tdm_ledger_notes, remark_count),
	FIELD(tdm_ledger_notes, remarks_lost),
	FIELD(tdm_ledger_notes, reserved),
	FIELD(tdm_ledger_notes, counters),
	FIELD(tdm_ledger_notes, remarks),
	STRUCT(tdm_ledger_statistics),
	FIELD(tdm_ledger_statistics, reports),
	FIELD(tdm_ledger_statistics, allocated),
	FIELD(tdm_ledger_statistics, free),
	FIELD(tdm_ledger_statistics, largest),
	FIELD(tdm_ledger_statistics, ours),
	FIELD(tdm_ledger_statistics, differing),
	FIELD(tdm_ledger_statistics, tsc),
	FIELD(tdm_ledger_statistics, reserved),
	STRUCT(tdm_ledger_trace),
	FIELD(tdm_ledger_trace, id),
	FIELD(tdm_ledger_trace, began_tsc),
	FIELD(tdm_ledger_trace, ended_tsc),
	FIELD(tdm_ledger_trace, replayed_tsc),
	FIELD(tdm_ledger_trace, released_tsc),
	FIELD(tdm_ledger_trace, replays),
	FIELD(tdm_ledger_trace, first),
	FIELD(tdm_ledger_trace, last),
	STRUCT(tdm_ledger_hazard),
	FIELD(tdm_ledger_hazard, trace),
	FIELD(tdm_ledger_hazard, count),
	FIELD(tdm_ledger_hazard, id),
	FIELD(tdm_ledger_hazard, address),
	FIELD(tdm_ledger_hazard, asked),
	FIELD(tdm_ledger_hazard, bank_bytes),
	FIELD(tdm_ledger_hazard, tsc),
	FIELD(tdm_ledger_hazard, replayed_tsc),
	FIELD(tdm_ledger_hazard, name),
	FIELD(tdm_ledger_hazard, program),
	FIELD(tdm_ledger_hazard, stack),
	FIELD(tdm_ledger_hazard, replay_stack),
	FIELD(tdm_ledger_hazard, state),
	FIELD(tdm_ledger_hazard, kind),
	FIELD(tdm_ledger_hazard, flags),
	FIELD(tdm_ledger_hazard, reserved),
	STRUCT(tdm_ledger_runtime_head),
	FIELD(tdm_ledger_runtime_head, changes),
	FIELD(tdm_ledger_runtime_head, hazard_changes),
	FIELD(tdm_ledger_runtime_head, allocs),
	FIELD(tdm_ledger_runtime_head, hazards_lost),
	FIELD(tdm_ledger_runtime_head, traces_lost),
	FIELD(tdm_ledger_runtime_head, trace_count),
	FIELD(tdm_ledger_runtime_head, waiting_count),
	FIELD(tdm_ledger_runtime_head, judged_count),
	FIELD(tdm_ledger_runtime_head, clash_types),
	FIELD(tdm_ledger_runtime_head, life),
	FIELD(tdm_ledger_runtime_head, left),
	STRUCT(tdm_ledger_runtime),
	FIELD(tdm_ledger_runtime, head),
	FIELD(tdm_ledger_runtime, statistics),
	FIELD(tdm_ledger_runtime, traces),
	FIELD(tdm_ledger_runtime, hazards),
	FIELD(tdm_ledger_runtime, clashes),
	STRUCT(tdm_ledger_clash),
	FIELD(tdm_ledger_clash, count),
	FIELD(tdm_ledger_clash, tsc),
	FIELD(tdm_ledger_clash, begin),
	FIELD(tdm_ledger_clash, end),
	FIELD(tdm_ledger_clash, limit),
	FIELD(tdm_ledger_clash, program),
	FIELD(tdm_ledger_clash, range_count),
	FIELD(tdm_ledger_clash, range),
	FIELD(tdm_ledger_clash, kind),
	FIELD(tdm_ledger_clash, reserved),
	CONSTANT(TDM_LEDGER_MAGIC),
	CONSTANT(TDM_LEDGER_MAJOR),
	CONSTANT(TDM_LEDGER_MINOR),
	CONSTANT(TDM_LEDGER_SEQ_BUSY),
	CONSTANT(TDM_LEDGER_PAGE),
	CONSTANT(TDM_LEDGER_DEVICES),
	CONSTANT(TDM_LEDGER_SEGMENTS),
	CONSTANT(TDM_LEDGER_FIRST_SLOTS),
	CONSTANT(TDM_LEDGER_RING),
	CONSTANT(TDM_LEDGER_RING_MIN),
	CONSTANT(TDM_LEDGER_RING_MAX),
	CONSTANT(TDM_LEDGER_NO_SLOT),
	CONSTANT(TDM_LEDGER_BLOB_SEGMENTS),
	CONSTANT(TDM_LEDGER_FIRST_BLOB),
	CONSTANT(TDM_LEDGER_BLOB_UNIT),
	CONSTANT(TDM_LEDGER_PHASES_FIRST),
	CONSTANT(TDM_LEDGER_REGIONS),
	CONSTANT(TDM_LEDGER_COUNTERS),
	CONSTANT(TDM_LEDGER_L1_ALL),
	CONSTANT(TDM_LEDGER_TEXT_MAX),
	CONSTANT(TDM_LEDGER_STACK_MAX),
	CONSTANT(TDM_LEDGER_RANGES_MAX),
	CONSTANT(TDM_LEDGER_NOTE_COUNTERS),
	CONSTANT(TDM_LEDGER_NOTE_REMARKS),
	CONSTANT(TDM_LEDGER_TRACES),
	CONSTANT(TDM_LEDGER_HAZARDS),
	CONSTANT(TDM_LEDGER_FREE_CLOCK),
	CONSTANT(TDM_LEDGER_NEW),
	CONSTANT(TDM_LEDGER_OPEN),
	CONSTANT(TDM_LEDGER_CLOSED),
	CONSTANT(TDM_LEDGER_BAD_MODE),
	CONSTANT(TDM_LEDGER_BAD_RING),
	CONSTANT(TDM_LEDGER_MOVED),
	CONSTANT(TDM_LEDGER_RENEWED),
	CONSTANT(TDM_LEDGER_ON_BEHALF),
	CONSTANT(TDM_DEVICE_HAS_CHIP_ID),
	CONSTANT(TDM_DEVICE_VIRTUAL),
	CONSTANT(TDM_SLOT_VIEW),
	CONSTANT(TDM_SLOT_NO_ADDRESS),
	CONSTANT(TDM_SLOT_ADOPTED),
	CONSTANT(TDM_SLOT_SHARED),
	CONSTANT(TDM_SLOT_ESTIMATED),
	CONSTANT(TDM_RECORD_CLASH),
	CONSTANT(TDM_RECORD_BEYOND),
	CONSTANT(TDM_CLASH_L1),
	CONSTANT(TDM_CLASH_BEYOND),
	CONSTANT(TDM_CLASH_UNKNOWN),
	CONSTANT(TDM_LEDGER_ALLOC),
	CONSTANT(TDM_LEDGER_FREE),
	CONSTANT(TDM_LEDGER_OOM),
	CONSTANT(TDM_LEDGER_PHASE),
	CONSTANT(TDM_LEDGER_PROGRAM),
	CONSTANT(TDM_LEDGER_BAD_FREE),
	CONSTANT(TDM_LEDGER_STEP),
	CONSTANT(TDM_LEDGER_CORE_USE),
	CONSTANT(TDM_STEP_OPENED),
	CONSTANT(TDM_STEP_CLOSED),
	CONSTANT(TDM_STEP_TRACE_BEGAN),
	CONSTANT(TDM_STEP_TRACE_ENDED),
	CONSTANT(TDM_STEP_TRACE_REPLAYED),
	CONSTANT(TDM_STEP_TRACE_RELEASED),
	CONSTANT(TDM_HAZARD_WAITS),
	CONSTANT(TDM_HAZARD_LIVE),
	CONSTANT(TDM_HAZARD_FREED),
	CONSTANT(TDM_PHASE_MARK),
	CONSTANT(TDM_PHASE_NO_DISPATCH),
	CONSTANT(TDM_BLOB_TEXT),
	CONSTANT(TDM_BLOB_STACK),
	CONSTANT(TDM_BLOB_RANGES),
	CONSTANT(TDM_BLOB_MODULE),
	CONSTANT(TDM_LOSS_SPACE),
	CONSTANT(TDM_LOSS_NESTED),
	CONSTANT(TDM_LOSS_DEVICE),
	CONSTANT(TDM_LOSS_INVALID),
	CONSTANT(TDM_LOSS_TEXT),
#define X(id, name, summary) CONSTANT(TDM_KIND_##id),
	TDM_KIND_LIST(X)
#undef X
};
/* clang-format on */
enum { ITEMS = sizeof items / sizeof *items };

struct page {
	struct tdm_buf text;
	char structure[NAME_CAP]; /* that the next rows are about; empty: none */
	unsigned seen[ITEMS];
};

static bool is_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void check_item(
	struct page *page, const char *structure, const char *field, uint64_t offset, uint64_t value, const char *line)
{
	for (size_t i = 0; i < ITEMS; i++) {
		if (!is_same(items[i].structure, structure) || !is_same(items[i].field, field))
			continue;
		if (items[i].offset != offset || items[i].value != value)
			fail_msg("offset %" PRIu64 " and size or value %" PRIu64 " are right here: %s", items[i].offset,
				items[i].value, line);
		page->seen[i]++;
		return;
	}
	fail_msg("layout.h has no such thing: %s", line);
}

static void check_line(struct page *page, const char *line)
{
	char name[NAME_CAP], number[NAME_CAP];
	uint64_t offset, size;
	if (line[0] == '#')
		page->structure[0] = '\0';
	if (sscanf(line, "### `struct %63[a-z_]`: %" SCNu64 " bytes", name, &size) == 2) {
		strcpy(page->structure, name);
		check_item(page, name, NULL, 0, size, line);
	} else if (sscanf(line, "| %" SCNu64 " | %" SCNu64 " | %63[^|]| `%63[a-z0-9_]` |", &offset, &size, number,
			   name) == 4) {
		check_item(page, page->structure, name, offset, size, line);
	} else if (sscanf(line, "| `%63[A-Z0-9_]` | %63[0-9a-fx] |", name, number) == 2) {
		check_item(page, NULL, name, 0, strtoull(number, NULL, 0), line);
	}
}

static void page_is_right_and_complete(void **state)
{
	struct page page = { 0 };
	(void)state;
	tdm_buf_init(&page.text);
	assert_int_equal(tdm_file_read(TDM_TEST_DATA "/../../docs/formats/ledger.md", PAGE_MAX, &page.text), 0);
	for (char *line = page.text.data, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		check_line(&page, line);
	}
	for (size_t i = 0; i < ITEMS; i++)
		if (page.seen[i] != 1)
			fail_msg("%s %s stands on the page %u times",
				items[i].structure != NULL ? items[i].structure : "",
				items[i].field != NULL ? items[i].field : "", page.seen[i]);
	tdm_buf_done(&page.text);
}

/* The list above has every field: each begins where the one before ends, up to the end of the structure. */
static void fields_leave_no_gap(void **state)
{
	uint64_t end = 0, size = 0;
	(void)state;
	for (size_t i = 0; i < ITEMS && items[i].structure != NULL; i++) {
		if (items[i].field == NULL) {
			assert_int_equal(end, size);
			size = items[i].value;
			end = 0;
			continue;
		}
		assert_int_equal(items[i].offset, end);
		end += items[i].value;
	}
	assert_int_equal(end, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(page_is_right_and_complete),
		cmocka_unit_test(fields_leave_no_gap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
