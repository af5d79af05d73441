#include "baseline_json.h"

#include <stdio.h>
#include <stdlib.h>

#include <yajl/yajl_parse.h>

static int on_word(void *context)
{
	(void)context;
	return 1;
}

static int on_boolean(void *context, int value)
{
	(void)context;
	(void)value;
	return 1;
}

static int on_number(void *context, const char *text, size_t len)
{
	(void)context;
	(void)text;
	(void)len;
	return 1;
}

static int on_text(void *context, const unsigned char *text, size_t len)
{
	(void)context;
	(void)text;
	(void)len;
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_word,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_text,
	.yajl_start_map = on_word,
	.yajl_map_key = on_text,
	.yajl_end_map = on_word,
	.yajl_start_array = on_word,
	.yajl_end_array = on_word,
};

/* struct baseline_json is the parser's own handle. */
struct baseline_json *baseline_json_new(void)
{
	yajl_handle yajl = yajl_alloc(&callbacks, NULL, NULL);
	if (yajl == NULL)
		exit(2);
	yajl_config(yajl, yajl_dont_validate_strings, 1); /* like ours */
	return (struct baseline_json *)yajl;
}

static void check(yajl_status status)
{
	if (status == yajl_status_ok)
		return;
	fprintf(stderr, "bench: the bare parser failed\n");
	exit(2);
}

void baseline_json_feed(struct baseline_json *json, const char *data, size_t len)
{
	check(yajl_parse((yajl_handle)json, (const unsigned char *)data, len));
}

void baseline_json_end(struct baseline_json *json)
{
	check(yajl_complete_parse((yajl_handle)json));
	yajl_free((yajl_handle)json);
}
