// SPDX-License-Identifier: GPL-2.0-only
/* The ioctl for triggers: everything is checked before anything is made. */
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/string.h>

#include "dev.h"
#include "session/session.h"

#define ON_TARGET \
	(KTAPE_TRIGGER_START | KTAPE_TRIGGER_STOP | KTAPE_TRIGGER_PROFILE)
#define ACTIONS \
	(KTAPE_TRIGGER_MARK | KTAPE_TRIGGER_START | KTAPE_TRIGGER_STOP | \
	 KTAPE_TRIGGER_SNAPSHOT | KTAPE_TRIGGER_PROFILE |                \
	 KTAPE_TRIGGER_NOTIFY)

static bool compare_ok(const struct ktape_trigger_compare *c)
{
	unsigned int room = c->word == KTAPE_COMPARE_DAT20 ? 20 : 32;

	if (c->word > KTAPE_COMPARE_DAT20 || !c->width ||
	    (c->op & ~KTAPE_COMPARE_SIGNED) >= KTAPE_COMPARE_OPS)
		return false;
	if (c->width == 64)
		return !c->shift && c->word < KTAPE_COMPARE_DAT20 - 1;
	return c->shift + c->width <= room;
}

static bool compares_ok(const struct ktape_trigger *t)
{
	u32 i;

	if (t->nr_compares > KTAPE_TRIGGER_COMPARES)
		return false;
	for (i = 0; i < t->nr_compares; i++)
		if (!compare_ok(&t->compare[i]))
			return false;
	return !memchr_inv(&t->compare[i], 0,
			   sizeof(t->compare) - i * sizeof(t->compare[0]));
}

static bool condition_ok(const struct ktape_trigger *t)
{
	bool timed = t->when != KTAPE_TRIGGER_EVENT;

	if (t->when > KTAPE_TRIGGER_QUIET || !compares_ok(t))
		return false;
	if (t->when == KTAPE_TRIGGER_LONGER) {
		if (kt_trigger_gate_of(t->opcode) < 0)
			return false;
	} else if (t->opcode < KTAPE_OP_EXCEPTION ||
		   !kt_event_opcode_exists(t->opcode) ||
		   kt_session_is_implied(t->opcode)) {
		return false;
	}
	if (t->when == KTAPE_TRIGGER_QUIET &&
	    (t->nth || t->duration_ns < KTAPE_TRIGGER_QUIET_MIN))
		return false;
	return t->duration_ns <= KTAPE_TRIGGER_NS_MAX &&
	       timed == !!t->duration_ns && t->nth <= S32_MAX &&
	       t->limit <= S32_MAX;
}

/* What an action takes; what none of them takes is zero. */
static bool actions_ok(const struct ktape_trigger *t)
{
	if (t->actions & ~ACTIONS)
		return false;
	if (t->actions & KTAPE_TRIGGER_START && t->actions & KTAPE_TRIGGER_STOP)
		return false;
	if (!(t->actions & KTAPE_TRIGGER_MARK) && t->mark)
		return false;
	if (t->actions & ON_TARGET ? t->target != KTAPE_TRIGGER_SELF &&
					     t->target >= KT_SESSIONS :
				     t->target)
		return false;
	if (!(t->actions & KTAPE_TRIGGER_NOTIFY) && t->eventfd)
		return false;
	if (t->actions & KTAPE_TRIGGER_SNAPSHOT ?
		    t->before_ns > KTAPE_TRIGGER_NS_MAX ||
			    t->after_ns > KTAPE_TRIGGER_NS_MAX :
		    t->before_ns || t->after_ns)
		return false;
	if (t->actions & KTAPE_TRIGGER_PROFILE)
		return kt_session_mask_ok(t->mask);
	return !memchr_inv(t->mask, 0, sizeof(t->mask));
}

static bool told_is_zero(const struct ktape_trigger *t)
{
	return !t->matches && !t->fired && !t->flags && !t->missed &&
	       !t->last && !t->held_ns;
}

static long add(struct kt_session *s, struct ktape_trigger *t)
{
	struct eventfd_ctx *notify = NULL;
	long ret;

	if (t->id || !told_is_zero(t) || !condition_ok(t) || !actions_ok(t))
		return -EINVAL;
	/* A descriptor that was handed on leads to no other session. */
	if (t->actions & ON_TARGET && t->target != KTAPE_TRIGGER_SELF) {
		ret = kt_dev_allowed();
		if (ret)
			return ret;
	}
	if (t->actions & KTAPE_TRIGGER_NOTIFY) {
		notify = eventfd_ctx_fdget(t->eventfd);
		if (IS_ERR(notify))
			return PTR_ERR(notify);
	}
	ret = kt_session_trigger_add(s, t, notify);
	if (ret && notify)
		eventfd_ctx_put(notify);
	return ret;
}

/**
 * kt_dev_trigger() - tell, arm or remove a trigger
 * @s: the session
 * @t: what to do; receives what is there then
 *
 * Context: process context, may sleep.
 * Return: 0; see uapi/ktape/trigger.h.
 */
long kt_dev_trigger(struct kt_session *s, struct ktape_trigger *t)
{
	const struct ktape_trigger bare = {
		.size = t->size,
		.op = t->op,
		.id = t->id,
	};

	if (t->op == KTAPE_TRIGGER_ADD)
		return add(s, t);
	if (memcmp(t, &bare, sizeof(bare)) || t->id >= KTAPE_TRIGGERS)
		return -EINVAL;
	if (t->op == KTAPE_TRIGGER_GET)
		return kt_session_trigger_tell(s, t);
	if (t->op == KTAPE_TRIGGER_REMOVE)
		return kt_session_trigger_remove(s, t->id);
	return -EINVAL;
}
