/*
 * Process rows and their columns. The process tables of `top` and `status`, and the JSON of `status`, contain some of
 * these columns.
 *
 * In the flat form, each row is a process, with its memory on all devices shown. In the tree form, each device has a
 * row, followed by a row for each process that uses the device. `status` has a row for each device of each process.
 * Additional rows may follow: memory used by no listed process ("unattributed"), and bytes still recorded for ended
 * processes but no longer on a device.
 */
#ifndef TDM_VIEW_PROCESS_ROWS_H
#define TDM_VIEW_PROCESS_ROWS_H

#include "analyze/leaks/growth.h"
#include "live/join/pick.h"
#include "model/result/columns.h"
#include "view/rows/buffer_rows.h"

struct tdm_proc_row;

/*
 * Host resources of processes: state, CPU and resident memory. /proc is read only for lines that are visible or needed
 * for sorting: at most once a second per process, and seldom enough to use no more than a hundredth of the time.
 */
struct tdm_host_use {
	uint64_t handle; /* handle of the process */
	uint64_t read_ns;
	bool is_known;
	struct tdm_proc_use use;
	uint64_t cpu_permille; /* share of one core between two readings; TDM_BYTES_UNKNOWN until the second reading */
};

/* Zeroed to begin with. */
struct tdm_host_uses {
	struct tdm_host_use *list;
	size_t count, cap;
	struct tdm_map by_handle;
	struct tdm_pace pace;
	uint64_t turn; /* next line to read, if there are too many for one call */
};

/* Of the processes in these lines, reads those that are due at `now_ns` (monotonic clock). */
void tdm_host_uses_read(struct tdm_host_uses *uses, const struct tdm_provider *provider,
	const struct tdm_proc_row *rows, size_t count, uint64_t now_ns);
/* NULL if unknown. Borrowed until the next reading. */
const struct tdm_host_use *tdm_host_uses_find(const struct tdm_host_uses *uses, uint64_t handle);
void tdm_host_uses_done(struct tdm_host_uses *uses);

/* id, priority (0 is hidden last), key that sorts by the column */
#define TDM_PROC_COLUMN_LIST(X) \
	X(PID, 0, 'P')          \
	X(USER, 5, 'U')         \
	X(DEVICE, 3, 'D')       \
	X(DRAM, 1, 'R')         \
	X(L1, 2, 'L')           \
	X(L1_SMALL, 16, 0)      \
	X(TRACE, 15, 0)         \
	X(CB, 7, 'B')           \
	X(OTHER, 17, 0)         \
	X(MEMORY, 8, 'M')       \
	X(PEAK, 11, 'K')        \
	X(GROWTH, 9, 'G')       \
	X(AGE, 4, 'T')          \
	X(STATE, 6, 'A')        \
	X(CPU, 10, 'X')         \
	X(RESIDENT, 12, 'E')    \
	X(SOURCE, 13, 'S')      \
	X(PHASE, 14, 'H')       \
	X(COMMAND, 0, 'C')

enum tdm_proc_column {
#define X(id, priority, letter) TDM_PROC_##id,
	TDM_PROC_COLUMN_LIST(X)
#undef X
		TDM_PROC_COLUMN_COUNT
};

/* The columns of enum tdm_proc_column, then the columns found only in JSON. */
extern const struct tdm_column tdm_proc_columns[];
/* The key that the user presses to sort by a column; 0 if there is none. */
char tdm_proc_letter(enum tdm_proc_column column);

enum tdm_proc_row_type { TDM_ROW_PROCESS, TDM_ROW_DEVICE, TDM_ROW_UNATTRIBUTED, TDM_ROW_STALE };

struct tdm_proc_row {
	uint8_t type;                          /* enum tdm_proc_row_type */
	bool is_child, is_last;                /* position in the tree */
	bool peak_is_sum;                      /* the peak is summed over several devices, so it is an upper bound */
	bool rises;                            /* memory use rises steadily, perhaps because of a leak */
	uint32_t process;                      /* index of the process; UINT32_MAX if there is none */
	uint32_t device;                       /* index of the device; UINT32_MAX if there are several or none */
	uint64_t handle;                       /* 0 if there is no process */
	const struct tdm_picture_process *who; /* this and the next two members may be NULL */
	const struct tdm_picture_device *at;
	const struct tdm_holding *holding;                  /* set if the row is about a single holding */
	uint64_t used[TDM_KIND_COUNT], other, memory, peak; /* other: sum of the kinds without a column */
	uint32_t estimated;                                 /* bit n is set if the bytes of kind n are an estimate */
	uint32_t sources;                                   /* bit n is set for source n of enum tdm_from */
	uint64_t age_ns;                                    /* UINT64_MAX if unknown */
	int64_t growth;                                     /* bytes per minute, or TDM_GROWTH_UNKNOWN */
	struct tdm_value key;                               /* the cell to sort by, valid only during sorting */
};

enum tdm_proc_form { TDM_PROC_FLAT, TDM_PROC_TREE, TDM_PROC_EACH /* one row for each device that a process uses */ };

struct tdm_proc_view {
	enum tdm_proc_form form;
	enum tdm_proc_column sort;
	bool reversed;
	bool with_boards;   /* also list boards that a process has open along with other devices */
	const char *filter; /* string to search for; NULL or "" for all */
	struct tdm_pick pick;
	uint64_t device;                 /* key of the only device to show; 0 for all */
	const struct tdm_growth *growth; /* NULL if unknown, like the next member */
	const struct tdm_host_uses *hosts;
};

/* Zeroed to begin with. */
struct tdm_proc_rows {
	struct tdm_proc_row *rows;
	size_t count, cap;
	size_t processes; /* number of rows for processes, which come first, in the form TDM_PROC_EACH */
	const struct tdm_picture *picture;
	struct tdm_proc_view view;
};

void tdm_proc_rows_build(
	struct tdm_proc_rows *rows, const struct tdm_picture *picture, const struct tdm_proc_view *view);
void tdm_proc_rows_done(struct tdm_proc_rows *rows);

/* Builds the same rows, but owned by a result, which releases them. */
struct tdm_result;
struct tdm_proc_rows *tdm_proc_rows_kept(
	struct tdm_result *result, const struct tdm_picture *picture, const struct tdm_proc_view *view);

/* The rows as a table. The highest-priority columns are shown, as many as fit on a terminal `cols` characters wide
 * together with a command; if `cols` is 0, all columns and whole commands are shown. `hidden` has a flag for each
 * column; NULL hides none. */
struct tdm_table tdm_proc_rows_table(const struct tdm_proc_rows *rows, size_t cols, const bool *hidden);

/* Whether TDM_PROC_EACH shows a row for a holding. An open board is not shown if the process uses other devices. */
bool tdm_proc_shows_holding(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t holding);

/* Searches the command, name, user, phase and pid of a process. An empty `part` matches all. */
bool tdm_proc_matches(const struct tdm_picture_process *process, const char *part);

/* Whether the values of a column are read from the host: state, CPU, resident memory. */
static inline bool tdm_proc_is_host(enum tdm_proc_column column)
{
	return column >= TDM_PROC_STATE && column <= TDM_PROC_RESIDENT;
}

/* Adds amounts, ignoring unknown ones. */
uint64_t tdm_proc_sum(uint64_t a, uint64_t b);

/* "0", "0-3", "0,2,5": the devices that a process uses. Returns dst. */
char *tdm_proc_devices(
	const struct tdm_picture *picture, const struct tdm_picture_process *process, char *dst, size_t cap);
/* "ledger", "metal_shm", "ledger+driver": the names of a set of sources. Returns dst. */
char *tdm_proc_sources(uint32_t sources, char *dst, size_t cap);

#endif
