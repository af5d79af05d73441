/* The bytes of instrumented programs: four sizes are told apart, however the bytes arrive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "live/runtime/server_wire.h"

static const uint32_t sizes[] = { 72, 112, 128, 144 };

static void put_message(uint8_t *dst, uint32_t size, uint8_t type, uint64_t id)
{
	memset(dst, 0, size);
	int32_t device = 3, pid = 2657333;
	uint64_t bytes = 0x10000 + id, stamp = UINT64_C(0x1234567812345678);
	dst[0] = type;
	memcpy(dst + 4, &device, 4);
	memcpy(dst + 8, &bytes, 8);
	dst[16] = 4;
	memcpy(dst + 20, &pid, 4);
	memcpy(dst + 24, &id, 8);
	memcpy(dst + 32, &stamp, 8);
}

static void assert_message(const struct tdm_wire_message *m, uint8_t type, uint64_t id)
{
	assert_int_equal(m->type, type);
	assert_int_equal(m->device, 3);
	assert_int_equal(m->pid, 2657333);
	assert_int_equal(m->bytes, 0x10000 + id);
	assert_int_equal(m->buffer_type, 4);
	assert_int_equal(m->id, id);
}

static void back_to_back_messages_of_every_size_are_divided(void **state)
{
	(void)state;
	for (unsigned s = 0; s < 4; s++) {
		uint8_t stream[7 * 144];
		struct tdm_wire wire = { 0 };
		struct tdm_wire_message m;
		size_t used, at = 0;
		for (unsigned i = 0; i < 7; i++)
			put_message(stream + (size_t)i * sizes[s], sizes[s], (uint8_t)(i % 3 + 1), i);
		for (unsigned i = 0; i < 7; i++, at += used) {
			assert_int_equal(tdm_wire_next(&wire, stream + at, 7 * sizes[s] - at, false, &m, &used),
				TDM_WIRE_MESSAGE);
			assert_int_equal(used, sizes[s]);
			assert_message(&m, (uint8_t)(i % 3 + 1), i);
		}
		assert_int_equal(wire.size, sizes[s]);
	}
}

static void a_lone_message_has_the_size_that_came(void **state)
{
	(void)state;
	for (unsigned s = 0; s < 4; s++) {
		uint8_t bytes[144];
		struct tdm_wire wire = { 0 };
		struct tdm_wire_message m;
		size_t used;
		put_message(bytes, sizes[s], TDM_WIRE_QUERY, 0);
		if (sizes[s] < 144) /* it may be the beginning of a longer one */
			assert_int_equal(tdm_wire_next(&wire, bytes, sizes[s], false, &m, &used), TDM_WIRE_NONE);
		assert_int_equal(tdm_wire_next(&wire, bytes, sizes[s], true, &m, &used), TDM_WIRE_MESSAGE);
		assert_int_equal(used, sizes[s]);
		assert_int_equal(wire.size, sizes[s]);
	}
}

/* 144 bytes are one message of that size or two of 72: the byte at 72 tells. */
static void two_short_messages_are_not_one_long_one(void **state)
{
	(void)state;
	uint8_t bytes[144];
	struct tdm_wire wire = { 0 };
	struct tdm_wire_message m;
	size_t used;
	put_message(bytes, 72, TDM_WIRE_ALLOC, 1);
	put_message(bytes + 72, 72, TDM_WIRE_FREE, 1);
	assert_int_equal(tdm_wire_next(&wire, bytes, 144, true, &m, &used), TDM_WIRE_MESSAGE);
	assert_int_equal(wire.size, 72);
	assert_int_equal(tdm_wire_next(&wire, bytes + 72, 72, false, &m, &used), TDM_WIRE_MESSAGE);
	assert_int_equal(m.type, TDM_WIRE_FREE);
}

/* Every stream, cut at every place: the same messages come out, whether or not there is a pause at the cut. */
static void a_cut_anywhere_changes_nothing(void **state)
{
	(void)state;
	for (unsigned s = 0; s < 4; s++) {
		uint8_t stream[4 * 144];
		size_t len = 4 * sizes[s];
		for (unsigned i = 0; i < 4; i++)
			put_message(stream + (size_t)i * sizes[s], sizes[s], TDM_WIRE_ALLOC, i + 1);
		for (size_t cut = 0; cut <= len; cut++) {
			for (int quiet = 0; quiet < 2; quiet++) {
				struct tdm_wire wire = { 0 };
				struct tdm_wire_message m;
				unsigned found = 0;
				size_t at = 0, used, end = cut;
				for (;;) {
					enum tdm_wire_found what = tdm_wire_next(
						&wire, stream + at, end - at, quiet && end == cut, &m, &used);
					assert_int_not_equal(what, TDM_WIRE_BAD);
					if (what == TDM_WIRE_MESSAGE)
						assert_message(&m, TDM_WIRE_ALLOC, ++found);
					at += used;
					if (what == TDM_WIRE_NONE && end == len)
						break;
					if (what == TDM_WIRE_NONE)
						end = len;
				}
				if (wire.size != 0) {
					assert_int_equal(found, 4);
					assert_int_equal(at, len);
					assert_int_equal(wire.size, sizes[s]);
				}
			}
		}
	}
}

static void bytes_that_no_client_sends_are_refused(void **state)
{
	(void)state;
	uint8_t bytes[200];
	struct tdm_wire_message m;
	size_t used;
	put_message(bytes, 144, TDM_WIRE_ALLOC, 1);
	bytes[0] = 0;
	assert_int_equal(tdm_wire_next(&(struct tdm_wire){ 0 }, bytes, 72, true, &m, &used), TDM_WIRE_BAD);
	bytes[0] = 13;
	assert_int_equal(tdm_wire_next(&(struct tdm_wire){ 0 }, bytes, 72, true, &m, &used), TDM_WIRE_BAD);
	bytes[0] = 1;
	bytes[72] = 'n'; /* a name: the form of 648 bytes, which no client sends any more */
	assert_int_equal(tdm_wire_next(&(struct tdm_wire){ 0 }, bytes, 144, true, &m, &used), TDM_WIRE_BAD);
	bytes[72] = 0;
	bytes[90] = 1;
	assert_int_equal(tdm_wire_next(&(struct tdm_wire){ 0 }, bytes, 144, true, &m, &used), TDM_WIRE_BAD);
	memset(bytes + 40, 0, 160);
	assert_int_equal(tdm_wire_next(&(struct tdm_wire){ 0 }, bytes, 145, true, &m, &used), TDM_WIRE_BAD);
}

static uint64_t u64_at(const uint8_t *bytes, size_t at)
{
	uint64_t value;
	memcpy(&value, bytes + at, sizeof value);
	return value;
}

static uint32_t u32_at(const uint8_t *bytes, size_t at)
{
	uint32_t value;
	memcpy(&value, bytes + at, sizeof value);
	return value;
}

static void a_reply_has_its_figures_where_the_client_looks(void **state)
{
	(void)state;
	const struct tdm_wire_reply reply = { .type = TDM_WIRE_DEVICE_INFO_RESPONSE,
		.device = 5,
		.dram = 1,
		.l1 = 2,
		.l1_small = 3,
		.trace = 4,
		.cb = 6,
		.kernel = 7,
		.total_dram = 8,
		.total_l1 = 9,
		.arch = 10,
		.dram_channels = 11,
		.dram_per_channel = 12,
		.l1_per_core = 13,
		.is_available = 1,
		.device_count = 14 };
	static const unsigned at_total[] = { 0, 72, 88, 88 };
	for (unsigned s = 0; s < 4; s++) {
		uint8_t bytes[TDM_WIRE_SIZE_MAX];
		tdm_wire_put_reply(&reply, sizes[s], bytes);
		assert_int_equal(bytes[0], 7);
		assert_int_equal(u32_at(bytes, 4), 5);
		assert_int_equal(u64_at(bytes, 40), 1);
		assert_int_equal(u64_at(bytes, 64), 4);
		if (sizes[s] >= 128) {
			assert_int_equal(u64_at(bytes, 72), 6);
			assert_int_equal(u64_at(bytes, 80), 7);
		}
		for (unsigned i = 0; at_total[s] != 0 && i < 6; i++)
			assert_int_equal(u32_at(bytes, at_total[s] + 16 + i * 4), i == 4 ? 1 : i == 5 ? 14 : 10 + i);
		if (at_total[s] != 0)
			assert_int_equal(u64_at(bytes, at_total[s] + 8), 9);
	}
}

static void what_a_client_sends_is_what_arrives(void **state)
{
	(void)state;
	const struct tdm_wire_message sent = { TDM_WIRE_KERNEL_LOAD, 2, -1, 77, UINT64_MAX - 1, UINT64_C(1) << 63, 0 };
	for (unsigned s = 0; s < 4; s++) {
		uint8_t bytes[TDM_WIRE_SIZE_MAX];
		struct tdm_wire_message m;
		size_t used;
		memset(bytes, 0xff, sizeof bytes);
		tdm_wire_put_message(&sent, sizes[s], bytes);
		assert_int_equal(
			tdm_wire_next(&(struct tdm_wire){ 0 }, bytes, sizes[s], true, &m, &used), TDM_WIRE_MESSAGE);
		assert_int_equal(used, sizes[s]);
		assert_int_equal(m.type, sent.type);
		assert_int_equal(m.buffer_type, sent.buffer_type);
		assert_int_equal(m.device, sent.device);
		assert_int_equal(m.pid, sent.pid);
		assert_true(m.bytes == sent.bytes && m.id == sent.id);
	}
}

static void a_client_reads_the_figures_that_its_size_has(void **state)
{
	(void)state;
	const struct tdm_wire_reply reply = { TDM_WIRE_RESPONSE, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
	for (unsigned s = 0; s < 4; s++) {
		uint8_t bytes[TDM_WIRE_SIZE_MAX];
		struct tdm_wire_reply expected = { TDM_WIRE_RESPONSE, -1, 1, 2, 3, 4, .is_available = 0 }, got;
		tdm_wire_put_reply(&reply, sizes[s], bytes);
		if (sizes[s] >= 112)
			expected = reply;
		if (sizes[s] == 112)
			expected.cb = expected.kernel = 0;
		got = tdm_wire_get_reply(bytes, sizes[s]);
		assert_memory_equal(&got, &expected, sizeof got);
	}
}

static void short_messages_are_divided_by_their_type(void **state)
{
	(void)state;
	static const uint8_t stream[] = { 8, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
		5,                                                              /* kernel of 256 bytes on device 2 */
		9, 3, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 64, 0, 0, 0, /* circular buffer 7 of 512 bytes */
		10, 3, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0 };
	static const struct tdm_wire_message expected[] = {
		{ .type = TDM_WIRE_KERNEL_LOAD, .device = 2, .bytes = 256 },
		{ .type = TDM_WIRE_CB_ALLOC, .device = 3, .bytes = 512, .id = 7 },
		{ .type = TDM_WIRE_CB_FREE, .device = 3, .bytes = 512, .id = 7 },
	};
	static const size_t lengths[] = { 14, 21, 17 };
	struct tdm_wire_message m;
	size_t used, at = 0;
	for (unsigned i = 0; i < 3; at += lengths[i++]) {
		for (size_t count = 0; count < lengths[i]; count++) {
			assert_int_equal(tdm_wire_short(stream + at, count, &m, &used), TDM_WIRE_NONE);
			assert_int_equal(used, 0);
		}
		assert_int_equal(tdm_wire_short(stream + at, sizeof stream - at, &m, &used), TDM_WIRE_MESSAGE);
		assert_int_equal(used, lengths[i]);
		assert_int_equal(m.type, expected[i].type);
		assert_int_equal(m.device, expected[i].device);
		assert_int_equal(m.bytes, expected[i].bytes);
		assert_int_equal(m.id, expected[i].id);
	}
	for (unsigned type = 0; type < 256; type++) {
		uint8_t byte = (uint8_t)type;
		bool is_known = type >= 8 && type <= 10;
		assert_int_equal(tdm_wire_short(&byte, 1, &m, &used), is_known ? TDM_WIRE_NONE : TDM_WIRE_BAD);
	}
}

static void helper_messages_have_their_id_and_pid_elsewhere(void **state)
{
	(void)state;
	uint8_t bytes[64] = { TDM_WIRE_KERNEL_LOAD, [4] = 3, [9] = 2, [20] = 1, [24] = 9 };
	struct tdm_wire_message m;
	size_t used;
	for (size_t count = 0; count < 32; count++)
		assert_int_equal(tdm_wire_helper(bytes, count, &m, &used), TDM_WIRE_NONE);
	assert_int_equal(tdm_wire_helper(bytes, sizeof bytes, &m, &used), TDM_WIRE_MESSAGE);
	assert_int_equal(used, 32);
	assert_int_equal(m.type, TDM_WIRE_KERNEL_LOAD);
	assert_int_equal(m.device, 3);
	assert_int_equal(m.bytes, 512);
	assert_int_equal(m.id, UINT64_C(1) << 32);
	assert_int_equal(m.pid, 9);
	for (unsigned type = 0; type < 256; type++) {
		bytes[0] = (uint8_t)type;
		bool is_known = type >= TDM_WIRE_CB_ALLOC && type <= TDM_WIRE_KERNEL_UNLOAD;
		assert_int_equal(tdm_wire_helper(bytes, 32, &m, &used), is_known ? TDM_WIRE_MESSAGE : TDM_WIRE_BAD);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(back_to_back_messages_of_every_size_are_divided),
		cmocka_unit_test(a_lone_message_has_the_size_that_came),
		cmocka_unit_test(two_short_messages_are_not_one_long_one),
		cmocka_unit_test(a_cut_anywhere_changes_nothing),
		cmocka_unit_test(bytes_that_no_client_sends_are_refused),
		cmocka_unit_test(short_messages_are_divided_by_their_type),
		cmocka_unit_test(helper_messages_have_their_id_and_pid_elsewhere),
		cmocka_unit_test(a_reply_has_its_figures_where_the_client_looks),
		cmocka_unit_test(what_a_client_sends_is_what_arrives),
		cmocka_unit_test(a_client_reads_the_figures_that_its_size_has),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
