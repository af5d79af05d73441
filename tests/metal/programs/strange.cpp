/* Programs that do what few programs do, and may. */
#include "programs.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

static int show_one_and_end(standin_mesh *mesh)
{
	standin_buffer *buffer = standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr);
	show(buffer, 0, 1);
	let_look();
	standin_release(buffer);
	end(mesh);
	return 0;
}

/* The loader's last error, which nobody but the program may cause. */
static int loader_error(int, char **)
{
	standin_mesh *mesh = standin_open("n150", 1, 1, 0, 0);
	standin_buffer *buffer = standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr);
	const char *error = dlerror();
	printf("after a buffer: %s\n", error ? error : "none");
	standin_release(buffer);
	end(mesh);
	error = dlerror();
	printf("after the close: %s\n", error ? error : "none");
	return 0;
}

/* Everything on threads with the smallest stacks; each says how much of it was never used. */
static void use_all(standin_mesh *mesh)
{
	standin_buffer *buffer = standin_allocate(mesh, STANDIN_L1, 8192, 2048, &SQUARE);
	standin_program *program = standin_new_program(mesh, "ttnn::matmul");
	standin_add_cb(program, &SQUARE, 4096, nullptr);
	standin_add_dfb(program, &SQUARE, 512, 2);
	standin_add_kernel(program, "reader/1/", 1000);
	standin_enqueue(program);
	uint32_t trace = standin_begin_trace(mesh);
	standin_end_trace(mesh, trace);
	standin_replay_trace(mesh, trace);
	standin_release_trace(mesh, trace);
	char host[64];
	standin_pinned *pin = standin_pin(mesh, host, sizeof host);
	if (pin)
		standin_unpin(pin);
	standin_drop_program(program);
	standin_release(buffer);
}

static int small_stack(int count, char **arguments)
{
	size_t size = number(count, arguments, 0, 32768), page = (size_t)sysconf(_SC_PAGESIZE);
	char *stack = static_cast<char *>(
		mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	mprotect(stack, page, PROT_NONE); /* whoever needs more falls over */
	for (int i = 0; i < 3; i++) {
		standin_mesh *mesh = standin_open("n300", 1, 2, 32768, 4194304);
		pthread_attr_t attributes;
		pthread_t thread;
		pthread_attr_init(&attributes);
		if (pthread_attr_setstack(&attributes, stack + page, size) != 0 ||
			pthread_create(
				&thread, &attributes,
				[](void *context) -> void * {
					use_all(static_cast<standin_mesh *>(context));
					return nullptr;
				},
				mesh) != 0)
			return 1;
		pthread_join(thread, nullptr);
		pthread_attr_destroy(&attributes);
		end(mesh);
	}
	printf("enough\n");
	return 0;
}

/* As in some containers: one process may not read another one, nor itself. */
static bool forbid_reading()
{
	static sock_filter steps[] = {
		{ BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr) },
		{ BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_process_vm_readv },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | 1 },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
	};
	sock_fprog program = { 4, steps };
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* `nofile`: nor may it open files. */
static int forbidden(int count, char **arguments)
{
	if (!forbid_reading()) {
		printf("not possible here\n");
		return 0;
	}
	standin_mesh *mesh = standin_open("n150", 1, 1, 32768, 0);
	if (count > 0 && strcmp(arguments[0], "nofile") == 0) {
		rlimit none = { 0, 0 };
		setrlimit(RLIMIT_NOFILE, &none);
	}
	standin_buffer *buffer = standin_allocate(mesh, STANDIN_L1, 8192, 2048, &SQUARE);
	show(buffer, 0, 1);
	let_look();
	standin_release(buffer);
	end(mesh);
	return 0;
}

/* A thread that is to be cancelled goes on until it gets to a function that says it may end there. */
static int cancelled(int, char **)
{
	static std::atomic<int> allocated{ 0 };
	static standin_mesh *mesh = standin_open("n150", 1, 1, 0, 0);
	bool is_forbidden = forbid_reading();
	pthread_t thread;
	pthread_create(
		&thread, nullptr,
		[](void *) -> void * {
			pthread_cancel(pthread_self());
			for (int i = 0; i < 10; i++)
				standin_release(standin_allocate(mesh, STANDIN_L1, 4096, 2048, &SQUARE));
			allocated = 1;
			pthread_testcancel();
			allocated = 2;
			return nullptr;
		},
		nullptr);
	void *result;
	pthread_join(thread, &result);
	printf("%s: %s, %s\n", is_forbidden ? "forbidden" : "allowed", allocated == 1 ? "allocated" : "not allocated",
		result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
	return show_one_and_end(mesh);
}

/* Traces that go with their devices; then one that is released. */
static int many_traces(int count, char **arguments)
{
	unsigned total = number(count, arguments, 0, 5000);
	for (unsigned made = 0; made < total; made += 500) {
		standin_mesh *mesh = standin_open("n150", 1, 1, 0, 64 << 20);
		standin_release(standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr));
		for (int i = 0; i < 500; i++)
			standin_end_trace(mesh, standin_begin_trace(mesh));
		end(mesh);
	}
	standin_mesh *mesh = standin_open("n150", 1, 1, 0, 4194304);
	standin_release(standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr));
	uint32_t trace = standin_begin_trace(mesh);
	standin_end_trace(mesh, trace);
	standin_release_trace(mesh, trace);
	printf("trace %u\n", trace);
	let_look();
	end(mesh);
	return 0;
}

/* Programs at the same place, each with fewer kernels than the one before. */
static int fewer_kernels(int, char **)
{
	standin_mesh *mesh = standin_open("n150", 1, 1, 0, 0);
	for (int i = 0; i < 20; i++)
		for (int kernels = 5; kernels > 0; kernels--) {
			standin_program *program = standin_new_program(mesh, nullptr);
			standin_add_cb(program, &SQUARE, 1024, nullptr);
			for (int k = 0; k < kernels; k++)
				standin_add_kernel(program, "a kernel whose name has a place of its own/1/", 1000);
			standin_enqueue(program);
			standin_drop_program(program);
		}
	printf("done\n");
	end(mesh);
	return 0;
}

/* After a request that fails, allocators are asked what they have. */
static void ask_for_too_much(standin_mesh *mesh)
{
	try {
		standin_allocate(mesh, STANDIN_DRAM, 1ull << 42, 2048, nullptr);
	} catch (const std::runtime_error &) {
		printf("no room\n");
	}
}

/* A part of a mesh ends, and the mesh goes on. */
static int part_ends(int, char **)
{
	standin_mesh *mesh = standin_open("n300", 1, 2, 32768, 4194304), *part = standin_submesh(mesh, 1, 1);
	standin_buffer *kept = standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr);
	standin_release(standin_allocate(part, STANDIN_DRAM, 4096, 2048, nullptr));
	standin_close(part);
	standin_drop_mesh(part);
	ask_for_too_much(mesh);
	standin_release(kept);
	end(mesh);
	return 0;
}

/* An allocator is asked again for its figures, after another one of the same chip has released a buffer. */
static int asked_again(int, char **)
{
	standin_mesh *mesh = standin_open("n150", 1, 1, 0, 0);
	standin_buffer *kept = standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr);
	standin_buffer *bare = standin_allocate_bare(mesh, 0, STANDIN_DRAM, 4096, 2048);
	ask_for_too_much(mesh);
	standin_release(bare);
	ask_for_too_much(mesh);
	let_look();
	standin_release(kept);
	end(mesh);
	return 0;
}

/* The environment is gone before the runtime is used. */
static int no_environment(int, char **)
{
	clearenv();
	standin_mesh *mesh = standin_open("n150", 1, 1, 0, 0);
	return show_one_and_end(mesh);
}

/* Threads that open, use and close the same chips, each as if it were alone. */
static int open_and_close(int count, char **arguments)
{
	static unsigned rounds;
	rounds = number(count, arguments, 0, 10);
	std::vector<std::thread> threads;
	for (unsigned i = 0; i < 8; i++)
		threads.emplace_back([i] {
			for (unsigned n = 0; n < rounds; n++) {
				standin_mesh *mesh = standin_open("n300", 1, 1 + i % 2, 32768, 4194304);
				standin_buffer *buffer = standin_allocate_bare(mesh, 0, STANDIN_DRAM, 4096, 2048);
				for (int k = 0; k < 10; k++)
					use_all(mesh);
				standin_release(buffer);
				end(mesh);
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	printf("done\n");
	return 0;
}

const program strange_programs[] = {
	{ "loader_error", loader_error },
	{ "small_stack", small_stack },
	{ "forbidden", forbidden },
	{ "cancelled", cancelled },
	{ "many_traces", many_traces },
	{ "fewer_kernels", fewer_kernels },
	{ "part_ends", part_ends },
	{ "asked_again", asked_again },
	{ "no_environment", no_environment },
	{ "open_and_close", open_and_close },
	{ nullptr, nullptr },
};
