/* Pictures that go to another machine as JSON and come back: nothing is lost on the way, and nothing hostile gets in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "view/rows/picture_json.h"
#include "picture_valid.h"
#include "live/remote/picture_shape.h"
#include "live/remote/remote_picture.h"

#include "picture_make.h"
#include "picture_same.h"

enum { ROUNDS = 200 };

struct world {
	struct make make;
	struct tdm_device_info infos[MAKE_DEVICES];
	struct tdm_process whos[MAKE_PROCESSES];
	struct tdm_buffer buffers[64];
	size_t buffer_count;
	struct tdm_note notes[2][2];
	struct tdm_trace traces[8];
	struct tdm_hazard hazards[8];
	struct tdm_clash clashes[8];
	size_t told_count;
	struct tdm_intern texts;
	uint64_t seed;
};

static uint64_t next(struct world *w)
{
	return w->seed = tdm_hash_u64(w->seed + UINT64_C(0x9e3779b97f4a7c15));
}

/* ---- pictures in which every member says something, or nothing ---- */

static uint64_t any_number(struct world *w, const struct tdm_shape_field *field, uint64_t most, uint64_t unknown)
{
	uint64_t n = next(w);
	if (n % 4 == 0)
		return field->zero_is_null ? 0 : unknown;
	return field->zero_is_null ? 1 + n % most : n % (most + 1);
}

static void fill(struct world *w, const struct tdm_shape *shape, char *at);

/* A value of the member's type. */
static void fill_plain(struct world *w, const struct tdm_shape_field *field, char *at)
{
	static const uint64_t most[] = { UINT64_MAX - 2, UINT64_C(1) << 50, INT64_MAX, INT64_MAX };
	uint32_t number;
	switch ((enum tdm_member)field->member) {
	case TDM_MEMBER_BOOL:
		*(bool *)at = next(w) % 2 == 0;
		break;
	case TDM_MEMBER_U32:
		*(uint32_t *)at = (uint32_t)any_number(w, field, UINT32_MAX - 2, UINT32_MAX);
		break;
	case TDM_MEMBER_I32:
		*(int32_t *)at = field->negative_is_null || field->zero_is_null
					 ? (int32_t)any_number(w, field, INT32_MAX - 1, UINT32_MAX)
					 : (int32_t)next(w);
		break;
	case TDM_MEMBER_U64:
		*(uint64_t *)at = any_number(w, field, most[field->range], UINT64_MAX);
		break;
	case TDM_MEMBER_CHARS:
		snprintf(at, field->limit, "%.*s", (int)(next(w) % field->limit), "é\"\\ text with a quote and more");
		while (at[0] != '\0' && tdm_str_utf8(at, TDM_UTF8_MAX) == 0)
			at[0] = '\0'; /* half a character */
		break;
	case TDM_MEMBER_POINTER:
		number = tdm_intern_text(&w->texts, tdm_str_of("/dev/shm/tidemark-0/1.2.3"));
		*(const char **)at = next(w) % 2 == 0 ? w->texts.texts[number] : NULL;
		break;
	default:
		fail_msg("'%s' has a type that is not filled in", field->key);
	}
}

static void fill_field(struct world *w, const struct tdm_shape_field *field, char *structure)
{
	char *at = structure + field->offset;
	switch ((enum tdm_shape_type)field->type) {
	case TDM_SHAPE_PLAIN:
		fill_plain(w, field, at);
		break;
	case TDM_SHAPE_CHOICE:
		*(uint8_t *)at = (uint8_t)(next(w) % field->name_count);
		break;
	case TDM_SHAPE_BITS:
		*(uint32_t *)at = (uint32_t)(next(w) % (UINT32_C(1) << field->name_count)) & ~UINT32_C(1);
		break;
	case TDM_SHAPE_HEX:
		for (size_t i = 0; i < field->limit; i++)
			((uint8_t *)at)[i] = (uint8_t)next(w);
		break;
	case TDM_SHAPE_READING: {
		bool is_known = next(w) % 2 == 0;
		*(struct tdm_reading *)at = (struct tdm_reading){ is_known, is_known ? 0 : -(int)(next(w) % 100),
			is_known ? (int64_t)next(w) / 2 : 0 };
		break;
	}
	case TDM_SHAPE_LOSSES:
		for (size_t i = 0; i < field->limit; i++)
			((uint64_t *)at)[i] = next(w) % 1000;
		break;
	case TDM_SHAPE_KIND_BYTES:
		for (size_t i = 0; i < TDM_KIND_COUNT; i++)
			((uint64_t *)at)[i] = next(w) % 3 == 0 ? 0 : next(w) % 1000;
		break;
	case TDM_SHAPE_OBJECT:
		fill(w, field->shape, at);
		break;
	case TDM_SHAPE_KINDS:
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			if (next(w) % 2 == 0)
				fill(w, field->shape, at + k * field->shape->size);
		break;
	case TDM_SHAPE_ARRAY:
		*(uint32_t *)(structure + field->count_offset) = (uint32_t)(next(w) % (field->limit + 1));
		for (size_t i = 0; i < *(uint32_t *)(structure + field->count_offset); i++)
			fill(w, field->shape, at + i * field->shape->size);
		break;
	default: /* lists, pointers and buffers are made by hand */
		break;
	}
}

static void fill(struct world *w, const struct tdm_shape *shape, char *at)
{
	for (size_t i = 0; i < shape->field_count; i++)
		fill_field(w, &shape->fields[i], at);
}

static const struct tdm_shape_field *field_of(const struct tdm_shape *shape, const char *key)
{
	for (size_t i = 0; i < shape->field_count; i++)
		if (strcmp(shape->fields[i].key, key) == 0)
			return &shape->fields[i];
	fail_msg("there is no '%s'", key);
	return NULL;
}

static const struct tdm_shape *shape_of(const char *list, const char *member)
{
	const struct tdm_shape *shape = field_of(&tdm_shape_picture, list)->shape;
	return member != NULL ? field_of(shape, member)->shape : shape;
}

static void make_buffers(struct world *w, struct tdm_holding *holding, enum tdm_kind kind, size_t count)
{
	struct tdm_frame frames[] = { { 0x1234, { NULL, 0 } }, { 0, tdm_str_of("forward (model.py:12)") } };
	const struct tdm_core_range ranges[] = { { 0, 0, 7, 6 }, { 1, 7, 1, 7 } };
	holding->buffers[kind] = (struct tdm_buffer_list){ &w->buffers[w->buffer_count], count };
	for (size_t i = 0; i < count; i++) {
		struct tdm_buffer *buffer = &w->buffers[w->buffer_count++];
		*buffer = (struct tdm_buffer){ .id = next(w) % UINT64_MAX,
			.address = i % 2 == 0 ? TDM_ADDRESS_UNKNOWN : next(w) % UINT64_MAX,
			.asked_bytes = next(w) >> 4,
			.bank_bytes = i % 3 == 0 ? TDM_SIZE_UNKNOWN : next(w) % 100000,
			.page_size = i * 2048,
			.born_ns = next(w) >> 1,
			.banks = (uint32_t)i * 12,
			.holding_banks = (uint32_t)i,
			.cores = (uint32_t)i,
			.thread = (uint32_t)i * 7,
			.flags = i % 2 == 0 ? TDM_EVENT_ADOPTED : 0,
			.kind = (uint8_t)kind };
		if (i % 2 == 0)
			continue;
		frames[0].address = next(w);
		buffer->name = tdm_intern_text(&w->texts, tdm_str_of("kv \"cache\""));
		buffer->program = tdm_intern_text(&w->texts, tdm_str_of("matmul"));
		buffer->stack = tdm_intern_stack(&w->texts, frames, 2);
		buffer->ranges = tdm_intern_ranges(&w->texts, ranges, 1 + (uint32_t)i % 2);
	}
}

static void make_notes(struct world *w, struct tdm_picture_process *process, struct tdm_note notes[2])
{
	for (size_t i = 0; i < 2; i++) {
		fill(w, shape_of("processes", "notes"), (char *)&notes[i]);
		notes[i].text = tdm_intern_text(&w->texts, tdm_str_of(i == 0 ? "metal:hook" : "metal: blind"));
	}
	process->notes = notes;
	process->note_count = 2;
}

static void make_told(struct world *w, struct tdm_holding *holding)
{
	struct tdm_frame frames[] = { { next(w), { NULL, 0 } }, { 0, tdm_str_of("replay (model.py:20)") } };
	struct tdm_hazard *hazards = &w->hazards[w->told_count];
	holding->told.traces = &w->traces[w->told_count];
	struct tdm_clash *clashes = &w->clashes[w->told_count];
	holding->told.hazards = hazards;
	holding->told.clashes = clashes;
	holding->told.trace_count = holding->told.hazard_count = holding->told.clash_count = 2;
	for (size_t i = 0; i < 2; i++, w->told_count++) {
		fill(w, shape_of("holdings", "traces"), (char *)&w->traces[w->told_count]);
		fill(w, shape_of("holdings", "hazards"), (char *)&hazards[i]);
		fill(w, shape_of("holdings", "clashes"), (char *)&clashes[i]);
		clashes[i].program = tdm_intern_text(&w->texts, tdm_str_of("matmul"));
		hazards[i].name = hazards[i].program = hazards[i].stack = hazards[i].replay_stack = 0;
		if (i == 0)
			continue;
		hazards[i].name = tdm_intern_text(&w->texts, tdm_str_of("input"));
		hazards[i].stack = tdm_intern_stack(&w->texts, frames, 2);
		hazards[i].replay_stack = tdm_intern_stack(&w->texts, frames + 1, 1);
	}
}

/* Three devices, the last one a board; two processes, the first on two devices. */
static void world_init(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof *w);
	w->seed = seed;
	tdm_intern_init(&w->texts);
	make_init(&w->make);
	struct tdm_picture *picture = &w->make.picture;
	fill(w, &tdm_shape_picture, (char *)picture);
	picture->time_ns = next(w) >> 8;
	picture->texts = &w->texts;
	for (size_t i = 0; i < 3; i++) {
		struct tdm_picture_device *device = make_device(&w->make);
		fill(w, shape_of("devices", NULL), (char *)device);
		device->key = i + 1;
		device->is_board = i == 2;
		fill(w, shape_of("devices", "info"), (char *)&w->infos[i]);
		for (size_t r = 0; r < w->infos[i].region_count; r++)
			w->infos[i].regions[r].base = w->infos[i].regions[r].bank_size = w->infos[i].regions[r].banks =
				7;
		device->info = i == 1 ? NULL : &w->infos[i];
	}
	picture->board_count = 1;
	for (size_t i = 0; i < 2; i++) {
		struct tdm_picture_process *process = make_process(&w->make, (int32_t)i, "");
		fill(w, shape_of("processes", NULL), (char *)process);
		process->handle = 77 + i;
		fill(w, shape_of("processes", "who"), (char *)&w->whos[i]);
		process->who = &w->whos[i];
		make_notes(w, process, w->notes[i]);
		for (uint32_t d = 0; d < 2 - i; d++) {
			struct tdm_holding *holding = make_holding(&w->make, d);
			struct tdm_holding before = *holding;
			fill(w, shape_of("holdings", NULL), (char *)holding);
			holding->process = before.process;
			holding->device = before.device;
			make_buffers(w, holding, TDM_KIND_L1, 5);
			make_buffers(w, holding, TDM_KIND_CB, 1);
			make_told(w, holding);
		}
	}
	fill(w, shape_of("problems", NULL), (char *)&w->make.problems[0]);
	picture->problem_count = 1;
	/* sums */
	for (size_t d = 0; d < 3; d++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
			struct tdm_picture_kind *kind = &picture->devices[d].kinds[k];
			kind->used_from = kind->used != TDM_BYTES_UNKNOWN ? TDM_FROM_LEDGER : TDM_FROM_NONE;
			kind->unattributed = kind->used;
			for (size_t h = 0; h < picture->holding_count; h++) {
				struct tdm_holding *holding = &picture->holdings[h];
				struct tdm_counter *amount = &holding->kinds[k];
				if (holding->device != d)
					continue;
				amount->from = kind->used_from;
				amount->reserved = kind->used != TDM_BYTES_UNKNOWN ? kind->used / 4 : TDM_BYTES_UNKNOWN;
				if (tdm_is_some(amount->reserved) &&
					tdm_picture_counts(&picture->processes[holding->process]))
					kind->unattributed -= amount->reserved;
			}
		}
	assert_true(picture_is_valid(picture));
}

static void world_done(struct world *w)
{
	tdm_intern_done(&w->texts);
}

/* ---- tests ---- */

static void write_world(struct world *w, struct tdm_buf *out)
{
	tdm_buf_init(out);
	tdm_picture_json(
		&(struct tdm_picture_json){ .picture = &w->make.picture, .with_processes = true, .with_buffers = true },
		out);
}

static void test_round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		struct world *w = malloc(sizeof *w);
		struct tdm_intern texts;
		struct tdm_remote_picture remote;
		struct tdm_diag diag = { 0 };
		struct tdm_buf out;
		world_init(w, seed);
		tdm_intern_init(&texts);
		write_world(w, &out);
		if (tdm_remote_picture_read(tdm_buf_str(&out), &texts, &remote, &diag) != 0)
			fail_msg("round %" PRIu64 ": %s", seed, diag.text);
		assert_true(picture_is_valid(&remote.picture));
		assert_int_equal(remote.picture.board_count, 1);
		check_same(&tdm_shape_picture, (const char *)&w->make.picture, (const char *)&remote.picture);
		check_buffers(&w->make.picture, &remote.picture);
		check_told(&w->make.picture, &remote.picture);
		tdm_remote_picture_done(&remote);
		tdm_intern_done(&texts);
		tdm_buf_done(&out);
		world_done(w);
		free(w);
	}
}

static size_t uncovered(const struct tdm_shape *shape)
{
	size_t covered = 0;
	for (size_t i = 0; i < shape->field_count; i++)
		covered += size_of(&shape->fields[i]);
	return shape->size - covered;
}

/* A new member of a picture must be in a table, or be one that stays on its machine. */
static void test_no_member_is_forgotten(void **state)
{
	(void)state;
#define PLAIN(type, member) sizeof(((struct type *)NULL)->member)
	size_t device = PLAIN(tdm_picture_device, host_card) + PLAIN(tdm_picture_device, region) +
			PLAIN(tdm_picture_device, host);
	size_t process = PLAIN(tdm_picture_process, first_holding) + PLAIN(tdm_picture_process, holding_count) +
			 PLAIN(tdm_picture_process, modules) + PLAIN(tdm_picture_process, module_count) +
			 PLAIN(tdm_picture_process, host);
	size_t counter = PLAIN(tdm_counter, bank) + PLAIN(tdm_counter, l1_peak) + PLAIN(tdm_counter, alloc_bytes) +
			 PLAIN(tdm_counter, alloc_asked) + PLAIN(tdm_counter, seq) + PLAIN(tdm_counter, is_shared);
	size_t problem = PLAIN(tdm_picture_problem, path);
	size_t picture = PLAIN(tdm_picture, event_count) + PLAIN(tdm_picture, board_count) +
			 PLAIN(tdm_picture, events) + PLAIN(tdm_picture, ends) + PLAIN(tdm_picture, end_count) +
			 PLAIN(tdm_picture, texts) + PLAIN(tdm_picture, hosts) + PLAIN(tdm_picture, host_count);
	/* The number at the end is padding. */
	assert_int_equal(uncovered(shape_of("devices", NULL)), device + 10);
	assert_int_equal(uncovered(shape_of("devices", "kinds")), 19);
	assert_int_equal(uncovered(shape_of("devices", "telemetry")), 0);
	assert_int_equal(uncovered(shape_of("devices", "info")), 9);
	assert_int_equal(uncovered(shape_of("processes", NULL)), process + 7);
	assert_int_equal(uncovered(shape_of("processes", "who")), 13);
	assert_int_equal(uncovered(shape_of("processes", "notes")), 3);
	assert_int_equal(uncovered(shape_of("holdings", NULL)), 10);
	assert_int_equal(uncovered(shape_of("holdings", "statistics")), 0);
	assert_int_equal(uncovered(shape_of("holdings", "traces")), 0);
	assert_int_equal(uncovered(shape_of("holdings", "hazards")), 6);
	assert_int_equal(uncovered(shape_of("holdings", "kinds")), counter + 4);
	assert_int_equal(uncovered(shape_of("problems", NULL)), problem + 10);
	assert_int_equal(uncovered(&tdm_shape_picture), picture + 4);
}

/* A machine that hides its processes still shows its sums. */
static void test_without_processes(void **state)
{
	(void)state;
	struct make make;
	struct tdm_remote_picture remote;
	struct tdm_intern texts;
	struct tdm_diag diag = { 0 };
	struct tdm_buf out;
	make_init(&make);
	struct tdm_picture_device *device = make_n150(&make, 0);
	device->key = 5;
	make_kind(device, TDM_KIND_DRAM, 4 * MAKE_GIB, 12 * MAKE_GIB);
	make_process(&make, 4242, "python secret.py");
	make_amount(&make, make_holding(&make, 0), TDM_KIND_DRAM, MAKE_GIB);
	tdm_buf_init(&out);
	tdm_picture_json(&(struct tdm_picture_json){ .picture = &make.picture }, &out);
	assert_null(strstr(out.data, "secret"));
	assert_null(strstr(out.data, "4242"));
	tdm_intern_init(&texts);
	tdm_remote_picture_read(tdm_buf_str(&out), &texts, &remote, &diag);
	assert_string_equal(diag.text, "");
	assert_int_equal(remote.picture.process_count, 0);
	assert_true(remote.picture.devices[0].kinds[TDM_KIND_DRAM].used == 4 * MAKE_GIB);
	assert_true(remote.picture.devices[0].kinds[TDM_KIND_DRAM].unattributed == 4 * MAKE_GIB);
	tdm_remote_picture_done(&remote);
	tdm_intern_done(&texts);
	tdm_buf_done(&out);
}

/* A user sees his own processes, and the sums of all. */
static void test_of_one_user(void **state)
{
	(void)state;
	struct make make;
	struct tdm_remote_picture remote;
	struct tdm_intern texts;
	struct tdm_diag diag = { 0 };
	struct tdm_buf out;
	make_init(&make);
	struct tdm_picture_device *device = make_n150(&make, 0);
	device->key = 5;
	make_kind(device, TDM_KIND_DRAM, 4 * MAKE_GIB, 12 * MAKE_GIB);
	make_process(&make, 4242, "python secret.py")->uid = 1;
	make_amount(&make, make_holding(&make, 0), TDM_KIND_DRAM, MAKE_GIB);
	make_process(&make, 4243, "python mine.py")->uid = 2;
	make_amount(&make, make_holding(&make, 0), TDM_KIND_DRAM, 2 * MAKE_GIB);
	snprintf(make.problems[0].place, sizeof make.problems[0].place, "/dev/shm/secret");
	make.picture.problem_count = 1;
	tdm_buf_init(&out);
	tdm_picture_json(
		&(struct tdm_picture_json){
			.picture = &make.picture, .with_processes = true, .only_user = true, .uid = 2 },
		&out);
	assert_null(strstr(out.data, "secret"));
	tdm_intern_init(&texts);
	tdm_remote_picture_read(tdm_buf_str(&out), &texts, &remote, &diag);
	assert_string_equal(diag.text, "");
	assert_int_equal(remote.picture.process_count, 1);
	assert_string_equal(remote.picture.processes[0].command, "python mine.py");
	assert_true(remote.picture.holdings[0].kinds[TDM_KIND_DRAM].reserved == 2 * MAKE_GIB);
	assert_true(remote.picture.devices[0].kinds[TDM_KIND_DRAM].unattributed == 2 * MAKE_GIB);
	tdm_remote_picture_done(&remote);
	tdm_intern_done(&texts);
	tdm_buf_done(&out);
}

/* A picture that ends anywhere is refused, with a reason. */
static void test_cut_off(void **state)
{
	(void)state;
	struct world *w = malloc(sizeof *w);
	struct tdm_buf out;
	world_init(w, 3);
	write_world(w, &out);
	for (size_t len = 0; len + 1 < out.len; len += 1 + len / 50) {
		struct tdm_intern texts;
		struct tdm_remote_picture remote;
		struct tdm_diag diag = { 0 };
		tdm_intern_init(&texts);
		assert_true(tdm_remote_picture_read((struct tdm_str){ out.data, len }, &texts, &remote, &diag) < 0);
		assert_true(diag.text[0] != '\0');
		tdm_intern_done(&texts);
	}
	tdm_buf_done(&out);
	world_done(w);
	free(w);
}

#define HEAD           "{\"schema\":\"tidemark.picture\",\"version\":1,\"host\":\"a\",\"picture\":{\"time_ns\":5,"
#define DEVICE         "{\"key\":1,\"kinds\":{\"dram\":{\"used_from\":\"ledger\",\"used\":100}}}"
#define PROCESS        "{\"handle\":1,\"pid\":7,\"life\":\"running\"}"
#define BOTH           "\"devices\":[" DEVICE "],\"processes\":[" PROCESS "],"
#define HOLDING(kinds) BOTH "\"holdings\":[{\"process\":0,\"device\":0," kinds "}]"

static const struct {
	const char *json, *reason; /* NULL: it is read */
} cases[] = {
	{ HEAD BOTH "\"holdings\":[]}}", NULL },
	{ HEAD HOLDING("\"kinds\":{\"dram\":{\"from\":\"ledger\",\"used\":100}}") "}}", NULL },
	{ HEAD "\"later\":{\"a\":[1,{\"b\":[]}]},\"devices\":[{\"key\":1,\"new\":[{}]}]}}", NULL },
	{ "", "ends too early" },
	{ "[]", "'document' has a value" },
	{ "null", "schema is ''" },
	{ "{\"schema\":\"tidemark.status\"}", "'tidemark.status'" },
	{ "{\"schema\":\"tidemark.picture\",\"version\":2,\"picture\":{}}", "version 2" },
	{ "{\"schema\":\"tidemark.picture\",\"version\":1,\"picture\":{}}", "no time" },
	{ HEAD "\"devices\":[{}]}}", "same key" },
	{ HEAD "\"devices\":[{\"key\":1},{\"key\":1}]}}", "same key" },
	{ HEAD "\"devices\":[{\"key\":1,\"is_board\":true},{\"key\":2}]}}", "after the boards" },
	{ HEAD "\"devices\":[],\"processes\":[{\"handle\":1},{\"handle\":1}]}}", "same handle" },
	{ HEAD "\"processes\":[{\"handle\":1,\"is_claimed\":true}]}}", "claimed" },
	{ HEAD "\"devices\":[1]}}", "'devices'" },
	{ HEAD "\"devices\":{}}}", "'devices'" },
	{ HEAD "\"devices\":[" DEVICE "],\"devices\":[" DEVICE "]}}", "twice" },
	{ HEAD "\"devices\":[{\"key\":-1}]}}", "'key'" },
	{ HEAD "\"devices\":[{\"key\":1.5}]}}", "'key'" },
	{ HEAD "\"devices\":[{\"key\":18446744073709551616}]}}", "'key'" },
	{ HEAD "\"devices\":[{\"key\":1,\"number\":2147483648}]}}", "'number'" },
	{ HEAD "\"devices\":[{\"key\":1,\"place\":4294967295}]}}", "'place'" },
	{ HEAD "\"devices\":[{\"key\":1,\"card_from\":\"guess\"}]}}", "'card_from'" },
	{ HEAD "\"devices\":[{\"key\":1,\"l1_core\":1152921504606846977}]}}", "'l1_core'" },
	{ HEAD "\"devices\":[{\"key\":1,\"info\":{},\"info\":{}}]}}", "twice" },
	{ HEAD "\"devices\":[{\"key\":1,\"info\":{\"regions\":[{},{},{},{},{},{},{},{},{}]}}]}}", "too many" },
	{ HEAD "\"devices\":[{\"key\":1,\"kinds\":{\"dram\":{\"used\":100}}}]}}", "bytes of no source" },
	{ HEAD BOTH "\"holdings\":[{}]}}", "no process" },
	{ HEAD BOTH "\"holdings\":[{\"process\":0,\"device\":1}]}}", "no device" },
	{ HEAD HOLDING("\"kinds\":{\"dram\":{\"from\":\"ledger\",\"used\":101}}") "}}", "hold more" },
	{ HEAD HOLDING("\"buffers\":{\"dram\":[[1,2,3,4,0,0,0,0,0,0,0,1]]}") "}}", "does not exist" },
	{ HEAD HOLDING("\"buffers\":{\"dram\":[[1,2,3,1152921504606846976,0,0,0,16]]}") "}}", "no buffer can have" },
	{ HEAD HOLDING("\"buffers\":{\"dram\":[[1,2,3,4,65536]]}") "}}", "no buffer can have" },
	{ HEAD HOLDING("\"buffers\":{\"dram\":[[1]],\"dram\":[[1]]}") "}}", "'buffers'" },
	{ HEAD HOLDING("\"buffers\":{\"dram\":[[\"a\"]]}") "}}", "'buffers'" },
	{ HEAD "\"stacks\":[[[1,1]]]}}", "text that does not exist" },
	{ HEAD "\"ranges\":[[[1,1,0,1]]]}}", "range of cores" },
	{ HEAD "\"ranges\":[[[1,1,65536,1]]]}}", "core that cannot be" },
	{ HEAD "\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "nested too deep" },
	{ HEAD "\"devices\":[]}} trailing", "not JSON" },
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tdm_intern texts;
		struct tdm_remote_picture remote;
		struct tdm_diag diag = { 0 };
		tdm_intern_init(&texts);
		int err = tdm_remote_picture_read(tdm_str_of(cases[i].json), &texts, &remote, &diag);
		if ((err == 0) != (cases[i].reason == NULL) || (err != 0 && strstr(diag.text, cases[i].reason) == NULL))
			fail_msg("%s\ngives %d: %s", cases[i].json, err, diag.text);
		if (err == 0)
			assert_true(picture_is_valid(&remote.picture));
		tdm_remote_picture_done(&remote);
		tdm_intern_done(&texts);
	}
}

/* docs/formats/json.md names every key. */
static void check_documented(const struct tdm_shape *shape, const char *page)
{
	for (size_t i = 0; i < shape->field_count; i++) {
		const struct tdm_shape_field *field = &shape->fields[i];
		char key[64];
		snprintf(key, sizeof key, "`%s`", field->key);
		if (strstr(page, key) == NULL)
			fail_msg("docs/formats/json.md does not name %s", key);
		if (field->shape != NULL)
			check_documented(field->shape, page);
	}
}

static void test_documented(void **state)
{
	(void)state;
	struct tdm_buf page = { 0 };
	assert_int_equal(tdm_file_read(TDM_TEST_DATA "/../../docs/formats/json.md", 1 << 20, &page), 0);
	const char *section = strstr(page.data, "## `tidemark.picture`");
	assert_non_null(section);
	char *end = strstr(section + 3, "\n## ");
	assert_non_null(end);
	*end = '\0';
	check_documented(&tdm_shape_picture, section);
	tdm_buf_done(&page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_no_member_is_forgotten),
		cmocka_unit_test(test_without_processes),
		cmocka_unit_test(test_of_one_user),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_documented),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
