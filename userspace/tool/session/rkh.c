// SPDX-License-Identifier: GPL-2.0-only
/*
 * The runtime filters of RKH (--suppress and --pass), made of the module's profile and filters.
 * RKH is a framework for state machines; its tracer has filters in these terms.
 * RKH's polarity: FILTER_ON suppresses, FILTER_OFF passes; initially all passes.
 *
 *	group:CLASS	bits of the class's events in the profile
 *	event:NAME	bit of the event in the profile
 *	object:TID	filter by thread
 *	signal:NAME	filter by signal
 *
 * An event passes if its group, event, object and signal all pass, independent of the
 * order of the options.
 *
 * RKH has two masks, groups and events, but the module has only their intersection.
 * Both are therefore derived from the profile before the options are applied:
 * - A class with at least one recorded event passes as a group; its events that are
 *   not recorded are suppressed as events.
 * - A class without recorded events, named by some group option, is suppressed as a
 *   group, and its default events pass.
 * - A class without recorded events that no group option names has its events
 *   suppressed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/parse.h"

#include "tool/session/filters.h"
#include "tool/shared/message.h"

/**
 * struct rkh - state while the options are applied
 * @command: the subcommand
 * @device: session whose filters are changed, or NULL
 * @groups: mask of the events whose group passes
 * @events: mask of the events that pass by themselves
 * @config: filters that have to change
 */
struct rkh {
	const struct kt_command *command;
	struct ktape_device *device;
	uint64_t groups[KTAPE_MASK_WORDS];
	uint64_t events[KTAPE_MASK_WORDS];
	struct ktape_config *config;
};

/* A --suppress or --pass.  @text: KIND:NAME; @name: NAME. */
struct order {
	const char *text;
	const char *name;
	bool pass;
};

static int bad_name(const struct rkh *r, const struct order *o, const char *what)
{
	return misuse(r->command, "--%s %s: \"%s\" is not a valid %s",
		      o->pass ? "pass" : "suppress", o->text, o->name, what);
}

/*
 * Set all events of a class, or of all classes: also those that presets leave out.  Class
 * control is none: a session always records its events.
 */
static bool class_mask(const char *name, uint64_t mask[KTAPE_MASK_WORDS])
{
	bool all = !strcmp(name, "all"), found = all;

	memset(mask, 0, KTAPE_MASK_WORDS * sizeof(*mask));
	for (unsigned int i = KTAPE_OP_EXCEPTION; i < KTAPE_TIME_EXTEND; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);
		const struct ktape_class_desc *c;

		c = d ? ktape_class_desc(d->event_class) : NULL;
		if (!c || d->event_class == KTAPE_CLASS_CONTROL ||
		    (!all && strcmp(c->name, name)))
			continue;
		kt_mask_add(mask, i);
		found = true;
	}
	return found;
}

static void change_event_mask(uint64_t *mask, const uint64_t *these, bool pass)
{
	for (unsigned int i = 0; i < KTAPE_MASK_WORDS; i++) {
		if (pass)
			mask[i] |= these[i];
		else
			mask[i] &= ~these[i];
	}
}

/*
 * Derive both masks for a class, unless an event of it is recorded.  @named: a group option
 * names it.
 */
static void derive_class(struct rkh *r, const char *name, bool named)
{
	uint64_t every[KTAPE_MASK_WORDS], usual[KTAPE_MASK_WORDS];

	class_mask(name, every);
	for (unsigned int i = 0; i < KTAPE_MASK_WORDS; i++) {
		if (every[i] & r->events[i])
			return;
	}
	if (!named || ktape_mask_parse(name, usual, NULL))
		return;
	change_event_mask(r->events, usual, true);
	change_event_mask(r->groups, every, false);
}

/* Derive both masks from the profile. */
static void derive_masks(struct rkh *r, const struct kt_opt_list *list,
			 const uint64_t *mask)
{
	memcpy(r->events, mask, sizeof(r->events));
	memset(r->groups, 0xff, sizeof(r->groups));
	for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
		const struct ktape_class_desc *c = ktape_class_desc(i);
		bool named = false;

		for (unsigned int k = 0; c && k < list->nr; k++) {
			const char *text = list->items[k].text;

			named |= !strncmp(text, "group:", 6) &&
				 (!strcmp(text + 6, c->name) ||
				  !strcmp(text + 6, "all"));
		}
		if (c)
			derive_class(r, c->name, named);
	}
}

static int take_rkh_group(struct rkh *r, const struct order *o)
{
	uint64_t every[KTAPE_MASK_WORDS];

	if (!class_mask(o->name, every))
		return bad_name(r, o, "class");
	change_event_mask(r->groups, every, o->pass);
	return 0;
}

static int take_rkh_event_name(struct rkh *r, const struct order *o)
{
	uint64_t these[KTAPE_MASK_WORDS];

	if (!*o->name || ktape_mask_parse(o->name, these, NULL))
		return bad_name(r, o, "event");
	change_event_mask(r->events, these, o->pass);
	return 0;
}

/*
 * Set @value to the filter to change, which is in the configuration from now on: if it was not, it
 * is read from the module first.  Return: 0 or the exit code.
 */
static int get_filter(struct rkh *r, unsigned int kind,
		      struct ktape_filter_value **value)
{
	struct ktape_filter_value *v = &r->config->filters[kind];
	int err = 0;

	*value = v;
	v->kind = kind;
	if (!(r->config->filters_given >> kind & 1) && r->device)
		err = filter_get(r->device, kind, v);
	r->config->filters_given |= 1U << kind;
	/* -ENOTTY: the module does not support filters, so it has none. */
	if (err && err != -ENOTTY)
		return fail("%s", strerror(-err));
	return 0;
}

static int take_rkh_signal(struct rkh *r, const struct order *o)
{
	struct ktape_filter_value *v, one;
	uint64_t *bits, these;
	int ret = get_filter(r, KTAPE_FILTER_SIGNAL, &v);

	if (ret)
		return ret;
	if (!v->active && ktape_filter_parse(v->kind, "all", v, NULL))
		return fail("%s", strerror(ENOMEM));
	if (!*o->name || strchr(o->name, '!') || !strcmp(o->name, "off") ||
	    ktape_filter_parse(v->kind, o->name, &one, NULL))
		return bad_name(r, o, "signal");
	these = one.entries ? *(uint64_t *)one.entries : 0;
	ktape_filter_release(&one);
	bits = v->entries;
	if (!bits)
		return bad_name(r, o, "signal");
	*bits = o->pass ? *bits | these : *bits & ~these;
	/* All signals pass: no filter is needed. */
	if (*bits == UINT64_MAX)
		ktape_filter_release(v);
	return 0;
}

/* Return true if an entry names the thread, as one that passes or as an exception. */
static bool is_named(const struct ktape_filter_pid *entry, int32_t pid,
		     uint32_t except)
{
	return entry->pid == pid && (entry->flags & KTAPE_PID_EXCEPT) == except;
}

static int add_listed_pid(struct ktape_filter_value *v, int32_t pid, uint32_t except)
{
	struct ktape_filter_pid *pids = v->entries;

	for (uint32_t i = 0; i < v->nr; i++) {
		if (is_named(&pids[i], pid, except))
			return 0;
	}
	if (v->nr == KTAPE_FILTER_PIDS)
		return fail("object: more than %u threads are named",
			    KTAPE_FILTER_PIDS);
	pids = realloc(v->entries, (v->nr + 1) * sizeof(*pids));
	if (!pids)
		return fail("%s", strerror(ENOMEM));
	pids[v->nr].pid = pid;
	pids[v->nr++].flags = except;
	v->entries = pids;
	v->size = v->nr * sizeof(*pids);
	return 0;
}

static void remove_pid(struct ktape_filter_value *v, int32_t pid, uint32_t except)
{
	struct ktape_filter_pid *pids = v->entries;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < v->nr; i++) {
		if (!is_named(&pids[i], pid, except))
			pids[kept++] = pids[i];
	}
	v->nr = kept;
	v->size = kept * sizeof(*pids);
}

/* Return the number of entries that are not exceptions. */
static uint32_t count_passing(const struct ktape_filter_value *v)
{
	const struct ktape_filter_pid *pids = v->entries;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < v->nr; i++)
		nr += !(pids[i].flags & KTAPE_PID_EXCEPT);
	return nr;
}

/* Let all threads pass, by no filter; or none, by a filter that is active without entries. */
static void set_all_objects(struct ktape_filter_value *v, bool pass)
{
	ktape_filter_release(v);
	v->active = !pass;
}

/*
 * Suppress a thread.  A filter has entries that pass and exceptions, or only exceptions,
 * or no entry.  If it has no entry, no thread passes.  With entries that pass, the
 * exception is still needed, because an entry of another thread may include this one
 * (its threads or children).
 */
static int suppress_object(struct ktape_filter_value *v, int32_t pid)
{
	uint32_t before = count_passing(v);

	if (v->active && !v->nr)
		return 0;
	remove_pid(v, pid, 0);
	v->active = true;
	if (before && !count_passing(v)) {
		set_all_objects(v, false);
		return 0;
	}
	return add_listed_pid(v, pid, KTAPE_PID_EXCEPT);
}

/*
 * Let a thread pass.  If the filter has only exceptions, it is enough that the thread is none, and
 * without any the filter goes; else the thread needs an entry.
 */
static int pass_object(struct ktape_filter_value *v, int32_t pid)
{
	bool exceptions_only = v->nr && !count_passing(v);

	if (!v->active)
		return 0;
	remove_pid(v, pid, KTAPE_PID_EXCEPT);
	if (!exceptions_only)
		return add_listed_pid(v, pid, 0);
	if (!v->nr)
		set_all_objects(v, true);
	return 0;
}

static int take_rkh_object(struct rkh *r, const struct order *o)
{
	struct ktape_filter_value *v;
	int ret = get_filter(r, KTAPE_FILTER_PID, &v);
	uint64_t pid;

	if (ret)
		return ret;
	if (!strcmp(o->name, "all")) {
		set_all_objects(v, o->pass);
		return 0;
	}
	if (kt_parse_u64(o->name, &pid) || !pid || pid > INT32_MAX)
		return bad_name(r, o, "thread id");
	return o->pass ? pass_object(v, (int32_t)pid) :
			 suppress_object(v, (int32_t)pid);
}

static const struct {
	const char *name;
	int (*take)(struct rkh *r, const struct order *o);
} kinds[] = {
	{ "group:", take_rkh_group },
	{ "event:", take_rkh_event_name },
	{ "object:", take_rkh_object },
	{ "signal:", take_rkh_signal },
};

/**
 * rkh_apply() - apply --suppress and --pass to a profile and filters
 * @command: the subcommand
 * @list: the options in their order
 * @device: session whose filters are changed; NULL: a new one without filters
 * @mask: events of the profile, changed
 * @config: receives the filters that have to change
 *
 * Return: 0 or the exit code.
 */
int rkh_apply(const struct kt_command *command, const struct kt_opt_list *list,
	      struct ktape_device *device, uint64_t mask[KTAPE_MASK_WORDS],
	      struct ktape_config *config)
{
	struct rkh r = {
		.command = command,
		.device = device,
		.config = config,
	};

	derive_masks(&r, list, mask);
	for (unsigned int i = 0; i < list->nr; i++) {
		struct order o = { .text = list->items[i].text };
		size_t len = 0, k;
		int ret;

		o.pass = !strcmp(list->items[i].option->name, "pass");
		for (k = 0; k < KT_ARRAY_SIZE(kinds); k++) {
			len = strlen(kinds[k].name);
			if (!strncmp(o.text, kinds[k].name, len))
				break;
		}
		if (k == KT_ARRAY_SIZE(kinds))
			return misuse(command,
				      "--%s needs group:, event:, object: or signal: and a name",
				      list->items[i].option->name);
		o.name = o.text + len;
		ret = kinds[k].take(&r, &o);
		if (ret)
			return ret;
	}
	for (unsigned int i = 0; i < KTAPE_MASK_WORDS; i++)
		mask[i] = r.groups[i] & r.events[i];
	return 0;
}
