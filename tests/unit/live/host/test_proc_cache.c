/* Cached facts about processes: used as long as the process is the same, and read again from time to time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "live/host/proc_facts.h"

#include "fake_tree.h"

static void put(struct tree *tree, int pid, unsigned long long start, const char *comm, char state)
{
	tree_process(tree, "proc",
		(struct tree_process){ .pid = pid, .uid = 7, .start = start, .comm = comm, .state = state });
}

static const char *name_of(const struct tdm_proc_root *root, int pid, struct tdm_proc_facts *facts)
{
	tdm_proc_facts_read(root, pid, facts);
	return facts->comm;
}

static void test_rounds(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_proc_root root;
	struct tdm_proc_facts facts;
	uint64_t now = 100 * TDM_NS_PER_S;
	tree_init(&tree);
	put(&tree, 10, 500, "first", 'R');
	tdm_proc_root_init(&root, tree_path(&tree, "proc"));
	root.cache = tdm_proc_cache_new();
	tdm_proc_cache_round(root.cache, now);
	assert_string_equal(name_of(&root, 10, &facts), "first");
	/* In one round there is one answer, whatever happens. */
	put(&tree, 10, 600, "second", 'S');
	assert_string_equal(name_of(&root, 10, &facts), "first");
	/* In the next one the process is another: all of it is read. */
	tdm_proc_cache_round(root.cache, now += TDM_NS_PER_S);
	assert_string_equal(name_of(&root, 10, &facts), "second");
	assert_true(facts.start_time == 600);
	/* The same process: its state is read, its name is not. */
	put(&tree, 10, 600, "third", 'Z');
	tdm_proc_cache_round(root.cache, now += TDM_NS_PER_S);
	assert_string_equal(name_of(&root, 10, &facts), "second");
	assert_int_equal(facts.state, 'Z');
	/* After a while it is. */
	tdm_proc_cache_round(root.cache, now += 20 * TDM_NS_PER_S);
	assert_string_equal(name_of(&root, 10, &facts), "third");
	/* It ends. */
	tree_unlink(&tree, "proc/10");
	tdm_proc_cache_round(root.cache, now += TDM_NS_PER_S);
	tdm_proc_facts_read(&root, 10, &facts);
	assert_int_equal(facts.err, -ENOENT);
	/* And comes again. */
	put(&tree, 10, 700, "fourth", 'R');
	tdm_proc_cache_round(root.cache, now += TDM_NS_PER_S);
	assert_string_equal(name_of(&root, 10, &facts), "fourth");
	tdm_proc_cache_free(root.cache);
	tdm_proc_root_done(&root);
	tree_done(&tree);
}

static struct tdm_proc_facts said(uint64_t start)
{
	return (struct tdm_proc_facts){
		.state = '?', .uid = 77, .start_time = start, .comm = "said", .command = "said --so"
	};
}

/* What a ledger says of its process counts for that process only. */
static void test_said(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_proc_root root;
	struct tdm_proc_facts facts, ten = said(500), eleven = said(999), twelve = said(502);
	uint64_t now = 100 * TDM_NS_PER_S;
	tree_init(&tree);
	put(&tree, 10, 500, "proc", 'R');
	put(&tree, 11, 501, "proc", 'R');
	tdm_proc_root_init(&root, tree_path(&tree, "proc"));
	root.cache = tdm_proc_cache_new();
	for (int round = 0; round < 3; round++) {
		tdm_proc_cache_round(root.cache, now += TDM_NS_PER_S);
		tdm_proc_cache_put(root.cache, 10, &ten, false);
		tdm_proc_cache_put(root.cache, 11, &eleven, false);
		tdm_proc_cache_put(root.cache, 12, &twelve, false);
		assert_string_equal(name_of(&root, 10, &facts), "said");
		assert_string_equal(facts.command, "said --so");
		assert_int_equal(facts.uid, 77);
		assert_int_equal(facts.state, 'R');
		assert_string_equal(name_of(&root, 11, &facts), "proc");
		assert_int_equal(facts.uid, 7);
		tdm_proc_facts_read(&root, 12, &facts);
		assert_int_equal(facts.err, -ENOENT);
	}
	/* One that is known to run is not looked for. */
	tdm_proc_cache_round(root.cache, now += TDM_NS_PER_S);
	tdm_proc_cache_put(root.cache, 12, &twelve, true);
	assert_string_equal(name_of(&root, 12, &facts), "said");
	assert_int_equal(facts.err, 0);
	tdm_proc_cache_round(root.cache, now += TDM_NS_PER_S);
	tdm_proc_facts_read(&root, 12, &facts);
	assert_int_equal(facts.err, -ENOENT);
	/* Many come and go. */
	for (int i = 0; i < 5000; i++) {
		tdm_proc_cache_round(root.cache, now += TDM_NS_PER_S);
		tdm_proc_cache_put(root.cache, 20 + i, &ten, true);
		if (i % 100 == 99)
			assert_string_equal(name_of(&root, 10, &facts), "proc"); /* nobody says it any more */
	}
	tdm_proc_cache_free(root.cache);
	tdm_proc_cache_free(NULL);
	tdm_proc_root_done(&root);
	tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rounds), cmocka_unit_test(test_said) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
