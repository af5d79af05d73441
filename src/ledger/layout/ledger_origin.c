/*
 * Where a ledger comes from: the clocks, the process as /proc shows it, the header, and the file's name, which counts
 * the generations of its process.
 */
#include "ledger/layout/ledger_file.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	GENERATIONS_MAX = 256,  /* number of names to check */
	GENERATIONS_AHEAD = 32, /* number of names to check after the last existing one */
};

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

/* A field of the stat file, counted from the end of the name, because the name in parentheses may contain anything. */
static uint64_t read_stat(int32_t pid, int fields_after_name)
{
	char text[1024];
	if (read_proc(pid, "stat", text, sizeof text) == 0)
		return 0;
	const char *at = strrchr(text, ')');
	for (int i = 0; at != NULL && i < fields_after_name; i++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}

uint64_t tdm_ledger_start_of(int32_t pid)
{
	enum { START = 20 };
	return read_stat(pid, START);
}

int32_t tdm_ledger_parent_pid(void)
{
	enum { PARENT = 2 };
	return (int32_t)read_stat(0, PARENT);
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

void tdm_ledger_fill_header(
	const struct tdm_ledger_file *file, uint32_t flags, const struct tdm_behalf *behalf, int32_t pid)
{
	struct tdm_ledger_header *header = file->header;
	struct stat ns;
	header->major = TDM_LEDGER_MAJOR;
	header->minor = TDM_LEDGER_MINOR;
	header->header_size = TDM_LEDGER_PAGE;
	header->file_size = TDM_LEDGER_PAGE;
	tdm_ledger_boot_id(header->boot_id);
	header->pid_namespace = stat("/proc/self/ns/pid", &ns) == 0 ? ns.st_ino : 0;
	header->time_namespace = stat("/proc/self/ns/time", &ns) == 0 ? ns.st_ino : 0;
	header->start_time = file->start;
	header->pid = file->pid;
	header->generation = file->generation;
	header->uid = behalf != NULL ? behalf->uid : getuid();
	header->flags = flags | (behalf != NULL ? TDM_LEDGER_ON_BEHALF : 0);
	size_t len = read_proc(pid, "comm", header->comm, sizeof header->comm);
	if (len != 0 && header->comm[len - 1] == '\n')
		header->comm[len - 1] = '\0';
	len = read_proc(pid, "cmdline", header->command, sizeof header->command);
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
	/* The exec released our own lock, so any lock belongs to another copy of the library in this process, or to a
	 * process with the same pid in another namespace. */
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

int tdm_ledger_create_in(struct tdm_ledger_file *file, int folder)
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
