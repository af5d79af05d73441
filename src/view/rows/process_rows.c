#include "view/rows/process_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "model/result/result.h"
#include "view/rows/device_rows.h"
#include "view/rows/live_result.h"

/* ---- use of the host ---- */

enum { AGAIN_MS = 950 /* at most once a second, with some slack */, AT_ONCE = 256, KEPT_S = 60, KEPT_MIN = 256 };

/* Forgets processes that have not been viewed for a while. */
static void forget_old(struct tdm_host_uses *uses, uint64_t now_ns)
{
	size_t kept = 0;
	tdm_map_clear(&uses->by_handle);
	for (size_t i = 0; i < uses->count; i++)
		if (now_ns - uses->list[i].read_ns < KEPT_S * TDM_NS_PER_S) {
			tdm_map_set(&uses->by_handle, uses->list[i].handle, (uint32_t)kept);
			uses->list[kept++] = uses->list[i];
		}
	uses->count = kept;
}

static struct tdm_host_use *use_of(struct tdm_host_uses *uses, uint64_t handle, uint64_t now_ns)
{
	uint32_t at = tdm_map_find(&uses->by_handle, handle);
	if (at != TDM_MAP_NONE)
		return &uses->list[at];
	if (uses->count == uses->cap && uses->count >= KEPT_MIN)
		forget_old(uses, now_ns);
	tdm_grow(&uses->list, &uses->cap, uses->count + 1, sizeof *uses->list);
	tdm_map_set(&uses->by_handle, handle, (uint32_t)uses->count);
	struct tdm_host_use *use = &uses->list[uses->count++];
	*use = (struct tdm_host_use){ .handle = handle, .cpu_permille = TDM_BYTES_UNKNOWN };
	return use;
}

void tdm_host_uses_read(struct tdm_host_uses *uses, const struct tdm_provider *provider,
	const struct tdm_proc_row *rows, size_t count, uint64_t now_ns)
{
	uint64_t begun_ns = tdm_clock_ns();
	size_t reads = 0;
	if (provider->use == NULL || count == 0 || !tdm_pace_is_due(&uses->pace))
		return;
	for (size_t i = 0; i < count && reads < AT_ONCE; i++) {
		const struct tdm_proc_row *row = &rows[(uses->turn + i) % count];
		struct tdm_host_use *use = row->handle != 0 ? use_of(uses, row->handle, now_ns) : NULL;
		uint64_t passed_ns = use != NULL ? now_ns - use->read_ns : 0;
		if (use == NULL || (use->read_ns != 0 && passed_ns < AGAIN_MS * TDM_NS_PER_MS))
			continue;
		uint64_t before_ns = use->use.cpu_ns;
		bool was_known = use->is_known;
		use->is_known = provider->use(provider->state, row->who, &use->use) == 0;
		use->read_ns = now_ns;
		use->cpu_permille = TDM_BYTES_UNKNOWN;
		if (was_known && use->is_known && use->use.cpu_ns >= before_ns)
			use->cpu_permille =
				(uint64_t)((double)(use->use.cpu_ns - before_ns) / (double)passed_ns * 1000);
		reads++;
	}
	uses->turn = reads == AT_ONCE ? uses->turn + AT_ONCE : 0;
	if (reads != 0)
		tdm_pace_took(&uses->pace, begun_ns, SIZE_MAX); /* opening a file is never cheap */
}

const struct tdm_host_use *tdm_host_uses_find(const struct tdm_host_uses *uses, uint64_t handle)
{
	uint32_t at = tdm_map_find(&uses->by_handle, handle);
	return at != TDM_MAP_NONE && uses->list[at].is_known ? &uses->list[at] : NULL;
}

void tdm_host_uses_done(struct tdm_host_uses *uses)
{
	free(uses->list);
	tdm_map_done(&uses->by_handle);
	*uses = (struct tdm_host_uses){ 0 };
}

/* ---- rows ---- */

/* number of kinds with their own column; the columns are consecutive, from TDM_PROC_DRAM for the first kind */
enum { OWN_KINDS = TDM_KIND_CB + 1 };

uint64_t tdm_proc_sum(uint64_t a, uint64_t b)
{
	if (a == TDM_BYTES_UNKNOWN || b == TDM_BYTES_UNKNOWN)
		return a == TDM_BYTES_UNKNOWN ? b : a;
	return a > TDM_BYTES_UNKNOWN - 1 - b ? TDM_BYTES_UNKNOWN - 1 : a + b;
}

static struct tdm_proc_row *add_row(struct tdm_proc_rows *rows, enum tdm_proc_row_type type, uint32_t device)
{
	tdm_grow(&rows->rows, &rows->cap, rows->count + 1, sizeof *rows->rows);
	struct tdm_proc_row *row = &rows->rows[rows->count++];
	*row = (struct tdm_proc_row){ .type = (uint8_t)type,
		.process = UINT32_MAX,
		.device = device,
		.at = device != UINT32_MAX ? &rows->picture->devices[device] : NULL,
		.other = TDM_BYTES_UNKNOWN,
		.memory = TDM_BYTES_UNKNOWN,
		.peak = TDM_BYTES_UNKNOWN,
		.age_ns = UINT64_MAX,
		.growth = TDM_GROWTH_UNKNOWN };
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		row->used[k] = TDM_BYTES_UNKNOWN;
	return row;
}

static void add_sums(struct tdm_proc_row *row)
{
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		uint64_t *sum = k < OWN_KINDS ? &row->memory : &row->other;
		*sum = tdm_proc_sum(*sum, row->used[k]);
	}
}

static void add_holding(struct tdm_proc_row *row, const struct tdm_proc_rows *rows, const struct tdm_holding *holding)
{
	const struct tdm_growth_item *item =
		rows->view.growth != NULL ? tdm_growth_find(rows->view.growth, rows->picture, holding) : NULL;
	if (item != NULL && item->per_minute != TDM_GROWTH_UNKNOWN) {
		int64_t sum;
		if (row->growth == TDM_GROWTH_UNKNOWN)
			row->growth = item->per_minute;
		else if (!__builtin_add_overflow(row->growth, item->per_minute, &sum))
			row->growth = sum;
		row->rises |= item->rises;
	}
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		row->used[k] = tdm_proc_sum(row->used[k], holding->kinds[k].reserved);
		row->estimated |= (uint32_t)holding->kinds[k].is_estimated << k;
	}
	uint64_t peak = holding->kinds[TDM_KIND_DRAM].peak;
	row->peak_is_sum |= tdm_is_some(row->peak) && tdm_is_some(peak);
	row->peak = tdm_proc_sum(row->peak, peak);
}

static bool takes_device(const struct tdm_proc_rows *rows, size_t d)
{
	const struct tdm_picture_device *device = &rows->picture->devices[d];
	const struct tdm_proc_view *view = &rows->view;
	return (view->device == 0 || device->key == view->device) &&
	       (view->pick.device == NULL || tdm_pick_is(device, view->pick.device));
}

bool tdm_proc_matches(const struct tdm_picture_process *process, const char *part)
{
	char pid[16];
	snprintf(pid, sizeof pid, "%" PRId32, process->pid);
	return strcasestr(process->command, part) != NULL || strcasestr(process->comm, part) != NULL ||
	       strcasestr(process->user, part) != NULL || strcasestr(process->phase, part) != NULL ||
	       strstr(pid, part) != NULL;
}

static bool is_wanted(const struct tdm_proc_rows *rows, const struct tdm_picture_process *process)
{
	const char *filter = rows->view.filter;
	return tdm_pick_names(&rows->view.pick, process) && (filter == NULL || tdm_proc_matches(process, filter));
}

static void describe(struct tdm_proc_row *row, const struct tdm_proc_rows *rows, size_t p)
{
	const struct tdm_picture_process *process = &rows->picture->processes[p];
	row->process = (uint32_t)p;
	row->who = process;
	row->handle = process->handle;
	row->sources = process->sources;
	if (process->started_ns != 0 && process->started_ns <= rows->picture->real_ns)
		row->age_ns = rows->picture->real_ns - process->started_ns;
	add_sums(row);
}

/* Adds a row for each process, with everything it holds on the devices shown. */
static void add_processes(struct tdm_proc_rows *rows)
{
	const struct tdm_picture *picture = rows->picture;
	bool all = rows->view.device == 0 && rows->view.pick.device == NULL;
	for (size_t p = 0; p < picture->process_count; p++) {
		const struct tdm_picture_process *process = &picture->processes[p];
		if (!is_wanted(rows, process))
			continue;
		struct tdm_proc_row *row = add_row(rows, TDM_ROW_PROCESS, UINT32_MAX);
		const struct tdm_holding *holdings =
			process->holding_count != 0 ? &picture->holdings[process->first_holding] : NULL;
		uint32_t shown = 0;
		bool on_card = false;
		for (uint32_t h = 0; h < process->holding_count; h++)
			on_card |= !picture->devices[holdings[h].device].is_virtual &&
				   takes_device(rows, holdings[h].device);
		/* A virtual device contains the sums from a capture without dispatch and occupies no memory. If the
		 * process holds memory on any real card shown, only real cards are summed. */
		for (uint32_t h = 0; h < process->holding_count; h++) {
			if (!takes_device(rows, holdings[h].device))
				continue;
			row->device = shown++ == 0 ? holdings[h].device : UINT32_MAX;
			if (!on_card || !picture->devices[holdings[h].device].is_virtual)
				add_holding(row, rows, &holdings[h]);
		}
		row->at = row->device != UINT32_MAX ? &picture->devices[row->device] : NULL;
		describe(row, rows, p);
		if (shown == 0 && !all)
			rows->count--;
	}
}

/* Adds a row for memory that belongs to no process, unless its size is 0 or unknown. */
static void add_rest(struct tdm_proc_rows *rows, uint32_t d, enum tdm_proc_row_type type, bool is_child)
{
	struct tdm_proc_row *row = add_row(rows, type, d);
	bool any = false;
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		row->used[k] = type == TDM_ROW_STALE ? row->at->kinds[k].stale : row->at->kinds[k].unattributed;
		any |= tdm_is_some(row->used[k]);
	}
	row->is_child = is_child;
	add_sums(row);
	rows->count -= !any;
}

/* Adds rows for memory that belongs to no process, on one device or, for UINT32_MAX, on all. Adds none if the user
 * chose processes. */
static void add_rests(struct tdm_proc_rows *rows, uint32_t device, bool is_child)
{
	bool is_filtered = rows->view.filter != NULL && rows->view.filter[0] != '\0';
	for (int stale = 0; stale < 2 && rows->view.pick.pid_count == 0 && !is_filtered; stale++)
		for (uint32_t d = 0; d < rows->picture->device_count; d++)
			if ((device == UINT32_MAX || device == d) && takes_device(rows, d))
				add_rest(rows, d, stale ? TDM_ROW_STALE : TDM_ROW_UNATTRIBUTED, is_child);
}

/* Strings ascend and amounts descend, so the most interesting line comes first; unknown values come last. */
static int compare_keys(const struct tdm_value *a, const struct tdm_value *b)
{
	bool is_text = a->type == TDM_VALUE_TEXT, is_unknown = a->type == TDM_VALUE_UNKNOWN;
	int by = is_unknown - (b->type == TDM_VALUE_UNKNOWN);
	if (by != 0 || is_unknown)
		return by;
	by = is_text - (b->type == TDM_VALUE_TEXT);
	if (by != 0 || is_text)
		return by != 0 ? by : strcmp(a->text.ptr, b->text.ptr);
	long double sizes[2];
	for (int i = 0; i < 2; i++) {
		const struct tdm_value *of = i == 0 ? a : b;
		sizes[i] = of->type == TDM_VALUE_SIGNED ? (long double)of->integer
			   : of->type == TDM_VALUE_REAL ? of->real
							: (long double)of->number;
	}
	return (sizes[0] < sizes[1]) - (sizes[0] > sizes[1]);
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct tdm_proc_row *x = a, *y = b;
	const struct tdm_proc_view *view = context;
	int by = (x->who->life == TDM_LIFE_ENDED) - (y->who->life == TDM_LIFE_ENDED);
	if (by != 0)
		return by; /* ended processes come last */
	by = view->sort == TDM_PROC_DEVICE ? tdm_order(x->device, y->device) : compare_keys(&x->key, &y->key);
	if (by != 0)
		return view->reversed ? -by : by;
	bool swap = view->reversed && view->sort == TDM_PROC_PID;
	int by_pid = (x->process > y->process) - (x->process < y->process);
	return swap ? -by_pid : by_pid;
}

/* Sorts by the cells of a column; the processes are already in pid order. */
static void sort_rows(struct tdm_proc_rows *rows, size_t first)
{
	struct tdm_arena scratch = { 0 };
	const struct tdm_table table = { .context = rows };
	bool by_cell = rows->view.sort != TDM_PROC_PID && rows->view.sort != TDM_PROC_DEVICE;
	if (rows->count - first <= 1)
		return;
	for (size_t i = first; i < rows->count && by_cell; i++)
		rows->rows[i].key = tdm_field_value(&(struct tdm_field){
			&table, &rows->rows[i], &tdm_proc_columns[rows->view.sort], NULL, &scratch });
	qsort_r(rows->rows + first, rows->count - first, sizeof *rows->rows, compare_rows, &rows->view);
	tdm_arena_done(&scratch);
}

static void build_tree(struct tdm_proc_rows *rows)
{
	for (uint32_t d = 0; d < rows->picture->device_count; d++) {
		if (!takes_device(rows, d))
			continue;
		struct tdm_proc_row *row = add_row(rows, TDM_ROW_DEVICE, d);
		for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
			row->used[k] = row->at->kinds[k].used;
			row->estimated |= (uint32_t)row->at->kinds[k].is_estimated << k;
		}
		row->peak = row->at->kinds[TDM_KIND_DRAM].peak;
		add_sums(row);
		size_t first = rows->count;
		for (size_t h = 0; h < rows->picture->holding_count; h++) {
			const struct tdm_holding *holding = &rows->picture->holdings[h];
			if (holding->device != d || !is_wanted(rows, &rows->picture->processes[holding->process]))
				continue;
			row = add_row(rows, TDM_ROW_PROCESS, d);
			row->is_child = true;
			add_holding(row, rows, holding);
			describe(row, rows, holding->process);
		}
		sort_rows(rows, first);
		add_rests(rows, d, true);
		rows->rows[rows->count - 1].is_last = true;
	}
}

bool tdm_proc_shows_holding(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t holding)
{
	const struct tdm_picture_process *process = &picture->processes[picture->holdings[holding].process];
	bool is_all = pick->device != NULL || !picture->devices[picture->holdings[holding].device].is_board;
	bool has_others = false;
	for (size_t i = 0; i < process->holding_count && !is_all; i++)
		has_others |= !picture->devices[picture->holdings[process->first_holding + i].device].is_board;
	return tdm_pick_takes_holding(pick, picture, holding) && !has_others;
}

static void build_each(struct tdm_proc_rows *rows)
{
	const struct tdm_picture *picture = rows->picture;
	const struct tdm_pick *pick = &rows->view.pick;
	for (size_t p = 0; p < picture->process_count; p++) {
		const struct tdm_picture_process *process = &picture->processes[p];
		for (size_t i = process->first_holding; i < process->first_holding + process->holding_count; i++) {
			const struct tdm_holding *holding = &picture->holdings[i];
			if (!(rows->view.with_boards ? tdm_pick_takes_holding(pick, picture, i)
						     : tdm_proc_shows_holding(pick, picture, i)))
				continue;
			struct tdm_proc_row *row = add_row(rows, TDM_ROW_PROCESS, holding->device);
			add_holding(row, rows, holding);
			describe(row, rows, p);
			row->holding = holding;
			/*
			 * The sources of the row's figures. If the driver is the only source, the process merely has
			 * the card open.
			 */
			row->sources = 0;
			for (size_t k = 0; k < TDM_KIND_COUNT; k++)
				if (holding->kinds[k].reserved != TDM_BYTES_UNKNOWN)
					row->sources |= UINT32_C(1) << holding->kinds[k].from;
			row->sources &= ~(UINT32_C(1) << TDM_FROM_NONE);
			if (row->sources == 0 && holding->descriptors != 0)
				row->sources = UINT32_C(1) << TDM_FROM_DRIVER;
		}
		if (process->holding_count == 0 && tdm_pick_takes_process(pick, picture, p)) {
			struct tdm_proc_row *row = add_row(rows, TDM_ROW_PROCESS, UINT32_MAX);
			describe(row, rows, p);
			row->sources = 0;
		}
	}
	rows->processes = rows->count;
}

void tdm_proc_rows_build(
	struct tdm_proc_rows *rows, const struct tdm_picture *picture, const struct tdm_proc_view *view)
{
	rows->count = 0;
	rows->picture = picture;
	rows->view = *view;
	if (view->form == TDM_PROC_TREE) {
		build_tree(rows);
		return;
	}
	(view->form == TDM_PROC_EACH ? build_each : add_processes)(rows);
	if (view->form == TDM_PROC_FLAT)
		sort_rows(rows, 0);
	add_rests(rows, UINT32_MAX, false);
}

void tdm_proc_rows_done(struct tdm_proc_rows *rows)
{
	free(rows->rows);
	*rows = (struct tdm_proc_rows){ 0 };
}

static void release(void *rows)
{
	tdm_proc_rows_done(rows);
}

struct tdm_proc_rows *tdm_proc_rows_kept(
	struct tdm_result *result, const struct tdm_picture *picture, const struct tdm_proc_view *view)
{
	struct tdm_proc_rows *rows = tdm_result_alloc(result, 1, sizeof *rows);
	*rows = (struct tdm_proc_rows){ 0 };
	tdm_proc_rows_build(rows, picture, view);
	tdm_result_keep(result, rows, release);
	return rows;
}

/* ---- words ---- */

/* Whether the devices have consecutive numbers. */
static bool is_next(const struct tdm_picture_device *first, const struct tdm_picture_device *second)
{
	return first->number >= 0 && second->number == first->number + 1 && second->is_virtual == first->is_virtual;
}

char *tdm_proc_devices(
	const struct tdm_picture *picture, const struct tdm_picture_process *process, char *dst, size_t cap)
{
	struct tdm_buf text = { 0 };
	for (uint32_t i = 0, next; i < process->holding_count; i = next) {
		const struct tdm_holding *holdings = &picture->holdings[process->first_holding];
		const struct tdm_picture_device *first = &picture->devices[holdings[i].device], *last = first;
		char label[TDM_PICK_LABEL_CAP];
		for (next = i + 1; next < process->holding_count; last = &picture->devices[holdings[next++].device])
			if (!is_next(last, &picture->devices[holdings[next].device]))
				break;
		tdm_buf_printf(&text, "%s%s", i != 0 ? "," : "", tdm_pick_label(first, label, sizeof label));
		if (last != first)
			tdm_buf_printf(&text, "%s%" PRId32 "%s", last->number == first->number + 1 ? "," : "-",
				last->number, last->is_virtual ? "v" : "");
	}
	snprintf(dst, cap, "%s", tdm_buf_str(&text).ptr);
	tdm_buf_done(&text);
	return dst;
}

char *tdm_proc_sources(uint32_t sources, char *dst, size_t cap)
{
	size_t len = 0;
	dst[0] = '\0';
	for (int from = TDM_FROM_LEDGER; from < TDM_FROM_COUNT; from++)
		if ((sources >> from & 1) != 0 && len < cap)
			len += (size_t)snprintf(
				dst + len, cap - len, "%s%s", len != 0 ? "+" : "", tdm_from_name((enum tdm_from)from));
	return dst;
}

/* The length of the program's path. The path ends at the blank after the process's name, since folders may contain
 * blanks. */
static size_t program_length(const char *command, const char *comm)
{
	enum { COMM_MAX = 15 }; /* Linux's limit */
	size_t comm_len = strlen(comm), base = 0;
	for (size_t i = 0; comm_len != 0 && command[i] != '\0'; i++) {
		base = command[i] == '/' ? i + 1 : base;
		if ((command[i + 1] != ' ' && command[i + 1] != '\0') || strncmp(command + base, comm, comm_len) != 0)
			continue;
		if (i + 1 - base == comm_len || comm_len == COMM_MAX)
			return i + 1;
	}
	return strcspn(command, " ");
}

/* Returns the command if it fits. Otherwise, returns it in `dst` without the folders of the program and of paths. */
static const char *shortened(const struct tdm_picture_process *process, size_t columns, char dst[TDM_COMMAND_CAP])
{
	const char *command = tdm_picture_command(process);
	size_t at = 0;
	if (strlen(command) <= columns)
		return command;
	for (const char *word = command; *word != '\0' && at < TDM_COMMAND_CAP - 1;) {
		size_t len = word == command ? program_length(command, process->comm) : strcspn(word, " "), from = 0;
		bool is_path = word == command || word[0] == '/' || word[0] == '.';
		for (size_t i = 0; is_path && i + 1 < len; i++)
			from = word[i] == '/' ? i + 1 : from;
		len += word[len] == ' ';
		for (size_t i = from; i < len && at < TDM_COMMAND_CAP - 1; i++)
			dst[at++] = word[i];
		word += len;
	}
	dst[at] = '\0';
	return dst;
}

/* ---- columns ---- */

enum { COMMAND_WIDTH, DEVICE_WIDTH }; /* widths in the table */

#define ROW(field) ((const struct tdm_proc_row *)(field)->row)

static const struct tdm_picture *picture_of(const struct tdm_field *field)
{
	return ((const struct tdm_proc_rows *)field->table->context)->picture;
}

static struct tdm_value get_pid(const struct tdm_field *field)
{
	const struct tdm_picture_process *who = ROW(field)->who;
	return who == NULL ? tdm_value_text("")
			   : tdm_field_printed(field, "%" PRId32 "%s", who->pid, who->is_claimed ? "?" : "");
}

static struct tdm_value get_user(const struct tdm_field *field)
{
	const struct tdm_picture_process *who = ROW(field)->who;
	return tdm_value_level(tdm_value_text(who == NULL            ? ""
					      : who->user[0] != '\0' ? who->user
								     : "?"),
		TDM_LEVEL_FAINT);
}

static struct tdm_value get_device(const struct tdm_field *field)
{
	const struct tdm_proc_row *row = ROW(field);
	char text[320];
	if (row->at != NULL)
		tdm_pick_label(row->at, text, sizeof text);
	else if (row->who->holding_count != 0)
		tdm_proc_devices(picture_of(field), row->who, text, sizeof text);
	else
		snprintf(text, sizeof text, "%s%s-", row->who->host != NULL ? row->who->host->name : "",
			row->who->host != NULL ? ":" : "");
	return tdm_field_printed(field, "%s", text);
}

static struct tdm_value bytes_of(uint64_t bytes, bool is_estimated)
{
	struct tdm_value value = tdm_value_number(bytes);
	value.mark = tdm_estimate_mark(is_estimated, bytes)[0];
	return tdm_value_level(value, tdm_is_some(bytes) ? TDM_LEVEL_PLAIN : TDM_LEVEL_FAINT);
}

/* `arg`: a kind; OWN_KINDS for the sum of the kinds without a column; OWN_KINDS + 1 for the sum of the kinds with a
 * column. */
static struct tdm_value get_used(const struct tdm_field *field)
{
	const struct tdm_proc_row *row = ROW(field);
	int kind = field->column->arg;
	if (kind == OWN_KINDS)
		return bytes_of(row->other, row->estimated >> OWN_KINDS != 0);
	if (kind > OWN_KINDS)
		return bytes_of(row->memory, (row->estimated & ((1U << OWN_KINDS) - 1)) != 0);
	return bytes_of(row->used[kind], (row->estimated >> kind & 1) != 0);
}

static struct tdm_value get_peak(const struct tdm_field *field)
{
	const struct tdm_proc_row *row = ROW(field);
	if (row->type == TDM_ROW_UNATTRIBUTED || row->type == TDM_ROW_STALE)
		return tdm_value_text("");
	struct tdm_value value = bytes_of(row->peak, (row->estimated & 1) != 0);
	value.mark = row->peak_is_sum ? '<' : value.mark;
	return value;
}

static struct tdm_value get_growth(const struct tdm_field *field)
{
	const struct tdm_proc_row *row = ROW(field);
	struct tdm_value value =
		row->growth == TDM_GROWTH_UNKNOWN ? tdm_value_text(NULL) : tdm_value_signed(row->growth);
	return row->who == NULL ? tdm_value_text("")
				: tdm_value_level(value, row->rises ? TDM_LEVEL_WARNING : TDM_LEVEL_FAINT);
}

static struct tdm_value get_age(const struct tdm_field *field)
{
	const struct tdm_proc_row *row = ROW(field);
	if (row->who == NULL)
		return tdm_value_text("");
	if (row->who->life == TDM_LIFE_ENDED)
		return tdm_value_text(row->who->crashed ? "crashed" : row->who->replaced ? "replaced" : "ended");
	return tdm_value_level(tdm_value_number(row->age_ns), TDM_LEVEL_FAINT);
}

/* State, CPU or resident memory. */
static struct tdm_value get_host(const struct tdm_field *field)
{
	const struct tdm_proc_row *row = ROW(field);
	const struct tdm_proc_view *view = &((const struct tdm_proc_rows *)field->table->context)->view;
	const struct tdm_host_use *use =
		view->hosts != NULL && row->who != NULL ? tdm_host_uses_find(view->hosts, row->handle) : NULL;
	struct tdm_value value = { .type = TDM_VALUE_UNKNOWN };
	if (row->who == NULL)
		return tdm_value_text("");
	if (field->column->arg == TDM_PROC_STATE && row->who->life == TDM_LIFE_ENDED)
		value = tdm_value_text("X");
	else if (use != NULL && field->column->arg == TDM_PROC_STATE)
		value = tdm_field_printed(field, "%c", use->use.state);
	else if (use != NULL && field->column->arg == TDM_PROC_RESIDENT)
		value = tdm_value_number(use->use.resident_bytes);
	else if (use != NULL && use->cpu_permille != TDM_BYTES_UNKNOWN)
		value = tdm_value_real((double)use->cpu_permille / 10, TDM_UNIT_NUMBER);
	return tdm_value_level(value, TDM_LEVEL_FAINT);
}

/* Writes a letter for each source. */
static struct tdm_value get_source(const struct tdm_field *field)
{
	char text[TDM_FROM_COUNT + 1];
	size_t len = 0;
	for (uint8_t from = TDM_FROM_LEDGER; from < TDM_FROM_COUNT; from++)
		if ((ROW(field)->sources >> from & 1) != 0)
			text[len++] = tdm_source_letter(from);
	text[len] = '\0';
	return ROW(field)->who == NULL ? tdm_value_text("")
	       : len == 0              ? tdm_value_text(NULL)
				       : tdm_value_level(tdm_field_printed(field, "%s", text), TDM_LEVEL_FAINT);
}

static struct tdm_value get_phase(const struct tdm_field *field)
{
	const struct tdm_picture_process *who = ROW(field)->who;
	return tdm_value_level(tdm_value_text(who != NULL ? who->phase : ""), TDM_LEVEL_NOTE);
}

/* Rows that are not processes have a description instead. */
static struct tdm_value get_command(const struct tdm_field *field)
{
	const struct tdm_proc_row *row = ROW(field);
	size_t columns = field->table->widths[COMMAND_WIDTH];
	char node[40] = "";
	if (row->type == TDM_ROW_UNATTRIBUTED || row->type == TDM_ROW_STALE)
		return tdm_value_level(
			tdm_value_text(row->type == TDM_ROW_STALE ? "(stale)" : "(unattributed)"), TDM_LEVEL_WARNING);
	if (row->type == TDM_ROW_PROCESS && columns == 0)
		return tdm_value_text(tdm_picture_command(row->who));
	if (row->type == TDM_ROW_PROCESS)
		return tdm_value_text(shortened(row->who, columns, tdm_arena_take(field->scratch, TDM_COMMAND_CAP)));
	if (row->at->node >= 0)
		snprintf(node, sizeof node, "  /dev/tenstorrent/%" PRId32, row->at->node);
	return tdm_value_level(tdm_field_printed(field, "%s%s%s", tdm_picture_card_mark(row->at),
				       row->at->card[0] != '\0' ? row->at->card : "card unknown", node),
		TDM_LEVEL_STRONG);
}

/* ---- JSON ---- */

static bool skip_unknown(const struct tdm_table *table, const void *row)
{
	(void)table;
	return ((const struct tdm_counter *)row)->reserved == TDM_BYTES_UNKNOWN;
}

static struct tdm_value get_counters(const struct tdm_field *field)
{
#define AMOUNT(member) TDM_MEMBER(struct tdm_counter, member)
	static const struct tdm_column columns[] = {
		{ NULL, "kind", TDM_INDEX, .flags = TDM_IS_KIND },
		{ NULL, "used", AMOUNT(reserved) },
		{ NULL, "peak", AMOUNT(peak) },
		{ NULL, "estimated", AMOUNT(is_estimated) },
		{ NULL, "buffers", AMOUNT(buffers) },
		{ NULL, "source", AMOUNT(from), .get = tdm_get_source },
	};
	const struct tdm_holding *holding = ROW(field)->holding;
	return tdm_field_table(
		field, (struct tdm_table){ TDM_COLUMNS(columns), holding != NULL ? holding->kinds : NULL,
			       sizeof *holding->kinds, holding != NULL ? TDM_KIND_COUNT : 0, .skip = skip_unknown });
}

static struct tdm_value get_state(const struct tdm_field *field)
{
	return tdm_value_text(tdm_live_state(ROW(field)->who->life));
}

static struct tdm_value get_figures_age(const struct tdm_field *field)
{
	return tdm_value_number(tdm_live_age(picture_of(field), ROW(field)->who->as_of_ns));
}

static struct tdm_value get_host_name(const struct tdm_field *field)
{
	return tdm_value_text(ROW(field)->who->host != NULL ? ROW(field)->who->host->name : NULL);
}

static struct tdm_value get_runtime(const struct tdm_field *field)
{
	return tdm_runtime_members(field, picture_of(field), ROW(field)->holding);
}

/* ---- the table ---- */

#define WHO(member)     TDM_VIA(struct tdm_proc_row, who, struct tdm_picture_process, member)
#define HOLDING(member) TDM_VIA(struct tdm_proc_row, holding, struct tdm_holding, member)
#define AT(member)      TDM_VIA(struct tdm_proc_row, at, struct tdm_picture_device, member)
#define LEFT(columns)   .before = 1, .width = (columns)
#define SIZE(columns)   .before = 1, .format = tdm_format_bytes, .width = (columns)
#define USED(kind)      .get = get_used, .arg = (kind), SIZE(10)
#define HOST(column)    .get = get_host, .arg = (column)
const struct tdm_column tdm_proc_columns[] = {
	[TDM_PROC_PID] = { "PID", .get = get_pid, .width = 7, .flags = TDM_OTHER_SIDE | TDM_WHOLE },
	[TDM_PROC_USER] = { "USER", .get = get_user, LEFT(9) },
	[TDM_PROC_DEVICE] = { "DEV", .get = get_device, LEFT(TDM_WIDTH_OF_TABLE + DEVICE_WIDTH) },
	[TDM_PROC_DRAM] = { "DRAM", USED(TDM_KIND_DRAM) },
	[TDM_PROC_L1] = { "L1", USED(TDM_KIND_L1) },
	[TDM_PROC_L1_SMALL] = { "L1_SMALL", USED(TDM_KIND_L1_SMALL) },
	[TDM_PROC_TRACE] = { "TRACE", USED(TDM_KIND_TRACE) },
	[TDM_PROC_CB] = { "CB", USED(TDM_KIND_CB) },
	[TDM_PROC_OTHER] = { "OTHER", USED(OWN_KINDS) },
	[TDM_PROC_MEMORY] = { "MEMORY", USED(OWN_KINDS + 1) },
	[TDM_PROC_PEAK] = { "DRAM PEAK", .get = get_peak, SIZE(11) },
	[TDM_PROC_GROWTH] = { "GROWTH/MIN", .get = get_growth, SIZE(11), .flags = TDM_WITH_SIGN },
	[TDM_PROC_AGE] = { "AGE", .get = get_age, LEFT(8), .format = tdm_format_duration, .flags = TDM_WHOLE },
	[TDM_PROC_STATE] = { "S", HOST(TDM_PROC_STATE), LEFT(2) },
	[TDM_PROC_CPU] = { "CPU%", HOST(TDM_PROC_CPU), LEFT(6), .decimals = 1, .flags = TDM_OTHER_SIDE | TDM_WHOLE },
	[TDM_PROC_RESIDENT] = { "HOST MEM", HOST(TDM_PROC_RESIDENT), SIZE(10) },
	[TDM_PROC_SOURCE] = { "SRC", .get = get_source, LEFT(3) },
	[TDM_PROC_PHASE] = { "PHASE", .get = get_phase, LEFT(12) },
	[TDM_PROC_COMMAND] = { "COMMAND", .get = get_command, LEFT(TDM_WIDTH_OF_TABLE + COMMAND_WIDTH) },
	[TDM_PROC_COLUMN_COUNT] = { NULL, "pid", WHO(pid) },
	{ NULL, "user", .get = get_user },
	{ NULL, "device", AT(node), .flags = TDM_NEGATIVE_IS_UNKNOWN },
	{ NULL, "cmdline", .get = get_command },
	{ NULL, "memory.host", .get = get_host_name },
	{ NULL, "memory.device_index", HOLDING(device) },
	{ NULL, "memory.device_number", AT(number), .flags = TDM_NEGATIVE_IS_UNKNOWN },
	{ NULL, "memory.descriptors", HOLDING(descriptors), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "memory.state", .get = get_state },
	{ NULL, "memory.crashed", WHO(crashed) },
	{ NULL, "memory.replaced", WHO(replaced) },
	{ NULL, "memory.claimed", WHO(is_claimed) },
	{ NULL, "memory.container", WHO(in_container) },
	{ NULL, "memory.on_behalf", WHO(is_on_behalf) },
	{ NULL, "memory.figures_age_ns", .get = get_figures_age },
	{ NULL, "memory.phase", WHO(phase), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "memory.start_time", WHO(start_time), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "memory.started_ns", WHO(started_ns), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "memory.lost_events", WHO(lost) },
	{ NULL, "memory.faults", WHO(faults) },
	{ NULL, "memory.out_of_memory", WHO(out_of_memory) },
	{ NULL, "memory.sources", WHO(sources), .get = tdm_get_sources },
	{ NULL, "memory.kinds", .get = get_counters },
	{ NULL, "memory.", .get = get_runtime },
};

static const uint8_t priorities[TDM_PROC_COLUMN_COUNT] = {
#define X(id, priority, letter) priority,
	TDM_PROC_COLUMN_LIST(X)
#undef X
};

char tdm_proc_letter(enum tdm_proc_column column)
{
	static const char letters[TDM_PROC_COLUMN_COUNT] = {
#define X(id, priority, letter) letter,
		TDM_PROC_COLUMN_LIST(X)
#undef X
	};
	return letters[column];
}

struct tdm_table tdm_proc_rows_table(const struct tdm_proc_rows *rows, size_t cols, const bool *hidden)
{
	struct tdm_table table = { TDM_COLUMNS(tdm_proc_columns), rows->rows, sizeof *rows->rows, rows->count,
		.context = rows, .units = TDM_UNITS_COLUMN };
	size_t least = cols < 60 ? 8 : cols < 120 ? 20 : 30, left = cols > least + 1 ? cols - least - 1 : 0;
	uint64_t shown = UINT64_C(1) << TDM_PROC_COMMAND;
	table.widths[DEVICE_WIDTH] = tdm_max(5, tdm_pick_host_columns(rows->picture));
	for (unsigned priority = 0; priority < TDM_PROC_COLUMN_COUNT; priority++)
		for (size_t c = 0; c < TDM_PROC_COMMAND; c++) {
			size_t width =
				1 + (c == TDM_PROC_DEVICE ? table.widths[DEVICE_WIDTH] : tdm_proc_columns[c].width);
			if (priorities[c] != priority || (hidden != NULL && hidden[c]) || (cols != 0 && width > left))
				continue;
			shown |= UINT64_C(1) << c;
			left -= cols != 0 ? width : 0;
		}
	table.hidden = ~shown & ((UINT64_C(1) << TDM_PROC_COLUMN_COUNT) - 1);
	table.widths[COMMAND_WIDTH] = cols != 0 ? least + left : 0;
	return table;
}
