// Two namespaces of one file have constants with the same name.
namespace prepare {
constexpr uint32_t k = tt::CBIndex::c_1;
constexpr uint32_t v = tt::CBIndex::c_2;
}
namespace finish {
constexpr uint32_t k = tt::CBIndex::c_7;
constexpr uint32_t v = tt::CBIndex::c_2;
}

void create(Program &program)
{
	CreateCircularBuffer(program, cores,
		CircularBufferConfig(64, { { prepare::k, tt::DataFormat::UInt8 } }).set_page_size(prepare::k, 64));
	CreateCircularBuffer(program, cores,
		CircularBufferConfig(64, { { finish::v, tt::DataFormat::UInt8 } }).set_page_size(finish::v, 64));
}
