// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape dump: choose events.
 *
 * An event has to match every option that is given.  An event without the property
 * that an option is about does not match: --signal KILL hides all events that have no
 * signal.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/parse.h"

#include "tool/dump/dump.h"
#include "tool/shared/event_list.h"
#include "tool/shared/message.h"

#define LEVEL_BITS \
	3U /* of dat20 of an exception: level 0 to 3; bit 2: of hardware */
#define CODE_SHIFT \
	8 /* first word of an exception: major code, minor code below */
#define CODE_MINOR 0xffU
#define SIGNALS	   64U /* signals 1 to 64 are bits 0 to 63 of a filter */

/* Field types whose value is the number of an object, and the type of that object. */
static const struct {
	uint8_t field;
	uint8_t object;
} kinds[] = {
	{ KTAPE_TYPE_TID, KTAPE_OBJ_THREAD },
	{ KTAPE_TYPE_IRQ, KTAPE_OBJ_IRQ },
	{ KTAPE_TYPE_SOFTIRQ, KTAPE_OBJ_SOFTIRQ },
	{ KTAPE_TYPE_FUNC, KTAPE_OBJ_FUNCTION },
	{ KTAPE_TYPE_MARKER, KTAPE_OBJ_MARKER },
	{ KTAPE_TYPE_VALUEID, KTAPE_OBJ_VALUE },
	{ KTAPE_TYPE_ISRID, KTAPE_OBJ_ISR },
	{ KTAPE_TYPE_DEV, KTAPE_OBJ_BLOCK_DEVICE },
	{ KTAPE_TYPE_NETDEV, KTAPE_OBJ_NET_DEVICE },
	{ KTAPE_TYPE_SYSCALL, KTAPE_OBJ_SYSCALL },
};

static bool has_number(const struct numbers *n, uint32_t v)
{
	for (unsigned int i = 0; i < n->nr; i++) {
		if (n->v[i] == v)
			return true;
	}
	return false;
}

/* Add a number, or a range A-B.  Return: 0 or -EINVAL. */
static int add_number_range(struct numbers *n, char *text, uint64_t max)
{
	char *dash = strchr(text, '-');
	uint64_t from, to;

	if (dash)
		*dash++ = '\0';
	if (kt_parse_u64(text, &from) || from > max)
		return -EINVAL;
	to = from;
	if (dash && (kt_parse_u64(dash, &to) || to > max || to < from))
		return -EINVAL;
	for (; from <= to; from++) {
		if (n->nr == SELECT_NUMBERS)
			return -EINVAL;
		n->v[n->nr++] = (uint32_t)from;
	}
	return 0;
}

/* Parse a list of numbers and ranges.  Return: 0 or the exit code. */
static int read_numbers(const struct select *s, const char *name,
			const char *text, uint64_t max, struct numbers *n)
{
	char *copy = text ? strdup(text) : NULL, *at = copy, *item;
	int err = text && !copy ? -ENOMEM : 0;

	while (!err && (item = strsep(&at, ",")))
		err = add_number_range(n, item, max);
	free(copy);
	if (!err)
		return 0;
	return misuse(s->command,
		      "--%s: give numbers up to %llu, such as 0-3,5, at most %u of them",
		      name, (unsigned long long)max, SELECT_NUMBERS);
}

static int read_mask(const struct select *s, const char *list,
		     uint64_t mask[KTAPE_MASK_WORDS])
{
	const char *bad = list;

	if (!ktape_mask_parse_shown(list, mask, &bad))
		return 0;
	return unknown_event(s->command, bad);
}

/* Leave out what describes the trace: names, counters, clocks. */
static void leave_out_control(uint64_t mask[KTAPE_MASK_WORDS])
{
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);

		if (d && d->event_class == KTAPE_CLASS_CONTROL)
			kt_mask_remove(mask, i);
	}
}

/*
 * Read -e and --group: the lists of several -e are joined, and --group leaves out what is in none
 * of its classes.  Without both, and without --all, what describes the trace is left out.
 * formats_load() takes the items of -e that are files.
 * Return: 0 or the exit code.
 */
static int read_event_options(const struct select_options *o, struct select *s)
{
	uint64_t mask[KTAPE_MASK_WORDS];
	bool any = false;
	int ret = 0;

	memset(s->mask, 0xff, sizeof(s->mask));
	for (unsigned int i = 0; i < o->events.nr && !ret; i++) {
		const char *text = o->events.items[i].text;

		if (!fnmatch("*.fmt", text, 0))
			continue;
		if (!any)
			memset(s->mask, 0, sizeof(s->mask));
		any = true;
		ret = read_mask(s, text, mask);
		for (size_t k = 0; k < KTAPE_MASK_WORDS && !ret; k++)
			s->mask[k] |= mask[k];
	}
	if (!any && !o->groups && !o->all)
		leave_out_control(s->mask);
	if (ret || !o->groups)
		return ret;
	ret = read_mask(s, o->groups, mask);
	for (size_t k = 0; k < KTAPE_MASK_WORDS && !ret; k++)
		s->mask[k] &= mask[k];
	return ret;
}

/* Parse a list of signals or a severity with the parser for filters. */
static int read_filter(const struct select *s, const char *name, const char *text,
		       unsigned int kind, struct ktape_filter_value *v)
{
	struct ktape_error error = { .text = "" };
	int err = ktape_filter_parse(kind, text, v, &error);

	if (err == -EBADMSG)
		return misuse(s->command, "--%s: %s", name, error.text);
	return err ? fail("%s", strerror(-err)) : 0;
}

static int read_severity(const char *text, struct select *s)
{
	struct ktape_filter_value v = { .kind = KTAPE_FILTER_SEVERITY };
	int ret = read_filter(s, "severity", text, v.kind, &v);

	if (!ret && v.active && v.size >= sizeof(uint32_t))
		s->severity = (int)*(const uint32_t *)v.entries;
	ktape_filter_release(&v);
	return ret;
}

static int object_type(const char *name)
{
	for (unsigned int i = 1; i < KTAPE_OBJ_USER; i++) {
		const char *known = ktape_value_name(KTAPE_TYPE_OBJECT, i);

		if (known && !strcmp(known, name))
			return (int)i;
	}
	return -ENOENT;
}

/* Add an object: TYPE:NUMBER, TYPE:NAME or NAME.  Return: 0 or -EINVAL. */
static int add_object_wanted(struct select *s, char *text)
{
	struct object_wanted *o = &s->objects[s->nr_objects];
	char *colon = strchr(text, ':');
	uint64_t id;
	int type = 0;

	if (s->nr_objects == SELECT_NUMBERS)
		return -EINVAL;
	if (colon) {
		*colon++ = '\0';
		type = object_type(text);
		text = colon;
	}
	if (type < 0 || !*text)
		return -EINVAL;
	o->type = (uint32_t)type;
	o->name = text;
	if (type && !kt_parse_u64(text, &id) && id <= UINT32_MAX) {
		o->name = NULL;
		o->id = (uint32_t)id;
	}
	s->nr_objects++;
	return 0;
}

static int read_objects(const char *text, struct select *s)
{
	char *at, *item;
	int err = 0;

	s->copy = strdup(text);
	if (!s->copy)
		return fail("%s", strerror(ENOMEM));
	at = s->copy;
	while (!err && (item = strsep(&at, ",")))
		err = add_object_wanted(s, item);
	if (!err)
		return 0;
	return misuse(s->command,
		      "--object: give TYPE:NUMBER, TYPE:NAME or NAME, at most %u of them",
		      SELECT_NUMBERS);
}

static bool selects_more(const struct select_options *o)
{
	return o->cpus || o->pids || o->tids || o->signals || o->severity ||
	       o->majors || o->minors || o->objects;
}

/**
 * select_read() - parse the options that choose events
 * @o: options
 * @s: zeroed; filled, and to be freed with select_release()
 *
 * Return: 0 or the exit code.
 */
int select_read(const struct select_options *o, struct select *s)
{
	int ret = read_event_options(o, s);

	s->severity = -1;
	s->signals.kind = KTAPE_FILTER_SIGNAL;
	if (!ret)
		ret = read_numbers(s, "cpu", o->cpus, UINT32_MAX, &s->cpus);
	if (!ret)
		ret = read_numbers(s, "pid", o->pids, INT32_MAX, &s->pids);
	if (!ret)
		ret = read_numbers(s, "tid", o->tids, INT32_MAX, &s->tids);
	if (!ret)
		ret = read_numbers(s, "major", o->majors, 0xffffff, &s->majors);
	if (!ret)
		ret = read_numbers(s, "minor", o->minors, 0xff, &s->minors);
	if (!ret && o->signals)
		ret = read_filter(s, "signal", o->signals, KTAPE_FILTER_SIGNAL,
				  &s->signals);
	if (!ret && o->severity)
		ret = read_severity(o->severity, s);
	if (!ret && o->objects)
		ret = read_objects(o->objects, s);
	s->any = selects_more(o);
	return ret;
}

/**
 * select_release() - free a selection
 * @s: from select_read()
 */
void select_release(struct select *s)
{
	ktape_filter_release(&s->signals);
	free(s->copy);
}

/* Does an event match --severity, --major and --minor?  Without them, any event does. */
static bool matches_exception(const struct select *s, const struct ktape_event *e)
{
	uint32_t code = ktape_event_arg(e, 0);

	if (s->severity < 0 && !s->majors.nr && !s->minors.nr)
		return true;
	if (e->opcode != KTAPE_EV_EXCEPTION || !e->known)
		return false;
	if ((int)(e->dat20 & LEVEL_BITS) < s->severity)
		return false;
	return (!s->majors.nr || has_number(&s->majors, code >> CODE_SHIFT)) &&
	       (!s->minors.nr || has_number(&s->minors, code & CODE_MINOR));
}

/*
 * Do --tid and --pid both select a thread, by its number and by its process at that time?  The main
 * thread of a process has the number of the process.
 */
static bool is_thread(const struct select *s, const struct ktape_registry *names,
		      uint64_t ts, int32_t tid)
{
	const struct ktape_object_info *o;

	if (tid < 0)
		return false;
	if (s->tids.nr && !has_number(&s->tids, (uint32_t)tid))
		return false;
	if (!s->pids.nr || has_number(&s->pids, (uint32_t)tid))
		return true;
	o = ktape_registry_thread(names, tid, ts);
	return o && has_number(&s->pids, o->param1); /* param1: its process */
}

/* Return true if a selected thread is the event's own or in one of its fields. */
static bool has_thread(const struct select *s, const struct ktape_registry *names,
		       const struct ktape_event *e)
{
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);
	uint64_t v;

	if (!s->tids.nr && !s->pids.nr)
		return true;
	if (is_thread(s, names, e->ts, e->tid))
		return true;
	for (unsigned int i = 0; d && e->known && i < d->nr_fields; i++) {
		if (d->fields[i].type == KTAPE_TYPE_TID &&
		    !ktape_event_field(e, d->fields[i].name, &v) &&
		    is_thread(s, names, e->ts, (int32_t)v))
			return true;
	}
	return false;
}

/* Return true if a field of the event is a selected signal, or all signals are. */
static bool has_signal(const struct select *s, const struct ktape_event *e)
{
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);
	uint64_t bits = 0, v;

	if (!s->signals.active)
		return true;
	memcpy(&bits, s->signals.entries, kt_min(s->signals.size, sizeof(bits)));
	for (unsigned int i = 0; d && e->known && i < d->nr_fields; i++) {
		if (d->fields[i].type == KTAPE_TYPE_SIGNAL &&
		    !ktape_event_field(e, d->fields[i].name, &v) && v &&
		    v <= SIGNALS && bits >> (v - 1) & 1)
			return true;
	}
	return false;
}

/* Is an object one of --object, by its number or by the name that the event means? */
static bool is_object(const struct select *s, const struct ktape_registry *names,
		      const struct ktape_event *e, uint32_t type, uint32_t id)
{
	const struct ktape_object_info *o =
		ktape_registry_meant(names, e, type, id);

	for (unsigned int i = 0; i < s->nr_objects; i++) {
		const struct object_wanted *w = &s->objects[i];

		if (w->type && w->type != type)
			continue;
		if (w->name ? o && !fnmatch(w->name,
					    o->whole ? o->whole : o->name, 0) :
			      w->id == id)
			return true;
	}
	return false;
}

/* Return the type of the object that a field names; KTAPE_OBJ_FREE, which is 0: none. */
static uint32_t object_type_of(unsigned int field)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(kinds); i++) {
		if (kinds[i].field == field)
			return kinds[i].object;
	}
	return KTAPE_OBJ_FREE;
}

/* Return true if the event's thread or one of its fields is a selected object, or all are. */
static bool has_object(const struct select *s, const struct ktape_registry *names,
		       const struct ktape_event *e)
{
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);
	uint32_t first = ktape_event_arg(e, 0), type;
	uint64_t v;

	if (!s->nr_objects)
		return true;
	if (e->tid >= 0 &&
	    is_object(s, names, e, KTAPE_OBJ_THREAD, (uint32_t)e->tid))
		return true;
	if (!e->known)
		return false;
	if (e->opcode == KTAPE_EV_EXCEPTION &&
	    is_object(s, names, e, KTAPE_OBJ_EXCEPTION, first >> CODE_SHIFT))
		return true;
	if (e->opcode == KTAPE_EV_USER_EVENT &&
	    is_object(s, names, e, KTAPE_OBJ_USER_EVENT, first))
		return true;
	for (unsigned int i = 0; d && i < d->nr_fields; i++) {
		type = object_type_of(d->fields[i].type);
		if (type && !ktape_event_field(e, d->fields[i].name, &v) &&
		    is_object(s, names, e, type, (uint32_t)v))
			return true;
	}
	return false;
}

/**
 * select_matches() - does an event of the mask meet the other conditions?
 * @s: the selection
 * @names: names of the trace
 * @e: the event
 *
 * Return: true if it does.
 */
bool select_matches(const struct select *s, const struct ktape_registry *names,
		    const struct ktape_event *e)
{
	return (!s->cpus.nr || has_number(&s->cpus, e->cpu)) &&
	       matches_exception(s, e) && has_signal(s, e) &&
	       has_thread(s, names, e) && has_object(s, names, e);
}
