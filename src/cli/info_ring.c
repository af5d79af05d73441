#include "cli/info_ring.h"
#include "device/card.h"

uint64_t tdm_info_ring_bytes(void)
{
	static const char *const names[] = { "n150", "p150" };
	uint64_t bytes = TDM_BYTES_UNKNOWN;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct tdm_card card;
		if (tdm_card_init(&card, tdm_str_of(names[i]), NULL, NULL) != 0)
			return TDM_BYTES_UNKNOWN;
		uint64_t ring = tdm_card_get(&card, TDM_CARD_KERNEL_CONFIG);
		if (i != 0 && ring != bytes)
			return TDM_BYTES_UNKNOWN;
		bytes = ring;
	}
	return bytes;
}
