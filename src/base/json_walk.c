#include "base/json_walk.h"
#include "base/err.h"
#include "base/memory.h"

#include <yajl/yajl_parse.h>

struct walk {
	int (*take)(void *to, const struct tdm_json_token *token);
	void *to;
	int depth, err;
	bool is_deep;
};

static int give(struct walk *walk, struct tdm_json_token token)
{
	walk->err = walk->take(walk->to, &token);
	return walk->err == 0;
}

static int begin(struct walk *walk, bool is_array)
{
	walk->is_deep = ++walk->depth > TDM_JSON_WALK_DEPTH;
	return !walk->is_deep &&
	       give(walk, (struct tdm_json_token){ .part = TDM_JSON_PART_BEGIN, .is_array = is_array });
}

static int on_object(void *walk)
{
	return begin(walk, false);
}

static int on_array(void *walk)
{
	return begin(walk, true);
}

static int on_end(void *to)
{
	struct walk *walk = to;
	walk->depth--;
	return give(walk, (struct tdm_json_token){ .part = TDM_JSON_PART_END });
}

static int on_key(void *walk, const unsigned char *text, size_t len)
{
	return give(walk, (struct tdm_json_token){ .part = TDM_JSON_PART_KEY, .text = { (const char *)text, len } });
}

static int on_string(void *walk, const unsigned char *text, size_t len)
{
	return give(walk, (struct tdm_json_token){ .part = TDM_JSON_PART_STRING, .text = { (const char *)text, len } });
}

static int on_number(void *walk, const char *text, size_t len)
{
	return give(walk, (struct tdm_json_token){ .part = TDM_JSON_PART_NUMBER, .text = { text, len } });
}

static int on_bool(void *walk, int yes)
{
	return give(walk, (struct tdm_json_token){ .part = TDM_JSON_PART_BOOL, .yes = yes != 0 });
}

static int on_null(void *walk)
{
	return give(walk, (struct tdm_json_token){ .part = TDM_JSON_PART_NULL });
}

int tdm_json_walk(
	struct tdm_str text, int (*take)(void *to, const struct tdm_json_token *token), void *to, struct tdm_diag *diag)
{
	static const yajl_callbacks callbacks = { .yajl_null = on_null,
		.yajl_boolean = on_bool,
		.yajl_number = on_number,
		.yajl_string = on_string,
		.yajl_start_map = on_object,
		.yajl_map_key = on_key,
		.yajl_end_map = on_end,
		.yajl_start_array = on_array,
		.yajl_end_array = on_end };
	struct walk walk = { take, to, 0, 0, false };
	yajl_handle yajl = yajl_alloc(&callbacks, NULL, &walk);
	if (yajl == NULL)
		tdm_out_of_memory();
	yajl_status status = yajl_parse(yajl, (const unsigned char *)text.ptr, text.len);
	size_t at = yajl_get_bytes_consumed(yajl);
	if (status == yajl_status_ok)
		status = yajl_complete_parse(yajl);
	int err = walk.err;
	if (walk.is_deep)
		err = tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "byte %zu: nested too deep", at);
	else if (status != yajl_status_ok && err == 0)
		err = tdm_diag_set(diag, TDM_ESYNTAX, 0, 0,
			at < text.len ? "byte %zu: not JSON" : "the JSON ends too early, after %zu bytes", at);
	yajl_free(yajl);
	return err;
}
