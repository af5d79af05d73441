/* Buffers that were allocated before tracking was turned on. */
#include "itest.h"
#include "tidemark.h"

#include <errno.h>
#include <string.h>

enum { KILLS = 100 };

static struct tidemark_buffer buffer_of(uint64_t id, uint64_t bytes)
{
	struct tidemark_buffer b = TIDEMARK_BUFFER_INIT;
	b.kind = TIDEMARK_DRAM;
	b.id = id;
	b.bytes = bytes;
	b.banks = 2;
	return b;
}

static struct tidemark_usage usage_of(uint32_t kind)
{
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	CHECK(tidemark_get_usage(0, kind, &usage) == 0);
	return usage;
}

/* Live and in the peak, but no allocation. */
static void counts(void)
{
	struct tidemark_buffer old = buffer_of(1, 1000), new = buffer_of(2, 10);
	CHECK(tidemark_adopt(&old) == 0);
	CHECK(tidemark_alloc(&new) == 0);
	struct tidemark_usage usage = usage_of(TIDEMARK_DRAM);
	CHECK_EQ(usage.buffers, 2);
	CHECK_EQ(usage.bytes, 1010);
	CHECK_EQ(usage.peak_bytes, 1010);
	CHECK_EQ(usage.allocs, 1);
	CHECK_EQ(usage.adopted, 1);
	CHECK_EQ(usage.frees, 0);

	/* What is known already stays as it is, whichever way it became known. */
	old.bytes = new.bytes = 5;
	CHECK(tidemark_adopt(&old) == -EEXIST && tidemark_adopt(&new) == -EEXIST);
	CHECK_EQ(usage_of(TIDEMARK_DRAM).bytes, 1010);
	CHECK_EQ(usage_of(TIDEMARK_DRAM).rereports, 0);
	CHECK_EQ(tidemark_lost(), 0);

	CHECK(tidemark_free(0, TIDEMARK_DRAM, 1) == 0 && tidemark_free(0, TIDEMARK_DRAM, 1) == -ENOENT);
	usage = usage_of(TIDEMARK_DRAM);
	CHECK_EQ(usage.bytes, 10);
	CHECK_EQ(usage.allocs, 1);
	CHECK_EQ(usage.adopted, 1);
	CHECK_EQ(usage.frees, 1);
	CHECK_EQ(usage.double_frees, 1);
}

/* In the ledger: marked, without a time of birth, and not among the allocations. */
static void ledger(void)
{
	struct tidemark_buffer old = buffer_of(1, 1000), view = buffer_of(2, 500), new = buffer_of(3, 10);
	view.flags = TIDEMARK_VIEW;
	old.flags = TIDEMARK_NO_ADDRESS;
	CHECK(tidemark_adopt(&old) == 0 && tidemark_adopt(&view) == 0 && tidemark_alloc(&new) == 0);
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	size_t count;
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 0, &count);
	CHECK_EQ(count, 3);
	for (size_t i = 0; i < count; i++) {
		bool is_adopted = buffers[i].slot.id != 3;
		CHECK_EQ((buffers[i].slot.flags & TDM_SLOT_ADOPTED) != 0, is_adopted);
		CHECK_EQ(buffers[i].more.tsc == 0, is_adopted);
	}
	const struct tdm_counter *c = &tdm_ledger_device(ledger, 0)->counts[TIDEMARK_DRAM];
	CHECK_EQ(c->allocs, 1);
	CHECK_EQ(c->alloc_bytes, 10);
	CHECK_EQ(c->adopted, 2);
	CHECK_EQ(c->peak, 1010);
	CHECK_EQ(c->buffers, 3);
	free(buffers);
	tdm_ledger_close(ledger);
}

/* Not part of a segment, but its release is, like that of any older buffer. */
static void tracker(void)
{
	struct tidemark_buffer old = buffer_of(1, 1000);
	struct tidemark_segment segment = TIDEMARK_SEGMENT_INIT;
	CHECK(tidemark_capture_begin(TIDEMARK_CAPTURE_NO_DISPATCH) == 0);
	CHECK(tidemark_adopt(&old) == 0);
	CHECK_EQ(usage_of(TIDEMARK_DRAM).bytes, 1000); /* on the card, not on the virtual device */
	CHECK(tidemark_free(0, TIDEMARK_DRAM, 1) == 0);
	CHECK(tidemark_capture_end("end") == 0 && tidemark_capture_get(0, &segment) == 0);
	CHECK_EQ(segment.dram_peak, 0);
	CHECK_EQ(segment.dram_allocations, 0);
	CHECK_EQ(segment.dram_deallocations, 1000);
}

static void refused(void)
{
	struct tidemark_buffer b = buffer_of(1, UINT64_C(1) << 57);
	CHECK(tidemark_adopt(NULL) == -EINVAL && tidemark_adopt(&b) == -EINVAL);
	b.bytes = 10;
	b.kind = TIDEMARK_KIND_COUNT;
	CHECK(tidemark_adopt(&b) == -EINVAL);
	CHECK_EQ(tidemark_lost(), 3);
	CHECK(tidemark_disable() == 0 && tidemark_adopt(&b) == 0);
}

static void adopt_for_ever(void)
{
	for (uint64_t i = 0;; i++) {
		struct tidemark_buffer b = buffer_of(i % 50, 64 + i % 1000);
		if (i % 3 == 0)
			tidemark_alloc(&b);
		else
			tidemark_adopt(&b);
		if (i % 7 == 0)
			tidemark_free(0, TIDEMARK_DRAM, (i + 25) % 50);
	}
}

static void adopt_one(void)
{
	struct tidemark_buffer b = buffer_of(1000, 64);
	CHECK(tidemark_adopt(&b) == 0);
}

static void check_counters(struct tdm_ledger *ledger)
{
	const struct tdm_counter *c = &tdm_ledger_device(ledger, 0)->counts[TIDEMARK_DRAM];
	size_t count, adopted = 0;
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 0, &count);
	for (size_t i = 0; i < count; i++)
		adopted += (buffers[i].slot.flags & TDM_SLOT_ADOPTED) != 0;
	CHECK(c->adopted >= adopted && c->allocs + c->adopted >= count);
	free(buffers);
}

/* Whenever the program is killed, the counters are those of one moment. */
static void killed(void)
{
	itest_kill(KILLS, 5, adopt_one, adopt_for_ever, check_counters);
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "counts", counts, NULL },
		{ "ledger", ledger, NULL },
		{ "tracker", tracker, NULL },
		{ "refused", refused, NULL },
		{ "killed", killed, NULL },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
