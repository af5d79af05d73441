#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	constexpr uint32_t pages = get_compile_time_arg_val(2);
	cb_push_back(get_compile_time_arg_val(0), pages);
	cb_push_back(get_compile_time_arg_val(1), pages);
}
