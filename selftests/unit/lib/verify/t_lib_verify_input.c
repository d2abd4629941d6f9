// SPDX-License-Identifier: GPL-2.0-only
/* Test the inputs of verify: single streams, foreign formats, pipes. */
#include "lib_sim_work.h"

/**
 * struct result - what verify says of an input
 * @ret: error of the run, or of opening it
 * @notes: notes of the rule "form": a part of the trace is missing
 * @bound: violations of the rule "bound": counts of packets
 * @first: the first violation
 * @error: of opening it
 */
struct result {
	int ret;
	uint64_t notes;
	uint64_t bound;
	struct ktape_finding first;
	struct ktape_error error;
};

static struct result result;
static const char *folder;
static char path[300];

static void verify_input_finding(void *arg, const struct ktape_finding *f)
{
	struct result *r = arg;

	if (!f->note && !*r->first.text)
		r->first = *f;
	r->notes += f->note && f->rule == KTAPE_RULE_FORM;
	r->bound += !f->note && f->rule == KTAPE_RULE_BOUND;
}

/* Verify @what into @result. */
static void verify_input(const char *what)
{
	const struct ktape_verify_options how = { .finding = verify_input_finding,
						  .arg = &result };
	struct ktape_verify *v;

	memset(&result, 0, sizeof(result));
	result.ret = ktape_verify_open(what, &how, &v, &result.error);
	if (result.ret)
		return;
	result.ret = ktape_verify_run(v);
	ktape_verify_close(v);
}

/* A session that was stopped. */
static struct sim *make_stopped_session(void)
{
	struct sim *s = sim_new(1);

	sim_start(s);
	sim_work(s, 3000);
	sim_stop(s);
	sim_finish(s);
	folder = trace_folder();
	return s;
}

static void remove_stopped_session(struct sim *s)
{
	trace_remove(folder);
	sim_free(s);
}

/* A single stream file: what only the other files could show is no error. */
static void test_one_stream(void)
{
	static const char *const files[] = { "cpu0", "control0", "control1" };
	const struct ktape_absence q = {
		.opcode = KTAPE_EV_SIGNAL_DELIVER,
		.from = 1,
		.to = 2000000000,
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct sim *s = make_stopped_session();
		struct ktape_verify *v;

		s->listed = true;
		sim_save(s, folder, 0);
		verify_input(folder);
		check_equal(result.ret, 0);
		check_equal(result.notes, 0);
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		verify_input(path);
		check(!result.ret, "%s: %s", files[i], result.first.text);
		check_equal(result.notes, 1);
		if (ktape_verify_open(path, NULL, &v, NULL) ||
		    ktape_verify_ask(v, &q))
			abort();
		ktape_verify_run(v);
		check_equal(ktape_verify_verdict(v, -1, NULL), KTAPE_ABSENT_LOST);
		ktape_verify_close(v);
		remove_stopped_session(s);
	}
}

/* Foreign formats guarantee nothing. */
static void test_import(void)
{
	struct sim *s = make_stopped_session();
	struct ktape_trace_options how = { .format = "native" };
	struct ktape_sink_options to = { .format = "rkh" };
	const struct ktape_event *e;
	struct ktape_trace *t;
	struct ktape_sink *sink;

	sim_save(s, folder, 0);
	snprintf(path, sizeof(path), "%s.rkh", folder);
	if (ktape_trace_open(folder, &how, &t, NULL))
		abort();
	to.info = ktape_trace_info(t);
	to.registry = ktape_trace_registry(t);
	to.path = path;
	if (ktape_sink_open(&to, &sink, NULL))
		abort();
	while (ktape_trace_next(t, &e) > 0)
		ktape_sink_event(sink, e);
	ktape_sink_finish(sink);
	ktape_sink_close(sink);
	ktape_trace_close(t);
	verify_input(path);
	check_equal((unsigned int)-result.ret, EBADMSG);
	check(strstr(result.error.text, "not in the native format"), "%s",
	      result.error.text);
	unlink(path);
	remove_stopped_session(s);
}

/* A live stream that ends, or that is told to end. */
static void test_input_wake(void)
{
	for (unsigned int ends = 0; ends < 2; ends++) {
		struct ktape_verify_options how = { .arg = NULL };
		struct sim *s = make_stopped_session();
		struct ktape_verify *v;
		int data[2], wake[2], ret;
		char bytes[4096];
		ssize_t n;
		int fd;

		snprintf(path, sizeof(path), "%s/pipe", folder);
		sim_save_pipe(s, path);
		fd = open(path, O_RDONLY);
		if (fd < 0 || pipe(data) || pipe(wake) ||
		    fcntl(data[1], F_SETPIPE_SZ, 1 << 20) < 0)
			abort();
		while ((n = read(fd, bytes, sizeof(bytes))) > 0)
			if (write(data[1], bytes, (size_t)n) != n)
				abort();
		close(fd);
		if (ends)
			close(data[1]);
		dup2(data[0], STDIN_FILENO);
		close(data[0]);
		if (write(wake[1], "", 1) != 1)
			abort();
		how.wake = wake[0];
		ret = ktape_verify_open("-", &how, &v, NULL);
		check_equal(ret, 0);
		ret = ktape_verify_run(v);
		check_equal(ret, ends ? 0 : -EINTR);
		ktape_verify_close(v);
		if (!ends)
			close(data[1]);
		close(wake[0]);
		close(wake[1]);
		remove_stopped_session(s);
	}
}

/*
 * Take the first record out of a ring, as a clear does: it is counted, but missing.
 * @reported: the packet says so (KTAPE_BLOCK_GAP).
 */
static void clear_first(struct sim *s, unsigned int ring, bool reported)
{
	struct sim_packet *p = &s->ring[ring].packets[0];
	struct ktape_block *h = (void *)p->data;
	struct ktape_packet k;
	struct ktape_event e;
	uint64_t bits;

	if (ktape_packet_open(&k, p->data, p->len, NULL, NULL) ||
	    ktape_packet_next(&k, &e, NULL) <= 0)
		abort();
	memmove(p->data + e.offset, p->data + e.offset + e.size,
		p->len - e.offset - e.size);
	p->len -= e.size;
	bits = p->len * 8;
	memcpy(p->data + AT_CONTENT_BITS, &bits, sizeof(bits));
	memcpy(p->data + AT_PACKET_BITS, &bits, sizeof(bits));
	h->ts_begin = e.ts;
	h->context = KTAPE_CTX_UNKNOWN;
	h->flags |= reported ? KTAPE_BLOCK_GAP : 0;
	ktape_packet_seal(p->data);
}

/*
 * Records that were cleared right after the start are no error if the packet behind them has
 * GAP, else they are.
 */
static void test_input_cleared(void)
{
	for (unsigned int reported = 0; reported < 2; reported++) {
		struct sim *s = make_stopped_session();

		clear_first(s, 0, reported);
		clear_first(s, 2, reported);
		sim_save(s, folder, 0);
		verify_input(folder);
		check((result.ret == 0) == (reported == 1), "%d wrong: %s",
		      result.ret, result.first.text);
		remove_stopped_session(s);
	}
}

/* What was cut off with the end of a packet is not unaccounted for. */
static void test_input_cut_off(void)
{
	struct sim *s = sim_new(1);
	const struct sim_ring *r = &s->ring[0];
	struct stat st;

	sim_start(s);
	sim_work(s, 1000);
	for (unsigned int i = 0; i < SIM_RINGS; i++)
		sim_close(s, &s->ring[i], sim_sum(s->ring[i].emitted), false);
	/* The pipe ends with this packet; it is longer than what is cut off below. */
	while (!r->open || r->b.at < 1000)
		sim_work(s, 1);
	sim_close(s, &s->ring[0], sim_sum(r->emitted), false);
	for (unsigned int i = 1; i < SIM_RINGS; i++)
		s->ring[i].nr = 1;
	folder = trace_folder();
	snprintf(path, sizeof(path), "%s/pipe", folder);
	sim_save_pipe(s, path);
	if (stat(path, &st) || truncate(path, st.st_size - 800))
		abort();
	verify_input(path);
	check(strstr(result.first.text, "the middle of a packet"), "%s",
	      result.first.text);
	check_equal(result.bound, 0);
	remove_stopped_session(s);
}

static const struct tap_test tests[] = {
	{ "a single stream file", test_one_stream },
	{ "a session that was cleared", test_input_cleared },
	{ "a foreign format", test_import },
	{ "a packet that is cut off", test_input_cut_off },
	{ "a stream that is ended by a call", test_input_wake },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
