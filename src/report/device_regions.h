/* The memory regions of one chip as reports show them: those that the runtime allocates from, and those it keeps. */
#ifndef TDM_REPORT_DEVICE_REGIONS_H
#define TDM_REPORT_DEVICE_REGIONS_H

#include "base/kind.h"
#include "device/card.h"

enum { TDM_DEVICE_REGION_COUNT = 6 };

struct tdm_device_region {
	enum tdm_kind kind;
	const char *label;         /* for tables: "L1_SMALL", "kernel config" */
	enum tdm_card_field field; /* the field that decides its size; its source stands for the region's */
	uint64_t banks;            /* each figure is TDM_BYTES_UNKNOWN when it is not known */
	uint64_t base, size;       /* in each bank */
	uint64_t total;            /* size in all banks of the chip */
};

void tdm_device_regions(const struct tdm_card *card, struct tdm_device_region regions[TDM_DEVICE_REGION_COUNT]);

/* a * b; unknown when a factor is, or when it does not fit 64 bits. */
uint64_t tdm_device_product(uint64_t a, uint64_t b);

#endif
