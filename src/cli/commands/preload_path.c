#include "cli/commands/preload_path.h"
#include "input/elf/elf_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Folders relative to the command: in the package, after `make install`, and in the build tree; then the configured
 * one. */
static const char *const folders[] = { "../lib", TDM_PACKAGE_LIBDIR, "../lib64", "../src/metal", ".", TDM_LIBDIR };

/* LD_PRELOAD accepts both as separators. */
static const char separators[] = ": ";

static bool find_beside(struct tdm_preload *preload)
{
	char own[PATH_MAX], path[2 * PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
	own[len > 0 ? len : 0] = '\0';
	char *slash = strrchr(own, '/');
	if (slash == NULL)
		return false;
	*slash = '\0';
	snprintf(preload->looked, sizeof preload->looked, "%s, " TDM_LIBDIR, own);
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		bool is_full = folders[i][0] == '/';
		snprintf(path, sizeof path, "%s%s%s/" TDM_PRELOAD_NAME, is_full ? "" : own, is_full ? "" : "/",
			folders[i]);
		if (realpath(path, preload->path) != NULL)
			return true;
	}
	preload->path[0] = '\0';
	return false;
}

bool tdm_preload_find(struct tdm_preload *preload, const struct tdm_cmd *cmd)
{
	const char *named = secure_getenv(TDM_PRELOAD_VARIABLE);
	struct tdm_diag diag = { 0 };
	*preload = (struct tdm_preload){ .is_named = named != NULL && named[0] != '\0' };
	if (preload->is_named) {
		/* Children may have another working directory. */
		if (realpath(named, preload->path) == NULL)
			snprintf(preload->path, sizeof preload->path, "%s", named);
		snprintf(preload->looked, sizeof preload->looked, TDM_PRELOAD_VARIABLE);
	} else if (!find_beside(preload)) {
		snprintf(preload->reason, sizeof preload->reason, "is not there");
	}
	if (preload->reason[0] == '\0' && tdm_program_takes(preload->path, &diag) != 0)
		snprintf(preload->reason, sizeof preload->reason, "cannot be loaded: %.200s", diag.text);
	else if (preload->path[strcspn(preload->path, ": \n")] != '\0')
		snprintf(preload->reason, sizeof preload->reason,
			"cannot be preloaded: its path has a blank or a colon, which separate files in LD_PRELOAD, or "
			"the end of a line");
	if (preload->reason[0] != '\0' && cmd != NULL)
		tdm_cmd_error(cmd,
			"%s %s: programs that use tt-metal are not seen buffer by buffer; " TDM_PRELOAD_REMEDY
			", or use --no-preload if that is what you want",
			preload->path[0] != '\0' ? preload->path : TDM_PRELOAD_NAME, preload->reason);
	return preload->reason[0] == '\0';
}

void tdm_preload_join(const char *old, const char *path, struct tdm_buf *out)
{
	size_t start = out->len;
	char last = '\0'; /* separator before the next entry */
	if (path != NULL)
		tdm_buf_puts(out, path);
	for (const char *at = old != NULL ? old : ""; *at != '\0';) {
		size_t len = strcspn(at, separators);
		struct tdm_str file = tdm_last_part((struct tdm_str){ at, len }, '/');
		if (len != 0 && !tdm_str_is(file, TDM_PRELOAD_NAME)) {
			if (out->len != start)
				tdm_buf_putc(out, last != '\0' ? last : ':');
			tdm_buf_add(out, at, len);
		}
		at += len;
		last = len != 0 && *at != '\0' ? *at : last;
		at += *at != '\0';
	}
}
