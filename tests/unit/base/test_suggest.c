/* "Did you mean …": which of several names is closest to a mistyped word. */
#include "base/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *suggested(const char *word, const char *const *names)
{
	struct tdm_suggest suggest;
	tdm_suggest_init(&suggest, tdm_str_of(word));
	for (; *names != NULL; names++)
		tdm_suggest_offer(&suggest, *names);
	return suggest.best;
}

#define SUGGESTED(word, ...) suggested(word, (const char *const[]){ __VA_ARGS__, NULL })

static void a_name_is_close_by_few_mistakes(void **state)
{
	(void)state;
	assert_string_equal(SUGGESTED("mitten", "kitten"), "kitten"); /* another letter */
	assert_string_equal(SUGGESTED("dmup", "dump"), "dump");       /* two that are swapped are one mistake */
	assert_string_equal(SUGGESTED("statuss", "status"), "status");
	assert_string_equal(SUGGESTED("staus", "status"), "status");
	assert_string_equal(SUGGESTED("sitten", "mitted"), "mitted"); /* two mistakes in six letters, */
	assert_null(SUGGESTED("sitten", "mitxed"));                   /* but not three, */
	assert_null(SUGGESTED("dmpu", "dump"));                       /* nor two in four */
	assert_string_equal(SUGGESTED("ob", "ab"), "ab");
	assert_null(SUGGESTED("o", "a")); /* nothing of it is right */
	assert_null(SUGGESTED("", "a"));
}

static void a_beginning_is_close_to_the_whole(void **state)
{
	(void)state;
	assert_string_equal(SUGGESTED("l1_smal", "l1_size", "l1_small"), "l1_small");
	assert_string_equal(SUGGESTED("si", "simulate"), "simulate");
	assert_null(SUGGESTED("simulate", "si"));
}

static void the_closest_counts_and_of_equals_the_first(void **state)
{
	(void)state;
	assert_string_equal(SUGGESTED("recird", "recite", "record"), "record");
	assert_string_equal(SUGGESTED("fit", "fat", "fix"), "fat");
	assert_string_equal(SUGGESTED("fit", "zzz", "fix"), "fix");
}

static void long_words_are_left_alone(void **state)
{
	char word[50];
	(void)state;
	memset(word, 'a', sizeof word);
	word[48] = '\0';
	char near[50];
	memcpy(near, word, sizeof near);
	near[0] = 'b';
	assert_ptr_equal(SUGGESTED(word, near), near);
	word[48] = 'a';
	word[49] = '\0';
	assert_null(SUGGESTED(word, near));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_close_by_few_mistakes),
		cmocka_unit_test(a_beginning_is_close_to_the_whole),
		cmocka_unit_test(the_closest_counts_and_of_equals_the_first),
		cmocka_unit_test(long_words_are_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
