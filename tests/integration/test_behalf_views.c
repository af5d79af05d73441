/* What the commands show of programs that a daemon writes for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../unit/behalf_clients.h"
#include "base/clock.h"
#include "live/join/state.h"

/* The output of a command of tidemark, with all blanks and line ends in a row as one blank: lines are broken to fit.
 * Borrowed until the next call. */
static const char *output(const char *arguments)
{
	static char text[1 << 16];
	char command[PATH_MAX + 128];
	snprintf(command, sizeof command, "'%s/tidemark' %s", TDM_TEST_BIN, arguments);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	size_t got = fread(text, 1, sizeof text - 1, pipe), kept = 0;
	pclose(pipe);
	for (size_t i = 0; i < got; i++) {
		bool is_blank = text[i] == ' ' || text[i] == '\n';
		if (!is_blank || (kept != 0 && text[kept - 1] != ' '))
			text[kept++] = is_blank ? ' ' : text[i];
	}
	text[kept] = '\0';
	return text;
}

static void assert_shows(const char *arguments, const char *what)
{
	const char *text = output(arguments);
	if (strstr(text, what) == NULL)
		fail_msg("tidemark %s does not show \"%s\" but:\n%s", arguments, what, text);
}

static void assert_shows_not(const char *arguments, const char *what)
{
	const char *text = output(arguments);
	if (strstr(text, what) != NULL)
		fail_msg("tidemark %s shows \"%s\":\n%s", arguments, what, text);
}

static void shown_while_it_runs(void **state)
{
	const struct tdm_behalf client = client_start();
	struct tdm_writer *writer = writer_for(&client);
	char path[TDM_LEDGER_PATH_MAX];
	(void)state;
	assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, 7, 4096), 0);
	assert_shows("dump", "alive, written by a daemon");
	assert_shows("dump --json", "\"on_behalf\": true");
	assert_shows("dump --json", "\"figures_age_ns\": null");
	assert_shows("status --json", "\"on_behalf\": true");
	assert_shows_not("doctor", "has ended: they are old");
	/* The daemon ends; the program, and its memory, do not. */
	strcpy(path, writer->file.path);
	tdm_writer_free(writer);
	assert_shows("dump", "no daemon writes its figures any more: they are ");
	assert_shows("dump --json", "\"state\": \"running\"");
	assert_shows_not("dump --json", "\"figures_age_ns\": null");
	assert_shows_not("status --json", "\"figures_age_ns\": null");
	assert_shows("status", "no daemon writes the figures of process");
	assert_shows("doctor", "the daemon that wrote the figures of 1 program has ended: they are old");
	/* The program ends. Nobody knows whether it crashed, or could have freed its buffers. */
	client_end(&client);
	assert_shows("dump", "ended (post-mortem), written by a daemon");
	assert_shows("leaks", "leak ");
	assert_shows("leaks", "was left by a client of the daemon, which has ended; how it ended is not known");
	assert_shows_not("leaks", "never freed");
	assert_shows_not("leaks", "by itself");
	assert_shows("leaks --json", "\"what\": \"client_ended\"");
	assert_shows("dump --reap 2>&1", "removed 1 ledger");
	assert_int_equal(access(path, F_OK), -1);
}

/* A program with a ledger of its own that also reports to the daemon: its buffers count once. */
static void own_ledger_counts(void **state)
{
	struct tdm_state *live;
	const struct tdm_state_options options = { .ledger_dir = behalf_dir, .only_ledgers = true };
	const struct tdm_writer_options own_options = { .dir = behalf_dir, .mode = 0600 };
	struct tdm_behalf client = {
		.pid = (int32_t)getpid(), .uid = geteuid(), .start_time = start_time_of(getpid())
	};
	struct tdm_writer *own, *other;
	(void)state;
	assert_int_equal(tdm_writer_new(&own_options, &own), 0);
	client.generation = own->file.generation + 1; /* the daemon has another folder */
	other = writer_for(&client);
	assert_int_equal(put_buffer(own, 0, TDM_KIND_DRAM, 7, 4096), 0);
	assert_int_equal(put_buffer(other, 0, TDM_KIND_DRAM, 7, 5000), 0);
	live = tdm_state_new(&options);
	assert_non_null(live);
	const struct tdm_picture *picture = tdm_state_look(live, &(struct tdm_wish){ 0 });
	assert_non_null(picture);
	assert_int_equal(picture->process_count, 1);
	assert_int_equal(picture->holding_count, 1);
	assert_int_equal(picture->holdings[0].kinds[TDM_KIND_DRAM].reserved, 4096);
	/* When it no longer writes itself, what it tells the daemon counts. */
	tdm_writer_end(own);
	tdm_ledger_file_remove(&own->file);
	tdm_writer_free(own);
	tdm_state_free(live);
	live = tdm_state_new(&options);
	assert_non_null(live);
	picture = tdm_state_look(live, &(struct tdm_wish){ 0 });
	assert_non_null(picture);
	assert_int_equal(picture->holding_count, 1);
	assert_int_equal(picture->holdings[0].kinds[TDM_KIND_DRAM].reserved, 5000);
	tdm_state_free(live);
	tdm_ledger_file_remove(&other->file);
	tdm_writer_free(other);
}

static int set_up(void **state)
{
	if (behalf_dir_make(state) != 0 || setenv("TIDEMARK_DIR", behalf_dir, 1) != 0)
		return -1;
	/* Nothing else that this machine has. */
	setenv("TIDEMARK_SHM_DIR", behalf_dir, 1);
	setenv("TIDEMARK_SYSFS_ROOT", behalf_dir, 1);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shown_while_it_runs),
		cmocka_unit_test(own_ledger_counts),
	};
	return cmocka_run_group_tests_name("behalf_views", tests, set_up, behalf_dir_remove);
}
