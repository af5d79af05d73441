/*
 * Every file is read through this module, whatever its name and packing. An input is a path, standard input ("-"), a
 * pipe or memory. gzip, xz, zstd and UTF-16 are recognised by their first bytes, even nested, and decoded while
 * reading: readers get plain bytes, and no other module opens files or unpacks anything.
 *
 * An input is read forward, once. A reader that must start over declares this before reading (keep, rewind); a reader
 * that needs random access gets a descriptor (file). Memory is bounded, however large the unpacked data is. If reading
 * fails, everything before the failure has been returned, and `why` gives the position in the file.
 */
#ifndef TDM_INPUT_INPUT_H
#define TDM_INPUT_INPUT_H

#include <limits.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/term.h"

enum { TDM_INPUT_HEAD = 4096 }; /* formats are recognised by the first bytes, up to this many */

struct tdm_input;

/* 0 or -errno. A folder can be opened but not read. */
int tdm_input_open(const char *path, struct tdm_input **input);
/* Reads from memory, which must outlive the input; `name` is used in messages. */
struct tdm_input *tdm_input_memory(const char *name, const char *data, size_t len);
void tdm_input_close(struct tdm_input *input); /* NULL is allowed */

/* The path as given, or "standard input". */
const char *tdm_input_name(const struct tdm_input *input);
bool tdm_input_is_folder(const struct tdm_input *input);
/* Whether the two inputs are the same file, perhaps under different names. */
bool tdm_input_is_same(const struct tdm_input *a, const struct tdm_input *b);
/* How the file is compressed ("gzip"); NULL if it is plain. A compressed file cannot be followed as it grows. Waits
 * for the first bytes. */
const char *tdm_input_packing(struct tdm_input *input);

/* Returns the number of bytes read, 0 at the end, or a negative code, with the reason in `why`. If the file grows,
 * reading can continue after the end. */
ssize_t tdm_input_read(struct tdm_input *input, char *dst, size_t cap);
struct tdm_reader tdm_input_reader(struct tdm_input *input);
const char *tdm_input_why(const struct tdm_input *input);
/* Sets diag to the reason why reading ended with `err`, and returns `err`. */
int tdm_input_failed(const struct tdm_input *input, int err, uint64_t line, struct tdm_diag *diag);

/* The first TDM_INPUT_HEAD bytes, or fewer if there are no more; waits for them. Reading still starts at the first
 * byte. Borrowed for the life of the input; later calls return the same bytes. */
struct tdm_str tdm_input_head(struct tdm_input *input);

/*
 * Makes sure that the input can be rewound: a pipe is copied to an unnamed file as it is read. Call this before reading
 * anything but the head. 0, or a negative code with diag set.
 */
int tdm_input_keep(struct tdm_input *input, struct tdm_diag *diag);
int tdm_input_rewind(struct tdm_input *input); /* 0 or -errno */

/* Returns a descriptor for random access (pread) to all plain bytes, and their number. The descriptor is that of the
 * file itself or of a copy; the input owns it. Call this before reading anything but the head. On failure returns a
 * negative code with diag set. */
int tdm_input_file(struct tdm_input *input, uint64_t *bytes, struct tdm_diag *diag);

/* Writes all plain bytes to a file, up to a limit: 8 GiB for a plain file, 256 MiB for a packed file or a pipe. 0,
 * or a negative code with diag set. */
int tdm_input_save(struct tdm_input *input, int fd, uint64_t *bytes, struct tdm_diag *diag);
/* Makes a new folder for such a copy, accessible only to this user, and sets its path. 0 or -errno. */
int tdm_input_folder(char path[PATH_MAX]);
/* Sets diag to the reason why the input cannot be copied, and returns `err`. */
int tdm_input_no_copy(const struct tdm_input *input, int err, struct tdm_diag *diag);

/* The file's original descriptor, to be inspected but not read; -1 for memory. */
int tdm_input_descriptor(const struct tdm_input *input);

/* Whether the rest of the input contains the string. Reads up to that string. */
bool tdm_input_find(struct tdm_input *input, const char *text);

/* Counts the bytes of the file as they are read, and adds the file's size to the total. `progress` must outlive the
 * input, or be replaced by NULL first. */
void tdm_input_progress(struct tdm_input *input, struct tdm_progress *progress);

/* Progress of a reader that works on a copy: the number of bytes to read from the copy, and the number read so far. */
void tdm_input_expect(struct tdm_input *input, uint64_t bytes);
void tdm_input_passed(struct tdm_input *input, uint64_t bytes);

/* Whether the path now leads to a different file (after rotation), or to the same file with fewer bytes than have been
 * read (after truncation). A missing file counts as unchanged, because it may come back. */
bool tdm_input_has_changed(const struct tdm_input *input);

#endif
