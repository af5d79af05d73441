/* Devices in one line each, boards, and what does not depend on the values, in `tidemark status`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "status_render.h"

static void make_galaxy(struct make *make)
{
	make_init(make);
	for (int32_t i = 0; i < 32; i++)
		make_kind(make_n150(make, i), TDM_KIND_DRAM, (uint64_t)i * 100 * MAKE_MIB, 12 * MAKE_GIB);
	make_process(make, 77, "serve");
	for (uint32_t i = 0; i < 32; i++)
		make_amount(make, make_holding(make, i), TDM_KIND_DRAM, i * 100 * MAKE_MIB);
	assert_true(picture_is_valid(&make->picture));
}

static void every_device_of_a_galaxy_is_there(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	char name[64], label[16];
	tdm_buf_init(&out);
	make_galaxy(&make);
	for (int is_long = 0; is_long < 2; is_long++) {
		render_as(&make,
			(struct tdm_status_report){
				.term.width = 80, .form = is_long ? TDM_STATUS_LONG : TDM_STATUS_AUTO },
			&out);
		assert_true(widest(out.data) <= 80);
		for (int i = 0; i < 32; i++) {
			snprintf(label, sizeof label, "%d", i);
			snprintf(name, sizeof name, is_long ? "\n%s  n150  " : "\n%-4sn150 ", label);
			assert_has(&out, name);
			snprintf(name, sizeof name, "     77 %-9s %-3s ", "alice", label);
			assert_has(&out, name);
		}
		assert_has_not(&out, "unattributed");
		assert_int_equal(strstr(out.data, "DRAM banks") != NULL, is_long);
	}
	render(&make, (struct tdm_pick){ .device = "/dev/tenstorrent/31" }, 80, false, &out);
	assert_has(&out, ": 1 device, 1 process\n\n31  n150");
	assert_has_not(&out, "30  n150");
	tdm_buf_done(&out);
}

/* A machine with one of everything, and devices that are full, empty, clashing, unknown and inferred. */
static void make_many(struct make *make)
{
	make_full(make);
	struct tdm_picture_device *full = make_n150(make, 1), *clash = make_n150(make, 2), *none = make_device(make),
				  *type = make_device(make);
	make_kind(full, TDM_KIND_DRAM, 12 * MAKE_GIB - 1, 12 * MAKE_GIB);
	make_kind(full, TDM_KIND_L1, 100, 85 * MAKE_MIB);
	make_kind(clash, TDM_KIND_DRAM, 0, 12 * MAKE_GIB);
	make_kind(clash, TDM_KIND_L1, 4 * MAKE_MIB, 85 * MAKE_MIB);
	make_kind(clash, TDM_KIND_CB, 2 * MAKE_MIB, 85 * MAKE_MIB);
	clash->l1_lowest = 200000;
	clash->cb_highest = 200064;
	none->number = 3;
	type->number = 4;
	snprintf(type->card, sizeof type->card, "n300");
	type->card_from = TDM_FROM_CARD_TYPE;
	make_kind(type, TDM_KIND_DRAM, MAKE_GIB, 12 * MAKE_GIB);
	type->kinds[TDM_KIND_DRAM].total_from = TDM_FROM_CARD_TYPE;
	type->kinds[TDM_KIND_DRAM].used_from = TDM_FROM_METAL_SHM;
}

/* The lines of a text from the one that begins with `from`, up to an empty one. */
static void take_lines(const struct tdm_buf *text, const char *from, struct tdm_buf *lines)
{
	const char *start = strstr(text->data, from), *end = start != NULL ? strstr(start, "\n\n") : NULL;
	if (end == NULL)
		fail_msg("expected '%s' in:\n%s", from, text->data);
	tdm_buf_clear(lines);
	tdm_buf_add(lines, start, (size_t)(end + 1 - start));
}

static void many_devices_are_a_line_each(void **state)
{
	(void)state;
	struct tdm_buf out, lines;
	struct make make;
	tdm_buf_init(&out);
	tdm_buf_init(&lines);
	make_many(&make);
	render(&make, (struct tdm_pick){ 0 }, 80, false, &out);
	take_lines(&out, "            Temp", &lines);
	assert_string_equal(lines.data,
		"            Temp    DRAM      of            L1            CB            of\n"
		"Dev Card       C     GiB     GiB    %      MiB    %      MiB    %      MiB Procs\n"
		"0   n150      47    9.00   12.00  75%    52.00  61%     8.00   9%    85.00     1\n"
		"1   n150       -   12.00   12.00  99%!   <0.01   0%        -    -    85.00     0\n"
		"2   n150       -    0.00   12.00   0%     4.00   4%     2.00   2%!   85.00     0\n"
		"3   -          -       -       -    -        -    -        -    -        -     0\n"
		"4   ~n300      -    1.00  ~12.00   8%        -    -        -    -        -     0\n"
		"all 5          -  >22.00 >~48.00    -   >56.00    -   >10.00    -  >255.00     1\n");
	assert_true(widest(out.data) <= 80);
	/* On a wide terminal and in a pipe there is room for more, and the columns are the same whatever is known. */
	for (int is_piped = 0; is_piped < 2; is_piped++) {
		struct tdm_status_report report = { .term.width = is_piped ? 80 : 100, .is_piped = is_piped };
		render_as(&make, report, &out);
		take_lines(&out, "0 ", &lines);
		for (char *line = strtok(lines.data, "\n"); line != NULL; line = strtok(NULL, "\n")) {
			size_t words = 1;
			for (const char *c = line; *c != '\0'; c++)
				words += *c == ' ' && c[1] != ' ';
			assert_int_equal(words, 14);
			assert_int_equal(strlen(line), 100);
		}
	}
	tdm_buf_done(&lines);
	tdm_buf_done(&out);
}

static void the_form_can_be_chosen(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_many(&make);
	for (size_t devices = 4; devices <= 5; devices++)
		for (enum tdm_status_form form = TDM_STATUS_AUTO; form <= TDM_STATUS_LONG; form++) {
			bool is_long = form == TDM_STATUS_LONG || (form == TDM_STATUS_AUTO && devices == 4);
			make.picture.device_count = devices;
			render_as(&make, (struct tdm_status_report){ .term.width = 80, .form = form }, &out);
			assert_int_equal(strstr(out.data, "hardware queues") != NULL, is_long);
			assert_int_equal(strstr(out.data, "\nall ") != NULL, !is_long);
		}
	tdm_buf_done(&out);
}

/* In a pipe. On a terminal it is cut to the width. */
static void a_piped_command_is_whole(void **state)
{
	(void)state;
	struct tdm_buf out, head;
	struct make make;
	tdm_buf_init(&out);
	tdm_buf_init(&head);
	make_full(&make);
	make_process(&make, 4243, "");
	make_holding(&make, 0);
	memset(make.processes[1].command, 'x', TDM_COMMAND_CAP - 1);
	memcpy(make.processes[1].command, "/opt/bin/python3 ", 17);
	render_as(&make, (struct tdm_status_report){ .term.width = 80, .is_piped = true }, &out);
	assert_has(&out, make.processes[1].command);
	assert_has(&out, make.processes[0].command);
	take_lines(&out, "    PID USER", &head);
	/* The columns are the same on a machine where little is in use. */
	*strchr(head.data, '\n') = '\0';
	make_init(&make);
	make_device(&make);
	make_process(&make, 1, "x");
	make_holding(&make, 0);
	render_as(&make, (struct tdm_status_report){ .term.width = 80, .is_piped = true }, &out);
	assert_has(&out, head.data);
	tdm_buf_done(&head);
	tdm_buf_done(&out);
}

static void the_room_in_the_fullest_core_is_said(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_full(&make);
	make.devices[0].l1_lowest = 300000;
	make.devices[0].cb_highest = 200000;
	render(&make, (struct tdm_pick){ 0 }, 80, false, &out);
	assert_has(&out, "\n  97.66 KiB free between buffers and CBs, fullest core\n");
	make.devices[0].l1_lowest = 199936;
	render(&make, (struct tdm_pick){ 0 }, 80, false, &out);
	assert_has(&out, "\n  clash: buffers and CBs overlap by 64 B, fullest core\n");
	tdm_buf_done(&out);
}

/* Only where a figure is from there, and once. */
static void weak_figures_are_said_to_be_weak(void **state)
{
	(void)state;
	static const char weakness[] = "allocations of other threads";
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_init(&make);
	for (int i = 0; i < 6; i++) {
		make_kind(make_n150(&make, i), TDM_KIND_DRAM, MAKE_GIB, 12 * MAKE_GIB);
		make_kind(&make.devices[i], TDM_KIND_CB, MAKE_MIB, 85 * MAKE_MIB);
	}
	render(&make, (struct tdm_pick){ 0 }, 80, false, &out);
	assert_has_not(&out, weakness);
	for (int i = 0; i < 6; i++)
		make.devices[i].kinds[TDM_KIND_CB].used_from = TDM_FROM_METAL_SHM;
	for (enum tdm_status_form form = TDM_STATUS_SHORT; form <= TDM_STATUS_LONG; form++) {
		render_as(&make, (struct tdm_status_report){ .term.width = 1000, .form = form }, &out);
		assert_has(&out, weakness);
		assert_null(strstr(strstr(out.data, weakness) + 1, weakness));
	}
	tdm_buf_done(&out);
}

/* Cards that cannot be told to be one of the devices. */
static void boards_are_in_a_table_of_their_own(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_init(&make);
	for (int i = 0; i < 4; i++) {
		struct tdm_picture_device *chip = make_device(&make);
		chip->number = i;
		chip->card_from = TDM_FROM_CARD_TYPE;
		snprintf(chip->card, sizeof chip->card, "n300");
		make_kind(chip, TDM_KIND_DRAM, MAKE_GIB, 12 * MAKE_GIB);
		chip->kinds[TDM_KIND_DRAM].total_from = TDM_FROM_CARD_TYPE;
	}
	for (int i = 0; i < 2; i++) {
		struct tdm_picture_device *board = make_n150(&make, i);
		snprintf(board->card, sizeof board->card, "n300");
		board->is_board = true;
		board->number = -1;
		know(&board->telemetry.temp, 47250);
		make.picture.board_count++;
	}
	make_process(&make, 42, "serve");
	make_amount(&make, make_holding(&make, 0), TDM_KIND_DRAM, MAKE_GIB);
	make_holding(&make, 4)->descriptors = 1;
	make_process(&make, 43, "idle");
	make_holding(&make, 5)->descriptors = 1;
	for (enum tdm_status_form form = TDM_STATUS_AUTO; form <= TDM_STATUS_LONG; form++) {
		render_as(&make, (struct tdm_status_report){ .term.width = 80, .form = form }, &out);
		assert_true(widest(out.data) <= 80);
		assert_has(&out, ": 4 devices, 2 cards, 2 processes\n");
		assert_has(&out, "~12.00");
		assert_has(&out, "\n2 cards with 2 chips each; it is not known which device is on which card:\n"
				 "Dev Card    Node               PCI             Temp C Power W   MHz Procs\n"
				 "/0  n300    /dev/tenstorrent/0 0000:01:00.0        47       -     -     1\n"
				 "/1  n300    /dev/tenstorrent/1 0000:02:00.0        47       -     -     1\n");
		assert_has_not(&out, "/0  n300  number unknown");
		/* That it has the card open says nothing new about a process that has a device. */
		assert_has(&out, "     42 alice     0 ");
		assert_has_not(&out, "     42 alice     /0 ");
		assert_has(&out, "     43 alice     /1 ");
	}
	render(&make, (struct tdm_pick){ .device = "/dev/tenstorrent/1" }, 80, false, &out);
	assert_has(&out, ": 0 devices, 1 card, 1 process\n");
	assert_has(&out, "\n1 card with 2 chips; it");
	assert_has(&out, "\n/1  n300    /dev/tenstorrent/1");
	render(&make, (struct tdm_pick){ .device = "/dev/tenstorrent/0" }, 80, false, &out);
	assert_has(&out, "     42 alice     /0 ");
	render(&make, (struct tdm_pick){ .device = "1" }, 80, false, &out); /* a number names a device */
	assert_has(&out, ": 1 device, 0 processes\n");
	render_json(&make, NULL, &out);
	assert_has(&out, "\"card_source\": \"card_type\"");
	assert_has(&out, "\"total_source\": \"card_type\"");
	assert_has(&out, "\"board\": true");
	tdm_buf_done(&out);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_device_of_a_galaxy_is_there),
		cmocka_unit_test(many_devices_are_a_line_each),
		cmocka_unit_test(the_form_can_be_chosen),
		cmocka_unit_test(a_piped_command_is_whole),
		cmocka_unit_test(the_room_in_the_fullest_core_is_said),
		cmocka_unit_test(weak_figures_are_said_to_be_weak),
		cmocka_unit_test(boards_are_in_a_table_of_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
