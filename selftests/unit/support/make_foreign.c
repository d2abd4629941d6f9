// SPDX-License-Identifier: GPL-2.0-only
/*
 * make_foreign FILE: write a native trace of events as another Linux tracer has them, made
 * by the functions that its readers call.  t_tool_foreign.py knows their values.
 *
 *	values	a field of each kind, arrays of each kind of element, empty and long ones
 *	names	fields whose names are no identifiers, or equal as identifiers
 *	many	MANY fields f0, f1, ... with these numbers
 *	text	a text of TEXT bytes, and a field behind it
 *	lengths	names of events of these lengths, two of each, which differ in the last byte
 *	same	fields with equal names
 *
 * make_foreign FILE forks: FORKS forks, each with a field that the event table does not have,
 * and before the first and after each the exit of a thread that was there before.
 */
#include <err.h>
#include <stdio.h>

#include <ktape.h>

#include "format/formats.h"
#include "format/tracepoint.h"

#define MANY  300U
#define TEXT  (1U << 20)
#define BLOCK 300U
#define FORKS 20U

struct foreign {
	struct kt_tp tp;
	struct kt_tp_class class;
	uint64_t ts;
	unsigned int step;
};

static struct kt_tp_field fields[MANY];
static struct kt_tp_value values[MANY];
static struct kt_texts texts;

static void begin_class(struct foreign *f, const char *name)
{
	f->class = (struct kt_tp_class){ .fields = fields };
	snprintf(f->class.name, sizeof(f->class.name), "%s", name);
	memset(fields, 0, sizeof(fields));
	memset(values, 0, sizeof(values));
}

static void add_data(struct foreign *f, const char *name, unsigned int type,
		     const void *data, size_t len)
{
	const unsigned int i = f->class.nr++;

	fields[i].name = kt_texts_add(&texts, name, strlen(name), "");
	if (!fields[i].name)
		err(1, "%s", name);
	fields[i].type = (uint8_t)type;
	values[i].data = data;
	values[i].len = len;
}

static void add_number_field(struct foreign *f, const char *name,
			     unsigned int type, uint64_t number)
{
	add_data(f, name, type, NULL, 0);
	values[f->class.nr - 1].number = number;
}

/* Add a number of 64 bits, whatever its value. */
static void add_wide(struct foreign *f, const char *name, unsigned int type,
		     uint64_t number)
{
	add_number_field(f, name, type, number);
	fields[f->class.nr - 1].wide = true;
}

static void add_array_field(struct foreign *f, const char *name,
			    unsigned int elem, const void *data, size_t len)
{
	add_data(f, name, KT_TP_ARRAY, data, len);
	fields[f->class.nr - 1].elem = (uint8_t)elem;
}

static int emit_class(struct foreign *f)
{
	struct kt_delivery at = { .ts = ++f->ts * 1000, .tid = 42 };
	int ret = kt_tp_bind(&f->tp, &f->class);

	return ret ? ret : kt_tp_emit(&f->tp, &f->class, &at, values);
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static int emit_values(struct foreign *f)
{
	static const uint64_t u[] = { 1, 2, UINT64_MAX };
	static const int64_t s[] = { -1, INT64_MIN };
	static const uint64_t x[] = { 0, 0xff };
	static const double d[] = { 0.5, -2.25, 1e300 };
	static uint8_t block[BLOCK];

	for (unsigned int i = 0; i < BLOCK; i++)
		block[i] = (uint8_t)i;
	begin_class(f, "dds:values");
	add_number_field(f, "half", KT_TP_DOUBLE, bits_of(1.5));
	add_number_field(f, "third", KT_TP_DOUBLE, bits_of(1. / 3));
	add_number_field(f, "tiny", KT_TP_DOUBLE, 1);
	add_number_field(f, "huge", KT_TP_DOUBLE, bits_of(-1.7976931348623157e308));
	add_number_field(f, "inf", KT_TP_DOUBLE, bits_of(__builtin_inf()));
	add_number_field(f, "nan", KT_TP_DOUBLE, 0x7ff8000000000000ULL);
	add_number_field(f, "whole", KT_TP_DOUBLE, bits_of(-4.));
	add_number_field(f, "zero", KT_TP_DOUBLE, bits_of(-0.));
	add_wide(f, "u", KT_TP_UNSIGNED, UINT64_MAX);
	add_wide(f, "odd", KT_TP_UNSIGNED, (1ULL << 53) + 1);
	add_wide(f, "few", KT_TP_UNSIGNED, 5);
	add_wide(f, "minus", KT_TP_SIGNED, (uint64_t)-5);
	add_wide(f, "s", KT_TP_SIGNED, (uint64_t)INT64_MIN);
	add_number_field(f, "small", KT_TP_SIGNED, (uint64_t)-7);
	add_number_field(f, "x", KT_TP_HEX, 0xfedcba9876543210ULL);
	add_number_field(f, "_us_length", KT_TP_UNSIGNED, KT_ARRAY_SIZE(u));
	add_array_field(f, "us", KT_TP_UNSIGNED, u, sizeof(u));
	add_array_field(f, "ss", KT_TP_SIGNED, s, sizeof(s));
	add_array_field(f, "xs", KT_TP_HEX, x, sizeof(x));
	add_array_field(f, "ds", KT_TP_DOUBLE, d, sizeof(d));
	add_array_field(f, "none", KT_TP_SIGNED, NULL, 0);
	add_data(f, "block", KT_TP_BYTES, block, sizeof(block));
	add_data(f, "text", KT_TP_TEXT, "a \"b\"", 5);
	return emit_class(f);
}

static int emit_names(struct foreign *f)
{
	static const uint64_t one[] = { 1 };
	static const char *const names[] = {
		"a.b", "a_b", "a-b", "", "_a_b_length", "_c_length", "c_length",
	};

	begin_class(f, "names");
	for (unsigned int i = 0; i < KT_ARRAY_SIZE(names); i++)
		add_number_field(f, names[i], KT_TP_UNSIGNED, i);
	add_array_field(f, "c", KT_TP_UNSIGNED, one, sizeof(one));
	add_array_field(f, "a+b", KT_TP_UNSIGNED, one, sizeof(one));
	return emit_class(f);
}

static int emit_many(struct foreign *f)
{
	char name[16];

	begin_class(f, "many");
	for (unsigned int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		add_number_field(f, name, KT_TP_UNSIGNED, i);
	}
	return emit_class(f);
}

static int emit_long_text(struct foreign *f)
{
	static char text[TEXT];

	memset(text, 'a', sizeof(text));
	begin_class(f, "text");
	add_data(f, "text", KT_TP_TEXT, text, sizeof(text));
	add_number_field(f, "after", KT_TP_UNSIGNED, 7);
	return emit_class(f);
}

/* Emit events whose names differ in the last byte: an event of each has its number. */
static int emit_lengths(struct foreign *f)
{
	static const unsigned int lengths[] = { 31, 32, 33, 200, 1000 };
	char name[KT_TP_CLASS];
	int ret = 0;

	for (unsigned int i = 0; i < 2 * KT_ARRAY_SIZE(lengths) && !ret; i++) {
		const unsigned int len = lengths[i / 2];

		memset(name, 'n', len);
		name[len - 1] = i & 1 ? 'b' : 'a';
		name[len] = '\0';
		begin_class(f, name);
		add_number_field(f, "number", KT_TP_UNSIGNED, i);
		ret = emit_class(f);
	}
	return ret;
}

/* Emit equal names: as keys of JSON they are numbered. */
static int emit_same(struct foreign *f)
{
	static const char *const names[] = { "a", "a", "a_2", "a", "b" };

	begin_class(f, "same");
	for (unsigned int i = 0; i < KT_ARRAY_SIZE(names); i++)
		add_number_field(f, names[i], KT_TP_UNSIGNED, i);
	return emit_class(f);
}

static void add_thread(struct foreign *f, const char *tid_name, int32_t tid,
		       const char *comm_name, const char *comm)
{
	add_data(f, comm_name, KT_TP_TEXT, comm, strlen(comm));
	add_number_field(f, tid_name, KT_TP_SIGNED, (uint64_t)tid);
}

static int emit_known(struct foreign *f, int32_t tid)
{
	begin_class(f, "sched_process_exit");
	add_thread(f, "tid", tid, "comm", "known");
	add_number_field(f, "prio", KT_TP_SIGNED, 120);
	return emit_class(f);
}

static int emit_forks(struct foreign *f)
{
	int ret = emit_known(f, 10);

	for (int32_t i = 0; i < (int32_t)FORKS && !ret; i++) {
		begin_class(f, "sched_process_fork");
		add_thread(f, "parent_tid", 10, "parent_comm", "known");
		add_thread(f, "child_tid", 100 + i, "child_comm", "child");
		add_number_field(f, "parent_pid", KT_TP_SIGNED, 10);
		ret = emit_class(f);
		ret = ret ? ret : emit_known(f, 11 + i);
	}
	return ret;
}

/* ---- as a format ------------------------------------------------------------------- */

static int foreign_open(struct kt_import *s)
{
	struct foreign *f = s->state;

	s->info->freq = 1000000000;
	f->tp.s = s;
	return 0;
}

static bool wants_forks;

static int foreign_next(struct kt_import *s)
{
	static int (*const steps[])(struct foreign *) = {
		emit_values,	emit_names,   emit_many,
		emit_long_text, emit_lengths, emit_same,
	};
	struct foreign *f = s->state;
	int ret;

	if (f->step == (wants_forks ? 1 : KT_ARRAY_SIZE(steps))) {
		kt_tp_end(&f->tp);
		return 0;
	}
	if (wants_forks) {
		f->step++;
		ret = emit_forks(f);
		return ret ? ret : 1;
	}
	ret = steps[f->step++](f);
	return ret ? ret : 1;
}

static void foreign_close(struct kt_import *s)
{
	struct foreign *f = s->state;

	kt_tp_free(&f->tp);
}

static void print_notice(void *arg, const struct ktape_notice *n)
{
	(void)arg;
	warnx("%s", n->error.text);
}

static void tell_missed(const struct ktape_sink *sink)
{
	const char *what;
	uint64_t count;

	for (unsigned int i = 0; (count = ktape_sink_missed(sink, i, &what)); i++)
		warnx("%llu %s", (unsigned long long)count, what);
}

int main(int argc, char **argv)
{
	static const struct kt_codec_in in = {
		.size = sizeof(struct foreign),
		.open = foreign_open,
		.next = foreign_next,
		.close = foreign_close,
	};
	const struct ktape_codec format = { .name = "foreign", .in = &in };
	const struct ktape_trace_options options = { .notice = print_notice };
	struct kt_scan scan;
	struct ktape_info info = { .freq = 0 };
	struct ktape_registry *registry = NULL;
	const struct kt_import_trace trace = {
		.options = &options,
		.input = &scan,
		.folder = -1,
		.info = &info,
		.formats = kt_user_formats,
		.registry = &registry,
	};
	struct ktape_sink_options how = {
		.format = "native",
		.options = "form=pipe",
		.info = &info,
	};
	const struct ktape_event *event;
	struct ktape_sink *sink;
	struct kt_import *import;
	FILE *empty = tmpfile();
	int ret;

	wants_forks = argc == 3 && !strcmp(argv[2], "forks");
	if (argc != 2 + wants_forks || !empty)
		errx(2, "usage: make_foreign FILE [forks]");
	kt_scan_init(&scan, fileno(empty));
	how.path = argv[1];
	ret = kt_import_open(&trace, &format, &import, NULL);
	if (ret)
		errx(1, "open: %d", ret);
	how.registry = registry;
	ret = ktape_sink_open(&how, &sink, NULL);
	while (!ret && (ret = kt_import_next(import, &event)) > 0)
		ret = ktape_sink_event(sink, event);
	if (!ret)
		ret = ktape_sink_finish(sink);
	if (ret)
		errx(1, "event: %d", ret);
	tell_missed(sink);
	ktape_sink_close(sink);
	kt_import_close(import);
	ktape_registry_free(registry);
	kt_scan_free(&scan);
	fclose(empty);
	return 0;
}
