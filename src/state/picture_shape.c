#include "state/picture_shape.h"

static const char *const froms[] = {
#define X(id, name) name,
	TDM_FROM_LIST(X)
#undef X
};
static const char *const lives[] = { "unknown", "running", "ended" };

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* Each table defines ROW, the structure that its members are of. */
#define PLAIN(member) \
#member, .type = _Generic(&((struct ROW *)NULL)->member, \
		bool *: TDM_SHAPE_BOOL,            \
		uint32_t *: TDM_SHAPE_U32,         \
		int32_t *: TDM_SHAPE_I32,          \
		uint64_t *: TDM_SHAPE_BYTES,       \
		const char **: TDM_SHAPE_TEXT),    \
	.offset = offsetof(struct ROW, member)
#define AS(kind, member)           #member, .type = TDM_SHAPE_##kind, .offset = offsetof(struct ROW, member)
#define ZERO(member)               PLAIN(member), .zero_is_null = true
#define TIME(member)               AS(TIME, member), .zero_is_null = true
#define INDEX(member)              AS(I32, member), .negative_is_null = true
#define CHARS(member)              AS(CHARS, member), .limit = sizeof(((struct ROW *)NULL)->member)
#define NAMED(kind, member, list)  AS(kind, member), .names = (list), .name_count = COUNT_OF(list)
#define FROM(member)               NAMED(CHOICE, member, froms)
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
	{ PLAIN(used) },
	{ PLAIN(total) },
	{ PLAIN(free) },
	{ PLAIN(largest_free) },
	{ PLAIN(peak) },
	{ PLAIN(asked) },
	{ PLAIN(buffers) },
	{ PLAIN(unattributed) },
	{ PLAIN(stale) },
	{ ZERO(banks) },
	{ PLAIN(base) },
	{ ZERO(bank_bytes) },
	{ PLAIN(allocs) },
	{ PLAIN(out_of_memory) },
	{ FROM(rival_from) },
	{ PLAIN(rival_used) },
	{ PLAIN(rival_processes) },
	{ PLAIN(rival_bytes) },
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
	{ NAMED(CHOICE, kind, kinds) },
	{ PLAIN(banks) },
	{ PLAIN(base) },
	{ PLAIN(bank_size) },
	{ ZERO(align) },
};
static const struct tdm_shape region_shape = { SHAPE(region_fields) };
#undef ROW

#define ROW tdm_device_info
static const struct tdm_shape_field info_fields[] = {
	{ PLAIN(has_chip_id) },
	{ PLAIN(is_virtual) },
	{ AS(U64, chip_id) },
	{ CHARS(card) },
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
	{ AS(U64, key) },
	{ PLAIN(has_chip_id) },
	{ PLAIN(is_virtual) },
	{ PLAIN(is_board) },
	{ AS(U64, chip_id) },
	{ INDEX(number) },
	{ PLAIN(place) },
	{ INDEX(node) },
	{ CHARS(pci) },
	{ CHARS(card) },
	{ CHARS(arch) },
	{ FROM(card_from) },
	{ ZERO(grid_x) },
	{ ZERO(grid_y) },
	{ NAMED(BITS, sources, froms) },
	{ PLAIN(process_count) },
	{ INTO(POINTER, info, info_shape) },
	{ TIME(updated_ns) },
	{ INTO(OBJECT, telemetry, telemetry_shape) },
	{ INTO(KINDS, kinds, kind_shape) },
	{ PLAIN(l1_peak) },
	{ PLAIN(l1_core) },
	{ PLAIN(l1_lowest) },
	{ PLAIN(cb_highest) },
	{ TIME(space_ns) },
	{ PLAIN(space_is_old) },
	{ COUNTED(ARRAY, chips, chip_count, TDM_PICTURE_CHIPS_MAX, chip_shape) },
};
static const struct tdm_shape device_shape = { SHAPE(device_fields), init_device };
#undef ROW

#define ROW tdm_process
static const struct tdm_shape_field who_fields[] = {
	{ AS(HEX, boot_id), .limit = 16 },
	{ AS(U64, pid_namespace) },
	{ PLAIN(pid) },
	{ PLAIN(start_time) },
	{ PLAIN(generation) },
	{ PLAIN(uid) },
	{ NAMED(CHOICE, life, lives) },
	{ PLAIN(seen_pid), .zero_is_null = true },
	{ PLAIN(is_held) },
	{ PLAIN(is_claimed) },
	{ PLAIN(is_stuck) },
	{ PLAIN(is_renewed) },
	{ PLAIN(mode_refused) },
	{ PLAIN(ring_refused) },
	{ PLAIN(is_on_behalf) },
	{ PLAIN(closed) },
	{ CHARS(comm) },
	{ CHARS(command) },
	{ TIME(started_ns) },
	{ TIME(as_of_ns) },
	{ AS(LOSSES, losses), .limit = TDM_LOSS_COUNT },
	{ PLAIN(lost) },
	{ PLAIN(lost_texts) },
	{ PLAIN(refused) },
	{ PLAIN(frees_inherited) },
};
static const struct tdm_shape who_shape = { SHAPE(who_fields) };
#undef ROW

#define ROW tdm_picture_note
static const struct tdm_shape_field note_fields[] = {
	{ AS(TEXT_OF, text) },
	{ PLAIN(is_remark) },
	{ AS(U64, value) },
};
static const struct tdm_shape note_shape = { SHAPE(note_fields) };
#undef ROW

#define ROW tdm_picture_process
static void init_process(void *process)
{
	*(struct tdm_picture_process *)process = (struct tdm_picture_process){ .uid = UINT32_MAX };
}

static const struct tdm_shape_field process_fields[] = {
	{ AS(U64, handle) },
	{ PLAIN(pid) },
	{ PLAIN(own_pid), .zero_is_null = true },
	{ PLAIN(start_time) },
	{ PLAIN(uid) },
	{ CHARS(user) },
	{ CHARS(comm) },
	{ CHARS(command) },
	{ TIME(started_ns) },
	{ NAMED(CHOICE, life, lives) },
	{ PLAIN(is_foreign) },
	{ PLAIN(crashed) },
	{ PLAIN(replaced) },
	{ PLAIN(is_claimed) },
	{ PLAIN(in_container) },
	{ PLAIN(is_on_behalf) },
	{ TIME(as_of_ns) },
	{ NAMED(BITS, sources, froms) },
	{ CHARS(phase) },
	{ PLAIN(lost) },
	{ PLAIN(faults) },
	{ PLAIN(out_of_memory) },
	{ PLAIN(refused) },
	{ INTO(POINTER, who, who_shape) },
	{ PLAIN(ledger) },
	{ COUNTED(LIST, notes, note_count, TDM_SHAPE_TOLD_MAX, note_shape) },
	{ AS(U64, notes_lost) },
};
static const struct tdm_shape process_shape = { SHAPE(process_fields), init_process };
#undef ROW

#define ROW tdm_picture_amount
static const struct tdm_shape_field amount_fields[] = {
	{ FROM(from) },
	{ PLAIN(is_inexact) },
	{ PLAIN(is_estimated) },
	{ PLAIN(used) },
	{ PLAIN(peak) },
	{ TIME(peak_ns) },
	{ PLAIN(occupied) },
	{ PLAIN(asked) },
	{ PLAIN(peak_asked) },
	{ PLAIN(peak_bank) },
	{ PLAIN(buffers) },
	{ PLAIN(peak_buffers) },
	{ PLAIN(allocs) },
	{ PLAIN(adopted) },
	{ PLAIN(double_frees) },
	{ PLAIN(unknown_frees) },
	{ PLAIN(rereports) },
	{ PLAIN(out_of_memory) },
	{ PLAIN(oom_bytes) },
};
static const struct tdm_shape amount_shape = { SHAPE(amount_fields) };
#undef ROW

#define ROW tdm_statistics
static const struct tdm_shape_field statistics_fields[] = {
	{ AS(U64, reports) },
	{ PLAIN(allocated) },
	{ PLAIN(free) },
	{ PLAIN(largest) },
	{ PLAIN(ours) },
	{ AS(U64, differing) },
	{ TIME(time_ns) },
};
static const struct tdm_shape statistics_shape = { SHAPE(statistics_fields) };
#undef ROW

#define ROW tdm_trace
static const struct tdm_shape_field trace_fields[] = {
	{ AS(U64, id) },
	{ TIME(began_ns) },
	{ TIME(ended_ns) },
	{ TIME(replayed_ns) },
	{ TIME(released_ns) },
	{ AS(U64, replays) },
	{ AS(U64, allocs) },
};
static const struct tdm_shape trace_shape = { SHAPE(trace_fields) };
#undef ROW

#define ROW tdm_picture_hazard
static const char *const hazard_states[] = { "waits", "live", "freed" };
static const struct tdm_shape_field hazard_fields[] = {
	{ AS(U64, trace) },
	{ NAMED(CHOICE, state, hazard_states) },
	{ NAMED(CHOICE, kind, kinds) },
	{ AS(U64, count) },
	{ AS(U64, id) },
	{ AS(U64, address) },
	{ PLAIN(asked) },
	{ PLAIN(bank_bytes) },
	{ TIME(time_ns) },
	{ TIME(replayed_ns) },
	{ AS(TEXT_OF, name) },
	{ AS(TEXT_OF, program) },
	{ AS(STACK_OF, stack) },
	{ AS(STACK_OF, replay_stack) },
};
static const struct tdm_shape hazard_shape = { SHAPE(hazard_fields) };
#undef ROW

#define ROW tdm_picture_clash
static const char *const clash_types[] = { "l1", "beyond", "unknown" };
static const struct tdm_shape_field clash_fields[] = {
	{ NAMED(CHOICE, type, clash_types) },
	{ NAMED(CHOICE, kind, kinds) },
	{ AS(U64, count) },
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
	{ INTO(KINDS, kinds, amount_shape) },
	{ AS(BUFFERS, buffers) },
	{ PLAIN(has_told) },
	{ INTO(KINDS, statistics, statistics_shape) },
	{ COUNTED(LIST, traces, trace_count, TDM_SHAPE_TOLD_MAX, trace_shape) },
	{ COUNTED(LIST, hazards, hazard_count, TDM_SHAPE_TOLD_MAX, hazard_shape) },
	{ COUNTED(LIST, clashes, clash_count, TDM_CLASH_TYPES, clash_shape) },
	{ AS(U64, traces_lost) },
	{ AS(U64, hazards_lost) },
	{ AS(U64, left) },
	{ NAMED(CHOICE, life, openings) },
};
const struct tdm_shape tdm_shape_holding = { SHAPE(holding_fields), init_holding };
#undef ROW

#define ROW tdm_picture_problem
static const struct tdm_shape_field problem_fields[] = {
	{ FROM(from) },
	{ AS(I32, err) },
	{ PLAIN(is_unread) },
	{ CHARS(place) },
	{ CHARS(text) },
};
static const struct tdm_shape problem_shape = { SHAPE(problem_fields) };
#undef ROW

#define ROW tdm_picture
static const struct tdm_shape_field picture_fields[] = {
	{ TIME(time_ns) },
	{ TIME(real_ns) },
	{ AS(U64, buffers_version) },
	{ PLAIN(others) },
	{ AS(I32, ledgers_err) },
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

void tdm_shape_buffer_to_row(const struct tdm_buffer *b, uint64_t row[TDM_SHAPE_BUFFER_COLUMNS])
{
	const uint64_t numbers[TDM_SHAPE_BUFFER_COLUMNS] = { b->id, b->address, b->asked_bytes, b->bank_bytes, b->flags,
		b->page_size, b->born_ns, b->banks, b->holding_banks, b->cores, b->thread, b->name, b->program,
		b->stack, b->ranges };
	for (size_t i = 0; i < TDM_SHAPE_BUFFER_COLUMNS; i++)
		row[i] = i >= TDM_SHAPE_BUFFER_ZEROS && numbers[i] == 0 ? UINT64_MAX : numbers[i];
}

/* 0 for null; sets *is_wrong if it does not fit 32 bits. */
static uint32_t narrow(uint64_t number, bool *is_wrong)
{
	if (number == UINT64_MAX)
		return 0;
	*is_wrong |= number > UINT32_MAX;
	return (uint32_t)number;
}

static uint64_t or_zero(uint64_t number)
{
	return number != UINT64_MAX ? number : 0;
}

bool tdm_shape_buffer_from_row(struct tdm_buffer *b, const uint64_t row[TDM_SHAPE_BUFFER_COLUMNS])
{
	bool is_wrong = row[2] > TDM_SHAPE_BYTES_MAX || row[4] > UINT16_MAX;
	*b = (struct tdm_buffer){ .id = row[0],
		.address = row[1],
		.asked_bytes = row[2],
		.bank_bytes = row[3],
		.flags = (uint16_t)row[4],
		.page_size = or_zero(row[5]),
		.born_ns = or_zero(row[6]),
		.banks = narrow(row[7], &is_wrong),
		.holding_banks = narrow(row[8], &is_wrong),
		.cores = narrow(row[9], &is_wrong),
		.thread = narrow(row[10], &is_wrong),
		.name = narrow(row[11], &is_wrong),
		.program = narrow(row[12], &is_wrong),
		.stack = narrow(row[13], &is_wrong),
		.ranges = narrow(row[14], &is_wrong) };
	uint64_t banks = b->banks > b->holding_banks ? b->banks : b->holding_banks;
	if (b->bank_bytes != TDM_SIZE_UNKNOWN && banks != 0)
		is_wrong |= b->bank_bytes > TDM_SHAPE_BYTES_MAX / banks;
	return !is_wrong;
}
