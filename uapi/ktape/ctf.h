/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* clang-format off */
/*
 * CTF 1.8 metadata as string literals made from the event table, so that the
 * kernel (for read()) and user space (for saved traces) have the same text.
 *
 * The text consists of KTAPE_CTF_HEAD (a printf format), the strings of all events
 * (see the end of this file), and KTAPE_CTF_UNKNOWN (a printf format that takes the
 * opcode twice) for each opcode that the table does not have.  When the text is
 * complete, the digits behind KTAPE_CTF_CRC are replaced by its checksum.
 *
 * The event header is 64-bit aligned: ts32, the opcode, and for the time
 * extension the whole time.  dat20 is the event's context, which starts at bit
 * 40; arguments are its fields, which start at bit 64.
 */
#ifndef _KTAPE_CTF_H
#define _KTAPE_CTF_H

/*
 * Behind this stands the CRC32C of the whole text, as 8 lower-case hexadecimal
 * digits.  It is computed with these digits as '0'.  Texts with tracer_minor 0
 * have none.
 */
#define KTAPE_CTF_CRC		"	metadata_crc32c = \""
#define KTAPE_CTF_CRC_DIGITS	8

/*
 * Takes: uuid (as 8-4-4-4-12 text, string), then the values of env: table hash
 * (unsigned long long), clock name, CLOCK_MONOTONIC, CLOCK_BOOTTIME and
 * CLOCK_REALTIME minus trace clock in nanoseconds at load (3 x long long),
 * host name, kernel release, machine (strings); then clock name (string), uuid
 * (string), frequency (unsigned long long), offset_s (long long), offset in
 * ticks (unsigned long long); then the clock name twice, for the types of times.
 */
#define KTAPE_CTF_HEAD \
"/* CTF 1.8 */\n" \
"typealias integer { size = 8; align = 8; signed = false; } := u8;\n" \
"typealias integer { size = 16; align = 8; signed = false; } := u16;\n" \
"typealias integer { size = 32; align = 32; signed = false; } := u32;\n" \
"typealias integer { size = 32; align = 32; signed = true; } := s32;\n" \
"typealias integer { size = 32; align = 32; signed = false; base = 16; } := x32;\n" \
"typealias integer { size = 64; align = 32; signed = false; } := u64;\n" \
"typealias integer { size = 64; align = 32; signed = true; } := s64;\n" \
"typealias integer { size = 64; align = 32; signed = false; base = 16; } := x64;\n" \
"typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := utf8;\n" \
"typealias integer { size = 3; align = 1; } := b3;\n" \
"typealias integer { size = 20; align = 1; } := b20;\n" \
"typealias integer { size = 32; align = 1; } := b32;\n" \
"typealias integer { size = 32; align = 1; base = 16; } := h32;\n" \
"typealias enum : integer { size = 1; align = 1; } { no = 0, yes = 1 } := yn;\n" \
"trace {\n" \
"	major = 1; minor = 8; byte_order = le; uuid = \"%s\";\n" \
"	packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; };\n" \
"};\n" \
"env {\n" \
"	tracer_name = \"ktape\"; tracer_major = 1; tracer_minor = 1;\n" \
KTAPE_CTF_CRC "00000000\";\n" \
"	table_hash = \"%016llx\"; trace_clock = \"%s\";\n" \
"	mono_offset_ns = %lld; boot_offset_ns = %lld; real_offset_ns = %lld;\n" \
"	hostname = \"%s\"; release = \"%s\"; machine = \"%s\";\n" \
"};\n" \
"clock { name = %s; uuid = \"%s\"; freq = %llu; offset_s = %lld; offset = %llu; };\n" \
"typealias integer { size = 32; align = 32; signed = false; map = clock.%s.value; } := ts32;\n" \
"typealias integer { size = 64; align = 64; signed = false; map = clock.%s.value; } := ts64;\n" \
"stream {\n" \
"	id = 0;\n" \
"	event.header := struct {\n" \
"		ts32 timestamp;\n" \
"		enum : u8 { compact = 0 ... 254, extended = 255 } id;\n" \
"		variant <id> { struct { } compact; struct { ts64 timestamp; } extended; } v;\n" \
"	} align(64);\n" \
"	packet.context := struct {\n" \
"		ts64 timestamp_begin; ts64 timestamp_end;\n" \
"		u64 content_size; u64 packet_size; u64 packet_seq_num; u64 events_discarded;\n" \
"		u32 cpu_id; u32 _kind; struct { } align(512) _end;\n" \
"	} align(1024);\n" \
"};\n" \
"event { name = \"time_extend\"; id = 255; stream_id = 0;\n" \
"	fields := struct { u64 _reserved; struct { } align(64) _end; }; };\n"

/*
 * An event that the table does not have.  babeltrace2 takes the tag of a variant from the
 * same scope only.  So dat20, p and nargs are fields here, and the fields start at bit 40:
 * without the _end of other events, which is aligned to 64 bits.
 */
#define KTAPE_CTF_UNKNOWN \
"event { name = \"opcode_%u\"; id = %u; stream_id = 0; fields := struct { " \
"b20 _dat20; yn _p; b3 _nargs; h32 _args[_nargs]; variant <_p> { struct { } no; " \
"struct { b32 _size; u8 _bytes[_size]; } yes; } _blob; }; };\n"

/* Types in the argument words. */
#define KTAPE_CTF_U32		"u32"
#define KTAPE_CTF_S32		"s32"
#define KTAPE_CTF_X32		"x32"
#define KTAPE_CTF_U64		"u64"
#define KTAPE_CTF_S64		"s64"
#define KTAPE_CTF_X64		"x64"
#define KTAPE_CTF_BOOL		"u32"
#define KTAPE_CTF_TID		"s32"
#define KTAPE_CTF_CPU		"u32"
#define KTAPE_CTF_PRIO		"u32"
#define KTAPE_CTF_STATE		"u32"
#define KTAPE_CTF_IRQ		"u32"
#define KTAPE_CTF_SOFTIRQ	"u32"
#define KTAPE_CTF_SYSCALL	"u32"
#define KTAPE_CTF_CLASSID	"u32"
#define KTAPE_CTF_OBJECT	"u32"
#define KTAPE_CTF_PHASE		"u32"
#define KTAPE_CTF_NS		"u64"
#define KTAPE_CTF_TICKS		"u64"
#define KTAPE_CTF_PTR		"x32"
#define KTAPE_CTF_FUNC		"x32"
#define KTAPE_CTF_SIGNAL	"u32"
#define KTAPE_CTF_SEVERITY	"u32"
#define KTAPE_CTF_MARKER	"u32"
#define KTAPE_CTF_VALUEID	"u32"
#define KTAPE_CTF_ISRID		"u32"
#define KTAPE_CTF_DEV		"u32"
#define KTAPE_CTF_NETDEV	"u32"
#define KTAPE_CTF_IPI		"u32"
#define KTAPE_CTF_FILTER	"u32"

/* Types in dat20, of a width in bits. */
#define KTAPE_CTF_PLAIN(width) \
	"integer { size = " #width "; align = 1; }"
#define KTAPE_CTF_BITS_U32(width)	KTAPE_CTF_PLAIN(width)
#define KTAPE_CTF_BITS_X32(width) \
	"integer { size = " #width "; align = 1; base = 16; }"
#define KTAPE_CTF_BITS_BOOL(width)	KTAPE_CTF_PLAIN(width)
#define KTAPE_CTF_BITS_CPU(width)	KTAPE_CTF_PLAIN(width)
#define KTAPE_CTF_BITS_PRIO(width)	KTAPE_CTF_PLAIN(width)
#define KTAPE_CTF_BITS_IRQ(width)	KTAPE_CTF_PLAIN(width)
#define KTAPE_CTF_BITS_SYSCALL(width)	KTAPE_CTF_PLAIN(width)
#define KTAPE_CTF_BITS_CLASSID(width)	KTAPE_CTF_PLAIN(width)
#define KTAPE_CTF_BITS_STATE(width) \
	"enum : " KTAPE_CTF_PLAIN(width) " { R = 0, S = 1, D = 2, T = 3, " \
	"TRACED = 4, X = 5, Z = 6, P = 7, I = 8, PREEMPTED = 9 }"
#define KTAPE_CTF_BITS_SOFTIRQ(width) \
	"enum : " KTAPE_CTF_PLAIN(width) " { HI = 0, TIMER = 1, NET_TX = 2, " \
	"NET_RX = 3, BLOCK = 4, IRQ_POLL = 5, TASKLET = 6, SCHED = 7, " \
	"HRTIMER = 8, RCU = 9 }"
#define KTAPE_CTF_BITS_OBJECT(width) \
	"enum : " KTAPE_CTF_PLAIN(width) " { free = 0, thread = 1, irq = 2, " \
	"softirq = 3, function = 4, marker = 5, value = 6, isr = 7, " \
	"exception = 8, user_event = 9, block_device = 10, net_device = 11, " \
	"cgroup = 12, probe = 13, syscall = 14, task_cgroup = 15, " \
	"no_room = 16, user = 64 ... 255 }"
#define KTAPE_CTF_BITS_SIGNAL(width)	KTAPE_CTF_PLAIN(width)
#define KTAPE_CTF_BITS_SEVERITY(width) \
	"enum : " KTAPE_CTF_PLAIN(width) " { SW0 = 0, SW1 = 1, SW2 = 2, " \
	"SW3 = 3, HW0 = 4, HW1 = 5, HW2 = 6, HW3 = 7 }"
#define KTAPE_CTF_BITS_IPI(width) \
	"enum : " KTAPE_CTF_PLAIN(width) " { other = 0, reschedule = 1, " \
	"call = 2, call_single = 3, irq_work = 4, stop = 5, timer = 6 }"
#define KTAPE_CTF_BITS_FILTER(width) \
	"enum : " KTAPE_CTF_PLAIN(width) " { cpu = 0, syscall = 1, irq = 2, " \
	"softirq = 3, signal = 4, pid = 5, cgroup = 6, uid = 7, severity = 8, " \
	"gate = 9, rate = 10, stack = 11 }"
#define KTAPE_CTF_BITS_PHASE(width) \
	"enum : " KTAPE_CTF_PLAIN(width) " { off = 0, on = 1 }"

#define KTAPE_CTF_EVENT(opcode, NAME, name, CLASS, help) \
	"event { name = \"" #name "\"; id = " #opcode "; stream_id = 0;\n" \
	"	context := struct { "
#define KTAPE_CTF_BITS(TYPE, field, width, help) \
	KTAPE_CTF_BITS_##TYPE(width) " _" #field "; "
#define KTAPE_CTF_VARARGS(spare) \
	KTAPE_CTF_PLAIN(spare) " _spare; " KTAPE_CTF_PLAIN(1) " _p; " \
	KTAPE_CTF_PLAIN(3) " _nargs; "
#define KTAPE_CTF_ARGS() "};\n	fields := struct { "
#define KTAPE_CTF_ARG(TYPE, field, help) KTAPE_CTF_##TYPE " _" #field "; "
#define KTAPE_CTF_REST(TYPE, field, help) \
	KTAPE_CTF_##TYPE " _" #field "[event.context._nargs]; "
#define KTAPE_CTF_BLOB() "u32 _size; "
#define KTAPE_CTF_ARRAY(TYPE, field, count, help) \
	KTAPE_CTF_##TYPE " _" #field "[" #count "]; "
#define KTAPE_CTF_TEXT(field, help) "utf8 _" #field "[_size]; "
#define KTAPE_CTF_BYTES(field, help) "u8 _" #field "[_size]; "
#define KTAPE_CTF_LIST(TYPE, number, field, help) \
	"u32 _" #number "; " KTAPE_CTF_##TYPE " _" #field "[_" #number "]; "
#define KTAPE_CTF_END(NAME) "struct { } align(64) _end; }; };\n"

#endif /* _KTAPE_CTF_H */

/*
 * To get all events as one literal, include <ktape/events.h> inside an
 * initializer after:
 *
 *	#define KTAPE_EVENT KTAPE_CTF_EVENT
 *	... and so on for BITS VARARGS ARGS ARG REST BLOB ARRAY TEXT BYTES LIST END
 */
