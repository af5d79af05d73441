/*
 * Calls every function of tidemark.h, and uses every structure. tests/disable/run compiles it with TIDEMARK_DISABLE,
 * and checks that nothing of the library is needed and that no function is missing here. It also compiles it without,
 * to see that it is a correct program. Valid in C11, C17 and C++17.
 */
#include "tidemark.h"

#include <stdio.h>
#include <string.h>

static int evaluated;

static const char *name_of_a_buffer(void)
{
	evaluated++;
	return "weights";
}

static int describe(void)
{
	struct tidemark_region region = { TIDEMARK_DRAM, 12, 0, 1 << 20, 32, 0 };
	struct tidemark_device device = TIDEMARK_DEVICE_INIT;
	device.region_count = 1;
	device.regions = &region;
	return tidemark_describe_device(&device);
}

static int report(void)
{
	struct tidemark_core_range cores = { 0, 0, 1, 1 };
	struct tidemark_buffer buffer = TIDEMARK_BUFFER_INIT;
	static uint64_t site;
	buffer.bytes = 4096;
	buffer.name = tidemark_name(name_of_a_buffer()) + TIDEMARK_SITE() + tidemark_site(&site, "here:1");
	tidemark_site_slow_(&site, "here:2");
	tidemark_program("matmul");
	tidemark_swap_program(tidemark_swap_program(0));
	tidemark_phase("forward");
	int sum = tidemark_alloc(&buffer) + tidemark_free(0, TIDEMARK_DRAM, 0) + tidemark_adopt(&buffer);
	buffer.id = tidemark_core_id(1, 2, 3);
	sum += tidemark_alloc_(&buffer) + tidemark_free_(0, TIDEMARK_DRAM, buffer.id);
	sum += tidemark_adopt_(&buffer) + tidemark_out_of_memory(0, TIDEMARK_DRAM, 1, 1);
	sum += tidemark_report_kernel(0, 1, 0) + tidemark_report_cb(0, 1, 2, &cores);
	sum += tidemark_report_cb_free(0, 1, 2, &cores);
	sum += (int)tidemark_free_matching(0, TIDEMARK_CB, 0, 0) + tidemark_report_clash(NULL);
	sum += tidemark_report_statistics(0, TIDEMARK_DRAM, 1, 2, 2) + tidemark_report_core_use(0, TIDEMARK_CB, 1, 2);
	sum += tidemark_step(0, TIDEMARK_DEVICE_OPENED, 0) + tidemark_count(tidemark_counter("hook"), 1);
	sum += tidemark_remark("sees everything");
	sum += (int)tidemark_free_all(0, TIDEMARK_DRAM) + (int)tidemark_free_all(0, TIDEMARK_KERNEL);
	return sum;
}

static int capture(void)
{
	struct tidemark_segment segment = TIDEMARK_SEGMENT_INIT;
	char text[16] = "not empty";
	int sum = tidemark_capture_begin(TIDEMARK_CAPTURE_NORMAL);
	sum += tidemark_capture_snapshot("one");
	sum += tidemark_capture_is_active() + tidemark_capture_end("two");
	int found = tidemark_capture_get(0, &segment) == 0 && tidemark_capture_find("one", &segment) == 0 &&
		    tidemark_capture_count() == 2 && tidemark_capture_count_named("one") == 1;
	size_t length = tidemark_capture_format(text, sizeof text);
	sum += tidemark_capture_print() + tidemark_capture_clear();
	return sum + found + (length != strlen(text));
}

int main(void)
{
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	int sum = tidemark_enable() + describe() + report() + capture();
	int known = tidemark_get_usage(0, TIDEMARK_DRAM, &usage) == 0 ||
		    tidemark_reset_peak(0, TIDEMARK_DRAM, &usage) == 0 || tidemark_devices(NULL, 0) != 0;
	size_t texts = strlen(tidemark_version()) + strlen(tidemark_ledger_path()) + strlen(tidemark_strerror(-1)) +
		       strlen(tidemark_kind_name(0));
	int numbers = (int)tidemark_version_number() + (int)tidemark_lost() + tidemark_is_enabled();
	tidemark_disable();
	if (tidemark_is_enabled())
		evaluated += 100;
	printf("%s\n", sum == 0 && !known && texts == 0 && numbers == 0 && evaluated == 1 ? "nothing" : "something");
	return 0;
}
