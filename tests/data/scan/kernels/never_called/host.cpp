// A branch of the kernel is switched off, and with it a function that nothing else calls.
#include <tt-metalium/program_descriptors.hpp>

using namespace tt::tt_metal;

ProgramDescriptor create_never_called(const CoreRangeSet &cores, tt::DataFormat format)
{
	ProgramDescriptor desc;
	for (uint32_t index : { 0, 1 })
		desc.cbs.push_back(CBDescriptor{
			.total_size = 2 * tt::tile_size(format),
			.core_ranges = cores,
			.format_descriptors = { { CBFormatDescriptor{ .buffer_index = index,
				.data_format = format,
				.page_size = tt::tile_size(format) } } },
		});
	desc.kernels.push_back(KernelDescriptor{ .kernel_source = "scan/kernels/never_called/kernel.cpp",
		.core_ranges = cores,
		.compile_time_args = { 0, false } });
	return desc;
}
