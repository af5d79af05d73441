/*
 * Two independent analysers with their results: the history of mesh buffers, and the programs. The history updates sums
 * and peaks per kind with every event, and keeps the live buffers in a list with reused slots until the end, when it
 * sorts them. Programs are collected by id; because many programs contain the same kernel, kernel names are sorted and
 * counted at the end.
 */
#include "analyze/report/inspector_memory.h"
#include "analyze/report/report_analyser.h"
#include "base/memory.h"
#include "input/elf/elf_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 4096 };

/* ---- mesh buffers ---- */

void tdm_buffer_history_done(void *history)
{
	struct tdm_buffer_history *h = history;
	tdm_live_set_done(&h->set);
	free(h->live);
	*h = (struct tdm_buffer_history){ 0 };
}

/* Removes a live buffer. */
static void take_out(struct tdm_buffer_history *h, uint64_t id)
{
	struct tdm_mesh_buffer *gone = &h->live[tdm_live_set_take(&h->set, id)];
	tdm_live_sum_take(&h->kinds[gone->event.kind].live, gone->event.size);
	tdm_live_sum_take(&h->mesh, gone->mesh_bytes);
	gone->event.op = TDM_OP_FREE;
}

static void add(struct tdm_buffer_history *h, const struct tdm_mesh_buffer *buffer)
{
	const struct tdm_event *event = &buffer->event;
	struct tdm_history_kind *kind = &h->kinds[event->kind];
	if (tdm_live_set_find(&h->set, event->id) != TDM_MAP_NONE) {
		h->rereports++;
		take_out(h, event->id);
	}
	if (event->size > UINT64_MAX - kind->live.bytes || buffer->mesh_bytes > UINT64_MAX - h->mesh.bytes) {
		h->overflows++;
		return;
	}
	uint32_t slot = tdm_live_set_add(&h->set, event->id);
	tdm_grow(&h->live, &h->live_cap, h->set.used, sizeof *h->live);
	h->live[slot] = *buffer;
	kind->allocs++;
	tdm_live_sum_add(&kind->live, event->size, event->time_ns);
	tdm_live_sum_add(&h->mesh, buffer->mesh_bytes, event->time_ns);
}

static void apply(struct tdm_buffer_history *h, const struct tdm_mesh_buffer *buffer)
{
	const struct tdm_event *event = &buffer->event;
	if (event->op != TDM_OP_ALLOC && event->op != TDM_OP_FREE)
		return;
	h->first_ns = h->has_time ? tdm_min(h->first_ns, event->time_ns) : event->time_ns;
	h->has_time = true;
	h->last_ns = tdm_max(h->last_ns, event->time_ns);
	if (event->op == TDM_OP_ALLOC) {
		add(h, buffer);
		return;
	}
	uint32_t slot = tdm_live_set_find(&h->set, event->id);
	if (slot == TDM_MAP_NONE) {
		h->unknown_frees++;
		return;
	}
	h->kinds[h->live[slot].event.kind].frees++;
	take_out(h, event->id);
}

int tdm_buffer_history_take(void *history, const struct tdm_record *record)
{
	struct tdm_buffer_history *h = history;
	h->refused += record->type == TDM_RECORD_REFUSED;
	if (record->type == TDM_RECORD_MESH_BUFFER)
		apply(h, record->mesh);
	return 0;
}

static int compare_buffers(const void *left, const void *right)
{
	const struct tdm_event *a = &((const struct tdm_mesh_buffer *)left)->event,
			       *b = &((const struct tdm_mesh_buffer *)right)->event;
	int order = tdm_order(b->size, a->size);
	order = order != 0 ? order : tdm_order(a->position, b->position);
	return order != 0 ? order : tdm_order(a->id, b->id);
}

void tdm_buffer_history_end(void *history)
{
	struct tdm_buffer_history *h = history;
	for (uint32_t i = 0; i < h->set.used; i++)
		if (h->live[i].event.op == TDM_OP_ALLOC)
			h->live[h->live_count++] = h->live[i];
	if (h->live_count != 0)
		qsort(h->live, h->live_count, sizeof *h->live, compare_buffers);
}

static char *format_seconds(char *dst, size_t cap, uint64_t ns)
{
	snprintf(dst, cap, "%.3f", (double)ns / 1e9);
	return dst;
}

static struct tdm_value get_peak_time(const struct tdm_field *field)
{
	const struct tdm_buffer_history *h = field->table->context;
	return tdm_value_number(((const struct tdm_history_kind *)field->row)->live.peak_at - h->first_ns);
}

static struct tdm_value get_age(const struct tdm_field *field)
{
	const struct tdm_buffer_history *h = field->table->context;
	return tdm_value_number(h->last_ns - ((const struct tdm_mesh_buffer *)field->row)->event.time_ns);
}

static bool is_unused(const struct tdm_table *table, const void *row)
{
	(void)table;
	return ((const struct tdm_history_kind *)row)->allocs == 0;
}

#define KIND(member) TDM_MEMBER(struct tdm_history_kind, member)
static const struct tdm_column kinds[] = {
	{ "One device", "kind", TDM_INDEX, .flags = TDM_IS_KIND },
	{ "at end", "bytes", KIND(live.bytes), TDM_BYTES },
	{ "buffers", "buffers", KIND(live.buffers) },
	{ "peak", "peak_bytes", KIND(live.peak_bytes), TDM_BYTES },
	{ "buffers", "peak_buffers", KIND(live.peak_buffers) },
	{ "at s", NULL, .get = get_peak_time, .format = format_seconds },
	{ NULL, "peak_ns", KIND(live.peak_at) },
	{ "allocated", "allocs", KIND(allocs) },
	{ "released", "frees", KIND(frees) },
};

#define BUFFER(member) TDM_MEMBER(struct tdm_mesh_buffer, member)
static const struct tdm_column live[] = {
	{ NULL, "id", BUFFER(event.id) },
	{ "Alive", "kind", BUFFER(event.kind), .flags = TDM_IS_KIND },
	{ "one device", "device_bytes", BUFFER(event.size), TDM_BYTES },
	{ "whole mesh", "mesh_bytes", BUFFER(mesh_bytes), TDM_BYTES, .unknown = "unknown" },
	{ "address", "address", BUFFER(event.address) },
	{ "age s", NULL, .get = get_age, .format = format_seconds },
	{ NULL, "born_ns", BUFFER(event.time_ns) },
	{ "line", "line", BUFFER(event.position) },
};

static bool show_history(void *history, const struct tdm_intake *reading, size_t limit, struct tdm_block *in)
{
	const struct tdm_buffer_history *h = history;
	struct tdm_table by_kind = TDM_FITTED(kinds, h->kinds, TDM_KIND_COUNT),
			 alive = TDM_FITTED(live, h->live, h->live_count);
	char seconds[32];
	by_kind.skip = is_unused;
	by_kind.context = alive.context = h;
	alive.limit = limit;
	tdm_line(in, "Mesh buffers", "{_file}: {_live} alive at the end, {_seconds} s",
		TDM_VALUES({ "_file", tdm_value_text(tdm_input_name(reading->input)) },
			{ "_live", tdm_value_count(h->live_count) },
			{ "_seconds", tdm_value_text(tdm_result_printed(in->result, "%s",
					      format_seconds(seconds, sizeof seconds, h->last_ns - h->first_ns))) }));
	tdm_report_head(in, reading, "inspector", h->refused);
	tdm_data_all(in,
		TDM_VALUES({ "unknown_frees", tdm_value_count(h->unknown_frees) },
			{ "rereports", tdm_value_count(h->rereports) }, { "overflows", tdm_value_count(h->overflows) },
			{ "first_ns", tdm_value_number(h->first_ns) }, { "last_ns", tdm_value_number(h->last_ns) }));
	tdm_line(in, "Whole mesh", "{mesh_bytes} at the end, at most {mesh_peak_bytes}",
		TDM_VALUES({ "mesh_bytes", tdm_value_bytes(h->mesh.bytes) },
			{ "mesh_peak_bytes", tdm_value_bytes(h->mesh.peak_bytes) }));
	/* Reports nonsensical events. */
	struct tdm_findings found = { 0 };
	if (h->unknown_frees != 0 || h->rereports != 0 || h->overflows != 0) {
		tdm_findings_add(&found, TDM_FAMILY_CAPTURE, "faults", TDM_FINDING_WARNING)->pattern =
			"{unknown_frees/release/releases} of buffers that were not alive, {rereports/second "
			"allocation/second allocations} of live ones|, {overflows/buffer/buffers/} of impossible size";
		tdm_findings_figure(&found, "unknown_frees", TDM_UNIT_COUNT, h->unknown_frees);
		tdm_findings_figure(&found, "rereports", TDM_UNIT_COUNT, h->rereports);
		tdm_findings_figure(&found, "overflows", TDM_UNIT_COUNT, h->overflows);
	}
	tdm_add_findings(in, "findings", NULL, &found);
	tdm_add_table(in, "kinds", NULL, by_kind);
	tdm_add_table(in, "live", NULL, alive);
	return true;
}

const struct tdm_report_analyser tdm_mesh_report = { "mesh_buffers", NULL, sizeof(struct tdm_buffer_history), NULL,
	tdm_buffer_history_take, tdm_buffer_history_end, show_history, tdm_buffer_history_done };

/* ---- programs ---- */

void tdm_kernel_programs_done(void *programs)
{
	struct tdm_kernel_programs *p = programs;
	free(p->programs);
	free(p->kernels);
	free(p->names);
	tdm_arena_done(&p->texts);
	tdm_map_done(&p->by_id);
	*p = (struct tdm_kernel_programs){ 0 };
}

/* The program with this id, added if new. If an id recurs after its program was destroyed, it is a new program. */
static struct tdm_kernel_program *program_of(struct tdm_kernel_programs *p, uint64_t id)
{
	uint32_t index = tdm_map_find(&p->by_id, id);
	if (index != TDM_MAP_NONE)
		return &p->programs[index];
	size_t count = p->program_count;
	tdm_grow(&p->programs, &p->program_cap, count + 1, sizeof *p->programs);
	tdm_map_set(&p->by_id, id, (uint32_t)count);
	p->programs[count] = (struct tdm_kernel_program){ .id = id, .order = count, .compile_ns = TDM_BYTES_UNKNOWN };
	return &p->programs[p->program_count++];
}

static struct tdm_str keep(struct tdm_kernel_programs *p, struct tdm_str text)
{
	return tdm_arena_str(&p->texts, (struct tdm_str){ text.ptr, tdm_min(text.len, TEXT_MAX) });
}

int tdm_kernel_programs_take(void *programs, const struct tdm_record *record)
{
	struct tdm_kernel_programs *p = programs;
	p->refused += record->type == TDM_RECORD_REFUSED;
	if (record->type == TDM_RECORD_KERNEL) {
		struct tdm_kernel_program *program = program_of(p, record->kernel->program);
		struct tdm_listed_kernel kernel = *record->kernel;
		kernel.name = keep(p, record->kernel->name);
		kernel.path = keep(p, record->kernel->path);
		kernel.source = keep(p, record->kernel->source);
		kernel.code_bytes = p->code_of != NULL ? p->code_of(kernel.path.ptr) : TDM_BYTES_UNKNOWN;
		bool is_known = kernel.code_bytes != TDM_BYTES_UNKNOWN;
		program->kernels++;
		*(is_known ? &program->known : &program->unknown) += 1;
		program->code_bytes += is_known ? kernel.code_bytes : 0;
		tdm_grow(&p->kernels, &p->kernel_cap, p->kernel_count + 1, sizeof *p->kernels);
		p->kernels[p->kernel_count++] = kernel;
	} else if (record->type == TDM_RECORD_PROGRAM) {
		struct tdm_kernel_program *program = program_of(p, record->program->program);
		if (record->program->compile_ns != TDM_BYTES_UNKNOWN)
			program->compile_ns = record->program->compile_ns;
		if (record->program->destroyed) {
			program->destroyed = true;
			tdm_map_take(&p->by_id, program->id);
		}
	}
	return 0;
}

static int compare_programs(const void *left, const void *right)
{
	const struct tdm_kernel_program *a = left, *b = right;
	return a->code_bytes != b->code_bytes ? tdm_order(b->code_bytes, a->code_bytes) : tdm_order(a->order, b->order);
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(((const struct tdm_kernel_name *)left)->name, ((const struct tdm_kernel_name *)right)->name);
}

static int compare_names(const void *left, const void *right)
{
	const struct tdm_kernel_name *a = left, *b = right;
	return a->kernels != b->kernels ? tdm_order(b->kernels, a->kernels) : strcmp(a->name, b->name);
}

static void count_names(struct tdm_kernel_programs *p)
{
	for (size_t i = 0; i < p->kernel_count; i++)
		p->names[i] = (struct tdm_kernel_name){ p->kernels[i].name.ptr, 1, p->kernels[i].code_bytes };
	qsort(p->names, p->kernel_count, sizeof *p->names, compare_texts);
	for (size_t i = 0; i < p->kernel_count; i++) {
		struct tdm_kernel_name *last = p->name_count != 0 ? &p->names[p->name_count - 1] : NULL;
		uint64_t code = p->names[i].code_bytes;
		if (last == NULL || strcmp(last->name, p->names[i].name) != 0) {
			p->names[p->name_count++] = p->names[i];
			continue;
		}
		last->kernels++;
		if (code != TDM_BYTES_UNKNOWN && (last->code_bytes == TDM_BYTES_UNKNOWN || code > last->code_bytes))
			last->code_bytes = code;
	}
	qsort(p->names, p->name_count, sizeof *p->names, compare_names);
}

void tdm_kernel_programs_end(void *programs)
{
	struct tdm_kernel_programs *p = programs;
	p->ring_bytes = tdm_report_ring_bytes();
	for (size_t i = 0; i < p->program_count; i++)
		p->programs[i].ring_share = tdm_share(p->programs[i].code_bytes, p->ring_bytes);
	p->names = tdm_zalloc(p->kernel_count, sizeof *p->names);
	count_names(p);
	if (p->program_count != 0)
		qsort(p->programs, p->program_count, sizeof *p->programs, compare_programs);
}

/* Shows the known part of the code size; JSON contains the size only if all of it is known. */
static struct tdm_value get_code(const struct tdm_field *field)
{
	const struct tdm_kernel_program *p = field->row;
	return tdm_value_if(p->unknown == 0, tdm_value_number(p->code_bytes));
}

static struct tdm_value get_notes(const struct tdm_field *field)
{
	const struct tdm_kernel_program *p = field->row;
	bool is_partial = p->known != 0 && p->unknown != 0;
	return tdm_field_printed(field, is_partial ? "%swithout %" PRIu64 " kernel%s not found" : "%s",
		p->destroyed ? "destroyed  " : "", p->unknown, p->unknown == 1 ? "" : "s");
}

#define PROGRAM(member) TDM_MEMBER(struct tdm_kernel_program, member)
#define CODE_KNOWN      TDM_KNOWN_IF(struct tdm_kernel_program, known)
static const struct tdm_column program_columns[] = {
	{ "Program", "id", PROGRAM(id), .flags = TDM_OTHER_SIDE },
	{ "kernels", "kernels", PROGRAM(kernels) },
	{ "code", NULL, PROGRAM(code_bytes), CODE_KNOWN, TDM_BYTES, .unknown = "unknown" },
	{ NULL, "code_bytes", .get = get_code },
	{ "of ring", NULL, PROGRAM(ring_share), CODE_KNOWN, .decimals = 1 },
	{ NULL, "kernels_not_found", PROGRAM(unknown) },
	{ "compile s", "compile_ns", PROGRAM(compile_ns), .format = format_seconds },
	{ NULL, "destroyed", PROGRAM(destroyed) },
	{ "", NULL, .get = get_notes },
};

#define NAME(member) TDM_MEMBER(struct tdm_kernel_name, member)
static const struct tdm_column name_columns[] = {
	{ "Kernel", NULL, NAME(name), .width = 40 },
	{ "often", NULL, NAME(kernels) },
	{ "largest", NULL, NAME(code_bytes), TDM_BYTES, .unknown = "unknown" },
};

#define LISTED(member) TDM_MEMBER(struct tdm_listed_kernel, member)
static const struct tdm_column kernel_columns[] = {
	{ NULL, "name", LISTED(name) },
	{ NULL, "program", LISTED(program) },
	{ NULL, "watcher_id", LISTED(watcher_id) },
	{ NULL, "path", LISTED(path), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "kernel_source", LISTED(source), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "code_bytes", LISTED(code_bytes) },
};

/* The paths point into the cache of the machine that compiled the kernels, so they are valid only on that machine. */
static void init_programs(void *programs, struct tdm_intake *reading)
{
	(void)reading;
	((struct tdm_kernel_programs *)programs)->code_of = tdm_kernel_cache_bytes_of;
}

static bool show_programs(void *programs, const struct tdm_intake *reading, size_t limit, struct tdm_block *in)
{
	const struct tdm_kernel_programs *p = programs;
	struct tdm_table all = TDM_FITTED(program_columns, p->programs, p->program_count),
			 by_name = TDM_FITTED(name_columns, p->names, p->name_count);
	all.limit = by_name.limit = limit;
	all.is_whole_in_data = true;
	tdm_line(in, "Programs", "{_file}: {_programs/program/programs}, {_kernels/kernel/kernels}",
		TDM_VALUES({ "_file", tdm_value_text(tdm_input_name(reading->input)) },
			{ "_programs", tdm_value_count(p->program_count) },
			{ "_kernels", tdm_value_count(p->kernel_count) }));
	tdm_report_head(in, reading, "inspector", p->refused);
	tdm_report_ring(in, p->ring_bytes);
	tdm_add_table(in, "programs", NULL, all);
	tdm_add_table(in, NULL, NULL, by_name);
	tdm_add_table(in, "kernels", NULL, TDM_TABLE_OF(kernel_columns, p->kernels, p->kernel_count))->is_data_only =
		true;
	return true;
}

const struct tdm_report_analyser tdm_program_report = { "programs", NULL, sizeof(struct tdm_kernel_programs),
	init_programs, tdm_kernel_programs_take, tdm_kernel_programs_end, show_programs, tdm_kernel_programs_done };
