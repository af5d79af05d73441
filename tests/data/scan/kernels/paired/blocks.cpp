#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	cb_push_back(11, get_arg(args::pages));
}
