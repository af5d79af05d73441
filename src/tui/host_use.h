/*
 * What processes take of the host: state, CPU and resident memory. /proc is read only for lines that are shown or
 * sorted by it, at most once a second for each process, and seldom enough to cost a hundredth of the time.
 */
#ifndef TDM_TUI_HOST_USE_H
#define TDM_TUI_HOST_USE_H

#include "base/map.h"
#include "tui/pace.h"
#include "tui/proc_rows.h"

struct tdm_host_use {
	uint64_t handle; /* of the process */
	uint64_t read_ns;
	bool is_known;
	struct tdm_proc_use use;
	uint64_t cpu_permille; /* of one core, between the last two readings; TDM_BYTES_UNKNOWN before */
};

/* All zero to begin. */
struct tdm_host_uses {
	struct tdm_host_use *list;
	size_t count, cap;
	struct tdm_map by_handle;
	struct tdm_pace pace;
	uint64_t turn; /* which line is read next, if there are too many for once */
};

/* Reads what is due of these lines at this time of the monotonic clock. */
void tdm_host_uses_read(struct tdm_host_uses *uses, const struct tdm_provider *provider,
	const struct tdm_picture *picture, const struct tdm_proc_row *rows, size_t count, uint64_t now_ns);
/* NULL: unknown. Borrowed until the next reading. */
const struct tdm_host_use *tdm_host_uses_find(const struct tdm_host_uses *uses, uint64_t handle);
void tdm_host_uses_done(struct tdm_host_uses *uses);

#endif
