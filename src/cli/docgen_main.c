/*
 * Writes the files that are installed with the command: `tidemark-docgen man OUTDIR` writes the man pages,
 * `tidemark-docgen bash` prints the completion script. The pages' date is SOURCE_DATE_EPOCH if set, for reproducible
 * builds, else today.
 */
#include "cli/docgen_main.h"
#include "base/buf.h"
#include "cli/cmd.h"
#include "cli/completion.h"
#include "cli/docs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { DATE_CAP = 16 };

static const char *page_date(char *dst, size_t cap)
{
	uint64_t epoch;
	time_t when = time(NULL);
	struct tm utc;
	if (tdm_str_parse_u64(tdm_str_of(getenv("SOURCE_DATE_EPOCH")), &epoch) == 0)
		when = (time_t)epoch;
	if (gmtime_r(&when, &utc) == NULL || strftime(dst, cap, "%Y-%m-%d", &utc) == 0)
		snprintf(dst, cap, "1970-01-01");
	return dst;
}

static int write_text(FILE *stream, const struct tdm_buf *text, const char *name)
{
	bool good = !tdm_buf_failed(text) && fwrite(tdm_buf_str(text).ptr, 1, text->len, stream) == text->len;
	good &= fflush(stream) == 0;
	if (!good)
		fprintf(stderr, "tidemark-docgen: cannot write %s: %s\n", name, strerror(errno));
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Writes the page of a command, or the main page (NULL). */
static int write_page(const char *dir, const struct tdm_cmd *cmd, const struct tdm_cmd *program, const char *date)
{
	struct tdm_buf path, text;
	int code = EXIT_FAILURE;
	tdm_buf_init(&path);
	tdm_buf_init(&text);
	if (cmd != NULL && cmd->is_program)
		tdm_buf_printf(&path, "%s/%s.1", dir, cmd->name);
	else
		tdm_buf_printf(&path, "%s/tidemark%s%s.1", dir, cmd != NULL ? "-" : "", cmd != NULL ? cmd->name : "");
	if (cmd != NULL)
		tdm_docs_man_command(&text, cmd, program, date);
	else
		tdm_docs_man(&text, program, date);
	const char *name = tdm_buf_str(&path).ptr;
	FILE *stream = tdm_buf_failed(&path) ? NULL : fopen(name, "w");
	if (stream != NULL)
		code = write_text(stream, &text, name);
	else
		fprintf(stderr, "tidemark-docgen: cannot open %s: %s\n", name, strerror(errno));
	if (stream != NULL)
		fclose(stream);
	tdm_buf_done(&text);
	tdm_buf_done(&path);
	return code;
}

static int write_pages(const char *dir, const struct tdm_cmd *program)
{
	char date[DATE_CAP];
	page_date(date, sizeof date);
	if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
		fprintf(stderr, "tidemark-docgen: cannot make %s: %s\n", dir, strerror(errno));
		return EXIT_FAILURE;
	}
	int code = write_page(dir, NULL, program, date);
	for (size_t i = 0; code == EXIT_SUCCESS && tdm_cmds[i] != NULL; i++)
		code = write_page(dir, tdm_cmds[i], program, date);
	if (code == EXIT_SUCCESS && program != NULL)
		code = write_page(dir, program, program, date);
	return code;
}

static int print_bash(const struct tdm_cmd *program)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_completion_bash(&text, program);
	int code = write_text(stdout, &text, "the completion script");
	tdm_buf_done(&text);
	return code;
}

int tdm_docgen_main(int argc, char **argv, const struct tdm_cmd *program)
{
	if (argc == 3 && strcmp(argv[1], "man") == 0)
		return write_pages(argv[2], program);
	if (argc == 2 && strcmp(argv[1], "bash") == 0)
		return print_bash(program);
	fprintf(stderr, "Usage: tidemark-docgen man OUTDIR\n       tidemark-docgen bash\n");
	return EXIT_FAILURE;
}
