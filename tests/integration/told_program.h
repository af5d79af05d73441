/* Programs that say something about their process and devices, and pictures of them. */
#ifndef TESTS_INTEGRATION_TOLD_PROGRAM_H
#define TESTS_INTEGRATION_TOLD_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/picture_valid.h"
#include "own_folder.h"
#include "live/join/state.h"
#include "tidemark.h"

enum { DEVICE = 3, BANKS = 12 };

/* ---- programs ---- */

static inline void must(int err)
{
	if (err != 0)
		_exit(1);
}

static inline void add(uint32_t kind, uint64_t id, uint64_t bytes, const char *name)
{
	struct tidemark_buffer buffer = TIDEMARK_BUFFER_INIT;
	buffer.device = DEVICE;
	buffer.kind = kind;
	buffer.id = buffer.address = id;
	buffer.bytes = bytes * BANKS;
	buffer.bytes_per_bank = bytes;
	buffer.banks = BANKS;
	buffer.name = name != NULL ? tidemark_name(name) : 0;
	must(tidemark_alloc(&buffer));
}

static inline void drop(uint32_t kind, uint64_t id)
{
	must(tidemark_free(DEVICE, kind, id));
}

static inline void step(uint32_t what, uint64_t trace)
{
	must(tidemark_step(DEVICE, what, trace));
}

static inline void capture(uint64_t trace)
{
	step(TIDEMARK_TRACE_BEGAN, trace);
	step(TIDEMARK_TRACE_ENDED, trace);
}

/* A process that runs `program`, says that it has, and waits to be killed. */
struct running {
	pid_t pid;
	int from;
};

static inline struct running run(void (*program)(void))
{
	int ends[2];
	char word;
	assert_int_equal(pipe(ends), 0);
	struct running running = { .pid = fork(), .from = ends[0] };
	if (running.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		must(tidemark_enable());
		program();
		if (write(ends[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	if (read(running.from, &word, 1) != 1)
		fail_msg("the program failed");
	return running;
}

static inline void stop(const struct running *running)
{
	kill(running->pid, SIGKILL);
	waitpid(running->pid, NULL, 0);
	close(running->from);
}

/* ---- pictures ---- */

static inline struct tdm_state *state_of(bool with_ended)
{
	struct tdm_state *state = tdm_state_new(&(struct tdm_state_options){
		.ledger_dir = own_folder, .only_ledgers = true, .with_ended = with_ended, .with_crashed = true });
	assert_non_null(state);
	return state;
}

static inline const struct tdm_picture *look(struct tdm_state *state, unsigned parts)
{
	const struct tdm_picture *picture = tdm_state_look(state, &(struct tdm_wish){ .parts = parts });
	assert_non_null(picture);
	assert_true(picture_is_valid(picture));
	for (size_t i = 0; i < picture->problem_count; i++)
		fail_msg("%s", picture->problems[i].text);
	return picture;
}

static inline const struct tdm_picture_process *process_of(const struct tdm_picture *picture, pid_t pid)
{
	for (size_t i = 0; i < picture->process_count; i++)
		if (picture->processes[i].pid == pid)
			return &picture->processes[i];
	fail_msg("there is no process %d", (int)pid);
	return NULL;
}

static inline const struct tdm_holding *holding_of(const struct tdm_picture *picture, pid_t pid)
{
	const struct tdm_picture_process *process = process_of(picture, pid);
	assert_int_equal(process->holding_count, 1);
	assert_int_equal(process->refused, 0);
	return &picture->holdings[process->first_holding];
}

static inline int set_up(void **unused)
{
	(void)unused;
	return own_folder_make();
}

static inline int clear(void **unused)
{
	char command[128];
	(void)unused;
	snprintf(command, sizeof command, "rm -rf '%s'/*", own_folder);
	return system(command);
}

#endif
