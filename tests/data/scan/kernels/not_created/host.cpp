// The writer waits on an index that the host does not create, and the reader pushes it.
#include <tt-metalium/program_descriptors.hpp>

using namespace tt::tt_metal;

ProgramDescriptor create_not_created(const CoreRangeSet &cores, tt::DataFormat format)
{
	ProgramDescriptor desc;
	desc.cbs.push_back(CBDescriptor{
		.total_size = 2 * tt::tile_size(format),
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{ .buffer_index = tt::CBIndex::c_0,
			.data_format = format,
			.page_size = tt::tile_size(format) } } },
	});
	desc.kernels.push_back(KernelDescriptor{ .kernel_source = "scan/kernels/not_created/reader.cpp",
		.core_ranges = cores,
		.compile_time_args = { 0, 2 } });
	desc.kernels.push_back(KernelDescriptor{ .kernel_source = "scan/kernels/not_created/writer.cpp",
		.core_ranges = cores,
		.compile_time_args = { 0, 2 } });
	return desc;
}
