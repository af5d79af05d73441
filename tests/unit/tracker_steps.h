/* Steps shared by the tests of the phase tracker. */
#ifndef TDM_TEST_TRACKER_STEPS_H
#define TDM_TEST_TRACKER_STEPS_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/client.h"
#include "tidemark.h"

/* Before the first test and after the last: ledgers go into a directory that is thrown away. */
static inline int make_directory(void **state)
{
	static char directory[] = "/tmp/tidemark-tracker.XXXXXX";
	*state = mkdtemp(directory);
	return *state == NULL ? -1 : setenv("TIDEMARK_DIR", directory, 1);
}

static inline int remove_directory(void **state)
{
	char command[64];
	snprintf(command, sizeof command, "rm -r %s", (const char *)*state);
	return system(command);
}

/* Before each test. */
static inline int start(void **state)
{
	(void)state;
	return tidemark_capture_clear();
}

static inline void alloc_dram(uint64_t bytes)
{
	tdm_tracker_alloc(TIDEMARK_DRAM, bytes, bytes, false);
}

static inline void free_dram(uint64_t bytes)
{
	tdm_tracker_free(TIDEMARK_DRAM, bytes, bytes, false);
}

static inline void begin(int mode)
{
	assert_int_equal(tidemark_capture_begin(mode), 0);
	assert_int_equal(tidemark_capture_is_active(), 1);
}

static inline void snapshot(const char *name)
{
	assert_int_equal(tidemark_capture_snapshot(name), 0);
}

#endif
