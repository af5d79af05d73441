/*
 * Decides which devices and processes of the sources are the same, and collects the memory that each process has on
 * each device, source by source.
 *
 * Devices are joined by chip id. Only ledgers are also joined by number, because two programs on one machine that know
 * only a number mean the same card by it. Cards come first, sorted by node; other devices follow, sorted by number;
 * boards come last.
 *
 * Processes are joined by pid, as this process sees it, and start time. A pid alone may have been reused and joins
 * nothing.
 */
#include "live/join/join.h"
#include "live/join/state.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * ---- chips whose card is not known ----
 *
 * The driver does not know the ids of chips linked by Ethernet, so their regions cannot be joined with a card, and
 * nothing is joined by guesswork. But if all cards are of one type, each chip is on a card of that type and has that
 * type's capacities. The cards themselves are then boards, not devices, because their chips are already listed.
 */

/* The common type of all cards; NULL if they differ, or one is unknown. */
static const char *common_type(struct tdm_state *state)
{
	const char *board = NULL;
	if (state->host.cut_cards != 0)
		return NULL;
	for (size_t i = 0; i < state->host.card_count; i++) {
		const struct tdm_host_value *type = &state->host.cards[i].values[TDM_HOST_CARD_TYPE];
		const struct tdm_model *model =
			type->state == TDM_HOST_KNOWN ? tdm_state_model(state, type->text) : NULL;
		if (model == NULL || !model->is_known || (board != NULL && strcmp(board, model->board) != 0))
			return NULL;
		board = model->board;
	}
	return board;
}

/* Whether a device is a chip of a card that is not known. */
static bool is_apart(const struct tdm_state *state, const struct tdm_picture_device *device)
{
	if (device->region == UINT32_MAX || device->host_card != UINT32_MAX)
		return false;
	const struct tdm_metal_region *region = &state->metal.now.regions[device->region];
	return region->status == TDM_METAL_OK && region->id_type != TDM_METAL_ID_SIMULATED &&
	       region->id_type != TDM_METAL_ID_UNKNOWN;
}

/* A step of joining: gives chips whose card is not known the common card type, and marks boards. */
static void set_card_type(struct tdm_state *state)
{
	struct tdm_picture *picture = &state->picture;
	bool any = false;
	picture->board_count = 0;
	for (size_t i = 0; i < picture->device_count; i++)
		any = any || is_apart(state, &picture->devices[i]);
	const char *name = any ? common_type(state) : NULL;
	for (size_t i = 0; i < picture->device_count && name != NULL; i++) {
		struct tdm_picture_device *device = &picture->devices[i];
		if (device->card[0] == '\0' && is_apart(state, device)) {
			snprintf(device->card, sizeof device->card, "%s", name);
			device->card_from = TDM_FROM_CARD_TYPE;
		}
		device->is_board = device->sources == UINT32_C(1) << TDM_FROM_DRIVER;
		picture->board_count += device->is_board;
	}
}

/* ---- devices ---- */

/* Part of a device's key: the meaning of its number, so that equal numbers with different meanings are different
 * devices. */
enum known_by { BY_CARD = 1, BY_CHIP, BY_NUMBER, BY_VIRTUAL, BY_REGION };

/* In by_chip: two cards report the same id, so it identifies neither. */
#define AMBIGUOUS (UINT32_MAX - 1)

static uint64_t key_of(enum known_by by, uint64_t id)
{
	return (tdm_hash_u64(id) ^ tdm_hash_u64((uint64_t)by << 56)) | 1; /* never 0 */
}

/* Adds a device at the end. Returns its index, or UINT32_MAX if there are too many. */
static uint32_t add_device(struct tdm_state *state, uint64_t key)
{
	size_t at = state->picture.device_count;
	if (at == TDM_STATE_DEVICES_MAX) {
		state->devices_cut++;
		return UINT32_MAX;
	}
	tdm_grow(&state->picture.devices, &state->device_cap, at + 1, sizeof *state->picture.devices);
	tdm_picture_device_init(&state->picture.devices[at]);
	state->picture.devices[at].key = key;
	state->picture.device_count = at + 1;
	return (uint32_t)at;
}

static struct tdm_reading reading_of(const struct tdm_host_card *card, enum tdm_host_value_id which)
{
	const struct tdm_host_value *value = &card->values[which];
	return (struct tdm_reading){
		.is_known = value->state == TDM_HOST_KNOWN,
		.err = value->state == TDM_HOST_ERROR ? value->err : 0,
		.value = value->state == TDM_HOST_KNOWN ? value->number : 0,
	};
}

static void add_card(struct tdm_state *state, uint32_t i)
{
	static const char *const archs[] = {
		[TDM_HOST_ARCH_UNKNOWN] = "", [TDM_HOST_WORMHOLE] = "Wormhole", [TDM_HOST_BLACKHOLE] = "Blackhole"
	};
	/* In the order of the members of struct tdm_picture_telemetry. */
	static const uint8_t readings[] = { TDM_HOST_TEMP, TDM_HOST_TEMP_MAX, TDM_HOST_POWER, TDM_HOST_POWER_MAX,
		TDM_HOST_AICLK, TDM_HOST_VOLTAGE, TDM_HOST_VOLTAGE_MAX, TDM_HOST_CURRENT, TDM_HOST_CURRENT_MAX,
		TDM_HOST_FAN, TDM_HOST_HEARTBEAT };
	enum { READINGS = sizeof readings / sizeof *readings };
	const struct tdm_host_card *card = &state->host.cards[i];
	uint64_t ids[TDM_HOST_CHIP_IDS_MAX];
	bool is_first_own;
	uint32_t at = add_device(state, key_of(BY_CARD, card->number));
	if (at == UINT32_MAX)
		return;
	struct tdm_picture_device *device = &state->picture.devices[at];
	device->node = (int32_t)card->number;
	device->host_card = i;
	device->sources = UINT32_C(1) << TDM_FROM_DRIVER;
	snprintf(device->pci, sizeof device->pci, "%s", card->pci);
	snprintf(device->arch, sizeof device->arch, "%s", archs[card->arch]);
	/* The driver reports "unknown" for a card that is not in its table. Another source may know the card's name. */
	const struct tdm_host_value *type = &card->values[TDM_HOST_CARD_TYPE];
	if (type->state == TDM_HOST_KNOWN && strcmp(type->text, "unknown") != 0) {
		tdm_str_shown(tdm_str_of(type->text), device->card, sizeof device->card);
		device->card_from = TDM_FROM_DRIVER;
	}
	static_assert(sizeof device->telemetry == READINGS * sizeof(struct tdm_reading), "each member is there");
	struct tdm_reading list[READINGS];
	for (size_t k = 0; k < READINGS; k++)
		list[k] = reading_of(card, (enum tdm_host_value_id)readings[k]);
	memcpy(&device->telemetry, list, sizeof list);
	size_t count = tdm_host_chip_ids(card, ids, &is_first_own);
	/* An id derived from the serial number also joins, but is shown only once a program has confirmed it. */
	if (is_first_own) {
		device->has_chip_id = true;
		device->chip_id = ids[0];
	}
	for (size_t k = 0; k < count; k++) {
		uint32_t owner = tdm_map_find(&state->by_chip, ids[k]);
		if (owner != at)
			tdm_map_set(&state->by_chip, ids[k], owner == TDM_MAP_NONE ? at : AMBIGUOUS);
	}
}

/* The device with this chip id, added if it is new. */
static uint32_t find_chip(struct tdm_state *state, uint64_t id)
{
	uint32_t at = tdm_map_find(&state->by_chip, id);
	if (at == AMBIGUOUS) { /* the chip may be on either of two cards, so it becomes a separate device */
		uint64_t key = key_of(BY_CHIP, id);
		for (size_t i = 0; i < state->picture.device_count; i++)
			if (state->picture.devices[i].key == key)
				return (uint32_t)i;
		at = add_device(state, key);
	} else if (at == TDM_MAP_NONE) {
		at = add_device(state, key_of(BY_CHIP, id));
		if (at != UINT32_MAX)
			tdm_map_set(&state->by_chip, id, at);
	}
	if (at != UINT32_MAX) {
		state->picture.devices[at].has_chip_id = true;
		state->picture.devices[at].chip_id = id;
	}
	return at;
}

static void add_region(struct tdm_state *state, uint32_t i, bool readable)
{
	const struct tdm_metal_region *region = &state->metal.now.regions[i];
	uint32_t at = UINT32_MAX;
	if ((region->status == TDM_METAL_OK) != readable)
		return;
	/* An unreadable region is a problem. It is also a device, if no other source shows the device. */
	if (!readable && (state->host.card_count != 0 || !region->has_name_id || region->status == TDM_METAL_VANISHED ||
				 region->status == TDM_METAL_NOT_A_FILE ||
				 tdm_map_find(&state->by_chip, region->name_id) != TDM_MAP_NONE))
		return;
	if (readable && region->id_type == TDM_METAL_ID_CHIP)
		at = find_chip(state, region->asic_id);
	/* A second region of the same chip is damaged or forged: keep it apart. */
	if (at == UINT32_MAX || state->picture.devices[at].region != UINT32_MAX)
		at = add_device(state, key_of(BY_REGION, tdm_str_hash(tdm_str_of(region->name))));
	if (at == UINT32_MAX)
		return;
	struct tdm_picture_device *device = &state->picture.devices[at];
	device->region = i;
	device->sources |= UINT32_C(1) << TDM_FROM_METAL_SHM;
	if (!readable)
		return;
	static_assert((int)TDM_PICTURE_CHIPS_MAX == (int)TDM_METAL_CHIPS_MAX, "every chip of a region has room");
	device->updated_ns = region->updated_ns;
	device->chip_count = region->chip_count;
	for (uint32_t k = 0; k < region->chip_count; k++) {
		device->chips[k].chip = region->chips[k].chip;
		device->chips[k].is_remote = region->chips[k].is_remote;
		memcpy(device->chips[k].bytes, region->chips[k].bytes.of, sizeof device->chips[k].bytes);
	}
}

/* The device that a program's holding refers to; added only if `may_add`. */
static uint32_t find_holding(struct tdm_state *state, const struct tdm_fold_holding *holding, bool may_add)
{
	bool is_virtual = (holding->number & TDM_DEVICE_VIRTUAL_BIT) != 0;
	bool has_chip = !is_virtual && holding->has_info && holding->info.has_chip_id;
	if (has_chip && may_add)
		return find_chip(state, holding->info.chip_id);
	uint32_t at = has_chip ? tdm_map_find(&state->by_chip, holding->info.chip_id)
			       : tdm_map_find(&state->by_number, holding->number);
	if (!may_add)
		return at != TDM_MAP_NONE && at != AMBIGUOUS ? at : UINT32_MAX;
	if (at != TDM_MAP_NONE)
		return at;
	at = add_device(state, key_of(is_virtual ? BY_VIRTUAL : BY_NUMBER, holding->number));
	if (at == UINT32_MAX)
		return at;
	tdm_map_set(&state->by_number, holding->number, at);
	state->picture.devices[at].is_virtual = is_virtual;
	return at;
}

/*
 * Programs may use different numbers for a device. The lowest number is as good as any other, and every command chooses
 * the same number.
 */
static void use_number(struct tdm_picture_device *device, uint32_t number)
{
	if (number <= INT32_MAX && (device->number < 0 || (int32_t)number < device->number))
		device->number = (int32_t)number;
}

static void describe_device(struct tdm_picture_device *device, const struct tdm_fold_holding *holding)
{
	const struct tdm_device_info *info = &holding->info;
	device->sources |= UINT32_C(1) << TDM_FROM_LEDGER;
	use_number(device, holding->number & ~TDM_DEVICE_VIRTUAL_BIT);
	if (!holding->has_info)
		return;
	if (device->card[0] == '\0' && info->card[0] != '\0') {
		tdm_str_shown(tdm_str_of(info->card), device->card, sizeof device->card);
		device->card_from = TDM_FROM_LEDGER;
	}
	if (device->grid_x == 0 || device->grid_y == 0) {
		device->grid_x = info->grid_x;
		device->grid_y = info->grid_y;
	}
	if (device->info == NULL || (device->info->region_count == 0 && info->region_count != 0))
		device->info = info;
}

bool tdm_state_lists(const struct tdm_state *state, const struct tdm_fold_process *process)
{
	return tdm_fold_runs(process) || state->options->with_ended ||
	       (state->options->with_crashed && !process->who.closed);
}

/*
 * Adds the devices of a process. An ended process adds no device unless the process is listed; it only joins known
 * devices.
 */
static void add_process(struct tdm_state *state, const struct tdm_fold_process *process, bool runs)
{
	bool may_add = tdm_state_lists(state, process);
	if (tdm_fold_runs(process) != runs)
		return;
	for (size_t i = 0; i < process->holding_count; i++) {
		struct tdm_fold_holding *holding = process->holdings[i];
		holding->device = find_holding(state, holding, may_add);
		if (holding->device == UINT32_MAX)
			continue;
		holding->key = state->picture.devices[holding->device].key;
		if (may_add)
			describe_device(&state->picture.devices[holding->device], holding);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct tdm_picture_device *x = a, *y = b;
	bool is_card = x->host_card != UINT32_MAX;
	uint32_t m = (uint32_t)x->number, n = (uint32_t)y->number; /* unknown numbers last */
	if (x->is_board != y->is_board)
		return x->is_board ? 1 : -1;
	if (is_card != (y->host_card != UINT32_MAX))
		return is_card ? -1 : 1;
	if (is_card)
		return tdm_order(x->host_card, y->host_card);
	if (x->is_virtual != y->is_virtual)
		return x->is_virtual ? 1 : -1;
	if (m != n)
		return m < n ? -1 : 1;
	if (x->has_chip_id != y->has_chip_id)
		return x->has_chip_id ? -1 : 1;
	int order = tdm_order(x->chip_id, y->chip_id);
	return order != 0 ? order : tdm_order(x->key, y->key);
}

/* Sorts the devices. Meanwhile `process_count`, which is set later, holds each device's old index. */
static void sort_devices(struct tdm_state *state)
{
	struct tdm_picture_device *devices = state->picture.devices;
	size_t count = state->picture.device_count;
	bool sorted = true;
	for (size_t i = 1; i < count; i++)
		sorted = sorted && by_place(&devices[i - 1], &devices[i]) <= 0;
	if (sorted)
		return;
	uint32_t *now = tdm_alloc(count * sizeof *now);
	for (size_t i = 0; i < count; i++)
		devices[i].process_count = (uint32_t)i;
	qsort(devices, count, sizeof *devices, by_place);
	for (size_t i = 0; i < count; i++) {
		now[devices[i].process_count] = (uint32_t)i;
		devices[i].process_count = 0;
	}
	for (size_t p = 0; p < state->fold.count; p++)
		for (size_t i = 0; i < state->fold.processes[p]->holding_count; i++) {
			uint32_t *at = &state->fold.processes[p]->holdings[i]->device;
			if (*at != UINT32_MAX)
				*at = now[*at];
		}
	free(now);
}

static bool is_taken(const struct tdm_picture *picture, int32_t number)
{
	for (size_t i = 0; i < picture->device_count; i++)
		if (picture->devices[i].number == number)
			return true;
	return false;
}

/* Numbers the devices that no running program with a ledger uses. The number comes from the region, else from an ended
 * program, else from an earlier picture. */
static void number_idle(struct tdm_state *state)
{
	struct tdm_picture *picture = &state->picture;
	for (size_t i = 0; i < picture->device_count; i++) {
		struct tdm_picture_device *device = &picture->devices[i];
		const struct tdm_metal_region *region =
			device->region != UINT32_MAX ? &state->metal.now.regions[device->region] : NULL;
		if (device->number < 0 && region != NULL && region->status == TDM_METAL_OK)
			use_number(device, region->device);
	}
	for (size_t p = 0; p < state->fold.count; p++) {
		const struct tdm_fold_process *process = state->fold.processes[p];
		for (size_t i = 0; !tdm_fold_runs(process) && i < process->holding_count; i++) {
			uint32_t at = process->holdings[i]->device, number = process->holdings[i]->number;
			if (at != UINT32_MAX && picture->devices[at].number < 0 &&
				!is_taken(picture, (int32_t)(number & INT32_MAX)))
				use_number(&picture->devices[at], number);
		}
	}
	for (size_t i = 0; i < picture->device_count; i++) {
		struct tdm_picture_device *device = &picture->devices[i];
		uint32_t memo = device->number < 0 ? tdm_map_find(&state->by_key, device->key) : TDM_MAP_NONE;
		if (memo != TDM_MAP_NONE && !is_taken(picture, state->memos[memo].number))
			device->number = state->memos[memo].number;
	}
}

void tdm_state_join_devices(struct tdm_state *state)
{
	tdm_map_clear(&state->by_chip);
	tdm_map_clear(&state->by_number);
	state->picture.device_count = 0;
	state->devices_cut = 0;
	/* Once most memos belong to devices that are gone, forgets those devices. */
	size_t used = 0, kept = 0;
	for (size_t i = 0; i < state->memo_count; i++)
		used += state->memos[i].in_use;
	bool is_crowded = state->memo_count > 2 * used + 64;
	for (size_t i = 0; i < state->memo_count; i++) {
		struct tdm_memo memo = state->memos[i];
		if (is_crowded && !memo.in_use) {
			tdm_map_take(&state->by_key, memo.key);
			continue;
		}
		memo.in_use = false;
		tdm_map_set(&state->by_key, memo.key, (uint32_t)kept);
		state->memos[kept++] = memo;
	}
	state->memo_count = kept;
	for (size_t i = 0; i < state->host.card_count; i++)
		add_card(state, (uint32_t)i);
	for (size_t i = 0; i < state->metal.now.count; i++)
		add_region(state, (uint32_t)i, true);
	for (size_t i = 0; i < state->fold.count; i++)
		add_process(state, state->fold.processes[i], true);
	for (size_t i = 0; i < state->fold.count; i++)
		add_process(state, state->fold.processes[i], false);
	for (size_t i = 0; i < state->metal.now.count; i++)
		add_region(state, (uint32_t)i, false);
	set_card_type(state);
	number_idle(state);
	sort_devices(state);
	tdm_grow(&state->memo_of, &state->memo_of_cap, state->picture.device_count, sizeof *state->memo_of);
	for (size_t i = 0; i < state->picture.device_count; i++) {
		struct tdm_picture_device *device = &state->picture.devices[i];
		uint32_t memo = tdm_map_find(&state->by_key, device->key);
		if (memo == TDM_MAP_NONE) {
			memo = (uint32_t)state->memo_count++;
			tdm_grow(&state->memos, &state->memo_cap, state->memo_count, sizeof *state->memos);
			tdm_map_set(&state->by_key, device->key, memo);
			state->memos[memo] =
				(struct tdm_memo){ .key = device->key, .place = state->next_place++, .number = -1 };
		}
		state->memos[memo].in_use = true;
		device->place = state->memos[memo].place;
		if (device->number >= 0)
			state->memos[memo].number = device->number;
		state->memos[memo].ledgers = 0;
		state->memos[memo].is_incomplete = false;
		state->memo_of[i] = memo;
	}
}

/* ---- processes ---- */

static uint64_t identity_hash(int32_t pid, uint64_t start_time, uint32_t generation)
{
	return tdm_hash_u64(start_time ^ tdm_hash_u64((uint64_t)(uint32_t)pid << 32 | generation));
}

/* The process's handle in earlier pictures, or a new one. Kept only while the process is listed. */
static uint64_t handle_of(struct tdm_state *state, uint64_t identity)
{
	uint32_t known = tdm_map_find(&state->handles, identity);
	if (known == TDM_MAP_NONE)
		known = tdm_map_find(&state->handles_before, identity);
	if (known == TDM_MAP_NONE)
		known = ++state->next_handle;
	tdm_map_set(&state->handles, identity, known);
	return known;
}

static struct tdm_picture_process *new_process(struct tdm_state *state)
{
	size_t at = state->picture.process_count;
	tdm_grow(&state->picture.processes, &state->process_cap, at + 1, sizeof *state->picture.processes);
	state->picture.process_count = at + 1;
	state->picture.processes[at] = (struct tdm_picture_process){ .uid = UINT32_MAX,
		.lost = TDM_BYTES_UNKNOWN,
		.faults = TDM_BYTES_UNKNOWN,
		.out_of_memory = TDM_BYTES_UNKNOWN };
	return &state->picture.processes[at];
}

static void set_user(struct tdm_state *state, struct tdm_picture_process *process, uint32_t uid)
{
	char name[TDM_PICTURE_NAME_CAP] = "?";
	uint32_t known = tdm_map_find(&state->users, uid);
	if (known == TDM_MAP_NONE && uid != UINT32_MAX) {
		tdm_user_name(uid, name, sizeof name);
		uint32_t text = tdm_intern_text(&state->fold.texts, tdm_str_of(name));
		known = text != 0 ? text : TDM_MAP_NONE; /* 0: there are too many texts */
		if (text != 0)
			tdm_map_set(&state->users, uid, text);
	}
	process->uid = uid;
	process->is_foreign = uid != UINT32_MAX && uid != state->proc.uid;
	snprintf(process->user, sizeof process->user, "%s",
		known != TDM_MAP_NONE ? state->fold.texts.texts[known] : name);
}

/* Keys for facts about all ledgers of a process. A daemon numbers the generations of its ledgers separately. */
enum known { NEWEST_OWN, NEWEST_ON_BEHALF, WRITES_ITSELF };
static uint64_t known_key(const struct tdm_process *who, enum known what)
{
	return identity_hash(who->pid, who->start_time ^ tdm_hash_u64(who->pid_namespace), UINT32_MAX - what);
}

/* The key for the newest generation of a process: exec replaced the earlier ones. */
static uint64_t newest_key(const struct tdm_process *who)
{
	return known_key(who, who->is_on_behalf ? NEWEST_ON_BEHALF : NEWEST_OWN);
}

static bool is_newest(const struct tdm_state *state, const struct tdm_process *who)
{
	return who->generation >= tdm_map_find(&state->by_pid, newest_key(who));
}

static void describe(struct tdm_state *state, const struct tdm_fold_process *from, struct tdm_picture_process *process)
{
	const struct tdm_process *who = &from->who;
	process->handle = from->handle;
	process->start_time = who->start_time;
	process->life = who->life;
	process->own_pid = process->pid != who->pid ? who->pid : 0;
	process->is_claimed = who->is_claimed;
	process->is_on_behalf = who->is_on_behalf;
	process->as_of_ns = who->as_of_ns;
	process->in_container = who->seen_pid != 0 && who->seen_pid != who->pid;
	process->sources = UINT32_C(1) << TDM_FROM_LEDGER;
	process->lost = who->lost;
	process->refused = tdm_plus(who->refused, from->refused);
	process->started_ns = tdm_proc_started(&state->proc, who->start_time);
	process->who = who;
	process->ledger = from->place;
	process->modules = from->modules;
	process->module_count = from->module_count;
	process->notes = from->notes;
	process->note_count = from->note_count;
	process->notes_lost = from->notes_lost;
	set_user(state, process, who->uid);
	memcpy(process->comm, from->comm, sizeof process->comm);
	memcpy(process->command, from->command, sizeof process->command);
	tdm_str_shown(tdm_str_of(state->fold.texts.texts[from->phase]), process->phase, sizeof process->phase);
	/* If a daemon wrote the ledger, it is unknown how the program ended. */
	bool is_open = who->life == TDM_LIFE_ENDED && !who->closed && !who->is_on_behalf;
	process->crashed = is_open && is_newest(state, who);
	process->replaced = is_open && !process->crashed;
}

static void add_ledger_process(struct tdm_state *state, struct tdm_fold_process *from)
{
	bool runs = tdm_fold_runs(from);
	from->process = UINT32_MAX;
	if (!from->has_who || !tdm_state_lists(state, from) ||
		(!runs && !state->options->with_ended && !is_newest(state, &from->who)))
		return;
	/* A process with its own ledger may also report the same buffers to a daemon: only its own ledger counts. */
	if (from->who.is_on_behalf &&
		tdm_map_find(&state->by_pid, known_key(&from->who, WRITES_ITSELF)) != TDM_MAP_NONE)
		return;
	int32_t pid = tdm_fold_pid(from);
	bool is_here = from->who.seen_pid != 0 && runs;
	struct tdm_picture_process *process = new_process(state);
	/* The handle stays the same if the process was known before its ledger appeared, or remains known after the
	 * ledger is gone. */
	uint64_t identity = identity_hash(pid, from->who.start_time, from->who.generation);
	if (from->handle == 0)
		from->handle = is_here ? handle_of(state, identity) : ++state->next_handle;
	if (is_here)
		tdm_map_set(&state->handles, identity, (uint32_t)from->handle);
	from->process = (uint32_t)(state->picture.process_count - 1);
	process->pid = pid;
	describe(state, from, process);
	/* After an exec the ledger of the older generation remains, but unlocked. */
	if (is_here && from->who.start_time != 0)
		tdm_map_set(&state->by_pid, identity_hash(pid, from->who.start_time, 0), from->process);
}

/* The index of the process with this pid, as /proc describes it; added if new. */
static uint32_t find_process(struct tdm_state *state, int32_t pid, const struct tdm_proc_facts *facts, const char *hint)
{
	uint64_t key = identity_hash(pid, facts->start_time, 0);
	uint32_t at = tdm_map_find(&state->by_pid, key);
	if (at != TDM_MAP_NONE) {
		struct tdm_picture_process *known = &state->picture.processes[at];
		if (known->command[0] == '\0')
			snprintf(known->command, sizeof known->command, "%s", facts->command);
		return at;
	}
	struct tdm_picture_process *process = new_process(state);
	at = (uint32_t)(state->picture.process_count - 1);
	tdm_map_set(&state->by_pid, key, at);
	process->handle = handle_of(state, key);
	process->pid = pid;
	process->start_time = facts->start_time;
	process->started_ns = facts->started_ns;
	process->life = facts->err == 0 ? TDM_LIFE_RUNS : TDM_LIFE_UNKNOWN;
	set_user(state, process, facts->uid);
	snprintf(process->comm, sizeof process->comm, "%s", facts->comm);
	if (process->comm[0] == '\0')
		snprintf(process->comm, sizeof process->comm, "%.*s", TDM_COMM_CAP - 1, hint);
	snprintf(process->command, sizeof process->command, "%s", facts->command);
	return at;
}

static struct tdm_part *add_part(struct tdm_state *state, uint32_t process, uint32_t device)
{
	int32_t number = state->picture.devices[device].number;
	tdm_grow(&state->parts, &state->part_cap, state->part_count + 1, sizeof *state->parts);
	struct tdm_part *part = &state->parts[state->part_count++];
	*part = (struct tdm_part){ .process = process, .device = device, .number = number >= 0 ? (uint32_t)number : 0 };
	return part;
}

/* A process's part on a device, added if it is new. */
static struct tdm_part *find_part(struct tdm_state *state, uint32_t process, uint32_t device)
{
	uint64_t key = (uint64_t)process << 32 | device;
	uint32_t at = tdm_map_find(&state->by_pair, key);
	if (at != TDM_MAP_NONE)
		return &state->parts[at];
	tdm_map_set(&state->by_pair, key, (uint32_t)state->part_count);
	return add_part(state, process, device);
}

static void add_slot(struct tdm_state *state, uint32_t device, const struct tdm_metal_slot *slot)
{
	if (slot->life == TDM_PROC_DEAD)
		return;
	int32_t pid = slot->nested_as != 0 ? slot->nested_as : slot->pid;
	uint32_t process = find_process(state, pid, &slot->facts, slot->hint);
	struct tdm_part *part = find_part(state, process, device);
	if (slot->nested_as != 0) {
		state->picture.processes[process].in_container = true;
		state->picture.processes[process].own_pid = slot->pid;
	}
	if (slot->life == TDM_PROC_OTHER_USER && slot->facts.uid == TDM_UID_UNKNOWN)
		state->picture.processes[process].is_foreign = true;
	state->picture.processes[process].sources |= UINT32_C(1) << TDM_FROM_METAL_SHM;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		part->metal.of[k] = part->has_slot ? tdm_plus(part->metal.of[k], slot->bytes.of[k]) : slot->bytes.of[k];
	part->has_slot = true;
}

static int by_pid(const void *a, const void *b)
{
	const struct tdm_picture_process *x = a, *y = b;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	int order = tdm_order(x->start_time, y->start_time);
	if (order == 0 && x->who != NULL && y->who != NULL)
		order = tdm_order(x->who->generation, y->who->generation);
	return order != 0 ? order : tdm_order(x->handle, y->handle);
}

static int by_process(const void *a, const void *b)
{
	const struct tdm_part *x = a, *y = b;
	int order = tdm_order(x->process, y->process);
	if (order == 0)
		order = tdm_order(x->device, y->device);
	return order != 0 ? order : tdm_order(x->number, y->number);
}

/* Sorts processes by pid, and parts by process and device. Meanwhile `first_holding` holds each process's old index. */
static void sort_all(struct tdm_state *state)
{
	size_t count = state->picture.process_count;
	struct tdm_picture_process *processes = state->picture.processes;
	uint32_t *now = tdm_alloc(count * sizeof *now);
	for (size_t i = 0; i < count; i++)
		processes[i].first_holding = (uint32_t)i;
	if (count > 1)
		qsort(processes, count, sizeof *processes, by_pid);
	for (size_t i = 0; i < count; i++)
		now[processes[i].first_holding] = (uint32_t)i;
	for (size_t i = 0; i < state->fold.count; i++)
		if (state->fold.processes[i]->process != UINT32_MAX)
			state->fold.processes[i]->process = now[state->fold.processes[i]->process];
	for (size_t i = 0; i < state->part_count; i++)
		state->parts[i].process = now[state->parts[i].process];
	free(now);
	if (state->part_count > 1)
		qsort(state->parts, state->part_count, sizeof *state->parts, by_process);
	for (size_t i = 0, next = 0; i < count; i++) {
		processes[i].first_holding = (uint32_t)next;
		processes[i].holding_count = 0;
		for (; next < state->part_count && state->parts[next].process == i; next++)
			processes[i].holding_count++;
	}
}

void tdm_state_join_processes(struct tdm_state *state)
{
	struct tdm_map handles = state->handles_before;
	state->handles_before = state->handles;
	state->handles = handles;
	tdm_map_clear(&state->handles);
	tdm_map_clear(&state->by_pid);
	tdm_map_clear(&state->by_pair);
	state->picture.process_count = state->part_count = 0;
	for (size_t i = 0; i < state->fold.count; i++) {
		const struct tdm_process *who = &state->fold.processes[i]->who;
		if (!state->fold.processes[i]->has_who)
			continue;
		uint32_t newest = tdm_map_find(&state->by_pid, newest_key(who));
		if (!who->is_on_behalf && !who->is_claimed && who->life != TDM_LIFE_ENDED)
			tdm_map_set(&state->by_pid, known_key(who, WRITES_ITSELF), 1);
		if (newest == TDM_MAP_NONE || newest < who->generation)
			tdm_map_set(
				&state->by_pid, newest_key(who), (uint32_t)tdm_min(who->generation, TDM_MAP_NONE - 1));
	}
	for (size_t i = 0; i < state->fold.count; i++)
		add_ledger_process(state, state->fold.processes[i]);
	for (size_t p = 0; p < state->fold.count; p++) {
		const struct tdm_fold_process *from = state->fold.processes[p];
		for (size_t i = 0; from->process != UINT32_MAX && i < from->holding_count; i++) {
			const struct tdm_fold_holding *holding = from->holdings[i];
			if (holding->device == UINT32_MAX)
				continue;
			struct tdm_part *part = find_part(state, from->process, holding->device);
			bool is_twin = part->owner != NULL;
			if (is_twin)
				part = add_part(state, from->process, holding->device);
			part->owner = from;
			part->is_twin = is_twin;
			part->ledger = from->who.is_stuck ? NULL : holding;
			part->number = holding->number & ~TDM_DEVICE_VIRTUAL_BIT;
		}
	}
	for (uint32_t d = 0; d < state->picture.device_count; d++) {
		const struct tdm_picture_device *device = &state->picture.devices[d];
		const struct tdm_metal_region *region =
			device->region != UINT32_MAX ? &state->metal.now.regions[device->region] : NULL;
		for (uint32_t k = 0; region != NULL && k < region->slot_count; k++)
			add_slot(state, d, &region->slots[k]);
		const struct tdm_host_card *card =
			device->host_card != UINT32_MAX ? &state->host.cards[device->host_card] : NULL;
		for (uint32_t i = 0; card != NULL && i < card->open_count; i++) {
			const struct tdm_host_open *open = &state->host.opens[card->open_first + i];
			const struct tdm_host_process *known = &state->host.processes[open->process];
			if (known->facts.err == -ENOENT)
				continue; /* the process has ended meanwhile */
			uint32_t process = find_process(state, known->pid, &known->facts, "");
			state->picture.processes[process].sources |= UINT32_C(1) << TDM_FROM_DRIVER;
			find_part(state, process, d)->descriptors += open->descriptors;
		}
	}
	/* A twin has no slot, but the region counts its process. */
	for (size_t i = 0; i < state->part_count; i++) {
		struct tdm_part *part = &state->parts[i];
		uint32_t first = tdm_map_find(&state->by_pair, (uint64_t)part->process << 32 | part->device);
		if (part->is_twin && first != TDM_MAP_NONE)
			part->has_slot = state->parts[first].has_slot;
	}
	sort_all(state);
}
