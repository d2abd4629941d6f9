// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write a trace as Apache Parquet, for DuckDB, Spark, ClickHouse and others: typed
 * tables in a folder, or one file with the events.
 *
 *	event			file
 *	  -> row of "event"	event.c
 *	  -> slices, ...	sched.c, irq.c, call.c, mark.c, capture.c
 *	  rows -> row groups	place.c: which file; lib/parquet: its bytes
 *
 * tables.h has the tables, ktape-parquet(5) describes them.  Every event but registry
 * records has a row in "event"; names are in the tables thread and process and where they
 * are used.  What began before a loss and ended after it has no row in the tables of
 * slices.  Left out and counted: threads beyond 1048576, and begins of markers while so many
 * are open.  Of each table up to 122880 rows are held in memory.  A file without its end
 * cannot be read; nothing resynchronises.
 */
#include "util/parse.h"

#include "internal.h"
#include "parquet.h"
#include "place.h"

static const struct ktape_codec_option options[] = {
	{ "dir", "DIR", "all tables, each in files below DIR, instead of one file" },
	{ "capture", "NAME", "first part of the files' names in DIR, and trace_id" },
	{ "size", "MIB",
	  "size from which a file in DIR is followed by the next (default 128)" },
	{ "compress", "zstd|none", "compression of pages (default zstd)" },
	{ .key = NULL },
};

static int take_size(struct kt_sink *s, uint64_t *size)
{
	const char *text = kt_codec_option(&s->options, "size");
	uint64_t mib = PQ_SIZE;

	if (text && (kt_parse_u64(text, &mib) || !mib || mib > PQ_SIZE_MAX))
		return kt_sink_fail(s, "size=%s: use a number of MiB from 1 to %u",
				    text, PQ_SIZE_MAX);
	*size = mib << 20;
	return 0;
}

/* A capture's name becomes a part of file names. */
static int check_capture(struct kt_sink *s, const char *name)
{
	if (name && (!*name || *name == '.' || strchr(name, '/') ||
		     strlen(name) >= PQ_CAPTURE_MAX))
		return kt_sink_fail(
			s, "capture=%s: use up to %u bytes without \"/\", and no \".\" first",
			name, PQ_CAPTURE_MAX - 1);
	return 0;
}

static int parquet_begin(struct kt_sink *s)
{
	const char *how = kt_codec_option(&s->options, "compress");
	const char *capture = kt_codec_option(&s->options, "capture");
	const char *folder = kt_codec_option(&s->options, "dir");
	struct pq *pq = s->state;
	uint64_t size = 0;
	int err;

	pq->s = s;
	pq->single = !folder;
	if (how && strcmp(how, "none") && strcmp(how, "zstd"))
		return kt_sink_fail(
			s, "compress=%s: use compress=zstd or compress=none", how);
	err = take_size(s, &size);
	if (!err)
		err = check_capture(s, capture);
	if (!err)
		err = pq_schema_init(pq);
	if (!err)
		err = pq_names_init(pq);
	if (!err)
		err = pq_event_init(pq);
	if (!err)
		err = pq_capture_init(pq);
	if (!err)
		err = kt_pq_workspace_new(&pq->pool, !how || strcmp(how, "none"),
					  &pq->workspace);
	return err ? err : pq_place_open(pq, folder, size, capture);
}

/*
 * Note the first and the last time of the trace.  The first is in its name (place.c).
 * Return: 0 or negative errno.
 */
static int begin_at(struct pq *pq, uint64_t ts)
{
	if (pq->begun) {
		pq->last = kt_max(pq->last, ts);
		return 0;
	}
	pq->begun = true;
	pq->begin = ts;
	pq->last = ts;
	return pq_place_begin(pq);
}

static bool is_wake_row(uint8_t opcode)
{
	return opcode == KTAPE_EV_SCHED_WAKING || opcode == KTAPE_EV_SCHED_WAKEUP ||
	       opcode == KTAPE_EV_SCHED_WAKEUP_NEW;
}

/* Make rows of the tables but "event", in the order in which ktape stats takes an event. */
static void put_tables(struct pq *pq, struct pq_cpu *c, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;

	if (c->off || !kt_event_fits(e))
		return;
	if (e->opcode == KTAPE_EV_SCHED_SWITCH) {
		c->depth = 0;
		pq_switch(pq, c, e);
		return;
	}
	if (e->tid >= 0 && kt_event_thread_runs(e))
		c->tid = e->tid;
	if (e->opcode == KTAPE_EV_CONTEXT)
		c->tid = (int32_t)ktape_event_arg(e, 0);
	if (is_wake_row(e->opcode)) {
		pq_wake(pq, e);
		return;
	}
	if (e->opcode == KTAPE_EV_SCHED_BLOCKED)
		pq_blocked(pq, l);
	else if (e->opcode == KTAPE_EV_PROCESS_FORK)
		pq_fork(pq, e);
	pq_irq(pq, c, l);
	pq_call(pq, l);
	pq_mark(pq, l);
}

static int parquet_event(struct kt_sink *s, const struct ktape_event *e)
{
	const struct kt_line l = kt_line_of(s->info, s->registry, e, true);
	struct pq *pq = s->state;
	struct pq_cpu *c;
	int err;

	if (e->opcode == KTAPE_EV_REGISTRY)
		pq_registry(pq, e);
	if (e->opcode == KTAPE_TIME_EXTEND || e->opcode == KTAPE_EV_REGISTRY)
		return s->error;
	err = begin_at(pq, e->ts);
	if (err)
		return err;
	pq_put_event(pq, &l, pq_thread(pq, e->tid, e->ts));
	c = pq->single || e->kind == KTAPE_RING_REGISTRY ? NULL :
							   pq_cpu(pq, e->cpu);
	if (!c)
		return s->error;
	c->seen = true;
	pq_take_control(pq, c, &l);
	put_tables(pq, c, &l);
	return s->error;
}

static int parquet_notice(struct kt_sink *s, const struct ktape_notice *n)
{
	struct pq *pq = s->state;
	struct pq_cpu *c;
	int err = begin_at(pq, n->from);

	if (err)
		return err;
	if (pq->single) {
		pq_put_gap_event(pq, n);
		return s->error;
	}
	pq_lost(pq, n);
	if (n->reasons & KTAPE_NOTICE_OVERWRITTEN)
		pq->late_to = kt_max(pq->late_to, n->to);
	else
		pq->lost_to = kt_max(pq->lost_to, n->to);
	c = pq_cpu(pq, n->cpu);
	/* A control ring has no switches. */
	if (!c || (n->reasons & KTAPE_NOTICE_OVERWRITTEN &&
		   n->ring != KTAPE_RING_EVENT))
		return s->error;
	c->depth = 0;
	pq_cut(pq, c, n->cpu, n->from);
	return s->error;
}

static int parquet_end(struct kt_sink *s)
{
	struct pq *pq = s->state;
	int err = s->error;

	/* A trace without events has files, too, which begin_at() prepares. */
	if (!err)
		err = begin_at(pq, pq->last);
	if (!pq->single && !err) {
		pq_sched_end(pq);
		err = pq_put_threads(pq);
		if (!err)
			err = pq_put_capture(pq);
	}
	if (!err)
		err = pq_place_end(pq);
	if (!err && pq->single)
		err = kt_sink_flush(s);
	return err;
}

static bool parquet_is_staged(const struct kt_sink *s)
{
	const struct pq *pq = s->state;

	return !pq->single && pq_place_is_staged(pq);
}

static int parquet_move(struct kt_sink *s, int folder)
{
	return pq_place_move(s->state, folder);
}

static void parquet_close(struct kt_sink *s)
{
	struct pq *pq = s->state;

	pq_place_close(pq);
	pq_schema_free(pq);
	pq_event_free(pq);
	pq_capture_free(pq);
	kt_pq_workspace_free(pq->workspace);
	kt_pq_pool_free(&pq->pool);
	for (uint32_t i = 0; i < pq->nr_cpus; i++)
		free(pq->cpus[i]);
	free(pq->cpus);
	free(pq->threads);
	free(pq->processes);
	free(pq->syscalls);
	kt_map_free(&pq->by_tid);
	kt_map_free(&pq->by_pid);
	kt_map_free(&pq->raised);
	kt_map_free(&pq->spans);
}

const struct kt_codec_out kt_parquet_out = {
	.options = options,
	.size = sizeof(struct pq),
	.extra = true,
	.own_files = true,
	.begin = parquet_begin,
	.event = parquet_event,
	.notice = parquet_notice,
	.end = parquet_end,
	.is_staged = parquet_is_staged,
	.move = parquet_move,
	.close = parquet_close,
};
