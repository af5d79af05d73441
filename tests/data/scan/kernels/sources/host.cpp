// Paths of kernels that are put together, and kernels that may not be there.
#include <tt-metalium/program_descriptors.hpp>

using namespace tt::tt_metal;

ProgramDescriptor create_sources(const CoreRangeSet &cores, tt::DataFormat format, bool wide, bool has_writer)
{
	const std::filesystem::path folder("scan/kernels/sources");
	const std::string compute("scan/kernels/sources/compute.cpp");
	ProgramDescriptor desc;
	desc.cbs.push_back(CBDescriptor{
		.total_size = 2 * tt::tile_size(format),
		.core_ranges = cores,
		.format_descriptors = { { CBFormatDescriptor{
			.buffer_index = 0, .data_format = format, .page_size = tt::tile_size(format) } } },
	});
	KernelDescriptor reader;
	reader.kernel_source = folder / "reader.cpp";
	KernelDescriptor calculator;
	calculator.kernel_source = compute;
	KernelDescriptor either;
	either.kernel_source = std::string("scan/kernels/sources/writer") + (wide ? "_wide" : "") + ".cpp";
	desc.kernels = { reader, calculator, either };
	std::optional<KernelDescriptor> last;
	if (has_writer) {
		last = KernelDescriptor{ .kernel_source = "scan/kernels/sources/writer.cpp", .core_ranges = cores };
	}
	if (last.has_value()) {
		desc.kernels.push_back(*last);
	}
	return desc;
}
