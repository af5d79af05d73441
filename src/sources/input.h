/*
 * Every file comes in through here, whatever its name and packing. An input is a path, standard input ("-"), a pipe or
 * memory. gzip, xz, zstd and UTF-16 are recognised by their first bytes, even nested, and decoded while reading, so
 * readers see plain bytes and no other module opens files or unpacks anything.
 *
 * An input is read forward, once. A reader that must start over asks for that before it reads (keep, rewind); one that
 * needs random access gets a descriptor (file). Memory is bounded, however much the bytes unpack to. When reading
 * fails, everything before the failure has been given, and `why` names the byte of the file.
 */
#ifndef TDM_SOURCES_INPUT_H
#define TDM_SOURCES_INPUT_H

#include "base/diag.h"
#include "base/file.h"
#include "base/progress.h"

enum { TDM_INPUT_HEAD = 4096 }; /* bytes that formats are recognised by */

struct tdm_input;

/* 0 or -errno. A folder can be opened, but not read. */
int tdm_input_open(const char *path, struct tdm_input **input);
/* Memory, which must outlive the input; `name` is for messages. NULL when out of memory. */
struct tdm_input *tdm_input_memory(const char *name, const char *data, size_t len);
void tdm_input_close(struct tdm_input *input); /* NULL is allowed */

/* The path as it was given, or "standard input". */
const char *tdm_input_name(const struct tdm_input *input);
bool tdm_input_is_folder(const struct tdm_input *input);
/* Whether both are the same file, perhaps under different names. */
bool tdm_input_is_same(const struct tdm_input *a, const struct tdm_input *b);
/* How its bytes are compressed ("gzip"), which means that it cannot be followed; NULL: not at all. Waits for the first
 * bytes. */
const char *tdm_input_packing(struct tdm_input *input);

/* The number of bytes, 0 at the end, or a negative code; then `why` says what happened. A file that grows can be read
 * on after its end. */
ssize_t tdm_input_read(struct tdm_input *input, char *dst, size_t cap);
struct tdm_reader tdm_input_reader(struct tdm_input *input);
const char *tdm_input_why(const struct tdm_input *input);
/* Says in diag why reading ended with `err`, and returns `err`. */
int tdm_input_failed(const struct tdm_input *input, int err, uint64_t line, struct tdm_diag *diag);

/* The first TDM_INPUT_HEAD bytes, or fewer if there are no more; waits for them. Reading still starts with them.
 * Borrowed for the life of the input; later calls give the same bytes. */
struct tdm_str tdm_input_head(struct tdm_input *input);

/*
 * Makes sure that the input can be rewound: a pipe is copied to an unnamed file while it is read. Call it before
 * reading anything but the head. 0, or a negative code with diag set.
 */
int tdm_input_keep(struct tdm_input *input, struct tdm_diag *diag);
int tdm_input_rewind(struct tdm_input *input); /* 0 or -errno */

/* A descriptor of all plain bytes for random access (pread), and their number: the file itself or a copy. The input
 * owns it. Call it before reading anything but the head. A negative code with diag set on failure. */
int tdm_input_file(struct tdm_input *input, uint64_t *bytes, struct tdm_diag *diag);

/* Whether the rest of the input has the text. Reads up to there. */
bool tdm_input_find(struct tdm_input *input, const char *text);

/* Counts the bytes of the file as they are read, and adds its size to the total. `progress` must outlive the input, or
 * be replaced by NULL before. */
void tdm_input_progress(struct tdm_input *input, struct tdm_progress *progress);

/* Counts bytes that were read from the descriptor of tdm_input_file(). */
void tdm_input_passed(struct tdm_input *input, uint64_t bytes);

/* Whether the path now leads to another file (it was rotated), or to the same one with fewer bytes than were read (it
 * was truncated). A missing file has not changed: it may come back. */
bool tdm_input_has_changed(const struct tdm_input *input);

#endif
