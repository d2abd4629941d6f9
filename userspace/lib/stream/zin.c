// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Unpack files and pipes that are compressed with zstd, in bounded memory.
 *
 * A trace is compressed packet by packet, each in a zstd frame of its own.  After
 * damage the reader searches for the next frame, so that a flipped bit costs one
 * packet in a compressed trace as well.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "util/file.h"

#include "stream/packet.h"
#include "stream/zin.h"

#define INPUT	       (128U << 10)
#define WINDOW_LOG_MAX 27 /* 128 MiB, the default limit of zstd(1) */

struct kt_zin {
	int fd;
	bool seekable; /* a file, which is read with pread(2) and can be read again */
	uint64_t offset; /* of the next read in the file */
	ZSTD_DCtx *d;
	ZSTD_inBuffer in;
	bool more;     /* @d may have output of a frame that needs no input */
	bool in_frame; /* a frame has begun and not ended */
	bool hunting;  /* search for a frame after damage */
	uint8_t buf[INPUT];
};

/* Check by its first KT_ZIN_MARK bytes whether an input is compressed. */
bool kt_zin_is(const void *mark)
{
	return kt_get32(mark) == KT_ZSTD_MAGIC;
}

/*
 * Begin unpacking @fd.  The first @len bytes were already read and are at @first.
 * Return: the reader, or NULL if there is no memory or @len is above INPUT.
 */
struct kt_zin *kt_zin_new(int fd, bool seekable, const void *first, size_t len)
{
	struct kt_zin *z = calloc(1, sizeof(*z));

	if (!z || len > sizeof(z->buf))
		goto err;
	z->d = ZSTD_createDCtx();
	if (!z->d || ZSTD_isError(ZSTD_DCtx_setParameter(z->d, ZSTD_d_windowLogMax,
							 WINDOW_LOG_MAX)))
		goto err;
	z->fd = fd;
	z->seekable = seekable;
	z->offset = len;
	z->in.src = z->buf;
	z->in.size = len;
	if (len)
		memcpy(z->buf, first, len);
	return z;

err:
	kt_zin_free(z);
	return NULL;
}

void kt_zin_free(struct kt_zin *z)
{
	if (!z)
		return;
	ZSTD_freeDCtx(z->d);
	free(z);
}

/* Go back to the first byte; valid only if kt_zin_again(). */
void kt_zin_rewind(struct kt_zin *z)
{
	ZSTD_DCtx_reset(z->d, ZSTD_reset_session_only);
	z->offset = 0;
	z->in.size = 0;
	z->in.pos = 0;
	z->more = false;
	z->in_frame = false;
	z->hunting = false;
}

/* Check whether the input can be read twice. */
bool kt_zin_again(const struct kt_zin *z)
{
	return z->seekable;
}

/* Check whether kt_zin_read() can return data without reading the descriptor. */
bool kt_zin_pending(const struct kt_zin *z)
{
	return z->more || (!z->hunting && z->in.pos < z->in.size);
}

size_t kt_zin_memory(const struct kt_zin *z)
{
	return sizeof(*z) + ZSTD_sizeof_DCtx(z->d);
}

/* Read more input.  Return: bytes, 0 at the end, or negative errno. */
static ssize_t refill_input(struct kt_zin *z)
{
	size_t keep = z->in.size - z->in.pos;
	ssize_t n;

	memmove(z->buf, z->buf + z->in.pos, keep);
	z->in.pos = 0;
	z->in.size = keep;
	if (z->seekable)
		n = kt_pread_all(z->fd, z->buf + keep, INPUT - keep, z->offset);
	else
		n = kt_read_some(z->fd, z->buf + keep, INPUT - keep);
	if (n > 0) {
		z->offset += (uint64_t)n;
		z->in.size += (size_t)n;
	}
	return n;
}

/* Skip to the next frame in the buffer.  Return: true if there is one. */
static bool hunt_frame(struct kt_zin *z)
{
	static const uint8_t magic[KT_ZIN_MARK] = { 0x28, 0xb5, 0x2f, 0xfd };
	size_t there = z->in.size - z->in.pos;
	const uint8_t *from = z->buf + z->in.pos;
	const uint8_t *at = memmem(from, there, magic, sizeof(magic));

	if (at)
		z->in.pos = (size_t)(at - z->buf);
	else if (there >= sizeof(magic))
		z->in.pos = z->in.size - sizeof(magic) + 1;
	z->hunting = !at;
	return at;
}

/* Fill @trouble, and search for the next frame from now on.  Return: 0 or -ENOMEM. */
static int report_frame_damage(struct kt_zin *z, size_t code,
			       struct kt_zin_trouble *trouble)
{
	if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
		return -ENOMEM;
	trouble->text = ZSTD_getErrorCode(code) ==
					ZSTD_error_frameParameter_windowTooLarge ?
				"compressed with a window of more than 128 MiB" :
				"compressed data is damaged";
	trouble->offset = z->offset - (z->in.size - z->in.pos);
	ZSTD_DCtx_reset(z->d, ZSTD_reset_session_only);
	z->in_frame = false;
	z->more = false;
	z->hunting = true;
	if (z->in.pos < z->in.size)
		z->in.pos++;
	return 0;
}

/* At the end of the input, fill @trouble if a frame is cut off.  Return: 0. */
static int report_frame_end(struct kt_zin *z, struct kt_zin_trouble *trouble)
{
	if (z->in_frame) {
		trouble->text = "compressed data is cut off";
		trouble->offset = z->offset;
		trouble->cut = true;
	}
	z->in_frame = false;
	return 0;
}

/*
 * Unpack the next bytes, with at most one read of the file.  @trouble is filled if the input is
 * damaged or cut off; after damage the next call searches for the next frame.
 * Return: bytes, 0 at the end, -EAGAIN if one read gave no output, or another
 * negative errno.
 */
ssize_t kt_zin_read(struct kt_zin *z, void *to, size_t room,
		    struct kt_zin_trouble *trouble)
{
	ZSTD_outBuffer out = { .dst = to, .size = room };
	ssize_t n;
	size_t ret;

	if ((z->hunting && !hunt_frame(z)) ||
	    (!z->more && z->in.pos == z->in.size)) {
		n = refill_input(z);
		if (n <= 0)
			return n < 0 ? n : report_frame_end(z, trouble);
		if (z->hunting && !hunt_frame(z))
			return -EAGAIN;
	}
	do {
		ret = ZSTD_decompressStream(z->d, &out, &z->in);
		if (ZSTD_isError(ret)) {
			n = report_frame_damage(z, ret, trouble);
			return n ? n : -EAGAIN;
		}
		z->in_frame = ret;
		z->more = ret && out.pos == out.size;
	} while (!out.pos && z->in.pos < z->in.size);
	return out.pos ? (ssize_t)out.pos : -EAGAIN;
}

/* Unpack to the end.  Return: as kt_zin_file(); the caller frees @data after an error, too. */
static ssize_t unpack_all(struct kt_zin *z, size_t max, uint8_t **data)
{
	struct kt_zin_trouble trouble = { .text = NULL };
	size_t len = 0, room = INPUT;
	uint8_t *more = malloc(room);
	ssize_t n = more ? 0 : -ENOMEM;

	while (more) {
		*data = more;
		n = kt_zin_read(z, more + len, room - len, &trouble);
		if (trouble.text || n == 0 || (n < 0 && n != -EAGAIN))
			break;
		len += n > 0 ? (size_t)n : 0;
		if (len > max)
			n = -EFBIG;
		if (n == -EFBIG)
			break;
		if (len == room) {
			room *= 2;
			more = realloc(*data, room);
			n = -ENOMEM; /* the loop ends here if @more is NULL */
		}
	}
	return trouble.text ? -EBADMSG : n < 0 ? n : (ssize_t)len;
}

/*
 * Read and unpack a whole compressed file; kt_read_file() reads plain ones.
 * Return: bytes; -EINVAL if the file does not begin as a compressed one; -EBADMSG if it is damaged;
 * -EFBIG if it has more than @max bytes; or the negative errno of the failed call.
 */
ssize_t kt_zin_file(int dir, const char *name, size_t max, uint8_t **data)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct kt_zin *z = NULL;
	uint8_t mark[KT_ZIN_MARK];
	ssize_t len = -EINVAL;
	struct stat st;

	*data = NULL;
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    kt_pread_all(fd, mark, sizeof(mark), 0) == sizeof(mark) &&
	    kt_zin_is(mark)) {
		z = kt_zin_new(fd, true, NULL, 0);
		len = z ? unpack_all(z, max, data) : -ENOMEM;
	}
	kt_zin_free(z);
	close(fd);
	if (len < 0) {
		free(*data);
		*data = NULL;
	}
	return len;
}
