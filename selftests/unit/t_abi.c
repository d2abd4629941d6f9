// SPDX-License-Identifier: GPL-2.0-only
/*
 * The binary contract: numbers that may never change, and rules that hold for
 * the whole event table.  A new event or structure is added here as well.
 */
#include <stddef.h>

#include <ktape/abi.h>

#include "tap.h"

struct size {
	const char *name;
	size_t is, must;
};

#define SIZE(type, bytes)	{ #type, sizeof(struct type), bytes }
#define OFFSET(type, member, bytes) \
	{ #type "." #member, offsetof(struct type, member), bytes }

static const struct size sizes[] = {
	SIZE(ktape_block, 192),
	OFFSET(ktape_block, magic, 0),
	OFFSET(ktape_block, uuid, 4),
	OFFSET(ktape_block, stream_id, 20),
	OFFSET(ktape_block, instance, 24),
	OFFSET(ktape_block, sync_clock, 32),
	OFFSET(ktape_block, sync_mono_ns, 40),
	OFFSET(ktape_block, emitted, 48),
	OFFSET(ktape_block, filtered, 56),
	OFFSET(ktape_block, lost, 64),
	OFFSET(ktape_block, generation, 104),
	OFFSET(ktape_block, tid, 108),
	OFFSET(ktape_block, prio, 112),
	OFFSET(ktape_block, context, 113),
	OFFSET(ktape_block, reserved0, 114),
	OFFSET(ktape_block, flags, 116),
	OFFSET(ktape_block, crc32c, 120),
	OFFSET(ktape_block, reserved1, 124),
	OFFSET(ktape_block, ts_begin, 128),
	OFFSET(ktape_block, ts_end, 136),
	OFFSET(ktape_block, content_bits, 144),
	OFFSET(ktape_block, packet_bits, 152),
	OFFSET(ktape_block, seq, 160),
	OFFSET(ktape_block, discarded, 168),
	OFFSET(ktape_block, cpu, 176),
	OFFSET(ktape_block, kind, 180),
	OFFSET(ktape_block, reserved2, 184),

	SIZE(ktape_metadata_packet, 37),
	OFFSET(ktape_metadata_packet, uuid, 4),
	OFFSET(ktape_metadata_packet, checksum, 20),
	OFFSET(ktape_metadata_packet, content_bits, 24),
	OFFSET(ktape_metadata_packet, packet_bits, 28),
	OFFSET(ktape_metadata_packet, compression, 32),
	OFFSET(ktape_metadata_packet, minor, 36),

	SIZE(ktape_ring_page, 1984),
	OFFSET(ktape_ring_page, commit, 0),
	OFFSET(ktape_ring_page, tail, 64),
	OFFSET(ktape_ring_page, floor, 128),
	OFFSET(ktape_ring_page, consumer, 136),
	OFFSET(ktape_ring_page, flags, 144),
	OFFSET(ktape_ring_page, emitted, 192),
	OFFSET(ktape_ring_page, filtered, 448),
	OFFSET(ktape_ring_page, lost, 704),

	SIZE(ktape_object_entry, 64),
	OFFSET(ktape_object_entry, type, 2),
	OFFSET(ktape_object_entry, id, 4),
	OFFSET(ktape_object_entry, param2, 12),
	OFFSET(ktape_object_entry, born, 16),
	OFFSET(ktape_object_entry, died, 24),
	OFFSET(ktape_object_entry, name, 32),

	SIZE(ktape_features, 64),
	OFFSET(ktape_features, features, 8),
	OFFSET(ktape_features, clock_hz, 16),
	OFFSET(ktape_features, page_size, 24),
	OFFSET(ktape_features, cpus, 32),
	OFFSET(ktape_features, table_hash, 40),
	OFFSET(ktape_features, uuid, 48),

	SIZE(ktape_layout_entry, 32),
	OFFSET(ktape_layout_entry, offset, 8),
	OFFSET(ktape_layout_entry, ctl_size, 16),
	OFFSET(ktape_layout_entry, data_size, 24),
	SIZE(ktape_layout, 32),
	OFFSET(ktape_layout, entries, 8),
	OFFSET(ktape_layout, generation, 28),

	SIZE(ktape_profile, 48),
	OFFSET(ktape_profile, mask, 16),
	SIZE(ktape_command, 8),
	SIZE(ktape_stats, 1840),
	OFFSET(ktape_stats, commit, 16),
	OFFSET(ktape_stats, emitted, 48),
	OFFSET(ktape_stats, lost, 560),
	SIZE(ktape_position, 16),
	OFFSET(ktape_position, position, 8),
	SIZE(ktape_consumer, 24),
	OFFSET(ktape_consumer, positions, 16),
	SIZE(ktape_event_info, 88),
	OFFSET(ktape_event_info, reason, 24),
	SIZE(ktape_metadata, 24),
	OFFSET(ktape_metadata, text, 16),
	SIZE(ktape_watermark, 16),
	SIZE(ktape_create, 40),
	OFFSET(ktape_create, control_size, 16),
	OFFSET(ktape_create, block_size, 24),
};

static void test_sizes(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		check(sizes[i].is == sizes[i].must, "%s is %zu, was %zu",
		      sizes[i].name, sizes[i].is, sizes[i].must);
	tap_tell("%zu numbers", i);
}

struct number {
	const char *name;
	unsigned long long is, must;
};

#define IS(constant, value)	{ #constant, constant, value }

static const struct number numbers[] = {
	IS(KTAPE_OPCODE_SHIFT, 32),
	IS(KTAPE_DAT20_SHIFT, 40),
	IS(KTAPE_P_SHIFT, 60),
	IS(KTAPE_NARGS_SHIFT, 61),
	IS(KTAPE_DAT20_MASK, 0xfffff),
	IS(KTAPE_NARGS_MAX, 7),
	IS(KTAPE_RECORD_ALIGN, 8),
	IS(KTAPE_RECORD_SIZE(0), 8),
	IS(KTAPE_RECORD_SIZE(1), 16),
	IS(KTAPE_RECORD_SIZE(2), 16),
	IS(KTAPE_RECORD_SIZE(7), 40),
	IS(KTAPE_OPCODES, 256),
	IS(KTAPE_MASK_WORDS, 4),
	IS(KTAPE_TIME_EXTEND, 255),
	IS(KTAPE_TIME_EXTEND_SIZE, 24),
	IS(KTAPE_OP_CONTROL, 1),
	IS(KTAPE_OP_EXCEPTION, 16),
	IS(KTAPE_OP_USER, 17),
	IS(KTAPE_OP_KERNEL, 32),
	IS(KTAPE_OP_PROBE, 240),
	IS(KTAPE_STATE_R, 0),
	IS(KTAPE_STATE_PREEMPTED, 9),
	IS(KTAPE_PHASE_ON, 1),
	IS(KTAPE_RING_EVENT, 0),
	IS(KTAPE_RING_CONTROL, 1),
	IS(KTAPE_RING_REGISTRY, 2),
	IS(KTAPE_RINGS_PER_CPU, 2),
	IS(KTAPE_MODE_OVERWRITE, 0),
	IS(KTAPE_MODE_DISCARD, 1),
	IS(KTAPE_LOST_FULL, 0),
	IS(KTAPE_LOST_NESTED, 1),
	IS(KTAPE_LOST_TOO_BIG, 2),
	IS(KTAPE_LOST_SHED, 3),
	IS(KTAPE_LOST_RATE, 4),
	IS(KTAPE_LOST_REASONS, 5),
	IS(KTAPE_CTX_TASK, 0),
	IS(KTAPE_CTX_CONTINUED, 6),
	IS(KTAPE_BLOCK_MAGIC, 0xc1fc1fc1),
	IS(KTAPE_METADATA_MAGIC, 0x75d11d57),
	IS(KTAPE_BLOCK_CRC, 1),
	IS(KTAPE_BLOCK_OPEN, 2),
	IS(KTAPE_BLOCK_GAP, 4),
	IS(KTAPE_BLOCK_HEADER, 192),
	IS(KTAPE_OBJ_FREE, 0),
	IS(KTAPE_OBJ_THREAD, 1),
	IS(KTAPE_NAME_SIZE, 32),
	IS(KTAPE_CLOCK_MONO, 0),
	IS(KTAPE_CLOCK_CYCLES, 1),
	IS(KTAPE_FEATURE_MMAP, 1),
	IS(KTAPE_FEATURE_CREATE, 2),
	IS(KTAPE_FEATURE_DISCARD, 4),
	IS(KTAPE_FEATURE_TRACEPOINTS, 8),
	IS(KTAPE_FEATURE_POS32, 16),
	IS(KTAPE_PROFILE_GET, 0),
	IS(KTAPE_PROFILE_SET, 1),
	IS(KTAPE_PROFILE_OR, 2),
	IS(KTAPE_PROFILE_ANDNOT, 3),
	IS(KTAPE_PROFILE_NO_CONTEXT, 1),
	IS(KTAPE_CONSUMER_REGISTER, 0),
	IS(KTAPE_CONSUMER_UNREGISTER, 1),
	IS(KTAPE_CONSUMER_POSITION, 2),
	IS(KTAPE_EVENT_UNKNOWN, 0),
	IS(KTAPE_EVENT_AVAILABLE, 1),
	IS(KTAPE_EVENT_NO_TRACEPOINT, 2),
	IS(KTAPE_EVENT_PROTOTYPE, 3),
	IS(KTAPE_EVENT_NO_CONFIG, 4),
	IS(KTAPE_EVENT_FAILED, 5),
	IS(KTAPE_IOC_FEATURES, 0xc004e900),
	IS(KTAPE_IOC_LAYOUT, 0xc004e901),
	IS(KTAPE_IOC_PROFILE, 0xc004e902),
	IS(KTAPE_IOC_START, 0x4004e903),
	IS(KTAPE_IOC_STOP, 0x4004e904),
	IS(KTAPE_IOC_CLEAR, 0x4004e905),
	IS(KTAPE_IOC_FLUSH, 0x4004e906),
	IS(KTAPE_IOC_STATS, 0xc004e907),
	IS(KTAPE_IOC_CONSUMER, 0x4004e908),
	IS(KTAPE_IOC_EVENT_INFO, 0xc004e909),
	IS(KTAPE_IOC_METADATA, 0xc004e90a),
	IS(KTAPE_IOC_WATERMARK, 0x4004e90b),
	IS(KTAPE_IOC_CREATE, 0x4004e90c),
};

static void test_numbers(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		check(numbers[i].is == numbers[i].must, "%s is %#llx, was %#llx",
		      numbers[i].name, numbers[i].is, numbers[i].must);
	tap_tell("%zu numbers", i);
}

/* Every opcode and class that ever was.  Lines are added, never changed. */
struct frozen {
	unsigned int number;
	const char *name;
};

static const struct frozen opcodes[] = {
	{ 1, "clock_sync" },
	{ 2, "profile" },
	{ 3, "cpu" },
	{ 4, "ledger" },
	{ 5, "registry" },
	{ 6, "context" },
	{ 7, "session" },
	{ 32, "sched_switch" },
	{ 33, "sched_waking" },
	{ 34, "sched_wakeup" },
	{ 35, "sched_wakeup_new" },
	{ 36, "sched_migrate_task" },
	{ 40, "process_fork" },
	{ 41, "process_exec" },
	{ 42, "process_exit" },
	{ 43, "process_rename" },
	{ 48, "irq_handler_entry" },
	{ 49, "irq_handler_exit" },
	{ 52, "softirq_raise" },
	{ 53, "softirq_entry" },
	{ 54, "softirq_exit" },
	{ 60, "sys_enter" },
	{ 61, "sys_exit" },
	{ 62, "sys_enter_wide" },
	{ 63, "sys_exit_wide" },
};

static const struct frozen classes[] = {
	{ 0, "control" },
	{ 1, "exception" },
	{ 2, "user" },
	{ 3, "sched" },
	{ 4, "process" },
	{ 5, "irq" },
	{ 6, "softirq" },
	{ 7, "ipi" },
	{ 8, "syscall" },
	{ 9, "timer" },
	{ 10, "hrtimer" },
	{ 11, "workqueue" },
	{ 12, "signal" },
	{ 13, "memory" },
	{ 14, "block" },
	{ 15, "net" },
	{ 16, "power" },
	{ 17, "lock" },
	{ 18, "console" },
	{ 19, "module" },
	{ 20, "kprobe" },
};

/* ---- the table, as a list of what it says -------------------------------- */

enum what { EVENT, BITS, VARARGS, ARGS, ARG, REST, BLOB, ARRAY, TEXT, END };

struct item {
	enum what what;
	const char *name;	/* of the event or field */
	unsigned int number;	/* opcode, bits, spare bits, words, count */
	unsigned int class;
	const char *help;
};

enum {
#define KTAPE_TYPE(NAME, words, help) WORDS_##NAME = words,
#include <ktape/events.h>
};

static const struct item items[] = {
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help) \
	{ EVENT, #name, opcode, KTAPE_CLASS_##CLASS, help },
#define KTAPE_BITS(TYPE, field, width, help) { BITS, #field, width, 0, help },
#define KTAPE_VARARGS(spare)		{ VARARGS, "", spare, 0, "" },
#define KTAPE_ARGS()			{ ARGS, "", 0, 0, "" },
#define KTAPE_ARG(TYPE, field, help) \
	{ ARG, #field, WORDS_##TYPE, 0, help },
#define KTAPE_REST(TYPE, field, help) \
	{ REST, #field, WORDS_##TYPE, 0, help },
#define KTAPE_BLOB()			{ BLOB, "", 0, 0, "" },
#define KTAPE_ARRAY(TYPE, field, count, help) \
	{ ARRAY, #field, WORDS_##TYPE * count, 0, help },
#define KTAPE_TEXT(field, help)		{ TEXT, #field, 0, 0, help },
#define KTAPE_END(NAME)			{ END, "", 0, 0, "" },
#include <ktape/events.h>
};

struct class {
	unsigned int number;
	const char *name;
	unsigned int ring, priority;
};

static const struct class table_classes[] = {
#define KTAPE_CLASS(number, NAME, name, ring, priority, help) \
	{ number, #name, KTAPE_RING_##ring, priority },
#include <ktape/events.h>
};

static void test_opcodes(void)
{
	const struct item *item;
	size_t n = 0;

	for (item = items; item < items + ARRAY_SIZE(items); item++) {
		if (item->what != EVENT)
			continue;
		check(n < ARRAY_SIZE(opcodes), "%s is new: freeze it here",
		      item->name);
		check(item->number == opcodes[n].number &&
		      !strcmp(item->name, opcodes[n].name),
		      "%u is %s, was %u %s", item->number, item->name,
		      opcodes[n].number, opcodes[n].name);
		n++;
	}
	check_equal(n, ARRAY_SIZE(opcodes));
	check_equal(KTAPE_EV_TIME_EXTEND, 255);
	tap_tell("%zu events", n);
}

static void test_classes(void)
{
	size_t i;

	check_equal(ARRAY_SIZE(table_classes), ARRAY_SIZE(classes));
	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		const struct class *c = &table_classes[i];

		check(c->number == classes[i].number &&
		      !strcmp(c->name, classes[i].name), "%u is %s, was %u %s",
		      c->number, c->name, classes[i].number, classes[i].name);
		check(c->number < KTAPE_CLASSES, "%s has no room", c->name);
		check(c->priority <= 3, "%s: priority", c->name);
		check((c->ring == KTAPE_RING_CONTROL) == (c->priority == 3),
		      "%s: only the control ring's classes are never shed",
		      c->name);
	}
	check_equal(KTAPE_CLASSES, 32);
	tap_tell("%zu classes", i);
}

/* The range that an opcode lies in must be that of its class. */
static void test_ranges(void)
{
	const struct item *item;
	unsigned int previous = 0;

	for (item = items; item < items + ARRAY_SIZE(items); item++) {
		unsigned int op = item->number, class = item->class;

		if (item->what != EVENT)
			continue;
		check(op > previous && op < 255, "%s: %u", item->name, op);
		previous = op;
		check((op < KTAPE_OP_EXCEPTION) ==
		      (class == KTAPE_CLASS_CONTROL), "%s", item->name);
		check((op == KTAPE_OP_EXCEPTION) ==
		      (class == KTAPE_CLASS_EXCEPTION), "%s", item->name);
		check((op >= KTAPE_OP_USER && op < KTAPE_OP_KERNEL) ==
		      (class == KTAPE_CLASS_USER), "%s", item->name);
		check((op >= KTAPE_OP_PROBE) == (class == KTAPE_CLASS_KPROBE),
		      "%s", item->name);
	}
}

/* Checks one event.  Return: the item after its END. */
static const struct item *check_event(const struct item *item)
{
	const char *event = item->name;
	unsigned int bits = 0, words = 0, rest = 0;
	bool varargs = false, blob = false, text = false;

	for (item++; item->what != END; item++) {
		bits += item->what == BITS || item->what == VARARGS ?
			item->number : 0;
		varargs |= item->what == VARARGS;
		words += item->what == ARG && !blob ? item->number : 0;
		rest += item->what == REST;
		blob |= item->what == BLOB;
		if (text)
			tap_fail("%s: %s after text", event, item->name);
		text |= item->what == TEXT;
		if ((item->what == ARRAY || item->what == TEXT) && !blob)
			tap_fail("%s: %s outside a blob", event, item->name);
	}
	if (bits > 20 || (varargs && bits != 20))
		tap_fail("%s: %u bits", event, bits);
	if (words > KTAPE_NARGS_MAX || rest != varargs || (rest && words))
		tap_fail("%s: %u argument words", event, words);
	return item + 1;
}

static void test_fields(void)
{
	const struct item *item = items;

	while (item < items + ARRAY_SIZE(items))
		item = check_event(item);
}

static bool good_name(const char *name)
{
	return name[0] >= 'a' && name[0] <= 'z' &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* Names: of events among all events, of fields within their event. */
static void test_names(void)
{
	const struct item *a, *b, *end = items + ARRAY_SIZE(items);

	for (a = items; a < end; a++) {
		if (!a->name[0])
			continue;
		check(good_name(a->name), "%s", a->name);
		check(a->help[0], "%s has no help", a->name);
		for (b = a + 1; b < end; b++) {
			if (a->what != EVENT && b->what == END)
				break;
			check((a->what == EVENT) != (b->what == EVENT) ||
			      strcmp(a->name, b->name), "%s twice", a->name);
		}
	}
}

static const struct tap_test tests[] = {
	{ "sizes and offsets of structures", test_sizes },
	{ "constants and ioctls", test_numbers },
	{ "opcodes are those that they were", test_opcodes },
	{ "classes are those that they were", test_classes },
	{ "opcodes lie in the ranges of their classes", test_ranges },
	{ "fields fit into records", test_fields },
	{ "names are unique and well formed", test_names },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
