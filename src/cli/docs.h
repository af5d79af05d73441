/*
 * Man pages in roff, from the table of commands: tidemark(1) and a page for each command. Everything that roff or its
 * font tables would misread is escaped: backslashes, quotes, hyphens, accents, a dot at the start of a line, and all
 * that is not ASCII.
 */
#ifndef TDM_CLI_DOCS_H
#define TDM_CLI_DOCS_H

#include "base/buf.h"
#include "cli/cmd.h"

/* Escapes a text so that roff prints it literally. `line_start`: it is at the start of an input line. */
void tdm_docs_escape(struct tdm_buf *out, struct tdm_str text, bool line_start);

/* `date` is "2026-01-31", for the footer of the page. `program`: one that is no command, with a page of its own, which
 * the others name; NULL: none. */
void tdm_docs_man(struct tdm_buf *out, const struct tdm_cmd *program, const char *date);
void tdm_docs_man_command(
	struct tdm_buf *out, const struct tdm_cmd *cmd, const struct tdm_cmd *program, const char *date);

#endif
