#include "sources/metal_shm.h"
#include "base/err.h"
#include "base/reserve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 4 }; /* to get two copies that agree */

const char *tdm_metal_path(const char *path)
{
	if (path == NULL)
		path = secure_getenv("TIDEMARK_SHM_DIR");
	return path != NULL && path[0] != '\0' ? path : "/dev/shm";
}

bool tdm_metal_name_parse(const char *name, bool *has_id, uint64_t *id)
{
	static const char prefix[] = "tt_device_", suffix[] = "_memory";
	const size_t before = sizeof prefix - 1, after = sizeof suffix - 1, len = strlen(name);
	*has_id = false;
	if (len < before + after || memcmp(name, prefix, before) != 0 || memcmp(name + len - after, suffix, after) != 0)
		return false;
	struct tdm_str number = { name + before, len - before - after };
	/* The runtime writes no leading zeros: "07" is not the device 7. */
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
		if ((size_t)got < rest) /* a regular file gives less only at its end */
			break;
	}
	return (ssize_t)len;
}

/* Writers change one counter after another, so a copy that differs from the one before may have half of a change. */
void tdm_metal_read_settled(struct tdm_metal_reading *reading, struct tdm_metal_region *region)
{
	uint8_t second[TDM_METAL_COPY_CAP], *copies[2] = { reading->copy->bytes, second };
	const struct tdm_metal_copy *before = reading->before;
	ssize_t len[2] = { reading->read(reading->context, copies[0]), 0 };
	unsigned now = 0;
	bool resized = false;
	region->moving = before == NULL || len[0] <= 0 || before->len != (size_t)len[0] ||
			 memcmp(before->bytes, copies[0], before->len) != 0;
	if (!region->moving && reading->was != NULL) { /* the same bytes say the same */
		const struct tdm_metal_region *was = reading->was;
		memcpy(region, was, offsetof(struct tdm_metal_region, slots) + was->slot_count * sizeof *was->slots);
		reading->copy->len = before->len;
		return;
	}
	for (int i = 0; i < ATTEMPTS && region->moving && len[now] >= 0; i++) {
		now ^= 1;
		len[now] = reading->read(reading->context, copies[now]);
		resized = len[now] != len[now ^ 1];
		region->moving = resized || (len[now] > 0 && memcmp(copies[0], copies[1], (size_t)len[now]) != 0);
	}
	reading->copy->len = 0;
	if (len[now] < 0) {
		region->moving = false;
		region->err = (int)len[now];
		tdm_metal_set_status(region, TDM_METAL_FAILED, "cannot be read: %s", tdm_err_text(region->err));
	} else if (resized) {
		tdm_metal_set_status(region, TDM_METAL_CHANGING,
			"its length changes while it is read: %zd bytes, then %zd", len[now ^ 1], len[now]);
	} else {
		region->length = (uint64_t)len[now];
		tdm_metal_decode(copies[now], (size_t)len[now], region);
		reading->copy->len = region->moving ? 0 : (size_t)len[now]; /* else both are equal */
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

/* Says why the file could not be opened. */
static void explain_refusal(int dir_fd, struct tdm_metal_region *region)
{
	struct stat st;
	if (region->err != -ENOENT && fstatat(dir_fd, region->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		set_file(region, &st);
		if (!S_ISREG(st.st_mode)) {
			tdm_metal_set_status(region, TDM_METAL_NOT_A_FILE, "%s, not a file", type_name(st.st_mode));
			return;
		}
	}
	if (region->err == -ENOENT)
		tdm_metal_set_status(region, TDM_METAL_VANISHED, "it was removed after it had been listed");
	else if ((region->err == -EACCES || region->err == -EPERM) && region->has_file)
		tdm_metal_set_status(region, TDM_METAL_DENIED, "permission denied: it belongs to user %u, mode %03o",
			region->uid, region->mode & 0777);
	else if (region->err == -EACCES || region->err == -EPERM)
		tdm_metal_set_status(region, TDM_METAL_DENIED, "permission denied");
	else
		tdm_metal_set_status(region, TDM_METAL_FAILED, "cannot be opened: %s", tdm_err_text(region->err));
}

/* A file as it was read before, or all NULL. */
struct earlier {
	const struct tdm_metal_region *region;
	const struct tdm_metal_copy *copy;
	int *open; /* its descriptor, or -1 */
};

/* Opens the file, unless it was left open and is the same: an inode's number is not given away while it is open. */
static int open_file(int dir_fd, const char *name, const struct earlier *earlier, uint64_t inode_no, struct stat *st)
{
	int fd = earlier->open != NULL ? *earlier->open : -1;
	if (fd >= 0) {
		const struct tdm_metal_region *was = earlier->region;
		*earlier->open = -1;
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

/* Reads one file; its descriptor, which the caller closes, or -1. */
static int read_file(int dir_fd, const char *name, const struct earlier *earlier, uint64_t inode_no,
	struct tdm_metal_copy *copy, struct tdm_metal_region *region)
{
	struct stat st;
	copy->len = 0;
	/* As tdm_metal_region_init(), but not the long list of slots: those beyond their count mean nothing. */
	memset(region, 0, offsetof(struct tdm_metal_region, chips));
	tdm_metal_decode(NULL, 0, region);
	snprintf(region->name, sizeof region->name, "%s", name);
	tdm_metal_name_parse(name, &region->has_name_id, &region->name_id);
	int fd = open_file(dir_fd, name, earlier, inode_no, &st);
	if (fd < 0) {
		region->err = fd;
		explain_refusal(dir_fd, region);
		return -1;
	}
	set_file(region, &st);
	if (S_ISREG(st.st_mode))
		tdm_metal_read_settled(&(struct tdm_metal_reading){ read_copy, &fd, earlier->copy,
					       is_same_file(earlier->region, region) ? earlier->region : NULL, copy },
			region);
	else
		tdm_metal_set_status(region, TDM_METAL_NOT_A_FILE, "%s, not a file", type_name(st.st_mode));
	if (region->has_content && region->has_name_id && region->name_id != region->asic_id)
		region->doubts |= UINT32_C(1) << TDM_METAL_DOUBT_ID_DIFFERS;
	return fd;
}

void tdm_metal_read(int dir_fd, const char *name, const struct tdm_metal_copy *before, struct tdm_metal_copy *copy,
	struct tdm_metal_region *region)
{
	int fd = read_file(dir_fd, name, &(struct earlier){ .copy = before }, 0, copy, region);
	if (fd >= 0)
		close(fd);
}

/* A file found in the folder. These are sorted before reading, because regions are large. */
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
		if (tdm_reserve(files, &cap, *count + 1, sizeof **files) != 0)
			return -ENOMEM;
		file.inode_no = entry->d_ino;
		snprintf(file.name, sizeof file.name, "%s", entry->d_name);
		(*files)[(*count)++] = file;
	}
	int err = -errno;
	if (*count > 1)
		qsort(*files, *count, sizeof **files, compare_files);
	return err;
}

static struct earlier find_earlier(struct tdm_metal_list *before, size_t guess, const char *name)
{
	for (size_t n = 0; before != NULL && n < before->count; n++) {
		size_t i = (guess + n) % before->count;
		if (strcmp(before->regions[i].name, name) == 0)
			return (struct earlier){ &before->regions[i], &before->copies[i],
				i < before->open_count ? &before->open[i] : NULL };
	}
	return (struct earlier){ 0 };
}

static void close_files(struct tdm_metal_list *list)
{
	for (size_t i = 0; i < list->open_count; i++)
		if (list->open[i] >= 0)
			close(list->open[i]);
	list->open_count = 0;
}

/* Reads the next file of the list, and leaves it open if there is room. */
static void read_next(struct tdm_metal_list *list, struct tdm_metal_list *before, int dir_fd, const struct file *file)
{
	size_t i = list->count++;
	struct earlier earlier = find_earlier(before, i, file->name);
	int fd = read_file(dir_fd, file->name, &earlier, file->inode_no, &list->copies[i], &list->regions[i]);
	bool is_kept = list->regions[i].status == TDM_METAL_OK && i < TDM_METAL_OPEN_MAX;
	if (fd >= 0 && !is_kept)
		close(fd);
	if (i < TDM_METAL_OPEN_MAX)
		list->open[list->open_count++] = is_kept ? fd : -1;
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
	if (tdm_reserve(&list->regions, &list->cap, count, sizeof *list->regions) != 0 ||
		tdm_reserve(&list->copies, &list->copy_cap, count, sizeof *list->copies) != 0) {
		list->err = -ENOMEM;
		count = 0;
	}
	while (list->count < count)
		read_next(list, before, dirfd(dir), &files[list->count]);
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
	free(list->copies);
	*list = (struct tdm_metal_list){ 0 };
}
