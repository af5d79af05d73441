/* A directory with one ledger in it, for tests of the reader. */
#ifndef TDM_TESTS_LEDGER_PLACE_H
#define TDM_TESTS_LEDGER_PLACE_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ledger/reader.h"
#include "ledger_builder.h"

static char dir[PATH_MAX];
static char path[PATH_MAX + 64];

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");
	(void)state;
	snprintf(dir, sizeof dir, "%s/tidemark-reader.XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(path, sizeof path, "%s/tidemark.%d.12345.0", dir, BUILDER_PID);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

static struct tdm_ledger *open_good(struct builder *b)
{
	struct tdm_ledger *ledger;
	struct tdm_diag diag = { 0 };
	builder_write(b, path);
	assert_int_equal(tdm_ledger_open(path, &ledger, &diag), 0);
	assert_int_equal(tdm_ledger_refused(ledger), 0);
	return ledger;
}

#endif
