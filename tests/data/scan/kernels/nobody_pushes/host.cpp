// The reader reserves pages and never pushes them.
#include <tt-metalium/program_descriptors.hpp>

using namespace tt::tt_metal;

ProgramDescriptor create_nobody_pushes(const CoreRangeSet &cores, tt::DataFormat format)
{
	ProgramDescriptor desc;
	desc.cbs.push_back(CBDescriptor{
		.total_size = 2 * tt::tile_size(format),
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{ .buffer_index = tt::CBIndex::c_0,
			.data_format = format,
			.page_size = tt::tile_size(format) } } },
	});
	desc.kernels.push_back(KernelDescriptor{ .kernel_source = "scan/kernels/nobody_pushes/reader.cpp",
		.core_ranges = cores,
		.compile_time_args = { 0, 2 } });
	desc.kernels.push_back(KernelDescriptor{ .kernel_source = "scan/kernels/nobody_pushes/writer.cpp",
		.core_ranges = cores,
		.compile_time_args = { 0, 2 } });
	return desc;
}
