#include "daemon/archiver.h"
#include "base/clock.h"

#include <errno.h>

enum { PIECE = 1 << 20 };           /* bytes copied at a time: less than a millisecond */
#define NEXT_NS (TDM_NS_PER_MS)     /* between two pieces */
#define LOOK_NS (60 * TDM_NS_PER_S) /* for ledgers that have become too old */

static void step(struct tdm_timer *timer, uint64_t now_ns)
{
	struct tdm_archiver *archiver = tdm_loop_owner(timer, struct tdm_archiver, timer);
	(void)now_ns;
	bool has_more = tdm_archive_step(archiver->archive, tdm_clock_real_ns(), PIECE);
	struct tdm_archive_stats stats = tdm_archive_get_stats(archiver->archive);
	if (has_more)
		tdm_loop_start(archiver->loop, timer, NEXT_NS);
	else if (stats.memory_count + stats.disk_count + stats.waiting != 0)
		tdm_loop_start(archiver->loop, timer, LOOK_NS);
}

int tdm_archiver_init(struct tdm_archiver *archiver, struct tdm_loop *loop, const struct tdm_daemon_options *options)
{
	struct tdm_archive_options limits = {
		.dir = options->dir, .memory = tdm_archive_memory_limits, .disk = tdm_archive_disk_limits
	};
	if (options->dead_bytes != 0)
		limits.memory.bytes = options->dead_bytes;
	if (options->archive_bytes != 0)
		limits.disk.bytes = options->archive_bytes;
	if (options->archive_age_ns != 0)
		limits.disk.age_ns = options->archive_age_ns;
	*archiver = (struct tdm_archiver){ .loop = loop, .archive = tdm_archive_new(&limits), .timer.ready = step };
	if (archiver->archive == NULL)
		return -ENOMEM;
	tdm_archive_find(archiver->archive);
	tdm_loop_start(loop, &archiver->timer, 0);
	return 0;
}

void tdm_archiver_done(struct tdm_archiver *archiver)
{
	if (archiver->archive == NULL)
		return;
	tdm_loop_stop(archiver->loop, &archiver->timer);
	tdm_archive_free(archiver->archive);
	archiver->archive = NULL;
}

void tdm_archiver_add(struct tdm_archiver *archiver, const char *path)
{
	if (archiver->archive != NULL && tdm_archive_add(archiver->archive, path) == 0)
		tdm_loop_start(archiver->loop, &archiver->timer, 0);
}
