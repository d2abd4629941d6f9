// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the checksum of metadata: every writer adds it, and every change of
 * metadata or of the file of names is found, if it would change what reading
 * the trace gives.
 */
#include <dlfcn.h>

#include "grow.h"
#include "lib_image.h"
#include "lib_metadata.h"
#include "lib_sim_work.h"

#include "stream/metadata.h"

#define STEPS  20
#define FLIPS  400U /* flipped bits for which the whole trace is read */
#define SECTOR 512U
#define FRONT \
	2500U /* bytes at the beginning, with all values and the first events */

struct result {
	int ret; /* error of the run, or of opening it */
	uint64_t errors[KTAPE_RULES];
	uint64_t notes[KTAPE_RULES];
	struct ktape_finding first;
};

static struct result result;
static const char *folder;
static char path[300], other[300];

/* ---- a trace ------------------------------------------------------------------- */

static void metadata_finding(void *arg, const struct ktape_finding *f)
{
	struct result *r = arg;

	if (!f->note && !*r->first.text)
		r->first = *f;
}

/* Verify @what into @result. Return: true if no error was found. */
static bool metadata_check(const char *what)
{
	const struct ktape_verify_options how = { .finding = metadata_finding,
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

/* Return a hash of the output of `ktape dump --json` for @what, or 0. */
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
			line = grow_to(line, room);
		}
		need = ktape_format_json(ktape_trace_info(t),
					 ktape_trace_registry(t), e, line);
		hash = kt_fnv(hash, line, need);
	}
	free(line);
	ktape_trace_close(t);
	return ret ? 0 : hash;
}

/*
 * Save a session to a folder of its own; @path becomes the path of its file
 * @name.
 */
static struct sim *begin_saved_session(const char *name)
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

static void remove_saved_session(struct sim *s)
{
	trace_remove(folder);
	sim_free(s);
}

/*
 * Check that verify finds no error and has no note about the metadata of a
 * trace.
 */
static void check_sealed(const char *what, const char *which)
{
	metadata_check(what);
	check(result.ret >= 0, "%s: %d", which, result.ret);
	check(!result.errors[KTAPE_RULE_CHECKSUM], "%s: %s", which,
	      result.first.text);
	check(!result.notes[KTAPE_RULE_CHECKSUM], "%s: no checksum", which);
}

/* ---- files --------------------------------------------------------------------- */

/* Flip a bit of @path: either verify finds it, or the trace reads as before. */
static void check_flip(const char *what, uint64_t whole, uint64_t at,
		       unsigned int bit)
{
	uint64_t now;

	trace_flip(path, at, (unsigned char)(1U << bit));
	now = metadata_check(what) ? render(what) : whole;
	trace_flip(path, at, (unsigned char)(1U << bit));
	check(now == whole, "bit %u of byte %llu changes what is read", bit,
	      (unsigned long long)at);
}

static void read_metadata_text(const char *file, char **text, size_t *len)
{
	struct stat st;
	int fd = open(file, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		abort();
	*len = (size_t)st.st_size;
	*text = malloc(*len + 1);
	if (!*text || read(fd, *text, *len) != (ssize_t)*len)
		abort();
	(*text)[*len] = '\0';
	close(fd);
}

static void write_metadata_text(const char *file, const char *text, size_t len)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len || close(fd))
		abort();
}

/* Return a hash of the events that a trace describes. */
static uint64_t hash_described_events(const char *what)
{
	const struct ktape_info *info;
	struct ktape_trace *t;
	uint64_t hash;

	if (ktape_trace_open(what, NULL, &t, NULL))
		return 0;
	info = ktape_trace_info(t);
	hash = kt_fnv(KT_FNV_BEGIN, (const char *)info->known, sizeof(info->known));
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++)
		if (kt_mask_has(info->known, i))
			hash = kt_fnv(hash, info->names[i], strlen(info->names[i]));
	ktape_trace_close(t);
	return hash;
}

/*
 * Flip a bit of a text without a checksum, with values between @from and @to:
 * the values are not protected, but all events are.
 */
static void check_old_flip(uint64_t events, uint64_t whole, size_t from,
			   size_t to, size_t at, unsigned int bit)
{
	bool right;

	trace_flip(path, at, (unsigned char)(1U << bit));
	right = metadata_check(folder);
	check(!right || result.notes[KTAPE_RULE_CHECKSUM] == 1,
	      "bit %u of byte %zu: no note", bit, at);
	check(!right || hash_described_events(folder) == events,
	      "bit %u of byte %zu changes what events are", bit, at);
	check(!right || (at >= from && at < to) || render(folder) == whole,
	      "bit %u of byte %zu changes what is read", bit, at);
	trace_flip(path, at, (unsigned char)(1U << bit));
}

static void test_old_flips(void)
{
	struct sim *s = begin_saved_session("metadata");
	size_t len, from, to, env;
	uint64_t events, whole;
	char *text;

	text = make_old(&len);
	write_metadata_text(path, text, len);
	env = (size_t)(strstr(text, "trace {") - text);
	from = env;
	to = (size_t)(strchr(strstr(text, "clock {"), '\n') - text);
	events = hash_described_events(folder);
	whole = render(folder);
	check(events && whole && metadata_check(folder),
	      "the trace is damaged before the test: %s", result.first.text);
	/* The text around values is as critical: change each of its bytes. */
	for (size_t at = env; at < to + 1000; at++)
		check_old_flip(events, whole, from, to, at, sim_random(s, 8));
	for (unsigned int k = 0; k < FLIPS; k++)
		check_old_flip(events, whole, from, to,
			       sim_random(s, (uint32_t)len), sim_random(s, 8));
	free(text);
	remove_saved_session(s);
}

/*
 * Write the metadata with zeros in a part: that must be reported as damage if the text is @sealed,
 * else if it changes what is read.
 */
static void check_zeros(const char *text, size_t len, size_t from, size_t to,
			uint64_t whole, bool sealed)
{
	char *copy = malloc(len);
	bool right;

	if (!copy)
		abort();
	memcpy(copy, text, len);
	memset(copy + from, 0, to - from);
	write_metadata_text(path, copy, len);
	free(copy);
	right = metadata_check(folder);
	check(right || (*result.first.text &&
			result.first.rule == KTAPE_RULE_CHECKSUM),
	      "zeros from %zu to %zu: %d, \"%s\"", from, to, result.ret,
	      result.first.text);
	check(!right || (!sealed && render(folder) == whole),
	      "zeros from %zu to %zu are not detected", from, to);
}

static void test_sectors(void)
{
	for (unsigned int sealed = 0; sealed < 2; sealed++) {
		struct sim *s = begin_saved_session("metadata");
		uint64_t whole = render(folder);
		char *text;
		size_t len;

		if (sealed)
			read_metadata_text(path, &text, &len);
		else
			text = make_old(&len);
		for (size_t at = 0; at + 2 * SECTOR < len; at += SECTOR) {
			check_zeros(text, len, at, at + SECTOR, whole, sealed);
			check_zeros(text, len, 0, at + SECTOR, whole, sealed);
		}
		free(text);
		remove_saved_session(s);
	}
}

static void test_flips(void)
{
	static const char *const files[] = { "metadata", "pipe" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct sim *s = begin_saved_session(files[i]);
		const char *what = i ? path : folder;
		uint64_t whole;
		struct stat st;
		size_t size;

		if (i)
			sim_save_pipe(s, path);
		snprintf(other, sizeof(other), "%s/metadata", folder);
		if (stat(other, &st))
			abort();
		/* In a pipe form only the metadata packet counts. */
		size = (size_t)st.st_size;
		whole = render(what);
		check(whole && metadata_check(what),
		      "the trace is damaged before the test: %s",
		      result.first.text);
		for (unsigned int k = 0; k < FLIPS; k++)
			check_flip(what, whole,
				   sim_random(s, k % 2 ? FRONT : (uint32_t)size),
				   sim_random(s, 8));
		remove_saved_session(s);
	}
}

static void test_registry(void)
{
	struct sim *s = begin_saved_session("registry");
	uint64_t whole = render(folder);
	struct stat st;

	if (stat(path, &st))
		abort();
	check(whole && metadata_check(folder),
	      "the trace is damaged before the test: %s", result.first.text);
	for (uint64_t at = 0; at < (uint64_t)st.st_size; at++)
		for (unsigned int bit = 0; bit < 8; bit++)
			check_flip(folder, whole, at, bit);
	remove_saved_session(s);
}

/* Change a byte of the text: damage is reported at @at, which is 0 also for an unknown place. */
static void check_damage_place(const char *what, size_t byte, uint64_t at)
{
	trace_flip(path, byte, 1);
	check(!metadata_check(what), "verify finds no error");
	check_equal(result.errors[KTAPE_RULE_CHECKSUM], 1);
	check_equal(result.first.offset, at);
	check(!strstr(result.first.text, "line ") ==
		      !strstr(result.first.text, "byte "),
	      "%s", result.first.text);
	trace_flip(path, byte, 1);
}

/* Damage is reported with its place, in a pipe form as well. */
static void test_place(void)
{
	static const char name[] = "\"sched_switch\"", freq[] = "freq = 1";
	struct sim *s = begin_saved_session("metadata");

	for (unsigned int pipe = 0; pipe < 2; pipe++) {
		size_t head = pipe ? sizeof(struct ktape_metadata_packet) : 0;
		const char *what = pipe ? path : folder;
		size_t len, at;
		char *text;

		if (pipe) {
			snprintf(path, sizeof(path), "%s/pipe", folder);
			sim_save_pipe(s, path);
		}
		read_metadata_text(path, &text, &len);
		at = (size_t)((char *)memmem(text, len, name, strlen(name)) - text);
		check_damage_place(what, at + 1, at + 1);
		check(strstr(result.first.text, "line "), "%s", result.first.text);
		/* Offset 0 is a valid place, too. */
		check_damage_place(what, head, head);
		check(strstr(result.first.text, "byte 0 "), "%s", result.first.text);
		/* The place of a changed value is unknown. */
		at = (size_t)((char *)memmem(text, len, freq, strlen(freq)) - text);
		check_damage_place(what, at + strlen(freq), 0);
		check(!strstr(result.first.text, "line "), "%s", result.first.text);
		free(text);
	}
	remove_saved_session(s);
}

/* A pipe form preceded by one to three copies of its metadata. */
static void test_metadata_twice(void)
{
	struct sim *s = begin_saved_session("pipe");
	uint64_t whole = render(folder);
	char *text, *bytes;
	size_t len, size;
	int fd;

	sim_save_pipe(s, path);
	read_metadata_text(path, &bytes, &size);
	if (ktape_metadata_format(&trace_info, &text, &len))
		abort();
	for (unsigned int copies = 1; copies < 4; copies++) {
		write_metadata_text(path, "", 0);
		fd = open(path, O_WRONLY | O_APPEND);
		for (unsigned int i = 0; i < copies; i++)
			if (ktape_pipe_metadata(fd, trace_info.uuid, text, len))
				abort();
		if (write(fd, bytes, size) != (ssize_t)size || close(fd))
			abort();
		check_sealed(path, "metadata more than once");
		check(metadata_check(path) && render(path) == whole,
		      "%u copies: %s", copies, result.first.text);
		/* If one of them is damaged, it is unknown which one is valid. */
		trace_flip(path, sizeof(struct ktape_metadata_packet) + 100, 1);
		check(!metadata_check(path), "verify finds no error");
	}
	free(text);
	free(bytes);
	remove_saved_session(s);
}

/* ---- writers ------------------------------------------------------------------- */

static void convert_by(struct ktape_sink_options how, const char *from, bool described)
{
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

static void convert_to_native(const char *from, const char *to,
			      const char *options, bool described)
{
	convert_by((struct ktape_sink_options){ .format = "native",
						.path = to,
						.options = options },
		   from, described);
}

/*
 * Check whether the output of a conversion has a checksum, depending on its
 * inputs.
 */
static void test_merge(void)
{
	static const struct {
		uint32_t flags;
		bool wrong;
		bool noted;
	} merges[] = {
		{ 0, false, false },
		{ KTAPE_SINK_UNSEALED, false, true },
		{ KTAPE_SINK_DAMAGED, true, false },
		{ KTAPE_SINK_UNSEALED | KTAPE_SINK_DAMAGED, true, false },
	};
	struct sim *s = begin_saved_session("pipe");

	for (size_t i = 0; i < 2 * ARRAY_SIZE(merges); i++) {
		snprintf(other, sizeof(other), "%s.native", folder);
		convert_by(
			(struct ktape_sink_options){
				.format = "native",
				.path = other,
				.options = i % 2 ? "form=pipe" : "form=dir",
				.flags = merges[i / 2].flags },
			folder, false);
		metadata_check(other);
		check_equal(result.errors[KTAPE_RULE_CHECKSUM], merges[i / 2].wrong);
		check_equal(result.notes[KTAPE_RULE_CHECKSUM], merges[i / 2].noted);
		check(render(other) == render(folder), "it is another trace");
		trace_remove(other);
	}
	remove_saved_session(s);
}

/*
 * From another format, like ktape receive: the checksum covers the values that
 * arrived.
 */
static void test_received(void)
{
	struct sim *s = begin_saved_session("line");

	convert_by((struct ktape_sink_options){ .format = "rkh", .path = path },
		   folder, false);
	snprintf(other, sizeof(other), "%s.native", folder);
	convert_to_native(path, other, "form=dir", false);
	check_sealed(other, "what was received");
	trace_remove(other);
	remove_saved_session(s);
}

static void test_writers(void)
{
	struct sim *s = begin_saved_session("pipe");

	check_sealed(folder, "a directory");
	sim_save_pipe(s, path);
	check_sealed(path, "a pipe form");
	snprintf(other, sizeof(other), "%s.split", folder);
	check(!ktape_split(path, other, false, NULL, NULL), "split");
	check_sealed(other, "a pipe form that was split");
	trace_remove(other);
	for (unsigned int i = 0; i < 4; i++) {
		snprintf(other, sizeof(other), "%s.native", folder);
		convert_to_native(folder, other,
				  i % 2 ? "form=pipe" : "form=dir", i < 2);
		check_sealed(other, "a conversion");
		trace_remove(other);
	}
	remove_saved_session(s);
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

/*
 * A trace recovered after a reset, with its own metadata or with newly made
 * ones.
 */
static void test_recovered(void)
{
	for (unsigned int damaged = 0; damaged < 2; damaged++) {
		int ret = 1;
		const struct ktape_recover_output out = { take_metadata,
							  take_packet, &ret };
		struct ktape_recover_place place;
		struct ktape_recovered result_of;
		struct image_memory memory;
		struct image m;

		image_make(&m);
		memory = (struct image_memory){ m.data, m.size };
		if (damaged)
			m.data[m.super->metadata + 100] ^= 1;
		const struct ktape_recover_input in = { image_read, &memory, m.size };

		check_equal((unsigned int)ktape_recover_scan(&in, NULL, &place, 1),
			    1);
		check(!ktape_recover(&in, &place, &out, NULL, &result_of, NULL),
		      "recover");
		check_equal(result_of.metadata_made, damaged);
		check(!ret, "the metadata has no valid checksum: %d", ret);
		ktape_recovered_release(&result_of);
		image_free(&m);
	}
}

static bool no_stream; /* fopencookie() fails */

/* Stands before the function of the C library. */
FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t io)
{
	FILE *(*next)(void *, const char *, cookie_io_functions_t) =
		dlsym(RTLD_NEXT, "fopencookie");

	if (!no_stream)
		return next(cookie, mode, io);
	errno = ENOMEM;
	return NULL;
}

/* Without memory for the metadata there is no text, which callers free nevertheless. */
static void test_metadata_no_memory(void)
{
	char *text = path;
	size_t len = 0;
	int ret;

	no_stream = true;
	ret = ktape_metadata_format(&trace_info, &text, &len);
	no_stream = false;
	check(ret == -ENOMEM, "no memory: %d", ret);
	check(!text, "no memory, but a text");
}

static const struct tap_test tests[] = {
	{ "verify finds flipped bits of metadata", test_flips },
	{ "bits of metadata without a checksum", test_old_flips },
	{ "sectors of metadata that are zero", test_sectors },
	{ "every bit of a file of names", test_registry },
	{ "the place of damage", test_place },
	{ "repeated metadata", test_metadata_twice },
	{ "every writer of a trace", test_writers },
	{ "the output of several inputs", test_merge },
	{ "the output of receive", test_received },
	{ "the output of recover", test_recovered },
	{ "no memory for metadata", test_metadata_no_memory },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
