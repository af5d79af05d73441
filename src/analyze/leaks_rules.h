/* The rules of the verdicts: what is known of one site, and what it means. Nothing outside of the leak finder includes
 * this. */
#ifndef TDM_ANALYZE_LEAKS_RULES_H
#define TDM_ANALYZE_LEAKS_RULES_H

#include "analyze/leaks_parts.h"

/* Less is no reason for a suspicion: windows that it was seen in, and buffers that the floor grew by. */
enum { TDM_LEAKS_SUSPECT_WINDOWS = 4, TDM_LEAKS_SUSPECT_GROWN = 3 };

/* What there is to know of one site. */
struct tdm_leaks_facts {
	const struct tdm_leaks *leaks;
	const struct tdm_picture *picture;
	const struct tdm_leaks_site *site;
	const struct tdm_leaks_process *process;
	const uint64_t *births; /* of what lives and was born at a known time, in order */
	size_t birth_count;
	double kind_bytes; /* that the process holds of the kind on the device */
	double floor[TDM_LEAKS_WINDOWS], bytes[TDM_LEAKS_WINDOWS], at_s[TDM_LEAKS_WINDOWS];
	size_t windows, rises;
	double z, grown;
};

/* Fills in what the floor of `site` tells. */
void tdm_leaks_measure(struct tdm_leaks_facts *facts);

/* What the watching shows. `process`: of the picture. For at least TDM_LEAKS_SUSPECT_WINDOWS windows. */
enum tdm_leak_why tdm_leaks_judge_watched(const struct tdm_leaks_facts *facts, uint32_t process);

/* The same with everything else there is. `first_ns`, `last_ns`: the life of the process. */
enum tdm_leak_why tdm_leaks_judge_site(
	const struct tdm_leaks_facts *facts, uint32_t process, uint64_t first_ns, uint64_t last_ns);

/* Whether the buffers of the site came with these kernels: the births of those that live and came while it was watched,
 * in order. */
bool tdm_leaks_is_in_step(const struct tdm_leaks_facts *facts, const uint64_t *kernels, size_t count);

enum tdm_severity tdm_leaks_verdict_of(enum tdm_leak_why why);

#endif
