// Kernels that call functions of their own file and of a header, with templates, lambdas and constants.
#include <tt-metalium/program_descriptors.hpp>

using namespace tt::tt_metal;

ProgramDescriptor create_with_helpers(const CoreRangeSet &cores, bool is_wide)
{
	ProgramDescriptor desc;
	for (uint32_t index : { 2, 3, 4 }) {
		desc.cbs.push_back(CBDescriptor{
			.total_size = 4 * 2048,
			.core_ranges = cores,
			.format_descriptors = { { CBFormatDescriptor{ .buffer_index = index,
				.data_format = tt::DataFormat::Float16_b,
				.page_size = 2048 } } },
		});
	}
	desc.kernels.push_back(KernelDescriptor{
		.kernel_source = "scan/kernels/helpers/kernel.cpp", .core_ranges = cores, .compile_time_args = { 2 } });
	return desc;
}
