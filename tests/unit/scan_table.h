/* The results of a scan as the tables that tests/data/scan has, one buffer a line. */
#ifndef TDM_TESTS_SCAN_TABLE_H
#define TDM_TESTS_SCAN_TABLE_H

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "scan/scan.h"

static inline const char *scan_or_dash(const char *text)
{
	return text[0] != '\0' ? text : "-";
}

static inline void scan_table_bytes(struct tdm_buf *out, uint64_t bytes)
{
	if (bytes == TDM_BYTES_UNKNOWN)
		tdm_buf_puts(out, " -");
	else
		tdm_buf_printf(out, " %" PRIu64, bytes);
}

/* The line, what it is, its index or name, format, page and total bytes, whose memory, strategy, and the expression. */
static inline void scan_table_row(struct tdm_buf *out, const struct tdm_scan_buffer *b)
{
	tdm_buf_printf(out, "%" PRIu32 " %s ", b->line, tdm_kind_name((enum tdm_kind)b->kind));
	if (b->kind != TDM_KIND_CB)
		tdm_buf_puts(out, scan_or_dash(b->name));
	else if (b->index >= 0)
		tdm_buf_printf(out, "%" PRId32, b->index);
	else
		tdm_buf_printf(out, "[%s]", b->index_text);
	if (b->also_index >= 0)
		tdm_buf_printf(out, "+%" PRId32, b->also_index);
	tdm_buf_printf(out, " %s", scan_or_dash(b->format));
	scan_table_bytes(out, b->page.bytes);
	scan_table_bytes(out, b->total.bytes);
	tdm_buf_printf(out, " %s %s %s%s = %s",
		b->is_view       ? "view"
		: b->may_be_view ? "may-be-view"
				 : "own",
		tdm_strategy_names[b->strategy], tdm_grasp_names[b->grasp], b->in_loop ? " loop" : "", b->total.text);
	if (b->total.bytes == TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, " (%s)", b->total.reason);
	tdm_buf_putc(out, '\n');
}

/* All files; a file with buffers has a line with its name first. */
static inline void scan_table(struct tdm_buf *out, const struct tdm_scan *scan)
{
	for (size_t f = 0; f < scan->file_count; f++) {
		const struct tdm_scan_file *file = &scan->files[f];
		const char *slash = strrchr(file->path, '/');
		tdm_buf_printf(
			out, "%s %s\n", slash != NULL ? slash + 1 : file->path, tdm_file_state_names[file->state]);
		for (size_t i = 0; i < file->buffer_count; i++)
			scan_table_row(out, &file->buffers[i]);
		for (size_t i = 0; i < file->place_count; i++)
			if (file->places[i].grasp != TDM_GRASP_WHOLLY)
				tdm_buf_printf(out, "%" PRIu32 " place %s: %s\n", file->places[i].line,
					tdm_grasp_names[file->places[i].grasp], file->places[i].why);
	}
}

#endif
