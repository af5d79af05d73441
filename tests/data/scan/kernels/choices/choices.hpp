#pragma once

inline void move(CircularBuffer from, CircularBuffer to)
{
	from.wait_front(7);
	to.push_back(7);
}
