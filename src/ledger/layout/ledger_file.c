#include "ledger/layout/ledger_file.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/str.h"

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
#include <unistd.h>

/* ---- folders ---- */

enum {
	NAMES_IN_ORDER = 8, /* number of names tried in order: "tidemark-UID", "tidemark-UID.1", ... */
	/* total number of names tried; after the ordered ones, names end in random numbers, which nobody can take in
	 * advance */
	NAMES_MAX = 16,
	/* nanoseconds that mark a folder's modification time as a failure; the seconds are the error code */
	FAILURE_NS = 104729,
	FAILURE_MAX = 4095,
};

const char *tdm_ledger_dir(const char *dir)
{
	const char *set = getenv("TIDEMARK_DIR");
	if (dir != NULL)
		return dir;
	return set != NULL && set[0] != '\0' ? set : TDM_LEDGER_DEFAULT_DIR;
}

int tdm_ledger_parse_mode(const char *text, uint32_t *mode)
{
	static const char *const texts[] = { "600", "640", "604", "644" };
	*mode = 0600;
	if (text == NULL || text[0] == '\0')
		return 0;
	text += strspn(text, "0");
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(text, texts[i]) == 0) {
			*mode = (uint32_t)strtoul(text, NULL, 8);
			return 0;
		}
	return -EINVAL;
}

int tdm_ledger_parse_ring(const char *text, uint32_t *records)
{
	uint64_t number;
	*records = TDM_LEDGER_RING;
	if (text == NULL || text[0] == '\0')
		return 0;
	if (tdm_str_parse_u64(tdm_str_of(text), &number) != 0 || number < TDM_LEDGER_RING_MIN ||
		number > TDM_LEDGER_RING_MAX)
		return -EINVAL;
	for (*records = TDM_LEDGER_RING_MIN; *records < number;)
		*records *= 2;
	return 0;
}

/* Writes the n-th name of this user's folder. Makes a relative directory absolute, because the program may change
 * its directory. */
static int format_folder(char path[TDM_LEDGER_PATH_MAX], const char *dir, unsigned n)
{
	char suffix[16] = "";
	size_t used = 0;
	if (dir[0] != '/') {
		if (getcwd(path, TDM_LEDGER_PATH_MAX - 1) == NULL)
			return errno == ERANGE ? -ENAMETOOLONG : -errno;
		used = strlen(path);
		path[used++] = '/';
	}
	if (n >= NAMES_IN_ORDER)
		n = NAMES_IN_ORDER + (uint32_t)(tdm_clock_ns() * UINT64_C(0x9e3779b97f4a7c15) >> 33);
	if (n != 0)
		snprintf(suffix, sizeof suffix, ".%u", n);
	int len = snprintf(path + used, TDM_LEDGER_PATH_MAX - used, "%s/" TDM_LEDGER_USER_PREFIX "%u%s", dir,
		(unsigned)geteuid(), suffix);
	return len < 0 || (size_t)len >= TDM_LEDGER_PATH_MAX - used ? -ENAMETOOLONG : 0;
}

/* Opens a folder that belongs to this user and that nobody else can write to; -EEXIST if it belongs to another user. */
static int open_own(const char *path, uint32_t mode)
{
	struct stat st;
	char link[32];
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? -EEXIST : -errno;
	if (fstat(fd, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 0022) != 0) {
		close(fd);
		return -EEXIST;
	}
	mode = tdm_ledger_folder_mode(mode);
	if ((st.st_mode & mode) != mode) { /* others may read now, or the umask cleared some bits */
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		chmod(link, (st.st_mode & 07777) | mode);
	}
	return fd;
}

int tdm_ledger_open_folder(const char *dir, uint32_t mode, char path[TDM_LEDGER_PATH_MAX])
{
	int fd = -EEXIST;
	struct stat st;
	for (unsigned n = 0; n < NAMES_MAX && fd == -EEXIST; n++) {
		int err = format_folder(path, dir, n);
		if (err != 0)
			return err;
		fd = open_own(path, mode);
		if (fd != -ENOENT)
			continue;
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			return -errno;
		fd = open_own(path, mode);
	}
	return fd == -EEXIST && stat(dir, &st) == 0 && !S_ISDIR(st.st_mode) ? -ENOTDIR : fd;
}

void tdm_ledger_leave_failure(const char *dir, int err)
{
	const char *slash = strrchr(dir, '/');
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = -err, .tv_nsec = FAILURE_NS } };
	if (slash != NULL && strncmp(slash + 1, TDM_LEDGER_RUN_PREFIX, strlen(TDM_LEDGER_RUN_PREFIX)) == 0)
		utimensat(AT_FDCWD, dir, times, AT_SYMLINK_NOFOLLOW);
}

int tdm_ledger_failure(const char *dir)
{
	struct stat st;
	bool is_left = lstat(dir, &st) == 0 && st.st_mtim.tv_nsec == FAILURE_NS && st.st_mtim.tv_sec > 0 &&
		       st.st_mtim.tv_sec <= FAILURE_MAX;
	return is_left ? -(int)st.st_mtim.tv_sec : 0;
}

/* ---- the file ---- */

enum {
	GENERATIONS_MAX = 256,  /* number of names to check */
	GENERATIONS_AHEAD = 32, /* number of names to check after the last existing one */
	FOLDER_TRIES = 32,
	INTERRUPTS_MAX = 100, /* attempts at a reservation while signals interrupt it */
	/* the library's descriptor is at least this number, above most of the program's descriptors */
	FD_FLOOR = 200,
	LIST_FIRST = 8, /* initial capacity of the lists of areas and spans */
	/*
	 * A ledger written on behalf of a process is mapped in steps of this size, beyond the end of the file, because
	 * the number of mappings is limited.
	 */
	WINDOW_BYTES = 256 << 10,
};

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct tdm_ledger_clock tdm_ledger_clock_now(void)
{
	return (struct tdm_ledger_clock){
		.tsc = tdm_clock_ticks(), .monotonic_ns = tdm_clock_ns(), .realtime_ns = tdm_clock_real_ns()
	};
}

void tdm_ledger_file_clock(struct tdm_ledger_file *file)
{
	_Atomic uint64_t *seq = (_Atomic uint64_t *)&file->header->last_seq;
	uint64_t now = atomic_load_explicit(seq, memory_order_relaxed);
	/* If two threads arrive at once, the one that finds the number odd leaves the work to the other. */
	if (now % 2 != 0 || !atomic_compare_exchange_strong(seq, &now, now + 1))
		return;
	atomic_thread_fence(memory_order_release);
	file->header->last = tdm_ledger_clock_now();
	atomic_store_explicit(seq, now + 2, memory_order_release);
}

/* Reads a small file of a process into a terminated buffer. Pid 0 means this process, whose pid in /proc's namespace
 * may differ; -1 means a file of /proc itself. Returns the length, or 0. */
static size_t read_proc(int32_t pid, const char *name, char *dst, size_t cap)
{
	char path[64], number[16];
	snprintf(number, sizeof number, "%d", (int)pid);
	const char *folder = pid > 0 ? number : pid == 0 ? "self" : "sys/kernel/random";
	snprintf(path, sizeof path, "/proc/%s/%s", folder, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t got = read(fd, dst, cap - 1);
	close(fd);
	dst[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

/* Field 22 of the stat file. The name in parentheses may contain anything, so the fields are counted from the end of
 * the name. */
uint64_t tdm_ledger_start_of(int32_t pid)
{
	char text[1024];
	enum { FIELDS_AFTER_NAME = 20 };
	if (read_proc(pid, "stat", text, sizeof text) == 0)
		return 0;
	const char *at = strrchr(text, ')');
	for (int i = 0; at != NULL && i < FIELDS_AFTER_NAME; i++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}

bool tdm_ledger_boot_id(uint8_t id[16])
{
	char text[64];
	size_t len = read_proc(-1, "boot_id", text, sizeof text), nibble = 0;
	for (size_t i = 0; i < len && nibble < 32; i++) {
		int c = text[i], value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
		if (value < 0)
			continue;
		id[nibble / 2] = (uint8_t)(id[nibble / 2] << 4 | value);
		nibble++;
	}
	return nibble == 32;
}

static void fill_header(const struct tdm_ledger_file *file, uint32_t flags, const struct tdm_behalf *behalf)
{
	struct tdm_ledger_header *header = file->header;
	struct stat ns;
	header->major = TDM_LEDGER_MAJOR;
	header->minor = TDM_LEDGER_MINOR;
	header->header_size = TDM_LEDGER_PAGE;
	header->file_size = TDM_LEDGER_PAGE;
	tdm_ledger_boot_id(header->boot_id);
	header->pid_namespace = stat("/proc/self/ns/pid", &ns) == 0 ? ns.st_ino : 0;
	header->start_time = file->start;
	header->pid = file->pid;
	header->generation = file->generation;
	header->uid = behalf != NULL ? behalf->uid : getuid();
	header->flags = flags | (behalf != NULL ? TDM_LEDGER_ON_BEHALF : 0);
	size_t len = read_proc(behalf != NULL ? behalf->pid : 0, "comm", header->comm, sizeof header->comm);
	if (len != 0 && header->comm[len - 1] == '\n')
		header->comm[len - 1] = '\0';
	len = read_proc(behalf != NULL ? behalf->pid : 0, "cmdline", header->command, sizeof header->command);
	while (len != 0 && header->command[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++)
		if (header->command[i] == '\0')
			header->command[i] = ' ';
	/* The pid may have been reused. */
	if (behalf != NULL && tdm_ledger_start_of(behalf->pid) != behalf->start_time) {
		memset(header->comm, 0, sizeof header->comm);
		memset(header->command, 0, sizeof header->command);
	}
	header->first = header->last = tdm_ledger_clock_now();
	header->magic = TDM_LEDGER_MAGIC;
	atomic_store_explicit((_Atomic uint32_t *)&header->state, TDM_LEDGER_OPEN, memory_order_release);
}

/* Whether a ledger that this process wrote before an exec contains no live buffers. */
static bool tells_nothing(int fd)
{
	struct tdm_ledger_header header;
	struct tdm_ledger_device device;
	if (pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header || header.magic != TDM_LEDGER_MAGIC ||
		header.device_count > TDM_LEDGER_DEVICES)
		return false;
	for (uint32_t i = 0; i < header.device_count; i++) {
		if (header.device_offset[i] > INT64_MAX ||
			pread(fd, &device, sizeof device, (off_t)header.device_offset[i]) != (ssize_t)sizeof device)
			return false;
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_ledger_now *c = device.now[k];
			const struct tdm_ledger_now *newest =
				c[1].seq <= device.seq && (c[0].seq > device.seq || c[1].seq > c[0].seq) ? &c[1]
													 : &c[0];
			if (newest->seq <= device.seq && newest->buffers != 0)
				return false;
		}
	}
	return true;
}

static void remove_if_empty(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	if (fd < 0)
		return;
	/* The exec released our own lock, so any lock belongs to a process with the same pid in another namespace. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		(fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) && tells_nothing(fd))
		unlinkat(folder, name, 0);
	close(fd);
}

/* Writes the file name for a generation to the end of the path. */
static int format_name(struct tdm_ledger_file *file, size_t at, uint32_t generation)
{
	int len = snprintf(file->path + at, sizeof file->path - at, "%d.%llu.%u", (int)file->pid,
		(unsigned long long)file->start, generation);
	return len < 0 || (size_t)len >= sizeof file->path - at ? -ENAMETOOLONG : 0;
}

/*
 * The generation after all existing ones, at least file->generation. Removes empty ledgers along the way, which leaves
 * gaps. If there are very many ledgers, does not check them all but picks a number that grows with time.
 */
static int next_generation(struct tdm_ledger_file *file, int folder, size_t at)
{
	struct stat st;
	uint32_t first = file->generation, next = first;
	for (uint32_t g = first; g - first < GENERATIONS_MAX && g - next < GENERATIONS_AHEAD; g++) {
		int err = format_name(file, at, g);
		if (err != 0)
			return err;
		if (fstatat(folder, file->path + at, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		remove_if_empty(folder, file->path + at);
		next = g + 1;
	}
	if (next - first == GENERATIONS_MAX)
		next += (uint32_t)(tdm_clock_ns() / TDM_NS_PER_MS) % INT32_MAX;
	file->generation = next;
	return 0;
}

static int create_in(struct tdm_ledger_file *file, int folder)
{
	size_t at = strlen(file->path);
	file->path[at++] = '/';
	int err = at < sizeof file->path ? next_generation(file, folder, at) : -ENAMETOOLONG;
	for (int i = 0; err == 0 && i < GENERATIONS_AHEAD; i++, file->generation++) {
		err = format_name(file, at, file->generation);
		int fd = err == 0 ? openat(folder, file->path + at, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
					    0600)
				  : -1;
		if (fd >= 0)
			return fd;
		if (err == 0 && errno != EEXIST)
			err = -errno;
	}
	return err != 0 ? err : -EEXIST;
}

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
static int map(int fd, uint64_t offset, size_t bytes, bool is_on_behalf, void **at)
{
	int flags = MAP_SHARED | (*at != NULL ? MAP_FIXED : 0);
	void *got = mmap(*at, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
	if (got == MAP_FAILED)
		return -errno;
	if (is_on_behalf)
		madvise(got, bytes, MADV_DONTFORK);
	*at = got;
	return 0;
}

static int map_area(struct tdm_ledger_file *file, uint64_t offset, size_t bytes, void **at)
{
	int err = have_room(file, (void **)&file->areas, &file->area_cap, file->area_count, sizeof *file->areas);
	*at = NULL;
	if (err == 0)
		err = map(file->fd, offset, bytes, file->is_on_behalf, at);
	if (err != 0)
		return err;
	file->areas[file->area_count++] = (struct tdm_ledger_mapped){ *at, bytes, offset };
	return 0;
}

int tdm_ledger_file_map(struct tdm_ledger_file *file, uint64_t size)
{
	size_t least = file->is_on_behalf ? WINDOW_BYTES : TDM_LEDGER_PAGE;
	void *at;
	if (size > SIZE_MAX / 2)
		return -EFBIG;
	int err = tdm_ledger_file_set_size(file->fd, size);
	if (err == 0)
		err = reserve_pages(file->fd, 0, TDM_LEDGER_PAGE);
	if (err == 0)
		err = map_area(file, 0, tdm_max(least, (size_t)size), &at);
	if (err != 0)
		return err;
	file->header = at;
	file->size = size;
	return note_reserved(file, 0, TDM_LEDGER_PAGE);
}

static int open_new(struct tdm_ledger_file *file, const char *dir)
{
	struct stat st;
	/* Creates the file in the user's folder. Another process may remove the folder while it is empty. */
	int fd = -ENOENT;
	for (int i = 0; i < FOLDER_TRIES && fd == -ENOENT; i++) {
		int folder = fd = tdm_ledger_open_folder(dir, file->mode, file->path);
		if (folder < 0)
			continue;
		fd = create_in(file, folder);
		close(folder);
	}
	file->fd = fd;
	if (file->fd < 0)
		return file->fd;
	fchmod(file->fd, file->mode); /* regardless of the umask */
	file->fd = move_fd_up(file->fd);
	tdm_ledger_file_lock(file);
	if (fstat(file->fd, &st) == 0) {
		file->device_no = st.st_dev;
		file->inode = st.st_ino;
	}
	return 0;
}

int tdm_ledger_file_create(
	struct tdm_ledger_file *file, const char *dir, uint32_t mode, uint32_t flags, const struct tdm_behalf *behalf)
{
	memset(file, 0, sizeof *file);
	file->is_on_behalf = behalf != NULL;
	file->pid = behalf != NULL ? behalf->pid : (int32_t)getpid();
	file->start = behalf != NULL ? behalf->start_time : tdm_ledger_start_of(0);
	file->generation = behalf != NULL ? behalf->generation : 0;
	file->mode = mode;
	int err = open_new(file, dir);
	if (err != 0)
		return err;
	err = tdm_ledger_file_map(file, TDM_LEDGER_PAGE);
	if (err != 0) {
		tdm_ledger_file_close(file, true);
		return err;
	}
	fill_header(file, flags, behalf);
	return 0;
}

static bool is_file(const struct tdm_ledger_file *file, const struct stat *st)
{
	return st->st_dev == file->device_no && st->st_ino == file->inode;
}

/* Programs may close descriptors that are not theirs; our descriptor's number may then refer to another file. */
static bool is_fd(const struct tdm_ledger_file *file, int fd)
{
	struct stat st;
	return fd >= 0 && fstat(fd, &st) == 0 && is_file(file, &st);
}

bool tdm_ledger_file_is_gone(const struct tdm_ledger_file *file)
{
	struct stat st;
	bool is_known =
		(fstat(file->fd, &st) == 0 && is_file(file, &st)) || (stat(file->path, &st) == 0 && is_file(file, &st));
	return !is_known || st.st_nlink == 0;
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
	tdm_block_free(file->is_on_behalf, file->areas, file->area_cap * sizeof *file->areas);
	tdm_block_free(file->is_on_behalf, file->reserved, file->reserved_cap * sizeof *file->reserved);
	file->areas = NULL;
	file->reserved = NULL;
	file->area_count = file->area_cap = file->reserved_count = file->reserved_cap = 0;
	file->header = NULL;
	if (is_fd(file, file->fd))
		close(file->fd);
	file->fd = -1;
}

/* Reopens a descriptor that the program closed, if the name still refers to the same file. */
static int check_fd(struct tdm_ledger_file *file)
{
	if (is_fd(file, file->fd))
		return 0;
	int fd = open(file->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!is_fd(file, fd)) {
		close(fd);
		return -ENOENT;
	}
	file->fd = move_fd_up(fd);
	tdm_ledger_file_lock(file);
	return 0;
}

int tdm_ledger_file_reserve(struct tdm_ledger_file *file, void *at, uint64_t offset, size_t from, size_t to)
{
	int err = check_fd(file);
	from -= from % tdm_page_bytes();
	to = tdm_page_up(to);
	if (err != 0 || to <= from)
		return err;
	err = reserve_pages(file->fd, offset + from, to - from);
	if (err == 0)
		err = note_reserved(file, offset + from, offset + to);
	if (err != 0)
		return err;
	/* If Linux supports this, the pages are mapped here rather than one by one on the hot path. */
	madvise((char *)at + from, to - from, MADV_POPULATE_WRITE);
	return 0;
}

int tdm_ledger_file_release(struct tdm_ledger_file *file, uint64_t from, uint64_t to)
{
	int err = check_fd(file);
	from = tdm_page_up(from);
	to -= to % tdm_page_bytes();
	if (err != 0 || to <= from)
		return err;
	err = EINTR;
	for (int i = 0; i < INTERRUPTS_MAX && err == EINTR; i++)
		err = fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
			      (off_t)(to - from)) == 0
			      ? 0
			      : errno;
	return -err;
}

int tdm_ledger_file_area(struct tdm_ledger_file *file, size_t bytes, size_t first, void **at, uint64_t *offset)
{
	uint64_t from = tdm_page_up(file->size); /* the header may be shorter than a page */
	int err = check_fd(file);
	bytes = tdm_page_up(bytes);
	if (err != 0)
		return err;
	err = tdm_ledger_file_set_size(file->fd, from + bytes);
	if (err != 0)
		return err;
	void *map = (char *)file->areas[0].at + from;
	bool is_mapped = from + bytes <= file->areas[0].bytes;
	if (!is_mapped)
		err = map_area(file, from, bytes, &map);
	if (err == 0) {
		err = tdm_ledger_file_reserve(file, map, from, 0, first);
		if (err != 0 && !is_mapped) {
			file->area_count--;
			munmap(map, bytes);
		}
	}
	if (err != 0) {
		tdm_ledger_file_set_size(file->fd, file->size);
		return err;
	}
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

/* Maps the new file over the old one, with the header last. If Linux refuses, everything stays as it was. */
static int map_areas(const struct tdm_ledger_file *file, int fd)
{
	const struct tdm_ledger_mapped *areas = file->areas;
	unsigned i = file->area_count;
	int err = 0;
	while (err == 0 && i-- != 0)
		err = map(fd, areas[i].offset, areas[i].bytes, file->is_on_behalf, &(void *){ areas[i].at });
	while (err != 0 && ++i < file->area_count)
		map(file->fd, areas[i].offset, areas[i].bytes, file->is_on_behalf, &(void *){ areas[i].at });
	return err;
}

/* Moves everything to the new file. 0 or -errno, with nothing changed. */
static int move_to(struct tdm_ledger_file *file, struct tdm_ledger_file *next, struct tdm_ledger_notes *notes)
{
	struct tdm_ledger_header copy, *old = MAP_FAILED;
	struct tdm_ledger_notes notes_copy, notes_old;
	int err = tdm_ledger_file_set_size(next->fd, file->size);
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
	if (err != 0)
		return err;
	const off_t at = (off_t)copy.notes_offset;
	bool has_notes = notes != NULL && at != 0 && pread(next->fd, &notes_copy, sizeof *notes, at) == sizeof *notes;
	/* false if the program closed the descriptor and thereby released the lock */
	bool has_old_fd = is_fd(file, file->fd);
	if (has_old_fd)
		old = mmap(NULL, TDM_LEDGER_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
	err = map_areas(file, next->fd);
	if (err == 0 && old != MAP_FAILED) {
		/* Adds the counts made between copying and mapping to the new header, and marks the old one. */
		for (unsigned i = 0; i < TDM_LOSS_COUNT; i++)
			atomic_fetch_add((_Atomic uint64_t *)&file->header->lost[i], old->lost[i] - copy.lost[i]);
		atomic_fetch_or((_Atomic uint32_t *)&old->flags, TDM_LEDGER_MOVED);
		/* Likewise for the process's counters, which may grow at any time. */
		has_notes = has_notes && pread(file->fd, &notes_old, sizeof *notes, at) == sizeof *notes;
		for (unsigned i = 0; i < TDM_LEDGER_NOTE_COUNTERS && has_notes; i++)
			if (notes_old.counters[i].value != notes_copy.counters[i].value)
				atomic_fetch_add((_Atomic uint64_t *)&notes->counters[i].value,
					notes_old.counters[i].value - notes_copy.counters[i].value);
	}
	if (old != MAP_FAILED)
		munmap(old, TDM_LEDGER_PAGE);
	if (err != 0)
		return err;
	if (has_old_fd)
		close(file->fd);
	return 0;
}

int tdm_ledger_file_renew(struct tdm_ledger_file *file, struct tdm_ledger_notes *notes)
{
	char dir[TDM_LEDGER_PATH_MAX];
	struct tdm_ledger_file *next = tdm_private_alloc(sizeof *next);
	if (next == NULL)
		return -ENOMEM;
	cut_path(file, 2, dir);
	next->pid = file->pid;
	next->is_on_behalf = file->is_on_behalf;
	next->start = file->start;
	next->mode = file->mode;
	next->generation = file->generation + 1;
	int err = open_new(next, dir);
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
