/* A plug-in with the library linked into it, for reload.c: with the plug-in, the library is unloaded. */
#include "tidemark.h"

int itest_reload(int leaves_one);

/* Reports, and leaves a buffer if asked to. 0 if nothing was refused. */
int itest_reload(int leaves_one)
{
	const struct tidemark_buffer buffer = {
		.size = sizeof buffer, .id = 1, .bytes = 64, .banks = 1, .name = tidemark_name("plug-in")
	};
	int err = tidemark_enable();
	if (err == 0)
		err = tidemark_alloc(&buffer);
	if (err == 0)
		err = tidemark_phase("loaded");
	if (err == 0 && !leaves_one)
		err = tidemark_free(0, 0, 1);
	return err;
}
