// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read and write all bytes of a request, in spite of signals, short counts and
 * non-blocking descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

/* Wait until a non-blocking descriptor accepts data. */
static int wait_writable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	if (poll(&p, 1, -1) < 0 && errno != EINTR)
		return -errno;
	return 0;
}

/**
 * kt_write_all() - Write at the current position of a descriptor
 * @fd: the descriptor
 * @data: the data
 * @len: bytes of @data
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
 * kt_write_some() - Write once, without waiting
 * @fd: the descriptor
 * @data: the data
 * @len: bytes of @data, not 0
 *
 * Return: bytes written, 0 if the descriptor accepts nothing now, or negative errno.
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
 * kt_pieces_pass() - Remove written bytes from the start of the pieces
 * @p: the pieces, updated
 * @n: bytes to remove, at most the size of all pieces
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
 * kt_pwritev_all() - Write pieces at their offset
 * @fd: the descriptor
 * @p: the pieces; after an error, those that were not written
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
 * kt_pwrite_all() - Write at an offset
 * @fd: the descriptor
 * @data: the data
 * @len: bytes of @data
 * @offset: offset in the file, in bytes
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
 * kt_read_some() - Read once
 * @fd: the descriptor
 * @data: buffer
 * @len: bytes of the buffer
 *
 * Return: bytes read, 0 at the end, or negative errno.
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
 * kt_pread_all() - Read from an offset
 * @fd: the descriptor
 * @data: buffer
 * @len: bytes to read
 * @offset: offset in the file, in bytes
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

/* Read a whole open file, and close it. */
static ssize_t read_and_close(int fd, size_t max, uint8_t **data)
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
 * kt_read_file() - Read a whole file
 * @dir: descriptor of the folder
 * @name: name in the folder
 * @max: largest size in bytes
 * @data: set to the content, which the caller frees, or NULL
 *
 * Return: bytes, -EINVAL if it is not a regular file, -EFBIG if it is larger than
 * @max, or the negative errno of the failed call.
 */
ssize_t kt_read_file(int dir, const char *name, size_t max, uint8_t **data)
{
	/* O_NONBLOCK: opening a FIFO without a writer would block. */
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*data = NULL;
	return fd < 0 ? -errno : read_and_close(fd, max, data);
}

/**
 * kt_fsync_at() - Sync a file or folder to the disk
 * @dir: descriptor of the folder
 * @name: name in the folder
 *
 * Return: 0, also if the file system does not support it, or negative errno.
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
