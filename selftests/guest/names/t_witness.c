// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare a trace with a process that knows what it did: results of its system
 * calls, its children, the turns of two of its threads, their names. The trace
 * must agree with each of them one for one, and each event's thread must follow
 * from the trace.
 */
#include <limits.h>
#include <linux/sched.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_ledger.h"
#include "kt_load.h"

#define CPUS_MAX 16
#define CALLS	 1000
#define FORKS	 100
#define TURNS	 1000
#define LOG_MAX	 20000

/**
 * struct entry - a record
 * @op: opcode
 * @nr: its 20-bit data: of a system call the number
 * @tid: the thread that was on the CPU
 * @other: the next thread, of a switch; the child, of a fork
 * @tgid: process of the child, of a fork
 * @value: result of a system call, or status of an exit
 * @ts: its time
 */
struct entry {
	uint32_t op, nr;
	int32_t tid, other, tgid;
	int64_t value;
	uint64_t ts;
};

/* A registry record of a thread: @ts is the time of the record, @died 0 while it lives. */
struct name {
	int32_t tid;
	uint64_t ts, born, died;
	char name[16];
};

/**
 * struct trace - contents of the trace
 * @tid: thread on each CPU by headers and switches
 * @self: thread of the test
 * @known: @tid is known, by CPU
 * @calls: keep the results of system calls of all threads
 * @lies: headers or switches that contradict the thread known before
 * @nr: entries of @log
 * @nr_names: entries of @names
 * @log: records of the thread of the test; switches and exits of all threads
 * @names: registry records, with those of the whole registry at the beginning of the stream
 */
struct trace {
	int32_t tid[CPUS_MAX], self;
	bool known[CPUS_MAX], calls;
	int lies, nr, nr_names;
	struct entry log[LOG_MAX];
	struct name names[LOG_MAX];
};

/*
 * A packet's head has the thread at its first record, which has to be the one that the last switch
 * went to. A packet that continues a block has the head of that block.
 */
static void take_packet_tid(const struct ktape_block *b, void *arg)
{
	struct trace *t = ((struct kt_ledger *)arg)->arg;

	if (b->kind != KTAPE_RING_EVENT || b->cpu >= CPUS_MAX ||
	    b->context == KTAPE_CTX_CONTINUED)
		return;
	t->lies += t->known[b->cpu] && t->tid[b->cpu] != b->tid;
	t->tid[b->cpu] = b->tid;
	t->known[b->cpu] = true;
}

static void take_registry_name(struct trace *t, const struct kt_rec *r)
{
	struct name *n = &t->names[t->nr_names];

	if (t->nr_names == LOG_MAX)
		return;
	t->nr_names++;
	n->tid = r->args[0];
	n->ts = r->ts;
	n->born = r->args[3] | (uint64_t)r->args[4] << 32;
	n->died = r->args[5] | (uint64_t)r->args[6] << 32;
	memcpy(n->name, r->blob, r->size < 15 ? r->size : 15);
}

static void log_witness_record(const struct ktape_block *b,
			       const struct kt_rec *r, void *arg)
{
	struct trace *t = arg;
	struct entry *e = &t->log[t->nr];

	if (r->op == KTAPE_EV_REGISTRY)
		take_registry_name(t, r);
	if (b->kind != KTAPE_RING_EVENT || b->cpu >= CPUS_MAX ||
	    t->nr == LOG_MAX || r->op == KTAPE_TIME_EXTEND)
		return;
	*e = (struct entry){
		.op = r->op, .nr = r->dat20, .ts = r->ts, .tid = t->tid[b->cpu]
	};
	switch (r->op) {
	case KTAPE_EV_SYS_EXIT:
		e->value = r->args[0] | (uint64_t)r->args[1] << 32;
		break;
	case KTAPE_EV_SCHED_SWITCH:
		t->lies += (int32_t)r->args[0] != t->tid[b->cpu];
		t->tid[b->cpu] = r->args[1];
		e->other = r->args[1];
		break;
	case KTAPE_EV_PROCESS_FORK:
		e->other = r->args[1];
		e->tgid = r->args[2];
		break;
	case KTAPE_EV_PROCESS_EXIT:
		e->value = r->args[2];
		break;
	}
	t->nr += e->tid == t->self || e->op == KTAPE_EV_SCHED_SWITCH ||
		 e->op == KTAPE_EV_PROCESS_EXIT ||
		 (t->calls && e->op == KTAPE_EV_SYS_EXIT);
}

FIXTURE(witness)
{
	int fd, cpu;
	struct kt_ledger *l;
	struct kt_buf b;
	struct trace *t;
};

FIXTURE_SETUP(witness)
{
	self->cpu = kt_online_cpus() - 1;
	ASSERT_LT(self->cpu, CPUS_MAX);
	self->t = calloc(1, sizeof(*self->t));
	self->l = kt_ledger_new();
	self->l->next = log_witness_record;
	self->l->arg = self->t;
	self->l->t.packet = take_packet_tid;
	self->t->self = syscall(SYS_gettid);
	ASSERT_EQ(0, kt_pin(self->cpu));
}

FIXTURE_TEARDOWN(witness)
{
	close(self->fd);
	kt_buf_free(&self->b);
	free(self->l);
	free(self->t);
}

static int start_witness(FIXTURE_DATA(witness) * self, const unsigned char *ops)
{
	self->fd = kt_session(KTAPE_MODE_DISCARD, 8 << 20, 16384, ops);
	return self->fd < 0 ? self->fd : kt_control(self->fd, KTAPE_IOC_START);
}

/* Stop the session and read it to the end; nothing may be missing. */
static int finish_witness(FIXTURE_DATA(witness) * self)
{
	if (kt_control(self->fd, KTAPE_IOC_STOP) ||
	    kt_read_and_parse_all(&self->l->t, &self->b, self->fd) ||
	    kt_ledger_check(self->l, self->fd, kt_online_cpus()))
		return -1;
	/* START writes a KTAPE_EV_TRACER. */
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++)
		if (!self->l->tracers[cpu])
			return -1;
	return self->l->t.error[0] ? -1 : 0;
}

/* Return the next record of the opcode by thread @tid, from @at on; NULL: none. */
static const struct entry *next_log_entry(const struct trace *t, int *at,
					  uint32_t op, int32_t tid)
{
	while (*at < t->nr) {
		const struct entry *e = &t->log[(*at)++];

		if (e->op == op && e->tid == tid)
			return e;
	}
	return NULL;
}

/* Compare numbers and results of system calls; each enter is before its exit. */
TEST_F_TIMEOUT(witness, system_calls, 1200)
{
	static struct {
		uint32_t nr;
		int64_t ret;
	} did[2 * CALLS];
	const struct entry *e;
	int file, at = 0, begin = -1, n = 0;

	file = memfd_create("witness", 0);
	ASSERT_GE(file, 0);
	ASSERT_EQ(0, start_witness(self, KT_OPS(KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT,
						KTAPE_EV_SCHED_SWITCH)));
	for (int i = 0; i < CALLS; i++) {
		did[n].nr = SYS_getppid;
		did[n++].ret = syscall(SYS_getppid);
		did[n].nr = SYS_lseek;
		/* -22, and offsets of more than 32 bits. */
		did[n].ret = syscall(SYS_lseek, file,
				     i % 10 == 9 ? -1L : i * 0x40000001L, SEEK_SET);
		did[n].ret = did[n].ret < 0 ? -errno : did[n].ret;
		n++;
	}
	ASSERT_EQ(0, finish_witness(self))
	{
		TH_LOG("%s", self->l->t.error);
	}
	EXPECT_EQ(0, self->t->lies);
	/* Begin at the first getppid: before it is the exit of the ioctl. */
	for (int i = 0; i < self->t->nr && begin < 0; i++)
		if (self->t->log[i].op == KTAPE_EV_SYS_ENTER &&
		    self->t->log[i].nr == SYS_getppid &&
		    self->t->log[i].tid == self->t->self)
			begin = i;
	ASSERT_LE(0, begin);
	at = begin;
	for (int i = 0; i < n; i++) {
		e = next_log_entry(self->t, &at, KTAPE_EV_SYS_ENTER, self->t->self);
		ASSERT_NE(NULL, e);
		ASSERT_EQ(did[i].nr, e->nr);
		e = next_log_entry(self->t, &at, KTAPE_EV_SYS_EXIT, self->t->self);
		ASSERT_NE(NULL, e);
		ASSERT_EQ(did[i].nr, e->nr);
		ASSERT_EQ(did[i].ret, e->value);
	}
	close(file);
}

/* Children in order, each with its exit and its status. */
TEST_F_TIMEOUT(witness, forks_and_exits, 1200)
{
	pid_t pid[FORKS];
	const struct entry *e;
	int at = 0, ended;

	ASSERT_EQ(0, start_witness(self, KT_OPS(KTAPE_EV_PROCESS_FORK,
						KTAPE_EV_PROCESS_EXIT,
						KTAPE_EV_SCHED_SWITCH)));
	for (int i = 0; i < FORKS; i++) {
		pid[i] = fork();
		ASSERT_GE(pid[i], 0);
		if (!pid[i]) {
			if (i % 10 == 9)
				raise(SIGKILL);
			_exit(i);
		}
		if (i % 2)
			waitpid(pid[i], NULL, 0);
	}
	while (wait(NULL) > 0)
		;
	ASSERT_EQ(0, finish_witness(self))
	{
		TH_LOG("%s", self->l->t.error);
	}
	EXPECT_EQ(0, self->t->lies);
	for (int i = 0; i < FORKS; i++) {
		e = next_log_entry(self->t, &at, KTAPE_EV_PROCESS_FORK,
				   self->t->self);
		ASSERT_NE(NULL, e);
		EXPECT_EQ(pid[i], e->other);
		EXPECT_EQ(pid[i], e->tgid);
		EXPECT_EQ(0, e->nr); /* not a thread of this process */
		ended = 0;
		e = next_log_entry(self->t, &ended, KTAPE_EV_PROCESS_EXIT, pid[i]);
		ASSERT_NE(NULL, e);
		EXPECT_EQ(i % 10 == 9 ? SIGKILL : i << 8, e->value);
	}
	EXPECT_EQ(NULL, next_log_entry(self->t, &at, KTAPE_EV_PROCESS_FORK,
				       self->t->self));
}

/* A thread that gets a ball by pipe @in and passes it on by @out; @fifo: it is SCHED_FIFO. */
struct player {
	pthread_t thread;
	int in, out, cpu;
	int32_t tid;
	bool fifo;
};

/*
 * The threads have one SCHED_FIFO priority: they switch only when one of them
 * waits.
 */
static void *player_main(void *arg)
{
	struct sched_param prio = { .sched_priority = 10 };
	struct player *p = arg;
	char ball;

	kt_pin(p->cpu);
	p->tid = syscall(SYS_gettid);
	p->fifo = !sched_setscheduler(0, SCHED_FIFO, &prio);
	for (int i = 0; i < TURNS; i++)
		if (read(p->in, &ball, 1) != 1 || write(p->out, &ball, 1) != 1)
			return p;
	return NULL;
}

/*
 * Pass a ball a thousand times there and back: on that CPU the two threads
 * alternate. Other threads may run between, but no player plays twice in a row.
 */
TEST_F_TIMEOUT(witness, ping_pong, 1200)
{
	int ab[2], ba[2], turns = 0, played = 0, twice = 0, at = 0;
	struct player p[2];
	int32_t last = 0;
	void *ret;

	ASSERT_EQ(0, pipe(ab));
	ASSERT_EQ(0, pipe(ba));
	p[0] = (struct player){ .in = ba[0], .out = ab[1], .cpu = self->cpu };
	p[1] = (struct player){ .in = ab[0], .out = ba[1], .cpu = self->cpu };
	/* Watch from another CPU. */
	kt_pin(0);
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&p[i].thread, NULL, player_main, &p[i]));
	usleep(200000 * kt_scale());
	self->t->calls = true;
	ASSERT_EQ(0, start_witness(self, KT_OPS(KTAPE_EV_SCHED_SWITCH,
						KTAPE_EV_SYS_EXIT)));
	ASSERT_EQ(1, write(ba[1], "o", 1));
	for (int i = 0; i < 2; i++) {
		pthread_join(p[i].thread, &ret);
		EXPECT_EQ(NULL, ret);
		ASSERT_TRUE(p[i].fifo);
	}
	ASSERT_EQ(0, finish_witness(self))
	{
		TH_LOG("%s", self->l->t.error);
	}
	EXPECT_EQ(0, self->t->lies);
	for (; at < self->t->nr; at++) {
		const struct entry *e = &self->t->log[at];

		if (e->op == KTAPE_EV_SYS_EXIT && e->nr == SYS_read &&
		    e->tid == p[1].tid)
			played = turns;
		if (e->op != KTAPE_EV_SCHED_SWITCH ||
		    (e->other != p[0].tid && e->other != p[1].tid))
			continue;
		/* It runs again after a third thread; its turn is not over. */
		twice += e->other == last;
		turns += e->other != last;
		last = e->other;
	}
	/*
	 * The second player gets the last ball in the last turn.  How they take turns
	 * while they end depends on the scheduler.
	 */
	EXPECT_EQ(2 * TURNS, played);
	TH_LOG("%d turns, %d times back after another thread", turns, twice);
}

/* Return the name of a thread at a time by the trace. */
static const char *thread_name_at(const struct trace *t, int32_t tid, uint64_t ts)
{
	const struct name *best = NULL;

	for (int i = 0; i < t->nr_names; i++) {
		const struct name *n = &t->names[i];

		if (n->tid == tid && n->ts <= ts && !n->died &&
		    (!best || n->ts >= best->ts))
			best = n;
	}
	return best ? best->name : "";
}

struct named {
	int32_t tid;
	const char *name;
};

/* Create a child with this pid, which sets a name and exits. */
static int child_called(const struct named *who)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uintptr_t)&who->tid,
				   .set_tid_size = 1 };
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0)
		return -errno;
	if (!pid) {
		syscall(SYS_getppid);
		prctl(PR_SET_NAME, who->name);
		syscall(SYS_getppid);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return pid == who->tid ? 0 : -1;
}

/*
 * Count the live or dead entries of a thread with this name in the mapped
 * registry.
 */
static int entries(int fd, int32_t tid, const char *name, bool dead)
{
	struct ktape_layout_entry e;
	struct ktape_object_entry *o;
	int n = 0;

	if (kt_region(fd, -1, KTAPE_RING_REGISTRY, &e))
		return -1;
	o = mmap(NULL, e.data_size, PROT_READ, MAP_SHARED, fd, e.offset);
	if (o == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < e.data_size / sizeof(*o); i++)
		n += o[i].type == KTAPE_OBJ_THREAD && (int32_t)o[i].id == tid &&
		     !strcmp(o[i].name, name) && !o[i].died != dead &&
		     !(o[i].seq & 1);
	munmap(o, e.data_size);
	return n;
}

/* The same pid twice, with different names; and a name that changes. */
TEST_F_TIMEOUT(witness, names, 1200)
{
	struct named who[2] = { { 31000, "first-of-it" },
				{ 31000, "second-of-it" } };
	int32_t tid = self->t->self;
	const struct entry *e;
	int at = 0;

	ASSERT_EQ(0, start_witness(self, KT_OPS(KTAPE_EV_PROCESS_FORK,
						KTAPE_EV_PROCESS_EXIT,
						KTAPE_EV_PROCESS_RENAME,
						KTAPE_EV_SCHED_SWITCH)));
	prctl(PR_SET_NAME, "witness-one");
	EXPECT_EQ(1, entries(self->fd, tid, "witness-one", false));
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, child_called(&who[i]));
	prctl(PR_SET_NAME, "0123456789abcdefgh");
	EXPECT_EQ(0, entries(self->fd, tid, "witness-one", false));
	EXPECT_EQ(1, entries(self->fd, tid, "0123456789abcde", false));
	EXPECT_EQ(1, entries(self->fd, 31000, "first-of-it", true));
	EXPECT_EQ(1, entries(self->fd, 31000, "second-of-it", true));
	ASSERT_EQ(0, finish_witness(self))
	{
		TH_LOG("%s", self->l->t.error);
	}
	EXPECT_EQ(0, self->t->lies);
	for (int i = 0; i < 2; i++) {
		e = next_log_entry(self->t, &at, KTAPE_EV_PROCESS_FORK, tid);
		ASSERT_NE(NULL, e);
		EXPECT_EQ(31000, e->other);
		EXPECT_STREQ("witness-one", thread_name_at(self->t, 31000, e->ts));
		e = next_log_entry(self->t, &at, KTAPE_EV_PROCESS_EXIT, 31000);
		ASSERT_NE(NULL, e);
		EXPECT_STREQ(who[i].name, thread_name_at(self->t, 31000, e->ts));
		EXPECT_STREQ("witness-one", thread_name_at(self->t, tid, e->ts));
	}
	EXPECT_STREQ("0123456789abcde", thread_name_at(self->t, tid, UINT64_MAX));
}

TEST_HARNESS_MAIN
