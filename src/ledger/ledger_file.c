#include "ledger/ledger_file.h"
#include "base/clock.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	GENERATIONS_MAX = 256,  /* names to look at */
	GENERATIONS_AHEAD = 32, /* names to look for after the last one found */
	FOLDER_TRIES = 32,
	INTERRUPTS_MAX = 100, /* retries of a reservation that signals interrupted */
	FD_FLOOR = 200,       /* keeps the library's descriptor away from the program's */
	LIST_FIRST = 8,       /* areas, and spans, to have room for at first */
	/* Mapped at once of a ledger on behalf of a process, beyond its end: the number of mappings is limited. */
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
	/* Two threads may get here at once: the one that finds the number odd leaves the work to the other. */
	if (now % 2 != 0 || !atomic_compare_exchange_strong(seq, &now, now + 1))
		return;
	atomic_thread_fence(memory_order_release);
	file->header->last = tdm_ledger_clock_now();
	atomic_store_explicit(seq, now + 2, memory_order_release);
}

/* Reads a small file in /proc into a terminated buffer. Returns its length, or 0. */
static size_t read_small(const char *path, char *dst, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t got = read(fd, dst, cap - 1);
	close(fd);
	dst[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

/* Reads a small file of a process; 0: of this one, whatever pid it has in the namespace of /proc. */
static size_t read_proc(int32_t pid, const char *name, char *dst, size_t cap)
{
	char path[64];
	if (pid != 0)
		snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	else
		snprintf(path, sizeof path, "/proc/self/%s", name);
	return read_small(path, dst, cap);
}

/* Field 22 of the stat file. The name in parentheses may contain anything, so fields are counted after it. */
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

uint64_t tdm_ledger_own_start(void)
{
	return tdm_ledger_start_of(0);
}

bool tdm_ledger_boot_id(uint8_t id[16])
{
	char text[64];
	size_t len = read_small("/proc/sys/kernel/random/boot_id", text, sizeof text), nibble = 0;
	for (size_t i = 0; i < len && nibble < 32; i++) {
		int c = text[i], value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
		if (value < 0)
			continue;
		id[nibble / 2] = (uint8_t)(id[nibble / 2] << 4 | value);
		nibble++;
	}
	return nibble == 32;
}

static void read_command(struct tdm_ledger_header *header, int32_t pid)
{
	size_t len = read_proc(pid, "comm", header->comm, sizeof header->comm);
	if (len != 0 && header->comm[len - 1] == '\n')
		header->comm[len - 1] = '\0';
	len = read_proc(pid, "cmdline", header->command, sizeof header->command);
	while (len != 0 && header->command[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++)
		if (header->command[i] == '\0')
			header->command[i] = ' ';
}

/* The name and command line of a process on whose behalf this one writes. Its pid may be another process's by now. */
static void read_other_command(struct tdm_ledger_header *header, const struct tdm_behalf *behalf)
{
	read_command(header, behalf->pid);
	if (tdm_ledger_start_of(behalf->pid) == behalf->start_time)
		return;
	memset(header->comm, 0, sizeof header->comm);
	memset(header->command, 0, sizeof header->command);
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
	if (behalf != NULL)
		read_other_command(header, behalf);
	else
		read_command(header, 0);
	header->first = header->last = tdm_ledger_clock_now();
	header->magic = TDM_LEDGER_MAGIC;
	atomic_store_explicit((_Atomic uint32_t *)&header->state, TDM_LEDGER_OPEN, memory_order_release);
}

/* Whether a ledger that this process wrote before an exec has no live buffers. */
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

static bool is_locked(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static void remove_if_empty(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	if (fd < 0)
		return;
	/* Our own lock went with the exec: a lock belongs to a process with the same pid in another namespace. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !is_locked(fd) && tells_nothing(fd))
		unlinkat(folder, name, 0);
	close(fd);
}

/* Writes the name of a generation to the end of the path. */
static int format_name(struct tdm_ledger_file *file, size_t at, uint32_t generation)
{
	int len = snprintf(file->path + at, sizeof file->path - at, "%d.%llu.%u", (int)file->pid,
		(unsigned long long)file->start, generation);
	return len < 0 || (size_t)len >= sizeof file->path - at ? -ENAMETOOLONG : 0;
}

/*
 * The generation after all existing ones, and not before file->generation; removes empty ones on the way, which leaves
 * gaps. If there are very many, it does not look at all of them but takes a number that grows with time.
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

/* Creates the file in the user's folder, which another process may remove while the folder is empty. */
static int create_unique(struct tdm_ledger_file *file, const char *dir)
{
	int fd = -ENOENT;
	for (int i = 0; i < FOLDER_TRIES && fd == -ENOENT; i++) {
		int folder = fd = tdm_ledger_open_folder(dir, file->mode, file->path);
		if (folder < 0)
			continue;
		fd = create_in(file, folder);
		close(folder);
	}
	return fd;
}

/*
 * The lock shows readers that the writer is alive. It ends with the process, however that ends. One who writes on
 * behalf of others reads those ledgers, too: its locks belong to the open file, so that closing another descriptor does
 * not release them, and so that it sees them itself.
 */
int tdm_ledger_file_lock(const struct tdm_ledger_file *file)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int done = file->is_on_behalf ? fcntl(file->fd, F_OFD_SETLK, &lock) : -1;
	if (!file->is_on_behalf || (done != 0 && errno == EINVAL)) /* some sandboxes do not have those locks */
		done = fcntl(file->fd, F_SETLK, &lock);
	return done == 0 ? 0 : errno == EACCES ? -EAGAIN : -errno;
}

/*
 * A mapping keeps the file open, and with it a lock that belongs to the open file: a child of one who writes on behalf
 * of others would hold it after the writer's end. The programs of users go on in children, with their mappings.
 */
void tdm_ledger_file_keep_from_children(const struct tdm_ledger_file *file, void *at, size_t bytes)
{
	if (file->is_on_behalf)
		madvise(at, bytes, MADV_DONTFORK);
}

static int move_fd_up(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* Changes the file's size. Above the program's limit, Linux would send it a fatal signal. */
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
		char first = 0; /* 0 where nothing was written yet */
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

int tdm_ledger_file_reserve_pages(int fd, uint64_t offset, size_t bytes)
{
	int err = EINTR;
	for (int i = 0; i < INTERRUPTS_MAX && err == EINTR; i++)
		err = fallocate(fd, 0, (off_t)offset, (off_t)bytes) == 0 ? 0 : errno;
	/* Some file systems cannot reserve, and some sandboxes forbid it. */
	if (err == EOPNOTSUPP || err == ENOSYS || err == EPERM)
		err = touch_pages(fd, offset, bytes);
	return -err;
}

/* Makes room for one more in a list. */
static int have_room(const struct tdm_ledger_file *file, void **list, unsigned *cap, unsigned count, size_t each)
{
	if (count < *cap)
		return 0;
	unsigned bigger = *cap != 0 ? *cap * 2 : LIST_FIRST;
	void *room = tdm_block_alloc(file->is_on_behalf, bigger * each);
	if (room == NULL)
		return -ENOMEM;
	if (count != 0)
		memcpy(room, *list, count * each);
	tdm_block_free(file->is_on_behalf, *list, *cap * each);
	*list = room;
	*cap = bigger;
	return 0;
}

/* Notes that a part of the file may be touched. Parts that touch each other become one, so there are at most two for
 * each area. */
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

/* Maps a part of the file. 0 with *at set, or -errno. */
static int map_area(struct tdm_ledger_file *file, uint64_t offset, size_t bytes, void **at)
{
	int err = have_room(file, (void **)&file->areas, &file->area_cap, file->area_count, sizeof *file->areas);
	if (err != 0)
		return err;
	*at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, (off_t)offset);
	if (*at == MAP_FAILED)
		return -errno;
	tdm_ledger_file_keep_from_children(file, *at, bytes);
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
		err = tdm_ledger_file_reserve_pages(file->fd, 0, TDM_LEDGER_PAGE);
	if (err == 0)
		err = map_area(file, 0, tdm_max(least, (size_t)size), &at);
	if (err != 0)
		return err;
	file->header = at;
	file->size = size;
	return note_reserved(file, 0, TDM_LEDGER_PAGE);
}

int tdm_ledger_file_open_new(struct tdm_ledger_file *file, const char *dir)
{
	struct stat st;
	file->fd = create_unique(file, dir);
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
	file->start = behalf != NULL ? behalf->start_time : tdm_ledger_own_start();
	file->generation = behalf != NULL ? behalf->generation : 0;
	file->mode = mode;
	int err = tdm_ledger_file_open_new(file, dir);
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

/* Programs may close descriptors that are not theirs; our number may then be another file. */
bool tdm_ledger_file_is_fd(const struct tdm_ledger_file *file, int fd)
{
	struct stat st;
	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == file->device_no && st.st_ino == file->inode;
}

bool tdm_ledger_file_is_gone(const struct tdm_ledger_file *file)
{
	struct stat st;
	bool is_known = (fstat(file->fd, &st) == 0 && st.st_ino == file->inode && st.st_dev == file->device_no) ||
			(stat(file->path, &st) == 0 && st.st_ino == file->inode && st.st_dev == file->device_no);
	return !is_known || st.st_nlink == 0;
}

void tdm_ledger_file_remove(const struct tdm_ledger_file *file)
{
	char folder[TDM_LEDGER_PATH_MAX];
	strcpy(folder, file->path);
	char *slash = strrchr(folder, '/');
	if (slash == NULL)
		return;
	unlink(file->path);
	*slash = '\0';
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
	if (tdm_ledger_file_is_fd(file, file->fd))
		close(file->fd);
	file->fd = -1;
}

/* Reopens a descriptor that the program closed, if the name is still the same file. */
static int check_fd(struct tdm_ledger_file *file)
{
	if (tdm_ledger_file_is_fd(file, file->fd))
		return 0;
	int fd = open(file->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!tdm_ledger_file_is_fd(file, fd)) {
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
	err = tdm_ledger_file_reserve_pages(file->fd, offset + from, to - from);
	if (err == 0)
		err = note_reserved(file, offset + from, offset + to);
	if (err != 0)
		return err;
	/* If Linux supports it, this maps the pages here rather than one by one on the hot path. */
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
