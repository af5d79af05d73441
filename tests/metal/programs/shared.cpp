/* What the programs share. */
#include "programs.hpp"

#include <unistd.h>

const standin_cores SQUARE = { 0, 0, 1, 1 };

void show(const standin_buffer *buffer, unsigned first_chip, unsigned chips)
{
	standin_facts f;
	standin_look(buffer, &f);
	for (unsigned chip = first_chip; chip < first_chip + chips; chip++)
		printf("buffer device=%u kind=%u address=%llu size=%llu page=%llu taken=%llu banks=%u cores=%u\n", chip,
			f.type, (unsigned long long)f.address, (unsigned long long)f.size,
			(unsigned long long)f.page_size, (unsigned long long)f.taken, f.banks, f.cores);
}

void show_statistics(standin_mesh *mesh)
{
	for (int type : { STANDIN_DRAM, STANDIN_L1, STANDIN_L1_SMALL, STANDIN_TRACE }) {
		uint64_t f[4];
		standin_statistics(mesh, type, f);
		printf("statistics kind=%d all=%llu allocated=%llu free=%llu largest=%llu\n", type,
			(unsigned long long)f[0], (unsigned long long)f[1], (unsigned long long)f[2],
			(unsigned long long)f[3]);
	}
}

void let_look()
{
	printf("ready\n");
	fflush(stdout);
	char rest[64];
	while (read(0, rest, sizeof rest) > 0)
		;
}

unsigned number(int count, char **arguments, int index, unsigned otherwise)
{
	return index < count ? (unsigned)strtoul(arguments[index], nullptr, 10) : otherwise;
}

std::vector<standin_buffer *> one_of_each(standin_mesh *mesh)
{
	static const standin_cores row = { 0, 0, 3, 0 };
	std::vector<standin_buffer *> buffers = {
		standin_allocate(mesh, STANDIN_DRAM, 1048576, 2048, nullptr),
		standin_allocate(mesh, STANDIN_L1, 131072, 2048, nullptr),
		standin_allocate(mesh, STANDIN_L1, 131072, 2048, &SQUARE),
		standin_allocate(mesh, STANDIN_L1_SMALL, 8192, 2048, &SQUARE),
		standin_allocate(mesh, STANDIN_TRACE, 65536, 2048, nullptr),
		standin_allocate(mesh, STANDIN_DRAM, 131072, 2048, &row),
	};
	try {
		standin_allocate(mesh, STANDIN_SYSTEM_MEMORY, 2048, 2048, nullptr);
	} catch (const std::runtime_error &error) {
		printf("refused: %s\n", error.what());
	}
	standin_release(standin_allocate_bare(mesh, 0, STANDIN_DRAM, 8192, 2048));
	return buffers;
}

void release(std::vector<standin_buffer *> &buffers)
{
	for (standin_buffer *buffer : buffers)
		standin_release(buffer);
	buffers.clear();
}

void end(standin_mesh *mesh)
{
	standin_close(mesh);
	standin_drop_mesh(mesh);
}

int show_and_end(standin_mesh *mesh, std::vector<standin_buffer *> &buffers, unsigned chips)
{
	for (standin_buffer *buffer : buffers)
		show(buffer, 0, chips);
	show_statistics(mesh);
	let_look();
	release(buffers);
	end(mesh);
	return 0;
}
