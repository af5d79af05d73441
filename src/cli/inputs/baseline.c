#include "cli/inputs/baseline.h"
#include "base/err.h"
#include "base/file.h"
#include "view/write/write.h"

int tdm_baseline_compare(const struct tdm_cmd *cmd, struct tdm_baseline *baseline, struct tdm_budgets *budgets,
	struct tdm_findings *found)
{
	char text[TDM_DIAG_TEXT_CAP * 2];
	struct tdm_diag diag = { 0 };
	if (baseline->path == NULL)
		return 0;
	if (tdm_budgets_load(baseline->path, cmd->name, &baseline->before, &diag) != 0)
		return tdm_cmd_error(cmd, "%s", tdm_diag_format(&diag, text, sizeof text));
	size_t count = found->count;
	baseline->worse = tdm_budgets_compare(&baseline->before, budgets, found);
	baseline->is_same = found->count == count;
	tdm_findings_sort(found);
	return 0;
}

int tdm_baseline_save(const struct tdm_cmd *cmd, const struct tdm_baseline *baseline, const struct tdm_result *result)
{
	struct tdm_answer answer;
	if (baseline->save == NULL)
		return 0;
	tdm_answer_begin(&answer, cmd, true);
	tdm_write_json(&result->top, &answer.json);
	tdm_json_object_end(&answer.json);
	tdm_buf_putc(&answer.out, '\n');
	int err = tdm_file_replace(baseline->save, answer.out.data, answer.out.len);
	tdm_buf_done(&answer.out);
	return err != 0 ? tdm_cmd_error(cmd, "--save %s: %s", baseline->save, tdm_err_text(err)) : 0;
}

int tdm_baseline_end(struct tdm_baseline *baseline, int code)
{
	tdm_budgets_done(&baseline->before);
	return code == TDM_EXIT_OK && baseline->worse != 0 ? TDM_EXIT_FINDING : code;
}
