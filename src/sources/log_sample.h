/* A sample log for users who have none: the output of a program that prints its circular buffers. */
#ifndef TDM_SOURCES_LOG_SAMPLE_H
#define TDM_SOURCES_LOG_SAMPLE_H

#include "base/str.h"

struct tdm_str tdm_log_sample_text(void);

#endif
