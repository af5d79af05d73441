#include "cli/inputs/examination.h"
#include "base/memory.h"
#include "metal/hook_table.h"

#include <stdlib.h>
#include <string.h>
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

static const char *missing_of(size_t topic, const bool *present)
{
	return tdm_metal_missing((enum tdm_metal_topic)topic, present);
}

void tdm_examine_metal(struct tdm_metal_examination *look, const char *target, const char *dir)
{
	const char *topics[TDM_METAL_TOPICS + 1] = { NULL };
	const struct tdm_setup_places places = { .ledgers = dir, .preload = TDM_PRELOAD_NAME };
	*look = (struct tdm_metal_examination){ .doctor = { .environ = environ } };
	look->functions = tdm_zalloc(tdm_metal_symbol_count, sizeof *look->functions);
	for (unsigned t = 0; t < TDM_METAL_TOPICS; t++)
		topics[t] = tdm_metal_topic_name((enum tdm_metal_topic)t);
	for (size_t i = 0; i < tdm_metal_symbol_count; i++) {
		const struct tdm_metal_symbol *s = &tdm_metal_symbols[i];
		/* A hook that only supports other hooks records nothing itself. */
		const char *sees = strncmp(s->sees, "nothing", strlen("nothing")) != 0 ? s->sees : NULL;
		look->functions[i] = (struct tdm_metal_function){ s->name, s->symbol, s->since, s->until, sees,
			topics[s->topic], s->is_hook, s->is_needed };
	}
	tdm_metal_setup_read(&look->setup, target, look->functions, tdm_metal_symbol_count, &places);
	tdm_doctor_metal(&look->doctor, &look->setup, topics, missing_of);
}

void tdm_metal_examination_done(struct tdm_metal_examination *look)
{
	tdm_findings_done(&look->doctor.findings);
	tdm_metal_setup_done(&look->setup);
	free(look->functions);
}
