/* Loads the runtime late, as Python does: by_dlopen LIBRARY [LIBRARY]. With two, both at the same time. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct runtime {
	void *handle, *mesh, *buffer;
	void *(*open)(const char *, unsigned, unsigned, size_t, size_t);
	void *(*allocate)(void *, int, uint64_t, uint64_t, const void *);
	void (*release)(void *);
	void (*look)(void *, void *);
	void (*close)(void *);
};

static void load(struct runtime *runtime, const char *path)
{
	runtime->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (runtime->handle == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	*(void **)&runtime->open = dlsym(runtime->handle, "standin_open");
	*(void **)&runtime->allocate = dlsym(runtime->handle, "standin_allocate");
	*(void **)&runtime->release = dlsym(runtime->handle, "standin_release");
	*(void **)&runtime->look = dlsym(runtime->handle, "standin_look");
	*(void **)&runtime->close = dlsym(runtime->handle, "standin_close");
}

int main(int count, char **arguments)
{
	struct runtime runtimes[4];
	int total = count - 1 < 4 ? count - 1 : 4;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < total; i++) {
		struct runtime *r = &runtimes[i];
		uint64_t facts[8] = { 0 };
		load(r, arguments[i + 1]);
		r->mesh = r->open("n150", 1, 1, 32768, 0);
		r->buffer = r->allocate(r->mesh, 0, 2048 * (uint64_t)(i + 3), 2048, NULL);
		r->look(r->buffer, facts);
		printf("buffer device=0 kind=0 address=%llu size=%llu page=%llu taken=%llu banks=12 cores=0\n",
			(unsigned long long)facts[0], (unsigned long long)facts[1], (unsigned long long)facts[2],
			(unsigned long long)facts[3]);
	}
	printf("ready\n");
	char rest[64];
	while (read(0, rest, sizeof rest) > 0)
		;
	for (int i = 0; i < total; i++) {
		runtimes[i].release(runtimes[i].buffer);
		runtimes[i].close(runtimes[i].mesh);
	}
	return 0;
}
