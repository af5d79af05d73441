/* A program that loads the library, reports and unloads it, again and again: nothing piles up. */
#include "tidemark.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 50 };

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

int main(int argc, char **argv)
{
	char dir[] = "/tmp/tidemark-reload-XXXXXX";
	if (argc != 2 || mkdtemp(dir) == NULL || setenv("TIDEMARK_DIR", dir, 1) != 0)
		return 2;
	load_and_report(argv[1]);
	unsigned descriptors = count_descriptors(), mappings = count_mappings();
	for (int i = 0; i < TIMES; i++)
		load_and_report(argv[1]);
	printf("%u descriptors and %u mappings, then %u and %u\n", descriptors, mappings, count_descriptors(),
		count_mappings());
	if (count_descriptors() > descriptors || count_mappings() > mappings + 4)
		return 1;
	char command[64];
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command) != 0;
}
