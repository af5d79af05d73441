/* A program without a dynamic loader: linked with -static, and again with -static-pie. */
#include "itest.h"
#include "tidemark.h"

/* Two functions that keep frame pointers (CMakeLists.txt), so that there is a stack to take. */
__attribute__((noinline)) static void report_here(uint64_t id)
{
	CHECK(itest_alloc(0, TIDEMARK_DRAM, id, 64, 1) == 0);
	CHECK_EQ(itest_live(0, TIDEMARK_DRAM), id);
}

static int stacks_role(void)
{
	uint64_t frames[TDM_LEDGER_STACK_MAX];
	size_t count;
	report_here(1);
	report_here(2);
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 0, &count);
	CHECK_EQ(count, 2);
	CHECK(tdm_ledger_stack(ledger, buffers[0].slot.stack, frames) >= 2);
	free(buffers);
	tdm_ledger_close(ledger);
	return 0;
}

/* Loading libunwind would crash here, whether or not it was asked for. */
static void stacks(void)
{
	static const char *const unwind[] = { "TIDEMARK_UNWIND=", "TIDEMARK_UNWIND=libunwind", "TIDEMARK_UNWIND=fp" };
	for (unsigned i = 0; i < sizeof unwind / sizeof *unwind; i++) {
		const char *environment[] = { "TIDEMARK_STACKS=8", unwind[i], NULL };
		CHECK(itest_exited(itest_spawn("stacks_role", environment)));
	}
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "stacks", stacks, NULL },
		{ "stacks_role", NULL, stacks_role },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
