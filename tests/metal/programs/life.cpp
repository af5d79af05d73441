/* Programs as users have them: threads, meshes, exceptions, many buffers, many programs. */
#include "programs.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

/* Threads that allocate; half of what each made is released by another one. */
static int threads(int count, char **arguments)
{
	unsigned workers = number(count, arguments, 0, 4), each = number(count, arguments, 1, 200);
	uint64_t page = number(count, arguments, 2, 2048);
	standin_mesh *mesh = standin_open("n300", 1, 2, 32768, 4194304);
	std::vector<std::vector<standin_buffer *>> made(workers);
	auto on_all = [&](auto work) {
		std::vector<std::thread> running;
		for (unsigned i = 0; i < workers; i++)
			running.emplace_back(work, i);
		for (std::thread &thread : running)
			thread.join();
	};
	on_all([&](unsigned i) {
		for (unsigned n = 0; n < each; n++)
			made[i].push_back(standin_allocate(
				mesh, n % 2 ? STANDIN_DRAM : STANDIN_L1, page * (1 + (i + n) % 5), page, nullptr));
	});
	on_all([&](unsigned i) {
		std::vector<standin_buffer *> &others = made[(i + 1) % workers];
		for (unsigned n = 0; n < each / 2; n++)
			standin_release(others[n]);
	});
	for (auto &buffers : made) {
		buffers.erase(buffers.begin(), buffers.begin() + each / 2);
		for (standin_buffer *buffer : buffers)
			show(buffer, 0, 2);
	}
	show_statistics(mesh);
	let_look();
	on_all([&](unsigned i) { release(made[i]); });
	end(mesh);
	return 0;
}

/* Threads that get the addresses which others have just released. */
static int churn(int count, char **arguments)
{
	unsigned workers = number(count, arguments, 0, 4), rounds = number(count, arguments, 1, 2000);
	standin_mesh *mesh = standin_open("n300", 1, 2, 32768, 4194304);
	std::vector<std::thread> running;
	for (unsigned i = 0; i < workers; i++)
		running.emplace_back([&] {
			for (unsigned n = 0; n < rounds; n++)
				standin_release(standin_allocate(mesh, STANDIN_L1, 65536, 2048, nullptr));
		});
	for (std::thread &thread : running)
		thread.join();
	std::vector<standin_buffer *> buffers = { standin_allocate(mesh, STANDIN_L1, 65536, 2048, nullptr) };
	return show_and_end(mesh, buffers, 2);
}

static int mesh(int count, char **arguments)
{
	unsigned rows = number(count, arguments, 0, 1), columns = number(count, arguments, 1, 2);
	const char *card = count > 2 ? arguments[2] : "n300";
	standin_mesh *all = standin_open(card, rows, columns, 32768, 4194304);
	std::vector<standin_buffer *> buffers = one_of_each(all);
	standin_buffer *bare = standin_allocate_bare(all, rows * columns - 1, STANDIN_DRAM, 10240, 2048);
	for (standin_buffer *buffer : buffers)
		show(buffer, 0, rows * columns);
	show(bare, rows * columns - 1, 1);
	show_statistics(all);
	let_look();
	standin_release(bare);
	release(buffers);
	end(all);
	return 0;
}

struct on_the_way {
	~on_the_way()
	{
		printf("unwound\n");
	}
};

static void throw_through(standin_mesh *mesh)
{
	on_the_way frame;
	standin_allocate(mesh, STANDIN_DRAM, 1ull << 40, 2048, nullptr);
}

static int exceptions(int count, char **arguments)
{
	standin_mesh *mesh = standin_open("n150", 1, 1, 0, 0);
	standin_buffer *kept = standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr);
	try {
		throw_through(mesh);
	} catch (const std::runtime_error &error) {
		printf("caught: %s\n", error.what());
	}
	try {
		try {
			throw_through(mesh);
		} catch (...) {
			standin_release(standin_allocate(mesh, STANDIN_DRAM, 8192, 2048, nullptr));
			throw;
		}
	} catch (const std::exception &error) {
		printf("caught again: %s\n", error.what());
	}
	if (count > 0 && strcmp(arguments[0], "uncaught") == 0)
		throw_through(mesh);
	if (count > 0 && strcmp(arguments[0], "noexcept") == 0)
		[&]() noexcept { throw_through(mesh); }();
	show(kept, 0, 1);
	let_look();
	standin_release(kept);
	end(mesh);
	return 7;
}

/* Holes, and the same address again and again. */
static int order(int, char **)
{
	standin_mesh *mesh = standin_open("n150", 1, 1, 32768, 0);
	std::vector<standin_buffer *> buffers;
	for (unsigned i = 0; i < 40; i++)
		buffers.push_back(
			standin_allocate(mesh, i % 2 ? STANDIN_L1 : STANDIN_DRAM, 2048ull * (i + 1), 2048, nullptr));
	for (unsigned i = 0; i < 40; i += 3) {
		standin_release(buffers[i]);
		buffers[i] = standin_allocate(mesh, STANDIN_DRAM, 2048, 2048, nullptr);
	}
	for (unsigned i = 40; i-- > 20;) {
		standin_release(buffers[i]);
		buffers.pop_back();
	}
	return show_and_end(mesh, buffers, 1);
}

/* Programs that live side by side and share addresses. Says how much of the fullest core they take together. */
static int programs(int count, char **arguments)
{
	unsigned total = number(count, arguments, 0, 1000), kept = number(count, arguments, 1, 100);
	bool has_names = count < 3;
	standin_mesh *mesh = standin_open("n300", 1, 1, 0, 0);
	std::vector<standin_program *> alive(kept, nullptr);
	std::vector<uint64_t> sizes(kept, 0);
	for (unsigned i = 0; i < total; i++) {
		standin_cores cores = { i % 8, i % 7, i % 8, i % 7 };
		unsigned place = i % kept;
		if (alive[place])
			standin_drop_program(alive[place]);
		alive[place] = standin_new_program(mesh, has_names ? "ttnn::matmul" : nullptr);
		sizes[place] = 1024ull * (1 + i % 9);
		standin_add_cb(alive[place], &cores, sizes[place], nullptr);
		if (has_names)
			standin_add_kernel(alive[place], "matmul/1/", 1000);
		standin_enqueue(alive[place]);
	}
	uint64_t most = 0;
	for (uint64_t size : sizes)
		most = size > most ? size : most;
	printf("fullest core=%llu\n", (unsigned long long)most);
	let_look();
	for (standin_program *program : alive)
		if (program)
			standin_drop_program(program);
	end(mesh);
	return 0;
}

/* Buffers that are smaller than what the allocator gives: one page of 16 or 32 bytes in each bank. With `bare`, those
 * of a single chip come in between, and after a pause that is long enough for the allocator to be asked again. */
static int small(int count, char **arguments)
{
	const char *card = count > 0 ? arguments[0] : "p150";
	bool with_bare = count > 1;
	standin_mesh *mesh = standin_open(card, 1, 1, 32768, 4194304);
	std::vector<standin_buffer *> buffers;
	for (unsigned i = 0; i < 20; i++) {
		uint64_t page = i % 2 ? 16 : 32;
		for (int type : { STANDIN_DRAM, STANDIN_L1, STANDIN_L1_SMALL, STANDIN_TRACE })
			buffers.push_back(standin_allocate(
				mesh, type, 4 * page, page, type == STANDIN_L1_SMALL ? &SQUARE : nullptr));
		if (with_bare)
			buffers.push_back(standin_allocate_bare(mesh, 0, STANDIN_L1, page, page));
		if (with_bare && i == 10)
			std::this_thread::sleep_for(std::chrono::milliseconds(300));
	}
	return show_and_end(mesh, buffers, 1);
}

/* Opens a mesh and does nothing with it; or closes it with buffers that nobody has released. */
static int idle(int count, char **arguments)
{
	bool closes = count > 0 && strcmp(arguments[0], "close") == 0;
	standin_mesh *mesh = standin_open("n300", 1, 2, 32768, 4194304);
	std::vector<standin_buffer *> left;
	for (unsigned i = 0; i < 3 && count > 1; i++)
		left.push_back(standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr));
	if (closes)
		standin_close(mesh);
	let_look();
	release(left);
	if (!closes)
		standin_close(mesh);
	standin_drop_mesh(mesh);
	return 0;
}

/* Pinned memory that moves from object to object, and some that is still pinned when the device is closed. */
static int pins(int, char **)
{
	static char host[4][8192];
	standin_mesh *mesh = standin_open("n300", 1, 2, 0, 0);
	standin_pinned *first = standin_pin(mesh, host[0], 4096), *second = standin_pin(mesh, host[1], 2048);
	standin_pinned *left = standin_pin(mesh, host[2], 1024), *kept = standin_pin(mesh, host[3], 512);
	first = standin_move_pin(standin_move_pin(first));
	standin_replace_pin(second, first); /* the 2048 bytes are no longer pinned */
	standin_unpin(standin_move_pin(left));
	let_look();
	standin_unpin(second);
	standin_close(mesh);
	standin_unpin(kept);
	standin_drop_mesh(mesh);
	return 0;
}

/* A mix in no order; every buffer that is left is shown. */
static int many(int count, char **arguments)
{
	unsigned total = number(count, arguments, 0, 1000), seed = number(count, arguments, 1, 1);
	standin_mesh *mesh = standin_open("n300", 1, 2, 32768, 4194304);
	std::vector<standin_buffer *> buffers;
	auto next = [&] { return seed = seed * 1103515245u + 12345u, seed >> 16; };
	for (unsigned i = 0; i < total; i++) {
		unsigned what = next() % 8;
		if (what < 2 && !buffers.empty()) {
			size_t victim = next() % buffers.size();
			standin_release(buffers[victim]);
			buffers[victim] = buffers.back();
			buffers.pop_back();
			continue;
		}
		unsigned page = 32u << next() % 6, pages = 1 + next() % 100;
		int type = what < 5 ? STANDIN_DRAM : what < 7 ? STANDIN_L1 : STANDIN_L1_SMALL;
		standin_cores cores = { next() % 4, next() % 3, 4 + next() % 4, 3 + next() % 4 };
		bool is_sharded = type == STANDIN_L1_SMALL || next() % 4 == 0;
		try {
			buffers.push_back(standin_allocate(
				mesh, type, (uint64_t)page * pages, page, is_sharded ? &cores : nullptr));
		} catch (const std::runtime_error &) {
			printf("no room\n");
		}
	}
	return show_and_end(mesh, buffers, 2);
}

/* What an allocation and its release take, in nanoseconds, on a bare device. */
static int loop(int count, char **arguments)
{
	unsigned rounds = number(count, arguments, 0, 100000);
	standin_mesh *mesh = standin_open("n150", 1, 1, 0, 0);
	std::vector<standin_buffer *> others;
	for (unsigned i = 0; i < number(count, arguments, 1, 100); i++)
		others.push_back(standin_allocate(mesh, STANDIN_DRAM, 4096, 2048, nullptr));
	for (unsigned i = 0; i < 1000; i++)
		standin_release(standin_allocate_bare(mesh, 0, STANDIN_DRAM, 4096, 2048));
	auto start = std::chrono::steady_clock::now();
	for (unsigned i = 0; i < rounds; i++)
		standin_release(standin_allocate_bare(mesh, 0, STANDIN_DRAM, 4096, 2048));
	std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
	printf("%.1f\n", took.count() / (rounds ? rounds : 1));
	release(others);
	end(mesh);
	return 0;
}

const program life_programs[] = {
	{ "threads", threads },
	{ "churn", churn },
	{ "mesh", mesh },
	{ "exceptions", exceptions },
	{ "order", order },
	{ "programs", programs },
	{ "many", many },
	{ "small", small },
	{ "idle", idle },
	{ "pins", pins },
	{ "loop", loop },
	{ nullptr, nullptr },
};
