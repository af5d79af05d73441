/*
 * A burst of buffers that goes again: the ledger gives back the pages of its slots, and what is left stays right for
 * the program and for readers.
 */
#include "itest.h"
#include "tidemark.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	BURST = 200000,
	SURVIVORS = 1000,
	ANCHORS = 500,
	SMALL_BURST = 8000,
	PICTURES = 600, /* of it */
	READERS = 2,
	BLOCK = 512,
	STAYS_MAX = 1 << 20, /* bytes that may stay for few live buffers */
	ROUNDS = 12,
};

static uint64_t file_bytes(void)
{
	struct stat st;
	CHECK(stat(tidemark_ledger_path(), &st) == 0);
	return (uint64_t)st.st_blocks * BLOCK;
}

/* Everything else about a buffer follows from its id. */
static uint32_t kind_of(uint64_t id)
{
	return (uint32_t)(id % TIDEMARK_KIND_COUNT);
}

static int alloc(uint64_t id)
{
	struct tidemark_buffer b = { .size = sizeof b,
		.kind = kind_of(id),
		.id = id,
		.address = id * 7,
		.bytes = 64 + id % 100,
		.bytes_per_bank = 64 + id % 100,
		.banks = 1,
		.page_size = (uint32_t)id + 1,
		.name = TIDEMARK_SITE() };
	return tidemark_alloc(&b);
}

static void free_one(uint64_t id)
{
	CHECK(tidemark_free(0, kind_of(id), id) == 0);
}

static bool is_right(const struct tdm_ledger_buffer *b)
{
	uint64_t id = b->slot.id;
	return b->slot.kind == kind_of(id) && b->slot.address == id * 7 && b->slot.asked == 64 + id % 100 &&
	       b->slot.bank_bytes == 64 + id % 100 && b->slot.banks == 1 && b->slot.name != 0 &&
	       b->more.page_size == (uint32_t)id + 1 && b->more.holding == 1;
}

/* The live buffers are exactly those of the list, which has ids below `limit`. */
static void check_live(const uint64_t *ids, size_t count, uint64_t limit)
{
	size_t found;
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 0, &found);
	unsigned char *seen = calloc(limit + 1, 1);
	CHECK(seen != NULL);
	CHECK_EQ(found, count);
	for (size_t i = 0; i < found; i++) {
		CHECK(buffers[i].slot.id < limit && is_right(&buffers[i]));
		CHECK_EQ(seen[buffers[i].slot.id]++, 0);
	}
	for (size_t i = 0; i < count; i++)
		CHECK_EQ(seen[ids[i]], 1);
	CHECK_EQ(tidemark_lost(), 0);
	free(seen);
	free(buffers);
	tdm_ledger_close(ledger);
}

static void shuffle(uint64_t *ids, size_t count, uint64_t seed)
{
	for (size_t i = count; i > 1; i--) {
		size_t k = itest_random(&seed) % i;
		uint64_t id = ids[k];
		ids[k] = ids[i - 1];
		ids[i - 1] = id;
	}
}

static uint64_t *alloc_burst(uint64_t first, size_t count)
{
	uint64_t *ids = malloc(count * sizeof *ids);
	CHECK(ids != NULL);
	for (size_t i = 0; i < count; i++) {
		ids[i] = first + i;
		CHECK(alloc(ids[i]) == 0);
	}
	return ids;
}

/* In which order the buffers of the burst go. */
enum order { FORWARD, BACKWARD, SHUFFLED, BY_KIND };

static void burst_goes(enum order order)
{
	size_t count = itest_scale(BURST);
	CHECK(alloc(0) == 0);
	uint64_t before = file_bytes(), *ids = alloc_burst(1, count), most = file_bytes();
	CHECK(most > before + count * 90);
	if (order == SHUFFLED)
		shuffle(ids, count, 1);
	for (size_t i = 0; i < count && order != BY_KIND; i++)
		free_one(ids[order == BACKWARD ? count - 1 - i : i]);
	for (uint32_t kind = 0; kind < TIDEMARK_KIND_COUNT && order == BY_KIND; kind++)
		CHECK(tidemark_free_all(0, kind) > 0);
	CHECK(file_bytes() <= before + STAYS_MAX);
	check_live((uint64_t[]){ 0 }, order != BY_KIND, 1);
	free(ids);
	/* It grows again. */
	if (order == BY_KIND)
		CHECK(alloc(0) == 0);
	ids = alloc_burst(1, count);
	ids = realloc(ids, (count + 1) * sizeof *ids);
	CHECK(ids != NULL);
	ids[count] = 0;
	check_live(ids, count + 1, count + 1);
	free(ids);
}

static void goes_forward(void)
{
	burst_goes(FORWARD);
}

static void goes_backward(void)
{
	burst_goes(BACKWARD);
}

static void goes_shuffled(void)
{
	burst_goes(SHUFFLED);
}

static void goes_by_kind(void)
{
	burst_goes(BY_KIND);
}

/* A few survivors do not keep the pages that they were on. */
static void survivors(void)
{
	size_t count = itest_scale(BURST);
	CHECK(alloc(0) == 0);
	uint64_t before = file_bytes(), *ids = alloc_burst(1, count);
	shuffle(ids, count, 2);
	for (size_t i = SURVIVORS; i < count; i++)
		free_one(ids[i]);
	free_one(0);
	for (uint64_t i = 0; i < count; i++) { /* the program goes on */
		CHECK(alloc(count + 1) == 0);
		free_one(count + 1);
	}
	CHECK(file_bytes() <= before + STAYS_MAX);
	check_live(ids, SURVIVORS, count + 1);
	for (size_t i = 0; i < SURVIVORS; i++)
		free_one(ids[i]);
	check_live(NULL, 0, 0);
	free(ids);
}

/* Bursts of all sizes with any number of survivors, over which the next one goes. */
static void many_bursts(void)
{
	uint64_t seed = 3, next = 0;
	uint64_t *live = NULL;
	size_t count = 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t more = itest_scale(BURST / 4) >> itest_random(&seed) % 4;
		live = realloc(live, (count + more) * sizeof *live);
		CHECK(live != NULL);
		for (size_t i = 0; i < more; i++) {
			live[count++] = next;
			CHECK(alloc(next++) == 0);
			if (itest_random(&seed) % 8 == 0) /* reported again */
				CHECK(alloc(live[itest_random(&seed) % count]) == 0);
		}
		check_live(live, count, next);
		shuffle(live, count, seed);
		size_t stay = count >> itest_random(&seed) % 12;
		while (count > stay) {
			free_one(live[--count]);
			if (itest_random(&seed) % 16 == 0) {
				live[count] = next;
				CHECK(alloc(next++) == 0);
				free_one(live[count]);
			}
		}
		check_live(live, count, next);
	}
	for (size_t i = 0; i < count; i++)
		free_one(live[i]);
	check_live(NULL, 0, 0);
	free(live);
}

/* Counts the anchors of a walk: each must be there once, with everything that belongs to it. */
struct look {
	unsigned char seen[ANCHORS];
	unsigned anchors, wrong;
};

static void look_at(
	void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	struct look *look = context;
	for (size_t i = 0; i < count; i++) {
		struct tdm_ledger_buffer b = { .slot = slots[i], .more = mores[i] };
		look->wrong += !is_right(&b);
		if (b.slot.id >= ANCHORS)
			continue;
		look->anchors++;
		look->wrong += look->seen[b.slot.id]++ != 0;
	}
}

static void look_again(void *context)
{
	memset(context, 0, sizeof(struct look));
}

/* Between a writer and its reader. */
struct talk {
	_Atomic unsigned asked, answered; /* the writer waits for a picture */
	_Atomic bool is_over;
};

/* Reads all the time. A picture of a writer that waits is exact. */
static void be_reader(const char *path, struct talk *talk)
{
	static struct look look;
	CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	struct tdm_ledger *ledger = itest_open(path);
	const struct tdm_ledger_walk walk = {
		.each = look_at, .again = look_again, .context = &look, .with_more = true
	};
	while (!talk->is_over) {
		bool exact;
		unsigned asked = talk->asked;
		look_again(&look);
		CHECK(tdm_ledger_walk(ledger, 0, &walk, &exact) == 0);
		CHECK(exact || asked == talk->answered);
		if (exact) {
			CHECK_EQ(look.wrong, 0);
			CHECK_EQ(look.anchors, ANCHORS);
		}
		talk->answered = asked;
	}
	_exit(0);
}

static void wait_for_picture(struct talk *talk, pid_t reader)
{
	int status;
	talk->asked++;
	while (talk->answered != talk->asked) {
		CHECK(waitpid(reader, &status, WNOHANG) == 0);
		usleep(1);
	}
}

/* A writer, whose first anchors are in low slots and whose others are in high ones, and its reader. */
static void read_during_burst(void *context)
{
	char path[ITEST_PATH_MAX];
	int status;
	const size_t count = SMALL_BURST;
	struct talk *talk = mmap(NULL, sizeof *talk, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(talk != MAP_FAILED);
	for (uint64_t i = 0; i < ANCHORS / 4; i++)
		CHECK(alloc(i) == 0);
	uint64_t *ids = alloc_burst(ANCHORS, count);
	for (uint64_t i = ANCHORS / 4; i < ANCHORS; i++)
		CHECK(alloc(i) == 0);
	shuffle(ids, count, *(uint64_t *)context);
	snprintf(path, sizeof path, "%s", tidemark_ledger_path());
	uint64_t most = file_bytes();
	fflush(NULL);
	pid_t reader = fork();
	CHECK(reader >= 0);
	if (reader == 0)
		be_reader(path, talk);
	for (size_t i = 0; i < count; i++) {
		free_one(ids[i]);
		if (i > count - PICTURES) /* when pages are given back */
			wait_for_picture(talk, reader);
	}
	CHECK(file_bytes() < most);
	talk->is_over = true;
	CHECK(waitpid(reader, &status, 0) == reader && itest_exited(status));
	CHECK_EQ(tidemark_lost(), 0);
	free(ids);
	for (uint64_t i = 0; i < ANCHORS; i++)
		free_one(i);
}

/* Some buffers stay; a reader sees each of them once in every picture, wherever it is. */
static void readers(void)
{
	for (uint64_t seed = 0; seed < itest_scale(READERS); seed++)
		CHECK(itest_exited(itest_fork(read_during_burst, &seed)));
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "goes_forward", goes_forward, NULL },
		{ "goes_backward", goes_backward, NULL },
		{ "goes_shuffled", goes_shuffled, NULL },
		{ "goes_by_kind", goes_by_kind, NULL },
		{ "survivors", survivors, NULL },
		{ "many_bursts", many_bursts, NULL },
		{ "readers", readers, NULL },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
