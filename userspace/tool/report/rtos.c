// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure traces of a real-time system as TraceX (the trace viewer of ThreadX) and the decoder
 * of RKH (a framework for state machines) do, and write the results as JSON, for stats and
 * convert.  Members are named as in TraceX's own engine.
 *
 * Besides its numbers, TraceX has moments: where each service occurs first, where a
 * thread's stack was fullest, where priorities were inverted.  They are written as
 * CLOCK_MONOTONIC in ns, in members whose names end in _ns, as strings: see
 * stats_put_ns().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <ktape/objects.h>

#include "tool/report/report.h"
#include "tool/shared/text.h"

#define INVERSIONS_MAX 10000U /* most inversions that are listed one by one */

/* Information words of the event of ThreadX that begins an inversion. */
enum { WORD_MUTEX = 0, WORD_OWNER = 2 };

/**
 * stats_rtos_begin() - begin to measure
 * @s: the statistics
 * @info: metadata of the trace
 * @registry: names
 *
 * Return: 0 or -ENOMEM.
 */
int stats_rtos_begin(struct stats_rtos *s, const struct ktape_info *info,
		     const struct ktape_registry *registry)
{
	int err = ktape_rtos_new(&s->rtos);

	s->info = info;
	s->registry = registry;
	return err ? err : ktape_responses_new(info, &s->responses);
}

/* Add an event.  Return: 0 or negative errno. */
int stats_rtos_event(struct stats_rtos *s, const struct ktape_event *e)
{
	int err = ktape_rtos_take(s->rtos, e);

	return err ? err : ktape_responses_take(s->responses, e);
}

/* Add a loss. */
void stats_rtos_notice(struct stats_rtos *s, const struct ktape_notice *n)
{
	if (s->responses)
		ktape_responses_notice(s->responses, n);
}

void stats_rtos_release(struct stats_rtos *s)
{
	ktape_rtos_free(s->rtos);
	ktape_responses_free(s->responses);
}

/**
 * stats_service() - write the name of a service, or its number
 * @s: the statistics
 * @id: number of the event
 * @text: the name
 *
 * Return: false if it has no name.
 */
bool stats_service(const struct stats_rtos *s, uint32_t id,
		   char text[STATS_NAME_MAX])
{
	const char *name = ktape_rtos_service(s->rtos, id);
	const struct ktape_object_info *o;

	snprintf(text, STATS_NAME_MAX, "event %u", id);
	o = name ? NULL :
		   ktape_registry_object(s->registry, KTAPE_OBJ_USER_EVENT, id,
					 0, UINT64_MAX);
	if (o && o->name_len && o->plain)
		name = o->name;
	if (name)
		snprintf(text, STATS_NAME_MAX, "%s", name);
	return name;
}

/* Return the time of an event on CLOCK_MONOTONIC. */
static int64_t event_ns(const struct stats_rtos *s, uint64_t i)
{
	return ktape_mono_ns(s->info, ktape_rtos_event_ts(s->rtos, i));
}

/*
 * Write how often each service was called, and where first.  @thread: address of a thread, or -1
 * for all.  Return: 0 or -ENOMEM.
 */
static int json_services(FILE *f, const struct stats_rtos *s, int64_t thread)
{
	struct ktape_rtos_count *counts;
	size_t nr;
	int err = ktape_rtos_popular(s->rtos, thread, &counts, &nr);

	if (err)
		return err;
	fprintf(f, "\"popular\":[");
	for (size_t i = 0; i < nr; i++)
		fprintf(f, "%s[%u,%" PRIu64 "]", i ? "," : "", counts[i].id,
			counts[i].count);
	fprintf(f, "],\"popular_first_ns\":[");
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? "," : "", f);
		stats_put_ns(f, event_ns(s, counts[i].first));
	}
	fputc(']', f);
	free(counts);
	return 0;
}

/* Write the names of the services that have one. */
static int json_names(FILE *f, const struct stats_rtos *s)
{
	struct ktape_rtos_count *counts;
	char text[STATS_NAME_MAX];
	bool begun = false;
	size_t nr;
	int err = ktape_rtos_popular(s->rtos, -1, &counts, &nr);

	if (err)
		return err;
	fprintf(f, ",\n \"services\":{");
	for (size_t i = 0; i < nr; i++) {
		if (!stats_service(s, counts[i].id, text))
			continue;
		fprintf(f, "%s\"%u\":", begun ? "," : "", counts[i].id);
		write_json_text(f, text);
		begun = true;
	}
	fputc('}', f);
	free(counts);
	return 0;
}

static int json_thread(FILE *f, const struct stats_rtos *s,
		       const struct ktape_rtos_thread *t, bool services)
{
	int err = 0;

	fprintf(f, "  {\"name\":");
	write_json_text(f, t->name);
	fprintf(f,
		",\"addr\":\"0x%x\",\"tid\":%d,\"stack_start\":\"0x%x\",\"stack_size\":%u,\"stack_min_available\":%u,\"stack_event\":%" PRIu64
		",",
		t->address, ktape_rtos_tid(t->address), t->stack_start,
		t->stack_size, t->stack_min, t->stack_event);
	/* Otherwise no event has the thread's stack pointer. */
	if (t->stack_min != t->stack_size) {
		fprintf(f, "\"stack_event_ns\":");
		stats_put_ns(f, event_ns(s, t->stack_event));
		fputc(',', f);
	}
	fprintf(f,
		"\"ticks\":%" PRIu64 ",\"suspensions\":%" PRIu64
		",\"resumptions\":%" PRIu64 ",\"events\":%" PRIu64 ",",
		t->ticks, t->suspensions, t->resumptions, t->events);
	fprintf(f, "\"lowest_prio\":%u,\"highest_prio\":%u,\"lowest_pt\":%u,\"highest_pt\":%u",
		t->lowest_prio, t->highest_prio, t->lowest_threshold,
		t->highest_threshold);
	if (services) {
		fputc(',', f);
		err = json_services(f, s, t->address);
	}
	fputc('}', f);
	return err;
}

static int put_rtos_threads(FILE *f, const struct stats_rtos *s, bool services)
{
	const struct ktape_rtos_thread *t;
	int err = 0;

	fprintf(f, "\"thread_list\":[");
	for (size_t i = 0; !err && (t = ktape_rtos_thread(s->rtos, i)); i++) {
		fprintf(f, "%s\n", i ? "," : "");
		err = json_thread(f, s, t, services);
	}
	fprintf(f, "],\n ");
	return err;
}

/* Write the name of a mutex, or null. */
static void json_mutex_name(FILE *f, const struct stats_rtos *s, uint32_t id)
{
	const struct ktape_object_info *o = ktape_registry_object(
		s->registry, KTAPE_OBJ_USER + KTAPE_USER_MUTEX, id, 0, UINT64_MAX);

	fprintf(f, ",\"mutex_name\":");
	if (o && o->name_len && o->plain)
		write_json_text(f, o->name);
	else
		fprintf(f, "null");
}

/* Write where an inversion ends: null if it does not end in the trace. */
static void json_end(FILE *f, const struct stats_rtos *s,
		     const struct ktape_rtos_event *e)
{
	uint64_t end = e->bad ? e->bad : e->inversion;

	if (e->flags & KTAPE_RTOS_OPEN) {
		fprintf(f, ",\"end\":null,\"end_ns\":null");
		return;
	}
	fprintf(f, ",\"end\":%" PRIu64 ",\"end_ns\":", end);
	stats_put_ns(f, event_ns(s, end));
}

/*
 * Write the inversions: a thread waits for a mutex of a thread of lower priority.
 * "bad": a third thread runs meanwhile, so nothing bounds the wait.  Those beyond INVERSIONS_MAX
 * are only counted, in the totals.
 */
static void json_inversions(FILE *f, const struct stats_rtos *s)
{
	const struct ktape_rtos_event *e;
	uint32_t nr = 0;

	fprintf(f, ",\n \"inversions\":[");
	for (uint64_t i = 0;
	     nr < INVERSIONS_MAX && (e = ktape_rtos_event(s->rtos, i)); i++) {
		if (!e->bad && !e->inversion && !(e->flags & KTAPE_RTOS_OPEN))
			continue;
		fprintf(f, "%s\n  {\"event\":%" PRIu64 ",\"begin_ns\":",
			nr++ ? "," : "", i);
		stats_put_ns(f, event_ns(s, i));
		json_end(f, s, e);
		fprintf(f, ",\"addr\":\"0x%x\",\"tid\":%d,\"owner\":\"0x%x\",\"owner_tid\":%d,\"mutex\":\"0x%x\",\"bad\":%s",
			e->context, ktape_rtos_tid(e->context),
			e->info[WORD_OWNER], ktape_rtos_tid(e->info[WORD_OWNER]),
			e->info[WORD_MUTEX], e->bad ? "true" : "false");
		json_mutex_name(f, s, e->info[WORD_MUTEX]);
		fputc('}', f);
	}
	fputc(']', f);
}

static void json_left_out(FILE *f, const struct stats_rtos *s)
{
	uint64_t responses = ktape_responses_left_out(s->responses), count;
	const char *what;

	fprintf(f, ",\n \"left_out\":[");
	for (unsigned int i = 0;
	     (count = ktape_rtos_left_out(s->rtos, i, &what)); i++)
		fprintf(f, "%s[\"%s\",%" PRIu64 "]", i ? "," : "", what, count);
	if (responses)
		fprintf(f,
			"%s[\"posts and gets of further objects and signals\",%" PRIu64
			"]",
			ktape_rtos_left_out(s->rtos, 0, &what) ? "," : "",
			responses);
	fputc(']', f);
}

/**
 * stats_put_rtos() - write the members of the JSON object, without its braces
 * @f: where to write
 * @s: the statistics, finished
 * @services: also write the services of each thread
 *
 * Return: 0 or -ENOMEM.
 */
int stats_put_rtos(FILE *f, const struct stats_rtos *s, bool services)
{
	const struct ktape_rtos_totals *c = ktape_rtos_totals(s->rtos);
	int err;

	fprintf(f,
		"\"threads\":%u,\"objects\":%u,\"events\":%" PRIu64
		",\"max_relative_ticks\":%" PRIu64 ",\n",
		c->threads, c->objects, c->events, c->max_ticks);
	fprintf(f,
		" \"context_switches\":%" PRIu64 ",\"preemptions\":%" PRIu64
		",\"time_slices\":%" PRIu64 ",\"suspensions\":%" PRIu64
		",\"resumptions\":%" PRIu64 ",\"interrupts\":%" PRIu64
		",\"nested_interrupts\":%" PRIu64 ",",
		c->context_switches, c->preemptions, c->time_slices, c->suspensions,
		c->resumptions, c->interrupts, c->nested_interrupts);
	fprintf(f,
		"\"det_prio_inversions\":%" PRIu64 ",\"undet_prio_inversions\":%" PRIu64
		",\"open_prio_inversions\":%" PRIu64 ",\"mutex_calls\":%" PRIu64
		",\n",
		c->inversions, c->bad_inversions, c->open_inversions,
		c->mutex_calls);
	fprintf(f, " \"interrupt_ticks\":%" PRIu64 ",\"idle_ticks\":%" PRIu64 ",\n ",
		c->interrupt_ticks, c->idle_ticks);
	err = put_rtos_threads(f, s, services);
	if (!err)
		err = json_services(f, s, -1);
	if (!err)
		err = json_names(f, s);
	json_inversions(f, s);
	stats_put_responses(f, s);
	json_left_out(f, s);
	return err;
}
