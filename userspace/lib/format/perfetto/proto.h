/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protobuf by hand: writers for its wire types, and the numbers of the fields of
 * perfetto_trace.proto that we write.
 *
 *	field	| varint: number << 3 | wire type | value |
 *	value	wire type 0: varint; 1: 8 bytes; 2: varint length, bytes
 *
 * A nested message gets two bytes for its length (a padded varint), filled in when
 * it is closed.  So nothing is measured beforehand or moved afterwards.  One that may be
 * long gets four, the most that Perfetto reads.
 */
#ifndef _KT_PERFETTO_PROTO_H
#define _KT_PERFETTO_PROTO_H

#include "util/put.h"

#include "stream/packet.h"

/* Trace, and what a packet holds. */
#define PF_TRACE_PACKET		   1
#define PF_PACKET_FTRACE_EVENTS	   1
#define PF_PACKET_PROCESS_TREE	   2
#define PF_PACKET_CLOCK_SNAPSHOT   6
#define PF_PACKET_TIMESTAMP	   8
#define PF_PACKET_SEQUENCE_ID	   10
#define PF_PACKET_TRACK_EVENT	   11
#define PF_PACKET_INTERNED	   12
#define PF_PACKET_SEQUENCE_FLAGS   13
#define PF_PACKET_FTRACE_STATS	   34
#define PF_PACKET_SYSTEM_INFO	   45
#define PF_PACKET_MACHINE	   98
#define PF_PACKET_TRACK_DESCRIPTOR 60
#define PF_PACKET_TRACE_UUID	   89

#define PF_UUID_MSB	   1
#define PF_UUID_LSB	   2
#define PF_SNAPSHOT_CLOCK  1
#define PF_CLOCK_ID	   1
#define PF_CLOCK_TIMESTAMP 2
#define PF_CLOCK_REALTIME  1
#define PF_CLOCK_MONOTONIC 3
#define PF_CLOCK_BOOTTIME  6

#define PF_SYSTEM_UTSNAME      1
#define PF_SYSTEM_MACHINE_NAME 17
#define PF_UTSNAME_SYSNAME     1
#define PF_UTSNAME_VERSION     2
#define PF_UTSNAME_RELEASE     3
#define PF_UTSNAME_MACHINE     4

#define PF_TREE_PROCESS		   1
#define PF_TREE_THREAD		   2
#define PF_PROCESS_PID		   1
#define PF_PROCESS_PPID		   2
#define PF_PROCESS_CMDLINE	   3
#define PF_PROCESS_IS_KTHREAD	   8
#define PF_PROCESS_CMDLINE_IS_COMM 9
#define PF_THREAD_TID		   1
#define PF_THREAD_NAME		   2
#define PF_THREAD_TGID		   3

#define PF_INTERNED_SYMBOLS 26
#define PF_SYMBOL_IID	    1
#define PF_SYMBOL_TEXT	    2

#define PF_BUNDLE_CPU	      1
#define PF_BUNDLE_EVENT	      2
#define PF_BUNDLE_LOST	      3
#define PF_BUNDLE_GENERIC     11
#define PF_GENERIC_ID	      1
#define PF_GENERIC_DESCRIPTOR 2
#define PF_GENERIC_GROUP      3
#define PF_GENERIC_FIRST      65536 /* plus opcode: ids of generic events */
#define PF_DESCRIPTOR_NAME    1
#define PF_DESCRIPTOR_FIELD   2
#define PF_FIELD_NAME	      1
#define PF_FIELD_NUMBER	      3
#define PF_FIELD_LABEL	      4
#define PF_FIELD_TYPE	      5
#define PF_TYPE_INT64	      3
#define PF_TYPE_UINT64	      4
#define PF_TYPE_STRING	      9

#define PF_FTRACE_TIMESTAMP 1
#define PF_FTRACE_PID	    2

#define PF_STATS_PHASE	     1
#define PF_STATS_CPU	     2
#define PF_PHASE_START	     1
#define PF_PHASE_END	     2
#define PF_CPU_STATS_CPU     1
#define PF_CPU_STATS_ENTRIES 2
#define PF_CPU_STATS_OVERRUN 3
#define PF_CPU_STATS_DROPPED 8

#define PF_TRACK_UUID	       1
#define PF_TRACK_NAME	       2
#define PF_TRACK_THREAD	       4
#define PF_TRACK_COUNTER       8
#define PF_TRACK_THREAD_PID    1
#define PF_TRACK_THREAD_TID    2
#define PF_EVENT_ANNOTATION    4
#define PF_EVENT_TYPE	       9
#define PF_EVENT_TRACK	       11
#define PF_EVENT_CATEGORY      22
#define PF_EVENT_NAME	       23
#define PF_EVENT_COUNTER       30
#define PF_ANNOTATION_UNSIGNED 3
#define PF_ANNOTATION_SIGNED   4
#define PF_ANNOTATION_DOUBLE   5
#define PF_ANNOTATION_STRING   6
#define PF_ANNOTATION_POINTER  7
#define PF_ANNOTATION_NAME     10
#define PF_ANNOTATION_ELEMENT  12
#define PF_EVENT_BEGIN	       1
#define PF_EVENT_END	       2
#define PF_EVENT_INSTANT       3
#define PF_EVENT_VALUE	       4

#define PF_SEQ_CLEARED 1
#define PF_SEQ_NEEDED  2

#define PF_VARINT_MAX 10		  /* bytes of the longest varint */
#define PF_NUMBER_MAX (5 + PF_VARINT_MAX) /* the same of a field with its tag */
#define PF_MESSAGE_MAX \
	((1U << 14) - 1) /* lengths of 2 and of 4 bytes, see above */
#define PF_LONG_MAX ((1U << 28) - 1)

/*
 * Write a varint of up to 56 bits without a loop: split it into two groups of 28
 * bits, four of 14, eight of 7.  It stores 8 bytes whatever the length; the bytes
 * after the end are overwritten by what comes next (KT_PUT_OVER).
 */
static inline char *pf_varint_56(char *p, uint64_t v)
{
	unsigned int more = (63 - (unsigned int)__builtin_clzll(v | 1)) / 7;
	uint64_t x = (v & 0x000000000fffffffULL) | (v & 0x00fffffff0000000ULL) << 4;

	x = (x & 0x00003fff00003fffULL) | (x & 0x0fffc0000fffc000ULL) << 2;
	x = (x & 0x007f007f007f007fULL) | (x & 0x3f803f803f803f80ULL) << 1;
	x |= 0x8080808080808080ULL & ((1ULL << more * 8) - 1);
	kt_set64(p, x);
	return p + more + 1;
}

static inline char *pf_varint(char *p, uint64_t v)
{
	if (v < 0x80)
		return kt_put_char(p, (char)v);
	if (v < 1U << 14) {
		p = kt_put_char(p, (char)(v | 0x80));
		return kt_put_char(p, (char)(v >> 7));
	}
	if (v < 1ULL << 56)
		return pf_varint_56(p, v);
	while (v >= 0x80) {
		*p++ = (char)(v | 0x80);
		v >>= 7;
	}
	return kt_put_char(p, (char)v);
}

/* Write a number in a field below 16, whose tag is one byte. */
static inline char *pf_small(char *p, uint8_t field, uint64_t v)
{
	return pf_varint(kt_put_char(p, (char)(field << 3)), v);
}

/* Write a name of at most 32 bytes from an array of at least 32. */
static inline char *pf_name(char *p, uint8_t field, const char *name, size_t len)
{
	p = kt_put_char(p, (char)(field << 3 | 2));
	return kt_put_32(kt_put_char(p, (char)len), name, len);
}

/* Write a number; a signed one has to be sign-extended to 64 bits. */
static inline char *pf_number(char *p, uint32_t field, uint64_t v)
{
	return pf_varint(pf_varint(p, (uint64_t)field << 3), v);
}

/* Write a double, given by its bits. */
static inline char *pf_double(char *p, uint32_t field, uint64_t bits)
{
	p = pf_varint(p, (uint64_t)field << 3 | 1);
	kt_set64(p, bits);
	return p + 8;
}

static inline char *pf_bytes(char *p, uint32_t field, const char *data, size_t len)
{
	p = pf_varint(pf_varint(p, (uint64_t)field << 3 | 2), len);
	return kt_put_mem(p, data, len);
}

/* Write text of a trace, with what is not UTF-8 or not displayed replaced. */
static inline char *pf_string(char *p, uint32_t field, const char *text, size_t len)
{
	p = pf_bytes(p, field, text, len);
	kt_replace_unprintable(p - len, len);
	return p;
}

/* Write a text of ours, or of a table.  A text of a trace takes pf_string(). */
static inline char *pf_text(char *p, uint32_t field, const char *text)
{
	return pf_bytes(p, field, text, strlen(text));
}

/* Begin a nested message of at most PF_MESSAGE_MAX bytes.  Return: its first byte. */
static inline char *pf_open(char *p, uint32_t field)
{
	return pf_varint(p, (uint64_t)field << 3 | 2) + 2;
}

/*
 * End the nested message from @start, as pf_open() returned it, to @p.  The caller sees to
 * its length: pf_packet_done() checks that of a packet, and so of all messages in it.
 */
static inline char *pf_close(char *start, char *p)
{
	size_t len = (size_t)(p - start);

	start[-2] = (char)(len | 0x80);
	start[-1] = (char)(len >> 7);
	return p;
}

/* As pf_open() and pf_close(), for a message or text of at most PF_LONG_MAX bytes. */
static inline char *pf_open_long(char *p, uint32_t field)
{
	return pf_varint(p, (uint64_t)field << 3 | 2) + 4;
}

static inline char *pf_close_long(char *start, char *p)
{
	size_t len = (size_t)(p - start);

	for (int i = -4; i < 0; i++, len >>= 7)
		start[i] = (char)(len & 0x7f) | (char)(i < -1 ? 0x80 : 0);
	return p;
}

#endif /* _KT_PERFETTO_PROTO_H */
