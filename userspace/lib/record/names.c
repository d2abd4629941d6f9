// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write the registry of a recording: all names at its beginning, and names that
 * changed at its end; at the start of a piece also the state of the session.
 */
#include "record/internal.h"

/* Write the packet if it has records. */
static int end_names(struct ktape_recorder *rec, struct ktape_builder *b, uint64_t ts)
{
	size_t len;

	if (!b->records)
		return 0;
	len = ktape_build_end(b, ts, 0);
	return kt_record_output(rec, b->data, len);
}

/* Add an entry of the registry as a record; bit 8 of its dat20 says that the object is dead. */
static int add_checkpoint_name(struct ktape_builder *b,
			       const struct ktape_object_entry *e, uint64_t ts)
{
	const uint32_t args[] = {
		e->id,
		e->param1,
		e->param2,
		(uint32_t)e->born,
		(uint32_t)(e->born >> 32),
		(uint32_t)e->died,
		(uint32_t)(e->died >> 32),
	};
	const struct ktape_record record = {
		.ts = ts,
		.args = args,
		.nargs = KT_ARRAY_SIZE(args),
		.opcode = KTAPE_EV_REGISTRY,
		.dat20 = e->type | (e->died ? 1U << 8 : 0),
		.blob = e->name,
		.blob_size = (uint32_t)strnlen(e->name, sizeof(e->name)),
	};

	return ktape_build_add(b, &record);
}

/*
 * Write names as of time @ts, except those that are the same in @known, the registry's
 * first @nr_known entries before.
 */
int kt_record_write_names(struct ktape_recorder *rec, uint64_t ts,
			  const struct ktape_object_entry *names, int nr,
			  const struct ktape_object_entry *known, int nr_known)
{
	struct ktape_block head = {
		.kind = KTAPE_RING_REGISTRY,
		.context = KTAPE_CTX_CONTINUED,
		.tid = -1,
		.ts_begin = ts,
	};
	struct ktape_builder b = { .records = 0 };
	uint8_t *packet = malloc(KT_NAMES_PACKET);
	int err = packet ? 0 : -ENOMEM;

	memcpy(head.uuid, ktape_device_features(rec->device)->uuid, 16);
	for (int i = 0; i < nr && !err; i++) {
		if (names[i].type == KTAPE_OBJ_FREE ||
		    (i < nr_known && !memcmp(&known[i], &names[i], sizeof(*names))))
			continue;
		/* No packet yet is as a full one: begin the next. */
		err = b.data ? add_checkpoint_name(&b, &names[i], ts) : -ENOSPC;
		if (err != -ENOSPC)
			continue;
		err = end_names(rec, &b, ts);
		head.seq = ++rec->names_seq;
		ktape_build_begin(&b, packet, KT_NAMES_PACKET, &head);
		if (!err)
			err = add_checkpoint_name(&b, &names[i], ts);
	}
	if (!err)
		err = end_names(rec, &b, ts);
	free(packet);
	return err;
}

static int write_all_names(struct ktape_recorder *rec, uint64_t ts)
{
	int err = kt_record_write_names(rec, ts, rec->names, rec->nr_names, NULL, 0);

	return err ? err :
		     kt_record_write_names(rec, ts, rec->cgroups,
					   rec->nr_cgroups, NULL, 0);
}

/* Before the first packet, write the names as of the begin time of that packet. */
int kt_record_start(struct ktape_recorder *rec, const uint8_t *head)
{
	if (rec->names_written)
		return 0;
	rec->names_written = true;
	return write_all_names(rec, KT_HEAD64(head, ts_begin));
}

/* At the end, write the names that changed since the beginning. */
void kt_record_last_names(struct ktape_recorder *rec)
{
	struct ktape_object_entry *names;
	int nr = ktape_reader_checkpoint(rec->reader, &names);
	int err;

	if (nr < 0) {
		kt_record_fail(rec, nr);
		return;
	}
	/* A recording without any record has no names: do not write them here, either. */
	err = rec->names_written ?
		      kt_record_write_names(rec, rec->reader->latest, names, nr,
					    rec->names, rec->nr_names) :
		      0;
	/* The next piece of a log begins with these names. */
	free(rec->names);
	rec->names = names;
	rec->nr_names = nr;
	if (err)
		kt_record_fail(rec, err);
}

/*
 * Return the session state, which events and filters are on, if it is the same on all CPUs.  NULL:
 * it is not, because a change has reached a part of them, or no control ring has a packet; then it
 * is not written.
 */
static const struct kt_state *common_state(const struct ktape_recorder *rec)
{
	const struct kt_state *state = NULL;

	for (unsigned int i = 0; i < rec->nr_outs; i++) {
		const struct kt_ring *r = kt_reader_ring(rec->reader, i);

		if (r->kind != KTAPE_RING_CONTROL || !r->ts)
			continue;
		if (state && !kt_state_equal(state, &rec->outs[i].state))
			return NULL;
		state = &rec->outs[i].state;
	}
	return state;
}

/* Return the start time of the new piece: the earliest end of the last packets. */
static uint64_t piece_begins(const struct ktape_recorder *rec)
{
	uint64_t ts = rec->reader->latest;

	for (unsigned int i = 0; i < rec->nr_outs; i++) {
		const struct kt_ring *r = kt_reader_ring(rec->reader, i);

		if (r->ts)
			ts = kt_min(ts, r->ts);
	}
	return ts;
}

/*
 * At the start of a new piece, write the session state and all names but the cgroups of
 * threads.  The state is of the time when the piece begins, the names are those of the end of the
 * earlier piece (kt_record_last_names()).  Return: 0 or negative errno.
 */
int kt_record_restate(struct ktape_recorder *rec)
{
	const struct kt_state *state = common_state(rec);
	uint64_t ts = piece_begins(rec);
	struct ktape_block head = {
		.kind = KTAPE_RING_REGISTRY,
		.context = KTAPE_CTX_CONTINUED,
		.tid = -1,
		.ts_begin = ts,
	};
	struct ktape_builder b;
	int err = 0;

	rec->names_written = true;
	if (state) {
		head.seq = ++rec->names_seq;
		memcpy(head.uuid, ktape_device_features(rec->device)->uuid, 16);
		ktape_build_begin(&b, rec->block, KT_NAMES_PACKET, &head);
		err = kt_state_write(state, &b, ts);
		if (!err)
			err = end_names(rec, &b, ts);
	}
	return err ? err :
		     kt_record_write_names(rec, rec->reader->latest, rec->names,
					   rec->nr_names, NULL, 0);
}
