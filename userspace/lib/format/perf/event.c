// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events that are no tracepoints: samples of software and hardware events, which have only the
 * fields of the sample, and records of context switches.  Both are user events.
 *
 * Names of events come from the feature "event description" or, in a pipe, from updates:
 *
 *	description	| count 32 | attribute size 32 | event | event | ...
 *	event		| attribute | ids 32 | name: its size 32, bytes | ids 64 ... |
 *	update		| head | kind 64 | id 64 | bytes |
 */
#include "internal.h"

#define UPDATE_NAME 2U	/* the kind of update that names an event */
#define INDEX_ENTRY 32U /* id, index, CPU, thread */

#define TYPE_HARDWARE 0U /* enum perf_type_id */
#define TYPE_SOFTWARE 1U

#define MISC_SWITCH_OUT	    (1U << 13)
#define MISC_SWITCH_PREEMPT (1U << 14)

/* ---- names of events ---------------------------------------------------------------------- */

/* By perf_event_attr.config. */
static const char *const software[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

/* Set the name of an event that has none.  Return: 0 or -ENOMEM. */
static int set_perf_name(struct pd_attr *a, const void *name, size_t len)
{
	len = strnlen(name, len);
	if (a->name || !len)
		return 0;
	a->name = strndup(name, kt_min(len, KT_TP_CLASS - 1));
	return a->name ? 0 : -ENOMEM;
}

/**
 * pd_take_description() - take the feature "event description": names of events
 * @p: the feature
 * @f: the trace
 *
 * Its events are in the order of the attributes.
 *
 * Return: 0 or negative errno.
 */
int pd_take_description(struct kt_part *p, struct perf *f)
{
	uint32_t nr, size, ids, len;
	const uint8_t *bytes;
	int err = kt_part_take32(p, &nr);

	if (!err)
		err = kt_part_take32(p, &size);
	for (uint32_t i = 0; !err && i < nr; i++) {
		err = kt_part_take(p, size, &bytes);
		if (!err)
			err = kt_part_take32(p, &ids);
		if (!err)
			err = kt_part_take32(p, &len);
		if (!err)
			err = kt_part_take(p, len, &bytes);
		if (!err && i < f->nr_attrs)
			err = set_perf_name(&f->attrs[i], bytes, len);
		if (!err)
			err = kt_part_take(p, ids * 8ULL, &bytes);
	}
	return err;
}

/* Take the name of an event from its update in a pipe.  Return: 0 or -ENOMEM. */
int pd_take_update(struct perf *f, const uint8_t *record, size_t len)
{
	const struct kt_map_entry *e;

	if (len <= 24 || kt_load64(record + 8, f->big) != UPDATE_NAME)
		return 0;
	e = kt_map_find(&f->ids, 0, kt_load64(record + 16, f->big));
	return e ? set_perf_name(&f->attrs[e->value], record + 24, len - 24) : 0;
}

static void name_class(const struct pd_attr *a, struct kt_tp_class *c)
{
	const char *name = a->name;

	if (!name && a->type == TYPE_SOFTWARE && a->config < KT_ARRAY_SIZE(software))
		name = software[a->config];
	if (!name && a->type == TYPE_HARDWARE && a->config < KT_ARRAY_SIZE(hardware))
		name = hardware[a->config];
	if (name)
		snprintf(c->name, sizeof(c->name), "%s", name);
	else
		snprintf(c->name, sizeof(c->name), "perf_event_%u_0x%llx",
			 a->type, (unsigned long long)a->config);
}

/* ---- what records say of later samples --------------------------------------------------- */

/* Take on which CPU each event counts, from an ID_INDEX record. */
void pd_take_index(struct perf *f, const uint8_t *record, size_t len)
{
	uint64_t nr = len < 16 ? 0 :
				 kt_min(kt_load64(record + 8, f->big),
					(len - 16) / INDEX_ENTRY);

	for (uint64_t i = 0; i < nr; i++) {
		const uint8_t *entry = record + 16 + i * INDEX_ENTRY;
		struct kt_map_entry *e =
			kt_map_find(&f->ids, 0, kt_load64(entry, f->big));
		uint64_t cpu = kt_load64(entry + 16, f->big);

		if (e && cpu < KT_CPUS_MAX)
			e->extra = cpu + 1;
	}
}

/*
 * Take the path that a cgroup has from now on.  If there is no room for it (PD_PATHS_MAX), the
 * cgroup has none, which is counted.
 * Return: 0 or -ENOMEM.
 */
int pd_take_cgroup(struct perf *f, const uint8_t *record, size_t len)
{
	size_t size = len <= 16 ? 0 : strnlen((const char *)record + 16, len - 16);
	struct kt_map_entry *e;
	char *more;

	if (!size)
		return 0;
	e = kt_map_put(&f->cgroups, 0, kt_load64(record + 8, f->big));
	if (!e)
		return -ENOMEM;
	if (e->extra == size && !memcmp(f->paths + e->value, record + 16, size))
		return 0;
	if (size > PD_PATHS_MAX - f->paths_size) {
		e->extra = 0; /* an earlier path is wrong from now on */
		f->pathless++;
		return 0;
	}
	more = realloc(f->paths, f->paths_size + size);
	if (!more)
		return -ENOMEM;
	memcpy(more + f->paths_size, record + 16, size);
	f->paths = more;
	e->value = f->paths_size;
	e->extra = size;
	f->paths_size += size;
	return 0;
}

/**
 * pd_cpu_of() - return the CPU of a sample or of a record
 * @f: the trace
 * @sample: what it says of itself
 *
 * Return: its CPU, else the CPU on which its event counts, else PD_CPU_UNKNOWN.
 */
uint32_t pd_cpu_of(const struct perf *f, const struct pd_sample *sample)
{
	const struct kt_map_entry *e;

	if (sample->cpu != PD_CPU_UNKNOWN)
		return sample->cpu;
	e = sample->id ? kt_map_find(&f->ids, 0, sample->id) : NULL;
	return e && e->extra ? (uint32_t)e->extra - 1 : PD_CPU_UNKNOWN;
}

/* ---- events --------------------------------------------------------------------------------- */

/**
 * pd_emit_other() - deliver a sample of an event that is no tracepoint
 * @s: the trace
 * @a: its event
 * @at: its time, CPU and thread; its fields are those of kt_tp.more
 *
 * Return: 0 or negative errno.
 */
int pd_emit_other(struct kt_import *s, struct pd_attr *a, struct kt_delivery *at)
{
	struct perf *f = s->state;
	int err;

	if (!a->class) {
		a->class = calloc(1, sizeof(*a->class));
		if (!a->class)
			return -ENOMEM;
		name_class(a, a->class);
		err = kt_tp_bind_user(&f->tp, a->class);
		if (err)
			return err;
	}
	return kt_tp_emit(&f->tp, a->class, at, f->values);
}

/**
 * pd_emit_switch() - deliver a record of a context switch
 * @s: the trace
 * @record: the record
 * @len: its bytes
 * @at: its time, CPU and thread
 *
 * One that is too short is counted as not read.
 *
 * Return: 0 or negative errno.
 */
int pd_emit_switch(struct kt_import *s, const uint8_t *record, size_t len,
		   struct kt_delivery *at)
{
	static const struct kt_tp_field fields[] = {
		{ .name = "out", .type = KT_TP_UNSIGNED },
		{ .name = "preempt", .type = KT_TP_UNSIGNED },
		{ .name = "next_prev_pid", .type = KT_TP_SIGNED },
		{ .name = "next_prev_tid", .type = KT_TP_SIGNED },
	};
	struct perf *f = s->state;
	uint32_t misc = kt_load16(record + 4, f->big);
	bool wide = kt_load32(record, f->big) == RECORD_SWITCH_CPU;
	struct kt_tp_class **c = &f->switches[wide];
	int err;

	if (wide && len < 16) {
		f->unread++;
		return 0;
	}
	if (!*c) {
		*c = calloc(1, sizeof(**c));
		if (!*c)
			return -ENOMEM;
		snprintf((*c)->name, sizeof((*c)->name), "PERF_RECORD_SWITCH%s",
			 wide ? "_CPU_WIDE" : "");
		(*c)->fields = (struct kt_tp_field *)fields;
		(*c)->nr = wide ? 4 : 2;
		err = kt_tp_bind_user(&f->tp, *c);
		if (err)
			return err;
	}
	f->values[0] = (struct kt_tp_value){ .number = !!(misc & MISC_SWITCH_OUT) };
	f->values[1] =
		(struct kt_tp_value){ .number = !!(misc & MISC_SWITCH_PREEMPT) };
	f->values[2] = f->values[3] = (struct kt_tp_value){ .number = 0 };
	if (wide) {
		f->values[2].number =
			(uint64_t)(int32_t)kt_load32(record + 8, f->big);
		f->values[3].number =
			(uint64_t)(int32_t)kt_load32(record + 12, f->big);
	}
	f->tp.nr_more = 0;
	return kt_tp_emit(&f->tp, *c, at, f->values);
}

/* Free the names and classes of events, and the paths of cgroups. */
void pd_free_events(struct perf *f)
{
	for (size_t i = 0; i < f->nr_attrs; i++) {
		free(f->attrs[i].name);
		free(f->attrs[i].class);
	}
	free(f->switches[0]);
	free(f->switches[1]);
	free(f->paths);
	kt_map_free(&f->cgroups);
}
