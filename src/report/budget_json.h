/*
 * Budgets in the JSON of a command: the key "budgets", a list of objects with `name` and `bytes`, and with `expression`
 * and `terms` if one of them has an expression, inside the object of the command. A file without those is read, too.
 * What --save writes is the command's JSON, and --baseline reads the budgets from such a file.
 */
#ifndef TDM_REPORT_BUDGET_JSON_H
#define TDM_REPORT_BUDGET_JSON_H

#include "analyze/budget.h"
#include "base/diag.h"
#include "base/json.h"

void tdm_budgets_json(const struct tdm_budgets *budgets, struct tdm_json *json);

/* Reads the budgets of `command` ("pressure") from the text or file; *budgets is zeroed to begin with and holds
 * nothing on an error. 0, or a negative code with diag set. */
int tdm_budgets_parse(struct tdm_str text, const char *command, struct tdm_budgets *budgets, struct tdm_diag *diag);
int tdm_budgets_load(const char *path, const char *command, struct tdm_budgets *budgets, struct tdm_diag *diag);

#endif
