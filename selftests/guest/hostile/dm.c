// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make a block device whose end has errors: reads and writes there fail with EIO.
 *
 * usage: dm NAME DEVICE SECTORS GOOD
 *   The device DM NAME has SECTORS sectors.  The first GOOD are those of DEVICE, the
 *   others fail.  If it exists, it changes.
 *        dm NAME		remove it
 */
#include <linux/dm-ioctl.h>

#include "kt.h"

#define CONTROL "/dev/mapper/control"

/**
 * struct request - a request to the device mapper
 * @head: what is asked of which device
 * @table: room for the two targets of a table, each a struct dm_target_spec and a text
 */
struct request {
	struct dm_ioctl head;
	char table[1024];
};

static int request(int fd, unsigned long cmd, const char *name, struct request *r)
{
	r->head.version[0] = 4;
	r->head.data_size = sizeof(*r);
	r->head.data_start = sizeof(r->head);
	snprintf(r->head.name, sizeof(r->head.name), "%s", name);
	return ioctl(fd, cmd, r) ? -errno : 0;
}

/* Append a target.  Return: the place for the next one. */
static char *add_target(struct request *r, char *at, uint64_t from,
			uint64_t sectors, const char *type, const char *parameters)
{
	struct dm_target_spec *spec = (void *)at;
	size_t length = (sizeof(*spec) + strlen(parameters) + 8) / 8 * 8;

	if (!sectors)
		return at;
	spec->sector_start = from;
	spec->length = sectors;
	snprintf(spec->target_type, sizeof(spec->target_type), "%s", type);
	strcpy(at + sizeof(*spec), parameters);
	/* The kernel reads @next as the distance from this target. */
	spec->next = length;
	r->head.target_count++;
	return at + length;
}

static int load_table(int fd, const char *name, const char *device,
		      uint64_t sectors, uint64_t good)
{
	struct request r = {};
	char text[128], *at = r.table;

	snprintf(text, sizeof(text), "%s 0", device);
	at = add_target(&r, at, 0, good, "linear", text);
	add_target(&r, at, good, sectors - good, "error", "");
	return request(fd, DM_TABLE_LOAD, name, &r);
}

int main(int argc, char **argv)
{
	int fd = open(CONTROL, O_RDWR | O_CLOEXEC), ret;

	if (fd < 0 || (argc != 2 && argc != 5)) {
		fprintf(stderr, fd < 0 ? "dm: no " CONTROL "\n" :
					 "usage: dm NAME [DEVICE SECTORS GOOD]\n");
		return 2;
	}
	if (argc == 2) {
		ret = request(fd, DM_DEV_REMOVE, argv[1], &(struct request){});
	} else {
		ret = request(fd, DM_DEV_CREATE, argv[1], &(struct request){});
		if (!ret || ret == -EBUSY)
			ret = load_table(fd, argv[1], argv[2], atoll(argv[3]),
					 atoll(argv[4]));
		/* Resume: the loaded table becomes the active one. */
		if (!ret)
			ret = request(fd, DM_DEV_SUSPEND, argv[1],
				      &(struct request){});
	}
	if (ret)
		fprintf(stderr, "dm: %s: %s\n", argv[1], strerror(-ret));
	return ret != 0;
}
