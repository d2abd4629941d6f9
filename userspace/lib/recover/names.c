// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Recover the names of a trace.  Also the two inputs of a recovery: memory read through
 * the module, and a file with a memory image.
 */
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"

#include "recover/internal.h"

#define NAMES_PACKET  (64U << 10)
#define NAMES_AT_ONCE 256U

/* ---- names ------------------------------------------------------------ */

/* The packet with names that is being built. */
struct names {
	struct kt_recovery *rec;
	struct ktape_builder b;
	uint64_t seq;
	bool begun;
	uint8_t packet[NAMES_PACKET] __attribute__((aligned(8)));
};

static int end_packet(struct names *n)
{
	const struct ktape_recover_output *out = n->rec->out;
	size_t len;

	if (!n->begun || !n->b.records)
		return 0;
	n->begun = false;
	len = ktape_build_end(&n->b, n->rec->last_ts, 0);
	return out->packet(out->arg, n->packet, len);
}

static void begin_packet(struct names *n)
{
	struct ktape_block head = {
		.kind = KTAPE_RING_REGISTRY,
		.context = KTAPE_CTX_CONTINUED,
		.tid = -1,
		.ts_begin = n->rec->last_ts,
		.seq = ++n->seq,
	};

	memcpy(head.uuid, n->rec->super.uuid, sizeof(head.uuid));
	ktape_build_begin(&n->b, n->packet, sizeof(n->packet), &head);
	n->begun = true;
}

/*
 * Add a name, in a new packet if the current one is full.  Bit 8 of dat20 says that the object is
 * dead.
 */
static int add_recovered_name(struct names *n, const struct ktape_object_entry *e)
{
	uint64_t born = le64toh(e->born), died = le64toh(e->died);
	const uint32_t args[] = {
		le32toh(e->id),		le32toh(e->param1),
		le32toh(e->param2),	(uint32_t)born,
		(uint32_t)(born >> 32), (uint32_t)died,
		(uint32_t)(died >> 32),
	};
	const struct ktape_record record = {
		.ts = n->rec->last_ts,
		.args = args,
		.nargs = KT_ARRAY_SIZE(args),
		.opcode = KTAPE_EV_REGISTRY,
		.dat20 = e->type | (died ? 1U << 8 : 0),
		.blob = e->name,
		.blob_size = (uint32_t)strnlen(e->name, sizeof(e->name)),
	};
	int err = n->begun ? ktape_build_add(&n->b, &record) : -ENOSPC;

	if (err != -ENOSPC)
		return err;
	err = end_packet(n);
	if (err)
		return err;
	begin_packet(n);
	return ktape_build_add(&n->b, &record);
}

/* Check that an entry was completely written: @seq is odd while the module writes it. */
static bool is_name_valid(const struct ktape_object_entry *e)
{
	return !(le16toh(e->seq) & 1) && memchr(e->name, '\0', sizeof(e->name));
}

/*
 * Recover the table of names, and count those that are taken and those that are not valid.  From
 * a place on that the input does not have, names are left out, which is reported.
 * Return: 0 or negative errno.
 */
int kt_recover_names(struct kt_recovery *rec)
{
	struct ktape_object_entry e[NAMES_AT_ONCE];
	uint32_t all = rec->super.registry_entries, part;
	struct names *n = calloc(1, sizeof(*n));
	int err = 0;

	if (!n)
		return -ENOMEM;
	n->rec = rec;
	for (uint32_t i = 0; i < all && !err; i += part) {
		part = (uint32_t)kt_min(all - i, NAMES_AT_ONCE);
		err = kt_recover_read(rec, rec->super.registry + i * sizeof(*e),
				      e, part * sizeof(*e));
		for (uint32_t j = 0; j < part && !err; j++) {
			if (e[j].type == KTAPE_OBJ_FREE)
				continue;
			if (!is_name_valid(&e[j])) {
				rec->result->names_discarded++;
				continue;
			}
			rec->result->names++;
			err = add_recovered_name(n, &e[j]);
		}
	}
	if (err == -EBADMSG) {
		kt_recover_report(rec, rec->super.registry,
				  "the table of names is not in the input");
		err = 0;
	}
	if (!err)
		err = end_packet(n);
	free(n);
	return err;
}

/* ---- input from the module or a file ---------------------------------- */

static int device_ioctl(const struct ktape_device *device,
			unsigned long command, void *arg)
{
	int ret;

	do {
		ret = ioctl(ktape_device_fd(device), command, arg);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : ret;
}

static int64_t read_device(void *arg, uint64_t offset, void *to, size_t len)
{
	struct ktape_persist_read r;
	size_t done = 0;
	int err;

	while (done < len) {
		memset(&r, 0, sizeof(r));
		r.size = sizeof(r);
		r.offset = offset + done;
		r.length = len - done;
		r.data = (uintptr_t)to + done;
		err = device_ioctl(arg, KTAPE_IOC_PERSIST_READ, &r);
		if (err)
			return err;
		if (!r.length)
			break;
		done += r.length;
	}
	return (int64_t)done;
}

int ktape_recover_from_device(struct ktape_device *device,
			      struct ktape_recover_input *input)
{
	struct ktape_persist_info info = { .size = sizeof(info) };
	int err = device_ioctl(device, KTAPE_IOC_PERSIST_INFO, &info);

	if (err)
		return err == -ENOTTY ? -ENODATA : err;
	if (!info.old_size)
		return -ENODATA;
	input->read = read_device;
	input->arg = device;
	input->size = info.old_size;
	return 0;
}

int ktape_device_persist_drop(struct ktape_device *device)
{
	struct ktape_command c = { .size = sizeof(c) };

	return device_ioctl(device, KTAPE_IOC_PERSIST_DROP, &c);
}

static int64_t read_recovered_file(void *arg, uint64_t offset, void *to, size_t len)
{
	return kt_pread_all(*(const int *)arg, to, len, offset);
}

int ktape_recover_from_fd(const int *fd, struct ktape_recover_input *input)
{
	struct stat st;
	off_t end;

	if (fstat(*fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return -EINVAL;
	end = lseek(*fd, 0, SEEK_END);
	if (end < 0)
		return -errno;
	input->read = read_recovered_file;
	input->arg = (void *)(uintptr_t)fd;
	input->size = (uint64_t)end;
	return 0;
}
