void setup_more(ProgramDescriptor& desc, const CoreRangeSet& cores) {
    desc.cbs.push_back(CBDescriptor{.total_size = 4096, .core_ranges = cores, .format_descriptors = {{CBFormatDescriptor{.buffer_index = 7, .data_format = tt::DataFormat::Float16_b, .page_size = 2048}}}});
}
