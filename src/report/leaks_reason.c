#include "base/clock.h"
#include "base/duration.h"
#include "base/units.h"
#include "report/leaks_report.h"
#include "report/report_put.h"

#include <math.h>
#include <string.h>

bool tdm_leaks_is_chosen(const struct tdm_leaks_report *report, const struct tdm_leak *leak)
{
	const struct tdm_buffer_filter *filter = &report->live->filter;
	const struct tdm_holding *holding = &report->live->picture->holdings[leak->holding];
	if (filter->has_kind && leak->kind != filter->kind)
		return false;
	if (filter->has_device && holding->number != filter->device)
		return false;
	return leak->bytes >= report->min_bytes;
}

size_t tdm_leaks_chosen(const struct tdm_leaks_report *report, enum tdm_leak_verdict verdict)
{
	size_t count = 0;
	for (size_t i = 0; i < report->result->count; i++)
		count += report->result->leaks[i].verdict == verdict &&
			 tdm_leaks_is_chosen(report, &report->result->leaks[i]);
	return count;
}

static void put_time(struct tdm_buf *out, uint64_t ns)
{
	char text[TDM_DURATION_CAP];
	tdm_buf_puts(out, tdm_format_duration(text, sizeof text, ns));
}

static void put_bytes(struct tdm_buf *out, double bytes)
{
	char text[TDM_BYTES_CAP];
	tdm_buf_puts(out, tdm_format_bytes_short(text, sizeof text, bytes > 0 ? (uint64_t)(bytes + 0.5) : 0));
}

/* "35 buffers of 3.4 MiB" or, when sizes differ, "35 buffers, 119 MiB". */
static void put_buffers(struct tdm_buf *out, uint64_t count, uint64_t bytes)
{
	bool even = count != 0 && bytes % count == 0;
	tdm_put_count(out, count, "buffer", "buffers");
	tdm_buf_puts(out, even ? " of " : ", ");
	put_bytes(out, even ? (double)(bytes / count) : (double)bytes);
}

static void put_growth(const struct tdm_leak *leak, struct tdm_buf *out)
{
	tdm_buf_puts(out, "grew ");
	if (leak->bytes_per_s >= 1) { /* what began lately has no rate yet */
		tdm_buf_puts(out, "by ");
		put_bytes(out, leak->bytes_per_s);
		tdm_buf_puts(out, " a second ");
	}
	tdm_buf_puts(out, "over ");
	put_time(out, leak->watched_ns);
	tdm_buf_puts(out, ": ");
	put_buffers(out, leak->grown_count, leak->grown_bytes);
	tdm_buf_puts(out, " came and stayed");
	if (leak->aged_freed == 0)
		tdm_buf_puts(out, ", and none that was old has been freed");
	else {
		tdm_buf_puts(out, ", ");
		tdm_put_count(out, leak->aged_freed, "old one was freed", "old ones were freed");
	}
}

static void put_lives(const struct tdm_leak *leak, struct tdm_buf *out)
{
	if (leak->siblings != 0) {
		bool is_known = leak->sibling_ns >= leak->sibling_most_ns / 2;
		tdm_buf_puts(out, "; freed ones of this site lived ");
		tdm_buf_puts(out, is_known ? "" : "at most ");
		put_time(out, is_known ? leak->sibling_ns : leak->sibling_most_ns);
	}
	if (leak->oldest_ns != 0) {
		tdm_buf_puts(out, "; the oldest here is ");
		put_time(out, leak->oldest_ns);
		tdm_buf_puts(out, " old");
	}
}

void tdm_leaks_reason(const struct tdm_leaks_report *report, const struct tdm_leak *leak, struct tdm_buf *out)
{
	const struct tdm_picture_process *process = &report->live->picture->processes[leak->process];
	switch ((enum tdm_leak_why)leak->why) {
	case TDM_LEAK_GROWS:
	case TDM_LEAK_UNSURE:
		put_growth(leak, out);
		put_lives(leak, out);
		if (leak->why == TDM_LEAK_UNSURE)
			tdm_buf_puts(out, "; too little to be sure: watch longer");
		return;
	case TDM_LEAK_AT_EXIT:
		put_buffers(out, leak->count, leak->bytes);
		tdm_buf_puts(out, leak->count == 1 ? " was" : " were");
		tdm_buf_puts(out, " never freed: the program ended by itself");
		return;
	case TDM_LEAK_SLOWS:
		put_growth(leak, out);
		tdm_buf_puts(out, "; but slower and slower: a cache that fills, or a warm-up");
		return;
	case TDM_LEAK_LATE:
		put_growth(leak, out);
		tdm_buf_puts(out, "; it began while it was watched: watch again");
		return;
	case TDM_LEAK_LOADING:
		put_growth(leak, out);
		tdm_buf_puts(out, "; but the program may still be loading: watch again when it works");
		return;
	case TDM_LEAK_PROGRAMS:
		put_growth(leak, out);
		tdm_buf_puts(
			out, leak->kind == TDM_KIND_DRAM || leak->kind == TDM_KIND_L1
				     ? "; each came with kernels: new programs are compiled and cached"
				     : "; memory of programs grows as long as new ones are compiled and cached, or "
				       "traces captured");
		return;
	case TDM_LEAK_MANY:
		put_growth(leak, out);
		tdm_buf_puts(out, "; one or two at each of many sites: names that differ every time, or loading");
		return;
	case TDM_LEAK_SPREAD:
		put_buffers(out, leak->count, leak->bytes);
		tdm_buf_puts(out, " live, with births spread evenly over ");
		put_time(out, leak->watched_ns);
		if (process->life == TDM_LIFE_ENDED)
			tdm_buf_puts(out, " until the program was killed");
		put_lives(leak, out);
		return;
	case TDM_LEAK_CONSTANT:
		put_buffers(out, leak->count, leak->bytes);
		tdm_buf_puts(out, ", constant");
		put_lives(leak, out);
		return;
	case TDM_LEAK_TURNS_OVER:
		put_buffers(out, leak->count, leak->bytes);
		tdm_buf_puts(out, ", come and go: ");
		tdm_put_count(out, leak->freed, "was", "were");
		tdm_buf_puts(out, " seen to be freed");
		return;
	case TDM_LEAK_YOUNG:
		put_buffers(out, leak->count, leak->bytes);
		tdm_buf_puts(out, ", grows, but freed ones became as old");
		put_lives(leak, out);
		return;
	case TDM_LEAK_LEVELLED:
		put_buffers(out, leak->count, leak->bytes);
		tdm_buf_puts(out, ": grew by ");
		tdm_put_count(out, leak->grown_count, "buffer", "buffers");
		tdm_buf_puts(out, " and has levelled off");
		return;
	case TDM_LEAK_KILLED:
		put_buffers(out, leak->count, leak->bytes);
		tdm_buf_puts(out, ", left by a program that was killed or crashed: no leak");
		return;
	case TDM_LEAK_RUNTIME:
		put_buffers(out, leak->count, leak->bytes);
		tdm_buf_puts(out, ", which the runtime leaves on the card");
		return;
	case TDM_LEAK_UNWATCHED:
	case TDM_LEAK_WHY_COUNT:
		put_buffers(out, leak->count, leak->bytes);
		put_lives(leak, out);
		return;
	}
}
