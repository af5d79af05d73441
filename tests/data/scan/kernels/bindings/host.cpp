// Bindings without the names of their fields, and those that depend on a condition.
#include <tt-metalium/experimental/metal2_host_api/program_spec.hpp>

using namespace tt::tt_metal::experimental;

ProgramSpec create_bindings(uint32_t tiles, bool has_bias)
{
	const DFBSpecName IN{ "in_tiles" }, OUT{ "out_tiles" }, BIAS{ "bias_tiles" };
	ProgramSpec spec;
	std::vector<DFBBinding> bindings = {
		DFBBinding{ IN, "in", DFBEndpointType::CONSUMER },
		DFBBinding{ OUT, "out", DFBEndpointType::PRODUCER },
	};
	if (has_bias) {
		bindings.push_back(DFBBinding{
			.dfb_spec_name = BIAS, .accessor_name = "bias", .endpoint_type = DFBEndpointType::CONSUMER });
	}
	spec.kernels.push_back(KernelSpec{
		.unique_id = KernelSpecName{ "compute" },
		.source = "scan/kernels/bindings/kernel.cpp",
		.dfb_bindings = bindings,
		.compile_time_args = { { "block", 4 } },
	});
	return spec;
}
