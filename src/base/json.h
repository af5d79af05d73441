/*
 * Writes JSON into a text buffer. It takes care of commas, indentation and escaping; the caller pairs begin and end,
 * and calls tdm_json_key before every value in an object. Bytes that are not valid UTF-8 become U+FFFD.
 */
#ifndef TDM_BASE_JSON_H
#define TDM_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum { TDM_JSON_DEPTH = 32 };

struct tdm_json {
	struct tdm_buf *out; /* borrowed */
	int depth;
	bool has_items[TDM_JSON_DEPTH];
	bool after_key;
	bool compact; /* everything on one line; set it after tdm_json_init */
};

void tdm_json_init(struct tdm_json *json, struct tdm_buf *out);
void tdm_json_object(struct tdm_json *json);
void tdm_json_object_end(struct tdm_json *json);
void tdm_json_array(struct tdm_json *json);
void tdm_json_array_end(struct tdm_json *json);
void tdm_json_key(struct tdm_json *json, const char *key);
void tdm_json_str(struct tdm_json *json, struct tdm_str text);
void tdm_json_text(struct tdm_json *json, const char *text); /* NULL is written as null */
void tdm_json_u64(struct tdm_json *json, uint64_t value);
void tdm_json_bytes(struct tdm_json *json, uint64_t bytes); /* TDM_BYTES_UNKNOWN is written as null */
void tdm_json_i64(struct tdm_json *json, int64_t value);
void tdm_json_double(struct tdm_json *json, double value); /* NaN and infinity are written as null */
void tdm_json_bool(struct tdm_json *json, bool value);
void tdm_json_null(struct tdm_json *json);

/* Writes a key and its value. */
static inline void tdm_json_put_u64(struct tdm_json *json, const char *key, uint64_t value)
{
	tdm_json_key(json, key);
	tdm_json_u64(json, value);
}

static inline void tdm_json_put_bytes(struct tdm_json *json, const char *key, uint64_t bytes)
{
	tdm_json_key(json, key);
	tdm_json_bytes(json, bytes);
}

static inline void tdm_json_put_text(struct tdm_json *json, const char *key, const char *text)
{
	tdm_json_key(json, key);
	tdm_json_text(json, text);
}

/* These two functions write null for an empty string. */
static inline void tdm_json_put_name(struct tdm_json *json, const char *key, const char *text)
{
	tdm_json_key(json, key);
	tdm_json_text(json, text != NULL && text[0] != '\0' ? text : NULL);
}

static inline void tdm_json_put_str(struct tdm_json *json, const char *key, struct tdm_str text)
{
	tdm_json_key(json, key);
	if (text.len != 0)
		tdm_json_str(json, text);
	else
		tdm_json_null(json);
}

/* Writes null instead of the value unless `known`. */
static inline void tdm_json_put_known(struct tdm_json *json, const char *key, bool known, uint64_t value)
{
	tdm_json_key(json, key);
	if (known)
		tdm_json_u64(json, value);
	else
		tdm_json_null(json);
}

static inline void tdm_json_put_bool(struct tdm_json *json, const char *key, bool value)
{
	tdm_json_key(json, key);
	tdm_json_bool(json, value);
}

static inline void tdm_json_put_array(struct tdm_json *json, const char *key)
{
	tdm_json_key(json, key);
	tdm_json_array(json);
}

static inline void tdm_json_put_object(struct tdm_json *json, const char *key)
{
	tdm_json_key(json, key);
	tdm_json_object(json);
}

/*
 * Writes keys whose values become known earlier than the values of the preceding keys. init_keys starts a separate text
 * for the keys of an object at nesting depth `depth`; `after_others`: the object will already have other keys. paste
 * later inserts the text into that object.
 */
void tdm_json_init_keys(struct tdm_json *json, struct tdm_buf *out, int depth, bool after_others);
void tdm_json_paste(struct tdm_json *json, const struct tdm_buf *keys);

/* Version of the envelope and its contents. */
enum { TDM_JSON_VERSION = 1 };

/*
 * Begins the envelope of every command's JSON: schema, version, time (UTC) and host. The caller adds its own key and
 * then calls tdm_json_object_end.
 */
void tdm_json_envelope(struct tdm_json *json, const char *schema);

#endif
