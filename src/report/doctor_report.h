/* The findings of `doctor` as text and as JSON. */
#ifndef TDM_REPORT_DOCTOR_REPORT_H
#define TDM_REPORT_DOCTOR_REPORT_H

#include "analyze/finding.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/term.h"
#include "state/metal_setup.h"

void tdm_doctor_text(const struct tdm_findings *findings, const struct tdm_term *term, struct tdm_buf *out);
/* The value of the key "doctor"; `metal`: what --metal looked at, or NULL. */
void tdm_doctor_json(const struct tdm_findings *findings, const struct tdm_metal_setup *metal, struct tdm_json *json);

#endif
