/*
 * A process that writes for several clients is killed at any instruction, again and again, also while it takes over;
 * the next one goes on. Everything that it had finished must be there, exactly; of the one call in progress, all or
 * nothing.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "../unit/behalf_clients.h"
#include "base/str.h"

/* Fewer kills where a program runs many times slower: the build that is installed has them all. */
#ifndef TDM_TEST_SCALE
#define TDM_TEST_SCALE 1
#endif

enum { CLIENTS = 4, IDS = 8192, KILLS = 400 / TDM_TEST_SCALE, STEPS_MAX = 3000, NAMES = 500 };

/* What the victim says of itself, in memory that both see. An id is a buffer of DRAM on device 0, or of L1 on 1. */
struct notes {
	_Atomic uint64_t begun, finished, taken_over;
	struct {
		uint32_t client, id, old_size, new_size;
	} call;
	uint32_t sizes[CLIENTS][IDS]; /* of live buffers; 0: free */
	uint64_t seed;
	bool is_falling[CLIENTS]; /* releases more than it allocates */
};

static struct tdm_behalf clients[CLIENTS];
static char paths[CLIENTS][TDM_LEDGER_PATH_MAX];
static struct notes *notes;

static uint32_t next_random(void)
{
	notes->seed = notes->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(notes->seed >> 33);
}

static uint32_t device_of(uint32_t id)
{
	return id % 16 == 0;
}

static enum tdm_kind kind_of(uint32_t id)
{
	return device_of(id) == 0 ? TDM_KIND_DRAM : TDM_KIND_L1;
}

static void name_of(uint32_t id, uint32_t size, char name[32])
{
	snprintf(name, 32, "buffer %u of %u", id % 16, size % NAMES);
}

/* One call: an allocation, a release, or a report of a live buffer again, with another size. */
static bool make_call(struct tdm_writer *writer, uint32_t client, uint32_t id, uint32_t size)
{
	struct tdm_wdevice *device = tdm_writer_device(writer, device_of(id), false);
	char name[32];
	if (device == NULL)
		return false;
	if (size == 0)
		return tdm_writer_free_cold(device, NULL, kind_of(id), id, NULL) == 0;
	name_of(id, size, name);
	const struct tdm_report report = { .kind = kind_of(id),
		.id = id,
		.address = id,
		.asked = size,
		.name = tdm_blobs_put(&writer->blobs, TDM_BLOB_TEXT, name, strlen(name), NULL) };
	const struct tdm_report_extra extra = { .banks = 2, .bank_bytes = size, .thread = client };
	return report.name != 0 && tdm_writer_alloc_cold(device, NULL, &report, &extra) == 0;
}

static void step(struct tdm_writer *const *writers)
{
	uint32_t client = next_random() % CLIENTS, id = 1 + next_random() % (IDS - 1);
	uint32_t old_size = notes->sizes[client][id], new_size = 1 + next_random() % 100000;
	bool is_falling = notes->is_falling[client];
	if (next_random() % 4000 == 0)
		notes->is_falling[client] = !is_falling;
	if (old_size != 0 && next_random() % 8 != 0) /* else it is reported again */
		new_size = 0;
	if ((old_size == 0) == is_falling && next_random() % 8 != 0)
		return; /* so that the number of buffers rises or falls */
	notes->call.client = client;
	notes->call.id = id;
	notes->call.old_size = old_size;
	notes->call.new_size = new_size;
	atomic_fetch_add(&notes->begun, 1);
	if (!make_call(writers[client], client, id, new_size))
		_exit(3);
	notes->sizes[client][id] = new_size;
	atomic_fetch_add(&notes->finished, 1);
}

static void be_victim(void)
{
	struct tdm_writer *writers[CLIENTS];
	const struct tdm_writer_options options = { 0 };
	for (uint32_t i = 0; i < CLIENTS; i++) {
		if (tdm_writer_resume(paths[i], &options, &writers[i]) != 0)
			_exit(2);
		atomic_fetch_add(&notes->taken_over, 1);
	}
	for (;;)
		step(writers);
}

/* What the ledger of a client has. */
struct found {
	uint32_t sizes[IDS];
	uint64_t bytes[2], buffers[2];
	struct tdm_ledger *ledger;
	uint32_t client;
};

static void take_buffers(
	void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	struct found *found = context;
	for (size_t i = 0; i < count; i++) {
		char name[32];
		assert_true(slots[i].id < IDS && found->sizes[slots[i].id] == 0);
		uint32_t id = (uint32_t)slots[i].id;
		assert_true(
			slots[i].kind == kind_of(id) && slots[i].asked == slots[i].bank_bytes && slots[i].banks == 2);
		assert_true(mores[i].thread == found->client);
		found->sizes[id] = (uint32_t)slots[i].asked;
		found->bytes[device_of(id)] += slots[i].asked * 2;
		found->buffers[device_of(id)]++;
		name_of(id, found->sizes[id], name);
		assert_true(tdm_str_is(tdm_ledger_text(found->ledger, slots[i].name), name));
	}
}

static void check_client(uint32_t client)
{
	static struct found found;
	bool exact;
	memset(&found, 0, sizeof found);
	found.ledger = read_ledger(paths[client]);
	found.client = client;
	assert_int_equal(tdm_ledger_refused(found.ledger), 0);
	for (size_t d = 0; d < tdm_ledger_device_count(found.ledger); d++) {
		const struct tdm_ledger_walk walk = { .each = take_buffers, .context = &found, .with_more = true };
		const struct tdm_ledger_view *view = tdm_ledger_device(found.ledger, d);
		uint32_t number = view->number;
		assert_int_equal(tdm_ledger_walk(found.ledger, d, &walk, &exact), 0);
		assert_true(exact);
		const struct tdm_counter *count = &view->counts[number == 0 ? TDM_KIND_DRAM : TDM_KIND_L1];
		assert_int_equal(count->reserved, found.bytes[number]);
		assert_int_equal(count->buffers, found.buffers[number]);
		assert_true(count->peak >= count->reserved && count->allocs >= count->buffers);
		assert_int_equal(view->counts[TDM_KIND_DRAM].unknown_frees, 0);
	}
	for (unsigned i = 0; i < TDM_LOSS_COUNT; i++)
		assert_int_equal(tdm_ledger_header(found.ledger)->lost[i], 0);
	tdm_ledger_close(found.ledger);
	/* The call in progress happened or did not. */
	uint32_t *expected = notes->sizes[client];
	if (notes->begun != notes->finished && notes->call.client == client) {
		uint32_t id = notes->call.id;
		assert_true(found.sizes[id] == notes->call.old_size || found.sizes[id] == notes->call.new_size);
		expected[id] = found.sizes[id];
	}
	assert_memory_equal(found.sizes, expected, sizeof found.sizes);
}

/* Waits until the victim has come so far, and a little longer. */
static void wait_until(pid_t victim, const _Atomic uint64_t *what, uint64_t value)
{
	int status;
	while (atomic_load(what) < value) {
		if (waitpid(victim, &status, WNOHANG) == victim)
			fail_msg("the victim ended by itself: %x", (unsigned)status);
		sched_yield();
	}
	for (volatile uint32_t i = next_random() % 20000; i != 0; i--)
		continue;
}

static void killed_at_any_time(void **state)
{
	int status;
	(void)state;
	for (uint32_t i = 0; i < CLIENTS; i++) {
		struct tdm_writer *writer = writer_for(&clients[i]);
		strcpy(paths[i], writer->file.path);
		tdm_writer_free(writer);
	}
	for (unsigned kills = 0; kills < KILLS; kills++) {
		notes->taken_over = 0;
		notes->begun = notes->finished;
		uint64_t until = notes->finished + next_random() % STEPS_MAX;
		unsigned taken_over = next_random() % CLIENTS;
		bool is_early = next_random() % 4 == 0; /* while it takes over */
		pid_t victim = fork();
		if (victim == 0)
			be_victim();
		/* The victim has the numbers from here on. */
		if (is_early)
			wait_until(victim, &notes->taken_over, taken_over);
		else
			wait_until(victim, &notes->finished, until);
		kill(victim, SIGKILL);
		assert_int_equal(waitpid(victim, &status, 0), victim);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		for (uint32_t i = 0; i < CLIENTS; i++)
			check_client(i);
	}
	assert_true(notes->finished > KILLS);
}

static int set_up(void **state)
{
	notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (notes == MAP_FAILED)
		return -1;
	notes->seed = 4711;
	for (uint32_t i = 0; i < CLIENTS; i++)
		clients[i] = client_start();
	return behalf_dir_make(state);
}

static int tear_down(void **state)
{
	for (uint32_t i = 0; i < CLIENTS; i++)
		client_end(&clients[i]);
	return behalf_dir_remove(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(killed_at_any_time) };
	return cmocka_run_group_tests_name("resume_kill", tests, set_up, tear_down);
}
