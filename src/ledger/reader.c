#include "ledger/reader_parts.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/reserve.h"
#include "ledger/ledger_file.h"
#include "ledger/ledger_list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CLOCK_TRIES = 8,
	CLOCK_AGE = 256, /* refreshes until the clocks are read again: the real-time clock may have been set */
	AREA_ALIGN = 8,  /* of every offset in the file */
};
/* Two readings of the clocks that are closer together do not give the counter's rate accurately. */
#define CLOCK_SPAN_NS (TDM_NS_PER_S / 2)

int tdm_ledger_read(const struct tdm_ledger *ledger, uint64_t offset, void *dst, size_t bytes)
{
	char *at = dst;
	if (offset > INT64_MAX || bytes > INT64_MAX - offset)
		return TDM_ECORRUPT;
	while (bytes != 0) {
		ssize_t got = pread(ledger->fd, at, bytes, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return TDM_ECORRUPT;
		at += got;
		offset += (uint64_t)got;
		bytes -= (size_t)got;
	}
	atomic_thread_fence(memory_order_acquire); /* keeps reads in order on processors that reorder them */
	return 0;
}

bool tdm_ledger_is_inside(const struct tdm_ledger *ledger, uint64_t offset, uint64_t bytes)
{
	return offset >= ledger->header.header_size && offset % AREA_ALIGN == 0 && offset <= ledger->limit &&
	       bytes <= ledger->limit - offset;
}

int tdm_ledger_measure(struct tdm_ledger *ledger)
{
	struct stat st;
	uint64_t said;
	int err = tdm_ledger_read(ledger, offsetof(struct tdm_ledger_header, file_size), &said, sizeof said);
	if (err != 0)
		return err;
	if (fstat(ledger->fd, &st) != 0)
		return -errno;
	uint64_t real = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	ledger->limit = said < real ? said : real;
	return 0;
}

int tdm_ledger_areas_add(
	const struct tdm_ledger *ledger, struct tdm_ledger_areas *areas, uint64_t offset, uint64_t bytes)
{
	size_t at = areas->count;
	if (!tdm_ledger_is_inside(ledger, offset, bytes))
		return TDM_ECORRUPT;
	while (at != 0 && areas->list[at - 1].offset > offset)
		at--;
	/* Both ends of every area are inside the file, so these sums do not wrap. */
	if ((at != 0 && areas->list[at - 1].offset + areas->list[at - 1].bytes > offset) ||
		(at != areas->count && offset + bytes > areas->list[at].offset))
		return TDM_ECORRUPT;
	if (tdm_reserve(&areas->list, &areas->cap, areas->count + 1, sizeof *areas->list) != 0)
		return -ENOMEM;
	memmove(areas->list + at + 1, areas->list + at, (areas->count - at) * sizeof *areas->list);
	areas->list[at] = (struct tdm_ledger_area){ offset, bytes };
	areas->count++;
	return 0;
}

/* The header. */

static int check_header(const struct tdm_ledger_header *header, struct tdm_diag *diag)
{
	if (header->magic == 0 || (header->magic == TDM_LEDGER_MAGIC && header->state == TDM_LEDGER_NEW))
		return tdm_diag_set(diag, -EAGAIN, 0, 0, "its writer has not finished setting it up");
	if (header->magic != TDM_LEDGER_MAGIC)
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0, "not a ledger: it does not begin like one");
	if (header->major != TDM_LEDGER_MAJOR && header->major != 1)
		return tdm_diag_set(diag, TDM_EVERSION, 0, 0,
			"a ledger of version %" PRIu32 ".%" PRIu32 "; this program reads versions up to %d",
			header->major, header->minor, TDM_LEDGER_MAJOR);
	if (header->state > TDM_LEDGER_CLOSED || header->pid <= 0)
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0, "damaged: its header has state %" PRIu32 " and pid %d",
			header->state, (int)header->pid);
	if (header->header_size < sizeof *header || header->header_size > TDM_LEDGER_PAGE)
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0,
			"damaged: its header has an invalid size of %" PRIu32 " bytes", header->header_size);
	if (header->device_count > TDM_LEDGER_DEVICES || header->blob_segments > TDM_LEDGER_BLOB_SEGMENTS ||
		header->phase_segments > TDM_LEDGER_BLOB_SEGMENTS)
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0,
			"damaged: its header counts %" PRIu32 " devices, %" PRIu32 " and %" PRIu32 " segments",
			header->device_count, header->blob_segments, header->phase_segments);
	return 0;
}

static int read_header(const struct tdm_ledger *ledger, struct tdm_ledger_header *header, struct tdm_diag *diag)
{
	struct stat st;
	int err = tdm_ledger_read(ledger, 0, header, sizeof *header);
	if (err == TDM_ECORRUPT && fstat(ledger->fd, &st) != 0)
		err = -errno;
	if (err == TDM_ECORRUPT && st.st_size == 0)
		return tdm_diag_set(diag, -EAGAIN, 0, 0, "its writer has not finished setting it up");
	if (err == TDM_ECORRUPT)
		return tdm_diag_set(diag, err, 0, 0, "not a ledger: it has only %lld bytes", (long long)st.st_size);
	if (err != 0)
		return tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	return check_header(header, diag);
}

static void copy_who(struct tdm_ledger_who *who, const struct tdm_ledger_header *header)
{
	*who = (struct tdm_ledger_who){
		.pid_namespace = header->pid_namespace,
		.start_time = header->start_time,
		.pid = header->pid,
		.generation = header->generation,
		.uid = header->uid,
	};
	memcpy(who->boot_id, header->boot_id, sizeof who->boot_id);
	memcpy(who->comm, header->comm, sizeof header->comm);
	memcpy(who->command, header->command, sizeof header->command);
}

/* Segments of texts or phases: an invalid segment and those after it are not used. */
static uint32_t believe_segments(struct tdm_ledger *ledger, struct tdm_ledger_areas *areas, const uint64_t *offsets,
	uint32_t count, uint64_t first_bytes)
{
	for (uint32_t k = 0; k < count; k++)
		if (tdm_ledger_areas_add(ledger, areas, offsets[k], tdm_ledger_segment_bytes(first_bytes, k, 1)) != 0) {
			ledger->refused++;
			return k;
		}
	return count;
}

/* An area that may be missing: 0 when it is, or when it is invalid. */
static uint64_t believe_area(struct tdm_ledger *ledger, struct tdm_ledger_areas *areas, uint64_t offset, uint64_t bytes)
{
	return offset != 0 && believe_segments(ledger, areas, &offset, 1, bytes) == 1 ? offset : 0;
}

/* The clocks. */

/* A ledger whose writer runs needs no comparison. */
static bool is_this_boot(const struct tdm_ledger *ledger)
{
	uint8_t id[16];
	return tdm_ledger_liveness(ledger) == TDM_ALIVE ||
	       (tdm_ledger_boot_id(id) && memcmp(id, ledger->who.boot_id, sizeof id) == 0);
}

/* Reads the header's second clock reading: it must be the same twice, and not being written. */
static bool read_last_clock(const struct tdm_ledger *ledger, struct tdm_ledger_clock *last)
{
	struct {
		struct tdm_ledger_clock clock;
		uint64_t seq;
	} a, b;
	static_assert(offsetof(struct tdm_ledger_header, last_seq) ==
			      offsetof(struct tdm_ledger_header, last) + sizeof(struct tdm_ledger_clock),
		"the number follows the data that it guards");
	for (int i = 0; i < CLOCK_TRIES; i++) {
		uint64_t at = offsetof(struct tdm_ledger_header, last);
		if (tdm_ledger_read(ledger, at, &a, sizeof a) != 0 || tdm_ledger_read(ledger, at, &b, sizeof b) != 0)
			return false;
		if (a.seq % 2 == 0 && memcmp(&a, &b, sizeof a) == 0) {
			*last = a.clock;
			return true;
		}
	}
	return false;
}

static bool is_far(const struct tdm_ledger_clock *from, const struct tdm_ledger_clock *to, uint64_t span_ns)
{
	return to->tsc > from->tsc && to->monotonic_ns > from->monotonic_ns &&
	       to->monotonic_ns - from->monotonic_ns >= span_ns;
}

/*
 * If the header's readings are too close together, the current time is the second one, unless the machine was rebooted.
 */
static void refresh_clocks(struct tdm_ledger *ledger)
{
	struct tdm_ledger_clock last, now;
	bool has_last = read_last_clock(ledger, &last);
	ledger->first = ledger->header.first;
	ledger->clocks_age = 0;
	ledger->has_clocks = ledger->clocks_settled = has_last && is_far(&ledger->first, &last, CLOCK_SPAN_NS);
	if (ledger->has_clocks) {
		ledger->last = last;
		return;
	}
	if (!ledger->asked_boot) {
		ledger->asked_boot = true;
		ledger->is_this_boot = is_this_boot(ledger);
	}
	if (ledger->is_this_boot) {
		now = tdm_ledger_clock_now();
		ledger->has_clocks = is_far(&ledger->first, &now, 1);
		ledger->clocks_settled = is_far(&ledger->first, &now, CLOCK_SPAN_NS);
		ledger->last = now;
	}
	if (!ledger->has_clocks && has_last) {
		ledger->has_clocks = is_far(&ledger->first, &last, 1);
		ledger->last = last;
	}
}

bool tdm_ledger_monotonic(const struct tdm_ledger *ledger, uint64_t tsc, uint64_t *ns)
{
	const struct tdm_ledger_clock *first = &ledger->first, *last = &ledger->last;
	if (!ledger->has_clocks)
		return false;
	unsigned __int128 span_ns = last->monotonic_ns - first->monotonic_ns, span = last->tsc - first->tsc;
	if (tsc >= first->tsc) {
		unsigned __int128 later = (tsc - first->tsc) * span_ns / span;
		if (later > UINT64_MAX - first->monotonic_ns)
			return false;
		*ns = first->monotonic_ns + (uint64_t)later;
		return true;
	}
	unsigned __int128 earlier = (first->tsc - tsc) * span_ns / span;
	if (earlier > first->monotonic_ns)
		return false;
	*ns = first->monotonic_ns - (uint64_t)earlier;
	return true;
}

/* The real-time clock may have been set in between; the newest reading gives its offset from the monotonic clock. */
bool tdm_ledger_realtime(const struct tdm_ledger *ledger, uint64_t tsc, uint64_t *ns)
{
	uint64_t mono, real = ledger->last.realtime_ns, then = ledger->last.monotonic_ns;
	if (!tdm_ledger_monotonic(ledger, tsc, &mono))
		return false;
	if (mono >= then ? mono - then > UINT64_MAX - real : then - mono > real)
		return false;
	*ns = mono >= then ? real + (mono - then) : real - (then - mono);
	return true;
}

/* The picture. */

static int refresh_devices(struct tdm_ledger *ledger, struct tdm_ledger_areas *areas, struct tdm_diag *diag)
{
	uint32_t count = ledger->header.device_count;
	size_t room = count != 0 ? count : 1, good = 0;
	struct tdm_ledger_view *views = calloc(room, sizeof *views);
	struct tdm_ledger_place *places = calloc(room, sizeof *places);
	int err = views != NULL && places != NULL ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < count && err == 0; i++) {
		err = tdm_ledger_device_read(
			ledger, ledger->header.device_offset[i], areas, &views[good], &places[good], diag);
		if (err == TDM_ECORRUPT) {
			ledger->refused++;
			err = 0;
		} else if (err == 0) {
			good++;
		}
	}
	if (err != 0) {
		free(views);
		free(places);
		return tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	}
	free(ledger->views);
	free(ledger->places);
	ledger->views = views;
	ledger->places = places;
	ledger->device_count = good;
	return 0;
}

/* Reads the directories again: within one read, a processor may load the number of entries after the entries. */
static int read_directories(const struct tdm_ledger *ledger, struct tdm_ledger_header *header)
{
	struct tdm_ledger_header later;
	int err = tdm_ledger_read(ledger, 0, &later, sizeof later);
	if (err != 0)
		return err;
	memcpy(header->blob_offset, later.blob_offset, sizeof header->blob_offset);
	memcpy(header->phase_offset, later.phase_offset, sizeof header->phase_offset);
	memcpy(header->device_offset, later.device_offset, sizeof header->device_offset);
	return 0;
}

/* Takes a complete picture: checks every area. */
static int refresh_all(struct tdm_ledger *ledger, struct tdm_ledger_header *header, struct tdm_diag *diag)
{
	struct tdm_ledger_areas areas = { 0 };
	struct tdm_ledger_header before = ledger->header;
	uint64_t others = ledger->refused - ledger->refused_areas;
	int err = read_directories(ledger, header);
	ledger->refused = others;
	ledger->header = *header;
	if (err == 0)
		err = tdm_ledger_measure(ledger);
	if (err == 0) {
		ledger->header.blob_segments = believe_segments(
			ledger, &areas, header->blob_offset, header->blob_segments, TDM_LEDGER_FIRST_BLOB);
		ledger->header.phase_segments = believe_segments(ledger, &areas, header->phase_offset,
			header->phase_segments, TDM_LEDGER_PHASES_FIRST * sizeof(struct tdm_ledger_phase));
		ledger->header.notes_offset =
			believe_area(ledger, &areas, header->notes_offset, sizeof(struct tdm_ledger_notes));
		err = refresh_devices(ledger, &areas, diag);
	} else {
		tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	}
	free(areas.list);
	ledger->refused_areas = ledger->refused - others;
	if (err != 0) {
		ledger->header = before;
		return err;
	}
	ledger->said = *header;
	copy_who(&ledger->who, header);
	ledger->asked_boot = false;
	refresh_clocks(ledger);
	return 0;
}

/* Whether the header refers to the same areas and the same process as when they were last checked. */
static bool has_same_shape(const struct tdm_ledger *ledger, const struct tdm_ledger_header *header)
{
	const struct tdm_ledger_header *said = &ledger->said;
	return ledger->device_count == said->device_count && header->device_count == said->device_count &&
	       header->blob_segments == said->blob_segments && header->phase_segments == said->phase_segments &&
	       header->header_size == said->header_size && header->notes_offset == said->notes_offset &&
	       memcmp(header->boot_id, said->boot_id,
		       offsetof(struct tdm_ledger_header, last) - offsetof(struct tdm_ledger_header, boot_id)) == 0 &&
	       memcmp(header->blob_offset, said->blob_offset, sizeof said->blob_offset) == 0 &&
	       memcmp(header->phase_offset, said->phase_offset, sizeof said->phase_offset) == 0 &&
	       memcmp(header->device_offset, said->device_offset, sizeof said->device_offset) == 0;
}

/* Refreshes only the figures, which is enough most of the time. -ESTALE when it is not. */
static int refresh_figures(struct tdm_ledger *ledger, const struct tdm_ledger_header *header)
{
	if (!has_same_shape(ledger, header))
		return -ESTALE;
	for (size_t i = 0; i < ledger->device_count; i++) {
		int err = tdm_ledger_device_update(ledger, &ledger->views[i], &ledger->places[i]);
		if (err < 0)
			return err == TDM_ECORRUPT ? -ESTALE : err;
	}
	bool settled = ledger->clocks_settled && header->last_seq == ledger->header.last_seq &&
		       ++ledger->clocks_age < CLOCK_AGE;
	uint32_t blobs = ledger->header.blob_segments, phases = ledger->header.phase_segments;
	uint64_t notes = ledger->header.notes_offset;
	ledger->header = *header;
	ledger->header.notes_offset = notes;
	ledger->header.blob_segments = blobs;
	ledger->header.phase_segments = phases;
	if (!settled)
		refresh_clocks(ledger);
	return 0;
}

int tdm_ledger_refresh(struct tdm_ledger *ledger, struct tdm_diag *diag)
{
	struct tdm_ledger_header header;
	int err = read_header(ledger, &header, diag);
	if (err != 0)
		return err;
	err = ledger->views != NULL ? refresh_figures(ledger, &header) : -ESTALE;
	if (err == -ESTALE)
		err = refresh_all(ledger, &header, diag);
	else if (err != 0)
		tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	return err;
}

/* The file. */

static int open_file(struct tdm_ledger *ledger, struct tdm_diag *diag)
{
	struct stat st;
	struct tdm_ledger_name name;
	bool is_own = tdm_ledger_parse_name(ledger->path, &name) && tdm_ledger_is_own_name(&name);
	if (is_own && (ledger->fd = tdm_own_file_find(ledger->path)) >= 0) {
		ledger->own = true;
		ledger->file_uid = geteuid();
		return 0;
	}
	enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK };
	ledger->fd = open(ledger->path, FLAGS | O_NOATIME); /* the owner and root may; keeps the access time */
	if (ledger->fd < 0 && errno == EPERM)
		ledger->fd = open(ledger->path, FLAGS);
	if (ledger->fd < 0 && errno == ELOOP)
		return tdm_diag_set(diag, -ELOOP, 0, 0, "a symbolic link, which is not followed");
	if (ledger->fd < 0 || fstat(ledger->fd, &st) != 0)
		return tdm_diag_set(diag, -errno, 0, 0, "%s", tdm_err_text(-errno));
	if (!S_ISREG(st.st_mode))
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0, "not a ledger: it is not a regular file");
	ledger->file_uid = st.st_uid;
	if (is_own && st.st_uid == geteuid()) {
		ledger->own = true;
		tdm_own_file_keep(ledger->path, ledger->fd);
	}
	return 0;
}

int tdm_ledger_open(const char *path, struct tdm_ledger **out, struct tdm_diag *diag)
{
	struct tdm_ledger *ledger = calloc(1, sizeof *ledger);
	*out = NULL;
	if (ledger == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	ledger->fd = -1;
	ledger->path = strdup(path);
	int err = ledger->path != NULL ? tdm_map_init(&ledger->by_number) : -ENOMEM;
	if (err != 0)
		tdm_diag_set(diag, err, 0, 0, "out of memory");
	if (err == 0)
		err = open_file(ledger, diag);
	if (err == 0)
		err = tdm_ledger_refresh(ledger, diag);
	if (err != 0) {
		tdm_ledger_close(ledger);
		return err;
	}
	*out = ledger;
	return 0;
}

void tdm_ledger_close(struct tdm_ledger *ledger)
{
	if (ledger == NULL)
		return;
	if (ledger->fd >= 0 && !ledger->own)
		close(ledger->fd);
	tdm_ledger_blobs_done(ledger);
	free(ledger->views);
	free(ledger->places);
	free(ledger->path);
	free(ledger);
}

const char *tdm_ledger_path(const struct tdm_ledger *ledger)
{
	return ledger->path;
}

const struct tdm_ledger_who *tdm_ledger_who(const struct tdm_ledger *ledger)
{
	return &ledger->who;
}

uint64_t tdm_ledger_started(const struct tdm_ledger *ledger)
{
	return ledger->header.first.monotonic_ns;
}

struct tdm_ledger_clock tdm_ledger_noted(const struct tdm_ledger *ledger)
{
	return ledger->header.last_seq % 2 == 0 ? ledger->header.last : ledger->header.first;
}

enum tdm_liveness tdm_ledger_holder(const struct tdm_ledger *ledger, int32_t *pid)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	*pid = 0;
	if (ledger->own) { /* a process never sees its own lock */
		*pid = (int32_t)getpid();
		return (ledger->header.flags & TDM_LEDGER_MOVED) == 0 ? TDM_ALIVE : TDM_DEAD;
	}
	if (fcntl(ledger->fd, F_GETLK, &lock) != 0)
		return TDM_ALIVE_UNKNOWN;
	if (lock.l_type == F_UNLCK)
		return TDM_DEAD;
	*pid = lock.l_pid > 0 ? (int32_t)lock.l_pid : 0;
	return TDM_ALIVE;
}

enum tdm_liveness tdm_ledger_liveness(const struct tdm_ledger *ledger)
{
	int32_t pid;
	return tdm_ledger_holder(ledger, &pid);
}

uint32_t tdm_ledger_file_owner(const struct tdm_ledger *ledger)
{
	return ledger->file_uid;
}

uint32_t tdm_ledger_phase_count(const struct tdm_ledger *ledger)
{
	return ledger->header.phase_count;
}

enum tdm_ledger_state tdm_ledger_state(const struct tdm_ledger *ledger)
{
	return (enum tdm_ledger_state)ledger->header.state;
}

uint64_t tdm_ledger_lost(const struct tdm_ledger *ledger, enum tdm_ledger_loss loss)
{
	return (unsigned)loss < TDM_LOSS_COUNT ? ledger->header.lost[loss] : 0;
}

uint64_t tdm_ledger_frees_inherited(const struct tdm_ledger *ledger)
{
	return ledger->header.frees_inherited;
}

uint64_t tdm_ledger_refused(const struct tdm_ledger *ledger)
{
	uint64_t refused = ledger->refused + ledger->refused_notes;
	for (size_t i = 0; i < ledger->device_count; i++)
		refused += ledger->places[i].refused + ledger->places[i].refused_slots + ledger->places[i].refused_told;
	return refused;
}

uint32_t tdm_ledger_flags(const struct tdm_ledger *ledger)
{
	return ledger->header.flags;
}

size_t tdm_ledger_device_count(const struct tdm_ledger *ledger)
{
	return ledger->device_count;
}

const struct tdm_ledger_view *tdm_ledger_device(const struct tdm_ledger *ledger, size_t i)
{
	return i < ledger->device_count ? &ledger->views[i] : NULL;
}
