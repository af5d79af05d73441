#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	cb_push_back(tt::CBIndex::c_0, 1);
	cb_push_back(tt::CBIndex::c_7, 1);
}
