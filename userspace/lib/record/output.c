// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where the packets of a recording go, and the first error. */
#include "util/file.h"
#include "record/internal.h"

/*
 * Write to the descriptor of a pipe form.  While a non-blocking one accepts nothing, rec->wait()
 * waits, or gives up.  Return: 0 or negative errno.
 */
static int write_pipe(struct ktape_recorder *rec, const uint8_t *data, size_t len)
{
	int err = 0;

	if (!rec->wait)
		return kt_write_all(rec->fd, data, len);
	while (len && !err) {
		ssize_t n = kt_write_some(rec->fd, data, len);

		if (n < 0)
			return (int)n;
		data += n;
		len -= (size_t)n;
		if (!n)
			err = rec->wait(rec->arg);
	}
	return err;
}

/*
 * Write a packet as it is, to the trace or the pipe, and count its bytes.  Return: 0 or negative
 * errno.
 */
int kt_record_output(struct ktape_recorder *rec, const uint8_t *packet, size_t len)
{
	uint64_t before;
	int err;

	if (rec->ctf) {
		before = rec->ctf->written;
		err = ktape_ctf_append(rec->ctf, packet, len);
		rec->bytes += rec->ctf->written - before;
	} else {
		err = write_pipe(rec, packet, len);
		rec->bytes += err ? 0 : len;
	}
	return err;
}

/* Set the error of the recording, unless it has one. */
void kt_record_fail(struct ktape_recorder *rec, int err)
{
	if (!rec->error)
		rec->error = err;
}
