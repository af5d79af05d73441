/*
 * Goes on with a ledger that was written on behalf of a process by a writer that has ended. The reader checks it; then
 * all of it is mapped, and the private state is rebuilt from what was committed. Whatever else the last call of the old
 * writer wrote, at whichever instruction it ended, did not happen.
 */
#include "ledger/writer_hot.h"
#include "base/clock.h"
#include "base/err.h"
#include "ledger/ledger_list.h"
#include "ledger/reader_parts.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The ledger is locked: is it one to go on with when it is no longer? */
static int why_locked(int fd)
{
	struct tdm_ledger_header header;
	if (pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header)
		return -EAGAIN;
	return (header.flags & TDM_LEDGER_ON_BEHALF) != 0 && header.state == TDM_LEDGER_OPEN ? -EBUSY : -EINVAL;
}

/* Opens the file and takes its lock. The caller closes it. */
static int open_old(struct tdm_ledger_file *file, const char *path)
{
	struct stat st, named;
	char real[PATH_MAX];
	file->is_on_behalf = true;
	file->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file->fd < 0 || fstat(file->fd, &st) != 0)
		return -errno;
	file->device_no = st.st_dev;
	file->inode = st.st_ino;
	file->mode = st.st_mode & 0777;
	if (realpath(path, real) == NULL)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 0022) != 0)
		return -EPERM;
	if (strlen(real) >= sizeof file->path)
		return -ENAMETOOLONG;
	strcpy(file->path, real);
	int err = tdm_ledger_file_lock(file);
	if (err != 0)
		return err == -EAGAIN ? why_locked(file->fd) : err;
	if (lstat(real, &named) != 0 || named.st_dev != st.st_dev || named.st_ino != st.st_ino)
		return -ESTALE;
	return 0;
}

/* Whether the ledger is one to go on with. */
static int check_ledger(struct tdm_ledger_file *file, const struct tdm_ledger *ledger)
{
	const struct tdm_ledger_header *header = &ledger->header, *said = &ledger->said;
	struct tdm_ledger_name name;
	uint8_t boot_id[16];
	if (header->major != TDM_LEDGER_MAJOR)
		return TDM_EVERSION;
	if ((header->flags & TDM_LEDGER_ON_BEHALF) == 0 || !tdm_ledger_parse_name(file->path, &name) ||
		name.pid != header->pid || name.start != header->start_time || name.generation != header->generation)
		return -EINVAL;
	if (!tdm_ledger_boot_id(boot_id) || memcmp(boot_id, header->boot_id, sizeof boot_id) != 0 ||
		(header->flags & TDM_LEDGER_MOVED) != 0)
		return -ESTALE;
	if (header->state != TDM_LEDGER_OPEN)
		return -ESHUTDOWN;
	if (tdm_ledger_refused(ledger) != 0 || ledger->device_count != said->device_count ||
		header->blob_segments != said->blob_segments || header->phase_segments != said->phase_segments ||
		header->notes_offset != said->notes_offset || header->header_size != TDM_LEDGER_PAGE ||
		header->file_size > ledger->limit)
		return TDM_ECORRUPT;
	file->pid = header->pid;
	file->start = header->start_time;
	file->generation = header->generation;
	return 0;
}

/* The clocks may have been written when the old writer ended. */
static void settle_header(struct tdm_ledger_file *file)
{
	file->header->last_seq += file->header->last_seq % 2;
	tdm_ledger_file_clock(file);
}

static int resume_phases(struct tdm_writer *writer, const struct tdm_ledger_header *header)
{
	char *base = writer->file.areas[0].at;
	uint64_t capacity = 0;
	int err = 0;
	for (uint32_t k = 0; k < header->phase_segments && err == 0; k++) {
		uint64_t count = (uint64_t)TDM_LEDGER_PHASES_FIRST << k, offset = header->phase_offset[k];
		if (offset % TDM_CACHE_LINE != 0)
			return TDM_ECORRUPT;
		writer->phase_segment[k] = (struct tdm_ledger_phase *)(void *)(base + offset);
		err = tdm_ledger_file_reserve(&writer->file, writer->phase_segment[k], offset, 0,
			(size_t)count * sizeof(struct tdm_ledger_phase));
		capacity += count;
	}
	writer->phase_segments = header->phase_segments;
	writer->phase_count = header->phase_count;
	return err != 0 ? err : header->phase_count > capacity ? TDM_ECORRUPT : 0;
}

/* A description that was being written is forgotten: the program, or its driver, tells it again. */
static void resume_description(struct tdm_wdevice *device, const struct tdm_ledger_view *view)
{
	struct tdm_ledger_device *shared = device->shared;
	if (shared->described % 2 != 0) {
		memset(shared->card, 0, sizeof shared->card);
		shared->flags &= ~(uint32_t)TDM_DEVICE_HAS_CHIP_ID;
		shared->region_count = shared->grid_x = shared->grid_y = 0;
		tdm_store_release(&shared->described, shared->described + 1);
		return;
	}
	for (uint32_t i = 0; i < view->region_count; i++) {
		const struct tdm_ledger_region *region = &view->regions[i];
		if (!tdm_kind_is_per_core((enum tdm_kind)region->kind))
			device->banks[region->kind] = region->banks;
	}
}

/* A number of calls that no program reaches, and from which on it could wrap. */
static bool is_absurd(uint64_t calls)
{
	return calls >> 62 != 0;
}

/* Whether the counters agree with the live buffers. Bytes that shared buffers have in common come on top. */
static bool sums_agree(const struct tdm_wdevice *device)
{
	struct tdm_ledger_now sums[TDM_KIND_COUNT] = { 0 };
	if (!tdm_wdevice_sums(device, sums))
		return false;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		const struct tdm_ledger_now *now = device->now[k];
		bool is_shared = (device->shared_kinds >> k & 1) != 0;
		bool agrees = is_shared ? now->bytes >= sums[k].bytes && now->bank_bytes >= sums[k].bank_bytes
					: now->bytes == sums[k].bytes && now->bank_bytes == sums[k].bank_bytes;
		if (!agrees || now->buffers != sums[k].buffers || now->asked_bytes != sums[k].asked_bytes ||
			is_absurd(now->allocs))
			return false;
	}
	return true;
}

/* Where the notes of the process are. */
static int resume_notes(struct tdm_writer *writer, const struct tdm_ledger_header *header)
{
	uint64_t offset = header->notes_offset;
	struct tdm_ledger_notes *notes = (struct tdm_ledger_notes *)(void *)((char *)writer->file.areas[0].at + offset);
	if (offset == 0)
		return 0;
	if (offset % TDM_CACHE_LINE != 0)
		return TDM_ECORRUPT;
	int err = tdm_ledger_file_reserve(&writer->file, notes, offset, 0, sizeof *notes);
	if (err != 0)
		return err;
	uint64_t count = notes->remark_count;
	writer->remark_count = (uint32_t)(count < TDM_LEDGER_NOTE_REMARKS ? count : TDM_LEDGER_NOTE_REMARKS);
	writer->notes = notes;
	return 0;
}

/* What the runtime said about the device. */
static int resume_runtime(struct tdm_wdevice *device, uint64_t offset)
{
	char *at = (char *)device->writer->file.areas[0].at + offset;
	if (offset == 0)
		return 0;
	if (offset % TDM_CACHE_LINE != 0)
		return TDM_ECORRUPT;
	int err = tdm_ledger_file_reserve(&device->writer->file, at, offset, 0, sizeof(struct tdm_ledger_runtime));
	return err != 0 ? err : tdm_wruntime_resume(device, (struct tdm_ledger_runtime *)(void *)at, offset);
}

/* Finds the areas of a device in memory; the reader has checked that they are in the file and do not overlap. */
static int find_areas(struct tdm_wdevice *device, const struct tdm_ledger_place *place)
{
	struct tdm_ledger_file *file = &device->writer->file;
	char *base = file->areas[0].at;
	size_t ring_bytes = (size_t)place->ring_records * sizeof *device->ring;
	if (place->offset % TDM_LEDGER_PAGE != 0 || place->ring_offset % TDM_CACHE_LINE != 0 ||
		place->ring_records < TDM_LEDGER_RING_MIN || place->slot_segments == 0)
		return TDM_ECORRUPT;
	device->shared = (struct tdm_ledger_device *)(void *)(base + place->offset);
	device->ring = (struct tdm_ledger_record *)(void *)(base + place->ring_offset);
	device->ring_mask = place->ring_records - 1;
	for (uint32_t k = 0; k < place->slot_segments; k++) {
		if (place->slot_offset[k] % TDM_CACHE_LINE != 0)
			return TDM_ECORRUPT;
		device->segment_offset[k] = place->slot_offset[k];
		tdm_wdevice_set_segment(device, k, base + place->slot_offset[k]);
	}
	device->segment_count = place->slot_segments;
	device->slot_high = place->slot_high;
	int err = tdm_ledger_file_reserve(
		file, base, 0, (size_t)place->offset, (size_t)place->offset + sizeof *device->shared);
	if (err == 0)
		err = tdm_ledger_file_reserve(
			file, base, 0, (size_t)place->ring_offset, (size_t)place->ring_offset + ring_bytes);
	return err;
}

static int resume_device(struct tdm_writer *writer, const struct tdm_ledger *ledger, size_t i)
{
	const struct tdm_ledger_view *view = &ledger->views[i];
	bool is_virtual = (view->flags & TDM_DEVICE_VIRTUAL) != 0;
	struct tdm_wdevice *device = tdm_wdevice_make(writer, view->number, is_virtual);
	if (device == NULL)
		return -ENOMEM;
	writer->devices[i] = device;
	writer->device_count = (uint32_t)i + 1;
	int err = find_areas(device, &ledger->places[i]);
	if (err == 0)
		err = tdm_wdevice_restore_slots(device);
	if (err != 0)
		return err;
	device->seq = view->seq;
	device->last_tsc = tdm_clock_ticks();
	device->shared_kinds = view->shared_kinds;
	err = tdm_wdevice_rebuild(device);
	if (err == 0 && (is_absurd(device->seq) || !sums_agree(device)))
		err = TDM_ECORRUPT;
	if (err == 0)
		err = resume_runtime(device, ledger->places[i].runtime_offset);
	if (err == 0)
		resume_description(device, view);
	return err;
}

/* Everything but the file. */
static int resume_all(struct tdm_writer *writer, const struct tdm_ledger *ledger)
{
	int err = tdm_ledger_file_map(&writer->file, ledger->header.file_size);
	if (err == 0)
		err = tdm_blobs_resume(&writer->blobs, &ledger->header);
	if (err == 0)
		err = resume_phases(writer, &ledger->header);
	if (err == 0)
		err = resume_notes(writer, &ledger->header);
	for (size_t i = 0; i < ledger->device_count && err == 0; i++)
		err = resume_device(writer, ledger, i);
	if (err == 0)
		settle_header(&writer->file);
	return err;
}

int tdm_writer_resume(const char *path, const struct tdm_writer_options *options, struct tdm_writer **out)
{
	struct tdm_writer *writer = tdm_writer_make(options, true);
	struct tdm_ledger *ledger = NULL;
	struct tdm_diag diag = { 0 };
	if (writer == NULL)
		return -ENOMEM;
	int err = open_old(&writer->file, path);
	if (err == 0)
		err = tdm_blobs_init(&writer->blobs, &writer->file, &writer->file_lock);
	else
		writer->blobs.file = &writer->file; /* nothing to free */
	if (err == 0)
		err = tdm_ledger_open(writer->file.path, &ledger, &diag);
	if (err == 0)
		err = check_ledger(&writer->file, ledger);
	if (err == 0)
		err = resume_all(writer, ledger);
	tdm_ledger_close(ledger);
	if (err != 0) {
		tdm_writer_free(writer);
		return err;
	}
	tdm_ledger_file_lock(
		&writer->file); /* again: a lock of the whole process ended when the reader closed the file */
	*out = writer;
	return 0;
}

int tdm_writer_resume_until(
	const char *path, const struct tdm_writer_options *options, uint64_t end_ns, struct tdm_writer **out)
{
	enum { PAUSE_MS = 2 };
	int err = tdm_writer_resume(path, options, out);
	while (err == -EBUSY && tdm_clock_ns() < end_ns) {
		poll(NULL, 0, PAUSE_MS);
		err = tdm_writer_resume(path, options, out);
	}
	return err;
}
