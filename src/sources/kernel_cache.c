#include "sources/kernel_cache.h"
#include "base/err.h"
#include "sources/elf_file.h"
#include "sources/folder.h"
#include "sources/format.h"
#include "sources/kernel_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTS = 6 };

/* Processors, in the order in which tables show them. */
static const char *const targets[] = { "brisc", "ncrisc", "trisc0", "trisc1", "trisc2", "erisc", "active_erisc",
	"subordinate_active_erisc", "idle_erisc", "subordinate_idle_erisc", "drisc" };

static bool is_number(struct tdm_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] < '0' || text.ptr[i] > '9')
			return false;
	return text.len != 0;
}

/* The last parts of a path, last one first; empty if there are fewer. */
static void split(const char *path, struct tdm_str parts[PARTS])
{
	size_t end = strlen(path);
	for (int i = 0; i < PARTS; i++) {
		while (end > 0 && path[end - 1] == '/')
			end--;
		size_t from = end;
		while (from > 0 && path[from - 1] != '/')
			from--;
		parts[i] = (struct tdm_str){ path + from, end - from };
		end = from;
	}
}

/* The number at the end of a folder's name; the cache's own name may precede it without a slash. */
static struct tdm_str build_of(struct tdm_str folder)
{
	size_t from = folder.len;
	while (from > 0 && folder.ptr[from - 1] >= '0' && folder.ptr[from - 1] <= '9')
		from--;
	return (struct tdm_str){ folder.ptr + from, folder.len - from };
}

static uint8_t order_of(struct tdm_str target)
{
	uint8_t i = 0;
	while (i < sizeof targets / sizeof *targets && !tdm_str_is(target, targets[i]))
		i++;
	return i;
}

/* Pushes a binary with the names from its path. From its end the path has TARGET.elf, TARGET, HASH, NAME, "kernels" and
 * BUILD; or TARGET.elf, TARGET, "firmware" and BUILD. */
static int push_binary(const struct tdm_kernel_elf *elf, const char *path, const struct tdm_record_sink *sink)
{
	struct tdm_str parts[PARTS], file, build = { "", 0 }, name = build, hash = build;
	char texts[4][NAME_MAX + 1];
	split(path, parts);
	file = parts[0];
	if (file.len > 4 && memcmp(file.ptr + file.len - 4, ".elf", 4) == 0)
		file.len -= 4;
	bool is_in_place = tdm_str_eq(file, parts[1]), is_firmware = is_in_place && tdm_str_is(parts[2], "firmware");
	if (is_firmware) {
		build = build_of(parts[3]);
	} else if (is_in_place && is_number(parts[2])) {
		hash = parts[2];
		name = parts[3];
		if (tdm_str_is(parts[4], "kernels"))
			build = build_of(parts[5]);
	}
	const struct tdm_str kept[] = { file, name, hash, build };
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		snprintf(texts[i], sizeof texts[i], "%.*s", TDM_STR_ARG(kept[i]));
	struct tdm_kernel_binary b = {
		.path = path,
		.target = texts[0],
		.name = texts[1],
		.hash = texts[2],
		.build = texts[3],
		.order = order_of(file),
		.firmware = is_firmware,
		.packed_bytes = elf->packed_bytes,
		.text_bytes = elf->text_bytes,
		.zeroed_bytes = elf->zeroed_bytes,
		.over_limit = elf->over_limit,
	};
	return sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_BINARY, .binary = &b });
}

/* Reads one file and pushes it. 0, the sink's code, or another one with diag set. */
static int take_file(int fd, uint64_t size, const char *path, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_kernel_elf elf;
	int err = tdm_kernel_elf_read(&elf, fd, size, diag);
	return err != 0 ? err : push_binary(&elf, path, sink);
}

/* Whether the file is named like its folder, TARGET/TARGET.elf. Others (objects, dependencies, copies) are ignored. */
static bool is_binary(const char *path)
{
	struct tdm_str parts[PARTS];
	split(path, parts);
	return parts[0].len == parts[1].len + 4 && memcmp(parts[0].ptr, parts[1].ptr, parts[1].len) == 0 &&
	       memcmp(parts[0].ptr + parts[1].len, ".elf", 4) == 0;
}

static int visit_file(void *context, int folder, const char *name, const char *path)
{
	const struct tdm_record_sink *sink = context;
	struct tdm_diag diag = { .file = path };
	struct stat st;
	if (!is_binary(path))
		return 0;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), err;
	if (fd < 0 || fstat(fd, &st) != 0)
		err = tdm_diag_set(&diag, -errno, 0, 0, "cannot be read: %s", tdm_err_text(-errno));
	else
		err = take_file(fd, (uint64_t)st.st_size, path, sink, &diag);
	if (fd >= 0)
		close(fd);
	return err != 0 && err != -ENOMEM ? tdm_record_refuse(sink, &diag, false) : err;
}

static int visit_refused(void *context, const struct tdm_diag *diag)
{
	return tdm_record_refuse(context, diag, false);
}

static bool kernels_recognise(struct tdm_str head, const char *path)
{
	(void)path;
	return tdm_elf_detect(head.ptr, head.len);
}

static int kernels_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_record_sink to = *sink;
	const struct tdm_folder_visitor visitor = { &to, visit_file, visit_refused };
	struct tdm_walk_rest rest;
	/* Names come from the whole path, including the part above the given folder. */
	char *absolute = realpath(tdm_input_name(input), NULL);
	const char *path = absolute != NULL ? absolute : tdm_input_name(input);
	int err;
	if (tdm_input_is_folder(input)) {
		err = tdm_folder_walk(path, &visitor, &rest);
		if (err == 0)
			err = sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_WALK_END, .walk = &rest });
	} else {
		uint64_t bytes;
		int fd = tdm_input_file(input, &bytes, diag);
		err = fd < 0 ? fd : take_file(fd, bytes, path, sink, diag);
	}
	free(absolute);
	return err;
}

uint64_t tdm_kernel_cache_bytes_of(const char *path)
{
	uint64_t bytes = 0;
	size_t found = 0;
	int folder = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	if (folder < 0)
		return TDM_BYTES_UNKNOWN;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct tdm_kernel_elf elf;
		struct stat st;
		char file[128];
		snprintf(file, sizeof file, "%s/%s.elf", targets[i], targets[i]);
		int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0)
			continue;
		bool is_good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
			       tdm_kernel_elf_read(&elf, fd, (uint64_t)st.st_size, NULL) == 0;
		close(fd);
		if (!is_good) {
			found = 0;
			break;
		}
		bytes += tdm_kernel_ring_bytes(elf.packed_bytes);
		found++;
	}
	close(folder);
	return found != 0 ? bytes : TDM_BYTES_UNKNOWN;
}

const struct tdm_format tdm_format_kernels = {
	.name = "kernels",
	.summary = "compiled kernel",
	.takes_folders = true,
	.recognise = kernels_recognise,
	.records = kernels_records,
};
