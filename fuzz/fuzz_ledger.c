/*
 * Fuzz the reader of ledgers. Exercises: ledger/reader*.c (header, directories, counters, slots, ring, blobs, phases),
 * sources/ledger_source.c and ledger_event.c, registry/ on what comes out of them.
 *
 * An input is a whole file (first byte 'F'), or a list of changes to a good ledger: 4 bytes of offset, modulo its
 * length, 1 byte of length (0: cut the file there), and so many bytes.
 *
 * Properties: whatever the bytes are, a refusal says why; all that is let out is in range; every event is valid; the
 * registry's sums agree. See tests/unit/ledger_walk.h.
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

static void change(struct builder *b, size_t *len, const uint8_t *data, size_t size)
{
	while (size >= 5) {
		uint32_t word;
		memcpy(&word, data, sizeof word);
		size_t offset = word % b->size, bytes = data[4];
		data += 5;
		size -= 5;
		if (bytes == 0)
			*len = offset;
		bytes = bytes < size ? bytes : size;
		bytes = bytes < b->size - offset ? bytes : b->size - offset;
		memcpy(b->bytes + offset, data, bytes);
		data += bytes;
		size -= bytes;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size != 0 && data[0] == 'F') {
		write_file(data + 1, size - 1);
	} else {
		struct builder b;
		builder_sample(&b);
		size_t len = b.size;
		change(&b, &len, data, size);
		write_file(b.bytes, len);
		builder_done(&b);
	}
	ledger_walk(temporary());
	unlink(temporary());
	return 0;
}
