#pragma once

#include "steps.hpp"

enum Buffers : uint32_t { FIRST = 2, SECOND, THIRD };

template <uint32_t from, uint32_t count = 2> FORCE_INLINE void drain()
{
	cb_wait_front(from, count);
	cb_pop_front(from, count);
}

ALWI void fill(CircularBuffer to, uint32_t pages)
{
	push_pages(to.get_id(), pages);
}
