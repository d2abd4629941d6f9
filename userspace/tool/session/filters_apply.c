// SPDX-License-Identifier: GPL-2.0-only
/* Read the filters of a session, apply new ones, and restore them after an error. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <ktape.h>

#include "tool/session/filters.h"
#include "tool/shared/message.h"

/* Return the first thread of a filter that does not exist, or 0. */
static int32_t missing_pid(const struct ktape_filter_value *v)
{
	const struct ktape_filter_pid *pids = v->entries;
	struct stat st;
	char path[32];

	for (uint32_t i = 0; i < v->nr; i++) {
		snprintf(path, sizeof(path), "/proc/%d", pids[i].pid);
		if (stat(path, &st) && errno == ENOENT)
			return pids[i].pid;
	}
	return 0;
}

/* Print which path of a cgroup filter is no cgroup.  Return: false if all are cgroups. */
static bool report_cgroup(const struct ktape_filter_value *v)
{
	const char *name = v->entries;

	for (uint32_t i = 0; i < v->nr; i++, name += strlen(name) + 1) {
		int err = ktape_cgroup_check(name);

		if (!err)
			continue;
		fail("cgroup: %s: %s", name,
		     err == -ENOENT	 ? "no such cgroup" :
		     err == -EMEDIUMTYPE ? "not a directory of cgroup version 2" :
					   strerror(-err));
		return true;
	}
	return false;
}

/* Print why the module did not set or return a filter.  Return: the exit code. */
static int report_trouble(const struct ktape_filter_value *v, int err)
{
	const char *name = kind_name(v->kind);
	int32_t pid;

	if (err == -ENOTTY)
		return fail("%s: the loaded module does not support filters", name);
	if (v->kind == KTAPE_FILTER_CGROUP && report_cgroup(v))
		return EXIT_FAILED;
	if (err == -ESRCH) {
		pid = missing_pid(v);
		if (pid)
			return fail("%s: no such thread: %d", name, pid);
		return fail("%s: no such thread", name);
	}
	/* A gate: a pair is recorded only if it took a minimum time. */
	if (err == -EBUSY)
		return fail("%s: a trigger of the session waits for a pair that this gate would hide: remove one of them",
			    name);
	if (err == -EINVAL)
		return fail("%s: the module refuses this value", name);
	return fail("%s: %s", name, strerror(-err));
}

/* Set one filter, or remove it if @whole and @config does not give it. */
static int apply_one(struct ktape_device *device, const struct ktape_config *config,
		     unsigned int kind, bool whole)
{
	const struct ktape_filter_value *v = &config->filters[kind];
	int err = 0;

	if (config->filters_given >> kind & 1)
		err = ktape_device_filter_set(device, v);
	else if (whole)
		err = ktape_device_filter_off(device, kind);
	/* A module that does not support filters has none that would have to be off. */
	return err == -ENOTTY && !v->active ? 0 : err;
}

/**
 * filters_apply() - set the filters of a session
 * @device: session, open for control
 * @config: filters to set
 * @whole: remove all filters that @config does not give
 *
 * Those that were set before one fails stay: filters_put_back() restores them.
 *
 * Return: 0 or the exit code.
 */
int filters_apply(struct ktape_device *device,
		  const struct ktape_config *config, bool whole)
{
	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS; i++) {
		struct ktape_filter_value none = { .kind = i };
		int err = apply_one(device, config, i, whole);

		if (err)
			return report_trouble(config->filters_given >> i & 1 ?
						      &config->filters[i] :
						      &none,
					      err);
	}
	return 0;
}

/**
 * filters_put_back() - restore the filters after a change that failed
 * @device: session, open for control
 * @before: filters from filters_get() before the change
 *
 * Prints whether all of them were restored.
 */
void filters_put_back(struct ktape_device *device, const struct ktape_config *before)
{
	bool all = true;

	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS; i++) {
		int err = apply_one(device, before, i, true);

		if (err)
			note("%s: cannot restore the filter that was active before: %s",
			     kind_name(i), strerror(-err));
		all &= !err;
	}
	if (all)
		note("all filters were restored to what they were before");
}

/**
 * filter_drop_unknown() - remove threads without a number here, and print how many
 * @v: filter by thread, as read from the module
 */
void filter_drop_unknown(struct ktape_filter_value *v)
{
	struct ktape_filter_pid *pids = v->entries;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < v->nr; i++) {
		if (pids[i].pid)
			pids[kept++] = pids[i];
	}
	if (kept < v->nr)
		note("pid: %u threads were left out, because they have ended or are in another pid namespace; their children are still recorded",
		     v->nr - kept);
	v->nr = kept;
	v->size = kept * sizeof(*pids);
}

/**
 * filter_get() - read one filter of a session
 * @device: the session
 * @kind: enum ktape_filter_kind
 * @v: filled; threads without a number here are left out
 *
 * Return: 0 or negative errno.
 */
int filter_get(struct ktape_device *device, unsigned int kind,
	       struct ktape_filter_value *v)
{
	int err = ktape_device_filter_get(device, kind, v);

	if (!err && kind == KTAPE_FILTER_PID)
		filter_drop_unknown(v);
	return err;
}

/**
 * filters_get() - read all filters of a session
 * @device: the session
 * @config: set to the active filters; to none if the module does not support them
 *
 * Return: 0 or the exit code.
 */
int filters_get(struct ktape_device *device, struct ktape_config *config)
{
	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS; i++) {
		struct ktape_filter_value *v = &config->filters[i];
		int err;

		v->kind = i;
		ktape_filter_release(v);
		config->filters_given &= ~(1U << i);
		err = filter_get(device, i, v);
		if (err == -ENOTTY)
			return 0;
		if (err)
			return report_trouble(v, err);
		if (v->active)
			config->filters_given |= 1U << i;
	}
	return 0;
}
