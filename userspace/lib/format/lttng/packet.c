// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read a stream file of a CTF trace: packets, and the heads of their events.
 *
 *	packet	| header: magic, uuid, stream id |
 *		| context: begin, end, content size, packet size, discarded, cpu |
 *		| event | event | ... | padding |
 *	event	| header: id, time | context of the stream | of the class | fields |
 *
 * Which of these a packet has, and in how many bits, the metadata say.  A time stamp of
 * less than 64 bits continues the one before it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/bits.h"
#include "util/file.h"

#include "stream/packet.h"
#include "session.h"

#define MAGIC	   0xc1fc1fc1U
#define HEAD	   (64ULL << 10) /* bytes that hold the head of a packet */
#define HEAD_USUAL 4096U	 /* and that of most packets */

/* Return the name of the file that a stream is in, for messages. */
void lt_place(const struct lt_stream *s, char place[LT_PLACE])
{
	const struct lt_file *f = &s->files[s->file];

	snprintf(place, LT_PLACE, "%.60s%s%.40s", f->trace->path,
		 *f->trace->path ? "/" : "", f->name);
}

/* Say what is wrong at a bit of the packet.  Return: LT_BAD. */
static int packet_bad(const struct lt_stream *s, uint64_t bit,
		      struct ktape_error *error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int packet_bad(const struct lt_stream *s, uint64_t bit,
		      struct ktape_error *error, const char *format, ...)
{
	char place[LT_PLACE];
	size_t len;
	va_list args;

	lt_place(s, place);
	snprintf(error->text, sizeof(error->text), "%s: ", place);
	len = strlen(error->text);
	va_start(args, format);
	vsnprintf(error->text + len, sizeof(error->text) - len, format, args);
	va_end(args);
	error->offset = s->offset + bit / 8;
	return LT_BAD;
}

static bool has_role(const struct ctf_at *at, unsigned int role)
{
	return at->has >> role & 1;
}

static const struct ctf_stream *find_stream(const struct ctf *c, uint64_t id)
{
	for (size_t i = 0; i < c->nr_streams; i++) {
		if (c->streams[i].id == id)
			return &c->streams[i];
	}
	return NULL;
}

/* Classes are sorted by stream and id. */
static int compare_class_id(const struct ctf_class *e, uint64_t stream, uint64_t id)
{
	if (e->stream != stream)
		return e->stream < stream ? -1 : 1;
	return e->id < id ? -1 : e->id > id;
}

static const struct ctf_class *find_class(const struct ctf *c, uint64_t stream,
					  uint64_t id)
{
	size_t low = 0, high = c->nr_classes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare_class_id(&c->classes[middle], stream, id);

		if (!order)
			return &c->classes[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Return how many bytes from the packet on are in the buffer. */
static uint64_t buffered(const struct lt_stream *s)
{
	uint64_t from = s->offset - s->window;

	return s->offset >= s->window && from < s->filled ? s->filled - from : 0;
}

/*
 * Have @len bytes from the packet on in the buffer, and point @s->at.data to them.  What is read
 * for that holds the next small packets as well.
 * Return: bytes, fewer than @len at the end of the file, or negative errno.
 */
static ssize_t fill_buffer(struct lt_stream *s, uint64_t len)
{
	const uint64_t want = kt_max(len, HEAD);
	uint8_t *more;
	ssize_t got;

	if (buffered(s) < len) {
		if (want > s->cap) {
			more = realloc(s->buf, want);
			if (!more)
				return -ENOMEM;
			s->buf = more;
			s->cap = want;
		}
		s->filled = 0;
		got = kt_pread_all(s->fd, s->buf, want, s->offset);
		if (got < 0)
			return got;
		s->window = s->offset;
		s->filled = (uint64_t)got;
	}
	s->at.data = s->buf + (s->offset - s->window);
	return (ssize_t)kt_min(len, buffered(s));
}

/* Make a time stamp complete with the high bits of the one before it. */
static uint64_t full_time(uint64_t before, uint64_t low, unsigned int bits)
{
	uint64_t mask, time;

	if (bits >= 64)
		return low;
	mask = (1ULL << bits) - 1;
	time = (before & ~mask) | (low & mask);
	return time < before ? time + mask + 1 : time;
}

/* Read header and context of the packet in the buffer.  Return: LT_OK with @s->class, or LT_BAD. */
static int read_head(const struct ctf *c, struct lt_stream *s,
		     struct ktape_error *error)
{
	struct ctf_at *at = &s->at;

	at->named = c->version == 1; /* CTF 1.8 says by names what numbers mean */
	if (c->packet_header && !ctf_read_struct(at, c->packet_header))
		return packet_bad(s, at->bit, error, "%s", at->why);
	if (has_role(at, CTF_MAGIC) && at->roles[CTF_MAGIC] != MAGIC)
		return packet_bad(s, 0, error, "no packet begins here");
	s->class = find_stream(
		c, has_role(at, CTF_STREAM) ? at->roles[CTF_STREAM] : 0);
	if (!s->class)
		return packet_bad(s, 0, error, "the metadata have no stream %llu",
				  (unsigned long long)at->roles[CTF_STREAM]);
	if (s->class->packet_context &&
	    !ctf_read_struct(at, s->class->packet_context))
		return packet_bad(s, at->bit, error, "%s", at->why);
	/* All bits of cpu_id are set for a buffer that all CPUs write to. */
	if (has_role(at, CTF_CPU) && ~at->roles[CTF_CPU] << 32 == 0)
		at->has &= ~(1U << CTF_CPU);
	if (has_role(at, CTF_CPU) && at->roles[CTF_CPU] >= KT_CPUS_MAX)
		return packet_bad(s, 0, error, "CPU number %llu is out of range",
				  (unsigned long long)at->roles[CTF_CPU]);
	return LT_OK;
}

/*
 * Check whether the numbers of packets begin again: @seq is lower, and not because a number of 8 or
 * more bits became 0 after its highest value.
 */
static bool begins_again(const struct lt_stream *s, uint64_t seq)
{
	return seq < s->seq &&
	       (seq || s->seq < UINT8_MAX || (s->seq & (s->seq + 1)));
}

/* Take what the head of the packet says of time and losses. */
static void take_head(struct lt_stream *s)
{
	const struct ctf_at *at = &s->at;
	uint64_t discarded = at->roles[CTF_DISCARDED];
	uint64_t seq = at->roles[CTF_SEQ];
	bool first = !s->begun || (has_role(at, CTF_SEQ) && begins_again(s, seq));

	if (has_role(at, CTF_TIME))
		s->time = full_time(s->time, at->roles[CTF_TIME], at->clock_bits);
	s->begin = s->time;
	s->dated = has_role(at, CTF_TIME);
	s->end = s->begin;
	if (has_role(at, CTF_TIME_END))
		s->end = full_time(s->begin, at->roles[CTF_TIME_END], at->end_bits);
	/* LTTng's packets that were not closed have 0.  Fewer bits may have wrapped many times. */
	s->bounded = has_role(at, CTF_TIME_END) && at->end_bits >= 64 && s->end;
	s->placed = has_role(at, CTF_CPU);
	if (s->placed)
		s->cpu = (uint32_t)at->roles[CTF_CPU];
	s->lost = 0;
	s->skipped = false;
	/*
	 * The count of discarded events goes on from packet to packet.  Where the numbers of
	 * packets begin again, so does the count.  If the first packet that is read is not the
	 * first of its stream, how many of its count were lost after the packet before is not
	 * known.
	 */
	if (first)
		s->discarded = 0;
	s->doubtful = first && has_role(at, CTF_SEQ) && seq && discarded;
	if (s->doubtful)
		s->discarded = discarded;
	if (has_role(at, CTF_DISCARDED) && discarded > s->discarded)
		s->lost = discarded - s->discarded;
	if (s->begun && has_role(at, CTF_SEQ))
		s->skipped = seq > s->seq + 1;
	/*
	 * LTTng's count may be lower in a packet and reach the old value again later: keep the
	 * highest.  Where a number comes twice, or 0 after the highest, the count may begin again.
	 */
	if (!has_role(at, CTF_SEQ) || !s->begun || seq > s->seq)
		s->discarded = kt_max(s->discarded, discarded);
	else
		s->discarded = discarded;
	s->numbered = has_role(at, CTF_SEQ);
	s->seq = seq;
	s->begun = true;
}

/**
 * lt_file_next() - go on with the next file of a stream, which may be of another trace
 * @s: the stream
 *
 * Return: 1, 0 if there is none, or negative errno.
 */
int lt_file_next(struct lt_stream *s)
{
	const struct lt_file *f;

	if (s->file + 1 >= s->nr_files)
		return 0;
	f = &s->files[++s->file];
	close(s->fd);
	s->fd = openat(f->trace->folder, f->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (s->fd < 0)
		return -errno;
	s->other |= f->trace != s->trace;
	s->trace = f->trace;
	s->offset = 0;
	s->next = 0;
	s->filled = 0;
	return 1;
}

/*
 * Read the head of the packet at @s->offset, of whose file @rest bytes are left: first from what is
 * in the buffer; if it is not whole there, once more from HEAD bytes.
 * Return: LT_OK; LT_END if the file has become shorter; LT_BAD; or negative errno.
 */
static int find_head(const struct ctf *c, struct lt_stream *s, uint64_t rest,
		     struct ktape_error *error)
{
	uint64_t len = buffered(s);
	ssize_t got;
	int ret;

	len = len < HEAD_USUAL ? HEAD : kt_min(len, HEAD);
	for (;; len = HEAD) {
		memset(&s->at, 0, sizeof(s->at));
		got = fill_buffer(s, kt_min(len, rest));
		if (got <= 0)
			return got ? (int)got : LT_END;
		s->at.end = (uint64_t)got * 8;
		ret = read_head(c, s, error);
		if (ret != LT_BAD || len == HEAD)
			return ret;
	}
}

/* Check whether the file has zeros only, from the packet on. */
static bool is_zero(struct lt_stream *s, uint64_t size)
{
	uint8_t part[4096];
	ssize_t got;

	for (uint64_t at = s->offset; at < size; at += (uint64_t)got) {
		got = kt_pread_all(s->fd, part, sizeof(part), at);
		if (got <= 0)
			return false;
		for (ssize_t i = 0; i < got; i++) {
			if (part[i])
				return false;
		}
	}
	return true;
}

/* Check whether a snapshot has a packet that the snapshot before it has, too. */
static bool is_repeated(const struct lt_stream *s)
{
	return s->other && s->begun && s->numbered &&
	       has_role(&s->at, CTF_SEQ) && s->at.roles[CTF_SEQ] <= s->seq;
}

/**
 * lt_packet_next() - read the next packet of a stream
 * @s: the stream; the classes of its traces are sorted
 * @error: filled on LT_BAD
 *
 * At the end of a file it goes on with the next one of the stream.  It passes over packets that a
 * snapshot repeats, and over zeros up to the end of a file (@s->padded).
 *
 * Return: LT_OK, LT_END, LT_BAD if the file cannot be read from here on, or negative
 * errno.
 */
int lt_packet_next(struct lt_stream *s, struct ktape_error *error)
{
	uint64_t total, content;
	struct stat st;
	ssize_t got;
	int ret;

again:
	for (;;) {
		if (fstat(s->fd, &st))
			return -errno;
		s->offset = s->next;
		if (s->offset < (uint64_t)st.st_size)
			break;
		ret = lt_file_next(s);
		if (ret <= 0)
			return ret ? ret : LT_END;
	}
	ret = find_head(&s->trace->c, s, (uint64_t)st.st_size - s->offset, error);
	if (ret == LT_BAD && s->offset && is_zero(s, (uint64_t)st.st_size)) {
		s->padded = true;
		s->next = (uint64_t)st.st_size;
		goto again;
	}
	if (ret != LT_OK)
		return ret;
	if (has_role(&s->at, CTF_TOTAL))
		total = s->at.roles[CTF_TOTAL];
	else if (has_role(&s->at, CTF_CONTENT))
		total = kt_align(s->at.roles[CTF_CONTENT], 8);
	else /* the file is one packet */
		total = ((uint64_t)st.st_size - s->offset) * 8;
	content = has_role(&s->at, CTF_CONTENT) ? s->at.roles[CTF_CONTENT] : total;
	if (total & 7 || content > total || content < s->at.bit)
		return packet_bad(s, 0, error, "the sizes of the packet are wrong");
	if (total / 8 > (uint64_t)st.st_size - s->offset)
		return packet_bad(s, 0, error, "the file ends inside this packet");
	if (is_repeated(s)) {
		s->next = s->offset + total / 8;
		goto again;
	}
	if (total / 8 > LT_PACKET_MAX)
		return packet_bad(s, 0, error, "the packet has more than %llu MB",
				  LT_PACKET_MAX >> 20);
	got = fill_buffer(s, total / 8);
	if (got < 0)
		return (int)got;
	if ((uint64_t)got < total / 8)
		return packet_bad(s, 0, error, "the file ends inside this packet");
	s->at.end = content;
	s->next = s->offset + total / 8;
	s->other = false;
	take_head(s);
	return LT_OK;
}

/**
 * lt_event_next() - read header and contexts of the next event
 * @c: the metadata; its classes are sorted
 * @s: the file, in a packet
 * @error: filled on LT_BAD
 *
 * Sets @s->event and its time, CPU and thread.  Its fields follow at @s->at.
 *
 * Return: LT_OK, LT_END at the end of the packet, or LT_BAD: the rest of the packet
 * cannot be read.
 */
int lt_event_next(const struct ctf *c, struct lt_stream *s, struct ktape_error *error)
{
	struct ctf_at *at = &s->at;
	uint64_t before = at->bit;

	if (at->bit >= at->end)
		return LT_END;
	s->event_bit = before;
	at->empty = 0;
	at->has = 0;
	at->named = c->version == 1;
	if (s->class->event_header && !ctf_read_struct(at, s->class->event_header))
		return packet_bad(s, at->bit, error, "%s", at->why);
	s->event = find_class(c, s->class->id,
			      has_role(at, CTF_CLASS) ? at->roles[CTF_CLASS] : 0);
	if (!s->event)
		return packet_bad(s, before, error,
				  "the metadata have no event %llu of stream %llu",
				  (unsigned long long)at->roles[CTF_CLASS],
				  (unsigned long long)s->class->id);
	if (has_role(at, CTF_TIME))
		s->time = full_time(s->time, at->roles[CTF_TIME], at->clock_bits);
	/* In contexts only the CPU and the thread have a role by their name. */
	at->named = false;
	s->context_bit = at->bit;
	if ((s->class->event_context &&
	     !ctf_read_struct(at, s->class->event_context)) ||
	    (s->event->context && !ctf_read_struct(at, s->event->context)))
		return packet_bad(s, at->bit, error, "%s", at->why);
	s->event_cpu = s->cpu;
	if (!s->placed && has_role(at, CTF_CPU) && at->roles[CTF_CPU] < KT_CPUS_MAX)
		s->event_cpu = (uint32_t)at->roles[CTF_CPU];
	s->tid = -1;
	if (has_role(at, CTF_TID))
		s->tid = (int64_t)(int32_t)at->roles[CTF_TID];
	else if (has_role(at, CTF_VTID))
		s->tid = (int64_t)(int32_t)at->roles[CTF_VTID];
	return LT_OK;
}
