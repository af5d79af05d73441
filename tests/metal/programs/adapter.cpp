/*
 * A program that is built with the C++ adapter, as a user's would be, and runs with the stand-in. What it prints is
 * what the ledger has to have, once, with and without the preload.
 */
#include "programs.hpp"

#include <barrier>
#include <cstring>
#include <mutex>
#include <thread>

#include <tidemark_metal.hpp>

using tt::tt_metal::GraphTracker;

/* The chips have one buffer of each kind, and a program that shares a core with another one. */
static int work()
{
	standin_mesh *mesh = standin_open("n300", 1, 2, 32768, 4194304);
	std::vector<standin_buffer *> buffers = one_of_each(mesh);
	buffers.push_back(standin_allocate_bare(mesh, 1, STANDIN_DRAM, 10240, 2048));
	standin_program *program = standin_new_program(mesh, nullptr);
	standin_add_cb(program, &SQUARE, 4096, nullptr);
	standin_enqueue(program);
	for (standin_buffer *buffer : buffers)
		show(buffer, buffer == buffers.back() ? 1 : 0, buffer == buffers.back() ? 1 : 2);
	let_look();
	standin_drop_program(program);
	release(buffers);
	end(mesh);
	tidemark::metal::release_all(); /* older releases do not say that circular buffers end */
	return 0;
}

static int once(int, char **)
{
	tidemark::metal::watch watching;
	return work();
}

static int twice(int, char **)
{
	tidemark::metal::watch watching, again;
	tidemark::metal::install();
	tidemark::metal::watch nested;
	return work();
}

/* "all": each thread is watched; else only the first one is. */
static int threads(int count, char **arguments)
{
	enum { THREADS = 4, EACH = 25 };
	const bool is_all = count > 0 && strcmp(arguments[0], "all") == 0;
	tidemark::metal::watch watching;
	standin_mesh *mesh = standin_open("n300", 1, 2, 0, 0);
	std::vector<standin_buffer *> made[THREADS];
	std::barrier ready(THREADS);
	std::mutex one_at_a_time; /* older releases do not lock their list */
	std::vector<std::thread> running;
	for (auto &mine : made)
		running.emplace_back([&] {
			std::optional<tidemark::metal::watch> here;
			if (is_all) {
				std::lock_guard lock(one_at_a_time);
				here.emplace();
			}
			ready.arrive_and_wait();
			for (unsigned i = 0; i < EACH; i++)
				mine.push_back(standin_allocate(mesh, STANDIN_DRAM, 2048ull * (1 + i), 2048, nullptr));
			ready.arrive_and_wait();
			std::lock_guard lock(one_at_a_time);
			here.reset();
		});
	for (std::thread &thread : running)
		thread.join();
	for (auto &mine : made)
		for (standin_buffer *buffer : mine)
			show(buffer, 0, 2);
	let_look();
	for (auto &mine : made)
		release(mine); /* on a thread that did not allocate them */
	end(mesh);
	return 0;
}

/* An operation of the runtime within a program that the user has named. */
static int names(int, char **)
{
	tidemark::metal::watch watching;
	standin_mesh *mesh = standin_open("n150", 1, 1, 0, 0);
	std::vector<standin_buffer *> buffers;
	const auto allocate = [&](unsigned pages) {
		buffers.push_back(standin_allocate(mesh, STANDIN_DRAM, 2048ull * pages, 2048, nullptr));
	};
	const auto in_operation = [&](const char *name, const auto &what) {
		for (const auto &listener : GraphTracker::instance().get_processors())
			listener->track_function_start(name, {});
		what();
		for (const auto &listener : GraphTracker::instance().get_processors())
			listener->track_function_end();
	};
	in_operation("alone", [&] { allocate(1); });
	allocate(2);
	tidemark_program("mine");
	in_operation("outer", [&] {
		in_operation("inner", [&] { allocate(3); });
		allocate(4);
	});
	allocate(5);
	let_look();
	release(buffers);
	end(mesh);
	return 0;
}

int main(int count, char **arguments)
{
	static const program all[] = { { "once", once }, { "twice", twice }, { "threads", threads },
		{ "names", names } };
	setvbuf(stdout, nullptr, _IOLBF, 0);
	for (const program &each : all)
		if (count >= 2 && strcmp(each.name, arguments[1]) == 0)
			return each.run(count - 2, arguments + 2);
	fprintf(stderr, "usage: %s PROGRAM\n", arguments[0]);
	return 2;
}
