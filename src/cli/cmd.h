/*
 * The subcommands: one file each, listed in one table (cmd_table.c). Help, man pages and completion are generated from these entries, so that
 * they cannot differ from what the command does.
 */
#ifndef TDM_CLI_CMD_H
#define TDM_CLI_CMD_H

#include <stdbool.h>
#include <stddef.h>

enum {
	TDM_EXIT_OK = 0,
	TDM_EXIT_FINDING = 1, /* a finding that the user asked to fail on */
	TDM_EXIT_USAGE = 2,   /* wrong usage or unreadable input */
};

struct tdm_opt {
	const char *name; /* "output": --output */
	char letter;      /* 'o': -o; 0: none */
	const char *arg;  /* "FILE": takes a value; NULL: a flag */
	const char *help; /* one sentence without a full stop */
};

struct tdm_example {
	const char *command; /* "tidemark device show n150" */
	const char *what;    /* what it is for */
};

struct tdm_args;

struct tdm_cmd {
	const char *name;
	const char *alias;   /* NULL: none */
	const char *summary; /* one line, for `tidemark --help` and the head of the man page */
	const char *usage;   /* what follows the name: "[--json] NAME" */
	const char *description; /* paragraphs separated by an empty line; for --help and the man page */
	const struct tdm_opt *opts; /* ends with a NULL name; --help is added to every command */
	const struct tdm_example *examples; /* ends with a NULL command */
	const char *const *words; /* for completion: first positional words, e.g. "list", "show"; NULL: file names */
	const char *(*complete)(size_t i); /* further words, e.g. card names; NULL at the end; may be NULL */
	int (*run)(struct tdm_args *args); /* the exit code */
};

extern const struct tdm_cmd *const tdm_cmds[]; /* ends with NULL; the order is that of the help */

/* The arguments of one command, behind its name. */
struct tdm_args {
	const struct tdm_cmd *cmd;
	int argc;
	char **argv; /* argv[0] is the command's name */
	int at;      /* the parser's own */
	int letter_at;
	int positional_count; /* known once tdm_args_next has returned -1 */
	char **positional;    /* borrowed from argv, in their order */
};

enum { TDM_ARGS_END = -1, TDM_ARGS_ERROR = -2 };

/*
 * The next option, as an index into cmd->opts, with *value set when it takes one; TDM_ARGS_END behind the last; TDM_ARGS_ERROR after an
 * unknown option or a missing value, which has been reported on standard error: return TDM_EXIT_USAGE then. Options and positional arguments
 * may be mixed; "--" ends the options; "--name=value", "--name value", "-nvalue" and "-n value" are the same; an unambiguous beginning of a
 * long name is enough.
 */
int tdm_args_next(struct tdm_args *args, const char **value);

/* Prints "tidemark NAME: text" and a hint at --help on standard error. Returns TDM_EXIT_USAGE. */
int tdm_cmd_usage_error(const struct tdm_cmd *cmd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "tidemark NAME: text" on standard error. Returns TDM_EXIT_USAGE. */
int tdm_cmd_error(const struct tdm_cmd *cmd, const char *format, ...) __attribute__((format(printf, 2, 3)));

const struct tdm_cmd *tdm_cmd_find(const char *name); /* by name or alias; NULL when unknown */

/* Everything behind main: finds the command, answers --help and --version, runs it, reports errors of writing to standard output. */
int tdm_cli_main(int argc, char **argv);

#endif
