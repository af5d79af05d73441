/* What the screens compute before they draw: canvas, lists, layouts, process table, filters, events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/event/event.h"
#include "fake_tree.h"
#include "live/join/state.h"
#include "tui/app/app.h"
#include "tui/draw/canvas.h"
#include "view/rows/buffer_rows.h"
#include "view/rows/process_rows.h"

static struct tdm_canvas canvas_of(int rows, int cols, bool utf8)
{
	struct tdm_canvas canvas = { 0 };
	tdm_canvas_resize(&canvas, rows, cols);
	canvas.utf8 = utf8;
	return canvas;
}

static void expect_row(const struct tdm_canvas *canvas, int row, const char *expected)
{
	char text[512] = "";
	size_t len = 0;
	for (int col = 0; col < canvas->cols; col++) {
		uint32_t ch = canvas->cells[row * canvas->cols + col].ch;
		text[len++] = ch == 0 ? '2' : ch < 0x80 ? (char)ch : ch == 0x2026 ? '~' : '@';
	}
	text[len] = '\0';
	assert_string_equal(text, expected);
}

static void texts_are_cut_and_made_harmless(void **state)
{
	(void)state;
	struct tdm_canvas canvas = canvas_of(9, 8, true);
	assert_int_equal(tdm_canvas_put(&canvas, 0, 0, 8, TDM_INK_PLAIN, "exactly8"), 8);
	assert_int_equal(tdm_canvas_put(&canvas, 1, 0, 8, TDM_INK_PLAIN, "more than"), 8);
	assert_int_equal(tdm_canvas_put(&canvas, 2, 0, 8, TDM_INK_PLAIN, "\033[1m\n\x7f"), 6);
	assert_int_equal(tdm_canvas_put(&canvas, 3, 0, 8, TDM_INK_PLAIN, "\xff\xc3(\xe2\x80\xae)"), 5);
	assert_int_equal(tdm_canvas_put(&canvas, 4, 0, 8, TDM_INK_PLAIN, "\xe6\xbc\xa2x"), 3); /* a wide character */
	assert_int_equal(tdm_canvas_put(&canvas, 5, 0, 2, TDM_INK_PLAIN, "a\xe6\xbc\xa2"), 2); /* that does not fit */
	tdm_canvas_put(&canvas, 6, 7, 2, TDM_INK_PLAIN, "\xe6\xbc\xa2");                       /* half of it outside */
	tdm_canvas_put(&canvas, 7, -3, 20, TDM_INK_PLAIN, "abcdefghijklmnop");
	tdm_canvas_put(&canvas, 99, 0, 8, TDM_INK_PLAIN, "nowhere");
	expect_row(&canvas, 0, "exactly8");
	expect_row(&canvas, 1, "more th~");
	expect_row(&canvas, 2, "?[1m??  ");
	expect_row(&canvas, 3,
		"?"
		"?(?)   ");
	expect_row(&canvas, 4, "@2x     ");
	expect_row(&canvas, 5, "a~      ");
	expect_row(&canvas, 6, "       ?");
	expect_row(&canvas, 7, "defghijk");
	tdm_canvas_done(&canvas);
}

static void a_wide_character_is_never_half_there(void **state)
{
	(void)state;
	struct tdm_canvas canvas = canvas_of(2, 4, true);
	tdm_canvas_put(&canvas, 0, 0, 4, TDM_INK_PLAIN, "\xe6\xbc\xa2\xe6\xbc\xa2");
	tdm_canvas_set(&canvas, 0, 1, TDM_INK_PLAIN, 'x');
	expect_row(&canvas, 0, " x@2");
	tdm_canvas_set(&canvas, 0, 2, TDM_INK_PLAIN, 'y');
	expect_row(&canvas, 0, " xy ");
	canvas.utf8 = false;
	tdm_canvas_put(&canvas, 1, 0, 4, TDM_INK_PLAIN, "\xe6\xbc\xa2");
	expect_row(&canvas, 1, "?   ");
	tdm_canvas_done(&canvas);
}

static void boxes_have_short_titles_or_none(void **state)
{
	(void)state;
	struct tdm_canvas canvas = canvas_of(3, 9, false);
	tdm_canvas_box(&canvas, tdm_canvas_area(&canvas), "x");
	expect_row(&canvas, 0, "+- x ---+");
	expect_row(&canvas, 1, "|       |");
	tdm_canvas_clear(&canvas);
	tdm_canvas_box(&canvas, tdm_canvas_area(&canvas), "");
	expect_row(&canvas, 0, "+-------+");
	tdm_canvas_clear(&canvas);
	tdm_canvas_box(&canvas, (struct tdm_area){ 0, 0, 3, 6 }, "x");
	expect_row(&canvas, 0, "+----+   ");
	tdm_canvas_done(&canvas);
}

static void fields_stand_left_and_right(void **state)
{
	(void)state;
	struct tdm_canvas canvas = canvas_of(1, 12, true);
	struct tdm_pen pen = tdm_pen_at(&canvas, tdm_canvas_area(&canvas), 0);
	tdm_pen_field(&pen, 5, TDM_INK_PLAIN, "ab");
	tdm_pen_field(&pen, -4, TDM_INK_PLAIN, "cd");
	tdm_pen_field(&pen, -9, TDM_INK_PLAIN, "efghij");
	expect_row(&canvas, 0, "ab     cdef~");
	tdm_canvas_done(&canvas);
}

static void graphs_stay_inside(void **state)
{
	(void)state;
	struct tdm_history history = { 0 };
	for (int i = 0; i < 700; i++)
		tdm_history_add(&history, i % 3 == 0 ? -1 : i * 7 % 1100);
	for (int rows = 0; rows < 6; rows++)
		for (int cols = 0; cols < 12; cols++) {
			struct tdm_canvas canvas = canvas_of(8, 14, rows % 2 == 0);
			tdm_gauge_graph(&canvas, (struct tdm_area){ 1, 1, rows, cols }, &history);
			for (int i = 0; i < 8 * 14; i++) {
				int row = i / 14, col = i % 14;
				if (row < 1 || row > rows || col < 1 || col > cols)
					assert_int_equal(canvas.cells[i].ch, ' ');
			}
			tdm_canvas_done(&canvas);
		}
}

static void layouts_use_all_rows_and_no_more(void **state)
{
	(void)state;
	for (int rows = -1; rows <= 120; rows++)
		for (int cols = 1; cols <= 300; cols += 13)
			for (size_t devices = 0; devices <= 40; devices++)
				for (int most = 0; most < TDM_DETAIL_COUNT; most++) {
					struct tdm_layout l = tdm_layout_compute(rows, cols, devices, devices * 3 % 50,
						(int)devices % 7, (enum tdm_detail)most);
					int whole = rows < 0 ? 0 : rows;
					assert_true(l.device_rows >= 0 && l.process_rows >= 0);
					assert_int_equal(l.device_rows + l.process_rows, whole);
					assert_true(l.detail <= (enum tdm_detail)most);
					assert_true(
						l.columns == 1 || (l.columns == 2 && cols >= TDM_LAYOUT_TWO_COLUMNS));
					if (devices > 0 && rows > 1)
						assert_true(l.device_rows >= l.block_rows && l.process_rows >= 1);
					if (l.detail != TDM_DETAIL_LINE) /* only lines are scrolled */
						assert_true(
							(size_t)(l.device_rows / l.block_rows * l.columns) >= devices);
				}
	assert_int_equal(tdm_layout_compute(48, 160, 4, 4, 5, TDM_DETAIL_FULL).columns, 1); /* with every figure */
	assert_int_equal(tdm_layout_compute(48, 160, 5, 4, 5, TDM_DETAIL_FULL).columns, 2);
	assert_int_equal(tdm_layout_compute(48, TDM_LAYOUT_TWO_WHOLE, 4, 4, 5, TDM_DETAIL_FULL).columns, 2);
	assert_int_equal(tdm_layout_compute(40, 120, 1, 100, 5, TDM_DETAIL_FULL).detail, TDM_DETAIL_FULL);
	assert_int_equal(tdm_layout_compute(40, 120, 32, 100, 5, TDM_DETAIL_FULL).detail, TDM_DETAIL_LINE);
	assert_int_equal(
		tdm_layout_compute(30, 120, 3, 3, 5, TDM_DETAIL_FULL).detail, TDM_DETAIL_KINDS); /* few processes */
	assert_int_equal(tdm_layout_compute(30, 120, 3, 30, 5, TDM_DETAIL_FULL).detail, TDM_DETAIL_SHORT);
}

static void graphs_take_the_rows_that_are_left(void **state)
{
	(void)state;
	assert_int_equal(tdm_layout_compute(38, 120, 1, 3, 5, TDM_DETAIL_FULL).graph_rows, 25);
	assert_int_equal(tdm_layout_compute(38, 120, 1, 4, 5, TDM_DETAIL_FULL).graph_rows, 25); /* a further process */
	assert_int_equal(tdm_layout_compute(38, 120, 1, 20, 5, TDM_DETAIL_FULL).graph_rows, 10);
	assert_int_equal(tdm_layout_compute(38, 120, 1, 100, 5, TDM_DETAIL_FULL).graph_rows, 4);
	assert_int_equal(tdm_layout_compute(38, 120, 1, 3, 5, TDM_DETAIL_KINDS).graph_rows, 0);
}

static void rows_that_are_left_have_more_kinds(void **state)
{
	(void)state;
	struct tdm_layout l = tdm_layout_compute(30, 120, 3, 30, 5, TDM_DETAIL_FULL); /* 20 rows for devices */
	assert_int_equal(l.block_rows, 6);
	assert_int_equal(l.kinds, 5);
	l = tdm_layout_compute(30, 120, 4, 30, 5, TDM_DETAIL_FULL);
	assert_int_equal(l.kinds, 4);
	l = tdm_layout_compute(30, 120, 4, 30, 3, TDM_DETAIL_FULL); /* with few kinds, all of them */
	assert_int_equal(l.detail, TDM_DETAIL_KINDS);
	assert_int_equal(l.kinds, 3);
	l = tdm_layout_compute(30, 120, 3, 30, 5, TDM_DETAIL_SHORT); /* asked for */
	assert_int_equal(l.kinds, 2);
}

static void lists_keep_their_line_in_the_window(void **state)
{
	(void)state;
	static const int keys[] = { TDM_KEY_DOWN, TDM_KEY_END, TDM_KEY_PAGE_UP, TDM_KEY_UP, TDM_KEY_HOME,
		TDM_KEY_PAGE_DOWN, TDM_KEY_PAGE_DOWN, 'j', 'k' };
	for (size_t count = 0; count < 30; count++)
		for (int page = 0; page < 12; page++) {
			struct tdm_list list = { 0 };
			for (size_t i = 0; i < 200; i++) {
				assert_true(tdm_list_key(&list, keys[(i * i + count) % 9]));
				size_t now = i % 50 < 40 ? count : count / 2; /* it shrinks and grows */
				tdm_list_fit(&list, now, page);
				assert_true(list.chosen < now || (now == 0 && list.chosen == 0));
				if (page > 0 && now > 0)
					assert_true(list.top <= list.chosen && list.chosen < list.top + (size_t)page);
			}
			assert_false(tdm_list_key(&list, 'x'));
		}
}

static void a_page_ends_where_it_ends(void **state)
{
	(void)state;
	struct tdm_canvas canvas = canvas_of(4, 10, true);
	struct tdm_list list = { .top = 100 };
	for (int i = 0; i < 2; i++) {
		tdm_canvas_clear(&canvas);
		struct tdm_page page = tdm_page_begin(&canvas, tdm_canvas_area(&canvas), &list);
		for (int line = 0; line < 6; line++) {
			struct tdm_pen pen = tdm_page_line(&page);
			tdm_pen_printf(&pen, TDM_INK_PLAIN, "%d", line);
		}
		tdm_page_end(&page, &list);
	}
	assert_int_equal(list.top, 2);
	expect_row(&canvas, 0, "2         ");
	expect_row(&canvas, 3, "5         ");
	tdm_canvas_done(&canvas);
}

/* Two devices; three processes: one on both, one on the second, one that holds nothing that is known. */
struct sample {
	struct tdm_picture picture;
	struct tdm_picture_device devices[2];
	struct tdm_picture_process processes[3];
	struct tdm_holding holdings[4];
};

static void set_used(struct tdm_holding *holding, enum tdm_kind kind, uint64_t used, uint64_t peak)
{
	holding->kinds[kind].from = TDM_FROM_LEDGER;
	holding->kinds[kind].reserved = used;
	holding->kinds[kind].peak = peak;
	holding->kinds[kind].buffers = 1;
}

static void make_sample(struct sample *s)
{
	*s = (struct sample){ 0 };
	static const struct tdm_picture_process processes[] = {
		{ .handle = 11,
			.pid = 100,
			.user = "zoe",
			.comm = "a",
			.command = "b run",
			.started_ns = 50,
			.first_holding = 0,
			.holding_count = 2 },
		{ .handle = 12,
			.pid = 200,
			.user = "amy",
			.comm = "c",
			.command = "a run",
			.started_ns = 20,
			.first_holding = 2,
			.holding_count = 1 },
		{ .handle = 13, .pid = 300, .user = "bob", .comm = "quiet", .first_holding = 3, .holding_count = 1 },
	};
	static const uint32_t of[4][2] = { { 0, 0 }, { 0, 1 }, { 1, 1 }, { 2, 0 } };
	for (int d = 0; d < 2; d++) {
		tdm_picture_device_init(&s->devices[d]);
		s->devices[d].number = d;
		s->devices[d].kinds[TDM_KIND_DRAM].stale = d == 1 ? 70 : 0;
	}
	memcpy(s->processes, processes, sizeof processes);
	for (int h = 0; h < 4; h++)
		tdm_holding_init(&s->holdings[h], of[h][0], of[h][1]);
	set_used(&s->holdings[0], TDM_KIND_DRAM, 1000, 3000);
	set_used(&s->holdings[1], TDM_KIND_DRAM, 500, 600);
	set_used(&s->holdings[2], TDM_KIND_DRAM, 900, 900);
	set_used(&s->holdings[2], TDM_KIND_L1, 700, 700);
	s->devices[0].kinds[TDM_KIND_DRAM].unattributed = 5;
	s->picture = (struct tdm_picture){ .real_ns = 100,
		.device_count = 2,
		.process_count = 3,
		.holding_count = 4,
		.devices = s->devices,
		.processes = s->processes,
		.holdings = s->holdings };
}

/* "100 200 …": pids; D: a device, U: unattributed, S: left by ended processes. */
static void expect_rows(const struct sample *s, struct tdm_proc_view view, const char *expected)
{
	static const char others[] = { [TDM_ROW_DEVICE] = 'D', [TDM_ROW_UNATTRIBUTED] = 'U', [TDM_ROW_STALE] = 'S' };
	struct tdm_proc_rows rows = { 0 };
	char text[200] = "";
	if (view.filter == NULL)
		view.filter = "";
	tdm_proc_rows_build(&rows, &s->picture, &view);
	for (size_t i = 0; i < rows.count; i++) {
		size_t len = strlen(text);
		const struct tdm_proc_row *row = &rows.rows[i];
		if (row->type == TDM_ROW_PROCESS)
			snprintf(text + len, sizeof text - len, "%s%d", i != 0 ? " " : "",
				s->processes[row->process].pid);
		else
			snprintf(text + len, sizeof text - len, "%s%c%u", i != 0 ? " " : "", others[row->type],
				row->device);
	}
	assert_string_equal(text, expected);
	tdm_proc_rows_done(&rows);
}

static void processes_are_sorted_filtered_and_put_in_a_tree(void **state)
{
	(void)state;
	struct sample s;
	make_sample(&s);
	expect_rows(&s, (struct tdm_proc_view){ .sort = TDM_PROC_PID }, "100 200 300 U0 S1");
	expect_rows(&s, (struct tdm_proc_view){ .sort = TDM_PROC_PID, .reversed = true }, "300 200 100 U0 S1");
	expect_rows(&s, (struct tdm_proc_view){ .sort = TDM_PROC_MEMORY }, "200 100 300 U0 S1");
	expect_rows(&s, (struct tdm_proc_view){ .sort = TDM_PROC_DRAM }, "100 200 300 U0 S1");
	expect_rows(&s, (struct tdm_proc_view){ .sort = TDM_PROC_L1 }, "200 100 300 U0 S1"); /* the unknown last */
	expect_rows(&s, (struct tdm_proc_view){ .sort = TDM_PROC_USER }, "200 300 100 U0 S1");
	expect_rows(&s, (struct tdm_proc_view){ .sort = TDM_PROC_AGE }, "200 100 300 U0 S1");
	expect_rows(&s, (struct tdm_proc_view){ .sort = TDM_PROC_COMMAND }, "200 100 300 U0 S1");
	expect_rows(&s, (struct tdm_proc_view){ .sort = TDM_PROC_PID, .filter = "RUN" }, "100 200");
	expect_rows(&s, (struct tdm_proc_view){ .sort = TDM_PROC_PID, .filter = "30" }, "300");
	expect_rows(&s,
		(struct tdm_proc_view){ .sort = TDM_PROC_PID, .pick = { .pids = (int32_t[]){ 200 }, .pid_count = 1 } },
		"200");
	expect_rows(&s, (struct tdm_proc_view){ .sort = TDM_PROC_PID, .pick.device = "1" }, "100 200 S1");
	expect_rows(&s, (struct tdm_proc_view){ .sort = TDM_PROC_DRAM, .form = TDM_PROC_TREE },
		"D0 100 300 U0 D1 200 100 S1");
	expect_rows(&s, (struct tdm_proc_view){ .sort = TDM_PROC_DRAM, .form = TDM_PROC_TREE, .pick.device = "0" },
		"D0 100 300 U0");
	/* A program may know one device by two numbers: the line that was chosen stays. */
	struct tdm_app app = {
		.picture = &s.picture, .set = { .tree = true, .sort = TDM_PROC_DRAM }, .row_is_held = true
	};
	s.holdings[1].device = 0;
	tdm_app_update_rows(&app);
	app.processes.chosen = 1;
	tdm_app_update_rows(&app);
	assert_int_equal(app.processes.chosen, 1);
	tdm_app_done(&app);
}

static void sums_over_devices_know_what_they_are(void **state)
{
	(void)state;
	struct sample s;
	struct tdm_proc_rows rows = { 0 };
	make_sample(&s);
	const struct tdm_proc_view all = { .sort = TDM_PROC_PID, .filter = "" },
				   one = { .sort = TDM_PROC_PID, .filter = "", .pick.device = "0" };
	tdm_proc_rows_build(&rows, &s.picture, &all);
	assert_int_equal(rows.rows[0].used[0], 1500);
	assert_int_equal(rows.rows[0].peak, 3600);
	assert_true(rows.rows[0].peak_is_sum);
	assert_false(rows.rows[1].peak_is_sum);
	assert_int_equal(rows.rows[1].memory, 1600);
	assert_true(rows.rows[2].memory == TDM_BYTES_UNKNOWN && rows.rows[2].age_ns == UINT64_MAX);
	/* A process that began this moment has an age; one that begins later has none yet. */
	s.processes[0].started_ns = s.picture.real_ns;
	s.processes[1].started_ns = s.picture.real_ns + 1;
	tdm_proc_rows_build(&rows, &s.picture, &all);
	assert_int_equal(rows.rows[0].age_ns, 0);
	assert_true(rows.rows[1].age_ns == UINT64_MAX);
	tdm_proc_rows_build(&rows, &s.picture, &one);
	assert_int_equal(rows.rows[0].used[0], 1000);
	assert_false(rows.rows[0].peak_is_sum);
	tdm_proc_rows_done(&rows);
	assert_true(tdm_proc_sum(UINT64_MAX - 2, 5) == UINT64_MAX - 1); /* stays a number */
}

/* A thousand more events, as a picture has them. */
static void give_events(struct tdm_picture *picture, struct tdm_event *events, uint64_t *next)
{
	for (size_t i = 0; i < 1000; i++, ++*next)
		events[i] = (struct tdm_event){ .process = *next % 2 + 1,
			.pid = 77,
			.op = *next % 100 == 99 ? TDM_OP_LOST
			      : *next % 2 == 0  ? TDM_OP_ALLOC
						: TDM_OP_FREE,
			.kind = TDM_KIND_DRAM,
			.time_ns = 40 + *next,
			.address = *next,
			.size = 3,
			.name = tdm_str_of("") };
	picture->events = events;
	picture->event_count = 1000;
}

static void events_are_kept_up_to_a_limit_and_chosen(void **state)
{
	(void)state;
	struct tdm_event events[1000];
	struct tdm_picture picture = { .time_ns = 100, .real_ns = 5000 };
	struct tdm_event_log log = { 0 };
	uint64_t next = 0;
	assert_false(tdm_event_log_wants(&log)); /* nobody looks */
	tdm_event_log_start(&log);
	assert_true(tdm_event_log_wants(&log));
	for (int i = 0; i < 20; i++) {
		give_events(&picture, events, &next);
		tdm_event_log_add(&log, &picture);
		if (i == 0) {
			tdm_event_log_prepare(&log);
			assert_int_equal(tdm_event_log_line(&log, 2)->time_ns, 4942);  /* of the real-time clock */
			assert_int_equal(tdm_event_log_line(&log, 61)->time_ns, 5001); /* younger than the picture */
			assert_int_equal(tdm_event_log_line(&log, 2)->pid, 77);        /* whether it is listed or not */
		}
	}
	tdm_event_log_prepare(&log);
	assert_int_equal(log.line_count, TDM_EVENT_LOG_CAP);
	assert_int_equal(tdm_event_log_line(&log, TDM_EVENT_LOG_CAP - 1)->address, 19999);
	assert_int_equal(tdm_event_log_line(&log, 0)->address, 20000 - TDM_EVENT_LOG_CAP);
	assert_int_equal(log.seen, 19800);
	assert_int_equal(log.lost, 600);
	log.op = TDM_OP_ALLOC;
	tdm_event_log_changed(&log);
	tdm_event_log_prepare(&log);
	for (size_t i = 0; i < log.line_count; i++)
		assert_int_not_equal(tdm_event_log_line(&log, i)->op, TDM_OP_FREE);
	const struct tdm_event *last[3];
	assert_int_equal(tdm_event_log_last(&log, 12345, last, 3), 0);
	uint64_t of = tdm_event_log_line(&log, log.line_count - 1)->process;
	assert_int_equal(tdm_event_log_last(&log, of, last, 3), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(last[i]->process, of);
	assert_true(last[0]->address > last[1]->address && last[1]->address > last[2]->address); /* newest first */
	assert_string_equal(tdm_event_log_program(&log, of), "");
	log.paused = true;
	assert_false(tdm_event_log_wants(&log));
	tdm_event_log_add(&log, &picture);
	assert_int_equal(log.seen, 19800);
	tdm_event_log_done(&log);
}

/* What is cut off is never rounded up to the next colour. */
static void shares_are_rounded_down(void **state)
{
	(void)state;
	assert_int_equal(tdm_picture_permille(8999, 10000), 899);
	assert_int_equal(tdm_level_of(8999, 10000), TDM_LEVEL_WARNING);
	assert_int_equal(tdm_picture_permille(9000, 10000), 900);
	assert_int_equal(tdm_level_of(9000, 10000), TDM_LEVEL_DANGER);
	assert_int_equal(tdm_picture_permille(7499, 10000), 749);
	assert_int_equal(tdm_level_of(7499, 10000), TDM_LEVEL_FINE);
	assert_int_equal(tdm_picture_permille(UINT64_MAX - 1, UINT64_MAX - 1), 1000);
	assert_int_equal(tdm_picture_permille(UINT64_MAX - 1, 1), 1000000);
	assert_int_equal(tdm_picture_permille(0, 0), -1);
	assert_int_equal(tdm_picture_permille(TDM_BYTES_UNKNOWN, 1), -1);
}

static void the_trend_of_l1_has_circular_buffers(void **state)
{
	(void)state;
	struct tdm_picture_device device;
	struct tdm_picture picture = { .devices = &device, .device_count = 1 };
	struct tdm_app app = { .picture = &picture };
	tdm_picture_device_init(&device);
	struct tdm_picture_kind *l1 = &device.kinds[TDM_KIND_L1], *cb = &device.kinds[TDM_KIND_CB];
	const struct {
		uint64_t l1, cb;
		int expected;
	} all[] = { { 300, 400, 700 }, { 300, TDM_BYTES_UNKNOWN, 300 }, { TDM_BYTES_UNKNOWN, 400, TDM_HISTORY_UNKNOWN },
		{ 0, 0, 0 } };
	l1->total = 1000;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		l1->used = all[i].l1;
		cb->used = all[i].cb;
		tdm_app_refreshed(&app);
		tdm_app_remember(&app);
		assert_int_equal(tdm_history_get(&tdm_app_trend(&app, &device)->l1_and_cb, 0), all[i].expected);
	}
	tdm_app_done(&app);
}

static void signals_go_to_nobody_else(void **state)
{
	(void)state;
	pid_t child = fork();
	if (child == 0) {
		for (;;)
			pause();
	}
	uint64_t start_time = tdm_signal_start_time(child);
	assert_true(start_time != 0);
	start_time++;
	assert_int_equal(tdm_signal_send(child, start_time, SIGKILL), -ESRCH);
	start_time = 0;
	assert_int_equal(tdm_signal_send(child, start_time, SIGKILL), -ESRCH);
	assert_int_equal(tdm_signal_send(1, 1, SIGCONT), -EINVAL);
	assert_int_equal(tdm_signal_send(-1, 1, SIGCONT), -EINVAL);
	start_time = tdm_signal_start_time(child);
	assert_int_equal(tdm_signal_send(child, start_time, SIGKILL), 0);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(tdm_signal_send(child, start_time, SIGKILL), -ESRCH);
}

/* What is shown of a card stays the same when more becomes known of it. */
static void cards_keep_their_key(void **context)
{
	(void)context;
	struct tree tree;
	uint64_t keys[2];
	tree_init(&tree);
	tree_text(&tree, "sys/class/tenstorrent/tenstorrent!2/tt_card_type", "p150a\n");
	for (int i = 0; i < 2; i++) {
		char sysfs[PATH_MAX];
		snprintf(sysfs, sizeof sysfs, "%s/sys", tree.root);
		struct tdm_state *state = tdm_state_new(&(struct tdm_state_options){ .ledger_dir = tree.root,
			.shm_dir = tree.root,
			.sysfs = sysfs,
			.proc = tree.root,
			.once = true });
		const struct tdm_picture *picture = tdm_state_look(state, NULL);
		assert_non_null(picture);
		assert_int_equal(picture->device_count, 1);
		assert_int_equal(picture->devices[0].has_chip_id, i);
		keys[i] = picture->devices[0].key;
		tdm_state_free(state);
		tree_text(&tree, "sys/class/tenstorrent/tenstorrent!2/device/hwmon/hwmon0/name", "blackhole\n");
		tree_text(&tree, "sys/class/tenstorrent/tenstorrent!2/tt_asic_id", "00000000deadbeef\n");
	}
	assert_true(keys[0] != 0 && keys[0] == keys[1]);
	tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_cut_and_made_harmless),
		cmocka_unit_test(cards_keep_their_key),
		cmocka_unit_test(a_wide_character_is_never_half_there),
		cmocka_unit_test(boxes_have_short_titles_or_none),
		cmocka_unit_test(fields_stand_left_and_right),
		cmocka_unit_test(graphs_stay_inside),
		cmocka_unit_test(layouts_use_all_rows_and_no_more),
		cmocka_unit_test(rows_that_are_left_have_more_kinds),
		cmocka_unit_test(graphs_take_the_rows_that_are_left),
		cmocka_unit_test(lists_keep_their_line_in_the_window),
		cmocka_unit_test(a_page_ends_where_it_ends),
		cmocka_unit_test(processes_are_sorted_filtered_and_put_in_a_tree),
		cmocka_unit_test(sums_over_devices_know_what_they_are),
		cmocka_unit_test(events_are_kept_up_to_a_limit_and_chosen),
		cmocka_unit_test(shares_are_rounded_down),
		cmocka_unit_test(the_trend_of_l1_has_circular_buffers),
		cmocka_unit_test(signals_go_to_nobody_else),
	};
	setlocale(LC_CTYPE, "C.UTF-8"); /* for the width of characters */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
