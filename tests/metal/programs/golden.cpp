/* The programs whose calls were logged on the real library: see tests/data/metal. */
#include "programs.hpp"

#include <sys/mman.h>
#include <unistd.h>

static standin_mesh *open_mesh(const char *card, unsigned chips)
{
	standin_mark("open");
	standin_mesh *mesh = standin_open(card, 1, chips, 32768, 4194304);
	standin_mark("opened");
	return mesh;
}

static void show_each(const std::vector<standin_buffer *> &buffers, unsigned chips)
{
	for (const standin_buffer *buffer : buffers)
		show(buffer, 0, chips);
}

static int end(standin_mesh *mesh, std::vector<standin_buffer *> &buffers)
{
	standin_mark("release");
	release(buffers);
	standin_mark("close");
	standin_close(mesh);
	standin_mark("closed");
	standin_drop_mesh(mesh);
	standin_mark("end");
	return 0;
}

static int prog(int, char **)
{
	standin_mesh *mesh = open_mesh("n300", 2);
	std::vector<standin_buffer *> buffers = one_of_each(mesh);
	standin_mark("buffers");
	show_each(buffers, 2);

	standin_mark("prog1");
	standin_program *first = standin_new_program(mesh, nullptr);
	for (int i = 0; i < 3; i++)
		standin_add_cb(first, &SQUARE, 4096, nullptr);
	standin_add_cb(first, &SQUARE, 4096, buffers[2]);
	standin_add_kernel(first, "reader/1/", 1268);
	standin_add_kernel(first, "compute/2/", 1668);
	standin_add_kernel(first, "writer/3/", 868);
	standin_enqueue(first);
	standin_mark("prog1-again");
	standin_enqueue(first);

	standin_mark("prog2");
	static const standin_cores wide = { 0, 0, 3, 1 };
	standin_program *second = standin_new_program(mesh, nullptr);
	standin_add_cb(second, &wide, 8192, nullptr);
	standin_add_cb(second, &wide, 8192, nullptr);
	standin_add_kernel(second, "reader/4/", 1268);
	standin_add_kernel(second, "compute/5/", 1668);
	standin_add_kernel(second, "writer/6/", 868);
	standin_enqueue(second);
	let_look();
	standin_mark("prog2-drop");
	standin_drop_program(second);

	standin_mark("metal2");
	static const standin_cores one = { 1, 1, 1, 1 };
	standin_program *third = standin_new_program(mesh, nullptr);
	standin_add_dfb(third, &one, 2048, 4);
	standin_add_scratchpad(third, 1024);
	standin_add_kernel(third, "reader/7/", 1268);
	standin_add_kernel(third, "writer/8/", 1668);
	standin_prepare(third);
	standin_enqueue(third);
	standin_mark("metal2-drop");
	standin_drop_program(third);
	standin_mark("progs-done");
	standin_drop_program(first);
	return end(mesh, buffers);
}

static int recb(int, char **)
{
	standin_mesh *mesh = open_mesh("n150", 1);
	std::vector<standin_buffer *> buffers = one_of_each(mesh);
	standin_mark("buffers");
	standin_program *program = standin_new_program(mesh, nullptr);
	standin_add_cb(program, &SQUARE, 4096, nullptr);
	standin_add_kernel(program, "compute/1/", 1668);
	standin_mark("recb-first");
	standin_enqueue(program);
	standin_mark("recb-update");
	standin_resize_cb(program, 0, 8192);
	standin_mark("recb-second");
	standin_enqueue(program);
	let_look();
	standin_mark("recb-end");
	standin_drop_program(program);
	return end(mesh, buffers);
}

static void refuse(standin_mesh *mesh, int type, uint64_t size, const standin_cores *shards)
{
	try {
		standin_allocate(mesh, type, size, 2048, shards);
		printf("it should not fit\n");
	} catch (const std::runtime_error &error) {
		printf("refused: %s\n", error.what());
	}
}

/* Circular buffers that do not go together with what is in L1, or with L1 at all. */
static void clash(standin_mesh *mesh, unsigned count, uint64_t size, std::vector<standin_buffer *> &tall)
{
	standin_program *program = standin_new_program(mesh, nullptr);
	for (unsigned i = 0; i < (tall.empty() ? 0 : 8); i++)
		tall[i] = standin_allocate(mesh, STANDIN_L1, 6553600, 2048, nullptr);
	for (unsigned i = 0; i < count; i++)
		standin_add_cb(program, &SQUARE, size, nullptr);
	standin_add_kernel(program, "reader/1/", 1268);
	standin_add_kernel(program, "compute/2/", 1668);
	standin_add_kernel(program, "writer/3/", 868);
	try {
		standin_enqueue(program);
		printf("it should clash\n");
	} catch (const std::runtime_error &error) {
		printf("refused: %s\n", error.what());
	}
	if (!tall.empty())
		let_look();
	release(tall);
	standin_drop_program(program);
}

/* A program is refused, and launched again when there is room. */
static int retry(int, char **)
{
	standin_mesh *mesh = open_mesh("n300", 2);
	std::vector<standin_buffer *> tall(8, nullptr);
	for (standin_buffer *&buffer : tall)
		buffer = standin_allocate(mesh, STANDIN_L1, 6553600, 2048, nullptr);
	standin_program *program = standin_new_program(mesh, nullptr);
	for (unsigned i = 0; i < 8; i++)
		standin_add_cb(program, &SQUARE, 65536, nullptr);
	standin_add_kernel(program, "reader/1/", 1268);
	for (int i = 0; i < 3; i++)
		try {
			standin_enqueue(program);
			printf("launched\n");
		} catch (const std::runtime_error &error) {
			printf("refused: %s\n", error.what());
			if (i == 1)
				release(tall);
		}
	let_look();
	standin_drop_program(program);
	return end(mesh, tall);
}

/* Requests that are refused though there is memory. */
static int wrong(int, char **)
{
	standin_mesh *mesh = open_mesh("n300", 2);
	std::vector<standin_buffer *> buffers = one_of_each(mesh);
	refuse(mesh, STANDIN_L1_SMALL, 2048, nullptr);
	refuse(mesh, STANDIN_L1_SMALL, 1 << 24, nullptr);
	let_look();
	return end(mesh, buffers);
}

static int oom(int, char **)
{
	standin_mesh *mesh = open_mesh("n300", 2);
	std::vector<standin_buffer *> buffers = one_of_each(mesh), tall(8, nullptr);
	standin_mark("buffers");
	refuse(mesh, STANDIN_DRAM, 64424509440, nullptr);
	refuse(mesh, STANDIN_L1, 1073741824, nullptr);
	refuse(mesh, STANDIN_L1_SMALL, 262144, &SQUARE);
	clash(mesh, 8, 65536, tall);
	clash(mesh, 16, 131072, tall);
	standin_mark("after-oom");
	return end(mesh, buffers);
}

/* trace [replay] [free]: as logged; with a replay, before which the buffer may be released */
static int trace(int count, char **)
{
	standin_mesh *mesh = open_mesh("n300", 2);
	std::vector<standin_buffer *> buffers = one_of_each(mesh);
	standin_mark("buffers");
	standin_mark("trace-begin");
	uint32_t id = standin_begin_trace(mesh);
	standin_release(standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr));
	standin_mark("trace-end");
	standin_end_trace(mesh, id);
	standin_mark("alloc-while-alive");
	standin_buffer *hazard = standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr);
	show(hazard, 0, 2);
	standin_mark("replay");
	if (count > 1) {
		standin_release(hazard);
		hazard = nullptr;
	}
	if (count > 0)
		standin_replay_trace(mesh, id);
	let_look();
	standin_mark("release-trace");
	standin_release_trace(mesh, id);
	standin_mark("trace-done");
	if (hazard)
		standin_release(hazard);
	return end(mesh, buffers);
}

static int submesh(int, char **)
{
	standin_mesh *mesh = open_mesh("n300", 2);
	std::vector<standin_buffer *> buffers = one_of_each(mesh);
	standin_mark("buffers");
	standin_mesh *part = standin_submesh(mesh, 1, 1);
	standin_buffer *small = standin_allocate(part, STANDIN_DRAM, 32768, 2048, nullptr);
	show_each(buffers, 2);
	show(small, 0, 1);
	let_look();
	standin_release(small);
	standin_drop_mesh(part);
	return end(mesh, buffers);
}

static int pin(int count, char **arguments)
{
	standin_mesh *mesh = open_mesh("n150", number(count, arguments, 0, 1));
	std::vector<standin_buffer *> buffers = one_of_each(mesh);
	standin_mark("buffers");
	void *host = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	standin_pinned *pinned = standin_pin(mesh, host, 1 << 20);
	let_look();
	standin_unpin(pinned);
	return end(mesh, buffers);
}

/* Buffers that are released after the close, and after the mesh has gone. */
static int late(int, char **)
{
	standin_mesh *mesh = open_mesh("n300", 2);
	std::vector<standin_buffer *> buffers = one_of_each(mesh);
	standin_mark("buffers");
	standin_mark("close-early");
	standin_release(buffers[1]);
	standin_close(mesh);
	standin_mark("closed");
	let_look();
	standin_release(buffers[0]);
	standin_release(buffers[2]);
	standin_mark("late-released");
	standin_drop_mesh(mesh);
	standin_mark("mesh-gone");
	for (int i : { 3, 4, 5 })
		standin_release(buffers[(size_t)i]);
	standin_mark("late2");
	return 0;
}

static int exit_open(int, char **)
{
	standin_mesh *mesh = open_mesh("n300", 2);
	std::vector<standin_buffer *> buffers = one_of_each(mesh);
	standin_mark("buffers");
	standin_mark("exit-without-close");
	exit(3);
}

static int quick_exit_open(int, char **)
{
	standin_mesh *mesh = open_mesh("n300", 2);
	std::vector<standin_buffer *> buffers = one_of_each(mesh);
	standin_mark("buffers");
	standin_mark("_exit");
	_exit(4);
}

const program golden_programs[] = {
	{ "prog", prog },
	{ "recb", recb },
	{ "oom", oom },
	{ "retry", retry },
	{ "wrong", wrong },
	{ "trace", trace },
	{ "submesh", submesh },
	{ "pin", pin },
	{ "late", late },
	{ "exit", exit_open },
	{ "quick_exit", quick_exit_open },
	{ nullptr, nullptr },
};
