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

void tdm_metal_read(int dir_fd, const char *name, const struct tdm_metal_copy *before, struct tdm_metal_copy *copy,
	struct tdm_metal_region *region)
{
	struct stat st;
	copy->len = 0;
	tdm_metal_region_init(region);
	snprintf(region->name, sizeof region->name, "%s", name);
	tdm_metal_name_parse(name, &region->has_name_id, &region->name_id);
	int fd = openat(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		region->err = -errno;
		explain_refusal(dir_fd, region);
		return;
	}
	if (fstat(fd, &st) != 0) {
		region->err = -errno;
		tdm_metal_set_status(region, TDM_METAL_FAILED, "cannot be examined: %s", tdm_err_text(region->err));
	} else {
		set_file(region, &st);
		if (S_ISREG(st.st_mode))
			tdm_metal_read_settled(&(struct tdm_metal_reading){ read_copy, &fd, before, copy }, region);
		else
			tdm_metal_set_status(region, TDM_METAL_NOT_A_FILE, "%s, not a file", type_name(st.st_mode));
	}
	close(fd);
	if (region->has_content && region->has_name_id && region->name_id != region->asic_id)
		region->doubts |= UINT32_C(1) << TDM_METAL_DOUBT_ID_DIFFERS;
}

/* A file found in the folder. These are sorted before reading, because regions are large. */
struct file {
	bool has_id;
	uint64_t id;
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
		snprintf(file.name, sizeof file.name, "%s", entry->d_name);
		(*files)[(*count)++] = file;
	}
	int err = -errno;
	if (*count > 1)
		qsort(*files, *count, sizeof **files, compare_files);
	return err;
}

/* The copy of a file from an earlier reading; NULL: there is none. */
static const struct tdm_metal_copy *find_copy(const struct tdm_metal_list *before, size_t guess, const char *name)
{
	for (size_t n = 0; before != NULL && n < before->count; n++) {
		size_t i = (guess + n) % before->count;
		if (strcmp(before->regions[i].name, name) == 0)
			return &before->copies[i];
	}
	return NULL;
}

int tdm_metal_list_read(struct tdm_metal_list *list, const struct tdm_metal_list *before, const char *path)
{
	struct file *files = NULL;
	size_t count = 0;
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
	for (; list->count < count; list->count++) {
		const char *name = files[list->count].name;
		tdm_metal_read(dirfd(dir), name, find_copy(before, list->count, name), &list->copies[list->count],
			&list->regions[list->count]);
	}
	free(files);
	closedir(dir);
	return list->err;
}

void tdm_metal_list_done(struct tdm_metal_list *list)
{
	free(list->regions);
	free(list->copies);
	*list = (struct tdm_metal_list){ 0 };
}
