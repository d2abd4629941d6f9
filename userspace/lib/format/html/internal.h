/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State of a page that is being written, shared by the files of this folder.  The head
 * of out.c explains the page, block.c the blocks of data in it.
 *
 * Read the files in this order; each calls only those before it:
 *
 *	page.c		the text around the data
 *	deflate.c	compression
 *	block.c		blocks of data
 *	string.c	names, each once
 *	exact.c		the range that keeps all spans and fields
 *	level.c		spans, and merging them when they are too many
 *	thread.c	what each thread does
 *	called.c	the names of threads by time
 *	cpu.c		what each CPU does
 *	recorded.c	what is not recorded on a CPU
 *	other.c		marks, values, requests, objects, losses
 *	out.c		the page: each event to the files above
 */
#ifndef _KT_HTML_INTERNAL_H
#define _KT_HTML_INTERNAL_H

#include "util/map.h"
#include "show/line.h"
#include "stream/event.h"
#include "format/object_state.h"
#include "format/writer.h"
#include "deflate.h"

#define HTML_FORM    1	      /* version of the blocks, checked by the page */
#define HTML_SPANS   500000U  /* spans in a page; more are merged */
#define HTML_EVENTS  1000000U /* events in a page with their fields */
#define HTML_RARE    100000U  /* rare ones beyond these: out.c */
#define HTML_STRINGS 65536U   /* distinct names */
#define HTML_VALUES  1000000U /* values of counters */
#define HTML_OPEN    (1U << 20) /* threads, requests and marks that are followed */
#define HTML_NEST    16U	/* most nested interrupts of a CPU */
#define HTML_RINGS   2U		/* of a CPU: event ring, control ring */
#define HTML_CHUNK   8192U	/* events or spans in a block */

/* Kinds of spans.  userspace/viewer/kinds.mjs has the same numbers. */
enum html_kind {
	HTML_RUN, /* on a CPU: a thread runs */
	HTML_IRQ, /* on a CPU, nested: interrupt handler */
	HTML_SOFTIRQ,
	HTML_IPI,
	HTML_TICK,
	HTML_ISR,
	HTML_TIMER,
	HTML_HRTIMER,
	HTML_LOST,   /* on a CPU: events were lost */
	HTML_LOSS,   /* on a CPU: events of one class were lost */
	HTML_ON,     /* of a thread: it runs */
	HTML_WAIT,   /* of a thread: it is runnable or blocked */
	HTML_CALL,   /* of a thread: system call */
	HTML_WORK,   /* of a thread: work item */
	HTML_MARK,   /* of a thread, or of all: marked in a program */
	HTML_BLOCK,  /* of a device: a request */
	HTML_STATE,  /* of an object of an RTOS */
	HTML_OFF,    /* on a CPU: what the profile does not enable */
	HTML_FILTER, /* on a CPU: a filter is in force */
	HTML_HELD,   /* on a CPU: events of one class that filters blocked */
	HTML_QUEUE,  /* of a thread: it stood in the run queue of this CPU */
	HTML_KINDS
};

/* What of a CPU is drawn together: @depth of HTML_OFF.  viewer/kinds.mjs has the same. */
enum html_group {
	HTML_OFF_RUN,	/* which thread runs */
	HTML_OFF_CALLS, /* system calls */
	HTML_OFF_IRQS,	/* interrupts, timers */
	HTML_OFF_WAKES, /* when waiting threads become runnable */
	HTML_OFF_ALL,	/* nothing is recorded */
	HTML_GROUPS
};

/* Flags of spans. */
#define HTML_NO_BEGIN 1U /* it began before the trace, or inside a loss */
#define HTML_NO_END   2U /* it ends after the trace, or inside a loss */
#define HTML_UNSURE   4U /* events were lost between its begin and its end */
#define HTML_MERGED   8U /* several spans, see level.c */

/* State of a thread that is not running, in @b of HTML_WAIT. */
#define HTML_WOKEN \
	16 /* runnable, because it was woken up; else enum ktape_task_state */

/**
 * struct html_span - an interval that the page draws
 * @kind: enum html_kind
 * @depth: nesting; OFF: enum html_group; FILTER: kind of filter; LOSS, HELD: event class
 * @flags: HTML_NO_BEGIN ...
 * @cpu: CPU, or UINT32_MAX
 * @tid: thread, -1 = unknown or none
 * @name: number of a string, from html_string()
 * @begin: ns since time 0 of the page
 * @dur: ns
 * @a: WAIT: thread that woke it; CALL: result; LOST, LOSS, HELD: events; STATE: number of the
 *	string that names its row; else an id
 * @b: WAIT: state; CALL: number and table (KT_CALL_KEY); RUN, ON: enum ktape_task_state at the
 *	end, UINT32_MAX = not known; OFF: 1 = all of the group; FILTER: entries; BLOCK: sector;
 *	LOSS: kind of ring; LOST: missing packets << 8 | reasons, as in struct ktape_notice
 * @count: 1, or the number of merged spans
 * @busy: sum of the durations of merged spans
 * @longest: longest of them
 */
struct html_span {
	uint8_t kind;
	uint8_t depth;
	uint8_t flags;
	uint32_t cpu;
	int32_t tid;
	uint32_t name;
	int64_t begin;
	uint64_t dur;
	int64_t a;
	int64_t b;
	uint32_t count;
	uint64_t busy;
	uint64_t longest;
};

/* Bytes that grow. */
struct html_bytes {
	uint8_t *data;
	size_t len;
	size_t cap;
};

/*
 * A running interrupt handler or timer.  @kind: enum html_kind; @id: its number, or the token of
 * its function; @name: number of its name; @begin: since when.
 */
struct html_irq {
	uint8_t kind;
	uint32_t id;
	uint32_t name;
	int64_t begin;
};

/**
 * struct html_recorded - what is recorded on a CPU; see recorded.c
 * @profiled: a profile was recorded, @mask is valid
 * @mask: bit n: opcode n is enabled; all 0: nothing is recorded
 * @since: since when @mask holds
 * @filters: bit n: the filter of kind n is in force
 * @entries: by kind of filter: its entries
 * @filtered_since: by kind of filter: since when it is in force
 * @held: events that filters blocked up to now, by class
 * @held_since: time of the ledger that said so, by class
 * @filter_from: begin of the CPU's first filter; INT64_MAX = none
 * @filter_to: end of the filter that ended last
 */
struct html_recorded {
	bool profiled;
	uint64_t mask[KTAPE_MASK_WORDS];
	int64_t since;
	uint32_t filters;
	uint32_t entries[KTAPE_FILTER_KINDS];
	int64_t filtered_since[KTAPE_FILTER_KINDS];
	uint64_t held[KTAPE_CLASSES];
	int64_t held_since[KTAPE_CLASSES];
	int64_t filter_from;
	int64_t filter_to;
};

/**
 * struct html_cost - the tracer's own time on a CPU
 * @since: time of the last sample
 * @events: events since then
 * @samples: samples so far
 * @ticks: sum of the ticks that they took
 */
struct html_cost {
	int64_t since;
	uint64_t events;
	uint64_t samples;
	uint64_t ticks;
};

/**
 * struct html_cpu - a CPU
 * @seen: it has an event
 * @known: @tid runs
 * @tid: running thread
 * @name: its name
 * @since: since when it runs
 * @flags: of its span: HTML_NO_BEGIN or 0
 * @depth: running interrupt handlers
 * @irqs: these, the innermost last
 * @losses: the last loss of each ring, that of the control ring second; its @dur grows while it
 *	goes on.  @kind HTML_LOST; HTML_RUN, which is 0: there is none
 * @recorded: what is recorded
 * @cost: what the tracer costs
 */
struct html_cpu {
	bool seen;
	bool known;
	int32_t tid;
	uint32_t name;
	int64_t since;
	uint8_t flags;
	unsigned int depth;
	struct html_irq irqs[HTML_NEST];
	struct html_span losses[HTML_RINGS];
	struct html_recorded recorded;
	struct html_cost cost;
};

/* What a thread does. */
enum html_doing { HTML_UNKNOWN, HTML_RUNS, HTML_READY, HTML_BLOCKED };

/**
 * struct html_thread - a thread
 * @tid: thread id
 * @doing: enum html_doing
 * @flags: of the span that is open
 * @name: its name
 * @reason: string: why it blocks
 * @since: since when it does @doing
 * @state: enum ktape_task_state with which it left the CPU
 * @woken: it was woken since it left the CPU
 * @waking: when that was: the first of sched_waking and sched_wakeup; valid if @woken
 * @ready: when it stood in a run queue; valid if @queued
 * @queued: see @ready
 * @waker: the thread that woke it, -1 = not known
 * @cpu: CPU where it runs or ran last
 * @queue: CPU in whose run queue it stands while it is runnable
 * @queue_since: since when it stands there; valid if @queued or runnable
 * @moved: it stood in another run queue before, in this wait
 * @in_call: a system call is open
 * @call: its number
 * @call_name: its name
 * @call_since: when it began
 * @called: string + 1: the name that the registry had last; 0 = none
 * @called_turn: struct kt_memo.turn at that time; 0 = it was not asked yet
 * @called_from: since when the registry has that name, in ticks
 * @called_lasts: for how long
 */
struct html_thread {
	int32_t tid;
	uint8_t doing;
	uint8_t flags;
	uint32_t name;
	uint32_t reason;
	int64_t since;
	uint32_t state;
	bool woken;
	bool queued;
	int64_t waking;
	int64_t ready;
	int32_t waker;
	uint32_t cpu;
	uint32_t queue;
	int64_t queue_since;
	bool moved;
	bool in_call;
	uint32_t call;
	uint32_t call_name;
	int64_t call_since;
	uint32_t called;
	uint64_t called_turn;
	uint64_t called_from;
	uint64_t called_lasts;
};

/**
 * struct html_level - all spans; see level.c
 * @spans: the spans
 * @nr: how many
 * @cap: entries allocated
 * @most: entries that a page may have, without @nr_lost
 * @nr_lost: of these, HTML_LOST: they do not count against @most
 * @all: spans that were added
 * @left_out: spans of each kind for which there was no room
 * @short_ns: spans shorter than this are merged; 0 = none
 * @lanes: index + 1 of the last span of each lane, while @short_ns
 */
struct html_level {
	struct html_span *spans;
	size_t nr;
	size_t cap;
	size_t most;
	size_t nr_lost;
	uint64_t all;
	uint64_t left_out[HTML_KINDS];
	uint64_t short_ns;
	struct kt_map lanes;
};

/**
 * struct html_exact - the range of which the page has everything; see exact.c
 * @given: there is one
 * @from: its begin, as the times of the page; until html_exact_begin(), ns of a clock
 * @to: its end, likewise
 * @from_epoch: the clock of @from is the time since the epoch, else CLOCK_MONOTONIC
 * @to_epoch: the same of @to
 * @spans: number of spans in it
 * @events: number of events in it
 */
struct html_exact {
	bool given;
	int64_t from;
	int64_t to;
	bool from_epoch;
	bool to_epoch;
	size_t spans;
	uint64_t events;
};

/**
 * struct html - a page that is being written
 * @s: sink
 * @begun: an event came
 * @origin: nanoseconds since the epoch at time 0 of the page
 * @last: time of the last event
 * @lost_to: end of the last loss, or when events were enabled that were not before
 * @deflate: compressor
 * @packed: its output
 * @blocks: number of blocks
 * @columns: columns of the events of this block: time, opcode, CPU, thread
 * @fields: their fields, a line each
 * @nr_events: events of this block
 * @time: time of the last of them
 * @events: all events that were written
 * @events_most: how many a page may have
 * @rare: of @events, those that is_rare() in out.c has kept beyond @events_most
 * @all_events: all events that came
 * @used: bit n: the trace has opcode n
 * @enabled: bit n: a profile enabled opcode n
 * @profiled: there was a profile
 * @strings: numbers of strings by hash
 * @texts: texts of @strings
 * @text_at: where each begins in @texts
 * @nr_strings: number of strings
 * @new_strings: JSON of those that were not written
 * @values: the values that were not written, one after the other
 * @nr_values: values in @values
 * @all_values: values in all blocks
 * @value_time: time of the last value
 * @called: the names of threads that were not written, one after the other
 * @nr_called: names in @called
 * @called_event: @events when the last of them was added
 * @called_time: time of the last of them
 * @cpus: CPUs by number
 * @nr_cpus: entries of @cpus
 * @threads: indices of @thread_list by tid
 * @thread_list: threads
 * @nr_threads: entries of @thread_list
 * @open: open marks, work items and requests
 * @states: states of RTOS objects
 * @level: spans
 * @exact: the range of which the page has everything
 */
struct html {
	struct kt_sink *s;
	bool begun;
	int64_t origin;
	int64_t last;
	int64_t lost_to;
	struct kt_deflate *deflate;
	struct html_bytes packed;
	uint32_t blocks;
	struct html_bytes columns[4];
	struct html_bytes fields;
	uint32_t nr_events;
	int64_t time;
	uint64_t events;
	uint64_t events_most;
	uint64_t rare;
	uint64_t all_events;
	uint64_t used[KTAPE_MASK_WORDS];
	uint64_t enabled[KTAPE_MASK_WORDS];
	bool profiled;
	struct kt_map strings;
	struct html_bytes texts;
	size_t *text_at;
	uint32_t nr_strings;
	struct html_bytes new_strings;
	struct html_bytes values;
	uint32_t nr_values;
	uint64_t all_values;
	int64_t value_time;
	struct html_bytes called;
	uint32_t nr_called;
	uint64_t called_event;
	int64_t called_time;
	struct html_cpu *cpus;
	uint32_t nr_cpus;
	struct kt_map threads;
	struct html_thread *thread_list;
	size_t nr_threads;
	struct kt_map open;
	struct kt_states states;
	struct html_level level;
	struct html_exact exact;
};

/* page.c */
extern const char html_page_head[];
extern const size_t html_page_head_len;
extern const char html_page_tail[];
extern const size_t html_page_tail_len;

/* block.c */
char *html_room(struct html *h, struct html_bytes *b, size_t n);
void html_took(struct html_bytes *b, const char *end);
void html_number(struct html *h, struct html_bytes *b, uint64_t v);
void html_signed(struct html *h, struct html_bytes *b, int64_t v);
int html_block(struct html *h, const char *kind, const char *name, uint64_t nr,
	       const struct html_bytes *content);

/* string.c */
uint32_t html_string(struct html *h, const char *text, size_t len);
uint32_t html_name(struct html *h, const struct kt_line *l, unsigned int type,
		   uint64_t value);
int html_strings_flush(struct html *h);

/* level.c */
void html_span(struct html *h, const struct html_span *span);
int html_level_write(struct html *h);
char *html_level_left_out(const struct html *h, char *p);

/* exact.c */
int html_exact_read(struct html *h);
void html_exact_begin(struct html *h);
int html_exact_end(struct html *h);
void html_exact_span(struct html *h, const struct html_span *s);
void html_exact_full(struct html *h);
bool html_exact_event(struct html *h);

/* Return true if a part of the time from @begin to @end is in the exact range. */
static inline bool html_exact_has(const struct html *h, int64_t begin, int64_t end)
{
	return h->exact.given && begin <= h->exact.to && end >= h->exact.from;
}

/* thread.c */
struct html_thread *html_thread(struct html *h, int32_t tid);
void html_thread_on(struct html *h, int32_t tid, uint32_t cpu, int64_t now,
		    uint8_t flags, uint32_t name);
void html_thread_off(struct html *h, int32_t tid, int64_t now, uint32_t state,
		     uint8_t flags);
void html_thread_wakes(struct html *h, const struct kt_line *l, int64_t now);
void html_thread_moves(struct html *h, const struct ktape_event *e, int64_t now);
void html_thread_call(struct html *h, const struct kt_line *l, int64_t now);
void html_thread_exit(struct html *h, const struct kt_line *l, int64_t now);
void html_threads_end(struct html *h, int64_t now);
void html_threads_pause(struct html *h, int64_t now);

/* called.c */
void html_note_name(struct html *h, const struct kt_line *l, int32_t tid,
		    int64_t now);
int html_called_flush(struct html *h);

/* cpu.c */
struct html_cpu *html_cpu(struct html *h, uint32_t cpu);
void html_cpu_off(struct html *h, uint32_t cpu, int64_t now);
bool html_cpu_event(struct html *h, const struct kt_line *l, int64_t now);
void html_cpu_lost(struct html *h, const struct ktape_notice *n);
void html_cpus_end(struct html *h, int64_t now);

/* recorded.c */
bool html_recorded_event(struct html *h, const struct kt_line *l, int64_t now);
void html_recorded_end(struct html *h, int64_t now);

/* Return true if nothing is recorded on a CPU: its profile is empty. */
static inline bool html_is_off(const struct html_cpu *c)
{
	uint64_t any = 0;

	for (size_t i = 0; i < KTAPE_MASK_WORDS; i++)
		any |= c->recorded.mask[i];
	return c->recorded.profiled && !any;
}

/* other.c */
bool html_other_event(struct html *h, const struct kt_line *l, int64_t now);
int html_values_flush(struct html *h);
void html_other_end(struct html *h, int64_t now);
void html_other_free(struct html *h);

/* Return the time of an event in the page. */
static inline int64_t html_time(const struct html *h, uint64_t ts)
{
	return (int64_t)((uint64_t)ktape_epoch_ns(h->s->info, ts) -
			 (uint64_t)h->origin);
}

/* Return the earlier or the later of two times, which may be before the page's origin. */
static inline int64_t html_earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t html_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/*
 * Return a difference or an end of times.  Those of a damaged trace may be any numbers:
 * what does not fit wraps around, as in html_time().
 */
static inline int64_t html_since(int64_t from, int64_t to)
{
	return (int64_t)((uint64_t)to - (uint64_t)from);
}

static inline int64_t html_until(int64_t begin, uint64_t lasts)
{
	return (int64_t)((uint64_t)begin + lasts);
}

/*
 * Return CLOCK_MONOTONIC at time 0 of the page.  The page adds its times to this one.  Converting
 * another moment from ticks directly may give 1 ns more or less.
 */
static inline int64_t html_mono_origin(const struct html *h)
{
	return html_until(html_since(ktape_epoch_ns(h->s->info, 0), h->origin),
			  (uint64_t)ktape_mono_ns(h->s->info, 0));
}

/* Return the nanoseconds from @from to @to, 0 if @to is earlier. */
static inline uint64_t html_lasts(int64_t from, int64_t to)
{
	return to > from ? (uint64_t)to - (uint64_t)from : 0;
}

/* Fail with -ENOMEM, once. */
static inline void html_no_memory(struct html *h)
{
	if (!h->s->error)
		h->s->error = -ENOMEM;
}

#endif /* _KT_HTML_INTERNAL_H */
