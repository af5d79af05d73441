/* Gives the analyser of leaks its pictures: one, or as many as there are in the time to watch. For `leaks` and
 * `report`. */
#ifndef TDM_CLI_LEAK_PICTURES_H
#define TDM_CLI_LEAK_PICTURES_H

#include "analyze/leaks.h"
#include "cli/ledgers.h"

struct tdm_leak_pictures {
	struct tdm_leaks *leaks;
	struct tdm_ledgers *ledgers; /* has the last picture afterwards */
	uint64_t watch_ns;           /* 0: take one picture */
	uint64_t interval_ns;        /* between two pictures */
};

/* The usual interval. Watching for a short time needs enough pictures, too. */
uint64_t tdm_leak_interval(uint64_t watch_ns);

/* 0, or the exit code after a message. */
int tdm_leak_pictures(const struct tdm_cmd *cmd, const struct tdm_leak_pictures *of);

#endif
