/* Sizes of tests that take long: small ones in the run that everybody waits for, full ones where TDM_TEST_FULL is set,
 * as scripts/run-tests does in its steps `full` and `release`. */
#ifndef TDM_TEST_FULL_SIZE_H
#define TDM_TEST_FULL_SIZE_H

#include <stdlib.h>

static inline int full_size(int full, int small)
{
	return getenv("TDM_TEST_FULL") != NULL ? full : small;
}

#endif
