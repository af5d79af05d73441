/*
 * Grayskull in the last runtime that supported it (v0.55.0): constants of its compute cores, firmware map, compute
 * grid. Its storage cores, and the L1 banks on them, are not modelled.
 */
#include "model/card/card_table.h"

#define RUNTIME "tt-metal v0.55.0 "
#define MEM_MAP RUNTIME "dev_mem_map.h (grayskull): "
#define SOC     RUNTIME "grayskull_120_arch.yaml (soc_descriptors): "

static const struct tdm_card_fact facts[] = {
	{ TDM_CARD_L1_SIZE, 1048576, MEM_MAP "MEM_L1_SIZE" },
	{ TDM_CARD_ETH_L1_SIZE, 0, SOC "eth_l1_size; Grayskull has no Ethernet cores" },
	{ TDM_CARD_NOC_X, 13, SOC "grid x_size" },
	{ TDM_CARD_NOC_Y, 12, SOC "grid y_size" },
	{ TDM_CARD_WORKERS_X, 12, SOC "functional_workers, 120 cores in 12 columns" },
	{ TDM_CARD_WORKERS_Y, 10, SOC "functional_workers, 120 cores in 10 rows" },
	{ TDM_CARD_L1_ALIGN, 16, RUNTIME "noc_parameters.h (grayskull): L1_ALIGNMENT" },
	{ TDM_CARD_DRAM_ALIGN, 32, RUNTIME "noc_parameters.h (grayskull): DRAM_ALIGNMENT" },
	{ TDM_CARD_PCIE_ALIGN, 32, RUNTIME "noc_parameters.h (grayskull): PCIE_ALIGNMENT" },
	{ TDM_CARD_MAP_END, 29344, MEM_MAP "MEM_MAP_END" },
	{ TDM_CARD_KERNEL_CONFIG, 70656, RUNTIME "common_runtime_address_map.h: L1_KERNEL_CONFIG_SIZE" },
	{ TDM_CARD_DRAM_BANKS, 8, SOC "dram" },
	{ TDM_CARD_DRAM_BANK_SIZE, 1073741824, SOC "dram_bank_size" },
	{ TDM_CARD_CB_COUNT, 32, RUNTIME "circular_buffer_constants.h: NUM_CIRCULAR_BUFFERS" },
};

static const struct tdm_l1_part parts[] = {
	{ "boot code", 0, 4, MEM_MAP "MEM_BOOT_CODE_BASE" },
	{ "NoC atomic return value", 4, 8, MEM_MAP "MEM_NOC_ATOMIC_RET_VAL_ADDR" },
	{ "L1 barrier", 12, 4, MEM_MAP "MEM_L1_BARRIER" },
	{ "mailbox", 16, 12256, MEM_MAP "MEM_MAILBOX_BASE" },
	{ "unnamed", 12272, 16, MEM_MAP "MEM_ZEROS_BASE is aligned to 32" },
	{ "zeros", 12288, 512, MEM_MAP "MEM_ZEROS_BASE" },
	{ "BRISC firmware", 12800, 5744, MEM_MAP "MEM_BRISC_FIRMWARE_BASE" },
	{ "TRISC0 firmware", 18544, 1664, MEM_MAP "MEM_TRISC0_FIRMWARE_BASE" },
	{ "TRISC1 firmware", 20208, 1536, MEM_MAP "MEM_TRISC1_FIRMWARE_BASE" },
	{ "TRISC2 firmware", 21744, 1664, MEM_MAP "MEM_TRISC2_FIRMWARE_BASE" },
	{ "NCRISC firmware image", 23408, 5920, MEM_MAP "MEM_NCRISC_INIT_IRAM_L1_BASE" },
	{ "NoC counters", 29328, 16, MEM_MAP "MEM_NOC_COUNTER_BASE" },
};

static const struct tdm_card_grid grids[] = {
	{ 0, TDM_DISPATCH_TENSIX_ROW, false, 12, 9, RUNTIME "grayskull_120_arch.yaml (core_descriptors): E150, row" },
};

const struct tdm_card_arch tdm_card_arch_grayskull = {
	.arch = TDM_ARCH_GRAYSKULL,
	.name = "Grayskull",
	.unknown = "not published for Grayskull",
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
	.no_l1_banks = "Grayskull also has L1 banks on storage cores, of another size; they are not modelled",
	.dram = {
		.print_bytes = TDM_BYTES_UNKNOWN,
		.profiler_bytes = TDM_BYTES_UNKNOWN,
		.source = "the runtime's part of DRAM is not published for Grayskull",
		.tracy_source = "the runtime's part of DRAM is not published for Grayskull",
	},
};
