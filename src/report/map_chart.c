/*
 * A bank is drawn like lines of text: the first row has the lowest addresses, and the next one continues where it ends.
 * Buffers whose names differ only in numbers (layers.*.weight) form one group; the largest groups have a colour of
 * their own. If the others would take more than one of these, the ends of the names are left out until they do not:
 * model.encoder.a and model.encoder.b become model.encoder...
 */
#include "report/map_chart.h"
#include "base/number.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 16, COLOURS = 12, ROW_NAME_CAP = 24, NAME_CAP = 48, WORDS_MAX = 8 };

/* The last one, grey, is for all that have none of their own. */
static const uint32_t colours[COLOURS] = { 0x4da6b8, 0xe38a42, 0x7a6ff0, 0xd6618f, 0x5b8c3e, 0xc9b037, 0x8a6d3b,
	0x2b5c9e, 0xa33b3b, 0x2bb673, 0x9b59b6, 0x9aa0a6 };

/* Buffers of one group. */
struct owner {
	const char *name;
	uint64_t bytes;
};

/* Everything that the scene of one call points to. */
struct bank {
	const struct tdm_picture *picture;
	const struct tdm_region_map *region;
	char (*groups)[NAME_CAP]; /* of each span */
	struct owner *owners;     /* the largest first */
	size_t owner_count;
	struct tdm_plot_span *spans;
	struct tdm_plot_row rows[ROWS];
	char row_names[ROWS][ROW_NAME_CAP], names[COLOURS][NAME_CAP];
	struct tdm_plot_series series[COLOURS];
};

static int show(const struct tdm_scene *scene, const struct tdm_live_report *report,
	const struct tdm_map_picture *picture, struct tdm_buf *out, struct tdm_diag *diag)
{
	return picture->path != NULL ? tdm_plot_write(scene, picture->path, &picture->size, diag)
				     : tdm_plot_print(scene, &report->term, out, diag);
}

static int by_name(const void *left, const void *right)
{
	const struct owner *a = left, *b = right;
	return strcmp(a->name, b->name);
}

static int by_bytes(const void *left, const void *right)
{
	const struct owner *a = left, *b = right;
	return a->bytes != b->bytes ? (a->bytes > b->bytes ? -1 : 1) : strcmp(a->name, b->name);
}

static const char *name_of(const struct bank *bank, const struct tdm_region_span *span)
{
	const char *name = tdm_picture_text(bank->picture, span->buffer->name);
	return name[0] != '\0' ? name : "without a name";
}

/* The first words of the name, with a star for each number in it. */
static void group_of(const char *name, size_t words, char group[NAME_CAP])
{
	static const char cut[] = "...";
	size_t n = 0;
	for (; *name != '\0' && n < NAME_CAP - sizeof cut; name++) {
		bool is_digit = *name >= '0' && *name <= '9';
		if (strchr("./:", *name) != NULL && name[1] != '\0' && --words == 0)
			break;
		if (!is_digit || n == 0 || group[n - 1] != '*')
			group[n++] = is_digit ? '*' : *name;
	}
	snprintf(group + n, NAME_CAP - n, "%s", *name != '\0' ? cut : "");
}

static void find_owners(struct bank *bank, size_t words)
{
	const struct tdm_region_map *region = bank->region;
	size_t kept = 0;
	for (size_t i = 0; i < region->span_count; i++) {
		group_of(name_of(bank, &region->spans[i]), words, bank->groups[i]);
		bank->owners[i] = (struct owner){ bank->groups[i], region->spans[i].bytes };
	}
	qsort(bank->owners, region->span_count, sizeof *bank->owners, by_name);
	for (size_t i = 0; i < region->span_count; i++)
		if (kept != 0 && strcmp(bank->owners[kept - 1].name, bank->owners[i].name) == 0)
			bank->owners[kept - 1].bytes += bank->owners[i].bytes;
		else
			bank->owners[kept++] = bank->owners[i];
	qsort(bank->owners, kept, sizeof *bank->owners, by_bytes);
	bank->owner_count = kept;
}

/* Bytes of the groups without a colour of their own. */
static uint64_t rest_of(const struct bank *bank)
{
	uint64_t rest = 0;
	for (size_t i = COLOURS - 1; bank->owner_count > COLOURS && i < bank->owner_count; i++)
		rest = tdm_plus(rest, bank->owners[i].bytes);
	return rest;
}

static void choose_owners(struct bank *bank)
{
	size_t best = WORDS_MAX;
	uint64_t least = UINT64_MAX;
	for (size_t words = WORDS_MAX; words > 0; words--) {
		find_owners(bank, words);
		uint64_t rest = rest_of(bank);
		if (rest == 0 || rest <= bank->owners[COLOURS - 2].bytes)
			return;
		best = rest < least ? words : best;
		least = tdm_min(rest, least);
	}
	find_owners(bank, best);
}

/* If there are more groups than colours, the last colour is for all others. */
static size_t make_series(struct bank *bank)
{
	size_t count = bank->owner_count < COLOURS ? bank->owner_count : COLOURS;
	for (size_t i = 0; i < count; i++) {
		bool is_rest = i == COLOURS - 1 && bank->owner_count > COLOURS;
		if (is_rest)
			snprintf(bank->names[i], NAME_CAP, "%zu others", bank->owner_count - i);
		else
			snprintf(bank->names[i], NAME_CAP, "%.*s", NAME_CAP - 1, bank->owners[i].name);
		bank->series[i] = (struct tdm_plot_series){ bank->names[i], colours[is_rest ? COLOURS - 1 : i], NULL };
	}
	return count;
}

static size_t series_of(const struct bank *bank, const char *group)
{
	for (size_t i = 0; i < COLOURS - 1 && i < bank->owner_count; i++)
		if (strcmp(bank->owners[i].name, group) == 0)
			return i;
	return COLOURS - 1;
}

/* Cuts the spans at the ends of rows. */
static void fill_rows(struct bank *bank, uint64_t row_bytes, size_t row_count)
{
	const struct tdm_region_map *region = bank->region;
	size_t n = 0, i = 0;
	for (size_t r = 0; r < row_count; r++) {
		uint64_t from = region->base + r * row_bytes;
		size_t first = n;
		snprintf(bank->row_names[r], ROW_NAME_CAP, "0x%" PRIx64, from);
		while (i < region->span_count) {
			const struct tdm_region_span *span = &region->spans[i];
			uint64_t begin = span->address > from ? span->address - from : 0;
			if (begin >= row_bytes)
				break;
			if (span->address < from && from - span->address >= span->bytes) {
				i++; /* covered by an earlier span that ends later */
				continue;
			}
			uint64_t end = begin != 0 ? begin + span->bytes : span->bytes - (from - span->address);
			bank->spans[n++] =
				(struct tdm_plot_span){ (double)begin, (double)(end < row_bytes ? end : row_bytes),
					series_of(bank, bank->groups[i]), name_of(bank, span) };
			if (end > row_bytes)
				break; /* it continues in the next row */
			i++;
		}
		bank->rows[r] = (struct tdm_plot_row){ bank->row_names[r], bank->spans + first, n - first };
	}
}

static int draw_bank(const struct tdm_live_report *report, const struct tdm_region_map *region,
	const struct tdm_map_picture *picture, struct tdm_buf *out, struct tdm_diag *diag)
{
	const char *kind = tdm_kind_name((enum tdm_kind)region->kind);
	if (region->span_count == 0 || region->bank_size == 0)
		return tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: no buffer of %s has a known place", kind);
	struct bank *bank = calloc(1, sizeof *bank);
	struct owner *owners = calloc(region->span_count, sizeof *owners);
	struct tdm_plot_span *spans = calloc(region->span_count + ROWS, sizeof *spans);
	char(*groups)[NAME_CAP] = calloc(region->span_count, sizeof *groups);
	int err = -ENOMEM;
	if (bank == NULL || owners == NULL || spans == NULL || groups == NULL) {
		tdm_diag_set(diag, err, 0, 0, "out of memory for the chart");
		goto done;
	}
	*bank = (struct bank){
		.picture = report->picture, .region = region, .groups = groups, .owners = owners, .spans = spans
	};
	uint64_t row_bytes = region->bank_size / ROWS + (region->bank_size % ROWS != 0);
	size_t row_count = (size_t)(region->bank_size / row_bytes + (region->bank_size % row_bytes != 0));
	char subtitle[160], used[TDM_BYTES_CAP], size[TDM_BYTES_CAP], hole[TDM_BYTES_CAP];
	choose_owners(bank);
	size_t series_count = make_series(bank);
	fill_rows(bank, row_bytes, row_count);
	snprintf(subtitle, sizeof subtitle, "One bank of %s: %s of %s used, the largest hole has %s", kind,
		tdm_format_bytes_short(used, sizeof used, region->used_bytes),
		tdm_format_bytes_short(size, sizeof size, region->bank_size),
		tdm_format_bytes_short(hole, sizeof hole, region->largest_free));
	struct tdm_scene scene = { .kind = TDM_CHART_MAP,
		.title = picture->title,
		.subtitle = subtitle,
		.x_label = "bytes from the beginning of the row",
		.unit = TDM_PLOT_BYTES,
		.series = bank->series,
		.series_count = series_count,
		.rows = bank->rows,
		.row_count = row_count,
		.map_from = 0,
		.map_to = (double)row_bytes };
	err = show(&scene, report, picture, out, diag);
done:
	free(groups);
	free(spans);
	free(owners);
	free(bank);
	return err;
}

static int draw_cores(const struct tdm_live_report *report, const struct tdm_device_map *map,
	const struct tdm_map_picture *picture, struct tdm_buf *out, struct tdm_diag *diag)
{
	const struct tdm_core_map *cores = &map->cores;
	size_t count = (size_t)cores->grid_x * cores->grid_y;
	if (count == 0)
		return tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: the grid of cores is not known");
	double *cells = malloc(count * sizeof *cells);
	if (cells == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory for the chart");
	for (size_t i = 0; i < count; i++)
		cells[i] = (double)cores->cores[i].total;
	char subtitle[160], size[TDM_BYTES_CAP], more[TDM_BYTES_CAP];
	int len = snprintf(subtitle, sizeof subtitle, "L1 in use, of %s in each core",
		tdm_format_bytes_short(size, sizeof size, map->core_bytes));
	if (cores->somewhere_buffers != 0)
		snprintf(subtitle + len, sizeof subtitle - (size_t)len, "; up to %s more on unknown cores",
			tdm_format_bytes_short(more, sizeof more, cores->somewhere.total));
	struct tdm_scene scene = { .kind = TDM_CHART_HEAT,
		.title = picture->title,
		.subtitle = subtitle,
		.unit = TDM_PLOT_BYTES,
		.cells = cells,
		.grid_width = cores->grid_x,
		.grid_height = cores->grid_y,
		.cell_max = map->core_bytes != TDM_BYTES_UNKNOWN ? (double)map->core_bytes : 0 };
	int err = show(&scene, report, picture, out, diag);
	free(cells);
	return err;
}

int tdm_map_chart_draw(const struct tdm_live_report *report, const struct tdm_map_picture *picture, struct tdm_buf *out,
	struct tdm_diag *diag)
{
	size_t count = 0;
	struct tdm_device_map_query *scenes = tdm_map_scenes(report, &count);
	struct tdm_device_map map = { 0 };
	enum tdm_kind kind = report->filter.has_kind ? report->filter.kind : TDM_KIND_DRAM;
	int err;
	if (scenes == NULL)
		err = tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory for the chart");
	else if (count == 0)
		err = tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: no device holds anything");
	else if (count > 1)
		err = tdm_diag_set(
			diag, -EINVAL, 0, 0, "%zu maps, and a chart shows one: choose with --device or --pid", count);
	else if (picture->chart == TDM_MAP_CHART_BANK && kind > TDM_KIND_TRACE)
		err = tdm_diag_set(
			diag, -EINVAL, 0, 0, "banks have dram, l1, l1_small and trace, not %s", tdm_kind_name(kind));
	else if (tdm_device_map_init(&map, report->picture, &scenes[0]) != 0)
		err = tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory for the chart");
	else if (picture->chart == TDM_MAP_CHART_BANK)
		err = draw_bank(report, &map.regions[kind], picture, out, diag);
	else
		err = draw_cores(report, &map, picture, out, diag);
	tdm_device_map_done(&map);
	free(scenes);
	return err;
}
