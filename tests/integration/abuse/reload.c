/*
 * A program that loads the library, reports and unloads it, again and again: nothing piles up. The library itself stays
 * loaded, but not one that is linked into a plug-in.
 */
#include "tidemark.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 100 };
#ifndef SPARE_MAPPINGS
#define SPARE_MAPPINGS 4
#endif

static unsigned count_descriptors(void)
{
	unsigned count = 0;
	DIR *list = opendir("/proc/self/fd");
	while (list != NULL && readdir(list) != NULL)
		count++;
	closedir(list);
	return count;
}

static unsigned count_mappings(void)
{
	char line[1024];
	unsigned count = 0;
	FILE *file = fopen("/proc/self/maps", "r");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		count += strchr(line, '\n') != NULL;
	fclose(file);
	return count;
}

static void fail(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

static void load_and_report(const char *path)
{
	int (*alloc)(const struct tidemark_buffer *buffer);
	int (*release)(uint32_t device, uint32_t kind, uint64_t id);
	int (*enable)(void);
	struct tidemark_buffer buffer = { .size = sizeof buffer, .id = 1, .bytes = 64, .banks = 1 };
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		fail(dlerror());
	*(void **)&alloc = dlsym(library, "tidemark_alloc_");
	*(void **)&release = dlsym(library, "tidemark_free_");
	*(void **)&enable = dlsym(library, "tidemark_enable");
	if (enable() != 0 || alloc(&buffer) != 0 || release(0, 0, 1) != 0)
		fail("a report was refused");
	dlclose(library);
}

static void load_plugin(const char *path, int leaves_one)
{
	int (*report)(int leaves_one);
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (plugin == NULL)
		fail(dlerror());
	*(void **)&report = dlsym(plugin, "itest_reload");
	if (report(leaves_one) != 0)
		fail("a report of the plug-in was refused");
	dlclose(plugin);
	if (fork() == 0)
		_exit(0); /* nothing of what was unloaded is called */
	int status;
	if (wait(&status) < 0 || status != 0)
		fail("a child ended badly");
}

static void load_plugin_cleanly(const char *path)
{
	load_plugin(path, 0);
}

static void load_leaking_plugin(const char *path)
{
	load_plugin(path, 1);
}

static int stays_flat(const char *what, void (*load)(const char *path), const char *path)
{
	load(path);
	unsigned descriptors = count_descriptors(), mappings = count_mappings();
	for (int i = 0; i < TIMES; i++)
		load(path);
	printf("%s: %u descriptors and %u mappings, then %u and %u\n", what, descriptors, mappings, count_descriptors(),
		count_mappings());
	return count_descriptors() <= descriptors && count_mappings() <= mappings + SPARE_MAPPINGS;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/tidemark-reload-XXXXXX", command[64];
	if (argc != 3 || mkdtemp(dir) == NULL || setenv("TIDEMARK_DIR", dir, 1) != 0)
		return 2;
	int is_flat = stays_flat("the library", load_and_report, argv[1]);
	is_flat &= stays_flat("a plug-in", load_plugin_cleanly, argv[2]);
	is_flat &= stays_flat("a plug-in that leaves buffers", load_leaking_plugin, argv[2]);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command) != 0 || !is_flat;
}
