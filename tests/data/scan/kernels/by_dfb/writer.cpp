#include "api/dataflow/dataflow_buffer.h"

void kernel_main()
{
	constexpr auto out_id = dfb::out;
	DataflowBuffer out(out_id);
	out.wait_front(1);
	out.pop_front(1);
}
