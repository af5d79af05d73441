#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	constexpr bool is_off = get_compile_time_arg_val(0) != 0;
	constexpr bool is_on = get_compile_time_arg_val(1) != 0;
	constexpr bool has_mask = get_compile_time_arg_val(2) != 0;
	const uint32_t rounds = get_arg_val<uint32_t>(0);
	if (rounds == 0) {
		return;
	}
	if constexpr (is_off) {
		cb_wait_front(9, 1);
	} else {
		cb_push_back(0, 1);
	}
	if constexpr (is_on) {
		cb_push_back(1, 1);
	}
	if (has_mask) {
		cb_push_back(2, 1);
	}
	for (uint32_t i = 0; i < rounds; i++) {
		if (is_on && i + 1 == rounds) {
			cb_push_back(3, 1);
		}
		if (is_off && i == 0) {
			cb_push_back(9, 1);
		}
	}
	if constexpr (get_compile_time_arg_val(7) == 1) {
		cb_push_back(4, 1);
	}
#ifdef WITH_BIAS
	cb_push_back(5, 1);
#endif
#if defined(WITH_MASK) && !defined(WITH_BIAS)
	cb_push_back(5, 2);
#endif
#ifdef WITH_MASK
	cb_push_back(6, 2);
#else
	cb_push_back(6, 3);
#endif
	volatile uint32_t *flags = get_flags();
	if (flags[0] != 0) {
		cb_push_back(6, 1);
	}
}
