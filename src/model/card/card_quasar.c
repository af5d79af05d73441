/* Quasar, as the runtime simulates it: constants, firmware map, compute grids. */
#include "model/card/card_table.h"

#define MEM_MAP TDM_CARD_COMMIT "dev_mem_map.h (quasar): "
#define NOC     TDM_CARD_COMMIT "noc_parameters.h (quasar): "
#define SOC     TDM_CARD_COMMIT "quasar_32_arch.yaml (soc_descriptors): "

static const struct tdm_card_fact facts[] = {
	{ TDM_CARD_L1_SIZE, 4194304, MEM_MAP "MEM_L1_SIZE" },
	{ TDM_CARD_ETH_L1_SIZE, 0, SOC "eth_l1_size; the simulated chip has no Ethernet cores" },
	{ TDM_CARD_NOC_X, 10, SOC "grid x_size" },
	{ TDM_CARD_NOC_Y, 8, SOC "grid y_size" },
	{ TDM_CARD_WORKERS_X, 8, SOC "functional_workers, 32 cores in 8 columns" },
	{ TDM_CARD_WORKERS_Y, 4, SOC "functional_workers, 32 cores in 4 rows" },
	{ TDM_CARD_L1_ALIGN, 16, NOC "L1_ALIGNMENT" },
	{ TDM_CARD_DRAM_ALIGN, 64, NOC "DRAM_ALIGNMENT" },
	{ TDM_CARD_PCIE_ALIGN, 64, NOC "PCIE_ALIGNMENT" },
	{ TDM_CARD_MAP_END, 211440, MEM_MAP "MEM_MAP_END" },
	{ TDM_CARD_KERNEL_CONFIG, 102400, MEM_MAP "MEM_KERNEL_CONFIG_SIZE" },
	{ TDM_CARD_DRAM_BANKS, 2, SOC "dram_views" },
	{ TDM_CARD_DRAM_BANK_SIZE, 1073741824, SOC "dram_view_size" },
	{ TDM_CARD_CB_COUNT, 64, TDM_CARD_COMMIT "circular_buffer_constants.h: NUM_CIRCULAR_BUFFERS" },
	{ TDM_CARD_CB_MAX_PAGES, 65535, TDM_CARD_COMMIT "circular_buffer.cpp: max_num_cb_pages" },
};

static const struct tdm_l1_part parts[] = {
	{ "boot code", 0, 4, MEM_MAP "MEM_BOOT_CODE_BASE" },
	{ "NoC atomic return value", 4, 8, MEM_MAP "MEM_NOC_ATOMIC_RET_VAL_ADDR" },
	{ "L1 barrier", 12, 4, MEM_MAP "MEM_L1_BARRIER" },
	{ "mailbox", 16, 59632, MEM_MAP "MEM_MAILBOX_BASE" },
	{ "LLK debug", 59648, 1024, MEM_MAP "MEM_LLK_DEBUG_BASE" },
	{ "interrupt table", 60672, 256, MEM_MAP "MEM_INTERRUPT_TABLE_BASE" },
	{ "DM firmware", 60928, 12288, MEM_MAP "MEM_DM_FIRMWARE_BASE" },
	{ "TRISC0 firmware", 73216, 5120, MEM_MAP "MEM_TRISC0_FIRMWARE_BASE" },
	{ "TRISC1 firmware", 78336, 5120, MEM_MAP "MEM_TRISC1_FIRMWARE_BASE" },
	{ "TRISC2 firmware", 83456, 5120, MEM_MAP "MEM_TRISC2_FIRMWARE_BASE" },
	{ "TRISC3 firmware", 88576, 5120, MEM_MAP "MEM_TRISC3_FIRMWARE_BASE" },
	{ "DM globals", 93696, 18432, MEM_MAP "MEM_DM_GLOBAL_BASE" },
	{ "TRISC0 globals", 112128, 4096, MEM_MAP "MEM_TRISC0_GLOBAL_BASE" },
	{ "TRISC1 globals", 116224, 4096, MEM_MAP "MEM_TRISC1_GLOBAL_BASE" },
	{ "TRISC2 globals", 120320, 4096, MEM_MAP "MEM_TRISC2_GLOBAL_BASE" },
	{ "TRISC3 globals", 124416, 4096, MEM_MAP "MEM_TRISC3_GLOBAL_BASE" },
	{ "DM local data", 128512, 65536, MEM_MAP "MEM_DM_LOCAL_BASE" },
	{ "NoC counters", 194048, 80, MEM_MAP "MEM_NOC_COUNTER_BASE" },
	{ "fabric counters", 194128, 112, MEM_MAP "MEM_FABRIC_COUNTER_BASE" },
	{ "fabric connection lock", 194240, 144, MEM_MAP "MEM_FABRIC_CONNECTION_LOCK_BASE" },
	{ "routing table", 194384, 516, MEM_MAP "MEM_TENSIX_ROUTING_TABLE_BASE" },
	{ "routing paths", 194900, 1024, MEM_MAP "MEM_TENSIX_ROUTING_PATH_BASE" },
	{ "exit node table", 195924, 1024, MEM_MAP "MEM_TENSIX_EXIT_NODE_TABLE_BASE" },
	{ "unnamed", 196948, 12, MEM_MAP "MEM_ROUTING_TABLE_PADDING" },
	{ "fabric connections", 196960, 656, MEM_MAP "MEM_TENSIX_FABRIC_CONNECTIONS_BASE" },
	{ "packet header pool", 197616, 13824, MEM_MAP "MEM_PACKET_HEADER_POOL_BASE, 8 data movers" },
};

static const struct tdm_card_grid grids[] = {
	{ 0, TDM_DISPATCH_TENSIX_ROW, false, 7, 4,
		TDM_CARD_COMMIT "quasar_simulation_8x4_arch_tensix_dispatch.yaml: unharvested, row" },
};

const struct tdm_card_arch tdm_card_arch_quasar = {
	.arch = TDM_ARCH_QUASAR,
	.name = "Quasar",
	.unknown = "not published for Quasar, which exists as a simulation only",
	.facts = facts,
	.fact_count = sizeof facts / sizeof *facts,
	.parts = parts,
	.part_count = sizeof parts / sizeof *parts,
	.grids = grids,
	.grid_count = sizeof grids / sizeof *grids,
	.harvest_unit = "rows",
	.harvested_max = 0,
	.usual = TDM_DISPATCH_NONE, /* it has dispatch engines, so dispatch takes no Tensix core */
	.tensix = TDM_DISPATCH_TENSIX_ROW,
	.tensix_mux = TDM_DISPATCH_TENSIX_ROW,
	.dram = {
		.print_bytes = 1048576,
		.profiler_bytes = TDM_BYTES_UNKNOWN,
		.source = "derived: barrier + pointers of the print ring + 1 MiB print ring; " TDM_CARD_COMMIT "qa_hal.cpp",
		.tracy_source = "the profiler's part of DRAM has not been established for Quasar",
	},
};
