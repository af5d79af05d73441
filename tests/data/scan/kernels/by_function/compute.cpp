#include "api/compute/compute_kernel_api.h"

namespace NAMESPACE
{
void MAIN
{
	constexpr uint32_t tiles = get_compile_time_arg_val(0);
	constexpr uint32_t cb_in = get_compile_time_arg_val(1);
	constexpr uint32_t cb_out = get_compile_time_arg_val(2);
	constexpr uint32_t block = get_compile_time_arg_val(3);
	unary_op_init_common(cb_in, cb_out);
	for (uint32_t i = 0; i < tiles; i += block) {
		cb_wait_front(cb_in, block);
		cb_reserve_back(cb_out, block);
		for (uint32_t k = 0; k < block; ++k) {
			if (k != 0 && i != 0) {
				copy_tile(cb_in, k, 0);
			}
			pack_tile(0, cb_out);
		}
		cb_push_back(cb_out, block);
		cb_pop_front(cb_in, block);
	}
}
} // namespace NAMESPACE
