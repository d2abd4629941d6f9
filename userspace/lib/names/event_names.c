// SPDX-License-Identifier: LGPL-2.1-or-later
/* Look up the names of an event's values, as they were valid at the event's time. */
#include "names/names.h"

/* Registry type of a field type, KTAPE_OBJ_FREE = the values are no objects. */
static const uint8_t object_types[KTAPE_TYPES] = {
	[KTAPE_TYPE_TID] = KTAPE_OBJ_THREAD,
	[KTAPE_TYPE_IRQ] = KTAPE_OBJ_IRQ,
	[KTAPE_TYPE_FUNC] = KTAPE_OBJ_FUNCTION,
	[KTAPE_TYPE_MARKER] = KTAPE_OBJ_MARKER,
	[KTAPE_TYPE_VALUEID] = KTAPE_OBJ_VALUE,
	[KTAPE_TYPE_ISRID] = KTAPE_OBJ_ISR,
	[KTAPE_TYPE_DEV] = KTAPE_OBJ_BLOCK_DEVICE,
	[KTAPE_TYPE_NETDEV] = KTAPE_OBJ_NET_DEVICE,
};

/* AUDIT_ARCH_* of the machines whose system calls the registry may name. */
static const struct {
	const char *machine;
	uint32_t native;
	uint32_t compat;
} archs[] = {
	{ "x86_64", 0xc000003e, 0x40000003 },
	{ "aarch64", 0xc00000b7, 0x40000028 },
	{ "armv6l", 0x40000028, 0 },
	{ "armv7l", 0x40000028, 0 },
	{ "armv8l", 0x40000028, 0 },
	{ "riscv64", 0xc00000f3, 0x400000f3 },
};

/* Return the name that the module has registered for a system call, or NULL. */
static const char *registered_syscall(const struct kt_line *l, unsigned int nr)
{
	const struct ktape_object_info *o;
	uint32_t arch = 0;

	for (size_t i = 0; i < KT_ARRAY_SIZE(archs); i++) {
		if (!strcmp(archs[i].machine, l->info->machine))
			arch = l->event->dat20 & KT_CALL_COMPAT ?
				       archs[i].compat :
				       archs[i].native;
	}
	o = ktape_registry_object(l->registry, KTAPE_OBJ_SYSCALL, nr, arch,
				  l->event->ts);
	return o && o->plain ? o->name : NULL;
}

/*
 * Check for a number too large for the table.  In sys_path, KT_CALL_LARGE means something
 * else.
 */
static bool is_large(const struct ktape_event *e)
{
	return e->dat20 & KT_CALL_LARGE && e->opcode != KTAPE_EV_SYS_PATH;
}

static const char *known_syscall(const struct kt_line *l, unsigned int nr)
{
	uint32_t bits = l->event->dat20;
	unsigned int abi = KTAPE_ABI_NATIVE;

	if (bits & KT_CALL_COMPAT)
		abi = KTAPE_ABI_COMPAT;
	else if (bits & KT_CALL_X32)
		abi = KTAPE_ABI_X32;
	return ktape_syscall_abi_name(l->info->machine, abi, nr);
}

/* Return the name of a system call of this event, or NULL. */
const char *kt_syscall_of(const struct kt_line *l, unsigned int nr)
{
	const char *name;

	if (is_large(l->event))
		return NULL;
	name = known_syscall(l, nr);
	return name ? name : registered_syscall(l, nr);
}

static struct kt_name of_object(const struct ktape_object_info *o)
{
	if (!o)
		return (struct kt_name){ .text = NULL };
	return (struct kt_name){ o->name, o->name_len, o->plain, 0 };
}

static struct kt_name of_text(const char *text)
{
	return (struct kt_name){
		.text = text,
		.len = text ? strlen(text) : 0,
		.plain = true,
	};
}

/*
 * Look up a marker or value of a thread: the thread's own name first, then a name for
 * any thread, then the global name, unless KTAPE_NAME_GLOBAL restricts that name to
 * the global marker or value.
 */
static const struct ktape_object_info *
own_marker(const struct ktape_registry *registry, const struct ktape_event *e,
	   unsigned int type, uint32_t id)
{
	const struct ktape_object_info *o = NULL;

	if (e->tid > 0)
		o = ktape_registry_object(registry, type, id, (uint32_t)e->tid,
					  e->ts);
	if (!o)
		o = ktape_registry_object(registry, type, id, KTAPE_OWNER_ANY,
					  e->ts);
	if (o)
		return o;
	o = ktape_registry_object(registry, type, id, 0, e->ts);
	return o && o->param2 & KTAPE_NAME_GLOBAL ? NULL : o;
}

const struct ktape_object_info *
ktape_registry_meant(const struct ktape_registry *registry,
		     const struct ktape_event *event, unsigned int type, uint32_t id)
{
	const struct ktape_object_info *o = NULL;

	/* Bit 0 of dat20: the marker or value is of the thread. */
	if ((type == KTAPE_OBJ_MARKER || type == KTAPE_OBJ_VALUE) && event->dat20 & 1)
		return own_marker(registry, event, type, id);
	/* An ISR of one CPU is named with param1 = CPU + 1, one of all CPUs with 0. */
	if (type == KTAPE_OBJ_ISR)
		o = ktape_registry_object(registry, type, id, event->cpu + 1,
					  event->ts);
	return o ? o : ktape_registry_object(registry, type, id, 0, event->ts);
}

/* Check whether kt_name_of() can name values of this type. */
bool kt_type_has_name(unsigned int type)
{
	return type == KTAPE_TYPE_SYSCALL || object_types[type];
}

/* Check whether the name of a value depends on neither the registry nor the time. */
bool kt_name_lasts(const struct kt_line *l, unsigned int type, uint64_t value)
{
	if (type == KTAPE_TYPE_SYSCALL)
		return is_large(l->event) || known_syscall(l, (unsigned int)value);
	return !object_types[type];
}

/*
 * Look up the name of a number, such as a thread id or an address; not the name of
 * an enumeration value.
 * Return: the name; its text is NULL if there is none.
 */
struct kt_name kt_name_of(const struct kt_line *l, unsigned int type, uint64_t value)
{
	const struct ktape_object_info *o;
	struct kt_name name;

	if (type == KTAPE_TYPE_SYSCALL)
		return of_text(kt_syscall_of(l, (unsigned int)value));
	if (type == KTAPE_TYPE_TID && !value)
		return of_text("swapper");
	if (!object_types[type])
		return of_text(NULL);
	o = ktape_registry_meant(l->registry, l->event, object_types[type],
				 (uint32_t)value);
	name = of_object(o);
	if (o && type == KTAPE_TYPE_FUNC)
		name.offset = o->param1;
	return name;
}

/*
 * Look up the name of a number or of an enumeration value.
 * Return: the name; its text is NULL if there is none.
 */
struct kt_name kt_name_any(const struct kt_line *l, unsigned int type, uint64_t value)
{
	struct kt_name name = kt_name_of(l, type, value);

	return name.text ? name : of_text(ktape_value_name(type, value));
}
