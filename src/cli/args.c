/*
 * The parser of a command's arguments. It walks argv once, from the left, and gathers positional arguments at the front
 * as it meets them:
 *
 *     argv[0]  | positional | used up | not read yet |
 *                1            1+count   at             argc
 *
 * A place is overwritten only after it has been read, because at > positional_count. Reading a token knows nothing of
 * messages, so that the search for --help can use it as well.
 */
#include "cli/cmd.h"
#include "base/suggest.h"

const struct tdm_opt tdm_opt_help = { "help", 'h', NULL, "show this help" };

enum outcome {
	OPTION,
	HELP,
	POSITIONAL,
	REST, /* "--": what follows is positional */
	END,
	UNKNOWN,
	AMBIGUOUS,
	MISSING_VALUE,
	UNWANTED_VALUE,
};

struct token {
	enum outcome outcome;
	int idx;             /* OPTION and a wrong value: into cmd->opts */
	char *word;          /* as it stands in argv */
	struct tdm_str name; /* a long name, as far as it was typed */
	char letter;         /* or a letter; else 0 */
	const char *value;
};

static int opt_count(const struct tdm_cmd *cmd)
{
	int count = 0;
	while (cmd->opts != NULL && cmd->opts[count].name != NULL)
		count++;
	return count;
}

/* The command's options, and --help behind them. */
static const struct tdm_opt *opt_at(const struct tdm_cmd *cmd, int idx)
{
	return idx < opt_count(cmd) ? &cmd->opts[idx] : &tdm_opt_help;
}

/* Of long names, in which "-" and "_" are the same. */
static bool begins_with(const char *name, struct tdm_str start)
{
	for (size_t i = 0; i < start.len; i++) {
		char typed = start.ptr[i] == '_' ? '-' : start.ptr[i];
		if (typed != (name[i] == '_' ? '-' : name[i]))
			return false;
	}
	return true;
}

static enum outcome find_long(const struct tdm_cmd *cmd, struct tdm_str name, int *idx)
{
	int hits = 0;
	if (name.len == 0)
		return UNKNOWN;
	for (int i = 0; i <= opt_count(cmd); i++) {
		const char *candidate = opt_at(cmd, i)->name;
		if (!begins_with(candidate, name))
			continue;
		*idx = i;
		if (strlen(candidate) == name.len)
			return OPTION;
		hits++;
	}
	if (hits > 1)
		return AMBIGUOUS;
	return hits == 1 ? OPTION : UNKNOWN;
}

static enum outcome find_letter(const struct tdm_cmd *cmd, char letter, int *idx)
{
	for (int i = 0; i <= opt_count(cmd); i++) {
		if (opt_at(cmd, i)->letter != letter)
			continue;
		*idx = i;
		return OPTION;
	}
	return UNKNOWN;
}

/* The word behind the option as its value. */
static void take_value(struct tdm_args *args, struct token *token)
{
	if (args->at < args->argc)
		token->value = args->argv[args->at++];
	else
		token->outcome = MISSING_VALUE;
}

static void settle_help(const struct tdm_args *args, struct token *token)
{
	if (token->outcome == OPTION && token->idx == opt_count(args->cmd))
		token->outcome = HELP;
}

static void read_long(struct tdm_args *args, struct token *token)
{
	const char *name = token->word + 2, *equals = strchr(name, '=');
	token->name = equals != NULL ? (struct tdm_str){ name, (size_t)(equals - name) } : tdm_str_of(name);
	token->outcome = find_long(args->cmd, token->name, &token->idx);
	args->at++;
	if (token->outcome != OPTION)
		return;
	bool takes = opt_at(args->cmd, token->idx)->arg != NULL;
	if (takes && equals != NULL)
		token->value = equals + 1;
	else if (takes)
		take_value(args, token);
	else if (equals != NULL)
		token->outcome = UNWANTED_VALUE;
	settle_help(args, token);
}

/* One letter of a cluster; the rest of the word is the value of a letter that takes one. */
static void read_letter(struct tdm_args *args, struct token *token)
{
	token->letter = token->word[args->letter_at];
	const char *rest = token->word + args->letter_at + 1;
	token->outcome = find_letter(args->cmd, token->letter, &token->idx);
	bool takes = token->outcome == OPTION && opt_at(args->cmd, token->idx)->arg != NULL;
	if (takes || *rest == '\0') {
		args->at++;
		args->letter_at = 0;
	} else {
		args->letter_at++;
	}
	if (takes && *rest != '\0')
		token->value = rest;
	else if (takes)
		take_value(args, token);
	settle_help(args, token);
}

static struct token read_token(struct tdm_args *args)
{
	struct token token = { .outcome = END };
	if (args->at == 0)
		args->at = 1;
	if (args->at >= args->argc)
		return token;
	token.word = args->argv[args->at];
	if (args->letter_at == 0 && (token.word[0] != '-' || token.word[1] == '\0')) {
		token.outcome = POSITIONAL;
		args->at++;
	} else if (args->letter_at == 0 && strcmp(token.word, "--") == 0) {
		token.outcome = REST;
		args->at++;
	} else if (args->letter_at == 0 && token.word[1] == '-') {
		read_long(args, &token);
	} else {
		if (args->letter_at == 0)
			args->letter_at = 1;
		read_letter(args, &token);
	}
	return token;
}

static int report_unknown_letter(const struct tdm_cmd *cmd, const struct token *token)
{
	if (token->letter <= ' ' || token->letter > '~') /* half a character says less than the word */
		return tdm_cmd_usage_error(cmd, "unknown option in '%s'", token->word);
	if (token->word[1] == token->letter && token->word[2] == '\0')
		return tdm_cmd_usage_error(cmd, "unknown option '-%c'", token->letter);
	return tdm_cmd_usage_error(cmd, "unknown option '-%c' in '%s'", token->letter, token->word);
}

static int report_unknown(const struct tdm_cmd *cmd, const struct token *token)
{
	struct tdm_suggest suggest;
	if (token->letter != '\0')
		return report_unknown_letter(cmd, token);
	tdm_suggest_init(&suggest, token->name);
	for (int i = 0; i <= opt_count(cmd); i++)
		tdm_suggest_offer(&suggest, opt_at(cmd, i)->name);
	if (suggest.best == NULL)
		return tdm_cmd_usage_error(cmd, "unknown option '--%.*s'", TDM_STR_ARG(token->name));
	return tdm_cmd_usage_error(
		cmd, "unknown option '--%.*s'; did you mean '--%s'?", TDM_STR_ARG(token->name), suggest.best);
}

static int report_ambiguous(const struct tdm_cmd *cmd, const struct token *token)
{
	struct tdm_buf names;
	tdm_buf_init(&names);
	for (int i = 0; i <= opt_count(cmd); i++)
		if (begins_with(opt_at(cmd, i)->name, token->name))
			tdm_buf_printf(&names, "%s--%s", names.len != 0 ? ", " : "", opt_at(cmd, i)->name);
	int code = tdm_cmd_usage_error(
		cmd, "option '--%.*s' is ambiguous: %.*s", TDM_STR_ARG(token->name), TDM_STR_ARG(tdm_buf_str(&names)));
	tdm_buf_done(&names);
	return code;
}

static void report(const struct tdm_cmd *cmd, const struct token *token)
{
	const struct tdm_opt *opt = opt_at(cmd, token->idx);
	if (token->outcome == UNKNOWN)
		report_unknown(cmd, token);
	else if (token->outcome == AMBIGUOUS)
		report_ambiguous(cmd, token);
	else if (token->outcome == UNWANTED_VALUE)
		tdm_cmd_usage_error(cmd, "option '--%s' takes no value, but got one in '%s'", opt->name, token->word);
	else if (token->letter != '\0')
		tdm_cmd_usage_error(cmd, "option '-%c' needs a value: -%c %s", opt->letter, opt->letter, opt->arg);
	else
		tdm_cmd_usage_error(cmd, "option '--%s' needs a value: --%s=%s", opt->name, opt->name, opt->arg);
}

static void keep_positional(struct tdm_args *args, char *word)
{
	args->argv[1 + args->positional_count++] = word;
}

int tdm_args_next(struct tdm_args *args, const char **value)
{
	*value = NULL;
	args->positional = args->argv + 1;
	for (;;) {
		struct token token = read_token(args);
		switch (token.outcome) {
		case OPTION:
			*value = token.value;
			return token.idx;
		case POSITIONAL:
			keep_positional(args, token.word);
			break;
		case REST:
			while (args->at < args->argc)
				keep_positional(args, args->argv[args->at++]);
			break;
		case HELP: /* tdm_cli_main has answered it */
			break;
		case END:
			return TDM_ARGS_END;
		default:
			report(args->cmd, &token);
			return TDM_ARGS_ERROR;
		}
	}
}

bool tdm_args_asks_help(const struct tdm_args *args)
{
	struct tdm_args copy = *args;
	for (;;) {
		struct token token = read_token(&copy);
		if (token.outcome == HELP)
			return true;
		if (token.outcome == END || token.outcome == REST)
			return false;
	}
}

int tdm_args_each(struct tdm_args *args, int (*take)(void *request, int option, const char *value), void *request)
{
	const char *value = NULL;
	int option, code = 0;
	while (code == 0 && (option = tdm_args_next(args, &value)) != TDM_ARGS_END)
		code = option == TDM_ARGS_ERROR ? TDM_EXIT_USAGE : take(request, option, value);
	return code;
}

int tdm_args_only_options(
	struct tdm_args *args, int (*take)(void *request, int option, const char *value), void *request)
{
	int code = tdm_args_each(args, take, request);
	if (code == 0 && args->positional_count != 0)
		return tdm_cmd_usage_error(args->cmd, "unexpected argument '%s'", args->positional[0]);
	return code;
}
