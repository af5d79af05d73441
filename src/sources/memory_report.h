/*
 * The reports of the runtime's memory reporter, three CSV files that belong together by the beginning of their names:
 *
 *     …memory_usage_summary.csv    four figures of one bank for each kind of memory
 *     …l1_usage_summary.csv        the largest free block of L1, in one bank and in all
 *     …detailed_memory_usage.csv   totals of all banks, and every block of one bank
 *
 * Each holds one state of the memory (a dump), or one for each program that was compiled. docs/formats/reports.md has
 * the forms, also the older ones. All banks of a kind are in lockstep, so that one bank stands for all.
 */
#ifndef TDM_SOURCES_MEMORY_REPORT_H
#define TDM_SOURCES_MEMORY_REPORT_H

#include "base/kind.h"
#include "base/units.h"
#include "event/source.h"

enum tdm_memory_form {
	TDM_MEMORY_SUMMARY,
	TDM_MEMORY_L1,
	TDM_MEMORY_DETAILED,
	TDM_MEMORY_FORMS,
};

struct tdm_memory_block {
	uint64_t address, bytes; /* in the bank; the sum fits 64 bits */
	bool allocated;
};

/* Figures that the file does not have are TDM_BYTES_UNKNOWN. */
struct tdm_memory_region {
	uint8_t kind;   /* enum tdm_kind */
	uint32_t banks; /* 0: unknown */
	bool rounded;   /* totals of all banks were in KiB */
	bool rough;     /* its blocks were in KiB, each rounded down: they need not add up */
	bool damaged;   /* a line of it was refused */
	uint64_t line;
	uint64_t total, allocated, free, largest;             /* of one bank */
	uint64_t device_total, device_allocated, device_free; /* of all banks */
	uint64_t interleaved_free;                            /* the largest free block times the banks (L1) */
	size_t first_block, block_count;
};

struct tdm_memory_state {
	bool has_program;
	uint64_t program, line;
	size_t first_region, region_count;
};

struct tdm_memory_report {
	uint8_t form;     /* enum tdm_memory_form */
	bool by_program;  /* the states are those of programs */
	bool rounded;     /* the file has KiB, rounded down: figures are up to 1023 bytes too low */
	uint64_t refused; /* records that could not be used */
	size_t state_count, region_count, block_count;
	struct tdm_memory_state *states;
	struct tdm_memory_region *regions;
	struct tdm_memory_block *blocks; /* in the order of the file */
	size_t state_cap, region_cap, block_cap;
};

/* Says what is wrong with a record; the rest goes on. */
typedef void (*tdm_memory_warn)(void *context, const struct tdm_diag *diag);

/* Which of the reports begins like this; -1: none. */
int tdm_memory_report_detect(const char *head, size_t len);

/* Reads a descriptor, which stays the caller's, or memory. 0, or a code with diag set: what was read before stays. */
int tdm_memory_report_read(struct tdm_memory_report *report, enum tdm_memory_form form, int fd, tdm_memory_warn warn,
	void *context, struct tdm_diag *diag);
int tdm_memory_report_parse(struct tdm_memory_report *report, enum tdm_memory_form form, struct tdm_str text,
	tdm_memory_warn warn, void *context, struct tdm_diag *diag);
void tdm_memory_report_done(struct tdm_memory_report *report);

/* The region of a kind in a state; NULL: none. */
const struct tdm_memory_region *tdm_memory_report_find(
	const struct tdm_memory_report *report, size_t state, enum tdm_kind kind);

/*
 * The states as events: for each the program, the end of everything that was there, the device's regions, and a buffer
 * for each allocated block. The report must outlive the source. NULL when out of memory.
 */
struct tdm_source *tdm_memory_report_events(const struct tdm_memory_report *report);

#endif
