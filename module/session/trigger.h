/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds, tells and removes triggers, and does what they are for. */
#ifndef _KT_SESSION_TRIGGER_H
#define _KT_SESSION_TRIGGER_H

#include "event/trigger.h"
#include "session.h"

struct eventfd_ctx;

int kt_session_trigger_add(struct kt_session *s, struct ktape_trigger *spec,
			   struct eventfd_ctx *notify);
int kt_session_trigger_tell(struct kt_session *s, struct ktape_trigger *to);
int kt_session_trigger_remove(struct kt_session *s, u32 id);
void kt_session_triggers_arm(struct kt_session *s);
void kt_session_triggers_watch(struct kt_session *s);
void kt_session_triggers_exit(struct kt_session *s);

#endif /* _KT_SESSION_TRIGGER_H */
