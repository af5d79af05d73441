#include "analyze/kernel_sizes.h"
#include "analyze/finding.h"
#include "base/reserve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { BINARIES_MAX = 1 << 22, TEXTS = 5 };

void tdm_kernel_sizes_done(struct tdm_kernel_sizes *s)
{
	free(s->binaries);
	free(s->kernels);
	tdm_buf_done(&s->texts);
	*s = (struct tdm_kernel_sizes){ 0 };
}

static void texts_of(struct tdm_kernel_binary *b, const char **texts[TEXTS])
{
	texts[0] = &b->path;
	texts[1] = &b->target;
	texts[2] = &b->name;
	texts[3] = &b->hash;
	texts[4] = &b->build;
}

/* Appends the texts of a binary to one buffer; pointers are set at the end, when the buffer no longer moves. */
static int take_binary(struct tdm_kernel_sizes *s, const struct tdm_kernel_binary *binary)
{
	const char **texts[TEXTS];
	if (s->count == BINARIES_MAX || tdm_reserve(&s->binaries, &s->cap, s->count + 1, sizeof *s->binaries) != 0)
		return -ENOMEM;
	struct tdm_kernel_binary *b = &s->binaries[s->count++];
	*b = *binary;
	texts_of(b, texts);
	for (int i = 0; i < TEXTS; i++)
		tdm_buf_add(&s->texts, *texts[i], strlen(*texts[i]) + 1);
	s->firmware += b->firmware;
	s->packed_bytes += b->firmware ? 0 : b->packed_bytes;
	s->over_limit += b->over_limit != 0;
	return tdm_buf_failed(&s->texts) ? -ENOMEM : 0;
}

int tdm_kernel_sizes_take(void *sizes, const struct tdm_record *record)
{
	struct tdm_kernel_sizes *s = sizes;
	s->refused += record->type == TDM_RECORD_REFUSED;
	if (record->type == TDM_RECORD_WALK_END)
		s->rest = *record->walk;
	return record->type == TDM_RECORD_BINARY ? take_binary(s, record->binary) : 0;
}

static int compare_kernels(const struct tdm_kernel_binary *a, const struct tdm_kernel_binary *b)
{
	int order = strcmp(a->build, b->build);
	order = order != 0 ? order : strcmp(a->name, b->name);
	return order != 0 ? order : strcmp(a->hash, b->hash);
}

static int compare_binaries(const void *left, const void *right)
{
	const struct tdm_kernel_binary *a = left, *b = right;
	if (a->firmware != b->firmware)
		return a->firmware ? 1 : -1;
	int order = compare_kernels(a, b);
	order = order != 0 ? order : tdm_order(a->order, b->order);
	return order != 0 ? order : strcmp(a->path, b->path);
}

static int compare_sizes(const void *left, const void *right)
{
	const struct tdm_kernel_size *a = left, *b = right;
	return a->ring_bytes != b->ring_bytes ? tdm_order(b->ring_bytes, a->ring_bytes)
					      : tdm_order((uintptr_t)a->first, (uintptr_t)b->first);
}

int tdm_kernel_sizes_end(struct tdm_kernel_sizes *s, uint64_t ring_bytes)
{
	const char *text = s->texts.data;
	for (size_t i = 0; i < s->count; i++) {
		const char **texts[TEXTS];
		texts_of(&s->binaries[i], texts);
		for (int k = 0; k < TEXTS; k++) {
			*texts[k] = text;
			text += strlen(text) + 1;
		}
	}
	s->kernels = calloc(s->count + 1, sizeof *s->kernels);
	if (s->kernels == NULL)
		return -ENOMEM;
	if (s->count != 0)
		qsort(s->binaries, s->count, sizeof *s->binaries, compare_binaries);
	for (size_t i = 0; i < s->count - s->firmware; i++) {
		const struct tdm_kernel_binary *b = &s->binaries[i];
		if (i == 0 || b->hash[0] == '\0' || compare_kernels(b, b - 1) != 0)
			s->kernels[s->kernel_count++].first = b;
		struct tdm_kernel_size *k = &s->kernels[s->kernel_count - 1];
		k->count++;
		k->ring_bytes += tdm_kernel_ring_bytes(b->packed_bytes);
	}
	s->ring_bytes = ring_bytes;
	for (size_t i = 0; i < s->kernel_count; i++) {
		s->kernels[i].ring_share = tdm_share(s->kernels[i].ring_bytes, ring_bytes);
		s->too_large += s->kernels[i].ring_bytes > ring_bytes;
	}
	qsort(s->kernels, s->kernel_count, sizeof *s->kernels, compare_sizes);
	return 0;
}

static int compare_targets(const void *left, const void *right)
{
	const struct tdm_kernel_target *a = left, *b = right;
	return a->order != b->order ? tdm_order(a->order, b->order) : strcmp(a->name, b->name);
}

size_t tdm_kernel_sizes_targets(
	const struct tdm_kernel_sizes *s, bool firmware, struct tdm_kernel_target targets[TDM_KERNEL_TARGETS_MAX])
{
	size_t count = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct tdm_kernel_binary *b = &s->binaries[i];
		size_t k = 0;
		if (b->firmware != firmware)
			continue;
		while (k < count && strcmp(targets[k].name, b->target) != 0)
			k++;
		if (k == TDM_KERNEL_TARGETS_MAX)
			k--; /* the last one holds all others */
		if (k == count) {
			bool is_last = count == TDM_KERNEL_TARGETS_MAX - 1;
			targets[count++] = (struct tdm_kernel_target){ .name = is_last ? "others" : b->target,
				.order = is_last ? UINT8_MAX : b->order };
		}
		targets[k].files++;
		targets[k].bytes += b->packed_bytes;
		targets[k].zeroed += b->zeroed_bytes;
		targets[k].largest = tdm_max(targets[k].largest, b->packed_bytes);
	}
	if (count != 0)
		qsort(targets, count, sizeof *targets, compare_targets);
	return count;
}

void tdm_kernel_sizes_find(const struct tdm_kernel_sizes *s, struct tdm_findings *found)
{
	tdm_findings_counted(found, TDM_FINDING_WARNING, "too_large", "Too large", s->too_large,
		"kernel does not fit the kernel-config ring alone", "kernels do not fit the kernel-config ring alone");
	tdm_findings_counted(found, TDM_FINDING_WARNING, "over_limit", "Over limit", s->over_limit,
		"file with a segment above its limit", "files with a segment above its limit");
	tdm_findings_counted(found, TDM_FINDING_INFO, "links", "Not followed", s->rest.links, "link", "links");
	if (s->rest.unvisited == 0)
		return;
	tdm_findings_remark(found, TDM_FINDING_WARNING, "unvisited", "Not visited");
	tdm_findings_say(found, "%" PRIu64 " folder%s too deep, or beyond %d entries", s->rest.unvisited,
		s->rest.unvisited == 1 ? "" : "s", TDM_WALK_ENTRIES);
}
