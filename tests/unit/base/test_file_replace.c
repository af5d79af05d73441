/* Files that are replaced as a whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"

#include "fake_tree.h"

#include <dirent.h>

static void assert_text(struct tree *tree, const char *path, const char *text)
{
	struct tdm_buf out = { 0 };
	assert_int_equal(tdm_file_read(tree_path(tree, path), 1000, &out), 0);
	assert_string_equal(out.data, text);
	tdm_buf_done(&out);
}

static size_t count_files(struct tree *tree)
{
	size_t count = 0;
	DIR *dir = opendir(tree->root);
	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count - 2;
}

static void a_new_file_has_the_usual_mode(void **state)
{
	(void)state;
	struct tree tree;
	struct stat st;
	tree_init(&tree);
	mode_t before = umask(027);
	assert_int_equal(tdm_file_replace(tree_path(&tree, "x"), "one\n", 4), 0);
	umask(before);
	assert_text(&tree, "x", "one\n");
	assert_int_equal(stat(tree_path(&tree, "x"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(count_files(&tree), 1);
	tree_done(&tree);
}

static void an_old_file_stays_whole_for_whoever_has_it_open(void **state)
{
	(void)state;
	struct tree tree;
	struct stat st;
	char old[16] = "";
	tree_init(&tree);
	tree_text(&tree, "x", "the old text\n");
	assert_int_equal(chmod(tree_path(&tree, "x"), 0600), 0);
	int fd = open(tree_path(&tree, "x"), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(tdm_file_replace(tree_path(&tree, "x"), "new\n", 4), 0);
	assert_int_equal(read(fd, old, sizeof old - 1), 13);
	close(fd);
	assert_string_equal(old, "the old text\n");
	assert_text(&tree, "x", "new\n");
	assert_int_equal(stat(tree_path(&tree, "x"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(count_files(&tree), 1);
	tree_done(&tree);
}

static void a_link_stays_a_link(void **state)
{
	(void)state;
	struct tree tree;
	struct stat st;
	tree_init(&tree);
	tree_text(&tree, "folder/x", "old\n");
	tree_link(&tree, "link", "folder/x");
	assert_int_equal(tdm_file_replace(tree_path(&tree, "link"), "new\n", 4), 0);
	assert_int_equal(lstat(tree_path(&tree, "link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_text(&tree, "folder/x", "new\n");
	tree_done(&tree);
}

static void what_is_no_file_is_written_to(void **state)
{
	(void)state;
	struct tree tree;
	struct stat st;
	char got[8] = "";
	tree_init(&tree);
	assert_int_equal(mkfifo(tree_path(&tree, "pipe"), 0600), 0);
	int fd = open(tree_path(&tree, "pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(tdm_file_replace(tree_path(&tree, "pipe"), "new\n", 4), 0);
	assert_int_equal(read(fd, got, sizeof got - 1), 4);
	close(fd);
	assert_string_equal(got, "new\n");
	assert_int_equal(stat(tree_path(&tree, "pipe"), &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(count_files(&tree), 1);
	tree_done(&tree);
}

static void a_failure_leaves_nothing_behind(void **state)
{
	(void)state;
	struct tree tree;
	tree_init(&tree);
	tree_dir(&tree, "folder");
	assert_int_equal(tdm_file_replace(tree_path(&tree, "folder"), "x", 1), -EISDIR);
	assert_int_equal(tdm_file_replace(tree_path(&tree, "none/x"), "x", 1), -ENOENT);
	assert_int_equal(tdm_file_replace("/dev/full", "x", 1), -ENOSPC);
	assert_int_equal(count_files(&tree), 1);
	tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_file_has_the_usual_mode),
		cmocka_unit_test(an_old_file_stays_whole_for_whoever_has_it_open),
		cmocka_unit_test(a_link_stays_a_link),
		cmocka_unit_test(what_is_no_file_is_written_to),
		cmocka_unit_test(a_failure_leaves_nothing_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
