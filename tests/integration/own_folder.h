/* A folder of the test's own (own_folder), where its programs report; it is removed with all that is in it. */
#ifndef TESTS_INTEGRATION_OWN_FOLDER_H
#define TESTS_INTEGRATION_OWN_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char own_folder[64];

static inline int own_folder_make(void)
{
	snprintf(own_folder, sizeof own_folder, "%s/tidemark-own.XXXXXX",
		access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	return mkdtemp(own_folder) != NULL ? setenv("TIDEMARK_DIR", own_folder, 1) : -1;
}

static inline int own_folder_remove(void **state)
{
	char command[sizeof own_folder + 16];
	(void)state;
	snprintf(command, sizeof command, "rm -r '%s'", own_folder);
	return system(command);
}

#endif
