/* Numbers of C++ as they are written, and the names that the runtime gives to indices of circular buffers. */
#ifndef TDM_SCAN_CPP_LITERAL_H
#define TDM_SCAN_CPP_LITERAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* A whole number: 12, 0x1F, 0b101, 1'000u. False when it is something else, or more than 63 bits. */
bool tdm_cpp_number(struct tdm_str text, int64_t *number);

/* The index that a name of an enum stands for: 3 of "c_3", 17 of "c_out1". False when it is none. */
bool tdm_cpp_buffer_index(struct tdm_str name, int64_t *number);

#endif
