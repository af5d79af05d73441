#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	constexpr uint32_t tiles = get_compile_time_arg_val(0);
	constexpr uint32_t cb_in = get_compile_time_arg_val(1);
	for (uint32_t i = 0; i < tiles; ++i) {
		cb_reserve_back(cb_in, 1);
		noc_async_read_barrier();
		cb_push_back(cb_in, 1);
	}
}
