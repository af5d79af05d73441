#include "client/python_stack.h"
#include "client/python_frames.h"

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
	const char *(*version_text)(void);
	void *eval;     /* the function that runs Python code */
	void *run_main; /* the one that runs a program and then ends the interpreter */
	object *(*main_interpreter)(void);
	object *(*latest_interpreter)(void); /* of those that exist */
} python;

static const char *const names[] = { "Py_IsInitialized", "PyGILState_GetThisThreadState", "_PyThreadState_UncheckedGet",
	"PyEval_GetFrame", "PyFrame_GetCode", "PyFrame_GetBack", "PyFrame_GetLineNumber", "PyObject_GetAttrString",
	"PyUnicode_AsUTF8AndSize", "Py_DecRef", "PyErr_Fetch", "PyErr_Restore", "PyErr_Clear", "PyGC_Disable",
	"PyGC_Enable", "Py_Version", "Py_GetVersion", "_PyEval_EvalFrameDefault", "Py_RunMain",
	"PyInterpreterState_Main", "PyInterpreterState_Head" };
enum { NAMES = sizeof names / sizeof names[0], NEEDED = NAMES - 8, CURRENT = 2 };
static_assert(sizeof python == NAMES * sizeof(void *), "a function has no name");

enum { UNKNOWN, HERE, ABSENT };
static _Atomic int state;
static _Atomic bool is_forked; /* then the loader is not asked: a thread of the parent may have had its lock */
struct range {
	uintptr_t low, high;
};
static unsigned long version;       /* 0x030b02f0 is 3.11.2; 0: not known */
static struct range interpreter;    /* its code */
static struct range eval, run_main; /* of that, two functions */
static struct range handlers;       /* where signal handlers return to */

#define FIRST_WITH_GROUPS   0x030b0000 /* before, each Python frame had a call of that function for itself */
#define FIRST_WITH_LATER_GC 0x030c0000 /* from 3.12 on, making an object never runs the garbage collector */
#define FIRST_THAT_CHANGES  0x030c0000 /* before, a thread's own state was the first that it had, of any interpreter */

/* Several threads may find the same at once: who comes second changes nothing. */
static void set_word(void *to, uintptr_t word)
{
	uintptr_t *place = to;
	if (__atomic_load_n(place, __ATOMIC_RELAXED) != word)
		__atomic_store_n(place, word, __ATOMIC_RELAXED);
}

static bool is_in(const struct range *range, uint64_t frame)
{
	return frame >= range->low && frame < range->high;
}

static bool find_module(uintptr_t address, struct range *range)
{
	struct dl_find_object found;
	if (_dl_find_object((void *)address, &found) != 0)
		return false;
	set_word(&range->low, (uintptr_t)found.dlfo_map_start);
	set_word(&range->high, (uintptr_t)found.dlfo_map_end);
	return true;
}

/* A function's symbol says where it ends. */
static void find_function(void *function, struct range *range)
{
	Dl_info info;
	void *symbol = NULL;
	if (function == NULL || dladdr1(function, &info, &symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL)
		return;
	set_word(&range->low, (uintptr_t)function);
	set_word(&range->high, (uintptr_t)function + ((const ElfW(Sym) *)symbol)->st_size);
}

/* Signal handlers return to a function of libc, or of the page that Linux gives to each process. */
static bool find_handlers(void)
{
#if defined(__x86_64__)
	return find_module((uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &handlers);
#else
	set_word(&handlers.low, getauxval(AT_SYSINFO_EHDR));
	set_word(&handlers.high, handlers.low + getauxval(AT_PAGESZ));
	return handlers.low != 0;
#endif
}

/* Like Py_Version, which is there from 3.11 on; before, only the text has it. */
static unsigned long find_version(void)
{
	unsigned major = 0, minor = 0;
	if (python.version != NULL)
		return *python.version;
	return python.version_text != NULL && sscanf(python.version_text(), "%u.%u", &major, &minor) == 2
		       ? (unsigned long)(major & 0xff) << 24 | (minor & 0xff) << 16
		       : 0;
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
	find_function(python.eval, &eval);
	find_function(python.run_main, &run_main);
	set_word(&version, find_version());
	tdm_python_frames_find(version);
	return find_handlers() && find_module((uintptr_t)found[NEEDED - 1], &interpreter);
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
	return is_in(&handlers, frame) && handlers.high - frame >= sizeof code &&
	       memcmp((const void *)(uintptr_t)frame, code, sizeof code - 1) == 0;
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
		if (is_exact && is_in(&interpreter, frames[i]))
			return false;
	}
	return sigprocmask(SIG_BLOCK, NULL, &blocked) != 0 || !sigisemptyset(&blocked);
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

/* The frame as text; 0 if it has none or there is no room. */
static uint64_t put_frame(struct tdm_writer *writer, object *frame)
{
	object *code = python.frame_code(frame);
	if (code == NULL)
		return 0;
	const char *file = code_text(code, "co_filename", TDM_PYTHON_FILE_MAX);
	const char *name = code_text(code, "co_qualname", TDM_PYTHON_NAME_MAX); /* from 3.11 on */
	if (name == NULL)
		name = code_text(code, "co_name", TDM_PYTHON_NAME_MAX);
	uint64_t number =
		file != NULL && name != NULL ? tdm_python_frame_put(writer, file, python.frame_line(frame), name) : 0;
	python.release(code);
	return number;
}

static void put_frames(struct tdm_writer *writer, uint32_t depth, struct tdm_python_frames *to)
{
	bool is_each_alone = version < FIRST_WITH_GROUPS;
	object *frame = python.innermost_frame();
	bool is_ours = false; /* the first is borrowed */
	while (frame != NULL && to->count < depth) {
		uint64_t number = put_frame(writer, frame);
		object *next = number != 0 ? python.frame_back(frame) : NULL;
		if (number != 0) {
			to->groups[to->count] = is_each_alone ? (uint8_t)to->count : 0;
			to->texts[to->count++] = number;
		}
		if (is_ours)
			python.release(frame);
		frame = next;
		is_ours = true;
	}
	if (frame != NULL && is_ours)
		python.release(frame);
}

/* The same, with an exception that is on its way kept, and no garbage collected, which could run any code. */
static void put_frames_quietly(struct tdm_writer *writer, uint32_t depth, struct tdm_python_frames *to)
{
	object *type, *value, *trace;
	bool may_collect = python.gc_disable != NULL && python.gc_enable != NULL && version != 0 &&
			   version < FIRST_WITH_LATER_GC && python.gc_disable() != 0;
	python.fetch_error(&type, &value, &trace);
	to->count = 0;
	put_frames(writer, depth, to);
	python.restore_error(type, value, trace);
	if (may_collect)
		python.gc_enable();
}

/* One frame that says why there are no others. */
static void put_remark(struct tdm_writer *writer, const char *why, struct tdm_python_frames *to)
{
	char text[TDM_LEDGER_TEXT_MAX + 1];
	int len = snprintf(
		text, sizeof text, "(Python %lu.%lu: frames unknown, %s)", version >> 24, version >> 16 & 0xff, why);
	uint32_t number = tdm_blobs_put(&writer->blobs, TDM_BLOB_TEXT, text, (size_t)len, NULL);
	to->count = number != 0;
	to->texts[0] = TDM_FRAME_TEXT | number;
	to->groups[0] = 0;
}

/* Whether the walk has come through this function. */
static bool has_call(const uint64_t *frames, uint32_t count, const struct range *function)
{
	for (uint32_t i = 0; i < count; i++)
		if (is_in(function, frames[i]))
			return true;
	return false;
}

/* Whether a thread's own state may be that of another interpreter than the one that it runs. */
static bool may_be_anothers(void)
{
	return version < FIRST_THAT_CHANGES && python.main_interpreter != NULL && python.latest_interpreter != NULL &&
	       python.latest_interpreter() != python.main_interpreter();
}

/* The frames of the Python code that the thread runs, or a remark. */
static bool find_frames(struct tdm_writer *writer, uint32_t depth, const uint64_t *frames, uint32_t count,
	struct tdm_python_frames *to, bool *is_remark)
{
	object *own = python.is_initialized() ? python.own_thread() : NULL;
	if (own == NULL)
		return false;
	/* PyGILState_Check() says yes before the interpreter's start, after its end, and always once there was a second
	 * interpreter. */
	bool holds_gil = own == python.current_thread();
	bool is_doubtful = !holds_gil && may_be_anothers();
	/* The thread that runs the program ends the interpreter, and no other. */
	bool is_alive = holds_gil || has_call(frames, count, &run_main);
	bool is_read = !is_doubtful && tdm_python_frames_read(writer, own, is_alive, depth, to) &&
		       python.is_initialized() && (to->count > 0 || !has_call(frames, count, &eval));
	*is_remark = !is_read && !holds_gil;
	if (!is_read && holds_gil)
		put_frames_quietly(writer, depth, to);
	else if (*is_remark)
		put_remark(
			writer, is_doubtful ? "there are several interpreters" : "the thread has released the GIL", to);
	return to->count > 0;
}

/* Whether each group of frames has a call of the function that runs it. The walk may have ended before. */
static bool has_all_calls(const uint64_t *frames, uint32_t count, const struct tdm_python_frames *ours)
{
	uint32_t calls = 0;
	for (uint32_t i = 0; i < count; i++)
		calls += is_in(&eval, frames[i]);
	return calls > ours->groups[ours->count - 1] || (calls > 0 && count == TDM_PYTHON_JOINED_MAX);
}

/* Copies the frames of the next group, or all of them, to the end of the list. */
static uint32_t take_group(
	const struct tdm_python_frames *ours, uint32_t *next, int group, uint64_t *to, uint32_t count, uint32_t depth)
{
	while (*next < ours->count && (group < 0 || ours->groups[*next] == group) && count < depth)
		to[count++] = ours->texts[(*next)++];
	return count;
}

uint32_t tdm_python_join(struct tdm_writer *writer, uint64_t *frames, uint32_t count, uint32_t depth, bool is_exact)
{
	struct tdm_python_frames ours;
	uint64_t joined[TDM_LEDGER_STACK_MAX];
	uint32_t got = 0, next = 0;
	int group = 0;
	bool is_remark;
	depth = depth < TDM_LEDGER_STACK_MAX ? depth : TDM_LEDGER_STACK_MAX;
	if (may_be_in_handler(frames, count, is_exact) || !find_frames(writer, depth, frames, count, &ours, &is_remark))
		return count;
	bool has_places = !is_remark && has_all_calls(frames, count, &ours);
	for (uint32_t i = 0; i < count && got < depth; i++) {
		if (is_in(&interpreter, frames[i]) && !has_places)
			got = take_group(&ours, &next, -1, joined, got, depth);
		else if (is_in(&eval, frames[i]))
			got = take_group(&ours, &next, group++, joined, got, depth);
		if ((!is_in(&interpreter, frames[i]) || is_remark) && got < depth)
			joined[got++] = frames[i];
	}
	if (!has_places && !is_remark)
		got = take_group(&ours, &next, -1, joined, got, depth); /* the walk did not come to the interpreter */
	memcpy(frames, joined, got * sizeof *frames);
	return got;
}
