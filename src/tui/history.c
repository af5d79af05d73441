#include "tui/history.h"

void tdm_history_add(struct tdm_history *history, int permille)
{
	int16_t value = permille < 0 ? TDM_HISTORY_UNKNOWN : permille > 1000 ? 1000 : (int16_t)permille;
	history->values[history->next] = value;
	history->next = (history->next + 1) % TDM_HISTORY_CAP;
	if (history->count < TDM_HISTORY_CAP)
		history->count++;
}

int tdm_history_get(const struct tdm_history *history, size_t back)
{
	if (back >= history->count)
		return TDM_HISTORY_UNKNOWN;
	return history->values[(history->next + TDM_HISTORY_CAP - 1 - back) % TDM_HISTORY_CAP];
}
