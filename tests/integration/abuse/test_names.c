/* Programs that use numbers as names that the library never gave, or gave to another ledger. */
#include "itest.h"
#include "tidemark.h"

#include <errno.h>

static int alloc_numbered(uint64_t id, uint32_t name, const uint64_t *frames, uint32_t frame_count)
{
	const struct tidemark_buffer b = { .size = sizeof b,
		.id = id,
		.bytes = 64,
		.bytes_per_bank = 64,
		.banks = 1,
		.name = name,
		.frames = frames,
		.frame_count = frame_count };
	return tidemark_alloc(&b);
}

/* A child whose program kept its parent's numbers: its buffers count, without these names. */
static void with_old_names(void *context)
{
	const uint32_t *name = context;
	const uint64_t frame = UINT64_C(1) << 63 | *name;
	CHECK(alloc_numbered(1, *name, NULL, 0) == 0);
	CHECK(alloc_numbered(2, 0, &frame, 1) == 0);
	CHECK(alloc_numbered(3, *name + 1, NULL, 0) == -EINVAL); /* nobody gave that one */
	CHECK_EQ(itest_live(0, 0), 2);
	CHECK_EQ(tidemark_lost(), 3); /* two texts and a report */
	size_t count;
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 0, &count);
	for (size_t i = 0; i < count; i++)
		CHECK(buffers[i].slot.name == 0 && buffers[i].slot.stack == 0);
	free(buffers);
	tdm_ledger_close(ledger);
	tidemark_free_all(0, 0);
}

/* Only numbers that tidemark_name() gave are names. */
static void unknown_names(void)
{
	uint32_t name = tidemark_name("a name of some length"), other = tidemark_name("another");
	const uint64_t text = UINT64_C(1) << 63;
	const uint64_t frames[] = { 0x400000, text | name }, bad_frames[] = { text | other, text | (name + 1) };
	uint64_t refused = 0, id = 100;
	CHECK(name != 0 && other != 0);
	CHECK(alloc_numbered(1, name, NULL, 0) == 0 && alloc_numbered(2, other, NULL, 0) == 0);
	for (uint32_t i = 1; i < 4096; i++, refused++)
		if (i != name && i != other)
			CHECK(alloc_numbered(id, i, NULL, 0) == -EINVAL);
		else
			refused--;
	static const uint32_t numbers[] = { 1u << 20, 1u << 25, (1u << 25) - 1, 1u << 31, UINT32_MAX };
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++, refused++)
		CHECK(alloc_numbered(id, numbers[i], NULL, 0) == -EINVAL);
	CHECK(alloc_numbered(1, 12345, NULL, 0) == -EINVAL); /* a buffer that lives stays what it was */
	CHECK(alloc_numbered(3, 0, frames, 2) == 0);
	CHECK(alloc_numbered(id, 0, bad_frames, 2) == -EINVAL);
	CHECK_EQ(itest_live(0, 0), 3);
	CHECK_EQ(tidemark_lost(), refused + 2);
	CHECK(itest_exited(itest_fork(with_old_names, &name)));
	tidemark_free_all(0, 0);
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "unknown_names", unknown_names, NULL },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
