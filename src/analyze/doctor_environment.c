/* Checks of the environment: Tidemark's own variables and their values, and the runtime's variables about memory
 * tracking. */
#include "analyze/doctor_checks.h"
#include "base/suggest.h"
#include "state/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_switch(const char *value)
{
	static const char *const words[] = { "0", "1", "on", "off" };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(value, words[i]) == 0)
			return true;
	return false;
}

static bool is_tracking(const char *value)
{
	return is_switch(value) || strcmp(value, "auto") == 0;
}

static bool is_number_up_to(const char *value, unsigned long max)
{
	char *end;
	if (value[0] < '0' || value[0] > '9')
		return false;
	unsigned long number = strtoul(value, &end, 10);
	return *end == '\0' && number <= max;
}

static bool is_depth(const char *value)
{
	return is_number_up_to(value, 64);
}

static bool is_unwinder(const char *value)
{
	return strcmp(value, "auto") == 0 || strcmp(value, "fp") == 0 || strcmp(value, "libunwind") == 0;
}

static bool is_path(const char *value)
{
	return value[0] == '/';
}

static const char relative[] = "each program resolves it from its own working directory";

static const struct {
	const char *name;
	bool (*is_valid)(const char *value);
	const char *expected;
	const char *effect; /* of any other value */
} variables[] = {
	{ "TIDEMARK", is_tracking, "1, 0 or auto", "whatever it says, tracking is on: only 0 and off turn it off" },
	{ "TIDEMARK_SOCKET", is_path, "the path of a socket, starting with /", relative },
	{ "TIDEMARK_DIR", is_path, "a directory, starting with /", relative },
	{ "TIDEMARK_KEEP", is_switch, "1 or 0", "whatever it says, ledgers are kept: only 0 and off mean no" },
	{ "TIDEMARK_MODE", tdm_setup_mode_is_valid, "permissions such as 0640",
		"only reading can be allowed to others (0640, 0644, 0604); anything else counts as 0600" },
	{ "TIDEMARK_RING", tdm_setup_ring_is_valid, "a number of events from 16 to 4194304", "it counts as 2048" },
	{ "TIDEMARK_STACKS", is_depth, "a number of frames up to 64",
		"a larger number counts as 64, anything else as 0" },
	{ "TIDEMARK_UNWIND", is_unwinder, "auto, fp or libunwind", "it counts as auto" },
	{ "TIDEMARK_SHM_DIR", is_path, "a directory, starting with /", relative },
	{ "TIDEMARK_SYSFS_ROOT", is_path, "a directory, starting with /", relative },
	{ "TIDEMARK_PROC_ROOT", is_path, "a directory, starting with /", relative },
	{ "TIDEMARK_DEV_ROOT", is_path, "a directory, starting with /", relative },
	{ "TIDEMARK_PRELOAD", is_path, "the path of libtidemark-metal.so, starting with /",
		"'run' and 'env' resolve it from the directory in which they are called" },
	{ "TIDEMARK_LIBRARY", is_path, "the path of libtidemark.so, starting with /", relative },
};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

static void check_variable(struct tdm_doctor *d, struct tdm_str name, const char *value, size_t *good)
{
	char shown[80], known[80];
	struct tdm_suggest suggest;
	const char *looked = tdm_doctor_look(d, "%s", tdm_str_shown(name, known, sizeof known));
	tdm_str_shown(tdm_str_of(value), shown, sizeof shown);
	tdm_suggest_init(&suggest, name);
	for (size_t i = 0; i < VARIABLES; i++) {
		tdm_suggest_offer(&suggest, variables[i].name);
		if (!tdm_str_is(name, variables[i].name))
			continue;
		if (value[0] == '\0' || variables[i].is_valid(value)) {
			++*good;
			return;
		}
		tdm_doctor_say(d, WARNING, "%s is '%s'; expected %s", looked, shown, variables[i].expected);
		tdm_doctor_advise(d, NULL, "correct it: %s", variables[i].effect);
		return;
	}
	tdm_doctor_say(d, WARNING, "%s is set, and nothing reads it%s%s%s", looked,
		suggest.best != NULL ? "; did you mean " : "", suggest.best != NULL ? suggest.best : "",
		suggest.best != NULL ? "?" : "");
	tdm_doctor_advise(d, tdm_doctor_command(d, "unset", looked), "correct the name, or unset it");
}

/* Variables that begin with TIDEMARK: the values of known ones, and misspelt names. */
void tdm_doctor_environment_tidemark(struct tdm_doctor *d)
{
	static const char prefix[] = "TIDEMARK";
	size_t good = 0, before = d->findings.count;
	for (size_t i = 0; d->environ != NULL && d->environ[i] != NULL; i++) {
		const char *entry = d->environ[i], *equals = strchr(entry, '=');
		if (equals == NULL || strncmp(entry, prefix, strlen(prefix)) != 0)
			continue;
		check_variable(d, (struct tdm_str){ entry, (size_t)(equals - entry) }, equals + 1, &good);
	}
	tdm_doctor_look(d, "variables TIDEMARK*");
	if (d->findings.count == before)
		tdm_doctor_say(d, OK, "%zu variable%s of Tidemark set, none wrong", good, good == 1 ? "" : "s");
}

/* Variables of the runtime. `nothing`: no public version of the runtime reads it. */
static const struct {
	const char *name;
	bool nothing;
	const char *what;
} others[] = {
	{ "TT_TRACK_ALLOCATIONS", true, "it is a name from design notes; TIDEMARK=1 turns tracking on" },
	{ "TT_ALLOC_SERVER_ENABLED", true, "it is a name from design notes; TIDEMARK=1 turns tracking on" },
	{ "TT_ALLOC_SERVER_SOCKET", true,
		"the path of the server's socket is fixed; TIDEMARK_SOCKET is for TIDEMARK=auto" },
	{ "TT_BUFFER_DEBUG_LOG", true, "it belongs to a patch; TIDEMARK=1 and 'tidemark dump' show buffers" },
	{ "TT_METAL_MEMORY_REPORT", true,
		"no version of the runtime is known to read it; 'tidemark run' prints a summary" },
	{ "TT_METAL_SHM_TIMING_ENABLED", true, "only an early branch of the runtime read it" },
	{ "TT_METAL_SHM_CB_TRACKING_ENABLED", true, "only a branch of the runtime read it" },
	{ "TT_ALLOC_STACK_TRACE", true, "only a demonstration client read it; TIDEMARK_STACKS=8 keeps call stacks" },
	{ "TT_METAL_SHM_VERBOSE", false,
		"the runtime logs every change of its shared memory; it mixes up kinds there" },
	{ "TT_VISIBLE_DEVICES", false, "programs see only some devices, with numbers of their own" },
};

/* Variables that people set for memory tracking, and what they do. */
void tdm_doctor_environment_runtime(struct tdm_doctor *d)
{
	const char *tracking = tdm_doctor_variable(d, "TT_ALLOC_TRACKING_ENABLED");
	size_t before = d->findings.count;
	tdm_doctor_look(d, "TT_ALLOC_TRACKING_ENABLED");
	if (tracking != NULL && strcmp(tracking, "1") == 0) {
		tdm_doctor_say(d, INFO,
			"TT_ALLOC_TRACKING_ENABLED=1 turns on libtidemark and instrumented runtimes; an unmodified "
			"tt-metal does not read it");
	} else if (tracking != NULL && strcmp(tracking, "0") != 0 && tracking[0] != '\0') {
		tdm_doctor_say(d, WARNING, "TT_ALLOC_TRACKING_ENABLED is set, but not to 1");
		tdm_doctor_advise(d, "export TT_ALLOC_TRACKING_ENABLED=1", "only the value 1 turns tracking on");
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		if (tdm_doctor_variable(d, others[i].name) == NULL)
			continue;
		tdm_doctor_look(d, "%s", others[i].name);
		tdm_doctor_say(d, others[i].nothing ? WARNING : INFO, "%s is set%s%s", others[i].name,
			others[i].nothing ? " and does nothing: " : ": ", others[i].what);
	}
	tdm_doctor_look(d, "variables TT_*");
	if (d->findings.count == before)
		tdm_doctor_say(d, OK, "no variable of the runtime that matters here is set");
}
