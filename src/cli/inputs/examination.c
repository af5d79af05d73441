#include "cli/inputs/examination.h"

#include <unistd.h>

void tdm_examine(struct tdm_examination *look, const char *dir)
{
	const struct tdm_setup_places places = { .ledgers = dir };
	const struct tdm_preload *preload = &look->preload;
	*look = (struct tdm_examination){ .setup = { 0 } };
	tdm_preload_find(&look->preload, NULL);
	look->doctor = (struct tdm_doctor){ .setup = &look->setup,
		.environ = environ,
		.term = tdm_term_detect(STDOUT_FILENO),
		.preload = preload->path,
		.preload_looked = preload->looked,
		.preload_reason = preload->reason,
		.preload_remedy = TDM_PRELOAD_REMEDY };
	tdm_setup_read(&look->setup, &places);
	tdm_doctor_run(&look->doctor, NULL);
}

void tdm_examination_done(struct tdm_examination *look)
{
	tdm_findings_done(&look->doctor.findings);
	tdm_setup_done(&look->setup);
}
