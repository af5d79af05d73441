/*
 * A state machine in the callbacks of the JSON parser: `place` is the object or array that contains the current value,
 * `key` is the value's field, and `skip` counts the open brackets inside an unwanted value. Keys are looked up by
 * length and then compared; numbers are parsed in place; a string is copied only if it is kept.
 *
 * If a string crosses the end of a chunk, the parser buffers the string until it is complete. Therefore, the parser's
 * allocations are monitored: when a block grows above TDM_CAPTURE_STRING_MAX, the rest of the string is dropped, and
 * the string's position is reported.
 *
 * All states share one structure, which keeps the callbacks short.
 */
#include "input/capture/capture_json.h"
#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"
#include "input/capture/core_ranges.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include <yajl/yajl_parse.h>

enum place {
	AT_TOP, /* outside any value */
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
	/* keys in the report */
	KEY_GRAPH,
	KEY_DEVICES,
	/* keys in a node */
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
	KEY_NUMBER, /* a number; `number` points to where it is stored */
	KEY_COUNT,  /* a number stored through `count` */
};

enum {
	MESHES_MAX = 64,
	MEMBERS_MAX = 1024,
	RANGES_TEXT_CAP = 512,
	PROBLEM_CAP = 160,
	MESSAGE_CAP = 256,
	SAFE_DIGITS = 18,  /* numbers with at most this many digits always fit in an int64_t */
	ESCAPE_DIGITS = 4, /* digits in \u1234 */
};

/* Keeps rare work out of the parser's callbacks, so that their stack frames stay small. */
#define RARE __attribute__((noinline, cold))

/* ---- the state ---- */

struct tdm_capture_json {
	struct tdm_record_sink sink;
	int failed; /* the sink's error code */
	yajl_handle yajl;
	/* too_long: a parser block grew too large; is_text: the block begins with a quote, so it is not a number */
	bool too_long, is_text;
	/* A string being cut: */
	bool is_inside;   /* the input is inside the string */
	bool is_dropping; /* the input is past the cut */
	bool escaped;     /* the next byte is escaped by a backslash */
	unsigned open;    /* escape digits that may still follow */
	uint64_t tokens;  /* complete strings and numbers so far */
	uint64_t quiet;   /* bytes since the last complete one */
	enum place place;
	enum key key;
	uint8_t keys_of_length[32]; /* index of the first key of this length, plus 1; 0 if there is none */
	uint32_t skip;
	bool seen_graph, ended;
	const char *stop; /* the reason why a callback stopped the parser */
	uint64_t base;    /* input bytes before the current chunk */
	struct tdm_capture_number *number;
	uint64_t *count;
	struct tdm_capture_node node;
	size_t node_bytes; /* size of `node`; a variable, so that the compiler calls the fast memset */
	struct tdm_capture_device device;
	struct tdm_capture_counts counts;
	int range_error; /* results of parsing the last core ranges */
	uint32_t range_count;
	size_t range_text_len; /* length of the last ranges string; 0 if none is kept */
	char range_text[RANGES_TEXT_CAP];
	struct tdm_core_range ranges[TDM_CAPTURE_RANGES_MAX];
	char name[TDM_CAPTURE_TEXT_CAP], shape[TDM_CAPTURE_TEXT_CAP], dtype[TDM_CAPTURE_TEXT_CAP];
	char error[TDM_CAPTURE_ERROR_CAP];
	uint64_t meshes[MESHES_MAX]; /* meshes whose members are known */
	size_t mesh_count;
};

/*
 * ---- strings too long to keep ----
 *
 * The parser buffers a string until it is complete. Once the parser is known to be inside a string that is too long,
 * the bytes up to the closing quote are withheld from it. The cut is never made inside an escape.
 */

static size_t find_byte(const char *data, size_t len, size_t at, char c)
{
	const char *found = memchr(data + at, c, len - at);
	return found != NULL ? (size_t)(found - data) : len;
}

/* While inside a string that is too long: returns the number of bytes consumed. The first *kept of them go to the
 * parser; the others are dropped. Stops before the closing quote and clears `is_inside`. */
static size_t long_text_next(struct tdm_capture_json *p, const char *data, size_t len, size_t *kept)
{
	size_t at = 0, quote = 0;
	*kept = 0;
	for (; at < len; at++) {
		if (!p->escaped && p->open == 0)
			p->is_dropping = true;
		if (p->is_dropping && !p->escaped && at >= quote) /* only quotes and backslashes matter */
			quote = find_byte(data, len, at, '"');
		if (p->is_dropping && !p->escaped && (at = find_byte(data, quote, at, '\\')) == len)
			return at;
		if (!p->escaped && data[at] == '"') {
			p->is_inside = false;
			*kept = p->is_dropping ? *kept : at;
			return at;
		}
		if (p->escaped)
			p->open = data[at] == 'u' ? ESCAPE_DIGITS : 0;
		else if (p->open != 0)
			p->open--;
		p->escaped = !p->escaped && data[at] == '\\';
		*kept += !p->is_dropping;
	}
	return at;
}

/* ---- numbers, parsed as the runtime does ---- */

/* Reads digits with an optional sign and ignores anything after them. Returns the number of bytes read. */
static size_t read_integer(struct tdm_str text, struct tdm_capture_number *number)
{
	size_t i = 0;
	uint64_t value = 0;
	bool negative = i < text.len && text.ptr[i] == '-', overflow = false;
	i += negative || (i < text.len && text.ptr[i] == '+');
	size_t from = i;
	for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++) {
		overflow = overflow || value > (UINT64_MAX - 9) / 10;
		value = value * 10 + (uint64_t)(text.ptr[i] - '0');
	}
	if (overflow || value > (uint64_t)INT64_MAX + negative) {
		*number = (struct tdm_capture_number){ 0, TDM_CAPTURE_TOO_LARGE };
	} else if (i == from) {
		*number = (struct tdm_capture_number){ 0, TDM_CAPTURE_NOT_A_NUMBER };
	} else {
		number->value = negative ? (int64_t)(0 - value) : (int64_t)value;
		number->state = TDM_CAPTURE_GIVEN;
	}
	return i;
}

/* Reads a JSON number of any form. Like the runtime, truncates a number with a fraction or an exponent. */
static RARE void read_any(struct tdm_str text, struct tdm_capture_number *number)
{
	char copy[64];
	if (read_integer(text, number) == text.len)
		return;
	if (text.len >= sizeof copy) {
		*number = (struct tdm_capture_number){ 0, TDM_CAPTURE_TOO_LARGE };
		return;
	}
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	/* JSON has a decimal point in every locale. */
	locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	double value = plain != (locale_t)0 ? strtod_l(copy, NULL, plain) : strtod(copy, NULL);
	if (plain != (locale_t)0)
		freelocale(plain);
	if (value > -9.2e18 && value < 9.2e18)
		*number = (struct tdm_capture_number){ (int64_t)value, TDM_CAPTURE_GIVEN };
	else
		*number = (struct tdm_capture_number){ 0, TDM_CAPTURE_TOO_LARGE };
}

/* Reads a number in a string. As in the runtime, blanks before it and anything after it are allowed. For "true" the
 * value is 1, although the returned state is that of a non-number. */
static void read_text(struct tdm_str text, struct tdm_capture_number *number)
{
	struct tdm_str rest = text;
	while (rest.len != 0 && (*rest.ptr == ' ' || (*rest.ptr >= '\t' && *rest.ptr <= '\r'))) {
		rest.ptr++;
		rest.len--;
	}
	read_integer(rest, number);
	if (number->state == TDM_CAPTURE_NOT_A_NUMBER)
		number->value = tdm_str_is(rest, "true");
}

/* Reads a JSON number, which nearly always has only a few digits. */
static inline void read_number(struct tdm_str text, struct tdm_capture_number *number)
{
	uint64_t value = 0;
	size_t i = 0;
	if (text.len <= SAFE_DIGITS)
		for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
			value = value * 10 + (uint64_t)(text.ptr[i] - '0');
	if (i == text.len && i != 0)
		*number = (struct tdm_capture_number){ (int64_t)value, TDM_CAPTURE_GIVEN };
	else
		read_any(text, number);
}

static bool is(struct tdm_str text, const char *word, size_t len)
{
	return text.len == len && memcmp(text.ptr, word, len) == 0;
}

/* sizeof gives the length of a literal at compile time. */
#define IS(text, word) is(text, word, sizeof(word) - 1)

/* Passes a record to the sink; an error from the sink stops the parser. */
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

/* Programs use the same cores again and again, so a repeated string is not parsed again. */
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

/* The ranges are not a string: refuses them. */
static RARE void refuse_ranges(struct tdm_capture_json *p)
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

/* Finds the number after the next `key`, searching from *at; moves *at past the number. */
static bool find_member(const char **at, const char *end, const char *key, size_t len, uint64_t *value)
{
	const char *hit = memmem(*at, (size_t)(end - *at), key, len);
	struct tdm_capture_number number;
	if (hit == NULL)
		return false;
	hit += len;
	while (hit < end && *hit == ' ')
		hit++;
	read_integer((struct tdm_str){ hit, (size_t)(end - hit) }, &number);
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
		push(p, &(struct tdm_record){ TDM_RECORD_MEMBER, .member = (const uint64_t[]){ mesh, chip } });
}

/* ---- why a node cannot be used ---- */

/* Why a number that must be from 0 to `max` is invalid; NULL if it is valid. */
static const char *check_number(const struct tdm_capture_number *number, int64_t max, bool is_required)
{
	switch (number->state) {
	case TDM_CAPTURE_ABSENT:
		return is_required ? "is missing" : NULL;
	case TDM_CAPTURE_NOT_A_NUMBER:
		return "is not a number";
	case TDM_CAPTURE_TOO_LARGE:
		return "does not fit 64 bits";
	default:
		return number->value < 0 ? "is negative" : number->value > max ? "is larger than any memory" : NULL;
	}
}

/* Sets of node types. */
#define OF(type) (1U << TDM_CAPTURE_##type)
#define PROGRAM  (OF(CB_ALLOCATE) | OF(DFB_ALLOCATE) | OF(SCRATCHPAD_ALLOCATE))
#define SIZED    (PROGRAM | OF(BUFFER) | OF(BUFFER_ALLOCATE))
#define RELEASE  OF(BUFFER_DEALLOCATE)

static const struct {
	const char *name;
	size_t offset;
	int64_t max;
	uint32_t types, required; /* node types allowed to have the field, and those that must have it */
} fields[] = {
#define FIELD(member) offsetof(struct tdm_capture_node, member)
	{ "size", FIELD(size), TDM_CAPTURE_SIZE_MAX, SIZED, SIZED },
	{ "max_size_per_bank", FIELD(bank_size), TDM_CAPTURE_SIZE_MAX, SIZED | RELEASE, 0 },
	{ "address", FIELD(address), TDM_CAPTURE_SIZE_MAX, SIZED, 0 },
	{ "page_size", FIELD(page_size), TDM_CAPTURE_SIZE_MAX, SIZED, 0 },
	{ "num_cores", FIELD(cores), INT32_MAX, SIZED, 0 },
	{ "device_id", FIELD(device), INT32_MAX, SIZED | RELEASE | OF(CB_DEALLOCATE_ALL), 0 },
	{ "connections[0]", FIELD(connection), INT64_MAX, RELEASE | OF(BUFFER_ALLOCATE), RELEASE },
#undef FIELD
};

/* Writes to `text` why a node cannot be used; false if it can. `range_error` is the result of parsing the node's
 * core ranges. */
static bool find_problem(const struct tdm_capture_node *node, int range_error, char *text, size_t cap)
{
	if (node->type == TDM_CAPTURE_UNTYPED) {
		snprintf(text, cap, "it has no node_type");
		return true;
	}
	uint32_t type = 1U << node->type;
	if ((type & SIZED) != 0 && node->params != TDM_CAPTURE_PARAMS_OBJECT) {
		snprintf(text, cap, "%s without params", tdm_capture_type_name(node->type));
		return true;
	}
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		const struct tdm_capture_number *number = (const void *)((const char *)node + fields[i].offset);
		const char *what = (type & fields[i].types) == 0
					   ? NULL
					   : check_number(number, fields[i].max, (type & fields[i].required) != 0);
		if (what != NULL) {
			snprintf(text, cap, "%s of %s %s", fields[i].name, tdm_capture_type_name(node->type), what);
			return true;
		}
	}
	if ((type & PROGRAM) != 0 && node->has_ranges && range_error != 0) {
		snprintf(text, cap, "core_range_set of %s %s", tdm_capture_type_name(node->type),
			range_error == -ERANGE  ? "has a core outside a grid of 32 x 32"
			: range_error == -E2BIG ? "has more than 256 ranges"
						: "is not a set of core ranges");
		return true;
	}
	if ((type & SIZED & ~PROGRAM) != 0 && node->buffer_type.state != TDM_CAPTURE_GIVEN &&
		(node->memory == TDM_CAPTURE_MEMORY_ABSENT || node->memory == TDM_CAPTURE_MEMORY_OTHER)) {
		snprintf(text, cap, "type of %s is neither DRAM nor L1", tdm_capture_type_name(node->type));
		return true;
	}
	return false;
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

static void begin_node(struct tdm_capture_json *p)
{
	memset(&p->node, 0, p->node_bytes);
	p->node.index = p->counts.nodes;
	p->node.offset = p->base + yajl_get_bytes_consumed(p->yajl) - 1;
}

static void end_node(struct tdm_capture_json *p)
{
	char problem[PROBLEM_CAP];
	p->counts.nodes++;
	p->counts.other_types += p->node.type == TDM_CAPTURE_OTHER;
	p->node.usable = !find_problem(&p->node, p->range_error, problem, sizeof problem);
	push(p, &(struct tdm_record){ TDM_RECORD_NODE, .node = &p->node });
	if (!p->node.usable)
		refuse(p, problem);
}

/* Handles an array element that is not an object; the parser has just read its last `len` bytes. */
static RARE void not_a_node(struct tdm_capture_json *p, size_t len)
{
	begin_node(p);
	p->node.offset -= len - 1 < p->node.offset ? len - 1 : p->node.offset;
	p->counts.nodes++;
	push(p, &(struct tdm_record){ TDM_RECORD_NODE, .node = &p->node });
	refuse(p, "it is not an object");
}

/* ---- keys ---- */

#define NODE(member)   KEY_NUMBER, offsetof(struct tdm_capture_node, member)
#define DEVICE(member) KEY_COUNT, offsetof(struct tdm_capture_device, member)

/* Sorted by length. */
static const struct known_key {
	const char *name;
	uint8_t len, place, key;
	uint16_t offset; /* offset of the number in the node, or of the count in the device */
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

/* ---- callbacks: 1 to continue, 0 to stop ---- */

static int on_key(void *context, const unsigned char *text, size_t len)
{
	struct tdm_capture_json *p = context;
	p->tokens++;
	if (p->skip != 0)
		return 1;
	p->key = KEY_NONE;
	/* Of a tensor's many keys, only "shape", "dtype" and "device_tensors" matter. */
	if (p->place == IN_PARAMS && p->node.type == TDM_CAPTURE_TENSOR && len != 5 && len != 14)
		return 1;
	size_t i = len < sizeof p->keys_of_length ? p->keys_of_length[len] : 0;
	for (i = i != 0 ? i - 1 : KNOWN_KEYS; i < KNOWN_KEYS && known_keys[i].len == len; i++) {
		const struct known_key *k = &known_keys[i];
		if (k->place != p->place || *text != (unsigned char)*k->name || memcmp(text, k->name, len) != 0)
			continue;
		if (k->key == KEY_NUMBER)
			p->number = (struct tdm_capture_number *)(void *)((char *)&p->node + k->offset);
		else if (k->key == KEY_COUNT)
			p->count = (uint64_t *)(void *)((char *)&p->device + k->offset);
		p->key = (enum key)k->key;
		return 1;
	}
	return 1;
}

/* Handles a value of the wrong type for its key; the parser has just read its last `len` bytes. */
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
		read_text(text, p->number);
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

static RARE void read_arch(struct tdm_capture_json *p, struct tdm_str text)
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

static RARE void read_count(struct tdm_capture_json *p, struct tdm_str text)
{
	struct tdm_capture_number number;
	if (p->key != KEY_COUNT)
		return;
	read_any(text, &number);
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
		read_number(text, &p->node.connection);
	else if ((p->place == IN_NODE || p->place == IN_PARAMS) && p->key == KEY_NUMBER)
		read_number(text, p->number);
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
	wrong_value(p, false, false, 1); /* or this is the end of an unwanted array */
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

static void *watched_malloc(void *context, size_t size)
{
	(void)context;
	return tdm_alloc(size);
}

static void *watched_realloc(void *context, void *memory, size_t size)
{
	struct tdm_capture_json *p = context;
	if (size > TDM_CAPTURE_STRING_MAX) {
		p->too_long = true;
		p->is_text = memory != NULL && *(const char *)memory == '"';
	}
	return tdm_realloc(memory, size, 1);
}

static void watched_free(void *context, void *memory)
{
	(void)context;
	free(memory);
}

struct tdm_capture_json *tdm_capture_json_new(const struct tdm_record_sink *sink)
{
	struct tdm_capture_json *p = tdm_zalloc(1, sizeof *p);
	p->sink = *sink;
	p->node_bytes = sizeof p->node;
	for (size_t i = KNOWN_KEYS; i-- > 0;)
		p->keys_of_length[known_keys[i].len] = (uint8_t)(i + 1);
	yajl_alloc_funcs memory = { watched_malloc, watched_realloc, watched_free, p };
	p->yajl = yajl_alloc(&callbacks, &memory, p);
	yajl_config(p->yajl, yajl_dont_validate_strings, 1); /* bad UTF-8 is replaced wherever strings are displayed */
	return p;
}

void tdm_capture_json_free(struct tdm_capture_json *p)
{
	if (p == NULL)
		return;
	yajl_free(p->yajl);
	free(p);
}

/* Reports why the rest of the file cannot be read, and where. */
static int fail_at(const struct tdm_capture_json *p, uint64_t at, int code, const char *why, struct tdm_diag *diag)
{
	return tdm_diag_set(diag, code, 0, 0, "byte %" PRIu64 ", after node %" PRIu64 ": %s", at, p->counts.nodes, why);
}

/* Reports the parser's message as one line. */
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

/* A parser block has grown too large. If no string or number ended in this chunk, the block belongs to the string or
 * number that contains the chunk. Otherwise, the overlong string or number has already ended, and nothing needs to be
 * done. */
static int end_long(struct tdm_capture_json *p, bool has_ended, uint64_t at, struct tdm_diag *diag)
{
	p->too_long = false;
	if (has_ended || p->is_inside)
		return 0;
	if (p->is_text) {
		struct tdm_diag cut = { .file = NULL };
		p->is_inside = true;
		p->is_dropping = false;
		p->open = ESCAPE_DIGITS; /* an escape may be open, with an unknown number of digits already read */
		p->counts.cut_texts++;
		fail_at(p, at, -E2BIG, "a text of more than 4 MiB; its end is left out", &cut);
		push(p, &(struct tdm_record){ TDM_RECORD_REFUSED, .is_part = true, { .refused = &cut } });
		return 0;
	}
	p->ended = true;
	return fail_at(p, at, -E2BIG, "a number of more than 4 MiB", diag);
}

static int parse_piece(struct tdm_capture_json *p, const char *data, size_t len, struct tdm_diag *diag)
{
	uint64_t tokens = p->tokens;
	yajl_status status = yajl_parse(p->yajl, (const unsigned char *)data, len);
	uint64_t at = p->base + yajl_get_bytes_consumed(p->yajl);
	p->base += len;
	if (!p->is_inside) {
		/*
		 * After an odd number of backslashes, the next byte is escaped; a chunk of backslashes only continues
		 * the count.
		 */
		size_t slashes = 0;
		while (slashes < len && data[len - 1 - slashes] == '\\')
			slashes++;
		p->escaped = (slashes % 2 != 0) != (slashes == len && p->escaped);
	}
	if (status == yajl_status_ok)
		return p->too_long ? end_long(p, p->tokens != tokens, at, diag) : 0;
	p->ended = true;
	if (p->failed != 0)
		return p->failed;
	if (p->stop != NULL)
		return fail_at(p, at, -E2BIG, p->stop, diag);
	return parse_error(p, at, diag);
}

int tdm_capture_json_feed(struct tdm_capture_json *p, const char *data, size_t len, struct tdm_diag *diag)
{
	static const char mark[] = "\xef\xbb\xbf"; /* a UTF-8 byte order mark, which some editors add */
	int err = p->ended ? TDM_ESYNTAX : 0;
	if (p->base == 0 && len >= sizeof mark - 1 && memcmp(data, mark, sizeof mark - 1) == 0) {
		p->base = sizeof mark - 1;
		data += sizeof mark - 1;
		len -= sizeof mark - 1;
	}
	while (err == 0 && len != 0) {
		size_t kept = len < TDM_CAPTURE_CHUNK ? len : TDM_CAPTURE_CHUNK, done = kept;
		uint64_t tokens = p->tokens;
		if (p->is_inside)
			done = long_text_next(p, data, done, &kept);
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
