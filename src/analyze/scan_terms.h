/* An expression of source code as a sum of terms. */
#ifndef TDM_ANALYZE_SCAN_TERMS_H
#define TDM_ANALYZE_SCAN_TERMS_H

#include "analyze/terms.h"
#include "scan/expr.h"

/*
 * Adds an expression. Sums and products are multiplied out; what is neither, such as a division or a minimum, is an
 * unknown by its text. It must be 0 or more whatever its names are, else `terms` fails.
 */
void tdm_scan_terms_add(struct tdm_terms *terms, const struct tdm_expr *expr);

/* Adds something that is only known by its text: 0 or more. */
void tdm_scan_terms_unknown(struct tdm_terms *terms, struct tdm_str text);

#endif
