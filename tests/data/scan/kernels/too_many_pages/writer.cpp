#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	constexpr uint32_t block = get_compile_time_arg_val(1);
	cb_wait_front(get_compile_time_arg_val(0), block + 1);
	if (block > 7) {
		cb_wait_front(get_compile_time_arg_val(0), 9);
	}
}
