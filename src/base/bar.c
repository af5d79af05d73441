#include "base/bar.h"

size_t tdm_bar_full(int permille, size_t columns)
{
	if (permille <= 0 || columns == 0)
		return 0;
	if (permille >= 1000)
		return columns;
	size_t full = ((size_t)permille * columns + 500) / 1000;
	if (full == 0)
		full = 1;
	return full == columns && columns > 1 ? columns - 1 : full;
}

void tdm_bar_put(struct tdm_buf *out, int permille, size_t columns, bool utf8)
{
	size_t full = tdm_bar_full(permille, columns);
	for (size_t i = 0; i < columns; i++)
		tdm_buf_puts(out, permille < 0 ? "?" : i < full ? (utf8 ? "█" : "#") : (utf8 ? "░" : "."));
}
