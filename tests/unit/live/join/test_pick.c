/* Which devices and processes the options of the live views choose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "picture_make.h"
#include "live/join/pick.h"

static void a_device_has_several_names(void **state)
{
	(void)state;
	static const char *const names[] = { "3", "/dev/tenstorrent/7", "0000:0a:00.0", "0000:0A:00.0", "0a:00.0",
		"0x1234", "0X1234", "9876543210123", "4660", "#9" };
	struct make make;
	make_init(&make);
	struct tdm_picture_device *device = make_device(&make);
	device->number = 3;
	device->node = 7;
	device->place = 9;
	snprintf(device->pci, sizeof device->pci, "0000:0a:00.0");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		device->has_chip_id = i >= 5;
		device->chip_id = i == 7 ? UINT64_C(9876543210123) : 0x1234;
		if (!tdm_pick_is(device, names[i]))
			fail_msg("%s is this device", names[i]);
		assert_true(tdm_pick_name_is_valid(names[i]));
	}
}

static void other_names_are_other_devices(void **state)
{
	(void)state;
	static const char *const names[] = { "7", "4", "/dev/tenstorrent/3", "0001:0a:00.0", "a:00.0", "0x1235", "4661",
		"00:00.0", "0:0a:00.0", "#3", "#7" };
	struct make make;
	make_init(&make);
	struct tdm_picture_device *device = make_device(&make);
	device->number = 3;
	device->node = 7;
	device->has_chip_id = true;
	device->chip_id = 0x1234;
	snprintf(device->pci, sizeof device->pci, "0000:0a:00.0");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (tdm_pick_is(device, names[i]))
			fail_msg("%s is not this device", names[i]);
		assert_true(tdm_pick_name_is_valid(names[i]));
	}
}

static void what_cannot_be_a_name_is_refused(void **state)
{
	(void)state;
	static const char *const names[] = { "", "x", "-1", "0x", "0xg", "0x11112222333344445", "/dev/tenstorrent/",
		"/dev/tenstorrent/x", "01:zz.0", "n150", "1 ", "99999999999999999999", "#", "#x", "#-1" };
	struct make make;
	make_init(&make);
	struct tdm_picture_device *device = make_device(&make);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (tdm_pick_name_is_valid(names[i]))
			fail_msg("'%s' is no name", names[i]);
		assert_false(tdm_pick_is(device, names[i]));
	}
}

static void a_number_is_the_node_only_where_no_other_is_known(void **state)
{
	(void)state;
	struct make make;
	make_init(&make);
	struct tdm_picture_device *device = make_device(&make);
	device->node = 2;
	assert_true(tdm_pick_is(device, "2"));
	device->number = 0;
	assert_false(tdm_pick_is(device, "2"));
	device->node = -1;
	device->number = -1;
	assert_false(tdm_pick_is(device, "0"));
}

static void an_unknown_chip_is_not_chip_zero(void **state)
{
	(void)state;
	struct make make;
	make_init(&make);
	struct tdm_picture_device *device = make_device(&make);
	assert_false(tdm_pick_is(device, "0x0"));
	device->has_chip_id = true;
	assert_true(tdm_pick_is(device, "0x0"));
	assert_false(tdm_pick_is(device, "0")); /* a small number is no chip's */
}

static void device_and_process_narrow_each_other(void **state)
{
	(void)state;
	struct make make;
	make_init(&make);
	make_n150(&make, 0);
	make_n150(&make, 1);
	make_process(&make, 10, "a");
	make_holding(&make, 0);
	make_process(&make, 11, "b");
	make_holding(&make, 0);
	make_holding(&make, 1);
	const struct tdm_picture *picture = &make.picture;

	struct tdm_pick all = { 0 };
	struct tdm_pick first = { .device = "0" }, second = { .device = "1" };
	struct tdm_pick ten = { .pids = (int32_t[]){ 10 }, .pid_count = 1 },
			both = { .device = "1", .pids = (int32_t[]){ 11 }, .pid_count = 1 };
	for (size_t i = 0; i < 3; i++)
		assert_true(tdm_pick_takes_holding(&all, picture, i));
	assert_true(tdm_pick_takes_device(&first, picture, 0) && !tdm_pick_takes_device(&first, picture, 1));
	assert_true(tdm_pick_takes_process(&first, picture, 0) && tdm_pick_takes_process(&first, picture, 1));
	assert_false(tdm_pick_takes_process(&second, picture, 0));
	assert_true(tdm_pick_takes_device(&ten, picture, 0) && !tdm_pick_takes_device(&ten, picture, 1));
	assert_false(tdm_pick_takes_process(&ten, picture, 1));
	assert_true(!tdm_pick_takes_holding(&both, picture, 0) && !tdm_pick_takes_holding(&both, picture, 1));
	assert_true(tdm_pick_takes_holding(&both, picture, 2));

	/* Several; each by the pid that the reader sees, or by its own. */
	struct tdm_pick two = { .pids = (int32_t[]){ 7, 11 }, .pid_count = 2 };
	assert_int_equal(tdm_pick_missing(&two, picture), 7);
	assert_true(!tdm_pick_takes_process(&two, picture, 0) && tdm_pick_takes_process(&two, picture, 1));
	make.picture.processes[0].own_pid = 7;
	assert_int_equal(tdm_pick_missing(&two, picture), 0);
	assert_true(tdm_pick_takes_process(&two, picture, 0) && tdm_pick_takes_holding(&two, picture, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_has_several_names),
		cmocka_unit_test(other_names_are_other_devices),
		cmocka_unit_test(what_cannot_be_a_name_is_refused),
		cmocka_unit_test(a_number_is_the_node_only_where_no_other_is_known),
		cmocka_unit_test(an_unknown_chip_is_not_chip_zero),
		cmocka_unit_test(device_and_process_narrow_each_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
