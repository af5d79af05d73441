/* The identity of a machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/units.h"
#include "live/host/host.h"

#include "fake_tree.h"

static void a_distribution_is_named_in_any_quotes(void **state)
{
	(void)state;
	static const struct {
		const char *text, *name;
	} cases[] = {
		{ "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n",
			"Debian GNU/Linux 12 (bookworm)" },
		{ "PRETTY_NAME='Alpine'", "Alpine" },
		{ "PRETTY_NAME=Arch\r\n", "Arch" },
		{ "PRETTY_NAME=\"\n", "\"" },
		{ "PRETTY_NAME=\n", "" },
		{ "OTHER_PRETTY_NAME=x\nNAME=y\n", "" },
		{ "", "" },
		{ "PRETTY_NAME=\"a\033[2Jb\"", "a?[2Jb" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char name[64];
		tdm_machine_distro(cases[i].text, name, sizeof name);
		assert_string_equal(name, cases[i].name);
	}
}

static void a_long_name_is_cut(void **state)
{
	(void)state;
	char name[13];
	tdm_machine_distro("PRETTY_NAME=a very long name that does not fit", name, sizeof name);
	assert_string_equal(name, "a very lo...");
}

static void the_driver_is_the_one_of_the_tree(void **state)
{
	(void)state;
	struct tdm_machine machine;
	struct tree tree;
	tree_init(&tree);
	tree_text(&tree, "module/tenstorrent/version", "2.4.0\n");
	tdm_machine_read(&machine, tree.root);
	assert_string_equal(machine.driver, "2.4.0");
	tree_unlink(&tree, "module/tenstorrent/version");
	tdm_machine_read(&machine, tree.root);
	assert_string_equal(machine.driver, "");
	assert_string_equal(machine.system, "Linux");
	assert_true(machine.memory_bytes > 1 << 20 && machine.memory_bytes != TDM_BYTES_UNKNOWN);
	assert_true(machine.release[0] != '\0' && machine.machine[0] != '\0' && machine.host[0] != '\0');
	tdm_machine_read(&machine, "/nonexistent");
	assert_string_equal(machine.driver, "");
	tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_distribution_is_named_in_any_quotes),
		cmocka_unit_test(a_long_name_is_cut),
		cmocka_unit_test(the_driver_is_the_one_of_the_tree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
