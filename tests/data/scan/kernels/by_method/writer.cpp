#include "api/dataflow/circular_buffer.h"

void kernel_main()
{
	experimental::CB cb_out{ get_compile_time_arg_val(1) };
	auto again = CircularBuffer(cb_out.get_id());
	cb_out.wait_front(2);
	again.pop_front(2);
}
