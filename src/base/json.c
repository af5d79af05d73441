#include "base/json.h"
#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

void tdm_json_init(struct tdm_json *json, struct tdm_buf *out)
{
	*json = (struct tdm_json){ .out = out };
}

void tdm_json_init_keys(struct tdm_json *json, struct tdm_buf *out, int depth, bool after_others)
{
	tdm_json_init(json, out);
	json->depth = depth;
	json->has_items[depth - 1] = after_others;
}

void tdm_json_paste(struct tdm_json *json, const struct tdm_buf *keys)
{
	tdm_buf_add(json->out, tdm_buf_str(keys).ptr, keys->len);
	json->has_items[json->depth - 1] |= keys->len != 0;
}

/* Writes the comma, the newline and the indentation before a value, unless the value follows its key. */
static void before_value(struct tdm_json *json)
{
	static const char lead[] = ",\n                                                                ";
	_Static_assert(sizeof lead == 2 + 2 * TDM_JSON_DEPTH + 1, "indentation for the greatest depth");
	if (json->after_key || json->depth == 0) {
		json->after_key = false;
		return;
	}
	bool *has_items = &json->has_items[json->depth - 1];
	tdm_buf_add(json->out, lead + !*has_items, *has_items + (json->compact ? 0 : 1 + 2 * (size_t)json->depth));
	*has_items = true;
}

static void begin(struct tdm_json *json, char bracket)
{
	before_value(json);
	tdm_buf_putc(json->out, bracket);
	assert(json->depth < TDM_JSON_DEPTH); /* the depth never depends on input data */
	if (json->depth < TDM_JSON_DEPTH)
		json->has_items[json->depth++] = false;
}

static void end(struct tdm_json *json, char bracket)
{
	if (json->depth == 0)
		return;
	bool had_items = json->has_items[--json->depth];
	if (had_items && !json->compact) {
		tdm_buf_putc(json->out, '\n');
		tdm_buf_fill(json->out, ' ', (size_t)json->depth * 2);
	}
	tdm_buf_putc(json->out, bracket);
	if (json->depth == 0)
		tdm_buf_putc(json->out, '\n');
}

void tdm_json_object(struct tdm_json *json)
{
	begin(json, '{');
}

void tdm_json_object_end(struct tdm_json *json)
{
	end(json, '}');
}

void tdm_json_array(struct tdm_json *json)
{
	begin(json, '[');
}

void tdm_json_array_end(struct tdm_json *json)
{
	end(json, ']');
}

static void put_escaped(struct tdm_buf *out, unsigned char c)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *hit = c != 0 ? strchr(from, c) : NULL;
	if (hit != NULL) {
		tdm_buf_putc(out, '\\');
		tdm_buf_putc(out, to[hit - from]);
	} else if (c < 0x20 || c == 0x7f) {
		tdm_buf_printf(out, "\\u%04x", (unsigned)c);
	} else {
		tdm_buf_putc(out, (char)c);
	}
}

/* The number of leading bytes that need no escape. */
static size_t plain_length(struct tdm_str text)
{
	size_t len = 0;
	while (len < text.len && text.ptr[len] >= ' ' && text.ptr[len] < 0x7f && text.ptr[len] != '"' &&
		text.ptr[len] != '\\')
		len++;
	return len;
}

static void put_string(struct tdm_buf *out, struct tdm_str text)
{
	char *at = plain_length(text) == text.len ? tdm_buf_extend(out, text.len + 2) : NULL;
	if (at != NULL) {
		at[0] = at[text.len + 1] = '"';
		memcpy(at + 1, text.len != 0 ? text.ptr : "", text.len);
		return;
	}
	tdm_buf_putc(out, '"');
	while (text.len != 0) {
		size_t len = plain_length(text);
		if (len != 0) {
			tdm_buf_add(out, text.ptr, len);
		} else if ((len = tdm_str_utf8(text.ptr, text.len)) == 0) {
			tdm_buf_puts(out, "\xef\xbf\xbd");
			len = 1;
		} else if (len == 2 && text.ptr[0] == '\xc2' && (unsigned char)text.ptr[1] < 0xa0) {
			tdm_buf_printf(out, "\\u%04x", (unsigned)(unsigned char)text.ptr[1]); /* terminals obey these */
		} else if (len == 1) {
			put_escaped(out, (unsigned char)text.ptr[0]);
		} else {
			tdm_buf_add(out, text.ptr, len);
		}
		text = (struct tdm_str){ text.ptr + len, text.len - len };
	}
	tdm_buf_putc(out, '"');
}

void tdm_json_key(struct tdm_json *json, const char *key)
{
	before_value(json);
	put_string(json->out, tdm_str_of(key));
	tdm_buf_puts(json->out, ": ");
	json->after_key = true;
}

void tdm_json_str(struct tdm_json *json, struct tdm_str text)
{
	before_value(json);
	put_string(json->out, text);
}

void tdm_json_text(struct tdm_json *json, const char *text)
{
	if (text == NULL)
		tdm_json_null(json);
	else
		tdm_json_str(json, tdm_str_of(text));
}

void tdm_json_u64(struct tdm_json *json, uint64_t value)
{
	char digits[20];
	size_t at = sizeof digits;
	before_value(json);
	do
		digits[--at] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	tdm_buf_add(json->out, digits + at, sizeof digits - at);
}

void tdm_json_bytes(struct tdm_json *json, uint64_t bytes)
{
	if (bytes == TDM_BYTES_UNKNOWN)
		tdm_json_null(json);
	else
		tdm_json_u64(json, bytes);
}

void tdm_json_i64(struct tdm_json *json, int64_t value)
{
	before_value(json);
	tdm_buf_printf(json->out, "%" PRId64, value);
}

void tdm_json_double(struct tdm_json *json, double value)
{
	if (!isfinite(value)) {
		tdm_json_null(json);
		return;
	}
	before_value(json);
	tdm_buf_printf(json->out, "%.10g", value);
}

void tdm_json_bool(struct tdm_json *json, bool value)
{
	before_value(json);
	tdm_buf_puts(json->out, value ? "true" : "false");
}

void tdm_json_null(struct tdm_json *json)
{
	before_value(json);
	tdm_buf_puts(json->out, "null");
}

void tdm_json_envelope(struct tdm_json *json, const char *schema)
{
	char when[40] = "", host[256] = "";
	struct timespec now;
	struct tm utc;
	if (clock_gettime(CLOCK_REALTIME, &now) == 0 && gmtime_r(&now.tv_sec, &utc) != NULL)
		strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
	bool has_host = gethostname(host, sizeof host - 1) == 0;

	tdm_json_object(json);
	tdm_json_put_text(json, "schema", schema);
	tdm_json_put_u64(json, "version", TDM_JSON_VERSION);
	tdm_json_put_text(json, "time", when[0] != '\0' ? when : NULL);
	tdm_json_put_text(json, "host", has_host ? host : NULL);
}
