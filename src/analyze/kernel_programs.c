#include "analyze/kernel_programs.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>

enum { RECORDS_MAX = 1 << 24, TEXT_MAX = 4096 };

int tdm_kernel_programs_init(struct tdm_kernel_programs *p)
{
	*p = (struct tdm_kernel_programs){ .code_of = NULL };
	tdm_buf_init(&p->texts);
	return tdm_map_init(&p->by_id);
}

void tdm_kernel_programs_done(struct tdm_kernel_programs *p)
{
	free(p->programs);
	free(p->kernels);
	free(p->names);
	tdm_buf_done(&p->texts);
	tdm_map_done(&p->by_id);
	*p = (struct tdm_kernel_programs){ .code_of = NULL };
}

/* A program by its id, created if new; an id that appears again after its program was destroyed is a new program. */
static struct tdm_kernel_program *program_of(struct tdm_kernel_programs *p, uint64_t id)
{
	uint32_t index = tdm_map_find(&p->by_id, id);
	if (index != TDM_MAP_NONE)
		return &p->programs[index];
	size_t count = p->program_count;
	if (count == RECORDS_MAX || tdm_reserve(&p->programs, &p->program_cap, count + 1, sizeof *p->programs) != 0 ||
		tdm_map_put(&p->by_id, id, (uint32_t)count) != 0)
		return NULL;
	p->programs[count] = (struct tdm_kernel_program){ .id = id, .order = count, .compile_ns = TDM_BYTES_UNKNOWN };
	return &p->programs[p->program_count++];
}

/* Appends a text of a kernel to one buffer; pointers are set at the end, when the buffer no longer moves. */
static size_t keep(struct tdm_kernel_programs *p, struct tdm_str text)
{
	size_t at = p->texts.len;
	tdm_buf_add(&p->texts, text.ptr, text.len < TEXT_MAX ? text.len : TEXT_MAX);
	tdm_buf_putc(&p->texts, '\0');
	return at;
}

static int take_kernel(struct tdm_kernel_programs *p, const struct tdm_listed_kernel *k)
{
	struct tdm_kernel_program *program = program_of(p, k->program);
	if (program == NULL || p->kernel_count == RECORDS_MAX ||
		tdm_reserve(&p->kernels, &p->kernel_cap, p->kernel_count + 1, sizeof *p->kernels) != 0)
		return -ENOMEM;
	keep(p, k->name);
	size_t path = keep(p, k->path);
	keep(p, k->source);
	if (tdm_buf_failed(&p->texts))
		return -ENOMEM;
	uint64_t code = p->code_of != NULL ? p->code_of(p->texts.data + path) : TDM_BYTES_UNKNOWN;
	program->kernels++;
	*(code != TDM_BYTES_UNKNOWN ? &program->known : &program->unknown) += 1;
	program->code_bytes += code != TDM_BYTES_UNKNOWN ? code : 0;
	p->kernels[p->kernel_count++] = (struct tdm_program_kernel){ k->program, k->watcher_id, code, "", "", "" };
	return 0;
}

static int take_program(struct tdm_kernel_programs *p, const struct tdm_listed_program *said)
{
	struct tdm_kernel_program *program = program_of(p, said->id);
	if (program == NULL)
		return -ENOMEM;
	if (said->compile_ns != TDM_BYTES_UNKNOWN)
		program->compile_ns = said->compile_ns;
	if (said->destroyed) {
		program->destroyed = true;
		tdm_map_take(&p->by_id, said->id);
	}
	return 0;
}

int tdm_kernel_programs_take(void *programs, const struct tdm_record *record)
{
	struct tdm_kernel_programs *p = programs;
	p->refused += record->type == TDM_RECORD_REFUSED;
	return record->type == TDM_RECORD_KERNEL    ? take_kernel(p, record->kernel)
	       : record->type == TDM_RECORD_PROGRAM ? take_program(p, record->program)
						    : 0;
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
		p->names[i] = (struct tdm_kernel_name){ p->kernels[i].name, 1, p->kernels[i].code_bytes };
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

int tdm_kernel_programs_end(struct tdm_kernel_programs *p, uint64_t ring_bytes)
{
	p->ring_bytes = ring_bytes;
	for (size_t i = 0; i < p->program_count; i++)
		p->programs[i].ring_share = tdm_share(p->programs[i].code_bytes, ring_bytes);
	const char *text = p->texts.data;
	for (size_t i = 0; i < p->kernel_count; i++) {
		const char **const texts[] = { &p->kernels[i].name, &p->kernels[i].path, &p->kernels[i].source };
		for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
			*texts[k] = text;
			text += strlen(text) + 1;
		}
	}
	p->names = calloc(p->kernel_count + 1, sizeof *p->names);
	if (p->names == NULL)
		return -ENOMEM;
	count_names(p);
	if (p->program_count != 0)
		qsort(p->programs, p->program_count, sizeof *p->programs, compare_programs);
	return 0;
}
