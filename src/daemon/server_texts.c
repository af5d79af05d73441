#include "daemon/server_texts.h"
#include "base/number.h"
#include "ledger/ledger_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	LISTED_MAX = 10,    /* buffers of a kind that are listed one by one; of more, only the sum */
	KERNELS_MAX = 1000, /* listed on a device */
};

/* The kinds of the list, in the runtime's order and under its names. */
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
enum { KINDS = sizeof kinds / sizeof *kinds };

static double megabytes(uint64_t bytes)
{
	return (double)bytes / (1024.0 * 1024.0);
}

static char *put_kind(char *to, enum tdm_kind kind)
{
	for (unsigned i = 0; i < KINDS; i++)
		if (kinds[i].kind == kind)
			return tdm_put_text(to, kinds[i].name, strlen(kinds[i].name));
	return to;
}

static char *put_pid(char *to, int32_t pid)
{
	return TDM_PUT(tdm_put_decimal(TDM_PUT(to, "[PID "), (uint64_t)(pid > 0 ? pid : 0)), "] ");
}

/* The two lines of nearly all events, without printf. */
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
	line = TDM_PUT(put_kind(line, c->kind), " on device ");
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

/* Circular buffers and kernels: how the sum changes. */
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
	uint64_t buffers = 0, bytes = 0;
	for (; set != 0; set &= set - 1) {
		uint64_t n, b;
		tdm_client_count(client, -1, (enum tdm_kind)__builtin_ctz(set), &n, &b);
		buffers += n;
		bytes += b;
	}
	if (buffers != 0)
		tdm_buf_printf(out, "   ✓ Removed %" PRIu64 " %s (%g MB) from PID %d\n", buffers, what,
			megabytes(bytes), client->pid);
}

void tdm_text_left(struct tdm_buf *out, const struct tdm_client *client)
{
	uint32_t set = 0;
	for (unsigned i = 0; i < KINDS; i++)
		set |= 1u << kinds[i].kind;
	tdm_buf_puts(out, "⚠️  Detected dead processes, cleaning up orphaned buffers...\n");
	tdm_buf_printf(out, "   PID %d is dead, removing its buffers...\n", client->pid);
	put_left(out, client, set, "buffers");
	put_left(out, client, 1u << TDM_KIND_CB, "CBs");
	put_left(out, client, 1u << TDM_KIND_KERNEL, "kernels");
}

static bool may_see(const struct tdm_client *client, uint32_t uid)
{
	return uid == TDM_UID_ALL || client->uid == uid;
}

static int by_number(const void *a, const void *b)
{
	const struct tdm_device_sum *const *x = a, *const *y = b;
	return tdm_order((*x)->number, (*y)->number);
}

/* The devices by number; NULL when there are none, or no memory. */
static const struct tdm_device_sum **sorted_sums(const struct tdm_clients *clients, size_t *count)
{
	const struct tdm_device_sum **list = calloc(clients->sums.count + 1, sizeof(*list));
	*count = 0;
	for (size_t i = 0; list != NULL && i < clients->sums.count; i++)
		if (clients->sums.list[i].users != 0)
			list[(*count)++] = &clients->sums.list[i];
	if (list != NULL)
		qsort(list, *count, sizeof(*list), by_number);
	return list;
}

static uint64_t count_all(const struct tdm_clients *clients, const struct tdm_device_sum *only)
{
	uint64_t buffers = 0;
	for (size_t i = 0; i < clients->sums.count; i++)
		for (unsigned k = 0; k < KINDS; k++)
			if (clients->sums.list[i].users != 0 && (only == NULL || only == &clients->sums.list[i]))
				buffers += clients->sums.list[i].buffers[kinds[k].kind];
	return buffers;
}

struct item {
	uint64_t id, bytes;
	int32_t pid;
};

/* The buffers of a device that are few enough to be listed. */
struct listed {
	struct item items[KINDS][LISTED_MAX];
	unsigned count[KINDS];
	uint32_t wanted; /* bits of `kinds` */
	uint32_t left;
};

static bool list_one(void *context, const struct tdm_client *client, const struct tdm_ledger_slot *slot,
	const struct tdm_ledger_more *more)
{
	struct listed *listed = context;
	(void)more;
	for (unsigned i = 0; i < KINDS; i++)
		if ((listed->wanted >> i & 1) != 0 && kinds[i].kind == slot->kind && listed->count[i] < LISTED_MAX) {
			listed->items[i][listed->count[i]++] = (struct item){ slot->id, slot->asked, client->pid };
			return --listed->left != 0;
		}
	return true;
}

static int by_id(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	return x->id != y->id ? tdm_order(x->id, y->id) : tdm_order((uint64_t)x->pid, (uint64_t)y->pid);
}

static void list_device(
	struct listed *listed, const struct tdm_clients *clients, const struct tdm_device_sum *sum, uint32_t uid)
{
	*listed = (struct listed){ 0 };
	for (unsigned i = 0; i < KINDS; i++)
		if (sum->buffers[kinds[i].kind] != 0 && sum->buffers[kinds[i].kind] <= LISTED_MAX) {
			listed->wanted |= 1u << i;
			listed->left += (uint32_t)sum->buffers[kinds[i].kind];
		}
	for (size_t i = 0; i < clients->count && listed->left != 0; i++) {
		const struct tdm_client *client = clients->list[i];
		uint64_t has = 0;
		for (unsigned k = 0; k < KINDS; k++) {
			uint64_t buffers, bytes;
			tdm_client_count(client, sum->number, (enum tdm_kind)kinds[k].kind, &buffers, &bytes);
			has += (listed->wanted >> k & 1) != 0 ? buffers : 0;
		}
		if (has != 0 && may_see(client, uid))
			tdm_client_each(client, sum->number, list_one, listed);
		else
			listed->left -= (uint32_t)tdm_min(has, listed->left);
	}
	for (unsigned k = 0; k < KINDS; k++)
		qsort(listed->items[k], listed->count[k], sizeof *listed->items[k], by_id);
}

static void put_device(
	struct tdm_buf *out, const struct tdm_clients *clients, const struct tdm_device_sum *sum, uint32_t uid)
{
	struct listed listed;
	list_device(&listed, clients, sum, uid);
	tdm_buf_printf(out, "Device %u:\n", sum->number);
	for (unsigned i = 0; i < KINDS; i++) {
		uint64_t buffers = sum->buffers[kinds[i].kind];
		if (buffers == 0)
			continue;
		tdm_buf_printf(out, "  %s: %" PRIu64 " buffers, %g MB total\n", kinds[i].name, buffers,
			megabytes(sum->bytes[kinds[i].kind]));
		for (unsigned k = 0; k < listed.count[i]; k++)
			tdm_buf_printf(out, "    - Buffer 0x%" PRIx64 ": %g KB (PID %d, ref_count=1)\n",
				listed.items[i][k].id, (double)listed.items[i][k].bytes / 1024.0,
				listed.items[i][k].pid);
	}
}

void tdm_text_remaining(struct tdm_buf *out, const struct tdm_clients *clients, uint32_t uid)
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
	out->failed |= sums == NULL;
	free(sums);
	tdm_buf_printf(out, "\nTotal remaining buffers: %" PRIu64 "\n\n", all);
}

struct kernel_list {
	struct tdm_buf *out;
	uint64_t left, now_tsc;
	double ns_per_tick;
};

static bool put_kernel(void *context, const struct tdm_client *client, const struct tdm_ledger_slot *slot,
	const struct tdm_ledger_more *more)
{
	struct kernel_list *list = context;
	if (slot->kind != TDM_KIND_KERNEL)
		return true;
	if (list->left == 0)
		return false;
	list->left--;
	const char *type = tdm_kernel_types[tdm_client_kernel_type(client, slot->name)];
	double age_ns = list->now_tsc > more->tsc ? (double)(list->now_tsc - more->tsc) * list->ns_per_tick : 0;
	tdm_buf_printf(list->out,
		"  ├─ Kernel ID: 0x%" PRIx64
		"\n  │  Type: %s\n  │  Size: %g KB\n  │  Owner PID: %d\n  │  Age: %.0f seconds\n",
		slot->id, type, (double)slot->asked / 1024.0, client->pid, age_ns / 1e9);
	return true;
}

static bool has_kernels(const struct tdm_client *client, uint32_t device)
{
	uint64_t buffers, bytes;
	tdm_client_count(client, device, TDM_KIND_KERNEL, &buffers, &bytes);
	return buffers != 0;
}

void tdm_text_kernels(struct tdm_buf *out, const struct tdm_clients *clients, uint32_t uid)
{
	const struct tdm_ledger_clock now = tdm_ledger_clock_now();
	uint64_t ticks = now.tsc - clients->began.tsc, ns = now.monotonic_ns - clients->began.monotonic_ns, all = 0;
	struct kernel_list list = {
		.out = out, .now_tsc = now.tsc, .ns_per_tick = ticks != 0 ? (double)ns / (double)ticks : 0
	};
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
		list.left = KERNELS_MAX;
		for (size_t k = 0; k < clients->count; k++)
			if (may_see(clients->list[k], uid) && has_kernels(clients->list[k], sums[i]->number))
				tdm_client_each(clients->list[k], sums[i]->number, put_kernel, &list);
		if (kernels > KERNELS_MAX - list.left)
			tdm_buf_printf(out, "  └─ %" PRIu64 " kernels more\n", kernels - (KERNELS_MAX - list.left));
		tdm_buf_putc(out, '\n');
	}
	out->failed |= sums == NULL;
	free(sums);
}

static void put_device_statistics(
	struct tdm_buf *out, const struct tdm_clients *clients, const struct tdm_device_sum *sum)
{
	uint64_t total = 0;
	for (unsigned i = 0; i < KINDS; i++)
		total += sum->bytes[kinds[i].kind];
	tdm_buf_printf(out, "  Device %u:\n    Buffers: %" PRIu64 "\n", sum->number, count_all(clients, sum));
	for (unsigned i = 0; i < KINDS; i++)
		if (i < 2 || sum->bytes[kinds[i].kind] != 0)
			tdm_buf_printf(out, "    %s: %" PRIu64 " bytes (%g KB)\n", kinds[i].name,
				sum->bytes[kinds[i].kind], (double)sum->bytes[kinds[i].kind] / 1024.0);
	if (sum->buffers[TDM_KIND_CB] != 0)
		tdm_buf_printf(out, "    CB: %" PRIu64 " bytes (%" PRIu64 " circular buffers)\n",
			sum->bytes[TDM_KIND_CB], sum->buffers[TDM_KIND_CB]);
	if (sum->buffers[TDM_KIND_KERNEL] != 0)
		tdm_buf_printf(out, "    KERNEL: %" PRIu64 " bytes (%" PRIu64 " kernels)\n",
			sum->bytes[TDM_KIND_KERNEL], sum->buffers[TDM_KIND_KERNEL]);
	tdm_buf_printf(out, "    Total: %" PRIu64 " bytes\n", total);
}

void tdm_text_statistics(struct tdm_buf *out, const struct tdm_clients *clients)
{
	size_t count;
	const struct tdm_device_sum **sums = sorted_sums(clients, &count);
	tdm_buf_puts(out, "📊 Current Statistics:\n");
	for (size_t i = 0; i < count; i++)
		put_device_statistics(out, clients, sums[i]);
	tdm_buf_printf(out, "  Active allocations: %" PRIu64 "\n", count_all(clients, NULL));
	out->failed |= sums == NULL;
	free(sums);
}
