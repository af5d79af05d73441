/* Per-core buffers: L1 buffers with an address of their own on each of their cores, and no bytes on others. */
#include "itest.h"
#include "tidemark.h"

#include <errno.h>
#include <string.h>

static struct tidemark_buffer per_core(uint64_t id, const struct tidemark_core_range *ranges, uint32_t range_count)
{
	struct tidemark_buffer b = TIDEMARK_BUFFER_INIT;
	b.kind = TIDEMARK_L1;
	b.flags = TIDEMARK_PER_CORE;
	b.id = id;
	b.address = 5;
	b.bytes = 100;
	b.bytes_per_bank = 1024;
	b.ranges = ranges;
	b.range_count = range_count;
	return b;
}

static struct tidemark_usage usage(void)
{
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	CHECK(tidemark_get_usage(0, TIDEMARK_L1, &usage) == 0);
	return usage;
}

static void describe(void)
{
	const struct tidemark_region region = {
		.kind = TIDEMARK_L1, .banks = 64, .base = 1 << 17, .bank_size = 1 << 20
	};
	struct tidemark_device device = TIDEMARK_DEVICE_INIT;
	device.regions = &region;
	device.region_count = 1;
	CHECK(tidemark_describe_device(&device) == 0);
}

/* Bytes on their own cores only, and in no bank; one address may have several. */
static void counts(void)
{
	const struct tidemark_core_range left = { 0, 0, 0, 2 }, right = { 1, 0, 1, 2 };
	const uint64_t addresses[] = { 7168, 6144, 7168 };
	struct tidemark_buffer a = per_core(1, &left, 1), b = per_core(2, &right, 1), lockstep = TIDEMARK_BUFFER_INIT;
	describe();
	a.core_addresses = b.core_addresses = addresses;
	CHECK(tidemark_alloc(&a) == 0 && tidemark_alloc(&b) == 0);
	CHECK_EQ(usage().bytes, 2 * 3 * 1024);
	CHECK_EQ(usage().bank_bytes, 0);
	lockstep.kind = TIDEMARK_L1;
	lockstep.id = 3;
	lockstep.bytes = lockstep.bytes_per_bank = 2048;
	CHECK(tidemark_alloc(&lockstep) == 0);
	CHECK_EQ(usage().bytes, 64 * 2048 + 2 * 3 * 1024);
	CHECK_EQ(usage().bank_bytes, 2048);
	/* Reported again: replaced, and counted as such. */
	b.bytes_per_bank = 512;
	CHECK(tidemark_alloc(&b) == 0);
	CHECK_EQ(usage().bytes, 64 * 2048 + 3 * 1024 + 3 * 512);
	CHECK_EQ(usage().bank_bytes, 2048);
	CHECK_EQ(usage().rereports, 1);
	CHECK(tidemark_free(0, TIDEMARK_L1, 1) == 0 && tidemark_free(0, TIDEMARK_L1, 2) == 0);
	CHECK_EQ(usage().bytes, 64 * 2048);
	CHECK_EQ(usage().bank_bytes, 2048);
	CHECK_EQ(usage().double_frees + usage().unknown_frees, 0);
	CHECK(tidemark_adopt(&a) == 0 && tidemark_adopt(&a) == -EEXIST);
	CHECK_EQ(usage().bytes, 64 * 2048 + 3 * 1024);
	CHECK_EQ(tidemark_free_all(0, TIDEMARK_L1), 2);
	CHECK_EQ(usage().bytes + usage().bank_bytes + usage().asked_bytes, 0);
	CHECK_EQ(tidemark_lost(), 0);
}

/* The ledger has the address on each core, and readers find the buffers equal to the counters. */
static void ledger(void)
{
	const struct tidemark_core_range ranges[] = { { 2, 1, 3, 2 }, { 7, 7, 7, 7 } };
	const uint64_t addresses[] = { 10, 20, 30, 40, 50 };
	struct tidemark_buffer known = per_core(1, ranges, 2), unknown = per_core(2, ranges, 2);
	uint32_t count;
	size_t buffer_count;
	known.core_addresses = addresses;
	CHECK(tidemark_alloc(&known) == 0 && tidemark_alloc(&unknown) == 0);
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 0, &buffer_count);
	CHECK_EQ(buffer_count, 2);
	for (size_t i = 0; i < buffer_count; i++) {
		const struct tdm_ledger_slot *slot = &buffers[i].slot;
		const struct tdm_ledger_more *more = &buffers[i].more;
		CHECK((slot->flags & TDM_SLOT_PER_CORE) != 0);
		CHECK_EQ(slot->banks, 5);
		CHECK_EQ(more->cores, 5);
		CHECK_EQ(more->holding, 5);
		CHECK_EQ(slot->address, slot->id == 1 ? 10 : 5);
		const struct tdm_core_range *read = tdm_ledger_ranges(ledger, more->ranges, &count);
		CHECK(count == 2 && memcmp(read, ranges, sizeof ranges) == 0);
		const uint64_t *at = tdm_ledger_addresses(ledger, more->ranges, &count);
		CHECK(slot->id == 1 ? count == 5 && memcmp(at, addresses, sizeof addresses) == 0 : at == NULL);
	}
	free(buffers);
	tdm_ledger_close(ledger);
}

static void refused(void)
{
	const struct tidemark_core_range range = { 0, 0, 15, 15 }, large = { 0, 0, 16, 15 };
	static const uint64_t addresses[17 * 16];
	struct tidemark_buffer b = per_core(1, &range, 1);
	b.kind = TIDEMARK_DRAM;
	CHECK(tidemark_alloc(&b) == -EINVAL);
	b = per_core(1, NULL, 0);
	CHECK(tidemark_alloc(&b) == -EINVAL);
	b = per_core(1, &range, 0);
	CHECK(tidemark_alloc(&b) == -EINVAL);
	b = per_core(1, &range, 1);
	b.flags |= TIDEMARK_VIEW;
	CHECK(tidemark_alloc(&b) == -EINVAL);
	CHECK_EQ(tidemark_lost(), 4);
	/* As many addresses as are kept; and one more row of cores, whose addresses are lost, but not the buffer. */
	b = per_core(1, &range, 1);
	b.core_addresses = addresses;
	CHECK(tidemark_alloc(&b) == 0);
	b = per_core(2, &large, 1);
	b.core_addresses = addresses;
	CHECK(tidemark_alloc(&b) == 0);
	CHECK_EQ(usage().buffers, 2);
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	CHECK_EQ(tdm_ledger_header(ledger)->lost[TDM_LOSS_TEXT], 1);
	tdm_ledger_close(ledger);
}

static void report_for_ever(void)
{
	static const struct tidemark_core_range range = { 0, 0, 1, 0 };
	for (uint64_t i = 0;; i++) {
		const uint64_t addresses[] = { i, i + 1 };
		struct tidemark_buffer b = per_core(i % 40, &range, 1);
		b.core_addresses = addresses;
		b.bytes_per_bank = 64 + i % 1000;
		if (i % 3 == 0)
			b.flags = 0;
		tidemark_alloc(&b);
		if (i % 5 == 0)
			tidemark_free(0, TIDEMARK_L1, (i + 20) % 40);
	}
}

static void check_buffers(struct tdm_ledger *ledger)
{
	uint64_t bank = 0, asked = 0, count_of = 0;
	size_t count;
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 0, &count);
	for (size_t i = 0; i < count; i++) {
		const struct tdm_ledger_slot *slot = &buffers[i].slot;
		bank += (slot->flags & TDM_SLOT_PER_CORE) != 0 ? 0 : slot->bank_bytes;
		asked += slot->asked;
		count_of++;
	}
	const struct tdm_counter *c = &tdm_ledger_device(ledger, 0)->counts[TIDEMARK_L1];
	CHECK_EQ(c->bank, bank);
	CHECK_EQ(c->asked, asked);
	CHECK_EQ(c->buffers, count_of);
	free(buffers);
}

/* Whenever the program is killed, the counters are those of its buffers. */
static void killed(void)
{
	itest_kill(100, 7, describe, report_for_ever, check_buffers);
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = { { "counts", counts, NULL }, { "ledger", ledger, NULL },
		{ "refused", refused, NULL }, { "killed", killed, NULL }, { 0 } };
	return itest_main(argc, argv, tests);
}
