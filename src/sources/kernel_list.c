#include "sources/kernel_list.h"
#include "base/err.h"
#include "base/map.h"
#include "base/reserve.h"
#include "base/units.h"
#include "sources/inspector_log.h"

#include <errno.h>
#include <stdlib.h>

enum { RECORDS_MAX = 1 << 24, TEXT_MAX = 4096 };

struct reading {
	struct tdm_kernel_list *list;
	struct tdm_map programs; /* id to index */
	struct tdm_diag *diag;
};

/* A program by its id, made when it is new; an id that comes again after its program was destroyed is a new one. */
static struct tdm_listed_program *program_of(struct reading *r, uint64_t id)
{
	struct tdm_kernel_list *list = r->list;
	uint32_t index = tdm_map_find(&r->programs, id);
	if (index != TDM_MAP_NONE)
		return &list->programs[index];
	if (list->program_count == RECORDS_MAX ||
		tdm_reserve(&list->programs, &list->program_cap, list->program_count + 1, sizeof *list->programs) !=
			0 ||
		tdm_map_put(&r->programs, id, (uint32_t)list->program_count) != 0)
		return NULL;
	struct tdm_listed_program *program = &list->programs[list->program_count++];
	*program = (struct tdm_listed_program){ .id = id, .compile_ns = TDM_BYTES_UNKNOWN };
	return program;
}

static size_t keep_text(struct tdm_kernel_list *list, const struct tdm_inspector_record *record, const char *key)
{
	const struct tdm_str *text = tdm_inspector_find(record, key);
	if (text == NULL || text->len == 0 || memchr(text->ptr, '\0', text->len) != NULL)
		return 0;
	size_t at = list->texts.len;
	tdm_buf_add(&list->texts, text->ptr, text->len < TEXT_MAX ? text->len : TEXT_MAX);
	tdm_buf_putc(&list->texts, '\0');
	return at;
}

static int add_kernel(struct reading *r, const struct tdm_inspector_record *record, const char *program_key)
{
	struct tdm_kernel_list *list = r->list;
	struct tdm_listed_kernel kernel = { .line = record->line };
	uint64_t id;
	int err = tdm_inspector_number(record, program_key, &id, r->diag);
	if (err == 0)
		err = tdm_inspector_number(record, "watcher_kernel_id", &kernel.watcher_id, r->diag);
	if (err == 0 && tdm_inspector_find(record, "name") == NULL)
		err = tdm_diag_set(r->diag, TDM_ESYNTAX, record->line, 0, "no name");
	if (err != 0)
		return err;
	struct tdm_listed_program *program = program_of(r, id);
	if (program == NULL || list->kernel_count == RECORDS_MAX ||
		tdm_reserve(&list->kernels, &list->kernel_cap, list->kernel_count + 1, sizeof *list->kernels) != 0)
		return -ENOMEM;
	kernel.program = (size_t)(program - list->programs);
	kernel.name = keep_text(list, record, "name");
	kernel.path = keep_text(list, record, "path");
	kernel.source = keep_text(list, record, "source");
	program->kernels++;
	list->kernels[list->kernel_count++] = kernel;
	return tdm_buf_failed(&list->texts) ? -ENOMEM : 0;
}

static int add_program(struct reading *r, const struct tdm_inspector_record *record)
{
	uint64_t id, duration;
	int err = tdm_inspector_number(record, "id", &id, r->diag);
	bool finished = tdm_str_is(record->name, "program_compile_finished");
	if (err == 0 && finished)
		err = tdm_inspector_number(record, "duration_ns", &duration, r->diag);
	if (err != 0)
		return err;
	struct tdm_listed_program *program = program_of(r, id);
	if (program == NULL)
		return -ENOMEM;
	if (finished)
		program->compile_ns = duration;
	if (tdm_str_is(record->name, "program_destroyed")) {
		program->destroyed = true;
		tdm_map_take(&r->programs, id);
	}
	return 0;
}

static int add_record(struct reading *r, const struct tdm_inspector_record *record)
{
	char shown[40];
	if (tdm_str_is(record->name, "kernel"))
		return add_kernel(r, record, "program_id");
	if (tdm_str_is(record->name, "program_kernel_compile_finished"))
		return add_kernel(r, record, "id");
	if (record->name.len > 8 && memcmp(record->name.ptr, "program_", 8) == 0)
		return add_program(r, record);
	return tdm_diag_set(r->diag, TDM_ESYNTAX, record->line, 0, "not a record of programs or kernels: '%s'",
		tdm_str_shown(record->name, shown, sizeof shown));
}

static int read_all(struct tdm_kernel_list *list, struct tdm_inspector_reader *reader, tdm_kernel_list_warn warn,
	void *context, struct tdm_diag *diag)
{
	struct reading r = { .list = list, .diag = diag };
	struct tdm_inspector_record record = { .line = 0 };
	tdm_buf_init(&list->texts);
	tdm_buf_putc(&list->texts, '\0');
	int err = tdm_map_init(&r.programs), got = 0;
	if (err != 0)
		return tdm_diag_set(diag, err, 0, 0, "out of memory");
	while (err == 0 && (got = tdm_inspector_next(reader, &record, diag)) != 0) {
		if (got == 1)
			got = add_record(&r, &record);
		if (got == TDM_ESYNTAX) {
			list->refused++;
			if (warn != NULL)
				warn(context, diag);
		} else if (got < 0) {
			err = got == -ENOMEM ? tdm_diag_set(diag, got, record.line, 0, "out of memory") : got;
		}
	}
	tdm_map_done(&r.programs);
	return err;
}

int tdm_kernel_list_read(
	struct tdm_kernel_list *list, int fd, tdm_kernel_list_warn warn, void *context, struct tdm_diag *diag)
{
	struct tdm_inspector_reader reader;
	*list = (struct tdm_kernel_list){ 0 };
	if (tdm_inspector_open(&reader, fd) != 0)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	int err = read_all(list, &reader, warn, context, diag);
	tdm_inspector_done(&reader);
	return err;
}

int tdm_kernel_list_parse(struct tdm_kernel_list *list, struct tdm_str text, tdm_kernel_list_warn warn, void *context,
	struct tdm_diag *diag)
{
	struct tdm_inspector_reader reader;
	*list = (struct tdm_kernel_list){ 0 };
	tdm_inspector_memory(&reader, text.ptr, text.len);
	int err = read_all(list, &reader, warn, context, diag);
	tdm_inspector_done(&reader);
	return err;
}

void tdm_kernel_list_done(struct tdm_kernel_list *list)
{
	free(list->kernels);
	free(list->programs);
	tdm_buf_done(&list->texts);
	*list = (struct tdm_kernel_list){ 0 };
}
