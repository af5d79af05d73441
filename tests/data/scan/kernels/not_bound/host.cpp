// The kernel uses a name that the host binds to nothing.
#include <tt-metalium/experimental/metal2_host_api/program_spec.hpp>

using namespace tt::tt_metal::experimental;

ProgramSpec create_not_bound(uint32_t tiles)
{
	ProgramSpec spec;
	spec.dataflow_buffers.push_back(DataflowBufferSpec{ .unique_id = DFBSpecName{ "tiles" },
		.entry_size = 2048,
		.num_entries = tiles,
		.data_format_metadata = tt::DataFormat::Float16_b });
	spec.kernels.push_back(KernelSpec{
		.unique_id = KernelSpecName{ "reader" },
		.source = "scan/kernels/not_bound/kernel.cpp",
		.dfb_bindings = { DFBBinding{ .dfb_spec_name = DFBSpecName{ "tiles" },
			.accessor_name = "in",
			.endpoint_type = DFBEndpointType::PRODUCER } },
	});
	return spec;
}
