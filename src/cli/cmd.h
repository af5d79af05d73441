/*
 * The subcommands: one file each, listed in one table (cmd_table.c). Help, man pages and completion are generated from
 * these entries, so that they cannot differ from what the command does.
 */
#ifndef TDM_CLI_CMD_H
#define TDM_CLI_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/term.h"

enum {
	TDM_EXIT_OK = 0,
	TDM_EXIT_FINDING = 1, /* a finding that the user asked to fail on */
	TDM_EXIT_USAGE = 2,   /* wrong usage or unreadable input */
};

struct tdm_cmd;
struct tdm_opt;

/* Reads the value of an option into `to`, its place in the command's request. 0, or an exit code after a message. */
typedef int tdm_take(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to);

/* options.h has the usual `take` functions, each with a macro that also checks the type of the place. */
struct tdm_opt {
	const char *name;  /* "output": --output */
	char letter;       /* 'o': -o; 0: none */
	const char *arg;   /* "FILE": takes a value; NULL: a flag. Completion knows FILE, DIR, CARD and "this|that" */
	const char *help;  /* one sentence without a full stop */
	tdm_take *take;    /* stores it */
	size_t offset;     /* of its place in the request */
	uint64_t min, max; /* of a number; max 0: any */
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
	bool only_options;                  /* takes no positional arguments */
	/* Completion of positional arguments: words for the first, names for the others; without both, files. */
	const char *const *words, *const *names; /* each ends with NULL, and may be NULL */
	int (*run)(struct tdm_args *args);       /* the exit code */
};

extern const struct tdm_cmd *const tdm_cmds[]; /* ends with NULL; the order is that of the help */

/* -h, --help: every command has it, and tdm_cli_main answers it before the command runs. */
extern const struct tdm_opt tdm_opt_help;

/* The option after `opt`, of NULL the first: those of the command, then --help, then NULL. */
const struct tdm_opt *tdm_opt_next(const struct tdm_cmd *cmd, const struct tdm_opt *opt);

/* The arguments of one command, after its name. To begin, set cmd, argc and argv and leave the rest zero. */
struct tdm_args {
	const struct tdm_cmd *cmd;
	int argc;
	char **argv;          /* as main has it: argv[0] is a name, argv[argc] is NULL; the parser changes the order */
	int at;               /* the parser's own: the next word */
	int letter_at;        /* and the next letter in it; 0: not inside a cluster of letters */
	int positional_count; /* these two are set by tdm_args_read */
	char **positional;    /* borrowed from argv, in their order; ends with NULL */
};

/*
 * Stores every option in `request`, the structure that the table's offsets are of. 0, or an exit code after a message.
 * Options and positional arguments may be mixed; "--" ends the options; "-" is positional; "--name=value", "--name
 * value", "-nvalue" and "-n value" are the same; flags may be clustered ("-ab"); an unambiguous beginning of a long
 * name is enough, and "-" and "_" in it are the same.
 */
int tdm_args_read(struct tdm_args *args, void *request);

/* Whether --help or -h is among the options. Changes nothing. */
bool tdm_args_asks_help(const struct tdm_args *args);

/* Prints "tidemark NAME: text" and a hint at --help on standard error. Returns TDM_EXIT_USAGE. */
int tdm_cmd_usage_error(const struct tdm_cmd *cmd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "tidemark NAME: text" on standard error. Returns TDM_EXIT_USAGE. */
int tdm_cmd_error(const struct tdm_cmd *cmd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a text to standard output. Returns `code`, or TDM_EXIT_USAGE with a message when making it ran out of memory
 * or it cannot be written; that the reader has left is no error. */
int tdm_cmd_print(const struct tdm_cmd *cmd, const struct tdm_buf *out, int code);

/* The outlet of a text that is printed while it is made. */
int tdm_cmd_write(const char *data, size_t len);

/* The terminal on standard output, less what the user does not want. */
struct tdm_term tdm_cmd_term(bool ascii, bool no_colour);

/* What a command answers: text, or JSON under the command's name in the envelope. */
struct tdm_answer {
	const struct tdm_cmd *cmd;
	struct tdm_buf out;
	struct tdm_json json; /* writes to `out` */
};

/* With `json`, the caller writes one value, or an array with its end, to answer->json next. */
void tdm_answer_begin(struct tdm_answer *answer, const struct tdm_cmd *cmd, bool json);
/* Ends the envelope, prints and frees. The exit code, as tdm_cmd_print gives it. */
int tdm_answer_end(struct tdm_answer *answer, int code);

const struct tdm_cmd *tdm_cmd_find(const char *name); /* by name or alias; NULL when unknown */

/* All of main: finds the command, answers --help and --version, runs it, reports that output could not be written. */
int tdm_cli_main(int argc, char **argv);

#endif
