/*
 * The parser of a command's arguments. It walks argv once, from the left, and moves positional arguments to the front
 * as they are found:
 *
 *     argv[0]  | positional | used up | not read yet |
 *                1            1+count   at             argc
 *
 * A place is overwritten only after it has been read, because at > positional_count. Reading a token prints no
 * messages, so the search for --help can also read tokens.
 */
#include "cli/options/cmd.h"
#include "base/names.h"

const struct tdm_opt tdm_opt_help = { .name = "help", .letter = 'h', .help = "show this help" };

enum outcome {
	OPTION,
	POSITIONAL,
	REST, /* "--": the rest is positional */
	END,
	UNKNOWN,
	AMBIGUOUS,
	MISSING_VALUE,
	UNWANTED_VALUE,
};

struct token {
	enum outcome outcome;
	const struct tdm_opt *opt; /* OPTION, or a wrong value: the option */
	char *word;                /* the word from argv */
	struct tdm_str name;       /* a long name, as typed */
	char letter;               /* a short option's letter; 0 otherwise */
	const char *value;
};

const struct tdm_opt *tdm_opt_next(const struct tdm_cmd *cmd, const struct tdm_opt *opt)
{
	if (opt == &tdm_opt_help)
		return NULL;
	opt = opt != NULL ? opt + 1 : cmd->opts;
	return opt != NULL && opt->name != NULL ? opt : &tdm_opt_help;
}

/* Compares long option names; "-" and "_" are equal. */
static bool begins_with(const char *name, struct tdm_str start)
{
	for (size_t i = 0; i < start.len; i++) {
		char typed = start.ptr[i] == '_' ? '-' : start.ptr[i];
		if (typed != (name[i] == '_' ? '-' : name[i]))
			return false;
	}
	return true;
}

static enum outcome find_long(const struct tdm_cmd *cmd, struct tdm_str name, const struct tdm_opt **found)
{
	int hits = 0;
	if (name.len == 0)
		return UNKNOWN;
	for (const struct tdm_opt *opt = NULL; (opt = tdm_opt_next(cmd, opt)) != NULL;) {
		if (!begins_with(opt->name, name))
			continue;
		*found = opt;
		if (strlen(opt->name) == name.len)
			return OPTION;
		hits++;
	}
	if (hits > 1)
		return AMBIGUOUS;
	return hits == 1 ? OPTION : UNKNOWN;
}

/* Takes the next word as the option's value. */
static void take_value(struct tdm_args *args, struct token *token)
{
	if (args->at < args->argc)
		token->value = args->argv[args->at++];
	else
		token->outcome = MISSING_VALUE;
}

static void read_long(struct tdm_args *args, struct token *token)
{
	const char *name = token->word + 2, *equals = strchr(name, '=');
	token->name = equals != NULL ? (struct tdm_str){ name, (size_t)(equals - name) } : tdm_str_of(name);
	token->outcome = find_long(args->cmd, token->name, &token->opt);
	args->at++;
	if (token->outcome != OPTION)
		return;
	bool takes = token->opt->arg != NULL;
	if (takes && equals != NULL)
		token->value = equals + 1;
	else if (takes)
		take_value(args, token);
	else if (equals != NULL)
		token->outcome = UNWANTED_VALUE;
}

/* Reads one letter in a cluster of short options. If the option takes a value, the value is the rest of the word. */
static void read_letter(struct tdm_args *args, struct token *token)
{
	token->letter = token->word[args->letter_at];
	const char *rest = token->word + args->letter_at + 1;
	token->outcome = UNKNOWN;
	while (token->outcome == UNKNOWN && (token->opt = tdm_opt_next(args->cmd, token->opt)) != NULL)
		token->outcome = token->opt->letter == token->letter ? OPTION : UNKNOWN;
	bool takes = token->outcome == OPTION && token->opt->arg != NULL;
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

/* Reports what is wrong with a token. */
static int report(const struct tdm_cmd *cmd, const struct token *token)
{
	const struct tdm_opt *opt = token->opt;
	if (token->outcome == UNKNOWN && token->letter != '\0') {
		/* If a letter is part of a UTF-8 character, the whole word is shown. */
		if (token->letter <= ' ' || token->letter > '~')
			return tdm_cmd_usage_error(cmd, "unknown option in '%s'", token->word);
		bool is_alone = token->word[1] == token->letter && token->word[2] == '\0';
		return tdm_cmd_usage_error(cmd, "unknown option '-%c'%s%s%s", token->letter, is_alone ? "" : " in '",
			is_alone ? "" : token->word, is_alone ? "" : "'");
	}
	if (token->outcome == UNKNOWN) {
		struct tdm_suggest suggest;
		tdm_suggest_init(&suggest, token->name);
		for (opt = NULL; (opt = tdm_opt_next(cmd, opt)) != NULL;)
			tdm_suggest_offer(&suggest, opt->name);
		bool is_close = suggest.best != NULL;
		return tdm_cmd_usage_error(cmd, "unknown option '--%.*s'%s%s%s", TDM_STR_ARG(token->name),
			is_close ? "; did you mean '--" : "", is_close ? suggest.best : "", is_close ? "'?" : "");
	}
	if (token->outcome == AMBIGUOUS) {
		struct tdm_buf names = { 0 };
		for (opt = NULL; (opt = tdm_opt_next(cmd, opt)) != NULL;)
			if (begins_with(opt->name, token->name))
				tdm_buf_printf(&names, "%s--%s", names.len != 0 ? ", " : "", opt->name);
		int code = tdm_cmd_usage_error(
			cmd, "option '--%.*s' is ambiguous: %s", TDM_STR_ARG(token->name), names.data);
		tdm_buf_done(&names);
		return code;
	}
	if (token->outcome == UNWANTED_VALUE)
		return tdm_cmd_usage_error(
			cmd, "option '--%s' takes no value, but got one in '%s'", opt->name, token->word);
	if (token->letter != '\0')
		return tdm_cmd_usage_error(
			cmd, "option '-%c' needs a value: -%c %s", opt->letter, opt->letter, opt->arg);
	return tdm_cmd_usage_error(cmd, "option '--%s' needs a value: --%s=%s", opt->name, opt->name, opt->arg);
}

/* 0, or an exit code after a message. */
static int apply(struct tdm_args *args, const struct token *token, char *request)
{
	switch (token->outcome) {
	case OPTION:
		if (token->opt == &tdm_opt_help) /* handled by tdm_cli_main */
			return 0;
		return token->opt->take(args->cmd, token->opt, token->value, request + token->opt->offset);
	case POSITIONAL:
		args->argv[1 + args->positional_count++] = token->word;
		return 0;
	case REST:
		while (args->at < args->argc)
			args->argv[1 + args->positional_count++] = args->argv[args->at++];
		return 0;
	default:
		return report(args->cmd, token);
	}
}

int tdm_args_read(struct tdm_args *args, void *request)
{
	int code = 0;
	args->positional = args->argv + 1;
	for (struct token token; code == 0 && (token = read_token(args)).outcome != END;)
		code = apply(args, &token, request);
	args->positional[args->positional_count] = NULL;
	if (code == 0 && args->cmd->only_options && args->positional_count != 0)
		return tdm_cmd_usage_error(args->cmd, "unexpected argument '%s'", args->positional[0]);
	return code;
}

bool tdm_args_asks_help(const struct tdm_args *args)
{
	struct tdm_args copy = *args;
	for (;;) {
		struct token token = read_token(&copy);
		if (token.outcome == OPTION && token.opt == &tdm_opt_help)
			return true;
		if (token.outcome == END || token.outcome == REST)
			return false;
	}
}
