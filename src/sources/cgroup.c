#include "sources/cgroup.h"
#include "sources/sys_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

enum { FILE_MAX = 16384, ID_DIGITS = 64, UID_CHARACTERS = 36 };

static size_t hex_length(struct tdm_str text)
{
	size_t len = 0;
	while (len < text.len && isxdigit((unsigned char)text.ptr[len]))
		len++;
	return len;
}

/* "<64 digits>", "docker-<64 digits>.scope", "cri-containerd-<64 digits>.scope", "libpod-<64 digits>.scope" */
static void find_container(struct tdm_str part, struct tdm_cgroup *cgroup)
{
	for (size_t i = 0; i + ID_DIGITS <= part.len; i++) {
		struct tdm_str rest = { part.ptr + i, part.len - i };
		size_t len = hex_length(rest);
		if (len == ID_DIGITS && (i == 0 || part.ptr[i - 1] == '-')) {
			memcpy(cgroup->container, rest.ptr, ID_DIGITS);
			cgroup->container[ID_DIGITS] = '\0';
			return;
		}
		i += len;
	}
}

/* "pod<uid>", "kubepods-burstable-pod<uid>.slice"; systemd's names have underscores for hyphens. */
static void find_pod(struct tdm_str part, struct tdm_cgroup *cgroup)
{
	for (size_t i = 0; i + 3 + UID_CHARACTERS <= part.len; i++) {
		const char *uid = part.ptr + i + 3;
		if (memcmp(part.ptr + i, "pod", 3) != 0)
			continue;
		size_t len = 0;
		while (len < UID_CHARACTERS &&
			(len == 8 || len == 13 || len == 18 || len == 23 ? uid[len] == '-' || uid[len] == '_'
									 : isxdigit((unsigned char)uid[len]) != 0))
			len++;
		if (len != UID_CHARACTERS)
			continue;
		for (size_t k = 0; k < len; k++)
			cgroup->pod[k] = uid[k] == '_' ? '-' : uid[k];
		cgroup->pod[len] = '\0';
		return;
	}
}

/* "job_123", in a group whose name begins with "slurm". */
static void find_job(struct tdm_str part, struct tdm_cgroup *cgroup)
{
	static const char prefix[] = "job_";
	size_t skip = sizeof prefix - 1, len = 0;
	if (part.len <= skip || memcmp(part.ptr, prefix, skip) != 0)
		return;
	while (skip + len < part.len && isdigit((unsigned char)part.ptr[skip + len]))
		len++;
	if (len != 0 && skip + len == part.len && len < sizeof cgroup->job) {
		memcpy(cgroup->job, part.ptr + skip, len);
		cgroup->job[len] = '\0';
	}
}

/* The last part that matches is the innermost one. */
static void parse_path(struct tdm_str path, struct tdm_cgroup *cgroup)
{
	bool is_slurm = false;
	while (path.len != 0) {
		const char *slash = memchr(path.ptr, '/', path.len);
		struct tdm_str part = { path.ptr, slash != NULL ? (size_t)(slash - path.ptr) : path.len };
		is_slurm |= part.len >= 5 && memcmp(part.ptr, "slurm", 5) == 0;
		find_container(part, cgroup);
		find_pod(part, cgroup);
		if (is_slurm)
			find_job(part, cgroup);
		size_t used = part.len + (slash != NULL);
		path = (struct tdm_str){ path.ptr + used, path.len - used };
	}
}

void tdm_cgroup_parse(struct tdm_str text, struct tdm_cgroup *cgroup)
{
	*cgroup = (struct tdm_cgroup){ 0 };
	while (text.len != 0) {
		const char *end = memchr(text.ptr, '\n', text.len);
		size_t len = end != NULL ? (size_t)(end - text.ptr) : text.len;
		/* "0::/path", "4:memory:/path" */
		const char *first = memchr(text.ptr, ':', len);
		const char *second =
			first != NULL ? memchr(first + 1, ':', len - (size_t)(first + 1 - text.ptr)) : NULL;
		if (second != NULL)
			parse_path((struct tdm_str){ second + 1, len - (size_t)(second + 1 - text.ptr) }, cgroup);
		len += end != NULL;
		text = (struct tdm_str){ text.ptr + len, text.len - len };
	}
}

int tdm_cgroup_read(const char *proc, int32_t pid, struct tdm_cgroup *cgroup)
{
	char path[4096], text[FILE_MAX];
	*cgroup = (struct tdm_cgroup){ 0 };
	if (snprintf(path, sizeof path, "%s/%" PRId32 "/cgroup", proc, pid) >= (int)sizeof path)
		return -ENAMETOOLONG;
	int len = tdm_sys_file_read(AT_FDCWD, path, text, sizeof text);
	if (len >= 0)
		tdm_cgroup_parse((struct tdm_str){ text, (size_t)len }, cgroup);
	return len >= 0 ? 0 : len;
}
