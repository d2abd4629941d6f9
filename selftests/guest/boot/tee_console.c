// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy standard input to a file, and to a terminal as long as that takes anything: a
 * serial line whose interrupt is lost must not hold up the test that prints.
 *
 * usage: tee_console FILE TERMINAL
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS \
	(300 * 1000) /* without one byte; a line takes milliseconds */

/*
 * Write all bytes to the file or the terminal. Return: 0, or -1 with errno; ETIME: a terminal
 * has taken no byte within PATIENCE_MS.
 */
static int write_all_bytes(int fd, const char *buf, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n > 0) {
			buf += n;
			len -= n;
		} else if (n < 0 && errno == EAGAIN) {
			n = poll(&p, 1, PATIENCE_MS);
			if (!n)
				errno = ETIME;
			if (n <= 0 && errno != EINTR)
				return -1;
		} else if (n < 0 && errno != EINTR) {
			return -1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	char buf[4096];
	int file, terminal;
	ssize_t n;

	if (argc != 3) {
		fprintf(stderr, "usage: tee_console FILE TERMINAL\n");
		return 2;
	}
	file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (file < 0) {
		perror(argv[1]);
		return 1;
	}
	terminal = open(argv[2], O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0)
		dprintf(file, "# %s: %s\n", argv[2], strerror(errno));
	while ((n = read(0, buf, sizeof(buf))) != 0) {
		if (n < 0) {
			if (errno == EINTR)
				continue;
			perror("standard input");
			return 1;
		}
		if (write_all_bytes(file, buf, n)) {
			perror(argv[1]);
			return 1;
		}
		if (terminal >= 0 && write_all_bytes(terminal, buf, n)) {
			dprintf(file,
				"\n# %s took nothing (%s): it gets no more of this\n",
				argv[2], strerror(errno));
			close(terminal);
			terminal = -1;
		}
	}
	return 0;
}
