// Nothing here creates a buffer: comments, strings, declarations, types.
// desc.cbs.push_back(CBDescriptor{.total_size = 1});
/* CircularBufferConfig(4, {{0, format}}) */
#include <buffer.hpp>

using tt::tt_metal::CBDescriptor;
class CBDescriptor;

struct Holder {
	CBDescriptor kept;
	CircularBufferConfig config;
	CircularBufferConfig make_config(uint32_t size) const;
};

const char *text = "CBDescriptor{.total_size = 2}";
const char *raw = R"(DataflowBufferSpec{.entry_size = 3})";

void take(const CBDescriptor &one, std::vector<DataflowBufferSpec> &many);
