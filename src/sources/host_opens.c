#include "sources/host_opens.h"
#include "base/file.h"
#include "base/reserve.h"
#include "sources/sys_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	LINE_CAP = 64,
	LINES_MAX = 1 << 22,       /* per list: bounds the work */
	DESCRIPTORS_MAX = 1 << 20, /* in all lists: bounds the memory */
};

/* An open descriptor. The lists of all cards go into one sorted array. */
struct descriptor {
	uint32_t card;
	int32_t pid;
};

struct descriptors {
	struct descriptor *items;
	size_t count, cap;
};

static int push(struct descriptors *all, struct descriptor item)
{
	if (tdm_reserve(&all->items, &all->cap, all->count + 1, sizeof *all->items) != 0)
		return -ENOMEM;
	all->items[all->count++] = item;
	return 0;
}

static int compare_descriptors(const void *a, const void *b)
{
	const struct descriptor *x = a, *y = b;
	if (x->card != y->card)
		return x->card < y->card ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int compare_pids(const void *a, const void *b)
{
	const struct tdm_host_process *x = a, *y = b;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* One line with a pid for each descriptor. The pid is 0 if the process is outside the reader's pid namespace. */
static int read_list(int fd, struct tdm_host_card *card, uint32_t idx, struct descriptors *all)
{
	struct tdm_lines lines;
	struct tdm_str line;
	int got = tdm_lines_open(&lines, fd, LINE_CAP), err = got;
	if (err != 0)
		return err;
	for (int i = 0; err == 0 && i < LINES_MAX && (got = tdm_lines_next(&lines, &line)) != 0; i++) {
		uint64_t pid;
		if (got < 0 && got != -EMSGSIZE) {
			card->opens_err = got;
			break;
		}
		line = tdm_str_trim(line);
		if (got == -EMSGSIZE || tdm_str_parse_u64(line, &pid) != 0 || pid > TDM_PID_MAX)
			card->refused_lines++;
		else if (pid == 0)
			card->hidden_opens++;
		else if (all->count == DESCRIPTORS_MAX)
			card->cut_opens++;
		else
			err = push(all, (struct descriptor){ idx, (int32_t)pid });
	}
	if (got > 0)
		card->opens_err = -EFBIG;
	tdm_lines_done(&lines);
	return err;
}

static int read_lists(struct tdm_host *host, const struct tdm_proc_root *root, struct descriptors *all)
{
	char path[64];
	for (uint32_t i = 0; i < host->card_count; i++) {
		struct tdm_host_card *card = &host->cards[i];
		snprintf(path, sizeof path, "driver/tenstorrent/%u/pids", card->number);
		int fd = root->fd >= 0 ? tdm_sys_file_open(root->fd, path) : root->err;
		if (fd < 0) {
			card->opens_err = fd;
			continue;
		}
		int err = read_list(fd, card, i, all);
		close(fd);
		if (err != 0)
			return err;
	}
	return 0;
}

/* Merges and counts equal neighbours. `process` holds the pid until the processes are known. */
static int collapse(struct tdm_host *host, const struct descriptors *all)
{
	size_t distinct = 0;
	for (size_t i = 0; i < all->count; i++)
		distinct += i == 0 || compare_descriptors(&all->items[i - 1], &all->items[i]) != 0;
	size_t room = distinct < TDM_HOST_OPENS_MAX ? distinct : TDM_HOST_OPENS_MAX;
	host->opens = calloc(room != 0 ? room : 1, sizeof *host->opens);
	if (host->opens == NULL)
		return -ENOMEM;
	bool cut = false;
	for (size_t i = 0; i < all->count; i++) {
		const struct descriptor *item = &all->items[i];
		struct tdm_host_card *card = &host->cards[item->card];
		bool same = i != 0 && compare_descriptors(item - 1, item) == 0;
		if (!same)
			cut = host->open_count == room;
		if (cut) {
			card->cut_opens += !same;
			continue;
		}
		if (same) {
			host->opens[host->open_count - 1].descriptors++;
			continue;
		}
		if (card->open_count++ == 0)
			card->open_first = (uint32_t)host->open_count;
		host->opens[host->open_count++] = (struct tdm_host_open){ (uint32_t)item->pid, 1 };
	}
	return 0;
}

static int read_processes(struct tdm_host *host, const struct tdm_proc_root *root)
{
	struct tdm_host_process key, *all = calloc(host->open_count != 0 ? host->open_count : 1, sizeof *all);
	if (all == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < host->open_count; i++)
		all[i].pid = (int32_t)host->opens[i].process;
	qsort(all, host->open_count, sizeof *all, compare_pids);
	for (size_t i = 0; i < host->open_count; i++)
		if (i == 0 || all[i].pid != all[host->process_count - 1].pid)
			all[host->process_count++].pid = all[i].pid;
	for (size_t i = 0; i < host->process_count; i++)
		tdm_proc_facts_read(root, all[i].pid, &all[i].facts);
	for (size_t i = 0; i < host->open_count; i++) {
		key.pid = (int32_t)host->opens[i].process;
		const struct tdm_host_process *found =
			bsearch(&key, all, host->process_count, sizeof *all, compare_pids);
		host->opens[i].process = (uint32_t)(found - all);
	}
	host->processes = all;
	return 0;
}

int tdm_host_opens_read(struct tdm_host *host, const struct tdm_proc_root *root)
{
	struct descriptors all = { 0 };
	int err = read_lists(host, root, &all);
	if (all.count > 1)
		qsort(all.items, all.count, sizeof *all.items, compare_descriptors);
	if (err == 0)
		err = collapse(host, &all);
	if (err == 0)
		err = read_processes(host, root);
	free(all.items);
	return err;
}
