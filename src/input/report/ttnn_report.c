/*
 * Reads ttnn's operation report, the input of ttnn-visualizer: db.sqlite in the report's folder. The tables differ
 * between releases, so each column may be missing; docs/formats/ttnn_report.md lists them.
 *
 * The database is not trusted, and SQLite never opens it in place: the file and its -wal are copied into a private
 * folder, opened there and unlinked at once. So a program writing the report is not disturbed, nothing appears beside
 * the report, and the copy disappears however this process ends. Only columns of real tables are read, since views,
 * virtual tables and computed columns could run any code that SQLite has. Values, rows and steps are limited.
 *
 * Buffers are listed again after every operation, so the buffer table is by far the largest. It is read once, in
 * operation order, and never kept. If its rows are stored in another order, SQLite sorts them on disk.
 */
#include "base/err.h"
#include "input/door/format.h"

static bool report_recognise(struct tdm_str head, const char *path)
{
	static const char magic[] = "SQLite format 3"; /* includes the terminating zero */
	(void)path;
	return head.len >= sizeof magic && memcmp(head.ptr, magic, sizeof magic) == 0;
}

#if TDM_HAVE_SQLITE

#include "base/memory.h"
#include "input/capture/capture_json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	STEPS = 1 << 20,     /* steps of SQLite's virtual machine between two checks of the limit */
	STEPS_PER_BYTE = 64, /* a statement that takes more steps per byte of the file counts as endless */
	SQL_MAX = 1 << 20,   /* maximum bytes of a statement in the schema */
	VALUE_MAX = 128 << 20,
	PASSES = 2,           /* for the progress line: how many times most of the file is read */
	LOCK_AT = 0x40000000, /* offset of SQLite's lock bytes in the file */
	LOCK_BYTES = 512,
	HEADER = 100,
	PAGE_SIZE_AT = 16, /* offset of the page size in the header */
	CHANGES_AT = 24,   /* offset of the change counter */
	PAGES_AT = 28,
	JOURNAL_MAGIC = 8,
	COLUMNS_MAX = 9,
	CORES_MAX = 32,
};

#define REQUIRED UINT64_MAX

/* A column, and where its value is stored in the row. */
struct column {
	const char *name;
	enum { NUMBER, KIND, SECONDS, TEXT } type;
	uint8_t bytes; /* size of the stored number */
	uint16_t at;
	uint64_t limit;   /* numbers must be below it */
	uint64_t missing; /* value to use if it is missing; REQUIRED: refuse the row */
};
#define COLUMN(name, type, member, limit, missing)                                                               \
	{                                                                                                        \
		name, type, sizeof(((struct rows *)NULL)->member), offsetof(struct rows, member), limit, missing \
	}
#define ROW(name, type, member, limit, missing) COLUMN(name, type, row.member, limit, missing)
#define WORD(name, member)                      ROW(name, TEXT, member, 0, 0)
#define NEEDED(name, member)                    ROW(name, NUMBER, member, TDM_REPORT_SIZE_MAX, REQUIRED)
#define TYPE(missing)                           ROW("buffer_type", KIND, kind, sizeof buffer_kinds, missing)
#define RANK                                    ROW("rank", NUMBER, rank, TDM_REPORT_RANKS_MAX, 0)
#define DEVICE                                  ROW("device_id", NUMBER, device, TDM_REPORT_DEVICES_MAX, REQUIRED)
#define OPERATION                               NEEDED("operation_id", operation)
#define TENSOR                                  NEEDED("tensor_id", id)

struct table {
	const char *name;
	enum tdm_record_type record;
	bool is_output; /* an output rather than an input */
	struct column columns[COLUMNS_MAX + 1];
};

/* A row in captured_graph. */
struct graph {
	uint32_t rank;
	uint64_t operation;
	int64_t row;
};

/* A table being read, and its current row. */
struct rows {
	sqlite3_stmt *statement; /* NULL at the end of the table */
	const struct table *table;
	bool has_rowid;
	uint64_t taken;
	/* The row's values; missing ones are 0 or empty. */
	struct tdm_report_row row;
	struct tdm_capture_device device;
};

struct reading {
	sqlite3 *db;
	struct tdm_input *input;
	const struct tdm_record_sink *sink;
	struct tdm_diag *diag;
	uint64_t bytes; /* size of the database and its -wal in bytes */
	uint64_t page;  /* page size */
	uint64_t steps, steps_max;
	struct tdm_diag doubt; /* the reason why rows may be missing or inconsistent; empty if there is none */
	struct graph *graphs;
	size_t graph_count, graph_cap, graph_next;
	uint64_t within; /* the operation whose captured graph is being read */
};

/* ---- the copy ---- */

/* The state of a file as one number: a hash of its size, time and SQLite change counter. */
static uint64_t look(int fd)
{
	struct stat st = { 0 };
	uint32_t changes = 0;
	if (fd >= 0 && fstat(fd, &st) == 0)
		(void)!pread(fd, &changes, sizeof changes, CHANGES_AT);
	uint64_t time = tdm_hash_u64((uint64_t)st.st_mtim.tv_sec) + (uint64_t)st.st_mtim.tv_nsec;
	return tdm_hash_u64(tdm_hash_u64(time ^ changes) + (uint64_t)st.st_size);
}

/* The path of a file beside the database. False if the database has no path in the file system, or no longer exists. */
static bool path_beside(struct tdm_input *input, const char *ending, char path[PATH_MAX])
{
	struct stat st, own;
	const char *name = tdm_input_name(input);
	int len = snprintf(path, PATH_MAX, "%s%s", name, ending), fd = tdm_input_descriptor(input);
	return len > 0 && len < PATH_MAX && tdm_input_packing(input) == NULL && fd >= 0 && fstat(fd, &own) == 0 &&
	       S_ISREG(own.st_mode) && stat(name, &st) == 0 && st.st_dev == own.st_dev && st.st_ino == own.st_ino;
}

/* Opens the -wal if there is one. */
static int open_wal(struct reading *r, struct tdm_input **wal)
{
	char path[PATH_MAX];
	struct stat st;
	if (!path_beside(r->input, "-wal", path) || stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return 0;
	int err = tdm_input_open(path, wal);
	return err == 0 ? 0
			: tdm_diag_set(r->diag, err, 0, 0,
				  "its journal, with -wal at the end of its name, cannot be read: %s",
				  tdm_err_text(err));
}

/* Checks, without locking anything, for a process writing the database, and for a journal left by such a process. */
static void look_around(struct reading *r)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = LOCK_AT, .l_len = LOCK_BYTES };
	char path[PATH_MAX], magic[JOURNAL_MAGIC] = "";
	int fd =
		path_beside(r->input, "-journal", path) ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	if (fd >= 0 && read(fd, magic, sizeof magic) == (ssize_t)sizeof magic && (unsigned char)magic[0] == 0xd9)
		tdm_diag_set(&r->doubt, -EBUSY, 0, 0,
			"its program did not finish writing it, and left a journal beside it: figures may be wrong; "
			"'sqlite3 FILE .tables' puts it in order");
	if (fd >= 0)
		close(fd);
	if (fcntl(tdm_input_descriptor(r->input), F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK && lock.l_pid > 0)
		tdm_diag_set(&r->doubt, -EBUSY, 0, 0,
			"process %d is writing it: what it has not finished may be wrong or missing", (int)lock.l_pid);
}

/* SQLite refuses a database that is shorter than its header says. So the copy is extended to the size in the header:
 * the missing pages are zero, and only tables with pages among them are damaged. */
static void complete(struct reading *r, int copy, bool has_wal)
{
	unsigned char head[HEADER];
	char has[TDM_BYTES_CAP], all[TDM_BYTES_CAP];
	if (pread(copy, head, sizeof head, 0) != (ssize_t)sizeof head)
		return;
	uint64_t page = (uint64_t)head[PAGE_SIZE_AT] << 8 | head[PAGE_SIZE_AT + 1], pages = 0;
	for (int i = 0; i < 4; i++)
		pages = pages << 8 | head[PAGES_AT + i];
	r->page = page == 1 ? 65536 : page;
	if (has_wal || pages * r->page <= r->bytes)
		return;
	(void)!ftruncate(copy, (off_t)(pages * r->page)); /* on failure, SQLite reports the damage later */
	tdm_diag_set(&r->doubt, TDM_ECORRUPT, 0, 0, "it is cut off: it has %s of %s bytes",
		tdm_format_count(has, sizeof has, r->bytes), tdm_format_count(all, sizeof all, pages * r->page));
}

/* Copies a file to `path`. If the file system allows it, nothing appears at `path` until the copy is complete.
 * Returns a descriptor of the copy, or a negative code. */
static int copy_file(struct reading *r, struct tdm_input *from, const char *folder, const char *path)
{
	char unnamed[64];
	uint64_t bytes;
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), err = 0;
	bool is_unnamed = fd >= 0;
	if (!is_unnamed)
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return tdm_input_no_copy(from, -errno, r->diag);
	err = tdm_input_save(from, fd, &bytes, r->diag);
	snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", fd);
	if (err == 0 && is_unnamed && linkat(AT_FDCWD, unnamed, AT_FDCWD, path, AT_SYMLINK_FOLLOW) != 0)
		err = tdm_input_no_copy(from, -errno, r->diag);
	r->bytes += err == 0 ? bytes : 0;
	if (err != 0)
		close(fd);
	return err != 0 ? err : fd;
}

/* Copies the database and its -wal. If they change during the copy, the two may not match. */
static int copy_database(struct reading *r, const char *folder, const char *path, const char *wal_path)
{
	struct tdm_input *wal = NULL;
	int fd = tdm_input_descriptor(r->input), err = open_wal(r, &wal), copy = -1, wal_copy = -1;
	int wal_fd = wal != NULL ? tdm_input_descriptor(wal) : -1;
	uint64_t before = look(fd), wal_before = look(wal_fd);
	struct stat st = { 0 };
	look_around(r);
	tdm_input_expect(r->input, fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? PASSES * (uint64_t)st.st_size : 0);
	if (err == 0 && (copy = copy_file(r, r->input, folder, path)) >= 0)
		complete(r, copy, wal != NULL);
	if (copy >= 0 && wal != NULL)
		wal_copy = copy_file(r, wal, folder, wal_path);
	if (r->doubt.text[0] == '\0' && (look(fd) != before || look(wal_fd) != wal_before))
		tdm_diag_set(&r->doubt, -EBUSY, 0, 0,
			"it changed while it was read: figures may be wrong or missing; read it again when its program "
			"has ended");
	err = err != 0 ? err : copy < 0 ? copy : wal != NULL && wal_copy < 0 ? wal_copy : 0;
	if (copy >= 0)
		close(copy);
	if (wal_copy >= 0)
		close(wal_copy);
	tdm_input_close(wal);
	return err;
}

/* ---- opening ---- */

static int count_steps(void *context)
{
	struct reading *r = context;
	int missed = 0, most;
	sqlite3_db_status(r->db, SQLITE_DBSTATUS_CACHE_MISS, &missed, &most, 1);
	tdm_input_passed(r->input, (uint64_t)missed * r->page);
	r->steps += STEPS;
	return r->steps > r->steps_max;
}

static int authorise(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
	(void)context, (void)b, (void)c, (void)d;
	return action == SQLITE_SELECT || action == SQLITE_READ ||
			       (action == SQLITE_PRAGMA && a != NULL && strcmp(a, "table_info") == 0)
		       ? SQLITE_OK
		       : SQLITE_DENY;
}

static void harden(struct reading *r)
{
	static const int options[][2] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1 },
	};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		sqlite3_db_config(r->db, options[i][0], options[i][1], NULL);
	sqlite3_limit(r->db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_limit(r->db, SQLITE_LIMIT_SQL_LENGTH, SQL_MAX);
	sqlite3_limit(r->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(r->db, SQLITE_LIMIT_TRIGGER_DEPTH, 0);
	sqlite3_limit(r->db, SQLITE_LIMIT_WORKER_THREADS, 0);
	r->steps_max = STEPS_PER_BYTE * (r->bytes + STEPS);
	sqlite3_progress_handler(r->db, STEPS, count_steps, r);
	/* With exclusive locking, SQLite keeps the index of the -wal in its own memory. */
	sqlite3_exec(r->db,
		"PRAGMA cell_size_check=ON; PRAGMA temp_store=FILE; PRAGMA locking_mode=EXCLUSIVE; "
		"SELECT 1 FROM sqlite_master",
		NULL, NULL, NULL); /* opens the -wal; if that fails, the first query reports the error again */
	sqlite3_set_authorizer(r->db, authorise, NULL);
}

static int say_error(struct reading *r, const char *what)
{
	switch (sqlite3_errcode(r->db)) {
	case SQLITE_NOMEM:
		tdm_out_of_memory();
	case SQLITE_INTERRUPT:
		return tdm_diag_set(
			r->diag, TDM_ECORRUPT, 0, 0, "%s has no end, as it seems: reading was given up", what);
	case SQLITE_TOOBIG:
		return tdm_diag_set(r->diag, -EMSGSIZE, 0, 0, "%s has a value above %d MiB", what, VALUE_MAX >> 20);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return tdm_diag_set(r->diag, TDM_ECORRUPT, 0, 0,
			"%s is damaged or cut off; 'sqlite3 FILE .recover' can save what is left", what);
	default:
		return tdm_diag_set(r->diag, TDM_ECORRUPT, 0, 0, "%s cannot be read: %s", what, sqlite3_errmsg(r->db));
	}
}

/* Opens a copy of the database in a new folder; both are deleted when this returns. */
static int open_copy(struct reading *r)
{
	char folder[PATH_MAX], path[PATH_MAX + 8], wal[PATH_MAX + 8];
	int err = tdm_input_folder(folder);
	if (err != 0)
		return tdm_input_no_copy(r->input, err, r->diag);
	snprintf(path, sizeof path, "%s/db", folder);
	snprintf(wal, sizeof wal, "%s/db-wal", folder);
	err = copy_database(r, folder, path, wal);
	if (err == 0 &&
		sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOMUTEX,
			NULL) != SQLITE_OK)
		err = say_error(r, "the database");
	if (err == 0)
		harden(r);
	unlink(path);
	unlink(wal);
	rmdir(folder);
	return err;
}

/* ---- tables ---- */

static int prepare(struct reading *r, const char *sql, sqlite3_stmt **statement)
{
	r->steps = 0;
	return sqlite3_prepare_v3(r->db, sql, -1, 0, statement, NULL);
}

/* 1 if the table exists, 0 if not, or a negative code if the table must not be used. */
static int has_table(struct reading *r, const char *table)
{
	sqlite3_stmt *s = NULL;
	int found = 0;
	if (prepare(r,
		    "SELECT type, rootpage FROM sqlite_master WHERE name = ?1 COLLATE NOCASE AND type IN ('table', "
		    "'view')",
		    &s) != SQLITE_OK)
		return say_error(r, "the database");
	sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	int step = sqlite3_step(s);
	const unsigned char *type = step == SQLITE_ROW ? sqlite3_column_text(s, 0) : NULL;
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		found = say_error(r, "the database");
	else if (type != NULL)
		found = strcmp((const char *)type, "table") == 0 && sqlite3_column_int64(s, 1) > 0
				? 1
				: tdm_diag_set(r->diag, TDM_ECORRUPT, 0, 0,
					  "%s is not a table but computed by the file: it is not read", table);
	sqlite3_finalize(s);
	return found;
}

/* Finds which of the expected columns the table has. Computed columns are not listed. 0 or a negative code. */
static int find_columns(struct reading *r, const struct table *table, bool has[COLUMNS_MAX])
{
	char sql[128];
	sqlite3_stmt *s = NULL;
	int step = SQLITE_DONE;
	snprintf(sql, sizeof sql, "PRAGMA table_info(\"%s\")", table->name);
	if (prepare(r, sql, &s) != SQLITE_OK)
		return say_error(r, table->name);
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 1);
		for (size_t i = 0; name != NULL && table->columns[i].name != NULL; i++)
			has[i] |= sqlite3_stricmp(name, table->columns[i].name) == 0;
	}
	sqlite3_finalize(s);
	return step == SQLITE_DONE ? 0 : say_error(r, table->name);
}

/* Prepares "SELECT rowid, "a", NULL FROM "t" NOT INDEXED" followed by `rest`; NULL stands for a missing column. No
 * index is used, because an index may contradict its table or compute something. */
static int prepare_select(struct reading *r, struct rows *rows, const bool has[COLUMNS_MAX], const char *rest)
{
	char sql[1024], *at = sql, *end = sql + sizeof sql;
	at += snprintf(at, (size_t)(end - at), "SELECT %s", rows->has_rowid ? "rowid" : "NULL");
	for (size_t i = 0; rows->table->columns[i].name != NULL; i++)
		at += has[i] ? snprintf(at, (size_t)(end - at), ", \"%s\"", rows->table->columns[i].name)
			     : snprintf(at, (size_t)(end - at), ", NULL");
	snprintf(at, (size_t)(end - at), " FROM \"%s\" NOT INDEXED%s", rows->table->name, rest);
	return prepare(r, sql, &rows->statement);
}

/* Starts reading a table. 1, 0 if there is none, or a negative code if it cannot be used. Call end_rows() after 1. */
static int begin_rows(struct reading *r, const struct table *table, const char *rest, struct rows *rows)
{
	bool has[COLUMNS_MAX] = { false };
	*rows = (struct rows){ .table = table, .has_rowid = true };
	int found = has_table(r, table->name);
	int err = found == 1 ? find_columns(r, table, has) : found;
	if (err != 0 || found == 0)
		return err;
	if (prepare_select(r, rows, has, rest) != SQLITE_OK) {
		rows->has_rowid = false; /* the table may have no rowid */
		if (prepare_select(r, rows, has, rest) != SQLITE_OK)
			return say_error(r, table->name);
	}
	return 1;
}

static void end_rows(struct rows *rows)
{
	sqlite3_finalize(rows->statement);
	rows->statement = NULL;
}

/* Steps to the next row. 1, 0 after the last row, or a negative code. */
static int step_rows(struct reading *r, struct rows *rows)
{
	int step = sqlite3_step(rows->statement);
	if (step == SQLITE_DONE)
		return 0;
	if (step != SQLITE_ROW)
		return say_error(r, rows->table->name);
	/* Each row takes bytes in the file, so more rows than bytes means that pages refer to each other in a
	 * circle. */
	if (rows->taken++ == r->bytes)
		return tdm_diag_set(
			r->diag, TDM_ECORRUPT, 0, 0, "%s has more rows than the file has bytes", rows->table->name);
	return 1;
}

/* The row's number in its table: its rowid, else its position. */
static int64_t row_number(const struct rows *rows)
{
	return rows->has_rowid ? sqlite3_column_int64(rows->statement, 0) : (int64_t)rows->taken;
}

/* ---- values ---- */

static const uint8_t buffer_kinds[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_SYSTEM, TDM_KIND_L1_SMALL,
	TDM_KIND_TRACE };

static struct tdm_str text_of(const struct rows *rows, int column)
{
	const char *text = (const char *)sqlite3_column_text(rows->statement, column);
	int len = sqlite3_column_bytes(rows->statement, column);
	return (struct tdm_str){ text != NULL ? text : "", text != NULL && len > 0 ? (size_t)len : 0 };
}

/* Reads a number, which may be stored as a string. Returns NULL, or the reason why the number is invalid. */
static const char *read_number(const struct rows *rows, int column, uint64_t limit, uint64_t *value)
{
	int type = sqlite3_column_type(rows->statement, column), err = 0;
	int64_t number = sqlite3_column_int64(rows->statement, column);
	*value = (uint64_t)number;
	if (type == SQLITE_TEXT)
		err = tdm_str_parse_u64(text_of(rows, column), value);
	if ((type != SQLITE_INTEGER && type != SQLITE_TEXT) || err != 0 || (type == SQLITE_TEXT && *value > INT64_MAX))
		return "is not a number";
	return type == SQLITE_INTEGER && number < 0 ? "is negative" : *value >= limit ? "is too large" : NULL;
}

static void store(void *to, uint8_t bytes, uint64_t value)
{
	uint8_t u8 = (uint8_t)value;
	uint16_t u16 = (uint16_t)value;
	uint32_t u32 = (uint32_t)value;
	memcpy(to, bytes == 1 ? &u8 : bytes == 2 ? (void *)&u16 : bytes == 4 ? (void *)&u32 : &value, bytes);
}

/* Reads one value into the row. Returns NULL, or the reason why the value is invalid. */
static const char *read_value(struct rows *rows, const struct column *c, int column)
{
	void *to = (char *)rows + c->at;
	uint64_t value = c->missing;
	const char *wrong = NULL;
	if (c->type == TEXT) {
		struct tdm_str text = text_of(rows, column);
		memcpy(to, &text, sizeof text);
		return NULL;
	}
	if (c->type == SECONDS) {
		int type = sqlite3_column_type(rows->statement, column);
		double seconds = sqlite3_column_double(rows->statement, column);
		bool is_time = (type == SQLITE_INTEGER || type == SQLITE_FLOAT) && seconds >= 0 && seconds < 1e9;
		value = is_time ? (uint64_t)(seconds * 1e9 + 0.5) : TDM_BYTES_UNKNOWN;
	} else if (sqlite3_column_type(rows->statement, column) != SQLITE_NULL)
		wrong = read_number(rows, column, c->limit, &value);
	else if (c->missing == REQUIRED)
		wrong = "is missing";
	if (c->type == KIND && value < sizeof buffer_kinds)
		value = buffer_kinds[value];
	store(to, c->bytes, value);
	return wrong;
}

/* ---- rows ---- */

static int push(const struct reading *r, struct tdm_record record)
{
	return r->sink->take(r->sink->to, &record);
}

/* Refuses a row, or a table that cannot be read to its end; reading continues with the rest. */
static int refuse(struct reading *r)
{
	return tdm_record_refuse(r->sink, r->diag, false);
}

/* Moves to the next usable row and decodes it, refusing others. Returns 1; 0 after the last row, or where the table
 * becomes unreadable, with the rows ended; or the sink's code. */
static int next_row(struct reading *r, struct rows *rows)
{
	int got = 0, err = 0;
	while (rows->statement != NULL && err == 0 && (got = step_rows(r, rows)) == 1) {
		const char *wrong = NULL;
		const struct column *c = rows->table->columns;
		rows->row = (struct tdm_report_row){ 0 };
		rows->device = (struct tdm_capture_device){ 0 };
		for (int i = 0; wrong == NULL && c[i].name != NULL; i++)
			if ((wrong = read_value(rows, &c[i], i + 1)) != NULL)
				tdm_diag_set(r->diag, TDM_ESYNTAX, 0, 0, "row %" PRId64 " of %s: %s %s",
					row_number(rows), rows->table->name, c[i].name, wrong);
		if (wrong == NULL)
			return 1;
		err = refuse(r);
	}
	if (err == 0 && rows->statement != NULL && got < 0)
		err = refuse(r);
	end_rows(rows);
	return err;
}

static int push_row(struct reading *r, struct rows *rows)
{
	struct tdm_report_row *row = &rows->row;
	if (rows->table->record == TDM_RECORD_TENSOR_PLACE) {
		row->kind = TDM_KIND_COUNT;
		row->has_place = true;
	} else if (rows->table->record == TDM_RECORD_TENSOR) /* a tensor on the host has no device and no address */
		row->has_place = row->device < TDM_REPORT_DEVICES_MAX && row->address < TDM_REPORT_SIZE_MAX;
	else if (rows->table->record == TDM_RECORD_TENSOR_USE)
		row->is_output = rows->table->is_output;
	return push(r, (struct tdm_record){ .type = (uint8_t)rows->table->record,
			       .any = rows->table->record == TDM_RECORD_DEVICE ? (void *)&rows->device : row });
}

static int read_table(struct reading *r, const struct table *table)
{
	struct rows rows;
	int got = begin_rows(r, table, "", &rows), err = 0;
	if (got < 0)
		return refuse(r);
	while (err == 0 && (got = next_row(r, &rows)) == 1)
		err = push_row(r, &rows);
	end_rows(&rows);
	return err != 0 ? err : got;
}

/* ---- captured graphs ---- */

static int compare_graphs(const void *left, const void *right)
{
	const struct graph *a = left, *b = right;
	int order = tdm_order(a->rank, b->rank);
	order = order != 0 ? order : tdm_order(a->operation, b->operation);
	return order != 0 ? order : a->row < b->row ? -1 : a->row > b->row;
}

/* Finds the captured graphs; each graph is read together with its operation. */
static int find_graphs(struct reading *r)
{
	static const struct table places = { .name = "captured_graph", .columns = { OPERATION, RANK } };
	struct rows rows;
	int got = begin_rows(r, &places, "", &rows);
	if (got < 0)
		return refuse(r);
	while ((got = next_row(r, &rows)) == 1) {
		tdm_grow(&r->graphs, &r->graph_cap, r->graph_count + 1, sizeof *r->graphs);
		r->graphs[r->graph_count++] = (struct graph){ rows.row.rank, rows.row.operation, row_number(&rows) };
	}
	if (r->graph_count != 0)
		qsort(r->graphs, r->graph_count, sizeof *r->graphs, compare_graphs);
	return got;
}

/* Passes nodes to the sink. Refusals name the operation, because positions in a graph mean nothing to users. */
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

static int read_nodes(struct reading *r, struct tdm_str text)
{
	struct tdm_diag diag = { 0 };
	struct tdm_capture_json *json = tdm_capture_json_new(&(struct tdm_record_sink){ r, take_node });
	int err = tdm_capture_json_feed(json, text.ptr, text.len, &diag);
	err = err != 0 ? err : tdm_capture_json_end(json, &diag);
	tdm_capture_json_free(json);
	if (err == 0 || diag.text[0] == '\0')
		return err;
	tdm_diag_set(r->diag, err, 0, 0, "captured graph of operation %" PRIu64 ": %.250s", r->within, diag.text);
	return refuse(r);
}

static int read_graph(struct reading *r, const struct graph *graph)
{
	static const struct table graphs = { .name = "captured_graph", .columns = { WORD("captured_graph", message) } };
	struct rows rows;
	char which[48];
	snprintf(which, sizeof which, " WHERE rowid = %" PRId64, graph->row);
	if (begin_rows(r, &graphs, which, &rows) < 0)
		return refuse(r);
	int got = next_row(r, &rows);
	r->within = graph->operation;
	if (got == 1)
		got = rows.row.message.len != 0 ? read_nodes(r, rows.row.message) : 0;
	end_rows(&rows);
	return got;
}

/* Reads an operation's graphs, and skips the graphs before it, whose operations do not exist. */
static int read_graphs(struct reading *r, const struct tdm_report_row *operation)
{
	const struct graph wanted = { operation->rank, operation->operation, INT64_MAX };
	int err = 0;
	while (err == 0 && r->graph_next < r->graph_count && compare_graphs(&r->graphs[r->graph_next], &wanted) <= 0) {
		const struct graph *g = &r->graphs[r->graph_next++];
		if (g->rank == operation->rank && g->operation == operation->operation)
			err = read_graph(r, g);
	}
	return err;
}

/* ---- operations and their buffers, in one order ---- */

static int advance(struct reading *r, struct rows *rows)
{
	int got = next_row(r, rows);
	return got < 0 ? got : 0;
}

/* Whether the rows are stored in order of rank and operation. An unreadable row is refused later. */
static bool is_in_order(struct reading *r, const struct table *table)
{
	const struct table order = { .name = table->name, .columns = { table->columns[0], table->columns[1] } };
	struct rows rows;
	int64_t last_rank = INT64_MIN, last = INT64_MIN;
	bool is_sorted = begin_rows(r, &order, "", &rows) == 1;
	while (is_sorted && step_rows(r, &rows) == 1) {
		int64_t operation = sqlite3_column_int64(rows.statement, 1),
			rank = sqlite3_column_int64(rows.statement, 2);
		is_sorted = rank > last_rank || (rank == last_rank && operation >= last);
		last_rank = rank;
		last = operation;
	}
	end_rows(&rows);
	return is_sorted;
}

/* Orders by column position, since the rank may be missing; the first column is the row's number. */
static int begin_stream(struct reading *r, struct rows *rows, const struct table *table)
{
	int got = begin_rows(r, table, is_in_order(r, table) ? "" : " ORDER BY 3, 2", rows);
	return got < 0 ? refuse(r) : advance(r, rows);
}

static int order_of(const struct tdm_report_row *a, const struct tdm_report_row *b)
{
	int order = tdm_order(a->rank, b->rank);
	return order != 0 ? order : tdm_order(a->operation, b->operation);
}

/* The next operation: from its own table, or an operation that occurs only in the buffer table. */
static int read_operation(struct reading *r, struct rows *operations, struct rows *buffers)
{
	const struct tdm_report_row *buffer = &buffers->row;
	struct tdm_report_row now = operations->row;
	bool is_listed = operations->statement != NULL && (buffers->statement == NULL || order_of(&now, buffer) <= 0);
	if (!is_listed)
		now = (struct tdm_report_row){ .rank = buffer->rank,
			.operation = buffer->operation,
			.duration_ns = TDM_BYTES_UNKNOWN,
			.name = tdm_str_of("") };
	int err = push(r, (struct tdm_record){ TDM_RECORD_OPERATION, .operation = &now });
	if (err == 0 && is_listed)
		err = advance(r, operations);
	err = err != 0 ? err : read_graphs(r, &now);
	while (err == 0 && buffers->statement != NULL && order_of(&now, buffer) >= 0) {
		if (order_of(&now, buffer) == 0)
			err = push_row(r, buffers);
		else { /* ids of different types in one column cannot be ordered */
			tdm_diag_set(r->diag, TDM_ESYNTAX, 0, 0,
				"row %" PRId64 " of %s: its operation_id is out of order", row_number(buffers),
				buffers->table->name);
			err = refuse(r);
		}
		err = err != 0 ? err : advance(r, buffers);
	}
	return err;
}

static int read_operations(struct reading *r)
{
	static const struct table operation_table = { .name = "operations",
		.columns = { OPERATION, RANK, WORD("name", name), ROW("duration", SECONDS, duration_ns, 0, 0) } };
	static const struct table buffer_table = { "buffers", TDM_RECORD_ALIVE, false,
		{ OPERATION, RANK, DEVICE, NEEDED("address", address), NEEDED("max_size_per_bank", bytes),
			TYPE(REQUIRED) } };
	struct rows operations, buffers = { .statement = NULL };
	int err = begin_stream(r, &operations, &operation_table);
	err = err != 0 ? err : begin_stream(r, &buffers, &buffer_table);
	while (err == 0 && (operations.statement != NULL || buffers.statement != NULL))
		err = read_operation(r, &operations, &buffers);
	end_rows(&operations);
	end_rows(&buffers);
	return err;
}

/* ---- the whole report ---- */

/* Returns 0, or a negative code if the report contains nothing to read. */
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
	static const struct table metadata = { .name = "report_metadata",
		.columns = { WORD("key", name), WORD("value", message) } };
	struct rows rows;
	char schema[32] = "";
	int got = begin_rows(r, &metadata, "", &rows);
	while (got == 1 && (got = next_row(r, &rows)) == 1)
		if (tdm_str_is(rows.row.name, "schema_version"))
			tdm_str_shown(rows.row.message, schema, sizeof schema);
	end_rows(&rows);
	const struct tdm_report_row head = { .name = tdm_str_of(schema),
		.has_buffers = has_table(r, "buffers") == 1,
		.has_graphs = r->graph_count != 0 };
	return push(r, (struct tdm_record){ TDM_RECORD_REPORT_HEAD, .report = &head });
}

static const struct table later_tables[] = {
	{ "device_tensors", TDM_RECORD_TENSOR_PLACE, false, { TENSOR, DEVICE, NEEDED("address", address), RANK } },
	{ "tensors", TDM_RECORD_TENSOR, false,
		{ TENSOR, WORD("shape", shape), WORD("dtype", dtype), WORD("layout", layout),
			ROW("device_id", NUMBER, device, TDM_REPORT_DEVICES_MAX, UINT32_MAX),
			ROW("address", NUMBER, address, TDM_REPORT_SIZE_MAX, TDM_BYTES_UNKNOWN - 1),
			TYPE(TDM_KIND_COUNT), RANK } },
	{ "input_tensors", TDM_RECORD_TENSOR_USE, false, { OPERATION, TENSOR, RANK } },
	{ "output_tensors", TDM_RECORD_TENSOR_USE, true, { OPERATION, TENSOR, RANK } },
	{ "errors", TDM_RECORD_REPORT_ERROR, false,
		{ OPERATION, WORD("operation_name", name), WORD("error_message", message), RANK } },
};

#define CORE(name, member) ROW(name, NUMBER, member, CORES_MAX, REQUIRED)

/* The parts of buffers on each core; the second table is used only if the first is missing. */
static const struct table part_tables[] = {
	{ "buffer_chunks", TDM_RECORD_CORE_PART, false,
		{ OPERATION, DEVICE, CORE("core_x", x), CORE("core_y", y), NEEDED("chunk_size", bytes), TYPE(REQUIRED),
			RANK } },
	{ "buffer_pages", TDM_RECORD_CORE_PART, false,
		{ OPERATION, DEVICE, CORE("core_x", x), CORE("core_y", y), NEEDED("page_size", bytes), TYPE(REQUIRED),
			RANK } },
};

static int read_all(struct reading *r)
{
	static const struct table devices = { "devices", TDM_RECORD_DEVICE, false,
		{ COLUMN("device_id", NUMBER, device.id, TDM_REPORT_DEVICES_MAX, REQUIRED),
			COLUMN("num_x_compute_cores", NUMBER, device.grid_x, UINT16_MAX, 0),
			COLUMN("num_y_compute_cores", NUMBER, device.grid_y, UINT16_MAX, 0),
			COLUMN("worker_l1_size", NUMBER, device.worker_l1_size, TDM_REPORT_SIZE_MAX, 0),
			COLUMN("l1_num_banks", NUMBER, device.l1_banks, UINT16_MAX, 0),
			COLUMN("l1_bank_size", NUMBER, device.l1_bank_size, TDM_REPORT_SIZE_MAX, 0),
			COLUMN("address_at_first_l1_cb_buffer", NUMBER, device.l1_base, TDM_REPORT_SIZE_MAX, 0),
			COLUMN("rank", NUMBER, device.rank, TDM_REPORT_RANKS_MAX, 0) } };
	int err = check_tables(r);
	err = err != 0 ? err : find_graphs(r);
	err = err != 0 ? err : read_head(r);
	err = err != 0 ? err : read_table(r, &devices);
	err = err != 0 ? err : read_operations(r);
	for (size_t i = 0; err == 0 && i < sizeof later_tables / sizeof *later_tables; i++)
		err = read_table(r, &later_tables[i]);
	return err != 0 ? err : read_table(r, &part_tables[has_table(r, part_tables[0].name) != 1]);
}

static int report_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct reading r = { .input = input, .sink = sink, .diag = diag };
	int err = open_copy(&r);
	if (err == 0 && r.doubt.text[0] != '\0')
		err = tdm_record_refuse(sink, &r.doubt, true);
	err = err != 0 ? err : read_all(&r);
	free(r.graphs);
	sqlite3_close(r.db);
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
