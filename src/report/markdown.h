/*
 * Markdown as GitHub and most other sites read it. Text of unknown origin shows as it is: nothing in it is taken for
 * markup, a link, an address or the name of a user. Control characters and invalid UTF-8 become '?'.
 */
#ifndef TDM_REPORT_MARKDOWN_H
#define TDM_REPORT_MARKDOWN_H

#include "base/buf.h"

/* A piece of a line: a heading, a paragraph, the cell of a table. At the beginning of a line something must precede it:
 * "1." or "-" would start a list. */
void tdm_markdown_text(struct tdm_buf *out, struct tdm_str text);

/* The same in the font of programs, for a path or a command. */
void tdm_markdown_code(struct tdm_buf *out, struct tdm_str text);

/* Lines that are shown exactly as they are. */
void tdm_markdown_block(struct tdm_buf *out, struct tdm_str text);

#endif
