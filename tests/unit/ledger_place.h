/* A folder (place_dir) with one ledger in it (place_file), for tests of the reader. */
#ifndef TDM_TESTS_LEDGER_PLACE_H
#define TDM_TESTS_LEDGER_PLACE_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ledger/read/reader.h"
#include "ledger_builder.h"

static char place_dir[PATH_MAX];
static char place_file[PATH_MAX + 64];

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");
	(void)state;
	snprintf(place_dir, sizeof place_dir, "%s/tidemark-reader.XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(place_dir) == NULL)
		return -1;
	snprintf(place_file, sizeof place_file, "%s/tidemark.%d.12345.0", place_dir, BUILDER_PID);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(place_file);
	return rmdir(place_dir);
}

static inline struct tdm_ledger *open_good(struct builder *b)
{
	struct tdm_ledger *ledger;
	struct tdm_diag diag = { 0 };
	builder_write(b, place_file);
	assert_int_equal(tdm_ledger_open(place_file, &ledger, &diag), 0);
	assert_int_equal(tdm_ledger_refused(ledger), 0);
	return ledger;
}

#endif
