/*
 * The life of the library (client.h), and the call stacks of reports.
 */
#include "client/client.h"
#include "base/clock.h"
#include "tidemark.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
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
	SKIP_FIRST = 256,   /* reports to skip after the first failed attempt to make a ledger */
	SKIP_MAX = 1 << 20, /* doubled after each additional failure, up to this limit */
	FIRST_PRIORITY = 101,
	SETTING_MAX = 32,
};
static const char default_socket[] = "/tmp/tt_allocation_server.sock";

_Thread_local struct tdm_thread tdm_thread __attribute__((tls_model("initial-exec")));
static struct tdm_live_page first_page; /* used if no page can be wiped on fork */
struct tdm_live_page *_Atomic tdm_live = &first_page;
struct tdm_client tdm_client;
unsigned char tidemark_active_;
uint32_t tidemark_epoch_ = 1;

static struct tdm_writer *last_writer; /* survives a fork: in a child without its own writer, the parent's */
static pid_t last_pid;
static _Atomic pid_t own_pid; /* the process that this memory was prepared for */
static _Atomic bool atfork_registered;
static bool is_auto;
/* The environment at the start of the program. The program may clear or overwrite it before the first report. */
static struct {
	char dir[TDM_LEDGER_PATH_MAX], mode[SETTING_MAX], ring[SETTING_MAX]; /* "" if not set, or too long */
} at_start;
static sem_t *exit_note; /* posted when the process exits; in memory that is never freed */

/*
 * ---- call stacks ----
 *
 * There are two ways to walk the stack. Frame pointers cost a few nanoseconds per frame, but work only in code that
 * keeps them; the walk stays inside the thread's own stack, so a register used for something else cannot lead it
 * astray. libunwind works in all code; it is loaded at run time if installed. A static program has no loader for this.
 *
 * The preload's frames are left out, so the runtime seems to call the library itself. In a Python program, Python
 * frames replace those of the interpreter (python.c).
 */

enum { MODULES_MAX = 1024, UNWIND_SKIP_MAX = 8, PATH_KEPT = 1024 };
enum { WALK_MAX = TDM_PYTHON_JOINED_MAX }; /* frames to walk if some will be left out */
#define PRELOAD "libtidemark-metal.so"

typedef int unwind_function(void **frames, int count);

static struct {
	_Atomic int chosen; /* 0 not yet, 1 frame pointers, 2 libunwind */
	unwind_function *unwind;
	uintptr_t preload_low, preload_high; /* 0 if there is no preload */
} method;

/* Address ranges of the modules already in the ledger; guarded by `lock`. */
static struct {
	struct tdm_lock lock;
	struct tdm_writer *writer; /* the writer of that ledger */
	struct {
		uintptr_t base, end;
	} known[MODULES_MAX];
	unsigned count;
} modules;

/* Finds the mapping containing `address` in a file like /proc/self/maps, without stdio or malloc. */
static bool find_mapping(int fd, uintptr_t address, uintptr_t *low, uintptr_t *high)
{
	char text[4096];
	size_t have = 0;
	for (ssize_t got; (got = read(fd, text + have, sizeof text - have - 1)) > 0;) {
		have += (size_t)got;
		text[have] = '\0';
		char *line = text;
		for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
			char *dash;
			*low = strtoull(line, &dash, 16);
			*high = *dash == '-' ? strtoull(dash + 1, NULL, 16) : 0;
			if (*low <= address && address < *high)
				return true;
		}
		have -= (size_t)(line - text);
		memmove(text, line, have);
		if (have == sizeof text - 1)
			have = 0; /* skip an absurdly long line */
	}
	return false;
}

/* The bounds of the mapping containing the address. False if there is none, or the mappings cannot be read. */
static bool find_bounds(uintptr_t address, uintptr_t *low, uintptr_t *high)
{
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool found = fd >= 0 && find_mapping(fd, address, low, high);
	if (fd >= 0)
		close(fd);
	tdm_quiet_end(&guard);
	return found;
}

bool tdm_stack_has(uintptr_t address)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), low, high;
	if (here < tdm_thread.stack_low || here >= tdm_thread.stack_high) {
		if (!find_bounds(here, &low, &high))
			return false;
		tdm_thread.stack_low = low;
		tdm_thread.stack_high = high;
	}
	return address >= here && address < tdm_thread.stack_high;
}

/* ARM processors can sign return addresses on the stack, in the bits above the address. xpaclri removes the
 * signature from x30, or does nothing if there is none. */
static uintptr_t without_signature(uintptr_t address)
{
#if defined(__aarch64__)
	register uintptr_t x30 __asm__("x30") = address;
	__asm__("hint #7" : "+r"(x30));
	address = x30;
#endif
	return address;
}

static uint32_t walk_frames(uint64_t *frames, uint32_t depth, void *frame)
{
	uintptr_t at = (uintptr_t)frame;
	uint32_t count = 0;
	if (!tdm_stack_has(at))
		return 0;
	uintptr_t high = tdm_thread.stack_high;
	while (count < depth && at % sizeof(uintptr_t) == 0 && at < high && high - at >= 2 * sizeof(uintptr_t)) {
		const uintptr_t *link = (const uintptr_t *)at;
		if (link[1] == 0)
			break;
		frames[count++] = without_signature(link[1]);
		if (link[0] <= at)
			break; /* callers' frames are at higher addresses */
		at = link[0];
	}
	return count;
}

/* The preload is loaded before the program begins, or never. */
static void find_preload(void)
{
	struct dl_find_object found;
	struct link_map *map;
	void *library = dlopen(PRELOAD, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	if (library == NULL)
		return;
	if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && _dl_find_object(map->l_ld, &found) == 0) {
		method.preload_low = (uintptr_t)found.dlfo_map_start;
		method.preload_high = (uintptr_t)found.dlfo_map_end;
	}
	dlclose(library);
}

static int choose_method(void)
{
	const char *wish = secure_getenv("TIDEMARK_UNWIND");
	bool has_loader = getauxval(AT_BASE) != 0; /* without a loader, dlopen crashes */
	int chosen = 1;
	/* libunwind takes a lock at the very end of a thread, which crashes the thread sanitizer. */
	if (has_loader && !tdm_has_thread_sanitizer() && (wish == NULL || strcmp(wish, "fp") != 0)) {
		void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
		void *symbol = library != NULL ? dlsym(library, "unw_backtrace") : NULL;
		memcpy(&method.unwind, &symbol, sizeof symbol);
		if (method.unwind != NULL)
			chosen = 2;
	}
	if (has_loader)
		find_preload();
	atomic_store(&method.chosen, chosen);
	return chosen;
}

/* libunwind's frames, starting at the frame that returns to the library's caller. */
static uint32_t unwind_frames(uint64_t *frames, uint32_t depth, void *frame)
{
	void *all[WALK_MAX + UNWIND_SKIP_MAX];
	uintptr_t caller = without_signature(((const uintptr_t *)frame)[1]);
	int got = method.unwind(all, (int)depth + UNWIND_SKIP_MAX), from = 0;
	while (from < got && from < UNWIND_SKIP_MAX && (uintptr_t)all[from] != caller)
		from++;
	if (from == got || from == UNWIND_SKIP_MAX)
		from = 0;
	uint32_t count = 0;
	for (int i = from; i < got && count < depth; i++)
		frames[count++] = (uint64_t)(uintptr_t)all[i];
	return count;
}

/* Stores the module of an address unless the ledger has it. Queries the loader without taking its lock, which may be
 * held forever in a forked child. The module cannot be unloaded meanwhile, because the address is on the stack. */
static void put_module(struct tdm_writer *writer, uint64_t address)
{
	struct {
		uint64_t base, bytes;
		char path[PATH_KEPT];
	} blob;
	struct dl_find_object found;
	for (unsigned i = 0; i < modules.count; i++)
		if (address >= modules.known[i].base && address < modules.known[i].end)
			return;
	if (modules.count == MODULES_MAX || _dl_find_object((void *)(uintptr_t)address, &found) != 0)
		return;
	const char *name = found.dlfo_link_map->l_name;
	blob.base = found.dlfo_link_map->l_addr;
	blob.bytes = (uintptr_t)found.dlfo_map_end - blob.base;
	size_t len = strnlen(name, sizeof blob.path);
	if (len != 0) {
		memcpy(blob.path, name, len);
	} else {
		ssize_t got = readlink("/proc/self/exe", blob.path, sizeof blob.path);
		len = got > 0 ? (size_t)got : 0;
	}
	tdm_blobs_put(&writer->blobs, TDM_BLOB_MODULE, &blob, 2 * sizeof(uint64_t) + len, NULL);
	modules.known[modules.count].base = (uintptr_t)found.dlfo_map_start;
	modules.known[modules.count++].end = (uintptr_t)found.dlfo_map_end;
	tdm_python_look_again();
}

/* A stack new to the ledger may contain new modules. */
static void note_modules(struct tdm_writer *writer, const uint64_t *frames, uint32_t count)
{
	if (!tdm_lock_take(&modules.lock))
		return;
	if (modules.writer != writer) {
		modules.writer = writer;
		modules.count = 0;
	}
	for (uint32_t i = 0; i < count; i++)
		if ((frames[i] & TDM_FRAME_TEXT) == 0)
			put_module(writer, frames[i]);
	tdm_lock_give(&modules.lock);
}

/* Whether the frame is an address, or a text in this ledger. */
static bool has_text(const struct tdm_writer *writer, uint64_t frame)
{
	return (frame & TDM_FRAME_TEXT) == 0 || tdm_blob_is_text(writer->blobs.texts, (uint32_t)frame);
}

bool tdm_stack_is_valid(struct tdm_writer *writer, const uint64_t *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count && i < TDM_LEDGER_STACK_MAX; i++)
		if (!has_text(writer, frames[i]) && !tdm_blob_was_text((uint32_t)frames[i]))
			return false;
	return true;
}

uint32_t tdm_stack_put(struct tdm_writer *writer, const uint64_t *frames, uint32_t count)
{
	bool is_new, is_ours = true;
	count = count < TDM_LEDGER_STACK_MAX ? count : TDM_LEDGER_STACK_MAX;
	if (count == 0)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		is_ours &= has_text(writer, frames[i]);
	uint32_t number =
		!is_ours ? 0 : tdm_blobs_put(&writer->blobs, TDM_BLOB_STACK, frames, count * sizeof *frames, &is_new);
	if (number == 0)
		tdm_writer_lost(writer, TDM_LOSS_TEXT);
	else if (is_new)
		note_modules(writer, frames, count);
	return number;
}

uint32_t tdm_stack_take(struct tdm_writer *writer, uint32_t depth, void *frame)
{
	uint64_t frames[WALK_MAX];
	int chosen = atomic_load_explicit(&method.chosen, memory_order_acquire);
	if (chosen == 0)
		chosen = choose_method();
	bool has_python = tdm_python_is_here();
	uint32_t walked = has_python || method.preload_high != 0 ? WALK_MAX : depth;
	uint32_t count = chosen == 2 ? unwind_frames(frames, walked, frame) : walk_frames(frames, walked, frame);
	if (method.preload_high != 0) {
		uint32_t kept = 0;
		for (uint32_t i = 0; i < count; i++)
			if (frames[i] < method.preload_low || frames[i] >= method.preload_high)
				frames[kept++] = frames[i];
		count = kept;
	}
	if (has_python)
		count = tdm_python_join(writer, frames, count, depth, chosen == 2);
	return tdm_stack_put(writer, frames, count < depth ? count : depth);
}

/* ---- reports abandoned by a signal handler ---- */

enum {
	SCAN_MAX = 1 << 20, /* bytes of the stack to search */
	FRAME_SLACK = 256,  /* the most bytes by which a function may move its stack pointer up */
};

/*
 * Whether the words, beginning with the stack pointer, are registers saved by Linux for a signal handler that is still
 * running. A handler that jumped away leaves such words too; but siglongjmp restores the signal mask, while a running
 * handler blocks its own signal unless it asked not to.
 */
static inline __attribute__((always_inline)) bool are_registers(const volatile uint64_t *word)
{
	uint64_t mask = 0;
	struct sigaction action;
#if defined(__x86_64__)
	enum { FLAGS = 2, SEGMENT = 3, MASK_AGAIN = 6, MASK = 17 };           /* offsets in words of Linux's layout */
	enum { FLAGS_SET = 0x202, FLAGS_ALL = 0x3fffff, OF_PROGRAMS = 0x33 }; /* bits that are set in every program */
	if ((word[SEGMENT] & 0xffff) != OF_PROGRAMS || (word[FLAGS] & FLAGS_SET) != FLAGS_SET ||
		word[FLAGS] > FLAGS_ALL || word[MASK_AGAIN] != word[MASK]) /* partly overwritten since then */
		return false;
#elif defined(__aarch64__)
	enum { ADDRESS = 1, STATE = 2, MASK = -49 }; /* offsets in words of Linux's layout */
	if (word[ADDRESS] == 0 || word[STATE] >> 32 != 0 || (word[STATE] & 0x1f) != 0)
		return false;
#else
	return word != NULL;
#endif
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
	/* Otherwise a handler that does not block its own signal may be running. Handlers of faults do not count,
	 * because a report causes no faults. */
	bool may_run = mask != word[MASK];
	for (int i = 1; i < NSIG && !may_run; i++)
		may_run = !tdm_is_fault(i) && sigaction(i, NULL, &action) == 0 && (action.sa_flags & SA_NODEFER) != 0;
	return may_run;
}

/*
 * Whether a running signal handler interrupted the function with stack pointer `to`. If so, the saved registers are
 * between that and our own stack pointer.
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
 * Whether the function that had this stack pointer has ended, so that the thread is not inside it. Does not judge
 * handlers with a stack of their own: two stacks cannot be compared.
 */
static bool has_ended(uintptr_t frame)
{
	stack_t alternate;
	uintptr_t here = tdm_stack_pointer(), low, high;
	if (sigaltstack(NULL, &alternate) != 0 || (alternate.ss_flags & SS_ONSTACK) != 0 ||
		!find_bounds(frame, &low, &high) || here < low || here >= high)
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
	/* Otherwise a second jump could leave a torn device marked as owned. */
	tdm_quiet_begin(&guard);
	tdm_thread.frame = tdm_stack_pointer();
	tdm_thread.busy = 1;
	if (writer == NULL)
		atomic_fetch_add(&tdm_client.unrecorded, 1);
	else if (!tdm_writer_abandon(writer, tdm_thread.epoch != 0 ? tdm_thread.record : NULL))
		tdm_writer_lost(writer, TDM_LOSS_NESTED);
	tdm_lock_abandon(&modules.lock);
	tdm_tracker_abandon();
	tdm_quiet_end(&guard);
	return true;
}

/* Resets locks that other threads of the parent held, and the parent's counters. */
static void forget_parent(void)
{
	int unchosen = 0;
	tdm_lock_self = 0;
	tdm_lock_reset(&first_page.lock);
	atomic_store(&tdm_client.unrecorded, 0);
	/* Frame pointers only: the loader's lock may be held forever, and the child's ledger has no modules yet. */
	atomic_compare_exchange_strong(&method.chosen, &unchosen, 1);
	tdm_python_after_fork();
	tdm_lock_reset(&modules.lock);
	modules.writer = NULL;
	modules.count = 0;
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
		&tidemark_epoch_, 1, __ATOMIC_RELAXED); /* names must be looked up again in the child's own ledger */
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
	return got == 0 || err == EAGAIN; /* EAGAIN: the daemon listens but is busy */
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
	/* An emulator that accepts invalid advice is known to ignore all advice. */
	if (madvise(at, TDM_LEDGER_PAGE, MADV_WIPEONFORK) != 0 || madvise(at, TDM_LEDGER_PAGE, -1) == 0) {
		munmap(at, TDM_LEDGER_PAGE);
		return page; /* without wiping, the library notices only children made by fork() itself */
	}
	return at;
}

/* A libc function: calls a function at exit, or when `library` is unloaded. */
int __cxa_atexit(void (*call)(void *context), void *context, void *library);

/*
 * The destructor runs in two cases: at exit, when other threads may still report; and when a plug-in that contains the
 * library is unloaded, after which nobody can. To tell them apart, libc posts a semaphore at exit, before destructors
 * run. Neither the semaphore nor sem_post() is part of the library, so this is safe after unloading; and the handler is
 * registered for the semaphore's own address, so unloading does not run it. Each time the library is loaded, this costs
 * one page.
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

/*
 * If the library was loaded before the program began, libc posts too late, and an exit looks like unloading. That is
 * harmless unless other threads report; a later report begins a new ledger.
 */
static bool is_unloaded(void)
{
	int posts;
	struct stat st;
	return !tdm_client.stays_loaded && exit_note != NULL && sem_getvalue(exit_note, &posts) == 0 && posts == 0 &&
	       atomic_load(&own_pid) == getpid() && stat("/proc/self/task", &st) == 0 &&
	       /* the thread directory has two links and one for each thread: there is no other thread */
	       st.st_nlink == 2 + 1;
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
			choose_method();
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

/* The value of a setting; NULL if it is not set. */
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

/* The ledger was deleted: makes reports take the slow path, where the next one notices the deletion. */
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
		/* Callers would take -ENOENT and -EEXIST to be about buffers. */
		atomic_store(&page->err, err == -ENOENT ? -ENOTDIR : err == -EEXIST ? -EACCES : err);
		return NULL;
	}
	if (parent != NULL)
		tdm_writer_adopt(writer, parent);
	__atomic_fetch_add(&tidemark_epoch_, 1, __ATOMIC_RELAXED);
	writer->file.header->lost[TDM_LOSS_SPACE] += atomic_exchange(&tdm_client.unrecorded, 0);
	writer->gone = note_gone;
	/* the parent's reasons do not apply here */
	atomic_fetch_and(&tdm_rare, (unsigned char)~(TDM_RARE_GONE | TDM_RARE_TRACE));
	last_writer = writer;
	last_pid = pid;
	return writer;
}

/* Whether this is a child of vfork(), which uses its parent's memory. A ledger made here would become the parent's,
 * with the pid of a process about to end. A wiped page has no pid yet. */
static bool is_in_others_memory(struct tdm_live_page *page, pid_t pid)
{
	pid_t owner = 0;
	return page != &first_page && !atomic_compare_exchange_strong(&page->pid, &owner, pid) && owner != pid;
}

static struct tdm_writer *find_writer(void)
{
	struct tdm_live_page *page = atomic_load(&tdm_live);
	struct tdm_writer *writer = NULL;
	pid_t pid = getpid();
	if (is_in_others_memory(page, pid)) {
		atomic_fetch_add(&tdm_client.unrecorded, 1);
		return NULL;
	}
	if (atomic_exchange(&own_pid, pid) != pid)
		forget_parent(); /* a child that was not made by fork(), so no handler has run */
	uint32_t skip = atomic_load_explicit(&page->skip, memory_order_relaxed);
	struct tdm_quiet guard;
	if (skip != 0) {
		/* threads may race here harmlessly */
		atomic_store_explicit(&page->skip, skip - 1, memory_order_relaxed);
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

/* Lets one thread recreate the ledger; if that fails, the next check of the file tries again. */
static void renew(struct tdm_writer *writer)
{
	struct tdm_live_page *page = atomic_load(&tdm_live);
	struct tdm_quiet guard;
	if (is_in_others_memory(page, getpid()))
		return; /* the file belongs to another process */
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

struct tdm_writer *tdm_client_writer(void)
{
	struct tdm_writer *writer = tdm_client_peek();
	if (writer == NULL)
		writer = find_writer();
	else if (atomic_load_explicit(&writer->is_gone, memory_order_relaxed))
		renew(writer);
	uint32_t epoch = atomic_load(&atomic_load(&tdm_live)->epoch);
	if (writer != NULL && tdm_thread.epoch != epoch) {
		tdm_thread.id = tdm_lock_me();
		tdm_thread.record = tdm_writer_thread(writer);
		tdm_thread.program = 0;
		tdm_thread.device = NULL;
		memset(tdm_thread.devices, 0, sizeof tdm_thread.devices);
		tdm_thread.epoch = epoch;
	}
	return writer;
}

int tdm_client_why_no_writer(void)
{
	int err = atomic_load(&atomic_load(&tdm_live)->err);
	return err != 0 ? err : -EBUSY; /* another thread is taking too long to make the ledger */
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
	atomic_store(&page->writer, NULL); /* a later report makes a new ledger, where names have other numbers */
	atomic_store(&page->epoch, 0);
	__atomic_fetch_add(&tidemark_epoch_, 1, __ATOMIC_RELAXED);
}

/* Ends the ledger if it is still current: another thread may have ended it and made a new ledger. */
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

__attribute__((destructor(FIRST_PRIORITY))) static void client_end(void)
{
	struct tdm_writer *writer = tdm_client_peek();
	atomic_store(&tdm_client.closing, 1);
	atomic_fetch_or(&tdm_rare, TDM_RARE_EXIT);
	if (writer != NULL && last_pid == getpid())
		end_if_current(writer);
	if (is_unloaded()) {
		/* Releases everything when the library is about to be unloaded. */
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
	for (unsigned i = 0; writer != NULL && (device = tdm_writer_get_device(writer, i)) != NULL; i++) {
		if (device->is_virtual)
			continue;
		if (count < cap)
			numbers[count] = device->number;
		count++;
	}
	return count;
}
