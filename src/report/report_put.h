/* Small pieces shared by reports: headings, labels, plurals. */
#ifndef TDM_REPORT_REPORT_PUT_H
#define TDM_REPORT_REPORT_PUT_H

#include "base/duration.h"
#include "base/json.h"
#include "base/term.h"
#include "base/units.h"
#include "report/cell.h"
#include "report/table.h"

enum { TDM_LABEL_COLUMNS = 15 };

/* Figures as texts, for the arguments of a call. A text lives until the end of the block. */
#define TDM_SIZE_TEXT(bytes)  tdm_format_bytes_short((char[TDM_BYTES_CAP]){ 0 }, TDM_BYTES_CAP, bytes)
#define TDM_COUNT_TEXT(count) tdm_format_count((char[TDM_BYTES_CAP]){ 0 }, TDM_BYTES_CAP, count)
#define TDM_TIME_TEXT(ns)     tdm_format_duration((char[TDM_DURATION_CAP]){ 0 }, TDM_DURATION_CAP, ns)

static inline const char *tdm_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* For "process". */
static inline const char *tdm_plural_es(uint64_t count)
{
	return count == 1 ? "" : "es";
}

/* "1 buffer", "1,234 buffers" */
static inline void tdm_put_count(struct tdm_buf *out, uint64_t count, const char *one, const char *many)
{
	tdm_buf_printf(out, "%s %s", TDM_COUNT_TEXT(count), count == 1 ? one : many);
}

static inline void tdm_put_styled(struct tdm_buf *out, const struct tdm_term *term, const char *style, const char *text)
{
	tdm_buf_printf(out, "%s%s%s", tdm_term_style(term, style), text, tdm_term_style(term, TDM_STYLE_OFF));
}

static inline void tdm_put_heading(struct tdm_buf *out, const struct tdm_term *term, const char *text)
{
	tdm_buf_putc(out, '\n');
	tdm_put_styled(out, term, TDM_STYLE_BOLD, text);
	tdm_buf_putc(out, '\n');
}

/* The label at the start of a line: "Trace          ". */
static inline void tdm_put_label(struct tdm_buf *out, const char *text)
{
	tdm_buf_printf(out, "%-*s", TDM_LABEL_COLUMNS, text);
}

/* "and 5 more", if there are. */
static inline void tdm_put_rest(struct tdm_buf *out, size_t count, size_t shown)
{
	if (count > shown)
		tdm_buf_printf(out, "  and %zu more\n", count - shown);
}

/* Common to all reports about a file. */
struct tdm_file_report {
	const char *path;
	bool cut;     /* it could not be read to its end */
	size_t limit; /* rows of a table */
	struct tdm_term term;
};

/* A table of a file's report, with a bold heading, and the limit of the report unless it has its own. */
static inline void tdm_put_table(struct tdm_buf *out, const struct tdm_file_report *file, struct tdm_table table)
{
	table.above = "\n";
	table.style = TDM_STYLE_BOLD;
	table.limit = table.limit != 0 ? table.limit : file->limit;
	tdm_table_text(&table, &file->term, out);
}

/* The beginning of a report's first line: "Kernels        path". */
static inline void tdm_put_title(struct tdm_buf *out, const char *title, const struct tdm_file_report *file)
{
	tdm_buf_printf(out, "%-15s", title);
	tdm_cell_put(out, tdm_str_of(file->path), 0, file->term.utf8);
}

static inline void tdm_put_cut(struct tdm_buf *out, const struct tdm_file_report *file)
{
	if (file->cut)
		tdm_buf_printf(out,
			"%sIncomplete     the file could not be read to its end; this is what came before%s\n",
			tdm_term_style(&file->term, TDM_STYLE_YELLOW), tdm_term_style(&file->term, TDM_STYLE_OFF));
}

#endif
