/* Judges how a buffer's size comes about: fixed, adaptive, or with the data. */
#ifndef TDM_SCAN_STRATEGY_H
#define TDM_SCAN_STRATEGY_H

#include "scan/scan.h"

/* `total` may be NULL. *reason becomes a text in the arena. */
enum tdm_strategy tdm_strategy_judge(const struct tdm_expr *total, struct tdm_arena *arena, const char **reason);

#endif
