/* The log that `tidemark log` shows to users who have none of their own. */
#include "input/log/log_reader.h"

/* An element-wise addition of 16 tiles with four circular buffers of four tiles each, 4096 bytes per tile; the
 * reader repeatedly waits for room in CB1. */
static const char sample[] =
	"2026-01-31 12:00:00.100 | info     |          Device | Opening user mode device driver (tt_cluster.cpp:227)\n"
	"2026-01-31 12:00:00.230 | debug    |           Metal | Configured partition params: worker_l1_size:0x16E000, "
	"l1_unreserved_base:0x19CC0, l1_small_size:0x0, disable_interleaved:false, l1_alignment:16, dram_alignment:32 "
	"(l1_banking_allocator.cpp:159)\n"
	"2026-01-31 12:00:00.230 | debug    |           Metal | Derived partition params: l1_bank_size:0x154340, "
	"interleaved_address_limit:0x19CC0, allocatable_l1_size:0x154340, small_interleaved_address_limit:0x16E000, "
	"small_alloc_offset:0x16E000 (l1_banking_allocator.cpp:172)\n"
	"2026-01-31 12:00:00.300 | info     |           Metal | SHM record_allocation: pid=4242, type=DRAM, size=65536 "
	"B (64 KB), chip_id=0, device_id=0, asic_id=0x0 (memory_stats_shm.cpp:315)\n"
	"2026-01-31 12:00:00.301 | info     |           Metal | SHM record_allocation: pid=4242, type=DRAM, size=65536 "
	"B (64 KB), chip_id=0, device_id=0, asic_id=0x0 (memory_stats_shm.cpp:315)\n"
	"DEBUG: num_tiles=16, mesh_devices=2, tiles_per_shard=8\n"
	"DEBUG: CB0 allocated: 4 tiles, size=16384 bytes, cores=64\n"
	"DEBUG: CB1 allocated: 4 tiles, size=16384 bytes, cores=64\n"
	"DEBUG: CB2 allocated: 4 tiles, size=16384 bytes, cores=64\n"
	"DEBUG: CB16 allocated: 4 tiles, size=16384 bytes, cores=64\n"
	"2026-01-31 12:00:00.410 | debug    |            Test | reader kernel started on 64 cores\n"
	"2026-01-31 12:00:00.411 | debug    |            Test | compute kernel started: n_tiles=16, r_tiles=16\n"
	"2026-01-31 12:00:00.412 | debug    |            Test | cb_reserve_back(CB0, 4) waited 0 us\n"
	"2026-01-31 12:00:00.413 | debug    |            Test | cb_push_back(CB0, 4)\n"
	"2026-01-31 12:00:00.414 | debug    |            Test | cb_reserve_back(CB1, 4) waited 0 us\n"
	"2026-01-31 12:00:00.415 | debug    |            Test | cb_push_back(CB1, 4)\n"
	"2026-01-31 12:00:00.416 | debug    |            Test | cb_wait_front(CB1, 1) waited 3 us\n"
	"2026-01-31 12:00:00.417 | debug    |            Test | cb_pop_front(CB1, 1)\n"
	"2026-01-31 12:00:00.419 | debug    |            Test | cb_reserve_back(CB1, 1) waited 41 us\n"
	"2026-01-31 12:00:00.420 | debug    |            Test | cb_push_back(CB1, 1)\n"
	"2026-01-31 12:00:00.421 | debug    |            Test | cb_wait_front(CB1, 1) waited 0 us\n"
	"2026-01-31 12:00:00.422 | debug    |            Test | cb_pop_front(CB1, 1)\n"
	"2026-01-31 12:00:00.425 | debug    |            Test | cb_reserve_back(CB1, 1) waited 52 us\n"
	"2026-01-31 12:00:00.426 | debug    |            Test | cb_push_back(CB1, 1)\n"
	"2026-01-31 12:00:00.430 | debug    |            Test | compute kernel finished in 19 ms\n"
	"2026-01-31 12:00:00.431 | debug    |            Test | reader kernel finished in 21 ms\n"
	"2026-01-31 12:00:00.500 | critical |          Always | TT_THROW: Statically allocated circular buffers in "
	"program 7 clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer allocated at 150000 and static circular "
	"buffer region ends at 171200 (assert.hpp:104)\n"
	"terminate called after throwing an instance of 'std::runtime_error'\n"
	"  what():  TT_THROW @ program.cpp:1920: tt::exception\n"
	"info:\n"
	"Statically allocated circular buffers in program 7 clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer "
	"allocated at 150000 and static circular buffer region ends at 171200\n"
	"Distributed elementwise add verification: 14343 / 16384 passed\n";

struct tdm_str tdm_log_sample_text(void)
{
	return (struct tdm_str){ sample, sizeof sample - 1 };
}
