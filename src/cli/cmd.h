/*
 * The subcommands: one file each, listed in one table (cmd_table.c). Help, man pages and completion are generated from
 * these entries, so they always match the command.
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
	TDM_EXIT_FINDING = 1, /* a finding on which the user asked to fail */
	TDM_EXIT_USAGE = 2,   /* wrong usage or unreadable input */
};

struct tdm_cmd;
struct tdm_opt;

/* Stores the value of an option in `to`, a member of the command's request. 0, or an exit code after a message. */
typedef int tdm_take(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to);

/* options.h has the usual `take` functions, each with a macro that also checks the member's type. */
struct tdm_opt {
	const char *name; /* "output": --output */
	char letter;      /* 'o': -o; 0: none */
	const char
		*arg; /* "FILE": takes a value; NULL: a flag. Completion understands FILE, DIR, CARD and "this|that" */
	const char *help;  /* one sentence without a full stop */
	tdm_take *take;    /* stores the value */
	size_t offset;     /* of its member in the request */
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
	const char *usage;   /* what follows the command's name: "[--json] NAME"; one line per form */
	/* Paragraphs, separated by empty lines. A paragraph that begins with a space keeps its line breaks. */
	const char *description;
	const struct tdm_opt *opts;         /* ends with a NULL name; --help is added to every command */
	const struct tdm_example *examples; /* ends with a NULL command */
	const struct tdm_help_row *exits;   /* its exit codes; NULL: the usual ones */
	bool only_options;                  /* takes no positional arguments */
	bool is_program;                    /* a program of its own, not a command of tidemark */
	/* Completion of positional arguments: `words` for the first, `names` for the others; files if both are NULL. */
	const char *const *words, *const *names; /* each ends with NULL; may be NULL */
	int (*run)(struct tdm_args *args);       /* the exit code */
};

/* What comes before its name. */
static inline const char *tdm_cmd_lead(const struct tdm_cmd *cmd)
{
	return cmd->is_program ? "" : "tidemark ";
}

extern const struct tdm_cmd *const tdm_cmds[]; /* ends with NULL; in the order of the help */

/* -h, --help: part of every command; tdm_cli_main answers it before the command runs. */
extern const struct tdm_opt tdm_opt_help;

/* The option after `opt`, or the first one for NULL: those of the command, then --help, then NULL. */
const struct tdm_opt *tdm_opt_next(const struct tdm_cmd *cmd, const struct tdm_opt *opt);

/* The arguments of a command, after its name. Set cmd, argc and argv, and leave the rest zero. */
struct tdm_args {
	const struct tdm_cmd *cmd;
	int argc;
	char **argv;          /* as in main(): argv[0] is a name, argv[argc] is NULL; the parser reorders it */
	int at;               /* used by the parser: the next word */
	int letter_at;        /* and the next letter in it; 0: not in a cluster of letters */
	int positional_count; /* set by tdm_args_read, like `positional` */
	char **positional;    /* borrowed from argv, in order; ends with NULL */
};

/*
 * Stores every option in `request`, the structure to which the table's offsets belong. 0, or an exit code after a
 * message. Options and positional arguments may be mixed; "--" ends the options; "-" is positional; "--name=value",
 * "--name value", "-nvalue" and "-n value" are the same; flags may be clustered ("-ab"). Long names may be abbreviated
 * if unambiguous, and "-" and "_" in them are the same.
 */
int tdm_args_read(struct tdm_args *args, void *request);

/* Whether --help or -h is among the options. Changes nothing. */
bool tdm_args_asks_help(const struct tdm_args *args);

/* Prints "tidemark NAME: text" and a reference to --help on standard error. Returns TDM_EXIT_USAGE. */
int tdm_cmd_usage_error(const struct tdm_cmd *cmd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a line on standard error. It may have names of any bytes: control characters and invalid UTF-8 become '?'. */
void tdm_cmd_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "tidemark NAME: text" on standard error. Returns TDM_EXIT_USAGE. */
int tdm_cmd_error(const struct tdm_cmd *cmd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a text to standard output. Returns `code`, or TDM_EXIT_USAGE with a message if making the text ran out of
 * memory or it cannot be written. A reader that has left is not an error. */
int tdm_cmd_print(const struct tdm_cmd *cmd, const struct tdm_buf *out, int code);

/* Writes a piece of a text that is printed while it is made. */
int tdm_cmd_write(const char *data, size_t len);

/* The terminal on standard output, without what the user does not want. */
struct tdm_term tdm_cmd_term(bool ascii, bool no_colour);

/* The answer of a command: text, or JSON under the command's name in the envelope. */
struct tdm_answer {
	const struct tdm_cmd *cmd;
	struct tdm_buf out;
	struct tdm_json json; /* writes to `out` */
};

/* With `json`, the caller next writes one value, or a whole array, to answer->json. */
void tdm_answer_begin(struct tdm_answer *answer, const struct tdm_cmd *cmd, bool json);
/* Ends the envelope, prints the answer and frees it. Returns the exit code, like tdm_cmd_print. */
int tdm_answer_end(struct tdm_answer *answer, int code);

const struct tdm_cmd *tdm_cmd_find(const char *name); /* by name or alias; NULL if unknown */

/* All of main(): answers --help and --version, finds and runs the command, reports output that could not be written. */
int tdm_cli_main(int argc, char **argv);

/* The same for a program of its own, whose options come right after its name. */
int tdm_program_main(const struct tdm_cmd *cmd, int argc, char **argv);

#endif
