// Nothing here can be judged: each program has something that is not understood.
#include <tt-metalium/program_descriptors.hpp>

using namespace tt::tt_metal;

ProgramDescriptor create_with_unknown_call(const CoreRangeSet &cores)
{
	ProgramDescriptor desc;
	desc.cbs.push_back(CBDescriptor{
		.total_size = 2 * 2048,
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{
			.buffer_index = 0, .data_format = tt::DataFormat::Float16_b, .page_size = 2048 } } },
	});
	desc.kernels.push_back(
		KernelDescriptor{ .kernel_source = "scan/kernels/unresolved/unknown_call.cpp", .core_ranges = cores });
	return desc;
}

ProgramDescriptor create_with_missing_source(const CoreRangeSet &cores)
{
	ProgramDescriptor desc;
	desc.kernels.push_back(
		KernelDescriptor{ .kernel_source = "scan/kernels/unresolved/no_such_file.cpp", .core_ranges = cores });
	return desc;
}

ProgramDescriptor create_with_given_source(const CoreRangeSet &cores, const std::string &path)
{
	ProgramDescriptor desc;
	desc.cbs.push_back(CBDescriptor{
		.total_size = 2 * 2048,
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{
			.buffer_index = 0, .data_format = tt::DataFormat::Float16_b, .page_size = 2048 } } },
	});
	desc.kernels.push_back(KernelDescriptor{ .kernel_source = path, .core_ranges = cores });
	return desc;
}

ProgramDescriptor create_with_runtime_index(const CoreRangeSet &cores)
{
	ProgramDescriptor desc;
	desc.cbs.push_back(CBDescriptor{
		.total_size = 2 * 2048,
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{
			.buffer_index = 0, .data_format = tt::DataFormat::Float16_b, .page_size = 2048 } } },
	});
	desc.kernels.push_back(
		KernelDescriptor{ .kernel_source = "scan/kernels/unresolved/runtime_index.cpp", .core_ranges = cores });
	return desc;
}
