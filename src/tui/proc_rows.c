#include "tui/proc_rows.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/reserve.h"
#include "tui/host_use.h"
#include "tui/match.h"

static const enum tdm_kind kinds[TDM_PROC_KINDS] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_L1_SMALL, TDM_KIND_TRACE,
	TDM_KIND_CB };

uint64_t tdm_proc_sum(uint64_t a, uint64_t b)
{
	if (a == TDM_BYTES_UNKNOWN || b == TDM_BYTES_UNKNOWN)
		return a == TDM_BYTES_UNKNOWN ? b : a;
	return a > TDM_BYTES_UNKNOWN - 1 - b ? TDM_BYTES_UNKNOWN - 1 : a + b;
}

static struct tdm_proc_row *add_row(struct tdm_proc_rows *rows, enum tdm_proc_row_type type)
{
	if (tdm_reserve(&rows->rows, &rows->cap, rows->count + 1, sizeof *rows->rows) != 0)
		return NULL;
	struct tdm_proc_row *row = &rows->rows[rows->count++];
	*row = (struct tdm_proc_row){ .type = (uint8_t)type,
		.process = UINT32_MAX,
		.device = UINT32_MAX,
		.memory = TDM_BYTES_UNKNOWN,
		.peak = TDM_BYTES_UNKNOWN,
		.age_ns = UINT64_MAX,
		.growth = TDM_GROWTH_UNKNOWN,
		.host = UINT64_MAX };
	for (size_t k = 0; k < TDM_PROC_KINDS; k++)
		row->used[k] = TDM_BYTES_UNKNOWN;
	return row;
}

static void add_memory(struct tdm_proc_row *row)
{
	for (size_t k = 0; k < TDM_PROC_KINDS; k++)
		row->memory = tdm_proc_sum(row->memory, row->used[k]);
}

static void add_growth(struct tdm_proc_row *row, const struct tdm_growth_item *item)
{
	if (item == NULL || item->per_minute == TDM_GROWTH_UNKNOWN)
		return;
	int64_t sum;
	if (row->growth == TDM_GROWTH_UNKNOWN)
		row->growth = item->per_minute;
	else if (!__builtin_add_overflow(row->growth, item->per_minute, &sum))
		row->growth = sum;
	row->rises |= item->rises;
}

static void add_holding(struct tdm_proc_row *row, const struct tdm_picture *picture, const struct tdm_proc_view *view,
	const struct tdm_holding *holding)
{
	if (view->growth != NULL)
		add_growth(row, tdm_growth_find(view->growth, picture, holding));
	for (size_t k = 0; k < TDM_PROC_KINDS; k++) {
		row->used[k] = tdm_proc_sum(row->used[k], holding->kinds[kinds[k]].used);
		row->estimated |= (unsigned)holding->kinds[kinds[k]].is_estimated << k;
	}
	uint64_t peak = holding->kinds[TDM_KIND_DRAM].peak;
	row->peak_is_sum |= row->peak != TDM_BYTES_UNKNOWN && row->peak != 0 && peak != TDM_BYTES_UNKNOWN && peak != 0;
	row->peak = tdm_proc_sum(row->peak, peak);
}

static bool takes_device(const struct tdm_picture *picture, const struct tdm_proc_view *view, size_t device)
{
	return (view->device == 0 || picture->devices[device].key == view->device) &&
	       tdm_match_device(picture, device, view->pick.device);
}

static uint64_t host_of(const struct tdm_proc_view *view, uint64_t handle)
{
	const struct tdm_host_use *use = view->hosts != NULL ? tdm_host_uses_find(view->hosts, handle) : NULL;
	return use == NULL                    ? UINT64_MAX
	       : view->sort == TDM_PROC_STATE ? (uint64_t)(unsigned char)use->use.state
	       : view->sort == TDM_PROC_CPU   ? use->cpu_permille
					      : use->use.resident_bytes;
}

static bool is_wanted(const struct tdm_picture_process *process, const struct tdm_proc_view *view)
{
	return tdm_pick_names(&view->pick, process) && tdm_match_process(process, view->filter);
}

static void describe(
	struct tdm_proc_row *row, const struct tdm_picture *picture, const struct tdm_proc_view *view, size_t p)
{
	const struct tdm_picture_process *process = &picture->processes[p];
	row->process = (uint32_t)p;
	row->handle = process->handle;
	if (process->started_ns != 0 && process->started_ns <= picture->real_ns)
		row->age_ns = picture->real_ns - process->started_ns;
	if (tdm_proc_is_host(view->sort))
		row->host = host_of(view, process->handle);
	add_memory(row);
}

/* Whether the process has something on a real card among the devices shown: then only real cards are summed. A virtual
 * device sums a capture without dispatch and occupies no memory. */
static bool is_on_card(
	const struct tdm_picture *picture, const struct tdm_picture_process *process, const struct tdm_proc_view *view)
{
	for (uint32_t h = 0; h < process->holding_count; h++) {
		size_t device = picture->holdings[process->first_holding + h].device;
		if (!picture->devices[device].is_virtual && takes_device(picture, view, device))
			return true;
	}
	return false;
}

/* Adds a line for each process, with all it has on the devices shown. */
static int add_processes(
	struct tdm_proc_rows *rows, const struct tdm_picture *picture, const struct tdm_proc_view *view)
{
	bool all = view->device == 0 && (view->pick.device == NULL || view->pick.device[0] == '\0');
	for (size_t p = 0; p < picture->process_count; p++) {
		const struct tdm_picture_process *process = &picture->processes[p];
		if (!is_wanted(process, view))
			continue;
		struct tdm_proc_row *row = add_row(rows, TDM_ROW_PROCESS);
		if (row == NULL)
			return -ENOMEM;
		bool on_card = is_on_card(picture, process, view);
		uint32_t shown = 0;
		for (uint32_t h = 0; h < process->holding_count; h++) {
			const struct tdm_holding *holding = &picture->holdings[process->first_holding + h];
			if (!takes_device(picture, view, holding->device))
				continue;
			row->device = shown++ == 0 ? holding->device : UINT32_MAX;
			if (!on_card || !picture->devices[holding->device].is_virtual)
				add_holding(row, picture, view, holding);
		}
		describe(row, picture, view, p);
		if (shown == 0 && !all)
			rows->count--;
	}
	return 0;
}

static int add_rest(struct tdm_proc_rows *rows, const struct tdm_picture_device *device, uint32_t d,
	enum tdm_proc_row_type type, bool is_child)
{
	uint64_t used[TDM_PROC_KINDS], sum = 0;
	for (size_t k = 0; k < TDM_PROC_KINDS; k++) {
		const struct tdm_picture_kind *kind = &device->kinds[kinds[k]];
		used[k] = type == TDM_ROW_STALE ? kind->stale : kind->unattributed;
		sum = used[k] == TDM_BYTES_UNKNOWN ? sum : tdm_proc_sum(sum, used[k]);
	}
	if (sum == 0)
		return 0;
	struct tdm_proc_row *row = add_row(rows, type);
	if (row == NULL)
		return -ENOMEM;
	memcpy(row->used, used, sizeof used);
	row->memory = sum;
	row->device = d;
	row->is_child = is_child;
	return 0;
}

struct order {
	const struct tdm_picture *picture;
	const struct tdm_proc_view *view;
};

/* Unknown is the largest number; adding one makes it 0, so it sorts last. */
static int most_first(uint64_t a, uint64_t b)
{
	return tdm_order(b + 1, a + 1);
}

/* Ascending for texts and numbers, descending for amounts: the most interesting line comes first. */
static int compare_by(const struct tdm_proc_row *a, const struct tdm_proc_row *b, const struct order *order)
{
	const struct tdm_picture_process *pa = &order->picture->processes[a->process],
					 *pb = &order->picture->processes[b->process];
	switch (order->view->sort) {
	case TDM_PROC_USER:
		return strcmp(pa->user, pb->user);
	case TDM_PROC_DEVICE:
		return (a->device > b->device) - (a->device < b->device);
	case TDM_PROC_DRAM:
	case TDM_PROC_L1:
	case TDM_PROC_L1_SMALL:
	case TDM_PROC_TRACE:
	case TDM_PROC_CB:
		return most_first(
			a->used[order->view->sort - TDM_PROC_DRAM], b->used[order->view->sort - TDM_PROC_DRAM]);
	case TDM_PROC_MEMORY:
		return most_first(a->memory, b->memory);
	case TDM_PROC_PEAK:
		return most_first(a->peak, b->peak);
	case TDM_PROC_GROWTH: /* unknown is the lowest number */
		return (a->growth < b->growth) - (a->growth > b->growth);
	case TDM_PROC_AGE:
		return most_first(a->age_ns, b->age_ns);
	case TDM_PROC_STATE:
		return (a->host > b->host) - (a->host < b->host);
	case TDM_PROC_CPU:
	case TDM_PROC_RESIDENT:
		return most_first(a->host, b->host);
	case TDM_PROC_SOURCE:
		return (pa->sources > pb->sources) - (pa->sources < pb->sources);
	case TDM_PROC_PHASE:
		return strcmp(pa->phase, pb->phase);
	case TDM_PROC_COMMAND:
		return strcmp(pa->command[0] != '\0' ? pa->command : pa->comm,
			pb->command[0] != '\0' ? pb->command : pb->comm);
	default:
		return 0;
	}
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct tdm_proc_row *x = a, *y = b;
	const struct order *order = context;
	const struct tdm_picture_process *processes = order->picture->processes;
	int by = (processes[x->process].life == TDM_LIFE_ENDED) - (processes[y->process].life == TDM_LIFE_ENDED);
	if (by != 0)
		return by; /* those that have ended come last */
	by = compare_by(x, y, order);
	if (by != 0)
		return order->view->reversed ? -by : by;
	bool swap = order->view->reversed && order->view->sort == TDM_PROC_PID;
	int by_pid = (x->process > y->process) - (x->process < y->process);
	return swap ? -by_pid : by_pid;
}

static void sort_rows(
	struct tdm_proc_row *rows, size_t count, const struct tdm_picture *picture, const struct tdm_proc_view *view)
{
	struct order order = { picture, view };
	if (count > 1)
		qsort_r(rows, count, sizeof *rows, compare_rows, &order);
}

static int build_flat(struct tdm_proc_rows *rows, const struct tdm_picture *picture, const struct tdm_proc_view *view)
{
	int err = add_processes(rows, picture, view);
	sort_rows(rows->rows, rows->count, picture, view);
	for (int stale = 0; stale < 2; stale++)
		for (size_t d = 0; d < picture->device_count && err == 0; d++)
			if (view->pick.pid_count == 0 && view->filter[0] == '\0' && takes_device(picture, view, d))
				err = add_rest(rows, &picture->devices[d], (uint32_t)d,
					stale ? TDM_ROW_STALE : TDM_ROW_UNATTRIBUTED, false);
	return err;
}

static int add_device(struct tdm_proc_rows *rows, const struct tdm_picture *picture, size_t d)
{
	struct tdm_proc_row *row = add_row(rows, TDM_ROW_DEVICE);
	if (row == NULL)
		return -ENOMEM;
	const struct tdm_picture_device *device = &picture->devices[d];
	for (size_t k = 0; k < TDM_PROC_KINDS; k++) {
		row->used[k] = device->kinds[kinds[k]].used;
		row->estimated |= (unsigned)device->kinds[kinds[k]].is_estimated << k;
	}
	row->peak = device->kinds[TDM_KIND_DRAM].peak;
	row->device = (uint32_t)d;
	add_memory(row);
	return 0;
}

static int add_children(
	struct tdm_proc_rows *rows, const struct tdm_picture *picture, const struct tdm_proc_view *view, size_t d)
{
	size_t first = rows->count;
	for (size_t h = 0; h < picture->holding_count; h++) {
		const struct tdm_holding *holding = &picture->holdings[h];
		if (holding->device != d || !is_wanted(&picture->processes[holding->process], view))
			continue;
		struct tdm_proc_row *row = add_row(rows, TDM_ROW_PROCESS);
		if (row == NULL)
			return -ENOMEM;
		row->is_child = true;
		row->device = (uint32_t)d;
		add_holding(row, picture, view, holding);
		describe(row, picture, view, holding->process);
	}
	sort_rows(rows->rows + first, rows->count - first, picture, view);
	if (view->pick.pid_count != 0 || view->filter[0] != '\0')
		return 0;
	int err = add_rest(rows, &picture->devices[d], (uint32_t)d, TDM_ROW_UNATTRIBUTED, true);
	return err != 0 ? err : add_rest(rows, &picture->devices[d], (uint32_t)d, TDM_ROW_STALE, true);
}

static int build_tree(struct tdm_proc_rows *rows, const struct tdm_picture *picture, const struct tdm_proc_view *view)
{
	int err = 0;
	for (size_t d = 0; d < picture->device_count && err == 0; d++) {
		if (!takes_device(picture, view, d))
			continue;
		err = add_device(rows, picture, d);
		if (err == 0)
			err = add_children(rows, picture, view, d);
		if (rows->count != 0)
			rows->rows[rows->count - 1].is_last = true;
	}
	return err;
}

int tdm_proc_rows_build(struct tdm_proc_rows *rows, const struct tdm_picture *picture, const struct tdm_proc_view *view)
{
	rows->count = 0;
	return view->tree ? build_tree(rows, picture, view) : build_flat(rows, picture, view);
}

void tdm_proc_rows_done(struct tdm_proc_rows *rows)
{
	free(rows->rows);
	*rows = (struct tdm_proc_rows){ 0 };
}

const struct tdm_proc_column_info tdm_proc_columns[TDM_PROC_COLUMN_COUNT] = {
#define X(id, title, width, priority, letter) [TDM_PROC_##id] = { title, width, priority, letter },
	TDM_PROC_COLUMN_LIST(X)
#undef X
};
