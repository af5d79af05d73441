/* Everything that `tidemark doctor` looks at, and what it finds. For `doctor` and `report`. */
#ifndef TDM_CLI_EXAMINATION_H
#define TDM_CLI_EXAMINATION_H

#include "analyze/doctor.h"
#include "cli/preload_path.h"

struct tdm_examination {
	struct tdm_setup setup;
	struct tdm_preload preload;
	struct tdm_doctor doctor; /* with the findings */
};

/* `dir`: of ledgers; NULL: the default one. 0 or -ENOMEM; call tdm_examination_done() in both cases. The structure must
 * not move in between. */
int tdm_examine(struct tdm_examination *look, const char *dir);
void tdm_examination_done(struct tdm_examination *look);

#endif
