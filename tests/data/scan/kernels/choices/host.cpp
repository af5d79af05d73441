// Variables of the kernel hold one of several buffers.
#include <tt-metalium/host_api.hpp>

using namespace tt::tt_metal;

void create_choices(Program &program, const CoreRangeSet &cores)
{
	CreateKernel(program, "scan/kernels/choices/kernel.cpp", cores, ComputeConfig{ .compile_args = { 0, 1, 2, 3 } });
}
