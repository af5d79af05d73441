#include "sources/log_source.h"
#include "base/err.h"
#include "base/map.h"
#include "sources/log_reader.h"

#include <errno.h>
#include <stdlib.h>

/*
 * The runtime's lines about shared memory have sizes but no addresses. A free is taken to be of the youngest live
 * buffer of the same process, device, kind and size: the amounts are right whichever it was. Their ids are numbers of
 * our own, with this bit, which no address has.
 */
#define OWN_ID (UINT64_C(1) << 63)

enum { LIVE_MAX = 1 << 22, PROCESSES_MAX = 1 << 16, PENDING = 4 };

/* A buffer of the runtime's lines. */
struct node {
	uint64_t id;
	uint32_t next; /* of the same key; TDM_MAP_NONE */
};

struct log_source {
	struct tdm_source source;
	struct tdm_log_reader reader;
	struct tdm_map live;      /* key of process, device, kind and size: the youngest node */
	struct tdm_map processes; /* pid: index */
	struct tdm_map described; /* devices that an event was given for */
	struct tdm_map cbs;       /* device and index of the circular buffers that are there */
	struct node *nodes;
	uint32_t node_count, node_cap, spare;
	uint64_t next_id;
	struct tdm_log_geometry geometry;
	bool has_geometry;
	struct tdm_event pending[PENDING]; /* decoded, not given yet */
	size_t pending_at, pending_count;
	struct tdm_process who;
	struct tdm_device_info about;
};

static uint64_t key_of(uint64_t process, uint32_t device, uint8_t kind, uint64_t bytes)
{
	return tdm_hash_u64(tdm_hash_u64(process << 8 | kind) ^ tdm_hash_u64(bytes) ^ device);
}

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

/* The process of a record, described when it is new. */
static int process_of(struct log_source *s, const struct tdm_log_record *r, uint64_t *process)
{
	*process = 0;
	if (r->pid <= 0)
		return 0;
	uint32_t index = tdm_map_find(&s->processes, (uint64_t)r->pid);
	if (index == TDM_MAP_NONE) {
		index = (uint32_t)s->processes.count + 1; /* 0 is for lines without a pid */
		if (index > PROCESSES_MAX || tdm_map_put(&s->processes, (uint64_t)r->pid, index) != 0)
			return -ENOMEM;
		s->who = (struct tdm_process){ .pid = r->pid, .life = TDM_LIFE_UNKNOWN };
		struct tdm_event *event = push(s, TDM_OP_PROCESS, r);
		event->process = index;
		event->who = &s->who;
		event->name = tdm_str_of("log");
	}
	*process = index;
	return 0;
}

static void add_region(struct tdm_device_info *about, enum tdm_kind kind, uint64_t base, uint64_t size, uint64_t align)
{
	if (base == TDM_BYTES_UNKNOWN || size == TDM_BYTES_UNKNOWN || size == 0 || size > UINT64_MAX - base)
		return;
	about->regions[about->region_count++] = (struct tdm_region){
		.kind = (uint8_t)kind,
		.base = base,
		.bank_size = size,
		.align = align <= UINT32_MAX ? (uint32_t)align : 0,
	};
}

/* L1 of a device, from the runtime's lines about its partition, when they stand before the device's first buffer. */
static int describe(struct log_source *s, const struct tdm_log_record *r, uint64_t process)
{
	uint64_t device = r->device != TDM_LOG_DEVICE_UNKNOWN ? r->device : 0, key = process << 32 | device;
	const struct tdm_log_geometry *g = &s->geometry;
	if (!s->has_geometry || tdm_map_find(&s->described, key) != TDM_MAP_NONE)
		return 0;
	if (tdm_map_put(&s->described, key, 1) != 0)
		return -ENOMEM;
	s->about = (struct tdm_device_info){ .region_count = 0 };
	add_region(&s->about, TDM_KIND_L1, g->l1_base, g->allocatable_l1_size, g->l1_alignment);
	if (g->l1_small_size != TDM_BYTES_UNKNOWN && g->worker_l1_size != TDM_BYTES_UNKNOWN &&
		g->l1_small_size <= g->worker_l1_size)
		add_region(&s->about, TDM_KIND_L1_SMALL, g->worker_l1_size - g->l1_small_size, g->l1_small_size,
			g->l1_alignment);
	struct tdm_event *event = push(s, TDM_OP_DEVICE, r);
	event->process = process;
	event->about = &s->about;
	return 0;
}

/* Remembers a buffer of the runtime's lines. */
static int node_add(struct log_source *s, uint64_t key, uint64_t id)
{
	uint32_t index = s->spare;
	if (index != TDM_MAP_NONE) {
		s->spare = s->nodes[index].next;
	} else {
		if (s->node_count == s->node_cap) {
			uint32_t cap = s->node_cap != 0 ? s->node_cap * 2 : 256;
			struct node *nodes = cap <= LIVE_MAX ? realloc(s->nodes, cap * sizeof *nodes) : NULL;
			if (nodes == NULL)
				return -ENOMEM;
			s->nodes = nodes;
			s->node_cap = cap;
		}
		index = s->node_count++;
	}
	s->nodes[index] = (struct node){ id, tdm_map_find(&s->live, key) };
	return tdm_map_put(&s->live, key, index);
}

/* The youngest buffer of that key, or a number that no buffer has. */
static uint64_t node_take(struct log_source *s, uint64_t key)
{
	uint32_t index = tdm_map_take(&s->live, key);
	if (index == TDM_MAP_NONE)
		return OWN_ID | s->next_id++;
	uint64_t id = s->nodes[index].id;
	if (s->nodes[index].next != TDM_MAP_NONE)
		tdm_map_put(&s->live, key, s->nodes[index].next); /* cannot fail: there is a free cell */
	s->nodes[index].next = s->spare;
	s->spare = index;
	return id;
}

static int take_alloc(struct log_source *s, const struct tdm_log_record *r)
{
	uint64_t process;
	int err = process_of(s, r, &process);
	if (err == 0)
		err = describe(s, r, process);
	if (err != 0)
		return err;
	if (r->dialect == TDM_LOG_BY_SERVER && r->id != TDM_LOG_UNKNOWN && r->count != 1)
		return 0; /* one more reference to a buffer that is there */
	uint64_t id = r->id;
	if (id == TDM_LOG_UNKNOWN) {
		id = OWN_ID | s->next_id++;
		err = node_add(s, key_of(process, r->device, r->kind, r->bytes), id);
		if (err != 0)
			return err;
	} else if (tdm_map_put(&s->cbs, key_of(process, r->device, UINT8_MAX, id), r->kind) != 0) {
		return -ENOMEM;
	}
	struct tdm_event *event = push(s, TDM_OP_ALLOC, r);
	event->process = process;
	event->id = id;
	event->size = r->bytes;
	return 0;
}

static int take_free(struct log_source *s, const struct tdm_log_record *r)
{
	uint64_t process, id = r->id;
	uint8_t kind = r->kind;
	int err = process_of(s, r, &process);
	if (err != 0)
		return err;
	if (r->dialect == TDM_LOG_BY_SERVER && id != TDM_LOG_UNKNOWN) {
		if (r->count != 0)
			return 0; /* references are left */
		uint32_t known = tdm_map_take(&s->cbs, key_of(process, r->device, UINT8_MAX, id));
		kind = known != TDM_MAP_NONE ? (uint8_t)known : TDM_KIND_COUNT; /* the line does not say */
	} else {
		id = node_take(s, key_of(process, r->device, kind, r->bytes));
	}
	struct tdm_event *event = push(s, TDM_OP_FREE, r);
	event->process = process;
	event->id = id;
	if (kind < TDM_KIND_COUNT)
		event->kind = kind;
	return 0;
}

/* A program that creates a circular buffer again has let go of the one before. */
static int take_cb(struct log_source *s, const struct tdm_log_record *r)
{
	uint64_t key = key_of(UINT32_MAX, r->device, TDM_KIND_CB, r->cb);
	if (r->bytes == TDM_BYTES_UNKNOWN)
		return 0;
	if (tdm_map_find(&s->cbs, key) != TDM_MAP_NONE) {
		struct tdm_event *gone = push(s, TDM_OP_FREE, r);
		gone->kind = TDM_KIND_CB;
		gone->id = r->cb;
	} else if (tdm_map_put(&s->cbs, key, 1) != 0) {
		return -ENOMEM;
	}
	struct tdm_event *event = push(s, TDM_OP_ALLOC, r);
	event->kind = TDM_KIND_CB;
	event->id = r->cb;
	event->size = r->bytes;
	if (r->cores != TDM_LOG_UNKNOWN && r->cores <= UINT16_MAX && r->bytes <= UINT32_MAX) {
		event->bytes_per_bank = r->bytes;
		event->banks = (uint32_t)r->cores;
	}
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

static void merge(uint64_t *into, uint64_t figure)
{
	if (figure != TDM_BYTES_UNKNOWN)
		*into = figure;
}

static void take_geometry(struct log_source *s, const struct tdm_log_geometry *g)
{
	merge(&s->geometry.worker_l1_size, g->worker_l1_size);
	merge(&s->geometry.l1_base, g->l1_base);
	merge(&s->geometry.l1_small_size, g->l1_small_size);
	merge(&s->geometry.l1_bank_size, g->l1_bank_size);
	merge(&s->geometry.allocatable_l1_size, g->allocatable_l1_size);
	merge(&s->geometry.l1_alignment, g->l1_alignment);
	merge(&s->geometry.dram_alignment, g->dram_alignment);
	s->has_geometry = true;
}

/* The server let go of all that the process had. */
static int take_gone(struct log_source *s, const struct tdm_log_record *r)
{
	uint64_t process;
	int err = process_of(s, r, &process);
	if (err == 0)
		push(s, TDM_OP_CLEAR, r)->process = process;
	return err;
}

static int take_record(struct log_source *s, const struct tdm_log_record *r)
{
	switch (r->type) {
	case TDM_LOG_ALLOC:
		return take_alloc(s, r);
	case TDM_LOG_FREE:
		return take_free(s, r);
	case TDM_LOG_UNKNOWN_FREE: {
		uint64_t process;
		int err = process_of(s, r, &process);
		struct tdm_event *event = err == 0 ? push(s, TDM_OP_FREE, r) : NULL;
		if (event != NULL) {
			event->process = process;
			event->id = r->id;
		}
		return err;
	}
	case TDM_LOG_PROCESS_GONE:
		return take_gone(s, r);
	case TDM_LOG_CB_ALLOC:
		return take_cb(s, r);
	case TDM_LOG_OP_BEGIN:
		push(s, TDM_OP_PROGRAM, r)->name = r->name;
		return 0;
	case TDM_LOG_FAILURE:
		take_failure(s, r);
		return 0;
	case TDM_LOG_GEOMETRY:
		take_geometry(s, &r->geometry);
		return 0;
	default:
		return 0;
	}
}

static int log_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	struct log_source *s = (struct log_source *)source;
	while (s->pending_at == s->pending_count) {
		struct tdm_log_record record;
		int got = tdm_log_reader_next(&s->reader, &record, diag);
		s->pending_at = s->pending_count = 0;
		if (got == 0)
			return 0;
		int err = got < 0 ? got : take_record(s, &record);
		if (err < 0) {
			source->refused++;
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
	tdm_map_done(&s->live);
	tdm_map_done(&s->processes);
	tdm_map_done(&s->described);
	tdm_map_done(&s->cbs);
	free(s->nodes);
	free(s);
}

static const struct tdm_source_ops log_ops = {
	.name = "log",
	.next = log_next,
	.close = log_close,
};

static struct log_source *log_new(void)
{
	struct log_source *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NULL;
	s->source.ops = &log_ops;
	s->spare = TDM_MAP_NONE;
	memset(&s->geometry, 0xff, sizeof s->geometry); /* every figure unknown */
	if (tdm_map_init(&s->live) != 0 || tdm_map_init(&s->processes) != 0 || tdm_map_init(&s->described) != 0 ||
		tdm_map_init(&s->cbs) != 0) {
		log_close(&s->source);
		return NULL;
	}
	return s;
}

struct tdm_source *tdm_log_source_open(int fd)
{
	struct log_source *s = log_new();
	if (s != NULL && tdm_log_reader_open(&s->reader, fd) != 0) {
		log_close(&s->source);
		s = NULL;
	}
	return s != NULL ? &s->source : NULL;
}

struct tdm_source *tdm_log_source_memory(const char *data, size_t len)
{
	struct log_source *s = log_new();
	if (s != NULL && tdm_log_reader_memory(&s->reader, data, len) != 0) {
		log_close(&s->source);
		s = NULL;
	}
	return s != NULL ? &s->source : NULL;
}

uint64_t tdm_log_source_offset(const struct tdm_source *source)
{
	return tdm_log_scan_offset(&((const struct log_source *)source)->reader.scan);
}
