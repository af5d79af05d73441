/* Makes trees of files for tests: shared-memory folders, /proc and /sys of machines that do not exist. */
#ifndef TESTS_UNIT_FAKE_TREE_H
#define TESTS_UNIT_FAKE_TREE_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
	char root[64];
	char scratch[PATH_MAX]; /* of tree_path */
};

static void tree_fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	abort();
}

/* Others may look into it, whatever the umask: tests of root look as another user. */
static inline void tree_init(struct tree *tree)
{
	umask(022);
	snprintf(tree->root, sizeof tree->root, "/tmp/tidemark-tree.XXXXXX");
	if (mkdtemp(tree->root) == NULL || chmod(tree->root, 0755) != 0)
		tree_fail(tree->root);
}

static int tree_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static inline void tree_done(struct tree *tree)
{
	if (nftw(tree->root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
		tree_fail(tree->root);
}

/* Borrowed until the next call. */
static inline const char *tree_path(struct tree *tree, const char *path)
{
	if (snprintf(tree->scratch, sizeof tree->scratch, "%s/%s", tree->root, path) >= (int)sizeof tree->scratch)
		abort();
	return tree->scratch;
}

static inline void tree_parents(struct tree *tree, const char *path)
{
	char part[PATH_MAX];
	for (const char *slash = path; (slash = strchr(slash, '/')) != NULL; slash++) {
		snprintf(part, sizeof part, "%s/%.*s", tree->root, (int)(slash - path), path);
		if (mkdir(part, 0755) != 0 && errno != EEXIST)
			tree_fail(part);
	}
}

static inline void tree_dir(struct tree *tree, const char *path)
{
	tree_parents(tree, path);
	if (mkdir(tree_path(tree, path), 0755) != 0 && errno != EEXIST)
		tree_fail(tree->scratch);
}

static inline void tree_bytes(struct tree *tree, const char *path, const void *data, size_t len)
{
	tree_parents(tree, path);
	int fd = open(tree_path(tree, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		tree_fail(tree->scratch);
	close(fd);
}

static inline void tree_text(struct tree *tree, const char *path, const char *text)
{
	tree_bytes(tree, path, text, strlen(text));
}

static inline void tree_link(struct tree *tree, const char *path, const char *target)
{
	tree_parents(tree, path);
	if (symlink(target, tree_path(tree, path)) != 0)
		tree_fail(tree->scratch);
}

static inline void tree_unlink(struct tree *tree, const char *path)
{
	if (nftw(tree_path(tree, path), tree_remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
		tree_fail(tree->scratch);
}

/* A process as /proc shows it. */
struct tree_process {
	int pid, uid;
	char state;
	unsigned long long start; /* clock ticks since boot */
	const char *comm;
	const char *nested; /* further numbers of the line NSpid; NULL: none */
};

/* `proc` is the folder that stands for /proc. */
static inline void tree_process(struct tree *tree, const char *proc, struct tree_process p)
{
	char path[128], text[512];
	snprintf(path, sizeof path, "%s/%d/stat", proc, p.pid);
	snprintf(text, sizeof text, "%d (%s) %c 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 %llu 99 99\n", p.pid, p.comm,
		p.state != '\0' ? p.state : 'S', p.start);
	tree_text(tree, path, text);
	snprintf(path, sizeof path, "%s/%d/status", proc, p.pid);
	snprintf(text, sizeof text, "Name:\t%s\nUid:\t%d\t%d\t%d\t%d\nNSpid:\t%d%s%s\n", p.comm, p.uid, p.uid, p.uid,
		p.uid, p.pid, p.nested != NULL ? "\t" : "", p.nested != NULL ? p.nested : "");
	tree_text(tree, path, text);
	snprintf(path, sizeof path, "%s/%d/comm", proc, p.pid);
	snprintf(text, sizeof text, "%s\n", p.comm);
	tree_text(tree, path, text);
	snprintf(path, sizeof path, "%s/%d/cmdline", proc, p.pid);
	int len = snprintf(text, sizeof text, "/usr/bin/%s%c--model%cllama%c", p.comm, 0, 0, 0);
	tree_bytes(tree, path, text, (size_t)len);
}

#endif
