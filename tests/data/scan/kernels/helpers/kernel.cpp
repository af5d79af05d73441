#include "moves.hpp"

void kernel_main()
{
	constexpr uint32_t first = get_compile_time_arg_val(0);
	CircularBuffer first_cb(first);
	auto twice = [&](uint32_t cb) {
		cb_push_back(cb, 1);
		cb_push_back(first, 1);
	};
	fill(first_cb, 4);
	drain<first>();
	twice(Buffers::SECOND);
	drain<SECOND, 1>();
	again(THIRD);
	again(THIRD);
#ifdef WIDE
	drain<4, 3>();
#endif
}
