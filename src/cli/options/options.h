/*
 * Functions that take option values, and options shared by several commands. Each row in a command's table names the
 * type of the request, and the member that gets the value:
 *
 *     { "limit", 'n', "N", "print at most N rows", TDM_TAKE_NUMBER(struct request, limit, 1, 0) },
 *
 * A member of the wrong type does not compile. A number's range is part of its row; a maximum of 0 means no maximum.
 */
#ifndef TDM_CLI_OPTIONS_H
#define TDM_CLI_OPTIONS_H

#include "cli/options/cmd.h"
#include "live/join/pick.h"

enum { TDM_LIST_MAX = 1024, TDM_REFRESH_MIN_MS = 100, TDM_REFRESH_MAX_MS = 86400000, TDM_REFRESH_DEFAULT_MS = 1000 };

/* Processes to show; an empty list means all. */
struct tdm_pids {
	int32_t list[TDM_LIST_MAX];
	size_t count;
};

/* Values of a repeatable option. */
struct tdm_texts {
	const char *list[TDM_LIST_MAX + 1]; /* ends with NULL */
	size_t count;
};

tdm_take tdm_take_flag, tdm_take_text, tdm_take_texts, tdm_take_number, tdm_take_u32, tdm_take_bytes, tdm_take_duration,
	tdm_take_choice, tdm_take_pid, tdm_take_pids, tdm_take_device, tdm_take_device_number, tdm_take_kind,
	tdm_take_chart_path, tdm_take_chart_size, tdm_take_chart_scale;

#define TDM_INTO(take_it, type, member, as) \
	.take = take_it, .offset = offsetof(type, member) + 0 * sizeof(1 ? &((type *)0)->member : (as *)0)
#define TDM_RANGE(least, most)       .min = (least), .max = (most)

#define TDM_TAKE_FLAG(type, member)  TDM_INTO(tdm_take_flag, type, member, bool)
#define TDM_TAKE_TEXT(type, member)  TDM_INTO(tdm_take_text, type, member, const char *)
#define TDM_TAKE_TEXTS(type, member) TDM_INTO(tdm_take_texts, type, member, struct tdm_texts)
#define TDM_TAKE_NUMBER(type, member, least, most) \
	TDM_INTO(tdm_take_number, type, member, uint64_t), TDM_RANGE(least, most)
#define TDM_TAKE_U32(type, member, least, most) TDM_INTO(tdm_take_u32, type, member, uint32_t), TDM_RANGE(least, most)
#define TDM_TAKE_BYTES(type, member)            TDM_INTO(tdm_take_bytes, type, member, uint64_t)
/* Nanoseconds, at least one millisecond. */
#define TDM_TAKE_DURATION(type, member)         TDM_INTO(tdm_take_duration, type, member, uint64_t)
/* The position of the word in `arg`, "this|that", counted from 1. */
#define TDM_TAKE_CHOICE(type, member)           TDM_INTO(tdm_take_choice, type, member, unsigned)

/* The default card of workloads and sources. */
#define TDM_CARD_DEFAULT                        "n150"

/* Rows shared by several tables, to be put between braces. */

#define TDM_OPT_JSON(type, member) \
	"json", 'j', NULL, "print JSON, with sizes in bytes and null for unknown values", TDM_TAKE_FLAG(type, member)
#define TDM_OPT_ASCII(type, member) "ascii", 0, NULL, "print ASCII characters only", TDM_TAKE_FLAG(type, member)
#define TDM_OPT_NO_COLOR(type, member) \
	"no-color", 'C', NULL, "do not use colour, as with NO_COLOR in the environment", TDM_TAKE_FLAG(type, member)
#define TDM_OPT_DIR(type, member) \
	"dir", 0, "DIR", "directory of the ledgers, instead of $TIDEMARK_DIR or /dev/shm", TDM_TAKE_TEXT(type, member)

/* For live views: choose a device, by any of its names, and a process. */
#define TDM_OPT_DEVICE(type, member)                                                                                   \
	"device", 'd', "DEV",                                                                                          \
		"show only this device: its number, /dev/tenstorrent/N, PCI address, chip id, or #N for its place in " \
		"the list, from 0",                                                                                    \
		TDM_INTO(tdm_take_device, type, member, const char *)
#define TDM_OPT_PID(type, member)                                                                  \
	"pid", 'p', "PID", "show only this process and the devices that it uses; may be repeated", \
		TDM_INTO(tdm_take_pids, type, member, struct tdm_pids)

/* For views of buffers: choose buffers. */
#define TDM_OPT_PIDS(type, member)                                    \
	"pid", 'p', "PID", "show only this process; may be repeated", \
		TDM_INTO(tdm_take_pids, type, member, struct tdm_pids)
#define TDM_OPT_KIND(type, member)                                                    \
	"kind", 'k', "KIND", "show only this kind of memory, such as dram, l1 or cb", \
		TDM_INTO(tdm_take_kind, type, member, struct tdm_buffer_filter)
#define TDM_OPT_DEVICE_NUMBER(type, member)                          \
	"device", 'd', "N", "show only the device with this number", \
		TDM_INTO(tdm_take_device_number, type, member, struct tdm_buffer_filter)

/* For charts. */
#define TDM_OPT_CHART_PATH(type, member)                                                  \
	"output", 'o', "FILE", "file for the chart; its name ends in .png, .svg or .pdf", \
		TDM_INTO(tdm_take_chart_path, type, member, const char *)
#define TDM_OPT_CHART_TITLE(type, member) "title", 't', "TEXT", "title of the chart", TDM_TAKE_TEXT(type, member)
#define TDM_OPT_CHART_SIZE(type, member)                                              \
	"size", 0, "WIDTHxHEIGHT", "size of the chart in pixels (default: 1200x675)", \
		TDM_INTO(tdm_take_chart_size, type, member, struct tdm_plot_options)
#define TDM_OPT_CHART_SCALE(type, member)                                          \
	"scale", 0, "NUMBER", "scale of the chart: 2 for high-resolution screens", \
		TDM_INTO(tdm_take_chart_scale, type, member, struct tdm_plot_options)

/* 0, or the exit code after a message if the device or a process named by the user is not in the picture. */
int tdm_check_pick(const struct tdm_cmd *cmd, const struct tdm_pick *pick, const struct tdm_picture *picture);

/* Prints where the chart was written, and reports missing fonts. */
void tdm_chart_said(const struct tdm_cmd *cmd, const char *path);

#endif
