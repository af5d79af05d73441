/* Programs that were compiled with another version of the header, whose structures are smaller or larger. */
#include "itest.h"
#include "tidemark.h"

#include <errno.h>
#include <string.h>

static struct tidemark_usage usage_of(uint32_t device, uint32_t kind)
{
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	CHECK(tidemark_get_usage(device, kind, &usage) == 0);
	return usage;
}

/* A program that was compiled with another version of the header. */
static void other_headers(void)
{
	struct {
		struct tidemark_buffer buffer;
		char more[64];
	} newer;
	memset(&newer, 0xa5, sizeof newer); /* what it says beyond our structure is not known here */
	newer.buffer = (struct tidemark_buffer){
		.size = sizeof newer, .id = 1, .bytes = 100, .bytes_per_bank = 60, .banks = 2
	};
	CHECK(tidemark_alloc(&newer.buffer) == 0);
	CHECK_EQ(usage_of(0, 0).bytes, 120);
	for (uint32_t size = 0; size < sizeof newer.buffer; size++) {
		struct tidemark_buffer *older = malloc(size > 4 ? size : 4); /* nothing behind it may be read */
		struct tidemark_buffer whole = { .size = size, .id = 1000 + size, .bytes = 100 };
		CHECK(older != NULL);
		memcpy(older, &whole, size > 4 ? size : 4);
		CHECK(tidemark_alloc(older) == -EINVAL && tidemark_adopt(older) == -EINVAL);
		free(older);
	}
	CHECK_EQ(usage_of(0, 0).buffers, 1);
	struct {
		struct tidemark_device device;
		char more[64];
	} newer_device = { .device = { .size = sizeof newer_device,
				   .number = 3,
				   .card = "a card with a name that is far too long" } };
	CHECK(tidemark_describe_device(&newer_device.device) == 0);
	newer_device.device.size = sizeof newer_device.device - 1;
	CHECK(tidemark_describe_device(&newer_device.device) == -EINVAL);
}

/* Regions of a newer header are larger; the library takes the part that it knows of each. */
static void larger_regions(void)
{
	struct {
		struct tidemark_region region;
		char more[8];
	} regions[2];
	struct tidemark_device device = TIDEMARK_DEVICE_INIT;
	struct tidemark_buffer buffer = TIDEMARK_BUFFER_INIT;
	memset(regions, 0xa5, sizeof regions);
	regions[0].region = (struct tidemark_region){ .kind = TIDEMARK_DRAM, .banks = 12, .bank_size = 1 << 20 };
	regions[1].region = (struct tidemark_region){ .kind = TIDEMARK_L1, .banks = 7, .bank_size = 1 << 20 };
	device.region_count = 2;
	device.regions = &regions[0].region;
	device.region_size = sizeof regions[0];
	CHECK(tidemark_describe_device(&device) == 0);
	buffer.kind = TIDEMARK_L1;
	buffer.bytes = 700;
	CHECK(tidemark_alloc(&buffer) == 0);
	CHECK_EQ(usage_of(0, TIDEMARK_L1).bank_bytes, 100);
	device.region_size = sizeof regions[0].region - 1;
	CHECK(tidemark_describe_device(&device) == -EINVAL);
}

/* Results: never more than the caller has room for, and nothing if that is less than the first version had. */
static void other_results(void)
{
	struct {
		struct tidemark_usage usage;
		unsigned char more[64];
	} newer = { .usage = { .size = sizeof newer } };
	struct {
		struct tidemark_segment segment;
		unsigned char more[64];
	} newer_segment = { .segment = { .size = sizeof newer_segment } };
	CHECK(itest_alloc(0, TIDEMARK_DRAM, 1, 64, 2) == 0);
	memset(newer.more, 0xa5, sizeof newer.more);
	CHECK(tidemark_get_usage(0, TIDEMARK_DRAM, &newer.usage) == 0);
	CHECK_EQ(newer.usage.size, sizeof newer);
	CHECK_EQ(newer.usage.bytes, 128);
	CHECK_EQ(newer.usage.buffers, 1);
	CHECK(tidemark_get_usage(9, TIDEMARK_DRAM, &newer.usage) == -ENODEV);
	CHECK_EQ(newer.usage.bytes, 0);
	CHECK(tidemark_capture_begin(TIDEMARK_CAPTURE_NORMAL) == 0 && tidemark_capture_end("end") == 0);
	memset(newer_segment.more, 0xa5, sizeof newer_segment.more);
	CHECK(tidemark_capture_get(0, &newer_segment.segment) == 0);
	CHECK(tidemark_capture_find("end", &newer_segment.segment) == 0);
	CHECK_EQ(newer_segment.segment.size, sizeof newer_segment);
	CHECK(strcmp(newer_segment.segment.name, "end") == 0);
	for (unsigned i = 0; i < sizeof newer.more; i++)
		CHECK(newer.more[i] == 0xa5 && newer_segment.more[i] == 0xa5);
	/* A program with the first header: what came later stays as it is. */
	newer.usage.size = offsetof(struct tidemark_usage, window_peak_bytes);
	newer.usage.window_peak_bytes = 5;
	CHECK(tidemark_get_usage(0, TIDEMARK_DRAM, &newer.usage) == 0);
	CHECK_EQ(newer.usage.bytes, 128);
	CHECK_EQ(newer.usage.window_peak_bytes, 5);
	newer.usage.size--;
	CHECK(tidemark_get_usage(0, TIDEMARK_DRAM, &newer.usage) == -EINVAL);
	newer_segment.segment.size = sizeof newer_segment.segment - 1;
	CHECK(tidemark_capture_get(0, &newer_segment.segment) == -EINVAL);
	CHECK(tidemark_capture_find("end", &newer_segment.segment) == -EINVAL);
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "other_headers", other_headers, NULL },
		{ "larger_regions", larger_regions, NULL },
		{ "other_results", other_results, NULL },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
