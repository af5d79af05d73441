/* Everything that `tidemark doctor` examines, and the findings, for `doctor`, `report` and `run`. */
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

/* The same for `doctor --metal`: what the preload can see of a library, a program or a process. */
struct tdm_metal_examination {
	struct tdm_metal_function *functions;
	struct tdm_metal_setup setup;
	struct tdm_doctor doctor; /* contains the findings */
};

void tdm_examine_metal(struct tdm_metal_examination *look, const char *target, const char *dir);
void tdm_metal_examination_done(struct tdm_metal_examination *look);

#endif
