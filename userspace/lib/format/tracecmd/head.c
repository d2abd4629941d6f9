// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The head of a trace.dat: layouts of events, names, options, and where each CPU's pages are.
 *
 *	0x17 0x08 0x44 "tracing" version\0 | endian 8 | long size 8 | page size 32 |
 *
 * Numbers behind a name are its width in bits.  Version 6 goes on with the parts one after the
 * other:
 *	header_page | header_event | ftrace's layouts | layouts by system | kallsyms |
 *	printk formats | saved_cmdlines | CPUs 32 | options | "flyrecord" | table
 *	table: offset 64, size 64 for each CPU
 *
 * Version 7 has the compression's name and version and the offset of a section of options,
 * which have the offsets of all other sections.  A section begins with id 16, flags 16 (1:
 * compressed), description 32, size 64; a compressed one goes on with its compressed size
 * 32 and its size 32.
 *
 * An option is id 16, size 32, data.  Id 0 ends the options: in version 6 without a size, in
 * version 7 with the offset 64 of the next section of options, or 0.
 *
 * trace-cmd.dat.v6(5), trace-cmd.dat.v7(5).
 */
#include "internal.h"

#define MAGIC		"\x17\x08\x44tracing"
#define MAGIC_SIZE	10U
#define OPTION_SECTIONS 64U /* sections of options that follow one another */
#define HEAD_MAX	(32U << 20) /* bytes of the head of version 6 that are read */

enum option {
	OPTION_DONE = 0,
	OPTION_DATE = 1,
	OPTION_CPUSTAT = 2,
	OPTION_BUFFER = 3,
	OPTION_TRACECLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_OFFSET = 7,
	OPTION_TSC2NSEC = 14,
	OPTION_HEADER_INFO = 16,
	OPTION_FTRACE_EVENTS = 17,
	OPTION_EVENT_FORMATS = 18,
	OPTION_KALLSYMS = 19,
	OPTION_PRINTK = 20,
	OPTION_CMDLINES = 21,
	OPTION_BUFFER_TEXT = 22
};

/* ---- options ---------------------------------------------------------------------------------- */

static uint64_t stat_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/*
 * Take the statistics of a CPU: "CPU: 0\nentries: 5\noverrun: 3\n...".  One option has one
 * CPU of one buffer.  Before the CPUs of another buffer comes an option that has only the
 * buffer's name; it is skipped.
 */
static int take_cpustat(struct tc *t, const char *text)
{
	struct tc_lost *more;

	if (!strstr(text, "CPU: "))
		return 0;
	more = realloc(t->lost, (t->nr_lost + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->lost = more;
	more[t->nr_lost++] = (struct tc_lost){
		.cpu = (uint32_t)stat_of(text, "CPU: "),
		.count = stat_of(text, "\noverrun: ") +
			 stat_of(text, "\ndropped events: "),
	};
	return 0;
}

/* Take the clock from "local [global] counter": the one in brackets, or the whole text. */
static void take_tracecmd_clock(struct tc *t, const char *text)
{
	const char *open = strchr(text, '['), *close;

	close = open ? strchr(open, ']') : NULL;
	if (close)
		snprintf(t->clock, sizeof(t->clock), "%.*s",
			 (int)kt_min((uint64_t)(close - open - 1), 31), open + 1);
	else if (!strpbrk(text, " \n"))
		snprintf(t->clock, sizeof(t->clock), "%.31s", text);
}

static int take_section_at(struct kt_part *o, unsigned int id, uint64_t offset);

/* Take an option.  Return: 0 or negative errno. */
static int take_tracecmd_option(struct kt_import *s, unsigned int id,
				struct kt_part *o)
{
	struct tc *t = s->state;
	uint64_t offset;
	char *text;
	int err = 0;

	switch (id) {
	case OPTION_BUFFER_TEXT:
		return kt_import_fail(
			s, o->offset,
			"the trace has text instead of events (a latency tracer)");
	case OPTION_BUFFER:
		/*
		 * Version 7 has the offsets of the CPUs here.  Version 6 has only the offset
		 * of their table: tc_read_tables() reads it later.
		 */
		return t->version == 7 ? tc_take_buffer(o) : tc_keep_buffer(o);
	case OPTION_TSC2NSEC:
		if (o->len < 16)
			return kt_part_cut(o);
		t->mult = kt_load32(o->data, t->described.form.big);
		t->tsc_shift = kt_load32(o->data + 4, t->described.form.big);
		/* An offset follows.  trace-cmd report does not apply it either. */
		return t->tsc_shift < 64 ?
			       0 :
			       kt_import_fail(s, o->offset,
					      "the factor of the clock is wrong");
	case OPTION_HEADER_INFO:
	case OPTION_FTRACE_EVENTS:
	case OPTION_EVENT_FORMATS:
	case OPTION_KALLSYMS:
	case OPTION_PRINTK:
	case OPTION_CMDLINES:
		err = kt_part_take64(o, &offset);
		return err ? err : take_section_at(o, id, offset);
	default:
		break;
	}
	text = kt_part_copy(o, o->len, &err);
	if (!text)
		return err;
	switch (id) {
	case OPTION_DATE:
		t->wall = strtoll(text, NULL, 0); /* in us */
		if (__builtin_mul_overflow(t->wall, 1000, &t->wall))
			t->wall = 0;
		break;
	case OPTION_OFFSET:
		t->offset_ns = strtoll(text, NULL, 0);
		break;
	case OPTION_CPUSTAT:
		err = take_cpustat(t, text);
		break;
	case OPTION_TRACECLOCK:
		take_tracecmd_clock(t, text);
		break;
	case OPTION_UNAME:
		snprintf(t->uname, sizeof(t->uname), "%.255s", text);
		break;
	default:
		break;
	}
	free(text);
	return err;
}

/*
 * Take options up to the one that ends them.
 * Return: 0, with *@more the offset of the next options in version 7, or negative errno.
 */
static int take_tracecmd_options(struct kt_part *p, uint64_t *more)
{
	struct tc *t = p->s->state;

	*more = 0;
	for (;;) {
		const uint8_t *head, *data;
		unsigned int id;
		uint32_t size;
		int err = kt_part_take(p, 2, &head);

		if (err)
			return err;
		id = kt_load16(head, p->big);
		if (!id && t->version == 6)
			return 0;
		err = kt_part_take32(p, &size);
		if (!err)
			err = kt_part_take(p, size, &data);
		if (!err && !id) {
			*more = size >= 8 ?
					kt_load64(data, t->described.form.big) :
					0;
			return 0;
		}
		if (!err) {
			struct kt_part o = {
				.s = p->s,
				.data = data,
				.len = size,
				.offset = p->offset + p->at - size,
				.big = p->big,
			};

			err = take_tracecmd_option(p->s, id, &o);
		}
		if (err)
			return err;
	}
}

/* ---- sections of version 7 --------------------------------------------------------------------- */

/*
 * Replace the @len bytes of a section, which is compressed, by those that they become.
 * Return: 0 or negative errno; @bytes stays to be freed.
 */
static int unpack_section(struct kt_import *s, uint64_t offset, uint8_t **bytes,
			  uint64_t *len)
{
	const struct tc *t = s->state;
	uint32_t packed, size;
	uint8_t *out;
	int err;

	if (*len < 8)
		return kt_import_fail(s, offset,
				      "a compressed section is too short");
	packed = kt_load32(*bytes, t->described.form.big);
	size = kt_load32(*bytes + 4, t->described.form.big);
	if (packed > *len - 8 || size > TC_SECTION_MAX)
		return kt_import_fail(s, offset,
				      "the size of a compressed section is wrong");
	out = malloc(size ? size : 1);
	if (!out)
		return -ENOMEM;
	err = tc_unpack(t, out, size, *bytes + 8, packed);
	free(*bytes);
	*bytes = out;
	*len = size;
	return err == -EBADMSG ?
		       kt_import_fail(s, offset, "a compressed section is damaged") :
		       err;
}

/*
 * Read a section, unpacked.  @bytes: to free, also after a failure.
 * Return: 0, with @p to read from, or negative errno.
 */
static int open_section(struct kt_import *s, unsigned int id, uint64_t offset,
			struct kt_part *p, uint8_t **bytes)
{
	struct tc *t = s->state;
	uint64_t len, flags;
	uint8_t *head;
	int err;

	*bytes = NULL;
	err = tc_read_bytes(s, offset, TC_SECTION_HEAD, &head);
	if (err)
		return err;
	flags = kt_load16(head + 2, t->described.form.big);
	len = kt_load64(head + 8, t->described.form.big);
	err = kt_load16(head, t->described.form.big) == id ?
		      0 :
		      kt_import_fail(s, offset,
				     "section %u is not where the options say", id);
	free(head);
	if (!err)
		err = tc_read_bytes(s, offset + TC_SECTION_HEAD, len, bytes);
	if (!err && flags & TC_SECTION_PACKED)
		err = t->packed ?
			      unpack_section(s, offset, bytes, &len) :
			      kt_import_fail(s, offset,
					     "a section is compressed, but the file names no compression");
	*p = (struct kt_part){
		.s = s,
		.data = *bytes,
		.len = len,
		.offset = offset,
		.big = t->described.form.big,
	};
	return err;
}

static int take_section_content(unsigned int id, struct kt_part *p,
				struct kt_tracing_data *d)
{
	switch (id) {
	case OPTION_HEADER_INFO:
		return kt_tracing_header(p, d);
	case OPTION_FTRACE_EVENTS:
		return kt_tracing_ftrace(p, d);
	case OPTION_EVENT_FORMATS:
		return kt_tracing_events(p, d);
	case OPTION_KALLSYMS:
		return kt_tracing_kallsyms(p, d);
	case OPTION_PRINTK:
		return kt_tracing_printk(p, d);
	default:
		return kt_tracing_tasks(p, d);
	}
}

/* Take the section that the option @o names. */
static int take_section_at(struct kt_part *o, unsigned int id, uint64_t offset)
{
	struct tc *t = o->s->state;
	struct kt_part p;
	uint8_t *bytes;
	int err;

	if (t->taken >> id & 1)
		return kt_import_fail(o->s, o->offset,
				      "section %u is there twice", id);
	t->taken |= 1ULL << id;
	err = open_section(o->s, id, offset, &p, &bytes);
	if (!err)
		err = take_section_content(id, &p, &t->described);
	free(bytes);
	return err;
}

static int read_version7(struct kt_part *p)
{
	struct tc *t = p->s->state;
	const char *name, *version;
	uint64_t offset;
	int err = kt_part_text(p, &name);

	if (!err)
		err = kt_part_text(p, &version);
	if (!err)
		err = kt_part_take64(p, &offset);
	if (err)
		return err;
	t->packed = tc_packing(name);
	if (t->packed == TC_PACKING_UNKNOWN)
		return kt_import_fail(
			p->s, MAGIC_SIZE,
			"the trace is compressed with %.20s: trace-cmd convert --compression none makes it readable",
			name);
	for (unsigned int i = 0; offset && !err; i++) {
		struct kt_part options;
		uint8_t *bytes;

		if (i == OPTION_SECTIONS)
			return kt_import_fail(p->s, offset,
					      "too many sections of options");
		err = open_section(p->s, 0, offset, &options, &bytes);
		if (!err)
			err = take_tracecmd_options(&options, &offset);
		free(bytes);
	}
	return err;
}

/* ---- version 6 ----------------------------------------------------------------------------------- */

static int read_version6(struct kt_part *p)
{
	struct tc *t = p->s->state;
	const uint8_t *word;
	uint64_t more;
	uint32_t cpus;
	int err = kt_tracing_header(p, &t->described);

	if (!err)
		err = kt_tracing_ftrace(p, &t->described);
	if (!err)
		err = kt_tracing_events(p, &t->described);
	if (!err)
		err = kt_tracing_kallsyms(p, &t->described);
	if (!err)
		err = kt_tracing_printk(p, &t->described);
	if (!err)
		err = kt_tracing_tasks(p, &t->described);
	if (!err)
		err = kt_part_take32(p, &cpus);
	if (!err)
		err = kt_part_take(p, 10, &word);
	if (!err && !memcmp(word, "options  ", 10)) {
		err = take_tracecmd_options(p, &more);
		if (!err)
			err = kt_part_take(p, 10, &word);
	}
	if (err)
		return err;
	if (memcmp(word, "flyrecord", 10))
		return kt_import_fail(
			p->s, p->offset + p->at,
			"the trace has text instead of events (a latency tracer)");
	if (cpus > TC_CPUS)
		return kt_import_fail(p->s, p->offset + p->at,
				      "more than %u CPUs", TC_CPUS);
	/* The machine's own buffer, then the others. */
	err = tc_read_table(p, cpus, "");
	return err ? err : tc_read_tables(p->s, cpus);
}

/**
 * tc_read_head() - read everything but the events
 * @s: the trace
 *
 * Return: 0 or negative errno.
 */
int tc_read_head(struct kt_import *s)
{
	struct tc *t = s->state;
	struct kt_part p = { .s = s };
	const char *version;
	const uint8_t *bytes;
	uint8_t *head = NULL;
	uint32_t page;
	int err;

	/* Version 6 has its head at the beginning, and nothing says how long it is. */
	p.len = kt_min(t->file.size, HEAD_MAX);
	err = tc_read_bytes(s, 0, p.len, &head);
	if (err)
		return err;
	p.data = head;
	err = kt_part_take(&p, MAGIC_SIZE, &bytes);
	if (!err && memcmp(bytes, MAGIC, MAGIC_SIZE))
		err = kt_import_fail(s, 0, "this is no trace.dat");
	if (!err)
		err = kt_part_text(&p, &version);
	if (!err)
		err = kt_part_take(&p, 2, &bytes);
	if (!err) {
		p.big = bytes[0];
		kt_tracing_order(&t->described, p.big);
	}
	if (!err)
		err = kt_part_take32(&p, &page);
	/* The head of a page, which kt_tracing_header() checks, has at most 256 bytes. */
	if (!err && (page < 256 || page > TC_PAGE_MAX || page & (page - 1)))
		err = kt_import_fail(s, p.at - 4, "the page size is wrong");
	if (!err) {
		t->page_size = page;
		t->version = (unsigned int)strtoul(version, NULL, 10);
		if (t->version == 6)
			err = read_version6(&p);
		else if (t->version == 7)
			err = read_version7(&p);
		else
			err = kt_import_fail(
				s, MAGIC_SIZE,
				"version %.8s of trace.dat is not read, only 6 and 7",
				version);
	}
	free(head);
	return err;
}
