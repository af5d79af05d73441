#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	constexpr uint32_t tiles = get_compile_time_arg_val(0);
	constexpr auto cb_out = tt::CBIndex::c_16;
	for (uint32_t i = 0; i < tiles; ++i) {
		cb_wait_front(cb_out, 1);
		noc_async_write_barrier();
		cb_pop_front(cb_out, 1);
	}
}
