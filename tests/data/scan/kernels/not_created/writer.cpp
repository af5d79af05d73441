#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	cb_wait_front(tt::CBIndex::c_0, 1);
	cb_wait_front(tt::CBIndex::c_7, 1);
}
