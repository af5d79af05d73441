/*
 * The public functions. Each checks that it may run (tracking is on, and it did not interrupt the library), turns its
 * arguments into a report, and hands that to the writer.
 */
#include "tidemark.h"

#include "base/clock.h"
#include "base/number.h"
#include "client/tracker.h"
#include "client/client.h"
#include "client/ranges.h"
#include "client/stack.h"
#include "ledger/writer_hot.h"

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

/* Sizes of the structures in version 0.1. Later versions may only be larger. */
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

/* Enters the library: false in a signal handler that interrupted it. Inlined, because it notes the caller's frame. */
tdm_inlined bool enter(void)
{
	if (unlikely(tdm_thread.busy || (tdm_thread.record != NULL && tdm_wthread_is_inside(tdm_thread.record))) &&
		!tdm_thread_recover())
		return false;
	uintptr_t here = tdm_stack_pointer();
	do { /* again if a signal handler has reported in between: it leaves its own frame, and is not busy */
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

/* The writer; also makes the calling thread known to it. */
static struct tdm_writer *own_writer(void)
{
	struct tdm_writer *writer = tdm_client_writer();
	if (writer != NULL && tdm_thread.epoch != atomic_load(&atomic_load(&tdm_live)->epoch))
		tdm_thread_refresh(writer);
	return writer;
}

/*
 * The device of this number, if the thread has used it and it still belongs to the current ledger; else NULL, and the
 * report takes the long way. A signal handler may report between any two instructions and leave another device or a
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

/* Whether the thread is outside the library, i.e. not in a signal handler that interrupted it. */
static inline bool is_free_to_enter(const struct tdm_wthread *self)
{
	return self != NULL && !tdm_wthread_is_inside(self) && !tdm_thread.busy;
}

/* Whether a report must take the long way: the phase tracker is active, stacks are kept, or exit has begun. */
static inline bool is_rare(void)
{
	return atomic_load_explicit(&tdm_rare, memory_order_relaxed) != 0;
}

cold int tdm_client_lose(enum tdm_ledger_loss loss, int err)
{
	struct tdm_writer *writer = tdm_client_peek();
	if (writer != NULL)
		tdm_writer_lost(writer, loss);
	else
		atomic_fetch_add(&tdm_client.unrecorded, 1);
	return err;
}

static inline uint32_t default_banks(const struct tdm_wdevice *device, const struct tidemark_buffer *b)
{
	uint32_t banks = atomic_load_explicit(&device->banks[b->kind], memory_order_relaxed);
	if (likely(banks != 0)) /* never of a kind that is on cores */
		return banks;
	if (tdm_kind_is_per_core(b->kind) && b->cores != 0)
		banks = b->cores;
	else if (tdm_kind_is_per_core(b->kind) && b->ranges != NULL && b->range_count != 0)
		banks = tdm_ranges_cores(b->ranges, b->range_count);
	return banks != 0 ? banks : 1;
}

/* Reciprocals of numbers of banks, computed when they are first needed; 0: not yet. Every thread gets the same result,
 * so it does not matter which one stores it. */
enum { RECIPROCALS = 512 };
static _Atomic uint64_t reciprocals[RECIPROCALS];

/* The bytes in each of `banks` banks, which are not 0. A division would be the most expensive part of a report. */
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

/* The public structure as the writer reads it. */
static inline const struct tdm_report *as_report(const struct tidemark_buffer *b)
{
	return (const struct tdm_report *)(const void *)b;
}

/* Adds ranges and stacks, which most reports do not have. */
static void add_extras(
	struct tdm_writer *writer, const struct tidemark_buffer *b, struct tdm_report_extra *extra, void *frame)
{
	if (b->ranges != NULL && b->range_count != 0) {
		uint32_t count = b->range_count < TDM_LEDGER_RANGES_MAX ? b->range_count : TDM_LEDGER_RANGES_MAX;
		extra->ranges =
			tdm_blobs_put(&writer->blobs, TDM_BLOB_RANGES, b->ranges, count * sizeof *b->ranges, NULL);
		if (extra->ranges == 0 || count != b->range_count)
			tdm_writer_lost(writer, TDM_LOSS_TEXT);
	}
	if (b->frames != NULL && b->frame_count != 0)
		extra->stack = tdm_stack_put(writer, b->frames, b->frame_count);
	else if (tdm_client.stack_depth != 0)
		extra->stack = tdm_stack_take(writer, tdm_client.stack_depth, frame);
}

static struct tdm_wdevice *make_device(uint32_t number, bool is_virtual, struct tdm_writer **writer)
{
	*writer = own_writer();
	struct tdm_wdevice *device = *writer != NULL ? tdm_writer_device(*writer, number, is_virtual) : NULL;
	if (device != NULL && !is_virtual)
		tdm_thread.device = tdm_thread.devices[number % TDM_THREAD_DEVICES] = device;
	return device;
}

/* The device for the long way: a virtual one while the tracker captures without dispatch. */
static struct tdm_wdevice *any_device(uint32_t number, struct tdm_writer **writer)
{
	return make_device(number, tdm_tracker_mode() == TDM_TRACKER_NO_DISPATCH, writer);
}

static int why_no_device(const struct tdm_writer *writer)
{
	return writer != NULL ? -ENOSPC : tdm_client_why_no_writer();
}

/* The long way of an allocation: handles everything that a report can have. */
static int alloc_entered(const struct tidemark_buffer *b, enum tdm_client_how how, void *frame)
{
	const bool is_adopted = how == TDM_CLIENT_ADOPT;
	struct tidemark_buffer whole = { 0 };
	struct tdm_writer *writer;
	memcpy(&whole, b,
		b->size < sizeof whole ? b->size : sizeof whole); /* a program may have an older or a newer header */
	if ((whole.flags & ~(uint32_t)(TDM_SLOT_VIEW | TDM_SLOT_NO_ADDRESS | TDM_SLOT_SHARED | TDM_SLOT_ESTIMATED)) !=
			0 ||
		((whole.flags & TDM_SLOT_SHARED) != 0 && !tdm_kind_is_per_core(whole.kind)) ||
		(whole.ranges != NULL && whole.range_count <= TDM_LEDGER_RANGES_MAX &&
			!tdm_ranges_are_valid(whole.ranges, whole.range_count)))
		return tdm_client_lose(TDM_LOSS_INVALID, -EINVAL);
	/* A buffer from before is on a card, even if nothing is dispatched now. */
	struct tdm_wdevice *device =
		is_adopted ? make_device(whole.device, false, &writer) : any_device(whole.device, &writer);
	if (device == NULL)
		return why_no_device(writer);
	struct tdm_report_extra extra = {
		.thread = tdm_thread.id, .program = tdm_thread.program, .replaces = how == TDM_CLIENT_REPLACE
	};
	if (whole.frames != NULL && !tdm_stack_is_valid(writer, whole.frames, whole.frame_count))
		return tdm_client_lose(TDM_LOSS_INVALID, -EINVAL);
	add_extras(writer, &whole, &extra, frame);
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
	/* A second report of a live buffer implies its release, which the tracker must see. */
	if (old.birth != 0)
		tdm_tracker_free(whole.kind, old.asked, old.bank_bytes, tdm_slot_is_view(old.banks, old.flags));
	tdm_tracker_alloc(whole.kind, whole.bytes, whole.bytes_per_bank, tdm_slot_is_view(extra.banks, whole.flags));
	return 0;
}

cold int tdm_client_report(const struct tidemark_buffer *b, enum tdm_client_how how, void *frame)
{
	if (b == NULL || b->size < FIRST_BUFFER || b->kind >= TIDEMARK_KIND_COUNT)
		return tdm_client_lose(TDM_LOSS_INVALID, -EINVAL);
	if (!enter())
		return tdm_client_lose(TDM_LOSS_NESTED, -EBUSY);
	int err = alloc_entered(b, how, frame);
	leave();
	return err;
}

/* A stack begins with the frame of the public function, which must stay until the report has ended: no tail call. */
#define STAYS(err) __asm__ volatile("" : "+r"(err))
static cold int alloc_long(const struct tidemark_buffer *b)
{
	int err = tdm_client_report(b, TDM_CLIENT_ALLOC, __builtin_frame_address(0));
	STAYS(err);
	return err;
}

int tidemark_adopt_(const struct tidemark_buffer *b)
{
	int err = tdm_client_report(b, TDM_CLIENT_ADOPT, __builtin_frame_address(0));
	STAYS(err);
	return err;
}

/* Whether a report is complete and has nothing special. */
static inline bool is_plain(const struct tidemark_buffer *b)
{
	return b != NULL && b->size >= sizeof *b && b->kind < TIDEMARK_KIND_COUNT &&
	       (b->flags & ~(uint32_t)TDM_SLOT_NO_ADDRESS) == 0 && (b->range_count | b->frame_count) == 0;
}

int tidemark_alloc_(const struct tidemark_buffer *b)
{
	struct tdm_wdevice *device;
	struct tdm_wthread *self;
	/* Tail calls, so that the stack looks as if the program had called these functions. */
	if (unlikely(!is_plain(b) || is_rare() || (device = known_device(b->device)) == NULL ||
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
 * The long way of a release. A buffer that is not on the device may be on its virtual or real counterpart: it was
 * allocated before the tracker began a session without dispatch, or in such a session that has ended.
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
		return tdm_client_lose(TDM_LOSS_INVALID, -EINVAL);
	if (!enter())
		return tdm_client_lose(TDM_LOSS_NESTED, -EBUSY);
	int err = free_entered(number, kind, id);
	leave();
	return err;
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

int tdm_client_open(struct tdm_writer **writer)
{
	if (!tidemark_active_)
		return -ESHUTDOWN;
	if (!enter())
		return tdm_client_lose(TDM_LOSS_NESTED, -EBUSY);
	*writer = own_writer();
	if (*writer != NULL)
		return 0;
	leave();
	return tdm_client_why_no_writer();
}

struct tdm_wdevice *tdm_client_open_device(uint32_t number, bool is_valid, int *err)
{
	struct tdm_writer *writer;
	struct tdm_wdevice *device = NULL;
	*err = 0;
	if (!tidemark_active_)
		return NULL;
	if (!is_valid || !enter()) {
		*err = is_valid ? tdm_client_lose(TDM_LOSS_NESTED, -EBUSY) : tdm_client_lose(TDM_LOSS_INVALID, -EINVAL);
		return NULL;
	}
	device = any_device(number, &writer);
	if (device == NULL) {
		leave();
		*err = tdm_client_off_is_fine(why_no_device(writer));
	}
	return device;
}

void tdm_client_leave(void)
{
	leave();
}

int64_t tdm_client_free_matching(uint32_t number, uint32_t kind, uint64_t mask, uint64_t id)
{
	int err;
	struct tdm_wdevice *device = tdm_client_open_device(number, kind < TIDEMARK_KIND_COUNT, &err);
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
	return tdm_client_free_matching(number, kind, 0, 0);
}

int tidemark_describe_device(const struct tidemark_device *d)
{
	struct tdm_ledger_region regions[TDM_LEDGER_REGIONS];
	int err;
	tdm_client_look_for_daemon();
	bool is_valid = d != NULL && d->size >= FIRST_DEVICE && (d->region_count == 0 || d->regions != NULL) &&
			(d->region_size == 0 || d->region_size >= FIRST_REGION);
	struct tdm_wdevice *device = tdm_client_open_device(is_valid ? d->number : 0, is_valid, &err);
	if (device == NULL)
		return err;
	uint32_t count = d->region_count < TDM_LEDGER_REGIONS ? d->region_count : TDM_LEDGER_REGIONS;
	if (count != d->region_count)
		tdm_writer_lost(device->writer, TDM_LOSS_TEXT);
	size_t step = d->region_size != 0 ? d->region_size : FIRST_REGION;
	for (uint32_t i = 0; i < count; i++)
		memcpy(&regions[i], (const char *)d->regions + i * step, sizeof *regions);
	err = tdm_writer_describe(device, tdm_thread.record, d->card, d->has_chip_id ? &d->chip_id : NULL, d->grid_x,
		d->grid_y, regions, count);
	leave();
	return err;
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
	uint32_t number = 0;
	if (!tidemark_active_ || text == NULL || text[0] == '\0')
		return 0;
	if (!enter()) {
		tdm_client_lose(TDM_LOSS_TEXT, 0);
		return 0;
	}
	struct tdm_writer *writer = own_writer();
	if (writer != NULL)
		number = put_text(writer, text);
	leave();
	return number;
}

uint32_t tidemark_site_slow_(uint64_t *cache, const char *text)
{
	uint32_t number = tidemark_name(text);
	/* One word, so that another thread sees both halves or neither. */
	if (number != 0)
		__atomic_store_n(cache, (uint64_t)tidemark_epoch_ << 32 | number, __ATOMIC_RELAXED);
	return number;
}

int tidemark_program(const char *name)
{
	if (!tidemark_active_)
		return 0;
	uint32_t number = name != NULL ? tidemark_name(name) : 0;
	struct tdm_report report = { .name = number };
	tdm_thread.program = number;
	/* Goes to the time line of the device that the thread uses, if any. */
	if (number != 0 && enter()) {
		if (own_writer() != NULL && tdm_thread.device != NULL)
			tdm_writer_note(
				tdm_thread.device, tdm_thread.record, TDM_LEDGER_PROGRAM, &report, tdm_thread.id);
		leave();
	}
	return name == NULL || number != 0 ? 0 : why_no_device(tdm_client_peek());
}

uint32_t tidemark_swap_program(uint32_t name)
{
	if (!tidemark_active_ || !enter())
		return 0;
	struct tdm_writer *writer = own_writer(); /* a new ledger has no program yet */
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
	if (!enter())
		return tdm_client_lose(TDM_LOSS_NESTED, -EBUSY);
	struct tdm_writer *writer = own_writer();
	if (writer == NULL) {
		err = tdm_client_why_no_writer();
	} else {
		record.name = put_text(writer, name);
		record.end_tsc = tdm_clock_ticks();
		if (record.begin_tsc == 0)
			record.begin_tsc = record.end_tsc;
		for (unsigned i = 0; i < TDM_LEDGER_DEVICES && (device = tdm_writer_get_device(writer, i)) != NULL;
			i++) {
			struct tdm_report report = { .name = record.name };
			struct tdm_writer_figures dram = { 0 }, trace = { 0 };
			tdm_writer_count(device, tdm_thread.record, TDM_KIND_DRAM, &dram, false);
			tdm_writer_count(device, tdm_thread.record, TDM_KIND_TRACE, &trace, false);
			record.dram_now += dram.now.bytes + trace.now.bytes;
			tdm_writer_note(device, tdm_thread.record, TDM_LEDGER_PHASE, &report, tdm_thread.id);
		}
		err = tdm_writer_put_phase(writer, &record);
	}
	leave();
	return err;
}

int tidemark_phase(const char *name)
{
	struct tdm_ledger_phase mark = { .flags = TDM_PHASE_MARK };
	if (name == NULL || name[0] == '\0')
		return -EINVAL;
	return tdm_client_put_phase(&mark, name);
}

/* Reads a word that others may be writing. */
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
