/* The functions that the preload hooks or asks, as `doctor --metal` found them: a table and JSON. */
#ifndef TDM_REPORT_METAL_REPORT_H
#define TDM_REPORT_METAL_REPORT_H

#include "base/buf.h"
#include "base/json.h"
#include "base/term.h"
#include "state/metal_setup.h"

/* Every function once, with the state of the best of its names, for each library that defines any. */
void tdm_metal_text(const struct tdm_metal_setup *setup, const struct tdm_term *term, struct tdm_buf *out);
/* The value of the key "metal": all names. */
void tdm_metal_json(const struct tdm_metal_setup *setup, struct tdm_json *json);

#endif
