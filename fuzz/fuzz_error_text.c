/*
 * Fuzz the runtime's sentences about memory. Exercises: base/pattern.c (fields, spans, numbers), input/log/error_text.c
 * (all sentences, core ranges, repetitions), analyze/explain/failure_finding.c, and its sentence.
 *
 * Properties: a search always advances, and its text is in the input; a sentence alone gives the same record again;
 * figures are known or TDM_BYTES_UNKNOWN; ranges are valid; every failure has a description; the same failure in the
 * same line is not new twice, unless the logger repeats it; a text in unknown words is shown whole.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_check.h"
#include "analyze/explain/failure_finding.h"
#include "input/log/error_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_str text = { (const char *)data, size };
	struct tdm_failure_recent recent = { .next = 0 };
	struct tdm_failure f, again;
	size_t at = 0, before = 0, end;
	struct tdm_buf words;
	while (tdm_error_text_find(text, at, &f, &at)) {
		check(at > before && at <= size);
		before = at;
		check(f.type < TDM_FAILURE_COUNT && f.kind <= TDM_KIND_COUNT);
		bool is_other = f.type == TDM_FAILURE_OTHER; /* its text goes on to the end of the line */
		check(f.text.ptr >= text.ptr && f.text.ptr + f.text.len <= text.ptr + size);
		check(is_other || f.text.ptr + f.text.len == text.ptr + at);
		check(f.has_range == (f.range_count != 0) && (!f.has_range || tdm_core_range_is_valid(&f.range)));
		tdm_buf_init(&words);
		tdm_failure_put(&f, &words);
		check(words.len != 0);
		/* No field is left open; a name may have a brace of its own. */
		check(memchr(words.data, '{', words.len) == NULL || memchr(text.ptr, '{', text.len) != NULL);
		tdm_buf_done(&words);
		check(tdm_error_text_find(f.text, 0, &again, &end));
		if (f.type != TDM_FAILURE_SEGMENT) /* its name is before it */
			check(tdm_failure_is_same(&f, &again) && (is_other || end == f.text.len));
		tdm_failure_is_new(&recent, &f, 0, 1, true);
		check(!tdm_failure_is_new(&recent, &f, 0, 1, false));
		check(tdm_failure_is_new(&recent, &f, 0, 1, true));
	}
	if (tdm_error_text_other(text, TDM_ERROR_SURE, &f)) {
		check(f.type == TDM_FAILURE_OTHER && f.text.ptr >= text.ptr &&
			f.text.ptr + f.text.len <= text.ptr + size);
		tdm_buf_init(&words);
		tdm_failure_put(&f, &words);
		check(words.len != 0);
		tdm_buf_done(&words);
	}
	return 0;
}
