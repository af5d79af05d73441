#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	cb_wait_front(get_compile_time_arg_val(0), 1);
	cb_pop_front(get_compile_time_arg_val(0), 1);
}
