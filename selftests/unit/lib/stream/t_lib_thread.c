// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test which thread each event belongs to, by the headers of packets, switches and
 * context records of both rings of a CPU.
 */
#include "lib_trace.h"

#define CPU	0
#define UNKNOWN (-1)

/* One packet of the CPU; each record takes one tick.  Opcode 0: an exception. */
struct packet {
	uint32_t kind;
	uint64_t ts;
	int32_t tid;
	uint8_t context;
	unsigned int nr;
	struct {
		unsigned int opcode;
		uint32_t args[2];
		unsigned int nargs;
		uint32_t dat20;
	} records[4];
};

static void save_thread_packet(const char *dir, const struct packet *p, uint64_t seq)
{
	unsigned char data[TRACE_PACKET];
	struct ktape_builder b;
	struct ktape_block head = {
		.kind = p->kind,
		.cpu = CPU,
		.seq = seq,
		.tid = p->tid,
		.context = p->context,
		.ts_begin = p->ts,
	};
	static const uint32_t exception[] = { 1, 2 };
	size_t len;

	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	ktape_build_begin(&b, data, sizeof(data), &head);
	for (unsigned int i = 0; i < p->nr; i++) {
		struct ktape_record rec = {
			.opcode = p->records[i].opcode,
			.ts = p->ts + i,
			.args = p->records[i].args,
			.nargs = p->records[i].nargs,
			.dat20 = p->records[i].dat20,
		};

		if (!rec.opcode) {
			rec.opcode = KTAPE_EV_EXCEPTION;
			rec.args = exception;
			rec.nargs = ARRAY_SIZE(exception);
		}
		if (ktape_build_add(&b, &rec))
			abort();
	}
	len = ktape_build_end(&b, p->ts + p->nr, 0);
	ktape_packet_seal(data);
	trace_append(dir, p->kind == KTAPE_RING_EVENT ? "cpu0" : "control0",
		     data, len);
}

/* The events of the packets must belong to these threads, in order of time. */
static void expect_threads(const struct packet *packets, size_t nr,
			   const int32_t *tids, size_t nr_tids)
{
	const char *dir = trace_folder();
	const struct ktape_event *e;
	struct ktape_trace *t;
	uint64_t seq[2] = { 0 };
	size_t at = 0;
	int ret;

	trace_metadata(dir);
	for (size_t i = 0; i < nr; i++)
		save_thread_packet(dir, &packets[i], ++seq[packets[i].kind]);
	if (ktape_trace_open(dir, NULL, &t, NULL))
		abort();
	while ((ret = ktape_trace_next(t, &e)) > 0) {
		if (at < nr_tids)
			check(e->tid == tids[at], "event %zu, %s: tid %d, not %d",
			      at, ktape_event_desc(e->opcode)->name, e->tid,
			      tids[at]);
		at++;
	}
	check_equal(ret, 0);
	check_equal(at, nr_tids);
	ktape_trace_close(t);
	trace_remove(dir);
}

/*
 * No packet of the event ring is left, which would say when the CPU switched. So the header of
 * a control packet names the thread of its first record and of no later one; a header whose
 * context is not KTAPE_CTX_TASK names none.
 */
static void test_control_alone(void)
{
	static const struct packet packets[] = {
		{ .kind = KTAPE_RING_CONTROL,
		  .ts = 1000,
		  .tid = 7,
		  .context = KTAPE_CTX_TASK,
		  .nr = 3 },
		{ .kind = KTAPE_RING_CONTROL,
		  .ts = 2000,
		  .tid = 8,
		  .context = KTAPE_CTX_TASK,
		  .nr = 2 },
		{ .kind = KTAPE_RING_CONTROL,
		  .ts = 3000,
		  .tid = 9,
		  .context = KTAPE_CTX_CONTINUED,
		  .nr = 1 },
		{ .kind = KTAPE_RING_CONTROL,
		  .ts = 4000,
		  .tid = 9,
		  .context = KTAPE_CTX_UNKNOWN,
		  .nr = 1 },
	};
	static const int32_t tids[] = { 7,	 UNKNOWN, UNKNOWN, 8,
					UNKNOWN, UNKNOWN, UNKNOWN };

	expect_threads(packets, ARRAY_SIZE(packets), tids, ARRAY_SIZE(tids));
}

/* A thread that the event ring names is that of both rings. */
static void test_event_ring(void)
{
	static const struct packet packets[] = {
		{ .kind = KTAPE_RING_CONTROL,
		  .ts = 1000,
		  .tid = 7,
		  .context = KTAPE_CTX_TASK,
		  .nr = 2 },
		{ .kind = KTAPE_RING_EVENT,
		  .ts = 1500,
		  .tid = 5,
		  .context = KTAPE_CTX_TASK,
		  .nr = 2,
		  .records = { { KTAPE_EV_SIGNAL_DELIVER, { 0 }, 0 },
			       { KTAPE_EV_SCHED_SWITCH, { 5, 6 }, 2 } } },
		{ .kind = KTAPE_RING_CONTROL,
		  .ts = 2000,
		  .tid = 5,
		  .context = KTAPE_CTX_TASK,
		  .nr = 2 },
		{ .kind = KTAPE_RING_EVENT,
		  .ts = 3000,
		  .tid = 6,
		  .context = KTAPE_CTX_CONTINUED,
		  .nr = 1,
		  .records = { { KTAPE_EV_CONTEXT, { 4 }, 1 } } },
		{ .kind = KTAPE_RING_CONTROL,
		  .ts = 4000,
		  .tid = 6,
		  .context = KTAPE_CTX_TASK,
		  .nr = 1 },
		{ .kind = KTAPE_RING_EVENT,
		  .ts = 5000,
		  .tid = 3,
		  .context = KTAPE_CTX_UNKNOWN,
		  .nr = 1,
		  .records = { { KTAPE_EV_SIGNAL_DELIVER, { 0 }, 0 } } },
		{ .kind = KTAPE_RING_CONTROL,
		  .ts = 6000,
		  .tid = 2,
		  .context = KTAPE_CTX_TASK,
		  .nr = 2 },
	};
	static const int32_t tids[] = { 7, UNKNOWN, 5,	     5, 6,	6,
					6, 4,	    UNKNOWN, 2, UNKNOWN };

	expect_threads(packets, ARRAY_SIZE(packets), tids, ARRAY_SIZE(tids));
}

/* The call stack of a switch is that of the thread that left, also in a later packet. */
static void test_stack(void)
{
	static const struct packet packets[] = {
		{ .kind = KTAPE_RING_EVENT,
		  .ts = 1000,
		  .tid = 5,
		  .context = KTAPE_CTX_TASK,
		  .nr = 4,
		  .records = { { KTAPE_EV_KERNEL_STACK, { 0 }, 0, KTAPE_EV_SCHED_SWITCH },
			       { KTAPE_EV_SCHED_SWITCH, { 5, 6 }, 2, 0 },
			       { KTAPE_EV_KERNEL_STACK, { 0 }, 0, KTAPE_EV_SCHED_SWITCH },
			       { KTAPE_EV_KERNEL_STACK, { 0 }, 0, KTAPE_EV_SCHED_WAKING } } },
		{ .kind = KTAPE_RING_EVENT,
		  .ts = 2000,
		  .tid = 6,
		  .context = KTAPE_CTX_CONTINUED,
		  .nr = 1,
		  .records = { { KTAPE_EV_SCHED_SWITCH, { 6, 7 }, 2, 0 } } },
		{ .kind = KTAPE_RING_EVENT,
		  .ts = 3000,
		  .tid = 7,
		  .context = KTAPE_CTX_TASK,
		  .nr = 1,
		  .records = { { KTAPE_EV_KERNEL_STACK, { 0 }, 0, KTAPE_EV_SCHED_SWITCH } } },
		{ .kind = KTAPE_RING_EVENT,
		  .ts = 4000,
		  .tid = 9,
		  .context = KTAPE_CTX_TASK,
		  .nr = 1,
		  .records = { { KTAPE_EV_KERNEL_STACK, { 0 }, 0, KTAPE_EV_SCHED_SWITCH } } },
	};
	/* The switches before the first stack and the last one are not in the trace. */
	static const int32_t tids[] = { UNKNOWN, 5, 5, 6, 6, 6, UNKNOWN };

	expect_threads(packets, ARRAY_SIZE(packets), tids, ARRAY_SIZE(tids));
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "a control ring alone", test_control_alone },
		{ "both rings", test_event_ring },
		{ "call stacks of switches", test_stack },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
