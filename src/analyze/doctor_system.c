/* Checks of the rest of the machine: the library, the clock, barriers, containers, the terminal. Nothing here is
 * required. */
#include "analyze/doctor_checks.h"
#include "base/err.h"
#include "base/str.h"

/* Whether programs find the library by its name. */
void tdm_doctor_library_loader(struct tdm_doctor *d)
{
	const char *name = tdm_doctor_look(d, TDM_PROBE_LIBRARY), *version = d->setup->probe.library_version;
	if (d->setup->probe.has_library) {
		tdm_doctor_say(d, OK, "the loader finds %s%s%s", name, version[0] != '\0' ? ", version " : "", version);
		return;
	}
	tdm_doctor_say(d, INFO, "the loader does not find %s: programs that are linked with it will not start", name);
	tdm_doctor_advise(d, "sudo ldconfig",
		"install the library and let the loader know, or set LD_LIBRARY_PATH; programs that link it statically "
		"need nothing");
}

/* Whether Python finds the package. */
void tdm_doctor_library_python(struct tdm_doctor *d)
{
	static const char *const texts[] = {
		[TDM_PROBE_NO_PYTHON] = "there is no python3",
		[TDM_PROBE_PYTHON_PACKAGE] = "python3 finds the package tidemark",
		[TDM_PROBE_PYTHON_ALONE] =
			"python3 does not find the package tidemark: Python programs cannot report by themselves",
	};
	uint8_t python = d->setup->probe.python;
	tdm_doctor_look(d, "python3");
	tdm_doctor_say(d, python == TDM_PROBE_PYTHON_PACKAGE ? OK : INFO, "%s", texts[python]);
	if (python == TDM_PROBE_PYTHON_ALONE)
		tdm_doctor_advise(d, NULL, "install it where python3 looks, or set PYTHONPATH");
}

/* Whether the preload for tt-metal is there and can be loaded. */
void tdm_doctor_library_preload(struct tdm_doctor *d)
{
	if (d->preload.path == NULL)
		return;
	tdm_doctor_look(d, "%s", d->preload.looked);
	if (d->preload.reason[0] == '\0') {
		tdm_doctor_say(d, OK, "the preload for tt-metal is there: %s", d->preload.path);
		return;
	}
	tdm_doctor_say(d, WARNING, "the preload for tt-metal%s%s %s", d->preload.path[0] != '\0' ? ", " : "",
		d->preload.path, d->preload.reason);
	tdm_doctor_advise(d, NULL, "programs that use tt-metal are not seen buffer by buffer: %s", d->preload.remedy);
}

/* The time stamp counter, which times births and events. */
void tdm_doctor_system_clock(struct tdm_doctor *d)
{
	const struct tdm_probe *probe = &d->setup->probe;
	if (!probe->has_tsc) {
		tdm_doctor_look(d, "the processor");
		tdm_doctor_say(d, OK, "the counter is steady by its architecture");
		return;
	}
	tdm_doctor_look(d, "%s/cpuinfo", probe->places.proc);
	if (probe->tsc_err != 0) {
		tdm_doctor_say(d, INFO, "cannot tell whether the time stamp counter is steady: %s",
			tdm_err_text(probe->tsc_err));
	} else if (probe->tsc_is_constant && probe->tsc_is_nonstop) {
		tdm_doctor_say(d, OK, "the time stamp counter is constant and does not stop");
	} else {
		tdm_doctor_say(d, WARNING, "the processor does not promise a steady time stamp counter (%s%s%s)",
			probe->tsc_is_constant ? "" : "no constant_tsc",
			probe->tsc_is_constant || probe->tsc_is_nonstop ? "" : ", ",
			probe->tsc_is_nonstop ? "" : "no nonstop_tsc");
		tdm_doctor_advise(d, NULL, "ages and times of events may be wrong; sums and peaks are not affected");
	}
}

/* The barrier that lets the library move a device from one thread to another. */
void tdm_doctor_system_membarrier(struct tdm_doctor *d)
{
	tdm_doctor_look(d, "membarrier(2)");
	if (d->setup->probe.has_membarrier) {
		tdm_doctor_say(d, OK, "Linux offers expedited barriers: a single thread reports without a lock");
		return;
	}
	tdm_doctor_say(d, INFO,
		"no expedited barriers: the library takes a lock at every report, which is slower but just as exact");
	tdm_doctor_advise(d, NULL, "this is a Linux before 4.14, or a container whose filter refuses the call");
}

/* Whether this runs in a container. */
void tdm_doctor_system_container(struct tdm_doctor *d)
{
	tdm_doctor_look(d, "%s/self/status", d->setup->probe.places.proc);
	if (!d->setup->probe.in_container) {
		tdm_doctor_say(d, OK, "not in a container, as far as can be seen");
		return;
	}
	tdm_doctor_say(
		d, INFO, "in a container: programs outside of it are seen only where /dev/shm and the pids are shared");
	tdm_doctor_advise(d, NULL, "start it with --ipc=host and --pid=host to see the whole machine");
}

/* What the terminal can show. */
void tdm_doctor_system_terminal(struct tdm_doctor *d)
{
	const char *type = tdm_doctor_variable(d, "TERM");
	char shown[40];
	tdm_doctor_look(d, "TERM, LC_ALL, NO_COLOR");
	tdm_str_shown(tdm_str_of(type != NULL && type[0] != '\0' ? type : "unset"), shown, sizeof shown);
	tdm_doctor_say(d, d->term.utf8 ? OK : INFO, "TERM is %s; characters are %sUTF-8; %s colour", shown,
		d->term.utf8 ? "" : "not ", d->term.colour ? "with" : "without");
	if (!d->term.utf8)
		tdm_doctor_advise(d, "export LC_ALL=C.UTF-8", "bars and names outside ASCII show as '#' and '?'");
}
