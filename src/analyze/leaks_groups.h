/* Which sites of the leak finder belong together: their names differ only in numbers, or they share a call stack or a
 * kind. Nothing outside the leak finder includes this. */
#ifndef TDM_ANALYZE_LEAKS_GROUPS_H
#define TDM_ANALYZE_LEAKS_GROUPS_H

#include "analyze/leaks_parts.h"
#include "base/names.h"

/* Sites are grouped by the pattern of their names; the remaining ones by call stack; the rest by kind. */
enum tdm_leaks_level { TDM_LEAKS_BY_PATTERN, TDM_LEAKS_BY_STACK, TDM_LEAKS_BY_KIND, TDM_LEAKS_LEVELS };

/* The name with # for each number, and for each hexadecimal word such as an address or a part of a UUID. False if there
 * is none. */
bool tdm_leaks_pattern(const char *name, char pattern[TDM_NAME_MAX + 1]);

/* A site in a group of its place and kind. */
struct tdm_leaks_member {
	uint64_t place_kind;
	uint32_t group, site;
};

/* Orders members by group, then by site. */
void tdm_leaks_order(struct tdm_leaks_member *members, size_t count);
/* How many members, from the first on, are in its group. */
size_t tdm_leaks_run(const struct tdm_leaks_member *members, size_t count);

/* An empty group at the place and of the kind of `like`. */
struct tdm_leaks_site tdm_leaks_group(const struct tdm_leaks_site *like);
void tdm_leaks_join(struct tdm_leaks_site *group, const struct tdm_leaks_site *site);

#endif
