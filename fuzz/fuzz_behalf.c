/*
 * Fuzz what a daemon does with ledgers that an earlier one left. Exercises: ledger/write/writer_resume.c,
 * ledger/archive/archive.c. An input is a list of changes to a good ledger: 2 bytes that choose a line of 64
 * bytes among those in use, 1 byte of offset, 1 byte of length (0: cut the file there), and that many bytes.
 *
 * Properties: a damaged ledger is refused, or gone on with so that the figures that it begins with are those of its
 * buffers and every later report is right; the archive moves or removes it; what is on disk is read or refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "../tests/unit/ledger_walk.h"
#include "fuzz_folder.h"
#include "ledger/archive/archive.h"
#include "ledger/write/writer.h"

enum { BYTES_MAX = 1 << 20, LINE = 64, LINES_MAX = BYTES_MAX / LINE, NEW_ID = 1 << 20, NEW = 12 };

static struct {
	uint8_t bytes[BYTES_MAX];
	size_t len;
	uint32_t lines[LINES_MAX]; /* those with a byte that is not 0 */
	size_t line_count;
	char name[TDM_LEDGER_PATH_MAX];
} good;

static int put(struct tdm_writer *writer, uint32_t device, uint32_t kind, uint64_t id, uint64_t bytes)
{
	struct tdm_wdevice *to = tdm_writer_device(writer, device, false);
	const struct tdm_report report = { .device = device, .kind = kind, .id = id, .address = id, .asked = bytes };
	const struct tdm_report_extra extra = { .banks = 1, .bank_bytes = bytes };
	return to != NULL ? tdm_writer_alloc_cold(to, NULL, &report, &extra) : -ENOSPC;
}

static int take(struct tdm_writer *writer, uint32_t device, uint32_t kind, uint64_t id)
{
	struct tdm_wdevice *from = tdm_writer_device(writer, device, false);
	return from != NULL ? tdm_writer_free_cold(from, NULL, kind, id, NULL) : -ENOSPC;
}

/* A ledger of a client that has ended, with a little of everything. */
static void make_good(void)
{
	const struct tdm_behalf client = { .pid = 1, .start_time = 1 }; /* init started at another time */
	const struct tdm_writer_options options = {
		.dir = fuzz_folder_get(), .mode = 0600, .ring_records = TDM_LEDGER_RING_MIN, .behalf = &client
	};
	const struct tdm_ledger_region region = { .kind = TDM_KIND_DRAM, .banks = 12, .bank_size = 1 << 30 };
	const struct tdm_ledger_phase phase = { .flags = TDM_PHASE_MARK };
	struct tdm_writer *writer;
	uint64_t chip = 77;
	check(tdm_writer_new(&options, &writer) == 0);
	for (uint64_t id = 1; id <= 60; id++)
		check(put(writer, id % 2 != 0 ? 0 : 5, id % 3 != 0 ? TDM_KIND_DRAM : TDM_KIND_CB, id, id * 64) == 0);
	for (uint64_t id = 1; id <= 60; id += 5)
		check(take(writer, id % 2 != 0 ? 0 : 5, id % 3 != 0 ? TDM_KIND_DRAM : TDM_KIND_CB, id) == 0);
	check(tdm_writer_describe(tdm_writer_device(writer, 5, false), NULL, "n150", &chip, 8, 8, &region, 1) == 0);
	check(tdm_blobs_put(&writer->blobs, TDM_BLOB_TEXT, "weights", 7, NULL) != 0);
	check(tdm_writer_put_phase(writer, &phase) == 0);
	strcpy(good.name, writer->file.path);
	tdm_writer_free(writer);
	int fd = open(good.name, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, good.bytes, sizeof good.bytes) : -1;
	check(got > 0 && got < BYTES_MAX);
	close(fd);
	good.len = (size_t)got;
	for (uint32_t line = 0; (line + 1) * LINE <= good.len; line++) {
		static const uint8_t zeros[LINE];
		if (memcmp(good.bytes + (size_t)line * LINE, zeros, LINE) != 0)
			good.lines[good.line_count++] = line;
	}
	fuzz_folder_empty();
}

static void write_changed(const uint8_t *data, size_t size)
{
	static uint8_t bytes[BYTES_MAX];
	size_t len = good.len, folder = (size_t)(strrchr(good.name, '/') - good.name);
	char path[TDM_LEDGER_PATH_MAX];
	memcpy(bytes, good.bytes, len);
	while (size >= 4) {
		size_t at =
			(size_t)good.lines[(data[0] | (size_t)data[1] << 8) % good.line_count] * LINE + data[2] % LINE;
		size_t count = data[3] < size - 4 ? data[3] : size - 4;
		count = count < good.len - at ? count : good.len - at;
		if (data[3] == 0)
			len = at;
		memcpy(bytes + at, data + 4, count);
		data += 4 + count;
		size -= 4 + count;
	}
	snprintf(path, sizeof path, "%.*s", (int)folder, good.name);
	check(mkdir(path, 0700) == 0 || errno == EEXIST);
	int fd = open(good.name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	check(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	close(fd);
}

/* Goes on with it: new buffers come and go, and all the old ones that there are can be released. */
static void go_on(struct tdm_writer *writer)
{
	for (uint32_t device = 0; device <= 6; device += 3) /* an old one, and two new ones */
		for (uint64_t id = 0; id < NEW; id++) {
			int err = put(writer, device, TDM_KIND_L1, NEW_ID + id, 4096);
			if (err == 0 && id % 3 == 0)
				check(take(writer, device, TDM_KIND_L1, NEW_ID + id) == 0);
			if (err == 0 && id % 3 == 0)
				check(take(writer, device, TDM_KIND_L1, NEW_ID + id) == -ENOENT);
		}
	for (uint64_t id = 1; id <= 60; id += 2)
		take(writer, id % 2 != 0 ? 0 : 5, TDM_KIND_DRAM, id);
}

/* The counters are the sums of the buffers. */
static void check_sums(void)
{
	struct tdm_ledger *ledger;
	struct tdm_diag diag = { 0 };
	check(ledger_walk_content(good.name) == 0 && tdm_ledger_open(good.name, &ledger, &diag) == 0);
	for (size_t i = 0; i < tdm_ledger_device_count(ledger); i++) {
		struct tdm_ledger_buffer *buffers;
		size_t count;
		bool exact;
		check(ledger_buffers(ledger, i, &buffers, &count, &exact) == 0 && exact);
		free(buffers);
	}
	tdm_ledger_close(ledger);
}

static void archive(void)
{
	char state[128];
	snprintf(state, sizeof state, "%s/state", fuzz_folder);
	const struct tdm_archive_options options = { .dir = fuzz_folder,
		.state_dir = state,
		.memory = { UINT64_MAX, 0, UINT64_MAX },
		.disk = { UINT64_MAX, UINT64_MAX, UINT64_MAX } };
	struct tdm_archive *archive = tdm_archive_new(&options);
	check(archive != NULL && tdm_archive_find(archive) == 0);
	bool was_good = ledger_walk_content(good.name) == 0; /* a damaged one is kept as it is */
	int err = tdm_archive_add(archive, good.name);
	for (unsigned i = 0; tdm_archive_step(archive, UINT64_MAX / 2, 4096); i++)
		check(i < 10000);
	struct tdm_archive_stats stats = tdm_archive_get_stats(archive);
	check(stats.memory_count == 0 && stats.failed == 0 && stats.disk_count == stats.moved);
	check(stats.moved == 0 || access(good.name, F_OK) != 0);
	check(err != 0 || access(good.name, F_OK) != 0);
	tdm_archive_free(archive);
	const char *name = strrchr(good.name, '/'), *folder = good.name + strlen(fuzz_folder);
	char path[512];
	snprintf(path, sizeof path, "%s%.*s%s", state, (int)(name - folder), folder, name);
	check(stats.moved == 0 || (ledger_walk_content(path) == 0) == was_good);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tdm_writer_options options = { .ring_records = TDM_LEDGER_RING_MIN };
	struct tdm_writer *writer;
	if (good.len == 0)
		make_good();
	write_changed(data, size);
	int err = tdm_writer_resume(good.name, &options, &writer);
	check(size >= 4 || err == 0);
	if (err == 0) {
		go_on(writer);
		tdm_writer_end(writer);
		tdm_writer_free(writer);
		check_sums();
	}
	archive();
	fuzz_folder_empty();
	return 0;
}
