#include "client/python_frames.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "client/stack.h"

enum {
	OF_GENERATOR = 1,
	ON_C_STACK = 3
}; /* owners of frames; the latter only marks where the C function was entered */
enum { FRAME_BYTES = 104, CODE_BYTES = 192, OBJECT_BYTES = 40, BYTES_HEAD = 32 };
enum { TYPE = 8, SIZE = 16, STATE = 32 }; /* in each object; the size of a text, code or bytes; of a text */
enum { CHAIN_MAX = 4096, TEXT_MAX = 1 << 20, UNIT = 2 }; /* frames, characters; bytes of an instruction */

/* Offsets in the objects of a version. */
static const struct layout {
	unsigned long version;           /* major and minor */
	bool is_old;                     /* frames are objects, each with a call of the C function for itself */
	uint8_t frame_bytes, code_bytes; /* as many as are read */
	uint8_t thread_cframe;           /* the address of something on the C stack; 0: not there */
	uint8_t current_frame; /* in that; if the frames are old or that is not there, in the thread's state */
	uint8_t frame_code, frame_previous, frame_instruction;
	uint8_t frame_owner, frame_is_entry; /* 0: not there. Without the latter, a frame on the C stack says it */
	uint8_t code_first_line, code_file, code_name, code_lines, code_first_traceable, code_instructions;
	uint8_t ascii_bytes, compact_bytes; /* before the characters of a text */
} layouts[] = {
	{ 0x030a, true, 104, 128, 48, 24, 32, 24, 96, 0, 0, 40, 104, 112, 120, 0, 0, 48, 72 },
	{ 0x030b, false, 72, 192, 56, 8, 32, 48, 56, 69, 68, 72, 112, 128, 136, 168, 184, 48, 72 },
	{ 0x030c, false, 72, 192, 56, 0, 0, 8, 56, 70, 0, 68, 112, 128, 136, 176, 192, 40, 56 },
	{ 0x030d, false, 72, 192, 0, 72, 0, 8, 56, 70, 0, 68, 112, 128, 136, 184, 200, 40, 56 },
};

static struct {
	const struct layout *_Atomic layout; /* NULL: not known */
	uintptr_t code_type, text_type, bytes_type;
	_Atomic int trust; /* 0 not checked yet, 1 it was right, -1 it was wrong */
} known;

bool tdm_python_frames_find(unsigned long version)
{
	static const char *const names[] = { "PyCode_Type", "PyUnicode_Type", "PyBytes_Type" };
	uintptr_t *const types[] = { &known.code_type, &known.text_type, &known.bytes_type };
	for (int i = 0; i < 3; i++) {
		uintptr_t type = (uintptr_t)dlsym(RTLD_DEFAULT, names[i]);
		if (type == 0)
			return false;
		__atomic_store_n(types[i], type, __ATOMIC_RELAXED);
	}
	/* A build without a GIL has other objects. */
	if (dlsym(RTLD_DEFAULT, "_Py_DecRefShared") != NULL)
		return false;
	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
		if (layouts[i].version == version >> 16)
			atomic_store(&known.layout, &layouts[i]);
	return atomic_load(&known.layout) != NULL;
}

/* One reading of one thread's frames. */
struct reading {
	const struct layout *at;
	pid_t pid; /* asked each time: a remembered one may be that of the parent */
	bool is_direct;
	bool is_wrong; /* something was not what it must be */
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

/* A text of Python, before its characters are known. */
struct text {
	unsigned char object[OBJECT_BYTES];
	uint32_t length, width;                     /* of the part that is read, in characters; bytes of each */
	unsigned char raw[TDM_PYTHON_FILE_MAX * 4]; /* those characters */
	char bytes[TDM_PYTHON_FILE_MAX * 4 + 1];    /* the same in UTF-8, terminated */
};

/* Chooses the last `max` characters. */
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

static char *put_character(char *to, uint32_t c)
{
	if (c >= 0xd800 && c < 0xe000)
		c = '?'; /* half of a character, as file names in another encoding have */
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };
	*to++ = (char)(first[more] | (c >> 6 * more & 0x3f));
	while (more-- > 0)
		*to++ = (char)(0x80 | (c >> 6 * more & 0x3f));
	return to;
}

/* The text in UTF-8, at most its last `max` bytes. */
static const char *encode(struct text *text, size_t max)
{
	char *end = text->bytes;
	uint32_t plain = 0; /* characters that are bytes of UTF-8, which is all of them in most texts */
	while (text->width == 1 && plain < text->length && text->raw[plain] < 0x80)
		plain++;
	memcpy(end, text->raw, plain);
	end += plain;
	for (uint32_t i = plain; i < text->length; i++) {
		uint32_t c = 0;
		memcpy(&c, text->raw + (size_t)i * text->width, text->width);
		end = put_character(end, c);
	}
	*end = '\0';
	const char *from = (size_t)(end - text->bytes) > max ? end - max : text->bytes;
	while ((*from & 0xc0) == 0x80)
		from++; /* not in the middle of a character */
	return from;
}

/* The table of lines: each entry is for some instructions, and begins with a byte that has the topmost bit. */
struct lines {
	uintptr_t from;
	size_t size, start, have; /* of the table; of the window in it */
	unsigned char window[256];
};

/* The byte at this place; -1 after the end. */
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

/* By how much the line differs from that of the entry before. */
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

/* The same in the older table: each entry is a number of bytes and the difference of the lines. */
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

/* The line of the instruction at this offset. */
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

/* The text of a frame that runs this code; 0 when something is wrong or there is no room. */
static uint64_t put_code(struct tdm_writer *writer, struct reading *r, const unsigned char *code, int64_t offset)
{
	struct text file, name;
	struct piece parts[3];
	unsigned char bytes[BYTES_HEAD];
	uintptr_t file_at = word(code, r->at->code_file), name_at = word(code, r->at->code_name);
	struct lines lines = { .from = word(code, r->at->code_lines) + BYTES_HEAD };
	const struct piece heads[] = { { file.object, file_at, OBJECT_BYTES }, { name.object, name_at, OBJECT_BYTES },
		{ bytes, lines.from - BYTES_HEAD, BYTES_HEAD } };
	if (!copy(r, heads, 3) || !choose_part(r, &file, file_at, TDM_PYTHON_FILE_MAX, &parts[0]) ||
		!choose_part(r, &name, name_at, TDM_PYTHON_NAME_MAX, &parts[1]))
		return 0;
	lines.size = word(bytes, SIZE);
	if (word(bytes, TYPE) != known.bytes_type || lines.size > TEXT_MAX)
		return wrong(r);
	lines.have = lines.size < sizeof lines.window ? lines.size : sizeof lines.window;
	parts[2] = (struct piece){ lines.window, lines.from, lines.have };
	if (!copy(r, parts, 3))
		return 0;
	int line = find_line(r, &lines, (int)half(code, r->at->code_first_line), offset);
	return tdm_python_frame_put(
		writer, encode(&file, TDM_PYTHON_FILE_MAX), line, encode(&name, TDM_PYTHON_NAME_MAX));
}

uint64_t tdm_python_frame_put(struct tdm_writer *writer, const char *file, int line, const char *name)
{
	char text[TDM_LEDGER_TEXT_MAX + 1];
	snprintf(text, sizeof text, "%s:%d %s", file, line, name);
	uint32_t number = tdm_blobs_put(&writer->blobs, TDM_BLOB_TEXT, text, strnlen(text, sizeof text - 1), NULL);
	return number != 0 ? TDM_FRAME_TEXT | number : 0;
}

/* Where in its code the frame is, in bytes; `code_at` is the address of `code`. */
static bool find_offset(
	struct reading *r, const unsigned char *frame, const unsigned char *code, uintptr_t code_at, int64_t *offset)
{
	uint64_t instructions = r->at->is_old ? TEXT_MAX : word(code, SIZE);
	*offset = r->at->is_old
			  ? (int64_t)(int32_t)half(frame, r->at->frame_instruction) * UNIT
			  : (int64_t)(word(frame, r->at->frame_instruction) - (code_at + r->at->code_instructions));
	bool is_right = word(code, TYPE) == known.code_type && instructions <= UINT32_MAX && *offset >= -UNIT &&
			*offset <= (int64_t)(instructions * UNIT);
	return is_right || wrong(r);
}

/* Whether Python shows the frame: not before it has begun. */
static bool is_shown(const struct reading *r, const unsigned char *frame, const unsigned char *code, int64_t offset)
{
	return r->at->is_old || frame[r->at->frame_owner] == OF_GENERATOR ||
	       offset >= (int64_t)half(code, r->at->code_first_traceable) * UNIT;
}

/* Puts a frame that runs Python code into the list. */
static bool put_frame(struct tdm_writer *writer, struct reading *r, const unsigned char *frame, unsigned group,
	struct tdm_python_frames *to)
{
	unsigned char code[CODE_BYTES];
	uintptr_t code_at = word(frame, r->at->frame_code);
	int64_t offset;
	if (!copy(r, &(struct piece){ code, code_at, r->at->code_bytes }, 1) ||
		!find_offset(r, frame, code, code_at, &offset))
		return false;
	if (!is_shown(r, frame, code, offset))
		return true;
	uint64_t text = put_code(writer, r, code, offset);
	if (text == 0)
		return false;
	to->groups[to->count] = (uint8_t)group;
	to->texts[to->count++] = text;
	return true;
}

/* The address of the innermost frame; 0 when there is none. */
static bool find_frame(const struct reading *r, uintptr_t thread, uintptr_t *frame)
{
	enum { THREAD_BYTES = 1024 };
	uintptr_t from = thread;
	if (r->at->thread_cframe != 0) {
		if (!copy(r, &(struct piece){ &from, thread + r->at->thread_cframe, sizeof from }, 1))
			return false;
		if (from - thread < THREAD_BYTES) {
			*frame = 0; /* runs no Python code */
			return true;
		}
		if (!tdm_stack_has(from))
			return false; /* runs on another stack, or on another thread */
	}
	if (r->at->is_old)
		from = thread;
	return copy(r, &(struct piece){ frame, from + r->at->current_frame, sizeof *frame }, 1);
}

static bool read_chain(
	struct tdm_writer *writer, struct reading *r, uintptr_t thread, uint32_t depth, struct tdm_python_frames *to)
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
		if (is_mark ? !tdm_stack_has(frame) : !put_frame(writer, r, bytes, group, to))
			return false;
		group += r->at->is_old || is_mark || (r->at->frame_is_entry != 0 && bytes[r->at->frame_is_entry] != 0);
		frame = word(bytes, r->at->frame_previous);
	}
	return true;
}

bool tdm_python_frames_read(
	struct tdm_writer *writer, const void *thread, bool is_alive, uint32_t depth, struct tdm_python_frames *to)
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
