/* A region of tt-metal's shared memory that the reader must refuse. */
#ifndef TESTS_UNIT_METAL_REFUSED_H
#define TESTS_UNIT_METAL_REFUSED_H

#include "metal_valid.h"

static inline void assert_refused(const struct tdm_metal_region *r, enum tdm_metal_status status, const char *text)
{
	if (r->status != status)
		fail_msg("status %d instead of %d: %s", r->status, status, r->text);
	if (text != NULL)
		assert_string_equal(r->text, text);
	assert_true(metal_region_is_valid(r)); /* with it: all figures unknown, no chip, no process */
}

#endif
