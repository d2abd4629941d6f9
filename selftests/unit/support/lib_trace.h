/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build traces, whole or damaged, and collect what reading them gives: for
 * tests of libktape and of the command.
 */
#ifndef _LIB_TRACE_H
#define _LIB_TRACE_H

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktape.h>

#include "tap.h"

#define TRACE_OPCODE  200 /* an opcode that the event table does not have */
#define TRACE_RECORDS 4	  /* records per packet */
#ifndef TRACE_PACKET
#define TRACE_PACKET 4096 /* bytes of a packet, with padding */
#endif

/* Offsets in a packet. */
#define AT_FLAGS	offsetof(struct ktape_block, flags)
#define AT_CONTENT_BITS offsetof(struct ktape_block, content_bits)
#define AT_PACKET_BITS	offsetof(struct ktape_block, packet_bits)

static const struct ktape_info trace_info = {
	.uuid = { 9, 8, 7, 6, 5, 4, 3, 2, 1, 9, 8, 7, 6, 5, 4, 3 },
	.freq = 1000000000,
	.clock = "mono",
	.hostname = "board",
	.release = "6.1.0",
	.machine = "x86_64",
};

struct trace_packet {
	unsigned int kind;
	unsigned int cpu;
	uint64_t seq;
	uint64_t ts; /* of the first record; later ones + 1 each */
	uint64_t discarded;
};

/* Build a packet of TRACE_RECORDS records. Return: its bytes, without padding. */
__attribute__((unused)) static size_t trace_packet(unsigned char data[TRACE_PACKET],
						   const struct trace_packet *p)
{
	struct ktape_block head = {
		.kind = p->kind,
		.cpu = p->cpu,
		.seq = p->seq,
		.ts_begin = p->ts,
		.tid = 1,
	};
	struct ktape_builder b;
	uint32_t i;

	memset(data, 0, TRACE_PACKET);
	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	ktape_build_begin(&b, data, TRACE_PACKET, &head);
	for (i = 0; i < TRACE_RECORDS; i++) {
		struct ktape_record record = {
			.ts = p->ts + i,
			.args = &i,
			.nargs = 1,
			.opcode = TRACE_OPCODE,
		};

		if (ktape_build_add(&b, &record))
			abort();
	}
	return ktape_build_end(&b, p->ts + TRACE_RECORDS, p->discarded);
}

/* Pad a packet to @size. */
__attribute__((unused)) static void trace_fill(unsigned char *data, uint64_t size)
{
	uint64_t bits = size * 8;

	memcpy(data + AT_PACKET_BITS, &bits, sizeof(bits));
	ktape_packet_seal(data);
}

__attribute__((unused)) static void trace_unseal(unsigned char *data)
{
	data[AT_FLAGS] &= (unsigned char)~KTAPE_BLOCK_CRC;
}

/* Append to a file in a folder; it is created if it is not there. */
__attribute__((unused)) static void trace_append(const char *dir, const char *name,
						 const void *data, size_t len)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len || close(fd))
		abort();
}

/* XOR the byte at @offset of a file with @bits. */
__attribute__((unused)) static void trace_flip(const char *path, uint64_t offset,
					       unsigned char bits)
{
	unsigned char byte;
	int fd = open(path, O_RDWR);

	if (fd < 0 || pread(fd, &byte, 1, (off_t)offset) != 1)
		abort();
	byte ^= bits;
	if (pwrite(fd, &byte, 1, (off_t)offset) != 1 || close(fd))
		abort();
}

__attribute__((unused)) static void trace_metadata(const char *dir)
{
	char *text;
	size_t len;

	if (ktape_metadata_format(&trace_info, &text, &len))
		abort();
	trace_append(dir, "metadata", text, len);
	free(text);
}

/* Write the beginning of a pipe form. */
__attribute__((unused)) static void trace_begin_pipe(int fd)
{
	char *text;
	size_t len;

	if (ktape_metadata_format(&trace_info, &text, &len) ||
	    ktape_pipe_metadata(fd, trace_info.uuid, text, len))
		abort();
	free(text);
}

struct trace_result {
	int opened;
	int ended;	     /* the last return of ktape_trace_next() */
	unsigned int events; /* number of events without those of the registry */
	unsigned int corrupt;
	unsigned int truncated;
	unsigned int late;
	unsigned int gaps;
	uint64_t lost;		  /* events */
	uint64_t packets;	  /* missing packets */
	struct ktape_notice last; /* notices TRUNCATED or CORRUPT */
	struct ktape_error error;
};

__attribute__((unused)) static void trace_notice(void *arg,
						 const struct ktape_notice *n)
{
	struct trace_result *r = arg;

	switch (n->kind) {
	case KTAPE_NOTICE_LOST:
		r->gaps++;
		r->lost += n->count;
		r->packets += n->packets;
		break;
	case KTAPE_NOTICE_TRUNCATED:
		r->truncated++;
		r->last = *n;
		break;
	case KTAPE_NOTICE_CORRUPT:
		r->corrupt++;
		r->last = *n;
		break;
	case KTAPE_NOTICE_LATE:
		r->late += (unsigned int)n->count;
		break;
	default:
		break;
	}
}

/* Read a trace to its end, in at most @memory bytes; 0: as many as usual. */
__attribute__((unused)) static void trace_read(const char *path, uint64_t memory,
					       struct trace_result *r)
{
	struct ktape_trace_options how = {
		.notice = trace_notice,
		.arg = r,
		.memory = memory,
	};
	const struct ktape_event *e;
	struct ktape_trace *t;

	memset(r, 0, sizeof(*r));
	r->opened = ktape_trace_open(path, &how, &t, &r->error);
	if (r->opened)
		return;
	while ((r->ended = ktape_trace_next(t, &e)) > 0)
		r->events += e->kind != KTAPE_RING_REGISTRY;
	ktape_trace_close(t);
}

/* Create a folder below $TMPDIR. Return: its path, valid until the next call. */
__attribute__((unused)) static const char *trace_folder(void)
{
	static char path[256];
	const char *tmp = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/ktape-test.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(path))
		abort();
	return path;
}

__attribute__((unused)) static void trace_remove(const char *path)
{
	char command[512];

	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	if (system(command))
		abort();
}

#endif /* _LIB_TRACE_H */
