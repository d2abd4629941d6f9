// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write a trace as the text of /sys/kernel/tracing/trace.
 *
 *	#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
 *	             cat-1234     [002] d.h..  5123.456789: irq_handler_entry: irq=30 name=eth0
 *
 * The comments before the events are those of tracer "nop".  Events that ftrace has
 * are written in its words (rows[]), markers and texts as tracing_mark_write, all
 * others as NAME: and the fields of ktape dump.  A loss, or an overwritten beginning, is
 * "CPU:N [LOST n EVENTS]", without n if the number is not known.  Times are CLOCK_MONOTONIC in
 * microseconds; earlier ones than 0 become 0.
 *
 * Not written: nanoseconds; need-resched, preempt-depth and migrate-disable (always
 * '.'); registry records, whose names are in the lines.  'd', 'h', 's' and 'H' are
 * derived from the interrupts that were recorded.  The line with the number of entries
 * is filled in at the end, so only regular files have it.
 */
#include "util/nanoseconds.h"

#include "layout.h"
#include "text.h"

/*
 * Number of an unknown thread, which no thread of Linux has.  0 is the idle thread, and readers
 * take digits only: they would read "-1" as thread 1 of "<...>-", or leave the line out.
 */
#define NOBODY	      INT32_MAX
#define COMM_WIDTH    16
#define PID_WIDTH     8 /* with the blank after it */
#define TIME_WIDTH    5 /* seconds, behind a blank */
#define US_PER_S      1000000
#define TABLE_32      (3U << 16) /* compat or x32, in dat20 */
#define ENTRIES_WIDTH 72	 /* of the line with the counts */

/* Nesting of interrupts on a CPU, as far as they were recorded. */
struct cpu {
	uint16_t irqs;
	uint16_t softirqs;
};

/**
 * struct ftrace - text being written
 * @layout: layout of events
 * @cpus: by CPU, its interrupts
 * @nr_cpus: highest CPU number with an event, plus 1
 * @entries: lines of events so far
 * @lost: events lost so far, as far as counted
 * @entries_at: file offset of the line with the counts
 */
struct ftrace {
	struct kt_line_layout layout;
	struct cpu cpus[KT_CPUS_MAX];
	uint32_t nr_cpus;
	uint64_t entries;
	uint64_t lost;
	uint64_t entries_at;
};

static const char head[] =
	"#\n"
	"#                                _-----=> irqs-off/BH-disabled\n"
	"#                               / _----=> need-resched\n"
	"#                              | / _---=> hardirq/softirq\n"
	"#                              || / _--=> preempt-depth\n"
	"#                              ||| / _-=> migrate-disable\n"
	"#                              |||| /     delay\n"
	"#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
	"#              | |         |   |||||     |         |\n";

#define WOKEN "comm={tid:c} pid={tid} prio={prio:p} target_cpu={target_cpu:3}"
#define TASK  "comm={tid:c} pid={tid}"
#define BLOCK "{dev:d} {op} {bytes} () {sector} + {bytes:h}"
#define SKB   "dev={dev:n} skbaddr={skb:x} len={len}"
#define WORK  "work struct {work:x}: function {function:f}"

/*
 * An event's opcode, a group that is unused here, its name in ftrace, and the text after the
 * name.  struct kt_layout_row explains {field:LETTER}: c is a thread's name, p a priority, x an
 * address, f a function, n an object's name, v a value's.
 */
static const struct kt_layout_row rows[] = {
	{ KTAPE_EV_SCHED_SWITCH, NULL, "sched_switch",
	  "prev_comm={prev_tid:c} prev_pid={prev_tid} prev_prio={prev_prio:p} prev_state={prev_state:s} ==> next_comm={next_tid:c} next_pid={next_tid} next_prio={next_prio:p}" },
	{ KTAPE_EV_SCHED_WAKING, NULL, "sched_waking", WOKEN },
	{ KTAPE_EV_SCHED_WAKEUP, NULL, "sched_wakeup", WOKEN },
	{ KTAPE_EV_SCHED_WAKEUP_NEW, NULL, "sched_wakeup_new", WOKEN },
	{ KTAPE_EV_SCHED_MIGRATE_TASK, NULL, "sched_migrate_task",
	  "comm={tid:c} pid={tid} prio={prio:p} orig_cpu={orig_cpu} dest_cpu={dest_cpu}" },
	{ KTAPE_EV_SCHED_PI_SETPRIO, NULL, "sched_pi_setprio",
	  "comm={tid:c} pid={tid} oldprio={old_prio:p} newprio={new_prio:p}" },
	/* ftrace has the name of the waiting thread and the id waited for. */
	{ KTAPE_EV_SCHED_PROCESS_WAIT, NULL, "sched_process_wait",
	  "comm={@} pid={tid}" },
	{ KTAPE_EV_SCHED_STAT_RUNTIME, NULL, "sched_stat_runtime",
	  "comm={tid:c} pid={tid} runtime={runtime} [ns]" },
	{ KTAPE_EV_PROCESS_FORK, NULL, "sched_process_fork",
	  "comm={parent_tid:c} pid={parent_tid} child_comm={child_tid:c} child_pid={child_tid}" },
	{ KTAPE_EV_PROCESS_EXEC, NULL, "sched_process_exec",
	  "filename={tid:c} pid={tid} old_pid={old_tid}" },
	{ KTAPE_EV_PROCESS_EXIT, NULL, "sched_process_exit",
	  "comm={tid:c} pid={tid} prio={prio:p}" },
	{ KTAPE_EV_PROCESS_FREE, NULL, "sched_process_free", TASK },
	{ KTAPE_EV_PROCESS_RENAME, NULL, "task_rename", "pid={tid} newcomm={tid:c}" },
	{ KTAPE_EV_IRQ_HANDLER_ENTRY, NULL, "irq_handler_entry",
	  "irq={irq} name={irq:n}" },
	{ KTAPE_EV_IRQ_HANDLER_EXIT, NULL, "irq_handler_exit",
	  "irq={irq} ret={ret:r}" },
	{ KTAPE_EV_SOFTIRQ_RAISE, NULL, "softirq_raise",
	  "vec={vec} [action={vec:v}]" },
	{ KTAPE_EV_SOFTIRQ_ENTRY, NULL, "softirq_entry",
	  "vec={vec} [action={vec:v}]" },
	{ KTAPE_EV_SOFTIRQ_EXIT, NULL, "softirq_exit", "vec={vec} [action={vec:v}]" },
	{ KTAPE_EV_TASKLET_ENTRY, NULL, "tasklet_entry",
	  "tasklet={tasklet:x} function={function:f}" },
	{ KTAPE_EV_TASKLET_EXIT, NULL, "tasklet_exit",
	  "tasklet={tasklet:x} function={function:f}" },
	{ KTAPE_EV_IPI_ENTRY, NULL, "ipi_entry", "({reason:v})" },
	{ KTAPE_EV_IPI_EXIT, NULL, "ipi_exit", "({reason:v})" },
	{ KTAPE_EV_IPI_RAISE, NULL, "ipi_raise", "target_mask={cpus:x} ({reason:v})" },
	{ KTAPE_EV_LOCAL_TIMER_ENTRY, NULL, "local_timer_entry", "vector={vector}" },
	{ KTAPE_EV_LOCAL_TIMER_EXIT, NULL, "local_timer_exit", "vector={vector}" },
	{ KTAPE_EV_SYS_ENTER, NULL, "sys_enter", "NR {nr} ()" },
	{ KTAPE_EV_SYS_EXIT, NULL, "sys_exit", "NR {nr} = {ret}" },
	{ KTAPE_EV_SYS_EXIT_WIDE, NULL, "sys_exit", "NR {nr} = {ret}" },
	{ KTAPE_EV_SIGNAL_GENERATE, NULL, "signal_generate",
	  "sig={sig} errno={errno} code={code} comm={tid:c} pid={tid} grp={group} res={result}" },
	{ KTAPE_EV_SIGNAL_DELIVER, NULL, "signal_deliver",
	  "sig={sig} errno=0 code={code} sa_handler={handler:x} sa_flags={flags:X}" },
	{ KTAPE_EV_TIMER_INIT, NULL, "timer_init", "timer={timer:x}" },
	{ KTAPE_EV_TIMER_START, NULL, "timer_start",
	  "timer={timer:x} function={function:f} [timeout={expires_in}] flags={flags:X}" },
	{ KTAPE_EV_TIMER_EXPIRE_ENTRY, NULL, "timer_expire_entry",
	  "timer={timer:x} function={function:f} late={late}" },
	{ KTAPE_EV_TIMER_EXPIRE_EXIT, NULL, "timer_expire_exit", "timer={timer:x}" },
	{ KTAPE_EV_TIMER_CANCEL, NULL, "timer_cancel", "timer={timer:x}" },
	{ KTAPE_EV_HRTIMER_INIT, NULL, "hrtimer_init",
	  "hrtimer={timer:x} clockid={clock} mode={mode:X}" },
	{ KTAPE_EV_HRTIMER_START, NULL, "hrtimer_start",
	  "hrtimer={timer:x} softexpires={expires} mode={mode:X}" },
	{ KTAPE_EV_HRTIMER_EXPIRE_ENTRY, NULL, "hrtimer_expire_entry",
	  "hrtimer={timer:x} function={function:f} late={late_ns}" },
	{ KTAPE_EV_HRTIMER_EXPIRE_EXIT, NULL, "hrtimer_expire_exit",
	  "hrtimer={timer:x}" },
	{ KTAPE_EV_HRTIMER_CANCEL, NULL, "hrtimer_cancel", "hrtimer={timer:x}" },
	{ KTAPE_EV_WORKQUEUE_QUEUE_WORK, NULL, "workqueue_queue_work",
	  "work struct={work:x} function={function:f} req_cpu={req_cpu}" },
	{ KTAPE_EV_WORKQUEUE_ACTIVATE_WORK, NULL, "workqueue_activate_work",
	  "work struct {work:x}" },
	{ KTAPE_EV_WORKQUEUE_EXECUTE_START, NULL, "workqueue_execute_start", WORK },
	{ KTAPE_EV_WORKQUEUE_EXECUTE_END, NULL, "workqueue_execute_end", WORK },
	{ KTAPE_EV_BLOCK_RQ_INSERT, NULL, "block_rq_insert", BLOCK " [{@}]" },
	{ KTAPE_EV_BLOCK_RQ_ISSUE, NULL, "block_rq_issue", BLOCK " [{@}]" },
	{ KTAPE_EV_BLOCK_RQ_COMPLETE, NULL, "block_rq_complete",
	  "{dev:d} {op} () {sector} + {bytes:h} [{status}]" },
	{ KTAPE_EV_NET_DEV_QUEUE, NULL, "net_dev_queue", SKB },
	{ KTAPE_EV_NET_DEV_XMIT, NULL, "net_dev_xmit", SKB " rc={rc}" },
	{ KTAPE_EV_NETIF_RECEIVE_SKB, NULL, "netif_receive_skb", SKB },
	{ KTAPE_EV_NETIF_RX, NULL, "netif_rx", SKB },
	{ KTAPE_EV_CPU_IDLE, NULL, "cpu_idle", "state={state:i} cpu_id={cpu}" },
	{ KTAPE_EV_CPU_FREQUENCY, NULL, "cpu_frequency", "state={khz} cpu_id={cpu}" },
};

static int ftrace_begin(struct kt_sink *s)
{
	struct ftrace *t = s->state;
	int err = kt_layout_init(&t->layout, s, rows, KT_ARRAY_SIZE(rows));
	char line[ENTRIES_WIDTH + 1];

	if (!err)
		err = kt_sink_put(s, "# tracer: nop\n#\n", 16);
	t->entries_at = kt_sink_at(s);
	if (!err && s->seekable) {
		memset(line, ' ', ENTRIES_WIDTH);
		line[0] = '#';
		line[ENTRIES_WIDTH] = '\n';
		err = kt_sink_put(s, line, sizeof(line));
	}
	return err ? err : kt_sink_put(s, head, sizeof(head) - 1);
}

/* Write a marker as programs of Android do: B|PID|NAME, E|PID, C|PID|NAME|VALUE or I|PID|NAME. */
static char *put_ftrace_marker(char *p, const struct kt_line *l, uint8_t opcode)
{
	static const struct {
		uint8_t opcode;
		char letter;
	} letters[] = {
		{ KTAPE_EV_MARK_BEGIN, 'B' },
		{ KTAPE_EV_MARK_END, 'E' },
		{ KTAPE_EV_MARK_VALUE, 'C' },
		{ KTAPE_EV_MARK, 'I' },
	};
	unsigned int type = opcode == KTAPE_EV_MARK_VALUE ? KTAPE_TYPE_VALUEID :
							    KTAPE_TYPE_MARKER;
	uint32_t id = ktape_event_arg(l->event, 0);
	struct kt_name name = kt_name_of(l, type, id);
	unsigned int i = 0;

	while (letters[i].opcode != opcode)
		i++;
	p = kt_put_char(p, letters[i].letter);
	p = kt_put_u64(kt_put_char(p, '|'),
		       l->event->tid < 0 ? NOBODY :
					   kt_layout_process(l, l->event->tid));
	if (opcode == KTAPE_EV_MARK_END)
		return p;
	p = kt_put_char(p, '|');
	if (name.text)
		p = kt_put_escaped(p, name.text, name.len);
	else
		p = kt_put_u64(p, id);
	if (opcode != KTAPE_EV_MARK_VALUE)
		return p;
	return kt_put_s64(kt_put_char(p, '|'),
			  (int64_t)kt_get64((const char *)l->event->args + 4));
}

/* Count what a line of trace_marker has no place for. */
static void count_trace_marker(struct kt_sink *s, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	unsigned int type = e->opcode == KTAPE_EV_MARK_VALUE ? KTAPE_TYPE_VALUEID :
							       KTAPE_TYPE_MARKER;
	/* Bit 0: the marker is one of the thread, or the text was cut. */
	uint64_t nr = e->dat20 & 1;

	if (e->opcode != KTAPE_EV_TEXT) {
		nr += e->blob_size != 0;
		/* The number is left out where the name is written; an end has neither. */
		nr += e->opcode == KTAPE_EV_MARK_END ||
		      kt_name_of(l, type, ktape_event_arg(e, 0)).text;
	}
	if (nr)
		kt_sink_miss(s, KT_LEFT_OUT, nr);
}

/* Write a marker or text as if a program had written it to trace_marker. */
static char *put_trace_marker(char *p, const struct kt_line *l)
{
	p = kt_put_str(p, "tracing_mark_write: ");
	if (l->event->opcode == KTAPE_EV_TEXT)
		return kt_put_escaped(p, l->event->blob, l->event->blob_size);
	return put_ftrace_marker(p, l, l->event->opcode);
}

static bool is_trace_marker(const struct ktape_event *e)
{
	return (e->opcode == KTAPE_EV_MARK || e->opcode == KTAPE_EV_MARK_BEGIN ||
		e->opcode == KTAPE_EV_MARK_END ||
		e->opcode == KTAPE_EV_MARK_VALUE || e->opcode == KTAPE_EV_TEXT) &&
	       kt_event_fits(e);
}

static char *put_ftrace_wide(char *p, const struct ktape_event *e)
{
	p = kt_put_str(p, "sys_enter: NR ");
	p = kt_put_s64(p, (int32_t)ktape_event_arg(e, 0));
	for (unsigned int i = 0; i < 6; i++) {
		const char *at = (const char *)e->blob + i * 8;

		p = kt_put_str(p, i ? ", " : " (");
		p = kt_put_hex(p, kt_get64(at));
	}
	return kt_put_char(p, ')');
}

static char *put_extra(char *p, const struct kt_line *l)
{
	return l->event->extra ? kt_show_extra(p, l) : p;
}

static char *put_ftrace_event(char *p, const struct ftrace *t,
			      const struct kt_line *l)
{
	const struct kt_layout_row *row = kt_layout_row(&t->layout, l->event);
	const char *name = row ? row->name : kt_line_event(l);

	if (is_trace_marker(l->event))
		return put_trace_marker(p, l);
	if (l->event->opcode == KTAPE_EV_SYS_ENTER_WIDE && kt_event_fits(l->event))
		return put_extra(put_ftrace_wide(p, l->event), l);
	if (*name)
		p = kt_put_str(p, name);
	else
		p = kt_put_u64(kt_put_str(p, "opcode_"), l->event->opcode);
	p = kt_put_str(p, ": ");
	p = kt_layout_put(p, &t->layout, l);
	/* Without a row all fields are there. */
	return row ? put_extra(p, l) : p;
}

/* Write a text right-aligned in @width columns. */
static char *put_right(char *p, const char *text, size_t len, size_t width)
{
	if (len < width)
		p = kt_layout_pad(p, p, width - len);
	return kt_put_mem(p, text, len);
}

static char *put_task(char *p, const struct kt_line *l)
{
	char comm[4 * KTAPE_NAME_SIZE + 16], *end, *start;

	if (l->event->tid)
		end = kt_layout_comm(comm, l, l->event->tid);
	else
		end = kt_put_str(comm, "<idle>");
	p = put_right(p, comm, (size_t)(end - comm), COMM_WIDTH);
	p = kt_put_char(p, '-');
	start = p;
	p = kt_put_s64(p, l->event->tid < 0 ? NOBODY : l->event->tid);
	return kt_layout_pad(p, start, PID_WIDTH);
}

static char *put_ftrace_flags(char *p, const struct cpu *c)
{
	char where = c->irqs && c->softirqs ? 'H' :
		     c->irqs		    ? 'h' :
		     c->softirqs	    ? 's' :
					      '.';

	p = kt_put_char(p, c->irqs ? 'd' : '.');
	p = kt_put_char(p, '.');
	p = kt_put_char(p, where);
	return kt_put_mem(p, "..", 2);
}

static char *put_ftrace_time(char *p, int64_t ns)
{
	uint64_t us = (uint64_t)(ns < 0 ? 0 : ns) / NS_PER_US;
	char digits[KT_PUT_U64_MAX];
	char *end = kt_put_u64(digits, us / US_PER_S);

	p = put_right(kt_put_char(p, ' '), digits, (size_t)(end - digits),
		      TIME_WIDTH);
	p = kt_put_char(p, '.');
	p = kt_put_fixed(p, (uint32_t)(us % US_PER_S), 6);
	return kt_put_str(p, ": ");
}

/*
 * ftrace shows an entry event as already inside the interrupt, and an exit event
 * as still inside: enter before the event is written, leave after it.  No switch happens inside
 * an interrupt, so at a switch the ends of open ones are missing.
 */
static void enter_context(struct cpu *c, const struct ktape_event *e)
{
	switch (e->opcode) {
	case KTAPE_EV_IRQ_HANDLER_ENTRY:
	case KTAPE_EV_LOCAL_TIMER_ENTRY:
	case KTAPE_EV_IPI_ENTRY:
		c->irqs++;
		break;
	case KTAPE_EV_SOFTIRQ_ENTRY:
		c->softirqs++;
		break;
	case KTAPE_EV_SCHED_SWITCH:
		c->irqs = c->softirqs = 0;
		break;
	default:
		break;
	}
}

static void leave_context(struct cpu *c, const struct ktape_event *e)
{
	switch (e->opcode) {
	case KTAPE_EV_IRQ_HANDLER_EXIT:
	case KTAPE_EV_LOCAL_TIMER_EXIT:
	case KTAPE_EV_IPI_EXIT:
		c->irqs -= c->irqs != 0;
		break;
	case KTAPE_EV_SOFTIRQ_EXIT:
		c->softirqs -= c->softirqs != 0;
		break;
	default:
		break;
	}
}

/* Count what the line of an event has no place for. */
static void count_ftrace_left_out(const struct ftrace *t, struct kt_sink *s,
				  const struct kt_line *l)
{
	const struct ktape_event *e = l->event;

	if (is_trace_marker(e))
		count_trace_marker(s, l);
	else if (e->opcode != KTAPE_EV_SYS_ENTER_WIDE)
		kt_layout_count(&t->layout, s, e);
	else if (e->dat20 & TABLE_32 && kt_event_fits(e))
		kt_sink_miss(s, KT_LEFT_OUT, 1); /* which table it is */
}

static int ftrace_event(struct kt_sink *s, const struct ktape_event *e)
{
	const struct kt_line l = kt_line_of(s->info, s->registry, e, false);
	struct ftrace *t = s->state;
	struct cpu *c;
	char *p;

	if (e->kind == KTAPE_RING_REGISTRY || e->opcode == KTAPE_EV_REGISTRY ||
	    e->opcode == KTAPE_TIME_EXTEND || e->cpu >= KT_CPUS_MAX)
		return 0;
	p = kt_sink_room(s, ktape_format_bound(e));
	if (!p)
		return s->error;
	c = &t->cpus[e->cpu];
	enter_context(c, e);
	p = put_task(p, &l);
	p = kt_put_str(p, " [");
	p = kt_put_fixed(p, e->cpu, e->cpu > 999 ? 4 : 3);
	p = kt_put_str(p, "] ");
	p = put_ftrace_flags(p, c);
	p = put_ftrace_time(p, ktape_mono_ns(s->info, e->ts));
	p = put_ftrace_event(p, t, &l);
	count_ftrace_left_out(t, s, &l);
	leave_context(c, e);
	t->entries++;
	t->nr_cpus = kt_max(t->nr_cpus, e->cpu + 1);
	return kt_sink_done(s, kt_put_char(p, '\n'));
}

static int ftrace_notice(struct kt_sink *s, const struct ktape_notice *n)
{
	struct ftrace *t = s->state;
	char *p = kt_sink_room(s, 64);

	if (!p)
		return s->error;
	if (n->cpu < KT_CPUS_MAX)
		memset(&t->cpus[n->cpu], 0, sizeof(t->cpus[0]));
	t->lost += n->count;
	p = kt_put_u64(kt_put_str(p, "CPU:"), n->cpu);
	p = kt_put_str(p, " [LOST ");
	if (n->count)
		p = kt_put_char(kt_put_u64(p, n->count), ' ');
	return kt_sink_done(s, kt_put_str(p, "EVENTS]\n"));
}

static int ftrace_end(struct kt_sink *s)
{
	struct ftrace *t = s->state;
	char line[160], *p = line;

	if (!s->seekable)
		return 0;
	p = kt_put_str(p, "# entries-in-buffer/entries-written: ");
	p = kt_put_u64(p, t->entries);
	p = kt_put_u64(kt_put_char(p, '/'), t->entries + t->lost);
	p = kt_put_u64(kt_put_str(p, "   #P:"), t->nr_cpus);
	if (p - line > ENTRIES_WIDTH)
		return 0;
	return kt_sink_patch(s, t->entries_at, line, (size_t)(p - line));
}

static void ftrace_close(struct kt_sink *s)
{
	struct ftrace *t = s->state;

	kt_layout_free(&t->layout);
}

const struct kt_codec_out kt_ftrace_out = {
	.size = sizeof(struct ftrace),
	.extra = true,
	.switches = true,
	.begin = ftrace_begin,
	.event = ftrace_event,
	.notice = ftrace_notice,
	.end = ftrace_end,
	.close = ftrace_close,
};
