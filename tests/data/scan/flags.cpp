// A parameter that only decides whether an index is used makes no helper of the function.
static ProgramDescriptor pool_impl(const Tensor &input, uint32_t page_bytes, bool is_split)
{
	ProgramDescriptor desc;
	auto add_cb = [&](uint32_t index, uint32_t pages) {
		desc.cbs.push_back(CBDescriptor{
			.total_size = pages * page_bytes,
			.core_ranges = all_cores,
			.format_descriptors = { { CBFormatDescriptor{ .buffer_index = static_cast<uint8_t>(index),
				.data_format = tt::DataFormat::Float16_b,
				.page_size = page_bytes } } },
		});
	};
	uint32_t next_index = 0;
	add_cb(next_index++, 1);
	if (is_split) {
		add_cb(next_index++, 2);
	}
	add_cb(next_index++, 3);
	return desc;
}

ProgramDescriptor create(const Params &params)
{
	return pool_impl(params.input, params.page_bytes, params.is_split);
}

// A helper with more than 32 parameters is followed.
void many(Program &program, uint32_t base, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int a8, int a9,
	int a10, int a11, int a12, int a13, int a14, int a15, int a16, int a17, int a18, int a19, int a20, int a21,
	int a22, int a23, int a24, int a25, int a26, int a27, int a28, int a29, int a30, int a31, int a32,
	uint32_t page_bytes)
{
	uint32_t index = base + 2;
	CircularBufferConfig config =
		CircularBufferConfig(2 * page_bytes, { { index, tt::DataFormat::UInt16 } }).set_page_size(index, page_bytes);
	CreateCircularBuffer(program, cores, config);
}

void caller(Program &program)
{
	many(program, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
		27, 28, 29, 30, 31, 32, 96);
}

// Nothing in this one shows that it creates something, so that nobody follows it: it has the entry itself.
void outer(Program &program, uint32_t base)
{
	many(program, base, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
		26, 27, 28, 29, 30, 31, 32, 64);
}
