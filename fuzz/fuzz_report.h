/* Shows what analysers of reports found. */
#ifndef TDM_FUZZ_FUZZ_REPORT_H
#define TDM_FUZZ_FUZZ_REPORT_H

#include "analyze/report/report_analyser.h"
#include "fuzz_input.h"
#include "view/write/write.h"

/* As text and as JSON. Checks that both can be written, and that JSON has no byte that should have been escaped. */
static inline void fuzz_show(const struct tdm_report_analyser *analyser, void *state)
{
	const struct tdm_term term = { .utf8 = true, .width = 80 };
	struct tdm_intake reading = { .input = fuzz_open((const uint8_t *)"", 0) };
	struct tdm_result *result = tdm_result_new();
	struct tdm_buf out;
	struct tdm_json json;
	analyser->show(state, &reading, 5, &result->top);
	tdm_buf_init(&out);
	tdm_write_text(&result->top, &term, &out);
	tdm_buf_clear(&out);
	tdm_json_init(&json, &out);
	tdm_write_json(&result->top, &json);
	check(json.depth == 0);
	for (size_t i = 0; i < out.len; i++)
		check((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n');
	tdm_buf_done(&out);
	tdm_result_free(result);
	tdm_input_close(reading.input);
}

#endif
