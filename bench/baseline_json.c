#include "baseline_json.h"

#include "base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

uint64_t baseline_json_run(const char *path, size_t chunk)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char *piece = malloc(chunk);
	yajl_handle yajl = yajl_alloc(&callbacks, NULL, NULL);
	ssize_t got = 0;
	if (fd < 0 || piece == NULL || yajl == NULL) {
		perror("bench: bare parser");
		exit(2);
	}
	yajl_config(yajl, yajl_dont_validate_strings, 1); /* as ours */
	uint64_t from = tdm_clock_ns();
	yajl_status status = yajl_status_ok;
	while (status == yajl_status_ok && (got = read(fd, piece, chunk)) > 0)
		status = yajl_parse(yajl, piece, (size_t)got);
	if (status == yajl_status_ok)
		status = yajl_complete_parse(yajl);
	uint64_t ns = tdm_clock_ns() - from;
	if (status != yajl_status_ok || got < 0) {
		fprintf(stderr, "bench: the bare parser failed\n");
		exit(2);
	}
	yajl_free(yajl);
	free(piece);
	close(fd);
	return ns;
}
