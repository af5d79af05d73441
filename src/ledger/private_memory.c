#include "ledger/private_memory.h"
#include "ledger/layout.h"
#include "ledger/short_lock.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	HUGE_BYTES = 2 << 20,
	SMALL_FIRST = 64, /* bytes of the smallest small block; the others have twice the size of the one before */
	SMALL_SIZES = 10,
	SMALL_MAX = SMALL_FIRST << (SMALL_SIZES - 1),
	CHUNK_BYTES = 16 * SMALL_MAX, /* to get from Linux at a time */
};

/* Free small blocks, each with a pointer to the next one, and a chunk that was not used yet. */
static struct {
	struct tdm_lock lock;
	void *free[SMALL_SIZES];
	char *chunk;
	size_t left;
} small;

size_t tdm_page_bytes(void)
{
	long kernel = sysconf(_SC_PAGESIZE);
	return kernel > TDM_LEDGER_PAGE ? (size_t)kernel : TDM_LEDGER_PAGE;
}

size_t tdm_page_up(size_t bytes)
{
	size_t page = tdm_page_bytes();
	return (bytes + page - 1) / page * page;
}

/* Aligns a large block to large pages, so that they can hold all of it. */
static void *alloc_huge(size_t bytes)
{
	char *all = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return MAP_FAILED;
	size_t before = -(uintptr_t)all % HUGE_BYTES;
	if (before != 0)
		munmap(all, before);
	munmap(all + before + bytes, HUGE_BYTES - before);
	madvise(all + before, bytes, MADV_HUGEPAGE);
	return all + before;
}

void *tdm_private_alloc(size_t bytes)
{
	int caller_errno = errno;
	bytes = tdm_page_up(bytes);
	void *at = bytes >= HUGE_BYTES ? alloc_huge(bytes)
				       : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = caller_errno;
	return at != MAP_FAILED ? at : NULL;
}

void tdm_private_free(void *at, size_t bytes)
{
	if (at != NULL)
		munmap(at, tdm_page_up(bytes));
}

static unsigned size_class(size_t bytes)
{
	unsigned class = 0;
	while ((size_t)SMALL_FIRST << class < bytes)
		class ++;
	return class;
}

static void *take_small(unsigned class)
{
	size_t bytes = (size_t)SMALL_FIRST << class;
	void *at = small.free[class];
	if (at != NULL) {
		memcpy(&small.free[class], at, sizeof at);
		memset(at, 0, bytes);
		return at;
	}
	if (small.left < bytes) { /* what is left of the old one is lost */
		small.chunk = tdm_private_alloc(CHUNK_BYTES);
		small.left = small.chunk != NULL ? CHUNK_BYTES : 0;
	}
	if (small.chunk == NULL)
		return NULL;
	at = small.chunk;
	small.chunk += bytes;
	small.left -= bytes;
	return at;
}

void *tdm_block_alloc(bool is_small, size_t bytes)
{
	if (!is_small || bytes > SMALL_MAX)
		return tdm_private_alloc(bytes);
	if (!tdm_lock_take(&small.lock))
		return NULL;
	void *at = take_small(size_class(bytes));
	tdm_lock_give(&small.lock);
	return at;
}

void tdm_block_free(bool is_small, void *at, size_t bytes)
{
	if (!is_small || bytes > SMALL_MAX) {
		tdm_private_free(at, bytes);
		return;
	}
	if (at == NULL || !tdm_lock_take(&small.lock))
		return;
	void **head = &small.free[size_class(bytes)];
	memcpy(at, head, sizeof *head);
	*head = at;
	tdm_lock_give(&small.lock);
}
