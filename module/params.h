/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's parameters, checked.  Only main.c uses them. */
#ifndef _KT_PARAMS_H
#define _KT_PARAMS_H

#include <linux/types.h>

#include "persist/persist.h"
#include "session/session.h"

/**
 * struct kt_params - what the module was loaded with
 * @session: configuration of session 0
 * @profile: profile of session 0, bit n is opcode n
 * @clock: name of the trace clock, checked by kt_clock_init()
 * @registry: entries of the registry at first
 * @registry_max: entries that it can have, 0 = a share of the memory
 * @max_str: bytes of a marker's message that are recorded
 * @dev_mode: permissions of /dev/ktape
 * @mark_mode: permissions of /dev/ktape_mark
 * @mark_rate: short events per second and unprivileged user
 * @persist: where the persistent region is, and whether to drop its traces; the
 *	other members are left to main.c
 */
struct kt_params {
	struct kt_session_config session;
	u64 profile[KTAPE_MASK_WORDS];
	const char *clock;
	unsigned int registry;
	unsigned int registry_max;
	unsigned int max_str;
	unsigned int dev_mode;
	unsigned int mark_mode;
	unsigned int mark_rate;
	struct kt_persist_config persist;
};

int kt_params_parse(struct kt_params *p);
void kt_params_clock_refused(int err);
void kt_params_session_created(const struct kt_session_config *c,
			       const struct kt_session *s);

#endif /* _KT_PARAMS_H */
