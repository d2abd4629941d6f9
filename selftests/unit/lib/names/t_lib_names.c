// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test names: objects of the registry over time, and every field type as a line
 * of text.
 */

#include "lib_lines.h"
#include "tap.h"

#define S 1000000000ULL /* the clock has nanoseconds */

static struct lines l;

static const char *name_at_time(unsigned int type, uint32_t id, uint32_t param1,
				uint64_t ts)
{
	const struct ktape_object_info *o =
		ktape_registry_object(l.feed.registry, type, id, param1, ts);

	return o ? o->name : "-";
}

#define check_name(want, ...)                                             \
	do {                                                              \
		const char *__name = name_at_time(__VA_ARGS__);           \
                                                                          \
		check(!strcmp(__name, want), "%s, not %s", __name, want); \
	} while (0)

/*
 * Three lives of thread 7, whose records are added in every order: time of the record, type, id,
 * two parameters, birth, death (0: alive), name.
 */
static const struct object lives[] = {
	{ 10 * S, KTAPE_OBJ_THREAD, 7, 7, 0, 10 * S, 0, "first" },
	{ 20 * S, KTAPE_OBJ_THREAD, 7, 7, 0, 10 * S, 20 * S, "first" },
	{ 50 * S, KTAPE_OBJ_THREAD, 7, 7, 0, 50 * S, 0, "second" },
	{ 55 * S, KTAPE_OBJ_THREAD, 7, 7, 0, 50 * S, 0, "renamed" },
	{ 60 * S, KTAPE_OBJ_THREAD, 7, 7, 0, 50 * S, 60 * S, "renamed" },
	{ 90 * S, KTAPE_OBJ_THREAD, 7, 9, 0, 90 * S, 0, "third" },
};

/* A name holds from 1/20 s before the recorded birth to 10 s after the recorded death. */
static void check_lives(void)
{
	check_name("-", KTAPE_OBJ_THREAD, 7, 0, 9 * S);
	check_name("first", KTAPE_OBJ_THREAD, 7, 0, 10 * S - S / 40);
	check_name("first", KTAPE_OBJ_THREAD, 7, 0, 15 * S);
	check_name("first", KTAPE_OBJ_THREAD, 7, 0, 21 * S);
	check_name("-", KTAPE_OBJ_THREAD, 7, 0, 40 * S);
	check_name("second", KTAPE_OBJ_THREAD, 7, 0, 51 * S);
	check_name("renamed", KTAPE_OBJ_THREAD, 7, 0, 57 * S);
	check_name("-", KTAPE_OBJ_THREAD, 7, 0, 80 * S);
	check_name("third", KTAPE_OBJ_THREAD, 7, 0, 1000 * S);
	check_name("-", KTAPE_OBJ_THREAD, 8, 0, 15 * S);
}

/* Ten counts of names without room each second, for minutes: they displace no name. */
static void test_nameless_counts(void)
{
	const struct ktape_object_info *last;
	const uint64_t most = 5000;

	lines_start(&l);
	lines_object(&l, &lives[0]);
	for (uint64_t i = 1; i <= most; i++) {
		const struct object count = { i * S / 10,
					      KTAPE_OBJ_NO_ROOM,
					      KTAPE_NO_ROOM_REFUSED,
					      (uint32_t)i,
					      0,
					      S,
					      0,
					      "refused" };

		lines_object(&l, &count);
	}
	check_equal(ktape_registry_left_out(l.feed.registry), 0);
	last = ktape_registry_object(l.feed.registry, KTAPE_OBJ_NO_ROOM,
				     KTAPE_NO_ROOM_REFUSED, 0, UINT64_MAX);
	check_equal(last->param1, most);
	check_name("first", KTAPE_OBJ_THREAD, 7, 0, 10 * S);
	lines_end(&l);
}

static void test_reused_tid(void)
{
	unsigned int order[ARRAY_SIZE(lives)], n = 0, i, j;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		order[i] = i;
	/* Heap's algorithm, without recursion; i is 0 for the first order only. */
	unsigned int count[ARRAY_SIZE(order)] = { 0 };

	for (i = 0; i < ARRAY_SIZE(order);) {
		if (i == 0 || count[i] < i) {
			unsigned int a = i % 2 ? count[i] : 0, t;

			if (i) {
				t = order[a];
				order[a] = order[i];
				order[i] = t;
				count[i]++;
			}
			lines_start(&l);
			for (j = 0; j < ARRAY_SIZE(order); j++)
				lines_object(&l, &lives[order[j]]);
			check_lives();
			lines_end(&l);
			if (tap_why[0])
				return;
			n++;
			i = 1;
		} else {
			count[i++] = 0;
		}
	}
	check_equal(n, 720);
	tap_note("%u orders", n);
}

/*
 * param1 of an interrupt routine is its CPU + 1, or 0 for all CPUs; of a cgroup it is the upper
 * half of its id.
 */
static void test_types(void)
{
	static const struct object objects[] = {
		{ 5 * S, KTAPE_OBJ_MARKER, 1, 0, 0, 5 * S, 0, "marker" },
		{ 5 * S, KTAPE_OBJ_VALUE, 1, 0, 0, 5 * S, 0, "value" },
		{ 5 * S, KTAPE_OBJ_ISR, 1, 1, 0, 5 * S, 0, "isr of cpu 0" },
		{ 5 * S, KTAPE_OBJ_ISR, 1, 0, 0, 5 * S, 0, "isr of all" },
		{ 5 * S, KTAPE_OBJ_NET_DEVICE, 1, 0, 0, 5 * S, 9 * S, "eth0" },
		{ 9 * S, KTAPE_OBJ_NET_DEVICE, 1, 0, 0, 9 * S, 0, "eth1" },
		{ 5 * S, KTAPE_OBJ_CGROUP, 1, 2, 0, 5 * S, 0, "high" },
		{ 5 * S, KTAPE_OBJ_CGROUP, 1, 0, 0, 5 * S, 0, "low" },
		{ 5 * S, KTAPE_OBJ_USER + KTAPE_USER_QUEUE, 1, 8, 4, 5 * S, 0,
		  "queue" },
		{ 5 * S, 255, 1, 0, 0, 5 * S, 0, "last" },
		{ 5 * S, KTAPE_OBJ_FREE, 1, 0, 0, 5 * S, 0, "nothing" },
	};
	const struct ktape_object_info *o;
	unsigned int i;

	lines_start(&l);
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		lines_object(&l, &objects[i]);
	/* Objects named after the event, all but threads. */
	check_name("marker", KTAPE_OBJ_MARKER, 1, 0, 1);
	check_name("value", KTAPE_OBJ_VALUE, 1, 0, 1);
	check_name("-", KTAPE_OBJ_VALUE, 2, 0, 1);
	check_name("-", KTAPE_OBJ_THREAD, 1, 0, 6 * S);
	check_name("isr of cpu 0", KTAPE_OBJ_ISR, 1, 1, 6 * S);
	check_name("isr of all", KTAPE_OBJ_ISR, 1, 0, 6 * S);
	check_name("-", KTAPE_OBJ_ISR, 1, 2, 6 * S);
	check_name("eth0", KTAPE_OBJ_NET_DEVICE, 1, 77, 6 * S);
	check_name("eth1", KTAPE_OBJ_NET_DEVICE, 1, 0, 10 * S);
	check_name("high", KTAPE_OBJ_CGROUP, 1, 2, 6 * S);
	check_name("low", KTAPE_OBJ_CGROUP, 1, 0, 6 * S);
	check_name("last", 255, 1, 0, 6 * S);
	check_name("-", KTAPE_OBJ_FREE, 1, 0, 6 * S);
	o = ktape_registry_object(l.feed.registry,
				  KTAPE_OBJ_USER + KTAPE_USER_QUEUE, 1, 0, 6 * S);
	check(o && o->param1 == 8 && o->param2 == 4, "parameters");
	lines_end(&l);
}

static const struct object named[] = {
	{ 1, KTAPE_OBJ_THREAD, 1234, 1200, 120, 0, 0, "bash" },
	{ 1, KTAPE_OBJ_THREAD, 1235, 1200, 120, 0, 0, "a\"b\\\x01" },
	{ 1, KTAPE_OBJ_IRQ, 24, 0, 0, 0, 0, "ahci" },
	{ 1, KTAPE_OBJ_FUNCTION, 0xf00d, 0x1a, 0x200, 0, 0, "work_fn" },
	{ 1, KTAPE_OBJ_FUNCTION, 0xf11d, 0, 0x200, 0, 0, "entry_fn" },
	{ 1, KTAPE_OBJ_MARKER, 3, 0, 0, 0, 0, "loop" },
	{ 1, KTAPE_OBJ_VALUE, 4, 0, 0, 0, 0, "load" },
	{ 1, KTAPE_OBJ_ISR, 5, LINES_CPU + 1, 0, 0, 0, "mine" },
	{ 1, KTAPE_OBJ_ISR, 6, 0, 0, 0, 0, "everybody's" },
	{ 1, KTAPE_OBJ_BLOCK_DEVICE, 8 << 20 | 16, 0, 0, 0, 0, "sdb" },
	{ 1, KTAPE_OBJ_NET_DEVICE, 2, 0, 0, 0, 0, "eth0" },
	{ 1, KTAPE_OBJ_PROBE, 242, 0, 0, 0, 0, "vfs_read" },
};

#define U(v) (uint32_t)(v)

static const struct line plain[] = {
	{ { .opcode = KTAPE_EV_SCHED_SWITCH,
	    .dat20 = 0x16278,
	    .nargs = 2,
	    .args = { 1234, 0 } },
	  "prev_prio=120 next_prio=98 prev_state=S prev_tid=1234 (bash) next_tid=0 (swapper)",
	  "\"prev_prio\":120,\"next_prio\":98,\"prev_state\":\"S\",\"prev_tid\":1234,\"prev_tid_name\":\"bash\",\"next_tid\":0,\"next_tid_name\":\"swapper\"" },
	{ { .opcode = KTAPE_EV_SCHED_WAKING, .dat20 = 0x378, .nargs = 1, .args = { 1235 } },
	  "prio=120 target_cpu=3 tid=1235 (a\"b\\\\\\x01)",
	  "\"prio\":120,\"target_cpu\":3,\"tid\":1235,\"tid_name\":\"a\\\"b\\\\\\u0001\"" },
	{ { .opcode = KTAPE_EV_SCHED_PROCESS_WAIT, .nargs = 1, .args = { 4321 } },
	  "tid=4321 (?)",
	  "\"tid\":4321" },
	{ { .opcode = KTAPE_EV_IRQ_HANDLER_ENTRY, .dat20 = 24 },
	  "irq=24 (ahci)",
	  "\"irq\":24,\"irq_name\":\"ahci\"" },
	{ { .opcode = KTAPE_EV_IRQ_HANDLER_EXIT, .dat20 = 25 | 1 << 18 },
	  "irq=25 ret=1",
	  "\"irq\":25,\"ret\":1" },
	{ { .opcode = KTAPE_EV_SOFTIRQ_RAISE, .dat20 = 9 }, "vec=RCU", "\"vec\":\"RCU\"" },
	{ { .opcode = KTAPE_EV_SIGNAL_GENERATE,
	    .dat20 = 2 | 1 << 7,
	    .nargs = 3,
	    .args = { 1234, U(-6), 0 } },
	  "sig=SIGINT group=1 result=0 tid=1234 (bash) code=-6 errno=0",
	  "\"sig\":\"SIGINT\",\"group\":true,\"result\":0,\"tid\":1234,\"tid_name\":\"bash\",\"code\":-6,\"errno\":0" },
	{ { .opcode = KTAPE_EV_SIGNAL_DELIVER,
	    .dat20 = 36,
	    .nargs = 3,
	    .args = { 0, 0x14000000, 0xabcd } },
	  "sig=SIGRTMIN+2 code=0 flags=0x14000000 handler=0xabcd",
	  "\"sig\":\"SIGRTMIN+2\",\"code\":0,\"flags\":\"0x14000000\",\"handler\":\"0xabcd\"" },
	{ { .opcode = KTAPE_EV_WORKQUEUE_EXECUTE_START,
	    .nargs = 2,
	    .args = { 0x77, 0xf00d } },
	  "work=0x77 function=work_fn+0x1a",
	  "\"work\":\"0x77\",\"function\":\"work_fn+0x1a\"" },
	{ { .opcode = KTAPE_EV_WORKQUEUE_EXECUTE_START,
	    .nargs = 2,
	    .args = { 0x77, 0xf11d } },
	  "work=0x77 function=entry_fn",
	  "\"work\":\"0x77\",\"function\":\"entry_fn\"" },
	{ { .opcode = KTAPE_EV_WORKQUEUE_EXECUTE_START,
	    .nargs = 2,
	    .args = { 0x77, 0xdead } },
	  "work=0x77 function=0xdead",
	  "\"work\":\"0x77\",\"function\":\"0xdead\"" },
	{ { .opcode = KTAPE_EV_MARK,
	    .dat20 = 1,
	    .nargs = 1,
	    .args = { 3 },
	    .blob = "hi",
	    .size = 2 },
	  "task=1 id=3 (loop) message=hi",
	  "\"task\":true,\"id\":3,\"id_name\":\"loop\",\"message\":\"hi\"" },
	{ { .opcode = KTAPE_EV_MARK_VALUE,
	    .nargs = 3,
	    .args = { 4, U(-5), U(-1) },
	    .blob = "",
	    .size = 0 },
	  "task=0 id=4 (load) value=-5 message=",
	  "\"task\":false,\"id\":4,\"id_name\":\"load\",\"value\":\"-5\",\"message\":\"\"" },
	{ { .opcode = KTAPE_EV_ISR_ENTER, .nargs = 1, .args = { 5 } },
	  "id=5 (mine)",
	  "\"id\":5,\"id_name\":\"mine\"" },
	{ { .opcode = KTAPE_EV_ISR_EXIT, .nargs = 1, .args = { 6 } },
	  "id=6 (everybody's)",
	  "\"id\":6,\"id_name\":\"everybody's\"" },
	{ { .opcode = KTAPE_EV_BLOCK_RQ_ISSUE,
	    .dat20 = 1,
	    .nargs = 4,
	    .args = { 8 << 20 | 16, 2048, 0, 4096 } },
	  "op=1 dev=8:16 (sdb) sector=2048 bytes=4096",
	  "\"op\":1,\"dev\":\"8:16\",\"dev_name\":\"sdb\",\"sector\":\"2048\",\"bytes\":4096" },
	{ { .opcode = KTAPE_EV_NAPI_POLL, .nargs = 3, .args = { 2, 1, 64 } },
	  "dev=2 (eth0) work=1 budget=64",
	  "\"dev\":2,\"dev_name\":\"eth0\",\"work\":1,\"budget\":64" },
	{ { .opcode = KTAPE_EV_IPI_ENTRY, .dat20 = KTAPE_IPI_CALL },
	  "reason=call",
	  "\"reason\":\"call\"" },
	{ { .opcode = KTAPE_EV_FILTER, .dat20 = 5 | 1 << 5, .nargs = 2, .args = { 9, 1 } },
	  "kind=pid phase=on generation=9 entries=1",
	  "\"kind\":\"pid\",\"phase\":\"on\",\"generation\":9,\"entries\":1" },
	{ { .ts = 5000,
	    .opcode = KTAPE_EV_SOFTIRQ_SPAN,
	    .dat20 = 3,
	    .nargs = 2,
	    .args = { 2000, 0 } },
	  "vec=NET_RX start=0.000002000 duration_ns=3000",
	  "\"vec\":\"NET_RX\",\"start\":\"2000\",\"duration_ns\":3000" },
	{ { .opcode = KTAPE_EV_WORK_SPAN,
	    .nargs = 3,
	    .args = { 0xf00d, U(-1), 0 } }, /* it ends before it begins */
	  "function=work_fn+0x1a start=4.294967295",
	  "\"function\":\"work_fn+0x1a\",\"start\":\"4294967295\"" },
	{ { .opcode = KTAPE_EV_KERNEL_STACK,
	    .dat20 = KTAPE_EV_SCHED_SWITCH,
	    .blob = "\3\0\0\0\x0d\xf0\0\0\x1d\xf1\0\0\xad\xde\0\0",
	    .size = 16 },
	  "event=sched_switch cut=0 frames=[work_fn+0x1a entry_fn 0xdead]",
	  "\"event\":\"sched_switch\",\"cut\":false,\"frames\":[\"work_fn+0x1a\",\"entry_fn\",\"0xdead\"]" },
	{ { .opcode = KTAPE_EV_KERNEL_STACK,
	    .dat20 = KTAPE_EV_PROCESS_FORK | KTAPE_STACK_CUT,
	    .blob = "\1\0\0\0\x0d\xf0\0\0",
	    .size = 8 },
	  "event=process_fork cut=1 frames=[work_fn+0x1a]",
	  "\"event\":\"process_fork\",\"cut\":true,\"frames\":[\"work_fn+0x1a\"]" },
	{ { .opcode = 240,
	    .nargs = 1,
	    .args = { 0xf11d },
	    .blob = "\1\0\0\0\x2a\0\0\0\0\0\0\0",
	    .size = 12 },
	  "ret=0 tokens=0x0 ip=entry_fn values=[0x2a]",
	  "\"ret\":false,\"tokens\":\"0x0\",\"ip\":\"entry_fn\",\"values\":[\"0x2a\"]" },
	{ { .opcode = 242,
	    .dat20 = 5,
	    .nargs = 1,
	    .args = { 0xbeef },
	    .blob = "\0\0\0\0",
	    .size = 4 },
	  "ret=1 tokens=0x2 ip=0xbeef values=[] probe=vfs_read",
	  "\"ret\":true,\"tokens\":\"0x2\",\"ip\":\"0xbeef\",\"values\":[],\"probe\":\"vfs_read\"" },
};

static void test_field_type_lines(void)
{
	unsigned int i;

	lines_start(&l);
	for (i = 0; i < ARRAY_SIZE(named); i++)
		lines_object(&l, &named[i]);
	for (i = 0; i < ARRAY_SIZE(plain) && !tap_why[0]; i++)
		lines_check(&l, &plain[i]);
	lines_end(&l);
	tap_note("%u events", i);
}

/* The longest stack that a record holds, of symbols with the worst names. */
static void test_room(void)
{
	static const char worst[] = "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1"
				    "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1";
	const struct object o = {
		1, KTAPE_OBJ_FUNCTION, 0x01010101, U(-1), 0, 0, 0, worst
	};
	static uint32_t frames[240];
	struct one one = {
		.opcode = KTAPE_EV_KERNEL_STACK,
		.blob = frames,
		.size = sizeof(frames),
	};
	unsigned int i;

	for (i = 1; i < ARRAY_SIZE(frames); i++)
		frames[i] = 0x01010101;
	frames[0] = ARRAY_SIZE(frames) - 1;
	lines_start(&l);
	lines_object(&l, &o);
	for (i = 0; i < 2; i++) {
		l.json = i;
		lines_show(&l, &one);
	}
	/*
	 * The same names as typed arguments of a user event: functions, 9 bytes
	 * each.
	 */
	one.opcode = KTAPE_EV_USER_EVENT;
	for (i = 0; i + 9 <= sizeof(frames); i += 9) {
		memset((char *)frames + i, 0, 9);
		((unsigned char *)frames)[i] = 10;
		memset((char *)frames + i + 1, 1, 4);
	}
	for (i = 0; i < 2; i++) {
		l.json = i;
		lines_show(&l, &one);
	}
	lines_end(&l);
}

static const struct tap_test tests[] = {
	{ "threads: a reused tid, added in any order", test_reused_tid },
	{ "objects of all types", test_types },
	{ "counts of names without room", test_nameless_counts },
	{ "every field type in text and JSON", test_field_type_lines },
	{ "the longest lines fit", test_room },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
