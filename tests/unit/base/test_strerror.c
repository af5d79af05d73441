/* The texts of the library's codes speak of buffers, devices and ledgers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tidemark.h"

static void codes_of_the_library_have_their_own_texts(void **state)
{
	static const int codes[] = { EINVAL, ENOENT, EEXIST, ENODEV, EBUSY, ENOSPC, ENOMEM, EFBIG, ENOTDIR, EACCES,
		EPERM, EROFS, ENAMETOOLONG, EMFILE, ENFILE, ERANGE, EDEADLK, EIO };
	(void)state;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		const char *text = tidemark_strerror(-codes[i]);
		assert_string_not_equal(text, strerrordesc_np(codes[i]));
		if (strpbrk(text, "\n.!") != NULL || strlen(text) < 20)
			fail_msg("%s", text);
	}
	assert_string_equal(tidemark_strerror(-ENOENT), "no live buffer with this id on this device");
	assert_non_null(strstr(tidemark_strerror(-ENOTDIR), "TIDEMARK_DIR"));
	assert_non_null(strstr(tidemark_strerror(-EEXIST), "already known"));
}

static void other_codes_have_a_text(void **state)
{
	(void)state;
	assert_string_equal(tidemark_strerror(0), "no error");
	assert_string_equal(tidemark_strerror(-ECONNRESET), strerrordesc_np(ECONNRESET));
	assert_non_null(strstr(tidemark_strerror(TIDEMARK_ECAPTURE_ACTIVE), "already active"));
	assert_string_equal(tidemark_strerror(-99999), "unknown error");
	assert_string_equal(tidemark_strerror(EINVAL), "unknown error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_of_the_library_have_their_own_texts),
		cmocka_unit_test(other_codes_have_a_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
