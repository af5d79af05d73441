// The first of two versions, for comparisons.
ProgramDescriptor Norm::create_descriptor(const Tensor& input, uint32_t Wt) {
    ProgramDescriptor desc;
    const auto format = tt::DataFormat::Float16_b;
    const uint32_t page = tt::tile_size(format);
    auto add = [&](uint32_t index, uint32_t pages) {
        desc.cbs.push_back(CBDescriptor{
            .total_size = pages * page,
            .core_ranges = all_cores,
            .format_descriptors = {{CBFormatDescriptor{
                .buffer_index = index, .data_format = format, .page_size = page}}},
        });
    };
    add(0, 2);
    add(1, 2 * Wt);
    add(2, 4);
    add(16, 2);
    return desc;
}

ProgramDescriptor Gone::create_descriptor() {
    ProgramDescriptor desc;
    desc.cbs.push_back(CBDescriptor{
        .total_size = 2048,
        .format_descriptors = {{CBFormatDescriptor{
            .buffer_index = 0, .data_format = tt::DataFormat::UInt32, .page_size = 1024}}},
    });
    return desc;
}
