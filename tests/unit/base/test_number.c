/* Arithmetic: a division by multiplication gives what a division gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/str.h"
#include "base/number.h"

enum { RANDOM = 4000000 };

static void expect_quotient(uint64_t number, uint32_t divisor)
{
	uint64_t quotient = number / divisor + (number % divisor != 0);
	if (tdm_divide_up(number, divisor, tdm_reciprocal(divisor)) != quotient)
		fail_msg("%llu / %u", (unsigned long long)number, divisor);
}

static void division_is_exact_at_the_edges(void **state)
{
	static const uint32_t divisors[] = { 1, 2, 3, 7, 8, 12, 56, 63, 64, 65, 110, 120, 130, 140, 255, 511, 512, 641,
		65535, 65536, 65537, 6700417, INT32_MAX, 1u << 31, (1u << 31) + 1, UINT32_MAX - 1, UINT32_MAX };
	(void)state;
	for (size_t i = 0; i < sizeof divisors / sizeof *divisors; i++) {
		uint32_t d = divisors[i];
		for (unsigned bit = 0; bit < 64; bit++)
			for (int64_t off = -2; off <= 2; off++) {
				uint64_t number = (UINT64_C(1) << bit) + (uint64_t)off;
				expect_quotient(number, d);
				expect_quotient(number / d * d, d);
				expect_quotient(number / d * d + (uint64_t)off, d);
			}
		expect_quotient(0, d);
		expect_quotient(UINT64_MAX, d);
		expect_quotient(UINT64_MAX / d * d, d);
		expect_quotient(UINT64_MAX / d * d - 1, d);
	}
}

static void division_is_exact_at_random(void **state)
{
	uint64_t seed = 1;
	(void)state;
	for (unsigned i = 0; i < RANDOM; i++) {
		uint64_t number = tdm_hash_u64(seed++), which = tdm_hash_u64(seed++);
		uint32_t d = (uint32_t)(which >> 32) >> which % 32;
		number >>= (which >> 8) % 64;
		expect_quotient(number, d != 0 ? d : 1);
		expect_quotient(number - number % (d != 0 ? d : 1), d != 0 ? d : 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(division_is_exact_at_the_edges),
		cmocka_unit_test(division_is_exact_at_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
