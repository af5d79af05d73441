/*
 * The subcommands: one file each, listed in one table (cmd_table.c). Help, man pages and completion are generated from
 * these entries, so that they cannot differ from what the command does.
 */
#ifndef TDM_CLI_CMD_H
#define TDM_CLI_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum {
	TDM_EXIT_OK = 0,
	TDM_EXIT_FINDING = 1, /* a finding that the user asked to fail on */
	TDM_EXIT_USAGE = 2,   /* wrong usage or unreadable input */
};

struct tdm_opt {
	const char *name; /* "output": --output */
	char letter;      /* 'o': -o; 0: none */
	const char *arg;  /* "FILE": takes a value; NULL: a flag. Completion knows FILE, DIR, CARD and "this|that" */
	const char *help; /* one sentence without a full stop */
};

struct tdm_example {
	const char *command; /* "tidemark device show n150" */
	const char *what;    /* what it is for */
};

struct tdm_help_row {
	const char *term, *text; /* the table ends with a NULL term */
};

struct tdm_args;

struct tdm_cmd {
	const char *name;
	const char *alias;   /* NULL: none */
	const char *summary; /* one line, for `tidemark --help` and the head of the man page */
	const char *usage;   /* what follows the name: "[--json] NAME"; a line for each form */
	/* Paragraphs with an empty line between them; one that begins with a blank keeps its lines. */
	const char *description;
	const struct tdm_opt *opts;         /* ends with a NULL name; --help is added to every command */
	const struct tdm_example *examples; /* ends with a NULL command */
	const struct tdm_help_row *exits;   /* its exit codes; NULL: those of most commands */
	/* Completion of positional arguments: words for the first, names for the others; without both, files. */
	const char *const *words;          /* "list", "show", NULL; may be NULL */
	const char *(*complete)(size_t i); /* e.g. card names; NULL at the end; may be NULL */
	int (*run)(struct tdm_args *args); /* the exit code */
};

extern const struct tdm_cmd *const tdm_cmds[]; /* ends with NULL; the order is that of the help */

/* -h, --help: every command has it, and tdm_cli_main answers it before the command runs. */
extern const struct tdm_opt tdm_opt_help;

/* The arguments of one command, behind its name. To begin, set cmd, argc and argv and leave the rest zero. */
struct tdm_args {
	const struct tdm_cmd *cmd;
	int argc;
	char **argv;          /* argv[0] is the command's name; the parser changes the order of the rest */
	int at;               /* the parser's own: the next word */
	int letter_at;        /* and the next letter in it; 0: not inside a cluster of letters */
	int positional_count; /* known once tdm_args_next has returned TDM_ARGS_END */
	char **positional;    /* borrowed from argv, in their order */
};

enum { TDM_ARGS_END = -1, TDM_ARGS_ERROR = -2 };

/*
 * The next option, as an index into cmd->opts, with *value set when it takes one (else NULL); TDM_ARGS_END behind the
 * last; TDM_ARGS_ERROR after an unknown option or a missing value, which has been reported on standard error: return
 * TDM_EXIT_USAGE then. Options and positional arguments may be mixed; "--" ends the options; "-" is positional;
 * "--name=value", "--name value", "-nvalue" and "-n value" are the same; flags may be clustered ("-ab"); an unambiguous
 * beginning of a long name is enough, and "-" and "_" in it are the same.
 */
int tdm_args_next(struct tdm_args *args, const char **value);

/* Gives every option to `take`, until one returns an exit code that is not 0. That code, TDM_EXIT_USAGE after an error
 * of tdm_args_next, or 0. */
int tdm_args_each(struct tdm_args *args, int (*take)(void *request, int option, const char *value), void *request);

/* The same for commands that take nothing but options. */
int tdm_args_only_options(
	struct tdm_args *args, int (*take)(void *request, int option, const char *value), void *request);

/* Whether --help or -h is among the options. Changes nothing. */
bool tdm_args_asks_help(const struct tdm_args *args);

/* Prints "tidemark NAME: text" and a hint at --help on standard error. Returns TDM_EXIT_USAGE. */
int tdm_cmd_usage_error(const struct tdm_cmd *cmd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "tidemark NAME: text" on standard error. Returns TDM_EXIT_USAGE. */
int tdm_cmd_error(const struct tdm_cmd *cmd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a text to standard output. Returns `code`, or TDM_EXIT_USAGE with a message when making it ran out of memory
 * or it cannot be written; that the reader has left is no error. */
/* The outlet of a text that is printed while it is made. */
int tdm_cmd_write(const char *data, size_t len);
int tdm_cmd_print(const struct tdm_cmd *cmd, const struct tdm_buf *out, int code);

const struct tdm_cmd *tdm_cmd_find(const char *name); /* by name or alias; NULL when unknown */

/* All of main: finds the command, answers --help and --version, runs it, reports that output could not be written. */
int tdm_cli_main(int argc, char **argv);

#endif
