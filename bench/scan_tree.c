#include "scan_tree.h"

#include "base/buf.h"
#include "base/file.h"
#include "bench_child.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHAPES = 11, LAMBDA = 7, OTHERS_FOR_ONE = 3 };

/* What every file of the host begins with. */
static const char head[] = "#include <tt-metalium/host_api.hpp>\n"
			   "namespace ttnn::operations::bench {\n"
			   "using namespace tt;\n"
			   "using namespace tt::tt_metal;\n";

/* One for each shape: the body of a function, with the number of the buffer. */
static const char *const shapes[SHAPES] = {
	"    desc.cbs.push_back(CBDescriptor{\n"
	"        .total_size = depth * Wt * tile_size(format),\n"
	"        .core_ranges = all_cores,\n"
	"        .format_descriptors = {{CBFormatDescriptor{\n"
	"            .buffer_index = %d, .data_format = format, .page_size = tile_size(format)}}},\n"
	"    });\n",
	"    desc.cbs.push_back(CBDescriptor{\n"
	"        .total_size = input.shard_tiles() * tile_size(format),\n"
	"        .core_ranges = all_cores,\n"
	"        .format_descriptors = {{CBFormatDescriptor{\n"
	"            .buffer_index = %d, .data_format = format, .page_size = tile_size(format)}}},\n"
	"        .buffer = input.buffer(),\n"
	"    });\n",
	"    CircularBufferConfig config_%1$d = CircularBufferConfig(depth * tile_size(format), {{%1$d, format}})\n"
	"        .set_page_size(%1$d, tile_size(format));\n"
	"    CreateCircularBuffer(program, all_cores, config_%1$d);\n",
	"    auto shared_%1$d = CircularBufferConfig(depth * tile_size(format), {{%1$d, format}})\n"
	"        .set_page_size(%1$d, tile_size(format)).set_globally_allocated_address(*input.buffer());\n"
	"    CreateCircularBuffer(program, all_cores, shared_%1$d);\n",
	"    create_circular_buffer(program, all_cores, %d, format, tile_size(format), Wt + depth);\n",
	"    spec.dataflow_buffers.push_back(DataflowBufferSpec{\n"
	"        .unique_id = \"buffer_%d\", .entry_size = tile_size(format), .num_entries = depth * Wt,\n"
	"        .data_format_metadata = format});\n",
	"    DataflowBufferSpec named_%1$d{.unique_id = \"named_%1$d\", .entry_size = tile_size(format),\n"
	"        .num_entries = 2, .data_format_metadata = format};\n"
	"    spec.dataflow_buffers.push_back(named_%1$d);\n",
	"    make_dfb(\"lambda_%d\", tile_size(format), Wt * depth);\n",
	"    add_cb(desc, all_cores, %d, tile_size(format), depth * Wt, format);\n",
	"    create_cb(%d, program, all_cores, tile_size(format), std::min(Wt, 8u), format);\n",
	"    CBDescriptor descriptor_%1$d;\n"
	"    descriptor_%1$d.total_size = (Wt + 31) / 32 * tile_size(format);\n"
	"    descriptor_%1$d.core_ranges = all_cores;\n"
	"    descriptor_%1$d.format_descriptors.push_back(\n"
	"        CBFormatDescriptor{.buffer_index = %1$d, .data_format = format, .page_size = tile_size(format)});\n"
	"    desc.cbs.push_back(descriptor_%1$d);\n",
};

/* Helpers that the shapes call; the first file of a folder has them. */
static const char helpers[] =
	"inline CBHandle create_circular_buffer(Program& program, const CoreRangeSet& cores, uint32_t index,\n"
	"    DataFormat format, uint32_t page, uint32_t pages) {\n"
	"    CircularBufferConfig config = CircularBufferConfig(pages * page, {{index, format}})\n"
	"        .set_page_size(index, page);\n"
	"    return CreateCircularBuffer(program, cores, config);\n"
	"}\n"
	"inline void add_cb(ProgramDescriptor& desc, const CoreRangeSet& cores, uint32_t index, uint32_t page,\n"
	"    uint32_t pages, DataFormat format) {\n"
	"    desc.cbs.push_back(CBDescriptor{.total_size = pages * page, .core_ranges = cores,\n"
	"        .format_descriptors = {{CBFormatDescriptor{\n"
	"            .buffer_index = index, .data_format = format, .page_size = page}}}});\n"
	"}\n"
	"inline std::tuple<uint32_t, CBHandle> create_cb(uint32_t index, Program& program, const CoreRangeSet& cores,\n"
	"    uint32_t page, uint32_t pages, DataFormat format) {\n"
	"    auto config = CircularBufferConfig(pages * page, {{index, format}}).set_page_size(index, page);\n"
	"    return {index, CreateCircularBuffer(program, cores, config)};\n"
	"}\n";

static const char lambda[] =
	"    auto make_dfb = [&](const char* name, uint32_t size, uint32_t count) {\n"
	"        spec.dataflow_buffers.push_back(DataflowBufferSpec{.unique_id = name, .entry_size = size,\n"
	"            .num_entries = count, .data_format_metadata = format});\n"
	"    };\n";

/* Code without buffers, different for each number. About a seventh is comments, as in the sources of tt-metal. */
static const char other[] =
	"// Plans the rows of every shard below the limit. Shards without rows are left out, and so are those\n"
	"// whose offset is beyond it.\n"
	"static std::vector<uint32_t> plan_%1$d(const std::vector<Shard>& shards, uint32_t limit) {\n"
	"    std::vector<uint32_t> result;  // the end of each shard\n"
	"    uint32_t total = 0;\n"
	"    for (const auto& shard : shards) {\n"
	"        if (shard.rows == 0 || shard.offset + %1$d > limit) {\n"
	"            continue;\n"
	"        }\n"
	"        total += shard.rows * shard.columns + (total %% (shard.stride + 1));\n"
	"        result.emplace_back(std::max(total, static_cast<uint32_t>(shard.id)));\n"
	"    }\n"
	"    TT_FATAL(total < limit, \"plan %1$d has {} of {} rows\", total, limit);\n"
	"    return result;\n"
	"}\n";

static void put_factory(struct tdm_buf *out, int number)
{
	tdm_buf_printf(out,
		"ProgramDescriptor create_%d(const Tensor& input, const CoreRangeSet& all_cores, uint32_t Wt) {\n"
		"    ProgramDescriptor desc;\n    Program program;\n    ProgramSpec spec;\n"
		"    constexpr uint32_t depth = 2;\n"
		"    const auto format = DataFormat::%s;\n",
		number, number % 2 == 0 ? "Float16_b" : "Float32");
	for (int i = 0; i < 6; i++) {
		int shape = (number + i) % SHAPES;
		if (shape == LAMBDA)
			tdm_buf_puts(out, lambda);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		tdm_buf_printf(out, shapes[shape], i);
#pragma GCC diagnostic pop
	}
	tdm_buf_puts(out, "    return desc;\n}\n");
}

static void fill(struct tdm_buf *out, size_t file)
{
	int number = (int)file * 100;
	tdm_buf_puts(out, head);
	if (file % SCAN_TREE_IN_FOLDER == 0)
		tdm_buf_puts(out, helpers);
	bool has_buffers = file % (OTHERS_FOR_ONE + 1) == 0;
	while (out->len < SCAN_TREE_FILE_BYTES) {
		if (has_buffers && number % 4 == 0)
			put_factory(out, number);
		tdm_buf_printf(out, other, number++);
	}
	tdm_buf_puts(out, "}  // namespace\n");
}

static char *write_file(const char *folder, size_t file, struct tdm_buf *text)
{
	char *path;
	if (asprintf(&path, "%s/%zu/file_%zu.cpp", folder, file / SCAN_TREE_IN_FOLDER, file) < 0)
		return NULL;
	tdm_buf_clear(text);
	fill(text, file);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || tdm_file_write_all(fd, text->data, text->len) != 0)
		perror("bench: a file of the tree");
	if (fd >= 0)
		close(fd);
	return path;
}

char **scan_tree_make(char *path, size_t cap)
{
	char **files = calloc(SCAN_TREE_FILES, sizeof *files);
	struct tdm_buf text;
	snprintf(path, cap, "/tmp/tidemark-bench-scan-XXXXXX");
	if (files == NULL || mkdtemp(path) == NULL) {
		perror("bench: temporary folder");
		free(files);
		return NULL;
	}
	tdm_buf_init(&text);
	for (int i = 0; i < SCAN_TREE_FOLDERS; i++) {
		char folder[128];
		snprintf(folder, sizeof folder, "%s/%d", path, i);
		if (mkdir(folder, 0700) != 0)
			perror("bench: a folder of the tree");
	}
	for (size_t i = 0; i < SCAN_TREE_FILES; i++)
		files[i] = write_file(path, i, &text);
	tdm_buf_done(&text);
	return files;
}

void scan_tree_remove(const char *path, char **files)
{
	for (size_t i = 0; i < SCAN_TREE_FILES; i++)
		free(files[i]);
	free(files);
	bench_remove_tree(path);
}
