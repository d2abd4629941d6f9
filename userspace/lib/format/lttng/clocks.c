// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the clock of each stream of a CTF trace: the one that the time stamps of its packets and
 * event headers are mapped to.
 *
 * Streams may have different clocks if their times can be compared, by the rules of babeltrace2:
 * if both clocks are absolute, if they have one UUID, or if neither says anything.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctf.h"

/* A search for the clocks of a stream; @found: the first one. */
struct search {
	size_t stream; /* number from 1 on */
	const char *found;
	const char *other;  /* a second one */
	unsigned int depth; /* types inside types */
};

/* Collect the clocks of a type and its parts.  @seen of a type: do not search in it again. */
static void collect_clocks(struct search *s, const struct ctf_type *t)
{
	if (!t || t->seen == s->stream || s->depth == CTF_DEPTH)
		return;
	((struct ctf_type *)t)->seen = s->stream;
	if (t->clock_name && !s->found)
		s->found = t->clock_name;
	else if (t->clock_name && t->clock_name != s->found)
		s->other = t->clock_name;
	s->depth++;
	for (unsigned int i = 0; i < t->nr_members; i++)
		collect_clocks(s, t->members[i].type);
	collect_clocks(s, t->element);
	s->depth--;
}

/* Equal names have one address: ctf_name(). */
static const struct ctf_clock *find_clock(const struct ctf *c, const char *name)
{
	for (size_t i = 0; name && i < c->nr_clocks; i++) {
		if (c->clocks[i].name == name)
			return &c->clocks[i];
	}
	return NULL;
}

static int refuse_clock(struct ktape_error *error, uint64_t offset,
			const char *what, const char *one, const char *other)
{
	snprintf(error->text, sizeof(error->text),
		 "%s, \"%.30s\" and \"%.30s\"", what, one, other);
	error->offset = offset;
	return -EBADMSG;
}

/* Return why times of two clocks cannot be compared, or NULL. */
static const char *why_apart(const struct ctf_clock *a, const struct ctf_clock *b)
{
	if (a == b || (a->absolute && b->absolute))
		return NULL;
	if (a->absolute || b->absolute)
		return "times of the streams cannot be compared: one clock is absolute";
	if (a->uuid == b->uuid)
		return NULL;
	return a->uuid && b->uuid ?
		       "times of the streams cannot be compared: the clocks differ in UUID" :
		       "times of the streams cannot be compared: one clock has a UUID";
}

/* Let the trace have the clock of its first stream that has one. */
static void set_trace_clock(struct ctf *c, const struct ctf_clock *clock)
{
	c->origin = clock->origin;
	snprintf(c->clock, sizeof(c->clock), "%.*s", (int)sizeof(c->clock) - 1,
		 clock->shown);
}

/**
 * ctf_bind_clocks() - find the clocks of the streams
 * @c: the metadata
 * @error: filled on -EBADMSG
 *
 * Sets the origin of each stream, and the clock of the trace.  If the metadata declare one clock
 * only, it is meant whatever name a stream gives it.
 *
 * Return: 0 or -EBADMSG.
 */
int ctf_bind_clocks(struct ctf *c, struct ktape_error *error)
{
	const struct ctf_clock *clock = NULL, *this;
	const char *why;

	for (size_t i = 0; i < c->nr_streams; i++) {
		struct ctf_stream *s = &c->streams[i];
		struct search x = { .stream = i + 1, .found = s->clock };

		/* All streams have the header of packets in common. */
		collect_clocks(&x, c->packet_header);
		collect_clocks(&x, s->packet_context);
		collect_clocks(&x, s->event_header);
		if (x.other)
			return refuse_clock(error, s->offset,
					    "a stream has times of two clocks",
					    x.found, x.other);
		this = find_clock(c, x.found);
		if (!this && x.found && c->nr_clocks > 1)
			return refuse_clock(
				error, s->offset,
				"a stream has times of a clock that is not among those",
				x.found, c->clocks[0].name);
		why = this && clock ? why_apart(this, clock) : NULL;
		if (why)
			return refuse_clock(error, s->offset, why, clock->name,
					    this->name);
		if (this)
			s->origin = this->origin;
		if (!clock)
			clock = this;
	}
	if (!clock && c->nr_clocks)
		clock = c->clocks;
	if (clock)
		set_trace_clock(c, clock);
	/* Streams without a clock of their own have that of the trace. */
	for (size_t i = 0; i < c->nr_streams; i++) {
		if (!c->streams[i].origin.freq)
			c->streams[i].origin = c->origin;
	}
	return 0;
}
