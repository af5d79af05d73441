/* The rules of the verdicts: the facts about one site, and what they mean. Nothing outside the leak finder includes
 * this. */
#ifndef TDM_ANALYZE_LEAKS_RULES_H
#define TDM_ANALYZE_LEAKS_RULES_H

#include "analyze/leaks_parts.h"

/* The least that raises a suspicion: windows in which the site was seen, and buffers by which its floor grew. */
enum { TDM_LEAKS_SUSPECT_WINDOWS = 4, TDM_LEAKS_SUSPECT_GROWN = 3 };

/* The facts about one site. */
struct tdm_leaks_facts {
	const struct tdm_leaks *leaks;
	const struct tdm_picture *picture;
	const struct tdm_leaks_site *site;
	const struct tdm_leaks_process *process;
	const uint64_t *births; /* known births of live buffers, in order */
	size_t birth_count;
	double kind_bytes; /* all that the process holds of the kind on the device */
	double floor[TDM_LEAKS_WINDOWS], bytes[TDM_LEAKS_WINDOWS], at_s[TDM_LEAKS_WINDOWS];
	size_t windows, rises;
	double z, grown;
	struct {
		double bytes[TDM_LEAKS_WINDOWS], mean[TDM_LEAKS_WINDOWS], at_s[TDM_LEAKS_WINDOWS];
		size_t windows;
		double z; /* of the mean */
	} sizes;          /* of all buffers, old or not; empty if the site frees nothing */
};

/* Fills in the facts that follow from the floor and the sizes of `site`. */
void tdm_leaks_measure(struct tdm_leaks_facts *facts);

/*
 * The verdict from watching alone, for at least TDM_LEAKS_SUSPECT_WINDOWS windows. `process`: index into the picture.
 */
enum tdm_leak_why tdm_leaks_judge_watched(const struct tdm_leaks_facts *facts, uint32_t process);

/* The verdict from all facts. `first_ns`, `last_ns`: the life of the process. */
enum tdm_leak_why tdm_leaks_judge_site(
	const struct tdm_leaks_facts *facts, uint32_t process, uint64_t first_ns, uint64_t last_ns);

/* Whether the buffers of the site came with these kernels. `kernels`: births of live kernels that came during the
 * watching, in order. */
bool tdm_leaks_is_in_step(const struct tdm_leaks_facts *facts, const uint64_t *kernels, size_t count);

enum tdm_severity tdm_leaks_verdict_of(enum tdm_leak_why why);

#endif
