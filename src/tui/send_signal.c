#include "tui/send_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STAT_CAP = 1024, START_TIME_FIELD = 22 };

uint64_t tdm_signal_start_time(int32_t pid)
{
	char path[32], text[STAT_CAP];
	snprintf(path, sizeof path, "/proc/%" PRId32 "/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t len = read(fd, text, sizeof text - 1);
	close(fd);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	/* The name may contain anything; after its closing parenthesis come plain fields, from the third on. */
	const char *at = strrchr(text, ')');
	for (int field = 2; at != NULL && field < START_TIME_FIELD; field++) {
		at = strchr(at, ' ');
		at = at != NULL ? at + 1 : NULL;
	}
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}

static bool add_target(struct tdm_app *app, const struct tdm_picture_process *process)
{
	if (process == NULL || process->pid <= 1 || process->life == TDM_LIFE_ENDED || process->is_claimed)
		return false;
	struct tdm_target *target = &app->targets[app->target_count++];
	*target = (struct tdm_target){ .pid = process->pid, .start_time = process->start_time };
	if (target->start_time == 0) /* unknown: take the process that has the pid now */
		target->start_time = tdm_signal_start_time(process->pid);
	snprintf(target->name, sizeof target->name, "%s", process->comm);
	return true;
}

bool tdm_signal_aim(struct tdm_app *app)
{
	app->target_count = 0;
	for (size_t i = 0; i < app->tag_count; i++)
		add_target(app, tdm_app_find_process(app, app->tags[i]));
	if (app->tag_count == 0) {
		const struct tdm_picture_process *process = NULL;
		if (app->screen == TDM_SCREEN_PROCESS)
			process = tdm_app_chosen_process(app);
		else if (tdm_app_chosen_row(app) != NULL && !app->devices_have_keys)
			process = tdm_app_find_process(app, tdm_app_chosen_row(app)->handle);
		add_target(app, process);
	}
	if (app->target_count == 0)
		tdm_app_say(app, "no process to signal: choose or tag a running one");
	return app->target_count != 0;
}

static bool is_same(const struct tdm_target *target)
{
	return target->start_time != 0 && tdm_signal_start_time(target->pid) == target->start_time;
}

int tdm_signal_send(const struct tdm_target *target, int signal_number)
{
	if (target->pid <= 1)
		return -EINVAL;
	int fd = (int)syscall(SYS_pidfd_open, target->pid, 0U);
	if (fd < 0 && errno == ENOSYS) /* a kernel without pidfds */
		return !is_same(target) ? -ESRCH : kill(target->pid, signal_number) != 0 ? -errno : 0;
	if (fd < 0)
		return -errno;
	int err = 0;
	if (!is_same(target))
		err = -ESRCH;
	else if (syscall(SYS_pidfd_send_signal, fd, signal_number, NULL, 0U) != 0)
		err = -errno;
	close(fd);
	return err;
}
