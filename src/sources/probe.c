#include "sources/probe.h"
#include "sources/server_wire.h"
#include "ledger/ledger_list.h"
#include "sources/host.h"
#include "sources/metal_shm.h"
#include "sources/sys_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { ENVIRON_CAP = 256 * 1024, LINE_CAP = 8192 };

static const char *join(char dst[PATH_MAX], const char *root, const char *rest)
{
	snprintf(dst, PATH_MAX, "%s/%s", root, rest);
	return dst;
}

/* Finds the first line of a file that begins with `word`. 1, 0 if there is none, or a negative code. */
static int find_line(const char *root, const char *name, const char *word, char line[LINE_CAP])
{
	char path[PATH_MAX];
	FILE *file = fopen(join(path, root, name), "re");
	if (file == NULL)
		return -errno;
	int found = 0;
	while (found == 0 && fgets(line, LINE_CAP, file) != NULL)
		found = strncmp(line, word, strlen(word)) == 0;
	fclose(file);
	return found;
}

static int may(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 ? 0 : -errno;
}

void tdm_probe_file(struct tdm_probe_file *file, const char *path)
{
	struct stat st;
	bool is_there = lstat(path, &st) == 0;
	*file = (struct tdm_probe_file){ .is_link = is_there && S_ISLNK(st.st_mode),
		.is_foreign = is_there && st.st_uid != geteuid() };
	if (stat(path, &st) != 0) {
		file->err = file->read_err = file->write_err = -errno;
		return;
	}
	file->mode = st.st_mode;
	file->gid = st.st_gid;
	file->bytes = (uint64_t)st.st_blocks * 512;
	file->read_err = may(path, S_ISDIR(st.st_mode) ? R_OK | X_OK : R_OK);
	file->write_err = may(path, W_OK);
	if (file->read_err == 0 && file->write_err == 0 && !file->is_foreign)
		return;
	const struct passwd *owner = getpwuid(st.st_uid);
	const struct group *group = getgrgid(st.st_gid);
	if (owner != NULL)
		snprintf(file->owner, sizeof file->owner, "%s", owner->pw_name);
	else
		snprintf(file->owner, sizeof file->owner, "%" PRIu32, (uint32_t)st.st_uid);
	if (group != NULL)
		snprintf(file->group, sizeof file->group, "%s", group->gr_name);
}

int tdm_probe_environ(const struct tdm_probe *probe, int32_t pid, const char *setting)
{
	char path[PATH_MAX], *text = malloc(ENVIRON_CAP);
	if (text == NULL)
		return -ENOMEM;
	snprintf(path, sizeof path, "%s/%" PRId32 "/environ", probe->places.proc, pid);
	int len = tdm_sys_file_read(AT_FDCWD, path, text, ENVIRON_CAP), found = 0;
	for (int at = 0; at < len && found == 0; at += (int)strlen(text + at) + 1)
		found = strncmp(text + at, setting, strlen(setting)) == 0;
	free(text);
	return len < 0 ? len : found;
}

static const char *dev_path(const char *path)
{
	if (path == NULL)
		path = secure_getenv("TIDEMARK_DEV_ROOT");
	return path != NULL && path[0] != '\0' ? path : "/dev";
}

static void read_user(struct tdm_probe *probe)
{
	char path[PATH_MAX], line[LINE_CAP];
	const char *proc = probe->places.proc;
	const struct passwd *user = getpwuid(geteuid());
	struct stat own;
	if (user != NULL)
		snprintf(probe->user, sizeof probe->user, "%s", user->pw_name);
	if (stat(join(path, proc, "self/ns/pid"), &own) == 0)
		probe->pid_namespace = own.st_ino;
	/* A process in a nested pid namespace has several numbers here. Container engines also leave marker files. */
	bool is_nested = find_line(proc, "self/status", "NSpid:\t", line) == 1 && strchr(strchr(line, '\t') + 1, '\t');
	probe->in_container =
		is_nested || (strcmp(proc, "/proc") == 0 &&
				     (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0));
}

static void read_driver(struct tdm_probe *probe)
{
	char path[PATH_MAX], line[LINE_CAP];
	const struct tdm_probe_places *at = &probe->places;
	probe->module_loaded = find_line(at->proc, "modules", TDM_PROBE_MODULE " ", line);
	probe->has_module_dir = access(join(path, at->sysfs, "module/" TDM_PROBE_MODULE), F_OK) == 0;
	tdm_sys_file_text(AT_FDCWD, join(path, at->sysfs, "module/" TDM_PROBE_MODULE "/version"), probe->module_version,
		sizeof probe->module_version);
	probe->has_node_dir = access(join(path, at->dev, TDM_PROBE_MODULE), F_OK) == 0;
}

static int try_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof address.sun_path)
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	int err = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 || errno == EAGAIN ? 0 : -errno;
	close(fd);
	return err;
}

static void read_ledger_dir(struct tdm_probe *probe)
{
	struct statvfs fs;
	tdm_probe_file(&probe->ledger_dir, probe->places.ledgers);
	snprintf(probe->user_folder_path, sizeof probe->user_folder_path, "%s/" TDM_LEDGER_USER_PREFIX "%u",
		probe->places.ledgers, (unsigned)geteuid());
	tdm_probe_file(&probe->user_folder, probe->user_folder_path);
	if (statvfs(probe->places.ledgers, &fs) != 0) {
		probe->space_err = -errno;
		return;
	}
	probe->free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	probe->all_bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
}

static void read_processor(struct tdm_probe *probe)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0);
	probe->has_membarrier = commands >= 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
#if defined(__x86_64__)
	char line[LINE_CAP], *rest;
	int found = find_line(probe->places.proc, "cpuinfo", "flags", line);
	probe->has_tsc = true;
	probe->tsc_err = found < 0 ? found : 0;
	for (char *word = found == 1 ? strtok_r(line, " \n", &rest) : NULL; word != NULL;
		word = strtok_r(NULL, " \n", &rest)) {
		probe->tsc_is_constant |= strcmp(word, "constant_tsc") == 0;
		probe->tsc_is_nonstop |= strcmp(word, "nonstop_tsc") == 0;
	}
#endif
}

static enum tdm_probe_python try_python(const char *python)
{
	char command[PATH_MAX];
	snprintf(command, sizeof command,
		"%s -c \"import importlib.util, sys; sys.exit(importlib.util.find_spec('tidemark') is None)\" "
		"</dev/null >/dev/null 2>&1",
		python);
	int status = system(command);
	if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) >= 126)) /* the shell could not start it */
		return TDM_PROBE_NO_PYTHON;
	return status == 0 ? TDM_PROBE_PYTHON_PACKAGE : TDM_PROBE_PYTHON_ALONE;
}

static void read_library(struct tdm_probe *probe)
{
	void *library = dlopen(TDM_PROBE_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	const char *(*version)(void) = NULL;
	if (library == NULL)
		return;
	probe->has_library = true;
	*(void **)&version = dlsym(library, "tidemark_version");
	if (version != NULL)
		snprintf(probe->library_version, sizeof probe->library_version, "%s", version());
	dlclose(library);
}

void tdm_probe_read(struct tdm_probe *probe, const struct tdm_probe_places *places)
{
	*probe = (struct tdm_probe){ .places = *places };
	struct tdm_probe_places *at = &probe->places;
	at->sysfs = tdm_host_sysfs_path(places->sysfs);
	at->proc = tdm_proc_path(places->proc);
	at->dev = dev_path(places->dev);
	at->shm = tdm_metal_path(places->shm);
	at->ledgers = tdm_ledger_dir(places->ledgers);
	at->server_socket = places->server_socket != NULL ? places->server_socket : TDM_WIRE_SOCKET;
	at->python = places->python != NULL ? places->python : "python3";
	read_user(probe);
	read_driver(probe);
	probe->socket_err = try_socket(at->server_socket);
	read_ledger_dir(probe);
	read_processor(probe);
	probe->python = try_python(at->python);
	read_library(probe);
}
