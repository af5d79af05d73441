#include "analyze/pressure/core_speed.h"
#include "base/err.h"
#include "base/names.h"
#include "model/card/card.h"

#include <errno.h>
#include <stdlib.h>

#define EST   "tt-metal noc_latencies.yaml, "
#define NPE   "tt-npe device_models, "
#define ISA   "tt-isa-documentation, "
#define GEMM  "tt-metal tech_reports/GEMM_FLOPS"
#define TRID  "tt-metal examples/trid_double_issue report 57d748a, "
#define RELU  "fit to tt-metal examples/double_buffer report c707185 (12 cells)"
#define ROUND "tt-metal examples/handshake_elision report 30a6c2d: 75 to 88 cycles per dependent round on Blackhole"
#define NO_BH "nothing is published for Blackhole: as on Wormhole"

const char *const tdm_speed_tag_names[] = { "measured", "documented", "derived", "fitted", "assumed", "given" };

static const double value_max = 1e12;

#define M TDM_SPEED_MEASURED
#define D TDM_SPEED_DOCUMENTED
#define E TDM_SPEED_DERIVED
#define F TDM_SPEED_FITTED
#define A TDM_SPEED_ASSUMED

struct fact {
	uint8_t field, tag;
	double value;
	const char *source;
};

static const struct fact wormhole[] = {
	{ TDM_SPEED_CLOCK, D, 1000, GEMM },
	{ TDM_SPEED_DRAM_READ_FIXED, E, 400, EST "interleaved read of 2 and 4 KiB: 479 and 558" },
	{ TDM_SPEED_DRAM_READ_PER_KIB, E, 39.5, EST "interleaved read of 2 and 4 KiB: 479 and 558" },
	{ TDM_SPEED_DRAM_READ_BANDWIDTH, E, 31.27, EST "64 reads of 2 KiB: 65.5 cycles each" },
	{ TDM_SPEED_DRAM_READ_ISSUE, E, 36, EST "interleaved reads of 64 B" },
	{ TDM_SPEED_DRAM_WRITE_FIXED, E, 427, EST "interleaved write of 2 and 4 KiB: 511 and 595" },
	{ TDM_SPEED_DRAM_WRITE_PER_KIB, E, 42, EST "interleaved write of 2 and 4 KiB: 511 and 595" },
	{ TDM_SPEED_DRAM_WRITE_BANDWIDTH, E, 28.85, EST "64 writes of 2 KiB: 71 cycles each" },
	{ TDM_SPEED_DRAM_WRITE_ISSUE, E, 40, EST "interleaved writes of 64 B" },
	{ TDM_SPEED_L1_READ_FIXED, E, 295, EST "read of 2 and 4 KiB on another axis: 366 and 437" },
	{ TDM_SPEED_L1_READ_PER_KIB, E, 35.5, EST "read of 2 and 4 KiB on another axis: 366 and 437" },
	{ TDM_SPEED_L1_READ_BANDWIDTH, E, 28.44, EST "L1 reads of 2 KiB: 72 cycles each" },
	{ TDM_SPEED_L1_READ_ISSUE, E, 25, EST "L1 reads of 64 B" },
	{ TDM_SPEED_L1_WRITE_FIXED, A, 180, NPE "40 + 10 cycles per hop there, as many back; 5 hops assumed" },
	{ TDM_SPEED_L1_WRITE_PER_KIB, A, 36.4, NPE "28.1 B/cycle into the network" },
	{ TDM_SPEED_L1_WRITE_BANDWIDTH, D, 28.1, NPE "worker inject" },
	{ TDM_SPEED_L1_WRITE_ISSUE, E, 23, EST "L1 writes of 64 B" },
	{ TDM_SPEED_COPY_BANDWIDTH, A, 28.85, "nothing is published for Wormhole: as without reads" },
	{ TDM_SPEED_DRAM_TOTAL, M, 190, ISA "12 readers paired with banks at random, NoC 0" },
	{ TDM_SPEED_FLUSH, E, 10, ISA "into and out of the network" },
	{ TDM_SPEED_CALL, F, 14, RELU "; " ISA "a register load takes 7 cycles or more, so 10 to 15" },
	{ TDM_SPEED_SYNC, E, 16, ROUND ", less four calls, half each way" },
	{ TDM_SPEED_UNPACK_BANDWIDTH, E, 64, ISA "one unpacker" },
	{ TDM_SPEED_PACK_BANDWIDTH, E, 64, ISA "four packers of 16 B/cycle" },
	{ TDM_SPEED_PACK_FIXED, E, 4,
		"tt-metal issue 56806: packing a bf16 tile alone takes 36 cycles, 32 for its bytes" },
	{ TDM_SPEED_MATH_ROUND, F, 88, RELU ", with 3 vector instructions for relu" },
	{ TDM_SPEED_FPU_ADD, E, 8, "tt-metal tech_reports/matrix_engine" },
	{ TDM_SPEED_FPU_MUL, E, 8, "tt-metal tech_reports/matrix_engine" },
	{ TDM_SPEED_MATMUL, D, 16, GEMM },
	{ TDM_SPEED_REDUCE, E, 4, "tt-metal tech_reports/matrix_engine" },
	{ TDM_SPEED_SFPU, E, 32, ISA "32 vectors in a tile" },
};

/* Differences from Wormhole. */
static const struct fact blackhole[] = {
	{ TDM_SPEED_CLOCK, D, 1350, GEMM },
	{ TDM_SPEED_DRAM_READ_FIXED, E, 502, EST "interleaved read of 2 and 4 KiB: 539 and 576" },
	{ TDM_SPEED_DRAM_READ_PER_KIB, E, 18.5, EST "interleaved read of 2 and 4 KiB: 539 and 576" },
	{ TDM_SPEED_DRAM_READ_BANDWIDTH, E, 60.4, EST "64 reads of 2 KiB: 33.9 cycles each" },
	{ TDM_SPEED_DRAM_READ_ISSUE, E, 27, EST "interleaved reads of 64 B" },
	{ TDM_SPEED_DRAM_WRITE_FIXED, E, 387, EST "interleaved write of 2 and 4 KiB: 420 and 453" },
	{ TDM_SPEED_DRAM_WRITE_PER_KIB, E, 16.5, EST "interleaved write of 2 and 4 KiB: 420 and 453" },
	{ TDM_SPEED_DRAM_WRITE_BANDWIDTH, E, 60.2, EST "64 writes of 2 KiB: 34 cycles each" },
	{ TDM_SPEED_DRAM_WRITE_ISSUE, E, 31, EST "interleaved writes of 64 B" },
	{ TDM_SPEED_L1_READ_FIXED, E, 389, EST "read of 2 and 4 KiB on another axis: 414 and 439" },
	{ TDM_SPEED_L1_READ_PER_KIB, E, 12.5, EST "read of 2 and 4 KiB on another axis: 414 and 439" },
	{ TDM_SPEED_L1_READ_BANDWIDTH, E, 58.5, EST "L1 reads of 2 KiB: 35 cycles each" },
	{ TDM_SPEED_L1_READ_ISSUE, E, 35, EST "L1 reads of 64 B" },
	{ TDM_SPEED_L1_WRITE_FIXED, A, 190, NPE "40 + 11 cycles per hop there, as many back; 5 hops assumed" },
	{ TDM_SPEED_L1_WRITE_PER_KIB, A, 16.8, NPE "60.9 B/cycle into the network" },
	{ TDM_SPEED_L1_WRITE_BANDWIDTH, D, 60.9, NPE "worker inject" },
	{ TDM_SPEED_L1_WRITE_ISSUE, E, 24, EST "L1 writes of 64 B" },
	{ TDM_SPEED_COPY_BANDWIDTH, E, 52.2, TRID "section 4: what 8 and 16 pages more add to a block" },
	{ TDM_SPEED_DRAM_TOTAL, M, 500, "tt-metal PR 47885: readers next to their banks" },
	{ TDM_SPEED_SYNC, E, 16, ROUND ", less four calls, half each way" },
	{ TDM_SPEED_CALL, A, 14, NO_BH },
	{ TDM_SPEED_FLUSH, A, 10, NO_BH },
	{ TDM_SPEED_UNPACK_BANDWIDTH, A, 64, NO_BH },
	{ TDM_SPEED_PACK_BANDWIDTH, A, 64, NO_BH },
	{ TDM_SPEED_PACK_FIXED, A, 4, NO_BH },
	{ TDM_SPEED_MATH_ROUND, A, 88, NO_BH },
};

#undef M
#undef D
#undef E
#undef F
#undef A

const struct tdm_speed_info tdm_speed_info[TDM_SPEED_COUNT] = {
#define X(id, name, unit, summary) { name, unit, summary },
	TDM_SPEED_LIST(X)
#undef X
};

static void apply(struct tdm_core_speed *speed, const struct fact *facts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		speed->value[facts[i].field] = facts[i].value;
		speed->tag[facts[i].field] = facts[i].tag;
		speed->source[facts[i].field] = facts[i].source;
	}
}

void tdm_core_speed_init(struct tdm_core_speed *speed, enum tdm_arch arch)
{
	*speed = (struct tdm_core_speed){ .arch = arch };
	apply(speed, wormhole, sizeof wormhole / sizeof *wormhole);
	if (arch == TDM_ARCH_BLACKHOLE)
		apply(speed, blackhole, sizeof blackhole / sizeof *blackhole);
	for (int i = 0; i < TDM_SPEED_COUNT && arch != TDM_ARCH_BLACKHOLE && arch != TDM_ARCH_WORMHOLE; i++) {
		speed->tag[i] = TDM_SPEED_ASSUMED;
		speed->source[i] = "nothing is published for this architecture: as on Wormhole";
	}
}

int tdm_core_speed_set(struct tdm_core_speed *speed, struct tdm_str assignment, struct tdm_diag *diag)
{
	struct tdm_str name, value;
	char text[64], *end;
	if (!tdm_card_assignment_split(assignment, &name, &value) || value.len == 0)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, assignment.len + 1, "expected NAME=NUMBER, such as call=20");
	struct tdm_suggest suggest;
	size_t field = 0;
	tdm_suggest_init(&suggest, name);
	for (; field < TDM_SPEED_COUNT && !tdm_str_is(name, tdm_speed_info[field].name); field++)
		tdm_suggest_offer(&suggest, tdm_speed_info[field].name);
	if (field == TDM_SPEED_COUNT)
		return tdm_diag_set(diag, TDM_EFIELD, 0, (uint64_t)(name.ptr - assignment.ptr) + 1,
			"no constant is called '%s'%s%s; --explain-model lists them",
			tdm_str_shown(name, (char[TDM_CARD_SHOWN_CAP]){ 0 }, TDM_CARD_SHOWN_CAP),
			suggest.best != NULL ? ": did you mean " : "", suggest.best != NULL ? suggest.best : "");
	uint64_t column = (uint64_t)(value.ptr - assignment.ptr) + 1;
	bool is_long = value.len >= sizeof text;
	memcpy(text, value.ptr, is_long ? 0 : value.len);
	text[is_long ? 0 : value.len] = '\0';
	double number = strtod(text, &end);
	if (is_long || end == text || text[strspn(text, "0123456789.eE+-")] != '\0' || *end != '\0')
		return tdm_diag_set(
			diag, TDM_ESYNTAX, 0, column, "expected a number of %s", tdm_speed_info[field].unit);
	bool divides = strchr(tdm_speed_info[field].unit, '/') != NULL || field == TDM_SPEED_CLOCK;
	if (number < 0 || number > value_max || (divides && number < 1 / value_max))
		return tdm_diag_set(diag, -ERANGE, 0, column, "%s is at least 0 and at most %g, and a rate is not 0",
			tdm_speed_info[field].name, value_max);
	speed->value[field] = number;
	speed->tag[field] = TDM_SPEED_GIVEN;
	speed->source[field] = "as given";
	return 0;
}
