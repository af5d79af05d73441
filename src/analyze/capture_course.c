#include "analyze/capture_course.h"
#include "base/reserve.h"
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A change at a node. */
struct step {
	int64_t bytes;
	uint32_t node;
	bool is_program;
};

static int note_call(struct tdm_capture_course *c, const struct tdm_capture_exact *e, uint32_t node)
{
	bool is_inside = e->paths.depth != 0;
	if (is_inside == c->is_inside)
		return 0;
	c->is_inside = is_inside;
	if (!is_inside) {
		c->calls[c->call_count - 1].to = node + 1;
		return 0;
	}
	if (tdm_reserve(&c->calls, &c->call_cap, c->call_count + 1, sizeof *c->calls) != 0)
		return -ENOMEM;
	c->calls[c->call_count++] = (struct tdm_course_call){ e->paths.stack[0], node, TDM_EXACT_NEVER };
	return 0;
}

/* For each device, the most that a core of any of its chips has: one pass over the chips. */
static void find_most(const struct tdm_capture_exact *e, uint64_t *most)
{
	memset(most, 0, e->unit_count * sizeof *most);
	for (size_t i = 0; i < e->chip_count; i++) {
		const struct tdm_exact_chip *chip = &e->chips[i];
		if (chip->unit < e->unit_count && chip->memory.max_total > most[chip->unit])
			most[chip->unit] = chip->memory.max_total;
	}
}

static int note_program(struct tdm_capture_course *c, const struct tdm_capture_exact *e, uint32_t node)
{
	uint64_t most[TDM_EXACT_UNITS_MAX];
	size_t had = c->unit_cap;
	if (tdm_reserve(&c->program, &c->unit_cap, e->unit_count, sizeof *c->program) != 0)
		return -ENOMEM;
	for (; had < c->unit_cap; had++)
		c->program[had] = 0;
	find_most(e, most);
	for (size_t u = 0; u < e->unit_count; u++) {
		if (most[u] == c->program[u])
			continue;
		if (tdm_reserve(&c->changes, &c->change_cap, c->change_count + 1, sizeof *c->changes) != 0)
			return -ENOMEM;
		c->program[u] = most[u];
		c->changes[c->change_count++] = (struct tdm_course_change){ most[u], node, (uint16_t)u };
	}
	return 0;
}

int tdm_capture_course_note(
	struct tdm_capture_course *c, const struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	uint32_t index = (uint32_t)node->index;
	int err = note_call(c, e, index);
	c->nodes = index + 1;
	if (err == 0 && (tdm_capture_is_program_memory((enum tdm_capture_type)node->type) ||
				node->type == TDM_CAPTURE_CB_DEALLOCATE_ALL))
		err = note_program(c, e, index);
	return err;
}

void tdm_capture_course_done(struct tdm_capture_course *c)
{
	free(c->changes);
	free(c->calls);
	free(c->program);
	*c = (struct tdm_capture_course){ 0 };
}

static int by_node(const void *left, const void *right)
{
	const struct step *a = left, *b = right;
	return a->node < b->node ? -1 : a->node > b->node;
}

static size_t steps_of(const struct tdm_capture_course *c, const struct tdm_capture_exact *e, size_t unit,
	enum tdm_course_memory memory, struct step *steps)
{
	unsigned kinds = memory == TDM_COURSE_DRAM ? 1U << TDM_KIND_DRAM | 1U << TDM_KIND_TRACE
						   : 1U << TDM_KIND_L1 | 1U << TDM_KIND_L1_SMALL;
	uint64_t program = 0;
	size_t count = 0;
	for (size_t i = 0; i < e->buffer_count; i++) {
		const struct tdm_exact_buffer *b = &e->buffers[i];
		uint64_t bytes = memory == TDM_COURSE_DRAM ? b->size : b->bank_bytes;
		if (b->unit != unit || (kinds >> b->kind & 1) == 0 || bytes == TDM_BYTES_UNKNOWN || b->from >= b->to)
			continue;
		steps[count++] = (struct step){ (int64_t)bytes, b->from, false };
		if (b->to != TDM_EXACT_NEVER)
			steps[count++] = (struct step){ -(int64_t)bytes, b->to, false };
	}
	for (size_t i = 0; i < c->change_count && memory == TDM_COURSE_L1; i++) {
		if (c->changes[i].unit != unit)
			continue;
		steps[count++] = (struct step){ (int64_t)(c->changes[i].bytes - program), c->changes[i].node, true };
		program = c->changes[i].bytes;
	}
	qsort(steps, count, sizeof *steps, by_node);
	return count;
}

int tdm_capture_course_line(const struct tdm_capture_course *c, const struct tdm_capture_exact *e, size_t unit,
	enum tdm_course_memory memory, struct tdm_course_line *line)
{
	size_t most = e->buffer_count * 2 + c->change_count;
	struct step *steps = malloc((most + 1) * sizeof *steps);
	int64_t buffers = 0, program = 0, highest = INT64_MIN;
	*line = (struct tdm_course_line){ 0 };
	line->nodes = calloc(most + 2, 3 * sizeof *line->nodes);
	if (steps == NULL || line->nodes == NULL) {
		free(steps);
		tdm_course_line_done(line);
		return -ENOMEM;
	}
	line->buffers = line->nodes + most + 2;
	line->program = line->buffers + most + 2;
	size_t count = steps_of(c, e, unit, memory, steps), n = 0;
	for (size_t i = 0; i < count || n == 0;) {
		uint32_t node = n == 0 ? 0 : steps[i].node; /* the first point is the beginning */
		for (; i < count && steps[i].node == node; i++)
			*(steps[i].is_program ? &program : &buffers) += steps[i].bytes;
		line->nodes[n] = node;
		line->buffers[n] = (double)buffers;
		line->program[n] = (double)program;
		if (buffers + program > highest) {
			highest = buffers + program;
			line->peak = n;
		}
		n++;
	}
	line->nodes[n] = c->nodes > line->nodes[n - 1] ? c->nodes : line->nodes[n - 1] + 1;
	line->buffers[n] = (double)buffers;
	line->program[n] = (double)program;
	line->count = n + 1;
	free(steps);
	return 0;
}

void tdm_course_line_done(struct tdm_course_line *line)
{
	free(line->nodes);
	*line = (struct tdm_course_line){ 0 };
}
