#include "somewhere/else.hpp"

void kernel_main()
{
	fill_from_elsewhere(0, 2);
	cb_wait_front(0, 1);
}
