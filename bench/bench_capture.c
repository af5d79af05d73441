/*
 * Reading a graph capture and computing both sets of its peaks, against the bare JSON parser with callbacks that do
 * nothing. Each piece of the file is read once and given to both, in alternating order, so that noise affects both
 * alike. The time of reading counts for both. The file is made here, in TMPDIR (/tmp), with the same bytes everywhere,
 * and removed at the end. TIDEMARK_BENCH_CAPTURE_MB sets its size.
 */
#include "bench.h"

#include "analyze/capture/capture_summary.h"
#include "base/clock.h"
#include "input/capture/capture_json.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "baseline_json.h"

enum { DEFAULT_MB = 1024, LIVE = 64, CALL_BUFFERS = 3, CALL_CBS = 6 };

static const double goal_speed = 0.8; /* of the bare parser's */
static const double limit_bytes = 96; /* of memory per buffer in the file */

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Processor time, which does not include other processes. */
static uint64_t cpu_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * TDM_NS_PER_S + (uint64_t)now.tv_nsec;
}

struct maker {
	FILE *file;
	uint64_t next, seed;
	uint64_t live[LIVE]; /* buffer nodes */
	uint64_t sizes[LIVE];
	uint64_t buffers;
};

static void put_head(struct maker *m, const char *type, uint64_t connection)
{
	fprintf(m->file, "%s{\"arguments\":[],\"connections\":[", m->next == 0 ? "" : ",\n");
	if (connection != UINT64_MAX)
		fprintf(m->file, "%" PRIu64, connection);
	fprintf(m->file, "],\"counter\":%" PRIu64 ",\"input_tensors\":[],\"node_type\":\"%s\",\"params\":", m->next++,
		type);
}

static void put_tail(struct maker *m, int level)
{
	fprintf(m->file, ",\"stacking_level\":%d}", level);
}

static void put_function(struct maker *m, const char *name, bool starts, int level)
{
	if (starts) {
		fprintf(m->file,
			"%s{\"arguments\":[\"Tensor(storage=DeviceStorage(),shape=Shape([1, 1, 1024, 1024]))\",\"[ "
			"unsupported "
			"type , std::reference_wrapper<std::optional<tt::tt_metal::MemoryConfig "
			"const>>]\",\"nullopt\"],"
			"\"connections\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "],\"counter\":%" PRIu64
			",\"input_tensors\":[%" PRIu64
			"],\"node_type\":\"function_start\",\"params\":{\"inputs\":\"3\",\"name\":"
			"\"%s\"}",
			m->next == 0 ? "" : ",\n", m->next + 1, m->next + 2, m->next + 9, m->next, m->next + 1, name);
		m->next++;
	} else {
		put_head(m, "function_end", m->next + 1);
		fprintf(m->file, "{\"name\":\"%s\"}", name);
	}
	put_tail(m, level);
}

static void put_tensor(struct maker *m, uint64_t address, uint64_t size, int kind)
{
	put_head(m, "tensor", m->next - 1);
	fprintf(m->file,
		"{\"address\":%" PRIu64
		",\"buffer_type\":%d,\"device_id\":1,\"device_tensors\":\"[{\\\"address\\\":%" PRIu64
		",\\\"device_id\\\":0,\\\"mesh_device_id\\\":1}]\",\"dtype\":\"DataType::BFLOAT16\",\"layout\":"
		"\"Layout::TILE\",\"memory_config\":\"MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,"
		"buffer_type=BufferType::%s,shard_spec=std::nullopt,nd_shard_spec=std::nullopt,created_with_nd_shard_"
		"spec=0)"
		"\",\"shape\":\"Shape([1, 1, %" PRIu64 ", 1024])\",\"size\":%" PRIu64 ",\"tensor_id\":%" PRIu64 "}",
		address, kind, address, kind == 0 ? "DRAM" : "L1", size / 2048, size, m->next);
	put_tail(m, 2);
}

static void put_buffer(struct maker *m, const char *type, uint64_t node, uint64_t address, uint64_t size, int kind)
{
	put_head(m, type, node);
	fprintf(m->file,
		"{\"address\":%" PRIu64
		",\"buffer_type\":%d,\"device_id\":1,\"layout\":\"INTERLEAVED\",\"max_size_per_bank\":%" PRIu64
		",\"num_cores\":0,\"page_size\":2048,\"size\":%" PRIu64 ",\"type\":\"%s\"}",
		address, kind, (size / 2048 + 63) / 64 * 2048, size, kind == 0 ? "DRAM" : "L1");
	put_tail(m, 2);
}

static void put_allocation(struct maker *m, size_t slot)
{
	int kind = (int)(bench_random(&m->seed) & 1);
	uint64_t size = (1 + bench_random(&m->seed) % 512) * 2048,
		 address = 1048576 + bench_random(&m->seed) % (1 << 28);
	m->live[slot] = m->next;
	m->sizes[slot] = size | (uint64_t)kind;
	m->buffers++;
	put_head(m, "buffer", m->next + 2);
	fprintf(m->file,
		"{\"buffer_type\":%d,\"device_id\":1,\"layout\":\"INTERLEAVED\",\"size\":%" PRIu64 ",\"type\":\"%s\"}",
		kind, size, kind == 0 ? "DRAM" : "L1");
	put_tail(m, 2);
	put_buffer(m, "buffer_allocate", m->live[slot], address, size, kind);
	put_tensor(m, address, size, kind);
}

static void put_cb(struct maker *m, uint64_t address, uint64_t size)
{
	put_head(m, "circular_buffer_allocate", UINT64_MAX);
	fprintf(m->file,
		"{\"address\":%" PRIu64
		",\"core_range_set\":\"{[0-0 - 7-%d]}\",\"device_id\":0,\"globally_allocated\":\"%d\",\"size\":%" PRIu64
		"}",
		address, (int)(bench_random(&m->seed) % 16 == 0 ? 3 : 7), (int)(bench_random(&m->seed) % 8 == 0), size);
	put_tail(m, 2);
}

static void put_call(struct maker *m)
{
	static const char *const outer[] = { "ttnn.matmul", "ttnn.add", "ttnn.softmax", "ttnn.linear" };
	static const char *const inner[] = { "MatmulDeviceOperation", "BinaryNgDeviceOperation",
		"SoftmaxDeviceOperation", "LinearDeviceOperation" };
	size_t which = bench_random(&m->seed) % 4;
	uint64_t address = 105664;
	put_function(m, outer[which], true, 1);
	put_function(m, inner[which], true, 2);
	for (int i = 0; i < CALL_BUFFERS; i++) {
		size_t slot = bench_random(&m->seed) % LIVE;
		if (m->live[slot] != UINT64_MAX)
			put_buffer(m, "buffer_deallocate", m->live[slot], 0, m->sizes[slot] & ~UINT64_C(1),
				(int)(m->sizes[slot] & 1));
		put_allocation(m, slot);
	}
	put_head(m, "circular_buffer_deallocate_all", m->next - 9);
	fputs("{\"device_id\":1}", m->file);
	put_tail(m, 2);
	for (int i = 0; i < CALL_CBS; i++) {
		uint64_t size = (1 + bench_random(&m->seed) % 16) * 2048;
		put_cb(m, address, size);
		address += size;
	}
	put_function(m, inner[which], false, 2);
	put_function(m, outer[which], false, 1);
}

/* Returns the number of buffers in the file. */
static uint64_t make_capture(const char *path, uint64_t bytes, uint64_t *nodes)
{
	struct maker m = { .file = fopen(path, "w"), .seed = UINT64_C(0x9e3779b97f4a7c15) };
	if (m.file == NULL)
		die("bench: capture");
	setvbuf(m.file, NULL, _IOFBF, 1 << 20);
	memset(m.live, 0xff, sizeof m.live);
	fputs("[", m.file);
	put_head(&m, "capture_start", 1);
	fputs("null", m.file);
	put_tail(&m, 0);
	while ((uint64_t)ftello(m.file) < bytes)
		put_call(&m);
	put_head(&m, "capture_end", UINT64_MAX);
	fputs("null", m.file);
	put_tail(&m, 0);
	fputs("]\n", m.file);
	if (fclose(m.file) != 0)
		die("bench: capture");
	*nodes = m.next;
	return m.buffers;
}

static uint64_t peak_memory(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss * 1024;
}

/* The nanoseconds that each side took. */
struct times {
	uint64_t ours, bare;
};

static void feed_ours(struct tdm_capture_json *ours, const char *piece, size_t len, struct times *times)
{
	struct tdm_diag diag = { 0 };
	uint64_t from = cpu_ns();
	if (tdm_capture_json_feed(ours, piece, len, &diag) != 0) {
		fprintf(stderr, "bench: capture was not read: %s\n", diag.text);
		exit(2);
	}
	times->ours += cpu_ns() - from;
}

static void feed_bare(struct baseline_json *bare, const char *piece, size_t len, struct times *times)
{
	uint64_t from = cpu_ns();
	baseline_json_feed(bare, piece, len);
	times->bare += cpu_ns() - from;
}

static void feed_both(int fd, struct tdm_capture_json *ours, struct baseline_json *bare, struct times *times)
{
	char *piece = malloc(TDM_CAPTURE_CHUNK);
	if (piece == NULL)
		die("bench: capture");
	for (unsigned i = 0;; i++) {
		uint64_t from = cpu_ns();
		ssize_t got = read(fd, piece, TDM_CAPTURE_CHUNK);
		uint64_t ns = cpu_ns() - from;
		times->ours += ns;
		times->bare += ns;
		if (got < 0)
			die("bench: capture");
		if (got == 0)
			break;
		if (i % 2 == 0)
			feed_bare(bare, piece, (size_t)got, times);
		feed_ours(ours, piece, (size_t)got, times);
		if (i % 2 != 0)
			feed_bare(bare, piece, (size_t)got, times);
	}
	free(piece);
}

static void run_both(const char *path, uint64_t nodes, struct times *times)
{
	struct tdm_capture_summary *summary = malloc(sizeof *summary);
	struct tdm_diag diag = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (summary == NULL || fd < 0)
		die("bench: capture");
	tdm_capture_summary_init(summary);
	struct tdm_capture_json *ours =
		tdm_capture_json_new(&(struct tdm_record_sink){ summary, tdm_capture_summary_take });
	struct baseline_json *bare = baseline_json_new();
	if (ours == NULL)
		die("bench: capture");
	feed_both(fd, ours, bare, times);
	baseline_json_end(bare);
	uint64_t from = cpu_ns();
	int err = tdm_capture_json_end(ours, &diag);
	if (err == 0)
		tdm_capture_summary_end(summary);
	times->ours += cpu_ns() - from;
	const struct tdm_capture_counts *counts = tdm_capture_json_counts(ours);
	if (err != 0 || counts->nodes != nodes || counts->refused != 0 ||
		!summary->figures.known[TDM_STOCK_CORE_PEAK_TOTAL]) {
		fprintf(stderr, "bench: capture was not read: %s\n", diag.text);
		exit(2);
	}
	tdm_capture_json_free(ours);
	tdm_capture_summary_done(summary);
	free(summary);
	close(fd);
}

static uint64_t wanted_bytes(void)
{
	const char *text = getenv("TIDEMARK_BENCH_CAPTURE_MB");
	unsigned long mb = text != NULL ? strtoul(text, NULL, 10) : DEFAULT_MB;
	return (uint64_t)(mb != 0 ? mb : 1) << 20;
}

static void capture_run(struct bench *bench)
{
	static const char row[] = "capture.read", memory_row[] = "capture.memory";
	const char *folder = getenv("TMPDIR");
	char path[PATH_MAX];
	uint64_t nodes;
	if (!bench_wants(bench, row) && !bench_wants(bench, memory_row))
		return;
	snprintf(path, sizeof path, "%s/tidemark-bench-XXXXXX", folder != NULL ? folder : "/tmp");
	int fd = mkstemp(path);
	if (fd < 0)
		die("bench: temporary file");
	uint64_t buffers = make_capture(path, wanted_bytes(), &nodes), before = peak_memory();
	off_t bytes = lseek(fd, 0, SEEK_END);
	close(fd);
	struct times times = { 0 };
	run_both(path, nodes, &times);
	uint64_t after = peak_memory();
	unlink(path);
	double mb = (double)bytes / 1e6;
	if (bench_wants(bench, row))
		bench_put(bench, &(struct bench_row){ row, "MB/s", mb / ((double)times.ours / 1e9),
					 mb / ((double)times.bare / 1e9), goal_speed, true,
					 "the bare JSON parser on the same pieces" });
	if (bench_wants(bench, memory_row))
		bench_put(bench, &(struct bench_row){ memory_row, "B", (double)(after - before) / (double)buffers,
					 limit_bytes, 1, false, "limit; memory for each buffer of the file" });
}

const struct bench_subject bench_capture = {
	.name = "capture",
	.summary = "reading a graph capture and computing its peaks",
	.run = capture_run,
};
