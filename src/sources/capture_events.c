/*
 * The JSON parser pushes, a source is asked: a small piece of the file is parsed at a time, and the events that came
 * out of it wait in a queue, with their texts and core ranges beside it.
 */
#include "sources/capture_events.h"
#include "base/err.h"
#include "base/map.h"
#include "base/reserve.h"
#include "device/card.h"
#include "sources/capture_json.h"
#include "sources/error_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

enum { PIECE = 16 << 10, STACK_MAX = 4096, DEVICES_MAX = 1024 };

/* Where a text or the ranges of a waiting event are. */
struct part {
	size_t at, len;
};

struct waiting {
	struct tdm_event event;
	struct part name, program, text, ranges;
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
	struct tdm_input *input;
	struct tdm_capture_json *json;
	bool ended;
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
	struct tdm_map mesh_of;   /* by chip */
	struct tdm_map described; /* devices of buffers that an event was given for */
	struct tdm_capture_device *devices;
	size_t device_count, device_cap;
	struct waiting fresh; /* a buffer node; the next node says whether it is allocated here */
	bool has_fresh;
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
	if (tdm_reserve(&c->queue, &c->queue_cap, c->queue_count + 1, sizeof *c->queue) != 0)
		return NULL;
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

static int enter(struct capture_events *c, const struct tdm_capture_node *node)
{
	if (c->depth == STACK_MAX || tdm_reserve(&c->stack, &c->stack_cap, c->depth + 1, sizeof *c->stack) != 0) {
		c->lost_depth++;
		return 0;
	}
	c->stack[c->depth++] = (struct part){ c->names.len, node->name.len };
	if (node->name.len != 0)
		tdm_buf_add(&c->names, node->name.ptr, node->name.len);
	struct waiting *w = push(c);
	if (w == NULL)
		return -ENOMEM;
	w->event = (struct tdm_event){ .op = TDM_OP_PROGRAM, .address = TDM_ADDRESS_UNKNOWN, .position = node->offset };
	w->name = keep_text(c, node->name);
	return 0;
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

/* ---- buffers ---- */

static uint32_t device_of(const struct tdm_capture_node *node)
{
	return node->device.state == TDM_CAPTURE_GIVEN ? (uint32_t)node->device.value : 0;
}

static void name_after_functions(struct capture_events *c, struct waiting *w)
{
	w->name = w->program = (struct part){ 0 };
	if (c->depth != 0) {
		w->name = keep_text(c, running(c, c->depth - 1));
		w->program = keep_text(c, running(c, 0));
	}
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
	name_after_functions(c, w);
}

/* ---- devices ---- */

/* The description of a device: by its number, by that of one of its chips, or the only one there is. */
static const struct tdm_capture_device *description_of(const struct capture_events *c, uint32_t device)
{
	for (size_t i = 0; i < c->device_count; i++)
		if (tdm_map_find(&c->mesh_of, c->devices[i].id) == device)
			return &c->devices[i];
	for (size_t i = 0; i < c->device_count; i++)
		if (c->devices[i].id == device)
			return &c->devices[i];
	return c->device_count != 0 ? &c->devices[0] : NULL;
}

/* The card of the architecture that has most in common with the device; NULL: the architecture is not known. */
static const char *card_of(const struct tdm_capture_device *d)
{
	const char *best = NULL;
	int most = -1;
	for (size_t i = 0; tdm_card_names[i] != NULL; i++) {
		struct tdm_card card;
		if (tdm_card_init(&card, tdm_str_of(tdm_card_names[i]), NULL, NULL) != 0 ||
			strcasestr(d->arch, tdm_arch_name(card.arch)) == NULL)
			continue;
		int same = 2 * (tdm_card_get(&card, TDM_CARD_L1_BANKS) == d->l1_banks) +
			   (tdm_card_get(&card, TDM_CARD_DRAM_BANKS) == d->dram_channels);
		if (same > most) {
			most = same;
			best = tdm_card_names[i];
		}
	}
	return best;
}

/* "device n150 l1_banks=64 …", with the figures that the capture has. */
static void put_description(const struct tdm_capture_device *d, const char *card, struct tdm_buf *out)
{
	uint64_t below = tdm_plus(d->l1_base, d->l1_bank_size);
	const struct {
		const char *name;
		uint64_t value;
	} fields[] = {
		{ "l1_banks", d->l1_banks },
		{ "l1_size", d->worker_l1_size },
		{ "l1_base", d->l1_base },
		{ "l1_small", d->l1_base != 0 && d->l1_bank_size != 0 && below < d->worker_l1_size
				      ? d->worker_l1_size - below
				      : 0 },
		{ "dram_banks", d->dram_channels },
		{ "dram_bank_size", d->dram_channel_size },
	};
	tdm_buf_printf(out, "device %s", card);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (fields[i].value != 0)
			tdm_buf_printf(out, " %s=%" PRIu64, fields[i].name, fields[i].value);
}

/* Before the first buffer of a device that the capture describes. */
static int describe_device(struct capture_events *c, uint32_t device, uint64_t position)
{
	const struct tdm_capture_device *d = description_of(c, device);
	const char *card = d != NULL && tdm_map_find(&c->described, device) == TDM_MAP_NONE ? card_of(d) : NULL;
	if (card == NULL)
		return 0;
	struct waiting *w = push(c);
	if (w == NULL || tdm_map_put(&c->described, device, 1) != 0)
		return -ENOMEM;
	w->event = (struct tdm_event){ .op = TDM_OP_DEVICE, .device = device, .position = position };
	w->text.at = c->texts.len;
	put_description(d, card, &c->texts);
	w->text.len = c->texts.len - w->text.at;
	return 0;
}

/* ---- nodes to events ---- */

/* The buffer node that waits was there before: it is allocated here. */
static int settle(struct capture_events *c)
{
	if (!c->has_fresh)
		return 0;
	c->has_fresh = false;
	int err = describe_device(c, c->fresh.event.device, c->fresh.event.position);
	struct waiting *w = err == 0 ? push(c) : NULL;
	if (w == NULL)
		return -ENOMEM;
	*w = c->fresh;
	name_after_functions(c, w); /* which are still the same ones */
	return 0;
}

static int on_allocate(struct capture_events *c, const struct tdm_capture_node *node)
{
	int err = describe_device(c, device_of(node), node->offset);
	struct waiting *w = err == 0 ? push(c) : NULL;
	if (w == NULL)
		return -ENOMEM;
	describe(c, node, w);
	if (node->connection.state == TDM_CAPTURE_GIVEN)
		w->event.id = (uint64_t)node->connection.value;
	return 0;
}

static int push_free(struct capture_events *c, uint32_t device, uint8_t kind, uint64_t id, uint64_t position)
{
	struct waiting *w = push(c);
	if (w == NULL)
		return -ENOMEM;
	w->event = (struct tdm_event){
		.op = TDM_OP_FREE,
		.device = device,
		.kind = kind,
		.id = id,
		.address = TDM_ADDRESS_UNKNOWN,
		.bytes_per_bank = TDM_SIZE_UNKNOWN,
		.position = position,
	};
	return 0;
}

static struct part keep_ranges(struct capture_events *c, const struct tdm_capture_node *node, uint32_t *cores)
{
	struct part part = { c->range_count, 0 };
	uint64_t count = 0;
	for (uint32_t i = 0; i < node->range_count; i++) {
		const struct tdm_core_range *r = &node->ranges[i];
		if (tdm_reserve(&c->ranges, &c->range_cap, c->range_count + 1, sizeof *c->ranges) != 0)
			break; /* it is given without the others */
		c->ranges[c->range_count++] = *r;
		count += (uint64_t)(r->x1 - r->x0 + 1) * (uint64_t)(r->y1 - r->y0 + 1);
		part.len++;
	}
	*cores = (uint32_t)count;
	return part;
}

static int on_program(struct capture_events *c, const struct tdm_capture_node *node)
{
	uint32_t cores;
	struct waiting *w = push(c);
	if (w == NULL || tdm_reserve(&c->live, &c->live_cap, c->live_count + 1, sizeof *c->live) != 0)
		return -ENOMEM;
	describe(c, node, w);
	w->ranges = keep_ranges(c, node, &cores);
	w->event.cores = w->event.holding = cores;
	w->event.banks = tdm_capture_is_view(node) ? 0 : cores;
	w->event.bytes_per_bank = tdm_capture_is_view(node) ? 0 : w->event.size;
	w->event.flags = tdm_capture_is_view(node) ? TDM_EVENT_VIEW : 0;
	c->live[c->live_count++] = (struct live){ w->event.id, w->event.device, w->event.kind };
	return 0;
}

/* On one device, which may be a mesh: also of chips that are not known to be of another one. */
static int on_release_all(struct capture_events *c, const struct tdm_capture_node *node)
{
	size_t kept = 0;
	int err = 0;
	for (size_t i = 0; i < c->live_count; i++) {
		const struct live l = c->live[i];
		uint32_t mesh = tdm_map_find(&c->mesh_of, l.chip), device = device_of(node);
		bool is_other = node->device.state == TDM_CAPTURE_GIVEN && l.chip != device && mesh != device &&
				mesh != TDM_MAP_NONE;
		if (is_other || err != 0)
			c->live[kept++] = l;
		else
			err = push_free(c, l.chip, l.kind, l.id, node->offset);
	}
	c->live_count = kept;
	return err;
}

/* An error about memory; others are no events. */
static int on_error(struct capture_events *c, const struct tdm_capture_node *node)
{
	struct tdm_failure failure;
	size_t end;
	if (!tdm_error_text_find(node->error, 0, &failure, &end) || tdm_failure_memory(&failure) == TDM_KIND_COUNT)
		return 0;
	struct waiting *w = push(c);
	if (w == NULL)
		return -ENOMEM;
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
	return 0;
}

static int on_node(struct capture_events *c, const struct tdm_capture_node *node)
{
	bool is_its_own = c->has_fresh && node->usable && node->type == TDM_CAPTURE_BUFFER_ALLOCATE &&
			  node->connection.state == TDM_CAPTURE_GIVEN &&
			  (uint64_t)node->connection.value == c->fresh.event.id;
	if (is_its_own)
		c->has_fresh = false;
	int err = settle(c);
	if (!node->usable || err != 0)
		return err;
	switch (node->type) {
	case TDM_CAPTURE_FUNCTION_START:
		return enter(c, node);
	case TDM_CAPTURE_FUNCTION_END:
		leave(c);
		return 0;
	case TDM_CAPTURE_BUFFER:
		c->fresh = (struct waiting){ 0 };
		describe(c, node, &c->fresh);
		c->has_fresh = true;
		return 0;
	case TDM_CAPTURE_BUFFER_ALLOCATE:
		return on_allocate(c, node);
	case TDM_CAPTURE_BUFFER_DEALLOCATE:
		return push_free(c, device_of(node), (uint8_t)tdm_capture_kind(node), (uint64_t)node->connection.value,
			node->offset);
	case TDM_CAPTURE_CB_ALLOCATE:
	case TDM_CAPTURE_DFB_ALLOCATE:
	case TDM_CAPTURE_SCRATCHPAD_ALLOCATE:
		return on_program(c, node);
	case TDM_CAPTURE_CB_DEALLOCATE_ALL:
		return on_release_all(c, node);
	case TDM_CAPTURE_ERROR:
		return on_error(c, node);
	default:
		return 0;
	}
}

static int on_device(struct capture_events *c, const struct tdm_capture_device *device)
{
	if (c->device_count == DEVICES_MAX)
		return 0;
	if (tdm_reserve(&c->devices, &c->device_cap, c->device_count + 1, sizeof *c->devices) != 0)
		return -ENOMEM;
	c->devices[c->device_count++] = *device;
	return 0;
}

static int take(void *to, const struct tdm_record *record)
{
	struct capture_events *c = to;
	struct waiting *w;
	switch (record->type) {
	case TDM_RECORD_NODE:
		return on_node(c, record->node);
	case TDM_RECORD_DEVICE:
		return on_device(c, record->device);
	case TDM_RECORD_MEMBER:
		return record->member->mesh < TDM_MAP_NONE
			       ? tdm_map_put(&c->mesh_of, record->member->chip, (uint32_t)record->member->mesh)
			       : 0;
	case TDM_RECORD_REFUSED:
		if ((w = push(c)) == NULL)
			return -ENOMEM;
		w->refusal = keep_text(c, tdm_str_of(record->refused->text));
		return 0;
	default:
		return 0;
	}
}

/* ---- the source ---- */

/* Parses until something waits, or the input ends. 0 or -ENOMEM with diag set. */
static int fill(struct capture_events *c, struct tdm_diag *diag)
{
	c->queue_at = c->queue_count = c->range_count = 0;
	tdm_buf_clear(&c->texts);
	while (c->queue_count == 0 && !c->ended) {
		ssize_t got = tdm_input_read(c->input, c->piece, PIECE);
		int err = got < 0   ? tdm_input_failed(c->input, (int)got, 0, &c->said)
			  : got > 0 ? tdm_capture_json_feed(c->json, c->piece, (size_t)got, &c->said)
				    : tdm_capture_json_end(c->json, &c->said);
		c->ended = got <= 0 || err != 0;
		if (c->ended && err != -ENOMEM && settle(c) != 0)
			err = -ENOMEM;
		if (err == -ENOMEM || tdm_buf_failed(&c->texts) || tdm_buf_failed(&c->names)) {
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
	event->text = text_of(c, w->text);
	event->ranges = w->ranges.len != 0 ? c->ranges + w->ranges.at : NULL;
	event->range_count = (uint32_t)w->ranges.len;
	return 1;
}

static void capture_close(struct tdm_source *source)
{
	struct capture_events *c = (struct capture_events *)source;
	tdm_capture_json_free(c->json);
	tdm_map_done(&c->mesh_of);
	tdm_map_done(&c->described);
	free(c->devices);
	tdm_buf_done(&c->texts);
	tdm_buf_done(&c->names);
	free(c->piece);
	free(c->queue);
	free(c->ranges);
	free(c->stack);
	free(c->live);
	free(c);
}

struct tdm_source *tdm_capture_events(struct tdm_input *input)
{
	static const struct tdm_source_ops ops = { "graph-capture", capture_next, capture_close };
	struct capture_events *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NULL;
	c->source.ops = &ops;
	c->input = input;
	tdm_buf_init(&c->texts);
	tdm_buf_init(&c->names);
	c->json = tdm_capture_json_new(&(struct tdm_record_sink){ c, take });
	c->piece = malloc(PIECE);
	if (c->json != NULL && c->piece != NULL && tdm_map_init(&c->mesh_of) == 0 && tdm_map_init(&c->described) == 0)
		return &c->source;
	capture_close(&c->source);
	return NULL;
}
