#include "report/stack_report.h"
#include "base/clock.h"
#include "report/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TRAIL_FRAMES = 4 };

/* When its tracking began, by the real-time clock; 0: unknown. */
static uint64_t tracked_since(const struct tdm_process *who)
{
	uint64_t now = tdm_clock_ns(), real_ns = tdm_clock_real_ns();
	if (who->started_ns == 0 || who->started_ns > now || now - who->started_ns > real_ns)
		return 0;
	return real_ns - (now - who->started_ns);
}

struct tdm_symbolizer *tdm_stack_symbolizer(const struct tdm_snapshot *snapshot, size_t process)
{
	struct tdm_symbolizer *sym = tdm_symbolizer_new();
	const struct tdm_snapshot_process *owner = &snapshot->processes[process];
	for (size_t i = 0; i < owner->module_count && sym != NULL; i++)
		tdm_symbolizer_module(sym, owner->modules[i].address, owner->modules[i].size, owner->modules[i].path);
	if (sym != NULL && owner->has_who)
		tdm_symbolizer_loaded(sym, tracked_since(&owner->who));
	return sym;
}

static void put(struct tdm_buf *out, const char *text)
{
	tdm_cell_put(out, tdm_str_of(text), 0, true);
}

/* `whole`: files with their folders. */
static void put_frame(const struct tdm_snapshot *snapshot, struct tdm_symbolizer *sym,
	const struct tdm_kept_frame *frame, bool whole, struct tdm_buf *out)
{
	static const struct tdm_symbol unknown;
	if (frame->text != 0) {
		put(out, tdm_snapshot_text(snapshot, frame->text));
		return;
	}
	const struct tdm_symbol *symbol = sym != NULL ? tdm_symbolizer_find(sym, frame->address) : &unknown;
	if (symbol->function[0] != '\0')
		put(out, symbol->function);
	else
		tdm_buf_printf(out, "0x%" PRIx64, frame->address);
	if (symbol->file[0] != '\0') {
		tdm_buf_puts(out, " (");
		const char *slash = whole ? NULL : strrchr(symbol->file, '/');
		put(out, slash != NULL ? slash + 1 : symbol->file);
		tdm_buf_printf(out, ":%d)", symbol->line);
	} else if (symbol->module[0] != '\0') {
		tdm_buf_puts(out, " (");
		put(out, symbol->module);
		tdm_buf_printf(out, "+0x%" PRIx64 ")", symbol->offset);
	}
}

void tdm_stack_text(const struct tdm_snapshot *snapshot, struct tdm_symbolizer *sym, uint32_t stack, size_t indent,
	struct tdm_buf *out)
{
	uint32_t count;
	const struct tdm_kept_frame *frames = tdm_snapshot_stack(snapshot, stack, &count);
	for (uint32_t i = 0; i < count; i++) {
		tdm_buf_fill(out, ' ', indent);
		tdm_buf_printf(out, "#%-2" PRIu32 " ", i);
		put_frame(snapshot, sym, &frames[i], true, out);
		tdm_buf_putc(out, '\n');
	}
}

/* The function of a frame, as far as it is known; empty: it is not. */
static const char *function_of(struct tdm_symbolizer *sym, const struct tdm_kept_frame *frame)
{
	return sym != NULL && frame->text == 0 ? tdm_symbolizer_find(sym, frame->address)->function : "";
}

/* Whether a frame is in the library that took the stack. */
static bool is_own(struct tdm_symbolizer *sym, const struct tdm_kept_frame *frame)
{
	static const char prefix[] = "tidemark";
	return strncmp(function_of(sym, frame), prefix, strlen(prefix)) == 0;
}

/* Which frame is the innermost outside of our own library. */
static uint32_t find_site(struct tdm_symbolizer *sym, const struct tdm_kept_frame *frames, uint32_t count)
{
	uint32_t i = 0;
	while (i + 1 < count && is_own(sym, &frames[i]))
		i++;
	return i;
}

void tdm_stack_site(const struct tdm_snapshot *snapshot, struct tdm_symbolizer *sym, uint32_t stack, bool whole,
	struct tdm_buf *out)
{
	uint32_t count;
	const struct tdm_kept_frame *frames = tdm_snapshot_stack(snapshot, stack, &count);
	if (count != 0)
		put_frame(snapshot, sym, &frames[find_site(sym, frames, count)], whole, out);
}

void tdm_stack_trail(
	const struct tdm_snapshot *snapshot, struct tdm_symbolizer *sym, uint32_t stack, bool utf8, struct tdm_buf *out)
{
	uint32_t count;
	const struct tdm_kept_frame *frames = tdm_snapshot_stack(snapshot, stack, &count);
	uint32_t first = count != 0 ? find_site(sym, frames, count) : 0;
	for (uint32_t i = first; i < count && i - first < TRAIL_FRAMES; i++) {
		if (i != first)
			tdm_buf_puts(out, utf8 ? " ← " : " <- ");
		put_frame(snapshot, sym, &frames[i], false, out);
		if (strcmp(function_of(sym, &frames[i]), "main") == 0)
			break;
	}
}

static void json_frame(const struct tdm_snapshot *snapshot, struct tdm_symbolizer *sym,
	const struct tdm_kept_frame *frame, struct tdm_json *json)
{
	static const struct tdm_symbol unknown;
	const struct tdm_symbol *symbol =
		sym != NULL && frame->text == 0 ? tdm_symbolizer_find(sym, frame->address) : &unknown;
	tdm_json_object(json);
	tdm_json_put_known(json, "address", frame->text == 0, frame->address);
	tdm_json_put_name(json, "text", tdm_snapshot_text(snapshot, frame->text));
	tdm_json_put_name(json, "function", symbol->function);
	tdm_json_put_name(json, "file", symbol->file);
	tdm_json_put_known(json, "line", symbol->line > 0, (uint64_t)symbol->line);
	tdm_json_put_name(json, "module", symbol->module);
	tdm_json_put_known(json, "offset", symbol->module[0] != '\0', symbol->offset);
	tdm_json_object_end(json);
}

void tdm_stack_json(
	const struct tdm_snapshot *snapshot, struct tdm_symbolizer *sym, uint32_t stack, struct tdm_json *json)
{
	uint32_t count;
	const struct tdm_kept_frame *frames = tdm_snapshot_stack(snapshot, stack, &count);
	if (count == 0) {
		tdm_json_null(json);
		return;
	}
	tdm_json_array(json);
	for (uint32_t i = 0; i < count; i++)
		json_frame(snapshot, sym, &frames[i], json);
	tdm_json_array_end(json);
}
