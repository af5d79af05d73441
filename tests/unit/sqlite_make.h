/* Makes databases in memory from SQL, for the tests and the fuzz target of ttnn's reports. */
#ifndef TESTS_UNIT_SQLITE_MAKE_H
#define TESTS_UNIT_SQLITE_MAKE_H

#include <sqlite3.h>
#include <stddef.h>

#define MADE_OPERATIONS "CREATE TABLE operations (operation_id int, name text, duration float);"
#define MADE_BUFFERS                                                                                  \
	"CREATE TABLE buffers (operation_id int, device_id int, address int, max_size_per_bank int, " \
	"buffer_type int);"
#define MADE_TENSORS                                                                                     \
	"CREATE TABLE tensors (tensor_id int, shape text, dtype text, layout text, memory_config text, " \
	"device_id int, address int, buffer_type int);"                                                  \
	"CREATE TABLE input_tensors (operation_id int, input_index int, tensor_id int);"                 \
	"CREATE TABLE output_tensors (operation_id int, output_index int, tensor_id int);"
#define MADE_DEVICES                                                                                  \
	"CREATE TABLE devices (device_id int, num_y_compute_cores int, num_x_compute_cores int, "     \
	"worker_l1_size int, l1_num_banks int, l1_bank_size int, address_at_first_l1_cb_buffer int);" \
	"INSERT INTO devices VALUES (0, 8, 8, 1499136, 64, 1370112, 102400);"

/* The bytes of the database; release them with sqlite3_free(). NULL: the SQL is wrong. */
static inline unsigned char *sqlite_make(const char *sql, size_t *size)
{
	sqlite3 *db = NULL;
	sqlite3_int64 len = 0;
	unsigned char *bytes = NULL;
	if (sqlite3_open(":memory:", &db) == SQLITE_OK && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
		bytes = sqlite3_serialize(db, "main", &len, 0);
	sqlite3_close(db);
	*size = (size_t)len;
	return bytes;
}

#endif
