// Dataflow buffers are bound to names that the kernels use.
#include <tt-metalium/experimental/metal2_host_api/program_spec.hpp>

using namespace tt::tt_metal::experimental;

ProgramSpec create_by_dfb(uint32_t tiles)
{
	const DFBSpecName INPUT{ "input_buffer" };
	ProgramSpec spec;
	spec.dataflow_buffers.push_back(DataflowBufferSpec{ .unique_id = INPUT,
		.entry_size = 2048,
		.num_entries = 3,
		.data_format_metadata = tt::DataFormat::Float16_b });
	KernelSpec reader{
		.unique_id = KernelSpecName{ "reader" },
		.source = "scan/kernels/by_dfb/reader.cpp",
		.dfb_bindings = { DFBBinding{
			.dfb_spec_name = INPUT, .accessor_name = "in", .endpoint_type = DFBEndpointType::PRODUCER } },
		.compile_time_args = { { "pages", 3 } },
	};
	KernelSpec writer{
		.unique_id = KernelSpecName{ "writer" },
		.source = "scan/kernels/by_dfb/writer.cpp",
		.dfb_bindings = { DFBBinding{
			.dfb_spec_name = INPUT, .accessor_name = "out", .endpoint_type = DFBEndpointType::CONSUMER } },
	};
	spec.kernels = { std::move(reader), std::move(writer) };
	return spec;
}
