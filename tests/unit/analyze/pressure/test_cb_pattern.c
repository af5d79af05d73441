/* Pattern files: what they mean, and every way in which they can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/err.h"
#include "analyze/pressure/cb_pattern.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(const char *text, struct tdm_cb_pattern *p, struct tdm_core_speed *speed, struct tdm_diag *diag)
{
	*diag = (struct tdm_diag){ 0 };
	tdm_core_speed_init(speed, TDM_ARCH_WORMHOLE);
	return tdm_pattern_parse(tdm_str_of(text), p, speed, diag);
}

static void a_whole_file_is_read(void **state)
{
	(void)state;
	struct tdm_cb_pattern p;
	struct tdm_core_speed speed;
	struct tdm_diag diag;
	int err = parse("# a comment\n"
			"name   two inputs # another\r\n"
			"tiles 64\n\ncores 8\n"
			"set call = 20\n"
			"buffer 0 pages=8 format=bf16\n"
			"format bfp8\n"
			"\tbuffer 1 pages=4 page=2K fixed\n"
			"buffer 16 pages=2 total=32\n"
			"kernel in read l1 push=0:4,1:4\n"
			"kernel mul compute op=mul factor=4 pop=0:2,1:2 push=16:1\n"
			"kernel out write flush pop=16\n",
		&p, &speed, &diag);
	assert_int_equal(err, 0);
	assert_string_equal(p.name, "two inputs");
	assert_true(p.tiles == 64 && p.cores == 8 && p.buffer_count == 3 && p.kernel_count == 3 && p.stage_count == 3);
	assert_true(speed.value[TDM_SPEED_CALL] == 20);
	assert_true(
		p.buffers[0].page_bytes == 2048 && p.buffers[1].page_bytes == 2048 && p.buffers[2].page_bytes == 1088);
	assert_true(p.buffers[1].is_fixed && !p.buffers[0].is_fixed && p.buffers[2].index == 16);
	assert_true(p.buffers[0].total == 64 && p.buffers[2].total == 32);
	assert_true(p.buffers[0].producer == 0 && p.buffers[0].consumer == 1 && p.buffers[2].consumer == 2);
	assert_true(p.stages[0].is_l1 && p.stages[0].pushes.count == 2 &&
		    tdm_pattern_use(&p, &p.stages[0].pushes, 1)->pages == 4);
	assert_true(p.stages[1].op == TDM_TILE_MUL && p.stages[1].factor == 4 && isnan(p.stages[1].cycles));
	assert_true(p.stages[2].is_flush && tdm_pattern_use(&p, &p.stages[2].pops, 0)->pages == 1);
	assert_int_equal(p.kernels[1].rounds, 32);
	assert_true(p.buffers[0].step == 4 && p.buffers[0].least == 4);
	tdm_pattern_done(&p);
}

#define HEAD "tiles 8\nbuffer 0 pages=4\n"
#define TAIL "kernel w write pop=0\n"

static void wrong_files_say_where_and_what(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t line, column;
		const char *says;
	} cases[] = {
		{ "", 0, 0, "tiles N" },
		{ "tiles 8\n", 0, 0, "there is no kernel" },
		{ "tiles\n", 1, 6, "from 1 to" },
		{ "tiles 0\n", 1, 7, "from 1 to" },
		{ "tiles 99999999999999999999\n", 1, 7, "from 1 to" },
		{ "tiles 8 9\n", 1, 9, "'9' is too much" },
		{ "tile 8\n", 1, 1, "did you mean tiles" },
		{ "tiles 8\nbuffer\n", 2, 7, "from 0 to" },
		{ "tiles 8\nbuffer 4096 pages=1\n", 2, 8, "from 0 to 4095" },
		{ "tiles 8\nbuffer 0\n", 2, 8, "add pages=N" },
		{ "tiles 8\nbuffer 0 pages\n", 2, 10, "'pages' needs a value" },
		{ "tiles 8\nbuffer 0 pages=\n", 2, 16, "from 1 to" },
		{ "tiles 8\nbuffer 0 pages=0\n", 2, 16, "from 1 to" },
		{ "tiles 8\nbuffer 0 pages=4 page=0\n", 2, 23, "bytes of a page" },
		{ "tiles 8\nbuffer 0 pages=4 page=2G\n", 2, 23, "bytes of a page" },
		{ "tiles 8\nbuffer 0 pages=4 format=int3\n", 2, 25, "not a format" },
		{ "tiles 8\nbuffer 0 pages=4 fixed=1\n", 2, 18, "'fixed' has no value" },
		{ "tiles 8\nbuffer 0 pages=4 page_size=1\n", 2, 18, "not understood" },
		{ HEAD "buffer 0 pages=2\n", 3, 8, "already declared in line 2" },
		{ HEAD "tiles 9\n", 3, 1, "line 1 already says that" },
		{ "cores 2\ncores 2\n", 2, 1, "line 1 already says that" },
		{ "name a\ntiles 8\nname b\n", 3, 1, "line 1 already says that" },
		{ "tiles 8\nbuffer 0 pages=4 pages=8\n", 2, 18, "'pages' is there twice" },
		{ "tiles 8\nbuffer 0 pages=4 format=bf16 page=2K\n", 2, 30, "both say the size of a page" },
		{ HEAD "kernel r read push=0 push=0\n", 3, 22, "'push' is there twice" },
		{ HEAD "kernel r read dram l1 push=0\n", 3, 20, "'dram' and 'l1' both say the memory" },
		{ HEAD "kernel c compute cycles=5 op=add push=0\n", 3, 27, "both say the operation" },
		{ HEAD "kernel r read ahead=2 ids=3 push=0\n", 3, 23, "'ahead' and 'ids' both say" },
		{ "set call=5\nset sync=5\nset call=6\n", 3, 1, "line 1 already says that" },
		{ HEAD "kernel\n", 3, 7, "the kernel's name" },
		{ HEAD "kernel r\n", 3, 9, "read, compute or write" },
		{ HEAD "kernel r reads push=0\n", 3, 10, "read, compute or write" },
		{ HEAD "kernel r read push=3\n", 3, 20, "buffer 3 is not declared" },
		{ HEAD "kernel r read push=0:0\n", 3, 22, "from 1 to" },
		{ HEAD "kernel r read push=0,\n", 3, 22, "missing after the comma" },
		{ HEAD "kernel r read push=\n", 3, 20, "from 0 to" },
		{ HEAD "kernel r read\n" TAIL, 3, 0, "uses no buffer" },
		{ HEAD "kernel r read flush push=0\n", 3, 20, "only writes are flushed" },
		{ HEAD "kernel r read push=0 ahead=0\n", 3, 28, "from 1 to 16" },
		{ HEAD "kernel r read push=0 ids=99\n", 3, 26, "from 1 to 15" },
		{ HEAD "kernel c compute op=rely\n", 3, 21, "did you mean relu" },
		{ HEAD "set cal=3\n", 3, 5, "did you mean call" },
		{ HEAD "kernel r read push=0\n", 2, 0, "no kernel pops buffer 0" },
		{ HEAD TAIL, 2, 0, "no kernel pushes to buffer 0" },
		{ HEAD "kernel a read push=0\nkernel b read push=0\n" TAIL, 4, 0, "both a and b push to buffer 0" },
		{ HEAD "kernel r read push=0\n" TAIL "kernel v write pop=0\n", 5, 0, "both w and v pop buffer 0" },
		{ HEAD "kernel r read push=0 pop=0\n", 3, 0, "only pushes" },
		{ HEAD "kernel r read push=0\nkernel r compute pop=0\n", 3, 0, "both computes and moves" },
		{ HEAD "buffer 1 pages=1\nkernel r read push=0 ids=2\nkernel r read push=1\n" TAIL, 4, 0,
			"that do one" },
		{ HEAD "buffer 1 pages=4\nkernel r read push=0:2,1:1\nkernel w write pop=0:1,1:1\n", 3, 0,
			"r makes 4 rounds for buffer 0, but 8 for buffer 1" },
		{ HEAD "kernel r read push=0 times=3\n" TAIL, 2, 0, "multiple with total=N" },
		{ HEAD "kernel a_name_that_is_much_longer_than_a_name_may_be read push=0\n", 3, 8,
			"the kernel's name" },
	};
	struct tdm_cb_pattern p;
	struct tdm_core_speed speed, before;
	struct tdm_diag diag;
	tdm_core_speed_init(&before, TDM_ARCH_WORMHOLE);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_true(parse(cases[i].text, &p, &speed, &diag) < 0);
		if (strstr(diag.text, cases[i].says) == NULL || diag.line != cases[i].line ||
			diag.column != cases[i].column)
			fail_msg("%s: %llu:%llu: %s", cases[i].text, (unsigned long long)diag.line,
				(unsigned long long)diag.column, diag.text);
		assert_memory_equal(&speed, &before, sizeof speed);
	}
}

/* A chain of kernels, each with a buffer to the next. */
static char *make_chain(unsigned buffers)
{
	struct tdm_buf text = { 0 };
	tdm_buf_puts(&text, "tiles 8\n");
	for (unsigned i = 0; i < buffers; i++)
		tdm_buf_printf(&text, "buffer %u pages=2\n", i);
	tdm_buf_puts(&text, "kernel reader read push=0\n");
	for (unsigned i = 1; i < buffers; i++)
		tdm_buf_printf(&text, "kernel k%u compute pop=%u push=%u\n", i, i - 1, i);
	tdm_buf_printf(&text, "kernel writer write pop=%u\n", buffers - 1);
	assert_non_null(text.data);
	return text.data;
}

static void thousands_of_buffers_and_kernels_are_read(void **state)
{
	(void)state;
	struct tdm_cb_pattern p, copy;
	struct tdm_core_speed speed;
	struct tdm_diag diag;
	char *text = make_chain(4095);
	if (parse(text, &p, &speed, &diag) != 0)
		fail_msg("%llu: %s", (unsigned long long)diag.line, diag.text);
	assert_true(p.buffer_count == 4095 && p.kernel_count == 4096 && p.buffers[4094].producer == 4094);
	assert_string_equal(p.kernels[4095].name, "writer");
	tdm_pattern_copy(&p, &copy);
	tdm_pattern_done(&p);
	assert_true(copy.stage_count == 4096 && copy.buffers[4094].consumer == 4095 && copy.kernels[7].rounds == 8);
	tdm_pattern_done(&copy);
	free(text);
}

static void limits_hold(void **state)
{
	(void)state;
	enum { SIZE = 5 * 1024 * 1024 };
	struct tdm_cb_pattern p;
	struct tdm_core_speed speed;
	struct tdm_diag diag;
	char *text = malloc(SIZE);
	assert_non_null(text);
	memset(text, '#', SIZE - 1);
	text[SIZE - 1] = '\0';
	assert_int_equal(parse(text, &p, &speed, &diag), -EFBIG);
	size_t used = (size_t)sprintf(text, "tiles 8\nbuffer 0 pages=1\n");
	for (int i = 0; i < 4097; i++)
		used += (size_t)sprintf(text + used, "kernel k%d read push=0\n", i);
	assert_int_equal(parse(text, &p, &speed, &diag), TDM_ESYNTAX);
	assert_non_null(strstr(diag.text, "at most 4096 kernels"));
	used = (size_t)sprintf(text, "tiles 8\nbuffer 0 pages=1\n");
	for (int i = 0; i < 200; i++)
		used += (size_t)sprintf(text + used, "kernel k read push=0 times=1024\n");
	sprintf(text + used, "kernel w write pop=0\n");
	assert_int_equal(parse(text, &p, &speed, &diag), TDM_EREFUSED);
	assert_non_null(strstr(diag.text, "more than 262144 calls"));
	free(text);
	assert_int_equal(tdm_pattern_load("/nonexistent/pattern", &p, &speed, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "cannot be read"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_is_read),
		cmocka_unit_test(wrong_files_say_where_and_what),
		cmocka_unit_test(thousands_of_buffers_and_kernels_are_read),
		cmocka_unit_test(limits_hold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
