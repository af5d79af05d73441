/* Programs that end badly, or do what no program should. */
#include "programs.hpp"

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <cstring>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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

/* Circular buffers where buffers already are, and one that lies in a buffer, where it may be. */
static void launch_too_large(standin_mesh *mesh)
{
	standin_buffer *highest = standin_allocate(mesh, STANDIN_L1, 6553600, 2048, nullptr);
	for (unsigned i = 1; i < 8; i++)
		standin_allocate(mesh, STANDIN_L1, 6553600, 2048, nullptr);
	standin_program *program = standin_new_program(mesh, nullptr);
	for (unsigned i = 0; i < 8; i++)
		standin_add_cb(program, &SQUARE, 65536, nullptr);
	standin_add_cb(program, &SQUARE, 4096, highest);
	standin_add_kernel(program, "reader/1/", 1268);
	standin_enqueue(program);
}

/* uncaught REASON [thread]: an exception of the runtime ends the program. Or, if the reason is "abort", the program
 * itself does, while nothing is asked of the runtime. */
static int uncaught(int count, char **arguments)
{
	standin_mesh *mesh = standin_open("n300", 1, 2, 32768, 4194304);
	const char *reason = count > 0 ? arguments[0] : "";
	one_of_each(mesh);
	auto fail = [&] {
		if (strcmp(reason, "oom") == 0)
			standin_allocate(mesh, STANDIN_DRAM, 64424509440, 2048, nullptr);
		if (strcmp(reason, "form") == 0)
			standin_allocate(mesh, STANDIN_L1_SMALL, 2048, 2048, nullptr);
		if (strcmp(reason, "clash") == 0)
			launch_too_large(mesh);
		if (strcmp(reason, "noexcept") == 0)
			[&]() noexcept { standin_allocate(mesh, STANDIN_DRAM, 64424509440, 2048, nullptr); }();
		abort();
	};
	if (count > 1)
		std::thread(fail).join();
	fail();
	return 0;
}

/* The child goes on with its parent's buffers, and with some of its own. */
static int forks(int, char **)
{
	standin_mesh *mesh = standin_open("n300", 1, 1, 0, 0);
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
	end(mesh);
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

/* Allocates and releases until it is told to stop. */
static void allocate_until(standin_mesh *mesh, const std::atomic<bool> &is_over, std::atomic<unsigned> &rounds)
{
	for (; !is_over; rounds++)
		standin_release(standin_allocate(mesh, STANDIN_L1, 65536, 2048, nullptr));
}

static pid_t spawn_by_vfork(char **arguments)
{
	pid_t child = vfork();
	if (child == 0) {
		execv(arguments[0], arguments);
		_exit(127);
	}
	return child;
}

/* Starts processes in every way while threads allocate: spawn PROGRAM [ARGUMENT...]. A forked one has a device of its
 * own: another thread may have held a lock of the first one. */
static int spawns(int count, char **arguments)
{
	if (count == 0)
		return 2;
	standin_mesh *mesh = standin_open("n300", 1, 2, 0, 0);
	standin_buffer *kept = standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr);
	std::atomic<bool> is_over{ false };
	std::atomic<unsigned> rounds{ 0 };
	std::thread one([&] { allocate_until(mesh, is_over, rounds); });
	std::thread two([&] { allocate_until(mesh, is_over, rounds); });
	unsigned good = 0;
	for (unsigned i = 0; i < 12; i++) {
		unsigned begin = rounds;
		while (rounds == begin)
			std::this_thread::yield();
		pid_t child = 0;
		if (i % 3 == 0) {
			posix_spawn(&child, arguments[0], nullptr, nullptr, arguments, environ);
		} else if (i % 3 == 1) {
			child = spawn_by_vfork(arguments);
		} else {
			child = fork();
			if (child == 0) {
				standin_mesh *own = standin_open("n300", 1, 1, 0, 0);
				standin_release(standin_allocate(own, STANDIN_DRAM, 6144, 2048, nullptr));
				standin_allocate(own, STANDIN_DRAM, 8192, 2048, nullptr);
				_exit(0);
			}
		}
		int status = -1;
		waitpid(child, &status, 0);
		good += status == 0;
	}
	is_over = true;
	one.join();
	two.join();
	printf("children %u\n", good);
	show(kept, 0, 2);
	let_look();
	standin_release(kept);
	end(mesh);
	return 0;
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
	end(mesh);
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

/* A thread that is asking allocators, because of the preload, and does not come back from it. */
static const char *leaves_by;
static standin_mesh *left_mesh;
static std::vector<standin_buffer *> left_buffers;
static std::atomic<bool> has_left{ false };
static jmp_buf before_use;

static void end_all()
{
	release(left_buffers);
	standin_close(left_mesh);
	standin_drop_mesh(left_mesh);
	printf("ended\n");
	fflush(stdout);
}

/* All questions of one report are to one allocator and then to the other. */
static void leave_at_second(const void *allocator)
{
	static const void *first;
	if (first == nullptr || first == allocator) {
		first = allocator;
		return;
	}
	standin_when_asked(nullptr);
	has_left = true;
	if (strcmp(leaves_by, "end") == 0) /* without unwinding: frames of destructors would not let it pass */
		syscall(SYS_exit, 0);
	if (strcmp(leaves_by, "exit") == 0)
		exit(5);
	longjmp(before_use, 1);
}

static void *use_until_asked(void *)
{
	if (setjmp(before_use) == 0)
		while (!has_left)
			standin_release(standin_allocate(left_mesh, STANDIN_L1, 65536, 2048, nullptr));
	for (int i = 0; i < 2000; i++) /* goes on as before */
		standin_release(standin_allocate(left_mesh, STANDIN_L1, 65536, 2048, nullptr));
	return nullptr;
}

static int leaves(int count, char **arguments)
{
	pthread_t thread;
	leaves_by = count > 0 ? arguments[0] : "";
	left_mesh = standin_open("n150", 1, 1, 32768, 4194304);
	atexit(end_all);
	for (int i = 0; i < 2; i++) {
		left_buffers.push_back(standin_allocate(left_mesh, STANDIN_L1, 65536, 2048, nullptr));
		left_buffers.push_back(standin_allocate_bare(left_mesh, 0, STANDIN_DRAM, 10240, 2048));
	}
	standin_when_asked(leave_at_second);
	if (pthread_create(&thread, nullptr, use_until_asked, nullptr) != 0)
		return 1;
	pthread_join(thread, nullptr);
	return 3;
}

/* Ends while other threads use the same chip, and opens and closes parts of it. */
static int exits(int, char **)
{
	left_mesh = standin_open("n300", 1, 2, 32768, 4194304);
	std::atomic<unsigned> rounds{ 0 };
	atexit(end_all);
	for (unsigned i = 0; i < 3; i++)
		std::thread([&rounds, i] {
			standin_mesh *own = standin_open("n300", 1, 2, 32768, 4194304);
			for (;; rounds++)
				standin_release(i == 0 ? standin_allocate_bare(own, 0, STANDIN_DRAM, 10240, 2048)
						       : standin_allocate(own, STANDIN_L1, 65536, 2048, nullptr));
		}).detach();
	while (rounds < 100)
		usleep(100);
	exit(5);
}

const program fault_programs[] = {
	{ "leaves", leaves },
	{ "exits", exits },
	{ "busy", busy },
	{ "uncaught", uncaught },
	{ "fork", forks },
	{ "exec", execs },
	{ "spawn", spawns },
	{ "vanish", vanish },
	{ "errno", keeps_errno },
	{ "reopen", reopen },
	{ nullptr, nullptr },
};
