#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	cb_push_back(get_compile_time_arg_val(0), 1);
}
