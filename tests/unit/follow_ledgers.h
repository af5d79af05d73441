/* A folder with ledgers for tests of the follower, and one follower that looks at it. */
#ifndef TESTS_UNIT_FOLLOW_LEDGERS_H
#define TESTS_UNIT_FOLLOW_LEDGERS_H

#include <errno.h>
#include <limits.h>

#include "follow.h"
#include "ledger_builder.h"

enum { EVENTS = TDM_FOLLOW_EVENTS, BUFFERS = TDM_FOLLOW_BUFFERS, KEEP = TDM_FOLLOW_KEEP };

static char dir[PATH_MAX];
static struct follow f; /* large */

static inline int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");
	(void)state;
	snprintf(dir, sizeof dir, "%s/tidemark-follower.XXXXXX", tmp != NULL ? tmp : "/tmp");
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static inline int remove_dir(void **state)
{
	char command[PATH_MAX + 16];
	(void)state;
	snprintf(command, sizeof command, "rm -r '%s'", dir);
	return system(command);
}

/* Borrowed until the next call. */
static inline const char *path_of(int pid)
{
	static char path[PATH_MAX + 64];
	snprintf(path, sizeof path, "%s/tidemark.%d.12345.0", dir, pid);
	return path;
}

static inline const char *write_ledger(struct builder *b, int pid)
{
	builder_header(b)->pid = pid;
	builder_write(b, path_of(pid));
	return path_of(pid);
}

/* The ledger of a process that runs: the descriptor that holds its lock. It is an open file's, so that this process can
 * look at it like at another's. */
static inline int write_running(struct builder *b, int pid)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int fd = open(write_ledger(b, pid), O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
	return fd;
}

static inline void rewrite(struct builder *b, int fd)
{
	assert_int_equal(pwrite(fd, b->bytes, b->size, 0), b->size);
}

static inline void start(unsigned wants)
{
	follow_init(&f, (struct tdm_follow_options){ .dir = dir }, wants);
}

/* The n-th device of the n-th process. */
static inline const struct tdm_fold_holding *holding(size_t process, size_t device)
{
	assert_true(process < f.fold.count && device < f.fold.processes[process]->holding_count);
	return f.fold.processes[process]->holdings[device];
}

static inline struct tdm_fold_process *process_of(int32_t pid)
{
	for (size_t i = 0; i < f.fold.count; i++)
		if (f.fold.processes[i]->has_who && f.fold.processes[i]->who.pid == pid)
			return f.fold.processes[i];
	return NULL;
}

static inline uint32_t add(struct builder *b, uint64_t id)
{
	return builder_alloc(b, builder_header(b)->device_offset[0],
		(struct tdm_ledger_slot){
			.id = id, .asked = 100, .bank_bytes = 100, .banks = 1, .kind = TDM_KIND_DRAM },
		(struct tdm_ledger_more){ 0 });
}

static inline void take(struct builder *b, uint32_t place)
{
	builder_free(b, builder_header(b)->device_offset[0], place);
}

/* A ledger with one device and a short ring. */
static inline void begin(struct builder *b)
{
	builder_init(b);
	builder_add_device_with(b, 0, SAMPLE_RING);
}

/* What was followed is what a new account says. */
static inline void compare_with_fresh(void)
{
	static struct follow fresh;
	follow_init(&fresh, f.options, BUFFERS);
	follow_look(&fresh);
	assert_int_equal(fresh.fold.count, f.fold.count);
	for (size_t p = 0; p < f.fold.count; p++) {
		assert_int_equal(fresh.fold.processes[p]->holding_count, f.fold.processes[p]->holding_count);
		for (size_t h = 0; h < f.fold.processes[p]->holding_count; h++)
			same_holdings(&f.fold, f.fold.processes[p]->holdings[h], &fresh.fold,
				fresh.fold.processes[p]->holdings[h]);
	}
	follow_done(&fresh);
}

/* Each has a folder of its own. */
#define test(function) cmocka_unit_test_setup_teardown(function, make_dir, remove_dir)

#endif
