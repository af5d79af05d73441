/* Every buffer of a process, or of all that use a device: read when they are asked for. */
#include "live/live_parts.h"
#include "base/err.h"
#include "registry/registry.h"
#include "sources/ledger_event.h"
#include "sources/ledger_source.h"

#include <errno.h>
#include <stdlib.h>

/* Which ledgers are read, and of each which device; UINT32_MAX: all. */
struct wanted {
	const char **paths; /* ends with NULL */
	size_t *items;
	size_t count;
	uint32_t device;
};

/* Whether an event is of the device that is wanted. */
static bool is_wanted(const struct tdm_live *live, const struct wanted *wanted, const struct tdm_event *event)
{
	if (wanted->device == UINT32_MAX || event->process >= wanted->count)
		return true;
	if (event->op != TDM_OP_DEVICE && event->op != TDM_OP_ALLOC && event->op != TDM_OP_USAGE)
		return true;
	size_t i = wanted->items[event->process];
	const struct tdm_watched *item = live->ledgers.items[i];
	for (size_t d = 0; d < tdm_watched_device_count(item); d++) {
		uint32_t number;
		if (live->item_devices[i][d] == wanted->device &&
			tdm_ledger_device_number(tdm_watched_device(item, d), &number) && number == event->device)
			return true;
	}
	return false;
}

static int read_all(struct tdm_live *live, const struct wanted *wanted, struct tdm_registry *reg,
	struct tdm_source *source, struct tdm_diag *diag)
{
	struct tdm_event event;
	int origin = tdm_registry_origin(reg, source->ops->name, 1), got;
	if (origin < 0)
		return tdm_diag_set(diag, origin, 0, 0, "%s", tdm_err_text(origin));
	while ((got = tdm_source_next(source, &event, diag)) != 0) {
		if (got < 0)
			return got;
		int err = is_wanted(live, wanted, &event) ? tdm_registry_apply(reg, (unsigned)origin, &event) : 0;
		if (err == -ENOMEM)
			return tdm_diag_set(diag, err, 0, 0, "out of memory");
	}
	const struct tdm_ledger_problem *problem = tdm_ledger_source_problem(source, 0);
	if (problem != NULL && wanted->count == 1) /* the only ledger there is */
		return tdm_diag_set(diag, problem->err, 0, 0, "%s: %s", problem->path, problem->text);
	return 0;
}

static struct tdm_snapshot *take(struct tdm_live *live, const struct wanted *wanted, struct tdm_diag *diag)
{
	const struct tdm_ledger_query query = { .paths = wanted->paths };
	struct tdm_snapshot *snapshot = NULL;
	struct tdm_source *source = tdm_ledger_source_open(&query, diag);
	struct tdm_registry *reg = source != NULL ? tdm_registry_new() : NULL;
	if (source != NULL && reg == NULL)
		tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	if (reg != NULL && read_all(live, wanted, reg, source, diag) == 0) {
		snapshot = tdm_registry_snapshot(reg, TDM_SNAPSHOT_BUFFERS);
		if (snapshot == NULL)
			tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	}
	tdm_registry_free(reg);
	tdm_source_close(source);
	return snapshot;
}

struct tdm_snapshot *tdm_live_process(struct tdm_live *live, uint64_t handle, struct tdm_diag *diag)
{
	for (size_t i = 0; i < live->ledgers.count; i++) {
		const struct tdm_watched *item = live->ledgers.items[i];
		if (!item->is_known || item->handle != handle)
			continue;
		const char *paths[] = { item->path, NULL };
		return take(live, &(struct wanted){ paths, &i, 1, UINT32_MAX }, diag);
	}
	tdm_diag_set(diag, -ENOENT, 0, 0, "the process has no ledger: its buffers are not known");
	return NULL;
}

static bool is_on(const struct tdm_live *live, size_t i, size_t device)
{
	const struct tdm_watched *item = live->ledgers.items[i];
	for (size_t d = 0; item->is_known && d < tdm_watched_device_count(item); d++)
		if (live->item_process[i] != UINT32_MAX && live->item_devices[i][d] == device)
			return true;
	return false;
}

struct tdm_snapshot *tdm_live_device(struct tdm_live *live, size_t device, struct tdm_diag *diag)
{
	struct tdm_snapshot *snapshot = NULL;
	struct wanted wanted = { .device = (uint32_t)device };
	if (device >= live->overview.device_count) {
		tdm_diag_set(diag, -ENODEV, 0, 0, "there is no such device");
		return NULL;
	}
	wanted.paths = calloc(live->ledgers.count + 1, sizeof *wanted.paths);
	wanted.items = calloc(live->ledgers.count + 1, sizeof *wanted.items);
	for (size_t i = 0; wanted.paths != NULL && wanted.items != NULL && i < live->ledgers.count; i++)
		if (is_on(live, i, device)) {
			wanted.items[wanted.count] = i;
			wanted.paths[wanted.count++] = live->ledgers.items[i]->path;
		}
	if (wanted.paths == NULL || wanted.items == NULL)
		tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	else if (wanted.count == 0)
		tdm_diag_set(
			diag, -ENOENT, 0, 0, "no process with a ledger uses the device: its buffers are not known");
	else
		snapshot = take(live, &wanted, diag);
	free(wanted.paths);
	free(wanted.items);
	return snapshot;
}
