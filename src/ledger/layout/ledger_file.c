#include "ledger/layout/ledger_file.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/futex.h>

enum {
	FOLDER_TRIES = 32,
	INTERRUPTS_MAX = 100, /* attempts at a reservation while signals interrupt it */
	/* a descriptor that stays is at least this number, above most of the program's descriptors */
	FD_FLOOR = 200,
	LIMITED_SHARE = 16, /* part of a limited address space to reserve at a time */
	LIST_FIRST = 8,     /* initial capacity of the lists of areas and spans */
	/*
	 * A ledger written on behalf of a process is mapped in steps of this size, beyond the end of the file, because
	 * the number of mappings is limited.
	 */
	WINDOW_BYTES = 256 << 10,
};

/* The address space to reserve for a process's own ledger at a time, if that is allowed; its length exceeds its content
 * by as much. */
#define RESERVE_BYTES   (UINT64_C(64) << 30)
/* The inode number of the first pid namespace, whose processes see every process. */
#define FIRST_NAMESPACE UINT64_C(0xeffffffc)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/*
 * The lock shows readers that the writer is alive; Linux releases it when the process ends. A daemon also reads the
 * ledgers that it writes on behalf of others: for those, the lock belongs to the open file, so closing another
 * descriptor does not release it, and the daemon itself can see it.
 */
int tdm_ledger_file_lock(const struct tdm_ledger_file *file)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int done = file->is_on_behalf ? fcntl(file->fd, F_OFD_SETLK, &lock) : -1;
	if (!file->is_on_behalf || (done != 0 && errno == EINVAL)) /* some sandboxes lack such locks */
		done = fcntl(file->fd, F_SETLK, &lock);
	return done == 0 ? 0 : errno == EACCES ? -EAGAIN : -errno;
}

static int move_fd_up(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

static bool is_file(const struct tdm_ledger_file *file, const struct stat *st)
{
	return st->st_dev == file->device_no && st->st_ino == file->inode;
}

/* Whether the descriptor still refers to the ledger. The program may close or reuse any number. */
static bool is_fd(const struct tdm_ledger_file *file, int fd)
{
	struct stat st;
	return fd >= 0 && fstat(fd, &st) == 0 && is_file(file, &st);
}

static void close_own(const struct tdm_ledger_file *file, int fd)
{
	if (is_fd(file, fd))
		close(fd);
}

/* Opens the ledger by its name, if that still refers to it. */
static int reopen(const struct tdm_ledger_file *file)
{
	int fd = open(file->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return is_fd(file, fd) ? fd : -ENOENT;
}

/*
 * The lock of a process's own ledger belongs to an open file that nothing but a page of memory keeps open. So it needs
 * no descriptor, it ends with an exec, a forked child does not hold it, and no other code in the process can release
 * it.
 */
static void lock_life(struct tdm_ledger_file *file)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int fd = reopen(file);
	if (fd < 0)
		return;
	void *at = mmap(NULL, tdm_page_bytes(), PROT_NONE, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED && madvise(at, tdm_page_bytes(), MADV_DONTFORK) == 0 && is_fd(file, fd) &&
		fcntl(fd, F_OFD_SETLK, &lock) == 0)
		file->life = at;
	else if (at != MAP_FAILED)
		munmap(at, tdm_page_bytes());
	close_own(file, fd);
}

/*
 * In a pid namespace below the first one, a process also locks a byte of its own in a way that shows its pid to readers
 * outside. This takes a descriptor. It is never read, written or resized, and if the program closes it, only that pid
 * is lost. The descriptor also holds the life lock where Linux has no locks of open files.
 */
static void lock_by_descriptor(struct tdm_ledger_file *file)
{
	struct flock life = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	struct flock pid = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = TDM_LEDGER_PID_BYTE, .l_len = 1 };
	if (file->life != NULL && file->header->pid_namespace == FIRST_NAMESPACE)
		return;
	int low = reopen(file), fd = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, FD_FLOOR) : -1;
	if (fd >= 0)
		close_own(file, low);
	else
		fd = low;
	if (!is_fd(file, fd))
		return;
	fcntl(fd, F_SETLK, &pid);
	if (file->life == NULL)
		fcntl(fd, F_SETLK, &life);
	file->fd = fd;
}

/* Changes the file's size; refuses a size above the program's limit, because Linux would then send a fatal signal. */
int tdm_ledger_file_set_size(int fd, uint64_t size)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur)
		return -EFBIG;
	return ftruncate(fd, (off_t)size) == 0 ? 0 : -errno;
}

/* Reserves pages by writing to each. 0 or a positive errno. */
static int touch_pages(int fd, uint64_t offset, size_t bytes)
{
	for (uint64_t at = offset; at < offset + bytes; at += TDM_LEDGER_PAGE) {
		char first = 0; /* 0 if nothing has been written there */
		ssize_t got = pread(fd, &first, 1, (off_t)at);
		for (int i = 0; i < INTERRUPTS_MAX && got >= 0; i++) {
			got = pwrite(fd, &first, 1, (off_t)at);
			if (got > 0 || errno != EINTR)
				break;
			got = 0;
		}
		if (got <= 0)
			return got < 0 ? errno : EINTR;
	}
	return 0;
}

static int reserve_pages(int fd, uint64_t offset, size_t bytes)
{
	int err = EINTR;
	for (int i = 0; i < INTERRUPTS_MAX && err == EINTR; i++)
		err = fallocate(fd, 0, (off_t)offset, (off_t)bytes) == 0 ? 0 : errno;
	/* Some file systems cannot reserve space, and some sandboxes forbid it. */
	if (err == EOPNOTSUPP || err == ENOSYS || err == EPERM)
		err = touch_pages(fd, offset, bytes);
	return -err;
}

/*
 * Reserves mapped pages without a descriptor. Linux touches them, so a full file system is an error here, not a signal
 * later. Kernels before 5.14 cannot do so for a range, and neither can some emulators, which accept any advice: then an
 * atomic addition of 0, by Linux, touches each page.
 */
static int populate(char *at, size_t bytes)
{
	int err = EINTR;
	for (int i = 0; i < INTERRUPTS_MAX && err == EINTR; i++)
		err = madvise(at, bytes, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
	bool is_advice_known = err == 0 ? madvise(at, TDM_LEDGER_PAGE, -1) != 0 : err == EFAULT || err == ENOMEM;
	if (is_advice_known)
		return err == EFAULT ? -ENOSPC : -err;
	enum { ADD_NOTHING = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0) };
	for (size_t i = 0; i < bytes; i += TDM_LEDGER_PAGE)
		if (syscall(SYS_futex, at + i, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, NULL, at + i, ADD_NOTHING) < 0)
			return errno == EFAULT ? -ENOSPC : -errno;
	return 0;
}

/* Makes room for one more entry in a list, whose capacity never exceeds its memory. */
static int have_room(const struct tdm_ledger_file *file, void **list, unsigned *cap, unsigned count, size_t each)
{
	if (count < *cap)
		return 0;
	unsigned bigger = *cap != 0 ? *cap * 2 : LIST_FIRST;
	void *room = tdm_block_alloc(file->is_on_behalf, bigger * each);
	if (room == NULL)
		return -ENOMEM;
	void *old = *list;
	unsigned old_cap = *cap;
	if (count != 0)
		memcpy(room, old, count * each);
	*list = room;
	tdm_step();
	*cap = bigger;
	tdm_step();
	tdm_block_free(file->is_on_behalf, old, old_cap * each);
	return 0;
}

/* Records that a part of the file may be touched. Adjacent parts are merged, so there are at most two per area. */
static int note_reserved(struct tdm_ledger_file *file, uint64_t from, uint64_t to)
{
	for (unsigned i = file->reserved_count; i-- != 0;)
		if (from <= file->reserved[i].to && to >= file->reserved[i].from) {
			file->reserved[i].from = tdm_min(file->reserved[i].from, from);
			file->reserved[i].to = tdm_max(file->reserved[i].to, to);
			return 0;
		}
	int err = have_room(
		file, (void **)&file->reserved, &file->reserved_cap, file->reserved_count, sizeof *file->reserved);
	if (err == 0)
		file->reserved[file->reserved_count++] = (struct tdm_ledger_span){ from, to };
	return err;
}

/*
 * Maps a part of a file, over another mapping if *at is not NULL. Returns 0 and sets *at, or returns -errno. A mapping
 * keeps the file open, and with it the open file's lock: a child of the daemon would hold the lock after the daemon's
 * end, so children do not inherit these mappings. A user's program may continue in a child, so its mappings are
 * inherited.
 */
static int map(int fd, uint64_t offset, size_t bytes, int protection, bool is_on_behalf, void **at)
{
	int flags = MAP_SHARED | (*at != NULL ? MAP_FIXED : 0);
	void *got = mmap(*at, bytes, protection, flags, fd, (off_t)offset);
	if (got == MAP_FAILED)
		return -errno;
	if (is_on_behalf)
		madvise(got, bytes, MADV_DONTFORK);
	else
		madvise(got, bytes, MADV_NOHUGEPAGE); /* a large page would be reserved for a single small one */
	*at = got;
	return 0;
}

static int have_area_room(struct tdm_ledger_file *file)
{
	return have_room(file, (void **)&file->areas, &file->area_cap, file->area_count, sizeof *file->areas);
}

static int map_area(struct tdm_ledger_file *file, uint64_t offset, size_t bytes, void **at)
{
	int err = have_area_room(file);
	*at = NULL;
	if (err == 0)
		err = map(file->fd, offset, bytes, PROT_READ | PROT_WRITE, true, at);
	if (err != 0)
		return err;
	file->areas[file->area_count++] = (struct tdm_ledger_mapped){ *at, bytes, offset };
	return 0;
}

int tdm_ledger_file_map(struct tdm_ledger_file *file, uint64_t size)
{
	void *at;
	if (size > SIZE_MAX / 2)
		return -EFBIG;
	int err = tdm_ledger_file_set_size(file->fd, size);
	if (err == 0)
		err = reserve_pages(file->fd, 0, TDM_LEDGER_PAGE);
	if (err == 0)
		err = map_area(file, 0, tdm_max((size_t)WINDOW_BYTES, (size_t)size), &at);
	if (err != 0)
		return err;
	file->header = at;
	file->size = size;
	return note_reserved(file, 0, TDM_LEDGER_PAGE);
}

/*
 * ---- the file of a process's own ledger ----
 *
 * It has no descriptor. A helper opens it, sets its length, maps it and closes it. The mapping is much larger than what
 * is used, so the file usually grows without a helper. The part not yet used cannot be accessed: nobody who locks or
 * dumps the program's memory reserves pages there.
 */

/* Sets the length by name: in the calling process, a descriptor could be somebody else's by now. */
static int set_length(const struct tdm_ledger_file *file, uint64_t length)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && length > limit.rlim_cur)
		return -EFBIG;
	return truncate(file->path, (off_t)length) == 0 ? 0 : -errno;
}

/* Maps the part of the file that begins at `from`, for later use. Checks afterwards that it is the right file. */
static int map_extent(struct tdm_ledger_file *file, int fd, uint64_t from, size_t bytes)
{
	void *at = NULL;
	int err = set_length(file, from + bytes);
	if (err == 0)
		err = map(fd, from, bytes, PROT_NONE, false, &at);
	if (err != 0)
		return err;
	if (!is_fd(file, fd)) {
		munmap(at, bytes);
		return -EBADF;
	}
	madvise(at, bytes, MADV_DONTDUMP);
	file->areas[file->area_count] = (struct tdm_ledger_mapped){ at, bytes, from };
	tdm_step();
	file->area_count++;
	return 0;
}

/* Reserves address space for at least `bytes` more; a program with little of it keeps most. */
static int add_extent(struct tdm_ledger_file *file, int fd, uint64_t from, size_t bytes)
{
	struct rlimit limit;
	uint64_t most = RESERVE_BYTES, was = from;
	int err = have_area_room(file);
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		most = tdm_min(most, limit.rlim_cur / LIMITED_SHARE);
	if (file->area_count != 0)
		was = file->areas[file->area_count - 1].offset + file->areas[file->area_count - 1].bytes;
	for (bool is_least = false; err == 0 && !is_least; most /= 2) {
		size_t want = tdm_page_up(tdm_max((size_t)most, bytes));
		is_least = want == bytes;
		err = map_extent(file, fd, from, want);
		if (err == 0)
			return 0;
		if (err != -EBADF && !is_least)
			err = 0;
	}
	set_length(file, was);
	return err;
}

struct extension {
	struct tdm_ledger_file *file;
	uint64_t from;
	size_t bytes;
};

static int extend_job(void *context, bool is_apart)
{
	const struct extension *more = context;
	(void)is_apart;
	int fd = reopen(more->file);
	int err = fd < 0 ? fd : add_extent(more->file, fd, more->from, more->bytes);
	close_own(more->file, fd);
	return err;
}

/* Makes the next `bytes` of the file accessible. */
static int extend(struct tdm_ledger_file *file, uint64_t from, size_t bytes, void **at)
{
	const struct tdm_ledger_mapped *last = &file->areas[file->area_count - 1];
	struct extension more = { file, from, bytes };
	int err = from + bytes <= last->offset + last->bytes ? 0 : tdm_helper_run(extend_job, &more);
	if (err != 0)
		return err;
	last = &file->areas[file->area_count - 1];
	*at = (char *)last->at + (from - last->offset);
	return mprotect(*at, bytes, PROT_READ | PROT_WRITE) == 0 ? 0 : -errno;
}

/* Whether the part has been reserved; sets *end to the end of the reserved or unreserved part. */
static bool is_reserved(const struct tdm_ledger_file *file, uint64_t from, uint64_t to, uint64_t *end)
{
	*end = to;
	for (unsigned i = 0; i < file->reserved_count; i++) {
		const struct tdm_ledger_span *span = &file->reserved[i];
		if (from >= span->from && from < span->to) {
			*end = tdm_min(to, span->to);
			return true;
		}
		if (span->from > from)
			*end = tdm_min(*end, span->from);
	}
	return false;
}

/* Returns the pages of a failed reservation, which may contain pages reserved before. */
static void give_back(const struct tdm_ledger_file *file, char *at, uint64_t from, uint64_t to)
{
	uint64_t end;
	for (uint64_t i = from; i < to; i = end)
		if (!is_reserved(file, i, to, &end))
			madvise(at + (i - from), (size_t)(end - i), MADV_REMOVE);
}

/* The address of a part of the file; NULL if it is not mapped in one piece. */
static char *find_mapped(const struct tdm_ledger_file *file, uint64_t from, uint64_t to)
{
	for (unsigned i = file->area_count; i-- != 0;) {
		const struct tdm_ledger_mapped *area = &file->areas[i];
		if (from >= area->offset && to <= area->offset + area->bytes)
			return (char *)area->at + (from - area->offset);
	}
	return NULL;
}

/* ---- creating ---- */

static int open_new(struct tdm_ledger_file *file, const char *dir)
{
	struct stat st;
	/* Creates the file in the user's folder. Another process may remove the folder while it is empty. */
	int fd = -ENOENT;
	for (int i = 0; i < FOLDER_TRIES && fd == -ENOENT; i++) {
		int folder = fd = tdm_ledger_open_folder(dir, file->mode, file->path);
		if (folder < 0)
			continue;
		fd = tdm_ledger_create_in(file, folder);
		close(folder);
	}
	file->fd = fd;
	if (file->fd < 0)
		return file->fd;
	chmod(file->path, file->mode); /* regardless of the umask */
	if (fstat(file->fd, &st) == 0) {
		file->device_no = st.st_dev;
		file->inode = st.st_ino;
	}
	if (file->is_on_behalf) {
		file->fd = move_fd_up(file->fd);
		tdm_ledger_file_lock(file);
	} else {
		lock_life(file);
	}
	return 0;
}

/* Maps a new file of this process, and reserves its header. */
static int map_own(struct tdm_ledger_file *file)
{
	int err = add_extent(file, file->fd, 0, tdm_page_up(TDM_LEDGER_PAGE));
	void *at = err == 0 ? file->areas[0].at : NULL;
	if (err == 0 && mprotect(at, tdm_page_up(TDM_LEDGER_PAGE), PROT_READ | PROT_WRITE) != 0)
		err = -errno;
	if (err == 0)
		err = populate(at, TDM_LEDGER_PAGE);
	if (err != 0)
		return err;
	file->header = at;
	file->size = TDM_LEDGER_PAGE;
	return note_reserved(file, 0, TDM_LEDGER_PAGE);
}

static void close_file(struct tdm_ledger_file *file)
{
	close_own(file, file->fd);
	file->fd = -1;
}

static int create_own(
	struct tdm_ledger_file *file, const char *dir, uint32_t flags, const struct tdm_behalf *behalf, int32_t pid)
{
	int err = open_new(file, dir);
	if (err != 0)
		return err;
	err = behalf != NULL ? tdm_ledger_file_map(file, TDM_LEDGER_PAGE) : map_own(file);
	if (err != 0) {
		tdm_ledger_file_close(file, true);
		return err;
	}
	tdm_ledger_fill_header(file, flags, behalf, pid);
	return 0;
}

struct creation {
	struct tdm_ledger_file *file;
	const char *dir;
	uint32_t flags;
};

static int create_job(void *context, bool is_apart)
{
	const struct creation *creation = context;
	int32_t pid = is_apart ? tdm_ledger_parent_pid() : 0;
	creation->file->start = tdm_ledger_start_of(pid);
	int err = create_own(creation->file, creation->dir, creation->flags, NULL, pid);
	if (err == 0)
		close_file(creation->file);
	return err;
}

int tdm_ledger_file_create(
	struct tdm_ledger_file *file, const char *dir, uint32_t mode, uint32_t flags, const struct tdm_behalf *behalf)
{
	memset(file, 0, sizeof *file);
	file->fd = -1;
	file->mode = mode;
	if (behalf != NULL) {
		file->is_on_behalf = true;
		file->pid = behalf->pid;
		file->start = behalf->start_time;
		file->generation = behalf->generation;
		return create_own(file, dir, flags, behalf, behalf->pid);
	}
	file->pid = (int32_t)getpid();
	struct creation creation = { file, dir, flags };
	int err = tdm_helper_run(create_job, &creation);
	if (err == 0)
		lock_by_descriptor(file);
	return err;
}

void tdm_ledger_file_inherited(struct tdm_ledger_file *file)
{
	file->life = NULL;
}

bool tdm_ledger_file_is_gone(const struct tdm_ledger_file *file)
{
	struct stat st;
	bool is_known = (file->is_on_behalf && fstat(file->fd, &st) == 0 && is_file(file, &st)) ||
			(stat(file->path, &st) == 0 && is_file(file, &st));
	return !is_known || st.st_nlink == 0;
}

/*
 * Whether the file has surely been deleted, rather than renamed or out of reach behind chroot() or a mount: the page
 * that keeps it open shows its name.
 */
enum fate { FATE_EXISTS, FATE_DELETED, FATE_UNKNOWN };
static enum fate find_fate(const struct tdm_ledger_file *file)
{
	static const char deleted[] = " (deleted)";
	char link[80], name[TDM_LEDGER_PATH_MAX + sizeof deleted];
	uintptr_t at = (uintptr_t)file->life;
	if (!tdm_ledger_file_is_gone(file))
		return FATE_EXISTS;
	if (file->is_on_behalf)
		return FATE_DELETED;
	snprintf(link, sizeof link, "/proc/self/map_files/%llx-%llx", (unsigned long long)at,
		(unsigned long long)(at + tdm_page_bytes()));
	ssize_t len = at != 0 ? readlink(link, name, sizeof name) : -1;
	if (len < 0 || len == (ssize_t)sizeof name)
		return FATE_UNKNOWN;
	size_t end = sizeof deleted - 1;
	bool is_deleted = (size_t)len >= end && memcmp(name + (size_t)len - end, deleted, end) == 0;
	return is_deleted ? FATE_DELETED : FATE_EXISTS;
}

/* Cuts 1 or 2 parts off "DIRECTORY/FOLDER/NAME", leaving the file's folder, or the directory containing that folder. */
static bool cut_path(const struct tdm_ledger_file *file, int parts, char dir[TDM_LEDGER_PATH_MAX])
{
	char *slash = strcpy(dir, file->path);
	while (parts-- > 0 && (slash = strrchr(dir, '/')) != NULL)
		*slash = '\0';
	if (dir[0] == '\0')
		strcpy(dir, "/");
	return slash != NULL;
}

void tdm_ledger_file_remove(const struct tdm_ledger_file *file)
{
	char folder[TDM_LEDGER_PATH_MAX];
	if (!cut_path(file, 1, folder))
		return;
	unlink(file->path);
	rmdir(folder);
}

void tdm_ledger_file_close(struct tdm_ledger_file *file, bool remove)
{
	if (remove)
		tdm_ledger_file_remove(file);
	for (unsigned i = 0; i < file->area_count; i++)
		munmap(file->areas[i].at, file->areas[i].bytes);
	if (file->life != NULL)
		munmap(file->life, tdm_page_bytes());
	file->life = NULL;
	tdm_block_free(file->is_on_behalf, file->areas, file->area_cap * sizeof *file->areas);
	tdm_block_free(file->is_on_behalf, file->reserved, file->reserved_cap * sizeof *file->reserved);
	file->areas = NULL;
	file->reserved = NULL;
	file->area_count = file->area_cap = file->reserved_count = file->reserved_cap = 0;
	file->header = NULL;
	close_file(file);
}

/* For a ledger on behalf: reopens a descriptor that the program closed, if the name still refers to the same file. */
static int check_fd(struct tdm_ledger_file *file)
{
	if (is_fd(file, file->fd))
		return 0;
	int fd = reopen(file);
	if (fd < 0)
		return fd;
	file->fd = move_fd_up(fd);
	tdm_ledger_file_lock(file);
	return 0;
}

int tdm_ledger_file_reserve(struct tdm_ledger_file *file, void *at, uint64_t offset, size_t from, size_t to)
{
	int err = file->is_on_behalf ? check_fd(file) : 0;
	from -= from % tdm_page_bytes();
	to = tdm_page_up(to);
	if (err != 0 || to <= from)
		return err;
	char *first = (char *)at + from;
	err = file->is_on_behalf ? reserve_pages(file->fd, offset + from, to - from) : populate(first, to - from);
	if (err == 0)
		err = note_reserved(file, offset + from, offset + to);
	/* If Linux supports this, the pages are mapped here rather than one by one on the hot path. */
	if (err == 0 && file->is_on_behalf)
		madvise(first, to - from, MADV_POPULATE_WRITE);
	else if (err != 0 && !file->is_on_behalf)
		give_back(file, first, offset + from, offset + to);
	return err;
}

int tdm_ledger_file_release(struct tdm_ledger_file *file, uint64_t from, uint64_t to)
{
	int err = file->is_on_behalf ? check_fd(file) : 0;
	from = tdm_page_up(from);
	to -= to % tdm_page_bytes();
	if (err != 0 || to <= from)
		return err;
	char *at = file->is_on_behalf ? NULL : find_mapped(file, from, to);
	if (!file->is_on_behalf && at == NULL)
		return -EINVAL;
	err = EINTR;
	for (int i = 0; i < INTERRUPTS_MAX && err == EINTR; i++) {
		int done = at != NULL ? madvise(at, (size_t)(to - from), MADV_REMOVE)
				      : fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
						(off_t)(to - from));
		err = done == 0 ? 0 : errno;
	}
	return -err;
}

/* Makes the file of a ledger on behalf longer. *is_new: the area was mapped for this. */
static int lengthen(struct tdm_ledger_file *file, uint64_t from, size_t bytes, void **at, bool *is_new)
{
	int err = check_fd(file);
	if (err == 0)
		err = tdm_ledger_file_set_size(file->fd, from + bytes);
	*at = (char *)file->areas[0].at + from;
	*is_new = err == 0 && from + bytes > file->areas[0].bytes;
	if (*is_new)
		err = map_area(file, from, bytes, at);
	*is_new = *is_new && err == 0;
	return err;
}

int tdm_ledger_file_area(struct tdm_ledger_file *file, size_t bytes, size_t first, void **at, uint64_t *offset)
{
	uint64_t from = tdm_page_up(file->size); /* the header may be shorter than a page */
	bool is_new = false;
	void *map = NULL;
	bytes = tdm_page_up(bytes);
	int err = file->is_on_behalf ? lengthen(file, from, bytes, &map, &is_new) : extend(file, from, bytes, &map);
	if (err == 0)
		err = tdm_ledger_file_reserve(file, map, from, 0, first);
	if (err != 0 && is_new) {
		file->area_count--;
		munmap(map, bytes);
	}
	if (err != 0 && file->is_on_behalf)
		tdm_ledger_file_set_size(file->fd, file->size);
	if (err != 0)
		return err;
	file->size = from + bytes;
	atomic_store_explicit((_Atomic uint64_t *)&file->header->file_size, file->size, memory_order_release);
	*at = map;
	*offset = from;
	return 0;
}

/*
 * ---- recreating a deleted file ----
 *
 * Somebody deleted the ledger while its writer was using it. The pages are still mapped, so nothing is lost: the pages
 * are copied to a new file, and the new file is then mapped over the old one, at the same addresses. All reports wait
 * meanwhile.
 *
 * The new file is the next generation: a reader that has the old file open must not mistake one for the other. The old
 * file is marked TDM_LEDGER_MOVED, which tells such a reader that the process continues elsewhere.
 */

/*
 * Writes mapped memory to the new file. Linux reads the memory, so a page that is missing because somebody truncated
 * the old file causes an error, not a signal.
 */
static int copy_range(int fd, const char *at, uint64_t offset, size_t bytes)
{
	int err = reserve_pages(fd, offset, bytes);
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

/* Copies the used part of every area except the header's page. */
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

/* The part of an area that is in use. */
static size_t used_bytes(const struct tdm_ledger_file *file, const struct tdm_ledger_mapped *area)
{
	return file->is_on_behalf ? area->bytes : (size_t)tdm_min(area->bytes, tdm_page_up(file->size) - area->offset);
}

static int map_new(const struct tdm_ledger_file *file, int fd, const struct tdm_ledger_mapped *area)
{
	size_t used = used_bytes(file, area);
	void *at = area->at, *rest = (char *)at + used;
	int err = 0;
	if (used != area->bytes)
		err = map(fd, area->offset + used, area->bytes - used, PROT_NONE, false, &rest);
	if (err == 0 && used != area->bytes)
		madvise(rest, area->bytes - used, MADV_DONTDUMP);
	return err != 0 ? err : map(fd, area->offset, used, PROT_READ | PROT_WRITE, file->is_on_behalf, &at);
}

/* Maps the old file's pages a second time, because they are still needed. An emulator may be unable to: then an area of
 * `old` is empty. */
static int keep_old(const struct tdm_ledger_file *file, struct tdm_ledger_file *old)
{
	for (unsigned i = 0; i < file->area_count; i++) {
		const struct tdm_ledger_mapped *area = &file->areas[i];
		size_t used = used_bytes(file, area);
		int err = have_area_room(old);
		if (err != 0)
			return err;
		void *at = mremap(area->at, 0, used, MREMAP_MAYMOVE);
		old->areas[old->area_count++] = at != MAP_FAILED ? (struct tdm_ledger_mapped){ at, used, area->offset }
								 : (struct tdm_ledger_mapped){ .offset = area->offset };
	}
	return 0;
}

/*
 * Maps the new file over the old one, with the header last. If Linux refuses, moves the old pages back; what lies
 * beyond them is then given up.
 */
static int map_areas(struct tdm_ledger_file *file, struct tdm_ledger_file *old, int fd)
{
	unsigned i = file->area_count;
	int err = 0;
	while (err == 0 && i-- != 0)
		err = map_new(file, fd, &file->areas[i]);
	for (; err != 0 && i < file->area_count; i++) {
		struct tdm_ledger_mapped *now = &file->areas[i], *was = &old->areas[i];
		if (was->bytes == 0)
			continue;
		mremap(was->at, was->bytes, was->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, now->at);
		if (now->bytes != was->bytes)
			munmap((char *)now->at + was->bytes, now->bytes - was->bytes);
		now->bytes = was->bytes;
		was->bytes = 0;
	}
	return err;
}

/* Adds the counts made between copying and mapping to the new file, and marks the old one. */
static void carry_counts(const struct tdm_ledger_file *file, const struct tdm_ledger_file *old,
	const struct tdm_ledger_header *copy, const struct tdm_ledger_notes *notes_copy, struct tdm_ledger_notes *notes)
{
	struct tdm_ledger_header *header = old->areas[0].at;
	if (header == NULL && file->life != NULL && mprotect(file->life, tdm_page_bytes(), PROT_READ | PROT_WRITE) == 0)
		header = file->life; /* the old file's first page */
	if (header == NULL)
		return;
	const struct tdm_ledger_notes *was =
		(const void *)(notes != NULL ? find_mapped(old, copy->notes_offset, copy->notes_offset + sizeof *was)
					     : NULL);
	for (unsigned i = 0; i < TDM_LOSS_COUNT; i++)
		atomic_fetch_add((_Atomic uint64_t *)&file->header->lost[i], header->lost[i] - copy->lost[i]);
	atomic_fetch_or((_Atomic uint32_t *)&header->flags, TDM_LEDGER_MOVED);
	/* Likewise for the process's counters, which may grow at any time. */
	for (unsigned i = 0; i < TDM_LEDGER_NOTE_COUNTERS && was != NULL; i++)
		if (was->counters[i].value != notes_copy->counters[i].value)
			atomic_fetch_add((_Atomic uint64_t *)&notes->counters[i].value,
				was->counters[i].value - notes_copy->counters[i].value);
}

/* Moves everything to the new file. 0 or -errno, with nothing changed. */
static int move_to(struct tdm_ledger_file *file, struct tdm_ledger_file *next, struct tdm_ledger_notes *notes)
{
	const struct tdm_ledger_mapped *last = &file->areas[file->area_count - 1];
	struct tdm_ledger_header copy;
	struct tdm_ledger_notes notes_copy;
	int err = file->is_on_behalf ? tdm_ledger_file_set_size(next->fd, file->size)
				     : set_length(next, last->offset + last->bytes);
	if (err == 0)
		err = copy_areas(file, next->fd);
	if (err == 0) {
		/* Writes the header last: it makes the new file complete for readers. In the copy, no clock update is
		 * in progress. */
		copy = *file->header;
		copy.generation = next->generation;
		copy.flags |= TDM_LEDGER_RENEWED;
		copy.last = tdm_ledger_clock_now();
		copy.last_seq += copy.last_seq % 2;
		if (!file->is_on_behalf)
			copy.uid = getuid();
		err = copy_range(next->fd, (const char *)&copy, 0, sizeof copy);
	}
	if (err == 0)
		err = keep_old(file, next);
	if (err != 0)
		return err;
	const off_t at = (off_t)copy.notes_offset;
	if (notes != NULL && (at == 0 || pread(next->fd, &notes_copy, sizeof *notes, at) != sizeof *notes))
		notes = NULL;
	if (!is_fd(next, next->fd))
		return -EBADF;
	err = map_areas(file, next, next->fd);
	if (err == 0)
		carry_counts(file, next, &copy, &notes_copy, notes);
	return err;
}

struct renewal {
	struct tdm_ledger_file *file, *next;
	struct tdm_ledger_notes *notes;
};

/* The result is 0, too, if the file turns out to be there, or may be there and could not be recreated. */
static int renew_job(void *context, bool is_apart)
{
	const struct renewal *renewal = context;
	struct tdm_ledger_file *file = renewal->file, *next = renewal->next;
	char dir[TDM_LEDGER_PATH_MAX];
	enum fate fate = find_fate(file);
	(void)is_apart;
	if (fate == FATE_EXISTS)
		return 0;
	cut_path(file, 2, dir);
	int err = open_new(next, dir);
	if (err == 0) {
		err = move_to(file, next, renewal->notes);
		/* The new file's areas are the old file's pages. */
		struct tdm_ledger_file pages = *next;
		pages.fd = -1;
		pages.life = NULL;
		next->areas = NULL;
		next->area_count = next->area_cap = 0;
		tdm_ledger_file_close(&pages, false);
		if (err != 0)
			tdm_ledger_file_close(next, true);
	}
	if (err != 0)
		return fate == FATE_UNKNOWN ? 0 : err;
	if (file->life != NULL)
		munmap(file->life, tdm_page_bytes());
	file->life = next->life;
	if (file->is_on_behalf) {
		close_file(file);
		file->fd = next->fd;
	} else {
		close_file(next);
	}
	file->device_no = next->device_no;
	file->inode = next->inode;
	file->generation = next->generation;
	memcpy(file->path, next->path, sizeof file->path);
	return 0;
}

int tdm_ledger_file_renew(struct tdm_ledger_file *file, struct tdm_ledger_notes *notes)
{
	struct tdm_ledger_file *next = tdm_private_alloc(sizeof *next);
	const uint64_t device_no = file->device_no, inode = file->inode;
	struct stat st;
	if (next == NULL)
		return -ENOMEM;
	next->fd = -1;
	next->pid = file->pid;
	next->is_on_behalf = file->is_on_behalf;
	next->start = file->start;
	next->mode = file->mode;
	next->generation = file->generation + 1;
	struct renewal renewal = { file, next, notes };
	int err = file->is_on_behalf ? renew_job(&renewal, false) : tdm_helper_run(renew_job, &renewal);
	if (err == 0 && !file->is_on_behalf && file->generation == next->generation) {
		/* The helper cannot close a descriptor of this process. */
		if (fstat(file->fd, &st) == 0 && st.st_dev == device_no && st.st_ino == inode)
			close(file->fd);
		file->fd = -1;
		lock_by_descriptor(file);
	}
	tdm_private_free(next, sizeof *next);
	return err;
}
