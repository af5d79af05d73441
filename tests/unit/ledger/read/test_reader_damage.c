/* The reader of ledgers: ledgers damaged in every way, and ledgers that change while they are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/err.h"
#include "full_size.h"
#include "ledger/read/reader.h"
#include "ledger_buffers.h"
#include "ledger_builder.h"
#include "ledger_place.h"
#include "ledger_walk.h"

static void expect_refused(int err, const char *text)
{
	struct tdm_ledger *ledger;
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_ledger_open(place_file, &ledger, &diag), err);
	assert_null(ledger);
	if (strstr(diag.text, text) == NULL)
		fail_msg("'%s' does not say '%s'", diag.text, text);
}

static void refusals_say_why(void **state)
{
	struct builder b;
	(void)state;
	unlink(place_file);
	expect_refused(-ENOENT, "No such file");
	assert_int_equal(symlink("/etc/passwd", place_file), 0);
	expect_refused(-ELOOP, "symbolic link");
	unlink(place_file);
	assert_int_equal(mkfifo(place_file, 0600), 0);
	expect_refused(TDM_ECORRUPT, "regular");
	unlink(place_file);
	assert_int_equal(mkdir(place_file, 0700), 0);
	expect_refused(TDM_ECORRUPT, "regular");
	rmdir(place_file);

	builder_init(&b);
	struct tdm_ledger_header good = *builder_header(&b);
	builder_write(&b, place_file);
	assert_int_equal(ledger_walk(place_file), 0); /* without devices it is a ledger, too */
	builder_header(&b)->major = TDM_LEDGER_MAJOR + 1;
	builder_write(&b, place_file);
	expect_refused(TDM_EVERSION, "version 3.");
	builder_header(&b)->major = 0;
	builder_write(&b, place_file);
	expect_refused(TDM_EVERSION, "version 0.");
	*builder_header(&b) = good;
	builder_header(&b)->state = TDM_LEDGER_NEW;
	builder_write(&b, place_file);
	expect_refused(-EAGAIN, "setting it up");
	*builder_header(&b) = good;
	builder_header(&b)->magic = 1;
	builder_write(&b, place_file);
	expect_refused(TDM_ECORRUPT, "not a ledger");
	*builder_header(&b) = good;
	builder_header(&b)->device_count = TDM_LEDGER_DEVICES + 1;
	builder_write(&b, place_file);
	expect_refused(TDM_ECORRUPT, "65 devices");
	*builder_header(&b) = good;
	builder_header(&b)->pid = -1;
	builder_write(&b, place_file);
	expect_refused(TDM_ECORRUPT, "pid -1");
	*builder_header(&b) = good;
	builder_header(&b)->header_size = 16;
	builder_write(&b, place_file);
	expect_refused(TDM_ECORRUPT, "16 bytes");
	assert_int_equal(truncate(place_file, 0), 0);
	expect_refused(-EAGAIN, "setting it up");
	assert_int_equal(truncate(place_file, 100), 0);
	expect_refused(TDM_ECORRUPT, "100 bytes");
	builder_done(&b);
}

/* Offsets and counts that reach outside, wrap around, or make areas overlap: that device is refused, the rest is read.
 */
static void directories_that_cannot_be(void **state)
{
	static const uint64_t offsets[] = { 0, 1, 100, TDM_LEDGER_PAGE - 8, UINT64_MAX, UINT64_MAX - 4543,
		UINT64_C(1) << 63, INT64_MAX, (UINT64_C(1) << 63) - 4096 };
	struct builder b, sample;
	(void)state;
	builder_sample(&sample);
	for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
		for (int what = 0; what < 8; what++) {
			builder_sample(&b);
			uint64_t device = builder_header(&b)->device_offset[0];
			struct tdm_ledger_device *page = builder_device(&b, device);
			uint64_t *words[] = { &builder_header(&b)->device_offset[0], &page->slot_offset[0],
				&page->ring_offset, &page->ring_records, &builder_header(&b)->blob_offset[0],
				&builder_header(&b)->phase_offset[0], &builder_header(&b)->file_size,
				&builder_header(&b)->blob_used };
			*words[what] = offsets[i];
			builder_write(&b, place_file);
			assert_int_equal(ledger_walk(place_file), 0);
			builder_done(&b);
		}
	/* Areas that share bytes. */
	builder_sample(&b);
	uint64_t first = builder_header(&b)->device_offset[0], second = builder_header(&b)->device_offset[1];
	builder_device(&b, second)->slot_offset[0] = builder_device(&b, first)->slot_offset[0];
	builder_write(&b, place_file);
	struct tdm_ledger *ledger;
	assert_int_equal(tdm_ledger_open(place_file, &ledger, NULL), 0);
	assert_int_equal(tdm_ledger_device_count(ledger), 1);
	assert_int_equal(tdm_ledger_device(ledger, 0)->number, 0);
	assert_int_equal(tdm_ledger_refused(ledger), 1);
	tdm_ledger_close(ledger);
	builder_done(&b);
	builder_done(&sample);
}

static void counts_that_cannot_be(void **state)
{
	struct builder b;
	struct tdm_ledger *ledger;
	struct tdm_ledger_buffer *buffers;
	size_t count;
	bool exact;
	(void)state;
	builder_sample(&b);
	uint64_t device = builder_header(&b)->device_offset[0];
	/* A counter above its own peak is not believed; the buffers still are read. */
	builder_device(&b, device)->now[TDM_KIND_DRAM][0].bytes = UINT64_MAX;
	builder_device(&b, device)->now[TDM_KIND_DRAM][1].bytes = UINT64_MAX;
	builder_device(&b, device)->slot_high = UINT32_MAX;
	builder_header(&b)->phase_count = UINT32_MAX;
	builder_write(&b, place_file);
	assert_int_equal(tdm_ledger_open(place_file, &ledger, NULL), 0);
	assert_int_equal(tdm_ledger_refused(ledger), 1);
	assert_int_equal(tdm_ledger_device(ledger, 0)->counts[TDM_KIND_DRAM].seq, 0);
	assert_int_equal(tdm_ledger_device(ledger, 0)->counts[TDM_KIND_L1].buffers, 3);
	assert_int_equal(ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
	assert_int_equal(count, 6);
	assert_false(exact);
	free(buffers);
	tdm_ledger_close(ledger);
	/* A slot with a product that does not fit. */
	builder_slot(&b, device, 0)->bank_bytes = UINT64_MAX;
	builder_slot(&b, device, 1)->kind = TDM_KIND_COUNT;
	builder_write(&b, place_file);
	assert_int_equal(tdm_ledger_open(place_file, &ledger, NULL), 0);
	assert_int_equal(ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
	assert_int_equal(count, 4);
	assert_int_equal(tdm_ledger_refused(ledger), 3);
	free(buffers);
	tdm_ledger_close(ledger);
	assert_int_equal(ledger_walk(place_file), 0);
	builder_done(&b);
}

/* A file of exabytes without content must not take time or memory. */
static void a_sparse_giant(void **state)
{
	struct builder b;
	(void)state;
	builder_init(&b);
	uint64_t device = builder_add_device(&b, 0);
	struct tdm_ledger_device *page = builder_device(&b, device);
	uint64_t at = b.size;
	for (uint32_t k = 1; k < TDM_LEDGER_SEGMENTS - 4; k++) {
		page->slot_offset[k] = at;
		at += ((uint64_t)TDM_LEDGER_FIRST_SLOTS << k) *
		      (sizeof(struct tdm_ledger_slot) + sizeof(struct tdm_ledger_more));
		page->slot_segments = k + 1;
	}
	page->slot_high = UINT32_MAX;
	builder_header(&b)->file_size = at;
	builder_write(&b, place_file);
	if (truncate(place_file, (off_t)at) == 0)
		assert_int_equal(ledger_walk(place_file), 0);
	builder_done(&b);
}

static void write_byte(int fd, uint64_t offset, uint8_t byte)
{
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
}

/* Every bit of what directs the reader, and one of each byte of the rest that is used. */
static void every_flipped_bit(void **state)
{
	struct builder b;
	(void)state;
	builder_sample(&b);
	builder_write(&b, place_file);
	uint64_t device = builder_header(&b)->device_offset[0];
	const struct {
		uint64_t offset, bytes;
		int bits;
	} parts[] = {
		{ 0, 48, 8 },
		{ 48, offsetof(struct tdm_ledger_header, first) - 48, 1 },
		{ offsetof(struct tdm_ledger_header, first), 72, 2 },
		{ offsetof(struct tdm_ledger_header, device_count), 32, 8 },
		{ offsetof(struct tdm_ledger_header, blob_offset), 8, 8 },
		{ offsetof(struct tdm_ledger_header, phase_count), 24, 8 },
		{ offsetof(struct tdm_ledger_header, device_offset), 24, 8 },
		{ device, 8, 8 },
		{ device + 64, 96, 4 },
		{ device + offsetof(struct tdm_ledger_device, slot_segments), 24, 8 },
		{ device + offsetof(struct tdm_ledger_device, ring_offset), 16, 8 },
		{ device + offsetof(struct tdm_ledger_device, now), 4 * 64, 2 },
		{ device + offsetof(struct tdm_ledger_device, peak), 4 * 64, 2 },
		{ builder_device(&b, device)->slot_offset[0], 4 * 64, 2 },
		{ builder_device(&b, device)->slot_offset[0] + 512 * 64, 2 * 32, 4 },
		{ builder_device(&b, device)->ring_offset, 3 * 64, 2 },
		{ builder_header(&b)->blob_offset[0] + 16, 160, 3 },
		{ builder_header(&b)->phase_offset[0], 64, 1 },
	};
	int fd = open(place_file, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	const int step = full_size(1, 3); /* of neighbouring bytes, different bits */
	for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
		for (uint64_t at = parts[p].offset; at < parts[p].offset + parts[p].bytes; at++)
			for (int bit = (int)at % step; bit < parts[p].bits; bit += step) {
				write_byte(fd, at, b.bytes[at] ^ (uint8_t)(1 << (bit * 8 / parts[p].bits)));
				ledger_walk(place_file);
				write_byte(fd, at, b.bytes[at]);
			}
	assert_int_equal(ledger_walk(place_file), 0);
	close(fd);
	builder_done(&b);
}

static void every_truncation(void **state)
{
	struct builder b;
	(void)state;
	builder_sample(&b);
	builder_write(&b, place_file);
	/* Cutting from the end on, so that the file need not be written again. */
	for (uint64_t len = b.size; len > 0;) {
		assert_int_equal(truncate(place_file, (off_t)len), 0);
		ledger_walk(place_file);
		uint64_t step = len > 16384                              ? 4099
				: len > TDM_LEDGER_PAGE + 64             ? 61
				: len > sizeof(struct tdm_ledger_header) ? 7
									 : 1;
		len = len > step ? len - step : 0;
	}
	builder_done(&b);
}

/* Somebody cuts and scribbles on the ledger while it is open. */
static void it_changes_under_the_reader(void **state)
{
	struct builder b;
	struct tdm_ledger *ledger;
	struct tdm_ledger_buffer *buffers;
	struct tdm_ledger_record records[16];
	struct tdm_diag diag = { 0 };
	uint64_t missed;
	size_t count;
	bool exact;
	(void)state;
	builder_sample(&b);
	ledger = open_good(&b);
	/* It grows: a new picture shows that. */
	uint64_t device = builder_header(&b)->device_offset[0];
	for (uint64_t i = 0; i < 1000; i++)
		builder_alloc(&b, device,
			(struct tdm_ledger_slot){ .id = 5000 + i,
				.asked = 1,
				.bank_bytes = 32,
				.name = builder_text(&b, "later"),
				.banks = 1,
				.kind = TDM_KIND_L1 },
			(struct tdm_ledger_more){ 0 });
	builder_write(&b, place_file);
	assert_int_equal(tdm_ledger_device(ledger, 0)->seq, 10);
	assert_int_equal(tdm_ledger_refresh(ledger, &diag), 0);
	assert_int_equal(tdm_ledger_device(ledger, 0)->seq, 1010);
	assert_int_equal(ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
	assert_true(exact);
	assert_int_equal(count, 1006);
	assert_true(tdm_str_is(tdm_ledger_text(ledger, buffers[count - 1].slot.name), "later"));
	free(buffers);
	/* It is cut: errors, and the last picture stays. */
	assert_int_equal(truncate(place_file, TDM_LEDGER_PAGE), 0);
	assert_int_equal(ledger_buffers(ledger, 0, &buffers, &count, &exact), TDM_ECORRUPT);
	assert_int_equal(tdm_ledger_events(ledger, 0, 0, records, 16, &missed), TDM_ECORRUPT);
	assert_int_equal(truncate(place_file, 10), 0);
	assert_int_equal(tdm_ledger_refresh(ledger, &diag), TDM_ECORRUPT);
	assert_int_equal(tdm_ledger_device_count(ledger), 2);
	assert_int_equal(tdm_ledger_device(ledger, 0)->seq, 1010);
	tdm_ledger_close(ledger);
	builder_done(&b);
}

/* A child corrupts the file at random while it is read over and over. */
static void a_vandal_works_on_it(void **state)
{
	struct builder b;
	(void)state;
	builder_sample(&b);
	builder_write(&b, place_file);
	pid_t child = fork();
	if (child == 0) {
		int fd = open(place_file, O_RDWR | O_CLOEXEC);
		for (uint64_t i = 0;; i++) {
			uint64_t r = tdm_hash_u64(i), at = r % (i % 4 == 0 ? b.size : (uint64_t)TDM_LEDGER_PAGE * 3);
			uint64_t word = i % 3 == 0 ? r : i % 3 == 1 ? UINT64_MAX : (uint64_t)b.bytes[at];
			ssize_t put = pwrite(fd, &word, 8, (off_t)(at / 8 * 8));
			if (i % 64 == 63) /* whole again, mostly */
				put = pwrite(fd, b.bytes, b.size, 0);
			if (i % 1024 == 1023 && ftruncate(fd, (off_t)(r % b.size)) != 0)
				_exit(1);
			(void)put;
		}
	}
	assert_true(child > 0);
	for (int i = 0, count = full_size(150, 30); i < count; i++)
		ledger_walk(place_file);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	builder_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals_say_why),
		cmocka_unit_test(directories_that_cannot_be),
		cmocka_unit_test(counts_that_cannot_be),
		cmocka_unit_test(a_sparse_giant),
		cmocka_unit_test(every_flipped_bit),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(it_changes_under_the_reader),
		cmocka_unit_test(a_vandal_works_on_it),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
