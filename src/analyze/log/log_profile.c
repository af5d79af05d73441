/* Fills all tables of the profile, record by record, in a single switch. */
#include "analyze/log/log_profile.h"
#include "analyze/explain/failure_finding.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	FAILURES_MAX = 1000,
	ROWS_MAX = 4096, /* rows of any other table */
	FOLLOWED_MAX = 1 << 20,
};

/* Identifies a key's table, so that keys for different tables differ. */
enum { KEY_CB = 1, KEY_KERNEL, KEY_OP, KEY_AMOUNT, KEY_STATE, KEY_REMAINING, KEY_PROGRAM, KEY_MOMENT, KEY_STACK };

void tdm_log_profile_done(struct tdm_log_profile *p)
{
	struct tdm_log_table *tables[] = { &p->cbs, &p->kernels, &p->ops, &p->amounts, &p->states, &p->remaining,
		&p->programs, &p->failures, &p->moments, &p->stacks };
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		free(tables[i]->rows);
	free(p->files);
	tdm_findings_done(&p->found);
	tdm_map_done(&p->keys);
	tdm_map_done(&p->fills);
	tdm_map_done(&p->live);
	tdm_map_done(&p->processes);
	*p = (struct tdm_log_profile){ 0 };
}

uint32_t tdm_log_profile_add_file(struct tdm_log_profile *p, const char *name)
{
	tdm_grow(&p->files, &p->file_cap, p->file_count + 1, sizeof *p->files);
	struct tdm_log_file *file = &p->files[p->file_count];
	*file = (struct tdm_log_file){ .name = name };
	/* sets all members to unknown */
	memset(&file->a_tiles, 0xff, sizeof *file - offsetof(struct tdm_log_file, a_tiles));
	return (uint32_t)p->file_count++;
}

/* Adds a zeroed row; NULL if the table is full. */
static void *row_new(struct tdm_log_table *t, size_t size, size_t max)
{
	if (t->count == max) {
		t->dropped++;
		return NULL;
	}
	tdm_grow(&t->rows, &t->cap, t->count + 1, size);
	char *row = (char *)t->rows + t->count++ * size;
	memset(row, 0, size);
	return row;
}

/* The row of a key, added if there is none; then *is_new is set. */
static void *row_of(struct tdm_log_profile *p, struct tdm_log_table *t, uint64_t key, size_t size, bool *is_new)
{
	uint32_t index = tdm_map_find(&p->keys, key);
	*is_new = index == TDM_MAP_NONE;
	if (!*is_new && index >= t->count) { /* a crafted name collides with a key in another table */
		t->dropped++;
		return NULL;
	}
	if (!*is_new)
		return (char *)t->rows + index * size;
	void *row = row_new(t, size, ROWS_MAX);
	if (row != NULL)
		tdm_map_set(&p->keys, key, (uint32_t)t->count - 1);
	return row;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	return tdm_hash_u64(a ^ tdm_hash_u64(b + UINT64_C(0x9e3779b97f4a7c15)));
}

static uint64_t key_of(int table, const struct tdm_log_record *r, uint64_t a, uint64_t b)
{
	return mix(mix(mix((uint64_t)table, r->file), a), b);
}

static void copy_text(char *dst, size_t cap, struct tdm_str text)
{
	size_t len = text.len < cap - 1 ? text.len : cap - 1;
	if (len != 0)
		memcpy(dst, text.ptr, len);
	dst[len] = '\0';
}

static void set_known(uint64_t *into, uint64_t figure)
{
	if (figure != TDM_LOG_UNKNOWN)
		*into = figure;
}

/* Adds without wrapping around. */
static void grow(uint64_t *sum, uint64_t by)
{
	*sum = by > UINT64_MAX - 1 - *sum ? UINT64_MAX - 1 : *sum + by;
}

/* Tracks the number of tiles in a core's circular buffer. */
static void change_fill(struct tdm_log_profile *p, const struct tdm_log_record *r, struct tdm_log_cb *cb)
{
	uint64_t core = r->has_range ? (uint64_t)r->range.x0 << 16 | r->range.y0 : UINT64_MAX;
	uint64_t key = mix(key_of(KEY_CB, r, r->cb, core), r->device);
	uint32_t fill = tdm_map_find(&p->fills, key);
	uint64_t tiles = r->tiles != TDM_LOG_UNKNOWN ? r->tiles : 1, now = fill != TDM_MAP_NONE ? fill : 0;
	if (r->type == TDM_LOG_CB_PUSH)
		grow(&now, tiles);
	else
		now = now > tiles ? now - tiles : 0;
	cb->peak_fill = now > cb->peak_fill ? now : cb->peak_fill;
	now = now < TDM_MAP_NONE ? now : TDM_MAP_NONE - 1;
	if (fill != TDM_MAP_NONE || p->fills.count < FOLLOWED_MAX)
		tdm_map_set(&p->fills, key, (uint32_t)now);
	else
		p->untracked++;
}

static void add_cb_event(struct tdm_log_profile *p, const struct tdm_log_record *r, struct tdm_log_cb *cb)
{
	uint64_t tiles = r->tiles != TDM_LOG_UNKNOWN ? r->tiles : 1;
	switch (r->type) {
	case TDM_LOG_CB_RESERVE:
		cb->reserves++;
		break;
	case TDM_LOG_CB_WAIT:
		cb->waits++;
		break;
	case TDM_LOG_CB_PUSH:
		cb->pushes++;
		grow(&cb->pushed_tiles, tiles);
		change_fill(p, r, cb);
		return;
	default:
		cb->pops++;
		grow(&cb->popped_tiles, tiles);
		change_fill(p, r, cb);
		return;
	}
	if (r->duration_ns != TDM_LOG_UNKNOWN) {
		cb->timed++;
		cb->stalls += r->duration_ns != 0;
		grow(&cb->stall_ns, r->duration_ns);
		cb->longest_stall_ns = r->duration_ns > cb->longest_stall_ns ? r->duration_ns : cb->longest_stall_ns;
	}
}

static struct tdm_log_cb *cb_of(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	bool is_new;
	struct tdm_log_cb *cb = row_of(p, &p->cbs, key_of(KEY_CB, r, r->cb, 0), sizeof *cb, &is_new);
	if (cb != NULL && is_new) {
		cb->file = r->file;
		cb->cb = r->cb;
		cb->tiles = cb->bytes = cb->cores = TDM_LOG_UNKNOWN;
	}
	return cb;
}

void tdm_log_profile_give(struct tdm_log_profile *p, uint32_t file, uint32_t index, uint64_t tiles)
{
	struct tdm_log_record of = { .file = file, .cb = index };
	struct tdm_log_cb *cb = p->files[file].by_dialect[TDM_LOG_BY_WORKLOAD] != 0 ? cb_of(p, &of) : NULL;
	if (cb != NULL && cb->tiles == TDM_LOG_UNKNOWN) {
		cb->tiles = tiles;
		cb->is_given = true;
	}
}

static void add_cb(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	struct tdm_log_cb *cb = cb_of(p, r);
	if (cb != NULL && r->type != TDM_LOG_CB_ALLOC)
		add_cb_event(p, r, cb);
	if (cb == NULL || r->type != TDM_LOG_CB_ALLOC)
		return;
	cb->allocs++;
	set_known(&p->files[r->file].cb_bytes, r->all_bytes);
	set_known(&p->files[r->file].cb_limit, r->limit);
	set_known(&cb->tiles, r->tiles);
	set_known(&cb->bytes, r->bytes);
	set_known(&cb->cores, r->cores);
	if (r->name.len != 0)
		copy_text(cb->label, sizeof cb->label, r->name);
	if (r->has_range) {
		cb->has_range = true;
		cb->range = r->range;
	}
}

static struct tdm_log_work *work_of(
	struct tdm_log_profile *p, struct tdm_log_table *t, int table, const struct tdm_log_record *r)
{
	bool is_new;
	struct tdm_log_work *work = row_of(p, t, key_of(table, r, tdm_str_hash(r->name), 0), sizeof *work, &is_new);
	if (work != NULL && is_new) {
		work->file = r->file;
		work->bytes = TDM_LOG_UNKNOWN;
		copy_text(work->name, sizeof work->name, r->name);
	}
	if (work != NULL && r->bytes != TDM_LOG_UNKNOWN && (work->bytes == TDM_LOG_UNKNOWN || r->bytes > work->bytes))
		work->bytes = r->bytes;
	return work;
}

static void add_time(struct tdm_log_work *work, uint64_t ns)
{
	if (ns == TDM_LOG_UNKNOWN)
		return;
	work->timed++;
	grow(&work->total_ns, ns);
	work->longest_ns = tdm_max(work->longest_ns, ns);
}

static void add_kernel(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	struct tdm_log_work *k = work_of(p, &p->kernels, KEY_KERNEL, r);
	if (k == NULL)
		return;
	if (r->type == TDM_LOG_KERNEL_START) {
		k->starts++;
		k->started_ns = r->time_is_near ? 0 : r->time_ns;
	} else if (r->type == TDM_LOG_KERNEL_END) {
		uint64_t ns = r->duration_ns;
		if (ns == TDM_LOG_UNKNOWN && k->started_ns != 0 && !r->time_is_near && r->time_ns >= k->started_ns)
			ns = r->time_ns - k->started_ns;
		k->ends++;
		k->started_ns = 0;
		add_time(k, ns);
	}
}

static void add_op(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	struct tdm_log_work *op = work_of(p, &p->ops, KEY_OP, r);
	if (op == NULL)
		return;
	op->starts += r->type == TDM_LOG_OP_BEGIN;
	if (r->type == TDM_LOG_OP_END)
		add_time(op, r->duration_ns);
}

static void add_program(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	struct tdm_log_work *program = work_of(p, &p->programs, KEY_PROGRAM, r);
	if (program != NULL)
		program->starts++;
}

static uint64_t process_key(const struct tdm_log_record *r)
{
	return key_of(KEY_AMOUNT, r, (uint32_t)r->pid, r->dialect);
}

static struct tdm_log_amount *amount_of(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	bool is_new;
	uint64_t key = key_of(
		KEY_AMOUNT, r, (uint64_t)(uint32_t)r->pid << 32 | r->device, (uint64_t)r->dialect << 8 | r->kind);
	struct tdm_log_amount *a = row_of(p, &p->amounts, key, sizeof *a, &is_new);
	if (a != NULL && is_new) {
		a->file = r->file;
		a->device = r->device;
		a->dialect = r->dialect;
		a->kind = r->kind;
		a->pid = r->pid;
		/* The new row precedes the process's other rows. */
		a->next = tdm_map_find(&p->processes, process_key(r));
		tdm_map_set(&p->processes, process_key(r), (uint32_t)p->amounts.count - 1);
	}
	return a;
}

static uint64_t *live_of(struct tdm_log_profile *p, uint8_t kind)
{
	return kind == TDM_KIND_DRAM ? &p->live_dram : kind == TDM_KIND_L1 ? &p->live_l1 : NULL;
}

static uint64_t buffer_key(const struct tdm_log_record *r)
{
	return mix(key_of(KEY_AMOUNT, r, r->id, r->device), UINT64_MAX);
}

static void add_alloc(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	struct tdm_log_amount *a = amount_of(p, r);
	if (a == NULL)
		return;
	a->allocs++;
	if (r->dialect == TDM_LOG_BY_SERVER && r->id != TDM_LOG_UNKNOWN) {
		if (r->count != 1)
			return; /* one more reference to a live buffer */
		if (p->live.count < FOLLOWED_MAX)
			tdm_map_set(&p->live, buffer_key(r), (uint32_t)(a - (struct tdm_log_amount *)p->amounts.rows));
		else
			p->untracked++;
	}
	uint64_t *live = live_of(p, r->kind);
	grow(&a->alloc_bytes, r->bytes);
	grow(&a->bytes, r->bytes);
	if (live != NULL)
		grow(live, r->bytes);
	if (a->bytes > a->peak_bytes) {
		a->peak_bytes = a->bytes;
		a->peak_line = r->line;
	}
}

static void add_unknown_free(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	struct tdm_log_amount *a = amount_of(p, r);
	if (a == NULL)
		return;
	a->frees++;
	a->unmatched++;
}

static void add_free(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	struct tdm_log_amount *a;
	if (r->dialect == TDM_LOG_BY_SERVER && r->id != TDM_LOG_UNKNOWN) {
		uint32_t row =
			r->count == 0 ? tdm_map_take(&p->live, buffer_key(r)) : tdm_map_find(&p->live, buffer_key(r));
		if (row == TDM_MAP_NONE && p->untracked == 0)
			add_unknown_free(p, r);
		else if (row == TDM_MAP_NONE) /* there may have been no room to track the buffer */
			p->untracked++;
		if (row == TDM_MAP_NONE)
			return;
		a = (struct tdm_log_amount *)p->amounts.rows + row;
		a->frees++;
		if (r->count != 0)
			return; /* other references remain */
	} else {
		a = amount_of(p, r);
		if (a == NULL)
			return;
		a->frees++;
	}
	uint64_t bytes = r->bytes != TDM_LOG_UNKNOWN ? r->bytes : 0;
	uint64_t *live = live_of(p, a->kind);
	if (bytes > a->bytes) {
		a->unmatched++;
		bytes = a->bytes;
	}
	a->bytes -= bytes;
	if (live != NULL)
		*live -= bytes <= *live ? bytes : *live;
}

/* Handles the server's release of everything that a process held. */
static void add_gone(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	struct tdm_log_amount *rows = p->amounts.rows;
	for (uint32_t i = tdm_map_find(&p->processes, process_key(r)); i != TDM_MAP_NONE; i = rows[i].next) {
		struct tdm_log_amount *a = &rows[i];
		uint64_t *live = live_of(p, a->kind);
		if (live != NULL)
			*live -= a->bytes <= *live ? a->bytes : *live;
		a->bytes = 0;
	}
}

/* Lines from several ranks are interleaved, so each rank has its own moment. */
static char *moment_of(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	bool is_new;
	return row_of(p, &p->moments, key_of(KEY_MOMENT, r, (uint64_t)(uint32_t)r->rank, 0), TDM_LOG_NAME_CAP, &is_new);
}

static void set_moment(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	char *moment = moment_of(p, r);
	if (moment != NULL)
		copy_text(moment, TDM_LOG_NAME_CAP, r->name);
}

static void add_state(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	bool is_new;
	const char *moment = moment_of(p, r);
	uint64_t key = key_of(KEY_STATE, r, r->kind, (uint64_t)(uint32_t)r->rank);
	struct tdm_log_state *s = row_of(p, &p->states, key, sizeof *s, &is_new);
	if (s == NULL)
		return;
	if (is_new) {
		s->file = r->file;
		s->kind = r->kind;
		s->rank = r->rank;
		s->least_largest_free = TDM_BYTES_UNKNOWN;
	}
	s->count++;
	if (r->view.largest_free < s->least_largest_free)
		s->least_largest_free = r->view.largest_free;
	if (is_new || (r->view.allocated != TDM_BYTES_UNKNOWN && r->view.allocated > s->peak.allocated)) {
		s->peak = r->view;
		s->peak_line = r->line;
		copy_text(s->peak_op, sizeof s->peak_op, tdm_str_of(moment != NULL ? moment : ""));
	}
}

static void add_remaining(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	bool is_new;
	uint64_t key = key_of(KEY_REMAINING, r, r->device, r->kind);
	struct tdm_log_amount *row = row_of(p, &p->remaining, key, sizeof *row, &is_new);
	if (row != NULL)
		*row = (struct tdm_log_amount){
			.file = r->file, .device = r->device, .kind = r->kind, .allocs = r->count, .bytes = r->bytes
		};
}

static void add_stack(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	bool is_new;
	uint64_t key = key_of(KEY_STACK, r, tdm_str_hash(r->processor), 0);
	struct tdm_log_state *s = row_of(p, &p->stacks, key, sizeof *s, &is_new);
	if (s == NULL || (!is_new && r->view.free >= s->peak.free))
		return;
	*s = (struct tdm_log_state){ .file = r->file, .peak = r->view, .peak_line = r->line };
	copy_text(s->processor, sizeof s->processor, r->processor);
	copy_text(s->peak_op, sizeof s->peak_op, r->name);
}

static void add_failure(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	bool warning = tdm_failure_is_warning(&r->failure);
	struct tdm_log_failure failure = { r->failure, r->file, r->rank };
	failure.failure.name = failure.failure.text = (struct tdm_str){ NULL, 0 };
	if (r->is_repeat) {
		/* Counts this line as a repeat of the newest failure with the same figures. */
		const struct tdm_log_failure *rows = p->failures.rows;
		size_t i = p->failures.count;
		while (i > 0 && !(rows[i - 1].file == failure.file && rows[i - 1].rank == failure.rank &&
					tdm_failure_is_same(&rows[i - 1].failure, &failure.failure)))
			i--;
		if (i > 0)
			p->found.figures[p->found.list[i - 1].first_figure + p->found.list[i - 1].figure_count - 1]
				.value.number++;
		return;
	}
	p->by_type[r->failure.type]++;
	p->failure_count += !warning;
	p->warning_count += warning;
	p->files[r->file].failures += !warning;
	p->files[r->file].warnings += warning;
	struct tdm_log_failure *f = row_new(&p->failures, sizeof *f, FAILURES_MAX);
	if (f == NULL)
		return;
	*f = failure;
	tdm_failure_find(&r->failure, &p->found);
	tdm_findings_position(&p->found, "file", TDM_UNIT_COUNT, r->file);
	tdm_findings_position(&p->found, "line", TDM_UNIT_COUNT, r->line);
	tdm_findings_position(&p->found, "time_ns", TDM_UNIT_NS, r->time_ns != 0 ? r->time_ns : TDM_BYTES_UNKNOWN);
	tdm_findings_position(
		&p->found, "rank", TDM_UNIT_COUNT, r->rank != TDM_LOG_NO_RANK ? (uint64_t)r->rank : TDM_BYTES_UNKNOWN);
	/* stays last, because add_place() updates it there */
	tdm_findings_position(&p->found, "places", TDM_UNIT_COUNT, 1);
}

static void add_geometry(struct tdm_log_file *file, const struct tdm_log_geometry *g)
{
	const uint64_t *from = (const uint64_t *)g; /* all fields are uint64_t */
	uint64_t *into = (uint64_t *)&file->geometry;
	file->has_geometry = true;
	for (size_t i = 0; i < sizeof *g / sizeof *from; i++)
		set_known(&into[i], from[i]);
}

/* ---- the log over time ---- */

enum { FIRST_WIDTH_NS = 1000000 };

/* Doubles the width of columns and halves their number. */
static void widen(struct tdm_log_timeline *t)
{
	for (size_t i = 0; i < TDM_LOG_SLOTS / 2; i++)
		for (int row = 0; row < TDM_LOG_ROW_COUNT; row++) {
			uint64_t a = t->at[2 * i][row], b = t->at[2 * i + 1][row];
			t->at[i][row] = row < TDM_LOG_ROW_DRAM ? a + b : tdm_max(a, b);
		}
	memset(t->at[TDM_LOG_SLOTS / 2], 0, TDM_LOG_SLOTS / 2 * sizeof *t->at);
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

/* `dram` and `l1`: bytes allocated after this record. */
static void add_to_timeline(struct tdm_log_timeline *t, const struct tdm_log_record *r, uint64_t dram, uint64_t l1)
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
	t->at[slot][row]++;
	t->slots = tdm_max(t->slots, slot + 1);
	/* An amount holds until the next record changes it. */
	for (size_t i = t->last + 1; i <= slot; i++) {
		t->at[i][TDM_LOG_ROW_DRAM] = tdm_max(t->at[i][TDM_LOG_ROW_DRAM], t->last_dram);
		t->at[i][TDM_LOG_ROW_L1] = tdm_max(t->at[i][TDM_LOG_ROW_L1], t->last_l1);
	}
	t->at[slot][TDM_LOG_ROW_DRAM] = tdm_max(t->at[slot][TDM_LOG_ROW_DRAM], dram);
	t->at[slot][TDM_LOG_ROW_L1] = tdm_max(t->at[slot][TDM_LOG_ROW_L1], l1);
	t->last = tdm_max(t->last, slot);
	t->last_dram = dram;
	t->last_l1 = l1;
}

/* ---- all records ---- */

static void add_by_type(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	struct tdm_log_file *file = &p->files[r->file];
	switch (r->type) {
	case TDM_LOG_FAILURE:
		add_failure(p, r);
		break;
	case TDM_LOG_ALLOC:
		file->amount_lines++;
		add_alloc(p, r);
		break;
	case TDM_LOG_FREE:
		add_free(p, r);
		break;
	case TDM_LOG_UNKNOWN_FREE:
		add_unknown_free(p, r);
		break;
	case TDM_LOG_PROCESS_GONE:
		add_gone(p, r);
		break;
	case TDM_LOG_REMAINING:
		add_remaining(p, r);
		break;
	case TDM_LOG_GEOMETRY:
		add_geometry(file, &r->geometry);
		break;
	case TDM_LOG_MEMORY_STATE:
		add_state(p, r);
		break;
	case TDM_LOG_MOMENT:
		set_moment(p, r);
		break;
	case TDM_LOG_OP_BEGIN:
		if (r->dialect == TDM_LOG_BY_COMPILER)
			set_moment(p, r);
		add_op(p, r);
		break;
	case TDM_LOG_OP_END:
		add_op(p, r);
		break;
	case TDM_LOG_KERNEL_START:
	case TDM_LOG_KERNEL_END:
	case TDM_LOG_KERNEL_SIZE:
		add_kernel(p, r);
		break;
	case TDM_LOG_PROGRAM_SIZE:
		add_program(p, r);
		break;
	case TDM_LOG_TILES:
		if (file->a_tiles == TDM_LOG_UNKNOWN) /* if the log lacks it, use the number from a kernel */
			file->a_tiles = r->tiles;
		set_known(&file->a_tiles, r->a_tiles);
		set_known(&file->b_tiles, r->b_tiles);
		set_known(&file->shard_tiles, r->shard_tiles);
		set_known(&file->devices, r->devices);
		set_known(&file->cores, r->cores);
		break;
	case TDM_LOG_STACK:
		add_stack(p, r);
		break;
	case TDM_LOG_VERIFICATION:
		set_known(&file->passed, r->tiles);
		set_known(&file->verified, r->count);
		break;
	default:
		add_cb(p, r);
		break;
	}
}

void tdm_log_profile_add(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	struct tdm_log_file *file = &p->files[r->file];
	file->records++;
	file->by_dialect[r->dialect]++;
	if (r->time_ns != 0) {
		file->first_ns = file->first_ns == 0 || r->time_ns < file->first_ns ? r->time_ns : file->first_ns;
		file->last_ns = r->time_ns > file->last_ns ? r->time_ns : file->last_ns;
	}
	add_by_type(p, r);
	add_to_timeline(&p->timeline, r, p->live_dram, p->live_l1);
}

/* ---- pressure ---- */

/* The highest fill of each circular buffer, as a share of its size, averaged over the buffers for which the log
 * contains both. */
static double utilization(const struct tdm_log_profile *p, uint32_t file)
{
	const struct tdm_log_cb *rows = p->cbs.rows;
	double sum = 0;
	size_t count = 0;
	for (size_t i = 0; i < p->cbs.count; i++) {
		const struct tdm_log_cb *cb = &rows[i];
		if (cb->file != file || cb->pushes == 0 || cb->tiles == TDM_LOG_UNKNOWN || cb->tiles == 0)
			continue;
		double share = (double)cb->peak_fill / (double)cb->tiles;
		sum += share < 1 ? share : 1;
		count++;
	}
	return count != 0 ? sum / (double)count : (double)NAN;
}

static const char *const titles[TDM_PRESSURE_COUNT] = {
	[TDM_PRESSURE_MISS] = "CB1 miss rate",
	[TDM_PRESSURE_UTILIZATION] = "CB utilization",
	[TDM_PRESSURE_STALLS] = "stalls",
	[TDM_PRESSURE_L1] = "share of L1",
	[TDM_PRESSURE_SCORE] = "pressure score",
};

/* The source of each figure. */
static const char *const bases[TDM_PRESSURE_COUNT] = {
	[TDM_PRESSURE_MISS] = "from sizes, not observed",
	[TDM_PRESSURE_UTILIZATION] = "observed: the fullest moment of each",
	[TDM_PRESSURE_STALLS] = "observed: reserves and waits that had to wait",
	[TDM_PRESSURE_L1] = "circular buffers of a core, of the L1 for buffers",
	[TDM_PRESSURE_SCORE] = "heuristic: the largest of miss rate, stalls and share of L1",
};

static const char *const unknown[TDM_PRESSURE_COUNT] = {
	[TDM_PRESSURE_MISS] = "unknown: needs the tiles of B and of CB1",
	[TDM_PRESSURE_UTILIZATION] = "unknown: needs lines that push, and sizes in tiles",
	[TDM_PRESSURE_STALLS] = "unknown: needs reserves or waits that say how long they waited",
	[TDM_PRESSURE_L1] = "unknown: needs sizes in bytes and the runtime's debug lines about L1",
	[TDM_PRESSURE_SCORE] = "unknown",
};

static void add_indicator(struct tdm_findings *out, enum tdm_pressure indicator, double value)
{
	static const char *const bands[TDM_SEVERITIES] = { "LOW", NULL, "MEDIUM", "HIGH" };
	const char *name = tdm_pressure_name(indicator), *band = tdm_pressure_band_name(indicator);
	enum tdm_severity severity = tdm_pressure_band(indicator, value);
	bool is_score = indicator == TDM_PRESSURE_SCORE;
	struct tdm_finding *finding = tdm_findings_add(out, TDM_FAMILY_PRESSURE, name, severity);
	struct tdm_value shown = tdm_value_real(value, is_score ? TDM_UNIT_NUMBER : TDM_UNIT_SHARE);
	finding->code = (uint8_t)indicator;
	finding->verdict = bands[severity];
	finding->title = titles[indicator];
	finding->pattern = isnan(value) ? unknown[indicator]
			   : is_score
				   ? "{_value} of 100|, thrashing risk {_band}"
				   : "{_value}|, {_band}|{=b_tiles_assumed/; as many B tiles as A tiles were assumed/}";
	tdm_findings_value(out, name, shown);
	shown.decimals = is_score ? 0 : 1;
	tdm_findings_value(out, "_value", shown);
	tdm_findings_word(out, "_band", bands[severity]);
	tdm_findings_word(out, "_basis", isnan(value) ? NULL : bases[indicator]);
	if (band != NULL)
		tdm_findings_word(out, band, bands[severity]);
}

void tdm_log_profile_pressure(const struct tdm_log_profile *p, uint32_t file, struct tdm_findings *out)
{
	const struct tdm_log_file *f = &p->files[file];
	const struct tdm_log_cb *rows = p->cbs.rows;
	uint64_t timed = 0, stalls = 0, bytes = 0, l1 = f->geometry.allocatable_l1_size;
	uint64_t b_tiles = f->b_tiles != TDM_LOG_UNKNOWN ? f->b_tiles : f->a_tiles;
	bool sized = false, all_sized = true;
	double miss = NAN, stall_share = NAN, l1_share = NAN;
	for (size_t i = 0; i < p->cbs.count; i++) {
		const struct tdm_log_cb *cb = &rows[i];
		if (cb->file != file)
			continue;
		timed += cb->timed;
		stalls += cb->stalls;
		if (cb->cb == 1 && cb->tiles != TDM_LOG_UNKNOWN && b_tiles != TDM_LOG_UNKNOWN && b_tiles != 0)
			miss = tdm_pressure_miss(b_tiles, cb->tiles);
		sized |= cb->bytes != TDM_BYTES_UNKNOWN;
		all_sized &= cb->bytes != TDM_BYTES_UNKNOWN || cb->allocs == 0;
		if (cb->bytes != TDM_BYTES_UNKNOWN)
			bytes = tdm_min(tdm_plus(bytes, cb->bytes), TDM_BYTES_UNKNOWN - 1);
	}
	if (!(sized && all_sized)) /* the log may contain only the sum */
		bytes = f->cb_bytes;
	if (timed != 0)
		stall_share = (double)stalls / (double)timed;
	if (bytes != TDM_BYTES_UNKNOWN && l1 != TDM_BYTES_UNKNOWN && l1 != 0)
		l1_share = (double)bytes / (double)l1;
	add_indicator(out, TDM_PRESSURE_MISS, miss);
	tdm_findings_flag(out, "b_tiles_assumed", !isnan(miss) && f->b_tiles == TDM_LOG_UNKNOWN);
	add_indicator(out, TDM_PRESSURE_UTILIZATION, utilization(p, file));
	add_indicator(out, TDM_PRESSURE_STALLS, stall_share);
	add_indicator(out, TDM_PRESSURE_L1, l1_share);
	tdm_findings_figure(out, "cb_bytes_per_core", TDM_UNIT_BYTES, bytes);
	tdm_findings_figure(out, "cb_limit_bytes", TDM_UNIT_BYTES, f->cb_limit);
	add_indicator(out, TDM_PRESSURE_SCORE, tdm_pressure_score(miss, stall_share, l1_share));
}
