/* Long: all tables of the profile are filled here, record by record, from one switch. */
#include "analyze/log_profile.h"
#include "analyze/failure_finding.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>

enum {
	FAILURES_MAX = 1000,
	ROWS_MAX = 4096, /* of the other tables */
	FOLLOWED_MAX = 1 << 20,
};

/* The table of a key, so that keys of different tables differ. */
enum { KEY_CB = 1, KEY_KERNEL, KEY_OP, KEY_AMOUNT, KEY_STATE, KEY_REMAINING, KEY_PROGRAM, KEY_MOMENT, KEY_STACK };

int tdm_log_profile_init(struct tdm_log_profile *p)
{
	*p = (struct tdm_log_profile){ .file_count = 0 };
	if (tdm_map_init(&p->keys) != 0)
		return -ENOMEM;
	if (tdm_map_init(&p->fills) != 0 || tdm_map_init(&p->live) != 0 || tdm_map_init(&p->processes) != 0) {
		tdm_log_profile_done(p);
		return -ENOMEM;
	}
	return 0;
}

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
	*p = (struct tdm_log_profile){ .file_count = 0 };
}

int tdm_log_profile_add_file(struct tdm_log_profile *p, const char *name)
{
	if (tdm_reserve(&p->files, &p->file_cap, p->file_count + 1, sizeof *p->files) != 0)
		return -ENOMEM;
	p->files[p->file_count] = (struct tdm_log_file){
		.name = name,
		.a_tiles = TDM_LOG_UNKNOWN,
		.b_tiles = TDM_LOG_UNKNOWN,
		.shard_tiles = TDM_LOG_UNKNOWN,
		.devices = TDM_LOG_UNKNOWN,
		.cores = TDM_LOG_UNKNOWN,
		.cb_bytes = TDM_LOG_UNKNOWN,
		.cb_limit = TDM_LOG_UNKNOWN,
		.passed = TDM_LOG_UNKNOWN,
		.verified = TDM_LOG_UNKNOWN,
	};
	memset(&p->files[p->file_count].geometry, 0xff, sizeof p->files->geometry); /* every figure unknown */
	return (int)p->file_count++;
}

void tdm_log_profile_end_file(struct tdm_log_profile *p, size_t file, const struct tdm_log_counts *counts)
{
	struct tdm_log_file *f = &p->files[file];
	f->lines = counts->lines;
	f->bytes = counts->bytes;
	f->cut_lines = counts->cut_lines;
	f->refused_lines = counts->refused_lines;
	f->sample_lines = counts->sample_lines;
	f->logger_lines = counts->logger_lines;
	f->debug_lines = counts->debug_lines;
	f->is_binary = counts->is_binary;
	f->is_cut = counts->is_cut;
}

/* A zeroed row at the end; NULL when out of memory (*err set) or when the table is full (*err 0). */
static void *row_new(struct tdm_log_table *t, size_t size, size_t max, int *err)
{
	*err = 0;
	if (t->count == max) {
		t->dropped++;
		return NULL;
	}
	if (tdm_reserve(&t->rows, &t->cap, t->count + 1, size) != 0) {
		*err = -ENOMEM;
		return NULL;
	}
	char *row = (char *)t->rows + t->count++ * size;
	memset(row, 0, size);
	return row;
}

/* The row of a key, created with *is_new set if there is none. */
static void *row_of(
	struct tdm_log_profile *p, struct tdm_log_table *t, uint64_t key, size_t size, bool *is_new, int *err)
{
	uint32_t index = tdm_map_find(&p->keys, key);
	*is_new = index == TDM_MAP_NONE;
	*err = 0;
	if (!*is_new && index >= t->count) { /* a name crafted to collide with a key of another table */
		t->dropped++;
		return NULL;
	}
	if (!*is_new)
		return (char *)t->rows + index * size;
	void *row = row_new(t, size, ROWS_MAX, err);
	if (row != NULL && tdm_map_put(&p->keys, key, (uint32_t)t->count - 1) != 0) {
		t->count--;
		*err = -ENOMEM;
		return NULL;
	}
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

/* Sums that cannot wrap. */
static void grow(uint64_t *sum, uint64_t by)
{
	*sum = by > UINT64_MAX - 1 - *sum ? UINT64_MAX - 1 : *sum + by;
}

/* Follows the number of tiles in the circular buffer of a core. */
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
	bool room = fill != TDM_MAP_NONE || p->fills.count < FOLLOWED_MAX;
	if (!room || tdm_map_put(&p->fills, key, (uint32_t)now) != 0)
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

static struct tdm_log_cb *cb_of(struct tdm_log_profile *p, const struct tdm_log_record *r, int *err)
{
	bool is_new;
	struct tdm_log_cb *cb = row_of(p, &p->cbs, key_of(KEY_CB, r, r->cb, 0), sizeof *cb, &is_new, err);
	if (cb != NULL && is_new) {
		cb->file = r->file;
		cb->cb = r->cb;
		cb->tiles = cb->bytes = cb->cores = TDM_LOG_UNKNOWN;
	}
	return cb;
}

int tdm_log_profile_give(struct tdm_log_profile *p, uint32_t file, uint32_t index, uint64_t tiles)
{
	int err = 0;
	struct tdm_log_record of = { .file = file, .cb = index };
	struct tdm_log_cb *cb = p->files[file].by_dialect[TDM_LOG_BY_WORKLOAD] != 0 ? cb_of(p, &of, &err) : NULL;
	if (cb != NULL && cb->tiles == TDM_LOG_UNKNOWN) {
		cb->tiles = tiles;
		cb->is_given = true;
	}
	return err;
}

static int add_cb(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	int err;
	struct tdm_log_cb *cb = cb_of(p, r, &err);
	if (cb == NULL)
		return err;
	if (r->type != TDM_LOG_CB_ALLOC) {
		add_cb_event(p, r, cb);
		return 0;
	}
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
	return 0;
}

static struct tdm_log_work *work_of(
	struct tdm_log_profile *p, struct tdm_log_table *t, int table, const struct tdm_log_record *r, int *err)
{
	bool is_new;
	struct tdm_log_work *work =
		row_of(p, t, key_of(table, r, tdm_str_hash(r->name), 0), sizeof *work, &is_new, err);
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

static int add_kernel(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	int err;
	struct tdm_log_work *k = work_of(p, &p->kernels, KEY_KERNEL, r, &err);
	if (k == NULL)
		return err;
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
	return 0;
}

static int add_op(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	int err;
	struct tdm_log_work *op = work_of(p, &p->ops, KEY_OP, r, &err);
	if (op == NULL)
		return err;
	op->starts += r->type == TDM_LOG_OP_BEGIN;
	if (r->type == TDM_LOG_OP_END)
		add_time(op, r->duration_ns);
	return 0;
}

static int add_program(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	int err;
	struct tdm_log_work *program = work_of(p, &p->programs, KEY_PROGRAM, r, &err);
	if (program != NULL)
		program->starts++;
	return err;
}

static uint64_t process_key(const struct tdm_log_record *r)
{
	return key_of(KEY_AMOUNT, r, (uint32_t)r->pid, r->dialect);
}

/* Puts a new row before the others of its process. */
static int link_amount(struct tdm_log_profile *p, const struct tdm_log_record *r, struct tdm_log_amount *a)
{
	uint64_t key = process_key(r);
	a->next = tdm_map_find(&p->processes, key);
	return tdm_map_put(&p->processes, key, (uint32_t)(a - (struct tdm_log_amount *)p->amounts.rows));
}

static struct tdm_log_amount *amount_of(struct tdm_log_profile *p, const struct tdm_log_record *r, int *err)
{
	bool is_new;
	uint64_t key = key_of(
		KEY_AMOUNT, r, (uint64_t)(uint32_t)r->pid << 32 | r->device, (uint64_t)r->dialect << 8 | r->kind);
	struct tdm_log_amount *a = row_of(p, &p->amounts, key, sizeof *a, &is_new, err);
	if (a != NULL && is_new) {
		a->file = r->file;
		a->device = r->device;
		a->dialect = r->dialect;
		a->kind = r->kind;
		a->pid = r->pid;
		*err = link_amount(p, r, a);
	}
	return *err == 0 ? a : NULL;
}

static uint64_t *live_of(struct tdm_log_profile *p, uint8_t kind)
{
	return kind == TDM_KIND_DRAM ? &p->live_dram : kind == TDM_KIND_L1 ? &p->live_l1 : NULL;
}

static uint64_t buffer_key(const struct tdm_log_record *r)
{
	return mix(key_of(KEY_AMOUNT, r, r->id, r->device), UINT64_MAX);
}

static int add_alloc(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	int err;
	struct tdm_log_amount *a = amount_of(p, r, &err);
	if (a == NULL)
		return err;
	a->allocs++;
	if (r->dialect == TDM_LOG_BY_SERVER && r->id != TDM_LOG_UNKNOWN) {
		if (r->count != 1)
			return 0; /* one more reference */
		uint32_t row = (uint32_t)(a - (struct tdm_log_amount *)p->amounts.rows);
		if (p->live.count >= FOLLOWED_MAX || tdm_map_put(&p->live, buffer_key(r), row) != 0)
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
	return 0;
}

static int add_unknown_free(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	int err;
	struct tdm_log_amount *a = amount_of(p, r, &err);
	if (a == NULL)
		return err;
	a->frees++;
	a->unmatched++;
	return 0;
}

static int add_free(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	int err = 0;
	struct tdm_log_amount *a;
	if (r->dialect == TDM_LOG_BY_SERVER && r->id != TDM_LOG_UNKNOWN) {
		uint32_t row =
			r->count == 0 ? tdm_map_take(&p->live, buffer_key(r)) : tdm_map_find(&p->live, buffer_key(r));
		if (row == TDM_MAP_NONE && p->untracked == 0)
			return add_unknown_free(p, r);
		if (row == TDM_MAP_NONE) { /* there may have been no room to follow it */
			p->untracked++;
			return 0;
		}
		a = (struct tdm_log_amount *)p->amounts.rows + row;
		a->frees++;
		if (r->count != 0)
			return 0; /* references are left */
	} else {
		a = amount_of(p, r, &err);
		if (a == NULL)
			return err;
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
	return 0;
}

/* The server released everything that the process held. */
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

/* The ranks of a run print alternately, so each has its own moment. */
static struct tdm_log_moment *moment_of(struct tdm_log_profile *p, const struct tdm_log_record *r, int *err)
{
	bool is_new;
	return row_of(p, &p->moments, key_of(KEY_MOMENT, r, (uint64_t)(uint32_t)r->rank, 0),
		sizeof(struct tdm_log_moment), &is_new, err);
}

static int set_moment(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	int err;
	struct tdm_log_moment *moment = moment_of(p, r, &err);
	if (moment != NULL)
		copy_text(moment->name, sizeof moment->name, r->name);
	return err;
}

static int add_state(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	bool is_new;
	int err;
	const struct tdm_log_moment *moment = moment_of(p, r, &err);
	if (err != 0)
		return err;
	uint64_t key = key_of(KEY_STATE, r, r->kind, (uint64_t)(uint32_t)r->rank);
	struct tdm_log_state *s = row_of(p, &p->states, key, sizeof *s, &is_new, &err);
	if (s == NULL)
		return err;
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
		copy_text(s->peak_op, sizeof s->peak_op, tdm_str_of(moment != NULL ? moment->name : ""));
	}
	return 0;
}

static int add_remaining(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	bool is_new;
	int err;
	struct tdm_log_remaining *row =
		row_of(p, &p->remaining, key_of(KEY_REMAINING, r, r->device, r->kind), sizeof *row, &is_new, &err);
	if (row != NULL)
		*row = (struct tdm_log_remaining){ r->file, r->device, r->kind, r->count, r->bytes };
	return err;
}

static int add_stack(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	bool is_new;
	int err;
	struct tdm_log_stack *s = row_of(
		p, &p->stacks, key_of(KEY_STACK, r, tdm_str_hash(r->stack.processor), 0), sizeof *s, &is_new, &err);
	if (s == NULL || (!is_new && r->stack.free >= s->free))
		return err;
	*s = (struct tdm_log_stack){
		.file = r->file, .used = r->stack.used, .size = r->stack.size, .free = r->stack.free, .line = r->line
	};
	copy_text(s->processor, sizeof s->processor, r->stack.processor);
	copy_text(s->kernel, sizeof s->kernel, r->name);
	return 0;
}

/* Counts one more line about a failure: the newest one with the same figures. */
static void add_place(struct tdm_log_profile *p, const struct tdm_log_failure *repeat)
{
	const struct tdm_log_failure *rows = p->failures.rows;
	size_t i = p->failures.count;
	while (i > 0 && !(rows[i - 1].file == repeat->file && rows[i - 1].rank == repeat->rank &&
				tdm_failure_is_same(&rows[i - 1].failure, &repeat->failure)))
		i--;
	if (i > 0)
		p->found.figures[p->found.list[i - 1].figures.first + p->found.list[i - 1].figures.count - 1].number++;
}

static int add_failure(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	int err;
	bool warning = tdm_failure_is_warning(&r->failure);
	struct tdm_log_failure failure = { r->failure, r->file, r->rank };
	failure.failure.name = failure.failure.text = (struct tdm_str){ NULL, 0 };
	if (r->is_repeat) {
		add_place(p, &failure);
		return 0;
	}
	p->by_type[r->failure.type]++;
	p->failure_count += !warning;
	p->warning_count += warning;
	p->files[r->file].failures += !warning;
	p->files[r->file].warnings += warning;
	struct tdm_log_failure *f = row_new(&p->failures, sizeof *f, FAILURES_MAX, &err);
	if (f == NULL)
		return err;
	*f = failure;
	tdm_failure_find(&r->failure, &p->found);
	tdm_findings_position(&p->found, "file", TDM_UNIT_COUNT, r->file);
	tdm_findings_position(&p->found, "line", TDM_UNIT_COUNT, r->line);
	tdm_findings_position(&p->found, "time_ns", TDM_UNIT_NS, r->time_ns != 0 ? r->time_ns : TDM_BYTES_UNKNOWN);
	tdm_findings_position(
		&p->found, "rank", TDM_UNIT_COUNT, r->rank != TDM_LOG_NO_RANK ? (uint64_t)r->rank : TDM_BYTES_UNKNOWN);
	tdm_findings_position(&p->found, "places", TDM_UNIT_COUNT, 1); /* the last figure: add_place counts there */
	return p->found.failed ? -ENOMEM : 0;
}

static void add_geometry(struct tdm_log_file *file, const struct tdm_log_geometry *g)
{
	const uint64_t *from = (const uint64_t *)g; /* all its fields are uint64_t */
	uint64_t *into = (uint64_t *)&file->geometry;
	file->has_geometry = true;
	for (size_t i = 0; i < sizeof *g / sizeof *from; i++)
		set_known(&into[i], from[i]);
}

static int add_by_type(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	struct tdm_log_file *file = &p->files[r->file];
	switch (r->type) {
	case TDM_LOG_FAILURE:
		return add_failure(p, r);
	case TDM_LOG_ALLOC:
		file->amount_lines++;
		return add_alloc(p, r);
	case TDM_LOG_FREE:
		return add_free(p, r);
	case TDM_LOG_UNKNOWN_FREE:
		return add_unknown_free(p, r);
	case TDM_LOG_PROCESS_GONE:
		add_gone(p, r);
		return 0;
	case TDM_LOG_REMAINING:
		return add_remaining(p, r);
	case TDM_LOG_GEOMETRY:
		add_geometry(file, &r->geometry);
		return 0;
	case TDM_LOG_MEMORY_STATE:
		return add_state(p, r);
	case TDM_LOG_MOMENT:
		return set_moment(p, r);
	case TDM_LOG_OP_BEGIN:
		if (r->dialect == TDM_LOG_BY_COMPILER) {
			int err = set_moment(p, r);
			if (err != 0)
				return err;
		}
		return add_op(p, r);
	case TDM_LOG_OP_END:
		return add_op(p, r);
	case TDM_LOG_KERNEL_START:
	case TDM_LOG_KERNEL_END:
	case TDM_LOG_KERNEL_SIZE:
		return add_kernel(p, r);
	case TDM_LOG_PROGRAM_SIZE:
		return add_program(p, r);
	case TDM_LOG_TILES:
		if (file->a_tiles == TDM_LOG_UNKNOWN) /* a kernel's own number is the next best */
			file->a_tiles = r->tiles;
		set_known(&file->a_tiles, r->a_tiles);
		set_known(&file->b_tiles, r->b_tiles);
		set_known(&file->shard_tiles, r->shard_tiles);
		set_known(&file->devices, r->devices);
		set_known(&file->cores, r->cores);
		return 0;
	case TDM_LOG_STACK:
		return add_stack(p, r);
	case TDM_LOG_VERIFICATION:
		set_known(&file->passed, r->tiles);
		set_known(&file->verified, r->count);
		return 0;
	default:
		return add_cb(p, r);
	}
}

int tdm_log_profile_add(struct tdm_log_profile *p, const struct tdm_log_record *r)
{
	struct tdm_log_file *file = &p->files[r->file];
	file->records++;
	file->by_dialect[r->dialect]++;
	if (r->time_ns != 0) {
		file->first_ns = file->first_ns == 0 || r->time_ns < file->first_ns ? r->time_ns : file->first_ns;
		file->last_ns = r->time_ns > file->last_ns ? r->time_ns : file->last_ns;
	}
	int err = add_by_type(p, r);
	tdm_log_timeline_add(&p->timeline, r, p->live_dram, p->live_l1);
	return err;
}
