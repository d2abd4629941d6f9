// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names that modules and programs give.
 *
 * Users without rights share a small table that says who owns which name: one
 * can have so many, all of them together so many, and nobody can change what is
 * another's or the system's.  The registry stays free for the rest.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include <ktape/name.h>

#include "emit.h"
#include "names/names.h"

#define NAMES_OF_ONE	64
#define NAMES_OF_ALL	256

/* Who gave a name without having rights. */
struct kt_named {
	u32 type;
	u32 id;
	kuid_t owner;
};

/* Protects the table, and the registry between looking and changing. */
static DEFINE_SPINLOCK(name_lock);
static struct kt_named named[NAMES_OF_ALL];
static unsigned int nr_named;

/* Their param1 tells no objects apart: ISRs take rights. */
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

/* May this user change the name, and who owns it afterwards? */
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

/* Types that may be named, and what their ids and parameters may be. */
static bool name_is_valid(const struct ktape_name *n)
{
	switch (n->type) {
	case KTAPE_OBJ_MARKER:
	case KTAPE_OBJ_VALUE:
		return !n->param1 && !n->param2;
	case KTAPE_OBJ_ISR:
		return n->param1 <= nr_cpu_ids && !n->param2;
	case KTAPE_OBJ_EXCEPTION:
		return n->id < 1U << 24 && !n->param1 && !n->param2;
	case KTAPE_OBJ_USER_EVENT:
		return n->param2 <= 8 &&
		       !((u64)n->param1 >> 4 * n->param2);
	default:
		return n->type >= KTAPE_OBJ_USER && n->type <= U8_MAX;
	}
}

/**
 * kt_emit_name() - give a name, or take it away
 * @n: the name, which ends in NUL; empty: the object is gone
 * @owner: a user without rights, or NULL
 *
 * Context: task context.
 * Return: 0; -EINVAL: no such type, or its id or parameters; -EPERM: the name
 * is another's; -ENOSPC: @owner, or all like it, have enough.
 */
int kt_emit_name(const struct ktape_name *n, const kuid_t *owner)
{
	int ret;

	if (!name_is_valid(n))
		return -EINVAL;
	spin_lock(&name_lock);
	ret = given_claim(n, owner);
	if (!ret && n->name[0])
		kt_registry_set(n->type, n->id, n->param1, n->param2, n->name);
	else if (!ret)
		kt_registry_gone(n->type, n->id, n->param1);
	spin_unlock(&name_lock);
	return ret;
}

/**
 * ktape_name() - name a marker, a value, an interrupt routine, ...
 * @type: KTAPE_OBJ_MARKER, _VALUE, _ISR, _EXCEPTION, _USER_EVENT, or above
 *	KTAPE_OBJ_USER
 * @id: within the type
 * @param1: by type
 * @param2: by type
 * @name: cut to what an entry has room for; NULL or empty: it is gone
 *
 * Context: task context.
 * Return: 0; -EINVAL: no such type, or its id or parameters.
 */
int ktape_name(u32 type, u32 id, u32 param1, u32 param2, const char *name)
{
	struct ktape_name n = {
		.type = type,
		.id = id,
		.param1 = param1,
		.param2 = param2,
	};

	if (name)
		strscpy(n.name, name, sizeof(n.name));
	return kt_emit_name(&n, NULL);
}
EXPORT_SYMBOL_GPL(ktape_name);
