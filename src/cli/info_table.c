#include "cli/info_format.h"

const struct tdm_info_format *const tdm_info_formats[] = { &tdm_info_capture, &tdm_info_kernels, &tdm_info_memory,
	&tdm_info_perf, &tdm_info_mesh_buffers, &tdm_info_programs, &tdm_info_cores, &tdm_info_log, NULL };
