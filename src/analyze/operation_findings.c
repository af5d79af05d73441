/*
 * What the account of the operations means. First the sizes of the banks: the report has L1's, and DRAM's follow from
 * the cards that have such an L1. With them come the map of a memory, the findings (tensors that were no longer used
 * when memory was fullest, buffers that were never released) and the operations as phases.
 */
#include "analyze/finding.h"
#include "analyze/operation_parts.h"
#include "analyze/region_map.h"
#include "base/err.h"
#include "base/reserve.h"
#include "base/units.h"
#include "device/card.h"
#include "event/phase_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { GROUP_LEAST = 3, GROUPS_SHOWN = 5 };

/* ---- devices ---- */

const struct tdm_capture_device *tdm_operation_memory_device(
	const struct tdm_operation_memory *m, const struct tdm_operation_unit *unit)
{
	for (size_t i = 0; i < m->device_count; i++)
		if (m->devices[i].rank == unit->rank && m->devices[i].id == unit->device)
			return &m->devices[i];
	return NULL;
}

/* The figure that all cards like this one have; TDM_BYTES_UNKNOWN if they differ or there is none. */
static uint64_t figure_of_cards(const struct tdm_capture_device *d, enum tdm_card_field field, bool same_banks)
{
	uint64_t figure = 0;
	for (size_t i = 0; tdm_card_names[i] != NULL; i++) {
		struct tdm_card card;
		if (tdm_card_init(&card, tdm_str_of(tdm_card_names[i]), NULL, NULL) != 0 ||
			tdm_card_get(&card, TDM_CARD_L1_SIZE) != d->worker_l1_size ||
			(same_banks && tdm_card_get(&card, TDM_CARD_L1_BANKS) != d->l1_banks))
			continue;
		if (figure != 0 && figure != tdm_card_get(&card, field))
			return TDM_BYTES_UNKNOWN;
		figure = tdm_card_get(&card, field);
	}
	return figure != 0 ? figure : TDM_BYTES_UNKNOWN;
}

static void find_dram(const struct tdm_capture_device *d, struct tdm_operation_unit *unit)
{
	for (int same_banks = 0; same_banks < 2 && unit->banks == 0 && d->worker_l1_size != 0; same_banks++) {
		uint64_t banks = figure_of_cards(d, TDM_CARD_DRAM_BANKS, same_banks != 0);
		if (banks > UINT32_MAX)
			continue;
		unit->banks = (uint32_t)banks;
		unit->bank_size = figure_of_cards(d, TDM_CARD_DRAM_BANK_SIZE, same_banks != 0);
		unit->by_card = true;
	}
}

void tdm_operation_find_banks(struct tdm_operation_memory *m)
{
	for (size_t i = 0; i < m->unit_count; i++) {
		struct tdm_operation_unit *u = &m->units[i];
		const struct tdm_capture_device *d = tdm_operation_memory_device(m, u);
		u->bank_size = TDM_BYTES_UNKNOWN;
		if (d == NULL)
			continue;
		uint64_t small_at = tdm_plus(d->l1_base, d->l1_bank_size);
		if (u->kind == TDM_KIND_L1 || u->kind == TDM_KIND_L1_SMALL)
			u->banks = (uint32_t)d->l1_banks;
		if (u->kind == TDM_KIND_L1 && d->l1_bank_size != 0)
			u->bank_size = d->l1_bank_size;
		else if (u->kind == TDM_KIND_L1_SMALL && d->l1_base != 0 && small_at < d->worker_l1_size)
			u->bank_size = d->worker_l1_size - small_at;
		else if (u->kind == TDM_KIND_DRAM || u->kind == TDM_KIND_TRACE)
			find_dram(d, u);
		if (u->kind == TDM_KIND_TRACE)
			u->bank_size = TDM_BYTES_UNKNOWN; /* the size of its region is an option of the program */
	}
}

/* Where the region of a unit is; a bank_size of 0: unknown. */
static struct tdm_region region_of(const struct tdm_operation_memory *m, const struct tdm_operation_unit *unit)
{
	const struct tdm_capture_device *d = tdm_operation_memory_device(m, unit);
	struct tdm_region region = { .kind = unit->kind, .banks = unit->banks };
	bool is_l1 = unit->kind == TDM_KIND_L1 || unit->kind == TDM_KIND_L1_SMALL;
	if (d == NULL || !is_l1 || d->l1_base == 0 || unit->bank_size == TDM_BYTES_UNKNOWN)
		return region;
	region.base = unit->kind == TDM_KIND_L1 ? d->l1_base : d->l1_base + d->l1_bank_size;
	region.bank_size = unit->bank_size;
	return region;
}

int tdm_operation_map(const struct tdm_operation_memory *m, const struct tdm_operation_unit *unit,
	const struct tdm_operation_list *list, struct tdm_region_map *map)
{
	const struct tdm_region region = region_of(m, unit);
	struct tdm_buffer *buffers = calloc(list->count + 1, sizeof *buffers);
	int err = buffers != NULL ? 0 : -ENOMEM;
	tdm_region_map_init(map, (enum tdm_kind)unit->kind, &region, TDM_FROM_MODEL);
	for (size_t i = 0; i < list->count && err == 0; i++) {
		buffers[i].address = list->at[i].address;
		buffers[i].bank_bytes = list->at[i].bytes;
		err = tdm_region_map_add(map, &buffers[i], 0);
	}
	err = err != 0 ? err : tdm_region_map_finish(map);
	for (size_t i = 0; i < map->span_count; i++)
		map->spans[i].buffer = NULL;
	free(buffers);
	return err;
}

/* ---- findings ---- */

/* "l1 of device 0", with the rank if there are several. */
static const char *unit_text(const struct tdm_operation_memory *m, const struct tdm_operation_unit *u, char dst[64])
{
	bool has_ranks = m->operation_count != 0 && m->operations[m->operation_count - 1].rank != 0;
	int len = snprintf(dst, 64, "%s of device %" PRIu32, tdm_kind_name((enum tdm_kind)u->kind), u->device);
	if (has_ranks)
		snprintf(dst + len, 64 - (size_t)len, ", rank %" PRIu32, u->rank);
	return dst;
}

static const struct tdm_operation_tensor *tensor_of(
	const struct tdm_operation_memory *m, const struct tdm_operation_buffer *b)
{
	return b->tensor != TDM_OPERATION_NONE ? &m->tensors[b->tensor] : NULL;
}

/* Operations that put weights on the device: what they leave is wanted. */
static bool is_loading(const char *name)
{
	static const char *const words[] = { "from_torch", "to_device", "as_tensor", "load_tensor" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(name, words[i]) != NULL)
			return true;
	return false;
}

/* Buffers at the peak, but no weights, whose tensors no operation used any more. */
static void find_unused(
	const struct tdm_operation_memory *m, const struct tdm_operation_unit *u, struct tdm_findings *found)
{
	uint64_t count = 0, bytes = 0;
	char name[64], size[TDM_BYTES_CAP];
	for (size_t i = 0; i < u->peak.count; i++) {
		const struct tdm_operation_tensor *t = tensor_of(m, &u->peak.at[i]);
		bool is_unused = t != NULL && t->last_use != TDM_OPERATION_NONE && t->last_use < u->peak_operation &&
				 !is_loading(tdm_operation_name(m, u->peak.at[i].since));
		count += is_unused;
		bytes += is_unused ? u->peak.at[i].bytes : 0;
	}
	if (count == 0)
		return;
	tdm_findings_remark(found, TDM_FINDING_WARNING, "unused_at_peak", "Unused");
	tdm_findings_figure(found, "count", TDM_UNIT_COUNT, count);
	tdm_findings_figure(found, "bank_bytes", TDM_UNIT_BYTES, bytes);
	tdm_findings_say(found,
		"at the peak of %s, %" PRIu64
		" of %zu buffers held tensors that no later operation used: %s of each bank",
		unit_text(m, u, name), count, u->peak.count, tdm_format_bytes_short(size, sizeof size, bytes));
}

/* Buffers of one size that operations of one name left behind. */
struct group {
	const struct tdm_operation_unit *unit;
	uint32_t name;
	uint64_t bytes, count;
	uint32_t first, last; /* operations after which they appeared */
};

static int compare_left(const void *left, const void *right, void *memory)
{
	const struct tdm_operation_memory *m = memory;
	const struct tdm_operation_buffer *a = left, *b = right;
	int order = tdm_order(m->operations[a->since].name, m->operations[b->since].name);
	order = order != 0 ? order : tdm_order(b->bytes, a->bytes);
	return order != 0 ? order : tdm_order(a->since, b->since);
}

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	int order = tdm_order(tdm_times(b->bytes, b->count), tdm_times(a->bytes, a->count));
	return order != 0 ? order : tdm_order(a->first, b->first);
}

/* The first operation of a rank. */
static uint32_t first_of(const struct tdm_operation_memory *m, uint32_t rank)
{
	uint32_t i = 0;
	while (i < m->operation_count && m->operations[i].rank != rank)
		i++;
	return i;
}

/* Appends the groups of a unit to `groups`, which has `count`. 0 or -ENOMEM. */
static int add_groups(const struct tdm_operation_memory *m, const struct tdm_operation_unit *u, struct group **groups,
	size_t *count, size_t *cap)
{
	struct tdm_operation_buffer *left = malloc(u->end.count * sizeof *left + 1);
	uint32_t first = first_of(m, u->rank);
	size_t left_count = 0;
	int err = left != NULL ? 0 : -ENOMEM;
	for (size_t i = 0; err == 0 && i < u->end.count; i++)
		if (u->end.at[i].since > first)
			left[left_count++] = u->end.at[i];
	if (left_count != 0)
		qsort_r(left, left_count, sizeof *left, compare_left, (void *)(uintptr_t)m);
	for (size_t i = 0, next; i < left_count && err == 0; i = next) {
		uint32_t name = m->operations[left[i].since].name;
		uint64_t operations = 0;
		for (next = i; next < left_count && left[next].bytes == left[i].bytes &&
			       m->operations[left[next].since].name == name;
			next++)
			operations += next == i || left[next].since != left[next - 1].since;
		if (operations < GROUP_LEAST)
			continue;
		err = tdm_reserve(groups, cap, *count + 1, sizeof **groups);
		if (err == 0)
			(*groups)[(*count)++] =
				(struct group){ u, name, left[i].bytes, next - i, left[i].since, left[next - 1].since };
	}
	free(left);
	return err;
}

static void say_group(const struct tdm_operation_memory *m, const struct group *g, struct tdm_findings *found)
{
	const char *name = m->texts.texts[g->name];
	char unit[64], each[TDM_BYTES_CAP], all[TDM_BYTES_CAP], shown[80];
	bool is_wanted = is_loading(name);
	tdm_findings_remark(
		found, is_wanted ? TDM_FINDING_INFO : TDM_FINDING_WARNING, "never_released", "Never released");
	tdm_findings_figure(found, "count", TDM_UNIT_COUNT, g->count);
	tdm_findings_figure(found, "bank_bytes", TDM_UNIT_BYTES, tdm_times(g->bytes, g->count));
	tdm_findings_position(found, "first_operation", TDM_UNIT_COUNT, m->operations[g->first].id);
	tdm_findings_position(found, "last_operation", TDM_UNIT_COUNT, m->operations[g->last].id);
	tdm_findings_say(found,
		"%s left %" PRIu64 " buffers of %s in %s, %s of each bank, from operation %" PRIu64 " to %" PRIu64
		"; %s",
		name[0] != '\0' ? tdm_str_shown(tdm_str_of(name), shown, sizeof shown) : "operations without a name",
		g->count, tdm_format_bytes_short(each, sizeof each, g->bytes), unit_text(m, g->unit, unit),
		tdm_format_bytes_short(all, sizeof all, tdm_times(g->bytes, g->count)), m->operations[g->first].id,
		m->operations[g->last].id,
		is_wanted ? "it loads tensors, so these may be weights" : "a leak, unless it is a cache or an output");
}

static void find_left(const struct tdm_operation_memory *m, struct tdm_findings *found)
{
	struct group *groups = NULL;
	size_t count = 0, cap = 0;
	int err = 0;
	for (size_t i = 0; i < m->unit_count && err == 0; i++)
		err = add_groups(m, &m->units[i], &groups, &count, &cap);
	if (count != 0)
		qsort(groups, count, sizeof *groups, compare_groups);
	for (size_t i = 0; i < count && i < GROUPS_SHOWN; i++)
		say_group(m, &groups[i], found);
	found->failed |= err != 0;
	free(groups);
}

static void find_banks_remark(const struct tdm_operation_memory *m, struct tdm_findings *found)
{
	const struct tdm_operation_unit *dram = tdm_operation_memory_fullest(m, TDM_KIND_DRAM);
	if (dram == NULL)
		return;
	tdm_findings_remark(found, TDM_FINDING_INFO, "banks", "Banks");
	if (dram->by_card)
		tdm_findings_say(found,
			"the report does not say how many banks DRAM has; all cards with such an L1 have %" PRIu32,
			dram->banks);
	else
		tdm_findings_say(found,
			"the report does not say how many banks DRAM has, so only the bytes of one bank are known");
}

void tdm_operation_memory_find(const struct tdm_operation_memory *m, struct tdm_findings *found)
{
	if (!m->has_buffers && m->has_head) {
		tdm_findings_remark(found, TDM_FINDING_WARNING, "no_buffers", "No buffers");
		tdm_findings_say(found, "the report has no table of buffers, so the memory in use is unknown");
	}
	if (!m->has_graphs && m->has_head) {
		tdm_findings_remark(found, TDM_FINDING_INFO, "no_graphs", "No graphs");
		tdm_findings_say(found, "the report has no captured graphs, so circular buffers are unknown");
	}
	find_banks_remark(m, found);
	for (int kind = 0; kind < TDM_OPERATION_KINDS; kind++) {
		const struct tdm_operation_unit *u = tdm_operation_memory_fullest(m, (enum tdm_kind)kind);
		if (u != NULL)
			find_unused(m, u, found);
	}
	find_left(m, found);
	tdm_findings_counted(found, TDM_FINDING_WARNING, "duplicates", "Twice", m->duplicates,
		"row has a buffer that its operation lists already",
		"rows have buffers that their operation lists already");
	tdm_findings_counted(found, TDM_FINDING_WARNING, "left_out", "Left out", m->left_out,
		"row is left out: a second operation of one number, or beyond what can be kept",
		"rows are left out: second operations of one number, or beyond what can be kept");
}

/* ---- phases ---- */

static int add_phase(const struct tdm_operation_memory *m, uint32_t operation, const struct tdm_operation_unit *dram,
	struct tdm_phase_run *run)
{
	const struct tdm_operation *o = &m->operations[operation];
	struct tdm_buf name;
	tdm_buf_init(&name);
	tdm_buf_printf(&name, "%" PRIu64 " %s", o->id, tdm_operation_name(m, operation));
	int64_t before = run->phase_count != 0 ? run->final_current : 0;
	struct tdm_phase *phase = tdm_buf_failed(&name) ? NULL : tdm_phase_run_add(run, tdm_buf_str(&name));
	tdm_buf_done(&name);
	if (phase == NULL)
		return -ENOMEM;
	int64_t now = tdm_signed(tdm_operation_all_banks(dram, o->bytes[TDM_KIND_DRAM]));
	run->overall_peak = run->phase_count == 1 || now > run->overall_peak ? now : run->overall_peak;
	run->final_current = now;
	phase->figures.dram_cumulative_current = now;
	phase->figures.dram_cumulative_peak = run->overall_peak;
	phase->figures.dram_change = tdm_phase_difference(now, before);
	if (o->cb_bytes != TDM_BYTES_UNKNOWN)
		phase->figures.l1_peak_cb = tdm_signed(o->cb_bytes);
	return 0;
}

/* The unit of a rank with the fullest DRAM. */
static const struct tdm_operation_unit *dram_of(const struct tdm_operation_memory *m, uint32_t rank)
{
	const struct tdm_operation_unit *best = NULL;
	for (size_t i = 0; i < m->unit_count; i++)
		if (m->units[i].kind == TDM_KIND_DRAM && m->units[i].rank == rank &&
			(best == NULL || m->units[i].peak_bytes > best->peak_bytes))
			best = &m->units[i];
	return best;
}

int tdm_operation_memory_runs(const struct tdm_operation_memory *m, struct tdm_phase_runs *runs, struct tdm_diag *diag)
{
	struct tdm_phase_run *run = NULL;
	const struct tdm_operation_unit *dram = NULL;
	for (uint32_t i = 0; i < m->operation_count; i++) {
		uint32_t rank = m->operations[i].rank;
		if (i == 0 || rank != m->operations[i - 1].rank) {
			char name[32] = "operations";
			dram = dram_of(m, rank);
			if (dram == NULL || dram->banks == 0)
				return tdm_diag_set(diag, TDM_EUNKNOWN, 0, 0,
					dram == NULL ? "no buffer in DRAM is in it"
						     : "it does not say how many banks DRAM has; tidemark info shows "
						       "one bank");
			if (m->operations[m->operation_count - 1].rank != 0)
				snprintf(name, sizeof name, "operations of rank %" PRIu32, rank);
			run = tdm_phase_runs_add(runs, tdm_str_of(name));
			if (run == NULL)
				return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
			run->device_memory_bytes = tdm_operation_all_banks(dram, dram->bank_size);
			run->device_count = 1;
			run->peak_so_far = true; /* nobody saw what an operation used before it ended */
		}
		if (run->phase_count == TDM_PHASES_MAX)
			run->incomplete = true;
		else if (add_phase(m, i, dram, run) != 0)
			return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	}
	return 0;
}
