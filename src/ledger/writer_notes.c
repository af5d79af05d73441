/* Notes of the process: counters with names, and remarks. Their area is made when the first is noted. */
#include "ledger/writer.h"

#include <errno.h>
#include <string.h>

enum { RETRY_AFTER = 1024 };

/* The area; file_lock is held. NULL: there is no room. */
static struct tdm_ledger_notes *have_notes(struct tdm_writer *writer)
{
	struct tdm_ledger_notes *notes = atomic_load_explicit(&writer->notes, memory_order_relaxed);
	uint64_t offset;
	void *at;
	if (notes != NULL)
		return notes;
	if (writer->notes_retry != 0) {
		writer->notes_retry--;
		return NULL;
	}
	if (tdm_ledger_file_area(&writer->file, sizeof *notes, sizeof *notes, &at, &offset) != 0) {
		writer->notes_retry = RETRY_AFTER;
		return NULL;
	}
	atomic_store_explicit((_Atomic uint64_t *)&writer->file.header->notes_offset, offset, memory_order_release);
	atomic_store_explicit(&writer->notes, at, memory_order_release);
	return at;
}

/* Adds a remark to the list, unless it has it; file_lock is held. */
static void add_remark(struct tdm_writer *writer, struct tdm_ledger_notes *notes, uint32_t text)
{
	uint32_t count = atomic_load_explicit(&writer->remark_count, memory_order_relaxed);
	for (uint32_t i = 0; i < count; i++)
		if (notes->remarks[i] == text)
			return;
	if (count == TDM_LEDGER_NOTE_REMARKS) {
		atomic_fetch_add((_Atomic uint64_t *)&notes->remarks_lost, 1);
		return;
	}
	notes->remarks[count] = text;
	atomic_store_explicit((_Atomic uint64_t *)&notes->remark_count, count + 1, memory_order_release);
	atomic_store_explicit(&writer->remark_count, count + 1, memory_order_release);
}

/* `counter`: NULL for a remark. */
static int note(struct tdm_writer *writer, const unsigned *counter, const char *text)
{
	struct tdm_ledger_notes *notes = NULL;
	struct tdm_quiet guard;
	uint32_t blob = tdm_blobs_put(&writer->blobs, TDM_BLOB_TEXT, text, strnlen(text, TDM_LEDGER_TEXT_MAX), NULL);
	if (blob == 0) {
		tdm_writer_lost(writer, TDM_LOSS_TEXT);
		return -ENOSPC;
	}
	tdm_quiet_begin(&guard);
	if (tdm_lock_take(&writer->file_lock)) {
		notes = have_notes(writer);
		if (notes != NULL && counter == NULL)
			add_remark(writer, notes, blob);
		else if (notes != NULL)
			atomic_store_explicit(
				(_Atomic uint32_t *)&notes->counters[*counter].text, blob, memory_order_release);
		tdm_lock_give(&writer->file_lock);
	}
	tdm_ledger_file_clock(&writer->file);
	tdm_quiet_end(&guard);
	if (notes == NULL)
		tdm_writer_lost(writer, TDM_LOSS_TEXT);
	return notes != NULL ? 0 : -ENOSPC;
}

int tdm_writer_name_counter(struct tdm_writer *writer, unsigned i, const char *name)
{
	return i < TDM_LEDGER_NOTE_COUNTERS ? note(writer, &i, name) : -EINVAL;
}

int tdm_writer_remark(struct tdm_writer *writer, const char *text)
{
	return note(writer, NULL, text);
}
