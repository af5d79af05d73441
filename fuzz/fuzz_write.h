/* Writes a result in every form, and checks what is written. */
#ifndef TDM_FUZZ_WRITE_H
#define TDM_FUZZ_WRITE_H

#include "fuzz_check.h"
#include "view/write/write.h"

static inline void fuzz_write(const struct tdm_result *result)
{
	const struct tdm_term term = { .width = TDM_TERM_WIDTH_MIN, .folds = true };
	struct tdm_buf out;
	struct tdm_json json;
	tdm_buf_init(&out);
	tdm_write_text(&result->top, &term, &out);
	tdm_write_markdown(&result->top, 1, &term, &out);
	for (size_t i = 0; i < out.len; i++)
		check((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n');
	tdm_buf_clear(&out);
	tdm_json_init(&json, &out);
	tdm_write_json(&result->top, &json);
	check(json.depth == 0);
	for (size_t i = 0; i < out.len; i++)
		check((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n');
	tdm_buf_done(&out);
}

#endif
