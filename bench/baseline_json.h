/* The bare JSON parser, with callbacks that do nothing. */
#ifndef TDM_BENCH_BASELINE_JSON_H
#define TDM_BENCH_BASELINE_JSON_H

#include <stddef.h>

struct baseline_json;

/* Each ends the program if it fails. */
struct baseline_json *baseline_json_new(void);
void baseline_json_feed(struct baseline_json *json, const char *data, size_t len);
void baseline_json_end(struct baseline_json *json); /* and frees it */

#endif
