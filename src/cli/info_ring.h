/* The size of the kernel-config ring, where a file does not say for which card it is. */
#ifndef TDM_CLI_INFO_RING_H
#define TDM_CLI_INFO_RING_H

#include <stdint.h>

/* What Wormhole and Blackhole cards have without other settings; TDM_BYTES_UNKNOWN when their tables do not agree. */
uint64_t tdm_info_ring_bytes(void);

#endif
