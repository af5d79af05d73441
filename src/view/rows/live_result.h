/* Results about the memory of processes, for `dump`, `run` and `leaks`. They are made from a picture only, never
 * directly from a source. */
#ifndef TDM_VIEW_LIVE_RESULT_H
#define TDM_VIEW_LIVE_RESULT_H

#include "analyze/live/device_map.h"
#include "analyze/live/live_buffers.h"
#include "base/json.h"
#include "base/term.h"
#include "live/join/picture.h"
#include "model/result/finding.h"

struct tdm_block;
struct tdm_leaks_result;

/* What to show. Borrowed until the result is freed, including everything it points to. */
struct tdm_live_report {
	const struct tdm_picture *picture;
	struct tdm_term term;
	const char *dir;
	struct tdm_buffer_filter filter;
	enum tdm_buffer_sort sort;
	uint64_t limit; /* maximum number of buffers of each process, or of sites; 0 for all */
	uint64_t skip;  /* number of buffers to skip at the start of each process's list */
	bool by_user;   /* show only processes of `uid`, and no unreadable files */
	uint32_t uid;
	bool stacks;
	bool is_quick; /* leave out the call stacks of findings, which take long to resolve */
	bool map;      /* show where buffers are: in text the map replaces the tables, JSON contains both */
	/* For leaks: */
	const struct tdm_findings *findings;
	const struct tdm_leaks_result *leaks;
	uint64_t interval_ns; /* requested interval between pictures; 0: there was only one picture */
	uint64_t min_bytes;   /* leave out smaller sites */
	bool all;             /* also show steady sites */
};

/* Every process with its figures and its live buffers. */
void tdm_dump_show(struct tdm_block *top, const struct tdm_live_report *report);

enum { TDM_RUN_LEFT_MAX = 16 };

/* How a program ended, and how long it ran. */
struct tdm_run_end {
	char *const *command; /* words of the command line; ends with NULL */
	int exit_code;        /* exit status as a shell reports it */
	int signal;           /* signal that killed the program; 0 if none did */
	uint64_t took_ns;
	uint64_t still_running; /* number of the program's processes still running */
	/* processes started by the program are still running and have no ledger; `left` may be incomplete */
	bool has_left;
	int32_t left[TDM_RUN_LEFT_MAX]; /* pids of the first of these processes, without their children */
	size_t left_count;
	char left_names[TDM_RUN_LEFT_MAX * (TDM_COMM_CAP + 16)]; /* their names: "12 (sh), 13 (python3)" */
	/* the preload for tt-metal was in the program's environment */
	bool is_preloaded;
	const char *program; /* the executed file (for a script, the interpreter), or NULL */
	const char *bar;     /* why the preload cannot work in the program (words after its name); NULL if it can */
	const char *unseen;  /* why the program or a child could not be tracked; NULL if all were */
};

/* For each process: peaks, live memory, and memory never freed. */
void tdm_run_show(struct tdm_block *top, const struct tdm_live_report *report, const struct tdm_run_end *end);

/* The findings about possible leaks. */
void tdm_leaks_show(struct tdm_block *top, const struct tdm_live_report *report);
/* tdm_leaks_chosen(): the number of chosen findings with this verdict. tdm_leaks_damaged(): the number of damaged
 * ledgers, whose leaks may be missing. */
size_t tdm_leaks_chosen(const struct tdm_live_report *report, enum tdm_severity verdict);
size_t tdm_leaks_damaged(const struct tdm_live_report *report);

/* ---- shared by these views ---- */

/* How long ago something happened; TDM_BYTES_UNKNOWN: unknown. */
static inline uint64_t tdm_live_age(const struct tdm_picture *picture, uint64_t then_ns)
{
	return then_ns != 0 && then_ns <= picture->time_ns ? picture->time_ns - then_ns : TDM_BYTES_UNKNOWN;
}

/* Whether the process is "running" or "ended"; NULL if unknown. */
const char *tdm_live_state(uint8_t life);

/* Reports that there are no processes to show, and why. */
void tdm_live_show_none(struct tdm_block *in, const struct tdm_live_report *report);
/* Shows the ledgers that could not be read, with the reasons. */
void tdm_live_show_unread(struct tdm_block *in, const struct tdm_live_report *report);
size_t tdm_live_unread_count(const struct tdm_live_report *report);

/* Shows the findings about a process, and the region sizes that it needed. */
void tdm_live_show_findings(
	struct tdm_block *in, const struct tdm_live_report *report, uint32_t process, bool shows_fine);
void tdm_live_show_sizes(struct tdm_block *in, const struct tdm_picture *picture, uint32_t process);

/* The members "statistics", "traces", "open", "traces_lost" and "trace_hazards_lost". `holding` may be NULL. */
struct tdm_value tdm_runtime_members(
	const struct tdm_field *field, const struct tdm_picture *picture, const struct tdm_holding *holding);

/* ---- maps: where buffers are on each device (map_result.c) ---- */

/*
 * The running processes on a device share its memory, so they share one map. An ended process has its own map, because
 * its buffers are no longer on the device.
 */

/* The maps that the report's filter chooses. Only device and process are set; the maps themselves are not made yet.
 * Owned by the caller (free()). */
struct tdm_device_map *tdm_map_scenes(const struct tdm_live_report *report, size_t *count);

/* Shows all maps, as the list "map". The report's `limit` is the number of holes listed for each region. */
void tdm_map_show_all(struct tdm_block *top, const struct tdm_live_report *report);
/* Shows one map, borrowed until the result is freed. */
void tdm_map_show(struct tdm_block *list, const struct tdm_live_report *report, const struct tdm_device_map *map);

/* Draws the L1 map of one core, with high addresses at the top. Heights grow with the square root of the size, so that
 * small zones stay visible. */
void tdm_l1_text(struct tdm_buf *out, const struct tdm_l1_map *map, const struct tdm_term *term);

#endif
