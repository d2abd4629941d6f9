// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of threads, from perf's records about them. */
#include "internal.h"

#define COMM_SIZE 16U /* of the kernel's names, with the NUL */

/* Return time and CPU of a record; names have no place of their own, so any CPU will do. */
static struct kt_delivery perf_place_of(const struct perf *f,
					const struct pd_sample *sample)
{
	uint32_t cpu = pd_cpu_of(f, sample);

	return (struct kt_delivery){ .ts = sample->ts,
				     .cpu = cpu < KT_CPUS_MAX ? cpu : 0 };
}

/* Name a thread from a time on. */
static int name_task(struct perf *f, const struct pd_sample *at, uint32_t tgid,
		     uint32_t tid, const char *comm)
{
	struct kt_map_entry *e = kt_map_put(&f->comms, 0, tid);
	struct kt_delivery record = perf_place_of(f, at);

	if (!e)
		return -ENOMEM;
	memcpy(&e->value, comm, 8);
	memcpy(&e->extra, comm + 8, 8);
	return kt_tp_task(&f->tp, &record, (int32_t)tid, (int32_t)tgid, comm,
			  COMM_SIZE);
}

/*
 * Take a COMM record, | head | pid 32 | tid 32 | name |: the thread has a new name.
 * Return: 0, also if the record is too short, or negative errno.
 */
int pd_take_comm(struct kt_import *s, const uint8_t *record, size_t len)
{
	struct pd_sample sample = { .cpu = PD_CPU_UNKNOWN };
	struct perf *f = s->state;
	char comm[COMM_SIZE] = "";

	if (len < 24)
		return 0;
	pd_read_tail(f, record, len, &sample);
	memcpy(comm, record + 16,
	       strnlen((const char *)record + 16,
		       kt_min(len - 16, sizeof(comm) - 1)));
	return name_task(f, &sample, kt_load32(record + 8, f->big),
			 kt_load32(record + 12, f->big), comm);
}

/*
 * Take a FORK record, | head | pid, ppid, tid, ptid 32 each |: a new thread has the name of the
 * one that made it, and the process that the record says.
 * Return: 0, also if the record is too short, or negative errno.
 */
int pd_take_fork(struct kt_import *s, const uint8_t *record, size_t len)
{
	struct pd_sample sample = { .cpu = PD_CPU_UNKNOWN };
	const struct kt_map_entry *e;
	struct perf *f = s->state;
	struct kt_delivery at;
	char comm[COMM_SIZE];
	int err;

	if (len < 32)
		return 0;
	pd_read_tail(f, record, len, &sample);
	e = kt_map_find(&f->comms, 0, kt_load32(record + 20, f->big));
	/* perf lists the threads that are there at its start likewise, without a time: not new. */
	if (!sample.ts)
		return 0;
	at = perf_place_of(f, &sample);
	err = kt_tp_process(&f->tp, &at, (int32_t)kt_load32(record + 16, f->big),
			    (int32_t)kt_load32(record + 8, f->big),
			    true /* begins */);
	if (err || !e)
		return err;
	memcpy(comm, &e->value, 8);
	memcpy(comm + 8, &e->extra, 8);
	return name_task(f, &sample, kt_load32(record + 8, f->big),
			 kt_load32(record + 16, f->big), comm);
}
