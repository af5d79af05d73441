/*
 * What the runtime said about a device, and notes of the process: copied, checked, and only then used. A copy of one
 * moment has the same even numbers of changes before and after; a writer that was killed in a change leaves an odd one,
 * and what it wrote has to do.
 */
#include "ledger/reader_parts.h"
#include "base/number.h"

enum { TRIES = 16, FIRST_JUDGED = TDM_LEDGER_HAZARDS };
/* No figure of a real device reaches this, and sums of them fit 64 bits. */
#define BYTES_MAX (UINT64_C(1) << 56)

static int read_head(const struct tdm_ledger *ledger, uint64_t offset, struct tdm_ledger_runtime_head *head)
{
	return tdm_ledger_read(ledger, offset, head, sizeof *head);
}

/* The entries in use of a half of the hazards. */
static int read_half(const struct tdm_ledger *ledger, uint64_t offset, struct tdm_ledger_runtime *told, uint32_t first,
	uint32_t count)
{
	uint64_t at = offset + offsetof(struct tdm_ledger_runtime, hazards) + first * sizeof *told->hazards;
	size_t bytes = (size_t)tdm_min(count, TDM_LEDGER_HAZARDS) * sizeof *told->hazards;
	return bytes != 0 ? tdm_ledger_read(ledger, at, &told->hazards[first], bytes) : 0;
}

static int read_parts(const struct tdm_ledger *ledger, uint64_t offset, struct tdm_ledger_runtime *told)
{
	uint64_t at = offset + offsetof(struct tdm_ledger_runtime, statistics);
	size_t bytes = offsetof(struct tdm_ledger_runtime, traces) - offsetof(struct tdm_ledger_runtime, statistics) +
		       (size_t)tdm_min(told->head.trace_count, TDM_LEDGER_TRACES) * sizeof *told->traces;
	int err = tdm_ledger_read(ledger, at, told->statistics, bytes);
	if (err == 0)
		err = read_half(ledger, offset, told, 0, told->head.waiting_count);
	if (err == 0)
		err = read_half(ledger, offset, told, FIRST_JUDGED, told->head.judged_count);
	memset(told->clashes, 0, sizeof told->clashes);
	if (err != 0 || told->head.clash_types == 0 ||
		tdm_ledger_runtime_size(&ledger->header) < sizeof(struct tdm_ledger_runtime))
		return err;
	return tdm_ledger_read(
		ledger, offset + offsetof(struct tdm_ledger_runtime, clashes), told->clashes, sizeof told->clashes);
}

static bool is_whole(const struct tdm_ledger_runtime_head *before, const struct tdm_ledger_runtime_head *after)
{
	return before->changes == after->changes && before->hazard_changes == after->hazard_changes &&
	       before->changes % 2 == 0 && before->hazard_changes % 2 == 0;
}

static uint64_t limit(uint32_t *count, uint32_t most)
{
	bool is_bad = *count > most;
	*count = is_bad ? most : *count;
	return is_bad;
}

static bool statistics_are_valid(const struct tdm_ledger_statistics *s)
{
	return s->allocated < BYTES_MAX && s->free < BYTES_MAX && s->largest < BYTES_MAX && s->ours < BYTES_MAX &&
	       s->differing <= s->reports;
}

static bool hazard_is_valid(const struct tdm_ledger_hazard *hazard, bool waits)
{
	return hazard->kind < TDM_KIND_COUNT && hazard->state < TDM_HAZARD_STATES &&
	       (hazard->state == TDM_HAZARD_WAITS) == waits && hazard->asked < BYTES_MAX &&
	       hazard->bank_bytes < BYTES_MAX;
}

static bool clash_is_valid(const struct tdm_ledger_clash *clash, unsigned type)
{
	return clash->count != 0 && clash->kind < TDM_KIND_COUNT && clash->begin < BYTES_MAX &&
	       clash->end < BYTES_MAX && clash->begin <= clash->end &&
	       (type == TDM_CLASH_UNKNOWN || clash->limit < clash->end) && clash->range[0] <= clash->range[2] &&
	       clash->range[1] <= clash->range[3];
}

/* The same for clashes; an entry that is not in use has count 0 afterwards. */
static uint64_t check_clashes(struct tdm_ledger_runtime *told)
{
	uint64_t refused = told->head.clash_types >> TDM_CLASH_TYPES != 0;
	for (unsigned i = 0; i < TDM_CLASH_TYPES; i++) {
		bool is_used = (told->head.clash_types >> i & 1) != 0;
		bool is_bad = is_used && !clash_is_valid(&told->clashes[i], i);
		refused += is_bad;
		if (!is_used || is_bad)
			told->clashes[i] = (struct tdm_ledger_clash){ 0 };
	}
	return refused;
}

/* Removes what is impossible. Returns how much that was. */
static uint64_t check(struct tdm_ledger_runtime *told)
{
	struct tdm_ledger_runtime_head *head = &told->head;
	uint64_t refused = limit(&head->trace_count, TDM_LEDGER_TRACES) +
			   limit(&head->waiting_count, TDM_LEDGER_HAZARDS) +
			   limit(&head->judged_count, TDM_LEDGER_HAZARDS) + (head->life > TDM_STEP_CLOSED);
	head->life = (uint16_t)tdm_min(head->life, TDM_STEP_CLOSED);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		if (!statistics_are_valid(&told->statistics[k])) {
			told->statistics[k] = (struct tdm_ledger_statistics){ 0 };
			refused++;
		}
	for (uint32_t i = 0; i < 2 * TDM_LEDGER_HAZARDS; i++) {
		bool waits = i < FIRST_JUDGED;
		bool is_used = (waits ? i < head->waiting_count : i - FIRST_JUDGED < head->judged_count) &&
			       told->hazards[i].count != 0;
		bool is_bad = is_used && !hazard_is_valid(&told->hazards[i], waits);
		refused += is_bad;
		if (!is_used || is_bad)
			told->hazards[i] = (struct tdm_ledger_hazard){ 0 };
	}
	return refused;
}

bool tdm_ledger_has_told(const struct tdm_ledger *ledger, size_t device)
{
	return device < ledger->device_count && ledger->places[device].runtime_offset != 0;
}

int tdm_ledger_told(struct tdm_ledger *ledger, size_t device, const struct tdm_ledger_runtime_head *seen,
	struct tdm_ledger_runtime *told)
{
	struct tdm_ledger_runtime_head later;
	if (!tdm_ledger_has_told(ledger, device))
		return 0;
	struct tdm_ledger_place *place = &ledger->places[device];
	int err = read_head(ledger, place->runtime_offset, &told->head);
	if (err != 0 || memcmp(&told->head, seen, sizeof *seen) == 0)
		return err;
	for (int i = 0; i < TRIES; i++) {
		err = read_parts(ledger, place->runtime_offset, told);
		if (err == 0)
			err = read_head(ledger, place->runtime_offset, &later);
		if (err != 0)
			return err;
		if (is_whole(&told->head, &later))
			break;
		told->head = later;
	}
	place->refused_told = check(told) + check_clashes(told);
	return 1;
}

int tdm_ledger_notes(struct tdm_ledger *ledger, struct tdm_ledger_notes *notes)
{
	if (ledger->header.notes_offset == 0)
		return 0;
	int err = tdm_ledger_read(ledger, ledger->header.notes_offset, notes, sizeof *notes);
	if (err != 0)
		return err;
	ledger->refused_notes = notes->remark_count > TDM_LEDGER_NOTE_REMARKS;
	notes->remark_count = tdm_min(notes->remark_count, TDM_LEDGER_NOTE_REMARKS);
	return 1;
}
