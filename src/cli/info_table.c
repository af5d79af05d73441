#include "cli/info_format.h"

const struct tdm_info_format *const tdm_info_formats[] = { &tdm_info_capture, NULL };
