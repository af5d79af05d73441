/*
 * Reports of runtimes, and of hooks in them: statistics, programs that were refused, steps of
 * devices and traces, counters and remarks.
 *
 * The names of counters and the remarks are kept in private memory as well. So a number stays good in a forked child,
 * and in a ledger that is begun later: both get a name there when they are first used.
 */
#include "client/client.h"
#include "client/stack.h"
#include "client/tracker.h"

#include <errno.h>
#include <string.h>

static_assert((int)TIDEMARK_DEVICE_OPENED == (int)TDM_STEP_OPENED &&
		      (int)TIDEMARK_TRACE_RELEASED == (int)TDM_STEP_TRACE_RELEASED,
	"tidemark.h numbers the steps differently");

#define cold __attribute__((cold, noinline))

enum { FIRST_CLASH = 64, BYTES_BITS = 56 }; /* see FIRST_BUFFER in api.c */
static_assert(sizeof(struct tidemark_clash) >= FIRST_CLASH, "fields are only added");

/* Texts in the order in which they came. Only added to, under the lock. */
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

/* The number of a text, from 1, added if it is new. 0: there is no room. */
static uint32_t put_text(struct texts *texts, uint32_t cap, const char *text)
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
			memcpy(texts->list[count], text, len); /* zeros follow */
			atomic_store_explicit(&texts->count, count + 1, memory_order_release);
		}
		found = found < cap ? found + 1 : 0;
		tdm_lock_give(&texts_lock);
	}
	tdm_quiet_end(&guard);
	return found;
}

/* Notes the remarks that this ledger does not have yet. */
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
	return put_text(&counters, TDM_LEDGER_NOTE_COUNTERS, name);
}

/* The first time that it is counted in this ledger. */
static cold int count_first(uint32_t counter, uint64_t more)
{
	struct tdm_writer *writer;
	if (counter == 0)
		return 0; /* there was no room for it */
	if (counter > atomic_load_explicit(&counters.count, memory_order_acquire))
		return -EINVAL;
	int err = tdm_client_open(&writer);
	if (err != 0)
		return tdm_client_off_is_fine(err);
	err = tdm_writer_name_counter(writer, counter - 1, counters.list[counter - 1]);
	if (err == 0)
		err = put_remarks(writer);
	uint64_t *value = tdm_writer_counter(writer, counter - 1);
	if (value != NULL)
		atomic_fetch_add_explicit((_Atomic uint64_t *)value, more, memory_order_relaxed);
	tdm_client_leave();
	return err;
}

/* The usual way takes no lock and enters nothing, so it is safe in a signal handler, too. */
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
	struct tdm_writer *writer;
	if (!tidemark_active_)
		return 0;
	if (text == NULL || text[0] == '\0')
		return -EINVAL;
	if (put_text(&remarks, TDM_LEDGER_NOTE_REMARKS, text) == 0)
		return tdm_client_lose(TDM_LOSS_TEXT, -ENOSPC);
	int err = tdm_client_open(&writer);
	if (err != 0)
		return tdm_client_off_is_fine(err);
	err = put_remarks(writer);
	tdm_client_leave();
	return err;
}

int64_t tidemark_free_matching(uint32_t device, uint32_t kind, uint64_t mask, uint64_t value)
{
	return tidemark_active_ ? tdm_client_free_matching(device, kind, mask, value) : 0;
}

int tidemark_out_of_memory(uint32_t number, uint32_t kind, uint64_t bytes, uint64_t bytes_per_bank)
{
	struct tdm_report report = { .kind = kind, .asked = bytes, .bank_bytes = bytes_per_bank };
	int err;
	struct tdm_wdevice *device = tdm_client_open_device(number, kind < TIDEMARK_KIND_COUNT, &err);
	if (device == NULL)
		return err;
	report.name = tdm_thread.program;
	err = tdm_writer_note(device, tdm_thread.record, TDM_LEDGER_OOM, &report, tdm_thread.id);
	tdm_client_leave();
	return err;
}

/* The end of L1 comes first: what is beyond it has no place at all. */
static enum tdm_clash_type type_of(const struct tidemark_clash *clash)
{
	return clash->l1_size != 0 && clash->end > clash->l1_size       ? TDM_CLASH_BEYOND
	       : clash->l1_lowest != 0 && clash->end > clash->l1_lowest ? TDM_CLASH_L1
									: TDM_CLASH_UNKNOWN;
}

static bool clash_is_valid(const struct tidemark_clash *clash)
{
	return clash != NULL && clash->size >= FIRST_CLASH && clash->kind < TIDEMARK_KIND_COUNT &&
	       tdm_kind_is_per_core(clash->kind) && clash->begin <= clash->end && clash->end >> BYTES_BITS == 0 &&
	       clash->cores.x0 <= clash->cores.x1 && clash->cores.y0 <= clash->cores.y1;
}

int tidemark_report_clash(const struct tidemark_clash *clash)
{
	bool is_valid = clash_is_valid(clash);
	int err;
	struct tdm_wdevice *device = tdm_client_open_device(is_valid ? clash->device : 0, is_valid, &err);
	if (device == NULL)
		return err;
	enum tdm_clash_type type = type_of(clash);
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
	err = tdm_writer_clash(device, tdm_thread.record, type, &row, tdm_thread.id);
	tdm_client_leave();
	return err;
}

int tidemark_report_statistics(uint32_t number, uint32_t kind, uint64_t allocated, uint64_t free, uint64_t largest)
{
	int err;
	struct tdm_wdevice *device = tdm_client_open_device(number, kind < TIDEMARK_KIND_COUNT, &err);
	if (device == NULL)
		return err;
	err = tdm_writer_statistics(device, tdm_thread.record, kind, allocated, free, largest);
	tdm_client_leave();
	return err;
}

int tidemark_report_core_use(uint32_t number, uint32_t kind, uint64_t fullest, uint64_t all)
{
	bool is_valid = kind < TIDEMARK_KIND_COUNT && tdm_kind_is_per_core(kind) && fullest <= all;
	int err;
	struct tdm_wdevice *device = tdm_client_open_device(number, is_valid, &err);
	if (device == NULL)
		return err;
	err = tdm_writer_core_use(device, tdm_thread.record, kind, fullest, all, tdm_thread.id);
	tdm_client_leave();
	return err;
}

/* While a captured trace exists, allocations take the long way, where they are noted. */
static void set_rare(struct tdm_writer *writer)
{
	if (atomic_load(&writer->captured) == 0)
		atomic_fetch_and(&tdm_rare, (unsigned char)~TDM_RARE_TRACE);
	if (atomic_load(&writer->captured) != 0)
		atomic_fetch_or(&tdm_rare, TDM_RARE_TRACE);
}

int tidemark_step(uint32_t number, uint32_t step, uint64_t id)
{
	bool is_valid = step >= TIDEMARK_DEVICE_OPENED && step <= TIDEMARK_TRACE_RELEASED;
	uint32_t stack = 0;
	int err;
	struct tdm_wdevice *device = tdm_client_open_device(number, is_valid, &err);
	if (device == NULL)
		return err;
	if (step == TIDEMARK_TRACE_REPLAYED && tdm_client.stack_depth != 0 && tdm_writer_has_waiting(device))
		stack = tdm_stack_take(device->writer, tdm_client.stack_depth, __builtin_frame_address(0));
	err = tdm_writer_step(device, tdm_thread.record, (enum tdm_step)step, id, tdm_thread.id, stack);
	if (step != TIDEMARK_TRACE_REPLAYED || (atomic_load(&tdm_rare) & TDM_RARE_TRACE) == 0)
		set_rare(device->writer);
	tdm_client_leave();
	return err;
}
