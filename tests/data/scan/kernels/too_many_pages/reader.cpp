#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	cb_reserve_back(tt::CBIndex::c_0, 2);
	cb_push_back(tt::CBIndex::c_0, 2);
}
