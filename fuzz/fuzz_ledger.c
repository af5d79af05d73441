/*
 * Fuzz the reading of ledgers. Exercises: ledger/read (header, directories, counters, slots, ring, blobs, phases),
 * live/follow, live/join and the maps on the result.
 *
 * An input is a whole file (first byte 'F'), or a list of changes to a good ledger: 4 bytes of offset, modulo its
 * length, 1 byte of length (0: cut the file there), and that many bytes. The changes are also made one after the other
 * under a follower, while the writer's lock is held.
 *
 * Properties: for any bytes, a refusal has a reason; all values given out are in range; every event is valid; the sums
 * of the fold and of the picture agree. See tests/unit/ledger_walk.h.
 */
#include <stddef.h>
#include <stdint.h>

#include "../tests/unit/ledger_builder.h"
#include "../tests/unit/ledger_walk.h"

static const char *temporary(void)
{
	static char path[64];
	if (path[0] == '\0')
		snprintf(path, sizeof path, "%s/tidemark-fuzz.%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
			(int)getpid());
	return path;
}

static void write_file(const uint8_t *data, size_t size)
{
	int fd = open(temporary(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	for (size_t at = 0; fd >= 0 && at < size;) {
		ssize_t put = write(fd, data + at, size - at);
		if (put <= 0)
			abort();
		at += (size_t)put;
	}
	if (fd < 0)
		abort();
	close(fd);
}

/* Makes one change. Returns the bytes of the input that it took; 0: there is none left. */
static size_t change(struct builder *b, size_t *len, const uint8_t *data, size_t size)
{
	uint32_t word;
	if (size < 5)
		return 0;
	memcpy(&word, data, sizeof word);
	size_t offset = word % b->size, bytes = data[4];
	if (bytes == 0)
		*len = offset;
	bytes = bytes < size - 5 ? bytes : size - 5;
	bytes = bytes < b->size - offset ? bytes : b->size - offset;
	memcpy(b->bytes + offset, data + 5, bytes);
	return 5 + bytes;
}

/* Makes all changes in turn; a follower looks after each one, with a different request each time. */
static void follow(struct builder *b, size_t *len, const uint8_t *data, size_t size)
{
	enum { STAGES = 6 };
	static const unsigned wants[] = { TDM_FOLLOW_BUFFERS, TDM_FOLLOW_EVENTS | TDM_FOLLOW_BUFFERS, TDM_FOLLOW_KEEP,
		TDM_FOLLOW_BUFFERS, TDM_FOLLOW_EVENTS, 0 };
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	struct walk_follow f;
	write_file(b->bytes, *len);
	int fd = open(temporary(), O_RDWR | O_CLOEXEC);
	if (fd < 0 || fcntl(fd, F_OFD_SETLK, &lock) != 0)
		abort();
	walk_follow_init(&f, temporary());
	for (unsigned stage = 0;; stage++) {
		walk_follow_look(&f, wants[stage % STAGES]);
		size_t took = change(b, len, data, size);
		if (took == 0)
			break;
		data += took;
		size -= took;
		if (stage < STAGES)
			write_file(b->bytes, *len);
	}
	close(fd);
	write_file(b->bytes, *len);
	walk_follow_look(&f, TDM_FOLLOW_BUFFERS); /* at the end */
	walk_follow_done(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size != 0 && data[0] == 'F') {
		write_file(data + 1, size - 1);
	} else {
		struct builder b;
		builder_sample(&b);
		size_t len = b.size;
		follow(&b, &len, data, size);
		builder_done(&b);
	}
	ledger_walk(temporary());
	unlink(temporary());
	return 0;
}
