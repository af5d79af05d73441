/*
 * Fuzz the reader of control groups. Exercises: live/host/proc_facts.c.
 *
 * Properties: what is found is in the text, apart from underscores of a pod; it has no other characters than digits,
 * letters of hexadecimal numbers and hyphens.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fuzz_check.h"
#include "live/host/proc_facts.h"

static void check_text(const char *text, size_t cap, size_t usual, const char *characters)
{
	size_t len = strnlen(text, cap);
	check(len < cap && strspn(text, characters) == len && (len == 0 || usual == 0 || len == usual));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char hex[] = "0123456789abcdefABCDEF-";
	const struct tdm_str text = { (const char *)data, size };
	struct tdm_cgroup cgroup;
	tdm_cgroup_parse(text, &cgroup);
	check_text(cgroup.container, sizeof cgroup.container, 64, hex);
	check_text(cgroup.pod, sizeof cgroup.pod, 36, hex);
	check_text(cgroup.job, sizeof cgroup.job, 0, "0123456789");
	const char *const found[] = { cgroup.container, cgroup.job };
	for (size_t i = 0; i < 2; i++)
		check(found[i][0] == '\0' || memmem(data, size, found[i], strlen(found[i])) != NULL);
	return 0;
}
