/* The tables about cards: what is in a row, and the columns of its text and its JSON. */
#ifndef TDM_REPORT_DEVICE_TABLES_H
#define TDM_REPORT_DEVICE_TABLES_H

#include "base/kind.h"
#include "device/card.h"
#include "report/table.h"

/* The memory regions of one chip: those that the runtime allocates from, and those it keeps. */
enum { TDM_DEVICE_REGION_COUNT = 6 };

struct tdm_device_region {
	enum tdm_kind kind;
	const char *label;   /* in text: "L1_SMALL", "kernel config" */
	const char *source;  /* of the field that decides its size */
	uint64_t banks;      /* each figure is TDM_BYTES_UNKNOWN when it is not known */
	uint64_t base, size; /* in each bank */
	uint64_t total;      /* in all banks of the chip */
	uint64_t chips;      /* on the card, at least 1 */
};

void tdm_device_regions(const struct tdm_card *card, struct tdm_device_region regions[TDM_DEVICE_REGION_COUNT]);

enum { TDM_DEVICE_CARD_TOTAL = 1 << 6 }; /* the column of the regions that says nothing new about a card of one chip */

extern const struct tdm_column tdm_device_region_columns[8];
extern const struct tdm_column tdm_device_card_columns[14]; /* of a struct tdm_card */
enum { TDM_DEVICE_CARD_NAMES = 4 };                         /* the first ones say which card it is */
extern const struct tdm_column tdm_device_part_columns[6];  /* of a struct tdm_l1_part */

#endif
