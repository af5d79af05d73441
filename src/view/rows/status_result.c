/*
 * `tidemark status` as blocks: a block or a line for each device, then the processes, the findings about them, and the
 * unreadable files. At 80 columns, sources are letters; wider terminals get words and bars. The last lines explain
 * letters and marks.
 *
 * JSON is a tt-smi snapshot with the same keys and strings ("N/A" or null if unknown), so programs that read tt-smi
 * snapshots can read it. Additional objects called "memory" contain bytes as numbers. Values found only in the card's
 * registers are unknown, because the card is never opened.
 */
#include "view/rows/status_result.h"
#include "analyze/live/run_findings.h"
#include "base/arena.h"
#include "base/err.h"
#include "model/card/card.h"
#include "tidemark_version.h"
#include "view/rows/device_rows.h"
#include "view/rows/process_rows.h"
#include "view/write/table.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { WIDE = 100, PROBLEMS_SHOWN = 5, FINDINGS_SHOWN = 5 };

struct tdm_status_facts tdm_status_facts(const struct tdm_status_report *report)
{
	const struct tdm_picture *picture = report->picture;
	bool is_all = report->pick.pid_count == 0;
	struct tdm_status_facts facts = { 0 };
	for (size_t i = 0; i < picture->device_count; i++) {
		const struct tdm_picture_device *device = &picture->devices[i];
		if (!tdm_pick_takes_device(&report->pick, picture, i))
			continue;
		*(device->is_board ? &facts.boards : &facts.devices) += 1;
		for (size_t k = 0; k < TDM_KIND_COUNT && !device->is_board; k++) {
			const struct tdm_picture_kind *kind = &device->kinds[k];
			facts.from |= UINT32_C(1) << kind->used_from | UINT32_C(1) << kind->total_from |
				      UINT32_C(1) << kind->rival_from;
			facts.unattributed |= tdm_is_some(kind->unattributed) && is_all;
			facts.weak |= kind->used_from == TDM_FROM_METAL_SHM;
			facts.estimates |= kind->is_estimated;
			facts.stale |= tdm_is_some(kind->stale) && is_all;
		}
	}
	for (size_t i = 0; i < picture->holding_count; i++)
		if (picture->holdings[i].descriptors != 0 &&
			picture->holdings[i].kinds[TDM_KIND_DRAM].reserved == TDM_BYTES_UNKNOWN &&
			tdm_proc_shows_holding(&report->pick, picture, i))
			facts.from |= UINT32_C(1) << TDM_FROM_DRIVER;
	for (size_t i = 0; i < picture->process_count; i++) {
		facts.processes += tdm_pick_takes_process(&report->pick, picture, i);
		facts.clients |= picture->processes[i].is_on_behalf;
	}
	return facts;
}

/* Shows the number of devices and processes, or why there is nothing to show. */
static void add_head(struct tdm_block *in, const struct tdm_status_report *report, const struct tdm_status_facts *facts)
{
	const struct tdm_picture *picture = report->picture;
	char when[TDM_TIME_CAP], text[TDM_NOTHING_CAP];
	tdm_format_time(when, sizeof when, picture->real_ns);
	tdm_say(in,
		"tidemark {version}|, {when}|: {devices/device/devices}|, {cards/card/cards}|, "
		"{processes/process/processes}|, {listed/listed process/listed processes}| on {hosts/host/hosts}|, "
		"driver "
		"{driver}",
		TDM_VALUES({ "version", tdm_value_text(TDM_VERSION_STRING) },
			{ "when", tdm_value_name(tdm_result_printed(in->result, "%s", when)) },
			{ "devices", tdm_value_count(facts->devices) },
			{ "cards", tdm_value_if(facts->boards != 0, tdm_value_count(facts->boards)) },
			{ "processes", tdm_value_if(!tdm_picture_hides(picture), tdm_value_count(facts->processes)) },
			{ "listed", tdm_value_if(tdm_picture_hides(picture), tdm_value_count(facts->processes)) },
			{ "hosts", tdm_value_if(picture->hosts != NULL, tdm_value_count(picture->host_count)) },
			{ "driver", tdm_value_name(report->machine != NULL ? report->machine->driver : NULL) }))
		->line.level = TDM_LEVEL_STRONG;
	if (facts->processes + facts->devices + facts->boards != 0)
		return;
	const char *why = tdm_why_nothing(picture, &report->pick, text);
	tdm_say(in, "{why}",
		TDM_VALUES({ "why", tdm_value_text(tdm_result_printed(
					    in->result, "%c%s.", toupper((unsigned char)why[0]), why + 1)) }))
		->is_apart = true;
}

/* ---- a block for each device ---- */

static void add_telemetry(
	struct tdm_block *in, const struct tdm_status_report *report, const struct tdm_picture_device *device)
{
	struct tdm_words sensors[TDM_SENSORS];
	const char *text = "";
	int err = 0;
	tdm_device_sensors(device, true, report->term.utf8, sensors);
	for (size_t i = 0; i < TDM_SENSORS - 1; i++) { /* the heartbeat is left out */
		if (sensors[i].text[0] != '\0')
			text = tdm_result_printed(
				in->result, "%s%s%s", text, text[0] != '\0' ? "  " : "", sensors[i].text);
		err = err == 0 ? sensors[i].err : err;
	}
	const char *why = err != 0           ? tdm_err_text(err)
			  : device->node < 0 ? "no card of the driver is known to be this device"
					     : "the driver offers none";
	const struct tdm_named *values = TDM_VALUES({ "text", tdm_value_text(text) }, { "why", tdm_value_text(why) });
	tdm_say(in, text[0] != '\0' ? "{text}" : "telemetry unknown: {why}", values);
	if (text[0] != '\0' && err != 0)
		tdm_say(in, "(some readings failed: {why})", values);
}

/* Skips kinds that the card lacks and that never contained anything. Never skips DRAM and L1, unless nothing is known
 * about them. */
static bool skip_kind(const struct tdm_table *table, const void *row)
{
	const struct tdm_picture_kind *kind = row, *kinds = table->rows;
	bool is_known = kind->used != TDM_BYTES_UNKNOWN || kind->total != TDM_BYTES_UNKNOWN;
	return !tdm_is_some(kind->used) && !tdm_is_some(kind->total) && !tdm_is_some(kind->peak) &&
	       !(kind <= &kinds[TDM_KIND_L1] && is_known);
}

/* Shows the kinds of memory, and how the figures for L1 buffers and circular buffers are related. */
static void add_kinds(
	struct tdm_block *in, const struct tdm_status_report *report, const struct tdm_picture_device *device)
{
	enum { OTHER_COLUMNS = WIDE - 7, BAR_MIN = 7, BAR_MAX = 30 };
	uint64_t gap = tdm_picture_gap(device), clash = tdm_picture_clash(device);
	size_t width = report->term.width,
	       bar = width >= OTHER_COLUMNS + BAR_MIN ? tdm_min(width - OTHER_COLUMNS, BAR_MAX) : 0;
	struct tdm_table table = tdm_kind_table(device, &report->term, bar);
	bool any = false;
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		any |= !skip_kind(&table, &device->kinds[k]);
	table.skip = skip_kind;
	if (any)
		tdm_add_table(in, NULL, NULL, table)->is_close = true;
	else
		tdm_say(in, "memory unknown: no source counts it, and the card is not known", NULL);
	if (tdm_is_some(device->kinds[TDM_KIND_CB].used) || device->kinds[TDM_KIND_CB].total != TDM_BYTES_UNKNOWN)
		tdm_say(in, "Free: l1 (shared with cb), cb (shared with l1): both use the same memory", NULL);
	if (clash != 0 || gap != TDM_BYTES_UNKNOWN)
		tdm_say(in,
			clash != 0 ? "clash: buffers and CBs overlap by {bytes}, fullest core"
				   : "{bytes} free between buffers and CBs, fullest core",
			TDM_VALUES({ "bytes", tdm_value_bytes(clash != 0 ? clash : gap) }));
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		char rival[TDM_RIVAL_CAP];
		if (tdm_kind_rival(&device->kinds[k], rival, sizeof rival)[0] != '\0')
			tdm_say(in, "{kind}: {rival}",
				TDM_VALUES({ "kind", tdm_value_kind(k) },
					{ "rival", tdm_value_text(tdm_result_printed(in->result, "%s", rival)) }));
	}
}

void tdm_status_chips(struct tdm_block *in, const struct tdm_picture_device *device)
{
	if (device->chip_count == 0 || (device->chip_count == 1 && !device->chips[0].is_remote))
		return;
	for (uint32_t i = 0; i < tdm_min(device->chip_count, TDM_PICTURE_CHIPS_MAX); i++) {
		const struct tdm_picture_chip *chip = &device->chips[i];
		const struct tdm_value small = tdm_value_bytes(chip->bytes[TDM_KIND_L1_SMALL]),
				       trace = tdm_value_bytes(chip->bytes[TDM_KIND_TRACE]),
				       cb = tdm_value_bytes(chip->bytes[TDM_KIND_CB]);
		tdm_say(in,
			"chip {chip}|{remote/ R (remote)/}: dram {dram}, l1 {l1}|, l1_small {small}|, trace {trace}|, "
			"cb {cb}",
			TDM_VALUES({ "chip", tdm_value_number(chip->chip) },
				{ "remote", tdm_value_bool(chip->is_remote) },
				{ "dram", tdm_value_bytes(chip->bytes[TDM_KIND_DRAM]) },
				{ "l1", tdm_value_bytes(chip->bytes[TDM_KIND_L1]) },
				{ "small", tdm_value_if(small.number != 0, small) },
				{ "trace", tdm_value_if(trace.number != 0, trace) },
				{ "cb", tdm_value_if(cb.number != 0, cb) }));
	}
	if (tdm_picture_has_stale(device))
		tdm_say(in, "(chips are as tt-metal recorded them, with stale entries)", NULL);
}

static void add_device(
	struct tdm_block *in, const struct tdm_status_report *report, const struct tdm_picture_device *device)
{
	struct tdm_words pieces[TDM_IDENTITY_MAX];
	size_t count = tdm_device_identity(device, pieces);
	char label[TDM_PICK_LABEL_CAP];
	const char *title = tdm_pick_label(device, label, sizeof label);
	for (size_t i = 0; i < count; i++)
		title = tdm_result_printed(in->result, "%s  %s", title, pieces[i].text);
	struct tdm_block *group = tdm_add_group(in, NULL, title);
	struct tdm_l1_account *account = tdm_result_alloc(in->result, 1, sizeof *account);
	const struct tdm_picture_kind *dram = &device->kinds[TDM_KIND_DRAM];
	bool any = false;
	tdm_l1_account(account, device);
	add_telemetry(group, report, device);
	/* Cores, DRAM banks and queues. No source reports the number of hardware queues opened by a program. */
	struct tdm_value cores = tdm_value_count(account->cores), banks = tdm_value_count(dram->banks);
	cores.mark = device->grid_x != 0 && device->grid_y != 0 ? '\0' : '~';
	banks.mark = dram->total_from != TDM_FROM_LEDGER ? '~' : '\0';
	tdm_say(group,
		"{cores/core/cores}|{no_cores/cores unknown}|  {banks/DRAM bank/DRAM banks}|"
		"  {no_banks/DRAM banks unknown}|  hardware queues unknown",
		TDM_VALUES({ "cores", cores },
			{ "no_cores", tdm_value_if(cores.type == TDM_VALUE_UNKNOWN, tdm_value_bool(true)) },
			{ "banks", tdm_value_if(dram->banks != 0, banks) },
			{ "no_banks", tdm_value_if(dram->banks == 0, tdm_value_bool(true)) }));
	add_kinds(group, report, device);
	tdm_status_chips(group, device);
	/* Shows the uses of L1, unless everything is inferred; `tidemark device show` shows inferred figures. */
	for (int i = 0; i < TDM_L1_ITEM_REST; i++)
		any |= account->items[i].bytes != TDM_BYTES_UNKNOWN && !account->items[i].is_inferred;
	if (!any)
		return;
	tdm_say(group,
		account->total != TDM_BYTES_UNKNOWN ? "All L1: {total} in {,cores} cores of {core}"
						    : "All L1: size unknown",
		TDM_VALUES({ "total", tdm_value_bytes(account->total) }, { "cores", tdm_value_number(account->cores) },
			{ "core", tdm_value_bytes(account->core_bytes) }));
	tdm_add_table(group, NULL, NULL, tdm_l1_table(account))->is_close = true;
}

/* ---- a line for each device, and for each board ---- */

/*
 * Every line has the same columns, each containing exactly one word, so programs can split a line at blanks; "-" means
 * unknown. L1 buffers and circular buffers share the last size.
 */
enum { CARD_NARROW = 7, CARD_WIDE = 15, DEVICE_COLUMNS = 3, KINDS = 3 };

static const enum tdm_kind kinds[KINDS] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_CB };

struct line {
	const struct tdm_picture_device *device; /* NULL for the sum of `count` devices */
	struct tdm_value figures[2 * KINDS];     /* used and total bytes of each kind */
	bool is_part[2 * KINDS];                 /* for a sum: some of the figures to add are unknown */
	uint64_t count, processes;
};

#define LINE(field) ((const struct line *)(field)->row)

static struct tdm_value get_place(const struct tdm_field *field)
{
	char label[TDM_PICK_LABEL_CAP];
	return LINE(field)->device == NULL
		       ? tdm_value_text("all")
		       : tdm_field_printed(field, "%s", tdm_pick_label(LINE(field)->device, label, sizeof label));
}

static struct tdm_value get_card(const struct tdm_field *field)
{
	const struct tdm_picture_device *device = LINE(field)->device;
	char card[TDM_CARD_NAME_CAP + 1];
	if (device == NULL)
		return tdm_field_printed(field, "%" PRIu64, LINE(field)->count);
	snprintf(card, sizeof card, "%s%s", tdm_picture_card_mark(device), device->card);
	for (char *c = card; *c != '\0'; c++)
		*c = *c == ' ' ? '_' : *c; /* keep it one word */
	return card[0] == '\0' ? tdm_value_text(NULL) : tdm_field_printed(field, "%s", card);
}

static struct tdm_value get_node(const struct tdm_field *field)
{
	return LINE(field)->device->node < 0
		       ? tdm_value_text(NULL)
		       : tdm_field_printed(field, "/dev/tenstorrent/%" PRId32, LINE(field)->device->node);
}

/* A reading, in thousandths or millionths, as a whole number. */
static struct tdm_value get_reading(const struct tdm_field *field)
{
	const char *device = (const char *)LINE(field)->device;
	if (device == NULL)
		return tdm_value_text(NULL);
	const struct tdm_reading *reading = (const void *)(device + field->column->offset);
	if (!reading->is_known)
		return tdm_value_text(NULL);
	return tdm_field_printed(field, "%.0f", (double)reading->value / field->column->arg);
}

/* A size in GiB or MiB with two decimals; a value above 0 is never shown as 0. */
static struct tdm_value get_figure(const struct tdm_field *field)
{
	int i = field->column->arg;
	const struct tdm_value figure = LINE(field)->figures[i];
	double number = (double)figure.number / (double)(kinds[i / 2] == TDM_KIND_DRAM ? 1 << 30 : 1 << 20);
	bool is_part = LINE(field)->is_part[i], is_tiny = figure.number != 0 && number < 0.005 && !is_part;
	if (figure.type == TDM_VALUE_UNKNOWN)
		return tdm_value_text(NULL);
	return tdm_field_printed(field, "%s%s%.2f",
		is_part   ? ">"
		: is_tiny ? "<"
			  : "",
		figure.mark == '~' ? "~" : "", is_tiny ? 0.01 : number);
}

/* Writes " 97%!": a whole percentage, and a mark for danger. */
static struct tdm_value get_share(const struct tdm_field *field)
{
	const struct line *line = LINE(field);
	int i = field->column->arg;
	const struct tdm_value *used = &line->figures[i], *total = used + 1;
	enum tdm_level level = line->device == NULL ? TDM_LEVEL_PLAIN : tdm_picture_level(line->device, kinds[i / 2]);
	char mark = level == TDM_LEVEL_DANGER ? '!' : ' ';
	bool is_known = used->type != TDM_VALUE_UNKNOWN && total->type != TDM_VALUE_UNKNOWN;
	int permille = is_known ? tdm_picture_permille(used->number, total->number) : -1;
	return tdm_value_level(permille < 0 || line->is_part[i] || line->is_part[i + 1]
				       ? tdm_field_printed(field, "-%c", mark)
				       : tdm_field_printed(field, "%d%%%c", permille / 10, mark),
		level);
}

#define RIGHT(wide) .before = 1, .width = (wide), .flags = TDM_OTHER_SIDE | TDM_WHOLE
#define READING(member, by) \
	.get = get_reading, .offset = offsetof(struct tdm_picture_device, telemetry.member), .arg = (by)
#define FIGURE(i)        .get = get_figure, .arg = (i), RIGHT(7)
#define SHARE(i)         .get = get_share, .arg = (i), RIGHT(5)
#define DEVICE_COLUMN    .get = get_place, .width = TDM_WIDTH_OF_TABLE + 1, .flags = TDM_WHOLE
#define CARD_COLUMN      .get = get_card, .before = 1, .width = TDM_WIDTH_OF_TABLE
#define PROCESSES_COLUMN TDM_MEMBER(struct line, processes), .before = 1, .width = 5
static const struct tdm_column line_columns[] = {
	{ "\nDev", NULL, DEVICE_COLUMN },
	{ "\nCard", NULL, CARD_COLUMN },
	{ "Temp\nC", NULL, READING(temp, 1000), RIGHT(4) },
	{ "Power\nW", NULL, READING(power, 1000000), RIGHT(5) },
	{ "Clock\nMHz", NULL, READING(clock, 1), RIGHT(5) },
	{ "DRAM\nGiB", NULL, FIGURE(0) },
	{ "of\nGiB", NULL, FIGURE(1) },
	{ "\n% ", NULL, SHARE(0) },
	{ "L1\nMiB", NULL, FIGURE(2) },
	{ "\n% ", NULL, SHARE(2) },
	{ "CB\nMiB", NULL, FIGURE(4) },
	{ "\n% ", NULL, SHARE(4) },
	{ "of\nMiB", NULL, FIGURE(3) },
	{ "\nProcs", NULL, PROCESSES_COLUMN },
};
enum { WIDE_COLUMNS = 1 << 3 | 1 << 4 };

static const struct tdm_column board_columns[] = {
	{ "Dev", NULL, DEVICE_COLUMN },
	{ "Card", NULL, CARD_COLUMN },
	{ "Node", NULL, .get = get_node, .before = 1, .width = 18, .flags = TDM_WHOLE },
	{ "PCI", NULL, TDM_VIA(struct line, device, struct tdm_picture_device, pci), .before = 1, .width = 15,
		.flags = TDM_WHOLE | TDM_ZERO_IS_UNKNOWN },
	{ "Temp C", NULL, READING(temp, 1000), RIGHT(6) },
	{ "Power W", NULL, READING(power, 1000000), RIGHT(7) },
	{ "MHz", NULL, READING(clock, 1), RIGHT(5) },
	{ "Procs", NULL, PROCESSES_COLUMN },
};

/* The lines for the devices or boards the user asked for. The array has room for one more. */
static struct line *lines_of(struct tdm_block *in, const struct tdm_status_report *report, bool boards, size_t *count)
{
	const struct tdm_picture *picture = report->picture;
	struct line *lines = tdm_result_alloc(in->result, picture->device_count + 1, sizeof *lines);
	*count = 0;
	for (size_t i = 0; i < picture->device_count; i++) {
		const struct tdm_picture_device *device = &picture->devices[i];
		if (device->is_board != boards || !tdm_pick_takes_device(&report->pick, picture, i))
			continue;
		struct line *line = &lines[(*count)++];
		*line = (struct line){ .device = device, .processes = device->process_count };
		for (int f = 0; f < KINDS; f++) {
			const struct tdm_picture_kind *kind = &device->kinds[kinds[f]];
			bool is_own = f == 0 || kind->total != TDM_BYTES_UNKNOWN;
			line->figures[2 * f] = tdm_kind_figure(kind, TDM_AMOUNT_USED);
			line->figures[2 * f + 1] =
				tdm_kind_figure(is_own ? kind : &device->kinds[TDM_KIND_L1], TDM_AMOUNT_TOTAL);
		}
	}
	return lines;
}

static void add_lines_table(struct tdm_block *in, const struct tdm_status_report *report, struct tdm_table table)
{
	bool has_room = report->is_piped || report->term.width >= WIDE;
	table.gap = 0;
	table.widths[0] = has_room ? CARD_WIDE : CARD_NARROW;
	table.widths[1] = tdm_max(DEVICE_COLUMNS, tdm_pick_host_columns(report->picture));
	table.hidden = table.columns == line_columns && !has_room ? WIDE_COLUMNS : 0;
	tdm_add_table(in, NULL, NULL, table)->is_close = table.columns == board_columns;
}

static void add_lines(struct tdm_block *in, const struct tdm_status_report *report, size_t processes)
{
	size_t count;
	struct line *lines = lines_of(in, report, false, &count), *sum = &lines[count];
	*sum = (struct line){ .count = count,
		.processes = tdm_picture_hides(report->picture) ? TDM_BYTES_UNKNOWN : processes };
	for (size_t at = 0; at < count * 2 * KINDS; at++) {
		const struct tdm_value *figure = &lines[at / (2 * KINDS)].figures[at % (2 * KINDS)];
		struct tdm_value *all = &sum->figures[at % (2 * KINDS)]; /* unknown until the first device is added */
		bool is_first = all->type == TDM_VALUE_UNKNOWN;
		if (figure->type == TDM_VALUE_UNKNOWN) {
			sum->is_part[at % (2 * KINDS)] = true;
			continue;
		}
		uint64_t bytes = is_first ? figure->number : tdm_plus(all->number, figure->number);
		char mark = figure->mark != '\0' ? figure->mark : all->mark;
		*all = tdm_value_number(bytes);
		all->mark = mark;
	}
	add_lines_table(in, report, TDM_TABLE_OF(line_columns, lines, count + 1));
}

static void add_boards(struct tdm_block *in, const struct tdm_status_report *report)
{
	size_t count;
	const struct line *lines = lines_of(in, report, true, &count);
	struct tdm_card card;
	bool is_known = tdm_card_init(&card, tdm_str_of(lines[0].device->card), NULL, NULL) == 0;
	uint64_t chips = is_known ? tdm_card_get(&card, TDM_CARD_CHIPS) : TDM_BYTES_UNKNOWN;
	tdm_say(in,
		"{cards/card/cards}| with {chips} chips|{each/ each}|; it is not known which device is on which card:",
		TDM_VALUES({ "cards", tdm_value_count(count) },
			{ "chips", tdm_value_if(chips > 1, tdm_value_number(chips)) },
			{ "each", tdm_value_if(chips > 1 && chips != TDM_BYTES_UNKNOWN && count != 1,
					  tdm_value_bool(true)) }))
		->is_apart = true;
	add_lines_table(in, report, TDM_TABLE_OF(board_columns, lines, count));
}

/* ---- processes, findings, problems ---- */

/* The columns depend only on the width, so they do not change with the processes. */
static void add_processes(struct tdm_block *in, const struct tdm_status_report *report)
{
	static const bool hidden[TDM_PROC_COLUMN_COUNT] = { [TDM_PROC_MEMORY] = true,
		[TDM_PROC_PEAK] = true,
		[TDM_PROC_GROWTH] = true,
		[TDM_PROC_STATE] = true,
		[TDM_PROC_CPU] = true,
		[TDM_PROC_RESIDENT] = true,
		[TDM_PROC_PHASE] = true };
	const struct tdm_proc_rows *rows = tdm_proc_rows_kept(
		in->result, report->picture, &(struct tdm_proc_view){ .form = TDM_PROC_EACH, .pick = report->pick });
	if (rows->count != 0)
		tdm_add_table(
			in, NULL, NULL, tdm_proc_rows_table(rows, report->is_piped ? 0 : report->term.width, hidden));
	else
		tdm_say(in, "No process is known to use a device.", NULL)->is_apart = true;
}

static void find(const struct tdm_status_report *report, struct tdm_findings *found)
{
	for (size_t i = 0; i < report->picture->process_count; i++)
		if (tdm_pick_takes_process(&report->pick, report->picture, i))
			tdm_run_findings(report->picture, (uint32_t)i, found);
}

/*
 * Writes "4242 python3: sentence" for each finding that is a warning or worse, and names the machine unless it is this
 * one.
 */
static void add_findings(struct tdm_block *in, const struct tdm_status_report *report)
{
	struct tdm_block *group = tdm_add_group(in, NULL, "Findings ('tidemark dump' says what to do)");
	struct tdm_findings found = { 0 };
	struct tdm_buf text = { 0 };
	size_t count = 0;
	find(report, &found);
	for (size_t i = 0; i < found.count && found.list[i].severity >= TDM_FINDING_WARNING; i++) {
		const struct tdm_about *about = &found.list[i].about;
		if (count++ >= FINDINGS_SHOWN)
			continue;
		tdm_buf_clear(&text);
		tdm_finding_sentence_put(&found, &found.list[i], &text);
		tdm_say(group, "{host}: |{pid} {comm}: {text}",
			TDM_VALUES({ "host", tdm_value_name(about->host) }, { "pid", tdm_value_signed(about->pid) },
				{ "comm", tdm_value_text(about->comm) },
				{ "text", tdm_value_text(tdm_result_printed(
						  in->result, "%.*s", TDM_STR_ARG(tdm_buf_str(&text)))) }));
	}
	if (count > FINDINGS_SHOWN)
		tdm_say(group, "and {more} more", TDM_VALUES({ "more", tdm_value_count(count - FINDINGS_SHOWN) }));
	tdm_buf_done(&text);
	tdm_findings_done(&found);
}

static void add_problems(struct tdm_block *in, const struct tdm_status_report *report)
{
	const struct tdm_picture *picture = report->picture;
	struct tdm_block *group =
		tdm_add_group(in, NULL, picture->hosts == NULL ? "Problems ('tidemark doctor' says more)" : "Problems");
	bool is_denied = false;
	size_t shown = 0;
	for (size_t i = 0; i < picture->problem_count; i++) {
		const struct tdm_picture_problem *problem = &picture->problems[i];
		bool is_refused = problem->err == -EACCES || problem->err == -EPERM;
		is_denied |= is_refused && (problem->from == TDM_FROM_LEDGER || problem->from == TDM_FROM_METAL_SHM);
		/* Every machine that does not answer is named, whatever the limit. */
		if (i >= PROBLEMS_SHOWN && (picture->hosts == NULL || problem->err != -EHOSTUNREACH))
			continue;
		shown++;
		tdm_say(group, "{place}: |{why}",
			TDM_VALUES({ "place", tdm_value_name(problem->place) },
				{ "why", tdm_value_text(problem->text[0] != '\0' ? problem->text
										 : tdm_err_text(problem->err)) }));
	}
	if (picture->problem_count > shown)
		tdm_say(group, "and {more} more",
			TDM_VALUES({ "more", tdm_value_count(picture->problem_count - shown) }));
	if (is_denied)
		tdm_say(in, "The figures leave out files of other users: more may be in use, and less may be free.",
			NULL);
}

/* Explains the letters, words and marks used above. */
static void add_legend(struct tdm_block *in, const struct tdm_status_facts *facts, bool is_short)
{
#define FLAG(key, yes)                   \
	{                                \
		key, tdm_value_bool(yes) \
	}
#define SOURCE(key, id) FLAG(key, (facts->from >> TDM_FROM_##id & 1) != 0)
	struct tdm_block *line = tdm_say(in,
		"{short/L1 and CB use the same memory; its size is the last 'of'. '!': 90 % or more is used, for CB in "
		"the "
		"fullest core. --long shows all figures. }|"
		"{ledger}L ledger: tracked by libtidemark, bytes reserved|{clients}; by tidemarkd, bytes asked for|"
		"{ledger}. |{shm}S metal_shm: tt-metal's own statistics, bytes asked for; " TDM_STATUS_WEAK ". |"
		"{driver}D driver: the process has the card open. |{model}M model: the card's tables. |"
		"{type}T card_type: the tables of the type that all cards have. |"
		"{short/'>': at least./'>=': highest seen, it may have been more.} '~': inferred, not counted.|"
		"{estimates} Bytes in use with '~' are " TDM_STATUS_ESTIMATE ".|"
		"{rest} unattributed: in use, but by no listed process.|"
		"{stale} stale: left by ended processes, no longer on the device.",
		TDM_VALUES(FLAG("short", is_short), SOURCE("ledger", LEDGER),
			FLAG("clients", facts->clients && (facts->from >> TDM_FROM_LEDGER & 1) != 0),
			SOURCE("shm", METAL_SHM), SOURCE("driver", DRIVER), SOURCE("model", MODEL),
			SOURCE("type", CARD_TYPE), FLAG("estimates", facts->estimates),
			FLAG("rest", facts->unattributed), FLAG("stale", facts->stale)));
	line->line.level = TDM_LEVEL_FAINT;
	line->is_apart = true;
}

/* ---- JSON ---- */

static const char not_available[] = "N/A";

static struct tdm_value text_or(const char *text)
{
	return tdm_value_text(text != NULL && text[0] != '\0' ? text : not_available);
}

#define DEVICE_OF(field) ((const struct tdm_picture_device *)(field)->row)

/* A value from the driver; if unknown, its string is empty. */
static const struct tdm_host_value *value_of(const struct tdm_field *field, int id)
{
	static const struct tdm_host_value none;
	const struct tdm_host *host = ((const struct tdm_status_report *)field->table->context)->host;
	if (host == NULL || DEVICE_OF(field)->host_card >= host->card_count)
		return &none;
	const struct tdm_host_value *value = &host->cards[DEVICE_OF(field)->host_card].values[id];
	return value->state == TDM_HOST_KNOWN ? value : &none;
}

static struct tdm_value get_text(const struct tdm_field *field)
{
	return text_or(field->column->arg >= 0 ? value_of(field, field->column->arg)->text : NULL);
}

/* A register, or half of one. */
enum half { WHOLE, LOW, HIGH };

static struct tdm_value get_hex(const struct tdm_field *field)
{
	const struct tdm_host_value *value = value_of(field, field->column->arg);
	const uint64_t parts[] = { value->id, value->id & UINT32_MAX, value->id >> 32 };
	char text[24];
	if (value->state != TDM_HOST_KNOWN || (field->column->arg != TDM_HOST_SERIAL && value->number < 0))
		return tdm_value_text(NULL);
	return tdm_field_printed(field, "%s", tdm_format_hex(text, sizeof text, parts[field->column->decimals]));
}

/* A reading divided by `arg`, padded as in tt-smi. */
static struct tdm_value get_telemetry(const struct tdm_field *field)
{
	const struct tdm_column *column = field->column;
	const struct tdm_reading *reading = (const void *)((const char *)field->row + column->offset);
	if (!reading->is_known)
		return text_or(NULL);
	return tdm_field_printed(field, "%*.*f", column->width, column->decimals, (double)reading->value / column->arg);
}

static struct tdm_value get_bus(const struct tdm_field *field)
{
	return text_or(DEVICE_OF(field)->pci);
}

/* tt-smi marks the Wormhole chip that is on the bus with "L"; every card known to the driver is on the bus. */
static struct tdm_value get_type(const struct tdm_field *field)
{
	const struct tdm_picture_device *device = DEVICE_OF(field);
	const struct tdm_host *host = ((const struct tdm_status_report *)field->table->context)->host;
	bool is_wormhole = host != NULL && device->host_card < host->card_count &&
			   host->cards[device->host_card].arch == TDM_HOST_WORMHOLE;
	return device->card[0] == '\0' ? text_or(NULL)
				       : tdm_field_printed(field, "%s%s", device->card, is_wormhole ? " L" : "");
}

static struct tdm_value get_serial(const struct tdm_field *field)
{
	const struct tdm_host_value *serial = value_of(field, TDM_HOST_SERIAL);
	return serial->state != TDM_HOST_KNOWN ? text_or(NULL) : tdm_field_printed(field, "%016" PRIx64, serial->id);
}

/* The generation of a PCIe link from its speed ("16.0 GT/s PCIe"). */
static struct tdm_value get_generation(const struct tdm_field *field)
{
	static const char *const speeds[] = { "2.5 ", "5.0 ", "8.0 ", "16.0 ", "32.0 ", "64.0 " };
	const char *speed = value_of(field, TDM_HOST_LINK_SPEED)->text;
	for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
		if (tdm_has_prefix(speed, speeds[i]))
			return tdm_value_number(i + 1);
	return text_or(NULL);
}

static struct tdm_value get_chip_source(const struct tdm_field *field)
{
	(void)field;
	return tdm_value_text(tdm_from_name(TDM_FROM_METAL_SHM));
}

/* The chips as counted by tt-metal's shared memory. */
static struct tdm_value get_chips(const struct tdm_field *field)
{
#define CHIP(member) TDM_MEMBER(struct tdm_picture_chip, member)
	static const struct tdm_column columns[] = {
		{ NULL, "chip", CHIP(chip) },
		{ NULL, "remote", CHIP(is_remote) },
		{ NULL, "dram", CHIP(bytes[TDM_KIND_DRAM]) },
		{ NULL, "l1", CHIP(bytes[TDM_KIND_L1]) },
		{ NULL, "l1_small", CHIP(bytes[TDM_KIND_L1_SMALL]) },
		{ NULL, "trace", CHIP(bytes[TDM_KIND_TRACE]) },
		{ NULL, "cb", CHIP(bytes[TDM_KIND_CB]) },
		{ NULL, "source", .get = get_chip_source },
	};
	const struct tdm_picture_device *device = DEVICE_OF(field);
	return tdm_field_table(
		field, TDM_TABLE_OF(columns, device->chips, tdm_min(device->chip_count, TDM_PICTURE_CHIPS_MAX)));
}

static struct tdm_value get_kinds(const struct tdm_field *field)
{
	return tdm_field_table(field, tdm_kind_table(DEVICE_OF(field), NULL, 0));
}

static struct tdm_value get_l1(const struct tdm_field *field)
{
	struct tdm_l1_account *account = tdm_arena_take(field->scratch, sizeof *account);
	tdm_l1_account(account, DEVICE_OF(field));
	const uint64_t figures[] = { account->total, account->core_bytes, account->cores };
	size_t i = (size_t)field->column->arg;
	return i < sizeof figures / sizeof *figures ? tdm_value_number(figures[i])
						    : tdm_field_table(field, tdm_l1_table(account));
}

#define NONE          .get = get_text, .arg = -1
#define HOST(id)      .get = get_text, .arg = TDM_HOST_##id
#define HEX(id, half) .get = get_hex, .arg = TDM_HOST_##id, .decimals = (half)
#undef READING
#define READING(member)   .get = get_telemetry, .offset = offsetof(struct tdm_picture_device, telemetry.member)
#define FORM(one, w, dec) .arg = (one), .width = (w), .decimals = (dec)
#define DEVICE(member)    TDM_MEMBER(struct tdm_picture_device, member)
static const struct tdm_column device_columns[] = {
	{ NULL, "smbus_telem.BOARD_ID", HEX(SERIAL, WHOLE) },
	{ NULL, "smbus_telem.BOARD_ID_HIGH", HEX(SERIAL, HIGH) },
	{ NULL, "smbus_telem.BOARD_ID_LOW", HEX(SERIAL, LOW) },
	{ NULL, "smbus_telem.AXICLK", HEX(AXICLK, WHOLE) },
	{ NULL, "smbus_telem.ARCCLK", HEX(ARCCLK, WHOLE) },
	{ NULL, "smbus_telem.VCORE", HEX(VOLTAGE, WHOLE) },
	{ NULL, "smbus_telem.FAN_RPM", HEX(FAN, WHOLE) },
	{ .key = "smbus_telem.ETH_FW_VERSION" },
	{ .key = "smbus_telem.DDR_STATUS" },
	{ .key = "smbus_telem.FAN_SPEED" },
	{ .key = "smbus_telem.AICLK" },
	{ .key = "smbus_telem.ASIC_TEMPERATURE" },
	{ .key = "smbus_telem.VREG_TEMPERATURE" },
	{ .key = "smbus_telem.BOARD_TEMPERATURE" },
	{ .key = "smbus_telem.TDP" },
	{ .key = "smbus_telem.TDC" },
	{ .key = "smbus_telem.VDD_LIMITS" },
	{ .key = "smbus_telem.THM_LIMITS" },
	{ .key = "smbus_telem.TT_FLASH_VERSION" },
	{ NULL, "board_info.bus_id", DEVICE(pci), .get = get_bus },
	{ NULL, "board_info.board_type", .get = get_type },
	{ NULL, "board_info.board_id", .get = get_serial },
	{ NULL, "board_info.coords", NONE },
	{ .key = "board_info.dram_status" }, /* a boolean in tt-smi */
	{ NULL, "board_info.dram_speed", NONE },
	{ NULL, "board_info.pcie_speed", .get = get_generation },
	{ NULL, "board_info.pcie_width", HOST(LINK_WIDTH) },
	{ NULL, "telemetry.voltage", READING(voltage), FORM(1000, 4, 2) },
	{ NULL, "telemetry.current", READING(current), FORM(1000, 5, 1) },
	{ NULL, "telemetry.power", READING(power), FORM(1000000, 5, 1) },
	{ NULL, "telemetry.board_power", NONE },
	{ NULL, "telemetry.aiclk", READING(clock), FORM(1, 4, 0) },
	{ NULL, "telemetry.asic_temperature", READING(temp), FORM(1000, 4, 1) },
	{ NULL, "telemetry.fan_speed", READING(fan), FORM(1, 0, 0) },
	{ NULL, "telemetry.heartbeat", READING(heartbeat), FORM(1, 0, 0) },
	{ NULL, "firmwares.fw_bundle_version", HOST(FW_BUNDLE) },
	{ NULL, "firmwares.tt_flash_version", HOST(FW_TTFLASH) },
	{ NULL, "firmwares.cm_fw", HOST(FW_ARC) },
	{ NULL, "firmwares.cm_fw_date", NONE },
	{ NULL, "firmwares.eth_fw", HOST(FW_ETH) },
	{ NULL, "firmwares.dm_bl_fw", HOST(FW_M3BL) },
	{ NULL, "firmwares.dm_app_fw", HOST(FW_M3APP) },
	{ NULL, "firmwares.gddr_fw", NONE },
	{ NULL, "limits.vdd_min", NONE },
	{ NULL, "limits.vdd_max", READING(voltage_max), FORM(1000, 4, 2) },
	{ NULL, "limits.tdp_limit", READING(power_max), FORM(1000000, 3, 0) },
	{ NULL, "limits.tdc_limit", READING(current_max), FORM(1000, 3, 0) },
	{ NULL, "limits.asic_fmax", NONE },
	{ NULL, "limits.therm_trip_l1_limit", NONE },
	{ NULL, "limits.thm_limit", READING(temp_max), FORM(1000, 2, 0) },
	{ NULL, "limits.bus_peak_limit", NONE },
	{ NULL, "limits.fan_rpm_limit", NONE },
	{ NULL, "limits.board_power_limit", NONE },
	{ NULL, "memory.index", TDM_INDEX },
	{ NULL, "memory.host", TDM_VIA(struct tdm_picture_device, host, struct tdm_picture_host, name) },
	{ NULL, "memory.number", DEVICE(number), .flags = TDM_NEGATIVE_IS_UNKNOWN },
	{ NULL, "memory.node", DEVICE(node), .flags = TDM_NEGATIVE_IS_UNKNOWN },
	{ NULL, "memory.pci", DEVICE(pci), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "memory.chip_id", DEVICE(chip_id), TDM_KNOWN_IF(struct tdm_picture_device, has_chip_id) },
	{ NULL, "memory.virtual", DEVICE(is_virtual) },
	{ NULL, "memory.board", DEVICE(is_board) },
	{ NULL, "memory.card", DEVICE(card), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "memory.card_source", DEVICE(card_from), .get = tdm_get_source },
	{ NULL, "memory.architecture", DEVICE(arch), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "memory.grid_x", DEVICE(grid_x), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "memory.grid_y", DEVICE(grid_y), .flags = TDM_ZERO_IS_UNKNOWN },
	{ .key = "memory.hardware_queues" },
	{ NULL, "memory.process_count", DEVICE(process_count) },
	{ NULL, "memory.sources", DEVICE(sources), .get = tdm_get_sources },
	{ NULL, "memory.space_is_old", DEVICE(space_is_old) },
	{ NULL, "memory.kinds", .get = get_kinds },
	{ NULL, "memory.l1.total", .get = get_l1, .arg = 0 },
	{ NULL, "memory.l1.core_bytes", .get = get_l1, .arg = 1 },
	{ NULL, "memory.l1.cores", .get = get_l1, .arg = 2 },
	{ NULL, "memory.l1.peak", DEVICE(l1_peak) },
	{ NULL, "memory.l1.lowest_buffer", DEVICE(l1_lowest) },
	{ NULL, "memory.l1.highest_cb", DEVICE(cb_highest) },
	{ NULL, "memory.l1.parts", .get = get_l1, .arg = 3 },
	{ NULL, "memory.chips", .get = get_chips },
};

static bool skip_device(const struct tdm_table *table, const void *row)
{
	const struct tdm_status_report *report = table->context;
	const struct tdm_picture_device *device = row;
	return !tdm_pick_takes_device(&report->pick, report->picture, (size_t)(device - report->picture->devices));
}

void tdm_snapshot_devices(struct tdm_block *in, const struct tdm_status_report *report, const char *key)
{
	struct tdm_table table = TDM_TABLE_OF(device_columns, report->picture->devices, report->picture->device_count);
	table.skip = skip_device;
	table.context = report;
	tdm_add_table(in, key, NULL, table)->is_data_only = true;
}

void tdm_snapshot_processes(struct tdm_block *in, const struct tdm_status_report *report)
{
	struct tdm_proc_rows *rows = tdm_proc_rows_kept(in->result, report->picture,
		&(struct tdm_proc_view){ .form = TDM_PROC_EACH, .with_boards = true, .pick = report->pick });
	struct tdm_table table = tdm_proc_rows_table(rows, 0, NULL);
	table.count = rows->processes;
	tdm_add_table(in, "processes", NULL, table)->is_data_only = true;
}

static void add_machine(struct tdm_block *in, const struct tdm_machine *machine)
{
	enum { CAP = 64 };
	static const struct tdm_machine none = { .memory_bytes = TDM_BYTES_UNKNOWN };
	static const char *const units[] = { "", "K", "M", "G", "T", "P" };
	const struct tdm_machine *m = machine != NULL ? machine : &none;
	const char *memory = NULL, *driver = NULL;
	if (m->memory_bytes != TDM_BYTES_UNKNOWN) { /* powers of 1024, two digits, a blank before the unit */
		double size = (double)m->memory_bytes;
		size_t unit = 0;
		for (; size >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
			size /= 1024;
		memory = tdm_result_printed(in->result, "%.2f %sB", size, units[unit]);
	}
	if (m->driver[0] != '\0')
		driver = tdm_result_printed(in->result, "TT-KMD %s", m->driver);
	tdm_data_all(tdm_add_group(in, "host_info", NULL),
		TDM_VALUES({ "OS", text_or(m->system) }, { "Distro", text_or(m->distro) },
			{ "Kernel", text_or(m->release) }, { "Hostname", text_or(m->host) },
			{ "Platform", text_or(m->machine) }, { "Python", text_or(NULL) }, { "Memory", text_or(memory) },
			{ "Driver", text_or(driver) }));
	tdm_data_all(tdm_add_group(in, "host_sw_vers", NULL),
		TDM_VALUES({ "tidemark", tdm_value_text(TDM_VERSION_STRING) }, { "tt_smi", text_or(NULL) },
			{ "pyluwen", text_or(NULL) }, { "tt_umd", text_or(NULL) }));
}

static void add_status(struct tdm_block *in, const struct tdm_status_report *report)
{
	const struct tdm_picture *picture = report->picture;
#define PROBLEM(member) TDM_MEMBER(struct tdm_picture_problem, member), .flags = TDM_ZERO_IS_UNKNOWN
	static const struct tdm_column problem_columns[] = {
		{ NULL, "source", PROBLEM(from), .get = tdm_get_source },
		{ NULL, "place", PROBLEM(place) },
		{ NULL, "reason", PROBLEM(text) },
	};
#define MACHINE(member) TDM_MEMBER(struct tdm_picture_host, member)
	static const struct tdm_column host_columns[] = {
		{ NULL, "host", MACHINE(name) },
		{ NULL, "age_ns", MACHINE(age_ns) },
		{ NULL, "reason", MACHINE(reason) },
	};
	struct tdm_block *group = tdm_add_group(in, "status", NULL);
	tdm_data_all(
		group, TDM_VALUES({ "taken_ns", tdm_value_if(picture->real_ns != 0, tdm_value_ns(picture->real_ns)) },
			       { "device_count", tdm_value_count(picture->device_count) },
			       { "process_count", tdm_value_count(picture->process_count) }));
	/* Problems name other users' files. */
	tdm_add_table(group, "unreadable", NULL,
		TDM_TABLE_OF(problem_columns, picture->problems, report->pick.by_user ? 0 : picture->problem_count))
		->is_data_only = true;
	if (picture->hosts != NULL)
		tdm_add_table(group, "hosts", NULL, TDM_TABLE_OF(host_columns, picture->hosts, picture->host_count))
			->is_data_only = true;
	struct tdm_findings found = { 0 };
	find(report, &found);
	tdm_add_findings(group, "findings", NULL, &found)->is_data_only = true;
}

void tdm_snapshot_show(struct tdm_block *in, const struct tdm_status_report *report)
{
	add_status(in, report);
	add_machine(in, report->machine);
	tdm_snapshot_devices(in, report, "device_info");
	tdm_snapshot_processes(in, report);
}

/* ---- all ---- */

void tdm_status_show(struct tdm_block *in, const struct tdm_status_report *report)
{
	const struct tdm_picture *picture = report->picture;
	const struct tdm_status_facts all = tdm_status_facts(report), *facts = &all;
	bool is_short = report->form == TDM_STATUS_SHORT ||
			(report->form == TDM_STATUS_AUTO && facts->devices > TDM_STATUS_BLOCKS_MAX);
	add_head(in, report, facts);
	if (is_short && facts->devices != 0)
		add_lines(in, report, facts->processes);
	for (size_t i = 0; i < picture->device_count && !is_short; i++)
		if (!picture->devices[i].is_board && tdm_pick_takes_device(&report->pick, picture, i))
			add_device(in, report, &picture->devices[i]);
	if (facts->boards != 0)
		add_boards(in, report);
	if (facts->processes + facts->devices + facts->boards != 0)
		add_processes(in, report);
	add_findings(in, report);
	add_problems(in, report);
	if (facts->devices != 0 || facts->boards != 0)
		add_legend(in, facts, is_short);
	tdm_snapshot_show(in, report);
}
