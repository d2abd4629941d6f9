// SPDX-License-Identifier: GPL-2.0-only
/* ktape top: the session that is read: its cost, its profile, a snapshot of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ktape-verify.h>

#include "util/bits.h"

#include "tool/session/session.h"
#include "tool/top/top.h"

#define NAME_SIZE \
	64 /* bytes of the text for a session, and of the name of a new folder */

/**
 * struct top_device_cpu - counts of a CPU at the last interval
 * @events: events emitted
 * @opening: ticks that opening blocks took
 */
struct top_device_cpu {
	uint64_t events;
	uint64_t opening;
};

/**
 * struct top_device - a session
 * @reads: the session, for reading its records
 * @control: the session, for everything else
 * @writable: @control may change it
 * @layout: its layout at start
 * @name: its number, and its name if it was given
 * @cpus: counts by CPU
 * @nr_cpus: entries of @cpus
 * @begun: @cpus has counts
 */
struct top_device {
	struct ktape_device *reads;
	struct ktape_device *control;
	bool writable;
	struct ktape_layout layout;
	char name[NAME_SIZE];
	struct top_device_cpu *cpus;
	unsigned int nr_cpus;
	bool begun;
};

/**
 * top_device_open() - open a session, or print why it cannot be opened
 * @path: path of the device; NULL: KTAPE_DEVICE_PATH
 * @session: name or number; NULL: session 0
 * @device: set to the session, also after an error; the caller closes it.  Unchanged if there is no
 *	memory
 *
 * Return: 0 or the exit code.
 */
int top_device_open(const char *path, const char *session, struct top_device **device)
{
	struct top_device *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return fail("%s", strerror(ENOMEM));
	*device = d;
	d->writable = may_control(path);
	if (open_named(path, session, false, &d->reads) ||
	    open_named(path, session, d->writable, &d->control))
		return EXIT_FAILED;
	err = session_layout(d->control, &d->layout);
	if (err)
		return fail("cannot read the state of the session: %s",
			    strerror(-err));
	d->nr_cpus = ktape_device_features(d->control)->cpus;
	d->cpus = calloc(d->nr_cpus + 1ULL, sizeof(*d->cpus));
	if (!d->cpus)
		return fail("%s", strerror(ENOMEM));
	snprintf(d->name, sizeof(d->name), "session %u%s%s", d->layout.session,
		 session ? " " : "", session ? session : "");
	return 0;
}

/**
 * top_device_input() - return the descriptor that has the records
 * @d: the session
 *
 * Return: the descriptor, which top_device_close() closes.
 */
int top_device_input(const struct top_device *d)
{
	return ktape_device_fd(d->reads);
}

/**
 * top_device_runs() - was the session recording when it was opened?
 * @d: the session
 *
 * Return: true if it was.
 */
bool top_device_runs(const struct top_device *d)
{
	return d->layout.running;
}

/**
 * top_device_name() - return the number and name of the session
 * @d: the session
 *
 * Return: the text, valid until the session is closed.
 */
const char *top_device_name(const struct top_device *d)
{
	return d->name;
}

/*
 * Return the time that a CPU spent on recording since the last call, in ns; 0 if it had no event or
 * is not known.  Clear @known if the module has timed too few of its events.
 */
static double cost_of(struct top_device *d, unsigned int cpu, bool *known)
{
	uint64_t hz = kt_max(ktape_device_features(d->control)->clock_hz, 1);
	struct top_device_cpu *c = &d->cpus[cpu], before = *c;
	struct ktape_cost cost;
	struct ktape_stats st;
	double ticks;

	if (ktape_device_cost(d->control, cpu, &cost) ||
	    ktape_device_stats(d->control, cpu, KTAPE_RING_EVENT, &st))
		return 0;
	c->events = 0;
	for (unsigned int i = 0; i < KTAPE_CLASSES; i++)
		c->events += st.emitted[i];
	c->opening = cost.opening_ticks;
	if (c->events == before.events)
		return 0;
	if (cost.samples < KTAPE_TRACER_SAMPLES) {
		*known = false;
		return 0;
	}
	ticks = (double)cost.event_ticks / (double)cost.samples *
			(double)(c->events - before.events) +
		(double)(c->opening - before.opening);
	return ticks * 1e9 / (double)hz;
}

/**
 * top_device_cost() - return the time that recording took since the last call
 * @d: the session
 * @cost: filled; not known in the first call
 *
 * The time is sampled by the module, as in ktape status.
 */
void top_device_cost(struct top_device *d, struct top_cost *cost)
{
	double ns = 0;

	cost->known = d->begun;
	for (unsigned int i = 0; i < d->nr_cpus; i++)
		ns += cost_of(d, i, &cost->known);
	cost->ns = cost->known && ns > 0 ? (uint64_t)ns : 0;
	d->begun = true;
}

/**
 * top_device_profile() - set the events that the session records
 * @d: the session
 * @list: events, classes, presets, globs, masks
 * @said: set to what was done, or why not
 * @size: bytes of @said
 */
void top_device_profile(struct top_device *d, const char *list, char *said,
			size_t size)
{
	struct ktape_profile p = { .flags = 0 };
	uint64_t mask[KTAPE_MASK_WORDS];
	const char *bad = list;
	int err = 0;

	if (ktape_mask_parse(list, mask, &bad)) {
		snprintf(said, size,
			 "unknown event \"%.*s\" (ktape list shows them)",
			 (int)strcspn(bad, ","), bad);
		return;
	}
	/* Keep the flags. */
	err = ktape_device_profile(d->control, KTAPE_PROFILE_GET, &p);
	memcpy(p.mask, mask, sizeof(mask));
	if (!err)
		err = ktape_device_profile(d->control, KTAPE_PROFILE_SET, &p);
	if (!d->writable || err == -EBADF || err == -EACCES || err == -EPERM)
		snprintf(said, size,
			 "you may only read the device: the profile is unchanged");
	else if (err)
		snprintf(said, size, "cannot set the profile: %s", strerror(-err));
	else
		snprintf(said, size, "the profile is set: generation %u",
			 p.generation);
}

/**
 * top_device_save() - save the records in the rings in a new directory
 * @d: the session
 * @dir: path of the directory
 * @said: set to what was done, or why not
 * @size: bytes of @said
 *
 * Return: true if it was saved.
 */
bool top_device_save(struct top_device *d, const char *dir, char *said, size_t size)
{
	const struct ktape_recorder_options how = {
		.dir = dir,
		.flags = KTAPE_RECORD_ATTACHED | KTAPE_RECORD_STAGED,
	};
	struct ktape_recorder_stats stats;
	struct ktape_recorder *recorder;
	int err;

	if (d->layout.mode == KTAPE_MODE_SNAPSHOT) {
		snprintf(said, size,
			 "a snapshot session has to be stopped first (ktape snapshot)");
		return false;
	}
	err = ktape_recorder_open(d->control, &how, &recorder);
	if (err) {
		snprintf(said, size, "%s: %s", dir, recorder_error(err));
		return false;
	}
	err = ktape_recorder_finish(recorder);
	ktape_recorder_stats(recorder, &stats);
	ktape_recorder_close(recorder);
	if (err)
		snprintf(said, size, "%s: %s", dir, recording_error(err));
	else
		snprintf(said, size, "%s: %llu events, %llu lost", dir,
			 (unsigned long long)stats.records,
			 (unsigned long long)(stats.lost + stats.missed));
	return !err;
}

/**
 * top_device_snapshot() - save the records in the rings in a new directory named after the time
 * @d: the session
 * @said: set to what was done, or why not
 * @size: bytes of @said
 */
void top_device_snapshot(struct top_device *d, char *said, size_t size)
{
	char dir[NAME_SIZE] = "ktape-snapshot";
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(dir, sizeof(dir), "ktape-%Y%m%d-%H%M%S", &tm);
	top_device_save(d, dir, said, size);
}

/**
 * top_device_close() - close the session
 * @d: the session, or NULL
 */
void top_device_close(struct top_device *d)
{
	if (!d)
		return;
	ktape_device_close(d->reads);
	ktape_device_close(d->control);
	free(d->cpus);
	free(d);
}
