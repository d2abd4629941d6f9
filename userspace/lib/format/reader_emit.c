// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a format calls to deliver the records, names and losses that it reads.  They wait in
 * queues (reader_queue.c) until reader.c delivers them.
 */
#include "reader.h"

/* Make room for the time of the last record of a CPU.  Return: 0 or -ENOMEM. */
static int grow_latest(struct kt_import *s, uint32_t cpu)
{
	uint64_t *more;

	if (cpu < s->nr_latest)
		return 0;
	more = realloc(s->latest, (cpu + 1ULL) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + s->nr_latest, 0, (cpu + 1 - s->nr_latest) * sizeof(*more));
	s->latest = more;
	s->nr_latest = cpu + 1;
	return 0;
}

/*
 * Deliver a record of a kernel.  If its CPU's time has gone back, it gets the time of the
 * record before, as in a native trace: callers that merge streams or account times rely on
 * the order of a CPU's records.  Events of which that is so are counted for a notice.
 */
static int put_in_order(struct kt_import *s, const struct kt_delivery *f)
{
	struct kt_delivery held = *f;
	uint64_t *latest;
	int err = grow_latest(s, f->cpu);

	if (err)
		return err;
	latest = &s->latest[f->cpu];
	if (f->ts < *latest) {
		const struct kt_back step = {
			.cpu = f->cpu,
			.ts = *latest,
			.by = *latest - f->ts,
			.events = 1,
			.steps = 1,
			.offset = s->in->offset,
		};

		if (f->opcode != KT_IMPORT_LOST && f->kind == KTAPE_RING_EVENT)
			kt_import_count_back(s, &step);
		held.ts = *latest;
	}
	*latest = held.ts;
	return kt_fifo_put(s, &held);
}

/**
 * kt_import_emit() - deliver a record
 * @s: the trace
 * @f: the record
 *
 * In the first pass over the input, for names, it is dropped.
 *
 * Return: 0, or negative errno for next() to return.
 */
int kt_import_emit(struct kt_import *s, const struct kt_delivery *f)
{
	if (f->cpu >= KT_CPUS_MAX)
		return kt_import_fail(s, s->in->offset,
				      "CPU number %u is out of range", f->cpu);
	if (s->learning)
		return 0;
	return s->codec->kernel ? put_in_order(s, f) : kt_fifo_put(s, f);
}

/**
 * kt_import_name() - deliver the name of an object
 * @s: the trace
 * @at: time, CPU and raw bytes of the record; the rest is overwritten.  NULL: enter
 *	the name into the registry without a record
 * @n: the object and its name
 *
 * In the first pass over the input the name only goes into the registry.  Else that happens when
 * the record is delivered.
 *
 * Return: as kt_import_emit().
 */
int kt_import_name(struct kt_import *s, struct kt_delivery *at,
		   const struct kt_named *n)
{
	const uint64_t ts = at ? at->ts : 0;
	uint8_t words[7 * 4] = { 0 };
	struct ktape_event e = {
		.ts = ts,
		.args = words,
		.nargs = 7,
		.blob = n->name,
		.blob_size = (uint32_t)kt_min(n->len, kt_name_max(n->type)),
		.dat20 = n->type,
		.opcode = KTAPE_EV_REGISTRY,
		.kind = KTAPE_RING_REGISTRY,
		.known = true,
	};
	int err;

	/* The last two words, when the object ended, stay 0: it still exists. */
	kt_set32(words, n->id);
	kt_set32(words + 4, n->param1);
	kt_set32(words + 8, n->param2);
	kt_set64(words + 12, n->born);
	if (s->learning || (!at && !s->learned)) {
		err = ktape_registry_add(s->registry, &e);
		if (err)
			return err;
	}
	if (!at)
		return 0;
	at->kind = KTAPE_RING_REGISTRY;
	at->opcode = KTAPE_EV_REGISTRY;
	at->tid = -1;
	at->dat20 = n->type;
	at->nargs = 7;
	memset(at->args, 0, sizeof(at->args));
	at->args[0] = n->id;
	at->args[1] = n->param1;
	at->args[2] = n->param2;
	at->args[3] = (uint32_t)n->born;
	at->args[4] = (uint32_t)(n->born >> 32);
	at->blob = n->name;
	at->blob_size = e.blob_size;
	s->cut_names += !s->learning && n->type == KTAPE_OBJ_USER_EVENT &&
			e.blob_size < n->len;
	return kt_import_emit(s, at);
}

/**
 * kt_import_lost() - deliver a loss: events of a CPU were lost
 * @s: the trace
 * @cpu: CPU that lost them
 * @count: number of lost events, 0 = unknown
 * @from: time of the last event before the loss
 * @to: time of the next event after it
 *
 * The notice waits in the queue like a record, so that it keeps its place among them.
 *
 * Return: as kt_import_emit().
 */
int kt_import_lost(struct kt_import *s, uint32_t cpu, uint64_t count,
		   uint64_t from, uint64_t to)
{
	const struct kt_delivery f = {
		.ts = to, .cpu = cpu, .opcode = KT_IMPORT_LOST, .nargs = 4,
		.args = {
			(uint32_t)count, (uint32_t)(count >> 32),
			(uint32_t)from, (uint32_t)(from >> 32),
		},
	};

	return kt_import_emit(s, &f);
}

/**
 * kt_import_joined() - notify that the input begins in the middle of a frame
 * @s: the trace
 * @offset: offset of that frame in the input
 * @cpu: CPU that the missing events are counted for
 *
 * The reader has joined a stream that was already running: this is no damage.  Also
 * delivers a loss of an unknown number of events.
 *
 * Return: as kt_import_emit().
 */
int kt_import_joined(struct kt_import *s, uint64_t offset, uint32_t cpu)
{
	struct ktape_error error;

	kt_error(&error, offset,
		 "the input begins in the middle of a frame: what came before is missing");
	kt_import_truncated(s, &error);
	return kt_import_lost(s, cpu, 0, 0, 0);
}
