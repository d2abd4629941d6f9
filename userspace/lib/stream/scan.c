// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find one packet after the other in a file or pipe, through one buffer.
 *
 * Only the content of a packet is read into memory, not its padding.  The size in a
 * packet header is trusted only if the checksum of the packet is right.  Otherwise
 * the scanner searches for the next header (magic and UUID), so that a flipped bit
 * costs one packet and not the rest of the file.
 *
 * Records are read by stream/packet.h.  Compressed input is
 * unpacked by zin.c below this file.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"

#include "stream/metadata.h"
#include "stream/scan.h"

#define CHUNK (64U << 10)

void kt_scan_init(struct kt_scan *s, int fd)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	struct stat st;

	memset(s, 0, sizeof(*s));
	s->fd = fd;
	/* lseek() succeeds on devices, too, but they cannot be read twice. */
	s->seekable = at >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode);
	s->offset = s->seekable ? (uint64_t)at : 0;
}

/* Go back to the first byte; valid only if kt_scan_is_rereadable(). */
void kt_scan_rewind(struct kt_scan *s)
{
	if (s->z)
		kt_zin_rewind(s->z);
	s->offset = 0;
	s->head = 0;
	s->len = 0;
	s->eof = false;
}

/* Check whether the input can be read twice (a plain or compressed file). */
bool kt_scan_is_rereadable(const struct kt_scan *s)
{
	return s->seekable || (s->z && kt_zin_again(s->z));
}

/* Check whether kt_scan_more() can return data without reading the descriptor. */
bool kt_scan_pending(const struct kt_scan *s)
{
	return s->z && kt_zin_pending(s->z);
}

void kt_scan_free(struct kt_scan *s)
{
	if (s->budget)
		kt_budget_give(s->budget, s->cap + s->z_memory);
	kt_zin_free(s->z);
	s->z = NULL;
	s->z_memory = 0;
	free(s->buf);
	s->buf = NULL;
	s->cap = 0;
}

static void scan_notify(const struct kt_scan *s, unsigned int kind,
			const struct ktape_error *error)
{
	if (s->report)
		s->report(s->arg, kind, error);
}

/*
 * Move the head to the begin of the buffer, which gets room for @n bytes.
 * Return: 0, -ENOBUFS if the budget is used up, or -ENOMEM.
 */
static int scan_make_room(struct kt_scan *s, size_t n)
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
	if (s->budget && kt_budget_take(s->budget, cap - s->cap))
		return -ENOBUFS;
	buf = realloc(s->buf, cap);
	if (!buf) {
		if (s->budget)
			kt_budget_give(s->budget, cap - s->cap);
		return -ENOMEM;
	}
	s->buf = buf;
	s->cap = cap;
	return 0;
}

/*
 * Switch to unpacking: the bytes read so far begin a compressed input.  A pipe's go to the
 * unpacker, a file is read again from its begin.
 */
static int begin_unpacking(struct kt_scan *s)
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

/*
 * Once the first bytes of the input were read, check whether it is compressed; then unpack it from
 * here on.
 * Return: 0 or negative errno.
 */
static int probe_compression(struct kt_scan *s)
{
	if (s->probed || (kt_scan_there(s) < KT_ZIN_MARK && !s->eof))
		return 0;
	s->probed = true;
	if (s->offset || kt_scan_there(s) < KT_ZIN_MARK ||
	    !kt_zin_is(kt_scan_head(s)))
		return 0;
	return begin_unpacking(s);
}

/*
 * Read from a compressed input.
 * Return: bytes, 0 at the end, -EAGAIN if one read gave no output, or another
 * negative errno.
 */
static ssize_t read_packed(struct kt_scan *s, uint8_t *to, size_t room)
{
	struct kt_zin_trouble trouble = { .text = NULL };
	ssize_t got = kt_zin_read(s->z, to, room, &trouble);
	size_t memory = kt_zin_memory(s->z);
	struct ktape_error error;

	if (trouble.text) {
		kt_error(&error, trouble.offset, "%s", trouble.text);
		scan_notify(s, trouble.cut ? KTAPE_NOTICE_TRUNCATED : KTAPE_NOTICE_CORRUPT,
			    &error);
	}
	if (!s->budget || memory == s->z_memory)
		return got;
	if (memory < s->z_memory)
		kt_budget_give(s->budget, s->z_memory - memory);
	else if (kt_budget_take(s->budget, memory - s->z_memory))
		return -ENOBUFS;
	s->z_memory = memory;
	return got;
}

/*
 * Make room for @n bytes at the head and read once, maybe nothing.  Once the first bytes show that
 * the input is compressed, the buffer is emptied, and the next call unpacks.
 * Return: 0, also at the end, then @eof is set; -ENOBUFS if the budget is used up; or negative
 * errno.
 */
int kt_scan_more(struct kt_scan *s, uint64_t n)
{
	int err = scan_make_room(s, n);
	uint8_t *to = s->buf + s->len;
	size_t room = s->cap - s->len;
	ssize_t got;
	int waited;

	if (err)
		return err;
	if (s->z) {
		got = read_packed(s, to, room);
		if (got == -EAGAIN)
			return 0;
	} else if (s->seekable)
		got = kt_pread_all(s->fd, to, room, s->offset + s->len);
	else if (s->wait && (waited = s->wait(s->wait_arg)) <= 0)
		got = waited;
	else
		got = kt_read_some(s->fd, to, room);
	if (got < 0)
		return (int)got;
	s->len += (size_t)got;
	s->eof = !got || (s->seekable && (size_t)got < room);
	return probe_compression(s);
}

/*
 * Read until @n bytes are at the head.
 * Return: bytes present, fewer than @n only at the end, or negative errno.
 */
int64_t kt_scan_need(struct kt_scan *s, uint64_t n)
{
	int err = 0;

	while (!err && kt_scan_there(s) < n && !s->eof)
		err = kt_scan_more(s, n);
	return err ? err : (int64_t)kt_scan_there(s);
}

/*
 * Skip @n bytes of a file without reading them, but not beyond its end; then @eof is set.
 * Return: 0 or negative errno.
 */
static int seek_forward(struct kt_scan *s, uint64_t n)
{
	struct stat st;

	if (fstat(s->fd, &st))
		return -errno;
	s->eof = s->offset + n > (uint64_t)st.st_size;
	s->offset = s->eof ? kt_max(s->offset, (uint64_t)st.st_size) :
			     s->offset + n;
	return 0;
}

/*
 * Skip @n bytes.  Stops at the end of the input: compare @offset.
 * Return: 0 or negative errno; bytes that are in the buffer are skipped without an error.
 */
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
			return seek_forward(s, n);
		there = kt_scan_need(s, 1);
		if (there < 0)
			return (int)there;
	}
	s->head += n;
	s->offset += n;
	return 0;
}

/* Return the size of a metadata packet, 0 with @error filled if its header is bad. */
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
 * Return whether a packet can begin in @size bytes, which are too few for a header.  Padding may
 * come before it, because a search for the next header may have ended there.
 */
static bool may_begin_packet(const uint8_t *head, size_t size)
{
	const uint32_t magics[] = { htole32(KTAPE_BLOCK_MAGIC),
				    htole32(KTAPE_METADATA_MAGIC) };

	for (; size; head++, size--) {
		for (size_t i = 0; i < KT_ARRAY_SIZE(magics); i++) {
			if (!memcmp(head, &magics[i], kt_min(size, sizeof(*magics))))
				return true;
		}
	}
	return false;
}

/*
 * Read the header of the packet at the head, and fill @found from it; nothing of the content is
 * checked, and the UUID neither.
 * Return: 1, 0 at the end, -EBADMSG if there is no packet (@cut is set if the input ends in its
 * header), or negative errno.
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
		found->cut = may_begin_packet(head, (size_t)there);
		return kt_error(error, s->offset, "%s",
				found->cut ?
					"the input ends in the header of a packet" :
					"not a packet: wrong magic number");
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

/* Find a packet header in the buffer, from @from on.  Return: the header or NULL. */
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
 * Read the content of the packet at the head, which is not metadata, and check it.  Without a
 * checksum the size cannot be trusted: then the packet is bad if another packet begins inside
 * it.  If the input ends in the packet, @cut is set, and @content becomes what is present.
 * Return: 1, also if it is cut; -EBADMSG if it is bad or of another trace; or negative errno.
 */
int kt_scan_check(struct kt_scan *s, struct kt_found *found, struct ktape_error *error)
{
	int64_t there = kt_scan_need(s, found->content);
	const uint8_t *head = kt_scan_head(s);
	const uint8_t *next;

	if (there < 0)
		return (int)there;
	if (memcmp(head + offsetof(struct ktape_block, uuid), s->uuid, 16))
		return kt_error(error, s->offset,
				"the packet belongs to another trace");
	found->cut = (uint64_t)there < found->content;
	if (!found->cut && KT_HEAD32(head, flags) & KTAPE_BLOCK_CRC) {
		found->checked = kt_packet_crc(head, found->content, NULL, 0) ==
				 KT_HEAD32(head, crc32c);
		return found->checked ?
			       1 :
			       kt_error(error, s->offset, KT_BAD_CHECKSUM);
	}
	found->content = kt_min(found->content, (uint64_t)there & ~7ULL);
	next = kt_scan_find(s, 4);
	if (!next || next >= head + found->content)
		return 1;
	found->cut = false;
	return kt_error(error, s->offset, "the packet overlaps the next one");
}

/*
 * Read all metadata packets at the beginning into one buffer.
 * Return: 0, then the caller frees @data; -EBADMSG; or negative errno.
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
	/* kt_scan_next() reports a bad packet after the metadata. */
	if (*len && (ret >= 0 || ret == -EBADMSG))
		return 0;
	free(*data);
	return ret < 0 ? ret :
			 kt_error(error, 0,
				  "the input does not begin with metadata");
}

/*
 * Skip to the next packet header in the buffer, or to the last bytes that may begin one.
 * Return: true if there is a header.
 */
bool kt_scan_hunt(struct kt_scan *s)
{
	const uint8_t *at = kt_scan_find(s, 0);

	if (at)
		kt_scan_skip(s, (uint64_t)(at - kt_scan_head(s)));
	else if (kt_scan_there(s) >= KT_PATTERN_SIZE)
		kt_scan_skip(s, kt_scan_there(s) - KT_PATTERN_SIZE + 1);
	return at;
}

/* Skip to the next packet header.  Return: 1, 0 at the end, or negative errno. */
static int hunt_scan_packet(struct kt_scan *s)
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
 * Skip to the next valid packet and read its content, unless it is metadata.  Report bad data
 * before it, and if the input ends in it.
 * Return: 1, 0 at the end, -EAGAIN after bad data if @stepwise, or negative errno.
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
				 "the input ends in the middle of a packet");
			scan_notify(s, KTAPE_NOTICE_TRUNCATED, &error);
		}
		if (ret != -EBADMSG)
			return ret;
		scan_notify(s, found->cut ? KTAPE_NOTICE_TRUNCATED : KTAPE_NOTICE_CORRUPT,
			    &error);
		ret = kt_scan_skip(s, 1);
		if (!ret)
			ret = hunt_scan_packet(s);
		if (ret <= 0)
			return ret;
		if (s->stepwise)
			return -EAGAIN;
	}
}

/*
 * Report a packet with a wrong size, or in which the input ends: its header says that it ends at
 * @end.  The scanner is now at the next packet, which was searched (@found), or it was not
 * searched or not found, and the scanner is at @end or at the end of the input.
 */
void kt_scan_check_size(struct kt_scan *s, uint64_t end, bool found)
{
	uint64_t last = s->offset + kt_scan_there(s);
	struct ktape_error error;

	if (found && s->offset != end) {
		kt_error(&error, s->offset,
			 "the packet before this offset has a wrong size");
		scan_notify(s, KTAPE_NOTICE_CORRUPT, &error);
	} else if (!found && last < end) {
		kt_error(&error, last, "the input ends in the middle of a packet");
		scan_notify(s, KTAPE_NOTICE_TRUNCATED, &error);
	}
	/* The remaining bytes are padding of the last packet. */
	if (!found && last <= end)
		kt_scan_skip(s, kt_scan_there(s));
}

/*
 * Skip the packet at the head.  If its size cannot be trusted, search for the next
 * header instead of skipping the padding.
 * Return: 0 or negative errno.
 */
int kt_scan_leave(struct kt_scan *s, const struct kt_found *found)
{
	bool trusted = found->checked || found->cut;
	int ret;

	/* Metadata have no checksum: search from behind their magic number. */
	ret = kt_scan_skip(s, trusted	      ? found->size :
			      found->metadata ? 4 :
						found->content);
	if (!ret && !trusted)
		ret = hunt_scan_packet(s);
	if (ret >= 0 && !found->metadata && !found->cut)
		kt_scan_check_size(s, found->offset + found->size, ret);
	return ret < 0 ? ret : 0;
}
