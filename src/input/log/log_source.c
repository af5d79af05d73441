/*
 * Reads logs as records or as events: allocations and frees logged by the runtime's shared-memory tracking or by an
 * allocation server, circular buffers that a program reports, operations, and out-of-memory errors. Ids are assigned
 * here, one per buffer; if the log gives an address, the address becomes the buffer's name.
 *
 * Live buffers are kept in one list and found by a key: process, device and address if the log has addresses, else
 * process, device, kind and size. In the latter case, a free releases the youngest live buffer with that key; the sums
 * are correct whichever buffer was actually freed.
 */
#include "base/err.h"
#include "base/memory.h"
#include "input/door/format.h"
#include "input/log/log_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIVE_MAX = 1 << 22, PROCESSES_MAX = 1 << 16, PENDING = 4, NOBODY = UINT32_MAX };

struct held {
	uint64_t key, id;
	uint32_t process, device; /* process is NOBODY in an unused entry */
	uint32_t next; /* the next older buffer with the same key, or the next unused entry, or TDM_MAP_NONE */
	uint8_t kind;
};

struct log_source {
	struct tdm_source source;
	struct tdm_log_reader reader;
	struct tdm_map youngest;  /* from key to index in `held` */
	struct tdm_map processes; /* from pid to index */
	struct tdm_map described; /* devices for which a TDM_OP_DEVICE was returned */
	struct held *held;
	size_t held_count, held_cap;
	uint32_t spare;
	uint64_t next_id, l1_small;
	struct tdm_event pending[PENDING]; /* decoded events not yet returned */
	size_t pending_at, pending_count;
	uint32_t gone;      /* a process whose buffers are being released one by one, or NOBODY */
	size_t gone_at;     /* how far the releasing has got in `held` */
	uint64_t gone_line; /* the line that reports the end of that process */
	struct tdm_process who;
	char text[64], name[32];
};

static struct tdm_event *push(struct log_source *s, enum tdm_op op, const struct tdm_log_record *r)
{
	struct tdm_event *event = &s->pending[s->pending_count++];
	*event = (struct tdm_event){
		.time_ns = r->time_ns,
		.op = (uint8_t)op,
		.device = r->device != TDM_LOG_DEVICE_UNKNOWN ? r->device : 0,
		.kind = r->kind < TDM_KIND_COUNT ? r->kind : TDM_KIND_DRAM,
		.address = TDM_ADDRESS_UNKNOWN,
		.bytes_per_bank = TDM_SIZE_UNKNOWN,
		.position = r->line,
	};
	return event;
}

/* ---- live buffers ---- */

static uint64_t key_of(const struct tdm_log_record *r, uint32_t process)
{
	uint64_t what = r->type == TDM_LOG_CB_ALLOC ? r->cb : r->id != TDM_LOG_UNKNOWN ? r->id : r->bytes;
	unsigned form = r->type == TDM_LOG_CB_ALLOC ? 1 : r->id != TDM_LOG_UNKNOWN ? 2 : 3U + r->kind;
	return tdm_hash_u64(tdm_hash_u64((uint64_t)process << 8 | form) ^ tdm_hash_u64(what) ^ r->device);
}

static int hold(struct log_source *s, const struct tdm_event *event, uint64_t key)
{
	uint32_t index = s->spare;
	if (index != TDM_MAP_NONE) {
		s->spare = s->held[index].next;
	} else {
		if (s->held_count == LIVE_MAX)
			return -E2BIG;
		tdm_grow(&s->held, &s->held_cap, s->held_count + 1, sizeof *s->held);
		index = (uint32_t)s->held_count++;
	}
	s->held[index] = (struct held){ key, event->id, (uint32_t)event->process, event->device,
		tdm_map_find(&s->youngest, key), event->kind };
	tdm_map_set(&s->youngest, key, index);
	return 0;
}

/* Removes the youngest buffer with this key from the list; false if there is no such buffer. */
static bool release(struct log_source *s, uint64_t key, struct held *gone)
{
	uint32_t index = tdm_map_take(&s->youngest, key);
	if (index == TDM_MAP_NONE)
		return false;
	*gone = s->held[index];
	if (gone->next != TDM_MAP_NONE)
		tdm_map_set(&s->youngest, key, gone->next);
	s->held[index] = (struct held){ .process = NOBODY, .next = s->spare };
	s->spare = index;
	return true;
}

/* ---- records to events ---- */

/* The process of a record; describes the process first if it is new. */
static int process_of(struct log_source *s, const struct tdm_log_record *r, uint32_t *process)
{
	*process = 0; /* process 0 is for lines without a pid */
	if (r->pid <= 0)
		return 0;
	*process = tdm_map_find(&s->processes, (uint64_t)r->pid);
	if (*process != TDM_MAP_NONE)
		return 0;
	*process = (uint32_t)s->processes.count + 1;
	if (*process > PROCESSES_MAX)
		return -E2BIG;
	tdm_map_set(&s->processes, (uint64_t)r->pid, *process);
	s->who = (struct tdm_process){ .pid = r->pid, .life = TDM_LIFE_UNKNOWN };
	struct tdm_event *event = push(s, TDM_OP_PROCESS, r);
	event->process = *process;
	event->who = &s->who;
	event->name = tdm_str_of("log");
	return 0;
}

/* A log does not name a device's card, but may show the device's settings. */
static void describe(struct log_source *s, const struct tdm_log_record *r)
{
	uint64_t device = r->device != TDM_LOG_DEVICE_UNKNOWN ? r->device : 0;
	if (s->l1_small == TDM_BYTES_UNKNOWN || tdm_map_find(&s->described, device) != TDM_MAP_NONE)
		return;
	tdm_map_set(&s->described, device, 1);
	snprintf(s->text, sizeof s->text, "device - l1_small=%" PRIu64, s->l1_small);
	push(s, TDM_OP_DEVICE, r)->text = tdm_str_of(s->text);
}

static int take_alloc(struct log_source *s, const struct tdm_log_record *r)
{
	bool is_cb = r->type == TDM_LOG_CB_ALLOC;
	uint32_t process = 0;
	int err = is_cb ? 0 : process_of(s, r, &process);
	if (err == 0 && !is_cb)
		describe(s, r);
	if (err != 0 || r->bytes == TDM_BYTES_UNKNOWN)
		return err;
	if (r->dialect == TDM_LOG_BY_SERVER && r->id != TDM_LOG_UNKNOWN && r->count != 1)
		return 0; /* only another reference to a live buffer */
	uint64_t key = key_of(r, process);
	struct held old;
	if ((is_cb || r->id != TDM_LOG_UNKNOWN) && release(s, key, &old)) { /* its release is missing from the log */
		struct tdm_event *gone = push(s, TDM_OP_FREE, r);
		gone->process = process;
		gone->kind = old.kind;
		gone->id = old.id;
	}
	struct tdm_event *event = push(s, TDM_OP_ALLOC, r);
	event->process = process;
	event->id = ++s->next_id;
	event->size = r->bytes;
	if (r->id != TDM_LOG_UNKNOWN) {
		snprintf(s->name, sizeof s->name, "0x%" PRIx64, r->id);
		event->name = tdm_str_of(s->name);
	}
	if (is_cb) {
		event->kind = TDM_KIND_CB;
		if (r->cores != TDM_LOG_UNKNOWN && r->cores <= UINT16_MAX && r->bytes <= UINT32_MAX) {
			event->bytes_per_bank = r->bytes;
			event->banks = (uint32_t)r->cores;
		}
	}
	return hold(s, event, key);
}

static int take_free(struct log_source *s, const struct tdm_log_record *r)
{
	uint32_t process;
	struct held gone = { .id = 0, .kind = TDM_KIND_COUNT }; /* id 0 means no buffer */
	int err = process_of(s, r, &process);
	bool has_references = r->dialect == TDM_LOG_BY_SERVER && r->id != TDM_LOG_UNKNOWN && r->count != 0;
	if (err != 0 || (r->type == TDM_LOG_FREE && has_references))
		return err;
	if (r->type == TDM_LOG_FREE)
		release(s, key_of(r, process), &gone);
	struct tdm_event *event = push(s, TDM_OP_FREE, r);
	event->process = process;
	event->id = gone.id;
	if (gone.kind < TDM_KIND_COUNT)
		event->kind = gone.kind; /* the line has no kind */
	return 0;
}

static void take_failure(struct log_source *s, const struct tdm_log_record *r)
{
	const struct tdm_failure *f = &r->failure;
	enum tdm_kind kind = tdm_failure_memory(f);
	if (r->is_repeat || kind == TDM_KIND_COUNT)
		return;
	struct tdm_event *event = push(s, TDM_OP_OOM, r);
	event->size = f->asked;
	event->name = f->text;
	event->kind = (uint8_t)kind;
	if (f->banks <= UINT32_MAX && f->bytes_per_bank != TDM_BYTES_UNKNOWN) {
		event->bytes_per_bank = f->bytes_per_bank;
		event->banks = (uint32_t)f->banks;
	}
}

static int take_record(struct log_source *s, const struct tdm_log_record *r)
{
	switch (r->type) {
	case TDM_LOG_ALLOC:
	case TDM_LOG_CB_ALLOC:
		return take_alloc(s, r);
	case TDM_LOG_FREE:
	case TDM_LOG_UNKNOWN_FREE:
		return take_free(s, r);
	case TDM_LOG_PROCESS_GONE: /* the server released everything the process held */
		s->gone_at = 0;
		s->gone_line = r->line;
		return process_of(s, r, &s->gone);
	case TDM_LOG_OP_BEGIN:
		push(s, TDM_OP_PROGRAM, r)->name = r->name;
		return 0;
	case TDM_LOG_FAILURE:
		take_failure(s, r);
		return 0;
	case TDM_LOG_GEOMETRY:
		if (r->geometry.l1_small_size != TDM_BYTES_UNKNOWN)
			s->l1_small = r->geometry.l1_small_size;
		return 0;
	default:
		return 0;
	}
}

/* Releases the next buffer of the ended process; false if there are no more. */
static bool next_gone(struct log_source *s, struct tdm_event *event)
{
	struct held gone;
	while (s->gone_at < s->held_count && s->held[s->gone_at].process != s->gone)
		s->gone_at++;
	if (s->gone_at == s->held_count || !release(s, s->held[s->gone_at].key, &gone)) {
		s->gone = NOBODY;
		return false;
	}
	*event = (struct tdm_event){ .op = TDM_OP_FREE,
		.process = gone.process,
		.device = gone.device,
		.kind = gone.kind,
		.id = gone.id,
		.address = TDM_ADDRESS_UNKNOWN,
		.bytes_per_bank = TDM_SIZE_UNKNOWN,
		.position = s->gone_line };
	return true;
}

static int log_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	struct log_source *s = (struct log_source *)source;
	while (s->pending_at == s->pending_count) {
		struct tdm_log_record record;
		if (s->gone != NOBODY && next_gone(s, event))
			return 1;
		int got = tdm_log_reader_next(&s->reader, &record, diag);
		s->pending_at = s->pending_count = 0;
		if (got == 0)
			return 0;
		int err = got < 0 ? got : take_record(s, &record);
		if (err < 0) {
			source->refused++;
			source->is_cut = s->reader.counts.is_cut;
			s->pending_count = 0;
			return got < 0 ? got
				       : tdm_diag_set(diag, err, record.line, 0,
						 "more live buffers or processes than can be kept");
		}
	}
	*event = s->pending[s->pending_at++];
	return 1;
}

static void log_close(struct tdm_source *source)
{
	struct log_source *s = (struct log_source *)source;
	tdm_log_reader_done(&s->reader);
	tdm_map_done(&s->youngest);
	tdm_map_done(&s->processes);
	tdm_map_done(&s->described);
	free(s->held);
	free(s);
}

static struct tdm_source *log_events(struct tdm_input *input)
{
	struct log_source *s = tdm_zalloc(1, sizeof *s);
	s->source = (struct tdm_source){ .next = log_next, .close = log_close };
	s->spare = TDM_MAP_NONE;
	s->gone = NOBODY;
	s->l1_small = TDM_BYTES_UNKNOWN;
	tdm_log_reader_open(&s->reader, input);
	return &s->source;
}

/* Recognises any text. A log that was truncated while its writer kept its offset begins with zeros. */
static bool log_recognise(struct tdm_str head, const char *path)
{
	size_t at = 0;
	(void)path;
	while (at < head.len && head.ptr[at] == '\0')
		at++;
	for (size_t i = at; i < head.len; i++)
		if ((unsigned char)head.ptr[i] < ' ' &&
			(head.ptr[i] == '\0' || strchr("\t\n\v\f\r\033", head.ptr[i]) == NULL))
			return false;
	return at < head.len;
}

static int log_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_log_reader reader;
	struct tdm_log_record record;
	int got, err = 0;
	tdm_log_reader_open(&reader, input);
	tdm_log_reader_sample(&reader);
	while (err == 0 && (got = tdm_log_reader_next(&reader, &record, diag)) != 0) {
		if (got == 1)
			err = sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_LOG, .log = &record });
		else
			err = got == TDM_ESYNTAX ? tdm_record_refuse(sink, diag, false) : got;
	}
	sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_LOG_END, .log_end = tdm_log_reader_counts(&reader) });
	tdm_log_reader_done(&reader);
	return err;
}

const struct tdm_format tdm_format_log = {
	.name = "log",
	.summary = "log",
	.recognise = log_recognise,
	.events = log_events,
	.records = log_records,
};
