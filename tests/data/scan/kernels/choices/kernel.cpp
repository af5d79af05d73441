#include "api/compute/common.h"
#include "choices.hpp"

constexpr uint32_t first = get_compile_time_arg_val(0);
constexpr uint32_t second = get_compile_time_arg_val(1);

void advance(uint32_t &cb, uint32_t step)
{
	cb = cb + step;
}

void move(CircularBuffer from, CircularBuffer to, bool is_last, bool is_first)
{
	to.push_back(4);
}

void kernel_main()
{
	uint32_t now = first;
	uint32_t before = second;
	uint32_t alias = get_compile_time_arg_val(2);
	uint32_t given = first;
#ifdef WIDE
	constexpr uint32_t out = get_compile_time_arg_val(2);
#else
	constexpr uint32_t out = get_compile_time_arg_val(3);
#endif
	if (get_arg_val<uint32_t>(0) == 1) {
		alias = get_compile_time_arg_val(3);
	}
	cb_push_back(alias, 1);
	cb_push_back(out, 1);
	cb_wait_front(now, 2);
	std::swap(now, before);
	advance(given, 2);
	cb_push_back(given, 3);
	move(first, second, true, false);
}
