/*
 * The door: every file comes in through here, whatever it is called and however it is packed. An input is a path,
 * standard input ("-"), a pipe or memory; gzip, xz, zstd and UTF-16 are recognised by their first bytes, also in each
 * other, and taken off while reading, so that readers see plain bytes and nobody else opens files or unpacks anything.
 *
 * An input is read forward, once. A reader that must begin again asks for that before it reads (keep, rewind); one that
 * must read here and there gets a descriptor (file). Memory is bounded however much the bytes unpack to. When reading
 * fails, everything before that was given, and `why` names the byte of the file.
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
/* Whether both are the same file, under whatever names. */
bool tdm_input_is_same(const struct tdm_input *a, const struct tdm_input *b);
/* How its bytes are packed ("gzip"), so that it cannot be followed; NULL: they are not. Waits for the first ones. */
const char *tdm_input_packing(struct tdm_input *input);

/* Bytes, 0 at the end, or a negative code; then `why` says what happened. The end of a file that grows is an end for
 * the moment only. */
ssize_t tdm_input_read(struct tdm_input *input, char *dst, size_t cap);
struct tdm_reader tdm_input_reader(struct tdm_input *input);
const char *tdm_input_why(const struct tdm_input *input);
/* Says in diag why reading ended with this code. Returns it. */
int tdm_input_failed(const struct tdm_input *input, int err, uint64_t line, struct tdm_diag *diag);

/* The first TDM_INPUT_HEAD bytes, or fewer when there are no more: waits for them. They are still to be read. Borrowed
 * as long as the input; once it is read from, what was looked at before. */
struct tdm_str tdm_input_head(struct tdm_input *input);

/*
 * Makes sure that the input can be rewound: what comes through a pipe is copied to a file without a name while it is
 * read. Before anything but the head was read. 0, or a negative code with diag set.
 */
int tdm_input_keep(struct tdm_input *input, struct tdm_diag *diag);
int tdm_input_rewind(struct tdm_input *input); /* 0 or -errno */

/* A descriptor of all the plain bytes for reading anywhere (pread), and how many they are: the file itself, or a copy.
 * The input's, as long as it is open. Before anything but the head was read. A negative code with diag set. */
int tdm_input_file(struct tdm_input *input, uint64_t *bytes, struct tdm_diag *diag);

/* Whether the text is anywhere in the rest of the input, which is read up to there. */
bool tdm_input_find(struct tdm_input *input, const char *text);

/* Counts the bytes of the file as they are read; its size is added to the total. The progress must outlive the input,
 * or NULL be set. */
void tdm_input_progress(struct tdm_input *input, struct tdm_progress *progress);

/* Whether the path leads to another file now (it was rotated), or to the same with less in it than was read (it was
 * truncated). A file that is gone for the moment is waited for. */
bool tdm_input_has_changed(const struct tdm_input *input);

#endif
