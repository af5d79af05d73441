// A function of another file creates a buffer, too, and is not followed: nothing is certain about other buffers.
ProgramDescriptor create(const CoreRangeSet& cores) {
    ProgramDescriptor desc;
    desc.cbs.push_back(CBDescriptor{.total_size = 4096, .core_ranges = cores, .format_descriptors = {{CBFormatDescriptor{.buffer_index = 0, .data_format = tt::DataFormat::Float16_b, .page_size = 2048}}}});
    setup_more(desc, cores);
    desc.kernels.push_back(KernelDescriptor{.kernel_source = "scan/kernels/beside/kernel.cpp", .core_ranges = cores});
    return desc;
}
