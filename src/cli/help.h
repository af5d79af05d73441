/* The command's help, made from the table of commands. docs.c makes the man pages from the same texts. */
#ifndef TDM_CLI_HELP_H
#define TDM_CLI_HELP_H

#include "base/buf.h"
#include "cli/cmd.h"

extern const char tdm_help_tagline[];
extern const char tdm_help_about[]; /* paragraphs, as in struct tdm_cmd */
extern const struct tdm_help_row tdm_help_options[], tdm_help_exits[], tdm_help_environment[];
extern const struct tdm_help_row tdm_help_command_exits[]; /* of commands that define none */

/* The next paragraph of a description. False at the end. */
struct tdm_paragraph {
	struct tdm_str text;
	bool verbatim; /* keep its line breaks */
};
bool tdm_help_paragraph(const char **description, struct tdm_paragraph *paragraph);

/* "-o, --output=FILE", with space for the letter if there is none. */
void tdm_help_option(struct tdm_buf *out, const struct tdm_opt *opt);

void tdm_help_short(struct tdm_buf *out, size_t width);   /* usage and the commands */
void tdm_help_general(struct tdm_buf *out, size_t width); /* `tidemark --help` */
void tdm_help_command(struct tdm_buf *out, const struct tdm_cmd *cmd, size_t width);

#endif
