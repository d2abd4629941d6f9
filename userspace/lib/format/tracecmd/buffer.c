// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the pages of each CPU are, in each buffer of a trace.dat: that of the machine (the name of
 * this one is ""), and those of instances of ftrace.
 */
#include "internal.h"

#define PAGE_MIN  4096U /* bytes of the smallest page of a kernel */
#define CPU_ENTRY 20U	/* in an option BUFFER: CPU 32, offset 64, size 64 */
#define FLYRECORD "flyrecord" /* with its NUL, before a table */

/* Note a buffer beside that of the machine.  Return: 0 or negative errno. */
static int add_buffer(struct kt_part *p, const char *name, uint64_t offset)
{
	struct tc *t = p->s->state;
	struct tc_buffer *more;

	if (t->nr_buffers == TC_CPUS)
		return kt_import_fail(p->s, p->offset, "more than %u buffers",
				      TC_CPUS);
	more = realloc(t->buffers, (t->nr_buffers + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->buffers = more;
	more += t->nr_buffers;
	*more = (struct tc_buffer){ strdup(name), offset };
	if (!more->name)
		return -ENOMEM;
	t->nr_buffers++;
	return 0;
}

/*
 * Note where the pages of a CPU are.  With compression the number of their chunks is read, which
 * comes first.  A CPU without pages is passed over.  One that is behind the end of the file, or out
 * of range, is reported and left out; one that the end cuts off is read up to there.  If all
 * together have more bytes than the file (@claimed), some overlap: then the file is refused,
 * because reading it could take far longer than its size allows.
 * Return: 0 or negative errno.
 */
static int add_tracecmd_cpu(struct kt_part *p, const char *buffer, uint32_t cpu,
			    uint64_t offset, uint64_t size, bool packed)
{
	struct tc *t = p->s->state;
	uint8_t count[4];
	struct tc_cpu *more;
	ssize_t got;

	if (!size)
		return 0;
	if (offset > t->file.size || size > t->file.size - offset)
		kt_import_bad(p->s, p->offset + p->at,
			      "the file ends inside the events of CPU %u", cpu);
	if (offset >= t->file.size)
		return 0;
	if (cpu >= KT_CPUS_MAX) {
		kt_import_bad(p->s, p->offset, "CPU number %u is out of range", cpu);
		return 0;
	}
	t->claimed += kt_min(size, t->file.size - offset);
	if (t->claimed > t->file.size)
		return kt_import_fail(p->s, p->offset,
				      "the events of two CPUs are the same bytes");
	if (t->nr_cpus == TC_CPUS)
		return kt_import_fail(p->s, p->offset, "more than %u buffers",
				      TC_CPUS);
	more = realloc(t->cpus, (t->nr_cpus + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->cpus = more;
	more += t->nr_cpus++;
	*more = (struct tc_cpu){
		.file = &t->file,
		.form = &t->described.form,
		.page_size = t->page_size,
		.cpu = cpu,
		.buffer = buffer,
		.offset = offset,
		.packed = packed,
		.end = offset + kt_min(size, t->file.size - offset),
	};
	if (!packed)
		return 0;
	got = kt_pread_all(t->file.fd, count, sizeof(count), offset);
	if (got < 0)
		return (int)got;
	more->chunks = got == sizeof(count) ?
			       kt_load32(count, t->described.form.big) :
			       0;
	more->offset += sizeof(count);
	return 0;
}

/* Return the flags of a section; 0 if it is not in the file. */
static uint64_t section_flags(const struct tc *t, uint64_t offset)
{
	uint8_t head[TC_SECTION_HEAD];

	if (kt_pread_all(t->file.fd, head, sizeof(head), offset) != sizeof(head))
		return 0;
	return kt_load16(head + 2, t->described.form.big);
}

/* Take option BUFFER of version 7: a name, a clock, and where the pages of each CPU are. */
int tc_take_buffer(struct kt_part *p)
{
	struct tc *t = p->s->state;
	uint64_t section, offset, size;
	const char *name, *clock;
	uint32_t cpus, cpu, page = 0;
	const uint8_t *bytes;
	bool packed;
	int err = kt_part_take64(p, &section);

	if (!err)
		err = kt_part_text(p, &name);
	if (!err)
		err = kt_part_text(p, &clock);
	/*
	 * From version 3.2 on trace-cmd has the page size before the number of CPUs.  The rest has
	 * CPU_ENTRY bytes for each CPU: its length tells whether one number comes first or two.
	 */
	if (!err)
		err = kt_part_take32(p, &page);
	if (!err && p->len - p->at >= 4 && (p->len - p->at - 4) % CPU_ENTRY == 0 &&
	    (p->len - p->at) % CPU_ENTRY != 0) {
		err = kt_part_take32(p, &cpus);
		if (page < PAGE_MIN || page > TC_PAGE_MAX || page & (page - 1))
			return kt_import_fail(p->s, p->offset,
					      "the page size of a buffer is wrong");
		t->page_size = page;
	} else {
		cpus = page;
	}
	if (err)
		return err;
	if (*clock && *t->clock && strncmp(clock, t->clock, sizeof(t->clock) - 1))
		kt_import_note(p->s,
			       "the buffer \"%.64s\" has the clock %.31s, but its times are read as those of %s",
			       name, clock, t->clock);
	if (*clock && !*t->clock)
		snprintf(t->clock, sizeof(t->clock), "%.31s", clock);
	if (*name) {
		err = add_buffer(p, name, 0);
		if (err)
			return err;
		name = t->buffers[t->nr_buffers - 1].name;
	}
	packed = t->packed && section_flags(t, section) & TC_SECTION_PACKED;
	/* Not the "" in @p, which is freed before the CPUs are. */
	name = *name ? name : "";
	while (cpus--) {
		err = kt_part_take(p, CPU_ENTRY, &bytes);
		if (err)
			return err;
		cpu = kt_load32(bytes, t->described.form.big);
		offset = kt_load64(bytes + 4, t->described.form.big);
		size = kt_load64(bytes + 12, t->described.form.big);
		err = add_tracecmd_cpu(p, name, cpu, offset, size, packed);
		if (err)
			return err;
	}
	return 0;
}

/* Keep option BUFFER of version 6: a name, and the offset of the table of its CPUs. */
int tc_keep_buffer(struct kt_part *p)
{
	const char *name;
	uint64_t offset;
	int err = kt_part_take64(p, &offset);

	if (!err)
		err = kt_part_text(p, &name);
	return err ? err : add_buffer(p, name, offset);
}

/* ---- tables of version 6 ----------------------------------------------------------------- */

/*
 * Read the table that follows "flyrecord": offset 64 and size 64 for each CPU.
 * Return: 0 or negative errno.
 */
int tc_read_table(struct kt_part *p, uint32_t cpus, const char *buffer)
{
	uint64_t offset, size;
	int err = 0;

	for (uint32_t i = 0; i < cpus && !err; i++) {
		err = kt_part_take64(p, &offset);
		if (!err)
			err = kt_part_take64(p, &size);
		if (!err)
			err = add_tracecmd_cpu(p, buffer, i, offset, size, false);
	}
	return err;
}

/*
 * Read the tables of the other buffers, each behind a "flyrecord" of its own.
 * Return: 0 or negative errno.
 */
int tc_read_tables(struct kt_import *s, uint32_t cpus)
{
	struct tc *t = s->state;
	int err = 0;

	for (size_t i = 0; i < t->nr_buffers && !err; i++) {
		struct kt_part p = {
			.s = s,
			.len = sizeof(FLYRECORD) + cpus * 16ULL,
			.at = sizeof(FLYRECORD),
			.offset = t->buffers[i].offset,
			.big = t->described.form.big,
		};
		uint8_t *bytes;

		t->claimed += p.len;
		if (t->claimed > t->file.size)
			return kt_import_fail(s, p.offset,
					      "two buffers are the same bytes");
		err = tc_read_bytes(s, p.offset, p.len, &bytes);
		if (err)
			return err;
		p.data = bytes;
		if (memcmp(bytes, FLYRECORD, sizeof(FLYRECORD)))
			kt_import_bad(s, p.offset,
				      "a buffer has no events (it was read by a latency tracer)");
		else
			err = tc_read_table(&p, cpus, t->buffers[i].name);
		free(bytes);
	}
	return err;
}
