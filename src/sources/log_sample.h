/* A log to look at when there is none: what a program of the kind that prints its circular buffers writes. */
#ifndef TDM_SOURCES_LOG_SAMPLE_H
#define TDM_SOURCES_LOG_SAMPLE_H

#include "base/str.h"

struct tdm_str tdm_log_sample_text(void);

#endif
