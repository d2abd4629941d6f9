/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Add run-time probes, call the function of ktape_target.ko that they hit, and read names of
 * functions, for guest tests.
 */
#ifndef _KT_PROBE_H
#define _KT_PROBE_H

#include <ktape/filter.h>

#include "kt_module.h"
#include "kt_ring.h"

/* Has ktape_target(), a function to probe. */
#define KT_TARGET	"/tests/ktape_target.ko"
#define KT_TARGET_PARAM "/sys/module/ktape_target/parameters/"

static inline int kt_probe_op(int fd, uint32_t op, struct ktape_probe *p)
{
	p->size = sizeof(*p);
	p->op = op;
	return kt_ioctl(fd, KTAPE_IOC_PROBE, p);
}

/* Add a probe. Return: its opcode, or a negative errno. */
static inline int kt_probe_add(int fd, const char *symbol, uint32_t flags,
			       uint32_t nargs)
{
	struct ktape_probe p = { .flags = flags, .nargs = nargs };
	int ret;

	snprintf(p.symbol, sizeof(p.symbol), "%s", symbol);
	ret = kt_probe_op(fd, KTAPE_PROBE_ADD, &p);
	return ret ? ret : (int)p.opcode;
}

static inline int kt_probe_remove(int fd, unsigned int opcode)
{
	struct ktape_probe p = { .opcode = opcode };

	return kt_probe_op(fd, KTAPE_PROBE_REMOVE, &p);
}

/* Return what is known of a probe; its symbol is "?" if GET failed. */
static inline struct ktape_probe kt_probe_get(int fd, unsigned int opcode)
{
	struct ktape_probe p = { .opcode = opcode };

	if (kt_probe_op(fd, KTAPE_PROBE_GET, &p))
		strcpy(p.symbol, "?");
	return p;
}

static inline int kt_target_load(void)
{
	return kt_insmod(KT_TARGET, "");
}

static inline int kt_target_unload(void)
{
	return kt_rmmod("ktape_target");
}

/* Call ktape_target() @n times: its first argument counts the calls from 0 on. */
static inline int kt_target_calls(long n)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", n);
	return kt_write_text(KT_TARGET_PARAM "calls", text);
}

/* Call ktape_target() once, with these four arguments. */
static inline int kt_target_call_with(const unsigned long *v)
{
	char text[80];

	snprintf(text, sizeof(text), "%lx %lx %lx %lx", v[0], v[1], v[2], v[3]);
	return kt_write_text(KT_TARGET_PARAM "call", text);
}

/*
 * Copy the latest entry of an object from a mapped registry. A worker adds
 * symbols shortly after their first record. Return: true if the entry is there.
 */
static inline bool kt_object(const struct kt_map *m, uint32_t type, uint32_t id,
			     struct ktape_object_entry *to)
{
	const struct ktape_object_entry *e = (const void *)m->data;
	size_t nr = m->e.data_size / sizeof(*e);

	to->seq = 0;
	for (int tries = 0; tries < 100 && !to->seq; tries++) {
		for (size_t i = 0; i < nr; i++)
			if (e[i].type == type && e[i].id == id &&
			    (!to->seq || e[i].born > to->born))
				*to = e[i];
		/* A writer is changing the entry. */
		if (to->seq & 1)
			to->seq = 0;
		if (!to->seq)
			usleep(20000);
	}
	return to->seq;
}

/*
 * Return true if the name of a token's function ends with @end. A system call
 * has several names; the kernel reports any of them.
 */
static inline bool kt_is_function(const struct kt_map *registry, uint32_t token,
				  const char *end)
{
	struct ktape_object_entry e;
	size_t len;

	if (!kt_object(registry, KTAPE_OBJ_FUNCTION, token, &e))
		return false;
	len = strnlen(e.name, sizeof(e.name));
	return len >= strlen(end) &&
	       !strncmp(e.name + len - strlen(end), end, strlen(end));
}

#endif /* _KT_PROBE_H */
