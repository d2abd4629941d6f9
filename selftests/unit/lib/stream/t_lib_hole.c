// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that damage is a loss of unknown number: from the last good time of its CPU to its
 * next packet, or to the end of the trace, and that no event of its stream is in it.
 * Statistics and pages must not assume that the thread that ran before it still runs.
 */
#include "format/html/internal.h"
#include "lib_trace.h"

#define PACKETS	  4U
#define STEP	  1000U /* ns from one packet of a CPU to the next */
#define LOSSES	  8U
#define PIPE_ROOM (1 << 18) /* bytes, more than fill_pipe() writes */
#define EVENTS	  64U

static char dir[400];

struct loss {
	uint32_t cpu;
	uint64_t count, from, to;
};

struct read {
	struct loss losses[LOSSES];
	unsigned int nr;
	unsigned int holes; /* losses that do not go on from an earlier one */
	struct ktape_linux *stats;
	struct ktape_sink *sink;
	unsigned int pages;	    /* spans of losses in the page */
	uint64_t longest;	    /* duration of one of these */
	struct loss events[EVENTS]; /* @from = @to = the time */
	unsigned int nr_events;
	/* Of CPU 0 and 1, as in struct ktape_linux_cpu. */
	uint64_t run[2], unknown[2], gaps[2], uncounted[2];
};

/* Add a packet: from its begin on thread 10 + CPU runs.  Its end is 500 ns later. */
static void add_packet(const char *name, unsigned int kind, unsigned int cpu,
		       unsigned int seq, uint64_t ts)
{
	const uint32_t args[] = { 0, 10 + cpu };
	struct ktape_block head = {
		.kind = kind, .cpu = cpu, .seq = seq, .ts_begin = ts
	};
	unsigned char data[TRACE_PACKET] = { 0 };
	struct ktape_builder b;

	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	ktape_build_begin(&b, data, sizeof(data), &head);
	for (unsigned int i = 0; i < 5; i++) {
		const struct ktape_record record = {
			.ts = ts + i * 100,
			.args = args,
			.nargs = 2,
			.opcode = kind ? KTAPE_EV_MARK : KTAPE_EV_SCHED_SWITCH,
		};

		if (ktape_build_add(&b, &record))
			abort();
	}
	ktape_build_end(&b, ts + 500, 0);
	trace_fill(data, sizeof(data));
	trace_append(dir, name, data, sizeof(data));
}

/* CPU 0 and CPU 1 record from 1000 to 4500. */
static void make_hole_folder(void)
{
	trace_remove(dir);
	if (mkdir(dir, 0777))
		abort();
	trace_metadata(dir);
	for (unsigned int i = 0; i < PACKETS; i++) {
		add_packet("cpu0", 0, 0, i + 1, 1000 + i * STEP);
		add_packet("cpu1", 0, 1, i + 1, 1000 + i * STEP);
	}
}

static void cut_stream(const char *name, uint64_t size)
{
	char path[420];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (truncate(path, (off_t)size))
		abort();
}

static void flip_stream_bit(const char *name, uint64_t at)
{
	char path[420];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	trace_flip(path, at, 1);
}

static void take_loss_notice(void *arg, const struct ktape_notice *n)
{
	struct read *r = arg;

	if (n->kind != KTAPE_NOTICE_LOST)
		return;
	if (r->nr < LOSSES)
		r->losses[r->nr] = (struct loss){ n->cpu, n->count, n->from, n->to };
	r->nr++;
	r->holes += !n->continued;
	ktape_linux_notice(r->stats, n);
	ktape_sink_notice(r->sink, n);
}

static void count_page(struct read *r)
{
	const struct html *h = ((const struct kt_sink *)(const void *)r->sink)->state;

	for (size_t i = 0; i < h->level.nr; i++) {
		const struct html_span *s = &h->level.spans[i];

		if (s->kind != HTML_LOST)
			continue;
		r->pages++;
		if (s->dur > r->longest)
			r->longest = s->dur;
	}
}

static void keep_read_event(struct read *r, const struct ktape_event *e)
{
	if (e->kind != KTAPE_RING_EVENT)
		return;
	if (r->nr_events == EVENTS)
		abort();
	r->events[r->nr_events++] = (struct loss){ e->cpu, 1, e->ts, e->ts };
}

/* No event of a CPU is within one of its losses of unknown number. */
static void check_no_lost_events(const struct read *r)
{
	for (unsigned int i = 0; i < r->nr && i < LOSSES; i++) {
		const struct loss *l = &r->losses[i];

		for (unsigned int k = 0; k < r->nr_events; k++) {
			const struct loss *e = &r->events[k];

			check(e->cpu != l->cpu || l->count ||
				      e->from <= l->from || e->from >= l->to,
			      "the loss from %llu to %llu has an event at %llu",
			      (unsigned long long)l->from,
			      (unsigned long long)l->to,
			      (unsigned long long)e->from);
		}
	}
}

/* Read the folder, or @path, into statistics and a page. */
static void read_with_holes(struct read *r, const char *path)
{
	const struct ktape_trace_options how = { .notice = take_loss_notice,
						 .arg = r };
	struct ktape_sink_options page = { .format = "html", .info = &trace_info };
	struct ktape_registry *registry;
	const struct ktape_event *e;
	struct ktape_trace *t;
	char to[420];

	memset(r, 0, sizeof(*r));
	snprintf(to, sizeof(to), "%s.html", dir);
	page.path = to;
	if (ktape_registry_new(trace_info.freq, &registry) ||
	    ktape_linux_new(&trace_info, registry, &r->stats))
		abort();
	page.registry = registry;
	check_equal(ktape_sink_open(&page, &r->sink, NULL), 0);
	check_equal(ktape_trace_open(path ? path : dir, &how, &t, NULL), 0);
	while (ktape_trace_next(t, &e) > 0) {
		check_equal(ktape_linux_take(r->stats, e), 0);
		check_equal(ktape_sink_event(r->sink, e), 0);
		keep_read_event(r, e);
	}
	check_no_lost_events(r);
	/* The end is reported once. */
	check_equal(ktape_trace_next(t, &e), 0);
	check_equal(ktape_linux_finish(r->stats), 0);
	check_equal(ktape_sink_finish(r->sink), 0);
	count_page(r);
	for (unsigned int i = 0; i < 2; i++) {
		const struct ktape_linux_cpu *c = ktape_linux_cpu(r->stats, i);

		r->run[i] = c ? c->run : 0;
		r->unknown[i] = c ? c->unknown : 0;
		r->gaps[i] = c ? c->gaps : 0;
		r->uncounted[i] = c ? c->uncounted : 0;
	}
	ktape_trace_close(t);
	ktape_sink_close(r->sink);
	ktape_linux_free(r->stats);
	ktape_registry_free(registry);
}

/* The losses are parts of so many holes. */
static void check_parts(const struct read *r, const struct loss *want,
			unsigned int nr, unsigned int holes)
{
	check_equal(r->nr, nr);
	check_equal(r->holes, holes);
	check_equal(r->gaps[0] + r->gaps[1], holes);
	check_equal(r->uncounted[0] + r->uncounted[1], holes);
	check_equal(r->pages, holes);
	for (unsigned int i = 0; i < nr && i < r->nr; i++) {
		check_equal(r->losses[i].cpu, want[i].cpu);
		check_equal(r->losses[i].count, want[i].count);
		check_equal(r->losses[i].from, want[i].from);
		check_equal(r->losses[i].to, want[i].to);
	}
}

static void check_losses(const struct read *r, const struct loss *want,
			 unsigned int nr)
{
	check_parts(r, want, nr, nr);
}

static void whole_trace_has_no_hole(void)
{
	struct read r;

	make_hole_folder();
	read_with_holes(&r, NULL);
	check_losses(&r, NULL, 0);
	check_equal(r.run[0], 3400);
	check_equal(r.run[1], 3400);
}

/* The third packet of CPU 0 ends behind its second record. */
static void cut_file(void)
{
	static const struct loss want[] = { { 0, 0, 3100, 4400 } };
	struct read r;

	make_hole_folder();
	cut_stream("cpu0", 2 * TRACE_PACKET + KTAPE_BLOCK_HEADER + 2 * 16);
	read_with_holes(&r, NULL);
	check_losses(&r, want, ARRAY_SIZE(want));
	check_equal(r.run[0], 2100);
	check_equal(r.unknown[0], 1300);
	check_equal(r.run[1], 3400);
}

static void damaged_end(void)
{
	static const struct loss want[] = { { 0, 0, 3500, 4400 } };
	struct read r;

	make_hole_folder();
	flip_stream_bit("cpu0", 3 * TRACE_PACKET + KTAPE_BLOCK_HEADER);
	read_with_holes(&r, NULL);
	check_losses(&r, want, ARRAY_SIZE(want));
	check_equal(r.run[0], 2500);
	check_equal(r.unknown[0], 900);
}

/* A loss that sequence numbers show is reported only once. */
static void damaged_middle(void)
{
	static const struct loss want[] = { { 0, 0, 1500, 3000 } };
	struct read r;

	make_hole_folder();
	flip_stream_bit("cpu0", TRACE_PACKET + KTAPE_BLOCK_HEADER);
	read_with_holes(&r, NULL);
	check_losses(&r, want, ARRAY_SIZE(want));
}

/* A packet was not written: nothing is damaged. */
static void missing_middle(void)
{
	static const struct loss want[] = { { 0, 0, 1500, 3000 } };
	struct read r;

	make_hole_folder();
	cut_stream("cpu0", TRACE_PACKET);
	for (unsigned int i = 2; i < PACKETS; i++)
		add_packet("cpu0", 0, 0, i + 1, 1000 + i * STEP);
	read_with_holes(&r, NULL);
	check_equal(r.nr, ARRAY_SIZE(want));
	check_equal(r.losses[0].from, want[0].from);
	check_equal(r.losses[0].to, want[0].to);
}

static void damaged_begin(void)
{
	static const struct loss want[] = { { 0, 0, 1000, 2000 } };
	struct read r;

	make_hole_folder();
	flip_stream_bit("cpu0", KTAPE_BLOCK_HEADER);
	read_with_holes(&r, NULL);
	check_losses(&r, want, ARRAY_SIZE(want));
	check_equal(r.run[0], 2400);
	check_equal(r.unknown[0], 1000);
}

static void damaged_all(void)
{
	static const struct loss want[] = { { 0, 0, 1000, 4400 } };
	struct read r;

	make_hole_folder();
	for (unsigned int i = 0; i < PACKETS; i++)
		flip_stream_bit("cpu0", i * TRACE_PACKET + KTAPE_BLOCK_HEADER);
	read_with_holes(&r, NULL);
	check_losses(&r, want, ARRAY_SIZE(want));
	check_equal(r.run[0], 0);
}

/* Other rings of the CPU go on: between their events, too, nothing is known. */
static void cut_with_control(void)
{
	static const struct loss want[] = {
		{ 0, 0, 3100, 4000 }, { 0, 0, 4000, 4100 },
		{ 0, 0, 4100, 4200 }, { 0, 0, 4200, 4300 },
		{ 0, 0, 4300, 4400 },
	};
	struct read r;

	make_hole_folder();
	add_packet("control0", KTAPE_RING_CONTROL, 0, 1, 4000);
	cut_stream("cpu0", 2 * TRACE_PACKET + KTAPE_BLOCK_HEADER + 2 * 16);
	read_with_holes(&r, NULL);
	check_parts(&r, want, ARRAY_SIZE(want), 1);
	check_equal(r.run[0], 2100);
	check_equal(r.unknown[0], 1300);
}

/* The hole of the event ring goes on behind the begin of that of the control ring. */
static void cut_event_and_control(void)
{
	struct read r;

	make_hole_folder();
	add_packet("control0", KTAPE_RING_CONTROL, 0, 1, 4000);
	cut_stream("control0", KTAPE_BLOCK_HEADER + 3 * 16);
	cut_stream("cpu0", 2 * TRACE_PACKET + KTAPE_BLOCK_HEADER + 2 * 16);
	read_with_holes(&r, NULL);
	check_equal(r.holes, 2);
	check_equal(r.pages, 2);
	check_equal(r.longest, 4400 - 3100);
}

/*
 * Where a pipe form is cut, it ends for all CPUs: CPU 0, whose packet is cut, is unknown from its
 * last event to the last event of the trace, which is one of CPU 1.
 */
static void cut_pipe(void)
{
	static const struct loss want[] = { { 0, 0, 2100, 3400 } };
	unsigned char data[TRACE_PACKET];
	char path[420], part[420];
	struct read r;
	int fd, from;

	make_hole_folder();
	snprintf(path, sizeof(path), "%s.pipe", dir);
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_APPEND, 0666);
	trace_begin_pipe(fd);
	/* CPU 1 is written later than CPU 0. */
	for (unsigned int i = 0; i < 5; i++) {
		static const unsigned int cpus[] = { 0, 1, 1, 1, 0 };
		static const unsigned int nrs[] = { 0, 0, 1, 2, 1 };

		snprintf(part, sizeof(part), "%s/cpu%u", dir, cpus[i]);
		from = open(part, O_RDONLY);
		if (pread(from, data, sizeof(data),
			  (off_t)nrs[i] * TRACE_PACKET) != sizeof(data) ||
		    write(fd, data,
			  i == 4 ? KTAPE_BLOCK_HEADER + 2 * 16 : sizeof(data)) < 0)
			abort();
		close(from);
	}
	close(fd);
	read_with_holes(&r, path);
	check(r.nr >= 1, "no loss");
	for (unsigned int i = 0; i < r.nr; i++)
		if (!r.losses[i].cpu)
			check(r.losses[i].from == want[0].from &&
				      r.losses[i].to == want[0].to,
			      "from %llu to %llu",
			      (unsigned long long)r.losses[i].from,
			      (unsigned long long)r.losses[i].to);
	check_equal(r.run[0], 1100);
	unlink(path);
}

/* ---- packets without events, in a pipe --------------------------------------------- */

static uint64_t last_ts; /* of the last event */
/* Losses, each with the time of the last event before the notice and of the next one. */
static struct {
	uint64_t from, to, after, before;
} reported[LOSSES];
static unsigned int nr_reported;

static void tell_place(void *arg, const struct ktape_notice *n)
{
	(void)arg;
	if (n->kind != KTAPE_NOTICE_LOST || nr_reported == LOSSES)
		return;
	reported[nr_reported].from = n->from;
	reported[nr_reported].to = n->to;
	reported[nr_reported++].after = last_ts;
}

static void put_cpu_packet(int fd, uint32_t cpu, uint64_t seq, uint64_t ts,
			   uint64_t discarded, unsigned int records)
{
	const uint32_t args[] = { 0, 10 + cpu };
	struct ktape_block head = { .cpu = cpu, .seq = seq, .ts_begin = ts };
	unsigned char data[TRACE_PACKET] = { 0 };
	struct ktape_builder b;

	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	ktape_build_begin(&b, data, sizeof(data), &head);
	for (unsigned int i = 0; i < records; i++) {
		const struct ktape_record record = {
			.ts = ts + i * 100,
			.args = args,
			.nargs = 2,
			.opcode = KTAPE_EV_SCHED_SWITCH,
		};

		if (ktape_build_add(&b, &record))
			abort();
	}
	ktape_build_end(&b, ts + 500, discarded);
	trace_fill(data, sizeof(data));
	if (write(fd, data, sizeof(data)) != sizeof(data))
		abort();
}

/*
 * All packets are in the pipe before it is read.  CPU 1 has nothing but losses at first,
 * then an event, then only losses, long after CPU 0.
 */
static void fill_pipe(int fd)
{
	trace_begin_pipe(fd);
	put_cpu_packet(fd, 1, 1, 1000, 2, 0);
	put_cpu_packet(fd, 1, 2, 1600, 2, 1);
	put_cpu_packet(fd, 1, 3, 3000, 5, 0);
	put_cpu_packet(fd, 1, 4, 4200, 9, 0);
	for (unsigned int i = 0; i < PACKETS; i++)
		put_cpu_packet(fd, 0, i + 1, 1000 + i * STEP, 0, 5);
}

static void early_packets(void)
{
	static const struct {
		uint64_t from, to, place;
	} want[] = {
		{ 1000, 1500, 1500 }, /* no event yet: where it ends */
		{ 2100, 3500, 2100 }, /* where it begins */
		{ 3500, 4700, 3500 },
	};
	const struct ktape_trace_options how = { .notice = tell_place };
	const struct ktape_event *e;
	struct ktape_trace *t;
	int ends[2], keep = dup(STDIN_FILENO);

	last_ts = nr_reported = 0;
	if (keep < 0 || pipe(ends))
		abort();
	/* Nobody reads until all is written, and the metadata alone fill most of a pipe. */
	if (fcntl(ends[1], F_SETPIPE_SZ, PIPE_ROOM) < PIPE_ROOM) {
		check(false, "a pipe of %d bytes: %s", PIPE_ROOM, strerror(errno));
		return;
	}
	fill_pipe(ends[1]);
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	check_equal(ktape_trace_open("-", &how, &t, NULL), 0);
	for (unsigned int seen = 0; ktape_trace_next(t, &e) > 0;) {
		last_ts = e->ts;
		for (; seen < nr_reported; seen++)
			reported[seen].before = e->ts;
	}
	check(ktape_trace_is_live(t), "it is not live");
	ktape_trace_close(t);
	dup2(keep, STDIN_FILENO);
	close(keep);
	check_equal(nr_reported, ARRAY_SIZE(want));
	for (unsigned int i = 0; i < nr_reported && i < ARRAY_SIZE(want); i++) {
		check_equal(reported[i].from, want[i].from);
		check_equal(reported[i].to, want[i].to);
		check(reported[i].after <= want[i].place &&
			      reported[i].before >= want[i].place,
		      "loss %u is told between events at %llu and %llu", i,
		      (unsigned long long)reported[i].after,
		      (unsigned long long)reported[i].before);
	}
}

static const struct tap_test tests[] = {
	{ "an intact trace has no loss", whole_trace_has_no_hole },
	{ "a cut file: a loss to the end", cut_file },
	{ "a damaged last packet: a loss to the end", damaged_end },
	{ "a damaged packet in the middle: one loss", damaged_middle },
	{ "a packet that is missing in the middle: to the next one", missing_middle },
	{ "a damaged first packet: a loss from the begin", damaged_begin },
	{ "a file without a good packet: a loss of the whole trace", damaged_all },
	{ "a cut file, and another ring goes on: one hole in parts",
	  cut_with_control },
	{ "both rings of a CPU are cut: two holes to the end", cut_event_and_control },
	{ "a cut pipe form", cut_pipe },
	{ "a pipe: losses of packets that come early are told in their places",
	  early_packets },
};

int main(int argc, char **argv)
{
	const char *folder = trace_folder();
	int ret;

	snprintf(dir, sizeof(dir), "%s/trace", folder);
	ret = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	trace_remove(folder);
	return ret;
}
