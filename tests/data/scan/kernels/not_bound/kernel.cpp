#include "api/dataflow/dataflow_buffer.h"

void kernel_main()
{
	DataflowBuffer in(dfb::in);
	in.push_back(1);
#ifdef WITH_SCALES
	DataflowBuffer scales(dfb::scales);
	scales.push_back(1);
#endif
	if constexpr (get_arg(args::has_other)) {
		DataflowBuffer other(dfb::other);
		other.push_back(1);
	}
}
