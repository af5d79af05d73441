/*
 * The main function of the fuzz targets in builds without libFuzzer: feeds them the empty input, then every file on the
 * command line and in the folders there. A target ends the program if a property does not hold, so the file's name is
 * printed first.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct tally {
	size_t run, unreadable;
};

/* Uses a copy of exactly `size` bytes, so that a sanitizer detects a read past the end. */
static void run_input(const char *name, const uint8_t *data, size_t size, struct tally *tally)
{
	printf("%s\n", name);
	fflush(stdout);
	uint8_t *copy = malloc(size > 0 ? size : 1);
	if (copy == NULL) {
		fprintf(stderr, "%s: out of memory\n", name);
		tally->unreadable++;
		return;
	}
	if (size > 0)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	tally->run++;
}

static void run_file(const char *path, size_t size, struct tally *tally)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(size > 0 ? size : 1);
	if (file == NULL || data == NULL || fread(data, 1, size, file) != size) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		tally->unreadable++;
	} else {
		run_input(path, data, size, tally);
	}
	free(data);
	if (file != NULL)
		fclose(file);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void run_path(const char *path, struct tally *tally)
{
	struct stat st;
	if (stat(path, &st) != 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		tally->unreadable++;
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		run_file(path, (size_t)st.st_size, tally);
		return;
	}
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_visible, alphasort);
	if (count < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		tally->unreadable++;
		return;
	}
	for (int i = 0; i < count; i++) {
		char *inner = NULL;
		if (asprintf(&inner, "%s/%s", path, entries[i]->d_name) < 0)
			tally->unreadable++;
		else
			run_path(inner, tally);
		free(inner);
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	struct tally tally = { 0, 0 };
	run_input("the empty input", NULL, 0, &tally);
	for (int i = 1; i < argc; i++)
		run_path(argv[i], &tally);
	printf("[  PASSED  ] %zu test(s).\n", tally.run);
	if (tally.unreadable > 0)
		printf("[  FAILED  ] %zu test(s).\n", tally.unreadable);
	return tally.unreadable > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
