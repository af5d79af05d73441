/* The rest of the machine: the library, the clock, barriers, containers, the terminal. Nothing here is required. */
#include "base/term.h"
#include "base/err.h"
#include "cli/doctor_checks.h"
#include "sources/sys_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether programs find the library by its name. */
void tdm_doctor_library(struct tdm_doctor *doctor)
{
	static const char name[] = "libtidemark.so.0";
	struct tdm_findings *out = &doctor->findings;
	void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	if (library != NULL) {
		const char *(*version)(void) = NULL;
		*(void **)&version = dlsym(library, "tidemark_version");
		tdm_doctor_say(out, TDM_FINDING_OK, "library.loader", name, "the loader finds %s%s%s", name,
			version != NULL ? ", version " : "", version != NULL ? version() : "");
		dlclose(library);
		return;
	}
	tdm_doctor_say(out, TDM_FINDING_INFO, "library.loader", name,
		"the loader does not find %s: programs that are linked with it will not start", name);
	tdm_findings_advise(out, "sudo ldconfig",
		"install the library and let the loader know, or set LD_LIBRARY_PATH; whoever links it statically "
		"needs nothing");
}

/* Whether Python finds the package. */
void tdm_doctor_python(struct tdm_doctor *doctor)
{
	char name[] = "python3", option[] = "-c";
	char code[] = "import importlib.util, sys; sys.exit(importlib.util.find_spec('tidemark') is None)";
	char *const command[] = { name, option, code, NULL };
	struct tdm_findings *out = &doctor->findings;
	posix_spawn_file_actions_t actions;
	pid_t child;
	int status = -1;
	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	int err = posix_spawnp(&child, command[0], &actions, NULL, command, doctor->environ);
	posix_spawn_file_actions_destroy(&actions);
	while (err == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (err != 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
		tdm_doctor_say(out, TDM_FINDING_INFO, "library.python", "python3", "there is no python3");
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		tdm_doctor_say(out, TDM_FINDING_OK, "library.python", "python3", "python3 finds the package tidemark");
	} else {
		tdm_doctor_say(out, TDM_FINDING_INFO, "library.python", "python3",
			"python3 does not find the package tidemark: Python programs cannot report by themselves");
		tdm_findings_advise(out, NULL, "install it where python3 looks, or set PYTHONPATH");
	}
}

#if defined(__x86_64__)
static bool has_word(const char *line, const char *word)
{
	size_t len = strlen(word);
	for (const char *at = line; (at = strstr(at, word)) != NULL; at += len)
		if (at > line && at[-1] == ' ' && (at[len] == ' ' || at[len] == '\n' || at[len] == '\0'))
			return true;
	return false;
}
#endif

/* The time stamp counter, which births and events are timed with. */
void tdm_doctor_clock(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
#if defined(__x86_64__)
	char path[PATH_MAX], line[8192];
	bool seen = false, constant = false, nonstop = false;
	tdm_doctor_path(path, sizeof path, doctor->proc, "cpuinfo");
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		tdm_doctor_say(out, TDM_FINDING_INFO, "system.clock", path,
			"whether the time stamp counter is steady cannot be told: %s", tdm_err_text(-errno));
		return;
	}
	while (!seen && fgets(line, sizeof line, file) != NULL)
		if (strncmp(line, "flags", 5) == 0) {
			seen = true;
			constant = has_word(line, "constant_tsc");
			nonstop = has_word(line, "nonstop_tsc");
		}
	fclose(file);
	if (constant && nonstop) {
		tdm_doctor_say(out, TDM_FINDING_OK, "system.clock", path,
			"the time stamp counter is constant and does not stop");
		return;
	}
	tdm_doctor_say(out, TDM_FINDING_WARNING, "system.clock", path,
		"the processor does not promise a steady time stamp "
		"counter (%s%s%s)",
		constant ? "" : "no constant_tsc", constant || nonstop ? "" : ", ", nonstop ? "" : "no nonstop_tsc");
	tdm_findings_advise(out, NULL, "ages and times of events may be wrong; sums and peaks are not affected");
#else
	tdm_doctor_say(
		out, TDM_FINDING_OK, "system.clock", "the processor", "the counter is steady by its architecture");
#endif
}

/* The barrier with which a device goes from one thread to another in the library. */
void tdm_doctor_membarrier(struct tdm_doctor *doctor)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0);
	if (commands >= 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
		tdm_doctor_say(&doctor->findings, TDM_FINDING_OK, "system.membarrier", "membarrier(2)",
			"the kernel has expedited barriers: one thread alone reports without a lock");
		return;
	}
	tdm_doctor_say(&doctor->findings, TDM_FINDING_INFO, "system.membarrier", "membarrier(2)",
		"no expedited barriers: the library takes a lock at every report, which is slower and as exact");
	tdm_findings_advise(
		&doctor->findings, NULL, "a kernel before 4.14, or a container whose filter refuses the call");
}

/* Whether this runs in a container: a pid namespace below another, or what engines leave in the file system. */
void tdm_doctor_container(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	char path[PATH_MAX], status[4096];
	tdm_doctor_path(path, sizeof path, doctor->proc, "self/status");
	bool marked = strcmp(doctor->proc, "/proc") == 0 &&
		      (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0);
	bool nested = false;
	if (tdm_sys_file_read(AT_FDCWD, path, status, sizeof status) > 0) {
		const char *line = strstr(status, "\nNSpid:");
		nested = line != NULL && strcspn(line + 1, "\n") > strlen("NSpid:\t") &&
			 memchr(line + strlen("\nNSpid:\t"), '\t', strcspn(line + strlen("\nNSpid:\t"), "\n")) != NULL;
	}
	if (!marked && !nested) {
		tdm_doctor_say(
			out, TDM_FINDING_OK, "system.container", path, "not in a container, as far as can be seen");
		return;
	}
	tdm_doctor_say(out, TDM_FINDING_INFO, "system.container", path,
		"in a container: programs outside of it are seen only where /dev/shm and the pids are shared");
	tdm_findings_advise(out, NULL, "start it with --ipc=host and --pid=host to see the whole machine");
}

/* What the terminal can show. */
void tdm_doctor_terminal(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	const char *type = tdm_doctor_variable(doctor, "TERM");
	struct tdm_term term = tdm_term_detect(STDOUT_FILENO);
	char shown[40];
	tdm_str_shown(tdm_str_of(type != NULL && type[0] != '\0' ? type : "unset"), shown, sizeof shown);
	tdm_doctor_say(out, term.utf8 ? TDM_FINDING_OK : TDM_FINDING_INFO, "system.terminal", "TERM, LC_ALL, NO_COLOR",
		"TERM is %s; %s; %s", shown, term.utf8 ? "characters are UTF-8" : "characters are not UTF-8",
		term.colour ? "with colour" : "without colour");
	if (!term.utf8)
		tdm_findings_advise(out, "export LC_ALL=C.UTF-8", "bars and names outside ASCII show as '#' and '?'");
}
