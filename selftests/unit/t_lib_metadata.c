// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metadata has a checksum, whoever wrote it, and what is changed in it or in the
 * file of names is found, if reading the trace tells anything else because of it.
 */
#include "lib_image.h"
#include "lib_sim_work.h"

#include "internal.h"

#define STEPS		20
#define FLIPS		400U	/* of metadata, with all of the trace read */
#define STRIDE		13U	/* of bytes whose place is looked for */

struct result {
	int ret;		/* of the run, or of opening it */
	uint64_t errors[KTAPE_RULES];
	uint64_t notes[KTAPE_RULES];
	struct ktape_finding first;
};

static struct result result;
static const char *folder;
static char path[300], other[300];

/* ---- a trace ------------------------------------------------------------------- */

static void take(void *arg, const struct ktape_finding *f)
{
	struct result *r = arg;

	if (!f->note && !*r->first.text)
		r->first = *f;
}

/* Verify @what into @result.  Return: nothing is wrong. */
static bool judge(const char *what)
{
	const struct ktape_verify_options how = { .finding = take,
						  .arg = &result };
	struct ktape_verify *v;

	memset(&result, 0, sizeof(result));
	result.ret = ktape_verify_open(what, &how, &v, NULL);
	if (result.ret)
		return false;
	result.ret = ktape_verify_run(v);
	for (unsigned int i = 0; i < KTAPE_RULES; i++)
		result.errors[i] = ktape_verify_count(v, i, &result.notes[i]);
	ktape_verify_close(v);
	return !result.ret;
}

/* Hash of what `ktape dump --json` tells of @what, or 0. */
static uint64_t render(const char *what)
{
	uint64_t hash = KT_FNV_BEGIN;
	const struct ktape_event *e;
	struct ktape_trace *t;
	size_t room = 0, need;
	char *line = NULL;
	int ret;

	if (ktape_trace_open(what, NULL, &t, NULL))
		return 0;
	while ((ret = ktape_trace_next(t, &e)) > 0) {
		need = ktape_format_bound(e);
		if (need > room) {
			room = need;
			line = realloc(line, room);
		}
		need = ktape_format_json(ktape_trace_info(t),
					 ktape_trace_registry(t), e, line);
		hash = kt_fnv(hash, line, need);
	}
	free(line);
	ktape_trace_close(t);
	return ret ? 0 : hash;
}

/* A session of its own folder: @path is that of its file @name. */
static struct sim *begin(const char *name)
{
	struct sim *s = sim_new(1);

	sim_start(s);
	sim_work(s, STEPS);
	sim_stop(s);
	sim_finish(s);
	s->listed = true;
	folder = trace_folder();
	sim_save(s, folder, 0);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return s;
}

static void done(struct sim *s)
{
	trace_remove(folder);
	sim_free(s);
}

/* The metadata of a trace is right, and nobody has to be told that it is not. */
static void check_sealed(const char *what, const char *which)
{
	judge(what);
	check(result.ret >= 0, "%s: %d", which, result.ret);
	check(!result.errors[KTAPE_RULE_CHECKSUM], "%s: %s", which,
	      result.first.text);
	check(!result.notes[KTAPE_RULE_CHECKSUM], "%s: no checksum", which);
}

/* ---- its text ------------------------------------------------------------------ */

static char *make_text(size_t *len)
{
	static const uint64_t cpus[KTAPE_CPU_WORDS] = { 5 };
	char *text;

	if (ktape_metadata_format(&trace_info, &text, len) ||
	    ktape_metadata_cpus(&text, len, cpus) ||
	    ktape_metadata_add(&text, len, "converted", "yes") ||
	    kt_metadata_remark(&text, len, "log of a board"))
		abort();
	return text;
}

/* As a version wrote it that knew of no checksum. */
static char *make_old(size_t *len)
{
	static const char minor[] = "tracer_minor = ";
	char *text, *line, *end;

	if (ktape_metadata_format(&trace_info, &text, len))
		abort();
	strstr(text, minor)[strlen(minor)] = '0';
	line = strstr(text, "\tmetadata_crc32c");
	end = strchr(line, '\n') + 1;
	memmove(line, end, strlen(end) + 1);
	*len = strlen(text);
	return text;
}

/* Who adds to a text renews its checksum, and does not mend what was damaged. */
static void test_add(void)
{
	struct ktape_error error;
	size_t len;
	char *text;

	text = make_text(&len);
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL), 0);
	*strstr(text, "freq = 1") = 'F';
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL),
		    EBADMSG);
	check(!ktape_metadata_add(&text, &len, "more", "1") &&
		      !kt_metadata_remark(&text, &len, "end"),
	      "add");
	check_equal((unsigned int)-ktape_metadata_check(text, len, &error),
		    EBADMSG);
	free(text);

	text = make_old(&len);
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL),
		    ENODATA);
	check(!ktape_metadata_add(&text, &len, "converted", "yes"), "add");
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL),
		    ENODATA);
	free(text);
}

/* Without a checksum the events are held against their hash. */
static void test_old(void)
{
	static const struct {
		const char *what;
		const char *instead;
		int ret;
	} changes[] = {
		{ "name = \"sched_switch\"", "name = \"sched_swatch\"",
		  -EBADMSG },
		{ "table_hash = \"", "table_hash = \"0", -EBADMSG },
		{ "freq = 1000", "freq = 1001", -ENODATA },
		{ "tracer_minor = 0", "tracer_minor = 1", -EBADMSG },
		{ "tracer_name = \"ktape\"", "tracer_name = \"lttng\"",
		  -ENODATA },
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct ktape_error error = { .offset = 0 };
		size_t len;
		char *text = make_old(&len);
		char *at = strstr(text, changes[i].what);

		memcpy(at, changes[i].instead, strlen(changes[i].instead));
		check(ktape_metadata_check(text, len, &error) == changes[i].ret,
		      "%s", changes[i].instead);
		/* The first one differs in a letter of which the place is told. */
		check(i || error.offset == (uint64_t)(at - text) +
						 strlen("name = \"sched_sw"),
		      "at %llu", (unsigned long long)error.offset);
		free(text);
	}
}

/* Events of another table that nobody here knows. */
static void test_other_table(void)
{
	static const char name[] = "name = \"sched_switch\"";
	uint64_t hash;
	char *text, *from, *to, *at, digits[20];
	size_t len;

	text = make_text(&len);
	at = strstr(text, name);
	at[strlen("name = \"sched_sw")] = 'a';
	from = strstr(text, "_reserved;");
	from = strchr(from, '\n') + 1;
	to = strstr(text, "event { name = \"opcode_");
	hash = kt_fnv(KT_FNV_BEGIN, from, (size_t)(to - from));
	snprintf(digits, sizeof(digits), "%016llx", (unsigned long long)hash);
	memcpy(strstr(text, "table_hash = \"") + strlen("table_hash = \""),
	       digits, 16);
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL),
		    EBADMSG);
	kt_metadata_seal(text, len);
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL), 0);
	at[0] ^= 1;
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL),
		    EBADMSG);
	at[0] ^= 1;
	*strstr(text, "freq = 1") = 'F';
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL),
		    EBADMSG);
	free(text);
}

/* What differs from byte to byte in metadata of the same table, is not looked for. */
static bool is_value(const char *text, size_t at)
{
	const char *from = strstr(text, "trace {"), *to = strstr(text, "clock {");
	const char *remark = strstr(text, "/* log");

	return (text + at >= from && text + at < strchr(to, '\n')) ||
	       text + at >= remark;
}

/* The place of a changed byte is told where it follows from the table. */
static void check_place(char *text, size_t len, size_t at, unsigned int bit)
{
	struct ktape_error error = { .offset = 0 };
	bool value = is_value(text, at);
	int ret;

	text[at] = (char)(text[at] ^ 1 << bit);
	ret = ktape_metadata_check(text, len, &error);
	text[at] = (char)(text[at] ^ 1 << bit);
	check(ret == -EBADMSG, "bit %u of byte %zu is not missed: %d", bit, at,
	      ret);
	check(value || error.offset == at, "byte %zu is told to be at %llu: %s",
	      at, (unsigned long long)error.offset, error.text);
}

static void test_bits(void)
{
	size_t len, first;
	char *text = make_text(&len);

	for (size_t at = 0; at < len; at++) {
		for (unsigned int bit = at % 2; bit < 8; bit += 2) {
			bool sealed;

			text[at] = (char)(text[at] ^ 1 << bit);
			sealed = kt_metadata_is_sealed(text, len);
			text[at] = (char)(text[at] ^ 1 << bit);
			check(!sealed, "bit %u of byte %zu", bit, at);
		}
	}
	/* In front of the events every byte, and one now and then behind. */
	first = (size_t)(strstr(text, "event {") - text);
	for (size_t at = 0; at < len; at += at < first ? 1 : STRIDE)
		check_place(text, len, at, (unsigned int)at % 8);
	/* A text that ends early. */
	for (size_t at = first; at < len; at += 997)
		check(ktape_metadata_check(text, at, NULL) == -EBADMSG,
		      "%zu bytes of it are enough", at);
	free(text);
}

/* ---- files --------------------------------------------------------------------- */

/* Change a bit of @path: verify misses it, or all reads as before. */
static void check_flip(const char *what, uint64_t whole, uint64_t at,
		       unsigned int bit)
{
	uint64_t now;

	trace_flip(path, at, (unsigned char)(1U << bit));
	now = judge(what) ? render(what) : whole;
	trace_flip(path, at, (unsigned char)(1U << bit));
	check(now == whole, "bit %u of byte %llu changes what is read", bit,
	      (unsigned long long)at);
}

static void test_flips(void)
{
	static const char *const files[] = { "metadata", "pipe" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct sim *s = begin(files[i]);
		const char *what = i ? path : folder;
		uint64_t whole;
		struct stat st;
		size_t size;

		if (i)
			sim_save_pipe(s, path);
		snprintf(other, sizeof(other), "%s/metadata", folder);
		if (stat(other, &st))
			abort();
		/* Of a pipe form only its metadata packet is meant. */
		size = (size_t)st.st_size;
		whole = render(what);
		check(whole && judge(what), "it is damaged before: %s",
		      result.first.text);
		for (unsigned int k = 0; k < FLIPS; k++)
			check_flip(what, whole,
				   sim_random(s, k % 2 ? 2500 : (uint32_t)size),
				   k % 8);
		done(s);
	}
}

static void test_registry(void)
{
	struct sim *s = begin("registry");
	uint64_t whole = render(folder);
	struct stat st;

	if (stat(path, &st))
		abort();
	check(whole && judge(folder), "it is damaged before: %s",
	      result.first.text);
	for (uint64_t at = 0; at < (uint64_t)st.st_size; at++)
		for (unsigned int bit = 0; bit < 8; bit++)
			check_flip(folder, whole, at, bit);
	done(s);
}

/* What is damaged is told with its place, in a pipe form as well. */
static void test_place(void)
{
	static const char name[] = "\"sched_switch\"";
	struct sim *s = begin("metadata");
	char bytes[65536];
	ssize_t n;
	int fd;

	for (unsigned int pipe = 0; pipe < 2; pipe++) {
		const char *at;

		if (pipe) {
			snprintf(path, sizeof(path), "%s/pipe", folder);
			sim_save_pipe(s, path);
		}
		fd = open(path, O_RDONLY);
		n = pread(fd, bytes, sizeof(bytes), 0);
		close(fd);
		if (n <= 0)
			abort();
		at = memmem(bytes, (size_t)n, name, strlen(name));
		trace_flip(path, (uint64_t)(at - bytes) + 1, 1);
		check(!judge(pipe ? path : folder), "nothing is wrong");
		check_equal(result.errors[KTAPE_RULE_CHECKSUM], 1);
		check_equal(result.first.offset, (uint64_t)(at - bytes) + 1);
		check(strstr(result.first.text, "line "), "%s",
		      result.first.text);
		trace_flip(path, (uint64_t)(at - bytes) + 1, 1);
	}
	done(s);
}

/* ---- writers ------------------------------------------------------------------- */

static void convert(const char *from, const char *to, const char *options,
		    bool described)
{
	struct ktape_sink_options how = {
		.format = "native", .path = to, .options = options
	};
	const struct ktape_event *e;
	struct ktape_sink *sink;
	struct ktape_trace *t;

	if (ktape_trace_open(from, NULL, &t, NULL))
		abort();
	how.info = ktape_trace_info(t);
	how.registry = ktape_trace_registry(t);
	if (described)
		how.metadata = ktape_trace_metadata(t, &how.metadata_len);
	if (ktape_sink_open(&how, &sink, NULL))
		abort();
	while (ktape_trace_next(t, &e) > 0)
		if (ktape_sink_event(sink, e))
			abort();
	if (ktape_sink_finish(sink))
		abort();
	ktape_sink_close(sink);
	ktape_trace_close(t);
}

static void test_writers(void)
{
	struct sim *s = begin("pipe");

	check_sealed(folder, "a directory");
	sim_save_pipe(s, path);
	check_sealed(path, "a pipe form");
	snprintf(other, sizeof(other), "%s.split", folder);
	check(!ktape_split(path, other, false, NULL, NULL), "split");
	check_sealed(other, "a pipe form that was split");
	trace_remove(other);
	for (unsigned int i = 0; i < 4; i++) {
		snprintf(other, sizeof(other), "%s.native", folder);
		convert(folder, other, i % 2 ? "form=pipe" : "form=dir", i < 2);
		check_sealed(other, "a conversion");
		trace_remove(other);
	}
	done(s);
}

static int take_metadata(void *arg, const char *text, size_t len)
{
	int *ret = arg;

	*ret = ktape_metadata_check(text, len, NULL);
	return 0;
}

static int take_packet(void *arg, const void *data, size_t len)
{
	(void)arg;
	(void)data;
	(void)len;
	return 0;
}

/* What survived a reset, with its metadata or with such as is made anew. */
static void test_recovered(void)
{
	for (unsigned int damaged = 0; damaged < 2; damaged++) {
		int ret = 1;
		const struct ktape_recover_output out = {
			take_metadata, take_packet, &ret
		};
		struct ktape_recover_place place;
		struct ktape_recovered result_of;
		struct image_memory memory;
		struct image m;

		image_make(&m);
		memory = (struct image_memory){ m.data, m.size };
		if (damaged)
			m.data[m.super->metadata + 100] ^= 1;
		const struct ktape_recover_input in = { image_read, &memory,
							m.size };

		check_equal((unsigned int)ktape_recover_scan(&in, NULL, &place,
							     1), 1);
		check(!ktape_recover(&in, &place, &out, NULL, &result_of, NULL),
		      "recover");
		check_equal(result_of.metadata_made, damaged);
		check(!ret, "it has no right checksum: %d", ret);
		ktape_recovered_release(&result_of);
		image_free(&m);
	}
}

static const struct tap_test tests[] = {
	{ "a text that is added to", test_add },
	{ "a text of an older version", test_old },
	{ "a text of another table", test_other_table },
	{ "every byte of a text", test_bits },
	{ "bits of metadata and what verify says", test_flips },
	{ "every bit of a file of names", test_registry },
	{ "the place of what is damaged", test_place },
	{ "all who write a trace", test_writers },
	{ "all who recover one", test_recovered },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
