/* The table of all formats, and recognising the format of an input with it. */
#include "sources/format.h"
#include "base/err.h"

#if TDM_BARE /* without yajl */
#define CAPTURES(X)
#else
#define CAPTURES(X) X(graph_capture)
#endif

/* Any text may be a log, so the log comes last. */
#define TDM_FORMATS(X)   \
	CAPTURES(X)      \
	X(ttnn_report)   \
	X(kernels)       \
	X(memory_report) \
	X(perf_csv)      \
	X(mesh_buffers)  \
	X(programs)      \
	X(core_cbs)      \
	X(ledger)        \
	X(text_trace)    \
	X(train_log)     \
	X(log)

#define X(id) extern const struct tdm_format tdm_format_##id;
TDM_FORMATS(X)
#undef X

const struct tdm_format *const tdm_formats[] = {
#define X(id) &tdm_format_##id,
	TDM_FORMATS(X)
#undef X
		NULL,
};

const struct tdm_format *tdm_format_find(const char *name)
{
	for (size_t i = 0; tdm_formats[i] != NULL; i++)
		if (strcmp(tdm_formats[i]->name, name) == 0)
			return tdm_formats[i];
	return NULL;
}

struct tdm_str tdm_format_head(struct tdm_input *input)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct tdm_str head = tdm_input_head(input);
	if (head.len >= sizeof mark - 1 && memcmp(head.ptr, mark, sizeof mark - 1) == 0)
		head = (struct tdm_str){ head.ptr + sizeof mark - 1, head.len - (sizeof mark - 1) };
	return head;
}

const struct tdm_format *tdm_format_of(struct tdm_input *input)
{
	struct tdm_str head = tdm_format_head(input);
	for (size_t i = 0; head.len != 0 && tdm_formats[i] != NULL; i++)
		if (tdm_formats[i]->recognise != NULL && tdm_formats[i]->recognise(head, tdm_input_name(input)))
			return tdm_formats[i];
	return NULL;
}

int tdm_format_search(struct tdm_input *input, const struct tdm_format **format, struct tdm_diag *diag)
{
	*format = tdm_format_of(input);
	if (*format == NULL || strcmp((*format)->name, "log") != 0)
		return 0;
	for (size_t i = 0; tdm_formats[i] != NULL; i++) {
		if (tdm_formats[i]->anywhere == NULL)
			continue;
		int err = tdm_input_keep(input, diag);
		if (err != 0)
			return err;
		if (tdm_input_find(input, tdm_formats[i]->anywhere))
			*format = tdm_formats[i];
		err = tdm_input_rewind(input);
		if (err != 0)
			return tdm_diag_set(
				diag, err, 0, 0, "cannot be read from its beginning again: %s", tdm_err_text(err));
	}
	return 0;
}
