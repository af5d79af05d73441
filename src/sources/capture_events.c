/*
 * A graph capture as a source of events. The JSON parser pushes, a source is asked: a small piece of the file is parsed
 * at a time, and what came out of it waits in a queue, with its texts and core ranges beside it.
 */
#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/reserve.h"
#include "sources/error_text.h"
#include "sources/graph_capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 16 << 10, STACK_MAX = 4096 };

/* Where a text or the ranges of a waiting event lie. */
struct part {
	size_t at, len;
};

struct waiting {
	struct tdm_event event;
	struct part name, program, ranges;
	struct part refusal; /* len != 0: no event, but a record that was refused */
};

/* Program memory that was not released yet. */
struct live {
	uint64_t id;
	uint32_t chip;
	uint8_t kind;
};

struct capture_events {
	struct tdm_source source;
	struct tdm_capture_json *json;
	int fd; /* -1 when reading memory */
	const char *data;
	size_t len, at;
	bool ended;
	int err;              /* the queue could not grow */
	int late;             /* why the input ended; told when the queue is empty */
	struct tdm_diag said; /* with it */
	char *piece;
	struct waiting *queue;
	size_t queue_at, queue_count, queue_cap;
	struct tdm_buf texts; /* of the queue */
	struct tdm_core_range *ranges;
	size_t range_count, range_cap;
	struct tdm_buf names; /* of the functions that run, one behind the other */
	struct part *stack;
	size_t depth, stack_cap;
	uint64_t lost_depth;
	struct live *live;
	size_t live_count, live_cap;
	struct tdm_map mesh_of; /* by chip */
	struct waiting fresh;   /* a buffer node; the next node says whether it is allocated here */
	bool has_fresh;
	uint32_t holder; /* the device of buffers, if all are of one */
	uint8_t holders; /* 0, 1, or 2 for several */
};

static struct part keep_text(struct capture_events *c, struct tdm_str text)
{
	struct part part = { c->texts.len, text.len };
	if (text.len != 0)
		tdm_buf_add(&c->texts, text.ptr, text.len);
	return part;
}

static struct waiting *push(struct capture_events *c)
{
	if (tdm_reserve(&c->queue, &c->queue_cap, c->queue_count + 1, sizeof *c->queue) != 0) {
		c->err = -ENOMEM;
		return NULL;
	}
	struct waiting *w = &c->queue[c->queue_count++];
	*w = (struct waiting){ 0 };
	return w;
}

/* ---- the functions that run ---- */

static struct tdm_str running(const struct capture_events *c, size_t level)
{
	if (c->stack[level].len == 0)
		return (struct tdm_str){ 0 };
	return (struct tdm_str){ c->names.data + c->stack[level].at, c->stack[level].len };
}

static void enter(struct capture_events *c, const struct tdm_capture_node *node)
{
	if (c->depth == STACK_MAX || tdm_reserve(&c->stack, &c->stack_cap, c->depth + 1, sizeof *c->stack) != 0) {
		c->lost_depth++;
		return;
	}
	c->stack[c->depth++] = (struct part){ c->names.len, node->name.len };
	if (node->name.len != 0)
		tdm_buf_add(&c->names, node->name.ptr, node->name.len);
	struct waiting *w = push(c);
	if (w == NULL)
		return;
	w->event = (struct tdm_event){ .op = TDM_OP_PROGRAM, .address = TDM_ADDRESS_UNKNOWN, .position = node->offset };
	w->name = keep_text(c, node->name);
}

static void leave(struct capture_events *c)
{
	if (c->lost_depth != 0) {
		c->lost_depth--;
	} else if (c->depth != 0) {
		c->depth--;
		c->names.len = c->stack[c->depth].at;
	}
}

/* ---- nodes to events ---- */

static uint32_t device_of(const struct tdm_capture_node *node)
{
	return node->device.state == TDM_CAPTURE_GIVEN ? (uint32_t)node->device.value : 0;
}

static void describe(struct capture_events *c, const struct tdm_capture_node *node, struct waiting *w)
{
	w->event = (struct tdm_event){
		.op = TDM_OP_ALLOC,
		.device = device_of(node),
		.kind = (uint8_t)tdm_capture_kind(node),
		.id = node->index,
		.address = node->address.value != 0 ? (uint64_t)node->address.value : TDM_ADDRESS_UNKNOWN,
		.size = (uint64_t)node->size.value,
		.bytes_per_bank =
			node->bank_size.state == TDM_CAPTURE_GIVEN ? (uint64_t)node->bank_size.value : TDM_SIZE_UNKNOWN,
		.page_size = (uint64_t)node->page_size.value,
		.cores = (uint32_t)node->cores.value,
		.position = node->offset,
	};
	if (c->depth != 0) {
		w->name = keep_text(c, running(c, c->depth - 1));
		w->program = keep_text(c, running(c, 0));
	}
}

static void hold(struct capture_events *c, uint32_t device)
{
	if (c->holders == 0)
		c->holder = device;
	if (c->holders == 0 || (c->holders == 1 && c->holder != device))
		c->holders++;
}

/* The buffer node that waits was there before: it is allocated here. */
static void settle(struct capture_events *c)
{
	struct waiting *w = c->has_fresh ? push(c) : NULL;
	if (w != NULL) {
		*w = c->fresh;
		/* Its texts may be of an earlier piece; the functions that run are still the same. */
		w->name = w->program = (struct part){ 0 };
		if (c->depth != 0) {
			w->name = keep_text(c, running(c, c->depth - 1));
			w->program = keep_text(c, running(c, 0));
		}
	}
	c->has_fresh = false;
}

static void on_allocate(struct capture_events *c, const struct tdm_capture_node *node)
{
	struct waiting *w = push(c);
	if (w == NULL)
		return;
	describe(c, node, w);
	if (node->connection.state == TDM_CAPTURE_GIVEN)
		w->event.id = (uint64_t)node->connection.value;
	hold(c, w->event.device);
}

static void on_deallocate(struct capture_events *c, const struct tdm_capture_node *node)
{
	struct waiting *w = push(c);
	if (w == NULL)
		return;
	w->event = (struct tdm_event){
		.op = TDM_OP_FREE,
		.device = device_of(node),
		.kind = (uint8_t)tdm_capture_kind(node),
		.id = (uint64_t)node->connection.value,
		.address = TDM_ADDRESS_UNKNOWN,
		.bytes_per_bank = TDM_SIZE_UNKNOWN,
		.position = node->offset,
	};
}

static struct part keep_ranges(struct capture_events *c, const struct tdm_capture_node *node, uint32_t *cores)
{
	struct part part = { c->range_count, 0 };
	uint64_t count = 0;
	for (uint32_t i = 0; i < node->range_count; i++) {
		const struct tdm_core_range *r = &node->ranges[i];
		if (tdm_reserve(&c->ranges, &c->range_cap, c->range_count + 1, sizeof *c->ranges) != 0) {
			c->err = -ENOMEM;
			break;
		}
		c->ranges[c->range_count++] = *r;
		count += (uint64_t)(r->x1 - r->x0 + 1) * (uint64_t)(r->y1 - r->y0 + 1);
		part.len++;
	}
	*cores = (uint32_t)count;
	return part;
}

static void on_program(struct capture_events *c, const struct tdm_capture_node *node)
{
	uint32_t cores;
	struct waiting *w = push(c);
	if (w == NULL || tdm_reserve(&c->live, &c->live_cap, c->live_count + 1, sizeof *c->live) != 0) {
		c->err = -ENOMEM;
		return;
	}
	describe(c, node, w);
	w->ranges = keep_ranges(c, node, &cores);
	w->event.cores = w->event.holding = cores;
	w->event.banks = tdm_capture_is_view(node) ? 0 : cores;
	w->event.bytes_per_bank = tdm_capture_is_view(node) ? 0 : w->event.size;
	w->event.flags = tdm_capture_is_view(node) ? TDM_EVENT_VIEW : 0;
	c->live[c->live_count++] = (struct live){ w->event.id, w->event.device, w->event.kind };
}

/* Whether a release on a device (a mesh or a chip) is one of this chip. */
static bool is_released(const struct capture_events *c, uint32_t chip, uint32_t device)
{
	uint32_t mesh = tdm_map_find(&c->mesh_of, chip);
	if (chip == device || mesh == device)
		return true;
	return mesh == TDM_MAP_NONE && c->holders == 1 && c->holder == device;
}

static void on_release_all(struct capture_events *c, const struct tdm_capture_node *node)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->live_count; i++) {
		const struct live *l = &c->live[i];
		if (node->device.state == TDM_CAPTURE_GIVEN && !is_released(c, l->chip, device_of(node))) {
			c->live[kept++] = *l;
			continue;
		}
		struct waiting *w = push(c);
		if (w == NULL)
			return;
		w->event = (struct tdm_event){
			.op = TDM_OP_FREE,
			.device = l->chip,
			.kind = l->kind,
			.id = l->id,
			.address = TDM_ADDRESS_UNKNOWN,
			.bytes_per_bank = TDM_SIZE_UNKNOWN,
			.position = node->offset,
		};
	}
	c->live_count = kept;
}

/* An error about memory; others are no events. */
static void on_error(struct capture_events *c, const struct tdm_capture_node *node)
{
	struct tdm_failure failure;
	size_t end;
	if (!tdm_error_text_find(node->error, 0, &failure, &end) || tdm_failure_memory(&failure) == TDM_KIND_COUNT)
		return;
	struct waiting *w = push(c);
	if (w == NULL)
		return;
	w->event = (struct tdm_event){
		.op = TDM_OP_OOM,
		.kind = (uint8_t)tdm_failure_memory(&failure),
		.size = failure.asked,
		.address = TDM_ADDRESS_UNKNOWN,
		.bytes_per_bank = TDM_SIZE_UNKNOWN,
		.position = node->offset,
	};
	if (failure.banks <= UINT32_MAX && failure.bytes_per_bank != TDM_BYTES_UNKNOWN) {
		w->event.bytes_per_bank = failure.bytes_per_bank;
		w->event.banks = (uint32_t)failure.banks;
	}
	w->name = keep_text(c, failure.text);
	w->program = keep_text(c, node->name);
}

static void on_node(void *context, const struct tdm_capture_node *node)
{
	struct capture_events *c = context;
	bool is_its_own = c->has_fresh && node->usable && node->type == TDM_CAPTURE_BUFFER_ALLOCATE &&
			  node->connection.state == TDM_CAPTURE_GIVEN &&
			  (uint64_t)node->connection.value == c->fresh.event.id;
	if (is_its_own)
		c->has_fresh = false;
	else
		settle(c);
	if (!node->usable)
		return;
	switch (node->type) {
	case TDM_CAPTURE_FUNCTION_START:
		enter(c, node);
		break;
	case TDM_CAPTURE_FUNCTION_END:
		leave(c);
		break;
	case TDM_CAPTURE_BUFFER:
		c->fresh = (struct waiting){ 0 };
		describe(c, node, &c->fresh);
		c->has_fresh = true;
		hold(c, c->fresh.event.device);
		break;
	case TDM_CAPTURE_BUFFER_ALLOCATE:
		on_allocate(c, node);
		break;
	case TDM_CAPTURE_BUFFER_DEALLOCATE:
		on_deallocate(c, node);
		break;
	case TDM_CAPTURE_CB_ALLOCATE:
	case TDM_CAPTURE_DFB_ALLOCATE:
	case TDM_CAPTURE_SCRATCHPAD_ALLOCATE:
		on_program(c, node);
		break;
	case TDM_CAPTURE_CB_DEALLOCATE_ALL:
		on_release_all(c, node);
		break;
	case TDM_CAPTURE_ERROR:
		on_error(c, node);
		break;
	default:
		break;
	}
}

static void on_member(void *context, uint64_t mesh, uint64_t chip)
{
	struct capture_events *c = context;
	if (mesh < TDM_MAP_NONE && tdm_map_put(&c->mesh_of, chip, (uint32_t)mesh) != 0)
		c->err = -ENOMEM;
}

static void on_refuse(void *context, const struct tdm_capture_node *node, const char *text)
{
	struct capture_events *c = context;
	struct waiting *w = push(c);
	(void)node;
	if (w != NULL)
		w->refusal = keep_text(c, tdm_str_of(text));
}

/* ---- the source ---- */

/* The next piece of the input. Its length, 0 at the end, or -errno. */
static ssize_t next_piece(struct capture_events *c, const char **piece)
{
	if (c->fd < 0) {
		size_t left = c->len - c->at, take = left < PIECE ? left : PIECE;
		*piece = c->data + c->at;
		c->at += take;
		return (ssize_t)take;
	}
	ssize_t got;
	do
		got = read(c->fd, c->piece, PIECE);
	while (got < 0 && errno == EINTR);
	*piece = c->piece;
	return got < 0 ? -errno : got;
}

/* Parses until something waits, or the input ends. 0 or -ENOMEM with diag set. */
static int fill(struct capture_events *c, struct tdm_diag *diag)
{
	c->queue_at = c->queue_count = c->range_count = 0;
	tdm_buf_clear(&c->texts);
	while (c->queue_count == 0 && !c->ended) {
		const char *piece;
		ssize_t got = next_piece(c, &piece);
		int err = got < 0 ? tdm_diag_set(&c->said, (int)got, 0, 0, "cannot read on: %s", tdm_err_text((int)got))
			  : got > 0 ? tdm_capture_json_feed(c->json, piece, (size_t)got, &c->said)
				    : tdm_capture_json_end(c->json, &c->said);
		c->ended = got <= 0 || err != 0;
		if (c->ended)
			settle(c);
		if (c->err != 0 || tdm_buf_failed(&c->texts) || tdm_buf_failed(&c->names)) {
			c->ended = true;
			c->queue_count = 0;
			return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory for the capture");
		}
		c->late = err;
	}
	return 0;
}

static struct tdm_str text_of(const struct capture_events *c, struct part part)
{
	return part.len != 0 ? (struct tdm_str){ c->texts.data + part.at, part.len } : (struct tdm_str){ 0 };
}

static int capture_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	struct capture_events *c = (struct capture_events *)source;
	if (c->queue_at == c->queue_count) {
		int err = fill(c, diag);
		if (err != 0) {
			source->refused++;
			return err;
		}
		if (c->queue_count == 0 && c->late == 0)
			return 0;
		if (c->queue_count == 0) {
			err = c->late;
			c->late = 0;
			source->refused++;
			return tdm_diag_set(diag, err, 0, 0, "%s", c->said.text);
		}
	}
	struct waiting *w = &c->queue[c->queue_at++];
	if (w->refusal.len != 0) {
		source->refused++;
		struct tdm_str text = text_of(c, w->refusal);
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "%.*s", TDM_STR_ARG(text));
	}
	*event = w->event;
	event->name = text_of(c, w->name);
	event->program = text_of(c, w->program);
	event->ranges = w->ranges.len != 0 ? c->ranges + w->ranges.at : NULL;
	event->range_count = (uint32_t)w->ranges.len;
	return 1;
}

static void capture_close(struct tdm_source *source)
{
	struct capture_events *c = (struct capture_events *)source;
	tdm_capture_json_free(c->json);
	tdm_map_done(&c->mesh_of);
	tdm_buf_done(&c->texts);
	tdm_buf_done(&c->names);
	free(c->piece);
	free(c->queue);
	free(c->ranges);
	free(c->stack);
	free(c->live);
	free(c);
}

static const struct tdm_source_ops capture_ops = {
	.name = "graph-capture",
	.next = capture_next,
	.close = capture_close,
};

static struct capture_events *capture_new(void)
{
	struct capture_events *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NULL;
	struct tdm_capture_sink sink = { .context = c, .node = on_node, .member = on_member, .refuse = on_refuse };
	c->source.ops = &capture_ops;
	c->fd = -1;
	tdm_buf_init(&c->texts);
	tdm_buf_init(&c->names);
	c->json = tdm_capture_json_new(&sink);
	c->piece = malloc(PIECE);
	if (c->json != NULL && c->piece != NULL && tdm_map_init(&c->mesh_of) == 0)
		return c;
	capture_close(&c->source);
	return NULL;
}

struct tdm_source *tdm_graph_capture_open(int fd)
{
	struct capture_events *c = capture_new();
	if (c == NULL)
		return NULL;
	c->fd = fd;
	return &c->source;
}

struct tdm_source *tdm_graph_capture_memory(const char *data, size_t len)
{
	struct capture_events *c = capture_new();
	if (c == NULL)
		return NULL;
	c->data = data;
	c->len = len;
	return &c->source;
}
