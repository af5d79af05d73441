/*
 * The public functions. Each checks that it may run (tracking is on, and it did not interrupt the library), turns its
 * arguments into a report, and passes the report to the writer. Allocations and releases have a fast path and a slow
 * path. The fast path is inlined down to the ledger (writer_hot.h); it handles a plain report on a device that this
 * thread has used before. The slow path handles everything else: a thread's first report, call stacks, ranges, the
 * phase tracker, traces.
 */
#include "tidemark.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/number.h"
#include "client/client.h"
#include "ledger/write/writer_hot.h"
#include "tidemark_version.h"

#include <errno.h>
#include <string.h>

#define cold        __attribute__((cold, noinline))
#define likely(x)   tdm_likely(x)
#define unlikely(x) tdm_unlikely(x)

static_assert((int)TIDEMARK_KIND_COUNT == (int)TDM_KIND_COUNT, "tidemark.h has a different list of kinds");
static_assert((int)TIDEMARK_CONFIG == (int)TDM_KIND_CONFIG, "tidemark.h numbers the kinds differently");
static_assert((int)TIDEMARK_VIEW == (int)TDM_SLOT_VIEW && (int)TIDEMARK_NO_ADDRESS == (int)TDM_SLOT_NO_ADDRESS &&
		      (int)TIDEMARK_SHARED == (int)TDM_SLOT_SHARED &&
		      (int)TIDEMARK_ESTIMATED == (int)TDM_SLOT_ESTIMATED,
	"tidemark.h numbers the flags differently");
static_assert(sizeof(struct tidemark_region) == sizeof(struct tdm_ledger_region), "regions are copied byte by byte");

/* Sizes of the structures in version 0.1. In later versions, structures may only grow. */
enum { FIRST_BUFFER = 96, FIRST_DEVICE = 56, FIRST_REGION = 32, FIRST_USAGE = 112 };
static_assert(sizeof(struct tidemark_buffer) >= FIRST_BUFFER && sizeof(struct tidemark_device) >= FIRST_DEVICE &&
		      sizeof(struct tidemark_region) >= FIRST_REGION && sizeof(struct tidemark_usage) >= FIRST_USAGE,
	"the layout of a public structure is frozen");
#define SAME_PLACE(theirs, ours) \
	static_assert(           \
		offsetof(struct tidemark_buffer, theirs) == offsetof(struct tdm_report, ours), "tdm_report differs")
SAME_PLACE(kind, kind);
SAME_PLACE(flags, flags);
SAME_PLACE(id, id);
SAME_PLACE(address, address);
SAME_PLACE(bytes, asked);
SAME_PLACE(bytes_per_bank, bank_bytes);
SAME_PLACE(banks, banks);
SAME_PLACE(holding, holding);
SAME_PLACE(page_size, page_size);
SAME_PLACE(cores, cores);
SAME_PLACE(name, name);
SAME_PLACE(frame_count, frame_count);
static_assert(sizeof(struct tidemark_core_range) == 8, "the layout of a public structure is frozen");

/*
 * Enters the library; returns false in a signal handler that interrupted the library. Inlined so that it can record the
 * caller's frame.
 */
tdm_inlined bool enter(void)
{
	if (unlikely(tdm_thread.busy || (tdm_thread.record != NULL && tdm_wthread_is_inside(tdm_thread.record))) &&
		!tdm_thread_recover())
		return false;
	uintptr_t here = tdm_stack_pointer();
	do { /* repeated if a signal handler reported in between: the handler leaves its own frame, and `busy` clear */
		tdm_thread.frame = here;
		atomic_signal_fence(memory_order_seq_cst);
		tdm_thread.busy = 1;
		atomic_signal_fence(memory_order_seq_cst);
	} while (unlikely(tdm_thread.frame != here));
	tdm_thread.caller_errno = errno;
	return true;
}

static inline void leave(void)
{
	if (unlikely(atomic_load_explicit(&tdm_client.closing, memory_order_relaxed)))
		tdm_client_after_exit();
	errno = tdm_thread.caller_errno;
	atomic_signal_fence(memory_order_seq_cst);
	tdm_thread.busy = 0;
}

/* Leaves the library at the end of a public function. */
static int left(int err)
{
	leave();
	return err;
}

/*
 * The device with this number, if the thread has used it and it belongs to the current ledger; else NULL, and the
 * report takes the slow path. A signal handler may report between any two instructions and leave another device or a
 * new ledger, so the ledger is checked first and the device is read once.
 */
static inline struct tdm_wdevice *known_device(uint32_t number)
{
	struct tdm_live_page *page = atomic_load_explicit(&tdm_live, memory_order_acquire);
	if (unlikely(atomic_load_explicit(&page->epoch, memory_order_relaxed) != tdm_thread.epoch))
		return NULL;
	atomic_signal_fence(memory_order_seq_cst);
	struct tdm_wdevice *device = tdm_thread.devices[number % TDM_THREAD_DEVICES];
	atomic_signal_fence(memory_order_seq_cst);
	return likely(device != NULL && device->number == number) ? device : NULL;
}

/* Whether the thread is outside the library, that is, not in a signal handler that interrupted the library. */
static inline bool is_free_to_enter(const struct tdm_wthread *self)
{
	return self != NULL && !tdm_wthread_is_inside(self) && !tdm_thread.busy;
}

/* Whether a report must take the slow path: the phase tracker is active, stacks are kept, or exit has begun. */
static inline bool is_rare(void)
{
	return atomic_load_explicit(&tdm_rare, memory_order_relaxed) != 0;
}

static cold int lose(enum tdm_ledger_loss loss, int err)
{
	struct tdm_writer *writer = tdm_client_peek();
	if (writer != NULL)
		tdm_writer_lost(writer, loss);
	else
		atomic_fetch_add(&tdm_client.unrecorded, 1);
	return err;
}

/* Whether all ranges are rectangles and none overlap: a core in two ranges would count twice. */
static bool ranges_are_valid(const struct tidemark_core_range *ranges, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (ranges[i].x1 < ranges[i].x0 || ranges[i].y1 < ranges[i].y0)
			return false;
		for (uint32_t k = 0; k < i; k++)
			if (ranges[i].x0 <= ranges[k].x1 && ranges[k].x0 <= ranges[i].x1 &&
				ranges[i].y0 <= ranges[k].y1 && ranges[k].y0 <= ranges[i].y1)
				return false;
	}
	return true;
}

/* The number of cores in all ranges, at least 1; an invalid rectangle has none. */
static cold uint32_t cores_in(const struct tidemark_buffer *b)
{
	uint64_t cores = 0;
	for (uint32_t i = 0; i < b->range_count && b->ranges != NULL; i++)
		if (b->ranges[i].x1 >= b->ranges[i].x0 && b->ranges[i].y1 >= b->ranges[i].y0)
			cores += (uint64_t)(b->ranges[i].x1 - b->ranges[i].x0 + 1) *
				 (uint64_t)(b->ranges[i].y1 - b->ranges[i].y0 + 1);
	return cores == 0 ? 1 : cores < UINT32_MAX ? (uint32_t)cores : UINT32_MAX;
}

static inline uint32_t default_banks(const struct tdm_wdevice *device, const struct tidemark_buffer *b)
{
	uint32_t banks = atomic_load_explicit(&device->banks[b->kind], memory_order_relaxed);
	if (likely(banks != 0)) /* only kinds stored in banks have a bank count */
		return banks;
	return !tdm_kind_is_per_core(b->kind) ? 1 : b->cores != 0 ? b->cores : cores_in(b);
}

/* Reciprocals of bank counts, computed when first needed; 0 before that. Racing threads store the same value. */
enum { RECIPROCALS = 512 };
static _Atomic uint64_t reciprocals[RECIPROCALS];

/* The bytes in each bank; `banks` is not 0. A division would be the most expensive part of a report. */
static inline uint64_t bytes_in_bank(uint64_t bytes, uint32_t banks)
{
	if (unlikely(banks >= RECIPROCALS))
		return bytes / banks + (bytes % banks != 0);
	uint64_t reciprocal = atomic_load_explicit(&reciprocals[banks], memory_order_relaxed);
	if (unlikely(reciprocal == 0)) {
		reciprocal = tdm_reciprocal(banks);
		atomic_store_explicit(&reciprocals[banks], reciprocal, memory_order_relaxed);
	}
	return tdm_divide_up(bytes, banks, reciprocal);
}

/* The writer's view of the public structure. */
static inline const struct tdm_report *as_report(const struct tidemark_buffer *b)
{
	return (const struct tdm_report *)(const void *)b;
}

static struct tdm_wdevice *make_device(uint32_t number, bool is_virtual, struct tdm_writer **writer)
{
	*writer = tdm_client_writer();
	struct tdm_wdevice *device = *writer != NULL ? tdm_writer_device(*writer, number, is_virtual) : NULL;
	if (device != NULL && !is_virtual)
		tdm_thread.device = tdm_thread.devices[number % TDM_THREAD_DEVICES] = device;
	return device;
}

/* The device for the slow path: a virtual device while the tracker captures without dispatch. */
static struct tdm_wdevice *any_device(uint32_t number, struct tdm_writer **writer)
{
	return make_device(number, tdm_tracker_mode() == TDM_TRACKER_NO_DISPATCH, writer);
}

static int why_no_device(const struct tdm_writer *writer)
{
	return writer != NULL ? -ENOSPC : tdm_client_why_no_writer();
}

enum how {
	NEW,
	REPLACES, /* deliberately replaces a live buffer with the same id */
	ADOPTED,  /* allocated before tracking began */
};

/* The slow path of an allocation: handles everything a report can contain. */
static int alloc_entered(const struct tidemark_buffer *b, enum how how, void *frame)
{
	const bool is_adopted = how == ADOPTED;
	struct tidemark_buffer whole = { 0 };
	struct tdm_writer *writer;
	memcpy(&whole, b,
		/* the program may have been built against an older or newer header */
		b->size < sizeof whole ? b->size : sizeof whole);
	if ((whole.flags & ~(uint32_t)(TDM_SLOT_VIEW | TDM_SLOT_NO_ADDRESS | TDM_SLOT_SHARED | TDM_SLOT_ESTIMATED)) !=
			0 ||
		((whole.flags & TDM_SLOT_SHARED) != 0 && !tdm_kind_is_per_core(whole.kind)) ||
		(whole.ranges != NULL && whole.range_count <= TDM_LEDGER_RANGES_MAX &&
			!ranges_are_valid(whole.ranges, whole.range_count)))
		return lose(TDM_LOSS_INVALID, -EINVAL);
	/* An adopted buffer is on a card, even if nothing is dispatched now. */
	struct tdm_wdevice *device =
		is_adopted ? make_device(whole.device, false, &writer) : any_device(whole.device, &writer);
	if (device == NULL)
		return why_no_device(writer);
	struct tdm_report_extra extra = {
		.thread = tdm_thread.id, .program = tdm_thread.program, .replaces = how == REPLACES
	};
	if (whole.frames != NULL && !tdm_stack_is_valid(writer, whole.frames, whole.frame_count))
		return lose(TDM_LOSS_INVALID, -EINVAL);
	/* Adds ranges and a stack, which most reports do not have. */
	if (whole.ranges != NULL && whole.range_count != 0) {
		uint32_t count = whole.range_count < TDM_LEDGER_RANGES_MAX ? whole.range_count : TDM_LEDGER_RANGES_MAX;
		extra.ranges = tdm_blobs_put(
			&writer->blobs, TDM_BLOB_RANGES, whole.ranges, count * sizeof *whole.ranges, NULL);
		if (extra.ranges == 0 || count != whole.range_count)
			tdm_writer_lost(writer, TDM_LOSS_TEXT);
	}
	if (whole.frames != NULL && whole.frame_count != 0)
		extra.stack = tdm_stack_put(writer, whole.frames, whole.frame_count);
	else if (tdm_client.stack_depth != 0)
		extra.stack = tdm_stack_take(writer, tdm_client.stack_depth, frame);
	if ((whole.flags & TDM_SLOT_ESTIMATED) != 0) {
		whole.banks = 1;
		whole.bytes_per_bank = whole.bytes;
	}
	uint32_t banks = whole.banks != 0 ? whole.banks : default_banks(device, &whole);
	if (whole.bytes_per_bank == 0)
		whole.bytes_per_bank = bytes_in_bank(whole.bytes, banks);
	if (is_adopted)
		whole.flags |= TDM_SLOT_ADOPTED;
	if (whole.holding == 0)
		whole.holding = whole.cores != 0 ? whole.cores : banks;
	extra.banks = (whole.flags & (TDM_SLOT_VIEW | TDM_SLOT_SHARED)) != 0 ? 0 : banks;
	extra.bank_bytes = whole.bytes_per_bank;
	struct tdm_ledger_slot old = { 0 };
	extra.old = &old;
	int err = tdm_writer_alloc_cold(device, tdm_thread.record, as_report(&whole), &extra);
	if (err != 0 || is_adopted || tdm_tracker_mode() == 0)
		return err;
	/* Reporting a live buffer again implies its release, which the tracker must see. */
	if (old.birth != 0)
		tdm_tracker_free(whole.kind, old.asked, old.bank_bytes, tdm_slot_is_view(old.banks, old.flags));
	tdm_tracker_alloc(whole.kind, whole.bytes, whole.bytes_per_bank, tdm_slot_is_view(extra.banks, whole.flags));
	return 0;
}

/* The slow path of a report, which handles everything a buffer can have. `frame` is the frame of the public
 * function, where the call stack begins. */
static cold int report(const struct tidemark_buffer *b, enum how how, void *frame)
{
	if (b == NULL || b->size < FIRST_BUFFER || b->kind >= TIDEMARK_KIND_COUNT)
		return lose(TDM_LOSS_INVALID, -EINVAL);
	if (!enter())
		return lose(TDM_LOSS_NESTED, -EBUSY);
	return left(alloc_entered(b, how, frame));
}

/* Prevents a tail call: a stack begins at the public function's frame, which must stay until the report has ended. */
#define STAYS(err) __asm__ volatile("" : "+r"(err))
static cold int alloc_long(const struct tidemark_buffer *b)
{
	int err = report(b, NEW, __builtin_frame_address(0));
	STAYS(err);
	return err;
}

int tidemark_adopt_(const struct tidemark_buffer *b)
{
	int err = report(b, ADOPTED, __builtin_frame_address(0));
	STAYS(err);
	return err;
}

int tidemark_alloc_(const struct tidemark_buffer *b)
{
	struct tdm_wdevice *device;
	struct tdm_wthread *self;
	/* Tail calls, so that on the stack these functions seem to be called by the program itself. */
	if (unlikely(!(b != NULL && b->size >= sizeof *b && b->kind < TIDEMARK_KIND_COUNT &&
			     (b->flags & ~(uint32_t)TDM_SLOT_NO_ADDRESS) == 0 &&
			     (b->range_count | b->frame_count) == 0) ||
		     is_rare() || (device = known_device(b->device)) == NULL ||
		     !is_free_to_enter(self = tdm_thread.record)))
		return alloc_long(b);
	uint32_t hash = tdm_writer_hint(device, b->kind, b->id);
	uint32_t banks = b->banks != 0 ? b->banks : default_banks(device, b);
	uint64_t bank_bytes = b->bytes_per_bank != 0 ? b->bytes_per_bank : bytes_in_bank(b->bytes, banks);
	struct tdm_report_extra extra = {
		.thread = tdm_thread.id, .banks = banks, .bank_bytes = bank_bytes, .program = tdm_thread.program
	};
	return tdm_writer_alloc(device, self, as_report(b), &extra, hash);
}

/*
 * The slow path of a release. A buffer missing from the device may be on the device's virtual or real counterpart, if
 * it was allocated before a session without dispatch began, or in such a session that has ended.
 */
static int free_entered(uint32_t number, uint32_t kind, uint64_t id)
{
	struct tdm_ledger_slot freed;
	struct tdm_writer *writer;
	struct tdm_wdevice *device = any_device(number, &writer);
	if (device == NULL)
		return why_no_device(writer);
	int err = tdm_writer_free_cold(device, tdm_thread.record, kind, id, &freed);
	if (err == -ENOENT) {
		struct tdm_wdevice *other = tdm_writer_find_device(writer, number, !device->is_virtual);
		if (other != NULL)
			err = tdm_writer_free_cold(other, tdm_thread.record, kind, id, &freed);
	}
	if (err == -ENOENT)
		err = tdm_writer_bad_free(device, tdm_thread.record, kind, id, tdm_thread.id);
	if (err == 0 && tdm_tracker_mode() != 0)
		tdm_tracker_free(kind, freed.asked, freed.bank_bytes, tdm_slot_is_view(freed.banks, freed.flags));
	return err;
}

static cold int free_long(uint32_t number, uint32_t kind, uint64_t id)
{
	if (kind >= TIDEMARK_KIND_COUNT)
		return lose(TDM_LOSS_INVALID, -EINVAL);
	if (!enter())
		return lose(TDM_LOSS_NESTED, -EBUSY);
	return left(free_entered(number, kind, id));
}

int tidemark_free_(uint32_t number, uint32_t kind, uint64_t id)
{
	struct tdm_wdevice *device;
	struct tdm_wthread *self;
	if (unlikely(kind >= TIDEMARK_KIND_COUNT || is_rare() || (device = known_device(number)) == NULL ||
		     !is_free_to_enter(self = tdm_thread.record)))
		return free_long(number, kind, id);
	int err = tdm_writer_free_buffer(device, self, kind, id);
	return likely(err != -ENOENT) ? err : free_long(number, kind, id);
}

/* For less frequent calls while tracking is on: enters the library. Returns the writer, and the caller must then
 * call leave(); or NULL, with a code in *err. */
static struct tdm_writer *open_writer(int *err)
{
	if (!enter()) {
		*err = lose(TDM_LOSS_NESTED, -EBUSY);
		return NULL;
	}
	struct tdm_writer *writer = tdm_client_writer();
	*err = writer != NULL ? 0 : left(tdm_client_why_no_writer());
	return writer;
}

/* Like open_writer(), for a report about a device; `is_valid`: the report's other arguments are valid. NULL while
 * tracking is off, which is not an error. */
static struct tdm_wdevice *open_device(uint32_t number, bool is_valid, int *err)
{
	struct tdm_writer *writer;
	*err = 0;
	if (!tidemark_active_)
		return NULL;
	if (!is_valid || !enter()) {
		*err = is_valid ? lose(TDM_LOSS_NESTED, -EBUSY) : lose(TDM_LOSS_INVALID, -EINVAL);
		return NULL;
	}
	struct tdm_wdevice *device = any_device(number, &writer);
	if (device == NULL)
		*err = left(why_no_device(writer));
	return device;
}

int64_t tidemark_free_matching(uint32_t number, uint32_t kind, uint64_t mask, uint64_t id)
{
	int err;
	struct tdm_wdevice *device = open_device(number, kind < TIDEMARK_KIND_COUNT, &err);
	if (device == NULL)
		return err;
	bool is_tracked = tdm_tracker_mode() != 0;
	int64_t count =
		tdm_writer_free_all(device, tdm_thread.record, kind, mask, id, is_tracked ? tdm_tracker_free : NULL);
	leave();
	return count;
}

int64_t tidemark_free_all(uint32_t number, uint32_t kind)
{
	return tidemark_free_matching(number, kind, 0, 0);
}

int tidemark_describe_device(const struct tidemark_device *d)
{
	struct tdm_ledger_region regions[TDM_LEDGER_REGIONS];
	int err;
	tdm_client_look_for_daemon();
	bool is_valid = d != NULL && d->size >= FIRST_DEVICE && (d->region_count == 0 || d->regions != NULL) &&
			(d->region_size == 0 || d->region_size >= FIRST_REGION);
	struct tdm_wdevice *device = open_device(is_valid ? d->number : 0, is_valid, &err);
	if (device == NULL)
		return err;
	uint32_t count = d->region_count < TDM_LEDGER_REGIONS ? d->region_count : TDM_LEDGER_REGIONS;
	if (count != d->region_count)
		tdm_writer_lost(device->writer, TDM_LOSS_TEXT);
	size_t step = d->region_size != 0 ? d->region_size : FIRST_REGION;
	for (uint32_t i = 0; i < count; i++)
		memcpy(&regions[i], (const char *)d->regions + i * step, sizeof *regions);
	return left(tdm_writer_describe(device, tdm_thread.record, d->card, d->has_chip_id ? &d->chip_id : NULL,
		d->grid_x, d->grid_y, regions, count));
}

static uint32_t put_text(struct tdm_writer *writer, const char *text)
{
	uint32_t number = tdm_blobs_put(&writer->blobs, TDM_BLOB_TEXT, text, strnlen(text, TDM_LEDGER_TEXT_MAX), NULL);
	if (number == 0)
		tdm_writer_lost(writer, TDM_LOSS_TEXT);
	return number;
}

uint32_t tidemark_name(const char *text)
{
	if (!tidemark_active_ || text == NULL || text[0] == '\0')
		return 0;
	if (!enter())
		return (uint32_t)lose(TDM_LOSS_TEXT, 0);
	struct tdm_writer *writer = tdm_client_writer();
	uint32_t number = writer != NULL ? put_text(writer, text) : 0;
	leave();
	return number;
}

uint32_t tidemark_site_slow_(uint64_t *cache, const char *text)
{
	uint32_t number = tidemark_name(text);
	/* A single word, so that another thread sees both halves or neither. */
	if (number != 0)
		__atomic_store_n(cache, (uint64_t)tidemark_epoch_ << 32 | number, __ATOMIC_RELAXED);
	return number;
}

int tidemark_program(const char *name)
{
	if (!tidemark_active_)
		return 0;
	uint32_t number = name != NULL ? tidemark_name(name) : 0;
	const struct tdm_report note = { .name = number };
	tdm_thread.program = number;
	/* The event goes to the time line of the device that the thread used last, if any. */
	if (number != 0 && enter()) {
		if (tdm_client_writer() != NULL && tdm_thread.device != NULL)
			tdm_writer_note(tdm_thread.device, tdm_thread.record, TDM_LEDGER_PROGRAM, &note, tdm_thread.id);
		leave();
	}
	return name == NULL || number != 0 ? 0 : why_no_device(tdm_client_peek());
}

uint32_t tidemark_swap_program(uint32_t name)
{
	if (!tidemark_active_ || !enter())
		return 0;
	struct tdm_writer *writer = tdm_client_writer(); /* a new ledger does not yet know the program's name */
	uint32_t before = tdm_thread.program;
	tdm_thread.program = writer != NULL && tdm_blob_is_text(writer->blobs.texts, name) ? name : 0;
	leave();
	return before;
}

int tdm_client_put_phase(const struct tdm_ledger_phase *phase, const char *name)
{
	struct tdm_ledger_phase record = *phase;
	struct tdm_wdevice *device;
	int err;
	if (!tidemark_active_)
		return 0;
	struct tdm_writer *writer = open_writer(&err);
	if (writer == NULL)
		return err;
	record.name = put_text(writer, name);
	record.end_tsc = tdm_clock_ticks();
	if (record.begin_tsc == 0)
		record.begin_tsc = record.end_tsc;
	for (unsigned i = 0; (device = tdm_writer_get_device(writer, i)) != NULL; i++) {
		const struct tdm_report note = { .name = record.name };
		struct tdm_writer_figures dram = { 0 }, trace = { 0 };
		tdm_writer_count(device, tdm_thread.record, TDM_KIND_DRAM, &dram, false);
		tdm_writer_count(device, tdm_thread.record, TDM_KIND_TRACE, &trace, false);
		record.dram_now += dram.now.bytes + trace.now.bytes;
		tdm_writer_note(device, tdm_thread.record, TDM_LEDGER_PHASE, &note, tdm_thread.id);
	}
	return left(tdm_writer_put_phase(writer, &record));
}

int tidemark_phase(const char *name)
{
	struct tdm_ledger_phase mark = { .flags = TDM_PHASE_MARK };
	if (name == NULL || name[0] == '\0')
		return -EINVAL;
	return tdm_client_put_phase(&mark, name);
}

/* Reads a word that another thread may be writing. */
static uint64_t load_u64(const uint64_t *from)
{
	return atomic_load_explicit((const _Atomic uint64_t *)from, memory_order_relaxed);
}

static int get_usage(uint32_t number, uint32_t kind, struct tidemark_usage *usage, bool resets)
{
	struct tdm_writer *writer = tdm_client_peek();
	if (kind >= TIDEMARK_KIND_COUNT || usage->size < FIRST_USAGE)
		return -EINVAL;
	tdm_client_fill(usage, &(struct tidemark_usage){ 0 }, sizeof *usage);
	struct tdm_wdevice *device = writer != NULL ? tdm_writer_find_device(writer, number, false) : NULL;
	if (device == NULL)
		return -ENODEV;
	if (!enter())
		return -EBUSY;
	struct tdm_writer_figures c;
	int err = tdm_writer_count(device, tdm_thread.record, kind, &c, resets);
	const struct tdm_ledger_faults *f = &device->shared->faults[kind];
	leave();
	if (err != 0)
		return err;
	const struct tidemark_usage figures = { .bytes = c.now.bytes,
		.peak_bytes = c.peak.bytes,
		.asked_bytes = c.now.asked_bytes,
		.bank_bytes = c.now.bank_bytes,
		.peak_bank_bytes = c.peak.bank_bytes,
		.buffers = c.now.buffers,
		.allocs = c.now.allocs - c.peak.adopted,
		.frees = c.now.allocs - c.now.buffers,
		.double_frees = load_u64(&f->double_frees),
		.unknown_frees = load_u64(&f->unknown_frees),
		.rereports = load_u64(&f->rereports),
		.out_of_memory = load_u64(&f->out_of_memory),
		.adopted = c.peak.adopted,
		.window_peak_bytes = c.window.bytes,
		.window_peak_bank_bytes = c.window.bank_bytes,
		.window_peak_asked_bytes = c.window.asked_bytes,
		.window_peak_buffers = c.window.buffers,
		.alloc_bytes = c.now.alloc_bytes,
		.alloc_asked_bytes = c.now.alloc_asked };
	tdm_client_fill(usage, &figures, sizeof figures);
	return 0;
}

int tidemark_get_usage(uint32_t number, uint32_t kind, struct tidemark_usage *usage)
{
	return usage != NULL ? get_usage(number, kind, usage, false) : -EINVAL;
}

int tidemark_reset_peak(uint32_t number, uint32_t kind, struct tidemark_usage *before)
{
	struct tidemark_usage unused = TIDEMARK_USAGE_INIT;
	return get_usage(number, kind, before != NULL ? before : &unused, true);
}

uint64_t tidemark_lost(void)
{
	struct tdm_writer *writer = tdm_client_peek();
	uint64_t lost = atomic_load(&tdm_client.unrecorded);
	for (unsigned i = 0; writer != NULL && i < TDM_LOSS_COUNT; i++)
		lost += load_u64(&writer->file.header->lost[i]);
	return lost + (writer != NULL ? tdm_writer_stranded(writer) : 0);
}

const char *tidemark_kind_name(int kind)
{
	return tdm_kind_name((enum tdm_kind)kind);
}

/*
 * ---- reports of runtimes ----
 *
 * Reports from runtimes, and from hooks in runtimes: statistics, refused programs, steps of devices and traces,
 * counters and remarks.
 *
 * The names of counters, and the remarks, are also kept in private memory. So a counter's number stays valid in a
 * forked child and in a later ledger; that ledger stores the name when the counter is first used.
 */

static_assert((int)TIDEMARK_DEVICE_OPENED == (int)TDM_STEP_OPENED &&
		      (int)TIDEMARK_TRACE_RELEASED == (int)TDM_STEP_TRACE_RELEASED,
	"tidemark.h numbers the steps differently");

enum { FIRST_CLASH = 64, BYTES_BITS = 56 }; /* see FIRST_BUFFER */
static_assert(sizeof(struct tidemark_clash) >= FIRST_CLASH, "fields are only added");

/* Texts in the order of arrival. Texts are only ever added, under the lock. */
struct texts {
	_Atomic uint32_t count;
	char list[TDM_LEDGER_NOTE_COUNTERS][TDM_LEDGER_TEXT_MAX + 1];
};
static struct texts counters, remarks;
static struct tdm_lock texts_lock;

void tdm_reports_after_fork(void)
{
	tdm_lock_reset(&texts_lock);
}

/* The number of a text, counted from 1; adds the text if it is new. 0 if there is no room. */
static uint32_t note_text(struct texts *texts, uint32_t cap, const char *text)
{
	size_t len = strnlen(text, TDM_LEDGER_TEXT_MAX);
	uint32_t found = 0;
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	if (tdm_lock_take(&texts_lock)) {
		uint32_t count = atomic_load_explicit(&texts->count, memory_order_relaxed);
		while (found < count && (memcmp(texts->list[found], text, len) != 0 || texts->list[found][len] != '\0'))
			found++;
		if (found == count && count < cap) {
			memcpy(texts->list[count], text, len); /* the bytes after it are zero */
			atomic_store_explicit(&texts->count, count + 1, memory_order_release);
		}
		found = found < cap ? found + 1 : 0;
		tdm_lock_give(&texts_lock);
	}
	tdm_quiet_end(&guard);
	return found;
}

/* Stores the remarks that this ledger does not have yet, in order. */
static int put_remarks(struct tdm_writer *writer)
{
	uint32_t count = atomic_load_explicit(&remarks.count, memory_order_acquire);
	int err = 0;
	for (uint32_t i = atomic_load_explicit(&writer->remark_count, memory_order_acquire); i < count && err == 0; i++)
		err = tdm_writer_remark(writer, remarks.list[i]);
	return err;
}

uint32_t tidemark_counter(const char *name)
{
	if (!tidemark_active_ || name == NULL || name[0] == '\0')
		return 0;
	return note_text(&counters, TDM_LEDGER_NOTE_COUNTERS, name);
}

/* The first time this counter is counted in this ledger. */
static cold int count_first(uint32_t counter, uint64_t more)
{
	int err;
	if (counter == 0)
		return 0; /* there was no room for the counter */
	if (counter > atomic_load_explicit(&counters.count, memory_order_acquire))
		return -EINVAL;
	struct tdm_writer *writer = open_writer(&err);
	if (writer == NULL)
		return err;
	err = tdm_writer_name_counter(writer, counter - 1, counters.list[counter - 1]);
	if (err == 0)
		err = put_remarks(writer);
	uint64_t *value = tdm_writer_counter(writer, counter - 1);
	if (value != NULL)
		atomic_fetch_add_explicit((_Atomic uint64_t *)value, more, memory_order_relaxed);
	return left(err);
}

/* The usual path takes no lock and enters no device, so it is safe in a signal handler. */
int tidemark_count(uint32_t counter, uint64_t more)
{
	if (!tidemark_active_)
		return 0;
	struct tdm_writer *writer = tdm_client_peek();
	uint64_t *value = writer != NULL ? tdm_writer_counter(writer, counter - 1) : NULL;
	if (value == NULL)
		return count_first(counter, more);
	atomic_fetch_add_explicit((_Atomic uint64_t *)value, more, memory_order_relaxed);
	return 0;
}

int tidemark_remark(const char *text)
{
	int err;
	if (!tidemark_active_)
		return 0;
	if (text == NULL || text[0] == '\0')
		return -EINVAL;
	if (note_text(&remarks, TDM_LEDGER_NOTE_REMARKS, text) == 0)
		return lose(TDM_LOSS_TEXT, -ENOSPC);
	struct tdm_writer *writer = open_writer(&err);
	return writer != NULL ? left(put_remarks(writer)) : err;
}

int tidemark_out_of_memory(uint32_t number, uint32_t kind, uint64_t bytes, uint64_t bytes_per_bank)
{
	struct tdm_report oom = { .kind = kind, .asked = bytes, .bank_bytes = bytes_per_bank };
	int err;
	struct tdm_wdevice *device = open_device(number, kind < TIDEMARK_KIND_COUNT, &err);
	if (device == NULL)
		return err;
	oom.name = tdm_thread.program;
	return left(tdm_writer_note(device, tdm_thread.record, TDM_LEDGER_OOM, &oom, tdm_thread.id));
}

int tidemark_report_clash(const struct tidemark_clash *clash)
{
	bool is_valid = clash != NULL && clash->size >= FIRST_CLASH && clash->kind < TIDEMARK_KIND_COUNT &&
			tdm_kind_is_per_core(clash->kind) && clash->begin <= clash->end &&
			clash->end >> BYTES_BITS == 0 && clash->cores.x0 <= clash->cores.x1 &&
			clash->cores.y0 <= clash->cores.y1;
	int err;
	struct tdm_wdevice *device = open_device(is_valid ? clash->device : 0, is_valid, &err);
	if (device == NULL)
		return err;
	enum tdm_clash_type type = clash->l1_size != 0 && clash->end > clash->l1_size       ? TDM_CLASH_BEYOND
				   : clash->l1_lowest != 0 && clash->end > clash->l1_lowest ? TDM_CLASH_L1
											    : TDM_CLASH_UNKNOWN;
	const struct tidemark_core_range *cores = &clash->cores;
	const struct tdm_ledger_clash row = { .begin = clash->begin,
		.end = clash->end,
		.limit = type == TDM_CLASH_BEYOND ? clash->l1_size
			 : type == TDM_CLASH_L1   ? clash->l1_lowest
						  : 0,
		.program = clash->program != 0 ? clash->program : tdm_thread.program,
		.range_count = clash->range_count,
		.range = { cores->x0, cores->y0, cores->x1, cores->y1 },
		.kind = (uint8_t)clash->kind };
	return left(tdm_writer_clash(device, tdm_thread.record, type, &row, tdm_thread.id));
}

int tidemark_report_statistics(uint32_t number, uint32_t kind, uint64_t allocated, uint64_t free, uint64_t largest)
{
	int err;
	struct tdm_wdevice *device = open_device(number, kind < TIDEMARK_KIND_COUNT, &err);
	if (device == NULL)
		return err;
	return left(tdm_writer_statistics(device, tdm_thread.record, kind, allocated, free, largest));
}

int tidemark_report_core_use(uint32_t number, uint32_t kind, uint64_t fullest, uint64_t all)
{
	bool is_valid = kind < TIDEMARK_KIND_COUNT && tdm_kind_is_per_core(kind) && fullest <= all;
	int err;
	struct tdm_wdevice *device = open_device(number, is_valid, &err);
	if (device == NULL)
		return err;
	return left(tdm_writer_core_use(device, tdm_thread.record, kind, fullest, all, tdm_thread.id));
}

int tidemark_step(uint32_t number, uint32_t step, uint64_t id)
{
	bool is_valid = step >= TIDEMARK_DEVICE_OPENED && step <= TIDEMARK_TRACE_RELEASED;
	uint32_t stack = 0;
	int err;
	struct tdm_wdevice *device = open_device(number, is_valid, &err);
	if (device == NULL)
		return err;
	if (step == TIDEMARK_TRACE_REPLAYED && tdm_client.stack_depth != 0 && tdm_writer_has_waiting(device))
		stack = tdm_stack_take(device->writer, tdm_client.stack_depth, __builtin_frame_address(0));
	err = tdm_writer_step(device, tdm_thread.record, (enum tdm_step)step, id, tdm_thread.id, stack);
	if (step != TIDEMARK_TRACE_REPLAYED || (atomic_load(&tdm_rare) & TDM_RARE_TRACE) == 0) {
		/* While a captured trace exists, allocations take the slow path, which notes them. */
		if (atomic_load(&device->writer->captured) == 0)
			atomic_fetch_and(&tdm_rare, (unsigned char)~TDM_RARE_TRACE);
		if (atomic_load(&device->writer->captured) != 0)
			atomic_fetch_or(&tdm_rare, TDM_RARE_TRACE);
	}
	return left(err);
}

/*
 * ---- the short interface ----
 *
 * Kernels and circular buffers by number. A circular buffer's id is made of its number and its range of cores:
 *
 *     bit 63: 1    62..55: x0    54..47: y0    46..39: x1    38..31: y1    30..0: number
 *
 * Without cores the range is an impossible one. All circular buffers with the same number share the number's bits, so
 * they can be released together.
 */

#define CB_BIT     (UINT64_C(1) << 63)
#define CB_NUMBERS UINT64_C(0x7fffffff)
enum { CB_CORE_MAX = 255 };

int tidemark_report_kernel(uint32_t device, uint64_t bytes, uint32_t core_type)
{
	static _Atomic uint64_t next = 1;
	struct tidemark_buffer b = TIDEMARK_BUFFER_INIT;
	if (!tidemark_active_)
		return 0;
	b.device = device;
	b.kind = TIDEMARK_KERNEL;
	b.flags = TIDEMARK_NO_ADDRESS;
	b.id = (uint64_t)core_type << 56 | atomic_fetch_add(&next, 1);
	b.bytes = b.bytes_per_bank = bytes;
	b.banks = 1;
	return tidemark_alloc_(&b);
}

/* False if the number or the range is invalid. */
static bool cb_id(uint32_t number, const struct tidemark_core_range *cores, uint64_t *id)
{
	const struct tidemark_core_range none = { CB_CORE_MAX, CB_CORE_MAX, 0, 0 }, *r = cores != NULL ? cores : &none;
	*id = CB_BIT | (uint64_t)r->x0 << 55 | (uint64_t)r->y0 << 47 | (uint64_t)r->x1 << 39 | (uint64_t)r->y1 << 31 |
	      number;
	return number <= CB_NUMBERS &&
	       (cores == NULL || (r->x0 <= r->x1 && r->y0 <= r->y1 && r->x1 <= CB_CORE_MAX && r->y1 <= CB_CORE_MAX));
}

int tidemark_report_cb(uint32_t device, uint64_t bytes, uint32_t buffer_index, const struct tidemark_core_range *cores)
{
	struct tidemark_buffer b = TIDEMARK_BUFFER_INIT;
	if (!tidemark_active_)
		return 0;
	b.device = device;
	b.flags = TIDEMARK_NO_ADDRESS;
	b.bytes_per_bank = bytes;
	b.cores = cores != NULL ? (uint32_t)(cores->x1 - cores->x0 + 1) * (uint32_t)(cores->y1 - cores->y0 + 1) : 1;
	b.ranges = cores;
	b.range_count = cores != NULL;
	/* For an invalid buffer, reports a kind that does not exist; the library then refuses and counts that
	 * report. */
	bool is_good = cb_id(buffer_index, cores, &b.id) && !__builtin_mul_overflow(bytes, (uint64_t)b.cores, &b.bytes);
	b.kind = is_good ? TIDEMARK_CB : TIDEMARK_KIND_COUNT;
	return report(&b, REPLACES, __builtin_frame_address(0));
}

int tidemark_report_cb_free(
	uint32_t device, uint64_t bytes, uint32_t buffer_index, const struct tidemark_core_range *cores)
{
	uint64_t id;
	(void)bytes;
	if (!tidemark_active_)
		return 0;
	bool is_good = cb_id(buffer_index, cores, &id);
	if (cores == NULL && is_good) {
		int64_t count = tidemark_free_matching(device, TIDEMARK_CB, CB_BIT | CB_NUMBERS, CB_BIT | buffer_index);
		if (count != 0)
			return count < 0 ? (int)count : 0;
	}
	return tidemark_free_(device, is_good ? TIDEMARK_CB : TIDEMARK_KIND_COUNT, id);
}

/* ---- the library's version, and the texts of its error codes ---- */

/* The public header is installed unchanged, so it repeats the build's version. */
static_assert(TIDEMARK_VERSION_MAJOR == TDM_VERSION_MAJOR, "tidemark.h has a different major version");
static_assert(TIDEMARK_VERSION_MINOR == TDM_VERSION_MINOR, "tidemark.h has a different minor version");
static_assert(TIDEMARK_VERSION_PATCH == TDM_VERSION_PATCH, "tidemark.h has a different patch version");
static_assert(sizeof(TIDEMARK_VERSION) == sizeof(TDM_VERSION_STRING), "tidemark.h spells the version differently");

const char *tidemark_version(void)
{
	return TIDEMARK_VERSION;
}

uint32_t tidemark_version_number(void)
{
	return TIDEMARK_VERSION_NUMBER;
}

/* The library's return codes, with texts in the library's own terms. */
static const struct {
	int code;
	const char *text;
} texts[] = {
	{ -EINVAL, "refused: a kind or flag that does not exist, a structure that is too small, cores that are given "
		   "twice or are no rectangle, or a size that no device has" },
	{ -ENOENT, "no live buffer with this id on this device" },
	{ -EEXIST, "a live buffer with this id is already known on this device" },
	{ -ENODEV, "nothing was ever reported for this device" },
	{ -EBUSY, "called in a signal handler that interrupted a report, or a thread has stopped in a report on this "
		  "device" },
	{ -ENOSPC, "no room: the file system of the ledgers is full (TIDEMARK_DIR), or there are too many devices or "
		   "segments" },
	{ -ENOMEM, "no memory left for the ledger of this process" },
	{ -EFBIG, "the ledger would exceed the limit on the size of files" },
	{ -ENOTDIR, "the directory of the ledgers does not exist (TIDEMARK_DIR)" },
	{ -EACCES, "no permission to make a ledger in its directory (TIDEMARK_DIR)" },
	{ -EPERM, "no permission to make a ledger in its directory (TIDEMARK_DIR)" },
	{ -EROFS, "the directory of the ledgers cannot be written to (TIDEMARK_DIR)" },
	{ -ENAMETOOLONG, "the name of the segment or of the directory of the ledgers (TIDEMARK_DIR) is too long" },
	{ -EMFILE, "this process has no file descriptor left for its ledger" },
	{ -ENFILE, "this machine has no file descriptor left for a ledger" },
	{ -ERANGE, "no segment has this number" },
	{ -EDEADLK, "called in a signal handler that interrupted the phase tracker" },
	{ -EIO, "the ledger or the summary could not be written" },
	{ TIDEMARK_ECAPTURE_ACTIVE, "MemoryUsageTracker: Capture already active" },
	{ TIDEMARK_ECAPTURE_INACTIVE, "MemoryUsageTracker: Cannot snapshot - capture is not active" },
	{ TIDEMARK_ETRACE_NOT_FOUND, "MemoryUsageTracker: Trace not found" },
	{ TIDEMARK_ETRACE_AMBIGUOUS, "MemoryUsageTracker: Trace is ambiguous" },
};

const char *tidemark_strerror(int code)
{
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].code == code)
			return texts[i].text;
	return tdm_err_text(code);
}
