#include "tui/match.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "state/pick.h"

bool tdm_match_device(const struct tdm_picture *picture, size_t device, const char *wanted)
{
	return wanted == NULL || wanted[0] == '\0' || tdm_pick_is(&picture->devices[device], wanted);
}

bool tdm_match_text(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

bool tdm_match_process(const struct tdm_picture_process *process, const char *part)
{
	char pid[16];
	snprintf(pid, sizeof pid, "%" PRId32, process->pid);
	return tdm_match_text(process->command, part) || tdm_match_text(process->comm, part) ||
	       tdm_match_text(process->user, part) || tdm_match_text(process->phase, part) || strstr(pid, part) != NULL;
}
