#include "analyze/log_timeline.h"

#include <string.h>

enum { FIRST_WIDTH_NS = 1000000 };

static void halve(uint64_t *slots, bool sum)
{
	for (size_t i = 0; i < TDM_LOG_SLOTS / 2; i++) {
		uint64_t a = slots[2 * i], b = slots[2 * i + 1];
		slots[i] = sum ? a + b : a > b ? a : b;
	}
	memset(slots + TDM_LOG_SLOTS / 2, 0, TDM_LOG_SLOTS / 2 * sizeof *slots);
}

/* Makes columns twice as wide and halves their number. */
static void widen(struct tdm_log_timeline *t)
{
	for (size_t row = 0; row < TDM_LOG_ROW_COUNT; row++)
		halve(t->rows[row], true);
	halve(t->dram_bytes, false);
	halve(t->l1_bytes, false);
	t->width *= 2;
	t->slots = (t->slots + 1) / 2;
	t->last /= 2;
}

static enum tdm_log_row row_for(const struct tdm_log_record *r)
{
	switch (r->type) {
	case TDM_LOG_FAILURE:
		return r->is_repeat ? TDM_LOG_ROW_COUNT : TDM_LOG_ROW_FAILURE;
	case TDM_LOG_ALLOC:
	case TDM_LOG_FREE:
	case TDM_LOG_UNKNOWN_FREE:
	case TDM_LOG_PROCESS_GONE:
	case TDM_LOG_MEMORY_STATE:
		return TDM_LOG_ROW_MEMORY;
	case TDM_LOG_CB_ALLOC:
	case TDM_LOG_CB_RESERVE:
	case TDM_LOG_CB_PUSH:
	case TDM_LOG_CB_WAIT:
	case TDM_LOG_CB_POP:
		return TDM_LOG_ROW_CB;
	case TDM_LOG_OP_BEGIN:
	case TDM_LOG_KERNEL_START:
	case TDM_LOG_KERNEL_END:
		return TDM_LOG_ROW_KERNEL;
	default:
		return TDM_LOG_ROW_COUNT;
	}
}

static void raise(uint64_t *most, uint64_t value)
{
	*most = value > *most ? value : *most;
}

/* An amount holds until the next record changes it. */
static void hold(struct tdm_log_timeline *t, size_t slot, uint64_t dram, uint64_t l1)
{
	for (size_t i = t->last + 1; i <= slot; i++) {
		raise(&t->dram_bytes[i], t->last_dram);
		raise(&t->l1_bytes[i], t->last_l1);
	}
	raise(&t->dram_bytes[slot], dram);
	raise(&t->l1_bytes[slot], l1);
	t->last = slot > t->last ? slot : t->last;
	t->last_dram = dram;
	t->last_l1 = l1;
}

void tdm_log_timeline_add(struct tdm_log_timeline *t, const struct tdm_log_record *r, uint64_t dram, uint64_t l1)
{
	enum tdm_log_row row = row_for(r);
	if (row == TDM_LOG_ROW_COUNT)
		return;
	if (!t->used) {
		t->used = true;
		t->by_line = r->time_ns == 0;
		t->from = t->by_line ? r->line : r->time_ns;
		t->width = t->by_line ? 1 : FIRST_WIDTH_NS;
	}
	uint64_t at = t->by_line ? r->line : r->time_ns;
	if (!t->by_line && at == 0)
		return;
	at = at > t->from ? at - t->from : 0;
	while (at / t->width >= TDM_LOG_SLOTS)
		widen(t);
	size_t slot = (size_t)(at / t->width);
	t->rows[row][slot]++;
	t->slots = slot + 1 > t->slots ? slot + 1 : t->slots;
	hold(t, slot, dram, l1);
}
