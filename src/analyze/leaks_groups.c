#include "analyze/leaks_groups.h"
#include "base/number.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { HEX_MIN = 4 }; /* digits of a hexadecimal word without 0x */

static bool is_hex(char c)
{
	return isxdigit((unsigned char)c) != 0;
}

/* The length of the number that `at` begins with; 0: none. `is_first`: no letter or digit is before it. */
static size_t number_length(const char *at, bool is_first)
{
	size_t decimal = strspn(at, "0123456789"), hex = 0, digits = 0;
	size_t prefix = is_first && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && is_hex(at[2]) ? 2 : 0;
	while (is_hex(at[prefix + hex]))
		digits += isdigit((unsigned char)at[prefix + hex++]) != 0;
	bool is_word = is_first && hex >= HEX_MIN && digits != 0 && !isalnum((unsigned char)at[hex]);
	return prefix != 0 ? prefix + hex : is_word ? hex : decimal;
}

bool tdm_leaks_pattern(const char *name, char pattern[TDM_NAME_MAX + 1])
{
	size_t len = 0;
	bool is_first = true, any = false;
	while (*name != '\0' && len < TDM_NAME_MAX) {
		size_t number = number_length(name, is_first);
		any |= number != 0;
		is_first = number == 0 && !isalnum((unsigned char)*name);
		pattern[len++] = number != 0 ? '#' : *name;
		name += number != 0 ? number : 1;
	}
	pattern[len] = '\0';
	return any;
}

static int compare(const void *left, const void *right)
{
	const struct tdm_leaks_member *a = left, *b = right;
	if (a->place_kind != b->place_kind)
		return tdm_order(a->place_kind, b->place_kind);
	return a->group != b->group ? tdm_order(a->group, b->group) : tdm_order(a->site, b->site);
}

void tdm_leaks_order(struct tdm_leaks_member *members, size_t count)
{
	if (count > 1)
		qsort(members, count, sizeof *members, compare);
}

size_t tdm_leaks_run(const struct tdm_leaks_member *members, size_t count)
{
	size_t run = 1;
	while (run < count && members[run].place_kind == members->place_kind && members[run].group == members->group)
		run++;
	return run;
}

struct tdm_leaks_site tdm_leaks_group(const struct tdm_leaks_site *like)
{
	struct tdm_leaks_site group = { .place = like->place, .kind = like->kind };
	for (size_t w = 0; w < TDM_LEAKS_WINDOWS; w++)
		group.floor[w].count = group.floor[w].bytes = TDM_LEAKS_UNSEEN;
	return group;
}

void tdm_leaks_join(struct tdm_leaks_site *group, const struct tdm_leaks_site *site)
{
	for (size_t w = 0; w < TDM_LEAKS_WINDOWS; w++)
		if (site->floor[w].count != TDM_LEAKS_UNSEEN) {
			bool first = group->floor[w].count == TDM_LEAKS_UNSEEN;
			group->floor[w].count = (first ? 0 : group->floor[w].count) + site->floor[w].count;
			group->floor[w].bytes = (first ? 0 : group->floor[w].bytes) + site->floor[w].bytes;
		}
	group->count += site->count;
	group->bytes += site->bytes;
	group->freed += site->freed;
	group->aged += site->aged;
	group->aged_freed += site->aged_freed;
	if (group->oldest_ns == 0 || (site->oldest_ns != 0 && site->oldest_ns < group->oldest_ns))
		group->oldest_ns = site->oldest_ns;
	group->newest_ns = tdm_max(group->newest_ns, site->newest_ns);
}
