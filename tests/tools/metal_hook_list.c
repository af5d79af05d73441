/* Prints the symbols of the hooks in the table of the preload, for tests/install/check-preload. */
#include <stdio.h>

#include "metal/hook_table.h"

int main(void)
{
	for (size_t i = 0; i < tdm_metal_symbol_count; i++)
		if (tdm_metal_symbols[i].is_hook)
			puts(tdm_metal_symbols[i].symbol);
	return 0;
}
