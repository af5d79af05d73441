#include "live/remote/picture_shape.h"

static const char *const froms[] = {
#define X(id, name) name,
	TDM_FROM_LIST(X)
#undef X
};
static const char *const lives[] = { "unknown", "running", "ended" };

#define COUNT_OF(list)             (sizeof(list) / sizeof *(list))

/* Each table defines ROW, the structure whose members the table lists. */
#define ROW_SIZE(member)           sizeof(((struct ROW *)NULL)->member)
#define PLAIN(member_)             #member_, TDM_MEMBER(struct ROW, member_), .limit = ROW_SIZE(member_)
#define BYTES(member)              PLAIN(member), .range = TDM_SHAPE_BYTES
#define ZERO(member)               BYTES(member), .zero_is_null = true
#define TIME(member)               PLAIN(member), .range = TDM_SHAPE_TIME, .zero_is_null = true
#define REAL_TIME(member)          PLAIN(member), .range = TDM_SHAPE_REAL_TIME, .zero_is_null = true
#define INDEX(member)              PLAIN(member), .negative_is_null = true
#define AS(kind, member)           #member, .type = TDM_SHAPE_##kind, .offset = offsetof(struct ROW, member)
#define ARRAY_OF(kind, member)     AS(kind, member), .limit = ROW_SIZE(member) / ROW_SIZE(member[0])
#define NAMED(kind, member, list)  AS(kind, member), .names = (list), .name_count = COUNT_OF(list)
#define CHOICE(member_, list)      NAMED(CHOICE, member_, list), .member = TDM_MEMBER_U8
#define FROM(member)               CHOICE(member, froms)
#define INTO(kind, member, shape_) AS(kind, member), .shape = &(shape_)
#define COUNTED(kind, member, count, most, shape_) \
	INTO(kind, member, shape_), .count_offset = offsetof(struct ROW, count), .limit = (most)
#define SHAPE(list) .fields = (list), .field_count = COUNT_OF(list), .size = sizeof(struct ROW)

#define ROW         tdm_picture_kind
static const struct tdm_shape_field kind_fields[] = {
	{ FROM(used_from) },
	{ FROM(total_from) },
	{ PLAIN(peak_is_seen) },
	{ PLAIN(is_estimated) },
	{ BYTES(used) },
	{ BYTES(total) },
	{ BYTES(free) },
	{ BYTES(largest_free) },
	{ BYTES(peak) },
	{ BYTES(asked) },
	{ BYTES(buffers) },
	{ BYTES(unattributed) },
	{ BYTES(stale) },
	{ ZERO(banks) },
	{ BYTES(base) },
	{ ZERO(bank_bytes) },
	{ BYTES(allocs) },
	{ BYTES(out_of_memory) },
	{ FROM(rival_from) },
	{ BYTES(rival_used) },
	{ PLAIN(rival_processes) },
	{ BYTES(rival_bytes) },
};
static const struct tdm_shape kind_shape = { SHAPE(kind_fields) };
#undef ROW

#define ROW tdm_picture_telemetry
static const struct tdm_shape_field telemetry_fields[] = {
	{ AS(READING, temp) },
	{ AS(READING, temp_max) },
	{ AS(READING, power) },
	{ AS(READING, power_max) },
	{ AS(READING, clock) },
	{ AS(READING, voltage) },
	{ AS(READING, voltage_max) },
	{ AS(READING, current) },
	{ AS(READING, current_max) },
	{ AS(READING, fan) },
	{ AS(READING, heartbeat) },
};
static const struct tdm_shape telemetry_shape = { SHAPE(telemetry_fields) };
#undef ROW

#define ROW tdm_picture_chip
static const struct tdm_shape_field chip_fields[] = {
	{ PLAIN(chip) },
	{ PLAIN(is_remote) },
	{ AS(KIND_BYTES, bytes) },
};
static const struct tdm_shape chip_shape = { SHAPE(chip_fields) };
#undef ROW

#define ROW tdm_region
static const char *const kinds[] = {
#define X(id, name, summary) name,
	TDM_KIND_LIST(X)
#undef X
};
static const struct tdm_shape_field region_fields[] = {
	{ CHOICE(kind, kinds) },
	{ BYTES(banks) },
	{ BYTES(base) },
	{ BYTES(bank_size) },
	{ ZERO(align) },
};
static const struct tdm_shape region_shape = { SHAPE(region_fields) };
#undef ROW

#define ROW tdm_device_info
static const struct tdm_shape_field info_fields[] = {
	{ PLAIN(has_chip_id) },
	{ PLAIN(is_virtual) },
	{ PLAIN(chip_id) },
	{ PLAIN(card) },
	{ ZERO(grid_x) },
	{ ZERO(grid_y) },
	{ COUNTED(ARRAY, regions, region_count, TDM_REGIONS_MAX, region_shape) },
};
static const struct tdm_shape info_shape = { SHAPE(info_fields) };
#undef ROW

#define ROW tdm_picture_device
static void init_device(void *device)
{
	tdm_picture_device_init(device);
}

static const struct tdm_shape_field device_fields[] = {
	{ PLAIN(key) },
	{ PLAIN(has_chip_id) },
	{ PLAIN(is_virtual) },
	{ PLAIN(is_board) },
	{ PLAIN(chip_id) },
	{ INDEX(number) },
	{ PLAIN(place) },
	{ INDEX(node) },
	{ PLAIN(pci) },
	{ PLAIN(card) },
	{ PLAIN(arch) },
	{ FROM(card_from) },
	{ ZERO(grid_x) },
	{ ZERO(grid_y) },
	{ NAMED(BITS, sources, froms) },
	{ PLAIN(process_count) },
	{ INTO(POINTER, info, info_shape) },
	{ REAL_TIME(updated_ns) },
	{ INTO(OBJECT, telemetry, telemetry_shape) },
	{ INTO(KINDS, kinds, kind_shape) },
	{ BYTES(l1_peak) },
	{ BYTES(l1_core) },
	{ BYTES(l1_lowest) },
	{ BYTES(cb_highest) },
	{ TIME(space_ns) },
	{ PLAIN(space_is_old) },
	{ COUNTED(ARRAY, chips, chip_count, TDM_PICTURE_CHIPS_MAX, chip_shape) },
};
static const struct tdm_shape device_shape = { SHAPE(device_fields), init_device };
#undef ROW

#define ROW tdm_process
static const struct tdm_shape_field who_fields[] = {
	{ ARRAY_OF(HEX, boot_id) },
	{ PLAIN(pid_namespace) },
	{ PLAIN(pid) },
	{ BYTES(start_time) },
	{ PLAIN(generation) },
	{ PLAIN(uid) },
	{ CHOICE(life, lives) },
	{ PLAIN(seen_pid), .zero_is_null = true },
	{ PLAIN(is_held) },
	{ PLAIN(is_claimed) },
	{ PLAIN(is_stuck) },
	{ PLAIN(is_renewed) },
	{ PLAIN(mode_refused) },
	{ PLAIN(ring_refused) },
	{ PLAIN(is_on_behalf) },
	{ PLAIN(closed) },
	{ PLAIN(comm) },
	{ PLAIN(command) },
	{ TIME(started_ns) },
	{ TIME(as_of_ns) },
	{ ARRAY_OF(LOSSES, losses) },
	{ BYTES(lost) },
	{ BYTES(lost_texts) },
	{ BYTES(refused) },
	{ BYTES(frees_inherited) },
};
static const struct tdm_shape who_shape = { SHAPE(who_fields) };
#undef ROW

#define ROW tdm_note
static const struct tdm_shape_field note_fields[] = {
	{ AS(TEXT_OF, text) },
	{ PLAIN(is_remark) },
	{ PLAIN(value) },
};
static const struct tdm_shape note_shape = { SHAPE(note_fields) };
#undef ROW

#define ROW tdm_picture_process
static void init_process(void *process)
{
	*(struct tdm_picture_process *)process = (struct tdm_picture_process){ .uid = UINT32_MAX };
}

static const struct tdm_shape_field process_fields[] = {
	{ PLAIN(handle) },
	{ PLAIN(pid) },
	{ PLAIN(own_pid), .zero_is_null = true },
	{ BYTES(start_time) },
	{ PLAIN(uid) },
	{ PLAIN(user) },
	{ PLAIN(comm) },
	{ PLAIN(command) },
	{ REAL_TIME(started_ns) },
	{ CHOICE(life, lives) },
	{ PLAIN(is_foreign) },
	{ PLAIN(crashed) },
	{ PLAIN(replaced) },
	{ PLAIN(is_claimed) },
	{ PLAIN(in_container) },
	{ PLAIN(is_on_behalf) },
	{ TIME(as_of_ns) },
	{ NAMED(BITS, sources, froms) },
	{ PLAIN(phase) },
	{ BYTES(lost) },
	{ BYTES(faults) },
	{ BYTES(out_of_memory) },
	{ BYTES(refused) },
	{ INTO(POINTER, who, who_shape) },
	{ PLAIN(ledger) },
	{ COUNTED(LIST, notes, note_count, TDM_SHAPE_TOLD_MAX, note_shape) },
	{ PLAIN(notes_lost) },
};
static const struct tdm_shape process_shape = { SHAPE(process_fields), init_process };
#undef ROW

#define ROW tdm_counter
static const struct tdm_shape_field counter_fields[] = {
	{ FROM(from) },
	{ PLAIN(is_inexact) },
	{ PLAIN(is_estimated) },
	{ "used", TDM_MEMBER(struct ROW, reserved), .limit = ROW_SIZE(reserved), .range = TDM_SHAPE_BYTES },
	{ BYTES(peak) },
	{ TIME(peak_ns) },
	{ BYTES(occupied) },
	{ BYTES(asked) },
	{ BYTES(peak_asked) },
	{ BYTES(peak_bank) },
	{ BYTES(buffers) },
	{ BYTES(peak_buffers) },
	{ BYTES(allocs) },
	{ BYTES(adopted) },
	{ BYTES(double_frees) },
	{ BYTES(unknown_frees) },
	{ BYTES(rereports) },
	{ BYTES(out_of_memory) },
	{ BYTES(oom_bytes) },
};
static const struct tdm_shape counter_shape = { SHAPE(counter_fields) };
#undef ROW

#define ROW tdm_statistics
static const struct tdm_shape_field statistics_fields[] = {
	{ PLAIN(reports) },
	{ BYTES(allocated) },
	{ BYTES(free) },
	{ BYTES(largest) },
	{ BYTES(ours) },
	{ PLAIN(differing) },
	{ TIME(time_ns) },
};
static const struct tdm_shape statistics_shape = { SHAPE(statistics_fields) };
#undef ROW

#define ROW tdm_trace
static const struct tdm_shape_field trace_fields[] = {
	{ PLAIN(id) },
	{ TIME(began_ns) },
	{ TIME(ended_ns) },
	{ TIME(replayed_ns) },
	{ TIME(released_ns) },
	{ PLAIN(replays) },
	{ PLAIN(allocs) },
};
static const struct tdm_shape trace_shape = { SHAPE(trace_fields) };
#undef ROW

#define ROW tdm_hazard
static const char *const hazard_states[] = { "waits", "live", "freed" };
static const struct tdm_shape_field hazard_fields[] = {
	{ PLAIN(trace) },
	{ CHOICE(state, hazard_states) },
	{ CHOICE(kind, kinds) },
	{ PLAIN(count) },
	{ PLAIN(id) },
	{ PLAIN(address) },
	{ BYTES(asked) },
	{ BYTES(bank_bytes) },
	{ TIME(time_ns) },
	{ TIME(replayed_ns) },
	{ AS(TEXT_OF, name) },
	{ AS(TEXT_OF, program) },
	{ AS(STACK_OF, stack) },
	{ AS(STACK_OF, replay_stack) },
};
static const struct tdm_shape hazard_shape = { SHAPE(hazard_fields) };
#undef ROW

#define ROW tdm_clash
static const char *const clash_types[] = { "l1", "beyond", "unknown" };
static const struct tdm_shape_field clash_fields[] = {
	{ CHOICE(type, clash_types) },
	{ CHOICE(kind, kinds) },
	{ PLAIN(count) },
	{ ZERO(begin) },
	{ ZERO(end) },
	{ ZERO(limit) },
	{ TIME(time_ns) },
	{ ZERO(range_count) },
	{ PLAIN(x0) },
	{ PLAIN(y0) },
	{ PLAIN(x1) },
	{ PLAIN(y1) },
	{ AS(TEXT_OF, program) },
};
static const struct tdm_shape clash_shape = { SHAPE(clash_fields) };
#undef ROW

/* Members of a structure inside ROW. */
#define IN(part, member_) #member_, TDM_MEMBER(struct ROW, part.member_), .limit = ROW_SIZE(part.member_)
#define LIST_IN(part, member, count, most, shape_)                                                        \
#member, .type = TDM_SHAPE_LIST, .offset = offsetof(struct ROW, part.member), .shape = &(shape_), \
		 .count_offset = offsetof(struct ROW, part.count), .limit = (most)

#define ROW tdm_holding
static void init_holding(void *holding)
{
	tdm_holding_init(holding, TDM_INDEX_NONE, TDM_INDEX_NONE);
}

static const char *const openings[] = { "unknown", "open", "closed" };
static const struct tdm_shape_field holding_fields[] = {
	{ PLAIN(process) },
	{ PLAIN(device) },
	{ PLAIN(number) },
	{ PLAIN(own_number) },
	{ PLAIN(descriptors) },
	{ INTO(KINDS, kinds, counter_shape) },
	{ AS(BUFFERS, buffers) },
	{ IN(told, has_told) },
	{ "statistics", .type = TDM_SHAPE_KINDS, .offset = offsetof(struct ROW, told.statistics),
		.shape = &statistics_shape },
	{ LIST_IN(told, traces, trace_count, TDM_SHAPE_TOLD_MAX, trace_shape) },
	{ LIST_IN(told, hazards, hazard_count, TDM_SHAPE_TOLD_MAX, hazard_shape) },
	{ LIST_IN(told, clashes, clash_count, TDM_CLASH_TYPES, clash_shape) },
	{ IN(told, traces_lost) },
	{ IN(told, hazards_lost) },
	{ IN(told, left) },
	{ "life", .type = TDM_SHAPE_CHOICE, .member = TDM_MEMBER_U8, .offset = offsetof(struct ROW, told.life),
		.names = openings, .name_count = COUNT_OF(openings) },
};
const struct tdm_shape tdm_shape_holding = { SHAPE(holding_fields), init_holding };
#undef ROW

#define ROW tdm_picture_problem
static const struct tdm_shape_field problem_fields[] = {
	{ FROM(from) },
	{ PLAIN(err) },
	{ PLAIN(is_unread) },
	{ PLAIN(place) },
	{ PLAIN(text) },
};
static const struct tdm_shape problem_shape = { SHAPE(problem_fields) };
#undef ROW

#define ROW tdm_picture
static const struct tdm_shape_field picture_fields[] = {
	{ TIME(time_ns) },
	{ REAL_TIME(real_ns) },
	{ PLAIN(buffers_version) },
	{ BYTES(others) },
	{ PLAIN(ledgers_err) },
	{ COUNTED(LIST, devices, device_count, TDM_SHAPE_DEVICES_MAX, device_shape) },
	{ COUNTED(LIST, processes, process_count, TDM_SHAPE_PROCESSES_MAX, process_shape) },
	{ COUNTED(LIST, holdings, holding_count, TDM_SHAPE_HOLDINGS_MAX, tdm_shape_holding) },
	{ COUNTED(LIST, problems, problem_count, TDM_SHAPE_PROBLEMS_MAX, problem_shape) },
	{ "texts", .type = TDM_SHAPE_TEXTS },
	{ "stacks", .type = TDM_SHAPE_STACKS },
	{ "ranges", .type = TDM_SHAPE_RANGES },
};
const struct tdm_shape tdm_shape_picture = { SHAPE(picture_fields) };
#undef ROW
_Static_assert(sizeof(int) == sizeof(int32_t), "error codes are read as int32_t");

char *tdm_shape_parts(const struct tdm_shape_field *field, const char *structure, size_t *count)
{
	const char *at = structure + field->offset;
	char *first, *pointed = NULL;
	memcpy(&first, &at, sizeof first);
	*count = 0;
	if (field->shape == NULL)
		return NULL;
	if (field->type == TDM_SHAPE_POINTER || field->type == TDM_SHAPE_LIST)
		memcpy(&pointed, at, sizeof pointed);
	if (field->type == TDM_SHAPE_ARRAY)
		*count = *(const uint32_t *)(structure + field->count_offset);
	else if (field->type == TDM_SHAPE_LIST)
		*count = *(const size_t *)(structure + field->count_offset);
	else
		*count = field->type == TDM_SHAPE_KINDS     ? TDM_KIND_COUNT
			 : field->type == TDM_SHAPE_POINTER ? pointed != NULL
							    : 1;
	return pointed != NULL ? pointed : first;
}

void tdm_shape_walk(const struct tdm_shape *shape, char *structure,
	void (*each)(void *context, const struct tdm_shape_field *field, char *at), void *context)
{
	for (size_t i = 0; i < shape->field_count; i++) {
		const struct tdm_shape_field *field = &shape->fields[i];
		size_t count;
		char *parts = tdm_shape_parts(field, structure, &count);
		for (size_t k = 0; k < count; k++)
			tdm_shape_walk(field->shape, parts + k * field->shape->size, each, context);
		each(context, field, structure + field->offset);
	}
}

#define ROW tdm_buffer
static const struct tdm_shape_field columns[TDM_SHAPE_BUFFER_COLUMNS] = {
	{ PLAIN(id) },
	{ PLAIN(address) },
	{ PLAIN(asked_bytes) },
	{ PLAIN(bank_bytes) },
	{ PLAIN(flags) },
	{ PLAIN(page_size) },
	{ PLAIN(born_ns) },
	{ PLAIN(banks) },
	{ PLAIN(holding_banks) },
	{ PLAIN(cores) },
	{ PLAIN(thread) },
	{ PLAIN(name) },
	{ PLAIN(program) },
	{ PLAIN(stack) },
	{ PLAIN(ranges) },
};
#undef ROW

void tdm_shape_buffer_to_row(const struct tdm_buffer *buffer, uint64_t row[TDM_SHAPE_BUFFER_COLUMNS])
{
	for (size_t i = 0; i < TDM_SHAPE_BUFFER_COLUMNS; i++) {
		struct tdm_value value = tdm_member_get(columns[i].member, (const char *)buffer + columns[i].offset);
		bool is_known = value.type == TDM_VALUE_NUMBER && (i < TDM_SHAPE_BUFFER_ZEROS || value.number != 0);
		row[i] = is_known ? value.number : UINT64_MAX;
	}
}

bool tdm_shape_buffer_from_row(struct tdm_buffer *buffer, const uint64_t row[TDM_SHAPE_BUFFER_COLUMNS])
{
	bool is_right = true;
	*buffer = (struct tdm_buffer){ 0 };
	for (size_t i = 0; i < TDM_SHAPE_BUFFER_COLUMNS; i++) {
		bool is_zero = i >= TDM_SHAPE_BUFFER_ZEROS && row[i] == UINT64_MAX;
		struct tdm_value value = { .type = TDM_VALUE_NUMBER, .number = is_zero ? 0 : row[i] };
		is_right &= tdm_member_set(columns[i].member, (char *)buffer + columns[i].offset, 0, &value);
	}
	uint64_t banks = buffer->banks > buffer->holding_banks ? buffer->banks : buffer->holding_banks;
	if (buffer->bank_bytes != TDM_SIZE_UNKNOWN && banks != 0)
		is_right &= buffer->bank_bytes <= TDM_SHAPE_BYTES_MAX / banks;
	return is_right && buffer->asked_bytes <= TDM_SHAPE_BYTES_MAX;
}
