/*
 * Continues a ledger that an earlier writer, now ended, wrote on behalf of a process. The reader checks the ledger;
 * then the whole file is mapped, and the private state is rebuilt from the committed calls. Data from the old writer's
 * last, uncommitted call is discarded.
 */
#include "ledger/write/writer_hot.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/number.h"
#include "ledger/read/ledger_list.h"
#include "ledger/read/reader_parts.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens the old file and takes its lock. The caller closes the file. */
static int open_old(struct tdm_ledger_file *file, const char *path)
{
	struct stat st, named;
	struct tdm_ledger_header header;
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
	/* The file is locked. Checks whether it could be continued once the lock is released. */
	if (err == -EAGAIN && pread(file->fd, &header, sizeof header, 0) == (ssize_t)sizeof header)
		err = (header.flags & TDM_LEDGER_ON_BEHALF) != 0 && header.state == TDM_LEDGER_OPEN ? -EBUSY : -EINVAL;
	if (err != 0)
		return err;
	if (lstat(real, &named) != 0 || named.st_dev != st.st_dev || named.st_ino != st.st_ino)
		return -ESTALE;
	return 0;
}

/* Whether the ledger can be continued. */
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

/* Returns the address of an area in the file, with its pages reserved; on failure, *err is not 0. */
static void *resume_area(struct tdm_ledger_file *file, uint64_t offset, uint64_t bytes, int *err)
{
	char *at = (char *)file->areas[0].at + offset;
	*err = offset % TDM_CACHE_LINE != 0 ? TDM_ECORRUPT
					    : tdm_ledger_file_reserve(file, at, offset, 0, (size_t)bytes);
	return at;
}

static int resume_phases(struct tdm_writer *writer, const struct tdm_ledger_header *header)
{
	uint64_t capacity = 0;
	int err = 0;
	for (uint32_t k = 0; k < header->phase_segments && err == 0; k++) {
		uint64_t count = (uint64_t)TDM_LEDGER_PHASES_FIRST << k;
		writer->phase_segment[k] = resume_area(
			&writer->file, header->phase_offset[k], count * sizeof(struct tdm_ledger_phase), &err);
		capacity += count;
	}
	writer->phase_segments = header->phase_segments;
	writer->phase_count = header->phase_count;
	return err != 0 ? err : header->phase_count > capacity ? TDM_ECORRUPT : 0;
}

/* Drops a half-written description: the program or its driver will describe the device again. */
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
	for (uint32_t i = 0; i < view->info.region_count; i++) {
		const struct tdm_region *region = &view->info.regions[i];
		if (!tdm_kind_is_per_core((enum tdm_kind)region->kind))
			device->banks[region->kind] = region->banks;
	}
}

/* Whether this number exceeds the calls that any program can have made; later numbers could wrap. */
static bool is_absurd(uint64_t calls)
{
	return calls >> 62 != 0;
}

/*
 * Whether the counters agree with the live buffers. The bytes that shared buffers have in common are added to the sums.
 */
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

/* Finds the notes of the process. */
static int resume_notes(struct tdm_writer *writer, const struct tdm_ledger_header *header)
{
	int err = 0;
	if (header->notes_offset == 0)
		return 0;
	struct tdm_ledger_notes *notes = resume_area(&writer->file, header->notes_offset, sizeof *notes, &err);
	if (err != 0)
		return err;
	writer->remark_count = (uint32_t)tdm_min(notes->remark_count, TDM_LEDGER_NOTE_REMARKS);
	writer->notes = notes;
	return 0;
}

/* Finds a device's areas in memory. The reader has checked that they lie inside the file and do not overlap. */
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
	bool is_virtual = view->info.is_virtual;
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
	uint64_t told = ledger->places[i].runtime_offset;
	if (err == 0 && told != 0) {
		void *at = resume_area(&writer->file, told, sizeof(struct tdm_ledger_runtime), &err);
		err = err == 0 ? tdm_wruntime_resume(device, at, told) : err;
	}
	if (err == 0)
		resume_description(device, view);
	return err;
}

/* Rebuilds everything except the file. */
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
	if (err == 0) {
		/* The old writer may have ended while updating the clocks. */
		writer->file.header->last_seq += writer->file.header->last_seq % 2;
		tdm_ledger_file_clock(&writer->file);
	}
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
	/* locks again, because a process-wide lock was released when the reader closed the file */
	tdm_ledger_file_lock(&writer->file);
	*out = writer;
	return 0;
}

int tdm_writer_resume_until(
	const char *path, const struct tdm_writer_options *options, uint64_t end_ns, struct tdm_writer **out)
{
	enum { PAUSE_MS = 2 };
	int err;
	while ((err = tdm_writer_resume(path, options, out)) == -EBUSY && tdm_clock_ns() < end_ns)
		poll(NULL, 0, PAUSE_MS);
	return err;
}
