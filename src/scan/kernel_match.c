/*
 * Host and kernels compared, program by program. A mismatch is reported only when it is certain; for each kind of
 * mismatch that means:
 *
 *   - nobody pushes: the wait happens, and every kernel of the program is understood in full;
 *   - not created: the operation happens, and all buffers of the program are known;
 *   - too many pages: the operation happens, and the pages of the buffer are known;
 *   - not bound: the operation is compiled, and all bindings of the kernel are known.
 */
#include "scan/kernel_code.h"

#include <errno.h>
#include <stdlib.h>

#include "base/reserve.h"

/* One program of one file. */
struct program {
	const struct tdm_scan *scan;
	const struct tdm_scan_file *file;
	uint32_t file_idx, number;
	uint16_t gaps; /* of all its kernels */
	bool knows_buffers;
	size_t first;  /* of its mismatches in the list */
	uint64_t work; /* buffers and uses that were compared */
	struct tdm_mismatches *mismatches;
	struct tdm_kernel_verdict *verdicts; /* of the file's kernels */
	struct tdm_kernel_verdict *verdict;  /* of the one that is judged */
	int err;
};

enum { MISMATCHES_MAX = 1000 /* of one program */ };
#define WORK_MAX UINT64_C(50000000)

static void count_unjudged(struct program *program, enum tdm_mismatch_kind kind, enum tdm_unjudged why)
{
	program->mismatches->unjudged[kind][why]++;
	program->verdict->unjudged++;
	program->verdict->reasons |= (uint16_t)(1u << why);
}

static void count_judged(struct program *program, enum tdm_mismatch_kind kind)
{
	program->mismatches->judged[kind]++;
	program->verdict->judged++;
}

static bool is_same_buffer(const struct tdm_kernel_use *a, const struct tdm_kernel_use *b)
{
	return a->index == b->index && strcmp(a->name, b->name) == 0;
}

/* Adds a mismatch, unless the program has one of the same kind about the same buffer. */
static void report(struct program *program, struct tdm_mismatch mismatch)
{
	struct tdm_mismatches *all = program->mismatches;
	for (size_t i = program->first; i < all->count; i++)
		if (all->list[i].kind == mismatch.kind && is_same_buffer(all->list[i].use, mismatch.use))
			return;
	if (program->err == 0 && all->count - program->first < MISMATCHES_MAX) {
		program->err = tdm_reserve(&all->list, &all->cap, all->count + 1, sizeof *all->list);
		if (program->err == 0)
			all->list[all->count++] = mismatch;
	}
}

static bool is_known(const struct tdm_kernel_use *use)
{
	return use->index >= 0 || use->name[0] != '\0';
}

/* Whether one of a descriptor's formats has an index: a circular buffer may have several. */
static bool has_format_index(const struct tdm_expr *formats, int32_t index)
{
	int64_t number;
	for (uint32_t i = 0; formats != NULL && i < formats->arg_count; i++) {
		const struct tdm_expr *format = formats->args[i], *place = tdm_expr_field(format, "buffer_index");
		if (place == NULL && format->op == TDM_EXPR_LIST && format->arg_count != 0)
			place = format->args[0];
		if (place != NULL && tdm_expr_value(place, NULL, &number) == 0 && number == index)
			return true;
	}
	return false;
}

static bool is_buffer_of(const struct tdm_scan_buffer *buffer, const struct tdm_kernel_use *use)
{
	if (use->index < 0)
		return buffer->kind != TDM_KIND_CB && strcmp(buffer->name, use->name) == 0;
	if (buffer->kind != TDM_KIND_CB)
		return false;
	if (buffer->index == use->index || buffer->also_index == use->index)
		return true;
	return buffer->object != NULL &&
	       (has_format_index(tdm_expr_field(buffer->object, "format_descriptors"), use->index) ||
		       has_format_index(tdm_expr_field(buffer->object, "remote_format_descriptors"), use->index) ||
		       has_format_index(tdm_expr_field(buffer->object, "formats"), use->index));
}

/* The first buffer of the program that a use is about, after `from`; NULL when there is no more. */
static const struct tdm_scan_buffer *next_buffer(
	struct program *program, const struct tdm_kernel_use *use, size_t *from)
{
	while (*from < program->file->buffer_count) {
		const struct tdm_scan_buffer *buffer = &program->file->buffers[(*from)++];
		program->work++;
		if (buffer->program == program->number && is_buffer_of(buffer, use))
			return buffer;
	}
	return NULL;
}

static const struct tdm_scan_buffer *first_buffer(struct program *program, const struct tdm_kernel_use *use)
{
	size_t from = 0;
	return next_buffer(program, use, &from);
}

static bool is_in_program(const struct program *program, const struct tdm_scan_kernel *kernel)
{
	return kernel->program == program->number && kernel->uses != NULL;
}

static bool is_pushed(struct program *program, const struct tdm_kernel_use *wait)
{
	for (size_t i = 0; i < program->file->kernel_count; i++) {
		const struct tdm_scan_kernel *kernel = &program->file->kernels[i];
		for (size_t k = 0; is_in_program(program, kernel) && k < kernel->uses->count; k++) {
			const struct tdm_kernel_use *use = &kernel->uses->list[k];
			program->work++;
			if (use->action == TDM_KERNEL_PUSH && is_same_buffer(use, wait))
				return true;
		}
	}
	return false;
}

/* Whether another core may fill it: a buffer in global memory. */
static bool is_remote(const struct tdm_scan_buffer *buffer)
{
	const struct tdm_expr *object = buffer->object;
	return object != NULL && (tdm_expr_field(object, "remote_index") != NULL ||
					 tdm_expr_field(object, "global_circular_buffer") != NULL ||
					 tdm_expr_field(object, "remote_format_descriptors") != NULL);
}

static enum tdm_unjudged first_gap(uint16_t gaps)
{
	enum tdm_unjudged why = TDM_UNJUDGED_NO_PATH;
	while ((gaps & 1u << why) == 0)
		why++;
	return why;
}

static void judge_pushes(struct program *program, uint32_t kernel, const struct tdm_kernel_use *use)
{
	const enum tdm_mismatch_kind kind = TDM_MISMATCH_NOBODY_PUSHES;
	const struct tdm_scan_buffer *buffer = first_buffer(program, use);
	if (is_pushed(program, use))
		count_judged(program, kind);
	else if (program->gaps != 0)
		count_unjudged(program, kind, first_gap(program->gaps));
	else if (use->is_conditional)
		count_unjudged(program, kind, TDM_UNJUDGED_CONDITIONAL);
	else if (buffer != NULL && is_remote(buffer))
		count_unjudged(program, kind, TDM_UNJUDGED_ELSEWHERE);
	else {
		count_judged(program, kind);
		report(program,
			(struct tdm_mismatch){ kind, program->file_idx, kernel, use, buffer, TDM_BYTES_UNKNOWN });
	}
}

/* Whether another function of the file creates such a buffer: it may be called by this one. */
static bool is_created_beside(struct program *program, const struct tdm_kernel_use *use)
{
	for (size_t i = 0; i < program->file->buffer_count; i++)
		if (is_buffer_of(&program->file->buffers[i], use))
			return true;
	program->work += program->file->buffer_count;
	return false;
}

/* A name that is bound to nothing does not compile, whatever condition it is under but one of the preprocessor. */
static void judge_binding(struct program *program, uint32_t kernel, const struct tdm_kernel_use *use)
{
	const enum tdm_mismatch_kind kind = TDM_MISMATCH_NOT_BOUND;
	if (strncmp(use->name, "dfb::", 5) == 0 && use->is_optional) {
		count_unjudged(program, kind, TDM_UNJUDGED_CONDITIONAL);
		return;
	}
	count_judged(program, kind);
	if (strncmp(use->name, "dfb::", 5) == 0)
		report(program, (struct tdm_mismatch){ kind, program->file_idx, kernel, use, NULL, TDM_BYTES_UNKNOWN });
}

static void judge_creation(struct program *program, uint32_t kernel, const struct tdm_kernel_use *use)
{
	const enum tdm_mismatch_kind kind = TDM_MISMATCH_NOT_CREATED;
	if (first_buffer(program, use) != NULL)
		count_judged(program, kind);
	else if (!program->knows_buffers || is_created_beside(program, use))
		count_unjudged(program, kind, TDM_UNJUDGED_HOST_BUFFERS);
	else if (use->is_conditional)
		count_unjudged(program, kind, TDM_UNJUDGED_CONDITIONAL);
	else {
		count_judged(program, kind);
		report(program, (struct tdm_mismatch){ kind, program->file_idx, kernel, use, NULL, TDM_BYTES_UNKNOWN });
	}
}

static bool is_same_expr(const struct tdm_expr *a, const struct tdm_expr *b)
{
	if (a == b)
		return true;
	if (a->op != b->op || a->number != b->number || a->format != b->format || a->arg_count != b->arg_count ||
		a->nodes != b->nodes || !tdm_str_eq(a->text, b->text) || a->op == TDM_EXPR_OPAQUE)
		return false;
	for (uint32_t i = 0; i < a->arg_count; i++)
		if (!is_same_expr(a->args[i], b->args[i]))
			return false;
	return true;
}

/* The upper bound of a product without one of its factors; INT64_MAX when the factor is not found or not bounded. */
static int64_t without_factor(const struct tdm_expr *product, const struct tdm_expr *factor)
{
	int64_t other, left;
	if (is_same_expr(product, factor))
		return 1;
	if (product->op != TDM_EXPR_MULTIPLY)
		return INT64_MAX;
	for (uint32_t i = 0; i < 2; i++) {
		left = without_factor(product->args[i], factor);
		other = tdm_expr_eval(product->args[1 - i], NULL).max;
		if (left != INT64_MAX && other != INT64_MAX && other >= 0 &&
			!__builtin_mul_overflow(left, other, &left))
			return left;
	}
	return INT64_MAX;
}

/* The most pages that a buffer can have; unknown when there is no bound. */
static uint64_t most_pages(const struct tdm_scan_buffer *buffer)
{
	const struct tdm_scan_size *page = &buffer->page, *total = &buffer->total;
	if (page->bytes != TDM_BYTES_UNKNOWN && page->bytes != 0 && total->bytes != TDM_BYTES_UNKNOWN)
		return total->bytes / page->bytes;
	if (page->expr == NULL || total->expr == NULL)
		return TDM_BYTES_UNKNOWN;
	int64_t pages = without_factor(total->expr, page->expr);
	return pages != INT64_MAX ? (uint64_t)pages : TDM_BYTES_UNKNOWN;
}

/* Whether a circular buffer of the program may have any index. */
static bool has_unknown_index(const struct program *program)
{
	for (size_t i = 0; i < program->file->buffer_count; i++) {
		const struct tdm_scan_buffer *buffer = &program->file->buffers[i];
		if (buffer->program == program->number && buffer->kind == TDM_KIND_CB && buffer->index < 0)
			return true;
	}
	return false;
}

static void judge_pages(struct program *program, uint32_t kernel, const struct tdm_kernel_use *use)
{
	const enum tdm_mismatch_kind kind = TDM_MISMATCH_TOO_MANY_PAGES;
	const struct tdm_scan_buffer *buffer, *largest = NULL;
	uint64_t most = 0;
	size_t from = 0;
	while ((buffer = next_buffer(program, use, &from)) != NULL) {
		uint64_t pages = most_pages(buffer);
		if (pages >= most) {
			most = pages;
			largest = buffer;
		}
	}
	if (largest == NULL)
		return; /* judge_creation() has counted it */
	if (most == TDM_BYTES_UNKNOWN || use->pages_min == INT64_MIN || use->pages_max == INT64_MAX)
		count_unjudged(program, kind, TDM_UNJUDGED_NO_PAGES);
	else if (use->pages_min <= 0 || (uint64_t)use->pages_min <= most)
		count_judged(program, kind);
	else if (use->index >= 0 && has_unknown_index(program))
		count_unjudged(program, kind, TDM_UNJUDGED_HOST_BUFFERS);
	else if (use->is_conditional)
		count_unjudged(program, kind, TDM_UNJUDGED_CONDITIONAL);
	else {
		count_judged(program, kind);
		report(program, (struct tdm_mismatch){ kind, program->file_idx, kernel, use, largest, most });
	}
}

static void judge_kernel(struct program *program, uint32_t number)
{
	const struct tdm_scan_kernel *kernel = &program->file->kernels[number];
	program->verdict = &program->verdicts[number];
	program->verdict->reasons |= kernel->uses->gaps;
	for (size_t i = 0; i < kernel->uses->count; i++) {
		const struct tdm_kernel_use *use = &kernel->uses->list[i];
		if (!is_known(use) || program->work > WORK_MAX) {
			enum tdm_unjudged why = is_known(use) ? TDM_UNJUDGED_TOO_MUCH : TDM_UNJUDGED_NO_BUFFER;
			for (int kind = 0; kind < TDM_MISMATCH_KINDS; kind++)
				count_unjudged(program, (enum tdm_mismatch_kind)kind, why);
			continue;
		}
		if (use->index < 0)
			judge_binding(program, number, use);
		if (strncmp(use->name, "dfb::", 5) == 0)
			continue;
		if (use->action == TDM_KERNEL_WAIT)
			judge_pushes(program, number, use);
		judge_creation(program, number, use);
		if (use->action != TDM_KERNEL_POP)
			judge_pages(program, number, use);
	}
}

/* All buffers are known if every place of the file gave one, each has its index or name, and every function is followed
 * that may create more. */
static bool knows_buffers(const struct program *program)
{
	const struct tdm_scan_file *file = program->file;
	for (size_t i = 0; i < file->place_count; i++)
		if (file->places[i].grasp == TDM_GRASP_NOT && !file->places[i].is_helper_body)
			return false;
	bool has_some = false;
	for (size_t i = 0; i < file->buffer_count; i++) {
		const struct tdm_scan_buffer *buffer = &file->buffers[i];
		if (buffer->program != program->number)
			continue;
		has_some = true;
		bool is_cb = buffer->kind == TDM_KIND_CB;
		if ((is_cb && buffer->index < 0) || (!is_cb && buffer->name[0] == '\0'))
			return false;
	}
	return has_some && file->state == TDM_FILE_WHOLE && !file->programs[program->number].calls_creator;
}

static int judge_program(struct program *program)
{
	const struct tdm_scan_file *file = program->file;
	program->knows_buffers = knows_buffers(program);
	bool knows_kernels = file->unread_kernel_line == 0 && !file->programs[program->number].calls_creator;
	program->gaps = knows_kernels ? 0 : 1u << TDM_UNJUDGED_HOST_KERNELS;
	for (size_t i = 0; i < file->kernel_count; i++)
		if (is_in_program(program, &file->kernels[i]))
			program->gaps |= file->kernels[i].uses->gaps;
	for (uint32_t i = 0; i < file->kernel_count; i++)
		if (is_in_program(program, &file->kernels[i]))
			judge_kernel(program, i);
	return program->err;
}

/* Room for the verdicts of all kernels. */
static int take_verdicts(const struct tdm_scan *scan, struct tdm_mismatches *mismatches)
{
	size_t count = 0;
	for (size_t i = 0; i < scan->file_count; i++)
		count += scan->files[i].kernel_count;
	mismatches->verdicts = calloc(count + 1, sizeof *mismatches->verdicts);
	mismatches->verdict_count = mismatches->verdicts != NULL ? count : 0;
	return mismatches->verdicts != NULL ? 0 : -ENOMEM;
}

int tdm_kernels_match(const struct tdm_scan *scan, struct tdm_mismatches *mismatches)
{
	int err = take_verdicts(scan, mismatches);
	struct tdm_kernel_verdict *verdicts = mismatches->verdicts;
	for (uint32_t i = 0; i < scan->file_count && err == 0; i++) {
		const struct tdm_scan_file *file = &scan->files[i];
		for (uint32_t k = 0; k < file->program_count && file->kernel_count != 0 && err == 0; k++) {
			struct program program = { .scan = scan,
				.file = file,
				.file_idx = i,
				.number = k,
				.first = mismatches->count,
				.mismatches = mismatches,
				.verdicts = verdicts };
			err = judge_program(&program);
		}
		verdicts += file->kernel_count;
	}
	return err;
}

void tdm_mismatches_done(struct tdm_mismatches *mismatches)
{
	free(mismatches->list);
	free(mismatches->verdicts);
	*mismatches = (struct tdm_mismatches){ 0 };
}
