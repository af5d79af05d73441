// Both files have constants with these names, and different values; neither sees those of the other.
#include "shared.hpp"
#define PAGE_a 1024
constexpr uint32_t depth = 2;
enum Index { kFirst = 2, kSecond };
void create_a(Program& program)
{
	CreateCircularBuffer(program, cores,
		CircularBufferConfig(depth * shared_bytes, {{kSecond, tt::DataFormat::Float16_b}}).set_page_size(kSecond, PAGE_a));
}
