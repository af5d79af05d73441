#include "sources/metal_region.h"

#include <stdarg.h>
#include <stdio.h>

/* Offsets in the header, the same in all versions. */
enum {
	AT_VERSION = 0,
	AT_PROCESSES = 4,
	AT_UPDATED = 8,
	AT_ATTACHED = 16,
	AT_SERIAL = 24,
	AT_ASIC = 32,
	AT_DEVICE = 40,
	AT_TOTALS = 48,
	AT_INIT_STATE = 8536, /* version 4 */
};

/* Offsets in a chip's and in a process's slot; the counters have the same offset in both. */
enum { IN_CHIP = 0, IN_REMOTE = 4, IN_PID = 0, IN_COUNTERS = 8 };

enum { NAME_BYTES = 64 };
#define READY        UINT32_C(0x52454459)
#define CHIP_UNUSED  UINT32_MAX /* from version 2 on */
#define PID_RELEASES (-1)       /* version 4 */

/* 2020 and 2100: a writer's clock must be between them. */
#define TIME_MIN_NS  (UINT64_C(1577836800) * 1000000000)
#define TIME_MAX_NS  (UINT64_C(4102444800) * 1000000000)

/* Ids that do not belong to a chip. */
#define UNHEALTHY_HI UINT32_C(0xDEADDEAD)
#define SIMULATED    UINT64_C(0x5AA5000000000000)
enum { SIMULATED_MAX = 1 << 16 };

/* A layout: where its tables are. */
struct layout {
	size_t size;
	uint32_t kinds; /* number of counters in a row */
	size_t chips, chip_stride, slots, slot_stride;
};

static const uint8_t kind_order[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_L1_SMALL, TDM_KIND_TRACE, TDM_KIND_CB,
	TDM_KIND_KERNEL };
static const struct layout common_layout = { TDM_METAL_SIZE, 5, 88, 48, 856, 120 };
static const struct layout first_layout = { TDM_METAL_SIZE_V1, 6, 96, 56, 992, 128 };

_Static_assert(88 + 48 * TDM_METAL_CHIPS_MAX == 856 && 856 + 120 * TDM_METAL_SLOTS_MAX == AT_INIT_STATE, "one layout");
_Static_assert(96 + 56 * TDM_METAL_CHIPS_MAX == 992 && 992 + 128 * TDM_METAL_SLOTS_MAX <= TDM_METAL_SIZE_V1, "another");

static uint32_t u32_at(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t u64_at(const uint8_t *p)
{
	return u32_at(p) | (uint64_t)u32_at(p + 4) << 32;
}

static void doubt(struct tdm_metal_region *region, enum tdm_metal_doubt what)
{
	region->doubts |= UINT32_C(1) << what;
}

static void all_unknown(struct tdm_metal_bytes *bytes)
{
	for (unsigned i = 0; i < TDM_KIND_COUNT; i++)
		bytes->of[i] = TDM_BYTES_UNKNOWN;
}

void tdm_metal_set_status(struct tdm_metal_region *region, enum tdm_metal_status status, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(region->text, sizeof region->text, format, args);
	va_end(args);
	region->status = (uint8_t)status;
}

/* A row of counters. An impossible one is unknown. */
static void decode_bytes(
	struct tdm_metal_region *region, const struct layout *layout, const uint8_t *at, struct tdm_metal_bytes *bytes)
{
	all_unknown(bytes);
	for (uint32_t i = 0; i < layout->kinds; i++) {
		uint64_t value = u64_at(at + 8 * (size_t)i);
		if (value > TDM_METAL_BYTES_MAX)
			doubt(region, TDM_METAL_DOUBT_HUGE);
		else
			bytes->of[kind_order[i]] = value;
	}
}

static bool is_zero(const uint8_t *at, size_t len)
{
	/* The first byte is 0, and every other one equals the byte before it. */
	return len == 0 || (at[0] == 0 && memcmp(at, at + 1, len - 1) == 0);
}

static uint64_t decode_time(struct tdm_metal_region *region, const uint8_t *at)
{
	uint64_t ns = u64_at(at);
	if (ns == 0 || (ns >= TIME_MIN_NS && ns < TIME_MAX_NS))
		return ns;
	doubt(region, TDM_METAL_DOUBT_TIME);
	return 0;
}

static void decode_chips(struct tdm_metal_region *region, const struct layout *layout, const uint8_t *data)
{
	const size_t counters = 8 * (size_t)layout->kinds;
	for (size_t i = 0; i < TDM_METAL_CHIPS_MAX; i++) {
		const uint8_t *at = data + layout->chips + i * layout->chip_stride;
		uint32_t chip = u32_at(at + IN_CHIP), remote = u32_at(at + IN_REMOTE);
		bool empty = is_zero(at + IN_COUNTERS, counters);
		/* In version 1 unused slots have the number of the first chip, 0: only the counters distinguish them.
		 */
		if (region->version == 1 ? chip == 0 && empty : chip == CHIP_UNUSED) {
			if (!empty || remote != 0)
				doubt(region, TDM_METAL_DOUBT_CHIP);
			continue;
		}
		struct tdm_metal_chip *out = &region->chips[region->chip_count++];
		out->chip = chip;
		out->is_remote = remote != 0;
		if (remote > 1 || chip > INT32_MAX)
			doubt(region, TDM_METAL_DOUBT_CHIP);
		for (uint32_t k = 0; k + 1 < region->chip_count; k++)
			if (region->chips[k].chip == chip)
				doubt(region, TDM_METAL_DOUBT_CHIP);
		decode_bytes(region, layout, at + IN_COUNTERS, &out->bytes);
	}
}

/* Only the pid says whether a slot is in use; a free one keeps the name of its last owner. */
static bool is_slot_used(struct tdm_metal_region *region, const struct layout *layout, const uint8_t *at)
{
	const int32_t pid = (int32_t)u32_at(at + IN_PID);
	bool used = (pid > 0 && pid <= TDM_PID_MAX) || (pid == PID_RELEASES && region->version >= 4);
	if (pid == 0)
		region->free_slot_count++;
	if (pid == 0 && !is_zero(at + IN_COUNTERS, 8 * (size_t)layout->kinds))
		doubt(region, TDM_METAL_DOUBT_FREE_SLOT);
	if (pid != 0 && !used)
		doubt(region, TDM_METAL_DOUBT_PID);
	return used;
}

static void decode_slots(struct tdm_metal_region *region, const struct layout *layout, const uint8_t *data)
{
	const size_t updated = IN_COUNTERS + 8 * (size_t)layout->kinds, name = updated + 8;
	for (size_t i = 0; i < TDM_METAL_SLOTS_MAX; i++) {
		const uint8_t *at = data + layout->slots + i * layout->slot_stride;
		if (!is_slot_used(region, layout, at))
			continue;
		struct tdm_metal_slot *slot = &region->slots[region->slot_count++];
		*slot = (struct tdm_metal_slot){ .idx = (uint8_t)i, .pid = (int32_t)u32_at(at + IN_PID) };
		slot->facts.uid = TDM_UID_UNKNOWN;
		slot->life = TDM_PROC_UNKNOWN;
		if (slot->pid == PID_RELEASES) {
			slot->pid = 0;
			slot->releases = true;
		}
		slot->updated_ns = decode_time(region, at + updated);
		const char *text = (const char *)at + name;
		tdm_str_shown((struct tdm_str){ text, strnlen(text, NAME_BYTES) }, slot->hint, sizeof slot->hint);
		decode_bytes(region, layout, at + IN_COUNTERS, &slot->bytes);
		for (uint32_t k = 0; k + 1 < region->slot_count; k++)
			if (slot->pid != 0 && region->slots[k].pid == slot->pid)
				doubt(region, TDM_METAL_DOUBT_PID_TWICE);
	}
	if (region->processes != region->slot_count)
		doubt(region, TDM_METAL_DOUBT_PROCESS_COUNT);
}

static enum tdm_metal_id type_of_id(const struct tdm_metal_region *region)
{
	const uint64_t id = region->asic_id;
	if (id == region->device)
		return TDM_METAL_ID_LOGICAL;
	if (id >> 32 == UNHEALTHY_HI)
		return TDM_METAL_ID_UNHEALTHY;
	if (id >= SIMULATED && id - SIMULATED < SIMULATED_MAX)
		return TDM_METAL_ID_SIMULATED;
	if ((uint32_t)id == 0 && id >> 32 == region->device)
		return TDM_METAL_ID_SIMULATED;
	return region->version == 1 ? TDM_METAL_ID_BOARD : TDM_METAL_ID_CHIP;
}

static void decode_content(struct tdm_metal_region *region, const struct layout *layout, const uint8_t *data)
{
	region->has_content = true;
	for (uint32_t i = 0; i < layout->kinds; i++)
		region->counts |= UINT32_C(1) << kind_order[i];
	region->processes = u32_at(data + AT_PROCESSES);
	region->attached = u32_at(data + AT_ATTACHED);
	region->updated_ns = decode_time(region, data + AT_UPDATED);
	region->board_serial = u64_at(data + AT_SERIAL);
	region->asic_id = u64_at(data + AT_ASIC);
	region->device = u32_at(data + AT_DEVICE);
	region->id_type = (uint8_t)type_of_id(region);
	decode_bytes(region, layout, data + AT_TOTALS, &region->total);
	decode_chips(region, layout, data);
	decode_slots(region, layout, data);
	tdm_metal_set_status(region, TDM_METAL_OK, "version %u", region->version);
}

static void forget_content(struct tdm_metal_region *region)
{
	region->doubts = region->counts = 0;
	region->has_version = region->has_content = false;
	region->version = region->init_state = region->attached = region->processes = region->device = 0;
	region->asic_id = region->board_serial = region->updated_ns = 0;
	region->id_type = TDM_METAL_ID_UNKNOWN;
	region->free_slot_count = region->chip_count = region->slot_count = 0;
	struct tdm_metal_bytes *const sums[] = { &region->total, &region->live, &region->stale, &region->undecided,
		&region->unattributed, &region->excess };
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
		all_unknown(sums[i]);
}

/* The layout of a copy, or NULL with the status set. */
static const struct layout *find_layout(struct tdm_metal_region *region, const uint8_t *data, size_t len)
{
	const struct layout *layout = len == TDM_METAL_SIZE_V1 ? &first_layout : &common_layout;
	if (len == 0) {
		tdm_metal_set_status(region, TDM_METAL_NOT_READY, "the file is empty: it is being set up");
		return NULL;
	}
	if (len < sizeof region->version) {
		tdm_metal_set_status(region, TDM_METAL_LENGTH, "%zu bytes, too short for a version", len);
		return NULL;
	}
	region->has_version = true;
	region->version = u32_at(data + AT_VERSION);
	if (region->version == 0 && is_zero(data, len))
		tdm_metal_set_status(region, TDM_METAL_NOT_READY, "all bytes are 0: the file is being set up");
	else if (region->version == 0 || region->version > TDM_METAL_VERSION_MAX)
		tdm_metal_set_status(region, TDM_METAL_VERSION, "version %u is not known (1 to %d are)",
			region->version, TDM_METAL_VERSION_MAX);
	else if (len != layout->size || (layout == &first_layout && region->version != 1))
		tdm_metal_set_status(region, TDM_METAL_LENGTH, "%s%zu bytes, but version %u has %d",
			len >= TDM_METAL_COPY_CAP ? "at least " : "", len, region->version, TDM_METAL_SIZE);
	else
		return layout;
	return NULL;
}

void tdm_metal_region_init(struct tdm_metal_region *region)
{
	memset(region, 0, sizeof *region);
	forget_content(region);
	tdm_metal_set_status(region, TDM_METAL_NOT_READY, "not read yet");
}

void tdm_metal_decode(const uint8_t *data, size_t len, struct tdm_metal_region *region)
{
	forget_content(region);
	const struct layout *layout = find_layout(region, data, len);
	if (layout == NULL)
		return;
	if (region->version >= 4) {
		region->init_state = u32_at(data + AT_INIT_STATE);
		if (region->init_state != READY) {
			tdm_metal_set_status(region, TDM_METAL_NOT_READY,
				"version %u says that it is not ready (state 0x%x)", region->version,
				region->init_state);
			return;
		}
	}
	decode_content(region, layout, data);
	tdm_metal_sum(region);
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a == TDM_BYTES_UNKNOWN || b == TDM_BYTES_UNKNOWN ? TDM_BYTES_UNKNOWN : a + b;
}

/* The total of circular buffers is that of the process that wrote it last, so the sum of several may exceed it. */
static bool is_contradiction(const struct tdm_metal_region *region, unsigned kind)
{
	return kind != TDM_KIND_CB && region->excess.of[kind] != TDM_BYTES_UNKNOWN && region->excess.of[kind] != 0;
}

static void sum_kind(struct tdm_metal_region *region, unsigned kind)
{
	uint64_t sums[TDM_PROC_LIFE_COUNT] = { 0 }, slots = 0;
	const uint64_t total = region->total.of[kind];
	for (uint32_t i = 0; i < region->slot_count; i++) {
		const struct tdm_metal_slot *slot = &region->slots[i];
		sums[slot->life] = add(sums[slot->life], slot->bytes.of[kind]);
		slots = add(slots, slot->bytes.of[kind]);
	}
	region->live.of[kind] = add(sums[TDM_PROC_ALIVE], sums[TDM_PROC_OTHER_USER]);
	region->stale.of[kind] = sums[TDM_PROC_DEAD];
	region->undecided.of[kind] = sums[TDM_PROC_UNKNOWN];
	bool known = slots != TDM_BYTES_UNKNOWN && total != TDM_BYTES_UNKNOWN;
	region->unattributed.of[kind] = !known ? TDM_BYTES_UNKNOWN : total > slots ? total - slots : 0;
	region->excess.of[kind] = !known ? TDM_BYTES_UNKNOWN : slots > total ? slots - total : 0;
	if (is_contradiction(region, kind))
		doubt(region, TDM_METAL_DOUBT_SLOTS_EXCEED);
}

void tdm_metal_sum(struct tdm_metal_region *region)
{
	region->doubts &= ~(UINT32_C(1) << TDM_METAL_DOUBT_SLOTS_EXCEED);
	for (unsigned kind = 0; region->status == TDM_METAL_OK && kind < TDM_KIND_COUNT; kind++)
		if ((region->counts >> kind & 1) != 0)
			sum_kind(region, kind);
}

static bool are_bytes_valid(const struct tdm_metal_bytes *bytes, uint64_t max)
{
	for (unsigned i = 0; i < TDM_KIND_COUNT; i++)
		if (bytes->of[i] != TDM_BYTES_UNKNOWN && bytes->of[i] > max)
			return false;
	return true;
}

/* total + excess = live + stale + undecided + unattributed */
static bool are_sums_valid(const struct tdm_metal_region *region)
{
	for (unsigned i = 0; i < TDM_KIND_COUNT; i++) {
		uint64_t left = add(region->total.of[i], region->excess.of[i]);
		uint64_t right = add(add(region->live.of[i], region->stale.of[i]),
			add(region->undecided.of[i], region->unattributed.of[i]));
		if (left != right && left != TDM_BYTES_UNKNOWN && right != TDM_BYTES_UNKNOWN)
			return false;
		if (is_contradiction(region, i) && !tdm_metal_doubts(region, TDM_METAL_DOUBT_SLOTS_EXCEED))
			return false;
		if (region->excess.of[i] != TDM_BYTES_UNKNOWN && region->excess.of[i] != 0 &&
			region->unattributed.of[i] != 0)
			return false;
	}
	return true;
}

static bool is_empty(const struct tdm_metal_region *region)
{
	const struct tdm_metal_bytes *const sums[] = { &region->total, &region->live, &region->stale,
		&region->undecided, &region->unattributed, &region->excess };
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			if (sums[i]->of[k] != TDM_BYTES_UNKNOWN)
				return false;
	return region->chip_count == 0 && region->slot_count == 0 && region->doubts == 0 && region->counts == 0 &&
	       !region->has_content;
}

static bool is_slot_valid(const struct tdm_metal_slot *slot)
{
	return slot->life < TDM_PROC_LIFE_COUNT && slot->idx < TDM_METAL_SLOTS_MAX &&
	       (slot->releases ? slot->pid == 0 : slot->pid > 0 && slot->pid <= TDM_PID_MAX) &&
	       memchr(slot->hint, '\0', sizeof slot->hint) != NULL &&
	       are_bytes_valid(&slot->bytes, TDM_METAL_BYTES_MAX);
}

bool tdm_metal_region_is_valid(const struct tdm_metal_region *region)
{
	const uint64_t sum_max = TDM_METAL_BYTES_MAX * TDM_METAL_SLOTS_MAX;
	if (region->status >= TDM_METAL_STATUS_COUNT || region->text[0] == '\0' ||
		memchr(region->text, '\0', sizeof region->text) == NULL ||
		memchr(region->name, '\0', sizeof region->name) == NULL)
		return false;
	if (region->status != TDM_METAL_OK)
		return is_empty(region);
	if (!region->has_content || region->version == 0 || region->version > TDM_METAL_VERSION_MAX ||
		region->chip_count > TDM_METAL_CHIPS_MAX || region->slot_count > TDM_METAL_SLOTS_MAX ||
		region->doubts >> TDM_METAL_DOUBT_COUNT != 0)
		return false;
	for (uint32_t i = 0; i < region->chip_count; i++)
		if (!are_bytes_valid(&region->chips[i].bytes, TDM_METAL_BYTES_MAX))
			return false;
	for (uint32_t i = 0; i < region->slot_count; i++)
		if (!is_slot_valid(&region->slots[i]))
			return false;
	return are_bytes_valid(&region->total, TDM_METAL_BYTES_MAX) && are_bytes_valid(&region->live, sum_max) &&
	       are_bytes_valid(&region->stale, sum_max) && are_bytes_valid(&region->undecided, sum_max) &&
	       are_bytes_valid(&region->unattributed, TDM_METAL_BYTES_MAX) &&
	       are_bytes_valid(&region->excess, sum_max) && are_sums_valid(region);
}

static const char *const status_names[] = {
#define X(id, name, summary) name,
	TDM_METAL_STATUS_LIST(X)
#undef X
};

static const char *const doubt_texts[] = {
#define X(id, text) text,
	TDM_METAL_DOUBT_LIST(X)
#undef X
};

const char *tdm_metal_status_name(enum tdm_metal_status status)
{
	return status < TDM_METAL_STATUS_COUNT ? status_names[status] : "unknown";
}

const char *tdm_metal_doubt_text(enum tdm_metal_doubt what)
{
	return what < TDM_METAL_DOUBT_COUNT ? doubt_texts[what] : "unknown";
}
