// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The device file and its ioctls, one function each.  Sessions by name are in
 * session.c, filters in filter.c; the rings are mapped by reader.c.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stream/metadata.h"
#include "device/internal.h"

#define LAYOUT_TRIES 8 /* to get a list that was not outgrown meanwhile */

struct ktape_device {
	int fd;
	struct ktape_features features;
};

/* Call an ioctl, again after a signal.  Return: its result or negative errno. */
int kt_device_ioctl(const struct ktape_device *device, unsigned long command,
		    void *arg)
{
	int ret;

	do {
		ret = ioctl(device->fd, command, arg);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : ret;
}

/* Make a device from a descriptor.  On an error the descriptor is closed. */
int kt_device_adopt(int fd, struct ktape_device **device)
{
	struct ktape_device *d = calloc(1, sizeof(*d));
	int err;

	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	d->fd = fd;
	d->features.size = sizeof(d->features);
	err = kt_device_ioctl(d, KTAPE_IOC_FEATURES, &d->features);
	if (err) {
		ktape_device_close(d);
		return err;
	}
	*device = d;
	return 0;
}

int ktape_device_open(const char *path, bool writable, struct ktape_device **device)
{
	int fd = open(path ? path : KTAPE_DEVICE_PATH,
		      (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);

	return fd < 0 ? -errno : kt_device_adopt(fd, device);
}

int ktape_device_create(struct ktape_device *device, struct ktape_create *create,
			struct ktape_device **session)
{
	int fd;

	create->size = sizeof(*create);
	fd = kt_device_ioctl(device, KTAPE_IOC_CREATE, create);
	return fd < 0 ? fd : kt_device_adopt(fd, session);
}

void ktape_device_close(struct ktape_device *device)
{
	if (!device)
		return;
	close(device->fd);
	free(device);
}

int ktape_device_fd(const struct ktape_device *device)
{
	return device->fd;
}

const struct ktape_features *ktape_device_features(const struct ktape_device *device)
{
	return &device->features;
}

int ktape_device_layout(struct ktape_device *device, struct ktape_layout *layout,
			struct ktape_layout_entry **entries)
{
	struct ktape_layout_entry *room = NULL, *more;
	unsigned int nr = 0;
	int err = 0;

	/* CPUs may come online between the call for the number and for the list. */
	for (unsigned int i = 0; i < LAYOUT_TRIES; i++) {
		memset(layout, 0, sizeof(*layout));
		layout->size = sizeof(*layout);
		layout->nr = nr;
		layout->entries = (uintptr_t)room;
		err = kt_device_ioctl(device, KTAPE_IOC_LAYOUT, layout);
		if (err)
			break;
		if (layout->nr <= nr) {
			layout->entries = 0;
			*entries = room;
			return 0;
		}
		nr = layout->nr;
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

int ktape_device_profile(struct ktape_device *device, unsigned int op,
			 struct ktape_profile *profile)
{
	profile->size = sizeof(*profile);
	profile->op = op;
	profile->generation = 0;
	return kt_device_ioctl(device, KTAPE_IOC_PROFILE, profile);
}

static int run_device_command(struct ktape_device *device, unsigned long number)
{
	struct ktape_command c = { .size = sizeof(c) };

	return kt_device_ioctl(device, number, &c);
}

int ktape_device_start(struct ktape_device *device)
{
	return run_device_command(device, KTAPE_IOC_START);
}

int ktape_device_stop(struct ktape_device *device)
{
	return run_device_command(device, KTAPE_IOC_STOP);
}

int ktape_device_clear(struct ktape_device *device)
{
	return run_device_command(device, KTAPE_IOC_CLEAR);
}

int ktape_device_flush(struct ktape_device *device)
{
	return run_device_command(device, KTAPE_IOC_FLUSH);
}

int ktape_device_stats(struct ktape_device *device, uint32_t cpu, uint32_t kind,
		       struct ktape_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->size = sizeof(*stats);
	stats->cpu = cpu;
	stats->kind = kind;
	return kt_device_ioctl(device, KTAPE_IOC_STATS, stats);
}

int ktape_device_cost(struct ktape_device *device, uint32_t cpu,
		      struct ktape_cost *cost)
{
	memset(cost, 0, sizeof(*cost));
	cost->size = sizeof(*cost);
	cost->cpu = cpu;
	return kt_device_ioctl(device, KTAPE_IOC_COST, cost);
}

int ktape_device_consumer(struct ktape_device *device, bool on)
{
	struct ktape_consumer c = {
		.size = sizeof(c),
		.op = on ? KTAPE_CONSUMER_REGISTER : KTAPE_CONSUMER_UNREGISTER,
	};

	return kt_device_ioctl(device, KTAPE_IOC_CONSUMER, &c);
}

int ktape_device_position(struct ktape_device *device,
			  const struct ktape_position *positions, unsigned int nr)
{
	struct ktape_consumer c = {
		.size = sizeof(c),
		.op = KTAPE_CONSUMER_POSITION,
		.nr = nr,
		.positions = (uintptr_t)positions,
	};

	return kt_device_ioctl(device, KTAPE_IOC_CONSUMER, &c);
}

int ktape_device_event_source(struct ktape_device *device, unsigned int opcode,
			      unsigned int source, struct ktape_event_info *info)
{
	int err;

	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->opcode = opcode;
	info->source = source;
	err = kt_device_ioctl(device, KTAPE_IOC_EVENT_INFO, info);
	info->reason[sizeof(info->reason) - 1] = '\0';
	info->name[sizeof(info->name) - 1] = '\0';
	return err;
}

int ktape_device_event_info(struct ktape_device *device, unsigned int opcode,
			    struct ktape_event_info *info)
{
	return ktape_device_event_source(device, opcode, 0, info);
}

int ktape_device_metadata(struct ktape_device *device, char **text, size_t *len)
{
	struct ktape_metadata m = { .size = sizeof(m) };
	char *room = NULL, *more;
	int err;

	/* The first call has no room, and learns the length. */
	do {
		err = kt_device_ioctl(device, KTAPE_IOC_METADATA, &m);
		if (err != -EMSGSIZE || m.length > KT_METADATA_MAX)
			break;
		more = realloc(room, m.length);
		if (!more) {
			err = -ENOMEM;
			break;
		}
		room = more;
		m.size = sizeof(m);
		m.text = (uintptr_t)room;
	} while (true);
	/* The call without room cannot succeed. */
	if (!err && !room)
		err = -EIO;
	if (err) {
		free(room);
		return err;
	}
	*text = room;
	*len = m.length;
	return 0;
}

int ktape_device_watermark(struct ktape_device *device, uint64_t bytes)
{
	struct ktape_watermark w = { .size = sizeof(w), .bytes = bytes };

	return kt_device_ioctl(device, KTAPE_IOC_WATERMARK, &w);
}

int ktape_device_trigger(struct ktape_device *device, unsigned int op,
			 struct ktape_trigger *trigger)
{
	trigger->size = sizeof(*trigger);
	trigger->op = op;
	return kt_device_ioctl(device, KTAPE_IOC_TRIGGER, trigger);
}

int ktape_device_probe(struct ktape_device *device, unsigned int op,
		       struct ktape_probe *probe)
{
	probe->size = sizeof(*probe);
	probe->op = op;
	return kt_device_ioctl(device, KTAPE_IOC_PROBE, probe);
}
