#include "sources/ledger_phases.h"

#include "base/err.h"
#include "base/number.h"
#include "ledger/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { CHUNK = 256 };

/* The DRAM of all devices; unknown if one of them does not say. */
static uint64_t dram_capacity(const struct tdm_ledger *ledger)
{
	uint64_t total = 0;
	for (size_t i = 0; i < tdm_ledger_device_count(ledger); i++) {
		const struct tdm_ledger_view *view = tdm_ledger_device(ledger, i);
		uint64_t bytes = TDM_BYTES_UNKNOWN;
		for (uint32_t k = 0; k < view->region_count && k < TDM_LEDGER_REGIONS; k++)
			if (view->regions[k].kind == TDM_KIND_DRAM &&
				__builtin_mul_overflow(view->regions[k].bank_size, view->regions[k].banks, &bytes))
				bytes = TDM_BYTES_UNKNOWN;
		if (bytes == TDM_BYTES_UNKNOWN || bytes == 0 || __builtin_add_overflow(total, bytes, &total))
			return TDM_BYTES_UNKNOWN;
	}
	return total != 0 ? total : TDM_BYTES_UNKNOWN;
}

/* Everything in DRAM, including traces, as the library counts it for a mark. */
static uint64_t dram_now(const struct tdm_ledger *ledger)
{
	uint64_t total = 0;
	for (size_t i = 0; i < tdm_ledger_device_count(ledger); i++)
		total += tdm_ledger_device(ledger, i)->counts[TDM_KIND_DRAM].bytes +
			 tdm_ledger_device(ledger, i)->counts[TDM_KIND_TRACE].bytes;
	return total;
}

/* The peak of DRAM. The library keeps peaks for each device and kind, so that of a sum is unknown. */
static int64_t dram_peak(const struct tdm_ledger *ledger)
{
	if (tdm_ledger_device_count(ledger) != 1 ||
		tdm_ledger_device(ledger, 0)->counts[TDM_KIND_TRACE].peak_bytes != 0)
		return TDM_PHASE_UNKNOWN;
	return tdm_signed(tdm_ledger_device(ledger, 0)->counts[TDM_KIND_DRAM].peak_bytes);
}

static struct tdm_phase_run *new_run(
	struct tdm_ledger *ledger, struct tdm_phase_runs *runs, uint64_t session, uint64_t capacity)
{
	const struct tdm_ledger_who *who = tdm_ledger_who(ledger);
	char name[64];
	if (session == 0)
		snprintf(name, sizeof name, "%s (%" PRId32 "), marks", who->comm, who->pid);
	else
		snprintf(name, sizeof name, "%s (%" PRId32 "), capture %" PRIu64, who->comm, who->pid, session);
	struct tdm_phase_run *run = tdm_phase_runs_add(runs, tdm_str_of(name));
	if (run != NULL) {
		run->device_memory_bytes = capacity;
		run->device_count = tdm_ledger_device_count(ledger);
	}
	return run;
}

/* Sets the bytes in use at the end of the phase that a mark began, and so its change. */
static void end_mark(struct tdm_phase_run *run, int64_t begin, int64_t end)
{
	struct tdm_phase_figures *f = &run->phases[run->phase_count - 1].figures;
	f->dram_cumulative_current = end;
	f->dram_change = tdm_phase_difference(end, begin);
	run->final_current = end;
}

struct reading {
	struct tdm_ledger *ledger;
	struct tdm_phase_runs *runs;
	struct tdm_phase_runs marks; /* at most one run; goes after the captures at the end */
	uint64_t capacity, session;
	bool captured; /* the last run is a capture that continues */
	int64_t marked_at;
};

static int take_mark(struct reading *r, const struct tdm_ledger_phase *phase, struct tdm_str name)
{
	if (r->marks.count == 0 && new_run(r->ledger, &r->marks, 0, r->capacity) == NULL)
		return -ENOMEM;
	struct tdm_phase_run *run = &r->marks.runs[0];
	if (run->incomplete)
		return 0;
	if (run->phase_count != 0)
		end_mark(run, r->marked_at, tdm_signed(phase->dram_now));
	r->marked_at = tdm_signed(phase->dram_now);
	if (run->phase_count == TDM_PHASES_MAX) {
		run->incomplete = true; /* only the first ones are kept */
		return 0;
	}
	return tdm_phase_run_add(run, name) != NULL ? 0 : -ENOMEM;
}

static int take_segment(struct reading *r, const struct tdm_ledger_phase *phase, struct tdm_str name)
{
	if (!r->captured || r->session != phase->session) {
		if (new_run(r->ledger, r->runs, phase->session, r->capacity) == NULL)
			return -ENOMEM;
		r->captured = true;
		r->session = phase->session;
	}
	struct tdm_phase_run *run = &r->runs->runs[r->runs->count - 1];
	if (run->phase_count == TDM_PHASES_MAX) {
		run->incomplete = run->peak_so_far = true;
		return 0;
	}
	run->no_dispatch |= (phase->flags & TDM_PHASE_NO_DISPATCH) != 0;
	return tdm_phase_run_append(run, name,
		&(struct tdm_phase_figures){
			.dram_peak = phase->dram_peak,
			.dram_allocated = phase->dram_allocated,
			.dram_freed = phase->dram_freed,
			.l1_peak_cb = phase->l1_peak_cb,
			.l1_peak_buffer = phase->l1_peak_buffer,
			.l1_peak_total = phase->l1_peak_total,
		});
}

static int take_all(struct reading *r)
{
	struct tdm_ledger_phase phases[CHUNK];
	for (size_t from = 0;;) {
		int64_t got = tdm_ledger_phases(r->ledger, from, phases, CHUNK);
		if (got <= 0)
			return (int)got;
		for (int64_t i = 0; i < got; i++) {
			bool mark = (phases[i].flags & TDM_PHASE_MARK) != 0;
			struct tdm_str name = tdm_ledger_text(r->ledger, phases[i].name);
			int err = mark ? take_mark(r, &phases[i], name) : take_segment(r, &phases[i], name);
			if (err != 0)
				return err;
		}
		from += (size_t)got;
	}
}

int tdm_ledger_phases_read(const char *path, struct tdm_phase_runs *runs, struct tdm_diag *diag)
{
	struct reading r = { .runs = runs };
	int err = tdm_ledger_open(path, &r.ledger, diag);
	if (err != 0)
		return err;
	r.capacity = dram_capacity(r.ledger);
	err = take_all(&r);
	if (err == 0 && r.marks.count != 0) {
		struct tdm_phase_run *marks = &r.marks.runs[0];
		marks->last_open = !marks->incomplete; /* only the next mark ends a phase */
		if (marks->last_open)
			end_mark(marks, r.marked_at, tdm_signed(dram_now(r.ledger)));
		marks->overall_peak = dram_peak(r.ledger);
		marks->final_current = tdm_signed(dram_now(r.ledger));
		err = tdm_phase_runs_move(runs, &r.marks);
	}
	tdm_phase_runs_done(&r.marks);
	if (err == 0 && runs->count == 0 && tdm_ledger_refused(r.ledger) != 0)
		err = TDM_ECORRUPT;
	tdm_ledger_close(r.ledger);
	return err != 0 ? tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err)) : 0;
}
