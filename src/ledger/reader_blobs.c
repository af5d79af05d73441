/*
 * Blobs. A blob's number times TDM_LEDGER_BLOB_UNIT is its offset in the blob area, the concatenation of the blob
 * segments; it never crosses the border between two. Blobs never change, so the ones that were read are kept. A damaged
 * ledger can refer to overlapping blobs; those that are kept never exceed the size of the area in total.
 */
#include "ledger/reader_parts.h"
#include "base/err.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>

enum {
	FIRST_NUMBER = 2, /* smaller numbers are never used */
	CONTENT_MAX = TDM_LEDGER_FIRST_BLOB / 2,
	WINDOW_BYTES = TDM_LEDGER_FIRST_BLOB, /* divides every segment */
};

void tdm_ledger_blobs_done(struct tdm_ledger *ledger)
{
	for (size_t i = 0; i < ledger->kept_count; i++)
		free((void *)(uintptr_t)ledger->kept[i].content);
	free(ledger->kept);
	free(ledger->modules);
	tdm_map_done(&ledger->by_number);
}

/*
 * The place in the file of `at`, an offset in the blob area, and the bytes left in its segment. False: there is none.
 */
static bool find_place(const struct tdm_ledger *ledger, uint64_t at, uint64_t *offset, uint64_t *left)
{
	uint64_t begin = 0;
	for (uint32_t k = 0; k < ledger->header.blob_segments; k++) {
		uint64_t bytes = (uint64_t)TDM_LEDGER_FIRST_BLOB << k;
		if (at - begin < bytes) {
			*offset = ledger->header.blob_offset[k] + (at - begin);
			*left = bytes - (at - begin);
			return true;
		}
		begin += bytes;
	}
	return false;
}

static bool head_is_valid(const struct tdm_ledger_blob *head, uint64_t left)
{
	switch (head->kind) {
	case TDM_BLOB_TEXT:
		if (head->bytes > TDM_LEDGER_TEXT_MAX)
			return false;
		break;
	case TDM_BLOB_STACK:
		if (head->bytes % sizeof(uint64_t) != 0 || head->bytes > TDM_LEDGER_STACK_MAX * sizeof(uint64_t))
			return false;
		break;
	case TDM_BLOB_MODULE:
		if (head->bytes < 2 * sizeof(uint64_t))
			return false;
		break;
	case TDM_BLOB_RANGES:
		if (head->bytes % sizeof(struct tdm_core_range) != 0 ||
			head->bytes > TDM_LEDGER_RANGES_MAX * sizeof(struct tdm_core_range))
			return false;
		break;
	default:
		return false;
	}
	return head->bytes <= CONTENT_MAX && left >= sizeof *head && head->bytes <= left - sizeof *head;
}

/* Takes ownership of `content`. */
static const struct tdm_ledger_kept *keep(
	struct tdm_ledger *ledger, uint32_t number, const struct tdm_ledger_blob *head, char *content)
{
	if (tdm_reserve(&ledger->kept, &ledger->kept_cap, ledger->kept_count + 1, sizeof *ledger->kept) != 0)
		return NULL;
	if (tdm_map_put(&ledger->by_number, number, (uint32_t)ledger->kept_count) != 0)
		return NULL;
	ledger->kept[ledger->kept_count] = (struct tdm_ledger_kept){ content, head->kind, head->bytes };
	ledger->kept_bytes += sizeof *head + head->bytes;
	return &ledger->kept[ledger->kept_count++];
}

/* The completed bytes of the blob area, at most as many as the segments hold. */
static uint64_t blob_end(const struct tdm_ledger *ledger)
{
	uint64_t capacity = (uint64_t)TDM_LEDGER_FIRST_BLOB * ((UINT64_C(1) << ledger->header.blob_segments) - 1);
	return ledger->header.blob_used < capacity ? ledger->header.blob_used : capacity;
}

/* The area may have grown since the last picture: reads its length again. */
static void refresh_area(struct tdm_ledger *ledger)
{
	struct tdm_ledger_header fresh;
	if (tdm_ledger_read(ledger, 0, &fresh, sizeof fresh) != 0 || tdm_ledger_measure(ledger) != 0)
		return;
	uint32_t k = ledger->header.blob_segments;
	for (; k < fresh.blob_segments && k < TDM_LEDGER_BLOB_SEGMENTS; k++) {
		if (!tdm_ledger_is_inside(ledger, fresh.blob_offset[k], (uint64_t)TDM_LEDGER_FIRST_BLOB << k))
			break;
		ledger->header.blob_offset[k] = fresh.blob_offset[k];
	}
	ledger->header.blob_segments = k;
	ledger->header.blob_used = fresh.blob_used;
}

static const struct tdm_ledger_kept *read_blob(struct tdm_ledger *ledger, uint32_t number)
{
	uint64_t at = (uint64_t)number * TDM_LEDGER_BLOB_UNIT, offset, left;
	struct tdm_ledger_blob head;
	if (at >= blob_end(ledger))
		refresh_area(ledger);
	uint64_t end = blob_end(ledger);
	if (at >= end || !find_place(ledger, at, &offset, &left))
		return NULL;
	uint64_t complete = end - at;
	left = left < complete ? left : complete;
	if (left < sizeof head || tdm_ledger_read(ledger, offset, &head, sizeof head) != 0 ||
		!head_is_valid(&head, left) || ledger->kept_bytes + head.bytes > end)
		return NULL;
	char *content = malloc(head.bytes != 0 ? head.bytes : 1);
	if (content == NULL)
		return NULL;
	const struct tdm_ledger_kept *kept = NULL;
	if (tdm_ledger_read(ledger, offset + sizeof head, content, head.bytes) == 0)
		kept = keep(ledger, number, &head, content);
	if (kept == NULL)
		free(content);
	return kept;
}

static const struct tdm_ledger_kept *get_blob(struct tdm_ledger *ledger, uint32_t number, enum tdm_blob_kind kind)
{
	if (number == 0)
		return NULL;
	uint32_t i = number >= FIRST_NUMBER ? tdm_map_find(&ledger->by_number, number) : TDM_MAP_NONE;
	const struct tdm_ledger_kept *kept = NULL;
	if (i != TDM_MAP_NONE)
		kept = &ledger->kept[i];
	else if (number >= FIRST_NUMBER)
		kept = read_blob(ledger, number);
	if (kept != NULL && kept->kind == (uint32_t)kind)
		return kept;
	ledger->refused++;
	return NULL;
}

struct tdm_str tdm_ledger_text(struct tdm_ledger *ledger, uint32_t number)
{
	const struct tdm_ledger_kept *kept = get_blob(ledger, number, TDM_BLOB_TEXT);
	return kept != NULL ? (struct tdm_str){ kept->content, kept->bytes } : (struct tdm_str){ "", 0 };
}

size_t tdm_ledger_stack(struct tdm_ledger *ledger, uint32_t number, uint64_t frames[TDM_LEDGER_STACK_MAX])
{
	const struct tdm_ledger_kept *kept = get_blob(ledger, number, TDM_BLOB_STACK);
	if (kept == NULL)
		return 0;
	memcpy(frames, kept->content, kept->bytes);
	return kept->bytes / sizeof *frames;
}

const struct tdm_core_range *tdm_ledger_ranges(struct tdm_ledger *ledger, uint32_t number, uint32_t *count)
{
	const struct tdm_ledger_kept *kept = get_blob(ledger, number, TDM_BLOB_RANGES);
	*count = 0;
	if (kept == NULL)
		return NULL;
	const struct tdm_core_range *ranges = (const void *)kept->content; /* aligned by malloc() */
	uint32_t all = kept->bytes / (uint32_t)sizeof *ranges;
	for (uint32_t i = 0; i < all; i++)
		if (!tdm_core_range_is_valid(&ranges[i])) {
			ledger->refused++;
			return NULL;
		}
	*count = all;
	return all != 0 ? ranges : NULL;
}

/* Modules, found by a walk over the completed blobs. */

static bool add_module(struct tdm_ledger *ledger, uint64_t at)
{
	if (tdm_reserve(&ledger->modules, &ledger->module_cap, ledger->module_count + 1, sizeof *ledger->modules) != 0)
		return false;
	ledger->modules[ledger->module_count++] = (uint32_t)(at / TDM_LEDGER_BLOB_UNIT);
	return true;
}

/* A part of the blob area in memory, so that small blobs do not cost a system call each. */
struct window {
	uint64_t at;
	size_t bytes;
	char data[WINDOW_BYTES];
};

static bool window_head(const struct tdm_ledger *ledger, struct window *window, uint64_t at, uint64_t left,
	struct tdm_ledger_blob *head)
{
	if (at < window->at || at - window->at >= window->bytes || window->bytes - (at - window->at) < sizeof *head) {
		uint64_t offset, rest;
		if (!find_place(ledger, at, &offset, &rest))
			return false;
		rest = rest < left ? rest : left;
		window->at = at;
		window->bytes = rest < WINDOW_BYTES ? (size_t)rest : WINDOW_BYTES;
		if (tdm_ledger_read(ledger, offset, window->data, window->bytes) != 0) {
			window->bytes = 0;
			return false;
		}
	}
	memcpy(head, window->data + (at - window->at), sizeof *head);
	return true;
}

static void find_modules(struct tdm_ledger *ledger)
{
	struct window *window = malloc(sizeof *window);
	uint64_t at = ledger->modules_seen, offset, left, used = blob_end(ledger);
	if (at == 0)
		at = FIRST_NUMBER * TDM_LEDGER_BLOB_UNIT;
	if (window == NULL)
		return;
	window->at = window->bytes = 0;
	while (at < used && find_place(ledger, at, &offset, &left)) {
		struct tdm_ledger_blob head;
		uint64_t known = left < used - at ? left : used - at;
		if (known < sizeof head || !window_head(ledger, window, at, known, &head) ||
			!head_is_valid(&head, known)) {
			at += left; /* the unused end of a segment, or a damaged segment */
			continue;
		}
		if (head.kind == TDM_BLOB_MODULE && !add_module(ledger, at))
			break;
		uint64_t padded = (head.bytes + TDM_LEDGER_BLOB_UNIT - 1) / TDM_LEDGER_BLOB_UNIT * TDM_LEDGER_BLOB_UNIT;
		at += sizeof head + padded;
	}
	ledger->modules_seen = at;
	free(window);
}

int tdm_ledger_module(struct tdm_ledger *ledger, size_t i, uint64_t *base, uint64_t *size, struct tdm_str *path)
{
	if (i >= ledger->module_count)
		find_modules(ledger);
	for (; i < ledger->module_count; i++) {
		const struct tdm_ledger_kept *kept = get_blob(ledger, ledger->modules[i], TDM_BLOB_MODULE);
		if (kept == NULL)
			break;
		memcpy(base, kept->content, sizeof *base);
		memcpy(size, kept->content + sizeof *base, sizeof *size);
		*path = (struct tdm_str){ kept->content + 2 * sizeof *base, kept->bytes - 2 * sizeof *base };
		return 1;
	}
	return 0;
}
