/*
 * The kernels that the inspector saw being compiled, with their programs: kernels.yaml, or programs_log.yaml, which
 * also says when programs were created and destroyed.
 */
#include "base/err.h"
#include "sources/format.h"
#include "sources/inspector_log.h"

#include <errno.h>

static const char program_prefix[] = "program_";

static bool is_of_program(struct tdm_str name)
{
	size_t len = sizeof program_prefix - 1;
	return name.len > len && memcmp(name.ptr, program_prefix, len) == 0;
}

static bool programs_recognise(struct tdm_str head, const char *path)
{
	struct tdm_str name;
	(void)path;
	return tdm_inspector_first(head, &name) && (tdm_str_is(name, "kernel") || is_of_program(name));
}

/* The text of a field; empty if it has a zero byte, which a terminated copy cannot hold. */
static struct tdm_str text_of(const struct tdm_inspector_record *record, const char *key)
{
	const struct tdm_str *text = tdm_inspector_find(record, key);
	bool is_good = text != NULL && (text->len == 0 || memchr(text->ptr, '\0', text->len) == NULL);
	return is_good ? *text : tdm_str_of("");
}

static int take_kernel(const struct tdm_inspector_record *record, const char *program_key,
	const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_listed_kernel kernel = { .line = record->line,
		.name = text_of(record, "name"),
		.path = text_of(record, "path"),
		.source = text_of(record, "source") };
	int err = tdm_inspector_number(record, program_key, &kernel.program, diag);
	if (err == 0)
		err = tdm_inspector_number(record, "watcher_kernel_id", &kernel.watcher_id, diag);
	if (err == 0 && tdm_inspector_find(record, "name") == NULL)
		err = tdm_diag_set(diag, TDM_ESYNTAX, record->line, 0, "no name");
	return err != 0 ? err : sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_KERNEL, .kernel = &kernel });
}

static int take_program(
	const struct tdm_inspector_record *record, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_listed_program program = { .compile_ns = TDM_BYTES_UNKNOWN,
		.destroyed = tdm_str_is(record->name, "program_destroyed") };
	int err = tdm_inspector_number(record, "id", &program.id, diag);
	if (err == 0 && tdm_str_is(record->name, "program_compile_finished"))
		err = tdm_inspector_number(record, "duration_ns", &program.compile_ns, diag);
	return err != 0 ? err : sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_PROGRAM, .program = &program });
}

static int take_record(
	const struct tdm_inspector_record *record, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	char shown[40];
	if (tdm_str_is(record->name, "kernel"))
		return take_kernel(record, "program_id", sink, diag);
	if (tdm_str_is(record->name, "program_kernel_compile_finished"))
		return take_kernel(record, "id", sink, diag);
	if (is_of_program(record->name))
		return take_program(record, sink, diag);
	return tdm_diag_set(diag, TDM_ESYNTAX, record->line, 0, "not a record of programs or kernels: '%s'",
		tdm_str_shown(record->name, shown, sizeof shown));
}

static int programs_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_inspector_reader reader;
	struct tdm_inspector_record record;
	int got = 0, err = tdm_inspector_open(&reader, input);
	err = err != 0 ? tdm_input_failed(input, err, 0, diag) : 0;
	while (err == 0 && (got = tdm_inspector_next(&reader, &record, diag)) != 0) {
		err = got == 1 ? take_record(&record, sink, diag) : got;
		if (err == TDM_ESYNTAX)
			err = tdm_record_refuse(sink, diag, false);
	}
	tdm_inspector_done(&reader);
	return err;
}

const struct tdm_format tdm_format_programs = {
	.name = "programs",
	.summary = "inspector's list of kernels",
	.recognise = programs_recognise,
	.records = programs_records,
};
