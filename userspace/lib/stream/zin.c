// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading what zstd(1) has compressed, in bounded memory.
 *
 * A trace is compressed packet by packet, each in a frame of its own.  Behind
 * damage the next frame is looked for, so that a bad bit costs one packet here
 * as well.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "util/file.h"

#include "stream/packet.h"
#include "stream/zin.h"

#define INPUT		(128U << 10)
#define WINDOW_LOG_MAX	27	/* 128 MiB, as zstd(1) takes it unasked */

struct kt_zin {
	int fd;
	bool seekable;
	uint64_t offset;	/* of the next read, and of what is behind @in */
	ZSTD_DCtx *d;
	ZSTD_inBuffer in;
	bool more;		/* there may be output without input */
	bool in_frame;
	bool hunting;		/* for a frame, behind damage */
	uint8_t buf[INPUT];
};

/* Do the first KT_ZIN_MARK bytes tell so? */
bool kt_zin_is(const void *mark)
{
	return kt_get32(mark) == KT_ZSTD_MAGIC;
}

/*
 * Begin to read @fd, of which @len bytes were read already.
 * Return: NULL when there is no memory.
 */
struct kt_zin *kt_zin_new(int fd, bool seekable, const void *first, size_t len)
{
	struct kt_zin *z = calloc(1, sizeof(*z));

	if (!z || len > sizeof(z->buf))
		goto err;
	z->d = ZSTD_createDCtx();
	if (!z->d || ZSTD_isError(ZSTD_DCtx_setParameter(
			     z->d, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
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

/* Begin again; only of a file. */
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

/* Is it a file, so that it can be read twice? */
bool kt_zin_again(const struct kt_zin *z)
{
	return z->seekable;
}

/* Is there something that takes no read? */
bool kt_zin_pending(const struct kt_zin *z)
{
	return z->more || (!z->hunting && z->in.pos < z->in.size);
}

size_t kt_zin_memory(const struct kt_zin *z)
{
	return sizeof(*z) + ZSTD_sizeof_DCtx(z->d);
}

/* Return: bytes, 0 at the end, or negative errno. */
static ssize_t refill(struct kt_zin *z)
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

/* Go on to the next frame in what was read.  Return: is there one? */
static bool hunt(struct kt_zin *z)
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

static int damaged(struct kt_zin *z, size_t code,
		   struct kt_zin_trouble *trouble)
{
	if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
		return -ENOMEM;
	trouble->text =
		ZSTD_getErrorCode(code) ==
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

static int at_end(struct kt_zin *z, struct kt_zin_trouble *trouble)
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
 * Read some; at most one read of the file.
 * Return: bytes, 0 at the end, -EAGAIN if that was not enough for any, or
 * another negative errno.
 */
ssize_t kt_zin_read(struct kt_zin *z, void *to, size_t room,
		    struct kt_zin_trouble *trouble)
{
	ZSTD_outBuffer out = { .dst = to, .size = room };
	ssize_t n;
	size_t ret;

	if ((z->hunting && !hunt(z)) || (!z->more && z->in.pos == z->in.size)) {
		n = refill(z);
		if (n <= 0)
			return n < 0 ? n : at_end(z, trouble);
		if (z->hunting && !hunt(z))
			return -EAGAIN;
	}
	do {
		ret = ZSTD_decompressStream(z->d, &out, &z->in);
		if (ZSTD_isError(ret)) {
			n = damaged(z, ret, trouble);
			return n ? n : -EAGAIN;
		}
		z->in_frame = ret;
		z->more = out.pos == out.size;
	} while (!out.pos && z->in.pos < z->in.size);
	return out.pos ? (ssize_t)out.pos : -EAGAIN;
}

static ssize_t take_all(struct kt_zin *z, size_t max, uint8_t **data)
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
			n = -ENOMEM;
		}
	}
	return trouble.text ? -EBADMSG : n < 0 ? n : (ssize_t)len;
}

/*
 * Read a whole compressed file, as kt_read_file() does with others.
 * Return: its length, -EINVAL if it is no compressed file, -EBADMSG if it is
 * damaged, -EFBIG, or the negative errno of the failed call.
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
		len = z ? take_all(z, max, data) : -ENOMEM;
	}
	kt_zin_free(z);
	close(fd);
	if (len < 0) {
		free(*data);
		*data = NULL;
	}
	return len;
}
