/* Data formats of the device and the size of a tile in each. */
#ifndef TDM_MODEL_DATA_FORMAT_H
#define TDM_MODEL_DATA_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/units.h"

struct tdm_data_format {
	const char *name;   /* "Float16_b", as the runtime spells it */
	const char *alias;  /* "bf16", as users spell it; NULL when there is none */
	uint8_t number;     /* in the runtime's enum */
	uint8_t datum_bits; /* bits of a datum in memory, without shared exponents; 0 if undefined in the runtime */
	uint8_t shares_exponent; /* data sharing one exponent byte (16 or 32); 0 if each datum has its own exponent */
	uint32_t tile_bytes;     /* bytes of a 32x32 tile; 0 if undefined in the runtime */
};

extern const struct tdm_data_format tdm_data_formats[];
extern const size_t tdm_data_format_count;

/* By name or alias, ignoring case; NULL when unknown. */
const struct tdm_data_format *tdm_data_format_find(struct tdm_str name);

/* Bytes of a tile of height x width; TDM_BYTES_UNKNOWN when the format has no tiles of that shape. */
uint64_t tdm_data_format_tile_bytes(const struct tdm_data_format *format, uint32_t height, uint32_t width);

#endif
