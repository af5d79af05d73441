#pragma once

inline void push_pages(uint32_t cb, uint32_t pages)
{
	cb_reserve_back(cb, pages);
	cb_push_back(cb, pages);
}

// It calls itself, which must not be followed for ever.
inline void again(uint32_t cb)
{
	cb_push_back(cb, 1);
	again(cb);
}
