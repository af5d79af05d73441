/* What the runtime below a process said about a device, and notes of the process; each replaces what was there before.
 */
#include "state/fold.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>

/* More than any source has. */
enum { TRACES_MAX = 4096, HAZARDS_MAX = 4096, NOTES_MAX = 4096 };

void tdm_fold_told_free(struct tdm_fold_told *told)
{
	if (told == NULL)
		return;
	free(told->traces);
	free(told->hazards);
	free(told);
}

static int keep_hazard(struct tdm_intern *texts, const struct tdm_hazard *from, struct tdm_picture_hazard *to)
{
	*to = (struct tdm_picture_hazard){
		.trace = from->trace,
		.state = from->state,
		.kind = from->kind,
		.count = from->count,
		.id = from->id,
		.address = from->address,
		.asked = from->asked,
		.bank_bytes = from->bank_bytes,
		.time_ns = from->time_ns,
		.replayed_ns = from->replayed_ns,
	};
	int err = tdm_intern_text(texts, from->name, &to->name);
	if (err == 0)
		err = tdm_intern_text(texts, from->program, &to->program);
	if (err == 0)
		err = tdm_intern_stack(texts, from->frames, from->frame_count, &to->stack);
	if (err == 0)
		err = tdm_intern_stack(texts, from->replay_frames, from->replay_frame_count, &to->replay_stack);
	return err;
}

static int keep_clash(struct tdm_intern *texts, const struct tdm_clash *from, struct tdm_picture_clash *to)
{
	*to = (struct tdm_picture_clash){ .type = from->type,
		.kind = from->kind,
		.count = from->count,
		.begin = from->begin,
		.end = from->end,
		.limit = from->limit,
		.time_ns = from->time_ns,
		.range_count = from->range_count,
		.x0 = from->range.x0,
		.y0 = from->range.y0,
		.x1 = from->range.x1,
		.y1 = from->range.y1 };
	return tdm_intern_text(texts, from->program, &to->program);
}

int tdm_fold_apply_told(struct tdm_fold *fold, struct tdm_fold_holding *holding, const struct tdm_told *from)
{
	struct tdm_fold_told *told = holding->told;
	int err = 0;
	if (from->trace_count > TRACES_MAX || from->hazard_count > HAZARDS_MAX || from->clash_count > TDM_CLASH_TYPES)
		return -EOVERFLOW;
	if (told == NULL)
		told = holding->told = calloc(1, sizeof *told);
	if (told == NULL ||
		tdm_reserve(&told->traces, &told->trace_cap, from->trace_count, sizeof *told->traces) != 0 ||
		tdm_reserve(&told->hazards, &told->hazard_cap, from->hazard_count, sizeof *told->hazards) != 0)
		return -ENOMEM;
	memcpy(told->statistics, from->statistics, sizeof told->statistics);
	told->trace_count = from->trace_count;
	for (size_t i = 0; i < from->trace_count; i++)
		told->traces[i] = from->traces[i];
	told->hazard_count = 0;
	for (size_t i = 0; i < from->hazard_count && err == 0; i++) {
		err = keep_hazard(&fold->texts, &from->hazards[i], &told->hazards[i]);
		told->hazard_count += err == 0;
	}
	told->clash_count = 0;
	for (size_t i = 0; i < from->clash_count && err == 0; i++) {
		err = keep_clash(&fold->texts, &from->clashes[i], &told->clashes[i]);
		told->clash_count += err == 0;
	}
	told->traces_lost = from->traces_lost;
	told->hazards_lost = from->hazards_lost;
	told->life = from->life;
	told->left = from->left;
	return err;
}

int tdm_fold_apply_notes(struct tdm_fold *fold, struct tdm_fold_process *process, const struct tdm_notes *from)
{
	int err = 0;
	if (from->count > NOTES_MAX)
		return -EOVERFLOW;
	if (tdm_reserve(&process->notes, &process->note_cap, from->count, sizeof *process->notes) != 0)
		return -ENOMEM;
	process->note_count = 0;
	process->notes_lost = from->lost;
	for (size_t i = 0; i < from->count && err == 0; i++) {
		struct tdm_picture_note *note = &process->notes[i];
		*note = (struct tdm_picture_note){ .value = from->list[i].value, .is_remark = from->list[i].is_remark };
		err = tdm_intern_text(&fold->texts, from->list[i].text, &note->text);
		process->note_count += err == 0;
	}
	return err;
}

void tdm_fold_show_told(const struct tdm_fold_holding *from, struct tdm_holding *to)
{
	const struct tdm_fold_told *told = from != NULL ? from->told : NULL;
	if (told == NULL) {
		memset(to->statistics, 0, sizeof to->statistics);
		to->traces = NULL;
		to->hazards = NULL;
		to->clashes = NULL;
		to->trace_count = to->hazard_count = to->clash_count = 0;
		to->traces_lost = to->hazards_lost = to->left = 0;
		to->life = 0;
		to->has_told = false;
		return;
	}
	memcpy(to->statistics, told->statistics, sizeof to->statistics);
	to->traces = told->traces;
	to->hazards = told->hazards;
	to->clashes = told->clashes;
	to->trace_count = told->trace_count;
	to->hazard_count = told->hazard_count;
	to->clash_count = told->clash_count;
	to->traces_lost = told->traces_lost;
	to->hazards_lost = told->hazards_lost;
	to->life = told->life;
	to->left = told->left;
	to->has_told = true;
}
