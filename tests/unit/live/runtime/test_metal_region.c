/* Reading a region of tt-metal's shared memory: every version, every length, every bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"
#include "live/runtime/metal_shm.h"

#include "metal_bytes.h"
#include "metal_refused.h"

#include <limits.h>

#define GOLDEN_ID 4242

static void load(struct metal_bytes *m, const char *name)
{
	char path[PATH_MAX];
	struct tdm_buf buf = { 0 };
	snprintf(path, sizeof path, "%s/shm/%s", TDM_TEST_DATA, name);
	assert_int_equal(tdm_file_read(path, sizeof m->data, &buf), 0);
	assert_int_equal(buf.len, TDM_METAL_SIZE);
	memset(m->data, 0, sizeof m->data);
	memcpy(m->data, buf.data, buf.len);
	m->layout = &metal_common;
	tdm_buf_done(&buf);
}

/* A copy of exactly this length, so that a sanitizer sees a read behind its end. */
static void decode_len(const struct metal_bytes *m, size_t len, struct tdm_metal_region *region)
{
	uint8_t *copy = malloc(len != 0 ? len : 1);
	assert_non_null(copy);
	memcpy(copy, m->data, len);
	metal_region_init(region);
	tdm_metal_decode(copy, len, region);
	free(copy);
	if (!metal_region_is_valid(region))
		fail_msg("invalid region of %zu bytes: %s", len, region->text);
}

static void decode(const struct metal_bytes *m, struct tdm_metal_region *region)
{
	decode_len(m, m->layout->size, region);
}

static void assert_bytes(const struct tdm_metal_bytes *bytes, const uint64_t *expected, size_t count)
{
	static const uint8_t order[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_L1_SMALL, TDM_KIND_TRACE, TDM_KIND_CB,
		TDM_KIND_KERNEL };
	uint32_t seen = 0;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(bytes->of[order[i]], expected[i]);
		seen |= UINT32_C(1) << order[i];
	}
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		if ((seen >> k & 1) == 0)
			assert_true(bytes->of[k] == TDM_BYTES_UNKNOWN);
}
#define ASSERT_BYTES(bytes, ...) \
	assert_bytes((bytes), (const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void assert_golden(const struct tdm_metal_region *r, uint32_t version, int first_pid, const char *hint)
{
	assert_int_equal(r->status, TDM_METAL_OK);
	assert_int_equal(r->doubts, 0);
	assert_int_equal(r->version, version);
	assert_int_equal(r->asic_id, GOLDEN_ID);
	assert_int_equal(r->id_type, TDM_METAL_ID_CHIP);
	assert_int_equal(r->device, 0);
	assert_int_equal(r->attached, 2);
	assert_int_equal(r->processes, 2);
	assert_int_equal(r->free_slot_count, TDM_METAL_SLOTS_MAX - 2);
	ASSERT_BYTES(&r->total, 4048576, 65536, 2048, 4096, 78277);
	ASSERT_BYTES(&r->undecided, 4048576, 65536, 2048, 4096, 78277);
	ASSERT_BYTES(&r->live, 0, 0, 0, 0, 0);
	ASSERT_BYTES(&r->stale, 0, 0, 0, 0, 0);
	ASSERT_BYTES(&r->unattributed, 0, 0, 0, 0, 0);
	ASSERT_BYTES(&r->excess, 0, 0, 0, 0, 0);
	assert_int_equal(r->chip_count, 2);
	assert_int_equal(r->chips[0].chip, 0);
	assert_false(r->chips[0].is_remote);
	ASSERT_BYTES(&r->chips[0].bytes, 1048576, 65536, 2048, 0, 78277);
	assert_int_equal(r->chips[1].chip, 1);
	assert_true(r->chips[1].is_remote);
	ASSERT_BYTES(&r->chips[1].bytes, 3000000, 0, 0, 4096, 0);
	assert_int_equal(r->slot_count, 2);
	assert_int_equal(r->slots[0].pid, first_pid);
	assert_int_equal(r->slots[0].idx, 0);
	assert_string_equal(r->slots[0].hint, hint);
	ASSERT_BYTES(&r->slots[0].bytes, 1048576, 65536, 2048, 4096, 77777);
	assert_int_equal(r->slots[1].pid, first_pid + 2);
	ASSERT_BYTES(&r->slots[1].bytes, 3000000, 0, 0, 0, 500);
}

static void test_golden(void **state)
{
	(void)state;
	struct metal_bytes m;
	struct tdm_metal_region r;
	load(&m, "v3_two_writers.bin");
	decode(&m, &r);
	assert_golden(&r, 3, 28558, "shm_writer");
	assert_true(r.updated_ns == UINT64_C(1794728453797649961));
	assert_true(r.slots[1].updated_ns == UINT64_C(1794728453797650040));
	load(&m, "v4_two_writers.bin");
	decode(&m, &r);
	assert_golden(&r, 4, 28568, "shm_writer_v4");
	load(&m, "v3_one_writer.bin");
	decode(&m, &r);
	assert_int_equal(r.status, TDM_METAL_OK);
	assert_int_equal(r.doubts, 0);
	assert_true(r.asic_id == METAL_ASIC && r.updated_ns == METAL_TIME);
	ASSERT_BYTES(&r.total, UINT64_C(1) << 30, 24 << 20, 0, 0, 786432);
	assert_int_equal(r.slots[0].pid, 4242);
	assert_string_equal(r.slots[0].hint, "python3");
}

static void test_every_version(void **state)
{
	(void)state;
	struct metal_bytes m;
	struct tdm_metal_region r;
	for (uint32_t version = 1; version <= TDM_METAL_VERSION_MAX; version++) {
		metal_sample(&m, version, &metal_common);
		decode(&m, &r);
		assert_int_equal(r.status, TDM_METAL_OK);
		assert_int_equal(r.version, version);
		assert_int_equal(r.doubts, 0);
		ASSERT_BYTES(&r.total, 1000, 1001, 1002, 1003, 1004);
		ASSERT_BYTES(&r.slots[0].bytes, 1000, 1001, 1002, 1003, 1004);
		assert_int_equal(r.chip_count, 1);
		ASSERT_BYTES(&r.chips[0].bytes, 1000, 1001, 1002, 1003, 1004);
		assert_int_equal(r.id_type, version == 1 ? TDM_METAL_ID_BOARD : TDM_METAL_ID_CHIP);
	}
	metal_sample(&m, 1, &metal_first);
	decode(&m, &r);
	assert_int_equal(r.status, TDM_METAL_OK);
	assert_int_equal(r.doubts, 0);
	ASSERT_BYTES(&r.total, 1000, 1001, 1002, 1003, 1004, 1005);
	ASSERT_BYTES(&r.slots[0].bytes, 1000, 1001, 1002, 1003, 1004, 1005);
	ASSERT_BYTES(&r.unattributed, 0, 0, 0, 0, 0, 0);
	ASSERT_BYTES(&r.undecided, 1000, 1001, 1002, 1003, 1004, 1005);
	assert_string_equal(r.slots[0].hint, "python3");
	assert_true(r.slots[0].updated_ns == METAL_TIME);
	/* A first version without bytes has no chip that could be told from an unused slot. */
	metal_init(&m, 1, &metal_first);
	decode(&m, &r);
	assert_int_equal(r.chip_count, 0);
	assert_int_equal(r.doubts, 0);
}

static void test_unknown_version(void **state)
{
	(void)state;
	static const uint32_t versions[] = { 0, 5, 7, 256, 0x03000000, UINT32_MAX };
	struct metal_bytes m;
	struct tdm_metal_region r;
	char text[80];
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
		metal_sample(&m, versions[i], &metal_common);
		static const size_t lengths[] = { 64, 8575, 8576, 9280 }; /* another version may have another length */
		for (size_t k = 0; k < 4; k++) {
			decode_len(&m, lengths[k], &r);
			snprintf(text, sizeof text, "version %u is not known (1 to 4 are)", versions[i]);
			assert_refused(&r, TDM_METAL_VERSION, text);
			assert_true(r.has_version);
			assert_int_equal(r.version, versions[i]);
		}
	}
}

static void test_not_ready(void **state)
{
	(void)state;
	struct metal_bytes m;
	struct tdm_metal_region r;
	metal_sample(&m, 4, &metal_common);
	metal_u32(&m, 8536, 0);
	decode(&m, &r);
	assert_refused(&r, TDM_METAL_NOT_READY, "version 4 says that it is not ready (state 0x0)");
	metal_u32(&m, 8536, 1);
	decode(&m, &r);
	assert_refused(&r, TDM_METAL_NOT_READY, "version 4 says that it is not ready (state 0x1)");
	assert_int_equal(r.version, 4);
	memset(m.data, 0, sizeof m.data);
	decode(&m, &r);
	assert_refused(&r, TDM_METAL_NOT_READY, "all bytes are 0: the file is being set up");
	decode_len(&m, 0, &r);
	assert_refused(&r, TDM_METAL_NOT_READY, "the file is empty: it is being set up");
	assert_false(r.has_version);
}

static void test_every_length(void **state)
{
	(void)state;
	struct metal_bytes m;
	struct tdm_metal_region r;
	load(&m, "v4_two_writers.bin");
	for (size_t len = 0; len < TDM_METAL_SIZE; len++) {
		decode_len(&m, len, &r);
		assert_refused(&r, len == 0 ? TDM_METAL_NOT_READY : TDM_METAL_LENGTH, NULL);
		assert_int_equal(r.has_version, len >= 4);
	}
	assert_string_equal(r.text, "8575 bytes, but version 4 has 8576");
	metal_sample(&m, 1, &metal_first);
	for (size_t len = 1; len < TDM_METAL_SIZE_V1; len++)
		if (len != TDM_METAL_SIZE) {
			decode_len(&m, len, &r);
			assert_refused(&r, TDM_METAL_LENGTH, NULL);
		}
	metal_sample(&m, 3, &metal_first); /* only the first version is that long */
	decode(&m, &r);
	assert_refused(&r, TDM_METAL_LENGTH, "9280 bytes, but version 3 has 8576");
}

/* Whether a byte of the region means nothing, so that nobody can see a change of it. */
static bool is_ignored(const struct metal_bytes *m, uint32_t version, size_t at)
{
	const struct metal_layout *l = m->layout;
	const size_t end = l->slots + l->slot_stride * TDM_METAL_SLOTS_MAX;
	if (at < 48)
		return (at >= 20 && at < 24) || at >= 44;
	if (at >= end)
		return version != 4 || at >= end + 4;
	if (at < l->slots)
		return false;
	size_t in = (at - l->slots) % l->slot_stride, slot = at - in, name = 16 + 8 * l->kinds;
	bool is_free = m->data[slot] == 0 && m->data[slot + 1] == 0;
	if (in >= 4 && in < 8)
		return true;
	if (is_free)
		return in >= name - 8;
	/* Behind the byte that ends the name. */
	return in > name && memchr(m->data + slot + name, '\0', in - name) != NULL;
}

static void flip_all(struct metal_bytes *m, uint32_t version)
{
	struct tdm_metal_region before, after;
	decode(m, &before);
	assert_int_equal(before.status, TDM_METAL_OK);
	assert_int_equal(before.doubts, 0);
	for (size_t bit = 0; bit < 8 * m->layout->size; bit++) {
		bool ignored = is_ignored(m, version, bit / 8);
		m->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		metal_region_init(&after);
		tdm_metal_decode(m->data, m->layout->size, &after);
		m->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (!metal_region_is_valid(&after))
			fail_msg("version %u: invalid after bit %zu of byte %zu", version, bit % 8, bit / 8);
		if ((memcmp(&before, &after, sizeof after) == 0) != ignored)
			fail_msg("version %u: bit %zu of byte %zu is %s", version, bit % 8, bit / 8,
				ignored ? "not ignored" : "lost silently");
	}
}

static void test_every_bit(void **state)
{
	(void)state;
	struct metal_bytes m;
	load(&m, "v3_two_writers.bin");
	flip_all(&m, 3);
	load(&m, "v4_two_writers.bin");
	flip_all(&m, 4);
	metal_sample(&m, 1, &metal_first);
	flip_all(&m, 1);
}

static void assert_doubt(const struct metal_bytes *m, struct tdm_metal_region *r, enum tdm_metal_doubt doubt)
{
	decode(m, r);
	assert_int_equal(r->status, TDM_METAL_OK);
	if (r->doubts != UINT32_C(1) << doubt)
		fail_msg("doubts 0x%x instead of: %s", r->doubts, tdm_metal_doubt_texts[doubt]);
}

static void test_doubts(void **state)
{
	(void)state;
	struct metal_bytes m;
	struct tdm_metal_region r;

	metal_sample(&m, 3, &metal_common); /* a total that went below 0 */
	metal_total(&m, 0, (uint64_t)-4096);
	assert_doubt(&m, &r, TDM_METAL_DOUBT_HUGE);
	assert_true(r.total.of[TDM_KIND_DRAM] == TDM_BYTES_UNKNOWN);
	assert_true(r.unattributed.of[TDM_KIND_DRAM] == TDM_BYTES_UNKNOWN);
	assert_int_equal(r.undecided.of[TDM_KIND_DRAM], 1000);
	assert_int_equal(r.total.of[TDM_KIND_L1], 1001);

	metal_sample(&m, 3, &metal_common);
	metal_slot_bytes(&m, 0, 1, TDM_METAL_BYTES_MAX + 1);
	assert_doubt(&m, &r, TDM_METAL_DOUBT_HUGE);
	assert_true(r.undecided.of[TDM_KIND_L1] == TDM_BYTES_UNKNOWN);
	assert_true(r.unattributed.of[TDM_KIND_L1] == TDM_BYTES_UNKNOWN);

	metal_sample(&m, 3, &metal_common);
	metal_total(&m, 0, 4);
	assert_doubt(&m, &r, TDM_METAL_DOUBT_SLOTS_EXCEED);
	assert_int_equal(r.excess.of[TDM_KIND_DRAM], 996);
	assert_int_equal(r.unattributed.of[TDM_KIND_DRAM], 0);

	/* The total of circular buffers is the last writer's own: less than the sum of two writers is no contradiction.
	 */
	metal_sample(&m, 3, &metal_common);
	metal_total(&m, 4, 4);
	decode(&m, &r);
	assert_int_equal(r.doubts, 0);
	assert_int_equal(r.excess.of[TDM_KIND_CB], 1000);
	assert_int_equal(r.unattributed.of[TDM_KIND_CB], 0);

	static const int32_t bad_pids[] = { -1, -2, INT32_MIN, TDM_PID_MAX + 1, INT32_MAX };
	for (size_t i = 0; i < sizeof bad_pids / sizeof *bad_pids; i++) {
		metal_sample(&m, 3, &metal_common);
		metal_u32(&m, 4, 0);
		metal_slot(&m, 0, bad_pids[i], "", 0);
		assert_doubt(&m, &r, TDM_METAL_DOUBT_PID);
		assert_int_equal(r.slot_count, 0);
		assert_int_equal(r.unattributed.of[TDM_KIND_DRAM], 1000);
	}

	metal_sample(&m, 3, &metal_common);
	metal_u32(&m, 4, 2);
	metal_slot(&m, 9, 4242, "python3", METAL_TIME);
	assert_doubt(&m, &r, TDM_METAL_DOUBT_PID_TWICE);

	metal_sample(&m, 3, &metal_common);
	metal_total(&m, 0, 1010);
	metal_slot_bytes(&m, 63, 0, 10);
	assert_doubt(&m, &r, TDM_METAL_DOUBT_FREE_SLOT);
	assert_int_equal(r.unattributed.of[TDM_KIND_DRAM], 10);

	metal_sample(&m, 3, &metal_common);
	metal_u32(&m, 4, 7);
	assert_doubt(&m, &r, TDM_METAL_DOUBT_PROCESS_COUNT);

	metal_sample(&m, 3, &metal_common);
	metal_u64(&m, 8, 12345);
	assert_doubt(&m, &r, TDM_METAL_DOUBT_TIME);
	assert_int_equal(r.updated_ns, 0);

	metal_sample(&m, 3, &metal_common);
	metal_chip(&m, 3, UINT32_MAX, 1);
	assert_doubt(&m, &r, TDM_METAL_DOUBT_CHIP);
	metal_sample(&m, 3, &metal_common);
	metal_chip(&m, 3, 0, 0); /* the first one again */
	assert_doubt(&m, &r, TDM_METAL_DOUBT_CHIP);
}

static void test_releasing_slot(void **state)
{
	(void)state;
	struct metal_bytes m;
	struct tdm_metal_region r;
	metal_sample(&m, 4, &metal_common);
	metal_slot(&m, 0, -1, "python3", METAL_TIME);
	decode(&m, &r);
	assert_int_equal(r.doubts, 0);
	assert_true(r.slots[0].releases);
	assert_int_equal(r.slots[0].pid, 0);
}

static void test_all_slots_used(void **state)
{
	(void)state;
	struct metal_bytes m;
	struct tdm_metal_region r;
	metal_init(&m, 3, &metal_common);
	metal_u32(&m, 4, TDM_METAL_SLOTS_MAX);
	for (size_t i = 0; i < TDM_METAL_SLOTS_MAX; i++) {
		metal_slot(&m, i, 100 + (int32_t)i, "worker", METAL_TIME);
		metal_slot_bytes(&m, i, 0, 10);
	}
	metal_total(&m, 0, 10 * TDM_METAL_SLOTS_MAX + 5); /* those that found no slot still count in the total */
	decode(&m, &r);
	assert_int_equal(r.slot_count, TDM_METAL_SLOTS_MAX);
	assert_int_equal(r.free_slot_count, 0);
	assert_int_equal(r.unattributed.of[TDM_KIND_DRAM], 5);
}

static void test_name_in_slot(void **state)
{
	(void)state;
	struct metal_bytes m;
	struct tdm_metal_region r;
	metal_sample(&m, 3, &metal_common);
	metal_slot(&m, 0, 4242, "\033[2J\xc3\xa9", METAL_TIME);
	decode(&m, &r);
	assert_string_equal(r.slots[0].hint, "?[2J\u00e9");
	memset(m.data + metal_slot_at(&m, 0) + 56, 'x', 64); /* no terminator */
	decode(&m, &r);
	assert_int_equal(strlen(r.slots[0].hint), 63);
}

static void test_types_of_ids(void **state)
{
	(void)state;
	static const struct {
		uint64_t id;
		uint32_t device;
		enum tdm_metal_id type;
	} cases[] = {
		{ METAL_ASIC, 0, TDM_METAL_ID_CHIP },
		{ 0, 0, TDM_METAL_ID_LOGICAL },
		{ 3, 3, TDM_METAL_ID_LOGICAL },
		{ 3, 0, TDM_METAL_ID_CHIP },
		{ UINT64_C(0xDEADDEAD00000005), 5, TDM_METAL_ID_UNHEALTHY },
		{ UINT64_C(0x5AA5000000000002), 2, TDM_METAL_ID_SIMULATED },
		{ UINT64_C(2) << 32, 2, TDM_METAL_ID_SIMULATED },
		{ UINT64_C(2) << 32, 1, TDM_METAL_ID_CHIP },
		{ UINT64_MAX, 0, TDM_METAL_ID_CHIP },
	};
	struct metal_bytes m;
	struct tdm_metal_region r;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		metal_sample(&m, 3, &metal_common);
		metal_u64(&m, 32, cases[i].id);
		metal_u32(&m, 40, cases[i].device);
		decode(&m, &r);
		assert_int_equal(r.id_type, cases[i].type);
	}
}

static void test_texts(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TDM_METAL_DOUBT_COUNT; i++)
		assert_true(strlen(tdm_metal_doubt_texts[i]) > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_every_version),
		cmocka_unit_test(test_unknown_version),
		cmocka_unit_test(test_not_ready),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_every_bit),
		cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_releasing_slot),
		cmocka_unit_test(test_all_slots_used),
		cmocka_unit_test(test_name_in_slot),
		cmocka_unit_test(test_types_of_ids),
		cmocka_unit_test(test_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
