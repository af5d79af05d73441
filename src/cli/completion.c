/*
 * The script is a fixed frame around one `case` branch for each command, which sets
 *
 *     options   every option, with "=" after those that take a value
 *     valued    those that take one, by all their names, between blanks
 *     words     candidates for the first positional argument
 *     names     candidates for the others, or for all when there are no words
 *
 * and offers the values of the option before the cursor. All texts are names from the table: nothing in them needs
 * quoting.
 */
#include "cli/completion.h"
#include "cli/cmd.h"
#include "device/card.h"

static const char script_head[] = "# bash completion for tidemark. Generated from the table of commands; do not edit.\n"
				  "\n"
				  "_tidemark_words()\n"
				  "{\n"
				  "\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\")\n"
				  "\t[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null\n"
				  "\treturn 0\n"
				  "}\n"
				  "\n"
				  "_tidemark_files()\n"
				  "{\n"
				  "\tlocal cur=$1\n"
				  "\tif declare -F _filedir >/dev/null; then\n"
				  "\t\t_filedir ${2:+\"$2\"}\n"
				  "\telse\n"
				  "\t\tcompopt -o filenames 2>/dev/null\n"
				  "\t\tmapfile -t COMPREPLY < <(compgen \"${2:--f}\" -- \"$cur\")\n"
				  "\tfi\n"
				  "\treturn 0\n"
				  "}\n"
				  "\n"
				  "_tidemark()\n"
				  "{\n"
				  "\tlocal cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}\n"
				  "\tlocal options='' valued='' words='' names='' positional=0 i\n"
				  "\tCOMPREPLY=()\n"
				  "\t# bash splits --name=value into three words\n"
				  "\tif [[ $cur == = ]]; then\n"
				  "\t\tcur=\n"
				  "\telif [[ $option == = ]]; then\n"
				  "\t\toption=${COMP_WORDS[COMP_CWORD - 2]}\n"
				  "\tfi\n"
				  "\tif ((COMP_CWORD == 1)); then\n";

static const char script_middle[] = "\t\treturn\n"
				    "\tfi\n"
				    "\tcase ${COMP_WORDS[1]} in\n";

static const char script_tail[] = "\t*)\n"
				  "\t\treturn\n"
				  "\t\t;;\n"
				  "\tesac\n"
				  "\tif [[ $cur == -* ]]; then\n"
				  "\t\t_tidemark_words \"$options\" \"$cur\"\n"
				  "\t\treturn\n"
				  "\tfi\n"
				  "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
				  "\t\tcase ${COMP_WORDS[i]} in\n"
				  "\t\t-*)\n"
				  "\t\t\tif [[ ${COMP_WORDS[i + 1]} == = ]]; then\n"
				  "\t\t\t\t((i += 2))\n"
				  "\t\t\telif [[ \" $valued \" == *\" ${COMP_WORDS[i]} \"* ]]; then\n"
				  "\t\t\t\t((i += 1))\n"
				  "\t\t\tfi\n"
				  "\t\t\t;;\n"
				  "\t\t=)\n"
				  "\t\t\t((i += 1))\n"
				  "\t\t\t;;\n"
				  "\t\t*)\n"
				  "\t\t\t((positional += 1))\n"
				  "\t\t\t;;\n"
				  "\t\tesac\n"
				  "\tdone\n"
				  "\tif [[ -n $words ]] && ((positional == 0)); then\n"
				  "\t\t_tidemark_words \"$words\" \"$cur\"\n"
				  "\telif [[ -n $names ]]; then\n"
				  "\t\t_tidemark_words \"$names\" \"$cur\"\n"
				  "\telif [[ -z $words ]]; then\n"
				  "\t\t_tidemark_files \"$cur\"\n"
				  "\tfi\n"
				  "}\n"
				  "complete -F _tidemark tidemark\n";

/* Writes words with spaces between them. */
static void put_words(struct tdm_buf *out, const char *const *words)
{
	for (size_t i = 0; words[i] != NULL; i++)
		tdm_buf_printf(out, "%s%s", i != 0 ? " " : "", words[i]);
}

static void put_command_names(struct tdm_buf *out)
{
	for (size_t i = 0; tdm_cmds[i] != NULL; i++)
		tdm_buf_printf(out, "%s%s", i != 0 ? " " : "", tdm_cmds[i]->name);
}

static void put_option_lists(struct tdm_buf *out, const struct tdm_cmd *cmd)
{
	const char *gap = "";
	tdm_buf_puts(out, "\t\toptions='");
	for (const struct tdm_opt *opt = NULL; (opt = tdm_opt_next(cmd, opt)) != NULL; gap = " ")
		tdm_buf_printf(out, "%s--%s%s", gap, opt->name, opt->arg != NULL ? "=" : "");
	tdm_buf_puts(out, "'\n\t\tvalued='");
	gap = "";
	for (const struct tdm_opt *opt = NULL; (opt = tdm_opt_next(cmd, opt)) != NULL;) {
		if (opt->arg == NULL)
			continue;
		tdm_buf_printf(out, "%s--%s", gap, opt->name);
		if (opt->letter != '\0')
			tdm_buf_printf(out, " -%c", opt->letter);
		gap = " ";
	}
	tdm_buf_puts(out, "'\n");
}

/* How to complete the value of an option, chosen by the name of its argument. */
static void put_value_action(struct tdm_buf *out, const char *arg)
{
	if (strchr(arg, '|') != NULL) {
		tdm_buf_puts(out, "_tidemark_words '");
		for (const char *c = arg; *c != '\0'; c++)
			tdm_buf_putc(out, *c == '|' ? ' ' : *c);
		tdm_buf_puts(out, "' \"$cur\"");
	} else if (strcmp(arg, "CARD") == 0) {
		tdm_buf_puts(out, "_tidemark_words '");
		put_words(out, tdm_card_names);
		tdm_buf_puts(out, "' \"$cur\"");
	} else if (strcmp(arg, "DIR") == 0) {
		tdm_buf_puts(out, "_tidemark_files \"$cur\" -d");
	} else if (strstr(arg, "FILE") != NULL) {
		tdm_buf_puts(out, "_tidemark_files \"$cur\"");
	} else {
		tdm_buf_puts(out, "COMPREPLY=()"); /* free text: nothing to offer */
	}
}

static void put_values(struct tdm_buf *out, const struct tdm_cmd *cmd)
{
	tdm_buf_puts(out, "\t\tcase $option in\n");
	for (const struct tdm_opt *opt = NULL; (opt = tdm_opt_next(cmd, opt)) != NULL;) {
		if (opt->arg == NULL)
			continue;
		tdm_buf_printf(out, "\t\t--%s", opt->name);
		if (opt->letter != '\0')
			tdm_buf_printf(out, " | -%c", opt->letter);
		tdm_buf_puts(out, ")\n\t\t\t");
		put_value_action(out, opt->arg);
		tdm_buf_puts(out, "\n\t\t\treturn\n\t\t\t;;\n");
	}
	tdm_buf_puts(out, "\t\tesac\n");
}

static void put_positional(struct tdm_buf *out, const char *variable, const char *const *words)
{
	if (words == NULL)
		return;
	tdm_buf_printf(out, "\t\t%s='", variable);
	put_words(out, words);
	tdm_buf_puts(out, "'\n");
}

static void put_command(struct tdm_buf *out, const struct tdm_cmd *cmd)
{
	static const char *const none[] = { " ", NULL }; /* keeps bash from offering files */
	tdm_buf_printf(out, "\t%s", cmd->name);
	if (cmd->alias != NULL)
		tdm_buf_printf(out, " | %s", cmd->alias);
	tdm_buf_puts(out, ")\n");
	put_option_lists(out, cmd);
	put_positional(out, "words", cmd->only_options ? none : cmd->words);
	put_positional(out, "names", cmd->names);
	put_values(out, cmd);
	tdm_buf_puts(out, "\t\t;;\n");
}

/* A program of its own is completed as if it were a command. */
static void put_program(struct tdm_buf *out, const char *name)
{
	tdm_buf_printf(out,
		"\n_%s()\n{\n\tCOMP_WORDS=(tidemark \"${COMP_WORDS[@]}\")\n\t((COMP_CWORD += 1))\n\t_tidemark\n}\n",
		name);
	tdm_buf_printf(out, "complete -F _%s %s\n", name, name);
}

void tdm_completion_bash(struct tdm_buf *out, const struct tdm_cmd *program)
{
	tdm_buf_puts(out, script_head);
	tdm_buf_puts(out, "\t\t_tidemark_words '");
	put_command_names(out);
	tdm_buf_puts(out, " help --help --version' \"$cur\"\n");
	tdm_buf_puts(out, script_middle);
	tdm_buf_puts(out, "\thelp)\n\t\twords='");
	put_command_names(out);
	tdm_buf_puts(out, "'\n\t\t;;\n");
	for (size_t i = 0; tdm_cmds[i] != NULL; i++)
		put_command(out, tdm_cmds[i]);
	if (program != NULL)
		put_command(out, program);
	tdm_buf_puts(out, script_tail);
	if (program != NULL)
		put_program(out, program->name);
}
