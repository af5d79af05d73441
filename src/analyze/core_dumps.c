#include "analyze/core_dumps.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>

enum { CORES_MAX = 1 << 24, CBS_MAX = 1 << 26 };

int tdm_core_dumps_init(struct tdm_core_dumps *d)
{
	*d = (struct tdm_core_dumps){ 0 };
	return tdm_map_init(&d->seen);
}

void tdm_core_dumps_done(struct tdm_core_dumps *d)
{
	tdm_map_done(&d->seen);
	free(d->cores);
	free(d->cbs);
	free(d->dumps);
	*d = (struct tdm_core_dumps){ 0 };
}

static int reserve(struct tdm_core_dumps *d, size_t cbs)
{
	if (d->core_count == CORES_MAX || d->cb_count + cbs > CBS_MAX ||
		tdm_reserve(&d->cores, &d->core_cap, d->core_count + 1, sizeof *d->cores) != 0 ||
		tdm_reserve(&d->cbs, &d->cb_cap, d->cb_count + cbs + 1, sizeof *d->cbs) != 0 ||
		tdm_reserve(&d->dumps, &d->dump_cap, d->dump_count + 1, sizeof *d->dumps) != 0)
		return -ENOMEM;
	return 0;
}

static int take_core(struct tdm_core_dumps *d, const struct tdm_core_line *core)
{
	uint64_t key = (uint64_t)core->y << 16 | core->x;
	if (reserve(d, core->count) != 0)
		return -ENOMEM;
	uint32_t last = tdm_map_find(&d->seen, key);
	if (d->dump_count == 0 || (last != TDM_MAP_NONE && last == d->dump_count - 1))
		d->dumps[d->dump_count++] = (struct tdm_core_dump){
			.first = d->core_count, .fullest = d->core_count, .line = core->line, .least = UINT64_MAX
		};
	if (tdm_map_put(&d->seen, key, (uint32_t)d->dump_count - 1) != 0)
		return -ENOMEM;
	struct tdm_core_dump *dump = &d->dumps[d->dump_count - 1];
	d->cores[d->core_count] = *core;
	dump->count++;
	dump->cbs += core->count;
	dump->total = tdm_plus(dump->total, core->bytes);
	dump->least = tdm_min(dump->least, core->bytes);
	if (core->bytes > dump->most)
		dump->fullest = d->core_count;
	dump->most = tdm_max(dump->most, core->bytes);
	d->core_count++;
	memcpy(d->cbs + d->cb_count, core->cbs, core->count * sizeof *d->cbs);
	d->cb_count += core->count;
	return 0;
}

int tdm_core_dumps_take(void *dumps, const struct tdm_record *record)
{
	struct tdm_core_dumps *d = dumps;
	d->refused += record->type == TDM_RECORD_REFUSED;
	d->others += record->type == TDM_RECORD_OTHER;
	return record->type == TDM_RECORD_CORE ? take_core(d, record->core) : 0;
}

void tdm_core_dumps_end(struct tdm_core_dumps *d)
{
	const struct tdm_core_cb *cbs = d->cbs;
	for (size_t i = 0; i < d->core_count; i++) {
		d->cores[i].cbs = cbs;
		cbs += d->cores[i].count;
	}
}

const struct tdm_core_dump *tdm_core_dumps_fullest(const struct tdm_core_dumps *d)
{
	const struct tdm_core_dump *best = d->dump_count != 0 ? &d->dumps[0] : NULL;
	for (size_t i = 1; i < d->dump_count; i++)
		if (d->dumps[i].most > best->most)
			best = &d->dumps[i];
	return best;
}

size_t tdm_core_dump_indexes(
	const struct tdm_core_dumps *d, const struct tdm_core_dump *dump, struct tdm_core_index indexes[TDM_CORE_CBS])
{
	const struct tdm_core_cb *cb = d->cores[dump->first].cbs;
	size_t count = 0;
	memset(indexes, 0, TDM_CORE_CBS * sizeof *indexes);
	for (size_t i = 0; i < dump->cbs; i++, cb++) {
		struct tdm_core_index *x = &indexes[cb->index];
		x->least = x->cores == 0 ? cb->bytes : tdm_min(x->least, cb->bytes);
		x->most = tdm_max(x->most, cb->bytes);
		x->total = tdm_plus(x->total, cb->bytes);
		x->cores++;
	}
	for (uint16_t i = 0; i < TDM_CORE_CBS; i++) {
		indexes[i].index = i;
		if (indexes[i].cores != 0)
			indexes[count++] = indexes[i];
	}
	return count;
}

static int compare_cores(const void *left, const void *right)
{
	const struct tdm_core_line *a = left, *b = right;
	return a->bytes != b->bytes ? tdm_order(b->bytes, a->bytes) : tdm_order(a->line, b->line);
}

struct tdm_core_line *tdm_core_dump_order(const struct tdm_core_dumps *d, const struct tdm_core_dump *dump)
{
	struct tdm_core_line *order = malloc(dump->count * sizeof *order);
	if (order == NULL)
		return NULL;
	memcpy(order, d->cores + dump->first, dump->count * sizeof *order);
	qsort(order, dump->count, sizeof *order, compare_cores);
	return order;
}
