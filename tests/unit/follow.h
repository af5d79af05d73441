/*
 * A follower for tests, whose events are counted, folded and written down as letters: P process, m module, d device, c
 * clear, A a listed allocation, a allocation, f release, o out of memory, h phase, g program, u usage, l lost, F
 * forget, s step, t what the runtime said, n notes; '-' after one that changes nothing.
 */
#ifndef TESTS_UNIT_FOLLOW_H
#define TESTS_UNIT_FOLLOW_H

#include <string.h>

#include "base/clock.h"
#include "live/follow/follower.h"
#include "live/join/fold.h"
#include "fold_valid.h"

enum { FOLLOW_LETTERS = 4096, FOLLOW_EVENTS = 64 };

struct follow {
	struct tdm_follow_options options;
	struct tdm_follower *follower;
	struct tdm_fold fold;
	unsigned wants; /* of every device */
	size_t latest;  /* events of a device in one look; 0: all */
	uint64_t now_ns;
	char letters[FOLLOW_LETTERS]; /* of the last look; only the first of a long one */
	size_t letter_count;
	struct tdm_event events[FOLLOW_EVENTS]; /* the last releases, losses and allocations of the ring */
	size_t event_count;
	uint64_t usages, lost;
};

static inline unsigned follow_wants(void *context, uint64_t process, uint32_t device)
{
	(void)process;
	(void)device;
	return ((const struct follow *)context)->wants;
}

static inline char follow_letter(const struct tdm_event *event)
{
	static const char letters[TDM_OP_COUNT] = {
		[TDM_OP_DEVICE] = 'd',
		[TDM_OP_ALLOC] = 'a',
		[TDM_OP_FREE] = 'f',
		[TDM_OP_PHASE] = 'h',
		[TDM_OP_PROGRAM] = 'g',
		[TDM_OP_OOM] = 'o',
		[TDM_OP_QUERY] = '?',
		[TDM_OP_SHRINK] = '?',
		[TDM_OP_PROCESS] = 'P',
		[TDM_OP_USAGE] = 'u',
		[TDM_OP_MODULE] = 'm',
		[TDM_OP_CLEAR] = 'c',
		[TDM_OP_LOST] = 'l',
		[TDM_OP_FORGET] = 'F',
		[TDM_OP_STEP] = 's',
		[TDM_OP_TOLD] = 't',
		[TDM_OP_NOTES] = 'n',
	};
	return (event->flags & TDM_EVENT_LISTED) != 0 ? 'A' : letters[event->op];
}

static inline void follow_event(void *context, struct tdm_event *event)
{
	struct follow *f = context;
	assert_true(tdm_event_is_valid(event));
	if (f->letter_count + 2 < FOLLOW_LETTERS) {
		f->letters[f->letter_count++] = follow_letter(event);
		if ((event->flags & TDM_EVENT_PAST) != 0)
			f->letters[f->letter_count++] = '-';
	}
	f->letters[f->letter_count] = '\0';
	f->usages += event->op == TDM_OP_USAGE;
	f->lost += event->op == TDM_OP_LOST ? event->size : 0;
	int err = tdm_fold_apply(&f->fold, event);
	assert_true(err == 0 || err == -EOVERFLOW);
	bool is_news = event->op == TDM_OP_LOST || event->op == TDM_OP_FREE ||
		       (event->op == TDM_OP_ALLOC && (event->flags & TDM_EVENT_LISTED) == 0);
	if (is_news && f->event_count < FOLLOW_EVENTS)
		f->events[f->event_count++] = *event;
}

static inline void follow_init(struct follow *f, struct tdm_follow_options options, unsigned wants)
{
	memset(f, 0, sizeof *f);
	f->options = options;
	f->wants = wants;
	f->now_ns = tdm_clock_ns();
	tdm_fold_init(&f->fold);
	f->follower = tdm_follower_new(&f->options);
	assert_non_null(f->follower);
}

static inline void follow_done(struct follow *f)
{
	tdm_follower_free(f->follower);
	tdm_fold_done(&f->fold);
}

/* A look when so much time has passed. Its letters. */
static inline const char *follow_look_after(struct follow *f, uint64_t ns)
{
	f->now_ns += ns;
	f->letter_count = f->event_count = 0;
	f->letters[0] = '\0';
	f->usages = f->lost = 0;
	const struct tdm_follow_sink sink = {
		.context = f, .wants = follow_wants, .event = follow_event, .texts = &f->fold.texts, .latest = f->latest
	};
	tdm_follower_look(f->follower, &sink, f->now_ns);
	assert_true(fold_is_valid(&f->fold));
	return f->letters;
}

/* So much later that it looks into the directory, and tries again whatever could not be read. */
static inline const char *follow_look(struct follow *f)
{
	return follow_look_after(f, 1000 * TDM_NS_PER_S);
}

/* What is known of the file whose path ends like this; NULL: it is not followed. */
static inline const struct tdm_followed *follow_find(const struct follow *f, const char *end)
{
	for (size_t i = 0; i < tdm_follower_count(f->follower); i++) {
		const struct tdm_followed *item = tdm_follower_get(f->follower, i);
		size_t length = strlen(item->path);
		if (length >= strlen(end) && strcmp(item->path + length - strlen(end), end) == 0)
			return item;
	}
	return NULL;
}

/* How many ledgers could not be read. */
static inline size_t follow_problems(const struct follow *f)
{
	size_t count = 0;
	for (size_t i = 0; i < tdm_follower_count(f->follower); i++)
		count += tdm_follower_get(f->follower, i)->err != 0;
	return count;
}

static inline size_t fold_buffers(const struct tdm_fold_holding *holding)
{
	size_t count = 0;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		count += holding->kinds[k].count;
	return count;
}

static inline const struct tdm_buffer *fold_buffer(const struct tdm_fold_holding *holding, unsigned kind, uint64_t id)
{
	for (size_t i = 0; i < holding->kinds[kind].count; i++)
		if (holding->kinds[kind].buffers[i].id == id)
			return &holding->kinds[kind].buffers[i];
	return NULL;
}

/* Two folds of the same ledgers. Buffers are compared by what they are, texts by what they say. */

static inline void same_texts(const struct tdm_intern *a, uint32_t x, const struct tdm_intern *b, uint32_t y)
{
	assert_string_equal(a->texts[x], b->texts[y]);
}

static inline void same_stacks(const struct tdm_intern *a, uint32_t x, const struct tdm_intern *b, uint32_t y)
{
	const struct tdm_kept_list *s = &a->stacks.list[x], *t = &b->stacks.list[y];
	const struct tdm_kept_frame *of_s = s->items, *of_t = t->items;
	assert_int_equal(s->count, t->count);
	for (uint32_t i = 0; i < s->count; i++) {
		assert_true(of_s[i].address == of_t[i].address);
		same_texts(a, of_s[i].text, b, of_t[i].text);
	}
}

static inline void same_ranges(const struct tdm_intern *a, uint32_t x, const struct tdm_intern *b, uint32_t y)
{
	const struct tdm_kept_list *s = &a->ranges.list[x], *t = &b->ranges.list[y];
	assert_int_equal(s->count, t->count);
	if (s->count != 0)
		assert_memory_equal(s->items, t->items, s->count * sizeof(struct tdm_core_range));
}

static inline void same_buffers(
	const struct tdm_fold *a, const struct tdm_buffer *x, const struct tdm_fold *b, const struct tdm_buffer *y)
{
	assert_true(x->id == y->id && x->address == y->address && x->asked_bytes == y->asked_bytes &&
		    x->bank_bytes == y->bank_bytes && x->page_size == y->page_size);
	assert_int_equal(x->banks, y->banks);
	assert_int_equal(x->holding_banks, y->holding_banks);
	assert_int_equal(x->cores, y->cores);
	assert_int_equal(x->thread, y->thread);
	assert_int_equal(x->flags, y->flags);
	assert_int_equal(x->kind, y->kind);
	same_texts(&a->texts, x->name, &b->texts, y->name);
	same_texts(&a->texts, x->program, &b->texts, y->program);
	same_stacks(&a->texts, x->stack, &b->texts, y->stack);
	same_ranges(&a->texts, x->ranges, &b->texts, y->ranges);
	/* Times are converted by what was known of the clocks when they were read. */
	uint64_t apart = x->born_ns > y->born_ns ? x->born_ns - y->born_ns : y->born_ns - x->born_ns;
	assert_true(apart < TDM_NS_PER_S);
}

static inline void same_holdings(const struct tdm_fold *a, const struct tdm_fold_holding *x, const struct tdm_fold *b,
	const struct tdm_fold_holding *y)
{
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		assert_int_equal(x->kinds[k].count, y->kinds[k].count);
		assert_true(x->kinds[k].reserved == y->kinds[k].reserved);
		assert_true(x->kinds[k].occupied == y->kinds[k].occupied);
		for (size_t i = 0; i < y->kinds[k].count; i++) {
			const struct tdm_buffer *buffer = fold_buffer(x, k, y->kinds[k].buffers[i].id);
			assert_non_null(buffer);
			same_buffers(a, buffer, b, &y->kinds[k].buffers[i]);
		}
	}
}

#endif
