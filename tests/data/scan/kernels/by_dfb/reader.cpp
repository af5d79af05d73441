#include "api/dataflow/dataflow_buffer.h"

void kernel_main()
{
	constexpr auto pages = get_arg(args::pages);
	DataflowBuffer in(dfb::in);
	in.reserve_back(pages);
	in.push_back(pages);
}
