/*
 * SQLite reads through file functions of our own, which know two files: the database, by the descriptor of the input,
 * and its -wal. They have no write and no lock, and hide every other file but SQLite's own temporary ones.
 *
 * A database without a -wal is declared immutable. With one, SQLite is told that it is alone (exclusive locking), so
 * that it keeps the index of the -wal in its own memory and not in a file beside it.
 */
#include "sources/sqlite_file.h"
#include "base/err.h"
#include "base/units.h"

#if TDM_HAVE_SQLITE

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	STEPS = 1 << 20,      /* of SQLite's machine between two looks at their number */
	STEPS_PER_BYTE = 64,  /* of the file, before a statement counts as endless */
	SQL_MAX = 1 << 20,    /* bytes of a statement in the schema */
	LOCK_AT = 0x40000000, /* where SQLite's locks are */
	LOCK_BYTES = 512,
	PASSES = 2, /* how often most of a file is read */
	HEADER = 100,
	PAGE_SIZE_AT = 16, /* in the header */
	CHANGES_AT = 24,   /* of the counter of changes */
	PAGES_AT = 28,
	JOURNAL_MAGIC = 8,
};

/* What a file was like when it was opened. */
struct opened {
	int fd;         /* -1: there is none */
	uint64_t bytes; /* that it has */
	uint64_t whole; /* that it should have: more, if it is cut off */
	struct stat st;
	char changes[4];
};

struct tdm_sqlite {
	sqlite3 *handle;
	sqlite3_vfs vfs;
	char vfs_name[40];
	struct tdm_input *input, *wal_input;
	struct opened main, wal;
	bool has_journal; /* a write was not finished */
	int32_t writer;   /* pid of a process that was writing; 0: none */
	uint64_t steps, steps_max;
};

struct tdm_sqlite_rows {
	struct tdm_sqlite *db;
	sqlite3_stmt *statement;
	const char *table;
	size_t column_count;
	bool has[TDM_SQLITE_COLUMNS];
	bool has_rowid;
	uint64_t taken;
};

/* ---- files for SQLite ---- */

struct file {
	sqlite3_file base;
	const struct opened *of; /* NULL: an empty file */
	struct tdm_input *input;
	bool is_immutable;
};

static int file_close(sqlite3_file *file)
{
	(void)file;
	return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *dst, int len, sqlite3_int64 at)
{
	const struct opened *of = ((struct file *)file)->of;
	char *to = dst;
	size_t left = (size_t)len;
	while (of != NULL && left != 0 && (uint64_t)at < of->bytes) {
		ssize_t got = pread(of->fd, to, (size_t)tdm_min(left, of->bytes - (uint64_t)at), at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return SQLITE_IOERR_READ;
		if (got == 0)
			break;
		to += got;
		at += got;
		left -= (size_t)got;
	}
	tdm_input_passed(((struct file *)file)->input, ((uint64_t)len - left) / PASSES);
	memset(to, 0, left); /* SQLite relies on it */
	return left != 0 ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int file_write(sqlite3_file *file, const void *src, int len, sqlite3_int64 at)
{
	(void)file, (void)src, (void)len, (void)at;
	return SQLITE_READONLY;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 bytes)
{
	(void)file, (void)bytes;
	return SQLITE_READONLY;
}

static int file_number(sqlite3_file *file, int number) /* sync, lock and unlock */
{
	(void)file, (void)number;
	return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *bytes)
{
	const struct opened *of = ((struct file *)file)->of;
	*bytes = of != NULL ? (sqlite3_int64)of->whole : 0;
	return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *file, int *is_reserved)
{
	(void)file;
	*is_reserved = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int what, void *arg)
{
	(void)file, (void)what, (void)arg;
	return SQLITE_NOTFOUND;
}

static int file_traits(sqlite3_file *file)
{
	return ((struct file *)file)->is_immutable ? SQLITE_IOCAP_IMMUTABLE : 0;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_number,
	.xFileSize = file_size,
	.xLock = file_number,
	.xUnlock = file_number,
	.xCheckReservedLock = file_is_reserved,
	.xFileControl = file_control,
	.xDeviceCharacteristics = file_traits,
};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *given)
{
	struct tdm_sqlite *db = vfs->pAppData;
	struct file *f = (struct file *)file;
	sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
	f->base.pMethods = NULL;
	if (name == NULL && (flags & SQLITE_OPEN_DELETEONCLOSE) != 0) /* for sorting, in the folder for such files */
		return usual->xOpen(usual, NULL, file, flags, given);
	if ((flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) == 0)
		return SQLITE_CANTOPEN;
	f->of = (flags & SQLITE_OPEN_MAIN_DB) != 0 ? &db->main : db->wal.fd >= 0 ? &db->wal : NULL;
	f->input = db->input;
	f->is_immutable = db->wal.fd < 0;
	f->base.pMethods = &methods;
	if (given != NULL)
		*given = SQLITE_OPEN_READONLY;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs, (void)name, (void)sync;
	return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
	const struct tdm_sqlite *db = vfs->pAppData;
	size_t len = strlen(name);
	*result = flags == SQLITE_ACCESS_EXISTS && db->wal.fd >= 0 && len > 4 && strcmp(name + len - 4, "-wal") == 0;
	return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int cap, char *dst)
{
	(void)vfs;
	return snprintf(dst, (size_t)cap, "%s", name) < cap ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* Time and randomness are SQLite's usual ones; there are no extensions to load. */
static void make_vfs(struct tdm_sqlite *db)
{
	const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
	snprintf(db->vfs_name, sizeof db->vfs_name, "tidemark-%p", (void *)db);
	db->vfs = *usual;
	db->vfs.iVersion = 1;
	db->vfs.pNext = NULL;
	db->vfs.zName = db->vfs_name;
	db->vfs.pAppData = db;
	db->vfs.szOsFile = (int)tdm_max((uint64_t)usual->szOsFile, sizeof(struct file));
	db->vfs.xOpen = vfs_open;
	db->vfs.xDelete = vfs_delete;
	db->vfs.xAccess = vfs_access;
	db->vfs.xFullPathname = vfs_full_path;
	db->vfs.xDlOpen = NULL;
	db->vfs.xDlError = NULL;
	db->vfs.xDlSym = NULL;
	db->vfs.xDlClose = NULL;
}

/* ---- opening ---- */

static int open_file(struct tdm_input *input, struct opened *file, struct tdm_diag *diag)
{
	int fd = tdm_input_file(input, &file->bytes, diag);
	if (fd < 0)
		return fd;
	if (fstat(fd, &file->st) != 0)
		return tdm_diag_set(diag, -errno, 0, 0, "cannot be read: %s", tdm_err_text(-errno));
	if (pread(fd, file->changes, sizeof file->changes, CHANGES_AT) != (ssize_t)sizeof file->changes)
		memset(file->changes, 0, sizeof file->changes);
	file->fd = fd;
	file->whole = file->bytes;
	return 0;
}

/* SQLite reads nothing of a database that is shorter than its header says. So it is told the size in the header: the
 * missing pages are zero, and only tables that have some of them are damaged. */
static void complete(struct opened *file)
{
	unsigned char head[HEADER];
	if (pread(file->fd, head, sizeof head, 0) != (ssize_t)sizeof head)
		return;
	uint64_t page = (uint64_t)head[PAGE_SIZE_AT] << 8 | head[PAGE_SIZE_AT + 1], pages = 0;
	for (int i = 0; i < 4; i++)
		pages = pages << 8 | head[PAGES_AT + i];
	file->whole = tdm_max(file->bytes, pages * (page == 1 ? 65536 : page));
}

/* The path of a file beside the database. False if it has no place in the file system, or is no longer there. */
static bool path_beside(const struct tdm_sqlite *db, const char *ending, char path[PATH_MAX])
{
	struct stat st;
	const char *name = tdm_input_name(db->input);
	int len = snprintf(path, PATH_MAX, "%s%s", name, ending);
	return len > 0 && len < PATH_MAX && stat(name, &st) == 0 && st.st_dev == db->main.st.st_dev &&
	       st.st_ino == db->main.st.st_ino;
}

static int open_wal(struct tdm_sqlite *db, struct tdm_diag *diag)
{
	char path[PATH_MAX];
	struct stat st;
	if (!path_beside(db, "-wal", path) || stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return 0;
	int err = tdm_input_open(path, &db->wal_input);
	if (err != 0)
		return tdm_diag_set(diag, err, 0, 0,
			"its journal, with -wal at the end of its name, cannot be read: %s", tdm_err_text(err));
	return open_file(db->wal_input, &db->wal, diag);
}

/* Who is writing, as far as it can be seen without locking anything. */
static void look_around(struct tdm_sqlite *db)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = LOCK_AT, .l_len = LOCK_BYTES };
	char path[PATH_MAX], magic[JOURNAL_MAGIC] = "";
	if (fcntl(db->main.fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK)
		db->writer = lock.l_pid > 0 ? lock.l_pid : -1;
	int fd = path_beside(db, "-journal", path) ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	if (fd < 0)
		return;
	db->has_journal = read(fd, magic, sizeof magic) == (ssize_t)sizeof magic && (unsigned char)magic[0] == 0xd9;
	close(fd);
}

static int count_steps(void *context)
{
	struct tdm_sqlite *db = context;
	db->steps += STEPS;
	return db->steps > db->steps_max;
}

static int authorise(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
	(void)context, (void)b, (void)c, (void)d;
	return action == SQLITE_SELECT || action == SQLITE_READ ||
			       (action == SQLITE_PRAGMA && a != NULL && strcmp(a, "table_info") == 0)
		       ? SQLITE_OK
		       : SQLITE_DENY;
}

static void harden(struct tdm_sqlite *db)
{
	static const struct {
		int option, value;
	} options[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
	};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		sqlite3_db_config(db->handle, options[i].option, options[i].value, NULL);
	sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, TDM_SQLITE_VALUE_MAX);
	sqlite3_limit(db->handle, SQLITE_LIMIT_SQL_LENGTH, SQL_MAX);
	sqlite3_limit(db->handle, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db->handle, SQLITE_LIMIT_TRIGGER_DEPTH, 0);
	sqlite3_limit(db->handle, SQLITE_LIMIT_WORKER_THREADS, 0);
	sqlite3_progress_handler(db->handle, STEPS, count_steps, db);
	sqlite3_exec(db->handle, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
	sqlite3_exec(db->handle, "PRAGMA temp_store=FILE", NULL, NULL, NULL);
	if (db->wal.fd >= 0)
		sqlite3_exec(db->handle, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);
	sqlite3_set_authorizer(db->handle, authorise, NULL);
}

static int say_error(const struct tdm_sqlite *db, const char *what, struct tdm_diag *diag)
{
	int code = db->handle != NULL ? sqlite3_errcode(db->handle) : SQLITE_NOMEM;
	switch (code) {
	case SQLITE_NOMEM:
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	case SQLITE_INTERRUPT:
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0, "%s has no end, as it seems: reading was given up", what);
	case SQLITE_TOOBIG:
		return tdm_diag_set(
			diag, -EMSGSIZE, 0, 0, "%s has a value above %d MiB", what, TDM_SQLITE_VALUE_MAX >> 20);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0,
			"%s is damaged or cut off; 'sqlite3 FILE .recover' can save what is left", what);
	default:
		return tdm_diag_set(
			diag, TDM_ECORRUPT, 0, 0, "%s cannot be read: %s", what, sqlite3_errmsg(db->handle));
	}
}

int tdm_sqlite_open(struct tdm_input *input, struct tdm_sqlite **out, struct tdm_diag *diag)
{
	struct tdm_sqlite *db = calloc(1, sizeof *db);
	*out = NULL;
	if (db == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	db->input = input;
	db->main.fd = db->wal.fd = -1;
	int err = open_file(input, &db->main, diag);
	err = err != 0 ? err : open_wal(db, diag);
	if (err != 0) {
		tdm_sqlite_close(db);
		return err;
	}
	if (db->wal.fd < 0)
		complete(&db->main);
	look_around(db);
	db->steps_max = STEPS_PER_BYTE * (db->main.bytes + (db->wal.fd >= 0 ? db->wal.bytes : 0) + STEPS);
	make_vfs(db);
	if (sqlite3_initialize() != SQLITE_OK || sqlite3_vfs_register(&db->vfs, 0) != SQLITE_OK ||
		sqlite3_open_v2("database", &db->handle,
			SQLITE_OPEN_READONLY | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOMUTEX,
			db->vfs_name) != SQLITE_OK) {
		err = say_error(db, "the database", diag);
		tdm_sqlite_close(db);
		return err;
	}
	harden(db);
	*out = db;
	return 0;
}

void tdm_sqlite_close(struct tdm_sqlite *db)
{
	if (db == NULL)
		return;
	sqlite3_close(db->handle);
	if (db->vfs.zName != NULL)
		sqlite3_vfs_unregister(&db->vfs);
	tdm_input_close(db->wal_input);
	free(db);
}

static bool has_changed(const struct opened *file)
{
	struct stat now;
	char changes[sizeof file->changes];
	return file->fd >= 0 && fstat(file->fd, &now) == 0 &&
	       (now.st_size != file->st.st_size || now.st_mtim.tv_sec != file->st.st_mtim.tv_sec ||
		       now.st_mtim.tv_nsec != file->st.st_mtim.tv_nsec ||
		       (pread(file->fd, changes, sizeof changes, CHANGES_AT) == (ssize_t)sizeof changes &&
			       memcmp(changes, file->changes, sizeof changes) != 0));
}

bool tdm_sqlite_is_doubtful(const struct tdm_sqlite *db, struct tdm_diag *why)
{
	char has[TDM_BYTES_CAP], whole[TDM_BYTES_CAP];
	if (db->main.whole != db->main.bytes)
		tdm_diag_set(why, TDM_ECORRUPT, 0, 0, "it is cut off: it has %s of %s bytes",
			tdm_format_count(has, sizeof has, db->main.bytes),
			tdm_format_count(whole, sizeof whole, db->main.whole));
	else if (db->writer > 0)
		tdm_diag_set(why, -EBUSY, 0, 0,
			"process %" PRId32 " is writing it: what it has not finished may be wrong or missing",
			db->writer);
	else if (db->writer != 0 || has_changed(&db->main) || has_changed(&db->wal))
		tdm_diag_set(why, -EBUSY, 0, 0,
			"it changed while it was read: figures may be wrong or missing; read it again when its program "
			"has ended");
	else if (db->has_journal)
		tdm_diag_set(why, -EBUSY, 0, 0,
			"its program did not finish writing it, and left a journal beside it: figures may be wrong; "
			"'sqlite3 FILE .tables' puts it in order");
	else
		return false;
	return true;
}

/* ---- tables ---- */

/* Appends a name in quotes. Names here are constants without quotes in them. */
static void put_name(char *sql, size_t cap, const char *before, const char *name)
{
	size_t len = strlen(sql);
	snprintf(sql + len, cap - len, "%s\"%s\"", before, name);
}

static int prepare(struct tdm_sqlite *db, const char *sql, sqlite3_stmt **statement)
{
	db->steps = 0;
	return sqlite3_prepare_v3(db->handle, sql, -1, 0, statement, NULL);
}

/* 1 if there is such a table, 0 if not, or a negative code if it must not be used. */
static int check_table(struct tdm_sqlite *db, const char *table, struct tdm_diag *diag)
{
	sqlite3_stmt *s = NULL;
	int found = 0;
	if (prepare(db,
		    "SELECT type, rootpage FROM sqlite_master WHERE name = ?1 COLLATE NOCASE AND type IN ('table', "
		    "'view')",
		    &s) != SQLITE_OK)
		found = say_error(db, "the database", diag);
	if (found == 0) {
		sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
		int step = sqlite3_step(s);
		const unsigned char *type = step == SQLITE_ROW ? sqlite3_column_text(s, 0) : NULL;
		if (step != SQLITE_ROW && step != SQLITE_DONE)
			found = say_error(db, "the database", diag);
		else if (type != NULL)
			found = strcmp((const char *)type, "table") == 0 && sqlite3_column_int64(s, 1) > 0
					? 1
					: tdm_diag_set(diag, TDM_ECORRUPT, 0, 0,
						  "%s is not a table but computed by the file: it is not read", table);
	}
	sqlite3_finalize(s);
	return found;
}

/* Which of the columns the table has. Those that are computed are not listed. 0 or a negative code. */
static int find_columns(struct tdm_sqlite_rows *rows, const struct tdm_sqlite_query *query, struct tdm_diag *diag)
{
	char sql[128] = "";
	sqlite3_stmt *s = NULL;
	int step = SQLITE_DONE;
	put_name(sql, sizeof sql, "PRAGMA table_info(", query->table);
	strcat(sql, ")");
	if (prepare(rows->db, sql, &s) != SQLITE_OK)
		return say_error(rows->db, query->table, diag);
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 1);
		for (size_t i = 0; name != NULL && i < rows->column_count; i++)
			rows->has[i] |= sqlite3_stricmp(name, query->columns[i]) == 0;
	}
	sqlite3_finalize(s);
	return step == SQLITE_DONE ? 0 : say_error(rows->db, query->table, diag);
}

/* "SELECT rowid, "a", NULL FROM "t" NOT INDEXED ORDER BY …": a missing column is NULL. */
static void put_select(const struct tdm_sqlite_rows *rows, const struct tdm_sqlite_query *query, char *sql, size_t cap)
{
	snprintf(sql, cap, "SELECT %s", rows->has_rowid ? "rowid" : "NULL");
	for (size_t i = 0; i < rows->column_count; i++)
		if (rows->has[i])
			put_name(sql, cap, ", ", query->columns[i]);
		else
			strcat(sql, ", NULL");
	put_name(sql, cap, " FROM ", query->table);
	strcat(sql, " NOT INDEXED");
	if (query->has_row)
		strcat(sql, " WHERE rowid = ?1");
	if (query->by != NULL)
		strcat(strcat(sql, " ORDER BY "), query->by);
}

int tdm_sqlite_select(struct tdm_sqlite *db, const struct tdm_sqlite_query *query, struct tdm_sqlite_rows **out,
	struct tdm_diag *diag)
{
	char sql[2048];
	*out = NULL;
	int found = check_table(db, query->table, diag);
	if (found <= 0)
		return found;
	struct tdm_sqlite_rows *rows = calloc(1, sizeof *rows);
	if (rows == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	*rows = (struct tdm_sqlite_rows){ .db = db, .table = query->table, .has_rowid = true };
	while (rows->column_count < TDM_SQLITE_COLUMNS && query->columns[rows->column_count] != NULL)
		rows->column_count++;
	int err = find_columns(rows, query, diag);
	put_select(rows, query, sql, sizeof sql);
	if (err == 0 && prepare(db, sql, &rows->statement) != SQLITE_OK) {
		rows->has_rowid = false; /* a table may have none */
		put_select(rows, query, sql, sizeof sql);
		if (query->has_row || prepare(db, sql, &rows->statement) != SQLITE_OK)
			err = say_error(db, query->table, diag);
	}
	if (err != 0) {
		tdm_sqlite_end(rows);
		return err;
	}
	if (query->has_row)
		sqlite3_bind_int64(rows->statement, 1, query->row);
	*out = rows;
	return 1;
}

int tdm_sqlite_next(struct tdm_sqlite_rows *rows, struct tdm_diag *diag)
{
	int step = sqlite3_step(rows->statement);
	if (step == SQLITE_DONE)
		return 0;
	if (step != SQLITE_ROW)
		return say_error(rows->db, rows->table, diag);
	/* A row has bytes in the file; pages that refer to each other in a circle give more rows than that. */
	if (rows->taken++ == rows->db->main.bytes + (rows->db->wal.fd >= 0 ? rows->db->wal.bytes : 0))
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0, "%s has more rows than the file has bytes", rows->table);
	return 1;
}

void tdm_sqlite_end(struct tdm_sqlite_rows *rows)
{
	if (rows != NULL)
		sqlite3_finalize(rows->statement);
	free(rows);
}

int64_t tdm_sqlite_row(const struct tdm_sqlite_rows *rows)
{
	return rows->has_rowid ? sqlite3_column_int64(rows->statement, 0) : (int64_t)rows->taken;
}

int tdm_sqlite_integer(const struct tdm_sqlite_rows *rows, size_t column, int64_t *value)
{
	int type = sqlite3_column_type(rows->statement, (int)column + 1);
	*value = 0;
	if (type == SQLITE_NULL)
		return 0;
	if (type == SQLITE_INTEGER) {
		*value = sqlite3_column_int64(rows->statement, (int)column + 1);
		return 1;
	}
	uint64_t number;
	if (type != SQLITE_TEXT || tdm_str_parse_u64(tdm_sqlite_text(rows, column), &number) != 0 || number > INT64_MAX)
		return TDM_ESYNTAX;
	*value = (int64_t)number;
	return 1;
}

int tdm_sqlite_real(const struct tdm_sqlite_rows *rows, size_t column, double *value)
{
	int type = sqlite3_column_type(rows->statement, (int)column + 1);
	*value = sqlite3_column_double(rows->statement, (int)column + 1);
	return type == SQLITE_NULL ? 0 : type == SQLITE_INTEGER || type == SQLITE_FLOAT ? 1 : TDM_ESYNTAX;
}

struct tdm_str tdm_sqlite_text(const struct tdm_sqlite_rows *rows, size_t column)
{
	const char *text = (const char *)sqlite3_column_text(rows->statement, (int)column + 1);
	int len = sqlite3_column_bytes(rows->statement, (int)column + 1);
	return (struct tdm_str){ text != NULL ? text : "", text != NULL && len > 0 ? (size_t)len : 0 };
}

#endif
