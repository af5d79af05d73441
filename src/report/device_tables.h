/* The tables about cards: their rows, and the columns for text and JSON. */
#ifndef TDM_REPORT_DEVICE_TABLES_H
#define TDM_REPORT_DEVICE_TABLES_H

#include "base/kind.h"
#include "device/card.h"
#include "report/table.h"

/* The memory regions of one chip: those that the runtime allocates from, and those that it keeps for itself. */
enum { TDM_DEVICE_REGION_COUNT = 6 };

struct tdm_device_region {
	enum tdm_kind kind;
	const char *label;   /* in text: "L1_SMALL", "kernel config" */
	const char *source;  /* of the field that decides its size */
	uint64_t banks;      /* TDM_BYTES_UNKNOWN when unknown, like the next figures */
	uint64_t base, size; /* in each bank */
	uint64_t total;      /* in all banks of the chip */
	uint64_t chips;      /* on the card, at least 1 */
};

void tdm_device_regions(const struct tdm_card *card, struct tdm_device_region regions[TDM_DEVICE_REGION_COUNT]);

enum { TDM_DEVICE_CARD_TOTAL = 1 << 6 }; /* bit of the region column that is redundant for a card with one chip */

extern const struct tdm_column tdm_device_region_columns[8];
extern const struct tdm_column tdm_device_card_columns[14]; /* of a struct tdm_card */
enum { TDM_DEVICE_CARD_NAMES = 4 };                         /* the first columns, which identify the card */
extern const struct tdm_column tdm_device_part_columns[6];  /* of a struct tdm_l1_part */

#endif
