// Branches of the kernel depend on what the host gives it.
#include <tt-metalium/program_descriptors.hpp>

using namespace tt::tt_metal;

ProgramDescriptor create_conditions(const CoreRangeSet &cores, tt::DataFormat format, bool has_mask)
{
	ProgramDescriptor desc;
	for (uint32_t index : { 0, 1, 2, 3, 4, 5, 6 })
		desc.cbs.push_back(CBDescriptor{
			.total_size = 4 * tt::tile_size(format),
			.core_ranges = cores,
			.format_descriptors = { { CBFormatDescriptor{ .buffer_index = index,
				.data_format = format,
				.page_size = tt::tile_size(format) } } },
		});
	desc.kernels.push_back(KernelDescriptor{ .kernel_source = "scan/kernels/conditions/kernel.cpp",
		.core_ranges = cores,
		.compile_time_args = { 0, 1, static_cast<uint32_t>(has_mask) },
		.defines = has_mask ? Defines{ { "WITH_MASK", "1" } } : Defines{} });
	return desc;
}
