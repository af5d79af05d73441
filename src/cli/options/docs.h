/*
 * Files generated from the command table during the build: man pages and the completion script. Also the strings that
 * man pages share with --help (cmd.h declares the help itself).
 */
#ifndef TDM_CLI_DOCS_H
#define TDM_CLI_DOCS_H

#include "base/buf.h"
#include "cli/options/cmd.h"

/* ---- texts (help.c) ---------------------------------------------------------------------------------------------- */

extern const char tdm_help_tagline[];
extern const char tdm_help_about[]; /* paragraphs, as in struct tdm_cmd */
extern const struct tdm_help_row tdm_help_options[], tdm_help_exits[], tdm_help_environment[];
extern const struct tdm_help_row tdm_help_command_exits[]; /* for commands that define none */

/* Returns the next paragraph of a description; empty at the end. A paragraph that begins with a space keeps its line
 * breaks. */
struct tdm_str tdm_help_paragraph(const char **description);

/* Writes "-o, --output=FILE", with blanks in place of a missing letter. */
void tdm_help_option(struct tdm_buf *out, const struct tdm_opt *opt);

/* ---- pages and the script; `program` is a separate program, or NULL -------------------------------------------- */

/* Escapes text so that roff prints it literally. `line_start`: the text begins an input line. */
void tdm_docs_escape(struct tdm_buf *out, struct tdm_str text, bool line_start);

/* Write tidemark(1) and the page of a command. `date` is "2026-01-31", for the footer. */
void tdm_docs_man(struct tdm_buf *out, const struct tdm_cmd *program, const char *date);
void tdm_docs_man_command(
	struct tdm_buf *out, const struct tdm_cmd *cmd, const struct tdm_cmd *program, const char *date);

/* For bash 4; uses the bash-completion package, if installed, for file names. */
/* `frame`: the script, with @NAMES@, @COMMANDS@ and @PROGRAM@ to be replaced. */
void tdm_completion_bash(struct tdm_buf *out, struct tdm_str frame, const struct tdm_cmd *program);

/* main() of `tidemark-docgen`. */
int tdm_docgen_main(int argc, char **argv, const struct tdm_cmd *program);

#endif
