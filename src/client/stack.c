/*
 * Two ways to walk the stack. Frame pointers cost a few nanoseconds per frame, but work only in code that keeps them;
 * the walk stays inside the thread's own stack, so that a register with another value cannot lead it astray. libunwind
 * works in all code; it is loaded at run time if it is installed. A static program has no loader that could do that.
 *
 * The frames of the preload are left out: to the program, its own runtime calls the library. In a Python program, the
 * frames of the interpreter give way to those of Python (python_stack.h).
 */
#include "client/stack.h"
#include "client/client.h"
#include "client/python_stack.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { MODULES_MAX = 1024, UNWIND_SKIP_MAX = 8, PATH_KEPT = 1024 };
enum { WALK_MAX = TDM_PYTHON_JOINED_MAX }; /* frames to walk when some will be left out */
#define PRELOAD "libtidemark-metal.so"

typedef int unwind_function(void **frames, int count);

static struct {
	_Atomic int chosen; /* 0 not yet, 1 frame pointers, 2 libunwind */
	unwind_function *unwind;
	uintptr_t preload_low, preload_high; /* 0: there is none */
} method;

/* Address ranges of modules that the ledger already has; guarded by `lock`. */
static struct {
	struct tdm_lock lock;
	struct tdm_writer *writer; /* the ledger that has them */
	struct {
		uintptr_t base, end;
	} known[MODULES_MAX];
	unsigned count;
} modules;

/* Finds the mapping that holds `address` in a file like /proc/self/maps, without stdio and without malloc. */
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
			have = 0; /* an absurdly long line: skipped */
	}
	return false;
}

bool tdm_stack_find(uintptr_t address, uintptr_t *low, uintptr_t *high)
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
		if (!tdm_stack_find(here, &low, &high))
			return false;
		tdm_thread.stack_low = low;
		tdm_thread.stack_high = high;
	}
	return address >= here && address < tdm_thread.stack_high;
}

/* ARM processors can sign the return addresses on the stack, in the bits above the address. xpaclri removes the
 * signature from x30 and does nothing on processors without signatures. */
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
			break; /* the frames of callers are at higher addresses */
		at = link[0];
	}
	return count;
}

/* Whether Linux started the program through a loader. Without one, dlopen crashes. */
static bool has_loader(void)
{
	return getauxval(AT_BASE) != 0;
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
	int chosen = 1;
	/* libunwind takes a lock when a thread has all but ended, and the thread sanitizer crashes on that. */
	if (has_loader() && !tdm_has_thread_sanitizer() && (wish == NULL || strcmp(wish, "fp") != 0)) {
		void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
		void *symbol = library != NULL ? dlsym(library, "unw_backtrace") : NULL;
		memcpy(&method.unwind, &symbol, sizeof symbol);
		if (method.unwind != NULL)
			chosen = 2;
	}
	if (has_loader())
		find_preload();
	atomic_store(&method.chosen, chosen);
	return chosen;
}

/* libunwind's frames, starting at the one that returns to the caller of the library. */
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

static bool is_known(uint64_t address)
{
	for (unsigned i = 0; i < modules.count; i++)
		if (address >= modules.known[i].base && address < modules.known[i].end)
			return true;
	return false;
}

/* Asks the loader without taking its lock, which may be taken forever in a forked child. The module cannot be unloaded
 * meanwhile, because the address is on the stack. */
static void put_module(struct tdm_writer *writer, uint64_t address)
{
	struct {
		uint64_t base, bytes;
		char path[PATH_KEPT];
	} blob;
	struct dl_find_object found;
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

/* A stack that is new to the ledger may contain modules that are new, too. */
static void note_modules(struct tdm_writer *writer, const uint64_t *frames, uint32_t count)
{
	if (!tdm_lock_take(&modules.lock))
		return;
	if (modules.writer != writer) {
		modules.writer = writer;
		modules.count = 0;
	}
	for (uint32_t i = 0; i < count; i++)
		if ((frames[i] & TDM_FRAME_TEXT) == 0 && !is_known(frames[i]))
			put_module(writer, frames[i]);
	tdm_lock_give(&modules.lock);
}

void tdm_stack_abandon(void)
{
	tdm_lock_abandon(&modules.lock);
}

void tdm_stack_prepare(void)
{
	choose_method();
}

void tdm_stack_after_fork(void)
{
	int unchosen = 0;
	atomic_compare_exchange_strong(&method.chosen, &unchosen, 1);
	tdm_python_after_fork();
	tdm_lock_reset(&modules.lock);
	modules.writer = NULL;
	modules.count = 0;
}

/* Whether the frame is an address or has a text in this ledger. */
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

static uint32_t without_preload(uint64_t *frames, uint32_t count)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count; i++)
		if (frames[i] < method.preload_low || frames[i] >= method.preload_high)
			frames[kept++] = frames[i];
	return kept;
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
	if (method.preload_high != 0)
		count = without_preload(frames, count);
	if (has_python)
		count = tdm_python_join(writer, frames, count, depth, chosen == 2);
	return tdm_stack_put(writer, frames, count < depth ? count : depth);
}
