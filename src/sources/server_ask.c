#include "sources/server_ask.h"
#include "base/clock.h"
#include "base/number.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAIT_MS = 5000, ANSWER_MAX = 64 << 20, PIECE = 4096 };

int tdm_server_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof address.sun_path)
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	int err = -errno;
	close(fd);
	return err;
}

/* Appends everything until the other end closes. */
static int read_answer(int fd, struct tdm_buf *out)
{
	uint64_t end_ns = tdm_clock_ns() + WAIT_MS * TDM_NS_PER_MS;
	for (;;) {
		char piece[PIECE];
		struct pollfd one = { .fd = fd, .events = POLLIN };
		ssize_t got = recv(fd, piece, sizeof piece, MSG_DONTWAIT);
		uint64_t now_ns = tdm_clock_ns();
		if (got == 0)
			return out->len != 0 ? 0 : -EPROTO;
		if (got > 0 && out->len > ANSWER_MAX)
			return -EFBIG;
		if (got > 0)
			tdm_buf_add(out, piece, (size_t)got);
		else if (errno == ECONNRESET)
			return -EPROTO;
		else if (errno != EAGAIN && errno != EINTR)
			return -errno;
		else if (now_ns >= end_ns || poll(&one, 1, (int)((end_ns - now_ns) / TDM_NS_PER_MS) + 1) == 0)
			return -ETIMEDOUT;
	}
}

static void make_printable(char *text, size_t len)
{
	for (size_t i = 0, used; i < len; i += used) {
		used = tdm_str_printable(text + i, tdm_min(len - i, TDM_UTF8_MAX));
		if (used == 0 && text[i] != '\n')
			text[i] = '?';
		used += used == 0;
	}
}

int tdm_server_ask(const char *path, const char *question, struct tdm_buf *out)
{
	struct tdm_buf words, answer;
	int fd = tdm_server_connect(path);
	if (fd < 0)
		return fd;
	tdm_buf_init(&words);
	tdm_buf_init(&answer);
	tdm_buf_printf(&words, "TIDEMARK %s\n", question);
	ssize_t sent = tdm_buf_failed(&words) ? -1 : send(fd, words.data, words.len, MSG_NOSIGNAL);
	int err = sent == (ssize_t)words.len ? read_answer(fd, &answer) : -EPROTO;
	close(fd);
	if (err == 0 && answer.data != NULL) {
		make_printable(answer.data, answer.len);
		tdm_buf_add(out, answer.data, answer.len);
	}
	out->failed |= tdm_buf_failed(&answer);
	tdm_buf_done(&words);
	tdm_buf_done(&answer);
	return err;
}
