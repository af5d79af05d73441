/* How long freed buffers lived, as far as the recent events of a ledger tell: those whose birth and release are both
 * among them. */
#ifndef TDM_SOURCES_LEDGER_LIVES_H
#define TDM_SOURCES_LEDGER_LIVES_H

#include <stdint.h>

#include "base/kind.h"
#include "base/str.h"

struct tdm_ledger_life {
	uint32_t device; /* with TDM_DEVICE_VIRTUAL_BIT */
	enum tdm_kind kind;
	struct tdm_str name;  /* of the buffer; may be empty */
	uint64_t ns, most_ns; /* the time of a release is not read each time: it lived so long at least, and at most */
};

/* Calls `each` for every such buffer, the first released first. 0 or a negative code: of `each`, which ends it, or of
 * the reading. */
int tdm_ledger_lives(const char *path, int (*each)(void *context, const struct tdm_ledger_life *life), void *context);

#endif
