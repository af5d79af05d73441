#include "daemon/archiver.h"
#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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

/* In the process: says that the file is on the disk. */
static void sync_file(void *path, int out)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && fdatasync(fd) == 0)
		tdm_file_write_all(out, "", 1);
}

static void sync_said(struct tdm_worker *worker, const char *data, size_t len)
{
	struct tdm_archiver *archiver = tdm_loop_owner(worker, struct tdm_archiver, syncing);
	(void)data;
	archiver->is_synced |= len != 0;
	if (len != 0)
		return;
	tdm_archive_synced(archiver->archive, archiver->is_synced ? 0 : -EIO, tdm_clock_real_ns());
	tdm_loop_start(archiver->loop, &archiver->timer, 0);
}

static int begin_sync(void *context, const char *path)
{
	struct tdm_archiver *archiver = context;
	char copy[TDM_LEDGER_PATH_MAX];
	strcpy(copy, path);
	tdm_worker_stop(&archiver->syncing); /* the last one has said all; it may not have ended */
	archiver->is_synced = false;
	archiver->syncing.got = sync_said;
	archiver->syncing.most = 1;
	return tdm_worker_start(&archiver->syncing, archiver->loop, sync_file, copy);
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
	limits.sync = begin_sync;
	limits.sync_context = archiver;
	*archiver = (struct tdm_archiver){ .loop = loop,
		.archive = tdm_archive_new(&limits),
		.timer.ready = step,
		.syncing = { .loop = loop, .pipe.fd = -1, .end.fd = -1 } };
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
	tdm_worker_stop(&archiver->syncing);
	tdm_archive_free(archiver->archive);
	archiver->archive = NULL;
}

void tdm_archiver_add(struct tdm_archiver *archiver, const char *path)
{
	if (archiver->archive != NULL && tdm_archive_add(archiver->archive, path) == 0)
		tdm_loop_start(archiver->loop, &archiver->timer, 0);
}
