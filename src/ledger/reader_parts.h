/*
 * Shared by the files of the reader; only writer_resume.c, which checks what it goes on with, includes this, too.
 *
 * reader.c         the file, the header, liveness, clocks
 * reader_device.c  a device's page: its directory of areas, and counters of one committed call
 * reader_live.c    buffers, events, phases
 * reader_told.c    what the runtime said about a device, and notes of the process
 * reader_blobs.c   texts, stacks and modules, each read once
 * own_files.c      descriptors of the reading process's own ledgers
 */
#ifndef TDM_LEDGER_READER_PARTS_H
#define TDM_LEDGER_READER_PARTS_H

#include "base/map.h"
#include "base/str.h"
#include "ledger/reader.h"

/* The areas of a device. Each has been checked to be inside the file and not to overlap another one. */
struct tdm_ledger_place {
	uint64_t offset; /* of its page */
	uint32_t slot_segments;
	uint32_t slot_high; /* at most the number that the segments hold */
	uint64_t slot_offset[TDM_LEDGER_SEGMENTS];
	uint64_t ring_offset;
	uint64_t ring_records;   /* 0: there is no readable ring */
	uint64_t runtime_offset; /* 0: there is no readable area */
	uint64_t said_runtime;   /* the page's word for it */
	uint64_t described;      /* number of the description in the view */
	uint64_t refused;        /* invalid counters and regions in the copy of the page */
	uint64_t refused_slots;  /* invalid slots in the last walk */
	uint64_t refused_told;   /* invalid parts of what the runtime said, in the last reading */
	bool rough;              /* the counters in the view may be from several calls */
};

struct tdm_ledger_area {
	uint64_t offset, bytes;
};

/* The areas accepted so far in one picture. */
struct tdm_ledger_areas {
	struct tdm_ledger_area *list; /* sorted by offset */
	size_t count, cap;
};

struct tdm_ledger_kept {
	const char *content;
	uint32_t kind, bytes;
};

struct tdm_ledger {
	int fd;
	bool own; /* written by this process: its descriptor is never closed */
	char *path;
	uint64_t limit; /* bytes that may be referred to: the lesser of the header's size and the file's */
	uint64_t refused, refused_areas; /* all, and those of the last check of all areas */
	uint64_t refused_notes;          /* of the last reading */
	struct tdm_ledger_header header; /* of the picture, with the accepted segments */
	struct tdm_ledger_header said;   /* the header when all areas were last checked */
	struct tdm_ledger_who who;
	struct tdm_ledger_clock first, last; /* two readings far enough apart, when has_clocks */
	bool has_clocks;
	bool clocks_settled; /* they are far enough apart: they are read again only when the header has new ones */
	uint32_t clocks_age; /* refreshes since they were read */
	bool asked_boot, is_this_boot; /* whether it was written since the machine was booted, if that was checked */
	uint32_t file_uid;             /* owner of the file */
	size_t device_count;
	struct tdm_ledger_view *views;
	struct tdm_ledger_place *places;
	/* blobs that were read */
	struct tdm_map by_number;
	struct tdm_ledger_kept *kept;
	size_t kept_count, kept_cap;
	uint64_t kept_bytes;
	uint32_t *modules; /* numbers of the blobs */
	size_t module_count, module_cap;
	uint64_t modules_seen; /* the blob area was searched for modules up to this offset */
};

/*
 * Reads exactly `bytes` bytes at `offset`, inside ledger->limit. 0, -errno, or TDM_ECORRUPT when the file is too short.
 */
int tdm_ledger_read(const struct tdm_ledger *ledger, uint64_t offset, void *dst, size_t bytes);

/* Whether [offset, offset + bytes) is after the header and inside the file. */
bool tdm_ledger_is_inside(const struct tdm_ledger *ledger, uint64_t offset, uint64_t bytes);

/* Reads the length of the file again. 0, -errno or TDM_ECORRUPT. */
int tdm_ledger_measure(struct tdm_ledger *ledger);

/* Adds an area: 0; TDM_ECORRUPT when it is outside the file or overlaps another one; -ENOMEM. */
int tdm_ledger_areas_add(
	const struct tdm_ledger *ledger, struct tdm_ledger_areas *areas, uint64_t offset, uint64_t bytes);

/* The bytes of segment k of an area whose first segment has `first` items of `item` bytes. */
static inline uint64_t tdm_ledger_segment_bytes(uint64_t first, unsigned k, uint64_t item)
{
	return (first << k) * item;
}

/* Reads a device's page into a view and a place. 0; -errno; TDM_ECORRUPT with diag set when it is damaged. */
int tdm_ledger_device_read(struct tdm_ledger *ledger, uint64_t offset, struct tdm_ledger_areas *areas,
	struct tdm_ledger_view *view, struct tdm_ledger_place *place, struct tdm_diag *diag);

/*
 * Updates a view: 1 when something has changed, 0 when nothing has, -ESTALE when the device has new areas, which
 * tdm_ledger_device_read must check first; other errors as there.
 */
int tdm_ledger_device_update(struct tdm_ledger *ledger, struct tdm_ledger_view *view, struct tdm_ledger_place *place);

int tdm_ledger_seq(const struct tdm_ledger *ledger, uint64_t device_offset, uint64_t *seq);

void tdm_ledger_blobs_done(struct tdm_ledger *ledger);

/* Descriptors of this process's own ledgers, never closed. find returns the one for a path, or -1. */
int tdm_own_file_find(const char *path);
void tdm_own_file_keep(const char *path, int fd);

#endif
