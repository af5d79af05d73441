/* Recognises ledgers. The commands that read them have readers of their own. */
#include "ledger/layout.h"
#include "sources/format.h"

static bool ledger_recognise(struct tdm_str head, const char *path)
{
	uint64_t magic = 0;
	(void)path;
	memcpy(&magic, head.ptr, head.len < sizeof magic ? head.len : sizeof magic);
	return magic == TDM_LEDGER_MAGIC;
}

const struct tdm_format tdm_format_ledger = { .name = "ledger", .summary = "ledger", .recognise = ledger_recognise };
