/*
 * The subcommands: one file each, listed in one table (cmd_table.c). Help, man pages and completion are generated from
 * these entries, so they always match the commands.
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
	TDM_EXIT_FINDING = 1, /* there is a finding that the user asked to treat as a failure */
	TDM_EXIT_USAGE = 2,   /* wrong usage or unreadable input */
};

struct tdm_cmd;
struct tdm_result;
struct tdm_opt;

/* Stores the value of an option in `to`, a member of the command's request. 0, or an exit code after a message. */
typedef int tdm_take(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to);

/* options.h defines the usual `take` functions, each with a macro that also checks the member's type. */
struct tdm_opt {
	const char *name; /* "output": --output */
	char letter;      /* 'o' for -o; 0 if there is none */
	/* "FILE" if the option takes a value; NULL for a flag. Completion understands FILE, DIR, CARD and "this|that"
	 * */
	const char *arg;
	const char *help;  /* one sentence without a full stop */
	tdm_take *take;    /* stores the value */
	size_t offset;     /* offset of the member in the request */
	uint64_t min, max; /* range of a number; a `max` of 0 means no limit */
};

/* A term and its explanation. In an example, the term is a command, "tidemark device show n150", and the text is its
 * purpose. */
struct tdm_help_row {
	const char *term, *text; /* the table ends with a NULL term */
};

struct tdm_args;

struct tdm_cmd {
	const char *name;
	const char *alias;   /* another name, or NULL */
	const char *summary; /* one line, for `tidemark --help` and the head of the man page */
	const char *usage;   /* usage after the command's name: "[--json] NAME"; one line per form */
	/* Paragraphs separated by empty lines. A paragraph that begins with a space keeps its line breaks. */
	const char *description;
	const struct tdm_opt *opts;          /* ends with a NULL name; --help is added to every command */
	const struct tdm_help_row *examples; /* ends with a NULL term */
	const struct tdm_help_row *exits;    /* exit codes, or NULL for the usual ones */
	bool only_options;                   /* takes no positional arguments */
	bool is_program;                     /* a separate program, not a command of tidemark */
	/* Completion of positional arguments: `words` for the first one, `names` for all others; files if both are
	 * NULL. */
	const char *const *words, *const *names; /* both end with NULL; may be NULL */
	int (*run)(struct tdm_args *args);       /* returns the exit code */
};

/* The words that precede the command's name in messages. */
static inline const char *tdm_cmd_lead(const struct tdm_cmd *cmd)
{
	return cmd->is_program ? "" : "tidemark ";
}

extern const struct tdm_cmd *const tdm_cmds[]; /* in the order of the help; ends with NULL */

/* Write the usage and the commands in a list that ends with NULL, and `tidemark --help`. The caller passes the list, so
 * that a program with one command does not link all others. */
void tdm_help_short(struct tdm_buf *out, const struct tdm_cmd *const *cmds, size_t width);
void tdm_help_general(struct tdm_buf *out, const struct tdm_cmd *const *cmds, size_t width);
void tdm_help_command(struct tdm_buf *out, const struct tdm_cmd *cmd, size_t width);

/* -h, --help: part of every command; tdm_cli_main answers it before the command runs. */
extern const struct tdm_opt tdm_opt_help;

/* The option after `opt`, or the first one if `opt` is NULL: the command's options, then --help, then NULL. */
const struct tdm_opt *tdm_opt_next(const struct tdm_cmd *cmd, const struct tdm_opt *opt);

/* The arguments of a command, after its name. Set cmd, argc and argv, and leave the rest zero. */
struct tdm_args {
	const struct tdm_cmd *cmd;
	int argc;
	char **argv;          /* as in main(): argv[0] is a name, argv[argc] is NULL; the parser reorders it */
	int at;               /* private to the parser: the next word */
	int letter_at;        /* and the next letter in that word; 0 outside a cluster of letters */
	int positional_count; /* set by tdm_args_read(), as is `positional` */
	char **positional;    /* borrowed from argv, in their order; ends with NULL */
};

/*
 * Stores every option in `request`, the structure to which the table's offsets refer. 0, or an exit code after a
 * message. Options and positional arguments may be mixed; "--" ends the options; "-" is positional; "--name=value",
 * "--name value", "-nvalue" and "-n value" are the same; flags may be clustered ("-ab"). Long names may be abbreviated
 * if unambiguous; "-" and "_" in them are equal.
 */
int tdm_args_read(struct tdm_args *args, void *request);

/* Whether --help or -h is among the options. Has no side effects. */
bool tdm_args_asks_help(const struct tdm_args *args);

/* Prints "tidemark NAME: text" and a reference to --help on standard error. Returns TDM_EXIT_USAGE. */
int tdm_cmd_usage_error(const struct tdm_cmd *cmd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Prints a line on standard error. Names in the line may contain any bytes: control characters and invalid UTF-8 become
 * '?'.
 */
void tdm_cmd_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a message about an input on standard error, for struct tdm_intake; ignores `hearer`. */
struct tdm_diag;
void tdm_cmd_say_diag(void *hearer, const struct tdm_diag *diag);

/* Prints "tidemark NAME: text" on standard error. Returns TDM_EXIT_USAGE. */
int tdm_cmd_error(const struct tdm_cmd *cmd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes text to standard output. Returns `code`, or TDM_EXIT_USAGE with a message if the text cannot be written. It is
 * not an error if the reader has gone. */
int tdm_cmd_print(const struct tdm_cmd *cmd, const struct tdm_buf *out, int code);

/* Writes output incrementally. */
int tdm_cmd_write(const char *data, size_t len);

/* The terminal on standard output, restricted as the user requested. */
struct tdm_term tdm_cmd_term(bool ascii, bool no_colour);

/* A command's answer: text, or JSON under the command's name in the envelope. */
struct tdm_answer {
	const struct tdm_cmd *cmd;
	struct tdm_buf out;
	struct tdm_json json; /* writes to `out` */
};

/* If `json` is set, the caller must next write one value, such as a whole array, to answer->json. */
void tdm_answer_begin(struct tdm_answer *answer, const struct tdm_cmd *cmd, bool json);
/* Adds a result, as text or JSON. */
void tdm_answer_put(struct tdm_answer *answer, const struct tdm_result *result, bool json, const struct tdm_term *term);
/* Ends the envelope, for a caller that does not print the answer. */
void tdm_answer_close(struct tdm_answer *answer);
/* Ends the envelope, prints the answer and frees it. Returns the exit code, like tdm_cmd_print(). */
int tdm_answer_end(struct tdm_answer *answer, int code);

/* Prints a command's result as text or JSON. Returns the exit code, like tdm_cmd_print(). */
int tdm_cmd_show(
	const struct tdm_cmd *cmd, const struct tdm_result *result, bool json, const struct tdm_term *term, int code);

const struct tdm_cmd *tdm_cmd_find(const char *name); /* finds a command by name or alias; NULL if unknown */

/* Parts of main(). Begin and finish surround the command; finish takes the command's exit code and changes it if output
 * was lost. The others handle --help and --version. */
void tdm_program_begin(void);
int tdm_program_run(const struct tdm_cmd *cmd, int argc, char **argv);
int tdm_program_print_help(const struct tdm_cmd *cmd);
bool tdm_program_is_version(const char *word);
int tdm_program_print_version(const char *name);
int tdm_program_finish(int code);

/* The whole of main() for `tidemark`: handles --help and --version, finds and runs the command, and reports output that
 * could not be written. */
int tdm_cli_main(int argc, char **argv);

/* The same, but for a separate program, whose options directly follow its name. */
int tdm_program_main(const struct tdm_cmd *cmd, int argc, char **argv);

#endif
