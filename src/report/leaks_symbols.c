#include "report/leaks_report.h"
#include "report/stack_report.h"

struct tdm_symbolizer *tdm_leaks_symbols_get(
	struct tdm_leaks_symbols *symbols, const struct tdm_picture *picture, uint32_t process)
{
	for (size_t i = 0; i < TDM_LEAKS_SYMBOLS; i++)
		if (symbols->kept[i].sym != NULL && symbols->kept[i].process == process)
			return symbols->kept[i].sym;
	size_t at = symbols->next;
	symbols->next = (symbols->next + 1) % TDM_LEAKS_SYMBOLS;
	tdm_symbolizer_free(symbols->kept[at].sym);
	symbols->kept[at].sym = tdm_stack_symbolizer(picture, process);
	symbols->kept[at].process = process;
	return symbols->kept[at].sym;
}

void tdm_leaks_symbols_done(struct tdm_leaks_symbols *symbols)
{
	for (size_t i = 0; i < TDM_LEAKS_SYMBOLS; i++)
		tdm_symbolizer_free(symbols->kept[i].sym);
	*symbols = (struct tdm_leaks_symbols){ 0 };
}
