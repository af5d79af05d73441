/*
 * A frame is either an address, which a symbolizer turns into a function, a file and a line, or a string.
 *
 * The site of a stack is its innermost frame outside the tracking library, the runtime and the C++ library, so it names
 * the code that requested the buffer. Only function signatures are compared, not files or lines.
 */
#include "view/rows/stack_rows.h"
#include "model/result/columns.h"
#include "base/clock.h"
#include "view/write/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TRAIL_FRAMES = 4 };

/* When tracking of a process began, by the real-time clock; 0 if unknown. */
static uint64_t tracked_since(const struct tdm_process *who)
{
	uint64_t now = tdm_clock_ns(), real_ns = tdm_clock_real_ns();
	if (who->started_ns == 0 || who->started_ns > now || now - who->started_ns > real_ns)
		return 0;
	return real_ns - (now - who->started_ns);
}

struct tdm_symbolizer *tdm_stack_symbolizer(const struct tdm_picture *picture, size_t process)
{
	struct tdm_symbolizer *sym = tdm_symbolizer_new();
	const struct tdm_picture_process *owner = &picture->processes[process];
	for (size_t i = 0; i < owner->module_count; i++)
		tdm_symbolizer_module(sym, owner->modules[i].address, owner->modules[i].size, owner->modules[i].path);
	if (owner->who != NULL)
		tdm_symbolizer_loaded(sym, tracked_since(owner->who));
	return sym;
}

struct tdm_symbolizer *tdm_stack_symbols_get(
	struct tdm_stack_symbols *symbols, const struct tdm_picture *picture, uint32_t process)
{
	const struct tdm_picture_process *of = &picture->processes[process];
	size_t at = 0;
	while (at < TDM_STACK_SYMBOLS && (symbols->kept[at] == NULL || symbols->handles[at] != of->handle))
		at++;
	if (at < TDM_STACK_SYMBOLS && symbols->module_counts[at] == of->module_count)
		return symbols->kept[at];
	if (at == TDM_STACK_SYMBOLS)
		at = symbols->next++ % TDM_STACK_SYMBOLS;
	tdm_symbolizer_free(symbols->kept[at]);
	symbols->kept[at] = tdm_stack_symbolizer(picture, process);
	symbols->handles[at] = of->handle;
	symbols->module_counts[at] = of->module_count;
	return symbols->kept[at];
}

void tdm_stack_symbols_done(struct tdm_stack_symbols *symbols)
{
	for (size_t i = 0; i < TDM_STACK_SYMBOLS; i++)
		tdm_symbolizer_free(symbols->kept[i]);
	*symbols = (struct tdm_stack_symbols){ 0 };
}

static void put(struct tdm_buf *out, const char *text)
{
	tdm_cell_text(out, text, true);
}

/* The symbol of a frame's address; an empty symbol if the frame is a string. */
static const struct tdm_symbol *symbol_of(struct tdm_symbolizer *sym, const struct tdm_kept_frame *frame)
{
	static const struct tdm_symbol unknown;
	return sym != NULL && frame->text == 0 ? tdm_symbolizer_find(sym, frame->address) : &unknown;
}

/* The function of a frame. If the frame is a string, the string begins with the function. */
static const char *function_of(
	const struct tdm_picture *picture, struct tdm_symbolizer *sym, const struct tdm_kept_frame *frame)
{
	return frame->text != 0 ? tdm_picture_text(picture, frame->text) : symbol_of(sym, frame)->function;
}

/* `whole`: show files with their folders. */
static void put_frame(const struct tdm_picture *picture, struct tdm_symbolizer *sym, const struct tdm_kept_frame *frame,
	bool whole, struct tdm_buf *out)
{
	const struct tdm_symbol *symbol = symbol_of(sym, frame);
	const char *slash = whole ? NULL : strrchr(symbol->file, '/');
	const char *function = function_of(picture, sym, frame);
	if (function[0] != '\0')
		put(out, function);
	else
		tdm_buf_printf(out, "0x%" PRIx64, frame->address);
	if (symbol->file[0] != '\0') {
		tdm_buf_puts(out, " (");
		put(out, slash != NULL ? slash + 1 : symbol->file);
		tdm_buf_printf(out, ":%d)", symbol->line);
	} else if (symbol->module[0] != '\0') {
		tdm_buf_puts(out, " (");
		put(out, symbol->module);
		tdm_buf_printf(out, "+0x%" PRIx64 ")", symbol->offset);
	}
}

void tdm_stack_frame(const struct tdm_picture *picture, struct tdm_symbolizer *sym, const struct tdm_kept_frame *frame,
	struct tdm_buf *out)
{
	put_frame(picture, sym, frame, true, out);
}

/* Finds the name in a function signature. The signature may begin with a result type and ends with the arguments; the
 * name is the last word before the arguments, outside brackets. */
static const char *name_in(const char *function)
{
	const char *name = function;
	size_t depth = 0;
	for (const char *at = function; *at != '\0'; at++) {
		bool is_type = tdm_has_prefix(name, "decltype");
		if (depth == 0 && tdm_has_prefix(at, "operator"))
			break;
		if (depth == 0 && *at == '(' && at != name && at[-1] != ':' && !is_type)
			break;
		if (*at == '<' || *at == '(')
			depth++;
		else if ((*at == '>' || *at == ')') && depth > 0)
			depth--;
		else if (*at == ' ' && depth == 0 && (at[1] != '(' || tdm_has_prefix(at + 1, "(anonymous namespace)")))
			name = at + 1;
	}
	return name;
}

bool tdm_stack_is_on_every_way(const char *function)
{
	static const char *const families[] = { "tidemark", "tt::tt_metal::", "std::", "__gnu_cxx::" };
	const char *name = name_in(function);
	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
		if (tdm_has_prefix(name, families[i]))
			return true;
	return false;
}

/* Finds the innermost frame that shows who requested the buffer. */
static uint32_t find_site(const struct tdm_picture *picture, struct tdm_symbolizer *sym,
	const struct tdm_kept_frame *frames, uint32_t count)
{
	uint32_t i = 0;
	while (i + 1 < count && tdm_stack_is_on_every_way(function_of(picture, sym, &frames[i])))
		i++;
	return i;
}

void tdm_stack_site(
	const struct tdm_picture *picture, struct tdm_symbolizer *sym, uint32_t stack, bool whole, struct tdm_buf *out)
{
	uint32_t count;
	const struct tdm_kept_frame *frames = tdm_picture_stack(picture, stack, &count);
	if (count != 0)
		put_frame(picture, sym, &frames[find_site(picture, sym, frames, count)], whole, out);
}

void tdm_stack_trail(
	const struct tdm_picture *picture, struct tdm_symbolizer *sym, uint32_t stack, bool utf8, struct tdm_buf *out)
{
	uint32_t count;
	const struct tdm_kept_frame *frames = tdm_picture_stack(picture, stack, &count);
	uint32_t first = find_site(picture, sym, frames, count);
	for (uint32_t i = first; i < count && i - first < TRAIL_FRAMES; i++) {
		if (i != first)
			tdm_buf_puts(out, utf8 ? " ← " : " <- ");
		put_frame(picture, sym, &frames[i], false, out);
		if (strcmp(symbol_of(sym, &frames[i])->function, "main") == 0)
			break;
	}
}

/* ---- in results ---- */

struct frame_row {
	uint64_t address, offset;
	int64_t line;
	const char *text, *function, *file, *module, *shown;
};

static struct tdm_value get_frame_number(const struct tdm_field *field)
{
	return tdm_field_printed(field, "#%zu",
		(size_t)((const struct frame_row *)field->row - (const struct frame_row *)field->table->rows));
}

#define FRAME(member) TDM_MEMBER(struct frame_row, member)
static const struct tdm_column frame_columns[] = {
	{ "", NULL, .get = get_frame_number },
	{ "", NULL, FRAME(shown) },
	{ NULL, "address", FRAME(address) },
	{ NULL, "text", FRAME(text), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "function", FRAME(function), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "file", FRAME(file), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "line", FRAME(line) },
	{ NULL, "module", FRAME(module), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "offset", FRAME(offset) },
};

static const char *shown_frame(struct tdm_arena *arena, const struct tdm_picture *picture, struct tdm_symbolizer *sym,
	const struct tdm_kept_frame *frame, bool whole)
{
	struct tdm_buf text = { 0 };
	put_frame(picture, sym, frame, whole, &text);
	return tdm_arena_buf(arena, &text).ptr;
}

const struct tdm_table *tdm_stack_table(struct tdm_arena *arena, const struct tdm_picture *picture,
	struct tdm_symbolizer *sym, uint32_t stack, const char **site, struct tdm_value_list *trail)
{
	uint32_t count;
	const struct tdm_kept_frame *frames = tdm_picture_stack(picture, stack, &count);
	if (count == 0)
		return NULL;
	struct frame_row *rows = tdm_arena_take(arena, count * sizeof *rows);
	struct tdm_table *table = tdm_arena_take(arena, sizeof *table);
	for (uint32_t i = 0; i < count; i++) {
		const struct tdm_symbol *symbol = symbol_of(sym, &frames[i]);
		rows[i] = (struct frame_row){ .address = frames[i].text == 0 ? frames[i].address : UINT64_MAX,
			.offset = symbol->module[0] != '\0' ? symbol->offset : UINT64_MAX,
			.line = symbol->line > 0 ? symbol->line : INT64_MIN,
			.text = tdm_picture_text(picture, frames[i].text),
			.function = tdm_arena_text(arena, tdm_str_of(symbol->function)),
			.file = tdm_arena_text(arena, tdm_str_of(symbol->file)),
			.module = tdm_arena_text(arena, tdm_str_of(symbol->module)),
			.shown = shown_frame(arena, picture, sym, &frames[i], true) };
	}
	*table = TDM_FITTED(frame_columns, rows, count);
	table->has_no_head = true;
	if (trail == NULL)
		return table;
	struct tdm_value *values = tdm_arena_take(arena, TRAIL_FRAMES * sizeof *values);
	trail->values = values;
	uint32_t first = find_site(picture, sym, frames, count);
	*site = rows[first].shown;
	for (uint32_t i = first; i < count && trail->count < TRAIL_FRAMES; i++) {
		values[trail->count++] = tdm_value_text(shown_frame(arena, picture, sym, &frames[i], false));
		if (strcmp(rows[i].function, "main") == 0)
			break;
	}
	return table;
}
