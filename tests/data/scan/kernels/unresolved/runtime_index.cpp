#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	uint32_t cb = get_arg_val<uint32_t>(0);
	uint32_t changing = 0;
	changing = get_arg_val<uint32_t>(1);
	cb_push_back(cb, 1);
	cb_push_back(changing, 1);
	cb_wait_front(0, 1);
	if constexpr (get_compile_time_arg_val(9) == 3) {
		cb_wait_front(5, 1);
	}
}
