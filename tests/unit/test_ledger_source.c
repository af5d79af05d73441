/* Ledgers as a source: the account of what is there, following what happens, and ledgers that cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/err.h"
#include "ledger/reader.h"
#include "ledger_builder.h"
#include "registry/registry.h"
#include "report/live_report.h"
#include "sources/ledger_source.h"

static char dir[PATH_MAX];

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");
	(void)state;
	snprintf(dir, sizeof dir, "%s/tidemark-source.XXXXXX", tmp != NULL ? tmp : "/tmp");
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[PATH_MAX + 16];
	(void)state;
	snprintf(command, sizeof command, "rm -r '%s'", dir);
	return system(command);
}

static const char *write_ledger(struct builder *b, int pid)
{
	static char path[PATH_MAX + 64];
	builder_header(b)->pid = pid;
	snprintf(path, sizeof path, "%s/tidemark.%d.12345.0", dir, pid);
	builder_write(b, path);
	return path;
}

static struct tdm_source *open_source(const struct tdm_ledger_query *query)
{
	struct tdm_diag diag = { 0 };
	struct tdm_source *source = tdm_ledger_source_open(query, &diag);
	if (source == NULL)
		fail_msg("%s", diag.text);
	return source;
}

/* The operations of all events that a source has now, one letter each. */
static void read_letters(struct tdm_source *source, char *letters, size_t cap)
{
	struct tdm_event event;
	struct tdm_diag diag = { 0 };
	size_t at = 0;
	while (tdm_source_next(source, &event, &diag) > 0 && at + 1 < cap) {
		assert_true(tdm_event_is_valid(&event));
		letters[at++] = tdm_op_name((enum tdm_op)event.op)[0];
	}
	letters[at] = '\0';
}

static void an_account_in_order(void **state)
{
	struct builder b;
	char letters[128];
	(void)state;
	builder_sample(&b);
	unlink(write_ledger(&b, 1));
	write_ledger(&b, 4242);
	struct tdm_source *source = open_source(&(struct tdm_ledger_query){ .dir = dir });
	read_letters(source, letters, sizeof letters);
	/* process; 2 modules; device, 6 allocations, usage of 2 kinds; device, 1 allocation, 1 usage; 2 phases */
	assert_string_equal(letters, "pmmd"
				     "aaaaaauu"
				     "dau"
				     "pp");
	assert_int_equal(tdm_ledger_source_count(source), 1);
	assert_int_equal(tdm_ledger_source_problem_count(source), 0);
	assert_int_equal(source->refused, 0);
	read_letters(source, letters, sizeof letters);
	assert_string_equal(letters, "");
	tdm_source_close(source);
	builder_done(&b);
}

static struct tdm_snapshot *fold(struct tdm_source *source, struct tdm_registry **reg)
{
	if (*reg == NULL) {
		*reg = tdm_registry_new();
		assert_non_null(*reg);
		assert_int_equal(tdm_registry_origin(*reg, "ledger", 1), 0);
	}
	assert_int_equal(tdm_registry_read(*reg, 0, source), 0);
	assert_true(tdm_registry_is_valid(*reg));
	struct tdm_snapshot *s = tdm_registry_snapshot(*reg, TDM_SNAPSHOT_BUFFERS);
	assert_non_null(s);
	return s;
}

static void the_same_figures_as_the_ledger(void **state)
{
	struct builder b;
	struct tdm_registry *reg = NULL;
	(void)state;
	builder_sample(&b);
	write_ledger(&b, 4242);
	struct tdm_source *source = open_source(&(struct tdm_ledger_query){ .dir = dir });
	struct tdm_snapshot *s = fold(source, &reg);
	assert_int_equal(s->process_count, 1);
	assert_int_equal(s->processes[0].who.life, TDM_LIFE_ENDED);
	assert_string_equal(s->processes[0].who.command, "model --layers 12");
	assert_non_null(strstr(s->processes[0].place, "/tidemark.4242.12345.0"));
	assert_string_equal(tdm_snapshot_text(s, s->processes[0].phase), "BACKWARD");
	const struct tdm_figures *f = &s->holdings[0].kinds[TDM_KIND_DRAM];
	assert_int_equal(f->reserved_bytes, 12 * 1024 * (1 + 5 + 7));
	assert_int_equal(f->peak_reserved_bytes, 12 * 1024 * (1 + 3 + 5 + 7));
	assert_int_equal(f->double_frees, 2);
	assert_int_equal(f->unknown_frees, 3);
	assert_int_equal(f->rereports, 4);
	assert_int_equal(f->out_of_memory, 1);
	assert_false(f->differs);
	assert_int_equal(s->holdings[1].kinds[TDM_KIND_CB].reserved_bytes, 0);
	assert_int_equal(s->buffer_count, 7);
	for (size_t i = 0; i < s->buffer_count; i++) {
		const struct tdm_buffer *buffer = &s->buffers[i];
		if (buffer->id != 103)
			continue;
		uint32_t depth;
		const struct tdm_kept_frame *frames = tdm_snapshot_stack(s, buffer->stack, &depth);
		assert_int_equal(depth, 3);
		assert_int_equal(frames[0].address, 0x401234);
		assert_string_equal(tdm_snapshot_text(s, frames[2].text), "model.py:12 (forward)");
		assert_int_equal(buffer->holding_banks, 3);
		assert_true(buffer->born_ns > TDM_NS_PER_S);
	}
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
	tdm_source_close(source);
	builder_done(&b);
}

/* What is known of the cores of the buffer with this id. */
static const struct tdm_core_range *ranges_of(const struct tdm_snapshot *s, uint64_t id, uint32_t *count)
{
	for (size_t i = 0; i < s->buffer_count; i++)
		if (s->buffers[i].id == id)
			return tdm_snapshot_ranges(s, s->buffers[i].ranges, count);
	fail_msg("there is no buffer %d", (int)id);
	return NULL;
}

static void core_ranges_come_through(void **state)
{
	static const uint16_t two[] = { 0, 1, 7, 6, 9, 9, 9, 9 }, inverted[] = { 0, 0, 1, 1, 5, 0, 4, 0 };
	static const uint16_t many[4 * (TDM_LEDGER_RANGES_MAX + 1)];
	struct builder b;
	struct tdm_registry *reg = NULL;
	(void)state;
	builder_init(&b);
	uint64_t device = builder_add_device(&b, 0);
	uint32_t lists[] = {
		builder_blob(&b, TDM_BLOB_RANGES, two, sizeof two),
		builder_blob(&b, TDM_BLOB_RANGES, inverted, sizeof inverted),
		builder_blob(&b, TDM_BLOB_RANGES, many, sizeof many),
		builder_blob(&b, TDM_BLOB_RANGES, many, sizeof many - 8),
		builder_blob(&b, TDM_BLOB_RANGES, two, 12), /* one and a half */
		builder_text(&b, "no ranges"),
		9999999,
	};
	enum { LISTS = sizeof lists / sizeof *lists };
	for (uint32_t i = 0; i <= LISTS; i++)
		builder_alloc(&b, device,
			(struct tdm_ledger_slot){
				.id = i + 1, .asked = 4096, .bank_bytes = 64, .banks = 64, .kind = TDM_KIND_CB },
			(struct tdm_ledger_more){ .ranges = lists[i % LISTS] });
	write_ledger(&b, 4242);
	struct tdm_source *source = open_source(&(struct tdm_ledger_query){ .dir = dir });
	struct tdm_snapshot *s = fold(source, &reg);
	uint32_t count;
	assert_int_equal(s->processes[0].refused, 5);
	assert_int_equal(s->buffer_count, LISTS + 1); /* buffers are not refused with their ranges */
	const struct tdm_core_range *ranges = ranges_of(s, 1, &count);
	assert_int_equal(count, 2);
	assert_memory_equal(ranges, two, sizeof two);
	assert_ptr_equal(ranges_of(s, LISTS + 1, &count), ranges); /* kept once */
	ranges_of(s, 4, &count);
	assert_int_equal(count, TDM_LEDGER_RANGES_MAX);
	static const uint64_t refused[] = { 2, 3, 5, 6, 7 };
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		assert_null(ranges_of(s, refused[i], &count));
		assert_int_equal(count, 0);
	}
	assert_int_equal(s->range_list_count, 3); /* none, and the two that are good */
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
	tdm_source_close(source);
	/* The reader counts what it refused. */
	struct tdm_ledger *ledger;
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_ledger_open(write_ledger(&b, 4242), &ledger, &diag), 0);
	for (uint32_t i = 0; i < LISTS; i++)
		tdm_ledger_ranges(ledger, lists[i], &count);
	assert_int_equal(tdm_ledger_refused(ledger), sizeof refused / sizeof *refused);
	tdm_ledger_close(ledger);
	builder_done(&b);
}

static void only_the_wanted_processes(void **state)
{
	struct builder b;
	struct tdm_registry *reg = NULL;
	int32_t pids[] = { 7, 9 };
	(void)state;
	builder_sample(&b);
	for (int pid = 6; pid < 10; pid++)
		write_ledger(&b, pid);
	struct tdm_source *source = open_source(&(struct tdm_ledger_query){ .dir = dir, .pids = pids, .pid_count = 2 });
	struct tdm_snapshot *s = fold(source, &reg);
	assert_int_equal(s->process_count, 2);
	assert_int_equal(s->processes[0].who.pid, 7);
	assert_int_equal(s->processes[1].who.pid, 9);
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
	tdm_source_close(source);
	for (int pid = 6; pid < 10; pid++)
		unlink(write_ledger(&b, pid));
	builder_done(&b);
}

static void unreadable_ones_are_named(void **state)
{
	struct builder b;
	struct tdm_registry *reg = NULL;
	char path[PATH_MAX + 64];
	(void)state;
	builder_sample(&b);
	write_ledger(&b, 1);
	builder_header(&b)->major = 9;
	write_ledger(&b, 2);
	builder_header(&b)->major = TDM_LEDGER_MAJOR;
	builder_header(&b)->magic = 5;
	write_ledger(&b, 3);
	snprintf(path, sizeof path, "%s/tidemark.4.1.0", dir);
	assert_int_equal(symlink("/nowhere", path), 0);
	struct tdm_source *source = open_source(&(struct tdm_ledger_query){ .dir = dir });
	struct tdm_snapshot *s = fold(source, &reg);
	assert_int_equal(s->process_count, 2); /* that of the first tests is still there */
	assert_int_equal(tdm_ledger_source_problem_count(source), 3);
	const struct tdm_ledger_problem *problem = tdm_ledger_source_problem(source, 0);
	assert_int_equal(problem->err, TDM_EVERSION);
	assert_non_null(strstr(problem->path, "tidemark.2.12345.0"));
	assert_non_null(strstr(problem->text, "version 9"));
	assert_int_equal(tdm_ledger_source_problem(source, 1)->err, TDM_ECORRUPT);
	assert_int_equal(tdm_ledger_source_problem(source, 2)->err, -ELOOP);
	assert_null(tdm_ledger_source_problem(source, 3));
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
	tdm_source_close(source);
	unlink(path);
	for (int pid = 1; pid < 4; pid++)
		unlink(write_ledger(&b, pid));
	struct tdm_diag diag = { 0 };
	assert_null(tdm_ledger_source_open(&(struct tdm_ledger_query){ .dir = "/nowhere/at/all" }, &diag));
	assert_non_null(strstr(diag.text, "/nowhere/at/all"));
	builder_done(&b);
}

static void hold_lock(const char *path, int *fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	*fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(*fd >= 0 && fcntl(*fd, F_OFD_SETLK, &lock) == 0);
}

static void rewrite(struct builder *b, int fd)
{
	assert_int_equal(pwrite(fd, b->bytes, b->size, 0), b->size);
}

static uint64_t live_dram(const struct tdm_snapshot *s)
{
	return s->holdings[0].kinds[TDM_KIND_DRAM].reserved_bytes;
}

static void add(struct builder *b, uint64_t id)
{
	builder_alloc(b, builder_header(b)->device_offset[0],
		(struct tdm_ledger_slot){
			.id = id, .asked = 100, .bank_bytes = 100, .banks = 1, .kind = TDM_KIND_DRAM },
		(struct tdm_ledger_more){ 0 });
}

static void following(void **state)
{
	struct builder b;
	struct tdm_registry *reg = NULL;
	int fd;
	(void)state;
	builder_init(&b);
	builder_add_device(&b, 0);
	add(&b, 1);
	const char *path = write_ledger(&b, 777);
	hold_lock(path, &fd); /* an open file's lock, so that this process can look at it like at another's */
	int32_t pids[] = { 777 };
	struct tdm_source *source =
		open_source(&(struct tdm_ledger_query){ .dir = dir, .pids = pids, .pid_count = 1, .follow = true });
	struct tdm_snapshot *s = fold(source, &reg);
	assert_int_equal(s->processes[0].who.life, TDM_LIFE_RUNS);
	assert_int_equal(live_dram(s), 100);
	tdm_snapshot_free(s);

	/* Events are followed one by one. */
	add(&b, 2);
	add(&b, 3);
	builder_free(&b, builder_header(&b)->device_offset[0], 0);
	builder_phase(&b, "later");
	rewrite(&b, fd);
	s = fold(source, &reg);
	assert_int_equal(live_dram(s), 200);
	assert_int_equal(s->processes[0].lost, 0);
	assert_int_equal(s->holdings[0].kinds[TDM_KIND_DRAM].allocs, 3);
	assert_false(s->holdings[0].kinds[TDM_KIND_DRAM].differs);
	assert_string_equal(tdm_snapshot_text(s, s->processes[0].phase), "later");
	tdm_snapshot_free(s);

	/* More than the ring holds: the loss is counted, and a new account makes the figures right. */
	for (uint64_t i = 0; i < 3000; i++)
		add(&b, 1000 + i);
	rewrite(&b, fd);
	s = fold(source, &reg);
	assert_int_equal(live_dram(s), 200 + 300000);
	assert_true(s->processes[0].lost >= 3000 - TDM_LEDGER_RING);
	assert_int_equal(s->buffer_count, 3002);
	tdm_snapshot_free(s);

	/* A second device appears. */
	builder_add_device(&b, 1);
	rewrite(&b, fd);
	s = fold(source, &reg);
	assert_int_equal(s->holding_count, 2);
	assert_int_equal(live_dram(s), 200 + 300000);
	tdm_snapshot_free(s);

	/* Its end. */
	add(&b, 9);
	rewrite(&b, fd);
	close(fd);
	s = fold(source, &reg);
	assert_int_equal(s->processes[0].who.life, TDM_LIFE_ENDED);
	assert_int_equal(live_dram(s), 300 + 300000);
	assert_int_equal(s->devices[s->holdings[0].device].kinds[TDM_KIND_DRAM].reserved_bytes, 0);
	tdm_snapshot_free(s);

	/* A new one. */
	builder_header(&b)->pid = 778;
	s = fold(source, &reg);
	tdm_snapshot_free(s);
	tdm_source_close(source);
	tdm_registry_free(reg);
	unlink(path);
	builder_done(&b);
}

static void new_ledgers_are_found(void **state)
{
	struct builder b;
	struct tdm_registry *reg = NULL;
	(void)state;
	builder_sample(&b);
	int32_t pids[] = { 501, 502 };
	struct tdm_source *source =
		open_source(&(struct tdm_ledger_query){ .dir = dir, .pids = pids, .pid_count = 2, .follow = true });
	struct tdm_snapshot *s = fold(source, &reg);
	assert_int_equal(s->process_count, 0);
	tdm_snapshot_free(s);
	write_ledger(&b, 501);
	builder_header(&b)->state = TDM_LEDGER_NEW;
	write_ledger(&b, 502); /* being made */
	s = fold(source, &reg);
	assert_int_equal(s->process_count, 1);
	assert_int_equal(tdm_ledger_source_problem_count(source), 1);
	tdm_snapshot_free(s);
	builder_header(&b)->state = TDM_LEDGER_OPEN;
	write_ledger(&b, 502);
	s = fold(source, &reg);
	assert_int_equal(s->process_count, 2);
	assert_int_equal(tdm_ledger_source_problem_count(source), 0);
	tdm_snapshot_free(s);
	tdm_source_close(source);
	tdm_registry_free(reg);
	unlink(write_ledger(&b, 501));
	unlink(write_ledger(&b, 502));
	builder_done(&b);
}

/* Another user's ledger: the text says what to do. */
static void a_forbidden_one_comes_with_advice(void **state)
{
	enum { NOBODY = 65534 };
	struct builder b;
	int32_t pid = 601;
	struct tdm_registry *reg = NULL;
	struct tdm_buf out;
	bool was_root = geteuid() == 0;
	(void)state;
	builder_sample(&b);
	const char *path = write_ledger(&b, pid);
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(was_root ? seteuid(NOBODY) : 0, 0);
	struct tdm_source *source = open_source(&(struct tdm_ledger_query){ .dir = dir, .pids = &pid, .pid_count = 1 });
	struct tdm_snapshot *s = fold(source, &reg);
	assert_int_equal(was_root ? seteuid(0) : 0, 0);
	assert_int_equal(tdm_ledger_source_problem_count(source), 1);
	assert_int_equal(tdm_ledger_source_problem(source, 0)->err, -EACCES);
	tdm_buf_init(&out);
	tdm_live_unread(&(struct tdm_live_report){ .ledgers = source }, &out);
	assert_non_null(strstr(tdm_buf_str(&out).ptr, "tidemark.601.12345.0: Permission denied\n"));
	assert_non_null(strstr(tdm_buf_str(&out).ptr, "TIDEMARK_MODE=0644"));
	tdm_buf_done(&out);
	tdm_snapshot_free(s);
	tdm_source_close(source);
	tdm_registry_free(reg);
	unlink(path);
	builder_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_account_in_order),
		cmocka_unit_test(core_ranges_come_through),
		cmocka_unit_test(the_same_figures_as_the_ledger),
		cmocka_unit_test(only_the_wanted_processes),
		cmocka_unit_test(unreadable_ones_are_named),
		cmocka_unit_test(following),
		cmocka_unit_test(new_ledgers_are_found),
		cmocka_unit_test(a_forbidden_one_comes_with_advice),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
