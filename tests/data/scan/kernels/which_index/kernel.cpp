#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	cb_reserve_back(1, 4);
}
