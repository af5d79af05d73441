#include "api/dataflow/dataflow_api.h"

template <uint32_t step = 4>
void turn_one(uint32_t from, uint32_t to)
{
	cb_wait_front(from, step);
	cb_push_back(to, step);
}

void turn(uint32_t from, uint32_t to)
{
	cb_reserve_back(to, 9);
	turn_one(from, to);
}

void called_by_somebody_else(uint32_t to)
{
	cb_push_back(to, 2);
}

void kernel_main()
{
	constexpr uint32_t cb_in = get_compile_time_arg_val(0);
	constexpr bool is_turned = (bool)get_compile_time_arg_val(1);
	if constexpr (is_turned) {
		turn(cb_in, 1);
	}
	cb_push_back(cb_in, 1);
}
