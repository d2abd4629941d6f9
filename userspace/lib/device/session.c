// SPDX-License-Identifier: LGPL-2.1-or-later
/* List, open and destroy sessions by name; the policy and reader ioctls. */
#include <string.h>

#include "device/internal.h"

#define LIST_TRIES 8 /* to get a list that was not outgrown meanwhile */

/* Fill a session reference.  A name of one or two digits is the session's number. */
static int make_reference(const char *name, struct ktape_session_ref *ref)
{
	size_t len = strlen(name);

	memset(ref, 0, sizeof(*ref));
	ref->size = sizeof(*ref);
	if (!len || len >= sizeof(ref->name))
		return -EINVAL;
	if (len < 3 && strspn(name, "0123456789") == len) {
		ref->id = (__u32)atoi(name);
		return 0;
	}
	ref->id = KTAPE_SESSION_BY_NAME;
	memcpy(ref->name, name, len);
	return 0;
}

int ktape_device_sessions(struct ktape_device *device,
			  struct ktape_session_info **sessions)
{
	struct ktape_session_info *room = NULL, *more;
	struct ktape_session_list l;
	unsigned int nr = 0;
	int err = 0;

	/* Sessions may be created between the call for the number and for the list. */
	for (unsigned int i = 0; i < LIST_TRIES; i++) {
		memset(&l, 0, sizeof(l));
		l.size = sizeof(l);
		l.nr = nr;
		l.entry_size = sizeof(*room);
		l.entries = (uintptr_t)room;
		err = kt_device_ioctl(device, KTAPE_IOC_SESSIONS, &l);
		if (err)
			break;
		if (l.nr <= nr) {
			for (unsigned int k = 0; k < l.nr; k++)
				room[k].name[sizeof(room[k].name) - 1] = '\0';
			*sessions = room;
			return (int)l.nr;
		}
		nr = l.nr;
		more = realloc(room, nr * sizeof(*room));
		err = -ENOMEM;
		if (!more)
			break;
		room = more;
		err = -EAGAIN;
	}
	free(room);
	return err;
}

int ktape_device_attach(struct ktape_device *device, const char *name,
			bool writable, struct ktape_device **session)
{
	struct ktape_session_ref ref;
	int fd = make_reference(name, &ref);

	ref.flags = writable ? 0 : KTAPE_OPEN_READONLY;
	if (!fd)
		fd = kt_device_ioctl(device, KTAPE_IOC_OPEN, &ref);
	return fd < 0 ? fd : kt_device_adopt(fd, session);
}

int ktape_device_destroy(struct ktape_device *device, const char *name)
{
	struct ktape_session_ref ref;
	int err = make_reference(name, &ref);

	return err ? err : kt_device_ioctl(device, KTAPE_IOC_DESTROY, &ref);
}

int ktape_device_policy(struct ktape_device *device, unsigned int op,
			struct ktape_policy *policy)
{
	policy->size = sizeof(*policy);
	policy->op = op;
	policy->flags = 0;
	policy->reserved = 0;
	policy->evicted = 0;
	if (op == KTAPE_POLICY_GET) {
		policy->shed_percent = 0;
		policy->stall_ms = 0;
	}
	return kt_device_ioctl(device, KTAPE_IOC_POLICY, policy);
}

int ktape_device_reader(struct ktape_device *device, uint32_t cpu,
			uint32_t kind, struct ktape_reader_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->cpu = cpu;
	info->kind = kind;
	return kt_device_ioctl(device, KTAPE_IOC_READER, info);
}
