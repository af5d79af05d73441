/*
 * A program that uses the stand-in for tt-metal, for bench_metal.c: buffers are released and allocated in random order.
 * It knows nothing of Tidemark; the environment decides whether the preload is there and whether it tracks.
 */
#include "bench.h"
#include "bench_child.h"
#include "event_load.h"
#include "standin/standin.h"

#include <stdlib.h>

enum { LIVE = 1000, PAIRS = 200000, PAGE = 2048, STEPS = 16, L1_SMALL = 32768, TRACE_REGION = 4194304 };

struct loop {
	struct standin_mesh *mesh;
	struct standin_buffer *buffers[LIVE];
	uint64_t seed;
};

/* On a bare chip: one chip is told, as by a direct call of the library. */
static struct standin_buffer *allocate(struct loop *loop)
{
	uint64_t size = (1 + bench_random(&loop->seed) % STEPS) * PAGE;
	return standin_allocate_bare(loop->mesh, 0, STANDIN_DRAM, size, PAGE);
}

static void measure(void *state, void *figures)
{
	struct loop *loop = state;
	uint64_t begin = tdm_clock_ns();
	for (size_t i = 0; i < PAIRS; i++) {
		struct standin_buffer **place = &loop->buffers[bench_random(&loop->seed) % LIVE];
		standin_release(*place);
		*place = allocate(loop);
	}
	*(double *)figures = (double)(tdm_clock_ns() - begin) / (2.0 * PAIRS);
}

int main(void)
{
	static struct loop loop = { .seed = 88172645463325252 };
	double ns;
	event_pin(0);
	loop.mesh = standin_open("n150", 1, 1, L1_SMALL, TRACE_REGION);
	for (size_t i = 0; i < LIVE; i++)
		loop.buffers[i] = allocate(&loop);
	measure(&loop, &ns); /* warm */
	int code = bench_child_serve(measure, &loop, &ns, sizeof ns);
	for (size_t i = 0; i < LIVE; i++)
		standin_release(loop.buffers[i]);
	standin_close(loop.mesh);
	standin_drop_mesh(loop.mesh);
	return code;
}
