// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make a long trace of a session that lost nothing, unless GAP asks for losses:
 *
 *	make_long DIR EVENTS [HOST BEGIN SEED [SLOW [GAP]]]
 *
 * HOST is the host name, BEGIN the time of its boot in seconds since the epoch, SEED
 * makes another trace.  The system call SLOW (1 to 11) takes 50 microseconds more, and each
 * GAP-th packet of an event ring is missing; 0: none.  Threads have cgroups by their names.
 *
 * 8 CPUs with 64 threads each make system calls, block in them, are woken by threads
 * and interrupts, and are preempted.  The simulator of the unit tests writes the
 * packets, and their ledgers agree with the records, so that without GAP `ktape verify` has
 * nothing to report.  Closed packets are written and freed from time to time, so memory does
 * not grow with EVENTS.  The same arguments give the same trace.
 */
/* For lib_sim_work.h: the size of the machine, and of its packets in bytes. */
#define SIM_CPUS     8U
#define SIM_THREADS  64
#define TRACE_PACKET (256 << 10)

#include <err.h>

#include "lib_sim_work.h"

#define FIRST_TID 100U
#define THREADS	  ((unsigned int)SIM_THREADS)
#define NO_THREAD UINT32_MAX
#define STATE_S	  (1U << 16) /* sched_switch: the thread sleeps */
#define PRIOS	  (20U | 20U << 8)
#define EVERY_NS  900U /* between two events of the machine, on average */
#define STEPS	  16U
#define SLOW_NS	  50000U

enum {
	IRQ_DISK = 24,
	IRQ_NET = 25,
	VECTOR_TIMER = 236,
	SOFTIRQ_TIMER = 1,
	SOFTIRQ_NET = 3
};

/**
 * struct step - an event that comes next on a CPU
 * @opcode: opcode
 * @dat20: its 20-bit data
 * @words: number of argument words, at most 2
 * @a: first argument word
 * @b: second one
 */
struct step {
	unsigned int opcode;
	uint32_t dat20;
	unsigned int words;
	uint32_t a;
	uint32_t b;
};

/**
 * struct cpu - what a CPU does
 * @steps: the events that come next
 * @at: the next one of them
 * @nr: entries of @steps
 * @running: index of the thread that runs, or NO_THREAD when idle
 * @ready: bit n: thread n is runnable
 * @calling: bit n: thread n is in a system call
 * @call: number of that call
 */
struct cpu {
	struct step steps[STEPS];
	unsigned int at;
	unsigned int nr;
	uint32_t running;
	uint64_t ready;
	uint64_t calling;
	uint32_t call[SIM_THREADS];
};

/* Events that the sessions of the simulator do not record by default. */
static const unsigned int more_events[] = {
	KTAPE_EV_SCHED_WAKING,	    KTAPE_EV_SCHED_WAKEUP,
	KTAPE_EV_LOCAL_TIMER_ENTRY, KTAPE_EV_LOCAL_TIMER_EXIT,
	KTAPE_EV_SOFTIRQ_RAISE,
};

static void push(struct cpu *c, unsigned int opcode, uint32_t dat20,
		 unsigned int words, uint32_t a, uint32_t b)
{
	if (c->nr == STEPS)
		abort();
	c->steps[c->nr++] = (struct step){ opcode, dat20, words, a, b };
}

static uint32_t tid_of(unsigned int cpu, uint32_t thread)
{
	return thread == NO_THREAD ? 0 : FIRST_TID + cpu * THREADS + thread;
}

/* Choose a thread of which the bit is set in @set.  Return: NO_THREAD if none is. */
static uint32_t choose_thread(struct sim *s, uint64_t set)
{
	uint32_t n;

	if (!set)
		return NO_THREAD;
	n = sim_random(s, THREADS);
	while (!(set >> n & 1))
		n = (n + 1) % THREADS;
	return n;
}

/*
 * Switch from the running thread to another runnable one.  With a @state the running thread sleeps
 * from then on, so the CPU goes idle if there is no other; without, it is preempted, and runs on if
 * there is none.  A thread that slept in a system call returns from it as soon as it runs again.
 */
static void leave_cpu(struct sim *s, struct cpu *c, unsigned int cpu, uint32_t state)
{
	uint64_t others = c->ready;
	uint32_t next;

	if (c->running != NO_THREAD)
		others &= ~(1ULL << c->running);
	if (state)
		c->ready = others;
	next = choose_thread(s, others);
	if (next == NO_THREAD && !state)
		return;
	push(c, KTAPE_EV_SCHED_SWITCH, PRIOS | state, 2,
	     tid_of(cpu, c->running), tid_of(cpu, next));
	c->running = next;
	if (next == NO_THREAD || !(c->calling >> next & 1))
		return;
	push(c, KTAPE_EV_SYS_EXIT, c->call[next], 2, sim_random(s, 4096), 0);
	c->calling &= ~(1ULL << next);
}

static void wake_thread(struct sim *s, struct cpu *c, unsigned int cpu)
{
	uint32_t thread = choose_thread(s, ~c->ready);

	if (thread == NO_THREAD)
		return;
	push(c, KTAPE_EV_SCHED_WAKING, 20 | cpu << 8, 1, tid_of(cpu, thread), 0);
	push(c, KTAPE_EV_SCHED_WAKEUP, 20 | cpu << 8, 1, tid_of(cpu, thread), 0);
	c->ready |= 1ULL << thread;
}

static void simulate_interrupt(struct sim *s, struct cpu *c, unsigned int cpu)
{
	bool net = sim_random(s, 2);
	uint32_t irq = net ? IRQ_NET : IRQ_DISK;

	push(c, KTAPE_EV_IRQ_HANDLER_ENTRY, irq, 0, 0, 0);
	if (net)
		push(c, KTAPE_EV_SOFTIRQ_RAISE, SOFTIRQ_NET, 0, 0, 0);
	else
		wake_thread(s, c, cpu);
	push(c, KTAPE_EV_IRQ_HANDLER_EXIT, irq, 0, 0, 0);
	if (!net)
		return;
	push(c, KTAPE_EV_SOFTIRQ_ENTRY, SOFTIRQ_NET, 0, 0, 0);
	wake_thread(s, c, cpu);
	push(c, KTAPE_EV_SOFTIRQ_EXIT, SOFTIRQ_NET, 0, 0, 0);
}

static void simulate_tick(struct cpu *c)
{
	push(c, KTAPE_EV_LOCAL_TIMER_ENTRY, VECTOR_TIMER, 0, 0, 0);
	push(c, KTAPE_EV_SOFTIRQ_RAISE, SOFTIRQ_TIMER, 0, 0, 0);
	push(c, KTAPE_EV_LOCAL_TIMER_EXIT, VECTOR_TIMER, 0, 0, 0);
	push(c, KTAPE_EV_SOFTIRQ_ENTRY, SOFTIRQ_TIMER, 0, 0, 0);
	push(c, KTAPE_EV_SOFTIRQ_EXIT, SOFTIRQ_TIMER, 0, 0, 0);
}

/* Decide what the CPU does next. */
static void plan(struct sim *s, struct cpu *c, unsigned int cpu)
{
	uint32_t way = sim_random(s, 16), call = sim_random(s, 12);

	c->at = c->nr = 0;
	if (way == 0) {
		simulate_tick(c);
	} else if (way == 1 || c->running == NO_THREAD) {
		simulate_interrupt(s, c, cpu);
		if (c->running == NO_THREAD)
			leave_cpu(s, c, cpu, 0);
	} else if (way < 4) {
		wake_thread(s, c, cpu);
	} else if (way < 6) {
		leave_cpu(s, c, cpu, 0);
	} else if (way < 9) {
		c->calling |= 1ULL << c->running;
		c->call[c->running] = call;
		push(c, KTAPE_EV_SYS_ENTER, call, 0, 0, 0);
		leave_cpu(s, c, cpu, STATE_S);
	} else {
		push(c, KTAPE_EV_SYS_ENTER, call, 0, 0, 0);
		push(c, KTAPE_EV_SYS_EXIT, call, 2, sim_random(s, 4096), 0);
	}
}

static uint64_t gap; /* GAP */

/* Count the packets of an event ring: each GAP-th one is missing. */
static bool is_missing(unsigned int ring)
{
	static uint64_t packets[SIM_RINGS];

	return gap && ring % 2 == KTAPE_RING_EVENT && !(++packets[ring] % gap);
}

/* Write the closed packets, so that they do not stay in memory. */
static void write_closed_packets(struct sim *s, struct ktape_ctf *ctf)
{
	for (unsigned int i = 0; i < SIM_RINGS; i++) {
		struct sim_ring *r = &s->ring[i];

		for (unsigned int j = 0; j < r->nr; j++) {
			if (!is_missing(i) &&
			    ktape_ctf_append(ctf, r->packets[j].data,
					     r->packets[j].len))
				err(1, "cannot write the trace");
			free(r->packets[j].data);
			r->packets[j].data = NULL;
		}
		if (r->open && r->nr) {
			r->packets[0] = r->packets[r->nr];
			r->packets[r->nr].data = NULL;
		}
		r->nr = 0;
	}
	/* The simulator's list of what it has written, which only unit tests compare. */
	s->nr_truth = 0;
}

static void add_object_name(struct ktape_builder *b, unsigned int type,
			    uint32_t id, const char *name)
{
	const uint32_t args[7] = { id, type == KTAPE_OBJ_THREAD ? id : 0 };
	const struct ktape_record rec = {
		.opcode = KTAPE_EV_REGISTRY,
		.dat20 = type,
		.args = args,
		.nargs = 7,
		.blob = name,
		.blob_size = (uint32_t)strlen(name),
	};

	if (ktape_build_add(b, &rec))
		abort();
}

/* Write the names of all threads and interrupts. */
static void write_names(const struct ktape_info *info, struct ktape_ctf *ctf)
{
	static const char *const kinds[] = { "db", "web", "worker", "log" };
	static unsigned char data[TRACE_PACKET];
	struct ktape_block head = { .kind = KTAPE_RING_REGISTRY,
				    .seq = 1,
				    .context = KTAPE_CTX_CONTINUED };
	struct ktape_builder b;
	char name[32];

	memcpy(head.uuid, info->uuid, sizeof(head.uuid));
	ktape_build_begin(&b, data, sizeof(data), &head);
	for (uint32_t i = 0; i < SIM_CPUS * THREADS; i++) {
		snprintf(name, sizeof(name), "%s-%u", kinds[i % 4], i);
		add_object_name(&b, KTAPE_OBJ_THREAD, FIRST_TID + i, name);
		snprintf(name, sizeof(name), "/%s.service", kinds[i % 4]);
		add_object_name(&b, KTAPE_OBJ_TASK_CGROUP, FIRST_TID + i, name);
	}
	add_object_name(&b, KTAPE_OBJ_THREAD, 0, "swapper");
	add_object_name(&b, KTAPE_OBJ_IRQ, IRQ_DISK, "disk");
	add_object_name(&b, KTAPE_OBJ_IRQ, IRQ_NET, "net");
	if (ktape_ctf_append(ctf, data, ktape_build_end(&b, 0, 0)))
		err(1, "cannot write the trace");
}

static struct ktape_ctf *create_long_trace(const struct ktape_info *info,
					   const char *dir)
{
	struct ktape_ctf *ctf;
	size_t size;
	char *text;
	int ret;

	if (ktape_metadata_format(info, &text, &size))
		abort();
	ret = ktape_ctf_create(dir, KTAPE_CTF_FORCE, text, size, &ctf);
	if (ret)
		errx(1, "%s: %s", dir, strerror(-ret));
	free(text);
	return ctf;
}

/*
 * Take the arguments from HOST on: the host into @info, GAP into the variable.  *@slow: SLOW, or
 * UINT32_MAX, which no call has.  Return: the seed.
 */
static uint32_t take_host(int argc, char **argv, struct ktape_info *info,
			  uint32_t *slow)
{
	const uint32_t seed = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 1;

	*slow = UINT32_MAX;
	if (argc > 6 && strtoul(argv[6], NULL, 10))
		*slow = (uint32_t)strtoul(argv[6], NULL, 10);
	if (argc > 7)
		gap = strtoull(argv[7], NULL, 10);
	if (argc < 6)
		return seed;
	snprintf(info->hostname, sizeof(info->hostname), "%s", argv[3]);
	info->offset_s = strtoll(argv[4], NULL, 10);
	info->real_offset_ns = info->offset_s * 1000000000;
	return seed;
}

int main(int argc, char **argv)
{
	static struct cpu cpus[SIM_CPUS];
	struct ktape_info info = trace_info;
	struct ktape_ctf *ctf;
	uint64_t events;
	uint32_t slow;
	struct sim *s;

	if (argc < 3 || argc == 4 || argc == 5)
		errx(2, "usage: make_long DIR EVENTS [HOST BEGIN SEED [SLOW [GAP]]]");
	s = sim_new(take_host(argc, argv, &info, &slow));
	events = strtoull(argv[2], NULL, 10);
	ctf = create_long_trace(&info, argv[1]);
	write_names(&info, ctf);
	for (unsigned int i = 0; i < ARRAY_SIZE(more_events); i++)
		s->mask[more_events[i] / 64] |= 1ULL << (more_events[i] % 64);
	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++) {
		cpus[cpu].running = NO_THREAD;
		s->tid[cpu] = 0;
	}
	sim_start(s);
	while (events--) {
		unsigned int cpu = sim_random(s, SIM_CPUS);
		struct cpu *c = &cpus[cpu];
		const struct step *next;

		while (c->at == c->nr)
			plan(s, c, cpu);
		next = &c->steps[c->at++];
		if (next->opcode == KTAPE_EV_SYS_EXIT && next->dat20 == slow)
			s->now += SLOW_NS;
		sim_event(s, cpu, next->opcode, next->dat20, next->words,
			  next->a, next->b);
		if (next->opcode == KTAPE_EV_SCHED_SWITCH)
			s->tid[cpu] = (int32_t)next->b;
		s->now += sim_random(s, EVERY_NS * 2);
		if (s->nr_truth == SIM_TRUTH / 2)
			write_closed_packets(s, ctf);
	}
	sim_stop(s);
	sim_finish(s);
	write_closed_packets(s, ctf);
	if (ktape_ctf_close(ctf))
		err(1, "cannot write the trace");
	sim_free(s);
	return 0;
}
