/* How the monitor sees processes grow, and what they take of the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "analyze/leaks/growth.h"
#include "base/clock.h"
#include "fake_tree.h"
#include "tui/app/app.h"

#define MIB (UINT64_C(1) << 20)

struct world {
	struct tdm_picture picture;
	struct tdm_picture_device device;
	struct tdm_picture_process processes[2];
	struct tdm_holding holdings[2];
	struct tdm_growth growth;
};

static void make_world(struct world *w)
{
	*w = (struct world){ .processes = { { .handle = 1 }, { .handle = 2 } } };
	tdm_picture_device_init(&w->device);
	w->device.key = 7;
	for (uint32_t p = 0; p < 2; p++)
		tdm_holding_init(&w->holdings[p], p, 0);
	w->picture = (struct tdm_picture){ .device_count = 1,
		.process_count = 2,
		.holding_count = 2,
		.devices = &w->device,
		.processes = w->processes,
		.holdings = w->holdings,
		.time_ns = TDM_NS_PER_S };
}

static void step(struct world *w, uint64_t first, uint64_t second)
{
	w->holdings[0].kinds[TDM_KIND_DRAM].reserved = first;
	w->holdings[1].kinds[TDM_KIND_DRAM].reserved = second;
	tdm_growth_add(&w->growth, &w->picture);
	w->picture.time_ns += TDM_NS_PER_S;
}

static const struct tdm_growth_item *item(const struct world *w, size_t p)
{
	return tdm_growth_find(&w->growth, &w->picture, &w->holdings[p]);
}

/* Memory that comes and goes is not growth; what stays is, and is suspected once it did so for a while. */
static void growth_is_that_of_the_floor(void **state)
{
	(void)state;
	struct world w;
	make_world(&w);
	for (uint64_t s = 0; s < 100; s++) {
		uint64_t comes_and_goes = s % 4 * 500 * MIB;
		step(&w, 100 * MIB + s * MIB + comes_and_goes, 300 * MIB + s * 7919 % 13 * MIB + comes_and_goes);
		assert_true(item(&w, 1) == NULL || !item(&w, 1)->rises); /* it only changes */
		if (s == 9)
			assert_true(item(&w, 0)->per_minute == TDM_GROWTH_UNKNOWN);
		if (s == 30)
			assert_true(item(&w, 0)->per_minute > 0 && !item(&w, 0)->rises);
	}
	assert_in_range(item(&w, 0)->per_minute, 50 * MIB, 70 * MIB);
	assert_true(item(&w, 0)->rises);
	/* It stops growing, and is not suspected for ever. */
	for (uint64_t s = 0; s < 100; s++)
		step(&w, 200 * MIB, 300 * MIB);
	assert_int_equal(item(&w, 0)->per_minute, 0);
	assert_false(item(&w, 0)->rises);
	/* It frees. */
	for (uint64_t s = 0; s < 30; s++)
		step(&w, 100 * MIB, 300 * MIB);
	assert_true(item(&w, 0)->per_minute < 0);
	tdm_growth_done(&w.growth);
}

/* Three floors are enough to know the growth, two are not. */
static void growth_is_known_from_the_third_floor_on(void **state)
{
	(void)state;
	const uint64_t third_ends = 3 * TDM_GROWTH_SLOT_NS / TDM_NS_PER_S;
	struct world w;
	make_world(&w);
	for (uint64_t s = 0; s < third_ends; s++)
		step(&w, s * MIB, 0);
	assert_true(item(&w, 0)->per_minute == TDM_GROWTH_UNKNOWN);
	step(&w, third_ends * MIB, 0);
	assert_int_equal(item(&w, 0)->floors.count, 3);
	assert_int_equal(item(&w, 0)->per_minute, 60 * MIB);
	assert_int_equal(item(&w, 1)->per_minute, 0);
	tdm_growth_done(&w.growth);
}

static void what_is_gone_is_forgotten(void **state)
{
	(void)state;
	struct world w;
	make_world(&w);
	for (uint64_t s = 0; s < 20; s++)
		step(&w, s * MIB, TDM_BYTES_UNKNOWN);
	assert_null(item(&w, 1)); /* unknown is not zero */
	assert_non_null(item(&w, 0));
	w.processes[0].handle = 3;
	assert_null(item(&w, 0));
	for (uint64_t s = 0; s < 20; s++)
		step(&w, s * MIB, TDM_BYTES_UNKNOWN);
	assert_int_equal(w.growth.count, 1);
	tdm_growth_done(&w.growth);
}

static void lines_add_up_the_growth_of_their_devices(void **state)
{
	(void)state;
	struct world w;
	struct tdm_proc_rows rows = { 0 };
	make_world(&w);
	w.processes[0].holding_count = 2; /* both holdings are one process's */
	w.picture.process_count = 1;
	w.holdings[1].process = 0;
	struct tdm_picture_device devices[2] = { w.device, w.device };
	devices[1].key = 8;
	w.holdings[1].device = 1;
	w.picture.devices = devices;
	w.picture.device_count = 2;
	for (uint64_t s = 0; s < 70; s++)
		step(&w, s * MIB, s * 2 * MIB);
	const struct tdm_proc_view view = { .sort = TDM_PROC_GROWTH, .filter = "", .growth = &w.growth },
				   one = { .sort = TDM_PROC_GROWTH, .filter = "", .growth = &w.growth, .device = 8 };
	tdm_proc_rows_build(&rows, &w.picture, &view);
	assert_in_range(rows.rows[0].growth, 170 * MIB, 190 * MIB);
	assert_true(rows.rows[0].rises);
	tdm_proc_rows_build(&rows, &w.picture, &one);
	assert_in_range(rows.rows[0].growth, 110 * MIB, 130 * MIB);
	tdm_proc_rows_done(&rows);
	tdm_growth_done(&w.growth);
}

/* The name in the line of a process may have anything in it. */
static void the_host_says_what_a_process_takes(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_proc_root root;
	struct tdm_proc_use use;
	tree_init(&tree);
	tree_text(&tree, "proc/10/stat",
		"10 (a) R 1 (b) D 1 10 10 0 -1 4194560 1 2 3 4 300 200 7 8 20 0 9 0 5555 123456 1000 99 1 1\n");
	tree_text(&tree, "proc/11/stat", "11 (short) S 1\n");
	tree_text(&tree, "proc/12/stat", "no line of a process\n");
	tdm_proc_root_init(&root, tree_path(&tree, "proc"));
	assert_int_equal(tdm_proc_use_read(&root, 10, &use), 0);
	assert_int_equal(use.state, 'D');
	assert_true(use.start_time == 5555);
	assert_true(use.cpu_ns == 500 * (TDM_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK)));
	assert_true(use.resident_bytes == 1000 * (uint64_t)sysconf(_SC_PAGESIZE));
	assert_int_equal(tdm_proc_use_read(&root, 11, &use), 0);
	assert_true(use.state == 'S' && use.cpu_ns == 0 && use.start_time == 0);
	assert_true(tdm_proc_use_read(&root, 12, &use) < 0);
	assert_int_equal(tdm_proc_use_read(&root, 13, &use), -ENOENT);
	assert_int_equal(tdm_proc_use_read(&root, -1, &use), -EINVAL);
	tdm_proc_root_done(&root);
	tree_done(&tree);
}

/* Which lines were read, and how often. */
static struct {
	int reads, of_second;
} told;

static int tell(void *context, const struct tdm_picture_process *process, struct tdm_proc_use *use)
{
	(void)context;
	told.reads++;
	told.of_second += process->handle == 2;
	*use = (struct tdm_proc_use){ .state = 'R' };
	return 0;
}

/* /proc is read for the lines asked for, and not again at once. */
static void only_lines_in_view_are_read(void **state)
{
	(void)state;
	struct world w;
	struct tdm_host_uses uses = { 0 };
	const struct tdm_provider provider = { .use = tell };
	const struct tdm_proc_row rows[] = { { .handle = 1, .who = &w.processes[0] },
		{ .handle = 2, .who = &w.processes[1] }, { 0 } };
	make_world(&w);
	told.reads = told.of_second = 0;
	for (int i = 0; i < 10; i++) {
		uses.pace = (struct tdm_pace){ 0 };
		tdm_host_uses_read(&uses, &provider, rows, 1, TDM_NS_PER_S);
	}
	assert_int_equal(told.reads, 1);
	assert_int_equal(told.of_second, 0);
	assert_non_null(tdm_host_uses_find(&uses, 1));
	assert_null(tdm_host_uses_find(&uses, 2));
	uses.pace = (struct tdm_pace){ 0 };
	tdm_host_uses_read(&uses, &provider, rows, 3, TDM_NS_PER_S); /* a line that is no process is left out */
	assert_int_equal(told.of_second, 1);
	assert_int_equal(told.reads, 2);
	uses.pace = (struct tdm_pace){ 0 };
	tdm_host_uses_read(&uses, &provider, rows, 3, 2 * TDM_NS_PER_S);
	assert_int_equal(told.reads, 4);
	tdm_host_uses_done(&uses);
}

/* Axes and names stay where they belong, at any size. */
static void graphs_with_a_scale_stay_inside(void **state)
{
	(void)state;
	struct world w;
	make_world(&w);
	w.device.kinds[TDM_KIND_DRAM].total = w.device.kinds[TDM_KIND_L1].total = 100;
	struct tdm_app app = { .picture = &w.picture, .set.interval_ms = 100 };
	for (int i = 0; i < 700; i++) {
		w.device.kinds[TDM_KIND_DRAM].used = w.device.kinds[TDM_KIND_L1].used = (uint64_t)i % 101;
		w.picture.time_ns += TDM_NS_PER_S;
		tdm_app_remember(&app);
	}
	for (int utf8 = 0; utf8 < 2; utf8++)
		for (int rows = 0; rows < 12; rows++)
			for (int cols = 0; cols < 130; cols++) {
				tdm_canvas_resize(&app.canvas, 14, 140);
				app.canvas.utf8 = utf8 != 0;
				tdm_graphs_draw(&app, (struct tdm_area){ 1, 1, rows, cols }, &w.device);
				for (int i = 0; i < 14 * 140; i++)
					if (i / 140 < 1 || i / 140 > rows || i % 140 < 1 || i % 140 > cols)
						assert_int_equal(app.canvas.cells[i].ch, ' ');
			}
	tdm_app_done(&app);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_is_that_of_the_floor),
		cmocka_unit_test(growth_is_known_from_the_third_floor_on),
		cmocka_unit_test(what_is_gone_is_forgotten),
		cmocka_unit_test(lines_add_up_the_growth_of_their_devices),
		cmocka_unit_test(the_host_says_what_a_process_takes),
		cmocka_unit_test(only_lines_in_view_are_read),
		cmocka_unit_test(graphs_with_a_scale_stay_inside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
