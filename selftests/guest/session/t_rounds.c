// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that traces are right under load: sessions are started, stopped, cleared, filtered
 * and rotated at random moments, CPUs go offline and come online, and there is several
 * times more runnable work than CPUs. Nothing is damaged, so `ktape verify` must find
 * nothing, no answer about an absent event may be wrong, what the threads have logged must
 * have been recorded, and the counts must be those of an independent module, kt_count.
 *
 * The sessions under test are WRAPPED and KEPT (small and large rings that overwrite), DRAINED
 * (read all the time), LOGGED (by `ktape record -l`), and COUNTED, whose counts are compared.
 * What really happened is known from the reference: two more sessions, @first and @last, which
 * record all that time and lose nothing (kt_rounds.h). Names in kta_ are about questions and
 * their answers, names in ktc_ about counts.
 *
 * KTAPE_ROUNDS	rounds with each load; without it the test is skipped
 * KTAPE_LOADS	loads: runnable tasks for each CPU (default "1 2 4 8")
 * KTAPE_SEED	seed of the first round; each round prints its own
 */
#include <dirent.h>
#include <sys/resource.h>

#include "kselftest_harness.h"

#include "kt_busy.h"
#include "kt_hostile.h"
#include "kt_module.h"
#include "kt_rounds.h"

#define REFERENCE (8 << 20) /* bytes of a ring of the reference */
#define EVENTS_MAX \
	(640 << 10)	 /* bytes in all event rings of it that end a round */
#define STEPS	      40 /* in a round, on average */
#define LEAST	      10 /* steps even if there are many events */
#define PAUSE_US      12000 /* at most, before each step */
#define FIRST	      -20   /* nice value of the thread that takes the steps */
#define PLUGS	      4	    /* at most: times that a CPU goes and comes */
#define QUESTIONS     6	    /* per trace that is asked */
#define ASKED	      10    /* traces that are asked, on average */
#define NEXT_SEED     0x9e3779b97f4a7c15 /* 2^64 / golden ratio */
#define EXTRA	      20 /* rounds at most until there is an answer of each kind */
#define KEPT_FAILURES 4 /* rounds whose traces are kept for inspection */

/**
 * struct result - what the checks of a round or of several have found
 * @sum: answers
 * @events: events of the reference
 * @actions: actions of the threads
 * @missing: actions that are not in the reference
 * @traces: traces that were checked
 * @counted: events that the independent module has counted at least
 * @uncertain: events around the starts and stops
 * @miscounted: counts of a CPU and class that are wrong
 * @errors: steps that failed
 */
struct result {
	struct kta_sum sum;
	uint32_t actions, missing, traces, miscounted, errors;
	uint64_t events, counted, uncertain;
};

/* ---- CPUs that go offline and come online ------------------------------------- */

/* A thread that takes random CPUs offline and online. */
struct plugger {
	pthread_t thread;
	struct round *r;
	uint64_t seed;
	bool stop;
	int offline; /* the CPU that is offline, or 0 */
	int err;
};

/* Take a CPU offline or online. Threads that log see from an odd r->plugs that it is going on. */
static void set_cpu_of_round(struct plugger *p, int cpu, bool on)
{
	int err;

	__atomic_add_fetch(&p->r->plugs, 1, __ATOMIC_SEQ_CST);
	err = kt_set_online(cpu, on);
	__atomic_add_fetch(&p->r->plugs, 1, __ATOMIC_SEQ_CST);
	p->err = p->err ?: err;
	p->offline = on ? 0 : cpu;
}

static void *plugger_main(void *arg)
{
	struct plugger *p = arg;

	for (int i = lcg_below(&p->seed, PLUGS); i >= 0 && !p->err; i--) {
		if (!p->offline)
			set_cpu_of_round(
				p, 1 + lcg_below(&p->seed, p->r->ref.cpus - 1),
				false);
		usleep(lcg_below(&p->seed, PAUSE_US));
		set_cpu_of_round(p, p->offline, true);
		usleep(lcg_below(&p->seed, PAUSE_US));
		if (__atomic_load_n(&p->stop, __ATOMIC_RELAXED))
			break;
	}
	return NULL;
}

/* ---- the beginning ------------------------------------------------------------ */

static void create_target(struct round *r, enum which which)
{
	struct target *t = &r->t[which];
	struct ktape_create c = { .mode = targets[which].mode,
				  .ring_size = targets[which].ring,
				  .control_size = targets[which].control,
				  .block_size = 4096 };

	round_must(r, targets[which].name,
		   ktape_device_create(r->dev, &c, &t->device));
	if (!t->device)
		return;
	t->fd = ktape_device_fd(t->device);
	round_must(r, "profile",
		   kt_profile_only(t->fd, which == COUNTED ? ktc_ops : kta_ops));
}

/* Start `ktape record -l`, and attach to its session once that records. */
static void create_log(struct round *r)
{
	struct ktape_session_info info[8];
	int fd = ktape_device_fd(r->dev), nr = kt_list_sessions(fd, info), now;

	r->log = fork();
	if (!r->log) {
		dup2(open("logged.err", O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
		execlp("ktape", "ktape", "record", "-l", "logged/", "--rotate",
		       "256K", "-b", "64K", "-B", "4K", "-e",
		       "mark_value,exception,sys_enter,sched_switch,process_fork,signal_deliver",
		       NULL);
		_exit(127);
	}
	for (;;) {
		now = kt_list_sessions(fd, info);
		if (now > nr && info[now - 1].flags & KTAPE_SESSION_RUNNING)
			break;
		if (waitpid(r->log, NULL, WNOHANG)) {
			r->log = 0;
			round_must(r, "ktape record -l", -ECHILD);
			return;
		}
		usleep(1000);
	}
	r->t[LOGGED].fd = kt_attach_id(fd, info[now - 1].id);
	r->t[LOGGED].runs = true;
	round_must(r, "attach", r->t[LOGGED].fd);
}

static void attach_recorder(struct round *r, struct target *t)
{
	const struct ktape_recorder_options how = {
		.dir = add_round_trace(r, t, false),
		.flags = KTAPE_RECORD_PIECES | KTAPE_RECORD_NO_URING,
	};

	round_must(r, "consumer", ktape_device_consumer(t->device, true));
	round_must(r, "recorder", ktape_recorder_open(t->device, &how, &t->rec));
}

/*
 * Create the sessions first: beside many busy tasks that takes so long that the reference
 * would be full before the first step.
 */
static void begin_round(struct round *r, struct kt_busy *busy, int tasks)
{
	round_must(r, "device", ktape_device_open(NULL, true, &r->dev));
	if (!r->ref.errors && !kt_clock_setup(ktape_device_fd(r->dev)))
		round_must(r, "the clock", -EOPNOTSUPP);
	if (r->ref.errors)
		return;
	r->first = kt_session_for_threads(REFERENCE, REFERENCE, kta_ops);
	round_must(r, "first", r->first);
	/* The log records as soon as its session is there. */
	round_must(r, "start", kt_control(r->first, KTAPE_IOC_START));
	r->before = kt_now();
	for (int i = 0; i < LOGGED; i++)
		create_target(r, i);
	create_log(r);
	r->last = kt_session_for_threads(REFERENCE, REFERENCE, kta_ops);
	round_must(r, "last", r->last);
	/* A CPU writes an event to its sessions in this order: first and last enclose the others. */
	for (int i = 0; i < TARGETS && !r->ref.errors; i++)
		if (kt_layout_session(r->t[i].fd) < kt_layout_session(r->first) ||
		    kt_layout_session(r->t[i].fd) > kt_layout_session(r->last))
			round_must(r, "their numbers", -ERANGE);
	if (r->ref.errors)
		return;
	attach_recorder(r, &r->t[DRAINED]);
	round_must(r, "start", kt_control(r->last, KTAPE_IOC_START));
	for (int i = 0; i < LOGGED; i++)
		start_target(r, &r->t[i]);
	round_must(r, "busy", kt_busy_start(busy, tasks * r->ref.cpus));
	r->ref.begin = kt_now();
	round_must(r, "work",
		   kta_start_work(r->worker, r->ref.cpus, &r->ref.seed, &r->plugs));
	for (int i = 0; i < r->ref.cpus; i++)
		while (!__atomic_load_n(&r->worker[i].tid, __ATOMIC_ACQUIRE))
			usleep(1000);
}

/* ---- the middle ----------------------------------------------------------------- */

/*
 * Return true if there are enough events. The reference must hold all of them, and each
 * question looks at all of it.
 */
static bool has_enough_events(struct round *r)
{
	struct ktape_stats st;
	uint64_t all = 0;

	for (int cpu = 0; cpu < r->ref.cpus; cpu++)
		if (!kt_stats(r->first, cpu, KTAPE_RING_EVENT, &st))
			all += st.commit;
	return all > EVENTS_MAX;
}

/*
 * This thread comes before the busy ones, so that steps are taken while they record. The
 * threads whose actions are logged, and `ktape record`, have to wait.
 */
static void run_round_steps(struct round *r)
{
	int steps = STEPS / 2 + draw(r, STEPS);

	round_must(r, "priority",
		   setpriority(PRIO_PROCESS, gettid(), FIRST) ? -errno : 0);
	for (int i = 0;
	     i < steps && !r->ref.errors && (i < LEAST || !has_enough_events(r));
	     i++) {
		usleep(draw(r, PAUSE_US));
		take_random_step(r);
		round_must(r, "step", ktape_recorder_step(r->t[DRAINED].rec));
	}
}

/* ---- the end -------------------------------------------------------------------- */

/* End `ktape record -l`: by a signal, or by stopping its session. */
static void end_log(struct round *r)
{
	bool stop = draw(r, 2);
	int status;

	if (stop)
		round_must(r, "stop", kt_control(r->t[LOGGED].fd, KTAPE_IOC_STOP));
	else
		kill(r->log, SIGTERM);
	if (waitpid(r->log, &status, 0) == r->log && !status)
		return;
	round_must(r, "ktape record -l", -EPROTO);
	if (system("sed 's/^/# /' logged.err"))
		round_must(r, "logged.err", -EIO);
}

/* The pieces of the log are traces like the others. */
static void find_pieces(struct round *r)
{
	DIR *dir = opendir("logged");
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		struct kta_trace *to = &r->trace[r->nr_traces];

		if (e->d_name[0] == '.' || r->nr_traces == TRACES)
			continue;
		if ((size_t)snprintf(to->path, sizeof(to->path), "logged/%s",
				     e->d_name) >= sizeof(to->path))
			continue;
		to->way = LOGGED;
		to->gaps = &r->t[LOGGED].gaps;
		r->nr_traces++;
	}
	if (dir)
		closedir(dir);
}

static bool is_session_whole(struct round *r, int fd)
{
	struct ktape_stats st;

	for (int cpu = 0; cpu < r->ref.cpus; cpu++)
		for (uint32_t kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++)
			if (kt_stats(fd, cpu, kind, &st) || kt_lost(&st) || st.tail)
				return false;
	return true;
}

static void end_round(struct round *r)
{
	kta_end_work(r->worker, r->ref.cpus);
	r->ref.end = kt_now();
	end_log(r);
	for (int i = 0; i < LOGGED; i++)
		if (r->t[i].runs)
			stop_target(r, &r->t[i]);
	round_must(r, "stop", kt_control(r->last, KTAPE_IOC_STOP));
	round_must(r, "stop", kt_control(r->first, KTAPE_IOC_STOP));
	round_must(r, "priority",
		   setpriority(PRIO_PROCESS, gettid(), 0) ? -errno : 0);
	round_must(r, "recorder", ktape_recorder_finish(r->t[DRAINED].rec));
	save_new_trace(r, &r->t[WRAPPED], false);
	save_new_trace(r, &r->t[KEPT], is_session_whole(r, r->t[KEPT].fd));
	save_new_trace(r, &r->t[COUNTED], is_session_whole(r, r->t[COUNTED].fd));
	find_pieces(r);
}

static void remove_round(struct round *r)
{
	for (int i = 0; i < r->nr_traces; i++)
		ktape_piece_remove(r->trace[i].path);
	for (int i = 0; i < LOGGED; i++) {
		ktape_recorder_close(r->t[i].rec);
		ktape_device_close(r->t[i].device);
	}
	close(r->t[LOGGED].fd);
	close(r->first);
	close(r->last);
	ktape_device_close(r->dev);
	free(r->ref.truth.v);
	free(r);
}

/* ---- the checks ------------------------------------------------------------------ */

/* Session 0 was recording before the round, and has all kinds of events. */
static void check_session_0(struct round *r, struct result *to)
{
	struct kta_trace t = { .path = "session-0", .way = TARGETS };
	int findings = 0;

	if (!save_target_rings(r, r->dev, t.path))
		return;
	round_must(r, t.path, kta_ask(&r->ref, &t, NULL, &findings, NULL));
	to->sum.damaged += findings != 0;
	to->traces++;
	ktape_piece_remove(t.path);
}

/* Verify each trace, and ask about some; COUNTED has other events than the reference. */
static void check_traces(struct round *r, struct result *to)
{
	for (int i = 0; i < r->nr_traces; i++) {
		struct kta_trace *t = &r->trace[i];
		int findings = 0;

		to->traces++;
		if (t->way != COUNTED && draw(r, r->nr_traces) < ASKED) {
			round_must(r, t->path, kta_span_of(&r->ref, t));
			round_must(r, t->path,
				   kta_ask_questions(&to->sum, &r->ref, t,
						     QUESTIONS));
			continue;
		}
		round_must(r, t->path, kta_ask(&r->ref, t, NULL, &findings, NULL));
		to->sum.damaged += findings != 0;
	}
}

static void check_round(struct round *r, struct result *to)
{
	if (kta_truth(&r->ref.truth, r->first, r->last, r->before))
		round_must(r, "the two sessions of the reference differ, or have losses",
			   -EPROTO);
	for (int i = 0; i < r->ref.cpus; i++) {
		to->actions += r->worker[i].nr;
		to->missing += kta_missing(&r->ref.truth, &r->worker[i]);
	}
	to->events = r->ref.truth.nr;
	to->counted = ktc_sum(&r->counter.least);
	to->uncertain = ktc_sum(&r->counter.most) - to->counted;
	to->miscounted = ktc_wrong(&r->counter, r->t[COUNTED].fd, r->ref.cpus);
	if (to->events)
		check_traces(r, to);
	else
		round_must(r, "events", -ENODATA);
	check_session_0(r, to);
	to->errors = r->ref.errors;
}

static bool is_good(const struct result *r)
{
	return !r->errors && !r->missing && !r->miscounted && !r->sum.damaged &&
	       !r->sum.wrong_proved && !r->sum.wrong_found && !r->sum.missed;
}

static void print_round_result(const struct round *r, const struct result *to,
			       uint64_t seed, int tasks)
{
	const uint32_t *n = to->sum.answers;

	printf("# KTAPE_LOADS=%d KTAPE_SEED=%#llx:", tasks,
	       (unsigned long long)seed);
	for (unsigned int i = 0; i < OPS; i++)
		printf(" %u %s,", r->ops[i], ops[i].name);
	printf(" %u plugged; %llu events, %u of %u actions missing; %llu counted + %llu, %u wrong; %u traces, %u with findings; %u questions: %u PROVED (%u wrong), %u FOUND (%u wrong), %u NOT-ENABLED, %u FILTERED, %u LOST; of %u absent %u PROVED, %u not found: %s\n",
	       r->plugs / 2, (unsigned long long)to->events, to->missing,
	       to->actions, (unsigned long long)to->counted,
	       (unsigned long long)to->uncertain, to->miscounted, to->traces,
	       to->sum.damaged, to->sum.asked, n[KTAPE_ABSENT_PROVED],
	       to->sum.wrong_proved, n[KTAPE_ABSENT_FOUND], to->sum.wrong_found,
	       n[KTAPE_ABSENT_NOT_ENABLED], n[KTAPE_ABSENT_FILTERED],
	       n[KTAPE_ABSENT_LOST], to->sum.absent, to->sum.proved,
	       to->sum.missed, is_good(to) ? "good" : "BAD");
}

/* Leave the traces for inspection on the host. */
static void keep_failure(uint64_t seed)
{
	static int kept;
	char command[100];

	if (kept++ == KEPT_FAILURES)
		return;
	snprintf(command, sizeof(command), "cp -r . /out/rounds-%#llx",
		 (unsigned long long)seed);
	if (system(command))
		printf("# the traces cannot be copied to /out\n");
}

static void play_round(struct round *r, struct kt_busy *busy, int tasks)
{
	struct plugger p = { .r = r, .seed = r->ref.seed + 1 };
	bool plugs = r->ref.cpus > 1 && draw(r, 4) &&
		     !access("/sys/devices/system/cpu/cpu1/online", W_OK);

	kt_expedite(draw(r, 2));
	/* A CPU that comes online for the first time gets its rings then. */
	if (plugs && !draw(r, 4))
		set_cpu_of_round(&p, 1 + draw(r, r->ref.cpus - 1), false);
	begin_round(r, busy, tasks);
	if (r->ref.errors) {
		if (p.offline)
			set_cpu_of_round(&p, p.offline, true);
		if (r->log > 0 && !kill(r->log, SIGKILL))
			waitpid(r->log, NULL, 0);
		return;
	}
	if (plugs && pthread_create(&p.thread, NULL, plugger_main, &p))
		round_must(r, "thread", -EAGAIN);
	run_round_steps(r);
	if (plugs) {
		__atomic_store_n(&p.stop, true, __ATOMIC_RELAXED);
		pthread_join(p.thread, NULL);
		round_must(r, "hotplug", p.err);
	}
	end_round(r);
}

/* Return true if nothing is wrong. */
static bool run_round(uint64_t seed, int tasks, struct result *to)
{
	struct round *r = calloc(1, sizeof(*r));
	static struct kt_busy busy;

	if (!r)
		abort();
	memset(to, 0, sizeof(*to));
	r->first = -1;
	r->last = -1;
	r->t[LOGGED].fd = -1;
	r->ref.seed = seed;
	r->ref.cpus = kt_online_cpus() < KTA_CPUS ? kt_online_cpus() : KTA_CPUS;
	printf("# begins with KTAPE_LOADS=%d KTAPE_SEED=%#llx\n", tasks,
	       (unsigned long long)seed);
	fflush(stdout);
	play_round(r, &busy, tasks);
	kt_busy_stop(&busy);
	if (r->ref.errors)
		to->errors = r->ref.errors;
	else
		check_round(r, to);
	print_round_result(r, to, seed, tasks);
	if (!is_good(to))
		keep_failure(seed);
	remove_round(r);
	return is_good(to);
}

/* Add what the end prints. struct kta_sum has only counts, of 32 bits each. */
static void add_round_result(struct result *all, const struct result *one)
{
	for (size_t i = 0; i < sizeof(all->sum) / sizeof(uint32_t); i++)
		((uint32_t *)&all->sum)[i] += ((const uint32_t *)&one->sum)[i];
	all->actions += one->actions;
	all->traces += one->traces;
	all->events += one->events;
	all->counted += one->counted;
	all->uncertain += one->uncertain;
}

static bool lacks_results(const struct result *all)
{
	return !all->sum.answers[KTAPE_ABSENT_PROVED] ||
	       !all->sum.answers[KTAPE_ABSENT_FOUND] || !all->counted;
}

FIXTURE(rounds)
{
	struct result all;
};

FIXTURE_SETUP(rounds)
{
	memset(&self->all, 0, sizeof(self->all));
	kt_rmmod("kt_count");
	ASSERT_EQ(0, kt_insmod("/tests/kt_count.ko", ""));
}

FIXTURE_TEARDOWN(rounds)
{
	kt_expedite(false);
	kt_rmmod("kt_count");
}

TEST_F_TIMEOUT(rounds, nothing_is_wrong, 1000000)
{
	const char *rounds = getenv("KTAPE_ROUNDS"), *loads = getenv("KTAPE_LOADS");
	int nr = rounds ? atoi(rounds) : 1, good = 0, played = 0, tasks = 1;
	struct result *all = &self->all, one;
	uint64_t seed = kt_seed();
	char *end;

	/* The steps are random: only make check-rounds runs them, and prints the seed. */
	if (!rounds)
		SKIP(return, "make check-rounds runs it");
	for (loads = loads ?: "1 2 4 8"; *loads; loads = *end ? end + 1 : end) {
		tasks = strtol(loads, &end, 10);
		ASSERT_LT(0, tasks);
		for (int i = 0; i < nr; i++, seed += NEXT_SEED) {
			good += run_round(seed, tasks, &one);
			played++;
			add_round_result(all, &one);
		}
	}
	/* Without answers there is nothing to be wrong. */
	for (int i = 0; i < EXTRA && lacks_results(all); i++, seed += NEXT_SEED) {
		good += run_round(seed, tasks, &one);
		played++;
		add_round_result(all, &one);
	}
	printf("# %d of %d rounds good: %llu events, %u actions logged, %llu counted independently, %u traces, %u questions, %u PROVED, %u FOUND\n",
	       good, played, (unsigned long long)all->events, all->actions,
	       (unsigned long long)all->counted, all->traces, all->sum.asked,
	       all->sum.answers[KTAPE_ABSENT_PROVED],
	       all->sum.answers[KTAPE_ABSENT_FOUND]);
	EXPECT_EQ(played, good);
	EXPECT_FALSE(lacks_results(all));
}

TEST_HARNESS_MAIN
