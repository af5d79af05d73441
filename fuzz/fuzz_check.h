/* Shared by the fuzz targets. */
#ifndef TDM_FUZZ_FUZZ_CHECK_H
#define TDM_FUZZ_FUZZ_CHECK_H

#include <stdbool.h>
#include <stdlib.h>

/* Crashes if a property does not hold; the fuzzer reports that with the input. */
static inline void check(bool holds)
{
	if (!holds)
		abort();
}

#endif
