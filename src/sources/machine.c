#include "sources/machine.h"
#include "base/str.h"
#include "base/units.h"
#include "sources/host.h"
#include "sources/sys_file.h"

#include <fcntl.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { OS_RELEASE_CAP = 8192 };

static void show(char *dst, const char *text)
{
	tdm_str_shown(tdm_str_of(text), dst, TDM_MACHINE_TEXT_CAP);
}

void tdm_machine_distro(const char *os_release, char *dst, size_t cap)
{
	static const char key[] = "PRETTY_NAME=";
	const char *line = os_release;
	dst[0] = '\0';
	while (line != NULL && strncmp(line, key, strlen(key)) != 0) {
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	if (line == NULL)
		return;
	const char *value = line + strlen(key);
	struct tdm_str text = tdm_str_trim((struct tdm_str){ value, strcspn(value, "\n") });
	if (text.len >= 2 && (text.ptr[0] == '"' || text.ptr[0] == '\'') && text.ptr[text.len - 1] == text.ptr[0])
		text = (struct tdm_str){ text.ptr + 1, text.len - 2 };
	tdm_str_shown(text, dst, cap);
}

static void read_distro(struct tdm_machine *machine)
{
	static const char *const paths[] = { "/etc/os-release", "/usr/lib/os-release" };
	char text[OS_RELEASE_CAP];
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		/* The first is usually a symbolic link, so it is opened like any file. */
		int fd = open(paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			continue;
		ssize_t len = read(fd, text, sizeof text - 1);
		close(fd);
		if (len <= 0)
			continue;
		text[len] = '\0';
		tdm_machine_distro(text, machine->distro, sizeof machine->distro);
		return;
	}
}

static void read_driver(struct tdm_machine *machine, const char *sysfs)
{
	int fd = tdm_sys_dir_open(AT_FDCWD, tdm_host_sysfs_path(sysfs));
	if (fd < 0)
		return;
	if (tdm_sys_file_text(fd, "module/tenstorrent/version", machine->driver, sizeof machine->driver) < 0)
		machine->driver[0] = '\0';
	close(fd);
}

void tdm_machine_read(struct tdm_machine *machine, const char *sysfs)
{
	struct utsname names;
	struct sysinfo info;
	*machine = (struct tdm_machine){ .memory_bytes = TDM_BYTES_UNKNOWN };
	if (uname(&names) == 0) {
		show(machine->system, names.sysname);
		show(machine->release, names.release);
		show(machine->host, names.nodename);
		show(machine->machine, names.machine);
	}
	if (sysinfo(&info) == 0)
		machine->memory_bytes = (uint64_t)info.totalram * info.mem_unit;
	read_distro(machine);
	read_driver(machine, sysfs);
}
