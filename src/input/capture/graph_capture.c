/*
 * The runtime's graph captures: the JSON that graph tracing writes, in every generation of the format. Captures are
 * read node by node for analysers that need the details, or as events.
 *
 * When read as events, a buffer's id is the number of its buffer node. A buffer older than the capture is allocated
 * where it is first mentioned, with unknown bytes per bank. The id of a circular buffer, dataflow buffer or scratchpad
 * is the number of its own node; where the capture releases all of them at once, they are released one by one. Each
 * function that starts is a program; an allocation has the outermost running function as `program` and the innermost as
 * `name`. The capture's description of a device, in the format of a text trace, precedes the device's first buffer.
 * `position` is the byte where the node begins.
 *
 * The JSON parser pushes nodes, but callers pull events from a source. So the file is parsed in small chunks, and the
 * resulting events wait in a queue, each with its strings.
 */
#include "base/err.h"
#include "base/memory.h"
#include "model/card/card.h"
#include "input/capture/capture_json.h"
#include "input/door/format.h"
#include "input/log/error_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECE = 16 << 10, STACK_MAX = 4096, DEVICES_MAX = 1024 };

enum { TEXT_CAP = TDM_CAPTURE_TEXT_CAP }; /* longer strings are cut */

struct waiting {
	struct tdm_event event;
	bool is_refusal; /* not an event but a refused record, whose reason is in `name` */
	char name[TEXT_CAP], program[TEXT_CAP];
};

struct capture_events {
	struct tdm_source source;
	struct tdm_input *input;
	struct tdm_capture_json *json;
	bool ended;
	int late;             /* why the input ended; reported when the queue is empty */
	struct tdm_diag said; /* the message for `late` */
	char *piece;
	struct waiting *queue;
	size_t queue_at, queue_count, queue_cap;
	char (*stack)[TEXT_CAP]; /* the functions running now */
	size_t depth, stack_cap;
	uint64_t lost_depth;
	struct tdm_event *live; /* program memory not yet released */
	size_t live_count, live_cap;
	struct tdm_map mesh_of;   /* from chip to mesh */
	struct tdm_map described; /* devices for which a TDM_OP_DEVICE has been pushed */
	struct tdm_capture_device *devices;
	size_t device_count, device_cap;
	struct tdm_event fresh; /* a buffer node; the next node shows whether this is its allocation */
	bool has_fresh;
};

static void keep(char text[TEXT_CAP], struct tdm_str s)
{
	snprintf(text, TEXT_CAP, "%.*s", TDM_STR_ARG(s));
}

static struct waiting *push(struct capture_events *c, const struct tdm_event *event)
{
	tdm_grow(&c->queue, &c->queue_cap, c->queue_count + 1, sizeof *c->queue);
	struct waiting *w = &c->queue[c->queue_count++];
	*w = (struct waiting){ .event = *event };
	return w;
}

/* ---- devices ---- */

/* Chooses the description of a device: that of one of its chips, else the one with its number, else the first. */
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

/* The card of the device's architecture with the most figures in common; NULL if the architecture is unknown. */
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

/* Writes "device n150 l1_banks=64 …", with the figures known from the capture. */
static void put_description(const struct tdm_capture_device *d, const char *card, char text[TEXT_CAP])
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
	size_t len = (size_t)snprintf(text, TEXT_CAP, "device %s", card);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (fields[i].value != 0) /* there is room for all of them */
			len += (size_t)snprintf(
				text + len, TEXT_CAP - len, " %s=%" PRIu64, fields[i].name, fields[i].value);
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

static void push_alloc(struct capture_events *c, const struct tdm_event *event)
{
	struct waiting *w = push(c, event);
	if (c->depth != 0) {
		strcpy(w->name, c->stack[c->depth - 1]);
		strcpy(w->program, c->stack[0]);
	}
}

/* Before a device's first buffer, pushes the device's description, if the capture has one. */
static void push_buffer(struct capture_events *c, const struct tdm_event *buffer)
{
	const struct tdm_event event = { .op = TDM_OP_DEVICE, .device = buffer->device, .position = buffer->position };
	const struct tdm_capture_device *d = description_of(c, buffer->device);
	bool is_new = d != NULL && tdm_map_find(&c->described, buffer->device) == TDM_MAP_NONE;
	const char *card = is_new ? card_of(d) : NULL;
	if (card != NULL) {
		tdm_map_set(&c->described, buffer->device, 1);
		put_description(d, card, push(c, &event)->name);
	}
	push_alloc(c, buffer);
}

static void push_free(struct capture_events *c, uint32_t device, uint8_t kind, uint64_t id, uint64_t position)
{
	const struct tdm_event event = { .op = TDM_OP_FREE,
		.device = device,
		.kind = kind,
		.id = id,
		.address = TDM_ADDRESS_UNKNOWN,
		.bytes_per_bank = TDM_SIZE_UNKNOWN,
		.position = position };
	push(c, &event);
}

/* The waiting buffer node was not followed by an allocation, so the buffer is older than the capture: allocates it
 * here. */
static void settle(struct capture_events *c)
{
	if (c->has_fresh)
		push_buffer(c, &c->fresh);
	c->has_fresh = false;
}

static void on_program(struct capture_events *c, const struct tdm_capture_node *node)
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
	tdm_grow(&c->live, &c->live_cap, c->live_count + 1, sizeof *c->live);
	c->live[c->live_count++] = event;
	push_alloc(c, &event);
}

/* Releases everything on one device, which may be a mesh; includes chips not known to belong to another mesh. */
static void on_release_all(struct capture_events *c, const struct tdm_capture_node *node)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->live_count; i++) {
		const struct tdm_event l = c->live[i];
		uint32_t mesh = tdm_map_find(&c->mesh_of, l.device), device = device_of(node);
		bool is_other = node->device.state == TDM_CAPTURE_GIVEN && l.device != device && mesh != device &&
				mesh != TDM_MAP_NONE;
		if (is_other)
			c->live[kept++] = l;
		else
			push_free(c, l.device, l.kind, l.id, node->offset);
	}
	c->live_count = kept;
}

/* Only errors about memory become events. */
static void on_error(struct capture_events *c, const struct tdm_capture_node *node)
{
	struct tdm_failure failure;
	size_t end;
	if (!tdm_error_text_find(node->error, 0, &failure, &end) || tdm_failure_memory(&failure) == TDM_KIND_COUNT)
		return;
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
	keep(w->name, failure.text);
	keep(w->program, node->name);
}

static void on_node(struct capture_events *c, const struct tdm_capture_node *node)
{
	struct tdm_event event;
	bool is_its_own = c->has_fresh && node->usable && node->type == TDM_CAPTURE_BUFFER_ALLOCATE &&
			  node->connection.state == TDM_CAPTURE_GIVEN &&
			  (uint64_t)node->connection.value == c->fresh.id;
	if (is_its_own)
		c->has_fresh = false;
	settle(c);
	if (!node->usable)
		return;
	switch (node->type) {
	case TDM_CAPTURE_FUNCTION_START:
		if (c->depth == STACK_MAX) {
			c->lost_depth++;
			break;
		}
		tdm_grow(&c->stack, &c->stack_cap, c->depth + 1, sizeof *c->stack);
		keep(c->stack[c->depth++], node->name);
		event = (struct tdm_event){
			.op = TDM_OP_PROGRAM, .address = TDM_ADDRESS_UNKNOWN, .position = node->offset
		};
		strcpy(push(c, &event)->name, c->stack[c->depth - 1]);
		break;
	case TDM_CAPTURE_FUNCTION_END:
		if (c->lost_depth != 0)
			c->lost_depth--;
		else if (c->depth != 0)
			c->depth--;
		break;
	case TDM_CAPTURE_BUFFER:
		c->fresh = allocation(node);
		c->has_fresh = true;
		break;
	case TDM_CAPTURE_BUFFER_ALLOCATE:
		event = allocation(node);
		if (node->connection.state == TDM_CAPTURE_GIVEN)
			event.id = (uint64_t)node->connection.value;
		push_buffer(c, &event);
		break;
	case TDM_CAPTURE_BUFFER_DEALLOCATE:
		push_free(c, device_of(node), (uint8_t)tdm_capture_kind(node), (uint64_t)node->connection.value,
			node->offset);
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

static int take(void *to, const struct tdm_record *record)
{
	struct capture_events *c = to;
	struct waiting *w;
	switch (record->type) {
	case TDM_RECORD_NODE:
		on_node(c, record->node);
		break;
	case TDM_RECORD_DEVICE:
		if (c->device_count == DEVICES_MAX)
			break;
		tdm_grow(&c->devices, &c->device_cap, c->device_count + 1, sizeof *c->devices);
		c->devices[c->device_count++] = *record->device;
		break;
	case TDM_RECORD_MEMBER:
		if (record->member[0] < TDM_MAP_NONE)
			tdm_map_set(&c->mesh_of, record->member[1], (uint32_t)record->member[0]);
		break;
	case TDM_RECORD_REFUSED:
		w = push(c, &(struct tdm_event){ .position = 0 });
		w->is_refusal = true;
		keep(w->name, tdm_str_of(record->refused->text));
		break;
	default:
		break;
	}
	return 0;
}

/* ---- the source ---- */

/* Parses until the queue is not empty or the input ends. */
static void fill(struct capture_events *c)
{
	c->queue_at = c->queue_count = 0;
	while (c->queue_count == 0 && !c->ended) {
		ssize_t got = tdm_input_read(c->input, c->piece, PIECE);
		c->late = got < 0   ? tdm_input_failed(c->input, (int)got, 0, &c->said)
			  : got > 0 ? tdm_capture_json_feed(c->json, c->piece, (size_t)got, &c->said)
				    : tdm_capture_json_end(c->json, &c->said);
		c->ended = got <= 0 || c->late != 0;
		if (c->ended)
			settle(c);
	}
}

static int capture_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	struct capture_events *c = (struct capture_events *)source;
	if (c->queue_at == c->queue_count)
		fill(c);
	if (c->queue_count == 0) {
		int err = c->late != 0 ? tdm_diag_set(diag, c->late, 0, 0, "%s", c->said.text) : 0;
		source->is_cut |= err != 0;
		source->refused += err != 0;
		c->late = 0;
		return err;
	}
	const struct waiting *w = &c->queue[c->queue_at++];
	if (w->is_refusal) {
		source->refused++;
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "%s", w->name);
	}
	*event = w->event;
	*(event->op == TDM_OP_DEVICE ? &event->text : &event->name) = tdm_str_of(w->name);
	event->program = tdm_str_of(w->program);
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

static struct tdm_source *capture_events(struct tdm_input *input)
{
	struct capture_events *c = tdm_zalloc(1, sizeof *c);
	c->source = (struct tdm_source){ .next = capture_next, .close = capture_close };
	c->input = input;
	c->json = tdm_capture_json_new(&(struct tdm_record_sink){ c, take });
	c->piece = tdm_alloc(PIECE);
	return &c->source;
}

/* ---- the format ---- */

/* Skips blanks, and the next character if it is `c`. */
static bool skip(struct tdm_str *text, char c)
{
	while (text->len != 0 && memchr(" \t\n\r", *text->ptr, 4) != NULL)
		*text = (struct tdm_str){ text->ptr + 1, text->len - 1 };
	if (text->len == 0 || *text->ptr != c)
		return false;
	*text = (struct tdm_str){ text->ptr + 1, text->len - 1 };
	return true;
}

static bool capture_recognise(struct tdm_str text, const char *path)
{
	static const char *const node_keys[] = { "arguments", "connections", "counter", "duration_ns", "input_tensors",
		"node_type", "params", "stacking_level", NULL };
	static const char *const report_keys[] = { "buffer_pages", "buffer_pages_by_address", "cluster_descriptor",
		"devices", "graph", "mesh_coordinate_mapping", "metadata", "per_operation_buffers", "version", NULL };
	const char *const *keys = skip(&text, '[') ? node_keys : report_keys;
	(void)path;
	if (keys == node_keys && skip(&text, ']'))
		return true;
	const char *end = skip(&text, '{') && skip(&text, '"') ? memchr(text.ptr, '"', text.len) : NULL;
	while (end != NULL && *keys != NULL &&
		!tdm_str_is((struct tdm_str){ text.ptr, (size_t)(end - text.ptr) }, *keys))
		keys++;
	return end != NULL && *keys != NULL;
}

static int capture_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_capture_json *json = tdm_capture_json_new(sink);
	char *piece = tdm_alloc(TDM_CAPTURE_CHUNK);
	ssize_t got = 0;
	int err = 0;
	while (err == 0 && (got = tdm_input_read(input, piece, TDM_CAPTURE_CHUNK)) > 0)
		err = tdm_capture_json_feed(json, piece, (size_t)got, diag);
	if (err == 0)
		err = got < 0 ? tdm_input_failed(input, (int)got, 0, diag) : tdm_capture_json_end(json, diag);
	sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_CAPTURE_END, .capture = tdm_capture_json_counts(json) });
	tdm_capture_json_free(json);
	free(piece);
	return err;
}

const struct tdm_format tdm_format_graph_capture = {
	.name = "graph_capture",
	.summary = "graph capture",
	.recognise = capture_recognise,
	.events = capture_events,
	.records = capture_records,
};
