/* SPDX-License-Identifier: GPL-2.0-only */
/* Create and list sessions by name, and ask about their readers, in guest tests. */
#ifndef _KT_SESSION_H
#define _KT_SESSION_H

#include <ktape/session.h>

#include "kt_load.h"

/* Create a named session. Return: its descriptor or a negative errno. */
static inline int kt_named(int fd, const char *name, uint32_t mode,
			   uint64_t ring, uint32_t block, uint32_t flags)
{
	struct ktape_create c = { .size = sizeof(c),
				  .mode = mode,
				  .ring_size = ring,
				  .block_size = block,
				  .flags = flags };

	snprintf(c.name, sizeof(c.name), "%s", name);
	return kt_ioctl(fd, KTAPE_IOC_CREATE, &c);
}

/* Open a session by its name. Return: its descriptor or a negative errno. */
static inline int kt_attach(int fd, const char *name, uint32_t flags)
{
	struct ktape_session_ref ref = { .size = sizeof(ref),
					 .flags = flags,
					 .id = KTAPE_SESSION_BY_NAME };

	snprintf(ref.name, sizeof(ref.name), "%s", name);
	return kt_ioctl(fd, KTAPE_IOC_OPEN, &ref);
}

/* The same by its number. */
static inline int kt_attach_id(int fd, uint32_t id)
{
	struct ktape_session_ref ref = { .size = sizeof(ref), .id = id };

	return kt_ioctl(fd, KTAPE_IOC_OPEN, &ref);
}

static inline int kt_destroy(int fd, const char *name)
{
	struct ktape_session_ref ref = { .size = sizeof(ref),
					 .id = KTAPE_SESSION_BY_NAME };

	snprintf(ref.name, sizeof(ref.name), "%s", name);
	return kt_ioctl(fd, KTAPE_IOC_DESTROY, &ref);
}

#define KT_SESSIONS_MAX 8 /* as many as can have a number */

/*
 * List up to KT_SESSIONS_MAX sessions, the module may have more: ended ones whose rings are kept.
 * Return: number of entries, or a negative errno.
 */
static inline int kt_list_sessions(int fd, struct ktape_session_info *to)
{
	struct ktape_session_list l = { .size = sizeof(l),
					.nr = KT_SESSIONS_MAX,
					.entry_size = sizeof(*to),
					.entries = (uintptr_t)to };
	int ret = kt_ioctl(fd, KTAPE_IOC_SESSIONS, &l);

	if (ret)
		return ret;
	return l.nr < KT_SESSIONS_MAX ? (int)l.nr : KT_SESSIONS_MAX;
}

/*
 * Find the entry of session @name. Return: 0, -ENOENT, or another negative
 * errno.
 */
static inline int kt_session_info(int fd, const char *name,
				  struct ktape_session_info *to)
{
	struct ktape_session_info all[KT_SESSIONS_MAX];
	int nr = kt_list_sessions(fd, all);

	for (int i = 0; i < nr; i++)
		if (!strcmp(all[i].name, name)) {
			*to = all[i];
			return 0;
		}
	return nr < 0 ? nr : -ENOENT;
}

/*
 * Get or set what a discard session does when readers are slow: @shed is the percentage of an event
 * ring from which on events of low priority are dropped, @stall the ms after which a consumer that
 * stands still is evicted; 0 = never. @p gets the policy. Return: 0 or a negative errno.
 */
static inline int kt_policy(int fd, uint32_t op, uint32_t shed, uint32_t stall,
			    struct ktape_policy *p)
{
	*p = (struct ktape_policy){
		.size = sizeof(*p), .op = op, .shed_percent = shed, .stall_ms = stall
	};
	return kt_ioctl(fd, KTAPE_IOC_POLICY, p);
}

/* Ask how far the reader @fd has come in a ring. Return: 0 or a negative errno. */
static inline int kt_reader_info(int fd, uint32_t cpu, uint32_t kind,
				 struct ktape_reader_info *info)
{
	*info = (struct ktape_reader_info){ .size = sizeof(*info),
					    .cpu = cpu,
					    .kind = kind };
	return kt_ioctl(fd, KTAPE_IOC_READER, info);
}

#endif /* _KT_SESSION_H */
