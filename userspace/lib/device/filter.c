// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read, set and remove the filters of a session. */
#include <sys/ioctl.h>
#include <unistd.h>

#include "filter/filter.h"

#define GET_TRIES 8 /* to get a list that was not outgrown meanwhile */

/* Bytes of an entry in the result of KTAPE_FILTER_GET. */
static const uint8_t entry_sizes[KTAPE_FILTER_KINDS] = {
	[KTAPE_FILTER_CPU] = 8,
	[KTAPE_FILTER_SYSCALL] = 8,
	[KTAPE_FILTER_IRQ] = 8,
	[KTAPE_FILTER_SOFTIRQ] = 8,
	[KTAPE_FILTER_SIGNAL] = 8,
	[KTAPE_FILTER_PID] = sizeof(struct ktape_filter_pid),
	[KTAPE_FILTER_CGROUP] = 8,
	[KTAPE_FILTER_UID] = 4,
	[KTAPE_FILTER_SEVERITY] = 4,
	[KTAPE_FILTER_GATE] = sizeof(struct ktape_filter_gate),
	[KTAPE_FILTER_RATE] = sizeof(struct ktape_filter_rate),
	[KTAPE_FILTER_STACK] = 8,
};

static int filter_ioctl(const struct ktape_device *device, struct ktape_filter *f)
{
	int ret;

	f->size = sizeof(*f);
	do {
		ret = ioctl(ktape_device_fd(device), KTAPE_IOC_FILTER, f);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : 0;
}

/* Read all entries, with a larger buffer if needed.  Return: 0 or negative errno. */
static int get_entries(const struct ktape_device *device, unsigned int kind,
		       struct ktape_filter *f, void **entries)
{
	void *room = NULL, *more;
	uint32_t nr = 0;
	int err;

	for (unsigned int i = 0; i < GET_TRIES; i++) {
		*f = (struct ktape_filter){
			.op = KTAPE_FILTER_GET,
			.kind = kind,
			.nr = nr,
			.entries = (uintptr_t)room,
		};
		err = filter_ioctl(device, f);
		if (err)
			break;
		if (f->nr <= nr) {
			*entries = room;
			return 0;
		}
		nr = f->nr;
		more = realloc(room, (size_t)nr * entry_sizes[kind]);
		err = -ENOMEM;
		if (!more)
			break;
		room = more;
		err = -EAGAIN;
	}
	free(room);
	return err;
}

/* Convert the numbers of cgroups to paths. */
static int name_cgroups(struct ktape_filter_value *v, const uint64_t *ids,
			uint32_t nr)
{
	char name[KT_PATH_MAX], *to;

	for (uint32_t i = 0; i < nr; i++) {
		if (kt_cgroup_name(ids[i], name))
			snprintf(name, sizeof(name), "id:%llu",
				 (unsigned long long)ids[i]);
		to = kt_filter_add(v, strlen(name) + 1);
		if (!to)
			return -ENOMEM;
		strcpy(to, name);
	}
	return 0;
}

int ktape_device_filter_get(struct ktape_device *device, unsigned int kind,
			    struct ktape_filter_value *value)
{
	struct ktape_filter f;
	void *entries = NULL;
	int err;

	*value = (struct ktape_filter_value){ .kind = kind };
	if (kind >= KTAPE_FILTER_KINDS)
		return -EINVAL;
	err = get_entries(device, kind, &f, &entries);
	if (err)
		return err;
	value->active = f.active;
	value->collisions = f.collisions;
	if (kind == KTAPE_FILTER_CGROUP) {
		err = name_cgroups(value, entries, f.nr);
		free(entries);
		if (err)
			ktape_filter_release(value);
		return err;
	}
	value->nr = f.nr;
	value->size = (size_t)f.nr * entry_sizes[kind];
	value->entries = entries;
	return 0;
}

/* Set a filter of cgroups: the module takes descriptors of them.  Return: 0 or negative errno. */
static int set_cgroups(struct ktape_device *device, struct ktape_filter *f,
		       const struct ktape_filter_value *value)
{
	int32_t fds[KTAPE_FILTER_CGROUPS];
	const char *name = value->entries;
	uint32_t nr = 0;
	int err = 0;

	/* The module refuses a filter with more entries before it reads any. */
	for (; nr < value->nr && nr < KTAPE_FILTER_CGROUPS; nr++) {
		fds[nr] = kt_cgroup_open(name);
		if (fds[nr] < 0) {
			err = fds[nr];
			break;
		}
		name += strlen(name) + 1;
	}
	f->entries = (uintptr_t)fds;
	if (!err)
		err = filter_ioctl(device, f);
	/* Leave no pointer to @fds behind. */
	f->entries = 0;
	while (nr--)
		close(fds[nr]);
	return err;
}

int ktape_device_filter_set(struct ktape_device *device,
			    const struct ktape_filter_value *value)
{
	struct ktape_filter f = {
		.op = KTAPE_FILTER_SET,
		.kind = value->kind,
		.nr = value->nr,
		.entries = (uintptr_t)value->entries,
	};

	if (!value->active)
		return ktape_device_filter_off(device, value->kind);
	if (value->kind == KTAPE_FILTER_CGROUP)
		return set_cgroups(device, &f, value);
	return filter_ioctl(device, &f);
}

int ktape_device_filter_off(struct ktape_device *device, unsigned int kind)
{
	struct ktape_filter f = { .op = KTAPE_FILTER_OFF, .kind = kind };

	return filter_ioctl(device, &f);
}
