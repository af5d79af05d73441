#include "sources/perf_csv.h"
#include "base/csv.h"
#include "base/err.h"
#include "base/map.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>

enum { ROWS_MAX = 1 << 26, NAME_MAX_BYTES = 512, SHOWN = 40, PROBES = 64 };

static const char *const columns[] = {
#define X(id, column, key) column,
	TDM_PERF_FIGURE_LIST(X)
#undef X
};

static const char *const keys[] = {
#define X(id, column, key) key,
	TDM_PERF_FIGURE_LIST(X)
#undef X
};

struct reading {
	struct tdm_perf_csv *perf;
	struct tdm_csv csv;
	struct tdm_map texts; /* hash to offset; a hash that is taken by another text goes on to the next number */
	size_t at[TDM_PERF_FIGURES], code, type;
	size_t column_count;
	struct tdm_diag *diag;
	tdm_perf_warn warn;
	void *context;
};

const char *tdm_perf_column(enum tdm_perf_figure figure)
{
	return columns[figure];
}

const char *tdm_perf_key(enum tdm_perf_figure figure)
{
	return keys[figure];
}

bool tdm_perf_csv_detect(const char *head, size_t len)
{
	static const char code[] = "OP CODE";
	const char *newline = memchr(head, '\n', len);
	size_t line = newline != NULL ? (size_t)(newline - head) : len;
	/* The order of the columns has changed, but operations and times were always there. */
	return memmem(head, line, code, sizeof code - 1) != NULL && memmem(head, line, "[ns]", 4) != NULL &&
	       memchr(head, ',', line) != NULL;
}

/*
 * A whole number, or one with a fraction, which is rounded. "", "-", "nan" and "None" are how the report says that
 * there is none. 0 with *value set, or TDM_ESYNTAX or -ERANGE.
 */
static int read_number(struct tdm_str text, uint64_t *value)
{
	static const char *const none[] = { "", "-", "nan", "NaN", "None", "N/A" };
	*value = TDM_PERF_UNKNOWN;
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (tdm_str_is(text, none[i]))
			return 0;
	const char *point = memchr(text.ptr, '.', text.len);
	size_t whole_len = point != NULL ? (size_t)(point - text.ptr) : text.len;
	uint64_t whole, up = 0;
	int err = tdm_str_parse_u64((struct tdm_str){ text.ptr, whole_len }, &whole);
	for (size_t i = whole_len + 1; err == 0 && i < text.len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9')
			return TDM_ESYNTAX;
		up |= i == whole_len + 1 && text.ptr[i] >= '5';
	}
	if (err == 0 && whole >= TDM_PERF_UNKNOWN - 1)
		err = -ERANGE;
	if (err == 0)
		*value = whole + up;
	return err;
}

/* The offset of a text, which is kept once; UINT32_MAX when out of memory. */
static uint32_t keep_text(struct reading *r, struct tdm_str text)
{
	struct tdm_buf *texts = &r->perf->texts;
	char shown[NAME_MAX_BYTES];
	text = tdm_str_of(tdm_str_shown(text, shown, sizeof shown));
	uint64_t hash = tdm_str_hash(text);
	for (int i = 0; i < PROBES; i++, hash++) {
		uint32_t at = tdm_map_find(&r->texts, hash);
		if (at == TDM_MAP_NONE)
			break;
		if (tdm_str_is(text, texts->data + at))
			return at;
	}
	size_t at = texts->len;
	if (at >= UINT32_MAX - NAME_MAX_BYTES)
		return UINT32_MAX;
	tdm_buf_add(texts, text.ptr, text.len);
	tdm_buf_putc(texts, '\0');
	if (tdm_buf_failed(texts) || tdm_map_put(&r->texts, hash, (uint32_t)at) != 0)
		return UINT32_MAX;
	return (uint32_t)at;
}

static int read_header(struct reading *r)
{
	struct tdm_perf_csv *perf = r->perf;
	r->code = tdm_csv_find(&r->csv, "OP CODE");
	r->type = tdm_csv_find(&r->csv, "OP TYPE");
	r->column_count = r->csv.field_count;
	perf->has_type = r->type != SIZE_MAX;
	for (int i = 0; i < TDM_PERF_FIGURES; i++) {
		r->at[i] = tdm_csv_find(&r->csv, columns[i]);
		perf->has_column[i] = r->at[i] != SIZE_MAX;
	}
	if (r->code == SIZE_MAX)
		return tdm_diag_set(r->diag, TDM_ECORRUPT, r->csv.line, 0, "no column OP CODE");
	return 0;
}

/* The report adds the waits of all cores up; what is kept is the average of a core. */
static void average_waits(struct tdm_perf_row *row)
{
	static const enum tdm_perf_figure waits[] = { TDM_PERF_FRONT, TDM_PERF_BACK };
	uint64_t cores = row->figures[TDM_PERF_CORES];
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		uint64_t *ns = &row->figures[waits[i]];
		if (*ns == TDM_PERF_UNKNOWN || *ns == 0)
			continue;
		if (cores == TDM_PERF_UNKNOWN || cores == 0)
			*ns = TDM_PERF_UNKNOWN;
		else
			*ns = *ns / cores + (*ns % cores >= cores - cores / 2);
	}
}

static int read_row(struct reading *r)
{
	struct tdm_perf_csv *perf = r->perf;
	struct tdm_perf_row row = { .line = r->csv.line };
	struct tdm_str code = tdm_csv_field(&r->csv, r->code);
	if (r->csv.field_count != r->column_count)
		return tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "%zu fields, but there are %zu columns",
			r->csv.field_count, r->column_count);
	if (code.len == 0)
		return tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "no OP CODE");
	for (int i = 0; i < TDM_PERF_FIGURES; i++) {
		struct tdm_str text = tdm_csv_field(&r->csv, r->at[i]);
		char shown[SHOWN];
		int err = read_number(text, &row.figures[i]);
		if (err == 0)
			continue;
		perf->odd++;
		tdm_diag_set(r->diag, err, r->csv.line, 0, "%s: %s: '%s'", columns[i],
			err == -ERANGE ? "a number that is too large" : "not a number",
			tdm_str_shown(text, shown, sizeof shown));
		if (r->warn != NULL)
			r->warn(r->context, r->diag);
	}
	average_waits(&row);
	row.code = keep_text(r, code);
	row.type = keep_text(r, tdm_csv_field(&r->csv, r->type));
	if (row.code == UINT32_MAX || row.type == UINT32_MAX)
		return -ENOMEM;
	if (perf->row_count == ROWS_MAX ||
		tdm_reserve(&perf->rows, &perf->row_cap, perf->row_count + 1, sizeof *perf->rows) != 0)
		return -ENOMEM;
	perf->rows[perf->row_count++] = row;
	return 0;
}

static int read_records(struct reading *r)
{
	bool has_header = false;
	for (;;) {
		int err = tdm_csv_next(&r->csv, r->diag);
		if (err == 0)
			return has_header ? 0 : tdm_diag_set(r->diag, TDM_ECORRUPT, 0, 0, "no names of columns");
		if (err < 0 && err != TDM_ESYNTAX && err != -EMSGSIZE)
			return err;
		if (err == 1 && !has_header) {
			if ((err = read_header(r)) != 0)
				return err;
			has_header = true;
		} else if (err == 1) {
			err = read_row(r);
		}
		if (err == -ENOMEM)
			return tdm_diag_set(r->diag, err, r->csv.line, 0, "out of memory");
		if (err < 0) {
			r->perf->refused++;
			if (r->warn != NULL)
				r->warn(r->context, r->diag);
		}
	}
}

static int read_all(struct reading *r, int opened)
{
	tdm_buf_init(&r->perf->texts);
	int err = opened != 0 ? opened : tdm_map_init(&r->texts);
	err = err != 0 ? tdm_diag_set(r->diag, err, 0, 0, "out of memory") : read_records(r);
	tdm_map_done(&r->texts);
	tdm_csv_done(&r->csv);
	return err;
}

int tdm_perf_csv_read(struct tdm_perf_csv *perf, int fd, tdm_perf_warn warn, void *context, struct tdm_diag *diag)
{
	struct reading r = { .perf = perf, .diag = diag, .warn = warn, .context = context };
	*perf = (struct tdm_perf_csv){ 0 };
	return read_all(&r, tdm_csv_open(&r.csv, fd));
}

int tdm_perf_csv_parse(
	struct tdm_perf_csv *perf, struct tdm_str text, tdm_perf_warn warn, void *context, struct tdm_diag *diag)
{
	struct reading r = { .perf = perf, .diag = diag, .warn = warn, .context = context };
	*perf = (struct tdm_perf_csv){ 0 };
	return read_all(&r, tdm_csv_memory(&r.csv, text.ptr, text.len));
}

void tdm_perf_csv_done(struct tdm_perf_csv *perf)
{
	free(perf->rows);
	tdm_buf_done(&perf->texts);
	*perf = (struct tdm_perf_csv){ 0 };
}
