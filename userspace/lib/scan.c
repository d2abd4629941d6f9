// SPDX-License-Identifier: LGPL-2.1-or-later
/* Packet after packet from a file or a pipe, through one buffer. */
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"

#include "scan.h"

#define CHUNK	(64U << 10)

void kt_scan_init(struct kt_scan *s, int fd)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	struct stat st;

	memset(s, 0, sizeof(*s));
	s->fd = fd;
	/* Devices tell an offset and cannot be read twice. */
	s->seekable = at >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode);
	s->offset = s->seekable ? (uint64_t)at : 0;
}

void kt_scan_free(struct kt_scan *s)
{
	free(s->buf);
	s->buf = NULL;
}

static int make_room(struct kt_scan *s, size_t n)
{
	size_t cap = kt_max(n, CHUNK);
	uint8_t *buf;

	if (s->head) {
		memmove(s->buf, s->buf + s->head, s->len - s->head);
		s->len -= s->head;
		s->head = 0;
	}
	if (s->cap >= cap)
		return 0;
	buf = realloc(s->buf, cap);
	if (!buf)
		return -ENOMEM;
	s->buf = buf;
	s->cap = cap;
	return 0;
}

/*
 * Have @n bytes at the head.
 * Return: how many there are, fewer than @n at the end, or negative errno.
 */
int64_t kt_scan_need(struct kt_scan *s, uint64_t n)
{
	ssize_t got;
	int err;

	if (s->len - s->head >= n || s->eof)
		return (int64_t)(s->len - s->head);
	err = make_room(s, n);
	if (err)
		return err;
	while (s->len < n) {
		uint8_t *to = s->buf + s->len;
		size_t room = s->cap - s->len;

		if (s->seekable)
			got = kt_pread_all(s->fd, to, room, s->offset + s->len);
		else
			got = kt_read_some(s->fd, to, room);
		if (got < 0)
			return got;
		s->len += (size_t)got;
		if (!got || (s->seekable && (size_t)got < room)) {
			s->eof = true;
			break;
		}
	}
	return (int64_t)s->len;
}

/* Go on by @n bytes, perhaps to the end. */
int kt_scan_skip(struct kt_scan *s, uint64_t n)
{
	int64_t there;

	while (n > s->len - s->head) {
		there = (int64_t)(s->len - s->head);
		n -= (uint64_t)there;
		s->offset += (uint64_t)there;
		s->head = 0;
		s->len = 0;
		if (s->eof)
			return 0;
		if (s->seekable) {
			s->offset += n;
			return 0;
		}
		there = kt_scan_need(s, 1);
		if (there < 0)
			return (int)there;
	}
	s->head += n;
	s->offset += n;
	return 0;
}

static uint64_t metadata_size(const uint8_t *head, struct ktape_error *error)
{
	struct ktape_metadata_packet m;
	uint64_t content, size;

	memcpy(&m, head, sizeof(m));
	content = le32toh(m.content_bits) / 8;
	size = le32toh(m.packet_bits) / 8;
	if (content < sizeof(m) || content > size || size > KT_METADATA_MAX) {
		kt_error(error, 0, "bad metadata packet");
		return 0;
	}
	return size;
}

/*
 * What is the packet at the head?
 * Return: 1, 0 at the end, -EBADMSG if it is none, or negative errno.
 */
int kt_scan_packet(struct kt_scan *s, struct kt_found *found,
		   struct ktape_error *error)
{
	int64_t there = kt_scan_need(s, KTAPE_BLOCK_HEADER);
	const uint8_t *head = kt_scan_head(s);
	size_t least;

	if (there <= 0)
		return (int)there;
	found->offset = s->offset;
	found->metadata = there >= 4 && kt_get32(head) == KTAPE_METADATA_MAGIC;
	least = found->metadata ? sizeof(struct ktape_metadata_packet)
				: KTAPE_BLOCK_HEADER;
	if ((size_t)there < least)
		return kt_error(error, s->offset,
				"cut off in the header of a packet");
	found->size = found->metadata ? metadata_size(head, error)
				      : kt_packet_size(head, error);
	if (found->size)
		return 1;
	if (error)
		error->offset = s->offset;
	return -EBADMSG;
}

/*
 * Put the metadata packets at the beginning together.
 * Return: 0, with @data to be freed; -EBADMSG; or negative errno.
 */
int kt_scan_metadata(struct kt_scan *s, uint8_t **data, size_t *len,
		     struct ktape_error *error)
{
	struct kt_found found = { .size = 0 };
	uint8_t *more;
	int64_t there;
	int ret;

	*data = NULL;
	*len = 0;
	while ((ret = kt_scan_packet(s, &found, error)) > 0 && found.metadata) {
		there = kt_scan_need(s, found.size);
		ret = there < 0 ? (int)there : 0;
		if (ret || (uint64_t)there < found.size ||
		    *len + found.size > KT_METADATA_MAX)
			break;
		more = realloc(*data, *len + found.size);
		ret = more ? 0 : -ENOMEM;
		if (ret)
			break;
		memcpy(more + *len, kt_scan_head(s), found.size);
		*data = more;
		*len += found.size;
		kt_scan_skip(s, found.size);
	}
	/* A bad packet behind the metadata is told when it is read. */
	if (*len && (ret >= 0 || ret == -EBADMSG))
		return 0;
	free(*data);
	return ret < 0 ? ret : kt_error(error, 0, "no metadata at the beginning");
}

/*
 * Go on to what looks like the head of a packet, not the one here.
 * Return: 1, 0 at the end, or negative errno.
 */
int kt_scan_resync(struct kt_scan *s, const uint8_t *uuid)
{
	uint8_t pattern[20];
	const uint8_t *at;
	int64_t there;
	int err;

	kt_set32(pattern, KTAPE_BLOCK_MAGIC);
	memcpy(pattern + 4, uuid, 16);
	err = kt_scan_skip(s, 1);
	for (;;) {
		if (err)
			return err;
		there = kt_scan_need(s, CHUNK);
		if (there < (int64_t)sizeof(pattern))
			return there < 0 ? (int)there : 0;
		at = memmem(kt_scan_head(s), (size_t)there, pattern,
			    sizeof(pattern));
		if (at) {
			err = kt_scan_skip(s, (uint64_t)(at - kt_scan_head(s)));
			return err ? err : 1;
		}
		err = kt_scan_skip(s, (uint64_t)there - sizeof(pattern) + 1);
	}
}
