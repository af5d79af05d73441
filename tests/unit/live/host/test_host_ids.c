/* What the driver's files say about a chip: its identity and the table of values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "live/host/host.h"

static struct tdm_host_card card_of(enum tdm_host_arch arch, const char *type, uint64_t serial, uint64_t asic)
{
	struct tdm_host_card card = { .number = 3, .arch = (uint8_t)arch };
	snprintf(card.values[TDM_HOST_CARD_TYPE].text, TDM_HOST_TEXT_CAP, "%s", type);
	card.values[TDM_HOST_CARD_TYPE].state = TDM_HOST_KNOWN;
	card.values[TDM_HOST_SERIAL].state = serial != 0 ? TDM_HOST_KNOWN : TDM_HOST_ABSENT;
	card.values[TDM_HOST_SERIAL].id = serial;
	card.values[TDM_HOST_ASIC_ID].state = asic != 0 ? TDM_HOST_KNOWN : TDM_HOST_ABSENT;
	card.values[TDM_HOST_ASIC_ID].id = asic;
	return card;
}

/* Whether the card's chip is the one with that id. */
static bool has_id(const struct tdm_host_card *card, uint64_t id)
{
	uint64_t ids[TDM_HOST_CHIP_IDS_MAX];
	bool is_first_own, is_there = false;
	size_t count = tdm_host_chip_ids(card, ids, &is_first_own);
	assert_true(count <= TDM_HOST_CHIP_IDS_MAX);
	assert_true(!is_first_own || ids[0] == card->values[TDM_HOST_ASIC_ID].id);
	for (size_t i = 0; i < count; i++)
		is_there |= ids[i] == id;
	return is_there;
}

static void test_chip_ids(void **state)
{
	(void)state;
	/* The ids of a machine with eight p150: board << 5 | location. */
	struct tdm_host_card p150 = card_of(TDM_HOST_BLACKHOLE, "p150a", UINT64_C(0x4123191f1ef), 0xABCDEF);
	assert_true(has_id(&p150, UINT64_C(143238002261472)));
	assert_true(has_id(&p150, UINT64_C(143238002261472) + 31));
	assert_false(has_id(&p150, UINT64_C(143238002261472) + 32));
	assert_true(has_id(&p150, 0xABCDEF));
	assert_false(has_id(&p150, 3));
	assert_false(has_id(&p150, 0));
	struct tdm_host_card p300 = card_of(TDM_HOST_BLACKHOLE, "p300c", UINT64_C(0x4123191f1ef), 0xABCDEF);
	assert_false(has_id(&p300, UINT64_C(143238002261473)));
	assert_true(has_id(&p300, 0xABCDEF));
	struct tdm_host_card galaxy = card_of(TDM_HOST_BLACKHOLE, "galaxy-blackhole", UINT64_C(0x4123191f1ef), 77);
	assert_false(has_id(&galaxy, UINT64_C(143238002261472)));
	assert_true(has_id(&galaxy, 77));
	struct tdm_host_card n150 = card_of(TDM_HOST_WORMHOLE, "n150", UINT64_C(0x100018611902010), 0xABCDEF);
	assert_true(has_id(&n150, UINT64_C(0x100018611902010)));
	assert_false(has_id(&n150, 0xABCDEF));
	struct tdm_host_card n300 = card_of(TDM_HOST_WORMHOLE, "n300", UINT64_C(0x100014361916091), 0);
	assert_false(has_id(&n300, UINT64_C(0x100014361916091)));
	assert_false(has_id(&n300, UINT64_C(10226851985))); /* connected: not to be known from here */
	struct tdm_host_card bare = card_of(TDM_HOST_BLACKHOLE, "p150a", 0, 0);
	assert_false(has_id(&bare, 3));
	assert_false(has_id(&bare, 0));
	struct tdm_host_card unknown = card_of(TDM_HOST_ARCH_UNKNOWN, "unknown", 5, 6);
	assert_false(has_id(&unknown, 5));
	assert_false(has_id(&unknown, 3));
	/* A serial number that does not leave room for a location. */
	struct tdm_host_card wide = card_of(TDM_HOST_BLACKHOLE, "p150a", UINT64_C(1) << 60, 0);
	assert_false(has_id(&wide, 0));
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < TDM_HOST_VALUE_COUNT; i++) {
		const struct tdm_host_attribute *a = &tdm_host_attributes[i];
		assert_true(a->file[0] != '\0' && a->summary[0] != '\0');
		for (size_t k = 0; k < i; k++)
			assert_true(a->place != tdm_host_attributes[k].place ||
				    strcmp(a->file, tdm_host_attributes[k].file) != 0);
		if (a->form != TDM_HOST_NUMBER)
			assert_string_equal(a->unit, "");
	}
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chip_ids),
		cmocka_unit_test(test_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
