/*
 * Reads the runtime's cache of compiled kernels, or any part of it:
 *
 *     …/BUILD/kernels/NAME/HASH/TARGET/TARGET.elf
 *     …/BUILD/firmware/TARGET/TARGET.elf
 */
#ifndef TDM_SOURCES_KERNEL_CACHE_H
#define TDM_SOURCES_KERNEL_CACHE_H

#include <stdint.h>

/*
 * Bytes that the binaries of one kernel take in the kernel-config ring, each rounded up; `path` is the folder of the
 * kernel (…/NAME/HASH). Only looks for files of known processors. TDM_BYTES_UNKNOWN if there is none, or if one is
 * unusable.
 */
uint64_t tdm_kernel_cache_bytes_of(const char *path);

#endif
