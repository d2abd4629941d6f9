// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a sample has behind its period: counters, calls, the kernel's record, branches, registers,
 * the user's stack, and what the hardware says of an access to memory.
 *
 * All of it becomes fields "perf_..." of the event, behind those of the tracepoint; only the raw
 * data of a tracepoint does not, because it is the record that has these.  The names are those of
 * perf data convert --to-ctf where it has the field.
 */
#include "internal.h"

#define BRANCH_WORDS 3U /* from, to, flags */
#define BRANCH_HW_INDEX \
	(1ULL << 17) /* bits of perf_event_attr.branch_sample_type */
#define BRANCH_COUNTERS (1ULL << 19)

#define HEX(text)                                               \
	{                                                       \
		.name = (text), .type = KT_TP_HEX, .wide = true \
	}
#define NUMBER(text)                                                 \
	{                                                            \
		.name = (text), .type = KT_TP_UNSIGNED, .wide = true \
	}
#define BYTES(text)                                 \
	{                                           \
		.name = (text), .type = KT_TP_BYTES \
	}
#define LIST(text, of)                                            \
	{                                                         \
		.name = (text), .type = KT_TP_ARRAY, .elem = (of) \
	}

static const struct kt_tp_field kinds[PD_FIELDS] = {
	[PD_FIELD_IP] = HEX("perf_ip"),
	[PD_FIELD_ADDR] = HEX("perf_addr"),
	[PD_FIELD_STREAM_ID] = NUMBER("perf_stream_id"),
	[PD_FIELD_PERIOD] = NUMBER("perf_period"),
	[PD_FIELD_READ] = LIST("perf_read", KT_TP_UNSIGNED),
	[PD_FIELD_READ_ENABLED] = NUMBER("perf_read_enabled"),
	[PD_FIELD_READ_RUNNING] = NUMBER("perf_read_running"),
	[PD_FIELD_READ_IDS] = LIST("perf_read_ids", KT_TP_UNSIGNED),
	[PD_FIELD_READ_LOST] = LIST("perf_read_lost", KT_TP_UNSIGNED),
	[PD_FIELD_CALLCHAIN] = LIST("perf_callchain", KT_TP_HEX),
	[PD_FIELD_RAW] = BYTES("perf_raw"),
	[PD_FIELD_BRANCH_INDEX] = NUMBER("perf_branch_hw_idx"),
	[PD_FIELD_BRANCHES] = LIST("perf_branch_stack", KT_TP_HEX),
	[PD_FIELD_BRANCH_COUNTERS] = LIST("perf_branch_counters", KT_TP_HEX),
	[PD_FIELD_USER_ABI] = NUMBER("perf_user_regs_abi"),
	[PD_FIELD_USER_MASK] = HEX("perf_user_regs_mask"),
	[PD_FIELD_USER_REGS] = LIST("perf_user_regs", KT_TP_HEX),
	[PD_FIELD_USER_STACK] = BYTES("perf_user_stack"),
	[PD_FIELD_WEIGHT] = NUMBER("perf_weight"),
	[PD_FIELD_DATA_SRC] = HEX("perf_data_src"),
	[PD_FIELD_TRANSACTION] = HEX("perf_transaction"),
	[PD_FIELD_INTR_ABI] = NUMBER("perf_intr_regs_abi"),
	[PD_FIELD_INTR_MASK] = HEX("perf_intr_regs_mask"),
	[PD_FIELD_INTR_REGS] = LIST("perf_intr_regs", KT_TP_HEX),
	[PD_FIELD_PHYS_ADDR] = HEX("perf_phys_addr"),
	[PD_FIELD_CGROUP] = NUMBER("perf_cgroup"),
	[PD_FIELD_CGROUP_PATH] = { .name = "perf_cgroup_path", .type = KT_TP_TEXT },
	[PD_FIELD_DATA_PAGE] = NUMBER("perf_data_page_size"),
	[PD_FIELD_CODE_PAGE] = NUMBER("perf_code_page_size"),
	[PD_FIELD_AUX] = BYTES("perf_aux"),
};

/* ---- the list of fields --------------------------------------------------------------------- */

static struct kt_tp_value *add_sample_field(struct pd_fields *f, enum pd_field which)
{
	struct kt_tp_more *more = &f->list[f->nr++];

	*more = (struct kt_tp_more){ .field = &kinds[which] };
	return &more->value;
}

/* Add a number.  @f may be NULL. */
void pd_add_number(struct pd_fields *f, enum pd_field which, uint64_t v)
{
	if (f)
		add_sample_field(f, which)->number = v;
}

/* Add bytes, which stay where they are.  @f may be NULL. */
static void add_sample_bytes(struct pd_fields *f, enum pd_field which,
			     const void *data, size_t len)
{
	struct kt_tp_value *v;

	if (!f)
		return;
	v = add_sample_field(f, which);
	v->data = data;
	v->len = len;
}

/* ---- parts of a sample ------------------------------------------------------------------------ */

/**
 * struct rest - what is left of a sample
 * @p: its bytes
 * @end: after them
 * @out: fields, or NULL
 * @big: numbers are big-endian
 */
struct rest {
	const uint8_t *p;
	const uint8_t *end;
	struct pd_fields *out;
	bool big;
};

/*
 * Add every @step-th of the words from @p on.  Each word of a record is added at most once, and
 * @words has room for the largest record.
 */
static void add_words(const struct rest *r, enum pd_field which,
		      const uint8_t *p, uint64_t nr, uint64_t step)
{
	struct pd_fields *f = r->out;
	uint64_t *to;

	if (!f)
		return;
	nr = kt_min(nr, PD_WORDS - f->nr_words);
	to = f->words + f->nr_words;
	for (uint64_t i = 0; i < nr; i++)
		to[i] = kt_load64(p + i * step * 8, r->big);
	f->nr_words += nr;
	add_sample_bytes(f, which, to, nr * 8);
}

static uint64_t words_left(const struct rest *r)
{
	return (uint64_t)(r->end - r->p) / 8;
}

static bool take_sample_64(struct rest *r, uint64_t *v)
{
	if (!words_left(r))
		return false;
	*v = kt_load64(r->p, r->big);
	r->p += 8;
	return true;
}

/* Take a number as a field. */
static bool take_sample_number(struct rest *r, enum pd_field which)
{
	uint64_t v;

	if (!take_sample_64(r, &v))
		return false;
	pd_add_number(r->out, which, v);
	return true;
}

/* Take @nr words as a field. */
static bool take_words(struct rest *r, enum pd_field which, uint64_t nr)
{
	if (nr > words_left(r))
		return false;
	add_words(r, which, r->p, nr, 1);
	r->p += nr * 8;
	return true;
}

/*
 * Take the values of counters, of one event or of its group.  As far as read_format has them:
 *
 *	one event	| value | enabled | running | id | lost |
 *	a group		| nr | enabled | running | value, id, lost | value, id, lost | ...
 */
static bool take_read(struct rest *r, const struct pd_attr *a)
{
	uint64_t format = a->read_format, nr = 1, each = 1;
	bool group = format & PD_READ_GROUP;
	const uint8_t *values;

	if (group && !take_sample_64(r, &nr))
		return false;
	values = r->p;
	if (!group && !words_left(r))
		return false;
	r->p += group ? 0 : 8;
	if (format & PD_READ_ENABLED && !take_sample_number(r, PD_FIELD_READ_ENABLED))
		return false;
	if (format & PD_READ_RUNNING && !take_sample_number(r, PD_FIELD_READ_RUNNING))
		return false;
	if (!group) {
		add_words(r, PD_FIELD_READ, values, 1, 1);
		return (!(format & PD_READ_ID) ||
			take_words(r, PD_FIELD_READ_IDS, 1)) &&
		       (!(format & PD_READ_LOST) ||
			take_words(r, PD_FIELD_READ_LOST, 1));
	}
	each += !!(format & PD_READ_ID) + !!(format & PD_READ_LOST);
	if (nr > words_left(r) / each)
		return false;
	add_words(r, PD_FIELD_READ, r->p, nr, each);
	if (format & PD_READ_ID)
		add_words(r, PD_FIELD_READ_IDS, r->p + 8, nr, each);
	if (format & PD_READ_LOST)
		add_words(r, PD_FIELD_READ_LOST, r->p + (each - 1) * 8, nr, each);
	r->p += nr * each * 8;
	return true;
}

static bool take_calls(struct rest *r)
{
	uint64_t nr;

	return take_sample_64(r, &nr) && take_words(r, PD_FIELD_CALLCHAIN, nr);
}

static bool take_raw(struct rest *r, struct pd_sample *s)
{
	if (r->end - r->p < 4)
		return false;
	s->raw_size = kt_load32(r->p, r->big);
	s->raw = r->p + 4;
	if (s->raw_size > (uint64_t)(r->end - s->raw))
		return false;
	r->p = s->raw + s->raw_size;
	if (!s->attr->tracepoint)
		add_sample_bytes(r->out, PD_FIELD_RAW, s->raw, s->raw_size);
	return true;
}

static bool take_branches(struct rest *r, const struct pd_attr *a)
{
	uint64_t nr;

	if (!take_sample_64(r, &nr))
		return false;
	if (a->branch_type & BRANCH_HW_INDEX &&
	    !take_sample_number(r, PD_FIELD_BRANCH_INDEX))
		return false;
	if (nr > words_left(r) / BRANCH_WORDS ||
	    !take_words(r, PD_FIELD_BRANCHES, nr * BRANCH_WORDS))
		return false;
	return !(a->branch_type & BRANCH_COUNTERS) ||
	       take_words(r, PD_FIELD_BRANCH_COUNTERS, nr);
}

/* Take registers: fields @abi, and behind it in enum pd_field the mask and the registers. */
static bool take_registers(struct rest *r, enum pd_field abi, uint64_t mask)
{
	uint64_t v;

	if (!take_sample_64(r, &v))
		return false;
	pd_add_number(r->out, abi, v);
	if (!v) /* the thread has none, as those of the kernel */
		return true;
	pd_add_number(r->out, abi + 1, mask);
	return take_words(r, abi + 2, (uint64_t)__builtin_popcountll(mask));
}

/*
 * Take the user's stack: a 64-bit size, so many bytes, and in 64 bits how many of them are the
 * stack.
 */
static bool take_stack(struct rest *r)
{
	uint64_t size, used;
	const uint8_t *data;

	if (!take_sample_64(r, &size))
		return false;
	if (!size)
		return true;
	data = r->p;
	if (size > (uint64_t)(r->end - r->p))
		return false;
	r->p += size;
	if (!take_sample_64(r, &used))
		return false;
	add_sample_bytes(r->out, PD_FIELD_USER_STACK, data, kt_min(used, size));
	return true;
}

static bool take_aux(struct rest *r)
{
	uint64_t size;

	if (!take_sample_64(r, &size) || size > (uint64_t)(r->end - r->p))
		return false;
	add_sample_bytes(r->out, PD_FIELD_AUX, r->p, size);
	r->p += size;
	return true;
}

static bool take_number_if(struct rest *r, uint64_t type, uint64_t bits,
			   enum pd_field which)
{
	return !(type & bits) || take_sample_number(r, which);
}

static bool take_cgroup(const struct perf *f, struct rest *r)
{
	const struct kt_map_entry *e;
	uint64_t id;

	if (!take_sample_64(r, &id))
		return false;
	pd_add_number(r->out, PD_FIELD_CGROUP, id);
	e = r->out ? kt_map_find(&f->cgroups, 0, id) : NULL;
	if (e && e->extra)
		add_sample_bytes(r->out, PD_FIELD_CGROUP_PATH,
				 f->paths + e->value, e->extra);
	return true;
}

/**
 * pd_read_rest() - read what a sample has behind its period
 * @f: the trace
 * @p: the bytes
 * @end: after them
 * @s: the sample, with its attribute; its raw data is set
 * @out: fields are added to it; or NULL
 *
 * Return: false if the sample is shorter than its type says.
 */
bool pd_read_rest(const struct perf *f, const uint8_t *p, const uint8_t *end,
		  struct pd_sample *s, struct pd_fields *out)
{
	const struct pd_attr *a = s->attr;
	uint64_t type = a->sample_type;
	struct rest r = { p, end, out, f->big };

	return (!(type & PD_READ) || take_read(&r, a)) &&
	       (!(type & PD_CALLCHAIN) || take_calls(&r)) &&
	       (!(type & PD_RAW) || take_raw(&r, s)) &&
	       (!(type & PD_BRANCHES) || take_branches(&r, a)) &&
	       (!(type & PD_REGS_USER) ||
		take_registers(&r, PD_FIELD_USER_ABI, a->regs_user)) &&
	       (!(type & PD_STACK_USER) || take_stack(&r)) &&
	       take_number_if(&r, type, PD_WEIGHT | PD_WEIGHTS, PD_FIELD_WEIGHT) &&
	       take_number_if(&r, type, PD_DATA_SRC, PD_FIELD_DATA_SRC) &&
	       take_number_if(&r, type, PD_TRANSACTION, PD_FIELD_TRANSACTION) &&
	       (!(type & PD_REGS_INTR) ||
		take_registers(&r, PD_FIELD_INTR_ABI, a->regs_intr)) &&
	       take_number_if(&r, type, PD_PHYS_ADDR, PD_FIELD_PHYS_ADDR) &&
	       (!(type & PD_CGROUP) || take_cgroup(f, &r)) &&
	       take_number_if(&r, type, PD_DATA_PAGE, PD_FIELD_DATA_PAGE) &&
	       take_number_if(&r, type, PD_CODE_PAGE, PD_FIELD_CODE_PAGE) &&
	       (!(type & PD_AUX) || take_aux(&r));
}
