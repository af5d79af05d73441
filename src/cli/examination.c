#include "cli/examination.h"

#include <unistd.h>

int tdm_examine(struct tdm_examination *look, const char *dir)
{
	const struct tdm_probe_places places = { .ledgers = dir };
	const struct tdm_preload *preload = &look->preload;
	*look = (struct tdm_examination){ .setup = { 0 } };
	tdm_preload_find(&look->preload);
	look->doctor = (struct tdm_doctor){ .setup = &look->setup,
		.environ = environ,
		.term = tdm_term_detect(STDOUT_FILENO),
		.preload = { preload->path, preload->looked, preload->reason, TDM_PRELOAD_REMEDY } };
	int err = tdm_setup_read(&look->setup, &places);
	if (err == 0)
		tdm_doctor_run(&look->doctor, NULL);
	return err;
}

void tdm_examination_done(struct tdm_examination *look)
{
	tdm_findings_done(&look->doctor.findings);
	tdm_setup_done(&look->setup);
}
