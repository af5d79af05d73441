/*
 * Shared by the files of the reader, and by writer_resume.c, which checks the ledger that it continues.
 *
 *   reader_file.c  the picture: the file, the header, liveness, clocks, devices
 *   reader_live.c  the parts read on demand: buffers, events, phases, reports of the runtime, blobs
 */
#ifndef TDM_LEDGER_READER_PARTS_H
#define TDM_LEDGER_READER_PARTS_H

#include "base/map.h"
#include "base/str.h"
#include "ledger/read/reader.h"

/* The areas of a device. Each has been checked to lie inside the file and not to overlap any other. */
struct tdm_ledger_place {
	uint64_t offset; /* offset of the device's page */
	uint32_t slot_segments;
	uint32_t slot_high; /* slots in use, at most the number of slots in the segments */
	uint64_t slot_offset[TDM_LEDGER_SEGMENTS];
	uint64_t ring_offset;
	uint64_t ring_records;   /* 0 if the ring cannot be read */
	uint64_t runtime_offset; /* 0 if the runtime's reports cannot be read */
	uint64_t said_runtime;   /* that offset, as stored in the page */
	uint64_t described;      /* number of the description in the view */
	uint64_t refused;        /* invalid counters and regions in the copy of the page */
	uint64_t refused_slots;  /* invalid slots in the last walk */
	uint64_t refused_told;   /* invalid parts of the runtime's reports when last read */
	bool rough;              /* the view's counters may be from several calls */
};

struct tdm_ledger_area {
	uint64_t offset, bytes;
};

struct tdm_ledger_kept {
	const char *content;
	uint32_t kind, bytes;
};

struct tdm_ledger {
	int fd;
	bool own; /* this process is the writer, so the descriptor is never closed */
	char *path;
	uint64_t limit; /* offsets must be below this: the smaller of the header's size and the file's */
	uint64_t refused, refused_areas;     /* in total, and in the last full check of the areas */
	uint64_t refused_notes;              /* invalid notes when last read */
	struct tdm_ledger_header header;     /* the picture's header, with accepted segments only */
	struct tdm_ledger_header said;       /* the header as of the last full check */
	struct tdm_ledger_clock first, last; /* two clock readings; valid if has_clocks */
	bool has_clocks;
	/* the readings are far enough apart, and are repeated only when the header has new ones */
	bool clocks_settled;
	uint32_t clocks_age;           /* written since the machine booted; valid if asked_boot */
	bool asked_boot, is_this_boot; /* written since the machine was booted? if asked_boot */
	uint32_t file_uid;             /* owner of the file */
	size_t device_count;
	struct tdm_ledger_view *views;
	struct tdm_ledger_place *places;
	struct tdm_ledger_area *areas; /* areas accepted so far in a full check, sorted by offset */
	size_t area_count, area_cap;
	/* blobs already read: */
	struct tdm_map by_number;
	struct tdm_ledger_kept *kept;
	size_t kept_count, kept_cap;
	uint64_t kept_bytes;
	uint32_t *modules; /* blob numbers of the modules */
	size_t module_count, module_cap;
	uint64_t modules_seen; /* end offset of the part of the blob area already searched for modules */
};

/*
 * Reads exactly `bytes` bytes at `offset`, within ledger->limit. 0, -errno, or TDM_ECORRUPT if the file is too short.
 */
int tdm_ledger_read(const struct tdm_ledger *ledger, uint64_t offset, void *dst, size_t bytes);

/* Whether [offset, offset + bytes) lies after the header and inside the file. */
bool tdm_ledger_is_inside(const struct tdm_ledger *ledger, uint64_t offset, uint64_t bytes);

/* Reads the file's length again. 0, -errno or TDM_ECORRUPT. */
int tdm_ledger_measure(struct tdm_ledger *ledger);

int tdm_ledger_seq(const struct tdm_ledger *ledger, uint64_t device_offset, uint64_t *seq);

void tdm_ledger_blobs_done(struct tdm_ledger *ledger);

#endif
