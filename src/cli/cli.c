/*
 * The command line before a command takes over: tidemark NAME ARGUMENTS. Messages from this file begin with "tidemark:
 * ", those of a command with "tidemark NAME: ".
 */
#include "cli/options/cmd.h"
#include "base/names.h"

#include <stdio.h>
#include <unistd.h>

const struct tdm_cmd *tdm_cmd_find(const char *name)
{
	for (size_t i = 0; tdm_cmds[i] != NULL; i++)
		if (strcmp(tdm_cmds[i]->name, name) == 0 ||
			(tdm_cmds[i]->alias != NULL && strcmp(tdm_cmds[i]->alias, name) == 0))
			return tdm_cmds[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *what = name[0] == '-' ? "option" : "command";
	struct tdm_suggest suggest;
	tdm_suggest_init(&suggest, tdm_str_of(name));
	for (size_t i = 0; tdm_cmds[i] != NULL; i++) {
		tdm_suggest_offer(&suggest, tdm_cmds[i]->name);
		tdm_suggest_offer(&suggest, tdm_cmds[i]->alias);
	}
	tdm_suggest_offer(&suggest, "help");
	tdm_suggest_offer(&suggest, "--help");
	tdm_suggest_offer(&suggest, "--version");
	if (suggest.best != NULL)
		tdm_cmd_say("tidemark: unknown %s '%s'; did you mean '%s'?", what, name, suggest.best);
	else
		tdm_cmd_say("tidemark: unknown %s '%s'; 'tidemark --help' lists the commands", what, name);
	return TDM_EXIT_USAGE;
}

static int print_general_help(void)
{
	struct tdm_buf text = { 0 };
	tdm_help_general(&text, tdm_cmds, tdm_term_width(STDOUT_FILENO));
	fwrite(tdm_buf_str(&text).ptr, 1, text.len, stdout);
	tdm_buf_done(&text);
	return TDM_EXIT_OK;
}

static int print_short_help(void)
{
	struct tdm_buf text = { 0 };
	tdm_help_short(&text, tdm_cmds, tdm_term_width(STDERR_FILENO));
	fwrite(tdm_buf_str(&text).ptr, 1, text.len, stderr);
	tdm_buf_done(&text);
	return TDM_EXIT_USAGE;
}

/* `tidemark help [COMMAND]`. Further words have no help and are ignored. */
static int run_help(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	if (name == NULL || strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return print_general_help();
	const struct tdm_cmd *cmd = tdm_cmd_find(name);
	return cmd != NULL ? tdm_program_print_help(cmd) : unknown_command(name);
}

static int dispatch(int argc, char **argv)
{
	const char *word = argv[0];
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return print_general_help();
	if (tdm_program_is_version(word))
		return tdm_program_print_version("tidemark");
	const struct tdm_cmd *cmd = tdm_cmd_find(word);
	if (cmd != NULL)
		return tdm_program_run(cmd, argc, argv);
	return strcmp(word, "help") == 0 ? run_help(argc, argv) : unknown_command(word);
}

int tdm_cli_main(int argc, char **argv)
{
	tdm_program_begin();
	int code = argc > 1 ? dispatch(argc - 1, argv + 1) : print_short_help();
	return tdm_program_finish(code);
}
