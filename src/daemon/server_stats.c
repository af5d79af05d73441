#include "daemon/server_stats.h"
#include "base/number.h"

#include <stdio.h>

void tdm_server_stats_init(struct tdm_server_stats *stats)
{
	*stats = (struct tdm_server_stats){
#define X(member, type, name, label, value, unit, help) .member = TDM_BYTES_UNKNOWN,
		TDM_SERVER_STATS_LIST(X)
#undef X
	};
}

void tdm_server_stats_write(const struct tdm_server_stats *stats, struct tdm_metrics_text *text)
{
	static const struct {
		struct tdm_metric_family family;
		const char *label, *value;
	} list[] = {
#define X(member, type, name, label, value, unit, help) { { name, unit, help, TDM_METRIC_##type }, label, value },
		TDM_SERVER_STATS_LIST(X)
#undef X
	};
	const uint64_t values[] = {
#define X(member, type, name, label, value, unit, help) stats->member,
		TDM_SERVER_STATS_LIST(X)
#undef X
	};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		char label[64] = "";
		if (i == 0 || strcmp(list[i].family.name, list[i - 1].family.name) != 0)
			tdm_metrics_family(text, &list[i].family);
		if (list[i].label != NULL)
			snprintf(label, sizeof label, "%s=\"%s\"", list[i].label, list[i].value);
		tdm_metrics_u64(text, label, values[i]);
	}
}
