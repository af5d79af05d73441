/*
 * A state machine in the callbacks of the JSON parser: `place` says which object or array the current value is in,
 * `key` which field it is, and `skip` counts the open brackets inside an unwanted value. Keys are looked up by length
 * and then compared; numbers are read in place; a text is copied only if it is kept.
 *
 * The parser keeps a text that crosses the end of a piece until it is complete, so its allocator is watched: when a
 * block grows above TDM_CAPTURE_STRING_MAX, the rest of the text is left out (long_text.h) and its position reported.
 *
 * Long: the states share one structure, and the callbacks are short only because everything is in one place.
 */
#include "sources/capture_json.h"
#include "base/err.h"
#include "base/file.h"
#include "sources/capture_fields.h"
#include "sources/core_ranges.h"

#include "sources/capture_skip.h"
#include "sources/long_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <yajl/yajl_parse.h>

enum place {
	AT_TOP, /* nothing yet */
	IN_REPORT,
	IN_DEVICES,
	IN_DEVICE,
	IN_NODES,
	IN_NODE,
	IN_PARAMS,
	IN_CONNECTIONS,
	AT_END,
};

enum key {
	KEY_NONE,
	/* of the report */
	KEY_GRAPH,
	KEY_DEVICES,
	/* of a node */
	KEY_NODE_TYPE,
	KEY_PARAMS,
	KEY_CONNECTIONS,
	KEY_TYPE,
	KEY_NAME,
	KEY_ERROR,
	KEY_RANGES,
	KEY_SHAPE,
	KEY_DTYPE,
	KEY_DEVICE_TENSORS,
	KEY_ARCH,
	KEY_NUMBER, /* a number; `number` points to where it goes */
	KEY_COUNT,  /* likewise, with `count` */
};

enum {
	MESHES_MAX = 64,
	MEMBERS_MAX = 1024,
	RANGES_TEXT_CAP = 512,
	PROBLEM_CAP = 160,
	MESSAGE_CAP = 256,
};

/* Set by the parser's allocator. */
struct watch {
	bool too_long; /* a block grew too large */
	bool is_text;  /* the block begins with a quote: a text, not a number */
};

struct tdm_capture_json {
	struct tdm_record_sink sink;
	int failed; /* the sink's error code */
	yajl_handle yajl;
	struct watch watch;
	struct tdm_long_text long_text;
	struct tdm_capture_skip skipped; /* of the current piece */
	uint64_t tokens;                 /* complete texts and numbers so far */
	uint64_t quiet;                  /* bytes since the last one */
	enum place place;
	enum key key;
	uint8_t keys_of_length[32]; /* index of the first such key, plus 1; 0: none */
	uint32_t skip;
	bool seen_graph, ended;
	const char *stop; /* why a callback stopped the parser */
	uint64_t base;    /* bytes before the current piece */
	struct tdm_capture_number *number;
	uint64_t *count;
	struct tdm_capture_node node;
	size_t node_bytes; /* size of `node`; unknown to the compiler, so that it calls the fast memset */
	struct tdm_capture_device device;
	struct tdm_capture_counts counts;
	int range_error; /* of the last set of ranges; likewise the next */
	uint32_t range_count;
	size_t range_text_len; /* 0: no text is kept */
	char range_text[RANGES_TEXT_CAP];
	struct tdm_core_range ranges[TDM_CAPTURE_RANGES_MAX];
	char name[TDM_CAPTURE_TEXT_CAP], shape[TDM_CAPTURE_TEXT_CAP], dtype[TDM_CAPTURE_TEXT_CAP];
	char error[TDM_CAPTURE_ERROR_CAP];
	uint64_t meshes[MESHES_MAX]; /* those whose members are known */
	size_t mesh_count;
};

static bool is(struct tdm_str text, const char *word, size_t len)
{
	return text.len == len && memcmp(text.ptr, word, len) == 0;
}

/* The length of a literal is a compile-time constant. */
#define IS(text, word) is(text, word, sizeof(word) - 1)

/* Hands on a record; an error of the sink stops the parser. */
static void push(struct tdm_capture_json *p, const struct tdm_record *record)
{
	int err = p->sink.take(p->sink.to, record);
	if (err != 0 && p->failed == 0)
		p->failed = err;
}

/* ---- values ---- */

static struct tdm_str keep(char *dst, size_t cap, struct tdm_str text)
{
	size_t len = text.len < cap ? text.len : cap - 1;
	memcpy(dst, text.ptr, len);
	return (struct tdm_str){ dst, len };
}

/* Programs use the same cores again and again, so a repeated text is not parsed again. */
static __attribute__((noinline)) void read_ranges(struct tdm_capture_json *p, struct tdm_str text)
{
	p->node.has_ranges = true;
	if (p->range_text_len == 0 || p->range_text_len != text.len || memcmp(p->range_text, text.ptr, text.len) != 0) {
		int count = tdm_core_ranges_parse(text, p->ranges, TDM_CAPTURE_RANGES_MAX);
		p->range_error = count < 0 ? count : 0;
		p->range_count = count < 0 ? 0 : (uint32_t)count;
		p->range_text_len = text.len <= sizeof p->range_text ? text.len : 0;
		memcpy(p->range_text, text.ptr, p->range_text_len);
	}
	p->node.ranges = p->ranges;
	p->node.range_count = p->range_count;
}

/* The ranges are a number or anything else but a text. */
static TDM_CAPTURE_RARE void refuse_ranges(struct tdm_capture_json *p)
{
	p->node.has_ranges = true;
	p->node.ranges = p->ranges;
	p->node.range_count = p->range_count = 0;
	p->range_error = TDM_ESYNTAX;
	p->range_text_len = 0;
}

static uint8_t type_of(struct tdm_str text)
{
#define X(id, name)         \
	if (IS(text, name)) \
		return TDM_CAPTURE_##id;
	TDM_CAPTURE_LIST(X)
#undef X
	return TDM_CAPTURE_OTHER;
}

/* ---- members of meshes: [{"address":1,"device_id":0,"mesh_device_id":1},…] ---- */

/* The number after the next `key` from *at on; moves *at to it. */
static bool find_member(const char **at, const char *end, const char *key, size_t len, uint64_t *value)
{
	const char *hit = memmem(*at, (size_t)(end - *at), key, len);
	struct tdm_capture_number number;
	if (hit == NULL)
		return false;
	hit += len;
	while (hit < end && *hit == ' ')
		hit++;
	tdm_capture_read_integer((struct tdm_str){ hit, (size_t)(end - hit) }, &number);
	*at = hit;
	*value = (uint64_t)number.value;
	return number.state == TDM_CAPTURE_GIVEN && number.value >= 0;
}

static bool mesh_is_known(const struct tdm_capture_json *p, uint64_t mesh)
{
	for (size_t i = 0; i < p->mesh_count; i++)
		if (p->meshes[i] == mesh)
			return true;
	return p->mesh_count == MESHES_MAX;
}

static __attribute__((noinline)) void read_members(struct tdm_capture_json *p, struct tdm_str text)
{
	static const char mesh_key[] = "\"mesh_device_id\":", chip_key[] = "\"device_id\":";
	const char *at = text.ptr, *end = text.ptr + text.len;
	uint64_t mesh, chip;
	if (!find_member(&at, end, mesh_key, sizeof mesh_key - 1, &mesh) || mesh_is_known(p, mesh))
		return;
	p->meshes[p->mesh_count++] = mesh;
	at = text.ptr;
	for (int i = 0; i < MEMBERS_MAX && find_member(&at, end, chip_key, sizeof chip_key - 1, &chip); i++)
		push(p, &(struct tdm_record){
				TDM_RECORD_MEMBER, .member = &(struct tdm_capture_member){ mesh, chip } });
}

/* ---- a node is complete ---- */

static void refuse(struct tdm_capture_json *p, const char *problem)
{
	struct tdm_diag diag = { .file = NULL };
	p->counts.refused++;
	tdm_diag_set(&diag, TDM_ESYNTAX, 0, 0, "node %" PRIu64 " at byte %" PRIu64 ": %.*s", p->node.index,
		p->node.offset, PROBLEM_CAP, problem);
	push(p, &(struct tdm_record){ TDM_RECORD_REFUSED, .refused = &diag });
}

static void push_node(struct tdm_capture_json *p)
{
	push(p, &(struct tdm_record){ TDM_RECORD_NODE, .node = &p->node });
}

static void begin_node(struct tdm_capture_json *p)
{
	memset(&p->node, 0, p->node_bytes);
	p->node.index = p->counts.nodes;
	p->node.offset = p->base + tdm_capture_skip_origin(&p->skipped, yajl_get_bytes_consumed(p->yajl) - 1);
}

static void end_node(struct tdm_capture_json *p)
{
	char problem[PROBLEM_CAP];
	p->counts.nodes++;
	p->counts.other_types += p->node.type == TDM_CAPTURE_OTHER;
	p->node.usable = !tdm_capture_find_problem(&p->node, p->range_error, problem, sizeof problem);
	push_node(p);
	if (!p->node.usable)
		refuse(p, problem);
}

/* An element of the array that is not an object; its last `len` bytes have just been read. */
static TDM_CAPTURE_RARE void not_a_node(struct tdm_capture_json *p, size_t len)
{
	begin_node(p);
	p->node.offset -= len - 1 < p->node.offset ? len - 1 : p->node.offset;
	p->counts.nodes++;
	push_node(p);
	refuse(p, "it is not an object");
}

/* ---- keys ---- */

#define NODE(member)   KEY_NUMBER, offsetof(struct tdm_capture_node, member)
#define DEVICE(member) KEY_COUNT, offsetof(struct tdm_capture_device, member)

/* Ordered by length. */
static const struct known_key {
	const char *name;
	uint8_t len, place, key;
	uint16_t offset; /* of the number in the node, or of the count in the device */
} known_keys[] = {
#define KEY(name) name, sizeof(name) - 1
	{ KEY("size"), IN_PARAMS, NODE(size) },
	{ KEY("type"), IN_PARAMS, KEY_TYPE, 0 },
	{ KEY("name"), IN_PARAMS, KEY_NAME, 0 },
	{ KEY("arch"), IN_DEVICE, KEY_ARCH, 0 },
	{ KEY("shape"), IN_PARAMS, KEY_SHAPE, 0 },
	{ KEY("dtype"), IN_PARAMS, KEY_DTYPE, 0 },
	{ KEY("graph"), IN_REPORT, KEY_GRAPH, 0 },
	{ KEY("params"), IN_NODE, KEY_PARAMS, 0 },
	{ KEY("counter"), IN_NODE, NODE(counter) },
	{ KEY("address"), IN_PARAMS, NODE(address) },
	{ KEY("devices"), IN_REPORT, KEY_DEVICES, 0 },
	{ KEY("device_id"), IN_PARAMS, NODE(device) },
	{ KEY("node_type"), IN_NODE, KEY_NODE_TYPE, 0 },
	{ KEY("page_size"), IN_PARAMS, NODE(page_size) },
	{ KEY("num_cores"), IN_PARAMS, NODE(cores) },
	{ KEY("device_id"), IN_DEVICE, DEVICE(id) },
	{ KEY("connections"), IN_NODE, KEY_CONNECTIONS, 0 },
	{ KEY("buffer_type"), IN_PARAMS, NODE(buffer_type) },
	{ KEY("l1_num_banks"), IN_DEVICE, DEVICE(l1_banks) },
	{ KEY("l1_bank_size"), IN_DEVICE, DEVICE(l1_bank_size) },
	{ KEY("error_message"), IN_PARAMS, KEY_ERROR, 0 },
	{ KEY("core_range_set"), IN_PARAMS, KEY_RANGES, 0 },
	{ KEY("device_tensors"), IN_PARAMS, KEY_DEVICE_TENSORS, 0 },
	{ KEY("borrows_memory"), IN_PARAMS, NODE(borrows_memory) },
	{ KEY("worker_l1_size"), IN_DEVICE, DEVICE(worker_l1_size) },
	{ KEY("error_operation"), IN_PARAMS, KEY_NAME, 0 },
	{ KEY("max_size_per_bank"), IN_PARAMS, NODE(bank_size) },
	{ KEY("num_dram_channels"), IN_DEVICE, DEVICE(dram_channels) },
	{ KEY("globally_allocated"), IN_PARAMS, NODE(globally_allocated) },
	{ KEY("num_x_compute_cores"), IN_DEVICE, DEVICE(grid_x) },
	{ KEY("num_y_compute_cores"), IN_DEVICE, DEVICE(grid_y) },
	{ KEY("dram_size_per_channel"), IN_DEVICE, DEVICE(dram_channel_size) },
	{ KEY("address_at_first_l1_cb_buffer"), IN_DEVICE, DEVICE(l1_base) },
#undef KEY
};

enum { KNOWN_KEYS = sizeof known_keys / sizeof *known_keys };

static void index_keys(struct tdm_capture_json *p)
{
	for (size_t i = KNOWN_KEYS; i-- > 0;)
		p->keys_of_length[known_keys[i].len] = (uint8_t)(i + 1);
}

static enum key key_of(struct tdm_capture_json *p, struct tdm_str key)
{
	/* A tensor has many keys, and only "shape", "dtype" and "device_tensors" are useful. */
	if (p->place == IN_PARAMS && p->node.type == TDM_CAPTURE_TENSOR && key.len != 5 && key.len != 14)
		return KEY_NONE;
	size_t i = key.len < sizeof p->keys_of_length ? p->keys_of_length[key.len] : 0;
	for (i = i != 0 ? i - 1 : KNOWN_KEYS; i < KNOWN_KEYS && known_keys[i].len == key.len; i++) {
		const struct known_key *k = &known_keys[i];
		if (k->place != p->place || *key.ptr != *k->name || memcmp(key.ptr, k->name, key.len) != 0)
			continue;
		if (k->key == KEY_NUMBER)
			p->number = (struct tdm_capture_number *)(void *)((char *)&p->node + k->offset);
		else if (k->key == KEY_COUNT)
			p->count = (uint64_t *)(void *)((char *)&p->device + k->offset);
		return (enum key)k->key;
	}
	return KEY_NONE;
}

/* ---- callbacks: 1 to continue, 0 to stop ---- */

static int on_key(void *context, const unsigned char *text, size_t len)
{
	struct tdm_capture_json *p = context;
	struct tdm_str key = { (const char *)text, len };
	p->tokens++;
	if (p->skip != 0)
		return 1;
	p->key = key_of(p, key);
	return 1;
}

/* A value of the wrong type for its key; its last `len` bytes have just been read. */
static void wrong_value(struct tdm_capture_json *p, bool is_null, bool is_true, size_t len)
{
	if (p->place == IN_NODE && p->key == KEY_PARAMS)
		p->node.params = is_null ? TDM_CAPTURE_PARAMS_NULL : TDM_CAPTURE_PARAMS_OTHER;
	else if ((p->place == IN_NODE || p->place == IN_PARAMS) && p->key == KEY_NUMBER)
		*p->number = (struct tdm_capture_number){ is_true, TDM_CAPTURE_NOT_A_NUMBER };
	else if (p->place == IN_PARAMS && p->key == KEY_RANGES)
		refuse_ranges(p);
	else if (p->place == IN_CONNECTIONS && p->node.connection.state == TDM_CAPTURE_ABSENT)
		p->node.connection.state = TDM_CAPTURE_NOT_A_NUMBER;
	else if (p->place == IN_NODES)
		not_a_node(p, len);
}

static void param_text(struct tdm_capture_json *p, struct tdm_str text)
{
	struct tdm_capture_node *node = &p->node;
	switch (p->key) {
	case KEY_NUMBER:
		tdm_capture_read_text(text, p->number);
		break;
	case KEY_TYPE:
		node->memory = IS(text, "L1")     ? TDM_CAPTURE_MEMORY_L1
			       : IS(text, "DRAM") ? TDM_CAPTURE_MEMORY_DRAM
						  : TDM_CAPTURE_MEMORY_OTHER;
		break;
	case KEY_NAME:
		node->has_name = true;
		node->name = keep(p->name, sizeof p->name, text);
		break;
	case KEY_SHAPE:
		node->shape = keep(p->shape, sizeof p->shape, text);
		break;
	case KEY_DTYPE:
		node->dtype = keep(p->dtype, sizeof p->dtype, text);
		break;
	case KEY_ERROR:
		node->error = keep(p->error, sizeof p->error, text);
		break;
	case KEY_RANGES:
		read_ranges(p, text);
		break;
	case KEY_DEVICE_TENSORS:
		read_members(p, text);
		break;
	default:
		break;
	}
}

static TDM_CAPTURE_RARE void read_arch(struct tdm_capture_json *p, struct tdm_str text)
{
	size_t cap = sizeof p->device.arch - 1;
	memcpy(p->device.arch, text.ptr, text.len < cap ? text.len : cap);
}

static int on_string(void *context, const unsigned char *bytes, size_t len)
{
	struct tdm_capture_json *p = context;
	struct tdm_str text = { (const char *)bytes, len };
	p->tokens++;
	if (p->skip != 0)
		return 1;
	if (p->place == IN_PARAMS)
		param_text(p, text);
	else if (p->place == IN_NODE && p->key == KEY_NODE_TYPE)
		p->node.type = type_of(text);
	else if (p->place == IN_DEVICE && p->key == KEY_ARCH)
		read_arch(p, text);
	else
		wrong_value(p, false, false, len + 2);
	return 1;
}

static TDM_CAPTURE_RARE void read_count(struct tdm_capture_json *p, struct tdm_str text)
{
	struct tdm_capture_number number;
	if (p->key != KEY_COUNT)
		return;
	tdm_capture_read_any(text, &number);
	*p->count = number.value > 0 ? (uint64_t)number.value : 0;
}

static int on_number(void *context, const char *digits, size_t len)
{
	struct tdm_capture_json *p = context;
	struct tdm_str text = { digits, len };
	p->tokens++;
	if (p->skip != 0)
		return 1;
	if (p->place == IN_CONNECTIONS && p->node.connection.state == TDM_CAPTURE_ABSENT)
		tdm_capture_read_number(text, &p->node.connection);
	else if ((p->place == IN_NODE || p->place == IN_PARAMS) && p->key == KEY_NUMBER)
		tdm_capture_read_number(text, p->number);
	else if (p->place == IN_DEVICE)
		read_count(p, text);
	else if (p->place == IN_NODES || p->key == KEY_RANGES)
		wrong_value(p, false, false, len);
	return 1;
}

static int on_null(void *context)
{
	struct tdm_capture_json *p = context;
	if (p->skip == 0)
		wrong_value(p, true, false, 4);
	return 1;
}

static int on_boolean(void *context, int value)
{
	struct tdm_capture_json *p = context;
	if (p->skip == 0)
		wrong_value(p, false, value != 0, value != 0 ? 4 : 5);
	return 1;
}

static int on_start(struct tdm_capture_json *p, bool is_map)
{
	if (p->skip != 0) {
		if (++p->skip < TDM_CAPTURE_DEPTH_MAX)
			return 1;
		p->stop = "arrays and objects are nested too deeply";
		return 0;
	}
	switch (p->place) {
	case IN_NODES:
		if (!is_map)
			break;
		begin_node(p);
		p->place = IN_NODE;
		return 1;
	case IN_NODE:
		if (p->key == KEY_PARAMS && is_map) {
			p->node.params = TDM_CAPTURE_PARAMS_OBJECT;
			p->place = IN_PARAMS;
			return 1;
		}
		if (p->key == KEY_CONNECTIONS && !is_map) {
			p->place = IN_CONNECTIONS;
			return 1;
		}
		break;
	case AT_TOP:
		p->place = is_map ? IN_REPORT : IN_NODES;
		p->counts.is_report = is_map;
		p->seen_graph = !is_map;
		return 1;
	case IN_REPORT:
		if (p->key == KEY_GRAPH && !is_map && !p->seen_graph) {
			p->seen_graph = true;
			p->place = IN_NODES;
			return 1;
		}
		if (p->key == KEY_DEVICES && !is_map) {
			p->place = IN_DEVICES;
			return 1;
		}
		break;
	case IN_DEVICES:
		if (!is_map)
			break;
		p->device = (struct tdm_capture_device){ .id = TDM_BYTES_UNKNOWN };
		p->place = IN_DEVICE;
		return 1;
	default:
		break;
	}
	wrong_value(p, false, false, 1); /* or an unwanted one */
	p->skip = 1;
	return 1;
}

static int on_end(void *context)
{
	struct tdm_capture_json *p = context;
	if (p->skip != 0) {
		p->skip--;
		return 1;
	}
	switch (p->place) {
	case IN_PARAMS:
	case IN_CONNECTIONS:
		p->place = IN_NODE;
		p->key = KEY_NONE;
		break;
	case IN_NODE:
		p->place = IN_NODES;
		end_node(p);
		return p->failed == 0;
	case IN_NODES:
		p->place = p->counts.is_report ? IN_REPORT : AT_END;
		break;
	case IN_DEVICE:
		p->place = IN_DEVICES;
		push(p, &(struct tdm_record){ TDM_RECORD_DEVICE, .device = &p->device });
		break;
	case IN_DEVICES:
		p->place = IN_REPORT;
		break;
	default:
		p->place = AT_END;
		break;
	}
	return 1;
}

static int on_start_map(void *context)
{
	return on_start(context, true);
}

static int on_start_array(void *context)
{
	return on_start(context, false);
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_start_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_start_array,
	.yajl_end_array = on_end,
};

/* ---- the parser's memory ---- */

/* The parser does not check its allocations, so it must not continue after a failed one. */
static void *must_have(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

static void *watched_malloc(void *context, size_t size)
{
	(void)context;
	return must_have(malloc(size));
}

static void *watched_realloc(void *context, void *memory, size_t size)
{
	struct watch *watch = context;
	if (size > TDM_CAPTURE_STRING_MAX) {
		watch->too_long = true;
		watch->is_text = memory != NULL && *(const char *)memory == '"';
	}
	return must_have(realloc(memory, size));
}

static void watched_free(void *context, void *memory)
{
	(void)context;
	free(memory);
}

struct tdm_capture_json *tdm_capture_json_new(const struct tdm_record_sink *sink)
{
	struct tdm_capture_json *p = calloc(1, sizeof *p);
	if (p == NULL)
		return NULL;
	p->sink = *sink;
	p->node_bytes = sizeof p->node;
	index_keys(p);
	yajl_alloc_funcs memory = { watched_malloc, watched_realloc, watched_free, &p->watch };
	p->yajl = yajl_alloc(&callbacks, &memory, p);
	yajl_config(p->yajl, yajl_dont_validate_strings, 1); /* bad bytes are replaced when texts are shown */
	return p;
}

void tdm_capture_json_free(struct tdm_capture_json *p)
{
	if (p == NULL)
		return;
	yajl_free(p->yajl);
	free(p);
}

/* Reports why the file cannot be read any further, and where. */
static int fail_at(const struct tdm_capture_json *p, uint64_t at, int code, const char *why, struct tdm_diag *diag)
{
	return tdm_diag_set(diag, code, 0, 0, "byte %" PRIu64 ", after node %" PRIu64 ": %s", at, p->counts.nodes, why);
}

/* Reports the parser's message in one line. */
static int parse_error(struct tdm_capture_json *p, uint64_t at, struct tdm_diag *diag)
{
	char message[MESSAGE_CAP];
	unsigned char *text = yajl_get_error(p->yajl, 0, NULL, 0);
	struct tdm_str shown = { text != NULL ? (const char *)text : "", text != NULL ? strlen((char *)text) : 0 };
	while (shown.len != 0 && (shown.ptr[shown.len - 1] == '\n' || shown.ptr[shown.len - 1] == '.'))
		shown.len--;
	tdm_str_shown(shown, message, sizeof message);
	if (text != NULL)
		yajl_free_error(p->yajl, text);
	return fail_at(p, at, TDM_ESYNTAX, message, diag);
}

static void warn_cut(struct tdm_capture_json *p, uint64_t at)
{
	struct tdm_diag diag = { .file = NULL };
	p->counts.cut_texts++;
	fail_at(p, at, -E2BIG, "a text of more than 4 MiB; its end is left out", &diag);
	push(p, &(struct tdm_record){ TDM_RECORD_REFUSED, .is_part = true, { .refused = &diag } });
}

/*
 * One of the parser's blocks has grown too large. If no text or number ended in this piece, it belongs to the text or
 * number that the piece is part of; otherwise that has ended, and nothing needs to be done.
 */
static int end_long(struct tdm_capture_json *p, bool has_ended, uint64_t at, struct tdm_diag *diag)
{
	p->watch.too_long = false;
	if (has_ended || p->long_text.is_inside)
		return 0;
	if (p->watch.is_text) {
		tdm_long_text_begin(&p->long_text);
		warn_cut(p, at);
		return 0;
	}
	p->ended = true;
	return fail_at(p, at, -E2BIG, "a number of more than 4 MiB", diag);
}

static int parse_piece(struct tdm_capture_json *p, const char *data, size_t len, struct tdm_diag *diag)
{
	uint64_t tokens = p->tokens;
	tdm_capture_skip(&p->skipped, data, len);
	yajl_status status = yajl_parse(p->yajl, (const unsigned char *)p->skipped.data, p->skipped.len);
	uint64_t at = p->base + tdm_capture_skip_origin(&p->skipped, yajl_get_bytes_consumed(p->yajl));
	p->base += len;
	if (!p->long_text.is_inside)
		tdm_long_text_fed(&p->long_text, p->skipped.data, p->skipped.len);
	if (status == yajl_status_ok)
		return p->watch.too_long ? end_long(p, p->tokens != tokens, at, diag) : 0;
	p->ended = true;
	if (p->failed != 0)
		return p->failed;
	if (p->stop != NULL)
		return fail_at(p, at, -E2BIG, p->stop, diag);
	return parse_error(p, at, diag);
}

int tdm_capture_json_feed(struct tdm_capture_json *p, const char *data, size_t len, struct tdm_diag *diag)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, which some editors put at the beginning */
	int err = p->ended ? TDM_ESYNTAX : 0;
	if (p->base == 0 && len >= sizeof mark - 1 && memcmp(data, mark, sizeof mark - 1) == 0) {
		p->base = sizeof mark - 1;
		data += sizeof mark - 1;
		len -= sizeof mark - 1;
	}
	while (err == 0 && len != 0) {
		size_t kept = len < TDM_CAPTURE_SKIP_MAX ? len : TDM_CAPTURE_SKIP_MAX, done = kept;
		uint64_t tokens = p->tokens;
		if (p->long_text.is_inside)
			done = tdm_long_text_next(&p->long_text, data, done, &kept);
		if (kept != 0)
			err = parse_piece(p, data, kept, diag);
		p->base += done - kept;
		data += done;
		len -= done;
		p->quiet = p->tokens != tokens ? 0 : p->quiet + done;
		if (err == 0 && p->quiet > TDM_LINE_END_MAX)
			err = fail_at(p, p->base, -E2BIG, "256 MiB without the end of a text or number", diag);
	}
	p->counts.bytes = p->base;
	return err != 0 ? err : p->failed;
}

int tdm_capture_json_end(struct tdm_capture_json *p, struct tdm_diag *diag)
{
	if (p->ended)
		return TDM_ESYNTAX;
	p->ended = true;
	if (p->base == 0)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "the file is empty");
	if (yajl_complete_parse(p->yajl) != yajl_status_ok)
		return p->place == AT_TOP ? parse_error(p, p->base, diag)
					  : fail_at(p, p->base, TDM_ESYNTAX, "the file ends too early", diag);
	if (!p->seen_graph)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "it has no nodes: not a graph capture");
	return 0;
}

const struct tdm_capture_counts *tdm_capture_json_counts(const struct tdm_capture_json *p)
{
	return &p->counts;
}
