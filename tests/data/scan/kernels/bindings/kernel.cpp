#include "api/dataflow/dataflow_buffer.h"

template <uint32_t block>
TT_KERNEL void compute(uint32_t rounds)
{
	DataflowBuffer in(dfb::in);
	DataflowBuffer out(dfb::out);
	in.wait_front(block);
	out.push_back(block * tt::constants::TILE_HEIGHT);
#ifdef WITH_BIAS
	DataflowBuffer bias(dfb::bias);
	bias.wait_front(1);
#endif
}
