/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the parquet format share.
 *
 * Read the files in this order; each calls only those before it:
 *
 *	tables.h	the tables and their columns
 *	schema.c	the same as the writer of files takes them
 *	names.c		names as numbers
 *	place.c		the files that rows go to
 *	event.c		rows of events
 *	thread.c	rows of threads and processes
 *	irq.c		rows of interrupts
 *	call.c		rows of system calls
 *	mark.c		rows of markers and values
 *	sched.c		rows of slices, waits and wake-ups
 *	capture.c	the trace itself, and what it lost
 *	out.c		options, and each event to the files above
 */
#ifndef _KT_FORMAT_PARQUET_INTERNAL_H
#define _KT_FORMAT_PARQUET_INTERNAL_H

#include "parquet/parquet.h"

#include "show/line.h"
#include "stream/clock.h"
#include "util/map.h"
#include "format/writer.h"

#define PQ_VERSION "1" /* of the tables, v= in paths */
#define PQ_NEST	   16U /* most nested interrupts of a CPU, as in stats */
#define PQ_THREADS_MAX \
	(1U << 20)	/* most threads of a trace; further ones are counted */
#define PQ_RECENT 1024U /* threads that are found without a look-up */
#define PQ_NONE	  (-1)	/* no name */

enum pq_table {
#define PQ_TABLE(NAME, name, sorts, help) PQ_##NAME,
#include "tables.h"
	PQ_TABLES
};

/* clang-format off */
/* The columns of each table: PQ_SCHED_SLICE_CPU ... */
#define PQ_TABLE(NAME, name, sorts, help) enum pq_columns_##NAME {
#define PQ_COLUMN(NAME, COLUMN, column, type, null, unit, help) PQ_##NAME##_##COLUMN,
#define PQ_END(NAME) PQ_##NAME##_COLUMNS };
#include "tables.h"
/* clang-format on */

/* Names of kinds and states that the tables have of their own; names.c has the texts. */
enum pq_word {
	PQ_WORD_RUNNING,
	PQ_WORD_R,
	PQ_WORD_PREEMPTED,
	PQ_WORD_WAKING,
	PQ_WORD_WAKEUP,
	PQ_WORD_NEW,
	PQ_WORD_IRQ,
	PQ_WORD_IPI,
	PQ_WORD_TICK,
	PQ_WORD_NATIVE,
	PQ_WORD_COMPAT,
	PQ_WORD_X32,
	PQ_WORD_LOST,
	PQ_WORDS
};

/* A name that was looked up.  @key: type and value; @name is valid while pq->turn is @turn. */
struct pq_found {
	uint64_t key;
	uint64_t turn;
	int64_t name;
};

#define PQ_FOUND \
	1024U	/* names that are found without a look-up, a power of two */
#define PQ_TS 1 /* column of the time, in all tables that have one */

/* What a thread does, as far as the trace shows. */
enum pq_state {
	PQ_UNKNOWN,
	PQ_RUNNING,
	PQ_READY, /* woken */
	PQ_PREEMPTED,
	PQ_ASLEEP
};

/**
 * struct pq_thread - a thread
 * @tid: thread id
 * @pid: process id; 0: not known
 * @name: its name, or PQ_NONE
 * @cgroup: its control group, or PQ_NONE
 * @process: index of its process; -1: not known
 * @born: when it was made, in ticks; differs between threads that had the same id
 * @died: when it ended, in ticks; 0: not known
 * @known: the registry has the thread
 * @stale: the registry may have learned something about it
 * @kernel: it is a thread of the kernel
 * @state: enum pq_state
 * @why: name of the state if it is asleep
 * @since: begin of @state, in ticks
 * @cpu: CPU on which it runs, or of its run queue
 * @waker: utid + 1 of the thread that woke it; 0: not known
 * @blocked: function that puts it to sleep, or PQ_NONE
 * @io: it sleeps for input or output
 * @blocked_known: sched_blocked set @blocked and @io for the next sleep
 * @in_call: it is in a system call
 * @call: number and table of that call
 * @call_since: begin of the call, in ticks
 */
struct pq_thread {
	int32_t tid;
	int32_t pid;
	int64_t name;
	int64_t cgroup;
	int32_t process;
	uint64_t born;
	uint64_t died;
	bool known;
	bool stale;
	bool kernel;
	uint8_t state;
	int64_t why;
	uint64_t since;
	uint32_t cpu;
	uint32_t waker;
	int64_t blocked;
	bool io;
	bool blocked_known;
	bool in_call;
	uint32_t call;
	uint64_t call_since;
};

/**
 * struct pq_process - a process
 * @pid: process id
 * @leader: index of its first thread in the trace
 * @parent: index of the process that made it; -1: not known
 */
struct pq_process {
	int32_t pid;
	uint32_t leader;
	int32_t parent;
};

/**
 * struct pq_irq - a running interrupt handler
 * @kind: what interrupt it is, an index in the table of irq.c
 * @id: number of the interrupt, reason of the IPI, or vector
 * @since: when it began, in ticks
 */
struct pq_irq {
	uint8_t kind;
	uint32_t id;
	uint64_t since;
};

/**
 * struct pq_cpu - a CPU
 * @seen: it has an event
 * @off: its profile is empty: nothing is recorded
 * @profiled: @mask is valid
 * @mask: its profile
 * @tid: running thread, -1: not known
 * @running: utid of the thread whose slice is open
 * @open: there is an open slice
 * @since: begin of the open slice, in ticks
 * @priority: priority of that thread
 * @depth: number of running interrupt handlers
 * @irqs: running interrupt handlers, the innermost last
 */
struct pq_cpu {
	bool seen;
	bool off;
	bool profiled;
	uint64_t mask[KTAPE_MASK_WORDS];
	int32_t tid;
	uint32_t running;
	bool open;
	uint64_t since;
	uint32_t priority;
	unsigned int depth;
	struct pq_irq irqs[PQ_NEST];
};

/* Columns that "event" has in a single file, after all others. */
enum pq_single {
	PQ_SINGLE_HOST,
	PQ_SINGLE_TID,
	PQ_SINGLE_PID,
	PQ_SINGLE_COMM,
	PQ_SINGLE_LOST,
	PQ_SINGLE_TS_END,
	PQ_SINGLE
};

struct pq_place;
struct pq_plan;
struct pq_ledger;

/**
 * struct pq - tables being written
 * @s: sink
 * @single: one file with the events, instead of a folder with all tables
 * @clock: converts ticks to nanoseconds
 * @pool: names
 * @workspace: compressor and room for writing
 * @schemas: the tables
 * @rows: rows that are not written yet
 * @place: the files
 * @begun: @begin is valid
 * @begin: time of the first event, or begin of a loss before it, in ticks
 * @last: the latest time of an event or begin of a loss, in ticks
 * @lost_to: end of the last loss, or when a profile last enabled more events, in ticks:
 *	what began before may have ended unseen, so it has no row, and a marker no duration
 * @late_to: the latest begin of a ring whose beginning was overwritten, in ticks: the
 *	same for what may have moved to another CPU (threads' states, calls, markers)
 * @cpus: by number; NULL: no event of it yet
 * @nr_cpus: entries of @cpus
 * @threads: the index is the utid
 * @nr_threads: entries of @threads
 * @by_tid: index of the newest thread of an id
 * @recent: by id modulo PQ_RECENT, index of the thread that was found last
 * @processes: the index is the upid
 * @nr_processes: entries of @processes
 * @by_pid: index of the newest process of an id
 * @raised: waits of soft interrupts, by CPU and vector; see irq.c
 * @spans: open markers; see mark.c
 * @plans: by opcode, where the fields of an event go
 * @names: by opcode, name of the event, or PQ_NONE
 * @classes: by opcode, name of the class, or PQ_NONE
 * @syscalls: by number and table, name of the call or PQ_NONE; PQ_NONE - 1: not looked
 *	up yet
 * @words: by enum pq_word, number of the name
 * @turn: changes of the registry's names other than those of threads, plus 1
 * @found: names that were looked up, by hash
 * @ledger: counts, losses and profiles of the trace; see capture.c
 */
struct pq {
	struct kt_sink *s;
	bool single;
	struct kt_clock clock;
	struct kt_pq_pool pool;
	struct kt_pq_workspace *workspace;
	struct kt_pq_schema schemas[PQ_TABLES];
	struct kt_pq_rows rows[PQ_TABLES];
	struct pq_place *place;
	bool begun;
	uint64_t begin;
	uint64_t last;
	uint64_t lost_to;
	uint64_t late_to;
	struct pq_cpu **cpus;
	uint32_t nr_cpus;
	struct pq_thread *threads;
	size_t nr_threads;
	struct kt_map by_tid;
	uint32_t recent[PQ_RECENT];
	struct pq_process *processes;
	size_t nr_processes;
	struct kt_map by_pid;
	struct kt_map raised;
	struct kt_map spans;
	struct pq_plan *plans;
	int64_t names[KTAPE_OPCODES];
	int64_t classes[KTAPE_OPCODES];
	int64_t *syscalls;
	int64_t words[PQ_WORDS];
	uint64_t turn;
	struct pq_found found[PQ_FOUND];
	struct pq_ledger *ledger;
};

/* schema.c */
int pq_schema_init(struct pq *pq);
void pq_schema_free(struct pq *pq);

/* place.c */
int pq_place_open(struct pq *pq, const char *folder, uint64_t size,
		  const char *capture);
int pq_place_begin(struct pq *pq);
int pq_flush(struct pq *pq, unsigned int table);
int pq_place_end(struct pq *pq);
bool pq_place_is_staged(const struct pq *pq);
int pq_place_move(struct pq *pq, int folder);
void pq_place_close(struct pq *pq);

/* names.c: PQ_NONE if there is no name; pq->s->error is set if there is no memory */
int pq_names_init(struct pq *pq);
int64_t pq_name(struct pq *pq, const char *text, size_t len);
int64_t pq_event_name(struct pq *pq, const struct kt_line *l);
int64_t pq_class_name(struct pq *pq, unsigned int opcode);
int64_t pq_value_name(struct pq *pq, const struct kt_line *l, unsigned int type,
		      uint64_t value);
int64_t pq_syscall_name(struct pq *pq, const struct kt_line *l, uint32_t key);

/* thread.c */
struct pq_thread *pq_thread(struct pq *pq, int32_t tid, uint64_t ts);
struct pq_cpu *pq_cpu(struct pq *pq, uint32_t cpu);
void pq_registry(struct pq *pq, const struct ktape_event *e);
void pq_fork(struct pq *pq, const struct ktape_event *e);
int pq_put_threads(struct pq *pq);

/* event.c */
int pq_event_init(struct pq *pq);
void pq_event_free(struct pq *pq);
void pq_put_event(struct pq *pq, const struct kt_line *l, const struct pq_thread *t);
void pq_put_gap_event(struct pq *pq, const struct ktape_notice *n);

/* sched.c */
void pq_switch(struct pq *pq, struct pq_cpu *c, const struct ktape_event *e);
void pq_wake(struct pq *pq, const struct ktape_event *e);
void pq_blocked(struct pq *pq, const struct kt_line *l);
void pq_cut(struct pq *pq, struct pq_cpu *c, uint32_t cpu, uint64_t ts);
void pq_sched_end(struct pq *pq);

/* irq.c */
void pq_irq(struct pq *pq, struct pq_cpu *c, const struct kt_line *l);

/* call.c */
void pq_call(struct pq *pq, const struct kt_line *l);

/* mark.c */
void pq_mark(struct pq *pq, const struct kt_line *l);

/* capture.c */
int pq_capture_init(struct pq *pq);
void pq_take_control(struct pq *pq, struct pq_cpu *c, const struct kt_line *l);
void pq_lost(struct pq *pq, const struct ktape_notice *n);
int pq_put_capture(struct pq *pq);
void pq_capture_free(struct pq *pq);

/* Check that no event is missing since @from: what began then has not ended unseen. */
static inline bool pq_is_sure(const struct pq *pq, uint64_t from)
{
	return from >= pq->lost_to && from >= pq->late_to;
}

/* Return a time as nanoseconds since boot. */
static inline int64_t pq_time(struct pq *pq, uint64_t ts)
{
	return (int64_t)(kt_clock_ns(&pq->clock, pq->s->info, ts) +
			 (uint64_t)pq->s->info->boot_offset_ns);
}

/* Return the nanoseconds from @from to @to, 0 if @to is earlier. */
static inline int64_t pq_ns(struct pq *pq, uint64_t from, uint64_t to)
{
	return to > from ?
		       (int64_t)kt_clock_ns(&pq->clock, pq->s->info, to - from) :
		       0;
}

/* Return the number of a thread. */
static inline int64_t pq_utid(const struct pq *pq, const struct pq_thread *t)
{
	return t - pq->threads;
}

/* Return the number of a column of "event" in a single file. */
static inline unsigned int pq_single(const struct pq *pq, enum pq_single column)
{
	return pq->schemas[PQ_EVENT].nr - PQ_SINGLE + column;
}

/* Put a name, unless there is none. */
static inline void pq_put_name(struct kt_pq_rows *r, unsigned int column, int64_t name)
{
	if (name >= 0)
		kt_pq_put(r, column, name);
}

/* Begin a row of a table that has times. */
static inline struct kt_pq_rows *pq_begin(struct pq *pq, unsigned int table,
					  uint64_t ts)
{
	kt_pq_put(&pq->rows[table], PQ_TS, pq_time(pq, ts));
	return &pq->rows[table];
}

/*
 * End a row, and write the rows of its table if they fill a row group.  The first error is kept
 * in pq->s->error.
 */
static inline void pq_end(struct pq *pq, unsigned int table)
{
	int err = 0;

	if (kt_pq_row(&pq->rows[table]))
		err = pq_flush(pq, table);
	if (!err)
		err = pq->rows[table].error;
	if (err && !pq->s->error)
		pq->s->error = err;
}

#endif /* _KT_FORMAT_PARQUET_INTERNAL_H */
