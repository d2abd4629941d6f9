// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare checking in windows, by one thread and by several, with checking one event after
 * the other: findings with all their members, in their order, counts and verdicts have to
 * be the same, whatever is lost, filtered, wrong or damaged.
 *
 * A window is a span of time.  The events that each CPU has in it are checked on a copy of the
 * checker's state, by any thread; what breaks a rule ends the window, and is checked one by one.
 */
#define SIM_CPUS     3U
#define SIM_THREADS  5
#define TRACE_PACKET 8192

#include "lib_sim_work.h"

#include "verify/internal.h"
#include "verify/window.h"

#define SCENES	 60U
#define ROUNDS	 60U
#define TIDS	 (SIM_CPUS * SIM_THREADS)
#define FINDINGS 4096U
#define CHANCE	 700U /* a step in so many does something special */

/**
 * struct scene - a simulated machine on which threads change CPUs
 * @s: the session
 * @on: CPU of each thread, SIM_CPUS = none
 * @calling: number of the call of each thread, + 1; 0 = none
 * @nest: running handlers of each CPU
 * @next_tid: a thread id that was not used yet
 * @wild: a choice in so many breaks a rule, 0 = none does
 * @slow: much happens between the markers of a start or stop
 */
struct scene {
	struct sim *s;
	unsigned int on[TIDS];
	unsigned int calling[TIDS];
	unsigned int nest[SIM_CPUS];
	uint32_t next_tid;
	unsigned int wild;
	bool slow;
};

/* What a check has found. */
struct result {
	int opened;
	int ended;
	unsigned int nr;
	struct ktape_finding finding[FINDINGS];
	uint64_t errors[KTAPE_RULES];
	uint64_t notes[KTAPE_RULES];
	struct ktape_verify_cpu cpu[SIM_CPUS];
	struct kt_switch last[SIM_CPUS]; /* of the decoder: last switch of each CPU */
	unsigned int verdict[SIM_CPUS + 1];
	uint64_t records;
	uint64_t passed; /* records that were checked in windows */
};

/* Of the check of one event after the other, and of the one that is compared with it. */
static struct result plain, other;
static uint64_t all_records, all_passed, all_findings, all_notes, proved;

static void verify_window_finding(void *arg, const struct ktape_finding *f)
{
	struct result *r = arg;

	if (r->nr < FINDINGS) {
		/* The bytes behind the text are not set. */
		r->finding[r->nr] = *f;
		memset(r->finding[r->nr].text + strlen(f->text), 0,
		       sizeof(f->text) - strlen(f->text));
	}
	r->nr++;
}

/* Check a trace by @jobs threads, in windows; 0: one event after the other. */
static void verify_window(const char *path, const struct ktape_absence *q,
			  unsigned int jobs, struct result *r)
{
	const struct ktape_verify_options how = {
		.finding = verify_window_finding, .arg = r, .jobs = jobs
	};
	struct ktape_verify_cpu cpu = { .cpu = 0 };
	struct ktape_error error;
	struct ktape_verify *v;

	memset(r, 0, sizeof(*r));
	r->opened = ktape_verify_open(path, &how, &v, &error);
	if (r->opened)
		return;
	v->one_by_one = !jobs;
	if (q && ktape_verify_ask(v, q)) {
		r->opened = -EINVAL; /* the event table is damaged */
		ktape_verify_close(v);
		return;
	}
	r->ended = ktape_verify_run(v);
	for (unsigned int i = 0; i < KTAPE_RULES; i++)
		r->errors[i] = ktape_verify_count(v, i, &r->notes[i]);
	for (; ktape_verify_next_cpu(v, &cpu); cpu.cpu++)
		if (cpu.cpu < SIM_CPUS)
			r->cpu[cpu.cpu] = cpu;
	for (unsigned int i = 0; q && i <= SIM_CPUS; i++)
		r->verdict[i] =
			ktape_verify_verdict(v, i < SIM_CPUS ? (int)i : -1, NULL);
	/* A call stack that comes next is that of the thread that left last. */
	memcpy(r->last, v->trace->decoder->last, sizeof(r->last));
	r->records = v->records;
	r->passed = v->windows ? v->windows->passed : 0;
	ktape_verify_close(v);
}

static void compare_results(const char *what)
{
	for (unsigned int i = 0; i < plain.nr && i < FINDINGS; i++)
		check(i < other.nr && !memcmp(&plain.finding[i], &other.finding[i],
					      sizeof(plain.finding[i])),
		      "%s: finding %u of %u is not the same: \"%s\" (cpu %u ring %u packet %llu), instead \"%s\" (cpu %u ring %u packet %llu)",
		      what, i, plain.nr, plain.finding[i].text,
		      plain.finding[i].cpu, plain.finding[i].ring,
		      (unsigned long long)plain.finding[i].packet,
		      i < other.nr ? other.finding[i].text : "",
		      other.finding[i].cpu, other.finding[i].ring,
		      (unsigned long long)other.finding[i].packet);
	check(plain.nr == other.nr, "%s: %u findings instead of %u: \"%s\"",
	      what, other.nr, plain.nr,
	      plain.nr < other.nr && plain.nr < FINDINGS ?
		      other.finding[plain.nr].text :
		      "");
	/* Only this differs on purpose. */
	other.passed = plain.passed;
	check(!memcmp(&plain, &other, sizeof(plain)),
	      "%s: %d, %llu records instead of %d, %llu; or counts, or verdicts",
	      what, other.ended, (unsigned long long)other.records, plain.ended,
	      (unsigned long long)plain.records);
}

/* Check a trace in each way, and compare. */
static void check_window_ways(const char *path, const struct ktape_absence *q)
{
	verify_window(path, q, 0, &plain);
	verify_window(path, q, 1, &other);
	all_records += other.records;
	all_passed += other.passed;
	all_findings += plain.nr;
	for (unsigned int i = 0; i < KTAPE_RULES; i++)
		all_notes += plain.notes[i];
	proved += q && plain.verdict[SIM_CPUS] == KTAPE_ABSENT_PROVED;
	compare_results("one thread");
	verify_window(path, q, 3, &other);
	compare_results("threads");
}

/* ---- what happens ----------------------------------------------------------- */

static unsigned int thread_on(const struct scene *m, unsigned int cpu)
{
	for (unsigned int i = 0; i < TIDS; i++)
		if (m->on[i] == cpu)
			return i;
	return TIDS;
}

static bool is_wild(struct scene *m)
{
	return m->wild && !sim_random(m->s, m->wild);
}

/* Give a thread a name, by a record in the event ring. */
static void name_scene_thread(struct scene *m, unsigned int cpu, uint32_t tid)
{
	const uint32_t args[7] = { tid, tid };
	const struct ktape_record rec = {
		.opcode = KTAPE_EV_REGISTRY,
		.dat20 = KTAPE_OBJ_THREAD,
		.args = args,
		.nargs = 7,
		.blob = "new",
		.blob_size = 3,
	};

	if (!m->s->running)
		return;
	m->s->ring[cpu * 2].emitted[KTAPE_CLASS_CONTROL]++;
	sim_write(m->s, cpu, KTAPE_RING_EVENT, &rec);
}

static void let_run(struct scene *m, unsigned int cpu)
{
	unsigned int prev = thread_on(m, cpu), next = sim_random(m->s, TIDS);
	struct sim *s = m->s;
	int32_t from = s->tid[cpu];

	if (m->on[next] < SIM_CPUS || m->nest[cpu])
		return;
	if (is_wild(m))
		from++;
	sim_event(s, cpu, KTAPE_EV_SCHED_SWITCH,
		  is_wild(m) ? KTAPE_STATE_X << 16 : 0, 2, (uint32_t)from,
		  100 + next);
	s->tid[cpu] = 100 + (int32_t)next;
	if (prev < TIDS)
		m->on[prev] = SIM_CPUS;
	m->on[next] = cpu;
}

/* The thread of a CPU begins a system call, or ends the one that it is in. */
static void scene_call(struct scene *m, unsigned int cpu)
{
	/* exit (60) and execve (59) need no end; 0xffff stands for a number beyond 16 bits. */
	static const unsigned int numbers[] = { 0, 1, 60, 202, 0xffff, 59 };
	unsigned int i = thread_on(m, cpu), nr;
	/* Bit 16: by the 32-bit table, and with an argument; its end has neither. */
	bool compat = !sim_random(m->s, 40);

	if (i == TIDS)
		return;
	nr = m->calling[i] ? m->calling[i] - 1 :
			     numbers[sim_random(m->s, ARRAY_SIZE(numbers))];
	if (is_wild(m))
		nr++;
	if (is_wild(m))
		m->calling[i] = !m->calling[i];
	if (m->calling[i])
		sim_event(m->s, cpu, KTAPE_EV_SYS_EXIT, nr, 2, 0, 0);
	else
		sim_event(m->s, cpu, KTAPE_EV_SYS_ENTER,
			  nr | (compat ? 1U << 16 : 0), compat, nr, 0);
	m->calling[i] = m->calling[i] ? 0 : nr + 1;
}

static void scene_interrupt(struct scene *m, unsigned int cpu)
{
	bool ends = m->nest[cpu] && sim_random(m->s, 3);
	unsigned int irq = m->nest[cpu] - ends + (is_wild(m) ? 7 : 20);

	if (!ends && m->nest[cpu] == 4)
		return;
	sim_event(m->s, cpu,
		  ends ? KTAPE_EV_IRQ_HANDLER_EXIT : KTAPE_EV_IRQ_HANDLER_ENTRY,
		  irq, 0, 0, 0);
	m->nest[cpu] += ends ? -1U : 1U;
}

/* Threads begin and end, and functions are called. */
static void refer(struct scene *m, unsigned int cpu)
{
	struct sim *s = m->s;

	switch (sim_random(s, 12)) {
	case 0:
		sim_event(s, cpu, KTAPE_EV_PROCESS_FORK, 0, 3, 100, m->next_tid);
		if (sim_random(s, 8))
			name_scene_thread(m, cpu, m->next_tid);
		m->next_tid += 1 + sim_random(s, 2);
		break;
	case 1:
		sim_event(s, cpu, KTAPE_EV_PROCESS_EXIT, 0, 3,
			  m->next_tid - sim_random(s, 4), 100);
		break;
	case 2:
		sim_event(s, cpu, KTAPE_EV_PROCESS_FREE, 0, 2,
			  100 + sim_random(s, TIDS), 100);
		break;
	case 3:
		/* Now and then the record has not the form of the event. */
		sim_event(s, cpu, KTAPE_EV_TASKLET_ENTRY, 0,
			  sim_random(s, 50) ? 2 : 1, 0x77,
			  0x1000 + sim_random(s, 400));
		break;
	default:
		sim_event(s, cpu, KTAPE_EV_SCHED_WAKING, 0, 1,
			  100 + sim_random(s, TIDS + (is_wild(m) ? 50 : 0)), 0);
		break;
	}
}

/* Let something happen on a CPU.  Return: the CPU. */
static unsigned int scene_step(struct scene *m)
{
	unsigned int cpu = sim_random(m->s, SIM_CPUS);

	switch (sim_random(m->s, 10)) {
	case 0:
	case 1:
		let_run(m, cpu);
		break;
	case 2:
	case 3:
		scene_interrupt(m, cpu);
		break;
	case 4:
		refer(m, cpu);
		break;
	default:
		scene_call(m, cpu);
		break;
	}
	return cpu;
}

/* The markers of a start or stop come one after the other. */
static void mark_slowly(struct scene *m, unsigned int phase, const uint64_t *mask)
{
	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++) {
		sim_profile_on(m->s, cpu, phase, mask);
		for (unsigned int i = sim_random(m->s, 300); i > 0; i--)
			scene_step(m);
	}
}

/* Like sim_stop() and sim_start(), but with other events between the markers of the CPUs. */
static void start_again(struct scene *m)
{
	static const uint64_t nothing[KTAPE_MASK_WORDS];
	struct sim *s = m->s;

	mark_slowly(m, KTAPE_PHASE_OFF, nothing);
	sim_stop(s);
	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++)
		sim_ledger(s, cpu, 1);
	s->running = true;
	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++) {
		sim_context(s, cpu);
		sim_phase(s, cpu, KTAPE_PHASE_ON);
	}
	for (unsigned int kind = 0; kind < KTAPE_FILTER_KINDS; kind++)
		if (s->filter >> kind & 1)
			sim_filter(s, kind, true);
	mark_slowly(m, KTAPE_PHASE_ON, s->mask);
}

/* Change what is recorded, lost or filtered; or let time pass. */
static void scene_change(struct scene *m, unsigned int cpu)
{
	struct sim *s = m->s;

	switch (sim_random(s, 10)) {
	case 0:
		s->losing[cpu] ^= 1U << KTAPE_CLASS_IRQ;
		break;
	case 1:
		s->losing[cpu] ^= ~1U;
		break;
	case 2:
		sim_filter(s, KTAPE_FILTER_PID,
			   !(s->filter >> KTAPE_FILTER_PID & 1));
		break;
	case 3:
		sim_change(s, KTAPE_EV_SYS_EXIT, sim_random(s, 2));
		break;
	case 4:
		sim_change(s, KTAPE_EV_SCHED_SWITCH, sim_random(s, 2));
		break;
	case 5:
		if (m->slow) {
			start_again(m);
			break;
		}
		sim_stop(s);
		sim_start(s);
		break;
	case 6:
		s->now += 1ULL << 32;
		break;
	case 7:
		sim_sync(s, cpu, !is_wild(m));
		break;
	default:
		memset(s->losing, 0, sizeof(s->losing));
		break;
	}
}

static struct sim *play_random_scene(uint64_t seed)
{
	static const unsigned int more[] = {
		KTAPE_EV_SCHED_WAKING,	KTAPE_EV_PROCESS_FORK,
		KTAPE_EV_PROCESS_EXIT,	KTAPE_EV_PROCESS_FREE,
		KTAPE_EV_TASKLET_ENTRY,
	};
	struct scene m = { .s = sim_new(seed), .next_tid = 1000, .slow = seed > SCENES };
	struct sim *s = m.s;

	for (unsigned int i = 0; i < ARRAY_SIZE(more); i++)
		s->mask[more[i] / 64] |= 1ULL << (more[i] % 64);
	for (unsigned int i = 0; i < TIDS; i++)
		m.on[i] = i % SIM_THREADS ? SIM_CPUS : i / SIM_THREADS;
	s->mode = seed % 2 ? KTAPE_MODE_DISCARD : KTAPE_MODE_OVERWRITE;
	m.wild = seed % 4 == 1 ? 100 : seed % 4 == 2 ? 3000 : 0;
	sim_start(s);
	for (unsigned int i = 0; i < ROUNDS * 150; i++) {
		unsigned int cpu = scene_step(&m);

		if (seed % 3 && !sim_random(s, CHANCE))
			scene_change(&m, cpu);
	}
	if (seed % 5)
		sim_stop(s);
	sim_finish(s);
	return s;
}

/* ---- damage ------------------------------------------------------------------- */

/* Change a word of a packet in memory, and its checksum with it. */
static void change_word(struct sim *s)
{
	struct sim_ring *r = &s->ring[sim_random(s, SIM_RINGS)];
	struct sim_packet *p = &r->packets[sim_random(s, r->nr)];
	uint64_t *word = (void *)p->data;
	size_t at = KTAPE_BLOCK_HEADER / 8;

	if (p->len <= KTAPE_BLOCK_HEADER)
		return;
	at += sim_random(s, (uint32_t)(p->len - KTAPE_BLOCK_HEADER) / 8);
	word[at] ^= 1ULL << sim_random(s, 64);
	ktape_packet_seal(p->data);
}

#define HEADS 7U /* ways to change a header */

/* Change times, losses, the thread or the CPU in the header of a packet. */
static void change_head(struct sim *s, unsigned int ring, unsigned int way)
{
	struct sim_ring *r = &s->ring[ring];
	struct ktape_block *h = (void *)r->packets[sim_random(s, r->nr)].data;

	switch (way) {
	case 0:
		h->ts_begin += sim_random(s, 2) ? 100 : -100ULL;
		break;
	case 1:
		h->ts_end -= 3000;
		break;
	case 2:
		h->ts_end += 3000;
		break;
	case 3:
		h->discarded += 5;
		break;
	case 4:
		h->emitted += sim_random(s, 40);
		break;
	case 5:
		h->tid++;
		break;
	default:
		h->cpu ^= 1;
		break;
	}
	ktape_packet_seal(h);
}

static void damage_packets(struct sim *s)
{
	unsigned int ring = sim_random(s, SIM_RINGS);

	switch (sim_random(s, 6)) {
	case 0:
		if (s->ring[ring].nr > 2)
			sim_remove(s, ring, sim_random(s, s->ring[ring].nr));
		break;
	case 1:
		if (s->ring[ring].nr > 2)
			sim_swap(s, ring, sim_random(s, s->ring[ring].nr - 1));
		break;
	case 2:
		sim_take(s, ring, KTAPE_EV_SCHED_SWITCH, 0, 0);
		break;
	case 3:
		sim_come_late(s);
		break;
	case 4:
		change_word(s);
		break;
	default:
		change_head(s, ring, sim_random(s, HEADS));
		break;
	}
}

/* Damage bytes of a file, or cut its end off. */
static void damage_file(struct sim *s, const char *path)
{
	struct stat st;

	if (stat(path, &st) || !st.st_size)
		return;
	for (unsigned int i = sim_random(s, 4); i > 0; i--)
		trace_flip(path, sim_random(s, (uint32_t)st.st_size),
			   (unsigned char)(1 << sim_random(s, 8)));
	if (!sim_random(s, 4) && truncate(path, sim_random(s, (uint32_t)st.st_size)))
		abort();
}

/* The recording ended before the last records of a control ring were read. */
static void end_early(struct sim *s, struct sim_ring *r)
{
	struct sim_packet *at = &r->packets[r->nr - 1];
	struct ktape_block *h = (void *)at->data;
	unsigned int n = 1 + sim_random(s, 200);
	struct ktape_event e;
	struct ktape_packet p;

	if (ktape_packet_open(&p, at->data, at->len, NULL, NULL))
		abort();
	while (n && ktape_packet_next(&p, &e, NULL) > 0)
		n--;
	if (n)
		return;
	at->len = e.offset + e.size;
	h->ts_end = e.ts;
	h->content_bits = h->packet_bits = at->len * 8;
	h->flags |= KTAPE_BLOCK_OPEN;
	ktape_packet_seal(h);
}

/* ---- the tests ------------------------------------------------------------------ */

/*
 * Check a scene as a folder and as a file.  Bits of @damage: packets (1), the files (2), control
 * rings that end early (4).
 */
static void check_scene(uint64_t seed, unsigned int damage)
{
	struct sim *s = play_random_scene(seed);
	const char *dir = trace_folder();
	char path[300];
	struct ktape_absence q = {
		.opcode = seed % 2 ? KTAPE_EV_SIGNAL_DELIVER :
				     KTAPE_EV_IRQ_HANDLER_ENTRY,
		.from = 1000000 /* as sim_new() sets it */ + sim_random(s, 50000),
	};

	q.to = q.from + 20000;
	for (unsigned int i = damage & 1 ? 1 + sim_random(s, 3) : 0; i > 0; i--)
		damage_packets(s);
	for (unsigned int i = 0; damage & 4 && i < SIM_CPUS; i++)
		if (sim_random(s, 2))
			end_early(s, &s->ring[2 * i + 1]);
	/* In some scenes a thread has no name. */
	sim_save(s, dir, (unsigned int)(seed % 7 == 3));
	if (damage & 2) {
		snprintf(path, sizeof(path), "%s/%s%u", dir,
			 sim_random(s, 4) ? "cpu" : "control",
			 sim_random(s, SIM_CPUS));
		damage_file(s, path);
	}
	check_window_ways(dir, seed % 2 ? &q : NULL);
	snprintf(path, sizeof(path), "%s/pipe", dir);
	sim_save_pipe(s, path);
	if (damage & 2)
		damage_file(s, path);
	check_window_ways(path, seed % 2 ? NULL : &q);
	trace_remove(dir);
	sim_free(s);
}

static void check_scenes(unsigned int damage, uint64_t from, unsigned int nr)
{
	all_records = all_passed = all_findings = all_notes = proved = 0;
	for (uint64_t seed = from; seed < from + nr && !tap_why[0]; seed++) {
		check_scene(seed, damage);
		if (tap_why[0])
			printf("# seed %llu\n", (unsigned long long)seed);
	}
	printf("# %llu of %llu records in windows, %llu findings, %llu of them notes, %llu absences proved\n",
	       (unsigned long long)all_passed, (unsigned long long)all_records,
	       (unsigned long long)all_findings, (unsigned long long)all_notes,
	       (unsigned long long)proved);
}

static void test_window_scenes(void)
{
	check_scenes(0, 1, SCENES);
	check(all_passed > all_records / 5, "few records were in windows");
	check(all_findings > all_notes + 100, "few findings");
	check(proved > 4, "few absences were proved");
}

static void test_damaged_packets(void)
{
	check_scenes(1, 1, SCENES);
	check(all_passed > all_records / 8, "few records were in windows");
}

static void test_damaged_files(void)
{
	check_scenes(2, 1, SCENES);
	check(all_passed > all_records / 8, "few records were in windows");
}

static void test_damaged_both(void)
{
	check_scenes(3, 1, SCENES);
}

static void test_early(void)
{
	check_scenes(4, 1, SCENES / 4);
	check(all_passed, "no record was in a window");
}

/* CPU 0 breaks a rule where windows could be used, while the markers of CPU 1 end early. */
static void test_early_calls(void)
{
	struct sim *s = sim_new(5);
	const char *dir = trace_folder();
	unsigned int nr;

	sim_start(s);
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		sim_event(s, cpu, KTAPE_EV_SCHED_SWITCH, 0, 2,
			  (uint32_t)s->tid[cpu], (uint32_t)s->tid[cpu]);
	sim_close(s, &s->ring[3], sim_sum(s->ring[3].emitted), false);
	nr = s->ring[3].nr;
	for (unsigned int i = 0; i < 3000; i++) {
		sim_event(s, 0, KTAPE_EV_SYS_ENTER, 1, 0, 0, 0);
		sim_event(s, 1, KTAPE_EV_SIGNAL_DELIVER, 1, 1, 1, 2);
		sim_event(s, 0, KTAPE_EV_SIGNAL_DELIVER, 1, 1, 1, 2);
		/* Most calls lack their end. */
		if (i % 100 == 50)
			sim_event(s, 0, KTAPE_EV_SYS_EXIT, 1, 2, 0, 0);
		/* Without markers, it could be the end of another thread's call. */
		if (i % 2)
			sim_event(s, 1,
				  i % 4 == 1 ? KTAPE_EV_SYS_ENTER : KTAPE_EV_SYS_EXIT,
				  1, i % 4 == 1 ? 0 : 2, 0, 0);
	}
	sim_finish(s);
	while (s->ring[3].nr > nr)
		sim_remove(s, 3, nr);
	sim_save(s, dir, 0);
	check_window_ways(dir, NULL);
	check(plain.errors[KTAPE_RULE_PAIR], "no call is wrong");
	trace_remove(dir);
	sim_free(s);
}

/* CPUs start and stop one after the other. */
static void test_slow(void)
{
	check_scenes(0, SCENES + 1, SCENES);
	check(all_passed > all_records / 5, "few records were in windows");
}

/* One header is changed in a trace that is in order otherwise. */
static void test_heads(void)
{
	for (unsigned int i = 0; i < HEADS * 8 && !tap_why[0]; i++) {
		struct sim *s = sim_new(i);
		const char *dir = trace_folder();

		sim_start(s);
		sim_work(s, 6000);
		sim_stop(s);
		sim_finish(s);
		change_head(s, sim_random(s, SIM_CPUS) * 2, i % HEADS);
		sim_save(s, dir, 0);
		check_window_ways(dir, NULL);
		check(i % HEADS != 1 || plain.errors[KTAPE_RULE_TIME],
		      "no record is later than its packet");
		trace_remove(dir);
		sim_free(s);
	}
}

/* Threads without a name: one runs to its last switch, the other one stays. */
static void test_window_nameless(void)
{
	struct sim *s = sim_new(1);
	const char *dir = trace_folder();

	sim_start(s);
	sim_work(s, 3000);
	for (uint32_t tid = 900; tid < 902; tid++) {
		uint32_t prev = (uint32_t)s->tid[0];

		sim_event(s, 0, KTAPE_EV_SCHED_SWITCH, 0, 2, prev, tid);
		sim_event(s, 0, KTAPE_EV_SIGNAL_DELIVER, 1, 3, 0, 0);
		sim_event(s, 0, KTAPE_EV_SCHED_SWITCH,
			  tid == 900 ? KTAPE_STATE_X << 16 : 0, 2, tid, prev);
		sim_work(s, 3000);
	}
	sim_stop(s);
	sim_finish(s);
	sim_save(s, dir, 0);
	check_window_ways(dir, NULL);
	check_equal(plain.notes[KTAPE_RULE_NAME], 1U);
	check_equal(plain.errors[KTAPE_RULE_NAME], 1U);
	trace_remove(dir);
	sim_free(s);
}

static const struct tap_test tests[] = {
	{ "the same findings in windows, for scenes that break rules",
	  test_window_scenes },
	{ "the same in windows, for damaged packets", test_damaged_packets },
	{ "the same in windows, for damaged files", test_damaged_files },
	{ "the same in windows, for both", test_damaged_both },
	{ "the same in windows, for control rings that end early", test_early },
	{ "the same in windows, for one of them beside a rule that is broken",
	  test_early_calls },
	{ "the same in windows, for slow starts and stops", test_slow },
	{ "the same in windows, for changed headers", test_heads },
	{ "the same in windows, for threads without a name", test_window_nameless },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
