/*
 * Which names of a file matter: those of buffers and kernels, of functions of the project that may be helpers where
 * they are called, and of lambdas. Statements without any of them are not evaluated.
 */
#include "scan/host_parts.h"

#include "base/reserve.h"
#include "scan/place.h"

/* Whether a function of the project that may be a helper has that name. */
static bool is_helper_name(const struct host *host, struct tdm_str name)
{
	struct tdm_project *project = host->walk->project;
	for (struct tdm_definition *d = project != NULL ? tdm_project_find(project, name) : NULL; d != NULL;
		d = tdm_definition_next(d))
		if (d->kind == TDM_DEFINES_FUNCTION)
			return true;
	return false;
}

/* Names of lambdas, name = [, as hashes. */
struct lambda_names {
	uint64_t hashes[128];
	size_t count;
};

static bool is_lambda(const struct lambda_names *names, struct tdm_str name)
{
	uint64_t hash = names->count != 0 ? tdm_str_hash(name) : 0;
	for (size_t i = 0; i < names->count; i++)
		if (names->hashes[i] == hash)
			return true;
	return false;
}

static int add_hot(uint32_t **hot, size_t *cap, size_t *count, uint32_t byte)
{
	int err = tdm_reserve(hot, cap, *count + 1, sizeof **hot);
	if (err == 0)
		(*hot)[(*count)++] = byte;
	return err;
}

static bool is_mark_at(const struct tdm_tokens *tokens, size_t i, char mark)
{
	return i < tokens->count && tokens->list[i].kind == TDM_TOKEN_MARK && tokens->list[i].mark == mark;
}

int host_find_hot(struct host *host, uint32_t **hot, size_t *count)
{
	const struct tdm_tokens *tokens = host->walk->tokens;
	struct lambda_names lambdas = { .count = 0 };
	size_t cap = 0;
	int err = 0;
	for (size_t i = 0; i < tokens->count && err == 0; i++) {
		const struct tdm_token *token = &tokens->list[i];
		if (token->kind != TDM_TOKEN_NAME)
			continue;
		bool is_known = token->sense == TDM_SENSE_TYPE || token->sense == TDM_SENSE_HELPER ||
				token->sense == TDM_SENSE_KERNEL;
		bool is_called = is_mark_at(tokens, i + 1, '(') || is_mark_at(tokens, i + 1, '<');
		struct tdm_str text = tdm_tokens_text(tokens, i);
		if (is_known || (is_called && (is_lambda(&lambdas, text) || is_helper_name(host, text))))
			err = add_hot(hot, &cap, count, token->start);
		bool names_lambda = is_mark_at(tokens, i + 1, '=') && is_mark_at(tokens, i + 2, '[');
		if (names_lambda && lambdas.count < sizeof lambdas.hashes / sizeof *lambdas.hashes)
			lambdas.hashes[lambdas.count++] = tdm_str_hash(text);
	}
	return err;
}
