/*
 * Finds the runtime. The runtime may be a library with any name, linked or loaded later, perhaps with RTLD_LOCAL (in
 * which case a global search does not find it, but a handle does). There may be several runtimes. The only certain fact
 * is a hook's caller: the library that contains the return address. The next function to call is that library's own
 * definition; if the library has none (an application, ttnn), it is the definition in one of the library's
 * dependencies.
 *
 * Libraries that call hooks are found once, and our handle keeps them loaded. So their addresses stay valid, and the
 * fast path consists of two comparisons. The price: if a program closes such a library, its destructors run only at
 * exit.
 *
 * Another preloaded library may hook the same functions. If it comes after us in the loader's order (RTLD_NEXT), we
 * call it next, and it finds the runtime by itself.
 */
#include "metal/metal.h"
#include "metal/hook_table.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
	RUNTIMES_MAX = 16,
	CALLERS_MAX = 64,
	REMARKS_MAX = 64,
	NAME_MAX_BYTES = 128,
};

static_assert(sizeof(struct tdm_metal_allocator_ask) == 5 * sizeof(void *), "filled in as a list");

struct tdm_metal_runtime *tdm_metal_main;
static struct tdm_metal_runtime *runtimes[RUNTIMES_MAX];
static uint32_t runtime_count;

/* Maps libraries to the runtimes they call. Entries are only ever added; the count is written last. */
static struct caller {
	uintptr_t low, high;
	struct tdm_metal_runtime *runtime;
} callers[CALLERS_MAX];
static uint32_t caller_count;

static _Thread_local struct tdm_metal_runtime *used_last __attribute__((tls_model("initial-exec")));
/* Recursive: a signal handler may end the program on the thread that holds the mutex. */
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static bool is_constructed, has_fork_handlers;
static uint32_t counters[TDM_METAL_HOOK_COUNT];
static const char *said[REMARKS_MAX];

void tdm_metal_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void tdm_metal_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

/* Tries for a while, because other threads hold the lock only briefly. */
bool tdm_metal_lock_is_free(void)
{
	enum { TRIES = 50 };
	const struct timespec pause = { .tv_nsec = 1000000 };
	for (int i = 0; i < TRIES; i++) {
		if (pthread_mutex_trylock(&mutex) == 0) {
			pthread_mutex_unlock(&mutex);
			return true;
		}
		nanosleep(&pause, NULL);
	}
	return false;
}

uint64_t tdm_metal_uses;
const struct tdm_metal_allocator *tdm_metal_asked_in_turn;
_Thread_local uint32_t tdm_metal_own_uses __attribute__((tls_model("initial-exec")));

static void after_fork_in_child(void)
{
	mutex = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* the forking thread held the mutex */
	__atomic_store_n(&tdm_metal_uses, tdm_metal_own_uses, __ATOMIC_RELAXED);
	tdm_metal_asked_in_turn = NULL;
	tdm_metal_allocators_inherit();
}

__attribute__((constructor)) static void note_constructed(void)
{
	is_constructed = true;
}

/* A loaded library, found with dl_iterate_phdr() by an address in the library. */
struct library {
	uintptr_t address;
	uintptr_t low, high;
	const char *path; /* "" for the program itself */
	size_t place;     /* position in the loader's search order for global symbols when the program started */
};

static int compare_library(struct dl_phdr_info *info, size_t size, void *context)
{
	struct library *library = context;
	uintptr_t low = UINTPTR_MAX, high = 0;
	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type != PT_LOAD)
			continue;
		uintptr_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
		low = begin < low ? begin : low;
		high = end > high ? end : high;
	}
	library->place++;
	if (library->address < low || library->address >= high)
		return 0;
	library->low = low;
	library->high = high;
	library->path = info->dlpi_name;
	return 1;
}

static bool find_library(const void *address, struct library *library)
{
	*library = (struct library){ .address = (uintptr_t)address };
	return dl_iterate_phdr(compare_library, library) != 0;
}

/* Returns a handle that keeps the library loaded; NULL for the program itself, whose handle would find our own
 * functions. */
static void *hold(const struct library *library)
{
	return library->path[0] != '\0' ? dlopen(library->path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/*
 * Finds the function in a library or one of its dependencies. Ignores functions in libraries that precede us: such a
 * library is another preload that hooks the function and has called ours as the next definition.
 */
static void *find_in(void *handle, const char *symbol)
{
	struct library here, there;
	void *found = handle != NULL ? dlsym(handle, symbol) : dlsym(RTLD_NEXT, symbol);
	return found != NULL && find_library((const void *)(uintptr_t)tdm_metal_lock, &here) &&
			       find_library(found, &there) && there.place > here.place
		       ? found
		       : NULL;
}

/* Whether a library is a runtime, that is, whether it has functions that we only call, which a library of hooks
 * lacks. */
static bool is_runtime(const struct library *library, void *handle)
{
	struct library other;
	for (size_t i = TDM_METAL_HOOK_COUNT; i < tdm_metal_symbol_count; i++) {
		const struct tdm_metal_symbol *symbol = &tdm_metal_symbols[i];
		void *found = symbol->topic == TDM_METAL_BUFFERS ? dlsym(handle, symbol->symbol) : NULL;
		if (found != NULL && find_library(found, &other) && other.low == library->low)
			return true;
	}
	return false;
}

/* Finds the function in another preloaded library that follows us. */
static void *find_interposer(const struct tdm_metal_runtime *runtime, const char *symbol)
{
	void *found = dlsym(RTLD_NEXT, symbol);
	struct library library;
	if (found == NULL || !find_library(found, &library) || library.low == runtime->low)
		return NULL;
	void *handle = hold(&library);
	bool is_other = handle != NULL && !is_runtime(&library, handle);
	if (handle != NULL)
		dlclose(handle);
	return is_other ? found : NULL;
}

/* Whether the runtime has the class AllocatorImpl, which is proved by the presence of any of its functions. */
static bool has_allocator_impl(void *handle)
{
	for (size_t i = 0; i < tdm_metal_symbol_count; i++)
		if (strstr(tdm_metal_symbols[i].symbol, "13AllocatorImpl") != NULL &&
			find_in(handle, tdm_metal_symbols[i].symbol) != NULL)
			return true;
	return false;
}

/* Stores the address of a function, if `field` has none yet. */
static void find_question(void *field, void *handle, const char *symbol)
{
	void *found;
	memcpy(&found, field, sizeof found);
	if (found == NULL)
		found = find_in(handle, symbol);
	memcpy(field, &found, sizeof found);
}

static void find_functions(struct tdm_metal_runtime *runtime)
{
	struct tdm_metal_ask *ask = &runtime->ask;
	void *handle = runtime->handle;
	for (size_t i = 0; i < TDM_METAL_HOOK_COUNT; i++) {
		runtime->next[i] = find_in(handle, tdm_metal_symbols[i].symbol);
		void *other = runtime->next[i] != NULL ? find_interposer(runtime, tdm_metal_symbols[i].symbol) : NULL;
		runtime->next[i] = other != NULL ? other : runtime->next[i];
	}
#define X(field, result, arguments, since, until, topic, is_needed, name, sees, symbol) \
	find_question(&ask->field, handle, symbol);
	TDM_METAL_QUESTIONS(X)
#undef X
	/*
	 * Answers are released with the program's own operator delete, if it has one, because the program's operator
	 * new allocated them.
	 */
	void *delete = dlsym(RTLD_DEFAULT, "_ZdlPv");
	if (delete != NULL)
		memcpy(&ask->operator_delete, &delete, sizeof ask->operator_delete);
	/* Exceptions are thrown by the program's own C++ library, if it has one, else by the runtime's. */
	void *exceptions = dlsym(RTLD_DEFAULT, "__cxa_get_globals_fast");
	if (exceptions == NULL)
		exceptions = find_in(handle, "__cxa_get_globals_fast");
	memcpy(&runtime->exceptions, &exceptions, sizeof exceptions);
	static const char *const of_view[] = { TDM_K "9Allocator13get_num_banksERKNS0_10BufferTypeE",
		TDM_K "9Allocator13get_bank_sizeERKNS0_10BufferTypeE",
		TDM_K "9Allocator14get_statisticsERKNS0_10BufferTypeE",
		TDM_K "9Allocator23get_base_allocator_addrERKNS0_10HalMemTypeE",
		TDM_K "9Allocator13get_alignmentENS0_10BufferTypeE" };
	for (size_t i = 0; i < sizeof of_view / sizeof of_view[0]; i++)
		find_question((char *)&runtime->view + i * sizeof(void *), handle, of_view[i]);
	/* In releases with AllocatorImpl, Allocator is a different class with the same functions. */
	bool is_new = has_allocator_impl(handle);
#define Y(field, since, until, symbol)                         \
	if (!(is_new && strstr(symbol, "9Allocator") != NULL)) \
		find_question(&ask->field, handle, symbol);
	TDM_METAL_OLD_QUESTIONS(Y)
#undef Y
}

static struct tdm_metal_runtime *find_known(uintptr_t low)
{
	uint32_t count = __atomic_load_n(&runtime_count, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < count; i++)
		if (runtimes[i]->low == low)
			return runtimes[i];
	return NULL;
}

/* The runtime that defines this function. */
static struct tdm_metal_runtime *runtime_with(const void *function)
{
	struct library library;
	if (function == NULL || !find_library(function, &library))
		return NULL;
	struct tdm_metal_runtime *runtime = find_known(library.low);
	if (runtime != NULL || (runtime = calloc(1, sizeof *runtime)) == NULL)
		return runtime;
	runtime->low = library.low;
	runtime->high = library.high;
	runtime->handle = hold(&library);
	find_functions(runtime);
	/* Adds the runtime, unless another thread got there first. */
	tdm_metal_lock();
	struct tdm_metal_runtime *known = find_known(runtime->low);
	bool is_first = !has_fork_handlers;
	if (known == NULL && runtime_count < RUNTIMES_MAX) {
		runtimes[runtime_count] = runtime;
		__atomic_store_n(&runtime_count, runtime_count + 1, __ATOMIC_RELEASE);
		if (tdm_metal_main == NULL)
			__atomic_store_n(&tdm_metal_main, runtime, __ATOMIC_RELEASE);
	}
	has_fork_handlers = true;
	tdm_metal_unlock();
	if (is_first)
		pthread_atfork(tdm_metal_lock, tdm_metal_unlock, after_fork_in_child);
	if (known != NULL)
		free(runtime);
	return known != NULL ? known : runtime;
}

/* The runtime that is a caller's library or one of its dependencies. */
static struct tdm_metal_runtime *runtime_for_caller(const void *caller, const char *symbol)
{
	struct library library;
	if (!find_library(caller, &library))
		return NULL;
	void *handle = hold(&library);
	struct tdm_metal_runtime *runtime = runtime_with(find_in(handle, symbol));
	if (runtime == NULL && handle != NULL)
		dlclose(handle); /* otherwise the handle is kept */
	tdm_metal_lock();
	uint32_t i = 0;
	while (i < caller_count && callers[i].low != library.low)
		i++;
	if (runtime != NULL && i == caller_count && i < CALLERS_MAX) {
		callers[i] = (struct caller){ library.low, library.high, runtime };
		__atomic_store_n(&caller_count, i + 1, __ATOMIC_RELEASE);
	}
	tdm_metal_unlock();
	return runtime;
}

/* Finds the next library of the process. */
struct search {
	size_t index, skip;
	char path[4096];
};

static int take_path(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *search = context;
	(void)size;
	if (search->index++ < search->skip)
		return 0;
	search->skip = search->index;
	size_t length = strlen(info->dlpi_name);
	if (length == 0 || length >= sizeof search->path)
		return 0;
	memcpy(search->path, info->dlpi_name, length + 1);
	return 1;
}

/* Handles one path at a time: nothing may be loaded while dl_iterate_phdr() holds the loader's lock. */
static void *find_anywhere(const char *symbol)
{
	struct search search = { 0 };
	void *found = find_in(NULL, symbol);
	while (found == NULL && dl_iterate_phdr(take_path, &search) != 0) {
		void *handle = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
		found = handle != NULL ? find_in(handle, symbol) : NULL;
		search.index = 0;
		if (handle != NULL)
			dlclose(handle);
	}
	return found;
}

int tidemark_metal_is_loaded(void)
{
	bool is_seen = __atomic_load_n(&tdm_metal_main, __ATOMIC_ACQUIRE) != NULL;
	for (size_t i = 0; i < TDM_METAL_HOOK_COUNT && !is_seen; i++)
		is_seen = tdm_metal_symbols[i].topic == TDM_METAL_BUFFERS &&
			  find_anywhere(tdm_metal_symbols[i].symbol) != NULL;
	return is_seen;
}

static __attribute__((cold, noinline)) struct tdm_metal_runtime *find_runtime(
	enum tdm_metal_hook hook, const void *caller)
{
	const char *symbol = tdm_metal_symbols[hook].symbol;
	const char *own = secure_getenv("TIDEMARK"), *other = secure_getenv("TT_ALLOC_TRACKING_ENABLED");
	/*
	 * Constructors in the program's libraries may run before ours, and before libtidemark's constructor, which
	 * reads the environment. In that case we read the environment ourselves. TIDEMARK=auto waits for libtidemark.
	 */
	if (!is_constructed && (own != NULL ? own[0] != '\0' && strcmp(own, "0") != 0 && strcmp(own, "off") != 0 &&
						       strcmp(own, "auto") != 0
					    : other != NULL && other[0] == '1'))
		tidemark_enable();
	struct tdm_metal_runtime *runtime = runtime_for_caller(caller, symbol);
	if (runtime == NULL && used_last != NULL && used_last->next[hook] != NULL)
		runtime = used_last;
	uint32_t count = __atomic_load_n(&runtime_count, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < count && runtime == NULL; i++)
		runtime = runtimes[i]->next[hook] != NULL ? runtimes[i] : NULL;
	return runtime != NULL ? runtime : runtime_with(find_anywhere(symbol));
}

struct tdm_metal_runtime *tdm_metal_runtime_slow(enum tdm_metal_hook hook, const void *caller)
{
	uint32_t count = __atomic_load_n(&caller_count, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < count; i++) {
		const struct caller *known = &callers[i];
		if ((uintptr_t)caller - known->low < known->high - known->low && known->runtime->next[hook] != NULL) {
			if (__atomic_load_n(&runtime_count, __ATOMIC_RELAXED) > 1)
				used_last = known->runtime;
			return known->runtime;
		}
	}
	int caller_errno = errno;
	struct tdm_metal_runtime *runtime = find_runtime(hook, caller);
	used_last = runtime != NULL ? runtime : used_last;
	(void)dlerror(); /* our failed lookups must not show up in the program's next call of dlerror() */
	errno = caller_errno;
	return runtime;
}

void tdm_metal_without(enum tdm_metal_hook hook)
{
	const char *parts[] = {
		"libtidemark-metal: symbol lookup error: undefined symbol: ", tdm_metal_symbols[hook].symbol, "\n"
	};
	for (size_t i = 0; i < 3; i++)
		if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
			break;
	_exit(127); /* ends the program the way the loader does */
}

static __attribute__((cold, noinline)) uint32_t find_counter(enum tdm_metal_hook hook)
{
	char name[NAME_MAX_BYTES] = "metal:";
	strncat(name, tdm_metal_symbols[hook].name, sizeof name - sizeof "metal:");
	uint32_t counter = tidemark_counter(name);
	__atomic_store_n(&counters[hook], counter, __ATOMIC_RELAXED);
	return counter;
}

void tdm_metal_count(enum tdm_metal_hook hook)
{
	uint32_t counter = __atomic_load_n(&counters[hook], __ATOMIC_RELAXED);
	if (__builtin_expect(counter == 0, 0))
		counter = find_counter(hook);
	if (counter != 0)
		tidemark_count(counter, 1);
}

void tdm_metal_remark_once(const char *text)
{
	bool is_new = tidemark_is_enabled();
	tdm_metal_lock();
	for (size_t i = 0; i < REMARKS_MAX && is_new; i++) {
		if (said[i] == NULL) {
			said[i] = text;
			break;
		}
		is_new = said[i] != text;
	}
	tdm_metal_unlock();
	if (is_new)
		tidemark_remark(text);
}

void tdm_metal_explain(struct tdm_metal_runtime *runtime)
{
	char text[NAME_MAX_BYTES];
	if (!tidemark_is_enabled() || __atomic_exchange_n(&runtime->is_explained, true, __ATOMIC_RELAXED))
		return;
	bool *present = calloc(tdm_metal_symbol_count, sizeof *present);
	for (size_t i = 0; i < tdm_metal_symbol_count && present != NULL; i++)
		present[i] = find_in(runtime->handle, tdm_metal_symbols[i].symbol) != NULL;
	(void)dlerror(); /* our failed lookups must not show up in the program's next call of dlerror() */
	for (int topic = 0; topic < TDM_METAL_TOPICS && present != NULL; topic++) {
		const char *missing = tdm_metal_missing((enum tdm_metal_topic)topic, present);
		if (missing == NULL)
			continue;
		snprintf(text, sizeof text, "metal: %s not seen: this runtime has no %s",
			tdm_metal_topic_name((enum tdm_metal_topic)topic), missing);
		tidemark_remark(text);
	}
	free(present);
	if (runtime->ask.buffer_page_size == NULL)
		tidemark_remark("metal: page sizes are not known: this runtime has no Buffer::page_size");
	if (runtime->ask.buffer_num_cores == NULL)
		tidemark_remark(
			"metal: over how many cores buffers are sharded is not known, and so not how many bytes "
			"hold something: this runtime has no Buffer::num_cores");
}

void tdm_metal_distrust(struct tdm_metal_runtime *runtime, const char *why)
{
	if (!__atomic_exchange_n(&runtime->is_distrusted, true, __ATOMIC_RELAXED))
		tdm_metal_remark_once(why);
}

/* Used if the kernel (or an emulator) lacks process_vm_readv(). Copies the memory through a pipe: the kernel then reads
 * it, so an unmapped address causes an error, not a crash. Uses raw system calls, because libc's functions are
 * cancellation points, and sanitizers check the bytes passed to them. */
static bool copy_by_pipe(char *to, const char *from, size_t size)
{
	enum { CHUNK = 4096 }; /* an empty pipe always accepts this much */
	int ends[2];
	size_t done = 0;
	if (syscall(SYS_pipe2, ends, O_CLOEXEC) != 0) {
		tdm_metal_remark_once(
			"metal: buffers are not seen: the process may not read its own memory, nor open a pipe");
		return false;
	}
	while (done < size) {
		long some = syscall(SYS_write, ends[1], from + done, size - done < CHUNK ? size - done : CHUNK);
		if (some <= 0 || syscall(SYS_read, ends[0], to + done, (size_t)some) != some)
			break;
		done += (size_t)some;
	}
	syscall(SYS_close, ends[0]);
	syscall(SYS_close, ends[1]);
	return done == size;
}

bool tdm_metal_copy(void *to, const void *from, size_t size)
{
	int caller_errno = errno;
	struct iovec there = { (void *)(uintptr_t)from, size }, here = { to, size };
	ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
	bool is_good = got == (ssize_t)size;
	if (got < 0 && errno != EFAULT)
		is_good = copy_by_pipe(to, from, size);
	errno = caller_errno;
	return is_good;
}
