#include "client/client.h"
#include "base/clock.h"
#include "client/tracker.h"
#include "client/stack.h"
#include "tidemark.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
	SETTING_MAX = 32,
};
static const char default_socket[] = "/tmp/tt_allocation_server.sock";

_Thread_local struct tdm_thread tdm_thread __attribute__((tls_model("initial-exec")));
static struct tdm_live_page first_page; /* if there is none that is wiped on fork */
struct tdm_live_page *_Atomic tdm_live = &first_page;
struct tdm_client tdm_client;
unsigned char tidemark_active_;
uint32_t tidemark_epoch_ = 1;

static struct tdm_writer *last_writer; /* survives a fork: in a child without its own, the parent's */
static pid_t last_pid;
static _Atomic pid_t own_pid; /* the process for which this memory was prepared */
static _Atomic bool atfork_registered;
static bool is_auto;
/* What the environment said when the program began. It may be cleared, or overwritten, before the first report. */
static struct {
	char dir[TDM_LEDGER_PATH_MAX], mode[SETTING_MAX], ring[SETTING_MAX]; /* "": nothing, or too long */
} at_start;
static sem_t *exit_note; /* posted when the process exits; in memory that stays */

void tdm_thread_refresh(struct tdm_writer *writer)
{
	tdm_thread.id = tdm_lock_me();
	tdm_thread.record = tdm_writer_thread(writer);
	tdm_thread.program = 0;
	tdm_thread.device = NULL;
	memset(tdm_thread.devices, 0, sizeof tdm_thread.devices);
	tdm_thread.epoch = atomic_load(&atomic_load(&tdm_live)->epoch);
}

enum {
	SCAN_MAX = 1 << 20, /* bytes of the stack to look through */
	FRAME_SLACK = 256,  /* bytes by which a function may move its stack pointer up */
};

/* Whether a signal handler was installed that does not block its own signal. Those for faults do not count: a report
 * has none. */
static bool has_handler_that_nests(void)
{
	struct sigaction action;
	for (int i = 1; i < NSIG; i++)
		if (!tdm_is_fault(i) && sigaction(i, NULL, &action) == 0 && (action.sa_flags & SA_NODEFER) != 0)
			return true;
	return false;
}

/*
 * Whether the words are the registers that Linux saved for a signal handler that still runs, beginning with the stack
 * pointer. A handler that jumped away leaves them on the stack, too, but siglongjmp sets the signal mask back to what
 * it was; in a handler its own signal is blocked, unless it asked for the opposite.
 */
static inline __attribute__((always_inline)) bool are_registers(const volatile uint64_t *word)
{
	uint64_t mask = 0;
#if defined(__x86_64__)
	enum { FLAGS = 2, SEGMENT = 3, MASK_AGAIN = 6, MASK = 17 };           /* in words, as Linux lays them out */
	enum { FLAGS_SET = 0x202, FLAGS_ALL = 0x3fffff, OF_PROGRAMS = 0x33 }; /* what programs always have */
	if ((word[SEGMENT] & 0xffff) != OF_PROGRAMS || (word[FLAGS] & FLAGS_SET) != FLAGS_SET ||
		word[FLAGS] > FLAGS_ALL || word[MASK_AGAIN] != word[MASK]) /* else partly overwritten since */
		return false;
#elif defined(__aarch64__)
	enum { ADDRESS = 1, STATE = 2, MASK = -49 }; /* in words, as Linux lays them out */
	if (word[ADDRESS] == 0 || word[STATE] >> 32 != 0 || (word[STATE] & 0x1f) != 0)
		return false;
#else
	return word != NULL;
#endif
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
	return mask != word[MASK] || has_handler_that_nests();
}

/*
 * Whether a signal handler runs that interrupted the function to which `to` belongs: the registers are between its
 * stack pointer and ours.
 */
__attribute__((no_sanitize("address", "thread"))) static bool has_signal_frame(uintptr_t from, uintptr_t to)
{
	if (to - from > SCAN_MAX)
		return true;
	for (uintptr_t at = from & ~(uintptr_t)7; at < to; at += sizeof(uint64_t)) {
		const volatile uint64_t *word = (const volatile uint64_t *)at;
		if (word[0] > at && word[0] <= to + FRAME_SLACK && are_registers(word))
			return true;
	}
	return false;
}

/*
 * Whether the function that had this stack pointer has ended, so that the thread is not inside it. Handlers with a
 * stack of their own are not looked at: the two stacks cannot be compared.
 */
static bool has_ended(uintptr_t frame)
{
	stack_t alternate;
	uintptr_t here = tdm_stack_pointer(), low, high;
	if (sigaltstack(NULL, &alternate) != 0 || (alternate.ss_flags & SS_ONSTACK) != 0 ||
		!tdm_stack_find(frame, &low, &high) || here < low || here >= high)
		return false;
	return here >= frame || !has_signal_frame(here, frame);
}

bool tdm_thread_recover(void)
{
	int caller_errno = errno;
	struct tdm_quiet guard;
	struct tdm_writer *writer = tdm_client_peek();
	bool is_over = has_ended(tdm_thread.busy ? tdm_thread.frame : tdm_thread.record->frame);
	errno = caller_errno;
	if (!is_over)
		return false;
	/* Else a second jump could leave a torn device with its owner. */
	tdm_quiet_begin(&guard);
	tdm_thread.frame = tdm_stack_pointer();
	tdm_thread.busy = 1;
	if (writer == NULL)
		atomic_fetch_add(&tdm_client.unrecorded, 1);
	else if (!tdm_writer_abandon(writer, tdm_thread.epoch != 0 ? tdm_thread.record : NULL))
		tdm_writer_lost(writer, TDM_LOSS_NESTED);
	tdm_stack_abandon();
	tdm_tracker_abandon();
	tdm_quiet_end(&guard);
	return true;
}

/* Resets locks that other threads of the parent held, and counters of the parent. */
static void forget_parent(void)
{
	tdm_lock_self = 0;
	tdm_lock_reset(&first_page.lock);
	atomic_store(&tdm_client.unrecorded, 0);
	tdm_stack_after_fork();
	tdm_tracker_after_fork();
	tdm_reports_after_fork();
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
	atomic_store(&page->pid, getpid());
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

static struct tdm_live_page *wiped_page(struct tdm_live_page *page)
{
	void *at = mmap(NULL, TDM_LEDGER_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return page;
	/* An emulator that takes senseless advice ignores all of it. */
	if (madvise(at, TDM_LEDGER_PAGE, MADV_WIPEONFORK) != 0 || madvise(at, TDM_LEDGER_PAGE, -1) == 0) {
		munmap(at, TDM_LEDGER_PAGE);
		return page; /* then only children made by fork() itself are noticed */
	}
	return at;
}

/* libc's: calls a function at exit, and when `library` is unloaded. */
int __cxa_atexit(void (*call)(void *context), void *context, void *library);

/*
 * The destructor runs at exit, when other threads may still report, and when a plug-in that contains the library is
 * unloaded, after which nobody can. To tell the two apart, libc posts a semaphore at exit, before destructors run.
 * Neither it nor sem_post() is part of the library, so that this is safe after unloading; its own address means a
 * library that is never unloaded. It costs a page each time.
 */
static void note_exit(void)
{
	sem_t *note = mmap(NULL, sizeof *note, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (note == MAP_FAILED)
		return;
	if (sem_init(note, 0, 0) == 0 && __cxa_atexit((void (*)(void *))(void (*)(void))sem_post, note, note) == 0)
		exit_note = note;
	else
		munmap(note, sizeof *note);
}

/* Whether other threads run, or that cannot be known. */
static bool has_threads(void)
{
	struct stat st;
	return stat("/proc/self/task", &st) != 0 ||
	       st.st_nlink != 2 + 1; /* two links of its own, one for each thread */
}

/*
 * Libc also posts too late if the library was loaded before the program began. Then it is an exit that looks like
 * unloading, which is harmless as long as no other thread reports; a later report begins a new ledger.
 */
static bool is_unloaded(void)
{
	int posts;
	return !tdm_client.stays_loaded && exit_note != NULL && sem_getvalue(exit_note, &posts) == 0 && posts == 0 &&
	       atomic_load(&own_pid) == getpid() && !has_threads();
}

int tdm_client_enable(void)
{
	if (!atomic_exchange(&atfork_registered, true)) {
		struct tdm_live_page *page = wiped_page(&first_page);
		atomic_store(&own_pid, getpid());
		atomic_store(&page->pid, getpid());
		atomic_store(&tdm_live, page);
		pthread_atfork(NULL, NULL, after_fork_in_child);
		if (tdm_client.stack_depth != 0)
			tdm_stack_prepare();
		if (!tdm_client.stays_loaded)
			note_exit();
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

static void keep_setting(char *kept, size_t size, const char *name)
{
	const char *value = secure_getenv(name);
	if (value != NULL && strlen(value) < size)
		strcpy(kept, value);
}

/* NULL: not set. */
static const char *setting(const char *name, const char *kept)
{
	const char *value = secure_getenv(name);
	return value != NULL ? value : kept[0] != '\0' ? kept : NULL;
}

__attribute__((constructor(FIRST_PRIORITY))) static void client_start(void)
{
	const char *own = secure_getenv("TIDEMARK"), *other = secure_getenv("TT_ALLOC_TRACKING_ENABLED");
	keep_setting(at_start.dir, sizeof at_start.dir, "TIDEMARK_DIR");
	keep_setting(at_start.mode, sizeof at_start.mode, "TIDEMARK_MODE");
	keep_setting(at_start.ring, sizeof at_start.ring, "TIDEMARK_RING");
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

/* The ledger was deleted. Reports take the long way, where the next one finds that out. */
static void note_gone(struct tdm_writer *writer)
{
	(void)writer;
	atomic_fetch_or(&tdm_rare, TDM_RARE_GONE);
}

/* Makes the ledger; the page's lock is held. */
static struct tdm_writer *make_writer(struct tdm_live_page *page)
{
	const char *dir = setting("TIDEMARK_DIR", at_start.dir);
	struct tdm_writer_options options = { .dir = dir != NULL && dir[0] != '\0' ? dir : TDM_LEDGER_DEFAULT_DIR };
	struct tdm_writer *writer = NULL;
	pid_t pid = getpid();
	struct tdm_writer *parent = last_writer != NULL && last_pid != pid ? last_writer : NULL;
	if (tdm_ledger_parse_mode(setting("TIDEMARK_MODE", at_start.mode), &options.mode) != 0)
		options.flags |= TDM_LEDGER_BAD_MODE;
	if (tdm_ledger_parse_ring(setting("TIDEMARK_RING", at_start.ring), &options.ring_records) != 0)
		options.flags |= TDM_LEDGER_BAD_RING;
	int err = tdm_writer_new(&options, &writer);
	if (err != 0) {
		tdm_ledger_leave_failure(options.dir, err);
		uint32_t shift = page->failures < 12 ? page->failures : 12;
		uint32_t skip = (uint32_t)SKIP_FIRST << shift;
		atomic_store(&page->skip, skip < SKIP_MAX ? skip : SKIP_MAX);
		page->failures++;
		/* -ENOENT and -EEXIST are about buffers. */
		atomic_store(&page->err, err == -ENOENT ? -ENOTDIR : err == -EEXIST ? -EACCES : err);
		return NULL;
	}
	if (parent != NULL)
		tdm_writer_adopt(writer, parent);
	__atomic_fetch_add(&tidemark_epoch_, 1, __ATOMIC_RELAXED);
	writer->file.header->lost[TDM_LOSS_SPACE] += atomic_exchange(&tdm_client.unrecorded, 0);
	writer->gone = note_gone;
	atomic_fetch_and(&tdm_rare, (unsigned char)~(TDM_RARE_GONE | TDM_RARE_TRACE)); /* of a parent */
	last_writer = writer;
	last_pid = pid;
	return writer;
}

/* A child of vfork() uses its parent's memory: a ledger with its pid would be the parent's, and seem to be of a process
 * that has ended. A page that was wiped has no pid yet. */
static bool is_in_others_memory(struct tdm_live_page *page, pid_t pid)
{
	pid_t owner = 0;
	return page != &first_page && !atomic_compare_exchange_strong(&page->pid, &owner, pid) && owner != pid;
}

struct tdm_writer *tdm_client_writer_slow(void)
{
	struct tdm_live_page *page = atomic_load(&tdm_live);
	struct tdm_writer *writer = NULL;
	pid_t pid = getpid();
	if (is_in_others_memory(page, pid)) {
		atomic_fetch_add(&tdm_client.unrecorded, 1);
		return NULL;
	}
	if (atomic_exchange(&own_pid, pid) != pid)
		forget_parent(); /* a child not made by fork(): no handler has run */
	uint32_t skip = atomic_load_explicit(&page->skip, memory_order_relaxed);
	struct tdm_quiet guard;
	if (skip != 0) {
		atomic_store_explicit(&page->skip, skip - 1, memory_order_relaxed); /* threads may count one twice */
		atomic_fetch_add(&tdm_client.unrecorded, 1);
		return NULL;
	}
	tdm_quiet_begin(&guard);
	if (tdm_lock_take(&page->lock)) {
		writer = atomic_load(&page->writer);
		if (writer == NULL) {
			writer = make_writer(page);
			atomic_store(&page->epoch, writer != NULL ? tidemark_epoch_ : 0);
			atomic_store(&page->writer, writer);
		}
		tdm_lock_give(&page->lock);
	}
	tdm_quiet_end(&guard);
	if (writer == NULL)
		atomic_fetch_add(&tdm_client.unrecorded, 1);
	return writer;
}

/* One thread makes the ledger anew; if it cannot, the next look at the file asks for it again. */
void tdm_client_renew(struct tdm_writer *writer)
{
	struct tdm_live_page *page = atomic_load(&tdm_live);
	struct tdm_quiet guard;
	if (is_in_others_memory(page, getpid()))
		return; /* not this process's file */
	tdm_quiet_begin(&guard);
	if (tdm_lock_take(&page->lock)) {
		if (atomic_load(&page->writer) == writer && atomic_exchange(&writer->is_gone, false)) {
			atomic_fetch_and(&tdm_rare, (unsigned char)~TDM_RARE_GONE);
			tdm_writer_renew(writer);
		}
		tdm_lock_give(&page->lock);
	}
	tdm_quiet_end(&guard);
}

int tdm_client_why_no_writer(void)
{
	int err = atomic_load(&atomic_load(&tdm_live)->err);
	return err != 0 ? err : -EBUSY; /* another thread has been making it for too long */
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
	tdm_writer_end(writer);
	if (tdm_client.keep || tdm_writer_live(writer, tdm_thread.record) != 0)
		return;
	tdm_ledger_file_remove(&writer->file);
	atomic_store(&page->writer, NULL); /* a later report makes a new one, in which names have other numbers */
	atomic_store(&page->epoch, 0);
	__atomic_fetch_add(&tidemark_epoch_, 1, __ATOMIC_RELAXED);
}

/* Ends the ledger if it is still the current one: another thread may have ended it and made a new one. */
static void end_if_current(struct tdm_writer *writer)
{
	struct tdm_live_page *page = atomic_load(&tdm_live);
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	if (tdm_lock_take(&page->lock)) {
		if (atomic_load(&page->writer) == writer)
			end_ledger(page, writer);
		tdm_lock_give(&page->lock);
	}
	tdm_quiet_end(&guard);
}

void tdm_client_after_exit(void)
{
	struct tdm_writer *writer = tdm_client_peek();
	if (writer != NULL && (atomic_load((_Atomic uint32_t *)&writer->file.header->state) != TDM_LEDGER_CLOSED ||
				      (!tdm_client.keep && tdm_writer_live(writer, tdm_thread.record) == 0)))
		end_if_current(writer);
}

/* Gives everything back before the library is unloaded. */
static void unload(void)
{
	struct tdm_live_page *page = atomic_exchange(&tdm_live, &first_page);
	tdm_thread = (struct tdm_thread){ 0 };
	if (page != &first_page)
		munmap(page, TDM_LEDGER_PAGE);
	if (last_writer != NULL)
		tdm_writer_free(last_writer);
	last_writer = NULL;
	tdm_blobs_unload();
	tdm_tracker_unload();
}

__attribute__((destructor(FIRST_PRIORITY))) static void client_end(void)
{
	struct tdm_writer *writer = tdm_client_peek();
	atomic_store(&tdm_client.closing, 1);
	atomic_fetch_or(&tdm_rare, TDM_RARE_EXIT);
	if (writer != NULL && last_pid == getpid())
		end_if_current(writer);
	if (is_unloaded())
		unload();
}

int tidemark_enable(void)
{
	return tdm_client_enable();
}

int tidemark_disable(void)
{
	__atomic_store_n(&tidemark_active_, 0, __ATOMIC_RELEASE);
	return 0;
}

const char *tidemark_ledger_path(void)
{
	struct tdm_writer *writer = tdm_client_peek();
	return writer != NULL ? writer->file.path : "";
}

size_t tidemark_devices(uint32_t *numbers, size_t cap)
{
	struct tdm_writer *writer = tdm_client_peek();
	struct tdm_wdevice *device;
	size_t count = 0;
	for (unsigned i = 0;
		writer != NULL && i < TDM_LEDGER_DEVICES && (device = tdm_writer_get_device(writer, i)) != NULL; i++) {
		if (device->is_virtual)
			continue;
		if (count < cap)
			numbers[count] = device->number;
		count++;
	}
	return count;
}
