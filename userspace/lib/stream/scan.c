// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Packet after packet from a file or a pipe, through one buffer.
 *
 * Only content comes into memory.  The size that a head tells is believed when
 * the checksum is right; else the next packet is looked for, so that a bad bit
 * costs one packet.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"

#include "stream/metadata.h"
#include "stream/scan.h"

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

/* Begin again; only of a file. */
void kt_scan_rewind(struct kt_scan *s)
{
	if (s->z)
		kt_zin_rewind(s->z);
	s->offset = 0;
	s->head = 0;
	s->len = 0;
	s->eof = false;
}

/* Can it be read twice, though perhaps not from anywhere? */
bool kt_scan_again(const struct kt_scan *s)
{
	return s->seekable || (s->z && kt_zin_again(s->z));
}

/* Is there more that takes no read? */
bool kt_scan_pending(const struct kt_scan *s)
{
	return s->z && kt_zin_pending(s->z);
}

void kt_scan_free(struct kt_scan *s)
{
	if (s->budget)
		s->budget->used -= s->cap + s->z_memory;
	kt_zin_free(s->z);
	s->z = NULL;
	s->z_memory = 0;
	free(s->buf);
	s->buf = NULL;
	s->cap = 0;
}

void kt_scan_tell(const struct kt_scan *s, unsigned int kind,
		  const struct ktape_error *error)
{
	if (s->tell)
		s->tell(s->arg, kind, error);
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
	if (s->budget && s->budget->used + cap - s->cap > s->budget->max)
		return -ENOBUFS;
	buf = realloc(s->buf, cap);
	if (!buf)
		return -ENOMEM;
	if (s->budget)
		s->budget->used += cap - s->cap;
	s->buf = buf;
	s->cap = cap;
	return 0;
}

/* What was read is the beginning of something compressed. */
static int unpack(struct kt_scan *s)
{
	s->z = kt_zin_new(s->fd, s->seekable, s->buf + s->head,
			  s->seekable ? 0 : kt_scan_there(s));
	if (!s->z)
		return -ENOMEM;
	s->seekable = false;
	s->head = 0;
	s->len = 0;
	s->eof = false;
	return 0;
}

/* The first bytes are there: is it compressed?  Return: 0 or negative errno. */
static int probe(struct kt_scan *s)
{
	if (s->probed || (kt_scan_there(s) < KT_ZIN_MARK && !s->eof))
		return 0;
	s->probed = true;
	if (s->offset || kt_scan_there(s) < KT_ZIN_MARK ||
	    !kt_zin_is(kt_scan_head(s)))
		return 0;
	return unpack(s);
}

/* Return: bytes, 0 at the end, -EAGAIN, or another negative errno. */
static ssize_t read_packed(struct kt_scan *s, uint8_t *to, size_t room)
{
	struct kt_zin_trouble trouble = { .text = NULL };
	ssize_t got = kt_zin_read(s->z, to, room, &trouble);
	size_t memory = kt_zin_memory(s->z);
	struct ktape_error error;

	if (trouble.text) {
		kt_error(&error, trouble.offset, "%s", trouble.text);
		kt_scan_tell(s,
			     trouble.cut ? KTAPE_NOTICE_TRUNCATED :
					   KTAPE_NOTICE_CORRUPT,
			     &error);
	}
	if (!s->budget)
		return got;
	s->budget->used += memory - s->z_memory;
	s->z_memory = memory;
	return s->budget->used > s->budget->max ? -ENOBUFS : got;
}

/* One read into room for @n bytes at the head.  Return: 0 or negative errno. */
int kt_scan_more(struct kt_scan *s, uint64_t n)
{
	int err = make_room(s, n);
	uint8_t *to = s->buf + s->len;
	size_t room = s->cap - s->len;
	ssize_t got;

	if (err)
		return err;
	if (s->z) {
		got = read_packed(s, to, room);
		if (got == -EAGAIN)
			return 0;
	} else if (s->seekable)
		got = kt_pread_all(s->fd, to, room, s->offset + s->len);
	else if (s->wait && !s->wait(s->wait_arg))
		got = 0;
	else
		got = kt_read_some(s->fd, to, room);
	if (got < 0)
		return (int)got;
	s->len += (size_t)got;
	s->eof = !got || (s->seekable && (size_t)got < room);
	return probe(s);
}

/*
 * Have @n bytes at the head.
 * Return: how many there are, fewer than @n at the end, or negative errno.
 */
int64_t kt_scan_need(struct kt_scan *s, uint64_t n)
{
	int err = 0;

	while (!err && kt_scan_there(s) < n && !s->eof)
		err = kt_scan_more(s, n);
	return err ? err : (int64_t)kt_scan_there(s);
}

/* Go on where nothing has to be read.  Return: 0 or negative errno. */
static int seek(struct kt_scan *s, uint64_t n)
{
	struct stat st;

	if (fstat(s->fd, &st))
		return -errno;
	s->eof = s->offset + n > (uint64_t)st.st_size;
	s->offset = s->eof ? kt_max(s->offset, (uint64_t)st.st_size) :
			     s->offset + n;
	return 0;
}

/* Go on by @n bytes, perhaps only to the end: @offset tells. */
int kt_scan_skip(struct kt_scan *s, uint64_t n)
{
	int64_t there;

	while (n > kt_scan_there(s)) {
		n -= kt_scan_there(s);
		s->offset += kt_scan_there(s);
		s->head = 0;
		s->len = 0;
		if (s->eof)
			return 0;
		if (s->seekable)
			return seek(s, n);
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

	memset(found, 0, sizeof(*found));
	if (there <= 0)
		return (int)there;
	found->offset = s->offset;
	found->metadata = there >= 4 && kt_get32(head) == KTAPE_METADATA_MAGIC;
	least = found->metadata ? sizeof(struct ktape_metadata_packet) :
				  KTAPE_BLOCK_HEADER;
	if ((size_t)there < least) {
		found->cut = true;
		return kt_error(error, s->offset,
				"cut off in the header of a packet");
	}
	found->size = found->metadata ? metadata_size(head, error) :
					kt_packet_size(head, error);
	if (found->size) {
		found->content = found->metadata ?
					 found->size :
					 KT_HEAD64(head, content_bits) / 8;
		return 1;
	}
	if (error)
		error->offset = s->offset;
	return -EBADMSG;
}

/* A head of a packet in what was read, @from there on, or NULL. */
const uint8_t *kt_scan_find(const struct kt_scan *s, uint64_t from)
{
	uint64_t there = kt_scan_there(s);
	uint8_t pattern[KT_PATTERN_SIZE];

	if (there < from)
		return NULL;
	kt_set32(pattern, KTAPE_BLOCK_MAGIC);
	memcpy(pattern + 4, s->uuid, 16);
	return memmem(kt_scan_head(s) + from, there - from, pattern,
		      sizeof(pattern));
}

/*
 * Have the content of the packet at the head, which is no metadata, and check
 * it.  If its size cannot be believed, no other packet may begin in it.
 * Return: 1, -EBADMSG, or negative errno.
 */
int kt_scan_check(struct kt_scan *s, struct kt_found *found,
		  struct ktape_error *error)
{
	int64_t there = kt_scan_need(s, found->content);
	const uint8_t *head = kt_scan_head(s);
	const uint8_t *next;

	if (there < 0)
		return (int)there;
	if (memcmp(head + offsetof(struct ktape_block, uuid), s->uuid, 16))
		return kt_error(error, s->offset, "packet is of another trace");
	found->cut = (uint64_t)there < found->content;
	if (!found->cut && KT_HEAD32(head, flags) & KTAPE_BLOCK_CRC) {
		found->checked = kt_packet_crc(head, found->content, NULL, 0) ==
				 KT_HEAD32(head, crc32c);
		return found->checked ? 1
				      : kt_error(error, s->offset,
						 KT_BAD_CHECKSUM);
	}
	found->content = kt_min(found->content, (uint64_t)there & ~7ULL);
	next = kt_scan_find(s, 4);
	if (!next || next >= head + found->content)
		return 1;
	found->cut = false;
	return kt_error(error, s->offset, "packet runs into the next one");
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
		if (there < 0) {
			ret = (int)there;
			break;
		}
		if ((uint64_t)there < found.size ||
		    *len + found.size > KT_METADATA_MAX) {
			free(*data);
			return kt_error(error, s->offset, "the metadata %s",
					(uint64_t)there < found.size ?
						"is cut off" :
						"is too long");
		}
		more = realloc(*data, *len + found.size);
		if (!more) {
			ret = -ENOMEM;
			break;
		}
		memcpy(more + *len, kt_scan_head(s), found.size);
		*data = more;
		*len += found.size;
		kt_scan_skip(s, found.size);
	}
	/* A bad packet behind the metadata is told when it is read. */
	if (*len && (ret >= 0 || ret == -EBADMSG))
		return 0;
	free(*data);
	return ret < 0 ? ret :
			 kt_error(error, 0, "no metadata at the beginning");
}

/* Go on to what looks like the head of a packet, as far as it was read. */
bool kt_scan_hunt(struct kt_scan *s)
{
	const uint8_t *at = kt_scan_find(s, 0);

	if (at)
		kt_scan_skip(s, (uint64_t)(at - kt_scan_head(s)));
	else if (kt_scan_there(s) >= KT_PATTERN_SIZE)
		kt_scan_skip(s, kt_scan_there(s) - KT_PATTERN_SIZE + 1);
	return at;
}

/* The same to the end.  Return: 1, 0 at the end, or negative errno. */
static int hunt(struct kt_scan *s)
{
	int64_t there;

	do {
		there = kt_scan_need(s, KT_PATTERN_SIZE);
		if (there < (int64_t)KT_PATTERN_SIZE)
			return there < 0 ? (int)there : 0;
	} while (!kt_scan_hunt(s));
	return 1;
}

/*
 * Go on to the next packet that can be read, and have its content; what is
 * wrong before it is told.
 * Return: 1, 0 at the end, or negative errno.
 */
int kt_scan_next(struct kt_scan *s, struct kt_found *found)
{
	struct ktape_error error;
	int ret;

	for (;;) {
		ret = kt_scan_packet(s, found, &error);
		if (ret > 0 && !found->metadata)
			ret = kt_scan_check(s, found, &error);
		if (ret > 0 && found->cut) {
			kt_error(&error, s->offset + kt_scan_there(s),
				 "the last packet is cut off");
			kt_scan_tell(s, KTAPE_NOTICE_TRUNCATED, &error);
		}
		if (ret != -EBADMSG)
			return ret;
		kt_scan_tell(s,
			     found->cut ? KTAPE_NOTICE_TRUNCATED :
					  KTAPE_NOTICE_CORRUPT,
			     &error);
		ret = kt_scan_skip(s, 1);
		if (!ret)
			ret = hunt(s);
		if (ret <= 0)
			return ret;
	}
}

/*
 * A packet should have ended at @end, and we went on to where another one
 * begins (@found) or to the end.  Tell what is wrong about it.
 */
void kt_scan_judge(struct kt_scan *s, uint64_t end, bool found)
{
	uint64_t last = s->offset + kt_scan_there(s);
	struct ktape_error error;

	if (found && s->offset != end) {
		kt_error(&error, s->offset, "a packet before has a wrong size");
		kt_scan_tell(s, KTAPE_NOTICE_CORRUPT, &error);
	} else if (!found && last < end) {
		kt_error(&error, last, "the last packet is cut off");
		kt_scan_tell(s, KTAPE_NOTICE_TRUNCATED, &error);
	}
	/* What remains has filled it up. */
	if (!found && last <= end)
		kt_scan_skip(s, kt_scan_there(s));
}

/*
 * Go on behind the packet at the head; without a checksum to where the next one
 * really begins.
 * Return: 0 or negative errno.
 */
int kt_scan_leave(struct kt_scan *s, const struct kt_found *found)
{
	bool believed = found->checked || found->cut;
	int ret;

	ret = kt_scan_skip(s, believed	      ? found->size :
			      found->metadata ? 4 :
						found->content);
	if (!ret && !believed)
		ret = hunt(s);
	if (ret >= 0 && !found->metadata && !found->cut)
		kt_scan_judge(s, found->offset + found->size, ret);
	return ret < 0 ? ret : 0;
}
