/*
 * The daemon's output and answers in words, most of them as in the first allocation server: a line for each event, the
 * list of live buffers, kernels, statistics. Summaries go into the log on a message, a signal or a timer, and to any
 * client that asks in words. The counters are also metrics.
 */
#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "daemon/socket/socket_server.h"
#include "ledger/archive/archive.h"
#include "ledger/layout/ledger_file.h"
#include "ledger/write/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the log ---- */

enum {
	CAP = 1 << 20,
	LAST_WAIT_MS = 200, /* how long to wait for the reader when the daemon ends */
	RETRY_MS = 20,      /* pause if the loop cannot wait for room in the output */
	SMALL_WRITE = 4096, /* a ready pipe accepts this much at once */
};

static void flush(struct tdm_server_log *log)
{
	struct pollfd out = { .fd = log->watch.fd, .events = POLLOUT };
	bool may_block = !log->is_own && !log->is_file; /* other processes share the descriptor's flags */
	while (log->at < log->len) {
		const char *data = log->data + log->at;
		size_t len = log->len - log->at;
		ssize_t done = -1;
		errno = EAGAIN;
		if (log->is_socket)
			done = send(log->watch.fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		else if (!may_block || poll(&out, 1, 0) != 0)
			done = write(log->watch.fd, data, may_block ? tdm_min(len, SMALL_WRITE) : len);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EAGAIN) {
			log->is_waiting = log->is_waiting || tdm_loop_add(log->loop, &log->watch) == 0;
			if (!log->is_waiting)
				tdm_loop_start(log->loop, &log->flush, RETRY_MS * TDM_NS_PER_MS);
			return;
		}
		log->at = done < 0 ? log->len : log->at + (size_t)done; /* on an error the reader is gone: drop it */
	}
	log->at = log->len = 0;
	if (log->is_waiting)
		tdm_loop_remove(log->loop, &log->watch);
	log->is_waiting = false;
	if (log->lost != log->said) {
		uint64_t count = log->lost - log->said;
		log->said = log->lost;
		tdm_server_log_line(log, "⚠ %llu lines were lost, because the output was not read fast enough\n",
			(unsigned long long)count);
	}
}

static void flush_time(struct tdm_timer *timer)
{
	flush(tdm_loop_owner(timer, struct tdm_server_log, flush));
}

static void writable(struct tdm_watch *watch)
{
	flush(tdm_loop_owner(watch, struct tdm_server_log, watch));
}

void tdm_server_log_init(struct tdm_server_log *log, struct tdm_loop *loop, int fd)
{
	char path[40];
	struct stat facts;
	bool is_known = fstat(fd, &facts) == 0, is_socket = is_known && S_ISSOCK(facts.st_mode);
	bool is_file = is_known && S_ISREG(facts.st_mode);
	int own = -1;
	/* Reopens a terminal or a pipe to make it non-blocking, because the non-blocking flag belongs to the open file,
	 * which we share with the process that started us. Does not reopen a regular file: a regular file accepts
	 * everything at once, and a new descriptor would start at the file's beginning. */
	if (is_known && !is_socket && !is_file) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		own = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	}
	*log = (struct tdm_server_log){ .loop = loop,
		.watch = { .fd = own >= 0 ? own : fd, .events = EPOLLOUT, .ready = writable },
		.flush.ready = flush_time,
		.is_own = own >= 0,
		.is_socket = is_socket,
		.is_file = is_file,
		.data = tdm_alloc(CAP) };
}

void tdm_server_log_done(struct tdm_server_log *log)
{
	struct pollfd out = { .fd = log->watch.fd, .events = POLLOUT };
	if (log->data == NULL)
		return;
	for (int tries = 0; log->len != 0 && tries < CAP / SMALL_WRITE; tries++) {
		flush(log);
		if (log->len != 0 && poll(&out, 1, LAST_WAIT_MS) <= 0)
			break;
	}
	tdm_loop_stop(log->loop, &log->flush);
	if (log->is_waiting)
		tdm_loop_remove(log->loop, &log->watch);
	if (log->is_own)
		close(log->watch.fd);
	free(log->data);
	log->data = NULL;
}

/* Moves the unwritten part to the front if needed. Returns whether there is room. */
static bool log_has_room(struct tdm_server_log *log, size_t len)
{
	if (CAP - log->len >= len)
		return true;
	if (log->at == 0)
		return false;
	memmove(log->data, log->data + log->at, log->len - log->at);
	log->len -= log->at;
	log->at = 0;
	return CAP - log->len >= len;
}

char *tdm_server_log_begin(struct tdm_server_log *log)
{
	if (__builtin_expect(CAP - log->len < TDM_SERVER_LOG_LINE, 0)) {
		if (!log->is_waiting)
			flush(log);
		if (!log_has_room(log, TDM_SERVER_LOG_LINE)) {
			log->lost++;
			return NULL;
		}
	}
	return log->data + log->len;
}

void tdm_server_log_end(struct tdm_server_log *log, const char *end)
{
	log->len = (size_t)(end - log->data);
	if (log->flush.at_ns == 0 && !log->is_waiting)
		tdm_loop_start(log->loop, &log->flush, 0); /* flush after this round of the loop */
}

void tdm_server_log_text(struct tdm_server_log *log, struct tdm_str text)
{
	if (!log->is_waiting && CAP - log->len < text.len)
		flush(log);
	if (!log_has_room(log, text.len)) {
		for (size_t i = 0; i < text.len; i++)
			log->lost += text.ptr[i] == '\n';
		return;
	}
	memcpy(log->data + log->len, text.ptr, text.len);
	tdm_server_log_end(log, log->data + log->len + text.len);
}

void tdm_server_log_line(struct tdm_server_log *log, const char *format, ...)
{
	char *line = tdm_server_log_begin(log);
	va_list ap;
	if (line == NULL)
		return;
	va_start(ap, format);
	int len = vsnprintf(line, TDM_SERVER_LOG_LINE, format, ap);
	va_end(ap);
	if (len >= TDM_SERVER_LOG_LINE) {
		len = TDM_SERVER_LOG_LINE - 1;
		line[len - 1] = '\n';
	}
	tdm_server_log_end(log, line + (len > 0 ? len : 0));
}

char *tdm_put_text(char *to, const char *text, size_t len)
{
	memcpy(to, text, len);
	return to + len;
}

char *tdm_put_decimal(char *to, uint64_t number)
{
	char digits[20];
	unsigned at = sizeof digits;
	do
		digits[--at] = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	return tdm_put_text(to, digits + at, sizeof digits - at);
}

char *tdm_put_hex(char *to, uint64_t number)
{
	unsigned shift = number == 0 ? 0 : (63 - (unsigned)__builtin_clzll(number)) / 4 * 4;
	to = TDM_PUT(to, "0x");
	for (;; shift -= 4) {
		*to++ = "0123456789abcdef"[number >> shift & 15];
		if (shift == 0)
			return to;
	}
}

/* ---- texts ---- */

enum {
	LISTED_MAX = 10,    /* buffers of a kind to list singly; the others are only summed */
	KERNELS_MAX = 1000, /* kernels to list per device */
};
#define UID_ALL UINT32_MAX /* for a reader who may see all buffers */

/* The listed kinds, in the runtime's order and under the runtime's names. */
static const struct {
	uint8_t kind;
	const char *name;
} kinds[] = {
	{ TDM_KIND_DRAM, "DRAM" },
	{ TDM_KIND_L1, "L1" },
	{ TDM_KIND_SYSTEM, "SYSTEM_MEMORY" },
	{ TDM_KIND_L1_SMALL, "L1_SMALL" },
	{ TDM_KIND_TRACE, "TRACE" },
};
enum {
	KINDS = sizeof kinds / sizeof *kinds,
	LISTED_KINDS = 1 << TDM_KIND_DRAM | 1 << TDM_KIND_L1 | 1 << TDM_KIND_SYSTEM | 1 << TDM_KIND_L1_SMALL |
		       1 << TDM_KIND_TRACE,
};

static double megabytes(uint64_t bytes)
{
	return (double)bytes / (1024.0 * 1024.0);
}

static char *put_pid(char *to, int32_t pid)
{
	return TDM_PUT(tdm_put_decimal(TDM_PUT(to, "[PID "), (uint64_t)(pid > 0 ? pid : 0)), "] ");
}

/* These two functions write nearly all lines, so they avoid printf. */
static void put_alloc(
	struct tdm_server_log *log, int32_t pid, const struct tdm_wire_message *m, const struct tdm_change *c)
{
	if (c->has_replaced && c->old_bytes != c->bytes)
		tdm_server_log_line(log,
			"⚠ [PID %d] Buffer reused with DIFFERENT size: old=%" PRIu64 " new=%" PRIu64
			" (buffer_id=0x%" PRIx64 ", device=%d)\n",
			pid, c->old_bytes, c->bytes, m->id, m->device);
	char *line = tdm_server_log_begin(log);
	if (line == NULL)
		return;
	line = TDM_PUT(put_pid(TDM_PUT(line, "✓ "), pid), "Allocated ");
	line = TDM_PUT(tdm_put_decimal(line, c->bytes), " bytes of ");
	for (unsigned i = 0; i < KINDS; i++)
		if (kinds[i].kind == c->kind)
			line = tdm_put_text(line, kinds[i].name, strlen(kinds[i].name));
	line = TDM_PUT(line, " on device ");
	line = TDM_PUT(tdm_put_decimal(line, (uint32_t)m->device), " (buffer_id=");
	tdm_server_log_end(log, TDM_PUT(tdm_put_hex(line, m->id), ")\n"));
}

static void put_free(
	struct tdm_server_log *log, int32_t pid, const struct tdm_wire_message *m, const struct tdm_change *c)
{
	char *line = tdm_server_log_begin(log);
	if (line == NULL)
		return;
	line = TDM_PUT(put_pid(TDM_PUT(line, "✗ "), pid), "Freed buffer ");
	line = TDM_PUT(tdm_put_hex(line, m->id), " on device ");
	line = TDM_PUT(tdm_put_decimal(line, (uint32_t)m->device), " (");
	tdm_server_log_end(log, TDM_PUT(tdm_put_decimal(line, c->bytes), " bytes, FINAL)\n"));
}

/* A line for a circular buffer or kernel, stating how the sum changed. */
static void put_amount(struct tdm_server_log *log, const struct tdm_wire_message *m, const struct tdm_change *c)
{
	bool is_cb = c->kind == TDM_KIND_CB;
	bool is_free = m->type == TDM_WIRE_CB_FREE || m->type == TDM_WIRE_KERNEL_UNLOAD;
	const char *what = is_cb ? is_free ? "CB_FREE" : "CB_ALLOC" : is_free ? "KERNEL_UNLOAD" : "KERNEL_LOAD";
	tdm_server_log_line(log, "%s [%s] %s%sDevice %d: %c%g MB (Total: %g MB)\n", is_free ? "✗" : "✓", what,
		is_cb ? "" : tdm_kernel_types[c->kernel_type], is_cb ? "" : " kernel on ", m->device,
		is_free ? '-' : '+', megabytes(c->bytes), megabytes(c->sum));
}

static void put_refused(struct tdm_server_log *log, int32_t pid, const struct tdm_wire_message *m, int err)
{
	bool is_free = m->type == TDM_WIRE_FREE || m->type == TDM_WIRE_CB_FREE || m->type == TDM_WIRE_KERNEL_UNLOAD;
	if (err == -ENOENT && is_free)
		tdm_server_log_line(log,
			"⚠ [PID %d] Deallocation for unknown buffer 0x%" PRIx64
			" on device %d (allocated before tracking started)\n",
			pid, m->id, m->device);
	else if (err == -ENODEV && m->device < 0)
		tdm_server_log_line(log, "⚠️  Invalid device_id %d - ignoring message\n", m->device);
	else if (err == -ENODEV)
		tdm_server_log_line(log, "⚠ [PID %d] Device %d refused: the process has %d devices already\n", pid,
			m->device, TDM_LEDGER_DEVICES);
	else if (err == -EINVAL && m->type == TDM_WIRE_ALLOC && tdm_wire_kind(m->buffer_type) == TDM_KIND_COUNT)
		tdm_server_log_line(log, "⚠️  Invalid buffer_type %u for buffer %" PRIu64 " on device %d\n",
			m->buffer_type, m->id, m->device);
	else if (err == -EINVAL)
		tdm_server_log_line(log, "⚠️  Invalid size %" PRIu64 " - ignoring message\n", m->bytes);
	else if (err == -ESRCH)
		tdm_server_log_line(
			log, "⚠ [PID %d] Message of an unknown process or one that has ended - ignored\n", pid);
	else
		tdm_server_log_line(log, "⚠ [PID %d] No room to record buffer 0x%" PRIx64 " on device %d: %s\n", pid,
			m->id, m->device, strerror(-err));
}

void tdm_text_event(struct tdm_server_log *log, int32_t pid, const struct tdm_wire_message *m, int err,
	const struct tdm_change *change)
{
	if (err != 0)
		put_refused(log, pid, m, err);
	else if (m->type == TDM_WIRE_ALLOC)
		put_alloc(log, pid, m, change);
	else if (m->type == TDM_WIRE_FREE)
		put_free(log, pid, m, change);
	else
		put_amount(log, m, change);
}

static void put_left(struct tdm_buf *out, const struct tdm_client *client, uint32_t set, const char *what)
{
	struct tdm_held held = tdm_client_held(client, -1, set);
	if (held.buffers != 0)
		tdm_buf_printf(out, "   ✓ Removed %" PRIu64 " %s (%g MB) from PID %d\n", held.buffers, what,
			megabytes(held.bytes), client->pid);
}

/* Writes the buffer's text to the log, and frees the buffer. */
static void log_buf(struct tdm_server *server, struct tdm_buf *text)
{
	tdm_server_log_text(&server->log, tdm_buf_str(text));
	tdm_buf_done(text);
}

void tdm_server_log_left(void *context, const struct tdm_client *client)
{
	struct tdm_buf text = { 0 };
	tdm_buf_puts(&text, "⚠️  Detected dead processes, cleaning up orphaned buffers...\n");
	tdm_buf_printf(&text, "   PID %d is dead, removing its buffers...\n", client->pid);
	put_left(&text, client, LISTED_KINDS, "buffers");
	put_left(&text, client, 1u << TDM_KIND_CB, "CBs");
	put_left(&text, client, 1u << TDM_KIND_KERNEL, "kernels");
	log_buf(context, &text);
}

static bool may_see(const struct tdm_client *client, uint32_t uid)
{
	return uid == UID_ALL || client->uid == uid;
}

static int by_number(const void *a, const void *b)
{
	const struct tdm_device_sum *const *x = a, *const *y = b;
	return tdm_order((*x)->number, (*y)->number);
}

/* The devices, sorted by number. */
static const struct tdm_device_sum **sorted_sums(const struct tdm_clients *clients, size_t *count)
{
	const struct tdm_device_sum **list = tdm_zalloc(clients->sum_count + 1, sizeof(*list));
	*count = 0;
	for (size_t i = 0; i < clients->sum_count; i++)
		if (clients->sum_list[i].users != 0)
			list[(*count)++] = &clients->sum_list[i];
	qsort(list, *count, sizeof(*list), by_number);
	return list;
}

static uint64_t count_all(const struct tdm_clients *clients, const struct tdm_device_sum *only)
{
	uint64_t buffers = 0;
	for (size_t i = 0; i < clients->sum_count; i++)
		for (unsigned k = 0; k < KINDS; k++)
			if (clients->sum_list[i].users != 0 && (only == NULL || only == &clients->sum_list[i]))
				buffers += clients->sum_list[i].buffers[kinds[k].kind];
	return buffers;
}

struct item {
	uint64_t id, bytes;
	int32_t pid;
};

static int by_id(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	return x->id != y->id ? tdm_order(x->id, y->id) : tdm_order((uint64_t)x->pid, (uint64_t)y->pid);
}

static void put_device(
	struct tdm_buf *out, const struct tdm_clients *clients, const struct tdm_device_sum *sum, uint32_t uid)
{
	tdm_buf_printf(out, "Device %u:\n", sum->number);
	for (unsigned i = 0; i < KINDS; i++) {
		uint32_t kind = kinds[i].kind;
		uint64_t buffers = sum->buffers[kind];
		struct item items[LISTED_MAX];
		size_t listed = 0;
		if (buffers == 0)
			continue;
		tdm_buf_printf(out, "  %s: %" PRIu64 " buffers, %g MB total\n", kinds[i].name, buffers,
			megabytes(sum->bytes[kind]));
		for (size_t k = 0; k < clients->count && buffers <= LISTED_MAX; k++) {
			const struct tdm_client *client = clients->list[k];
			const struct tdm_ledger_slot *slot;
			uint64_t left =
				may_see(client, uid) ? tdm_client_held(client, sum->number, 1u << kind).buffers : 0;
			for (uint32_t at = 0; left != 0 && listed < LISTED_MAX &&
					      (slot = tdm_client_next(client, sum->number, &at, NULL)) != NULL;)
				if (slot->kind == kind) {
					items[listed++] = (struct item){ slot->id, slot->asked, client->pid };
					left--;
				}
		}
		qsort(items, listed, sizeof *items, by_id);
		for (size_t k = 0; k < listed; k++)
			tdm_buf_printf(out, "    - Buffer 0x%" PRIx64 ": %g KB (PID %d, ref_count=1)\n", items[k].id,
				(double)items[k].bytes / 1024.0, items[k].pid);
	}
}

/* The list of live buffers: totals of all clients, but single buffers only of those clients that `uid` may see. */
static void put_remaining(struct tdm_buf *out, const struct tdm_clients *clients, uint32_t uid)
{
	uint64_t all = count_all(clients, NULL);
	size_t count;
	tdm_buf_puts(out, "\n╔══════════════════════════════════════════════════════════════╗\n"
			  "║           REMAINING ALLOCATED BUFFERS                       ║\n"
			  "╚══════════════════════════════════════════════════════════════╝\n");
	tdm_buf_printf(out, "Total tracked allocations: %" PRIu64 "\n\n", all);
	if (all == 0) {
		tdm_buf_puts(out, "✓ No buffers remaining - perfect cleanup!\n");
		return;
	}
	const struct tdm_device_sum **sums = sorted_sums(clients, &count);
	for (size_t i = 0; i < count; i++)
		if (count_all(clients, sums[i]) != 0)
			put_device(out, clients, sums[i], uid);
	free(sums);
	tdm_buf_printf(out, "\nTotal remaining buffers: %" PRIu64 "\n\n", all);
}

static void put_kernels(struct tdm_buf *out, const struct tdm_clients *clients, uint32_t uid)
{
	const struct tdm_ledger_clock now = tdm_ledger_clock_now(), *began = &clients->began;
	uint64_t all = 0, ticks = now.tsc - began->tsc, ns = now.monotonic_ns - began->monotonic_ns;
	double s_per_tick = ticks != 0 ? (double)ns / (double)ticks / 1e9 : 0;
	const struct tdm_ledger_slot *slot;
	const struct tdm_ledger_more *more;
	size_t count;
	const struct tdm_device_sum **sums = sorted_sums(clients, &count);
	for (size_t i = 0; i < count; i++)
		all += sums[i]->buffers[TDM_KIND_KERNEL];
	tdm_buf_puts(out, "\n╔══════════════════════════════════════════════════════════════╗\n"
			  "║           DETAILED KERNEL ALLOCATIONS                       ║\n"
			  "╚══════════════════════════════════════════════════════════════╝\n");
	tdm_buf_printf(out, "Total kernel allocations: %" PRIu64 "\n\n", all);
	for (size_t i = 0; i < count; i++) {
		uint64_t kernels = sums[i]->buffers[TDM_KIND_KERNEL];
		if (kernels == 0)
			continue;
		tdm_buf_printf(out, "📊 Device %u - Total: %g MB (%" PRIu64 " kernels)\n", sums[i]->number,
			megabytes(sums[i]->bytes[TDM_KIND_KERNEL]), kernels);
		uint64_t left = KERNELS_MAX;
		for (size_t k = 0; k < clients->count; k++)
			if (may_see(clients->list[k], uid) &&
				tdm_client_held(clients->list[k], sums[i]->number, 1u << TDM_KIND_KERNEL).buffers != 0)
				for (uint32_t at = 0; left != 0 && (slot = tdm_client_next(clients->list[k],
									    sums[i]->number, &at, &more)) != NULL;) {
					if (slot->kind != TDM_KIND_KERNEL)
						continue;
					left--;
					unsigned type = tdm_client_kernel_type(clients->list[k], slot->name);
					tdm_buf_printf(out, "  ├─ Kernel ID: 0x%" PRIx64 "\n  │  Type: %s\n", slot->id,
						tdm_kernel_types[type]);
					tdm_buf_printf(out,
						"  │  Size: %g KB\n  │  Owner PID: %d\n  │  Age: %.0f seconds\n",
						(double)slot->asked / 1024.0, clients->list[k]->pid,
						now.tsc > more->tsc ? (double)(now.tsc - more->tsc) * s_per_tick : 0);
				}
		if (kernels > KERNELS_MAX - left)
			tdm_buf_printf(out, "  └─ %" PRIu64 " kernels more\n", kernels - (KERNELS_MAX - left));
		tdm_buf_putc(out, '\n');
	}
	free(sums);
}

/* A server counter: a metric and, for some counters, also a line in the statistics. */
struct counted {
	const char *line; /* line in the statistics, or NULL */
	const char *name, *labels;
	enum tdm_metric_type type;
	const char *help;
	uint64_t value;
};

enum { COUNTED_MAX = 48 };

static uint64_t count_messages(const struct tdm_server *server, const uint8_t *types)
{
	uint64_t count = 0;
	for (; *types != 0; types++)
		count += server->clients.counters.messages[*types];
	return count;
}

static size_t count_server(const struct tdm_server *server, struct counted list[COUNTED_MAX])
{
	static const enum tdm_metric_type gauge = TDM_METRIC_GAUGE, counter = TDM_METRIC_COUNTER;
	static const char messages[] = "Messages by type.", refused[] = "Messages that were refused, by reason.";
	static const uint8_t allocs[] = { TDM_WIRE_ALLOC, TDM_WIRE_CB_ALLOC, TDM_WIRE_KERNEL_LOAD, 0 },
			     frees[] = { TDM_WIRE_FREE, TDM_WIRE_CB_FREE, TDM_WIRE_KERNEL_UNLOAD, 0 },
			     queries[] = { TDM_WIRE_QUERY, TDM_WIRE_DEVICE_INFO_QUERY, 0 };
	const struct tdm_server_counters *c = &server->clients.counters;
	const struct tdm_archive_stats archive = tdm_archive_get_stats(server->archive);
	uint64_t other = 0, queued = server->log.len - server->log.at, ledgers = 0, ledger_bytes = 0;
	uint64_t alloc = count_messages(server, allocs), free = count_messages(server, frees),
		 query = count_messages(server, queries);
	for (int type = 0; type < TDM_WIRE_TYPE_END; type++)
		other += c->messages[type];
	for (const struct tdm_connection *at = server->first; at != NULL; at = at->next)
		queued += at->is_quick ? 0 : at->out.len - at->out_at;
	for (size_t i = 0; i < server->clients.count; i++)
		if (server->clients.list[i]->writer != NULL) {
			ledgers++;
			ledger_bytes += server->clients.list[i]->writer->file.size;
		}
	const struct counted all[] = {
		{ "Processes with buffers tracked", "tt_server_clients", "", gauge,
			"Processes that the socket server serves.", server->clients.count },
		{ "Connections open", "tt_server_connections", "", gauge, "Open connections of the socket server.",
			server->open },
		{ "Connections since the start", "tt_server_accepted", "", counter, "Connections that were accepted.",
			c->connections },
		{ "Connections refused", "tt_server_refused_connections", "", counter,
			"Connections for which there was no descriptor or no memory.", c->refused_connections },
		{ NULL, "tt_server_messages", "type=\"alloc\"", counter, messages, alloc },
		{ NULL, "tt_server_messages", "type=\"free\"", counter, messages, free },
		{ NULL, "tt_server_messages", "type=\"query\"", counter, messages, query },
		{ NULL, "tt_server_messages", "type=\"other\"", counter, messages, other - alloc - free - query },
		{ NULL, "tt_server_received_bytes", "", counter, "Bytes of messages received.",
			c->bytes + c->quick_bytes },
		{ "Messages of unknown type", "tt_server_refused_messages", "reason=\"type\"", counter, refused,
			c->unknown_types },
		{ "Refused: device", "tt_server_refused_messages", "reason=\"device\"", counter, refused,
			c->refused_device },
		{ "Refused: size or kind", "tt_server_refused_messages", "reason=\"invalid\"", counter, refused,
			c->refused_invalid },
		{ "Refused: no room", "tt_server_refused_messages", "reason=\"space\"", counter, refused,
			c->refused_space },
		{ "Refused: unknown process", "tt_server_refused_messages", "reason=\"nobody\"", counter, refused,
			c->refused_nobody },
		{ "Refused: too many lists", "tt_server_refused_messages", "reason=\"busy\"", counter, refused,
			c->refused_busy },
		{ "Connections closed: not messages", "tt_server_bad_streams", "", counter,
			"Connections that were closed because their bytes are no messages.", c->bad_streams },
		{ "Connections that ended within a message", "tt_server_half_messages", "", counter,
			"Connections that ended within a message.", c->half_messages },
		{ "Messages that name another process", "tt_server_claimed_pids", "", counter,
			"Messages that name another process than the one that sent them.", c->other_pids },
		{ "Allocated again while live", "tt_server_replaced_buffers", "", counter,
			"Buffers that were allocated again while they were live.", c->replaced },
		{ "Releases of unknown buffers", "tt_server_unknown_releases", "", counter,
			"Releases of buffers that were not live.", c->unknown },
		{ "Releases that several buffers match", "tt_server_ambiguous_releases", "", counter,
			"Releases of an id that buffers of several kinds had; the newest was released.", c->ambiguous },
		{ "Processes ended", "tt_server_ended_clients", "", counter, "Clients whose process has ended.",
			c->died },
		{ "Buffers they left", "tt_server_left_buffers", "", counter,
			"Live buffers that clients had when they ended.", c->leaked_buffers },
		{ "Bytes they left", "tt_server_left_bytes", "", counter, "Memory that clients held when they ended.",
			c->leaked_bytes },
		{ NULL, "tt_server_resumed_ledgers", "", counter,
			"Ledgers that an earlier daemon left and this one continued.", c->resumed },
		{ "Lines lost", "tt_server_lost_log_lines", "", counter,
			"Lines of the log that were dropped because nobody took them in time.", server->log.lost },
		{ "Waits for a client that does not read", "tt_server_reply_waits", "", counter,
			"Times that a client did not take its replies and was not listened to for a while.", c->waits },
		{ NULL, "tt_server_queued_bytes", "", gauge, "Replies and log lines that wait.", queued },
		{ NULL, "tt_server_ledgers", "", gauge, "Ledgers that the daemon writes for its clients.", ledgers },
		{ NULL, "tt_server_ledger_bytes", "", gauge, "Shared memory that these ledgers take.", ledger_bytes },
		{ NULL, "tt_archive_ledgers", "", gauge, "Ledgers of ended processes that are kept on disk.",
			archive.disk_count },
		{ NULL, "tt_archive_bytes", "", gauge, "Disk space that these ledgers take.", archive.disk_bytes },
		{ NULL, "tt_archive_removed_ledgers", "", counter,
			"Ledgers of ended processes that were removed because of the limits.",
			archive.removed + archive.dropped },
	};
	static_assert(sizeof all / sizeof *all <= COUNTED_MAX, "the list has room for all counters");
	memcpy(list, all, sizeof all);
	return sizeof all / sizeof *all;
}

void tdm_server_metrics(const struct tdm_server *server, struct tdm_metrics_text *text)
{
	struct counted list[COUNTED_MAX];
	struct tdm_metric metrics[COUNTED_MAX];
	size_t count = count_server(server, list);
	for (size_t i = 0; i < count; i++)
		metrics[i] =
			(struct tdm_metric){ list[i].name, list[i].labels, list[i].type, list[i].help, list[i].value };
	tdm_metrics_list(text, metrics, count);
}

static void put_statistics(struct tdm_server *server, struct tdm_buf *out)
{
	const struct tdm_clients *clients = &server->clients;
	struct counted list[COUNTED_MAX];
	size_t devices, count = count_server(server, list);
	const struct tdm_device_sum **sums = sorted_sums(clients, &devices);
	tdm_buf_puts(out, "📊 Current Statistics:\n");
	for (size_t i = 0; i < devices; i++) {
		const struct tdm_device_sum *sum = sums[i];
		uint64_t total = 0;
		tdm_buf_printf(out, "  Device %u:\n    Buffers: %" PRIu64 "\n", sum->number, count_all(clients, sum));
		for (unsigned k = 0; k < KINDS; k++) {
			uint64_t bytes = sum->bytes[kinds[k].kind];
			total += bytes;
			if (k < 2 || bytes != 0)
				tdm_buf_printf(out, "    %s: %" PRIu64 " bytes (%g KB)\n", kinds[k].name, bytes,
					(double)bytes / 1024.0);
		}
		if (sum->buffers[TDM_KIND_CB] != 0)
			tdm_buf_printf(out, "    CB: %" PRIu64 " bytes (%" PRIu64 " circular buffers)\n",
				sum->bytes[TDM_KIND_CB], sum->buffers[TDM_KIND_CB]);
		if (sum->buffers[TDM_KIND_KERNEL] != 0)
			tdm_buf_printf(out, "    KERNEL: %" PRIu64 " bytes (%" PRIu64 " kernels)\n",
				sum->bytes[TDM_KIND_KERNEL], sum->buffers[TDM_KIND_KERNEL]);
		tdm_buf_printf(out, "    Total: %" PRIu64 " bytes\n", total);
	}
	free(sums);
	tdm_buf_printf(out, "  Active allocations: %" PRIu64 "\n", count_all(clients, NULL));
	tdm_buf_printf(out, "  Allocations: %" PRIu64 "\n", clients->counters.allocations);
	tdm_buf_printf(out, "  Releases: %" PRIu64 "\n", clients->counters.releases);
	for (size_t i = 0; i < count; i++)
		if (list[i].line != NULL)
			tdm_buf_printf(out, "  %s: %" PRIu64 "\n", list[i].line, list[i].value);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

void tdm_server_dump(struct tdm_server *server)
{
	struct tdm_buf text = { 0 };
	put_remaining(&text, &server->clients, UID_ALL);
	log_buf(server, &text);
}

/*
 * A list of live buffers takes time, and any client may request it. After a first budget, lists take at most a tenth of
 * the time, so that repeated requests do not delay other clients.
 */
static bool may_list(struct tdm_server *server)
{
	enum { SHARE = 10 };
	const uint64_t moment_ns = 20 * TDM_NS_PER_MS;
	uint64_t now_ns = tdm_clock_ns(), paid_ns = (now_ns - server->list_at_ns) / SHARE;
	server->list_ns -= tdm_min(server->list_ns, paid_ns);
	server->list_at_ns = now_ns;
	server->clients.counters.refused_busy += server->list_ns > moment_ns;
	return server->list_ns <= moment_ns;
}

static void end_list(struct tdm_server *server)
{
	uint64_t now_ns = tdm_clock_ns();
	server->list_ns += now_ns - server->list_at_ns;
	server->list_at_ns = now_ns;
}

void tdm_server_dump_asked(struct tdm_server *server, bool of_kernels)
{
	const char *name = of_kernels ? "DUMP_KERNELS" : "DUMP_REMAINING";
	struct tdm_buf text = { 0 };
	if (!may_list(server))
		return;
	tdm_buf_printf(&text, "📋 Received %s request...\n", name);
	(of_kernels ? put_kernels : put_remaining)(&text, &server->clients, UID_ALL);
	tdm_buf_printf(&text, "📋 %s complete.\n", name);
	log_buf(server, &text);
	end_list(server);
}

void tdm_server_dump_statistics(struct tdm_server *server)
{
	struct tdm_buf text = { 0 };
	put_statistics(server, &text);
	log_buf(server, &text);
}

void tdm_server_say_left(struct tdm_server *server)
{
	const struct tdm_server_counters *c = &server->clients.counters;
	char state[TDM_LEDGER_PATH_MAX];
	if (c->leaked_buffers == 0)
		return;
	bool has_state = tdm_archive_state_dir(state) == 0;
	tdm_server_log_line(&server->log,
		"⚠ Ended processes have left %llu buffers (%g MB); their ledgers are in %s%s%s\n",
		(unsigned long long)c->leaked_buffers, (double)c->leaked_bytes / (1024.0 * 1024.0), server->clients.dir,
		has_state ? ", older ones in " : "", has_state ? state : "");
}

void tdm_server_answer(struct tdm_connection *c, struct tdm_str question)
{
	enum { WAITING_MAX = 64 << 20 };
	struct tdm_server *server = c->server;
	bool is_summary = tdm_str_is(question, "summary"), is_list = is_summary || tdm_str_is(question, "kernels");
	/* Users who can read all ledgers see everything; others see only their own processes. */
	uint32_t sight = c->peer.uid == 0 || c->peer.uid == geteuid() ? UID_ALL : c->peer.uid;
	/* Includes unread answers: there may be no room for another one. */
	size_t waiting = 0;
	for (const struct tdm_connection *other = server->first; other != NULL && is_list; other = other->next)
		waiting += other->is_quick ? 0 : other->out.len;
	server->clients.counters.refused_busy += waiting > WAITING_MAX;
	if (is_list && (waiting > WAITING_MAX || (sight != UID_ALL && !may_list(server))))
		tdm_buf_puts(&c->out, "too many lists were asked for; ask again in a moment\n");
	else if (is_list)
		(is_summary ? put_remaining : put_kernels)(&c->out, &server->clients, sight);
	else if (tdm_str_is(question, "statistics"))
		put_statistics(server, &c->out);
	else if (tdm_str_is(question, "takeover") && sight != UID_ALL)
		tdm_buf_puts(&c->out, "only the daemon's own user and root may take over\n");
	else if (tdm_str_is(question, "takeover"))
		tdm_takeover_give(server, c->watch.fd);
	else
		tdm_buf_puts(&c->out, "unknown question; known are: summary, kernels, statistics, takeover\n");
	if (is_list && sight != UID_ALL)
		end_list(server);
}
