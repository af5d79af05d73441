/*
 * The JSON parser pushes, but a source is asked. So the file is parsed a small piece at a time, and the resulting
 * events wait in a queue, each with its texts.
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
#include <stdio.h>
#include <stdlib.h>

enum { PIECE = 16 << 10, STACK_MAX = 4096, DEVICES_MAX = 1024 };

/* A text, cut to the room there is. */
struct text {
	char at[TDM_CAPTURE_TEXT_CAP];
};

struct waiting {
	struct tdm_event event;
	bool is_refusal; /* not an event but a refused record; the reason is in `name` */
	struct text name, program;
};

/* Program memory that is not released yet. */
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
	int late;             /* why the input ended; reported once the queue is empty */
	struct tdm_diag said; /* the message for `late` */
	char *piece;
	struct waiting *queue;
	size_t queue_at, queue_count, queue_cap;
	struct text *stack; /* the running functions */
	size_t depth, stack_cap;
	uint64_t lost_depth;
	struct live *live;
	size_t live_count, live_cap;
	struct tdm_map mesh_of;   /* chip to mesh */
	struct tdm_map described; /* devices that a TDM_OP_DEVICE was given for */
	struct tdm_capture_device *devices;
	size_t device_count, device_cap;
	struct tdm_event fresh; /* a buffer node; the next node shows whether this allocates it */
	bool has_fresh;
};

static void keep(struct text *text, struct tdm_str s)
{
	snprintf(text->at, sizeof text->at, "%.*s", TDM_STR_ARG(s));
}

static struct waiting *push(struct capture_events *c, const struct tdm_event *event)
{
	if (tdm_reserve(&c->queue, &c->queue_cap, c->queue_count + 1, sizeof *c->queue) != 0)
		return NULL;
	struct waiting *w = &c->queue[c->queue_count++];
	*w = (struct waiting){ .event = *event };
	return w;
}

static int enter(struct capture_events *c, const struct tdm_capture_node *node)
{
	if (c->depth == STACK_MAX || tdm_reserve(&c->stack, &c->stack_cap, c->depth + 1, sizeof *c->stack) != 0) {
		c->lost_depth++;
		return 0;
	}
	keep(&c->stack[c->depth++], node->name);
	struct waiting *w = push(c,
		&(struct tdm_event){ .op = TDM_OP_PROGRAM, .address = TDM_ADDRESS_UNKNOWN, .position = node->offset });
	if (w != NULL)
		w->name = c->stack[c->depth - 1];
	return w != NULL ? 0 : -ENOMEM;
}

/* ---- devices ---- */

/* The description of a device: that of one of its chips, else the one with its number, else the first. */
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

/* The card of the device's architecture that has most in common with it; NULL: unknown architecture. */
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
static void put_description(const struct tdm_capture_device *d, const char *card, struct text *text)
{
	uint64_t below = tdm_plus(d->l1_base, d->l1_bank_size);
	bool has_small = d->l1_base != 0 && d->l1_bank_size != 0 && below < d->worker_l1_size;
	const struct {
		const char *name;
		uint64_t value;
	} fields[] = {
		{ "l1_banks", d->l1_banks },
		{ "l1_size", d->worker_l1_size },
		{ "l1_base", d->l1_base },
		{ "l1_small", has_small ? d->worker_l1_size - below : 0 },
		{ "dram_banks", d->dram_channels },
		{ "dram_bank_size", d->dram_channel_size },
	};
	size_t len = (size_t)snprintf(text->at, sizeof text->at, "device %s", card);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (fields[i].value != 0) /* there is room for all of them */
			len += (size_t)snprintf(
				text->at + len, sizeof text->at - len, " %s=%" PRIu64, fields[i].name, fields[i].value);
}

/* Called for each buffer; gives the device's description before its first one, if the capture has it. */
static int describe_device(struct capture_events *c, uint32_t device, uint64_t position)
{
	const struct tdm_event event = { .op = TDM_OP_DEVICE, .device = device, .position = position };
	const struct tdm_capture_device *d = description_of(c, device);
	const char *card = d != NULL && tdm_map_find(&c->described, device) == TDM_MAP_NONE ? card_of(d) : NULL;
	if (card == NULL)
		return 0;
	struct waiting *w = push(c, &event);
	if (w == NULL || tdm_map_put(&c->described, device, 1) != 0)
		return -ENOMEM;
	put_description(d, card, &w->name);
	return 0;
}

/* ---- nodes to events ---- */

static uint32_t device_of(const struct tdm_capture_node *node)
{
	return node->device.state == TDM_CAPTURE_GIVEN ? (uint32_t)node->device.value : 0;
}

static struct tdm_event allocation(const struct tdm_capture_node *node)
{
	return (struct tdm_event){
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
}

static int push_alloc(struct capture_events *c, const struct tdm_event *event)
{
	struct waiting *w = push(c, event);
	if (w == NULL)
		return -ENOMEM;
	if (c->depth != 0) {
		w->name = c->stack[c->depth - 1];
		w->program = c->stack[0];
	}
	return 0;
}

static int push_buffer(struct capture_events *c, const struct tdm_event *event)
{
	int err = describe_device(c, event->device, event->position);
	return err != 0 ? err : push_alloc(c, event);
}

static int push_free(struct capture_events *c, uint32_t device, uint8_t kind, uint64_t id, uint64_t position)
{
	const struct tdm_event event = { .op = TDM_OP_FREE,
		.device = device,
		.kind = kind,
		.id = id,
		.address = TDM_ADDRESS_UNKNOWN,
		.bytes_per_bank = TDM_SIZE_UNKNOWN,
		.position = position };
	return push(c, &event) != NULL ? 0 : -ENOMEM;
}

/* No allocation followed the waiting buffer node, so the buffer is older than the capture: it is allocated here. */
static int settle(struct capture_events *c)
{
	bool had = c->has_fresh;
	c->has_fresh = false;
	return had ? push_buffer(c, &c->fresh) : 0;
}

static int on_program(struct capture_events *c, const struct tdm_capture_node *node)
{
	struct tdm_event event = allocation(node);
	uint64_t cores = 0;
	for (uint32_t i = 0; i < node->range_count; i++)
		cores += (uint64_t)(node->ranges[i].x1 - node->ranges[i].x0 + 1) *
			 (uint64_t)(node->ranges[i].y1 - node->ranges[i].y0 + 1);
	bool is_view = tdm_capture_is_view(node);
	event.cores = event.holding = (uint32_t)cores;
	event.banks = is_view ? 0 : (uint32_t)cores;
	event.bytes_per_bank = is_view ? 0 : event.size;
	event.flags = is_view ? TDM_EVENT_VIEW : 0;
	if (tdm_reserve(&c->live, &c->live_cap, c->live_count + 1, sizeof *c->live) != 0)
		return -ENOMEM;
	c->live[c->live_count++] = (struct live){ event.id, event.device, event.kind };
	return push_alloc(c, &event);
}

/* On one device, which may be a mesh; includes chips that are not known to belong to another mesh. */
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

/* Only errors about memory become events. */
static int on_error(struct capture_events *c, const struct tdm_capture_node *node)
{
	struct tdm_failure failure;
	size_t end;
	if (!tdm_error_text_find(node->error, 0, &failure, &end) || tdm_failure_memory(&failure) == TDM_KIND_COUNT)
		return 0;
	bool has_banks = failure.banks <= UINT32_MAX && failure.bytes_per_bank != TDM_BYTES_UNKNOWN;
	const struct tdm_event event = {
		.op = TDM_OP_OOM,
		.kind = (uint8_t)tdm_failure_memory(&failure),
		.size = failure.asked,
		.address = TDM_ADDRESS_UNKNOWN,
		.bytes_per_bank = has_banks ? failure.bytes_per_bank : TDM_SIZE_UNKNOWN,
		.banks = has_banks ? (uint32_t)failure.banks : 0,
		.position = node->offset,
	};
	struct waiting *w = push(c, &event);
	if (w != NULL) {
		keep(&w->name, failure.text);
		keep(&w->program, node->name);
	}
	return w != NULL ? 0 : -ENOMEM;
}

static int on_node(struct capture_events *c, const struct tdm_capture_node *node)
{
	struct tdm_event event;
	bool is_its_own = c->has_fresh && node->usable && node->type == TDM_CAPTURE_BUFFER_ALLOCATE &&
			  node->connection.state == TDM_CAPTURE_GIVEN &&
			  (uint64_t)node->connection.value == c->fresh.id;
	if (is_its_own)
		c->has_fresh = false;
	int err = settle(c);
	if (!node->usable || err != 0)
		return err;
	switch (node->type) {
	case TDM_CAPTURE_FUNCTION_START:
		return enter(c, node);
	case TDM_CAPTURE_FUNCTION_END:
		if (c->lost_depth != 0)
			c->lost_depth--;
		else if (c->depth != 0)
			c->depth--;
		return 0;
	case TDM_CAPTURE_BUFFER:
		c->fresh = allocation(node);
		c->has_fresh = true;
		return 0;
	case TDM_CAPTURE_BUFFER_ALLOCATE:
		event = allocation(node);
		if (node->connection.state == TDM_CAPTURE_GIVEN)
			event.id = (uint64_t)node->connection.value;
		return push_buffer(c, &event);
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

static int take(void *to, const struct tdm_record *record)
{
	struct capture_events *c = to;
	struct waiting *w;
	switch (record->type) {
	case TDM_RECORD_NODE:
		return on_node(c, record->node);
	case TDM_RECORD_DEVICE:
		if (c->device_count == DEVICES_MAX)
			return 0;
		if (tdm_reserve(&c->devices, &c->device_cap, c->device_count + 1, sizeof *c->devices) != 0)
			return -ENOMEM;
		c->devices[c->device_count++] = *record->device;
		return 0;
	case TDM_RECORD_MEMBER:
		return record->member->mesh < TDM_MAP_NONE
			       ? tdm_map_put(&c->mesh_of, record->member->chip, (uint32_t)record->member->mesh)
			       : 0;
	case TDM_RECORD_REFUSED:
		if ((w = push(c, &(struct tdm_event){ .position = 0 })) == NULL)
			return -ENOMEM;
		w->is_refusal = true;
		keep(&w->name, tdm_str_of(record->refused->text));
		return 0;
	default:
		return 0;
	}
}

/* ---- the source ---- */

/* Parses until the queue has something or the input ends. 0, or -ENOMEM with diag set. */
static int fill(struct capture_events *c, struct tdm_diag *diag)
{
	c->queue_at = c->queue_count = 0;
	while (c->queue_count == 0 && !c->ended) {
		ssize_t got = tdm_input_read(c->input, c->piece, PIECE);
		int err = got < 0   ? tdm_input_failed(c->input, (int)got, 0, &c->said)
			  : got > 0 ? tdm_capture_json_feed(c->json, c->piece, (size_t)got, &c->said)
				    : tdm_capture_json_end(c->json, &c->said);
		c->ended = got <= 0 || err != 0;
		if (c->ended && err != -ENOMEM && settle(c) != 0)
			err = -ENOMEM;
		if (err == -ENOMEM) {
			c->queue_count = 0;
			return tdm_diag_set(diag, err, 0, 0, "out of memory for the capture");
		}
		c->late = err;
	}
	return 0;
}

static int capture_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	struct capture_events *c = (struct capture_events *)source;
	int err = c->queue_at == c->queue_count ? fill(c, diag) : 0;
	if (err == 0 && c->queue_count == 0 && c->late != 0) {
		err = tdm_diag_set(diag, c->late, 0, 0, "%s", c->said.text);
		source->is_cut = true;
		c->late = 0;
	}
	source->refused += err != 0;
	if (err != 0 || c->queue_count == 0)
		return err;
	const struct waiting *w = &c->queue[c->queue_at++];
	if (w->is_refusal) {
		source->refused++;
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "%s", w->name.at);
	}
	*event = w->event;
	*(event->op == TDM_OP_DEVICE ? &event->text : &event->name) = tdm_str_of(w->name.at);
	event->program = tdm_str_of(w->program.at);
	return 1;
}

static void capture_close(struct tdm_source *source)
{
	struct capture_events *c = (struct capture_events *)source;
	tdm_capture_json_free(c->json);
	tdm_map_done(&c->mesh_of);
	tdm_map_done(&c->described);
	free(c->devices);
	free(c->piece);
	free(c->queue);
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
	c->json = tdm_capture_json_new(&(struct tdm_record_sink){ c, take });
	c->piece = malloc(PIECE);
	if (c->json != NULL && c->piece != NULL && tdm_map_init(&c->mesh_of) == 0 && tdm_map_init(&c->described) == 0)
		return &c->source;
	capture_close(&c->source);
	return NULL;
}
