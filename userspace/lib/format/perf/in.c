// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the tracepoints of a perf.data.
 *
 *	head (head.c) | record | record | ... | features
 *	record	| type 32 | misc 16 | size 16 | ... |
 *	sample	| id, ip, pid and tid, time, address, ids, CPU, period, calls, raw |
 *		as far as the sample type has them; raw = size 32, then the kernel's record
 *
 * Records are sorted by time (order.c).  A tracepoint that ktape has becomes ktape's event;
 * all others are user events with their fields by name (format/tracepoint.h).  Names of
 * threads come from the records about them and from the events.  Records that perf -z
 * compressed are unpacked.
 *
 * Lost events are delivered as a loss since the CPU's last event.  Not read: samples of
 * other kinds (they are counted), call chains, big-endian files, output to a pipe.
 */
#include <sys/stat.h>

#include <zstd_errors.h>

#include "internal.h"
#include "perf.h"

#define NS_PER_S	1000000000LL
#define WINDOW		(1U << 20)
#define RECORD_MAX	65536U
#define PLAIN_MAX	(64U << 20)

enum record {
	RECORD_LOST = 2,
	RECORD_COMM = 3,
	RECORD_FORK = 7,
	RECORD_SAMPLE = 9,
	RECORD_LOST_SAMPLES = 13,
	RECORD_ROUND = 68,
	RECORD_AUXTRACE = 71,
	RECORD_COMPRESSED = 81,
	RECORD_COMPRESSED2 = 83
};

/**
 * struct sample - what a record says of itself
 */
struct sample {
	uint64_t ts;
	uint32_t cpu;
	int32_t pid;
	int32_t tid;
	const uint8_t *raw;
	uint32_t raw_size;
};

#define MISC_LOST_BPF	(1U << 15)	/* of LOST_SAMPLES: a BPF program dropped them */

/* ---- samples ------------------------------------------------------------------------------ */

/* Return true for the sample of an event that is no tracepoint. */
static bool is_other(const struct perf *f, const uint8_t *p, size_t len)
{
	const struct kt_map_entry *e;
	size_t at = 0;

	if (!f->others)
		return false;
	if (!(f->sample_type & PF_IDENTIFIER)) {
		if (!(f->sample_type & PF_ID))
			return false;
		at += f->sample_type & PF_IP ? 8 : 0;
		at += f->sample_type & PF_TID ? 8 : 0;
		at += f->sample_type & PF_TIME ? 8 : 0;
		at += f->sample_type & PF_ADDR ? 8 : 0;
	}
	if (len < at + 8)
		return false;
	e = kt_map_find(&f->ids, 0, kt_get64(p + at));
	return e && e->value != 1;
}

/* Read a sample.  Return: false if it is shorter than its type says. */
static bool read_sample(const struct perf *f, const uint8_t *p, size_t len,
			struct sample *out)
{
	static const struct {
		uint32_t bit;
		uint8_t what;
	} fields[] = {
		{ PF_IDENTIFIER, 0 }, { PF_IP, 0 }, { PF_TID, 't' },
		{ PF_TIME, 'n' }, { PF_ADDR, 0 }, { PF_ID, 0 },
		{ PF_STREAM_ID, 0 }, { PF_CPU, 'c' }, { PF_PERIOD, 0 },
	};
	const uint8_t *end = p + len;
	uint64_t calls;

	for (size_t i = 0; i < KT_ARRAY_SIZE(fields); i++) {
		if (!(f->sample_type & fields[i].bit))
			continue;
		if (end - p < 8)
			return false;
		if (fields[i].what == 't') {
			out->pid = (int32_t)kt_get32(p);
			out->tid = (int32_t)kt_get32(p + 4);
		} else if (fields[i].what == 'n') {
			out->ts = kt_get64(p);
		} else if (fields[i].what == 'c') {
			out->cpu = kt_get32(p);
		}
		p += 8;
	}
	if (f->sample_type & PF_CALLCHAIN) {
		if (end - p < 8)
			return false;
		calls = kt_get64(p);
		p += 8;
		if (calls > (uint64_t)(end - p) / 8)
			return false;
		p += calls * 8;
	}
	if (!(f->sample_type & PF_RAW) || end - p < 4)
		return false;
	out->raw_size = kt_get32(p);
	out->raw = p + 4;
	return out->raw_size <= (uint64_t)(end - out->raw);
}

/* Read what other records end with.  Return: false if they have no time. */
static bool read_tail(const struct perf *f, const uint8_t *p, size_t len,
		      struct sample *out)
{
	static const struct {
		uint32_t bit;
		uint8_t what;
	} fields[] = {	/* from the last to the first */
		{ PF_IDENTIFIER, 0 }, { PF_CPU, 'c' }, { PF_STREAM_ID, 0 },
		{ PF_ID, 0 }, { PF_TIME, 'n' }, { PF_TID, 't' },
	};
	const uint8_t *end = p + len;

	if (!f->id_all)
		return false;
	for (size_t i = 0; i < KT_ARRAY_SIZE(fields); i++) {
		if (!(f->sample_type & fields[i].bit))
			continue;
		if (end - p < 8)
			return false;
		end -= 8;
		if (fields[i].what == 'c')
			out->cpu = kt_get32(end);
		else if (fields[i].what == 'n')
			out->ts = kt_get64(end);
	}
	return true;
}

/* ---- records in the order of time ------------------------------------------------------------ */

/* Return the entry for the last event of a CPU, or NULL. */
static uint64_t *last_of(struct perf *f, uint32_t cpu)
{
	uint64_t *more;

	if (cpu >= KT_CPUS_MAX)
		return NULL;
	if (cpu >= f->nr_last) {
		more = realloc(f->last, (cpu + 1ULL) * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + f->nr_last, 0,
		       (cpu + 1ULL - f->nr_last) * sizeof(*more));
		f->last = more;
		f->nr_last = cpu + 1ULL;
	}
	return &f->last[cpu];
}

static uint32_t record_id(const struct perf *f, const struct sample *sample)
{
	if (sample->raw_size < f->described.layouts.type_size)
		return UINT32_MAX;
	return f->described.layouts.type_size == 2 ?
		sample->raw[0] | (uint32_t)sample->raw[1] << 8 :
		kt_get32(sample->raw);
}

static int take_sample(struct kt_import *s, const uint8_t *record, size_t len,
		       uint64_t offset)
{
	struct perf *f = s->state;
	struct sample sample = { .tid = -1 };
	struct kt_layout *l;
	struct kt_foreign at;
	uint64_t *last;
	int err;

	if (!read_sample(f, record + 8, len - 8, &sample)) {
		kt_import_bad(s, offset, "a sample is shorter than its type");
		return 0;
	}
	l = kt_layout_find(&f->described.layouts, record_id(f, &sample));
	err = l ? kt_tracing_read(&f->described, l, sample.raw, sample.raw_size, f->values)
		: -EBADMSG;
	if (err == -ENOMEM)
		return err;
	if (err) {
		kt_import_bad(s, offset, l ? "a record is shorter than its layout" :
					     "a record has no layout");
		return 0;
	}
	last = last_of(f, sample.cpu);
	if (!last) {
		kt_import_bad(s, offset, "CPU number %u is out of range",
			      sample.cpu);
		return 0;
	}
	/* Late records were counted: they get the time of the one before. */
	sample.ts = kt_max(sample.ts, *last);
	*last = sample.ts;
	at = (struct kt_foreign){
		.ts = sample.ts, .cpu = sample.cpu, .tid = sample.tid,
	};
	return kt_tp_emit(&f->tp, &l->class, &at, f->values);
}

static int take_comm(struct kt_import *s, const uint8_t *record, size_t len)
{
	struct sample sample = { .ts = 0 };
	struct perf *f = s->state;
	struct kt_foreign at = { .ts = 0 };

	if (len < 24)
		return 0;
	if (read_tail(f, record, len, &sample))
		at.ts = sample.ts;
	if (sample.cpu < KT_CPUS_MAX)
		at.cpu = sample.cpu;
	return kt_tp_task(&f->tp, &at, (int32_t)kt_get32(record + 12),
			  (int32_t)kt_get32(record + 8), record + 16, len - 16);
}

static int take_lost(struct kt_import *s, const uint8_t *record, size_t len,
		     unsigned int type)
{
	struct sample sample = { .ts = 0 };
	struct perf *f = s->state;
	size_t at = type == RECORD_LOST ? 16 : 8;
	uint64_t *last, from, count;

	if (len < at + 8)
		return 0;
	count = kt_get64(record + at);
	/* perf counts at its end, for no CPU, what records of losses told as well. */
	if (type == RECORD_LOST_SAMPLES) {
		if (!(kt_get32(record + 4) & MISC_LOST_BPF))
			f->lost_samples += count;
		return 0;
	}
	f->lost += count;
	read_tail(f, record, len, &sample);
	last = last_of(f, sample.cpu);
	if (!last)
		return 0;
	from = *last;
	*last = kt_max(from, sample.ts);
	return kt_tp_lost(&f->tp, sample.cpu, count, from, *last);
}

/* Deliver a record whose turn has come. */
static int deliver(struct kt_import *s, const uint8_t *record, uint64_t offset)
{
	unsigned int type = kt_get32(record);
	size_t len = kt_get32(record + 4) >> 16;

	switch (type) {
	case RECORD_SAMPLE:
		return take_sample(s, record, len, offset);
	case RECORD_COMM:
		return take_comm(s, record, len);
	default:
		return take_lost(s, record, len, type);
	}
}

/* ---- reading the file --------------------------------------------------------------------------- */

static int unpack(struct kt_import *s, const uint8_t *data, size_t len,
		  uint64_t offset);

/* Let a record wait for its turn, or do what it says.  Return: 0 or negative errno. */
static int take_record(struct kt_import *s, const uint8_t *record, size_t len,
		       uint64_t offset)
{
	struct perf *f = s->state;
	struct sample sample = { .ts = 0 };
	size_t head;

	switch (kt_get32(record)) {
	case RECORD_SAMPLE:
		if (is_other(f, record + 8, len - 8)) {
			f->left_out++;
			return 0;
		}
		if (!read_sample(f, record + 8, len - 8, &sample)) {
			/* Without ids only their form tells samples apart. */
			if (f->others && !f->ids.nr) {
				f->left_out++;
				return 0;
			}
			kt_import_bad(s, offset, "a sample is shorter than its type");
			return 0;
		}
		break;
	case RECORD_COMM:
	case RECORD_LOST:
	case RECORD_LOST_SAMPLES:
		/* Records that perf made up at its start have no time: they come first. */
		read_tail(f, record, len, &sample);
		break;
	case RECORD_ROUND:
		pf_order_round(&f->order, false);
		return 0;
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2:
		head = kt_get32(record) == RECORD_COMPRESSED ? 8 : 16;
		if (len < head)
			return 0;
		if (head == 16 && kt_get64(record + 8) > len - head)
			return kt_import_fail(s, offset, "the size of a compressed record is wrong");
		return unpack(s, record + head,
			      head == 16 ? kt_get64(record + 8) : len - head,
			      offset);
	default:
		return 0;
	}
	head = (size_t)pf_order_add(&f->order, sample.ts, record, len, offset);
	if ((int)head == -EMSGSIZE)
		return kt_import_fail(s, offset, "too many records wait for the end of a round: the file is damaged");
	return (int)head;
}

/* Take the complete records of @data.  Return: bytes taken, or negative errno. */
static int64_t take_records(struct kt_import *s, const uint8_t *data, size_t len,
			    uint64_t offset, bool plain)
{
	size_t at = 0;

	while (at < len && len - at >= 8) {
		size_t size = kt_get32(data + at + 4) >> 16;
		uint32_t type = kt_get32(data + at);
		int err;

		/* Only records as old perfs compressed them have any size. */
		if (size < 8 || (size & 7 && type != RECORD_COMPRESSED))
			return kt_import_fail(s, plain ? offset : offset + at,
					      "the size of a record is wrong");
		if (size > len - at)
			break;
		if (plain && (type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2))
			return kt_import_fail(s, offset, "a compressed record is in another one");
		err = take_record(s, data + at, size, plain ? offset : offset + at);
		if (err)
			return err;
		/* Hardware traces follow their record, outside of its size. */
		if (type == RECORD_AUXTRACE && size >= 16 && !plain)
			at += kt_min(kt_get64(data + at + 8), PLAIN_MAX * 64ULL);
		at += size;
	}
	return (int64_t)at;
}

/* Unpack a piece of the compressed records, which go on from one piece to the next. */
static int unpack(struct kt_import *s, const uint8_t *data, size_t len,
		  uint64_t offset)
{
	ZSTD_inBuffer in = { data, len, 0 };
	struct perf *f = s->state;
	ZSTD_outBuffer out;
	int64_t took;
	size_t ret;

	if (!f->zstd)
		f->zstd = ZSTD_createDStream();
	if (!f->zstd)
		return -ENOMEM;
	do {
		if (f->plain_cap - f->plain_len < RECORD_MAX) {
			size_t cap = f->plain_len + 16 * RECORD_MAX;
			uint8_t *more = cap > PLAIN_MAX ? NULL :
					realloc(f->plain, cap);

			if (!more)
				return -ENOMEM;
			f->plain = more;
			f->plain_cap = cap;
		}
		out = (ZSTD_outBuffer){ f->plain, f->plain_cap, f->plain_len };
		ret = ZSTD_decompressStream(f->zstd, &out, &in);
		if (ZSTD_getErrorCode(ret) == ZSTD_error_memory_allocation)
			return -ENOMEM;
		if (ZSTD_isError(ret))
			return kt_import_fail(s, offset, "compressed records are damaged");
		f->plain_len = out.pos;
		took = take_records(s, f->plain, f->plain_len, offset, true);
		if (took < 0)
			return (int)took;
		f->plain_len -= (size_t)took;
		memmove(f->plain, f->plain + took, f->plain_len);
	} while (in.pos < in.size || out.pos == out.size);
	return 0;
}

/* Read a piece of the file.  Return: 0 or negative errno. */
static int read_more(struct kt_import *s)
{
	struct perf *f = s->state;
	uint64_t want = kt_min(WINDOW, f->end - f->at);
	ssize_t got;
	int64_t took;

	got = kt_pread_all(s->in->fd, f->buf, want, f->at);
	if (got < 0)
		return (int)got;
	took = take_records(s, f->buf, (size_t)got, f->at, false);
	if (took < 0)
		return (int)took;
	f->at += (uint64_t)took;
	if (!took || f->at >= f->end) {
		if (f->at < f->end) {
			struct ktape_error error;

			kt_error(&error, f->at, "the file ends inside the records");
			kt_import_truncated(s, &error);
		}
		pf_order_round(&f->order, true);
		f->ended = true;
	}
	return 0;
}

/* At the end: what was left out, and what perf counted as lost beyond its records. */
static void tell_counts(struct kt_import *s)
{
	struct perf *f = s->state;

	if (f->left_out)
		kt_import_note(s, "%llu samples of events that are no tracepoints were left out",
			       (unsigned long long)f->left_out);
	if (f->lost_samples > f->lost)
		kt_import_note(s, "perf counted %llu more lost events, without their CPUs and times",
			       (unsigned long long)(f->lost_samples - f->lost));
	f->left_out = f->lost_samples = 0;
}

static int perf_next(struct kt_import *s)
{
	struct perf *f = s->state;
	const uint8_t *record;
	uint64_t offset;
	int err;

	while (!(record = pf_order_take(&f->order, &offset))) {
		if (f->ended) {
			tell_counts(s);
			if (f->order.late)
				kt_import_note(s, "%llu records came after later ones were delivered: they are out of order",
					       (unsigned long long)f->order.late);
			kt_tp_end(&f->tp);
			kt_tracing_end(&f->described, s);
			f->order.late = 0;
			if (f->named)
				return 0;
			f->named = true;
			err = kt_tracing_names(&f->described, &f->tp);
			return err ? err : 1;
		}
		err = read_more(s);
		if (err)
			return err;
	}
	err = deliver(s, record, offset);
	return err ? err : 1;
}

/* ---- begin and end -------------------------------------------------------------------------------- */

static void fill_info(struct kt_import *s)
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
	if (f->wall) {
		info->offset_s = f->wall / NS_PER_S;
		info->offset = (uint64_t)(f->wall % NS_PER_S);
		info->real_offset_ns = f->wall;
	}
}

static int perf_open(struct kt_import *s)
{
	struct perf *f = s->state;
	struct stat st;
	int err;

	if (!s->in->seekable || fstat(s->in->fd, &st))
		return kt_import_fail(s, 0, "a perf.data cannot be read from a pipe or compressed: give the file");
	f->size = (uint64_t)st.st_size;
	f->tp.s = s;
	f->tp.symbol = kt_symbols_find;
	f->tp.arg = &f->described.symbols;
	err = pf_read_head(s);
	if (err)
		return err;
	fill_info(s);
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
	pf_order_free(&f->order);
	ZSTD_freeDStream(f->zstd);
	kt_map_free(&f->ids);
	free(f->buf);
	free(f->plain);
	free(f->last);
}

static int perf_probe(const uint8_t *data, size_t len, bool whole)
{
	(void)whole;
	return len >= 8 && (!memcmp(data, "PERFILE2", 8) ||
			    !memcmp(data, "2ELIFREP", 8)) ? 100 : 0;
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
