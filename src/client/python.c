/*
 * The Python part of a call stack. The process may or may not have an interpreter; we link nothing from Python.
 *
 * A thread's frames are read as bytes, whether or not it holds the interpreter's lock (the GIL): bindings release the
 * GIL around long calls. If the Python version's frame layout is unknown, frames are requested through functions that
 * run no Python code, and only while the thread holds the GIL. We cannot wait for the GIL, because another thread may
 * hold the GIL while waiting for a lock that our caller holds.
 */
#include "client/client.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * ---- frames as bytes ----
 *
 * Reads a thread's Python frames as bytes: without the GIL, without calling the interpreter, and without changing
 * anything. docs/decisions/client.md explains why that is safe.
 *
 * The offsets are those of CPython 3.10 to 3.13. The offsets are used only after a check in this process: the objects
 * found with them must have the right types, and frames that the interpreter keeps on the C stack must be on this
 * thread's stack.
 */

/* The longest strings that fit in a frame. */
enum { NAME_MAX_KEPT = 96, FILE_MAX_KEPT = TDM_LEDGER_TEXT_MAX - NAME_MAX_KEPT - 16 };

/* Python frames, innermost first. Frames in the same group belong to one call of the interpreter's C function. */
struct frames {
	uint64_t texts[TDM_LEDGER_STACK_MAX];
	uint8_t groups[TDM_LEDGER_STACK_MAX];
	uint32_t count;
};

enum { OF_GENERATOR = 1, ON_C_STACK = 3 }; /* frame owners; ON_C_STACK only marks the entry of the C function */
enum { FRAME_BYTES = 104, CODE_BYTES = 192, OBJECT_BYTES = 40, BYTES_HEAD = 32 };
/* offsets in objects; SIZE is that of a string, code or bytes; STATE is a string's */
enum { TYPE = 8, SIZE = 16, STATE = 32 };
enum { CHAIN_MAX = 4096, TEXT_MAX = 1 << 20, UNIT = 2 }; /* limits on frames and characters; bytes of an instruction */

/* Offsets in the objects of one Python version. */
static const struct layout {
	unsigned long version;           /* major and minor */
	bool is_old;                     /* each frame is an object with its own call of the C function */
	uint8_t frame_bytes, code_bytes; /* bytes to read from a frame and from a code object */
	uint8_t thread_cframe;           /* offset of the pointer to a structure on the C stack; 0 if there is none */
	/* offset in that structure, or in the thread's state if frames are old or there is no such structure */
	uint8_t current_frame;
	uint8_t frame_code, frame_previous, frame_instruction;
	/* 0 if absent; without frame_is_entry, a frame on the C stack marks the entry */
	uint8_t frame_owner, frame_is_entry;
	uint8_t code_first_line, code_file, code_name, code_lines, code_first_traceable, code_instructions;
	uint8_t ascii_bytes, compact_bytes; /* sizes of the headers before a string's characters */
} layouts[] = {
	{ 0x030a, true, 104, 128, 48, 24, 32, 24, 96, 0, 0, 40, 104, 112, 120, 0, 0, 48, 72 },
	{ 0x030b, false, 72, 192, 56, 8, 32, 48, 56, 69, 68, 72, 112, 128, 136, 168, 184, 48, 72 },
	{ 0x030c, false, 72, 192, 56, 0, 0, 8, 56, 70, 0, 68, 112, 128, 136, 176, 192, 40, 56 },
	{ 0x030d, false, 72, 192, 0, 72, 0, 8, 56, 70, 0, 68, 112, 128, 136, 184, 200, 40, 56 },
};

static struct {
	const struct layout *_Atomic layout; /* NULL if the version's layout is unknown */
	uintptr_t code_type, text_type, bytes_type;
	_Atomic int trust; /* 0: not checked yet; 1: the layout was right; -1: it was wrong */
} known;

/* Finds the layout for this version, if known, and its types. `version` has the format of Py_Version. */
static void find_layout(unsigned long version)
{
	static const char *const names[] = { "PyCode_Type", "PyUnicode_Type", "PyBytes_Type" };
	uintptr_t *const types[] = { &known.code_type, &known.text_type, &known.bytes_type };
	for (int i = 0; i < 3; i++) {
		uintptr_t type = (uintptr_t)dlsym(RTLD_DEFAULT, names[i]);
		if (type == 0)
			return;
		__atomic_store_n(types[i], type, __ATOMIC_RELAXED);
	}
	/* In a build without a GIL, objects have another layout. */
	if (dlsym(RTLD_DEFAULT, "_Py_DecRefShared") != NULL)
		return;
	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
		if (layouts[i].version == version >> 16)
			atomic_store(&known.layout, &layouts[i]);
}

/* State of reading one thread's frames. */
struct reading {
	const struct layout *at;
	pid_t pid; /* looked up each time, because a remembered pid may be the parent's */
	bool is_direct;
	bool is_wrong; /* something was not as expected */
};

struct piece {
	void *to;
	uintptr_t from;
	size_t bytes;
};

static bool copy(const struct reading *r, const struct piece *pieces, int count)
{
	enum { MOST = 3, FIRST_PAGE = 4096 };
	struct iovec here[MOST], there[MOST];
	size_t bytes = 0;
	for (int i = 0; i < count; i++) {
		if (pieces[i].from < FIRST_PAGE)
			return false;
		here[i] = (struct iovec){ pieces[i].to, pieces[i].bytes };
		there[i] = (struct iovec){ (void *)pieces[i].from, pieces[i].bytes };
		bytes += pieces[i].bytes;
	}
	if (!r->is_direct)
		return process_vm_readv(r->pid, here, (unsigned long)count, there, (unsigned long)count, 0) ==
		       (ssize_t)bytes;
	for (int i = 0; i < count; i++)
		memcpy(here[i].iov_base, there[i].iov_base, here[i].iov_len);
	return true;
}

static uint64_t word(const unsigned char *object, size_t offset)
{
	uint64_t value;
	memcpy(&value, object + offset, sizeof value);
	return value;
}

static uint32_t half(const unsigned char *object, size_t offset)
{
	uint32_t value;
	memcpy(&value, object + offset, sizeof value);
	return value;
}

static bool wrong(struct reading *r)
{
	r->is_wrong = true;
	return false;
}

/* A Python string, before and after reading its characters. */
struct text {
	unsigned char object[OBJECT_BYTES];
	uint32_t length, width;               /* the part to read: its number of characters, and the bytes of each */
	unsigned char raw[FILE_MAX_KEPT * 4]; /* the characters as read */
	char bytes[FILE_MAX_KEPT * 4 + 1];    /* the characters in UTF-8, terminated */
};

/* Selects the last `max` characters. */
static bool choose_part(struct reading *r, struct text *text, uintptr_t address, uint32_t max, struct piece *piece)
{
	uint64_t length = word(text->object, SIZE);
	uint32_t state = half(text->object, STATE);
	bool is_ascii = (state >> 6 & 1) != 0, is_compact = (state >> 5 & 1) != 0;
	text->width = state >> 2 & 7;
	if (word(text->object, TYPE) != known.text_type || !is_compact || length > TEXT_MAX ||
		(text->width != 1 && text->width != 2 && text->width != 4))
		return wrong(r);
	text->length = length < max ? (uint32_t)length : max;
	uintptr_t characters = address + (is_ascii ? r->at->ascii_bytes : r->at->compact_bytes);
	*piece = (struct piece){ text->raw, characters + (length - text->length) * text->width,
		(size_t)text->length * text->width };
	return true;
}

/* Returns the string in UTF-8, at most its last `max` bytes. */
static const char *encode(struct text *text, size_t max)
{
	static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };
	char *end = text->bytes;
	uint32_t plain = 0; /* leading ASCII characters: in most strings, all of them */
	while (text->width == 1 && plain < text->length && text->raw[plain] < 0x80)
		plain++;
	memcpy(end, text->raw, plain);
	end += plain;
	for (uint32_t i = plain; i < text->length; i++) {
		uint32_t c = 0;
		memcpy(&c, text->raw + (size_t)i * text->width, text->width);
		if (c >= 0xd800 && c < 0xe000)
			c = '?'; /* half of a surrogate pair, as in file names in another encoding */
		int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
		*end++ = (char)(more != 0 ? first[more] | (c >> 6 * more & 0x3f) : c);
		while (more-- > 0)
			*end++ = (char)(0x80 | (c >> 6 * more & 0x3f));
	}
	*end = '\0';
	const char *from = (size_t)(end - text->bytes) > max ? end - max : text->bytes;
	while ((*from & 0xc0) == 0x80)
		from++; /* never begin in the middle of a character */
	return from;
}

/* The line table: each entry describes a few instructions, and begins with a byte whose top bit is set. */
struct lines {
	uintptr_t from;
	size_t size, start, have; /* size of the table; start and length of the window read so far */
	unsigned char window[256];
};

/* The byte at this offset; -1 past the end. */
static int line_byte(const struct reading *r, struct lines *lines, size_t at)
{
	if (at >= lines->size)
		return -1;
	if (at < lines->start || at - lines->start >= lines->have) {
		size_t left = lines->size - at;
		lines->start = at;
		lines->have = left < sizeof lines->window ? left : sizeof lines->window;
		if (!copy(r, &(struct piece){ lines->window, lines->from + at, lines->have }, 1)) {
			lines->size = lines->have = 0;
			return -1;
		}
	}
	return lines->window[at - lines->start];
}

/* Difference between the entry's line and the previous entry's. */
static int line_step(const struct reading *r, struct lines *lines, size_t at, unsigned code)
{
	enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, MORE = 0x40, BITS = 6 };
	uint32_t value = 0;
	if (code >= ONE_LINE && code < NO_COLUMNS)
		return (int)code - ONE_LINE;
	if (code != NO_COLUMNS && code != LONG)
		return 0;
	for (unsigned shift = 0; shift < 30; shift += BITS) {
		int byte = line_byte(r, lines, at++);
		value |= (uint32_t)(byte & (MORE - 1)) << shift;
		if (byte < 0 || (byte & MORE) == 0)
			break;
	}
	return (value & 1) != 0 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* Like find_line(), for the older table: each entry is a number of bytes and a line difference. */
static int find_old_line(const struct reading *r, struct lines *lines, int first_line, int64_t offset)
{
	enum { NONE = -128 };
	int64_t end = 0;
	int line = first_line, bytes;
	for (size_t at = 0; offset >= 0 && (bytes = line_byte(r, lines, at)) >= 0; at += 2) {
		int step = (int8_t)line_byte(r, lines, at + 1);
		line += step != NONE ? step : 0;
		end += bytes;
		if (offset < end)
			return step != NONE && line > 0 ? line : first_line;
	}
	return first_line;
}

/* The line of the instruction at this offset in the code. */
static int find_line(const struct reading *r, struct lines *lines, int first_line, int64_t offset)
{
	enum { NONE = 15 };
	int64_t end = 0;
	int line = first_line, head;
	if (r->at->is_old)
		return find_old_line(r, lines, first_line, offset);
	for (size_t at = 0; offset >= 0 && (head = line_byte(r, lines, at)) >= 0;) {
		unsigned code = (unsigned)head >> 3 & 15;
		line += line_step(r, lines, at + 1, code);
		end += ((head & 7) + 1) * UNIT;
		if (offset < end)
			return code != NONE && line > 0 ? line : first_line;
		do
			at++;
		while ((head = line_byte(r, lines, at)) >= 0 && (head & 0x80) == 0);
	}
	return first_line;
}

/* A text frame "file.py:12 function"; 0 if there is no room. */
static uint64_t put_text(struct tdm_writer *writer, const char *file, int line, const char *name)
{
	char text[TDM_LEDGER_TEXT_MAX + 1];
	snprintf(text, sizeof text, "%s:%d %s", file, line, name);
	uint32_t number = tdm_blobs_put(&writer->blobs, TDM_BLOB_TEXT, text, strnlen(text, sizeof text - 1), NULL);
	return number != 0 ? TDM_FRAME_TEXT | number : 0;
}

/* The text frame for a frame that runs this code; 0 on any error or if there is no room. */
static uint64_t put_code(struct tdm_writer *writer, struct reading *r, const unsigned char *code, int64_t offset)
{
	struct text file, name;
	struct piece parts[3];
	unsigned char bytes[BYTES_HEAD];
	uintptr_t file_at = word(code, r->at->code_file), name_at = word(code, r->at->code_name);
	struct lines lines = { .from = word(code, r->at->code_lines) + BYTES_HEAD };
	const struct piece heads[] = { { file.object, file_at, OBJECT_BYTES }, { name.object, name_at, OBJECT_BYTES },
		{ bytes, lines.from - BYTES_HEAD, BYTES_HEAD } };
	if (!copy(r, heads, 3) || !choose_part(r, &file, file_at, FILE_MAX_KEPT, &parts[0]) ||
		!choose_part(r, &name, name_at, NAME_MAX_KEPT, &parts[1]))
		return 0;
	lines.size = word(bytes, SIZE);
	if (word(bytes, TYPE) != known.bytes_type || lines.size > TEXT_MAX)
		return wrong(r);
	lines.have = lines.size < sizeof lines.window ? lines.size : sizeof lines.window;
	parts[2] = (struct piece){ lines.window, lines.from, lines.have };
	if (!copy(r, parts, 3))
		return 0;
	int line = find_line(r, &lines, (int)half(code, r->at->code_first_line), offset);
	return put_text(writer, encode(&file, FILE_MAX_KEPT), line, encode(&name, NAME_MAX_KEPT));
}

/* Adds a frame that runs Python code to the list. */
static bool put_raw_frame(
	struct tdm_writer *writer, struct reading *r, const unsigned char *frame, unsigned group, struct frames *to)
{
	unsigned char code[CODE_BYTES];
	uintptr_t code_at = word(frame, r->at->frame_code);
	if (!copy(r, &(struct piece){ code, code_at, r->at->code_bytes }, 1))
		return false;
	uint64_t instructions = r->at->is_old ? TEXT_MAX : word(code, SIZE);
	int64_t offset =
		r->at->is_old /* offset in the frame's code, in bytes */
			? (int64_t)(int32_t)half(frame, r->at->frame_instruction) * UNIT
			: (int64_t)(word(frame, r->at->frame_instruction) - (code_at + r->at->code_instructions));
	if (word(code, TYPE) != known.code_type || instructions > UINT32_MAX || offset < -UNIT ||
		offset > (int64_t)(instructions * UNIT))
		return wrong(r);
	/* Like Python, skips a frame whose code has not started yet. */
	if (!(r->at->is_old || frame[r->at->frame_owner] == OF_GENERATOR ||
		    offset >= (int64_t)half(code, r->at->code_first_traceable) * UNIT))
		return true;
	uint64_t text = put_code(writer, r, code, offset);
	if (text == 0)
		return false;
	to->groups[to->count] = (uint8_t)group;
	to->texts[to->count++] = text;
	return true;
}

/* Sets *frame to the address of the innermost frame, or 0 if there is none. False if the address cannot be trusted. */
static bool find_frame(const struct reading *r, uintptr_t thread, uintptr_t *frame)
{
	enum { THREAD_BYTES = 1024 };
	uintptr_t from = thread;
	if (r->at->thread_cframe != 0) {
		if (!copy(r, &(struct piece){ &from, thread + r->at->thread_cframe, sizeof from }, 1))
			return false;
		if (from - thread < THREAD_BYTES) {
			*frame = 0; /* the thread runs no Python code */
			return true;
		}
		if (!tdm_stack_has(from))
			return false; /* the frame belongs to another stack or thread */
	}
	if (r->at->is_old)
		from = thread;
	return copy(r, &(struct piece){ frame, from + r->at->current_frame, sizeof *frame }, 1);
}

static bool read_chain(
	struct tdm_writer *writer, struct reading *r, uintptr_t thread, uint32_t depth, struct frames *to)
{
	unsigned char bytes[FRAME_BYTES];
	unsigned group = 0;
	uintptr_t frame = 0;
	if (!find_frame(r, thread, &frame))
		return false;
	for (int i = 0; frame != 0 && to->count < depth && group <= UINT8_MAX && i < CHAIN_MAX; i++) {
		if (!copy(r, &(struct piece){ bytes, frame, r->at->frame_bytes }, 1))
			return false;
		unsigned owner = r->at->is_old ? 0 : bytes[r->at->frame_owner];
		bool is_mark = owner == ON_C_STACK && r->at->frame_is_entry == 0;
		if (owner > ON_C_STACK)
			return wrong(r);
		if (is_mark ? !tdm_stack_has(frame) : !put_raw_frame(writer, r, bytes, group, to))
			return false;
		group += r->at->is_old || is_mark || (r->at->frame_is_entry != 0 && bytes[r->at->frame_is_entry] != 0);
		frame = word(bytes, r->at->frame_previous);
	}
	return true;
}

/*
 * Reads at most `depth` frames from `thread`, the calling thread's state. `is_alive`: no other thread can end the
 * interpreter meanwhile, so memory is read directly; otherwise Linux copies the memory, because that copy cannot crash.
 * False if the frames could not be read.
 */
static bool read_frames(struct tdm_writer *writer, const void *thread, bool is_alive, uint32_t depth, struct frames *to)
{
	int trust = atomic_load(&known.trust);
	struct reading r = { .at = atomic_load(&known.layout), .is_direct = is_alive && trust > 0 };
	r.pid = r.is_direct ? 0 : getpid();
	to->count = 0;
	if (r.at == NULL || trust < 0)
		return false;
	bool is_read = read_chain(writer, &r, (uintptr_t)thread, depth, to);
	if (trust == 0 && (r.is_wrong || (is_read && to->count > 0)))
		atomic_store(&known.trust, r.is_wrong ? -1 : 1);
	return is_read;
}

/* ---- the interpreter ---- */

/* An interpreter object, or a thread's state. */
typedef void object;

/* The interpreter's functions, in the order of `functions`. */
static struct {
	int (*is_initialized)(void);
	object *(*own_thread)(void); /* the calling thread's state, whether or not it holds the GIL */
	/* the state of the thread that holds the GIL; since 3.12, the calling thread's state if it holds the GIL */
	object *(*current_thread)(void);
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
	/* The functions from here on may be missing. */
	int (*gc_disable)(void);
	int (*gc_enable)(void);
	const unsigned long *version;
	const char *(*version_text)(void);
	void *eval;     /* the function that runs Python code */
	void *run_main; /* the function that runs a program and then ends the interpreter */
	object *(*main_interpreter)(void);
	object *(*latest_interpreter)(void); /* the most recently created interpreter that still exists */
} python;

static const char *const functions[] = { "Py_IsInitialized", "PyGILState_GetThisThreadState",
	"_PyThreadState_UncheckedGet", "PyEval_GetFrame", "PyFrame_GetCode", "PyFrame_GetBack", "PyFrame_GetLineNumber",
	"PyObject_GetAttrString", "PyUnicode_AsUTF8AndSize", "Py_DecRef", "PyErr_Fetch", "PyErr_Restore", "PyErr_Clear",
	"PyGC_Disable", "PyGC_Enable", "Py_Version", "Py_GetVersion", "_PyEval_EvalFrameDefault", "Py_RunMain",
	"PyInterpreterState_Main", "PyInterpreterState_Head" };
enum { NAMES = sizeof functions / sizeof functions[0], NEEDED = NAMES - 8, CURRENT = 2 };
static_assert(sizeof python == NAMES * sizeof(void *), "a function has no name");

enum { UNKNOWN, HERE, ABSENT };
static _Atomic int state;
/* set in a child: the loader is not called, because one of the parent's threads may have held the loader's lock */
static _Atomic bool is_forked;
struct range {
	uintptr_t low, high;
};
static unsigned long version;       /* 0x030b02f0 is 3.11.2; 0 if unknown */
static struct range interpreter;    /* address range of the interpreter's code */
static struct range eval, run_main; /* two functions in that range */
static struct range handlers;       /* the code to which signal handlers return */

#define FIRST_WITH_GROUPS   0x030b0000 /* before this version, each Python frame had its own call of the C function */
#define FIRST_WITH_LATER_GC 0x030c0000 /* since 3.12, making an object never runs the garbage collector */
#define FIRST_THAT_CHANGES  0x030c0000 /* before 3.12, a thread's own state was its first state in any interpreter */

/* Racing threads store the same value. */
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

/* A symbol's size is the size of its function. */
static void find_function(void *function, struct range *range)
{
	Dl_info info;
	void *symbol = NULL;
	if (function == NULL || dladdr1(function, &info, &symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL)
		return;
	set_word(&range->low, (uintptr_t)function);
	set_word(&range->high, (uintptr_t)function + ((const ElfW(Sym) *)symbol)->st_size);
}

static bool find_python(void)
{
	void *found[NAMES];
	unsigned major = 0, minor = 0;
	for (int i = 0; i < NAMES; i++) {
		found[i] = dlsym(RTLD_DEFAULT, functions[i]);
		if (found[i] == NULL && i == CURRENT)
			/* the function's name since 3.13 */
			found[i] = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked");
		if (found[i] == NULL && i < NEEDED)
			return false;
	}
	for (int i = 0; i < NAMES; i++)
		set_word((char *)&python + i * sizeof(void *), (uintptr_t)found[i]);
	find_function(python.eval, &eval);
	find_function(python.run_main, &run_main);
	/* Py_Version exists since 3.11; before that, the version is only in a string. */
	if (python.version == NULL && python.version_text != NULL)
		sscanf(python.version_text(), "%u.%u", &major, &minor);
	set_word(&version, python.version != NULL ? *python.version : (major & 0xffUL) << 24 | (minor & 0xffUL) << 16);
	find_layout(version);
	/* Signal handlers return to a libc function, or into the page that Linux maps into each process (vDSO). */
#if defined(__x86_64__)
	bool has_handlers = find_module((uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &handlers);
#else
	set_word(&handlers.low, getauxval(AT_SYSINFO_EHDR));
	set_word(&handlers.high, handlers.low + getauxval(AT_PAGESZ));
	bool has_handlers = handlers.low != 0;
#endif
	return has_handlers && find_module((uintptr_t)found[NEEDED - 1], &interpreter);
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

/*
 * Whether a signal handler may be running: one may have interrupted the interpreter in the middle of a change. If the
 * walk is exact up to the interpreter, the walked frames show such a handler. Otherwise, the blocked signals do: a
 * running handler blocks at least its own signal.
 */
static bool may_be_in_handler(const uint64_t *frames, uint32_t count, bool is_exact)
{
	sigset_t blocked;
	for (uint32_t i = 0; i < count; i++) {
		/* Whether signal handlers return to this address, that is, whether the frames before it belong to a
		 * handler. */
#if defined(__x86_64__)
		static const char code[] = "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"; /* mov $15,%rax; syscall */
#elif defined(__aarch64__)
		static const char code[] = "\x68\x11\x80\xd2\x01\x00\x00\xd4"; /* mov x8,#139; svc #0 */
#else
		static const char code[] = "";
#endif
		if (is_in(&handlers, frames[i]) && handlers.high - frames[i] >= sizeof code &&
			memcmp((const void *)(uintptr_t)frames[i], code, sizeof code - 1) == 0)
			return true;
		if (is_exact && is_in(&interpreter, frames[i]))
			return false;
	}
	return sigprocmask(SIG_BLOCK, NULL, &blocked) != 0 || !sigisemptyset(&blocked);
}

/* A string attribute of a code object, at most its last `max` bytes. Valid as long as the code object exists. */
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
		text++; /* never begin in the middle of a character */
	return text;
}

/* The text frame for a Python frame; 0 if its code has no names or there is no room. */
static uint64_t put_frame(struct tdm_writer *writer, object *frame)
{
	object *code = python.frame_code(frame);
	if (code == NULL)
		return 0;
	const char *file = code_text(code, "co_filename", FILE_MAX_KEPT);
	const char *name = code_text(code, "co_qualname", NAME_MAX_KEPT); /* since 3.11 */
	if (name == NULL)
		name = code_text(code, "co_name", NAME_MAX_KEPT);
	uint64_t number = file != NULL && name != NULL ? put_text(writer, file, python.frame_line(frame), name) : 0;
	python.release(code);
	return number;
}

static void put_frames(struct tdm_writer *writer, uint32_t depth, struct frames *to)
{
	object *frame = python.innermost_frame(), *first = frame; /* the first frame is borrowed */
	while (frame != NULL && to->count < depth) {
		uint64_t number = put_frame(writer, frame);
		object *next = number != 0 ? python.frame_back(frame) : NULL;
		if (number != 0) {
			to->groups[to->count] = version < FIRST_WITH_GROUPS ? (uint8_t)to->count : 0;
			to->texts[to->count++] = number;
		}
		if (frame != first)
			python.release(frame);
		frame = next;
	}
	if (frame != NULL && frame != first)
		python.release(frame);
}

/* How many of the walked frames are in this function. */
static uint32_t count_calls(const uint64_t *frames, uint32_t count, const struct range *function)
{
	uint32_t calls = 0;
	for (uint32_t i = 0; i < count; i++)
		calls += is_in(function, frames[i]);
	return calls;
}

/* The frames of the thread's Python code, or a remark. */
static bool find_frames(struct tdm_writer *writer, uint32_t depth, const uint64_t *frames, uint32_t count,
	struct frames *to, bool *is_remark)
{
	object *own = python.is_initialized() ? python.own_thread() : NULL;
	if (own == NULL)
		return false;
	/* PyGILState_Check() would not do: it returns true before the interpreter starts, after it ends, and always
	 * once there has been a second interpreter. */
	bool holds_gil = own == python.current_thread();
	bool is_doubtful = !holds_gil && (version < FIRST_THAT_CHANGES && python.main_interpreter != NULL &&
						 python.latest_interpreter != NULL &&
						 python.latest_interpreter() != python.main_interpreter());
	/* Only the thread running the program ends the interpreter. */
	bool is_alive = holds_gil || count_calls(frames, count, &run_main) != 0;
	bool is_read = !is_doubtful && read_frames(writer, own, is_alive, depth, to) && python.is_initialized() &&
		       (to->count > 0 || count_calls(frames, count, &eval) == 0);
	*is_remark = !is_read && !holds_gil;
	if (!is_read && holds_gil) {
		/*
		 * Calls the interpreter's functions. Preserves a pending exception, and prevents garbage collection,
		 * which could run arbitrary code.
		 */
		object *type, *value, *trace;
		bool may_collect = python.gc_disable != NULL && python.gc_enable != NULL && version != 0 &&
				   version < FIRST_WITH_LATER_GC && python.gc_disable() != 0;
		python.fetch_error(&type, &value, &trace);
		to->count = 0;
		put_frames(writer, depth, to);
		python.restore_error(type, value, trace);
		if (may_collect)
			python.gc_enable();
	} else if (*is_remark) {
		/* A single frame that gives the reason why there are no others. */
		char text[TDM_LEDGER_TEXT_MAX + 1];
		int len = snprintf(text, sizeof text, "(Python %lu.%lu: frames unknown, %s)", version >> 24,
			version >> 16 & 0xff,
			is_doubtful ? "there are several interpreters" : "the thread has released the GIL");
		uint32_t number = tdm_blobs_put(&writer->blobs, TDM_BLOB_TEXT, text, (size_t)len, NULL);
		to->count = number != 0;
		to->texts[0] = TDM_FRAME_TEXT | number;
		to->groups[0] = 0;
	}
	return to->count > 0;
}

/* Copies the next group's frames, or all frames, to the end of the list. */
static uint32_t take_group(
	const struct frames *ours, uint32_t *next, int group, uint64_t *to, uint32_t count, uint32_t depth)
{
	while (*next < ours->count && (group < 0 || ours->groups[*next] == group) && count < depth)
		to[count++] = ours->texts[(*next)++];
	return count;
}

uint32_t tdm_python_join(struct tdm_writer *writer, uint64_t *frames, uint32_t count, uint32_t depth, bool is_exact)
{
	struct frames ours;
	uint64_t joined[TDM_LEDGER_STACK_MAX];
	uint32_t got = 0, next = 0;
	int group = 0;
	bool is_remark;
	depth = depth < TDM_LEDGER_STACK_MAX ? depth : TDM_LEDGER_STACK_MAX;
	if (may_be_in_handler(frames, count, is_exact) || !find_frames(writer, depth, frames, count, &ours, &is_remark))
		return count;
	/* Whether each group of frames has a call of the C function: the walk may have ended too early. */
	uint32_t calls = count_calls(frames, count, &eval);
	bool has_places =
		!is_remark && (calls > ours.groups[ours.count - 1] || (calls > 0 && count == TDM_PYTHON_JOINED_MAX));
	for (uint32_t i = 0; i < count && got < depth; i++) {
		if (is_in(&interpreter, frames[i]) && !has_places)
			got = take_group(&ours, &next, -1, joined, got, depth);
		else if (is_in(&eval, frames[i]))
			got = take_group(&ours, &next, group++, joined, got, depth);
		if ((!is_in(&interpreter, frames[i]) || is_remark) && got < depth)
			joined[got++] = frames[i];
	}
	if (!has_places && !is_remark)
		got = take_group(&ours, &next, -1, joined, got, depth); /* the walk did not reach the interpreter */
	memcpy(frames, joined, got * sizeof *frames);
	return got;
}
