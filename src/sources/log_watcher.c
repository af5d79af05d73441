/* The log of the runtime's Watcher: when it looked at the devices, and how much of their stacks the kernels used. */
#include "base/pattern.h"
#include "sources/core_ranges.h"
#include "sources/log_forms.h"

/* "brisc highest stack usage: 192/768, on core (x=1,y=1), running kernel a.cpp (OVERFLOW)"; newer: "64 bytes free". */
static bool parse_stack(struct tdm_str text, struct tdm_log_found *found)
{
	static const char old[] = "%i highest stack usage: %d/%d, on core %*, running kernel %w";
	static const char new[] = "%i highest stack usage: %d bytes free, on core %*, running kernel %w";
	struct tdm_pattern_match m;
	bool is_old = tdm_pattern_match(old, text, &m);
	struct tdm_log_record *r = is_old || tdm_pattern_match(new, text, &m)
					   ? tdm_log_found_add(found, TDM_LOG_STACK, TDM_LOG_BY_WATCHER)
					   : NULL;
	if (r == NULL)
		return false;
	struct tdm_log_stack_use use = { m.fields[0], TDM_LOG_UNKNOWN, TDM_LOG_UNKNOWN, tdm_log_number(m.fields[1]) };
	if (is_old) {
		use.used = use.free;
		use.size = tdm_log_number(m.fields[2]);
		use.free = use.used <= use.size ? use.size - use.used : 0;
	}
	r->stack = use;
	r->name = m.fields[m.count - 1];
	r->has_range = tdm_core_ranges_find(m.fields[m.count - 2], &r->range) != 0;
	static const char word[] = "(OVERFLOW)";
	if (memmem(text.ptr, text.len, word, sizeof word - 1) == NULL)
		return true;
	struct tdm_log_record *failed = tdm_log_found_add(found, TDM_LOG_FAILURE, TDM_LOG_BY_WATCHER);
	if (failed == NULL)
		return true;
	tdm_failure_init(&failed->failure, TDM_FAILURE_STACK, text);
	failed->failure.asked = use.used;
	failed->failure.limit = use.size;
	failed->failure.name = r->name;
	failed->failure.has_range = r->has_range;
	failed->failure.range_count = r->has_range;
	failed->failure.range = r->range;
	return true;
}

bool tdm_log_watcher_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found)
{
	struct tdm_str text = tdm_str_trim(prefix->message);
	struct tdm_pattern_match m;
	if (text.len == 0)
		return false;
	if (parse_stack(text, found))
		return true;
	if (!tdm_pattern_match("Dump #%d at %f%_s", text, &m))
		return false;
	struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_MOMENT, TDM_LOG_BY_WATCHER);
	if (r != NULL)
		r->name = (struct tdm_str){ text.ptr, m.len };
	return r != NULL;
}
