/*
 * Folds the long sentences of a report to the width of a terminal. A sentence after a label ("Class   small: ...") or
 * in the last cell of a row continues below its first word, any other one two columns further in than it began. Other
 * rows of tables, and charts, stay as they are.
 */
#ifndef TDM_REPORT_FOLD_LINES_H
#define TDM_REPORT_FOLD_LINES_H

#include "base/buf.h"

void tdm_fold_lines(struct tdm_buf *out, struct tdm_str text, size_t width);

#endif
