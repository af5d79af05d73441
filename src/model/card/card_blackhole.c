/* Blackhole: constants, firmware map, compute grids. */
#include "model/card/card_table.h"

#define MEM_MAP TDM_CARD_COMMIT "dev_mem_map.h (blackhole): "
#define NOC     TDM_CARD_COMMIT "noc_parameters.h (blackhole): "
#define SOC     TDM_CARD_COMMIT "blackhole_140_arch.yaml (soc_descriptors): "
#define CORES   TDM_CARD_COMMIT "blackhole_140_arch.yaml (core_descriptors): "
#define ETH     TDM_CARD_COMMIT "blackhole_140_arch_eth_dispatch.yaml: "
#define MUX     TDM_CARD_COMMIT "blackhole_140_arch_fabric_mux.yaml: "

static const struct tdm_card_fact facts[] = {
	{ TDM_CARD_L1_SIZE, 1572864, MEM_MAP "MEM_L1_SIZE" },
	{ TDM_CARD_ETH_L1_SIZE, 524288, SOC "eth_l1_size" },
	{ TDM_CARD_NOC_X, 17, SOC "grid x_size" },
	{ TDM_CARD_NOC_Y, 12, SOC "grid y_size" },
	{ TDM_CARD_WORKERS_X, 14, SOC "functional_workers, 140 cores in 14 columns" },
	{ TDM_CARD_WORKERS_Y, 10, SOC "functional_workers, 140 cores in 10 rows" },
	{ TDM_CARD_L1_ALIGN, 16, NOC "L1_ALIGNMENT" },
	{ TDM_CARD_DRAM_ALIGN, 64, NOC "DRAM_ALIGNMENT" },
	{ TDM_CARD_PCIE_ALIGN, 64, NOC "PCIE_ALIGNMENT" },
	{ TDM_CARD_MAP_END, 40960, MEM_MAP "MEM_MAP_END" },
	{ TDM_CARD_KERNEL_CONFIG, 70656, TDM_CARD_COMMIT "bh_hal_tensix.cpp: default_l1_kernel_config_size" },
	{ TDM_CARD_DRAM_BANKS, 8, SOC "dram_views, one for each of eight channels" },
	{ TDM_CARD_DRAM_BANK_SIZE, 4278190080, SOC "dram_view_size" },
	{ TDM_CARD_CB_COUNT, 64, TDM_CARD_COMMIT "circular_buffer_constants.h: NUM_CIRCULAR_BUFFERS" },
	{ TDM_CARD_CB_MAX_PAGES, 65535, TDM_CARD_COMMIT "circular_buffer.cpp: max_num_cb_pages" },
};

static const struct tdm_l1_part parts[] = {
	{ "boot code", 0, 4, MEM_MAP "MEM_BOOT_CODE_BASE" },
	{ "NoC atomic return value", 4, 8, MEM_MAP "MEM_NOC_ATOMIC_RET_VAL_ADDR" },
	{ "L1 barrier", 12, 4, MEM_MAP "MEM_L1_BARRIER" },
	{ "ARC firmware scratch", 16, 16, MEM_MAP "MEM_L1_ARC_FW_SCRATCH" },
	{ "inline writes", 32, 64, MEM_MAP "MEM_L1_INLINE_BASE" },
	{ "mailbox", 96, 13424, MEM_MAP "MEM_MAILBOX_BASE" },
	{ "unnamed", 13520, 16, MEM_MAP "MEM_ZEROS_BASE is aligned to 32" },
	{ "zeros", 13536, 512, MEM_MAP "MEM_ZEROS_BASE" },
	{ "LLK debug", 14048, 1024, MEM_MAP "MEM_LLK_DEBUG_BASE" },
	{ "BRISC firmware", 15072, 8704, MEM_MAP "MEM_BRISC_FIRMWARE_BASE" },
	{ "NCRISC firmware", 23776, 2560, MEM_MAP "MEM_NCRISC_FIRMWARE_BASE" },
	{ "TRISC0 firmware", 26336, 2560, MEM_MAP "MEM_TRISC0_FIRMWARE_BASE" },
	{ "TRISC1 firmware", 28896, 2560, MEM_MAP "MEM_TRISC1_FIRMWARE_BASE" },
	{ "TRISC2 firmware", 31456, 2560, MEM_MAP "MEM_TRISC2_FIRMWARE_BASE" },
	{ "NoC counters", 34016, 80, MEM_MAP "MEM_NOC_COUNTER_BASE" },
	{ "fabric counters", 34096, 32, MEM_MAP "MEM_FABRIC_COUNTER_BASE" },
	{ "fabric connection lock", 34128, 144, MEM_MAP "MEM_FABRIC_CONNECTION_LOCK_BASE" },
	{ "routing table", 34272, 516, MEM_MAP "MEM_TENSIX_ROUTING_TABLE_BASE" },
	{ "routing paths", 34788, 1024, MEM_MAP "MEM_TENSIX_ROUTING_PATH_BASE" },
	{ "exit node table", 35812, 1024, MEM_MAP "MEM_TENSIX_EXIT_NODE_TABLE_BASE" },
	{ "unnamed", 36836, 12, MEM_MAP "MEM_ROUTING_TABLE_PADDING" },
	{ "fabric connections", 36848, 656, MEM_MAP "MEM_TENSIX_FABRIC_CONNECTIONS_BASE" },
	{ "packet header pool", 37504, 3456, MEM_MAP "MEM_PACKET_HEADER_POOL_BASE" },
};

static const struct tdm_card_grid grids[] = {
	{ 0, TDM_DISPATCH_TENSIX_COL, false, 13, 10, CORES "unharvested, col" },
	{ 1, TDM_DISPATCH_TENSIX_COL, false, 12, 10, CORES "1xharvested, col" },
	{ 2, TDM_DISPATCH_TENSIX_COL, false, 11, 10, CORES "2xharvested, col" },
	{ 0, TDM_DISPATCH_TENSIX_ROW, true, 14, 9, MUX "unharvested, row" },
	{ 1, TDM_DISPATCH_TENSIX_ROW, true, 13, 9, MUX "1xharvested, row" },
	{ 2, TDM_DISPATCH_TENSIX_ROW, true, 12, 9, MUX "2xharvested, row" },
	{ 0, TDM_DISPATCH_TENSIX_COL, true, 13, 10, MUX "unharvested, col" },
	{ 1, TDM_DISPATCH_TENSIX_COL, true, 12, 10, MUX "1xharvested, col" },
	{ 2, TDM_DISPATCH_TENSIX_COL, true, 11, 10, MUX "2xharvested, col" },
	/* Columns only: a fabric mux makes rows the default, so it cannot be combined with these grids. */
	{ 0, TDM_DISPATCH_ETH, false, 14, 10, ETH "unharvested, col" },
	{ 1, TDM_DISPATCH_ETH, false, 13, 10, ETH "1xharvested, col" },
	{ 2, TDM_DISPATCH_ETH, false, 12, 10, ETH "2xharvested, col" },
};

const struct tdm_card_arch tdm_card_arch_blackhole = {
	.arch = TDM_ARCH_BLACKHOLE,
	.name = "Blackhole",
	.unknown = "not published for Blackhole",
	.facts = facts,
	.fact_count = sizeof facts / sizeof *facts,
	.parts = parts,
	.part_count = sizeof parts / sizeof *parts,
	.grids = grids,
	.grid_count = sizeof grids / sizeof *grids,
	.harvest_unit = "columns",
	.harvests_columns = true,
	.harvested_max = 2,
	.usual = TDM_DISPATCH_TENSIX,
	.tensix = TDM_DISPATCH_TENSIX_COL,
	.tensix_mux = TDM_DISPATCH_TENSIX_ROW,
	.dram = {
		.print_bytes = 1048576,
		.profiler_bytes = 4800000,
		.source = "derived: barrier + pointers of the print ring + 1 MiB print ring; " TDM_CARD_COMMIT "bh_hal.cpp",
		.tracy_source = "derived: barrier + profiler (48 B x 1000 programs x 5 processors x 20 cores) + pointers of "
				"the print ring + 1 MiB print ring; " TDM_CARD_COMMIT "bh_hal.cpp with TRACY_ENABLE",
	},
};
