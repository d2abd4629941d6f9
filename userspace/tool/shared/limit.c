// SPDX-License-Identifier: GPL-2.0-only
/* How many files ktape may have open. */
#include <sys/resource.h>

#include "tool/shared/limit.h"

static struct rlimit files_limit;

/**
 * raise_files_limit() - allow many open files: a trace has one for each ring
 */
void raise_files_limit(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &files_limit))
		return;
	most = files_limit;
	most.rlim_cur = most.rlim_max;
	setrlimit(RLIMIT_NOFILE, &most);
}

/**
 * restore_files_limit() - set the limit back, for commands that we run
 */
void restore_files_limit(void)
{
	if (files_limit.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files_limit);
}
