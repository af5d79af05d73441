/*
 * Compares the cores of L1 banks with the C++ library itself: the runtime uses std::shuffle, so every size of grid must
 * give the same order. Libraries other than libstdc++ shuffle differently, and so would a runtime built with them.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

/* The header is C: there a function may have the name of a struct. */
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "model/card/bank.h"
}

#ifdef __GLIBCXX__
static bool agrees(uint32_t x, uint32_t y)
{
	std::vector<uint32_t> banks;
	for (uint32_t id = 0; id < x * y; id++)
		banks.push_back(id);
	auto engine = std::default_random_engine(0);
	std::shuffle(banks.begin(), banks.end(), engine);

	std::vector<tdm_core> cores(banks.size());
	if (tdm_bank_cores(x, y, cores.data(), x * y) != 0)
		return false;
	for (uint32_t i = 0; i < x * y; i++)
		if (cores[banks[i]].x != i % x || cores[banks[i]].y != i / x)
			return false;
	return true;
}

int main()
{
	int wrong = 0;
	for (uint32_t x = 1; x <= 40; x++)
		for (uint32_t y = 1; y <= 40; y++)
			if (!agrees(x, y)) {
				std::printf("%ux%u differs\n", x, y);
				wrong++;
			}
	if (!agrees(TDM_BANK_CORES_MAX, 1) || !agrees(46339, 1)) {
		std::printf("the largest grids differ\n");
		wrong++;
	}
	return wrong == 0 ? 0 : 1;
}
#else
int main()
{
	return 0;
}
#endif
