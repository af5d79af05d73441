/* Programs that end badly, or do what no program should. */
#include "programs.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

/* Allocates and releases on several threads until it is killed, with some buffers that stay. */
static int busy(int count, char **arguments)
{
	standin_mesh *mesh = standin_open("n300", 1, 2, 32768, 4194304);
	std::vector<standin_buffer *> buffers = one_of_each(mesh);
	for (standin_buffer *buffer : buffers)
		show(buffer, 0, 2);
	std::atomic<unsigned> rounds{ 0 };
	auto work = [&] {
		for (;; rounds++)
			standin_release(standin_allocate(mesh, STANDIN_L1, 65536, 2048, nullptr));
	};
	for (int i = 0; i < 3; i++)
		std::thread(work).detach();
	while (rounds < 1000)
		usleep(1000);
	printf("ready\n");
	fflush(stdout);
	if (count > 0 && strcmp(arguments[0], "exit") == 0)
		exit(5);
	if (count > 0 && strcmp(arguments[0], "_exit") == 0)
		_exit(6);
	if (count > 0 && strcmp(arguments[0], "abort") == 0)
		abort();
	pause();
	return 0;
}

/* The child goes on with its parent's buffers, and with some of its own. */
static int forks(int, char **)
{
	standin_mesh *mesh = standin_open("n150", 1, 1, 0, 0);
	standin_buffer *before = standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		standin_release(before);
		standin_buffer *own = standin_allocate(mesh, STANDIN_DRAM, 6144, 2048, nullptr);
		standin_release(standin_allocate(mesh, STANDIN_L1, 6144, 2048, nullptr));
		standin_release(own);
		_exit(11);
	}
	int status;
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
	show(before, 0, 1);
	let_look();
	standin_release(before);
	standin_close(mesh);
	standin_drop_mesh(mesh);
	return 0;
}

/* Becomes another program, which begins anew: exec PROGRAM [ARGUMENT...] */
static int execs(int count, char **arguments)
{
	standin_mesh *mesh = standin_open("n150", 1, 1, 0, 0);
	standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr);
	fflush(stdout);
	if (count > 0)
		execv(arguments[0], arguments);
	return 9;
}

/* Objects that are gone when a hook looks at them. */
static int vanish(int, char **)
{
	standin_mesh *mesh = standin_open("n150", 1, 1, 0, 0);
	standin_buffer *good = standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr);
	void *gone = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	standin_track_wild(gone);
	standin_track_wild((void *)0x10);
	standin_track_wild((void *)0xdead000000000010);
	for (int i = 0; i < 100; i++)
		standin_allocate_and_vanish(mesh);
	standin_buffer *later = standin_allocate(mesh, STANDIN_L1, 4096, 2048, nullptr);
	show(good, 0, 1);
	show(later, 0, 1);
	let_look();
	standin_release(good);
	standin_release(later);
	standin_close(mesh);
	standin_drop_mesh(mesh);
	return 0;
}

/* Calls leave errno alone, whatever a hook does. */
static int keeps_errno(int, char **)
{
	int changed = 0;
	errno = 77;
	standin_mesh *mesh = standin_open("n150", 1, 1, 0, 0);
	for (int i = 0; i < 100; i++) {
		errno = 77;
		standin_buffer *buffer = standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr);
		changed += errno != 77;
		errno = 77;
		standin_release(buffer);
		changed += errno != 77;
	}
	errno = 77;
	standin_close(mesh);
	changed += errno != 77;
	printf("errno changed %d times\n", changed);
	standin_drop_mesh(mesh);
	return 0;
}

/* Opens and closes again and again, as a test suite does. */
static int reopen(int count, char **arguments)
{
	for (unsigned i = 0; i < number(count, arguments, 0, 20); i++) {
		standin_mesh *mesh = standin_open("n300", 1, 2, 32768, 4194304);
		std::vector<standin_buffer *> buffers = one_of_each(mesh);
		if (i % 2)
			release(buffers);
		standin_close(mesh);
		release(buffers);
		standin_drop_mesh(mesh);
	}
	let_look();
	return 0;
}

const program fault_programs[] = {
	{ "busy", busy },
	{ "fork", forks },
	{ "exec", execs },
	{ "vanish", vanish },
	{ "errno", keeps_errno },
	{ "reopen", reopen },
	{ nullptr, nullptr },
};
