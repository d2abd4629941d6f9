// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names that modules and programs give to markers, user events and so on.
 *
 * Unprivileged users may give names, too.  A small table says which user gave
 * which name.  A user may give NAMES_OF_ONE names, all of them together
 * NAMES_OF_ALL and at most a quarter of the registry, and may change only names
 * of their own.  So they can neither fill the registry nor change other names.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include <ktape/formats.h>
#include <ktape/name.h>

#include "emit.h"
#include "names/names.h"

#define NAMES_OF_ONE 64
#define NAMES_OF_ALL 256

/* A name and the unprivileged user that gave it. */
struct kt_named {
	u32 type;
	u32 id;
	kuid_t owner;
};

/*
 * Protects named[]; held from the check of a name to its change in the registry.
 * Raw, because modules may call with preemption disabled.
 */
static DEFINE_RAW_SPINLOCK(name_lock);
static struct kt_named named[NAMES_OF_ALL];
static unsigned int nr_named;

/*
 * Find a name by type and id.  That identifies it: the only type that may be named
 * and also needs param1 is ISR, and unprivileged callers cannot name ISRs.
 */
static struct kt_named *given_find(u32 type, u32 id)
{
	unsigned int i;

	for (i = 0; i < nr_named; i++)
		if (named[i].type == type && named[i].id == id)
			return &named[i];
	return NULL;
}

static void given_forget(struct kt_named *n)
{
	*n = named[--nr_named];
}

static bool given_has_room(kuid_t owner)
{
	unsigned int i, own = 0;

	for (i = 0; i < nr_named; i++)
		own += uid_eq(named[i].owner, owner);
	return own < NAMES_OF_ONE &&
	       nr_named < min(NAMES_OF_ALL, (int)kt_registry_entries() / 4);
}

/*
 * Check that a user may change a name, and note its owner.  @owner is NULL for a
 * privileged user, which takes the name from its owner.
 * Return: 0; -EPERM: the name is another user's, or no unprivileged user gave it; -ENOSPC: the
 * user, or all of them, have too many, and the name is counted as refused.
 */
static int given_claim(const struct ktape_name *n, const kuid_t *owner)
{
	struct kt_named *known = given_find(n->type, n->id);

	if (!owner) {
		if (known)
			given_forget(known);
		return 0;
	}
	if (known) {
		if (!uid_eq(known->owner, *owner))
			return -EPERM;
		if (!n->name[0])
			given_forget(known);
		return 0;
	}
	if (kt_registry_has(n->type, n->id, n->param1))
		return -EPERM;
	if (!n->name[0])
		return 0;
	if (!given_has_room(*owner)) {
		kt_registry_refuse();
		return -ENOSPC;
	}
	named[nr_named++] = (struct kt_named){ n->type, n->id, *owner };
	return 0;
}

/*
 * Return true if objects of this type may be named, and id and parameters are in range.  A
 * marker or value has one name for all threads: the names of ktape/objects.h with another
 * param1 come from conversions.  The formats of a user event have 4 bits each in param1, so
 * there are at most 8.
 */
static bool name_is_valid(const struct ktape_name *n)
{
	switch (n->type) {
	case KTAPE_OBJ_MARKER:
	case KTAPE_OBJ_VALUE:
		return !n->param1 && !n->param2;
	case KTAPE_OBJ_ISR: /* param1: CPU + 1, or 0 for all CPUs */
		return n->param1 <= nr_cpu_ids && !n->param2;
	case KTAPE_OBJ_EXCEPTION:
		return n->id < 1U << 24 && !n->param1 && !n->param2;
	case KTAPE_OBJ_USER_EVENT:
		return n->id < KTAPE_FORMAT_ID_FIRST && n->param2 <= 8 &&
		       !((u64)n->param1 >> 4 * n->param2);
	default:
		return n->type >= KTAPE_OBJ_USER && n->type <= U8_MAX;
	}
}

/**
 * kt_emit_name() - Give an object a name, or remove the name
 * @n: the object and its name, which ends in NUL; an empty name removes it
 * @owner: the user if it is unprivileged, else NULL
 *
 * Context: task context.
 * Return: 0; -EINVAL if the type cannot be named, or id or parameters are out of
 * range; -EPERM if @owner did not give the name; -ENOSPC if @owner, or all
 * unprivileged users together, have as many names as they may.
 */
int kt_emit_name(const struct ktape_name *n, const kuid_t *owner)
{
	int ret;

	if (!name_is_valid(n))
		return -EINVAL;
	raw_spin_lock(&name_lock);
	ret = given_claim(n, owner);
	if (!ret && n->name[0])
		kt_registry_set(n->type, n->id, n->param1, n->param2, n->name);
	else if (!ret)
		kt_registry_gone(n->type, n->id, n->param1);
	raw_spin_unlock(&name_lock);
	return ret;
}

/**
 * ktape_name() - Name a marker, a value, an interrupt routine and so on
 * @type: KTAPE_OBJ_MARKER, _VALUE, _ISR, _EXCEPTION, _USER_EVENT, or a type from
 *	KTAPE_OBJ_USER on
 * @id: number of the object within its type
 * @param1: first parameter, by type
 * @param2: second parameter, by type
 * @name: the name, cut to what an entry has room for; NULL or empty removes it
 *
 * Context: task context.
 * Return: 0; -EINVAL if the type cannot be named, or id or parameters are out of
 * range; -EDEADLK if a sink calls this: records of names are made with the locks
 * held that this takes.
 */
int ktape_name(u32 type, u32 id, u32 param1, u32 param2, const char *name)
{
	struct ktape_name n = {
		.type = type,
		.id = id,
		.param1 = param1,
		.param2 = param2,
	};

	if (kt_sink_runs())
		return -EDEADLK;
	if (name)
		strscpy(n.name, name, sizeof(n.name));
	return kt_emit_name(&n, NULL);
}
EXPORT_SYMBOL_GPL(ktape_name);
