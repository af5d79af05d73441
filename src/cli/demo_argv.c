#include "cli/demo_argv.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char stacks_variable[] = "TIDEMARK_STACKS";

struct filling {
	struct tdm_demo_argv *out;
	size_t count, numbers;
};

static void add(struct filling *f, const char *option, const char *value)
{
	f->out->argv[f->count++] = option;
	f->out->argv[f->count++] = value;
}

static void add_number(struct filling *f, const char *option, uint64_t value)
{
	char *text = f->out->number[f->numbers++];
	snprintf(text, sizeof f->out->number[0], "%" PRIu64, value);
	add(f, option, text);
}

void tdm_demo_argv_init(
	struct tdm_demo_argv *argv, const struct tdm_demo_workload *workload, const struct tdm_demo_options *options)
{
	struct filling f = { .out = argv };
	*argv = (struct tdm_demo_argv){ 0 };
	add(&f, "tidemark", "demo");
	add(&f, "-w", workload->name); /* the short option, because process lists cut long commands */
	if (strcmp(options->card, TDM_DEMO_CARD) != 0)
		add(&f, "--card", options->card);
	if (!options->recompute && workload == &tdm_demo_training)
		add(&f, "--mode", "default");
	if (options->chips != 1)
		add_number(&f, "--chips", options->chips);
	if (options->first_device != 0)
		add_number(&f, "--first-device", options->first_device);
	if (options->seconds != TDM_DEMO_NO_LIMIT)
		add_number(&f, "--seconds", options->seconds);
	if (options->rounds != TDM_DEMO_NO_LIMIT)
		add_number(&f, "--rounds", options->rounds);
	if (options->socket != NULL) {
		add(&f, "--socket", options->socket);
		add_number(&f, "--message-size", options->message_size);
	}
	add(&f, "--view", "none");
}

bool tdm_demo_has_stacks(void)
{
	return getenv(stacks_variable) != NULL;
}

/* Uses the program's own path, which gives the process its name; the link works even if the file is gone. */
int tdm_demo_exec(char *const *words)
{
	static const char link[] = "/proc/self/exe";
	char path[PATH_MAX];
	ssize_t length = readlink(link, path, sizeof path - 1);
	if (length > 0) {
		path[length] = '\0';
		execv(path, words);
	}
	execv(link, words);
	return -errno;
}

int tdm_demo_argv_exec(const struct tdm_demo_argv *argv)
{
	char *words[TDM_DEMO_ARGV_MAX];
	memcpy(words, argv->argv, sizeof words);
	setenv(stacks_variable, "12", 0);
	return tdm_demo_exec(words);
}
