/* One log on its way into a profile: what `tidemark log` and `tidemark info` have in common. */
#ifndef TDM_CLI_LOG_INPUT_H
#define TDM_CLI_LOG_INPUT_H

#include "analyze/log_profile.h"
#include "sources/log_reader.h"

/* What is known of the file when all of it was read. */
void tdm_log_input_end(const struct tdm_log_reader *reader, struct tdm_log_file *file);

#endif
