/* What the fuzz targets share. */
#ifndef TDM_FUZZ_FUZZ_CHECK_H
#define TDM_FUZZ_FUZZ_CHECK_H

#include <stdbool.h>
#include <stdlib.h>

/* A property that does not hold is a crash, which the fuzzer reports with its input. */
static inline void check(bool holds)
{
	if (!holds)
		abort();
}

#endif
