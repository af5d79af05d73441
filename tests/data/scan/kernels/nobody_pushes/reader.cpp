#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	CircularBuffer cb_in(get_compile_time_arg_val(0));
	cb_in.reserve_back(1);
}
