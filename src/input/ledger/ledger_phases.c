#include "input/ledger/ledger_phases.h"

#include "base/err.h"
#include "base/number.h"
#include "input/door/format.h"
#include "ledger/layout/layout.h"
#include "ledger/read/reader.h"

#include <inttypes.h>
#include <stdio.h>

enum { CHUNK = 256 };

/* The total DRAM of all devices; unknown if any device's DRAM is unknown. */
static uint64_t dram_capacity(const struct tdm_ledger *ledger)
{
	uint64_t total = 0;
	for (size_t i = 0; i < tdm_ledger_device_count(ledger); i++) {
		const struct tdm_ledger_view *view = tdm_ledger_device(ledger, i);
		uint64_t bytes = TDM_BYTES_UNKNOWN;
		for (uint32_t k = 0; k < view->info.region_count && k < TDM_LEDGER_REGIONS; k++)
			if (view->info.regions[k].kind == TDM_KIND_DRAM &&
				__builtin_mul_overflow(
					view->info.regions[k].bank_size, view->info.regions[k].banks, &bytes))
				bytes = TDM_BYTES_UNKNOWN;
		if (bytes == TDM_BYTES_UNKNOWN || bytes == 0 || __builtin_add_overflow(total, bytes, &total))
			return TDM_BYTES_UNKNOWN;
	}
	return total != 0 ? total : TDM_BYTES_UNKNOWN;
}

/* Everything in DRAM, including traces, counted as the library does for a mark. */
static uint64_t dram_now(const struct tdm_ledger *ledger)
{
	uint64_t total = 0;
	for (size_t i = 0; i < tdm_ledger_device_count(ledger); i++)
		total += tdm_ledger_device(ledger, i)->counts[TDM_KIND_DRAM].reserved +
			 tdm_ledger_device(ledger, i)->counts[TDM_KIND_TRACE].reserved;
	return total;
}

/* The peak DRAM use. The library keeps peaks per device and kind, so the peak of a sum is unknown. */
static int64_t dram_peak(const struct tdm_ledger *ledger)
{
	if (tdm_ledger_device_count(ledger) != 1 || tdm_ledger_device(ledger, 0)->counts[TDM_KIND_TRACE].peak != 0)
		return TDM_PHASE_UNKNOWN;
	return tdm_signed(tdm_ledger_device(ledger, 0)->counts[TDM_KIND_DRAM].peak);
}

static struct tdm_phase_run *new_run(
	struct tdm_ledger *ledger, struct tdm_phase_runs *runs, uint64_t session, uint64_t capacity)
{
	const struct tdm_ledger_header *who = tdm_ledger_header(ledger);
	char name[64];
	if (session == 0)
		snprintf(name, sizeof name, "%s (%" PRId32 "), marks", who->comm, who->pid);
	else
		snprintf(name, sizeof name, "%s (%" PRId32 "), capture %" PRIu64, who->comm, who->pid, session);
	struct tdm_phase_run *run = tdm_phase_runs_add(runs, tdm_str_of(name));
	run->device_memory_bytes = capacity;
	run->device_count = tdm_ledger_device_count(ledger);
	return run;
}

/* Sets the bytes in use at the end of a phase that began with a mark, and the change since its beginning. */
static void end_mark(struct tdm_phase_run *run, int64_t begin, int64_t end)
{
	struct tdm_phase_figures *f = &run->phases[run->phase_count - 1].figures;
	f->dram_cumulative_current = end;
	f->dram_change = tdm_phase_difference(end, begin);
	run->final_current = end;
}

static void take_segment(struct tdm_phase_run *run, const struct tdm_ledger_phase *phase, struct tdm_str name)
{
	run->no_dispatch |= (phase->flags & TDM_PHASE_NO_DISPATCH) != 0;
	int err = tdm_phase_run_append(run, name,
		&(struct tdm_phase_figures){
			.dram_peak = phase->dram_peak,
			.dram_allocated = phase->dram_allocated,
			.dram_freed = phase->dram_freed,
			.l1_peak_cb = phase->l1_peak_cb,
			.l1_peak_buffer = phase->l1_peak_buffer,
			.l1_peak_total = phase->l1_peak_total,
		});
	run->incomplete |= err != 0;
	run->peak_so_far |= err != 0;
}

int tdm_ledger_phases_read(const char *path, struct tdm_phase_runs *runs, struct tdm_diag *diag)
{
	struct tdm_ledger *ledger;
	struct tdm_ledger_phase phases[CHUNK];
	struct tdm_phase_runs marks = { 0 }; /* holds at most one run, to be appended after the captures */
	uint64_t session = 0;
	int64_t marked_at = 0, got;
	bool captured = false; /* whether the last run is a capture still in progress */
	int err = tdm_ledger_open(path, &ledger, diag);
	if (err != 0)
		return err;
	const uint64_t capacity = dram_capacity(ledger);
	for (size_t from = 0; (got = tdm_ledger_phases(ledger, from, phases, CHUNK)) > 0; from += (size_t)got)
		for (int64_t i = 0; i < got; i++) {
			const struct tdm_ledger_phase *phase = &phases[i];
			struct tdm_str name = tdm_ledger_text(ledger, phase->name);
			if ((phase->flags & TDM_PHASE_MARK) == 0) {
				if (!captured || session != phase->session)
					new_run(ledger, runs, phase->session, capacity);
				captured = true;
				session = phase->session;
				take_segment(&runs->runs[runs->count - 1], phase, name);
				continue;
			}
			if (marks.count == 0)
				new_run(ledger, &marks, 0, capacity);
			struct tdm_phase_run *run = &marks.runs[0];
			if (run->incomplete)
				continue;
			if (run->phase_count != 0)
				end_mark(run, marked_at, tdm_signed(phase->dram_now));
			marked_at = tdm_signed(phase->dram_now);
			run->incomplete = tdm_phase_run_add(run, name) == NULL; /* NULL means too many phases */
		}
	err = (int)got;
	if (err == 0 && marks.count != 0) {
		struct tdm_phase_run *run = &marks.runs[0];
		run->last_open = !run->incomplete; /* no later mark has ended it */
		if (run->last_open)
			end_mark(run, marked_at, tdm_signed(dram_now(ledger)));
		run->overall_peak = dram_peak(ledger);
		run->final_current = tdm_signed(dram_now(ledger));
		tdm_phase_runs_move(runs, &marks);
	}
	tdm_phase_runs_done(&marks);
	if (err == 0 && runs->count == 0 && tdm_ledger_refused(ledger) != 0)
		err = TDM_ECORRUPT;
	tdm_ledger_close(ledger);
	return err != 0 ? tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err)) : 0;
}

/* Only recognises ledgers; commands read them with their own readers. */
static bool ledger_recognise(struct tdm_str head, const char *path)
{
	uint64_t magic = 0;
	(void)path;
	memcpy(&magic, head.ptr, head.len < sizeof magic ? head.len : sizeof magic);
	return magic == TDM_LEDGER_MAGIC;
}

const struct tdm_format tdm_format_ledger = { .name = "ledger", .summary = "ledger", .recognise = ledger_recognise };
