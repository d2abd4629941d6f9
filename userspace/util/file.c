// SPDX-License-Identifier: LGPL-2.1-or-later
/* Whole reads and writes, over interruptions and short counts. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

/* A pipe or terminal that somebody set non-blocking. */
static int wait_writable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	if (poll(&p, 1, -1) < 0 && errno != EINTR)
		return -errno;
	return 0;
}

/**
 * kt_write_all() - write to wherever the descriptor stands
 * @fd: where to
 * @data: what
 * @len: bytes
 *
 * Return: 0 or negative errno.
 */
int kt_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;
	int err;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
			continue;
		}
		if (n == 0)
			return -EIO;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		err = wait_writable(fd);
		if (err)
			return err;
	}
	return 0;
}

/**
 * kt_write_some() - one write
 * @fd: where to
 * @data: what
 * @len: bytes, not 0
 *
 * Return: bytes, 0 if it would have to wait, or negative errno.
 */
ssize_t kt_write_some(int fd, const void *data, size_t len)
{
	ssize_t n;

	do {
		n = write(fd, data, len);
	} while (n < 0 && errno == EINTR);
	if (n >= 0)
		return n ? n : -EIO;
	return errno == EAGAIN ? 0 : -errno;
}

/**
 * kt_pieces_pass() - leave out what was written
 * @p: the pieces; changed
 * @n: bytes, not more than they have
 */
void kt_pieces_pass(struct kt_pieces *p, uint64_t n)
{
	p->offset += n;
	while (p->nr && n >= p->iov->iov_len) {
		n -= p->iov->iov_len;
		p->iov++;
		p->nr--;
	}
	if (p->nr) {
		p->iov->iov_base = (char *)p->iov->iov_base + n;
		p->iov->iov_len -= n;
	}
}

/**
 * kt_pwritev_all() - write pieces to an offset
 * @fd: where to
 * @p: the pieces; after an error what is left of them
 *
 * Return: 0 or negative errno.
 */
int kt_pwritev_all(int fd, struct kt_pieces *p)
{
	while (p->nr) {
		ssize_t n = pwritev(fd, p->iov, (int)p->nr, (off_t)p->offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		kt_pieces_pass(p, (uint64_t)n);
	}
	return 0;
}

/**
 * kt_pwrite_all() - write to an offset
 * @fd: where to
 * @data: what
 * @len: bytes
 * @offset: in bytes
 *
 * Return: 0 or negative errno.
 */
int kt_pwrite_all(int fd, const void *data, size_t len, uint64_t offset)
{
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };
	struct kt_pieces p = { &iov, 1, offset };

	return len ? kt_pwritev_all(fd, &p) : 0;
}

/**
 * kt_read_some() - one read
 * @fd: where from
 * @data: where to
 * @len: room in bytes
 *
 * Return: bytes, 0 at the end, or negative errno.
 */
ssize_t kt_read_some(int fd, void *data, size_t len)
{
	ssize_t n;

	do {
		n = read(fd, data, len);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/**
 * kt_pread_all() - read from an offset
 * @fd: where from
 * @data: where to
 * @len: bytes
 * @offset: in bytes
 *
 * Return: bytes, fewer than @len only at the end of the file, or negative
 * errno.
 */
ssize_t kt_pread_all(int fd, void *data, size_t len, uint64_t offset)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, (char *)data + done, len - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* The whole of an open file, which is closed. */
static ssize_t take_file(int fd, size_t max, uint8_t **data)
{
	ssize_t len = -EINVAL;
	struct stat st;

	if (fstat(fd, &st))
		len = -errno;
	else if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max)
		len = -EFBIG;
	else if (S_ISREG(st.st_mode)) {
		*data = malloc((size_t)st.st_size + 1);
		len = *data ? kt_pread_all(fd, *data, (size_t)st.st_size, 0) :
			      -ENOMEM;
	}
	close(fd);
	if (len < 0) {
		free(*data);
		*data = NULL;
	}
	return len;
}

/**
 * kt_read_file() - read a whole file
 * @dir: where it is
 * @name: its name there
 * @max: bytes that it may have
 * @data: set to its content, which the caller frees, or NULL
 *
 * Return: its length, -EINVAL if it is no regular file, -EFBIG, or the negative
 * errno of the failed call.
 */
ssize_t kt_read_file(int dir, const char *name, size_t max, uint8_t **data)
{
	/* Nobody may be at the other end of a pipe with that name. */
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*data = NULL;
	return fd < 0 ? -errno : take_file(fd, max, data);
}

/**
 * kt_fsync_at() - a file or folder by its name onto the disk
 * @dir: where the name counts
 * @name: of it
 *
 * Return: 0, also where the file system does not know how, or negative errno.
 */
int kt_fsync_at(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd) && errno != EINVAL)
		err = -errno;
	close(fd);
	return err;
}
