#include "api/dataflow/circular_buffer.h"

void kernel_main()
{
	constexpr uint32_t cb_id = get_named_compile_time_arg_val("cb_in");
	CircularBuffer cb_in(cb_id);
	cb_in.reserve_back(1);
	cb_in.push_back(1);
}
