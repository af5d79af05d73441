/* Functions for a Python program to call: each reports a buffer, from a C function with a name to look for. */
#include "tidemark.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define outside __attribute__((visibility("default")))

int probe_inner(uint64_t id);
int probe_outer(uint64_t id);
int probe_back(uint64_t id, int (*callback)(uint64_t id));
int probe_in_handler(uint64_t id);
int probe_with_error(uint64_t id);
int probe_at_exit(uint64_t id);
int probe_set_version(unsigned long version);

extern int probe_is_inside;
outside int probe_is_inside; /* the library */

outside __attribute__((noinline)) int probe_inner(uint64_t id)
{
	struct tidemark_buffer buffer = TIDEMARK_BUFFER_INIT;
	buffer.id = buffer.address = id;
	buffer.bytes = 4096;
	probe_is_inside = 1;
	int err = tidemark_alloc(&buffer);
	probe_is_inside = 0;
	return err;
}

outside __attribute__((noinline)) int probe_outer(uint64_t id)
{
	volatile int err = probe_inner(id);
	return err;
}

/* C, Python, C, Python. */
outside int probe_back(uint64_t id, int (*callback)(uint64_t id))
{
	volatile int err = callback(id);
	return err;
}

static uint64_t handler_id;
static int handler_err;

static void handler(int number)
{
	(void)number;
	handler_err = probe_inner(handler_id);
}

outside int probe_in_handler(uint64_t id)
{
	handler_id = id;
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	return handler_err;
}

/* While a Python exception is on its way. */
outside int probe_with_error(uint64_t id)
{
	void (*set_error)(void *type, const char *text);
	void **type = dlsym(RTLD_DEFAULT, "PyExc_KeyError"), *symbol = dlsym(RTLD_DEFAULT, "PyErr_SetString");
	if (type == NULL || symbol == NULL)
		return -1;
	memcpy(&set_error, &symbol, sizeof symbol);
	set_error(*type, "still here");
	return probe_inner(id);
}

static uint64_t exit_id;

static void report_at_exit(void)
{
	if (probe_inner(exit_id) != 0)
		_Exit(77);
}

/* When the interpreter has ended. */
outside int probe_at_exit(uint64_t id)
{
	exit_id = id;
	return atexit(report_at_exit);
}

/* As if the interpreter were of another version. Its objects stay as they are. */
outside int probe_set_version(unsigned long version)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)dlsym(RTLD_DEFAULT, "Py_Version");
	if (at == 0 || mprotect((void *)(at / page * page), page, PROT_READ | PROT_WRITE) != 0)
		return -1;
	memcpy((void *)at, &version, sizeof version);
	return 0;
}
