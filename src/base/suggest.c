#include "base/suggest.h"
#include "base/number.h"

enum { WORD_CAP = 48, LETTERS_PER_MISTAKE = 3 };

/*
 * The number of letters to insert, delete, replace or swap with a neighbour to turn one word into the other. Row i of
 * the table has the distances between the first i letters of `a` and every prefix of `b`; three rows are enough.
 */
static size_t distance_between(struct tdm_str a, struct tdm_str b)
{
	size_t rows[3][WORD_CAP + 1];
	for (size_t j = 0; j <= b.len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a.len; i++) {
		size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *swapped = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= b.len; j++) {
			size_t replace = above[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]);
			row[j] = tdm_min(replace, 1 + tdm_min(above[j], row[j - 1]));
			if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1])
				row[j] = tdm_min(row[j], swapped[j - 2] + 1);
		}
	}
	return rows[a.len % 3][b.len];
}

void tdm_suggest_init(struct tdm_suggest *suggest, struct tdm_str word)
{
	*suggest = (struct tdm_suggest){ .word = word, .distance = SIZE_MAX };
}

void tdm_suggest_offer(struct tdm_suggest *suggest, const char *name)
{
	struct tdm_str word = suggest->word, offer = tdm_str_of(name);
	if (name == NULL || word.len == 0 || word.len > WORD_CAP || offer.len > WORD_CAP)
		return;
	bool begins = word.len < offer.len && memcmp(word.ptr, offer.ptr, word.len) == 0;
	size_t distance = begins ? 1 : distance_between(word, offer);
	size_t allowed = word.len < LETTERS_PER_MISTAKE ? 1 : word.len / LETTERS_PER_MISTAKE;
	if (distance > allowed || distance >= offer.len || distance >= suggest->distance)
		return;
	suggest->best = name;
	suggest->distance = distance;
}
