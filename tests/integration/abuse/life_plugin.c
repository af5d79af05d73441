/* A shared object that reports as early and as late as possible, for test_life. */
#include "tidemark.h"

#include <stdlib.h>
#include <string.h>

void itest_plugin_report(unsigned long long id, int is_free);

void itest_plugin_report(unsigned long long id, int is_free)
{
	struct tidemark_buffer b = { .size = sizeof b, .kind = TIDEMARK_CB, .id = id, .bytes = 64, .banks = 1 };
	if (is_free)
		tidemark_free(0, TIDEMARK_CB, id);
	else
		tidemark_alloc(&b);
}

static int is_wanted(const char *moment)
{
	const char *wanted = getenv("ITEST_PLUGIN");
	return wanted != NULL && strstr(wanted, moment) != NULL;
}

__attribute__((constructor(101))) static void very_early(void)
{
	if (is_wanted("early"))
		itest_plugin_report(101, 0);
}

__attribute__((constructor(102))) static void early(void)
{
	if (is_wanted("early"))
		itest_plugin_report(102, 0);
}

__attribute__((destructor(102))) static void late(void)
{
	if (is_wanted("late")) {
		itest_plugin_report(101, 1);
		itest_plugin_report(102, 1);
	}
	if (is_wanted("phase_at_the_end")) {
		tidemark_phase("the end");
		tidemark_name("a name at the end");
	}
}

__attribute__((destructor(101))) static void very_late(void)
{
	if (is_wanted("leak"))
		itest_plugin_report(103, 0);
}
