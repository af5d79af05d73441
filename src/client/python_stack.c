#include "client/python_stack.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

/* An object of the interpreter, or a thread's state. */
typedef void object;

/* The functions of the interpreter, in the order of `names`. */
static struct {
	int (*is_initialized)(void);
	object *(*own_thread)(void);     /* the calling thread's, whether it holds the GIL or not */
	object *(*current_thread)(void); /* the one that holds the GIL; from 3.12 on, the calling thread's if it does */
	object *(*innermost_frame)(void);
	object *(*frame_code)(object *frame);
	object *(*frame_back)(object *frame);
	int (*frame_line)(object *frame);
	object *(*attribute)(object *of, const char *name);
	const char *(*text)(object *unicode, ssize_t *len);
	void (*release)(object *of);
	void (*fetch_error)(object **type, object **value, object **trace);
	void (*restore_error)(object *type, object *value, object *trace);
	void (*clear_error)(void);
	/* From here on, they may be missing. */
	int (*gc_disable)(void);
	int (*gc_enable)(void);
	const unsigned long *version;
} python;

static const char *const names[] = { "Py_IsInitialized", "PyGILState_GetThisThreadState", "_PyThreadState_UncheckedGet",
	"PyEval_GetFrame", "PyFrame_GetCode", "PyFrame_GetBack", "PyFrame_GetLineNumber", "PyObject_GetAttrString",
	"PyUnicode_AsUTF8AndSize", "Py_DecRef", "PyErr_Fetch", "PyErr_Restore", "PyErr_Clear", "PyGC_Disable",
	"PyGC_Enable", "Py_Version" };
enum { NAMES = sizeof names / sizeof names[0], NEEDED = NAMES - 3, CURRENT = 2 };
static_assert(sizeof python == NAMES * sizeof(void *), "a function has no name");

enum { UNKNOWN, HERE, ABSENT };
static _Atomic int state;
static _Atomic bool is_forked; /* then the loader is not asked: a thread of the parent may have had its lock */
static uintptr_t python_low, python_high;     /* the interpreter's code */
static uintptr_t handlers_low, handlers_high; /* where signal handlers return to */

#define FIRST_WITH_LATER_GC 0x030c0000 /* from 3.12 on, making an object never runs the garbage collector */

/* Several threads may find the same at once: who comes second changes nothing. */
static void set_word(void *to, uintptr_t word)
{
	uintptr_t *place = to;
	if (__atomic_load_n(place, __ATOMIC_RELAXED) != word)
		__atomic_store_n(place, word, __ATOMIC_RELAXED);
}

static bool find_module(uintptr_t address, uintptr_t *low, uintptr_t *high)
{
	struct dl_find_object found;
	if (_dl_find_object((void *)address, &found) != 0)
		return false;
	set_word(low, (uintptr_t)found.dlfo_map_start);
	set_word(high, (uintptr_t)found.dlfo_map_end);
	return true;
}

/* Signal handlers return to a function of libc, or of the page that Linux gives to each process. */
static bool find_handlers(void)
{
#if defined(__x86_64__)
	return find_module((uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &handlers_low, &handlers_high);
#else
	set_word(&handlers_low, getauxval(AT_SYSINFO_EHDR));
	set_word(&handlers_high, handlers_low + getauxval(AT_PAGESZ));
	return handlers_low != 0;
#endif
}

static bool find_python(void)
{
	void *found[NAMES];
	for (int i = 0; i < NAMES; i++) {
		found[i] = dlsym(RTLD_DEFAULT, names[i]);
		if (found[i] == NULL && i == CURRENT)
			found[i] = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked"); /* its name from 3.13 on */
		if (found[i] == NULL && i < NEEDED)
			return false;
	}
	for (int i = 0; i < NAMES; i++)
		set_word((char *)&python + i * sizeof(void *), (uintptr_t)found[i]);
	return find_handlers() && find_module((uintptr_t)found[NEEDED - 1], &python_low, &python_high);
}

bool tdm_python_is_here(void)
{
	int seen = atomic_load_explicit(&state, memory_order_acquire);
	if (seen == UNKNOWN) {
		seen = getauxval(AT_BASE) != 0 && find_python() ? HERE : ABSENT; /* a static program has no loader */
		atomic_store_explicit(&state, seen, memory_order_release);
	}
	return seen == HERE;
}

void tdm_python_look_again(void)
{
	int absent = ABSENT;
	if (!atomic_load_explicit(&is_forked, memory_order_relaxed))
		atomic_compare_exchange_strong(&state, &absent, UNKNOWN);
}

void tdm_python_after_fork(void)
{
	int unknown = UNKNOWN;
	atomic_store_explicit(&is_forked, true, memory_order_relaxed);
	atomic_compare_exchange_strong(&state, &unknown, ABSENT);
}

/* Whether a signal handler returns to this address, i.e. whether the frames before it are those of a handler. */
static bool is_handler_return(uint64_t frame)
{
#if defined(__x86_64__)
	static const char code[] = "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"; /* mov $15,%rax; syscall */
#elif defined(__aarch64__)
	static const char code[] = "\x68\x11\x80\xd2\x01\x00\x00\xd4"; /* mov x8,#139; svc #0 */
#else
	static const char code[] = "";
#endif
	return frame >= handlers_low && frame < handlers_high && handlers_high - frame >= sizeof code &&
	       memcmp((const void *)(uintptr_t)frame, code, sizeof code - 1) == 0;
}

static bool is_python(uint64_t frame)
{
	return frame >= python_low && frame < python_high;
}

/*
 * Whether a signal handler may be running, which may have interrupted the interpreter in the middle of a change. If the
 * walk is exact as far as the interpreter, its frames say it. Else the signals that the thread blocks say it: while a
 * handler runs, at least its own.
 */
static bool may_be_in_handler(const uint64_t *frames, uint32_t count, bool is_exact)
{
	sigset_t blocked;
	for (uint32_t i = 0; i < count; i++) {
		if (is_handler_return(frames[i]))
			return true;
		if (is_exact && is_python(frames[i]))
			return false;
	}
	return sigprocmask(SIG_BLOCK, NULL, &blocked) != 0 || !sigisemptyset(&blocked);
}

/* Whether the thread holds the GIL. PyGILState_Check() says yes before the interpreter's start, after its end, and
 * always once there was a second interpreter. */
static bool holds_gil(void)
{
	object *own;
	return python.is_initialized() && (own = python.own_thread()) != NULL && own == python.current_thread();
}

/* The text of an attribute of a code object, cut to its last `max` bytes at most. Stays valid with the code object. */
static const char *code_text(object *code, const char *name, size_t max)
{
	ssize_t len;
	object *attribute = python.attribute(code, name);
	const char *text = attribute != NULL ? python.text(attribute, &len) : NULL;
	if (attribute != NULL)
		python.release(attribute);
	if (text == NULL) {
		python.clear_error();
		return NULL;
	}
	if ((size_t)len > max)
		text += (size_t)len - max;
	while ((*text & 0xc0) == 0x80)
		text++; /* not in the middle of a character */
	return text;
}

/* "file.py:12 function" as a frame; 0 if it has no text or there is no room. */
static uint64_t put_frame(struct tdm_writer *writer, object *frame)
{
	enum { NAME_MAX_BYTES = 96, FILE_MAX_BYTES = TDM_LEDGER_TEXT_MAX - NAME_MAX_BYTES - 16 };
	char text[TDM_LEDGER_TEXT_MAX + 1];
	object *code = python.frame_code(frame);
	if (code == NULL)
		return 0;
	const char *file = code_text(code, "co_filename", FILE_MAX_BYTES);
	const char *name = code_text(code, "co_qualname", NAME_MAX_BYTES); /* from 3.11 on */
	if (name == NULL)
		name = code_text(code, "co_name", NAME_MAX_BYTES);
	int len = file == NULL || name == NULL
			  ? 0
			  : snprintf(text, sizeof text, "%s:%d %s", file, python.frame_line(frame), name);
	python.release(code);
	uint32_t number =
		len <= 0 ? 0 : tdm_blobs_put(&writer->blobs, TDM_BLOB_TEXT, text, strnlen(text, sizeof text - 1), NULL);
	return number != 0 ? TDM_FRAME_TEXT | number : 0;
}

static uint32_t put_frames(struct tdm_writer *writer, uint64_t *to, uint32_t depth)
{
	uint32_t count = 0;
	object *frame = python.innermost_frame();
	bool is_ours = false; /* the first is borrowed */
	while (frame != NULL && count < depth) {
		uint64_t number = put_frame(writer, frame);
		object *next = number != 0 ? python.frame_back(frame) : NULL;
		if (number != 0)
			to[count++] = number;
		if (is_ours)
			python.release(frame);
		frame = next;
		is_ours = true;
	}
	if (frame != NULL && is_ours)
		python.release(frame);
	return count;
}

/* The same, with an exception that is on its way kept, and no garbage collected, which could run any code. */
static uint32_t put_frames_quietly(struct tdm_writer *writer, uint64_t *to, uint32_t depth)
{
	object *type, *value, *trace;
	bool may_collect = python.gc_disable != NULL && python.gc_enable != NULL && python.version != NULL &&
			   *python.version < FIRST_WITH_LATER_GC && python.gc_disable() != 0;
	python.fetch_error(&type, &value, &trace);
	uint32_t count = put_frames(writer, to, depth);
	python.restore_error(type, value, trace);
	if (may_collect)
		python.gc_enable();
	return count;
}

uint32_t tdm_python_join(struct tdm_writer *writer, uint64_t *frames, uint32_t count, uint32_t depth, bool is_exact)
{
	uint64_t ours[TDM_LEDGER_STACK_MAX];
	if (!holds_gil() || may_be_in_handler(frames, count, is_exact))
		return count;
	depth = depth < TDM_LEDGER_STACK_MAX ? depth : TDM_LEDGER_STACK_MAX;
	uint32_t got = put_frames_quietly(writer, ours, depth), first = 0, kept;
	if (got == 0)
		return count;
	while (first < count && !is_python(frames[first]))
		first++;
	kept = first;
	for (uint32_t i = first; i < count; i++)
		if (!is_python(frames[i]))
			frames[kept++] = frames[i];
	memmove(&frames[first + got], &frames[first], (kept - first) * sizeof *frames);
	memcpy(&frames[first], ours, got * sizeof *frames);
	return kept + got;
}
