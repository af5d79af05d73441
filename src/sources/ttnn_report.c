/*
 * ttnn's report of operations, as ttnn-visualizer shows it: db.sqlite in the report's folder. Its tables differ between
 * releases, so each column may be missing; docs/formats/ttnn_report.md lists them.
 *
 * Buffers are listed again after every operation, so their table is by far the largest: it is read once, in the order
 * of operations, and never kept. If its rows have another order, SQLite sorts them on disk.
 */
#include "base/err.h"
#include "sources/format.h"
#include "sources/sqlite_file.h"

static bool report_recognise(struct tdm_str head, const char *path)
{
	(void)path;
	return tdm_sqlite_recognise(head);
}

#if TDM_HAVE_SQLITE

#include "base/reserve.h"
#include "sources/capture_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { GRAPHS_MAX = 1 << 22, CORES_MAX = 32 };

static const uint8_t buffer_kinds[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_SYSTEM, TDM_KIND_L1_SMALL,
	TDM_KIND_TRACE };

/* A row of captured_graph. */
struct graph {
	uint32_t rank;
	uint64_t operation;
	int64_t row;
};

struct reading {
	struct tdm_sqlite *db;
	const struct tdm_record_sink *sink;
	struct tdm_diag *diag;
	struct graph *graphs;
	size_t graph_count, graph_cap, graph_next;
	uint64_t within; /* the operation whose captured graph is read */
	const char *table;
	struct tdm_sqlite_rows *rows; /* the ones that are looked at */
	bool is_bad;                  /* the row has a value that makes no sense: it was refused */
};

static int push(const struct reading *r, struct tdm_record record)
{
	return r->sink->take(r->sink->to, &record);
}

/* ---- values ---- */

/* Refuses the row, once. The code of the sink goes to the end of the table. */
static void refuse(struct reading *r, const char *column, const char *what)
{
	if (!r->is_bad)
		tdm_diag_set(r->diag, TDM_ESYNTAX, 0, 0, "row %" PRId64 " of %s: %s %s", tdm_sqlite_row(r->rows),
			r->table, column, what);
	r->is_bad = true;
}

/* A number below `limit`. One that is missing is `missing`, or refused if that is UINT64_MAX. */
static uint64_t number(struct reading *r, size_t at, const char *const *columns, uint64_t limit, uint64_t missing)
{
	int64_t value;
	int got = tdm_sqlite_integer(r->rows, at, &value);
	if (got == 0 && missing != UINT64_MAX)
		return missing;
	if (got == 0)
		refuse(r, columns[at], "is missing");
	else if (got < 0)
		refuse(r, columns[at], "is not a number");
	else if (value < 0)
		refuse(r, columns[at], "is negative");
	else if ((uint64_t)value >= limit)
		refuse(r, columns[at], "is too large");
	return r->is_bad ? 0 : (uint64_t)value;
}

static uint32_t rank_of(struct reading *r, size_t at, const char *const *columns)
{
	return (uint32_t)number(r, at, columns, TDM_REPORT_RANKS_MAX, 0);
}

static uint8_t kind_of(struct reading *r, size_t at, const char *const *columns, uint64_t missing)
{
	uint64_t value = number(r, at, columns, sizeof buffer_kinds, missing);
	return value < sizeof buffer_kinds ? buffer_kinds[value] : TDM_KIND_COUNT;
}

/* ---- tables ---- */

/* Takes one row: reads it and pushes what it says. 0, or the code of the sink. */
typedef int (*take_row)(struct reading *r, const char *const *columns);

/* Passes a refused row to the sink, if the last one was. */
static int pass_refused(struct reading *r)
{
	bool was_bad = r->is_bad;
	r->is_bad = false;
	return was_bad ? tdm_record_refuse(r->sink, r->diag, false) : 0;
}

/* A table that cannot be read, or not to its end, is refused as a whole; the others are read. */
static int lose_table(struct reading *r, int err)
{
	return err == -ENOMEM ? err : tdm_record_refuse(r->sink, r->diag, false);
}

static int read_table(struct reading *r, const char *table, const char *const *columns, const char *by, take_row take)
{
	const struct tdm_sqlite_query query = { .table = table, .columns = columns, .by = by };
	struct tdm_sqlite_rows *rows;
	int got = tdm_sqlite_select(r->db, &query, &rows, r->diag), err = 0;
	if (got <= 0)
		return got < 0 ? lose_table(r, got) : 0;
	r->table = table;
	r->rows = rows;
	while (err == 0 && (got = tdm_sqlite_next(rows, r->diag)) == 1) {
		err = take(r, columns);
		err = err != 0 ? err : pass_refused(r);
	}
	tdm_sqlite_end(rows);
	return err != 0 ? err : got < 0 ? lose_table(r, got) : 0;
}

static int take_device(struct reading *r, const char *const *columns)
{
	struct tdm_capture_device d = { .id = number(r, 0, columns, TDM_REPORT_DEVICES_MAX, UINT64_MAX),
		.grid_x = number(r, 1, columns, UINT16_MAX, 0),
		.grid_y = number(r, 2, columns, UINT16_MAX, 0),
		.worker_l1_size = number(r, 3, columns, TDM_REPORT_SIZE_MAX, 0),
		.l1_banks = number(r, 4, columns, UINT16_MAX, 0),
		.l1_bank_size = number(r, 5, columns, TDM_REPORT_SIZE_MAX, 0),
		.l1_base = number(r, 6, columns, TDM_REPORT_SIZE_MAX, 0),
		.rank = rank_of(r, 7, columns) };
	return r->is_bad ? 0 : push(r, (struct tdm_record){ TDM_RECORD_DEVICE, .device = &d });
}

static int take_place(struct reading *r, const char *const *columns)
{
	struct tdm_report_tensor t = { .id = number(r, 0, columns, TDM_REPORT_SIZE_MAX, UINT64_MAX),
		.device = (uint32_t)number(r, 1, columns, TDM_REPORT_DEVICES_MAX, UINT64_MAX),
		.address = number(r, 2, columns, TDM_REPORT_SIZE_MAX, UINT64_MAX),
		.rank = rank_of(r, 3, columns),
		.kind = TDM_KIND_COUNT,
		.has_place = true };
	return r->is_bad ? 0 : push(r, (struct tdm_record){ TDM_RECORD_TENSOR_PLACE, .place = &t });
}

/* A tensor on the host has neither device nor address. */
static int take_tensor(struct reading *r, const char *const *columns)
{
	uint64_t device = number(r, 4, columns, TDM_REPORT_DEVICES_MAX, TDM_BYTES_UNKNOWN - 1);
	uint64_t address = number(r, 5, columns, TDM_REPORT_SIZE_MAX, TDM_BYTES_UNKNOWN - 1);
	struct tdm_report_tensor t = { .id = number(r, 0, columns, TDM_REPORT_SIZE_MAX, UINT64_MAX),
		.shape = tdm_sqlite_text(r->rows, 1),
		.dtype = tdm_sqlite_text(r->rows, 2),
		.layout = tdm_sqlite_text(r->rows, 3),
		.device = device < TDM_REPORT_DEVICES_MAX ? (uint32_t)device : 0,
		.address = address,
		.kind = kind_of(r, 6, columns, sizeof buffer_kinds),
		.rank = rank_of(r, 7, columns),
		.has_place = device < TDM_REPORT_DEVICES_MAX && address < TDM_REPORT_SIZE_MAX };
	return r->is_bad ? 0 : push(r, (struct tdm_record){ TDM_RECORD_TENSOR, .tensor = &t });
}

static int push_use(struct reading *r, const char *const *columns, bool is_output)
{
	struct tdm_report_use u = { .operation = number(r, 0, columns, TDM_REPORT_SIZE_MAX, UINT64_MAX),
		.tensor = number(r, 1, columns, TDM_REPORT_SIZE_MAX, UINT64_MAX),
		.rank = rank_of(r, 2, columns),
		.is_output = is_output };
	return r->is_bad ? 0 : push(r, (struct tdm_record){ TDM_RECORD_TENSOR_USE, .use = &u });
}

static int take_input(struct reading *r, const char *const *columns)
{
	return push_use(r, columns, false);
}

static int take_output(struct reading *r, const char *const *columns)
{
	return push_use(r, columns, true);
}

static int take_error(struct reading *r, const char *const *columns)
{
	struct tdm_report_error e = { .operation = number(r, 0, columns, TDM_REPORT_SIZE_MAX, UINT64_MAX),
		.name = tdm_sqlite_text(r->rows, 1),
		.message = tdm_sqlite_text(r->rows, 2),
		.rank = rank_of(r, 3, columns) };
	return r->is_bad ? 0 : push(r, (struct tdm_record){ TDM_RECORD_REPORT_ERROR, .error = &e });
}

static int take_part(struct reading *r, const char *const *columns)
{
	struct tdm_report_part p = { .operation = number(r, 0, columns, TDM_REPORT_SIZE_MAX, UINT64_MAX),
		.device = (uint32_t)number(r, 1, columns, TDM_REPORT_DEVICES_MAX, UINT64_MAX),
		.x = (uint16_t)number(r, 2, columns, CORES_MAX, UINT64_MAX),
		.y = (uint16_t)number(r, 3, columns, CORES_MAX, UINT64_MAX),
		.bytes = number(r, 4, columns, TDM_REPORT_SIZE_MAX, UINT64_MAX),
		.kind = kind_of(r, 5, columns, UINT64_MAX),
		.rank = rank_of(r, 6, columns) };
	return r->is_bad ? 0 : push(r, (struct tdm_record){ TDM_RECORD_CORE_PART, .part = &p });
}

/* ---- captured graphs ---- */

static int take_graph(struct reading *r, const char *const *columns)
{
	struct graph g = { .operation = number(r, 0, columns, TDM_REPORT_SIZE_MAX, UINT64_MAX),
		.rank = rank_of(r, 1, columns),
		.row = tdm_sqlite_row(r->rows) };
	if (r->is_bad)
		return 0;
	if (r->graph_count == GRAPHS_MAX ||
		tdm_reserve(&r->graphs, &r->graph_cap, r->graph_count + 1, sizeof *r->graphs) != 0)
		return -ENOMEM;
	r->graphs[r->graph_count++] = g;
	return 0;
}

static int compare_graphs(const void *left, const void *right)
{
	const struct graph *a = left, *b = right;
	int order = tdm_order(a->rank, b->rank);
	order = order != 0 ? order : tdm_order(a->operation, b->operation);
	return order != 0 ? order : a->row < b->row ? -1 : a->row > b->row;
}

/* Where the captured graphs are; they are read when their operation comes. */
static int find_graphs(struct reading *r)
{
	static const char *const columns[] = { "operation_id", "rank", NULL };
	int err = read_table(r, "captured_graph", columns, NULL, take_graph);
	if (r->graph_count != 0)
		qsort(r->graphs, r->graph_count, sizeof *r->graphs, compare_graphs);
	return err;
}

/* Passes the nodes on; positions in a graph are of no use to anybody, so refusals name the operation. */
static int take_node(void *to, const struct tdm_record *record)
{
	struct reading *r = to;
	struct tdm_diag diag = { 0 };
	if (record->type != TDM_RECORD_REFUSED)
		return record->type == TDM_RECORD_NODE ? r->sink->take(r->sink->to, record) : 0;
	tdm_diag_set(&diag, TDM_ESYNTAX, 0, 0, "captured graph of operation %" PRIu64 ": %.250s", r->within,
		record->refused->text);
	return tdm_record_refuse(r->sink, &diag, record->is_part);
}

static int read_nodes(struct reading *r, const struct graph *graph, struct tdm_str text)
{
	struct tdm_diag diag = { 0 };
	struct tdm_capture_json *json = tdm_capture_json_new(&(struct tdm_record_sink){ r, take_node });
	r->within = graph->operation;
	int err = json == NULL ? -ENOMEM : tdm_capture_json_feed(json, text.ptr, text.len, &diag);
	err = err != 0 ? err : tdm_capture_json_end(json, &diag);
	tdm_capture_json_free(json);
	if (err == 0 || diag.text[0] == '\0')
		return err;
	tdm_diag_set(
		r->diag, err, 0, 0, "captured graph of operation %" PRIu64 ": %.250s", graph->operation, diag.text);
	return tdm_record_refuse(r->sink, r->diag, false);
}

static int read_graph(struct reading *r, const struct graph *graph)
{
	static const char *const columns[] = { "captured_graph", NULL };
	const struct tdm_sqlite_query query = {
		.table = "captured_graph", .columns = columns, .has_row = true, .row = graph->row
	};
	struct tdm_sqlite_rows *rows;
	int got = tdm_sqlite_select(r->db, &query, &rows, r->diag), err = 0;
	if (got == 1)
		got = tdm_sqlite_next(rows, r->diag);
	if (got == 1 && tdm_sqlite_text(rows, 0).len != 0)
		err = read_nodes(r, graph, tdm_sqlite_text(rows, 0));
	tdm_sqlite_end(rows);
	return err != 0 ? err : got < 0 ? lose_table(r, got) : 0;
}

/* The graphs of an operation, and those before it, whose operation does not exist: they are passed over. */
static int read_graphs(struct reading *r, const struct tdm_report_operation *operation)
{
	const struct graph wanted = { operation->rank, operation->id, INT64_MAX };
	int err = 0;
	while (err == 0 && r->graph_next < r->graph_count && compare_graphs(&r->graphs[r->graph_next], &wanted) <= 0) {
		const struct graph *g = &r->graphs[r->graph_next++];
		if (g->rank == operation->rank && g->operation == operation->id)
			err = read_graph(r, g);
	}
	return err;
}

/* ---- operations and their buffers, in one order ---- */

/* Rows of a table in the order of rank and operation, with the current row decoded. */
struct stream {
	struct tdm_sqlite_rows *rows; /* NULL: at its end */
	const char *table;
	const char *const *columns;
	union {
		struct tdm_report_operation operation;
		struct tdm_report_buffer buffer;
	};
};

static const char *const operation_columns[] = { "operation_id", "rank", "name", "duration", NULL };
static const char *const buffer_columns[] = { "operation_id", "rank", "device_id", "address", "max_size_per_bank",
	"buffer_type", NULL };

static void decode_operation(struct reading *r, struct stream *s)
{
	double seconds;
	int got = tdm_sqlite_real(r->rows, 3, &seconds);
	bool is_time = got == 1 && seconds >= 0 && seconds < 1e9;
	s->operation = (struct tdm_report_operation){ .id = number(r, 0, s->columns, TDM_REPORT_SIZE_MAX, UINT64_MAX),
		.rank = rank_of(r, 1, s->columns),
		.name = tdm_sqlite_text(r->rows, 2),
		.duration_ns = is_time ? (uint64_t)(seconds * 1e9 + 0.5) : TDM_BYTES_UNKNOWN };
}

static void decode_buffer(struct reading *r, struct stream *s)
{
	s->buffer = (struct tdm_report_buffer){ .operation = number(r, 0, s->columns, TDM_REPORT_SIZE_MAX, UINT64_MAX),
		.rank = rank_of(r, 1, s->columns),
		.device = (uint32_t)number(r, 2, s->columns, TDM_REPORT_DEVICES_MAX, UINT64_MAX),
		.address = number(r, 3, s->columns, TDM_REPORT_SIZE_MAX, UINT64_MAX),
		.bank_bytes = number(r, 4, s->columns, TDM_REPORT_SIZE_MAX, UINT64_MAX),
		.kind = kind_of(r, 5, s->columns, UINT64_MAX) };
}

static void end_stream(struct stream *s)
{
	tdm_sqlite_end(s->rows);
	s->rows = NULL;
}

/* Goes to the next row that makes sense. 0 or a negative code; at the end, or where the table cannot be read on, the
 * stream has no rows any more. */
static int advance(struct reading *r, struct stream *s)
{
	int err = 0;
	while (err == 0 && s->rows != NULL) {
		int got = tdm_sqlite_next(s->rows, r->diag);
		if (got <= 0) {
			end_stream(s);
			return got < 0 ? lose_table(r, got) : 0;
		}
		r->rows = s->rows;
		r->table = s->table;
		if (s->columns == operation_columns)
			decode_operation(r, s);
		else
			decode_buffer(r, s);
		if (!r->is_bad)
			return 0;
		err = pass_refused(r);
	}
	return err;
}

/* Whether the rows are stored in the order of rank and operation. A row that cannot be read is refused later. */
static bool is_in_order(struct reading *r, const char *table)
{
	static const char *const columns[] = { "operation_id", "rank", NULL };
	const struct tdm_sqlite_query query = { .table = table, .columns = columns };
	struct tdm_sqlite_rows *rows;
	int64_t last_rank = INT64_MIN, last = INT64_MIN, operation, rank;
	struct tdm_diag diag;
	bool is_sorted = tdm_sqlite_select(r->db, &query, &rows, &diag) == 1;
	while (is_sorted && tdm_sqlite_next(rows, &diag) == 1) {
		tdm_sqlite_integer(rows, 0, &operation);
		tdm_sqlite_integer(rows, 1, &rank);
		is_sorted = rank > last_rank || (rank == last_rank && operation >= last);
		last_rank = rank;
		last = operation;
	}
	tdm_sqlite_end(rows);
	return is_sorted;
}

/* `by` names columns by their position, since the rank may be missing; the first one is the row's number. */
static int begin_stream(struct reading *r, struct stream *s, const char *table, const char *const *columns)
{
	const struct tdm_sqlite_query query = {
		.table = table, .columns = columns, .by = is_in_order(r, table) ? NULL : "3, 2"
	};
	*s = (struct stream){ .table = table, .columns = columns };
	int got = tdm_sqlite_select(r->db, &query, &s->rows, r->diag);
	return got < 0 ? lose_table(r, got) : got == 1 ? advance(r, s) : 0;
}

static int order_of(const struct tdm_report_operation *a, const struct tdm_report_buffer *b)
{
	int order = tdm_order(a->rank, b->rank);
	return order != 0 ? order : tdm_order(a->id, b->operation);
}

static int refuse_order(struct reading *r, const struct stream *s)
{
	tdm_diag_set(r->diag, TDM_ESYNTAX, 0, 0, "row %" PRId64 " of %s: its operation_id is out of order",
		tdm_sqlite_row(s->rows), s->table);
	return tdm_record_refuse(r->sink, r->diag, false);
}

/* The next operation: of its own table, or one that only has buffers. */
static int read_operation(struct reading *r, struct stream *operations, struct stream *buffers)
{
	struct tdm_report_operation now =
		operations->rows != NULL ? operations->operation : (struct tdm_report_operation){ 0 };
	bool is_listed = operations->rows != NULL &&
			 (buffers->rows == NULL || order_of(&operations->operation, &buffers->buffer) <= 0);
	if (!is_listed)
		now = (struct tdm_report_operation){ .rank = buffers->buffer.rank,
			.id = buffers->buffer.operation,
			.duration_ns = TDM_BYTES_UNKNOWN,
			.name = tdm_str_of("") };
	int err = push(r, (struct tdm_record){ TDM_RECORD_OPERATION, .operation = &now });
	if (err == 0 && is_listed)
		err = advance(r, operations);
	err = err != 0 ? err : read_graphs(r, &now);
	while (err == 0 && buffers->rows != NULL && order_of(&now, &buffers->buffer) >= 0) {
		if (order_of(&now, &buffers->buffer) == 0)
			err = push(r, (struct tdm_record){ TDM_RECORD_ALIVE, .alive = &buffers->buffer });
		else /* ids of several types in one column have no order */
			err = refuse_order(r, buffers);
		err = err != 0 ? err : advance(r, buffers);
	}
	return err;
}

static int read_operations(struct reading *r)
{
	struct stream operations = { 0 }, buffers = { 0 };
	int err = begin_stream(r, &operations, "operations", operation_columns);
	err = err != 0 ? err : begin_stream(r, &buffers, "buffers", buffer_columns);
	while (err == 0 && (operations.rows != NULL || buffers.rows != NULL))
		err = read_operation(r, &operations, &buffers);
	end_stream(&operations);
	end_stream(&buffers);
	return err;
}

/* ---- the whole report ---- */

/* 1, 0, or a negative code. */
static int has_table(struct reading *r, const char *table)
{
	static const char *const none[] = { NULL };
	struct tdm_sqlite_rows *rows;
	int got =
		tdm_sqlite_select(r->db, &(struct tdm_sqlite_query){ .table = table, .columns = none }, &rows, r->diag);
	tdm_sqlite_end(rows);
	return got;
}

/* 0, or a negative code if there is nothing to read. */
static int check_tables(struct reading *r)
{
	int has_operations = has_table(r, "operations"), has_buffers = has_table(r, "buffers");
	if (has_operations > 0 || has_buffers > 0)
		return 0;
	return has_operations < 0 ? has_operations
	       : has_buffers < 0  ? has_buffers
				  : tdm_diag_set(r->diag, TDM_ENOTFOUND, 0, 0,
					    "an SQLite database, but not a report of ttnn: it has neither the table "
					     "operations nor buffers");
}

static int read_head(struct reading *r)
{
	static const char *const columns[] = { "key", "value", NULL };
	struct tdm_sqlite_rows *rows;
	struct tdm_diag diag;
	char schema[32] = "";
	int got = tdm_sqlite_select(
		r->db, &(struct tdm_sqlite_query){ .table = "report_metadata", .columns = columns }, &rows, &diag);
	while (got == 1 && (got = tdm_sqlite_next(rows, &diag)) == 1)
		if (tdm_str_is(tdm_sqlite_text(rows, 0), "schema_version"))
			tdm_str_shown(tdm_sqlite_text(rows, 1), schema, sizeof schema);
	tdm_sqlite_end(rows);
	const struct tdm_report_head head = { has_table(r, "buffers") == 1, r->graph_count != 0, tdm_str_of(schema) };
	return push(r, (struct tdm_record){ TDM_RECORD_REPORT_HEAD, .report = &head });
}

static int read_tensors(struct reading *r)
{
	static const char *const places[] = { "tensor_id", "device_id", "address", "rank", NULL };
	static const char *const tensors[] = { "tensor_id", "shape", "dtype", "layout", "device_id", "address",
		"buffer_type", "rank", NULL };
	static const char *const uses[] = { "operation_id", "tensor_id", "rank", NULL };
	int err = read_table(r, "device_tensors", places, NULL, take_place);
	err = err != 0 ? err : read_table(r, "tensors", tensors, NULL, take_tensor);
	err = err != 0 ? err : read_table(r, "input_tensors", uses, NULL, take_input);
	return err != 0 ? err : read_table(r, "output_tensors", uses, NULL, take_output);
}

static int read_all(struct reading *r)
{
	static const char *const devices[] = { "device_id", "num_x_compute_cores", "num_y_compute_cores",
		"worker_l1_size", "l1_num_banks", "l1_bank_size", "address_at_first_l1_cb_buffer", "rank", NULL };
	static const char *const chunks[] = { "operation_id", "device_id", "core_x", "core_y", "chunk_size",
		"buffer_type", "rank", NULL };
	static const char *const pages[] = { "operation_id", "device_id", "core_x", "core_y", "page_size",
		"buffer_type", "rank", NULL };
	static const char *const errors[] = { "operation_id", "operation_name", "error_message", "rank", NULL };
	int err = check_tables(r);
	err = err != 0 ? err : find_graphs(r);
	err = err != 0 ? err : read_head(r);
	err = err != 0 ? err : read_table(r, "devices", devices, NULL, take_device);
	err = err != 0 ? err : read_operations(r);
	err = err != 0 ? err : read_tensors(r);
	err = err != 0 ? err : read_table(r, "errors", errors, NULL, take_error);
	if (err == 0)
		err = has_table(r, "buffer_chunks") == 1 ? read_table(r, "buffer_chunks", chunks, NULL, take_part)
							 : read_table(r, "buffer_pages", pages, NULL, take_part);
	return err;
}

static int report_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct reading r = { .sink = sink, .diag = diag };
	struct tdm_diag why = { 0 };
	int err = tdm_sqlite_open(input, &r.db, diag);
	if (err != 0)
		return err;
	bool was_doubtful = tdm_sqlite_is_doubtful(r.db, &why);
	if (was_doubtful)
		err = tdm_record_refuse(sink, &why, true);
	err = err != 0 ? err : read_all(&r);
	if (err == -ENOMEM)
		tdm_diag_set(diag, err, 0, 0, "out of memory");
	if (!was_doubtful && tdm_sqlite_is_doubtful(r.db, &why)) { /* it changed */
		int refused = tdm_record_refuse(sink, &why, true);
		err = err != 0 ? err : refused;
	}
	free(r.graphs);
	tdm_sqlite_close(r.db);
	return err;
}

#else

static int report_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	(void)input, (void)sink;
	return tdm_diag_set(diag, TDM_EVERSION, 0, 0,
		"an SQLite database, and tidemark was built without SQLite: install libsqlite3-dev and build it again");
}
#endif

const struct tdm_format tdm_format_ttnn_report = {
	.name = "ttnn_report",
	.summary = "report of ttnn",
	.recognise = report_recognise,
	.records = report_records,
};
