#include "live/runtime/metal_shm.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a region: decoding a copy, in each version of the layout ---- */

/* Offsets in the header, the same in all versions. */
enum {
	AT_VERSION = 0,
	AT_PROCESSES = 4,
	AT_UPDATED = 8,
	AT_ATTACHED = 16,
	AT_SERIAL = 24,
	AT_ASIC = 32,
	AT_DEVICE = 40,
	AT_TOTALS = 48,
	AT_INIT_STATE = 8536, /* version 4 */
};

/* Offsets in a chip's slot and in a process's slot; counters have the same offset in both. */
enum { IN_CHIP = 0, IN_REMOTE = 4, IN_PID = 0, IN_COUNTERS = 8 };

enum { NAME_BYTES = 64 };
#define READY        UINT32_C(0x52454459)
#define CHIP_UNUSED  UINT32_MAX /* since version 2 */
#define PID_RELEASES (-1)       /* version 4 */

/* The years 2020 and 2100: a writer's clock must be between them. */
#define TIME_MIN_NS  (UINT64_C(1577836800) * 1000000000)
#define TIME_MAX_NS  (UINT64_C(4102444800) * 1000000000)

/* Ids that do not belong to a chip. */
#define UNHEALTHY_HI UINT32_C(0xDEADDEAD)
#define SIMULATED    UINT64_C(0x5AA5000000000000)
enum { SIMULATED_MAX = 1 << 16 };

/* A layout: where its tables are. */
struct layout {
	size_t size;
	uint32_t kinds; /* counters in a row */
	size_t chips, chip_stride, slots, slot_stride;
};

static const uint8_t kind_order[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_L1_SMALL, TDM_KIND_TRACE, TDM_KIND_CB,
	TDM_KIND_KERNEL };
static const struct layout common_layout = { TDM_METAL_SIZE, 5, 88, 48, 856, 120 };
static const struct layout first_layout = { TDM_METAL_SIZE_V1, 6, 96, 56, 992, 128 };

_Static_assert(88 + 48 * TDM_METAL_CHIPS_MAX == 856 && 856 + 120 * TDM_METAL_SLOTS_MAX == AT_INIT_STATE, "one layout");
_Static_assert(96 + 56 * TDM_METAL_CHIPS_MAX == 992 && 992 + 128 * TDM_METAL_SLOTS_MAX <= TDM_METAL_SIZE_V1, "another");

static uint32_t u32_at(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t u64_at(const uint8_t *p)
{
	return u32_at(p) | (uint64_t)u32_at(p + 4) << 32;
}

static void doubt(struct tdm_metal_region *region, enum tdm_metal_doubt what)
{
	region->doubts |= UINT32_C(1) << what;
}

__attribute__((format(printf, 3, 4))) static void set_status(
	struct tdm_metal_region *region, enum tdm_metal_status status, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(region->text, sizeof region->text, format, args);
	va_end(args);
	region->status = (uint8_t)status;
}

/* Decodes a row of counters. An impossible value becomes unknown. */
static void decode_bytes(
	struct tdm_metal_region *region, const struct layout *layout, const uint8_t *at, struct tdm_metal_bytes *bytes)
{
	memset(bytes, 0xff, sizeof *bytes); /* all unknown */
	for (uint32_t i = 0; i < layout->kinds; i++) {
		uint64_t value = u64_at(at + 8 * (size_t)i);
		if (value > TDM_METAL_BYTES_MAX)
			doubt(region, TDM_METAL_DOUBT_HUGE);
		else
			bytes->of[kind_order[i]] = value;
	}
}

static bool is_zero(const uint8_t *at, size_t len)
{
	/* The first byte is 0, and every other one equals the byte before it. */
	return len == 0 || (at[0] == 0 && memcmp(at, at + 1, len - 1) == 0);
}

static uint64_t decode_time(struct tdm_metal_region *region, const uint8_t *at)
{
	uint64_t ns = u64_at(at);
	if (ns == 0 || (ns >= TIME_MIN_NS && ns < TIME_MAX_NS))
		return ns;
	doubt(region, TDM_METAL_DOUBT_TIME);
	return 0;
}

static void decode_chips(struct tdm_metal_region *region, const struct layout *layout, const uint8_t *data)
{
	const size_t counters = 8 * (size_t)layout->kinds;
	for (size_t i = 0; i < TDM_METAL_CHIPS_MAX; i++) {
		const uint8_t *at = data + layout->chips + i * layout->chip_stride;
		uint32_t chip = u32_at(at + IN_CHIP), remote = u32_at(at + IN_REMOTE);
		bool empty = is_zero(at + IN_COUNTERS, counters);
		/* In version 1 unused slots have chip number 0, like the first chip: only the counters distinguish
		 * them. */
		if (region->version == 1 ? chip == 0 && empty : chip == CHIP_UNUSED) {
			if (!empty || remote != 0)
				doubt(region, TDM_METAL_DOUBT_CHIP);
			continue;
		}
		struct tdm_metal_chip *out = &region->chips[region->chip_count++];
		out->chip = chip;
		out->is_remote = remote != 0;
		if (remote > 1 || chip > INT32_MAX)
			doubt(region, TDM_METAL_DOUBT_CHIP);
		for (uint32_t k = 0; k + 1 < region->chip_count; k++)
			if (region->chips[k].chip == chip)
				doubt(region, TDM_METAL_DOUBT_CHIP);
		decode_bytes(region, layout, at + IN_COUNTERS, &out->bytes);
	}
}

static void decode_slots(struct tdm_metal_region *region, const struct layout *layout, const uint8_t *data)
{
	const size_t updated = IN_COUNTERS + 8 * (size_t)layout->kinds, name = updated + 8;
	for (size_t i = 0; i < TDM_METAL_SLOTS_MAX; i++) {
		const uint8_t *at = data + layout->slots + i * layout->slot_stride;
		const int32_t pid = (int32_t)u32_at(at + IN_PID);
		/* Only the pid shows whether a slot is in use; a free slot keeps the name of its last owner. */
		bool is_used = (pid > 0 && pid <= TDM_PID_MAX) || (pid == PID_RELEASES && region->version >= 4);
		region->free_slot_count += pid == 0;
		if (pid == 0 && !is_zero(at + IN_COUNTERS, 8 * (size_t)layout->kinds))
			doubt(region, TDM_METAL_DOUBT_FREE_SLOT);
		if (pid != 0 && !is_used)
			doubt(region, TDM_METAL_DOUBT_PID);
		if (!is_used)
			continue;
		struct tdm_metal_slot *slot = &region->slots[region->slot_count++];
		*slot = (struct tdm_metal_slot){ .idx = (uint8_t)i, .pid = pid };
		slot->facts.uid = TDM_UID_UNKNOWN;
		slot->life = TDM_PROC_UNKNOWN;
		if (slot->pid == PID_RELEASES) {
			slot->pid = 0;
			slot->releases = true;
		}
		slot->updated_ns = decode_time(region, at + updated);
		const char *text = (const char *)at + name;
		tdm_str_shown((struct tdm_str){ text, strnlen(text, NAME_BYTES) }, slot->hint, sizeof slot->hint);
		decode_bytes(region, layout, at + IN_COUNTERS, &slot->bytes);
		for (uint32_t k = 0; k + 1 < region->slot_count; k++)
			if (slot->pid != 0 && region->slots[k].pid == slot->pid)
				doubt(region, TDM_METAL_DOUBT_PID_TWICE);
	}
	if (region->processes != region->slot_count)
		doubt(region, TDM_METAL_DOUBT_PROCESS_COUNT);
}

static enum tdm_metal_id type_of_id(const struct tdm_metal_region *region)
{
	const uint64_t id = region->asic_id;
	if (id == region->device)
		return TDM_METAL_ID_LOGICAL;
	if (id >> 32 == UNHEALTHY_HI)
		return TDM_METAL_ID_UNHEALTHY;
	if (id >= SIMULATED && id - SIMULATED < SIMULATED_MAX)
		return TDM_METAL_ID_SIMULATED;
	if ((uint32_t)id == 0 && id >> 32 == region->device)
		return TDM_METAL_ID_SIMULATED;
	return region->version == 1 ? TDM_METAL_ID_BOARD : TDM_METAL_ID_CHIP;
}

static void decode_content(struct tdm_metal_region *region, const struct layout *layout, const uint8_t *data)
{
	region->has_content = true;
	for (uint32_t i = 0; i < layout->kinds; i++)
		region->counts |= UINT32_C(1) << kind_order[i];
	region->processes = u32_at(data + AT_PROCESSES);
	region->attached = u32_at(data + AT_ATTACHED);
	region->updated_ns = decode_time(region, data + AT_UPDATED);
	region->board_serial = u64_at(data + AT_SERIAL);
	region->asic_id = u64_at(data + AT_ASIC);
	region->device = u32_at(data + AT_DEVICE);
	region->id_type = (uint8_t)type_of_id(region);
	decode_bytes(region, layout, data + AT_TOTALS, &region->total);
	decode_chips(region, layout, data);
	decode_slots(region, layout, data);
	set_status(region, TDM_METAL_OK, "version %u", region->version);
}

/* The layout of a copy, or NULL with the status set. */
static const struct layout *find_layout(struct tdm_metal_region *region, const uint8_t *data, size_t len)
{
	const struct layout *layout = len == TDM_METAL_SIZE_V1 ? &first_layout : &common_layout;
	if (len == 0) {
		set_status(region, TDM_METAL_NOT_READY, "the file is empty: it is being set up");
		return NULL;
	}
	if (len < sizeof region->version) {
		set_status(region, TDM_METAL_LENGTH, "%zu bytes, too short for a version", len);
		return NULL;
	}
	region->has_version = true;
	region->version = u32_at(data + AT_VERSION);
	if (region->version == 0 && is_zero(data, len))
		set_status(region, TDM_METAL_NOT_READY, "all bytes are 0: the file is being set up");
	else if (region->version == 0 || region->version > TDM_METAL_VERSION_MAX)
		set_status(region, TDM_METAL_VERSION, "version %u is not known (1 to %d are)", region->version,
			TDM_METAL_VERSION_MAX);
	else if (len != layout->size || (layout == &first_layout && region->version != 1))
		set_status(region, TDM_METAL_LENGTH, "%s%zu bytes, but version %u has %d",
			len >= TDM_METAL_COPY_CAP ? "at least " : "", len, region->version, TDM_METAL_SIZE);
	else
		return layout;
	return NULL;
}

void tdm_metal_decode(const uint8_t *data, size_t len, struct tdm_metal_region *region)
{
	memset(&region->doubts, 0,
		offsetof(struct tdm_metal_region, total) - offsetof(struct tdm_metal_region, doubts));
	memset(&region->total, 0xff,
		offsetof(struct tdm_metal_region, chips) - offsetof(struct tdm_metal_region, total));
	const struct layout *layout = find_layout(region, data, len);
	if (layout == NULL)
		return;
	if (region->version >= 4) {
		region->init_state = u32_at(data + AT_INIT_STATE);
		if (region->init_state != READY) {
			set_status(region, TDM_METAL_NOT_READY, "version %u says that it is not ready (state 0x%x)",
				region->version, region->init_state);
			return;
		}
	}
	decode_content(region, layout, data);
	tdm_metal_sum(region);
}

void tdm_metal_sum(struct tdm_metal_region *region)
{
	region->doubts &= ~(UINT32_C(1) << TDM_METAL_DOUBT_SLOTS_EXCEED);
	for (unsigned kind = 0; region->status == TDM_METAL_OK && kind < TDM_KIND_COUNT; kind++) {
		uint64_t sums[TDM_PROC_LIFE_COUNT] = { 0 }, slots = 0;
		const uint64_t total = region->total.of[kind];
		if ((region->counts >> kind & 1) == 0)
			continue;
		for (uint32_t i = 0; i < region->slot_count; i++) {
			const struct tdm_metal_slot *slot = &region->slots[i];
			sums[slot->life] = tdm_plus(sums[slot->life], slot->bytes.of[kind]);
			slots = tdm_plus(slots, slot->bytes.of[kind]);
		}
		region->live.of[kind] = tdm_plus(sums[TDM_PROC_ALIVE], sums[TDM_PROC_OTHER_USER]);
		region->stale.of[kind] = sums[TDM_PROC_DEAD];
		region->undecided.of[kind] = sums[TDM_PROC_UNKNOWN];
		bool known = slots != TDM_BYTES_UNKNOWN && total != TDM_BYTES_UNKNOWN;
		region->unattributed.of[kind] = !known ? TDM_BYTES_UNKNOWN : total > slots ? total - slots : 0;
		region->excess.of[kind] = !known ? TDM_BYTES_UNKNOWN : slots > total ? slots - total : 0;
		/* For circular buffers, the total is that of one process, the last to write it, so the sum over several
		 * processes may exceed it. */
		if (known && kind != TDM_KIND_CB && slots > total)
			doubt(region, TDM_METAL_DOUBT_SLOTS_EXCEED);
	}
}

const char *const tdm_metal_doubt_texts[] = {
#define X(id, text) text,
	TDM_METAL_DOUBT_LIST(X)
#undef X
};

/* ---- the files ---- */

enum {
	ATTEMPTS = 4,  /* attempts to get two equal copies */
	OPEN_MAX = 64, /* files that a list keeps open for the next reading */
};

const char *tdm_metal_path(const char *path)
{
	return tdm_sys_place(path, "TIDEMARK_SHM_DIR", "/dev/shm");
}

bool tdm_metal_name_parse(const char *name, bool *has_id, uint64_t *id)
{
	static const char prefix[] = "tt_device_", suffix[] = "_memory";
	const size_t before = sizeof prefix - 1, after = sizeof suffix - 1, len = strlen(name);
	*has_id = false;
	if (len < before + after || memcmp(name, prefix, before) != 0 || memcmp(name + len - after, suffix, after) != 0)
		return false;
	struct tdm_str number = { name + before, len - before - after };
	/* The runtime writes no leading zeros: "07" is not device 7. */
	bool canonical = number.len == 1 || (number.len > 1 && number.ptr[0] != '0');
	*has_id = canonical && tdm_str_parse_u64(number, id) == 0;
	return true;
}

/* Reads the whole file, up to TDM_METAL_COPY_CAP bytes. Returns its length or -errno. */
static ssize_t read_copy(void *context, uint8_t *copy)
{
	const int fd = *(const int *)context;
	size_t len = 0;
	while (len < TDM_METAL_COPY_CAP) {
		size_t rest = TDM_METAL_COPY_CAP - len;
		ssize_t got = pread(fd, copy + len, rest, (off_t)len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		len += (size_t)got;
		if ((size_t)got < rest) /* reading a regular file yields fewer bytes only at its end */
			break;
	}
	return (ssize_t)len;
}

/* Writers change one counter after another, so a copy that differs from the previous copy may contain half a change. */
void tdm_metal_read_settled(ssize_t (*read)(void *context, uint8_t *copy), void *context,
	const struct tdm_metal_region *was, struct tdm_metal_region *region)
{
	uint8_t second[TDM_METAL_COPY_CAP], *copies[2] = { region->copy, second };
	ssize_t len[2] = { read(context, copies[0]), 0 };
	unsigned now = 0;
	bool resized = false;
	if (was != NULL && len[0] > 0 && was->settled == (size_t)len[0] &&
		memcmp(was->copy, region->copy, was->settled) == 0) { /* equal bytes decode to equal figures */
		memcpy(region, was, offsetof(struct tdm_metal_region, slots) + was->slot_count * sizeof *was->slots);
		region->settled = was->settled;
		return;
	}
	region->moving = true;
	for (int i = 0; i < ATTEMPTS && region->moving && len[now] >= 0; i++) {
		now ^= 1;
		len[now] = read(context, copies[now]);
		resized = len[now] != len[now ^ 1];
		region->moving = resized || (len[now] > 0 && memcmp(copies[0], copies[1], (size_t)len[now]) != 0);
	}
	region->settled = 0;
	if (len[now] < 0) {
		region->moving = false;
		region->err = (int)len[now];
		set_status(region, TDM_METAL_FAILED, "cannot be read: %s", tdm_err_text(region->err));
	} else if (resized) {
		set_status(region, TDM_METAL_CHANGING, "its length changes while it is read: %zd bytes, then %zd",
			len[now ^ 1], len[now]);
	} else {
		region->length = (uint64_t)len[now];
		tdm_metal_decode(copies[now], (size_t)len[now], region);
		region->settled = region->moving ? 0 : (size_t)len[now]; /* if not moving, both copies are equal */
	}
}

static void set_file(struct tdm_metal_region *region, const struct stat *st)
{
	region->has_file = true;
	region->device_no = st->st_dev;
	region->inode_no = st->st_ino;
	region->length = st->st_size > 0 ? (uint64_t)st->st_size : 0;
	region->uid = st->st_uid;
	region->mode = st->st_mode & 07777;
}

static const char *type_name(mode_t mode)
{
	return S_ISDIR(mode)    ? "a directory"
	       : S_ISLNK(mode)  ? "a symbolic link"
	       : S_ISFIFO(mode) ? "a pipe"
	       : S_ISSOCK(mode) ? "a socket"
				: "a device";
}

/* Sets the status and reason after a failed open. */
static void explain_refusal(int dir_fd, struct tdm_metal_region *region)
{
	struct stat st;
	if (region->err != -ENOENT && fstatat(dir_fd, region->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		set_file(region, &st);
		if (!S_ISREG(st.st_mode)) {
			set_status(region, TDM_METAL_NOT_A_FILE, "%s, not a file", type_name(st.st_mode));
			return;
		}
	}
	if (region->err == -ENOENT)
		set_status(region, TDM_METAL_VANISHED, "it was removed after it had been listed");
	else if ((region->err == -EACCES || region->err == -EPERM) && region->has_file)
		set_status(region, TDM_METAL_DENIED, "permission denied: it belongs to user %u, mode %03o", region->uid,
			region->mode & 0777);
	else if (region->err == -EACCES || region->err == -EPERM)
		set_status(region, TDM_METAL_DENIED, "permission denied");
	else
		set_status(region, TDM_METAL_FAILED, "cannot be opened: %s", tdm_err_text(region->err));
}

/* Opens the file, or reuses the descriptor left open if it refers to the same file: an inode number is not reused while
 * the file is open. */
static int open_file(int dir_fd, const char *name, struct tdm_metal_region *was, uint64_t inode_no, struct stat *st)
{
	int fd = was != NULL ? was->fd : 0;
	if (fd != 0) {
		was->fd = 0;
		if (was->inode_no == inode_no && fstat(fd, st) == 0 && st->st_nlink != 0 && st->st_uid == was->uid &&
			(st->st_mode & 07777) == was->mode)
			return fd;
		close(fd);
	}
	fd = openat(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, st) == 0)
		return fd >= 0 ? fd : -errno;
	int err = -errno;
	close(fd);
	return err;
}

static bool is_same_file(const struct tdm_metal_region *was, const struct tdm_metal_region *region)
{
	return was != NULL && was->has_file && was->device_no == region->device_no &&
	       was->inode_no == region->inode_no && was->uid == region->uid && was->mode == region->mode;
}

void tdm_metal_read(int dir_fd, const char *name, uint64_t inode_no, bool may_keep, struct tdm_metal_region *was,
	struct tdm_metal_region *region)
{
	struct stat st;
	/* Does not clear the long slot list, because slots beyond the count are meaningless. */
	memset(region, 0, offsetof(struct tdm_metal_region, chips));
	region->fd = 0;
	region->settled = 0;
	tdm_metal_decode(NULL, 0, region);
	snprintf(region->name, sizeof region->name, "%s", name);
	tdm_metal_name_parse(name, &region->has_name_id, &region->name_id);
	int fd = open_file(dir_fd, name, was, inode_no, &st);
	if (fd < 0) {
		region->err = fd;
		explain_refusal(dir_fd, region);
		return;
	}
	set_file(region, &st);
	if (S_ISREG(st.st_mode))
		tdm_metal_read_settled(read_copy, &fd, is_same_file(was, region) ? was : NULL, region);
	else
		set_status(region, TDM_METAL_NOT_A_FILE, "%s, not a file", type_name(st.st_mode));
	if (region->has_content && region->has_name_id && region->name_id != region->asic_id)
		region->doubts |= UINT32_C(1) << TDM_METAL_DOUBT_ID_DIFFERS;
	region->fd = region->status == TDM_METAL_OK && may_keep ? fd : 0;
	if (region->fd == 0)
		close(fd);
}

/* A file found in the folder. Files are sorted before they are read, because sorting regions would move a lot of
 * memory. */
struct file {
	bool has_id;
	uint64_t id, inode_no;
	char name[TDM_METAL_NAME_CAP];
};

static int compare_files(const void *a, const void *b)
{
	const struct file *x = a, *y = b;
	if (x->has_id != y->has_id)
		return x->has_id ? -1 : 1;
	if (x->has_id && x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Lists the files in order. The caller frees *files in every case. 0, or a negative code. */
static int list_files(struct tdm_metal_list *list, DIR *dir, struct file **files, size_t *count)
{
	const struct dirent *entry;
	size_t cap = 0;
	while ((errno = 0, entry = readdir(dir)) != NULL) {
		struct file file = { 0 };
		if (!tdm_metal_name_parse(entry->d_name, &file.has_id, &file.id))
			continue;
		if (*count == TDM_METAL_REGIONS_MAX) {
			list->cut++;
			continue;
		}
		tdm_grow(files, &cap, *count + 1, sizeof **files);
		file.inode_no = entry->d_ino;
		snprintf(file.name, sizeof file.name, "%s", entry->d_name);
		(*files)[(*count)++] = file;
	}
	int err = -errno;
	if (*count > 1)
		qsort(*files, *count, sizeof **files, compare_files);
	return err;
}

/* Finds the file in another reading, where its index is probably `guess`. */
static struct tdm_metal_region *find_named(const struct tdm_metal_list *list, size_t guess, const char *name)
{
	for (size_t n = 0; list != NULL && n < list->count; n++) {
		struct tdm_metal_region *region = &list->regions[(guess + n) % list->count];
		if (strcmp(region->name, name) == 0)
			return region;
	}
	return NULL;
}

static void close_files(struct tdm_metal_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->regions[i].fd != 0)
			close(list->regions[i].fd);
		list->regions[i].fd = 0;
	}
}

int tdm_metal_list_read(struct tdm_metal_list *list, struct tdm_metal_list *before, const char *path)
{
	struct file *files = NULL;
	size_t count = 0;
	close_files(list);
	list->count = 0;
	list->cut = 0;
	list->err = 0;
	DIR *dir = opendir(tdm_metal_path(path));
	if (dir == NULL)
		return list->err = -errno;
	list->err = list_files(list, dir, &files, &count);
	tdm_grow(&list->regions, &list->cap, count, sizeof *list->regions);
	for (size_t i = 0; i < count; i++)
		tdm_metal_read(dirfd(dir), files[i].name, files[i].inode_no, i < OPEN_MAX,
			find_named(before, i, files[i].name), &list->regions[i]);
	list->count = count;
	if (before != NULL)
		close_files(before);
	free(files);
	closedir(dir);
	return list->err;
}

void tdm_metal_list_done(struct tdm_metal_list *list)
{
	close_files(list);
	free(list->regions);
	*list = (struct tdm_metal_list){ 0 };
}

/* ---- owners of process slots ---- */

/* Linux keeps this many bytes of a process's name. */
enum { COMM_LEN = 15 };

static const struct tdm_proc_facts no_facts = { .err = -ESRCH, .state = '?', .uid = TDM_UID_UNKNOWN };

bool tdm_metal_name_agrees(const struct tdm_metal_slot *slot)
{
	return slot->hint[0] == '\0' || slot->facts.comm[0] == '\0' ||
	       strncmp(slot->hint, slot->facts.comm, COMM_LEN) == 0;
}

static const struct tdm_metal_region *find_same(
	const struct tdm_metal_list *list, size_t guess, const struct tdm_metal_region *region)
{
	const struct tdm_metal_region *was = find_named(list, guess, region->name);
	return is_same_file(was, region) ? was : NULL;
}

/* Finds a slot in an earlier reading of the region, where its index is probably `guess`; NULL if there is none. */
static const struct tdm_metal_slot *find_slot(const struct tdm_metal_region *region, uint32_t guess, uint8_t idx)
{
	if (region == NULL)
		return NULL;
	if (guess < region->slot_count && region->slots[guess].idx == idx)
		return &region->slots[guess];
	for (uint32_t i = 0; i < region->slot_count; i++)
		if (region->slots[i].idx == idx)
			return &region->slots[i];
	return NULL;
}

/* Judges a slot. Returns whether its process may be in a container: the pid is dead here, or belongs to a process with
 * a different name. */
static bool judge_slot(const struct tdm_proc_root *root, const struct tdm_metal_slot *was, struct tdm_metal_slot *slot)
{
	slot->nested_as = 0;
	slot->reused = false;
	if (slot->releases) {
		slot->life = TDM_PROC_DEAD;
		return false;
	}
	slot->life = (uint8_t)tdm_proc_judge(root, slot->pid, slot->updated_ns, &slot->facts);
	if (slot->life != TDM_PROC_DEAD)
		return !tdm_metal_name_agrees(slot);
	slot->reused = slot->facts.err == 0 && slot->facts.state != 'Z' && slot->facts.state != 'X';
	if (slot->reused) /* the facts are about another process */
		slot->facts = no_facts;
	/*
	 * A dead process does not write. If the slot has been written to since, its process is running in another pid
	 * namespace.
	 */
	if (was != NULL && was->pid == slot->pid && slot->updated_ns > was->updated_ns)
		slot->life = TDM_PROC_UNKNOWN;
	return slot->life == TDM_PROC_DEAD || !tdm_metal_name_agrees(slot);
}

void tdm_metal_judge(struct tdm_metal_list *list, const struct tdm_metal_list *before, const struct tdm_proc_root *root)
{
	struct tdm_proc_wanted *wanted = NULL;
	struct tdm_metal_slot **doubted = NULL;
	size_t count = 0, cap = 0, wanted_cap = 0;
	for (size_t i = 0; i < list->count; i++) {
		struct tdm_metal_region *region = &list->regions[i];
		const struct tdm_metal_region *old = find_same(before, i, region);
		for (uint32_t k = 0; k < region->slot_count; k++) {
			struct tdm_metal_slot *slot = &region->slots[k];
			if (!judge_slot(root, find_slot(old, k, slot->idx), slot))
				continue;
			tdm_grow(&wanted, &wanted_cap, count + 1, sizeof *wanted);
			tdm_grow(&doubted, &cap, count + 1, sizeof(struct tdm_metal_slot *));
			wanted[count] = (struct tdm_proc_wanted){ .pid = slot->pid };
			snprintf(wanted[count].comm, sizeof wanted[count].comm, "%.*s", COMM_LEN, slot->hint);
			doubted[count++] = slot;
		}
	}
	if (count != 0)
		tdm_proc_find_nested(root, wanted, count);
	for (size_t i = 0; i < count; i++)
		if (wanted[i].found != 0) {
			doubted[i]->nested_as = wanted[i].found;
			doubted[i]->life = TDM_PROC_UNKNOWN;
			doubted[i]->facts = no_facts;
		}
	free(wanted);
	free(doubted);
	for (size_t i = 0; i < list->count; i++)
		tdm_metal_sum(&list->regions[i]);
}

/* ---- watching ---- */

/* Judging takes at most 1/50 of the time. */
enum { JUDGE_SHARE = 50 };
#define SILENCE_NS (60 * TDM_NS_PER_S)

void tdm_metal_watch_done(struct tdm_metal_watch *watch)
{
	tdm_metal_list_done(&watch->now);
	tdm_metal_list_done(&watch->before);
}

/* Copies the judgements of slots to the new reading. False if a slot has yet to be judged. */
static bool carry_over(const struct tdm_metal_region *old, struct tdm_metal_region *region)
{
	for (uint32_t i = 0; i < region->slot_count; i++) {
		struct tdm_metal_slot *slot = &region->slots[i];
		const struct tdm_metal_slot *was = find_slot(old, i, slot->idx);
		if (slot->releases) {
			slot->life = TDM_PROC_DEAD;
			continue;
		}
		/*
		 * If a dead process's slot is written to again, the slot has a new owner, or its process was not dead.
		 */
		if (was == NULL || was->releases || was->pid != slot->pid || strcmp(was->hint, slot->hint) != 0 ||
			(was->life == TDM_PROC_DEAD && was->updated_ns != slot->updated_ns))
			return false;
		slot->life = was->life;
		slot->reused = was->reused;
		slot->nested_as = was->nested_as;
		slot->facts = was->facts;
	}
	tdm_metal_sum(region);
	return true;
}

/*
 * A slot that was written to although no process here has its pid belongs to an invisible process. Such a process does
 * not write every second, so it counts as dead only after a longer silence.
 */
static void keep_undecided(struct tdm_metal_list *list, const struct tdm_metal_list *before, uint64_t real_ns)
{
	for (size_t i = 0; i < list->count; i++) {
		struct tdm_metal_region *region = &list->regions[i];
		const struct tdm_metal_region *old = find_same(before, i, region);
		bool kept = false;
		for (uint32_t k = 0; old != NULL && k < region->slot_count; k++) {
			struct tdm_metal_slot *slot = &region->slots[k];
			const struct tdm_metal_slot *was = find_slot(old, k, slot->idx);
			if (slot->life != TDM_PROC_DEAD || slot->releases || was == NULL ||
				was->life != TDM_PROC_UNKNOWN || was->nested_as != 0 || was->pid != slot->pid ||
				slot->updated_ns == 0 || slot->updated_ns + SILENCE_NS < real_ns)
				continue;
			slot->life = TDM_PROC_UNKNOWN;
			kept = true;
		}
		if (kept)
			tdm_metal_sum(region);
	}
}

void tdm_metal_watch_refresh(struct tdm_metal_watch *watch, const struct tdm_proc_root *root, uint64_t now_ns)
{
	struct tdm_metal_list oldest = watch->before;
	watch->before = watch->now;
	watch->now = oldest;
	tdm_metal_list_read(&watch->now, &watch->before, watch->dir);
	bool known = now_ns < watch->judge_ns;
	for (size_t i = 0; known && i < watch->now.count; i++) {
		struct tdm_metal_region *region = &watch->now.regions[i];
		if (region->status == TDM_METAL_OK)
			known = carry_over(find_same(&watch->before, i, region), region);
	}
	if (!known) {
		uint64_t begin = tdm_clock_ns();
		tdm_metal_judge(&watch->now, &watch->before, root);
		keep_undecided(&watch->now, &watch->before, tdm_clock_real_ns());
		/* Facts about containers' processes, by their pids here. */
		for (size_t i = 0; i < watch->now.count; i++)
			for (uint32_t k = 0; k < watch->now.regions[i].slot_count; k++) {
				struct tdm_metal_slot *slot = &watch->now.regions[i].slots[k];
				if (slot->nested_as != 0)
					tdm_proc_facts_read(root, slot->nested_as, &slot->facts);
			}
		watch->judge_ns = now_ns + tdm_max((tdm_clock_ns() - begin) * JUDGE_SHARE, TDM_NS_PER_S);
	}
}
