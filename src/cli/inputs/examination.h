/* Everything that `tidemark doctor` examines, and the findings, for `doctor` and `report`. */
#ifndef TDM_CLI_EXAMINATION_H
#define TDM_CLI_EXAMINATION_H

#include "analyze/doctor/doctor.h"
#include "cli/commands/preload_path.h"

struct tdm_examination {
	struct tdm_setup setup;
	struct tdm_preload preload;
	struct tdm_doctor doctor; /* contains the findings */
};

/* `dir`: directory of ledgers; NULL for the default. The structure must not move before tdm_examination_done(). */
void tdm_examine(struct tdm_examination *look, const char *dir);
void tdm_examination_done(struct tdm_examination *look);

#endif
