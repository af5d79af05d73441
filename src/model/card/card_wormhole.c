/* Wormhole B0: constants, firmware map, compute grids. */
#include "model/card/card_table.h"

#define MEM_MAP TDM_CARD_COMMIT "dev_mem_map.h (wormhole): "
#define NOC     TDM_CARD_COMMIT "noc_parameters.h (wormhole): "
#define SOC     TDM_CARD_COMMIT "wormhole_b0_80_arch.yaml (soc_descriptors): "
#define CORES   TDM_CARD_COMMIT "wormhole_b0_80_arch.yaml (core_descriptors): "
#define ETH     TDM_CARD_COMMIT "wormhole_b0_80_arch_eth_dispatch.yaml: "
#define MUX     TDM_CARD_COMMIT "wormhole_b0_80_arch_fabric_mux.yaml: "

static const struct tdm_card_fact facts[] = {
	{ TDM_CARD_L1_SIZE, 1499136, MEM_MAP "MEM_L1_SIZE" },
	{ TDM_CARD_ETH_L1_SIZE, 262144, SOC "eth_l1_size" },
	{ TDM_CARD_NOC_X, 10, SOC "grid x_size" },
	{ TDM_CARD_NOC_Y, 12, SOC "grid y_size" },
	{ TDM_CARD_WORKERS_X, 8, SOC "functional_workers, 80 cores in 8 columns" },
	{ TDM_CARD_WORKERS_Y, 10, SOC "functional_workers, 80 cores in 10 rows" },
	{ TDM_CARD_L1_ALIGN, 16, NOC "L1_ALIGNMENT" },
	{ TDM_CARD_DRAM_ALIGN, 32, NOC "DRAM_ALIGNMENT" },
	{ TDM_CARD_PCIE_ALIGN, 32, NOC "PCIE_ALIGNMENT" },
	{ TDM_CARD_MAP_END, 35008, MEM_MAP "MEM_MAP_END" },
	{ TDM_CARD_KERNEL_CONFIG, 70656, TDM_CARD_COMMIT "wh_hal_tensix.cpp: default_l1_kernel_config_size" },
	{ TDM_CARD_DRAM_BANKS, 12, SOC "dram_views, two for each of six channels" },
	{ TDM_CARD_DRAM_BANK_SIZE, 1073741824, SOC "dram_view_size" },
	{ TDM_CARD_CB_COUNT, 32, TDM_CARD_COMMIT "circular_buffer_constants.h: NUM_CIRCULAR_BUFFERS" },
	{ TDM_CARD_CB_MAX_PAGES, 65535, TDM_CARD_COMMIT "circular_buffer.cpp: max_num_cb_pages" },
};

static const struct tdm_l1_part parts[] = {
	{ "boot code", 0, 4, MEM_MAP "MEM_BOOT_CODE_BASE" },
	{ "NoC atomic return value", 4, 8, MEM_MAP "MEM_NOC_ATOMIC_RET_VAL_ADDR" },
	{ "L1 barrier", 12, 4, MEM_MAP "MEM_L1_BARRIER" },
	{ "mailbox", 16, 13296, MEM_MAP "MEM_MAILBOX_BASE" },
	{ "zeros", 13312, 512, MEM_MAP "MEM_ZEROS_BASE" },
	{ "LLK debug", 13824, 1024, MEM_MAP "MEM_LLK_DEBUG_BASE" },
	{ "BRISC firmware", 14848, 7712, MEM_MAP "MEM_BRISC_FIRMWARE_BASE" },
	{ "NCRISC firmware", 22560, 2048, MEM_MAP "MEM_NCRISC_FIRMWARE_BASE" },
	{ "TRISC0 firmware", 24608, 1536, MEM_MAP "MEM_TRISC0_FIRMWARE_BASE" },
	{ "TRISC1 firmware", 26144, 1536, MEM_MAP "MEM_TRISC1_FIRMWARE_BASE" },
	{ "TRISC2 firmware", 27680, 1536, MEM_MAP "MEM_TRISC2_FIRMWARE_BASE" },
	{ "NoC counters", 29216, 80, MEM_MAP "MEM_NOC_COUNTER_BASE" },
	{ "fabric counters", 29296, 32, MEM_MAP "MEM_FABRIC_COUNTER_BASE" },
	{ "fabric connection lock", 29328, 144, MEM_MAP "MEM_FABRIC_CONNECTION_LOCK_BASE" },
	{ "routing table", 29472, 516, MEM_MAP "MEM_TENSIX_ROUTING_TABLE_BASE" },
	{ "routing paths", 29988, 1024, MEM_MAP "MEM_TENSIX_ROUTING_PATH_BASE" },
	{ "exit node table", 31012, 1024, MEM_MAP "MEM_TENSIX_EXIT_NODE_TABLE_BASE" },
	{ "unnamed", 32036, 12, MEM_MAP "MEM_ROUTING_TABLE_PADDING" },
	{ "fabric connections", 32048, 656, MEM_MAP "MEM_TENSIX_FABRIC_CONNECTIONS_BASE" },
	{ "packet header pool", 32704, 2304, MEM_MAP "MEM_PACKET_HEADER_POOL_BASE" },
};

static const struct tdm_card_grid grids[] = {
	{ 0, TDM_DISPATCH_TENSIX_ROW, false, 8, 9, CORES "galaxy, row" },
	{ 1, TDM_DISPATCH_TENSIX_ROW, false, 8, 8, CORES "nebula_x1, row" },
	{ 2, TDM_DISPATCH_TENSIX_ROW, false, 8, 7, CORES "nebula_x2, row" },
	{ 0, TDM_DISPATCH_TENSIX_COL, false, 7, 10, CORES "galaxy, col" },
	{ 1, TDM_DISPATCH_TENSIX_COL, false, 7, 9, CORES "nebula_x1, col" },
	{ 2, TDM_DISPATCH_TENSIX_COL, false, 7, 8, CORES "nebula_x2, col" },
	{ 0, TDM_DISPATCH_TENSIX_ROW, true, 8, 9, MUX "galaxy, row" },
	{ 1, TDM_DISPATCH_TENSIX_ROW, true, 8, 8, MUX "nebula_x1, row" },
	{ 2, TDM_DISPATCH_TENSIX_ROW, true, 8, 7, MUX "nebula_x2, row" },
	{ 0, TDM_DISPATCH_TENSIX_COL, true, 7, 10, MUX "galaxy, col" },
	{ 1, TDM_DISPATCH_TENSIX_COL, true, 7, 9, MUX "nebula_x1, col" },
	{ 2, TDM_DISPATCH_TENSIX_COL, true, 7, 8, MUX "nebula_x2, col" },
	/* Ethernet dispatch uses the same descriptor with and without a fabric mux. */
	{ 0, TDM_DISPATCH_ETH, false, 8, 10, ETH "galaxy, row" },
	{ 1, TDM_DISPATCH_ETH, false, 8, 8, ETH "nebula_x1, row" },
	{ 2, TDM_DISPATCH_ETH, false, 8, 8, ETH "nebula_x2, row" },
	{ 0, TDM_DISPATCH_ETH, true, 8, 10, ETH "galaxy, row" },
	{ 1, TDM_DISPATCH_ETH, true, 8, 8, ETH "nebula_x1, row" },
	{ 2, TDM_DISPATCH_ETH, true, 8, 8, ETH "nebula_x2, row" },
};

const struct tdm_card_arch tdm_card_arch_wormhole = {
	.arch = TDM_ARCH_WORMHOLE,
	.name = "Wormhole",
	.unknown = "not published for Wormhole",
	.facts = facts,
	.fact_count = sizeof facts / sizeof *facts,
	.parts = parts,
	.part_count = sizeof parts / sizeof *parts,
	.grids = grids,
	.grid_count = sizeof grids / sizeof *grids,
	.harvest_unit = "rows",
	.harvested_max = 2,
	.usual = TDM_DISPATCH_TENSIX,
	.tensix = TDM_DISPATCH_TENSIX_ROW,
	.tensix_mux = TDM_DISPATCH_TENSIX_ROW,
	.dram = {
		.print_bytes = 1048576,
		.profiler_bytes = 1920000,
		.source = "derived: barrier + pointers of the print ring + 1 MiB print ring; " TDM_CARD_COMMIT "wh_hal.cpp",
		.tracy_source = "derived: barrier + profiler (48 B x 1000 programs x 5 processors x 8 cores) + pointers of "
				"the print ring + 1 MiB print ring; " TDM_CARD_COMMIT "wh_hal.cpp with TRACY_ENABLE",
	},
};
