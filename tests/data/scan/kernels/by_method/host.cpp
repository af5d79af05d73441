// Buffers and kernels as descriptors; the kernels use objects with methods.
#include <tt-metalium/program_descriptors.hpp>

using namespace tt::tt_metal;

ProgramDescriptor create_by_method(const CoreRangeSet &cores, uint32_t tiles)
{
	ProgramDescriptor desc;
	desc.cbs.push_back(CBDescriptor{
		.total_size = 2 * 2048,
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{ .buffer_index = tt::CBIndex::c_1,
			.data_format = tt::DataFormat::Float16_b,
			.page_size = 2048 } } },
	});
	KernelDescriptor reader;
	reader.kernel_source = "scan/kernels/by_method/reader.cpp";
	reader.core_ranges = cores;
	reader.compile_time_args = { tiles };
	reader.named_compile_time_args = { { "cb_in", 1 } };
	desc.kernels.push_back(reader);
	KernelDescriptor writer;
	writer.kernel_source = "scan/kernels/by_method/writer.cpp";
	writer.core_ranges = cores;
	writer.compile_time_args = { tiles, 1 };
	desc.kernels.push_back(writer);
	return desc;
}
