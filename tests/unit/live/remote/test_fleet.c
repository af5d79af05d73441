/* Pictures of other machines whose clocks are not ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "view/rows/picture_json.h"
#include "live/remote/fleet.h"

#include "picture_make.h"

#define MINUTE_NS (60 * TDM_NS_PER_S)
#define DAY_NS    (24 * 60 * MINUTE_NS)

/* A machine that answers on a Unix socket. */
struct machine {
	char folder[64];
	struct sockaddr_un place;
	int listener;
	pthread_t thread;
	pthread_mutex_t lock;
	struct tdm_buf answer;
	unsigned slow_ms; /* before it answers */
};

static void answer_one(struct machine *machine, int fd)
{
	char request[4096] = "", head[128];
	size_t got = 0;
	while (strstr(request, "\r\n\r\n") == NULL && got < sizeof request - 1) {
		ssize_t n = recv(fd, request + got, sizeof request - 1 - got, 0);
		if (n <= 0)
			return;
		got += (size_t)n;
		request[got] = '\0';
	}
	pthread_mutex_lock(&machine->lock);
	usleep(machine->slow_ms * 1000);
	int len = snprintf(head, sizeof head,
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n",
		machine->answer.len);
	if (send(fd, head, (size_t)len, MSG_NOSIGNAL) == len)
		(void)!send(fd, machine->answer.data, machine->answer.len, MSG_NOSIGNAL);
	pthread_mutex_unlock(&machine->lock);
}

static void *serve(void *context)
{
	struct machine *machine = context;
	for (int fd; (fd = accept(machine->listener, NULL, NULL)) >= 0; close(fd))
		answer_one(machine, fd);
	return NULL;
}

static void machine_start(struct machine *machine)
{
	memset(machine, 0, sizeof *machine);
	strcpy(machine->folder, "/tmp/tidemark-fleet.XXXXXX");
	assert_non_null(mkdtemp(machine->folder));
	machine->place.sun_family = AF_UNIX;
	snprintf(machine->place.sun_path, sizeof machine->place.sun_path, "%s/http", machine->folder);
	machine->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(machine->listener, (struct sockaddr *)&machine->place, sizeof machine->place), 0);
	assert_int_equal(listen(machine->listener, 8), 0);
	tdm_buf_init(&machine->answer);
	pthread_mutex_init(&machine->lock, NULL);
	assert_int_equal(pthread_create(&machine->thread, NULL, serve, machine), 0);
}

static void machine_stop(struct machine *machine)
{
	shutdown(machine->listener, SHUT_RDWR);
	pthread_join(machine->thread, NULL);
	close(machine->listener);
	unlink(machine->place.sun_path);
	rmdir(machine->folder);
	tdm_buf_done(&machine->answer);
	pthread_mutex_destroy(&machine->lock);
}

/*
 * Its clocks show these times: since it started, and since 1970. It has a process that nobody has written for since
 * `as_of_ns`, with a buffer of the same age; the process began two minutes ago, and its device was read a minute ago.
 */
static void machine_says(struct machine *machine, uint64_t time_ns, uint64_t real_ns, uint64_t as_of_ns)
{
	struct make make;
	struct tdm_process who = { .pid = 7, .is_on_behalf = true, .as_of_ns = as_of_ns, .started_ns = as_of_ns };
	struct tdm_buffer buffer = { .id = 1, .address = 4096, .bank_bytes = 4096, .banks = 1, .born_ns = as_of_ns };
	make_init(&make);
	make.picture.time_ns = time_ns;
	make.picture.real_ns = real_ns;
	struct tdm_picture_device *device = make_n150(&make, 0);
	make_kind(device, TDM_KIND_DRAM, 4096, MAKE_GIB);
	device->key = 1;
	device->updated_ns = real_ns - MINUTE_NS;
	device->space_ns = time_ns - MINUTE_NS;
	struct tdm_picture_process *process = make_process(&make, 7, "train");
	process->who = &who;
	process->as_of_ns = as_of_ns;
	process->started_ns = real_ns - 2 * MINUTE_NS;
	struct tdm_holding *holding = make_holding(&make, 0);
	make_amount(&make, holding, TDM_KIND_DRAM, 4096);
	holding->buffers[TDM_KIND_DRAM].list = &buffer;
	holding->buffers[TDM_KIND_DRAM].count = 1;
	pthread_mutex_lock(&machine->lock);
	tdm_buf_clear(&machine->answer);
	tdm_picture_json(
		&(struct tdm_picture_json){ .picture = &make.picture, .with_processes = true, .with_buffers = true },
		&machine->answer);
	pthread_mutex_unlock(&machine->lock);
}

/* A picture with the process in it; the machine may be asked again and again. */
static const struct tdm_picture *look(struct tdm_fleet *fleet, uint64_t newer_than)
{
	const struct tdm_wish wish = { .parts = TDM_WISH_BUFFERS };
	const struct tdm_picture *picture;
	unsigned looks = 0;
	do {
		picture = tdm_fleet_look(fleet, &wish);
		assert_non_null(picture);
		if (++looks > 400) /* a slow machine may answer late */
			fail_msg("%s", picture->problem_count != 0 ? picture->problems[0].text : "no new picture");
	} while (picture->process_count == 0 || picture->time_ns == newer_than);
	assert_int_equal(picture->process_count, 1);
	assert_non_null(picture->processes[0].who);
	return picture;
}

/* Everything that has happened on the machine is as long ago as its own clocks say. */
static void assert_ages(const struct tdm_picture *picture, uint64_t figures_ns)
{
	const struct tdm_picture_process *process = &picture->processes[0];
	const struct tdm_buffer_list *dram = &picture->holdings[0].buffers[TDM_KIND_DRAM];
	assert_int_equal(picture->time_ns - process->as_of_ns, figures_ns);
	assert_int_equal(picture->time_ns - process->who->as_of_ns, figures_ns);
	assert_int_equal(picture->time_ns - process->who->started_ns, figures_ns);
	assert_int_equal(dram->count, 1);
	assert_int_equal(picture->time_ns - dram->list[0].born_ns, figures_ns);
	assert_true(process->as_of_ns < picture->time_ns);
	assert_int_equal(picture->time_ns - picture->devices[0].space_ns, MINUTE_NS);
	/* The answer took some time, too. */
	assert_in_range(picture->real_ns - process->started_ns, 2 * MINUTE_NS, 3 * MINUTE_NS);
	assert_in_range(picture->real_ns - picture->devices[0].updated_ns, MINUTE_NS, 2 * MINUTE_NS);
}

static void ages_by_their_own_clocks(int64_t apart_ns, uint64_t figures_ns)
{
	struct machine machine;
	struct tdm_fleet *fleet;
	struct tdm_diag diag = { 0 };
	char name[160];
	/* As long as no machine has run: far from our own clock in any case. */
	uint64_t time_ns = 100 * DAY_NS + (uint64_t)apart_ns, real_ns = tdm_clock_real_ns() + (uint64_t)apart_ns;
	machine_start(&machine);
	snprintf(name, sizeof name, "unix:%s", machine.place.sun_path);
	machine_says(&machine, time_ns, real_ns, time_ns - figures_ns);
	const struct tdm_fleet_options options = { .hosts = name, .with_ended = true };
	assert_int_equal(tdm_fleet_new(&options, &fleet, &diag), 0);
	const struct tdm_picture *picture = look(fleet, 0);
	uint64_t first_ns = picture->time_ns, as_of_ns = picture->processes[0].as_of_ns;
	assert_ages(picture, figures_ns);
	/* Later the same moment is the same moment, however long the answer took. */
	machine_says(&machine, time_ns + TDM_NS_PER_S, real_ns + TDM_NS_PER_S, time_ns - figures_ns);
	machine.slow_ms = 400; /* longer than a look waits: the answer comes between two looks */
	for (int looks = 0; looks < 10 && picture->time_ns == first_ns; looks++, usleep(600000))
		picture = look(fleet, 0);
	machine.slow_ms = 0;
	assert_int_equal(picture->time_ns, first_ns + TDM_NS_PER_S);
	assert_int_equal(picture->processes[0].as_of_ns, as_of_ns);
	/* Its clock leaps ahead, or it lies: the time of the other machines does not leap with it. */
	const uint64_t far_ns = 10000 * DAY_NS;
	machine_says(&machine, time_ns + far_ns, real_ns + far_ns, time_ns + far_ns - figures_ns);
	picture = look(fleet, picture->time_ns);
	assert_true(picture->time_ns < first_ns + DAY_NS);
	assert_ages(picture, figures_ns);
	/* The machine has started anew; its clock begins again. */
	machine_says(&machine, 10 * MINUTE_NS, real_ns, 10 * MINUTE_NS - TDM_NS_PER_S);
	picture = look(fleet, picture->time_ns);
	assert_ages(picture, TDM_NS_PER_S);
	tdm_fleet_free(fleet);
	machine_stop(&machine);
}

static void clocks_ahead(void **state)
{
	(void)state;
	ages_by_their_own_clocks(7 * (int64_t)MINUTE_NS, 90 * TDM_NS_PER_S);
}

static void clocks_after_ours(void **state)
{
	(void)state;
	ages_by_their_own_clocks(-7 * (int64_t)MINUTE_NS, 90 * TDM_NS_PER_S);
}

/* It has run for a hundred days. What it did on the first of them was before this machine started. */
static void older_than_this_machine(void **state)
{
	(void)state;
	ages_by_their_own_clocks(7 * (int64_t)MINUTE_NS, 99 * DAY_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_ahead),
		cmocka_unit_test(clocks_after_ours),
		cmocka_unit_test(older_than_this_machine),
	};
	return cmocka_run_group_tests_name("fleet", tests, NULL, NULL);
}
