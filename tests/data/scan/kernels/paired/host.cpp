// The same condition decides the source of a kernel and its arguments.
#include <tt-metalium/program_descriptors.hpp>

using namespace tt::tt_metal;

ProgramDescriptor create_paired(const CoreRangeSet &cores, tt::DataFormat format, bool is_tiled, bool is_wide)
{
	ProgramDescriptor desc;
	for (uint32_t index : { 0, 1, 2, 3, 4, 5 })
		desc.cbs.push_back(CBDescriptor{
			.total_size = 4 * tt::tile_size(format),
			.core_ranges = cores,
			.format_descriptors = { { CBFormatDescriptor{ .buffer_index = index,
				.data_format = format,
				.page_size = tt::tile_size(format) } } },
		});
	KernelDescriptor reader;
	reader.core_ranges = cores;
	if (is_tiled) {
		reader.kernel_source = "scan/kernels/paired/tiles.cpp";
		reader.compile_time_args = { 0, cores.num_cores() };
	} else {
		reader.kernel_source = "scan/kernels/paired/rows.cpp";
		reader.compile_time_args = { 1, 2, 4 };
	}
	desc.kernels.push_back(reader);
	desc.kernels.push_back(KernelDescriptor{
		.kernel_source = is_wide ? "scan/kernels/paired/tiles.cpp" : "scan/kernels/paired/rows.cpp",
		.core_ranges = cores,
		.compile_time_args = { 3, is_wide ? 7 : 4, 1 } });
	desc.kernels.push_back(KernelDescriptor{
		.kernel_source = is_tiled ? "scan/kernels/paired/tiles.cpp" : "scan/kernels/paired/rows.cpp",
		.core_ranges = cores,
		.compile_time_args = { is_wide ? 4 : 5, 3, 1 } });
	return desc;
}

// Each of three sources, with its arguments.
ProgramSpec create_chained(bool is_blocked, bool is_backed)
{
	ProgramSpec spec;
	spec.dataflow_buffers = { DataflowBufferSpec{
		.unique_id = DFBSpecName{ "in" }, .entry_size = 2048, .num_entries = 8 } };
	KernelSpec reader;
	reader.unique_id = KernelSpecName{ "reader" };
	if (is_blocked) {
		reader.source = "scan/kernels/paired/blocks.cpp";
		reader.compile_time_args = { { "pages", 8 } };
	} else if (is_backed) {
		reader.source = "scan/kernels/paired/backed.cpp";
		reader.compile_time_args = { { "pages", 6 } };
	} else {
		reader.source = "scan/kernels/paired/plain.cpp";
		reader.compile_time_args = { { "pages", is_backed ? 5 : 7 } };
	}
	KernelSpec late;
	if (is_backed) {
		late.unique_id = KernelSpecName{ "late" };
		late.source = "scan/kernels/paired/blocks.cpp";
		late.compile_time_args = { { "pages", is_backed ? 3 : 9 } };
	}
	Group<KernelSpec> kernels = { reader, late };
	spec.kernels = std::move(kernels);
	return spec;
}
