/* Processes that do nothing, on whose behalf a test writes ledgers, and a folder for those. */
#ifndef TESTS_UNIT_BEHALF_CLIENTS_H
#define TESTS_UNIT_BEHALF_CLIENTS_H

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/read/reader.h"
#include "ledger/write/writer.h"

static char behalf_dir[PATH_MAX];

static inline int behalf_dir_make(void **state)
{
	const char *tmp = getenv("TMPDIR");
	(void)state;
	snprintf(behalf_dir, sizeof behalf_dir, "%s/tidemark-behalf.XXXXXX",
		tmp != NULL                     ? tmp
		: access("/dev/shm", W_OK) == 0 ? "/dev/shm"
						: "/tmp");
	return mkdtemp(behalf_dir) != NULL ? 0 : -1;
}

static inline int behalf_dir_remove(void **state)
{
	char command[PATH_MAX + 16];
	(void)state;
	snprintf(command, sizeof command, "rm -r '%s'", behalf_dir);
	return system(command);
}

/* Field 22 of /proc/PID/stat. */
static inline uint64_t start_time_of(pid_t pid)
{
	char path[64], text[1024] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, sizeof text - 1, file) > 0);
	fclose(file);
	char *at = strrchr(text, ')');
	assert_non_null(at);
	for (int i = 0; i < 20; i++) {
		at = strchr(at + 1, ' ');
		assert_non_null(at);
	}
	return strtoull(at + 1, NULL, 10);
}

/* A process that waits until it is killed, or this one ends. */
static inline struct tdm_behalf client_start(void)
{
	pid_t parent = getpid(), pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			pause();
		_exit(0);
	}
	return (struct tdm_behalf){ .pid = (int32_t)pid, .uid = geteuid(), .start_time = start_time_of(pid) };
}

static inline void client_end(const struct tdm_behalf *client)
{
	kill(client->pid, SIGKILL);
	waitpid(client->pid, NULL, 0);
}

static inline struct tdm_writer *writer_for(const struct tdm_behalf *client)
{
	struct tdm_writer *writer;
	const struct tdm_writer_options options = { .dir = behalf_dir, .mode = 0600, .behalf = client };
	assert_int_equal(tdm_writer_new(&options, &writer), 0);
	return writer;
}

static inline int put_buffer(struct tdm_writer *writer, uint32_t device, uint32_t kind, uint64_t id, uint64_t bytes)
{
	struct tdm_wdevice *to = tdm_writer_device(writer, device, false);
	const struct tdm_report report = { .device = device, .kind = kind, .id = id, .address = id, .asked = bytes };
	const struct tdm_report_extra extra = { .banks = 1, .bank_bytes = bytes };
	return to != NULL ? tdm_writer_alloc_cold(to, NULL, &report, &extra) : -ENOSPC;
}

static inline int take_buffer(struct tdm_writer *writer, uint32_t device, uint32_t kind, uint64_t id)
{
	struct tdm_wdevice *from = tdm_writer_device(writer, device, false);
	return from != NULL ? tdm_writer_free_cold(from, NULL, kind, id, NULL) : -ENOSPC;
}

static inline struct tdm_ledger *read_ledger(const char *path)
{
	struct tdm_ledger *ledger;
	struct tdm_diag diag = { 0 };
	if (tdm_ledger_open(path, &ledger, &diag) != 0)
		fail_msg("%s: %s", path, diag.text);
	return ledger;
}

#endif
