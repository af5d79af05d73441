#include "api/compute/common.h"

void kernel_main()
{
	cb_reserve_back(0, 1);
}
