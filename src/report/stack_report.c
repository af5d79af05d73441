#include "report/stack_report.h"
#include "report/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct tdm_symbolizer *tdm_stack_symbolizer(const struct tdm_snapshot *snapshot, size_t process)
{
	struct tdm_symbolizer *sym = tdm_symbolizer_new();
	const struct tdm_snapshot_process *owner = &snapshot->processes[process];
	for (size_t i = 0; i < owner->module_count && sym != NULL; i++)
		tdm_symbolizer_module(sym, owner->modules[i].address, owner->modules[i].size, owner->modules[i].path);
	return sym;
}

static void put(struct tdm_buf *out, const char *text)
{
	tdm_cell_put(out, tdm_str_of(text), 0, true);
}

static void put_frame(const struct tdm_snapshot *snapshot, struct tdm_symbolizer *sym,
	const struct tdm_kept_frame *frame, struct tdm_buf *out)
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
		put(out, symbol->file);
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
		put_frame(snapshot, sym, &frames[i], out);
		tdm_buf_putc(out, '\n');
	}
}

/* Whether a frame is in the library that took the stack. */
static bool is_own(struct tdm_symbolizer *sym, const struct tdm_kept_frame *frame)
{
	static const char prefix[] = "tidemark";
	return sym != NULL && frame->text == 0 &&
	       strncmp(tdm_symbolizer_find(sym, frame->address)->function, prefix, strlen(prefix)) == 0;
}

void tdm_stack_site(
	const struct tdm_snapshot *snapshot, struct tdm_symbolizer *sym, uint32_t stack, struct tdm_buf *out)
{
	uint32_t count, i = 0;
	const struct tdm_kept_frame *frames = tdm_snapshot_stack(snapshot, stack, &count);
	while (i + 1 < count && is_own(sym, &frames[i]))
		i++;
	if (count != 0)
		put_frame(snapshot, sym, &frames[i], out);
}

static void put_text(struct tdm_json *json, const char *key, const char *text)
{
	tdm_json_key(json, key);
	tdm_json_text(json, text[0] != '\0' ? text : NULL);
}

static void put_u64(struct tdm_json *json, const char *key, bool known, uint64_t value)
{
	tdm_json_key(json, key);
	if (known)
		tdm_json_u64(json, value);
	else
		tdm_json_null(json);
}

static void json_frame(const struct tdm_snapshot *snapshot, struct tdm_symbolizer *sym,
	const struct tdm_kept_frame *frame, struct tdm_json *json)
{
	static const struct tdm_symbol unknown;
	const struct tdm_symbol *symbol =
		sym != NULL && frame->text == 0 ? tdm_symbolizer_find(sym, frame->address) : &unknown;
	tdm_json_object(json);
	put_u64(json, "address", frame->text == 0, frame->address);
	put_text(json, "text", tdm_snapshot_text(snapshot, frame->text));
	put_text(json, "function", symbol->function);
	put_text(json, "file", symbol->file);
	put_u64(json, "line", symbol->line > 0, (uint64_t)symbol->line);
	put_text(json, "module", symbol->module);
	put_u64(json, "offset", symbol->module[0] != '\0', symbol->offset);
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
