/* A region of tt-metal's shared memory that the reader must refuse. */
#ifndef TESTS_UNIT_METAL_REFUSED_H
#define TESTS_UNIT_METAL_REFUSED_H

#include "sources/metal_region.h"

static inline void assert_refused(const struct tdm_metal_region *r, enum tdm_metal_status status, const char *text)
{
	if (r->status != status)
		fail_msg("%s instead of %s: %s", tdm_metal_status_name(r->status), tdm_metal_status_name(status),
			r->text);
	if (text != NULL)
		assert_string_equal(r->text, text);
	assert_true(tdm_metal_region_is_valid(r)); /* with it: all figures unknown, no chip, no process */
}

#endif
