#include "client/client.h"
#include "base/clock.h"
#include "client/tracker.h"
#include "client/stack.h"
#include "tidemark.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum {
	STACK_DEPTH_MAX = TDM_LEDGER_STACK_MAX,
	SKIP_FIRST = 256,   /* reports to skip after the first failure to make a ledger; */
	SKIP_MAX = 1 << 20, /* doubled after each further failure, up to this */
	FIRST_PRIORITY = 101,
};
static const char default_socket[] = "/tmp/tt_allocation_server.sock";

_Thread_local struct tdm_thread tdm_thread __attribute__((tls_model("initial-exec")));
static struct tdm_live_page first_page; /* until there is one that is wiped on fork */
struct tdm_live_page *_Atomic tdm_live = &first_page;
struct tdm_client tdm_client;
unsigned char tidemark_active_;
uint32_t tidemark_epoch_ = 1;

static struct tdm_writer *last_writer; /* survives a fork: in a child without its own, the parent's */
static pid_t last_pid;
static _Atomic pid_t own_pid; /* the process for which this memory was prepared */
static _Atomic bool atfork_registered;
static bool is_auto;

void tdm_thread_refresh(struct tdm_writer *writer)
{
	tdm_thread.id = (uint32_t)syscall(SYS_gettid);
	tdm_thread.record = tdm_writer_thread(writer);
	tdm_thread.program = 0;
	tdm_thread.device = NULL;
	tdm_thread.epoch = atomic_load(&atomic_load(&tdm_live)->epoch);
}

/* Resets locks that other threads of the parent held, and counters of the parent. */
static void forget_parent(void)
{
	tdm_lock_reset(&first_page.lock);
	atomic_store(&tdm_client.unrecorded, 0);
	tdm_stack_after_fork();
	tdm_tracker_after_fork();
}

static void after_fork_in_child(void)
{
	tdm_thread.busy = 0;
	tdm_thread.record = NULL;
	tdm_thread.epoch = 0;
	tdm_thread.device = NULL;
	__atomic_fetch_add(
		&tidemark_epoch_, 1, __ATOMIC_RELAXED); /* names must be looked up again, in the child's own ledger */
	atomic_store(&own_pid, getpid());
	atomic_store(&first_page.writer, NULL);
	struct tdm_live_page *page = atomic_load(&tdm_live);
	atomic_store(&page->writer, NULL); /* in case Linux could not wipe it */
	atomic_store(&page->epoch, 0);
	tdm_lock_reset(&page->lock);
	forget_parent();
}

static bool daemon_listens(void)
{
	const char *path = secure_getenv("TIDEMARK_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	path = path != NULL && path[0] != '\0' ? path : default_socket;
	if (strlen(path) >= sizeof address.sun_path)
		return false;
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	int before = errno, got = connect(fd, (const struct sockaddr *)&address, sizeof address), err = errno;
	close(fd);
	errno = before;
	return got == 0 || err == EAGAIN; /* EAGAIN: it listens but is busy */
}

static bool is_set(const char *value)
{
	return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0 && strcmp(value, "off") != 0;
}

void tdm_client_look_for_daemon(void)
{
	if (is_auto && !tidemark_active_ && daemon_listens())
		tdm_client_enable();
}

int tdm_client_enable(void)
{
	if (!atomic_exchange(&atfork_registered, true)) {
		atomic_store(&own_pid, getpid());
		pthread_atfork(NULL, NULL, after_fork_in_child);
	}
	__atomic_store_n(&tidemark_active_, 1, __ATOMIC_RELEASE);
	return 0;
}

/* TIDEMARK_STACKS: the number of frames to keep. */
static uint32_t read_depth(void)
{
	const char *text = secure_getenv("TIDEMARK_STACKS");
	char *end;
	if (text == NULL || text[0] == '\0')
		return 0;
	unsigned long value = strtoul(text, &end, 10);
	return *end != '\0' ? 0 : value > STACK_DEPTH_MAX ? STACK_DEPTH_MAX : (uint32_t)value;
}

__attribute__((constructor(FIRST_PRIORITY))) static void client_start(void)
{
	const char *own = secure_getenv("TIDEMARK"), *other = secure_getenv("TT_ALLOC_TRACKING_ENABLED");
	tdm_client.stack_depth = read_depth();
	if (tdm_client.stack_depth != 0)
		atomic_fetch_or(&tdm_rare, TDM_RARE_STACKS);
	tdm_client.keep = is_set(secure_getenv("TIDEMARK_KEEP"));
	if (own != NULL && strcmp(own, "auto") == 0) {
		is_auto = true;
		tdm_client_look_for_daemon();
	} else if (own != NULL ? is_set(own) : other != NULL && other[0] == '1') {
		tdm_client_enable();
	}
}

static struct tdm_live_page *wiped_page(struct tdm_live_page *page)
{
	if (page != &first_page)
		return page;
	void *at = mmap(NULL, TDM_LEDGER_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return page;
	if (madvise(at, TDM_LEDGER_PAGE, MADV_WIPEONFORK) != 0) {
		munmap(at, TDM_LEDGER_PAGE);
		return page; /* then only children made by fork() itself are noticed */
	}
	return at;
}

/* Makes the ledger; the page's lock is held. */
static struct tdm_writer *make_writer(struct tdm_live_page *page)
{
	const char *dir = secure_getenv("TIDEMARK_DIR");
	struct tdm_writer_options options = { .dir = dir != NULL && dir[0] != '\0' ? dir : TDM_LEDGER_DEFAULT_DIR };
	struct tdm_writer *writer = NULL;
	pid_t pid = getpid();
	struct tdm_writer *parent = last_writer != NULL && last_pid != pid ? last_writer : NULL;
	if (tdm_ledger_parse_mode(secure_getenv("TIDEMARK_MODE"), &options.mode) != 0)
		options.flags |= TDM_LEDGER_BAD_MODE;
	if (tdm_ledger_parse_ring(secure_getenv("TIDEMARK_RING"), &options.ring_records) != 0)
		options.flags |= TDM_LEDGER_BAD_RING;
	int err = tdm_writer_new(&options, &writer);
	if (err != 0) {
		uint32_t shift = page->failures < 12 ? page->failures : 12;
		uint32_t skip = (uint32_t)SKIP_FIRST << shift;
		atomic_store(&page->skip, skip < SKIP_MAX ? skip : SKIP_MAX);
		page->failures++;
		return NULL;
	}
	if (parent != NULL)
		tdm_writer_adopt(writer, parent);
	__atomic_fetch_add(&tidemark_epoch_, 1, __ATOMIC_RELAXED);
	writer->file.header->lost[TDM_LOSS_SPACE] += atomic_exchange(&tdm_client.unrecorded, 0);
	last_writer = writer;
	last_pid = pid;
	return writer;
}

struct tdm_writer *tdm_client_writer_slow(void)
{
	struct tdm_live_page *page = atomic_load(&tdm_live);
	struct tdm_writer *writer = NULL;
	pid_t pid = getpid();
	if (atomic_exchange(&own_pid, pid) != pid)
		forget_parent(); /* a child not made by fork(): no handler has run */
	uint32_t skip = atomic_load_explicit(&page->skip, memory_order_relaxed);
	if (skip != 0) {
		atomic_store_explicit(&page->skip, skip - 1, memory_order_relaxed); /* threads may count one twice */
	} else if (tdm_lock_take(&page->lock)) {
		struct tdm_live_page *current = atomic_load(&tdm_live);
		writer = atomic_load(&current->writer);
		if (writer == NULL) {
			writer = make_writer(page);
			struct tdm_live_page *wiped = writer != NULL ? wiped_page(current) : current;
			atomic_store(&wiped->epoch, writer != NULL ? tidemark_epoch_ : 0);
			atomic_store(&wiped->writer, writer);
			atomic_store(&tdm_live, wiped);
		}
		tdm_lock_give(&page->lock);
	}
	if (writer == NULL)
		atomic_fetch_add(&tdm_client.unrecorded, 1);
	return writer;
}

struct tdm_writer *tdm_client_peek(void)
{
	return atomic_load_explicit(&atomic_load(&tdm_live)->writer, memory_order_acquire);
}

/*
 * Closes the ledger, and removes it if it has no live buffers. It stays mapped, because other threads may still report.
 */
static void end_ledger(struct tdm_live_page *page, struct tdm_writer *writer)
{
	struct tdm_ledger_header *header = writer->file.header;
	tdm_ledger_file_clock(&writer->file);
	header->closed_tsc = tdm_clock_ticks();
	atomic_store((_Atomic uint32_t *)&header->state, TDM_LEDGER_CLOSED);
	if (tdm_client.keep || tdm_writer_live(writer, tdm_thread.record) != 0)
		return;
	tdm_ledger_file_remove(&writer->file);
	atomic_store(&page->writer, NULL); /* a later report makes a new one */
	atomic_store(&page->epoch, 0);
}

/* Ends the ledger if it is still the current one: another thread may have ended it and made a new one. */
static void end_if_current(struct tdm_writer *writer)
{
	struct tdm_live_page *page = atomic_load(&tdm_live);
	if (!tdm_lock_take(&page->lock))
		return;
	if (atomic_load(&page->writer) == writer)
		end_ledger(page, writer);
	tdm_lock_give(&page->lock);
}

void tdm_client_after_exit(void)
{
	struct tdm_writer *writer = tdm_client_peek();
	if (writer != NULL && (atomic_load((_Atomic uint32_t *)&writer->file.header->state) != TDM_LEDGER_CLOSED ||
				      (!tdm_client.keep && tdm_writer_live(writer, tdm_thread.record) == 0)))
		end_if_current(writer);
}

__attribute__((destructor(FIRST_PRIORITY))) static void client_end(void)
{
	struct tdm_writer *writer = tdm_client_peek();
	atomic_store(&tdm_client.closing, 1);
	atomic_fetch_or(&tdm_rare, TDM_RARE_EXIT);
	if (writer != NULL && last_pid == getpid())
		end_if_current(writer);
}
