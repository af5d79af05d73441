/*
 * Makes a ledger anew that somebody deleted under its writer. The pages are still mapped, so nothing is lost: they are
 * copied to a new file, which is then mapped over the old one, at the same addresses. All reports wait meanwhile.
 *
 * The new file is the next generation: a reader that has the old one open must not take the two for one file. The old
 * one gets a mark (TDM_LEDGER_MOVED), from which such a reader knows that the process goes on elsewhere.
 */
#include "base/number.h"
#include "ledger/writer.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Writes mapped memory to the new file. Linux reads the memory, so that a page of the old one that is missing, because
 * somebody truncated it, is an error and not a signal.
 */
static int copy_range(int fd, const char *at, uint64_t offset, size_t bytes)
{
	int err = tdm_ledger_file_reserve_pages(fd, offset, bytes);
	while (err == 0 && bytes != 0) {
		ssize_t put = pwrite(fd, at, bytes, (off_t)offset);
		if (put <= 0 && errno != EINTR)
			return put < 0 ? -errno : -ENOSPC;
		size_t done = put > 0 ? (size_t)put : 0;
		at += done;
		offset += done;
		bytes -= done;
	}
	return err;
}

/* Copies what is in use of every area but the header's page. */
static int copy_areas(const struct tdm_ledger_file *file, int fd)
{
	int err = 0;
	for (unsigned i = 0; i < file->area_count; i++) {
		uint64_t begin = file->areas[i].offset, end = begin + file->areas[i].bytes;
		uint64_t first = tdm_max(begin, TDM_LEDGER_PAGE);
		for (unsigned k = 0; k < file->reserved_count && err == 0; k++) {
			uint64_t from = tdm_max(first, file->reserved[k].from), to = tdm_min(end, file->reserved[k].to);
			if (from < to)
				err = copy_range(fd, (const char *)file->areas[i].at + (from - begin), from, to - from);
		}
	}
	return err;
}

static int map_over(const struct tdm_ledger_file *file, unsigned i, int fd)
{
	void *at = mmap(file->areas[i].at, file->areas[i].bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		(off_t)file->areas[i].offset);
	if (at == MAP_FAILED)
		return -errno;
	tdm_ledger_file_keep_from_children(file, at, file->areas[i].bytes);
	return 0;
}

/* Maps the new file over the old one; the header comes last. If Linux refuses, all is as before. */
static int map_areas(const struct tdm_ledger_file *file, int fd)
{
	for (unsigned i = file->area_count; i-- != 0;) {
		int err = map_over(file, i, fd);
		if (err == 0)
			continue;
		while (++i < file->area_count)
			map_over(file, i, file->fd);
		return err;
	}
	return 0;
}

/* Writes the header, with which the new file is complete for readers. The clocks are not being written in the copy. */
static int copy_header(
	const struct tdm_ledger_file *file, const struct tdm_ledger_file *next, struct tdm_ledger_header *copy)
{
	*copy = *file->header;
	copy->generation = next->generation;
	copy->flags |= TDM_LEDGER_RENEWED;
	copy->last = tdm_ledger_clock_now();
	copy->last_seq += copy->last_seq % 2;
	if (!file->is_on_behalf)
		copy->uid = getuid();
	return copy_range(next->fd, (const char *)copy, 0, sizeof *copy);
}

/* Adds to the new header what was counted between the copy and the mapping, and marks the old one. */
static void settle_headers(
	const struct tdm_ledger_file *file, struct tdm_ledger_header *old, const struct tdm_ledger_header *copy)
{
	for (unsigned i = 0; i < TDM_LOSS_COUNT; i++)
		atomic_fetch_add((_Atomic uint64_t *)&file->header->lost[i], old->lost[i] - copy->lost[i]);
	atomic_fetch_or((_Atomic uint32_t *)&old->flags, TDM_LEDGER_MOVED);
}

/* Reads the notes of a file; false when it has none. */
static bool read_notes(int fd, uint64_t offset, struct tdm_ledger_notes *notes)
{
	return offset != 0 && pread(fd, notes, sizeof *notes, (off_t)offset) == (ssize_t)sizeof *notes;
}

/* The same for counters of the process, to which anybody adds at any time. */
static void settle_notes(struct tdm_ledger_notes *notes, int fd, uint64_t offset, const struct tdm_ledger_notes *copy)
{
	struct tdm_ledger_notes old;
	if (notes == NULL || !read_notes(fd, offset, &old))
		return;
	for (unsigned i = 0; i < TDM_LEDGER_NOTE_COUNTERS; i++)
		if (old.counters[i].value != copy->counters[i].value)
			atomic_fetch_add((_Atomic uint64_t *)&notes->counters[i].value,
				old.counters[i].value - copy->counters[i].value);
}

/* Moves everything to the new file. 0 or -errno, with nothing changed. */
static int move_to(struct tdm_ledger_file *file, struct tdm_ledger_file *next, struct tdm_ledger_notes *notes)
{
	struct tdm_ledger_header copy, *old = MAP_FAILED;
	struct tdm_ledger_notes notes_copy;
	int err = tdm_ledger_file_set_size(next->fd, file->size);
	if (err == 0)
		err = copy_areas(file, next->fd);
	if (err == 0)
		err = copy_header(file, next, &copy);
	if (err != 0)
		return err;
	if (!read_notes(next->fd, copy.notes_offset, &notes_copy))
		notes = NULL;
	bool has_old_fd = tdm_ledger_file_is_fd(file, file->fd); /* else nobody has: its lock is gone, too */
	if (has_old_fd)
		old = mmap(NULL, TDM_LEDGER_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
	err = map_areas(file, next->fd);
	if (err == 0 && old != MAP_FAILED) {
		settle_headers(file, old, &copy);
		settle_notes(notes, file->fd, copy.notes_offset, &notes_copy);
	}
	if (old != MAP_FAILED)
		munmap(old, TDM_LEDGER_PAGE);
	if (err != 0)
		return err;
	if (has_old_fd)
		close(file->fd);
	return 0;
}

/* The directory of all users, from "DIRECTORY/FOLDER/NAME". */
static void find_directory(const struct tdm_ledger_file *file, char dir[TDM_LEDGER_PATH_MAX])
{
	strcpy(dir, file->path);
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(dir, '/');
		if (slash != NULL)
			*slash = '\0';
	}
	if (dir[0] == '\0')
		strcpy(dir, "/");
}

int tdm_ledger_file_renew(struct tdm_ledger_file *file, struct tdm_ledger_notes *notes)
{
	char dir[TDM_LEDGER_PATH_MAX];
	struct tdm_ledger_file *next = tdm_private_alloc(sizeof *next);
	if (next == NULL)
		return -ENOMEM;
	find_directory(file, dir);
	next->pid = file->pid;
	next->is_on_behalf = file->is_on_behalf;
	next->start = file->start;
	next->mode = file->mode;
	next->generation = file->generation + 1;
	int err = tdm_ledger_file_open_new(next, dir);
	if (err == 0) {
		err = move_to(file, next, notes);
		if (err != 0)
			tdm_ledger_file_close(next, true);
	}
	if (err == 0) {
		file->fd = next->fd;
		file->device_no = next->device_no;
		file->inode = next->inode;
		file->generation = next->generation;
		memcpy(file->path, next->path, sizeof file->path);
	}
	tdm_private_free(next, sizeof *next);
	return err;
}

/* The devices that were stopped, and who could enter them without the lock. */
struct stopped {
	unsigned count;
	struct {
		struct tdm_wthread *owner;
		uint32_t revocations;
	} devices[TDM_LEDGER_DEVICES];
};

static bool stop_devices(struct tdm_writer *writer, struct stopped *stopped)
{
	struct tdm_wdevice *device;
	while (stopped->count < TDM_LEDGER_DEVICES &&
		(device = tdm_writer_get_device(writer, stopped->count)) != NULL) {
		stopped->devices[stopped->count].owner = atomic_load(&device->owner);
		stopped->devices[stopped->count].revocations = device->revocations;
		if (tdm_wdevice_enter_slow(device, NULL) == TDM_NOT_ENTERED)
			return false;
		stopped->count++;
	}
	return true;
}

/* Gives each device back to its owner, unless that ended in it. */
static void let_go_on(struct tdm_writer *writer, const struct stopped *stopped)
{
	for (unsigned i = 0; i < stopped->count; i++) {
		struct tdm_wdevice *device = tdm_writer_get_device(writer, i);
		struct tdm_wthread *owner = stopped->devices[i].owner;
		device->revocations = stopped->devices[i].revocations;
		if (owner != NULL && !tdm_wthread_is_inside(owner))
			atomic_store(&device->owner, owner);
		tdm_wdevice_leave_slow(device, NULL);
	}
}

static uint64_t count_calls(struct tdm_writer *writer)
{
	uint64_t calls = 0;
	struct tdm_wdevice *device;
	for (unsigned i = 0; i < TDM_LEDGER_DEVICES && (device = tdm_writer_get_device(writer, i)) != NULL; i++)
		calls += atomic_load_explicit((_Atomic uint64_t *)&device->shared->seq, memory_order_relaxed);
	return calls;
}

uint64_t tdm_writer_stranded(struct tdm_writer *writer)
{
	uint64_t from = atomic_load(&writer->stranded_from), calls = from != 0 ? count_calls(writer) : 0;
	return calls >= from && from != 0 ? calls - (from - 1) : 0;
}

int tdm_writer_renew(struct tdm_writer *writer)
{
	struct stopped stopped = { 0 };
	struct tdm_quiet guard;
	int err = -EBUSY;
	tdm_quiet_begin(&guard);
	if (stop_devices(writer, &stopped) && tdm_lock_take(&writer->blobs.lock)) {
		if (tdm_lock_take(&writer->file_lock)) {
			/* A new device that was not stopped: the next attempt will see it. */
			if (stopped.count == writer->device_count)
				err = tdm_ledger_file_renew(&writer->file, atomic_load(&writer->notes));
			tdm_lock_give(&writer->file_lock);
		}
		tdm_lock_give(&writer->blobs.lock);
	}
	if (err == 0)
		atomic_store(&writer->stranded_from, 0);
	else if (atomic_load(&writer->stranded_from) == 0)
		atomic_store(&writer->stranded_from, count_calls(writer) + 1);
	let_go_on(writer, &stopped);
	tdm_quiet_end(&guard);
	return err;
}
