// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the binary contract: numbers that may never change, and rules for the
 * whole event table. A new event is added here as well, a new structure to
 * module/dev/abi_layout.h.
 */
#include <stddef.h>

#include <ktape/abi.h>
#include <ktape/cost.h>
#include <ktape/filter.h>
#include <ktape/mark.h>
#include <ktape/persist.h>
#include <ktape/trigger.h>
#include <ktape/session.h>

#include "tap.h"

struct size {
	const char *name;
	size_t is, must;
};

#define KT_SIZE(type, bytes) { #type, sizeof(struct type), bytes },
#define KT_OFFSET(type, member, bytes) \
	{ #type "." #member, offsetof(struct type, member), bytes },
#define KT_IOCTL(name, value) { #name, name, value },

/* Sizes, offsets of members, and numbers of ioctls.  The module's build checks the same table. */
static const struct size sizes[] = {
#include <dev/abi_layout.h>
};

static void test_abi_sizes(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		check(sizes[i].is == sizes[i].must, "%s is %#zx, was %#zx",
		      sizes[i].name, sizes[i].is, sizes[i].must);
	tap_note("%zu numbers", i);
}

struct number {
	const char *name;
	unsigned long long is, must;
};

#define IS(constant, value)                \
	{                                  \
#constant, constant, value \
	}

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
	IS(KTAPE_MODE_SNAPSHOT, 2),
	IS(KTAPE_MODE_PERSISTENT, 3),
	IS(KTAPE_BLOCK_UNCHECKED, 8),
	IS(KTAPE_FEATURE_TRIGGER, 0x800),
	IS(KTAPE_TRIGGERS, 16),
	IS(KTAPE_TRIGGER_EVENT, 0),
	IS(KTAPE_TRIGGER_LONGER, 1),
	IS(KTAPE_TRIGGER_QUIET, 2),
	IS(KTAPE_TRIGGER_MARK, 1),
	IS(KTAPE_TRIGGER_START, 2),
	IS(KTAPE_TRIGGER_STOP, 4),
	IS(KTAPE_TRIGGER_SNAPSHOT, 8),
	IS(KTAPE_TRIGGER_PROFILE, 16),
	IS(KTAPE_TRIGGER_NOTIFY, 32),
	IS(KTAPE_COMPARE_EQ, 0),
	IS(KTAPE_COMPARE_ANY, 6),
	IS(KTAPE_COMPARE_SIGNED, 0x100),
	IS(KTAPE_FEATURE_PERSIST, 0x1000),
	IS(KTAPE_FEATURE_GROWS, 0x2000),
	IS(KTAPE_PERSIST_MAGIC, 0x4d454d455041544b),
	IS(KTAPE_PERSIST_VERSION, 1),
	IS(KTAPE_PERSIST_RECORDING, 1),
	IS(KTAPE_PERSIST_STOPPED, 2),
	IS(KTAPE_PERSIST_PANIC, 3),
	IS(KTAPE_PERSIST_REBOOT, 4),
	IS(KTAPE_LOST_FULL, 0),
	IS(KTAPE_LOST_NESTED, 1),
	IS(KTAPE_LOST_TOO_BIG, 2),
	IS(KTAPE_LOST_SHED, 3),
	IS(KTAPE_LOST_RATE, 4),
	IS(KTAPE_LOST_REASONS, 5),
	IS(KTAPE_MISSED_BUSY, 0),
	IS(KTAPE_MISSED_RETURNS, 1),
	IS(KTAPE_MISSED_REFUSED, 2),
	IS(KTAPE_MISSED_DETACHED, 3),
	IS(KTAPE_MISSED_REASONS, 4),
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
	IS(KTAPE_EVENT_FREE_SLOT, 6),
	IS(KTAPE_EVENT_GONE, 7),
	IS(KTAPE_EVENT_LAYOUT, 8),
	IS(KTAPE_EVENT_RIGHTS, 9),
	IS(KTAPE_RING_FLAG_FROZEN, 2),
	IS(KTAPE_CREATE_LINGER, 1),
	IS(KTAPE_CREATE_LOG, 2),
	IS(KTAPE_OPEN_READONLY, 1),
	IS(KTAPE_SESSION_GONE, 8),
	IS(KTAPE_READER_EVICTED, 4),
	IS(KTAPE_FILTER_CPU, 0),
	IS(KTAPE_FILTER_STACK, 11),
	IS(KTAPE_FILTER_KINDS, 12),
	IS(KTAPE_GATE_WORK, 5),
	IS(KTAPE_OBJ_SYSCALL, 14),
	IS(KTAPE_OBJ_TASK_CGROUP, 15),
	IS(KTAPE_OBJ_NO_ROOM, 16),
	IS(KTAPE_NO_ROOM_REASONS, 8),
	IS(KTAPE_NO_ROOM_LIMIT, 1),
	IS(KTAPE_NO_ROOM_MEMORY, 2),
	IS(KTAPE_NO_ROOM_LATE, 3),
	IS(KTAPE_NO_ROOM_REFUSED, 4),
	IS(KTAPE_NO_ROOM_REGION, 5),
	IS(KTAPE_OBJ_USER, 64),
	IS(KTAPE_USER_UDP_SOCKET, 14),
	IS(KTAPE_HW_SEVERITY3, 7),
	IS(KTAPE_EXC_CODE(0xffff00, 0x1ff), 0xffff00ff),
	IS(KTAPE_IPI_TIMER, 6),
	IS(KTAPE_FORMAT_SIGNAL, 11),
};

static void test_abi_constants(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		check(numbers[i].is == numbers[i].must, "%s is %#llx, was %#llx",
		      numbers[i].name, numbers[i].is, numbers[i].must);
	tap_note("%zu numbers", i);
}

/*
 * Every opcode and class that was ever assigned. Lines are added, never
 * changed.
 */
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
	{ 8, "filter" },
	{ 9, "loss" },
	{ 10, "tracer" },
	{ 11, "trigger" },
	{ 12, "cpu_without" },
	{ 13, "cpu_with" },
	{ 14, "evict" },
	{ 15, "freeze" },
	{ 16, "exception" },
	{ 17, "mark" },
	{ 18, "mark_begin" },
	{ 19, "mark_end" },
	{ 20, "mark_value" },
	{ 21, "isr_enter" },
	{ 22, "isr_exit" },
	{ 23, "user_event" },
	{ 24, "text" },
	{ 25, "trace_event" },
	{ 32, "sched_switch" },
	{ 33, "sched_waking" },
	{ 34, "sched_wakeup" },
	{ 35, "sched_wakeup_new" },
	{ 36, "sched_migrate_task" },
	{ 37, "sched_pi_setprio" },
	{ 38, "sched_process_wait" },
	{ 39, "sched_stat_runtime" },
	{ 40, "process_fork" },
	{ 41, "process_exec" },
	{ 42, "process_exit" },
	{ 43, "process_rename" },
	{ 44, "process_free" },
	{ 45, "sched_blocked" },
	{ 48, "irq_handler_entry" },
	{ 49, "irq_handler_exit" },
	{ 50, "irq_span" },
	{ 52, "softirq_raise" },
	{ 53, "softirq_entry" },
	{ 54, "softirq_exit" },
	{ 55, "softirq_span" },
	{ 56, "tasklet_entry" },
	{ 57, "tasklet_exit" },
	{ 60, "sys_enter" },
	{ 61, "sys_exit" },
	{ 62, "sys_enter_wide" },
	{ 63, "sys_exit_wide" },
	{ 64, "sys_path" },
	{ 65, "sys_span" },
	{ 68, "local_timer_exit" },
	{ 70, "ipi_raise" },
	{ 71, "ipi_entry" },
	{ 72, "ipi_exit" },
	{ 73, "ipi_send_cpu" },
	{ 74, "ipi_send_cpumask" },
	{ 75, "local_timer_entry" },
	{ 76, "timer_init" },
	{ 77, "timer_start" },
	{ 78, "timer_expire_entry" },
	{ 79, "timer_expire_exit" },
	{ 80, "timer_cancel" },
	{ 81, "itimer_state" },
	{ 82, "itimer_expire" },
	{ 83, "tick_stop" },
	{ 84, "timer_base_idle" },
	{ 85, "timer_span" },
	{ 88, "hrtimer_init" },
	{ 89, "hrtimer_start" },
	{ 90, "hrtimer_expire_entry" },
	{ 91, "hrtimer_expire_exit" },
	{ 92, "hrtimer_cancel" },
	{ 93, "hrtimer_span" },
	{ 96, "workqueue_queue_work" },
	{ 97, "workqueue_activate_work" },
	{ 98, "workqueue_execute_start" },
	{ 99, "workqueue_execute_end" },
	{ 100, "work_span" },
	{ 104, "signal_generate" },
	{ 105, "signal_deliver" },
	{ 108, "page_fault_user" },
	{ 109, "page_fault_kernel" },
	{ 110, "mm_page_alloc" },
	{ 111, "mm_page_free" },
	{ 112, "kmalloc" },
	{ 113, "kfree" },
	{ 114, "kmem_cache_alloc" },
	{ 115, "kmem_cache_free" },
	{ 120, "block_rq_insert" },
	{ 121, "block_rq_issue" },
	{ 122, "block_rq_complete" },
	{ 123, "block_rq_requeue" },
	{ 124, "block_bio_queue" },
	{ 125, "block_bio_complete" },
	{ 126, "block_rq_merge" },
	{ 132, "net_dev_queue" },
	{ 133, "net_dev_start_xmit" },
	{ 134, "net_dev_xmit" },
	{ 135, "netif_receive_skb" },
	{ 136, "netif_rx" },
	{ 137, "napi_poll" },
	{ 138, "kfree_skb" },
	{ 139, "consume_skb" },
	{ 144, "cpu_idle" },
	{ 145, "cpu_idle_miss" },
	{ 146, "cpu_frequency" },
	{ 147, "suspend_resume" },
	{ 148, "rpm_suspend" },
	{ 149, "rpm_resume" },
	{ 150, "rpm_idle" },
	{ 151, "rpm_return_int" },
	{ 152, "wakeup_source_activate" },
	{ 153, "wakeup_source_deactivate" },
	{ 156, "contention_begin" },
	{ 157, "contention_end" },
	{ 160, "console" },
	{ 164, "module_load" },
	{ 165, "module_free" },
	{ 166, "module_get" },
	{ 167, "module_put" },
	{ 168, "cpuhp_enter" },
	{ 169, "cpuhp_exit" },
	{ 172, "kernel_stack" },
	{ 239, "missed" },
	{ 240, "probe_0" },
	{ 241, "probe_1" },
	{ 242, "probe_2" },
	{ 243, "probe_3" },
	{ 244, "probe_4" },
	{ 245, "probe_5" },
	{ 246, "probe_6" },
	{ 247, "probe_7" },
	{ 248, "probe_8" },
	{ 249, "probe_9" },
	{ 250, "probe_10" },
	{ 251, "probe_11" },
	{ 252, "probe_12" },
	{ 253, "probe_13" },
	{ 254, "probe_14" },
};

static const struct frozen classes[] = {
	{ 0, "control" },  { 1, "exception" }, { 2, "user" },
	{ 3, "sched" },	   { 4, "process" },   { 5, "irq" },
	{ 6, "softirq" },  { 7, "ipi" },       { 8, "syscall" },
	{ 9, "timer" },	   { 10, "hrtimer" },  { 11, "workqueue" },
	{ 12, "signal" },  { 13, "memory" },   { 14, "block" },
	{ 15, "net" },	   { 16, "power" },    { 17, "lock" },
	{ 18, "console" }, { 19, "module" },   { 20, "kprobe" },
	{ 21, "stack" },
};

/* ---- the event table as a list of items ----------------------------------- */

/*
 * The order counts: items from ARRAY to LIST are in a blob only, and of these, TEXT to LIST have no
 * fixed length.
 */
enum what {
	EVENT,
	BITS,
	VARARGS,
	ARGS,
	ARG,
	REST,
	BLOB,
	ARRAY,
	TEXT,
	BYTES,
	LIST,
	END
};

struct item {
	enum what what;
	const char *name; /* name of the event or field */
	unsigned int number; /* EVENT: opcode; BITS: bits; VARARGS: spare bits; else words, or 0 */
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
#define KTAPE_VARARGS(spare)		     { VARARGS, "", spare, 0, "" },
#define KTAPE_ARGS()			     { ARGS, "", 0, 0, "" },
#define KTAPE_ARG(TYPE, field, help)	     { ARG, #field, WORDS_##TYPE, 0, help },
#define KTAPE_REST(TYPE, field, help)	     { REST, #field, WORDS_##TYPE, 0, help },
#define KTAPE_BLOB()			     { BLOB, "", 0, 0, "" },
#define KTAPE_ARRAY(TYPE, field, count, help) \
	{ ARRAY, #field, WORDS_##TYPE * count, 0, help },
#define KTAPE_TEXT(field, help)	 { TEXT, #field, 0, 0, help },
#define KTAPE_BYTES(field, help) { BYTES, #field, 0, 0, help },
#define KTAPE_LIST(TYPE, number, field, help) \
	{ ARG, #number, 1, 0, help }, { LIST, #field, WORDS_##TYPE, 0, help },
#define KTAPE_END(NAME) { END, "", 0, 0, "" },
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

static const struct frozen *frozen_as(unsigned int opcode)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		if (opcodes[i].number == opcode)
			return &opcodes[i];
	return NULL;
}

static void test_opcodes(void)
{
	const struct item *item;
	const struct frozen *f;
	size_t n = 0;

	for (item = items; item < items + ARRAY_SIZE(items); item++) {
		if (item->what != EVENT)
			continue;
		f = frozen_as(item->number);
		check(f, "%s is new: freeze it here", item->name);
		check(!strcmp(item->name, f->name), "%u is %s, was %s",
		      item->number, item->name, f->name);
		n++;
	}
	check_equal(n, ARRAY_SIZE(opcodes));
	check_equal(KTAPE_EV_TIME_EXTEND, 255);
	tap_note("%zu events", n);
}

static void test_classes(void)
{
	size_t i;

	check_equal(ARRAY_SIZE(table_classes), ARRAY_SIZE(classes));
	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		const struct class *c = &table_classes[i];

		check(c->number == classes[i].number &&
			      !strcmp(c->name, classes[i].name),
		      "%u is %s, was %u %s", c->number, c->name,
		      classes[i].number, classes[i].name);
		check(c->number < KTAPE_CLASSES, "%s has no room", c->name);
		check(c->priority <= 3, "%s: priority", c->name);
		check((c->ring == KTAPE_RING_CONTROL) == (c->priority == 3),
		      "%s: priority 3 is that of the control ring's classes",
		      c->name);
	}
	check_equal(KTAPE_CLASSES, 32);
	tap_note("%zu classes", i);
}

/* Opcodes are in ranges by class: the range must match the class. */
static void test_ranges(void)
{
	const struct item *item;
	bool seen[KTAPE_OPCODES] = { false };

	for (item = items; item < items + ARRAY_SIZE(items); item++) {
		unsigned int op = item->number, class = item->class;

		if (item->what != EVENT)
			continue;
		check(op && op < 255 && !seen[op], "%s: %u", item->name, op);
		seen[op] = true;
		/* Opcodes 1 to 15 are used up. */
		check((op < KTAPE_OP_EXCEPTION || op == KTAPE_EV_MISSED) ==
			      (class == KTAPE_CLASS_CONTROL),
		      "%s", item->name);
		check((op == KTAPE_OP_EXCEPTION) == (class == KTAPE_CLASS_EXCEPTION),
		      "%s", item->name);
		check((op >= KTAPE_OP_USER && op < KTAPE_OP_KERNEL) ==
			      (class == KTAPE_CLASS_USER),
		      "%s", item->name);
		check((op >= KTAPE_OP_PROBE) == (class == KTAPE_CLASS_KPROBE),
		      "%s", item->name);
	}
}

/*
 * Check one event: its bits fit dat20, and with varargs fill it; its arguments are 7 words at most,
 * or the rest; what is in the blob comes behind its begin, and what has no fixed length is last.
 * Return: the item after its END.
 */
static const struct item *check_event_layout(const struct item *item)
{
	const char *event = item->name;
	unsigned int bits = 0, words = 0, rest = 0;
	bool varargs = false, blob = false, last = false;

	for (item++; item->what != END; item++) {
		bits += item->what == BITS || item->what == VARARGS ?
				item->number :
				0;
		varargs |= item->what == VARARGS;
		words += item->what == ARG && !blob ? item->number : 0;
		rest += item->what == REST;
		blob |= item->what == BLOB;
		if (last)
			tap_fail("%s: %s after the last", event, item->name);
		last |= item->what >= TEXT && item->what <= LIST;
		if (item->what >= ARRAY && item->what <= LIST && !blob)
			tap_fail("%s: %s outside a blob", event, item->name);
	}
	if (bits > 20 || (varargs && bits != 20))
		tap_fail("%s: %u bits", event, bits);
	if (words > KTAPE_NARGS_MAX || rest != varargs || (rest && words))
		tap_fail("%s: %u argument words", event, words);
	return item + 1;
}

static void test_abi_fields(void)
{
	const struct item *item = items;

	while (item < items + ARRAY_SIZE(items))
		item = check_event_layout(item);
}

static bool good_name(const char *name)
{
	return name[0] >= 'a' && name[0] <= 'z' &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* Names of events are unique, names of fields are unique in their event. */
static void test_abi_event_names(void)
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
				      strcmp(a->name, b->name),
			      "%s twice", a->name);
		}
	}
}

static const struct tap_test tests[] = {
	{ "sizes and offsets of structures", test_abi_sizes },
	{ "constants and ioctls", test_abi_constants },
	{ "opcodes are unchanged", test_opcodes },
	{ "classes are unchanged", test_classes },
	{ "opcodes are in the ranges of their classes", test_ranges },
	{ "fields fit into records", test_abi_fields },
	{ "names are unique and well formed", test_abi_event_names },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
