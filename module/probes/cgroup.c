// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of cgroups (v2), by which sessions may be filtered.
 *
 * There is no event of them: their tracepoints keep the registry up to date.
 */
#include <linux/cgroup.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "internal.h"
#include "names/registry.h"
#include "probes.h"

#if defined(CONFIG_CGROUPS) && defined(CONFIG_TRACEPOINTS)
#include <trace/events/cgroup.h>

#define PATH_LENGTH	512

static bool is_v2(struct cgroup *cgrp)
{
	return cgrp->root == &cgrp_dfl_root;
}

/* The end of the path tells more than its begin. */
static void enter(struct cgroup *cgrp, const char *path)
{
	const u64 id = cgroup_id(cgrp);
	struct cgroup *parent = cgroup_parent(cgrp);
	size_t length = strlen(path);

	if (length >= KTAPE_NAME_SIZE)
		path += length - (KTAPE_NAME_SIZE - 1);
	kt_registry_set(KTAPE_OBJ_CGROUP, (u32)id, (u32)(id >> 32),
			parent ? (u32)cgroup_id(parent) : 0, path);
}

static void notrace probe_cgroup_enter(void *data, struct cgroup *cgrp,
				       const char *path)
{
	kt_probe_enter();
	if (is_v2(cgrp))
		enter(cgrp, path);
	kt_probe_leave();
}

static void notrace probe_cgroup_rmdir(void *data, struct cgroup *cgrp,
				       const char *path)
{
	const u64 id = cgroup_id(cgrp);

	kt_probe_enter();
	if (is_v2(cgrp))
		kt_registry_gone(KTAPE_OBJ_CGROUP, (u32)id, (u32)(id >> 32));
	kt_probe_leave();
}

#define ROW(tp, callback)						\
	{								\
		.name = #tp,						\
		.func = KT_PROBE_FUNC(NULL, callback, tp,		\
				      struct cgroup *, const char *),	\
		.always = true,						\
	}

struct kt_probe kt_probes_cgroup[] = {
	ROW(cgroup_mkdir, probe_cgroup_enter),
	ROW(cgroup_rename, probe_cgroup_enter),
	ROW(cgroup_rmdir, probe_cgroup_rmdir),
	{}
};

/**
 * kt_cgroups_walk() - enter the cgroups that are there
 *
 * The probes are attached by now.
 *
 * Context: module load.
 */
void kt_cgroups_walk(void)
{
	struct cgroup_subsys_state *css;
	static char path[PATH_LENGTH];
	struct cgroup *cgrp;

	rcu_read_lock();
	css_for_each_descendant_pre(css, &cgrp_dfl_root.cgrp.self) {
		cgrp = css->cgroup;
		if (cgrp->self.flags & CSS_ONLINE &&
		    cgroup_path(cgrp, path, sizeof(path)) >= 0)
			enter(cgrp, path);
	}
	rcu_read_unlock();
}

#else

struct kt_probe kt_probes_cgroup[] = { {} };

void kt_cgroups_walk(void)
{
}

#endif
