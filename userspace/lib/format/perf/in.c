// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read a perf.data.
 *
 *	head (head.c) | record | record | ... | features
 *	record	| type 32 | misc 16 | size 16 | ... |
 *	sample	| id, ip, pid and tid, time, address, ids, CPU, period, counters, calls, raw |
 *		as far as the sample type has them; raw = size 32, then the kernel's record
 *
 * Records are sorted by time (order.c).  A tracepoint that ktape has becomes ktape's event;
 * all others are user events with their fields by name (format/tracepoint.h).  Names of
 * threads come from the records about them and from the events.  Records that perf -z
 * compressed are unpacked.
 *
 * Samples of other events and records of context switches are user events (event.c); what else
 * a sample has are fields of its event (fields.c).
 *
 * Lost events are delivered as a loss since the CPU's last event.  Records that are not read are
 * counted (count.c).
 */
#include <sys/stat.h>

#include "util/nanoseconds.h"

#include "internal.h"
#include "perf.h"

#define WINDOW \
	(1U << 20) /* bytes of the file that are read at once, more than a record has */
#define BEHIND_MAX \
	(1ULL << 32) /* most bytes of a hardware trace behind its record; more is damage */

#define MISC_LOST_BPF \
	(1U << 15) /* of LOST_SAMPLES: a BPF program dropped them */

/* ---- records in the order of time ------------------------------------------------------------ */

/* Set @last to the entry with the time of a CPU's last event.  Return: 0, -ERANGE or -ENOMEM. */
static int last_of(struct perf *f, uint32_t cpu, uint64_t **last)
{
	uint64_t *more;

	if (cpu >= KT_CPUS_MAX)
		return -ERANGE;
	if (cpu >= f->nr_last) {
		more = realloc(f->last, (cpu + 1ULL) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + f->nr_last, 0,
		       (cpu + 1ULL - f->nr_last) * sizeof(*more));
		f->last = more;
		f->nr_last = cpu + 1ULL;
	}
	*last = &f->last[cpu];
	return 0;
}

/*
 * Find the CPU of an event or of a loss, and the entry for its last event.  An event or loss
 * without a CPU is counted, and is taken to be of CPU 0.
 * Return: 0, -ERANGE if it is no CPU, which is reported, or -ENOMEM.
 */
static int find_perf_cpu(struct kt_import *s, const struct pd_sample *sample,
			 uint64_t offset, uint32_t *cpu, uint64_t **last)
{
	struct perf *f = s->state;
	int err;

	*cpu = pd_cpu_of(f, sample);
	if (*cpu == PD_CPU_UNKNOWN) {
		f->cpuless++;
		*cpu = 0;
	}
	err = last_of(f, *cpu, last);
	if (err == -ERANGE)
		kt_import_bad(s, offset, "CPU number %u is out of range", *cpu);
	return err;
}

/* Return the id of a tracepoint, with which its raw data begin. */
static uint32_t perf_record_id(const struct perf *f, const struct pd_sample *sample)
{
	if (sample->raw_size < f->described.layouts.type_size)
		return UINT32_MAX;
	return f->described.layouts.type_size == 2 ?
		       kt_load16(sample->raw, f->big) :
		       kt_load32(sample->raw, f->big);
}

/* Set time, CPU and thread of an event, and count it.  Return: as find_perf_cpu(). */
static int place_perf_event(struct kt_import *s, const struct pd_sample *sample,
			    uint64_t offset, struct kt_delivery *at)
{
	struct perf *f = s->state;
	uint64_t *last;
	uint32_t cpu;
	int err = find_perf_cpu(s, sample, offset, &cpu, &last);

	if (err)
		return err;
	/* Late records were counted: they get the time of the one before. */
	*last = kt_max(sample->ts, *last);
	f->first = f->first ? f->first : *last;
	f->events++;
	*at = (struct kt_delivery){ .ts = *last, .cpu = cpu, .tid = sample->tid };
	return 0;
}

static int take_sample(struct kt_import *s, const uint8_t *record, size_t len,
		       uint64_t offset)
{
	struct perf *f = s->state;
	struct pd_sample sample = { .cpu = PD_CPU_UNKNOWN, .tid = -1 };
	struct kt_layout *l = NULL;
	struct kt_delivery at;
	int err = 0;

	/* It cannot fail: take_perf_record() has read the sample before. */
	pd_read_sample(f, record + 8, len - 8, &sample, &f->fields);
	if (sample.attr->tracepoint) {
		l = kt_layout_find(&f->described.layouts,
				   perf_record_id(f, &sample));
		err = l ? kt_tracing_read(&f->described, l, sample.raw,
					  sample.raw_size, f->values) :
			  -EBADMSG;
	}
	if (err == -ENOMEM)
		return err;
	if (err) {
		kt_import_bad(s, offset,
			      l ? "a record is shorter than its layout" :
				  "a record has no layout");
		return 0;
	}
	err = place_perf_event(s, &sample, offset, &at);
	if (!err)
		err = kt_tp_process(&f->tp, &at, sample.tid, sample.pid,
				    false /* begins */);
	if (err)
		return err == -ERANGE ? 0 : err;
	f->tp.more = f->fields.list;
	f->tp.nr_more = f->fields.nr;
	return l ? kt_tp_emit(&f->tp, &l->class, &at, f->values) :
		   pd_emit_other(s, sample.attr, &at);
}

static int take_perf_switch(struct kt_import *s, const uint8_t *record,
			    size_t len, uint64_t offset)
{
	struct pd_sample sample = { .cpu = PD_CPU_UNKNOWN, .tid = -1 };
	struct perf *f = s->state;
	struct kt_delivery at;
	int err;

	pd_read_tail(f, record, len, &sample);
	err = place_perf_event(s, &sample, offset, &at);
	if (!err)
		err = kt_tp_process(&f->tp, &at, sample.tid, sample.pid,
				    false /* begins */);
	if (err)
		return err == -ERANGE ? 0 : err;
	return pd_emit_switch(s, record, len, &at);
}

/* ---- losses -------------------------------------------------------------------------------------- */

/*
 * Take | head | id 64 | count 64 | of LOST, or | head | count 64 | of LOST_SAMPLES.  The id is that
 * of the event, which may count on one CPU only.  A record that is too short is left out.
 */
static int take_perf_lost(struct kt_import *s, const uint8_t *record,
			  size_t len, uint64_t offset)
{
	struct pd_sample sample = { .cpu = PD_CPU_UNKNOWN };
	struct perf *f = s->state;
	bool has_id = kt_load32(record, f->big) == RECORD_LOST;
	size_t at = has_id ? 16 : 8;
	uint64_t *last, from, count;
	uint32_t cpu;
	int err;

	if (len < at + 8)
		return 0;
	count = kt_load64(record + at, f->big);
	pd_read_tail(f, record, len, &sample);
	if (has_id && !sample.id)
		sample.id = kt_load64(record + 8, f->big);
	err = find_perf_cpu(s, &sample, offset, &cpu, &last);
	if (err)
		return err == -ERANGE ? 0 : err;
	f->lost += count;
	from = *last;
	*last = kt_max(from, sample.ts);
	return kt_tp_lost(&f->tp, cpu, count, from, *last);
}

/*
 * Take a LOST_SAMPLES record without a time: a total, which perf writes at its end.  Samples that a
 * BPF program dropped are not lost.
 */
static void count_lost(struct perf *f, const uint8_t *record, size_t len)
{
	if (len >= 16 && !(kt_load16(record + 4, f->big) & MISC_LOST_BPF))
		f->lost_samples += kt_load64(record + 8, f->big);
}

/* At the end: deliver what the totals have beyond the losses that were delivered. */
static int report_uncounted(struct kt_import *s)
{
	struct perf *f = s->state;
	uint64_t more = f->lost_samples > f->lost ? f->lost_samples - f->lost : 0;
	uint64_t *last;
	int err = last_of(f, 0, &last);

	if (err || !more)
		return err;
	kt_import_note(s, "perf counted %llu more lost events, without their CPUs and times: they are reported as a loss of CPU 0 in the whole trace",
		       (unsigned long long)more);
	return kt_tp_lost(&f->tp, 0, more, f->first,
			  kt_max(*last, f->order.delivered));
}

/* Deliver a record whose turn has come. */
static int deliver_perf_record(struct kt_import *s, const uint8_t *record,
			       uint64_t offset)
{
	const struct perf *f = s->state;
	unsigned int type = kt_load32(record, f->big);
	size_t len = kt_load16(record + 6, f->big);

	switch (type) {
	case RECORD_SAMPLE:
		return take_sample(s, record, len, offset);
	case RECORD_COMM:
		return pd_take_comm(s, record, len);
	case RECORD_FORK:
		return pd_take_fork(s, record, len);
	case RECORD_CGROUP:
		return pd_take_cgroup(s->state, record, len);
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU:
		return take_perf_switch(s, record, len, offset);
	default: /* LOST and LOST_SAMPLES */
		return take_perf_lost(s, record, len, offset);
	}
}

/* ---- reading the file --------------------------------------------------------------------------- */

/* Let a record wait for its turn, or do what it says.  Return: 0 or negative errno. */
static int take_perf_record(struct kt_import *s, const uint8_t *record,
			    size_t len, uint64_t offset)
{
	struct perf *f = s->state;
	struct pd_sample sample = { .ts = 0 };
	uint32_t type = kt_load32(record, f->big);
	int err;

	switch (type) {
	case RECORD_SAMPLE:
		err = pd_read_sample(f, record + 8, len - 8, &sample, NULL);
		/* Without ids a sample cannot be told to be of another attribute, with another form. */
		if (err == -ENOENT ||
		    (err && f->others && f->nr_attrs > 1 && !f->ids.nr)) {
			f->left_out++;
			return 0;
		}
		if (err) {
			kt_import_bad(s, offset,
				      "a sample is shorter than its type");
			return 0;
		}
		if (!(sample.attr->sample_type & PD_TIME)) {
			f->timeless++;
			return 0;
		}
		break;
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU:
		if (!pd_read_tail(f, record, len, &sample) || !sample.ts) {
			f->timeless++;
			return 0;
		}
		break;
	case RECORD_LOST_SAMPLES:
		if (pd_read_tail(f, record, len, &sample) && sample.ts)
			break;
		count_lost(f, record, len);
		return 0;
	case RECORD_CGROUP:
	case RECORD_COMM:
	case RECORD_FORK:
	case RECORD_LOST:
		/* Records that perf made up at its start have no time: they come first. */
		pd_read_tail(f, record, len, &sample);
		break;
	case RECORD_ROUND:
		pd_order_round(&f->order, false);
		return 0;
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2:
		return pd_packed_begin(s, record, len, offset);
	case RECORD_UPDATE:
		return pd_take_update(f, record, len);
	case RECORD_ID_INDEX:
		pd_take_index(f, record, len);
		return 0;
	default:
		pd_pass(f, type);
		return 0;
	}
	return pd_order_add(&f->order, sample.ts, record, len, offset);
}

/* Return the bytes that follow a record outside of its size. */
static uint64_t bytes_behind(const struct perf *f, const uint8_t *record, size_t size)
{
	uint32_t type = kt_load32(record, f->big);

	if (type == RECORD_AUXTRACE && size >= 16)
		return kt_min(kt_load64(record + 8, f->big), BEHIND_MAX);
	if (type == RECORD_TRACING && size >= 12)
		return kt_load32(record + 8, f->big);
	return 0;
}

/* Check the size of a record.  perf does not pad all of those that it makes itself. */
static bool is_size(uint32_t type, size_t size)
{
	return size >= 8 && (!(size & 7) || type >= RECORD_ATTR);
}

/*
 * Take the complete records of a piece of @len bytes, which is at @offset in the file; with
 * @plain it was unpacked from the compressed record there.  Stop behind a compressed record:
 * what is in it comes before the next one.
 * Return: bytes taken, or negative errno.  What follows the last record outside of its size is
 * counted, even if it goes beyond the piece.
 */
static int64_t take_records(struct kt_import *s, const uint8_t *data,
			    size_t len, uint64_t offset, bool plain)
{
	const struct perf *f = s->state;
	size_t at = 0;

	while (at < len && len - at >= 8 && (plain || !f->unpacking)) {
		size_t size = kt_load16(data + at + 6, f->big);
		uint32_t type = kt_load32(data + at, f->big);
		int err;

		if (!is_size(type, size))
			return kt_import_fail(s, plain ? offset : offset + at,
					      "the size of a record is wrong");
		if (size > len - at)
			break;
		if (plain &&
		    (type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2))
			return kt_import_fail(
				s, offset, "a compressed record is in another one");
		err = take_perf_record(s, data + at, size,
				       plain ? offset : offset + at);
		if (err)
			return err;
		at += plain ? 0 : bytes_behind(f, data + at, size);
		at += size;
	}
	return (int64_t)at;
}

/* At the end of the records: report that the last one is cut off. */
static void report_cut_record(struct kt_import *s)
{
	struct perf *f = s->state;
	struct ktape_error error;

	if (f->at >= f->end && !f->plain_len && !f->plain_cut)
		return;
	kt_error(&error, f->at,
		 f->at < f->end ? "the file ends inside the records" :
				  "the compressed records end inside a record");
	kt_import_truncated(s, &error);
}

/*
 * Unpack until records can be delivered, or the compressed record ends.
 * Return: 0 or negative errno.
 */
static int take_packed(struct kt_import *s)
{
	struct perf *f = s->state;
	int64_t took;
	int err = 0;

	while (!err && f->unpacking && !pd_order_has(&f->order)) {
		err = pd_packed_unpack(s);
		if (err)
			break;
		took = take_records(s, f->plain, f->plain_len, f->packed_offset,
				    true);
		if (took < 0)
			return (int)took;
		f->plain_len -= (size_t)took;
		memmove(f->plain, f->plain + took, f->plain_len);
	}
	return err;
}

/*
 * Read a piece of the file, or go on with the compressed record in the last one.  At the end what
 * is cut off is reported, all records become ready, and @ended is set.
 * Return: 0 or negative errno.
 */
static int read_more(struct kt_import *s)
{
	struct perf *f = s->state;
	uint64_t want = kt_min(WINDOW, f->end - f->at);
	ssize_t got;
	int64_t took;

	if (f->unpacking)
		return take_packed(s);
	got = kt_pread_all(s->in->fd, f->buf, want, f->at);
	if (got < 0)
		return (int)got;
	took = take_records(s, f->buf, (size_t)got, f->at, false);
	if (took < 0)
		return (int)took;
	f->at += (uint64_t)took;
	/* Nothing taken: the piece is larger than any record, so the file ends inside one. */
	if (!f->unpacking && (!took || f->at >= f->end)) {
		report_cut_record(s);
		pd_order_round(&f->order, true);
		f->ended = true;
	}
	return 0;
}

/* At the end: report what was left out and lost, and deliver the names of the head. */
static int finish_perf(struct kt_import *s)
{
	struct perf *f = s->state;
	int err = pd_report_counts(s);

	kt_tp_end(&f->tp);
	kt_tracing_end(&f->described, s);
	if (!err)
		err = report_uncounted(s);
	return err ? err : kt_tracing_names(&f->described, &f->tp);
}

static int perf_next(struct kt_import *s)
{
	struct perf *f = s->state;
	const uint8_t *record;
	uint64_t offset;
	int err;

	while (!(record = pd_order_take(&f->order, &offset))) {
		if (f->ended) {
			if (f->named)
				return 0;
			f->named = true;
			err = finish_perf(s);
			return err ? err : 1;
		}
		err = read_more(s);
		if (err)
			return err;
	}
	err = deliver_perf_record(s, record, offset);
	return err ? err : 1;
}

/* ---- begin and end -------------------------------------------------------------------------------- */

static void fill_perf_info(struct kt_import *s)
{
	const struct perf *f = s->state;
	struct ktape_info *info = s->info;

	info->freq = NS_PER_S;
	snprintf(info->clock, sizeof(info->clock), "%s",
		 *f->clock ? f->clock : "local");
	snprintf(info->hostname, sizeof(info->hostname), "%s", f->hostname);
	snprintf(info->release, sizeof(info->release), "%s", f->release);
	if (*f->machine)
		snprintf(info->machine, sizeof(info->machine), "%s", f->machine);
	kt_tracing_wall(info, f->wall);
}

static int perf_open(struct kt_import *s)
{
	struct perf *f = s->state;
	struct stat st;
	int err;

	if (!s->in->seekable || fstat(s->in->fd, &st))
		return kt_import_fail(
			s, 0,
			"a perf.data cannot be read from a pipe or compressed: give the file");
	f->size = (uint64_t)st.st_size;
	f->tp.s = s;
	f->tp.symbol = kt_symbols_find;
	f->tp.arg = &f->described.symbols;
	err = pd_read_head(s);
	if (err)
		return err;
	fill_perf_info(s);
	f->at = f->data;
	f->buf = malloc(WINDOW);
	if (!f->buf)
		return -ENOMEM;
	err = kt_tracing_bind(&f->described, &f->tp);
	return err;
}

static void perf_close(struct kt_import *s)
{
	struct perf *f = s->state;

	kt_tracing_free(&f->described);
	kt_tp_free(&f->tp);
	pd_order_free(&f->order);
	ZSTD_freeDStream(f->zstd);
	kt_map_free(&f->ids);
	kt_map_free(&f->comms);
	pd_free_events(f);
	free(f->attrs);
	free(f->buf);
	free(f->plain);
	free(f->last);
}

static int perf_probe(const uint8_t *data, size_t len, bool whole)
{
	(void)whole;
	return len >= 8 && (!memcmp(data, "PERFILE2", 8) ||
			    !memcmp(data, "2ELIFREP", 8)) ?
		       100 :
		       0;
}

const struct kt_codec_in kt_perf_in = {
	.size = sizeof(struct perf),
	.kernel = true,
	.names_late = true,
	.probe = perf_probe,
	.open = perf_open,
	.next = perf_next,
	.close = perf_close,
};
